//! One Wavefront file for each frame, in world coordinates.

use std::fmt::Write;

use super::model::{Model, place};
use crate::{Frame, Stage};

/// The file of a frame. Corners are counted from 1 through all objects, as the format has it.
#[must_use]
pub fn frame(stage: &Stage, model: &Model, frame: &Frame) -> String {
    let mut text = format!("# drystone, step {}, {} s\n", frame.step, frame.time);
    let mut first = 1;
    for (k, object) in stage.objects.iter().enumerate() {
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
    text
}
