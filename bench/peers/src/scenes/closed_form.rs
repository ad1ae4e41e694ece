//! Scenes whose outcome is a formula.

use glamx::{DQuat, DVec3};

use crate::scene::{Body, Dim, Scene, Shape, Truth};

/// A unit box lying on a plane at 30°.
pub fn incline(friction: f64, steps: usize) -> Scene {
    let angle = 30f64.to_radians();
    let turn = DQuat::from_rotation_z(angle);
    let mut scene = Scene::new("", Dim::Three);
    let half = DVec3::new(50.0, 1.0, 10.0);
    let mut plane = Body::fixed(Shape::Box { half }, turn * DVec3::new(0.0, -1.0, 0.0));
    plane.pose.rotation = turn;
    plane.friction = friction;
    scene.add(plane);
    let mut block = Body::new(Shape::cube(1.0), turn * DVec3::new(0.0, 0.5, 0.0));
    block.pose.rotation = turn;
    block.friction = friction;
    let body = scene.add(block);
    scene.steps = steps;
    scene.truth = Truth::Slides {
        body,
        angle,
        friction,
    };
    scene
}

/// A ball whose lowest point falls 2 m onto the floor.
pub fn bounce(restitution: f64, bounces: usize) -> Scene {
    let (radius, drop) = (0.5, 2.0);
    let mut scene = Scene::new("", Dim::Three);
    scene.add(Body {
        restitution,
        ..Body::floor(20.0)
    });
    let body = scene.add(Body {
        restitution,
        ..Body::new(
            Shape::Sphere { radius },
            DVec3::new(0.0, radius + drop, 0.0),
        )
    });
    scene.truth = Truth::Bounces {
        body,
        drop,
        restitution,
        bounces,
    };
    scene
}

/// Newton's cradle without strings: touching balls in a row, frictionless and weightless; one
/// more comes along the row at 1.5 m/s, above the speed under which engines give up bouncing.
pub fn cradle(balls: usize) -> Scene {
    let speed = 1.5;
    let mut scene = Scene::new("", Dim::Three);
    scene.gravity = 0.0;
    for k in 0..balls {
        let gap = if k == 0 { 0.5 } else { 0.0 };
        scene.add(Body {
            velocity: DVec3::X * if k == 0 { speed } else { 0.0 },
            friction: 0.0,
            restitution: 1.0,
            ..Body::new(
                Shape::Sphere { radius: 0.5 },
                DVec3::new(k as f64 - gap, 0.0, 0.0),
            )
        });
    }
    scene.steps = 120;
    scene.truth = Truth::PassesOn { first: 0, speed };
    scene
}
