//! The strong solvers: on the shared contact problems, on piles, and where others give up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use drystone::certify::residual::judge;
use drystone::glam::DVec3;
use drystone::problem::local_form::{AnyProblem, parse};
use drystone::problem::{ContactProblem, Impulses};
use drystone::solve::linear::{Shift, ShiftedDelassus};
use drystone::solve::{Admm, Apgd, Limits, Newton, SolveReport, Solver};
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
        let mut line = format!("{name:28}");
        let solvers: [(&str, Box<dyn Solver<D3>>); 3] = [
            (
                "newton",
                Box::new(Newton {
                    limits: tight(100),
                    ..Newton::default()
                }),
            ),
            (
                "admm",
                Box::new(Admm {
                    limits: tight(2000),
                    ..Admm::default()
                }),
            ),
            (
                "apgd",
                Box::new(Apgd {
                    limits: tight(5000),
                    look_every: 1,
                }),
            ),
        ];
        for (method, mut solver) in solvers {
            let mut impulses = Impulses::default();
            let report = solver.solve(&problem, &mut impulses);
            let seconds = report.history.last().map_or(0.0, |p| p.seconds);
            line += &format!(
                "  {method} {:>9} {:8.1e} {seconds:.3} s",
                iterations_to(&report),
                judge(&problem, &impulses).relative,
            );
        }
        println!("{line}");
    }
}

/// A wall of unit boxes in running bond, `rows` high and as wide at its foot.
fn wall(rows: u32) -> World3 {
    let mut world = World3::default();
    world.settings_mut().certify_every = 0;
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for row in 0..rows {
        for k in 0..rows - row {
            let x = f64::from(k) + 0.5 * f64::from(row);
            let at = DVec3::new(x, 0.5 + f64::from(row), 0.0);
            world.add(Body::rigid(shape.clone()).at(at)).unwrap();
        }
    }
    world
}

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split_whitespace().next().and_then(|w| w.parse().ok());
    spent.unwrap_or(0.0) * 1e-9
}

#[test]
#[ignore = "a measurement: run it in release with --nocapture"]
fn walls_are_measured() {
    for rows in [20, 100] {
        let mut world = wall(rows);
        let problem = world.problem();
        println!(
            "wall of {rows} rows: {} bodies, {} contacts",
            problem.responses.len(),
            problem.rows.len()
        );
        let t = cpu_seconds();
        let mut factor = ShiftedDelassus::new(&problem).unwrap();
        println!(
            "  analyse {:.3} s, {} unknowns",
            cpu_seconds() - t,
            factor.unknowns()
        );
        let shifts = vec![Shift::uniform(1e-3); problem.rows.len()];
        for _ in 0..2 {
            let t = cpu_seconds();
            factor.refactor(&problem, &shifts).unwrap();
            println!("  factorise {:.3} s", cpu_seconds() - t);
        }
        let b = vec![DVec3::ONE; problem.rows.len()];
        let mut x = b.clone();
        let t = cpu_seconds();
        factor.solve(&b, &mut x);
        println!("  solve {:.4} s", cpu_seconds() - t);
        let t = cpu_seconds();
        judge(&problem, &Impulses { local: x });
        println!("  judge {:.4} s", cpu_seconds() - t);
        let limits = |relative: f64| Limits {
            relative,
            ..tight(400)
        };
        let newton = |relative: f64| -> Box<dyn Solver<D3>> {
            Box::new(Newton {
                limits: limits(relative),
                ..Newton::default()
            })
        };
        let admm = |relative: f64| -> Box<dyn Solver<D3>> {
            Box::new(Admm {
                limits: limits(relative),
                ..Admm::default()
            })
        };
        let run = |name: &str, mut solver: Box<dyn Solver<D3>>, mut guess: Impulses<D3>| {
            guess.local.resize(problem.rows.len(), DVec3::ZERO);
            let before = judge(&problem, &guess).relative;
            let t = cpu_seconds();
            let report = solver.solve(&problem, &mut guess);
            println!(
                "  {name:7} from {before:8.1e} to {:8.1e}: {} iterations, {:.2} s",
                report.relative,
                report.iterations,
                cpu_seconds() - t
            );
            guess
        };
        run("newton", newton(1e-4), Impulses::default());
        run("admm", admm(1e-4), Impulses::default());
        let solution = run("newton", newton(1e-6), Impulses::default());
        for size in [1e-3, 1e-2, 1e-1] {
            run("newton", newton(1e-4), perturbed(&solution, size));
            run("admm", admm(1e-4), perturbed(&solution, size));
        }
        // As in a simulation: the step's own warm start, after some steps.
        for _ in 0..10 {
            world.step().unwrap();
        }
    }
}

/// Each impulse longer or shorter by up to `size` of itself, in a fixed pattern.
fn perturbed(impulses: &Impulses<D3>, size: f64) -> Impulses<D3> {
    let local = impulses.local.iter().enumerate();
    let wave = |k: usize| f64::from((k as u32).wrapping_mul(2_654_435_761)) / 2_147_483_648.0 - 1.0;
    Impulses {
        local: local.map(|(k, r)| *r * (1.0 + size * wave(k))).collect(),
    }
}
