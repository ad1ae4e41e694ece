//! model

pub mod body;
pub mod deformable;
pub mod joint;
pub mod material;
pub mod script;
