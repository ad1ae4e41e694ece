//! The sweep family: block Gauss-Seidel, Jacobi, conjugate gradients, Anderson acceleration and
//! shock propagation, judged by the one residual.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common::{
    G, assert_honest, contact_velocities, difference, ground2, ground3, pile2, reached,
    shared_problems, stack3, surface, to_relative, to_speed,
};
use drystone::contact::problem::local_form::{AnyProblem, parse};
use drystone::contact::problem::{ContactProblem, Impulses, Velocities};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::judge::residual::judge;
use drystone::solver::{Anderson, BlockGs, Jacobi, Limits, LocalSolve, Nncg, Solver, shock_guess};
use drystone::{Body, D3, Settings, Shape2, Shape3, Space, World, World2, World3};
use proptest::prelude::*;

/// All solvers of the family with the same limits, the slowest last.
fn family<S: Space>(limits: Limits) -> Vec<(&'static str, Box<dyn Solver<S>>)> {
    let anderson = Anderson {
        limits,
        ..Anderson::default()
    };
    let nncg = Nncg {
        limits,
        ..Nncg::default()
    };
    let block_gs = BlockGs {
        limits,
        ..BlockGs::default()
    };
    let jacobi = Jacobi {
        limits,
        ..Jacobi::default()
    };
    vec![
        ("anderson", Box::new(anderson)),
        ("nncg", Box::new(nncg)),
        ("block-gs", Box::new(block_gs)),
        ("jacobi", Box::new(jacobi)),
    ]
}

/// Iterations to relative 1e-4 and 1e-8 that must not be passed, by solver and problem: the
/// known figures of each method.
const AT_MOST: [(&str, &str, u32, u32); 6] = [
    ("anderson", "kaplas-tower-570", 68, 172),
    ("anderson", "box-stack-48", 390, 5060),
    ("anderson", "two-cubes-mass-ratio-1e6-8", 32, 530),
    ("nncg", "kaplas-tower-570", 72, 230),
    ("nncg", "box-stack-48", 820, 2670),
    ("block-gs", "kaplas-tower-570", 340, 1470),
];

/// One iteration is one sweep, there or back (one update of all contacts for Jacobi).
#[test]
fn iterations_on_the_shared_problems() {
    println!("iterations to relative 1e-4 / 1e-8 and seconds, cold");
    for (name, problem) in shared_problems() {
        print!("{name:27}");
        for (solver_name, mut solver) in family(to_relative(1e-8, 6000)) {
            let mut impulses = Impulses::default();
            let report = solver.solve(&problem, &mut impulses);
            assert_honest(&name, &problem, &impulses, &report);
            let [rough, fine] = [1e-4, 1e-8].map(|relative| reached(&report, relative));
            let shown = |x: Option<u32>| x.map_or("-".to_owned(), |x| x.to_string());
            let seconds = report.history.last().map_or(0.0, |p| p.seconds);
            print!(
                "  {solver_name} {}/{} {seconds:.3}",
                shown(rough),
                shown(fine)
            );
            for (_, _, most_rough, most_fine) in AT_MOST
                .iter()
                .filter(|row| row.0 == solver_name && row.1 == name)
            {
                assert!(
                    rough.is_some_and(|x| x <= *most_rough),
                    "{solver_name} {name}"
                );
                assert!(
                    fine.is_some_and(|x| x <= *most_fine),
                    "{solver_name} {name}"
                );
            }
        }
        println!();
    }
}

#[test]
fn solvers_agree_on_velocities_of_the_shared_problems() {
    for (name, problem) in shared_problems() {
        let mut answers = Vec::new();
        for (solver_name, mut solver) in family(to_relative(1e-9, 6000)).into_iter().take(3) {
            let mut impulses = Impulses::default();
            let report = solver.solve(&problem, &mut impulses);
            if report.relative <= 1e-8 {
                answers.push((solver_name, contact_velocities(&problem, &impulses)));
            }
        }
        println!("{name}: {} solvers reach 1e-8", answers.len());
        for pair in answers.windows(2) {
            let (apart, scale) = difference(&problem, &pair[0].1, &pair[1].1);
            assert!(
                apart <= 1e-6 * scale,
                "{name}: {} and {} differ by {apart:e} of {scale:e} m/s",
                pair[0].0,
                pair[1].0
            );
        }
    }
}

