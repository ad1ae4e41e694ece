//! Anderson acceleration of the sweep.
//!
//! A sweep there and back is a map $r \mapsto G(r)$ whose fixed points solve the law. From the
//! last few pairs of $G(r)$ and $f(r) = G(r) - r$ one can guess where $f$ vanishes: with the
//! differences $\Delta F$ and $\Delta G$ of successive pairs as columns,
//!
//! $$ \gamma = \arg\min_\gamma \lVert f_k - \Delta F\,\gamma\rVert, \qquad
//!    r_{k+1} = P_K\bigl(G(r_k) - \Delta G\,\gamma\bigr) . $$
//!
//! Lengths are in the metric of each contact's own block ($\lVert f\rVert^2 = \sum_i
//! f_i\cdot f_i/\rho_i$), so that masses of any size weigh alike. The least squares are m × m
//! normal equations, with columns scaled to length one and a small shift on the diagonal.
//!
//! **Safeguard**: the guess is measured by the judge's formula. If its relative residual is worse
//! than that of the swept impulses by more than [`Anderson::slack`] times (an unswept guess is
//! rough: some slack is needed), it is dropped, the sweep's result is kept and the memory is
//! cleared. After 200 steps without progress the solver goes back to the best impulses and makes
//! plain sweeps for a while. The best iterate of all counts in the end.
//!
//! **When to use it**: stacks, towers, piles that plain sweeps take thousands of iterations for;
//! it needs vectors only, no matrix. **When it fails**: where contacts keep changing between
//! stick and slip the past tells little of the future, and the memory is cleared often: then it is
//! the sweep again, at one and a half times its cost. The last digits come irregularly: two
//! problems that differ by a hair can take 1,000 and 4,000 iterations to 1e-8.
//!
//! The projected local solve is the default because its map is smoother than the exact one's,
//! which matters more here than that a single sweep does less.
//!
//! One step of the method is a sweep there and back: **two iterations**.
//!
//! Sources: D. G. Anderson, *Iterative procedures for nonlinear integral equations* (1965);
//! H. F. Walker, P. Ni, *Anderson acceleration for fixed-point iterations* (2011).

use super::relaxation::LocalSolve;
use super::sweep_loop::{Advice, Course, Forecast, Patience};
use super::{Limits, SolveReport, Solver, island};
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use serde::{Deserialize, Serialize};

/// Options of the Anderson-accelerated sweep. One iteration is one sweep, there or back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anderson {
    /// When to stop.
    pub limits: Limits,
    /// m: how many differences are remembered, at most [`MOST_MEMORY`].
    pub memory: usize,
    /// How many times worse than the swept impulses' relative residual a guess's may be.
    pub slack: f64,
    /// How a contact is solved.
    pub local: LocalSolve,
    /// Whether to stop early where the residual falls too slowly to get there in time: for those
    /// who know a stronger method.
    pub while_paying: bool,
}

/// The largest memory.
pub const MOST_MEMORY: usize = 64;

impl Default for Anderson {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            memory: 30,
            slack: 10.0,
            local: LocalSolve::Projected,
            while_paying: false,
        }
    }
}

impl<S: Space> Solver<S> for Anderson {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        island::solve_each("anderson", problem, impulses, |part, guess| {
            self.solve_island(part, guess)
        })
    }
}

impl Anderson {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut course = Course::new(self.limits, problem, impulses, self.local);
        let weights = (0..problem.rows.len())
            .map(|row| 1.0 / course.state.rho(row))
            .collect();
        let mut memory = Memory::<S>::new(self.memory.clamp(1, MOST_MEMORY), weights);
        let mut before = impulses.local.clone();
        let mut patience = Patience::new(before.len());
        let mut forecast = Forecast::new(self.limits);
        let mut swept = impulses.local.clone();
        let mut guess = impulses.local.clone();
        while !course.is_over() {
            before.copy_from_slice(&course.state.impulses.local);
            course.state.there_and_back();
            course.done += 2;
            let plain = course.measure();
            if course.done >= self.limits.iterations || !plain.is_finite() {
                break;
            }
            if self.while_paying && !forecast.is_in_time(plain, course.done) {
                break;
            }
            let state = &mut course.state;
            swept.copy_from_slice(&state.impulses.local);
            memory.push(&before, &swept);
            match patience.advise(plain, state) {
                Advice::Accelerate if memory.extrapolate(&swept, &mut guess) => {}
                Advice::Accelerate | Advice::Sweep => continue,
                Advice::Return => {
                    memory.clear();
                    continue;
                }
            }
            state.set(&guess);
            // Written so that a guess that is not a number is worse.
            let is_taken = state.measure().relative <= self.slack * plain.relative;
            if !is_taken {
                state.set(&swept);
                memory.clear();
            }
        }
        course.finish(impulses, "anderson")
    }
}

