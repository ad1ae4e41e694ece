//! One step of a strategy: what it is given, and what it gives back.

use crate::contact::detection::{Contact, Lookahead};
use crate::contact::primitives::{self, Poses};
use crate::contact::problem::assemble::ContactRules;
use crate::contact::rules::{Hooks, PairRules};
use crate::dynamics::contact_set::{ContactSet, Surroundings};
use crate::dynamics::continuous::{Nearness, hold_back};
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::Rule;
use crate::dynamics::failsafe::{Rescue, hold_deformables};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::judge::certificate::Solution;
use crate::judge::whole_step::Burst;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, BodyState, Kind, Motion};
use crate::model::changes::Changes;
use crate::model::deformable::{Deformables, Integrator};
use crate::model::joint::Joints;
use crate::model::material::Materials;
use crate::model::range;
use crate::solver::{SolveReport, SolverKind};
use std::any::Any;
use std::fmt::Debug;

/// A strategy at work: its options, and what it keeps from step to step.
pub(crate) trait Stepper<S: Space>: Debug + Send + Sync {
    /// Moves the bodies by one step. If it fails, the world takes back whatever was moved.
    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>>;

    /// Takes over the options of its strategy. Returns whether these are such.
    fn set_options(&mut self, options: &dyn Any) -> bool;

    /// A copy of it for a copy of the world.
    fn copy(&self) -> Box<dyn Stepper<S>>;

    /// Contacts with the impulses of the last step, if it keeps them itself.
    fn contacts(&self, _bodies: &Bodies<S>, _dt: f64) -> Option<Vec<Contact<S>>> {
        None
    }

    /// Whether a body sleeps.
    fn is_asleep(&self, _body: usize) -> bool {
        false
    }

    /// Forces along the rows of a joint, N and N·m, if it keeps them itself.
    fn joint_forces(&self, _joint: u32) -> Option<Vec<f64>> {
        None
    }

    /// What the next step depends on, as bytes.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Goes on from what was [saved](Self::save). Returns whether it fits these bodies and joints.
    fn restore(&mut self, bytes: &[u8], _bodies: &Bodies<S>, _joints: &Joints<S>) -> bool {
        bytes.is_empty()
    }
}

/// The settings that all strategies share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSettings<S: Space> {
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// m/s².
    pub(crate) gravity: S::Vector,
    pub(crate) contact: ContactRules,
    /// Contacts nearer than this are always kept, m.
    pub(crate) margin: f64,
    pub(crate) solver: SolverKind,
    pub(crate) threads: u32,
    pub(crate) integrator: Integrator,
}

impl<S: Space> StepSettings<S> {
    /// How detection looks ahead.
    pub(crate) fn lookahead(&self) -> Lookahead {
        Lookahead {
            dt: self.dt,
            margin: self.margin,
            acceleration: self.gravity.length(),
        }
    }

    /// How elastic forces are worked out.
    pub(crate) fn elastic_rule(&self, effort: Effort) -> Rule {
        Rule {
            dt: self.dt,
            integrator: self.integrator,
            threads: self.threads,
            effort,
        }
    }
}

/// A world at the start of a step.
pub(crate) struct StepInput<'a, S: Space> {
    pub(crate) settings: StepSettings<S>,
    pub(crate) bodies: &'a mut Bodies<S>,
    /// Poses and motion of the bodies before the step.
    pub(crate) before: &'a BodyState<S>,
    pub(crate) deformables: &'a Deformables,
    pub(crate) joints: &'a mut Joints<S>,
    pub(crate) materials: &'a Materials,
    pub(crate) hooks: Option<&'a dyn Hooks<S>>,
    pub(crate) contacts: &'a mut ContactSet<S>,
    /// What was changed from outside since contacts were found.
    pub(crate) changes: &'a mut Changes,
    /// Whether joints are rows of the contact problem.
    pub(crate) joints_are_contacts: bool,
    /// At the start and at the end of the step, s.
    pub(crate) time: [f64; 2],
    /// Whether the step will be judged.
    pub(crate) is_judged: bool,
    /// Told of the end of each part of the step.
    pub(crate) watch: &'a mut dyn FnMut(Phase),
}

