//! The course of a sweeping solver: what happens between its sweeps.
//!
//! The solvers built on [`super::relaxation`] differ in how they sweep and in what they make of it;
//! the rest is here: what is measured and judged, when to stop, when acceleration goes in
//! circles, and whether sweeps will get there in time.

use super::SolveReport;
use super::relaxation::{LocalSolve, Measure, Relaxer};
use super::stopping::{Limits, Watch};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;

/// A solver on its way: impulses being relaxed, and the watch over them.
///
/// A judge's look costs as much as two or three sweeps, so only iterates that may be good enough
/// get one at once (and, where a trace is asked for, those that are a tenth better than all before).
/// The best of the others is kept, and judged at the end.
#[derive(Debug)]
pub(crate) struct Course<'a, S: Space> {
    problem: &'a ContactProblem<S>,
    limits: Limits,
    watch: Watch<S>,
    /// The impulses, to be swept.
    pub(crate) state: Relaxer<'a, S>,
    /// Iterations made.
    pub(crate) done: u32,
    /// The least that was measured.
    least: Measure,
    /// The best impulses that nothing judged; empty if there are none.
    unjudged: Impulses<S>,
}

/// How much better than all before an iterate must be to be judged or kept.
const WORTHWHILE: f64 = 0.9;

impl<'a, S: Space> Course<'a, S> {
    /// Starts from a guess, which gets one impulse for each row.
    pub(crate) fn new(
        limits: Limits,
        problem: &'a ContactProblem<S>,
        guess: &mut Impulses<S>,
        local: LocalSolve,
    ) -> Self {
        let watch = Watch::new(limits, problem, guess);
        Self {
            problem,
            limits,
            state: Relaxer::new(problem, guess.clone(), local),
            done: 0,
            least: Measure {
                worst: watch.residual(),
                relative: watch.relative(),
            },
            watch,
            unjudged: Impulses::default(),
        }
    }

    /// Whether it is time to stop.
    pub(crate) fn is_over(&self) -> bool {
        self.watch.is_over(self.done)
    }

    /// Measures the impulses as they are, and has them judged or keeps them where that is due.
    pub(crate) fn measure(&mut self) -> Measure {
        let measure = self.state.measure();
        let is_last = self.done >= self.limits.iterations;
        if !measure.is_finite() {
            return measure;
        }
        let is_better = measure.worst < WORTHWHILE * self.least.worst
            || measure.relative < WORTHWHILE * self.least.relative;
        if is_better {
            self.least.worst = self.least.worst.min(measure.worst);
            self.least.relative = self.least.relative.min(measure.relative);
        }
        let is_good = self.limits.excess(measure.worst, measure.relative) <= 1.0;
        if is_good || is_last || is_better && self.limits.trace {
            self.watch
                .look(self.problem, &self.state.impulses, self.done);
        } else if is_better {
            self.unjudged.local.clone_from(&self.state.impulses.local);
        }
        measure
    }

    /// Gives back the best impulses, judged.
    pub(crate) fn finish(
        mut self,
        impulses: &mut Impulses<S>,
        method: &'static str,
    ) -> SolveReport {
        if !self.unjudged.local.is_empty() && !self.watch.is_good() {
            self.watch.look(self.problem, &self.unjudged, self.done);
        }
        self.watch.finish(impulses, self.done, method)
    }
}

/// Notices when an accelerated sweep goes in circles, and prescribes plain sweeps for a while.
///
/// Neither conjugate directions nor extrapolation is sure to converge where contacts keep
/// changing between stick and slip: about one random pile in a thousand sends them round for
/// ever, while the plain sweep settles. So after a while without progress the solver goes back to
/// the best impulses and makes plain sweeps. These phases grow, so that in the end the sweep's
/// own convergence decides.
#[derive(Debug)]
pub(crate) struct Patience<S: Space> {
    /// The least relative residual, and the impulses that had it.
    least: f64,
    best: Vec<S::Vector>,
    /// Steps without progress.
    since: u32,
    /// Plain steps still to make, and the length of the next plain phase.
    plain: u32,
    next_plain: u32,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Go on with acceleration.
    Accelerate,
    /// Make a plain step.
    Sweep,
    /// The impulses are the best ones again: forget the past and make a plain step.
    Return,
}

/// Steps (two sweeps each) that may pass without progress, and in the first plain phase.
const PATIENT_STEPS: u32 = 200;
const FIRST_PLAIN_STEPS: u32 = 50;
/// Progress is a relative residual this many times the least so far.
const PROGRESS: f64 = 0.9;

impl<S: Space> Patience<S> {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            least: f64::INFINITY,
            best: vec![S::Vector::default(); rows],
            since: 0,
            plain: 0,
            next_plain: FIRST_PLAIN_STEPS,
        }
    }

    /// What to do after a step that led to `state` and measured so.
    pub(crate) fn advise(&mut self, measure: Measure, state: &mut Relaxer<'_, S>) -> Advice {
        if measure.relative < PROGRESS * self.least {
            self.least = measure.relative;
            self.best.copy_from_slice(&state.impulses.local);
            self.since = 0;
        } else {
            self.since += 1;
        }
        if self.plain > 0 {
            self.plain -= 1;
            self.since = 0;
            return Advice::Sweep;
        }
        if self.since < PATIENT_STEPS {
            return Advice::Accelerate;
        }
        self.plain = self.next_plain;
        self.next_plain = self.next_plain.saturating_mul(2);
        state.set_as_is(&self.best);
        Advice::Return
    }
}

/// Sweeps between two estimates of how many more it takes.
const SWEEPS_PER_FORECAST: u32 = 8;

/// Foresees when sweeps will be done, from how fast the residual fell of late.
#[derive(Debug)]
pub(crate) struct Forecast {
    limits: Limits,
    /// Iterations and logarithm of the excess at the last estimate.
    last: Option<(u32, f64)>,
}

impl Forecast {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, last: None }
    }

    /// Whether a solver that measures so after `done` iterations will be done in time, if errors
    /// go on to fall by the same factor with each sweep. The first time there is nothing to go by.
    pub(crate) fn is_in_time(&mut self, measure: Measure, done: u32) -> bool {
        let excess = self.limits.excess(measure.worst, measure.relative).ln();
        let is_due = self
            .last
            .is_none_or(|(then, _)| done >= then + SWEEPS_PER_FORECAST);
        if !is_due || done < SWEEPS_PER_FORECAST {
            return true;
        }
        let before = self.last.replace((done, excess));
        before.is_none_or(|(then, more)| {
            let fall = (more - excess) / f64::from(done - then);
            let left = f64::from(self.limits.iterations.saturating_sub(done));
            excess <= fall * left
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_goes_on_with_the_present_rate() {
        let limits = Limits {
            iterations: 40,
            tolerance: 1e-6,
            ..Limits::default()
        };
        let at = |worst| Measure {
            worst,
            relative: worst,
        };
        // Ten times less in eight sweeps: 1e-6 after 40.
        let mut in_time = Forecast::new(limits);
        assert!(in_time.is_in_time(at(1e-2), 8));
        assert!(in_time.is_in_time(at(0.9e-3), 16));
        let mut too_late = Forecast::new(limits);
        assert!(too_late.is_in_time(at(1e-2), 8));
        assert!(!too_late.is_in_time(at(1.1e-3), 16));
        assert!(!too_late.is_in_time(at(1.1e-3), 24), "it does not fall");
        assert!(too_late.is_in_time(at(1e-7), 32), "it is there");
    }
}
