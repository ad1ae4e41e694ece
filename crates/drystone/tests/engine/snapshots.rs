//! Snapshots: the whole world to bytes and back, and on to the same bits.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DVec2, DVec3};
use drystone::{
    Axis, Body, BodyId, Joint, Realtime, Script, Settings, Shape2, Shape3, SnapshotError, Strategy,
    World2, World3,
};
use proptest::prelude::*;

fn strategies() -> [Strategy; 2] {
    [Strategy::Velocity, Strategy::Realtime(Realtime::default())]
}

/// A heap that falls, a scripted stirrer and, where they are known, joints.
fn busy_world(strategy: Strategy) -> (World3, Vec<BodyId>) {
    let mut world = World3::new(Settings {
        dt: strategy.usual_dt(),
        strategy,
        events: true,
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let spin = DVec3::new(0.0, 2.0, 0.0);
    let script = Script::Steady {
        velocity: DVec3::ZERO,
        spin,
    };
    let arm = Shape3::cuboid(DVec3::new(2.0, 0.1, 0.1)).unwrap();
    world
        .add(Body::kinematic(arm, script).at(DVec3::new(0.0, 0.3, 0.0)))
        .unwrap();
    let shapes = [
        Shape3::cuboid(DVec3::new(0.2, 0.3, 0.25)).unwrap(),
        Shape3::ball(0.25).unwrap(),
        Shape3::capsule(0.2, 0.15).unwrap(),
    ];
    let mut bodies = Vec::new();
    for k in 0..30_u32 {
        let at = DVec3::new(
            0.4 * f64::from(k % 3),
            1.0 + 0.4 * f64::from(k),
            0.3 * f64::from(k % 2),
        );
        let shape = shapes[k as usize % 3].clone();
        bodies.push(world.add(Body::rigid(shape).at(at)).unwrap());
    }
    if matches!(strategy, Strategy::Realtime(_)) {
        for pair in bodies.chunks(6) {
            let at = world.pose(pair[0]).unwrap().position;
            let joint = Joint::hinge(pair[0], pair[1], Axis::FREE).at(at);
            world.join(joint).unwrap();
        }
    }
    (world, bodies)
}

fn run(world: &mut World3, steps: u32) -> u64 {
    let mut events = 0_u64;
    for _ in 0..steps {
        world.step().unwrap();
        events = events.wrapping_mul(31) + world.events().len() as u64;
    }
    world.state_hash() ^ events
}

#[test]
fn a_world_goes_on_from_a_snapshot_bit_by_bit() {
    for strategy in strategies() {
        for before in [0, 1, 50, 170] {
            let (mut world, _) = busy_world(strategy);
            run(&mut world, before);
            let saved = world.snapshot();
            let expected = run(&mut world, 60);
            world.restore(&saved).unwrap();
            assert!(world.snapshot() == saved, "{strategy:?} {before}");
            assert_eq!(run(&mut world, 60), expected, "{strategy:?} {before}");
            // Another world, built alike, goes on alike.
            let (mut other, _) = busy_world(strategy);
            other.restore(&saved).unwrap();
            assert_eq!(run(&mut other, 60), expected, "{strategy:?} {before}");
        }
    }
}

#[test]
fn a_snapshot_undoes_removals_additions_and_changed_settings() {
    for strategy in strategies() {
        let (mut world, bodies) = busy_world(strategy);
        run(&mut world, 80);
        let saved = world.snapshot();
        let expected = run(&mut world, 40);
        world.restore(&saved).unwrap();
        world.remove(bodies[3]).unwrap();
        world
            .add(Body::rigid(Shape3::ball(0.7).unwrap()).at(DVec3::new(3.0, 3.0, 0.0)))
            .unwrap();
        world.settings_mut().gravity = DVec3::X;
        run(&mut world, 10);
        world.restore(&saved).unwrap();
        assert!(world.pose(bodies[3]).is_some());
        assert_eq!(run(&mut world, 40), expected, "{strategy:?}");
    }
}

#[test]
fn threads_do_not_matter_after_a_snapshot() {
    let (mut world, _) = busy_world(strategies()[1]);
    run(&mut world, 100);
    let saved = world.snapshot();
    let expected = run(&mut world, 50);
    for threads in [2, 3] {
        world.restore(&saved).unwrap();
        world.settings_mut().threads = threads;
        let stale = run(&mut world, 50);
        // Changed settings make a world look at everything anew, on any number of threads.
        world.restore(&saved).unwrap();
        world.settings_mut().threads = 1;
        assert_eq!(run(&mut world, 50), stale);
    }
    world.restore(&saved).unwrap();
    assert_eq!(run(&mut world, 50), expected);
}

#[test]
fn worlds_that_never_had_a_shape_refuse_and_stay_as_they_are() {
    let (world, _) = busy_world(Strategy::Velocity);
    let saved = world.snapshot();
    let mut other = World3::default();
    let error = other.restore(&saved).unwrap_err();
    assert!(matches!(error, SnapshotError::Shape(_)), "{error}");
    assert!(other.bodies().is_empty());
    let mut flat = World2::default();
    flat.add(Body::rigid(Shape2::ball(1.0).unwrap()).at(DVec2::X))
        .unwrap();
    assert!(flat.restore(&saved).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_snapshots_are_refused(at in 0.0..1.0_f64, bit in 0..8_u32, cut in any::<bool>()) {
        let (mut world, _) = busy_world(Strategy::Realtime(Realtime::default()));
        world.step().unwrap();
        let mut saved = world.snapshot();
        let hash = world.state_hash();
        let place = ((saved.len() - 1) as f64 * at) as usize;
        if cut {
            saved.truncate(place);
        } else {
            saved[place] ^= 1 << bit;
        }
        prop_assert!(world.restore(&saved).is_err());
        prop_assert_eq!(world.state_hash(), hash);
    }
}
