//! Recordings on the command line: whatever ends a run, `resume` leads to the same file.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{FLAT, RUNAWAY, SOLID, drystone_in, fail, folder_with, stderr, stdout, succeed};
use drystone_frame::recording::{Content, Reader, Writer};

const RECORD: [&str; 6] = [
    "run",
    "scene.toml",
    "--record",
    "run.dry",
    "--state-every",
    "4",
];

/// Records a scene and gives the file.
fn record(folder: &Path, more: &[&str]) -> Vec<u8> {
    succeed(folder, &[&RECORD, more].concat());
    std::fs::read(folder.join("run.dry")).unwrap()
}

/// Where blocks begin, from their lengths alone.
fn block_starts(file: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 16;
    while at < file.len() {
        starts.push(at);
        at += 32 + u64::from_le_bytes(file[at + 16..at + 24].try_into().unwrap()) as usize;
    }
    starts
}

#[test]
fn a_run_cut_at_any_write_is_resumed_to_the_same_bytes_with_any_threads() {
    for more in [&[][..], &["--strategy", "realtime", "--dt", "0.01"]] {
        let (folder, _) = folder_with("scene.toml", SOLID);
        let whole = record(folder.path(), more);
        // The first two blocks are there from the beginning: a file is made beside and renamed.
        for (k, start) in block_starts(&whole).into_iter().skip(2).enumerate() {
            for cut in [start, start + 40] {
                let cut = cut.min(whole.len() - 1);
                std::fs::write(folder.path().join("cut.dry"), &whole[..cut]).unwrap();
                let threads = (k % 3 + 1).to_string();
                let text = succeed(folder.path(), &["resume", "cut.dry", "--threads", &threads]);
                assert!(text.contains("went on with cut.dry"), "{text}");
                let resumed = std::fs::read(folder.path().join("cut.dry")).unwrap();
                assert!(
                    resumed == whole,
                    "cut at byte {cut}, with {threads} threads"
                );
            }
        }
        let text = succeed(folder.path(), &["resume", "cut.dry"]);
        assert!(text.contains("is finished"), "{text}");
    }
}

#[test]
fn threads_change_no_byte() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let one = record(folder.path(), &["--strategy", "realtime", "--threads", "1"]);
    let three = record(folder.path(), &["--strategy", "realtime", "--threads", "3"]);
    assert!(one == three);
}

#[test]
fn waiting_for_the_disk_changes_no_byte() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let whole = record(folder.path(), &[]);
    assert!(record(folder.path(), &["--sync-every-frame"]) == whole);
    let half = &whole[..whole.len() / 2];
    std::fs::write(folder.path().join("cut.dry"), half).unwrap();
    succeed(folder.path(), &["resume", "cut.dry", "--sync-every-frame"]);
    assert!(std::fs::read(folder.path().join("cut.dry")).unwrap() == whole);
    let message = fail(
        folder.path(),
        &["run", "scene.toml", "--sync-every-frame"],
        2,
    );
    assert!(message.contains("--record"), "{message}");
}

