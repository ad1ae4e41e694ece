//! Inertial term of rotation: how far a body's mass is from where free flight takes it.
//!
//! Let $E = \exp(\theta\times)$ turn the body from the start of the step, $E^*$ as free flight does,
//! and $P = \sum m\,a a^T = \tfrac12 \operatorname{tr} I - I$ be the second moments of its mass about
//! its centre at the start, world axes. The square of the distance of all its mass from where
//! it would be,
//!
//! $$ W = \tfrac12 \sum m\,|E a - E^* a|^2 = \tfrac12\operatorname{tr}(E - E^*)P(E - E^*)^T,
//!    \qquad \frac{\partial W}{\partial\varepsilon} = -\sum m\,E a\times E^* a $$
//!
//! (for a further turn ε), is balanced by torques **where the step ends**: those of contacts on a rod
//! are across the rod there, and so is the slope of W. The road not taken is
//! $\tfrac12(\theta-\theta^*)^T I\,(\theta-\theta^*)$ with the inertia at the start: of a torque across
//! the rod at the end, a part is along the rod as it was at the start, where a slender one has ten
//! thousand times less inertia, and whirls.
//!
//! Each piece of mass then has the velocity $v = \omega^*\times E^*a + (E a - E^*a)/h$, and the body
//! the spin whose momentum is that of all of these, $I'\omega' = \sum m\,E a\times v$: rigid motion
//! has no more energy than the pieces, and none of it is about a rod's own axis unless it was before.

use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Kind, Motion};
use glamx::{DMat3, DVec3};

/// Turn of free flight up to which W is used, rad: beyond, the way to its minimum is not the way that
/// the body turns, and θ is compared with θ* as they are.
const FOLLOWED: f64 = 2.0;

/// How a body that turns in space resists it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spun {
    /// P at the start, and I, kg·m².
    moments: DMat3,
    inertia: DMat3,
    /// E*.
    goal: DMat3,
}

impl Spun {
    /// Of a body whose free flight turns it by `goal` (rad); none for others than rigid bodies in
    /// space that may turn about every axis, and for those that whirl.
    pub(super) fn new<S: Space>(bodies: &Bodies<S>, k: usize, goal: &Motion<S>) -> Option<Self> {
        let turn = DVec3::from_array(goal.spin.to_array3());
        let is_free = bodies.inertial[k].free_spins == S::Spin::splat(1.0);
        let is_followed = turn.length() <= FOLLOWED;
        if S::DIM == 2 || bodies.kind[k] != Kind::Rigid || !is_free || !is_followed {
            return None;
        }
        let inertia = bodies.inertial[k].inertia_at(bodies.rotation[k]);
        let inertia = columns_of::<S>(|spin| S::apply_inertia(&inertia, spin));
        Some(Self {
            moments: second_moments(&inertia),
            inertia,
            goal: turned(turn),
        })
    }

    /// W after a turn θ, kg·m².
    pub(super) fn energy(&self, turn: DVec3) -> f64 {
        let off = turned(turn) - self.goal;
        0.5 * trace(&(off * self.moments * off.transpose()))
    }

    /// The slope of W for a further turn about world axes, kg·m².
    pub(super) fn slope(&self, turn: DVec3) -> DVec3 {
        let moments = turned(turn) * self.moments;
        // By the difference: what is at its goal has none, in spite of rounding.
        axial(&(moments * (turned(turn) - self.goal).transpose()))
    }

    /// What its curvature is at most: the inertia after the turn, kg·m².
    pub(super) fn curvature(&self, turn: DVec3) -> DMat3 {
        let turn = turned(turn);
        turn * self.inertia * turn.transpose()
    }

    /// The angular momentum after a step of h seconds that turned it by θ, if it was to turn at
    /// `spin` (rad/s) where free flight ends, kg·m²/s.
    pub(super) fn momentum(&self, turn: DVec3, spin: DVec3, h: f64) -> DVec3 {
        let now = turned(turn);
        // Σ m Ea × (ω × E*a): columns are what each component of ω gives.
        let cross = now * self.moments * self.goal.transpose();
        let of_spin = DMat3::from_diagonal(DVec3::splat(trace(&cross))) - cross.transpose();
        of_spin * spin + self.slope(turn) * (1.0 / h)
    }
}

/// ½ tr(I) − I.
fn second_moments(inertia: &DMat3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(0.5 * trace(inertia))) - *inertia
}

fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// $\sum m\,x\times y$ of $\sum m\,x y^T$.
fn axial(m: &DMat3) -> DVec3 {
    let at = |row: usize, column: usize| m.col(column)[row];
    DVec3::new(
        at(1, 2) - at(2, 1),
        at(2, 0) - at(0, 2),
        at(0, 1) - at(1, 0),
    )
}

/// exp(θ×).
fn turned(turn: DVec3) -> DMat3 {
    let quaternion = <crate::math::algebra::D3 as crate::math::algebra::Algebra>::turn(
        glamx::DQuat::IDENTITY,
        turn,
    );
    DMat3::from_quat(quaternion)
}

/// A map of spins as a matrix.
fn columns_of<S: Space>(of: impl Fn(S::Spin) -> S::Spin) -> DMat3 {
    let mut matrix = DMat3::ZERO;
    for axis in 0..S::SPIN_DIM.min(3) {
        let unit = S::Spin::default().with_component(axis, 1.0);
        *matrix.col_mut(axis) = DVec3::from_array(of(unit).to_array3());
    }
    matrix
}
