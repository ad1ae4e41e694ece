//! The model: bodies, joints, materials, deformables and scripts, as plain data.
//!
//! Nothing here knows contacts or how a step is made.

pub mod body;
pub(crate) mod changes;
pub mod deformable;
pub mod joint;
pub mod material;
pub mod range;
pub mod script;
