//! The oracles against brute force, against each other and against the sweep.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::contact::problem::file::read;
use drystone::contact::problem::local_form::AnyProblem;
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::judge::residual::judge;
use drystone::solver::enumerate::{Mode, ModeSolution};
use drystone::solver::{Enumerate, Lemke, Limits, Solver};
use drystone::{D2, D3, Linear, Pgs, Space};
use proptest::prelude::*;

/// A random problem: W = B Bᵀ with a little more columns than rows, so that it is regular.
fn random_problem(dimension: usize, contacts: usize, numbers: &[f64], mu: f64) -> AnyProblem {
    let n = dimension * contacts;
    let columns = n + 3;
    let mut wheel = numbers.iter().copied().cycle();
    // Far from the last repeat by an irrational factor.
    let mut turn = 0.37;
    let mut next = || {
        turn = (turn * 1.618_033_988_749_895_f64 + 0.11).fract();
        wheel.next().unwrap_or(0.5) + 0.8 * (turn - 0.5)
    };
    let b: Vec<f64> = (0..n * columns).map(|_| next()).collect();
    let mut text = format!("dimension {dimension} contacts {contacts} mu");
    for _ in 0..contacts {
        text += &format!(" {}", mu * (0.5 + 0.5 * next().abs().fract()));
    }
    text += " q";
    for k in 0..n {
        let q = 2.0 * next();
        // Mostly approaching.
        text += &format!(" {}", if k % dimension == 0 { q - 0.7 } else { q });
    }
    text += &format!(" W {}", n * n);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        // The same sum for both orders, so that W is symmetric to the bit.
        let (low, high) = (i.min(j) * columns, i.max(j) * columns);
        let w: f64 = (0..columns).map(|k| b[low + k] * b[high + k]).sum();
        text += &format!("\n{i} {j} {w:?}");
    }
    read(&text).unwrap()
}

fn flat(contacts: usize, numbers: &[f64], mu: f64) -> ContactProblem<D2> {
    match random_problem(2, contacts, numbers, mu) {
        AnyProblem::Flat(problem) => problem,
        AnyProblem::Solid(_) => panic!("should be flat"),
    }
}

fn solid(contacts: usize, numbers: &[f64], mu: f64) -> ContactProblem<D3> {
    match random_problem(3, contacts, numbers, mu) {
        AnyProblem::Solid(problem) => problem,
        AnyProblem::Flat(_) => panic!("should be solid"),
    }
}

fn exact_pgs<S: Space>(problem: &ContactProblem<S>) -> Option<Impulses<S>> {
    let mut impulses = Impulses::default();
    let mut pgs = Pgs {
        iterations: 50_000,
        tolerance: 1e-12,
    };
    pgs.solve(problem, &mut impulses)
        .converged
        .then_some(impulses)
}

fn strict() -> Limits {
    Limits {
        tolerance: 1e-9,
        iterations: 20_000,
        ..Limits::default()
    }
}

/// Largest difference of the contacts' velocities, m/s.
fn difference<S: Space>(problem: &ContactProblem<S>, a: &Impulses<S>, b: &Impulses<S>) -> f64 {
    let (u, v) = (problem.velocities(a), problem.velocities(b));
    (0..problem.rows.len()).fold(0.0, |most: f64, row| {
        most.max((problem.velocity(row, &u) - problem.velocity(row, &v)).length())
    })
}

fn scale<S: Space>(problem: &ContactProblem<S>) -> f64 {
    let free = problem.free_velocities();
    (0..problem.rows.len()).fold(0.0, |most: f64, row| {
        most.max(problem.velocity(row, &free).length())
    })
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0, 97)
}

