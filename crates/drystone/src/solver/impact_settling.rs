//! Solving a step whose impacts were worked out together, without making energy.
//!
//! The targets of an [impact law](crate::contact::problem::impact_law) are right without friction and forces:
//! then the impulses of the impact solve the problem and lose energy or keep it. Friction moves
//! some of the load from one contact to another, and a contact that is asked to leave faster than
//! it came (the last of a cradle) then does more work than was taken elsewhere. So the work of
//! the contacts of each island,
//!
//! $$ W = \sum_i \gamma_i\cdot\tfrac12(u_i^- + u_i^+) , $$
//!
//! is looked at after solving, and where it is positive the island's targets are lowered by the
//! part of the energy they brought, $1 - W/\sum\gamma_N t$, and the problem is solved again from
//! where it is. With all targets zero W cannot be positive (it is
//! $\gamma\cdot u^+ - \tfrac12\gamma^T A\gamma$ without forces, and no term is), so that is the
//! end of the line.

use super::{SolveReport, SolverKind};
use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{Impulses, Island};
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};

/// Rounds of lowering; the last one takes all targets of the impact away.
const ROUNDS: u32 = 5;

/// Work below this part of all that contacts give and take is rounding.
const ROUNDING: f64 = 1e-9;

/// How much more than the estimate targets are lowered, so that one round is enough mostly.
const CAUTION: f64 = 1.25;

/// Solves a step's problem; lowers the targets of impacts where
/// friction would make energy of them. Without such impacts it just solves.
pub fn settle<S: Space>(
    solver: &mut SolverKind,
    assembled: &mut Assembled<S>,
    impulses: &mut Impulses<S>,
) -> SolveReport {
    let mut report = solver.solve(&assembled.problem, impulses);
    if assembled.bounces.iter().all(Option::is_none) {
        return report;
    }
    for round in 1..=ROUNDS {
        let islands = assembled.problem.islands.clone();
        let mut is_lowered = false;
        for island in islands {
            if let Some(part) = surplus(assembled, impulses, island) {
                let keep = if round == ROUNDS {
                    0.0
                } else {
                    (1.0 - CAUTION * part).max(0.0)
                };
                lower(assembled, island, keep);
                is_lowered = true;
            }
        }
        if !is_lowered {
            break;
        }
        let again = solver.solve(&assembled.problem, impulses);
        report = SolveReport {
            iterations: report.iterations.saturating_add(again.iterations),
            ..again
        };
    }
    report
}

/// W over Σ γ_N t of an island with an impact; `None` where W is not positive.
fn surplus<S: Space>(
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
    island: Island,
) -> Option<f64> {
    let problem = &assembled.problem;
    let in_impact = |row: usize| assembled.bounces.get(row).is_some_and(Option::is_some);
    if !island.rows().any(in_impact) {
        return None;
    }
    let after = problem.velocities(impulses);
    let (mut work, mut brought, mut turnover) = (0.0, 0.0, 0.0);
    for row in island.rows() {
        let r = impulses.local[row];
        let (u0, u1) = (
            problem.relative_velocity(row, &assembled.before),
            problem.velocity(row, &after),
        );
        work += 0.5 * r.dot(u0 + u1);
        turnover += 0.5 * (r.dot(u0).abs() + r.dot(u1).abs());
        brought += r.component(0) * problem.rows[row].target.max(0.0);
    }
    (work > ROUNDING * turnover && brought > 0.0).then(|| work / brought)
}

/// Keeps a part of the targets that an impact asks of an island; gaps stay as they are.
fn lower<S: Space>(assembled: &mut Assembled<S>, island: Island, keep: f64) {
    for row in island.rows() {
        if assembled.bounces.get(row).is_some_and(Option::is_some) {
            let target = &mut assembled.problem.rows[row].target;
            *target = if *target > 0.0 {
                *target * keep
            } else {
                *target
            };
        }
    }
}
