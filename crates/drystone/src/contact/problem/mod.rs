//! The contact problem of one step, as plain data: all that a solver sees.
//!
//! # The law
//!
//! Let v\* be the velocities after forces and before contact, J the matrix that gives the
//! relative velocities at the contacts, M the masses, γ the contact impulses. Then
//!
//! $$ v^+ = v^* + M^{-1} J^T \gamma, \qquad u = J v^+ = A \gamma + J v^*,
//!    \qquad A = J M^{-1} J^T . $$
//!
//! For contact i, with u split into a normal part $u_N$ (positive: separating) and a tangential
//! part $u_T$, Signorini's and Coulomb's laws ask
//!
//! $$ 0 \le \gamma_N \perp \tilde u_N \ge 0, \quad \tilde u_N = u_N - t, \qquad
//!    \lVert\gamma_T\rVert \le \mu\gamma_N, \quad
//!    u_T \ne 0 \Rightarrow \gamma_T = -\mu\gamma_N\, u_T/\lVert u_T\rVert . $$
//!
//! The **target** t (m/s) holds what the contact has to reach beyond zero: the rebound
//! $-e\,u_N^-$ of Newton's hypothesis, the repair of an overlap, or (negative) the speed at
//! which a gap may still close. See [`assemble`].
//!
//! # Signs
//!
//! Normals point from A to B; u = (velocity of B's point) − (velocity of A's); γ acts on B and
//! −γ on A. In a contact's local coordinates component 0 is the normal, the rest are tangents.
//!
//! # Sides
//!
//! What touches is a [`Side`]: nothing that moves, a particle, a point of a rigid body, or a
//! weighted sum of nodes. A side's point velocity is linear in body velocities, so J is applied
//! without being built: [`ContactProblem::velocity`] and [`ContactProblem::apply`] are J and
//! M⁻¹Jᵀ one contact at a time, at a cost linear in the contacts.
//!
//! Problems from elsewhere may come without bodies, as the matrix A itself and q = J v\*
//! ([`Delassus`]). Solvers do not see the difference: they ask for velocities and apply impulses,
//! and [`Velocities`] holds whatever the problem needs to answer.

pub mod assemble;
pub mod check;
pub mod file;
pub mod impact_law;
pub mod local_form;
pub mod matrix;
pub mod reduce;

use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::Motion;
use serde::{Deserialize, Serialize};

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "snake_case", deny_unknown_fields)]
pub enum Side<S: Space> {
    /// Something that never moves.
    Fixed,
    /// A body that does not turn.
    Particle {
        /// Index of the body.
        body: u32,
    },
    /// A point of a body that turns.
    Rigid {
        /// Index of the body.
        body: u32,
        /// From its centre of mass to the contact, m.
        arm: S::Vector,
    },
    /// A point between bodies that do not turn: on an edge or a face of a deformable.
    Nodes {
        /// Indices of the bodies.
        bodies: [u32; 3],
        /// Barycentric weights: they sum to 1; an edge has a third weight of 0.
        weights: [f64; 3],
    },
}

impl<S: Space> Side<S> {
    /// The bodies that an impulse on this side moves, with repetitions left in.
    pub fn bodies(&self) -> impl Iterator<Item = u32> + use<S> {
        let (list, count) = match *self {
            Self::Fixed => ([0; 3], 0),
            Self::Particle { body } | Self::Rigid { body, .. } => ([body, 0, 0], 1),
            Self::Nodes { bodies, weights } => {
                (bodies, weights.iter().filter(|w| **w != 0.0).count())
            }
        };
        list.into_iter().take(count)
    }
}

/// How a body answers an impulse. By default it does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Response<S: Space> {
    /// 1/mass along each world axis in 1/kg; 0 where nothing can move it.
    pub inv_mass: S::Vector,
    /// Inverse inertia about the centre of mass in world axes, 1/(kg·m²).
    pub inv_inertia: S::Inertia,
}

impl<S: Space> Default for Response<S> {
    fn default() -> Self {
        Self {
            inv_mass: S::Vector::default(),
            inv_inertia: S::NO_INERTIA,
        }
    }
}

