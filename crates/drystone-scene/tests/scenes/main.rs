//! Everything that scenes, imports and the gallery promise, in one program: each file is a subject.
//! Apart they would compile the generic code of the engine anew for each.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_files;
mod bad_input;
mod common;
mod deformables;
mod docs;
mod export_gltf;
mod gallery;
mod import_gltf;
mod import_meshes;
mod import_mjcf;
mod import_mjcf_masses;
mod import_no_panic;
mod import_paths;
mod import_urdf;
mod import_usd;
mod import_usd_files;
mod joints;
mod json;
mod limits;
mod no_panic;
mod repeats;
mod resumed;
mod same_bits;
mod standing;
mod truths;
