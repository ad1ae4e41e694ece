//! What a step of the real-time strategy costs, and how well stacks stand in it.
//!
//! `cargo bench -p drystone --bench real_time [-- FILTER]` prints one line a scene: time of a
//! step while things fall (the first four seconds) and when they rest (the last two), mean and 95th
//! percentile; largest overlap, how far the top has sunk, what still moves. Settings can be changed by `KEY=VALUE`
//! arguments: `substeps`, `rounds`, `stiffness`, `loading`, `unloading`,
//! `rate`, `sleep` (0 for never), `simd`, `threads`, `steps`, `certify` (steps from one certificate to the
//! next, 0 for none).

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use drystone::glam::DVec3;
use drystone::math::simd::Instructions;
use drystone::{Body, Realtime, Settings, Shape3, Strategy, World3};

/// Steps in which things fall, and at the end those in which they rest.
const FALLING: usize = 240;
const RESTING: usize = 120;

struct Options {
    substep: Realtime,
    threads: u32,
    steps: u32,
    certify: u32,
    filter: Option<String>,
}

fn options() -> Options {
    let mut options = Options {
        substep: Realtime::default(),
        threads: 1,
        steps: 600,
        certify: 0,
        filter: None,
    };
    for argument in std::env::args().skip(1) {
        let Some((key, value)) = argument.split_once('=') else {
            if !argument.starts_with('-') {
                options.filter = Some(argument);
            }
            continue;
        };
        let number: f64 = value.parse().unwrap();
        match key {
            "substeps" => options.substep.substeps = number as u32,
            "rounds" => options.substep.rounds = number as u32,
            "learn" => options.substep.learn_every = number as u32,
            "stiffness" => options.substep.stiffness = number,
            "loading" => options.substep.loading = number,
            "unloading" => options.substep.unloading = number,
            "rate" => options.substep.repair_rate = number,
            "sleep" => options.substep.sleep_after = number,
            "simd" => options.substep.instructions = Instructions::every()[number as usize],
            "threads" => options.threads = number as u32,
            "steps" => options.steps = number as u32,
            "certify" => options.certify = number as u32,
            _ => panic!("unknown option {key}"),
        }
    }
    options
}

fn empty(options: &Options) -> World3 {
    let settings = Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(options.substep),
        threads: options.threads,
        certify_every: options.certify,
        ..Settings::default()
    };
    let mut world = World3::new(settings).unwrap();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    world
}

/// A pyramid wall of unit boxes; the last body is its top.
fn wall(options: &Options, rows: u32) -> World3 {
    let mut world = empty(options);
    let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for row in 0..rows {
        for k in 0..rows - row {
            let x = f64::from(k) + 0.5 * f64::from(row);
            let at = DVec3::new(x, 0.5 + f64::from(row), 0.0);
            world.add(Body::rigid(stone.clone()).at(at)).unwrap();
        }
    }
    world
}

fn tower(options: &Options, count: u32, heaviest: f64) -> World3 {
    let mut world = empty(options);
    let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for k in 0..count {
        let mass = if k + 1 == count { heaviest } else { 1.0 };
        let at = DVec3::new(0.0, 0.5 + f64::from(k), 0.0);
        world
            .add(Body::rigid(stone.clone()).at(at).with_mass(1000.0 * mass))
            .unwrap();
    }
    world
}

/// A column of mixed shapes that falls into a pit.
fn heap(options: &Options, count: u32) -> World3 {
    let mut world = empty(options);
    let side = 16;
    let width = 0.6 * f64::from(side);
    for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let normal = DVec3::new(-x, 0.0, -z);
        let wall = Body::fixed(Shape3::half_space(normal).unwrap());
        world
            .add(wall.at(DVec3::new(x, 0.0, z) * (0.5 * width + 0.3)))
            .unwrap();
    }
    let shapes = [
        Shape3::cuboid(DVec3::new(0.25, 0.2, 0.22)).unwrap(),
        Shape3::ball(0.25).unwrap(),
        Shape3::capsule(0.15, 0.15).unwrap(),
        Shape3::cuboid(DVec3::splat(0.2)).unwrap(),
    ];
    for k in 0..count {
        let (layer, in_layer) = (k / (side * side), k % (side * side));
        let (i, j) = (in_layer % side, in_layer / side);
        let at = |n: u32| (f64::from(n) - 0.5 * f64::from(side - 1)) * 0.6;
        let jitter = 0.05 * f64::from((k * 7919) % 13) / 13.0;
        let position = DVec3::new(at(i) + jitter, 0.5 + 0.6 * f64::from(layer), at(j) - jitter);
        let shape = shapes[(k % 4) as usize].clone();
        world.add(Body::rigid(shape).at(position)).unwrap();
    }
    world
}

/// Numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1_u32 << 24)
    }
}

