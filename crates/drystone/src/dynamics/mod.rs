//! dynamics

pub(crate) mod contact_set;
pub(crate) mod continuous;
pub(crate) mod elastic;
pub mod failsafe;
pub mod integrate;
pub(crate) mod joint_contacts;
pub(crate) mod joint_drives;
pub mod overlap_repair;
