//! The judge: how far the laws of contact and of motion are from holding.
//!
//! Nothing here knows any solver, and no solver writes anything that is read here but the
//! impulses themselves: velocities are computed afresh from the problem, energy and momentum from the
//! states before and after a step. See [`residual`] for the laws at one contact, [`whole_step`] for
//! energy, momentum and joints, [`certificate`] for all figures of a step, [`grade`] and [`verdict`]
//! for how good they are, and [`fclib`] for the measure that published tables use.

pub(crate) mod intersection_audit;

pub mod certificate;
pub mod fclib;
pub mod grade;
pub mod law;
pub mod residual;
pub mod verdict;
pub mod whole_step;

pub use certificate::{Certificate, WorstContact};
pub use fclib::fclib_error;
pub use grade::{Figure, Grade, Shares};
pub use residual::{ContactError, Residual};
pub use whole_step::{EnergyBalance, JointFigures, MomentumBalance};
