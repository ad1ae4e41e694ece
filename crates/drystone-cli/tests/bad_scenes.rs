//! Scenes that are wrong: each is refused with the place in the file, the object, the field and
//! what would be right.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{drystone_in, fail, folder_with, stderr};

/// A scene with one body `ball`, in which `extra` stands on line 8 or below.
fn with_ball(extra: &str) -> String {
    format!(
        "dimension = 3\nseconds = 0.1\n\n[[bodies]]\nname = \"floor\"\nkind = \"fixed\"\n\
         shape.half_space.normal = [0, 1, 0]\n[[bodies]]\nname = \"ball\"\n{extra}\n"
    )
}

/// Checks that `check` and `run` refuse a scene at a line, naming all of `words`.
fn refused(scene: &str, line: usize, words: &[&str]) {
    let (folder, _) = folder_with("bad.toml", scene);
    for command in ["check", "run"] {
        let message = fail(folder.path(), &[command, "bad.toml"], 1);
        let place = format!("bad.toml:{line}:");
        assert!(message.contains(&place), "{place} is not in\n{message}");
        for word in words {
            assert!(message.contains(word), "{word:?} is not in\n{message}");
        }
    }
}

/// A ball, of which line 10 is wrong.
fn ball_refused(extra: &str, words: &[&str]) {
    let all = [&["body `ball`"], words].concat();
    refused(&with_ball(extra), 10, &all);
}

#[test]
fn numbers_that_are_none() {
    for bad in ["nan", "inf", "-inf"] {
        let extra = format!("position = [0, {bad}, 0]\nshape.ball.radius = 0.5");
        ball_refused(&extra, &["position"]);
        let extra = format!("velocity = [{bad}, 0, 0]\nshape.ball.radius = 0.5");
        ball_refused(&extra, &["velocity"]);
        ball_refused(&format!("shape.ball.radius = {bad}"), &["radius"]);
    }
}

#[test]
fn mass_and_density() {
    for bad in ["0", "-2.5", "nan", "inf"] {
        ball_refused(&format!("mass = {bad}\nshape.ball.radius = 0.5"), &["mass"]);
        ball_refused(
            &format!("density = {bad}\nshape.ball.radius = 0.5"),
            &["density"],
        );
    }
}

#[test]
fn sizes() {
    for bad in ["0", "-1"] {
        ball_refused(&format!("shape.ball.radius = {bad}"), &["radius"]);
        ball_refused(&format!("shape.box.size = [1, {bad}, 1]"), &["size"]);
        ball_refused(
            &format!("shape.capsule = {{ length = 1, radius = {bad} }}"),
            &["radius"],
        );
        ball_refused(
            &format!("shape.cylinder = {{ height = {bad}, radius = 1 }}"),
            &["height"],
        );
        ball_refused(
            &format!("shape.cone = {{ height = 1, radius = {bad} }}"),
            &["radius"],
        );
    }
}

#[test]
fn a_hull_needs_a_simplex() {
    ball_refused(
        "shape.hull.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]",
        &["points"],
    );
    // Four points in a plane are none either.
    ball_refused(
        "shape.hull.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]",
        &["hull"],
    );
}

#[test]
fn mesh_indices_out_of_range() {
    ball_refused(
        "shape.mesh = { points = [[0,0,0],[1,0,0],[0,0,1]], triangles = [[0,1,7]] }\nkind = \"fixed\"",
        &["triangles", "7"],
    );
}

#[test]
fn restitution_and_friction() {
    for bad in ["-0.1", "1.5", "nan"] {
        let extra = format!("restitution = {bad}\nshape.ball.radius = 0.5");
        ball_refused(&extra, &["restitution"]);
    }
    for bad in ["-0.1", "nan", "inf"] {
        let extra = format!("friction = {bad}\nshape.ball.radius = 0.5");
        ball_refused(&extra, &["friction"]);
    }
    let material = "dimension = 3\n[[materials]]\nname = \"ice\"\nfriction = -1\n";
    refused(material, 4, &["material `ice`", "friction"]);
}

#[test]
fn settings() {
    for bad in ["0", "-0.01", "nan", "inf"] {
        refused(&format!("dimension = 3\ndt = {bad}\n"), 2, &["dt"]);
    }
    refused("dimension = 4\n", 1, &["dimension"]);
    refused("dimension = 3\nseconds = -1\n", 2, &["seconds"]);
    refused(
        "dimension = 3\nsolver.name = \"magic\"\n",
        2,
        &["solver", "magic", "pgs"],
    );
    refused(
        "dimension = 3\nstrategy = \"magic\"\n",
        2,
        &["strategy", "magic", "velocity"],
    );
}

