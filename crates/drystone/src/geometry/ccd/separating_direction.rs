//! Candidate separating directions of a hull of corner differences.
//!
//! Each function returns, up to rounding, the unit vector from the origin to the nearest point
//! of the hull, along which the hull is farthest away. A poor direction costs a step or, at
//! distances of the order of rounding, a needless hit, but never a missed one: what counts is
//! what [`Plane`](super::plane_proof::Plane) proves with it.
//!
//! Near touch the nearest point is a small difference of large numbers. Directions are therefore
//! made perpendicular to the feature they belong to, a face or an edge, where rounding is
//! relative to the direction itself.

use glamx::DVec3;

use super::distance::normal_of;
use crate::math::algebra::Components;

/// Squared sines below this are rounding: such a polygon is a line.
const FLAT: f64 = 1e-28;

/// Squared sines below this make a normal worth a second thought.
const SLIVER: f64 = 1e-6;

/// The hull of one point.
#[inline]
pub(super) fn to_point<V: Components>(w: &[V; 1]) -> Option<V> {
    unit(w[0])
}

/// The hull of two points.
#[inline]
pub(super) fn to_segment<V: Components>(w: &[V; 2]) -> Option<V> {
    unit(nearest_on_segment(w[0], w[1]))
}

/// The hull of three points.
#[inline]
pub(super) fn to_triangle(w: &[DVec3; 3]) -> Option<DVec3> {
    let (p, q) = (w[1] - w[0], w[2] - w[0]);
    to_polygon(w, p, q)
}

/// The hull of four points in the order of a parallelogram's boundary.
#[inline]
pub(super) fn to_parallelogram(w: &[DVec3; 4]) -> Option<DVec3> {
    let (p, q) = (w[1] - w[0], w[3] - w[0]);
    to_polygon(w, p, q)
}

/// The hull of a convex polygon with corners in order, spanned by the sides p and q.
#[inline]
fn to_polygon<const K: usize>(w: &[DVec3; K], p: DVec3, q: DVec3) -> Option<DVec3> {
    let mut normal = p.cross(q);
    let (square, squares) = (
        normal.length_squared(),
        p.length_squared() * q.length_squared(),
    );
    let is_flat = square <= FLAT * squares;
    if square < SLIVER * squares {
        normal = normal_of(p, q);
    }
    let mut nearest: Option<(f64, DVec3)> = None;
    for k in 0..K {
        let (from, to) = (w[k], w[(k + 1) % K]);
        // The nearest point lies on a side that the origin's foot is outside of, if there is one.
        if is_flat || from.cross(to).dot(normal) < 0.0 {
            let point = nearest_on_segment(from, to);
            let square = point.length_squared();
            if nearest.is_none_or(|(least, _)| square < least) {
                nearest = Some((square, point));
            }
        }
    }
    match nearest {
        Some((_, point)) => unit(point),
        None if normal.dot(w[0]) < 0.0 => unit(-normal),
        None => unit(normal),
    }
}

/// The point of a segment nearest to the origin, made perpendicular to it once more if it is
/// not an end.
#[inline]
fn nearest_on_segment<V: Components>(from: V, to: V) -> V {
    let along = to - from;
    let square = along.dot(along);
    let way = -from.dot(along);
    // A segment too short for the inverse of its square is a point.
    if way.is_nan() || way <= 0.0 || square < 1e-290 {
        return from;
    }
    if way >= square {
        return to;
    }
    let inverse = 1.0 / square;
    let foot = from + along * (way * inverse);
    foot - along * (foot.dot(along) * inverse)
}

/// The vector with length 1 to within 5 u, unless it is too short to have a direction.
#[inline]
fn unit<V: Components>(v: V) -> Option<V> {
    let square = v.dot(v);
    (square > 1e-280).then(|| v * (1.0 / square.sqrt()))
}
