//! What has to stand stands.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{run, surface};
use drystone::glam::{DVec2, DVec3};
use drystone::{Body, Pgs, Shape2, Shape3, SolverKind, World2, World3};

fn with_floor3() -> World3 {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    world
}

/// Two boxes, the upper 10ᵏ times as heavy, k = 0…2: the lower one holds it, penetration under
/// 1 mm for boxes of 1 m. It takes 400 sweeps a step at 100:1; what fewer give, and what no
/// number of sweeps gives, stands in `docs/accuracy.md`.
#[test]
fn a_light_box_carries_a_heavy_one() {
    for k in 0..=2 {
        let mut world = with_floor3();
        world.settings_mut().solver = SolverKind::Pgs(Pgs {
            iterations: 400,
            tolerance: 1e-6,
        });
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let at = |y: f64| DVec3::new(0.0, y, 0.0);
        world
            .add(Body::rigid(shape.clone()).with_mass(1.0).at(at(0.5)))
            .unwrap();
        let heavy = 10.0_f64.powi(k);
        let top = world
            .add(Body::rigid(shape).with_mass(heavy).at(at(1.5)))
            .unwrap();
        let mut deepest = 0.0_f64;
        for _ in 0..2400 {
            let certificate = world.step().unwrap().certificate.unwrap();
            deepest = deepest.max(certificate.penetration_m);
        }
        assert!(deepest < 1e-3, "{heavy}:1 sinks {deepest} m");
        assert!((world.pose(top).unwrap().position.y - 1.5).abs() < 2e-3);
    }
}

/// A wall of 55 bricks in running bond stands as it was built.
#[test]
fn a_wall_stands() {
    let mut world = World2::reference();
    world
        .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()).named("floor"))
        .unwrap();
    let brick = Shape2::cuboid(DVec2::new(0.5, 0.25)).unwrap();
    let mut start = Vec::new();
    for row in 0..10 {
        for k in 0..10 - row {
            let x = f64::from(k) + 0.5 * f64::from(row);
            let at = DVec2::new(x, 0.25 + 0.5 * f64::from(row));
            world.add(Body::rigid(brick.clone()).at(at)).unwrap();
            start.push(at);
        }
    }
    run(&mut world, 10.0);
    for (k, at) in start.iter().enumerate() {
        let moved = (world.bodies().position[k + 1] - *at).length();
        assert!(moved < 5e-3, "brick {k} moved {moved} m");
    }
}

/// A tower of ten unit boxes stands for a minute; its top drifts less than the sway that the
/// sweeps' rounding of the first steps leaves (a millimetre at this number of sweeps).
#[test]
fn a_tower_of_ten_stands_for_a_minute() {
    let mut world = with_floor3();
    world.settings_mut().solver = SolverKind::Pgs(Pgs {
        iterations: 60,
        tolerance: 1e-6,
    });
    let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for k in 0..10 {
        let at = DVec3::new(0.0, 0.5 + f64::from(k), 0.0);
        world.add(Body::rigid(shape.clone()).at(at)).unwrap();
    }
    run(&mut world, 60.0);
    let top = world.bodies().position[10];
    assert!(
        (top.y - 9.5).abs() < 1e-3 && top.x.hypot(top.z) < 1e-3,
        "{top}"
    );
}

/// A semicircular arch of 7 stones stands on friction alone at t/R = 0.15 and falls at 0.06;
/// statics puts the limit at 0.0963.
#[test]
fn an_arch_stands_if_it_is_thick_enough() {
    let drop = |thickness: f64| {
        let mut world = World2::reference();
        let m = surface(&mut world, 0.8, 0.0);
        let ground = Shape2::half_space(DVec2::Y).unwrap();
        world
            .add(Body::fixed(ground).named("ground").of(m))
            .unwrap();
        let count = 7;
        let slice = std::f64::consts::PI / f64::from(count);
        let (inner, outer) = (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness);
        for k in 0..count {
            let (from, to) = (slice * f64::from(k), slice * f64::from(k + 1));
            let corner = |r: f64, a: f64| DVec2::new(r * a.cos(), r * a.sin());
            let points = [
                corner(inner, from),
                corner(outer, from),
                corner(outer, to),
                corner(inner, to),
            ];
            let stone = Shape2::hull(&points).unwrap();
            world
                .add(Body::rigid(stone).of(m).named(format!("stone {k}")))
                .unwrap();
        }
        let crown = world.body("stone 3").unwrap().index();
        let start = world.bodies().position[crown].y;
        run(&mut world, 5.0);
        start - world.bodies().position[crown].y
    };
    let thick = drop(0.15);
    assert!(thick < 5e-3, "the thick arch's crown drops {thick} m");
    let thin = drop(0.06);
    assert!(thin > 0.3, "the thin arch's crown drops only {thin} m");
}

/// Two stones put in the same place come apart at no more than the repair speed and then rest:
/// nothing explodes, nothing is lost.
#[test]
fn coincident_bodies_come_apart_gently() {
    let mut world = with_floor3();
    for shape in [
        Shape3::ball(0.5).unwrap(),
        Shape3::cuboid(DVec3::splat(0.5)).unwrap(),
    ] {
        for _ in 0..2 {
            world
                .add(Body::rigid(shape.clone()).at(DVec3::new(0.0, 0.5, 0.0)))
                .unwrap();
        }
    }
    let mut fastest = 0.0_f64;
    for _ in 0..1200 {
        world.step().unwrap();
        for motion in &world.bodies().motion {
            fastest = fastest.max(motion.linear.length());
        }
    }
    assert!(fastest < 8.0, "{fastest} m/s");
    for a in 1..5 {
        assert!(world.bodies().position[a].is_finite());
    }
}
