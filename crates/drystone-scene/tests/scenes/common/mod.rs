//! What tests share.

use std::path::{Path, PathBuf};

use drystone::{D3, World};
use drystone_frame::Frame;
use drystone_scene::import::{ImportOptions, Imported, import};
use drystone_scene::{AnyWorld, Scene, SceneError, gallery};

/// A model beside the tests.
pub(crate) fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/models")
        .join(name)
}

/// Writes a file into a new folder and imports it.
pub(crate) fn import_bytes(name: &str, bytes: &[u8]) -> Result<Imported, SceneError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    import(&path, &ImportOptions::default())
}

/// What is left out of a model, but for what changes only how it looks.
pub(crate) fn left_out(imported: &Imported) -> Vec<String> {
    let looks = |unread: &&drystone_scene::import::Unread| {
        unread.effect == drystone_scene::import::Effect::Looks
    };
    let looks: Vec<_> = imported
        .unread
        .iter()
        .filter(looks)
        .map(ToString::to_string)
        .collect();
    let all = imported.unsupported.iter();
    all.filter(|what| !looks.contains(what)).cloned().collect()
}

/// The world of a scene in space.
pub(crate) fn solid(scene: &Scene) -> World<D3> {
    match scene.build().unwrap() {
        AnyWorld::Solid(world) => world,
        AnyWorld::Flat(_) => panic!("a flat world"),
    }
}

/// The time between two crossings of 0 in the same direction, s, of what `measure` sees.
pub(crate) fn period(world: &mut World<D3>, measure: impl Fn(&World<D3>) -> f64) -> f64 {
    let mut crossings: Vec<f64> = Vec::new();
    let mut before = (world.time(), measure(world));
    while crossings.len() < 3 && world.time() < 30.0 {
        world.step().unwrap();
        let now = (world.time(), measure(world));
        if before.1 < 0.0 && now.1 >= 0.0 {
            let share = before.1 / (before.1 - now.1);
            crossings.push(before.0 + share * (now.0 - before.0));
        }
        before = now;
    }
    assert_eq!(crossings.len(), 3, "it does not swing");
    (crossings[2] - crossings[0]) / 2.0
}

/// A scene of the gallery, without certificates.
pub(crate) fn gallery_world(name: &str) -> AnyWorld {
    let mut world = gallery::find(name)
        .unwrap()
        .scene()
        .unwrap()
        .build()
        .unwrap();
    world.set_certify_every(0);
    world
}

/// How far any body has moved since the start, m.
pub(crate) fn largest_move(start: &Frame, end: &Frame) -> f64 {
    let moved = |(a, b): (&[f64; 3], &[f64; 3])| {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    start
        .positions
        .iter()
        .zip(&end.positions)
        .map(moved)
        .fold(0.0, f64::max)
}
