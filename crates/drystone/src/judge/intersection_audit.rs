//! Intersection audit of a state: what intersects, and the least distance of surfaces.
//!
//! Edges and faces of deformables are compared with each other and with the
//! [skeletons](crate::geometry::shape::Skeleton) of rigid bodies by exact predicates
//! ([`crate::geometry::intersect`]); where a rigid body has a radius, by its distance. What the step knows
//! about contacts is not asked. Nothing is compared with primitives that share a vertex.
//!
//! Distances are between middle surfaces: sheets that touch are as far apart as they are thick.
//! From a rigid body they are measured to its surface.

use crate::geometry::Space;
use crate::geometry::bvh::median_split::Tree;
use crate::geometry::ccd::distance;
use crate::geometry::intersect;
use crate::geometry::intersect::IntersectError;
use crate::geometry::shape::{Bounds, Geometry};
use crate::math::algebra::{Components, D3};
use crate::model::body::{Bodies, BodyId};
use crate::model::deformable::store::Deformables;
use glamx::{DVec2, DVec3};

/// How much farther the search for the least distance goes in each round.
const FARTHER: f64 = 4.0;

/// Two bodies or nodes whose edges and faces share a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// A node of the one and a node or the body of the other.
    pub bodies: [BodyId; 2],
    /// A point nearby, m.
    pub place: [f64; 3],
}

/// What is there to say about a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Everything that intersects a deformable.
    pub intersections: Vec<Intersection>,
    /// The least distance of a deformable from anything that is not its neighbour, m. `None`
    /// where there is nothing else. Not negative: what intersects is 0 apart.
    pub min_distance_m: Option<f64>,
}

/// All surfaces as plain arrays.
#[derive(Default)]
struct Surfaces {
    places: Vec<DVec3>,
    body: Vec<u32>,
    /// Number from 1 of the body that each node is fixed to, 0 if to none.
    tied: Vec<u32>,
    /// Around points of rigid bodies, m.
    radius: Vec<f64>,
    /// Those of deformables first.
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    soft_edges: usize,
    soft_faces: usize,
    soft_vertices: usize,
    /// Half-spaces: a vertex on the plane, the unit vector out.
    walls: Vec<(u32, DVec3)>,
    thickest: f64,
}

/// Judges a state.
pub(crate) fn audit<S: Space>(
    deformables: &Deformables,
    bodies: &Bodies<S>,
) -> Result<Audit, IntersectError> {
    if deformables.is_empty() {
        return Ok(Audit::default());
    }
    let surfaces = Surfaces::new(deformables, bodies);
    let mut cut: Vec<([u32; 2], DVec3)> = surfaces.exact(S::DIM)?;
    let (round, least) = surfaces.distances(S::DIM, &|a, b| {
        bodies.groups[a as usize].allow(bodies.groups[b as usize])
    });
    cut.extend(round);
    cut.retain(|([a, b], _)| {
        let groups = |k: u32| bodies.groups[k as usize];
        groups(*a).allow(groups(*b))
    });
    let min_distance_m = if cut.is_empty() { least } else { Some(0.0) };
    let named = |([a, b], place): ([u32; 2], DVec3)| Intersection {
        bodies: [a, b].map(|k| bodies.id(k as usize)),
        place: place.to_array(),
    };
    Ok(Audit {
        intersections: cut.into_iter().map(named).collect(),
        min_distance_m,
    })
}

impl Surfaces {
    fn new<S: Space>(deformables: &Deformables, bodies: &Bodies<S>) -> Self {
        let mut all = Self::default();
        let mut number = vec![u32::MAX; bodies.len()];
        for soft in deformables.iter() {
            all.thickest = all.thickest.max(soft.thickness);
            for &k in &soft.nodes {
                number[k as usize] = all.places.len() as u32;
                all.push(bodies.position[k as usize], k, 0.0);
                all.tied.push(bodies.tied_to[k as usize]);
            }
            let vertex = |k: u32| number[k as usize];
            all.edges.extend(soft.edges.iter().map(|e| e.map(vertex)));
            if S::DIM == 3 {
                all.faces.extend(soft.faces.iter().map(|f| f.map(vertex)));
            }
        }
        all.soft_edges = all.edges.len();
        all.soft_faces = all.faces.len();
        all.soft_vertices = all.places.len();
        for k in 0..bodies.len() {
            let meets = bodies.is_present(k)
                && bodies.node_of[k] == 0
                && !bodies.is_sensor[k]
                && bodies.one_way[k].is_none();
            if meets {
                all.add_rigid(bodies, k);
            }
        }
        all
    }

