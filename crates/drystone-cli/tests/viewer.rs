//! The viewer in a real browser, and replays. Checks of the page itself are in
//! `crates/drystone-view/web/test`; they need node, npm and Chromium, and are skipped with a
//! message where one is missing.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{drystone_in, fail, folder_with, stderr, succeed};
use drystone_view::live::page::PAGE;

/// Sources of the page.
const WEB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../drystone-view/web");

fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Whether the page is part of the program; says so if not.
fn has_page() -> bool {
    if PAGE.is_empty() {
        skip("built without the viewer's page, which needs npm");
    }
    !PAGE.is_empty()
}

/// Chromium, if it is installed.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("DRYSTONE_CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.exists())
}

/// Whether a program ran well; shows what it said if not.
fn ran(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            eprintln!("{}", String::from_utf8_lossy(&output.stdout));
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            false
        }
        Err(error) => {
            eprintln!("{error}");
            false
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_name() == OsStr::new("node_modules") {
            continue;
        }
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// The sources of the page with everything that their checks need, or `None` with a message.
fn workshop() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("viewer-web");
    copy(Path::new(WEB), &folder);
    let lock = fs::read(folder.join("package-lock.json")).unwrap();
    let fetched = folder.join("fetched-lock.json");
    if fs::read(&fetched).ok() != Some(lock.clone()) {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        if !ran(npm.current_dir(&folder)) {
            skip("npm could not fetch what the checks of the page need");
            return None;
        }
        fs::write(&fetched, &lock).unwrap();
    }
    Some(folder)
}

#[test]
fn the_page_works_in_a_browser_and_its_types_are_sound() {
    if !has_page() {
        return;
    }
    let Some(chromium) = chromium() else {
        skip("Chromium is not installed (Debian: apt install chromium)");
        return;
    };
    let Some(folder) = workshop() else { return };
    let mut types = Command::new("node");
    types.args(["node_modules/typescript/bin/tsc", "--noEmit"]);
    assert!(ran(types.current_dir(&folder)), "the types do not fit");
    let files = tempfile::tempdir().unwrap();
    let mut checks = Command::new("node");
    checks
        .arg("test/browser.mjs")
        .arg(env!("CARGO_BIN_EXE_drystone"))
        .arg(chromium)
        .arg(files.path());
    assert!(ran(checks.current_dir(&folder)), "see above");
}

/// Two hundred bodies that fall into a box.
const TWO_HUNDRED: &str = r#"
dimension = 3
seconds = 10

[[bodies]]
name = "floor"
kind = "fixed"
shape.half_space.normal = [0, 1, 0]

[[bodies]]
name = "thing"
shapes = [{ box = { size = [0.5, 0.3, 0.35] } }, { ball = { radius = 0.2 } }]
position = [0, 5, 0]
repeat.random = { count = 199, region = [4, 9, 4], turned = true, seed = 3 }
"#;

#[test]
fn ten_seconds_of_two_hundred_bodies_are_a_file_of_less_than_three_megabytes() {
    if !has_page() {
        return;
    }
    let (folder, scene) = folder_with("heap.toml", TWO_HUNDRED);
    let told = succeed(
        folder.path(),
        &["run", scene.to_str().unwrap(), "--out", "heap.html"],
    );
    assert!(told.contains("heap.html"), "{told}");
    let file = fs::read_to_string(folder.path().join("heap.html")).unwrap();
    assert!(file.len() < 3_000_000, "{} bytes", file.len());
    // One file is all: nothing is loaded from elsewhere.
    assert!(file.contains("<script id=\"replay\""));
    for elsewhere in ["src=\"http", "href=\"http", "@import", "importScripts"] {
        assert!(!file.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn a_run_that_fails_leaves_a_replay_of_its_good_steps() {
    if !has_page() {
        return;
    }
    let (folder, scene) = folder_with("runaway.toml", common::RUNAWAY);
    let output = drystone_in(
        folder.path(),
        &["run", scene.to_str().unwrap(), "--out", "replay.html"],
    );
    assert!(!output.status.success(), "{}", stderr(&output));
    let file = fs::read_to_string(folder.path().join("replay.html")).unwrap();
    assert!(file.contains("<script id=\"replay\""));
}

#[test]
fn mistakes_are_answered_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = fail(folder.path(), &["view", "dominos", "--no-open"], 1);
    assert!(unknown.contains("dominoes"), "{unknown}");
    let film = fail(folder.path(), &["run", "tower", "--out", "film.avi"], 2);
    assert!(film.contains(".gif"), "{film}");
    if has_page() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port().to_string();
        let message = fail(
            folder.path(),
            &["view", "tower", "--no-open", "--port", &port],
            1,
        );
        assert!(message.contains("--port"), "{message}");
    }
}

#[test]
fn a_recording_that_can_not_be_shown_is_refused() {
    if !has_page() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let record = [
        "run",
        "two-particles",
        "--seconds",
        "0.1",
        "--record",
        "a.dry",
    ];
    succeed(folder.path(), &record);
    // It was made with its own settings, and shows those.
    let set = ["view", "a.dry", "--no-open", "--dt", "0.01"];
    let message = fail(folder.path(), &set, 1);
    assert!(message.contains("recording"), "{message}");
    let whole = fs::read(folder.path().join("a.dry")).unwrap();
    fs::write(folder.path().join("cut.dry"), &whole[..40]).unwrap();
    let cut = fail(folder.path(), &["view", "cut.dry", "--no-open"], 1);
    assert!(cut.contains("cut.dry") && cut.contains("damaged"), "{cut}");
}
