//! Joints, as they are written in a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{Rotation, Vector};

/// What ties two bodies together, or a row of them, in the strategies "realtime" and "velocity".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Its name, unique among joints; "joint N" if left out. Joints of a chain are numbered from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it allows.
    pub kind: JointKind,
    /// Name of body A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Name of body B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    /// Name of a repeated body whose copies are tied one to the next; with `a` the first also to A,
    /// with `b` the last also to B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    /// Where it is, m; half-way between the bodies' origins if left out. Rods, ropes and springs
    /// hold the bodies' origins and have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vector>,
    /// Direction of a hinge's or slider's axis; z for a hinge, x for a slider if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<Vector>,
    /// Its frames in the axes of A's and of B's shape, instead of `at` and `axis`. A hinge turns
    /// about their x axes, a slider slides along them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<[JointFrame; 2]>,
    /// What a joint of kind "axes" allows along x, y and z of A's frame, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear: Option<[JointAxis; 3]>,
    /// What a joint of kind "axes" allows about x, y and z of A's frame, **degrees**.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular: Option<[JointAxis; 3]>,
    /// How far it goes: from and to, **degrees** for a hinge, m for a slider, 0 at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// Drives a hinge or slider at a speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<Motor>,
    /// Drives a hinge or slider to a position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// Length of a rod, rope or spring in m; as it is at the start if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Of a spring, N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Of a spring, N·s/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Turns of A for one turn of B against it, for a gear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Whether its bodies touch each other.
    #[serde(default)]
    pub collides: bool,
    /// Force at which it breaks, N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_force: Option<f64>,
    /// Torque at which it breaks, N·m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_torque: Option<f64>,
}

/// What a joint allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turning about a point (in 2D a pin).
    #[default]
    Ball,
    /// Turning about an axis.
    Hinge,
    /// Sliding along an axis.
    Slider,
    /// Turning about two axes, x and y.
    Universal,
    /// A constant distance.
    Rod,
    /// No more than a distance.
    Rope,
    /// Any distance, at a price.
    Spring,
    /// Turning at a ratio.
    Gear,
    /// What `linear` and `angular` say.
    Axes,
}

/// Where a joint is on one of its bodies, in the axes of the body's shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointFrame {
    /// Its origin, m; the shape's origin if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Vector>,
    /// How it is turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}

/// One coordinate of a joint: locked unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointAxis {
    /// Whether it is free.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// How far it goes instead: from and to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// Drives it at a speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<Motor>,
    /// Drives it to a position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
}

/// A motor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Speed it is after, rad/s or m/s.
    pub speed: f64,
    /// Torque or force at most, N·m or N; without bound if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force: Option<f64>,
}

/// A drive to a position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// Where to, **degrees** or m.
    pub position: f64,
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    #[serde(default)]
    pub damping: f64,
    /// Torque or force at most, N·m or N; without bound if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force: Option<f64>,
}
