//! Joints against statics, closed forms and momentum.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    Axis, Body, BodyId, Drive, Event, Freedom, Goal, Joint, JointKind, Pose, Realtime, Settings,
    Shape2, Shape3, Space, Strategy, World, World2, World3,
};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

pub(crate) fn settings<S: Space>() -> Settings<S> {
    Settings {
        dt: DT,
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        ..Settings::default()
    }
}

pub(crate) fn world3() -> World3 {
    World3::new(settings()).unwrap()
}

fn weightless() -> World3 {
    World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings()
    })
    .unwrap()
}

fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    for _ in 0..(seconds / DT).round() as u32 {
        world.step().unwrap();
    }
}

pub(crate) fn ball3(world: &mut World3, at: DVec3, mass: f64) -> BodyId {
    let shape = Shape3::ball(0.1).unwrap();
    world
        .add(Body::rigid(shape).at(at).with_mass(mass))
        .unwrap()
}

pub(crate) fn anchor3(world: &mut World3) -> BodyId {
    world.add(Body::fixed(Shape3::ball(0.05).unwrap())).unwrap()
}

pub(crate) fn bar(world: &mut World3, at: DVec3) -> BodyId {
    let shape = Shape3::cuboid(DVec3::new(0.5, 0.05, 0.05)).unwrap();
    world.add(Body::rigid(shape).at(at).with_mass(2.0)).unwrap()
}

#[test]
fn a_pendulum_swings_with_its_period_and_keeps_its_length() {
    let mut world = world3();
    let hook = anchor3(&mut world);
    let (length, angle) = (1.0, 0.2_f64);
    let start = DVec3::new(length * angle.sin(), -length * angle.cos(), 0.0);
    let bob = ball3(&mut world, start, 1.0);
    world.join(Joint::ball(hook, bob).at(DVec3::ZERO)).unwrap();
    // A compound pendulum: I about the hook over m g l; 1 + θ²/16 for the amplitude.
    let inertia = length * length + 0.4 * 0.1 * 0.1;
    let period =
        std::f64::consts::TAU * (inertia / (G * length)).sqrt() * (1.0 + angle * angle / 16.0);
    let mut crossings = Vec::new();
    let mut last = start.x;
    for _ in 0..600 {
        world.step().unwrap();
        let at = world.pose(bob).unwrap().position;
        assert!((at.length() - length).abs() < 1e-4, "{}", at.length());
        if last > 0.0 && at.x <= 0.0 {
            crossings.push(world.time() - DT * at.x / (at.x - last));
        }
        last = at.x;
    }
    let periods = (crossings.len() - 1) as f64;
    let measured = (crossings[crossings.len() - 1] - crossings[0]) / periods;
    assert!(
        (measured / period - 1.0).abs() < 5e-3,
        "{measured} {period}"
    );
}

#[test]
fn a_chain_of_a_hundred_links_carries_a_hundredfold_load_without_stretch() {
    let mut world = world3();
    let mut last = anchor3(&mut world);
    for k in 1..=100 {
        let mass = if k == 100 { 100.0 } else { 1.0 };
        let next = ball3(&mut world, DVec3::new(0.2 * f64::from(k), 0.0, 0.0), mass);
        let middle = DVec3::new(0.2 * (f64::from(k) - 0.5), 0.0, 0.0);
        world.join(Joint::ball(last, next).at(middle)).unwrap();
        last = next;
    }
    for _ in 0..600 {
        world.step().unwrap();
        let (gap, _) = world.joint_error();
        assert!(gap < 1e-3, "{gap} m at {} s", world.time());
    }
    let energy = world.energy();
    // It was let go at height 0 at rest: nothing was made.
    assert!(energy.kinetic + energy.potential < 0.0);
}

#[test]
fn a_hanging_weight_pulls_its_joint_with_its_weight() {
    let mut world = world3();
    let hook = anchor3(&mut world);
    let upper = ball3(&mut world, DVec3::new(0.0, -1.0, 0.0), 2.0);
    let lower = ball3(&mut world, DVec3::new(0.0, -2.0, 0.0), 3.0);
    let top = world
        .join(Joint::ball(hook, upper).at(DVec3::ZERO))
        .unwrap();
    let between = DVec3::new(0.0, -1.5, 0.0);
    let bottom = world.join(Joint::ball(upper, lower).at(between)).unwrap();
    run(&mut world, 1.0);
    let pull = |id| world.reaction(id).unwrap().force;
    assert!((pull(top) - DVec3::new(0.0, 5.0 * G, 0.0)).length() < 1e-3);
    assert!((pull(bottom) - DVec3::new(0.0, 3.0 * G, 0.0)).length() < 1e-3);
}

