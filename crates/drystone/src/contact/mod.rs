//! contact

pub(crate) mod attachment_contacts;
pub(crate) mod deformable_contacts;
pub(crate) mod deformable_surface;
pub mod detection;
pub(crate) mod overlaps;
pub(crate) mod primitives;
pub mod problem;
pub mod rules;
