//! Surfaces of bodies and deformables as points, edges and faces, for continuous collision.
//!
//! | object | primitives |
//! |---|---|
//! | a deformable | its outer nodes, edges and faces, as thick as half its thickness |
//! | a ball, a particle | one point as thick as its radius |
//! | a capsule | one edge as thick as its radius |
//! | a box, a hull, a compound, a mesh, a polyline | corners, edges, and in space triangles |
//! | a cylinder, a cone | the prism and the pyramid of 32 sides around it |
//! | a half-space | a [`Wall`] |
//!
//! A point that belongs to no edge is also a degenerate edge, so that edges find it. Edges between
//! triangles that are flat on each other are left out: whatever meets a flat facet first meets it
//! with a corner, or at the facet's border.
//!
//! # Cylinders and cones
//!
//! The prism is drawn *around* the cylinder, not into it as where deformables meet rigid bodies in
//! `velocity` ([`crate::geometry::shape::Skeleton`]): what keeps prisms apart then keeps the round solids
//! apart too, and neither the certificate, which looks at the round ones, nor
//! [`World::audit`](crate::World::audit) finds an overlap. The price is a distance: a curved side
//! is met up to 1/cos(π/32) − 1 = 0.5 % of the radius early. Ends are flat and exact, so is what
//! faces x or z in the cylinder's axes, and mass and inertia are those of the round solid.
//!
//! So what rolls is a prism of mass m, inertia I and sides of half-angle α = π/32 whose corners are
//! R = r/cos α from the axis. It rests on a side up to a slope of α = 5.6°. Each side that comes
//! down without bounce turns the spin about one edge into that about the next and leaves it
//! (I + mR² cos 2α)/(I + mR²) of its speed, 98.7 % of a solid cylinder's; so on a level floor a
//! turn costs a little more than half of its energy, and on a slope of θ > α it tends to
//! ω² = 4 m g R η² sin α sin θ / ((1 − η²)(I + mR²)) just after an impact, η being that part.
//!
//! # Rigid motion along straight lines
//!
//! Continuous collision ([`crate::geometry::ccd`]) moves every point on a straight line, which a turning
//! body's corners do not. But if a state is free of intersection and nothing meets while all points
//! go straight from where they are to where they will be, the end is free too: how they got there
//! does not matter. On the way a rigid body is an affine image of itself, so that flat facets stay
//! flat.

mod candidates;
mod lanes;
mod proximity;
mod rows;

pub(crate) use candidates::{Candidate, Nearby, Search, apart_from_the_end};
pub(crate) use proximity::{Encounter, Reach, Witness};
pub(crate) use rows::{contact_of, feature_of, nodes_of, row_of};

use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::shape::{Geometry, Skeleton};
use crate::math::algebra::{Components, Linear};
use crate::math::algebra::{solid, vector};
use crate::model::body::{Bodies, Kind, Motion};
use crate::model::deformable::Deformables;
use crate::parallel::thread_pool;
use drystone_frame::{Form, Part};
use glamx::{DQuat, DVec3};
use std::collections::BTreeMap;

/// A point of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex<S: Space> {
    /// The body that carries it.
    pub(crate) body: u32,
    /// From the body's centre of mass, in body axes, m.
    pub(crate) local: S::Vector,
    /// Thickness around it, m.
    pub(crate) radius: f64,
}

/// A half-space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wall<S: Space> {
    pub(crate) body: u32,
    /// Unit vector out of it, in body axes.
    normal: S::Vector,
    /// A point of its surface, in body axes, m.
    point: S::Vector,
}

/// The surfaces of everything.
#[derive(Clone, Debug)]
pub(crate) struct Primitives<S: Space> {
    pub(crate) vertices: Vec<Vertex<S>>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    /// Whether each vertex has faces around it.
    has_faces: Vec<bool>,
    /// Whether each vertex is a point by itself.
    is_alone: Vec<bool>,
    /// Whether each vertex belongs to a body that moves freely.
    is_free: Vec<bool>,
    walls: Vec<Wall<S>>,
}

