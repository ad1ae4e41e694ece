//! The impacts of a step so far.

use super::flight::Hit;
use crate::detect::Contact;
use crate::primitives::feature_of;
use crate::problem::Impulses;
use crate::problem::assemble::Assembled;
use crate::shape::FeatureId;
use crate::space::Space;

/// All impacts that were found, each once, and their impulses.
pub(super) struct Register<S: Space> {
    /// In the order of their keys.
    pub(super) hits: Vec<Hit<S>>,
    /// On the second of each one's bodies, in world axes, N·s.
    impulses: Vec<S::Vector>,
    /// Impulses of the last step's contacts, sorted: what a new impact starts from.
    remembered: Vec<(FeatureId, S::Vector)>,
}

impl<S: Space> Register<S> {
    /// Nothing but the memory of the last step's contacts.
    pub(super) fn new(last: &[Contact<S>]) -> Self {
        let known = |contact: &Contact<S>| (contact.point.feature, contact.impulse);
        let mut remembered: Vec<_> = last.iter().map(known).collect();
        remembered.sort_by_key(|(feature, _)| *feature);
        Self {
            hits: Vec::new(),
            impulses: Vec::new(),
            remembered,
        }
    }

    /// Adds impacts; those that are known already are seen with new eyes.
    pub(super) fn add(&mut self, new: Vec<Hit<S>>) {
        let impulse = |hit: &Hit<S>| {
            let feature = feature_of(&hit.encounter);
            let of_feature = |(known, _): &(FeatureId, S::Vector)| known.cmp(&feature);
            let found = self.remembered.binary_search_by(of_feature);
            found.map_or(S::Vector::default(), |k| self.remembered[k].1)
        };
        let fresh: Vec<S::Vector> = new.iter().map(impulse).collect();
        let old = std::mem::take(&mut self.hits);
        let old = old.into_iter().zip(std::mem::take(&mut self.impulses));
        let mut all: Vec<(Hit<S>, S::Vector)> = old.chain(new.into_iter().zip(fresh)).collect();
        all.sort_by_key(|(hit, _)| hit.encounter.key());
        for (hit, impulse) in all {
            match (self.hits.last_mut(), self.impulses.last()) {
                // The impulse so far is a better start than that of the last step.
                (Some(last), Some(_)) if last.encounter.key() == hit.encounter.key() => *last = hit,
                _ => {
                    self.hits.push(hit);
                    self.impulses.push(impulse);
                }
            }
        }
    }

    /// The impulses as a problem of these impacts wants them.
    pub(super) fn local(&self, assembled: &Assembled<S>) -> Impulses<S> {
        let rows = assembled.problem.rows.iter();
        let of_row = |(row, &k): (&crate::problem::Row<S>, &u32)| {
            S::to_local(&row.basis, self.impulses[k as usize])
        };
        Impulses {
            local: rows.zip(&assembled.contact_of_row).map(of_row).collect(),
        }
    }

    /// Takes a problem's answer.
    pub(super) fn take(&mut self, assembled: &Assembled<S>, impulses: &Impulses<S>) {
        for (row, &k) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            self.impulses[k as usize] = S::to_world(basis, impulses.local[row]);
        }
    }

    /// The impacts as contacts with their impulses.
    pub(super) fn contacts(&self) -> Vec<Contact<S>> {
        let contact = |(hit, &impulse): (&Hit<S>, &S::Vector)| Contact {
            impulse,
            ..hit.contact
        };
        self.hits.iter().zip(&self.impulses).map(contact).collect()
    }
}