/// The last pairs of G(r) and f(r), as differences.
#[derive(Debug)]
struct Memory<S: Space> {
    /// 1/ρ of each contact, 1/kg: the metric.
    weights: Vec<f64>,
    /// Columns of ΔF and ΔG, N·s, in a ring of `columns`. They are made when first needed, at
    /// most once each: a solve that is done after a few sweeps does not pay for them.
    columns: usize,
    steps: Vec<Vec<S::Vector>>,
    images: Vec<Vec<S::Vector>>,
    /// ΔFᵀ ΔF, by rows.
    gram: Vec<f64>,
    /// f and G(r) of the last pair.
    last_step: Vec<S::Vector>,
    last_image: Vec<S::Vector>,
    /// Whether there is a last pair; how many columns are filled; which is overwritten next.
    has_last: bool,
    filled: usize,
    next: usize,
    /// Scratch: factor and right-hand side.
    factor: Vec<f64>,
    gamma: Vec<f64>,
}

impl<S: Space> Memory<S> {
    fn new(columns: usize, weights: Vec<f64>) -> Self {
        let zeros = vec![S::Vector::default(); weights.len()];
        Self {
            columns,
            steps: Vec::with_capacity(columns),
            images: Vec::with_capacity(columns),
            gram: vec![0.0; columns * columns],
            last_step: zeros.clone(),
            last_image: zeros,
            has_last: false,
            filled: 0,
            next: 0,
            factor: vec![0.0; columns * columns],
            gamma: vec![0.0; columns],
            weights,
        }
    }

    fn clear(&mut self) {
        self.filled = 0;
        self.next = 0;
        self.has_last = false;
    }

    /// Remembers that the sweep took `before` to `swept`.
    fn push(&mut self, before: &[S::Vector], swept: &[S::Vector]) {
        let columns = self.columns;
        if self.has_last {
            if self.next == self.steps.len() {
                self.steps.push(vec![S::Vector::default(); swept.len()]);
                self.images.push(vec![S::Vector::default(); swept.len()]);
            }
            let (step, image) = (&mut self.steps[self.next], &mut self.images[self.next]);
            for row in 0..swept.len() {
                step[row] = swept[row] - before[row] - self.last_step[row];
                image[row] = swept[row] - self.last_image[row];
            }
            self.filled = columns.min(self.filled + 1);
            for other in 0..self.filled {
                let product = self.product(&self.steps[other], &self.steps[self.next]);
                self.gram[self.next * columns + other] = product;
                self.gram[other * columns + self.next] = product;
            }
            self.next = (self.next + 1) % columns;
        }
        for row in 0..swept.len() {
            self.last_step[row] = swept[row] - before[row];
            self.last_image[row] = swept[row];
        }
        self.has_last = true;
    }

    /// G(r) − ΔG γ; false where there is nothing to go by.
    fn extrapolate(&mut self, swept: &[S::Vector], guess: &mut [S::Vector]) -> bool {
        if !self.fit() {
            return false;
        }
        guess.copy_from_slice(swept);
        for (image, &gamma) in self.images.iter().zip(&self.gamma[..self.filled]) {
            for (r, &d) in guess.iter_mut().zip(image) {
                *r -= d * gamma;
            }
        }
        true
    }

    /// Solves ΔFᵀΔF γ = ΔFᵀf by Cholesky, columns scaled to length one.
    fn fit(&mut self) -> bool {
        let (n, columns) = (self.filled, self.columns);
        for j in 0..n {
            self.gamma[j] = self.product(&self.steps[j], &self.last_step);
        }
        let scale = |gram: &[f64], j: usize| {
            let square = gram[j * columns + j];
            if square > 0.0 {
                1.0 / square.sqrt()
            } else {
                0.0
            }
        };
        for i in 0..n {
            for j in 0..=i {
                let both = scale(&self.gram, i) * scale(&self.gram, j);
                let mut sum = self.gram[i * columns + j] * both;
                if i == j {
                    sum = 1.0 + SHIFT;
                }
                for k in 0..j {
                    sum -= self.factor[i * columns + k] * self.factor[j * columns + k];
                }
                self.factor[i * columns + j] = if i == j {
                    sum.max(SHIFT).sqrt()
                } else {
                    sum / self.factor[j * columns + j]
                };
            }
        }
        for i in 0..n {
            let mut sum = self.gamma[i] * scale(&self.gram, i);
            for k in 0..i {
                sum -= self.factor[i * columns + k] * self.gamma[k];
            }
            self.gamma[i] = sum / self.factor[i * columns + i];
        }
        for i in (0..n).rev() {
            let mut sum = self.gamma[i];
            for k in i + 1..n {
                sum -= self.factor[k * columns + i] * self.gamma[k];
            }
            self.gamma[i] = sum / self.factor[i * columns + i];
        }
        for i in 0..n {
            self.gamma[i] *= scale(&self.gram, i);
        }
        n > 0 && self.gamma[..n].iter().all(|x| x.is_finite())
    }

    fn product(&self, x: &[S::Vector], y: &[S::Vector]) -> f64 {
        let terms = self.weights.iter().zip(x.iter().zip(y));
        terms.fold(0.0, |sum, (w, (&x, &y))| sum + w * x.dot(y))
    }
}

/// Added to the scaled diagonal of the normal equations, without unit: columns that are the same
/// to six digits do not blow up the fit.
const SHIFT: f64 = 1e-12;
