//! The outsides of all deformables, and of the rigid bodies near them, as one mesh.
//!
//! One source for the plane and space: places are three numbers, the third 0 in the plane. Nodes
//! are numbered first; the points of rigid bodies' [skeletons](crate::geometry::shape::Skeleton) follow, one
//! body after the other.

use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::{BroadPhase, Fit, Mesh};
use crate::geometry::ccd::primitive_pair::Pair;
use crate::geometry::shape::{Bounds, Geometry, Pose, Skeleton};
use crate::math::algebra::vector;
use crate::math::algebra::{Components, D2, D3, Linear};
use crate::model::body::Bodies;
use crate::model::deformable::store::Deformables;
use glamx::{DVec2, DVec3};
use std::ops::Range;

/// What the points of rigid bodies are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Contacts that nodes do not find: no faces, and in the plane no edges.
    Contact,
    /// Everything that could be passed through.
    Passage,
}

/// The outsides of all deformables and rigid bodies as one mesh.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shell {
    /// The body of each vertex.
    pub(crate) bodies: Vec<u32>,
    /// Half of the thickness at each node, m; 0 for rigid bodies.
    half: Vec<f64>,
    /// Radius around each point of a rigid body, m; 0 for nodes.
    round: Vec<f64>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    /// Whether each vertex has faces around it.
    has_faces: Vec<bool>,
    nodes: usize,
    /// Where the points of rigid bodies are in their shapes' axes.
    points: Vec<[f64; 3]>,
    /// Rigid bodies and their points among `points`.
    pub(crate) solids: Vec<(u32, Range<usize>)>,
    dim: usize,
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
        shell.nodes = shell.bodies.len();
        shell.round = vec![0.0; shell.nodes];
        shell
    }

    /// Where the vertices are, m.
    pub(crate) fn places<S: Space>(&self, bodies: &Bodies<S>) -> Vec<[f64; 3]> {
        let place = |&k: &u32| bodies.position[k as usize].to_array3();
        let mut places: Vec<[f64; 3]> = self.nodes().iter().map(place).collect();
        for (body, range) in &self.solids {
            let origin = bodies.origin(*body as usize);
            places.extend(self.solid_places(&origin, range));
        }
        places
    }

    /// Where the points of a rigid body are whose shape's axes are at `origin`.
    pub(crate) fn solid_places<S: Space>(
        &self,
        origin: &Pose<S>,
        range: &Range<usize>,
    ) -> impl Iterator<Item = [f64; 3]> {
        let place = |p: &[f64; 3]| origin.point(vector::<S>(DVec3::from_array(*p)));
        self.points[range.clone()]
            .iter()
            .map(move |p| place(p).to_array3())
    }

    /// How the vertices move, m/s.
    pub(crate) fn speeds<S: Space>(&self, bodies: &Bodies<S>) -> Vec<[f64; 3]> {
        let speed = |&k: &u32| bodies.motion[k as usize].linear.to_array3();
        let mut speeds: Vec<[f64; 3]> = self.nodes().iter().map(speed).collect();
        for (body, range) in &self.solids {
            let k = *body as usize;
            let (motion, origin) = (bodies.motion[k], bodies.origin(k));
            speeds.extend(self.points[range.clone()].iter().map(|p| {
                let place = origin.point(vector::<S>(DVec3::from_array(*p)));
                let turning = S::spin_cross(motion.spin, place - bodies.position[k]);
                (motion.linear + turning).to_array3()
            }));
        }
        speeds
    }

    /// The bodies that are nodes.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.bodies[..self.nodes]
    }

    /// Whether a vertex is a point of a rigid body.
    pub(crate) fn is_rigid(&self, vertex: u32) -> bool {
        vertex as usize >= self.nodes
    }

    /// The number of a rigid body's point within its body, from 1; 0 for nodes.
    pub(crate) fn number_in_body(&self, vertex: u32) -> u32 {
        let Some(point) = (vertex as usize).checked_sub(self.nodes) else {
            return 0;
        };
        let place = self.solids.partition_point(|(_, r)| r.end <= point);
        let first = self.solids.get(place).map_or(0, |(_, range)| range.start);
        (point - first) as u32 + 1
    }

    /// Adds the skeletons of rigid bodies that come near `near` within `dt` seconds.
    pub(crate) fn add_rigid<S: Space>(
        &mut self,
        bodies: &Bodies<S>,
        near: &Bounds<S>,
        dt: f64,
        purpose: Purpose,
    ) {
        let has_threads = self.has_faces.iter().any(|has| !has);
        for k in 0..bodies.len() {
            let meets = bodies.is_present(k)
                && bodies.node_of[k] == 0
                && !bodies.is_sensor[k]
                && bodies.one_way[k].is_none();
            if !meets {
                continue;
            }
            let origin = bodies.origin(k);
            let motion = &bodies.motion[k];
            let sweep = dt * (motion.linear.length() + motion.spin.length() * bodies.radius[k]);
            let near = near.grown(sweep);
            let bounds = bodies.shape[k].bounds(&origin);
            if !bounds.is_some_and(|b| b.overlaps(&near)) {
                continue;
            }
            let first = self.points.len();
            for mut skeleton in bodies.shape[k].skeletons() {
                keep_near(&mut skeleton, &origin, &near);
                self.add_skeleton(k as u32, &skeleton, purpose, has_threads);
            }
            if self.points.len() > first {
                self.solids.push((k as u32, first..self.points.len()));
            }
        }
    }

    fn add_skeleton(
        &mut self,
        body: u32,
        skeleton: &Skeleton,
        purpose: Purpose,
        has_threads: bool,
    ) {
        let first = self.bodies.len() as u32;
        let count = skeleton.points.len();
        self.points.extend(&skeleton.points);
        self.bodies.extend(std::iter::repeat_n(body, count));
        self.half.extend(std::iter::repeat_n(0.0, count));
        self.round
            .extend(std::iter::repeat_n(skeleton.radius, count));
        self.has_faces.extend(std::iter::repeat_n(true, count));
        let is_passage = purpose == Purpose::Passage;
        if self.dim == 3 || is_passage {
            let edges = skeleton.edges.iter().map(|edge| edge.map(|v| first + v));
            self.edges.extend(edges);
        }
        if self.dim == 3 && is_passage {
            let faces = skeleton.faces.iter().map(|face| face.map(|v| first + v));
            self.faces.extend(faces);
        }
        // A ball meets a thread as an edge of no length does.
        if self.dim == 3 && has_threads && skeleton.edges.is_empty() {
            self.edges.extend((0..count as u32).map(|v| [first + v; 2]));
        }
    }

    /// Distance at which a pair's surfaces touch: thickness and radii of both sides, m.
    pub(crate) fn touching(&self, pair: &Pair) -> f64 {
        self.thickness(pair) + self.rounding(pair)
    }

    /// Half thickness of both sides of a pair together, m.
    pub(crate) fn thickness(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.vertices();
        self.half[a[0] as usize] + self.half[b[0] as usize]
    }

    /// Radii of rigid bodies on either side of a pair together, m.
    pub(crate) fn rounding(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.vertices();
        self.round[a[0] as usize] + self.round[b[0] as usize]
    }

    /// How far a vertex's surface is from it, m.
    pub(crate) fn depth(&self, vertex: u32) -> f64 {
        self.half[vertex as usize] + self.round[vertex as usize]
    }

    /// Whether a node of one side is fixed to the body of the other, so that they do not touch.
    pub(crate) fn is_tied<S: Space>(&self, bodies: &Bodies<S>, pair: &Pair) -> bool {
        let [a, b] = pair.vertices();
        let body = |v: u32| self.bodies[v as usize] as usize;
        let tied = |nodes: [u32; 3], to: u32| {
            self.is_rigid(to) && nodes.iter().any(|&v| bodies.is_tied(body(v), body(to)))
        };
        tied(a, b[0]) || tied(b, a[0])
    }

    /// Whether both sides of a pair have faces, so that a vertex of one meets faces of the other.
    pub(crate) fn is_seen_by_faces(&self, pair: &Pair) -> bool {
        let [a, b] = pair.vertices();
        self.has_faces[a[0] as usize] && self.has_faces[b[0] as usize]
    }

    /// Pairs that may come nearer than their radii and this part of their thickness as vertices
    /// move from start to end, in an order that depends on nothing else. None where a place is no
    /// number: the step says so elsewhere.
    pub(crate) fn pairs(
        &self,
        start: &[[f64; 3]],
        end: &[[f64; 3]],
        part: f64,
        finder: &mut Finder,
    ) -> Vec<Pair> {
        let grown = |(half, round): (&f64, &f64)| part * half + round;
        let radii: Vec<f64> = self.half.iter().zip(&self.round).map(grown).collect();
        let mesh = Mesh {
            edges: &self.edges,
            faces: &self.faces,
        };
        let fit = finder.fit();
        let edge = |k: u32| self.edges[k as usize];
        let both_rigid = |v: u32, w: u32| self.is_rigid(v) && self.is_rigid(w);
        if self.dim == 2 {
            let flat = |list: &[[f64; 3]]| -> Vec<DVec2> {
                list.iter().map(|p| DVec2::new(p[0], p[1])).collect()
            };
            let broad = &mut finder.plane;
            let swept = broad.sweep_round(&mesh, &flat(start), &flat(end), (&radii, fit));
            let found: &[[u32; 2]] = if swept.is_ok() {
                broad.vertex_edge()
            } else {
                &[]
            };
            let soft = found.iter().filter(|&&[v, e]| !both_rigid(v, edge(e)[0]));
            return soft.map(|&[v, e]| Pair::EdgeVertex(edge(e), v)).collect();
        }
        let solid = |list: &[[f64; 3]]| -> Vec<DVec3> {
            list.iter().map(|&p| DVec3::from_array(p)).collect()
        };
        let broad = &mut finder.space;
        let swept = broad.sweep_round(&mesh, &solid(start), &solid(end), (&radii, fit));
        if swept.is_err() {
            return Vec::new();
        }
        let face = |k: u32| self.faces[k as usize];
        let faces = broad.vertex_face().iter();
        let soft = faces.filter(|&&[v, f]| !both_rigid(v, face(f)[0]));
        let mut pairs: Vec<Pair> = soft.map(|&[v, f]| Pair::FaceVertex(face(f), v)).collect();
        let edges = broad.edge_edge().iter();
        let soft = edges.filter(|&&[e, f]| !both_rigid(edge(e)[0], edge(f)[0]));
        pairs.extend(soft.map(|&[e, f]| Pair::Edges(edge(e), edge(f))));
        pairs
    }
}

