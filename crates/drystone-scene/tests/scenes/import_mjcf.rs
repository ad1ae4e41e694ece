//! MJCF models as scenes.

use crate::common::{import_bytes, model, period, solid};
use drystone_scene::Scene;
use drystone_scene::import::{ImportOptions, Imported, import};
use drystone_scene::schema::{Body, Inertia, JointKind, Kind, Shape};

fn pendulum() -> Imported {
    import(&model("pendulum.xml"), &ImportOptions::default()).unwrap()
}

fn body<'a>(scene: &'a Scene, name: &str) -> &'a Body {
    let named = |body: &&Body| body.name.as_deref() == Some(name);
    scene.bodies.iter().find(named).unwrap()
}

#[test]
fn the_model_is_understood_and_the_rest_is_listed() {
    let imported = pendulum();
    let scene = &imported.scene;
    assert_eq!(scene.name, "pendulum");
    assert_eq!(scene.gravity.as_deref(), Some(&[0.0, -9.81, 0.0][..]));
    let floor = body(scene, "floor");
    assert_eq!(floor.kind, Kind::Fixed);
    match floor.shape.as_ref().unwrap() {
        Shape::HalfSpace { normal } => assert!((normal[1] - 1.0).abs() < 1e-15, "{normal:?}"),
        other => panic!("{other:?}"),
    }
    let listed = imported.unsupported.join("\n");
    for what in ["light", "site", "actuator", "armature", "timestep"] {
        assert!(listed.contains(what), "{what} is missing in {listed}");
    }
    scene.build().unwrap();
}

#[test]
fn masses_come_of_geoms_classes_and_defaults() {
    let scene = pendulum().scene;
    // Arm and bob are one body; the bob's class gives its mass.
    let arm = body(&scene, "arm").mass_properties.clone().unwrap();
    assert!((arm.mass - 2.5).abs() < 1e-12, "{}", arm.mass);
    // A box of 0.4 × 0.2 × 0.2 m at the default 500 kg/m³.
    let cart = body(&scene, "cart").mass_properties.clone().unwrap();
    assert!((cart.mass - 8.0).abs() < 1e-12, "{}", cart.mass);
    let Inertia::Solid(inertia) = cart.inertia else {
        panic!("an inertia in space");
    };
    let expected = 8.0 / 12.0 * (0.2_f64.powi(2) + 0.2_f64.powi(2));
    assert!((inertia[0] - expected).abs() < 1e-12, "{inertia:?}");
    // A corner of a cube, 1/6 m³.
    let block = body(&scene, "block").mass_properties.clone().unwrap();
    assert!((block.mass - 500.0 / 6.0).abs() < 1e-9, "{}", block.mass);
}

#[test]
fn the_larger_friction_wins_and_excluded_pairs_do_not_touch() {
    let scene = pendulum().scene;
    let mut world = solid(&scene);
    let material = |name: &str| body(&scene, name).material.clone().unwrap();
    assert_eq!(material("floor"), "friction 0.9");
    assert_eq!(material("cart"), "friction 0.3");
    let block = world.body("block").unwrap();
    while world.time() < 1.0 {
        world.step().unwrap();
    }
    // It falls through the floor: y = 1 − g t²/2.
    let y = world.pose(block).unwrap().position.y;
    assert!(y < -3.0, "the block stands at {y} m");
}

/// T = 2π √(I/(m g d)) about the pivot; 0.05 rad make it longer by θ²/16 only.
#[test]
fn the_pendulum_swings_with_its_period() {
    let mut scene = pendulum().scene;
    scene.dt = Some(1.0 / 480.0);
    let mut world = solid(&scene);
    let arm = world.body("arm").unwrap();
    let measured = period(&mut world, |world| {
        let pose = world.pose(arm).unwrap();
        (pose.rotation * drystone::glam::DVec3::Z).z
    });
    let bob = 2.0 * (0.4 * 0.01 + 1.0);
    // The capsule: cylinder and two half balls of one density, about its end.
    let (r, l) = (0.02_f64, 1.0_f64);
    let (cylinder, ball) = (r * r * l, 4.0 / 3.0 * r.powi(3));
    let (cylinder, ball) = (
        0.5 * cylinder / (cylinder + ball),
        0.5 * ball / (cylinder + ball),
    );
    let about_middle = cylinder * (l * l / 12.0 + r * r / 4.0)
        + ball * (0.4 * r * r + l * l / 4.0 + 3.0 * l * r / 8.0);
    let inertia = bob + about_middle + 0.5 * 0.25;
    let moment = 9.81 * (2.0 * 1.0 + 0.5 * 0.5);
    let expected = std::f64::consts::TAU * (inertia / moment).sqrt();
    let error = (measured / expected - 1.0).abs();
    assert!(error < 5e-3, "{measured} s instead of {expected} s");
}