/// One contact of the problem.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Row<S: Space> {
    /// Side A.
    pub a: Side<S>,
    /// Side B.
    pub b: Side<S>,
    /// Columns: normal (from A to B), tangents.
    pub basis: S::Matrix,
    /// Coulomb's μ.
    pub mu: f64,
    /// Least normal velocity that the law asks for, m/s.
    pub target: f64,
}

/// Contacts that share no moving body with others: first and one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Island {
    /// First row.
    pub start: u32,
    /// One past the last row.
    pub end: u32,
}

impl Island {
    /// The rows.
    #[must_use]
    pub fn rows(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A = J M⁻¹ Jᵀ written out, for problems that come without bodies: blocks by rows.
///
/// Row i holds what an impulse at contact i does to the others, transposed: with an A that is
/// symmetric in exact arithmetic but not in a file's digits, u = A γ + q still holds to the bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Delassus<S: Space> {
    /// Where each contact's blocks start; one more entry than contacts.
    pub starts: Vec<u32>,
    /// Column of each block, rising within a row.
    pub columns: Vec<u32>,
    /// A_ij in 1/kg, local coordinates.
    pub blocks: Vec<S::Matrix>,
    /// u of each contact without impulses, m/s.
    pub q: Vec<S::Vector>,
}

impl<S: Space> Delassus<S> {
    /// Columns and blocks of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, &S::Matrix)> {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.columns[range.clone()]
            .iter()
            .map(|&column| column as usize)
            .zip(&self.blocks[range])
    }
}

/// The velocities that a set of impulses leads to, kept up to date as impulses change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Velocities<S: Space> {
    /// Of bodies; empty where the problem has none.
    pub motion: Vec<Motion<S>>,
    /// Of contacts, local; empty where the problem has bodies.
    pub local: Vec<S::Vector>,
}

/// The contact problem of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct ContactProblem<S: Space> {
    /// Length of the step in s.
    pub dt: f64,
    /// How each body answers impulses.
    pub responses: Vec<Response<S>>,
    /// v\*: each body's velocity after forces, before contact.
    pub free: Vec<Motion<S>>,
    /// The contacts, grouped by island.
    pub rows: Vec<Row<S>>,
    /// Groups of contacts that do not influence each other; together all rows.
    pub islands: Vec<Island>,
    /// The matrix A, in a problem without bodies; then the rows' sides and bases mean nothing.
    pub delassus: Option<Delassus<S>>,
}

/// The impulses of a problem's contacts in local coordinates, N·s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Impulses<S: Space> {
    /// One for each row: component 0 along the normal.
    pub local: Vec<S::Vector>,
}

/// The part of a local vector in the tangent plane.
#[inline]
pub fn tangential<V: Components>(local: V) -> V {
    local.with_component(0, 0.0)
}

impl<S: Space> ContactProblem<S> {
    /// u of contact `row` for given body velocities, local coordinates, m/s (no target).
    #[must_use]
    #[inline]
    pub fn relative_velocity(&self, row: usize, motion: &[Motion<S>]) -> S::Vector {
        let r = &self.rows[row];
        let world = point_velocity(&r.b, motion) - point_velocity(&r.a, motion);
        S::to_local(&r.basis, world)
    }

    /// u of contact `row`, local coordinates, m/s (no target).
    #[must_use]
    #[inline(always)]
    pub fn velocity(&self, row: usize, velocities: &Velocities<S>) -> S::Vector {
        if self.delassus.is_some() {
            velocities.local[row]
        } else {
            self.relative_velocity(row, &velocities.motion)
        }
    }

    /// u with the target taken off the normal part: what the law compares with zero.
    #[must_use]
    #[inline]
    pub fn offset_velocity(&self, row: usize, velocities: &Velocities<S>) -> S::Vector {
        let u = self.velocity(row, velocities);
        u.with_component(0, u.component(0) - self.rows[row].target)
    }

    /// Adds what a local impulse at contact `row` does to the velocities.
    #[inline(always)]
    pub fn apply(&self, row: usize, impulse: S::Vector, velocities: &mut Velocities<S>) {
        if let Some(delassus) = &self.delassus {
            // A is symmetric: column `row` is row `row` with its blocks transposed.
            for (other, block) in delassus.row(row) {
                velocities.local[other] += S::to_local(block, impulse);
            }
            return;
        }
        let r = &self.rows[row];
        let world = S::to_world(&r.basis, impulse);
        push(&r.b, world, &self.responses, &mut velocities.motion);
        push(&r.a, -world, &self.responses, &mut velocities.motion);
    }