/// The enumeration's solutions, checked; whether u is unique.
fn checked<S: Space>(
    problem: &ContactProblem<S>,
) -> Result<(Vec<ModeSolution<S>>, bool), TestCaseError> {
    let solutions = Enumerate::solutions(problem, problem.islands[0]).unwrap();
    for solution in &solutions {
        let impulses = Impulses {
            local: solution.impulses.clone(),
        };
        prop_assert!(judge(problem, &impulses).largest.residual < 1e-9);
    }
    let first = solutions.first().map(|s| s.velocities.clone());
    let same = solutions.iter().all(|s| {
        let pairs = s.velocities.iter().zip(first.iter().flatten());
        pairs
            .clone()
            .all(|(a, b)| (*a - *b).length() < 1e-6 * scale(problem))
    });
    Ok((solutions, same))
}

/// The enumeration has an answer, and what the sweep converges to is one of its answers.
fn enumeration_agrees<S: Space>(problem: &ContactProblem<S>) -> Result<(), TestCaseError> {
    prop_assert_eq!(problem.islands.len(), 1);
    let (solutions, is_unique) = checked(problem)?;
    prop_assert!(!solutions.is_empty(), "no solution");
    let mut impulses = Impulses::default();
    let report = Enumerate { limits: strict() }.solve(problem, &mut impulses);
    prop_assert!(report.converged && report.residual < 1e-9);
    if let Some(swept) = exact_pgs(problem)
        && is_unique
    {
        prop_assert!(difference(problem, &swept, &impulses) < 1e-7 * scale(problem));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Without friction: Lemke, enumeration and the sweep give one u.
    #[test]
    fn without_friction_all_agree(numbers in numbers(), contacts in 1..=6_usize) {
        let problem = solid(contacts, &numbers, 0.0);
        let mut pivoted = Impulses::default();
        let report = Lemke { limits: strict(), ..Lemke::default() }.solve(&problem, &mut pivoted);
        prop_assert!(report.converged, "{}", report.residual);
        let (solutions, is_unique) = checked(&problem)?;
        prop_assert!(is_unique && solutions.len() == 1);
        let brute = Impulses { local: solutions[0].impulses.clone() };
        prop_assert!(difference(&problem, &pivoted, &brute) < 1e-9 * scale(&problem));
        if let Some(swept) = exact_pgs(&problem) {
            prop_assert!(difference(&problem, &pivoted, &swept) < 1e-9 * scale(&problem));
        }
    }

    /// With friction in the plane Lemke is exact.
    #[test]
    fn in_the_plane_lemke_solves_friction(
        numbers in numbers(), contacts in 1..=5_usize, mu in 0.05..0.6
    ) {
        let problem = flat(contacts, &numbers, mu);
        let mut pivoted = Impulses::default();
        let report = Lemke { limits: strict(), ..Lemke::default() }.solve(&problem, &mut pivoted);
        prop_assert!(report.converged, "{}", report.residual);
        let (solutions, is_unique) = checked(&problem)?;
        prop_assert!(!solutions.is_empty());
        if is_unique {
            let brute = Impulses { local: solutions[0].impulses.clone() };
            prop_assert!(difference(&problem, &pivoted, &brute) < 1e-8 * scale(&problem));
        }
    }

    #[test]
    fn enumeration_and_sweep_agree_in_the_plane(
        numbers in numbers(), contacts in 1..=5_usize, mu in 0.05..0.6
    ) {
        enumeration_agrees(&flat(contacts, &numbers, mu))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn enumeration_and_sweep_agree_in_space(
        numbers in numbers(), contacts in 1..=3_usize, mu in 0.05..0.6
    ) {
        enumeration_agrees(&solid(contacts, &numbers, mu))?;
    }

    /// The more corners the pyramid has, the nearer its answer is to the cone's.
    #[test]
    fn pyramids_come_near_the_cone(numbers in numbers(), mu in 0.05..0.4) {
        let problem = solid(3, &numbers, mu);
        let residual = |facets: u32| {
            let lemke = Lemke { facets, ..Lemke::default() };
            let answer = lemke.pyramid_answer(&problem).unwrap();
            judge(&problem, &answer).largest.residual
        };
        let size = scale(&problem);
        prop_assert!(residual(8) < 0.5 * size);
        prop_assert!(residual(48) < 0.1 * size, "{} of {size}", residual(48));
    }
}

/// A particle pushed along a floor: the three modes by hand.
#[test]
fn one_particle_sticks_slides_and_leaves() {
    let modes = |q: [f64; 3]| {
        let [n, s, t] = q;
        let text = format!("dimension 3 contacts 1 mu 0.5 q {n} {s} {t} W 3 0 0 2 1 1 2 2 2 2");
        let AnyProblem::Solid(problem) = read(&text).unwrap() else {
            panic!("should be solid")
        };
        let found = Enumerate::solutions(&problem, problem.islands[0]).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].modes[0], found[0].impulses[0])
    };
    let (mode, r) = modes([-1.0, 0.3, 0.0]);
    assert!(mode == Mode::Stick && (r.x - 0.5).abs() < 1e-12 && (r.y + 0.15).abs() < 1e-12);
    let (mode, r) = modes([-1.0, 3.0, 4.0]);
    assert_eq!(mode, Mode::Slide);
    assert!((r.y + 0.25 * 0.6).abs() < 1e-9 && (r.z + 0.25 * 0.8).abs() < 1e-9);
    assert_eq!(modes([1.0, 3.0, 4.0]).0, Mode::Open);
}

