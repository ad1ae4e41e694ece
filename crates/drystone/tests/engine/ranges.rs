//! Numbers beyond what is supported are refused where they are given, and a state that leaves the
//! range stops the run where it was.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::model::range;
use drystone::{
    Body, BodyError, Mass, Motion, Pose, Settings, Shape2, Shape3, StepError, Strategy, World2,
    World3,
};

fn ball() -> Shape3 {
    Shape3::ball(0.5).unwrap()
}

fn world(strategy: &str) -> World3 {
    let strategy = Strategy::named(strategy).unwrap();
    World3::new(Settings {
        strategy,
        dt: strategy.usual_dt(),
        ..Settings::default()
    })
    .unwrap()
}

#[test]
fn bodies_beyond_the_range_are_refused_by_field_and_bound() {
    let far = DVec3::new(0.0, 2.0 * range::POSITION, 0.0);
    let thin = Shape3::ball(1e-10).unwrap();
    for (body, field, bound) in [
        (Body::rigid(ball()).at(far), "position", "1e12 m"),
        (
            Body::rigid(ball()).at(DVec3::X * 1e160),
            "position",
            "1e12 m",
        ),
        (
            Body::rigid(ball()).moving(DVec3::X * -1e10),
            "velocity",
            "1e9 m/s",
        ),
        (
            Body::rigid(ball()).spinning(DVec3::Z * 1e10),
            "spin",
            "1e9 rad/s",
        ),
        (Body::fixed(Shape3::ball(1e10).unwrap()), "size", "1e9 m"),
        (Body::rigid(thin).with_mass(1.0), "size", "1e-9 m"),
        (Body::rigid(ball()).with_mass(1e19), "mass", "1e18 kg"),
        (Body::rigid(ball()).with_mass(1e-19), "mass", "1e-18 kg"),
    ] {
        let error = World3::reference().add(body).unwrap_err();
        assert!(matches!(error, BodyError::Range { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(field) && text.contains(bound), "{text}");
    }
}

#[test]
fn settings_beyond_the_range_are_refused_by_field_and_bound() {
    let refused = |settings: Settings<drystone::D3>| World3::new(settings).unwrap_err().to_string();
    let of = Settings::default;
    let text = refused(Settings { dt: 1e-8, ..of() });
    assert!(text.contains("dt") && text.contains("1e-7 s"), "{text}");
    let text = refused(Settings { dt: 1e4, ..of() });
    assert!(text.contains("dt") && text.contains("1e3 s"), "{text}");
    let gravity = DVec3::Y * -1e10;
    let text = refused(Settings { gravity, ..of() });
    assert!(
        text.contains("gravity") && text.contains("1e9 m/s²"),
        "{text}"
    );
    let text = refused(Settings {
        margin: 1e10,
        ..of()
    });
    assert!(text.contains("margin") && text.contains("1e9 m"), "{text}");
}

#[test]
fn bodies_are_not_put_or_set_going_beyond_the_range() {
    let mut world = World3::reference();
    let id = world.add(Body::rigid(ball())).unwrap();
    let error = world.set_pose(id, Pose::at(DVec3::X * 1e13)).unwrap_err();
    assert!(error.to_string().contains("1e12 m"), "{error}");
    let motion = Motion {
        linear: DVec3::Y * 1e200,
        ..Motion::default()
    };
    let error = world.set_motion(id, motion).unwrap_err();
    assert!(error.to_string().contains("1e9 m/s"), "{error}");
    assert_eq!(world.motion(id).unwrap(), Motion::default());
}

/// At the bounds themselves every strategy steps: boxes of single precision hold what they must.
#[test]
fn bodies_at_the_bounds_are_stepped_in_every_strategy() {
    for name in Strategy::NAMES {
        let mut world = world(name);
        world.settings_mut().gravity = DVec3::ZERO;
        for (k, place) in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::Z]
            .into_iter()
            .enumerate()
        {
            let place = place * (0.5 * range::POSITION);
            let turn = DQuat::from_rotation_x(k as f64);
            let cube = Shape3::cuboid(DVec3::splat(10.0)).unwrap();
            world.add(Body::rigid(cube).at(place).turned(turn)).unwrap();
        }
        let fast = Body::rigid(ball()).moving(DVec3::X * 0.9 * range::SPEED);
        world.add(fast.at(DVec3::X * 1e4)).unwrap();
        for _ in 0..3 {
            world
                .step()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn a_state_that_leaves_the_range_stops_the_run_where_it_was_in_every_strategy() {
    for name in Strategy::NAMES {
        for force in [1e14, 1e160, 1e300] {
            let mut world = world(name);
            world.add(Body::rigid(ball()).named("calm")).unwrap();
            let rocket = Body::rigid(ball()).at(DVec3::Y * 5.0).named("rocket");
            let rocket = world.add(rocket).unwrap();
            world.step().unwrap();
            let before = world.state_hash();
            let mut last = before;
            let error = loop {
                let at = world.pose(rocket).unwrap().position;
                world.add_force(rocket, DVec3::X * force, at).unwrap();
                match world.step() {
                    Ok(_) => last = world.state_hash(),
                    Err(error) => break error,
                }
                assert!(world.steps() < 100_000, "{name}");
            };
            let is_named = match &error {
                StepError::OutOfRange { body, what, .. } => {
                    body == "rocket" && what.contains("1e9 m/s") || what.contains("1e12 m")
                }
                StepError::NotFinite { body, .. } => body == "rocket",
                _ => false,
            };
            assert!(is_named, "{name}, {force}: {error}");
            assert_eq!(world.state_hash(), last, "{name}, {force}");
        }
    }
}

#[test]
fn the_range_holds_in_the_plane_too() {
    let mut world = World2::reference();
    let disk = Shape2::ball(0.5).unwrap();
    let far = Body::rigid(disk.clone()).at(DVec2::new(1e155, 0.0));
    assert!(matches!(world.add(far), Err(BodyError::Range { .. })));
    let body = Body {
        mass: Mass::Total(1e30),
        ..Body::rigid(disk)
    };
    assert!(matches!(world.add(body), Err(BodyError::Range { .. })));
}
