//! Islands, sleep and joints as frames show them.

use super::World;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Components;
use crate::math::union_find::UnionFind;
use crate::model::joint::store::Held;
use crate::model::joint::{Axis, Freedom, JointKind};
use drystone_frame::{FrameJoint, JointEnd, JointForm, NO_ISLAND, StageJoint};

impl<S: Space> World<S> {
    /// For each body the lowest body of its island: bodies that contacts, joints or a deformable
    /// tie together. What nothing moves belongs to none and ties nothing together.
    pub(super) fn islands(&self, contacts: &[Contact<S>]) -> Vec<u32> {
        let mut forest = UnionFind::new(self.bodies.len());
        let mut tie = |a: u32, b: u32| {
            if [a, b].iter().all(|&k| self.bodies.is_dynamic(k as usize)) {
                forest.join(a, b);
            }
        };
        for contact in contacts {
            tie(contact.a, contact.b);
        }
        for (_, joint) in self.joints.iter() {
            tie(joint.a, joint.b);
        }
        for soft in self.deformables.iter() {
            // Pinned nodes are fixed: all others hang on the first that is not.
            let is_free = |node: &&u32| self.bodies.is_dynamic(**node as usize);
            if let Some(&first) = soft.nodes.iter().find(is_free) {
                soft.nodes.iter().for_each(|&node| tie(first, node));
            }
        }
        let island = |k: usize| match self.bodies.is_dynamic(k) {
            true => forest.lowest(k as u32),
            false => NO_ISLAND,
        };
        (0..self.bodies.len()).map(island).collect()
    }

    /// Whether each body sleeps.
    pub(super) fn sleepers(&self) -> Vec<bool> {
        let sleeps = |k: usize| self.is_asleep(self.bodies.id(k));
        (0..self.bodies.len()).map(sleeps).collect()
    }

    /// What does not change of the joints, place by place.
    pub(super) fn stage_joints(&self) -> Vec<StageJoint> {
        let end = |body: u32, frame: &Pose<S>| {
            // Frames are kept relative to the centre of mass, objects have their own origin.
            let from_origin = frame.position + self.bodies.center[body as usize];
            JointEnd {
                object: body,
                position: from_origin.to_array3(),
                rotation: S::quaternion(frame.rotation),
            }
        };
        let joint = |held: &Held<S>| StageJoint {
            name: held.name.clone(),
            form: form::<S>(&held.kind),
            ends: [end(held.a, &held.frame_a), end(held.b, &held.frame_b)],
        };
        let places = self.joints.places();
        places
            .map(|held| held.map(joint).unwrap_or_default())
            .collect()
    }

    /// What the joints carry now, place by place.
    pub(super) fn frame_joints(&self) -> Vec<FrameJoint> {
        let joint = |(place, held): (u32, Option<&Held<S>>)| {
            let Some(held) = held else {
                return FrameJoint {
                    broken: true,
                    ..FrameJoint::default()
                };
            };
            let carried = self.carried(place, held);
            let (error_m, error_rad) = held.error(&self.bodies);
            FrameJoint {
                force: carried.force.to_array3(),
                torque: carried.torque.to_array3(),
                error_m,
                error_rad,
                broken: false,
            }
        };
        (0..).zip(self.joints.places()).map(joint).collect()
    }
}

/// The usual name of a choice of coordinates.
fn form<S: Space>(kind: &JointKind) -> JointForm {
    let (linear, angular) = match kind {
        JointKind::Distance(axis) if axis.drive.is_some() => return JointForm::Spring,
        JointKind::Distance(_) => return JointForm::Distance,
        JointKind::Gear { .. } => return JointForm::Gear,
        JointKind::Axes { linear, angular } => (linear, angular),
    };
    let is_locked = |axis: &Axis| axis.freedom == Freedom::Locked;
    let turns = if S::DIM == 2 { 1 } else { 3 };
    let moves = linear[..S::DIM]
        .iter()
        .filter(|axis| !is_locked(axis))
        .count();
    let locked_turns = angular[..turns]
        .iter()
        .filter(|axis| is_locked(axis))
        .count();
    let x_slides = !is_locked(&linear[0]);
    let x_turns = !is_locked(&angular[0]);
    match (moves, turns - locked_turns) {
        (0, 0) => JointForm::Fixed,
        (0, free) if free == turns => JointForm::Ball,
        (0, 1) if x_turns => JointForm::Hinge,
        (0, 2) if is_locked(&angular[2]) => JointForm::Universal,
        (1, 0) if x_slides => JointForm::Slider,
        _ => JointForm::Axes,
    }
}
