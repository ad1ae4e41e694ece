//! `drystone solve`: a contact problem from a file, solved from nothing.

use drystone::SolverKind;
use serde::Serialize;

use super::{pretty, print};
use crate::case::Case;
use crate::cli::{ALL, ReportFormat, SolveArgs};
use crate::contest::{self, Entry, Goal};
use crate::fault::Fault;

/// The report for programs. Its fields are a promise: a test holds the set of keys.
#[derive(Debug, Serialize)]
struct Report<'a> {
    problem: &'a str,
    contacts: usize,
    unknowns: usize,
    results: Vec<Outcome>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    solver: &'static str,
    iterations: u32,
    seconds: f64,
    residual_m_s: f64,
    relative_residual: f64,
    fclib_error: f64,
    reached: bool,
}

impl From<Entry> for Outcome {
    fn from(entry: Entry) -> Self {
        Self {
            solver: entry.solver,
            iterations: entry.iterations,
            seconds: entry.seconds,
            residual_m_s: entry.residual,
            relative_residual: entry.relative,
            fclib_error: entry.fclib,
            reached: entry.reached,
        }
    }
}

/// Solves a problem with one solver or all of them.
pub(crate) fn solve(args: &SolveArgs) -> Result<(), Fault> {
    let case = Case::read(&args.file)?;
    let goal = Goal {
        limits: contest::limits(&args.stop, false),
        fclib: args.fclib,
    };
    let chosen = |name: &&&str| args.solver == ALL || **name == args.solver;
    let solvers = SolverKind::NAMES.iter().filter(chosen);
    let entries = solvers
        .filter_map(|name| SolverKind::named(name))
        .map(|solver| contest::solve(&case.problem, solver, goal));
    match args.report {
        Some(ReportFormat::Json) => print(&pretty(&Report {
            problem: &case.name,
            contacts: case.contacts(),
            unknowns: case.unknowns(),
            results: entries.map(Outcome::from).collect(),
        })?),
        // A line as soon as it is known: solvers may take their time.
        None => {
            print(&contest::heading(&case, goal))?;
            entries
                .map(|entry| entry.row())
                .try_for_each(|row| print(&row))
        }
    }
}
