//! The last stretch of a cast between round solids, by support points alone.
//!
//! Closest points of cylinders and cones lose their direction micrometres before touch, and with
//! it goes Newton's last step ([`super::linear_cast`]). Support points are closed forms and lose
//! nothing. Let w(n) = b − a for the points of mover and target that are next to each other
//! along n (from the target to the mover). Among all n with n·u = −1, u the unit direction of
//! the motion, the way until they meet is
//!
//! ```text
//! s* = max over n of  n·w(n),      n·w(n) = min over all pairs of  n·(b − a)
//! ```
//!
//! a concave function of two unknowns. Three pairs bound it from above by the plane through
//! their w: its normal, made n·u = −1, is the best n as far as these three know. The pair w(n)
//! found there bounds s* from below by n·w(n), and takes the place of one of the three, the one
//! that leaves the line of motion inside the triangle (the *portal*). The bounds close in on s*
//! quadratically in the size of the portal; stopped at any time, the lower one is not too late.

use glamx::{DVec2, DVec3};

/// Pairs tried at most; bounds meet after a few dozen.
const MOST_PAIRS: usize = 120;

/// A pair of support points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Point of the target.
    pub(crate) on_target: DVec3,
    /// From it to the point of the mover.
    pub(crate) between: DVec3,
}

/// Where the two meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Way until then, m.
    pub(crate) way: f64,
    /// Unit vector from the target to the mover.
    pub(crate) normal: DVec3,
    /// Point of the target.
    pub(crate) point: DVec3,
    /// Whether real pairs bound the way from above, too.
    pub(crate) is_bounded: bool,
}

/// A corner of the portal: a pair, or at first a far corner that holds the line of motion in.
#[derive(Clone, Copy, Debug)]
struct Corner {
    between: DVec3,
    /// `between` seen along the motion.
    across: DVec2,
    on_target: Option<DVec3>,
}

/// The way along the unit vector `direction` until mover and target meet, to within `tolerance`
/// m. `normal` is nearly right; `size` is at least as large as both together, m.
pub(crate) fn touch(
    (direction, normal): (DVec3, DVec3),
    size: f64,
    tolerance: f64,
    support: impl Fn(DVec3) -> Option<Pair>,
) -> Option<Touch> {
    let (x, y) = direction.any_orthonormal_pair();
    let seen = |v: DVec3| DVec2::new(v.dot(x), v.dot(y));
    let unit = |n: DVec3| {
        let closing = -n.dot(direction);
        (closing > 0.0).then(|| n / closing)
    };
    let corner = |pair: Pair| Corner {
        between: pair.between,
        across: seen(pair.between),
        on_target: Some(pair.on_target),
    };
    let mut n = unit(normal)?;
    let mut newest = corner(support(n)?);
    let mut best = (n.dot(newest.between), n, newest.on_target?);

    // Far corners in planes tilted by about 45° from the first: n is looked for within those.
    let far = 4.0 * size;
    let half = 0.75_f64.sqrt();
    let mut portal = [(1.0, 0.0), (-0.5, half), (-0.5, -half)].map(|(c, s)| {
        let across = DVec2::new(c, s) * far;
        let flat = x * across.x + y * across.y;
        // On the line through it along the motion, where n·v is `far` above the first bound.
        Corner {
            between: flat - direction * (best.0 + far - n.dot(flat)),
            across,
            on_target: None,
        }
    });
    for _ in 0..MOST_PAIRS {
        let Some(k) = side_of(&portal, newest.across) else {
            break;
        };
        portal[(k + 2) % 3] = newest;
        let [p, q, r] = portal.map(|corner| corner.between);
        let across_portal = (q - p).cross(r - p);
        let sign = -across_portal.dot(direction).signum();
        let Some(next) = unit(across_portal * sign).filter(|n| n.is_finite()) else {
            break;
        };
        n = next;
        newest = corner(support(n)?);
        let lower = n.dot(newest.between);
        if lower > best.0 {
            best = (lower, n, newest.on_target?);
        }
        if n.dot(p) - best.0 <= tolerance {
            break;
        }
    }
    Some(Touch {
        way: best.0,
        normal: best.1.normalize(),
        point: point_on_target(&portal).unwrap_or(best.2),
        is_bounded: portal.iter().all(|corner| corner.on_target.is_some()),
    })
}

/// The side k, k + 1 of the portal that makes a triangle around the line of motion with a new
/// corner. The portal is counter-clockwise around it.
fn side_of(portal: &[Corner; 3], new: DVec2) -> Option<usize> {
    let turn = portal.map(|corner| corner.across.perp_dot(new));
    (0..3).find(|&k| turn[k] <= 0.0 && turn[(k + 1) % 3] >= 0.0)
}

/// The point of the target that the line of motion passes: the mean of the corners' points
/// with the areas opposite to them as weights.
fn point_on_target(portal: &[Corner; 3]) -> Option<DVec3> {
    let mut sum = DVec3::ZERO;
    let mut total = 0.0;
    for k in 0..3 {
        if let Some(on_target) = portal[k].on_target {
            let opposite = [portal[(k + 1) % 3].across, portal[(k + 2) % 3].across];
            let weight = opposite[0].perp_dot(opposite[1]).max(0.0);
            sum += on_target * weight;
            total += weight;
        }
    }
    let mean = sum / total;
    mean.is_finite().then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball of radius 0.3 on its way to one of radius 0.5.
    #[test]
    fn the_portal_closes_on_the_root_of_the_quadratic() {
        let center = DVec3::new(-2.0, 0.3, 0.2);
        let support = |n: DVec3| {
            let n = n.normalize();
            Some(Pair {
                on_target: n * 0.5,
                between: center - n * 0.3 - n * 0.5,
            })
        };
        let touch = touch((DVec3::X, DVec3::NEG_X), 3.0, 1e-12, support).unwrap();
        let truth = 2.0 - (0.64 - 0.09 - 0.04_f64).sqrt();
        assert!(touch.is_bounded);
        assert!(
            touch.way <= truth + 1e-15 && touch.way > truth - 1e-10,
            "{touch:?} {truth}"
        );
        let normal = (center + DVec3::X * truth) / 0.8;
        assert!(
            (touch.normal - normal).length() < 1e-5,
            "{touch:?} {normal}"
        );
        assert!((touch.point - normal * 0.5).length() < 1e-5);
    }
}
