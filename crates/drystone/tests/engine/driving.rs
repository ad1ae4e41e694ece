//! Kinematic bodies that a program drives carry what stands on them, push with their own velocity,
//! and stay where they were put. A call that can have no effect is an error.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    AccessError, Body, Motion, Pose, Realtime, Settings, Shape2, Shape3, Space, Strategy, World,
    World2, World3,
};

const H: f64 = 1.0 / 60.0;

/// The two strategies that programs use most.
fn both<S: Space>(mut check: impl FnMut(World<S>)) {
    for strategy in [Strategy::Realtime(Realtime::default()), Strategy::Velocity] {
        let settings = Settings {
            dt: H,
            strategy,
            ..Settings::default()
        };
        check(World::new(settings).unwrap());
    }
}

fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    for _ in 0..(seconds / H).round() as u32 {
        world.step().unwrap();
    }
}

#[test]
fn a_platform_with_a_set_motion_carries_what_stands_on_it() {
    both(|mut world: World3| {
        let plate = Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap();
        let plate = world.add(Body::driven(plate)).unwrap();
        let cube = Shape3::cuboid(DVec3::splat(0.2)).unwrap();
        let rider = Body::rigid(cube).at(DVec3::new(0.5, 0.3, 0.0));
        let rider = world.add(rider).unwrap();
        run(&mut world, 1.0);
        // Half of g friction: it slips while the plate starts at once, and then stands on it.
        let motion = Motion {
            linear: DVec3::new(1.0, 0.25, 0.0),
            ..Motion::default()
        };
        world.set_motion(plate, motion).unwrap();
        run(&mut world, 1.0);
        let offset = |world: &World3| {
            world.pose(rider).unwrap().position - world.pose(plate).unwrap().position
        };
        let before = offset(&world);
        run(&mut world, 2.0);
        let at = world.pose(plate).unwrap().position;
        assert!((at - DVec3::new(3.0, 0.75, 0.0)).length() < 1e-12, "{at}");
        let lag = offset(&world) - before;
        // Repair of the overlap lifts it by hundredths of a millimetre.
        assert!(lag.length() < 5e-5, "{lag}");
        world.set_motion(plate, Motion::default()).unwrap();
        run(&mut world, 2.0);
        assert_eq!(world.pose(plate).unwrap().position, at);
    });
}

#[test]
fn a_turntable_that_is_set_spinning_in_the_middle_of_a_run_turns_from_where_it_is() {
    both(|mut world: World3| {
        let plate = Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap();
        let turned = DQuat::from_rotation_y(0.3);
        let plate = world.add(Body::driven(plate).turned(turned)).unwrap();
        run(&mut world, 0.7);
        let motion = Motion {
            spin: DVec3::Y * 0.5,
            ..Motion::default()
        };
        world.set_motion(plate, motion).unwrap();
        run(&mut world, 2.0);
        let expected = DQuat::from_rotation_y(1.3);
        let rotation = world.pose(plate).unwrap().rotation;
        let off = (rotation * expected.inverse()).xyz().length();
        assert!(off < 1e-12, "{rotation}");
    });
}

#[test]
fn a_lift_driven_pose_by_pose_carries_its_load_without_lag() {
    both(|mut world: World2| {
        let plate = Shape2::cuboid(DVec2::new(1.0, 0.1)).unwrap();
        let lift = world.add(Body::driven(plate)).unwrap();
        let load = Body::rigid(Shape2::cuboid(DVec2::splat(0.2)).unwrap()).at(DVec2::Y * 0.3);
        let load = world.add(load).unwrap();
        run(&mut world, 0.5);
        let height = |world: &World2, id| world.pose(id).unwrap().position.y;
        let rest = height(&world, load);
        for k in 1..=240_u32 {
            let phase = std::f64::consts::TAU * f64::from(k) / 120.0;
            let y = 0.25 * (1.0 - phase.cos());
            world.set_next_pose(lift, Pose::at(DVec2::Y * y)).unwrap();
            world.step().unwrap();
            assert!((height(&world, lift) - y).abs() < 1e-12);
            let lag = height(&world, load) - rest - y;
            assert!(lag.abs() < 1e-3, "step {k}: {lag} m");
        }
        // Nobody drives it any more: it stays.
        let y = height(&world, lift);
        run(&mut world, 0.5);
        assert_eq!(height(&world, lift), y);
    });
}

