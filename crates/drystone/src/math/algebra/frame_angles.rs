//! Angles between two frames, and how they change.
//!
//! In space the turn from A's frame to B's is $R = R_A^T R_B$.
//!
//! * With **one free angle** (a hinge about axis i) the others are the components of
//!   $u_A \times u_B$, u being axis i of each frame: zero where the axes agree, however far B has
//!   turned. The free angle is the twist, $2\arctan(q_i/q_w)$.
//! * Otherwise angles are the components of the rotation vector θ = log R, which change as
//!   $\dot\theta = J^{-1}(\theta)\,\omega$ with ω the relative spin in A's axes and
//!   $J^{-1}(\theta) = 1 - \tfrac12[\theta] + c\,[\theta]^2$,
//!   $c = (1 - \tfrac{|\theta|}{2}\cot\tfrac{|\theta|}{2})/|\theta|^2$.
//!
//! In the plane there is one angle and it changes as B's spin less A's.

use crate::math::algebra::Algebra;
use crate::math::algebra::{D2, D3};
use glamx::{DMat3, DQuat, DVec3};

/// An angle, rad, and the spin that changes it: its rate is that vector times the spin of B
/// relative to A, world axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Angle<S: Algebra> {
    /// rad.
    pub value: f64,
    /// Unit: none.
    pub along: S::Spin,
}

/// What the plane and space do differently about angles.
pub trait Angles: Sized {
    /// All angles between two frames; `free` is the axis of a hinge.
    fn angles(
        a: <Self as Algebra>::Rotation,
        b: <Self as Algebra>::Rotation,
        free: Option<usize>,
    ) -> [Angle<Self>; 3]
    where
        Self: Algebra;
    /// An inertia with s (1 − r rᵀ/r²) added: what resists turns that move r.
    fn stiffened(
        inertia: &<Self as Algebra>::Inertia,
        r: <Self as Algebra>::Vector,
        s: f64,
    ) -> <Self as Algebra>::Inertia
    where
        Self: Algebra;
    /// xx, yy, zz, xy, xz, yz of an inertia; in the plane the one number, and zeros.
    fn six(inertia: &<Self as Algebra>::Inertia) -> [f64; 6]
    where
        Self: Algebra;
    /// The axis x of a frame, as a spin.
    fn first_axis(rotation: <Self as Algebra>::Rotation) -> <Self as Algebra>::Spin
    where
        Self: Algebra;
    /// A spin in the world's axes of one in a body's, and the other way round.
    fn turn_spin(
        rotation: <Self as Algebra>::Rotation,
        spin: <Self as Algebra>::Spin,
    ) -> <Self as Algebra>::Spin
    where
        Self: Algebra;
    /// See [`Angles::turn_spin`].
    fn unturn_spin(
        rotation: <Self as Algebra>::Rotation,
        spin: <Self as Algebra>::Spin,
    ) -> <Self as Algebra>::Spin
    where
        Self: Algebra;
    /// The turn that undoes one and then does another: aᵀ b.
    fn between(
        a: <Self as Algebra>::Rotation,
        b: <Self as Algebra>::Rotation,
    ) -> <Self as Algebra>::Rotation
    where
        Self: Algebra;
    /// The turn a b.
    fn compose(
        a: <Self as Algebra>::Rotation,
        b: <Self as Algebra>::Rotation,
    ) -> <Self as Algebra>::Rotation
    where
        Self: Algebra;
}

impl Angles for D2 {
    fn angles(
        a: <D2 as Algebra>::Rotation,
        b: <D2 as Algebra>::Rotation,
        _free: Option<usize>,
    ) -> [Angle<D2>; 3] {
        let angle = Angle {
            value: D2::turn_between(a, b),
            along: 1.0,
        };
        [angle, Angle::default(), Angle::default()]
    }
    fn stiffened(inertia: &f64, _r: <D2 as Algebra>::Vector, s: f64) -> f64 {
        inertia + s
    }
    fn six(inertia: &f64) -> [f64; 6] {
        [*inertia, 0.0, 0.0, 0.0, 0.0, 0.0]
    }
    fn first_axis(_rotation: <D2 as Algebra>::Rotation) -> f64 {
        1.0
    }
    fn turn_spin(_rotation: <D2 as Algebra>::Rotation, spin: f64) -> f64 {
        spin
    }
    fn unturn_spin(_rotation: <D2 as Algebra>::Rotation, spin: f64) -> f64 {
        spin
    }
    fn between(
        a: <D2 as Algebra>::Rotation,
        b: <D2 as Algebra>::Rotation,
    ) -> <D2 as Algebra>::Rotation {
        a.inverse() * b
    }
    fn compose(
        a: <D2 as Algebra>::Rotation,
        b: <D2 as Algebra>::Rotation,
    ) -> <D2 as Algebra>::Rotation {
        a * b
    }
}

