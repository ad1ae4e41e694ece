//! Bodies: how to describe one, and the flat arrays they live in.
//!
//! [`Body`] is the description a user writes; [`Bodies`] is what the engine steps. A body's state
//! is the position of its centre of mass, its rotation, and the velocities of both; the
//! shape's own origin lies elsewhere if the centre of mass does
//! ([`Bodies::origin`]).

use crate::material::MaterialId;
use crate::script::Script;
use crate::shape::{Geometry, MassProperties, Pose, ShapeError};
use crate::space::{Components, Linear, Space};
use drystone_frame::StateHash;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Names a body of a world. A body that is added where another was removed has another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId {
    pub(crate) place: u32,
    /// How many bodies had this place before.
    pub(crate) generation: u32,
}

impl BodyId {
    /// Its place in the world's arrays and in every frame.
    #[must_use]
    pub fn index(self) -> usize {
        self.place as usize
    }
}

/// Which bodies meet which: two meet if each is in a group that the other meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// One bit for each group the body is in.
    pub member: u32,
    /// One bit for each group it meets.
    pub meets: u32,
}

impl Default for Groups {
    /// In all groups, meeting all.
    fn default() -> Self {
        Self {
            member: u32::MAX,
            meets: u32::MAX,
        }
    }
}

impl Groups {
    /// Whether two bodies meet.
    #[must_use]
    pub fn allow(self, other: Self) -> bool {
        self.member & other.meets != 0 && other.member & self.meets != 0
    }
}

/// What moves a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Kind<S: Space> {
    /// Forces and contacts, without rotation: a ball that cannot turn.
    Particle,
    /// Forces and contacts.
    Rigid,
    /// Nothing.
    Fixed,
    /// A script; contacts do not push it, it pushes.
    Kinematic(Script<S>),
}

/// Where a body's mass comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mass<S: Space> {
    /// The shape and the material's density.
    OfMaterial,
    /// The shape and this density in kg/m³ (2D: kg/m²).
    Density(f64),
    /// This mass in kg; centre and inertia as if spread evenly over the shape.
    Total(f64),
    /// All given, in the shape's axes.
    Given(MassProperties<S>),
}

/// A standing force on a body: `force + rate · t` in N, at a point of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Push<S: Space> {
    /// Force at time 0 in N, world axes.
    pub force: S::Vector,
    /// Growth in N/s, world axes.
    pub rate: S::Vector,
    /// Where it acts, in the shape's axes, m.
    pub point: S::Vector,
}

/// The description of a body. Make one with [`Body::rigid`], [`Body::particle`],
/// [`Body::fixed`] or [`Body::kinematic`], then change the fields that matter.
#[derive(Clone, Debug)]
pub struct Body<S: Space> {
    /// Unique in its world; `None` becomes "body N".
    pub name: Option<String>,
    /// What moves it.
    pub kind: Kind<S>,
    /// Its shape.
    pub shape: S::Shape,
    /// Where the shape's origin is.
    pub pose: Pose<S>,
    /// Velocity of the centre of mass in m/s.
    pub velocity: S::Vector,
    /// Angular velocity in rad/s, world axes.
    pub spin: S::Spin,
    /// Where its mass comes from.
    pub mass: Mass<S>,
    /// What its surface is made of.
    pub material: MaterialId,
    /// Rate at which velocity decays, 1/s.
    pub linear_damping: f64,
    /// Rate at which spin decays, 1/s.
    pub angular_damping: f64,
    /// World axes along which it can't move.
    pub locked_axes: [bool; 3],
    /// World axes about which it can't turn (2D: only the first counts).
    pub locked_spins: [bool; 3],
    /// Standing forces.
    pub pushes: Vec<Push<S>>,
    /// Which bodies it meets.
    pub groups: Groups,
    /// Whether it only notices what overlaps it: nothing touches a sensor.
    pub is_sensor: bool,
    /// Velocity of its surface relative to itself in its own axes, m/s: a conveyor belt. Only for
    /// bodies that are fixed or follow a script; the part along a contact's normal does not count.
    pub surface_velocity: S::Vector,
    /// A one-way platform: only contacts that push others about along this direction (its own
    /// axes) are kept, and none that overlap deeply, so that others pass from behind.
    pub one_way: Option<S::Vector>,
}

