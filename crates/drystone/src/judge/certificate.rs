//! The certificate of a step: every figure that the judge has, each over its scale.
//!
//! * **residual** and its parts: [`super::residual`].
//! * **penetration**, m: the deepest overlap at the new poses.
//! * **energy**, **momentum**, **joints** and pushes across gaps, of the whole step from the states before and
//!   after it: [`super::whole_step`].
//! * **impulses against velocities**, N·s: by how much a body's momentum is not what the impulses that a
//!   strategy reports lead to. The larger of this and the error of the whole step's balance is `momentum_n_s`.
//! * **shares**: figures over their scales, which [`super::grade`] gives grades.

use super::grade::Shares;
use super::law::Answered;
use super::residual::{Residual, judge, judge_motion};
use super::whole_step::{EnergyBalance, JointFigures, WholeStep, smaller};
use crate::contact::detection::Contact;
use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
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
    /// Energy that nothing gave, J.
    pub energy_made_j: f64,
    /// Largest error of momentum, N·s.
    pub momentum_n_s: f64,
    /// Largest error of angular momentum, N·m·s.
    pub angular_momentum_n_m_s: f64,
    /// Energy over the step.
    pub energy: EnergyBalance,
    /// How joints held.
    pub joints: JointFigures,
    /// Largest gap across which a contact pushed, beyond what could close within the step, m.
    pub push_apart_m: f64,
    /// Force of that contact, N.
    pub push_apart_n: f64,
    /// Largest displacement of a body that its velocities don't explain, m.
    pub displacement_m: f64,
    /// Figures over their scales.
    pub shares: Shares,
    /// The contact with the largest residual.
    pub worst: Option<WorstContact>,
    /// The body to which most energy came from nothing, or from which it went to nothing.
    pub energy_at: Option<String>,
    /// A body of those with the largest error of momentum.
    pub momentum_at: Option<String>,
    /// The body that velocities explain least where it is.
    pub displaced: Option<String>,
    /// The contact that pushed across the largest gap.
    pub push_apart_at: Option<WorstContact>,
}

/// The contact with the largest residual, by the names of its bodies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstContact {
    /// Body A.
    pub a: String,
    /// Body B.
    pub b: String,
}

/// A step as a strategy shows it to the judge.
#[derive(Clone, Debug)]
pub(crate) struct Solution<S: Space> {
    /// The problem that the step made of its contacts, and its answer.
    pub(crate) answered: Answered<S>,
    /// Contacts of a strategy that keeps its own: those that were solved, with the gaps at the start of
    /// the step, and those at the new poses.
    pub(crate) own_contacts: Option<[Vec<Contact<S>>; 2]>,
}

/// Speed below which a residual is held against this, m/s: a micrometre a second is no motion.
const STILL: f64 = 1e-6;

impl<S: Space> Solution<S> {
    /// The contacts that were solved; `solved` are the world's.
    pub(crate) fn solved<'a>(&'a self, solved: &'a [Contact<S>]) -> &'a [Contact<S>] {
        self.own_contacts.as_ref().map_or(solved, |[own, _]| own)
    }

    /// Judges the step. `bodies` are those after it; `solved` and `present` are the world's contacts;
    /// `fall` is the speed that gravity gives in the step, m/s.
    pub(crate) fn certify(
        &self,
        bodies: &Bodies<S>,
        [solved, present]: [&[Contact<S>]; 2],
        whole: &WholeStep,
        fall: f64,
    ) -> Certificate {
        let (solved, present) = match &self.own_contacts {
            Some([solved, present]) => (&solved[..], &present[..]),
            None => (solved, present),
        };
        let Answered {
            assembled,
            impulses,
            reached,
        } = &self.answered;
        let problem = &assembled.problem;
        let Residual {
            largest,
            relative,
            worst_row,
        } = match reached {
            Some(velocities) => judge_motion(problem, impulses, velocities),
            None => judge(problem, impulses),
        };
        let pair = |a: u32, b: u32| WorstContact {
            a: bodies.name(a as usize).to_owned(),
            b: bodies.name(b as usize).to_owned(),
        };
        let worst = worst_row.map(|row| {
            let contact = &solved[assembled.contact_of_row[row] as usize];
            pair(contact.a, contact.b)
        });
        let name = |k: u32| bodies.name(k as usize).to_owned();
        let claimed = momentum_error(bodies, assembled, impulses, fall);
        let own = whole
            .momentum
            .linear_share
            .max(whole.momentum.angular_share);
        let momentum_of = if claimed.share > own {
            claimed.body
        } else {
            whole.momentum_of
        };
        let (penetration_m, overlap) = penetration(bodies, present);
        let speed = worst_row.map_or(0.0, |row| speed_at(problem, row)) + fall;
        let push = whole.push_apart.unwrap_or_default();
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
            penetration_m,
            energy_made_j: whole.energy.made_j,
            momentum_n_s: whole.momentum.linear_n_s.max(claimed.error),
            angular_momentum_n_m_s: whole.momentum.angular_n_m_s,
            energy: whole.energy,
            joints: whole.joints,
            push_apart_m: push.gap_m,
            push_apart_n: push.force_n,
            displacement_m: whole.displaced.by_m,
            shares: Shares {
                residual: largest.residual / speed.max(STILL),
                overlap,
                energy: whole.energy.worst_share,
                momentum: whole.momentum.linear_share.max(claimed.share),
                angular_momentum: whole.momentum.angular_share,
                joint_gap: whole.joints.gap_of_size,
                joint_angle: whole.joints.angle_rad,
                push_apart: push.gap_of_size,
                displacement: whole.displaced.of_size,
            },
            worst,
            energy_at: whole.energy_of.map(name),
            momentum_at: momentum_of.map(name),
            displaced: whole.displaced.body.map(name),
            push_apart_at: whole
                .push_apart
                .map(|push| pair(push.bodies[0], push.bodies[1])),
        }
    }
}

