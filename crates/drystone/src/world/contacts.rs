//! The contacts at the present poses.

use super::World;
use crate::contact::deformable_contacts;
use crate::contact::detection::{Contact, detect};
use crate::contact::problem::Impulses;
use crate::contact::problem::assemble::Assembled;
use crate::geometry::space::Space;
use crate::model::deformable::attachment;
use crate::strategy::realtime::Changes;
use crate::strategy::settings::Strategy;

impl<S: Space> World<S> {
    /// Hands the impulses to the contacts they belong to, for the next step to start from.
    pub(super) fn keep_impulses(&mut self, assembled: &Assembled<S>, impulses: &Impulses<S>) {
        for (row, &contact) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            self.contacts[contact as usize].impulse = S::to_world(basis, impulses.local[row]);
        }
        self.solved = std::mem::take(&mut self.contacts);
        self.contacts.clone_from(&self.solved);
    }

    /// Finds contacts again if something changed since they were found. The strategy `substep`
    /// keeps contacts of its own, so these are always old there.
    pub(super) fn refresh_contacts(&mut self) {
        self.joints.sort_pairs();
        let is_substep = matches!(self.settings.strategy, Strategy::Substep(_));
        if is_substep {
            let changes = self.changes.clone();
            self.find_contacts();
            self.changes = changes;
        } else if !self.changes.is_none() {
            self.find_contacts();
        }
    }

    pub(super) fn find_contacts(&mut self) {
        let ahead = self.settings.lookahead();
        // In this order: bodies, deformables, attachments, joints.
        let touches = self.contacts.partition_point(|c| !c.is_of_joint());
        let (touches, joined) = self.contacts.split_at(touches);
        let (others, soft) = touches.split_at(touches.partition_point(|c| !c.is_soft()));
        let mut contacts = detect(&self.bodies, &self.pair_rules(), &ahead, others);
        contacts.extend(deformable_contacts::contacts(
            &self.deformables,
            &self.bodies,
            &self.pair_rules(),
            &ahead,
            soft,
        ));
        let attached = self.deformables.attached();
        contacts.extend(attachment::contacts(attached, &self.bodies, soft));
        contacts.extend(self.contacts_of_joints(joined));
        self.contacts = contacts;
        self.changes = Changes::default();
    }

    /// The contacts that hold joints, in the strategy that holds them by contacts.
    fn contacts_of_joints(&self, previous: &[Contact<S>]) -> Vec<Contact<S>> {
        match self.settings.strategy {
            Strategy::Velocity => crate::contact::joint_contacts::contacts(
                &self.joints,
                &self.bodies,
                self.settings.dt,
                previous,
            ),
            _ => Vec::new(),
        }
    }
}
