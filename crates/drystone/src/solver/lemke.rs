//! Lemke's pivoting on contact problems: an oracle.
//!
//! **Idea.** Without friction Signorini's law is a linear complementarity problem in the normal
//! impulses. With friction it becomes one when Coulomb's disk is replaced by a polygon with k
//! corners $d_1 \dots d_k$ (Stewart and Trinkle 1996; Anitescu and Potra 1997): with
//! $\gamma_T = D\beta$ and a slack $\lambda$ that becomes the slip speed,
//!
//! $$ 0\le\gamma_N \perp \tilde u_N\ge 0, \qquad
//!    0\le\beta \perp D^T u_T + e\lambda\ge 0, \qquad
//!    0\le\lambda \perp \mu\gamma_N - e^T\beta\ge 0 . $$
//!
//! It is solved exactly, by [pivoting](crate::math::lemke_pivoting), island by island.
//!
//! **When to use it.** To check others: without friction and in the plane (where the disk is an
//! interval and k = 2) the answer is the law's own, to rounding, whatever the masses. In space it
//! is the answer for the **pyramid**: friction points to a corner or lies on an edge, and judged by
//! the true cone, as every solver here is, it shows a residual that falls with k but does not
//! vanish.
//!
//! **When it fails.** The table is dense: a contact with friction brings 4 unknowns in the plane
//! and k + 2 in space, and the cost grows with their third power. Islands of more than
//! [`Lemke::MOST_CONTACTS`] contacts are left as they are and the report says so. With bounces and
//! friction a solution need not exist, and pivoting may end in a ray: the same.

use super::{Limits, SolveReport, Solver, Watch};
use crate::contact::problem::{ContactProblem, Delassus, Impulses, Island};
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use crate::math::lemke_pivoting::{PivotError, lemke};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Options of Lemke's method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lemke {
    /// When the answer is good enough; `iterations` is the most pivots of an island.
    pub limits: Limits,
    /// Corners of the friction polygon in space, 3 to 64; in the plane there are 2.
    pub facets: u32,
}

impl Default for Lemke {
    /// Eight corners, at most 20,000 pivots.
    fn default() -> Self {
        Self {
            limits: Limits {
                iterations: 20_000,
                ..Limits::default()
            },
            facets: 8,
        }
    }
}

/// Why an island has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LemkeError {
    /// More contacts than a dense table is made for.
    #[error("an island has {0} contacts, more than the {most} of a dense table", most = Lemke::MOST_CONTACTS)]
    TooLarge(usize),
    /// Pivoting found no solution.
    #[error(transparent)]
    Pivot(#[from] PivotError),
}

impl<S: Space> Solver<S> for Lemke {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        let mut watch = Watch::new(self.limits, problem, impulses);
        let mut most_pivots = 0;
        if !watch.is_over(0) {
            let reduced = problem.reduced();
            let mut answer = impulses.clone();
            for &island in &problem.islands {
                if let Ok((local, pivots)) = self.island(problem, &reduced, island) {
                    answer.local[island.rows()].copy_from_slice(&local);
                    most_pivots = most_pivots.max(pivots);
                }
            }
            watch.look(problem, &answer, most_pivots);
        }
        watch.finish(impulses, most_pivots, "lemke")
    }
}

impl Lemke {
    /// Most contacts of an island.
    pub const MOST_CONTACTS: usize = 200;

    /// The answer for the friction polygon itself, whatever the true cone says of it.
    pub fn pyramid_answer<S: Space>(
        &self,
        problem: &ContactProblem<S>,
    ) -> Result<Impulses<S>, LemkeError> {
        let reduced = problem.reduced();
        let mut local = Vec::with_capacity(problem.rows.len());
        for &island in &problem.islands {
            local.extend(self.island(problem, &reduced, island)?.0);
        }
        Ok(Impulses { local })
    }

