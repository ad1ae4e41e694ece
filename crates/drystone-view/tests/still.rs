//! Pictures show what a frame holds, and bad input does no harm.

// Helpers of tests may fail a test, as tests themselves may.
#![allow(clippy::unwrap_used)]

use drystone_frame::{Form, Frame, FrameContact, Object, Part, Stage};
use drystone_view::ViewError;
use drystone_view::still::{Camera, Image, Still};

const UPRIGHT: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

const SMALL: (u32, u32) = (160, 90);

#[derive(Clone, Default)]
struct Scene {
    stage: Stage,
    frame: Frame,
}

impl Scene {
    fn new(dimension: u8) -> Self {
        let mut scene = Self::default();
        scene.stage.dimension = dimension;
        scene
    }

    fn with(mut self, form: Form, fixed: bool, position: [f64; 3]) -> Self {
        self.stage.objects.push(Object {
            name: format!("object {}", self.stage.objects.len()),
            fixed,
            parts: vec![Part {
                position: [0.0; 3],
                rotation: UPRIGHT,
                form,
            }],
        });
        self.frame.positions.push(position);
        self.frame.rotations.push(UPRIGHT);
        self
    }

    fn render(&self, camera: Camera) -> Image {
        let still = Still {
            width: SMALL.0,
            height: SMALL.1,
            camera,
            contacts: true,
        };
        still.render(&self.stage, &self.frame).unwrap()
    }
}

fn ball(radius: f64) -> Form {
    Form::Ball { radius }
}

fn floor() -> Form {
    Form::HalfSpace {
        normal: [0.0, 1.0, 0.0],
    }
}

fn pixel(image: &Image, column: u32, row: u32) -> [i32; 3] {
    image.pixel(column, row).unwrap().map(i32::from)
}

fn difference(a: [i32; 3], b: [i32; 3]) -> i32 {
    (0..3).map(|k| (a[k] - b[k]).abs()).sum()
}

fn brightness(colour: [i32; 3]) -> i32 {
    colour.iter().sum()
}

/// From the front at the height of the origin, 10 m away; 5.36 m are seen from top to bottom.
fn front() -> Camera {
    Camera {
        eye: Some([0.0, 0.0, 10.0]),
        target: Some([0.0; 3]),
        ..Camera::default()
    }
}

#[test]
fn ball_covers_the_middle_and_nothing_else() {
    for dimension in [2, 3] {
        let with_ball = Scene::new(dimension).with(ball(1.0), false, [0.0; 3]);
        let (seen, empty) = (
            with_ball.render(front()),
            Scene::new(dimension).render(front()),
        );
        assert!(difference(pixel(&seen, 70, 40), pixel(&empty, 70, 40)) > 80);
        // The ball's radius is 90 / 5.36 = 17 pixels.
        for (column, row) in [(5, 5), (150, 80), (80, 24), (80, 66), (59, 45), (101, 45)] {
            assert_eq!(
                pixel(&seen, column, row),
                pixel(&empty, column, row),
                "{dimension}D, ({column}, {row})"
            );
        }
    }
}

#[test]
fn automatic_camera_frames_a_scene_far_away() {
    for dimension in [2, 3] {
        let scene = Scene::new(dimension).with(ball(1.0), false, [3e6, -2e6, 0.0]);
        let image = scene.render(Camera::default());
        let (middle, corner) = (pixel(&image, 80, 50), pixel(&image, 2, 2));
        assert!(difference(middle, corner) > 80, "{dimension}D");
    }
}

