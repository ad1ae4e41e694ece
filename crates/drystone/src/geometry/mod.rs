//! geometry

pub(crate) mod bvh;
pub mod ccd;
pub mod intersect;
pub(crate) mod oriented_bounds;
pub mod shape;

pub use shape::space::Space;
