//! Shapes: what is common to 2D and 3D.

use drystone::{Pose, ShapeError};

use super::check::{positive, vector, vector_or_zero};
use super::dimension::{Dimension, radians};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::{Part, Shape};

impl Shape {
    /// The key that chooses this shape in a file.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Box { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Hull { .. } => "hull",
            Self::Wedge { .. } => "wedge",
            Self::HalfSpace { .. } => "half_space",
            Self::Mesh { .. } => "mesh",
            Self::Polyline { .. } => "polyline",
            Self::HeightField { .. } => "height_field",
            Self::Compound { .. } => "compound",
        }
    }

    /// The shape with all lengths multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let all = |values: &[f64]| values.iter().map(|value| value * factor).collect();
        let each = |points: &[Vec<f64>]| points.iter().map(|point| all(point)).collect();
        let mut shape = self.clone();
        match &mut shape {
            Self::Ball { radius } => *radius *= factor,
            Self::Box { size, rounding } => {
                *size = all(size);
                *rounding = rounding.map(|radius| radius * factor);
            }
            Self::Capsule { length, radius } => {
                *length *= factor;
                *radius *= factor;
            }
            Self::Cylinder {
                height,
                radius,
                rounding,
            }
            | Self::Cone {
                height,
                radius,
                rounding,
            } => {
                *height *= factor;
                *radius *= factor;
                *rounding = rounding.map(|radius| radius * factor);
            }
            Self::Wedge {
                inner_radius,
                outer_radius,
                depth,
                ..
            } => {
                *inner_radius *= factor;
                *outer_radius *= factor;
                *depth = depth.map(|depth| depth * factor);
            }
            Self::Hull { points, rounding } => {
                *points = each(points);
                *rounding = rounding.map(|radius| radius * factor);
            }
            Self::Polyline { points, .. } | Self::Mesh { points, .. } => {
                *points = each(points);
            }
            Self::HeightField {
                size,
                heights,
                waves,
                ..
            } => {
                *size = all(size);
                *heights = each(heights);
                for wave in waves {
                    wave.height *= factor;
                    wave.length *= factor;
                }
            }
            Self::HalfSpace { .. } => {}
            Self::Compound { parts } => {
                for part in parts {
                    part.shape = part.shape.scaled(factor);
                    part.position = part.position.as_deref().map(all);
                }
            }
        }
        shape
    }
}

/// A size in m.
pub(super) fn size(value: f64, path: FieldPath) -> Result<f64, Flaw> {
    positive(value, "m", path)
}

/// The radius around a shape, m.
pub(super) fn rounding(shape: &Shape, path: &FieldPath) -> Result<Option<f64>, Flaw> {
    let given = match shape {
        Shape::Box { rounding, .. }
        | Shape::Cylinder { rounding, .. }
        | Shape::Cone { rounding, .. }
        | Shape::Hull { rounding, .. } => *rounding,
        _ => None,
    };
    given
        .map(|radius| size(radius, path.key("rounding")))
        .transpose()
}

/// Half of the edges of a box.
pub(super) fn half_size<S: Dimension>(values: &[f64], path: &FieldPath) -> Result<S::Vector, Flaw> {
    let edges = vector::<S>(values, path)?;
    for (axis, &value) in values.iter().enumerate() {
        size(value, path.index(axis))?;
    }
    Ok(edges * 0.5)
}

/// Points of the scene's dimension.
pub(super) fn points<S: Dimension>(
    values: &[Vec<f64>],
    path: &FieldPath,
) -> Result<Vec<S::Vector>, Flaw> {
    let point = |(index, values): (usize, &Vec<f64>)| vector::<S>(values, &path.index(index));
    values.iter().enumerate().map(point).collect()
}

/// A shape at a pose.
type PlacedShape<S> = (Pose<S>, <S as drystone::Space>::Shape);

/// Parts of a compound, each at its pose.
pub(super) fn parts<S: Dimension>(
    parts: &[Part],
    path: &FieldPath,
) -> Result<Vec<PlacedShape<S>>, Flaw> {
    let part = |(index, part): (usize, &Part)| {
        let path = path.index(index);
        let rotation = match &part.rotation {
            Some(rotation) => S::rotation(rotation, &path.key("rotation"))?,
            None => S::Rotation::default(),
        };
        let position = vector_or_zero::<S>(part.position.as_ref(), &path.key("position"))?;
        let shape = S::shape(&part.shape, &path.key("shape"))?;
        Ok((Pose { position, rotation }, shape))
    };
    parts.iter().enumerate().map(part).collect()
}

/// The four corners of a wedge in the plane, its origin half-way between the radii.
pub(super) fn wedge_corners(shape: &Shape, path: &FieldPath) -> Result<[[f64; 2]; 4], Flaw> {
    let Shape::Wedge {
        inner_radius,
        outer_radius,
        angle,
        ..
    } = *shape
    else {
        return Ok([[0.0; 2]; 4]);
    };
    size(inner_radius, path.key("inner_radius"))?;
    size(outer_radius, path.key("outer_radius"))?;
    if outer_radius <= inner_radius {
        let problem = format!("must be greater than inner_radius ({inner_radius} m)");
        return Err(Flaw::new(path.key("outer_radius"), problem));
    }
    if !(angle > 0.0 && angle < 180.0) {
        let problem = format!("must be more than 0 and less than 180 degrees, not {angle}");
        return Err(Flaw::new(path.key("angle"), problem));
    }
    let (sin, cos) = libm::sincos(radians(0.5 * angle));
    let middle = 0.5 * (inner_radius + outer_radius);
    let corner = |radius: f64, side: f64| [side * radius * sin, radius * cos - middle];
    Ok([
        corner(inner_radius, -1.0),
        corner(inner_radius, 1.0),
        corner(outer_radius, 1.0),
        corner(outer_radius, -1.0),
    ])
}

/// The error of the engine, at the field it is about.
pub(super) fn misshapen(error: &ShapeError, path: &FieldPath) -> Flaw {
    let at = match error {
        ShapeError::Point { index } => path.key("points").index(*index),
        ShapeError::FlatHull { .. } | ShapeError::Hull { .. } | ShapeError::Mesh(_) => {
            path.key("points")
        }
        ShapeError::Open { .. } | ShapeError::InsideOut { .. } => path.key("triangles"),
        ShapeError::Grid { .. } => path.key("heights"),
        ShapeError::Empty { what: "mesh" } => path.key("triangles"),
        ShapeError::Empty { what: "compound" } => path.key("parts"),
        ShapeError::Empty { .. } => path.key("points"),
        ShapeError::Degenerate {
            what: "segment",
            element,
            ..
        } => path.key("points").index(*element),
        ShapeError::Index { element, .. } | ShapeError::Degenerate { element, .. } => {
            path.key("triangles").index(*element)
        }
        ShapeError::Normal(_) => path.key("normal"),
        ShapeError::Part { index } => path.key("parts").index(*index),
        _ => path.clone(),
    };
    Flaw::new(at, error.to_string())
}

/// The error for a shape that the dimension does not have.
pub(super) fn not_here(shape: &Shape, dimension: u8, path: &FieldPath) -> Flaw {
    let key = shape.key();
    let instead = match (dimension, shape) {
        (2, Shape::Mesh { .. }) => "use `polyline`",
        (2, _) => {
            "use `ball`, `box`, `capsule`, `hull`, `wedge`, `half_space`, `polyline`, \
             `height_field` or `compound`"
        }
        _ => "use `mesh`",
    };
    let problem = format!("there is no `{key}` in {dimension}D");
    Flaw::new(path.key(key), problem).help(instead)
}
