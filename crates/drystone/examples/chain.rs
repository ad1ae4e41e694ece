//! How far a hanging chain of 100 links with a load of 100 links' mass stretches, and how fast.
//!
//! `cargo run --release -p drystone --example chain -- [key=value ...]`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::DVec3;
use drystone::{Body, Joint, Realtime, Settings, Shape3, Strategy, World3};

fn main() {
    let mut options = Realtime {
        sleep_after: 0.0,
        ..Realtime::default()
    };
    let (mut links, mut ratio, mut steps, mut swing) = (100, 100.0, 600, 1.0);
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').expect("key=value");
        let number: f64 = value.parse().expect("a number");
        match key {
            "links" => links = number as usize,
            "ratio" => ratio = number,
            "steps" => steps = number as u32,
            "swing" => swing = number,
            "rounds" => options.rounds = number as u32,
            "substeps" => options.substeps = number as u32,
            _ => panic!("unknown {key}"),
        }
    }
    let mut world = World3::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(options),
        certify_every: 0,
        ..Settings::default()
    })
    .unwrap();
    // Hanging straight down (swing 0) or sticking out sideways (swing 1).
    let along = DVec3::new(swing, -(1.0 - swing), 0.0).normalize();
    let link = Shape3::ball(0.1).unwrap();
    let hook = world.add(Body::fixed(link.clone())).unwrap();
    let mut last = hook;
    for k in 1..=links {
        let at = along * (0.2 * k as f64);
        let mass = if k == links { ratio } else { 1.0 };
        let next = world
            .add(Body::rigid(link.clone()).at(at).with_mass(mass))
            .unwrap();
        let middle = along * (0.2 * (k as f64 - 0.5));
        world.join(Joint::ball(last, next).at(middle)).unwrap();
        last = next;
    }
    let start = std::time::Instant::now();
    let (mut worst, mut longest) = (0.0_f64, 0.0_f64);
    for step in 1..=steps {
        world.step().unwrap();
        worst = worst.max(world.joint_error().0);
        let mut length = 0.0;
        for k in 1..=links {
            let bodies = world.bodies();
            length += (bodies.position[k] - bodies.position[k - 1]).length();
        }
        longest = longest.max(length);
        if step % (steps / 10).max(1) == 0 {
            let (error, _) = world.joint_error();
            let tip = world.pose(last).unwrap().position;
            println!(
                "{:6.2} s  gap {error:.5} m  length {length:.4} m  tip {tip:.3}  energy {:.1}",
                world.time(),
                world.energy().kinetic + world.energy().potential
            );
        }
    }
    println!(
        "largest gap {worst:.5} m, longest {longest:.4} m of {:.1} m; {:.3} ms a step",
        0.2 * links as f64,
        start.elapsed().as_secs_f64() * 1e3 / f64::from(steps)
    );
}
