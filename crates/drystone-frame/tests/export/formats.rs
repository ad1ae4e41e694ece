//! Files read back by hand: structure, and poses at every frame.

use super::clip::{Clip, DT, clip};
use drystone_frame::export::{csv, obj, vtk};
use serde_json::Value;

/// The two chunks of a `.glb`.
pub(crate) fn chunks(file: &[u8]) -> (Value, &[u8]) {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(
        (&file[..4], word(4), word(8)),
        (&b"glTF"[..], 2, file.len())
    );
    let text = word(12);
    assert_eq!(&file[16..20], b"JSON");
    assert_eq!(word(20 + text), file.len() - 28 - text);
    assert_eq!(&file[24 + text..28 + text], b"BIN\0");
    (
        serde_json::from_slice(&file[20..20 + text]).unwrap(),
        &file[28 + text..],
    )
}

/// The numbers of an accessor.
pub(crate) fn floats(json: &Value, buffer: &[u8], accessor: &Value) -> Vec<f32> {
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let at = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let start = at(&view["byteOffset"]) + at(&accessor["byteOffset"]);
    let width = match accessor["type"].as_str().unwrap() {
        "SCALAR" => 1,
        "VEC3" => 3,
        _ => 4,
    };
    let count = width * at(&accessor["count"]);
    let bytes = &buffer[start..start + 4 * count];
    let four = |b: &[u8]| f32::from_le_bytes(b.try_into().unwrap());
    bytes.chunks_exact(4).map(four).collect()
}

#[test]
fn gltf_holds_every_pose_of_every_frame() {
    for dimension in [2, 3] {
        let clip = clip(dimension);
        let file = clip.glb();
        let (json, buffer) = chunks(&file);
        let nodes = json["nodes"].as_array().unwrap();
        let animation = &json["animations"][0];
        let mut moving = 0;
        for channel in animation["channels"].as_array().unwrap() {
            let node = &nodes[channel["target"]["node"].as_u64().unwrap() as usize];
            let k = index(&clip, node["name"].as_str().unwrap());
            let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
            let times = floats(&json, buffer, &sampler["input"]);
            let values = floats(&json, buffer, &sampler["output"]);
            assert_eq!(times.len(), clip.frames.len());
            for (number, frame) in clip.frames.iter().enumerate() {
                assert_eq!(times[number], frame.time as f32);
                if channel["target"]["path"] == "translation" {
                    let expected = frame.positions[k].map(|x| x as f32);
                    assert_eq!(values[3 * number..3 * number + 3], expected);
                    moving += 1;
                } else {
                    let found = &values[4 * number..4 * number + 4];
                    let same: f64 = (0..4)
                        .map(|i| f64::from(found[i]) * frame.rotations[k][i])
                        .sum();
                    assert!(
                        (same.abs() - 1.0).abs() < 1e-6,
                        "the same turn, of either sign"
                    );
                    // From frame to frame the sign does not jump.
                    let last = &values[4 * number.saturating_sub(1)..];
                    assert!((0..4).map(|i| last[i] * found[i]).sum::<f32>() > 0.0);
                }
            }
        }
        let fixed = clip
            .stage
            .objects
            .iter()
            .filter(|object| object.fixed)
            .count();
        assert_eq!(
            moving,
            (clip.stage.objects.len() - fixed) * clip.frames.len()
        );
    }
}

