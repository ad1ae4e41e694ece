//! The linear systems of all deformables, kept from step to step for their analysed patterns.

use super::system::System;
use crate::model::deformable::{Deformables, Soft};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// A system of each deformable, by its place among them. Nothing in it is state: a copy analyses
/// the patterns anew.
#[derive(Debug, Default)]
pub(crate) struct ElasticSystems(Vec<Option<Box<System>>>);

impl Clone for ElasticSystems {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ElasticSystems {
    /// Makes room for these deformables and drops the systems of those that were removed.
    pub(super) fn fit(&mut self, deformables: &Deformables) {
        self.0.resize_with(deformables.list.len(), || None);
        for (system, soft) in self.0.iter_mut().zip(&deformables.list) {
            if soft.is_none() {
                *system = None;
            }
        }
    }

    /// The system of the deformable at a place, if it was made.
    pub(crate) fn get(&self, place: usize) -> Option<&System> {
        self.0.get(place)?.as_deref()
    }

    /// Whether the system at a place is solved by conjugate gradients.
    pub(super) fn is_iterative(&self, place: usize) -> bool {
        self.get(place).is_some_and(System::is_iterative)
    }

    /// Calls `f` for every deformable with its system, each on its own and some at the same time,
    /// and gives the answers with their places, in order: they do not depend on the number of
    /// threads.
    pub(super) fn each<R: Send>(
        &mut self,
        deformables: &Deformables,
        threads: u32,
        f: impl Fn(&Soft, &mut Option<Box<System>>) -> R + Sync,
    ) -> Vec<(usize, R)> {
        let all = deformables.list.iter().zip(&mut self.0).enumerate();
        let present =
            all.filter_map(|(place, (soft, system))| Some((place, soft.as_ref()?, system)));
        let mut present: Vec<_> = present.collect();
        let shared = SharedSlice::new(&mut present);
        thread_pool::gather(threads as usize, shared.len(), |k, answers| {
            shared.change(k, |(place, soft, system)| {
                answers.push((*place, f(soft, system)))
            });
        })
    }
}
