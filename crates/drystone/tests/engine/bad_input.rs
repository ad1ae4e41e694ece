//! What can't be simulated is refused, by name; what goes wrong on the way stops in good order.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use drystone::geometry::shape::MassProperties;
use drystone::glam::{DMat3, DQuat, DVec2, DVec3};
use drystone::{
    Body, BodyError, Keyframe, Mass, Material, MaterialError, Motion, Pose, Push, Script, Settings,
    Shape2, Shape3, StepError, World2, World3,
};

fn ball() -> Shape3 {
    Shape3::ball(0.5).unwrap()
}

fn refused(body: Body<drystone::D3>) -> String {
    let mut world = World3::reference();
    let error = world.add(body).expect_err("this body should be refused");
    assert!(
        world.bodies().is_empty(),
        "a refused body must leave no trace"
    );
    error.to_string()
}

#[test]
fn bad_bodies_are_refused_by_field() {
    let nan = f64::NAN;
    let message = refused(Body::rigid(ball()).with_mass(0.0));
    assert!(
        message.contains("mass") && message.contains("greater than 0"),
        "{message}"
    );
    assert!(refused(Body::rigid(ball()).with_mass(nan)).contains("mass"));
    for density in [0.0, -1.0, f64::INFINITY] {
        let body = Body {
            mass: Mass::Density(density),
            ..Body::rigid(ball())
        };
        assert!(refused(body).contains("density"));
    }
    assert!(refused(Body::rigid(ball()).at(DVec3::new(nan, 0.0, 0.0))).contains("position"));
    assert!(refused(Body::rigid(ball()).moving(DVec3::splat(f64::INFINITY))).contains("velocity"));
    assert!(refused(Body::rigid(ball()).spinning(DVec3::splat(nan))).contains("spin"));
    let wrong = DQuat::from_xyzw(0.0, 0.0, 0.0, 1.01);
    assert!(refused(Body::rigid(ball()).turned(wrong)).contains("rotation"));
    let body = Body {
        linear_damping: -1.0,
        ..Body::rigid(ball())
    };
    assert!(refused(body).contains("linear damping"));
    let pushes = vec![Push {
        force: DVec3::splat(nan),
        ..Push::default()
    }];
    assert!(
        refused(Body {
            pushes,
            ..Body::rigid(ball())
        })
        .contains("force")
    );
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    assert!(refused(Body::rigid(floor)).contains("fixed"));
    let cube = Shape3::cuboid(DVec3::ONE).unwrap();
    assert!(refused(Body::particle(cube)).contains("ball"));
    let negative = DMat3::from_diagonal(DVec3::new(-1.0, -1.0, 1.0));
    for inertia in [DMat3::ZERO, negative] {
        let given = MassProperties {
            mass: 1.0,
            center: DVec3::ZERO,
            inertia,
        };
        let body = Body {
            mass: Mass::Given(given),
            ..Body::rigid(ball())
        };
        assert!(refused(body).contains("inertia"));
    }
    let back = vec![1.0, 0.5].into_iter().map(|time| Keyframe {
        time,
        pose: Pose::default(),
    });
    assert!(
        refused(Body::kinematic(ball(), Script::Keyframes(back.collect()))).contains("keyframe 1")
    );
}

#[test]
fn a_rotation_within_a_thousandth_of_unit_is_normalised() {
    let mut world = World3::reference();
    let nearly = DQuat::from_xyzw(0.0, 0.0, 0.0, 1.0009);
    let id = world.add(Body::rigid(ball()).turned(nearly)).unwrap();
    assert_eq!(world.pose(id).unwrap().rotation, DQuat::IDENTITY);
}

#[test]
fn names_are_unique() {
    let mut world = World2::reference();
    let disk = Shape2::ball(0.1).unwrap();
    world.add(Body::rigid(disk.clone()).named("stone")).unwrap();
    let error = world
        .add(Body::rigid(disk.clone()).named("stone"))
        .unwrap_err();
    assert_eq!(error, BodyError::Name("stone".into()));
    // A name that would be given to a body without one is taken, too.
    world
        .add(Body::rigid(disk.clone()).named("body 2"))
        .unwrap();
    assert!(world.add(Body::rigid(disk)).is_err());
}

