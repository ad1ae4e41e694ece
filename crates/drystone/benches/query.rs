//! How many queries a second a world of ten thousand bodies answers.
//!
//! `cargo bench -p drystone --bench query` prints a table for people and a line of JSON a row
//! for programs. One thread, one tree; the best of five rounds counts.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use drystone::glam::DVec3;
use drystone::world::query::{Filter, Ray};
use drystone::{Body, Pose, Shape3, World3};

/// Edge of the scene in bodies: 22³ = 10,648, less what does not fit in 10,000.
const SIDE: usize = 22;
const BODIES: usize = 10_000;

/// Solids of five kinds on a loose grid, over a floor.
fn scene() -> World3 {
    let kinds = [
        Shape3::ball(0.3).unwrap(),
        Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25)).unwrap(),
        Shape3::capsule(0.2, 0.15).unwrap(),
        Shape3::cylinder(0.25, 0.2).unwrap(),
        Shape3::hull(&[
            DVec3::new(0.3, -0.2, 0.3),
            DVec3::new(-0.3, -0.2, 0.25),
            DVec3::new(0.0, -0.2, -0.3),
            DVec3::new(0.0, 0.3, 0.0),
        ])
        .unwrap(),
    ];
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).at(DVec3::NEG_Y))
        .unwrap();
    for k in 0..BODIES {
        let at = DVec3::new(
            (k % SIDE) as f64,
            (k / SIDE % SIDE) as f64,
            (k / SIDE / SIDE) as f64,
        );
        world
            .add(Body::rigid(kinds[k % kinds.len()].clone()).at(at))
            .unwrap();
    }
    world
}

/// Numbers from 0 to 1, the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Prints how often a second `one` runs, over `count` calls, and how many of them found something.
fn row(name: &str, count: usize, mut one: impl FnMut(usize) -> bool) {
    let mut best = f64::INFINITY;
    let mut found = 0;
    for _ in 0..5 {
        let began = Instant::now();
        found = (0..count).filter(|&k| black_box(one(k))).count();
        best = best.min(began.elapsed().as_secs_f64());
    }
    let rate = count as f64 / best;
    let share = found as f64 / count as f64;
    println!(
        "{name:<28} {rate:>13.0} {:>8.2} {:>7.0}%",
        1e6 / rate,
        100.0 * share
    );
    println!(
        "{{\"query\":\"{name}\",\"bodies\":{BODIES},\"per_second\":{rate:.0},\"found\":{share:.4}}}"
    );
}

fn main() {
    let world = scene();
    let mut chance = Chance(1);
    let extent = SIDE as f64;
    let rays: Vec<Ray<_>> = (0..20_000)
        .map(|_| Ray::new(chance.point() * extent, chance.point() - DVec3::splat(0.5)))
        .collect();
    let poses: Vec<Pose<_>> = rays.iter().map(|ray| Pose::at(ray.origin)).collect();
    let ball = Shape3::ball(0.3).unwrap();
    let brick = Shape3::cuboid(DVec3::splat(0.2)).unwrap();
    let all = Filter::all();

    println!(
        "{:<28} {:>13} {:>8} {:>8}",
        "query", "per second", "µs each", "found"
    );
    row("build the tree", 20, |_| {
        black_box(world.query_tree());
        true
    });
    let tree = world.query_tree();
    row("ray, nearest", rays.len(), |k| {
        tree.cast_ray(&rays[k], &all).unwrap().is_some()
    });
    row("ray, 5 m", rays.len(), |k| {
        tree.cast_ray(&rays[k].up_to(5.0), &all).unwrap().is_some()
    });
    row("ray, all bodies", 2_000, |k| {
        !tree.cast_ray_all(&rays[k], &all).unwrap().is_empty()
    });
    for (name, shape) in [("cast a ball 5 m", &ball), ("cast a box 5 m", &brick)] {
        row(name, 5_000, |k| {
            let motion = rays[k].direction.normalize() * 5.0;
            tree.cast_shape(shape, poses[k], motion, &all)
                .unwrap()
                .is_some()
        });
    }
    row("closest point in 2 m", rays.len(), |k| {
        tree.closest_point(rays[k].origin, 2.0, &all)
            .unwrap()
            .is_some()
    });
    row("overlap with a box", rays.len(), |k| {
        !tree.overlapping(&brick, poses[k], &all).unwrap().is_empty()
    });
}