impl<S: Space> Body<S> {
    fn new(kind: Kind<S>, shape: S::Shape) -> Self {
        Self {
            name: None,
            kind,
            shape,
            pose: Pose::default(),
            velocity: S::Vector::default(),
            spin: S::Spin::default(),
            mass: Mass::OfMaterial,
            material: MaterialId::default(),
            linear_damping: 0.0,
            angular_damping: 0.0,
            locked_axes: [false; 3],
            locked_spins: [false; 3],
            pushes: Vec::new(),
            groups: Groups::default(),
            is_sensor: false,
            surface_velocity: S::Vector::default(),
            one_way: None,
        }
    }

    /// A rigid body.
    #[must_use]
    pub fn rigid(shape: S::Shape) -> Self {
        Self::new(Kind::Rigid, shape)
    }

    /// A body that nothing moves.
    #[must_use]
    pub fn fixed(shape: S::Shape) -> Self {
        Self::new(Kind::Fixed, shape)
    }

    /// A body that a script moves.
    #[must_use]
    pub fn kinematic(shape: S::Shape, script: Script<S>) -> Self {
        Self::new(Kind::Kinematic(script), shape)
    }

    /// A particle: `shape` must be a ball.
    #[must_use]
    pub fn particle(shape: S::Shape) -> Self {
        Self::new(Kind::Particle, shape)
    }

    /// Named.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// At a position, unrotated.
    #[must_use]
    pub fn at(mut self, position: S::Vector) -> Self {
        self.pose.position = position;
        self
    }

    /// Turned.
    #[must_use]
    pub fn turned(mut self, rotation: S::Rotation) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Moving, m/s.
    #[must_use]
    pub fn moving(mut self, velocity: S::Vector) -> Self {
        self.velocity = velocity;
        self
    }

    /// Spinning, rad/s.
    #[must_use]
    pub fn spinning(mut self, spin: S::Spin) -> Self {
        self.spin = spin;
        self
    }

    /// With a mass in kg.
    #[must_use]
    pub fn with_mass(mut self, mass: f64) -> Self {
        self.mass = Mass::Total(mass);
        self
    }

    /// In these groups, meeting these.
    #[must_use]
    pub fn in_groups(mut self, member: u32, meets: u32) -> Self {
        self.groups = Groups { member, meets };
        self
    }

    /// As a sensor: it notices what overlaps it and touches nothing.
    #[must_use]
    pub fn as_sensor(mut self) -> Self {
        self.is_sensor = true;
        self
    }

    /// Of a material.
    #[must_use]
    pub fn of(mut self, material: MaterialId) -> Self {
        self.material = material;
        self
    }
}

