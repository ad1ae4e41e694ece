//! Alternating directions and accelerated projected gradients: closed forms, redundant contacts,
//! masses over six orders, guesses, limits, and agreement with others.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use crate::common::{
    G, assert_honest, contact_velocities, difference, ground2, ground3, shared_problems, stack3,
    surface, to_relative, to_speed,
};
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::judge::residual::judge;
use drystone::solver::{Admm, Anderson, Apgd, Limits, SolveReport, Solver};
use drystone::{Body, D2, D3, Shape2, Shape3, Space, World2, World3};
use proptest::prelude::*;

fn both<S: Space>(limits: Limits) -> [(&'static str, Box<dyn Solver<S>>); 2] {
    let admm = Admm {
        limits,
        ..Admm::default()
    };
    let apgd = Apgd {
        limits,
        ..Apgd::default()
    };
    [("admm", Box::new(admm)), ("apgd", Box::new(apgd))]
}

fn solve<S: Space>(
    (name, solver): (&str, &mut dyn Solver<S>),
    problem: &ContactProblem<S>,
    guess: &Impulses<S>,
) -> (SolveReport, Impulses<S>) {
    let mut impulses = guess.clone();
    let report = solver.solve(problem, &mut impulses);
    assert_honest(name, problem, &impulses, &report);
    (report, impulses)
}

/// A block on a slope with tan θ = 0.5: it holds or slides with g (sin θ − μ cos θ).
#[test]
fn a_block_holds_or_slides_in_the_plane_and_in_space() {
    let angle = 0.5_f64.atan();
    for mu in [0.0, 0.2, 0.49, 0.501, 2.0] {
        let expected = G * (angle.sin() - mu * angle.cos()).max(0.0) / 240.0;
        let mut flat = World2::reference();
        flat.settings_mut().gravity = DVec2::new(G * angle.sin(), -G * angle.cos());
        let m = surface(&mut flat, mu, 0.0);
        ground2(&mut flat, m);
        let shape = Shape2::cuboid(DVec2::new(0.1, 0.05)).unwrap();
        flat.add(Body::rigid(shape).of(m).at(DVec2::Y * 0.05))
            .unwrap();
        let flat = flat.problem();
        let mut solid = World3::reference();
        solid.settings_mut().gravity = DVec3::new(G * angle.sin(), -G * angle.cos(), 0.0);
        let m = surface(&mut solid, mu, 0.0);
        ground3(&mut solid, m);
        let shape = Shape3::cuboid(DVec3::new(0.1, 0.05, 0.1)).unwrap();
        solid
            .add(Body::rigid(shape).of(m).at(DVec3::Y * 0.05))
            .unwrap();
        let solid = solid.problem();
        for (name, mut solver) in both::<D2>(to_speed(1e-11, 50_000)) {
            let (_, r) = solve((name, &mut *solver), &flat, &Impulses::default());
            let v = flat.velocities(&r).motion[1].linear;
            assert!((v - DVec2::X * expected).length() < 1e-9, "{name} {mu} {v}");
        }
        for (name, mut solver) in both::<D3>(to_speed(1e-11, 50_000)) {
            let (_, r) = solve((name, &mut *solver), &solid, &Impulses::default());
            let v = solid.velocities(&r).motion[1].linear;
            assert!((v - DVec3::X * expected).length() < 1e-9, "{name} {mu} {v}");
        }
    }
}

/// Every contact twice: A is singular, impulses are not unique, velocities are.
fn doubled<S: Space>(problem: &ContactProblem<S>) -> ContactProblem<S> {
    let mut twice = problem.clone();
    twice.rows = problem.rows.iter().flat_map(|row| [*row, *row]).collect();
    for island in &mut twice.islands {
        (island.start, island.end) = (2 * island.start, 2 * island.end);
    }
    twice
}

#[test]
fn redundant_contacts_change_no_velocity() {
    let problem = stack3(&[1.0, 2.0, 3.0, 1.0]);
    let redundant = doubled(&doubled(&problem));
    for (name, mut solver) in both::<D3>(to_speed(1e-10, 100_000)) {
        let (report, once) = solve((name, &mut *solver), &problem, &Impulses::default());
        assert!(report.converged, "{name}: {}", report.residual);
        let (report, often) = solve((name, &mut *solver), &redundant, &Impulses::default());
        assert!(report.converged, "{name}: {}", report.residual);
        let [v, w] = [
            problem.velocities(&once).motion,
            redundant.velocities(&often).motion,
        ];
        for (v, w) in v.iter().zip(&w) {
            assert!((v.linear - w.linear).length() < 1e-8, "{name}");
        }
        // All weight goes through the lowest contacts: 7 kg for 1/240 s.
        let floor = |problem: &ContactProblem<D3>, r: &Impulses<D3>| -> f64 {
            let rows = problem.rows.iter().zip(&r.local);
            rows.filter(|(row, _)| row.a == drystone::contact::problem::Side::Fixed)
                .map(|(_, r)| r.x)
                .sum()
        };
        for load in [floor(&problem, &once), floor(&redundant, &often)] {
            assert!((load - 7.0 * G / 240.0).abs() < 1e-6, "{name}: {load}");
        }
    }
}

/// ADMM measures its penalty in each contact's own stiffness: six orders of masses, light or heavy
/// on top, cost it no digits.
#[test]
fn admm_carries_masses_over_six_orders() {
    for masses in [
        vec![1e-3, 1e3],
        vec![1e3, 1e-3],
        vec![1e-3, 1.0, 1e3],
        vec![1e3, 1.0, 1e-3, 1e3],
    ] {
        let problem = stack3(&masses);
        let mut admm = Admm {
            limits: to_speed(1e-8, 2_000),
            ..Admm::default()
        };
        let (report, r) = solve(("admm", &mut admm), &problem, &Impulses::default());
        assert!(report.converged, "{masses:?}: {}", report.residual);
        for motion in &problem.velocities(&r).motion[1..] {
            assert!(motion.linear.length() < 1e-7, "{masses:?}");
        }
    }
}

/// Gradients need some thousand steps where masses differ, but they get there.
#[test]
fn apgd_carries_masses_over_two_orders() {
    for masses in [vec![1.0, 1e2], vec![1e2, 1.0], vec![0.1, 1.0, 10.0]] {
        let problem = stack3(&masses);
        let mut apgd = Apgd {
            limits: to_relative(1e-8, 20_000),
            ..Apgd::default()
        };
        let (report, _) = solve(("apgd", &mut apgd), &problem, &Impulses::default());
        assert!(report.converged, "{masses:?}: {}", report.relative);
    }
}

#[test]
fn a_solution_as_guess_is_left_alone_and_a_near_one_helps() {
    for (name, problem) in shared_problems() {
        let mut anderson = Anderson {
            limits: to_relative(1e-9, 20_000),
            ..Anderson::default()
        };
        let (_, solved) = solve(("anderson", &mut anderson), &problem, &Impulses::default());
        let goal = to_relative((2.0 * judge(&problem, &solved).relative).max(1e-6), 20_000);
        for (solver_name, mut solver) in both::<D3>(goal) {
            let (report, again) = solve((solver_name, &mut *solver), &problem, &solved);
            assert_eq!(report.iterations, 0, "{name} {solver_name}");
            assert_eq!(again, solved);
        }
        // One contact in three is off by a thousandth.
        let mut near = solved.clone();
        for r in near.local.iter_mut().step_by(3) {
            *r *= 1.001;
        }
        let mut admm = Admm {
            limits: goal,
            ..Admm::default()
        };
        let (from_near, _) = solve(("admm", &mut admm), &problem, &near);
        let (from_nothing, _) = solve(("admm", &mut admm), &problem, &Impulses::default());
        println!(
            "{name:28} from near {} from nothing {}",
            from_near.iterations, from_nothing.iterations
        );
        assert!(from_near.converged, "{name}");
        assert!(
            from_near.iterations <= from_nothing.iterations + 10,
            "{name}"
        );
    }
}

/// The limit of iterations holds to the number; more iterations never give a worse answer, because
/// the best is given back; a budget of no time gives back the guess.
#[test]
fn limits_hold_and_the_best_iterate_comes_back() {
    for (name, problem) in shared_problems() {
        for which in 0..2 {
            let mut last = f64::INFINITY;
            // Multiples of the gradients' five iterations between two looks.
            for iterations in [5, 10, 30, 100, 300] {
                let [admm, apgd] = both::<D3>(to_relative(0.0, iterations));
                let (solver_name, mut solver) = if which == 0 { admm } else { apgd };
                let (report, _) =
                    solve((solver_name, &mut *solver), &problem, &Impulses::default());
                assert_eq!(report.iterations, iterations, "{name} {solver_name}");
                assert!(!report.converged, "{name} {solver_name}");
                let judged = report.residual;
                assert!(judged <= last, "{name} {solver_name} after {iterations}");
                last = judged;
            }
        }
        let late = Limits {
            budget: Some(0.0),
            ..to_relative(0.0, u32::MAX)
        };
        for (solver_name, mut solver) in both::<D3>(late) {
            let began = Instant::now();
            let (report, _) = solve((solver_name, &mut *solver), &problem, &Impulses::default());
            assert!(!report.converged && report.iterations <= 1, "{name}");
            // Not a matter of speed: without the budget this would take for ever.
            assert!(began.elapsed().as_secs() < 60);
        }
    }
}

#[test]
fn guesses_that_are_no_guesses_are_survived() {
    let problem = stack3(&[1.0; 5]);
    let rows = problem.rows.len();
    let guesses = [
        vec![DVec3::splat(f64::NAN); rows],
        vec![DVec3::splat(f64::INFINITY); rows],
        vec![DVec3::splat(-1e9); rows],
        vec![DVec3::new(0.0, 1e6, -1e6); 3],
        vec![DVec3::X; 2 * rows],
    ];
    for local in guesses {
        for (name, mut solver) in both::<D3>(to_speed(1e-8, 50_000)) {
            let mut impulses = Impulses {
                local: local.clone(),
            };
            let report = solver.solve(&problem, &mut impulses);
            assert_eq!(impulses.local.len(), rows);
            assert!(report.converged, "{name} {:?}: {report:?}", local[0]);
        }
    }
}

/// A problem without contacts, and one that nothing can move.
#[test]
fn nothing_to_solve_is_solved() {
    let empty = World3::reference().problem();
    let mut stuck = stack3(&[1.0]);
    for response in &mut stuck.responses {
        *response = drystone::contact::problem::Response::default();
    }
    for problem in [empty, stuck] {
        for (name, mut solver) in both::<D3>(to_speed(1e-9, 100)) {
            let (report, impulses) = solve((name, &mut *solver), &problem, &Impulses::default());
            assert!(report.converged, "{name}");
            assert!(impulses.local.iter().all(|r| *r == DVec3::ZERO), "{name}");
        }
    }
}

/// Boxes and balls thrown together, in space and in the plane.
fn pile3(seed: &[f64]) -> ContactProblem<D3> {
    let mut world = World3::reference();
    let m = surface(&mut world, 0.2 + seed[0].abs(), 0.0);
    ground3(&mut world, m);
    for (k, s) in seed.chunks_exact(4).enumerate() {
        let shape = if k % 2 == 0 {
            Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25)).unwrap()
        } else {
            Shape3::ball(0.25).unwrap()
        };
        let turn = DQuat::from_rotation_z(s[2]) * DQuat::from_rotation_x(s[3]);
        let at = DVec3::new(s[0], 0.2 + 0.3 * k as f64, s[1]);
        let body = Body::rigid(shape).of(m).at(at).turned(turn);
        world
            .add(body.moving(DVec3::new(s[3], -1.0, s[2])))
            .unwrap();
    }
    world.problem()
}

