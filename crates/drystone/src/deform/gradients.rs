//! The system of implicit Euler of something large, solved by conjugate gradients.
//!
//! A factor of a large sheet does not fit any cache, and it is read twice for every solution. The
//! matrix itself is ten times smaller, and next to the masses it is not stiff: with the stiffness
//! ratio κ, the largest diagonal entry of H over the node's mass, conjugate gradients gain a digit
//! in about √κ iterations without help and in a third of that with a symmetric Gauss-Seidel sweep
//! as preconditioner. Contact solves one right side after the other, each near the last, so each
//! goes on from where the last one ended, and a few iterations do. Where κ is large the
//! [factorisation](super::implicit) is used instead.
//!
//! The unknown is the change of velocity x = v − v\*, as there. Iterations run in single precision,
//! on what double precision has left of the right side, and their answer is added in double
//! precision: half the memory, twice the lanes, and no digit lost in the end. The error is
//! measured as $r^T P^{-1} r$ (J, P the preconditioner), the energy that is missing or too much.
//!
//! Where a small error does no harm ([`Effort::Brisk`]) the iteration ends sooner, and what is left
//! of r as a whole is put into a common motion: $1^T(hD + h^2K) = 0$, so momentum is kept to rounding.
//!
//! Nodes are cut into eight domains whatever the number of threads. A sweep stays within a
//! domain, and sums are taken domain by domain, so the bits are the same for any number.

use super::element::Element;
use super::rows::{Block3, BlockRows, DOMAINS, Small3, brief, domain, rounded};
use crate::substep::crew::{self, Worker};
use crate::substep::shared::Shared;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Iterations at most: far more than κ allows to be needed.
const MOST: usize = 600;
/// Part of the error (J) after which single precision has given what it can.
const DIGITS: f64 = 1e-7;
/// Nodes for each thread at least: fewer are done before a thread has begun.
const PER_THREAD: usize = 500;

/// How well a system is to be solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effort {
    /// So many iterations at most, or until the error of velocity is a tenth of what it was.
    Some(usize),
    /// To the end: an error of velocity of [`SPEED`].
    Full,
    /// As well as can be seen: an error of velocity of [`BRISK_SPEED`], and none of momentum.
    Brisk,
}

/// Error of velocity (m/s, by the mean square) at which a system is solved.
const SPEED: f64 = 1e-7;
/// The same where micrometres a step do not matter.
const BRISK_SPEED: f64 = 1e-3;
/// The same at which even a brief solution has nothing left to do.
const BRIEF_SPEED: f64 = 1e-6;

/// Matrix, preconditioner and state of the iteration.
#[derive(Debug)]
pub(crate) struct Gradients {
    pub(crate) rows: BlockRows,
    /// h f of each node, N·s.
    push: Vec<[f64; 3]>,
    /// h f − (hD + h²K) v* of each node, N·s.
    base: Vec<[f64; 3]>,
    /// Mass of each node and what was added to it, kg; infinite for what nothing moves.
    mass: Vec<f64>,
    /// Inverse of the diagonal blocks with masses, 1/kg; 0 for what nothing moves.
    inverse: Vec<Small3>,
    /// What was added on the right of the last solution, N·s.
    extra: Vec<[f64; 3]>,
    /// x, m/s.
    change: Vec<[f64; 3]>,
    /// r, N·s.
    rest: Vec<[f64; 3]>,
    /// The vectors of [`Run`].
    vectors: [Vec<[f32; 4]>; 5],
    /// Mass of all that moves, kg.
    total_mass: f64,
    threads: usize,
}

