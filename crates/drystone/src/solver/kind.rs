//! The choice of a solver, with its options: the one `match`.

use super::{
    Admm, Anderson, Apgd, Auto, BlockGs, Enumerate, Jacobi, Lemke, Limits, LocalSolve, Newton,
    Nncg, Pgs,
};
use super::{SolveReport, Solver};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
#[cfg(feature = "dim2")]
use crate::math::algebra::D2;
#[cfg(feature = "dim3")]
use crate::math::algebra::D3;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Chooses a solver, with its options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// Projected Gauss-Seidel.
    Pgs(Pgs),
    /// Block Gauss-Seidel with the exact law at each contact.
    BlockGs(BlockGs),
    /// Jacobi with split masses.
    Jacobi(Jacobi),
    /// Nonsmooth nonlinear conjugate gradient around the sweep.
    Nncg(Nncg),
    /// Anderson acceleration of the sweep.
    Anderson(Anderson),
    /// Accelerated projected gradient.
    Apgd(Apgd),
    /// Alternating directions with one factorisation.
    Admm(Admm),
    /// Newton's method inside the cones.
    Newton(Newton),
    /// Complementary pivoting: exact without friction and for pyramids of friction.
    Lemke(Lemke),
    /// Every mode of every contact: an oracle for six contacts at most.
    Enumerate(Enumerate),
    /// Sweeps while they pay, then stronger methods.
    Auto(Auto),
}

impl Default for SolverKind {
    fn default() -> Self {
        Self::Pgs(Pgs::default())
    }
}

impl SolverKind {
    /// The names that [`SolverKind::named`] knows.
    pub const NAMES: [&'static str; 11] = [
        "pgs",
        "block-gs",
        "jacobi",
        "nncg",
        "anderson",
        "apgd",
        "admm",
        "newton",
        "lemke",
        "enumerate",
        "auto",
    ];

    /// Its name in scenes, reports and on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pgs(_) => "pgs",
            Self::BlockGs(_) => "block-gs",
            Self::Jacobi(_) => "jacobi",
            Self::Nncg(_) => "nncg",
            Self::Anderson(_) => "anderson",
            Self::Apgd(_) => "apgd",
            Self::Admm(_) => "admm",
            Self::Newton(_) => "newton",
            Self::Lemke(_) => "lemke",
            Self::Enumerate(_) => "enumerate",
            Self::Auto(_) => "auto",
        }
    }

    /// A solver of this name with its default options.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pgs" => Some(Self::Pgs(Pgs::default())),
            "block-gs" => Some(Self::BlockGs(BlockGs::default())),
            "jacobi" => Some(Self::Jacobi(Jacobi::default())),
            "nncg" => Some(Self::Nncg(Nncg::default())),
            "anderson" => Some(Self::Anderson(Anderson::default())),
            "apgd" => Some(Self::Apgd(Apgd::default())),
            "admm" => Some(Self::Admm(Admm::default())),
            "newton" => Some(Self::Newton(Newton::default())),
            "lemke" => Some(Self::Lemke(Lemke::default())),
            "enumerate" => Some(Self::Enumerate(Enumerate::default())),
            "auto" => Some(Self::Auto(Auto::default())),
            _ => None,
        }
    }

    /// The limits of a watched solver; projected Gauss-Seidel in a step has only two of them.
    fn limits_mut(&mut self) -> Option<&mut Limits> {
        match self {
            Self::Pgs(_) => None,
            Self::BlockGs(solver) => Some(&mut solver.limits),
            Self::Jacobi(solver) => Some(&mut solver.limits),
            Self::Nncg(solver) => Some(&mut solver.limits),
            Self::Anderson(solver) => Some(&mut solver.limits),
            Self::Apgd(solver) => Some(&mut solver.limits),
            Self::Admm(solver) => Some(&mut solver.limits),
            Self::Newton(solver) => Some(&mut solver.limits),
            Self::Lemke(solver) => Some(&mut solver.limits),
            Self::Enumerate(solver) => Some(&mut solver.limits),
            Self::Auto(solver) => Some(&mut solver.limits),
        }
    }

    /// The same method under other limits, for one problem by itself: projected Gauss-Seidel
    /// then sweeps under watch like the others.
    #[must_use]
    pub fn limited(mut self, limits: Limits) -> Self {
        if let Self::Pgs(_) = self {
            return Self::BlockGs(BlockGs {
                limits,
                local: LocalSolve::Projected,
                ..BlockGs::default()
            });
        }
        if let Some(own) = self.limits_mut() {
            *own = limits;
        }
        self
    }

    /// Most iterations, and the residual at which an island is done, m/s.
    #[must_use]
    pub fn iterations_and_tolerance(mut self) -> (u32, f64) {
        if let Self::Pgs(pgs) = self {
            return (pgs.iterations, pgs.tolerance);
        }
        let limits = self.limits_mut().copied().unwrap_or_default();
        (limits.iterations, limits.tolerance)
    }

    /// Changes how many iterations a step may take.
    pub fn set_iterations(&mut self, iterations: u32) {
        match self {
            Self::Pgs(pgs) => pgs.iterations = iterations,
            _ => {
                if let Some(limits) = self.limits_mut() {
                    limits.iterations = iterations;
                }
            }
        }
    }

    /// Changes the residual at which an island is done, m/s.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        match self {
            Self::Pgs(pgs) => pgs.tolerance = tolerance,
            _ => {
                if let Some(limits) = self.limits_mut() {
                    limits.tolerance = tolerance;
                }
            }
        }
    }

    /// Solves with the chosen method.
    pub fn solve<S: Space>(
        &mut self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let (problem, impulses): (&dyn Any, &mut dyn Any) = (problem, impulses);
        #[cfg(feature = "dim2")]
        if let Some(problem) = problem.downcast_ref()
            && let Some(impulses) = impulses.downcast_mut()
        {
            return solve_in_plane(self, problem, impulses);
        }
        #[cfg(feature = "dim3")]
        if let Some(problem) = problem.downcast_ref()
            && let Some(impulses) = impulses.downcast_mut()
        {
            return solve_in_space(self, problem, impulses);
        }
        unreachable!("a space is D2 or D3")
    }

    fn solve_by_kind<S: Space>(
        &mut self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        match self {
            Self::Pgs(solver) => solver.solve(problem, impulses),
            Self::BlockGs(solver) => solver.solve(problem, impulses),
            Self::Jacobi(solver) => solver.solve(problem, impulses),
            Self::Nncg(solver) => solver.solve(problem, impulses),
            Self::Anderson(solver) => solver.solve(problem, impulses),
            Self::Apgd(solver) => solver.solve(problem, impulses),
            Self::Admm(solver) => solver.solve(problem, impulses),
            Self::Newton(solver) => solver.solve(problem, impulses),
            Self::Lemke(solver) => solver.solve(problem, impulses),
            Self::Enumerate(solver) => solver.solve(problem, impulses),
            Self::Auto(solver) => solver.solve(problem, impulses),
        }
    }
}

/// All solvers of the plane, compiled in this crate and not where they are used.
#[cfg(feature = "dim2")]
fn solve_in_plane(
    kind: &mut SolverKind,
    problem: &ContactProblem<D2>,
    impulses: &mut Impulses<D2>,
) -> SolveReport {
    kind.solve_by_kind(problem, impulses)
}

/// All solvers of space, likewise.
#[cfg(feature = "dim3")]
fn solve_in_space(
    kind: &mut SolverKind,
    problem: &ContactProblem<D3>,
    impulses: &mut Impulses<D3>,
) -> SolveReport {
    kind.solve_by_kind(problem, impulses)
}