/// Starts a run of many frames in the background.
fn start(folder: &Path) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_drystone"))
        .args([
            "run",
            "scene.toml",
            "--seconds",
            "8",
            "--record",
            "long.dry",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a recording has some frames.
fn wait_for(path: &Path, bytes: u64) {
    for _ in 0..2_000 {
        if std::fs::metadata(path).is_ok_and(|file| file.len() > bytes) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{} does not grow", path.display());
}

#[test]
fn a_killed_run_is_resumed_to_the_same_bytes() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let path = folder.path().join("long.dry");
    assert!(start(folder.path()).wait().unwrap().success());
    let whole = std::fs::read(&path).unwrap();
    for bytes in [3_000, 20_000, 50_000] {
        std::fs::remove_file(&path).unwrap();
        let mut run = start(folder.path());
        wait_for(&path, bytes);
        run.kill().unwrap();
        run.wait().unwrap();
        succeed(folder.path(), &["resume", "long.dry"]);
        assert!(
            std::fs::read(&path).unwrap() == whole,
            "killed after {bytes} bytes"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_the_frame_and_says_how_to_resume() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let path = folder.path().join("long.dry");
    let run = start(folder.path());
    wait_for(&path, 3_000);
    let sent = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let output = run.wait_with_output().unwrap();
    if output.status.success() {
        eprintln!("skipped: the run was over before it could be interrupted");
        return;
    }
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("drystone resume long.dry"), "{message}");
    assert!(stdout(&output).contains("where it was interrupted"));
    // Whole blocks only: nothing is damaged.
    let info = succeed(folder.path(), &["info", "long.dry"]);
    assert!(info.contains("unfinished"), "{info}");
    succeed(folder.path(), &["resume", "long.dry"]);
    let resumed = std::fs::read(&path).unwrap();
    assert!(start(folder.path()).wait().unwrap().success());
    assert!(resumed == std::fs::read(&path).unwrap());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_resumed_when_it_may() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let whole = record(folder.path(), &[]);
    std::fs::remove_file(folder.path().join("run.dry")).unwrap();
    // A limit of so many blocks of 512 bytes, and the signal that comes with it ignored.
    let program = env!("CARGO_BIN_EXE_drystone");
    let limited = |blocks: u32| {
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {program} {}",
            RECORD.join(" ")
        );
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(folder.path())
            .output();
        output.unwrap()
    };
    let output = limited(8);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("frames are safe") && message.contains("drystone resume run.dry"),
        "{message}"
    );
    succeed(folder.path(), &["resume", "run.dry"]);
    assert!(std::fs::read(folder.path().join("run.dry")).unwrap() == whole);
    // Not even the header fits: nothing is run, and nothing is left behind.
    std::fs::remove_file(folder.path().join("run.dry")).unwrap();
    let message = stderr(&limited(1));
    assert!(message.contains("nothing was run"), "{message}");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "the scene alone"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_resumed_on_a_larger_one() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let whole = record(folder.path(), &[]);
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&disk)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !mount("size=8k") {
        eprintln!("skipped: a small disk can only be mounted by root");
        return;
    }
    let target = disk.join("run.dry");
    let arguments = [
        "run",
        "scene.toml",
        "--record",
        "disk/run.dry",
        "--state-every",
        "4",
    ];
    let output = drystone_in(folder.path(), &arguments);
    let grown = mount("remount,size=4m");
    let resumed = drystone_in(folder.path(), &["resume", "disk/run.dry"]);
    let bytes = std::fs::read(&target);
    let gone = Command::new("umount").arg(&disk).status();
    assert!(gone.is_ok_and(|status| status.success()) && grown);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("No space left") && message.contains("drystone resume"),
        "{message}"
    );
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(bytes.unwrap() == whole);
}

#[test]
fn what_can_not_be_written_is_said_before_the_run() {
    let (folder, _) = folder_with("scene.toml", FLAT);
    for target in ["no/such/folder/run.dry", "/proc/run.dry", "/dev/null", "."] {
        let message = fail(folder.path(), &["run", "scene.toml", "--record", target], 1);
        assert!(message.contains("nothing was run"), "{target}: {message}");
    }
    fail(
        folder.path(),
        &["run", "scene.toml", "--record", "a.csv", "--out", "a.csv"],
        2,
    );
}

#[test]
fn a_recording_that_can_be_resumed_is_not_replaced() {
    let (folder, _) = folder_with("scene.toml", FLAT);
    let whole = record(folder.path(), &[]);
    let path = folder.path().join("run.dry");
    std::fs::write(&path, &whole[..whole.len() - 50]).unwrap();
    let message = fail(folder.path(), &RECORD, 1);
    assert!(
        message.contains("unfinished") && message.contains("resume run.dry"),
        "{message}"
    );
    succeed(folder.path(), &["resume", "run.dry"]);
    // A finished one is.
    succeed(folder.path(), &RECORD);
    assert!(std::fs::read(&path).unwrap() == whole);
}

#[test]
fn a_failed_run_is_finished_with_its_good_frames() {
    let (folder, _) = folder_with("scene.toml", RUNAWAY);
    let message = fail(folder.path(), &RECORD, 1);
    assert!(message.contains("`wild`"), "{message}");
    let whole = std::fs::read(folder.path().join("run.dry")).unwrap();
    let info = succeed(folder.path(), &["info", "run.dry"]);
    assert!(info.contains("the run failed before"), "{info}");
    // Resumed from a cut it fails in the same place, and the file is the same.
    std::fs::write(folder.path().join("cut.dry"), &whole[..whole.len() - 60]).unwrap();
    fail(folder.path(), &["resume", "cut.dry"], 1);
    assert!(std::fs::read(folder.path().join("cut.dry")).unwrap() == whole);
}

