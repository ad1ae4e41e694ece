//! Bundles the page of the viewer: npm fetches `three` and esbuild, esbuild makes one HTML file.
//!
//! Everything happens in a copy of `web/` under `OUT_DIR`. Where that is not possible (no npm, no
//! network) the build goes on without the viewer, says so, and tries again the next time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DRYSTONE_WITHOUT_VIEWER");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let page = out.join("page.html");
    let made = if env::var_os("DRYSTONE_WITHOUT_VIEWER").is_some() {
        Err("DRYSTONE_WITHOUT_VIEWER is set".to_owned())
    } else {
        bundle(Path::new("web"), &out, &page)
    };
    if let Err(reason) = made {
        println!("cargo:warning=built without the viewer: {reason}");
        // A file that is never there makes cargo try again next time.
        println!("cargo:rerun-if-changed={}", out.join("never").display());
        if let Err(error) = fs::write(&page, "") {
            println!("cargo:warning={} can't be written: {error}", page.display());
        }
    }
}

/// Copies the sources, fetches what they need unless it is there, and bundles them.
fn bundle(web: &Path, out: &Path, page: &Path) -> Result<(), String> {
    let copy = out.join("web");
    for entry in [
        "package.json",
        "package-lock.json",
        "build.mjs",
        "index.html",
        "src",
    ] {
        println!("cargo:rerun-if-changed={}", web.join(entry).display());
    }
    let lock = fs::read(web.join("package-lock.json")).map_err(|error| error.to_string())?;
    let fetched = copy.join("fetched-lock.json");
    if fs::read(&fetched).ok().as_ref() != Some(&lock) {
        let _ = fs::remove_dir_all(&copy);
        copy_sources(web, &copy).map_err(|error| error.to_string())?;
        let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
        npm.args([
            "ci",
            "--omit=dev",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ]);
        run(npm.current_dir(&copy))?;
        fs::write(&fetched, &lock).map_err(|error| error.to_string())?;
    } else {
        let _ = fs::remove_dir_all(copy.join("src"));
        copy_sources(web, &copy).map_err(|error| error.to_string())?;
    }
    run(Command::new("node")
        .arg("build.mjs")
        .arg(page)
        .current_dir(&copy))
}

fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("src"))?;
    for name in [
        "package.json",
        "package-lock.json",
        "build.mjs",
        "index.html",
    ] {
        fs::copy(from.join(name), to.join(name))?;
    }
    for entry in fs::read_dir(from.join("src"))? {
        let entry = entry?;
        fs::copy(entry.path(), to.join("src").join(entry.file_name()))?;
    }
    Ok(())
}

/// Runs a program; what it says is only shown if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown = last[last.len().saturating_sub(4)..].join("; ");
    Err(format!("{name} failed: {shown}"))
}
