//! Pictures of a simulation and charts of its numbers.
//!
//! This crate knows frames only, never physics, so a live run and a replay look the same to it.
//!
//! * [`still`] draws one [`Frame`](drystone_frame::Frame) of a
//!   [`Stage`](drystone_frame::Stage) with a small software renderer: no GPU, no browser.
//! * [`film`] makes a film of such pictures.
//! * [`plot`] draws lines over time, such as the residuals of a certificate.
//! * [`live`] is a page in the browser where a scene plays, and a file that replays one.
//! * [`matrix`] draws which blocks of a matrix there are, and how large they are.
//!
//! Pictures are deterministic: the same input gives the same bytes, whatever the number of threads.

#![forbid(unsafe_code)]

mod canvas;
mod error;
pub mod film;
pub mod live;
pub mod matrix;
mod pace;
mod parallel;
pub mod plot;
pub mod replay;
pub mod still;

pub use error::ViewError;
