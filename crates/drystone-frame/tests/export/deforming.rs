//! What deforms: its points at every frame, read back by hand and by other programs.

use std::path::Path;

use super::clip::{Clip, RATE, cloth};
use super::formats::{chunks, floats};
use super::programs::{answer, python, run, tool};
use drystone_frame::export::{Deforming, cache, obj, vtk};
use serde_json::{Value, json};

const FRAMES: [usize; 5] = [0, 1, 13, 22, 30];

/// Nodes are half a thickness below the upper side: its points' mean is theirs, moved by that
/// along normals that are nearly upright.
#[test]
fn a_cloth_follows_its_nodes() {
    let clip = cloth();
    let motion = clip.motion();
    let sheet = &motion.deforming[0];
    assert_eq!((sheet.name.as_str(), sheet.frames.len()), ("my cloth", 31));
    assert_eq!(sheet.triangles.len(), 2 * 32, "two sides");
    let half = sheet.frames[0].len() / 2;
    for (frame, points) in clip.frames.iter().zip(&sheet.frames) {
        let (upper, lower) = points.split_at(half);
        let middle =
            |k: usize| std::array::from_fn::<f32, 3, _>(|i| 0.5 * (upper[k][i] + lower[k][i]));
        for k in 0..half {
            // The points come in the order of the triangles.
            let near = frame.positions.iter().map(|p| {
                let apart = (0..3).map(|i| (p[i] - f64::from(middle(k)[i])).powi(2));
                apart.sum::<f64>().sqrt()
            });
            assert!(near.fold(f64::INFINITY, f64::min) < 1e-6);
            let apart: f32 = (0..3).map(|i| (upper[k][i] - lower[k][i]).powi(2)).sum();
            assert!((apart.sqrt() - 0.02).abs() < 1e-6, "its thickness");
        }
    }
}

#[test]
fn gltf_has_a_target_for_every_frame() {
    let clip = cloth();
    let file = clip.glb();
    let (json, buffer) = chunks(&file);
    for deforming in &clip.motion().deforming {
        let nodes = json["nodes"].as_array().unwrap();
        let node = nodes
            .iter()
            .position(|n| n["name"] == deforming.name)
            .unwrap();
        let mesh = &json["meshes"][nodes[node]["mesh"].as_u64().unwrap() as usize];
        let primitive = &mesh["primitives"][0];
        let base = floats(&json, buffer, &primitive["attributes"]["POSITION"]);
        let targets = primitive["targets"].as_array().unwrap();
        assert_eq!(targets.len(), clip.frames.len() - 1);
        let animation = &json["animations"][0];
        let mut channels = animation["channels"].as_array().unwrap().iter();
        let channel = channels.find(|c| c["target"]["node"] == node).unwrap();
        assert_eq!(channel["target"]["path"], "weights");
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        let weights = floats(&json, buffer, &sampler["output"]);
        for (number, points) in deforming.frames.iter().enumerate() {
            let row = &weights[number * targets.len()..(number + 1) * targets.len()];
            let mut found = base.clone();
            for (target, weight) in targets.iter().zip(row).filter(|(_, w)| **w != 0.0) {
                let away = floats(&json, buffer, &target["POSITION"]);
                found
                    .iter_mut()
                    .zip(away)
                    .for_each(|(x, by)| *x += weight * by);
            }
            for (x, expected) in found.iter().zip(points.as_flattened()) {
                assert!((x - expected).abs() < 1e-6, "{x} {expected}");
            }
        }
    }
    // The nodes of the cloth are no objects of their own.
    assert_eq!(json["nodes"].as_array().unwrap().len(), 3);
}

#[test]
fn frames_by_themselves_have_the_points_too() {
    let clip = cloth();
    let (motion, model) = (clip.motion(), clip.model());
    let text = obj::frame(&clip.stage, &model, &clip.frames[7]);
    let from = text.find("o my cloth").unwrap();
    let lines = text[from..]
        .lines()
        .filter_map(|line| line.strip_prefix("v "));
    let numbers: Vec<f32> = lines
        .flat_map(|line| line.split(' ').map(|x| x.parse().unwrap()))
        .collect();
    let expected: Vec<f32> = motion
        .deforming
        .iter()
        .flat_map(|deforming| deforming.frames[7].as_flattened().to_vec())
        .collect();
    assert_eq!(numbers.len(), expected.len());
    assert!(numbers.iter().zip(&expected).all(|(a, b)| a == b));
    assert!(!text.contains("o node"));
    // Every face names vertices that are there.
    let vertices = text.lines().filter(|line| line.starts_with("v ")).count();
    for line in text.lines().filter_map(|line| line.strip_prefix("f ")) {
        let within = |x: &str| (1..=vertices).contains(&x.parse().unwrap());
        assert!(line.split(' ').all(within), "{line}");
    }
    let whole = vtk::bodies(&clip.stage, &model, &clip.frames[7]);
    let head = String::from_utf8_lossy(&whole[..300]).into_owned();
    assert!(
        head.contains(&format!("NumberOfPoints=\"{vertices}\"")),
        "{head}"
    );
}

