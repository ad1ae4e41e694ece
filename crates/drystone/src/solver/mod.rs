//! Solvers: from a contact problem to impulses.
//!
//! They share data, not a hierarchy. A solver reads a [`ContactProblem`], improves
//! [`Impulses`] and says what it did. [`SolverKind`] chooses; the one `match` is in
//! [`SolverKind::solve`].

pub mod admm;
pub mod anderson;
pub mod apgd;
pub mod auto;
pub mod block_gs;
mod cone;
pub mod delassus_systems;
pub mod enumerate;
pub mod impact_settling;
mod interior_point;
mod island;
pub mod jacobi;
mod kind;
pub mod lemke;
pub mod newton;
pub mod nncg;
pub mod pgs;
pub(crate) mod pgs_sweep;
pub mod relaxation;
pub mod shock;
pub mod single_contact;
pub mod stopping;
mod sweep_loop;
pub mod to_fclib;

use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use serde::Serialize;

pub use admm::Admm;
pub use anderson::Anderson;
pub use apgd::Apgd;
pub use auto::Auto;
pub use block_gs::BlockGs;
pub use enumerate::Enumerate;
pub use jacobi::Jacobi;
pub use kind::SolverKind;
pub use lemke::Lemke;
pub use newton::Newton;
pub use nncg::Nncg;
pub use pgs::Pgs;
pub use relaxation::LocalSolve;
pub use shock::shock_guess;
pub use stopping::{Limits, TracePoint, Watch};
pub use to_fclib::solve_to_fclib;

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
