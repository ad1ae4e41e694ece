//! The world: bodies, and the step that moves them.

mod snapshot;
mod soft;
mod ties;

pub use snapshot::SnapshotError;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::{Bodies, Body, BodyError, BodyId, BodyState, Groups, Motion};
use crate::certify::law::Answered;
use crate::certify::{Certificate, Solved, certify};
use crate::deform::coupling::Elastic;
use crate::deform::rescue::{Rescue, rescue};
use crate::deform::{Deformables, Soft, proximity};
use crate::detect::continuous::{Nearness, hold_back};
use crate::detect::rules::{Hooks, PairRules};
use crate::detect::{Contact, detect};
use crate::events::{Event, Watch};
use crate::integrate;
use crate::joint::Joints;
use crate::material::Materials;
use crate::problem::assemble::{Assembled, assemble, warm_start};
use crate::problem::{ContactProblem, Impulses};
use crate::repair::repair;
use crate::settings::{Settings, SettingsError, Strategy};
use crate::shape::{Geometry, Pose, Separation};
use crate::solve::SolveReport;
use crate::space::{Components, D2, D3, Linear, Space};
use crate::substep::{Changes, Circumstances, RealTime, Substep};
use drystone_frame::{Frame, FrameContact, Object, Stage, StateHash};
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
    #[error("joints need the strategy `substep`; this world has the strategy `velocity`")]
    JointsNeedSubstep,
    /// Deformables in a world whose strategy does not know them.
    #[error("deformables need the strategy `velocity`; this world has the strategy `substep`")]
    DeformablesNeedVelocity,
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
        self.settings.check()?;
        self.joints.sort_pairs();
        let report = match self.settings.strategy {
            Strategy::Velocity if !self.joints.is_empty() => {
                return Err(StepError::JointsNeedSubstep);
            }
            Strategy::Substep(_) if !self.deformables.is_empty() => {
                return Err(StepError::DeformablesNeedVelocity);
            }
            Strategy::Velocity => self.step_velocity(),
            Strategy::Substep(options) => self.step_substep(&options),
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
        let good = self.bodies.state();
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
        self.accept(good)?;
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

    fn step_velocity(&mut self) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        self.refresh_contacts();

        let (mut free, mut ledger) =
            integrate::apply_forces(&self.bodies, self.settings.gravity, self.time, dt);
        let mut elastic = Elastic::new(
            &mut self.deformables,
            &self.bodies,
            &mut free,
            dt,
            self.settings.integrator,
        )
        .map_err(StepError::Elastic)?;
        let rules = self.settings.contact;
        let mut assembled = assemble(&self.bodies, &self.contacts, free, dt, &rules);
        let mut impulses = warm_start(&assembled, &self.contacts);
        let solver = &mut self.settings.solver;
        let solve = elastic.settle(&self.bodies, solver, &mut assembled, &mut impulses);
        let mut velocities = assembled.problem.velocities(&impulses).motion;
        elastic.enter(&mut ledger, &velocities);
        let mut nudges = repair(&assembled, &self.contacts, &velocities, &rules);
        let nudged = nudges.as_deref_mut();
        let rescue = rescue(&self.deformables, &self.bodies, &mut velocities, nudged, dt);
        self.advance(&velocities, nudges.as_deref())?;

        self.keep_impulses(&assembled, &impulses);
        self.find_contacts();
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
        })
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
        self.accept(good)
    }

    /// Moves the clock, or takes everything back if a body's state is no number.
    fn accept(&mut self, good: BodyState<S>) -> Result<(), StepError> {
        if let Some(k) = integrate::first_not_finite(&self.bodies) {
            self.bodies.restore(good);
            // What the failed step left there may be no numbers either.
            *self.real_time = RealTime::default();
            self.changes.all = true;
            return Err(StepError::NotFinite {
                body: self.bodies.name(k).to_owned(),
                step: self.step + 1,
                time: self.time,
            });
        }
        self.hold_back(&good);
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
        };
        let joints = &self.joints;
        let is_tied = |k: usize| joints.iter().any(|(_, j)| [j.a, j.b].contains(&(k as u32)));
        hold_back(&mut self.bodies, start, &rules, near, is_tied);
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
            &self.materials,
            &ahead,
            soft,
        ));
        self.contacts = contacts;
        self.changes = Changes::default();
    }

    fn is_sampled(&self) -> bool {
        let every = u64::from(self.settings.certify_every);
        every > 0 && self.step.is_multiple_of(every)
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
        let _ = Elastic::new(
            &mut self.deformables,
            &self.bodies,
            &mut free,
            dt,
            self.settings.integrator,
        );
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

/// Bodies: adding, reading, moving.
impl<S: Space> World<S> {
    /// Adds a body.
    pub fn add(&mut self, body: Body<S>) -> Result<BodyId, BodyError> {
        let name = match &body.name {
            Some(name) => name.clone(),
            None => format!("body {}", self.bodies.next_place()),
        };
        if self.names.contains_key(&name) {
            return Err(BodyError::Name(name));
        }
        let density = self.materials.get(body.material).density;
        let id = self.bodies.push(body, density)?;
        let k = id.index();
        let (print, shape) = (self.bodies.print[k], &self.bodies.shape[k]);
        self.shapes.entry(print).or_insert_with(|| shape.clone());
        self.names.insert(name, id);
        self.changes.places.push(id.place);
        Ok(id)
    }

    /// Removes a body and its joints. What rested on it wakes and falls.
    pub fn remove(&mut self, id: BodyId) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if self.bodies.node_of[k] != 0 {
            return Err(AccessError::Node);
        }
        self.names.remove(self.bodies.name(k));
        for other in self.joints.remove_of(id.place) {
            self.changes.bodies.push(other);
        }
        self.bodies.remove(k);
        self.contacts.retain(|c| c.bodies().all(|k| k != id.place));
        self.changes.places.push(id.place);
        Ok(())
    }

    /// Changes which bodies a body meets.
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), AccessError> {
        let k = self.index(id)?;
        self.bodies.groups[k] = groups;
        self.changes.ties.push(id.place);
        Ok(())
    }

    /// Lets a program decide about contacts itself.
    pub fn set_hooks(&mut self, hooks: Option<Arc<dyn Hooks<S>>>) {
        self.hooks = HookSlot(hooks);
        self.changes.all = true;
    }

    /// Whether a body sleeps (strategy `substep` only).
    #[must_use]
    pub fn is_asleep(&self, id: BodyId) -> bool {
        let place = self.bodies.place(id);
        place.is_some_and(|k| self.real_time.is_asleep(k))
    }

    /// Wakes a body and what it touches.
    pub fn wake(&mut self, id: BodyId) -> Result<(), AccessError> {
        self.index(id)?;
        self.changes.bodies.push(id.place);
        Ok(())
    }

    /// The bodies' state.
    #[must_use]
    pub fn bodies(&self) -> &Bodies<S> {
        &self.bodies
    }

    /// The body of a name.
    #[must_use]
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.names.get(name).copied()
    }

    /// Where a body's shape is.
    #[must_use]
    pub fn pose(&self, id: BodyId) -> Option<Pose<S>> {
        self.bodies.place(id).map(|k| self.bodies.origin(k))
    }

    /// How a body moves.
    #[must_use]
    pub fn motion(&self, id: BodyId) -> Option<Motion<S>> {
        self.bodies.place(id).map(|k| self.bodies.motion[k])
    }

    /// Puts a body somewhere else at once.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose<S>) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if !pose.position.is_finite() {
            return Err(AccessError::NotFinite("position"));
        }
        if !S::is_near_unit(pose.rotation) {
            return Err(AccessError::Rotation);
        }
        let pose = Pose {
            rotation: S::normalize(pose.rotation),
            ..pose
        };
        self.bodies.position[k] = pose.point(self.bodies.center[k]);
        self.bodies.rotation[k] = pose.rotation;
        self.changes.bodies.push(id.place);
        Ok(())
    }

    /// Changes how a body moves. No effect on fixed and scripted bodies.
    pub fn set_motion(&mut self, id: BodyId, motion: Motion<S>) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if !(motion.linear.is_finite() && motion.spin.is_finite()) {
            return Err(AccessError::NotFinite("velocity"));
        }
        if self.bodies.is_dynamic(k) {
            self.bodies.motion[k] = motion;
            self.changes.bodies.push(id.place);
        }
        Ok(())
    }

    /// Adds a force in N at a world point, for the next step only.
    pub fn add_force(
        &mut self,
        id: BodyId,
        force: S::Vector,
        point: S::Vector,
    ) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if !(force.is_finite() && point.is_finite()) {
            return Err(AccessError::NotFinite("force"));
        }
        let arm = point - self.bodies.position[k];
        self.bodies.load[k].0 += force;
        self.bodies.load[k].1 += S::cross(arm, force);
        Ok(())
    }

    /// Adds a torque in N·m, for the next step only.
    pub fn add_torque(&mut self, id: BodyId, torque: S::Spin) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if !torque.is_finite() {
            return Err(AccessError::NotFinite("torque"));
        }
        self.bodies.load[k].1 += torque;
        Ok(())
    }

    fn index(&self, id: BodyId) -> Result<usize, AccessError> {
        self.bodies.place(id).ok_or(AccessError::NoBody(id.place))
    }
}

