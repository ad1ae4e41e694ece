//! Parallel sweeps over an island of thousands of impacts.
//!
//! Contacts are taken along a curve that fills space (Morton's) and cut into **blocks**; those of a
//! block are swept one after the other, by one thread, with their nodes in its cache. Blocks are
//! coloured, each with the lowest colour that no block before it has with a node of its own; blocks
//! of a colour share no node, and threads share them out. The road not taken: colours of single
//! contacts. There are some forty, each goes through all of memory once a sweep, and threads meet
//! after each.
//!
//! # What is due
//!
//! Where sheets lie on each other nearly all contacts hang together, but most of them are settled
//! and stay so. A sweep solves a contact again only if one of its nodes has moved since it was last
//! solved: by a change of velocity at the contact of more than [`QUIET`] times the tolerance.
//! When nothing is due any more, the residual of all contacts is taken, and those above the
//! tolerance are due again. So a round that brings ten new impacts to an island of ten thousand
//! costs what moves around them. Moves are dated by sweep, colour and place in the block, not by
//! clock, so that what is due does not depend on the number of threads.

mod blocks;

use super::{NodeRow, Patience, nothing};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Motion;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Worker;
use crate::solver::SolveReport;
use blocks::{BLOCK, Blocks, Colour};

/// Part of the tolerance by which a contact's velocity may change without others being told.
const QUIET: f64 = 0.2;
/// Contacts for each thread at least: fewer are done before threads have met.
const PER_THREAD: usize = 4000;

/// Sweeps over what is due for each sweep over everything that may be made.
const PATIENT: u32 = 2;

/// Dates of before the first sweep: a contact that was never solved, one that was and the moves
/// that it knows of, and a move since.
const NEVER: u64 = 0;
const BEFORE: u64 = 1;
const SINCE: u64 = 2;

/// Solves an island whose nodes have the velocities that [`Patience::is_pushed`] tells and are at
/// `places`. `sorted` is memory.
pub(super) fn solve<S: Space>(
    rows: &mut [NodeRow<S>],
    (motion, places): (&SharedSlice<'_, Motion<S>>, &[S::Vector]),
    patience: Patience,
    sorted: &mut Vec<NodeRow<S>>,
) -> SolveReport {
    let threads = (patience.threads).clamp(1, rows.len().div_ceil(PER_THREAD).max(1));
    let Blocks { order, colours } = Blocks::new(rows, places);
    thread_pool::refill(sorted, (rows.len(), rows[0]), threads, |k| {
        rows[order[k] as usize]
    });
    let is_cold = sorted.iter().all(|row| row.impulse == S::Vector::default());
    let mut moved = vec![BEFORE; motion.len()];
    let mut solved = vec![BEFORE; sorted.len()];
    for (row, solved) in sorted.iter().zip(&mut solved).filter(|(row, _)| row.is_new) {
        *solved = NEVER;
        row.nodes().for_each(|k| moved[k] = SINCE);
    }
    let most = patience.most(is_cold);
    let budget = Budget {
        solves: sorted.len() as u64 * u64::from(most),
        sweeps: most.saturating_mul(PATIENT),
    };
    let (mut work, mut worst) = (vec![0; threads], vec![0.0; threads]);
    let sweeps = Sweeps {
        nodes: sorted.iter().map(four_nodes).collect(),
        rows: SharedSlice::new(sorted),
        motion,
        colours,
        moved: SharedSlice::new(&mut moved),
        solved: SharedSlice::new(&mut solved),
        work: SharedSlice::new(&mut work),
        worst: SharedSlice::new(&mut worst),
        tolerance: patience.tolerance,
    };
    let mut end = [nothing()];
    let last = SharedSlice::new(&mut end);
    thread_pool::run(threads, |worker| {
        if !patience.is_pushed {
            sweeps.push(worker);
        }
        let (sweep, residual) = sweeps.run(worker, budget);
        if worker.index() == 0 {
            last.change(0, |last| *last = patience.report(sweep, residual));
        }
    });
    for (row, &k) in sorted.iter().zip(&order) {
        rows[k as usize].impulse = row.impulse;
    }
    let [report] = end;
    report
}

/// What may be spent on an island at most.
#[derive(Clone, Copy)]
struct Budget {
    /// Solutions of one contact.
    solves: u64,
    sweeps: u32,
}

/// An island that is being swept.
struct Sweeps<'a, S: Space> {
    rows: SharedSlice<'a, NodeRow<S>>,
    motion: &'a SharedSlice<'a, Motion<S>>,
    colours: Vec<Colour>,
    /// Nodes of each contact, the first once more where there are fewer than four: read far more
    /// often than the rest of it.
    nodes: Vec<[u32; 4]>,
    /// When each node was last moved.
    moved: SharedSlice<'a, u64>,
    /// When each contact was last solved.
    solved: SharedSlice<'a, u64>,
    /// Contacts that each thread has solved.
    work: SharedSlice<'a, u64>,
    /// Largest residual that each thread has seen, m/s.
    worst: SharedSlice<'a, f64>,
    tolerance: f64,
}

