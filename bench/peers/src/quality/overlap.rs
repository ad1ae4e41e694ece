//! How far two convex shapes overlap, exactly, in double precision.
//!
//! A shape is a core (a point, a segment or a prism) and a radius r around it. For a unit
//! direction n let
//!
//! ```text
//! s(n) = min over B of n·x − max over A of n·x
//! ```
//!
//! the gap between the cores as seen along n. Their signed distance is the largest s(n) over all
//! n: the distance where they are apart, minus the depth where they overlap. That largest value
//! is taken at a direction which two nearest features fix between them, so a finite list is
//! enough: normals of faces, cross products of edges, and, with a point or a segment involved,
//! also the directions between corners and between corners and edges. Every s(n) is a lower
//! bound, so directions too many do no harm. The overlap is r_A + r_B minus the signed distance.

use glamx::{DVec2, DVec3};

use crate::scene::{Dim, Pose, Shape};

/// Half the thickness that flat shapes get along z, m: more than any overlap in the plane, so
/// that z is never the way out.
const FLAT_HALF_DEPTH: f64 = 1e3;

/// A shape in the world, ready to be compared.
#[derive(Clone, Debug)]
pub struct Placed {
    corners: Vec<DVec3>,
    /// Directions of faces' normals, unit length.
    normals: Vec<DVec3>,
    /// Directions of edges, unit length.
    edges: Vec<DVec3>,
    /// Radius around the core, m.
    radius: f64,
    pub lower: DVec3,
    pub upper: DVec3,
}

impl Placed {
    pub fn new(shape: &Shape, pose: &Pose, dim: Dim) -> Self {
        let depth = |half: f64| match dim {
            Dim::Two => FLAT_HALF_DEPTH,
            Dim::Three => half,
        };
        let (core, normals, edges, radius) = match shape {
            Shape::Sphere { radius } => (vec![DVec3::ZERO], vec![], vec![], *radius),
            Shape::Capsule {
                half_length,
                radius,
            } => {
                let tip = DVec3::Y * *half_length;
                (vec![-tip, tip], vec![], vec![DVec3::Y], *radius)
            }
            Shape::Box { half } => {
                let outline = [
                    DVec2::new(-half.x, -half.y),
                    DVec2::new(half.x, -half.y),
                    DVec2::new(half.x, half.y),
                    DVec2::new(-half.x, half.y),
                ];
                prism(&outline, depth(half.z))
            }
            Shape::Prism {
                outline,
                half_depth,
            } => prism(outline, depth(*half_depth)),
        };
        let turn = |list: Vec<DVec3>| list.into_iter().map(|v| pose.rotation * v).collect();
        let corners: Vec<DVec3> = core.into_iter().map(|v| pose.point(v)).collect();
        let first = corners[0];
        let (low, high) = corners
            .iter()
            .fold((first, first), |(l, h), &c| (l.min(c), h.max(c)));
        Self {
            lower: low - radius,
            upper: high + radius,
            normals: turn(normals),
            edges: turn(edges),
            corners,
            radius,
        }
    }

    pub fn boxes_meet(&self, other: &Self) -> bool {
        self.lower.cmple(other.upper).all() && other.lower.cmple(self.upper).all()
    }

    fn is_solid(&self) -> bool {
        !self.normals.is_empty()
    }

    /// Pairs of corners that an edge joins. Prisms list front then back; segments have one edge.
    fn edge_ends(&self) -> Vec<(DVec3, DVec3)> {
        let c = &self.corners;
        if c.len() < 4 {
            return (1..c.len()).map(|k| (c[k - 1], c[k])).collect();
        }
        let n = c.len() / 2;
        (0..n)
            .flat_map(|k| {
                let next = (k + 1) % n;
                [(c[k], c[next]), (c[n + k], c[n + next]), (c[k], c[n + k])]
            })
            .collect()
    }
}

type Core = (Vec<DVec3>, Vec<DVec3>, Vec<DVec3>, f64);

/// Corners (front then back), normals (one of each opposite pair is enough for z only), edges.
fn prism(outline: &[DVec2], half_depth: f64) -> Core {
    let mut corners = Vec::with_capacity(2 * outline.len());
    for z in [half_depth, -half_depth] {
        corners.extend(outline.iter().map(|p| p.extend(z)));
    }
    let mut normals = vec![DVec3::Z];
    let mut edges = vec![DVec3::Z];
    for (k, &p) in outline.iter().enumerate() {
        let along = (outline[(k + 1) % outline.len()] - p).normalize();
        let (edge, normal) = (along.extend(0.0), DVec3::new(along.y, -along.x, 0.0));
        // s(n) is asked for both signs of n, so parallel directions are the same.
        if !edges.iter().any(|e| e.cross(edge).length() < 1e-9) {
            edges.push(edge);
        }
        if !normals.iter().any(|m| m.cross(normal).length() < 1e-9) {
            normals.push(normal);
        }
    }
    (corners, normals, edges, 0.0)
}

/// The larger of s(n) and s(−n) for the line of `direction`; −∞ for a direction that is none.
fn gap_along(a: &Placed, b: &Placed, direction: DVec3) -> f64 {
    let length = direction.length();
    if length < 1e-9 {
        return f64::NEG_INFINITY;
    }
    let n = direction / length;
    let range = |shape: &Placed| {
        shape
            .corners
            .iter()
            .map(|c| n.dot(*c))
            .fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)))
    };
    let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
    (b_low - a_high).max(a_low - b_high)
}

