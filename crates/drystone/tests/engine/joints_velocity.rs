//! Joints in the strategy `velocity` against statics, closed forms, momentum and `realtime`.

use crate::joints::{a_thread_breaks_in, anchor3, ball3, bar};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    Axis, Body, BodyId, D2, D3, Drive, Freedom, Goal, Joint, JointId, Pose, Settings, Shape2,
    Shape3, Space, World, World2, World3,
};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 240.0;

pub(crate) fn world3() -> World3 {
    World3::reference()
}

pub(crate) fn weightless() -> World3 {
    World3::new(Settings {
        gravity: DVec3::ZERO,
        ..Settings::reference()
    })
    .unwrap()
}

pub(crate) fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    for _ in 0..(seconds / DT).round() as u32 {
        world.step().unwrap();
    }
}

pub(crate) fn near(measured: f64, expected: f64, part: f64) {
    let error = (measured - expected).abs();
    assert!(error <= part * expected.abs(), "{measured}, not {expected}");
}

/// A hinge about z at a point.
pub(crate) fn hinge(a: BodyId, b: BodyId, at: DVec3, axis: Axis) -> Joint<D3> {
    let pose = Pose {
        position: at,
        rotation: DQuat::from_rotation_arc(DVec3::X, DVec3::Z),
    };
    Joint::hinge(a, b, axis).placed(pose)
}

#[test]
fn a_pendulum_swings_with_its_period_and_keeps_its_length_and_energy() {
    let mut world = world3();
    let hook = anchor3(&mut world);
    let (length, angle) = (1.0, 0.5_f64);
    let start = DVec3::new(length * angle.sin(), -length * angle.cos(), 0.0);
    let bob = ball3(&mut world, start, 1.0);
    world.join(Joint::ball(hook, bob).at(DVec3::ZERO)).unwrap();
    // A compound pendulum: I about the hook over m g l; the series in the amplitude.
    let inertia = length * length + 0.4 * 0.1 * 0.1;
    let swell = 1.0 + angle.powi(2) / 16.0 + 11.0 * angle.powi(4) / 3072.0;
    let period = std::f64::consts::TAU * (inertia / (G * length)).sqrt() * swell;
    let at_start = world.energy();
    let mut crossings = Vec::new();
    let mut last = start.x;
    let mut farthest = 0.0_f64;
    for _ in 0..2400 {
        world.step().unwrap();
        let at = world.pose(bob).unwrap().position;
        farthest = farthest.max((at.length() - length).abs());
        if last > 0.0 && at.x <= 0.0 {
            crossings.push(world.time() - DT * at.x / (at.x - last));
        }
        last = at.x;
    }
    assert!(farthest < 5e-6, "{farthest} m");
    let periods = (crossings.len() - 1) as f64;
    let measured = (crossings[crossings.len() - 1] - crossings[0]) / periods;
    near(measured, period, 1e-3);
    let swing = 1.0 * G * length * (1.0 - angle.cos());
    let end = world.energy();
    let lost = at_start.potential - end.kinetic - end.potential;
    assert!(lost.abs() < 0.02 * swing, "{lost} J of {swing} in 10 s");
}

#[test]
fn a_hinge_of_a_bar_that_hangs_carries_its_weight_and_no_torque() {
    let mut world = world3();
    let post = anchor3(&mut world);
    let shape = Shape3::cuboid(DVec3::new(0.05, 0.5, 0.05)).unwrap();
    let body = Body::rigid(shape).at(DVec3::new(0.0, -0.5, 0.0));
    let bar = world.add(body.with_mass(2.0)).unwrap();
    let joint = hinge(post, bar, DVec3::ZERO, Axis::FREE);
    let joint = world.join(joint).unwrap();
    run(&mut world, 1.0);
    let reaction = world.reaction(joint).unwrap();
    near(reaction.force.y, 2.0 * G, 1e-3);
    assert!(reaction.torque.length() < 1e-3, "{reaction:?}");
}

/// A chain of five balls that hangs, and its joints from the top.
fn chain() -> (World3, Vec<JointId>) {
    let mut world = world3();
    let mut last = anchor3(&mut world);
    let mut joints = Vec::new();
    for k in 1..=5 {
        let next = ball3(&mut world, DVec3::new(0.0, -0.3 * f64::from(k), 0.0), 1.0);
        let middle = DVec3::new(0.0, -0.3 * (f64::from(k) - 0.5), 0.0);
        joints.push(world.join(Joint::ball(last, next).at(middle)).unwrap());
        last = next;
    }
    (world, joints)
}

