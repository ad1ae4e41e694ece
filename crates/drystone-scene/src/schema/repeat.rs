//! Repeated bodies, as they are written in a file: `repeat.stack.count = 20`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::Vector;

/// How a body is repeated. Copies are named "name 1", "name 2" and so on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Rows, layers and pyramids.
    Grid(Grid),
    /// One on the other.
    Stack(Stack),
    /// Around a circle or along an arc.
    Ring(Ring),
    /// Scattered by chance, the same every time.
    Random(Random),
    /// A wall of stones of different sizes.
    Wall(Wall),
}

/// Bodies side by side, centred on the body's `position` along x and z, and up from it along y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How many along each axis.
    pub count: Vec<u32>,
    /// From one to the next along each axis, m.
    pub spacing: Vector,
    /// Every other row is shifted along x by this part of the spacing, as in brickwork; 0..1.
    #[serde(default)]
    pub brick: f64,
    /// How many fewer bodies a row has, along x and z, than the row below it: 1 makes a
    /// pyramid. An axis along which there is only one body is left as it is.
    #[serde(default)]
    pub shrink: u32,
}

/// Bodies on top of each other, the lowest at the body's `position`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// How many.
    pub count: u32,
    /// From one to the next, m; the height of the shape if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<f64>,
    /// Turn of each against the one below about y, degrees (3D).
    #[serde(default)]
    pub twist: f64,
}

/// Bodies around a circle about the body's `position`. The arc is cut into `count` equal parts,
/// and one body stands in the middle of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// How many in a row.
    pub count: u32,
    /// Radius of the circle, m.
    pub radius: f64,
    /// Where the arc starts, degrees from +x, counter-clockwise seen from +z or from above.
    #[serde(default)]
    pub from: f64,
    /// Where the arc ends, degrees.
    #[serde(default = "full_circle")]
    pub to: f64,
    /// The plane of the circle; 2D has only `upright`.
    #[serde(default)]
    pub plane: Plane,
    /// Whether bodies turn with the circle: their y axis (upright) or x axis (flat) then points
    /// outwards.
    #[serde(default = "yes")]
    pub oriented: bool,
    /// How many rows stand on each other (flat circles).
    #[serde(default = "one")]
    pub rows: u32,
    /// From one row to the next along y, m.
    #[serde(default)]
    pub rise: f64,
    /// Every other row is turned by this share of the distance between neighbours; 0..1.
    #[serde(default)]
    pub brick: f64,
}

/// The plane of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Plane {
    /// x and y: an arch, a wheel.
    #[default]
    Upright,
    /// x and z: a round tower, a ring of dominoes.
    Flat,
}

/// Bodies scattered in a box around the body's `position`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// How many.
    pub count: u32,
    /// Another seed, another scatter.
    #[serde(default)]
    pub seed: u64,
    /// Edges of the box of which origins are drawn, m.
    pub region: Vector,
    /// Smallest and largest factor on the size of the shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<[f64; 2]>,
    /// Whether each is turned by chance.
    #[serde(default)]
    pub turned: bool,
    /// Whether the copies must not overlap each other (judged by balls around them).
    #[serde(default = "yes")]
    pub apart: bool,
}

/// A dry-stone wall along x: courses of stones whose lengths and heights are drawn by chance,
/// each course as long as the wall. It is centred on the body's `position` along x and z and
/// stands on it. The stones' shapes are made here: the body has no `shape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// Length of the wall along x, m.
    pub length: f64,
    /// Height of the wall, m.
    pub height: f64,
    /// Thickness along z at the foot, m (3D only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Thickness along z at the top, m; as at the foot if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_depth: Option<f64>,
    /// Shortest and longest stone along x, m.
    pub lengths: [f64; 2],
    /// Lowest and highest course, m.
    pub heights: [f64; 2],
    /// Corners are moved inwards by up to this much along x and z, m, so that stones are not
    /// boxes. Tops and bottoms stay level.
    #[serde(default)]
    pub rough: f64,
    /// Another seed, another wall.
    #[serde(default)]
    pub seed: u64,
}

fn full_circle() -> f64 {
    360.0
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}