    fn push<V: Components>(&mut self, place: V, body: u32, radius: f64) {
        self.places.push(DVec3::from_array(place.to_array3()));
        self.body.push(body);
        self.radius.push(radius);
    }

    fn add_rigid<S: Space>(&mut self, bodies: &Bodies<S>, k: usize) {
        let origin = bodies.origin(k);
        if bodies.shape[k].bounds(&origin).is_none() {
            for part in bodies.shape[k].parts() {
                if let drystone_frame::Form::HalfSpace { normal } = part.form {
                    let normal = crate::math::algebra::vector::<S>(DVec3::from_array(normal));
                    let normal = S::rotate(origin.rotation, normal).to_array3();
                    let point = origin.position;
                    self.walls
                        .push((self.places.len() as u32, DVec3::from_array(normal)));
                    self.push(point, k as u32, 0.0);
                }
            }
        }
        for skeleton in bodies.shape[k].skeletons() {
            let first = self.places.len() as u32;
            for &point in &skeleton.points {
                let local = crate::math::algebra::vector::<S>(DVec3::from_array(point));
                self.push(origin.point(local), k as u32, skeleton.radius);
            }
            let after = |v: u32| first + v;
            self.edges
                .extend(skeleton.edges.iter().map(|e| e.map(after)));
            self.faces
                .extend(skeleton.faces.iter().map(|f| f.map(after)));
            // A ball meets an edge as an edge of no length does.
            if skeleton.edges.is_empty() {
                let count = skeleton.points.len() as u32;
                self.edges.extend((0..count).map(|v| [first + v; 2]));
            }
        }
    }

    /// Whether a node among these vertices is fixed to the body of the others.
    fn is_tied(&self, a: &[u32], b: &[u32]) -> bool {
        let tied = |nodes: &[u32], to: u32| {
            let number = self.body[to as usize] + 1;
            nodes
                .iter()
                .any(|&v| self.tied.get(v as usize) == Some(&number))
        };
        tied(a, b[0]) || tied(b, a[0])
    }

    /// Pairs of bodies whose edges and faces share a point, radii left aside.
    fn exact(&self, dim: usize) -> Result<Vec<([u32; 2], DVec3)>, IntersectError> {
        let pair = |a: &[u32], b: &[u32]| {
            let bodies = [a[0], b[0]].map(|v| self.body[v as usize]);
            (!self.is_tied(a, b)).then(|| (bodies, self.places[a[0] as usize]))
        };
        let (soft, rigid) = self.edges.split_at(self.soft_edges);
        if dim == 2 {
            let flat: Vec<DVec2> = self.places.iter().map(|p| DVec2::new(p.x, p.y)).collect();
            let found = intersect::edges_in_plane(&flat, &self.edges)?;
            let is_soft = |[e, _]: &[u32; 2]| (*e as usize) < self.soft_edges;
            let edge = |e: u32| &self.edges[e as usize];
            let found = found.into_iter().filter(is_soft);
            return Ok(found.filter_map(|[e, f]| pair(edge(e), edge(f))).collect());
        }
        let mut cut = Vec::new();
        for [e, f] in intersect::edge_face(&self.places, soft, &self.faces)? {
            cut.extend(pair(&soft[e as usize], &self.faces[f as usize]));
        }
        let soft_faces = &self.faces[..self.soft_faces];
        for [e, f] in intersect::edge_face(&self.places, rigid, soft_faces)? {
            cut.extend(pair(&soft_faces[f as usize], &rigid[e as usize]));
        }
        for [e, f] in intersect::edges_in_space(&self.places, soft)? {
            cut.extend(pair(&soft[e as usize], &soft[f as usize]));
        }
        Ok(cut)
    }

