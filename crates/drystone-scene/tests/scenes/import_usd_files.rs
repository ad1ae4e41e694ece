//! Stages of several files, binary ones, packages, hostile ones, and our own.

use std::path::Path;

use crate::common::{import_bytes, left_out, solid};
use drystone::glam::DVec3;
use drystone_frame::export::usd::{Setting, write};
use drystone_frame::export::{Model, Motion};
use drystone_scene::import::{ImportOptions, Imported, import};
use drystone_scene::schema::{JointKind, Kind, Script, Shape};
use drystone_scene::{Scene, export};

const HEAD: &str = "#usda 1.0\n(\n    metersPerUnit = 1\n    defaultPrim = \"main\"\n)\n";
const BALL: &str =
    "def Sphere \"main\" (apiSchemas = [\"PhysicsRigidBodyAPI\", \"PhysicsCollisionAPI\"])\n{\n}\n";

/// Writes files into a folder and imports the first.
fn import_all(files: &[(&str, String)]) -> Result<Imported, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    import(&path, &ImportOptions::default()).map_err(|error| error.to_string())
}

fn radius(scene: &Scene, body: usize) -> f64 {
    match scene.bodies[body].shape {
        Some(Shape::Ball { radius }) => radius,
        ref other => panic!("{other:?}"),
    }
}

/// Opinions: own before sublayers, both before inherited ones, variants, references, payloads.
#[test]
fn the_strongest_layer_counts() {
    let over = |radius: f64| format!("{HEAD}over \"main\" {{ double radius = {radius} }}\n");
    let root = |head: &str, metadata: &str, body: &str| {
        format!(
            "#usda 1.0\n(\n    metersPerUnit = 1\n{head}\n)\n\
             class \"kind\" {{ double radius = 3 }}\n\
             def \"main\" ({metadata}) {{\n{body}\n}}\n"
        )
    };
    let ball = format!("{HEAD}{}", BALL.replace("{\n}", "{ double radius = 6 }"));
    let variant =
        "variantSet \"size\" = { \"big\" { double radius = 4 } \"tiny\" { double radius = 9 } }";
    let references = "references = @./parts/ball.usda@";
    let chosen = "variants = { string size = \"big\" }";
    let inherits = "inherits = </kind>";
    let sublayers = "subLayers = [@weak.usda@, @weakest.usda@]";
    let all = [inherits, chosen, references].join("\n");
    let cases = [
        (
            root(sublayers, &all, &format!("double radius = 1\n{variant}")),
            1.0,
        ),
        (root(sublayers, &all, variant), 2.0),
        (root("", &all, variant), 3.0),
        (root("", &[chosen, references].join("\n"), variant), 4.0),
        (root("", references, variant), 6.0),
        (
            root("", &references.replace("references", "payload"), ""),
            6.0,
        ),
    ];
    for (text, wanted) in cases {
        let files = [
            ("stage.usda", text),
            ("weak.usda", over(2.0)),
            ("weakest.usda", over(2.5)),
            ("parts/ball.usda", ball.clone()),
        ];
        let imported = import_all(&files).unwrap();
        assert_eq!(imported.unsupported, Vec::<String>::new());
        assert_eq!(radius(&imported.scene, 0), wanted);
    }
}

/// What a referenced prim names below itself is below the prim that references it, also through
/// files that reference each other.
#[test]
fn paths_follow_their_prims() {
    let pair = format!(
        "{HEAD}def \"main\" {{\n{}{}\ndef PhysicsFixedJoint \"tie\" {{\n\
         rel physics:body0 = </main/a>\nrel physics:body1 = <../b>\n}}\n}}\n",
        BALL.replace("main", "a"),
        BALL.replace("main", "b"),
    );
    let middle =
        format!("{HEAD}def \"main\" {{ def \"inner\" (references = @../pair.usda@) {{}} }}\n");
    let root = format!(
        "{HEAD}def \"one\" (references = @sub/middle.usda@) {{}}\n\
         def \"two\" (references = @pair.usda@) {{}}\n"
    );
    let files = [
        ("stage.usda", root),
        ("sub/middle.usda", middle.replace("../", "")),
        ("sub/pair.usda", pair.clone()),
        ("pair.usda", pair),
    ];
    let scene = import_all(&files).unwrap().scene;
    let ends: Vec<_> = scene
        .joints
        .iter()
        .map(|joint| (joint.a.clone(), joint.b.clone()))
        .collect();
    assert_eq!((scene.bodies.len(), ends.len()), (4, 2));
    let name = |k: usize| scene.bodies[k].name.clone();
    assert_eq!(ends, [(name(0), name(1)), (name(2), name(3))]);
}

