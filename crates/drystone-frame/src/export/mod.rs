//! Recordings in the formats of other programs.
//!
//! | module | format | frames |
//! |---|---|---|
//! | [`gltf`] | glTF 2.0, binary (`.glb`) | all in one file, as node animation |
//! | [`usd`] | USD, text (`.usda`) | all in one file, as time samples |
//! | [`obj`] | Wavefront (`.obj`) | a file each, in world coordinates |
//! | [`vtk`] | ParaView (`.pvd`, `.vtp`) | two files each: bodies and contacts |
//! | [`cache`] | vertex caches (`.pc2`, `.mdd`) | all of one deformable in one file, beside its mesh |
//! | [`csv`] | a table of poses | a row each |
//!
//! glTF, USD and caches hold all motion in memory ([`Motion`], 56 bytes for each moving body and frame),
//! since their files go body by body; the others go frame by frame. `docs/interchange.md` says
//! what survives in each. All of it is deterministic: the same recording gives the same bytes.

pub mod cache;
pub mod csv;
pub mod gltf;
mod model;
mod motion;
pub mod obj;
mod palette;
mod surface;
pub mod usd;
pub mod vtk;

pub use model::{Model, PlacedMesh};
pub use motion::{Deforming, Motion, Track};
