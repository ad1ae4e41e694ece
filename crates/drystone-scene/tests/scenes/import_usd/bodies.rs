//! Bodies, shapes, masses, materials and filters.

use drystone::glam::DVec3;
use drystone_scene::import::Imported;
use drystone_scene::schema::{Kind, Script, Shape, Spin};

use super::{body, body_mass, error, import, near, stage};
use crate::common::{left_out, solid};

/// The same scene in centimetres, grams and y up is the same scene.
#[test]
fn units_and_axes_do_not_matter() {
    let ours = stage(
        r#"def PhysicsScene "scene" { float physics:gravityMagnitude = 3 }
def Capsule "pill" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"])
{
    float physics:density = 500
    uniform token axis = "X"
    double height = 0.6
    double radius = 0.2
    vector3f physics:velocity = (1, 2, 3)
    vector3f physics:angularVelocity = (0, 90, 0)
    float3 xformOp:translate = (1, 2, 3)
    float xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
}"#,
    );
    let theirs = r#"#usda 1.0
(
    metersPerUnit = 0.01
    kilogramsPerUnit = 0.001
)
def PhysicsScene "scene" { float physics:gravityMagnitude = 300 }
def Capsule "pill" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"])
{
    float physics:density = 0.5
    uniform token axis = "X"
    double height = 60
    double radius = 20
    vector3f physics:velocity = (100, 300, -200)
    vector3f physics:angularVelocity = (0, 0, -90)
    float3 xformOp:translate = (100, 300, -200)
    float xformOp:rotateY = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateY"]
}"#;
    let (a, b) = (import(&ours), import(theirs));
    assert!(a.unsupported.is_empty() && b.unsupported.is_empty());
    near(
        a.scene.gravity.as_ref().unwrap(),
        b.scene.gravity.as_ref().unwrap(),
        1e-12,
    );
    let (mut a, mut b) = (solid(&a.scene), solid(&b.scene));
    for _ in 0..60 {
        a.step().unwrap();
        b.step().unwrap();
    }
    let (pill_a, pill_b) = (a.body("pill").unwrap(), b.body("pill").unwrap());
    let (bodies_a, bodies_b) = (a.bodies(), b.bodies());
    assert!((bodies_a.mass(pill_a.index()) - bodies_b.mass(pill_b.index())).abs() < 1e-9);
    let (pose_a, pose_b) = (a.pose(pill_a).unwrap(), b.pose(pill_b).unwrap());
    near(
        &pose_a.position.to_array(),
        &pose_b.position.to_array(),
        1e-9,
    );
    let (long_a, long_b) = (pose_a.rotation * DVec3::X, pose_b.rotation * DVec3::X);
    near(&long_a.to_array(), &long_b.to_array(), 1e-9);
}

/// Shapes below a scaled body, with the mass of their volume.
#[test]
fn nested_transforms_and_scales_make_the_right_sizes_and_masses() {
    let text = stage(
        r#"def Xform "group" {
    float3 xformOp:scale = (2, 2, 2)
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    def Xform "thing" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
        double3 xformOp:translate = (0, 1, 0)
        float3 xformOp:rotateXYZ = (90, 0, 90)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]
        def Cube "block" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
            double size = 1
            double3 xformOp:translate:first = (0, 0, 1)
            float3 xformOp:scale = (1, 0.5, 0.25)
            uniform token[] xformOpOrder = ["xformOp:translate:first", "xformOp:scale"]
        }
        def Cylinder "pin" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"]) {
            float physics:mass = 7
            double height = 1
            double radius = 0.1
        }
    }
}"#,
    );
    let Imported {
        scene, unsupported, ..
    } = import(&text);
    assert_eq!(unsupported, Vec::<String>::new());
    let thing = body(&scene, "thing");
    // Theirs is at (1, 2, 0).
    near(thing.position.as_ref().unwrap(), &[1.0, 0.0, -2.0], 1e-12);
    let Some(Shape::Compound { parts }) = &thing.shape else {
        panic!("{:?}", thing.shape);
    };
    let Shape::Box { size, .. } = &parts[0].shape else {
        panic!("{:?}", parts[0]);
    };
    near(size, &[2.0, 1.0, 0.5], 1e-12);
    near(parts[0].position.as_ref().unwrap(), &[0.0, 0.0, 2.0], 1e-12);
    let Shape::Cylinder { height, radius, .. } = parts[1].shape else {
        panic!("{:?}", parts[1]);
    };
    near(&[height, radius], &[2.0, 0.2], 1e-12);
    // The block has 1 m³ of water; the pin is in the middle.
    let (mass, inertia) = body_mass(&scene, "thing");
    near(&mass, &[1007.0, 0.0, 0.0, 2.0 * 1000.0 / 1007.0], 1e-9);
    let block = 1000.0 / 12.0 * (2.0 * 2.0 + 1.0);
    let pin = 0.5 * 7.0 * 0.2 * 0.2;
    near(&inertia[2..3], &[block + pin], 1e-9);
}

