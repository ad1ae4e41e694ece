//! Attached nodes: nodes of deformables that the unknowns of a body carry.
//!
//! Such a node has no unknowns of its own. With its arm a from the body's centre at the start of the
//! step it goes $u + \exp(\theta\times)a - a$, as a point of the body's surface does, and everything
//! that acts on it reaches u and θ by the derivative of that: elastic forces, barriers, friction, and
//! its own inertia $\tfrac12 m|x - x^*|^2$, which is a mass on the body at that arm. So a node can't
//! leave its place, nothing has to be repaired, and the force that holds it is what is left of its
//! momentum ([`super::solution`]). Curvature leaves out the second derivative along θ, as that of
//! surfaces does.
//!
//! The road not taken: springs or multipliers between node and body. The ones give way, the others
//! make the matrix indefinite.

use super::contact_terms::Term;
use super::coordinates::{Columns, MOST};
use super::potential::{Potential, State, row_dot};
use crate::contact::attachment_contacts;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::algebra::solid;
use crate::math::algebra::{Components, Linear};
use crate::math::block_cholesky::BlockCholesky;
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::Soft;
use crate::model::deformable::attachment::Attachment;
use crate::model::deformable::element::Local;
use glamx::{DMat3, DVec3};

/// Which nodes which bodies carry.
#[derive(Clone, Debug)]
pub(super) struct Carriers {
    /// Of each body: the one that carries it, or itself.
    of: Vec<u32>,
    /// Those that another carries.
    pub(super) nodes: Vec<u32>,
}

impl Carriers {
    /// Nodes that do not move by themselves are carried by nothing.
    pub(super) fn new<'a, S: Space>(
        bodies: &Bodies<S>,
        attached: impl Iterator<Item = &'a Attachment>,
    ) -> Self {
        let mut all = Self {
            of: (0..bodies.len() as u32).collect(),
            nodes: Vec::new(),
        };
        for a in attached.filter(|a| bodies.is_dynamic(a.node as usize)) {
            all.of[a.node as usize] = a.body;
            all.nodes.push(a.node);
        }
        all
    }

    /// The body whose motion moves this one: mostly itself.
    pub(super) fn of(&self, body: u32) -> usize {
        self.of[body as usize] as usize
    }

    pub(super) fn has(&self, node: u32) -> bool {
        self.of[node as usize] != node
    }

    /// Takes nodes along with their bodies.
    pub(super) fn carry<S: Space>(&self, bodies: &Bodies<S>, way: &mut [Motion<S>]) {
        for &node in &self.nodes {
            let (k, body) = (node as usize, self.of(node));
            let arm = bodies.position[k] - bodies.position[body];
            let turn = S::turn(S::Rotation::default(), way[body].spin);
            way[k].linear = way[body].linear + S::rotate(turn, arm) - arm;
        }
    }

    /// Adds how far carried vertices (given by their bodies) may stray from straight lines as bodies
    /// go `way`, m: see [`crate::contact::primitives::Primitives::bulge`].
    pub(super) fn add_bulge<S: Space>(
        &self,
        bodies: &Bodies<S>,
        way: &[Motion<S>],
        vertices: impl Iterator<Item = u32>,
        bulge: &mut [f64],
    ) {
        for (bulge, node) in bulge.iter_mut().zip(vertices).filter(|(_, v)| self.has(*v)) {
            let body = self.of(node);
            let arm = bodies.position[node as usize] - bodies.position[body];
            let turn = way[body].spin.length();
            *bulge += arm.length() * (0.125 * turn * turn).min(2.0);
        }
    }
}

/// An element to second order, times h², with a carried node among its nodes.
pub(super) struct Piece {
    bodies: Vec<u32>,
    /// Slope on each node, N·s².
    slopes: Vec<DVec3>,
    /// What moving node q does to node p, N·s²/m, at p times their number plus q.
    blocks: Vec<DMat3>,
}

