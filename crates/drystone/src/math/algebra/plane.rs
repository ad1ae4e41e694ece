//! The algebra of the plane.

use super::eigenvalues::largest_eigenvalue_2x2;
use super::{Algebra, D2};
use glamx::{DMat2, DRot2, DVec2};

impl Algebra for D2 {
    const DIM: usize = 2;
    const SPIN_DIM: usize = 1;

    type Vector = DVec2;
    type Spin = f64;
    type Inertia = f64;
    type Rotation = DRot2;
    type Matrix = DMat2;

    #[inline]
    fn spin_cross(spin: f64, arm: DVec2) -> DVec2 {
        DVec2::new(-spin * arm.y, spin * arm.x)
    }
    #[inline]
    fn cross(arm: DVec2, force: DVec2) -> f64 {
        arm.x * force.y - arm.y * force.x
    }

    const NO_INERTIA: f64 = 0.0;
    #[inline]
    fn apply_inertia(inertia: &f64, spin: f64) -> f64 {
        inertia * spin
    }
    #[inline]
    fn world_inertia(_rotation: DRot2, local: &f64) -> f64 {
        *local
    }
    fn invert_inertia(inertia: &f64) -> f64 {
        if *inertia > 0.0 { 1.0 / inertia } else { 0.0 }
    }
    fn scale_inertia(inertia: &f64, factor: f64) -> f64 {
        inertia * factor
    }
    fn mask_inertia(inertia: &f64, free: f64) -> f64 {
        inertia * free
    }
    fn is_positive_definite(inertia: &f64) -> bool {
        *inertia > 0.0
    }
    #[inline]
    fn is_isotropic(_inertia: &f64) -> bool {
        true
    }

    #[inline]
    fn rotate(rotation: DRot2, vector: DVec2) -> DVec2 {
        rotation.transform_vector(vector)
    }
    #[inline]
    fn unrotate(rotation: DRot2, vector: DVec2) -> DVec2 {
        rotation.inverse_transform_vector(vector)
    }
    fn turn(rotation: DRot2, angle: f64) -> DRot2 {
        let (sin, cos) = libm::sincos(angle);
        let turned = DRot2 {
            re: cos * rotation.re - sin * rotation.im,
            im: sin * rotation.re + cos * rotation.im,
        };
        Self::normalize(turned)
    }
    fn rotate_freely(rotation: DRot2, inertia: &f64, momentum: f64, dt: f64) -> DRot2 {
        Self::turn(rotation, momentum / inertia * dt)
    }

    fn turn_between(from: DRot2, to: DRot2) -> f64 {
        let sin = from.re * to.im - from.im * to.re;
        let cos = from.re * to.re + from.im * to.im;
        libm::atan2(sin, cos)
    }
    fn is_near_unit(rotation: DRot2) -> bool {
        let length = (rotation.re * rotation.re + rotation.im * rotation.im).sqrt();
        (length - 1.0).abs() <= 1e-3
    }
    fn normalize(rotation: DRot2) -> DRot2 {
        let length = (rotation.re * rotation.re + rotation.im * rotation.im).sqrt();
        DRot2 {
            re: rotation.re / length,
            im: rotation.im / length,
        }
    }
    fn quaternion(rotation: DRot2) -> [f64; 4] {
        let half = 0.5 * libm::atan2(rotation.im, rotation.re);
        [0.0, 0.0, libm::sin(half), libm::cos(half)]
    }

    #[inline]
    fn basis(normal: DVec2) -> DMat2 {
        DMat2::from_cols(normal, DVec2::new(-normal.y, normal.x))
    }
    #[inline]
    fn matrix(column: impl Fn(usize) -> DVec2) -> DMat2 {
        DMat2::from_cols(column(0), column(1))
    }
    #[inline]
    fn column(matrix: &DMat2, k: usize) -> DVec2 {
        if k == 0 { matrix.x_axis } else { matrix.y_axis }
    }
    #[inline]
    fn to_world(basis: &DMat2, local: DVec2) -> DVec2 {
        basis.x_axis * local.x + basis.y_axis * local.y
    }
    #[inline]
    fn to_local(basis: &DMat2, world: DVec2) -> DVec2 {
        DVec2::new(basis.x_axis.dot(world), basis.y_axis.dot(world))
    }
    #[inline]
    fn largest_eigenvalue(matrix: &DMat2) -> f64 {
        largest_eigenvalue_2x2(matrix.x_axis.x, matrix.x_axis.y, matrix.y_axis.y)
    }
    #[inline]
    fn largest_tangent_eigenvalue(matrix: &DMat2) -> f64 {
        matrix.y_axis.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_by_a_full_circle_returns_to_the_start() {
        let mut r = DRot2::IDENTITY;
        for _ in 0..1000 {
            r = D2::turn(r, std::f64::consts::TAU / 1e3);
        }
        assert!(D2::turn_between(DRot2::IDENTITY, r).abs() < 1e-12);
    }
}