#[test]
fn files_outside_the_folder_are_refused() {
    for name in [
        "../b.usda",
        "/etc/b.usda",
        "file:///etc/b.usda",
        "https://example.org/b.usda",
    ] {
        let arcs = [
            format!("#usda 1.0\n(\n    subLayers = [@{name}@]\n)\n"),
            format!("{HEAD}def \"a\" (references = @{name}@) {{}}\n"),
            format!("{HEAD}def \"a\" (payload = @{name}@</x>) {{}}\n"),
        ];
        for text in arcs {
            let message = import_all(&[("stage.usda", text)]).unwrap_err();
            assert!(message.contains("not read"), "{name}: {message}");
        }
    }
    let missing = format!("{HEAD}def \"a\" (references = @b.usda@) {{}}\n");
    assert!(
        import_all(&[("stage.usda", missing)])
            .unwrap_err()
            .contains("b.usda")
    );
    let texture = format!("{HEAD}def \"a\" (references = @b.mtlx@) {{}}\n");
    let imported = import_all(&[("stage.usda", texture)]).unwrap();
    assert!(
        imported
            .unsupported
            .iter()
            .any(|what| what.contains("b.mtlx"))
    );
}

/// Circles, doublings and depths that would never end.
#[test]
fn stages_without_end_are_errors() {
    let own = |asset: &str| format!("{HEAD}def \"main\" (references = {asset}</main>) {{}}\n");
    let child = format!(
        "{HEAD}def \"main\" {{ def \"x\" (references = </main>) {{}} def \"y\" (references = </main>) {{}} }}\n"
    );
    let sub = "#usda 1.0\n(\n    subLayers = [@stage.usda@, @stage.usda@]\n)\n".to_owned();
    let mut laughs = HEAD.to_owned();
    for k in 0..40 {
        let next = k + 1;
        laughs.push_str(&format!(
            "def \"l{k}\" {{ def \"x\" (references = </l{next}>) {{}} def \"y\" (references = </l{next}>) {{}} }}\n"
        ));
    }
    laughs.push_str("def \"l40\" {}\n");
    let deep = format!(
        "{HEAD}{}{}",
        "def \"d\" {".repeat(50_000),
        "}".repeat(50_000)
    );
    let brackets = format!("{HEAD}def \"d\" {{ float size = {}", "(".repeat(100_000));
    for (text, word) in [
        (own(""), "circle"),
        (own("@stage.usda@"), "circle"),
        (child, "ancestors"),
        (sub, "circle"),
        (laughs, "too much"),
        (deep, "ancestors"),
        (brackets, "deep"),
    ] {
        let message = import_all(&[("stage.usda", text)]).unwrap_err();
        assert!(message.contains(word), "{word}: {message}");
    }
}

/// Binary files and packages are cut and flipped: an error, never a panic or a huge allocation.
#[test]
fn damaged_binary_stages_are_errors() {
    for name in ["bodies.usdc", "bodies.usdz"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fuzz/corpus/usdc")
            .join(name);
        let bytes = std::fs::read(path).unwrap();
        let whole = import_bytes(name, &bytes).unwrap();
        assert_eq!(whole.scene.bodies.len(), 4, "{name}");
        for cut in (0..bytes.len()).step_by(37) {
            let error = import_bytes(name, &bytes[..cut]).unwrap_err();
            assert!(error.to_string().contains(name));
        }
    }
}

