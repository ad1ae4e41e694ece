//! The engine's errors as Python's exceptions, in the engine's words.
//!
//! The classes are written in Python (`errors.py`), so that they can be a `ValueError` and a
//! `drystone.Error` at once.

use drystone_scene::SceneError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// An exception of the package by its name.
pub(crate) fn raise(class: &str, text: impl ToString) -> PyErr {
    Python::attach(|py| made(py, class, &text.to_string()).unwrap_or_else(|error| error))
}

fn made(py: Python<'_>, class: &str, text: &str) -> PyResult<PyErr> {
    let class = py.import("drystone.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1((text,))?))
}

/// A scene that can't be read or built; where the fault is comes along, part by part.
pub(crate) fn scene(error: SceneError) -> PyErr {
    let raised = raise("SceneError", &error);
    Python::attach(|py| {
        let value = raised.value(py);
        let place = error.line_and_column();
        let parts = [
            ("problem", Some(error.problem())),
            ("help", error.help()),
            ("field", error.field()),
            ("file", Some(error.file()).filter(|file| !file.is_empty())),
        ];
        let told = parts
            .into_iter()
            .try_for_each(|(name, part)| value.setattr(name, part));
        let told = told.and_then(|()| value.setattr("line", place.map(|(line, _)| line)));
        // An exception without its parts still has its words.
        let _ = told.and_then(|()| value.setattr("column", place.map(|(_, column)| column)));
    });
    raised
}

/// A step that could not be made.
pub(crate) fn step(error: drystone::StepError) -> PyErr {
    raise("StepError", error)
}

/// A body or joint that is not there, or numbers that are none.
pub(crate) fn access(error: impl ToString) -> PyErr {
    raise("AccessError", error)
}

/// An argument that can't be used.
pub(crate) fn value(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// A world that another thread is working on.
pub(crate) fn busy() -> PyErr {
    PyRuntimeError::new_err(
        "another thread works on this world; give each thread a world of its own (`world.copy()`)",
    )
}

/// A world that a fault of the engine has left in an unknown state.
pub(crate) fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "a fault of the engine left this world unusable; go on with a copy made before, and please \
         report what led to it",
    )
}
