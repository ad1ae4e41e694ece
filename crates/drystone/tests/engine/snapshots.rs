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
    let mut other = World3::reference();
    let error = other.restore(&saved).unwrap_err();
    assert!(matches!(error, SnapshotError::Shape(_)), "{error}");
    assert!(other.bodies().is_empty());
    let mut flat = World2::reference();
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

/// A world of so many bodies of some kinds, poured into a bin that a stirrer moves in, from numbers
/// that say where each is and how it moves.
fn poured(strategy: Strategy, numbers: &[(f64, f64, f64)]) -> World3 {
    let mut world = World3::new(Settings {
        dt: strategy.usual_dt(),
        strategy,
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let spin = DVec3::new(0.0, 1.0, 0.0);
    let script = Script::Steady {
        velocity: DVec3::ZERO,
        spin,
    };
    let arm = Shape3::cuboid(DVec3::new(0.8, 0.05, 0.05)).unwrap();
    world
        .add(Body::kinematic(arm, script).at(DVec3::new(3.0, 0.1, 0.0)))
        .unwrap();
    let shapes = [
        Shape3::cuboid(DVec3::new(0.1, 0.15, 0.12)).unwrap(),
        Shape3::ball(0.12).unwrap(),
        Shape3::capsule(0.1, 0.08).unwrap(),
        Shape3::cuboid(DVec3::new(0.2, 0.05, 0.2)).unwrap(),
    ];
    for (k, &(x, y, z)) in numbers.iter().enumerate() {
        let at = DVec3::new(0.9 * x, 0.4 + 0.45 * k as f64, 0.9 * z);
        let turn =
            drystone::glam::DQuat::from_rotation_x(y) * drystone::glam::DQuat::from_rotation_z(x);
        let body = Body::rigid(shapes[k % 4].clone()).at(at).turned(turn);
        world.add(body.moving(DVec3::new(z, y, -x))).unwrap();
    }
    world
}

/// How many random worlds are tried, and for how many steps each: `DRYSTONE_LONG` asks for more.
fn effort() -> (u32, u32) {
    match std::env::var_os("DRYSTONE_LONG") {
        Some(_) => (200, 1200),
        None => (6, 240),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort().0))]
    /// Whoever goes on from a snapshot comes to the same bytes as the world it was taken from, with
    /// its lists and layouts of steps before: a record's unused places once held what the kernels had
    /// left there, which depends on what it is worked on with.
    #[test]
    fn worlds_and_those_from_their_snapshots_come_to_the_same_bytes(
        numbers in prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64), 4..40),
        every in 7..60_u32,
    ) {
        let sleepy = Realtime { sleep_after: 0.05, sleep_speed: 0.3, ..Realtime::default() };
        let fine = Realtime { substeps: 3, ..sleepy };
        let watching = ["barrier", "parallel", "sequential", "penalty"].map(|n| Strategy::named(n).unwrap());
        let fast = [Strategy::Realtime(Realtime::default()), Strategy::Realtime(sleepy), Strategy::Realtime(fine)];
        let slow = std::iter::once(Strategy::Velocity).chain(watching);
        for (strategy, most) in fast.into_iter().map(|s| (s, 40)).chain(slow.map(|s| (s, 6))) {
            let mut world = poured(strategy, &numbers[..numbers.len().min(most)]);
            let fresh = world.clone();
            let mut other = fresh.clone();
            let steps = if most < 40 { effort().1 / 4 } else { effort().1 };
            for step in 1..=steps {
                let (went, followed) = (world.step(), other.step());
                prop_assert_eq!(went.is_ok(), followed.is_ok());
                if went.is_err() {
                    break;
                }
                if step % every == 0 {
                    let state = world.snapshot();
                    prop_assert!(state == other.snapshot(), "{} at step {step}", strategy.name());
                    other = fresh.clone();
                    other.restore(&state).unwrap();
                    prop_assert!(other.snapshot() == state);
                }
            }
        }
    }
}
