//! Accelerated projected gradient descent, without any factorisation.
//!
//! # Idea
//!
//! With De Saxcé's correction $s = \mu\lVert u_T\rVert n$ held fixed, the law is the minimum of
//! $\tfrac12 r^T A r + r^T (q + s)$ over the cones. A gradient step projected on the cones goes
//! down; Nesterov's extrapolation makes it go down as fast as a first-order method can. With
//! $\Lambda = \mathrm{diag}\,\lambda_{\max}(A_{ii})$ as metric:
//!
//! $$ r^+ = P_K\bigl(y - t\,\Lambda^{-1}(A y + q + s)\bigr), \qquad
//!    y^+ = r^+ + \beta\,(r^+ - r) , $$
//!
//! * the step t is accepted if $\Delta^T A \Delta \le \Delta^T \Lambda \Delta / t$ for the change
//!   Δ it makes, halved otherwise, and tried a little longer after each success;
//! * β follows Nesterov's sequence and starts over where the step goes uphill
//!   ($(y - r^+)\cdot\Lambda(r^+ - r) > 0$);
//! * s is that of y, lagged by nothing but the extrapolation.
//!
//! Velocities are linear in impulses, so an iteration costs one product with A, about as much as
//! a sweep of Gauss-Seidel, and contacts are independent within it.
//!
//! # When to use it
//!
//! Many contacts at a moderate accuracy on parallel hardware, or where memory for a
//! factorisation is short.
//!
//! # When it fails
//!
//! Iterations grow with the square root of the conditioning: tall stacks and heavy on light take
//! thousands.
//!
//! Source: H. Mazhar, T. Heyn, D. Negrut, A. Tasora, *Using Nesterov's method to accelerate
//! multibody dynamics with friction and contact*, ACM Trans. Graph. 34 (2015); B. O'Donoghue,
//! E. Candès, *Adaptive restart for accelerated gradient schemes*, Found. Comput. Math. 15 (2015).

use super::delassus_systems::Action;
use super::island::solve_each;
use super::{Limits, SolveReport, Solver, Watch};
use crate::contact::problem::{ContactProblem, Impulses, tangential};
use crate::geometry::Space;
use crate::judge::residual::project_on_cone;
use crate::math::algebra::{Components, Linear};
use serde::{Deserialize, Serialize};

/// Options of accelerated projected gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Apgd {
    /// When to stop. An iteration is one product with A (more where a step is halved).
    pub limits: Limits,
    /// Iterations between two looks at the residual; a look costs as much as an iteration.
    pub look_every: u32,
}

impl Default for Apgd {
    /// 1,000 iterations, a look every 5.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            look_every: 5,
        }
    }
}

/// By how much a step that was accepted is tried longer the next time.
const LONGER: f64 = 1.05;

impl<S: Space> Solver<S> for Apgd {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        solve_each("apgd", problem, impulses, |island, guess| {
            self.solve_island(island, guess)
        })
    }
}

impl Apgd {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut watch = Watch::new(self.limits, problem, impulses);
        let mut done = 0;
        if !watch.is_over(0) {
            let mut descent = Descent::new(problem, impulses);
            loop {
                descent.iterate();
                done += 1;
                if done % self.look_every.max(1) == 0 || watch.is_over(done) {
                    impulses.local.copy_from_slice(&descent.r);
                    if watch.look(problem, impulses, done) {
                        break;
                    }
                }
            }
        }
        watch.finish(impulses, done, "apgd")
    }
}

/// The state of the descent.
#[derive(Debug)]
struct Descent<'a, S: Space> {
    problem: &'a ContactProblem<S>,
    action: Action<S>,
    /// λ of each contact, 1/kg; 0 where nothing moves.
    stiffness: Vec<f64>,
    /// q, m/s.
    free: Vec<S::Vector>,
    /// Impulses and their velocities A r.
    r: Vec<S::Vector>,
    a_r: Vec<S::Vector>,
    /// Extrapolated impulses and their velocities.
    y: Vec<S::Vector>,
    a_y: Vec<S::Vector>,
    /// Room for the next r.
    next: Vec<S::Vector>,
    a_next: Vec<S::Vector>,
    /// t, without unit.
    step: f64,
    /// Nesterov's sequence.
    theta: f64,
}

