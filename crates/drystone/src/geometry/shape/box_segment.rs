//! The closest points of a box and a segment, in closed form.
//!
//! In the box's axes with half-edges h, the point p + t d of the segment is off the box by
//! $x_k - \mathrm{clamp}(x_k, -h_k, h_k)$ along axis k. The squared distance is convex in t, and
//! half its derivative,
//!
//! $$ g(t) = \sum_k d_k\,\bigl(x_k(t) - \mathrm{clamp}(x_k(t))\bigr) , $$
//!
//! is linear between the at most six places where the line crosses a plane of the box. So the
//! place where it is zero is found exactly. A segment that cuts the box is apart from it nowhere;
//! then the separating axes are the box's three and their cross products with the segment.

use glamx::DVec3;

use super::polyhedron_round::Nearest;
use super::polyhedron_sat::{EDGE, FACE_PREFERENCE};

/// The closest points of the box with these half-edges and the segment.
pub(crate) fn nearest(half: DVec3, ends: [DVec3; 2]) -> Nearest {
    let (from, along) = (ends[0], ends[1] - ends[0]);
    let off = |t: f64| {
        let at = from + along * t;
        at - at.clamp(-half, half)
    };
    let along_segment = flattest(half, from, along, |t| along.dot(off(t)));
    let apart = off(along_segment);
    let distance = apart.length();
    if distance <= 1e-9 * half.max_element() {
        return least_overlap(half, ends);
    }
    Nearest {
        normal: apart * (1.0 / distance),
        distance,
        along: along_segment,
        on_segment: from + along * along_segment,
        feature: EDGE | side_code(apart),
    }
}

/// Which planes of the box a point is beyond, as a number.
fn side_code(apart: DVec3) -> u32 {
    (0..3).fold(0, |code, k| {
        let side = if apart[k] > 0.0 {
            1
        } else if apart[k] < 0.0 {
            2
        } else {
            0
        };
        3 * code + side
    })
}

/// Where the increasing, piecewise linear `slope` is zero between 0 and 1.
fn flattest(half: DVec3, from: DVec3, along: DVec3, slope: impl Fn(f64) -> f64) -> f64 {
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    if slope(1.0) <= 0.0 {
        return 1.0;
    }
    let mut bends = [1.0_f64; 7];
    for k in 0..3 {
        for (side, plane) in [-half[k], half[k]].into_iter().enumerate() {
            let at = (plane - from[k]) / along[k];
            if at > 0.0 && at < 1.0 {
                bends[2 * k + side] = at;
            }
        }
    }
    bends.sort_unstable_by(f64::total_cmp);
    let (mut low, mut below) = (0.0, slope(0.0));
    for high in bends {
        let above = slope(high);
        if above >= 0.0 {
            return low + (high - low) * (-below / (above - below)).clamp(0.0, 1.0);
        }
        (low, below) = (high, above);
    }
    1.0
}

/// The direction in which a segment that cuts the box leaves it soonest.
fn least_overlap(half: DVec3, ends: [DVec3; 2]) -> Nearest {
    let mut best = Nearest {
        normal: DVec3::Y,
        distance: f64::NEG_INFINITY,
        along: 0.0,
        on_segment: ends[0],
        feature: 0,
    };
    for k in 0..3 {
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let heights = ends.map(|end| sign * end[k] - half[k]);
            let lower = usize::from(heights[1] < heights[0]);
            if heights[lower] > best.distance {
                best = Nearest {
                    normal: DVec3::AXES[k] * sign,
                    distance: heights[lower],
                    along: lower as f64,
                    on_segment: ends[lower],
                    feature: (2 * k + side) as u32,
                };
            }
        }
    }
    let along = ends[1] - ends[0];
    for (k, axis) in DVec3::AXES.into_iter().enumerate() {
        let cross = axis.cross(along);
        if cross.length_squared() <= 1e-6 * along.length_squared() {
            continue;
        }
        let outward = cross.normalize() * if cross.dot(ends[0]) < 0.0 { -1.0 } else { 1.0 };
        let distance = outward.dot(ends[0]) - half.dot(outward.abs());
        // A face must lose clearly: it carries more points.
        if distance > best.distance + FACE_PREFERENCE * half.length() {
            let corner = half.copysign(outward);
            let edge = [corner - axis * (2.0 * corner[k]), corner];
            let (t, _) = super::segment_segment::closest_of_segments(ends, edge);
            best = Nearest {
                normal: outward,
                distance,
                along: t,
                on_segment: ends[0] + along * t,
                feature: EDGE | (27 + k as u32),
            };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_point_of_the_segment_is_nearer(
            from in prop::array::uniform3(-2.0..2.0), to in prop::array::uniform3(-2.0..2.0)
        ) {
            let half = DVec3::new(0.5, 0.3, 0.8);
            let ends = [DVec3::from_array(from), DVec3::from_array(to)];
            let found = nearest(half, ends);
            for k in 0..=1000 {
                let at = ends[0] + (ends[1] - ends[0]) * (f64::from(k) / 1000.0);
                let distance = (at - at.clamp(-half, half)).length();
                prop_assert!(found.distance <= distance + 1e-12);
            }
            if found.distance > 0.0 {
                let on = found.on_segment;
                let reached = (on - on.clamp(-half, half)).length();
                prop_assert!((found.distance - reached).abs() < 1e-12);
            }
        }
    }
}