#[test]
fn each_joint_of_a_chain_carries_what_hangs_below() {
    let (mut world, joints) = chain();
    run(&mut world, 1.0);
    for (above, &joint) in joints.iter().enumerate() {
        let pull = world.reaction(joint).unwrap().force;
        near(pull.y, (5 - above) as f64 * G, 0.01);
    }
    assert!(world.joint_error().0 < 1e-5, "{:?}", world.joint_error());
}

#[test]
fn a_cantilever_carries_its_bending_moment() {
    let mut world = world3();
    let wall = anchor3(&mut world);
    let beam = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    let weld = Joint::fixed(wall, beam).at(DVec3::ZERO);
    let weld = world.join(weld).unwrap();
    run(&mut world, 1.0);
    let reaction = world.reaction(weld).unwrap();
    near(reaction.force.y, 2.0 * G, 1e-3);
    // The weight acts half a metre out; the torque that holds it up turns about +z.
    near(reaction.torque.z, 2.0 * G * 0.5, 1e-3);
    let (gap, angle) = world.joint_error();
    assert!(gap < 1e-6 && angle < 1e-6, "{gap} {angle}");
}

#[test]
fn a_slider_moves_along_its_axis_only_and_falls_with_its_part_of_gravity() {
    let mut world = world3();
    let rail = anchor3(&mut world);
    let car = bar(&mut world, DVec3::ZERO);
    // 30° below the horizon, skew in space; a weight that is not above the rail would turn it.
    let down = DVec3::new(0.6 * 0.75_f64.sqrt(), -0.5, 0.8 * 0.75_f64.sqrt());
    let frame = Pose {
        position: DVec3::new(0.2, 0.1, 0.0),
        rotation: DQuat::from_rotation_arc(DVec3::X, down),
    };
    let slider = Joint::slider(rail, car, Axis::FREE).placed(frame);
    world.join(slider).unwrap();
    run(&mut world, 1.0);
    let motion = world.motion(car).unwrap();
    near(motion.linear.dot(down), 0.5 * G, 1e-4);
    let beside = motion.linear - down * motion.linear.dot(down);
    assert!(
        beside.length() < 1e-3 && motion.spin.length() < 1e-3,
        "{motion:?}"
    );
    let (gap, angle) = world.joint_error();
    assert!(gap < 1e-6 && angle < 1e-5, "{gap} {angle}");
}

#[test]
fn rods_keep_their_length_and_ropes_hold_outwards_only() {
    for is_rod in [true, false] {
        let mut world = world3();
        let hook = anchor3(&mut world);
        let bob = ball3(&mut world, DVec3::new(0.8, 0.0, 0.0), 1.0);
        let joint = if is_rod {
            Joint::rod(hook, bob, 0.8)
        } else {
            Joint::rope(hook, bob, 1.0)
        };
        let joint = joint.between_points(DVec3::ZERO, DVec3::ZERO);
        let joint = world.join(joint).unwrap();
        world.step().unwrap();
        if !is_rod {
            assert_eq!(world.reaction(joint).unwrap().force, DVec3::ZERO);
        }
        let mut farthest = 0.0_f64;
        for _ in 0..2400 {
            world.step().unwrap();
            farthest = farthest.max(world.joint_error().0);
        }
        assert!(farthest < 2e-5, "{farthest} m");
        // Swinging through the lowest point takes more than hanging there.
        let bob = world.pose(bob).unwrap().position;
        assert!(bob.y < 0.0 && world.reaction(joint).unwrap().force.length() > 0.0);
    }
}

#[test]
fn limits_stop_a_falling_door_and_hold_it() {
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
    let joint = hinge(post, door, DVec3::ZERO, axis);
    let joint = world.join(joint).unwrap();
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..1200 {
        world.step().unwrap();
        let (gap, angle) = world.joint_error();
        worst = (worst.0.max(gap), worst.1.max(angle));
    }
    assert!(worst.0 < 1e-4 && worst.1 < 1e-4, "{worst:?}");
    let at = world.pose(door).unwrap().position;
    let expected = DVec3::new(0.5 * 0.8_f64.cos(), -0.5 * 0.8_f64.sin(), 0.0);
    assert!((at - expected).length() < 1e-4, "{at}");
    let torque = world.reaction(joint).unwrap().torque;
    near(torque.z, 2.0 * G * 0.5 * 0.8_f64.cos(), 0.01);
}

