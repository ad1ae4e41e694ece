//! One Wavefront file for each frame, in world coordinates.

use std::fmt::Write;

use super::model::{Model, place};
use super::surface;
use crate::{Frame, Stage};

/// The file of a frame. Corners are counted from 1 through all objects, as the format has it.
#[must_use]
pub fn frame(stage: &Stage, model: &Model, frame: &Frame) -> String {
    let mut text = format!("# drystone, step {}, {} s\n", frame.step, frame.time);
    let mut first = 1;
    for (k, object) in stage.objects.iter().enumerate() {
        if model.hidden.get(k) == Some(&true) {
            continue;
        }
        let position = frame.positions.get(k).copied().unwrap_or_default();
        let rotation = frame.rotations.get(k).copied();
        let rotation = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        // Writing to a string can't fail. A name ends with its line.
        let _ = writeln!(text, "o {}", object.name.replace(['\n', '\r'], " "));
        for placed in model.objects.get(k).into_iter().flatten() {
            let mesh = &model.meshes[placed.mesh];
            for &vertex in &mesh.points {
                let [x, y, z] = place(placed, position, rotation, vertex);
                let _ = writeln!(text, "v {x} {y} {z}");
            }
            for [a, b, c] in &mesh.triangles {
                let _ = writeln!(text, "f {} {} {}", a + first, b + first, c + first);
            }
            first += mesh.points.len() as u32;
        }
    }
    for skin in &stage.skins {
        let surface = surface::of_skin(skin, &frame.positions, stage.dimension == 2);
        object(
            &mut text,
            &skin.name,
            &surface.points,
            &surface.triangles,
            first,
        );
        first += surface.points.len() as u32;
    }
    text
}

/// One surface as a file: what a vertex cache moves.
#[must_use]
pub fn single(name: &str, points: &[[f32; 3]], triangles: &[[u32; 3]]) -> String {
    let points: Vec<[f64; 3]> = points.iter().map(|point| point.map(f64::from)).collect();
    let mut text = String::from("# drystone\n");
    object(&mut text, name, &points, triangles, 1);
    text
}

/// Adds an object whose first vertex has that number.
fn object(text: &mut String, name: &str, points: &[[f64; 3]], triangles: &[[u32; 3]], first: u32) {
    // Writing to a string can't fail. A name ends with its line.
    let _ = writeln!(text, "o {}", name.replace(['\n', '\r'], " "));
    for [x, y, z] in points {
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for [a, b, c] in triangles {
        let _ = writeln!(text, "f {} {} {}", a + first, b + first, c + first);
    }
}
