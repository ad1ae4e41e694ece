//! No input makes reading or building panic: random text, and gallery scenes with damage.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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

/// Scenes small enough to be built thousands of times.
fn small_scenes() -> Vec<&'static str> {
    let size = |toml: &str| toml.len() < 2500 && !toml.contains("count = 160");
    gallery::entries()
        .iter()
        .map(|entry| entry.toml)
        .filter(|toml| size(toml))
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
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

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
