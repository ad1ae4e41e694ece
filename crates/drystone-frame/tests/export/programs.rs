//! Files opened by the programs they are for. Each test says what to install where it is skipped.
//!
//! | variable | holds | what it takes |
//! |---|---|---|
//! | `DRYSTONE_GLTF_VALIDATOR` | a folder with `node_modules` | `npm install gltf-validator` |
//! | `DRYSTONE_USD_PYTHON` | a Python | `pip install usd-core` |
//! | `DRYSTONE_VTK_PYTHON` | a Python | `pip install vtk` |
//! | `DRYSTONE_BLENDER_PYTHON` | a Python 3.11 | `pip install bpy` |

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::clip::{Clip, RATE, clip, cloth};
use drystone_frame::export::vtk;
use serde_json::{Value, json};

pub(crate) fn tool(name: &str) -> String {
    format!("{}/tests/export/tools/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script; `None`, and a word why, where its program is not installed (exit code 77).
pub(crate) fn run(program: &str, folder: &Path, arguments: &[&str]) -> Option<Output> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.code() == Some(77) => {
            eprintln!(
                "skipped: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            None
        }
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: {program}: {error}");
            None
        }
    }
}

pub(crate) fn python(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| "python3".to_owned())
}

/// What a script printed, which must be JSON in its last line.
pub(crate) fn answer(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}\n{errors}"))
}

#[test]
fn the_khronos_validator_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut still = clip(3);
    still.frames.truncate(1);
    for (name, clip) in [
        ("3d.glb", clip(3)),
        ("2d.glb", clip(2)),
        ("still.glb", still),
        ("cloth.glb", cloth()),
    ] {
        std::fs::write(folder.path().join(name), clip.glb()).unwrap();
        let Some(output) = run("node", folder.path(), &[&tool("gltf.cjs"), name]) else {
            return;
        };
        let report = answer(&output);
        assert_eq!(report["numErrors"], 0, "{report}");
        assert_eq!(report["numWarnings"], 0, "{report}");
    }
}

#[test]
fn usd_validates_and_its_bodies_are_where_ours_are() {
    let folder = tempfile::tempdir().unwrap();
    for dimension in [2, 3] {
        let clip = clip(dimension);
        std::fs::write(folder.path().join("clip.usda"), clip.usda()).unwrap();
        ask(&clip, folder.path(), "question.json");
        let arguments = [&tool("usd.py"), "clip.usda", "question.json"];
        let Some(output) = run(&python("DRYSTONE_USD_PYTHON"), folder.path(), &arguments) else {
            return;
        };
        let answer = answer(&output);
        assert!(answer["validators"].as_u64().unwrap() > 20, "{answer}");
        assert_eq!(answer["errors"], json!([]));
        assert_eq!(answer["frames"], json!([0.0, 30.0, RATE]));
        let moving = clip
            .stage
            .objects
            .iter()
            .filter(|object| !object.fixed)
            .count();
        assert_eq!(answer["rigid_bodies"], moving);
        // The masses of what moves are 1.5 kg and 1 kg more for each place on the stage.
        let masses = clip.stage.objects.iter().enumerate();
        let masses = masses.filter(|(_, object)| !object.fixed);
        let mass: f64 = masses.map(|(k, _)| 1.5 + k as f64).sum();
        assert!((answer["mass"].as_f64().unwrap() - mass).abs() < 1e-5);
        let first = clip.stage.objects[1].name.as_str();
        assert_eq!(answer["joints"]["Fixed"], json!([["floor"], [first]]));
        assert_eq!(answer["joints"].as_object().unwrap().len(), 5);
        assert_eq!(answer["hinge_limits"], json!([-30.0, 60.0]));
        // Objects in turn have 0, 0.1 and 0.2.
        let friction = answer["friction"].as_array().unwrap();
        assert_eq!(friction.len(), 3, "{answer}");
        compare(&clip, &answer, 1e-9);
    }
}

