//! Implicit Euler of a large deformable by conjugate gradients.
//!
//! A factor of a large sheet does not fit any cache, and it is read twice for every solution. The
//! matrix itself is ten times smaller, and next to the masses it is not stiff: with the stiffness
//! ratio κ, the largest diagonal entry of H over the node's mass, conjugate gradients gain a digit
//! in about √κ iterations without help and in a third of that with a symmetric Gauss-Seidel sweep
//! as preconditioner. Contact solves one right side after the other, each near the last, so each
//! goes on from where the last one ended, and a few iterations do. Where κ is large the
//! [factorisation](super::implicit_euler) is used instead.
//!
//! The unknown is the change of velocity x = v − v\*, as there. Iterations run in single precision,
//! on what double precision has left of the right side, and their answer is added in double
//! precision: half the memory, twice the lanes, and no digit lost in the end. The error is
//! measured as $r^T P^{-1} r$ (J, P the preconditioner), the energy that is missing or too much.
//!
//! Where a small error does no harm ([`Effort::Brisk`]) the iteration ends sooner, and what is left
//! of r as a whole is put into a common motion: $1^T(hD + h^2K) = 0$, so momentum is kept to rounding.
//!
//! Nodes are cut into domains whatever the number of threads. A sweep stays within a domain, eight
//! domains are swept abreast ([`super::domain_lanes`], [`super::eisenstat`]), and sums are taken team by
//! team, so the bits are the same for any number.

use super::block_rows::{BlockRows, DOMAINS, Own, domain};
use super::domain_lanes::{Row, Teams};
use super::eisenstat::{self, Vectors};
use crate::math::algebra::D3;
use crate::math::simd::Instructions;
use crate::model::deformable::element::Element;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Worker;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Iterations at most: far more than κ allows to be needed.
const MOST: usize = 2000;
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
    /// The same with masses in single precision.
    teams: Teams,
    /// Whether links of this step are in there, and of which steps its far entries are.
    is_copied: bool,
    copied_step: [f64; 2],
    /// h f of each node, N·s.
    push: Vec<[f64; 3]>,
    /// Mass of each node and what was added to it, kg; infinite for what nothing moves.
    mass: Vec<f64>,
    is_mass_added: bool,
    /// What was added on the right of the last solution, N·s; empty if nothing was.
    extra: Vec<[f64; 3]>,
    /// The velocities that solutions start from, m/s.
    aim: Vec<[f64; 3]>,
    /// x, m/s.
    change: Vec<[f64; 3]>,
    /// r, N·s.
    rest: Vec<[f64; 3]>,
    /// The vectors of an iteration, and its answer node by node.
    vectors: [Vec<Row>; 6],
    found: Vec<[f32; 3]>,
    /// Mass of all that moves, kg.
    total_mass: f64,
    threads: usize,
    pub(crate) instructions: Instructions,
}

impl Gradients {
    /// Finds the pattern. `None` if there is too much of it.
    pub(crate) fn new(elements: &[Element], nodes: usize, effort: Effort) -> Option<Self> {
        Self::in_teams(elements, nodes, Teams::count(nodes, effort))
    }

    /// Whether it is arranged for another effort.
    pub(crate) fn is_for_another(&self, effort: Effort) -> bool {
        self.teams.len() != Teams::count(self.rows.len(), effort)
    }

    /// The same for so many teams.
    pub(crate) fn in_teams(elements: &[Element], nodes: usize, teams: usize) -> Option<Self> {
        let nothing = || vec![[0.0; 3]; nodes];
        let rows = BlockRows::new(elements, nodes)?;
        let teams = Teams::new(&rows.exact(), teams);
        Some(Self {
            vectors: std::array::from_fn(|_| vec![Row::default(); teams.row_count()]),
            found: vec![[0.0; 3]; nodes],
            teams,
            rows,
            is_copied: false,
            copied_step: [0.0; 2],
            push: nothing(),
            mass: vec![0.0; nodes],
            is_mass_added: false,
            extra: Vec::new(),
            aim: nothing(),
            change: nothing(),
            rest: nothing(),
            total_mass: 0.0,
            threads: 1,
            instructions: Instructions::best(),
        })
    }

