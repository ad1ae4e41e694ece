//! The alternating direction method of multipliers, with a penalty that looks after itself.
//!
//! # Idea
//!
//! Split the impulses in two copies: x, for which the equations of motion hold, and y, for which
//! the cones do; pull them together. With a diagonal penalty $D = \rho\,\mathrm{diag}(\lambda_i)$,
//! $\lambda_i = \lambda_{\max}(A_{ii})$, the scaled multiplier w and De Saxcé's correction
//! $s = \mu\lVert u_T\rVert n$ taken from the iteration before:
//!
//! $$ (A + D)\,x = D (y - w) - q - s, \qquad \hat x = \alpha x + (1 - \alpha) y, $$
//! $$ y \leftarrow P_K(\hat x + w), \qquad w \leftarrow w + \hat x - y,
//!    \qquad \tilde u + s = -D w . $$
//!
//! An iteration is one solve with a matrix that stays the same ([`super::delassus_systems`]); only a new ρ
//! needs a new factorisation. Measuring ρ in units of each contact's own $\lambda_i$ makes it a
//! number without unit that means the same at every contact, whatever the masses.
//!
//! # The penalty
//!
//! Every few iterations:
//!
//! * if the copies differ by much more than y changes, they are pulled together too weakly:
//!   ρ grows with the square root of that ratio;
//! * otherwise, what y has done since the last time is nearly the slowest mode alone, and the
//!   Rayleigh quotient $\kappa = \Delta y^T A \Delta y / \Delta y^T \Lambda \Delta y$ is its
//!   stiffness. A ρ far above κ holds it back, and becomes $\sqrt{\rho\kappa}$.
//!
//! The usual balance of primal and dual residuals does not see the second case: in a slow mode
//! both are alike. It is the one that matters in stacks and with heavy on light.
//!
//! # When to use it
//!
//! A good guess to improve, a fixed small number of cheap iterations, or 1e-4 to 1e-8 in some tens
//! of iterations after one to five factorisations. It starts well from a guess.
//!
//! # When it fails
//!
//! The correction is lagged, so no convergence is proven with friction; with much sliding at
//! large μ it may circle. The last digits of a problem with very soft modes are slow.
//!
//! Sources: J. Carpentier, Q. Le Lidec, L. Montaut, *From compliant to rigid contact simulation: a
//! unified and efficient approach*, RSS 2024; A. Tasora, D. Mangoni, S. Benatti, R. Garziera,
//! *Solving variational inequalities and cone complementarity problems in nonsmooth dynamics
//! using the alternating direction method of multipliers*, Int. J. Numer. Methods Eng. 122 (2021).

use super::delassus_systems::{Action, Shift, ShiftedDelassus};
use super::island::solve_each;
use super::{Limits, SolveReport, Solver, Watch};
use crate::contact::problem::{ContactProblem, Impulses, tangential};
use crate::geometry::Space;
use crate::judge::residual::project_on_cone;
use crate::math::algebra::{Components, Linear};
use crate::math::block_cholesky::FactorError;
use serde::{Deserialize, Serialize};

/// Options of ADMM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Admm {
    /// When to stop. An iteration is one solve with the factorised matrix.
    pub limits: Limits,
    /// ρ at the start, in units of each contact's λmax; without unit.
    pub penalty: f64,
    /// α: over-relaxation, between 1 and 2.
    pub relaxation: f64,
    /// Iterations between two reviews of ρ; 0 to leave it as it is.
    pub review_every: u32,
}

impl Default for Admm {
    /// ρ = 0.3 at the start, reviewed every 10 iterations; α = 1.6.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            penalty: 0.3,
            relaxation: 1.6,
            review_every: 10,
        }
    }
}

/// Ratio beyond which ρ is changed: a smaller change is not worth a factorisation.
const WORTHWHILE: f64 = 3.0;

/// Most by which one review changes ρ.
const MOST_GROWTH: f64 = 10.0;
const MOST_DECAY: f64 = 100.0;

/// ρ stays between these.
const LEAST: f64 = 1e-9;
const GREATEST: f64 = 1e3;

/// A look costs about half an iteration on large problems: one in so many contacts is left out.
const CONTACTS_PER_LOOK: usize = 5000;

