//! The certificate of a step.
//!
//! * **residual** and its parts: [`super::residual`].
//! * **penetration**, m: the deepest overlap at the new poses.
//! * **energy made**, J: what kinetic energy gained beyond the work of forces. With velocities
//!   $v^-$ and $v^+$ before and after the step, an impulse p on a body does the work
//!   $p\cdot\tfrac12(v^- + v^+)$; gravity, pushes and damping are such impulses, and so is what a
//!   scripted body gives. Whatever is left, $\Delta T - W$, is the work of contact (and of the
//!   integrator), and must not be positive: resting contact and elastic impact do none, friction
//!   and inelastic impact take some. Overlap repair that lifts bodies makes energy, and it shows
//!   here: the work that forces did over the repair's displacements is taken off W.
//! * **momentum**, N·s: how far the change of total momentum is from the impulses from outside
//!   (forces, fixed and scripted bodies): round-off, or something is wrong. Where a strategy gives
//!   bodies velocities of its own, it is the largest error of a single body: by how much its
//!   momentum is not what the impulses on it lead to.

use super::law::Answered;
use super::residual::{Residual, judge, judge_motion};
use crate::contact::detection::Contact;
use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{Impulses, Side, Velocities};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};
use serde::{Deserialize, Serialize};

/// How well the laws of contact held in one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Number of the step, from 1.
    pub step: u64,
    /// Number of contact points.
    pub contacts: usize,
    /// Largest natural-map residual, m/s.
    pub residual_m_s: f64,
    /// Sum of the natural map over sum of normal impulses, without unit.
    pub relative_residual: f64,
    /// Largest speed at which a contact still closes, m/s.
    pub approach_speed_m_s: f64,
    /// Largest impulse that pulls, N·s.
    pub pull_n_s: f64,
    /// Largest friction beyond the cone, N·s.
    pub cone_excess_n_s: f64,
    /// Largest |r_N ũ_N|, J.
    pub signorini_j: f64,
    /// Largest μ r_N‖u_T‖ + r_T·u_T, J.
    pub friction_direction_j: f64,
    /// Deepest overlap at the new poses, m.
    pub penetration_m: f64,
    /// Kinetic energy gained beyond the work of forces, J; 0 where it was lost.
    pub energy_made_j: f64,
    /// Error of the momentum balance, N·s.
    pub momentum_n_s: f64,
    /// The contact with the largest residual.
    pub worst: Option<WorstContact>,
}

/// The contact with the largest residual, by the names of its bodies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstContact {
    /// Body A.
    pub a: String,
    /// Body B.
    pub b: String,
}

/// What was known before contact, against which the step is judged.
#[derive(Clone, Debug, Default)]
pub struct Ledger<S: Space> {
    /// Kinetic energy of all bodies at the start of the step, J.
    pub kinetic_energy: f64,
    /// Velocities at the start of the step, before forces.
    pub before: Vec<Motion<S>>,
    /// Impulse of forces (gravity, pushes, damping) on each body: N·s and N·m·s.
    pub forces: Vec<(S::Vector, S::Spin)>,
}

/// What a step decided: the problem it made of its contacts, and the answer.
#[derive(Clone, Copy, Debug)]
pub struct Solved<'a, S: Space> {
    /// The contacts that the problem was made of.
    pub contacts: &'a [Contact<S>],
    /// The problem.
    pub assembled: &'a Assembled<S>,
    /// The answer.
    pub impulses: &'a Impulses<S>,
    /// Repair speeds, where overlaps were repaired.
    pub nudges: Option<&'a [Motion<S>]>,
    /// Velocities after the step, where they are not simply those that the impulses lead to.
    pub reached: Option<&'a Velocities<S>>,
}

/// A step as the judge is shown it.
#[derive(Clone, Debug)]
pub(crate) struct Solution<S: Space> {
    /// The problem that the step made of its contacts, and its answer.
    pub(crate) answered: Answered<S>,
    pub(crate) ledger: Ledger<S>,
    /// Repair speeds, where overlaps were repaired.
    pub(crate) nudges: Option<Vec<Motion<S>>>,
    /// Contacts of a strategy that keeps its own: those that were solved, and those at the new
    /// poses.
    pub(crate) own_contacts: Option<[Vec<Contact<S>>; 2]>,
}

impl<S: Space> Solution<S> {
    /// Judges the step. `bodies` are those after it; `solved` and `present` are the world's contacts.
    pub(crate) fn certify(
        &self,
        bodies: &Bodies<S>,
        solved: &[Contact<S>],
        present: &[Contact<S>],
    ) -> Certificate {
        let (solved, present) = match &self.own_contacts {
            Some([solved, present]) => (&solved[..], &present[..]),
            None => (solved, present),
        };
        let solved = Solved {
            contacts: solved,
            assembled: &self.answered.assembled,
            impulses: &self.answered.impulses,
            nudges: self.nudges.as_deref(),
            reached: self.answered.reached.as_ref(),
        };
        certify(bodies, present, &solved, &self.ledger)
    }
}

