//! The contact problem of a step as matrices, its solvers, and the judge of any answer.

use drystone::judge::residual::judge;
use drystone::solver::{Limits, SolveReport, SolverKind};
use drystone::{ContactProblem, D2, D3, Impulses};
use numpy::{AllowTypeChange, PyArray1, PyArray2, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::rows;
use crate::dimension::{Dimension, components, put};
use crate::errors;
use crate::world::{World, each};

/// A matrix by columns: shape, starts of the columns, rows, values.
type Columns = ((usize, usize), Vec<u32>, Vec<u32>, Vec<f64>);
/// What solving gave: impulses, iterations, whether it converged, residuals, trace.
type Solved = (Py<PyArray2<f64>>, u32, bool, f64, f64, Vec<(u32, f64, f64)>);

/// A problem of either dimension.
#[derive(Clone)]
enum Any {
    Flat(ContactProblem<D2>),
    Solid(ContactProblem<D3>),
}

/// Calls the same on a problem of either dimension.
macro_rules! either {
    ($self:expr, $name:ident => $call:expr) => {
        match &$self.0 {
            Any::Flat($name) => $call,
            Any::Solid($name) => $call,
        }
    };
}

/// The native half of `drystone.Problem`.
#[pyclass(frozen, module = "drystone._native")]
pub(crate) struct Problem(Any);

#[pymethods]
impl World {
    /// The contact problem of the coming step, or of the last one that was judged.
    fn take_problem(&self, is_last: bool) -> PyResult<Option<Problem>> {
        let mut inner = self.lock()?;
        let world = inner.change();
        Ok(match (world, is_last) {
            (drystone_scene::AnyWorld::Flat(w), false) => Some(Problem(Any::Flat(w.problem()))),
            (drystone_scene::AnyWorld::Solid(w), false) => Some(Problem(Any::Solid(w.problem()))),
            (drystone_scene::AnyWorld::Flat(w), true) => w
                .last_problem()
                .map(|last| Problem(Any::Flat(last.assembled.problem.clone()))),
            (drystone_scene::AnyWorld::Solid(w), true) => w
                .last_problem()
                .map(|last| Problem(Any::Solid(last.assembled.problem.clone()))),
        })
    }

    /// The impulses that answered the last problem, a row for each contact, local coordinates.
    fn last_impulses(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray2<f64>>>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            Ok(w.last_problem().map(|last| local(py, &last.impulses)))
        })
    }
}

#[pymethods]
impl Problem {
    /// 2 or 3.
    #[getter]
    fn dimension(&self) -> usize {
        match &self.0 {
            Any::Flat(_) => 2,
            Any::Solid(_) => 3,
        }
    }

    /// Length of the step, s.
    #[getter]
    fn dt(&self) -> f64 {
        either!(self, p => p.dt)
    }

    fn __len__(&self) -> usize {
        either!(self, p => p.rows.len())
    }

    /// Coulomb's μ of each contact.
    #[getter]
    fn mu(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let mu: Vec<f64> = either!(self, p => p.rows.iter().map(|row| row.mu).collect());
        PyArray1::from_vec(py, mu).unbind()
    }

    /// First and one past the last contact of each island.
    #[getter]
    fn islands(&self) -> Vec<(u32, u32)> {
        either!(self, p => p.islands.iter().map(|island| (island.start, island.end)).collect())
    }

    /// Velocities of the bodies before contact, in the order of J's columns.
    #[getter]
    fn free(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let free = either!(self, p => drystone::contact::problem::matrix::flatten(&p.free));
        PyArray1::from_vec(py, free).unbind()
    }

    /// J, M⁻¹, A by columns, and b.
    fn matrices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let form = either!(self, p => p.matrix_form());
        let made = PyDict::new(py);
        for (name, matrix) in [("J", &form.j), ("Minv", &form.inv_m), ("A", &form.a)] {
            let columns: Columns = (
                (matrix.rows, matrix.columns()),
                matrix.column_starts.clone(),
                matrix.row_indices.clone(),
                matrix.values.clone(),
            );
            made.set_item(name, columns)?;
        }
        made.set_item("b", PyArray1::from_vec(py, form.b))?;
        Ok(made)
    }

    /// Solves it by the method of a name, from a guess or from nothing.
    #[pyo3(signature = (solver, iterations, tolerance, guess=None))]
    fn solve(
        &self,
        py: Python<'_>,
        solver: &str,
        iterations: u32,
        tolerance: f64,
        guess: Option<PyArrayLike2<'_, f64, AllowTypeChange>>,
    ) -> PyResult<Solved> {
        let limits = Limits {
            iterations,
            tolerance,
            trace: true,
            ..Limits::default()
        };
        let kind = SolverKind::named(solver).map(|kind| kind.limited(limits));
        let kind = kind.ok_or_else(|| {
            let known = SolverKind::NAMES.join("`, `");
            errors::access(format!(
                "there is no solver `{solver}`; there are `{known}`"
            ))
        })?;
        either!(self, p => {
            let mut impulses = match &guess {
                Some(guess) => given(p, guess)?,
                None => Impulses::default(),
            };
            let mut kind = kind;
            let report = py.detach(|| kind.solve(p, &mut impulses));
            Ok(told(py, &impulses, &report))
        })
    }

    /// What the judge says of impulses: residual (m/s), relative residual, parts, worst contact.
    fn judge<'py>(
        &self,
        py: Python<'py>,
        gamma: PyArrayLike2<'_, f64, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyDict>> {
        either!(self, p => {
            let found = judge(p, &given(p, &gamma)?);
            let told = PyDict::new(py);
            told.set_item("residual_m_s", found.largest.residual)?;
            told.set_item("relative", found.relative)?;
            told.set_item("approach_speed_m_s", found.largest.approach_speed)?;
            told.set_item("pull_n_s", found.largest.pull)?;
            told.set_item("cone_excess_n_s", found.largest.cone_excess)?;
            told.set_item("signorini_j", found.largest.signorini)?;
            told.set_item("friction_direction_j", found.largest.friction_direction)?;
            told.set_item("worst", found.worst_row)?;
            Ok(told)
        })
    }
}

/// Impulses from rows of numbers.
fn given<S: Dimension>(
    problem: &ContactProblem<S>,
    gamma: &PyArrayLike2<'_, f64, AllowTypeChange>,
) -> PyResult<Impulses<S>> {
    let gamma = gamma.as_array();
    let expected = (problem.rows.len(), S::DIM);
    if gamma.dim() != expected {
        return Err(errors::value(format!(
            "the impulses must have the shape {expected:?}, a row for each contact (normal, then \
             tangents), not {:?}",
            gamma.dim()
        )));
    }
    let rows = gamma.rows().into_iter();
    Ok(Impulses {
        local: rows.map(|row| components(&row.to_vec())).collect(),
    })
}

fn local<S: Dimension>(py: Python<'_>, impulses: &Impulses<S>) -> Py<PyArray2<f64>> {
    rows(py, impulses.local.len(), S::DIM, |k, row| {
        put(impulses.local[k], row)
    })
}

fn told<S: Dimension>(py: Python<'_>, impulses: &Impulses<S>, report: &SolveReport) -> Solved {
    let trace = report.history.iter();
    (
        local(py, impulses),
        report.iterations,
        report.converged,
        report.residual,
        report.relative,
        trace
            .map(|point| (point.iteration, point.residual, point.relative))
            .collect(),
    )
}