impl<S: Space> Solver<S> for Admm {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        solve_each("admm", problem, impulses, |island, guess| {
            self.solve_island(island, guess)
        })
    }
}

impl Admm {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut watch = Watch::new(self.limits, problem, impulses);
        let mut done = 0;
        if !watch.is_over(0)
            && let Ok(mut split) = Splitting::new(problem, impulses, self.penalty)
        {
            let stride = (problem.rows.len() / CONTACTS_PER_LOOK).clamp(1, 4) as u32;
            let mut reviewed = 0;
            loop {
                split.iterate(self.relaxation);
                done += 1;
                if done % stride == 0 || watch.is_over(done) {
                    impulses.local.copy_from_slice(&split.y);
                    if watch.look(problem, impulses, done) {
                        break;
                    }
                }
                if self.review_every > 0 && done - reviewed >= self.review_every {
                    reviewed = done;
                    if split.review().is_err() {
                        break;
                    }
                }
            }
        }
        watch.finish(impulses, done, "admm")
    }
}

/// The state of the iteration.
#[derive(Debug)]
struct Splitting<'a, S: Space> {
    problem: &'a ContactProblem<S>,
    factor: ShiftedDelassus<S>,
    action: Action<S>,
    /// λ of each contact, 1/kg; 1 where nothing moves.
    stiffness: Vec<f64>,
    /// Whether anything can move the contact.
    movable: Vec<bool>,
    /// ρ.
    penalty: f64,
    /// q: offset velocity without impulses, m/s.
    free: Vec<S::Vector>,
    x: Vec<S::Vector>,
    y: Vec<S::Vector>,
    /// y one iteration ago.
    y_before: Vec<S::Vector>,
    /// y at the last review.
    y_reviewed: Vec<S::Vector>,
    w: Vec<S::Vector>,
    rhs: Vec<S::Vector>,
    work: Vec<S::Vector>,
}

impl<'a, S: Space> Splitting<'a, S> {
    fn new(
        problem: &'a ContactProblem<S>,
        guess: &Impulses<S>,
        penalty: f64,
    ) -> Result<Self, FactorError> {
        let contacts = problem.rows.len();
        let zeros = || vec![S::Vector::default(); contacts];
        let largest = |row| S::largest_eigenvalue(&problem.diagonal(row));
        let mut stiffness: Vec<f64> = (0..contacts).map(largest).collect();
        let movable = stiffness.iter().map(|s| *s > 0.0).collect();
        for s in &mut stiffness {
            *s = if *s > 0.0 { *s } else { 1.0 };
        }
        let unpressed = problem.free_velocities();
        let mut split = Self {
            problem,
            factor: ShiftedDelassus::new(problem)?,
            action: Action::new(problem),
            stiffness,
            movable,
            penalty: penalty.clamp(LEAST, GREATEST),
            free: (0..contacts)
                .map(|row| problem.offset_velocity(row, &unpressed))
                .collect(),
            x: zeros(),
            y: zeros(),
            y_before: zeros(),
            y_reviewed: zeros(),
            w: zeros(),
            rhs: zeros(),
            work: zeros(),
        };
        split.start(guess);
        split.factorise()?;
        Ok(split)
    }

    /// Takes impulses from the guess and multipliers from the velocities they lead to; from
    /// nothing where there is no guess.
    fn start(&mut self, guess: &Impulses<S>) {
        if guess.local.iter().all(|r| *r == S::Vector::default()) {
            return;
        }
        for (k, row) in self.problem.rows.iter().enumerate() {
            if self.movable[k] {
                self.y[k] = project_on_cone(guess.local[k], row.mu);
            }
        }
        self.y_reviewed.copy_from_slice(&self.y);
        self.x.copy_from_slice(&self.y);
        self.action.apply(self.problem, &self.y, &mut self.work);
        for (k, row) in self.problem.rows.iter().enumerate() {
            let u = self.work[k] + self.free[k];
            let lift = row.mu * tangential(u).length();
            // −(ũ + s) in the polar cone is what a solution has; take the nearest.
            let force = (-u).with_component(0, -u.component(0) - lift) * (1.0 / self.shift(k));
            self.w[k] = force - project_on_cone(force, row.mu);
        }
    }

