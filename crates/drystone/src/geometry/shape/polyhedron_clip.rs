//! Clipping of a face to the column above another polyhedron's face: the contact polygon.

use glamx::DVec3;
use smallvec::SmallVec;

use super::polyhedron::Polyhedron;
use super::polyhedron_sat::{CORNER, CUT, LocalContact, Placement};

/// A corner of the polygon that is being clipped.
#[derive(Clone, Copy)]
struct Clipped {
    point: DVec3,
    /// Feature of the incident body.
    incident: u32,
    /// Feature of the reference body.
    reference: u32,
}

type Polygon = SmallVec<[Clipped; 16]>;

/// Clips the face of `other` that is most opposed to a face of `reference` to the column above that;
/// all in the axes of `reference`, which `other` is placed in.
pub(crate) fn clip(
    reference: &Polyhedron,
    face: usize,
    (other, placed): (&Polyhedron, &Placement),
    margin: f64,
    mut emit: impl FnMut(LocalContact),
) {
    let corners = reference.face(face);
    let normal = reference.normals[face];
    let incident = other.face(other.face_towards(placed.turn_back(-normal)));
    let mut polygon: Polygon = incident
        .iter()
        .map(|&k| Clipped {
            point: placed.point(other.point(k)),
            incident: CORNER | k,
            reference: face as u32,
        })
        .collect();
    let mut spare = Polygon::new();
    let count = corners.len();
    for k in 0..count {
        let from = reference.point(corners[k]);
        let to = reference.point(corners[(k + 1) % count]);
        let outward = (to - from).cross(normal);
        let Some(outward) = outward.try_normalize() else {
            continue;
        };
        clip_by_plane(&polygon, (outward, from), CUT | corners[k], &mut spare);
        std::mem::swap(&mut polygon, &mut spare);
    }
    let plane = reference.heights[face];
    for corner in polygon {
        let separation = normal.dot(corner.point) - plane;
        if separation <= margin {
            emit(LocalContact {
                position: corner.point - normal * (0.5 * separation),
                separation,
                feature_a: corner.reference,
                feature_b: corner.incident,
            });
        }
    }
}

/// Sutherland and Hodgman's clip by one plane. A corner within a millionth of the edge counts
/// as inside, so that exactly aligned faces keep their own corners.
fn clip_by_plane(
    polygon: &[Clipped],
    (outward, on): (DVec3, DVec3),
    feature: u32,
    kept: &mut Polygon,
) {
    kept.clear();
    let furthest = polygon
        .iter()
        .fold(0.0, |m: f64, c| m.max((c.point - on).length_squared()));
    let tolerance = 1e-6 * furthest.sqrt();
    let heights: SmallVec<[f64; 16]> = polygon.iter().map(|c| outward.dot(c.point - on)).collect();
    for (k, &current) in polygon.iter().enumerate() {
        let after = if k + 1 == polygon.len() { 0 } else { k + 1 };
        let (d0, d1) = (heights[k], heights[after]);
        if d0 <= tolerance {
            kept.push(current);
        }
        if (d0 <= tolerance) != (d1 <= tolerance) {
            let t = (d0 / (d0 - d1)).clamp(0.0, 1.0);
            kept.push(Clipped {
                point: current.point + (polygon[after].point - current.point) * t,
                incident: current.incident,
                reference: feature,
            });
        }
    }
}
