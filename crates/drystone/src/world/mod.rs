//! The world: bodies, and the step that moves them.

pub mod events;
pub mod query;

mod bodies;
mod contacts;
mod deformables;
mod drawing;
mod end_of_step;
mod errors;
mod joints;
mod readings;
mod report;
mod snapshot;
mod strategies;

pub use errors::{AccessError, StepError};
pub use report::{Energy, Phase, StepReport};
pub use snapshot::SnapshotError;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::contact::detection::Contact;
use crate::contact::problem::ContactProblem;
use crate::contact::problem::assemble::{assemble, warm_start};
use crate::contact::rules::{Hooks, PairRules};
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::{Elastic, Rule, touched};
use crate::dynamics::failsafe::{Infeasible, rescue};
use crate::dynamics::integrate;
use crate::dynamics::joint_drives;
use crate::dynamics::overlap_repair::repair;
use crate::geometry::ccd::broad_phase::BroadPhase;
use crate::geometry::space::Space;
use crate::judge::law::Answered;
use crate::judge::{Certificate, Ledger, Solved, certify};
use crate::math::algebra::{D2, D3};
use crate::model::body::{Bodies, BodyId, BodyState};
use crate::model::deformable::Deformables;
use crate::model::joint::Joints;
use crate::model::material::Materials;
use crate::strategy::ccd::{Memory, Resolution};
use crate::strategy::realtime::{Changes, Circumstances, RealTime, Substep};
use crate::strategy::settings::{Settings, SettingsError, Strategy};
use crate::world::events::{Event, Watch};

/// A world in the plane.
pub type World2 = World<D2>;
/// A world in space.
pub type World3 = World<D3>;

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
    /// Contacts at the present poses, with the last step's impulses where they continue.
    contacts: Vec<Contact<S>>,
    /// Contacts that the last step solved, with their impulses.
    solved: Vec<Contact<S>>,
    /// The problem that the last step made of them, and its answer.
    last: Option<Answered<S>>,
    /// What was changed from outside since `contacts` were found.
    changes: Changes,
    joints: Joints<S>,
    deformables: Deformables,
    hooks: HookSlot<S>,
    /// What touched at the end of the last step, and what happened in it.
    watch: Watch,
    events: Vec<Event<S>>,
    /// Every shape that a body of this world ever had, by its print.
    shapes: BTreeMap<u64, S::Shape>,
    /// What the strategy `substep` keeps.
    real_time: Box<RealTime<S>>,
    /// Trees of strategies that watch motion: no answer depends on how they are sorted.
    trees: Box<BroadPhase<S>>,
    /// Lists of those strategies, kept for their memory.
    memory: Box<Memory<S>>,
    /// Poses and motion before the last step of that strategy, kept for its memory.
    good: BodyState<S>,
    step: u64,
    time: f64,
    /// Step, time (s) and length of a step (s) since which steps had one length.
    even_since: (u64, f64, f64),
}

impl<S: Space> Default for World<S> {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            materials: Materials::default(),
            bodies: Bodies::default(),
            names: BTreeMap::new(),
            contacts: Vec::new(),
            solved: Vec::new(),
            last: None,
            changes: Changes {
                all: true,
                ..Changes::default()
            },
            joints: Joints::default(),
            deformables: Deformables::default(),
            hooks: HookSlot(None),
            watch: Watch::default(),
            events: Vec::new(),
            shapes: BTreeMap::new(),
            real_time: Box::default(),
            trees: Box::default(),
            memory: Box::default(),
            good: BodyState::default(),
            step: 0,
            time: 0.0,
            even_since: (0, 0.0, 0.0),
        }
    }
}

impl<S: Space> World<S> {
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

    /// Makes one step and calls `watch` at the end of each part of it, with its name: for
    /// profiles. In the strategy `substep` it is not called.
    pub fn step_watched(&mut self, watch: &mut dyn FnMut(Phase)) -> Result<StepReport, StepError> {
        self.settings.check()?;
        self.joints.sort_pairs();
        self.check_strategy()?;
        let report = match self.settings.strategy {
            Strategy::Velocity => self.step_velocity(watch),
            Strategy::Substep(options) => self.step_substep(&options),
            Strategy::Barrier(options) => self.step_barrier(&options),
            Strategy::Parallel(options) | Strategy::Sequential(options) => {
                self.step_impacts(&options, watch)
            }
            Strategy::Penalty(options) => self.step_penalty(&options),
        }?;
        self.note_events();
        Ok(report)
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

    /// How elastic forces are worked out.
    fn rule(&self, effort: Effort) -> Rule {
        Rule {
            dt: self.settings.dt,
            integrator: self.settings.integrator,
            threads: self.settings.threads,
            effort,
        }
    }

    /// All that decides about pairs.
    fn pair_rules(&self) -> PairRules<'_, S> {
        PairRules {
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            apart: self.joints.apart(),
        }
    }

