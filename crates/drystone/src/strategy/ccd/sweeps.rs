//! Gauss-Seidel sweeps over impacts of nodes with their own masses.
//!
//! Projected Gauss-Seidel as in [`crate::solver::pgs`], for contacts whose sides do not turn. All
//! masses are the same along all axes, so a contact's diagonal block is a number,
//! $A = \sum_i w_i^2/m_i$, with weights w that are negative on the first side; normal and friction
//! do not disturb each other, no axes in the plane of contact are needed, and impulses and
//! velocities stay in world axes:
//!
//! $$ \gamma_N \leftarrow \max\Bigl(0,\ \gamma_N - \frac{u_N - t}{A}\Bigr), \qquad
//!    \gamma_T \leftarrow P_{\lVert\cdot\rVert\le\mu\gamma_N}\Bigl(\gamma_T - \frac{u_T}{A}\Bigr) . $$
//!
//! # Threads
//!
//! Islands do not meet; threads take them up one after the other. A **large** island is swept by
//! all of them together ([`large_islands`]). Which islands are large does not depend on the number of
//! threads, so neither do the bits.

mod large_islands;

use crate::contact::problem::Island;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Motion;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::solver::SolveReport;
use std::ops::Range;

/// Sweeps between two looks at the residual.
const SWEEPS_PER_LOOK: u32 = 8;
/// How many times the sweeps an island gets that starts from nothing.
const COLD: u32 = 20;
/// Contacts from which on an island is swept by several threads together.
pub(super) const LARGE: usize = 1500;
/// Contacts of small islands that a thread takes up at a time.
const PIECE: usize = 256;

/// A contact of nodes, with what does not move by impulses on the other side or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeRow<S: Space> {
    /// Which impact it is.
    pub(super) hit: u32,
    /// Whether it is new since its island was last solved, or seen with new eyes.
    pub(super) is_new: bool,
    /// Nodes that move.
    pub(super) count: u8,
    pub(super) nodes: [u32; 4],
    /// How much of each node's velocity is in the contact's.
    pub(super) weights: [f64; 4],
    /// What an impulse of 1 N·s does to each node, 1/kg.
    pub(super) answers: [f64; 4],
    /// 1/A, kg.
    pub(super) mass: f64,
    pub(super) mu: f64,
    /// Least normal velocity, m/s.
    pub(super) target: f64,
    pub(super) normal: S::Vector,
    /// The contact's velocity by what does not move by impulses, m/s.
    pub(super) drift: S::Vector,
    /// On the second side, N·s.
    pub(super) impulse: S::Vector,
}

impl<S: Space> NodeRow<S> {
    /// An impact that no node takes part in yet.
    pub(super) fn new(hit: u32, normal: S::Vector, mu: f64) -> Self {
        Self {
            hit,
            is_new: true,
            count: 0,
            nodes: [0; 4],
            weights: [0.0; 4],
            answers: [0.0; 4],
            mass: 0.0,
            mu,
            target: 0.0,
            normal,
            drift: S::Vector::default(),
            impulse: S::Vector::default(),
        }
    }

    /// Adds a node that an impulse of 1 N·s gives a velocity of `answer` (1/kg); `None` where there
    /// is no room.
    pub(super) fn add(&mut self, node: u32, weight: f64, answer: f64) -> Option<()> {
        let known = self.nodes.iter().take(self.count as usize);
        let at = known.clone().position(|&k| k == node);
        let at = at.unwrap_or(self.count as usize);
        *self.nodes.get_mut(at)? = node;
        self.count = self.count.max(at as u8 + 1);
        self.weights[at] += weight;
        self.answers[at] += weight * answer;
        Some(())
    }

    /// The nodes that move.
    #[inline]
    pub(super) fn nodes(&self) -> impl Iterator<Item = usize> {
        let count = self.count as usize;
        self.nodes.into_iter().take(count).map(|k| k as usize)
    }

    #[inline]
    fn velocity(&self, motion: &SharedSlice<'_, Motion<S>>) -> S::Vector {
        let mut sum = self.drift;
        for (k, weight) in self.nodes().zip(self.weights) {
            sum += motion.read(k).linear * weight;
        }
        sum
    }

    #[inline]
    pub(super) fn push(&self, impulse: S::Vector, motion: &SharedSlice<'_, Motion<S>>) {
        for (k, answer) in self.nodes().zip(self.answers) {
            motion.change(k, |motion| motion.linear += impulse * answer);
        }
    }