    /// The diagonal block A_ii of contact `row` in 1/kg, local coordinates.
    #[must_use]
    pub fn diagonal(&self, row: usize) -> S::Matrix {
        if let Some(delassus) = &self.delassus {
            let own = delassus.row(row).find(|(column, _)| *column == row);
            return own.map_or_else(|| S::matrix(|_| S::Vector::default()), |(_, b)| *b);
        }
        let r = &self.rows[row];
        S::matrix(|k| {
            let axis = S::column(&r.basis, k);
            let world =
                admittance(&r.a, axis, &self.responses) + admittance(&r.b, axis, &self.responses);
            S::to_local(&r.basis, world)
        })
    }

    /// The velocities without impulses.
    #[must_use]
    pub fn free_velocities(&self) -> Velocities<S> {
        match &self.delassus {
            Some(delassus) => Velocities {
                motion: Vec::new(),
                local: delassus.q.clone(),
            },
            None => Velocities {
                motion: self.free.clone(),
                local: Vec::new(),
            },
        }
    }

    /// The velocities that these impulses lead to.
    #[must_use]
    pub fn velocities(&self, impulses: &Impulses<S>) -> Velocities<S> {
        let mut velocities = self.free_velocities();
        for (row, &impulse) in impulses.local.iter().enumerate() {
            self.apply(row, impulse, &mut velocities);
        }
        velocities
    }
}

/// Velocity of a side's point in world axes.
#[inline]
fn point_velocity<S: Space>(side: &Side<S>, motion: &[Motion<S>]) -> S::Vector {
    match *side {
        Side::Fixed => S::Vector::default(),
        Side::Particle { body } => motion[body as usize].linear,
        Side::Rigid { body, arm } => {
            let m = &motion[body as usize];
            m.linear + S::spin_cross(m.spin, arm)
        }
        Side::Nodes { bodies, weights } => bodies
            .iter()
            .zip(weights)
            .fold(S::Vector::default(), |sum, (&k, w)| {
                sum + motion[k as usize].linear * w
            }),
    }
}

/// Changes velocities by a world impulse on a side.
#[inline]
fn push<S: Space>(
    side: &Side<S>,
    impulse: S::Vector,
    responses: &[Response<S>],
    motion: &mut [Motion<S>],
) {
    match *side {
        Side::Fixed => {}
        Side::Particle { body } => {
            let k = body as usize;
            motion[k].linear += responses[k].inv_mass.scale(impulse);
        }
        Side::Rigid { body, arm } => {
            let k = body as usize;
            motion[k].linear += responses[k].inv_mass.scale(impulse);
            motion[k].spin += S::apply_inertia(&responses[k].inv_inertia, S::cross(arm, impulse));
        }
        Side::Nodes { bodies, weights } => {
            for (&body, w) in bodies.iter().zip(weights) {
                let k = body as usize;
                motion[k].linear += responses[k].inv_mass.scale(impulse) * w;
            }
        }
    }
}

/// Velocity of a side's point after a world impulse on itself, from rest.
///
/// For nodes that is Σ over **bodies** of (Σ of that body's weights)²/m: a body named twice moves
/// with both weights, so weights are summed before they are squared.
#[inline]
fn admittance<S: Space>(
    side: &Side<S>,
    impulse: S::Vector,
    responses: &[Response<S>],
) -> S::Vector {
    match *side {
        Side::Fixed => S::Vector::default(),
        Side::Particle { body } => responses[body as usize].inv_mass.scale(impulse),
        Side::Rigid { body, arm } => {
            let r = &responses[body as usize];
            let spin = S::apply_inertia(&r.inv_inertia, S::cross(arm, impulse));
            r.inv_mass.scale(impulse) + S::spin_cross(spin, arm)
        }
        Side::Nodes { bodies, weights } => {
            let mut sum = S::Vector::default();
            for (&body, w) in bodies.iter().zip(weights) {
                let of_body: f64 = bodies
                    .iter()
                    .zip(weights)
                    .filter(|(other, _)| **other == body)
                    .map(|(_, weight)| weight)
                    .sum();
                sum += responses[body as usize].inv_mass.scale(impulse) * (w * of_body);
            }
            sum
        }
    }
}
