//! Scenes as glTF with physics, and back.

use crate::common::{import_bytes, left_out};
use drystone_scene::schema::Shape;
use drystone_scene::{AnyWorld, Scene, export, gallery};
use serde_json::Value;

/// Scenes of the gallery that glTF with physics can't hold, and why.
fn flat_or_soft(scene: &Scene) -> Option<&'static str> {
    match (scene.dimension, scene.deformables.is_empty()) {
        (2, _) => Some("it is flat, and glTF has bodies in space only"),
        (_, false) => Some("it has deformables, and KHR_physics_rigid_bodies has none"),
        _ => None,
    }
}

/// The largest distance in m between bodies of the same name in two worlds over some steps.
fn largest_distance(a: &mut AnyWorld, b: &mut AnyWorld, steps: u32) -> f64 {
    let mut pairs = Vec::new();
    for (k, object) in a.stage().objects.into_iter().enumerate() {
        match b.body_index(&object.name) {
            Some(place) => pairs.push((k, place, object.name)),
            // What never moves may have the name of its collider.
            None => assert!(object.fixed, "no `{}`", object.name),
        }
    }
    let mut largest: f64 = 0.0;
    for step in 0..=steps {
        let (frame_a, frame_b) = (a.frame(), b.frame());
        for (k, place, name) in &pairs {
            let (p, q) = (frame_a.positions[*k], frame_b.positions[*place]);
            let distance: f64 = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum();
            assert!(distance.is_finite(), "{name} at step {step}");
            largest = largest.max(distance.sqrt());
        }
        if step < steps {
            a.step().unwrap();
            b.step().unwrap();
        }
    }
    largest
}

#[test]
fn every_scene_of_the_gallery_in_space_moves_the_same_after_a_round_trip() {
    let mut written = 0;
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        let obstacle = export::obstacle(&scene);
        assert_eq!(obstacle, flat_or_soft(&scene), "{}", entry.name);
        if let Some(why) = obstacle {
            let error = export::glb(&scene).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            eprintln!("{:24} not as glTF: {why}", entry.name);
            continue;
        }
        let imported = import_bytes("scene.glb", &export::glb(&scene).unwrap()).unwrap();
        assert_eq!(left_out(&imported), [""; 0], "{}", entry.name);
        assert_eq!(imported.scene.name, scene.name);
        let mut world = scene.build().unwrap();
        let mut again = imported.scene.build().unwrap();
        assert_eq!(again.body_count(), world.body_count(), "{}", entry.name);
        assert_eq!(again.dt(), world.dt());
        let distance = largest_distance(&mut world, &mut again, 100);
        eprintln!("{:24} within {distance:.1e} m", entry.name);
        assert!(distance < 1e-9, "{}: {distance:e} m apart", entry.name);
        written += 1;
    }
    assert!(written >= 25, "{written}");
}

/// The JSON chunk of a `.glb`, changed.
fn changed(glb: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let end = 20 + word(12);
    let mut json: Value = serde_json::from_slice(&glb[20..end]).unwrap();
    change(&mut json);
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = glb[..8].to_vec();
    file.extend(((glb.len() - end + 20 + text.len()) as u32).to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(text);
    file.extend(&glb[end..]);
    file
}

/// Takes away all that is ours, but for the settings of the scene, which glTF has no words for.
fn strip(json: &mut Value) {
    let settings = json["scenes"][0]["extras"].clone();
    fn without_extras(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("extras");
                map.values_mut().for_each(without_extras);
            }
            Value::Array(list) => list.iter_mut().for_each(without_extras),
            _ => {}
        }
    }
    without_extras(json);
    json["scenes"][0]["extras"] = settings;
}

fn named(name: &str) -> Scene {
    gallery::find(name).unwrap().scene().unwrap()
}

/// What other programs see says the same: without our extras the motion is the same but for
/// rounding, which chaos has 100 steps to enlarge.
#[test]
fn the_standard_part_alone_says_how_things_move() {
    for name in [
        "dominoes",
        "tower",
        "bowling",
        "heavy-chain",
        "rope-bridge",
        "sliding-cube",
        "bowling-ball",
        "pyramid",
        "wing-nut",
    ] {
        let scene = named(name);
        let glb = changed(&export::glb(&scene).unwrap(), strip);
        let imported = import_bytes("scene.glb", &glb).unwrap();
        let mut again = imported.scene.build().unwrap();
        let distance = largest_distance(&mut scene.build().unwrap(), &mut again, 100);
        eprintln!("{name:24} within {distance:.1e} m");
        assert!(distance < 1e-4, "{name}: {distance:e} m apart");
    }
}