#[test]
fn a_cantilever_carries_its_bending_moment() {
    let mut world = world3();
    let wall = anchor3(&mut world);
    let beam = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    let weld = world
        .join(Joint::fixed(wall, beam).at(DVec3::ZERO))
        .unwrap();
    run(&mut world, 1.0);
    let reaction = world.reaction(weld).unwrap();
    assert!((reaction.force.y - 2.0 * G).abs() < 1e-3, "{reaction:?}");
    // The weight acts half a metre out; the torque that holds it up turns about +z.
    assert!(
        (reaction.torque.z - 2.0 * G * 0.5).abs() < 1e-2,
        "{reaction:?}"
    );
    let (gap, angle) = world.joint_error();
    assert!(gap < 1e-6 && angle < 1e-6, "{gap} {angle}");
}

#[test]
fn a_hinge_turns_about_its_axis_only_and_stops_at_its_limit() {
    let mut world = world3();
    let post = anchor3(&mut world);
    let door = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    let axis = Axis {
        freedom: Freedom::Limited {
            min: -0.8,
            max: 0.5,
        },
        drive: None,
    };
    // The frames' x axis along z: the bar falls, which is a negative angle.
    let turned = DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2);
    let frame = Pose {
        position: DVec3::ZERO,
        rotation: turned,
    };
    world
        .join(Joint::hinge(post, door, axis).placed(frame))
        .unwrap();
    run(&mut world, 5.0);
    let (gap, angle) = world.joint_error();
    assert!(gap < 1e-4 && angle < 1e-2, "{gap} {angle}");
    let at = world.pose(door).unwrap().position;
    let expected = DVec3::new(0.5 * 0.8_f64.cos(), -0.5 * 0.8_f64.sin(), 0.0);
    assert!((at - expected).length() < 5e-3, "{at}");
}

fn motor(speed: f64, max_force: f64) -> Axis {
    Axis {
        freedom: Freedom::Free,
        drive: Some(Drive {
            goal: Goal::Speed(speed),
            max_force,
        }),
    }
}

#[test]
fn a_motor_reaches_its_speed_no_faster_than_its_torque_allows() {
    let mut world = weightless();
    let post = anchor3(&mut world);
    let wheel = world
        .add(Body::rigid(Shape3::ball(0.5).unwrap()).with_mass(10.0))
        .unwrap();
    world
        .join(Joint::hinge(post, wheel, motor(5.0, 2.0)))
        .unwrap();
    // I = 2/5 m r² = 1 kg·m²: with 2 N·m the wheel gains 2 rad/s in a second.
    run(&mut world, 1.0);
    let spin = world.motion(wheel).unwrap().spin;
    assert!((spin.x - 2.0).abs() < 1e-6, "{spin}");
    run(&mut world, 3.0);
    let spin = world.motion(wheel).unwrap().spin;
    assert!((spin - DVec3::new(5.0, 0.0, 0.0)).length() < 1e-6, "{spin}");
}

#[test]
fn a_slider_slides_and_its_servo_holds_a_weight_where_hooke_says() {
    let mut world = world3();
    let rail = anchor3(&mut world);
    let car = ball3(&mut world, DVec3::ZERO, 2.0);
    let axis = Axis {
        freedom: Freedom::Free,
        drive: Some(Drive {
            goal: Goal::Position {
                at: 0.0,
                stiffness: 100.0,
                damping: 20.0,
            },
            max_force: f64::INFINITY,
        }),
    };
    // x of the frames upwards.
    let frame = Pose {
        position: DVec3::ZERO,
        rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
    };
    world
        .join(Joint::slider(rail, car, axis).placed(frame))
        .unwrap();
    run(&mut world, 10.0);
    let at = world.pose(car).unwrap().position;
    let sag = -2.0 * G / 100.0;
    assert!((at - DVec3::new(0.0, sag, 0.0)).length() < 1e-4, "{at}");
}

