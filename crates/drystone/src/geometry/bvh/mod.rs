//! geometry bvh

pub(crate) mod curve_order;
pub(crate) mod median_split;
pub(crate) mod nearest_first;
