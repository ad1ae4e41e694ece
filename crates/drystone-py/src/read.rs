//! What Python reads of a world and writes back: arrays, not objects.

use drystone::{AccessError, Contact, Event, Motion, Space, World as Engine};
use numpy::{AllowTypeChange, PyArray1, PyArray2, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{kept, rows};
use crate::dimension::{Dimension, components, pose, put, put_pose};
use crate::errors;
use crate::keys::JointKey;
use crate::world::{Inner, World, each};

type Array = Py<PyArray2<f64>>;
/// Rows of numbers: an array, or lists.
type Rows<'py> = PyArrayLike2<'py, f64, AllowTypeChange>;

#[pymethods]
impl World {
    /// Poses of all bodies, a row each: position, then quaternion x, y, z, w (plane: angle, rad).
    #[getter]
    fn poses(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Inner {
            live, stamp, poses, ..
        } = &mut *self.lock()?;
        each!(live.world(), w => read_poses(py, w, (*stamp, poses)))
    }

    #[setter(poses)]
    fn set_all_poses(&self, rows: Rows<'_>) -> PyResult<()> {
        self.set_poses(rows, None)
    }

    /// Motion of all bodies, a row each: velocity of the centre of mass, then spin.
    #[getter]
    fn motions(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Inner {
            live,
            stamp,
            motions,
            ..
        } = &mut *self.lock()?;
        each!(live.world(), w => read_motions(py, w, (*stamp, motions)))
    }

    /// Puts bodies elsewhere: all, or those given. Rows that say what is there already change nothing.
    #[pyo3(signature = (rows, bodies=None))]
    fn set_poses(&self, rows: Rows<'_>, bodies: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let places = chosen(&inner, bodies)?;
        let table = table(&rows)?;
        each!(inner.change(), w => write_poses(w, &places, &table))
    }

    /// Gives bodies a motion: all, or those given. Fixed and scripted ones take no notice.
    #[pyo3(signature = (rows, bodies=None))]
    fn set_motions(&self, rows: Rows<'_>, bodies: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let places = chosen(&inner, bodies)?;
        let table = table(&rows)?;
        each!(inner.change(), w => write_motions(w, &places, &table))
    }

    /// Adds forces and torques for the next step, a row for each body: all, or those given.
    #[pyo3(signature = (rows, bodies=None))]
    fn add_wrenches(&self, rows: Rows<'_>, bodies: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let places = chosen(&inner, bodies)?;
        let table = table(&rows)?;
        each!(inner.change(), w => add_wrenches(w, &places, &table))
    }

    /// Adds a force at a world point for the next step.
    fn add_force_at(
        &self,
        body: &Bound<'_, PyAny>,
        force: Vec<f64>,
        point: Vec<f64>,
    ) -> PyResult<()> {
        let mut inner = self.lock()?;
        let place = inner.place(body)?;
        each!(inner.change(), w => {
            let (force, point) = (vector(w, &force, "force")?, vector(w, &point, "point")?);
            w.add_force(w.bodies().id(place), force, point).map_err(errors::access)
        })
    }

    /// Masses of all bodies, kg; infinite for those that nothing moves.
    #[getter]
    fn masses(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        let inner = self.lock()?;
        let masses: Vec<f64> = each!(inner.live.world(), w => {
            (0..w.bodies().len()).map(|k| w.bodies().mass(k)).collect()
        });
        Ok(PyArray1::from_vec(py, masses).unbind())
    }

    /// Names of all bodies.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        let inner = self.lock()?;
        let world = inner.live.world();
        Ok((0..world.body_count())
            .map(|k| world.body_name(k).to_owned())
            .collect())
    }

    /// Whether each body sleeps.
    #[getter]
    fn asleep(&self, py: Python<'_>) -> PyResult<Py<PyArray1<bool>>> {
        let inner = self.lock()?;
        let asleep: Vec<bool> = each!(inner.live.world(), w => {
            (0..w.bodies().len()).map(|k| w.is_asleep(w.bodies().id(k))).collect()
        });
        Ok(PyArray1::from_vec(py, asleep).unbind())
    }

    /// Kinetic, potential and elastic energy, J.
    #[getter]
    fn energies(&self) -> PyResult<(f64, f64, f64)> {
        let energy = self.lock()?.live.world().energy();
        Ok((energy.kinetic, energy.potential, energy.elastic))
    }

    /// What the last step's contacts were: bodies, points, normals, impulses, separations.
    fn read_contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => read_contacts(py, w))
    }

    /// What happened in the last step.
    fn read_events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            if !w.settings().events {
                let help = "make the world with `events=True`, or set `world.record_events = True`";
                return Err(errors::access(format!("this world notes no events; {help}")));
            }
            w.events().iter().map(|event| told(py, event)).collect()
        })
    }

    /// Force (N) and torque (N·m) that a joint carried in the last step, on its body B.
    fn reaction(&self, joint: &Bound<'_, JointKey>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let inner = self.lock()?;
        let id = joint.get().0;
        each!(inner.live.world(), w => {
            let carried = w.reaction(id).ok_or_else(|| errors::access(AccessError::NoJoint))?;
            Ok((list(carried.force), list(carried.torque)))
        })
    }

    /// How far joints are from what they hold together: the largest distance (m) and angle (rad).
    #[getter]
    fn joint_error(&self) -> PyResult<(f64, f64)> {
        Ok(each!(self.lock()?.live.world(), w => w.joint_error()))
    }

    /// Places of a deformable's nodes, in the order of its mesh's vertices.
    fn node_places(&self, deformable: usize) -> PyResult<Vec<usize>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            let id = w.deformables().find(|id| id.index() == deformable);
            let missing = || errors::access(AccessError::NoDeformable);
            let nodes = w.nodes(id.ok_or_else(missing)?).map_err(errors::access)?;
            Ok(nodes.into_iter().map(drystone::BodyId::index).collect())
        })
    }

    /// Places of all deformables.
    fn deformable_places(&self) -> PyResult<Vec<usize>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => Ok(w.deformables().map(|id| id.index()).collect()))
    }

    /// The outer faces of a deformable, by bodies.
    fn face_places(&self, py: Python<'_>, deformable: usize) -> PyResult<Py<PyArray2<u32>>> {
        let inner = self.lock()?;
        each!(inner.live.world(), w => {
            let id = w.deformables().find(|id| id.index() == deformable);
            let missing = || errors::access(AccessError::NoDeformable);
            let faces = w.faces(id.ok_or_else(missing)?).map_err(errors::access)?;
            let faces: Vec<Vec<u32>> = faces.iter().map(|face| face.to_vec()).collect();
            if faces.is_empty() {
                return Ok(PyArray2::zeros(py, [0, 3], false).unbind());
            }
            let array = PyArray2::from_vec2(py, &faces);
            array.map(Bound::unbind).map_err(|error| errors::value(error.to_string()))
        })
    }
}