/// Why a body can't be added. Each names the field and says what would be right.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A name that another body has.
    #[error("the name `{0}` is taken; names of bodies must differ")]
    Name(String),
    /// A number that is not finite.
    #[error("{0} must be made of finite numbers")]
    NotFinite(&'static str),
    /// A rotation that is not one.
    #[error("rotation must be a unit quaternion or angle (within 1e-3 of length 1)")]
    Rotation,
    /// A mass or density that is not positive.
    #[error("{what} must be a finite number greater than 0 ({unit}), not {value}")]
    Mass {
        /// Mass, density or inertia.
        what: &'static str,
        /// Its unit.
        unit: &'static str,
        /// What was given.
        value: f64,
    },
    /// An inertia that no solid has.
    #[error("inertia must be symmetric and positive (kg·m²)")]
    Inertia,
    /// A shape without volume on a body that moves.
    #[error("a half-space, mesh or polyline has no mass: make the body fixed or kinematic")]
    NoVolume,
    /// A particle that is not a ball.
    #[error("a particle is a ball; give it a radius, or make it a rigid body")]
    NotABall,
    /// A damping that would drive.
    #[error("{what} must be a finite number, 0 or more (1/s), not {value}")]
    Damping {
        /// Which damping.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A belt on a body that contacts move.
    #[error("surface_velocity is for bodies that are fixed or follow a script")]
    Belt,
    /// A direction without length.
    #[error("one_way must be a direction of some length")]
    OneWay,
    /// A script that can't be followed.
    #[error("script: {0}")]
    Script(#[from] crate::script::ScriptError),
    /// A shape that can't be made.
    #[error("shape: {0}")]
    Shape(#[from] ShapeError),
    /// More bodies than an index can name.
    #[error("a world holds at most 4,294,967,295 bodies")]
    TooMany,
}

/// Velocity of a body: linear in m/s, spin in rad/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Motion<S: Space> {
    /// Velocity of the centre of mass in m/s.
    pub linear: S::Vector,
    /// Angular velocity in rad/s.
    pub spin: S::Spin,
}

/// How a body resists impulses, in body axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Inertial<S: Space> {
    /// Mass in kg; infinite for bodies that impulses do not move.
    pub(crate) mass: f64,
    /// 1/mass along each world axis, 0 where locked.
    pub(crate) inv_mass: S::Vector,
    /// Inertia about the centre of mass, kg·m².
    pub(crate) inertia: S::Inertia,
    /// Its inverse; zero where it does not turn.
    pub(crate) inv_inertia: S::Inertia,
    /// 1 for world axes it may turn about.
    pub(crate) free_spins: S::Spin,
    /// Whether free rotation changes its spin.
    pub(crate) gyroscopic: bool,
}

impl<S: Space> Inertial<S> {
    /// Of a body that impulses do not move.
    fn immovable() -> Self {
        Self {
            mass: f64::INFINITY,
            inv_mass: S::Vector::default(),
            inertia: S::NO_INERTIA,
            inv_inertia: S::NO_INERTIA,
            free_spins: S::Spin::default(),
            gyroscopic: false,
        }
    }
}

/// All bodies of a world, one array a property. A place that a body left is kept, as something
/// fixed that nothing meets, until another body takes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Bodies<S: Space> {
    /// Centre of mass, m.
    pub position: Vec<S::Vector>,
    /// Orientation.
    pub rotation: Vec<S::Rotation>,
    /// Velocity.
    pub motion: Vec<Motion<S>>,
    pub(crate) inertial: Vec<Inertial<S>>,
    /// Shapes are shared and never change: a snapshot names them by their prints.
    #[serde(skip)]
    pub(crate) shape: Vec<S::Shape>,
    pub(crate) print: Vec<u64>,
    /// Centre of mass in the shape's axes, m.
    pub(crate) center: Vec<S::Vector>,
    /// Largest distance of the shape from the centre of mass, m.
    pub(crate) radius: Vec<f64>,
    pub(crate) kind: Vec<Kind<S>>,
    pub(crate) material: Vec<MaterialId>,
    /// Linear and angular damping, 1/s.
    pub(crate) damping: Vec<(f64, f64)>,
    pub(crate) pushes: Vec<Vec<Push<S>>>,
    /// Pose at time 0, which scripts refer to.
    pub(crate) start: Vec<Pose<S>>,
    /// Force and torque of the user for the coming step, N and N·m.
    pub(crate) load: Vec<(S::Vector, S::Spin)>,
    pub(crate) name: Vec<String>,
    pub(crate) groups: Vec<Groups>,
    pub(crate) is_sensor: Vec<bool>,
    /// Velocity of the surface, in body axes, m/s.
    pub(crate) surface_velocity: Vec<S::Vector>,
    /// Unit vector in body axes.
    pub(crate) one_way: Vec<Option<S::Vector>>,
    /// Number from 1 of the deformable it is a node of, 0 if of none.
    pub(crate) node_of: Vec<u32>,
    generation: Vec<u32>,
    is_present: Vec<bool>,
    /// Places that bodies left, the one to be taken next last.
    vacant: Vec<u32>,
}

impl<S: Space> Default for Bodies<S> {
    fn default() -> Self {
        Self {
            position: Vec::new(),
            rotation: Vec::new(),
            motion: Vec::new(),
            inertial: Vec::new(),
            shape: Vec::new(),
            print: Vec::new(),
            center: Vec::new(),
            radius: Vec::new(),
            kind: Vec::new(),
            material: Vec::new(),
            damping: Vec::new(),
            pushes: Vec::new(),
            start: Vec::new(),
            load: Vec::new(),
            name: Vec::new(),
            groups: Vec::new(),
            is_sensor: Vec::new(),
            surface_velocity: Vec::new(),
            one_way: Vec::new(),
            node_of: Vec::new(),
            generation: Vec::new(),
            is_present: Vec::new(),
            vacant: Vec::new(),
        }
    }
}

/// Poses and motion of all bodies.
#[derive(Clone, Debug)]
pub(crate) struct BodyState<S: Space> {
    pub(crate) position: Vec<S::Vector>,
    pub(crate) rotation: Vec<S::Rotation>,
    motion: Vec<Motion<S>>,
}

