//! glTF with `KHR_physics_rigid_bodies` and `KHR_implicit_shapes`.
//!
//! A node with `motion` is a body; colliders below it are its parts, other colliders are fixed.
//! glTF has y up and metres, as scenes have. The JSON is read value by value: every index, count
//! and number is checked where it is used.

mod body;
mod document;
mod joint;
mod material;
mod mesh;
mod physics;
mod shape;
mod value;

use std::path::Path;

use super::Imported;
use super::files::Files;
use crate::error::SceneError;
use document::Document;

/// Reads a `.glb` or `.gltf` file.
pub(super) fn import(path: &Path, file: &str, files: &mut Files) -> Result<Imported, SceneError> {
    let bytes = files.bytes(path)?;
    let document = Document::read(&bytes, file, files)?;
    physics::scene(&document)
}