#[test]
fn gltf_holds_equal_forms_once() {
    let file = clip(3).glb();
    let (json, _) = chunks(&file);
    let position = |name: &str| {
        let mut nodes = json["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|node| node["name"] == name).unwrap();
        let mesh = &json["meshes"][node["mesh"].as_u64().unwrap() as usize];
        mesh["primitives"][0]["attributes"]["POSITION"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(position("box 1"), position("box_1"));
    assert_eq!(position("ball"), position("small \"ball\""));
    assert_ne!(position("ball"), position("box 1"));
}

fn index(clip: &Clip, name: &str) -> usize {
    clip.stage
        .objects
        .iter()
        .position(|object| object.name == name)
        .unwrap()
}

#[test]
fn a_recording_without_motion_or_objects_is_still_a_file() {
    let mut still = clip(3);
    still.frames.truncate(1);
    let file = still.glb();
    let (json, _) = chunks(&file);
    assert!(json.get("animations").is_none());
    assert!(!still.usda().contains("timeSamples"));
    let mut empty = still;
    empty.stage.objects.clear();
    assert!(empty.glb().starts_with(b"glTF"));
}

#[test]
fn usd_holds_every_pose_with_all_its_digits() {
    let clip = clip(3);
    let text = clip.usda();
    let body = text.split("def Mesh \"capsule\"").nth(1).unwrap();
    let samples = body
        .split("xformOp:translate.timeSamples = {")
        .nth(1)
        .unwrap();
    let k = index(&clip, "capsule");
    let lines = samples.trim_start().lines().zip(&clip.frames);
    for (number, (line, frame)) in lines.enumerate() {
        let (code, tuple) = line.trim().split_once(": ").unwrap();
        assert_eq!(code, number.to_string());
        let numbers = tuple.trim_matches(['(', ')', ',']).split(", ");
        let found: Vec<f64> = numbers.map(|x| x.parse().unwrap()).collect();
        assert_eq!(found, frame.positions[k]);
    }
}

#[test]
fn obj_puts_vertices_where_the_bodies_are() {
    let clip = clip(3);
    let frame = &clip.frames[17];
    let text = obj::frame(&clip.stage, &clip.model(), frame);
    let mut vertices: Vec<Vec<f64>> = Vec::new();
    let mut name = "";
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').unwrap();
        let numbers = rest.split(' ');
        match kind {
            "o" => name = rest,
            "v" => {
                let vertex: Vec<f64> = numbers.map(|x| x.parse().unwrap()).collect();
                if name == "ball" {
                    let centre = frame.positions[index(&clip, "ball")];
                    let square: f64 = (0..3).map(|i| (vertex[i] - centre[i]).powi(2)).sum();
                    assert!((square.sqrt() - 0.25).abs() < 1e-12);
                }
                vertices.push(vertex);
            }
            "f" => assert!(
                numbers
                    .into_iter()
                    .all(|k| (1..=vertices.len()).contains(&k.parse().unwrap()))
            ),
            _ => {}
        }
    }
    assert_eq!(
        text.lines().filter(|line| line.starts_with("o ")).count(),
        clip.stage.objects.len()
    );
}

/// An array of a `.vtp` by its name.
fn array(file: &[u8], name: &str) -> Vec<f64> {
    let text = String::from_utf8_lossy(file);
    let tag = text
        .split("<DataArray")
        .find(|tag| tag.contains(&format!("Name=\"{name}\"")));
    let offset = tag.unwrap().split("offset=\"").nth(1).unwrap();
    let offset: usize = offset[..offset.find('"').unwrap()].parse().unwrap();
    let mark = b"encoding=\"raw\">\n_";
    let data = file
        .windows(mark.len())
        .position(|window| window == mark)
        .unwrap()
        + mark.len();
    let start = data + offset;
    let length = u64::from_le_bytes(file[start..start + 8].try_into().unwrap()) as usize;
    let bytes = &file[start + 8..start + 8 + length];
    bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn contact_forces_are_impulses_over_the_length_of_a_step() {
    let clip = clip(3);
    let file = vtk::contacts(&clip.frames[7], DT);
    // 0.125 N·s times 1, 2, 3 in 1/120 s.
    assert_eq!(
        array(&file, "force"),
        [0.0, 15.0, 0.0, 0.0, 30.0, 0.0, 0.0, 45.0, 0.0]
    );
    assert_eq!(array(&file, "Points")[3..6], [0.5, 0.0, 0.25]);
    let bodies = vtk::bodies(&clip.stage, &clip.model(), &clip.frames[7]);
    let velocities = array(&bodies, "velocity");
    assert_eq!(velocities.len(), array(&bodies, "Points").len());
    assert_eq!(velocities[..3], [1.0, 2.0, 3.0]);
}

#[test]
fn series_names_its_files_at_their_times() {
    let text = vtk::series(&[(0.5, "a&b.vtp".into(), "c.vtp".into())]);
    assert!(
        text.contains("timestep=\"0.5\" part=\"0\" file=\"a&amp;b.vtp\""),
        "{text}"
    );
    assert!(text.contains("part=\"1\" file=\"c.vtp\""), "{text}");
}

#[test]
fn tables_have_as_many_fields_as_columns() {
    for dimension in [2, 3] {
        let clip = clip(dimension);
        let columns = if dimension == 2 { 3 } else { 7 };
        let mut row = String::new();
        csv::row(dimension, &clip.frames[3], &mut row);
        assert_eq!(
            row.split(',').count(),
            2 + columns * clip.stage.objects.len()
        );
        assert!(csv::header(&clip.stage).contains("\"small \"\"ball\"\".x\""));
    }
}
