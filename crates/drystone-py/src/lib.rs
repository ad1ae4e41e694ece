//! Drystone in Python: the native half of the package `drystone`.
//!
//! Python builds worlds in the words of scene files, which are checked where files are checked
//! ([`drystone_scene::LiveScene`]); everything that runs often is here and gives NumPy arrays. The
//! engine works with Python's lock released, and one world works in one thread at a time.

#![allow(missing_docs)] // What Python sees is described in its stubs.

mod arrays;
mod build;
mod dimension;
mod errors;
mod keys;
mod problem;
mod query;
mod read;
mod record;
mod rollout;
mod world;

use pyo3::prelude::*;

/// Does what a command line asks, the program's name first, and gives the exit code.
#[pyfunction]
fn main(py: Python<'_>, typed: Vec<String>) -> u8 {
    py.detach(|| drystone_cli::run(typed))
}

/// Names of the gallery's scenes, each with what to look at.
#[pyfunction]
fn gallery() -> PyResult<Vec<(String, String)>> {
    let told = |entry: &drystone_scene::gallery::Entry| {
        let scene = entry.scene().map_err(errors::scene)?;
        Ok((entry.name.to_owned(), scene.look))
    };
    drystone_scene::gallery::entries()
        .iter()
        .map(told)
        .collect()
}

/// The JSON Schema of scenes.
#[pyfunction]
fn schema() -> String {
    drystone_scene::json_schema().to_string()
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::keys::{BodyKey, JointKey};
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::rollout::advance;
    #[pymodule_export]
    use super::world::World;
    #[pymodule_export]
    use super::{gallery, main, schema};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SOLVERS", drystone::SolverKind::NAMES.to_vec())?;
        module.add("STRATEGIES", drystone::Strategy::NAMES.to_vec())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
