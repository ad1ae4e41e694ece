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
        /// Full length of each edge, without the rounding.
        size: Vector,
        /// Radius around all of it: edges become round, and it reaches that much further.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounding: Option<f64>,
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
        /// Full height, without the rounding.
        height: f64,
        /// Radius, without the rounding.
        radius: f64,
        /// Radius around all of it: edges become round, and it reaches that much further.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounding: Option<f64>,
    },
    /// A cone (3D), its tip up.
    Cone {
        /// Full height, without the rounding.
        height: f64,
        /// Radius of the base, without the rounding.
        radius: f64,
        /// Radius around all of it: edges become round, and it reaches that much further.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounding: Option<f64>,
    },
    /// The convex hull of points.
    Hull {
        /// The points.
        points: Vec<Vector>,
        /// Radius around all of it: edges become round, and it reaches that much further.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounding: Option<f64>,
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
    /// Triangles (3D): a surface for fixed and kinematic bodies, or with `decompose` a solid.
    Mesh {
        /// The vertices.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        points: Vec<Vector>,
        /// Three vertices each, counted from 0, counter-clockwise seen from the front or outside.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        triangles: Vec<[u32; 3]>,
        /// Instead of both: a Wavefront OBJ file, relative to the scene's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Whether it holds only what is in front of it.
        #[serde(default, skip_serializing_if = "is_false")]
        one_sided: bool,
        /// Whether it is a solid, closed but not necessarily convex, that is taken apart into
        /// convex ones; then it can be moved.
        #[serde(default, skip_serializing_if = "is_false")]
        decompose: bool,
    },
    /// A line through points (2D), for fixed and kinematic bodies.
    Polyline {
        /// The points.
        points: Vec<Vector>,
        /// Whether it holds only what is in front of it, on the left of its direction.
        #[serde(default, skip_serializing_if = "is_false")]
        one_sided: bool,
    },
    /// The surface of solid ground, for fixed and kinematic bodies: heights over a grid around
    /// the body's position.
    HeightField {
        /// Extent along x, and in 3D along z.
        size: Vec<f64>,
        /// The heights, row by row along z from the back (-z); each row along x. 2D: one row.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        heights: Vec<Vec<f64>>,
        /// Instead of heights: how many cells along x, and in 3D along z.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cells: Vec<u32>,
        /// Waves whose sum is the height, with `cells`; none is a flat field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waves: Vec<Wave>,
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

/// A wave of a height field: height · sin(360° · (way along its direction)/length + phase).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Half of the difference of crest and trough, m.
    pub height: f64,
    /// From crest to crest, m.
    pub length: f64,
    /// Direction in which it runs, degrees from +x towards +z (3D only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<f64>,
    /// Phase at the middle, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature.
fn is_false(value: &bool) -> bool {
    !*value
}
