//! Contact of two convex polyhedra: separating axis test, then clipping.
//!
//! Of all directions, the one along which the bodies are furthest apart (or overlap least) is
//! the normal of a face of A, the normal of a face of B, or the cross product of an edge of
//! either. A face direction gives a contact polygon: the other body's most opposed face, clipped
//! to the column above the reference face, points nearer than the margin kept. An edge
//! direction gives one point. Faces are preferred where the difference is within
//! [`FACE_PREFERENCE`], because a polygon of contact carries a stone and a point does not.
//!
//! Both polyhedra are given in A's axes, so that nothing here depends on where in the world
//! they are.

use glamx::DVec3;

use super::polyhedron::Polyhedron;

/// An edge contact must separate more than this part of the margin-scale length better than a
/// face contact to be chosen; a thousandth of the bodies' size.
pub(crate) const FACE_PREFERENCE: f64 = 1e-3;

/// A contact point in A's axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalContact {
    /// Half-way between the surfaces.
    pub(crate) position: DVec3,
    pub(crate) separation: f64,
    pub(crate) feature_a: u32,
    pub(crate) feature_b: u32,
}

/// The contacts of A and B with their common normal (from A to B), in A's axes.
pub(crate) fn contacts(
    a: &Polyhedron,
    b: &Polyhedron,
    margin: f64,
    out: &mut Vec<LocalContact>,
) -> Option<DVec3> {
    let face_a = best_face(a, b);
    if face_a.separation > margin {
        return None;
    }
    let face_b = best_face(b, a);
    if face_b.separation > margin {
        return None;
    }
    let size = size_of(a).min(size_of(b));
    let face_separation = face_a.separation.max(face_b.separation);
    if let Some(edges) = best_edges(a, b) {
        if edges.separation > margin {
            return None;
        }
        // In overlap the lesser depth wins; an edge must win clearly.
        if edges.separation > face_separation + FACE_PREFERENCE * size {
            out.push(edge_contact(a, b, &edges));
            return Some(edges.normal);
        }
    }
    // A's face unless B's separates clearly better: the choice must not flicker.
    if face_b.separation > face_a.separation + 0.1 * FACE_PREFERENCE * size {
        clip(b, face_b.face, a, margin, |c| out.push(c.swapped()));
        Some(-b.normals[face_b.face])
    } else {
        clip(a, face_a.face, b, margin, |c| out.push(c));
        Some(a.normals[face_a.face])
    }
}

impl LocalContact {
    pub(crate) fn swapped(self) -> Self {
        Self {
            feature_a: self.feature_b,
            feature_b: self.feature_a,
            ..self
        }
    }
}

fn size_of(p: &Polyhedron) -> f64 {
    match p.points.as_slice() {
        [first, rest @ ..] => rest
            .iter()
            .fold(0.0, |size: f64, q| size.max((*q - *first).length())),
        [] => 0.0,
    }
}

struct FaceAxis {
    face: usize,
    separation: f64,
}

/// The face of `a` along whose normal `b` is furthest away.
fn best_face(a: &Polyhedron, b: &Polyhedron) -> FaceAxis {
    let mut best = FaceAxis {
        face: 0,
        separation: f64::NEG_INFINITY,
    };
    for (k, &normal) in a.normals.iter().enumerate() {
        let plane = normal.dot(a.point(a.face(k)[0]));
        let separation = b.lowest(normal) - plane;
        if separation > best.separation {
            best = FaceAxis {
                face: k,
                separation,
            };
        }
    }
    best
}

struct EdgeAxis {
    edge_a: usize,
    edge_b: usize,
    normal: DVec3,
    separation: f64,
}

/// The pair of edges along whose cross product the bodies are furthest apart.
///
/// Only pairs whose cross product is the normal of a face of the Minkowski difference can be:
/// those whose arcs between face normals cross on the unit sphere (D. Gregorius, *The separating
/// axis test between convex polyhedra*, GDC 2013).
fn best_edges(a: &Polyhedron, b: &Polyhedron) -> Option<EdgeAxis> {
    let mut best: Option<EdgeAxis> = None;
    let others: Vec<Line> = (0..b.topology.edges.len())
        .map(|j| Line::of(b, j))
        .collect();
    for edge_a in 0..a.topology.edges.len() {
        let one = Line::of(a, edge_a);
        for (edge_b, other) in others.iter().enumerate() {
            if !arcs_cross(&one, other) {
                continue;
            }
            let Some((normal, separation)) = edge_axis((a, &one), (b, other)) else {
                continue;
            };
            if best.as_ref().is_none_or(|b| separation > b.separation) {
                best = Some(EdgeAxis {
                    edge_a,
                    edge_b,
                    normal,
                    separation,
                });
            }
        }
    }
    best
}

