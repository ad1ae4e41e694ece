//! What solvers make of one contact problem, and the table of it.

use std::time::Instant;

use drystone::contact::problem::local_form::AnyProblem;
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::judge::fclib::fclib_error;
use drystone::judge::residual::judge;
use drystone::solver::{TracePoint, solve_to_fclib};
use drystone::{Limits, SolverKind, Space};

use crate::case::{Case, on_problem};
use crate::cli::StopArgs;
use crate::units::{count, counted, duration, plain};

/// What one solver made of a problem, judged from its impulses alone.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What solved it.
    pub(crate) solver: &'static str,
    /// The method that gave the answer, where the solver chose it.
    pub(crate) method: &'static str,
    /// Most iterations of any island.
    pub(crate) iterations: u32,
    /// Time that it took, s.
    pub(crate) seconds: f64,
    /// Largest residual of a contact, m/s.
    pub(crate) residual: f64,
    /// Residual relative to the impulses, without unit.
    pub(crate) relative: f64,
    /// The error of the FCLIB literature, without unit.
    pub(crate) fclib: f64,
    /// Whether the errors are as small as was asked for.
    pub(crate) reached: bool,
    /// Looks on the way, where asked for.
    pub(crate) history: Vec<TracePoint>,
}

/// The limits of a solver of a problem by itself: the relative residual alone counts.
pub(crate) fn limits(stop: &StopArgs, trace: bool) -> Limits {
    Limits {
        iterations: stop.iterations.get(),
        tolerance: 0.0,
        relative: stop.tolerance,
        budget: Some(stop.budget),
        trace,
    }
}

/// When a solver is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Relative residual, iterations and time.
    pub(crate) limits: Limits,
    /// FCLIB error that is small enough, where that counts too.
    pub(crate) fclib: Option<f64>,
}

/// Solves a problem from nothing.
pub(crate) fn solve(problem: &AnyProblem, solver: SolverKind, goal: Goal) -> Entry {
    on_problem!(problem, problem => solve_in(problem, solver, goal))
}

fn solve_in<S: Space>(problem: &ContactProblem<S>, solver: SolverKind, goal: Goal) -> Entry {
    let limits = goal.limits;
    let mut impulses = Impulses::default();
    let start = Instant::now();
    let report = match goal.fclib {
        Some(error) => solve_to_fclib(solver, limits, error, problem, &mut impulses),
        None => solver.limited(limits).solve(problem, &mut impulses),
    };
    let seconds = start.elapsed().as_secs_f64();
    impulses
        .local
        .resize(problem.rows.len(), S::Vector::default());
    let residual = judge(problem, &impulses);
    let fclib = finite(fclib_error(problem, &impulses));
    Entry {
        solver: solver.name(),
        method: report.method,
        iterations: report.iterations,
        seconds,
        residual: finite(residual.largest.residual),
        relative: finite(residual.relative),
        fclib,
        reached: residual.relative <= limits.relative && goal.fclib.is_none_or(|e| fclib <= e),
        history: report.history,
    }
}

/// Numbers beyond all bounds as the largest that there is: reports have finite numbers only.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}

/// What stands above the table.
pub(crate) fn heading(case: &Case, goal: Goal) -> String {
    let time = case.time.map_or(String::new(), |t| format!(" at {t:.2} s"));
    let fclib = goal
        .fclib
        .map_or(String::new(), |e| format!(" and an FCLIB error of {e:e}"));
    format!(
        "{}{time}: {}, {}; to a relative residual of {:e}{fclib} within {} s\n\n{}",
        case.name,
        counted(case.contacts() as u64, "contact"),
        counted(case.unknowns() as u64, "unknown"),
        goal.limits.relative,
        goal.limits.budget.unwrap_or_default(),
        line([
            "solver",
            "iterations",
            "time",
            "residual m/s",
            "relative",
            "FCLIB error",
            "reached"
        ]),
    )
}

impl Entry {
    /// Its line in the table.
    pub(crate) fn row(&self) -> String {
        let answer = if self.reached { "yes" } else { "not reached" };
        // Where islands were solved by different methods, `auto` names itself.
        let reached = if self.solver == "auto" && !["", "auto"].contains(&self.method) {
            format!("{answer}, by {}", self.method)
        } else {
            answer.to_owned()
        };
        line([
            self.solver,
            &count(u64::from(self.iterations)),
            &duration(self.seconds),
            &plain(self.residual),
            &plain(self.relative),
            &plain(self.fclib),
            &reached,
        ])
    }
}

/// Columns of the table: words to the left, numbers to the right.
fn line(cells: [&str; 7]) -> String {
    let [solver, iterations, time, residual, relative, fclib, reached] = cells;
    format!(
        "  {solver:9}  {iterations:>10}  {time:>8}  {residual:>12}  {relative:>8}  {fclib:>11}  \
         {reached}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_report_is_finite() {
        for wild in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(finite(wild).is_finite());
        }
        assert_eq!(finite(1e-9), 1e-9);
    }

    #[test]
    fn a_row_says_which_method_gave_the_answer() {
        let entry = Entry {
            solver: "auto",
            method: "newton",
            iterations: 1_234,
            seconds: 0.012,
            residual: 1e-9,
            relative: 1e-10,
            fclib: 1e-10,
            reached: true,
            history: Vec::new(),
        };
        let row = entry.row();
        for words in ["auto", "1,234", "12 ms", "1.0e-9", "yes, by newton"] {
            assert!(row.contains(words), "{words:?} is not in {row}");
        }
        let own = Entry {
            solver: "newton",
            reached: false,
            ..entry
        };
        assert!(own.row().ends_with("  not reached\n"));
    }
}
