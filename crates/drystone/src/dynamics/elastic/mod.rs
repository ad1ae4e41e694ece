//! dynamics elastic

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
