//! Linkages that touch something, which are solved side by side.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DVec3};
use drystone::{Axis, Body, BodyId, Joint, Pose, Realtime, Settings, Shape3, Strategy, World3};

/// A floor in a world in which nothing sleeps.
fn floor() -> World3 {
    let mut world = World3::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        ..Settings::default()
    })
    .unwrap();
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor).unwrap();
    world
}

/// A trunk with an arm on a ball joint and a forearm on a hinge, half a metre above the floor.
fn figure(world: &mut World3, at: DVec3, elbow: Axis) -> [BodyId; 3] {
    let mut part = |half: DVec3, x: f64| {
        let at = at + DVec3::new(x, 0.5, 0.0);
        let body = Body::rigid(Shape3::cuboid(half).unwrap()).at(at);
        world.add(body).unwrap()
    };
    let trunk = part(DVec3::new(0.2, 0.1, 0.3), 0.0);
    let arm = part(DVec3::new(0.15, 0.05, 0.06), 0.4);
    let forearm = part(DVec3::new(0.15, 0.04, 0.05), 0.75);
    let shoulder = at + DVec3::new(0.22, 0.5, 0.1);
    world.join(Joint::ball(trunk, arm).at(shoulder)).unwrap();
    let bend = Pose {
        position: at + DVec3::new(0.57, 0.5, 0.0),
        rotation: DQuat::from_rotation_y(0.6),
    };
    world
        .join(Joint::hinge(arm, forearm, elbow).placed(bend))
        .unwrap();
    [trunk, arm, forearm]
}

fn run(world: &mut World3, steps: u32) {
    for _ in 0..steps {
        world.step().unwrap();
    }
}

/// Where three bodies are, bit by bit.
fn bits(world: &World3, bodies: [BodyId; 3]) -> [[u64; 7]; 3] {
    bodies.map(|body| {
        let pose = world.pose(body).unwrap();
        let (p, q) = (pose.position.to_array(), pose.rotation.to_array());
        [p[0], p[1], p[2], q[0], q[1], q[2], q[3]].map(f64::to_bits)
    })
}

#[test]
fn whom_a_linkage_is_with_changes_not_a_bit() {
    let end = |others: u32| {
        let mut world = floor();
        let one = figure(&mut world, DVec3::ZERO, Axis::FREE);
        for k in 1..=others {
            // Higher, so that they land later: some of a team touch nothing while others do.
            let at = DVec3::new(50.0 * f64::from(k), 0.3 * f64::from(k), 0.0);
            figure(&mut world, at, Axis::FREE);
        }
        run(&mut world, 90);
        bits(&world, one)
    };
    let alone = end(0);
    for others in [1, 2, 3, 6] {
        assert!(end(others) == alone, "with {others} others");
    }
}