/// Where another program changes what glTF says, that counts, whatever our extras say.
#[test]
fn what_others_change_counts() {
    let scene = named("dunes");
    let glb = export::glb(&scene).unwrap();
    let stone = |json: &Value| {
        let nodes = json["nodes"].as_array().unwrap();
        let is_box = |node: &Value| node["name"] == "stone 1";
        nodes.iter().position(is_box).unwrap()
    };
    let physics = "KHR_physics_rigid_bodies";
    let edited = changed(&glb, |json| {
        let k = stone(json);
        let node = &mut json["nodes"][k];
        node["extensions"][physics]["motion"]["mass"] = 123.0.into();
        node["translation"] = vec![1.0, 2.0, 3.0].into();
        let materials = &mut json["extensions"][physics]["physicsMaterials"];
        materials[0]["dynamicFriction"] = 0.25.into();
        materials[0]["staticFriction"] = 0.25.into();
        let shapes = &mut json["extensions"]["KHR_implicit_shapes"]["shapes"];
        for shape in shapes.as_array_mut().unwrap() {
            if shape["type"] == "box" {
                shape["box"]["size"] = vec![1.0, 1.0, 1.0].into();
            }
        }
    });
    let imported = import_bytes("scene.glb", &edited).unwrap().scene;
    let find = |scene: &Scene| {
        let mut bodies = scene.bodies.iter();
        bodies
            .find(|body| body.name.as_deref() == Some("stone 1"))
            .unwrap()
            .clone()
    };
    let body = find(&imported);
    assert_eq!((body.mass, body.density), (Some(123.0), None));
    assert_eq!(body.position, Some(vec![1.0, 2.0, 3.0]));
    assert_eq!(imported.materials[0].friction, Some(0.25));
    let before = import_bytes("scene.glb", &glb).unwrap().scene;
    let boxes = |scene: &Scene| {
        let shapes = scene.bodies.iter().filter_map(|body| body.shape.clone());
        shapes
            .filter(|shape| {
                matches!(
                    shape,
                    Shape::Box {
                        rounding: Some(_),
                        ..
                    }
                )
            })
            .count()
    };
    assert!(boxes(&before) > 0 && boxes(&imported) == 0);
    assert!(find(&before).density.is_some() && before.materials[0].friction == Some(0.4));
    imported.build().unwrap();
}

/// Every kind of joint, filters, a sensor, given inertia, scripts and forces come back as they are.
#[test]
fn all_that_a_scene_can_say_comes_back() {
    let scene = Scene::from_toml(EVERYTHING, "everything.toml").unwrap();
    let imported = import_bytes("scene.glb", &export::glb(&scene).unwrap()).unwrap();
    assert_eq!(left_out(&imported), [""; 0]);
    let distance = largest_distance(
        &mut scene.build().unwrap(),
        &mut imported.scene.build().unwrap(),
        100,
    );
    assert!(distance < 1e-9, "{distance:e} m apart");
    let again = &imported.scene;
    let kinds: Vec<_> = again.joints.iter().map(|joint| joint.kind).collect();
    let given: Vec<_> = scene.joints.iter().map(|joint| joint.kind).collect();
    assert_eq!(kinds, given);
    let body = |name: &str| {
        let mut bodies = again.bodies.iter();
        bodies
            .find(|body| body.name.as_deref() == Some(name))
            .unwrap()
    };
    assert!(body("gate").sensor);
    assert_eq!(body("belt").surface_velocity, Some(vec![1.0, 0.0, 0.0]));
    assert_eq!(body("rod").pushes.len(), 1);
    // The same said again is the same file.
    let twice = export::glb(again).unwrap();
    let thrice = import_bytes("scene.glb", &twice).unwrap().scene;
    let fourth = export::glb(&thrice).unwrap();
    assert!(fourth == twice);
}

