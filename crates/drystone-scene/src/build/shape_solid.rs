//! Shapes in space.

use drystone::glam::DVec3;
use drystone::{D3, Shape3};

use super::check::vector;
use super::shape::{half_size, misshapen, not_here, parts, points, size, wedge_corners};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Shape;

/// The engine's shape; `path` is that of the field `shape`.
pub(super) fn shape(shape: &Shape, path: &FieldPath) -> Result<Shape3, Flaw> {
    if matches!(shape, Shape::Polyline { .. }) {
        return Err(not_here(shape, 3, path));
    }
    let path = &path.key(shape.key());
    let made = match shape {
        Shape::Ball { radius } => Shape3::ball(size(*radius, path.key("radius"))?),
        Shape::Box { size } => Shape3::cuboid(half_size::<D3>(size, &path.key("size"))?),
        Shape::Capsule { length, radius } => Shape3::capsule(
            0.5 * size(*length, path.key("length"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Cylinder { height, radius } => Shape3::cylinder(
            0.5 * size(*height, path.key("height"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Cone { height, radius } => Shape3::cone(
            0.5 * size(*height, path.key("height"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Hull { points: given } => Shape3::hull(&points::<D3>(given, &path.key("points"))?),
        Shape::Wedge { depth, .. } => wedge(shape, *depth, path)?,
        Shape::HalfSpace { normal } => {
            Shape3::half_space(vector::<D3>(normal, &path.key("normal"))?)
        }
        Shape::Mesh {
            points: given,
            triangles,
        } => Shape3::mesh(points::<D3>(given, &path.key("points"))?, triangles.clone()),
        Shape::Compound { parts: given } => {
            Shape3::compound(&parts::<D3>(given, &path.key("parts"))?)
        }
        Shape::Polyline { .. } => return Err(not_here(shape, 3, path)),
    };
    made.map_err(|error| misshapen(&error, path))
}

fn wedge(
    shape: &Shape,
    depth: Option<f64>,
    path: &FieldPath,
) -> Result<Result<Shape3, drystone::ShapeError>, Flaw> {
    let Some(depth) = depth else {
        let flaw = Flaw::new(path.clone(), "a wedge in 3D needs its `depth` along z");
        return Err(flaw.help("add, for example, `depth = 0.5` (m)"));
    };
    let half = 0.5 * size(depth, path.key("depth"))?;
    let corners = wedge_corners(shape, path)?;
    let corner = |z: f64| corners.map(|[x, y]| DVec3::new(x, y, z));
    Ok(Shape3::hull(&[corner(-half), corner(half)].concat()))
}