/// Signed distance of the cores: negative where they overlap.
fn core_distance(a: &Placed, b: &Placed) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut try_direction = |n: DVec3| best = best.max(gap_along(a, b, n));
    a.normals
        .iter()
        .chain(&b.normals)
        .for_each(|&n| try_direction(n));
    for ea in &a.edges {
        for eb in &b.edges {
            try_direction(ea.cross(*eb));
        }
    }
    if a.is_solid() && b.is_solid() {
        return best; // No rounding: apart is apart, by whatever distance.
    }
    for ca in &a.corners {
        for cb in &b.corners {
            try_direction(*cb - *ca);
        }
    }
    for (edged, cornered) in [(a, b), (b, a)] {
        for (p, q) in edged.edge_ends() {
            let along = (q - p).normalize();
            for &c in &cornered.corners {
                try_direction((c - p) - along * (c - p).dot(along));
            }
        }
    }
    if best == f64::NEG_INFINITY {
        return 0.0; // Two points in one place: no direction at all.
    }
    best
}

/// Depth of the overlap in m; zero or less where there is none.
pub fn overlap(a: &Placed, b: &Placed) -> f64 {
    a.radius + b.radius - core_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::DQuat;

    fn placed(shape: Shape, at: DVec3, turn: DQuat) -> Placed {
        let pose = Pose {
            position: at,
            rotation: turn,
        };
        Placed::new(&shape, &pose, Dim::Three)
    }

    fn depth(a: (Shape, DVec3, DQuat), b: (Shape, DVec3, DQuat)) -> f64 {
        let (a, b) = (placed(a.0, a.1, a.2), placed(b.0, b.1, b.2));
        let there = overlap(&a, &b);
        assert!((there - overlap(&b, &a)).abs() < 1e-12, "symmetric");
        there
    }

    const STRAIGHT: DQuat = DQuat::IDENTITY;

    fn cube() -> Shape {
        Shape::cube(1.0)
    }

    #[test]
    fn stacked_boxes_overlap_by_what_is_missing_of_their_height() {
        let upper = DVec3::new(0.3, 0.9, -0.2);
        let d = depth((cube(), DVec3::ZERO, STRAIGHT), (cube(), upper, STRAIGHT));
        assert!((d - 0.1).abs() < 1e-12, "{d}");
    }

    #[test]
    fn a_cube_on_its_edge_reaches_half_its_diagonal() {
        let turn = DQuat::from_rotation_z(45f64.to_radians());
        let at = DVec3::new(0.0, 0.5 + 0.5 * 2f64.sqrt() - 0.01, 0.0);
        let d = depth((cube(), DVec3::ZERO, STRAIGHT), (cube(), at, turn));
        assert!((d - 0.01).abs() < 1e-12, "{d}");
    }

    #[test]
    fn crossed_edges_touch_along_their_cross_product() {
        // Two cubes on edge, one along x, one along z: the edges meet at one point.
        let lower = DQuat::from_rotation_x(45f64.to_radians());
        let upper = DQuat::from_rotation_z(45f64.to_radians());
        let at = DVec3::new(0.0, 2f64.sqrt() - 0.02, 0.0);
        let d = depth((cube(), DVec3::ZERO, lower), (cube(), at, upper));
        assert!((d - 0.02).abs() < 1e-12, "{d}");
    }

    #[test]
    fn a_ball_at_a_corner_is_measured_from_the_corner() {
        let corner = DVec3::splat(0.5);
        let away = DVec3::ONE.normalize() * 0.25;
        let ball = Shape::Sphere { radius: 0.3 };
        let d = depth(
            (cube(), DVec3::ZERO, STRAIGHT),
            (ball, corner + away, STRAIGHT),
        );
        assert!((d - 0.05).abs() < 1e-12, "{d}");
    }

    #[test]
    fn a_ball_inside_a_box_has_its_radius_and_its_depth() {
        let ball = Shape::Sphere { radius: 0.1 };
        let at = DVec3::new(0.0, 0.4, 0.1);
        let d = depth((cube(), DVec3::ZERO, STRAIGHT), (ball, at, STRAIGHT));
        assert!((d - 0.2).abs() < 1e-12, "{d}");
    }

    #[test]
    fn capsules_are_measured_between_their_axes() {
        let rod = || Shape::Capsule {
            half_length: 1.0,
            radius: 0.2,
        };
        let across = DQuat::from_rotation_z(90f64.to_radians());
        let d = depth(
            (rod(), DVec3::ZERO, STRAIGHT),
            (rod(), DVec3::Z * 0.35, across),
        );
        assert!((d - 0.05).abs() < 1e-12, "{d}");
        let end_to_end = depth(
            (rod(), DVec3::ZERO, STRAIGHT),
            (rod(), DVec3::new(0.0, 2.3, 0.1), STRAIGHT),
        );
        assert!((end_to_end - (0.4 - 0.1f64.hypot(0.3))).abs() < 1e-12);
    }

    #[test]
    fn in_the_plane_the_way_out_is_never_along_z() {
        let place = |x: f64| Placed::new(&cube(), &Pose::at(DVec3::X * x), Dim::Two);
        let d = overlap(&place(0.0), &place(0.1));
        assert!((d - 0.9).abs() < 1e-12, "{d}");
    }
}
