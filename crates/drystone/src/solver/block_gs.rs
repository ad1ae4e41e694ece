//! Block Gauss-Seidel: one contact after another, each solved exactly.
//!
//! With all other impulses as they are, contact i is solved with its full block
//! ([`super::single_contact`]),
//!
//! $$ r_i \leftarrow \text{the solution of the law for } u = A_{ii} r + (u_i - A_{ii} r_i), $$
//!
//! optionally relaxed, $r_i \leftarrow P_K\bigl(r_i + \omega(r_i^{\text{solved}} - r_i)\bigr)$.
//! The effect of an impulse is in the bodies' velocities at once, so a sweep is linear in the
//! contacts. Sweeps go in one direction; there and back in turn, as [`super::pgs`] does within a
//! step to treat both ends of a stack alike, takes up to twice as many on the public problems.
//!
//! **When to use it**: as the plain, robust reference of the sweep family, where a contact's
//! normal and tangent are strongly coupled (long levers, stiff friction), and as the smoother of
//! [`super::anderson`]. **When it fails**: information moves one contact per visit, so tall stacks
//! need thousands of sweeps and a heavy body on a light one millions; [`super::nncg`] and
//! [`super::anderson`] are made for that. Where the local solve has no answer (a singular block)
//! the contact takes the projected step of [`super::pgs`].
//!
//! Sources: J. J. Moreau, *Numerical aspects of the sweeping process* (1999); F. Jourdan,
//! P. Alart, M. Jean, *A Gauss-Seidel like algorithm to solve frictional contact problems* (1998).

use super::relaxation::LocalSolve;
use super::sweep_loop::{Course, Forecast};
use super::{Limits, SolveReport, Solver, island};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use serde::{Deserialize, Serialize};

/// Options of block Gauss-Seidel. One iteration is one sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockGs {
    /// When to stop.
    pub limits: Limits,
    /// ω between 0 and 2, without unit: below 1 calms, above 1 hurries; 1 is plain.
    pub relaxation: f64,
    /// How a contact is solved.
    pub local: LocalSolve,
    /// Whether every second sweep goes back.
    pub alternate: bool,
    /// Whether to stop early where the residual falls too slowly to get there in time: for those
    /// who know a stronger method.
    pub while_paying: bool,
}

impl Default for BlockGs {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            relaxation: 1.0,
            local: LocalSolve::Exact,
            alternate: false,
            while_paying: false,
        }
    }
}

/// Sweeps between two measurements.
const SWEEPS_PER_MEASURE: u32 = 2;
/// Sweeps after which velocities are made anew, so that rounding does not add up.
const SWEEPS_PER_REFRESH: u32 = 64;

impl<S: Space> Solver<S> for BlockGs {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        island::solve_each("block-gs", problem, impulses, |part, guess| {
            self.solve_island(part, guess)
        })
    }
}

impl BlockGs {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut course = Course::new(self.limits, problem, impulses, self.local);
        // Outside (0, 2) a relaxed sweep cannot converge.
        let omega = if self.relaxation > 0.0 && self.relaxation < 2.0 {
            self.relaxation
        } else {
            1.0
        };
        let mut forecast = Forecast::new(self.limits);
        while !course.is_over() {
            let forth = !self.alternate || course.done.is_multiple_of(2);
            course.state.sweep(forth, omega);
            course.done += 1;
            if course.done.is_multiple_of(SWEEPS_PER_REFRESH) {
                course.state.refresh();
            }
            if course.done.is_multiple_of(SWEEPS_PER_MEASURE)
                || course.done >= self.limits.iterations
            {
                let measure = course.measure();
                if self.while_paying && !forecast.is_in_time(measure, course.done) {
                    break;
                }
            }
        }
        course.finish(impulses, "block-gs")
    }
}
