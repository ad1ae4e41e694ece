//! The strategy `penalty`: what its springs give, and the step they need.

#![allow(missing_docs, clippy::unwrap_used)]

use drystone::glam::DVec3;
use drystone::{Body, Feature, Material, Penalty, Settings, Shape3, StepError, Strategy, World3};

/// A ball of `mass` kg on the floor, overlapping it by `depth` m.
fn ball(options: Penalty, dt: f64, mass: f64, depth: f64) -> (World3, drystone::BodyId) {
    let mut world = World3::new(Settings {
        dt,
        strategy: Strategy::Penalty(options),
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let ball = Body::particle(Shape3::ball(0.1).unwrap())
        .at(DVec3::Y * (0.1 - depth))
        .with_mass(mass);
    let ball = world.add(ball).unwrap();
    (world, ball)
}

#[test]
fn a_ball_rests_on_its_spring_at_mg_over_k() {
    let options = Penalty::default();
    let (mut world, ball) = ball(options, 1e-3, 1.0, 0.0);
    for _ in 0..1000 {
        world.step().unwrap();
    }
    let depth = 0.1 - world.pose(ball).unwrap().position.y;
    assert!((depth - 9.81 / options.stiffness).abs() < 1e-9, "{depth}");
}

/// Stable below 2/ω and not above, damped or not: where theory has it, to two hundredths.
#[test]
fn springs_are_stable_below_the_critical_step_and_not_above() {
    for damping in [0.0, 0.3, 1.0] {
        let options = Penalty {
            stiffness: 1e4,
            damping,
            ..Penalty::default()
        };
        let rest = 9.81 / 1e4;
        for (part, is_stable) in [(0.98, true), (1.02, false)] {
            let dt = part * options.critical_dt(1.0);
            // A hundredth off the balance, so that the spring stays a spring for a while.
            let (mut world, ball) = ball(options, dt, 1.0, 1.01 * rest);
            let mut farthest = 0.0_f64;
            for _ in 0..400 {
                world.step().unwrap();
                let depth = 0.1 - world.pose(ball).unwrap().position.y;
                farthest = farthest.max((depth - rest).abs() / rest);
            }
            assert_eq!(
                farthest < 0.2,
                is_stable,
                "ζ = {damping}, {part}: {farthest}"
            );
        }
    }
}

#[test]
fn friction_holds_and_slides_around_tan_theta() {
    for (mu, slides) in [(0.45, true), (0.55, false)] {
        let mut world = World3::new(Settings {
            dt: 1e-3,
            strategy: Strategy::Penalty(Penalty::default()),
            ..Settings::default()
        })
        .unwrap();
        let stone = Material {
            friction: mu,
            ..Material::default()
        };
        let stone = world.materials.add(stone).unwrap();
        let normal = DVec3::new(-0.5, 1.0, 0.0).normalize();
        world
            .add(Body::fixed(Shape3::half_space(normal).unwrap()).of(stone))
            .unwrap();
        let theta = 0.5_f64.atan();
        // As deep as its weight presses four corners in.
        let start = normal * (0.1 - 9.81 * theta.cos() / 4e5);
        let cube = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
            .of(stone)
            .at(start)
            .turned(drystone::glam::DQuat::from_rotation_z(theta))
            .with_mass(1.0);
        let cube = world.add(cube).unwrap();
        for _ in 0..1000 {
            world.step().unwrap();
        }
        let moved = (world.pose(cube).unwrap().position - start).length();
        let exact = 0.5 * 9.81 * (theta.sin() - mu * theta.cos());
        if slides {
            // Below the slip speed friction is weaker: up to twice 1 cm/s too fast, for a second.
            assert!((moved - exact).abs() < 0.02, "{moved} {exact}");
        } else {
            // It creeps, at no more than twice the slip speed.
            assert!(moved < 0.02, "{moved}");
        }
    }
}

#[test]
fn what_a_strategy_does_not_serve_is_refused() {
    let (mut world, _) = ball(Penalty::default(), 1e-3, 1.0, 0.0);
    world
        .materials
        .set_default(Material {
            restitution: 0.5,
            ..Material::default()
        })
        .unwrap();
    let error = world.check_strategy().unwrap_err();
    let refused = |error: &StepError, of: Feature| matches!(error, StepError::Unserved { feature, .. } if *feature == of);
    assert!(refused(&error, Feature::Restitution), "{error}");
    assert!(error.to_string().contains("penalty"), "{error}");
    world.settings_mut().strategy = Strategy::named("parallel").unwrap();
    world.check_strategy().unwrap();
    let mut shelf = Body::fixed(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
        .at(DVec3::X)
        .named("shelf");
    shelf.one_way = Some(DVec3::Y);
    world.add(shelf).unwrap();
    for name in ["parallel", "sequential", "barrier"] {
        world.settings_mut().strategy = Strategy::named(name).unwrap();
        let error = world.step().unwrap_err();
        assert!(refused(&error, Feature::OneWay), "{error}");
        assert!(error.to_string().contains("shelf"), "{error}");
    }
}
