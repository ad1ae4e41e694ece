//! Shapes of colliders: `UsdGeom`'s solids and meshes.

use drystone::glam::{DMat4, DQuat, DVec3};

use super::scene::Maker;
use super::transform::Placement;
use crate::error::SceneError;
use crate::import::rigid::{Piece, Pose3, y_to_z};
use crate::import::surface::Surface;
use crate::schema::{Kind, Shape};

/// Work that is spent on finding out whether a mesh is convex: triangles times points.
const MAX_CONVEX_WORK: usize = 4_000_000;

impl Maker<'_> {
    /// The shape of a prim in the axes of a body that `matrix` leads to; `None` for a prim that has
    /// none, which is listed.
    pub(super) fn shape(
        &mut self,
        prim: usize,
        matrix: &DMat4,
        kind: Kind,
    ) -> Result<Option<Piece>, SceneError> {
        let stage = self.stage;
        let Some(placed) = Placement::of(matrix) else {
            return Err(stage.wrong(&stage.path(prim), "its transform flattens it"));
        };
        let type_name = stage.prims.get(prim).map_or("", |prim| &prim.type_name);
        if type_name == "Mesh" {
            let surface = self.surface(prim, matrix)?;
            let shape = self.of_mesh(prim, surface, kind);
            return Ok(Some(Piece {
                shape,
                pose: Pose3::default(),
            }));
        }
        let axis = Axis::named(stage.token(prim, "axis"));
        let scale = placed.scale.abs();
        let shape = match type_name {
            "Sphere" => Shape::Ball {
                radius: stage.positive(prim, "radius", 1.0)? * scale.max_element(),
            },
            "Cube" => Shape::Box {
                size: (scale * stage.positive(prim, "size", 2.0)?)
                    .to_array()
                    .to_vec(),
                rounding: None,
            },
            "Capsule" | "Cylinder" | "Cone" | "Capsule_1" | "Cylinder_1" => {
                self.round(prim, type_name, axis.split(scale))?
            }
            "Plane" => return Ok(self.plane(prim, kind, (axis, &placed))),
            other => {
                let other = if other.is_empty() { "no type" } else { other };
                self.list(
                    prim,
                    format!("a collider of {other}, which has no shape here"),
                );
                return Ok(None);
            }
        };
        self.list_distortion(prim, type_name, (axis, &placed));
        let own = match type_name {
            "Sphere" | "Cube" => DQuat::IDENTITY,
            _ => axis.turn_from_y(),
        };
        Ok(Some(Piece {
            shape,
            pose: Pose3 {
                position: placed.pose.position,
                rotation: placed.pose.rotation * own,
            },
        }))
    }

    /// Lists a transform that a shape does not follow.
    fn list_distortion(
        &mut self,
        prim: usize,
        type_name: &str,
        (axis, placed): (Axis, &Placement),
    ) {
        if placed.is_sheared {
            self.list(prim, "it is sheared, which its shape is not");
        }
        if placed.is_even() || type_name == "Cube" {
            return;
        }
        let (along, across) = axis.split(placed.scale.abs());
        let is_round = (across.0 - across.1).abs() <= 1e-6 * across.0.max(across.1);
        let is_spherical = matches!(type_name, "Sphere" | "Capsule" | "Capsule_1");
        if !is_round || is_spherical && (along - across.0).abs() > 1e-6 * along {
            self.list(prim, "a round shape that is scaled unevenly stays round");
        }
    }

    /// A shape of revolution, scaled along its axis and across it.
    fn round(
        &mut self,
        prim: usize,
        type_name: &str,
        (along, across): (f64, (f64, f64)),
    ) -> Result<Shape, SceneError> {
        let stage = self.stage;
        let across = across.0.max(across.1);
        let is_capsule = type_name.starts_with("Capsule");
        let usual = if is_capsule { (1.0, 0.5) } else { (2.0, 1.0) };
        let height = stage.positive(prim, "height", usual.0)? * along;
        let radius = if type_name.ends_with("_1") {
            let bottom = stage.positive(prim, "radiusBottom", usual.1)?;
            let top = stage.positive(prim, "radiusTop", usual.1)?;
            if bottom != top {
                self.list(prim, "a shape that tapers has its larger radius everywhere");
            }
            bottom.max(top)
        } else {
            stage.positive(prim, "radius", usual.1)?
        };
        let radius = radius * across;
        Ok(match type_name {
            "Cone" => Shape::Cone {
                height,
                radius,
                rounding: None,
            },
            _ if is_capsule => Shape::Capsule {
                length: height,
                radius,
            },
            _ => Shape::Cylinder {
                height,
                radius,
                rounding: None,
            },
        })
    }

    /// A plane, which has no end here, in the axes of its body.
    fn plane(
        &mut self,
        prim: usize,
        kind: Kind,
        (axis, placed): (Axis, &Placement),
    ) -> Option<Piece> {
        if kind != Kind::Fixed {
            self.list(prim, "a plane that moves");
            return None;
        }
        for name in ["width", "length"] {
            if self.stage.value(prim, name).is_some() {
                self.list(prim, format!("`{name}`: planes have no end"));
            }
        }
        Some(Piece {
            shape: Shape::HalfSpace {
                normal: (placed.pose.rotation * axis.direction())
                    .to_array()
                    .to_vec(),
            },
            pose: Pose3::default(),
        })
    }

    /// A mesh by its approximation. Surfaces can't fall: what moves is solid.
    fn of_mesh(&mut self, prim: usize, surface: Surface, kind: Kind) -> Shape {
        let approximation = self.stage.token(prim, "physics:approximation");
        match approximation {
            "convexHull" => surface.into_hull(),
            "convexDecomposition" if surface.is_closed() => surface.into_mesh(true),
            "convexDecomposition" => {
                self.list(
                    prim,
                    "an open mesh can't be taken apart: it is its convex hull",
                );
                surface.into_hull()
            }
            "boundingCube" | "boundingSphere" => {
                self.list(prim, format!("`{approximation}` is its convex hull"));
                surface.into_hull()
            }
            _ => {
                if !matches!(approximation, "" | "none") {
                    self.list(prim, format!("`{approximation}`: the mesh itself is taken"));
                }
                if kind == Kind::Fixed {
                    return surface.into_mesh(false);
                }
                if !is_convex(&surface) {
                    self.list(prim, "a mesh that moves is its convex hull");
                }
                surface.into_hull()
            }
        }
    }
}