impl<S: Space> Bodies<S> {
    /// A copy of poses and motion.
    pub(crate) fn state(&self) -> BodyState<S> {
        BodyState {
            position: self.position.clone(),
            rotation: self.rotation.clone(),
            motion: self.motion.clone(),
        }
    }

    /// Goes back to a copy of poses and motion.
    pub(crate) fn restore(&mut self, state: BodyState<S>) {
        self.position = state.position;
        self.rotation = state.rotation;
        self.motion = state.motion;
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Whether impulses move the body.
    #[must_use]
    #[inline]
    pub fn is_dynamic(&self, index: usize) -> bool {
        matches!(self.kind.get(index), Some(Kind::Particle | Kind::Rigid))
    }

    /// The pose of the shape's own axes.
    #[must_use]
    pub fn origin(&self, index: usize) -> Pose<S> {
        let rotation = self.rotation[index];
        Pose {
            position: self.position[index] - S::rotate(rotation, self.center[index]),
            rotation,
        }
    }

    /// The body's name.
    #[must_use]
    pub fn name(&self, index: usize) -> &str {
        &self.name[index]
    }

    /// The inverse inertia in world axes.
    #[must_use]
    pub(crate) fn world_inv_inertia(&self, index: usize) -> S::Inertia {
        self.world_inv_inertia_at(index, self.rotation[index])
    }

    /// The same at another rotation.
    pub(crate) fn world_inv_inertia_at(&self, index: usize, rotation: S::Rotation) -> S::Inertia {
        let inertial = &self.inertial[index];
        let world = S::world_inertia(rotation, &inertial.inv_inertia);
        S::mask_inertia(&world, inertial.free_spins)
    }

    /// The spin with which a body that turns from one rotation to another keeps its angular
    /// momentum.
    pub(crate) fn carried_spin(
        &self,
        index: usize,
        (before, after): (S::Rotation, S::Rotation),
        spin: S::Spin,
    ) -> S::Spin {
        let inertial = &self.inertial[index];
        let is_free = (0..S::SPIN_DIM).all(|axis| inertial.free_spins.component(axis) > 0.0);
        if !(inertial.gyroscopic && is_free) {
            return spin;
        }
        let momentum = S::apply_inertia(&S::world_inertia(before, &inertial.inertia), spin);
        S::apply_inertia(&S::world_inertia(after, &inertial.inv_inertia), momentum)
    }

    /// Kinetic energy of one body in J; 0 for bodies that impulses do not move.
    #[must_use]
    pub fn kinetic_energy(&self, index: usize) -> f64 {
        self.kinetic_energy_at(index, &self.motion[index])
    }

    /// Kinetic energy that a body would have with this motion, J.
    pub(crate) fn kinetic_energy_at(&self, index: usize, motion: &Motion<S>) -> f64 {
        if !self.is_dynamic(index) {
            return 0.0;
        }
        let Motion { linear, spin } = *motion;
        let inertia = S::world_inertia(self.rotation[index], &self.inertial[index].inertia);
        let angular = S::apply_inertia(&inertia, spin);
        0.5 * (self.inertial[index].mass * linear.dot(linear) + angular.dot(spin))
    }

    /// Angular momentum about the centre of mass in kg·m²/s, world axes.
    #[must_use]
    pub fn angular_momentum(&self, index: usize) -> S::Spin {
        let inertia = S::world_inertia(self.rotation[index], &self.inertial[index].inertia);
        S::apply_inertia(&inertia, self.motion[index].spin)
    }

    /// Mass in kg (infinite for bodies that impulses do not move).
    #[must_use]
    pub fn mass(&self, index: usize) -> f64 {
        self.inertial[index].mass
    }

    /// The name of the body at a place.
    #[must_use]
    pub fn id(&self, index: usize) -> BodyId {
        BodyId {
            place: index as u32,
            generation: self.generation[index],
        }
    }

    /// The place of a body that is there.
    pub(crate) fn place(&self, id: BodyId) -> Option<usize> {
        let k = id.index();
        let is_there = self.is_present(k) && self.generation[k] == id.generation;
        is_there.then_some(k)
    }

    /// Whether a body is at this place.
    #[must_use]
    pub fn is_present(&self, index: usize) -> bool {
        self.is_present.get(index).copied().unwrap_or(false)
    }

    /// Whether torques turn the body.
    pub(crate) fn turns(&self, index: usize) -> bool {
        self.inertial[index].inv_inertia != S::NO_INERTIA
    }

    /// Whether two bodies may touch, as far as they themselves say.
    #[must_use]
    pub(crate) fn may_meet(&self, a: usize, b: usize) -> bool {
        (self.is_dynamic(a) || self.is_dynamic(b))
            && self.groups[a].allow(self.groups[b])
            && (self.node_of[a] == 0 || self.node_of[b] == 0)
            && !(self.is_sensor[a] || self.is_sensor[b])
            && self.is_present[a]
            && self.is_present[b]
    }

    /// Whether numbers from outside fit together. Shapes are not looked at.
    pub(crate) fn is_consistent(&self) -> bool {
        let lengths = [
            self.position.len(),
            self.rotation.len(),
            self.motion.len(),
            self.inertial.len(),
            self.print.len(),
            self.center.len(),
            self.radius.len(),
            self.kind.len(),
            self.material.len(),
            self.damping.len(),
            self.pushes.len(),
            self.start.len(),
            self.load.len(),
            self.name.len(),
            self.groups.len(),
            self.is_sensor.len(),
            self.surface_velocity.len(),
            self.one_way.len(),
            self.node_of.len(),
            self.generation.len(),
            self.is_present.len(),
        ];
        lengths.iter().all(|&length| length == self.len())
            && self.vacant.iter().all(|&k| (k as usize) < self.len())
    }

    /// The place that the next body will take.
    pub(crate) fn next_place(&self) -> usize {
        self.vacant.last().map_or(self.len(), |&k| k as usize)
    }

    /// Takes a body away.
    pub(crate) fn remove(&mut self, index: usize) {
        self.is_present[index] = false;
        self.kind[index] = Kind::Fixed;
        self.inertial[index] = Inertial::immovable();
        self.motion[index] = Motion::default();
        self.pushes[index].clear();
        self.generation[index] = self.generation[index].wrapping_add(1);
        self.vacant.push(index as u32);
    }

    /// Adds a checked body. `density` is that of its material.
    pub(crate) fn push(&mut self, body: Body<S>, density: f64) -> Result<BodyId, BodyError> {
        let (inertial, center) = checked_inertial(&body, density)?;
        check_numbers(&body)?;
        if let Kind::Kinematic(script) = &body.kind {
            script.check()?;
        }
        let k = self.next_place();
        if u32::try_from(k).is_err() {
            return Err(BodyError::TooMany);
        }
        if self.vacant.pop().is_none() {
            self.generation.push(0);
        }
        self.put(k, body, inertial, center);
        Ok(self.id(k))
    }

    fn put(&mut self, k: usize, body: Body<S>, inertial: Inertial<S>, center: S::Vector) {
        let rotation = S::normalize(body.pose.rotation);
        let origin = Pose {
            rotation,
            ..body.pose
        };
        let motion = if matches!(body.kind, Kind::Particle | Kind::Rigid) {
            Motion {
                linear: mask(body.velocity, body.locked_axes),
                spin: body.spin.scale(inertial.free_spins),
            }
        } else {
            Motion::default()
        };
        let direction = |d: S::Vector| d * (1.0 / d.length());
        set(&mut self.position, k, origin.point(center));
        set(&mut self.rotation, k, rotation);
        set(&mut self.motion, k, motion);
        set(&mut self.inertial, k, inertial);
        set(&mut self.radius, k, body.shape.radius_about(center));
        set(&mut self.print, k, print_of::<S>(&body.shape));
        set(&mut self.shape, k, body.shape);
        set(&mut self.center, k, center);
        set(&mut self.kind, k, body.kind);
        set(&mut self.material, k, body.material);
        let damping = (body.linear_damping, body.angular_damping);
        set(&mut self.damping, k, damping);
        set(&mut self.pushes, k, body.pushes);
        set(&mut self.start, k, origin);
        set(&mut self.load, k, Default::default());
        let name = body.name.unwrap_or_else(|| format!("body {k}"));
        set(&mut self.name, k, name);
        set(&mut self.groups, k, body.groups);
        set(&mut self.is_sensor, k, body.is_sensor);
        set(&mut self.surface_velocity, k, body.surface_velocity);
        set(&mut self.one_way, k, body.one_way.map(direction));
        set(&mut self.node_of, k, 0);
        set(&mut self.is_present, k, true);
    }
}

/// Replaces an element, or adds it at the end.
fn set<T>(list: &mut Vec<T>, k: usize, value: T) {
    match list.get_mut(k) {
        Some(place) => *place = value,
        None => list.push(value),
    }
}

/// A number that shapes made of the same parts share.
fn print_of<S: Space>(shape: &S::Shape) -> u64 {
    let mut hash = StateHash::new();
    let bytes = postcard::to_allocvec(&shape.parts()).unwrap_or_default();
    bytes.iter().for_each(|&byte| hash.word(byte.into()));
    hash.finish()
}

/// The vector with locked components set to zero.
fn mask<V: Components>(vector: V, locked: [bool; 3]) -> V {
    locked
        .into_iter()
        .enumerate()
        .filter(|(_, is_locked)| *is_locked)
        .fold(vector, |v, (axis, _)| v.with_component(axis, 0.0))
}

fn check_numbers<S: Space>(body: &Body<S>) -> Result<(), BodyError> {
    let finite = |is_finite: bool, what| {
        if is_finite {
            Ok(())
        } else {
            Err(BodyError::NotFinite(what))
        }
    };
    finite(body.pose.position.is_finite(), "position")?;
    finite(body.velocity.is_finite(), "velocity")?;
    finite(body.spin.is_finite(), "spin")?;
    finite(body.surface_velocity.is_finite(), "surface_velocity")?;
    let moves = matches!(body.kind, Kind::Particle | Kind::Rigid);
    if moves && body.surface_velocity != S::Vector::default() {
        return Err(BodyError::Belt);
    }
    if let Some(direction) = body.one_way {
        finite(direction.is_finite(), "one_way")?;
        if direction.length() < 1e-9 {
            return Err(BodyError::OneWay);
        }
    }
    for push in &body.pushes {
        let all = push.force.is_finite() && push.rate.is_finite() && push.point.is_finite();
        finite(all, "force")?;
    }
    if !S::is_near_unit(body.pose.rotation) {
        return Err(BodyError::Rotation);
    }
    for (what, value) in [
        ("linear damping", body.linear_damping),
        ("angular damping", body.angular_damping),
    ] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(BodyError::Damping { what, value });
        }
    }
    Ok(())
}

