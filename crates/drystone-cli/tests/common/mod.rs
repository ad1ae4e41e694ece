//! What the tests of the program share: running it, and scenes small enough to be quick.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Runs the program in a folder.
pub(crate) fn drystone_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drystone"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the program.
pub(crate) fn drystone(arguments: &[&str]) -> Output {
    drystone_in(&std::env::temp_dir(), arguments)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The output of a command that must succeed.
pub(crate) fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = drystone_in(folder, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

/// The message of a command that must fail with this exit code, without a panic.
pub(crate) fn fail(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = drystone_in(folder, arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    assert!(!message.is_empty(), "{arguments:?} failed in silence");
    message
}

/// The JSON report of a run that must succeed.
pub(crate) fn report(folder: &Path, arguments: &[&str]) -> Value {
    let all = [&["run"], arguments, &["--report", "json"]].concat();
    serde_json::from_str(&succeed(folder, &all)).unwrap()
}

/// A folder of its own with a scene in it.
pub(crate) fn folder_with(name: &str, scene: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, scene).unwrap();
    (folder, path)
}

/// Two disks that fall on a floor.
pub(crate) const FLAT: &str = r#"
look = "Two disks fall and rest."
expect = "the disks rest at heights of 0.5 m"
dimension = 2
seconds = 0.5
dt = 0.01

[[bodies]]
name = "floor"
kind = "fixed"
shape.half_space.normal = [0, 1]

[[bodies]]
name = "left, \"first\""
shape.ball.radius = 0.5
position = [-1, 0.6]
rotation = 30

[[bodies]]
name = "right"
shape.ball.radius = 0.5
position = [1, 0.7]
velocity = [0.5, 0]
spin = 2
"#;

/// Three boxes on each other and a particle above them.
pub(crate) const SOLID: &str = r#"
dimension = 3
seconds = 0.25
dt = 0.005

[[bodies]]
name = "floor"
kind = "fixed"
shape.half_space.normal = [0, 1, 0]

[[bodies]]
name = "stone"
shape.box.size = [1, 0.5, 0.5]
position = [0, 0.25, 0]
repeat.stack.count = 3

[[bodies]]
name = "grain"
kind = "particle"
shape.ball.radius = 0.1
position = [0.1, 1.65, 0]
velocity = [0, -1, 0]
"#;

/// A stone that a force tears out of all numbers after a while.
pub(crate) const RUNAWAY: &str = r#"
dimension = 3
seconds = 1.0
dt = 0.01
gravity = [0, 0, 0]

[[bodies]]
name = "calm"
shape.ball.radius = 0.5
position = [10, 0, 0]

[[bodies]]
name = "wild"
shape.ball.radius = 0.5
mass = 1.0
pushes = [{ force = [1e10, 0, 0], rate = [1e10, 0, 0] }]
linear_damping = 0.0
"#;