impl<S: Space> Sweeps<'_, S> {
    /// Gives all nodes the impulses so far.
    fn push(&self, worker: &Worker<'_>) {
        for colour in &self.colours {
            for k in colour.share(worker).iter().cloned().flatten() {
                let row = self.rows.read(k);
                row.push(row.impulse, self.motion);
            }
            worker.wait();
        }
    }

    /// Sweeps until nothing is due or the budget is spent. Gives the number of sweeps and
    /// the residual, the same in all threads.
    fn run(&self, worker: &Worker<'_>, budget: Budget) -> (u32, f64) {
        let (mut sweep, mut done) = (0, 0);
        loop {
            let mut own = self.work.read(worker.index());
            let date = |at: usize| {
                let stage = u64::from(sweep) * self.colours.len() as u64 + at as u64;
                SINCE + 1 + stage * BLOCK as u64
            };
            if sweep % 2 == 0 {
                for (at, colour) in self.colours.iter().enumerate() {
                    for block in colour.share(worker) {
                        own += self.sweep(block.clone(), date(at));
                    }
                    worker.wait();
                }
            } else {
                for (at, colour) in self.colours.iter().rev().enumerate() {
                    for block in colour.share(worker).iter().rev() {
                        own += self.sweep(block.clone().rev(), date(at));
                    }
                    worker.wait();
                }
            }
            sweep += 1;
            self.work.write(worker.index(), own);
            worker.wait();
            let all: u64 = (0..self.work.len()).map(|k| self.work.read(k)).sum();
            // Nobody writes before all have read.
            worker.wait();
            let is_over = all >= budget.solves || sweep >= budget.sweeps;
            if is_over || all == done {
                let residual = self.judge(worker);
                if is_over || residual <= self.tolerance {
                    return (sweep, residual);
                }
            }
            done = all;
        }
    }

    /// Solves what is due of a block, one after the other, dated from `date` on. Gives how many that
    /// were.
    fn sweep(&self, block: impl Iterator<Item = usize>, date: u64) -> u64 {
        let mut count = 0;
        for k in block {
            let (nodes, solved) = (self.nodes[k], self.solved.read(k));
            let moved = nodes.map(|node| self.moved.read(node as usize));
            if moved.iter().all(|&moved| moved <= solved) {
                continue;
            }
            let now = date + count;
            count += 1;
            self.rows.change(k, |row| {
                let change = row.relax(self.motion).length();
                if change > QUIET * self.tolerance * row.mass {
                    for node in nodes {
                        self.moved.write(node as usize, now);
                    }
                }
            });
            self.solved.write(k, now);
        }
        count
    }

    /// The largest residual, m/s; contacts with more than the tolerance are due again.
    fn judge(&self, worker: &Worker<'_>) -> f64 {
        let mut worst = 0.0_f64;
        for k in worker.share(self.rows.len()) {
            let residual = self.rows.read(k).residual(self.motion);
            worst = worst.max(residual);
            if residual > self.tolerance {
                self.solved.write(k, NEVER);
            }
        }
        self.worst.write(worker.index(), worst);
        worker.wait();
        let threads = 0..self.worst.len();
        let worst = threads.fold(0.0, |most: f64, k| most.max(self.worst.read(k)));
        worker.wait();
        worst
    }
}