impl<S: Space> StepInput<'_, S> {
    /// All that decides about pairs.
    pub(crate) fn rules(&self) -> PairRules<'_, S> {
        PairRules {
            materials: self.materials,
            hooks: self.hooks,
            apart: self.joints.apart(),
        }
    }

    /// Velocities after the forces of the step but elastic ones.
    pub(crate) fn apply_forces(&self) -> Vec<Motion<S>> {
        let StepSettings {
            dt,
            gravity,
            threads,
            ..
        } = self.settings;
        integrate::apply_forces(self.bodies, gravity, (self.time[0], dt), threads)
    }

    /// Finds contacts at the present poses.
    pub(crate) fn find_contacts(&mut self) {
        let mut contacts = std::mem::take(self.contacts);
        contacts.find(&Surroundings {
            bodies: self.bodies,
            deformables: self.deformables,
            joints: self.joints,
            rules: self.rules(),
            ahead: self.settings.lookahead(),
            joints_are_contacts: self.joints_are_contacts,
        });
        *self.contacts = contacts;
        *self.changes = Changes::default();
    }

    /// Finds contacts again if something changed since they were found.
    pub(crate) fn refresh_contacts(&mut self) {
        if !self.changes.is_none() {
            self.find_contacts();
        }
    }

    /// Finds contacts at the new poses for the judge, if there is to be one.
    pub(crate) fn find_contacts_if_judged(&mut self) {
        if self.is_judged {
            self.find_contacts();
        } else {
            self.changes.all = true;
        }
    }

    /// Puts every body where its step ends; scripted ones go where the script says.
    pub(crate) fn move_to(&mut self, mut end: Poses<S>) {
        let bodies = &mut *self.bodies;
        for k in (0..bodies.len()).filter(|&k| !bodies.is_dynamic(k)) {
            let (mut position, mut rotation) = (bodies.position[k], bodies.rotation[k]);
            if let Kind::Kinematic(script) = &bodies.kind[k] {
                let pose = script.pose(&bodies.start[k], self.time[1]);
                (position, rotation) = (pose.position, pose.rotation);
            }
            (end.position[k], end.rotation[k]) = (position, rotation);
            end.motion[k] = bodies.motion[k];
        }
        bodies.replace(end.position, end.rotation, end.motion);
    }

    /// Moves bodies by velocities, and by repair speeds that leave their velocities as they are.
    pub(crate) fn advance(&mut self, velocities: &[Motion<S>], nudges: Option<&[Motion<S>]>) {
        let dt = self.settings.dt;
        integrate::advance(self.bodies, velocities, self.time[1], dt);
        if let Some(nudges) = nudges {
            integrate::displace(self.bodies, nudges, dt);
        }
    }

    /// Refuses states that are no numbers or out of range.
    pub(crate) fn check_range(&self) -> Result<(), Failure<S>> {
        let bodies = &*self.bodies;
        let Some(k) = integrate::first_out_of_range_by(bodies, self.settings.threads) else {
            return Ok(());
        };
        let what = bodies
            .beyond_range(k)
            .filter(|_| integrate::is_finite(bodies, k));
        Err(what.map_or(Failure::NotFinite(Some(k)), |what| {
            Failure::OutOfRange(k, what)
        }))
    }

    /// Refuses velocities that forces lead to, before anything is looked for along them, if they are
    /// no numbers or out of range.
    pub(crate) fn check_free(&self, free: &[Motion<S>]) -> Result<(), Failure<S>> {
        let is_in_range = |motion: &Motion<S>| {
            range::within(motion.linear, range::SPEED) && range::within(motion.spin, range::SPIN)
        };
        let Some(k) = free.iter().position(|motion| !is_in_range(motion)) else {
            return Ok(());
        };
        let is_number = free[k].linear.is_finite() && free[k].spin.is_finite();
        let what = "velocity (at most 1e9 m/s and 1e9 rad/s along and about each axis)";
        Err(if is_number {
            Failure::OutOfRange(k, what)
        } else {
            Failure::NotFinite(Some(k))
        })
    }

    /// Puts what passed through something back to where it touched it.
    pub(crate) fn hold_back(&mut self) {
        let near = Nearness {
            dt: self.settings.dt,
            margin: self.settings.margin,
            slop: self.settings.contact.slop,
            threads: self.settings.threads,
        };
        let joints = &*self.joints;
        let is_tied = |k: usize| joints.ties(k as u32);
        let rules = PairRules {
            materials: self.materials,
            hooks: self.hooks,
            apart: joints.apart(),
        };
        let held = hold_back(self.bodies, self.before, &rules, near, is_tied);
        // Nodes too: one that a half-space holds back leaves its faces elsewhere than they were proved
        // to be free of what is near them.
        if !held.is_empty() {
            hold_deformables(self.deformables, self.bodies, self.before, near.dt);
        }
    }
}

