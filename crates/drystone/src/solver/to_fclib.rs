//! Solving until the FCLIB error is small, for those who compare with published tables.
//!
//! Solvers stop at the judge's relative residual, whose parts are impulses over impulses. The FCLIB
//! error ([`crate::judge::fclib`]) takes 1 kg for every contact and divides by velocities: where
//! masses span many orders the same impulses have an error 10⁴ … 10⁶ times larger. So the
//! problem is solved to a relative residual, the error is looked at, and the residual is tightened
//! by what is missing, starting from where it is.
//!
//! The end of the line is rounding. Velocities come out of sums of products $A_{ij} r_j$, so no
//! impulses can be expected below
//!
//! $$ \varepsilon\,\lVert\,|A|\,|r|\,\rVert / \lVert q\rVert,
//!    \qquad \varepsilon \approx 10^{-16} . $$

use std::time::Instant;

use super::{Limits, SolveReport, SolverKind};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::judge::fclib::fclib_error;

/// Times that the residual is tightened at most.
const ROUNDS: u32 = 6;

/// How much further than the estimate to go: the error need not fall as fast as the residual.
const CAUTION: f64 = 0.1;

/// A relative residual below this is rounding; nothing less is asked for.
const ROUNDING: f64 = 1e-17;

/// Solves until the FCLIB error is at most `goal` or nothing gets better, with iterations and
/// time of the limits for all rounds together. The report's `converged` is about the goal.
pub fn solve_to_fclib<S: Space>(
    solver: SolverKind,
    limits: Limits,
    goal: f64,
    problem: &ContactProblem<S>,
    impulses: &mut Impulses<S>,
) -> SolveReport {
    let began = Instant::now();
    let mut total = SolveReport::default();
    let mut least = f64::INFINITY;
    let mut now = Limits {
        tolerance: 0.0,
        relative: if limits.relative > 0.0 {
            limits.relative.min(goal)
        } else {
            goal
        },
        ..limits
    };
    for _ in 0..ROUNDS {
        let mut candidate = impulses.clone();
        let report = solver.limited(now).solve(problem, &mut candidate);
        let error = fclib_error(problem, &candidate);
        let iterations = total.iterations.saturating_add(report.iterations);
        let is_better = error < least;
        if is_better {
            *impulses = candidate;
            least = error;
            total = report;
        }
        total.iterations = iterations;
        total.converged = least <= goal;
        let tighter = (now.relative * CAUTION * goal / error).max(ROUNDING);
        now.iterations = limits.iterations.saturating_sub(iterations);
        now.budget = limits.budget.map(|s| s - began.elapsed().as_secs_f64());
        let is_spent = now.iterations == 0 || now.budget.is_some_and(|left| left <= 0.0);
        if total.converged || is_spent || !is_better || tighter >= now.relative {
            break;
        }
        now.relative = tighter;
    }
    total
}
