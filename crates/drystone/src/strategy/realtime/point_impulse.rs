//! Impulse at one contact point, and the response of its two bodies.

use super::articulation::{Links, Spot};
use super::impacts::ImpactRule;
use super::manifold_store::Manifold;
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Motion};

/// Turn in a step up to which points that do not touch yet bounce, rad.
const MOST_TURN: f64 = 0.2;

/// What impacts change.
pub(crate) struct HitBodies<'a, S: Space> {
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

/// How a point closes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    /// What is left to close, seen from the start of the step at the present motion, m.
    gap: f64,
    /// Speed at the start of the step, m/s.
    speed: f64,
    /// What the fall of a step adds to it, m/s.
    falls: f64,
    /// The speed beyond what the gap allows, m/s.
    excess: f64,
    /// Whether it bounces.
    bounces: bool,
}

impl Closing {
    /// `late` says how far bodies that took part in impacts in this step are from where their present motion
    /// would have taken them from its start.
    pub(super) fn of<S: Space>(
        (bodies, late): (&Bodies<S>, &[Motion<S>]),
        manifold: &Manifold<S>,
        at: &ContactPoint<S>,
        law: &ImpactRule<S>,
    ) -> Self {
        let ends = [manifold.a as usize, manifold.b as usize];
        let arms = ends.map(|k| at.position - bodies.position[k]);
        let speed = -at.normal.dot(velocity(bodies, ends, arms) + manifold.slide);
        let moved = |side: usize| match late.get(ends[side]) {
            Some(late) => at
                .normal
                .dot(late.linear + S::spin_cross(late.spin, arms[side])),
            None => 0.0,
        };
        let gap = (at.separation + (moved(1) - moved(0))).max(0.0);
        let turned = ends.map(|k| bodies.motion[k].spin.length() * law.dt);
        // The point of a body that spins fast is elsewhere by the time it would touch.
        let is_there = at.separation <= law.margin || turned[0] + turned[1] < MOST_TURN;
        Self {
            gap,
            speed,
            falls: -law.fallen(bodies, ends, at.normal),
            excess: speed - gap / law.dt,
            bounces: manifold.surface.restitution > 0.0 && speed > law.threshold && is_there,
        }
    }

    /// Whether the point hits in this step.
    pub(super) fn hits<S: Space>(&self, law: &ImpactRule<S>) -> bool {
        let early = law.early.min(0.5 * self.falls);
        self.excess > law.least || self.bounces && self.excess > -early
    }

    /// When it hits, s from the start of the step, and how fast, m/s: its gap is
    /// $d - ut - \tfrac12 at^2$ until then.
    fn impact<S: Space>(&self, law: &ImpactRule<S>) -> (f64, f64) {
        let square = self.speed * self.speed + 2.0 * self.falls / law.dt * self.gap;
        let speed = square.max(0.0).sqrt();
        ((2.0 * self.gap / (self.speed + speed)).min(law.dt), speed)
    }
}

/// How bodies answer, and how far they are from where their present motion would have taken them.
pub(super) type Answering<'a, S> = (&'a [Answer<S>], &'a mut [Motion<S>]);

/// Lets one point hit, if it does: the impulse on B, N·s, and the speed of a rebound, m/s.
pub(super) fn impact_point<S: Space>(
    (struck, (answers, late)): (&mut HitBodies<'_, S>, Answering<'_, S>),
    manifold: &Manifold<S>,
    at: &ContactPoint<S>,
    law: &ImpactRule<S>,
) -> Option<(S::Vector, Option<f64>)> {
    let bodies = &*struck.bodies;
    let closing = Closing::of((bodies, &*late), manifold, at, law);
    if !closing.hits(law) {
        return None;
    }
    let ends = [manifold.a as usize, manifold.b as usize];
    let arms = ends.map(|k| at.position - bodies.position[k]);
    let spot = Spot { ends, arms };
    let before = ends.map(|k| bodies.motion[k]);
    let (time, speed) = closing.impact(law);
    // What does not bounce closes its gap by the end of the step.
    let change = if closing.bounces {
        (1.0 + manifold.surface.restitution) * speed
    } else {
        closing.excess
    };
    let rebound = closing.bounces.then_some((change - closing.speed).max(0.0));
    let answers = ends.map(|k| &answers[k]);
    let answer = struck.answer_along(answers, &spot, at.normal);
    if answer <= 0.0 {
        return None;
    }
    let pressed = change / answer;
    let mut impulse = at.normal * pressed;
    struck.push(answers, &spot, at.normal, pressed);
    let after = velocity(struck.bodies, ends, arms) + manifold.slide;
    let slip = after - at.normal * at.normal.dot(after);
    let slip_speed = slip.length();
    if slip_speed > 0.0 {
        let along = slip * (1.0 / slip_speed);
        let answer = struck.answer_along(answers, &spot, along);
        // What joints hold fast does not slip.
        if answer > 0.0 {
            let drag = -(slip_speed / answer).min(manifold.surface.friction * pressed);
            struck.push(answers, &spot, along, drag);
            impulse += along * drag;
        }
    }
    if closing.bounces && !ends.iter().any(|&k| struck.links.ties_body(k)) {
        for (k, before) in ends.into_iter().zip(before) {
            let now = &struck.bodies.motion[k];
            late[k].linear -= (now.linear - before.linear) * time;
            late[k].spin -= (now.spin - before.spin) * time;
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

impl<S: Space> HitBodies<'_, S> {
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
