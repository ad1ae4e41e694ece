//! Building: what Python adds comes as JSON in the words of scene files, and is read and checked
//! as a scene is.

use drystone::{AccessError, JointId};
use drystone_scene::Scene;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;
use crate::keys::{BodyKey, JointKey};
use crate::world::{Inner, World, each};

#[pymethods]
impl World {
    /// Adds the bodies of a scene.
    fn add_bodies(&self, scene: &str) -> PyResult<Vec<BodyKey>> {
        let inner = &mut *self.lock()?;
        let mut keys = Vec::new();
        for body in entries(scene)?.bodies {
            inner.stamp += 1;
            let added = inner.live.add_body(body).map_err(errors::scene)?;
            let world = inner.live.world();
            let key = |place| BodyKey(each!(world, w => w.bodies().id(place)));
            keys.extend(added.into_iter().map(key));
        }
        Ok(keys)
    }

    /// Adds the joints of a scene.
    fn add_joints(&self, scene: &str) -> PyResult<Vec<JointKey>> {
        let inner = &mut *self.lock()?;
        let mut keys = Vec::new();
        for joint in entries(scene)?.joints {
            inner.stamp += 1;
            let added = inner.live.add_joint(joint).map_err(errors::scene)?;
            for (place, _) in added {
                keys.push(JointKey(joint_at(inner, place)?));
            }
        }
        Ok(keys)
    }

    /// Adds the deformables of a scene: their places among the world's.
    fn add_deformables(&self, scene: &str) -> PyResult<Vec<usize>> {
        let inner = &mut *self.lock()?;
        inner.stamp += 1;
        let live = &mut inner.live;
        let all = entries(scene)?.deformables.into_iter();
        all.map(|given| live.add_deformable(given).map_err(errors::scene))
            .collect()
    }

    /// Adds the materials and pairs of a scene.
    fn add_materials(&self, scene: &str) -> PyResult<()> {
        let inner = &mut *self.lock()?;
        let Scene {
            materials, pairs, ..
        } = entries(scene)?;
        for material in materials {
            inner.live.add_material(material).map_err(errors::scene)?;
        }
        for pair in pairs {
            inner.live.add_pair(pair).map_err(errors::scene)?;
        }
        Ok(())
    }

    /// Removes a body and its joints.
    fn remove_body(&self, body: &Bound<'_, PyAny>) -> PyResult<()> {
        let inner = &mut *self.lock()?;
        let place = inner.place(body)?;
        inner.stamp += 1;
        inner.live.remove_body(place).map_err(errors::access)
    }

    /// Removes a joint.
    fn remove_joint(&self, joint: &Bound<'_, JointKey>) -> PyResult<()> {
        let inner = &mut *self.lock()?;
        let id = joint.get().0;
        if joint_at(inner, id.index())? != id {
            return Err(errors::access(AccessError::NoJoint));
        }
        inner.stamp += 1;
        inner.live.remove_joint(id.index()).map_err(errors::access)
    }

    /// Settings in the words of scenes, as JSON.
    fn settings_json(&self) -> PyResult<String> {
        let inner = self.lock()?;
        let mut scene = settings_of(inner.live.scene())?;
        let world = inner.live.world();
        scene["dt"] = world.dt().into();
        scene["strategy"] = inner.live.scene().strategy_name().into();
        Ok(scene.to_string())
    }

    /// Changes settings: what `patch` has replaces the scene's.
    fn change_settings(&self, patch: &str) -> PyResult<()> {
        let inner = &mut *self.lock()?;
        let mut scene = settings_of(inner.live.scene())?;
        let patch = serde_json::from_str(patch).map_err(|e| errors::value(e.to_string()))?;
        merge(&mut scene, patch);
        let Scene {
            dt,
            gravity,
            strategy,
            realtime,
            barrier,
            impacts,
            penalty,
            solver,
            contact,
            ..
        } = entries(&scene.to_string())?;
        let change = |scene: &mut Scene| {
            (scene.dt, scene.gravity, scene.strategy) = (dt, gravity, strategy);
            (scene.realtime, scene.barrier) = (realtime, barrier);
            (scene.impacts, scene.penalty) = (impacts, penalty);
            (scene.solver, scene.contact) = (solver, contact);
        };
        inner.stamp += 1;
        inner.live.set(change).map_err(errors::scene)
    }

    /// Threads that a step may use; no result depends on it.
    #[getter]
    fn threads(&self) -> PyResult<u32> {
        Ok(each!(self.lock()?.live.world(), w => w.settings().threads))
    }

    #[setter]
    fn set_threads(&self, threads: u32) -> PyResult<()> {
        if threads == 0 {
            return Err(errors::value("threads must be 1 or more"));
        }
        each!(self.lock()?.change(), w => w.settings_mut().threads = threads);
        Ok(())
    }

    /// A certificate every so many steps; 0 for none.
    #[getter]
    fn certify_every(&self) -> PyResult<u32> {
        Ok(each!(self.lock()?.live.world(), w => w.settings().certify_every))
    }

    #[setter]
    fn set_certify_every(&self, steps: u32) -> PyResult<()> {
        self.lock()?.change().set_certify_every(steps);
        Ok(())
    }

    /// Whether steps tell what began and ended to touch.
    #[getter]
    fn record_events(&self) -> PyResult<bool> {
        Ok(each!(self.lock()?.live.world(), w => w.settings().events))
    }

    #[setter]
    fn set_record_events(&self, is_on: bool) -> PyResult<()> {
        each!(self.lock()?.change(), w => w.settings_mut().events = is_on);
        Ok(())
    }
}

/// A scene that holds nothing but entries to be added.
fn entries(json: &str) -> PyResult<Scene> {
    Scene::from_json(json, "").map_err(errors::scene)
}

fn joint_at(inner: &Inner, place: usize) -> PyResult<JointId> {
    let id = each!(inner.live.world(), w => w.joint_at(place));
    id.ok_or_else(|| errors::access(AccessError::NoJoint))
}

/// How a scene is stepped, without what is in it.
fn settings_of(scene: &Scene) -> PyResult<Value> {
    let settings = Scene {
        dt: scene.dt,
        gravity: scene.gravity.clone(),
        strategy: scene.strategy.clone(),
        realtime: scene.realtime.clone(),
        barrier: scene.barrier.clone(),
        impacts: scene.impacts.clone(),
        penalty: scene.penalty.clone(),
        solver: scene.solver.clone(),
        contact: scene.contact.clone(),
        ..Scene::new("", scene.dimension)
    };
    serde_json::to_value(settings).map_err(|error| errors::value(error.to_string()))
}

/// Puts what a patch has in the place of what was there, table by table.
fn merge(into: &mut Value, patch: Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch,
    }
}
