//! The flat arrays that bodies live in.

use super::inertial::{Inertial, checked_inertial, mask};
use super::{Body, BodyError, BodyId, Groups, Kind, Motion, Push};
use crate::geometry::Space;
use crate::geometry::shape::{Bounds, Geometry, Pose};
use crate::math::algebra::{Components, Linear};
use crate::model::material::MaterialId;
use crate::model::range;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use drystone_frame::StateHash;
use serde::{Deserialize, Serialize};

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
    /// The box around the shape in its own axes, from the centre of mass; none if it is unbounded.
    pub(crate) bounds: Vec<Option<Bounds<S>>>,
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
    /// Number from 1 of the body that it is fixed to as a node, 0 if to none.
    pub(crate) tied_to: Vec<u32>,
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
            bounds: Vec::new(),
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
            tied_to: Vec::new(),
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
    pub(crate) motion: Vec<Motion<S>>,
}

impl<S: Space> Default for BodyState<S> {
    fn default() -> Self {
        Self {
            position: Vec::new(),
            rotation: Vec::new(),
            motion: Vec::new(),
        }
    }
}

impl<S: Space> Bodies<S> {
    /// Copies poses and motion to where another copy was, into its memory, on several threads.
    pub(crate) fn copy_state(&self, state: &mut BodyState<S>, threads: u32) {
        if threads == 1 || state.position.len() != self.len() {
            state.position.clone_from(&self.position);
            state.rotation.clone_from(&self.rotation);
            state.motion.clone_from(&self.motion);
            return;
        }
        let position = SharedSlice::new(&mut state.position);
        let rotation = SharedSlice::new(&mut state.rotation);
        let motion = SharedSlice::new(&mut state.motion);
        thread_pool::run_over(self.len(), threads as usize, |part| {
            position.copy(&self.position, part.clone());
            rotation.copy(&self.rotation, part.clone());
            motion.copy(&self.motion, part);
        });
    }

    /// Goes back to a copy of poses and motion.
    pub(crate) fn restore(&mut self, state: BodyState<S>) {
        self.position = state.position;
        self.rotation = state.rotation;
        self.motion = state.motion;
    }

    /// Gives all bodies these centres of mass, rotations and motions, and gives back those that they
    /// had.
    pub(crate) fn replace(
        &mut self,
        position: Vec<S::Vector>,
        rotation: Vec<S::Rotation>,
        motion: Vec<Motion<S>>,
    ) -> BodyState<S> {
        BodyState {
            position: std::mem::replace(&mut self.position, position),
            rotation: std::mem::replace(&mut self.rotation, rotation),
            motion: std::mem::replace(&mut self.motion, motion),
        }
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
        self.inertial[index].inv_inertia_at(rotation)
    }

    /// The smallest side of the box around a body in its own axes, m.
    pub(crate) fn thickness(&self, index: usize) -> f64 {
        let Some(bounds) = &self.bounds[index] else {
            return f64::INFINITY;
        };
        let size = bounds.upper - bounds.lower;
        (0..S::DIM).fold(f64::INFINITY, |least, axis| least.min(size.component(axis)))
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
        let own = S::unturn_spin(before, spin);
        let momentum = S::turn_spin(before, S::apply_inertia(&inertial.inertia, own));
        let own = S::apply_inertia(&inertial.inv_inertia, S::unturn_spin(after, momentum));
        S::turn_spin(after, own)
    }

    /// Kinetic energy of one body in J; 0 for bodies that impulses do not move.
    #[must_use]
    pub fn kinetic_energy(&self, index: usize) -> f64 {
        self.kinetic_energy_at(index, self.rotation[index], &self.motion[index])
    }

