//! The judge: how far the laws of contact are from holding.
//!
//! Nothing here knows any solver, and no solver writes anything that is read here but the
//! impulses themselves: velocities are computed afresh from the problem. See [`residual`] for the
//! laws at one contact, [`certificate`] for the whole step and [`fclib`] for the measure that
//! published tables use.

pub(crate) mod intersection_audit;

pub mod certificate;
pub mod fclib;
pub mod law;
pub mod residual;

pub use certificate::{Certificate, Ledger, Solved, WorstContact, certify};
pub use fclib::fclib_error;
pub use residual::{ContactError, Residual};