/// An edge with what the test asks of it.
struct Line {
    start: DVec3,
    along: DVec3,
    /// Normals of the faces on its two sides.
    normals: [DVec3; 2],
    /// Whether those are the sides of one sheet. Such an edge's arc of normals spans half the
    /// sphere, and any direction may lie in it.
    is_flat: bool,
}

impl Line {
    fn of(p: &Polyhedron, edge: usize) -> Self {
        let edge = &p.topology.edges[edge];
        let start = p.point(edge.ends[0]);
        let normals = edge.faces.map(|f| p.normals[f as usize]);
        Self {
            start,
            along: p.point(edge.ends[1]) - start,
            normals,
            is_flat: normals[0].dot(normals[1]) < -0.999_999,
        }
    }
}

/// The direction across two edges, out of A, and how far apart the bodies are along it.
fn edge_axis(
    (a, one): (&Polyhedron, &Line),
    (b, other): (&Polyhedron, &Line),
) -> Option<(DVec3, f64)> {
    let cross = one.along.cross(other.along);
    // Nearly parallel edges have no direction of their own; a face has it.
    let length_squared = cross.length_squared();
    if length_squared < 1e-6 * one.along.length_squared() * other.along.length_squared() {
        return None;
    }
    let normal = cross * (1.0 / length_squared.sqrt());
    if one.is_flat || other.is_flat {
        // The arcs told nothing, so the edges need not support: project the bodies.
        let forth = b.lowest(normal) + a.lowest(-normal);
        let back = b.lowest(-normal) + a.lowest(normal);
        return Some(if back > forth {
            (-normal, back)
        } else {
            (normal, forth)
        });
    }
    // Out of A: along the mean of the faces beside its edge.
    let normal = if normal.dot(one.normals[0] + one.normals[1]) < 0.0 {
        -normal
    } else {
        normal
    };
    Some((normal, normal.dot(other.start - one.start)))
}

/// Whether the arc between A's face normals crosses the arc between B's **negated** normals.
/// The plane of an arc is perpendicular to its edge, which spares the cross products.
#[inline]
fn arcs_cross(a: &Line, b: &Line) -> bool {
    if a.is_flat || b.is_flat {
        return true;
    }
    let [n0, n1] = a.normals;
    if n0.dot(b.along) * n1.dot(b.along) >= 0.0 {
        return false;
    }
    let [m0, m1] = b.normals.map(|n| -n);
    m0.dot(a.along) * m1.dot(a.along) < 0.0 && same_hemisphere((n0, n1), (m0, m1))
}

/// Two great-circle arcs that cross each other's planes meet only if they are on one side of
/// the sphere: their mid-directions must not be opposed.
fn same_hemisphere(a: (DVec3, DVec3), b: (DVec3, DVec3)) -> bool {
    // The crossing of the planes, oriented to lie within arc a, must lie within arc b.
    let crossing = a.0.cross(a.1).cross(b.0.cross(b.1));
    let side = crossing.dot(a.0 + a.1);
    side * crossing.dot(b.0 + b.1) > 0.0
}

fn edge_contact(a: &Polyhedron, b: &Polyhedron, axis: &EdgeAxis) -> LocalContact {
    let (one, other) = (Line::of(a, axis.edge_a), Line::of(b, axis.edge_b));
    let (s, t) = closest_on_lines(&one, &other);
    let on_a = one.start + one.along * s.clamp(0.0, 1.0);
    let on_b = other.start + other.along * t.clamp(0.0, 1.0);
    LocalContact {
        position: (on_a + on_b) * 0.5,
        separation: axis.separation,
        feature_a: EDGE | axis.edge_a as u32,
        feature_b: EDGE | axis.edge_b as u32,
    }
}

/// Parameters of the closest points of two lines, 0 and 1 at the ends of the edges.
fn closest_on_lines(one: &Line, other: &Line) -> (f64, f64) {
    let (d, e) = (one.along, other.along);
    let w = other.start - one.start;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let det = dd * ee - de * de;
    let (wd, we) = (w.dot(d), w.dot(e));
    ((wd * ee - we * de) / det, (wd * de - we * dd) / det)
}

/// Kinds of features, in the top bits of a feature number.
pub(crate) const EDGE: u32 = 1 << 30;
pub(crate) const CORNER: u32 = 2 << 30;
pub(crate) const CUT: u32 = 3 << 30;

/// A corner of the polygon that is being clipped.
#[derive(Clone, Copy)]
struct Clipped {
    point: DVec3,
    /// Feature of the incident body.
    incident: u32,
    /// Feature of the reference body.
    reference: u32,
}

