//! Shapes, as they are written in a file: `shape.ball.radius = 0.5`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{Rotation, Vector};

/// What a body is made of. All lengths in m; boxes, cylinders and the like stand around their
/// own origin, and axes of revolution are y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A ball; a disk in 2D.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// A box; a rectangle in 2D.
    Box {
        /// Full length of each edge.
        size: Vector,
    },
    /// A cylinder with half balls on its ends.
    Capsule {
        /// Distance between the centres of the half balls.
        length: f64,
        /// Radius.
        radius: f64,
    },
    /// A cylinder (3D).
    Cylinder {
        /// Full height.
        height: f64,
        /// Radius.
        radius: f64,
    },
    /// A cone (3D), its tip up.
    Cone {
        /// Full height.
        height: f64,
        /// Radius of the base.
        radius: f64,
    },
    /// The convex hull of points.
    Hull {
        /// The points.
        points: Vec<Vector>,
    },
    /// A stone of an arch: the part of a ring between two radii and within an angle, symmetric
    /// about +y, its origin half-way between the radii. Inner and outer face are flat.
    Wedge {
        /// Distance of the inner corners from the ring's centre.
        inner_radius: f64,
        /// Distance of the outer corners from the ring's centre.
        outer_radius: f64,
        /// Angle between the two sides, degrees.
        angle: f64,
        /// Length along z (3D only).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<f64>,
    },
    /// Everything below a plane through the body's position; for fixed bodies.
    HalfSpace {
        /// Points out of the solid; any length but 0.
        normal: Vector,
    },
    /// Triangles (3D), solid from either side; for fixed and kinematic bodies.
    Mesh {
        /// The vertices.
        points: Vec<Vector>,
        /// Three vertices each, counted from 0.
        triangles: Vec<[u32; 3]>,
    },
    /// A line through points (2D), solid from either side; for fixed and kinematic bodies.
    Polyline {
        /// The points.
        points: Vec<Vector>,
    },
    /// Several solids as one.
    Compound {
        /// The solids.
        parts: Vec<Part>,
    },
}

/// One solid of a compound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its shape.
    pub shape: Shape,
    /// Its place in the compound's axes, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Vector>,
    /// Its orientation in the compound's axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}
