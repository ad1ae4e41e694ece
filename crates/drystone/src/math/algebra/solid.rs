//! The algebra of space.

use super::eigenvalues::{largest_eigenvalue_2x2, largest_eigenvalue_3x3};
use super::{Algebra, D3};
use glamx::{DMat3, DQuat, DVec3};

/// sin(x)/x and cos(x) of x². Most turns in a step are small: their series cost less than the
/// functions and are exact to rounding up to x = 0.1; near 0 the quotient would lose digits, too.
#[inline]
fn sinc_and_cos(square: f64) -> (f64, f64) {
    if square < 0.01 {
        let series = |factors: [f64; 5]| {
            let terms = factors.into_iter().rev();
            terms.fold(1.0, |sum, factor| 1.0 - square * factor * sum)
        };
        return (
            series([1.0 / 6.0, 1.0 / 20.0, 1.0 / 42.0, 1.0 / 72.0, 1.0 / 110.0]),
            series([1.0 / 2.0, 1.0 / 12.0, 1.0 / 30.0, 1.0 / 56.0, 1.0 / 90.0]),
        );
    }
    let x = square.sqrt();
    let (sin, cos) = libm::sincos(x);
    (sin / x, cos)
}

/// x/sin(x) of the sine and cosine of x: by the series of the arc sine where that is exact.
#[inline]
fn angle_over_sine(sin: f64, cos: f64) -> f64 {
    let square = sin * sin;
    if square < 0.0025 {
        let factors = [
            1.0 / 6.0,
            9.0 / 20.0,
            25.0 / 42.0,
            49.0 / 72.0,
            81.0 / 110.0,
            121.0 / 156.0,
        ];
        let terms = factors.into_iter().rev();
        return terms.fold(1.0, |sum, factor| 1.0 + square * factor * sum);
    }
    libm::atan2(sin, cos) / sin
}

impl Algebra for D3 {
    const DIM: usize = 3;
    const SPIN_DIM: usize = 3;

    type Vector = DVec3;
    type Spin = DVec3;
    type Inertia = DMat3;
    type Rotation = DQuat;
    type Matrix = DMat3;

    #[inline]
    fn spin_cross(spin: DVec3, arm: DVec3) -> DVec3 {
        spin.cross(arm)
    }
    #[inline]
    fn cross(arm: DVec3, force: DVec3) -> DVec3 {
        arm.cross(force)
    }

    const NO_INERTIA: DMat3 = DMat3::ZERO;
    #[inline]
    fn apply_inertia(inertia: &DMat3, spin: DVec3) -> DVec3 {
        *inertia * spin
    }
    #[inline]
    fn world_inertia(rotation: DQuat, local: &DMat3) -> DMat3 {
        let r = DMat3::from_quat(rotation);
        r * *local * r.transpose()
    }
    #[inline]
    fn invert_inertia(inertia: &DMat3) -> DMat3 {
        if inertia.determinant() > 0.0 {
            inertia.inverse()
        } else {
            DMat3::ZERO
        }
    }
    fn scale_inertia(inertia: &DMat3, factor: f64) -> DMat3 {
        *inertia * factor
    }
    fn mask_inertia(inertia: &DMat3, free: DVec3) -> DMat3 {
        let mask = DMat3::from_diagonal(free);
        mask * *inertia * mask
    }
    fn is_positive_definite(inertia: &DMat3) -> bool {
        // Sylvester: all leading minors are positive.
        let (x, y) = (inertia.x_axis, inertia.y_axis);
        let skew = *inertia - inertia.transpose();
        skew.abs_diff_eq(DMat3::ZERO, 1e-9 * x.x.abs())
            && x.x > 0.0
            && x.x * y.y - x.y * y.x > 0.0
            && inertia.determinant() > 0.0
    }
    fn is_isotropic(inertia: &DMat3) -> bool {
        let (x, y, z) = (inertia.x_axis, inertia.y_axis, inertia.z_axis);
        let off = x.y.abs() + x.z.abs() + y.z.abs();
        let spread = (x.x - y.y).abs() + (y.y - z.z).abs();
        off + spread <= 1e-12 * x.x.abs()
    }

    #[inline]
    fn rotate(rotation: DQuat, vector: DVec3) -> DVec3 {
        rotation * vector
    }
    #[inline]
    fn unrotate(rotation: DQuat, vector: DVec3) -> DVec3 {
        rotation.conjugate() * vector
    }
    #[inline]
    fn turn(rotation: DQuat, angle: DVec3) -> DQuat {
        let (sinc, cos) = sinc_and_cos(0.25 * angle.length_squared());
        let axis = angle * (0.5 * sinc);
        Self::normalize(DQuat::from_xyzw(axis.x, axis.y, axis.z, cos) * rotation)
    }

