//! Rays, casts, nearest points and overlap: closed forms, brute force, and each against the
//! others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod closed_forms;
mod filters_and_errors;
mod scenes;