impl<S: Space> Potential<'_, S> {
    /// Whether a node of a deformable is carried.
    pub(super) fn is_carried(&self, soft: &Soft, node: u32) -> bool {
        self.coordinates.carriers.has(soft.nodes[node as usize])
    }

    /// How the middle of a body moves with the unknowns that carry it.
    fn columns_of(&self, body: u32, state: &State<S>) -> Columns {
        let k = body as usize;
        let place = solid::<S>(self.bodies.position[k] + state.way[k].linear);
        let way = (self.bodies, &state.way[..]);
        (self.coordinates).columns(body, way, place, &state.jacobians[k])
    }

    /// Adds how far columns go with what is ahead of the scripted body that carries them, m; nothing
    /// for what is unknown.
    pub(super) fn add_scripted_way(
        &self,
        body: u32,
        columns: &Columns,
        ahead: &[Motion<S>],
        sum: &mut DVec3,
    ) {
        if self.coordinates.unknown[body as usize].is_some() {
            return;
        }
        let ahead = &ahead[self.coordinates.carriers.of(body)];
        for (axis, column) in columns.iter().enumerate().take(S::DIM + S::SPIN_DIM) {
            let by = if axis < S::DIM {
                ahead.linear.component(axis)
            } else {
                ahead.spin.component(axis - S::DIM)
            };
            *sum += *column * by;
        }
    }

    /// Carried nodes that are off their ways without contact, if their bodies are unknown: each with
    /// x − x* in m and its mass in kg.
    fn carried_off(&self, state: &State<S>) -> impl Iterator<Item = (u32, DVec3, f64)> {
        let is_unknown = |node: &&u32| self.coordinates.unknown[**node as usize].is_some();
        let nodes = self.coordinates.carriers.nodes.iter().filter(is_unknown);
        let of = |&node: &u32| {
            let k = node as usize;
            let off = state.way[k].linear - self.goal[k].linear;
            (node, solid::<S>(off), self.bodies.mass(k))
        };
        nodes.map(of).collect::<Vec<_>>().into_iter()
    }

    /// ½ m |x − x*|² of carried nodes.
    pub(super) fn carried_energy(&self, state: &State<S>) -> f64 {
        self.carried_off(state)
            .map(|(_, off, mass)| 0.5 * mass * off.length_squared())
            .sum()
    }

    /// The same to second order.
    pub(super) fn carried_terms(&self, state: &State<S>) -> impl Iterator<Item = Term> {
        let square = self.dt * self.dt;
        self.carried_off(state).map(move |(node, off, mass)| Term {
            sides: vec![(node, self.columns_of(node, state))],
            slope: off * (mass / square),
            curvature: DMat3::IDENTITY * (mass / square),
            extra: Vec::new(),
            turning: None,
        })
    }

    /// An element between nodes that have `moved` (m, node after node), with what it does there and
    /// its damping at the start, N·s/m.
    pub(super) fn piece(
        &self,
        bodies: Vec<u32>,
        (local, damping): (&Local, &[f64]),
        moved: &[f64],
    ) -> Piece {
        let (square, count) = (self.dt * self.dt, bodies.len());
        let n = count * S::DIM;
        let mut slopes = vec![DVec3::ZERO; count];
        let mut blocks = vec![DMat3::ZERO; count * count];
        for at in 0..n {
            let (p, i) = (at / S::DIM, at % S::DIM);
            slopes[p][i] = square * local.gradient[at] + self.dt * row_dot(damping, n, at, moved);
            for other in 0..n {
                let (q, j) = (other / S::DIM, other % S::DIM);
                let k = at * n + other;
                let entry = square * local.stiffness[k] + self.dt * damping[k];
                blocks[p * count + q].col_mut(j)[i] = entry;
            }
        }
        Piece {
            bodies,
            slopes,
            blocks,
        }
    }

    /// Adds an element with a carried node.
    pub(super) fn add_piece(
        &self,
        matrix: &mut BlockCholesky,
        piece: &Piece,
        state: &State<S>,
        ahead: &[Motion<S>],
        (slope, scripted): (&mut [f64], &mut [f64]),
    ) {
        let count = piece.bodies.len();
        let all = piece.bodies.iter().map(|&k| self.columns_of(k, state));
        let columns: Vec<Columns> = all.collect();
        let mut moved = vec![DVec3::ZERO; count];
        for ((&k, columns), sum) in piece.bodies.iter().zip(&columns).zip(&mut moved) {
            self.add_scripted_way(k, columns, ahead, sum);
        }
        for p in 0..count {
            let Some(row) = self.coordinates.unknown[piece.bodies[p] as usize] else {
                continue;
            };
            let blocks = &piece.blocks[p * count..][..count];
            let start = matrix.start(row);
            let size = self.coordinates.sizes[row as usize] as usize;
            let pushed: DVec3 = blocks.iter().zip(&moved).map(|(k, x)| *k * *x).sum();
            for (i, column) in columns[p].iter().enumerate().take(size) {
                slope[start + i] += column.dot(piece.slopes[p]);
                scripted[start + i] += column.dot(pushed);
            }
            for q in 0..count {
                let column = self.coordinates.unknown[piece.bodies[q] as usize];
                let Some(column) = column.filter(|&column| row <= column) else {
                    continue;
                };
                let Some(place) = matrix.place(row, column) else {
                    continue;
                };
                let width = self.coordinates.sizes[column as usize] as usize;
                for (j, of_q) in columns[q].iter().enumerate().take(width) {
                    let pushed = blocks[q] * *of_q;
                    let mut entries = [0.0; MOST];
                    for (entry, of_p) in entries.iter_mut().zip(&columns[p]).take(size) {
                        *entry = of_p.dot(pushed);
                    }
                    matrix.add_to_column(place, j, &entries[..size]);
                }
            }
        }
    }

    /// The contacts that hold carried nodes where the step ends, given the impulse that each body
    /// needs, N·s.
    pub(super) fn holding(&self, state: &State<S>, needed: &[S::Vector]) -> Vec<Contact<S>> {
        let carriers = &self.coordinates.carriers;
        let attached = self.deformables.attached();
        let carried = attached.filter(|a| carriers.has(a.node));
        let mut contacts = attachment_contacts::contacts(carried, self.bodies, &[]);
        for contact in &mut contacts {
            let (k, normal) = (contact.b as usize, contact.point.normal);
            contact.point.position = self.bodies.position[k] + state.way[k].linear;
            contact.impulse = normal * needed[k].dot(normal).max(0.0);
        }
        contacts
    }
}
