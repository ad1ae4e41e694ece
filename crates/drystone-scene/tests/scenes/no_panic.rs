//! No input makes reading or building panic: random text, and gallery scenes with damage.

use drystone_scene::{Scene, gallery};
use proptest::prelude::*;

/// Reads and builds; the result does not matter, the error's text must be there.
fn try_all(text: &str) {
    for read in [Scene::from_toml(text, "f"), Scene::from_json(text, "f")] {
        match read.and_then(|scene| scene.build()) {
            // A few steps, because some numbers only do harm when bodies meet.
            Ok(mut world) if world.body_count() < 300 => {
                for _ in 0..2 {
                    if world.step().is_err() {
                        break;
                    }
                }
            }
            Ok(_) => {}
            Err(error) => {
                assert!(!error.to_string().is_empty());
                if let Some(span) = error.span() {
                    assert!(error.source_text().unwrap().get(span).is_some());
                }
            }
        }
    }
}

/// Every shape, script and repeat there is in space, near enough to each other to touch.
const SOLID: &str = r#"
dimension = 3
defaults = { friction = 0.5, linear_damping = 0.1 }
materials = [{ name = "ice", friction = 0.1, friction_rule = "minimum" }]
pairs = [{ between = ["ice", "ice"], friction = 0.3 }]
bodies = [
    { kind = "fixed", shape.half_space.normal = [0.1, 1, 0] },
    { kind = "fixed", position = [0, 0.4, 0], shape.mesh = { points = [[-3, 0, -3], [3, 0.2, -3], [3, 0, 3], [-3, 0.1, 3]], triangles = [[0, 2, 1], [0, 3, 2]] } },
    { kind = "fixed", position = [0, 0.1, 0], shape.height_field = { size = [9, 9], cells = [5, 4], waves = [{ height = 0.2, length = 3, direction = 30, phase = 20 }] } },
    { kind = "fixed", position = [9, 0.1, 9], shape.height_field = { size = [2, 2], heights = [[0, 1], [0.5, 0]] } },
    { kind = "fixed", position = [0, 0.5, 0], shape.mesh = { one_sided = true, points = [[-3, 0, -3], [3, 0.2, -3], [3, 0, 3]], triangles = [[0, 2, 1]] } },
    { position = [3, 1, 3], shape.mesh = { decompose = true, points = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] } },
    { position = [3, 1, 1], shape.box = { size = [0.4, 0.3, 0.2], rounding = 0.1 } },
    { position = [3, 1, 0], shape.cylinder = { height = 0.4, radius = 0.2, rounding = 0.05 } },
    { position = [3, 1, 2], shape.cone = { height = 0.4, radius = 0.2, rounding = 0.05 } },
    { position = [3, 2, 2], shape.hull = { rounding = 0.02, points = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]] } },
    { position = [0, 1, 0], shape.ball.radius = 0.5, material = "ice", spin = [1, 2, 3] },
    { position = [1, 1, 0], shape.box.size = [1, 0.5, 0.6], rotation = { euler = [10, 20, 30] } },
    { position = [2, 1, 0], shape.capsule = { length = 1, radius = 0.2 }, rotation = [0.1, 0, 0, 0.995] },
    { position = [0, 1, 1], shape.cylinder = { height = 1, radius = 0.3 }, mass = 3 },
    { position = [1, 1, 1], shape.cone = { height = 1, radius = 0.3 }, density = 100 },
    { position = [2, 1, 1], shape.hull.points = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5], [0.4, 0.4, 0.4]] },
    { position = [0, 1, 2], shape.wedge = { inner_radius = 1, outer_radius = 1.5, angle = 30, depth = 0.4 } },
    { position = [1, 1, 2], shape.compound.parts = [{ shape.ball.radius = 0.2 }, { shape.box.size = [0.3, 0.3, 0.3], position = [0.3, 0, 0], rotation = { axis = [1, 1, 0], angle = 40 } }] },
    { position = [2, 1, 2], shape.ball.radius = 0.4, mass_properties = { mass = 2, center = [0, 0.1, 0], inertia = [0.1, 0.2, 0.15] } },
    { position = [0, 1, 3], kind = "particle", shape.ball.radius = 0.3, pushes = [{ force = [1, 2, 3], rate = [0, 1, 0], point = [0.1, 0, 0] }] },
    { position = [0, 0.3, 4], kind = "kinematic", shape.box.size = [2, 0.3, 1], script.swing = { amplitude = [0.1, 0, 0], turn = [0, 5, 0], frequency = 2, phase = 0.25 } },
    { kind = "kinematic", shape.ball.radius = 0.3, script.keyframes = [{ time = 0, position = [0, 2, 4] }, { time = 1, position = [0, 0, 4], rotation = { axis = [0, 1, 0], angle = 90 } }] },
    { position = [5, 1, 0], shape.box.size = [0.4, 0.4, 0.4], repeat.stack = { count = 3, twist = 10 } },
    { position = [5, 1, 3], shape.ball.radius = 0.2, repeat.ring = { count = 5, radius = 0.8, plane = "flat", rows = 2, rise = 0.4, brick = 0.5 } },
    { position = [8, 2, 0], shapes = [{ ball = { radius = 0.2 } }, { cone = { height = 0.4, radius = 0.2 } }], repeat.random = { count = 6, region = [2, 2, 2], sizes = [0.5, 1.5], turned = true } },
    { position = [8, 0, 4], repeat.wall = { length = 2, height = 0.6, depth = 0.4, lengths = [0.3, 0.5], heights = [0.2, 0.3], rough = 0.02 } },
]
"#;

