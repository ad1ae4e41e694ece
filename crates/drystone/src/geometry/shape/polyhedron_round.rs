//! Contact of balls and capsules with polyhedra.
//!
//! A ball or capsule is all that is near a point or a segment, so what counts are the closest
//! points of that segment and the polyhedron. Apart, one of these is closest: an end and a face,
//! an end and a corner or edge, the segment and an edge. All are tried, faces first. A segment
//! that cuts the polyhedron leaves it along the normal of a face or across an edge, as in
//! [`super::polyhedron_sat`]. Boxes have a way of their own, [`super::box_segment`].
//!
//! A capsule that lies on a face is held at both ends of what of it is over the face. As with
//! polyhedra, the face is preferred where it separates less by no more than a thousandth of the
//! size: two points carry a capsule and one does not.

use glamx::DVec3;

use super::box_segment;
use super::point_segment::closest_on_segment;
use super::polyhedron::Polyhedron;
use super::polyhedron_sat::{CORNER, CUT, EDGE, FACE_PREFERENCE, LocalContact};
use super::segment_segment::{Rod, closest_of_segments};

/// The closest points of a polyhedron and a segment, in the polyhedron's axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Unit vector from the polyhedron to the segment.
    pub(crate) normal: DVec3,
    /// Negative if the segment cuts the polyhedron.
    pub(crate) distance: f64,
    /// Where on the segment, 0 to 1.
    pub(crate) along: f64,
    pub(crate) on_segment: DVec3,
    /// Which feature of the polyhedron.
    pub(crate) feature: u32,
}

/// A polyhedron with a radius around it, and the half-edges if it is a box around its origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) hull: &'a Polyhedron,
    pub(crate) half: Option<DVec3>,
    pub(crate) rounding: f64,
}

