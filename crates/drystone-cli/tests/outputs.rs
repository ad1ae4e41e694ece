//! Files that a run leaves behind, and files that can't be written.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{FLAT, SOLID, fail, folder_with, report, succeed};

/// Rows of a table without quotes in its fields, but for the header.
fn rows(path: &Path) -> (String, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let numbers = |line: &str| {
        line.split(',')
            .map(|field| field.parse().unwrap())
            .collect()
    };
    (header, lines.map(numbers).collect())
}

#[test]
fn poses_of_a_flat_run_are_a_table() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let report = report(folder.path(), &["flat.toml", "--out", "poses.csv"]);
    let (header, rows) = rows(&folder.path().join("poses.csv"));
    assert_eq!(
        header,
        "step,time_s,floor.x,floor.y,floor.angle,\"left, \"\"first\"\".x\",\
         \"left, \"\"first\"\".y\",\"left, \"\"first\"\".angle\",right.x,right.y,right.angle"
    );
    assert_eq!(rows.len() as u64, report["steps"].as_u64().unwrap() + 1);
    assert!(rows.iter().all(|row| row.len() == 11));
    assert_eq!(rows[0][..2], [0.0, 0.0]);
    assert_eq!(rows[0][5..7], [-1.0, 0.6]);
    // The last row is the state of the report.
    let last = rows.last().unwrap();
    let right = &report["bodies"][2];
    assert_eq!(last[0], 50.0);
    assert_eq!(right["position"], serde_json::json!(last[8..10]));
    assert_eq!(right["rotation"], last[10]);
}

#[test]
fn poses_of_a_solid_run_are_a_table() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let arguments = [
        "run",
        "solid.toml",
        "--report",
        "json",
        "--out",
        "poses.CSV",
    ];
    let report = succeed(folder.path(), &arguments);
    let path = folder.path().join("poses.CSV");
    let (header, rows) = rows(&path);
    assert!(header.starts_with(
        "step,time_s,floor.x,floor.y,floor.z,floor.qx,floor.qy,floor.qz,floor.qw,stone 1.x"
    ));
    assert_eq!(header.split(',').count(), 2 + 5 * 7);
    assert_eq!(rows.len(), 51);
    // The last row has the numbers of the report, bit for bit.
    let words = report.split(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)));
    let reported: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    for number in &rows[50][2..] {
        assert!(reported.contains(number), "{number:?} is not in\n{report}");
    }
}

#[test]
fn plots_are_drawn_as_svg() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    succeed(folder.path(), &["run", "flat.toml", "--out", "plot.svg"]);
    let svg = std::fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    for label in [
        "kinetic",
        "potential",
        "total",
        "penetration / ",
        "residual / (m/s)",
    ] {
        assert!(svg.contains(label), "{label}");
    }
    // A curve of the fall has many corners.
    let corners = |node: roxmltree::Node<'_, '_>| {
        let path = node.attribute("d").or(node.attribute("points"));
        path.map_or(0, |path| path.split([' ', 'L', ',']).count())
    };
    assert!(document.descendants().map(corners).max().unwrap() > 40);
}

#[test]
fn the_last_frame_of_a_run_is_the_picture_of_its_end() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let size = ["--size", "320x240"];
    let run = ["run", "flat.toml", "--out", "frame.png"];
    succeed(folder.path(), &[&run[..], &size].concat());
    let picture = ["picture", "flat.toml", "--out", "still.png"];
    succeed(folder.path(), &[&picture[..], &size].concat());
    let frame = decoded(&folder.path().join("frame.png"));
    assert!(colours(&frame) > 20);
    assert!(frame == decoded(&folder.path().join("still.png")));
    let bad = [&run[..], &["--size", "99999x99999"]].concat();
    let message = fail(folder.path(), &bad, 1);
    assert!(message.contains("99999"), "{message}");
    assert!(frame == decoded(&folder.path().join("frame.png")), "kept");
}

fn decoded(path: &Path) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

fn colours(pixels: &[u8]) -> usize {
    let all: std::collections::BTreeSet<&[u8]> = pixels.chunks(3).collect();
    all.len()
}

#[test]
fn a_picture_has_the_size_that_was_asked_for() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let arguments = [
        "picture",
        "solid.toml",
        "--out",
        "still.png",
        "--size",
        "160x90",
    ];
    let words = succeed(
        folder.path(),
        &[&arguments[..], &["--at", "0.1", "--contacts"]].concat(),
    );
    assert!(
        words.contains("still.png") && words.contains("0.10 s"),
        "{words}"
    );
    let path = folder.path().join("still.png");
    let pixels = decoded(&path);
    assert_eq!(pixels.len(), 3 * 160 * 90);
    assert!(colours(&pixels) > 20);
    // The same command makes the same bytes.
    let first = std::fs::read(&path).unwrap();
    succeed(
        folder.path(),
        &[&arguments[..], &["--at", "0.1", "--contacts"]].concat(),
    );
    assert_eq!(std::fs::read(&path).unwrap(), first);
}

#[test]
fn a_picture_that_is_too_large_is_refused() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let arguments = [
        "picture",
        "flat.toml",
        "--out",
        "still.png",
        "--size",
        "99999x99999",
    ];
    let message = fail(folder.path(), &arguments, 1);
    assert!(message.contains("99999 x 99999"), "{message}");
    let arguments = ["picture", "flat.toml", "--out", "still.jpg"];
    assert!(fail(folder.path(), &arguments, 2).contains(".png"));
}

