//! What a step of cloth costs, and where the time goes.
//!
//! `cargo bench -p drystone --bench cloth` prints a table for people and a line of JSON for
//! programs: sheets of 32² to 256² squares draped on a sphere, and five sheets of 128². Give sizes
//! as arguments (`-- 32 64`) for fewer.
//!
//! The cloth starts as a cap that lies on the sphere, so that contact is there from the first
//! step; the first steps are not counted.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Instant;

use drystone::glam::DVec3;
use drystone::{Body, D3, Deformable, Mesh, Phase, Settings, Shape3, Substance, World3};

const RADIUS: f64 = 0.5;
const WARM_UP: usize = 6;

/// Sheets of n × n squares bent over a sphere, one over the other.
fn draped(n: u32, sheets: u32) -> World3 {
    let mut world = World3::new(Settings {
        dt: 1.0 / 120.0,
        certify_every: 0,
        threads: 2,
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::ball(RADIUS).unwrap()))
        .unwrap();
    let thickness = 0.4 * 1.8 / f64::from(n);
    for k in 0..sheets {
        let mut mesh = Mesh::<D3>::cloth([1.8, 1.8], [n, n]);
        let height = RADIUS + thickness * (0.52 + 1.02 * f64::from(k));
        for v in &mut mesh.vertices {
            // Over the sphere along great circles as far as 60°, then straight down.
            let along = (v.x * v.x + v.z * v.z).sqrt();
            let angle = (along / height).min(1.05);
            let rest = along - angle * height;
            let out = if along > 0.0 { *v / along } else { DVec3::X };
            let bent = out * (height * angle.sin() + rest * 0.5 * angle.cos())
                + DVec3::Y * (height * angle.cos() - rest * angle.sin());
            *v = bent;
        }
        let substance = Substance {
            young: 3e4,
            density: 200.0,
            thickness,
            damping: 3e-3,
            bending: 0.01,
            ..Substance::default()
        };
        let cloth = Deformable {
            linear_damping: 0.5,
            ..Deformable::new(mesh, substance)
        };
        world.add_deformable(cloth).unwrap();
    }
    world
}

/// Seconds a step, contacts a step, and seconds of each phase.
fn measure(world: &mut World3, steps: usize) -> (f64, f64, BTreeMap<Phase, f64>) {
    for _ in 0..WARM_UP {
        world.step().unwrap();
    }
    let mut phases: BTreeMap<Phase, f64> = BTreeMap::new();
    let mut contacts = 0;
    let began = Instant::now();
    for _ in 0..steps {
        let mut last = Instant::now();
        let report = world
            .step_watched(&mut |phase| {
                *phases.entry(phase).or_default() += last.elapsed().as_secs_f64();
                last = Instant::now();
            })
            .unwrap();
        contacts += report.contacts;
    }
    let count = steps as f64;
    let seconds = began.elapsed().as_secs_f64() / count;
    (seconds, contacts as f64 / count, phases)
}

fn main() {
    let sizes: Vec<u32> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() {
        vec![32, 64, 128, 256]
    } else {
        sizes
    };
    println!(
        "| cloth | contacts | ms a step | µs a contact | elastic | contact | rescue | detection | rest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut json = Vec::new();
    let cases = sizes.iter().map(|&n| (n, 1));
    for (n, sheets) in cases.chain(sizes.contains(&128).then_some((128, 5))) {
        let mut world = draped(n, sheets);
        let steps = if n * sheets > 128 { 5 } else { 20 };
        let (seconds, contacts, phases) = measure(&mut world, steps);
        let all: f64 = phases.values().sum();
        let share = |phase: Phase| 100.0 * phases.get(&phase).copied().unwrap_or(0.0) / all;
        let [elastic, contact, rescue, detection] = [
            share(Phase::Elastic),
            share(Phase::Contact),
            share(Phase::Rescue),
            share(Phase::Detection),
        ];
        let rest = 100.0 - elastic - contact - rescue - detection;
        println!(
            "| {sheets} × {n}² | {contacts:.0} | {:.1} | {:.1} | {elastic:.0} % | {contact:.0} % \
             | {rescue:.0} % | {detection:.0} % | {rest:.0} % |",
            1e3 * seconds,
            1e6 * seconds / contacts,
        );
        json.push(format!(
            "{{\"sheets\":{sheets},\"squares\":{n},\"contacts\":{contacts:.0},\"ms\":{:.2}}}",
            1e3 * seconds
        ));
    }
    println!("[{}]", json.join(","));
}
