//! Whether closed segments and triangles share a point, exactly.
//!
//! A segment whose ends are not both in the plane of a triangle meets it if the ends are not on
//! one side and the line through them passes all three sides in the same sense:
//!
//! ```text
//! orient(a, b, c, p) · orient(a, b, c, q) ≤ 0   and
//! orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a) of one sign, or zero
//! ```
//!
//! In a common plane everything is projected on coordinates that keep the plane a plane, which
//! changes nothing about what meets what; on a common line boxes decide.

use glamx::{DVec2, DVec3};
use robust::{Coord, Coord3D, orient2d, orient3d};

/// The side of the plane through a, b and c on which d lies: the sign, or 0.
fn side_of_plane(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let exact = |v: DVec3| Coord3D {
        x: v.x,
        y: v.y,
        z: v.z,
    };
    sign(orient3d(exact(a), exact(b), exact(c), exact(d)))
}

/// The side of the line through a and b on which c lies: the sign, or 0.
fn side_of_line(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    let exact = |v: DVec2| Coord { x: v.x, y: v.y };
    sign(orient2d(exact(a), exact(b), exact(c)))
}

fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// The three projections on coordinate planes.
const PROJECTIONS: [fn(DVec3) -> DVec2; 3] = [
    |v| DVec2::new(v.y, v.z),
    |v| DVec2::new(v.z, v.x),
    |v| DVec2::new(v.x, v.y),
];

/// The projection in which three points are not in line; `None` if they are in space.
fn projection_of(a: DVec3, b: DVec3, c: DVec3) -> Option<fn(DVec3) -> DVec2> {
    PROJECTIONS
        .into_iter()
        .find(|flat| side_of_line(flat(a), flat(b), flat(c)) != 0)
}

/// Whether two closed segments in the plane share a point. Either may be a point.
#[must_use]
pub fn segments_meet_in_plane(first: [DVec2; 2], second: [DVec2; 2]) -> bool {
    let ([a, b], [c, d]) = (first, second);
    let boxes_meet = (a.min(b).cmple(c.max(d)) & c.min(d).cmple(a.max(b))).all();
    boxes_meet
        && side_of_line(a, b, c) * side_of_line(a, b, d) <= 0
        && side_of_line(c, d, a) * side_of_line(c, d, b) <= 0
}

/// Whether two closed segments in space share a point. Either may be a point.
#[must_use]
pub fn segments_meet_in_space(first: [DVec3; 2], second: [DVec3; 2]) -> bool {
    let ([a, b], [c, d]) = (first, second);
    let boxes_meet = (a.min(b).cmple(c.max(d)) & c.min(d).cmple(a.max(b))).all();
    if !boxes_meet || side_of_plane(a, b, c, d) != 0 {
        return false;
    }
    let triples = [[a, b, c], [a, b, d], [c, d, a], [c, d, b]];
    let flat = triples
        .into_iter()
        .find_map(|[p, q, r]| projection_of(p, q, r));
    // On one line the boxes have decided.
    flat.is_none_or(|flat| segments_meet_in_plane(first.map(flat), second.map(flat)))
}

/// Whether a closed segment and a closed triangle share a point. Either may be degenerate.
#[must_use]
pub fn segment_meets_triangle(segment: [DVec3; 2], triangle: [DVec3; 3]) -> bool {
    let ([p, q], [a, b, c]) = (segment, triangle);
    let (at_p, at_q) = (side_of_plane(a, b, c, p), side_of_plane(a, b, c, q));
    if at_p * at_q > 0 {
        return false;
    }
    if at_p != 0 || at_q != 0 {
        let sides = [
            side_of_plane(p, q, a, b),
            side_of_plane(p, q, b, c),
            side_of_plane(p, q, c, a),
        ];
        return sides.iter().all(|&side| side >= 0) || sides.iter().all(|&side| side <= 0);
    }
    let borders = [[a, b], [b, c], [c, a]];
    match projection_of(a, b, c) {
        // A triangle without area is its borders.
        None => borders
            .into_iter()
            .any(|border| segments_meet_in_space(segment, border)),
        Some(flat) => {
            // In the plane of the triangle: the segment starts inside or crosses a border.
            let from = flat(p);
            let sides = borders.map(|[from_corner, to_corner]| {
                side_of_line(flat(from_corner), flat(to_corner), from)
            });
            sides.iter().all(|&side| side >= 0)
                || sides.iter().all(|&side| side <= 0)
                || borders
                    .into_iter()
                    .any(|border| segments_meet_in_plane(segment.map(flat), border.map(flat)))
        }
    }
}
