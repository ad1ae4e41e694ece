//! What falls comes to rest by itself in the default strategy: nothing sleeps here, and nothing
//! keeps swinging on its own contacts.

#![allow(missing_docs, clippy::unwrap_used)]

use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Body, Linear, Realtime, Settings, Shape2, Shape3, Space, Strategy, World, World2, World3,
};
use proptest::prelude::*;

fn sleepless<S: Space>() -> World<S> {
    World::new(Settings {
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        certify_every: 0,
        ..Settings::default()
    })
    .unwrap()
}

fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    for _ in 0..(seconds * 60.0).round() as u32 {
        world.step().unwrap();
    }
}

/// How many bodies are faster than this, m/s.
fn faster<S: Space>(world: &World<S>, speed: f64) -> usize {
    let speeds = world
        .bodies()
        .motion
        .iter()
        .map(|motion| motion.linear.length());
    speeds.filter(|&v| v > speed).count()
}

/// A swing of five cubes grew to ten centimetres by the lag of a force that repaired their overlaps.
#[test]
fn a_tower_of_five_cubes_that_drops_by_two_centimetres_comes_to_rest() {
    let mut world: World3 = sleepless();
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    world.add(Body::fixed(floor)).unwrap();
    let cube = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for k in 0..5 {
        let at = DVec3::new(0.02 * f64::from(k), 0.52 + 1.02 * f64::from(k), 0.0);
        world.add(Body::rigid(cube.clone()).at(at)).unwrap();
    }
    run(&mut world, 4.0);
    for _ in 0..20 {
        run(&mut world, 1.0);
        assert_eq!(faster(&world, 0.01), 0, "at {} s", world.time());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn towers_that_drop_come_to_rest(
        count in 2..9_usize,
        half in prop::array::uniform3(0.15..0.6),
        drop in 0.0..0.05,
        aside in prop::collection::vec(prop::array::uniform2(-1.0..1.0), 9),
        turns in prop::collection::vec(-1.0..1.0, 9),
    ) {
        let half = DVec3::from_array(half);
        let mut world: World3 = sleepless();
        let floor = Shape3::half_space(DVec3::Y).unwrap();
        world.add(Body::fixed(floor)).unwrap();
        let block = Shape3::cuboid(half).unwrap();
        for k in 0..count {
            let [x, z] = aside[k].map(|aside| 0.1 * half.min_element() * aside);
            let y = (2.0 * k as f64 + 1.0) * half.y + drop * (k as f64 + 1.0);
            let block = Body::rigid(block.clone()).at(DVec3::new(x, y, z));
            world.add(block.turned(DQuat::from_rotation_y(turns[k]))).unwrap();
        }
        run(&mut world, 10.0);
        prop_assert_eq!(faster(&world, 0.02), 0);
        run(&mut world, 5.0);
        prop_assert_eq!(faster(&world, 0.02), 0);
    }
}

/// Boxes, disks and capsules poured into a pit in the plane: hundreds of them never came to rest.
#[test]
fn a_heap_in_the_plane_comes_to_rest() {
    let mut world: World2 = sleepless();
    for (at, normal) in [(0.0, DVec2::Y), (-6.0, DVec2::X), (6.0, DVec2::NEG_X)] {
        let wall = Shape2::half_space(normal).unwrap();
        world.add(Body::fixed(wall).at(DVec2::X * at)).unwrap();
    }
    let shapes = [
        Shape2::cuboid(DVec2::new(0.25, 0.3)).unwrap(),
        Shape2::ball(0.3).unwrap(),
        Shape2::capsule(0.2, 0.22).unwrap(),
    ];
    for k in 0..400_u32 {
        let (column, row) = (f64::from(k % 16), f64::from(k / 16));
        let at = DVec2::new(0.7 * column - 5.3 + 0.1 * (row % 3.0), 0.6 + row);
        let shape = shapes[(k % 3) as usize].clone();
        let turned = DRot2::from_angle(f64::from(k * 7 % 13));
        world.add(Body::rigid(shape).at(at).turned(turned)).unwrap();
    }
    run(&mut world, 15.0);
    assert_eq!(faster(&world, 0.1), 0);
}
