//! Moving vertices, and boxes and planes around and between bundles of them.

use super::bundle::Bundle;
use crate::ccd::tree::Small;
use crate::substep::simd::{Column, Four};

/// A vertex at the start, x, y, z and reach (m), and the same at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point(pub(super) Column);

impl Point {
    /// x, y, z and reach at the start (0) or the end (1).
    #[inline(always)]
    pub(super) fn at(&self, time: usize) -> Four {
        let [a, b, c, d, e, f, g, h] = self.0.0;
        Four::new(if time == 0 {
            [a, b, c, d]
        } else {
            [e, f, g, h]
        })
    }
}

/// A box at the start and the end; the fourth number of a corner separates nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twice {
    pub(super) lower: [Four; 2],
    pub(super) upper: [Four; 2],
}

impl Twice {
    pub(super) const NOWHERE: Self = Self {
        lower: [Four::new([f32::INFINITY; 4]); 2],
        upper: [Four::new([f32::NEG_INFINITY; 4]); 2],
    };

    /// The box around some vertices.
    #[inline(always)]
    pub(super) fn around(vertices: impl Iterator<Item = Point>) -> Self {
        let mut twice = Self::NOWHERE;
        for point in vertices {
            for time in 0..2 {
                let at = point.at(time);
                let reach = Four::splat(at.array()[3]);
                twice.lower[time] = at.minus(reach).least(twice.lower[time]);
                twice.upper[time] = at.plus(reach).most(twice.upper[time]);
            }
        }
        twice
    }

    pub(super) fn small(&self) -> Small<2> {
        let corner = |corner: Four| {
            let [x, y, z, _] = corner.array();
            [x, y, z]
        };
        Small {
            lower: self.lower.map(corner),
            upper: self.upper.map(corner),
        }
    }
}

/// Whether a plane across the line between the middles of two bundles' boxes at the start is
/// between all their vertices all the time.
#[inline(always)]
pub(super) fn is_between(points: &[Point], bundles: [&Bundle; 2], boxes: [&Twice; 2]) -> bool {
    if bundles[0].fours == 0 || bundles[1].fours == 0 {
        return false;
    }
    let [from, to] = boxes.map(|twice| twice.lower[0].plus(twice.upper[0]));
    let [x, y, z, _] = to.minus(from).array();
    let length = dot([x, y, z], [x, y, z]).sqrt();
    let [from, to] = [[x, y, z], [-x, -y, -z]];
    let all = [
        towards(points, bundles[0], from, 0),
        towards(points, bundles[0], from, 1),
        towards(points, bundles[1], to, 0),
        towards(points, bundles[1], to, 1),
    ];
    let along = most([all[0][0], all[1][0], all[2][0], all[3][0]]);
    let reach = most([all[0][1], all[1][1], all[2][1], all[3][1]]);
    let gap =
        |time: usize| -(along[time] + along[2 + time]) - (reach[time] + reach[2 + time]) * length;
    (gap(0) > 0.0) & (gap(1) > 0.0)
}

/// How far the vertices of a bundle go along a direction at a time, and their reach, by lanes.
#[inline(always)]
fn towards(points: &[Point], bundle: &Bundle, direction: [f32; 3], time: usize) -> [Four; 2] {
    let [a, b, c] = [
        Four::splat(direction[0]),
        Four::splat(direction[1]),
        Four::splat(direction[2]),
    ];
    let four = |first: usize| {
        let at = |k: usize| points[bundle.spots[first + k] as usize].at(time);
        let [x, y, z, reach] = Four::transpose([at(0), at(1), at(2), at(3)]);
        [x.times(a).plus(y.times(b)).plus(z.times(c)), reach]
    };
    let [mut along, mut reach] = four(0);
    if bundle.fours > 1 {
        let [more, farther] = four(4);
        (along, reach) = (along.most(more), reach.most(farther));
    }
    [along, reach]
}

/// The largest lane of each of four.
#[inline(always)]
fn most(rows: [Four; 4]) -> [f32; 4] {
    let [a, b, c, d] = Four::transpose(rows);
    a.most(b).most(c.most(d)).array()
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