fn caches(deforming: &Deforming, clip: &Clip) -> (Vec<u8>, Vec<u8>) {
    let times: Vec<f64> = clip.frames.iter().map(|frame| frame.time).collect();
    let (mut pc2, mut mdd) = (Vec::new(), Vec::new());
    cache::pc2(deforming, &mut pc2).unwrap();
    cache::mdd(deforming, &times, &mut mdd).unwrap();
    (pc2, mdd)
}

#[test]
fn caches_have_the_layout_that_is_documented() {
    let clip = cloth();
    let deforming = &clip.motion().deforming[0];
    let points = deforming.frames[0].len();
    let (pc2, mdd) = caches(deforming, &clip);
    assert_eq!(pc2.len(), 32 + 31 * points * 12);
    assert_eq!(&pc2[..12], b"POINTCACHE2\0");
    let whole = |at: usize| i32::from_le_bytes(pc2[at..at + 4].try_into().unwrap());
    assert_eq!([whole(12), whole(16), whole(28)], [1, points as i32, 31]);
    let place = 32 + 12 * (13 * points + 5);
    let x = f32::from_le_bytes(pc2[place..place + 4].try_into().unwrap());
    assert_eq!(x, deforming.frames[13][5][0]);
    assert_eq!(mdd.len(), 8 + 31 * 4 + 31 * points * 12);
    let whole = |at: usize| i32::from_be_bytes(mdd[at..at + 4].try_into().unwrap());
    assert_eq!([whole(0), whole(4)], [31, points as i32]);
    let number = |at: usize| f32::from_be_bytes(mdd[at..at + 4].try_into().unwrap());
    assert_eq!(number(8 + 4 * 30), 0.5);
    let place = 8 + 31 * 4 + 12 * (13 * points + 5);
    assert_eq!(number(place), deforming.frames[13][5][0]);
}

/// Compares `points[frame]`, in our axes, in m.
fn compare(deforming: &Deforming, answer: &Value, what: &str) {
    for (row, number) in FRAMES.into_iter().enumerate() {
        let found = answer["points"][row].as_array().unwrap();
        let expected = &deforming.frames[number];
        assert_eq!(found.len(), expected.len(), "{what}");
        for (found, expected) in found.iter().zip(expected) {
            for i in 0..3 {
                let x = found[i].as_f64().unwrap();
                let error = (x - f64::from(expected[i])).abs();
                assert!(error < 1e-5, "{what}, frame {number}: {x}, {}", expected[i]);
            }
        }
    }
}

fn ask(folder: &Path, name: &str, from: &str) {
    let question = json!({ "name": name, "frames": FRAMES, "rate": RATE, "mesh": from });
    std::fs::write(folder.join("question.json"), question.to_string()).unwrap();
}

#[test]
fn blender_moves_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let clip = cloth();
    let motion = clip.motion();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("clip.glb", &clip.glb());
    write("clip.usda", clip.usda().as_bytes());
    let sheet = &motion.deforming[0];
    let (pc2, mdd) = caches(sheet, &clip);
    write("clip.pc2", &pc2);
    write("clip.mdd", &mdd);
    let mesh = obj::single(&sheet.name, &sheet.frames[0], &sheet.triangles);
    write("clip.obj", mesh.as_bytes());
    for file in ["clip.glb", "clip.usda", "clip.pc2", "clip.mdd"] {
        for deforming in &motion.deforming {
            if deforming.name != "my cloth" && (file.ends_with("pc2") || file.ends_with("mdd")) {
                continue;
            }
            ask(folder.path(), &deforming.name, "clip.obj");
            let arguments = [&tool("blender_points.py"), file, "question.json"];
            let python = python("DRYSTONE_BLENDER_PYTHON");
            let Some(output) = run(&python, folder.path(), &arguments) else {
                return;
            };
            compare(deforming, &answer(&output), file);
        }
    }
}

#[test]
fn usd_validates_and_has_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let clip = cloth();
    std::fs::write(folder.path().join("clip.usda"), clip.usda()).unwrap();
    for deforming in &clip.motion().deforming {
        ask(folder.path(), &deforming.name, "");
        let arguments = [&tool("usd_points.py"), "clip.usda", "question.json"];
        let python = python("DRYSTONE_USD_PYTHON");
        let Some(output) = run(&python, folder.path(), &arguments) else {
            return;
        };
        let answer = answer(&output);
        assert_eq!(answer["errors"], json!([]));
        compare(deforming, &answer, "usda");
    }
}
