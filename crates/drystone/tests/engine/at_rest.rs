//! Arches and deep piles come to rest in the real-time strategy, and stay so without sleeping.

#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::surface;
use crate::real_time::{run, settings};
use drystone::glam::DVec2;
use drystone::{Body, Shape2, World2};

/// Stones that sway were struck as if they came from afar, and pushed back by their load as well.
#[test]
fn an_arch_of_twenty_one_stones_comes_to_rest() {
    let mut world = World2::new(settings()).unwrap();
    let m = surface(&mut world, 0.7, 0.0);
    let ground = Shape2::half_space(DVec2::Y).unwrap();
    world.add(Body::fixed(ground).of(m)).unwrap();
    let slice = std::f64::consts::PI / 21.0;
    for k in 0..21_u32 {
        let (from, to) = (slice * f64::from(k), slice * f64::from(k + 1));
        let corner = |r: f64, a: f64| DVec2::new(r * a.cos(), r * a.sin());
        let points = [
            corner(9.0, from),
            corner(11.0, from),
            corner(11.0, to),
            corner(9.0, to),
        ];
        let stone = Shape2::hull(&points).unwrap();
        world.add(Body::rigid(stone).of(m)).unwrap();
    }
    let crown = world.bodies().position[11].y;
    run(&mut world, 600);
    let sunk = crown - world.bodies().position[11].y;
    assert!(sunk < 0.03, "the crown sinks by {sunk} m");
    let speeds = world.bodies().motion.iter().map(|m| m.linear.length());
    let fastest = speeds.fold(0.0, f64::max);
    assert!(fastest < 0.01, "{fastest} m/s after ten seconds");
}

/// Four hundred balls fall down a shaft and lie a hundred layers deep. Repair that pays no regard
/// to how deep an overlap lies makes such a pile swing without end (0.10 m/s at the median).
#[test]
fn a_deep_pile_of_balls_does_not_swing_by_itself() {
    let mut settings = settings();
    settings.certify_every = 0;
    let mut world = World2::new(settings).unwrap();
    let floor = Shape2::half_space(DVec2::Y).unwrap();
    world.add(Body::fixed(floor)).unwrap();
    for side in [1.0, -1.0] {
        let wall = Shape2::half_space(DVec2::X * -side).unwrap();
        world
            .add(Body::fixed(wall).at(DVec2::X * 2.4 * side))
            .unwrap();
    }
    for k in 0..400_u32 {
        let column = 1.2 * f64::from(k % 4) + 0.1 * f64::from(k % 7);
        let at = DVec2::new(column - 2.0, 0.6 + 1.2 * f64::from(k / 4));
        let ball = Shape2::ball(0.25 + 0.15 * f64::from((k * 7919) % 61) / 60.0).unwrap();
        world.add(Body::rigid(ball).at(at)).unwrap();
    }
    run(&mut world, 900);
    let motion = world.bodies().motion.iter().skip(3);
    let mut speeds: Vec<f64> = motion.map(|m| m.linear.length()).collect();
    speeds.sort_by(f64::total_cmp);
    assert!(speeds[200] < 0.07, "{} m/s at the median", speeds[200]);
}
