//! Primitives of all deformables together: which may meet, where they are nearest, when they meet.
//!
//! One source for the plane and space: places are three numbers, the third 0 in the plane. In
//! space vertices meet faces and edges meet edges, in the plane vertices meet edges.

use super::store::Deformables;
use crate::body::Bodies;
use crate::ccd::broad::{BroadPhase, Mesh};
use crate::ccd::{self, TimeOfImpact, distance};
use crate::shape::{Bounds, Geometry};
use crate::space::{Components, D2, D3, Linear, Space};
use drystone_frame::{Form, Part};
use glamx::{DQuat, DVec2, DVec3};
use std::collections::BTreeSet;

/// The outsides of all deformables as one mesh.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shell {
    /// The body of each vertex.
    pub(crate) bodies: Vec<u32>,
    /// Half of the thickness at each vertex, m.
    pub(crate) half: Vec<f64>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    /// Whether each vertex has faces around it.
    has_faces: Vec<bool>,
    /// Corners of rigid bodies, numbered after all nodes: where they are and how they move.
    corners: Vec<([f64; 3], [f64; 3])>,
    dim: usize,
}

/// Two primitives by their vertices in a [`Shell`]: normals point from `a` to `b`.
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

impl Shell {
    /// The outsides of all deformables.
    pub(crate) fn new<S: Space>(deformables: &Deformables, bodies: &Bodies<S>) -> Self {
        let mut number = vec![u32::MAX; bodies.len()];
        let mut shell = Self {
            dim: S::DIM,
            ..Self::default()
        };
        for soft in deformables.iter() {
            let half = 0.5 * soft.thickness;
            let mut vertex = |body: u32| {
                let number = &mut number[body as usize];
                if *number == u32::MAX {
                    *number = shell.bodies.len() as u32;
                    shell.bodies.push(body);
                    shell.half.push(half);
                    shell.has_faces.push(S::DIM == 3 && !soft.faces.is_empty());
                }
                *number
            };
            shell
                .edges
                .extend(soft.edges.iter().map(|edge| edge.map(&mut vertex)));
            if S::DIM == 3 {
                shell
                    .faces
                    .extend(soft.faces.iter().map(|face| face.map(&mut vertex)));
            }
        }
        shell
    }

    /// Where the vertices are, m.
    pub(crate) fn places<S: Space>(&self, bodies: &Bodies<S>) -> Vec<[f64; 3]> {
        let place = |&k: &u32| bodies.position[k as usize].to_array3();
        let nodes = self.bodies[..self.node_count()].iter().map(place);
        nodes.chain(self.corners.iter().map(|c| c.0)).collect()
    }

    /// How the vertices move, m/s.
    pub(crate) fn speeds<S: Space>(&self, bodies: &Bodies<S>) -> Vec<[f64; 3]> {
        let speed = |&k: &u32| bodies.motion[k as usize].linear.to_array3();
        let nodes = self.bodies[..self.node_count()].iter().map(speed);
        nodes.chain(self.corners.iter().map(|c| c.1)).collect()
    }

    fn node_count(&self) -> usize {
        self.bodies.len() - self.corners.len()
    }

    /// Whether a vertex is a corner of a rigid body.
    pub(crate) fn is_corner(&self, vertex: u32) -> bool {
        vertex as usize >= self.node_count()
    }

    /// Adds the corners and edges of rigid bodies that are within `reach` (m, beyond their own
    /// motion over `dt`) of the nodes. Smooth bodies have none, and none are needed there: nodes
    /// find them.
    pub(crate) fn add_corners<S: Space>(&mut self, bodies: &Bodies<S>, reach: f64, dt: f64) {
        let places = self.bodies.iter().map(|&k| bodies.position[k as usize]);
        let around = |p: S::Vector| Bounds { lower: p, upper: p };
        let Some(near) = places.map(around).reduce(Bounds::union) else {
            return;
        };
        let near = near.grown(reach);
        for k in 0..bodies.len() {
            let meets = bodies.is_present(k) && bodies.node_of[k] == 0 && !bodies.is_sensor[k];
            if !meets {
                continue;
            }
            let origin = bodies.origin(k);
            let motion = &bodies.motion[k];
            let sweep = dt * (motion.linear.length() + motion.spin.length() * bodies.radius[k]);
            let bounds = bodies.shape[k].bounds(&origin);
            if !bounds.is_some_and(|b| b.grown(sweep).overlaps(&near)) {
                continue;
            }
            for part in bodies.shape[k].parts() {
                let first = self.bodies.len() as u32;
                let (points, edges) = corners_of(&part, S::DIM);
                for point in points {
                    let local = (0..S::DIM).fold(S::Vector::default(), |v, axis| {
                        v.with_component(axis, point[axis])
                    });
                    let place = origin.point(local);
                    let speed =
                        motion.linear + S::spin_cross(motion.spin, place - bodies.position[k]);
                    self.bodies.push(k as u32);
                    self.half.push(0.0);
                    self.has_faces.push(true);
                    self.corners.push((place.to_array3(), speed.to_array3()));
                }
                self.edges
                    .extend(edges.iter().map(|edge| edge.map(|v| first + v)));
            }
        }
    }

