//! Attachments in the strategy `sequential`.
//!
//! They act twice: on free flight, together with elastic forces, and in every impact, where they
//! are solved with it and all bodies and nodes answer with their own masses.

use super::Start;
use super::parallel::local;
use super::swept_motion::SweptMotion;
use crate::contact::primitives::{Failure, Primitives};
use crate::contact::problem::Impulses;
use crate::contact::problem::assemble::Assembled;
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::geometry::Space;
use crate::model::body::Motion;

/// What attachments have done in a step so far.
pub(super) struct Holding<S: Space> {
    /// Impulse of each of their contacts on its node, in world axes, N·s.
    pub(super) impulses: Vec<S::Vector>,
    /// Velocities after all forces and after attachments have acted on free flight.
    pub(super) flown: Vec<Motion<S>>,
}

impl<S: Space> Holding<S> {
    /// Lets attachments act on free flight. The free velocities become those after elastic forces
    /// that went with them.
    pub(super) fn new(
        start: &mut Start<'_, S>,
        primitives: &Primitives<S>,
        elastic: &mut Elastic<'_, S>,
    ) -> Result<Self, Failure<S>> {
        if start.attached.is_empty() {
            return Ok(Self {
                impulses: Vec::new(),
                flown: start.free.clone(),
            });
        }
        let coupled = elastic.couple(start.bodies, &[], start.attached);
        coupled.map_err(|_| Failure::Numbers)?;
        let (dt, mut solver) = (start.settings.dt, start.settings.solver);
        let flight = SweptMotion::new(start, start.bodies, primitives);
        let mut assembled = flight.assemble(&[], &start.free, dt, false);
        let before = flight.held.iter().map(|contact| contact.impulse);
        let mut impulses = local(&assembled, &before.collect::<Vec<_>>());
        elastic.settle(start.bodies, &mut solver, &mut assembled, &mut impulses);
        elastic.release();
        let flown = assembled.problem.velocities(&impulses).motion;
        // With nodes' own masses: what is left of the change is that of elastic forces.
        let own = flight.assemble(&[], &flown, dt, false).problem;
        let back = Impulses {
            local: impulses.local.iter().map(|&r| r * -1.0).collect(),
        };
        let free = own.velocities(&back).motion;
        let impulses = by_contact(&assembled, &impulses);
        start.free = free;
        Ok(Self { impulses, flown })
    }
}

/// Impulses of a problem in world axes, N·s, in the order of its contacts.
pub(super) fn by_contact<S: Space>(
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
) -> Vec<S::Vector> {
    let mut world = vec![S::Vector::default(); impulses.local.len()];
    for (row, &k) in assembled.contact_of_row.iter().enumerate() {
        let basis = &assembled.problem.rows[row].basis;
        world[k as usize] = S::to_world(basis, impulses.local[row]);
    }
    world
}