#[test]
fn an_unknown_extension_is_refused_before_the_run() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    for file in ["poses.xlsx", "poses"] {
        let message = fail(folder.path(), &["run", "flat.toml", "--out", file], 2);
        for known in [".csv", ".svg", ".png"] {
            assert!(message.contains(known), "{message}");
        }
        assert!(!folder.path().join(file).exists());
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_refused_before_the_run() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    std::fs::write(folder.path().join("kept.csv"), "kept").unwrap();
    let arguments = [
        "run",
        "flat.toml",
        "--out",
        "kept.csv",
        "--out",
        "fresh.svg",
        "--out",
        "nowhere/plot.svg",
    ];
    let message = fail(
        folder.path(),
        &[&arguments[..], &["--out", "new.csv"]].concat(),
        1,
    );
    assert!(message.contains("nowhere/plot.svg") && message.contains("nothing was run"));
    // What the other file held is still there, and no empty one was left.
    for name in ["fresh.svg", "new.csv"] {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("kept.csv")).unwrap(),
        "kept"
    );
}

#[test]
fn a_scene_that_is_wrong_leaves_the_files_alone() {
    let (folder, _) = folder_with("bad.toml", "dimension = 5");
    std::fs::write(folder.path().join("kept.csv"), "kept").unwrap();
    fail(folder.path(), &["run", "bad.toml", "--out", "kept.csv"], 1);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("kept.csv")).unwrap(),
        "kept"
    );
}

#[test]
fn a_longer_file_is_replaced_whole() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    for name in ["poses.csv", "plot.svg"] {
        std::fs::write(folder.path().join(name), "old\n".repeat(1_000_000)).unwrap();
    }
    succeed(
        folder.path(),
        &[
            "run",
            "flat.toml",
            "--out",
            "poses.csv",
            "--out",
            "plot.svg",
        ],
    );
    for name in ["poses.csv", "plot.svg"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(!text.contains("old"), "{name}");
    }
}

#[test]
fn one_file_can_hold_one_output() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let arguments = ["run", "flat.toml", "--out", "a.csv", "--out", "a.csv"];
    assert!(fail(folder.path(), &arguments, 2).contains("twice"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_the_run() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    std::os::unix::fs::symlink("/dev/full", folder.path().join("poses.csv")).unwrap();
    let arguments = [
        "run",
        "flat.toml",
        "--out",
        "poses.csv",
        "--out",
        "plot.svg",
    ];
    let message = fail(folder.path(), &arguments, 1);
    assert!(message.contains("poses.csv"), "{message}");
    assert!(folder.path().join("plot.svg").metadata().unwrap().len() > 0);
}

/// The program in a folder, with these folders on the PATH and no others.
fn with_path(folder: &Path, path: &Path, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_drystone"))
        .args(arguments)
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap()
}

#[test]
fn a_film_is_a_gif_of_the_size_that_was_asked_for() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let film = ["--out", "film.gif", "--size", "64x36", "--fps", "20"];
    let run = [&["run", "solid.toml", "--seconds", "0.2"], &film[..]].concat();
    let said = succeed(folder.path(), &run);
    assert!(said.contains("film.gif"), "{said}");
    let bytes = std::fs::read(folder.path().join("film.gif")).unwrap();
    assert!(bytes.starts_with(b"GIF89a") && bytes.ends_with(&[0x3b]));
    assert_eq!(bytes[6..10], [64, 0, 36, 0]);
    // A graphic control block for each picture, with its time in hundredths: 0, 0.05 … 0.2 s.
    let is_control = |w: &&[u8]| w[..3] == [0x21, 0xf9, 4] && w[4..6] == [5, 0];
    assert_eq!(bytes.windows(8).filter(is_control).count(), 5);

    succeed(folder.path(), &["run", "solid.toml", "--record", "a.dry"]);
    let export = [&["export", "a.dry"], &film[..]].concat();
    succeed(folder.path(), &export);
    let again = std::fs::read(folder.path().join("film.gif")).unwrap();
    assert!(again.starts_with(b"GIF89a") && again.len() > bytes.len());
}

#[test]
fn a_film_without_its_encoder_is_refused_before_the_run() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let run = ["run", "solid.toml", "--out", "film.mp4"];
    let output = with_path(folder.path(), folder.path(), &run);
    let message = common::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("ffmpeg") && message.contains(".gif"),
        "{message}"
    );
    assert!(!folder.path().join("film.mp4").exists());
    let fast = ["run", "solid.toml", "--out", "film.gif", "--fps", "100"];
    assert!(fail(folder.path(), &fast, 1).contains("50"));
}

/// An encoder that keeps the pictures as they are stands in for ffmpeg.
#[cfg(unix)]
#[test]
fn pictures_of_an_mp4_go_to_the_encoder() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _) = folder_with("solid.toml", SOLID);
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = "#!/bin/sh\nfor last; do :; done\necho \"$@\" > arguments\n/bin/cat > \"$last\"\n";
    let encoder = bin.join("ffmpeg");
    std::fs::write(&encoder, script).unwrap();
    std::fs::set_permissions(&encoder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let film = ["--out", "film.mp4", "--size", "32x18", "--fps", "20"];
    let run = [&["run", "solid.toml", "--seconds", "0.2"], &film[..]].concat();
    let output = with_path(folder.path(), &bin, &run);
    assert!(output.status.success(), "{}", common::stderr(&output));
    let pictures = std::fs::read(folder.path().join("film.mp4")).unwrap();
    assert_eq!(pictures.len(), 5 * 3 * 32 * 18);
    let arguments = std::fs::read_to_string(folder.path().join("arguments")).unwrap();
    assert!(
        arguments.contains("-video_size 32x18 -framerate 20"),
        "{arguments}"
    );
}
