//! Exports: read back here number by number, and by the programs they are for where these are
//! installed.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod clip;
mod deforming;
mod formats;
mod programs;
