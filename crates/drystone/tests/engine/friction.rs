//! Friction against closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{G, exact, ground2, ground3, run, surface};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{Body, Push, Shape2, Shape3, World2, World3};

/// A world whose gravity is tilted: an incline of angle θ with the ground as its surface, x down
/// the slope.
fn incline3(angle: f64, mu: f64, dt: f64, g: f64) -> (World3, drystone::MaterialId) {
    let mut world: World3 = exact(dt);
    world.settings_mut().gravity = DVec3::new(g * angle.sin(), -g * angle.cos(), 0.0);
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    (world, m)
}

/// tan θ = 0.5: holds with μ = 0.50, slides with μ = 0.49 at g (sin θ − μ cos θ) = 0.0877 m/s²
/// for g = 9.8. Symplectic Euler's velocity under constant force is exact.
#[test]
fn a_block_on_an_incline_holds_or_slides() {
    let angle = 0.5_f64.atan();
    let block = Shape3::cuboid(DVec3::new(0.1, 0.05, 0.1)).unwrap();
    for (mu, expected) in [
        (0.501, 0.0),
        (0.49, 9.8 * (angle.sin() - 0.49 * angle.cos())),
    ] {
        let (mut world, m) = incline3(angle, mu, 1.0 / 240.0, 9.8);
        let id = world
            .add(
                Body::rigid(block.clone())
                    .of(m)
                    .at(DVec3::new(0.0, 0.05, 0.0)),
            )
            .unwrap();
        run(&mut world, 2.0);
        let motion = world.motion(id).unwrap();
        assert!(
            (motion.linear.x - 2.0 * expected).abs() < 1e-4,
            "{}",
            motion.linear.x
        );
        assert!(motion.linear.z.abs() < 1e-9, "no drift to the side");
        if expected == 0.0 {
            // Truly sticks: not a creep of micrometres a second.
            assert!(world.pose(id).unwrap().position.x.abs() < 1e-6);
        } else {
            assert!(
                (expected - 0.0877).abs() < 1e-4,
                "the figure of the truth table"
            );
        }
    }
}

/// At exactly μ = tan θ the block still holds: friction can carry what it must, but not a hair
/// more, so whatever speed the first steps' rounding leaves stays for ever. Ten micrometres a
/// second is the bound; no creep grows from it.
#[test]
fn a_block_holds_at_exactly_the_angle_of_friction() {
    let (mut world, m) = incline3(0.5_f64.atan(), 0.5, 1.0 / 240.0, 9.8);
    let id = world
        .add(
            Body::rigid(Shape3::cuboid(DVec3::new(0.1, 0.05, 0.1)).unwrap())
                .of(m)
                .at(DVec3::new(0.0, 0.05, 0.0)),
        )
        .unwrap();
    run(&mut world, 10.0);
    let moved = world.pose(id).unwrap().position.x;
    assert!(moved.abs() < 1e-4, "moved {moved} m");
}

/// A sphere rolls if μ ≥ (2/7) tan θ at (5/7) g sin θ; with less it slides at
/// g (sin θ − μ cos θ) and spins at (5/2) μ g cos θ / r.
#[test]
fn a_sphere_on_an_incline_rolls_or_slides() {
    let angle = 0.5_f64.atan();
    let (dt, radius) = (1.0 / 240.0, 0.2);
    for mu in [0.2, 0.1] {
        let (mut world, m) = incline3(angle, mu, dt, G);
        let id = world
            .add(
                Body::rigid(Shape3::ball(radius).unwrap())
                    .of(m)
                    .at(DVec3::Y * radius),
            )
            .unwrap();
        run(&mut world, 1.0);
        let motion = world.motion(id).unwrap();
        let rolls = mu >= 2.0 / 7.0 * angle.tan();
        let (speed, spin) = if rolls {
            let v = 5.0 / 7.0 * G * angle.sin();
            (v, v / radius)
        } else {
            (
                G * (angle.sin() - mu * angle.cos()),
                2.5 * mu * G * angle.cos() / radius,
            )
        };
        assert!(
            (motion.linear.x - speed).abs() < 1e-6 * speed,
            "{} {speed}",
            motion.linear.x
        );
        assert!(
            (motion.spin.z + spin).abs() < 1e-6 * spin,
            "{} {spin}",
            motion.spin.z
        );
    }
}

