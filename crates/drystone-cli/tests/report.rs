//! The report for programs: its keys, its types, and that it is all there is on standard output.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{FLAT, SOLID, drystone_in, folder_with, report, stdout, succeed};
use serde_json::Value;

const KEYS: [&str; 15] = [
    "scene",
    "dimension",
    "steps",
    "steps_in_parts",
    "seconds",
    "dt",
    "wall_s",
    "threads",
    "strategy",
    "solver",
    "state_hash",
    "contacts",
    "ms_per_step",
    "certificate",
    "bodies",
];

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn assert_keys(value: &Value, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    let mut found = keys(value);
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// Every number below a value, all of which must be finite: JSON has no others, but null.
fn assert_no_null(value: &Value) {
    match value {
        Value::Null => panic!("a null in the report"),
        Value::Array(items) => items.iter().for_each(assert_no_null),
        Value::Object(items) => items.values().for_each(assert_no_null),
        _ => {}
    }
}

fn assert_shape(report: &Value) {
    assert_keys(report, &KEYS);
    assert_keys(&report["contacts"], &["max", "last"]);
    assert_keys(&report["ms_per_step"], &["mean", "p50", "p95", "max"]);
    let certificate = &report["certificate"];
    let parts = [
        ("residual_m_s", &["max", "mean", "last"][..]),
        ("relative_residual", &["max", "last"]),
        ("penetration_m", &["max", "last"]),
        ("energy_made_j", &["max", "total"]),
        ("momentum_n_s", &["max"]),
        ("angular_momentum_n_m_s", &["max"]),
        ("push_apart", &["gap_m", "force_n"]),
    ];
    for (part, numbers) in parts {
        assert_keys(&certificate[part], numbers);
        for number in numbers {
            assert!(
                certificate[part][number].as_f64().unwrap() >= 0.0,
                "{part}.{number}"
            );
        }
    }
    let names: Vec<&str> = parts
        .iter()
        .map(|(part, _)| *part)
        .chain(["worst_step", "energy", "grade", "verdict", "grades"])
        .collect();
    assert_keys(certificate, &names);
    assert_grades(certificate);
    for body in report["bodies"].as_array().unwrap() {
        assert_keys(body, &["name", "position", "rotation", "velocity", "spin"]);
    }
    let hash = report["state_hash"].as_str().unwrap();
    assert_eq!(hash.len(), 18);
    assert!(hash.starts_with("0x"));
    assert!(u64::from_str_radix(&hash[2..], 16).is_ok());
    assert_no_null(report);
}

/// Every figure has a share and a grade, and the run's grade is the worst of them.
fn assert_grades(certificate: &Value) {
    let words = ["exact", "good", "poor"];
    let rank = |grade: &Value| words.iter().position(|word| grade == word).unwrap();
    let grades = certificate["grades"].as_object().unwrap();
    assert_eq!(grades.len(), drystone::judge::Figure::ALL.len());
    let worst = grades.values().map(|graded| rank(&graded["grade"])).max();
    assert_eq!(worst, Some(rank(&certificate["grade"])));
    let verdict = certificate["verdict"].as_str().unwrap();
    assert!(verdict.starts_with(certificate["grade"].as_str().unwrap()));
    let energy = &certificate["energy"];
    for part in [
        "kinetic_j",
        "potential_j",
        "elastic_j",
        "work_j",
        "dissipated_j",
    ] {
        assert!(energy[part].is_f64(), "{part}");
    }
}

/// What a scene that names no strategy is stepped by, and what options make of it.
#[test]
fn a_solver_means_the_strategy_that_has_one() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    for (options, strategy, solver) in [
        (&[][..], "realtime", "block-descent"),
        (&["--strategy", "substep"][..], "realtime", "block-descent"),
        (&["--solver", "nncg"][..], "velocity", "nncg"),
        (&["--iterations", "7"][..], "velocity", "pgs"),
        (&["--tolerance", "1e-3"][..], "velocity", "pgs"),
        (
            &["--strategy", "parallel", "--solver", "nncg"][..],
            "parallel",
            "nncg",
        ),
    ] {
        let report = report(folder.path(), &[&["flat.toml"], options].concat());
        assert_eq!(report["strategy"], strategy, "{options:?}");
        assert_eq!(report["solver"], solver, "{options:?}");
    }
}

