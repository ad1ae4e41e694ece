//! Joints in the strategy `velocity`: several together, for long, with deformables, solvers and
//! snapshots.

use crate::joints::{anchor3, ball3, bar};
use crate::joints_velocity::{hinge, motor, near, run, weightless, world3};
use drystone::glam::{DQuat, DVec3};
use drystone::{
    Axis, Body, BodyId, D3, Deformable, Joint, JointKind, Mesh, Motion, Pose, Settings, Shape3,
    SolverKind, Strategy, Substance, World3,
};

const G: f64 = 9.81;

/// A double pendulum of bars on hinges about z, let go level.
fn double(settings: Settings<D3>) -> (World3, [BodyId; 2]) {
    let mut world = World3::new(settings).unwrap();
    let post = anchor3(&mut world);
    let upper = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    let lower = bar(&mut world, DVec3::new(1.5, 0.0, 0.0));
    for (a, b, x) in [(post, upper, 0.0), (upper, lower, 1.0)] {
        let joint = hinge(a, b, DVec3::new(x, 0.0, 0.0), Axis::FREE);
        world.join(joint).unwrap();
    }
    (world, [upper, lower])
}

#[test]
fn a_double_pendulum_goes_as_in_the_strategy_substep() {
    let fine = 1.0 / 960.0;
    let (mut ours, ids) = double(Settings {
        dt: fine,
        ..Settings::reference()
    });
    let (mut others, _) = double(Settings {
        dt: fine,
        ..crate::joints::settings()
    });
    let mut farthest = 0.0_f64;
    for _ in 0..960 {
        ours.step().unwrap();
        others.step().unwrap();
        for id in ids {
            let [p, q] = [&ours, &others].map(|w| w.pose(id).unwrap().position);
            farthest = farthest.max((p - q).length());
        }
    }
    // In a second the lower bar swings through and up again.
    assert!(farthest < 0.01, "{farthest} m");
}

#[test]
fn a_free_jointed_pair_keeps_momentum_and_angular_momentum() {
    let mut world = weightless();
    let a = bar(&mut world, DVec3::new(-0.5, 0.0, 0.0));
    let b = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
    world.join(hinge(a, b, DVec3::ZERO, Axis::FREE)).unwrap();
    let start = Motion {
        linear: DVec3::new(0.0, 2.0, 1.0),
        spin: DVec3::new(0.0, 1.0, 3.0),
    };
    world.set_motion(a, start).unwrap();
    let momentum = |world: &World3| {
        let [p, q] = [a, b].map(|id| world.motion(id).unwrap().linear * 2.0);
        p + q
    };
    let before = momentum(&world);
    for _ in 0..240 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.momentum_n_s < 1e-13, "{certificate:?}");
    }
    assert!((momentum(&world) - before).length() < 1e-12);
    let (gap, angle) = world.joint_error();
    assert!(gap < 1e-5 && angle < 1e-4, "{gap} {angle}");
}

#[test]
fn hinges_and_chains_do_not_fall_apart_in_a_minute() {
    let (mut world, _) = double(Settings::reference());
    let mut worst = (0.0_f64, 0.0_f64);
    let start = world.energy();
    for _ in 0..14_400 {
        world.step().unwrap();
        let (gap, angle) = world.joint_error();
        worst = (worst.0.max(gap), worst.1.max(angle));
    }
    assert!(worst.0 < 1e-3 && worst.1 < 1e-2, "{worst:?}");
    let end = world.energy();
    // It was let go at rest at height 0: nothing was made.
    assert!(
        end.kinetic + end.potential < start.potential + 0.1,
        "{end:?}"
    );
}

#[test]
fn two_hinges_of_one_door_do_not_strain_each_other() {
    let mut world = world3();
    let post = anchor3(&mut world);
    let shape = Shape3::cuboid(DVec3::new(0.4, 0.9, 0.02)).unwrap();
    let body = Body::rigid(shape).at(DVec3::new(0.45, 0.0, 0.0));
    let door = world.add(body.with_mass(20.0)).unwrap();
    let mut joints = Vec::new();
    // One of them is a tenth of a millimetre off.
    for (y, z) in [(0.7, 0.0), (-0.7, 1e-4)] {
        let on_post = Pose {
            position: DVec3::new(0.0, y, 0.0),
            rotation: DQuat::from_rotation_arc(DVec3::X, DVec3::Y),
        };
        let on_door = Pose {
            position: DVec3::new(-0.45, y, z),
            rotation: on_post.rotation,
        };
        let joint = Joint::hinge(post, door, Axis::FREE).between(on_post, on_door);
        joints.push(world.join(joint).unwrap());
    }
    world
        .set_motion(
            door,
            Motion {
                linear: DVec3::new(0.0, 0.0, -0.9),
                spin: DVec3::new(0.0, 2.0, 0.0),
            },
        )
        .unwrap();
    run(&mut world, 30.0);
    let forces = joints.iter().map(|&id| world.reaction(id).unwrap().force);
    let (sum, most) = forces.fold((DVec3::ZERO, 0.0_f64), |(sum, most), f| {
        (sum + f, most.max(f.length()))
    });
    near(sum.y, 20.0 * G, 0.01);
    // The weight turns about the hinges: 20 g · 0.45 m over 1.4 m at each, and the spin's pull.
    assert!(most < 2.0 * 20.0 * G, "{most} N");
    near(world.motion(door).unwrap().spin.y, 2.0, 0.1);
}