pub(crate) fn motor(speed: f64, max_force: f64) -> Axis {
    let goal = Goal::Speed(speed);
    let drive = Some(Drive { goal, max_force });
    Axis {
        freedom: Freedom::Free,
        drive,
    }
}

#[test]
fn a_motor_reaches_its_speed_no_faster_than_its_torque_allows() {
    let mut world = weightless();
    let post = anchor3(&mut world);
    let shape = Shape3::ball(0.5).unwrap();
    let wheel = world.add(Body::rigid(shape).with_mass(10.0)).unwrap();
    let axle = Joint::hinge(post, wheel, motor(5.0, 2.0));
    let axle = world.join(axle).unwrap();
    // I = 2/5 m r² = 1 kg·m²: with 2 N·m the wheel gains 2 rad/s in a second.
    run(&mut world, 1.0);
    let spin = world.motion(wheel).unwrap().spin;
    assert!((spin.x - 2.0).abs() < 1e-6, "{spin}");
    near(world.reaction(axle).unwrap().torque.x, 2.0, 1e-6);
    run(&mut world, 3.0);
    let spin = world.motion(wheel).unwrap().spin;
    assert!((spin - DVec3::new(5.0, 0.0, 0.0)).length() < 1e-6, "{spin}");
}

/// The spin of a bar on a motor about z after a time, from lying level.
fn lifted(max_force: f64, seconds: f64) -> f64 {
    let mut world = world3();
    let post = anchor3(&mut world);
    let arm = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    let joint = hinge(post, arm, DVec3::ZERO, motor(1.0, max_force));
    world.join(joint).unwrap();
    run(&mut world, seconds);
    world.motion(arm).unwrap().spin.z
}

#[test]
fn a_motor_lifts_a_beam_at_its_speed_and_stalls_where_its_torque_ends() {
    // The beam's weight of 2 kg acts half a metre out: 9.81 N·m.
    near(lifted(f64::INFINITY, 0.5), 1.0, 1e-3);
    near(lifted(12.0, 0.5), 1.0, 1e-3);
    assert!(lifted(9.0, 0.5) < 0.0);
}

#[test]
fn springs_stretch_by_hookes_law_in_the_plane_and_along_sliders() {
    let mut flat = World2::reference();
    let hook = flat.add(Body::fixed(Shape2::ball(0.1).unwrap())).unwrap();
    let shape = Shape2::ball(0.1).unwrap();
    let body = Body::rigid(shape).at(DVec2::new(0.0, -1.0));
    let bob = flat.add(body.with_mass(3.0)).unwrap();
    let spring = Joint::spring(hook, bob, 1.0, 300.0, 30.0);
    let spring = spring.between_points(DVec2::ZERO, DVec2::ZERO);
    let spring = flat.join(spring).unwrap();
    run(&mut flat, 10.0);
    let y = flat.pose(bob).unwrap().position.y;
    near(y, -1.0 - 3.0 * G / 300.0, 1e-6);
    near(flat.reaction(spring).unwrap().force.y, 3.0 * G, 1e-4);

    let mut world = world3();
    let rail = anchor3(&mut world);
    let car = ball3(&mut world, DVec3::ZERO, 2.0);
    let goal = Goal::Position {
        at: 0.0,
        stiffness: 100.0,
        damping: 20.0,
    };
    let drive = Some(Drive {
        goal,
        max_force: f64::INFINITY,
    });
    let axis = Axis {
        freedom: Freedom::Free,
        drive,
    };
    // x of the frames upwards.
    let frame = Pose {
        position: DVec3::ZERO,
        rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
    };
    let slider = Joint::slider(rail, car, axis).placed(frame);
    world.join(slider).unwrap();
    run(&mut world, 10.0);
    let at = world.pose(car).unwrap().position;
    assert!(
        (at - DVec3::new(0.0, -2.0 * G / 100.0, 0.0)).length() < 1e-5,
        "{at}"
    );
}