/// The clip that `drystone export` would write of a scene's first moment.
fn exported(scene: &Scene) -> String {
    let world = scene.build().unwrap();
    let stage = world.stage();
    let frame = world.frame();
    let mut motion = Motion::new(&stage);
    motion.add(&frame);
    let setting = Setting {
        frames_per_second: 60.0,
        gravity: [0.0, -9.81, 0.0],
        physics: export::usd_physics(scene).unwrap(),
    };
    let mut text = Vec::new();
    write(
        &stage,
        &Model::new(&stage, &frame),
        &motion,
        &setting,
        &mut text,
    )
    .unwrap();
    String::from_utf8(text).unwrap()
}

const OURS: &str = r#"
dimension = 3
strategy = "realtime"
materials = [{ name = "ice", friction = 0.05, restitution = 0.25 }]
[[bodies]]
name = "floor"
kind = "fixed"
shape.box.size = [10, 1, 10]
position = [0, -0.5, 0]
material = "ice"
[[bodies]]
name = "arm 1"
shape.box.size = [0.2, 1, 0.2]
position = [0, 2.5, 0]
rotation = { axis = [0, 0, 1], angle = 20 }
mass = 3
material = "ice"
[[bodies]]
name = "arm 2"
shape.capsule = { length = 0.6, radius = 0.1 }
position = [0.5, 1.5, 0.25]
mass = 1.5
[[joints]]
name = "hook"
kind = "hinge"
a = "floor"
b = "arm 1"
at = [0, 3, 0]
axis = [0, 0, 1]
limits = [-40, 60]
[[joints]]
name = "elbow"
kind = "ball"
a = "arm 1"
b = "arm 2"
at = [0.25, 2, 0]
[[joints]]
name = "leash"
kind = "rope"
a = "floor"
b = "arm 2"
length = 4
"#;

/// Our own stage: bodies are where they were, with their masses, surfaces and joints, and move.
#[test]
fn what_we_export_comes_back() {
    let before = Scene::from_toml(OURS, "ours.toml").unwrap();
    let text = exported(&before);
    let imported = import_bytes("ours.usda", text.as_bytes()).unwrap();
    assert_eq!(left_out(&imported), Vec::<String>::new());
    let scene = imported.scene;
    let (a, b) = (solid(&before), solid(&scene));
    for (k, body) in before.bodies.iter().enumerate() {
        let name = body.name.as_deref().unwrap();
        let (on_a, on_b) = (a.body(name).unwrap(), b.body(name).unwrap());
        let (pose_a, pose_b) = (a.pose(on_a).unwrap(), b.pose(on_b).unwrap());
        assert!(
            (pose_a.position - pose_b.position).length() < 1e-12,
            "{name}"
        );
        // Quaternions of stages are single precision.
        assert!(
            pose_a.rotation.dot(pose_b.rotation).abs() > 1.0 - 1e-12,
            "{name}"
        );
        let back = &scene.bodies[k];
        assert_eq!(back.kind, body.kind);
        assert_eq!(back.mass, body.mass, "{name}");
        let friction = |scene: &Scene, body: &drystone_scene::schema::Body| {
            let own = scene
                .materials
                .iter()
                .find(|m| Some(&m.name) == body.material.as_ref());
            let own = own.map(|material| (material.friction, material.restitution));
            // What bodies have that do not say otherwise.
            own.unwrap_or((Some(0.6), Some(0.0)))
        };
        assert_eq!(friction(&before, body), friction(&scene, back), "{name}");
    }
    let kinds: Vec<JointKind> = scene.joints.iter().map(|joint| joint.kind).collect();
    assert_eq!(kinds, [JointKind::Hinge, JointKind::Ball, JointKind::Rope]);
    assert_eq!(scene.joints[0].limits, Some([-40.0, 60.0]));
    assert_eq!(scene.joints[2].length, Some(4.0));
    // Where the joints were put: their frames on both bodies are there.
    let at = [DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.25, 2.0, 0.0)];
    for (joint, at) in scene.joints.iter().zip(at) {
        let [on_a, on_b] = joint.frames.as_ref().unwrap();
        for (name, frame) in [(&joint.a, on_a), (&joint.b, on_b)] {
            let pose = b.pose(b.body(name.as_deref().unwrap()).unwrap()).unwrap();
            let own = frame.position.clone().unwrap_or(vec![0.0; 3]);
            let found = pose.position + pose.rotation * DVec3::new(own[0], own[1], own[2]);
            assert!(
                (found - at).length() < 1e-6,
                "{name:?}: {found} instead of {at}"
            );
        }
    }
}