impl Gradients {
    /// Finds the pattern. `None` if there is too much of it.
    pub(crate) fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let nothing = || vec![[0.0; 3]; nodes];
        Some(Self {
            rows: BlockRows::new(elements, nodes)?,
            push: nothing(),
            base: nothing(),
            mass: vec![0.0; nodes],
            inverse: vec![[0.0; 12]; nodes],
            extra: nothing(),
            change: nothing(),
            rest: nothing(),
            vectors: std::array::from_fn(|_| vec![[0.0; 4]; nodes]),
            total_mass: 0.0,
            threads: 1,
        })
    }

    /// Writes hD + h²K and h f down. Nodes are at these places (m) and have these masses (kg),
    /// infinite where nothing moves them. Gives κ.
    pub(crate) fn linearise(
        &mut self,
        places: &[[f64; 3]],
        masses: impl Iterator<Item = f64>,
        dt: f64,
        threads: u32,
    ) -> f64 {
        let nodes = self.rows.len();
        self.threads = (threads as usize).clamp(1, (nodes / PER_THREAD).clamp(1, DOMAINS));
        self.rows
            .linearise(places, [dt, dt * dt], &mut self.push, self.threads);
        self.set_masses(masses);
        let moving = self.mass.iter().filter(|mass| mass.is_finite());
        self.total_mass = moving.sum();
        let ratio = |node: usize| self.weight(node) / self.mass[node];
        (0..nodes)
            .filter(|&node| self.mass[node].is_finite())
            .map(ratio)
            .fold(
                0.0,
                |most: f64, ratio| if ratio > most { ratio } else { most },
            )
    }

    /// Sets the masses of nodes in kg, infinite where nothing moves them.
    pub(crate) fn set_masses(&mut self, masses: impl Iterator<Item = f64>) {
        self.mass.clear();
        self.mass.extend(masses);
    }

    /// Diagonal of H, averaged over a node's unknowns, kg.
    pub(crate) fn weight(&self, node: usize) -> f64 {
        let own = self.rows.own(node);
        self.mass[node] + (own[0] + own[4] + own[8]) / 3.0
    }

    /// Adds `extra` kg on the diagonal of a node.
    pub(crate) fn add_mass(&mut self, node: usize, extra: f64) {
        self.mass[node] += extra;
    }

    /// Gets ready to solve with what was added: from the velocities v* (m/s) and a guess of v.
    /// `false` if numbers are none.
    pub(crate) fn begin(
        &mut self,
        starred: impl Fn(usize) -> [f64; 3] + Sync,
        guess: impl Fn(usize) -> [f64; 3] + Sync,
    ) -> bool {
        let nodes = self.rows.len();
        let (mass, push) = (&self.mass, &self.push);
        let (rows, copy) = self.rows.rounding();
        let base = Shared::new(&mut self.base);
        let inverses = Shared::new(&mut self.inverse);
        let change = Shared::new(&mut self.change);
        let rest = Shared::new(&mut self.rest);
        let is_finite = AtomicBool::new(true);
        crew::run(self.threads, |worker| {
            copy.write(rows, worker);
            for node in worker.share(DOMAINS).flat_map(|k| domain(nodes, k)) {
                let held = mass[node].is_infinite();
                let own = if held {
                    [0.0; 12]
                } else {
                    rounded(&inverse(rows.own(node), mass[node]))
                };
                let resisted = rows.times(node, &starred);
                let pushed = sum(push[node], resisted, -1.0);
                let all = pushed.iter().all(|x| x.is_finite());
                if !(all && own.iter().all(|x| x.is_finite())) {
                    is_finite.store(false, Ordering::Relaxed);
                }
                inverses.write(node, own);
                base.write(node, pushed);
                let guessed = if held {
                    [0.0; 3]
                } else {
                    sum(guess(node), starred(node), -1.0)
                };
                change.write(node, guessed);
            }
            worker.wait();
            for node in worker.share(DOMAINS).flat_map(|k| domain(nodes, k)) {
                let product = rows.times(node, |k| change.read(k));
                let own = if mass[node].is_finite() {
                    mass[node]
                } else {
                    0.0
                };
                let product = sum(product, change.read(node), own);
                rest.write(node, sum(base.read(node), product, -1.0));
            }
        });
        self.extra.fill([0.0; 3]);
        is_finite.into_inner()
    }

    /// The impulse of elastic forces on a node at these velocities after the step, N·s.
    pub(crate) fn impulse(&self, node: usize, velocity: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        sum(self.push[node], self.rows.times(node, velocity), -1.0)
    }

    /// x of every node, where (H + X) v = M v\* + h f + `extra` + X v\* and X is what was added on
    /// the diagonal. `extra` in N·s.
    pub(crate) fn solve(
        &mut self,
        extra: impl Fn(usize) -> [f64; 3],
        effort: Effort,
    ) -> &[[f64; 3]] {
        for node in 0..self.rows.len() {
            let now = extra(node);
            let change = sum(now, self.extra[node], -1.0);
            self.rest[node] = sum(self.rest[node], change, 1.0);
            self.extra[node] = now;
        }
        let (most, shrink, speed) = match effort {
            Effort::Some(most) => (most, 0.01, BRIEF_SPEED),
            Effort::Full => (MOST, DIGITS, SPEED),
            Effort::Brisk => (MOST, DIGITS, BRISK_SPEED),
        };
        let [rest, small_change, sweep, direction, product] = &mut self.vectors;
        let (mut errors, mut curvatures) = ([0.0; DOMAINS], [0.0; DOMAINS]);
        let run = Run {
            rows: &self.rows,
            mass: &self.mass,
            inverse: &self.inverse,
            change: Shared::new(&mut self.change),
            rest: Shared::new(&mut self.rest),
            small_rest: Shared::new(rest),
            small_change: Shared::new(small_change),
            sweep: Shared::new(sweep),
            direction: Shared::new(direction),
            product: Shared::new(product),
            errors: Shared::new(&mut errors),
            curvatures: Shared::new(&mut curvatures),
        };
        let floor = speed * speed * self.total_mass;
        crew::run(self.threads, |worker| {
            let mut left = most;
            loop {
                let done = run.iterate(worker, left, shrink, floor);
                run.add_up(worker);
                left = left.saturating_sub(done);
                if done == 0 || left == 0 || effort != Effort::Full {
                    break;
                }
            }
        });
        if effort == Effort::Brisk {
            self.balance();
        }
        &self.change
    }

    /// Moves something free as a whole, so that nothing is left of r as a whole: forces within it
    /// do not move its centre of mass, however well they are known.
    fn balance(&mut self) {
        if self.mass.iter().any(|mass| mass.is_infinite()) {
            return;
        }
        let rest = (self.rest.iter()).fold([0.0; 3], |all, &rest| sum(all, rest, 1.0));
        let mass: f64 = self.mass.iter().sum();
        let shift = rest.map(|p| p / mass);
        for ((change, rest), mass) in self.change.iter_mut().zip(&mut self.rest).zip(&self.mass) {
            *change = sum(*change, shift, 1.0);
            *rest = sum(*rest, shift, -mass);
        }
    }
}

