//! Geometry: shapes, box trees, distances, casts, continuous collision detection, intersection.
//!
//! Nothing here knows bodies. [`shape`] has the shapes of the plane and of space with the contact points
//! of each pair, [`ccd`] says when moving points, edges and faces meet, [`intersect`] whether a state
//! intersects itself.

pub(crate) mod bvh;
pub mod ccd;
pub mod intersect;
pub(crate) mod oriented_bounds;
pub mod shape;

pub use shape::space::Space;
