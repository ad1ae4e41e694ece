//! Draws scenes of the gallery at telling moments: `gallery_pictures OUTDIR [NAME ...]`.
//!
//! Each scene is drawn at a few times of its run into `OUTDIR/NAME-1.png` and so on, and one line
//! a scene says how long it took and how well the laws of contact held.

use std::path::Path;
use std::time::Instant;

use drystone_scene::{Scene, gallery};
use drystone_view::still::{Camera, Still};

/// Parts of a scene's time at which it is drawn.
const MOMENTS: [f64; 3] = [0.0, 0.3, 1.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("say where the pictures go")?;
    std::fs::create_dir_all(&folder)?;
    let chosen: Vec<String> = arguments.collect();
    for entry in gallery::entries() {
        if chosen.is_empty() || chosen.iter().any(|name| name == entry.name) {
            draw(&entry.scene()?, Path::new(&folder))?;
        }
    }
    Ok(())
}

fn draw(scene: &Scene, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (mut world, warnings) = scene.build_with_warnings()?;
    for warning in warnings {
        eprintln!("{}: {warning}", scene.name);
    }
    let still = Still {
        width: 960,
        height: 540,
        camera: camera(scene),
        ..Still::default()
    };
    let stage = world.stage();
    let start = Instant::now();
    let (mut contacts, mut penetration, mut residual) = (0, 0.0_f64, 0.0_f64);
    for (moment, part) in MOMENTS.into_iter().enumerate() {
        while world.time() < part * scene.seconds - 0.5 * world.dt() {
            let report = world.step()?;
            contacts = contacts.max(report.contacts);
            if let Some(certificate) = report.certificate {
                penetration = penetration.max(certificate.penetration_m);
                residual = residual.max(certificate.residual_m_s);
            }
        }
        let image = still.render(&stage, &world.frame())?;
        let file = folder.join(format!("{}-{}.png", scene.name, moment + 1));
        std::fs::write(file, image.png()?)?;
    }
    println!(
        "{:20} {:5} bodies {contacts:5} contacts {:6} steps {:7.2} s   penetration {:8.4} mm, residual {residual:9.2e} m/s",
        scene.name,
        world.body_count(),
        world.steps(),
        start.elapsed().as_secs_f64(),
        1e3 * penetration,
    );
    Ok(())
}

fn camera(scene: &Scene) -> Camera {
    let Some(given) = &scene.camera else {
        return Camera::default();
    };
    let default = Camera::default();
    Camera {
        eye: given.eye,
        target: given.target,
        field_of_view_deg: given.field_of_view.unwrap_or(default.field_of_view_deg),
        azimuth_deg: given.azimuth,
        elevation_deg: given.elevation.unwrap_or(default.elevation_deg),
    }
}