    /// Kinetic energy that a body would have with this orientation and motion, J.
    pub(crate) fn kinetic_energy_at(
        &self,
        index: usize,
        rotation: S::Rotation,
        motion: &Motion<S>,
    ) -> f64 {
        if !self.is_dynamic(index) {
            return 0.0;
        }
        let Motion { linear, spin } = *motion;
        let along = self.inertial[index].mass * linear.dot(linear);
        if spin == S::Spin::default() {
            return 0.5 * along;
        }
        let inertia = S::world_inertia(rotation, &self.inertial[index].inertia);
        let angular = S::apply_inertia(&inertia, spin);
        0.5 * (along + angular.dot(spin))
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

    /// Distance of a body's furthest point from its centre of mass, m: infinite for half-spaces.
    #[must_use]
    pub fn size(&self, index: usize) -> f64 {
        self.radius[index]
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

    /// Whether a body is a node that is fixed to another.
    pub(crate) fn is_tied(&self, node: usize, to: usize) -> bool {
        self.tied_to[node] as usize == to + 1
    }

    /// Whether two bodies may touch, as far as they themselves say.
    #[must_use]
    pub(crate) fn may_meet(&self, a: usize, b: usize) -> bool {
        (self.is_dynamic(a) || self.is_dynamic(b))
            && self.groups[a].allow(self.groups[b])
            && (self.node_of[a] == 0 || self.node_of[b] == 0)
            && !(self.is_tied(a, b) || self.is_tied(b, a))
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
            self.bounds.len(),
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
            self.tied_to.len(),
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
        check_range(&body, &inertial, center)?;
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
        set(&mut self.bounds, k, bounds_about::<S>(&body.shape, center));
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
        set(&mut self.tied_to, k, 0);
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

/// Whether a body is in the range of [`crate::model::range`].
fn check_range<S: Space>(
    body: &Body<S>,
    inertial: &Inertial<S>,
    center: S::Vector,
) -> Result<(), BodyError> {
    let largest = |numbers: [f64; 3]| {
        numbers
            .into_iter()
            .fold(0.0, |most: f64, x| most.max(x.abs()))
    };
    let size = body.shape.radius_about(center);
    let mut checks = vec![
        (
            "position",
            "at most 1e12 m along each axis",
            largest(body.pose.position.to_array3()),
            [0.0, range::POSITION],
        ),
        (
            "velocity",
            "at most 1e9 m/s along each axis",
            largest(body.velocity.to_array3()),
            [0.0, range::SPEED],
        ),
        (
            "spin",
            "at most 1e9 rad/s about each axis",
            largest(body.spin.to_array3()),
            [0.0, range::SPIN],
        ),
        (
            "centre of mass",
            "at most 1e9 m from the shape's origin along each axis",
            largest(center.to_array3()),
            [0.0, range::SIZE[1]],
        ),
    ];
    if size.is_finite() {
        checks.push((
            "size",
            "1e-9 m to 1e9 m from the centre of mass to the furthest point",
            size,
            range::SIZE,
        ));
    }
    if inertial.mass.is_finite() {
        checks.push(("mass", "1e-18 kg to 1e18 kg", inertial.mass, range::MASS));
    }
    if body.kind == Kind::Rigid {
        let about = |axis| {
            let unit = S::Spin::default().with_component(axis, 1.0);
            S::apply_inertia(&inertial.inertia, unit).component(axis)
        };
        for axis in 0..S::SPIN_DIM {
            let expected = "1e-40 kg·m² to 1e24 kg·m² about each axis";
            checks.push(("inertia", expected, about(axis), range::INERTIA));
        }
    }
    let beyond = |value: f64, [least, most]: [f64; 2]| !(least <= value && value <= most);
    let first = checks
        .into_iter()
        .find(|&(_, _, value, bounds)| beyond(value, bounds));
    first.map_or(Ok(()), |(what, expected, value, _)| {
        Err(BodyError::Range {
            what,
            expected,
            value,
        })
    })
}

/// The box around a shape in its own axes, from `center`.
fn bounds_about<S: Space>(shape: &S::Shape, center: S::Vector) -> Option<Bounds<S>> {
    let bounds = shape.bounds(&Pose::default())?;
    Some(Bounds {
        lower: bounds.lower - center,
        upper: bounds.upper - center,
    })
}

impl<S: Space> Bodies<S> {
    /// What of a body's state is beyond its [range], with its bound; `None` if nothing is.
    pub(crate) fn beyond_range(&self, k: usize) -> Option<&'static str> {
        let motion = &self.motion[k];
        if !range::within(self.position[k], range::POSITION) {
            Some("position (at most 1e12 m along each axis)")
        } else if !range::within(motion.linear, range::SPEED) {
            Some("velocity (at most 1e9 m/s along each axis)")
        } else if !range::within(motion.spin, range::SPIN) {
            Some("spin (at most 1e9 rad/s about each axis)")
        } else {
            None
        }
    }
}
