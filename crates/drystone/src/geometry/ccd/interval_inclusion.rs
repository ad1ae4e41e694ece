//! Interval inclusion: the remaining time cut into pieces until each is proven free.
//!
//! A piece $[a, b]$ is free if the direction that turns from the one at a to the one at b
//! separates throughout, which the three Bernstein coefficients of every corner decide (see the
//! [module documentation](super)). The bound is off by the square of the piece's length, so a
//! motion that only grazes is cut a few times where plain advancement would creep.

use super::TimeOfImpact;
use super::additive_advancement::Course;
use super::plane_proof::{Plane, Query};
use crate::math::algebra::Components;

/// Pieces looked at before the answer is a hit.
const MOST_PIECES: usize = 400;

/// How often a piece can be halved.
const DEEPEST: usize = 56;

/// A plane that covers at least this part of a piece is worth following.
const WORTH_FOLLOWING: f64 = 0.25;

/// Continues from a proven time with the plane there. `last` is the plane at the end, if any.
#[cold]
pub(super) fn first_touch<V: Components, const K: usize>(
    query: &Query<V, K>,
    plane_at: impl Fn(f64) -> Option<Plane<K>>,
    mut course: Course,
    mut plane: Plane<K>,
    last: Option<Plane<K>>,
) -> Option<TimeOfImpact> {
    // Right ends of the pieces still to be proven, the next one last.
    let mut ends = [(query.t_max, last); DEEPEST];
    let mut count = 1;
    for _ in 0..MOST_PIECES {
        let (end, end_plane) = ends[count - 1];
        if let Some(end_plane) = end_plane
            && plane.turns_into(course.free, &end_plane, end, query.level)
        {
            if count == 1 {
                return None;
            }
            count -= 1;
            (course.free, plane) = (end, end_plane);
            continue;
        }
        course.note(&plane, query.t_max);
        let until = plane.falls_to(query.level, query.t_max)?;
        while count > 1 && until >= ends[count - 1].0 {
            count -= 1;
        }
        let end = ends[count - 1].0;
        if until - course.free >= WORTH_FOLLOWING * (end - course.free) {
            course.free = until;
            match plane_at(until) {
                Some(next) => plane = next,
                None => return course.hit(),
            }
            continue;
        }
        let middle = 0.5 * (course.free + end);
        if count == DEEPEST || middle <= course.free || middle >= end {
            course.free = course.free.max(until);
            return course.hit();
        }
        ends[count] = (middle, plane_at(middle));
        count += 1;
    }
    course.hit()
}
