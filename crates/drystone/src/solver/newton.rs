//! Newton's method on the whole problem at once, kept inside the cones: for 1e-8 and beyond.
//!
//! # Idea
//!
//! With the cone variables of [`super::cone`] (hats are left out), Coulomb's law in De Saxcé's
//! form asks for
//!
//! $$ z = A x + q + \lVert z_T\rVert\, n, \qquad x \in K,\ z \in K,\ x \circ z = 0 . $$
//!
//! It is solved as an interior-point method solves a cone program: the last equation becomes
//! $x \circ z = \sigma\,g\,e$ with the mean gap $g = x\cdot z/n$, every iteration makes one
//! Newton step on both equations, cut short so that x and z stay inside their cones, and σ is
//! chosen by Mehrotra's prediction. The term $\lVert z_T\rVert$, which makes the law
//! **non-associated** (friction does not lift), is linearised with the rest and not lagged: a
//! lag converges slowly where much slides, and not always. The equations of a step are in
//! `interior_point.rs`.
//!
//! # When to use it
//!
//! Tall stacks, chains, arches, masses over many orders of magnitude, redundant contacts: 5 to 20
//! iterations nearly whatever the conditioning, each the cost of a sparse factorisation. With
//! bodies, that is a matrix with six rows a body; without, one with three rows a contact.
//!
//! # When it fails
//!
//! A guess helps it little: an interior point cannot start on the surface where solutions are.
//! Where the law has no solution (or many, far apart) the last digits may not come; the best
//! iterate is given back.
//!
//! Sources: V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, *Second-order cone programming for
//! frictional contact mechanics using interior point algorithm*, Optim. Methods Softw. (2024);
//! G. De Saxcé, Z.-Q. Feng, *The bipotential method*, Math. Comput. Modelling 28 (1998).

use super::interior_point::InteriorPoint;
use super::island::solve_each;
use super::{Limits, SolveReport, Solver, Watch};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use serde::{Deserialize, Serialize};

/// Options of the interior-point Newton method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Newton {
    /// When to stop. An iteration is one factorisation.
    pub limits: Limits,
    /// Relative residual to which each step's linear system is solved, without unit.
    pub linear_accuracy: f64,
}

impl Default for Newton {
    /// 100 iterations, linear systems to 0.1 %.
    fn default() -> Self {
        Self {
            limits: Limits {
                iterations: 100,
                ..Limits::default()
            },
            linear_accuracy: 1e-3,
        }
    }
}

/// Relative residual below which to look twice.
const NEAR: f64 = 1e-2;

/// Relative residual below which a guess is worth starting from.
const WARM: f64 = 0.1;

/// How many times to start from nothing, each time from another point.
const STARTS: u32 = 3;

/// Iterations without progress after which there is none to be expected, and the part of the
/// residual that has to remain at most for it to be progress.
const PATIENCE: u32 = 6;
const PROGRESS: f64 = 0.9;

impl<S: Space> Solver<S> for Newton {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        solve_each("newton", problem, impulses, |island, guess| {
            self.solve_island(island, guess)
        })
    }
}

impl Newton {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut watch = Watch::new(self.limits, problem, impulses);
        let mut done = 0;
        if !watch.is_over(0)
            && let Ok(mut point) = InteriorPoint::new(problem, self.linear_accuracy)
        {
            let guess = (watch.relative() < WARM).then(|| impulses.local.clone());
            let is_warm = u32::from(guess.is_some());
            for start in 0..STARTS + is_warm {
                match &guess {
                    Some(guess) if start == 0 => point.start_near(guess, watch.relative()),
                    _ => point.start(10.0_f64.powi((start - is_warm) as i32)),
                }
                if self.run(&mut point, &mut watch, impulses, &mut done) {
                    break;
                }
            }
        }
        watch.finish(impulses, done, "newton")
    }

    /// Iterates until the watch says so (true) or nothing gets better (false).
    fn run<S: Space>(
        &self,
        point: &mut InteriorPoint<'_, S>,
        watch: &mut Watch<S>,
        impulses: &mut Impulses<S>,
        done: &mut u32,
    ) -> bool {
        let mut best = f64::INFINITY;
        let mut waited = 0;
        while waited <= PATIENCE {
            if point.step().is_err() {
                return false;
            }
            *done += 1;
            waited += 1;
            point.write(impulses, false);
            if watch.look(point.problem, impulses, *done) {
                return true;
            }
            let mut now = watch.last_residual();
            // Far from the answer one look is enough.
            if watch.last_relative() < NEAR {
                point.write(impulses, true);
                if watch.look(point.problem, impulses, *done) {
                    return true;
                }
                now = now.min(watch.last_residual());
            }
            // Its own progress, not that beyond the guess: far from the cones' surface an
            // interior point is worse than a guess for long.
            if now < PROGRESS * best {
                best = now;
                waited = 0;
            }
        }
        false
    }
}
