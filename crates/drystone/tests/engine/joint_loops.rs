//! Joints in closed loops: four bars, nets, a bridge between two banks.

use crate::joints::{anchor3, bar, settings, world3};
use drystone::glam::{DQuat, DVec3};
use drystone::{Axis, Body, BodyId, Joint, Pose, Settings, Shape3, World3};

#[test]
fn a_closed_loop_of_four_bars_stays_closed() {
    let mut world = world3();
    let ground = anchor3(&mut world);
    // Nothing in the way of a whole turn.
    let nobody = drystone::Groups {
        member: 0,
        meets: 0,
    };
    world.set_groups(ground, nobody).unwrap();
    let half = std::f64::consts::FRAC_PI_2;
    let upright = |world: &mut World3, x: f64| {
        let shape = Shape3::cuboid(DVec3::new(0.5, 0.05, 0.05)).unwrap();
        let turned = DQuat::from_rotation_z(half);
        let at = DVec3::new(x, 0.5, 0.0);
        world.add(Body::rigid(shape).at(at).turned(turned)).unwrap()
    };
    let (left, right) = (upright(&mut world, 0.0), upright(&mut world, 1.0));
    let top = bar(&mut world, DVec3::new(0.5, 1.0, 0.0));
    for body in [left, right, top] {
        world.set_groups(body, nobody).unwrap();
    }
    let frame = |x: f64, y: f64| Pose {
        position: DVec3::new(x, y, 0.0),
        rotation: DQuat::from_rotation_y(-half),
    };
    for (a, b, x, y) in [
        (ground, left, 0.0, 0.0),
        (ground, right, 1.0, 0.0),
        (left, top, 0.0, 1.0),
        (right, top, 1.0, 1.0),
    ] {
        world
            .join(Joint::hinge(a, b, Axis::FREE).placed(frame(x, y)))
            .unwrap();
    }
    world
        .set_motion(
            top,
            drystone::Motion {
                linear: DVec3::new(1.0, 0.0, 0.0),
                spin: DVec3::ZERO,
            },
        )
        .unwrap();
    let mut lowest = f64::INFINITY;
    for _ in 0..300 {
        world.step().unwrap();
        let (gap, angle) = world.joint_error();
        assert!(gap < 2e-3 && angle < 1e-2, "{gap} {angle}");
        lowest = lowest.min(world.pose(top).unwrap().position.y);
    }
    assert!(lowest < -0.9, "it swings through: {lowest}");
}

/// A square net of balls, lying flat and fixed along one edge.
fn add_net(world: &mut World3, side: u32, spin: DVec3) {
    let mut last: Vec<BodyId> = Vec::new();
    for row in 0..side {
        let mut this = Vec::new();
        for column in 0..side {
            let at = DVec3::new(f64::from(column), 0.0, f64::from(row));
            let shape = Shape3::ball(0.3).unwrap();
            let body = if row == 0 {
                Body::fixed(shape)
            } else {
                Body::rigid(shape).spinning(spin)
            };
            let ball = world.add(body.at(at)).unwrap();
            if let Some(&above) = last.get(column as usize) {
                let middle = at - DVec3::new(0.0, 0.0, 0.5);
                world.join(Joint::ball(above, ball).at(middle)).unwrap();
            }
            if let (Some(&beside), true) = (this.last(), row > 0) {
                let middle = at - DVec3::new(0.5, 0.0, 0.0);
                world.join(Joint::ball(beside, ball).at(middle)).unwrap();
            }
            this.push(ball);
        }
        last = this;
    }
}

#[test]
fn a_net_hangs_together() {
    let mut world = world3();
    add_net(&mut world, 10, DVec3::ZERO);
    let mut worst = 0.0_f64;
    for _ in 0..600 {
        world.step().unwrap();
        worst = worst.max(world.joint_error().0);
    }
    assert!(worst < 0.15, "{worst} m");
}

/// Large enough for several threads to share its joints out.
#[test]
fn a_large_net_has_the_same_bits_on_any_number_of_threads() {
    let hash = |threads: u32| {
        let mut world = World3::new(Settings {
            threads,
            ..settings()
        })
        .unwrap();
        // Fast enough for several strides a step.
        add_net(&mut world, 24, DVec3::Y * 30.0);
        for _ in 0..40 {
            world.step().unwrap();
        }
        world.state_hash()
    };
    let expected = hash(1);
    for threads in [2, 3] {
        assert_eq!(hash(threads), expected, "on {threads}");
    }
}

/// Twenty planks, hinged end to end, that just reach from one bank to the other: no finite tension
/// holds a straight chain up, so it gives a little.
#[test]
fn a_straight_bridge_between_two_banks_makes_no_energy() {
    let mut world = world3();
    let (count, pitch) = (20, 0.52);
    let left = anchor3(&mut world);
    let bank = Body::fixed(Shape3::ball(0.05).unwrap());
    let far = DVec3::new(f64::from(count) * pitch, 0.0, 0.0);
    let right = world.add(bank.at(far)).unwrap();
    let axis = DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2);
    let hinge = |a, b, x: f64| {
        let frame = Pose {
            position: DVec3::new(x, 0.0, 0.0),
            rotation: axis,
        };
        Joint::hinge(a, b, Axis::FREE).placed(frame)
    };
    let mut last = left;
    for k in 0..count {
        let shape = Shape3::cuboid(DVec3::new(0.23, 0.06, 1.0)).unwrap();
        let at = DVec3::new((f64::from(k) + 0.5) * pitch, 0.0, 0.0);
        let plank = world
            .add(Body::rigid(shape).at(at).with_mass(77.0))
            .unwrap();
        world
            .join(hinge(last, plank, f64::from(k) * pitch))
            .unwrap();
        last = plank;
    }
    world
        .join(hinge(last, right, f64::from(count) * pitch))
        .unwrap();
    let start = world.energy();
    let start = start.kinetic + start.potential;
    for _ in 0..300 {
        world.step().unwrap();
        let energy = world.energy();
        let made = energy.kinetic + energy.potential - start;
        // The weight of one plank over 1 mm is 0.8 J.
        assert!(made < 1.0, "{made} J at {} s", world.time());
        let (gap, _) = world.joint_error();
        assert!(gap < 5e-3, "{gap} m at {} s", world.time());
    }
}
