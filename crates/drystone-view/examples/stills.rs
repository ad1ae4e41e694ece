//! Draws a few stages made by hand and writes them as PNG files.
//!
//! ```text
//! cargo run --release -p drystone-view --example stills -- pictures
//! ```

use drystone_frame::{Form, Frame, FrameContact, Object, Part, Stage};
use drystone_view::still::Still;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const UPRIGHT: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    std::fs::create_dir_all(&folder)?;
    let scenes = [
        ("wall", wall()),
        ("heap", heap()),
        ("dominoes", dominoes()),
        ("bin", bin()),
        ("arch", arch()),
        ("shapes-2d", shapes_2d()),
    ];
    for (name, scene) in scenes {
        for contacts in [false, true] {
            if contacts && scene.frame.contacts.is_empty() {
                continue;
            }
            let still = Still {
                contacts,
                ..Still::default()
            };
            let start = Instant::now();
            let image = still.render(&scene.stage, &scene.frame)?;
            let milliseconds = start.elapsed().as_millis();
            let suffix = if contacts { "-contacts" } else { "" };
            let path = Path::new(&folder).join(format!("{name}{suffix}.png"));
            std::fs::write(&path, image.png()?)?;
            let objects = scene.stage.objects.len();
            println!("{}: {objects} objects, {milliseconds} ms", path.display());
        }
    }
    Ok(())
}

/// A stage and a frame that grow together.
#[derive(Default)]
struct Scene {
    stage: Stage,
    frame: Frame,
}

impl Scene {
    fn new(dimension: u8) -> Self {
        let mut scene = Self::default();
        scene.stage.dimension = dimension;
        let normal = [0.0, 1.0, 0.0];
        scene.add(Form::HalfSpace { normal }, true, [0.0; 3], UPRIGHT);
        scene
    }

    fn add(&mut self, form: Form, fixed: bool, position: [f64; 3], rotation: [f64; 4]) {
        let part = Part {
            position: [0.0; 3],
            rotation: UPRIGHT,
            form,
        };
        self.stage.objects.push(Object {
            name: format!("object {}", self.stage.objects.len()),
            fixed,
            parts: vec![part],
        });
        self.frame.positions.push(position);
        self.frame.rotations.push(rotation);
    }

    fn push(&mut self, position: [f64; 3], impulse: [f64; 3]) {
        self.frame.contacts.push(FrameContact {
            object_a: 0,
            object_b: 1,
            position,
            normal: [0.0, 1.0, 0.0],
            impulse,
            separation: 0.0,
        });
    }
}

/// Numbers from 0 to 1 that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn rotation(&mut self) -> [f64; 4] {
        let raw: [f64; 4] = std::array::from_fn(|_| self.between(-1.0, 1.0));
        let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
        raw.map(|x| x / length)
    }
}

fn turn(axis: usize, angle: f64) -> [f64; 4] {
    let mut rotation = [0.0, 0.0, 0.0, (angle / 2.0).cos()];
    rotation[axis] = (angle / 2.0).sin();
    rotation
}

/// A pyramid of stones at the moment when a ball bursts through it.
fn wall() -> Scene {
    let mut scene = Scene::new(3);
    let mut numbers = Numbers(7);
    let half = [0.5, 0.28, 0.34];
    let rows = 13;
    for row in 0..rows {
        for k in 0..rows - row {
            let x = (f64::from(k) - f64::from(rows - row - 1) / 2.0) * 1.02;
            let y = 0.28 + 0.56 * f64::from(row);
            let near = (x * x + (y - 2.0) * (y - 2.0)).sqrt();
            let push = (1.7 - near).max(0.0);
            let position = [
                x + push * numbers.between(-0.4, 0.4) + 0.02 * numbers.between(-1.0, 1.0),
                y + 0.25 * push,
                -2.2 * push * numbers.between(0.6, 1.2) + 0.03 * numbers.between(-1.0, 1.0),
            ];
            let rotation = if push > 0.0 {
                numbers.rotation()
            } else {
                turn(1, numbers.between(-0.04, 0.04))
            };
            scene.add(Form::Box { half }, false, position, rotation);
        }
    }
    for k in 0..7 {
        let position = [numbers.between(-3.0, 3.0), 0.28, numbers.between(1.2, 3.2)];
        scene.add(Form::Box { half }, false, position, turn(1, f64::from(k)));
    }
    scene.add(
        Form::Ball { radius: 0.8 },
        false,
        [0.3, 1.9, 0.6],
        turn(2, 0.5),
    );
    scene
}

