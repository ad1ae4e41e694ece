//! Steps that made energy are made again in smaller parts.
//!
//! Where things move many times their own size in a step, or stiff springs are stretched many times
//! their length, a step may end with more energy than there was. The judge sees that. A step in which
//! an island made more than [`MOST_MADE`] times what it had is taken back and made in two parts, then
//! in four, and so on; if 256 do not serve either, the run ends with an error that names the body.

use super::{Attempt, World};
use crate::geometry::Space;
use crate::judge::whole_step::Burst;
use crate::strategy::step::{Failure, Phase};
use crate::world::StepError;

/// Times an island's energy that it may make in a step.
pub(super) const MOST_MADE: f64 = 1.0;

/// How often a step is halved.
const HALVINGS: u32 = 8;

impl<S: Space> World<S> {
    /// Makes a step that burst in parts, as few as serve.
    pub(super) fn attempt_in_parts(
        &mut self,
        end: f64,
        burst: Burst,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<Attempt<S>, StepError> {
        let error = self.reject(Failure::Burst(burst));
        let start = self.clone();
        for halvings in 1..=HALVINGS {
            let attempt = self.attempt_parts(end, 1 << halvings, watch);
            self.settings.dt = start.settings.dt;
            match attempt {
                Ok(attempt) => return Ok(attempt),
                Err(Failure::Burst(_)) => *self = start.clone(),
                Err(failure) => {
                    let error = self.reject(failure);
                    *self = start;
                    return Err(error);
                }
            }
        }
        Err(error)
    }

    fn attempt_parts(
        &mut self,
        end: f64,
        parts: u32,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<Attempt<S>, Failure<S>> {
        let (from, whole) = (self.time, self.settings.dt);
        self.settings.dt = whole / f64::from(parts);
        let time_of = |k: u32| match k == parts {
            true => end,
            false => from + (end - from) * (f64::from(k) / f64::from(parts)),
        };
        let mut attempt = self.attempt(time_of(1), watch)?;
        for k in 2..=parts {
            self.time = time_of(k - 1);
            let mut next = self.attempt(time_of(k), watch)?;
            next.follow(attempt);
            attempt = next;
        }
        self.time = from;
        attempt.parts = parts;
        Ok(attempt)
    }
}

impl<S: Space> Attempt<S> {
    /// Adds the report of the part before.
    fn follow(&mut self, before: Self) {
        self.certificate = match (before.certificate, self.certificate.take()) {
            (Some(first), Some(next)) => Some(first.followed_by(next)),
            (first, next) => first.or(next),
        };
        let output = &mut self.output;
        output.rescue = before.output.rescue.followed_by(&output.rescue);
        output.resolution = before.output.resolution.followed_by(&output.resolution);
    }
}
