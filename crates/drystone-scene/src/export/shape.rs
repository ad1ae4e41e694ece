//! Shapes: what `KHR_implicit_shapes` has a word for, and meshes of the rest.

use drystone_frame::Form;
use serde_json::{Value, json};

use crate::build::drawn_parts;
use crate::schema::Shape;

/// A shape as glTF has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// By its name and measures.
    Implicit(Value),
    /// As triangles, or the hull around them.
    Mesh {
        points: Vec<[f64; 3]>,
        triangles: Vec<[u32; 3]>,
        is_hull: bool,
    },
}

/// A single shape as glTF has it; `None` for compounds and what can't be drawn. Rounded shapes are
/// said to be the larger ones around them.
pub(crate) fn said(shape: &Shape) -> Option<Said> {
    Some(match shape {
        Shape::Ball { radius } => implicit("sphere", json!({ "radius": radius })),
        Shape::Box { size, rounding } => {
            let reach = 2.0 * rounding.unwrap_or(0.0);
            let size: Vec<f64> = size.iter().map(|edge| edge + reach).collect();
            implicit("box", json!({ "size": size }))
        }
        Shape::Capsule { length, radius } => round("capsule", *length, [*radius; 2]),
        Shape::Cylinder {
            height,
            radius,
            rounding,
        } => {
            let reach = rounding.unwrap_or(0.0);
            round("cylinder", height + 2.0 * reach, [radius + reach; 2])
        }
        Shape::Cone {
            height,
            radius,
            rounding,
        } => {
            let reach = rounding.unwrap_or(0.0);
            round("cylinder", height + 2.0 * reach, [radius + reach, 0.0])
        }
        Shape::HalfSpace { .. } => implicit("plane", json!({})),
        Shape::Mesh {
            points, triangles, ..
        } => Said::Mesh {
            points: points
                .iter()
                .map(|point| <[f64; 3]>::try_from(point.as_slice()).ok())
                .collect::<Option<_>>()?,
            triangles: triangles.clone(),
            is_hull: false,
        },
        Shape::Hull { .. } | Shape::Wedge { .. } | Shape::HeightField { .. } => {
            let is_hull = !matches!(shape, Shape::HeightField { .. });
            let parts = drawn_parts(shape)?;
            let Some(Form::Mesh { points, triangles }) = parts.into_iter().next().map(|p| p.form)
            else {
                return None;
            };
            Said::Mesh {
                points,
                triangles,
                is_hull,
            }
        }
        Shape::Polyline { .. } | Shape::Compound { .. } => return None,
    })
}

/// Whether glTF says all there is to a shape.
pub(crate) fn is_all(shape: &Shape) -> bool {
    match shape {
        Shape::Ball { .. } | Shape::Capsule { .. } => true,
        Shape::Box { rounding, .. }
        | Shape::Cylinder { rounding, .. }
        | Shape::Cone { rounding, .. } => rounding.is_none(),
        Shape::HalfSpace { normal } => normal.as_slice() == [0.0, 1.0, 0.0],
        _ => false,
    }
}

fn implicit(kind: &str, measures: Value) -> Said {
    Said::Implicit(json!({ "type": kind, kind: measures }))
}

fn round(kind: &str, height: f64, [bottom, top]: [f64; 2]) -> Said {
    implicit(
        kind,
        json!({ "height": height, "radiusBottom": bottom, "radiusTop": top }),
    )
}