fn four_nodes<S: Space>(row: &NodeRow<S>) -> [u32; 4] {
    let is_one = |at: usize| at < usize::from(row.count);
    [0, 1, 2, 3].map(|at| row.nodes[if is_one(at) { at } else { 0 }])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PATIENCE, in_a_row, row_of_nodes};
    use super::*;
    use glamx::DVec3;

    /// Contacts that were solved before are swept again only where something moves.
    #[test]
    fn what_is_far_from_anything_new_keeps_its_impulse() {
        let (mut rows, mut motion) = row_of_nodes(3000, 0.0);
        for (k, row) in rows.iter_mut().enumerate().take(2999) {
            row.normal = DVec3::X;
            if k % 3 == 0 {
                row.add(k as u32 + 1, -1.0, 0.5).unwrap();
                row.mass = 1.0;
            }
        }
        for (k, motion) in motion.iter_mut().enumerate() {
            motion.linear = DVec3::X * (0.01 * k as f64);
        }
        let places = in_a_row(3000);
        let nodes = (&SharedSlice::new(&mut motion), &places[..]);
        solve(&mut rows, nodes, PATIENCE, &mut Vec::new());
        let before = rows.clone();
        rows.iter_mut().for_each(|row| row.is_new = false);
        rows[1501].is_new = true;
        rows[1501].target = 1.0;
        let again = Patience {
            is_pushed: true,
            sweeps: 1000,
            tolerance: 0.1,
            ..PATIENCE
        };
        let nodes = (&SharedSlice::new(&mut motion), &places[..]);
        let report = solve(&mut rows, nodes, again, &mut Vec::new());
        assert!(report.converged, "{report:?}");
        let has_changed = |k: usize| rows[k].impulse != before[k].impulse;
        assert!((1496..=1506).all(has_changed));
        assert!((0..1300).chain(1700..3000).all(|k| !has_changed(k)));
        let opening = motion[1501].linear.x - motion[1502].linear.x;
        assert!((opening - 1.0).abs() < 0.1, "{opening}");
    }

    /// A node that eighty others press on from all sides: more contacts than there are colours.
    #[test]
    fn a_node_with_more_contacts_than_colours_obeys_the_laws() {
        let answer = |threads: usize| {
            let (mut rows, mut motion) = row_of_nodes(200, 0.0);
            for row in &mut rows[..100] {
                row.count = 0;
                (row.weights, row.answers) = ([0.0; 4], [0.0; 4]);
                row.add(row.hit + 100, 1.0, 0.5).unwrap();
                row.add(0, -1.0, 0.5).unwrap();
                row.mass = 1.0;
            }
            rows.truncate(100);
            let patience = Patience {
                threads,
                ..PATIENCE
            };
            let shared = SharedSlice::new(&mut motion);
            let nodes = (&shared, &in_a_row(200)[..]);
            let report = solve(&mut rows, nodes, patience, &mut Vec::new());
            assert!(report.converged, "{report:?}");
            for row in &rows {
                let (gap, press) = (
                    row.velocity(&shared).dot(row.normal),
                    row.impulse.dot(row.normal),
                );
                assert!(gap > -1e-8 && press >= 0.0 && gap.min(press) < 1e-8);
            }
            motion
        };
        let alone = answer(1);
        assert!(answer(2) == alone && answer(3) == alone);
    }
}
