//! Bodies, as they are written in a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repeat::Repeat;
use super::shape::Shape;
use super::values::{Inertia, Rotation, Spin, Vector};

/// A body, or several of a kind if it has `repeat`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its name, unique in the scene; "body N" if left out. Copies of a repeated body are
    /// numbered from 1: "stone 1", "stone 2".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What moves it; contacts and forces if left out.
    #[serde(default)]
    pub kind: Kind,
    /// Its shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Shapes of a repeated body, instead of `shape`: copies take them in turn, or by chance in
    /// a random repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Shape>,
    /// Where the shape's origin is, m; the world's origin if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Vector>,
    /// How it is turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Velocity of the centre of mass, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vector>,
    /// Angular velocity in rad/s, world axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<Spin>,
    /// Mass in kg, spread evenly over the shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Mass, centre and inertia, all given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_properties: Option<MassProperties>,
    /// Name of its material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Friction coefficient instead of the material's (pairs then no longer apply).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub friction: Option<f64>,
    /// Coefficient of restitution instead of the material's (pairs then no longer apply).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: Option<f64>,
    /// Rate at which velocity decays, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub linear_damping: Option<f64>,
    /// Rate at which spin decays, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub angular_damping: Option<f64>,
    /// Groups it is in, each a number from 0 to 31; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<u8>>,
    /// Groups it meets: two bodies touch if each is in a group that the other meets; all if left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meets: Option<Vec<u8>>,
    /// Whether it only notices what overlaps it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensor: bool,
    /// Velocity of its surface in its own axes, m/s: a conveyor belt. Fixed and kinematic bodies
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_velocity: Option<Vector>,
    /// A one-way platform: holds what comes from this side (own axes), lets through the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_way: Option<Vector>,
    /// World axes along which it can't move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locked_axes: Vec<Axis>,
    /// World axes about which it can't turn (2D: `["z"]`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locked_spins: Vec<Axis>,
    /// Standing forces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushes: Vec<Push>,
    /// How a kinematic body moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// More of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// What moves a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Forces and contacts.
    #[default]
    Rigid,
    /// Forces and contacts, without rotation; must be a ball.
    Particle,
    /// Nothing.
    Fixed,
    /// Its script; contacts do not push it, it pushes.
    Kinematic,
}

/// An axis of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// To the right.
    X,
    /// Up.
    Y,
    /// Towards the viewer.
    Z,
}

/// Mass, centre of mass and inertia of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MassProperties {
    /// Mass in kg.
    pub mass: f64,
    /// Centre of mass in the shape's axes, m; the shape's origin if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<Vector>,
    /// Inertia about the centre of mass in the shape's axes, kg·m².
    pub inertia: Inertia,
}

/// A standing force `force + rate · t` at a point of the body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Force at time 0 in N, world axes; none if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<Vector>,
    /// Growth in N/s, world axes; none if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Vector>,
    /// Where it acts, in the shape's axes, m; the shape's origin if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Vector>,
}

/// How a kinematic body moves, relative to its pose at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Script {
    /// Evenly.
    Steady {
        /// Velocity in m/s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        velocity: Option<Vector>,
        /// Angular velocity in rad/s, world axes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spin: Option<Spin>,
    },
    /// To and fro, as a sine.
    Swing {
        /// Largest displacement, m.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amplitude: Option<Vector>,
        /// Largest turn in **degrees**, about each axis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Spin>,
        /// Cycles per second, Hz.
        frequency: f64,
        /// Part of a cycle by which it is ahead, 0 to 1.
        #[serde(default)]
        phase: f64,
    },
    /// Through poses at times, straight between them and still outside. World axes.
    Keyframes(Vec<Keyframe>),
}

/// Where a kinematic body is at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time in s.
    pub time: f64,
    /// Position then, m.
    pub position: Vector,
    /// Orientation then; unturned if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}
