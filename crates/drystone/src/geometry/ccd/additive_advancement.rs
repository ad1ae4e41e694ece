//! Additive advancement: from one separating plane to the next.

use super::TimeOfImpact;
use super::interval_inclusion;
use super::plane_proof::{Plane, Query};
use crate::math::algebra::Components;

/// Planes tried one after the other before the remaining time is cut into pieces.
const MOST_STEPS: usize = 12;

/// What is left of the room at the start, over the separation, at the safe time.
const KEPT: f64 = 0.1;

/// How far the motion is proven to be free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Nothing comes as near as the separation before this time.
    pub(super) free: f64,
    /// The last time known to leave [`KEPT`] of the room.
    safe: f64,
    /// The gap that leaves that much room.
    kept: f64,
}

impl Course {
    fn new(gap: f64, level: f64) -> Self {
        Self {
            free: 0.0,
            safe: 0.0,
            kept: level + KEPT * (gap - level),
        }
    }

    /// Notes how long this plane, at the present time, leaves enough room.
    #[inline]
    pub(super) fn note<const K: usize>(&mut self, plane: &Plane<K>, t_max: f64) {
        if plane.gap(self.free) > self.kept {
            let until = plane.falls_to(self.kept, t_max).unwrap_or(t_max);
            self.safe = self.safe.max(until.max(self.free));
        }
    }

    /// The answer if nothing can be proven beyond the present time.
    #[inline]
    pub(super) fn hit(&self) -> Option<TimeOfImpact> {
        Some(TimeOfImpact {
            safe: self.safe.min(self.free),
            earliest: self.free,
        })
    }
}

/// When the hull may first be as near to the origin as the separation; `None` proves never.
/// `direction` is one of [`super::separating_direction`].
#[inline]
pub(super) fn first_touch<V: Components, const K: usize>(
    query: &Query<V, K>,
    direction: impl Fn(&[V; K]) -> Option<V> + Copy,
) -> Option<TimeOfImpact> {
    let plane_at = |t: f64| {
        let plane = query.plane(direction(&query.at(t))?);
        (plane.gap(t) > query.level).then_some(plane)
    };
    let Some(mut plane) = plane_at(0.0) else {
        return Course::new(0.0, 0.0).hit();
    };
    let mut course = Course::new(plane.gap(0.0), query.level);
    let mut last: Option<Option<Plane<K>>> = None;
    for _ in 0..MOST_STEPS {
        let until = plane.falls_to(query.level, query.t_max)?;
        // A plane at the end of the motion, if there is one, may prove the rest together with
        // this one.
        let last = last.get_or_insert_with(|| plane_at(query.t_max));
        if let Some(last) = last
            && plane.turns_into(course.free, last, query.t_max, query.level)
        {
            return None;
        }
        course.note(&plane, query.t_max);
        if until.is_nan() || until <= course.free {
            return course.hit();
        }
        course.free = until;
        let Some(next) = plane_at(until) else {
            return course.hit();
        };
        plane = next;
    }
    interval_inclusion::first_touch(query, plane_at, course, plane, last.flatten())
}
