//! glTF with physics as scenes.

use crate::common::{import_bytes, period, solid};
use drystone_scene::SceneError;
use drystone_scene::import::Imported;
use drystone_scene::schema::{JointKind, Kind, Shape};
use serde_json::{Value, json};

/// A GLB file of a JSON chunk and a binary one.
fn glb(json: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    while !text.len().is_multiple_of(4) {
        text.push(b' ');
    }
    let mut bytes = b"glTF".to_vec();
    let length = 12 + 8 + text.len() + 8 + binary.len();
    for number in [2, length, text.len()] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(b"JSON");
    bytes.extend(&text);
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}

fn import(json: &Value, binary: &[u8]) -> Result<Imported, SceneError> {
    import_bytes("model.glb", &glb(json, binary))
}

/// A pendulum of 1 m on a hinge about z at (0, 2, 0), a floor, and a ball that the floor ignores.
fn pendulum() -> Value {
    let (sine, cosine) = 0.025_f64.sin_cos();
    json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_physics_rigid_bodies", "KHR_implicit_shapes", "KHR_lights_punctual"],
        "extensions": {
            "KHR_implicit_shapes": { "shapes": [
                { "type": "sphere", "sphere": { "radius": 0.1 } },
                { "type": "box", "box": { "size": [10, 1, 10] } },
            ] },
            "KHR_physics_rigid_bodies": {
                "physicsMaterials": [
                    { "staticFriction": 0.5, "dynamicFriction": 0.5, "frictionCombine": "maximum" },
                    { "staticFriction": 0.1, "dynamicFriction": 0.1, "frictionCombine": "multiply" },
                ],
                "collisionFilters": [
                    { "collisionSystems": ["ghost"] },
                    { "notCollideWithSystems": ["ghost"] },
                ],
                "physicsJoints": [ { "limits": [
                    { "linearAxes": [0, 1, 2], "min": 0, "max": 0 },
                    { "angularAxes": [0, 1], "min": 0, "max": 0 },
                ] } ],
            },
        },
        "nodes": [
            { "name": "floor", "translation": [0, -0.5, 0],
              "extensions": { "KHR_physics_rigid_bodies": { "collider": {
                  "geometry": { "shape": 1 }, "physicsMaterial": 0, "collisionFilter": 1 } } } },
            { "name": "pivot", "translation": [0, 2, 0] },
            { "name": "arm", "translation": [0, 2, 0], "rotation": [0, 0, sine, cosine],
              "children": [3, 4],
              "extensions": { "KHR_physics_rigid_bodies": { "motion": {
                  "mass": 2, "centerOfMass": [0, -1, 0], "inertiaDiagonal": [0.3, 0.1, 0.3] } } } },
            { "name": "bob", "translation": [0, -1, 0],
              "extensions": { "KHR_physics_rigid_bodies": {
                  "collider": { "geometry": { "shape": 0 }, "physicsMaterial": 1 } } } },
            { "name": "hook",
              "extensions": { "KHR_physics_rigid_bodies": {
                  "joint": { "connectedNode": 1, "joint": 0 } } } },
            { "name": "ghost", "translation": [3, 1, 0],
              "extensions": { "KHR_physics_rigid_bodies": {
                  "motion": { "mass": 1, "linearVelocity": [0, 0, 1] },
                  "collider": { "geometry": { "shape": 0 }, "collisionFilter": 0 } } } },
        ],
    })
}

#[test]
fn the_model_is_understood() {
    let imported = import(&pendulum(), &[]).unwrap();
    let scene = &imported.scene;
    let names: Vec<_> = scene
        .bodies
        .iter()
        .filter_map(|body| body.name.as_deref())
        .collect();
    assert_eq!(names, ["floor", "arm", "ghost", "world"]);
    assert_eq!(scene.joints[0].kind, JointKind::Axes);
    assert!(
        imported
            .unsupported
            .iter()
            .any(|what| what.contains("KHR_lights_punctual"))
    );
    // "maximum" comes before "multiply" in glTF.
    assert_eq!(scene.pairs[0].friction, Some(0.5));
    let arm = scene.bodies[1].mass_properties.as_ref().unwrap();
    assert_eq!(
        (arm.mass, arm.center.as_deref()),
        (2.0, Some(&[0.0, -1.0, 0.0][..]))
    );
}

/// T = 2π √(I/(m g d)); and what the filter lets through falls freely.
#[test]
fn the_pendulum_swings_and_the_ghost_falls() {
    let mut scene = import(&pendulum(), &[]).unwrap().scene;
    scene.dt = Some(1.0 / 480.0);
    let mut world = solid(&scene);
    let (arm, ghost) = (world.body("arm").unwrap(), world.body("ghost").unwrap());
    let measured = period(&mut world, |world| {
        (world.pose(arm).unwrap().rotation * drystone::glam::DVec3::Y).x
    });
    let expected = std::f64::consts::TAU * ((0.3_f64 + 2.0) / (2.0 * 9.81)).sqrt();
    let error = (measured / expected - 1.0).abs();
    assert!(error < 5e-3, "{measured} s instead of {expected} s");
    let (place, time) = (world.pose(ghost).unwrap().position, world.time());
    assert!(place.y < -5.0, "the ghost stands at {} m", place.y);
    assert!((place.z - time).abs() < 1e-6, "its velocity is along z");
}

