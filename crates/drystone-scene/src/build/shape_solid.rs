//! Shapes in space.

use drystone::glam::{DVec2, DVec3};
use drystone::{D3, Decomposition, Shape3};

use super::check::vector;
use super::height_field::height_field;
use super::shape::{half_size, misshapen, not_here, parts, points, rounding, size, wedge_corners};
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
        Shape::Box { size, .. } => Shape3::cuboid(half_size::<D3>(size, &path.key("size"))?),
        Shape::Capsule { length, radius } => Shape3::capsule(
            0.5 * size(*length, path.key("length"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Cylinder { height, radius, .. } => Shape3::cylinder(
            0.5 * size(*height, path.key("height"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Cone { height, radius, .. } => Shape3::cone(
            0.5 * size(*height, path.key("height"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Hull { points: given, .. } => {
            Shape3::hull(&points::<D3>(given, &path.key("points"))?)
        }
        Shape::Wedge { depth, .. } => wedge(shape, *depth, path)?,
        Shape::HalfSpace { normal } => {
            Shape3::half_space(vector::<D3>(normal, &path.key("normal"))?)
        }
        Shape::Mesh { .. } => mesh(shape, path)?,
        Shape::HeightField { .. } => {
            let field = height_field(shape, 2, path)?;
            let spacing = DVec2::new(field.spacing[0], field.spacing[1]);
            Shape3::height_field(spacing, field.columns, &field.heights)
        }
        Shape::Compound { parts: given } => {
            Shape3::compound(&parts::<D3>(given, &path.key("parts"))?)
        }
        Shape::Polyline { .. } => return Err(not_here(shape, 3, path)),
    };
    let made = made.map_err(|error| misshapen(&error, path))?;
    match rounding(shape, path)? {
        Some(radius) => made
            .rounded(radius)
            .map_err(|error| misshapen(&error, path)),
        None => Ok(made),
    }
}

/// The engine's answer to a field, which may be an error at another field.
type Made = Result<Shape3, drystone::ShapeError>;

fn mesh(shape: &Shape, path: &FieldPath) -> Result<Made, Flaw> {
    let Shape::Mesh {
        points: given,
        triangles,
        file,
        one_sided,
        decompose,
    } = shape
    else {
        return Err(not_here(shape, 3, path));
    };
    if file.is_some() {
        let problem = if given.is_empty() && triangles.is_empty() {
            "a mesh can be in a file of its own only if the scene is read from a file"
        } else {
            "a mesh has either a file or points and triangles, not both"
        };
        return Err(Flaw::new(path.key("file"), problem));
    }
    if *one_sided && *decompose {
        let flaw = Flaw::new(
            path.key("one_sided"),
            "a mesh that is decomposed is a solid",
        );
        return Err(flaw.help("leave out one of `one_sided` and `decompose`"));
    }
    let points = points::<D3>(given, &path.key("points"))?;
    Ok(if *decompose {
        Shape3::solid_mesh(&points, triangles, &Decomposition::default())
    } else if *one_sided {
        Shape3::one_sided_mesh(points, triangles.clone())
    } else {
        Shape3::mesh(points, triangles.clone())
    })
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
