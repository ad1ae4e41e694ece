//! Arrays of the world's state for Python, each read at most once a step.
//!
//! An array that was handed out never changes: after the next step a new one is made, or the same
//! memory is used again if Python holds it no longer. So nothing is copied where it is read, a loop
//! that reads every step allocates nothing, and no array ever points to memory that is gone.

use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// An array, and what it was read at.
pub(crate) struct Kept {
    stamp: u64,
    /// Owns the memory; only this module writes to it.
    memory: Py<PyArray2<f64>>,
    /// What Python sees: the same memory, not writeable.
    view: Py<PyAny>,
}

impl Kept {
    /// Whether Python holds the array or anything made of it without copying.
    #[allow(deprecated)] // What is to be used instead is unsafe code.
    fn is_held(&self, py: Python<'_>) -> bool {
        // The memory is held by this struct and by the view, the view by this struct.
        self.memory.bind(py).get_refcnt() > 2 || self.view.bind(py).get_refcnt() > 1
    }
}

/// The array of `shape` as it is at `stamp`, filled by `fill` if it was not read yet.
pub(crate) fn kept(
    py: Python<'_>,
    slot: &mut Option<Kept>,
    (stamp, shape): (u64, [usize; 2]),
    fill: impl FnOnce(&mut [f64]),
) -> PyResult<Py<PyAny>> {
    if let Some(kept) = slot.as_ref().filter(|kept| kept.stamp == stamp) {
        return Ok(kept.view.clone_ref(py));
    }
    let reusable = slot
        .take()
        .filter(|kept| kept.memory.bind(py).shape() == shape && !kept.is_held(py));
    let mut kept = match reusable {
        Some(kept) => kept,
        None => {
            let memory = PyArray2::<f64>::zeros(py, shape, false);
            let view = memory.call_method0("view")?;
            view.getattr("flags")?.setattr("writeable", false)?;
            Kept {
                stamp,
                memory: memory.unbind(),
                view: view.unbind(),
            }
        }
    };
    if let Ok(mut memory) = kept.memory.bind(py).try_readwrite()
        && let Ok(values) = memory.as_slice_mut()
    {
        fill(values);
    }
    kept.stamp = stamp;
    let view = kept.view.clone_ref(py);
    *slot = Some(kept);
    Ok(view)
}

/// A new array of rows.
pub(crate) fn rows(
    py: Python<'_>,
    count: usize,
    width: usize,
    mut row: impl FnMut(usize, &mut [f64]),
) -> Py<PyArray2<f64>> {
    let array = PyArray2::<f64>::zeros(py, [count, width], false);
    if let Ok(mut memory) = array.try_readwrite()
        && let Ok(values) = memory.as_slice_mut()
        && width > 0
    {
        for (k, values) in values.chunks_exact_mut(width).enumerate() {
            row(k, values);
        }
    }
    array.unbind()
}