/// Settings, time and what can be read after a step.
impl<S: Space> World<S> {
    /// How the world is stepped.
    #[must_use]
    pub fn settings(&self) -> &Settings<S> {
        &self.settings
    }

    /// Changes how the world is stepped; checked at the next step.
    pub fn settings_mut(&mut self) -> &mut Settings<S> {
        self.changes.all = true;
        &mut self.settings
    }

    /// What happened in the last step, if [`Settings::events`] asks for it; that joints broke is
    /// always told.
    #[must_use]
    pub fn events(&self) -> &[Event<S>] {
        &self.events
    }

    /// Simulated time in s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Contacts at the present poses.
    #[must_use]
    pub fn contacts(&mut self) -> &[Contact<S>] {
        self.refresh_contacts();
        &self.contacts
    }

    /// Contacts that the last step solved, with their impulses.
    #[must_use]
    pub fn solved_contacts(&self) -> Cow<'_, [Contact<S>]> {
        match &self.settings.strategy {
            Strategy::Velocity => Cow::Borrowed(&self.solved),
            Strategy::Substep(_) => {
                Cow::Owned(self.real_time.contacts(&self.bodies, self.settings.dt))
            }
        }
    }

    /// The problem that the last step made of its contacts, and its answer; a row's contact is
    /// that of [`World::solved_contacts`]. `None` before the first step, and with the strategy
    /// `substep` after steps that are not sampled.
    #[must_use]
    pub fn last_problem(&self) -> Option<&Answered<S>> {
        self.last.as_ref()
    }

    /// Energy of all bodies that move.
    #[must_use]
    pub fn energy(&self) -> Energy {
        let mut energy = Energy {
            elastic: self.deformables.energy(&self.bodies),
            ..Energy::default()
        };
        for k in (0..self.bodies.len()).filter(|&k| self.bodies.is_dynamic(k)) {
            energy.kinetic += self.bodies.kinetic_energy(k);
            let height = self.settings.gravity.dot(self.bodies.position[k]);
            energy.potential -= self.bodies.mass(k) * height;
        }
        energy
    }

    /// The nearest body to a point and its signed distance in m (negative inside).
    #[must_use]
    pub fn signed_distance(&self, point: S::Vector) -> Option<(BodyId, f64)> {
        let mut nearest: Option<(BodyId, f64)> = None;
        for k in (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k)) {
            let distance = self.bodies.shape[k].signed_distance(&self.bodies.origin(k), point);
            if nearest.is_none_or(|(_, least)| distance < least) {
                nearest = Some((self.bodies.id(k), distance));
            }
        }
        nearest
    }

    /// The closest points of two bodies, or the deepest where they overlap.
    #[must_use]
    pub fn separation(&self, a: BodyId, b: BodyId) -> Option<Separation<S>> {
        let (pose_a, pose_b) = (self.pose(a)?, self.pose(b)?);
        let shape = |id: BodyId| &self.bodies.shape[id.index()];
        S::Shape::separation((shape(a), &pose_a), (shape(b), &pose_b))
    }

    /// A hash of poses and velocities, the same for the same state on every machine.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::new();
        hash.word(self.step);
        for k in 0..self.bodies.len() {
            hash.numbers(&self.bodies.position[k].to_array3());
            hash.numbers(&S::quaternion(self.bodies.rotation[k]));
            hash.numbers(&self.bodies.motion[k].linear.to_array3());
            hash.numbers(&self.bodies.motion[k].spin.to_array3());
        }
        hash.finish()
    }

    /// What the objects look like, to be drawn.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let object = |k: usize| Object {
            name: self.bodies.name(k).to_owned(),
            fixed: !self.bodies.is_dynamic(k),
            parts: if self.bodies.is_present(k) {
                self.bodies.shape[k].parts()
            } else {
                Vec::new()
            },
        };
        Stage {
            dimension: S::DIM as u8,
            objects: (0..self.bodies.len()).map(object).collect(),
            skins: self.deformables.iter().map(Soft::skin).collect(),
        }
    }

    /// Where everything is now, to be drawn or written.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let bodies = &self.bodies;
        let all = 0..bodies.len();
        let contact = |c: &Contact<S>| FrameContact {
            object_a: c.a,
            object_b: c.b,
            position: c.point.position.to_array3(),
            normal: c.point.normal.to_array3(),
            impulse: c.impulse.to_array3(),
            separation: c.point.separation,
        };
        Frame {
            time: self.time,
            step: self.step,
            positions: all
                .clone()
                .map(|k| bodies.origin(k).position.to_array3())
                .collect(),
            rotations: all.map(|k| S::quaternion(bodies.rotation[k])).collect(),
            velocities: bodies.motion.iter().map(|m| m.linear.to_array3()).collect(),
            spins: bodies.motion.iter().map(|m| m.spin.to_array3()).collect(),
            contacts: self.solved_contacts().iter().map(contact).collect(),
        }
    }
}