    /// Impulses of an island, and the pivots they took.
    fn island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        reduced: &Delassus<S>,
        island: Island,
    ) -> Result<(Vec<S::Vector>, u32), LemkeError> {
        let contacts = island.rows().len();
        if contacts > Self::MOST_CONTACTS {
            return Err(LemkeError::TooLarge(contacts));
        }
        let unknowns = unknowns(problem, island, &corners::<S>(self.facets));
        let (m, q) = table(problem, reduced, island, &unknowns);
        let answer = lemke(&m, &q, self.limits.iterations)?;
        let mut local = vec![S::Vector::default(); contacts];
        for (unknown, z) in unknowns.iter().zip(answer.z) {
            if let Unknown::Push { contact, along } = *unknown {
                local[contact] += along * z;
            }
        }
        Ok((local, answer.pivots))
    }
}

/// The corners of the friction polygon as local unit vectors.
fn corners<S: Space>(facets: u32) -> Vec<S::Vector> {
    let tangent = |axis: usize, x: f64| S::Vector::default().with_component(axis, x);
    if S::DIM == 2 {
        return vec![tangent(1, 1.0), tangent(1, -1.0)];
    }
    let count = facets.clamp(3, 64);
    (0..count)
        .map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            tangent(1, libm::cos(angle)) + tangent(2, libm::sin(angle))
        })
        .collect()
}

/// An unknown of the complementarity problem.
#[derive(Clone, Copy, Debug)]
enum Unknown<S: Space> {
    /// γ_N or one β: an impulse along a local direction, N·s.
    Push { contact: usize, along: S::Vector },
    /// λ: slip speed of a contact, m/s.
    Slip { contact: usize },
}

fn unknowns<S: Space>(
    problem: &ContactProblem<S>,
    island: Island,
    corners: &[S::Vector],
) -> Vec<Unknown<S>> {
    let normal = S::Vector::default().with_component(0, 1.0);
    let mut unknowns = Vec::new();
    for (contact, row) in problem.rows[island.rows()].iter().enumerate() {
        let push = |along: S::Vector| Unknown::Push { contact, along };
        unknowns.push(push(normal));
        if row.mu > 0.0 {
            unknowns.extend(corners.iter().map(|&along| push(along)));
            unknowns.push(Unknown::Slip { contact });
        }
    }
    unknowns
}

/// M by rows and q: see the [module documentation](self).
fn table<S: Space>(
    problem: &ContactProblem<S>,
    reduced: &Delassus<S>,
    island: Island,
    unknowns: &[Unknown<S>],
) -> (Vec<f64>, Vec<f64>) {
    let start = island.start as usize;
    let is_tangent = |along: S::Vector| along.component(0) == 0.0;
    let contacts = island.rows().len();
    let mut blocks = vec![None; contacts * contacts];
    for row in island.rows() {
        for (column, block) in reduced.row(row) {
            blocks[(row - start) * contacts + column - start] = Some(block);
        }
    }
    let entry = |row: &Unknown<S>, column: &Unknown<S>| match (*row, *column) {
        (
            Unknown::Push { contact: i, along },
            Unknown::Push {
                contact: j,
                along: push,
            },
        ) => {
            // Blocks are stored transposed: see `Delassus`.
            let block = blocks[j * contacts + i];
            block.map_or(0.0, |b| along.dot(S::to_local(b, push)))
        }
        (Unknown::Push { contact: i, along }, Unknown::Slip { contact: j }) => {
            f64::from(u8::from(i == j && is_tangent(along)))
        }
        (Unknown::Slip { contact: i }, Unknown::Push { contact: j, along }) if i == j => {
            if is_tangent(along) {
                -1.0
            } else {
                problem.rows[start + i].mu
            }
        }
        (Unknown::Slip { .. }, _) => 0.0,
    };
    let m = unknowns
        .iter()
        .flat_map(|row| unknowns.iter().map(move |column| (row, column)))
        .map(|(row, column)| entry(row, column))
        .collect();
    let free = problem.free_velocities();
    let q = unknowns.iter().map(|unknown| match *unknown {
        Unknown::Push { contact, along } => {
            along.dot(problem.offset_velocity(start + contact, &free))
        }
        Unknown::Slip { .. } => 0.0,
    });
    (m, q.collect())
}