fn read_poses<S: Dimension>(
    py: Python<'_>,
    world: &Engine<S>,
    (stamp, slot): (u64, &mut Option<crate::arrays::Kept>),
) -> PyResult<Py<PyAny>> {
    let bodies = world.bodies();
    kept(py, slot, (stamp, [bodies.len(), S::POSE]), |values| {
        for (k, row) in values.chunks_exact_mut(S::POSE).enumerate() {
            put_pose(&bodies.origin(k), row);
        }
    })
}

fn read_motions<S: Dimension>(
    py: Python<'_>,
    world: &Engine<S>,
    (stamp, slot): (u64, &mut Option<crate::arrays::Kept>),
) -> PyResult<Py<PyAny>> {
    let width = S::DIM + S::SPIN_DIM;
    let bodies = world.bodies();
    kept(py, slot, (stamp, [bodies.len(), width]), |values| {
        for (motion, row) in bodies.motion.iter().zip(values.chunks_exact_mut(width)) {
            let (linear, spin) = row.split_at_mut(S::DIM);
            put(motion.linear, linear);
            put(motion.spin, spin);
        }
    })
}

/// Rows of numbers from Python, and how wide they are.
struct Table {
    rows: Vec<Vec<f64>>,
}

fn table(given: &Rows<'_>) -> PyResult<Table> {
    let given = given.as_array();
    let rows = given.rows().into_iter();
    Ok(Table {
        rows: rows.map(|row| row.to_vec()).collect(),
    })
}

impl Table {
    /// Each body's row.
    fn of<'a>(
        &'a self,
        places: &'a [usize],
        width: usize,
    ) -> PyResult<impl Iterator<Item = (usize, &'a [f64])>> {
        let found = self.rows.first().map_or(width, Vec::len);
        if self.rows.len() != places.len() || found != width {
            return Err(errors::value(format!(
                "expected an array of shape ({}, {width}), a row for each body, not ({}, {found})",
                places.len(),
                self.rows.len(),
            )));
        }
        Ok(places
            .iter()
            .copied()
            .zip(self.rows.iter().map(Vec::as_slice)))
    }
}

/// Places of the bodies that are given, or of all.
fn chosen(inner: &Inner, bodies: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
    match bodies {
        Some(bodies) => inner.places(bodies),
        None => Ok((0..inner.live.world().body_count()).collect()),
    }
}

/// The engine's error, with the body it is about.
fn of_body<S: Space>(world: &Engine<S>, place: usize) -> impl Fn(AccessError) -> PyErr {
    let name = world.bodies().name(place).to_owned();
    move |error| errors::access(format!("body `{name}`: {error}"))
}

