//! USD with UsdPhysics as scenes.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::f64::consts::TAU;

use common::{import_bytes, period, solid};
use drystone::glam::DVec3;
use drystone_scene::Scene;
use drystone_scene::import::Imported;
use drystone_scene::schema::{Body, Inertia, JointKind, Kind, Script, Shape, Spin};

/// A stage in metres with z up, of these prims.
fn stage(prims: &str) -> String {
    format!("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Z\"\n)\n{prims}")
}

fn import(text: &str) -> Imported {
    import_bytes("model.usda", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    import_bytes("model.usda", text.as_bytes())
        .unwrap_err()
        .to_string()
}

fn body<'s>(scene: &'s Scene, name: &str) -> &'s Body {
    let mut bodies = scene.bodies.iter();
    let found = bodies.find(|body| body.name.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("no body `{name}`"))
}

fn near(found: &[f64], wanted: &[f64], within: f64) {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= within;
    let all = found.len() == wanted.len() && found.iter().zip(wanted).all(is_near);
    assert!(all, "{found:?} instead of {wanted:?}");
}

/// Half of 0.05 rad about y, as a quaternion with the real part first.
const TILT: &str = "(0.99968752, 0, 0.0249974, 0)";

/// A rod of 2 kg that hangs from (0, 0, 3) by a joint, its centre of mass 1 m below, leaning by
/// 0.05 rad in the plane of x and z. Its inertia about its centre is 0.3 kg·m² across.
fn pendulum(joint: &str) -> String {
    stage(&format!(
        r#"def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = 2
    point3f physics:centerOfMass = (0, 0, -1)
    float3 physics:diagonalInertia = (0.3, 0.3, 0.1)
    double3 xformOp:translate = (0, 0, 3)
    quatf xformOp:orient = {TILT}
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    def Sphere "bob" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {{
        double radius = 0.1
        double3 xformOp:translate = (0, 0, -1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
}}
{joint}"#
    ))
}

/// Seconds of a swing of a body along our x; which is theirs too.
fn swing(scene: &mut Scene, name: &str, at: DVec3) -> f64 {
    scene.dt = Some(1.0 / 480.0);
    let mut world = solid(scene);
    let arm = world.body(name).unwrap();
    let lean = |world: &drystone::World<drystone::D3>| {
        let pose = world.pose(arm).unwrap();
        -(pose.position + pose.rotation * at).x
    };
    period(&mut world, lean)
}

fn agree(measured: f64, expected: f64) {
    let error = (measured / expected - 1.0).abs();
    assert!(error < 5e-3, "{measured} s instead of {expected} s");
}

/// I about the pivot over m g d, as a period.
fn period_of(inertia: f64, moment: f64) -> f64 {
    TAU * (inertia / (9.81 * moment)).sqrt()
}

#[test]
fn pendulums_swing_on_joints_of_each_kind_that_turns() {
    let free_about_y = ["transX", "transY", "transZ", "rotX", "rotZ"];
    let schemas = free_about_y.map(|name| format!("\"PhysicsLimitAPI:{name}\""));
    let limits = free_about_y.map(|name| {
        format!("float limit:{name}:physics:low = 1\nfloat limit:{name}:physics:high = -1\n")
    });
    let joints = [
        (
            JointKind::Hinge,
            "PhysicsRevoluteJoint",
            String::new(),
            "uniform token physics:axis = \"Y\"".to_owned(),
        ),
        (
            JointKind::Ball,
            "PhysicsSphericalJoint",
            String::new(),
            String::new(),
        ),
        (
            JointKind::Axes,
            "PhysicsJoint",
            format!("(prepend apiSchemas = [{}])", schemas.join(", ")),
            limits.concat(),
        ),
    ];
    for (kind, schema, metadata, body) in joints {
        let text = pendulum(&format!(
            "def {schema} \"hook\" {metadata} {{\nrel physics:body1 = </arm>\n\
             point3f physics:localPos0 = (0, 0, 3)\n{body}\n}}"
        ));
        let Imported {
            mut scene,
            unsupported,
        } = import(&text);
        assert_eq!(unsupported, Vec::<String>::new());
        assert_eq!(scene.joints[0].kind, kind);
        let properties = body_mass(&scene, "arm");
        near(&properties.0, &[2.0, 0.0, 0.0, -1.0], 1e-6);
        near(&properties.1, &[0.3, 0.3, 0.1], 1e-6);
        let measured = swing(&mut scene, "arm", DVec3::new(0.0, 0.0, -1.0));
        agree(measured, period_of(0.3 + 2.0, 2.0));
    }
}

/// Mass and centre; inertia.
fn body_mass(scene: &Scene, name: &str) -> (Vec<f64>, Vec<f64>) {
    let given = body(scene, name).mass_properties.as_ref().unwrap();
    let center = given.center.clone().unwrap_or(vec![0.0; 3]);
    let Inertia::Solid(inertia) = &given.inertia else {
        panic!("a flat inertia");
    };
    ([vec![given.mass], center].concat(), inertia.clone())
}

#[test]
fn a_bob_swings_on_a_distance() {
    let text = stage(
        r#"def Sphere "bob" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double radius = 0.1
    double3 xformOp:translate = (-0.05, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def PhysicsDistanceJoint "rod"
{
    rel physics:body0 = </bob>
    point3f physics:localPos1 = (0, 0, 2)
    float physics:minDistance = 1.00125
    float physics:maxDistance = 1.00125
}"#,
    );
    let mut scene = import(&text).scene;
    assert_eq!(scene.joints[0].kind, JointKind::Rod);
    agree(
        swing(&mut scene, "bob", DVec3::ZERO),
        period_of(1.00125, 1.0),
    );
}

#[test]
fn a_fixed_joint_makes_one_pendulum_of_two_bodies() {
    let text = pendulum(
        r#"def PhysicsRevoluteJoint "hook" {
    uniform token physics:axis = "Y"
    rel physics:body0 = </arm>
    point3f physics:localPos1 = (0, 0, 3)
}
def Sphere "weight" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{
    float physics:mass = 3
    float3 physics:diagonalInertia = (0.2, 0.2, 0.2)
    double3 xformOp:translate = (-0.09995834, 0, 1.0024995)
    quatf xformOp:orient = (0.99968752, 0, 0.0249974, 0)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
}
def PhysicsFixedJoint "weld" {
    rel physics:body0 = </arm>
    rel physics:body1 = </weight>
    point3f physics:localPos0 = (0, 0, -2)
}"#,
    );
    let mut scene = import(&text).scene;
    let measured = swing(&mut scene, "arm", DVec3::new(0.0, 0.0, -1.0));
    let inertia = 0.3 + 2.0 + 0.2 + 3.0 * 4.0;
    agree(measured, period_of(inertia, 2.0 + 3.0 * 2.0));
}

/// A drive's spring along x: T = 2π √(m/k). Gravity is across.
#[test]
fn a_slider_swings_on_its_drive() {
    let text = stage(
        r#"def Cube "cart" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"])
{
    float physics:mass = 2
    double3 xformOp:translate = (-0.1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def PhysicsPrismaticJoint "rail" (prepend apiSchemas = ["PhysicsDriveAPI:linear"])
{
    uniform token physics:axis = "X"
    rel physics:body1 = </cart>
    float drive:linear:physics:stiffness = 50
}"#,
    );
    let mut scene = import(&text).scene;
    assert_eq!(scene.joints[0].kind, JointKind::Slider);
    agree(
        swing(&mut scene, "cart", DVec3::ZERO),
        TAU * (2.0_f64 / 50.0).sqrt(),
    );
}

/// The limits of a hinge are on the side that the axis turns to: from the second body's start
/// about +y, z turns to x.
#[test]
fn limits_of_a_hinge_are_on_the_right_side() {
    for (limits, side) in [([0.0, 60.0], 1.0), ([-60.0, 0.0], -1.0)] {
        let text = stage(&format!(
            r#"def Xform "bar" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = 1
    point3f physics:centerOfMass = (0, 0, 1)
    float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
    vector3f physics:angularVelocity = (0, {}, 0)
}}
def PhysicsRevoluteJoint "hinge" {{
    uniform token physics:axis = "Y"
    rel physics:body1 = </bar>
    float physics:lowerLimit = {}
    float physics:upperLimit = {}
}}"#,
            40.0 * side,
            limits[0],
            limits[1]
        ));
        let scene = import(&text).scene;
        assert_eq!(scene.joints[0].limits, Some(limits));
        let mut world = solid(&scene);
        let bar = world.body("bar").unwrap();
        for _ in 0..600 {
            world.step().unwrap();
        }
        let tip = world.pose(bar).unwrap().rotation * DVec3::Z;
        // Its centre is along their z, our y when it stands; at 60° it leans towards x.
        let lean = libm::atan2(tip.x, tip.y).to_degrees();
        assert!((lean - 60.0 * side).abs() < 1.0, "it leans by {lean}°");
    }
}

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
    let Imported { scene, unsupported } = import(&text);
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
    let Imported { scene, unsupported } = import(&text);
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
    let Imported { scene, unsupported } = import(&text);
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
    let Imported { scene, unsupported } = import(&text);
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
