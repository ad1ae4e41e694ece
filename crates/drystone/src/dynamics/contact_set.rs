//! Contacts at the present poses, and those that the last step solved.

use super::joint_contacts;
use crate::contact::detection::{Contact, Lookahead, detect};
use crate::contact::problem::Impulses;
use crate::contact::problem::assemble::Assembled;
use crate::contact::rules::PairRules;
use crate::contact::{attachment_contacts, deformable_contacts};
use crate::geometry::Space;
use crate::model::body::Bodies;
use crate::model::deformable::Deformables;
use crate::model::joint::Joints;

/// Contacts at the present poses, and those that the last step solved.
#[derive(Clone, Debug)]
pub(crate) struct ContactSet<S: Space> {
    /// At the present poses, with the last step's impulses where they continue.
    pub(crate) present: Vec<Contact<S>>,
    /// Those that the last step solved, with their impulses.
    pub(crate) solved: Vec<Contact<S>>,
}

impl<S: Space> Default for ContactSet<S> {
    fn default() -> Self {
        Self {
            present: Vec::new(),
            solved: Vec::new(),
        }
    }
}

/// All that contacts are found from.
pub(crate) struct Surroundings<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) deformables: &'a Deformables,
    pub(crate) joints: &'a Joints<S>,
    pub(crate) rules: PairRules<'a, S>,
    pub(crate) ahead: Lookahead,
    /// Whether joints are rows of the contact problem.
    pub(crate) joints_are_contacts: bool,
}

impl<S: Space> ContactSet<S> {
    /// Finds the contacts at the present poses; those that were there before keep their impulses.
    pub(crate) fn find(&mut self, around: &Surroundings<'_, S>) {
        let Surroundings {
            bodies,
            deformables,
            joints,
            rules,
            ahead,
            ..
        } = around;
        // In this order: bodies, deformables, attachments, joints.
        let touches = self.present.partition_point(|c| !c.is_of_joint());
        let (touches, joined) = self.present.split_at(touches);
        let (others, soft) = touches.split_at(touches.partition_point(|c| !c.is_soft()));
        let mut contacts = detect(bodies, rules, ahead, others);
        contacts.extend(deformable_contacts::contacts(
            deformables,
            bodies,
            rules,
            ahead,
            soft,
        ));
        let attached = deformables.attached();
        contacts.extend(attachment_contacts::contacts(attached, bodies, soft));
        if around.joints_are_contacts {
            contacts.extend(joint_contacts::contacts(joints, bodies, ahead.dt, joined));
        }
        self.present = contacts;
    }

    /// Hands the impulses to the contacts they belong to, for the next step to start from.
    pub(crate) fn keep_impulses(&mut self, assembled: &Assembled<S>, impulses: &Impulses<S>) {
        for (row, &contact) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            self.present[contact as usize].impulse = S::to_world(basis, impulses.local[row]);
        }
        self.solved = std::mem::take(&mut self.present);
        self.present.clone_from(&self.solved);
    }
}
