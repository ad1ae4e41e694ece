//! The world: bodies, and the step that moves them.

pub mod events;
pub mod query;

mod bodies;
mod check;
mod compiled;
mod deformables;
mod drawing;
mod driving;
mod errors;
mod joints;
#[cfg(test)]
mod mutations;
mod parts;
mod readings;
mod report;
mod snapshot;
#[cfg(test)]
mod tampering;

pub use crate::strategy::step::Phase;
pub use errors::{AccessError, StepError};
pub use report::{Energy, StepReport};
pub use snapshot::SnapshotError;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::contact::problem::ContactProblem;
use crate::contact::rules::{Hooks, PairRules};
use crate::dynamics::contact_set::{ContactSet, Surroundings};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::judge;
use crate::judge::Certificate;
use crate::judge::certificate::Solution;
use crate::judge::law::Answered;
use crate::judge::whole_step::{Burst, StepJudge};
#[cfg(feature = "dim2")]
use crate::math::algebra::D2;
#[cfg(feature = "dim3")]
use crate::math::algebra::D3;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, BodyId, BodyState};
use crate::model::changes::Changes;
use crate::model::deformable::Deformables;
use crate::model::joint::Joints;
use crate::model::material::Materials;
use crate::strategy::Running;
use crate::strategy::profile::SettingsError;
use crate::strategy::settings::Settings;
use crate::strategy::step::{Failure, StepInput, StepOutput};
use crate::strategy::velocity;
use events::{Event, TouchRecord};

/// A world in the plane.
#[cfg(feature = "dim2")]
pub type World2 = World<D2>;
/// A world in space.
#[cfg(feature = "dim3")]
pub type World3 = World<D3>;

/// A step that was made and judged, and is not accepted yet.
struct Attempt<S: Space> {
    output: StepOutput<S>,
    certificate: Option<Certificate>,
    /// How many parts it was made in.
    parts: u32,
}

/// What a program decides about contacts itself.
#[derive(Clone)]
struct HookSlot<S: Space>(Option<Arc<dyn Hooks<S>>>);

impl<S: Space> std::fmt::Debug for HookSlot<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Hooks" } else { "None" })
    }
}

/// Bodies that move, touch and rest.
///
/// ```
/// use drystone::{Body, Shape3, World3, glam::DVec3};
///
/// let mut world = World3::default();
/// world.add(Body::fixed(Shape3::half_space(DVec3::Y)?).named("floor"))?;
/// let ball = world.add(Body::rigid(Shape3::ball(0.5)?).at(DVec3::new(0.0, 2.0, 0.0)))?;
/// for _ in 0..240 {
///     let report = world.step()?;
///     assert!(report.certificate.unwrap().penetration_m < 1e-3);
/// }
/// assert!((world.pose(ball).unwrap().position.y - 0.5).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World<S: Space> {
    settings: Settings<S>,
    /// Materials of the bodies.
    pub materials: Materials,
    bodies: Bodies<S>,
    names: BTreeMap<String, BodyId>,
    contacts: ContactSet<S>,
    /// The problem that the last step made of its contacts, and its answer.
    last: Option<Answered<S>>,
    /// What was changed from outside since contacts were found.
    changes: Changes,
    joints: Joints<S>,
    deformables: Deformables,
    hooks: HookSlot<S>,
    /// What touched at the end of the last step, and what happened in it.
    watch: TouchRecord,
    events: Vec<Event<S>>,
    /// Every shape that a body of this world ever had, by its print.
    shapes: BTreeMap<u64, S::Shape>,
    /// The strategy at work.
    running: Running<S>,
    /// Poses and motion before the last step, kept for its memory.
    before: BodyState<S>,
    /// Memory of what judges steps.
    judge: StepJudge<S>,
    step: u64,
    time: f64,
    /// Step, time (s) and length of a step (s) since which steps had one length.
    even_since: (u64, f64, f64),
}

