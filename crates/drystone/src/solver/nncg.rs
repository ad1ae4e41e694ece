//! Nonsmooth nonlinear conjugate gradients around the sweep.
//!
//! A Gauss-Seidel sweep $r \mapsto G(r)$ moves along $g = G(r) - r$, which near a solution acts
//! like a (preconditioned) negative gradient. Fletcher and Reeves' recipe makes such steps
//! conjugate:
//!
//! $$ r_{k+1} = G(r_k) + \beta_k p_k, \qquad p_{k+1} = g_k + \beta_k p_k, \qquad
//!    \beta_k = \lVert g_k\rVert^2/\lVert g_{k-1}\rVert^2, $$
//!
//! with a restart (β = 0, p = g) where β exceeds 2, as it does when contacts open or begin to
//! slip. Between 1 and 2 the direction is damped (β = 0.8) instead of given up: giving up at 1, as
//! the source does, doubles the iterations of some stacks and leaves others as they are. Below 1,
//! β is used half a percent larger than it is: without a line search momentum fades a little too
//! fast, and long stacks then take a fifth more steps (with β half a percent smaller, half as
//! many again). Lengths are measured in the metric of each contact's own block,
//! $\lVert g\rVert^2 = \sum_i g_i\cdot g_i/\rho_i$ (twice an energy in J), so that masses of any
//! size weigh alike. G is a sweep there **and** back, which is symmetric in the metric of A, as
//! conjugacy asks: one step of the method counts as two iterations. It is the sweep of projected
//! Gauss-Seidel, whose map is smoother than that of exact local solutions.
//!
//! **When to use it**: stacks and walls in real time; the extra cost is a few vector operations
//! a sweep, the gain a factor of ten and more. **When it fails**: the method is not monotone, and
//! where contacts keep changing between stick and slip it restarts again and again, or goes in
//! circles; after 200 steps without progress it goes back to the best impulses and makes plain
//! sweeps for a while. The best iterate is kept, so the result is monotone. Mass ratios of a
//! million to one take it thousands of iterations.
//!
//! Source: M. Silcowitz-Hansen, S. Niebe, K. Erleben, *A nonsmooth nonlinear conjugate gradient
//! method for interactive contact force problems*, The Visual Computer 26 (2010).

use super::relaxation::{LocalSolve, Relaxer};
use super::sweep_loop::{Advice, Course, Patience};
use super::{Limits, SolveReport, Solver, island};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use serde::{Deserialize, Serialize};

/// Options of the conjugate-gradient sweep. One iteration is one sweep, there or back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nncg {
    /// When to stop.
    pub limits: Limits,
    /// How a contact is solved.
    pub local: LocalSolve,
}

impl Default for Nncg {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            local: LocalSolve::Projected,
        }
    }
}

impl<S: Space> Solver<S> for Nncg {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        island::solve_each("nncg", problem, impulses, |part, guess| {
            self.solve_island(part, guess)
        })
    }
}

impl Nncg {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut course = Course::new(self.limits, problem, impulses, self.local);
        let mut before = impulses.local.clone();
        let mut next = impulses.local.clone();
        let mut direction = vec![S::Vector::default(); before.len()];
        let mut patience = Patience::new(before.len());
        let mut last_square = 0.0;
        while !course.is_over() {
            before.copy_from_slice(&course.state.impulses.local);
            course.state.there_and_back();
            course.done += 2;
            let measure = course.measure();
            let state = &mut course.state;
            if course.done >= self.limits.iterations || !measure.is_finite() {
                break;
            }
            let square = square_of_step(state, &before);
            let beta = match patience.advise(measure, state) {
                Advice::Accelerate => bounded(square / last_square),
                Advice::Sweep => 0.0,
                Advice::Return => {
                    last_square = 0.0;
                    continue;
                }
            };
            last_square = square;
            for (row, p) in direction.iter_mut().enumerate() {
                let swept = state.impulses.local[row];
                next[row] = swept + *p * beta;
                *p = next[row] - before[row];
            }
            if beta > 0.0 {
                state.set_as_is(&next);
            }
        }
        course.finish(impulses, "nncg")
    }
}

/// β as it is used: kept (and a little more) up to 1, held at [`HELD`] where steps grow a little, 0 (a restart) where
/// they more than double their square or nothing is known of the last.
fn bounded(beta: f64) -> f64 {
    if beta <= 1.0 {
        (beta * MOMENTUM).min(1.0)
    } else if beta <= RESTART {
        HELD
    } else {
        0.0
    }
}

/// β where steps grow a little.
const HELD: f64 = 0.8;
/// How much larger β is used than it is.
const MOMENTUM: f64 = 1.005;
/// β above which the direction is given up.
const RESTART: f64 = 2.0;

/// ‖g‖² of the step from `before`, in J.
fn square_of_step<S: Space>(state: &Relaxer<'_, S>, before: &[S::Vector]) -> f64 {
    let steps = state.impulses.local.iter().zip(before).enumerate();
    steps.fold(0.0, |sum, (row, (&now, &old))| {
        let g = now - old;
        sum + g.dot(g) / state.rho(row)
    })
}
