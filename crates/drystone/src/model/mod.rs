//! model

pub mod body;
pub(crate) mod changes;
pub mod deformable;
pub mod joint;
pub mod material;
pub mod range;
pub mod script;
