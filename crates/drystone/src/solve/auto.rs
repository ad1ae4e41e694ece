//! Cheap sweeps while they pay, then stronger methods: the default for accurate work.
//!
//! Each island goes through stages, each starting from the best so far, until the limits are met:
//!
//! 1. **block Gauss-Seidel**, a few dozen sweeps. A warm start of a scene at rest ends here.
//!    Islands of more than [`LARGE`] contacts make some hundred sweeps of **Anderson** instead:
//!    there a factorisation costs as much as those.
//! 2. **Newton**, if the sweeps did not get there: tall stacks, chains, arches and large ratios
//!    of masses. Its cost is that of a sparse factorisation.
//! 3. **Anderson**, with the iterations that are left, for what Newton leaves in its last digits.
//!
//! The report says which stage gave the answer. Nothing is ever made worse: a stage that ends
//! with a larger residual than it began with is forgotten.

use std::time::Instant;

use super::island::solve_each;
use super::{Anderson, BlockGs, Limits, Newton, Pgs, SolveReport, Solver, TracePoint};
use crate::problem::{ContactProblem, Impulses};
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// Options of the automatic choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auto {
    /// When to stop; iterations of all stages count.
    pub limits: Limits,
    /// Sweeps before a stronger method is asked.
    pub sweeps: u32,
}

impl Default for Auto {
    /// 40 sweeps, then what it takes to reach 1 µm/s within 2,000 iterations.
    fn default() -> Self {
        Self {
            limits: Limits {
                iterations: 2000,
                ..Limits::default()
            },
            sweeps: 40,
        }
    }
}

/// Contacts of an island above which sweeps are given more time before Newton.
pub const LARGE: usize = 5_000;

/// Sweeps of Anderson's method on such an island, and its memory: each remembered sweep costs
/// as much as the sweep once the cache is full.
const SWEEPS_IF_LARGE: u32 = 300;
const MEMORY_IF_LARGE: usize = 10;

impl<S: Space> Solver<S> for Auto {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        solve_each("auto", problem, impulses, |island, guess| {
            self.solve_island(island, guess)
        })
    }
}

impl Auto {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let began = Instant::now();
        // One sweep in any case, as in projected Gauss-Seidel: a guess within the tolerance may
        // still press where bodies part, and what is left to stand at every step adds up.
        let mut sweep = Pgs {
            iterations: 1,
            tolerance: f64::INFINITY,
        };
        sweep.solve(problem, impulses);
        let mut total = SolveReport {
            residual: f64::INFINITY,
            relative: f64::INFINITY,
            ..SolveReport::default()
        };
        for stage in 0..3 {
            let Some(limits) = self.left(&total, began) else {
                break;
            };
            let mut candidate = impulses.clone();
            let report = self.stage(stage, limits, problem, &mut candidate);
            if self.is_better(&report, &total) {
                *impulses = candidate;
            }
            total = self.joined(total, report);
        }
        total
    }

    fn stage<S: Space>(
        &self,
        stage: u32,
        limits: Limits,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let at_most = |iterations: u32| Limits {
            iterations: limits.iterations.min(iterations),
            ..limits
        };
        let is_large = problem.rows.len() > LARGE;
        match stage {
            0 if is_large => Anderson {
                limits: at_most(SWEEPS_IF_LARGE),
                memory: MEMORY_IF_LARGE,
                ..Anderson::default()
            }
            .solve(problem, impulses),
            0 => BlockGs {
                limits: at_most(self.sweeps),
                ..BlockGs::default()
            }
            .solve(problem, impulses),
            1 => Newton {
                limits,
                ..Newton::default()
            }
            .solve(problem, impulses),
            _ => Anderson {
                limits,
                ..Anderson::default()
            }
            .solve(problem, impulses),
        }
    }

    /// By the measure that decides when to stop.
    fn is_better(&self, one: &SolveReport, other: &SolveReport) -> bool {
        if self.limits.relative > 0.0 {
            one.relative < other.relative
        } else {
            one.residual < other.residual
        }
    }

    /// What is left of the limits; `None` where it is done.
    fn left(&self, so_far: &SolveReport, began: Instant) -> Option<Limits> {
        let iterations = self.limits.iterations.checked_sub(so_far.iterations)?;
        let spent = began.elapsed().as_secs_f64();
        let budget = self.limits.budget.map(|seconds| seconds - spent);
        let is_over = so_far.converged || iterations == 0 || budget.is_some_and(|left| left <= 0.0);
        (!is_over).then_some(Limits {
            iterations,
            budget,
            ..self.limits
        })
    }

    /// Two stages, one after the other, as one.
    fn joined(&self, first: SolveReport, second: SolveReport) -> SolveReport {
        let (iterations, seconds) = (
            first.iterations,
            first.history.last().map_or(0.0, |point| point.seconds),
        );
        let shifted = second.history.iter().map(|point| TracePoint {
            iteration: point.iteration + iterations,
            seconds: point.seconds + seconds,
            ..*point
        });
        let history = first.history.iter().copied().chain(shifted).collect();
        let is_better = self.is_better(&second, &first);
        SolveReport {
            iterations: iterations.saturating_add(second.iterations),
            converged: second.converged,
            residual: if is_better {
                second.residual
            } else {
                first.residual
            },
            relative: if is_better {
                second.relative
            } else {
                first.relative
            },
            method: if is_better {
                second.method
            } else {
                first.method
            },
            history,
        }
    }
}
