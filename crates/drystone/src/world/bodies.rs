//! Bodies of a world: adding, reading, removing.

use std::sync::Arc;

use super::{AccessError, HookSlot, World};
use crate::contact::rules::Hooks;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::model::body::{Bodies, Body, BodyError, BodyId, Groups, Kind, Motion};

impl<S: Space> World<S> {
    /// Adds a body.
    pub fn add(&mut self, body: Body<S>) -> Result<BodyId, BodyError> {
        let name = match &body.name {
            Some(name) => name.clone(),
            None => format!("body {}", self.bodies.next_place()),
        };
        if self.names.contains_key(&name) {
            return Err(BodyError::Name(name));
        }
        let density = self.materials.get(body.material).density;
        let id = self.bodies.push(body, density)?;
        let k = id.index();
        // A script need not begin where the body was described.
        if let Kind::Kinematic(script) = &self.bodies.kind[k] {
            let Pose { position, rotation } = script.pose(&self.bodies.start[k], self.time);
            self.bodies.position[k] = position;
            self.bodies.rotation[k] = rotation;
        }
        let (print, shape) = (self.bodies.print[k], &self.bodies.shape[k]);
        self.shapes.entry(print).or_insert_with(|| shape.clone());
        self.names.insert(name, id);
        self.changes.places.push(id.place);
        Ok(id)
    }

    /// Removes a body and its joints. What rested on it wakes and falls.
    pub fn remove(&mut self, id: BodyId) -> Result<(), AccessError> {
        let k = self.index(id)?;
        if self.bodies.node_of[k] != 0 {
            return Err(AccessError::Node);
        }
        self.detach(id.place);
        self.names.remove(self.bodies.name(k));
        for other in self.joints.remove_of(id.place) {
            self.changes.bodies.push(other);
        }
        self.bodies.remove(k);
        self.contacts
            .present
            .retain(|c| c.bodies().all(|k| k != id.place));
        self.changes.places.push(id.place);
        Ok(())
    }

    /// Changes which bodies a body meets.
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), AccessError> {
        let k = self.index(id)?;
        self.bodies.groups[k] = groups;
        self.changes.ties.push(id.place);
        Ok(())
    }

    /// Lets a program decide about contacts itself.
    pub fn set_hooks(&mut self, hooks: Option<Arc<dyn Hooks<S>>>) {
        self.hooks = HookSlot(hooks);
        self.changes.all = true;
    }

    /// Whether a body sleeps (strategy `realtime` only).
    #[must_use]
    pub fn is_asleep(&self, id: BodyId) -> bool {
        let place = self.bodies.place(id);
        let stepper = self.running.stepper();
        place.is_some_and(|k| stepper.is_some_and(|stepper| stepper.is_asleep(k)))
    }

    /// Wakes a body and what it touches.
    pub fn wake(&mut self, id: BodyId) -> Result<(), AccessError> {
        self.index(id)?;
        self.changes.bodies.push(id.place);
        Ok(())
    }

    /// The bodies' state.
    #[must_use]
    pub fn bodies(&self) -> &Bodies<S> {
        &self.bodies
    }

    /// The body of a name.
    #[must_use]
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.names.get(name).copied()
    }

    /// Where a body's shape is.
    #[must_use]
    pub fn pose(&self, id: BodyId) -> Option<Pose<S>> {
        self.bodies.place(id).map(|k| self.bodies.origin(k))
    }

    /// How a body moves.
    #[must_use]
    pub fn motion(&self, id: BodyId) -> Option<Motion<S>> {
        self.bodies.place(id).map(|k| self.bodies.motion[k])
    }

    pub(super) fn index(&self, id: BodyId) -> Result<usize, AccessError> {
        self.bodies.place(id).ok_or(AccessError::NoBody(id.place))
    }
}
