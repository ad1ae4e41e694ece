//! The world: made, stepped, copied, saved.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use drystone::StepReport;
use drystone_scene::import::{ImportOptions, import, is_model};
use drystone_scene::{AnyWorld, LiveScene, Scene, gallery};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arrays::Kept;
use crate::errors;
use crate::keys::{BodyKey, JointKey};

/// How long a run works between two looks for Ctrl-C.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// Calls the same on a world of either dimension.
macro_rules! each {
    ($world:expr, $name:ident => $call:expr) => {
        match $world {
            drystone_scene::AnyWorld::Flat($name) => $call,
            drystone_scene::AnyWorld::Solid($name) => $call,
        }
    };
}
pub(crate) use each;

/// The native half of `drystone.World`.
#[pyclass(frozen, subclass, module = "drystone._native")]
pub(crate) struct World(Mutex<Inner>);

/// A scene with its world, and what Python has read of it.
pub(crate) struct Inner {
    pub(crate) live: LiveScene,
    pub(crate) report: Option<StepReport>,
    /// Changes with every step and everything that is changed from outside.
    pub(crate) stamp: u64,
    pub(crate) poses: Option<Kept>,
    pub(crate) motions: Option<Kept>,
}

impl Inner {
    pub(crate) fn new(live: LiveScene) -> Self {
        Self {
            live,
            report: None,
            stamp: 0,
            poses: None,
            motions: None,
        }
    }

    /// The world, to be changed.
    pub(crate) fn change(&mut self) -> &mut AnyWorld {
        self.stamp += 1;
        self.live.world_mut()
    }

    fn step(&mut self) -> Result<(), drystone::StepError> {
        self.report = Some(self.change().step()?);
        Ok(())
    }

    /// The place of a body by a handle, an index or a name.
    pub(crate) fn place(&self, body: &Bound<'_, PyAny>) -> PyResult<usize> {
        let world = self.live.world();
        if let Ok(name) = body.cast::<PyString>() {
            let name = name.to_string_lossy();
            let place = world.body_index(&name);
            return place.ok_or_else(|| errors::access(format!("there is no body `{name}`")));
        }
        if let Ok(key) = body.getattr("_key")
            && let Ok(key) = key.cast::<BodyKey>()
        {
            let id = key.get().0;
            let is_there = each!(world, w => w.bodies().is_present(id.index()) && w.bodies().id(id.index()) == id);
            return match is_there {
                true => Ok(id.index()),
                false => Err(errors::access(format!(
                    "there is no such body in this world (number {}); it may have been removed",
                    id.index()
                ))),
            };
        }
        let place: usize = body.extract().map_err(|_| {
            errors::access("a body is named by its handle, its number (0 or more) or its name")
        })?;
        let count = world.body_count();
        match each!(world, w => w.bodies().is_present(place)) {
            true => Ok(place),
            false => Err(errors::access(format!(
                "there is no body number {place}; this world has numbers 0 to {}",
                count.saturating_sub(1)
            ))),
        }
    }

    /// Places of several bodies.
    pub(crate) fn places(&self, bodies: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        bodies.try_iter()?.map(|body| self.place(&body?)).collect()
    }
}

impl World {
    /// The world, if no other thread works on it.
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        match self.0.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::WouldBlock) => Err(errors::busy()),
            Err(TryLockError::Poisoned(_)) => Err(errors::broken()),
        }
    }
}

#[pymethods]
impl World {
    /// A world of `what`: "json" or "toml" text of a scene, a "file", a scene of the "gallery",
    /// "bytes" of a saved world, or a "copy" of another.
    #[new]
    fn new(py: Python<'_>, what: &str, of: &Bound<'_, PyAny>) -> PyResult<Self> {
        let live = match what {
            "copy" => of.cast::<World>()?.get().lock()?.live.clone(),
            "bytes" => {
                let bytes: Vec<u8> = of.extract()?;
                py.detach(|| LiveScene::from_bytes(&bytes))
                    .map_err(errors::scene)?
            }
            _ => {
                let text: String = of.extract()?;
                let scene = read(what, &text)?;
                py.detach(|| LiveScene::new(scene)).map_err(errors::scene)?
            }
        };
        Ok(Self(Mutex::new(Inner::new(live))))
    }

    /// 2 for the plane, 3 for space.
    #[getter]
    fn dimension(&self) -> PyResult<u8> {
        Ok(self.lock()?.live.world().dimension())
    }

