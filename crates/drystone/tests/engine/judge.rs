//! The judge on solved problems: no residual at a solution, and more the further from it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::{DRot2, DVec2, DVec3};
use drystone::judge::fclib_error;
use drystone::judge::residual::judge;
use drystone::solver::Solver;
use drystone::{Body, Components, D2, D3, Linear, Pgs, Shape2, Shape3, Space, World2, World3};
use proptest::prelude::*;

/// Boxes and balls that fall on each other and a floor, in the plane.
fn pile2(seed: &[f64]) -> ContactProblem<D2> {
    let mut world = World2::reference();
    world
        .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(4).enumerate() {
        let shape = if k % 2 == 0 {
            Shape2::cuboid(DVec2::new(0.3, 0.2))
        } else {
            Shape2::ball(0.25)
        };
        let body = Body::rigid(shape.unwrap())
            .at(DVec2::new(s[0], 0.2 + 0.3 * k as f64))
            .turned(DRot2::new(s[1]))
            .moving(DVec2::new(s[2], s[3] - 1.0));
        world.add(body).unwrap();
    }
    world.problem()
}

/// The same with balls, in space.
fn pile3(seed: &[f64]) -> ContactProblem<D3> {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(4).enumerate() {
        let body = Body::rigid(Shape3::ball(0.25).unwrap())
            .at(DVec3::new(s[0], 0.2 + 0.3 * k as f64, s[1]))
            .moving(DVec3::new(s[2], s[3] - 1.0, s[0]));
        world.add(body).unwrap();
    }
    world.problem()
}

/// Moves one contact's impulse off the solution, further and further: its own block of A is
/// positive, so no direction leaves the law intact, and the residual follows the distance.
fn grows<S: Space>(
    problem: &ContactProblem<S>,
    which: usize,
    direction: [f64; 3],
) -> Result<(), TestCaseError> {
    let mut exact = Impulses::default();
    let report = Pgs {
        iterations: 20_000,
        tolerance: 1e-13,
    }
    .solve(problem, &mut exact);
    // A pile that the sweep does not solve says nothing about the judge.
    prop_assume!(report.residual < 1e-12 && !problem.rows.is_empty());
    prop_assert!(judge(problem, &exact).largest.residual < 1e-11);
    let row = which % problem.rows.len();
    let mut along = S::Vector::default();
    for (axis, x) in direction.into_iter().enumerate() {
        along = along.with_component(axis, x);
    }
    prop_assume!(along.length() > 0.1);
    let lambda = S::largest_eigenvalue(&problem.diagonal(row));
    let mut last = (0.0, 0.0);
    for size in [1e-7, 1e-5, 1e-3] {
        let mut off = exact.clone();
        off.local[row] += along * (size / (lambda * along.length()));
        let residual = judge(problem, &off).largest.residual;
        let fclib = fclib_error(problem, &off);
        prop_assert!(residual > 1e-3 * size, "{residual} for {size} m/s");
        prop_assert!(residual < 1e3 * size, "{residual} for {size} m/s");
        // Not in proportion: where one law stops being the worst broken, another begins.
        prop_assert!(residual > last.0, "{residual} after {}", last.0);
        prop_assert!(fclib > last.1, "{fclib} after {}", last.1);
        last = (residual, fclib);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_residual_grows_with_the_perturbation_in_the_plane(
        seed in prop::collection::vec(-0.3..0.3, 16), which in 0..64_usize,
        direction in prop::array::uniform3(-1.0..1.0)
    ) {
        grows(&pile2(&seed), which, direction)?;
    }

    #[test]
    fn the_residual_grows_with_the_perturbation_in_space(
        seed in prop::collection::vec(-0.3..0.3, 20), which in 0..64_usize,
        direction in prop::array::uniform3(-1.0..1.0)
    ) {
        grows(&pile3(&seed), which, direction)?;
    }
}