/// Many forms, one above another.
fn heap() -> Scene {
    let mut scene = Scene::new(3);
    let mut numbers = Numbers(3);
    for k in 0..500 {
        let share = f64::from(k) / 500.0;
        let height = 3.2 * share * share;
        let reach = 4.2 * (1.0 - height / 3.6).sqrt() * numbers.next().sqrt();
        let angle = numbers.between(0.0, std::f64::consts::TAU);
        let position = [
            reach * angle.cos(),
            0.25 + height * (1.0 - reach / 5.0),
            reach * angle.sin(),
        ];
        let size = numbers.between(0.18, 0.34);
        let form = match k % 6 {
            0 | 1 => Form::Box {
                half: [size, 0.7 * size, 0.9 * size],
            },
            2 => Form::Ball { radius: size },
            3 => Form::Capsule {
                half_length: size,
                radius: 0.5 * size,
            },
            4 => Form::Cylinder {
                half_height: 0.8 * size,
                radius: 0.7 * size,
            },
            _ => Form::Cone {
                half_height: size,
                radius: 0.8 * size,
            },
        };
        scene.add(form, false, position, numbers.rotation());
    }
    scene
}

/// Dominoes on a spiral, some of which have fallen.
fn dominoes() -> Scene {
    let mut scene = Scene::new(3);
    for k in 0..160 {
        let angle = 0.9 + 3.1 * (f64::from(k) / 20.0).sqrt();
        let radius = 0.5 + 0.62 * angle;
        let fall = (0.3 * (75.0 - f64::from(k))).clamp(0.0, 1.15);
        let (s, c) = ((-angle / 2.0).sin(), (-angle / 2.0).cos());
        let (fs, fc) = ((fall / 2.0).sin(), (fall / 2.0).cos());
        // The turn about y after the fall about the domino's own x axis.
        let rotation = [c * fs, s * fc, -s * fs, c * fc];
        let y = 0.5 * fall.cos() + 0.06 * fall.sin();
        let lean = 0.5 * fall.sin();
        let position = [
            radius * angle.cos() - lean * angle.sin(),
            y,
            radius * angle.sin() + lean * angle.cos(),
        ];
        scene.add(
            Form::Box {
                half: [0.25, 0.5, 0.06],
            },
            false,
            position,
            rotation,
        );
    }
    scene.add(
        Form::Ball { radius: 0.4 },
        false,
        [0.0, 0.4, 0.3],
        turn(0, 0.6),
    );
    scene
}

/// A corner of two walls with a ramp, octahedra, balls and a handrail.
fn bin() -> Scene {
    let mut scene = Scene::new(3);
    let mut numbers = Numbers(5);
    for (normal, position) in [
        ([1.0, 0.0, 0.0], [-2.5, 0.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, -2.0]),
    ] {
        scene.add(Form::HalfSpace { normal }, true, position, UPRIGHT);
    }
    let ramp = Form::Box {
        half: [1.6, 0.1, 1.0],
    };
    scene.add(ramp, true, [-1.0, 0.9, -0.6], turn(2, -0.45));
    for k in 0..6 {
        let position = [
            0.4 + 0.75 * f64::from(k % 3),
            0.3,
            0.9 * f64::from(k / 3) - 0.8,
        ];
        scene.add(octahedron(), false, position, numbers.rotation());
    }
    for k in 0..9 {
        let x = -2.2 + 0.42 * f64::from(k);
        let y = (1.27 - 0.483 * (x + 1.0)).max(0.2);
        scene.add(
            Form::Ball { radius: 0.2 },
            false,
            [x, y, -0.6],
            numbers.rotation(),
        );
        scene.push([x, y - 0.2, -0.6], [0.1, 1.0 + 0.3 * f64::from(k), 0.1]);
    }
    let rail = vec![
        [-2.4, 2.0, 0.6],
        [-1.0, 1.7, 0.6],
        [0.5, 0.9, 0.6],
        [0.5, 0.0, 0.6],
    ];
    scene.add(
        Form::Outline {
            points: rail,
            closed: false,
        },
        true,
        [0.0; 3],
        UPRIGHT,
    );
    scene
}

