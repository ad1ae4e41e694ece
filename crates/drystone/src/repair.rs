//! Overlap repair: moves overlapping bodies apart without giving them speed.
//!
//! An impulse that just stops an approach leaves an overlap as it is. The lecture notes add
//! $c_d d$ to the target velocity; but that velocity stays with the bodies after the repair,
//! a stack that sinks by a hair starts to hop, and energy is made from nothing. So the nudge is
//! solved **apart**: displacements $h w = h M^{-1} J^T \lambda$ with $\lambda \ge 0$,
//! frictionless, from rest, such that for every contact
//!
//! $$ 0 \le \lambda \perp (J w)_N - s \ge 0, \qquad
//!    s = \begin{cases}
//!      \min(c_d\,(-d-\text{slop}),\ \text{cap}) & d < -\text{slop} \\
//!      -\max(0,\ d + h u_N)/h & \text{otherwise,}
//!    \end{cases} $$
//!
//! where d is the separation and u the velocity that the step has already solved for: overlaps
//! shrink at the rate $c_d$ (1/s, at most 1/h), and no other contact is pushed into overlap.
//! Poses move by h w once; velocities never learn of it.

use crate::body::Motion;
use crate::detect::Contact;
use crate::problem::assemble::{Assembled, ContactRules};
use crate::problem::{ContactProblem, Impulses, Row};
use crate::solve::{Pgs, Solver};
use crate::space::{Components, Space};

/// Sweeps of a repair. It need not be exact: what is left is repaired in the next step.
const SWEEPS: u32 = 20;

/// Repair speeds w of all bodies, or `None` where no contact overlaps by more than the slop.
#[must_use]
pub fn repair<S: Space>(
    assembled: &Assembled<S>,
    contacts: &[Contact<S>],
    velocities: &[Motion<S>],
    rules: &ContactRules,
) -> Option<Vec<Motion<S>>> {
    let problem = &assembled.problem;
    let separation = |row: usize| {
        contacts[assembled.contact_of_row[row] as usize]
            .point
            .separation
    };
    let overlaps = |row: usize| separation(row) < -rules.slop;
    if rules.repair_rate == 0.0 || !(0..problem.rows.len()).any(overlaps) {
        return None;
    }
    let rate = rules.repair_rate.min(1.0 / problem.dt);
    let speed = |row: usize| {
        let d = separation(row);
        if overlaps(row) {
            (rate * (-d - rules.slop)).min(rules.repair_speed)
        } else {
            let closing = problem.relative_velocity(row, velocities).component(0);
            -(d + problem.dt * closing).max(0.0) / problem.dt
        }
    };
    let rows = problem.rows.iter().enumerate().map(|(row, r)| Row {
        mu: 0.0,
        target: speed(row),
        ..*r
    });
    let nudge = ContactProblem {
        rows: rows.collect(),
        free: vec![Motion::default(); problem.free.len()],
        responses: problem.responses.clone(),
        islands: problem.islands.clone(),
        delassus: None,
        dt: problem.dt,
    };
    let mut impulses = Impulses::default();
    let tolerance = 1e-3 * rate * rules.slop;
    Pgs {
        iterations: SWEEPS,
        tolerance,
    }
    .solve(&nudge, &mut impulses);
    Some(nudge.velocities(&impulses).motion)
}
