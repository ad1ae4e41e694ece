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
//!
//! **Joints** are brought to where they belong at once, without slop: for their contacts
//! $s = -d^+/h$ with $d^+ = d + h u_N + q$, what the separation will be at the end of the step (q:
//! the bend of a coordinate, `joint/contacts.rs`), at the same cap. The reasons for slow repair are
//! not theirs. A stack sways on contacts that are lifted while they are pressed, because it can
//! lift off; a joint holds from both sides and can't. And a resting contact must stay a contact,
//! while a joint is one at any separation.

use crate::contact::detection::Contact;
use crate::contact::problem::assemble::{Assembled, ContactRules};
use crate::contact::problem::{ContactProblem, Impulses, Island, Row};
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::Motion;
use crate::solver::{Pgs, Solver};

/// How far a joint may be off at the end of a step before repair looks at it, m. What sweeps leave
/// at rest is less: their tolerance in m/s over a step.
const JOINT_SLOP: f64 = 1e-7;

/// Sweeps of a repair, and of one with joints, times those of a cold start
/// ([`Pgs`]). It need not be exact: what is left is repaired in the next step. Joints are repaired
/// in nearly every step while they move, and sixty sweeps serve a chain of twenty as well as four
/// hundred.
const SWEEPS: u32 = 20;
const JOINT_SWEEPS: u32 = 3;

/// Repair speeds w of all bodies, or `None` where no contact overlaps by more than the slop.
#[must_use]
pub fn repair<S: Space>(
    assembled: &Assembled<S>,
    contacts: &[Contact<S>],
    velocities: &[Motion<S>],
    rules: &ContactRules,
) -> Option<Vec<Motion<S>>> {
    let problem = &assembled.problem;
    let contact = |row: usize| &contacts[assembled.contact_of_row[row] as usize];
    let at_end = |row: usize| {
        let closing = problem.relative_velocity(row, velocities).component(0);
        contact(row).point.separation + problem.dt * closing + contact(row).bend
    };
    let overlaps = |row: usize| {
        let is_deep = contact(row).point.separation < -rules.slop;
        is_deep && rules.repair_rate > 0.0 && !contact(row).is_of_joint()
    };
    let is_off = |row: usize| contact(row).is_of_joint() && at_end(row) < -JOINT_SLOP;
    // Island by island, so that what is off far away changes nothing here.
    let is_due = |island: &&Island| island.rows().any(|row| overlaps(row) || is_off(row));
    let due: Vec<Island> = problem.islands.iter().filter(is_due).copied().collect();
    if due.is_empty() {
        return None;
    }
    let rate = rules.repair_rate.min(1.0 / problem.dt);
    let speed = |row: usize| {
        if contact(row).is_of_joint() {
            (-at_end(row) / problem.dt).min(rules.repair_speed)
        } else if overlaps(row) {
            let d = contact(row).point.separation;
            (rate * (-d - rules.slop)).min(rules.repair_speed)
        } else {
            -at_end(row).max(0.0) / problem.dt
        }
    };
    let tolerance = (1e-3 * rate * rules.slop).max(0.1 * JOINT_SLOP / problem.dt);
    let is_joined = |island: &Island| island.rows().any(|row| contact(row).is_of_joint());
    let (joined, others): (Vec<Island>, Vec<Island>) = due.into_iter().partition(is_joined);
    let mut nudges = vec![Motion::default(); problem.free.len()];
    for (islands, iterations) in [(joined, JOINT_SWEEPS), (others, SWEEPS)] {
        let pgs = Pgs {
            iterations,
            tolerance,
        };
        push_apart(problem, &islands, speed, pgs, &mut nudges);
    }
    Some(nudges)
}

/// Adds what reaches these speeds at the rows of some islands to the repair speeds of bodies.
fn push_apart<S: Space>(
    problem: &ContactProblem<S>,
    islands: &[Island],
    speed: impl Fn(usize) -> f64,
    mut solver: Pgs,
    nudges: &mut Vec<Motion<S>>,
) {
    let mut rows = Vec::new();
    let mut renumbered = Vec::new();
    for island in islands {
        let start = rows.len() as u32;
        rows.extend(island.rows().map(|row| Row {
            mu: 0.0,
            target: speed(row),
            ..problem.rows[row]
        }));
        let end = rows.len() as u32;
        renumbered.push(Island { start, end });
    }
    let nudge = ContactProblem {
        rows,
        free: std::mem::take(nudges),
        responses: problem.responses.clone(),
        islands: renumbered,
        delassus: None,
        dt: problem.dt,
    };
    let mut impulses = Impulses::default();
    solver.solve(&nudge, &mut impulses);
    *nudges = nudge.velocities(&impulses).motion;
}