fn pile2(seed: &[f64]) -> ContactProblem<D2> {
    let mut world = World2::reference();
    let m = surface(&mut world, 0.2 + seed[0].abs(), 0.0);
    ground2(&mut world, m);
    for (k, s) in seed.chunks_exact(4).enumerate() {
        let shape = if k % 2 == 0 {
            Shape2::cuboid(DVec2::new(0.3, 0.2)).unwrap()
        } else {
            Shape2::ball(0.25).unwrap()
        };
        let at = DVec2::new(s[0], 0.2 + 0.3 * k as f64);
        let body = Body::rigid(shape).of(m).at(at);
        world.add(body.moving(DVec2::new(s[3], -1.0))).unwrap();
    }
    world.problem()
}

/// Both come below a millimetre a second (they have no proof of convergence with friction), and
/// where they come below 1e-9 m/s their velocities are those of the accelerated sweep.
fn check<S: Space>(problem: &ContactProblem<S>) -> Result<(), TestCaseError> {
    let mut anderson = Anderson {
        limits: to_speed(1e-10, 50_000),
        ..Anderson::default()
    };
    let (expected, r) = solve(("anderson", &mut anderson), problem, &Impulses::default());
    let expected = expected.converged.then(|| contact_velocities(problem, &r));
    for (name, mut solver) in both::<S>(to_speed(1e-9, 20_000)) {
        let (report, r) = solve((name, &mut *solver), problem, &Impulses::default());
        prop_assert!(report.residual < 1e-3, "{name}: {}", report.residual);
        if let (true, Some(expected)) = (report.converged, &expected) {
            let found = contact_velocities(problem, &r);
            let (apart, scale) = difference(problem, expected, &found);
            prop_assert!(apart <= 1e-6 * scale, "{name}: {apart:e} of {scale:e}");
        }
    }
    Ok(())
}

/// The same piles in every run: for a few piles in a hundred thousand the law has several answers.
fn same_piles() -> ProptestConfig {
    ProptestConfig {
        cases: 60,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(same_piles())]

    #[test]
    fn both_agree_with_the_sweep_in_space(seed in prop::collection::vec(-0.5..0.5, 24)) {
        check(&pile3(&seed))?;
    }

    #[test]
    fn both_agree_with_the_sweep_in_the_plane(seed in prop::collection::vec(-0.5..0.5, 24)) {
        check(&pile2(&seed))?;
    }
}
