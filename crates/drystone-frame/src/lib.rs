//! Frames of a simulation: plain arrays, always 3D, no physics.
//!
//! A [`Stage`] says once what the objects look like; a [`Frame`] says where they are at one
//! time. Everything that draws, records or exports reads these two and nothing else, so a live
//! simulation and a replay are the same thing to it. A 2D world lies in the plane z = 0.
//!
//! [`recording`] keeps frames in a file that survives whatever ends a run, [`export`] writes them
//! in the formats of other programs, and [`mesh`] makes triangles of forms.

#![forbid(unsafe_code)]

pub mod export;
mod hash;
mod joint;
pub mod mesh;
pub mod recording;
pub(crate) mod skin;

pub use hash::StateHash;
pub use joint::{FrameJoint, JointEnd, JointForm, NO_ISLAND, NO_OBJECT, StageJoint};
use serde::{Deserialize, Serialize};
pub use skin::Skin;

/// What does not change from frame to frame: the objects and how to look at them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// 2 or 3: how the world wants to be drawn.
    pub dimension: u8,
    /// The objects, in the order of the arrays of every [`Frame`].
    pub objects: Vec<Object>,
    /// Surfaces that hang on objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skins: Vec<Skin>,
    /// Joints, in the order of [`Frame::joints`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<StageJoint>,
}

/// One object: a body or a particle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// The name that the scene gives it, unique within a stage.
    pub name: String,
    /// Whether it never moves by contact: an obstacle, a wall, a scripted body.
    pub fixed: bool,
    /// Its parts, in the object's own axes.
    pub parts: Vec<Part>,
}

/// One solid of an object, at a pose in the object's axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Offset in m.
    pub position: [f64; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Its form.
    pub form: Form,
}

/// The form of a part; lengths in m. Axes of revolution are y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A ball; a disk in 2D.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// A box; a rectangle in 2D (z ignored).
    Box {
        /// Half of each edge.
        half: [f64; 3],
    },
    /// A cylinder with half balls on its ends.
    Capsule {
        /// Half of the distance between the centres of the half balls.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Half of the height.
        half_height: f64,
        /// Radius.
        radius: f64,
    },
    /// A cone, its tip at +y.
    Cone {
        /// Half of the height.
        half_height: f64,
        /// Radius of the base.
        radius: f64,
    },
    /// All points on one side of a plane through the origin.
    HalfSpace {
        /// Unit vector out of the solid.
        normal: [f64; 3],
    },
    /// A convex or open outline in the plane z = 0.
    Outline {
        /// The points in order, counter-clockwise if closed.
        points: Vec<[f64; 3]>,
        /// Whether the last point joins the first and the inside is solid.
        closed: bool,
    },
    /// Triangles.
    Mesh {
        /// Vertices.
        points: Vec<[f64; 3]>,
        /// Counter-clockwise corners, seen from outside.
        triangles: Vec<[u32; 3]>,
    },
}

/// Where everything is at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Simulated time in s.
    pub time: f64,
    /// Number of steps made.
    pub step: u64,
    /// Origin of each object in m.
    pub positions: Vec<[f64; 3]>,
    /// Unit quaternion x, y, z, w of each object.
    pub rotations: Vec<[f64; 4]>,
    /// Velocity of each object's centre of mass in m/s.
    pub velocities: Vec<[f64; 3]>,
    /// Angular velocity of each object in rad/s.
    pub spins: Vec<[f64; 3]>,
    /// The contacts of the step that led here.
    pub contacts: Vec<FrameContact>,
    /// Which objects hang together, by contact, joints or cloth: for each object the lowest object
    /// of its island, or [`NO_ISLAND`]. Empty where nothing is known.
    #[serde(default)]
    pub islands: Vec<u32>,
    /// Whether each object sleeps. Empty where nothing is known.
    #[serde(default)]
    pub asleep: Vec<bool>,
    /// What the joints of the stage carry.
    #[serde(default)]
    pub joints: Vec<FrameJoint>,
}

/// One contact point, to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameContact {
    /// Index of object A.
    pub object_a: u32,
    /// Index of object B.
    pub object_b: u32,
    /// Where, in m.
    pub position: [f64; 3],
    /// Unit vector from A to B.
    pub normal: [f64; 3],
    /// Impulse on B in N·s, normal and friction together.
    pub impulse: [f64; 3],
    /// Separation in m, negative where the objects overlap.
    pub separation: f64,
}