#[test]
fn a_flat_report_has_every_field() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let report = report(folder.path(), &["flat.toml"]);
    assert_shape(&report);
    assert_eq!(report["scene"], "flat");
    assert_eq!(report["dimension"], 2);
    assert_eq!(report["steps"], 50);
    assert!((report["seconds"].as_f64().unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(report["dt"], 0.01);
    assert_eq!(report["threads"], 1);
    assert_eq!(report["strategy"], "realtime");
    assert_eq!(report["solver"], "block-descent");
    assert_eq!(report["contacts"]["last"], 2);
    let left = &report["bodies"][1];
    assert_eq!(left["name"], "left, \"first\"");
    assert_eq!(left["position"].as_array().unwrap().len(), 2);
    assert_eq!(left["velocity"].as_array().unwrap().len(), 2);
    assert!((left["position"][1].as_f64().unwrap() - 0.5).abs() < 1e-3);
    assert!((left["rotation"].as_f64().unwrap() - 30_f64.to_radians()).abs() < 1e-9);
    assert!(left["spin"].is_number());
}

#[test]
fn a_solid_report_has_every_field() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let report = report(folder.path(), &["solid.toml"]);
    assert_shape(&report);
    assert_eq!(report["dimension"], 3);
    let bodies = report["bodies"].as_array().unwrap();
    let names: Vec<&str> = bodies
        .iter()
        .map(|body| body["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["floor", "stone 1", "stone 2", "stone 3", "grain"]);
    for body in bodies {
        assert_eq!(body["position"].as_array().unwrap().len(), 3);
        assert_eq!(body["velocity"].as_array().unwrap().len(), 3);
        assert_eq!(body["spin"].as_array().unwrap().len(), 3);
        let rotation = body["rotation"].as_array().unwrap();
        let square: f64 = rotation.iter().map(|x| x.as_f64().unwrap().powi(2)).sum();
        assert_eq!(rotation.len(), 4);
        assert!((square - 1.0).abs() < 1e-12);
    }
    let worst = report["certificate"]["worst_step"].as_u64().unwrap();
    assert!((1..=50).contains(&worst));
}

#[test]
fn a_gallery_scene_has_a_report_in_either_dimension() {
    let folder = std::env::temp_dir();
    let mut seen = [false; 2];
    for line in succeed(&folder, &["list"]).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let dimension = match words.get(1) {
            Some(&"2D") => 2,
            Some(&"3D") => 3,
            _ => continue,
        };
        if !std::mem::replace(&mut seen[dimension - 2], true) {
            let report = report(&folder, &[words[0], "--seconds", "0.05"]);
            assert_shape(&report);
            assert_eq!(report["scene"], words[0]);
            assert_eq!(report["dimension"], dimension);
        }
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn the_same_run_ends_in_the_same_bits() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let hash = |arguments: &[&str]| {
        let all = [&["solid.toml"], arguments].concat();
        report(folder.path(), &all)["state_hash"].clone()
    };
    let first = hash(&[]);
    for arguments in [
        &[][..],
        &["--threads", "1"],
        &["--threads", "2"],
        &["--threads", "4"],
    ] {
        assert_eq!(hash(arguments), first, "{arguments:?}");
    }
    assert_ne!(hash(&["--seconds", "0.2"]), first);
}

#[test]
fn options_overrule_the_scene() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let run = |arguments: &[&str]| report(folder.path(), &[&["flat.toml"], arguments].concat());
    let shorter = run(&["--seconds", "0.2", "--dt", "0.002"]);
    assert_eq!(shorter["steps"], 100);
    assert_eq!(shorter["dt"], 0.002);
    assert_eq!(run(&["--seconds", "0"])["steps"], 0);

    let solid = common::folder_with("solid.toml", SOLID);
    let residual = |arguments: &[&str]| {
        let all = [&["solid.toml"], arguments].concat();
        let report = report(solid.0.path(), &all);
        report["certificate"]["residual_m_s"]["mean"]
            .as_f64()
            .unwrap()
    };
    let rough = residual(&["--solver", "pgs", "--iterations", "1", "--tolerance", "0"]);
    let fine = residual(&["--iterations", "500", "--tolerance", "0"]);
    assert!(fine < 0.5 * rough, "{fine} of {rough}");
}

#[test]
fn json_is_all_there_is_on_standard_output() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    let output = drystone_in(
        folder.path(),
        &[
            "run",
            "flat.toml",
            "--report",
            "json",
            "--out",
            "poses.csv",
            "--out",
            "plot.svg",
        ],
    );
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(text.starts_with('{') && text.ends_with("}\n"));
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    assert!(values.next().unwrap().is_ok());
    assert!(values.next().is_none());
    assert!(output.stderr.is_empty());
}

#[test]
fn joints_are_reported_where_there_are_joints() {
    let folder = tempfile::tempdir().unwrap();
    let chain = ["run", "heavy-chain", "--seconds", "0.2"];
    let report = report(folder.path(), &chain[1..]);
    for part in ["error_m", "error_rad"] {
        assert_keys(&report["joints"][part], &["max", "last"]);
    }
    // What the scene promises.
    assert!(report["joints"]["error_m"]["max"].as_f64().unwrap() < 1e-3);
    let said = succeed(folder.path(), &chain);
    assert!(said.contains("joints never apart by more than"), "{said}");
}
