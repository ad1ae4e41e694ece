//! Projected Gauss-Seidel with per-body accumulators.
//!
//! One contact after another is solved as if all other impulses were known, then projected to
//! what the law allows. The others' effect is in the bodies' velocities, which every update
//! changes at once (the accumulators of the lecture notes), so a sweep costs a constant amount
//! per contact, however many contacts a body has. For contact i with offset velocity ũ:
//!
//! $$ \gamma_N \leftarrow \max\Bigl(0,\ \gamma_N - \frac{\tilde u_N}{A_{NN}}\Bigr), \qquad
//!    \gamma_T \leftarrow P_{\lVert\cdot\rVert\le\mu\gamma_N}\Bigl(
//!       \gamma_T - \frac{u_T}{\lambda_{\max}(A_{TT})}\Bigr) . $$
//!
//! The tangent plane is **one** step with one step length, then projected on the disk. Clamping
//! each tangent on its own, or updating them one at a time before projecting on the disk,
//! converges to a wrong answer.
//!
//! The sweep stops when the natural map ([`crate::judge::residual`]) of every contact is below
//! the tolerance, looked at every few sweeps and never inferred from the size of a change.
//! Islands are solved apart, each until it is done, so that what happens far away does not
//! change the bits here.

use super::pgs_sweep::Sweeper;
use super::{SolveReport, Solver};
use crate::contact::problem::{ContactProblem, Impulses, Island};
use crate::geometry::Space;
use serde::{Deserialize, Serialize};

/// Options of projected Gauss-Seidel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pgs {
    /// Most sweeps in a step (twenty times as many where there is nothing to start from).
    pub iterations: u32,
    /// Residual at which an island is done, m/s.
    pub tolerance: f64,
}

impl Default for Pgs {
    /// At most 20 sweeps, until 10 µm/s.
    fn default() -> Self {
        Self {
            iterations: 20,
            tolerance: 1e-5,
        }
    }
}

/// How many times the sweeps an island gets that starts from nothing: a wall that is put there
/// whole has all its loads to find at once, and sways for long if it begins with wrong ones.
const COLD: u32 = 20;

/// Sweeps between two looks at the residual: a look costs about as much as a sweep.
const SWEEPS_PER_LOOK: u32 = 8;

impl<S: Space> Solver<S> for Pgs {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        let mut sweeper = Sweeper::new(problem, impulses);
        let islands = problem.islands.iter();
        SolveReport::of_islands(
            "pgs",
            islands.map(|&island| self.solve_island(&mut sweeper, island)),
        )
    }
}

impl Pgs {
    fn solve_island<S: Space>(&self, sweeper: &mut Sweeper<'_, S>, island: Island) -> SolveReport {
        let most = if sweeper.is_cold(island) {
            self.iterations.saturating_mul(COLD)
        } else {
            self.iterations
        };
        // One sweep in any case: a guess within the tolerance may still press where bodies part,
        // and what is left to stand at every step adds up.
        sweeper.sweep(island, true);
        let mut done = 1;
        loop {
            let residual = sweeper.residual(island);
            let converged = residual <= self.tolerance;
            if converged || done >= most {
                return SolveReport {
                    iterations: done,
                    converged,
                    residual,
                    ..SolveReport::default()
                };
            }
            let until = most.min(done + SWEEPS_PER_LOOK);
            for sweep in done..until {
                sweeper.sweep(island, sweep % 2 == 0);
            }
            done = until;
        }
    }
}