#[test]
fn what_moves_what_stays_and_what_pushes() {
    let text = stage(
        r#"def Plane "floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { uniform token axis = "Z" }
def Cube "off" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { bool physics:collisionEnabled = 0 }
def Cone "still" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
    bool physics:rigidBodyEnabled = false
    uniform token axis = "Z"
    double3 xformOp:translate = (10, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Cube "pusher" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
    bool physics:kinematicEnabled = 1
    vector3f physics:velocity = (1, 0, 0)
    double3 xformOp:translate = (20, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Cube "lift" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
    bool physics:kinematicEnabled = 1
    double3 xformOp:translate.timeSamples = { 24: (0, 0, 5), 0: (0, 0, 1), 48: None }
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Sphere "ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxRigidBodyAPI"]) {
    bool physics:startsAsleep = 1
    vector3f physics:angularVelocity = (180, 0, 0)
    double3 xformOp:translate = (30, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}"#,
    );
    let Imported {
        scene, unsupported, ..
    } = import(&text);
    let names: Vec<&str> = scene
        .bodies
        .iter()
        .filter_map(|b| b.name.as_deref())
        .collect();
    assert_eq!(names, ["floor", "still", "pusher", "lift", "ball"]);
    let Some(Shape::HalfSpace { normal }) = &body(&scene, "floor").shape else {
        panic!("no floor");
    };
    near(normal, &[0.0, 1.0, 0.0], 1e-12);
    assert_eq!(body(&scene, "still").kind, Kind::Fixed);
    assert_eq!(body(&scene, "pusher").kind, Kind::Kinematic);
    let Some(Script::Keyframes(keyframes)) = &body(&scene, "lift").script else {
        panic!("{:?}", body(&scene, "lift").script);
    };
    let (last, times) = (&keyframes[1], keyframes.iter().map(|k| k.time));
    assert_eq!(times.collect::<Vec<_>>(), [0.0, 1.0]);
    near(&last.position, &[0.0, 5.0, 0.0], 1e-12);
    let Some(Spin::Solid(spin)) = &body(&scene, "ball").spin else {
        panic!("it does not turn");
    };
    near(spin, &[std::f64::consts::PI, 0.0, 0.0], 1e-12);
    for word in ["`PhysxRigidBodyAPI`", "startsAsleep"] {
        assert!(
            unsupported.iter().any(|what| what.contains(word)),
            "{word}: {unsupported:?}"
        );
    }
    scene.build().unwrap();
}

/// Groups, pairs and materials: what may not touch falls through the floor.
#[test]
fn filters_and_materials_are_followed() {
    let ball = |name: &str, x: f64, more: &str| {
        format!(
            r#"def Sphere "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsFilteredPairsAPI"]) {{
    double radius = 0.1
    double3 xformOp:translate = ({x}, 0, 0.2)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {more}
}}
"#
        )
    };
    let text = stage(&format!(
        r#"def Cube "floor" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"]) {{
    rel material:binding = </Looks/red>
    rel material:binding:physics = </Looks/ice>
    double3 xformOp:translate = (0, 0, -5)
    float3 xformOp:scale = (5, 5, 5)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
}}
def Scope "Looks" {{
    def Material "red" {{}}
    def Material "ice" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {{
        float physics:dynamicFriction = 0.03
        float physics:staticFriction = 0.05
        float physics:restitution = 0.25
        float physics:density = 917
    }}
}}
{}{}{}
def PhysicsCollisionGroup "ground" (prepend apiSchemas = ["CollectionAPI:colliders"]) {{
    rel collection:colliders:includes = </floor>
    rel physics:filteredGroups = </ghosts>
}}
def PhysicsCollisionGroup "ghosts" (prepend apiSchemas = ["CollectionAPI:colliders"]) {{
    prepend rel collection:colliders:includes = </ghost>
}}"#,
        ball("rests", 0.0, ""),
        ball("ghost", 1.0, ""),
        ball("paired", 2.0, "rel physics:filteredPairs = </floor>"),
    ));
    let imported = import(&text);
    let unsupported = left_out(&imported);
    let scene = imported.scene;
    assert!(
        unsupported
            .iter()
            .all(|what| what.contains("static friction")),
        "{unsupported:?}"
    );
    let ice = &scene.materials[0];
    assert_eq!((ice.name.as_str(), ice.friction), ("ice", Some(0.03)));
    assert_eq!((ice.restitution, ice.density), (Some(0.25), Some(917.0)));
    assert_eq!(body(&scene, "floor").material.as_deref(), Some("ice"));
    let mut world = solid(&scene);
    for _ in 0..60 {
        world.step().unwrap();
    }
    let height = |name: &str| {
        let id = world.body(name).unwrap();
        world.pose(id).unwrap().position.y
    };
    assert!((height("rests") - 0.1).abs() < 0.01, "{}", height("rests"));
    assert!(height("ghost") < -1.0 && height("paired") < -1.0);
}