/// Too large is said, not tried: the report is not converged and the guess is kept.
#[test]
fn too_large_is_said() {
    let mut text = "dimension 2 contacts 201 mu".to_owned();
    text += &" 0.5".repeat(201);
    text += " q";
    text += &" -1 0.1".repeat(201);
    text += " W 1204";
    for i in 0..402 {
        text += &format!(" {i} {i} 4");
    }
    for i in 0..401 {
        text += &format!(" {i} {} 1 {} {i} 1", i + 1, i + 1);
    }
    let AnyProblem::Flat(problem) = read(&text).unwrap() else {
        panic!("should be flat")
    };
    assert_eq!(problem.islands.len(), 1);
    let mut impulses = Impulses::default();
    let report = Lemke::default().solve(&problem, &mut impulses);
    assert!(!report.converged && report.residual > 0.5);
    assert!(Lemke::default().pyramid_answer(&problem).is_err());
    let report = Enumerate::default().solve(&problem, &mut impulses);
    assert!(!report.converged && impulses.local.len() == 201);
    assert!(Enumerate::solutions(&problem, problem.islands[0]).is_err());
}

/// A public problem of the folder beside the project, or `None` with a message.
fn public_problem(name: &str) -> Option<ContactProblem<D3>> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/contact-problems"
    );
    let path = format!("{folder}/{name}.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {path}");
        return None;
    };
    match read(&text).unwrap() {
        AnyProblem::Solid(problem) => Some(problem),
        AnyProblem::Flat(_) => panic!("{name} should be solid"),
    }
}

/// Masses of 10⁶ : 1, where sweeps stall and pivoting does not. W is singular, so pivots of
/// rounding (1e-11 of the load, W r = 10³ m/s) are taken for zero.
#[test]
fn lemke_takes_the_public_mass_ratio_problem() {
    let Some(mut problem) = public_problem("two-cubes-mass-ratio-1e6-8") else {
        return;
    };
    let mut impulses = Impulses::default();
    // The lower cube sticks to the floor and the upper one to it: inside any pyramid.
    let with_friction = Lemke::default().solve(&problem, &mut impulses);
    assert!(with_friction.residual < 1e-7, "{}", with_friction.residual);
    for row in &mut problem.rows {
        row.mu = 0.0;
    }
    let mut impulses = Impulses::default();
    let without = Lemke::default().solve(&problem, &mut impulses);
    assert!(without.residual < 1e-7, "{}", without.residual);
}

/// Four contacts in space, three sliding, by enumeration: to rounding.
#[test]
fn enumeration_solves_the_small_public_problems() {
    for name in ["rover-4", "sliding-cube"] {
        let Some(problem) = public_problem(name) else {
            return;
        };
        let mut impulses = Impulses::default();
        let report = Enumerate { limits: strict() }.solve(&problem, &mut impulses);
        assert!(report.residual < 1e-12, "{name}: {}", report.residual);
    }
}
