//! strategy

pub mod barrier;
pub mod ccd;
pub(crate) mod changes;
pub mod penalty;
pub mod realtime;
pub mod settings;