    /// Solves the contact with the others as they are. Gives the change of its impulse, N·s.
    #[inline]
    fn relax(&mut self, motion: &SharedSlice<'_, Motion<S>>) -> S::Vector {
        let (u, n) = (self.velocity(motion), self.normal);
        let (closing, pressed) = (u.dot(n), self.impulse.dot(n));
        let normal = (pressed - self.mass * (closing - self.target)).max(0.0);
        let (slip, held) = (u - n * closing, self.impulse - n * pressed);
        let mut tangent = held - slip * self.mass;
        let most = self.mu * normal;
        let square = tangent.dot(tangent);
        if square > most * most {
            tangent = tangent * (most / square.sqrt());
        }
        let next = tangent + n * normal;
        let change = next - self.impulse;
        self.push(change, motion);
        self.impulse = next;
        change
    }

    /// The natural map of [`crate::judge::residual`] over ρ = 1/A, m/s.
    fn residual(&self, motion: &SharedSlice<'_, Motion<S>>) -> f64 {
        if self.mass == 0.0 {
            return 0.0;
        }
        let (u, n, mu) = (self.velocity(motion), self.normal, self.mu);
        let (closing, pressed) = (u.dot(n), self.impulse.dot(n));
        let (slip, held) = (u - n * closing, self.impulse - n * pressed);
        let shifted = pressed - self.mass * (closing - self.target + mu * slip.length());
        let aim = held - slip * self.mass;
        let length = aim.length();
        let (normal, tangent) = if length <= mu * shifted {
            (shifted, aim)
        } else if mu * length <= -shifted {
            (0.0, S::Vector::default())
        } else {
            let normal = (shifted + mu * length) / (1.0 + mu * mu);
            (normal, aim * (mu * normal / length))
        };
        let error = (held - tangent) + n * (pressed - normal);
        error.length() / self.mass
    }
}

/// How long sweeps go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) sweeps: u32,
    /// Residual at which an island is done, m/s.
    pub(super) tolerance: f64,
    /// Whether nodes have the velocities after the impulses so far, not those without contact.
    pub(super) is_pushed: bool,
    pub(super) threads: usize,
}

/// Solves islands of contacts; `motion` has the velocities that [`Patience::is_pushed`] tells, and
/// bodies are at `places`. Rows of an island stand together. `sorted` is memory.
pub(super) fn solve<S: Space>(
    rows: &mut [NodeRow<S>],
    islands: &[Island],
    (motion, places): (&mut [Motion<S>], &[S::Vector]),
    patience: Patience,
    sorted: &mut Vec<NodeRow<S>>,
) -> SolveReport {
    let motion = SharedSlice::new(motion);
    let mut reports = Vec::new();
    let mut small: Vec<Range<usize>> = Vec::new();
    for island in islands.iter().map(|island| island.rows()) {
        if island.len() >= LARGE {
            let nodes = (&motion, places);
            reports.push(large_islands::solve(
                &mut rows[island],
                nodes,
                patience,
                sorted,
            ));
            continue;
        }
        // Those that are next to each other make one piece.
        match small.last_mut() {
            Some(last) if last.end == island.start && last.len() + island.len() <= PIECE => {
                last.end = island.end;
            }
            _ => small.push(island),
        }
    }
    let all = SharedSlice::new(rows);
    reports.extend(thread_pool::gather(
        patience.threads,
        small.len(),
        |k, found| {
            let piece = &small[k];
            let first = islands.partition_point(|island| (island.start as usize) < piece.start);
            let own = islands[first..].iter().map(|island| island.rows());
            for island in own.take_while(|island| island.end <= piece.end) {
                found.push(solve_small(&all, island, &motion, patience));
            }
        },
    ));
    reports.iter().fold(nothing(), |all, one| SolveReport {
        iterations: all.iterations.max(one.iterations),
        converged: all.converged && one.converged,
        residual: all.residual.max(one.residual),
        ..all
    })
}

fn nothing() -> SolveReport {
    SolveReport {
        converged: true,
        method: "pgs",
        ..SolveReport::default()
    }
}

/// One island on one thread.
fn solve_small<S: Space>(
    rows: &SharedSlice<'_, NodeRow<S>>,
    island: Range<usize>,
    motion: &SharedSlice<'_, Motion<S>>,
    patience: Patience,
) -> SolveReport {
    let mut is_cold = true;
    for k in island.clone() {
        rows.change(k, |row| {
            is_cold &= row.impulse == S::Vector::default();
            if !patience.is_pushed {
                row.push(row.impulse, motion);
            }
        });
    }
    let relax = |k: usize| {
        rows.change(k, |row| {
            row.relax(motion);
        });
    };
    if island.len() == 1 {
        // One number and a disk: solved at once.
        relax(island.start);
        return SolveReport {
            iterations: 1,
            ..nothing()
        };
    }
    let most = patience.most(is_cold);
    let mut done = 0;
    loop {
        let until = most.min(done + if done == 0 { 1 } else { SWEEPS_PER_LOOK });
        for sweep in done..until {
            if sweep % 2 == 0 {
                island.clone().for_each(relax);
            } else {
                island.clone().rev().for_each(relax);
            }
        }
        done = until;
        let residual = island.clone().fold(0.0, |worst: f64, k| {
            worst.max(rows.read(k).residual(motion))
        });
        if residual <= patience.tolerance || done >= most {
            return patience.report(done, residual);
        }
    }
}