    /// Simulated time, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.live.world().time())
    }

    /// Length of a step, s.
    #[getter]
    fn step_length(&self) -> PyResult<f64> {
        Ok(self.lock()?.live.world().dt())
    }

    /// Steps made.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.lock()?.live.world().steps())
    }

    /// How many places for bodies there are, those of removed ones included.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.live.world().body_count())
    }

    /// Makes so many steps.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        if count == 1 {
            let inner = &mut *self.lock()?;
            return py.detach(|| inner.step()).map_err(errors::step);
        }
        let mut left = count;
        while left > 0 {
            let mut held = self.lock()?;
            let inner = &mut *held;
            let begun = Instant::now();
            let made = py.detach(|| {
                while left > 0 && begun.elapsed() < BETWEEN_SIGNALS {
                    inner.step()?;
                    left -= 1;
                }
                Ok(())
            });
            drop(held);
            made.map_err(errors::step)?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// A hash of the state, the same for the same state on every machine.
    #[getter]
    fn hash(&self) -> PyResult<u64> {
        Ok(self.lock()?.live.world().state_hash())
    }

    /// The scene and the world as bytes.
    fn save_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = &*self.lock()?;
        let bytes = py.detach(|| inner.live.to_bytes()).map_err(errors::scene)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Everything that the next step depends on, as bytes.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = &*self.lock()?;
        let bytes = py.detach(|| each!(inner.live.world(), w => w.snapshot()));
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes back to a snapshot of this world, or stays as it is.
    fn restore(&self, py: Python<'_>, snapshot: Vec<u8>) -> PyResult<()> {
        let inner = &mut *self.lock()?;
        inner.report = None;
        py.detach(|| each!(inner.change(), w => w.restore(&snapshot)))
            .map_err(|error| errors::raise("SnapshotError", error))
    }

    /// What was built, as a scene file.
    fn to_toml(&self) -> PyResult<String> {
        self.lock()?.live.to_toml().map_err(errors::scene)
    }

    /// What was built, as JSON in the words of scene files.
    fn scene_json(&self) -> PyResult<String> {
        let inner = self.lock()?;
        serde_json::to_string(inner.live.scene()).map_err(|error| errors::value(error.to_string()))
    }

    /// The certificate of the last step as JSON; nothing if it was not judged.
    fn certificate_json(&self) -> PyResult<Option<String>> {
        let inner = self.lock()?;
        let report = inner.report.as_ref();
        let certificate = report.and_then(|report| report.certificate.as_ref());
        let json = certificate.map(serde_json::to_string).transpose();
        json.map_err(|error| errors::value(error.to_string()))
    }

    /// Names a body by its place.
    fn body_key(&self, body: &Bound<'_, PyAny>) -> PyResult<BodyKey> {
        let inner = self.lock()?;
        let place = inner.place(body)?;
        Ok(BodyKey(
            each!(inner.live.world(), w => w.bodies().id(place)),
        ))
    }

    /// All joints, in order.
    fn joint_keys(&self) -> PyResult<Vec<JointKey>> {
        let inner = self.lock()?;
        Ok(each!(inner.live.world(), w => w.joints().map(JointKey).collect()))
    }

    /// The joint of a name.
    fn joint_named(&self, name: &str) -> PyResult<JointKey> {
        let inner = self.lock()?;
        let key = each!(inner.live.world(), w => w.joint(name));
        key.map(JointKey)
            .ok_or_else(|| errors::access(format!("there is no joint `{name}`")))
    }
}

/// The scene that is meant.
fn read(what: &str, text: &str) -> PyResult<Scene> {
    let scene = match what {
        "toml" => Scene::from_toml(text, ""),
        "file" if is_model(text.as_ref()) => {
            import(text.as_ref(), &ImportOptions::default()).map(|imported| imported.scene)
        }
        "file" => Scene::load(text.as_ref()),
        "gallery" => match gallery::find(text) {
            Some(entry) => entry.scene(),
            None => {
                let near = gallery::nearest(text).map(|name| format!("; did you mean `{name}`?"));
                let near = near.unwrap_or_default();
                let problem = format!("there is no scene `{text}` in the gallery{near}");
                return Err(errors::access(problem));
            }
        },
        _ => Scene::from_json(text, ""),
    };
    scene.map_err(errors::scene)
}