#[test]
fn blender_shows_the_bodies_where_ours_are() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(3);
    std::fs::write(folder.path().join("clip.glb"), clip.glb()).unwrap();
    std::fs::write(folder.path().join("clip.usda"), clip.usda()).unwrap();
    ask(&clip, folder.path(), "question.json");
    for file in ["clip.glb", "clip.usda"] {
        let arguments = [&tool("blender.py"), file, "question.json"];
        let Some(output) = run(
            &python("DRYSTONE_BLENDER_PYTHON"),
            folder.path(),
            &arguments,
        ) else {
            return;
        };
        let answer = answer(&output);
        assert_eq!(answer["range"], json!([0.0, 30.0]), "{file}: {answer}");
        let names: Vec<&str> = clip.stage.objects.iter().map(|o| o.name.as_str()).collect();
        if file == "clip.glb" {
            // The two parts of the dumb-bell are objects of their own.
            assert_eq!(answer["objects"].as_array().unwrap().len(), names.len() + 2);
            for name in names {
                assert!(
                    answer["objects"].as_array().unwrap().contains(&name.into()),
                    "{name}"
                );
            }
        }
        compare(&clip, &answer, 1e-5);
    }
}

#[test]
fn vtk_reads_points_and_forces() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(3);
    let frame = &clip.frames[7];
    let write =
        |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("bodies.vtp", vtk::bodies(&clip.stage, &clip.model(), frame));
    write("contacts.vtp", vtk::contacts(frame, 0.125));
    write("none.vtp", vtk::contacts(&clip.frames[8], 0.125));
    let arguments = [
        &tool("vtk_read.py"),
        "bodies.vtp",
        "contacts.vtp",
        "none.vtp",
    ];
    let Some(output) = run(&python("DRYSTONE_VTK_PYTHON"), folder.path(), &arguments) else {
        return;
    };
    let answer = answer(&output);
    assert_eq!(answer[1]["points"], 3);
    assert_eq!(
        answer[1]["force"],
        json!([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 3.0, 0.0]])
    );
    assert_eq!(answer[2]["points"], 0);
    let model = clip.model();
    let meshes = || {
        model
            .objects
            .iter()
            .flatten()
            .map(|placed| &model.meshes[placed.mesh])
    };
    assert_eq!(
        answer[0]["points"],
        meshes().map(|mesh| mesh.points.len()).sum::<usize>()
    );
    assert_eq!(
        answer[0]["polys"],
        meshes().map(|mesh| mesh.triangles.len()).sum::<usize>()
    );
}

/// Bodies and frames that are looked at.
const BODIES: [&str; 5] = ["ball", "capsule", "plate", "tetrahedron", "dumb-bell"];
const FRAMES: [usize; 5] = [0, 1, 13, 22, 30];

fn bodies(clip: &Clip) -> Vec<(usize, &'static str)> {
    let index = |name: &&str| {
        clip.stage
            .objects
            .iter()
            .position(|object| object.name == **name)
    };
    BODIES
        .iter()
        .filter_map(|name| Some((index(name)?, *name)))
        .collect()
}

fn ask(clip: &Clip, folder: &Path, file: &str) {
    let names: Vec<&str> = bodies(clip).iter().map(|(_, name)| *name).collect();
    let question = json!({ "bodies": names, "frames": FRAMES, "rate": RATE });
    std::fs::write(folder.join(file), question.to_string()).unwrap();
}

/// Compares `positions[body][frame]`, in our axes, in m.
fn compare(clip: &Clip, answer: &Value, tolerance: f64) {
    for (row, (k, name)) in bodies(clip).into_iter().enumerate() {
        for (column, number) in FRAMES.into_iter().enumerate() {
            let expected = clip.frames[number].positions[k];
            for i in 0..3 {
                let found = answer["positions"][row][column][i].as_f64().unwrap();
                let error = (found - expected[i]).abs();
                assert!(
                    error < tolerance,
                    "{name} at frame {number}: {found}, not {}",
                    expected[i]
                );
            }
        }
    }
}
