//! What shapes are built around: points, edges and faces, with a radius around them.
//!
//! Deformables meet rigid bodies primitive by primitive. A ball is a point with a radius, a
//! capsule an edge with one, a rounded solid a polytope with one. Cylinders and cones are prisms
//! and pyramids of [`SIDES`] sides drawn into them: their skeletons lie inside by at most
//! 1 − cos(π/32) = 0.5 % of the radius. (Strategies that watch the motion of rigid bodies draw
//! them around, [`Skeleton::around_revolution`].) A half-space has none: where the ends of
//! something are outside of it, all of it is.

use glamx::{DPose2, DPose3, DVec2, DVec3};
#[cfg(feature = "dim3")]
use std::collections::BTreeSet;

#[cfg(feature = "dim3")]
use super::polyhedron::Polyhedron;

/// Sides of what stands in for a circle.
const SIDES: u32 = 32;

/// Points with edges and faces between them, in a shape's axes; the third number is 0 in the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// m.
    pub points: Vec<[f64; 3]>,
    /// Two points each.
    pub edges: Vec<[u32; 2]>,
    /// Three points each; none in the plane.
    pub faces: Vec<[u32; 3]>,
    /// The solid is all that is this near, m.
    pub radius: f64,
}

impl Skeleton {
    /// A point, or a rod from −half to +half along y.
    pub(super) fn of_rod(half: f64, radius: f64) -> Self {
        let points = if half > 0.0 {
            vec![[0.0, -half, 0.0], [0.0, half, 0.0]]
        } else {
            vec![[0.0; 3]]
        };
        Self {
            edges: if half > 0.0 { vec![[0, 1]] } else { Vec::new() },
            points,
            faces: Vec::new(),
            radius,
        }
    }

    /// A closed or open line of points in the plane.
    #[cfg(feature = "dim2")]
    pub(super) fn of_outline(points: &[DVec2], is_closed: bool, radius: f64) -> Self {
        let count = points.len() as u32;
        let last = (is_closed && count > 2).then(|| [count - 1, 0]);
        let along = (1..count).map(|k| [k - 1, k]);
        Self {
            points: points.iter().map(|p| [p.x, p.y, 0.0]).collect(),
            edges: along.chain(last).collect(),
            faces: Vec::new(),
            radius,
        }
    }

    /// A convex polyhedron, its faces cut into fans.
    #[cfg(feature = "dim3")]
    pub(super) fn of_polyhedron(hull: &Polyhedron, radius: f64) -> Self {
        let fan = |corners: &[u32]| -> Vec<[u32; 3]> {
            let pairs = corners.windows(2).skip(1);
            pairs.map(|pair| [corners[0], pair[0], pair[1]]).collect()
        };
        Self {
            points: hull.points.iter().map(DVec3::to_array).collect(),
            edges: hull.edges.iter().map(|edge| edge.ends).collect(),
            faces: hull.faces().flat_map(fan).collect(),
            radius,
        }
    }

    /// Triangles with all of their sides.
    #[cfg(feature = "dim3")]
    pub(super) fn of_triangles(points: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let edges: BTreeSet<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        Self {
            points: points.iter().map(DVec3::to_array).collect(),
            edges: edges.into_iter().collect(),
            faces: faces.to_vec(),
            radius: 0.0,
        }
    }

    /// A prism or (`has_tip`) a pyramid drawn into a cylinder or a cone around y.
    #[cfg(feature = "dim3")]
    pub(super) fn of_revolution(half: f64, radius: f64, has_tip: bool, rounding: f64) -> Self {
        Self {
            radius: rounding,
            ..Self::prism(half, radius, 0.0, has_tip)
        }
    }

    /// The prism or (`has_tip`) the pyramid around a cylinder or a cone around y: all of the round
    /// solid is inside. Sides face x and z, so that a cylinder lies on one in a pose without a
    /// turn about its axis, as high as a round one.
    pub(crate) fn around_revolution(half: f64, radius: f64, has_tip: bool) -> Self {
        let outer = radius / libm::cos(std::f64::consts::PI / f64::from(SIDES));
        Self::prism(half, outer, 0.5, has_tip)
    }