/// A stage that Pixar's library writes as text, binary and package: all three are the same scene,
/// and it is where that library says.
#[test]
fn stages_of_pixars_library_are_read() {
    let Ok(python) = std::env::var("DRYSTONE_USD_PYTHON") else {
        eprintln!("skipped: `pip install usd-core`, then DRYSTONE_USD_PYTHON=python");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(python)
        .arg(crate::common::model("usd_stage.py"))
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let places: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let read = |name: &str| {
        let imported = import(&folder.path().join(name), &ImportOptions::default());
        imported.unwrap_or_else(|error| panic!("{error}"))
    };
    let [text, binary, package] = ["stage.usda", "stage.usdc", "stage.usdz"].map(read);
    for (other, name) in [(&binary, "usdc"), (&package, "usdz")] {
        assert_eq!(other.unsupported, text.unsupported, "{name}");
        for (a, b) in text.scene.bodies.iter().zip(&other.scene.bodies) {
            assert_eq!(a, b, "{name}");
        }
        assert_eq!(other.scene.joints, text.scene.joints, "{name}");
        assert_eq!(other.scene.materials, text.scene.materials, "{name}");
    }
    let scene = &text.scene;
    let names: Vec<&str> = scene
        .bodies
        .iter()
        .filter_map(|b| b.name.as_deref())
        .collect();
    assert_eq!(names, ["chassis", "left", "right", "ground", "lift"]);
    let world = solid(scene);
    let scales = [
        ("chassis", DVec3::new(0.5, 0.3, 0.1)),
        ("left", DVec3::splat(0.01)),
        ("right", DVec3::splat(0.01)),
    ];
    for (name, scale) in scales {
        let pose = world.pose(world.body(name).unwrap()).unwrap();
        let found = pose.position + pose.rotation * (DVec3::new(1.0, 2.0, 3.0) * scale);
        let place = |k: usize| places[name][k].as_f64().unwrap();
        let wanted = DVec3::new(place(0), place(1), place(2));
        assert!(
            (found - wanted).length() < 1e-6,
            "{name}: {found} instead of {wanted}"
        );
    }
    let mass = |name: &str| world.bodies().mass(world.body(name).unwrap().index());
    assert_eq!((mass("chassis"), mass("left")), (40.0, 3.0));
    let wheel = |k: usize| match &scene.bodies[k].shape {
        Some(Shape::Compound { parts }) => match parts[0].shape {
            Shape::Cylinder { radius, .. } => radius,
            ref other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert!((wheel(1) - 0.2).abs() < 1e-12 && (wheel(2) - 0.35).abs() < 1e-12);
    assert!(
        matches!(&scene.bodies[3].shape, Some(Shape::Mesh { triangles, .. }) if triangles.len() == 200)
    );
    assert_eq!(scene.bodies[4].kind, Kind::Kinematic);
    assert!(
        matches!(&scene.bodies[4].script, Some(Script::Keyframes(frames)) if frames.len() == 5)
    );
    assert_eq!(scene.joints[0].limits, Some([-30.0, 45.0]));
    let servo = scene.joints[0].servo.unwrap();
    // 1,000 kg·cm²/s² for a degree.
    assert!((servo.stiffness - 0.1 * 180.0 / std::f64::consts::PI).abs() < 1e-9);
    assert_eq!(scene.materials[0].friction, Some(0.0625));
    assert!(scene.bodies[1].groups.is_some());
}
