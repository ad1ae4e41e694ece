//! Two primitives of deformables or rigid bodies: where they are nearest, when they meet.
//!
//! In space vertices meet faces and edges meet edges, in the plane vertices meet edges.

use crate::ccd::{self, TimeOfImpact, distance};
use crate::space::D2;
use glamx::{DVec2, DVec3};

/// Two primitives by their vertices in a [`Shell`](super::shell::Shell): normals point from `a` to `b`.
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
    /// The vertices of both sides, padded by repetition.
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
            let closest = distance::point_triangle(place(v), &face.map(&place));
            Near {
                a: closest.weights,
                b: [1.0, 0.0, 0.0],
                distance: closest.squared_distance.sqrt(),
            }
        }
        Pair::Edges(first, second) => {
            let closest = distance::edge_edge(&first.map(&place), &second.map(&place));
            let padded = |[p, q]: [f64; 2]| [p, q, 0.0];
            Near {
                a: padded(closest.first),
                b: padded(closest.second),
                distance: closest.squared_distance.sqrt(),
            }
        }
        Pair::EdgeVertex(edge, v) => {
            let closest = distance::point_edge(place(v), &edge.map(&place));
            let [p, q] = closest.weights;
            Near {
                a: [p, q, 0.0],
                b: [1.0, 0.0, 0.0],
                distance: closest.squared_distance.sqrt(),
            }
        }
    }
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
