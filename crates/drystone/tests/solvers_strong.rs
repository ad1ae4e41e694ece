//! The strong solvers: on the shared contact problems, on piles, and where others give up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use drystone::certify::residual::judge;
use drystone::problem::local_form::{AnyProblem, parse};
use drystone::problem::{ContactProblem, Impulses};
use drystone::solve::{Limits, Newton, SolveReport, Solver};
use drystone::{D3, Space};

/// The shared problems, by name; empty (with a message) where they are not there.
fn shared_problems() -> Vec<(String, ContactProblem<D3>)> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/contact-problems"
    );
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: there are no contact problems in {folder}");
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match parse(&std::fs::read_to_string(&path).unwrap()).unwrap() {
            AnyProblem::Solid(problem) => (name, problem),
            AnyProblem::Flat(_) => panic!("{name} is flat"),
        }
    };
    paths.into_iter().map(read).collect()
}

fn tight(iterations: u32) -> Limits {
    Limits {
        iterations,
        tolerance: 0.0,
        relative: 1e-8,
        trace: true,
        ..Limits::default()
    }
}

/// Iterations after which the relative residual was below 1e-4 and 1e-8.
fn iterations_to(report: &SolveReport) -> String {
    let at = |limit: f64| {
        let first = report.history.iter().find(|p| p.relative <= limit);
        first.map_or("-".to_owned(), |p| p.iteration.to_string())
    };
    format!("{}/{}", at(1e-4), at(1e-8))
}

fn cold<S: Space>(
    solver: &mut impl Solver<S>,
    problem: &ContactProblem<S>,
) -> (SolveReport, Impulses<S>) {
    let mut impulses = Impulses::default();
    let report = solver.solve(problem, &mut impulses);
    (report, impulses)
}

#[test]
fn newton_solves_the_shared_problems() {
    for (name, problem) in shared_problems() {
        let mut newton = Newton {
            limits: tight(100),
            ..Newton::default()
        };
        let (report, impulses) = cold(&mut newton, &problem);
        let seconds = report.history.last().map_or(0.0, |p| p.seconds);
        println!(
            "{name:28} newton {:>8} {:9.2e} {:9.2e} m/s {seconds:.3} s",
            iterations_to(&report),
            judge(&problem, &impulses).relative,
            report.residual
        );
        assert!(report.converged, "{name}: {}", report.relative);
    }
}
