//! Cheap sweeps while they pay, then stronger methods: the default for accurate work.
//!
//! Each island goes through stages, each starting from the best so far, until the limits are met:
//!
//! 1. **Anderson** with a short memory, as long as its rate promises to get there within
//!    [`Auto::sweeps`]. A warm start of a scene at rest ends here, mostly before it begins.
//! 2. **ADMM**, where an island has more than [`LARGE`] contacts or four or five digits are enough:
//!    one to five factorisations and some dozen solves with them. It leaves errors that differ
//!    from contact to contact, which two more sweeps take off.
//! 3. **Newton**: tall stacks, chains, arches and large ratios of masses. Its cost is that of a
//!    sparse factorisation an iteration.
//! 4. **ADMM** again, and then **Anderson** with the iterations that are left, for what Newton
//!    leaves in its last digits.
//!
//! The report says which stage gave the answer. Nothing is ever made worse: a stage that ends
//! with a larger residual than it began with is forgotten.

use std::time::Instant;

use super::island::solve_each;
use super::sweep::Sweeper;
use super::{Admm, Anderson, Limits, Newton, SolveReport, Solver, TracePoint};
use crate::certify::residual::judge;
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
    /// 100 sweeps, then what it takes to reach 1 µm/s within 2,000 iterations.
    fn default() -> Self {
        Self {
            limits: Limits {
                iterations: 2000,
                ..Limits::default()
            },
            sweeps: 100,
        }
    }
}

/// Contacts of an island above which alternating directions are tried before Newton: there a
/// factorisation costs as much as some dozen solves with it, and Newton needs many.
pub const LARGE: usize = 5_000;

/// Relative residual that is asked for above which alternating directions are tried first.
const LOOSE: f64 = 1e-5;

/// One method of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Anderson's acceleration of sweeps, while it pays.
    Sweep,
    /// Alternating directions, some dozen iterations.
    Split,
    /// The interior-point method.
    Newton,
    /// Alternating directions again, from what Newton left.
    Polish,
    /// Anderson's acceleration, until the end.
    Accelerate,
}

/// Sweeps of a large island that starts from nothing: what is easy there is done by then.
const SWEEPS_IF_HOPELESS: u32 = 12;

/// Memory of the sweeps at the start: each remembered sweep costs a third of a sweep once the
/// cache is full.
const SHORT_MEMORY: usize = 5;

/// Iterations of alternating directions before Newton, and after.
const SPLIT_ITERATIONS: u32 = 120;
const POLISH_ITERATIONS: u32 = 500;

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
        let is_cold = impulses.local.iter().all(|r| *r == S::Vector::default());
        // Two sweeps in any case, as in projected Gauss-Seidel: a guess within the tolerance may
        // still press where bodies part, and what is left to stand at every step adds up.
        smooth(problem, impulses);
        let mut total = SolveReport {
            residual: f64::INFINITY,
            relative: f64::INFINITY,
            ..SolveReport::default()
        };
        for stage in self.stages(problem.rows.len()) {
            let Some(limits) = self.left(&total, began) else {
                break;
            };
            // Splitting starts better from nothing than from loads that are half found.
            let mut candidate = if is_cold && stage == Stage::Split {
                Impulses::default()
            } else {
                impulses.clone()
            };
            let report = self.run(stage, limits, problem, &mut candidate, is_cold);
            if self.is_better(&report, &total) {
                *impulses = candidate;
            }
            total = self.joined(total, report);
        }
        if total.method == "admm" {
            self.take_if_smoother(problem, impulses, &mut total);
        }
        total
    }

    /// Two sweeps more, where they do good: a tenth of the error for the price of an iteration.
    fn take_if_smoother<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
        total: &mut SolveReport,
    ) {
        let mut candidate = impulses.clone();
        smooth(problem, &mut candidate);
        let judged = judge(problem, &candidate);
        let report = SolveReport {
            residual: judged.largest.residual,
            relative: judged.relative,
            ..total.clone()
        };
        if self.is_better(&report, total) {
            *impulses = candidate;
            *total = report;
        }
    }

    /// The recipe for an island, except for the sweeps before and after.
    fn stages(&self, contacts: usize) -> impl Iterator<Item = Stage> + use<> {
        let splits = contacts > LARGE || self.limits.relative >= LOOSE;
        [
            Stage::Sweep,
            Stage::Split,
            Stage::Newton,
            Stage::Polish,
            Stage::Accelerate,
        ]
        .into_iter()
        .filter(move |stage| splits || *stage != Stage::Split)
    }

    fn run<S: Space>(
        &self,
        stage: Stage,
        limits: Limits,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
        is_cold: bool,
    ) -> SolveReport {
        let at_most = |iterations: u32| Limits {
            iterations: limits.iterations.min(iterations),
            ..limits
        };
        match stage {
            Stage::Sweep => Anderson {
                limits: at_most(if is_cold && problem.rows.len() > LARGE {
                    SWEEPS_IF_HOPELESS
                } else {
                    self.sweeps
                }),
                memory: SHORT_MEMORY,
                while_paying: true,
                ..Anderson::default()
            }
            .solve(problem, impulses),
            Stage::Split if is_cold => Admm {
                limits: at_most(SPLIT_ITERATIONS),
                penalty: 0.03,
                ..Admm::default()
            }
            .solve(problem, impulses),
            Stage::Split => Admm {
                limits: at_most(SPLIT_ITERATIONS),
                penalty: 0.1,
                review_every: 30,
                ..Admm::default()
            }
            .solve(problem, impulses),
            Stage::Newton => Newton {
                limits,
                ..Newton::default()
            }
            .solve(problem, impulses),
            Stage::Polish => Admm {
                limits: at_most(POLISH_ITERATIONS),
                ..Admm::default()
            }
            .solve(problem, impulses),
            Stage::Accelerate => Anderson {
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

/// Two sweeps of projected Gauss-Seidel, there and back: they take off the errors that differ from
/// contact to contact, which is what splitting leaves.
fn smooth<S: Space>(problem: &ContactProblem<S>, impulses: &mut Impulses<S>) {
    let mut sweeper = Sweeper::new(problem, impulses);
    for &island in &problem.islands {
        sweeper.sweep(island, true);
        sweeper.sweep(island, false);
    }
}
