//! Shapes in the plane.

use drystone::glam::DVec2;
use drystone::{D2, Shape2};

use super::check::vector;
use super::height_field::height_field;
use super::shape::{half_size, misshapen, not_here, parts, points, rounding, size, wedge_corners};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Shape;

/// The engine's shape; `path` is that of the field `shape`.
pub(super) fn shape(shape: &Shape, path: &FieldPath) -> Result<Shape2, Flaw> {
    if let Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Mesh { .. } = shape {
        return Err(not_here(shape, 2, path));
    }
    let path = &path.key(shape.key());
    let made = match shape {
        Shape::Ball { radius } => Shape2::ball(size(*radius, path.key("radius"))?),
        Shape::Box { size, .. } => Shape2::cuboid(half_size::<D2>(size, &path.key("size"))?),
        Shape::Capsule { length, radius } => Shape2::capsule(
            0.5 * size(*length, path.key("length"))?,
            size(*radius, path.key("radius"))?,
        ),
        Shape::Hull { points: given, .. } => {
            Shape2::hull(&points::<D2>(given, &path.key("points"))?)
        }
        Shape::Wedge { depth, .. } => {
            if depth.is_some() {
                return Err(Flaw::new(path.key("depth"), "a wedge in 2D has no depth"));
            }
            Shape2::hull(&wedge_corners(shape, path)?.map(DVec2::from_array))
        }
        Shape::HalfSpace { normal } => {
            Shape2::half_space(vector::<D2>(normal, &path.key("normal"))?)
        }
        Shape::Polyline {
            points: given,
            one_sided,
        } => {
            let points = points::<D2>(given, &path.key("points"))?;
            if *one_sided {
                Shape2::one_sided_polyline(points)
            } else {
                Shape2::polyline(points)
            }
        }
        Shape::HeightField { .. } => {
            let field = height_field(shape, 1, path)?;
            Shape2::height_field(field.spacing[0], &field.heights)
        }
        Shape::Compound { parts: given } => {
            Shape2::compound(&parts::<D2>(given, &path.key("parts"))?)
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Mesh { .. } => {
            return Err(not_here(shape, 2, path));
        }
    };
    let made = made.map_err(|error| misshapen(&error, path))?;
    match rounding(shape, path)? {
        Some(radius) => made
            .rounded(radius)
            .map_err(|error| misshapen(&error, path)),
        None => Ok(made),
    }
}
