//! Joints of a world: adding, reading, changing, removing.

use super::{AccessError, World};
use crate::dynamics::joint_contacts;
use crate::dynamics::joint_drives;
use crate::geometry::Space;
use crate::model::body::BodyId;
use crate::model::joint::store::{Held, reaction};
use crate::model::joint::{Joint, JointError, JointId, JointKind, Reaction};

impl<S: Space> World<S> {
    /// Ties two bodies together, in the strategies `realtime` and `velocity`.
    ///
    /// ```
    /// use drystone::{Body, Joint, Shape3, World3, glam::DVec3};
    /// let mut world = World3::default();
    /// let hook = world.add(Body::fixed(Shape3::ball(0.1)?))?;
    /// let bob = world.add(Body::rigid(Shape3::ball(0.1)?).at(DVec3::new(1.0, 0.0, 0.0)))?;
    /// let joint = world.join(Joint::ball(hook, bob).at(DVec3::ZERO))?;
    /// for _ in 0..600 {
    ///     world.step()?;
    ///     let length = world.pose(bob).unwrap().position.length();
    ///     assert!((length - 1.0).abs() < 0.01);
    /// }
    /// world.unjoin(joint)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn join(&mut self, joint: Joint<S>) -> Result<JointId, JointError> {
        let ends = [joint.a, joint.b];
        let id = self.joints.add(&self.bodies, joint)?;
        self.changes.ties.extend(ends.map(|body| body.place));
        Ok(id)
    }

    /// Takes a joint away.
    pub fn unjoin(&mut self, id: JointId) -> Result<(), AccessError> {
        let joint = self.joints.remove(id).ok_or(AccessError::NoJoint)?;
        self.changes.ties.extend([joint.a, joint.b]);
        Ok(())
    }

    /// The joint of a name.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<JointId> {
        let place = self.joints.place(name)?;
        Some(self.joints.id(place))
    }

    /// All joints, in order.
    pub fn joints(&self) -> impl Iterator<Item = JointId> {
        self.joints.iter().map(|(place, _)| self.joints.id(place))
    }

    /// The joint at a place ([`JointId::index`]).
    #[must_use]
    pub fn joint_at(&self, place: usize) -> Option<JointId> {
        let held = self.joints.places().nth(place)?;
        held.map(|_| self.joints.id(place as u32))
    }

    /// A joint's name.
    #[must_use]
    pub fn joint_name(&self, id: JointId) -> Option<&str> {
        self.joints.get(id).map(|joint| joint.name.as_str())
    }

    /// The two bodies that a joint ties.
    #[must_use]
    pub fn joined(&self, id: JointId) -> Option<(BodyId, BodyId)> {
        let joint = self.joints.get(id)?;
        let (a, b) = (joint.a as usize, joint.b as usize);
        Some((self.bodies.id(a), self.bodies.id(b)))
    }

    /// What a joint measures and allows.
    #[must_use]
    pub fn joint_kind(&self, id: JointId) -> Option<JointKind> {
        self.joints.get(id).map(|joint| joint.kind)
    }

    /// Changes what a joint allows and drives; its frames stay.
    pub fn set_joint_kind(&mut self, id: JointId, kind: JointKind) -> Result<(), JointError> {
        let ends = self.joints.change(&self.bodies, id, kind)?;
        self.changes.bodies.extend(ends);
        Ok(())
    }

    /// What a joint carried in the last step.
    #[must_use]
    pub fn reaction(&self, id: JointId) -> Option<Reaction<S>> {
        let joint = self.joints.get(id)?;
        Some(self.carried(id.place, joint))
    }

    /// What the joint at a place carried in the last step: by its contacts and its drives, or as
    /// the strategy `realtime` knows it.
    pub(super) fn carried(&self, place: u32, joint: &Held<S>) -> Reaction<S> {
        let own = self.running.stepper();
        if let Some(forces) = own.and_then(|own| own.joint_forces(place)) {
            return reaction(&self.bodies, joint, &forces);
        }
        // The length of the last step; the settings may have changed since.
        let (_, _, dt) = self.even_since;
        if dt <= 0.0 {
            return Reaction::default();
        }
        let generation = self.joints.id(place).generation;
        joint_contacts::reaction(&self.contacts.solved, (place, generation), dt)
            + reaction(&self.bodies, joint, &joint_drives::forces(joint, dt))
    }

    /// How far joints are from what they hold together: the largest distance in m and the largest
    /// angle in rad.
    #[must_use]
    pub fn joint_error(&self) -> (f64, f64) {
        self.joints.error(&self.bodies)
    }

    /// Removes the joints that carried more than they can, and says so.
    pub(super) fn break_joints(&mut self) {
        let is_broken = |(place, joint): &(u32, &Held<S>)| {
            let may = joint.break_force.is_finite() || joint.break_torque.is_finite();
            may && self.carried(*place, joint).breaks(joint)
        };
        let broken: Vec<JointId> = self
            .joints
            .iter()
            .filter(is_broken)
            .map(|(place, _)| self.joints.id(place))
            .collect();
        for joint in broken {
            if let (Some((a, b)), Ok(())) = (self.joined(joint), self.unjoin(joint)) {
                self.events.push(crate::Event::JointBroke { joint, a, b });
            }
        }
    }
}
