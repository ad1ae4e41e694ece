//! USD with UsdPhysics.
//!
//! ```text
//! text, binary ─▶ Layer ─▶ Stage (all layers composed) ─▶ transforms, bodies, joints ─▶ Scene
//! ```
//!
//! A prim with `PhysicsRigidBodyAPI` is a body; colliders below it are its parts, other colliders
//! are fixed. The reader is our own: the crate that could read stages, `openusd`, takes over a
//! minute to compile, and of a stage's hundreds of schemas physics needs a handful.

mod assets;
mod attribute;
mod binary;
mod body;
mod collide;
mod compose;
mod joint;
mod layer;
mod mass;
mod material;
mod mesh;
mod package;
mod scene;
mod shape;
mod stage;
mod text;
mod transform;
mod unread;

use std::path::Path;

use super::Imported;
use super::files::Files;
use crate::error::SceneError;
use assets::Assets;
use stage::Stage;

/// Reads a stage.
pub(super) fn import(path: &Path, file: &str, files: &mut Files) -> Result<Imported, SceneError> {
    let mut assets = Assets::new(files, file);
    let (first, name) = assets.first(path)?;
    let stage = Stage::compose((first, name), &mut assets, file)?;
    scene::make(&stage)
}