#[test]
fn a_rope_lets_go_inwards_and_holds_outwards() {
    let mut world = world3();
    let hook = anchor3(&mut world);
    let bob = ball3(&mut world, DVec3::new(0.0, -0.5, 0.0), 1.0);
    let rope = world
        .join(Joint::rope(hook, bob, 1.0).between_points(DVec3::ZERO, DVec3::ZERO))
        .unwrap();
    world.step().unwrap();
    assert_eq!(world.reaction(rope).unwrap().force, DVec3::ZERO);
    run(&mut world, 5.0);
    let at = world.pose(bob).unwrap().position;
    assert!((at - DVec3::new(0.0, -1.0, 0.0)).length() < 1e-3, "{at}");
    let pull = world.reaction(rope).unwrap().force;
    assert!((pull.y - G).abs() < 1e-3, "{pull}");
}

#[test]
fn a_spring_in_the_plane_stretches_by_hookes_law() {
    let mut world = World2::new(settings()).unwrap();
    let hook = world.add(Body::fixed(Shape2::ball(0.1).unwrap())).unwrap();
    let start = DVec2::new(0.0, -1.0);
    let shape = Shape2::ball(0.1).unwrap();
    let bob = world
        .add(Body::rigid(shape).at(start).with_mass(3.0))
        .unwrap();
    let spring = Joint::spring(hook, bob, 1.0, 300.0, 30.0);
    world
        .join(spring.between_points(DVec2::ZERO, DVec2::ZERO))
        .unwrap();
    run(&mut world, 10.0);
    let y = world.pose(bob).unwrap().position.y;
    assert!((y + 1.0 + 3.0 * G / 300.0).abs() < 1e-5, "{y}");
}

#[test]
fn gears_turn_at_their_ratio() {
    let mut world = weightless();
    let frame = anchor3(&mut world);
    let wheel = |world: &mut World3, x: f64| {
        let shape = Shape3::ball(0.3).unwrap();
        let at = DVec3::new(0.0, 0.0, x);
        let body = world.add(Body::rigid(shape).at(at).with_mass(1.0)).unwrap();
        let hinge = Joint::hinge(frame, body, Axis::FREE).at(at);
        world.join(hinge).unwrap();
        body
    };
    let (small, large) = (wheel(&mut world, 0.0), wheel(&mut world, 1.0));
    world.join(Joint::gear(small, large, 3.0)).unwrap();
    for _ in 0..60 {
        world.add_torque(small, DVec3::new(0.1, 0.0, 0.0)).unwrap();
        world.step().unwrap();
    }
    let spin = |id| world.motion(id).unwrap().spin.x;
    assert!(spin(small) > 1.0);
    assert!((spin(large) + spin(small) / 3.0).abs() < 1e-6);
}

/// A thread carries a bob and breaks under what is five times as heavy.
pub(crate) fn a_thread_breaks_in(mut world: World3) {
    let second = (1.0 / world.settings().dt).round() as u32;
    let hook = anchor3(&mut world);
    let bob = ball3(&mut world, DVec3::new(0.0, -1.0, 0.0), 1.0);
    let thread = Joint::ball(hook, bob)
        .at(DVec3::ZERO)
        .breaking_at(3.0 * G, f64::INFINITY);
    let thread = world.join(thread).unwrap();
    for _ in 0..second {
        world.step().unwrap();
        assert!(world.events().is_empty());
    }
    let below = ball3(&mut world, DVec3::new(0.0, -2.0, 0.0), 5.0);
    let between = DVec3::new(0.0, -1.5, 0.0);
    world.join(Joint::fixed(bob, below).at(between)).unwrap();
    let mut broke = false;
    for _ in 0..second / 2 {
        world.step().unwrap();
        broke |= world.events().contains(&Event::JointBroke {
            joint: thread,
            a: hook,
            b: bob,
        });
    }
    assert!(broke);
    assert!(world.reaction(thread).is_none());
    assert!(world.pose(bob).unwrap().position.y < -1.2);
}

#[test]
fn a_weak_joint_breaks_and_says_so() {
    a_thread_breaks_in(world3());
}

#[test]
fn what_a_joint_ties_touches_only_if_it_says_so() {
    for (collides, expected) in [(false, 0), (true, 1)] {
        let mut world = weightless();
        let a = ball3(&mut world, DVec3::ZERO, 1.0);
        let b = ball3(&mut world, DVec3::new(0.2, 0.0, 0.0), 1.0);
        let joint = Joint::ball(a, b).at(DVec3::new(0.1, 0.0, 0.0));
        let joint = if collides { joint.colliding() } else { joint };
        world.join(joint).unwrap();
        let report = world.step().unwrap();
        assert_eq!(report.contacts, expected);
    }
}