/// Why a step that watches motion can't be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure<S: Space> {
    /// Two bodies (by number) touch or overlap at the start, by so many m.
    Overlap([u32; 2], f64),
    /// Scripts leave no room: the bodies, and the point where they meet.
    Infeasible([u32; 2], S::Vector),
    /// Numbers are none.
    Numbers,
}

/// Where all bodies are at the end of a step, and how they move on.
#[derive(Clone, Debug)]
pub(crate) struct Poses<S: Space> {
    /// Centres of mass, m.
    pub(crate) position: Vec<S::Vector>,
    pub(crate) rotation: Vec<S::Rotation>,
    pub(crate) motion: Vec<Motion<S>>,
}

impl<S: Space> Poses<S> {
    /// After bodies went `way` with these velocities (spins in terms of the inertia at the start).
    pub(crate) fn after(bodies: &Bodies<S>, way: &[Motion<S>], velocities: &[Motion<S>]) -> Self {
        let mut rotation = bodies.rotation.clone();
        let mut motion = velocities.to_vec();
        for k in (0..bodies.len()).filter(|&k| bodies.kind[k] != Kind::Particle) {
            rotation[k] = turned(bodies, &way[k], k);
            let turn = (bodies.rotation[k], rotation[k]);
            motion[k].spin = bodies.carried_spin(k, turn, velocities[k].spin);
        }
        let places = bodies.position.iter().zip(way);
        Self {
            position: places.map(|(place, way)| *place + way.linear).collect(),
            rotation,
            motion,
        }
    }
}

/// Sine of the angle between two triangles up to which they are flat on each other.
const FLAT: f64 = 1e-9;

impl<S: Space> Primitives<S> {
    /// The surfaces of all bodies and deformables.
    pub(crate) fn new(bodies: &Bodies<S>, deformables: &Deformables) -> Self {
        let mut all = Self {
            vertices: Vec::new(),
            edges: Vec::new(),
            faces: Vec::new(),
            has_faces: Vec::new(),
            is_alone: Vec::new(),
            is_free: Vec::new(),
            walls: Vec::new(),
        };
        all.add_deformables(bodies, deformables);
        for k in 0..bodies.len() {
            if !bodies.is_present(k) || bodies.node_of[k] != 0 || bodies.is_sensor[k] {
                continue;
            }
            for part in bodies.shape[k].parts() {
                all.add_part(bodies, k, &part);
            }
        }
        all.is_alone.resize(all.vertices.len(), false);
        for &[a, b] in &all.edges {
            all.is_alone[a as usize] |= a == b;
        }
        let is_free = |v: &Vertex<S>| bodies.is_dynamic(v.body as usize);
        all.is_free = all.vertices.iter().map(is_free).collect();
        all
    }

    fn add_deformables(&mut self, bodies: &Bodies<S>, deformables: &Deformables) {
        let mut number = vec![u32::MAX; bodies.len()];
        for soft in deformables.iter() {
            let has_faces = S::DIM == 3 && !soft.faces.is_empty();
            let faces = if has_faces { &soft.faces[..] } else { &[] };
            let (vertices, flags) = (&mut self.vertices, &mut self.has_faces);
            vertices.reserve(soft.nodes.len());
            flags.reserve(soft.nodes.len());
            let mut vertex = |body: u32| {
                let number = &mut number[body as usize];
                if *number == u32::MAX {
                    *number = vertices.len() as u32;
                    vertices.push(Vertex {
                        body,
                        local: S::Vector::default(),
                        radius: 0.5 * soft.thickness,
                    });
                    flags.push(has_faces);
                }
                *number
            };
            self.edges
                .extend(soft.edges.iter().map(|e| e.map(&mut vertex)));
            self.faces.extend(faces.iter().map(|f| f.map(&mut vertex)));
        }
    }

