//! Contact in the plane of what is round: disks, capsules, polygons with a radius around them.
//!
//! Each is a **core** (a point, a segment, a polygon) and all that is within a radius of it, so a
//! contact is that of the cores, less the radii. Two cores that overlap, or of which an edge is
//! nearest to a corner, are served by the separating axes of [`super::polygon`]. Otherwise corner
//! is next to corner, and the normal is the line between the two.

use glamx::DVec2;

use super::point_segment::closest_on_segment;
use super::polygon::{self, LocalContact, outward};

/// A polygon of one, two or more corners (counter-clockwise) with a radius around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded<'a> {
    pub(crate) core: &'a [DVec2],
    pub(crate) radius: f64,
}

/// Feature of a corner that is nearest to something.
const CORNER: u32 = 1 << 31;

/// The contacts of A and B, in A's axes, with their common normal (from A to B).
pub(crate) fn contacts(
    a: Rounded<'_>,
    b: Rounded<'_>,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> Option<DVec2> {
    let radii = a.radius + b.radius;
    let mut points = Vec::new();
    let normal = match (a.core, b.core) {
        (_, &[center]) => {
            let (normal, on) = point_on_core(a.core, center)?;
            points.push(on);
            normal
        }
        (&[center], _) => {
            let (normal, on) = point_on_core(b.core, center)?;
            points.push(LocalContact {
                feature_a: on.feature_b,
                feature_b: on.feature_a,
                ..on
            });
            -normal
        }
        _ => of_cores(a.core, b.core, margin + radii, &mut points)?,
    };
    let shift = normal * (0.5 * (a.radius - b.radius));
    for point in points {
        let separation = point.separation - radii;
        if separation <= margin {
            emit(LocalContact {
                position: point.position + shift,
                separation,
                ..point
            });
        }
    }
    Some(normal)
}

/// The contacts of B with an edge of a polygon, by the normal of that edge.
pub(crate) fn over_edge(
    (polygon, edge): (&[DVec2], usize),
    b: Rounded<'_>,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> Option<DVec2> {
    let normal = outward(polygon, edge)?;
    let mut hold = |point: LocalContact| {
        let separation = point.separation - b.radius;
        if separation <= margin {
            emit(LocalContact {
                position: point.position - normal * (0.5 * b.radius),
                separation,
                ..point
            });
        }
    };
    if let &[center] = b.core {
        let (from, to) = (polygon[edge], polygon[(edge + 1) % polygon.len()]);
        let along = (to - from).dot(center - from);
        if (0.0..=(to - from).length_squared()).contains(&along) {
            let on = center - normal * normal.dot(center - from);
            hold(contact((on, edge as u32), (center, 0), normal));
        }
        return Some(normal);
    }
    polygon::over_edge((polygon, edge), b.core, margin + b.radius, hold)
}

/// The contact of a point (as B) with a core.
fn point_on_core(core: &[DVec2], point: DVec2) -> Option<(DVec2, LocalContact)> {
    if let [only] = core {
        let between = point - *only;
        let normal = between.try_normalize().unwrap_or(DVec2::Y);
        return Some((normal, contact((*only, 0), (point, 0), normal)));
    }
    let mut highest: Option<(f64, DVec2, usize)> = None;
    let mut nearest: Option<(f64, DVec2, u32)> = None;
    for (k, &from) in core.iter().enumerate() {
        let next = (k + 1) % core.len();
        let Some(normal) = outward(core, k) else {
            continue;
        };
        let height = normal.dot(point - from);
        if highest.is_none_or(|(best, ..)| height > best) {
            highest = Some((height, normal, k));
        }
        let along = closest_on_segment(point, [from, core[next]]);
        let on = from + (core[next] - from) * along;
        let feature = if along <= 0.0 {
            CORNER | k as u32
        } else if along >= 1.0 {
            CORNER | next as u32
        } else {
            k as u32
        };
        let distance = on.distance(point);
        if nearest.is_none_or(|(best, ..)| distance < best) {
            nearest = Some((distance, on, feature));
        }
    }
    let ((height, normal, edge), (distance, on, feature)) = (highest?, nearest?);
    // Inside, or on the border to rounding: the edge that is least above.
    if height <= 0.0 || distance <= 1e-9 * core[0].distance(core[1]) {
        let on = point - normal * height;
        return Some((normal, contact((on, edge as u32), (point, 0), normal)));
    }
    let normal = (point - on) * (1.0 / distance);
    Some((normal, contact((on, feature), (point, 0), normal)))
}

fn contact(a: (DVec2, u32), b: (DVec2, u32), normal: DVec2) -> LocalContact {
    LocalContact {
        position: (a.0 + b.0) * 0.5,
        separation: normal.dot(b.0 - a.0),
        feature_a: a.1,
        feature_b: b.1,
    }
}

/// Contacts of two cores of which neither is a point.
fn of_cores(a: &[DVec2], b: &[DVec2], margin: f64, out: &mut Vec<LocalContact>) -> Option<DVec2> {
    let normal = polygon::contacts(a, b, margin, out)?;
    let reach = |core: &[DVec2], along: DVec2| {
        let heights = core.iter().map(|p| along.dot(*p));
        heights.fold(f64::INFINITY, f64::min)
    };
    let apart = reach(b, normal) + reach(a, -normal);
    let found = out.iter().map(|c| c.separation);
    let found = found.fold(f64::INFINITY, f64::min);
    let size = a[0].distance(a[1]).min(b[0].distance(b[1]));
    // Overlapping, or the axis ends at the points it was taken for: it is the closest direction.
    if apart <= 0.0 || found <= apart + 1e-4 * size {
        return Some(normal);
    }
    out.clear();
    let (distance, pair) = closest_corners(a, b);
    let [on_a, on_b] = pair;
    let normal = (on_b.0 - on_a.0) * (1.0 / distance);
    out.push(contact(on_a, on_b, normal));
    Some(normal)
}

/// The closest points of two cores that are apart, one of them a corner.
fn closest_corners(a: &[DVec2], b: &[DVec2]) -> (f64, [(DVec2, u32); 2]) {
    let mut best = (f64::INFINITY, [(a[0], CORNER), (b[0], CORNER)]);
    for (i, &p) in a.iter().enumerate() {
        for (j, &from) in b.iter().enumerate() {
            let to = b[(j + 1) % b.len()];
            let on = from + (to - from) * closest_on_segment(p, [from, to]);
            if p.distance(on) < best.0 {
                best = (
                    p.distance(on),
                    [(p, CORNER | i as u32), (on, CORNER | j as u32)],
                );
            }
        }
    }
    for (j, &q) in b.iter().enumerate() {
        for (i, &from) in a.iter().enumerate() {
            let to = a[(i + 1) % a.len()];
            let on = from + (to - from) * closest_on_segment(q, [from, to]);
            if q.distance(on) < best.0 {
                best = (
                    q.distance(on),
                    [(on, CORNER | i as u32), (q, CORNER | j as u32)],
                );
            }
        }
    }
    best
}