#[test]
fn names() {
    let twice = "dimension = 2\n[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\n\
                 [[bodies]]\nname = \"a\"\nshape.ball.radius = 1\nposition = [5, 0]\n";
    let (folder, _) = folder_with("bad.toml", twice);
    let message = fail(folder.path(), &["check", "bad.toml"], 1);
    assert!(
        message.contains("bad.toml:6:") && message.contains("`a`"),
        "{message}"
    );
    ball_refused(
        "material = \"cheese\"\nshape.ball.radius = 1",
        &["material", "cheese"],
    );
}

#[test]
fn unknown_keys_and_wrong_types() {
    ball_refused("colour = \"red\"\nshape.ball.radius = 1", &["colour"]);
    ball_refused(
        "shape.ball.raduis = 1",
        &["raduis", "did you mean `radius`?"],
    );
    ball_refused("shape.bal.radius = 1", &["bal", "`ball`"]);
    ball_refused("shape.ball.radius = \"wide\"", &["radius", "number"]);
    ball_refused("position = [0, 1]\nshape.ball.radius = 1", &["position"]);
    refused("dimension = 3\nbodies = 7\n", 2, &["bodies"]);
}

#[test]
fn rotations() {
    ball_refused(
        "rotation = [0, 0, 0, 1.5]\nshape.ball.radius = 1",
        &["rotation"],
    );
    let near =
        with_ball("rotation = [0, 0, 0, 1.0005]\nshape.ball.radius = 1\nposition = [0, 2, 0]");
    let (folder, _) = folder_with("near.toml", &near);
    let report = common::report(folder.path(), &["near.toml"]);
    assert_eq!(report["bodies"][1]["rotation"][3], 1.0);
}

#[test]
fn broken_toml_and_json() {
    refused("dimension = \n", 1, &[]);
    refused("dimension = 3\n[[bodies]\n", 2, &[]);
    let (folder, _) = folder_with("bad.json", "{\n  \"dimension\": 3,\n  \"bodies\": [}\n");
    let message = fail(folder.path(), &["check", "bad.json"], 1);
    assert!(message.contains("bad.json:3:"), "{message}");
    let (folder, _) = folder_with("empty.toml", "");
    assert!(fail(folder.path(), &["check", "empty.toml"], 1).contains("dimension"));
}

/// Bodies that overlap are simulated, with a warning at most: nothing is refused or lost.
#[test]
fn overlap_is_bounded() {
    for gap in ["0", "0.1"] {
        let scene = with_ball(&format!(
            "shape.ball.radius = 0.5\nposition = [0, 1, 0]\n[[bodies]]\nname = \"other\"\n\
             shape.ball.radius = 0.5\nposition = [{gap}, 1, 0]"
        ));
        let (folder, _) = folder_with("overlap.toml", &scene);
        let output = drystone_in(folder.path(), &["check", "overlap.toml"]);
        let all = stderr(&output) + &common::stdout(&output);
        assert!(!all.contains("panicked"), "{all}");
        assert!(all.contains("ball") && all.contains("other"), "{all}");
        if output.status.success() {
            let report = common::report(folder.path(), &["overlap.toml", "--seconds", "1"]);
            let speed = report["bodies"][1]["velocity"][0].as_f64().unwrap();
            assert!(
                speed.abs() < 10.0,
                "the overlap was blown apart at {speed} m/s"
            );
        }
    }
}

fn nonsense(folder: &Path, name: &str, bytes: &[u8]) -> String {
    std::fs::write(folder.join(name), bytes).unwrap();
    let message = fail(folder, &["check", name], 1);
    assert!(message.contains(name), "{message}");
    assert!(message.len() < 5_000, "{} bytes of message", message.len());
    message
}

#[test]
fn nonsense_is_refused_in_few_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["zeros.toml", "zeros.json"] {
        // 100 MB that take no space on the disk.
        let file = std::fs::File::create(folder.join(name)).unwrap();
        file.set_len(100_000_000).unwrap();
        assert!(fail(folder, &["check", name], 1).contains("64 MiB"));

        nonsense(folder, name, &b"\xff\xfe\x00\x80".repeat(1_000));
        nonsense(folder, name, "κ[{=\"".repeat(1_000_000).as_bytes());
        nonsense(folder, name, &b"[".repeat(1_000_000));
        nonsense(folder, name, &b"{\"a\":".repeat(100_000));
        nonsense(folder, name, "a = [".repeat(100_000).as_bytes());
        nonsense(
            folder,
            name,
            "x\ty\u{1b}[31m\u{7}\u{202e}\n".repeat(9).as_bytes(),
        );
    }
    nonsense(folder, "scene.txt", b"dimension = 3");
    nonsense(folder, "scene", b"dimension = 3");
    std::fs::create_dir(folder.join("folder.toml")).unwrap();
    assert!(fail(folder, &["run", "folder.toml"], 1).contains("folder.toml"));
}
