//! The strong solvers and the choice among all: on the shared contact problems, and where others
//! give up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{
    assert_honest, contact_velocities, difference, reached, shared_problems, to_relative,
};
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::DVec3;
use drystone::judge::fclib::fclib_error;
use drystone::solver::{Auto, SolveReport, solve_to_fclib};
use drystone::{Body, Limits, Shape3, SolverKind, Space, World3};

/// Solves from nothing with the solver of this name.
fn cold<S: Space>(
    name: &str,
    limits: Limits,
    problem: &ContactProblem<S>,
) -> (SolveReport, Impulses<S>) {
    let mut impulses = Impulses::default();
    let mut solver = SolverKind::named(name).unwrap().limited(limits);
    let report = solver.solve(problem, &mut impulses);
    assert_honest(name, problem, &impulses, &report);
    (report, impulses)
}

/// Iterations to relative 1e-4 and 1e-8 that must not be passed, by solver and problem: published
/// and known figures of the same or the nearest method (for `newton` that is the proximal point
/// with a nonsmooth Newton method). Plain sweeps never solve the two cubes.
const AT_MOST: [(&str, &str, u32, u32); 8] = [
    ("pgs", "kaplas-tower-570", 340, 1470),
    ("pgs", "box-stack-48", 33_000, 171_000),
    ("admm", "kaplas-tower-570", 33, 60),
    ("admm", "box-stack-48", 470, 660),
    ("admm", "two-cubes-mass-ratio-1e6-8", 120, 146),
    ("newton", "kaplas-tower-570", 33, 60),
    ("newton", "box-stack-48", 36, 59),
    ("newton", "two-cubes-mass-ratio-1e6-8", 13, 15),
];

#[test]
fn iterations_are_no_more_than_is_known() {
    for (name, problem) in shared_problems() {
        for (solver, _, rough, fine) in AT_MOST.iter().filter(|row| row.1 == name) {
            let (report, _) = cold(solver, to_relative(1e-8, 200_000), &problem);
            let [to_rough, to_fine] = [1e-4, 1e-8].map(|limit| reached(&report, limit));
            println!("{name:28} {solver:7} {to_rough:?} {to_fine:?}");
            assert!(to_rough.is_some_and(|n| n <= *rough), "{solver} on {name}");
            assert!(to_fine.is_some_and(|n| n <= *fine), "{solver} on {name}");
        }
    }
}

#[test]
fn newton_and_auto_solve_the_shared_problems() {
    for (name, problem) in shared_problems() {
        for solver in ["newton", "auto"] {
            let (report, _) = cold(solver, to_relative(1e-8, 1000), &problem);
            assert!(report.converged, "{solver} on {name}: {}", report.relative);
        }
    }
}

/// Some of these stop a little above what is asked: that is rounding, and enough to compare.
const EXACT: f64 = 1e-13;
const NEAR_EXACT: f64 = 1e-11;

/// On every problem at least three solvers, different in kind, have the same velocities to a
/// millionth of the largest there was.
#[test]
fn different_solvers_agree_on_the_shared_problems() {
    for (name, problem) in shared_problems() {
        let (report, impulses) = cold("auto", to_relative(EXACT, 20_000), &problem);
        assert!(report.relative < NEAR_EXACT, "{name}: {}", report.relative);
        let expected = contact_velocities(&problem, &impulses);
        let mut agreed = Vec::new();
        for solver in ["admm", "newton", "anderson", "nncg", "apgd", "pgs"] {
            let (report, impulses) = cold(solver, to_relative(EXACT, 20_000), &problem);
            if report.relative < NEAR_EXACT {
                let found = contact_velocities(&problem, &impulses);
                let (apart, scale) = difference(&problem, &expected, &found);
                assert!(
                    apart <= 1e-6 * scale,
                    "{name}: {solver} is {apart:e} m/s apart"
                );
                agreed.push(solver);
            }
        }
        println!("{name:28} {agreed:?}");
        assert!(agreed.len() >= 2, "{name}: {agreed:?}");
    }
}

/// The error of published tables falls below 1e-8 on all of them if it is asked for.
#[test]
fn the_fclib_error_is_brought_below_1e_8() {
    for (name, problem) in shared_problems() {
        let mut impulses = Impulses::default();
        let auto = SolverKind::Auto(Auto::default());
        let limits = to_relative(1e-8, 100_000);
        let report = solve_to_fclib(auto, limits, 1e-8, &problem, &mut impulses);
        let error = fclib_error(&problem, &impulses);
        assert!(report.converged && error <= 1e-8, "{name}: {error:e}");
    }
}

/// A goal below rounding is not reached, and it is said so.
#[test]
fn an_fclib_error_below_rounding_is_not_claimed() {
    for (name, problem) in shared_problems() {
        let mut impulses = Impulses::default();
        let auto = SolverKind::Auto(Auto::default());
        let limits = to_relative(1e-8, 5_000);
        let report = solve_to_fclib(auto, limits, 1e-30, &problem, &mut impulses);
        let error = fclib_error(&problem, &impulses);
        assert_eq!(report.converged, error <= 1e-30, "{name}: {error:e}");
        // Methods that make two sweeps at a time may end one late, once in a round.
        assert!(report.iterations <= 5_010, "{name}");
    }
}

/// What no number of sweeps carries: 10⁶ on 1, and a tower of 30 at 60 steps a second.
#[test]
fn auto_stands_where_sweeps_sink() {
    for (masses, dt) in [(vec![1.0, 1e6], 1.0 / 240.0), (vec![1.0; 30], 1.0 / 60.0)] {
        let mut world = World3::reference();
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
