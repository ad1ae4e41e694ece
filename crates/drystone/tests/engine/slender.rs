//! Slender rigid bodies that fall on a floor, without friction and without restitution: nothing gives
//! them energy, in any strategy, in the plane and in space.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Barrier, Body, Material, Realtime, Settings, Shape2, Shape3, Space, Strategy, World, World2,
    World3,
};

/// Neither friction nor restitution.
fn slippery() -> Material {
    Material {
        friction: 0.0,
        ..Material::default()
    }
}

fn world<S: Space>(strategy: Strategy) -> World<S> {
    World::new(Settings {
        dt: 1.0 / 120.0,
        strategy,
        ..Settings::default()
    })
    .unwrap()
}

/// Kinetic and potential energy, J.
fn total<S: Space>(world: &World<S>) -> f64 {
    let energy = world.energy();
    energy.kinetic + energy.potential
}

/// Steps for two seconds; the most energy on the way over that at the start.
fn most_over_start<S: Space>(world: &mut World<S>) -> f64 {
    let start = total(world);
    let mut most = 1.0_f64;
    for _ in 0..240 {
        world.step().unwrap();
        most = most.max(total(world) / start);
    }
    most
}

fn rod_in_space(strategy: Strategy, shape: Shape3, velocity: DVec3, spin: DVec3) -> f64 {
    let mut world: World3 = world(strategy);
    let slippery = world.materials.add(slippery()).unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).of(slippery))
        .unwrap();
    let axis = DVec3::new(1.0, 0.0, 1.0).normalize();
    let rod = Body::rigid(shape)
        .at(DVec3::Y * 0.5)
        .turned(DQuat::from_axis_angle(axis, 60_f64.to_radians()))
        .with_mass(0.05)
        .moving(velocity)
        .spinning(spin)
        .of(slippery);
    world.add(rod).unwrap();
    most_over_start(&mut world)
}

fn slender_shapes() -> Vec<Shape3> {
    vec![
        Shape3::capsule(0.15, 0.001).unwrap(),
        Shape3::capsule(0.15, 0.002).unwrap(),
        Shape3::capsule(0.3, 0.01).unwrap(),
        Shape3::cuboid(DVec3::new(0.002, 0.2, 0.002)).unwrap(),
        Shape3::cuboid(DVec3::new(0.1, 0.001, 0.2)).unwrap(),
        Shape3::cuboid(DVec3::new(0.25, 0.004, 0.03)).unwrap(),
    ]
}

#[test]
fn slender_rods_on_a_slippery_floor_lose_energy_with_the_barrier() {
    for (k, shape) in slender_shapes().into_iter().enumerate() {
        for velocity in [DVec3::Y * -6.0, DVec3::new(2.0, -3.0, 1.0)] {
            for spin in [DVec3::ZERO, DVec3::new(5.0, -8.0, 3.0)] {
                let strategy = Strategy::Barrier(Barrier::default());
                let most = rod_in_space(strategy, shape.clone(), velocity, spin);
                // Barriers give back what they took within a millimetre.
                assert!(most < 1.02, "shape {k}, {velocity}, {spin}: {most}");
            }
        }
    }
}

#[test]
fn slender_rods_on_a_slippery_floor_lose_energy_in_other_strategies() {
    for strategy in [
        Strategy::Velocity,
        Strategy::named("parallel").unwrap(),
        Strategy::named("sequential").unwrap(),
    ] {
        for (k, shape) in slender_shapes().into_iter().enumerate() {
            let most = rod_in_space(strategy, shape, DVec3::Y * -6.0, DVec3::ZERO);
            assert!(most < 1.02, "{}, shape {k}: {most}", strategy.name());
        }
    }
}

#[test]
fn slender_rods_in_the_plane_lose_energy_in_every_strategy() {
    for strategy in [
        Strategy::Velocity,
        Strategy::Realtime(Realtime::default()),
        Strategy::Barrier(Barrier::default()),
        Strategy::named("parallel").unwrap(),
        Strategy::named("sequential").unwrap(),
    ] {
        for shape in [
            Shape2::capsule(0.15, 0.001).unwrap(),
            Shape2::cuboid(DVec2::new(0.2, 0.002)).unwrap(),
        ] {
            let mut world: World2 = world(strategy);
            let slippery = world.materials.add(slippery()).unwrap();
            world
                .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()).of(slippery))
                .unwrap();
            let rod = Body::rigid(shape)
                .at(DVec2::Y * 0.5)
                .turned(DRot2::new(1.0))
                .with_mass(0.05)
                .moving(DVec2::Y * -6.0)
                .of(slippery);
            world.add(rod).unwrap();
            let most = most_over_start(&mut world);
            assert!(most < 1.02, "{}: {most}", strategy.name());
        }
    }
}