#[test]
fn a_driven_pusher_gives_a_ball_its_own_speed() {
    both(|mut world: World2| {
        world
            .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()))
            .unwrap();
        let plate = Shape2::cuboid(DVec2::new(0.1, 0.5)).unwrap();
        let pusher = world.add(Body::driven(plate).at(DVec2::Y * 0.6)).unwrap();
        let cube = Shape2::cuboid(DVec2::splat(0.2)).unwrap();
        let pushed = Body::rigid(cube).at(DVec2::new(0.5, 0.2));
        let pushed = world.add(pushed).unwrap();
        for k in 1..=120_u32 {
            let x = 0.5 * H * f64::from(k);
            let pose = Pose::at(DVec2::new(x, 0.6));
            world.set_next_pose(pusher, pose).unwrap();
            world.step().unwrap();
        }
        let speed = world.motion(pushed).unwrap().linear.x;
        assert!((speed - 0.5).abs() < 1e-3, "{speed} m/s");
        let gap = world.pose(pushed).unwrap().position.x - 1.0 - 0.3;
        assert!(gap.abs() < 2e-3, "{gap} m");
    });
}

#[test]
fn a_kinematic_body_that_is_put_somewhere_stays_there() {
    both(|mut world: World3| {
        let ball = Shape3::ball(0.5).unwrap();
        let id = world.add(Body::driven(ball)).unwrap();
        let motion = Motion {
            linear: DVec3::X,
            ..Motion::default()
        };
        world.set_motion(id, motion).unwrap();
        run(&mut world, 0.5);
        let pose = Pose::at(DVec3::new(0.0, 5.0, 0.0));
        world.set_pose(id, pose).unwrap();
        run(&mut world, 0.5);
        assert_eq!(world.pose(id).unwrap().position, pose.position);
    });
}

#[test]
fn driving_goes_on_from_a_snapshot_with_the_same_bits() {
    both(|mut world: World3| {
        let plate = Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap();
        let plate = world.add(Body::driven(plate)).unwrap();
        let cube = Shape3::cuboid(DVec3::splat(0.2)).unwrap();
        world.add(Body::rigid(cube).at(DVec3::Y * 0.4)).unwrap();
        run(&mut world, 0.3);
        let motion = Motion {
            linear: DVec3::X,
            spin: DVec3::Y,
        };
        world.set_motion(plate, motion).unwrap();
        let saved = world.snapshot();
        run(&mut world, 1.0);
        let there = world.state_hash();
        world.restore(&saved).unwrap();
        run(&mut world, 1.0);
        assert_eq!(world.state_hash(), there);
    });
}

#[test]
fn calls_without_effect_are_errors() {
    let mut world = World3::default();
    let ball = Shape3::ball(0.5).unwrap();
    let fixed = world.add(Body::fixed(ball.clone())).unwrap();
    let driven = world.add(Body::driven(ball.clone())).unwrap();
    let free = world.add(Body::rigid(ball)).unwrap();
    let motion = Motion::default();
    assert_eq!(world.set_motion(fixed, motion), Err(AccessError::Fixed));
    for id in [fixed, driven] {
        let force = world.add_force(id, DVec3::X, DVec3::ZERO);
        assert_eq!(force, Err(AccessError::Immovable));
        assert_eq!(world.add_torque(id, DVec3::X), Err(AccessError::Immovable));
    }
    for id in [fixed, free] {
        let result = world.set_next_pose(id, Pose::default());
        assert_eq!(result, Err(AccessError::NotKinematic));
    }
    let far = Pose::at(DVec3::X * f64::NAN);
    assert!(world.set_next_pose(driven, far).is_err());
}