    /// Writes hD + h²K and h f down. Nodes are at these places (m) and have these masses (kg),
    /// infinite where nothing moves them. Gives κ.
    pub(crate) fn linearise(
        &mut self,
        places: &[[f64; 3]],
        masses: impl Fn(usize) -> f64 + Sync,
        dt: f64,
        threads: u32,
    ) -> f64 {
        let nodes = self.rows.len();
        self.threads = (threads as usize).clamp(1, (nodes / PER_THREAD).clamp(1, DOMAINS));
        self.is_copied = false;
        self.is_mass_added = false;
        let mass = SharedSlice::new(&mut self.mass);
        // Numbers that are not negative rise as their bits do.
        let most = AtomicU64::new(0);
        let crew = (self.threads, self.instructions);
        let step = [dt, dt * dt];
        (self.rows).linearise(places, step, &mut self.push, crew, |node, own| {
            let of_node = masses(node);
            mass.write(node, of_node);
            let ratio = (of_node + mean(own)) / of_node;
            if ratio > f64::from_bits(most.load(Ordering::Relaxed)) {
                most.fetch_max(ratio.to_bits(), Ordering::Relaxed);
            }
        });
        let moving = self.mass.iter().filter(|mass| mass.is_finite());
        self.total_mass = moving.sum();
        f64::from_bits(most.into_inner())
    }

    /// Takes off what was added to these masses of nodes (kg), infinite where nothing moves them.
    pub(crate) fn take_added(&mut self, masses: impl Iterator<Item = f64>) {
        if self.is_mass_added {
            self.is_mass_added = false;
            self.mass.clear();
            self.mass.extend(masses);
        }
    }

    /// Diagonal of H, averaged over a node's unknowns, kg.
    pub(crate) fn weight(&self, node: usize) -> f64 {
        self.mass[node] + mean(self.rows.own(node))
    }

    /// Adds `extra` kg on the diagonal of a node.
    pub(crate) fn add_mass(&mut self, node: usize, extra: f64) {
        self.mass[node] += extra;
        self.is_mass_added = true;
    }

    /// Gets ready to solve with what was added: from the velocities v* (m/s) and a guess of v.
    /// `false` if numbers are none.
    pub(crate) fn begin(
        &mut self,
        starred: impl Fn(usize) -> [f64; 3] + Sync,
        guess: impl Fn(usize) -> [f64; 3] + Sync,
    ) -> bool {
        let (mass, push) = (&self.mass, &self.push);
        let rows = self.rows.exact();
        let (nodes, row_count) = (rows.len(), self.teams.row_count());
        let (is_new, step) = (!self.is_copied, self.rows.step());
        let is_far_new = self.copied_step != step;
        (self.is_copied, self.copied_step) = (true, step);
        self.extra.clear();
        let copy = self.teams.writing();
        let aim = SharedSlice::new(&mut self.aim);
        let change = SharedSlice::new(&mut self.change);
        let rest = SharedSlice::new(&mut self.rest);
        let is_finite = AtomicBool::new(true);
        thread_pool::run(self.threads, |worker| {
            let mut are_numbers = true;
            if is_new {
                copy.copy(rows, is_far_new, worker);
            }
            for row in worker.share(row_count) {
                are_numbers &= copy.set_diagonal(row, |node| {
                    let held = mass[node].is_infinite();
                    (!held).then(|| with_inverse(rows.own(node), mass[node]))
                });
            }
            for node in worker.share(nodes) {
                let start = starred(node);
                let held = mass[node].is_infinite();
                let end = if held { start } else { guess(node) };
                aim.write(node, end);
                change.write(node, sum(end, start, -1.0));
            }
            worker.wait();
            for node in worker.share(nodes) {
                let resisted = rows.times(node, |k| aim.read(k));
                let held = mass[node].is_infinite();
                let own = if held { 0.0 } else { mass[node] };
                let pushed = sum(push[node], resisted, -1.0);
                let left = sum(pushed, change.read(node), -own);
                are_numbers &= left.iter().all(|x| x.is_finite());
                rest.write(node, left);
            }
            if !are_numbers {
                is_finite.store(false, Ordering::Relaxed);
            }
        });
        is_finite.into_inner()
    }

    /// The impulse of elastic forces on a node at these velocities after the step, N·s.
    pub(crate) fn impulse(&self, node: usize, velocity: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        sum(self.push[node], self.rows.times(node, velocity), -1.0)
    }

