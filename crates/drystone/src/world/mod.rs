//! The world: bodies, and the step that moves them.

mod bodies;
mod drawing;
mod readings;
mod snapshot;
mod soft;
mod strategies;
mod ties;

pub use snapshot::SnapshotError;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::{Bodies, BodyId, BodyState, Motion};
use crate::ccd::broad::BroadPhase;
use crate::certify::law::Answered;
use crate::certify::{Certificate, Solved, certify};
use crate::deform::coupling::{Elastic, Rule, touched};
use crate::deform::gradients::Effort;
use crate::deform::rescue::{Infeasible, Rescue, hold_deformables, rescue};
use crate::deform::{Deformables, attachment, proximity};
use crate::detect::continuous::{Nearness, hold_back};
use crate::detect::rules::{Hooks, PairRules};
use crate::detect::{Contact, detect};
use crate::events::{Event, Watch};
use crate::impacts::Resolution;
use crate::integrate;
use crate::joint::Joints;
use crate::material::Materials;
use crate::problem::assemble::{Assembled, assemble, warm_start};
use crate::problem::{ContactProblem, Impulses};
use crate::repair::repair;
use crate::settings::{Feature, Settings, SettingsError, Strategy};
use crate::solve::SolveReport;
use crate::space::{D2, D3, Space};
use crate::substep::{Changes, Circumstances, RealTime, Substep};
use thiserror::Error;

/// A world in the plane.
pub type World2 = World<D2>;
/// A world in space.
pub type World3 = World<D3>;

/// Why a step could not be made. The world is as it was before the step.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// A body's state stopped being a number.
    #[error(
        "the state of `{body}` is no longer finite after step {step} (t = {time} s); \
         the world stays at the last good step. A smaller dt or smaller forces may help"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// Joints in a world whose strategy does not know them.
    #[error("joints need the strategy `substep`")]
    JointsNeedSubstep,
    /// Something in a world that its strategy does not serve.
    #[error(
        "the strategy `{strategy}` does not serve {}{of}; docs/strategies.md says which does",
        feature.name()
    )]
    Unserved {
        /// Its name.
        strategy: &'static str,
        /// What it does not serve.
        feature: Feature,
        /// Which body or materials have it, in words.
        of: String,
    },
    /// Bodies that touch or overlap where a strategy must start from a state without.
    #[error(
        "`{a}` and `{b}` overlap by {depth} m at t = {time} s; the strategy `{strategy}` needs them \
         apart: move them until there is a gap"
    )]
    Overlap {
        /// Body A.
        a: String,
        /// Body B.
        b: String,
        /// How deep, m; 0 if they touch.
        depth: f64,
        /// Time, s.
        time: f64,
        /// The strategy's name.
        strategy: &'static str,
    },
    /// Scripted motion that leaves no room.
    #[error(
        "infeasible: the scripted motion leaves no room between `{a}` and `{b}` near \
         ({:.4}, {:.4}, {:.4}) m in step {step} (t = {time} s); the world stays at the last good step. \
         Leave more room or stop the scripts earlier",
        place[0], place[1], place[2]
    )]
    Infeasible {
        /// Body A.
        a: String,
        /// Body B.
        b: String,
        /// Where, m.
        place: [f64; 3],
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// Elastic forces that are no numbers.
    #[error("the elastic forces of `{0}` are not finite; its nodes may be too far from its shape")]
    Elastic(String),
    /// A setting that can't be used.
    #[error("settings: {0}")]
    Settings(#[from] SettingsError),
}

/// A call that names a body that is not there, or gives numbers that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The id is not of this world, or its body was removed.
    #[error("there is no such body in this world (number {0}); it may have been removed")]
    NoBody(u32),
    /// A number that is not finite.
    #[error("{0} must be made of finite numbers")]
    NotFinite(&'static str),
    /// A rotation that is not one.
    #[error("rotation must be within 1e-3 of unit length")]
    Rotation,
    /// The joint is not of this world, or no more.
    #[error("there is no such joint in this world")]
    NoJoint,
    /// A node of a deformable can't be taken out of it.
    #[error("this body is a node of a deformable; remove the deformable")]
    Node,
    /// The deformable is not of this world, or no more.
    #[error("there is no such deformable in this world")]
    NoDeformable,
}

/// A part of a step of the strategy `velocity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// Contact points in the problem.
    pub contacts: usize,
    /// What the solver did.
    pub solve: SolveReport,
    /// How well the laws held; `None` in steps that are not sampled.
    pub certificate: Option<Certificate>,
    /// What kept deformables from passing each other.
    pub rescue: Rescue,
    /// How impacts were resolved, by the strategies `parallel` and `sequential`.
    pub resolution: Resolution,
}

