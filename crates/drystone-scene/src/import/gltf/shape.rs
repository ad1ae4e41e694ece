//! Shapes of `KHR_implicit_shapes`, and meshes, as colliders have them.

use drystone::glam::DVec3;

use super::document::Document;
use super::mesh;
use super::value::{NULL, Value};
use crate::error::SceneError;
use crate::export::shape::{self as export, Said};
use crate::import::surface::Surface;
use crate::schema::Shape;

/// The shape of a `geometry`, scaled. `is_fixed` meshes are surfaces, others convex hulls. What
/// differs from the file is listed.
pub(super) fn read(
    document: &Document<'_>,
    geometry: &Value,
    (place, is_fixed, scale): (&str, bool, DVec3),
    unsupported: &mut Vec<String>,
) -> Result<Shape, SceneError> {
    if let Some(index) = geometry.get("shape") {
        let list = "/extensions/KHR_implicit_shapes/shapes";
        let (number, shape) = document.element(list, index, place)?;
        let mut differs = Vec::new();
        let read = implicit(document, shape, (number, scale), &mut differs)?;
        let place = format!("KHR_implicit_shapes.shapes[{number}]");
        let extra = document.extra::<Shape>(shape, &place)?;
        let is_same = |extra: &Shape| match export::said(extra) {
            Some(Said::Implicit(said)) => {
                let said = implicit(
                    document,
                    &said.into(),
                    (number, DVec3::ONE),
                    &mut Vec::new(),
                );
                scale == DVec3::ONE && said.is_ok_and(|said| said == read)
            }
            _ => false,
        };
        return Ok(extra.filter(is_same).unwrap_or_else(|| {
            unsupported.append(&mut differs);
            read
        }));
    }
    let mesh_index = match (geometry.get("mesh"), geometry.get("node")) {
        (Some(mesh), _) => mesh,
        (None, Some(node)) => {
            let (_, node) = document.element("/nodes", node, place)?;
            let mesh = node.get("mesh");
            mesh.ok_or_else(|| document.wrong(place, "the node of its geometry has no mesh"))?
        }
        (None, None) => {
            return Err(document.wrong(place, "a geometry has a `shape` or a `node`"));
        }
    };
    let surface = mesh::surface(document, mesh_index, place)?;
    let is_hull = geometry.get("convexHull").and_then(Value::as_bool) == Some(true);
    if scale == DVec3::ONE
        && let Some(exact) = exact_mesh(document, mesh_index, (&surface, is_hull))?
    {
        return Ok(exact);
    }
    let surface = surface.scaled(scale.to_array());
    if is_hull {
        return Ok(surface.into_hull());
    }
    if is_fixed {
        return Ok(surface.into_mesh(false));
    }
    unsupported.push(format!("{place}: a mesh that moves is its convex hull"));
    Ok(surface.into_hull())
}

/// The shape that a mesh of this surface was made of, if the file says it and it still is.
fn exact_mesh(
    document: &Document<'_>,
    index: &Value,
    (surface, hull): (&Surface, bool),
) -> Result<Option<Shape>, SceneError> {
    let (number, mesh) = document.element("/meshes", index, "mesh")?;
    let extra = document.extra::<Shape>(mesh, &format!("meshes[{number}]"))?;
    let is_same = |extra: &Shape| match export::said(extra) {
        Some(Said::Mesh {
            points,
            triangles,
            is_hull,
        }) => {
            let single = |point: &[f64; 3]| point.map(|x| f64::from(x as f32)).to_vec();
            is_hull == hull
                && triangles == surface.triangles
                && points.iter().map(single).eq(surface.points.iter().cloned())
        }
        _ => false,
    };
    Ok(extra.filter(is_same))
}

fn implicit(
    document: &Document<'_>,
    shape: &Value,
    (number, scale): (usize, DVec3),
    unsupported: &mut Vec<String>,
) -> Result<Shape, SceneError> {
    let place = format!("KHR_implicit_shapes.shapes[{number}]");
    let kind = shape
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let own = shape.get(kind).unwrap_or(&NULL);
    let scale = scale.abs();
    let is_even = (scale - DVec3::splat(scale.x)).length() < 1e-9 * scale.length();
    if !is_even && kind != "box" {
        unsupported.push(format!(
            "{place}: a {kind} that is scaled unevenly stays round"
        ));
    }
    let positive = |key: &str, default: f64| match document.number(own, key, default)? {
        value if value > 0.0 => Ok(value),
        value => Err(document.wrong(&place, format!("`{key}` must be above 0 (m), not {value}"))),
    };
    Ok(match kind {
        "sphere" => Shape::Ball {
            radius: positive("radius", 0.5)? * scale.max_element(),
        },
        "box" => {
            let size = document.row::<3>(own, "size")?.unwrap_or([1.0; 3]);
            if size.iter().any(|&edge| edge <= 0.0) {
                return Err(document.wrong(&place, "`size` must be above 0 (m)"));
            }
            Shape::Box {
                size: (DVec3::from_array(size) * scale).to_array().to_vec(),
                rounding: None,
            }
        }
        "capsule" | "cylinder" => {
            let height = positive("height", 0.5)? * scale.y;
            let end = |key: &str| {
                document
                    .number(own, key, 0.25)
                    .map(|radius| radius * scale.x)
            };
            let (bottom, top) = (end("radiusBottom")?, end("radiusTop")?);
            round(document, (kind, &place), [height, bottom, top], unsupported)?
        }
        "plane" => {
            for key in ["sizeX", "sizeZ"] {
                if own.get(key).is_some() {
                    unsupported.push(format!("{place}: `{key}`: planes have no end"));
                }
            }
            Shape::HalfSpace {
                normal: vec![0.0, 1.0, 0.0],
            }
        }
        other => return Err(document.wrong(&place, format!("there is no type `{other}`"))),
    })
}

/// A capsule or cylinder, whose radii may differ.
fn round(
    document: &Document<'_>,
    (kind, place): (&str, &str),
    [height, bottom, top]: [f64; 3],
    unsupported: &mut Vec<String>,
) -> Result<Shape, SceneError> {
    let radius = bottom.max(top);
    if bottom < 0.0 || top < 0.0 || radius <= 0.0 {
        return Err(document.wrong(place, "radii must be 0 or more, one of them above 0 (m)"));
    }
    if kind == "cylinder" && top == 0.0 {
        return Ok(Shape::Cone {
            height,
            radius,
            rounding: None,
        });
    }
    if bottom != top {
        unsupported.push(format!(
            "{place}: a {kind} that tapers has its larger radius everywhere"
        ));
    }
    Ok(match kind {
        "capsule" => Shape::Capsule {
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
