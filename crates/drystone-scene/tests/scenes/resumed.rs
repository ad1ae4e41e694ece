//! A snapshot is a function of the world's state alone: whatever goes on from it comes to the same
//! bytes as the world that it was taken from, which has lists, trees and layouts from steps before.
//!
//! `DRYSTONE_LONG=1` runs every scene for three times its length; `DRYSTONE_SCENES=a,b` some alone.

use drystone::Strategy;
use drystone_scene::{AnyWorld, gallery};

/// Steps times bodies of a scene that are made in a short run: of the real-time strategy, and of
/// others, which take tens of times as long.
const FAST: u64 = 30_000;
const SLOW: u64 = 1_000;

fn snapshot(world: &AnyWorld) -> Vec<u8> {
    match world {
        AnyWorld::Flat(world) => world.snapshot(),
        AnyWorld::Solid(world) => world.snapshot(),
    }
}

fn restore(world: &mut AnyWorld, bytes: &[u8]) {
    match world {
        AnyWorld::Flat(world) => world.restore(bytes).unwrap(),
        AnyWorld::Solid(world) => world.restore(bytes).unwrap(),
    }
}

fn strategy(world: &AnyWorld) -> Strategy {
    match world {
        AnyWorld::Flat(world) => world.settings().strategy,
        AnyWorld::Solid(world) => world.settings().strategy,
    }
}

/// Steps a world, and beside it others that were restored from its snapshots, a new one every
/// `every` steps.
fn check(name: &str, mut world: AnyWorld, steps: u64, every: u64) {
    let fresh = world.clone();
    let mut other = fresh.clone();
    for step in 1..=steps {
        let (went, followed) = (world.step(), other.step());
        assert_eq!(went.is_ok(), followed.is_ok(), "{name}: step {step}");
        if went.is_err() {
            // Some scenes end so: where there is no more room.
            return;
        }
        if step % every == 0 || step == steps {
            let state = snapshot(&world);
            let came = snapshot(&other);
            let lengths = [state.len(), came.len()];
            assert!(state == came, "{name}: step {step}, {lengths:?} bytes");
            other = fresh.clone();
            restore(&mut other, &state);
            assert!(snapshot(&other) == state, "{name}: step {step}, at once");
        }
    }
}

#[test]
fn scenes_go_on_from_snapshots_to_the_same_bytes() {
    let only = std::env::var("DRYSTONE_SCENES").unwrap_or_default();
    let is_long = std::env::var_os("DRYSTONE_LONG").is_some();
    for entry in gallery::entries() {
        if !only.is_empty() && !only.split(',').any(|name| name == entry.name) {
            continue;
        }
        let scene = entry.scene().unwrap();
        let world = scene.build().unwrap();
        let all = (3.0 * scene.seconds / world.dt()) as u64;
        let few = match strategy(&world) {
            Strategy::Realtime(_) => FAST,
            _ => SLOW,
        };
        let steps = if is_long {
            all
        } else {
            all.min(few / world.body_count().max(1) as u64)
        };
        // Prime, so that it falls into step with nothing.
        let every = if is_long {
            47
        } else {
            (steps / 5).clamp(1, 47)
        };
        check(entry.name, world, steps, every);
    }
}
