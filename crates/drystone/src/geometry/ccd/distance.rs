//! Closest points of points, edges and faces, with weights.
//!
//! Weights are barycentric: they are 0 to 1, add up to 1, and give the closest point as a
//! weighted sum of corners, which is also how a contact spreads its impulse. Degenerate edges
//! and faces are what they look like, points and segments. Non-finite input gives weights that
//! may be no numbers.
//!
//! A minimum over an edge or face lies inside or on the boundary. Inside is tried if the sides
//! span an area; the boundary is then tried piece by piece and the least distance wins. So a
//! badly conditioned inside (a sliver, nearly parallel edges) is never worse than the boundary.

use glamx::DVec3;

use crate::math::algebra::{Components, Linear};

/// The closest point of an edge or face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest<const K: usize> {
    /// Weight of each corner.
    pub weights: [f64; K],
    /// Square of the distance in m².
    pub squared_distance: f64,
}

/// The closest points of two edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestEdges {
    /// Weights of the first edge's ends.
    pub first: [f64; 2],
    /// Weights of the second edge's ends.
    pub second: [f64; 2],
    /// Square of the distance in m².
    pub squared_distance: f64,
}

/// The point of an edge closest to `point`, in the plane or in space.
///
/// ```
/// use drystone::ccd::distance::point_edge;
/// use drystone::glam::DVec2;
///
/// let closest = point_edge(DVec2::new(1.0, 3.0), &[DVec2::ZERO, DVec2::new(4.0, 0.0)]);
/// assert_eq!(closest.weights, [0.75, 0.25]);
/// assert_eq!(closest.squared_distance, 9.0);
/// ```
#[must_use]
pub fn point_edge<V: Components>(point: V, edge: &[V; 2]) -> Closest<2> {
    let along = edge[1] - edge[0];
    let square = along.dot(along);
    let way = (point - edge[0]).dot(along);
    let part = if way <= 0.0 || square <= 0.0 {
        0.0
    } else if way >= square {
        1.0
    } else {
        way / square
    };
    let weights = [1.0 - part, part];
    Closest {
        weights,
        squared_distance: squared(combined(point, edge, &weights)),
    }
}

/// The point of a face closest to `point`.
#[must_use]
pub fn point_triangle(point: DVec3, face: &[DVec3; 3]) -> Closest<3> {
    let mut best = inside_triangle(point, face);
    for k in 0..3 {
        let (i, j) = (k, (k + 1) % 3);
        let side = point_edge(point, &[face[i], face[j]]);
        if best.is_none_or(|best| side.squared_distance < best.squared_distance) {
            let mut weights = [0.0; 3];
            weights[i] = side.weights[0];
            weights[j] = side.weights[1];
            best = Some(Closest {
                weights,
                squared_distance: side.squared_distance,
            });
        }
    }
    // Three sides were tried: there is a best one unless nothing is a number.
    best.unwrap_or(Closest {
        weights: [1.0, 0.0, 0.0],
        squared_distance: squared(point - face[0]),
    })
}

/// The foot of the perpendicular, if it is inside the face.
fn inside_triangle(point: DVec3, face: &[DVec3; 3]) -> Option<Closest<3>> {
    let [a, b, c] = face.map(|corner| corner - point);
    let normal = normal_of(b - a, c - a);
    let square = normal.length_squared();
    let areas = [
        b.cross(c).dot(normal),
        c.cross(a).dot(normal),
        a.cross(b).dot(normal),
    ];
    let sum = areas[0] + areas[1] + areas[2];
    if !(square > 0.0 && sum > 0.0 && areas.iter().all(|&area| area >= 0.0)) {
        return None;
    }
    let rough = areas.map(|area| area / sum);
    // In a sliver areas lose digits: one step of refinement moves the foot by what is left of its
    // way to the point in the plane.
    let left = -(a * rough[0] + b * rough[1] + c * rough[2]);
    let to_b = left.cross(c - a).dot(normal) / square;
    let to_c = (b - a).cross(left).dot(normal) / square;
    let (weight_b, weight_c) = (rough[1] + to_b, rough[2] + to_c);
    let weights = [1.0 - weight_b - weight_c, weight_b, weight_c];
    if !weights.iter().all(|weight| (0.0..=1.0).contains(weight)) {
        return None;
    }
    // Along the normal the distance keeps its digits where the foot, a difference of corners,
    // would lose them; where the face is a sliver the foot is the honest one.
    let height = normal.dot(shortest([a, b, c]));
    let along_normal = height * height / square;
    let to_foot = squared(combined(point, face, &weights));
    Some(Closest {
        weights,
        squared_distance: if to_foot > 4.0 * along_normal && to_foot > NOISE * squared(a) {
            to_foot
        } else {
            along_normal
        },
    })
}

