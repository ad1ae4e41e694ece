//! What the sweeping solvers share: a problem being relaxed contact by contact.
//!
//! A sweep visits every contact once and solves it with all other impulses as they are
//! ([`LocalSolve`] says how). **One sweep, there or back, counts as one iteration** in every
//! solver built on this; a solver that needs both directions makes two iterations at a time.
//!
//! Between sweeps the solvers read `Relaxer::measure`, the judge's formula on the velocities at
//! hand, which costs about half a sweep. What counts is still the judge: [`super::sweep_loop`] says
//! when an iterate deserves one.

use super::single_contact::LocalContact;
use crate::contact::problem::{ContactProblem, Impulses, Velocities};
use crate::geometry::Space;
use crate::judge::residual::{natural_map, project_on_cone};
use crate::math::algebra::{Components, Linear};
use serde::{Deserialize, Serialize};

/// How a sweep solves one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalSolve {
    /// The law of the contact with its full block ([`LocalContact::exact`]); where that has no
    /// answer, the projected step.
    #[default]
    Exact,
    /// The step of projected Gauss-Seidel ([`LocalContact::projected`]): a normal step, then one
    /// in the tangent plane.
    Projected,
}

/// How far the impulses are from the law, by the judge's formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    /// Largest natural map of a contact over ρ, m/s.
    pub(crate) worst: f64,
    /// Σ‖e‖ / Σ r_N.
    pub(crate) relative: f64,
}

impl Measure {
    /// Whether it is a number at all: a diverged iterate is not.
    pub(crate) fn is_finite(self) -> bool {
        self.worst.is_finite() && self.relative.is_finite()
    }
}

/// Impulses and the velocities that go with them.
#[derive(Debug)]
pub(crate) struct Relaxer<'a, S: Space> {
    pub(crate) problem: &'a ContactProblem<S>,
    pub(crate) impulses: Impulses<S>,
    velocities: Velocities<S>,
    /// v\*, to start from when velocities are made anew.
    unpressed: Velocities<S>,
    contacts: Vec<LocalContact<S>>,
    local: LocalSolve,
}

impl<'a, S: Space> Relaxer<'a, S> {
    /// Takes impulses, one for each row.
    pub(crate) fn new(
        problem: &'a ContactProblem<S>,
        impulses: Impulses<S>,
        local: LocalSolve,
    ) -> Self {
        let contacts = (0..problem.rows.len())
            .map(|row| LocalContact::new(problem.diagonal(row), problem.rows[row].mu))
            .collect();
        Self {
            problem,
            velocities: problem.velocities(&impulses),
            unpressed: problem.free_velocities(),
            impulses,
            contacts,
            local,
        }
    }

    /// Visits every contact, there or back, and moves its impulse by ω times what would solve
    /// it.
    pub(crate) fn sweep(&mut self, forth: bool, omega: f64) {
        let count = self.contacts.len();
        for k in 0..count {
            let row = if forth { k } else { count - 1 - k };
            self.relax(row, omega);
        }
    }

    /// There and back: two iterations. What it does to small errors is symmetric in the metric
    /// of A, as methods of conjugate directions ask.
    pub(crate) fn there_and_back(&mut self) {
        self.sweep(true, 1.0);
        self.sweep(false, 1.0);
    }

    #[inline]
    fn relax(&mut self, row: usize, omega: f64) {
        let r = self.impulses.local[row];
        let u = self.problem.offset_velocity(row, &self.velocities);
        let mut next = solve_contact(&self.contacts[row], self.local, r, u);
        if omega != 1.0 {
            next = project_on_cone(r + (next - r) * omega, self.contacts[row].mu());
        }
        if next != r {
            self.problem.apply(row, next - r, &mut self.velocities);
            self.impulses.local[row] = next;
        }
    }

    /// u of a contact, target taken off, m/s.
    #[inline]
    pub(crate) fn velocity(&self, row: usize) -> S::Vector {
        self.problem.offset_velocity(row, &self.velocities)
    }

    /// ρ of a contact, kg.
    #[inline]
    pub(crate) fn rho(&self, row: usize) -> f64 {
        self.contacts[row].rho()
    }

    /// Takes other impulses, projected on the cones, and makes the velocities anew.
    pub(crate) fn set(&mut self, impulses: &[S::Vector]) {
        for ((own, contact), &r) in
            (self.impulses.local.iter_mut().zip(&self.contacts)).zip(impulses)
        {
            *own = project_on_cone(r, contact.mu());
        }
        self.refresh();
    }

    /// Takes other impulses, in their cones or not, and makes the velocities anew.
    pub(crate) fn set_as_is(&mut self, impulses: &[S::Vector]) {
        self.impulses.local.copy_from_slice(impulses);
        self.refresh();
    }

    /// Makes the velocities anew from the impulses: no rounding of many updates is left.
    pub(crate) fn refresh(&mut self) {
        self.velocities
            .motion
            .copy_from_slice(&self.unpressed.motion);
        self.velocities.local.copy_from_slice(&self.unpressed.local);
        for (row, &r) in self.impulses.local.iter().enumerate() {
            if r != S::Vector::default() {
                self.problem.apply(row, r, &mut self.velocities);
            }
        }
    }

    /// The judge's formula with the velocities at hand.
    pub(crate) fn measure(&self) -> Measure {
        let (mut worst, mut errors, mut normals) = (0.0_f64, 0.0, 0.0);
        for (row, contact) in self.contacts.iter().enumerate() {
            // Two bodies that nothing moves: there is no law to break.
            if contact.is_immovable() {
                continue;
            }
            let r = self.impulses.local[row];
            let u = self.problem.offset_velocity(row, &self.velocities);
            let error = natural_map(r, u, contact.mu(), contact.rho()).length();
            worst = worst.max(error / contact.rho());
            errors += error;
            normals += r.component(0).max(0.0);
        }
        Measure {
            worst,
            relative: if errors == 0.0 {
                0.0
            } else {
                errors / normals.max(errors * 1e-12)
            },
        }
    }
}

/// The next impulse of a contact with impulse `r` and velocity `u`.
#[inline]
pub(crate) fn solve_contact<S: Space>(
    contact: &LocalContact<S>,
    local: LocalSolve,
    r: S::Vector,
    u: S::Vector,
) -> S::Vector {
    match local {
        LocalSolve::Projected => contact.projected(r, u),
        LocalSolve::Exact => match contact.exact(contact.free(r, u)) {
            Some((solved, _)) => solved,
            None => contact.projected(r, u),
        },
    }
}