    /// Adds a part of a body.
    fn add_part(&mut self, bodies: &Bodies<S>, k: usize, part: &Part) {
        let turn = DQuat::from_array(part.rotation);
        let local = |p: [f64; 3]| {
            let place = DVec3::from_array(part.position) + turn * DVec3::from_array(p);
            vector::<S>(place) - bodies.center[k]
        };
        let mut add = |points: &[[f64; 3]], radius: f64, has_faces: bool| {
            let first = self.vertices.len() as u32;
            for &point in points {
                self.vertices.push(Vertex {
                    body: k as u32,
                    local: local(point),
                    radius,
                });
                self.has_faces.push(has_faces);
            }
            first
        };
        match &part.form {
            Form::Ball { radius } => {
                let first = add(&[[0.0; 3]], *radius, false);
                self.edges.push([first; 2]);
            }
            Form::Capsule {
                half_length,
                radius,
            } => {
                let ends = [[0.0, -half_length, 0.0], [0.0, *half_length, 0.0]];
                let first = add(&ends, *radius, false);
                self.edges.push([first, first + 1]);
            }
            Form::Box { half } if S::DIM == 3 => {
                let (points, triangles) = block(*half);
                let first = add(&points, 0.0, true);
                self.add_mesh(first, &points, &triangles);
            }
            Form::Box { half: [x, y, _] } => {
                let points = [[-x, -y, 0.0], [*x, -y, 0.0], [*x, *y, 0.0], [-x, *y, 0.0]];
                let first = add(&points, 0.0, false);
                self.add_outline(first, points.len(), true);
            }
            Form::Outline { points, closed } => {
                let first = add(points, 0.0, false);
                self.add_outline(first, points.len(), *closed);
            }
            Form::Mesh { points, triangles } => {
                let first = add(points, 0.0, true);
                self.add_mesh(first, points, triangles);
            }
            Form::HalfSpace { normal } => {
                let normal = vector::<S>(turn * DVec3::from_array(*normal));
                self.walls.push(Wall {
                    body: k as u32,
                    normal,
                    point: local([0.0; 3]),
                });
            }
            Form::Cylinder {
                half_height,
                radius,
            }
            | Form::Cone {
                half_height,
                radius,
            } => {
                let has_tip = matches!(part.form, Form::Cone { .. });
                let around = Skeleton::around_revolution(*half_height, *radius, has_tip);
                let first = add(&around.points, 0.0, true);
                self.add_skeleton(first, &around);
            }
        }
    }

    fn add_skeleton(&mut self, first: u32, skeleton: &Skeleton) {
        let after = |v: u32| first + v;
        let edges = skeleton.edges.iter().map(|edge| edge.map(after));
        self.edges.extend(edges);
        let faces = skeleton.faces.iter().map(|face| face.map(after));
        self.faces.extend(faces);
    }

    fn add_outline(&mut self, first: u32, count: usize, closed: bool) {
        let count = count as u32;
        let sides = if closed {
            count
        } else {
            count.saturating_sub(1)
        };
        self.edges
            .extend((0..sides).map(|k| [first + k, first + (k + 1) % count]));
    }

    /// Adds triangles, and those of their edges that are not flat.
    fn add_mesh(&mut self, first: u32, points: &[[f64; 3]], triangles: &[[u32; 3]]) {
        let at = |k: u32| DVec3::from_array(points[k as usize]);
        let mut sides: BTreeMap<[u32; 2], Vec<DVec3>> = BTreeMap::new();
        for &[a, b, c] in triangles {
            let normal = (at(b) - at(a)).cross(at(c) - at(a)).normalize_or_zero();
            for [p, q] in [[a, b], [b, c], [c, a]] {
                sides.entry([p.min(q), p.max(q)]).or_default().push(normal);
            }
            self.faces.push([a, b, c].map(|v| first + v));
        }
        for (edge, normals) in sides {
            let is_flat =
                matches!(normals[..], [n, m] if n.cross(m).length() < FLAT && n.dot(m) > 0.0);
            if !is_flat {
                self.edges.push(edge.map(|v| first + v));
            }
        }
    }

