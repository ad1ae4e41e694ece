//! How a program moves bodies: from one place to another, by velocities, by forces.
//!
//! A **kinematic** body goes where its script says. A program drives it by giving it another one:
//! a steady motion ([`World::set_motion`]) or a way to a pose that it reaches in the next step
//! ([`World::set_next_pose`]). Either way its velocity is that of its way, so it carries what stands
//! on it and pushes what it meets. Only [`World::set_pose`] puts a body somewhere else without
//! having moved.

use super::{AccessError, World};
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{BodyId, Kind, Motion};
use crate::model::range;
use crate::model::script::{Keyframe, Script};

impl<S: Space> World<S> {
    /// Puts a body somewhere else at once. A kinematic body stays there until it is driven again.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose<S>) -> Result<(), AccessError> {
        let k = self.index(id)?;
        let pose = checked_pose(pose)?;
        self.bodies.position[k] = pose.point(self.bodies.center[k]);
        self.bodies.rotation[k] = pose.rotation;
        if matches!(self.bodies.kind[k], Kind::Kinematic(_)) {
            self.bodies.start[k] = pose;
            self.follow(id, k, Script::still());
        }
        self.changes.bodies.push(id.place);
        Ok(())
    }

    /// Lets a kinematic body go to a pose within the next step of `settings().dt` seconds, the shorter
    /// way round, and stay there until it is driven again.
    pub fn set_next_pose(&mut self, id: BodyId, pose: Pose<S>) -> Result<(), AccessError> {
        let k = self.index(id)?;
        let pose = checked_pose(pose)?;
        if !matches!(self.bodies.kind[k], Kind::Kinematic(_)) {
            return Err(AccessError::NotKinematic);
        }
        let frame = |time, pose| Keyframe { time, pose };
        let way = vec![
            frame(self.time, self.bodies.origin(k)),
            frame(self.time + self.settings.dt, pose),
        ];
        self.follow(id, k, Script::Keyframes(way));
        Ok(())
    }

    /// Changes how a body moves. A kinematic body keeps the motion until it is driven again.
    pub fn set_motion(&mut self, id: BodyId, motion: Motion<S>) -> Result<(), AccessError> {
        let k = self.index(id)?;
        check_motion(&motion)?;
        match self.bodies.kind[k] {
            Kind::Fixed => return Err(AccessError::Fixed),
            Kind::Kinematic(_) => {
                let now = self.bodies.origin(k);
                let steady = Script::Steady {
                    velocity: motion.linear,
                    spin: motion.spin,
                };
                // Scripts count from time 0.
                self.bodies.start[k] = Pose {
                    position: now.position - motion.linear * self.time,
                    rotation: S::turn(now.rotation, motion.spin * -self.time),
                };
                self.follow(id, k, steady);
            }
            Kind::Particle | Kind::Rigid => self.bodies.motion[k] = motion,
        }
        self.changes.bodies.push(id.place);
        Ok(())
    }

    /// Adds a force in N at a world point, for the next step only.
    pub fn add_force(
        &mut self,
        id: BodyId,
        force: S::Vector,
        point: S::Vector,
    ) -> Result<(), AccessError> {
        let k = self.loadable(id)?;
        if !(force.is_finite() && point.is_finite()) {
            return Err(AccessError::NotFinite("force"));
        }
        let arm = point - self.bodies.position[k];
        self.bodies.load[k].0 += force;
        self.bodies.load[k].1 += S::cross(arm, force);
        Ok(())
    }

    /// Adds a torque in N·m, for the next step only.
    pub fn add_torque(&mut self, id: BodyId, torque: S::Spin) -> Result<(), AccessError> {
        let k = self.loadable(id)?;
        if !torque.is_finite() {
            return Err(AccessError::NotFinite("torque"));
        }
        self.bodies.load[k].1 += torque;
        Ok(())
    }

    /// The place of a body that forces move.
    fn loadable(&self, id: BodyId) -> Result<usize, AccessError> {
        let k = self.index(id)?;
        match self.bodies.is_dynamic(k) {
            true => Ok(k),
            false => Err(AccessError::Immovable),
        }
    }

    /// Lets a kinematic body follow another script.
    fn follow(&mut self, id: BodyId, k: usize, script: Script<S>) {
        self.bodies.kind[k] = Kind::Kinematic(script);
        self.changes.bodies.push(id.place);
    }
}

/// A pose that a body can have, its rotation of unit length.
fn checked_pose<S: Space>(pose: Pose<S>) -> Result<Pose<S>, AccessError> {
    if !pose.position.is_finite() {
        return Err(AccessError::NotFinite("position"));
    }
    if !range::within(pose.position, range::POSITION) {
        let what = "position (at most 1e12 m along each axis)";
        return Err(AccessError::OutOfRange(what));
    }
    if !S::is_near_unit(pose.rotation) {
        return Err(AccessError::Rotation);
    }
    Ok(Pose {
        rotation: S::normalize(pose.rotation),
        ..pose
    })
}

fn check_motion<S: Space>(motion: &Motion<S>) -> Result<(), AccessError> {
    if !(motion.linear.is_finite() && motion.spin.is_finite()) {
        return Err(AccessError::NotFinite("velocity"));
    }
    let is_slow = range::within(motion.linear, range::SPEED);
    if !(is_slow && range::within(motion.spin, range::SPIN)) {
        let what = "velocity (at most 1e9 m/s and 1e9 rad/s along and about each axis)";
        return Err(AccessError::OutOfRange(what));
    }
    Ok(())
}
