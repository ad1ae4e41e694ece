//! Contact problems by themselves: written, solved and raced with the real program.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{FLAT, SOLID, drystone_in, fail, folder_with, stderr, succeed};
use drystone::SolverKind;
use serde_json::Value;
use tempfile::TempDir;

/// The problem of a small arch, as JSON and as text.
fn arch() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["arch.json", "arch.txt"] {
        let text = succeed(
            folder.path(),
            &["problem", "arch-7", "--at", "0.1", "--out", file],
        );
        assert_eq!(text.lines().count(), 1, "{text}");
        for words in [file, "0.10 s", "16 contacts", "8 bodies", "1 island"] {
            assert!(text.contains(words), "{words:?} is not in {text}");
        }
    }
    folder
}

fn solve(folder: &Path, arguments: &[&str]) -> Value {
    let all = [&["solve"], arguments, &["--report", "json"]].concat();
    serde_json::from_str(&succeed(folder, &all)).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn result<'a>(report: &'a Value, solver: &str) -> &'a Value {
    let results = report["results"].as_array().unwrap();
    results.iter().find(|r| r["solver"] == solver).unwrap()
}

#[test]
fn both_formats_hold_the_same_problem() {
    let folder = arch();
    let json = solve(folder.path(), &["arch.json", "--solver", "newton"]);
    let text = solve(folder.path(), &["arch.txt", "--solver", "newton"]);
    for report in [&json, &text] {
        assert_eq!(report["problem"], "arch");
        assert_eq!(report["contacts"], 16);
        assert_eq!(report["unknowns"], 32);
        let newton = result(report, "newton");
        assert_eq!(newton["reached"], true);
        let residual = newton["residual_m_s"].as_f64().unwrap();
        assert!(residual < 1e-7, "{residual}");
    }
    // Not to the bit: bodies are multiplied out in one of them.
    let loose = ["--solver", "pgs", "--iterations", "40"];
    let rough = |file| solve(folder.path(), &[&[file], &loose[..]].concat());
    let residual = |report: &Value| result(report, "pgs")["residual_m_s"].as_f64().unwrap();
    let (json, text) = (residual(&rough("arch.json")), residual(&rough("arch.txt")));
    assert!(
        json > 0.0 && (json - text).abs() < 0.01 * json,
        "{json} {text}"
    );
}

#[test]
fn solve_all_reports_every_solver_with_exactly_the_promised_keys() {
    let folder = arch();
    let report = solve(
        folder.path(),
        &["arch.json", "--solver", "all", "--budget", "5"],
    );
    assert_eq!(
        keys(&report),
        ["contacts", "problem", "results", "unknowns"]
    );
    let results = report["results"].as_array().unwrap();
    let names: Vec<&str> = results
        .iter()
        .map(|r| r["solver"].as_str().unwrap())
        .collect();
    assert_eq!(names, SolverKind::NAMES);
    for result in results {
        assert_eq!(
            keys(result),
            [
                "fclib_error",
                "iterations",
                "reached",
                "relative_residual",
                "residual_m_s",
                "seconds",
                "solver"
            ]
        );
        for key in [
            "seconds",
            "residual_m_s",
            "relative_residual",
            "fclib_error",
        ] {
            let number = result[key].as_f64().unwrap();
            assert!(number.is_finite() && number >= 0.0, "{key}: {result}");
        }
    }
    for solver in ["pgs", "newton", "auto"] {
        let result = result(&report, solver);
        assert_eq!(result["reached"], true, "{result}");
        assert!(result["relative_residual"].as_f64().unwrap() <= 1e-8);
    }
    // It refuses problems of this size, and says so like any other that does not get there.
    assert_eq!(result(&report, "enumerate")["reached"], false);
}

