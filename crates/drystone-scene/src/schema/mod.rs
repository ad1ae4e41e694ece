//! The data of a scene, as it is written in a file.
//!
//! Plain types that serde reads and writes and that the JSON Schema is made of. Nothing is
//! checked here beyond the types of values; [`Scene::build`] does that. Lengths are in m, times
//! in s, masses in kg; **rotations are in degrees**, angular velocities in rad/s. The y axis is up.

pub mod body;
pub mod deformable;
pub mod joint;
pub mod repeat;
pub mod shape;
pub mod values;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::source::Source;
pub use body::{Axis, Body, Keyframe, Kind, MassProperties, Push, Script};
pub use deformable::{Attached, Deformable, Side, SoftModel, SoftShape};
pub use joint::{Joint, JointAxis, JointFrame, JointKind, Motor, Servo};
pub use repeat::{Grid, Random, Repeat, Ring, Stack, Wall};
pub use shape::{Part, Shape, Wave};
pub use values::{Inertia, Rotation, Spin, Vector};

/// A scene: what there is at the start, and how it is stepped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Name of the scene; that of the file if left out.
    #[serde(default)]
    pub name: String,
    /// What to look at, in one line.
    #[serde(default)]
    pub look: String,
    /// What is expected, where a truth is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Where this engine's answer is known to differ from what is expected, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// 2 for a plane, 3 for space.
    #[schemars(range(min = 2, max = 3))]
    pub dimension: u8,
    /// How long it is worth running, s.
    #[serde(default = "default_seconds")]
    pub seconds: f64,
    /// Length of a step in s; if left out, 1/240 with "velocity", "parallel"
    /// and "sequential", 1/60 with "realtime" and "barrier", 1/1000 with "penalty".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// Acceleration of free fall in m/s²; 9.81 down y if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Vector>,
    /// How a step uses detection and solver: "velocity" (all contacts at once, by `solver`),
    /// "realtime" (in real time), "barrier" (nothing ever touches), "parallel" or "sequential"
    /// (impacts by continuous collision), "penalty" (springs on overlap). If left out, "realtime";
    /// but "velocity" for scenes with deformables, and for those that choose a solver or how
    /// impacts are understood, which "realtime" has no use for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Options of the strategy "realtime", which was once called "substep" and is still read so.
    #[serde(default, alias = "substep")]
    pub realtime: Realtime,
    /// Options of the strategy "barrier".
    #[serde(default)]
    pub barrier: Barrier,
    /// Options of the strategies "parallel" and "sequential".
    #[serde(default)]
    pub impacts: Impacts,
    /// Options of the strategy "penalty".
    #[serde(default)]
    pub penalty: Penalty,
    /// What solves the contact problem.
    #[serde(default)]
    pub solver: Solver,
    /// How contact behaves beyond friction and restitution.
    #[serde(default)]
    pub contact: Contact,
    /// What bodies have that do not say otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// Where it is seen from; all of it if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// Named surfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<Material>,
    /// Coefficients where two materials meet, whatever their rules say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// The bodies, single and repeated.
    #[serde(default)]
    pub bodies: Vec<Body>,
    /// What ties bodies together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<Joint>,
    /// Ropes, nets, cloth and soft solids (every strategy but "realtime").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deformables: Vec<Deformable>,
    /// The text this was read from, so that errors can point at it. Not part of the file.
    #[serde(skip)]
    #[schemars(skip)]
    pub source: Option<Arc<Source>>,
}

fn default_seconds() -> f64 {
    5.0
}

impl Scene {
    /// An empty scene in 2 or 3 dimensions, to be filled by a program.
    #[must_use]
    pub fn new(name: impl Into<String>, dimension: u8) -> Self {
        Self {
            name: name.into(),
            look: String::new(),
            expect: None,
            note: None,
            dimension,
            seconds: default_seconds(),
            dt: None,
            gravity: None,
            strategy: None,
            realtime: Realtime::default(),
            barrier: Barrier::default(),
            impacts: Impacts::default(),
            penalty: Penalty::default(),
            solver: Solver::default(),
            contact: Contact::default(),
            defaults: Defaults::default(),
            camera: None,
            materials: Vec::new(),
            pairs: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            deformables: Vec::new(),
            source: None,
        }
    }

    /// The name of the strategy that steps it: its own, or the one that suits what it holds.
    #[must_use]
    pub fn strategy_name(&self) -> &str {
        let chooses_solver = self.solver != Solver::default() || self.contact.impact.is_some();
        match &self.strategy {
            Some(name) if name == "substep" => "realtime",
            Some(name) => name,
            None if chooses_solver || !self.deformables.is_empty() => "velocity",
            None => "realtime",
        }
    }
}

