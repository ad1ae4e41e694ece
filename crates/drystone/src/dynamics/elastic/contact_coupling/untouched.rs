//! Deformables whose nodes meet contact one by one, apart from those that meet it as a whole.

use super::Elastic;
use crate::geometry::Space;
use crate::model::body::Bodies;
use crate::model::deformable::attachment::Attachment;
use crate::model::deformable::store::Soft;
use crate::solver::SolverKind;

/// Sweeps over contacts of nodes with their own masses at most.
const APART_SWEEPS: u32 = 40;

impl<S: Space> Elastic<'_, S> {
    /// Prepares deformables for contact that answer as a whole: all but large sheets that touch
    /// nothing but each other and what can't be moved. The nodes of those answer with their own
    /// masses. `contacts` are the bodies of each. What is `attached` answers as a whole too: a grip
    /// that is solved node by node would give way. Fails with the name of a deformable whose forces
    /// are no numbers.
    pub(crate) fn couple(
        &mut self,
        bodies: &Bodies<S>,
        contacts: &[[u32; 6]],
        attached: &[Attachment],
    ) -> Result<(), String> {
        let can_be = |place: usize, soft: &Soft| soft.is_sheet && self.systems.is_iterative(place);
        let list = &self.deformables.list;
        let mut is_apart: Vec<bool> = list
            .iter()
            .enumerate()
            .map(|(place, soft)| soft.as_ref().is_some_and(|soft| can_be(place, soft)))
            .collect();
        let place = |k: u32| (bodies.node_of[k as usize] as usize).checked_sub(1);
        let is_solid = |k: u32| place(k).is_none() && bodies.is_dynamic(k as usize);
        for contact in contacts {
            if contact.iter().copied().any(is_solid) {
                for soft in contact.iter().copied().filter_map(place) {
                    is_apart[soft] = false;
                }
            }
        }
        for soft in attached.iter().filter_map(|a| place(a.node)) {
            is_apart[soft] = false;
        }
        let mut touched = vec![false; bodies.len()];
        let present = list.iter().zip(&is_apart);
        if present
            .clone()
            .any(|(soft, is_apart)| soft.is_some() && !is_apart)
        {
            for &k in contacts.as_flattened() {
                let is_coupled = place(k).is_some_and(|soft| !is_apart[soft]);
                touched[k as usize] = is_coupled && bodies.is_dynamic(k as usize);
            }
        }
        for k in attached.iter().map(|a| a.node as usize) {
            touched[k] = bodies.is_dynamic(k);
        }
        self.is_apart = is_apart;
        self.touch(bodies, &touched)
    }

    /// From here on all nodes answer with their own masses: elastic forces are done.
    pub(crate) fn release(&mut self) {
        self.is_apart.fill(true);
    }

    /// Whether a body is a node that answers with its own mass.
    pub(crate) fn is_apart(&self, bodies: &Bodies<S>, body: usize) -> bool {
        let place = (bodies.node_of[body] as usize).checked_sub(1);
        place.is_some_and(|soft| self.is_apart[soft])
    }

    /// A solver for contact of nodes with their own masses, where that is what most contacts are.
    /// `enough` is a residual that may be left, m/s.
    pub(crate) fn hurried(&self, mut solver: SolverKind, enough: f64) -> SolverKind {
        if self.is_apart.contains(&true) {
            let (most, tolerance) = solver.iterations_and_tolerance();
            solver.set_iterations(most.min(APART_SWEEPS));
            solver.set_tolerance(tolerance.max(enough));
        }
        solver
    }
}
