//! What does not change the real-time strategy's bits: threads, instruction sets, far-away bodies.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use crate::real_time::{run, settings, wall};
use drystone::glam::{DQuat, DVec3};
use drystone::math::simd::Instructions;
use drystone::{Body, BodyId, Realtime, Settings, Shape3, Strategy, World3};

/// Boxes, balls and capsules that fall on each other.
fn rubble(settings: Settings<drystone::D3>) -> World3 {
    let mut world = World3::new(settings).unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    let shapes = [
        Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25)).unwrap(),
        Shape3::ball(0.25).unwrap(),
        Shape3::capsule(0.2, 0.15).unwrap(),
    ];
    for k in 0..60_u32 {
        let (i, j, l) = (k % 3, k / 3 % 3, k / 9);
        let at = DVec3::new(
            0.55 * f64::from(i) + 0.03 * f64::from(l),
            0.5 + 0.6 * f64::from(l),
            0.55 * f64::from(j) - 0.02 * f64::from(k % 5),
        );
        let turn = DQuat::from_rotation_z(0.3 * f64::from(k % 7));
        world
            .add(
                Body::rigid(shapes[(k % 3) as usize].clone())
                    .at(at)
                    .turned(turn),
            )
            .unwrap();
    }
    world
}

#[test]
fn every_number_of_threads_and_every_instruction_set_give_the_same_bits() {
    let hash = |threads: u32, instructions: Instructions| {
        let mut settings = settings();
        settings.threads = threads;
        settings.certify_every = 0;
        settings.strategy = Strategy::Realtime(Realtime {
            instructions,
            ..Realtime::default()
        });
        let mut world = rubble(settings);
        wall(&mut world, 12);
        run(&mut world, 90);
        world.state_hash()
    };
    let expected = hash(1, Instructions::Portable);
    for &instructions in Instructions::every() {
        for threads in [1, 2, 3, 4, 8] {
            assert_eq!(
                hash(threads, instructions),
                expected,
                "{instructions:?} on {threads}"
            );
        }
    }
}

/// Large enough for every stage to be shared out: bodies that fall on each other side by side.
#[test]
fn a_heap_that_is_worth_several_threads_has_the_same_bits_on_any_number() {
    let hash = |threads: u32| {
        let mut settings = settings();
        (settings.threads, settings.certify_every) = (threads, 0);
        let mut world = World3::new(settings).unwrap();
        world
            .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
            .unwrap();
        let shapes = [
            Shape3::cuboid(DVec3::new(0.25, 0.2, 0.22)).unwrap(),
            Shape3::ball(0.25).unwrap(),
            Shape3::capsule(0.15, 0.15).unwrap(),
        ];
        for k in 0..1200_u32 {
            let (i, j, l) = (k % 16, k / 16 % 16, k / 256);
            let shifted = 0.05 * f64::from((k * 7919) % 13) / 13.0;
            let at = DVec3::new(
                0.55 * f64::from(i) + shifted,
                0.4 + 0.6 * f64::from(l),
                0.55 * f64::from(j) - shifted,
            );
            world
                .add(Body::rigid(shapes[(k % 3) as usize].clone()).at(at))
                .unwrap();
        }
        run(&mut world, 60);
        world.state_hash()
    };
    let expected = hash(1);
    for threads in [2, 3, 8] {
        assert_eq!(hash(threads), expected, "on {threads}");
    }
}

#[test]
fn a_far_away_body_changes_not_a_bit() {
    let positions = |with: bool| {
        let mut world = rubble(settings());
        if with {
            let ball = Shape3::ball(0.5).unwrap();
            for k in 0..3 {
                let at = DVec3::new(500.0, 0.4 + f64::from(k), 0.0);
                world.add(Body::rigid(ball.clone()).at(at)).unwrap();
            }
        }
        run(&mut world, 120);
        let bodies = world.bodies();
        (
            bodies.position[..61].to_vec(),
            bodies.rotation[..61].to_vec(),
        )
    };
    assert_eq!(positions(false), positions(true));
}

#[test]
fn ten_thousand_kilometres_away_all_is_as_at_home() {
    let end = |home: DVec3| {
        let mut world = World3::new(settings()).unwrap();
        let ground = Shape3::cuboid(DVec3::new(5.0, 0.5, 5.0)).unwrap();
        world
            .add(Body::fixed(ground).at(home - DVec3::Y * 0.5))
            .unwrap();
        let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let bodies: Vec<BodyId> = (0..5)
            .map(|k| {
                let at = home + DVec3::new(0.02 * f64::from(k), 0.52 + 1.02 * f64::from(k), 0.0);
                world.add(Body::rigid(stone.clone()).at(at)).unwrap()
            })
            .collect();
        run(&mut world, 300);
        bodies
            .iter()
            .map(|&b| world.pose(b).unwrap().position - home)
            .collect::<Vec<_>>()
    };
    let (here, there) = (end(DVec3::ZERO), end(DVec3::new(1e7, 0.0, -1e7)));
    for (p, q) in here.iter().zip(&there) {
        // Positions there are rounded to 2 nm, which impacts amplify.
        assert!(p.distance(*q) < 5e-3, "{p} here, {q} there");
    }
}