/// The same for the plane.
const FLAT: &str = r#"
dimension = 2
bodies = [
    { kind = "fixed", shape.polyline.points = [[-5, 1], [0, 0], [5, 1], [9, 0.5]] },
    { position = [0, 0.6], shape.ball.radius = 0.5, spin = 2, locked_axes = ["x"] },
    { position = [1, 0.7], shape.box.size = [1, 0.5], rotation = 20, locked_spins = ["z"] },
    { position = [2, 1], shape.capsule = { length = 1, radius = 0.2 } },
    { position = [3, 1], shape.hull.points = [[0, 0], [0.5, 0], [0, 0.5], [0.4, 0.4]] },
    { position = [-1, 1], shape.wedge = { inner_radius = 1, outer_radius = 1.5, angle = 30 } },
    { position = [-2, 1.2], shape.compound.parts = [{ shape.ball.radius = 0.2 }, { shape.box.size = [0.3, 0.3], position = [0.3, 0], rotation = 40 }] },
    { position = [-3, 1.5], shape.ball.radius = 0.4, mass_properties = { mass = 2, inertia = 0.1 } },
    { position = [0, 3], repeat.wall = { length = 2, height = 0.6, lengths = [0.3, 0.5], heights = [0.2, 0.3], rough = 0.02 } },
    { position = [4, 4], shape.box.size = [0.3, 0.3], repeat.grid = { count = [3, 3], spacing = [0.4, 0.3], brick = 0.5, shrink = 1 } },
]
"#;

#[test]
fn the_scenes_of_everything_are_sound() {
    for text in [SOLID, FLAT] {
        let mut world = Scene::from_toml(text, "everything")
            .unwrap()
            .build()
            .unwrap();
        for _ in 0..50 {
            world.step().unwrap();
        }
    }
}

/// Scenes small enough to be built thousands of times.
fn small_scenes() -> Vec<&'static str> {
    let gallery = gallery::entries().iter().map(|entry| entry.toml);
    // The scenes of everything come several times: most that can go wrong is in them.
    let everything = [SOLID, FLAT].into_iter().cycle().take(20);
    gallery
        .filter(|toml| toml.len() < 2500)
        .chain(everything)
        .collect()
}

/// What a number in a scene can be replaced by.
const NUMBERS: [&str; 22] = [
    "0",
    "-1",
    "1e300",
    "-1e300",
    "1e-300",
    "1e18",
    "-1e18",
    "nan",
    "inf",
    "-inf",
    "4294967295",
    "1e9",
    "3",
    "0.5",
    "true",
    "\"x\"",
    "[]",
    "[1, 2]",
    "{}",
    "9223372036854775807",
    "-0.0",
    "7e-9",
];

/// Replaces the `nth` number of the text.
fn with_number(text: &str, nth: usize, replacement: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
    let mut starts = Vec::new();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c.is_ascii_digit() && !is_part(previous) && !previous.is_alphanumeric() {
            starts.push(at);
        }
        previous = c;
    }
    let Some(&start) = starts.get(nth % starts.len().max(1)) else {
        return text.to_owned();
    };
    let length = text[start..]
        .find(|c| !is_part(c))
        .unwrap_or(text.len() - start);
    format!("{}{replacement}{}", &text[..start], &text[start + length..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in "\\PC{0,200}") {
        try_all(&text);
    }

    #[test]
    fn random_pieces_of_scenes(pieces in prop::collection::vec(prop::sample::select(vec![
        "[[bodies]]\n", "[", "]", "{", "}", "=", ",", "\n", " ", ".", "\"", "'", "#", "é", "\u{0}",
        "bodies", "shape", "ball", "radius", "position", "dimension = 3\n", "dimension = 2\n",
        "name = \"a\"\n", "1", "-1", "nan", "1e999", "shape.ball.radius = 1\n", "repeat",
        "repeat.stack.count = 3\n", "repeat.random = { count = 9, region = [1, 1, 1] }\n",
        "kind = \"fixed\"\n", "{\"dimension\":3,\"bodies\":[", "{\"shape\":{\"ball\":{\"radius\":1}}}",
        "rotation = { euler = [1, 2, 3] }\n", "position = [1, 2, 3]\n", "\u{feff}", "\r\n",
    ]), 0..25)) {
        try_all(&pieces.concat());
    }

    #[test]
    fn scenes_with_bytes_changed(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let scenes = small_scenes();
        let mut bytes = which.get(&scenes).as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        try_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn scenes_with_numbers_changed(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<usize>(), prop::sample::select(&NUMBERS[..])), 1..4),
    ) {
        let scenes = small_scenes();
        let mut text = (*which.get(&scenes)).to_owned();
        for (nth, replacement) in changes {
            text = with_number(&text, nth, replacement);
        }
        try_all(&text);
    }

    #[test]
    fn scenes_with_lines_moved(
        which in any::<prop::sample::Index>(),
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
    ) {
        let scenes = small_scenes();
        let mut lines: Vec<&str> = which.get(&scenes).lines().collect();
        for (from, to) in moves {
            let line = lines[from.index(lines.len())];
            let to = to.index(lines.len());
            lines.insert(to, line);
        }
        try_all(&lines.join("\n"));
    }
}
