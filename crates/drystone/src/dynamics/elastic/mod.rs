//! Elastic forces of deformables by implicit Euler, and contact with them in the place of masses.
//!
//! A deformable's [`system`] is factorised ([`implicit_euler`]) or, where it is large, solved by
//! [`conjugate_gradients`]; [`contact_coupling`] solves contact with it by the alternating direction
//! method of multipliers.

pub(crate) mod admm_rounds;
pub(crate) mod block_rows;
pub(crate) mod conjugate_gradients;
pub(crate) mod contact_coupling;
pub(crate) mod domain_coupling;
pub(crate) mod domain_lanes;
pub(crate) mod eisenstat;
pub(crate) mod implicit_euler;
#[cfg(test)]
pub(crate) mod large_tests;
pub(crate) mod membrane_lanes;
pub(crate) mod single_elements;
pub(crate) mod system;
pub(crate) mod systems;