#[test]
fn bad_settings_are_named_with_their_unit() {
    for (change, field) in [
        (
            (|s| s.dt = 0.0) as fn(&mut Settings<drystone::D2>),
            "dt (s)",
        ),
        (|s| s.dt = f64::NAN, "dt (s)"),
        (|s| s.gravity = DVec2::new(0.0, f64::INFINITY), "gravity"),
        (|s| s.margin = -1.0, "margin (m)"),
        (|s| s.contact.slop = f64::NAN, "slop (m)"),
        (|s| s.contact.repair_rate = -3.0, "repair_rate (1/s)"),
    ] {
        let mut settings = Settings::reference();
        change(&mut settings);
        let error = World2::new(settings).unwrap_err();
        assert_eq!(error.field, field);
        // The same when a running world is changed: the step is refused, the world is unharmed.
        let mut world = World2::reference();
        change(world.settings_mut());
        let refused = world.step().unwrap_err();
        assert_eq!(refused.to_string(), StepError::Settings(error).to_string());
        assert_eq!(world.steps(), 0);
    }
}

#[test]
fn bad_materials_are_refused() {
    let mut world = World2::reference();
    let bad = Material {
        restitution: 1.5,
        ..Material::default()
    };
    assert_eq!(
        world.materials.add(bad),
        Err(MaterialError::Restitution(1.5))
    );
    let bad = Material {
        density: 0.0,
        ..Material::default()
    };
    assert_eq!(world.materials.add(bad), Err(MaterialError::Density(0.0)));
}

/// A force beyond all numbers: the run stops, names the body, and is where it was.
#[test]
fn a_state_that_becomes_infinite_stops_at_the_last_good_step() {
    let mut world = World3::reference();
    world.add(Body::rigid(ball()).named("calm")).unwrap();
    let pushes = vec![Push {
        rate: DVec3::X * 1e308,
        ..Push::default()
    }];
    let body = Body {
        pushes,
        ..Body::rigid(ball()).at(DVec3::Y * 5.0).named("rocket")
    };
    world.add(body).unwrap();
    let mut last = world.state_hash();
    let error = loop {
        match world.step() {
            Ok(_) => last = world.state_hash(),
            Err(error) => break error,
        }
        assert!(world.steps() < 100_000, "it should have overflowed by now");
    };
    assert!(
        matches!(&error, StepError::OutOfRange { body, .. } if body == "rocket"),
        "{error}"
    );
    assert_eq!(
        world.state_hash(),
        last,
        "the world must be at its last good step"
    );
    assert!(world.bodies().position.iter().all(|p| p.is_finite()));
}

#[test]
fn calls_with_foreign_ids_or_bad_numbers_are_errors() {
    let mut world = World3::reference();
    let id = world.add(Body::rigid(ball())).unwrap();
    let mut other = World3::reference();
    assert!(other.pose(id).is_none());
    assert!(other.add_force(id, DVec3::X, DVec3::ZERO).is_err());
    assert!(other.separation(id, id).is_none());
    let nan = DVec3::splat(f64::NAN);
    assert!(world.add_force(id, nan, DVec3::ZERO).is_err());
    assert!(world.add_torque(id, nan).is_err());
    assert!(world.set_pose(id, Pose::at(nan)).is_err());
    assert!(
        world
            .set_motion(
                id,
                Motion {
                    linear: nan,
                    spin: DVec3::ZERO
                }
            )
            .is_err()
    );
}

/// An empty world steps; so does one with only obstacles.
#[test]
fn worlds_without_moving_bodies_step() {
    let mut world = World3::reference();
    assert_eq!(world.step().unwrap().contacts, 0);
    world.add(Body::fixed(ball())).unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let certificate = world.step().unwrap().certificate.unwrap();
    assert_eq!(certificate.contacts, 0);
    assert_eq!(certificate.residual_m_s, 0.0);
}
