//! Runs that show themselves: the page that plays them, and numbers of every step.

use drystone::{StepReport, World as Engine};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::dimension::Dimension;
use crate::errors;
use crate::world::{Inner, World, each};

/// Time, kinetic, potential and elastic energy, residual, penetration, energy made, contacts.
const COLUMNS: usize = 8;

#[pymethods]
impl World {
    /// Makes so many steps and gives the HTML page that plays them, with numbers of every step.
    fn play(&self, py: Python<'_>, steps: u64) -> PyResult<(String, Py<PyArray2<f64>>)> {
        let Inner {
            live,
            report,
            stamp,
            ..
        } = &mut *self.lock()?;
        *stamp += 1;
        let scene = live.scene().clone();
        let mut numbers: Vec<[f64; COLUMNS]> = Vec::new();
        let page = py.detach(|| {
            each!(live.world_mut(), w => {
                drystone_cli::replay(&scene, w, steps, &mut |world, step| {
                    numbers.push(row(world, step));
                    *report = Some(step.clone());
                })
            })
        });
        let page = page.map_err(|error| errors::raise("StepError", error))?;
        let table = rows(py, numbers.len(), COLUMNS, |k, row| {
            row.copy_from_slice(&numbers[k])
        });
        Ok((page, table))
    }
}

fn row<S: Dimension>(world: &Engine<S>, step: &StepReport) -> [f64; COLUMNS] {
    let energy = world.energy();
    let certificate = step.certificate.clone().unwrap_or_default();
    [
        world.time(),
        energy.kinetic,
        energy.potential,
        energy.elastic,
        certificate.residual_m_s,
        certificate.penetration_m,
        certificate.energy_made_j,
        step.contacts as f64,
    ]
}