fn octahedron() -> Form {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let ends = axes.iter().flat_map(|axis| [*axis, axis.map(|x: f64| -x)]);
    let points: Vec<[f64; 3]> = ends.map(|p| p.map(|x| 0.4 * x)).collect();
    let triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    Form::Mesh { points, triangles }
}

/// A round arch of wedge stones on two piers.
fn arch() -> Scene {
    let mut scene = Scene::new(2);
    let (inner, outer, stones) = (2.0, 2.8, 15);
    for k in 0..stones {
        let angle = |k: i32| std::f64::consts::PI * f64::from(k) / f64::from(stones);
        let corner = |radius: f64, k: i32| [radius * angle(k).cos(), radius * angle(k).sin(), 0.0];
        let corners = [
            corner(inner, k),
            corner(outer, k),
            corner(outer, k + 1),
            corner(inner, k + 1),
        ];
        let centre: [f64; 3] =
            std::array::from_fn(|i| corners.iter().map(|c| c[i]).sum::<f64>() / 4.0);
        let points = corners
            .iter()
            .map(|c| std::array::from_fn(|i| c[i] - centre[i]))
            .collect();
        let position = [centre[0], centre[1] + 1.5, 0.0];
        scene.add(
            Form::Outline {
                points,
                closed: true,
            },
            false,
            position,
            UPRIGHT,
        );
        if k > 0 {
            let (x, y) = (2.4 * angle(k).cos(), 1.5 + 2.4 * angle(k).sin());
            let size = 1.0 / (0.3 + angle(k).sin());
            scene.push(
                [x, y, 0.0],
                [-size * angle(k).sin(), size * angle(k).cos(), 0.0],
            );
        }
    }
    for side in [-1.0, 1.0] {
        for row in 0..3 {
            let half = [0.55, 0.25, 0.5];
            let position = [2.4 * side, 0.25 + 0.5 * f64::from(row), 0.0];
            scene.add(Form::Box { half }, false, position, UPRIGHT);
        }
    }
    scene
}

/// Every 2D form.
fn shapes_2d() -> Scene {
    let mut scene = Scene::new(2);
    let mut numbers = Numbers(11);
    for k in 0..40 {
        let position = [
            f64::from(k % 10) * 1.1 - 5.0,
            0.6 + f64::from(k / 10) * 1.05,
            0.0,
        ];
        let form = match k % 5 {
            0 => Form::Ball { radius: 0.45 },
            1 => Form::Box {
                half: [0.45, 0.3, 0.1],
            },
            2 => Form::Capsule {
                half_length: 0.25,
                radius: 0.2,
            },
            3 => Form::Cone {
                half_height: 0.4,
                radius: 0.4,
            },
            _ => Form::Cylinder {
                half_height: 0.4,
                radius: 0.25,
            },
        };
        scene.add(form, false, position, turn(2, numbers.between(-0.6, 0.6)));
    }
    let slope = vec![
        [-7.0, 3.0, 0.0],
        [-6.2, 1.2, 0.0],
        [-5.6, 0.4, 0.0],
        [-5.6, 0.0, 0.0],
    ];
    let form = Form::Outline {
        points: slope,
        closed: false,
    };
    scene.add(form, true, [-0.2, 0.0, 0.0], UPRIGHT);
    scene
}
