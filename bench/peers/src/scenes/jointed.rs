//! Joints: nets, chains and ragdolls.

use glamx::{DQuat, DVec3};

use super::heaps::add_pit;
use crate::scene::{Body, Dim, JointKind, Scene, Shape, Truth};

/// A square net of balls, lying flat and fixed along one edge, so that it swings down.
pub fn net(side: usize) -> Scene {
    let lie = |column: f64, row: f64| DVec3::new(column, 0.0, row);
    woven(Scene::new("", Dim::Three), side, lie)
}

/// The same in the plane, hanging from its upper edge.
pub fn net_flat(side: usize) -> Scene {
    let hang = |column: f64, row: f64| DVec3::new(column, -row, 0.0);
    woven(Scene::new("", Dim::Two), side, hang)
}

/// Balls a metre apart, each joined to its neighbours half way.
fn woven(mut scene: Scene, side: usize, place: impl Fn(f64, f64) -> DVec3) -> Scene {
    for row in 0..side {
        for column in 0..side {
            let at = place(column as f64, row as f64);
            let here = scene.add(Body {
                fixed: row == 0,
                ..Body::new(Shape::Sphere { radius: 0.4 }, at)
            });
            if row > 0 {
                let anchor = place(column as f64, row as f64 - 0.5);
                scene.join(here - side, here, anchor, JointKind::Ball);
            }
            if row > 0 && column > 0 {
                let anchor = place(column as f64 - 0.5, row as f64);
                scene.join(here - 1, here, anchor, JointKind::Ball);
            }
        }
    }
    scene.truth = Truth::JointsHold;
    scene
}

/// A chain of capsules, let go level, with a ball of `ratio` times a link's mass at its end.
pub fn chain(links: usize, ratio: f64) -> Scene {
    let (half_length, radius) = (0.4, 0.1);
    let pitch = 2.0 * (half_length + radius);
    let mut scene = Scene::new("", Dim::Three);
    let mut last = scene.add(Body::fixed(Shape::cube(0.5), DVec3::ZERO));
    let lying = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    for k in 0..links {
        let at = DVec3::new((k as f64 + 0.5) * pitch, 0.0, 0.0);
        let mut link = Body::new(
            Shape::Capsule {
                half_length,
                radius,
            },
            at,
        );
        link.pose.rotation = lying;
        let link = scene.add(link);
        scene.join(
            last,
            link,
            DVec3::new(k as f64 * pitch, 0.0, 0.0),
            JointKind::Ball,
        );
        last = link;
    }
    let volume = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let link_volume = volume(radius) + std::f64::consts::PI * radius * radius * 2.0 * half_length;
    let end = DVec3::new(links as f64 * pitch, 0.0, 0.0);
    let weight = scene.add(Body {
        density: 1000.0 * ratio * link_volume / volume(0.5),
        ..Body::new(Shape::Sphere { radius: 0.5 }, end + DVec3::X * 0.5)
    });
    scene.join(last, weight, end, JointKind::Ball);
    scene.truth = Truth::JointsHold;
    scene
}

/// A rope of balls at fixed distances, let go level, its last ball `ratio` times as heavy.
pub fn rope(balls: usize, ratio: f64) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    let mut last = scene.add(Body::fixed(Shape::cube(0.3), DVec3::ZERO));
    for k in 1..=balls {
        let at = DVec3::new(0.5 * k as f64, 0.0, 0.0);
        let ball = scene.add(Body {
            density: 1000.0 * if k == balls { ratio } else { 1.0 },
            ..Body::new(Shape::Sphere { radius: 0.15 }, at)
        });
        scene.join(last, ball, at, JointKind::Distance);
        last = ball;
    }
    scene.truth = Truth::JointsHold;
    scene
}

/// Ragdolls of eleven bodies, four to a layer, that fall into a pit.
pub fn ragdolls(count: usize) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    let layers = count.div_ceil(4);
    add_pit(&mut scene, DVec3::new(2.4, layers as f64, 2.4));
    for k in 0..count {
        let (layer, place) = ((k / 4) as f64, k % 4);
        let side = |bit: usize| if place & bit == 0 { -1.1 } else { 1.1 };
        let navel = DVec3::new(side(1), 0.3 + 0.6 * layer, side(2));
        // Lying on their backs, each layer turned about a quarter from the one below.
        let turn = DQuat::from_rotation_y(1.6 * layer)
            * DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
        add_ragdoll(&mut scene, navel, turn);
    }
    scene.truth = Truth::JointsHold;
    scene
}

/// A figure 1.7 m tall about its navel: boxes for the trunk, capsules for the limbs, ball joints
/// at waist, neck, shoulders and hips, hinges at elbows and knees.
fn add_ragdoll(scene: &mut Scene, navel: DVec3, turn: DQuat) {
    let mut part = |shape: Shape, x: f64, y: f64| {
        let mut body = Body::new(shape, navel + turn * DVec3::new(x, y, 0.0));
        body.pose.rotation = turn;
        scene.add(body)
    };
    let slab = |x: f64, y: f64| Shape::Box {
        half: DVec3::new(x, y, 0.1),
    };
    let limb = |half_length: f64, radius: f64| Shape::Capsule {
        half_length,
        radius,
    };
    let pelvis = part(slab(0.17, 0.1), 0.0, -0.1);
    let chest = part(slab(0.19, 0.22), 0.0, 0.24);
    let head = part(Shape::Sphere { radius: 0.12 }, 0.0, 0.6);
    let mut joints = vec![
        (pelvis, chest, DVec3::new(0.0, 0.01, 0.0), JointKind::Ball),
        (chest, head, DVec3::new(0.0, 0.47, 0.0), JointKind::Ball),
    ];
    let hinge = JointKind::Hinge {
        axis: turn * DVec3::X,
    };
    for side in [-1.0, 1.0] {
        let upper_arm = part(limb(0.1, 0.05), side * 0.26, 0.28);
        let forearm = part(limb(0.1, 0.045), side * 0.26, -0.02);
        let thigh = part(limb(0.13, 0.07), side * 0.1, -0.42);
        let shin = part(limb(0.14, 0.06), side * 0.1, -0.83);
        let at = |x: f64, y: f64| DVec3::new(side * x, y, 0.0);
        joints.extend([
            (chest, upper_arm, at(0.23, 0.43), JointKind::Ball),
            (upper_arm, forearm, at(0.26, 0.13), hinge),
            (pelvis, thigh, at(0.1, -0.21), JointKind::Ball),
            (thigh, shin, at(0.1, -0.625), hinge),
        ]);
    }
    for (a, b, anchor, kind) in joints {
        scene.join(a, b, navel + turn * anchor, kind);
    }
}
