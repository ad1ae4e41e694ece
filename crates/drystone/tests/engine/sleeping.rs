//! Sleep: what rests is left alone, and nothing sleeps in the air.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::DVec3;
use drystone::{Body, BodyId, Joint, Realtime, Script, Settings, Shape3, Strategy, World3};

fn world() -> World3 {
    let mut world = World3::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime::default()),
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    world
}

fn cube(world: &mut World3, at: DVec3) -> BodyId {
    let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    world.add(Body::rigid(shape).at(at)).unwrap()
}

fn tower(world: &mut World3, x: f64, stones: u32) -> Vec<BodyId> {
    (0..stones)
        .map(|k| cube(world, DVec3::new(x, 0.5 + f64::from(k), 0.0)))
        .collect()
}

fn run(world: &mut World3, seconds: f64) {
    for _ in 0..(seconds * 60.0) as u32 {
        world.step().unwrap();
    }
}

fn all_asleep(world: &World3, bodies: &[BodyId]) -> bool {
    bodies.iter().all(|&id| world.is_asleep(id))
}

#[test]
fn a_tower_falls_asleep_and_does_not_move_then() {
    let mut world = world();
    let stones = tower(&mut world, 0.0, 5);
    run(&mut world, 2.0);
    assert!(all_asleep(&world, &stones));
    let hash = |world: &World3| {
        let bodies = world.bodies();
        (bodies.position.clone(), bodies.rotation.clone())
    };
    let before = hash(&world);
    run(&mut world, 2.0);
    assert_eq!(hash(&world), before);
    assert_eq!(world.energy().kinetic, 0.0);
}

#[test]
fn a_hit_wakes_the_island_it_hits_and_no_other() {
    let mut world = world();
    let (near, far) = (tower(&mut world, 0.0, 3), tower(&mut world, 20.0, 3));
    run(&mut world, 2.0);
    assert!(all_asleep(&world, &near) && all_asleep(&world, &far));
    let ball = Body::rigid(Shape3::ball(0.3).unwrap())
        .at(DVec3::new(-3.0, 2.5, 0.0))
        .moving(DVec3::new(15.0, 1.0, 0.0));
    world.add(ball).unwrap();
    run(&mut world, 0.4);
    assert!(near.iter().all(|&id| !world.is_asleep(id)));
    assert!(all_asleep(&world, &far));
    assert!(world.pose(near[2]).unwrap().position.x > 0.01);
}

#[test]
fn forces_motions_and_the_user_wake() {
    let wakers: [fn(&mut World3, BodyId); 5] = [
        |world, id| world.add_force(id, DVec3::X, DVec3::ZERO).unwrap(),
        |world, id| world.add_torque(id, DVec3::X).unwrap(),
        |world, id| world.wake(id).unwrap(),
        |world, id| {
            let pose = world.pose(id).unwrap();
            world.set_pose(id, pose).unwrap();
        },
        |world, _| world.settings_mut().gravity = DVec3::new(0.5, -9.81, 0.0),
    ];
    for wake in wakers {
        let mut world = world();
        let stones = tower(&mut world, 0.0, 2);
        run(&mut world, 2.0);
        assert!(all_asleep(&world, &stones));
        wake(&mut world, stones[0]);
        world.step().unwrap();
        assert!(!world.is_asleep(stones[0]) && !world.is_asleep(stones[1]));
    }
}

#[test]
fn taking_the_floor_away_wakes_what_lies_on_it() {
    let mut world = world();
    let shelf = Body::fixed(Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap());
    let shelf = world.add(shelf.at(DVec3::new(0.0, 4.9, 0.0))).unwrap();
    let stone = cube(&mut world, DVec3::new(0.0, 5.5, 0.0));
    run(&mut world, 2.0);
    assert!(world.is_asleep(stone));
    world.remove(shelf).unwrap();
    run(&mut world, 2.0);
    assert!(world.pose(stone).unwrap().position.y < 0.6);
}

#[test]
fn what_rides_a_moving_platform_stays_awake_and_what_it_reaches_wakes() {
    let mut world = world();
    let resting = cube(&mut world, DVec3::new(6.0, 0.5, 0.0));
    let plate = Shape3::cuboid(DVec3::new(1.0, 0.1, 1.0)).unwrap();
    // Slower than what counts as still.
    let script = Script::Steady {
        velocity: DVec3::new(0.005, 0.0, 0.0),
        spin: DVec3::ZERO,
    };
    let lift = Body::kinematic(plate, script).at(DVec3::new(0.0, 2.0, 0.0));
    world.add(lift).unwrap();
    let rider = cube(&mut world, DVec3::new(0.0, 2.6, 0.0));
    run(&mut world, 5.0);
    assert!(world.is_asleep(resting));
    assert!(!world.is_asleep(rider));
    let moved = world.pose(rider).unwrap().position.x;
    assert!((moved - 0.025).abs() < 2e-3, "{moved}");
}

#[test]
fn a_joint_added_to_a_sleeper_wakes_it() {
    let mut world = world();
    let stone = cube(&mut world, DVec3::new(0.0, 0.5, 0.0));
    run(&mut world, 2.0);
    assert!(world.is_asleep(stone));
    let hook = world
        .add(Body::fixed(Shape3::ball(0.1).unwrap()).at(DVec3::new(0.0, 5.0, 0.0)))
        .unwrap();
    let joint = Joint::spring(hook, stone, 1.0, 1e5, 1e3);
    world
        .join(joint.between_points(DVec3::ZERO, DVec3::ZERO))
        .unwrap();
    run(&mut world, 0.5);
    assert!(world.pose(stone).unwrap().position.y > 0.6);
}

#[test]
fn with_sleep_after_zero_nobody_sleeps() {
    let mut world = world();
    let stone = cube(&mut world, DVec3::new(0.0, 0.5, 0.0));
    world.settings_mut().strategy = Strategy::Realtime(Realtime {
        sleep_after: 0.0,
        ..Realtime::default()
    });
    run(&mut world, 3.0);
    assert!(!world.is_asleep(stone));
}