    /// Where all points are after bodies went `way` (m and rad) from where they stand.
    pub(crate) fn places(&self, bodies: &Bodies<S>, way: &[Motion<S>]) -> Vec<[f64; 3]> {
        self.places_by(bodies, way, 1)
    }

    /// The same on several threads.
    pub(crate) fn places_by(
        &self,
        bodies: &Bodies<S>,
        way: &[Motion<S>],
        threads: usize,
    ) -> Vec<[f64; 3]> {
        let place = |v: &Vertex<S>| {
            let k = v.body as usize;
            let center = bodies.position[k] + way[k].linear;
            if v.local == S::Vector::default() {
                return center.to_array3();
            }
            let rotation = turned(bodies, &way[k], k);
            (center + S::rotate(rotation, v.local)).to_array3()
        };
        thread_pool::gather_from(self.vertices.len(), threads, |part, list| {
            list.extend(self.vertices[part].iter().map(place));
        })
    }

    pub(crate) fn wall_count(&self) -> usize {
        self.walls.len()
    }

    fn wall_body(&self, wall: u32) -> usize {
        self.walls[wall as usize].body as usize
    }

    /// A wall's unit vector and a point of its surface after its body went `way`.
    pub(crate) fn wall_at(&self, wall: u32, bodies: &Bodies<S>, way: &Motion<S>) -> (DVec3, DVec3) {
        let wall = &self.walls[wall as usize];
        let k = wall.body as usize;
        let rotation = turned(bodies, way, k);
        let point = bodies.position[k] + way.linear + S::rotate(rotation, wall.point);
        (
            solid::<S>(S::rotate(rotation, wall.normal)),
            solid::<S>(point),
        )
    }

    /// Whether two bodies may touch. Pairs that share a body may not, nor a node and what it is
    /// fixed to.
    fn may_meet(bodies: &Bodies<S>, rules: &PairRules<'_, S>, a: u32, b: u32) -> bool {
        let pair = (a.min(b), a.max(b));
        let [first, second] = [a, b].map(|k| k as usize);
        let is_soft = bodies.node_of[first] != 0 && bodies.node_of[second] != 0;
        (a != b || is_soft)
            && bodies.groups[first].allow(bodies.groups[second])
            && !(bodies.is_tied(first, second) || bodies.is_tied(second, first))
            && rules.apart.binary_search(&pair).is_err()
            && rules.hooks.is_none_or(|hooks| {
                hooks.allows(bodies.id(pair.0 as usize), bodies.id(pair.1 as usize))
            })
    }
}

/// The rotation of a body after it went its way.
fn turned<S: Space>(bodies: &Bodies<S>, way: &Motion<S>, k: usize) -> S::Rotation {
    if way.spin == S::Spin::default() {
        bodies.rotation[k]
    } else {
        S::turn(bodies.rotation[k], way.spin)
    }
}

/// Corners and triangles of a box.
fn block(half: [f64; 3]) -> ([[f64; 3]; 8], [[u32; 3]; 12]) {
    let corner = |k: usize| {
        [0, 1, 2].map(|axis| {
            if k >> axis & 1 == 0 {
                -half[axis]
            } else {
                half[axis]
            }
        })
    };
    let points = [0, 1, 2, 3, 4, 5, 6, 7].map(corner);
    let triangles = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    (points, triangles)
}

/// How far apart the ends of two ways are at most, m, that a body of this radius goes.
pub(crate) fn size<S: Space>(way: &Motion<S>, radius: f64) -> f64 {
    let turn = way.spin.length();
    let sweep = if turn > 0.0 && radius.is_finite() {
        turn * radius
    } else {
        0.0
    };
    way.linear.length() + sweep
}
