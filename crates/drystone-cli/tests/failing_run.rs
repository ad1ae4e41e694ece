//! A state that leaves the range of numbers: the run ends at its last good step and loses nothing.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{RUNAWAY, drystone_in, fail, folder_with, stderr, stdout};
use serde_json::Value;

#[test]
fn the_body_is_named_and_the_good_steps_are_kept() {
    let (folder, _) = folder_with("runaway.toml", RUNAWAY);
    let arguments = [
        "run",
        "runaway.toml",
        "--out",
        "poses.csv",
        "--out",
        "plot.svg",
    ];
    let output = drystone_in(folder.path(), &arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("`wild`") && message.contains("out of range"),
        "{message}"
    );
    assert!(!message.contains("panicked"));
    // The summary of the good steps is there too.
    let summary = stdout(&output);
    assert!(summary.contains("runaway (3D, 2 bodies)") && summary.contains("where it failed"));

    let table = std::fs::read_to_string(folder.path().join("poses.csv")).unwrap();
    assert!(table.ends_with('\n'));
    let lines: Vec<&str> = table.lines().collect();
    let columns = lines[0].split(',').count();
    for (step, line) in lines[1..].iter().enumerate() {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        assert_eq!(numbers.len(), columns);
        assert_eq!(numbers[0], step as f64);
        assert!(numbers.iter().all(|x| x.is_finite()));
    }
    let svg = std::fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(roxmltree::Document::parse(&svg).is_ok());
}

#[test]
fn the_report_is_printed_with_the_error() {
    let (folder, _) = folder_with("runaway.toml", RUNAWAY);
    let arguments = [
        "run",
        "runaway.toml",
        "--report",
        "json",
        "--out",
        "poses.csv",
    ];
    let output = drystone_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(report["error"].as_str().unwrap().contains("`wild`"));
    assert_eq!(report["bodies"][0]["position"][0], 10.0);
    let table = std::fs::read_to_string(folder.path().join("poses.csv")).unwrap();
    let steps = report["steps"].as_u64().unwrap();
    assert_eq!(table.lines().count() as u64, steps + 2);
    assert!((1..100).contains(&steps), "{steps} steps were good");
    for body in report["bodies"].as_array().unwrap() {
        assert!(body["position"][0].is_f64());
    }
}

#[test]
fn a_picture_of_a_run_that_fails_is_not_made() {
    let (folder, _) = folder_with("runaway.toml", RUNAWAY);
    std::fs::write(folder.path().join("still.png"), "kept").unwrap();
    let message = fail(
        folder.path(),
        &["picture", "runaway.toml", "--out", "still.png"],
        1,
    );
    assert!(message.contains("`wild`"), "{message}");
    let kept = std::fs::read_to_string(folder.path().join("still.png")).unwrap();
    assert_eq!(kept, "kept");
}
