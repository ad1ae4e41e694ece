//! Impacts in the real-time strategy against closed forms.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use crate::real_time::{floor3, run, settings};
use drystone::glam::{DVec2, DVec3};
use drystone::{Body, BodyId, Material, Settings, Shape2, Shape3, World2, World3};

/// Highest point of a ball with restitution `e`, dropped from 2 m, in the last of `seconds`.
fn bounce(e: f64, seconds: [f64; 2]) -> f64 {
    let mut world = World3::new(settings()).unwrap();
    let rubber = world
        .materials
        .add(Material {
            restitution: e,
            ..Material::default()
        })
        .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).of(rubber))
        .unwrap();
    let at = DVec3::new(0.0, 2.5, 0.0);
    let ball = world
        .add(Body::rigid(Shape3::ball(0.5).unwrap()).at(at).of(rubber))
        .unwrap();
    let mut highest = 0.0_f64;
    while world.time() < seconds[1] {
        world.step().unwrap();
        if world.time() > seconds[0] {
            highest = highest.max(world.pose(ball).unwrap().position.y - 0.5);
        }
    }
    highest
}

#[test]
fn an_elastic_ball_returns_to_its_height_for_half_a_minute() {
    let height = bounce(1.0, [27.0, 30.0]);
    assert!((height - 2.0).abs() < 0.08, "{height}");
}

#[test]
fn a_ball_that_keeps_half_its_speed_keeps_a_quarter_of_its_height() {
    // The first bounce is at 0.64 s, the second 0.64 s later. A bounce takes place where the ball
    // is when the step begins in which it hits, up to v dt = 0.1 m above the floor, and what is
    // lost of the height is lost from there: up to (1 − e²) v dt remain.
    let height = bounce(0.5, [0.66, 1.2]);
    assert!((0.47..0.5 + 0.75 * 0.105).contains(&height), "{height}");
}

/// Balls of these masses in a row along x, touching, the first of which comes at 3 m/s.
fn row_of_balls(masses: &[f64], restitution: f64) -> (World2, Vec<BodyId>) {
    let mut world = World2::new(Settings {
        gravity: DVec2::ZERO,
        ..settings()
    })
    .unwrap();
    let ivory = Material {
        friction: 0.0,
        restitution,
        ..Material::default()
    };
    let ivory = world.materials.add(ivory).unwrap();
    let ball = Shape2::ball(0.1).unwrap();
    let balls = masses.iter().enumerate().map(|(k, &mass)| {
        let body = Body::rigid(ball.clone()).with_mass(mass).of(ivory);
        let first = if k == 0 { 0.5 } else { 0.0 };
        let body = body.at(DVec2::new(0.2 * k as f64 - first, 0.0));
        let speed = if k == 0 { 3.0 } else { 0.0 };
        world.add(body.moving(DVec2::new(speed, 0.0))).unwrap()
    });
    let balls = balls.collect();
    (world, balls)
}

#[test]
fn a_row_of_balls_passes_a_blow_on() {
    let (mut world, balls) = row_of_balls(&[1.0; 5], 1.0);
    run(&mut world, 30);
    let speed = |k: usize| world.motion(balls[k]).unwrap().linear.x;
    for k in 0..4 {
        assert!(speed(k).abs() < 1e-6, "ball {k}: {}", speed(k));
    }
    assert!((speed(4) - 3.0).abs() < 1e-6, "{}", speed(4));
}

#[test]
fn a_bullet_gives_a_plate_its_momentum_and_no_more() {
    for e in [0.0, 0.5, 1.0] {
        let (mut world, balls) = row_of_balls(&[0.01, 10.0], e);
        run(&mut world, 60);
        let speed = |k: usize| world.motion(balls[k]).unwrap().linear.x;
        // m v = m v' + M V' and V' − v' = e v.
        let plate = 0.01 * 3.0 * (1.0 + e) / 10.01;
        assert!(
            (speed(1) - plate).abs() < 1e-6 * plate.max(1.0),
            "{e}: {}",
            speed(1)
        );
        assert!(
            (speed(0) - (plate - 3.0 * e)).abs() < 1e-5,
            "{e}: {}",
            speed(0)
        );
    }
}

#[test]
fn a_break_of_billiard_balls_makes_no_energy_and_keeps_momentum() {
    let (mut world, mut balls) = row_of_balls(&[1.0, 1.0], 0.9);
    for row in 1..5 {
        for k in 0..=row {
            let y = 0.2 * (f64::from(k) - 0.5 * f64::from(row));
            let at = DVec2::new(0.2 + 0.2 * 0.75_f64.sqrt() * f64::from(row), y);
            let ball = Body::rigid(Shape2::ball(0.1).unwrap()).with_mass(1.0);
            balls.push(world.add(ball.at(at)).unwrap());
        }
    }
    for _ in 0..120 {
        world.step().unwrap();
        let motion = |&k: &BodyId| world.motion(k).unwrap();
        let momentum: DVec2 = balls.iter().map(|k| motion(k).linear).sum();
        assert!((momentum - DVec2::X * 3.0).length() < 3e-3, "{momentum}");
        let energy: f64 = balls
            .iter()
            .map(|k| motion(k).linear.length_squared())
            .sum();
        assert!(energy < 9.0 + 1e-3, "{energy}");
    }
}

#[test]
fn a_fast_box_stops_at_the_floor() {
    let mut world = floor3();
    let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let body = world
        .add(
            Body::rigid(stone)
                .at(DVec3::new(0.0, 5.0, 0.0))
                .moving(DVec3::new(0.0, -50.0, 0.0)),
        )
        .unwrap();
    for _ in 0..60 {
        world.step().unwrap();
        assert!(world.pose(body).unwrap().position.y > 0.4);
    }
    let end = world.pose(body).unwrap().position;
    assert!((end.y - 0.5).abs() < 0.01, "{end}");
}
