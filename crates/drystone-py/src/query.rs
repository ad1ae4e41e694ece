//! Queries: what a ray hits, what is nearest, what is in a box.

use drystone::query::{Filter, QueryError, Ray};
use drystone::{Bounds, Components, World as Engine};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::rows;
use crate::dimension::{Dimension, components, put};
use crate::errors;
use crate::read::{list, vector};
use crate::world::{Inner, World, each};

/// The nearest point of any body: the body's place, the point, the distance.
type Nearest = (usize, Vec<f64>, f64);
/// The closest points of two bodies: on A, on B, the normal from A to B, the distance.
type Closest = (Vec<f64>, Vec<f64>, Vec<f64>, f64);

#[pymethods]
impl World {
    /// What rays hit first: bodies (−1 for none), distances (infinite for none), points, normals.
    fn ray_hits<'py>(
        &self,
        py: Python<'py>,
        rays: (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>),
        max_distance: f64,
        ignore: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            let ignored = ignored(w, &inner, ignore)?;
            cast(py, w, (&rays.0, &rays.1, max_distance), &ignored)
        })
    }

    /// The point of any body that is nearest to a point.
    fn nearest(
        &self,
        point: Vec<f64>,
        max_distance: f64,
        ignore: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Nearest>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            let ignored = ignored(w, &inner, ignore)?;
            let point = vector(w, &point, "point")?;
            let found = w.closest_point(point, max_distance, &Filter::all().without(&ignored));
            let found = found.map_err(refused)?;
            Ok(found.map(|near| (near.body.index(), list(near.point), near.distance)))
        })
    }

    /// The bodies whose bounding boxes share a point with a box along the axes.
    fn bodies_in(&self, lower: Vec<f64>, upper: Vec<f64>) -> PyResult<Vec<usize>> {
        each!(self.lock()?.live.world(), w => {
            let bounds = Bounds { lower: vector(w, &lower, "corner")?, upper: vector(w, &upper, "corner")? };
            let found = w.overlapping_bounds(&bounds, &Filter::all()).map_err(refused)?;
            Ok(found.into_iter().map(drystone::BodyId::index).collect())
        })
    }

    /// The closest points of two bodies, or the deepest where they overlap.
    fn closest(&self, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Option<Closest>> {
        let inner = self.lock()?;
        let (a, b) = (inner.place(a)?, inner.place(b)?);
        each!(inner.live.world(), w => {
            let found = w.separation(w.bodies().id(a), w.bodies().id(b));
            Ok(found.map(|s| (list(s.point_a), list(s.point_b), list(s.normal), s.distance)))
        })
    }
}

fn ignored<S: Dimension>(
    world: &Engine<S>,
    inner: &Inner,
    bodies: &Bound<'_, PyAny>,
) -> PyResult<Vec<drystone::BodyId>> {
    let places = inner.places(bodies)?;
    Ok(places
        .into_iter()
        .map(|place| world.bodies().id(place))
        .collect())
}

fn cast<'py, S: Dimension>(
    py: Python<'py>,
    world: &Engine<S>,
    (origins, directions, max_distance): (
        &PyReadonlyArray2<'py, f64>,
        &PyReadonlyArray2<'py, f64>,
        f64,
    ),
    ignored: &[drystone::BodyId],
) -> PyResult<Bound<'py, PyTuple>> {
    let (origins, directions) = (origins.as_array(), directions.as_array());
    let count = origins.nrows();
    if origins.dim() != (count, S::DIM) || directions.dim() != (count, S::DIM) {
        return Err(errors::value(format!(
            "origins and directions must both have the shape (rays, {}), not {:?} and {:?}",
            S::DIM,
            origins.dim(),
            directions.dim()
        )));
    }
    let all = origins.rows().into_iter().zip(directions.rows());
    let rays: Vec<Ray<S>> = all
        .map(|(origin, direction)| Ray {
            origin: components(&origin.to_vec()),
            direction: components(&direction.to_vec()),
            max_distance,
        })
        .collect();
    let hits = py
        .detach(|| world.cast_rays(&rays, &Filter::all().without(ignored)))
        .map_err(refused)?;
    let nowhere = S::Vector::splat(f64::NAN);
    let bodies = hits
        .iter()
        .map(|hit| hit.map_or(-1, |hit| hit.body.index() as i64));
    let distances = hits
        .iter()
        .map(|hit| hit.map_or(f64::INFINITY, |hit| hit.distance));
    let points = rows(py, count, S::DIM, |k, row| {
        put(hits[k].map_or(nowhere, |hit| hit.point), row)
    });
    let normals = rows(py, count, S::DIM, |k, row| {
        put(hits[k].map_or(nowhere, |hit| hit.normal), row)
    });
    PyTuple::new(
        py,
        [
            PyArray1::from_iter(py, bodies).into_any().unbind(),
            PyArray1::from_iter(py, distances).into_any().unbind(),
            points.into_any(),
            normals.into_any(),
        ],
    )
}

fn refused(error: QueryError) -> PyErr {
    errors::raise("AccessError", error)
}
