//! Cheap sweeps while they pay, then stronger methods: the default for accurate work.
//!
//! Each island goes through stages, each starting from the best so far, until the limits are met:
//!
//! 1. **Anderson** with a short memory, as long as its rate promises to get there within
//!    [`Auto::sweeps`]. A warm start of a scene at rest ends here, mostly before it begins.
//! 2. **ADMM**, where an island has more than [`MEDIUM`] contacts or four or five digits are enough:
//!    one to five factorisations and some dozen solves with them. It leaves errors that differ
//!    from contact to contact, which two more sweeps take off.
//! 3. **Newton**: tall stacks, chains, arches and large ratios of masses. Its cost is that of a
//!    sparse factorisation an iteration.
//! 4. **ADMM**, **projected Gauss-Seidel**, **gradients** and **Anderson** take turns, each with
//!    twice as many iterations in every round. Where much slides and friction is strong the law
//!    is hardly convex any more; any of them may be the one that finds an answer, and on which
//!    problem it is which cannot be told before.
//!
//! The report says which stage gave the answer. Nothing is ever made worse: a stage that ends
//! with a larger residual than it began with is forgotten.

use std::time::Instant;

use super::island::solve_each;
use super::pgs_sweep::Sweeper;
use super::{
    Admm, Anderson, Apgd, BlockGs, Limits, LocalSolve, Newton, SolveReport, Solver, SolverKind,
    TracePoint,
};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::judge::residual::judge;
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
pub const MEDIUM: usize = 300;

/// Contacts of an island above which a cold start makes few sweeps only.
const LARGE: usize = 5_000;

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
    /// Alternating directions from what there is, so many iterations.
    Polish(u32),
    /// Plain sweeps.
    Relax(u32),
    /// Accelerated projected gradients.
    Descend(u32),
    /// Anderson's acceleration with its full memory.
    Accelerate(u32),
}

/// Sweeps of a large island that starts from nothing: what is easy there is done by then.
const SWEEPS_IF_HOPELESS: u32 = 12;

/// Memory of the sweeps at the start: each remembered sweep costs a third of a sweep once the
/// cache is full.
const SHORT_MEMORY: usize = 5;

/// Iterations of alternating directions before Newton, and of Newton.
const SPLIT_ITERATIONS: u32 = 120;
const NEWTON_ITERATIONS: u32 = 40;

/// Iterations of alternating directions in the first round of methods that take turns; every
/// round has twice as many. There are more rounds than anybody waits for.
const FIRST_ROUND: u32 = 250;
const ROUNDS: u32 = 18;

impl<S: Space> Solver<S> for Auto {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        let began = Instant::now();
        let first = solve_each("auto", problem, impulses, |island, guess| {
            self.begin(began, island, guess)
        });
        // An island that hardly presses may miss a relative goal by far and not matter.
        if first.converged || self.limits.excess(first.residual, first.relative) <= 1.0 {
            return SolveReport {
                converged: true,
                ..first
            };
        }
        let Some(limits) = self.left(&first, began) else {
            return first;
        };
        let rest = Self { limits, ..*self };
        let again = Instant::now();
        let second = solve_each("auto", problem, impulses, |island, guess| {
            rest.go_on(again, island, guess)
        });
        self.joined(first, second)
    }
}

impl Auto {
    /// The stages that mostly are enough.
    fn begin<S: Space>(
        &self,
        began: Instant,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let is_cold = impulses.local.iter().all(|r| *r == S::Vector::default());
        // Two sweeps in any case, as in projected Gauss-Seidel: a guess within the tolerance may
        // still press where bodies part, and what is left to stand at every step adds up.
        smooth(problem, impulses);
        let splits = problem.rows.len() > MEDIUM || self.limits.relative >= LOOSE;
        let stages = [Stage::Sweep, Stage::Split, Stage::Newton]
            .into_iter()
            .filter(|stage| splits || *stage != Stage::Split)
            .chain(round(0));
        let course = Stages {
            auto: self,
            began,
            is_cold,
        };
        let mut total = course.run_all(stages, problem, impulses);
        if total.method == "admm" {
            self.take_if_smoother(problem, impulses, &mut total);
        }
        total
    }

