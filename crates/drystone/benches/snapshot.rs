//! What a snapshot costs beside a step: `cargo bench -p drystone --bench snapshot`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use drystone::glam::DVec3;
use drystone::{Body, Realtime, Settings, Shape3, Strategy, World3};

const ROUNDS: u32 = 60;

/// Boxes and balls in towers of ten, settled.
fn heap(bodies: u32) -> World3 {
    let mut world = World3::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        certify_every: 0,
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let shapes = [
        Shape3::cuboid(DVec3::splat(0.25)).unwrap(),
        Shape3::ball(0.25).unwrap(),
    ];
    let side = f64::from(bodies / 10).sqrt().ceil() as u32;
    for k in 0..bodies {
        let (tower, level) = (k / 10, k % 10);
        let at = DVec3::new(
            0.6 * f64::from(tower % side),
            0.3 + 0.55 * f64::from(level),
            0.6 * f64::from(tower / side),
        );
        let shape = shapes[usize::from(level == 9)].clone();
        world.add(Body::rigid(shape).at(at)).unwrap();
    }
    for _ in 0..120 {
        world.step().unwrap();
    }
    world
}

/// The median of repeated runs, µs.
fn median(mut act: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    println!("bodies   bytes a body   snapshot      restore       clone         step");
    for bodies in [100, 1_000, 4_000] {
        let mut world = heap(bodies);
        let saved = world.snapshot();
        let snapshot = median(|| drop(world.snapshot()));
        let clone = median(|| drop(world.clone()));
        let restore = median(|| world.restore(&saved).unwrap());
        let step = median(|| {
            world.step().unwrap();
        });
        println!(
            "{bodies:6} {:10} {snapshot:12.0} µs {restore:10.0} µs {clone:10.0} µs {step:10.0} µs",
            saved.len() / bodies as usize
        );
    }
}
