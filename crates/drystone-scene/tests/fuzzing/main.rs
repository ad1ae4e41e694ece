//! Every reader on thousands of mutations of a corpus (`fuzz/corpus`), with fixed seeds.
//!
//! `DRYSTONE_FUZZ_ROUNDS=1000000 cargo test -p drystone-scene --test fuzzing -- --nocapture` makes a
//! campaign of it; a mutation that panics is left in `target/fuzzing`, to be made a test below.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

mod mutate;
mod readers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use mutate::Mutator;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// The files of a reader's corpus, by name.
fn corpus(reader: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder().join(reader))
        .unwrap_or_else(|error| panic!("fuzz/corpus/{reader}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{reader}");
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Reads the corpus and `rounds` mutations of it.
fn drive(reader: &str, read: fn(&[u8]), rounds: u64) {
    let rounds = std::env::var("DRYSTONE_FUZZ_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(rounds);
    let seed = std::env::var("DRYSTONE_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let corpus = corpus(reader);
    corpus.iter().for_each(|file| read(file));
    let mut mutator = Mutator::new(seed);
    for round in 0..rounds {
        let changed = mutator.mutate(&corpus);
        if catch_unwind(AssertUnwindSafe(|| read(&changed))).is_err() {
            let target = folder().join("../../target/fuzzing");
            std::fs::create_dir_all(&target).unwrap();
            let path = target.join(format!("{reader}-{seed}-{round}"));
            std::fs::write(&path, &changed).unwrap();
            panic!("{reader}, round {round}: left in {}", path.display());
        }
    }
}

#[test]
fn recordings_never_panic() {
    drive("recording", readers::recording, 1500);
}

#[test]
fn problems_never_panic() {
    drive("problem", readers::problem, 3000);
}

#[test]
fn meshes_never_panic() {
    drive("obj", readers::obj, 3000);
    drive("stl", readers::stl, 3000);
}

#[test]
fn robots_never_panic() {
    drive("urdf", readers::urdf, 2000);
}

#[test]
fn models_never_panic() {
    drive("mjcf", readers::mjcf, 2000);
}

#[test]
fn gltf_never_panics() {
    drive("gltf", readers::gltf, 2000);
}

#[test]
fn stages_never_panic() {
    drive("usd", readers::usd, 4000);
    drive("usdc", readers::usd, 4000);
}

#[test]
fn scenes_never_panic() {
    drive("scene", readers::scene, 2000);
}
