//! The strong solvers: on the shared contact problems, on piles, and where others give up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use drystone::certify::residual::judge;
use drystone::glam::DVec3;
use drystone::problem::local_form::{AnyProblem, parse};
use drystone::problem::{ContactProblem, Impulses};
use drystone::solve::{Anderson, Auto, Limits, Newton, SolveReport, Solver, SolverKind};
use drystone::{Body, D3, Shape3, Space, World3};

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
            AnyProblem::Flat(_) => unreachable!("{name} is flat"),
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

/// Velocities at contacts, the part of an answer that is unique where impulses are not.
fn contact_velocities(problem: &ContactProblem<D3>, impulses: &Impulses<D3>) -> Vec<DVec3> {
    let velocities = problem.velocities(impulses);
    (0..problem.rows.len())
        .map(|row| problem.velocity(row, &velocities))
        .collect()
}

/// `auto` reaches 1e-8 on every problem, and agrees on u with Newton alone and with Anderson
/// where those reach it too.
#[test]
fn auto_solves_the_shared_problems_and_agrees_with_others() {
    for (name, problem) in shared_problems() {
        // Two digits more than 1e-8, so that what is compared is the answer, not its error.
        let exact = Limits {
            relative: 1e-10,
            ..tight(20_000)
        };
        let mut auto = Auto {
            limits: exact,
            ..Auto::default()
        };
        let (report, impulses) = cold(&mut auto, &problem);
        assert!(report.relative < 1e-8, "{name}: {}", report.relative);
        let u = contact_velocities(&problem, &impulses);
        let scale = problem
            .free_velocities()
            .local
            .iter()
            .fold(0.0, |most: f64, q| most.max(q.length()));
        let mut agreed = 0;
        let mut anderson = Anderson {
            limits: exact,
            ..Anderson::default()
        };
        let mut newton = Newton {
            limits: exact,
            ..Newton::default()
        };
        for (report, other) in [cold(&mut anderson, &problem), cold(&mut newton, &problem)] {
            if report.relative < 1e-9 {
                let v = contact_velocities(&problem, &other);
                let apart = u
                    .iter()
                    .zip(&v)
                    .fold(0.0, |most: f64, (x, y)| most.max((*x - *y).length()));
                // A light body under a heavy one moves at 1e6 times the rounding of its load:
                // what the judge still finds wrong, in m/s, bounds what can agree.
                let unsolved = judge(&problem, &impulses).largest.residual
                    + judge(&problem, &other).largest.residual;
                assert!(
                    apart < 1e-6 * scale + 10.0 * unsolved,
                    "{name}: {} is {apart} m/s apart",
                    report.method
                );
                agreed += 1;
            }
        }
        assert!(agreed > 0, "{name}: nothing to compare with");
    }
}

/// What no number of sweeps carries: 10⁶ on 1, and a tower of 30 at 60 steps a second.
#[test]
fn auto_stands_where_sweeps_sink() {
    for (masses, dt) in [(vec![1.0, 1e6], 1.0 / 240.0), (vec![1.0; 30], 1.0 / 60.0)] {
        let mut world = World3::default();
        world.settings_mut().dt = dt;
        world.settings_mut().solver = SolverKind::Auto(Auto::default());
        world
            .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
            .unwrap();
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        for (k, mass) in masses.iter().enumerate() {
            let at = DVec3::new(0.0, 0.5 + k as f64, 0.0);
            world
                .add(Body::rigid(shape.clone()).with_mass(*mass).at(at))
                .unwrap();
        }
        while world.time() < 5.0 {
            world.step().unwrap();
        }
        let top = world.bodies().position[masses.len()];
        let error = top - DVec3::new(0.0, masses.len() as f64 - 0.5, 0.0);
        assert!(error.length() < 2e-3, "{} boxes: {error}", masses.len());
    }
}
