//! What a step costs, and what its certificate costs.
//!
//! `cargo bench -p drystone --bench step` prints a table for people and a line of JSON for
//! programs. The two variants of each scene run interleaved, step by step, in one process, and
//! are compared as a ratio of medians.

#![allow(missing_docs, clippy::unwrap_used)]

use std::time::Instant;

use drystone::glam::DVec3;
use drystone::{Body, Shape3, World3};

/// A pyramid wall of unit boxes, `rows` high.
fn wall(rows: u32) -> World3 {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
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

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    println!(
        "{:<12} {:>9} {:>13} {:>13} {:>12}",
        "scene", "contacts", "plain ms", "certified ms", "certificate"
    );
    for rows in [10, 20, 40] {
        let mut plain = wall(rows);
        plain.settings_mut().certify_every = 0;
        let mut certified = wall(rows);
        // The first step finds all loads from nothing; it is not what a step costs.
        for _ in 0..20 {
            plain.step().unwrap();
            certified.step().unwrap();
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut contacts = 0;
        for _ in 0..120 {
            for (world, times) in [(&mut plain, &mut a), (&mut certified, &mut b)] {
                let began = Instant::now();
                contacts = world.step().unwrap().contacts;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
        let (a, b) = (median(a), median(b));
        let share = (b - a) / b;
        println!(
            "wall {rows:<7} {contacts:>9} {a:>13.3} {b:>13.3} {:>11.1}%",
            100.0 * share
        );
        println!(
            "{{\"scene\":\"wall {rows}\",\"contacts\":{contacts},\"plain_ms\":{a:.4},\"certified_ms\":{b:.4},\"certificate_share\":{share:.4}}}"
        );
    }
}