/// The best iterate counts: with the same number of sweeps Anderson never ends worse than the
/// sweep that it accelerates.
#[test]
fn anderson_never_ends_worse_than_the_sweep() {
    for (name, problem) in shared_problems() {
        for iterations in [2, 10, 40, 200, 1000] {
            let limits = to_speed(0.0, iterations);
            let local = LocalSolve::Projected;
            let mut plain = BlockGs {
                limits,
                local,
                alternate: true,
                ..BlockGs::default()
            };
            let mut fast = Anderson {
                limits,
                ..Anderson::default()
            };
            let swept = plain.solve(&problem, &mut Impulses::default());
            let accelerated = fast.solve(&problem, &mut Impulses::default());
            // A tenth: below that iterates are not looked at. And rounding is a floor.
            assert!(
                accelerated.residual <= 1.12 * swept.residual + 1e-13,
                "{name} after {iterations}: {:e} {:e}",
                accelerated.residual,
                swept.residual
            );
        }
    }
}

/// A pile of boxes and balls thrown together, in space.
fn pile3(seed: &[f64]) -> ContactProblem<D3> {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(6).enumerate() {
        let body = match k % 3 {
            0 => Body::rigid(Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25)).unwrap()),
            1 => Body::rigid(Shape3::ball(0.25).unwrap()),
            _ => Body::particle(Shape3::ball(0.2).unwrap()),
        };
        let turn = DQuat::from_rotation_z(s[2]) * DQuat::from_rotation_x(s[3]);
        let body = body
            .at(DVec3::new(s[0], 0.2 + 0.3 * k as f64, s[1]))
            .turned(turn)
            .moving(DVec3::new(s[4], s[5], s[0]));
        world.add(body).unwrap();
    }
    world.problem()
}

/// Every solver comes below 1 µm/s, at least two below 1e-10 m/s (a box that is almost flat on
/// another can keep plain sweeps from that), and all of these have the same velocities.
fn check_pile<S: Space>(problem: &ContactProblem<S>) -> Result<(), TestCaseError> {
    let mut answers = Vec::new();
    for (name, mut solver) in family(to_speed(1e-10, 20_000)) {
        let mut impulses = Impulses::default();
        let report = solver.solve(problem, &mut impulses);
        assert_honest(name, problem, &impulses, &report);
        prop_assert!(report.residual < 1e-6, "{name}: {:e}", report.residual);
        if report.converged {
            answers.push((name, contact_velocities(problem, &impulses)));
        }
    }
    prop_assert!(answers.len() >= 2);
    for pair in answers.windows(2) {
        let (apart, scale) = difference(problem, &pair[0].1, &pair[1].1);
        let names = (pair[0].0, pair[1].0);
        prop_assert!(apart <= 1e-6 * scale, "{names:?}: {apart:e} of {scale:e}");
    }
    Ok(())
}

/// The same piles in every run: Coulomb's law has several answers for a few piles in a hundred
/// thousand (two solvers at 1e-15 m/s, with velocities that still differ), which is no error.
fn same_piles() -> ProptestConfig {
    ProptestConfig {
        cases: 100,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(same_piles())]

    #[test]
    fn solvers_agree_on_random_piles_in_space(seed in prop::collection::vec(-0.5..0.5, 36)) {
        check_pile(&pile3(&seed))?;
    }

    #[test]
    fn solvers_agree_on_random_piles_in_the_plane(seed in prop::collection::vec(-0.5..0.5, 36)) {
        check_pile(&pile2(&seed))?;
    }
}

/// Heavy on light, up to a million to one: everything comes to rest.
#[test]
fn anderson_stands_any_mass_ratio() {
    for power in 0..=6 {
        let problem = stack3(&[1.0, 10.0_f64.powi(power)]);
        let mut anderson = Anderson {
            limits: to_speed(1e-9, 2000),
            ..Anderson::default()
        };
        let mut impulses = Impulses::default();
        let report = anderson.solve(&problem, &mut impulses);
        assert!(
            report.converged,
            "10^{power}: {:e} m/s after {}",
            report.residual, report.iterations
        );
        let velocities = problem.velocities(&impulses);
        for motion in &velocities.motion {
            assert!(motion.linear.length() < 1e-6, "10^{power}");
        }
    }
}