impl Patience {
    fn most(&self, is_cold: bool) -> u32 {
        let factor = if is_cold { COLD } else { 1 };
        self.sweeps.max(1).saturating_mul(factor)
    }

    fn report(&self, iterations: u32, residual: f64) -> SolveReport {
        SolveReport {
            iterations,
            converged: residual <= self.tolerance,
            residual,
            ..nothing()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use glamx::DVec3;

    /// Numbers from −1 to 1: a step of a congruential generator.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    /// Nodes of 2 kg in a row that move at random, each in contact with the next, and every third
    /// with the ground.
    pub(super) fn row_of_nodes(count: u32, mu: f64) -> (Vec<NodeRow<D3>>, Vec<Motion<D3>>) {
        let mut seed = 3;
        let mut vector = || DVec3::from_array([0; 3].map(|_| noise(&mut seed)));
        let motion = (0..count).map(|_| Motion {
            linear: vector(),
            ..Motion::default()
        });
        let motion: Vec<Motion<D3>> = motion.collect();
        let mut rows = Vec::new();
        for k in 0..count {
            let mut row = NodeRow::new(k, vector().normalize(), mu);
            row.add(k, 1.0, 0.5).unwrap();
            row.mass = 2.0;
            if k % 3 != 0 && k + 1 < count {
                row.add(k + 1, -1.0, 0.5).unwrap();
                row.mass = 1.0;
            }
            rows.push(row);
        }
        (rows, motion)
    }

    /// Where the nodes of such a row are.
    pub(super) fn in_a_row(count: u32) -> Vec<DVec3> {
        (0..count).map(|k| DVec3::X * f64::from(k)).collect()
    }

    pub(super) const PATIENCE: Patience = Patience {
        sweeps: 100,
        tolerance: 1e-9,
        is_pushed: false,
        threads: 1,
    };

    #[test]
    fn small_and_large_islands_obey_the_laws_and_keep_momentum() {
        for count in [60_u32, 2000] {
            for mu in [0.0, 0.4] {
                let (mut rows, mut motion) = row_of_nodes(count, mu);
                let before = motion.clone();
                let island = Island {
                    start: 0,
                    end: count,
                };
                let nodes = (&mut motion[..], &in_a_row(count)[..]);
                let report = solve(&mut rows, &[island], nodes, PATIENCE, &mut Vec::new());
                assert!(report.converged && report.residual < 1e-9, "{report:?}");
                let mut pushed = vec![DVec3::ZERO; count as usize];
                let shared = SharedSlice::new(&mut motion);
                for row in &rows {
                    let (u, n) = (row.velocity(&shared), row.normal);
                    let (gap, press) = (u.dot(n), row.impulse.dot(n));
                    let held = (row.impulse - n * press).length();
                    assert!(gap > -1e-8 && press >= 0.0 && gap.min(press) < 1e-8);
                    assert!(held <= mu * press + 1e-12, "{held} {press}");
                    for (k, weight) in row.nodes().zip(row.weights) {
                        pushed[k] += row.impulse * weight;
                    }
                }
                for (k, pushed) in pushed.iter().enumerate() {
                    let change = (motion[k].linear - before[k].linear) * 2.0;
                    assert!((change - *pushed).length() < 1e-12, "{k}");
                }
            }
        }
    }

    #[test]
    fn threads_change_no_bits_of_large_islands() {
        let answer = |threads: usize| {
            let (mut rows, mut motion) = row_of_nodes(3000, 0.4);
            let islands = [(0, 2500), (2500, 3000)].map(|(start, end)| Island { start, end });
            // The second island stands by itself.
            rows[2499].count = 1;
            rows[2499].mass = 2.0;
            let patience = Patience {
                threads,
                ..PATIENCE
            };
            let nodes = (&mut motion[..], &in_a_row(3000)[..]);
            solve(&mut rows, &islands, nodes, patience, &mut Vec::new());
            motion
        };
        let alone = answer(1);
        assert!(answer(2) == alone && answer(3) == alone);
    }
}
