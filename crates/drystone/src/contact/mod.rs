//! Contacts: from poses to contacts, and from contacts to the contact problem.
//!
//! [`detection`] has the narrow phase of all pairs that the broad phase finds, [`rules`] say which
//! pairs may touch, [`problem`] is what every solver solves. The surfaces of deformables have files of
//! their own, and `primitives` are the points, edges and faces that continuous collision follows.

pub(crate) mod attachment_contacts;
pub(crate) mod deformable_contacts;
pub(crate) mod deformable_surface;
pub mod detection;
pub(crate) mod overlaps;
pub(crate) mod primitives;
pub mod problem;
pub mod rules;
