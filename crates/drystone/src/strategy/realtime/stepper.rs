//! The strategy `realtime` at work in a world.

use super::{Circumstances, RealTime, Realtime};
use crate::contact::detection::Contact;
use crate::contact::rules::PairRules;
use crate::dynamics::failsafe::Rescue;
use crate::geometry::Space;
use crate::model::body::Bodies;
use crate::model::joint::Joints;
use crate::solver::SolveReport;
use crate::strategy::step::{Failure, Resolution, StepInput, StepOutput, Stepper};
use std::any::Any;

/// The strategy `realtime` at work: its options, and what it keeps from step to step.
#[derive(Clone, Debug)]
pub(crate) struct RealtimeStepper<S: Space> {
    options: Realtime,
    state: RealTime<S>,
}

impl<S: Space> RealtimeStepper<S> {
    pub(crate) fn new(options: Realtime) -> Self {
        Self {
            options,
            state: RealTime::default(),
        }
    }
}

impl<S: Space> Stepper<S> for RealtimeStepper<S> {
    fn set_options(&mut self, options: &dyn Any) -> bool {
        let own = options.downcast_ref().copied();
        self.options = own.unwrap_or(self.options);
        own.is_some()
    }

    fn copy(&self) -> Box<dyn Stepper<S>> {
        Box::new(self.clone())
    }

    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>> {
        for k in 0..input.bodies.len() {
            if input.bodies.load[k] != Default::default() {
                input.changes.bodies.push(k as u32);
            }
        }
        let around = Circumstances {
            settings: input.settings,
            rules: PairRules {
                materials: input.materials,
                hooks: input.hooks,
                apart: input.joints.apart(),
            },
            joints: input.joints,
            time: input.time[0],
        };
        let changes = std::mem::take(input.changes);
        self.state
            .step(input.bodies, &self.options, &around, &changes);
        input.check_range()?;
        input.hold_back();
        let solution = input.is_judged.then(|| {
            self.state
                .solution(input.bodies, &input.settings, &self.options)
        });
        Ok(StepOutput {
            contacts: self.state.contact_count(),
            solve: SolveReport::default(),
            rescue: Rescue::default(),
            resolution: Resolution::default(),
            solution,
        })
    }

    fn contacts(&self, bodies: &Bodies<S>, dt: f64) -> Option<Vec<Contact<S>>> {
        Some(self.state.contacts(bodies, dt))
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.state.is_asleep(body)
    }

    fn joint_forces(&self, joint: u32) -> Option<Vec<f64>> {
        Some(self.state.joint_forces(joint))
    }

    fn save(&self) -> Vec<u8> {
        // Writing plain data to memory cannot fail.
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn restore(&mut self, bytes: &[u8], bodies: &Bodies<S>, joints: &Joints<S>) -> bool {
        if bytes.is_empty() {
            self.state = RealTime::default();
            return true;
        }
        match postcard::from_bytes::<RealTime<S>>(bytes) {
            Ok(mut state) if state.is_consistent(bodies.len()) => {
                state.restore(bodies, joints);
                self.state = state;
                true
            }
            _ => false,
        }
    }
}
