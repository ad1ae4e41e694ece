//! One function for each reader: whatever the bytes, it comes back. `fuzz/` drives these by
//! libFuzzer, `tests/fuzzing` by mutations of the same corpus with fixed seeds.

use std::io::Cursor;
use std::path::Path;

use drystone_frame::recording::{Reader, Scrubber, recover};
use drystone_scene::import::{ImportOptions, Imported, import_bytes};
use drystone_scene::schema::Shape;
use drystone_scene::{Scene, export};

/// Where models are said to be. Files beside them are not there.
const FOLDER: &str = "/nonexistent";
/// Bodies that are built; more take longer than they teach.
const MAX_BODIES: usize = 40;

/// Recordings, as they are and with checksums put right, so that what is behind them is read too.
pub fn recording(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), with_checksums(bytes)] {
        let mut frames = 0;
        if let Ok(mut reader) = Reader::open(&bytes[..]) {
            frames = reader.records().filter(Result::is_ok).count();
        }
        if let Ok(recovered) = recover(&bytes[..]) {
            assert_eq!(recovered.frames, frames as u64);
            assert!(recovered.good_bytes <= bytes.len() as u64);
        }
        if let Ok(mut scrubber) = Scrubber::open(Cursor::new(&bytes)) {
            for number in [0, 1, u64::MAX] {
                drop(scrubber.frame(number));
            }
        }
    }
}

/// Contact problems in both formats.
pub fn problem(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(problem) = drystone::contact::problem::file::read(text)
    {
        drop(problem.to_json());
    }
}

/// Wavefront meshes.
pub fn obj(bytes: &[u8]) {
    imported("mesh.obj", bytes);
}

/// STL meshes, both kinds.
pub fn stl(bytes: &[u8]) {
    imported("mesh.stl", bytes);
}

/// Robots.
pub fn urdf(bytes: &[u8]) {
    imported("robot.urdf", bytes);
}

/// MuJoCo's models.
pub fn mjcf(bytes: &[u8]) {
    imported("model.xml", bytes);
}

/// glTF, text and binary.
pub fn gltf(bytes: &[u8]) {
    imported("model.glb", bytes);
}

/// Stages.
pub fn usd(bytes: &[u8]) {
    imported("stage.usda", bytes);
}

/// Scene files.
pub fn scene(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for scene in [
            Scene::from_toml(text, "f.toml"),
            Scene::from_json(text, "f.json"),
        ] {
            match scene {
                Ok(scene) => {
                    if let Ok(written) = scene.to_toml() {
                        let again = Scene::from_toml(&written, "g.toml");
                        assert!(again.is_ok(), "{written}");
                    }
                }
                Err(error) => shown(&error, "f."),
            }
        }
    }
}

/// An error names the file, and the place it points at is in it.
fn shown(error: &drystone_scene::SceneError, file: &str) {
    assert!(error.to_string().contains(file), "{error}");
    if let (Some(span), Some(text)) = (error.span(), error.source_text()) {
        assert!(text.get(span).is_some(), "{error}");
    }
}

fn imported(name: &str, bytes: &[u8]) {
    let path = Path::new(FOLDER).join(name);
    match import_bytes(&path, bytes.to_vec(), &ImportOptions::default()) {
        Ok(Imported { scene, .. }) => {
            drop(scene.to_toml());
            if scene.bodies.len() <= MAX_BODIES && !is_slow(&scene) && scene.build().is_ok() {
                drop(export::glb(&scene));
            }
        }
        // What is wrong may be wrong in a file that the model names.
        Err(error) => shown(&error, FOLDER),
    }
}

/// Whether solids would have to be taken apart, which takes tenths of a second each.
fn is_slow(scene: &Scene) -> bool {
    let is_solid = |shape: &Shape| {
        matches!(
            shape,
            Shape::Mesh {
                decompose: true,
                ..
            }
        )
    };
    let mut shapes = scene.bodies.iter().filter_map(|body| body.shape.as_ref());
    shapes.any(is_solid)
}

/// The bytes with the checksum of each block put right, as far as blocks can be told.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 16;
    while let Some(head) = bytes.get(at..at + 32) {
        let length = u64::from_le_bytes(head[16..24].try_into().unwrap_or_default());
        let end = usize::try_from(length)
            .ok()
            .and_then(|l| l.checked_add(at + 32));
        let Some(end) = end.filter(|&end| end <= bytes.len()) else {
            break;
        };
        let checked = [&bytes[at..at + 12], &bytes[at + 16..end]].concat();
        bytes[at + 12..at + 16].copy_from_slice(&checksum(&checked).to_le_bytes());
        at = end;
    }
    bytes
}

/// CRC-32 as zlib has it, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1))
        })
    })
}
