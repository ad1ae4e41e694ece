//! Bodies: how to describe one, and the flat arrays they live in.
//!
//! [`Body`] is the description a user writes; [`Bodies`] is what the engine steps. A body's state
//! is the position of its centre of mass, its rotation, and the velocities of both; the
//! shape's own origin lies elsewhere if the centre of mass does
//! ([`Bodies::origin`]).

mod arrays;
mod inertial;

pub use arrays::Bodies;
pub(crate) use arrays::BodyState;

use crate::geometry::Space;
use crate::geometry::shape::{MassProperties, Pose, ShapeError};
use crate::model::material::MaterialId;
use crate::model::script::Script;
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

    /// A body that a program moves ([`crate::World::set_motion`], [`crate::World::set_next_pose`]): it
    /// pushes, and nothing pushes it.
    #[must_use]
    pub fn driven(shape: S::Shape) -> Self {
        Self::kinematic(shape, Script::still())
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
    /// A number beyond what is supported ([`crate::model::range`]).
    #[error("{what} must be {expected}, not {value:e}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What would be right, with its unit.
        expected: &'static str,
        /// What was given.
        value: f64,
    },
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
    Script(#[from] crate::model::script::ScriptError),
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