#[test]
fn the_table_is_for_people() {
    let folder = arch();
    let text = succeed(
        folder.path(),
        &["solve", "arch.txt", "--solver", "all", "--budget", "2"],
    );
    for words in [
        "arch: 16 contacts, 32 unknowns",
        "1e-8",
        "iterations",
        "residual m/s",
        "FCLIB error",
        "not reached",
        "yes, by ",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let rows: Vec<String> = text.lines().skip(3).filter_map(first).collect();
    assert_eq!(rows, SolverKind::NAMES);
    let alone = succeed(folder.path(), &["solve", "arch.txt"]);
    assert_eq!(alone.lines().count(), 4, "{alone}");
    assert!(alone.contains("  auto "), "{alone}");
}

#[test]
fn limits_of_the_command_line_count() {
    let folder = arch();
    let report = solve(
        folder.path(),
        &["arch.json", "--solver", "jacobi", "--iterations", "3"],
    );
    let jacobi = result(&report, "jacobi");
    assert_eq!(jacobi["reached"], false);
    assert!(jacobi["iterations"].as_u64().unwrap() <= 3);
    let report = solve(
        folder.path(),
        &["arch.json", "--solver", "pgs", "--tolerance", "1e-2"],
    );
    let pgs = result(&report, "pgs");
    assert_eq!(pgs["reached"], true);
    assert!(pgs["relative_residual"].as_f64().unwrap() > 1e-8);
}

#[test]
fn a_problem_without_contacts_is_written_and_solved_but_not_raced() {
    let (folder, _) = folder_with("flat.toml", FLAT);
    for file in ["free.json", "free.txt"] {
        let text = succeed(
            folder.path(),
            &["problem", "flat.toml", "--at", "0", "--out", file],
        );
        assert!(text.contains("0 contacts"), "{text}");
        let report = solve(folder.path(), &[file, "--solver", "all"]);
        assert_eq!(result(&report, "auto")["reached"], true, "{report}");
        let message = fail(folder.path(), &["race", file, "--out", "race.svg"], 1);
        assert!(message.contains("no contacts"), "{message}");
        assert!(!folder.path().join("race.svg").exists());
    }
}

#[test]
fn bad_files_are_named_with_the_place() {
    let folder = arch();
    let json = std::fs::read_to_string(folder.path().join("arch.json")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("arch.txt")).unwrap();
    let first_mu = json.find("\"mu\":").unwrap() + 5;
    let mu_end = first_mu + json[first_mu..].find(',').unwrap();
    let with_mu = |mu: &str| format!("{}{mu}{}", &json[..first_mu], &json[mu_end..]);
    let cases: [(&str, String, &[&str]); 9] = [
        ("cut.json", json[..900].to_owned(), &["line ", "column "]),
        ("cut.txt", text[..900].to_owned(), &["line ", "ends where"]),
        ("negative.json", with_mu("-0.5"), &["row 0", "mu", "-0.5"]),
        ("words.json", with_mu("\"high\""), &["line ", "high"]),
        (
            "version.json",
            json.replace("\"version\": 1", "\"version\": 99"),
            &["version", "99"],
        ),
        (
            "words.txt",
            text.replacen("mu ", "mu much ", 1),
            &["line 3", "much"],
        ),
        (
            "nan.txt",
            text.replacen("\nq ", "\nq nan ", 1),
            &["line 4", "nan"],
        ),
        ("empty.txt", String::new(), &["line 1", "dimension"]),
        ("scene.dat", SOLID.to_owned(), &["line 2", ".json", ".txt"]),
    ];
    for (name, contents, words) in cases {
        std::fs::write(folder.path().join(name), contents).unwrap();
        let message = fail(folder.path(), &["solve", name], 1);
        for words in [&[name], words].concat() {
            assert!(message.contains(words), "{words:?} is not in {message}");
        }
    }
    std::fs::write(folder.path().join("binary.hdf5"), [0x89, 0xff, 0]).unwrap();
    for name in ["binary.hdf5", "missing.json", "."] {
        let message = fail(folder.path(), &["solve", name], 1);
        assert!(message.contains("can't be read"), "{message}");
    }
}

#[test]
fn what_makes_no_sense_on_the_command_line_is_refused() {
    let folder = arch();
    let bad: [(&[&str], &str); 6] = [
        (&["problem", "arch-7", "--out", "a.hdf5"], ".hdf5"),
        (&["problem", "arch-7", "--out", "a"], "no extension"),
        (&["solve", "arch.json", "--solver", "magic"], "block-gs"),
        (&["solve", "arch.json", "--budget", "0"], "greater than 0"),
        (&["race", "arch-7", "--out", "race.csv"], ".svg"),
        (
            &["race", "arch-7", "--out", "a.png", "--matrix", "a.png"],
            "a.png",
        ),
    ];
    for (arguments, words) in bad {
        let message = fail(folder.path(), arguments, 2);
        assert!(message.contains(words), "{words:?} is not in {message}");
    }
    assert!(!folder.path().join("a.hdf5").exists());
    let unknown = ["race", "arhc-7", "--out", "race.svg"];
    let message = fail(folder.path(), &unknown, 1);
    assert!(message.contains("arch-7"), "{message}");
}

#[test]
fn every_solver_is_in_the_help() {
    for command in ["run", "problem", "solve"] {
        let help = succeed(&std::env::temp_dir(), &[command, "--help"]);
        for name in SolverKind::NAMES {
            assert!(help.contains(name), "{name} is not in\n{help}");
        }
    }
}

#[test]
fn a_race_is_one_drawing_with_every_solver_in_it() {
    let folder = arch();
    let by_scene = ["race", "arch-7", "--at", "0.1", "--budget", "2"];
    let text = succeed(
        folder.path(),
        &[&by_scene[..], &["--out", "scene.svg"]].concat(),
    );
    assert!(text.contains("wrote scene.svg"), "{text}");
    let by_file = ["race", "arch.json", "--budget", "2", "--out", "file.svg"];
    succeed(folder.path(), &by_file);
    for file in ["scene.svg", "file.svg"] {
        let svg = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> = document.descendants().filter_map(|n| n.text()).collect();
        for name in SolverKind::NAMES {
            let legends = texts.iter().filter(|text| text.starts_with(name));
            assert!(legends.count() >= 2, "{name} is not in {file}");
        }
        for words in ["16 contacts", "time", "iterations", "relative residual"] {
            assert!(texts.iter().any(|text| text.contains(words)), "{words}");
        }
        let lines = document
            .descendants()
            .filter(|n| n.has_tag_name("polyline"));
        assert!(lines.count() > 20);
    }
}

#[test]
fn a_race_is_drawn_in_pixels_with_its_matrix() {
    let (folder, _) = folder_with("solid.toml", SOLID);
    let arguments = [
        "race",
        "solid.toml",
        "--budget",
        "1",
        "--out",
        "race.png",
        "--matrix",
        "matrix.png",
    ];
    let output = drystone_in(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let size = |name: &str| {
        let file = std::fs::File::open(folder.path().join(name)).unwrap();
        let decoder = png::Decoder::new(std::io::BufReader::new(file));
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert!(rgb.iter().any(|byte| *byte < 100), "{name} is blank");
        (info.width, info.height)
    };
    let (width, height) = size("race.png");
    assert!(width == 1800 && height > 1000, "{width} x {height}");
    let (width, height) = size("matrix.png");
    // The bodies' names stand to the left of the matrix.
    assert!(width > height && height > 200, "{width} x {height}");
}
