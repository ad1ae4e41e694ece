//! What Python's handles hold: the engine's own names of bodies and joints, so that a handle of
//! something that was removed never means what came to its place.

use drystone::{BodyId, JointId};
use pyo3::prelude::*;

/// Names a body.
#[pyclass(frozen, module = "drystone._native")]
pub(crate) struct BodyKey(pub(crate) BodyId);

#[pymethods]
impl BodyKey {
    #[getter]
    fn place(&self) -> usize {
        self.0.index()
    }
}

/// Names a joint.
#[pyclass(frozen, module = "drystone._native")]
pub(crate) struct JointKey(pub(crate) JointId);

#[pymethods]
impl JointKey {
    #[getter]
    fn place(&self) -> usize {
        self.0.index()
    }
}
