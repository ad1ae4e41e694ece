//! Continuous collision against an oracle that knows no rounding.

mod oracle;
mod polynomial;
mod queries;
