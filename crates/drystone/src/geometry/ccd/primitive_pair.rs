//! Distance and time of impact of one pair of primitives.
//!
//! In space vertices meet faces and edges meet edges, in the plane vertices meet edges.

use crate::geometry::ccd;
use crate::geometry::ccd::{TimeOfImpact, distance};
use crate::math::algebra::D2;
use glamx::{DVec2, DVec3};

/// Two primitives by their vertices in a [`Shell`](crate::contact::deformable_surface::Shell): normals point from `a` to `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pair {
    /// A face and a vertex.
    FaceVertex([u32; 3], u32),
    /// Two edges.
    Edges([u32; 2], [u32; 2]),
    /// An edge and a vertex.
    EdgeVertex([u32; 2], u32),
}

/// The nearest points of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Weights of the first primitive's vertices.
    pub(crate) a: [f64; 3],
    /// Weights of the second's.
    pub(crate) b: [f64; 3],
    /// m.
    pub(crate) distance: f64,
}

impl Pair {
    /// Whether any vertex is such.
    #[inline]
    pub(crate) fn has(&self, is_such: impl Fn(u32) -> bool) -> bool {
        match *self {
            Self::FaceVertex([a, b, c], v) => is_such(a) | is_such(b) | is_such(c) | is_such(v),
            Self::Edges([a, b], [c, d]) => is_such(a) | is_such(b) | is_such(c) | is_such(d),
            Self::EdgeVertex([a, b], v) => is_such(a) | is_such(b) | is_such(v),
        }
    }

    /// The vertices of both sides, padded by repetition.
    #[inline]
    pub(crate) fn vertices(&self) -> [[u32; 3]; 2] {
        match *self {
            Self::FaceVertex(face, v) => [face, [v; 3]],
            Self::Edges([a, b], [c, d]) => [[a, b, b], [c, d, d]],
            Self::EdgeVertex([a, b], v) => [[a, b, b], [v; 3]],
        }
    }
}

/// Where a vertex is.
pub(crate) fn place_in(x: &[[f64; 3]]) -> impl Fn(u32) -> DVec3 {
    |v| DVec3::from_array(x[v as usize])
}

fn solid<const K: usize>(x: &[[f64; 3]], vertices: [u32; K]) -> [DVec3; K] {
    vertices.map(|v| DVec3::from_array(x[v as usize]))
}

/// The nearest points of a pair with vertices at their places.
pub(crate) fn nearest(pair: &Pair, place: impl Fn(u32) -> DVec3) -> Near {
    match *pair {
        Pair::FaceVertex(face, v) => {
            let [p, q, r] = face;
            let closest = distance::point_triangle(place(v), &[place(p), place(q), place(r)]);
            Near {
                a: closest.weights,
                b: [1.0, 0.0, 0.0],
                distance: closest.squared_distance.sqrt(),
            }
        }
        Pair::Edges(first, second) => {
            let ends = |[p, q]: [u32; 2]| [place(p), place(q)];
            let closest = distance::edge_edge(&ends(first), &ends(second));
            let padded = |[p, q]: [f64; 2]| [p, q, 0.0];
            Near {
                a: padded(closest.first),
                b: padded(closest.second),
                distance: closest.squared_distance.sqrt(),
            }
        }
        Pair::EdgeVertex(edge, v) => {
            let [p, q] = edge;
            let closest = distance::point_edge(place(v), &[place(p), place(q)]);
            let [p, q] = closest.weights;
            Near {
                a: [p, q, 0.0],
                b: [1.0, 0.0, 0.0],
                distance: closest.squared_distance.sqrt(),
            }
        }
    }
}

/// Rounding of the projections of [`stays_apart`] over the size of coordinates, with room to spare.
const ROUNDING: f64 = 1e-14;

/// Whether a pair is farther apart than the separation all along straight ways from start to end,
/// because a plane across the line between its nearest points at the start is between its sides
/// all the time. Along the plane's normal the distance of any two vertices is linear in time, so
/// start and end tell. No proof in the other direction: `false` means that nothing knows.
pub(crate) fn stays_apart(
    pair: &Pair,
    [start, end]: [&[[f64; 3]]; 2],
    near: &Near,
    separation: f64,
) -> bool {
    let [a, b] = pair.vertices();
    let between = blend(start, b, near.b) - blend(start, a, near.a);
    let Some(normal) = between.try_normalize() else {
        return false;
    };
    let (mut least, mut size) = (f64::INFINITY, 0.0_f64);
    for places in [start, end] {
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..3 {
            let [p, q] = [a[k], b[k]].map(place_in(places));
            highest = highest.max(normal.dot(p));
            lowest = lowest.min(normal.dot(q));
            size = size.max(p.abs().max(q.abs()).max_element());
        }
        least = least.min(lowest - highest);
    }
    least > separation + ROUNDING * size
}

/// When a pair first comes within the separation, as a part of the motion.
pub(crate) fn impact(
    pair: &Pair,
    start: &[[f64; 3]],
    end: &[[f64; 3]],
    separation: f64,
) -> Option<TimeOfImpact> {
    match *pair {
        Pair::FaceVertex([a, b, c], v) => {
            let corners = [v, a, b, c];
            ccd::vertex_face(
                &solid(start, corners),
                &solid(end, corners),
                separation,
                1.0,
            )
        }
        Pair::Edges([a, b], [c, d]) => {
            let corners = [a, b, c, d];
            ccd::edge_edge(
                &solid(start, corners),
                &solid(end, corners),
                separation,
                1.0,
            )
        }
        Pair::EdgeVertex([a, b], v) => {
            let flat =
                |x: &[[f64; 3]]| [v, a, b].map(|k| DVec2::new(x[k as usize][0], x[k as usize][1]));
            ccd::point_edge::<D2>(&flat(start), &flat(end), separation, 1.0)
        }
    }
}

/// A weighted sum of places.
pub(crate) fn blend(x: &[[f64; 3]], vertices: [u32; 3], weights: [f64; 3]) -> DVec3 {
    let [p, q, r] = solid(x, vertices);
    p * weights[0] + q * weights[1] + r * weights[2]
}