/// Energy of a world in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// In gravity, 0 at the origin.
    pub potential: f64,
    /// In deformables, 0 at rest.
    pub elastic: f64,
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

        let (mut free, mut ledger) =
            integrate::apply_forces(&self.bodies, self.settings.gravity, self.time, dt);
        let rule = self.rule(Effort::Full);
        let mut elastic = Elastic::new(
            &mut self.deformables,
            &self.bodies,
            &mut free,
            rule,
            &touched(&self.bodies, &self.contacts),
        )
        .map_err(StepError::Elastic)?;
        watch(Phase::Elastic);
        let rules = self.settings.contact;
        let mut assembled = assemble(&self.bodies, &self.contacts, free, dt, &rules);
        let mut impulses = warm_start(&assembled, &self.contacts);
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
        watch(Phase::Motion);
        self.find_contacts();
        watch(Phase::Detection);
        let certificate = self.is_sampled().then(|| Certificate {
            step: self.step,
            ..certify(
                &self.bodies,
                &self.contacts,
                &Solved {
                    contacts: &self.solved,
                    assembled: &assembled,
                    impulses: &impulses,
                    nudges: nudges.as_deref(),
                    reached: None,
                },
                &ledger,
            )
        });
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

    /// Moves the bodies and the clock, or nothing at all.
    fn advance(
        &mut self,
        velocities: &[Motion<S>],
        nudges: Option<&[Motion<S>]>,
    ) -> Result<(), StepError> {
        let good = self.bodies.state();
        let end = self.end_of_step();
        integrate::advance(&mut self.bodies, velocities, end, self.settings.dt);
        if let Some(nudges) = nudges {
            integrate::displace(&mut self.bodies, nudges, self.settings.dt);
        }
        self.accept(&good)
    }

    /// Moves the clock, or takes everything back if a body's state is no number.
    fn accept(&mut self, good: &BodyState<S>) -> Result<(), StepError> {
        self.accept_unheld(good)?;
        self.hold_back(good);
        Ok(())
    }

    /// The same for strategies in which nothing passes anything.
    fn accept_unheld(&mut self, good: &BodyState<S>) -> Result<(), StepError> {
        let threads = self.settings.threads;
        if let Some(k) = integrate::first_not_finite_by(&self.bodies, threads) {
            self.bodies.restore(good.clone());
            // What the failed step left there may be no numbers either.
            *self.real_time = RealTime::default();
            self.changes.all = true;
            return Err(StepError::NotFinite {
                body: self.bodies.name(k).to_owned(),
                step: self.step + 1,
                time: self.time,
            });
        }
        self.time = self.end_of_step();
        self.step += 1;
        self.bodies.load.fill(Default::default());
        Ok(())
    }

    /// Puts what passed through something back to where it touched it.
    fn hold_back(&mut self, start: &BodyState<S>) {
        let rules = PairRules {
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            apart: self.joints.apart(),
        };
        let near = Nearness {
            dt: self.settings.dt,
            margin: self.settings.margin,
            slop: self.settings.contact.slop,
            threads: self.settings.threads,
        };
        let joints = &self.joints;
        let is_tied = |k: usize| joints.ties(k as u32);
        let held = hold_back(&mut self.bodies, start, &rules, near, is_tied);
        if held.iter().any(|&k| self.bodies.node_of[k as usize] == 0) {
            hold_deformables(&self.deformables, &mut self.bodies, start, near.dt);
        }
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

    /// Hands the impulses to the contacts they belong to, for the next step to start from.
    fn keep_impulses(&mut self, assembled: &Assembled<S>, impulses: &Impulses<S>) {
        for (row, &contact) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            self.contacts[contact as usize].impulse = S::to_world(basis, impulses.local[row]);
        }
        self.solved = std::mem::take(&mut self.contacts);
        self.contacts.clone_from(&self.solved);
    }

    /// Finds contacts again if something changed since they were found. The strategy `substep`
    /// keeps contacts of its own, so these are always old there.
    fn refresh_contacts(&mut self) {
        self.joints.sort_pairs();
        let is_substep = matches!(self.settings.strategy, Strategy::Substep(_));
        if is_substep {
            let changes = self.changes.clone();
            self.find_contacts();
            self.changes = changes;
        } else if !self.changes.is_none() {
            self.find_contacts();
        }
    }

    fn find_contacts(&mut self) {
        let ahead = self.settings.lookahead();
        // Contacts among deformables stand after all others.
        let count = self.contacts.partition_point(|c| !c.is_soft());
        let (others, soft) = self.contacts.split_at(count);
        let mut contacts = detect(&self.bodies, &self.pair_rules(), &ahead, others);
        contacts.extend(proximity::contacts(
            &self.deformables,
            &self.bodies,
            &self.pair_rules(),
            &ahead,
            soft,
        ));
        contacts.extend(attachment::contacts(&self.deformables, &self.bodies, soft));
        self.contacts = contacts;
        self.changes = Changes::default();
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
        let (mut free, _) =
            integrate::apply_forces(&self.bodies, self.settings.gravity, self.time, dt);
        // Where elastic forces are no numbers, the step says so; here they are left out.
        let rule = self.rule(Effort::Full);
        let _ = Elastic::new(&mut self.deformables, &self.bodies, &mut free, rule, &[]);
        assemble(
            &self.bodies,
            &self.contacts,
            free,
            dt,
            &self.settings.contact,
        )
        .problem
    }
}
