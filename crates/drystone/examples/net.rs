//! How far the joints of a net that swings down come apart, and how long a step takes.
//!
//! `cargo run --release -p drystone --example net -- [side] [steps]`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::DVec3;
use drystone::{Body, BodyId, Joint, Realtime, Settings, Shape3, Strategy, World3};

fn main() {
    let number = |at: usize, usual: usize| {
        let given = std::env::args().nth(at);
        given.map_or(usual, |text| text.parse().expect("a number"))
    };
    let (side, steps) = (number(1, 30), number(2, 600));
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
    let mut above: Vec<BodyId> = Vec::new();
    for row in 0..side {
        let mut this: Vec<BodyId> = Vec::new();
        for column in 0..side {
            let at = DVec3::new(column as f64, 0.0, row as f64);
            let shape = Shape3::ball(0.4).unwrap();
            let body = if row == 0 {
                Body::fixed(shape)
            } else {
                Body::rigid(shape)
            };
            let ball = world.add(body.at(at)).unwrap();
            let mut join = |other: BodyId, half: DVec3| {
                world.join(Joint::ball(other, ball).at(at - half)).unwrap();
            };
            if let Some(&other) = above.get(column) {
                join(other, DVec3::new(0.0, 0.0, 0.5));
            }
            if let (Some(&other), true) = (this.last(), row > 0) {
                join(other, DVec3::new(0.5, 0.0, 0.0));
            }
            this.push(ball);
        }
        above = this;
    }
    let start = std::time::Instant::now();
    let mut worst = 0.0_f64;
    for step in 1..=steps {
        world.step().unwrap();
        let (gap, _) = world.joint_error();
        worst = worst.max(gap);
        if step % (steps / 10).max(1) == 0 {
            let energy = world.energy();
            println!(
                "{:6.2} s  gap {:.4} m  energy {:.0} J",
                world.time(),
                gap,
                energy.kinetic + energy.potential
            );
        }
    }
    let per_step = start.elapsed().as_secs_f64() * 1e3 / steps as f64;
    println!("largest gap {worst:.4} m; {per_step:.3} ms a step");
}