/// Squared distances below this part of a corner's are rounding.
pub(crate) const NOISE: f64 = 1e-30;

/// The closest points of two edges in space.
#[must_use]
pub fn edge_edge(first: &[DVec3; 2], second: &[DVec3; 2]) -> ClosestEdges {
    let mut best = inside_edges(first, second);
    let mut offer = |candidate: ClosestEdges| {
        if best.is_none_or(|best| candidate.squared_distance < best.squared_distance) {
            best = Some(candidate);
        }
    };
    const ENDS: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];
    for end in 0..2 {
        let on_second = point_edge(first[end], second);
        offer(ClosestEdges {
            first: ENDS[end],
            second: on_second.weights,
            squared_distance: on_second.squared_distance,
        });
        let on_first = point_edge(second[end], first);
        offer(ClosestEdges {
            first: on_first.weights,
            second: ENDS[end],
            squared_distance: on_first.squared_distance,
        });
    }
    best.unwrap_or(ClosestEdges {
        first: ENDS[0],
        second: ENDS[0],
        squared_distance: squared(second[0] - first[0]),
    })
}

/// Where the common perpendicular meets both edges, if it does.
fn inside_edges(first: &[DVec3; 2], second: &[DVec3; 2]) -> Option<ClosestEdges> {
    let (p, q, between) = (
        first[1] - first[0],
        second[1] - second[0],
        second[0] - first[0],
    );
    let normal = normal_of(p, q);
    let square = normal.length_squared();
    // first[0] + u p = second[0] + v q up to the perpendicular: cross with q and p.
    let u = between.cross(q).dot(normal) / square;
    let v = between.cross(p).dot(normal) / square;
    // One step of refinement, as for a face.
    let left = between + q * v - p * u;
    let u = u + left.cross(q).dot(normal) / square;
    let v = v + left.cross(p).dot(normal) / square;
    let inside = 0.0..=1.0;
    if !(square > 0.0 && inside.contains(&u) && inside.contains(&v)) {
        return None;
    }
    let differences = [between, between - p, between + q, between + q - p];
    let height = normal.dot(shortest(differences));
    let along_normal = height * height / square;
    let to_foot = squared(between + q * v - p * u);
    let size = squared(between).max(squared(p)).max(squared(q));
    Some(ClosestEdges {
        first: [1.0 - u, u],
        second: [1.0 - v, v],
        squared_distance: if to_foot > 4.0 * along_normal && to_foot > NOISE * size {
            to_foot
        } else {
            along_normal
        },
    })
}

/// The weighted sum of corners, as seen from `point`.
fn combined<V: Components, const K: usize>(point: V, corners: &[V; K], weights: &[f64; K]) -> V {
    (0..K).fold(V::default(), |sum, k| {
        sum + (corners[k] - point) * weights[k]
    })
}

/// The cross product, made perpendicular once more to the longer side: in a sliver, where it is a
/// small difference of products, it would lean along that side and see heights that are not there.
#[inline]
pub(super) fn normal_of(p: DVec3, q: DVec3) -> DVec3 {
    let normal = p.cross(q);
    let longer = if squared(p) > squared(q) { p } else { q };
    let square = squared(longer);
    if square > 0.0 {
        normal - longer * (normal.dot(longer) / square)
    } else {
        normal
    }
}

/// The shortest of some vectors: the one whose component along a normal is rounded least.
fn shortest<const K: usize>(vectors: [DVec3; K]) -> DVec3 {
    vectors.iter().fold(vectors[0], |least, &v| {
        if squared(v) < squared(least) {
            v
        } else {
            least
        }
    })
}

fn squared<V: Linear>(v: V) -> f64 {
    v.dot(v)
}
