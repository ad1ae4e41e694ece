//! Joints of the real-time strategy in motion, at its default 1/60 s, against closed forms and
//! integrations in short steps.

use crate::motion_truths::{G, mechanical, run, world2, world3};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{Axis, Body, BodyId, Drive, Goal, Joint, Pose, Shape2, Shape3, World3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

/// The period of a pendulum that is let go level, by the arithmetic-geometric mean, and 2π/ω₀ being
/// that of small swings.
fn period_from_level(small: f64) -> f64 {
    let (mut a, mut g) = (1.0, FRAC_PI_4.cos());
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), f64::sqrt(a * g));
    }
    small / a
}

fn hook(world: &mut World3) -> BodyId {
    let hook = Body::fixed(Shape3::ball(0.02).unwrap());
    world.add(hook.in_groups(1, 0)).unwrap()
}

/// Lets a pendulum swing ten times from level, its centre of mass `length` m from the hook, inertia
/// I/m about the hook.
fn assert_keeps_swinging(world: &mut World3, bob: BodyId, (length, inertia): (f64, f64)) {
    let period = period_from_level(TAU * (inertia / (G * length)).sqrt());
    let scale = world.bodies().mass(bob.index()) * G * length;
    let energy = mechanical(world);
    let (mut crossings, mut last) = (Vec::new(), 1.0);
    while crossings.len() < 21 {
        world.step().unwrap();
        let x = world.pose(bob).unwrap().position.x;
        if (last > 0.0) != (x > 0.0) {
            crossings.push(world.time() - world.settings().dt * x / (x - last));
        }
        last = x;
        let change = (mechanical(world) - energy) / scale;
        assert!(change.abs() < 1e-3, "{change} at {} s", world.time());
        assert!(world.joint_error().0 < 1e-4);
    }
    let measured = (crossings[20] - crossings[0]) / 10.0;
    assert!(
        (measured / period - 1.0).abs() < 5e-4,
        "{measured} {period}"
    );
}

#[test]
fn a_rod_let_go_level_swings_ten_times_with_its_period_and_energy() {
    let rod = || Body::rigid(Shape3::cuboid(DVec3::new(0.5, 0.02, 0.02)).unwrap());
    let inertia = (1.0 + 0.04 * 0.04) / 12.0 + 0.25;
    for is_hinge in [false, true] {
        let mut world = world3();
        let hook = hook(&mut world);
        let bob = world.add(rod().at(DVec3::X * 0.5)).unwrap();
        let joint = if is_hinge {
            Joint::hinge(hook, bob, Axis::FREE).placed(Pose {
                position: DVec3::ZERO,
                rotation: DQuat::from_rotation_y(-FRAC_PI_2),
            })
        } else {
            Joint::ball(hook, bob).at(DVec3::ZERO)
        };
        world.join(joint).unwrap();
        assert_keeps_swinging(&mut world, bob, (0.5, inertia));
    }
}

/// Its own radius says nothing of how fast it swings.
#[test]
fn a_ball_on_a_joint_far_from_it_keeps_its_height() {
    for length in [1.0, 0.4] {
        let mut world = world3();
        let hook = hook(&mut world);
        let ball = Body::rigid(Shape3::ball(0.1).unwrap()).at(DVec3::X * length);
        let bob = world.add(ball).unwrap();
        world.join(Joint::ball(hook, bob).at(DVec3::ZERO)).unwrap();
        assert_keeps_swinging(&mut world, bob, (length, length * length + 0.4 * 0.01));
    }
}

#[test]
fn a_rod_in_the_plane_keeps_its_energy() {
    let mut world = world2();
    let hook = Body::fixed(Shape2::ball(0.02).unwrap()).in_groups(1, 0);
    let hook = world.add(hook).unwrap();
    let rod = Body::rigid(Shape2::cuboid(DVec2::new(0.5, 0.02)).unwrap()).with_mass(1.0);
    let rod = world.add(rod.at(DVec2::X * 0.5)).unwrap();
    world.join(Joint::ball(hook, rod).at(DVec2::ZERO)).unwrap();
    let energy = mechanical(&world);
    while world.time() < 17.0 {
        world.step().unwrap();
        let change = (mechanical(&world) - energy) / (0.5 * G);
        assert!(change.abs() < 1e-3, "{change} at {} s", world.time());
    }
}