/// One solution, on several threads. Between two waits a thread writes nothing but its own domains.
struct Run<'a> {
    rows: &'a BlockRows,
    mass: &'a [f64],
    inverse: &'a [Small3],
    /// x and r in double precision.
    change: Shared<'a, [f64; 3]>,
    rest: Shared<'a, [f64; 3]>,
    /// What the iterations have left of r, and what they add to x.
    small_rest: Shared<'a, [f32; 4]>,
    small_change: Shared<'a, [f32; 4]>,
    /// P⁻¹r, p and Hp.
    sweep: Shared<'a, [f32; 4]>,
    direction: Shared<'a, [f32; 4]>,
    product: Shared<'a, [f32; 4]>,
    /// Share of each domain in rᵀP⁻¹r and in pᵀHp.
    errors: Shared<'a, f64>,
    curvatures: Shared<'a, f64>,
}

impl Run<'_> {
    /// Iterates until the error is below `floor` (J) or `shrink` times what it was, and gives the
    /// number of iterations: the same in all threads.
    fn iterate(&self, worker: &Worker<'_>, most: usize, shrink: f64, floor: f64) -> usize {
        let domains = worker.share(DOMAINS);
        let own = || domains.clone().flat_map(|k| self.nodes(k));
        for node in own() {
            let [x, y, z] = self.rest.read(node).map(|x| x as f32);
            self.small_rest.write(node, [x, y, z, 0.0]);
            self.small_change.write(node, [0.0; 4]);
            self.direction.write(node, [0.0; 4]);
        }
        let (mut last, mut goal) = (f64::INFINITY, floor);
        for iteration in 0..=most {
            for domain in domains.clone() {
                self.errors.write(domain, self.precondition(domain));
            }
            worker.wait();
            let error: f64 = (0..DOMAINS).map(|k| self.errors.read(k)).sum();
            if iteration == 0 {
                goal = floor.max(shrink * error);
            }
            // Written so that what is no number ends it too.
            let goes_on = error > goal && iteration < most;
            if !goes_on {
                return iteration;
            }
            let turn = (error / last) as f32;
            last = error;
            for node in own() {
                let new = sum4(self.sweep.read(node), self.direction.read(node), turn);
                self.direction.write(node, new);
            }
            worker.wait();
            for domain in domains.clone() {
                self.curvatures.write(domain, self.multiply(domain));
            }
            worker.wait();
            let curvature: f64 = (0..DOMAINS).map(|k| self.curvatures.read(k)).sum();
            let step = (error / curvature) as f32;
            for node in own() {
                let (change, rest) = (self.small_change.read(node), self.small_rest.read(node));
                let along = self.direction.read(node);
                self.small_change.write(node, sum4(change, along, step));
                let product = self.product.read(node);
                self.small_rest.write(node, sum4(rest, product, -step));
            }
        }
        most
    }

    /// Adds what iterations found to x, and takes what it does off r, in double precision.
    fn add_up(&self, worker: &Worker<'_>) {
        worker.wait();
        let found = |node: usize| {
            let [x, y, z, _] = self.small_change.read(node).map(f64::from);
            [x, y, z]
        };
        for node in worker.share(DOMAINS).flat_map(|k| self.nodes(k)) {
            if self.mass[node].is_infinite() {
                continue;
            }
            let own = found(node);
            self.change
                .write(node, sum(self.change.read(node), own, 1.0));
            let product = sum(self.rows.times(node, found), own, self.mass[node]);
            self.rest
                .write(node, sum(self.rest.read(node), product, -1.0));
        }
        worker.wait();
    }

    fn nodes(&self, k: usize) -> Range<usize> {
        domain(self.mass.len(), k)
    }

    /// Sweeps a domain there and back; its share of rᵀP⁻¹r.
    fn precondition(&self, domain: usize) -> f64 {
        let nodes = self.nodes(domain);
        let z = |k: usize| self.sweep.read(k);
        for node in nodes.clone() {
            let before = self.rows.brief_before(node, z);
            let rest = sum4(self.small_rest.read(node), before, -1.0);
            self.sweep.write(node, brief(&self.inverse[node], rest));
        }
        let mut error = 0.0;
        for node in nodes.rev() {
            let after = self.rows.brief_after(node, z);
            let own = sum4(z(node), brief(&self.inverse[node], after), -1.0);
            self.sweep.write(node, own);
            error += dot4(self.small_rest.read(node), own);
        }
        error
    }

    /// H p of a domain; its share of pᵀHp.
    fn multiply(&self, domain: usize) -> f64 {
        let p = |k: usize| self.direction.read(k);
        let mut curvature = 0.0;
        for node in self.nodes(domain) {
            let mass = self.mass[node];
            if mass.is_infinite() {
                self.product.write(node, [0.0; 4]);
                continue;
            }
            let along = p(node);
            let product = sum4(self.rows.brief_times(node, p), along, mass as f32);
            self.product.write(node, product);
            curvature += dot4(along, product);
        }
        curvature
    }
}

#[inline(always)]
fn sum(a: [f64; 3], b: [f64; 3], factor: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| a[k] + factor * b[k])
}

#[inline(always)]
fn sum4(a: [f32; 4], b: [f32; 4], factor: f32) -> [f32; 4] {
    let mut sum = a;
    for (sum, b) in sum.iter_mut().zip(b) {
        *sum += factor * b;
    }
    sum
}

/// Of all four, though the last is 0: what is not used is not worked out together.
#[inline(always)]
fn dot4(a: [f32; 4], b: [f32; 4]) -> f64 {
    f64::from(a[0]) * f64::from(b[0])
        + f64::from(a[1]) * f64::from(b[1])
        + f64::from(a[2]) * f64::from(b[2])
        + f64::from(a[3]) * f64::from(b[3])
}

/// The inverse of a symmetric block with a mass on its diagonal.
fn inverse(block: &Block3, mass: f64) -> Block3 {
    let mut matrix = glamx::DMat3::from_cols_array(block);
    for axis in 0..3 {
        matrix.col_mut(axis)[axis] += mass;
    }
    matrix.inverse().to_cols_array()
}