/// Clips the incident face of `other` to the column above a face of `reference`.
pub(crate) fn clip(
    reference: &Polyhedron,
    face: usize,
    other: &Polyhedron,
    margin: f64,
    mut emit: impl FnMut(LocalContact),
) {
    let corners = reference.face(face);
    let normal = reference.normals[face];
    let incident = other.face(other.face_towards(-normal));
    let mut polygon: Vec<Clipped> = incident
        .iter()
        .map(|&k| Clipped {
            point: other.point(k),
            incident: CORNER | k,
            reference: face as u32,
        })
        .collect();

    let count = corners.len();
    for k in 0..count {
        let from = reference.point(corners[k]);
        let to = reference.point(corners[(k + 1) % count]);
        let outward = (to - from).cross(normal);
        let Some(outward) = outward.try_normalize() else {
            continue;
        };
        polygon = clip_by_plane(&polygon, outward, from, CUT | corners[k]);
    }

    let plane = normal.dot(reference.point(corners[0]));
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
fn clip_by_plane(polygon: &[Clipped], outward: DVec3, on: DVec3, feature: u32) -> Vec<Clipped> {
    let mut kept = Vec::with_capacity(polygon.len() + 2);
    let tolerance = 1e-6
        * polygon
            .iter()
            .fold(0.0, |m: f64, c| m.max((c.point - on).length()));
    for (k, &current) in polygon.iter().enumerate() {
        let next = polygon[(k + 1) % polygon.len()];
        let d0 = outward.dot(current.point - on);
        let d1 = outward.dot(next.point - on);
        if d0 <= tolerance {
            kept.push(current);
        }
        if (d0 <= tolerance) != (d1 <= tolerance) {
            let t = (d0 / (d0 - d1)).clamp(0.0, 1.0);
            kept.push(Clipped {
                point: current.point + (next.point - current.point) * t,
                incident: current.incident,
                reference: feature,
            });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::{DPose3, DQuat};

    fn on_top(offset: DVec3, rotation: DQuat, margin: f64) -> (Option<DVec3>, Vec<LocalContact>) {
        let a = Polyhedron::cuboid(DVec3::splat(0.5));
        let pose = DPose3::from_parts(offset, rotation);
        let mut out = Vec::new();
        let normal = contacts(&a, &a.transformed(&pose), margin, &mut out);
        (normal, out)
    }

    #[test]
    fn aligned_boxes_touch_in_their_four_corners() {
        for gap in [-1e-3, -1e-12, 0.0, 1e-12, 1e-3] {
            let (normal, points) = on_top(DVec3::new(0.0, 1.0 + gap, 0.0), DQuat::IDENTITY, 0.01);
            assert_eq!(normal, Some(DVec3::Y));
            assert_eq!(points.len(), 4, "gap {gap}");
            assert!(points.iter().all(|p| (p.separation - gap).abs() < 1e-15));
        }
    }

    #[test]
    fn a_box_turned_by_45_degrees_touches_in_eight_corners() {
        let turn = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_4);
        let (_, points) = on_top(DVec3::new(0.0, 1.0, 0.0), turn, 0.01);
        assert_eq!(points.len(), 8);
        let mut ids: Vec<_> = points.iter().map(|p| (p.feature_a, p.feature_b)).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 8, "identifiers must differ");
    }

    #[test]
    fn crossed_edges_touch_in_one_point() {
        // Two boxes balanced edge on edge, the edges at right angles.
        let a = Polyhedron::cuboid(DVec3::splat(0.5)).transformed(&DPose3::from_rotation(
            DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4),
        ));
        let height = 2.0 * 0.5_f64.sqrt() - 0.01;
        let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let b = Polyhedron::cuboid(DVec3::splat(0.5))
            .transformed(&DPose3::from_parts(DVec3::new(0.0, height, 0.0), turn));
        let mut out = Vec::new();
        let normal = contacts(&a, &b, 0.0, &mut out).unwrap();
        assert!((normal - DVec3::Y).length() < 1e-12);
        assert_eq!(out.len(), 1);
        assert!((out[0].separation + 0.01).abs() < 1e-12);
        assert!((out[0].position - DVec3::new(0.0, height / 2.0, 0.0)).length() < 1e-12);
    }

    #[test]
    fn boxes_side_by_side_beyond_the_margin_do_not_touch() {
        assert!(
            on_top(DVec3::new(0.0, 1.02, 0.0), DQuat::IDENTITY, 0.01)
                .1
                .is_empty()
        );
        assert!(
            on_top(DVec3::new(1.5, 1.5, 0.0), DQuat::IDENTITY, 0.6)
                .1
                .is_empty()
        );
    }
}