    /// A prism or (`has_tip`) a pyramid around y with corners this far from the axis, turned by a
    /// part of a side.
    fn prism(half: f64, corner: f64, turn: f64, has_tip: bool) -> Self {
        let around = |height: f64| {
            (0..SIDES).map(move |k| {
                let angle = std::f64::consts::TAU * (f64::from(k) + turn) / f64::from(SIDES);
                [corner * libm::cos(angle), height, corner * libm::sin(angle)]
            })
        };
        let mut skeleton = Self {
            points: around(-half).collect(),
            ..Self::default()
        };
        let next = |k: u32| (k + 1) % SIDES;
        skeleton.edges.extend((0..SIDES).map(|k| [k, next(k)]));
        let fan = |first: u32| (1..SIDES - 1).map(move |k| [first, first + k, first + k + 1]);
        skeleton.faces.extend(fan(0));
        if has_tip {
            skeleton.points.push([0.0, half, 0.0]);
            for k in 0..SIDES {
                skeleton.edges.push([k, SIDES]);
                skeleton.faces.push([k, next(k), SIDES]);
            }
        } else {
            skeleton.points.extend(around(half));
            skeleton.faces.extend(fan(SIDES));
            for k in 0..SIDES {
                let (above, above_next) = (SIDES + k, SIDES + next(k));
                skeleton.edges.extend([[k, above], [above, above_next]]);
                let sides = [[k, next(k), above_next], [k, above_next, above]];
                skeleton.faces.extend(sides);
            }
        }
        skeleton
    }
}

/// A pose of a part within a shape.
pub(super) trait Placing {
    /// Where a point of the part is in the shape's axes.
    fn placed(&self, point: [f64; 3]) -> [f64; 3];
}

impl Placing for DPose3 {
    fn placed(&self, point: [f64; 3]) -> [f64; 3] {
        self.transform_point(DVec3::from_array(point)).to_array()
    }
}

impl Placing for DPose2 {
    fn placed(&self, [x, y, _]: [f64; 3]) -> [f64; 3] {
        let at = self.transform_point(DVec2::new(x, y));
        [at.x, at.y, 0.0]
    }
}

impl Skeleton {
    pub(super) fn placed(mut self, pose: &impl Placing) -> Self {
        for point in &mut self.points {
            *point = pose.placed(*point);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shape::{Geometry, Shape2, Shape3};

    /// Every edge of a closed surface has two faces, and V − E + F = 2.
    #[test]
    fn solids_are_closed() {
        let solids = [
            Shape3::cuboid(DVec3::ONE).unwrap(),
            Shape3::cylinder(0.5, 0.2).unwrap(),
            Shape3::cone(0.5, 0.2).unwrap(),
        ];
        for solid in solids {
            let list = solid.skeletons();
            let [skeleton] = list.as_slice() else {
                panic!("{} parts", list.len());
            };
            let counts = [
                skeleton.points.len(),
                skeleton.edges.len(),
                skeleton.faces.len(),
            ];
            // Fans add as many diagonals as faces, so Euler's formula holds for either.
            let mut sides = std::collections::BTreeMap::new();
            for &[a, b, c] in &skeleton.faces {
                for [p, q] in [[a, b], [b, c], [c, a]] {
                    *sides.entry([p.min(q), p.max(q)]).or_insert(0) += 1;
                }
            }
            assert!(sides.values().all(|&count| count == 2));
            assert_eq!(counts[0] + counts[2], sides.len() + 2);
            assert!(
                skeleton
                    .edges
                    .iter()
                    .all(|&[a, b]| sides.contains_key(&[a.min(b), a.max(b)]))
            );
        }
    }

    /// The sides of a prism around a cylinder touch it, and four of them face x and z.
    #[test]
    fn a_prism_around_a_cylinder_holds_it() {
        let prism = Skeleton::around_revolution(0.5, 0.2, false);
        for side in 0..4 * SIDES {
            let angle = std::f64::consts::TAU * f64::from(side) / f64::from(4 * SIDES);
            let out = DVec3::new(libm::cos(angle), 0.0, libm::sin(angle));
            let reach = |p: &[f64; 3]| out.dot(DVec3::from_array(*p));
            let farthest = prism.points.iter().map(reach).fold(0.0, f64::max);
            assert!(farthest > 0.2 - 1e-15, "{side}: {farthest}");
            if side % 4 == 0 {
                assert!((farthest - 0.2).abs() < 1e-15, "{side}: {farthest}");
            }
        }
    }

    #[test]
    fn round_things_have_a_radius() {
        let ball = Shape3::ball(0.4).unwrap().skeletons();
        assert_eq!((ball[0].points.len(), ball[0].radius), (1, 0.4));
        let capsule = Shape2::capsule(0.3, 0.1).unwrap().skeletons();
        assert_eq!(capsule[0].edges, [[0, 1]]);
        assert_eq!(capsule[0].radius, 0.1);
        assert!(Shape3::half_space(DVec3::Y).unwrap().skeletons().is_empty());
    }
}
