//! Dry stone: cut blocks that stand by shape and friction alone.

use std::f64::consts::PI;

use glamx::{DQuat, DVec2, DVec3};

use crate::scene::{Body, Dim, Scene, Shape, Truth};

/// Radius of the arch's middle line, m.
const RADIUS: f64 = 10.0;

/// A semicircular arch of equal stones on the floor, μ = 0.7. `thickness` is t/R; statics asks
/// for 0.1075 at least.
pub fn arch(stones: usize, thickness: f64) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    scene.add(Body {
        friction: 0.7,
        ..Body::floor(20.0)
    });
    let half_angle = 0.5 * PI / stones as f64;
    let (outline, centroid) = voussoir(half_angle, thickness);
    for k in 0..stones {
        // Turned about the arch's centre from the stone that stands at the crown.
        let turn = DQuat::from_rotation_z((2 * k + 1) as f64 * half_angle - 0.5 * PI);
        let mut body = Body::new(
            Shape::Prism {
                outline: outline.clone(),
                half_depth: 0.5 * RADIUS * thickness,
            },
            turn * DVec3::new(0.0, centroid, 0.0),
        );
        body.pose.rotation = turn;
        body.friction = 0.7;
        scene.add(body);
    }
    scene.truth = Truth::Stands {
        top: 1 + stones / 2,
    };
    scene
}

/// The stone at the crown: its outline about its centroid, and the centroid's height over the
/// arch's centre.
fn voussoir(half_angle: f64, thickness: f64) -> (Vec<DVec2>, f64) {
    let (inner, outer) = (
        RADIUS * (1.0 - 0.5 * thickness),
        RADIUS * (1.0 + 0.5 * thickness),
    );
    let (sin, cos) = half_angle.sin_cos();
    // A trapezium: half-widths w and heights h below (1) and above (2).
    let (w1, w2) = (inner * sin, outer * sin);
    let (h1, h2) = (inner * cos, outer * cos);
    let centroid = h1 + (h2 - h1) * (w1 + 2.0 * w2) / (3.0 * (w1 + w2));
    let outline = vec![
        DVec2::new(-w1, h1 - centroid),
        DVec2::new(w1, h1 - centroid),
        DVec2::new(w2, h2 - centroid),
        DVec2::new(-w2, h2 - centroid),
    ];
    (outline, centroid)
}