/// The contacts of a polyhedron (A) and a rod (B), both in A's axes, with the normal from A to B.
pub(crate) fn contacts(
    a: &Block<'_>,
    b: &Rod<DVec3>,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> Option<DVec3> {
    let radii = a.rounding + b.radius;
    let nearest = match a.half {
        Some(half) => box_segment::nearest(half, b.ends),
        None => nearest(a.hull, b.ends, margin + radii)?,
    };
    if nearest.distance - radii > margin {
        return None;
    }
    let shift = a.rounding - b.radius;
    let mut point = |normal: DVec3, (on, height): (DVec3, f64), features: [u32; 2]| {
        if height - radii <= margin {
            emit(LocalContact {
                position: on + normal * (0.5 * (shift - height)),
                separation: height - radii,
                feature_a: features[0],
                feature_b: features[1],
            });
        }
    };
    if b.ends[0] != b.ends[1]
        && let Some((normal, ends)) = over_face(a.hull, b.ends, &nearest)
    {
        for (on, height, features) in ends {
            point(normal, (on, height), features);
        }
        return Some(normal);
    }
    let features = [nearest.feature, Rod::<DVec3>::feature(nearest.along)];
    point(
        nearest.normal,
        (nearest.on_segment, nearest.distance),
        features,
    );
    Some(nearest.normal)
}

/// A place on a segment, its height over a face, and the features that it belongs to.
type Held = (DVec3, f64, [u32; 2]);

/// The ends of the part of a segment that is over the face it is nearest to, if a face holds it.
fn over_face(hull: &Polyhedron, ends: [DVec3; 2], nearest: &Nearest) -> Option<(DVec3, [Held; 2])> {
    let face = hull.face_towards(nearest.normal);
    let normal = *hull.normals.get(face)?;
    let stretch = clip_to_column(hull, face, ends)?;
    let plane = normal.dot(hull.point(hull.face(face)[0]));
    let held = stretch.map(|(along, cut)| {
        let on = ends[0] + (ends[1] - ends[0]) * along;
        let features = [cut.unwrap_or(face as u32), Rod::<DVec3>::feature(along)];
        (on, normal.dot(on) - plane, features)
    });
    let lowest = held[0].1.min(held[1].1);
    let size = (ends[1] - ends[0]).length();
    ((lowest - nearest.distance).abs() <= FACE_PREFERENCE * size).then_some((normal, held))
}

/// Start and end of the part of a segment within the column over a face, each with the edge that
/// cuts it off.
pub(crate) fn clip_to_column(
    hull: &Polyhedron,
    face: usize,
    ends: [DVec3; 2],
) -> Option<[(f64, Option<u32>); 2]> {
    let normal = hull.normals[face];
    let corners = hull.face(face);
    let mut kept = [(0.0, None), (1.0, None)];
    for (k, &corner) in corners.iter().enumerate() {
        let from = hull.point(corner);
        let to = hull.point(corners[(k + 1) % corners.len()]);
        let outward = (to - from).cross(normal);
        let [d0, d1] = ends.map(|end| outward.dot(end - from));
        let tolerance = 1e-9 * outward.length_squared().sqrt() * (to - from).length();
        if d0 > tolerance && d1 > tolerance {
            return None;
        }
        let cut = d0 / (d0 - d1);
        if d0 > tolerance && cut > kept[0].0 {
            kept[0] = (cut, Some(CUT | corner));
        } else if d1 > tolerance && cut < kept[1].0 {
            kept[1] = (cut, Some(CUT | corner));
        }
    }
    (kept[0].0 <= kept[1].0).then_some(kept)
}

/// The closest points of a polyhedron and a segment, if they are at most `limit` apart.
fn nearest(hull: &Polyhedron, ends: [DVec3; 2], limit: f64) -> Option<Nearest> {
    let face = best_face(hull, ends);
    if face.distance > limit {
        return None;
    }
    if cuts(hull, ends) {
        return Some(least_overlap(hull, ends, face));
    }
    let is_point = ends[0] == ends[1];
    let mut best: Option<Nearest> = None;
    let mut consider = |found: Option<Nearest>| {
        if let Some(found) = found
            && best.as_ref().is_none_or(|b| found.distance < b.distance)
        {
            best = Some(found);
        }
    };
    for (along, &end) in [0.0, 1.0].into_iter().zip(&ends) {
        consider(end_over_face(hull, end, along));
        if is_point {
            break;
        }
    }
    for k in 0..hull.edges.len() {
        consider(segment_and_edge(hull, ends, k));
    }
    // On the surface to rounding, where closest points have no direction: the face has.
    Some(best.unwrap_or(face))
}

/// The face along whose normal a segment is furthest away.
fn best_face(hull: &Polyhedron, ends: [DVec3; 2]) -> Nearest {
    let mut best = Nearest {
        normal: DVec3::Y,
        distance: f64::NEG_INFINITY,
        along: 0.0,
        on_segment: ends[0],
        feature: 0,
    };
    for (k, &normal) in hull.normals.iter().enumerate() {
        let plane = normal.dot(hull.point(hull.face(k)[0]));
        let heights = ends.map(|end| normal.dot(end) - plane);
        let lower = usize::from(heights[1] < heights[0]);
        if heights[lower] > best.distance {
            best = Nearest {
                normal,
                distance: heights[lower],
                along: lower as f64,
                on_segment: ends[lower],
                feature: k as u32,
            };
        }
    }
    best
}

/// Whether a part of the segment is inside.
fn cuts(hull: &Polyhedron, ends: [DVec3; 2]) -> bool {
    if hull.is_sheet() {
        return pierces(hull, ends);
    }
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (k, &normal) in hull.normals.iter().enumerate() {
        let plane = normal.dot(hull.point(hull.face(k)[0]));
        let [d0, d1] = ends.map(|end| normal.dot(end) - plane);
        if d0 > 0.0 && d1 > 0.0 {
            return false;
        }
        if d0 > 0.0 {
            enter = enter.max(d0 / (d0 - d1));
        } else if d1 > 0.0 {
            leave = leave.min(d0 / (d0 - d1));
        }
    }
    enter <= leave
}

/// Whether a segment goes through a polyhedron that has no inside.
fn pierces(sheet: &Polyhedron, ends: [DVec3; 2]) -> bool {
    let plane = sheet.normals[0].dot(sheet.point(sheet.face(0)[0]));
    let [d0, d1] = ends.map(|end| sheet.normals[0].dot(end) - plane);
    if d0 * d1 > 0.0 {
        return false;
    }
    let at = if d0 == d1 { 0.0 } else { d0 / (d0 - d1) };
    let through = ends[0] + (ends[1] - ends[0]) * at;
    clip_to_column(sheet, 0, [through; 2]).is_some()
}

/// The end of a segment over a face that it is straight above of.
fn end_over_face(hull: &Polyhedron, end: DVec3, along: f64) -> Option<Nearest> {
    for (k, &normal) in hull.normals.iter().enumerate() {
        let height = normal.dot(end - hull.point(hull.face(k)[0]));
        if height > 0.0 && clip_to_column(hull, k, [end, end]).is_some() {
            return Some(Nearest {
                normal,
                distance: height,
                along,
                on_segment: end,
                feature: k as u32,
            });
        }
    }
    None
}

fn segment_and_edge(hull: &Polyhedron, ends: [DVec3; 2], edge: usize) -> Option<Nearest> {
    let corners = hull.edges[edge].ends;
    let line = corners.map(|k| hull.point(k));
    let (along, place) = if ends[0] == ends[1] {
        (0.0, closest_on_segment(ends[0], line))
    } else {
        closest_of_segments(ends, line)
    };
    let on_segment = ends[0] + (ends[1] - ends[0]) * along;
    let apart = on_segment - (line[0] + (line[1] - line[0]) * place);
    let distance = apart.length();
    let feature = if place <= 0.0 {
        CORNER | corners[0]
    } else if place >= 1.0 {
        CORNER | corners[1]
    } else {
        EDGE | edge as u32
    };
    (distance > 1e-9 * (line[1] - line[0]).length()).then(|| Nearest {
        normal: apart * (1.0 / distance),
        distance,
        along,
        on_segment,
        feature,
    })
}

/// The direction in which a segment that cuts the polyhedron leaves it soonest.
fn least_overlap(hull: &Polyhedron, ends: [DVec3; 2], face: Nearest) -> Nearest {
    let along = ends[1] - ends[0];
    let mut best = face;
    if along == DVec3::ZERO {
        return best;
    }
    for (k, edge) in hull.edges.iter().enumerate() {
        let line = edge.ends.map(|c| hull.point(c));
        let cross = (line[1] - line[0]).cross(along);
        let longest = (line[1] - line[0]).length_squared() * along.length_squared();
        if cross.length_squared() <= 1e-6 * longest {
            continue;
        }
        // The segment is one point along the axis: how far outside is it on either side?
        let across = cross.normalize();
        let height = across.dot(ends[0]);
        let (forth, back) = (height + hull.lowest(-across), hull.lowest(across) - height);
        let (outward, distance) = if back > forth {
            (-across, back)
        } else {
            (across, forth)
        };
        // Only where the edge itself is outermost is the axis one of least overlap.
        let reached = outward.dot(ends[0] - line[0]);
        if reached > distance + 1e-9 * longest.sqrt() {
            continue;
        }
        if distance > best.distance + FACE_PREFERENCE * along.length() {
            let (t, _) = closest_of_segments(ends, line);
            best = Nearest {
                normal: outward,
                distance,
                along: t,
                on_segment: ends[0] + along * t,
                feature: EDGE | k as u32,
            };
        }
    }
    best
}
