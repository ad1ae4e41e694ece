//! The matrix form against the matrix-free path, on random scenes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::pile2;
use drystone::contact::problem::matrix::flatten;
use drystone::contact::problem::{ContactProblem, Impulses, Velocities};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::model::body::Motion;
use drystone::{Body, Components, Shape2, Shape3, Space, World2, World3};
use proptest::prelude::*;

/// A pile of boxes, balls and particles thrown together, in space.
fn pile3(seed: &[f64]) -> ContactProblem<drystone::D3> {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(6).enumerate() {
        let at = DVec3::new(s[0], 0.2 + 0.3 * k as f64, s[1]);
        let turn = DQuat::from_rotation_z(s[2]) * DQuat::from_rotation_x(s[3]);
        let body = match k % 3 {
            0 => Body::rigid(Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25)).unwrap()),
            1 => Body::rigid(Shape3::ball(0.25).unwrap()),
            _ => Body::particle(Shape3::ball(0.2).unwrap()),
        };
        let body = body
            .at(at)
            .turned(turn)
            .moving(DVec3::new(s[4], s[5], s[0]))
            .spinning(if k % 3 == 2 {
                DVec3::ZERO
            } else {
                DVec3::new(s[1], s[4], s[2])
            });
        world.add(body).unwrap();
    }
    world.problem()
}

/// J v, A γ − b and M⁻¹Jᵀγ three ways: by matrices, contact by contact, block by block.
fn check<S: Space>(problem: &ContactProblem<S>, numbers: &[f64]) -> Result<(), TestCaseError> {
    let matrices = problem.matrix_form();
    let mut wheel = numbers.iter().copied().cycle();
    let mut impulses = Impulses::<S>::default();
    let mut flat = Vec::new();
    for _ in &problem.rows {
        let mut r = S::Vector::default();
        for axis in 0..S::DIM {
            let x = wheel.next().unwrap_or(0.0);
            r = r.with_component(axis, x);
            flat.push(x);
        }
        impulses.local.push(r);
    }
    let motion = problem.velocities(&impulses);
    let by_matrix = matrices.a.multiply(&flat);
    let jv = matrices.j.multiply(&flatten::<S>(&motion.motion));
    for row in 0..problem.rows.len() {
        let u = problem.velocity(row, &motion);
        let offset = problem.offset_velocity(row, &motion);
        for axis in 0..S::DIM {
            let at = S::DIM * row + axis;
            let scale = 1.0 + u.component(axis).abs() + by_matrix[at].abs();
            prop_assert!((jv[at] - u.component(axis)).abs() < 1e-12 * scale);
            let residual = by_matrix[at] - matrices.b[at];
            prop_assert!((residual - offset.component(axis)).abs() < 1e-12 * scale);
        }
        // The diagonal block is what a unit impulse does to its own contact.
        let block = problem.diagonal(row);
        for axis in 0..S::DIM {
            let mut alone = Velocities::<S> {
                motion: vec![Motion::default(); problem.free.len()],
                local: Vec::new(),
            };
            problem.apply(
                row,
                S::Vector::default().with_component(axis, 1.0),
                &mut alone,
            );
            let u = problem.velocity(row, &alone);
            let column = S::column(&block, axis);
            for other in 0..S::DIM {
                let error = (u.component(other) - column.component(other)).abs();
                prop_assert!(error < 1e-14 + 1e-12 * u.component(other).abs());
            }
        }
    }
    // A is symmetric and its quadratic form is twice the kinetic energy of the impulses.
    let energy: f64 = flat.iter().zip(&by_matrix).map(|(x, y)| x * y).sum();
    prop_assert!(energy >= -1e-12);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn matrices_equal_the_matrix_free_path_in_space(
        seed in prop::collection::vec(-0.5..0.5, 36), numbers in prop::collection::vec(-2.0..2.0, 7)
    ) {
        let problem = pile3(&seed);
        prop_assert!(!problem.rows.is_empty());
        check(&problem, &numbers)?;
    }

    #[test]
    fn matrices_equal_the_matrix_free_path_in_the_plane(
        seed in prop::collection::vec(-0.5..0.5, 36), numbers in prop::collection::vec(-2.0..2.0, 7)
    ) {
        let problem = pile2(&seed);
        prop_assert!(!problem.rows.is_empty());
        check(&problem, &numbers)?;
    }
}

/// Two separate pairs of particles have a diagonal A, a chain has not: the notes' example.
#[test]
fn the_sparsity_of_a_is_the_contact_graph() {
    let balls = |xs: &[f64]| {
        let mut world = World2::reference();
        world.settings_mut().margin = 0.01;
        for &x in xs {
            let shape = Shape2::ball(0.5).unwrap();
            world
                .add(Body::particle(shape).at(DVec2::new(x, 0.0)))
                .unwrap();
        }
        world.problem().matrix_form()
    };
    // Structural zeros may be stored; what counts is values.
    let couples = |form: &drystone::contact::problem::matrix::MatrixForm, i: usize, j: usize| {
        let mut unit = vec![0.0; form.a.columns()];
        unit[2 * j] = 1.0;
        form.a.multiply(&unit)[2 * i] != 0.0
    };
    let pairs = balls(&[0.0, 1.0, 5.0, 6.0]);
    assert!(couples(&pairs, 0, 0) && !couples(&pairs, 0, 1));
    let chain = balls(&[0.0, 1.0, 2.0]);
    assert!(couples(&chain, 0, 1) && couples(&chain, 1, 0));
}
