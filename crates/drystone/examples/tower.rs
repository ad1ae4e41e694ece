//! Ten boxes on each other: does the tower stand, and how well did the laws of contact hold?
//!
//! `cargo run --release -p drystone --example tower`

use drystone::glam::DVec3;
use drystone::{Body, Shape3, World3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World3::reference();
    world.add(Body::fixed(Shape3::half_space(DVec3::Y)?).named("floor"))?;
    let stone = Shape3::cuboid(DVec3::splat(0.5))?; // half of each edge, m
    for k in 0..10 {
        let at = DVec3::new(0.0, 0.5 + f64::from(k), 0.0);
        world.add(
            Body::rigid(stone.clone())
                .at(at)
                .named(format!("stone {k}")),
        )?;
    }
    for _ in 0..2400 {
        let report = world.step()?;
        if let Some(c) = report.certificate.filter(|c| c.step % 480 == 0) {
            println!(
                "{:4.1} s: penetration {:.3} mm, residual {:.1e} m/s, energy made {:.1e} J",
                world.time(),
                1e3 * c.penetration_m,
                c.residual_m_s,
                c.energy_made_j
            );
        }
    }
    let top = world.body("stone 9").and_then(|id| world.pose(id));
    println!("the top is at {:?} m", top.map(|pose| pose.position.y));
    Ok(())
}