/// A bowling ball without spin slides 2v₀/(7μg) seconds and 12v₀²/(49μg) metres, then rolls at
/// 5v₀/7. The change falls between two steps, so the time is good to a step.
#[test]
fn a_bowling_ball_slides_then_rolls() {
    let (v0, mu, radius, dt) = (5.0, 0.2, 0.108, 1.0 / 480.0);
    let mut world: World3 = exact(dt);
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    let id = world
        .add(
            Body::rigid(Shape3::ball(radius).unwrap())
                .of(m)
                .at(DVec3::Y * radius)
                .moving(DVec3::X * v0),
        )
        .unwrap();
    let mut rolling_from = None;
    while world.time() < 2.0 {
        world.step().unwrap();
        let motion = world.motion(id).unwrap();
        let slip = motion.linear.x + radius * motion.spin.z;
        if rolling_from.is_none() && slip.abs() < 1e-9 {
            rolling_from = Some((world.time(), world.pose(id).unwrap().position.x));
        }
    }
    let (time, distance) = rolling_from.expect("the ball should roll in the end");
    assert!((time - 2.0 * v0 / (7.0 * mu * G)).abs() < 2.0 * dt);
    assert!((distance - 12.0 * v0 * v0 / (49.0 * mu * G)).abs() < 3.0 * v0 * dt);
    assert!((world.motion(id).unwrap().linear.x - 5.0 / 7.0 * v0).abs() < 1e-6);
}

/// A cube of 1 kg and 0.2 m, μ = 0.4, v₀ = 1 m/s, h = 1 ms: stops after 0.2548 s and 0.1274 m
/// (g = 9.81). Euler's distance is off by v₀h/2, its time by a step.
#[test]
fn a_sliding_cube_stops_where_it_must() {
    let dt = 1e-3;
    let mut world: World3 = exact(dt);
    let m = surface(&mut world, 0.4, 0.0);
    ground3(&mut world, m);
    let id = world
        .add(
            Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
                .with_mass(1.0)
                .of(m)
                .at(DVec3::Y * 0.1)
                .moving(DVec3::X),
        )
        .unwrap();
    let mut stopped = None;
    while world.time() < 0.4 {
        world.step().unwrap();
        if stopped.is_none() && world.motion(id).unwrap().linear.length() < 1e-9 {
            stopped = Some(world.time());
        }
    }
    let pose = world.pose(id).unwrap();
    assert!((stopped.expect("it should stop") - 1.0 / (0.4 * G)).abs() < 2.0 * dt);
    assert!((pose.position.x - 0.5 / (0.4 * G)).abs() < dt);
    assert!(pose.position.z.abs() < 1e-12, "no drift to the side");
    assert!((pose.position.y - 0.1).abs() < 1e-9, "no hovering");
}

/// Sliding at an angle in the ground plane goes straight: a friction disk, not a square. With a
/// clamp for each axis the path would bend towards an axis.
#[test]
fn friction_is_a_disk_not_a_square() {
    for degrees in [10.0_f64, 30.0, 45.0, 77.0] {
        let mut world: World3 = exact(1.0 / 240.0);
        let m = surface(&mut world, 0.3, 0.0);
        ground3(&mut world, m);
        let direction = DVec3::new(degrees.to_radians().cos(), 0.0, degrees.to_radians().sin());
        let id = world
            .add(
                Body::rigid(Shape3::cuboid(DVec3::new(0.3, 0.05, 0.3)).unwrap())
                    .of(m)
                    .at(DVec3::Y * 0.05)
                    .turned(DQuat::from_rotation_y(0.3))
                    .moving(direction * 2.0),
            )
            .unwrap();
        run(&mut world, 1.0);
        let path = world.pose(id).unwrap().position - DVec3::Y * 0.05;
        assert!(path.length() > 0.6);
        let off = path - direction * path.dot(direction);
        assert!(
            off.length() < 1e-4 * path.length(),
            "{degrees}°: {} m off",
            off.length()
        );
    }
}