#[test]
fn verify_passes_what_was_recorded_and_names_the_frame_that_was_not() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let whole = record(
        folder.path(),
        &["--solver", "block-gs", "--iterations", "30"],
    );
    let text = succeed(folder.path(), &["verify", "run.dry", "--threads", "2"]);
    assert!(text.contains("are the same"), "{text}");
    let mut reader = Reader::open(whole.as_slice()).unwrap();
    let mut forged = Vec::new();
    let mut writer = Writer::create(&mut forged, reader.header.clone(), &reader.stage).unwrap();
    while let Some(content) = reader.content().unwrap() {
        match content {
            Content::Frame(mut record) => {
                if record.number == 5 {
                    record.frame.positions[1][0] += 1e-15;
                }
                writer.frame(&record).unwrap();
            }
            Content::State { state, .. } => writer.state(&state).unwrap(),
            Content::End => break,
        }
    }
    writer.finish().unwrap();
    std::fs::write(folder.path().join("forged.dry"), forged).unwrap();
    let message = fail(folder.path(), &["verify", "forged.dry"], 1);
    assert!(
        message.contains("frame 5 comes out differently"),
        "{message}"
    );
}

#[test]
fn info_tells_what_there_is_and_names_a_damaged_block() {
    let (folder, _) = folder_with("scene.toml", FLAT);
    let whole = record(folder.path(), &["--dt", "0.005"]);
    let info = succeed(folder.path(), &["info", "run.dry"]);
    for words in [
        "2D, 3 bodies",
        "frames",
        "certificate",
        "dt 0.005",
        "100 of 5.0 ms, 3 a frame",
    ] {
        assert!(info.contains(words), "{words}: {info}");
    }
    let starts = block_starts(&whole);
    let mut bytes = whole.clone();
    bytes[starts[9] + 33] ^= 4;
    std::fs::write(folder.path().join("bad.dry"), bytes).unwrap();
    let message = fail(folder.path(), &["info", "bad.dry"], 1);
    assert!(
        message.contains("block 9 (frame)") && message.contains("checksum"),
        "{message}"
    );
    let message = fail(folder.path(), &["info", "scene.toml"], 1);
    assert!(message.contains("no recording"), "{message}");
    for command in ["info", "verify", "resume"] {
        fail(folder.path(), &[command, "none.dry"], 1);
    }
}

#[test]
fn every_format_is_exported_and_poses_are_those_of_the_run() {
    for scene in [FLAT, SOLID] {
        let (folder, _) = folder_with("scene.toml", scene);
        record(folder.path(), &["--fps", "1000", "--out", "steps.csv"]);
        let outs = ["run.glb", "run.usda", "run.obj", "run.pvd", "run.csv"];
        for out in outs {
            let text = succeed(folder.path(), &["export", "run.dry", "--out", out]);
            assert!(text.contains("frames"), "{text}");
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        // With a frame for every step both tables are the same.
        assert!(read("run.csv") == read("steps.csv"));
        assert!(read("run_000000.obj").contains("o floor"));
        assert!(read("run.usda").starts_with("#usda 1.0"));
        let series = read("run.pvd");
        assert!(roxmltree::Document::parse(&series).is_ok());
        assert!(folder.path().join("run_000007_contacts.vtp").exists());
        let message = fail(
            folder.path(),
            &["export", "run.dry", "--out", "film.avi"],
            2,
        );
        assert!(message.contains(".glb"), "{message}");
        succeed(
            folder.path(),
            &["export", "run.dry", "--every", "10", "--out", "few.csv"],
        );
        let few = read("few.csv").lines().count() - 1;
        assert_eq!(few, (read("run.csv").lines().count() - 1).div_ceil(10));
    }
}

#[test]
fn damaged_recordings_are_exported_up_to_the_damage() {
    let (folder, _) = folder_with("scene.toml", SOLID);
    let whole = record(folder.path(), &[]);
    std::fs::write(folder.path().join("cut.dry"), &whole[..whole.len() / 2]).unwrap();
    let message = fail(folder.path(), &["export", "cut.dry", "--out", "cut.csv"], 1);
    assert!(message.contains("is damaged"), "{message}");
    let rows = std::fs::read_to_string(folder.path().join("cut.csv")).unwrap();
    assert!(rows.lines().count() > 3, "{rows}");
}
