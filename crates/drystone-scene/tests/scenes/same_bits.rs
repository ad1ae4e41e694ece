//! The same bits for any number of threads and any instructions, on every scene of the gallery.

use drystone::math::simd::Instructions;
use drystone::{Realtime, Space, Strategy, World};
use drystone_scene::{AnyWorld, gallery};

/// Enough for what falls to land and for what is hit to move.
const STEPS: u32 = 40;

/// Hash of the state and of the events of a run.
fn run<S: Space>(world: &World<S>, threads: u32, instructions: Instructions) -> (u64, String) {
    let mut world = world.clone();
    let settings = world.settings_mut();
    if !matches!(settings.strategy, Strategy::Realtime(_)) {
        settings.dt = Strategy::Realtime(Realtime::default()).usual_dt();
        settings.contact.impact = drystone::ImpactLaw::Newton;
    }
    let mut options = match settings.strategy {
        Strategy::Realtime(options) => options,
        _ => Realtime::default(),
    };
    options.instructions = instructions;
    settings.strategy = Strategy::Realtime(options);
    settings.threads = threads;
    settings.events = true;
    settings.certify_every = 0;
    let mut events = String::new();
    for _ in 0..STEPS {
        world.step().unwrap();
        if !world.events().is_empty() {
            events.push_str(&format!("{:?}\n", world.events()));
        }
    }
    (world.state_hash(), events)
}

fn check<S: Space>(name: &str, world: &World<S>) {
    let expected = run(world, 1, Instructions::Portable);
    for threads in [1, 2, 3, 4, 8] {
        let got = run(world, threads, Instructions::best());
        assert!(got == expected, "{name} on {threads} threads");
    }
}

#[test]
fn every_scene_gives_the_same_bits_on_any_number_of_threads_with_and_without_avx() {
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        // Deformables move by the other strategy, on one thread.
        if !scene.deformables.is_empty() {
            continue;
        }
        match scene.build().unwrap() {
            AnyWorld::Flat(world) => check(entry.name, &world),
            AnyWorld::Solid(world) => check(entry.name, &world),
        }
    }
}

/// `realtime` was once called `substep`: scenes that say so mean the same.
#[test]
fn the_old_name_of_realtime_is_still_read() {
    let settings = |name: &str| {
        let text = format!(
            "dimension = 3\nstrategy = \"{name}\"\n[{name}]\nrounds = 9\n\
             [[bodies]]\nshape.ball.radius = 0.5\n"
        );
        let scene = drystone_scene::Scene::from_toml(&text, "ball.toml").unwrap();
        match scene.build().unwrap() {
            drystone_scene::AnyWorld::Solid(world) => *world.settings(),
            drystone_scene::AnyWorld::Flat(_) => unreachable!("the scene is in space"),
        }
    };
    assert_eq!(settings("substep"), settings("realtime"));
    let Strategy::Realtime(options) = settings("substep").strategy else {
        panic!("not stepped in real time");
    };
    assert_eq!(options.rounds, 9);
}
