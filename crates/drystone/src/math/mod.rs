//! Mathematics: the algebra of the plane and of space, small matrices, SIMD lanes, factorisations.
//!
//! Nothing here knows shapes, bodies or contacts.

pub mod algebra;
pub(crate) mod block_cholesky;
pub mod dense;
pub(crate) mod eigen;
pub(crate) mod gmres;
pub mod lemke_pivoting;
pub(crate) mod rigid_compliance;
pub mod simd;
pub(crate) mod sparse_ldlt;
pub mod sparse_matrix;
pub(crate) mod union_find;
