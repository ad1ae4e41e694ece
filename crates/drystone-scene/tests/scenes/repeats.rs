//! Where the copies of repeated bodies are.

use drystone_frame::{Frame, Stage};
use drystone_scene::Scene;

fn built(dimension: u8, body: &str) -> (Stage, Frame) {
    let text = format!("dimension = {dimension}\n[[bodies]]\nname = \"b\"\n{body}\n");
    let world = Scene::from_toml(&text, "repeat.toml")
        .unwrap()
        .build()
        .unwrap();
    (world.stage(), world.frame())
}

fn positions(dimension: u8, body: &str) -> Vec<[f64; 3]> {
    built(dimension, body).1.positions
}

#[track_caller]
fn near(a: [f64; 3], b: [f64; 3]) {
    assert!(
        a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-12),
        "{a:?} is not {b:?}"
    );
}

#[test]
fn a_grid_is_centred_and_shrinks_to_a_pyramid() {
    let shape = "shape.box.size = [1, 1, 1]\nposition = [5, 0.5, 0]\n";
    let wall = positions(
        3,
        &format!("{shape}repeat.grid = {{ count = [3, 5, 1], spacing = [2, 1, 0], shrink = 1 }}"),
    );
    assert_eq!(wall.len(), 3 + 2 + 1);
    near(wall[0], [3.0, 0.5, 0.0]);
    near(wall[3], [4.0, 1.5, 0.0]);
    near(wall[5], [5.0, 2.5, 0.0]);
    let pyramid = positions(
        3,
        &format!(
            "{shape}repeat.grid = {{ count = [4, 4, 4], spacing = [1.1, 1, 1.1], shrink = 1 }}"
        ),
    );
    assert_eq!(pyramid.len(), 16 + 9 + 4 + 1);
    let bricks = positions(
        2,
        "shape.box.size = [1, 1]\nrepeat.grid = { count = [2, 2], spacing = [2, 1], brick = 0.5 }",
    );
    near(bricks[0], [-1.0, 0.0, 0.0]);
    near(bricks[2], [0.0, 1.0, 0.0]);
}

#[test]
fn copies_are_numbered_from_one() {
    let (stage, _) = built(2, "shape.ball.radius = 0.1\nrepeat.stack.count = 3");
    let names: Vec<&str> = stage
        .objects
        .iter()
        .map(|object| object.name.as_str())
        .collect();
    assert_eq!(names, ["b 1", "b 2", "b 3"]);
}

#[test]
fn a_stack_takes_the_heights_of_its_shapes() {
    let stack = positions(
        3,
        "shapes = [{ box = { size = [1, 0.4, 1] } }, { ball = { radius = 0.3 } }]\nposition = [0, 0.2, 0]\nrepeat.stack.count = 4",
    );
    let heights: Vec<f64> = stack.iter().map(|p| p[1]).collect();
    for (height, expected) in heights.iter().zip([0.2, 0.7, 1.2, 1.7]) {
        assert!((height - expected).abs() < 1e-12, "{heights:?}");
    }
}

#[test]
fn a_ring_has_a_body_in_the_middle_of_each_part() {
    let ring = "shape.ball.radius = 0.1\nposition = [0, 1, 0]\nrepeat.ring = { count = 2, radius = 2, from = -90, to = 90 }";
    let upright = positions(3, ring);
    let s = 2.0_f64.sqrt();
    near(upright[0], [s, 1.0 - s, 0.0]);
    near(upright[1], [s, 1.0 + s, 0.0]);
    let flat = positions(
        3,
        &ring.replace("to = 90", "to = 90, plane = \"flat\", rows = 2, rise = 3"),
    );
    assert_eq!(flat.len(), 4);
    near(flat[0], [s, 1.0, s]);
    near(flat[2], [s, 4.0, s]);
}

#[test]
fn the_wedges_of_an_arch_touch_and_do_not_overlap() {
    let text = "dimension = 2\n[[bodies]]\nshape.wedge = { inner_radius = 1.9, outer_radius = 2.1, angle = 20 }\nrepeat.ring = { count = 9, radius = 2, to = 180 }";
    let world = Scene::from_toml(text, "").unwrap().build().unwrap();
    let drystone_scene::AnyWorld::Flat(mut world) = world else {
        panic!()
    };
    let contacts = world.contacts();
    // Two corners at each of the eight joints.
    assert_eq!(contacts.len(), 16);
    assert!(contacts.iter().all(|c| c.point.separation.abs() < 1e-12));
}

#[test]
fn a_scatter_is_apart_and_depends_on_its_seed_alone() {
    let scatter = |seed: u32| {
        positions(
            3,
            &format!(
                "shape.ball.radius = 0.2\nrepeat.random = {{ count = 200, region = [4, 4, 4], seed = {seed} }}"
            ),
        )
    };
    let one = scatter(1);
    assert_eq!(one, scatter(1));
    assert_ne!(one, scatter(2));
    for (k, a) in one.iter().enumerate() {
        assert!(a.iter().all(|x| x.abs() <= 2.0));
        for b in &one[..k] {
            let distance = a
                .iter()
                .zip(b)
                .map(|(x, y)| (x - y).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(distance >= 0.4);
        }
    }
}

#[test]
fn a_wall_fills_its_length_and_height_with_stones_that_bond() {
    let wall = "repeat.wall = { length = 5, height = 2, depth = 0.5, lengths = [0.3, 0.7], heights = [0.2, 0.3], seed = 3 }";
    let (stage, frame) = built(3, wall);
    let mut volume = 0.0;
    for (object, position) in stage.objects.iter().zip(&frame.positions) {
        let drystone_frame::Form::Box { half } = object.parts[0].form else {
            panic!()
        };
        volume += 8.0 * half[0] * half[1] * half[2];
        assert!(position[0].abs() + half[0] <= 2.5 + 1e-9);
        assert!(position[1] - half[1] >= -1e-9 && position[1] + half[1] <= 2.0 + 1e-9);
    }
    assert!((volume - 5.0 * 2.0 * 0.5).abs() < 1e-9, "{volume}");
    let flat = "repeat.wall = { length = 5, height = 2, lengths = [0.3, 0.7], heights = [0.2, 0.3], rough = 0.02 }";
    assert!(positions(2, flat).len() > 50);
}

#[test]
fn a_million_bodies_are_counted_before_they_are_made() {
    let text = "dimension = 2\n[[bodies]]\nshape.ball.radius = 0.1\nrepeat.grid = { count = [4294967295, 4294967295], spacing = [1, 1] }";
    let started = std::time::Instant::now();
    let error = Scene::from_toml(text, "").unwrap().build().unwrap_err();
    assert!(
        error.to_string().contains("at most 1000000 bodies"),
        "{error}"
    );
    assert!(started.elapsed().as_secs_f64() < 1.0);
}