    /// Puts `extra` (N·s, empty for nothing) on the right, in the place of what was there.
    fn set_extra(&mut self, extra: &[[f64; 3]]) {
        if extra.is_empty() && self.extra.is_empty() {
            return;
        }
        self.extra.resize(self.rest.len(), [0.0; 3]);
        let (before, rest) = (
            SharedSlice::new(&mut self.extra),
            SharedSlice::new(&mut self.rest),
        );
        thread_pool::run_over(rest.len(), self.threads, |nodes| {
            for node in nodes {
                let now = extra.get(node).copied().unwrap_or_default();
                let change = sum(now, before.read(node), -1.0);
                rest.change(node, |rest| *rest = sum(*rest, change, 1.0));
                before.write(node, now);
            }
        });
    }

    /// x of every node, where (H + X) v = M v\* + h f + `extra` + X v\* and X is what was added on
    /// the diagonal. `extra` in N·s, or empty. After a brisk solution r is not known any more:
    /// another one has to begin anew.
    pub(crate) fn solve(&mut self, extra: &[[f64; 3]], effort: Effort) -> &[[f64; 3]] {
        self.set_extra(extra);
        let (most, shrink, speed) = match effort {
            Effort::Some(most) => (most, 0.01, BRIEF_SPEED),
            Effort::Full => (MOST, DIGITS, SPEED),
            Effort::Brisk => (MOST, DIGITS, BRISK_SPEED),
        };
        let [rest, change, direction, sweep, crossing, answer] = &mut self.vectors;
        let [mut errors, mut curvatures] = [(); 2].map(|()| vec![0.0; self.teams.len()]);
        let mut sums = [[0.0; 4]; DOMAINS];
        let run = Run {
            rows: &self.rows,
            teams: &self.teams,
            mass: &self.mass,
            change: SharedSlice::new(&mut self.change),
            rest: SharedSlice::new(&mut self.rest),
            found: SharedSlice::new(&mut self.found),
            vectors: Vectors {
                rest: SharedSlice::new(rest),
                change: SharedSlice::new(change),
                direction: SharedSlice::new(direction),
                sweep: SharedSlice::new(sweep),
                crossing: SharedSlice::new(crossing),
                answer: SharedSlice::new(answer),
            },
            errors: SharedSlice::new(&mut errors),
            curvatures: SharedSlice::new(&mut curvatures),
            sums: SharedSlice::new(&mut sums),
            instructions: self.instructions,
        };
        let floor = speed * speed * self.total_mass;
        thread_pool::run(self.threads, |worker| {
            if effort == Effort::Brisk {
                run.iterate(worker, most, shrink, floor);
                run.add_up_balanced(worker);
                return;
            }
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
        &self.change
    }
}

/// One solution, on several threads. Between two waits a thread writes nothing but its own teams,
/// or its own domains.
struct Run<'a> {
    rows: &'a BlockRows,
    teams: &'a Teams,
    mass: &'a [f64],
    /// x and r in double precision.
    change: SharedSlice<'a, [f64; 3]>,
    rest: SharedSlice<'a, [f64; 3]>,
    /// What iterations add to x.
    found: SharedSlice<'a, [f32; 3]>,
    vectors: Vectors<'a>,
    /// Share of each team in rᵀP⁻¹r and in pᵀHp.
    errors: SharedSlice<'a, f64>,
    curvatures: SharedSlice<'a, f64>,
    /// What is left of r in each domain (N·s), and its mass (kg).
    sums: SharedSlice<'a, [f64; 4]>,
    instructions: Instructions,
}

impl Run<'_> {
    /// Iterates until the error is below `floor` (J) or `shrink` times what it was, and gives the
    /// number of iterations: the same in all threads.
    fn iterate(&self, worker: &Worker<'_>, most: usize, shrink: f64, floor: f64) -> usize {
        let Self { teams, vectors, .. } = self;
        let own = worker.share(teams.len());
        let total = |shares: &SharedSlice<'_, f64>| -> f64 {
            worker.wait();
            (0..teams.len()).map(|k| shares.read(k)).sum()
        };
        for team in own.clone() {
            let mut sum = 0.0;
            self.load(team);
            eisenstat::begin::<D3>(
                self.instructions,
                teams,
                teams.rows(team),
                vectors,
                &mut sum,
            );
            self.errors.write(team, sum);
        }
        let mut error = total(&self.errors);
        let (mut last, goal) = (f64::INFINITY, floor.max(shrink * error));
        let mut done = 0;
        // Written so that what is no number ends it too.
        while error > goal && done < most {
            let turn = (error / last) as f32;
            for team in own.clone() {
                eisenstat::back::<D3>(self.instructions, teams, teams.rows(team), vectors, turn);
            }
            worker.wait();
            for team in own.clone() {
                let mut sum = 0.0;
                teams
                    .crossings
                    .cross(team, &vectors.sweep, &vectors.crossing);
                let rows = teams.rows(team);
                eisenstat::forth::<D3>(self.instructions, teams, rows, vectors, &mut sum);
                self.curvatures.write(team, sum);
            }
            let size = (error / total(&self.curvatures)) as f32;
            for team in own.clone() {
                let (mut sum, which) = (0.0, (*teams, teams.rows(team)));
                eisenstat::step::<D3>(self.instructions, which, vectors, size, &mut sum);
                self.errors.write(team, sum);
            }
            (last, error) = (error, total(&self.errors));
            done += 1;
        }
        for (row, lane, node) in own.flat_map(|team| self.seats(team)) {
            let change = vectors.change.read(row);
            self.found
                .write(node, [0, 1, 2].map(|axis: usize| change[axis].0[lane]));
        }
        done
    }

    /// Row, lane and node of everything in a team.
    fn seats(&self, team: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let teams = self.teams;
        let of_row = move |row: usize| teams.nodes(row).map(move |(lane, node)| (row, lane, node));
        teams.rows(team).flat_map(of_row)
    }

    /// Puts r where [`eisenstat::begin`] looks for it, and nothing elsewhere.
    fn load(&self, team: usize) {
        let Vectors {
            change,
            direction,
            crossing,
            answer,
            ..
        } = &self.vectors;
        for row in self.teams.rows(team) {
            for vector in [change, direction, crossing, answer] {
                vector.write(row, Row::default());
            }
        }
        for (row, lane, node) in self.seats(team) {
            let rest = self.rest.read(node);
            answer.change(row, |columns| {
                for (column, x) in columns.iter_mut().zip(rest) {
                    column.0[lane] = x as f32;
                }
            });
        }
    }

    /// Adds what iterations found to x, and takes what it does off r, in double precision.
    fn add_up(&self, worker: &Worker<'_>) {
        worker.wait();
        let found = |node: usize| self.found.read(node).map(f64::from);
        let nodes = self.mass.len();
        for node in worker.share(DOMAINS).flat_map(|k| domain(nodes, k)) {
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

    /// Adds what iterations found to x, and moves something free as a whole, so that nothing is
    /// left of r as a whole: forces within it do not move its centre of mass, however well they
    /// are known, and so they need not be known for that.
    fn add_up_balanced(&self, worker: &Worker<'_>) {
        worker.wait();
        let found = |node: usize| self.found.read(node).map(f64::from);
        let nodes = self.mass.len();
        for k in worker.share(DOMAINS) {
            let mut sums = [0.0; 4];
            for node in domain(nodes, k) {
                let (rest, mass) = (self.rest.read(node), self.mass[node]);
                let left = sum(rest, found(node), -mass);
                sums = [
                    sums[0] + left[0],
                    sums[1] + left[1],
                    sums[2] + left[2],
                    sums[3] + mass,
                ];
            }
            self.sums.write(k, sums);
        }
        worker.wait();
        let of_all = |axis: usize| -> f64 { (0..DOMAINS).map(|k| self.sums.read(k)[axis]).sum() };
        let mass = of_all(3);
        let shift = if mass.is_finite() {
            [0, 1, 2].map(|axis| of_all(axis) / mass)
        } else {
            [0.0; 3]
        };
        for node in worker.share(nodes) {
            if self.mass[node].is_finite() {
                let own = sum(found(node), shift, 1.0);
                self.change
                    .change(node, |change| *change = sum(*change, own, 1.0));
            }
        }
    }
}

#[inline(always)]
fn sum(a: [f64; 3], b: [f64; 3], factor: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| a[k] + factor * b[k])
}

/// Of a block's diagonal.
fn mean(own: &Own) -> f64 {
    (own[0] + own[1] + own[2]) / 3.0
}

/// A symmetric block with a mass on its diagonal, and the inverse.
#[inline]
fn with_inverse(own: &Own, mass: f64) -> [Own; 2] {
    let [xx, yy, zz, xy, xz, yz] = *own;
    let [xx, yy, zz] = [xx + mass, yy + mass, zz + mass];
    let minors = [
        yy * zz - yz * yz,
        xx * zz - xz * xz,
        xx * yy - xy * xy,
        xz * yz - xy * zz,
        xy * yz - xz * yy,
        xy * xz - xx * yz,
    ];
    let scale = 1.0 / (xx * minors[0] + xy * minors[3] + xz * minors[4]);
    [[xx, yy, zz, xy, xz, yz], minors.map(|minor| minor * scale)]
}