/// The inertia of a body and its centre of mass in the shape's axes.
fn checked_inertial<S: Space>(
    body: &Body<S>,
    density: f64,
) -> Result<(Inertial<S>, S::Vector), BodyError> {
    if matches!(body.kind, Kind::Fixed | Kind::Kinematic(_)) {
        return Ok((Inertial::immovable(), S::Vector::default()));
    }
    let is_particle = body.kind == Kind::Particle;
    if is_particle && body.shape.ball_radius().is_none() {
        return Err(BodyError::NotABall);
    }
    let properties = mass_of(body, density)?;
    let inertia = if is_particle {
        S::NO_INERTIA
    } else {
        properties.inertia
    };
    let inv_inertia = S::invert_inertia(&inertia);
    if !is_particle && !S::is_positive_definite(&inertia) {
        return Err(BodyError::Inertia);
    }
    let inertial = Inertial {
        mass: properties.mass,
        inv_mass: mask(S::Vector::splat(1.0 / properties.mass), body.locked_axes),
        inertia,
        inv_inertia,
        free_spins: mask(S::Spin::splat(1.0), body.locked_spins),
        gyroscopic: !S::is_isotropic(&inertia),
    };
    Ok((inertial, properties.center))
}

fn mass_of<S: Space>(body: &Body<S>, density: f64) -> Result<MassProperties<S>, BodyError> {
    let positive = |what, unit, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err(BodyError::Mass { what, unit, value })
        }
    };
    let of_shape = |density| {
        let properties = body
            .shape
            .mass_properties(density)
            .ok_or(BodyError::NoVolume)?;
        positive("mass", "kg", properties.mass)?;
        Ok(properties)
    };
    match body.mass {
        Mass::OfMaterial => of_shape(density),
        Mass::Density(density) => of_shape(positive("density", "kg/m³, in 2D kg/m²", density)?),
        Mass::Total(mass) => {
            // Inertia is linear in density: the density that gives this mass.
            let unit = of_shape(1.0)?;
            of_shape(positive("mass", "kg", mass)? / unit.mass)
                .map(|properties| MassProperties { mass, ..properties })
        }
        Mass::Given(properties) => {
            positive("mass", "kg", properties.mass)?;
            if !properties.center.is_finite() {
                return Err(BodyError::NotFinite("centre of mass"));
            }
            Ok(properties)
        }
    }
}