impl<'a, S: Space> Descent<'a, S> {
    fn new(problem: &'a ContactProblem<S>, guess: &Impulses<S>) -> Self {
        let contacts = problem.rows.len();
        let zeros = || vec![S::Vector::default(); contacts];
        let unpressed = problem.free_velocities();
        let largest = |row| S::largest_eigenvalue(&problem.diagonal(row));
        let project = |(row, r): (usize, &S::Vector)| project_on_cone(*r, problem.rows[row].mu);
        let r: Vec<S::Vector> = guess.local.iter().enumerate().map(project).collect();
        let mut action = Action::new(problem);
        let mut a_r = zeros();
        action.apply(problem, &r, &mut a_r);
        Self {
            problem,
            action,
            stiffness: (0..contacts).map(largest).collect(),
            free: (0..contacts)
                .map(|row| problem.offset_velocity(row, &unpressed))
                .collect(),
            y: r.clone(),
            a_y: a_r.clone(),
            r,
            a_r,
            next: zeros(),
            a_next: zeros(),
            step: 1.0,
            theta: 1.0,
        }
    }

    /// One accepted step, see the [module documentation](self).
    fn iterate(&mut self) {
        loop {
            self.descend();
            self.action
                .apply(self.problem, &self.next, &mut self.a_next);
            let (mut bent, mut square) = (0.0, 0.0);
            for k in 0..self.next.len() {
                let change = self.next[k] - self.y[k];
                bent += change.dot(self.a_next[k] - self.a_y[k]);
                square += self.stiffness[k] * change.dot(change);
            }
            // NaN ends the loop as well: the watch will not take it.
            let is_too_long = bent * self.step > square * (1.0 + 1e-12);
            if !is_too_long || self.step < 1e-12 {
                break;
            }
            self.step *= 0.5_f64.max(0.9 * square / (bent * self.step)).min(0.9);
        }
        self.step *= LONGER;
        self.extrapolate();
    }

    /// next = P_K(y − t Λ⁻¹(A y + q + s)).
    fn descend(&mut self) {
        for (k, row) in self.problem.rows.iter().enumerate() {
            if self.stiffness[k] > 0.0 {
                let u = self.a_y[k] + self.free[k];
                let lift = row.mu * tangential(u).length();
                let u = u.with_component(0, u.component(0) + lift);
                let by = self.step / self.stiffness[k];
                self.next[k] = project_on_cone(self.y[k] - u * by, row.mu);
            } else {
                self.next[k] = S::Vector::default();
            }
        }
    }

    /// Moves on to `next` and sets y beyond it, unless that would go uphill.
    fn extrapolate(&mut self) {
        let mut uphill = 0.0;
        for k in 0..self.next.len() {
            let back = self.y[k] - self.next[k];
            uphill += self.stiffness[k] * back.dot(self.next[k] - self.r[k]);
        }
        let mut beta = 0.0;
        if uphill > 0.0 {
            self.theta = 1.0;
        } else {
            let before = self.theta;
            self.theta = 0.5 * (1.0 + (1.0 + 4.0 * before * before).sqrt());
            beta = (before - 1.0) / self.theta;
        }
        for k in 0..self.next.len() {
            self.y[k] = self.next[k] + (self.next[k] - self.r[k]) * beta;
            self.a_y[k] = self.a_next[k] + (self.a_next[k] - self.a_r[k]) * beta;
        }
        std::mem::swap(&mut self.r, &mut self.next);
        std::mem::swap(&mut self.a_r, &mut self.a_next);
    }
}
