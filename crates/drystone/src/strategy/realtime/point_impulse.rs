//! One hit: what an impulse at a point does to the two bodies that meet there.

use super::articulation::{Links, Spot};
use super::impacts::StrikeLaw;
use super::manifold_store::Patch;
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Motion};

/// Turn in a step up to which points that do not touch yet bounce, rad.
const MOST_TURN: f64 = 0.2;

/// What impacts change.
pub(crate) struct Struck<'a, S: Space> {
    pub(crate) bodies: &'a mut Bodies<S>,
    pub(crate) links: &'a mut Links<S>,
}

/// How a body that joints do not tie answers to impulses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<S: Space> {
    /// Inverse masses along the axes, 1/kg.
    pub(super) inv_mass: S::Vector,
    /// Inverse inertia in world axes, 1/(kg·m²).
    pub(super) inv_inertia: S::Inertia,
}

/// The speed at which a point closes beyond what its gap allows, m/s.
pub(super) fn excess<S: Space>(
    bodies: &Bodies<S>,
    patch: &Patch<S>,
    at: &ContactPoint<S>,
    law: &StrikeLaw<S>,
) -> f64 {
    let ends = [patch.a as usize, patch.b as usize];
    let arms = ends.map(|k| at.position - bodies.position[k]);
    let closing = velocity(bodies, ends, arms) + patch.slide;
    -at.normal.dot(closing) - at.separation.max(0.0) / law.dt
}

/// Lets one point hit, if it does: the impulse on B, N·s, and the speed of a rebound, m/s.
pub(super) fn strike_point<S: Space>(
    (struck, answers): (&mut Struck<'_, S>, &[Answer<S>]),
    patch: &Patch<S>,
    at: &ContactPoint<S>,
    law: &StrikeLaw<S>,
) -> Option<(S::Vector, Option<f64>)> {
    let bodies = &*struck.bodies;
    let excess = excess(bodies, patch, at, law);
    if excess <= law.least {
        return None;
    }
    let ends = [patch.a as usize, patch.b as usize];
    let arms = ends.map(|k| at.position - bodies.position[k]);
    let spot = Spot { ends, arms };
    let allowed = at.separation.max(0.0) / law.dt;
    let speed = excess + allowed;
    let e = patch.surface.restitution;
    let turned = ends.map(|k| bodies.motion[k].spin.length() * law.dt);
    // The point of a body that spins fast is elsewhere by the time it would touch.
    let is_there = at.separation <= law.margin || turned[0] + turned[1] < MOST_TURN;
    let bounces = e > 0.0 && speed > law.threshold && is_there;
    // Restitution refers to the velocities before forces, so that what falls until the end of the
    // step is not taken from the rebound.
    let fallen = law.fallen(bodies, ends, at.normal);
    let rebound = bounces.then_some((e * speed - fallen).max(0.0));
    let leaving = rebound.unwrap_or(-allowed);
    let answers = ends.map(|k| &answers[k]);
    let answer = struck.answer_along(answers, &spot, at.normal);
    if answer <= 0.0 {
        return None;
    }
    let pressed = (leaving + speed) / answer;
    let mut impulse = at.normal * pressed;
    struck.push(answers, &spot, at.normal, pressed);
    let after = velocity(struck.bodies, ends, arms) + patch.slide;
    let slip = after - at.normal * at.normal.dot(after);
    let slip_speed = slip.length();
    if slip_speed > 0.0 {
        let along = slip * (1.0 / slip_speed);
        let answer = struck.answer_along(answers, &spot, along);
        // What joints hold fast does not slip.
        if answer > 0.0 {
            let drag = -(slip_speed / answer).min(patch.surface.friction * pressed);
            struck.push(answers, &spot, along, drag);
            impulse += along * drag;
        }
    }
    Some((impulse, rebound))
}

/// Velocity of B's point relative to A's, m/s.
pub(super) fn velocity<S: Space>(
    bodies: &Bodies<S>,
    ends: [usize; 2],
    arms: [S::Vector; 2],
) -> S::Vector {
    let of = |side: usize| {
        let Motion { linear, spin } = bodies.motion[ends[side]];
        linear + S::spin_cross(spin, arms[side])
    };
    of(1) - of(0)
}

impl<S: Space> Struck<'_, S> {
    /// What a unit impulse along a direction changes of the velocity along it, 1/kg.
    fn answer_along(&mut self, answers: [&Answer<S>; 2], spot: &Spot<S>, along: S::Vector) -> f64 {
        let tied = if self.links.is_empty() {
            [None; 2]
        } else {
            self.links.respond(spot, along)
        };
        let of = |side: usize| {
            let arm = spot.arms[side];
            if let Some(change) = &tied[side] {
                let moved = along.dot(change.linear + S::spin_cross(change.spin, arm));
                return if side == 0 { -moved } else { moved };
            }
            let turned = S::cross(arm, along);
            let spin = S::apply_inertia(&answers[side].inv_inertia, turned);
            along.dot(answers[side].inv_mass.scale(along)) + turned.dot(spin)
        };
        of(0) + of(1)
    }

    /// Gives B an impulse along the direction that was asked for last, and A its opposite.
    fn push(&mut self, answers: [&Answer<S>; 2], spot: &Spot<S>, along: S::Vector, impulse: f64) {
        self.links.take(self.bodies, spot.ends, impulse);
        for (side, impulse) in [along * -impulse, along * impulse].into_iter().enumerate() {
            let k = spot.ends[side];
            if self.links.ties_body(k) {
                continue;
            }
            let turned = S::cross(spot.arms[side], impulse);
            let motion = &mut self.bodies.motion[k];
            motion.linear += answers[side].inv_mass.scale(impulse);
            motion.spin += S::apply_inertia(&answers[side].inv_inertia, turned);
        }
    }
}