/// The speed along the slope after one step on an incline of tan θ = 0.5, by every solver.
fn speeds_on_incline<S: Space>(world: &mut World<S>) -> Vec<(&'static str, Velocities<S>)> {
    let problem = world.problem();
    let solve = |(name, mut solver): (&'static str, Box<dyn Solver<S>>)| {
        let mut impulses = Impulses::default();
        let report = solver.solve(&problem, &mut impulses);
        assert!(report.converged, "{name}: {:e}", report.residual);
        (name, problem.velocities(&impulses))
    };
    family(to_speed(1e-12, 100_000))
        .into_iter()
        .map(solve)
        .collect()
}

/// One step of the scenes with closed forms: a block holds with μ = 0.501 and slides with
/// g (sin θ − μ cos θ); a ball rolls at (5/7) g sin θ, or slides and spins.
#[test]
fn every_solver_finds_the_closed_forms_of_friction() {
    let angle = 0.5_f64.atan();
    let (dt, radius) = (1.0 / 240.0, 0.2);
    let incline = |mu: f64| {
        let mut world: World3 = World::new(Settings {
            dt,
            ..Settings::reference()
        })
        .unwrap();
        world.settings_mut().gravity = DVec3::new(G * angle.sin(), -G * angle.cos(), 0.0);
        let m = surface(&mut world, mu, 0.0);
        ground3(&mut world, m);
        (world, m)
    };
    for mu in [0.0, 0.2, 0.49, 0.501, 2.0] {
        let (mut world, m) = incline(mu);
        let block = Shape3::cuboid(DVec3::new(0.1, 0.05, 0.1)).unwrap();
        let at = DVec3::Y * 0.05;
        world.add(Body::rigid(block).of(m).at(at)).unwrap();
        let expected = dt * G * (angle.sin() - mu * angle.cos()).max(0.0);
        for (name, velocities) in speeds_on_incline(&mut world) {
            let v = velocities.motion[1].linear;
            assert!((v.x - expected).abs() < 1e-10, "{name} μ = {mu}: {}", v.x);
            assert!(v.y.abs() < 1e-10 && v.z.abs() < 1e-10, "{name}");
        }
    }
    for mu in [0.1, 0.2] {
        let (mut world, m) = incline(mu);
        let ball = Shape3::ball(radius).unwrap();
        world
            .add(Body::rigid(ball).of(m).at(DVec3::Y * radius))
            .unwrap();
        let rolls = mu >= 2.0 / 7.0 * angle.tan();
        let (a, spin) = if rolls {
            let a = 5.0 / 7.0 * G * angle.sin();
            (a, a / radius)
        } else {
            let a = G * (angle.sin() - mu * angle.cos());
            (a, 2.5 * mu * G * angle.cos() / radius)
        };
        for (name, velocities) in speeds_on_incline(&mut world) {
            let motion = &velocities.motion[1];
            assert!((motion.linear.x - dt * a).abs() < 1e-10, "{name} μ = {mu}");
            assert!((motion.spin.z + dt * spin).abs() < 1e-9, "{name} μ = {mu}");
        }
    }
}

/// In a stack at rest the levels carry the weight above them, which sweeps take long to find.
#[test]
fn shock_propagation_guesses_a_stack() {
    let count = 20;
    let mut world = World2::reference();
    let m = surface(&mut world, 0.5, 0.0);
    ground2(&mut world, m);
    for k in 0..count {
        let shape = Shape2::cuboid(DVec2::splat(0.5)).unwrap();
        let at = DVec2::Y * (0.5 + f64::from(k));
        world
            .add(
                Body::rigid(shape)
                    .with_mass(1.0 + f64::from(k))
                    .of(m)
                    .at(at),
            )
            .unwrap();
    }
    let problem = world.problem();
    let mut guess = Impulses::default();
    assert!(shock_guess(&problem, &mut guess));
    let shocked = judge(&problem, &guess).relative;
    let mut swept = Impulses::default();
    let mut block_gs = BlockGs {
        limits: to_speed(0.0, 16),
        ..BlockGs::default()
    };
    let by_sweeps = block_gs.solve(&problem, &mut swept).relative;
    println!("relative residual: shock {shocked:e}, 16 sweeps {by_sweeps:e}");
    assert!(shocked < 1e-3 * by_sweeps);
    // A guess that is already better stays.
    let mut exact = Impulses::default();
    let mut anderson = Anderson {
        limits: to_speed(1e-11, 20_000),
        ..Anderson::default()
    };
    assert!(anderson.solve(&problem, &mut exact).converged);
    let kept = exact.clone();
    if !shock_guess(&problem, &mut exact) {
        assert_eq!(exact, kept);
    }
}

