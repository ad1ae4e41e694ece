//! Closest points of segments, and contact of what lies around them: balls and capsules.
//!
//! A capsule is all that is within a radius of a segment, and a ball is a capsule without length.
//! So the contact of two of them is that of their segments, less the radii: two balls around the
//! closest points. Where two capsules lie side by side one point would let them rock; then the
//! two ends of the stretch they share are the points.

use super::point_segment::closest_on_segment;
use super::{ContactPoint, FeatureId};
use crate::geometry::Space;
use crate::math::algebra::Linear;

/// Sine of the angle below which two capsules lie side by side.
const SIDE_BY_SIDE: f64 = 0.05;

/// Feature numbers of a capsule: its ends are 0 and 1, all between them is this.
pub(crate) const SHAFT: u32 = 2;

/// Where along two segments (0 to 1 each) their closest points are.
///
/// Unconstrained, the distance is least where it is perpendicular to both; each parameter that
/// leaves its segment is put to the end and the other one follows.
pub(crate) fn closest_of_segments<V: Linear>(a: [V; 2], b: [V; 2]) -> (f64, f64) {
    let (d, e, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (dd, ee, de) = (d.dot(d), e.dot(e), d.dot(e));
    if ee <= 0.0 {
        return (closest_on_segment(b[0], a), 0.0);
    }
    if dd <= 0.0 {
        return (0.0, closest_on_segment(a[0], b));
    }
    let (dw, ew) = (d.dot(w), e.dot(w));
    let det = dd * ee - de * de;
    // Parallel segments have many closest points; from the start of A is as good as any.
    let s = if det > 1e-14 * dd * ee {
        ((de * ew - dw * ee) / det).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let t = (de * s + ew) / ee;
    if t < 0.0 {
        ((-dw / dd).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((de - dw) / dd).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}

/// All that is within a radius of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rod<V> {
    /// Ends of the segment; the same point twice for a ball.
    pub(crate) ends: [V; 2],
    pub(crate) radius: f64,
}

impl<V: Linear> Rod<V> {
    pub(crate) fn at(&self, along: f64) -> V {
        self.ends[0] + (self.ends[1] - self.ends[0]) * along
    }

    /// Which feature a place along the segment belongs to.
    pub(crate) fn feature(along: f64) -> u32 {
        if along <= 0.0 {
            0
        } else if along >= 1.0 {
            1
        } else {
            SHAFT
        }
    }
}

/// The contacts of two rods, nearer than `margin`; `across` is a unit vector across both, for
/// segments that cut each other. Returns the normal from A to B.
pub(crate) fn contacts<S: Space>(
    [a, b]: [&Rod<S::Vector>; 2],
    margin: f64,
    across: impl Fn() -> S::Vector,
    emit: &mut dyn FnMut(ContactPoint<S>),
) -> Option<S::Vector> {
    let (s, t) = closest_of_segments(a.ends, b.ends);
    let between = b.at(t) - a.at(s);
    let distance = between.length();
    let radii = a.radius + b.radius;
    if distance - radii > margin {
        return None;
    }
    let normal = if distance > 1e-9 * radii {
        between * (1.0 / distance)
    } else {
        across()
    };
    let mut point = |s: f64, t: f64| {
        let (on_a, on_b) = (a.at(s), b.at(t));
        let separation = (on_b - on_a).length() - radii;
        if separation <= margin {
            emit(ContactPoint {
                position: (on_a + on_b + normal * (a.radius - b.radius)) * 0.5,
                normal,
                separation,
                feature: FeatureId {
                    feature_a: Rod::<S::Vector>::feature(s),
                    feature_b: Rod::<S::Vector>::feature(t),
                    ..FeatureId::default()
                },
            });
        }
    };
    match shared_stretch(a, b) {
        Some(ends) => ends.into_iter().for_each(|(s, t)| point(s, t)),
        None => point(s, t),
    }
    Some(normal)
}

/// Both ends of the stretch along which two rods lie side by side, if they do: where on A, where
/// on B.
fn shared_stretch<V: Linear>(a: &Rod<V>, b: &Rod<V>) -> Option<[(f64, f64); 2]> {
    let (d, e) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    let (dd, ee, de) = (d.dot(d), e.dot(e), d.dot(e));
    let is_parallel = dd * ee - de * de < SIDE_BY_SIDE * SIDE_BY_SIDE * dd * ee;
    if !is_parallel {
        return None;
    }
    // B's ends along A, in A's length; their overlap with A.
    let along = |point: V| d.dot(point - a.ends[0]) / dd;
    let (x, y) = (along(b.ends[0]), along(b.ends[1]));
    let (low, high) = (x.min(y).max(0.0), x.max(y).min(1.0));
    // Less than a radius of it is one point.
    if (high - low) * dd.sqrt() < 0.1 * (a.radius + b.radius) {
        return None;
    }
    let on_b = |s: f64| ((s - x) / (y - x)).clamp(0.0, 1.0);
    Some([low, high].map(|s| (s, on_b(s))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::DVec3;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-1.0..1.0).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn no_points_of_two_segments_are_closer(
            p in vector(), q in vector(), u in vector(), v in vector(),
            parallel in prop::bool::ANY,
        ) {
            let v = if parallel { u + (q - p) * 0.7 } else { v };
            let (s, t) = closest_of_segments([p, q], [u, v]);
            let distance = |s: f64, t: f64| (u + (v - u) * t - p - (q - p) * s).length();
            let found = distance(s, t);
            for i in 0..=40 {
                for j in 0..=40 {
                    let other = distance(f64::from(i) / 40.0, f64::from(j) / 40.0);
                    prop_assert!(found <= other + 1e-9, "{found} > {other}");
                }
            }
        }
    }
}