impl Angles for D3 {
    #[inline]
    fn angles(a: DQuat, b: DQuat, free: Option<usize>) -> [Angle<D3>; 3] {
        let relative = a.inverse() * b;
        match free {
            Some(axis) => hinge_angles(a, relative, axis),
            None => vector_angles(a, relative),
        }
    }
    #[inline]
    fn stiffened(inertia: &DMat3, r: DVec3, s: f64) -> DMat3 {
        let square = r.length_squared();
        if square == 0.0 {
            return *inertia;
        }
        let along = DMat3::from_cols(r * r.x, r * r.y, r * r.z) * (1.0 / square);
        *inertia + (DMat3::IDENTITY - along) * s
    }
    #[inline]
    fn six(m: &DMat3) -> [f64; 6] {
        let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
        [x.x, y.y, z.z, y.x, z.x, z.y]
    }
    #[inline]
    fn first_axis(rotation: DQuat) -> DVec3 {
        rotation * DVec3::X
    }
    #[inline]
    fn turn_spin(rotation: DQuat, spin: DVec3) -> DVec3 {
        rotation * spin
    }
    #[inline]
    fn unturn_spin(rotation: DQuat, spin: DVec3) -> DVec3 {
        rotation.conjugate() * spin
    }
    #[inline]
    fn between(a: DQuat, b: DQuat) -> DQuat {
        a.inverse() * b
    }
    #[inline]
    fn compose(a: DQuat, b: DQuat) -> DQuat {
        a * b
    }
}

fn hinge_angles(a: DQuat, relative: DQuat, axis: usize) -> [Angle<D3>; 3] {
    let unit = DVec3::AXES[axis];
    let turned = relative * unit;
    let swing = unit.cross(turned);
    // The sign of a quaternion means nothing; take the one that turns by π at most.
    let sign = if relative.w < 0.0 { -1.0 } else { 1.0 };
    let part = [relative.x, relative.y, relative.z][axis];
    let twist = 2.0 * libm::atan2(sign * part, sign * relative.w);
    std::array::from_fn(|k| Angle {
        value: if k == axis {
            twist
        } else {
            swing.to_array()[k]
        },
        along: a * DVec3::AXES[k],
    })
}

fn vector_angles(a: DQuat, relative: DQuat) -> [Angle<D3>; 3] {
    let theta = D3::turn_between(DQuat::IDENTITY, relative);
    let squared = theta.length_squared();
    let half = 0.5 * squared.sqrt();
    let c = if squared < 1e-8 {
        1.0 / 12.0
    } else {
        (1.0 - half * libm::cos(half) / libm::sin(half)) / squared
    };
    let cross = DMat3::from_cols(
        DVec3::new(0.0, theta.z, -theta.y),
        DVec3::new(-theta.z, 0.0, theta.x),
        DVec3::new(theta.y, -theta.x, 0.0),
    );
    let inverse = DMat3::IDENTITY - cross * 0.5 + cross * cross * c;
    std::array::from_fn(|k| Angle {
        value: theta.to_array()[k],
        along: a * inverse.row(k),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_rates(free: Option<usize>, b: DQuat, tolerance: f64) {
        let a = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5));
        let b = a * b;
        for spin in DVec3::AXES {
            let step = 1e-6;
            let moved = D3::turn(b, spin * step);
            let (before, after) = (D3::angles(a, b, free), D3::angles(a, moved, free));
            for k in 0..3 {
                let rate = (after[k].value - before[k].value) / step;
                let expected = before[k].along.dot(spin);
                assert!(
                    (rate - expected).abs() < tolerance,
                    "{k}: {rate} {expected}"
                );
            }
        }
    }

    #[test]
    fn rates_of_rotation_vectors_are_those_of_finite_differences() {
        for theta in [
            DVec3::ZERO,
            DVec3::new(1e-5, 2e-5, -1e-5),
            DVec3::new(0.5, -0.2, 0.1),
            DVec3::new(-1.5, 1.2, 1.8),
        ] {
            check_rates(None, DQuat::from_scaled_axis(theta), 1e-5);
        }
    }

    #[test]
    fn rates_of_hinges_are_those_of_finite_differences() {
        for angle in [0.0, 0.7, -2.9] {
            check_rates(Some(1), DQuat::from_rotation_y(angle), 1e-5);
        }
    }

    #[test]
    fn a_hinge_measures_its_own_angle() {
        let a = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5));
        let angles = D3::angles(a, a * DQuat::from_rotation_x(2.5), Some(0));
        assert!((angles[0].value - 2.5).abs() < 1e-12);
        assert!(angles[1].value.abs() < 1e-12 && angles[2].value.abs() < 1e-12);
    }
}
