//! Solvers: from a contact problem to impulses.
//!
//! They share data, not a hierarchy. A solver reads a [`ContactProblem`], improves
//! [`Impulses`] and says what it did. [`SolverKind`] chooses; the one `match` is in
//! [`SolverKind::solve`].

pub mod admm;
pub mod apgd;
mod block_cholesky;
mod cone;
mod gmres;
mod island;
pub mod limits;
pub mod linear;
pub mod newton;
pub mod pgs;
mod sweep;

use crate::problem::{ContactProblem, Impulses};
use crate::space::Space;
use serde::{Deserialize, Serialize};

pub use admm::Admm;
pub use apgd::Apgd;
pub use limits::{Limits, TracePoint, Watch};
pub use newton::Newton;
pub use pgs::Pgs;

/// What a solver did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SolveReport {
    /// Most iterations that any island took.
    pub iterations: u32,
    /// Whether every island reached the tolerance.
    pub converged: bool,
    /// Largest residual at the end, m/s, as far as the solver looked.
    pub residual: f64,
    /// Relative residual at the end, without unit; 0 where the solver did not look.
    pub relative: f64,
    /// The method that gave the answer.
    pub method: &'static str,
    /// Looks on the way, where asked for.
    pub history: Vec<TracePoint>,
}

impl SolveReport {
    /// The report of a problem from those of its islands.
    fn of_islands(method: &'static str, islands: impl Iterator<Item = Self>) -> Self {
        let nothing = Self {
            converged: true,
            method,
            ..Self::default()
        };
        islands.fold(nothing, |all, one| Self {
            iterations: all.iterations.max(one.iterations),
            converged: all.converged && one.converged,
            residual: all.residual.max(one.residual),
            relative: all.relative.max(one.relative),
            ..all
        })
    }
}

/// A method that solves contact problems.
pub trait Solver<S: Space> {
    /// Improves `impulses`, which on entry hold the guess to start from (one for each row).
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport;
}

/// Chooses a solver, with its options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolverKind {
    /// Projected Gauss-Seidel.
    Pgs(Pgs),
}

impl Default for SolverKind {
    fn default() -> Self {
        Self::Pgs(Pgs::default())
    }
}

impl SolverKind {
    /// Its name in scenes, reports and on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pgs(_) => "pgs",
        }
    }

    /// A solver of this name with its default options.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pgs" => Some(Self::Pgs(Pgs::default())),
            _ => None,
        }
    }

    /// The names that [`SolverKind::named`] knows.
    pub const NAMES: [&'static str; 1] = ["pgs"];

    /// Most sweeps in a step.
    pub fn iterations_mut(&mut self) -> &mut u32 {
        match self {
            Self::Pgs(pgs) => &mut pgs.iterations,
        }
    }

    /// Residual at which an island is done, m/s.
    pub fn tolerance_mut(&mut self) -> &mut f64 {
        match self {
            Self::Pgs(pgs) => &mut pgs.tolerance,
        }
    }

    /// Solves with the chosen method.
    pub fn solve<S: Space>(
        &mut self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        match self {
            Self::Pgs(pgs) => pgs.solve(problem, impulses),
        }
    }
}
