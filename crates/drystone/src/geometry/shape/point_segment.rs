//! The point of a segment that is nearest to a point.

use crate::math::algebra::Linear;

/// Where along a segment (0 to 1) the point nearest to `point` is.
#[inline]
pub(crate) fn closest_on_segment<V: Linear>(point: V, [from, to]: [V; 2]) -> f64 {
    let along = to - from;
    let square = along.dot(along);
    if square > 0.0 {
        (along.dot(point - from) / square).clamp(0.0, 1.0)
    } else {
        0.0
    }
}
