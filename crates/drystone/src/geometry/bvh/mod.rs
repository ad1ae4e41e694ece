//! Bounding volume hierarchies: trees of boxes.
//!
//! Three, because they are asked differently: [`median_split`] for pairs that overlap, [`curve_order`]
//! for swept boxes that move a little from search to search, [`nearest_first`] for rays and nearest
//! points.

pub(crate) mod curve_order;
pub(crate) mod median_split;
pub(crate) mod nearest_first;