/// What a step did.
#[derive(Debug)]
pub(crate) struct StepOutput<S: Space> {
    /// Contact points.
    pub(crate) contacts: usize,
    pub(crate) solve: SolveReport,
    pub(crate) rescue: Rescue,
    pub(crate) resolution: Resolution,
    /// What is to be judged; may be left out in steps that are not.
    pub(crate) solution: Option<Solution<S>>,
}

/// Why a step could not be made.
#[derive(Clone, Debug)]
pub(crate) enum Failure<S: Space> {
    /// Two bodies (by number) touch or overlap at the start, by so many m.
    Overlap([u32; 2], f64),
    /// Scripts leave no room: the bodies, and the point where they meet.
    Infeasible([u32; 2], S::Vector),
    /// The state of a body (by number, where it is known) is no number.
    NotFinite(Option<usize>),
    /// The state of a body (by number) is beyond the range of numbers in this, with its bound.
    OutOfRange(usize, &'static str),
    /// The elastic forces of a deformable, by its name, are no numbers.
    Elastic(String),
    /// The judge saw more energy made than any error of a sound step.
    Burst(Burst),
}

impl<S: Space> From<primitives::Failure<S>> for Failure<S> {
    fn from(failure: primitives::Failure<S>) -> Self {
        match failure {
            primitives::Failure::Overlap(bodies, depth) => Self::Overlap(bodies, depth),
            primitives::Failure::Infeasible(bodies, place) => Self::Infeasible(bodies, place),
            primitives::Failure::Numbers => Self::NotFinite(None),
        }
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// Finding contacts.
    Detection,
    /// Elastic forces without contact.
    Elastic,
    /// Solving contacts, with what they do to deformables, and repairing overlap.
    Contact,
    /// Keeping everything from passing through deformables.
    Rescue,
    /// Moving bodies.
    Motion,
    /// Judging the step.
    Certificate,
}

/// How a step's impacts were resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resolution {
    /// Impacts that were found, repetitions counted.
    pub impacts: usize,
    /// Looks at the whole step.
    pub rounds: u32,
    /// Whether impacts did not end by themselves and the fail-safe went to work.
    pub gave_up: bool,
    /// Rounds of inelastic zones.
    pub zone_rounds: u32,
    /// Bodies and nodes that moved on as parts of rigid zones.
    pub rigid_bodies: usize,
    /// Bodies and nodes whose way was cut short.
    pub cut_bodies: usize,
    /// Momentum that was lost by that, as a sum of sizes, N·s.
    pub lost_momentum_n_s: f64,
}

impl Resolution {
    /// That of two steps, one after the other.
    pub(crate) fn followed_by(&self, next: &Self) -> Self {
        Self {
            impacts: self.impacts + next.impacts,
            rounds: self.rounds + next.rounds,
            gave_up: self.gave_up || next.gave_up,
            zone_rounds: self.zone_rounds + next.zone_rounds,
            rigid_bodies: self.rigid_bodies + next.rigid_bodies,
            cut_bodies: self.cut_bodies + next.cut_bodies,
            lost_momentum_n_s: self.lost_momentum_n_s + next.lost_momentum_n_s,
        }
    }
}