/// Which solver, and its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solver {
    /// Its name: "pgs" (projected Gauss-Seidel) if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Most sweeps in a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub iterations: Option<u32>,
    /// Residual at which a step is done, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub tolerance: Option<f64>,
}

/// Options of the strategy "realtime"; what is left out is as the engine has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Realtime {
    /// Substeps of a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub substeps: Option<u32>,
    /// Rounds over all bodies in a substep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rounds: Option<u32>,
    /// Bodies that have been still for so long fall asleep, s; 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub sleep_after: Option<f64>,
    /// Contact points of an island up to which it is solved exactly where the rounds leave it
    /// unconverged; 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_points: Option<u32>,
    /// Islands of more than 100 points in which bodies slide or meet faster than this are left to the
    /// rounds, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub exact_speed: Option<f64>,
}

/// Options of the strategy "barrier"; what is left out is as the engine has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// Distance from which on surfaces push, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub reach: Option<f64>,
    /// Slip at which friction has its full strength, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub slip_speed: Option<f64>,
    /// Iterations of a step at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub iterations: Option<u32>,
    /// Speed that the last iteration may still want to add, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub tolerance: Option<f64>,
}

/// Options of the strategies "parallel" and "sequential"; what is left out is as the engine has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impacts {
    /// Distance of surfaces that is kept, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub keep: Option<f64>,
    /// Looks ("parallel") or impacts ("sequential") of a step at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
}

/// Options of the strategy "penalty"; what is left out is as the engine has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Penalty {
    /// Stiffness of a contact point, N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub stiffness: Option<f64>,
    /// Damping over critical damping: 0 bounces, 1 does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub damping: Option<f64>,
    /// Slip at which friction has its full strength, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub slip_speed: Option<f64>,
}

/// Rules of contact; what is left out is as the engine has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// Approach slower than this does not bounce, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub restitution_threshold: Option<f64>,
    /// Part of an overlap that is repaired in a second, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub repair_rate: Option<f64>,
    /// Overlap that is left alone, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub slop: Option<f64>,
    /// Repair never pushes faster than this, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub repair_speed: Option<f64>,
    /// Contacts nearer than this are always kept, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub margin: Option<f64>,
    /// What simultaneous impacts leave behind; "newton" if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
}

/// How restitution is understood where several contacts meet at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Each contact on its own: separation speed is restitution times approach speed.
    Newton,
    /// Generalised reflections: shocks travel through touching bodies.
    Reflection,
}

/// What bodies and materials have that do not say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Material of bodies that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²); 2,600 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Coulomb's friction coefficient, 0 or more; 0.6 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub friction: Option<f64>,
    /// Newton's coefficient of restitution, 0 to 1; 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: Option<f64>,
    /// Rate at which velocity decays, 1/s; 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub linear_damping: Option<f64>,
    /// Rate at which spin decays, 1/s; 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub angular_damping: Option<f64>,
}

/// A named surface. What is left out is taken from the defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Its name, unique among materials.
    pub name: String,
    /// Coulomb's friction coefficient, 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub friction: Option<f64>,
    /// Newton's coefficient of restitution, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: Option<f64>,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// How friction combines with the other surface's; the geometric mean if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction_rule: Option<Combine>,
    /// How restitution combines with the other surface's; the larger if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution_rule: Option<Combine>,
}

/// How one coefficient is made of two. Where two materials differ, the later in this list wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// (a + b) / 2.
    Average,
    /// √(a b).
    GeometricMean,
    /// The smaller.
    Minimum,
    /// a b.
    Product,
    /// The larger.
    Maximum,
}

/// Coefficients of two materials where they meet. What is left out is as their rules say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Names of the two materials; they may be the same.
    pub between: [String; 2],
    /// Coulomb's friction coefficient, 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub friction: Option<f64>,
    /// Newton's coefficient of restitution, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: Option<f64>,
}

/// Where a scene is seen from. What is left out is chosen so that everything is seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Where the camera stands, x, y, z in m (in 2D only its distance from the target counts).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eye: Option<[f64; 3]>,
    /// What it looks at, x, y, z in m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<[f64; 3]>,
    /// Angle between the lower and the upper edge of the picture, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_of_view: Option<f64>,
    /// Direction an automatic camera looks from: 0 from +z, 90 from +x, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azimuth: Option<f64>,
    /// How far above the horizon an automatic camera stands, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elevation: Option<f64>,
}
