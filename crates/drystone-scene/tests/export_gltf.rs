//! Scenes as glTF with physics, and back.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::import_bytes;
use drystone_scene::{AnyWorld, Scene, export, gallery};
use serde_json::Value;

/// Scenes of the gallery that glTF with physics can't hold, and why.
fn flat_or_soft(scene: &Scene) -> Option<&'static str> {
    match (scene.dimension, scene.deformables.is_empty()) {
        (2, _) => Some("it is flat, and glTF has bodies in space only"),
        (_, false) => Some("it has deformables, and KHR_physics_rigid_bodies has none"),
        _ => None,
    }
}

/// The largest distance in m between bodies of the same name in two worlds over some steps.
fn largest_distance(a: &mut AnyWorld, b: &mut AnyWorld, steps: u32) -> f64 {
    let names: Vec<String> = a.stage().objects.into_iter().map(|o| o.name).collect();
    let places: Vec<usize> = names
        .iter()
        .map(|name| b.body_index(name).unwrap_or_else(|| panic!("no `{name}`")))
        .collect();
    let mut largest: f64 = 0.0;
    for step in 0..=steps {
        let (frame_a, frame_b) = (a.frame(), b.frame());
        for (k, &place) in places.iter().enumerate() {
            let (p, q) = (frame_a.positions[k], frame_b.positions[place]);
            let distance: f64 = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum();
            assert!(distance.is_finite(), "{} at step {step}", names[k]);
            largest = largest.max(distance.sqrt());
        }
        if step < steps {
            a.step().unwrap();
            b.step().unwrap();
        }
    }
    largest
}

#[test]
fn every_scene_of_the_gallery_in_space_moves_the_same_after_a_round_trip() {
    let mut written = 0;
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        let obstacle = export::obstacle(&scene);
        assert_eq!(obstacle, flat_or_soft(&scene), "{}", entry.name);
        if let Some(why) = obstacle {
            let error = export::glb(&scene).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            eprintln!("{:24} not as glTF: {why}", entry.name);
            continue;
        }
        let imported = import_bytes("scene.glb", &export::glb(&scene).unwrap()).unwrap();
        assert_eq!(imported.unsupported, [""; 0], "{}", entry.name);
        assert_eq!(imported.scene.name, scene.name);
        let mut world = scene.build().unwrap();
        let mut again = imported.scene.build().unwrap();
        assert_eq!(again.body_count(), world.body_count(), "{}", entry.name);
        assert_eq!(again.dt(), world.dt());
        let distance = largest_distance(&mut world, &mut again, 100);
        eprintln!("{:24} within {distance:.1e} m", entry.name);
        assert!(distance < 1e-9, "{}: {distance:e} m apart", entry.name);
        written += 1;
    }
    assert!(written >= 25, "{written}");
}