/// Stones of 12 to 30 corners on balls, poured into a pit.
fn hulls(options: &Options, count: u32) -> World3 {
    let mut world = empty(options);
    let mut random = Random(1);
    let side = 15;
    for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let wall = Body::fixed(Shape3::half_space(DVec3::new(-x, 0.0, -z)).unwrap());
        let at = DVec3::new(x, 0.0, z) * (0.35 * f64::from(side));
        world.add(wall.at(at)).unwrap();
    }
    for k in 0..count {
        let corners = 12 + (18.0 * random.next()) as usize;
        let points: Vec<DVec3> = (0..corners)
            .map(|_| {
                let mut part = || 2.0 * random.next() - 1.0;
                let direction = DVec3::new(part(), part(), part());
                direction.normalize_or(DVec3::X) * 0.3
            })
            .collect();
        let Ok(stone) = Shape3::hull(&points) else {
            continue;
        };
        let place = |n: u32| (f64::from(n) - 0.5 * f64::from(side - 1)) * 0.68;
        let height = 0.4 + 0.65 * f64::from(k / (side * side));
        let at = DVec3::new(place(k % side), height, place(k / side % side));
        world.add(Body::rigid(stone).at(at)).unwrap();
    }
    world
}

/// Mixed bodies on hills of 20,000 triangles.
fn terrain(options: &Options, count: u32) -> World3 {
    let mut world = empty(options);
    let columns = 101;
    let height = |k: usize| {
        let at = |n: usize| n as f64 - 50.0;
        0.8 * (0.35 * at(k % columns)).sin() * (0.3 * at(k / columns)).cos()
    };
    let points: Vec<DVec3> = (0..columns * columns)
        .map(|k| {
            let at = |n: usize| 0.5 * (n as f64 - 50.0);
            DVec3::new(at(k % columns), 2.0 + height(k), at(k / columns))
        })
        .collect();
    let cells = (0..columns - 1).flat_map(|row| (0..columns - 1).map(move |x| row * columns + x));
    let triangles = cells.flat_map(|near| {
        let [p, q] = [near as u32, near as u32 + 1];
        let [far, opposite] = [p + columns as u32, q + columns as u32];
        [[p, far, q], [q, far, opposite]]
    });
    let ground = Shape3::mesh(points, triangles.collect()).unwrap();
    world.add(Body::fixed(ground)).unwrap();
    let shapes = [
        Shape3::cuboid(DVec3::new(0.25, 0.2, 0.22)).unwrap(),
        Shape3::ball(0.25).unwrap(),
        Shape3::capsule(0.15, 0.15).unwrap(),
        Shape3::cylinder(0.2, 0.2).unwrap(),
    ];
    let side = 20;
    for k in 0..count {
        let place = |n: u32| (f64::from(n) - 0.5 * f64::from(side - 1)) * 0.7;
        let height = 4.0 + 0.7 * f64::from(k / (side * side));
        let at = DVec3::new(place(k % side), height, place(k / side % side));
        let shape = shapes[(k % 4) as usize].clone();
        world.add(Body::rigid(shape).at(at)).unwrap();
    }
    world
}

fn measure(name: &str, options: &Options, mut world: World3) {
    if options
        .filter
        .as_ref()
        .is_some_and(|f| !name.contains(f.as_str()))
    {
        return;
    }
    let bodies = world.bodies().len();
    let top = world.body(&format!("body {}", bodies - 1)).unwrap();
    let start = world.pose(top).unwrap().position;
    let mut times = Vec::new();
    for _ in 0..options.steps {
        let began = Instant::now();
        world.step().unwrap();
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let moved = world.pose(top).unwrap().position - start;
    let contacts = world.solved_contacts();
    let deepest = contacts
        .iter()
        .fold(0.0_f64, |d, c| d.max(-c.point.separation));
    let fastest = world
        .bodies()
        .motion
        .iter()
        .fold(0.0_f64, |v, m| v.max(m.linear.length()));
    let moving = world
        .bodies()
        .motion
        .iter()
        .filter(|m| m.linear.length() > 0.1)
        .count();
    let phase = |times: &[f64]| {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        (mean, sorted[(sorted.len() - 1) * 95 / 100])
    };
    let falling = phase(&times[..times.len().min(FALLING)]);
    let resting = phase(&times[times.len() - times.len().min(RESTING)..]);
    println!(
        "{name:<14} {bodies:>6} bodies {:>6} contacts | falling {:>8.3} ms, p95 {:>8.3} | resting {:>8.3} ms, p95 {:>8.3} | deepest {:>8.3} mm, top moved ({:.1}, {:.1}, {:.1}) mm, fastest {fastest:.4} m/s, {moving} faster than 0.1 m/s",
        contacts.len(),
        falling.0,
        falling.1,
        resting.0,
        resting.1,
        1e3 * deepest,
        1e3 * moved.x,
        1e3 * moved.y,
        1e3 * moved.z,
    );
}

fn main() {
    let options = options();
    measure("wall-20", &options, wall(&options, 20));
    measure("wall-100", &options, wall(&options, 100));
    measure("tower-01", &options, tower(&options, 1, 1.0));
    measure("tower-02", &options, tower(&options, 2, 1.0));
    measure("tower-05", &options, tower(&options, 5, 1.0));
    measure("tower-10", &options, tower(&options, 10, 1.0));
    measure("tower-20", &options, tower(&options, 20, 1.0));
    measure("tower-40", &options, tower(&options, 40, 1.0));
    measure("ratio-100", &options, tower(&options, 2, 100.0));
    measure("ratio-1000", &options, tower(&options, 2, 1000.0));
    measure("ratio-1e6", &options, tower(&options, 2, 1e6));
    measure("ten-under-100", &options, tower(&options, 11, 100.0));
    measure("heap", &options, heap(&options, 4096));
    measure("hulls", &options, hulls(&options, 3000));
    measure("terrain", &options, terrain(&options, 2000));
}