impl Certificate {
    /// That of two steps, one after the other: the worse of each figure, and energies together.
    #[must_use]
    pub(crate) fn followed_by(mut self, next: Self) -> Self {
        for (own, other) in [
            (&mut self.residual_m_s, next.residual_m_s),
            (&mut self.relative_residual, next.relative_residual),
            (&mut self.approach_speed_m_s, next.approach_speed_m_s),
            (&mut self.pull_n_s, next.pull_n_s),
            (&mut self.cone_excess_n_s, next.cone_excess_n_s),
            (&mut self.signorini_j, next.signorini_j),
            (&mut self.friction_direction_j, next.friction_direction_j),
            (&mut self.penetration_m, next.penetration_m),
            (&mut self.momentum_n_s, next.momentum_n_s),
            (
                &mut self.angular_momentum_n_m_s,
                next.angular_momentum_n_m_s,
            ),
            (&mut self.displacement_m, next.displacement_m),
        ] {
            *own = own.max(other);
        }
        let (shares, of_next) = (self.shares, next.shares);
        if of_next.residual > shares.residual {
            self.worst = next.worst;
        }
        if of_next.energy > shares.energy {
            self.energy_at = next.energy_at;
        }
        if of_next.momentum.max(of_next.angular_momentum)
            > shares.momentum.max(shares.angular_momentum)
        {
            self.momentum_at = next.momentum_at;
        }
        if of_next.displacement > shares.displacement {
            self.displaced = next.displaced;
        }
        if of_next.push_apart > shares.push_apart {
            self.push_apart_at = next.push_apart_at;
            self.push_apart_m = next.push_apart_m;
            self.push_apart_n = next.push_apart_n;
        }
        self.shares = shares.upper(&of_next);
        self.energy = self.energy.followed_by(&next.energy);
        self.energy_made_j = self.energy.made_j;
        self.joints = self.joints.followed_by(&next.joints);
        self.contacts = next.contacts;
        self.step = next.step;
        self
    }
}

/// Speed of a contact before it acts, m/s.
fn speed_at<S: Space>(problem: &ContactProblem<S>, row: usize) -> f64 {
    problem.relative_velocity(row, &problem.free).length()
}

/// Deepest overlap in m, and the largest over the size of the smaller body.
fn penetration<S: Space>(bodies: &Bodies<S>, contacts: &[Contact<S>]) -> (f64, f64) {
    let mut deepest = (0.0_f64, 0.0_f64);
    for contact in contacts {
        let depth = -contact.point.separation;
        if depth > 0.0 {
            let size = smaller(bodies, [contact.a, contact.b].map(|k| k as usize));
            deepest = (deepest.0.max(depth), deepest.1.max(depth / size));
        }
    }
    deepest
}

/// The largest difference between bodies' momentum and what the impulses lead to.
#[derive(Clone, Copy, Debug, Default)]
struct Claimed {
    /// N·s.
    error: f64,
    /// Over what a body has and a step of free fall gives it.
    share: f64,
    /// The body with the largest share.
    body: Option<u32>,
}

fn momentum_error<S: Space>(
    bodies: &Bodies<S>,
    assembled: &Assembled<S>,
    impulses: &Impulses<S>,
    fall: f64,
) -> Claimed {
    let due = assembled.problem.velocities(impulses).motion;
    let after = &bodies.motion;
    let mut worst = Claimed::default();
    for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k)) {
        let off = (after[k].linear - due[k].linear).length();
        if off > 0.0 {
            let speed = after[k].linear.length().max(due[k].linear.length()) + fall;
            worst.error = worst.error.max(off * bodies.mass(k));
            if off / speed > worst.share {
                (worst.share, worst.body) = (off / speed, Some(k as u32));
            }
        }
    }
    worst
}
