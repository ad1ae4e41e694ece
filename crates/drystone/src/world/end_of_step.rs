//! The end of a step: bodies and the clock move, or nothing does.

use super::{StepError, World};
use crate::contact::rules::PairRules;
use crate::dynamics::continuous::{Nearness, hold_back};
use crate::dynamics::failsafe::hold_deformables;
use crate::dynamics::integrate;
use crate::geometry::space::Space;
use crate::model::body::{BodyState, Motion};
use crate::strategy::realtime::RealTime;

impl<S: Space> World<S> {
    /// Moves the bodies and the clock, or nothing at all.
    pub(super) fn advance(
        &mut self,
        velocities: &[Motion<S>],
        nudges: Option<&[Motion<S>]>,
    ) -> Result<(), StepError> {
        let good = self.bodies.state();
        let end = self.end_of_step();
        integrate::advance(&mut self.bodies, velocities, end, self.settings.dt);
        if let Some(nudges) = nudges {
            integrate::displace(&mut self.bodies, nudges, self.settings.dt);
        }
        self.accept(&good)
    }

    /// Moves the clock, or takes everything back if a body's state is no number.
    pub(super) fn accept(&mut self, good: &BodyState<S>) -> Result<(), StepError> {
        self.accept_unheld(good)?;
        self.hold_back(good);
        Ok(())
    }

    /// The same for strategies in which nothing passes anything.
    pub(super) fn accept_unheld(&mut self, good: &BodyState<S>) -> Result<(), StepError> {
        let threads = self.settings.threads;
        if let Some(k) = integrate::first_not_finite_by(&self.bodies, threads) {
            self.bodies.restore(good.clone());
            // What the failed step left there may be no numbers either.
            *self.real_time = RealTime::default();
            self.changes.all = true;
            return Err(StepError::NotFinite {
                body: self.bodies.name(k).to_owned(),
                step: self.step + 1,
                time: self.time,
            });
        }
        self.time = self.end_of_step();
        self.step += 1;
        self.bodies.load.fill(Default::default());
        Ok(())
    }

    /// Puts what passed through something back to where it touched it.
    fn hold_back(&mut self, start: &BodyState<S>) {
        let rules = PairRules {
            materials: &self.materials,
            hooks: self.hooks.0.as_deref(),
            apart: self.joints.apart(),
        };
        let near = Nearness {
            dt: self.settings.dt,
            margin: self.settings.margin,
            slop: self.settings.contact.slop,
            threads: self.settings.threads,
        };
        let joints = &self.joints;
        let is_tied = |k: usize| joints.ties(k as u32);
        let held = hold_back(&mut self.bodies, start, &rules, near, is_tied);
        if held.iter().any(|&k| self.bodies.node_of[k as usize] == 0) {
            hold_deformables(&self.deformables, &mut self.bodies, start, near.dt);
        }
    }

    /// Time after the coming step: steps of one length are counted, not summed, so that time has
    /// no round-off; where the length changed, the count begins anew.
    pub(super) fn end_of_step(&mut self) -> f64 {
        let dt = self.settings.dt;
        if self.even_since.2 != dt {
            self.even_since = (self.step, self.time, dt);
        }
        let (step, time, _) = self.even_since;
        time + (self.step + 1 - step) as f64 * dt
    }
}
