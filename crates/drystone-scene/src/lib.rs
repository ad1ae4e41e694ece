//! Scenes: what there is at the start, in a file a person can write.
//!
//! A [`Scene`] is plain data read from TOML or JSON ([`Scene::load`], [`Scene::from_toml`],
//! [`Scene::from_json`]). [`Scene::build`] checks it and makes the engine's world of it. Whatever
//! is wrong is a [`SceneError`] that points at the line and column of the file, names the object
//! and the field, and says what would be right; no input makes this crate panic.
//!
//! The [`gallery`] holds named scenes that tests, benchmarks, documentation and the viewer share,
//! and [`json_schema`] describes the format to editors.
//!
//! ```
//! use drystone_scene::Scene;
//!
//! let scene = Scene::from_toml(
//!     r#"
//!     dimension = 3
//!     [[bodies]]
//!     name = "floor"
//!     kind = "fixed"
//!     shape.half_space.normal = [0, 1, 0]
//!     [[bodies]]
//!     name = "stone"
//!     shape.box.size = [1, 0.5, 0.5]
//!     position = [0, 0.25, 0]
//!     repeat.stack.count = 5
//!     "#,
//!     "tower.toml",
//! )?;
//! let mut world = scene.build()?;
//! for _ in 0..10 {
//!     world.step()?;
//! }
//! assert_eq!(world.frame().positions.len(), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod any_world;
mod build;
mod error;
pub mod export;
pub mod gallery;
mod gmsh;
mod gmsh_binary;
pub mod import;
mod obj;
mod path;
mod plain_file;
mod read;
pub mod schema;
mod source;

pub use any_world::AnyWorld;
pub use build::{LiveJoint, LiveScene, MAX_BODIES, Warning};
pub use error::SceneError;
pub use plain_file::open_plain;
pub use read::MAX_FILE_BYTES;
pub use schema::Scene;
pub use source::Source;

/// The JSON Schema of a scene file, made of the types that read it.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Scene);
    schema.insert("title".to_owned(), "Drystone scene".into());
    schema.to_value()
}
