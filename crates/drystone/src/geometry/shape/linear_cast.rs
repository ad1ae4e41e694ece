//! When something that moves along a line first meets a shape.
//!
//! Three ways, each exact where it can be. A **ray on a ball** is a quadratic equation, solved
//! from the foot of the perpendicular so that a far origin loses no digits. A **ray on a
//! polytope** is cut by one face plane after the other; what is left is the part inside.
//!
//! Everything else goes by **separating planes** ([`advance`]). Let d(t) be the distance of two
//! convex shapes of which one has moved by t along the unit vector u without turning. d is
//! convex in t, and a separating plane with unit normal n (from the target to the mover) and gap
//! g ≤ d says that nothing meets before
//!
//! ```text
//! t + g / c,    c = −n·u, the rate at which the gap closes
//! ```
//!
//! and that nothing meets ever if c ≤ 0. With the plane across the closest points, g = d and
//! c = −d′, and this is Newton's method from the left of a convex function: it never passes the
//! root, and converges quadratically unless the two only graze. Because any separating plane
//! will do, a closest-point routine that is a little off costs a step, not the truth.
//!
//! At touch the normal of closest points is lost in rounding. So each step but the last aims at
//! a **skin** before the root, thin against the shapes and thick against rounding; the last one
//! crosses it with the normal found there.

use super::Meeting;
use crate::geometry::Space;
use crate::math::algebra::Linear;

/// Planes tried before two shapes that creep past each other count as not meeting. Grazing
/// halves the remaining way each time, so this many leave nothing of it.
const MOST_PLANES: usize = 80;

/// The last step crosses at most so many skins along the way; a longer one is looked at again,
/// because the plane it goes by may end before.
const LONGEST_LAST_STEP: f64 = 30.0;

/// Cosines below this are rounding: what moves so goes along a plane, not towards it.
pub(crate) const ALONG: f64 = 1e-12;

/// A plane between the target and the mover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap<V> {
    /// Unit vector from the target to the mover.
    pub(crate) normal: V,
    /// Room between the two along the normal, m.
    pub(crate) width: f64,
    /// Point of the target next to the mover.
    pub(crate) point: V,
}

/// How far a mover goes along the unit vector `direction` until it meets the target, at most
/// `limit` metres. `gap_after` gives a separating plane after a way in m, or `None` if there is
/// none any more.
pub(crate) fn advance<S: Space>(
    direction: S::Vector,
    limit: f64,
    skin: f64,
    mut gap_after: impl FnMut(f64) -> Option<Gap<S::Vector>>,
) -> Option<Meeting<S>> {
    let meeting = |distance: f64, gap: &Gap<S::Vector>| Meeting {
        distance,
        point: gap.point,
        normal: gap.normal,
        separation: 0.0,
        part: 0,
    };
    let mut way = 0.0;
    let mut last: Option<Gap<S::Vector>> = None;
    for _ in 0..MOST_PLANES {
        let Some(gap) = gap_after(way) else {
            // Rounding took the mover across the skin: it has arrived.
            return last.map(|gap| meeting(way, &gap));
        };
        let closing = -gap.normal.dot(direction);
        if closing.is_nan() || closing <= ALONG {
            return None;
        }
        let arrived = gap.width <= skin;
        let room = if arrived {
            gap.width.max(0.0)
        } else {
            gap.width - 0.5 * skin
        };
        let next = way + room / closing;
        if next.is_nan() || next > limit {
            return None;
        }
        if arrived && next - way <= LONGEST_LAST_STEP * skin {
            return Some(meeting(next, &gap));
        }
        way = next;
        last = Some(gap);
    }
    None
}

/// Where a ray enters a ball around the axes' origin. `direction` has unit length.
pub(crate) fn ray_on_ball<S: Space>(
    origin: S::Vector,
    direction: S::Vector,
    radius: f64,
) -> Option<(f64, S::Vector)> {
    if origin.length() <= radius {
        return Some((0.0, -direction));
    }
    let to_foot = -origin.dot(direction);
    let foot = origin + direction * to_foot;
    let half_chord_squared = radius * radius - foot.dot(foot);
    if to_foot < 0.0 || half_chord_squared.is_nan() || half_chord_squared < 0.0 {
        return None;
    }
    let half_chord = half_chord_squared.sqrt();
    let normal = (foot - direction * half_chord) * (1.0 / radius);
    Some(((to_foot - half_chord).max(0.0), normal))
}

/// Where a ray enters the solid below all of these planes, each an outward unit normal and a
/// point. `direction` has unit length.
pub(crate) fn ray_on_planes<S: Space>(
    origin: S::Vector,
    direction: S::Vector,
    planes: impl Iterator<Item = (S::Vector, S::Vector)>,
) -> Option<(f64, S::Vector)> {
    let mut enter = (f64::NEG_INFINITY, -direction);
    let mut leave = f64::INFINITY;
    for (normal, point) in planes {
        let height = normal.dot(origin - point);
        let rate = normal.dot(direction);
        if rate.abs() <= ALONG {
            if height > 0.0 {
                return None;
            }
        } else if rate < 0.0 {
            let at = -height / rate;
            if at > enter.0 {
                enter = (at, normal);
            }
        } else {
            leave = leave.min(-height / rate);
        }
    }
    if enter.0 > leave || leave < 0.0 || enter.0 == f64::NEG_INFINITY {
        return None;
    }
    Some(if enter.0 < 0.0 {
        (0.0, -direction)
    } else {
        enter
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D2;
    use glamx::DVec2;

    /// A point on a disk of radius 1 around the origin.
    fn disk(from: DVec2, direction: DVec2, limit: f64) -> Option<Meeting<D2>> {
        advance(direction, limit, 1e-9, |way| {
            let at = from + direction * way;
            Some(Gap {
                normal: at.normalize(),
                width: at.length() - 1.0,
                point: at.normalize(),
            })
        })
    }

    #[test]
    fn planes_lead_to_the_root_of_the_quadratic() {
        for height in [0.0, 0.3, 0.9, 0.999, 0.999_999, -0.5] {
            let met = disk(DVec2::new(-7.0, height), DVec2::X, 100.0).unwrap();
            let truth = 7.0 - (1.0 - height * height).sqrt();
            assert!((met.distance - truth).abs() < 1e-8, "{height}: {met:?}");
            assert!(met.distance <= truth + 1e-12, "passed the root");
        }
    }

    #[test]
    fn what_passes_goes_away_or_stops_short_meets_nothing() {
        assert!(disk(DVec2::new(-7.0, 1.000_001), DVec2::X, 100.0).is_none());
        assert!(disk(DVec2::new(-7.0, 0.0), DVec2::NEG_X, 100.0).is_none());
        assert!(disk(DVec2::new(-7.0, 0.0), DVec2::X, 5.99).is_none());
        assert!(disk(DVec2::new(-7.0, 0.0), DVec2::X, 6.0).is_some());
    }

    #[test]
    fn a_ball_ten_million_metres_away_is_hit_to_a_hundredth_of_a_micrometre() {
        let (at, normal) = ray_on_ball::<D2>(DVec2::new(-1e7, 0.6), DVec2::X, 1.0).unwrap();
        assert!((at - (1e7 - 0.8)).abs() < 1e-8);
        assert!((normal - DVec2::new(-0.8, 0.6)).length() < 1e-8);
    }
}
