//! Mixed shapes that fall into a walled pit.

use glamx::{DQuat, DVec3};

use crate::scene::{Body, Dim, Scene, Shape};

/// Numbers that are the same everywhere: a linear congruence, high bits.
struct Dice(u64);

impl Dice {
    /// From 0 to 1.
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.roll()
    }

    /// Some unit quaternion.
    fn turn(&mut self) -> DQuat {
        let mut part = || self.between(-1.0, 1.0);
        DQuat::from_xyzw(part(), part(), part(), part() + 1e-3).normalize()
    }
}

/// Half the edge of a cell that holds one body at the start, m: nothing touches then.
const HALF_CELL: f64 = 0.6;

/// Boxes, balls and capsules in turn, none reaching further than [`HALF_CELL`].
fn some_shape(kind: usize, dice: &mut Dice) -> Shape {
    match kind % 3 {
        0 => Shape::Box {
            half: DVec3::new(
                dice.between(0.2, 0.34),
                dice.between(0.2, 0.34),
                dice.between(0.2, 0.34),
            ),
        },
        1 => Shape::Sphere {
            radius: dice.between(0.25, 0.4),
        },
        _ => Shape::Capsule {
            half_length: dice.between(0.15, 0.3),
            radius: dice.between(0.2, 0.28),
        },
    }
}

/// Columns × layers × columns of bodies over a pit of their own width.
pub fn mixed(columns: usize, layers: usize, rows: usize) -> Scene {
    let mut scene = Scene::new("", Dim::Three);
    let half = DVec3::new(columns as f64, layers as f64, rows as f64) * HALF_CELL;
    add_pit(&mut scene, half);
    let mut dice = Dice(1);
    for layer in 0..layers {
        for row in 0..rows {
            for column in 0..columns {
                let cell = DVec3::new(column as f64, layer as f64, row as f64);
                let at = (2.0 * cell + 1.0) * HALF_CELL - DVec3::new(half.x, 0.0, half.z);
                let mut body = Body::new(some_shape(scene.bodies.len(), &mut dice), at);
                body.pose.rotation = dice.turn();
                scene.add(body);
            }
        }
    }
    scene
}

/// The same in the plane.
pub fn mixed_flat(columns: usize, layers: usize) -> Scene {
    let mut scene = Scene::new("", Dim::Two);
    let half = DVec3::new(columns as f64, layers as f64, 1.0) * HALF_CELL;
    add_pit(&mut scene, half);
    let mut dice = Dice(2);
    for layer in 0..layers {
        for column in 0..columns {
            let cell = DVec3::new(column as f64, layer as f64, 0.0);
            let at = (2.0 * cell + 1.0) * HALF_CELL - DVec3::new(half.x, 0.0, HALF_CELL);
            let mut body = Body::new(some_shape(scene.bodies.len(), &mut dice), at);
            body.pose.rotation = DQuat::from_rotation_z(dice.between(0.0, std::f64::consts::TAU));
            scene.add(body);
        }
    }
    scene
}

/// A floor and walls around `half`, higher than the bodies start.
pub fn add_pit(scene: &mut Scene, half: DVec3) {
    let thick = 2.0;
    scene.add(Body::floor(half.x.max(half.z) + 2.0 * thick));
    let high = 1.5 * half.y + thick;
    let mut sides = vec![DVec3::X, DVec3::NEG_X];
    if scene.dim == Dim::Three {
        sides.extend([DVec3::Z, DVec3::NEG_Z]);
    }
    for side in sides {
        let along_x = side.x != 0.0;
        let wall = if along_x {
            DVec3::new(thick, high, half.z + 2.0 * thick)
        } else {
            DVec3::new(half.x + 2.0 * thick, high, thick)
        };
        let reach = if along_x { half.x } else { half.z } + thick;
        let at = side * reach + DVec3::new(0.0, high, 0.0);
        scene.add(Body::fixed(Shape::Box { half: wall }, at));
    }
}