const EVERYTHING: &str = r#"
dimension = 3
strategy = "realtime"
gravity = [0.5, -9.81, 0]
materials = [{ name = "ice", friction = 0.1, friction_rule = "minimum" }, { name = "felt", friction = 0.9 }]
pairs = [{ between = ["ice", "felt"], friction = 0.35 }]
defaults = { material = "felt", linear_damping = 0.1 }
bodies = [
    { name = "slope", kind = "fixed", shape.half_space.normal = [0.1, 2, 0], position = [0, -1, 0], material = "ice" },
    { name = "belt", kind = "fixed", shape.box.size = [4, 0.2, 4], position = [0, -0.5, 0], surface_velocity = [1, 0, 0] },
    { name = "gate", kind = "fixed", sensor = true, shape.ball.radius = 0.5, position = [0, 3, 0] },
    { name = "frame", kind = "fixed", position = [0, 3, -2], shape.compound.parts = [{ shape.box.size = [4, 0.1, 0.1] }, { shape.box.size = [0.1, 0.4, 0.1], position = [2, 0, 0], rotation = { axis = [1, 0, 0], angle = 30 } }] },
    { name = "lever", kind = "kinematic", shape.box.size = [1, 0.1, 0.5], position = [0, -0.2, 0], script.swing = { amplitude = [0, 0.1, 0], turn = [0, 0, 10], frequency = 1.5 } },
    { name = "wheel", kind = "kinematic", shape.cylinder = { height = 0.3, radius = 0.4 }, position = [-3, 0, 0], rotation = { axis = [1, 0.2, 0], angle = 80 }, script.steady.spin = [0.3, 0, 2] },
    { name = "rod", shape.capsule = { length = 0.6, radius = 0.1 }, position = [0.2, 1, 0.1], rotation = { euler = [20, 30, 40] }, velocity = [0.3, 0, 0.1], spin = [1, 2, 3], pushes = [{ force = [0, 2, 0], point = [0, 0.3, 0] }] },
    { name = "odd", shape.cone = { height = 0.5, radius = 0.2, rounding = 0.02 }, position = [-0.8, 0.8, 0.2], mass_properties = { mass = 3, center = [0.01, -0.05, 0], inertia = [0.05, 0.04, 0.06, 0.003, -0.002, 0.001] } },
    { name = "dust", kind = "particle", shape.ball.radius = 0.05, position = [0.5, 1.5, 0], locked_axes = ["z"] },
    { name = "ghost", shape.ball.radius = 0.2, position = [0.3, 0.6, 0.3], groups = [3], meets = [0] },
    { name = "plumb", shape.box.size = [0.2, 0.3, 0.2], position = [-2, 2, -2], repeat.grid = { count = [9, 1, 1], spacing = [0.45, 1, 1] }, groups = [0, 1], meets = [0, 1] },
]
[[joints]]
kind = "hinge"
a = "frame"
b = "plumb 1"
at = [-3.8, 3, -2]
axis = [0, 1, 1]
limits = [-40, 50]
[[joints]]
kind = "ball"
a = "frame"
b = "plumb 2"
[[joints]]
kind = "slider"
a = "frame"
b = "plumb 3"
axis = [1, 1, 0]
servo = { position = 0.1, stiffness = 300, damping = 5, max_force = 40 }
[[joints]]
kind = "universal"
a = "frame"
b = "plumb 4"
[[joints]]
kind = "rod"
a = "frame"
b = "plumb 5"
[[joints]]
kind = "rope"
a = "frame"
b = "plumb 6"
length = 1.2
[[joints]]
kind = "spring"
a = "frame"
b = "plumb 7"
stiffness = 200
damping = 3
[[joints]]
kind = "hinge"
a = "frame"
b = "plumb 8"
at = [1, 3, -2]
motor = { speed = 3, max_force = 20 }
break_torque = 1e5
[[joints]]
kind = "fixed"
a = "frame"
b = "plumb 9"
collides = true
[[joints]]
kind = "gear"
a = "plumb 4"
b = "plumb 8"
ratio = 2
"#;

/// The Khronos validator, where it is installed; extensions it does not know are no warning.
#[test]
fn the_khronos_validator_finds_nothing() {
    let tool = "../drystone-frame/tests/export/tools/gltf.cjs";
    let tool = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(tool);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.glb");
    let everything = Scene::from_toml(EVERYTHING, "everything.toml").unwrap();
    let scenes = ["dunes", "rope-bridge", "dry-stone-wall", "rings-on-pegs"].map(named);
    for scene in scenes.into_iter().chain([everything]) {
        std::fs::write(&path, export::glb(&scene).unwrap()).unwrap();
        let run = std::process::Command::new("node")
            .arg(&tool)
            .arg(&path)
            .output();
        let Ok(output) = run.inspect_err(|error| eprintln!("skipped: node: {error}")) else {
            return;
        };
        if output.status.code() == Some(77) {
            eprintln!(
                "skipped: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            return;
        }
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["numErrors"], 0, "{}: {report}", scene.name);
        assert_eq!(report["numWarnings"], 0, "{}: {report}", scene.name);
    }
}