/// A cube pulled with 20 N/s · t slips when the pull is μ m g.
#[test]
fn a_dragged_cube_slips_when_the_force_is_enough() {
    let dt = 1e-3;
    let mut world: World3 = exact(dt);
    let m = surface(&mut world, 0.5, 0.0);
    ground3(&mut world, m);
    let body = Body {
        pushes: vec![Push {
            rate: DVec3::X * 20.0,
            ..Push::default()
        }],
        ..Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
            .with_mass(2.0)
            .of(m)
            .at(DVec3::Y * 0.1)
    };
    let id = world.add(body).unwrap();
    let mut slipped = None;
    while slipped.is_none() && world.time() < 1.0 {
        let time = world.time();
        world.step().unwrap();
        if world.motion(id).unwrap().linear.x > 1e-7 {
            slipped = Some(20.0 * time);
        }
    }
    // A pull at the middle tips nothing over: the cube is wide enough.
    let force = slipped.expect("it should slip within a second");
    assert!(
        (force - 0.5 * 2.0 * G).abs() <= 20.0 * 2.0 * dt,
        "{force} N"
    );
}

/// Two cards of length 2a lean on each other at φ from the vertical. By symmetry the upper
/// contact pushes horizontally with H, the ground answers with friction H and the weight W:
/// moments about the lower end give H = ½ W tan φ, so they stand iff μ ≥ ½ tan φ. The cards are
/// capsules of radius r, whose ground contact is r below the lower end, which takes the factor
/// 1/(1 + r/(2 a cos φ)) off the limit.
#[test]
fn a_card_house_needs_half_the_tangent() {
    let (phi, a, r) = (30.0_f64.to_radians(), 0.5, 0.005);
    let limit = 0.5 * phi.tan() / (1.0 + r / (2.0 * a * phi.cos()));
    let falls = |mu: f64| {
        let mut world: World2 = exact(1.0 / 480.0);
        let m = surface(&mut world, mu, 0.0);
        ground2(&mut world, m);
        let card = Shape2::capsule(a, r).unwrap();
        for side in [-1.0, 1.0] {
            let turn = drystone::glam::DRot2::new(side * phi);
            // Upper end at x = ±r, so that the two just touch; lower end at height r.
            let at = DVec2::new(side * (r + a * phi.sin()), r + a * phi.cos());
            world
                .add(Body::rigid(card.clone()).of(m).at(at).turned(turn))
                .unwrap();
        }
        let start = world.bodies().position[1];
        run(&mut world, 2.0);
        (world.bodies().position[1] - start).length() > 0.02
    };
    assert!(!falls(1.02 * limit), "2 % more than ½ tan φ should stand");
    assert!(falls(0.98 * limit), "2 % less than ½ tan φ should fall");
}

/// A frictionless floor lets a stack be taken apart by a breath; a rough one does not.
#[test]
fn friction_holds_a_stack_against_a_push() {
    for (mu, holds) in [(0.0, false), (0.6, true)] {
        let mut world: World2 = exact(1.0 / 240.0);
        let m = surface(&mut world, mu, 0.0);
        ground2(&mut world, m);
        let shape = Shape2::cuboid(DVec2::splat(0.5)).unwrap();
        let mut top = None;
        for k in 0..3 {
            let body = Body {
                pushes: (k == 2)
                    .then_some(Push {
                        force: DVec2::X * 500.0,
                        ..Push::default()
                    })
                    .into_iter()
                    .collect(),
                ..Body::rigid(shape.clone())
                    .of(m)
                    .at(DVec2::new(0.0, 0.5 + f64::from(k)))
            };
            top = Some(world.add(body).unwrap());
        }
        run(&mut world, 1.0);
        let x = world.pose(top.unwrap()).unwrap().position.x;
        assert_eq!(x.abs() < 1e-3, holds, "μ = {mu}: moved {x} m");
    }
}