#[test]
fn shock_propagation_needs_bodies() {
    let text = "dimension 2\ncontacts 1\nmu 0.5\nq -1 0\nW 2\n0 0 1\n1 1 1\n";
    let Ok(AnyProblem::Flat(problem)) = parse(text) else {
        panic!("should be flat")
    };
    assert!(!shock_guess(&problem, &mut Impulses::default()));
}

/// What happens far away changes no bit: islands are solved by themselves.
#[test]
fn a_far_away_body_changes_nothing() {
    let world = |far: bool| {
        let mut world = World3::reference();
        let m = surface(&mut world, 0.4, 0.0);
        ground3(&mut world, m);
        let cube = || Body::rigid(Shape3::cuboid(DVec3::splat(0.5)).unwrap());
        for k in 0..3 {
            let at = DVec3::new(0.1 * f64::from(k), 0.5 + f64::from(k), 0.0);
            world.add(cube().of(m).at(at).moving(DVec3::X)).unwrap();
        }
        if far {
            let at = DVec3::new(100.0, 0.45, 3.0);
            world.add(cube().of(m).at(at).moving(DVec3::Z)).unwrap();
        }
        world.problem()
    };
    let (alone, together) = (world(false), world(true));
    assert_eq!((alone.islands.len(), together.islands.len()), (1, 2));
    for k in 0..family::<D3>(Limits::default()).len() {
        let solve = |problem: &ContactProblem<D3>| {
            let mut impulses = Impulses::default();
            let (name, mut solver) = family(to_speed(1e-8, 500)).swap_remove(k);
            let report = solver.solve(problem, &mut impulses);
            assert_honest(name, problem, &impulses, &report);
            (name, impulses.local)
        };
        let (name, expected) = solve(&alone);
        assert_eq!(solve(&together).1[..expected.len()], expected, "{name}");
    }
}

/// Nothing to do, a guess that is no number, no time at all: an answer comes back.
#[test]
fn bad_starts_are_survived() {
    let problem = stack3(&[1.0, 1.0]);
    for (name, mut solver) in family(to_speed(1e-8, 5000)) {
        let report = solver.solve(&ContactProblem::<D3>::default(), &mut Impulses::default());
        assert!(report.converged, "{name}: nothing to do");
        let mut guess = Impulses {
            local: vec![DVec3::splat(f64::NAN); 3],
        };
        let report = solver.solve(&problem, &mut guess);
        assert_honest(name, &problem, &guess, &report);
        assert!(report.converged, "{name}: {:e}", report.residual);
    }
    for (name, mut solver) in family(to_speed(1e-8, 0)) {
        let mut impulses = Impulses::default();
        let report = solver.solve(&problem, &mut impulses);
        assert_honest(name, &problem, &impulses, &report);
        assert_eq!(report.iterations, 0);
    }
}

/// Over- and under-relaxed sweeps go to the same place.
#[test]
fn relaxation_changes_the_way_not_the_answer() {
    let problem = stack3(&[1.0, 2.0, 1.0]);
    for relaxation in [0.5, 1.0, 1.3] {
        let mut solver = BlockGs {
            limits: to_speed(1e-10, 50_000),
            relaxation,
            ..BlockGs::default()
        };
        let mut impulses = Impulses::default();
        let report = solver.solve(&problem, &mut impulses);
        assert!(report.converged, "ω = {relaxation}: {:e}", report.residual);
    }
}