    fn rotate_freely(rotation: DQuat, inertia: &DMat3, momentum: DVec3, dt: f64) -> DQuat {
        crate::math::algebra::free_rotation::rotate_freely(rotation, inertia, momentum, dt)
    }

    #[inline]
    fn turn_between(from: DQuat, to: DQuat) -> DVec3 {
        let mut q = to * from.conjugate();
        if q.w < 0.0 {
            q = -q;
        }
        let axis = DVec3::new(q.x, q.y, q.z);
        let sin = axis.length();
        if sin < 1e-12 {
            return axis * 2.0;
        }
        axis * (2.0 * angle_over_sine(sin, q.w))
    }
    fn is_near_unit(rotation: DQuat) -> bool {
        (rotation.dot(rotation).sqrt() - 1.0).abs() <= 1e-3
    }
    #[inline]
    fn normalize(rotation: DQuat) -> DQuat {
        rotation * (1.0 / rotation.dot(rotation).sqrt())
    }
    fn quaternion(rotation: DQuat) -> [f64; 4] {
        rotation.to_array()
    }

    #[inline]
    fn basis(normal: DVec3) -> DMat3 {
        // The world axis least along the normal gives the best-conditioned tangent.
        let a = normal.abs();
        let axis = if a.x <= a.y && a.x <= a.z {
            DVec3::X
        } else if a.y <= a.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let t = normal.cross(axis);
        let t1 = t * (1.0 / t.length());
        DMat3::from_cols(normal, t1, normal.cross(t1))
    }
    #[inline]
    fn matrix(column: impl Fn(usize) -> DVec3) -> DMat3 {
        DMat3::from_cols(column(0), column(1), column(2))
    }
    #[inline]
    fn column(matrix: &DMat3, k: usize) -> DVec3 {
        match k {
            0 => matrix.x_axis,
            1 => matrix.y_axis,
            _ => matrix.z_axis,
        }
    }
    #[inline]
    fn to_world(basis: &DMat3, local: DVec3) -> DVec3 {
        basis.x_axis * local.x + basis.y_axis * local.y + basis.z_axis * local.z
    }
    #[inline]
    fn to_local(basis: &DMat3, world: DVec3) -> DVec3 {
        DVec3::new(
            basis.x_axis.dot(world),
            basis.y_axis.dot(world),
            basis.z_axis.dot(world),
        )
    }
    fn largest_eigenvalue(matrix: &DMat3) -> f64 {
        largest_eigenvalue_3x3(matrix)
    }
    #[inline]
    fn largest_tangent_eigenvalue(matrix: &DMat3) -> f64 {
        largest_eigenvalue_2x2(matrix.y_axis.y, matrix.y_axis.z, matrix.z_axis.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_by_a_full_circle_returns_to_the_start() {
        let mut q = DQuat::IDENTITY;
        for _ in 0..1000 {
            q = D3::turn(
                q,
                DVec3::new(0.3, -0.2, 0.9).normalize() * (std::f64::consts::TAU / 1e3),
            );
        }
        assert!((q.w.abs() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn turn_between_inverts_turn() {
        let q = D3::turn(DQuat::IDENTITY, DVec3::new(0.4, 1.0, -0.3));
        let angle = DVec3::new(-1.2, 0.7, 0.5);
        assert!((D3::turn_between(q, D3::turn(q, angle)) - angle).length() < 1e-12);
    }

    #[test]
    fn series_of_small_turns_are_the_functions() {
        for k in 0..1000 {
            let x = 2e-4 * f64::from(k);
            let (sinc, cos) = sinc_and_cos(x * x);
            assert!((sinc * x - libm::sin(x)).abs() < 3e-17 + 2e-16 * x, "{x}");
            assert!((cos - libm::cos(x)).abs() < 3e-16, "{x}");
            let angle = angle_over_sine(libm::sin(x), libm::cos(x)) * libm::sin(x);
            assert!(k == 0 || (angle / x - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn bases_are_orthonormal_and_right_handed() {
        for n in [
            DVec3::X,
            -DVec3::Y,
            DVec3::Z,
            DVec3::new(1.0, -2.0, 0.5).normalize(),
        ] {
            let b = D3::basis(n);
            assert!((b.determinant() - 1.0).abs() < 1e-12);
            assert!((b.transpose() * b - DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-12));
        }
    }
}