#[test]
fn a_spring_swings_with_its_period() {
    let mut world = weightless();
    let a = ball3(&mut world, DVec3::ZERO, 1.0);
    let b = ball3(&mut world, DVec3::new(1.1, 0.0, 0.0), 3.0);
    let spring = Joint::spring(a, b, 1.0, 30.0, 0.0);
    let spring = spring.between_points(DVec3::ZERO, DVec3::ZERO);
    world.join(spring).unwrap();
    // The reduced mass is 0.75 kg; after a quarter of a period the length is that at rest.
    let quarter = 0.25 * std::f64::consts::TAU * (0.75_f64 / 30.0).sqrt();
    let length = |world: &World3| {
        let [a, b] = [a, b].map(|id| world.pose(id).unwrap().position);
        (b - a).length()
    };
    while length(&world) > 1.0 {
        world.step().unwrap();
    }
    assert!(
        (world.time() - quarter).abs() < 2.0 * DT,
        "{}",
        world.time()
    );
    let sum = world.motion(a).unwrap().linear + world.motion(b).unwrap().linear * 3.0;
    assert!(sum.length() < 1e-12, "{sum}");
}

#[test]
fn gears_turn_at_their_ratio() {
    let mut world = weightless();
    let frame = anchor3(&mut world);
    let wheel = |world: &mut World3, x: f64| {
        let at = DVec3::new(0.0, 0.0, x);
        let body = Body::rigid(Shape3::ball(0.3).unwrap()).at(at);
        let body = world.add(body.with_mass(1.0)).unwrap();
        let hinge = Joint::hinge(frame, body, Axis::FREE).at(at);
        world.join(hinge).unwrap();
        body
    };
    let (small, large) = (wheel(&mut world, 0.0), wheel(&mut world, 1.0));
    world.join(Joint::gear(small, large, 3.0)).unwrap();
    for _ in 0..240 {
        world.add_torque(small, DVec3::new(0.1, 0.0, 0.0)).unwrap();
        world.step().unwrap();
    }
    let spin = |id| world.motion(id).unwrap().spin.x;
    assert!(spin(small) > 1.0);
    near(spin(large), -spin(small) / 3.0, 1e-4);
}

#[test]
fn a_weak_joint_breaks_and_says_so() {
    a_thread_breaks_in(world3());
}

#[test]
fn in_the_plane_pins_welds_and_sliders_hold() {
    let mut world = World2::reference();
    let hook = world.add(Body::fixed(Shape2::ball(0.1).unwrap())).unwrap();
    let beam = |world: &mut World2, at: DVec2| {
        let shape = Shape2::cuboid(DVec2::new(0.5, 0.05)).unwrap();
        world.add(Body::rigid(shape).at(at).with_mass(2.0)).unwrap()
    };
    let welded = beam(&mut world, DVec2::new(0.5, 0.0));
    let weld = world.join(Joint::fixed(hook, welded)).unwrap();
    let pinned = beam(&mut world, DVec2::new(1.5, 0.0));
    let pin = Joint::ball(welded, pinned).at(DVec2::new(1.0, 0.0));
    world.join(pin).unwrap();
    let slid = beam(&mut world, DVec2::new(-2.0, 0.0));
    let frame = Pose {
        position: DVec2::new(-1.6, 0.0),
        rotation: <D2 as drystone::Algebra>::turn(Default::default(), 0.5),
    };
    let slider = Joint::slider(hook, slid, Axis::FREE).placed(frame);
    world.join(slider).unwrap();
    for _ in 0..1200 {
        world.step().unwrap();
        let (gap, angle) = world.joint_error();
        assert!(gap < 1e-4 && angle < 1e-4, "{gap} {angle}");
    }
    // What swings pulls with its weight on average; the weld's torque is at least the beam's.
    assert!(world.reaction(weld).unwrap().force.y > 2.0 * G);
    let fallen = world.pose(slid).unwrap().position - DVec2::new(-2.0, 0.0);
    let (along, time) = (-G * 0.5_f64.sin(), 5.0_f64);
    let down = DVec2::new(0.5_f64.cos(), 0.5_f64.sin());
    near(fallen.dot(down), 0.5 * along * time * time, 1e-3);
    assert!(fallen.perp_dot(down).abs() < 1e-3, "{fallen}");
}
