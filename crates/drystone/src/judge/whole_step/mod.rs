//! The whole step, from the states before and after it alone.
//!
//! * **Energy.** Over a step, kinetic, potential and elastic energy may change by the work of what acts
//!   from outside, and by nothing else:
//!
//!   $$ E = \Delta T + \Delta V + \Delta U - W + D . $$
//!
//!   T and V are those of the bodies ([`body`]), U is that of deformables and springs, W the work of
//!   pushes, motors, scripts and belts, and D what damping took. E is summed up by **islands**
//!   ([`islands`]): bodies that acted on each other. What an island gained was **made** by nothing. What
//!   it lost was **dissipated** where something in it may take energy (friction and impact, damped
//!   springs, stops, elastic damping), and just **lost** where nothing may.
//! * **Momentum**, linear and angular: what an island that touches nothing fixed gained beyond the
//!   impulse of forces. Of what is held by something fixed, states do not say how much that gave; there
//!   the impulses of contacts are held against the velocities ([`super::certificate`]).
//! * **Joints** ([`joints`]): gaps and angles after the step, and the work done by what only holds.
//! * **Displacement**: how far a body went and turned beyond what its velocities before and after explain,
//!   as where an overlap is repaired.
//! * **Pushes across gaps** ([`contacts`]).
//!
//! No strategy's account is taken for any of these, with one exception that states can't make up
//! for: what a scripted body, a belt or a motor gave is its impulse times the way it went. The way is
//! known, the impulse is what the strategy says of the contact or of the drive (within its largest
//! force); the residual of contact judges it.

mod body;
mod contacts;
mod islands;
mod joints;

pub use contacts::PushApart;
pub use joints::JointFigures;
pub(crate) use joints::smaller;

use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, BodyState};
use crate::model::deformable::{Deformables, Soft};
use crate::model::joint::Joints;
use body::{Balance, Span};
use islands::{Island, Islands, NONE};
use joints::JointRows;
use serde::{Deserialize, Serialize};

/// A step as the judge sees it.
pub(crate) struct Step<'a, S: Space> {
    /// After it, with the forces that acted in it.
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) before: &'a BodyState<S>,
    pub(crate) deformables: &'a Deformables,
    pub(crate) joints: &'a Joints<S>,
    /// With the impulses of the step and the gaps at its start.
    pub(crate) contacts: &'a [Contact<S>],
    /// m/s².
    pub(crate) gravity: S::Vector,
    /// At the start, s.
    pub(crate) time: f64,
    /// Its length, s.
    pub(crate) dt: f64,
    /// What a strategy says of the force along a row of a joint (place and number), N or N·m: asked
    /// for motors and scripted ends only.
    pub(crate) joint_force: &'a dyn Fn(u32, usize) -> f64,
}

impl<S: Space> Step<'_, S> {
    fn span(&self) -> Span<'_, S> {
        Span {
            bodies: self.bodies,
            before: self.before,
            gravity: self.gravity,
            time: self.time,
            dt: self.dt,
        }
    }

    fn pose_before(&self, k: usize) -> Pose<S> {
        Pose {
            position: self.before.position[k],
            rotation: self.before.rotation[k],
        }
    }

    fn pose_after(&self, k: usize) -> Pose<S> {
        Pose {
            position: self.bodies.position[k],
            rotation: self.bodies.rotation[k],
        }
    }

    fn way(&self, k: usize) -> S::Vector {
        self.span().way(k)
    }

    fn turn(&self, k: usize) -> S::Spin {
        self.span().turn(k)
    }
}

/// Energy over a step, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyBalance {
    /// Of motion, after the step.
    pub kinetic_j: f64,
    /// In gravity, after the step; 0 at the origin.
    pub potential_j: f64,
    /// In deformables and springs, after the step; 0 at rest.
    pub elastic_j: f64,
    /// Work of pushes, motors, scripts and belts in the step.
    pub work_j: f64,
    /// What friction, impacts and damping took in the step.
    pub dissipated_j: f64,
    /// What nothing gave.
    pub made_j: f64,
    /// What nothing took.
    pub lost_j: f64,
    /// Energy that the step is held against: of motion and springs, and what it takes to lift every
    /// body by its own radius.
    pub scale_j: f64,
    /// Largest share of what is there that an island made or lost for no reason.
    pub worst_share: f64,
}