impl<S: Space> Default for World<S> {
    fn default() -> Self {
        Self {
            running: Running::default(),
            settings: Settings::default(),
            materials: Materials::default(),
            bodies: Bodies::default(),
            names: BTreeMap::new(),
            contacts: ContactSet::default(),
            last: None,
            changes: Changes {
                all: true,
                ..Changes::default()
            },
            joints: Joints::default(),
            deformables: Deformables::default(),
            hooks: HookSlot(None),
            watch: TouchRecord::default(),
            events: Vec::new(),
            shapes: BTreeMap::new(),
            before: BodyState::default(),
            judge: StepJudge::default(),
            step: 0,
            time: 0.0,
            even_since: (0, 0.0, 0.0),
        }
    }
}

impl<S: Space> World<S> {
    /// An empty world of the reference strategy ([`Settings::reference`]).
    #[must_use]
    pub fn reference() -> Self {
        Self {
            settings: Settings::reference(),
            ..Self::default()
        }
    }

    /// An empty world with these settings.
    pub fn new(settings: Settings<S>) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    /// Makes one step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.step_watched(&mut |_| {})
    }

    /// Does [`World::step_watched`].
    pub(super) fn make_step(
        &mut self,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<StepReport, StepError> {
        self.settings.check()?;
        self.joints.sort_pairs();
        self.check_strategy()?;
        let end = self.end_of_step();
        let attempt = match self.attempt(end, watch) {
            Err(Failure::Burst(burst)) => self.attempt_in_parts(end, burst, watch)?,
            Err(failure) => return Err(self.reject(failure)),
            Ok(attempt) => attempt,
        };
        self.accept(end);
        watch(Phase::Certificate);
        let report = self.report(&attempt);
        self.last = attempt.output.solution.map(|solution| solution.answered);
        self.note_events();
        Ok(report)
    }

    /// Steers, lets the strategy move the bodies to `end` seconds, and judges that. Fails if an island
    /// made more energy than it may ([`parts`]).
    fn attempt(
        &mut self,
        end: f64,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<Attempt<S>, Failure<S>> {
        let (dt, threads) = (self.settings.dt, self.settings.threads);
        integrate::steer(&mut self.bodies, self.time, dt);
        self.bodies.copy_state(&mut self.before, threads);
        let output = self.step_bodies(end, watch)?;
        let certificate = match &output.solution {
            Some(solution) => self.certify(solution).map_err(Failure::Burst)?,
            None => None,
        };
        Ok(Attempt {
            output,
            certificate,
            parts: 1,
        })
    }

    /// Lets the strategy move the bodies by a step that ends at `end` seconds.
    fn step_bodies(
        &mut self,
        end: f64,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<StepOutput<S>, Failure<S>> {
        let is_judged = self.samples(self.step + 1);
        let stepper = self.running.go_on(&self.settings.strategy);
        stepper.step(&mut StepInput {
            settings: self.settings.of_step(),
            bodies: &mut self.bodies,
            before: &self.before,
            deformables: &self.deformables,
            joints: &mut self.joints,
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            contacts: &mut self.contacts,
            changes: &mut self.changes,
            joints_are_contacts: self.settings.strategy.joints_are_contacts(),
            time: [self.time, end],
            is_judged,
            watch,
        })
    }

    /// Moves the clock to the end of a step.
    fn accept(&mut self, end: f64) {
        self.time = end;
        self.step += 1;
        self.bodies.load.fill(Default::default());
    }

    /// Takes back whatever a step that failed has moved, and says what failed.
    fn reject(&mut self, failure: Failure<S>) -> StepError {
        self.bodies.restore(std::mem::take(&mut self.before));
        // What the failed step left there may be no numbers either.
        self.running = Running::default();
        self.changes.all = true;
        self.failed(failure)
    }

    /// What the judge says of the step that was just made, if it is sampled. The forces that acted in
    /// it must still be there. Fails if an island made more energy than it may.
    fn certify(&mut self, solution: &Solution<S>) -> Result<Option<Certificate>, Burst> {
        if !self.samples(self.step + 1) {
            return Ok(None);
        }
        let mut judge = std::mem::take(&mut self.judge);
        let solved = &self.contacts.solved;
        let Settings { dt, gravity, .. } = self.settings;
        let whole = judge.judge(&judge::whole_step::Step {
            bodies: &self.bodies,
            before: &self.before,
            deformables: &self.deformables,
            joints: &self.joints,
            contacts: solution.solved(solved),
            gravity,
            time: self.time,
            dt,
            joint_force: &|joint, row| self.row_force(joint, row),
        });
        self.judge = judge;
        let refuses = self.settings.strategy.refuses_bursts();
        if let Some(burst) = whole
            .burst
            .filter(|burst| refuses && burst.share > parts::MOST_MADE)
        {
            return Err(burst);
        }
        let ContactSet { present, solved } = &self.contacts;
        let fall = gravity.length() * dt;
        Ok(Some(Certificate {
            step: self.step + 1,
            ..solution.certify(&self.bodies, [solved, present], &whole, fall)
        }))
    }

    /// What the strategy says of the force along a row of a joint in the last step, N or N·m.
    fn row_force(&self, joint: u32, row: usize) -> f64 {
        let own = self.running.stepper();
        if let Some(forces) = own.and_then(|own| own.joint_forces(joint)) {
            return forces.get(row).copied().unwrap_or(0.0);
        }
        let held = self.joints.places().nth(joint as usize).flatten();
        let driven = held.and_then(|held| held.driven.get(row));
        driven.map_or(0.0, |impulse| impulse / self.settings.dt)
    }

    /// What the step did.
    fn report(&self, attempt: &Attempt<S>) -> StepReport {
        let output = &attempt.output;
        StepReport {
            step: self.step,
            parts: attempt.parts,
            contacts: output.contacts,
            solve: output.solve.clone(),
            certificate: attempt.certificate.clone(),
            rescue: output.rescue,
            resolution: output.resolution,
        }
    }

    /// Finds out what happened in the step.
    fn note_events(&mut self) {
        self.events.clear();
        if self.settings.events {
            let contacts = self.solved_contacts().into_owned();
            self.watch
                .contacts(&self.bodies, &contacts, &mut self.events);
            self.watch.sensors(&self.bodies, &mut self.events);
        }
        self.break_joints();
    }

    /// All that decides about pairs.
    fn pair_rules(&self) -> PairRules<'_, S> {
        PairRules {
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            apart: self.joints.apart(),
        }
    }

    /// Whether a step is judged, by its number.
    fn samples(&self, step: u64) -> bool {
        let every = u64::from(self.settings.certify_every);
        every > 0 && step.is_multiple_of(every)
    }

    /// Time after the coming step: steps of one length are counted, not summed, so that time has
    /// no round-off; where the length changed, the count begins anew.
    fn end_of_step(&mut self) -> f64 {
        let dt = self.settings.dt;
        if self.even_since.2 != dt {
            self.even_since = (self.step, self.time, dt);
        }
        let (step, time, _) = self.even_since;
        time + (self.step + 1 - step) as f64 * dt
    }

    /// Does [`World::refresh_contacts`].
    pub(super) fn look_for_contacts(&mut self) {
        self.joints.sort_pairs();
        let keeps_own = self.settings.strategy.keeps_contacts();
        if self.changes.is_none() && !keeps_own {
            return;
        }
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.find(&Surroundings {
            bodies: &self.bodies,
            deformables: &self.deformables,
            joints: &self.joints,
            rules: self.pair_rules(),
            ahead: self.settings.of_step().lookahead(),
            joints_are_contacts: self.settings.strategy.joints_are_contacts(),
        });
        self.contacts = contacts;
        if !keeps_own {
            self.changes = Changes::default();
        }
    }

    /// The contact problem that the next step will solve.
    #[must_use]
    pub fn problem(&mut self) -> ContactProblem<S> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        self.refresh_contacts();
        let end = self.end_of_step();
        velocity::problem(&StepInput {
            settings: self.settings.of_step(),
            bodies: &mut self.bodies,
            before: &self.before,
            deformables: &self.deformables,
            joints: &mut self.joints,
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            contacts: &mut self.contacts,
            changes: &mut self.changes,
            joints_are_contacts: self.settings.strategy.joints_are_contacts(),
            time: [self.time, end],
            is_judged: false,
            watch: &mut |_| {},
        })
    }
}
