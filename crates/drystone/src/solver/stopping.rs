//! When a solver stops, and what it gives back.
//!
//! Every solver is watched in the same way: after some of its iterations it lets [`Watch::look`]
//! judge the impulses. The watch keeps the best it has seen, says when to stop, and at the end
//! hands out the best with its residual, whatever the solver did after it.

use std::time::{Duration, Instant};

use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::judge::residual::{Residual, judge_with, stiffness};
use crate::math::algebra::Linear;
use serde::{Deserialize, Serialize};

use super::SolveReport;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most iterations.
    pub iterations: u32,
    /// Largest residual of a contact that is good enough, m/s.
    pub tolerance: f64,
    /// Relative residual (Σ‖e‖/Σ r_N) that is good enough, without unit; 0 not to use it.
    pub relative: f64,
    /// Time after which to give up, s. Results with a budget depend on the machine.
    pub budget: Option<f64>,
    /// Whether to write down the residual at every look.
    pub trace: bool,
}

impl Default for Limits {
    /// 1,000 iterations, until 1 µm/s, however long it takes.
    fn default() -> Self {
        Self {
            iterations: 1000,
            tolerance: 1e-6,
            relative: 0.0,
            budget: None,
            trace: false,
        }
    }
}

impl Limits {
    /// How many times too large a residual (m/s) and a relative residual are: at 1 they are good
    /// enough. Either may get there.
    pub(crate) fn excess(&self, residual: f64, relative: f64) -> f64 {
        (residual / self.tolerance).min(relative / self.relative)
    }
}

/// One look at a solver on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Iterations made.
    pub iteration: u32,
    /// Time spent in the solver (not in looking), s.
    pub seconds: f64,
    /// Largest residual, m/s.
    pub residual: f64,
    /// Relative residual.
    pub relative: f64,
}

/// Judges a solver on its way and keeps the best impulses.
#[derive(Debug)]
pub struct Watch<S: Space> {
    limits: Limits,
    best: Impulses<S>,
    least: Residual,
    /// Of the latest look.
    last: Residual,
    /// λmax of each contact's own block, 1/kg.
    stiffness: Vec<f64>,
    history: Vec<TracePoint>,
    started: Instant,
    looking: Duration,
}

impl<S: Space> Watch<S> {
    /// Starts with a look at the guess, which gets one impulse for each row.
    pub fn new(limits: Limits, problem: &ContactProblem<S>, guess: &mut Impulses<S>) -> Self {
        clean(problem, guess);
        let rows = 0..problem.rows.len();
        let stiffness: Vec<f64> = rows.map(|row| stiffness(problem, row)).collect();
        let least = judge_with(problem, guess, |row| stiffness[row]);
        let mut watch = Self {
            limits,
            best: guess.clone(),
            least,
            last: least,
            stiffness,
            history: Vec::new(),
            started: Instant::now(),
            looking: Duration::ZERO,
        };
        watch.started = Instant::now();
        watch.note(0, watch.least);
        watch
    }

    /// Whether the best so far is good enough.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.least.largest.residual <= self.limits.tolerance
            || self.least.relative <= self.limits.relative
    }

    /// The least residual so far, m/s.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.least.largest.residual
    }

    /// The residual relative to the load, at the best so far.
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.least.relative
    }

    /// The residual at the latest look, m/s.
    #[must_use]
    pub fn last_residual(&self) -> f64 {
        self.last.largest.residual
    }

    /// The relative residual at the latest look.
    #[must_use]
    pub fn last_relative(&self) -> f64 {
        self.last.relative
    }

    /// Judges the impulses after `iteration` iterations; true where the solver should stop.
    pub fn look(
        &mut self,
        problem: &ContactProblem<S>,
        impulses: &Impulses<S>,
        iteration: u32,
    ) -> bool {
        let began = Instant::now();
        let residual = judge_with(problem, impulses, |row| self.stiffness[row]);
        self.last = residual;
        if self.is_better(&residual) {
            self.least = residual;
            self.best.local.copy_from_slice(&impulses.local);
        }
        self.looking += began.elapsed();
        self.note(iteration, residual);
        self.is_over(iteration)
    }

    /// By the measure that decides when to stop. NaN compares false: a solver that diverged
    /// never becomes the best.
    fn is_better(&self, residual: &Residual) -> bool {
        if self.limits.relative > 0.0 {
            residual.relative < self.least.relative
        } else {
            residual.largest.residual < self.least.largest.residual
        }
    }

    /// Whether it is time to stop, without a look.
    #[must_use]
    pub fn is_over(&self, iteration: u32) -> bool {
        let late = |seconds: f64| self.started.elapsed().as_secs_f64() > seconds;
        self.is_good()
            || iteration >= self.limits.iterations
            || self.limits.budget.is_some_and(late)
    }

    /// Puts the best impulses into `impulses` and says how it went.
    #[must_use]
    pub fn finish(
        self,
        impulses: &mut Impulses<S>,
        iterations: u32,
        method: &'static str,
    ) -> SolveReport {
        let converged = self.is_good();
        *impulses = self.best;
        SolveReport {
            iterations,
            converged,
            residual: self.least.largest.residual,
            relative: self.least.relative,
            method,
            history: self.history,
        }
    }

    fn note(&mut self, iteration: u32, residual: Residual) {
        if self.limits.trace {
            self.history.push(TracePoint {
                iteration,
                seconds: (self.started.elapsed().saturating_sub(self.looking)).as_secs_f64(),
                residual: residual.largest.residual,
                relative: residual.relative,
            });
        }
    }
}

/// One impulse for each row. Those that are not numbers are no guess: they become zero.
pub(crate) fn clean<S: Space>(problem: &ContactProblem<S>, guess: &mut Impulses<S>) {
    guess.local.resize(problem.rows.len(), S::Vector::default());
    for r in guess.local.iter_mut().filter(|r| !r.is_finite()) {
        *r = S::Vector::default();
    }
}
