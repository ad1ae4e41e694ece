//! The same scene gives the same bits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use drystone::glam::{DQuat, DVec3};
use drystone::{Body, Shape3, World3};

/// A small heap of everything, in a bin.
fn heap() -> World3 {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    for inward in [DVec3::X, DVec3::NEG_X, DVec3::Z, DVec3::NEG_Z] {
        let wall = Shape3::half_space(inward).unwrap();
        world.add(Body::fixed(wall).at(inward * -1.5)).unwrap();
    }
    let shapes = [
        Shape3::ball(0.2).unwrap(),
        Shape3::cuboid(DVec3::new(0.2, 0.15, 0.25)).unwrap(),
        Shape3::capsule(0.2, 0.12).unwrap(),
        Shape3::cylinder(0.2, 0.15).unwrap(),
        Shape3::cone(0.2, 0.2).unwrap(),
        Shape3::hull(&[
            DVec3::new(0.2, -0.2, 0.2),
            DVec3::new(-0.2, -0.2, 0.1),
            DVec3::new(0.0, -0.2, -0.2),
            DVec3::new(0.0, 0.25, 0.0),
        ])
        .unwrap(),
    ];
    for k in 0..36 {
        let shape = shapes[k % shapes.len()].clone();
        let f = k as f64;
        let at = DVec3::new(0.3 * (f * 1.7).sin(), 0.4 + 0.35 * f, 0.3 * (f * 2.3).cos());
        let turn = DQuat::from_rotation_x(f) * DQuat::from_rotation_z(0.7 * f);
        world.add(Body::rigid(shape).at(at).turned(turn)).unwrap();
    }
    world
}

#[test]
fn two_runs_give_the_same_bits() {
    let (mut a, mut b) = (heap(), heap());
    for _ in 0..600 {
        a.step().unwrap();
        b.step().unwrap();
        assert_eq!(a.state_hash(), b.state_hash());
    }
}

/// Islands are solved apart, and the order of contacts does not depend on the tree: a body far
/// away, added first or last, changes not a bit of the others' motion.
#[test]
fn a_far_away_body_changes_nothing() {
    let mut alone = heap();
    let mut with_last = heap();
    let far = DVec3::new(1e4, 3.0, -1e4);
    let stack = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    with_last
        .add(Body::rigid(stack.clone()).at(far).named("far 1"))
        .unwrap();
    with_last
        .add(Body::rigid(stack).at(far + DVec3::Y * 1.5).named("far 2"))
        .unwrap();
    for _ in 0..600 {
        alone.step().unwrap();
        with_last.step().unwrap();
    }
    for k in 0..alone.bodies().len() {
        assert_eq!(alone.bodies().position[k], with_last.bodies().position[k]);
        assert_eq!(alone.bodies().rotation[k], with_last.bodies().rotation[k]);
        assert_eq!(alone.bodies().motion[k], with_last.bodies().motion[k]);
    }
}

/// A clone goes on exactly as the original does: nothing is hidden outside the world.
#[test]
fn a_clone_continues_bit_for_bit() {
    let mut world = heap();
    for _ in 0..100 {
        world.step().unwrap();
    }
    let mut copy = world.clone();
    for _ in 0..200 {
        world.step().unwrap();
        copy.step().unwrap();
    }
    assert_eq!(world.state_hash(), copy.state_hash());
}

/// The heap comes to rest, nothing sinks through, and every step is certified.
#[test]
fn a_heap_of_every_shape_comes_to_rest() {
    let mut world = heap();
    let mut deepest = 0.0_f64;
    for _ in 0..2400 {
        let certificate = world.step().unwrap().certificate.unwrap();
        deepest = deepest.max(certificate.penetration_m);
        assert!(certificate.momentum_n_s < 1e-8);
        assert_eq!(certificate.pull_n_s, 0.0);
        assert!(certificate.cone_excess_n_s < 1e-9);
    }
    // Twenty sweeps do not stop a falling heap at once: a tenth of the smallest size.
    assert!(deepest < 0.05, "{deepest} m");
    // What lies on its side may roll on: friction alone does not stop it.
    let moving = 5..world.bodies().len();
    let squares = moving.clone().map(|k| {
        let speed = world.bodies().motion[k].linear.length();
        speed * speed
    });
    let speed = (squares.sum::<f64>() / moving.len() as f64).sqrt();
    assert!(speed < 0.1, "{speed} m/s");
    for k in moving {
        assert!(world.bodies().position[k].y > 0.0);
    }
}