/// Whether all points are behind every triangle, within a millionth of its size. Meshes that would
/// take too long are said not to be.
fn is_convex(surface: &Surface) -> bool {
    if surface.triangles.len().saturating_mul(surface.points.len()) > MAX_CONVEX_WORK {
        return false;
    }
    let point = |row: &Vec<f64>| match row.as_slice() {
        &[x, y, z] => DVec3::new(x, y, z),
        _ => DVec3::ZERO,
    };
    let points: Vec<DVec3> = surface.points.iter().map(point).collect();
    let low = points.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = points
        .iter()
        .fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let slack = 1e-6 * (high - low).length();
    let at = |k: u32| points.get(k as usize).copied().unwrap_or_default();
    surface.triangles.iter().all(|&[a, b, c]| {
        let (a, b, c) = (at(a), at(b), at(c));
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return true;
        };
        points.iter().all(|p| (*p - a).dot(normal) <= slack)
    })
}

/// The axis of a round shape or plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// By its token; z is the schema's own.
    fn named(token: &str) -> Self {
        match token {
            "X" => Self::X,
            "Y" => Self::Y,
            _ => Self::Z,
        }
    }

    fn direction(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::Y => DVec3::Y,
            Self::Z => DVec3::Z,
        }
    }

    /// Scales along the axis and across it.
    fn split(self, scale: DVec3) -> (f64, (f64, f64)) {
        match self {
            Self::X => (scale.x, (scale.y, scale.z)),
            Self::Y => (scale.y, (scale.x, scale.z)),
            Self::Z => (scale.z, (scale.x, scale.y)),
        }
    }

    /// Turns our axis of revolution, y, into this one.
    fn turn_from_y(self) -> DQuat {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        match self {
            Self::X => DQuat::from_xyzw(0.0, 0.0, -half, half),
            Self::Y => DQuat::IDENTITY,
            Self::Z => y_to_z(),
        }
    }
}