/// Two equal rods, let go level: angles from straight down, by short steps of the classical
/// Runge-Kutta scheme.
fn double_pendulum(length: f64, time: f64) -> [f64; 2] {
    let rate = |[p, q, u, v]: [f64; 4]| {
        // ⅓ml² about the hook and the joint, ½ml² between them; gravity at the middles.
        let (sin, cos) = (p - q).sin_cos();
        let (m00, m01, m11) = (4.0 / 3.0, 0.5 * cos, 1.0 / 3.0);
        let g = G / length;
        let f = [
            -0.5 * sin * v * v - 1.5 * g * p.sin(),
            0.5 * sin * u * u - 0.5 * g * q.sin(),
        ];
        let det = m00 * m11 - m01 * m01;
        [
            u,
            v,
            (m11 * f[0] - m01 * f[1]) / det,
            (m00 * f[1] - m01 * f[0]) / det,
        ]
    };
    let add =
        |x: [f64; 4], k: [f64; 4], h: f64| -> [f64; 4] { std::array::from_fn(|i| x[i] + h * k[i]) };
    let steps = (time * 1e5).round() as u32;
    let h = time / f64::from(steps);
    let mut x = [FRAC_PI_2, FRAC_PI_2, 0.0, 0.0];
    for _ in 0..steps {
        let a = rate(x);
        let b = rate(add(x, a, 0.5 * h));
        let c = rate(add(x, b, 0.5 * h));
        let d = rate(add(x, c, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    [x[0], x[1]]
}

/// Compared with an integration at 1e-5 s as long as chaos allows, and energy for longer.
#[test]
fn a_double_pendulum_goes_where_the_equations_of_motion_go_and_keeps_its_energy() {
    let mut world = world3();
    let length = 1.0;
    let mut last = hook(&mut world);
    let mut rods = Vec::new();
    for k in 0..2 {
        let shape = Shape3::cuboid(DVec3::new(0.5 * length, 1e-3, 1e-3)).unwrap();
        let at = DVec3::X * (length * (f64::from(k) + 0.5));
        let rod = Body::rigid(shape).at(at).with_mass(1.0).in_groups(1, 0);
        let rod = world.add(rod).unwrap();
        let joint = Joint::ball(last, rod).at(DVec3::X * (length * f64::from(k)));
        world.join(joint).unwrap();
        rods.push(rod);
        last = rod;
    }
    let energy = mechanical(&world);
    for second in 1..=10 {
        run(&mut world, f64::from(second));
        let change = (mechanical(&world) - energy) / (2.0 * G * length);
        assert!(change.abs() < 1e-2, "{change} after {second} s");
        if second <= 2 {
            let expected = double_pendulum(length, f64::from(second));
            for (rod, angle) in rods.iter().zip(expected) {
                let along = world.pose(*rod).unwrap().rotation * DVec3::X;
                let there = DVec3::new(angle.sin(), -angle.cos(), 0.0);
                let off = (along - there).length();
                assert!(off < 0.02, "{off} after {second} s");
            }
        }
    }
}

/// A disc at the end of an arm, its axis level, started at its steady precession m g d/(I ω).
#[test]
fn a_gyroscope_on_a_joint_precesses_and_keeps_its_spin() {
    for (spin, arm) in [(100.0, 0.2), (60.0, 0.1), (150.0, 0.3)] {
        let mut world = world3();
        let hook = hook(&mut world);
        let rate = G * arm / (0.5 * 0.1 * 0.1 * spin);
        let disc = Body::rigid(Shape3::cylinder(0.02, 0.1).unwrap())
            .with_mass(1.0)
            .at(DVec3::X * arm)
            .turned(DQuat::from_rotation_z(-FRAC_PI_2))
            .spinning(DVec3::X * spin + DVec3::Y * rate)
            .moving(DVec3::Y.cross(DVec3::X * arm) * rate);
        let disc = world.add(disc).unwrap();
        world.join(Joint::ball(hook, disc).at(DVec3::ZERO)).unwrap();
        let (mut angle, mut last) = (0.0, 0.0_f64);
        while world.time() < 7.5 - 1e-3 {
            world.step().unwrap();
            let at = world.pose(disc).unwrap().position;
            assert!(at.y.abs() < 0.01 * arm, "sinks to {at}");
            let now = f64::atan2(-at.z, at.x);
            angle += (now - last + TAU).rem_euclid(TAU);
            last = now;
            let along = world.motion(disc).unwrap().spin.dot(at.normalize());
            assert!((along / spin - 1.0).abs() < 1e-3, "{along} rad/s");
        }
        assert!((angle / (rate * 7.5) - 1.0).abs() < 0.01, "{angle} rad");
    }
}

/// What is let go with velocities that its joints do not allow starts with the nearest that they do.
#[test]
fn a_rod_pushed_along_its_joint_stays_on_it() {
    let mut world = world3();
    let hook = hook(&mut world);
    let rod = Body::rigid(Shape3::cuboid(DVec3::new(0.5, 0.02, 0.02)).unwrap());
    let rod = rod.at(DVec3::X * 0.5).moving(DVec3::new(3.0, 0.0, 2.0));
    let rod = world.add(rod).unwrap();
    world.join(Joint::ball(hook, rod).at(DVec3::ZERO)).unwrap();
    for _ in 0..60 {
        world.step().unwrap();
        assert!(world.joint_error().0 < 1e-3, "{}", world.joint_error().0);
    }
}

/// A motor that could turn anything keeps its hinge shut and its speed, whatever hangs on it.
#[test]
fn motors_of_any_strength_keep_their_hinges_shut() {
    for strength in [1e2, 1e4, 1e6, 1e9, f64::INFINITY] {
        for arm in [0.0, 0.5] {
            let mut world = world3();
            let post = hook(&mut world);
            let bar = Shape3::cuboid(DVec3::new(0.5, 0.05, 0.05)).unwrap();
            let bar = Body::rigid(bar).at(DVec3::X * arm).with_mass(10.0);
            let bar = world.add(bar).unwrap();
            // Hinges turn about their own x.
            let turned = Pose {
                position: DVec3::ZERO,
                rotation: DQuat::from_rotation_y(-FRAC_PI_2),
            };
            let axis = Axis {
                drive: Some(Drive {
                    goal: Goal::Speed(10.0),
                    max_force: strength,
                }),
                ..Axis::FREE
            };
            world
                .join(Joint::hinge(post, bar, axis).placed(turned))
                .unwrap();
            let mut gap = 0.0_f64;
            for _ in 0..600 {
                world.step().unwrap();
                gap = gap.max(world.joint_error().0);
            }
            // At first it is brought from rest to its speed in one step.
            assert!(gap < 2e-3, "{strength} N·m, arm {arm} m: {gap} m");
            let spin = world.motion(bar).unwrap().spin.length();
            let reaches = strength > 10.0 * G * arm;
            assert!(
                !reaches || (spin - 10.0).abs() < 0.2,
                "{strength} N·m, arm {arm} m: {spin} rad/s"
            );
        }
    }
}