/// A slide and a hinge of one body are one joint; only x and the turn about the model's y are free.
#[test]
fn two_joints_of_a_body_are_one_with_two_axes() {
    let scene = pendulum().scene;
    let of_cart = |joint: &&drystone_scene::schema::Joint| joint.b.as_deref() == Some("cart");
    let joint = scene.joints.iter().find(of_cart).unwrap();
    assert_eq!(joint.kind, JointKind::Axes);
    let mut world = solid(&scene);
    let cart = world.body("cart").unwrap();
    for _ in 0..60 {
        world.step().unwrap();
    }
    let pose = world.pose(cart).unwrap();
    // The slide is level, so it stays where it is although nothing is below it.
    assert!((pose.position.y - 0.5).abs() < 1e-3, "{:?}", pose.position);
    assert!((pose.position.x - 2.0).abs() < 1e-3, "{:?}", pose.position);
}

#[test]
fn masks_let_through_what_they_say() {
    let text = r#"<mujoco><worldbody>
        <geom name="floor" type="plane" size="1 1 1" contype="1" conaffinity="1"/>
        <body name="held" pos="0 0 0.1"><freejoint/><geom size="0.1" contype="2" conaffinity="1"/></body>
        <body name="lost" pos="1 0 0.1"><freejoint/><geom size="0.1" contype="2" conaffinity="4"/></body>
        </worldbody></mujoco>"#;
    let scene = import_bytes("m.xml", text.as_bytes()).unwrap().scene;
    let mut world = solid(&scene);
    for _ in 0..60 {
        world.step().unwrap();
    }
    let y = |name: &str| world.pose(world.body(name).unwrap()).unwrap().position.y;
    assert!((y("held") - 0.1).abs() < 1e-3, "{}", y("held"));
    assert!(y("lost") < -3.0, "{}", y("lost"));
}

#[test]
fn equalities_tie_bodies() {
    let text = r#"<mujoco><worldbody>
        <body name="a" pos="0 0 2"><freejoint/><geom size="0.1"/></body>
        <body name="b" pos="1 0 2"><freejoint/><geom size="0.1"/></body>
        </worldbody><equality><connect body1="a" anchor="0 0 0"/>
        <weld body1="a" body2="b"/><tendon/></equality></mujoco>"#;
    let imported = import_bytes("m.xml", text.as_bytes()).unwrap();
    let kinds: Vec<_> = imported
        .scene
        .joints
        .iter()
        .map(|joint| joint.kind)
        .collect();
    assert_eq!(kinds, [JointKind::Ball, JointKind::Fixed]);
    let mut world = solid(&imported.scene);
    for _ in 0..30 {
        world.step().unwrap();
    }
    let at = |name: &str| world.pose(world.body(name).unwrap()).unwrap().position;
    assert!((at("a").y - 2.0).abs() < 1e-3);
    assert!(((at("a") - at("b")).length() - 1.0).abs() < 1e-3);
    assert!(at("b").y < 1.5, "b swings about a");
    assert!(
        imported
            .unsupported
            .iter()
            .any(|what| what.contains("tendon"))
    );
}

#[test]
fn broken_models_are_errors_with_line_and_column() {
    let inside = |text: &str| format!("<mujoco><worldbody>{text}</worldbody></mujoco>");
    let deep = "<body>".repeat(50_000);
    let cases = [
        (inside("<geom type=\"box\" size=\"1 1\"/>"), "size"),
        (inside("<geom size=\"-1\"/>"), "above 0"),
        (inside("<geom size=\"inf\"/>"), "finite"),
        (inside("<geom size=\"1\" quat=\"0 0 0 0\"/>"), "length"),
        (
            inside("<geom type=\"capsule\" size=\"1\" fromto=\"0 0 0 0 0 0\"/>"),
            "differ",
        ),
        (
            inside("<body><joint type=\"screw\"/><geom size=\"1\"/></body>"),
            "screw",
        ),
        (
            inside("<body><joint axis=\"0 0 0\"/><geom size=\"1\"/></body>"),
            "length",
        ),
        (
            inside("<body><joint range=\"2 1\"/><geom size=\"1\"/></body>"),
            "range",
        ),
        (inside("<body><inertial mass=\"-1\"/></body>"), "mass"),
        (inside(&deep), "nested"),
        (
            "<mujoco><contact><exclude body1=\"x\" body2=\"y\"/></contact></mujoco>".to_owned(),
            "no body",
        ),
        (
            "<mujoco><compiler angle=\"turns\"/></mujoco>".to_owned(),
            "radian",
        ),
        ("<other/>".to_owned(), "mujoco"),
    ];
    for (text, words) in cases {
        let error = import_bytes("m.xml", text.as_bytes()).unwrap_err();
        assert!(error.line_and_column().is_some(), "{error}");
        let error = error.to_string();
        assert!(error.contains("m.xml:") && error.contains(words), "{error}");
    }
}