    /// The greatest sum of half thicknesses, m.
    pub(crate) fn thickest(&self) -> f64 {
        2.0 * self.half.iter().copied().fold(0.0, f64::max)
    }

    /// Half thickness of both sides of a pair together, m.
    pub(crate) fn thickness(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.vertices();
        self.half[a[0] as usize] + self.half[b[0] as usize]
    }

    /// Whether both sides of a pair have faces, so that a vertex of one meets faces of the other.
    pub(crate) fn is_seen_by_faces(&self, pair: &Pair) -> bool {
        let [a, b] = pair.vertices();
        self.has_faces[a[0] as usize] && self.has_faces[b[0] as usize]
    }

    /// Pairs that may come within the separation as vertices move from start to end, in an order
    /// that depends on nothing else. None where a place is no number: the step says so elsewhere.
    pub(crate) fn pairs(&self, start: &[[f64; 3]], end: &[[f64; 3]], separation: f64) -> Vec<Pair> {
        let mesh = Mesh {
            edges: &self.edges,
            faces: &self.faces,
        };
        let edge = |k: u32| self.edges[k as usize];
        if self.dim == 2 {
            let flat = |list: &[[f64; 3]]| -> Vec<DVec2> {
                list.iter().map(|p| DVec2::new(p[0], p[1])).collect()
            };
            let mut broad = BroadPhase::<D2>::default();
            let swept = broad.sweep(&mesh, &flat(start), &flat(end), separation);
            let pairs = broad.vertex_edge().iter();
            return match swept {
                Ok(()) => pairs.map(|&[v, e]| Pair::EdgeVertex(edge(e), v)).collect(),
                Err(_) => Vec::new(),
            };
        }
        let solid = |list: &[[f64; 3]]| -> Vec<DVec3> {
            list.iter().map(|&p| DVec3::from_array(p)).collect()
        };
        let mut broad = BroadPhase::<D3>::default();
        if broad
            .sweep(&mesh, &solid(start), &solid(end), separation)
            .is_err()
        {
            return Vec::new();
        }
        let faces = broad.vertex_face().iter();
        let mut pairs: Vec<Pair> = faces
            .map(|&[v, f]| Pair::FaceVertex(self.faces[f as usize], v))
            .collect();
        let edges = broad.edge_edge().iter();
        pairs.extend(edges.map(|&[e, f]| Pair::Edges(edge(e), edge(f))));
        pairs
    }
}

/// Most points of a part that count as corners: a landscape has too many, and nodes find it.
const MOST_CORNERS: usize = 200;

/// Corners of a part in its body's axes, and in space the edges between them.
fn corners_of(part: &Part, dim: usize) -> (Vec<DVec3>, Vec<[u32; 2]>) {
    let (points, edges): (Vec<[f64; 3]>, Vec<[u32; 2]>) = match &part.form {
        Form::Box { half } => {
            let count = 1_u32 << dim;
            let sign = |k: u32, axis: usize| if k >> axis & 1 == 0 { -1.0 } else { 1.0 };
            let point = |k: u32| {
                [0, 1, 2].map(|axis| {
                    if axis < dim {
                        sign(k, axis) * half[axis]
                    } else {
                        0.0
                    }
                })
            };
            let edge = |k: u32| (0..dim).map(move |axis| [k, k | 1 << axis]);
            let edges = (0..count).flat_map(edge).filter(|[a, b]| a != b);
            ((0..count).map(point).collect(), edges.collect())
        }
        Form::Mesh { points, triangles } if points.len() <= MOST_CORNERS => {
            let sides = triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
            let sorted = sides.map(|[a, b]| [a.min(b), a.max(b)]);
            let edges: BTreeSet<[u32; 2]> = sorted.collect();
            (points.clone(), edges.into_iter().collect())
        }
        Form::Outline { points, .. } if points.len() <= MOST_CORNERS => {
            (points.clone(), Vec::new())
        }
        _ => Default::default(),
    };
    let turn = DQuat::from_array(part.rotation);
    let place = |p: [f64; 3]| DVec3::from_array(part.position) + turn * DVec3::from_array(p);
    let edges = if dim == 3 { edges } else { Vec::new() };
    (points.into_iter().map(place).collect(), edges)
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
