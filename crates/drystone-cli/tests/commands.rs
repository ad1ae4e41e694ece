//! Every command once, as a newcomer would type it.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{FLAT, SOLID, drystone, fail, folder_with, stderr, stdout, succeed};
use serde_json::Value;

#[test]
fn the_summary_is_for_people() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let text = succeed(folder.path(), &["run", "flat.toml", "--out", "plot.svg"]);
    for words in [
        "flat (2D, 3 bodies)",
        "Two disks fall and rest.",
        "0.50 s in 50 steps of 10 ms",
        "per step",
        "2 at most",
        "penetration",
        "residual",
        "energy",
        "balanced to",
        "the disks rest at heights of 0.5 m",
        "plot.svg",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

#[test]
fn the_summary_names_the_worst_contact() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let text = succeed(folder.path(), &["run", "solid.toml", "--iterations", "2"]);
    let line = text.lines().find(|line| line.contains("residual")).unwrap();
    assert!(
        line.contains(" at step ") && line.contains(" on "),
        "{line}"
    );
}

#[test]
fn the_default_scene_is_quick() {
    let start = Instant::now();
    let output = drystone(&["run"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("penetration"));
    assert!(start.elapsed() < Duration::from_secs(120));
}

#[test]
fn the_list_names_the_gallery() {
    let text = stdout(&drystone(&["list"]));
    for entry in drystone_scene::gallery::entries() {
        let listed = |line: &str| line.split_whitespace().next() == Some(entry.name);
        assert!(text.lines().any(listed), "{} is not in\n{text}", entry.name);
    }
    assert!(text.contains("(the default)"));
}

#[test]
fn a_sound_scene_is_described() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let text = succeed(folder.path(), &["check", "solid.toml"]);
    for words in [
        "solid is a sound scene (3D)",
        "5 bodies: 4 that contact moves, 1 fixed",
        "1 ball, 3 boxes, 1 half-space",
        "0.25 s in 50 steps of 5.0 ms",
        "pgs",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

#[test]
fn json_scenes_are_read_too() {
    let scene = r#"{"dimension": 2, "seconds": 0.1, "bodies": [
        {"name": "disk", "shape": {"ball": {"radius": 0.5}}, "position": [0, 1]}]}"#;
    let (folder, _) = folder_with("scene.json", scene);
    let report = common::report(folder.path(), &["scene.json"]);
    assert_eq!(report["bodies"][0]["name"], "disk");
}

#[test]
fn the_schema_is_json() {
    let schema: Value = serde_json::from_str(&stdout(&drystone(&["schema"]))).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(properties.contains_key(required.as_str().unwrap()));
    }
    // Whatever the gallery writes at the top of a file, the schema knows.
    for entry in drystone_scene::gallery::entries() {
        let scene = serde_json::to_value(entry.scene().unwrap()).unwrap();
        for key in scene.as_object().unwrap().keys() {
            assert!(properties.contains_key(key), "{key} of {}", entry.name);
        }
    }
}

#[test]
fn shells_get_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&drystone(&["completions", shell]));
        assert!(
            script.contains("drystone") && script.contains("picture"),
            "{shell}"
        );
    }
    assert!(!drystone(&["completions", "abacus"]).status.success());
}

#[test]
fn help_and_version_are_there() {
    let version = stdout(&drystone(&["--version"]));
    assert_eq!(
        version.trim(),
        concat!("drystone ", env!("CARGO_PKG_VERSION"))
    );
    let help = stdout(&drystone(&["--help"]));
    for command in [
        "run",
        "picture",
        "list",
        "check",
        "schema",
        "completions",
        "Examples:",
    ] {
        assert!(help.contains(command), "{command}");
    }
    for command in ["run", "picture"] {
        assert!(
            stdout(&drystone(&[command, "--help"])).contains("Examples:"),
            "{command}"
        );
    }
}

#[test]
fn an_unknown_scene_gets_a_suggestion() {
    let folder = std::env::temp_dir();
    let known = drystone_scene::gallery::DEFAULT;
    let message = fail(&folder, &["run", &known[1..]], 1);
    assert!(
        message.contains(&format!("did you mean `{known}`")),
        "{message}"
    );
    let message = fail(&folder, &["check", "qqqqqqqqqqqqqqqqqqqq"], 1);
    assert!(
        message.contains("qqqq") && message.contains("drystone list"),
        "{message}"
    );
    let message = fail(&folder, &["run", "no-such-folder/scene.toml"], 1);
    assert!(message.contains("no-such-folder/scene.toml"), "{message}");
    fail(&folder, &["run", ""], 1);
}

#[test]
fn options_that_make_no_sense_are_usage_errors() {
    let folder = std::env::temp_dir();
    for (option, value) in [
        ("--seconds", "-1"),
        ("--seconds", "nan"),
        ("--seconds", "soon"),
        ("--dt", "0"),
        ("--dt", "-0.01"),
        ("--dt", "inf"),
        ("--iterations", "0"),
        ("--iterations", "-3"),
        ("--tolerance", "-1e-6"),
        ("--threads", "0"),
        ("--solver", "magic"),
        ("--report", "yaml"),
    ] {
        let message = fail(&folder, &["run", option, value], 2);
        assert!(
            message.contains(option) && message.contains(value),
            "{message}"
        );
    }
    fail(&folder, &["jump"], 2);
}

#[test]
fn an_endless_run_is_refused() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let message = fail(
        folder.path(),
        &["run", "flat.toml", "--seconds", "1e300"],
        1,
    );
    assert!(
        message.contains("steps") && message.contains("--dt"),
        "{message}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    for arguments in [
        &["list"][..],
        &["schema"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_drystone"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}
