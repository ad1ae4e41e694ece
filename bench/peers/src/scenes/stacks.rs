//! Boxes on boxes: all of these should simply stand.

use glamx::DVec3;

use crate::scene::{Body, Dim, Scene, Shape, Truth};

/// A planar pyramid of touching unit boxes: `rows` in the lowest row, one in the highest, each
/// resting on two halves.
pub fn wall(rows: usize, dim: Dim) -> Scene {
    let mut scene = Scene::new("", dim);
    scene.add(Body::floor(rows as f64 + 20.0));
    let top = add_pyramid(&mut scene, rows, DVec3::ZERO);
    scene.truth = Truth::Stands { top };
    scene
}

/// Adds a planar pyramid with the middle of its base at `base`; gives the index of its top.
fn add_pyramid(scene: &mut Scene, rows: usize, base: DVec3) -> usize {
    for row in 0..rows {
        let count = rows - row;
        for k in 0..count {
            let x = k as f64 - 0.5 * (count - 1) as f64;
            let at = base + DVec3::new(x, 0.5 + row as f64, 0.0);
            scene.add(Body::new(Shape::cube(1.0), at));
        }
    }
    scene.bodies.len() - 1
}

/// Towers of unit boxes, three metres apart.
pub fn towers(count: usize, height: usize) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    scene.add(Body::floor(40.0));
    for tower in 0..count {
        for level in 0..height {
            let at = DVec3::new(3.0 * tower as f64 - 13.5, 0.5 + level as f64, 0.0);
            scene.add(Body::new(Shape::cube(1.0), at));
        }
    }
    let top = scene.bodies.len() - 1;
    scene.truth = Truth::Stands { top };
    scene
}

/// A field of pyramids of ten boxes: many small islands.
pub fn field(boxes: usize) -> Scene {
    let pyramids = boxes / 10;
    let columns = (pyramids as f64).sqrt().ceil() as usize;
    let mut scene = Scene::new("", Dim::Three);
    scene.add(Body::floor(3.0 * columns as f64 + 10.0));
    let mut top = 0;
    for k in 0..pyramids {
        let (column, row) = (k % columns, k / columns);
        let middle = 0.5 * columns as f64;
        let base = DVec3::new(
            6.0 * (column as f64 - middle),
            0.0,
            3.0 * (row as f64 - middle),
        );
        top = add_pyramid(&mut scene, 4, base);
    }
    scene.truth = Truth::Stands { top };
    // Long enough to settle; the largest field takes a quarter of a second a step.
    scene.steps = if boxes > 10_000 { 120 } else { 300 };
    scene
}

/// A unit box on a unit box, the upper one `ratio` times as heavy, for 20 s.
pub fn heavy_on_light(ratio: f64) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    scene.add(Body::floor(20.0));
    scene.add(Body::new(Shape::cube(1.0), DVec3::new(0.0, 0.5, 0.0)));
    let top = scene.add(Body {
        density: 1000.0 * ratio,
        ..Body::new(Shape::cube(1.0), DVec3::new(0.0, 1.5, 0.0))
    });
    scene.truth = Truth::Stands { top };
    scene.steps = 1200;
    scene
}
