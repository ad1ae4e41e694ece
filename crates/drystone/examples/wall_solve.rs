//! How long strong solvers take for a wall of 5,050 boxes, from nothing and from step to step.
//!
//! `cargo run --release -p drystone --example wall_solve [ROWS] [RELATIVE]` builds a wall of unit
//! boxes (100 rows by default), solves its first step from nothing, and the steps after it from
//! the impulses of the step before, each to the same relative residual (1e-4 by default), on one
//! core. Projected Gauss-Seidel gets the same problems and a budget of 10 s a solve.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use drystone::contact::problem::assemble::{assemble, warm_start};
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::DVec3;
use drystone::judge::residual::judge;
use drystone::{Body, D3, Limits, Shape3, SolverKind, World3};

/// Steps after the first that are solved from the step before.
const WARM_STEPS: u32 = 5;

/// Time that a solver may take, s.
const BUDGET: f64 = 10.0;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments.next().map_or(100, |text| text.parse().unwrap());
    let relative = arguments.next().map_or(1e-4, |text| text.parse().unwrap());
    let limits = Limits {
        iterations: 1_000_000,
        tolerance: 0.0,
        relative,
        budget: Some(BUDGET),
        trace: false,
    };
    let mut world = wall(rows);
    world.settings_mut().solver = SolverKind::named("auto").unwrap().limited(limits);
    println!(
        "a wall of {} boxes, to a relative residual of {relative:e}\n",
        world.bodies().len() - 1
    );
    println!(
        "{:<8} {:<6} {:>9} {:>11} {:>9} {:>10}  {:<11}",
        "start", "solver", "contacts", "iterations", "time s", "relative", "reached"
    );
    for step in 0..=WARM_STEPS {
        let (problem, guess) = next_problem(&mut world);
        let start = if step == 0 {
            "cold".to_owned()
        } else {
            format!("step {}", step + 1)
        };
        for name in ["auto", "admm", "pgs"] {
            let solver = SolverKind::named(name).unwrap().limited(limits);
            report(&start, solver, &problem, guess.clone());
        }
        world.step().unwrap();
    }
}

/// A pyramid wall of unit boxes, `rows` high, each box touching its neighbours.
fn wall(rows: u32) -> World3 {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for row in 0..rows {
        for k in 0..rows - row {
            let x = f64::from(k) + 0.5 * f64::from(row);
            let at = DVec3::new(x, 0.5 + f64::from(row), 0.0);
            world.add(Body::rigid(stone.clone()).at(at)).unwrap();
        }
    }
    world
}

/// The problem of the next step, and the impulses that its contacts had in the step before.
fn next_problem(world: &mut World3) -> (ContactProblem<D3>, Impulses<D3>) {
    let free = world.problem().free;
    let contacts = world.contacts().to_vec();
    let settings = *world.settings();
    let assembled = assemble(
        world.bodies(),
        &contacts,
        free,
        settings.dt,
        &settings.contact,
    );
    let guess = warm_start(&assembled, &contacts);
    (assembled.problem, guess)
}

fn report(
    start: &str,
    mut solver: SolverKind,
    problem: &ContactProblem<D3>,
    mut impulses: Impulses<D3>,
) {
    let name = if matches!(solver, SolverKind::BlockGs(_)) {
        "pgs"
    } else {
        solver.name()
    };
    let began = seconds();
    let done = solver.solve(problem, &mut impulses);
    let spent = seconds() - began;
    let by = if done.method == name { "" } else { done.method };
    println!(
        "{start:<8} {name:<6} {:>9} {:>11} {spent:>9.3} {:>10.1e}  {} {by}",
        problem.rows.len(),
        done.iterations,
        judge(problem, &impulses).relative,
        if done.converged { "yes" } else { "no" },
    );
}

/// Processor time of this thread in s where the system tells it (other programs do not count
/// then), or else the time of day.
fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let wall_clock = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(wall_clock, |nanoseconds| nanoseconds * 1e-9)
}