/// Judges a step. `bodies` and `contacts` are those after it.
#[must_use]
pub fn certify<S: Space>(
    bodies: &Bodies<S>,
    contacts: &[Contact<S>],
    solved: &Solved<'_, S>,
    ledger: &Ledger<S>,
) -> Certificate {
    let Solved {
        assembled,
        impulses,
        ..
    } = *solved;
    let Residual {
        largest,
        relative,
        worst_row,
    } = match solved.reached {
        Some(velocities) => judge_motion(&assembled.problem, impulses, velocities),
        None => judge(&assembled.problem, impulses),
    };
    let worst = worst_row.map(|row| {
        let contact = &solved.contacts[assembled.contact_of_row[row] as usize];
        WorstContact {
            a: bodies.name(contact.a as usize).to_owned(),
            b: bodies.name(contact.b as usize).to_owned(),
        }
    });
    Certificate {
        step: 0,
        contacts: impulses.local.len(),
        residual_m_s: largest.residual,
        relative_residual: relative,
        approach_speed_m_s: largest.approach_speed,
        pull_n_s: largest.pull,
        cone_excess_n_s: largest.cone_excess,
        signorini_j: largest.signorini,
        friction_direction_j: largest.friction_direction,
        penetration_m: penetration(contacts),
        energy_made_j: energy_made(bodies, solved, ledger).max(0.0),
        momentum_n_s: match solved.reached {
            Some(velocities) => largest_momentum_error(bodies, assembled, impulses, velocities),
            None => momentum_error(bodies, assembled, impulses, ledger),
        },
        worst,
    }
}

/// Deepest overlap in m.
#[must_use]
pub fn penetration<S: Space>(contacts: &[Contact<S>]) -> f64 {
    contacts
        .iter()
        .fold(0.0, |deepest, c| deepest.max(-c.point.separation))
}

/// ΔT minus the work of forces and scripts, J.
fn energy_made<S: Space>(bodies: &Bodies<S>, solved: &Solved<'_, S>, ledger: &Ledger<S>) -> f64 {
    let Solved {
        assembled,
        impulses,
        ..
    } = *solved;
    let mut change = -ledger.kinetic_energy;
    for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k)) {
        let (before, after) = (&ledger.before[k], &bodies.motion[k]);
        let (push, twist) = ledger.forces[k];
        change += bodies.kinetic_energy(k);
        change -= 0.5 * push.dot(before.linear + after.linear);
        change -= 0.5 * twist.dot(before.spin + after.spin);
    }
    // Force times displacement is impulse times speed: the step's length cancels.
    for (nudge, (push, twist)) in solved.nudges.into_iter().flatten().zip(&ledger.forces) {
        change -= push.dot(nudge.linear) + twist.dot(nudge.spin);
    }
    // A scripted body moves at its free velocity all through the step.
    for_each_scripted(bodies, assembled, impulses, |k, arm, impulse| {
        let free = &assembled.problem.free[k];
        change -= impulse.dot(free.linear + S::spin_cross(free.spin, arm));
    });
    change
}

/// Calls `f(body, arm, impulse)` for the world impulse that a scripted body **gives** at each of
/// its contacts.
fn for_each_scripted<S: Space>(
    bodies: &Bodies<S>,
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
    mut f: impl FnMut(usize, S::Vector, S::Vector),
) {
    for (row, &local) in assembled.problem.rows.iter().zip(&impulses.local) {
        let on_b = S::to_world(&row.basis, local);
        for (side, given) in [(&row.a, on_b), (&row.b, -on_b)] {
            if let Side::Rigid { body, arm } = *side
                && !bodies.is_dynamic(body as usize)
            {
                f(body as usize, arm, given);
            }
        }
    }
}

/// |Σ m(v⁺ − v⁻) − impulses from outside|, N·s, along axes that are free.
///
/// A body with locked axes hangs on something outside; it counts as outside itself.
fn momentum_error<S: Space>(
    bodies: &Bodies<S>,
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
    ledger: &Ledger<S>,
) -> f64 {
    use crate::math::algebra::Components;
    let inside = |k: usize| {
        let is_free = |axis| bodies.inertial[k].inv_mass.component(axis) > 0.0;
        bodies.is_dynamic(k) && (0..S::DIM).all(is_free)
    };
    let mut balance = S::Vector::default();
    for k in (0..bodies.len()).filter(|&k| inside(k)) {
        let change = bodies.motion[k].linear - ledger.before[k].linear;
        balance += change * bodies.inertial[k].mass - ledger.forces[k].0;
    }
    for (row, &local) in assembled.problem.rows.iter().zip(&impulses.local) {
        let on_b = S::to_world(&row.basis, local);
        let is_inside = |side: &Side<S>| side.bodies().any(|k| inside(k as usize));
        match (is_inside(&row.a), is_inside(&row.b)) {
            (false, true) => balance -= on_b,
            (true, false) => balance += on_b,
            _ => {}
        }
    }
    balance.length()
}

/// The largest difference, N·s, between a body's momentum and what the impulses lead to.
fn largest_momentum_error<S: Space>(
    bodies: &Bodies<S>,
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
    reached: &Velocities<S>,
) -> f64 {
    let due = assembled.problem.velocities(impulses).motion;
    (0..bodies.len())
        .filter(|&k| bodies.is_dynamic(k))
        .map(|k| (reached.motion[k].linear - due[k].linear).length() * bodies.mass(k))
        .fold(0.0, f64::max)
}
