//! What a frame says to be drawn: islands, sleep and joints.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DVec2, DVec3};
use drystone::{
    Axis, Body, BodyId, Joint, Realtime, Settings, Shape2, Shape3, Space, Strategy, World, World2,
    World3,
};
use drystone_frame::{JointForm, NO_ISLAND};

const G: f64 = 9.81;

fn world<S: Space>() -> World<S> {
    World::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime::default()),
        ..Settings::default()
    })
    .unwrap()
}

fn run<S: Space>(world: &mut World<S>, steps: u32) {
    for _ in 0..steps {
        world.step().unwrap();
    }
}

fn hook(world: &mut World3, at: DVec3) -> BodyId {
    let shape = Shape3::ball(0.05).unwrap();
    world.add(Body::fixed(shape).at(at)).unwrap()
}

fn bob(world: &mut World3, at: DVec3, mass: f64) -> BodyId {
    let shape = Shape3::ball(0.1).unwrap();
    world
        .add(Body::rigid(shape).at(at).with_mass(mass))
        .unwrap()
}

fn apart([a, b]: [[f64; 3]; 2]) -> f64 {
    let squares = (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i]));
    squares.sum::<f64>().sqrt()
}

#[test]
fn a_hanging_bob_pulls_with_its_weight_and_the_error_is_the_gap() {
    let mut world: World3 = world();
    let hook = hook(&mut world, DVec3::ZERO);
    let bob = bob(&mut world, DVec3::new(0.0, -1.0, 0.0), 2.0);
    world.join(Joint::ball(hook, bob).named("string")).unwrap();
    run(&mut world, 30);
    let (stage, frame) = (world.stage(), world.frame());
    assert_eq!(stage.joints[0].name, "string");
    assert_eq!(stage.joints[0].form, JointForm::Ball);
    let joint = frame.joints[0];
    let [x, y, z] = joint.force;
    assert!((y - 2.0 * G).abs() < 1e-3 * 2.0 * G, "{y} N");
    assert!(x.hypot(z) < 1e-6 && !joint.broken);
    // What a ball joint holds together are the two anchors: along each axis, so up to √3 times.
    let gap = apart(stage.joints[0].anchors(&frame).unwrap());
    assert!(joint.error_m <= gap + 1e-15 && gap <= 1.7321 * joint.error_m + 1e-15);
    assert_eq!(world.joint_error().0, joint.error_m);
}

#[test]
fn anchors_of_a_moving_chain_stay_together() {
    let mut world: World3 = world();
    let mut last = hook(&mut world, DVec3::ZERO);
    for k in 0..5 {
        // A shape whose origin is not its centre of mass.
        let rod = Shape3::hull(&[
            DVec3::ZERO,
            DVec3::new(0.5, 0.0, 0.0),
            DVec3::new(0.0, 0.1, 0.0),
            DVec3::new(0.0, 0.0, 0.1),
        ]);
        let at = DVec3::new(0.5 * f64::from(k), 0.0, 0.0);
        let next = world.add(Body::rigid(rod.unwrap()).at(at)).unwrap();
        world.join(Joint::ball(last, next).at(at)).unwrap();
        last = next;
    }
    let stage = world.stage();
    for _ in 0..60 {
        world.step().unwrap();
        let frame = world.frame();
        for (joint, told) in stage.joints.iter().zip(&frame.joints) {
            let gap = apart(joint.anchors(&frame).unwrap());
            assert!(gap <= 1.7321 * told.error_m + 1e-12, "{gap} {told:?}");
            assert!(gap < 5e-3, "{gap}");
        }
    }
}