#[test]
fn floor_and_a_large_fixed_plate_do_not_spoil_the_framing() {
    let alone = Scene::new(3).with(ball(1.0), false, [0.0, 1.0, 0.0]);
    let plate = Form::Box {
        half: [500.0, 0.5, 500.0],
    };
    let on_floor = alone.clone().with(floor(), true, [0.0; 3]);
    let on_plate = alone.clone().with(plate, true, [0.0, -0.5, 0.0]);
    let still = Still::default();
    let eye_distance = |scene: &Scene| {
        let eye = still.framed(&scene.stage, &scene.frame).eye.unwrap();
        eye.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    assert_eq!(eye_distance(&on_floor), eye_distance(&alone));
    assert!(eye_distance(&on_plate) < 4.0 * eye_distance(&alone));
}

#[test]
fn framed_camera_gives_the_automatic_picture() {
    for dimension in [2, 3] {
        let scene = Scene::new(dimension)
            .with(ball(1.0), false, [0.0, 1.0, 0.0])
            .with(ball(0.5), false, [3.0, 0.5, 0.0]);
        let still = Still {
            width: SMALL.0,
            height: SMALL.1,
            ..Still::default()
        };
        let framed = still.framed(&scene.stage, &scene.frame);
        assert_eq!(scene.render(framed), scene.render(Camera::default()));
    }
}

#[test]
fn nearer_box_hides_the_farther_one() {
    let half = [1.0, 1.0, 0.2];
    let (near, far) = ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    let fixed_first =
        Scene::new(3)
            .with(Form::Box { half }, true, near)
            .with(Form::Box { half }, false, far);
    let fixed_alone = Scene::new(3).with(Form::Box { half }, true, near);
    let moving_nearer =
        Scene::new(3)
            .with(Form::Box { half }, true, far)
            .with(Form::Box { half }, false, near);
    let middle = |scene: &Scene| pixel(&scene.render(front()), 80, 45);
    assert!(difference(middle(&fixed_first), middle(&fixed_alone)) < 12);
    assert!(difference(middle(&moving_nearer), middle(&fixed_alone)) > 30);
}

#[test]
fn ball_casts_a_shadow_on_the_floor() {
    let high = [0.0, 1.5, 0.0];
    let from_above = Camera {
        eye: Some([0.0, 10.0, 0.01]),
        target: Some([0.0; 3]),
        ..Camera::default()
    };
    let shaded = Scene::new(3)
        .with(floor(), true, [0.0; 3])
        .with(ball(0.5), false, high)
        .render(from_above);
    let columns = 0..SMALL.0;
    let darkest = |image: &Image, from: u32| {
        let pixels = columns
            .clone()
            .flat_map(|c| (0..SMALL.1).map(move |r| (c, r)));
        let right = pixels.filter(|&(column, _)| column >= from);
        right
            .map(|(c, r)| brightness(pixel(image, c, r)))
            .min()
            .unwrap()
    };
    let lit = brightness(pixel(&shaded, 30, 20));
    // The sun stands on the left, so the shadow falls to the right of the ball, which ends at
    // column 90.
    assert!(darkest(&shaded, 93) < lit - 120);
    let empty = Scene::new(3)
        .with(floor(), true, [0.0; 3])
        .render(from_above);
    assert!(darkest(&empty, 93) > lit - 120);
}

#[test]
fn arch_of_outlines_is_drawn_with_its_opening() {
    let mut scene = Scene::new(2).with(floor(), true, [0.0; 3]);
    for k in 0..9 {
        let corner = |radius: f64, k: i32| {
            let angle = std::f64::consts::PI * f64::from(k) / 9.0;
            [radius * angle.cos(), radius * angle.sin(), 0.0]
        };
        let points = vec![
            corner(2.0, k),
            corner(3.0, k),
            corner(3.0, k + 1),
            corner(2.0, k + 1),
        ];
        let form = Form::Outline {
            points,
            closed: true,
        };
        scene = scene.with(form, false, [0.0; 3]);
    }
    let camera = Camera {
        eye: Some([0.0, 1.0, 10.0]),
        target: Some([0.0, 1.0, 0.0]),
        ..Camera::default()
    };
    let image = scene.render(camera);
    // 16.8 pixels to the metre; row 45 is y = 1 m.
    let (crown, opening, sky) = (
        pixel(&image, 80, 20),
        pixel(&image, 80, 45),
        pixel(&image, 5, 20),
    );
    assert_eq!(opening, sky);
    assert!(difference(crown, sky) > 60);
    assert!(
        difference(pixel(&image, 5, 80), sky) > 20,
        "the ground is drawn"
    );
}

#[test]
fn turned_disk_looks_different_in_2d() {
    let mut scene = Scene::new(2).with(ball(1.0), false, [0.0; 3]);
    let before = scene.render(front());
    scene.frame.rotations[0] = [0.0, 0.0, 1.0, 1.0];
    assert_ne!(before, scene.render(front()));
}

#[test]
fn contacts_are_drawn_over_objects() {
    for dimension in [2, 3] {
        let mut scene = Scene::new(dimension).with(ball(1.0), false, [0.0; 3]);
        let without = scene.render(front());
        let contact = FrameContact {
            object_a: 0,
            object_b: 9,
            position: [0.0; 3],
            normal: [0.0, 1.0, 0.0],
            impulse: [0.0, 1.0, 0.0],
            separation: 0.0,
        };
        let broken = FrameContact {
            position: [f64::NAN; 3],
            impulse: [f64::INFINITY; 3],
            ..contact
        };
        scene.frame.contacts = vec![broken, contact];
        let with = scene.render(front());
        assert!(difference(pixel(&with, 80, 45), pixel(&without, 80, 45)) > 60);
        // The arrow points up and is 12 pixels long.
        assert!(difference(pixel(&with, 80, 38), pixel(&without, 80, 38)) > 60);
        assert_eq!(pixel(&with, 80, 55), pixel(&without, 80, 55));
    }
}

#[test]
fn same_frame_gives_the_same_bytes() {
    for dimension in [2, 3] {
        let mut scene = Scene::new(dimension).with(floor(), true, [0.0; 3]);
        for k in 0..20 {
            let position = [f64::from(k % 5), 0.5 + f64::from(k / 5), 0.0];
            scene = scene.with(ball(0.5), false, position);
        }
        let first = scene.render(Camera::default());
        assert_eq!(first, scene.render(Camera::default()));
        assert_eq!(first.png().unwrap(), first.png().unwrap());
    }
}

#[test]
fn impossible_sizes_are_errors() {
    let scene = Scene::new(3);
    for (width, height) in [
        (0, 720),
        (1280, 0),
        (u32::MAX, u32::MAX),
        (8192, 8192),
        (9000, 1),
    ] {
        let still = Still {
            width,
            height,
            ..Still::default()
        };
        let result = still.render(&scene.stage, &scene.frame);
        assert!(
            matches!(result, Err(ViewError::ImageSize { .. })),
            "{width} x {height}"
        );
    }
    let torn = Image {
        width: 2,
        height: 2,
        rgb: vec![0; 11],
    };
    assert!(matches!(torn.png(), Err(ViewError::PixelCount { .. })));
}

fn wild_forms() -> Vec<Form> {
    let points = vec![
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [f64::NAN, 0.0, 0.0],
        [0.0, 1e14, 0.0],
    ];
    vec![
        ball(1.0),
        ball(f64::NAN),
        ball(1e14),
        Form::Box {
            half: [1e-12, 1.0, 0.0],
        },
        Form::Capsule {
            half_length: 0.0,
            radius: 1.0,
        },
        Form::Cylinder {
            half_height: 1e12,
            radius: 1e-9,
        },
        Form::Cone {
            half_height: f64::INFINITY,
            radius: 1.0,
        },
        Form::HalfSpace { normal: [0.0; 3] },
        Form::HalfSpace {
            normal: [1.0, 1.0, 0.0],
        },
        Form::Outline {
            points: points.clone(),
            closed: true,
        },
        Form::Outline {
            points: points.clone(),
            closed: false,
        },
        Form::Outline {
            points: Vec::new(),
            closed: true,
        },
        Form::Mesh {
            points,
            triangles: vec![[0, 1, 3], [0, 1, 2], [7, 8, u32::MAX], [0, 0, 0]],
        },
        Form::Mesh {
            points: Vec::new(),
            triangles: vec![[0, 1, 2]],
        },
    ]
}

#[test]
fn wild_input_never_panics() {
    let positions = [
        [0.0; 3],
        [f64::NAN; 3],
        [1e308, 0.0, 0.0],
        [1e9, -1e14, 3.0],
    ];
    let cameras = [
        Camera::default(),
        front(),
        Camera {
            eye: Some([0.0, 5.0, 0.0]),
            target: Some([0.0; 3]),
            ..Camera::default()
        },
        Camera {
            eye: Some([f64::NAN; 3]),
            target: Some([1e300; 3]),
            field_of_view_deg: f64::NAN,
            azimuth_deg: Some(f64::INFINITY),
            elevation_deg: 90.0,
        },
        Camera {
            eye: Some([0.1; 3]),
            target: Some([0.1; 3]),
            field_of_view_deg: 1e9,
            ..Camera::default()
        },
    ];
    for dimension in [0, 2, 3] {
        let mut scene = Scene::new(dimension);
        for form in wild_forms() {
            for position in positions {
                scene = scene.with(form.clone(), false, position);
            }
        }
        scene.frame.rotations[0] = [0.0; 4];
        scene.frame.rotations[1] = [f64::NAN; 4];
        // Frames may hold fewer poses than the stage has objects.
        scene.frame.positions.pop();
        for camera in cameras {
            let still = Still {
                width: 48,
                height: 27,
                camera,
                contacts: false,
            };
            let image = still.render(&scene.stage, &scene.frame).unwrap();
            assert_eq!(image.rgb.len(), 3 * 48 * 27);
        }
    }
}

#[test]
fn smallest_picture_is_one_pixel() {
    let still = Still {
        width: 1,
        height: 1,
        ..Still::default()
    };
    for dimension in [2, 3] {
        let scene = Scene::new(dimension).with(ball(1.0), false, [0.0; 3]);
        let image = still.render(&scene.stage, &scene.frame).unwrap();
        assert_eq!(image.rgb.len(), 3);
        assert_eq!(image.pixel(1, 0), None);
    }
}
