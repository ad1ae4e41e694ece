//! Time stepping: forces to velocities, velocities to poses, and what keeps bodies apart on the way.
//!
//! [`integrate`] has forces, flight and rotation, `elastic` the implicit systems of deformables, and
//! [`failsafe`] and `continuous` put back what would pass through something.

pub(crate) mod contact_set;
pub(crate) mod continuous;
pub(crate) mod elastic;
pub mod failsafe;
pub mod integrate;
pub(crate) mod joint_contacts;
pub(crate) mod joint_drives;
pub mod overlap_repair;