impl EnergyBalance {
    /// That of two steps, one after the other.
    pub(crate) fn followed_by(&self, next: &Self) -> Self {
        Self {
            work_j: self.work_j + next.work_j,
            dissipated_j: self.dissipated_j + next.dissipated_j,
            made_j: self.made_j + next.made_j,
            lost_j: self.lost_j + next.lost_j,
            scale_j: self.scale_j.max(next.scale_j),
            worst_share: self.worst_share.max(next.worst_share),
            ..*next
        }
    }
}

/// Momentum over a step: what islands that nothing holds gained beyond the impulse of forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentumBalance {
    /// Largest error of an island, N·s.
    pub linear_n_s: f64,
    /// Largest error of an island, N·m·s.
    pub angular_n_m_s: f64,
    /// Largest share of the linear momentum that is there.
    pub linear_share: f64,
    /// Largest share of the angular momentum that is there.
    pub angular_share: f64,
}

/// How far bodies went beyond what their velocities explain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Displaced {
    /// Largest, m.
    pub(crate) by_m: f64,
    /// Largest over the size of the body, and which that is.
    pub(crate) of_size: f64,
    pub(crate) body: Option<u32>,
}

/// An island that made energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Burst {
    /// The body that gained most.
    pub(crate) body: u32,
    /// J.
    pub(crate) made_j: f64,
    /// Energy that was there before, with the work of forces and what it takes to lift the bodies by
    /// half their size, J.
    pub(crate) had_j: f64,
    /// What was made over what was there, or over what it takes to come to [`BURST_SPEED`] if that is
    /// more.
    pub(crate) share: f64,
}

/// Speed that energy is held against at least, m/s: slower than this nothing bursts, whatever it had.
const BURST_SPEED: f64 = 1.0;

/// What the judge says of a whole step; bodies are given by number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WholeStep {
    pub(crate) energy: EnergyBalance,
    pub(crate) momentum: MomentumBalance,
    pub(crate) joints: JointFigures,
    pub(crate) push_apart: Option<PushApart>,
    pub(crate) displaced: Displaced,
    /// The island that made most energy for what it had.
    pub(crate) burst: Option<Burst>,
    /// Which body gained or lost most in the island with the largest share of energy made or lost.
    pub(crate) energy_of: Option<u32>,
    /// The first body of the island with the largest error of momentum.
    pub(crate) momentum_of: Option<u32>,
}

/// What judges whole steps, kept for its memory.
#[derive(Clone, Debug)]
pub(crate) struct StepJudge<S: Space> {
    islands: Islands<S>,
    rows: JointRows,
}

impl<S: Space> Default for StepJudge<S> {
    fn default() -> Self {
        Self {
            islands: Islands::default(),
            rows: JointRows::default(),
        }
    }
}

impl<S: Space> StepJudge<S> {
    /// Judges a step.
    pub(crate) fn judge(&mut self, step: &Step<'_, S>) -> WholeStep {
        let mut whole = WholeStep::default();
        let islands = &mut self.islands;
        islands.find(step.bodies, step.contacts, step.joints, step.deformables);
        weigh_bodies(step, islands, &mut whole);
        let mut elastic = 0.0;
        for soft in step.deformables.iter() {
            elastic += weigh_soft(step, soft, islands);
        }
        let (joints, springs, driven) = self.rows.judge(step, islands);
        whole.joints = joints;
        whole.energy.elastic_j = elastic + springs[1];
        whole.energy.work_j += driven + contacts::scripted_work(step, islands);
        whole.push_apart = contacts::pushes_apart(step);
        turn_islands(step, islands);
        for island in &islands.list {
            whole.add(island);
        }
        whole
    }
}

/// Adds every body's balance to its island.
fn weigh_bodies<S: Space>(step: &Step<'_, S>, islands: &mut Islands<S>, whole: &mut WholeStep) {
    let energy = &mut whole.energy;
    let (span, bodies) = (step.span(), step.bodies);
    let pull = step.gravity.length();
    for k in 0..bodies.len() {
        if islands.of[k] == NONE {
            continue;
        }
        let balance: Balance<S> = span.balance(k);
        let mass = bodies.mass(k);
        let lift = mass * pull * bodies.size(k);
        islands.list[islands.of[k] as usize].add(k as u32, &balance, mass, lift);
        energy.kinetic_j += balance.kinetic[1];
        energy.potential_j -= mass * step.gravity.dot(bodies.position[k]);
        energy.work_j += balance.given;
        energy.dissipated_j += balance.damped;
        let of_size = balance.displaced / (2.0 * bodies.size(k)).max(f64::MIN_POSITIVE);
        if of_size > whole.displaced.of_size {
            whole.displaced.of_size = of_size;
            whole.displaced.body = Some(k as u32);
        }
        whole.displaced.by_m = whole.displaced.by_m.max(balance.displaced);
    }
}