    /// Pairs nearer than a rigid body's radius, and the least distance of all.
    fn distances(
        &self,
        dim: usize,
        allow: &dyn Fn(u32, u32) -> bool,
    ) -> (Vec<([u32; 2], DVec3)>, Option<f64>) {
        let whole = bounds(&self.places);
        let size = (whole.upper - whole.lower).length();
        let mut reach = self.thickest;
        loop {
            let mut near = Vec::new();
            let mut least: Option<f64> = None;
            let mut note = |of_soft: &[u32], of_other: &[u32], squared: f64| {
                let (v, w) = (of_soft[0], of_other[0]);
                let [a, b] = [v, w].map(|v| self.body[v as usize]);
                if !allow(a, b) || self.is_tied(of_soft, of_other) {
                    return;
                }
                let round = self.radius[v as usize] + self.radius[w as usize];
                let distance = squared.sqrt() - round;
                least = Some(least.map_or(distance, |least| least.min(distance)));
                let is_wall = self.walls.iter().any(|(wall, _)| *wall == w);
                if distance <= 0.0 && (round > 0.0 || is_wall) {
                    near.push(([a, b], self.places[v as usize]));
                }
            };
            if dim == 3 {
                self.each_vertex_face(reach, &mut note);
            }
            self.each_edge_edge(reach, &mut note);
            self.each_wall(&mut note);
            if least.is_some_and(|d| d <= reach) || reach > size {
                return (near, least);
            }
            reach *= FARTHER;
        }
    }

    /// Nodes below walls count by their depth.
    fn each_wall(&self, note: &mut impl FnMut(&[u32], &[u32], f64)) {
        for &(wall, out) in &self.walls {
            for v in 0..self.soft_vertices as u32 {
                let above = self.places[v as usize] - self.places[wall as usize];
                let height = out.dot(above).max(0.0);
                note(&[v], &[wall], height * height);
            }
        }
    }

    fn each_vertex_face(&self, reach: f64, note: &mut impl FnMut(&[u32], &[u32], f64)) {
        let around = |f: &[u32; 3]| {
            let radius = self.radius[f[0] as usize];
            bounds(&f.map(|v| self.places[v as usize])).grown(radius + reach)
        };
        let boxes: Vec<Bounds<D3>> = self.faces.iter().map(around).collect();
        let tree = Tree::new(&boxes);
        for (v, &place) in self.places.iter().enumerate() {
            let is_soft = v < self.soft_vertices;
            if self.walls.iter().any(|(wall, _)| *wall as usize == v) {
                continue;
            }
            let own = bounds(&[place]).grown(self.radius[v]);
            tree.overlapping(&boxes, &own, |f| {
                let face = self.faces[f];
                if (is_soft || f < self.soft_faces) && !face.contains(&(v as u32)) {
                    let corners = face.map(|v| self.places[v as usize]);
                    let closest = distance::point_triangle(place, &corners);
                    let (vertex, corners) = ([v as u32], &face[..]);
                    if is_soft {
                        note(&vertex, corners, closest.squared_distance);
                    } else {
                        note(corners, &vertex, closest.squared_distance);
                    }
                }
            });
        }
    }

    fn each_edge_edge(&self, reach: f64, note: &mut impl FnMut(&[u32], &[u32], f64)) {
        let ends = |e: &[u32; 2]| e.map(|v| self.places[v as usize]);
        let around = |e: &[u32; 2]| bounds(&ends(e)).grown(self.radius[e[0] as usize] + reach);
        let boxes: Vec<Bounds<D3>> = self.edges.iter().map(around).collect();
        let tree = Tree::new(&boxes);
        for (e, edge) in self.edges[..self.soft_edges].iter().enumerate() {
            tree.overlapping(&boxes, &bounds(&ends(edge)), |f| {
                let other = &self.edges[f];
                let is_once = f > e || f >= self.soft_edges;
                if is_once && !edge.iter().any(|v| other.contains(v)) {
                    let closest = distance::edge_edge(&ends(edge), &ends(other));
                    note(edge, other, closest.squared_distance);
                }
            });
        }
    }
}

fn bounds(points: &[DVec3]) -> Bounds<D3> {
    let point = |&p: &DVec3| Bounds { lower: p, upper: p };
    let nowhere = Bounds {
        lower: DVec3::ZERO,
        upper: DVec3::ZERO,
    };
    points
        .iter()
        .map(point)
        .reduce(Bounds::union)
        .unwrap_or(nowhere)
}