#[test]
fn a_tied_body_that_lies_on_the_floor_is_held_by_both() {
    let mut world = world3();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).at(DVec3::new(0.0, -1.0, 0.0)))
        .unwrap();
    let hook = anchor3(&mut world);
    let mut last = hook;
    for k in 1..=10 {
        let at = DVec3::new(0.2 * f64::from(k), 0.0, 0.0);
        let next = ball3(&mut world, at, 1.0);
        let middle = at - DVec3::new(0.1, 0.0, 0.0);
        world.join(Joint::ball(last, next).at(middle)).unwrap();
        last = next;
    }
    let mut report = None;
    for _ in 0..900 {
        report = Some(world.step().unwrap());
        let (gap, _) = world.joint_error();
        assert!(gap < 5e-3, "{gap} m at {} s", world.time());
    }
    let certificate = report.unwrap().certificate.unwrap();
    assert!(certificate.penetration_m < 5e-3, "{certificate:?}");
    // What lies on the floor lies still; what hangs may still sway a little.
    let end = world.motion(last).unwrap().linear.length();
    assert!(end < 5e-3, "{end} m/s");
}

#[test]
fn joints_push_both_ways_alike() {
    let mut world = weightless();
    let a = ball3(&mut world, DVec3::ZERO, 1.0);
    let b = ball3(&mut world, DVec3::new(1.0, 0.0, 0.0), 3.0);
    world
        .join(Joint::fixed(a, b).at(DVec3::new(0.3, 0.0, 0.0)))
        .unwrap();
    world
        .set_motion(
            a,
            drystone::Motion {
                linear: DVec3::new(0.0, 4.0, 1.0),
                spin: DVec3::ZERO,
            },
        )
        .unwrap();
    run(&mut world, 2.0);
    let momentum = |id, mass| world.motion(id).unwrap().linear * mass;
    let sum = momentum(a, 1.0) + momentum(b, 3.0);
    assert!((sum - DVec3::new(0.0, 4.0, 1.0)).length() < 1e-9, "{sum}");
}

#[test]
fn bad_joints_are_refused_with_a_reason() {
    let mut world = world3();
    let a = anchor3(&mut world);
    let b = ball3(&mut world, DVec3::X, 1.0);
    let fixed = anchor3(&mut world);
    let limits = |min, max| Axis {
        freedom: Freedom::Limited { min, max },
        drive: None,
    };
    for (joint, word) in [
        (Joint::ball(a, a), "different"),
        (Joint::ball(a, fixed), "fixed"),
        (Joint::hinge(a, b, limits(1.0, -1.0)), "limits"),
        (Joint::hinge(a, b, limits(-9.0, 9.0)), "limits"),
        (Joint::gear(a, b, 0.0), "ratio"),
        (Joint::ball(a, b).breaking_at(-1.0, 1.0), "breaking"),
        (Joint::ball(a, b).at(DVec3::NAN), "finite"),
        (Joint::hinge(a, b, motor(f64::NAN, 1.0)), "finite"),
    ] {
        let error = world.join(joint).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    world.remove(b).unwrap();
    assert!(world.join(Joint::ball(a, b)).is_err());
}

#[test]
fn removing_a_body_removes_its_joints() {
    let mut world = world3();
    let a = anchor3(&mut world);
    let b = ball3(&mut world, DVec3::X, 1.0);
    let joint = world.join(Joint::ball(a, b)).unwrap();
    world.step().unwrap();
    world.remove(b).unwrap();
    assert!(world.joined(joint).is_none());
    world.step().unwrap();
}

#[test]
fn what_a_joint_allows_can_be_changed() {
    let mut world = weightless();
    let a = anchor3(&mut world);
    let b = ball3(&mut world, DVec3::ZERO, 1.0);
    let joint = world.join(Joint::hinge(a, b, motor(1.0, 10.0))).unwrap();
    run(&mut world, 1.0);
    let JointKind::Axes { linear, .. } = world.joint_kind(joint).unwrap() else {
        panic!("a hinge has axes");
    };
    let angular = [motor(-2.0, 10.0), Axis::LOCKED, Axis::LOCKED];
    world
        .set_joint_kind(joint, JointKind::Axes { linear, angular })
        .unwrap();
    run(&mut world, 1.0);
    assert!((world.motion(b).unwrap().spin.x + 2.0).abs() < 1e-6);
}