#[test]
fn islands_are_what_touches_or_is_tied() {
    let mut world: World3 = world();
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor).unwrap();
    let hook = hook(&mut world, DVec3::new(0.0, 3.0, 0.0));
    let cube = |world: &mut World3, at: DVec3| {
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        world.add(Body::rigid(shape).at(at)).unwrap();
    };
    cube(&mut world, DVec3::new(0.0, 0.5, 0.0));
    cube(&mut world, DVec3::new(5.0, 0.5, 0.0));
    cube(&mut world, DVec3::new(0.0, 1.5, 0.0));
    let a = bob(&mut world, DVec3::new(9.0, 3.0, 0.0), 1.0);
    let b = bob(&mut world, DVec3::new(9.5, 3.0, 0.0), 1.0);
    world.join(Joint::rod(a, b, 0.5)).unwrap();
    world.join(Joint::rod(hook, b, 9.5)).unwrap();
    run(&mut world, 10);
    let none = NO_ISLAND;
    // The floor and the hook tie nothing together; the third cube stands on the first.
    assert_eq!(world.frame().islands, [none, none, 2, 3, 2, 5, 5]);
}

#[test]
fn sleepers_are_told() {
    let mut world: World3 = world();
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor).unwrap();
    let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let cube = Body::rigid(shape).at(DVec3::new(0.0, 0.5, 0.0));
    let cube = world.add(cube).unwrap();
    run(&mut world, 2);
    assert_eq!(world.frame().asleep, [false, false]);
    run(&mut world, 240);
    assert_eq!(world.frame().asleep, [false, true]);
    world.wake(cube).unwrap();
    run(&mut world, 1);
    assert_eq!(world.frame().asleep, [false, false]);
}

#[test]
fn a_broken_joint_keeps_its_place() {
    let mut world: World3 = world();
    let hook = hook(&mut world, DVec3::ZERO);
    let heavy = bob(&mut world, DVec3::new(0.0, -1.0, 0.0), 10.0);
    let light = bob(&mut world, DVec3::new(0.0, -2.0, 0.0), 1.0);
    let weak = Joint::ball(hook, heavy).breaking_at(50.0, f64::INFINITY);
    world.join(weak).unwrap();
    world.join(Joint::rod(heavy, light, 1.0)).unwrap();
    let before = world.stage();
    run(&mut world, 30);
    let frame = world.frame();
    let broken: Vec<bool> = frame.joints.iter().map(|joint| joint.broken).collect();
    assert_eq!(broken, [true, false]);
    assert_eq!(before.joints[0].form, JointForm::Ball);
    assert_eq!(world.stage().joints[0].form, JointForm::Gone);
    assert_eq!(world.stage().joints[1].form, JointForm::Distance);
}

#[test]
fn joints_have_the_names_that_people_know() {
    let mut space: World3 = world();
    let (a, b) = (
        hook(&mut space, DVec3::ZERO),
        bob(&mut space, DVec3::X, 1.0),
    );
    let joints = [
        (Joint::fixed(a, b), JointForm::Fixed),
        (Joint::ball(a, b), JointForm::Ball),
        (Joint::hinge(a, b, Axis::FREE), JointForm::Hinge),
        (Joint::slider(a, b, Axis::FREE), JointForm::Slider),
        (Joint::universal(a, b), JointForm::Universal),
        (Joint::rope(a, b, 2.0), JointForm::Distance),
        (Joint::spring(a, b, 1.0, 10.0, 1.0), JointForm::Spring),
        (Joint::gear(a, b, 2.0), JointForm::Gear),
    ];
    for (joint, _) in &joints {
        space.join(joint.clone()).unwrap();
    }
    let forms: Vec<JointForm> = space.stage().joints.iter().map(|j| j.form).collect();
    let expected: Vec<JointForm> = joints.iter().map(|(_, form)| *form).collect();
    assert_eq!(forms, expected);

    let mut plane: World2 = world();
    let disk = || Shape2::ball(0.1).unwrap();
    let a = plane.add(Body::fixed(disk())).unwrap();
    let b = plane.add(Body::rigid(disk()).at(DVec2::X)).unwrap();
    plane.join(Joint::ball(a, b)).unwrap();
    plane.join(Joint::slider(a, b, Axis::FREE)).unwrap();
    plane.join(Joint::fixed(a, b)).unwrap();
    let forms: Vec<JointForm> = plane.stage().joints.iter().map(|j| j.form).collect();
    let expected = [JointForm::Ball, JointForm::Slider, JointForm::Fixed];
    assert_eq!(forms, expected);
}