/// The broad phase, with trees that later sweeps of the same mesh fit again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    plane: BroadPhase<D2>,
    space: BroadPhase<D3>,
    is_sorted: bool,
}

impl Finder {
    fn fit(&mut self) -> Fit {
        if std::mem::replace(&mut self.is_sorted, true) {
            Fit::Again
        } else {
            Fit::Anew
        }
    }
}

/// Skeletons with more faces and edges than this are cut down to what is near.
const WHOLE: usize = 300;

/// Takes out of a landscape's skeleton what is not near.
fn keep_near<S: Space>(skeleton: &mut Skeleton, origin: &Pose<S>, near: &Bounds<S>) {
    if skeleton.edges.len() <= WHOLE {
        return;
    }
    let at = |&k: &u32| {
        let point = DVec3::from_array(skeleton.points[k as usize]);
        origin.point(vector::<S>(point))
    };
    let is_near = |corners: &[u32]| {
        let point = |p: S::Vector| Bounds { lower: p, upper: p };
        let around = corners.iter().map(at).map(point).reduce(Bounds::union);
        around.is_some_and(|bounds| bounds.overlaps(near))
    };
    let edges = skeleton.edges.iter().filter(|edge| is_near(*edge));
    let edges: Vec<[u32; 2]> = edges.copied().collect();
    let faces = skeleton.faces.iter().filter(|face| is_near(*face));
    let faces: Vec<[u32; 3]> = faces.copied().collect();
    let mut number = vec![u32::MAX; skeleton.points.len()];
    let mut points = Vec::new();
    let mut kept = |v: u32| {
        let number = &mut number[v as usize];
        if *number == u32::MAX {
            *number = points.len() as u32;
            points.push(skeleton.points[v as usize]);
        }
        *number
    };
    let edges = edges.into_iter().map(|edge| edge.map(&mut kept)).collect();
    let faces = faces.into_iter().map(|face| face.map(&mut kept)).collect();
    *skeleton = Skeleton {
        points,
        edges,
        faces,
        radius: skeleton.radius,
    };
}

/// The box around places.
pub(crate) fn around<S: Space>(places: impl Iterator<Item = S::Vector>) -> Option<Bounds<S>> {
    let point = |p: S::Vector| Bounds { lower: p, upper: p };
    places.map(point).reduce(Bounds::union)
}
