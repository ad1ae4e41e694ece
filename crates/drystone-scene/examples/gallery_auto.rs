//! Every scene of the gallery with `auto`, and how often it missed its tolerance.
//!
//! `cargo run --release -p drystone-scene --example gallery_auto [SECONDS] [TOLERANCE] [SCENE]`
//! simulates 0.5 s of each scene (or of one) with a tolerance of 1e-6 m/s.

use std::time::Instant;

use drystone::SolverKind;
use drystone_scene::gallery;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: f64| {
        let told = arguments.get(k).map(|text| text.parse::<f64>());
        told.transpose().map(|value| value.unwrap_or(default))
    };
    let (seconds, tolerance) = (number(0, 0.5)?, number(1, 1e-6)?);
    println!(
        "{:<20} {:>6} {:>6} {:>14} {:>10} {:>12} {:>10}",
        "scene", "steps", "missed", "worst m/s", "ms a step", "longest ms", "iterations"
    );
    let is_wanted = |name: &str| arguments.get(2).is_none_or(|only| only == name);
    for entry in gallery::entries().iter().filter(|e| is_wanted(e.name)) {
        let mut world = entry.scene()?.build()?;
        let mut solver = SolverKind::named("auto").unwrap_or_default();
        solver.set_tolerance(tolerance);
        world.set_solver(solver);
        world.set_certify_every(0);
        let (mut steps, mut missed, mut worst, mut iterations) = (0_u32, 0_u32, 0.0_f64, 0);
        let (mut total, mut longest) = (0.0, 0.0_f64);
        while world.time() < seconds {
            let began = Instant::now();
            let report = world.step()?.solve;
            let spent = began.elapsed().as_secs_f64() * 1e3;
            total += spent;
            longest = longest.max(spent);
            steps += 1;
            missed += u32::from(!report.converged);
            worst = worst.max(report.residual);
            iterations = iterations.max(report.iterations);
        }
        println!(
            "{:<20} {steps:>6} {missed:>6} {worst:>14.1e} {:>10.2} {longest:>12.1} {iterations:>10}",
            entry.name,
            total / f64::from(steps.max(1)),
        );
    }
    Ok(())
}