    fn step_substep(&mut self, options: &Substep) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        let mut good = std::mem::take(&mut self.good);
        let threads = self.settings.threads;
        self.bodies.copy_state(&mut good, threads);
        integrate::steer(&mut self.bodies, self.time, dt);
        for k in 0..self.bodies.len() {
            if self.bodies.load[k] != Default::default() {
                self.changes.bodies.push(k as u32);
            }
        }
        let around = Circumstances {
            settings: &self.settings,
            // Not `pair_rules`: the bodies change meanwhile.
            rules: PairRules {
                materials: &self.materials,
                hooks: self.hooks.0.as_deref(),
                apart: self.joints.apart(),
            },
            joints: &self.joints,
            time: self.time,
        };
        let changes = std::mem::take(&mut self.changes);
        self.real_time
            .step(&mut self.bodies, options, &around, &changes);
        self.accept(&good)?;
        self.good = good;
        let evidence = self.is_sampled().then(|| {
            self.real_time
                .evidence(&self.bodies, &self.settings, options)
        });
        let certificate = evidence.as_ref().map(|evidence| Certificate {
            step: self.step,
            ..evidence.certify(&self.bodies)
        });
        self.last = evidence.map(|evidence| evidence.into_answered());
        Ok(StepReport {
            step: self.step,
            contacts: self.real_time.contact_count(),
            certificate,
            ..StepReport::default()
        })
    }

    fn step_velocity(&mut self, watch: &mut dyn FnMut(Phase)) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        self.refresh_contacts();
        watch(Phase::Detection);

        let (mut free, mut ledger) = self.apply_forces();
        let rule = self.rule(Effort::Full);
        let touched = touched(&self.bodies, &self.contacts);
        let deformables = &mut self.deformables;
        let mut elastic = Elastic::new(deformables, &self.bodies, &mut free, rule, &touched)
            .map_err(StepError::Elastic)?;
        watch(Phase::Elastic);
        let rules = self.settings.contact;
        let mut assembled = assemble(&self.bodies, &self.contacts, free, dt, &rules);
        let mut impulses = warm_start(&assembled, &self.contacts);
        let driven = joint_drives::act(&self.joints, &self.bodies, &mut assembled, &mut impulses);
        joint_drives::enter(&driven, &self.bodies, &mut ledger);
        let solver = &mut self.settings.solver;
        let solve = elastic.settle(&self.bodies, solver, &mut assembled, &mut impulses);
        let mut velocities = assembled.problem.velocities(&impulses).motion;
        elastic.enter(&mut ledger, &self.bodies, &velocities, None);
        let mut nudges = repair(&assembled, &self.contacts, &velocities, &rules);
        watch(Phase::Contact);
        let rescue = rescue(
            &self.deformables,
            &self.bodies,
            &mut velocities,
            &mut nudges,
            dt,
        )
        .map_err(|found| self.infeasible(&found))?;
        watch(Phase::Rescue);
        self.advance(&velocities, nudges.as_deref())?;

        self.keep_impulses(&assembled, &impulses);
        joint_drives::keep(&driven, &mut self.joints);
        watch(Phase::Motion);
        self.find_contacts();
        watch(Phase::Detection);
        let solved = Solved {
            contacts: &self.solved,
            assembled: &assembled,
            impulses: &impulses,
            nudges: nudges.as_deref(),
            reached: None,
        };
        let certificate = self.certificate(&solved, &ledger);
        watch(Phase::Certificate);
        let contacts = impulses.local.len();
        self.last = Some(Answered {
            assembled,
            impulses,
            reached: None,
        });
        Ok(StepReport {
            step: self.step,
            contacts,
            solve,
            certificate,
            rescue,
            resolution: Resolution::default(),
        })
    }

    /// What the judge says of the step that was just made, if it is sampled.
    fn certificate(&self, solved: &Solved<'_, S>, ledger: &Ledger<S>) -> Option<Certificate> {
        self.is_sampled().then(|| Certificate {
            step: self.step,
            ..certify(&self.bodies, &self.contacts, solved, ledger)
        })
    }

    fn infeasible(&self, found: &Infeasible) -> StepError {
        let [a, b] = found
            .bodies
            .map(|k| self.bodies.name(k as usize).to_owned());
        StepError::Infeasible {
            a,
            b,
            place: found.place,
            step: self.step + 1,
            time: self.time,
        }
    }

    /// Whether the step that was just made is judged.
    fn is_sampled(&self) -> bool {
        self.samples(self.step)
    }

    /// Whether a step is judged, by its number.
    fn samples(&self, step: u64) -> bool {
        let every = u64::from(self.settings.certify_every);
        every > 0 && step.is_multiple_of(every)
    }

    /// The contact problem that the next step will solve.
    #[must_use]
    pub fn problem(&mut self) -> ContactProblem<S> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        self.refresh_contacts();
        let (mut free, _) = self.apply_forces();
        // Where elastic forces are no numbers, the step says so; here they are left out.
        let rule = self.rule(Effort::Full);
        let _ = Elastic::new(&mut self.deformables, &self.bodies, &mut free, rule, &[]);
        let rules = &self.settings.contact;
        let mut assembled = assemble(&self.bodies, &self.contacts, free, dt, rules);
        if let Strategy::Velocity = self.settings.strategy {
            let mut impulses = warm_start(&assembled, &self.contacts);
            joint_drives::act(&self.joints, &self.bodies, &mut assembled, &mut impulses);
        }
        assembled.problem
    }
}