/// Adds the elastic energy of a deformable to its island. Returns that after the step, J.
fn weigh_soft<S: Space>(step: &Step<'_, S>, soft: &Soft, islands: &mut Islands<S>) -> f64 {
    let before = soft.energy_at::<S>(&step.before.position);
    let after = soft.energy_at::<S>(&step.bodies.position);
    let moved = soft
        .nodes
        .iter()
        .find(|&&k| step.bodies.is_dynamic(k as usize));
    if let Some(island) = moved.and_then(|&k| islands.of_body(k)) {
        island.energy += after - before;
        island.scale += before.max(after);
        island.had += before;
    }
    after
}

/// Adds to islands of several bodies that nothing holds the angular momentum of their bodies' ways.
fn turn_islands<S: Space>(step: &Step<'_, S>, islands: &mut Islands<S>) {
    let is_asked = |island: &Island<S>| !island.is_held && island.bodies > 1;
    if !islands.list.iter().any(is_asked) {
        return;
    }
    let (span, bodies, h) = (step.span(), step.bodies, step.dt);
    for k in 0..bodies.len() {
        let Some(island) = islands.list.get_mut(islands.of[k] as usize) else {
            continue;
        };
        if !is_asked(island) {
            continue;
        }
        let (mass, way) = (bodies.mass(k), span.way(k));
        let [before, after] = span.motions(k).map(|motion| motion.linear);
        let x1 = bodies.position[k] - island.center;
        let x0 = x1 - way;
        let gained = (S::cross(x1, after) - S::cross(x0, before)) * mass;
        // What forces gave: their impulse where the body was on average.
        let mean = (x0 + x1) * 0.5 + (before - after) * (h / 12.0);
        let forced = S::cross(mean, span.impulse(k));
        island.spin += gained - forced;
        let momentum = mass * (before.length().max(after.length()) + step.gravity.length() * h);
        island.spin_scale += momentum * (x1.length() + bodies.size(k));
    }
}

impl WholeStep {
    fn add<S: Space>(&mut self, island: &Island<S>) {
        let share = |error: f64, scale: f64| if error > 0.0 { error / scale } else { 0.0 };
        let energy = &mut self.energy;
        energy.scale_j += island.scale;
        let least = 0.5 * island.mass * BURST_SPEED * BURST_SPEED;
        let of_had = share(island.energy, island.had.max(least));
        let is_more = |burst: &Burst| of_had > burst.share;
        if of_had > 0.0 && island.most.0 != NONE && self.burst.as_ref().is_none_or(is_more) {
            self.burst = Some(Burst {
                body: island.most.0,
                made_j: island.energy,
                had_j: island.had,
                share: of_had,
            });
        }
        let beyond = island.energy.abs() - island.round_off;
        if beyond > 0.0 || island.energy.is_nan() {
            let of_scale = share(island.energy.abs(), island.scale);
            let is_worse = of_scale >= energy.worst_share;
            if island.energy < 0.0 && island.may_lose() {
                energy.dissipated_j -= island.energy;
            } else {
                energy.worst_share = energy.worst_share.max(of_scale);
                let body = if island.energy < 0.0 {
                    energy.lost_j -= island.energy;
                    island.least.0
                } else {
                    energy.made_j += island.energy;
                    island.most.0
                };
                if is_worse {
                    self.energy_of = some(body);
                }
            }
        }
        if !island.is_held {
            let momentum = &mut self.momentum;
            let (linear, angular) = (island.momentum.length(), island.spin.length());
            momentum.linear_n_s = momentum.linear_n_s.max(linear);
            momentum.angular_n_m_s = momentum.angular_n_m_s.max(angular);
            let shares = [
                share(linear, island.momentum_scale),
                share(angular, island.spin_scale),
            ];
            if shares[0].max(shares[1]) > momentum.linear_share.max(momentum.angular_share) {
                self.momentum_of = some(island.first);
            }
            momentum.linear_share = momentum.linear_share.max(shares[0]);
            momentum.angular_share = momentum.angular_share.max(shares[1]);
        }
    }
}

/// A body, if it is one.
fn some(body: u32) -> Option<u32> {
    (body != NONE).then_some(body)
}
