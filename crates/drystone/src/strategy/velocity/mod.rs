//! The strategy `velocity`: all contacts of a step as one problem, which any solver solves.
//!
//! Velocities after forces, a contact problem of everything that touches, is attached or joined,
//! its solution by [`Settings::solver`](crate::Settings::solver), overlap repair solved apart, and
//! bodies that move by the velocities that are found: the time stepping of the lecture notes, and
//! the reference for the other strategies.

use super::profile::{Feature, Options, Profile, SettingsError};
use super::step::{Failure, Phase, Resolution, StepInput, StepOutput, Stepper};
use crate::contact::problem::ContactProblem;
use crate::contact::problem::assemble::{assemble, warm_start};
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::{Elastic, touched};
use crate::dynamics::elastic::systems::ElasticSystems;
use crate::dynamics::failsafe::rescue;
use crate::dynamics::joint_drives;
use crate::dynamics::overlap_repair::repair;
use crate::geometry::Space;
use crate::judge::certificate::Solution;
use crate::judge::law::Answered;
use crate::math::algebra::vector;
use std::any::Any;

/// The options of `velocity`: it has none of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Velocity;

/// What the strategy says of itself.
pub(crate) const PROFILE: Profile = Profile {
    name: "velocity",
    usual_dt: 1.0 / 240.0,
    solver: None,
    is_threaded: false,
    watches_motion: false,
    joints_are_contacts: true,
    keeps_contacts: false,
    refuses: &[Feature::UnheldAngles],
};

impl Options for Velocity {
    fn check(&self) -> Result<(), SettingsError> {
        Ok(())
    }
}

/// The strategy `velocity` at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct VelocityStepper {
    systems: ElasticSystems,
}

impl<S: Space> Stepper<S> for VelocityStepper {
    fn set_options(&mut self, options: &dyn Any) -> bool {
        options.is::<Velocity>()
    }

    fn copy(&self) -> Box<dyn Stepper<S>> {
        Box::new(self.clone())
    }

    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>> {
        let dt = input.settings.dt;
        let rules = input.settings.contact;
        input.refresh_contacts();
        (input.watch)(Phase::Detection);

        let mut free = input.apply_forces();
        input.check_free(&free)?;
        let rule = input.settings.elastic_rule(Effort::Full);
        let touched = touched(input.bodies, &input.contacts.present);
        let elastic = (input.deformables, &mut self.systems);
        let mut elastic = Elastic::new(elastic, input.bodies, &mut free, rule, &touched)
            .map_err(Failure::Elastic)?;
        (input.watch)(Phase::Elastic);

        let mut assembled = assemble(input.bodies, &input.contacts.present, free, dt, &rules);
        let mut impulses = warm_start(&assembled, &input.contacts.present);
        let (joints, bodies) = (&*input.joints, &*input.bodies);
        let driven = joint_drives::act(joints, bodies, &mut assembled, &mut impulses);
        let mut solver = input.settings.solver;
        let solve = elastic.settle(bodies, &mut solver, &mut assembled, &mut impulses);
        let mut velocities = assembled.problem.velocities(&impulses).motion;
        let mut nudges = repair(&assembled, &input.contacts.present, &velocities, &rules);
        (input.watch)(Phase::Contact);

        let rescue = rescue(
            input.deformables,
            input.bodies,
            &mut velocities,
            &mut nudges,
            dt,
        )
        .map_err(|found| Failure::Infeasible(found.bodies, vector::<S>(found.place)))?;
        (input.watch)(Phase::Rescue);

        input.advance(&velocities, nudges.as_deref());
        input.check_range()?;
        input.hold_back();
        input.contacts.keep_impulses(&assembled, &impulses);
        joint_drives::keep(&driven, input.joints);
        (input.watch)(Phase::Motion);
        input.find_contacts();
        (input.watch)(Phase::Detection);
        Ok(StepOutput {
            contacts: impulses.local.len(),
            solve,
            rescue,
            resolution: Resolution::default(),
            solution: Some(Solution {
                answered: Answered {
                    assembled,
                    impulses,
                    reached: None,
                },
                own_contacts: None,
            }),
        })
    }
}

/// The contact problem that the next step will solve; contacts are those at the present poses.
pub(crate) fn problem<S: Space>(input: &StepInput<'_, S>) -> ContactProblem<S> {
    let mut free = input.apply_forces();
    let rule = input.settings.elastic_rule(Effort::Full);
    // Where elastic forces are no numbers, the step says so; here they are left out.
    let systems = &mut ElasticSystems::default();
    let _ = Elastic::new(
        (input.deformables, systems),
        input.bodies,
        &mut free,
        rule,
        &[],
    );
    let (contacts, dt) = (&input.contacts.present, input.settings.dt);
    let mut assembled = assemble(input.bodies, contacts, free, dt, &input.settings.contact);
    if input.joints_are_contacts {
        let mut impulses = warm_start(&assembled, contacts);
        joint_drives::act(input.joints, input.bodies, &mut assembled, &mut impulses);
    }
    assembled.problem
}