#[test]
fn meshes_follow_their_approximation() {
    let mesh = |name: &str, x: f64, schemas: &str, approximation: &str| {
        format!(
            r#"def Mesh "{name}" (prepend apiSchemas = [{schemas}"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {{
    uniform token physics:approximation = "{approximation}"
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    double3 xformOp:translate = ({x}, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
"#
        )
    };
    let text = stage(
        &[
            mesh("ground", 0.0, "", "none"),
            mesh("stone", 2.0, "\"PhysicsRigidBodyAPI\", ", "convexHull"),
            mesh(
                "parts",
                6.0,
                "\"PhysicsRigidBodyAPI\", ",
                "convexDecomposition",
            ),
            mesh("plain", 4.0, "\"PhysicsRigidBodyAPI\", ", "none"),
        ]
        .concat(),
    );
    let Imported {
        scene, unsupported, ..
    } = import(&text);
    // The tetrahedron is convex, so its hull is itself.
    assert_eq!(unsupported, Vec::<String>::new());
    let shape = |name: &str| body(&scene, name).shape.as_ref().unwrap();
    assert!(matches!(
        shape("ground"),
        Shape::Mesh {
            decompose: false,
            ..
        }
    ));
    assert!(matches!(shape("stone"), Shape::Hull { .. }));
    assert!(matches!(
        shape("parts"),
        Shape::Mesh {
            decompose: true,
            ..
        }
    ));
    assert!(matches!(shape("plain"), Shape::Hull { .. }));
    let world = solid(&scene);
    let mass = world.bodies().mass(world.body("stone").unwrap().index());
    near(&[mass], &[1000.0 / 6.0], 1e-9);
}

#[test]
fn errors_name_the_place() {
    let wrong = |text: &str, words: &[&str]| {
        let message = error(text);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    wrong("def Xform \"a\" {}", &["line 1", "#usda"]);
    wrong(
        &stage("def Xform \"a\"\n{\n    int x = = 1\n}"),
        &["line 8"],
    );
    wrong(&stage("def Xform \"a\" {"), &["the end of the file"]);
    let ball = |line: &str| {
        stage(&format!(
            "def Sphere \"a\" (apiSchemas = [\"PhysicsCollisionAPI\"]) {{\n{line}\n}}"
        ))
    };
    wrong(&ball("double radius = -1"), &["</a.radius>", "above 0"]);
    wrong(&ball("double radius = \"x\""), &["</a.radius>", "numbers"]);
    wrong(
        &ball("float3 xformOp:scale = (0, 1, 1)\ntoken[] xformOpOrder = [\"xformOp:scale\"]"),
        &["</a>", "flattens"],
    );
    wrong(
        &ball("token[] xformOpOrder = [\"xformOp:spin\"]\nfloat xformOp:spin = 1"),
        &["xformOp:spin"],
    );
}
