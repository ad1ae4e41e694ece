//! Continuous collision against an oracle that knows no rounding.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests may fail loudly"
)]

mod intersections;
mod oracle;
mod polynomial;
mod queries;