    fn shift(&self, contact: usize) -> f64 {
        self.penalty * self.stiffness[contact]
    }

    fn factorise(&mut self) -> Result<(), FactorError> {
        let shifts: Vec<Shift<S>> = (0..self.y.len())
            .map(|k| Shift::uniform(self.shift(k)))
            .collect();
        self.factor.refactor(self.problem, &shifts)
    }

    /// One iteration, see the [module documentation](self).
    fn iterate(&mut self, relaxation: f64) {
        for (k, row) in self.problem.rows.iter().enumerate() {
            let d = self.shift(k);
            let lift = row.mu * tangential(self.w[k]).length() * d;
            let q = self.free[k];
            let q = q.with_component(0, q.component(0) + lift);
            self.rhs[k] = (self.y[k] - self.w[k]) * d - q;
        }
        self.solve_for_x();
        std::mem::swap(&mut self.y, &mut self.y_before);
        for (k, row) in self.problem.rows.iter().enumerate() {
            if self.movable[k] {
                let mixed = self.x[k] * relaxation + self.y_before[k] * (1.0 - relaxation);
                self.y[k] = project_on_cone(mixed + self.w[k], row.mu);
                self.w[k] += mixed - self.y[k];
            }
        }
    }

    /// x = (A + D)⁻¹ rhs.
    ///
    /// A matrix from elsewhere may be symmetric to a few digits only, and the factor is that of
    /// its symmetric part: then x moves by what the factor makes of the true residual, so that it
    /// comes to rest where the matrix as given has its solution.
    fn solve_for_x(&mut self) {
        if self.problem.delassus.is_none() {
            self.factor.solve(&self.rhs, &mut self.x);
            return;
        }
        self.action.apply(self.problem, &self.x, &mut self.work);
        for k in 0..self.x.len() {
            self.work[k] = self.rhs[k] - self.work[k] - self.x[k] * self.shift(k);
        }
        self.factor.solve(&self.work, &mut self.rhs);
        for (x, change) in self.x.iter_mut().zip(&self.rhs) {
            *x += *change;
        }
    }

    /// Changes ρ where that pays.
    fn review(&mut self) -> Result<(), FactorError> {
        let squares = |of: &dyn Fn(usize) -> S::Vector| -> f64 {
            let square = |k: usize| self.stiffness[k] * of(k).dot(of(k));
            (0..self.y.len())
                .filter(|k| self.movable[*k])
                .map(square)
                .sum()
        };
        let apart = squares(&|k| self.x[k] - self.y[k]).sqrt();
        let change = squares(&|k| self.y[k] - self.y_before[k]).sqrt();
        let moved = squares(&|k| self.y[k] - self.y_reviewed[k]);
        let ratio = apart / change.max(f64::MIN_POSITIVE);

        for (way, (y, before)) in self.rhs.iter_mut().zip(self.y.iter().zip(&self.y_reviewed)) {
            *way = *y - *before;
        }
        self.y_reviewed.copy_from_slice(&self.y);
        let new = if ratio > WORTHWHILE {
            self.penalty * ratio.sqrt().min(MOST_GROWTH)
        } else {
            let stiffness = self.stiffness_along() / moved.max(f64::MIN_POSITIVE);
            if stiffness < self.penalty / WORTHWHILE {
                let slower = (self.penalty * stiffness.max(0.0)).sqrt();
                slower.max(self.penalty / MOST_DECAY)
            } else {
                self.penalty
            }
        };
        let new = new.clamp(LEAST, GREATEST);
        if new == self.penalty || !new.is_finite() {
            return Ok(());
        }
        // D w, the velocities, stay what they are.
        for w in &mut self.w {
            *w = *w * (self.penalty / new);
        }
        self.penalty = new;
        self.factorise()
    }

    /// Δyᵀ A Δy for the way in `rhs`.
    fn stiffness_along(&mut self) -> f64 {
        self.action.apply(self.problem, &self.rhs, &mut self.work);
        let pairs = self.rhs.iter().zip(&self.work);
        pairs.map(|(way, u)| way.dot(*u)).sum()
    }
}
