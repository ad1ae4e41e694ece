//! Contact of two boxes: the same answer as for any two polyhedra, much faster.
//!
//! The separating axis test of boxes needs no corners: along an axis, a box with half-edges h
//! reaches $\sum_k h_k |a_k\cdot n|$ from its centre. Six face normals and nine cross products of
//! edges are tried (S. Gottschalk, M. Lin and D. Manocha, *OBBTree*, 1996). The incident face is
//! clipped to the rectangle of the reference face in two coordinates.
//!
//! Preferences and identifiers follow [`super::polyhedron_sat`].

use glamx::{DMat3, DPose3, DVec3};

use super::polyhedron_sat::{CORNER, CUT, EDGE, FACE_PREFERENCE, LocalContact};

/// A direction along which boxes may be apart.
#[derive(Clone, Copy)]
struct Axis {
    /// Separation along it, m.
    separation: f64,
    /// Which axis: of A or of B for faces, of both for edges.
    a: usize,
    b: usize,
}

/// The contacts of box A and box B, whose pose is given in A's axes, with their common normal
/// from A to B in A's axes.
pub(crate) fn contacts(
    half: [DVec3; 2],
    b_in_a: &DPose3,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> Option<DVec3> {
    let [ha, hb] = half;
    let rotation = DMat3::from_quat(b_in_a.rotation);
    let between = b_in_a.translation;
    let columns = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let face_a = best_face(between, ha, |i| {
        hb.x * columns[0][i].abs() + hb.y * columns[1][i].abs() + hb.z * columns[2][i].abs()
    });
    if face_a.separation > margin {
        return None;
    }
    let between_in_b = rotation.transpose() * between;
    let face_b = best_face(between_in_b, hb, |j| ha.dot(columns[j].abs()));
    if face_b.separation > margin {
        return None;
    }
    let size = 2.0 * ha.length().min(hb.length());
    let face = face_a.separation.max(face_b.separation);
    if let Some((edges, normal)) = best_edges(&columns, between, half) {
        if edges.separation > margin {
            return None;
        }
        if edges.separation > face + FACE_PREFERENCE * size {
            emit(edge_contact(&columns, between, half, &edges, normal));
            return Some(normal);
        }
    }
    if face_b.separation > face_a.separation + 0.1 * FACE_PREFERENCE * size {
        // B's face is the reference: work in B's axes and bring the points back.
        let a_in_b = b_in_a.inverse();
        let normal = clip(face_b.a, [hb, ha], &a_in_b, margin, &mut |c| {
            emit(LocalContact {
                position: b_in_a.transform_point(c.position),
                separation: c.separation,
                feature_a: c.feature_b,
                feature_b: c.feature_a,
            });
        });
        Some(-(rotation * normal))
    } else {
        Some(clip(face_a.a, half, b_in_a, margin, emit))
    }
}

/// The face direction of a box along which the other is furthest away; `reach` is how far the
/// other reaches from its own centre along axis k.
fn best_face(between: DVec3, half: DVec3, reach: impl Fn(usize) -> f64) -> Axis {
    let mut best = Axis {
        separation: f64::NEG_INFINITY,
        a: 0,
        b: 0,
    };
    for k in 0..3 {
        let separation = between[k].abs() - half[k] - reach(k);
        if separation > best.separation {
            best = Axis {
                separation,
                a: k,
                b: 0,
            };
        }
    }
    best
}

/// The pair of edge directions across which the boxes are furthest apart, with the normal.
fn best_edges(columns: &[DVec3; 3], between: DVec3, [ha, hb]: [DVec3; 2]) -> Option<(Axis, DVec3)> {
    let mut best: Option<(Axis, DVec3)> = None;
    for (b, along_b) in columns.iter().enumerate() {
        for a in 0..3 {
            let cross = DVec3::AXES[a].cross(*along_b);
            let square = cross.length_squared();
            // Nearly parallel edges have no direction of their own; a face has it.
            if square < 1e-6 {
                continue;
            }
            let normal = cross * (1.0 / square.sqrt());
            let reach_a = ha.dot(normal.abs());
            let reach_b = (0..3).fold(0.0, |sum, k| sum + hb[k] * columns[k].dot(normal).abs());
            let along = between.dot(normal);
            let separation = along.abs() - reach_a - reach_b;
            if best.is_none_or(|(axis, _)| separation > axis.separation) {
                let outward = if along < 0.0 { -normal } else { normal };
                best = Some((Axis { separation, a, b }, outward));
            }
        }
    }
    best
}

/// The point between two crossing edges.
fn edge_contact(
    columns: &[DVec3; 3],
    between: DVec3,
    [ha, hb]: [DVec3; 2],
    axis: &Axis,
    normal: DVec3,
) -> LocalContact {
    // The edge of A that lies furthest along the normal, and that of B furthest against it.
    let mut on_a = DVec3::ZERO;
    let (mut edge_a, mut edge_b) = (4 * axis.a as u32, 4 * axis.b as u32);
    let mut bit = 1;
    for k in (0..3).filter(|&k| k != axis.a) {
        let sign = if normal[k] >= 0.0 { 1.0 } else { -1.0 };
        on_a[k] = sign * ha[k];
        edge_a += if sign > 0.0 { bit } else { 0 };
        bit *= 2;
    }
    let mut on_b = between;
    bit = 1;
    for k in (0..3).filter(|&k| k != axis.b) {
        let sign = if columns[k].dot(normal) <= 0.0 {
            1.0
        } else {
            -1.0
        };
        on_b += columns[k] * (sign * hb[k]);
        edge_b += if sign > 0.0 { bit } else { 0 };
        bit *= 2;
    }
    // Closest points of the two lines: unit directions.
    let (d, e) = (DVec3::AXES[axis.a], columns[axis.b]);
    let w = on_b - on_a;
    let de = d.dot(e);
    let det = (1.0 - de * de).max(1e-12);
    let (wd, we) = (w.dot(d), w.dot(e));
    let s = ((wd - we * de) / det).clamp(-ha[axis.a], ha[axis.a]);
    let t = ((wd * de - we) / det).clamp(-hb[axis.b], hb[axis.b]);
    LocalContact {
        position: (on_a + d * s + on_b + e * t) * 0.5,
        separation: axis.separation,
        feature_a: EDGE | edge_a,
        feature_b: EDGE | edge_b,
    }
}

/// A corner of the polygon that is being clipped: two coordinates in the face and the height.
#[derive(Clone, Copy, Default)]
struct Clipped {
    at: [f64; 2],
    height: f64,
    incident: u32,
    reference: u32,
}

/// Clips the incident face of `other` to the face of the reference box along ±`axis`, all in the
/// reference box's axes. Returns the face's normal.
fn clip(
    axis: usize,
    [half, other_half]: [DVec3; 2],
    other: &DPose3,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> DVec3 {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let sign = if other.translation[axis] >= 0.0 {
        1.0
    } else {
        -1.0
    };
    let normal = DVec3::AXES[axis] * sign;
    let rotation = DMat3::from_quat(other.rotation);
    let columns = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let (mut polygon, mut spare) = ([Clipped::default(); 8], [Clipped::default(); 8]);
    let face = 2 * axis + usize::from(sign > 0.0);
    for (place, &id) in polygon.iter_mut().zip(incident_face(&columns, normal)) {
        let point = other.transform_point(corner(id, other_half));
        *place = Clipped {
            at: [point[u], point[v]],
            height: sign * point[axis] - half[axis],
            incident: CORNER | id,
            reference: face as u32,
        };
    }
    let mut count = 4;
    // A millionth of the face: boxes that are turned by rounding alone must not get two points in
    // one place, which would share the load anew in every step.
    let tolerance = 1e-6 * (half[u] + half[v]);
    let corners = FACES[face];
    for k in 0..4 {
        let (from, to) = (corners[k], corners[(k + 1) % 4]);
        // The side on which both ends of the edge are.
        let coordinate = usize::from((from ^ to) >> u & 1 == 1);
        let across = [u, v][coordinate];
        let side = if from >> across & 1 == 1 { 1.0 } else { -1.0 };
        let distance = |c: &Clipped| side * c.at[coordinate] - half[across];
        if polygon[..count].iter().all(|c| distance(c) <= tolerance) {
            continue;
        }
        count = cut(
            &polygon[..count],
            &mut spare,
            tolerance,
            CUT | from,
            &distance,
        );
        std::mem::swap(&mut polygon, &mut spare);
    }
    for corner in &polygon[..count] {
        if corner.height <= margin {
            let mut position = DVec3::ZERO;
            position[u] = corner.at[0];
            position[v] = corner.at[1];
            position[axis] = sign * (half[axis] + 0.5 * corner.height);
            emit(LocalContact {
                position,
                separation: corner.height,
                feature_a: corner.reference,
                feature_b: corner.incident,
            });
        }
    }
    normal
}

/// Corners of the faces −x, x, −y, y, −z, z, counter-clockwise from outside. Bit j of a corner says
/// on which side of axis j it is.
const FACES: [[u32; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// Where a corner is in the box's axes.
fn corner(id: u32, half: DVec3) -> DVec3 {
    let sign = |axis: u32| if id >> axis & 1 == 1 { 1.0 } else { -1.0 };
    DVec3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
}

/// The corners of the face that faces `normal` most.
fn incident_face(columns: &[DVec3; 3], normal: DVec3) -> &'static [u32; 4] {
    let along = [0, 1, 2].map(|k| columns[k].dot(normal));
    let mut axis = 0;
    for k in 1..3 {
        if along[k].abs() > along[axis].abs() {
            axis = k;
        }
    }
    &FACES[2 * axis + usize::from(along[axis] < 0.0)]
}

/// Sutherland and Hodgman's clip by one line; a rectangle clipped by a rectangle has at most eight
/// corners.
fn cut(
    polygon: &[Clipped],
    kept: &mut [Clipped; 8],
    tolerance: f64,
    feature: u32,
    distance: &impl Fn(&Clipped) -> f64,
) -> usize {
    let mut count = 0;
    let mut keep = |corner: Clipped| {
        if let Some(place) = kept.get_mut(count) {
            *place = corner;
            count += 1;
        }
    };
    for (k, current) in polygon.iter().enumerate() {
        let next = &polygon[(k + 1) % polygon.len()];
        let (d0, d1) = (distance(current), distance(next));
        if d0 <= tolerance {
            keep(*current);
        }
        if (d0 <= tolerance) != (d1 <= tolerance) {
            let t = (d0 / (d0 - d1)).clamp(0.0, 1.0);
            let mix = |a: f64, b: f64| a + (b - a) * t;
            keep(Clipped {
                at: [
                    mix(current.at[0], next.at[0]),
                    mix(current.at[1], next.at[1]),
                ],
                height: mix(current.height, next.height),
                incident: current.incident,
                reference: feature,
            });
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::polyhedron::Polyhedron;
    use super::super::polyhedron_sat;
    use super::*;
    use glamx::DQuat;
    use proptest::prelude::*;

    fn fast(half: [DVec3; 2], pose: &DPose3, margin: f64) -> (Option<DVec3>, Vec<LocalContact>) {
        let mut points = Vec::new();
        let normal = contacts(half, pose, margin, &mut |p| points.push(p));
        (normal, points)
    }

    fn slow(half: [DVec3; 2], pose: &DPose3, margin: f64) -> (Option<DVec3>, Vec<LocalContact>) {
        let [a, b] = half.map(Polyhedron::cuboid);
        let mut points = Vec::new();
        let normal = polyhedron_sat::contacts(&a, &b, pose, margin, &mut |p| points.push(p));
        (normal, points)
    }

    fn extent() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(0.2..2.0).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn boxes_touch_as_polyhedra_do(
            half in [extent(), extent()],
            at in prop::array::uniform3(-2.5..2.5),
            axis in prop::array::uniform3(-1.0..1.0),
            angle in -3.0..3.0,
        ) {
            let axis = DVec3::from_array(axis).normalize_or(DVec3::X);
            let rotation = DQuat::from_axis_angle(axis, angle);
            let pose = DPose3::from_parts(DVec3::from_array(at), rotation);
            let (normal, mut points) = fast(half, &pose, 0.05);
            let (expected, mut oracle) = slow(half, &pose, 0.05);
            prop_assert_eq!(normal.is_some(), expected.is_some());
            let (Some(normal), Some(expected)) = (normal, expected) else { return Ok(()) };
            // Two directions may separate equally well; then either is right.
            let depth = |list: &[LocalContact]| list
                .iter()
                .fold(f64::INFINITY, |d, p| d.min(p.separation));
            if normal.distance(expected) > 1e-9 {
                let slack = 2e-3 * half[0].length().min(half[1].length());
                prop_assert!((depth(&points) - depth(&oracle)).abs() < 0.1 + slack);
                return Ok(());
            }
            prop_assert_eq!(points.len(), oracle.len());
            let key = |p: &LocalContact| p.position.dot(DVec3::new(1.0, 1.37, 1.91));
            points.sort_by(|p, q| key(p).total_cmp(&key(q)));
            oracle.sort_by(|p, q| key(p).total_cmp(&key(q)));
            for (p, q) in points.iter().zip(&oracle) {
                prop_assert!(p.position.distance(q.position) < 1e-9);
                prop_assert!((p.separation - q.separation).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn aligned_boxes_touch_in_their_four_corners() {
        let half = [DVec3::splat(0.5); 2];
        for gap in [-1e-3, -1e-12, 0.0, 1e-12, 1e-3] {
            let pose = DPose3::from_translation(DVec3::new(0.5, 1.0 + gap, 0.0));
            let (normal, points) = fast(half, &pose, 0.01);
            assert_eq!(normal, Some(DVec3::Y));
            assert_eq!(points.len(), 4, "gap {gap}");
        }
    }
}
