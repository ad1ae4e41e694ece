//! Continuous collision against an oracle that knows no rounding.

mod intersections;
mod oracle;
mod polynomial;
mod queries;