fn write_poses<S: Dimension>(
    world: &mut Engine<S>,
    places: &[usize],
    table: &Table,
) -> PyResult<()> {
    let mut now = vec![0.0; S::POSE];
    for (place, row) in table.of(places, S::POSE)? {
        put_pose(&world.bodies().origin(place), &mut now);
        if row != now && world.bodies().is_present(place) {
            let id = world.bodies().id(place);
            world
                .set_pose(id, pose::<S>(row))
                .map_err(of_body(world, place))?;
        }
    }
    Ok(())
}

fn write_motions<S: Dimension>(
    world: &mut Engine<S>,
    places: &[usize],
    table: &Table,
) -> PyResult<()> {
    for (place, row) in table.of(places, S::DIM + S::SPIN_DIM)? {
        let (linear, spin) = row.split_at(S::DIM);
        let motion = Motion::<S> {
            linear: components(linear),
            spin: components(spin),
        };
        if world.bodies().motion[place] != motion && world.bodies().is_present(place) {
            let id = world.bodies().id(place);
            world
                .set_motion(id, motion)
                .map_err(of_body(world, place))?;
        }
    }
    Ok(())
}

fn add_wrenches<S: Dimension>(
    world: &mut Engine<S>,
    places: &[usize],
    table: &Table,
) -> PyResult<()> {
    for (place, row) in table.of(places, S::DIM + S::SPIN_DIM)? {
        if row.iter().all(|&value| value == 0.0) || !world.bodies().is_present(place) {
            continue;
        }
        let (force, torque) = row.split_at(S::DIM);
        let (id, center) = (world.bodies().id(place), world.bodies().position[place]);
        let added = world.add_force(id, components(force), center);
        let added = added.and_then(|()| world.add_torque(id, components(torque)));
        added.map_err(of_body(world, place))?;
    }
    Ok(())
}

/// A vector of as many numbers as the world has axes.
pub(crate) fn vector<S: Space>(_: &Engine<S>, values: &[f64], what: &str) -> PyResult<S::Vector> {
    match values.len() == S::DIM {
        true => Ok(components(values)),
        false => Err(errors::value(format!(
            "a {what} has {} numbers in this world, not {}",
            S::DIM,
            values.len()
        ))),
    }
}

/// The numbers of a vector or spin.
pub(crate) fn list<V: drystone::Components>(v: V) -> Vec<f64> {
    let count = size_of::<V>() / size_of::<f64>();
    (0..count).map(|axis| v.component(axis)).collect()
}

fn read_contacts<'py, S: Dimension>(
    py: Python<'py>,
    world: &Engine<S>,
) -> PyResult<Bound<'py, PyTuple>> {
    let solved = world.solved_contacts();
    let touches: Vec<&Contact<S>> = solved.iter().take_while(|c| c.is_touch()).collect();
    let count = touches.len();
    let vectors = |of: &dyn Fn(&Contact<S>) -> S::Vector| {
        rows(py, count, S::DIM, |k, row| put(of(touches[k]), row))
    };
    let bodies: Array = rows(py, count, 2, |k, row| {
        row.copy_from_slice(&[f64::from(touches[k].a), f64::from(touches[k].b)]);
    });
    let separations: Vec<f64> = touches.iter().map(|c| c.point.separation).collect();
    let friction: Vec<f64> = touches.iter().map(|c| c.surface.friction).collect();
    PyTuple::new(
        py,
        [
            bodies.into_any(),
            vectors(&|c| c.point.position).into_any(),
            vectors(&|c| c.point.normal).into_any(),
            vectors(&|c| c.impulse).into_any(),
            PyArray1::from_vec(py, separations).into_any().unbind(),
            PyArray1::from_vec(py, friction).into_any().unbind(),
        ],
    )
}

/// An event as the fields of its tuple.
fn told<'py, S: Dimension>(py: Python<'py>, event: &Event<S>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let (kind, a, b) = match *event {
        Event::ContactBegan {
            a,
            b,
            point,
            impulse,
        } => {
            fields.set_item("point", list(point))?;
            fields.set_item("impulse", list(impulse))?;
            ("contact_began", a, b)
        }
        Event::ContactEnded { a, b } => ("contact_ended", a, b),
        Event::SensorEntered { sensor, body } => ("sensor_entered", sensor, body),
        Event::SensorLeft { sensor, body } => ("sensor_left", sensor, body),
        Event::JointBroke { joint, a, b } => {
            fields.set_item("joint", joint.index())?;
            ("joint_broke", a, b)
        }
        _ => return Ok(fields),
    };
    fields.set_item("kind", kind)?;
    fields.set_item("a", a.index())?;
    fields.set_item("b", b.index())?;
    Ok(fields)
}