#[test]
fn a_rope_that_hangs_on_a_jointed_body_pulls_at_the_joint() {
    let mut world = world3();
    let post = anchor3(&mut world);
    let weight = ball3(&mut world, DVec3::new(0.0, -0.5, 0.0), 1.0);
    let joint = Joint::ball(post, weight).at(DVec3::ZERO);
    let joint = world.join(joint).unwrap();
    let substance = Substance {
        young: 2e7,
        density: 900.0,
        thickness: 0.03,
        damping: 0.01,
        ..Substance::default()
    };
    let top = DVec3::new(0.0, -0.65, 0.0);
    let mesh = Mesh::<D3>::rope(top, top + DVec3::NEG_Y, 20);
    let mut rope = Deformable::new(mesh, substance);
    rope.attached.push((0, weight));
    rope.linear_damping = 1.0;
    let rope = world.add_deformable(rope).unwrap();
    let nodes = world.nodes(rope).unwrap();
    let mass: f64 = nodes
        .iter()
        .map(|&id| world.bodies().mass(id.index()))
        .sum();
    run(&mut world, 6.0);
    let pull = world.reaction(joint).unwrap().force;
    near(pull.y, (1.0 + mass) * G, 0.01);
    assert!(world.joint_error().0 < 1e-4);
    assert!(mass > 0.1);
}

#[test]
fn a_snapshot_goes_on_to_the_same_bits() {
    let build = || {
        let (mut world, ids) = double(Settings::reference());
        let arm = bar(&mut world, DVec3::new(0.5, 2.0, 0.0));
        let joint = hinge(ids[0], arm, DVec3::new(0.0, 2.0, 0.0), motor(1.0, 5.0));
        world.join(joint).unwrap();
        world
    };
    let mut world = build();
    run(&mut world, 0.5);
    let saved = world.snapshot();
    run(&mut world, 0.5);
    let mut again = build();
    again.restore(&saved).unwrap();
    run(&mut again, 0.5);
    assert_eq!(world.state_hash(), again.state_hash());
}

#[test]
fn a_far_away_body_changes_no_bit() {
    let hash = |is_far: bool| {
        let (mut world, ids) = double(Settings::reference());
        if is_far {
            let far = DVec3::new(100.0, 0.0, 0.0);
            let ball = ball3(&mut world, far, 1.0);
            let other = ball3(&mut world, far + DVec3::X, 1.0);
            world.join(Joint::rod(ball, other, 1.0)).unwrap();
            let spring = Joint::spring(ball, other, 0.5, 100.0, 1.0);
            world.join(spring).unwrap();
        }
        run(&mut world, 2.0);
        ids.map(|id| world.pose(id).unwrap())
    };
    assert_eq!(hash(false), hash(true));
}

#[test]
fn joints_are_no_touches() {
    let (mut world, _) = double(Settings {
        events: true,
        ..Settings::reference()
    });
    for _ in 0..100 {
        let report = world.step().unwrap();
        assert!(report.contacts > 0);
        assert!(world.events().is_empty() && world.frame().contacts.is_empty());
    }
    assert!(world.solved_contacts().iter().all(|c| !c.is_touch()));
}

#[test]
fn any_solver_serves() {
    for name in SolverKind::NAMES {
        if ["lemke", "enumerate"].contains(&name) {
            continue;
        }
        let mut world = World3::new(Settings {
            solver: SolverKind::named(name).unwrap(),
            ..Settings::reference()
        })
        .unwrap();
        let wall = anchor3(&mut world);
        let beam = bar(&mut world, DVec3::new(0.5, 0.0, 0.0));
        let weld = Joint::fixed(wall, beam).at(DVec3::ZERO);
        let weld = world.join(weld).unwrap();
        run(&mut world, 0.5);
        let reaction = world.reaction(weld).unwrap();
        assert!(
            (reaction.force.y / (2.0 * G) - 1.0).abs() < 0.02,
            "{name}: {reaction:?}"
        );
    }
}

#[test]
fn what_it_does_not_serve_is_refused_by_name() {
    let mut world = world3();
    let a = anchor3(&mut world);
    let b = ball3(&mut world, DVec3::X, 1.0);
    let kind = JointKind::Axes {
        linear: [Axis::FREE; 3],
        angular: [Axis::LOCKED; 3],
    };
    world.join(Joint::new(a, b, kind).named("gimbal")).unwrap();
    let error = world.step().unwrap_err().to_string();
    assert!(
        error.contains("`gimbal`") && error.contains("`realtime` serves"),
        "{error}"
    );
    world.settings_mut().strategy = Strategy::named("barrier").unwrap();
    let error = world.step().unwrap_err().to_string();
    assert!(
        error.contains("joints (`gimbal`)") && error.contains("`realtime`"),
        "{error}"
    );
}
