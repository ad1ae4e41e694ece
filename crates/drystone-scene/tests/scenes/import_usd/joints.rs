//! Joints: what hangs on them swings as it should.

use std::f64::consts::TAU;

use drystone::glam::{DQuat, DVec3};
use drystone_scene::Scene;
use drystone_scene::import::Imported;
use drystone_scene::schema::{JointKind, Rotation};

use super::{body_mass, import, near, stage};
use crate::common::{period, solid};

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
            ..
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

/// The first angle of a cone is from the axis towards the next one, and so about the last.
#[test]
fn angles_of_a_cone_are_about_the_right_axes() {
    for (axis, next) in [("X", DVec3::Y), ("Y", DVec3::Z), ("Z", DVec3::X)] {
        let text = pendulum(&format!(
            "def PhysicsSphericalJoint \"hook\" {{\nrel physics:body0 = </arm>\n\
             uniform token physics:axis = \"{axis}\"\n\
             float physics:coneAngle0Limit = 30\nfloat physics:coneAngle1Limit = 60\n}}"
        ));
        let scene = import(&text).scene;
        let joint = &scene.joints[0];
        let angular = joint.angular.unwrap();
        assert!(angular[0].free);
        assert_eq!(angular[1].limits, Some([-60.0, 60.0]));
        assert_eq!(angular[2].limits, Some([-30.0, 30.0]));
        // Their next axis is our y, in the frame on the arm.
        let frame = joint.frames.as_ref().unwrap()[0].rotation.clone();
        let turn = match frame {
            None => DQuat::IDENTITY,
            Some(Rotation::Quaternion(q)) => DQuat::from_xyzw(q[0], q[1], q[2], q[3]),
            other => panic!("{other:?}"),
        };
        near(&(turn * DVec3::Y).to_array(), &next.to_array(), 1e-12);
    }
}
