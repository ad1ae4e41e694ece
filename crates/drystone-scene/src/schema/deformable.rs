//! Deformables, as they are written in a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{Rotation, Vector};

/// A rope, a net, a cloth or a solid that bends and stretches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deformable {
    /// Its name, unique among deformables; "deformable N" if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its shape at rest.
    pub shape: SoftShape,
    /// Where the shape's origin is, m; the world's origin if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Vector>,
    /// How it is turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Velocity at the start, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vector>,
    /// Young's modulus in Pa (2D: N/m); 100,000 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub young: Option<f64>,
    /// Poisson's ratio, 0 to less than 0.5; 0.3 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²); 1,000 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Thickness of cloth and ropes, and of the skin of solids, m; 0.01 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Damping over stiffness, s; 0.001 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Stiffness against bending over that of a solid plate or rod of this thickness; 1 if left
    /// out, far less for what is woven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending: Option<f64>,
    /// What resists deformation: the laws of elasticity if left out.
    #[serde(default)]
    pub model: SoftModel,
    /// Name of the material of its surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Friction coefficient instead of the material's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub friction: Option<f64>,
    /// Rate at which velocity decays, 1/s: air.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear_damping: Option<f64>,
    /// Standing force on the whole in N, shared by mass: wind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Vector>,
    /// Parts that never move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<Side>,
    /// Numbers of nodes that never move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned_nodes: Vec<u32>,
    /// Parts that are fixed to bodies where they start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attached>,
}

/// Nodes that are fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// Name of the body: rigid, scripted or fixed.
    pub to: String,
    /// Parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
    /// Numbers of nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
}

/// The shape of a deformable at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SoftShape {
    /// A straight rope.
    Rope {
        /// One end, m.
        from: Vector,
        /// The other end, m.
        to: Vector,
        /// Pieces.
        segments: u32,
    },
    /// 3D: a net in the plane y = 0.
    Net {
        /// Along x and z, m.
        size: [f64; 2],
        /// Meshes along x and z.
        cells: [u32; 2],
    },
    /// 3D: a rectangular cloth in the plane y = 0.
    Cloth {
        /// Along x and z, m.
        size: [f64; 2],
        /// Squares along x and z.
        cells: [u32; 2],
    },
    /// A solid box (2D: rectangle).
    Block {
        /// Edges, m.
        size: Vector,
        /// Small boxes along each edge.
        cells: Vec<u32>,
    },
    /// A rope through points.
    Path {
        /// The points in order, m.
        points: Vec<Vector>,
        /// Whether the last is joined to the first.
        #[serde(default)]
        closed: bool,
    },
    /// A mesh of one kind of cells, here or in a file.
    Mesh {
        /// Wavefront OBJ (3D: cloth) or Gmsh `.msh` (ASCII, 2.2 or 4.1; tetrahedra if it has any,
        /// else triangles, else lines), relative to the scene's file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Vertices, m.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        points: Vec<Vector>,
        /// Lines: ropes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        segments: Vec<[u32; 2]>,
        /// Triangles: in space cloth, in the plane solids.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        triangles: Vec<[u32; 3]>,
        /// Tetrahedra: solids.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tetrahedra: Vec<[u32; 4]>,
        /// Factor from the mesh's unit to m; 1 if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
    },
}

/// What resists deformation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoftModel {
    /// Membranes and solids by the laws of elasticity.
    #[default]
    Continuum,
    /// Springs along edges.
    Springs,
}

/// A part of a deformable, in its own axes before it is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Least x.
    Left,
    /// Most x.
    Right,
    /// Least y.
    Bottom,
    /// Most y.
    Top,
    /// Least z.
    Back,
    /// Most z.
    Front,
    /// Left, right, back and front (2D: left and right).
    Border,
    /// Where sides meet at right angles: four of a cloth, eight of a block.
    Corners,
    /// The first node: a rope's `from`.
    Start,
    /// The last node: a rope's `to`.
    End,
}