/// A tetrahedron, its four points and four triangles in one buffer.
fn tetrahedron() -> (Value, Vec<u8>) {
    let points: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let corners: [u16; 12] = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3];
    let mut binary: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    binary.extend(corners.iter().flat_map(|k| k.to_le_bytes()));
    let json = json!({
        "asset": { "version": "2.0" },
        "buffers": [ { "byteLength": 72 } ],
        "bufferViews": [ { "buffer": 0, "byteLength": 48 },
                         { "buffer": 0, "byteOffset": 48, "byteLength": 24 } ],
        "accessors": [ { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
                       { "bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR" } ],
        "meshes": [ { "primitives": [ { "attributes": { "POSITION": 0 }, "indices": 1 } ] } ],
        "nodes": [ { "mesh": 0, "scale": [2, 2, 2] } ],
    });
    (json, binary)
}

#[test]
fn a_closed_mesh_without_physics_is_a_solid() {
    let (json, binary) = tetrahedron();
    let imported = import(&json, &binary).unwrap();
    assert_eq!(imported.scene.bodies[0].kind, Kind::Rigid);
    let world = solid(&imported.scene);
    let mass = world.bodies().mass(0);
    assert!((mass - 2600.0 * 8.0 / 6.0).abs() < 1e-6, "{mass} kg");
    let mut fixed = json.clone();
    fixed["nodes"][0]["extensions"] = json!({ "KHR_physics_rigid_bodies": {
        "collider": { "geometry": { "node": 0 } } } });
    let imported = import(&fixed, &binary).unwrap();
    let body = &imported.scene.bodies[0];
    assert!(
        matches!(
            body.shape,
            Some(Shape::Mesh {
                decompose: false,
                ..
            })
        ),
        "{body:?}"
    );
    imported.scene.build().unwrap();
}

#[test]
fn lying_files_are_errors_with_the_place() {
    let (sound, binary) = tetrahedron();
    let cases = [
        (
            "/accessors/0/count",
            json!(4_000_000_000_u64),
            "accessors[0]",
        ),
        ("/accessors/0/count", json!(5), "accessors[0]"),
        ("/accessors/1/count", json!(u64::MAX), "accessors[1]"),
        ("/accessors/0/bufferView", json!(9), "accessors[0]"),
        ("/accessors/0/componentType", json!(1), "accessors[0]"),
        ("/bufferViews/1/byteOffset", json!(u64::MAX), "accessors[1]"),
        ("/bufferViews/0/byteLength", json!(49_000), "accessors[0]"),
        ("/bufferViews/0/buffer", json!(-1), "accessors[0]"),
        ("/buffers/0/byteLength", json!(1_u64 << 40), "buffers[0]"),
        (
            "/meshes/0/primitives/0/attributes/POSITION",
            json!(7),
            "meshes[0].primitives[0]",
        ),
        (
            "/meshes/0/primitives/0/indices",
            json!(0),
            "meshes[0].primitives[0]",
        ),
        ("/nodes/0/mesh", json!(1), "nodes[0].mesh"),
        ("/nodes/0/scale", json!([1, 2]), "scale"),
    ];
    for (pointer, value, place) in cases {
        let mut json = sound.clone();
        *json.pointer_mut(pointer).unwrap() = value;
        let error = import(&json, &binary).unwrap_err().to_string();
        assert!(
            error.contains("model.glb") && error.contains(place),
            "{pointer}: {error}"
        );
    }
    // An index beyond the vertices.
    let mut far = binary.clone();
    far[48] = 4;
    let error = import(&sound, &far).unwrap_err().to_string();
    assert!(error.contains("vertex 4"), "{error}");
}

#[test]
fn cycles_and_deep_rows_of_nodes_are_errors() {
    let nodes = |children: &[Vec<usize>]| {
        let nodes: Vec<_> = children
            .iter()
            .map(|list| json!({ "children": list }))
            .collect();
        json!({ "asset": { "version": "2.0" }, "nodes": nodes })
    };
    let row: Vec<Vec<usize>> = (1..100_000).map(|k| vec![k]).chain([vec![]]).collect();
    for children in [
        vec![vec![0]],
        vec![vec![1], vec![2], vec![1]],
        vec![vec![1], vec![0]],
        vec![vec![2], vec![2], vec![]],
        vec![vec![9]],
        row,
    ] {
        let error = import(&nodes(&children), &[]).unwrap_err().to_string();
        assert!(error.contains("nodes["), "{error}");
    }
    let deep = format!(
        "{{\"nodes\": {}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let error = import_bytes("deep.gltf", deep.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("deep.gltf"), "{error}");
}

#[test]
fn buffers_outside_the_folder_and_broken_ones_are_refused() {
    for uri in [
        "../secret.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://a/b",
    ] {
        let json = json!({ "buffers": [ { "uri": uri, "byteLength": 1 } ] });
        let error = import(&json, &[]).unwrap_err().to_string();
        assert!(error.contains("is not read"), "{error}");
    }
    for (data, is_sound) in [
        ("AAECAw==", true),
        ("AAEC", false),
        ("A", false),
        ("!!!!", false),
    ] {
        let uri = format!("data:application/octet-stream;base64,{data}");
        let json = json!({ "buffers": [ { "uri": uri, "byteLength": 4 } ] });
        assert_eq!(import(&json, &[]).is_ok(), is_sound, "{data}");
    }
    let whole = glb(&pendulum(), &[]);
    for cut in [4, 11, 12, 19, 30, whole.len() - 1] {
        import_bytes("cut.glb", &whole[..cut]).unwrap_err();
    }
}