    /// Methods that take turns, for as long as it takes.
    fn go_on<S: Space>(
        &self,
        began: Instant,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let course = Stages {
            auto: self,
            began,
            is_cold: false,
        };
        course.run_all((1..ROUNDS).flat_map(round), problem, impulses)
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

/// The methods that take turns in a round, each with twice as many iterations as in the one before.
fn round(number: u32) -> [Stage; 4] {
    let iterations = FIRST_ROUND << number;
    [
        Stage::Polish(iterations),
        Stage::Relax(4 * iterations),
        Stage::Descend(4 * iterations),
        Stage::Accelerate(4 * iterations),
    ]
}

/// One island on its way through stages.
#[derive(Debug)]
struct Stages<'a> {
    auto: &'a Auto,
    began: Instant,
    /// Whether the island started from nothing.
    is_cold: bool,
}

impl Stages<'_> {
    /// Runs stages until the limits are met.
    fn run_all<S: Space>(
        &self,
        stages: impl IntoIterator<Item = Stage>,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut total = SolveReport {
            residual: f64::INFINITY,
            relative: f64::INFINITY,
            ..SolveReport::default()
        };
        for stage in stages {
            let Some(limits) = self.auto.left(&total, self.began) else {
                break;
            };
            // Splitting starts better from nothing than from loads that are half found.
            let mut candidate = if self.is_cold && stage == Stage::Split {
                Impulses::default()
            } else {
                impulses.clone()
            };
            let report = self.run(stage, limits, problem, &mut candidate);
            if self.auto.is_better(&report, &total) {
                *impulses = candidate;
            }
            total = self.auto.joined(total, report);
        }
        if total.method.is_empty() {
            // No time for any of them: what is there is the answer.
            let judged = judge(problem, impulses);
            total.residual = judged.largest.residual;
            total.relative = judged.relative;
        }
        total
    }

    fn run<S: Space>(
        &self,
        stage: Stage,
        limits: Limits,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let is_cold = self.is_cold;
        let at_most = |iterations: u32| Limits {
            iterations: limits.iterations.min(iterations),
            ..limits
        };
        let mut solver = match stage {
            Stage::Sweep => {
                let is_hopeless = is_cold && problem.rows.len() > LARGE;
                SolverKind::Anderson(Anderson {
                    limits: at_most(if is_hopeless {
                        SWEEPS_IF_HOPELESS
                    } else {
                        self.auto.sweeps
                    }),
                    memory: SHORT_MEMORY,
                    while_paying: true,
                    ..Anderson::default()
                })
            }
            // A low penalty finds loads from nothing in fewer iterations; near an answer a
            // higher one, left alone for a while, disturbs less of it.
            Stage::Split => SolverKind::Admm(Admm {
                limits: at_most(SPLIT_ITERATIONS),
                penalty: if is_cold { 0.03 } else { 0.1 },
                review_every: if is_cold { 10 } else { 30 },
                ..Admm::default()
            }),
            Stage::Newton => SolverKind::Newton(Newton {
                limits: at_most(NEWTON_ITERATIONS),
                ..Newton::default()
            }),
            Stage::Polish(iterations) => SolverKind::Admm(Admm {
                limits: at_most(iterations),
                ..Admm::default()
            }),
            Stage::Relax(iterations) => SolverKind::BlockGs(BlockGs {
                limits: at_most(iterations),
                local: LocalSolve::Projected,
                ..BlockGs::default()
            }),
            Stage::Descend(iterations) => SolverKind::Apgd(Apgd {
                limits: at_most(iterations),
                ..Apgd::default()
            }),
            Stage::Accelerate(iterations) => SolverKind::Anderson(Anderson {
                limits: at_most(iterations),
                ..Anderson::default()
            }),
        };
        solver.solve(problem, impulses)
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
