//! Moving vertices, and boxes around clusters of them.

use crate::geometry::bvh::curve_order::Small;
use crate::math::simd::{Column, Four};

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
