//! What several test files share: worlds with a floor, materials, stepping for a time.
#![allow(dead_code, clippy::unwrap_used)]

use drystone::glam::{DVec2, DVec3};
use drystone::{
    Body, BodyId, Material, MaterialId, Pgs, Settings, Shape2, Shape3, SolverKind, Space, World,
    World2, World3,
};

/// Standard gravity of the truth scenes, m/s².
pub(crate) const G: f64 = 9.81;

/// A world with sweeps enough for its few contacts to be exact.
pub(crate) fn exact<S: Space>(dt: f64) -> World<S> {
    let settings = Settings {
        dt,
        solver: SolverKind::Pgs(Pgs {
            iterations: 2000,
            tolerance: 1e-12,
        }),
        ..Settings::default()
    };
    World::new(settings).unwrap()
}

/// A surface with these coefficients.
pub(crate) fn surface<S: Space>(
    world: &mut World<S>,
    friction: f64,
    restitution: f64,
) -> MaterialId {
    world
        .materials
        .add(Material {
            friction,
            restitution,
            ..Material::default()
        })
        .unwrap()
}

pub(crate) fn ground2(world: &mut World2, material: MaterialId) -> BodyId {
    let shape = Shape2::half_space(DVec2::Y).unwrap();
    world
        .add(Body::fixed(shape).named("ground").of(material))
        .unwrap()
}

pub(crate) fn ground3(world: &mut World3, material: MaterialId) -> BodyId {
    let shape = Shape3::half_space(DVec3::Y).unwrap();
    world
        .add(Body::fixed(shape).named("ground").of(material))
        .unwrap()
}

/// Steps until `seconds` have passed.
pub(crate) fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    while world.time() < seconds - 0.5 * world.settings().dt {
        world.step().unwrap();
    }
}
