//! Proofs that pairs of clusters are apart: whether kept ones hold, and new ones.

use super::Clusters;
use super::kept_pairs::{Block, Proof, hold};
use super::primitive_pairs::{ALL, Primitives};
use super::separating_planes;
use super::separating_planes::Plane;
use crate::geometry::ccd::broad_phase::Met;
use crate::math::algebra::D3;
use crate::math::simd::{Column, Instructions, LANES};

/// Blocks that are asked before any answer is looked at.
const BATCH: usize = 8;
/// Pairs of clusters that wait before they are asked.
const MANY: usize = 256;
/// Pairs of clusters whose primitives are asked together.
const TEAM: usize = 32;
/// How much room a pair of primitives must have to be covered by a ball, over the reach of both.
const CLOSE: f32 = 0.03;
/// Room after which open pairs are thought about again, over that.
const AGAIN: f32 = 8.0;

/// What waits to be asked.
pub(super) struct Desk {
    clusters: Vec<[u32; 2]>,
    primitives: Primitives,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            clusters: Vec::with_capacity(MANY),
            primitives: Primitives::with_room(),
        }
    }
}

impl Clusters {
    /// Asks a pair of clusters that are not adjacent, some time before [`Clusters::finish`].
    #[inline(always)]
    pub(super) fn ask(&self, [a, b]: [u32; 2], desk: &mut Desk, met: &mut impl FnMut(Met)) {
        // In one order, whichever thread found them.
        let pair = [a.min(b), a.max(b)];
        if pair.iter().all(|&k| self.spots[k as usize].are_known()) {
            desk.clusters.push(pair);
        } else {
            self.ask_primitives(pair, (0, ALL), false, desk, met);
        }
        if desk.clusters.len() >= MANY {
            self.ask_bundles(desk, met);
        }
    }

    /// The same for clusters that are adjacent.
    pub(super) fn ask_kin(&self, pair: [u32; 2], desk: &mut Desk, met: &mut impl FnMut(Met)) {
        self.ask_primitives(pair, (0, ALL), true, desk, met);
    }

    /// Asks everything that waits.
    pub(super) fn finish(&self, desk: &mut Desk, met: &mut impl FnMut(Met)) {
        self.ask_bundles(desk, met);
        desk.primitives.flush(&self.points, true, met);
    }

    #[inline(never)]
    fn ask_bundles(&self, desk: &mut Desk, met: &mut impl FnMut(Met)) {
        let pairs = std::mem::take(&mut desk.clusters);
        separating_planes::see(self.moving(), &pairs, |k, plane| {
            if plane.is_none() {
                self.ask_primitives(pairs[k], (0, ALL), false, desk, met);
            }
        });
        desk.clusters = pairs;
        desk.clusters.clear();
    }

    fn ask_primitives(
        &self,
        pair: [u32; 2],
        which: (u32, u32),
        are_kin: bool,
        desk: &mut Desk,
        met: &mut impl FnMut(Met),
    ) {
        let pair = pair.map(|k| &self.clusters[k as usize]);
        desk.primitives.add(pair, which, are_kin);
        desk.primitives.flush(&self.points, false, met);
    }

    /// Candidates of known pairs, or of those with clusters that are asked about: proofs that hold
    /// are believed, others sought.
    pub(super) fn review(
        &self,
        blocks: &mut [Block],
        asked: Option<&[bool]>,
        are_kin: bool,
        met: &mut impl FnMut(Met),
    ) {
        let is_due = |pair: &[u32; 2]| {
            asked.is_none_or(|asked| asked[pair[0] as usize] | asked[pair[1] as usize])
        };
        let best = Instructions::best();
        let mut desk = Desk::default();
        let mut answers = [Column::default(); BATCH];
        let mut lost = Vec::new();
        for first in (0..blocks.len()).step_by(BATCH) {
            let batch = &blocks[first..blocks.len().min(first + BATCH)];
            if !batch.iter().flat_map(|block| &block.pairs).any(is_due) {
                continue;
            }
            hold::<D3>(best, &self.cores, batch, &mut answers[..batch.len()]);
            for (at, (block, answers)) in batch.iter().zip(&answers).enumerate() {
                for lane in (0..LANES).filter(|&lane| is_due(&block.pairs[lane])) {
                    if answers.0[lane] != 1.0 {
                        lost.push(((first + at) * LANES + lane) as u32);
                    } else if block.open[lane] != 0 {
                        let open = (0, block.open[lane]);
                        self.ask_primitives(block.pairs[lane], open, are_kin, &mut desk, met);
                    }
                }
            }
        }
        desk.primitives.flush(&self.points, true, met);
        for some in lost.chunks(MANY) {
            let left = if are_kin {
                some.to_vec()
            } else {
                self.find_planes(blocks, some)
            };
            for team in left.chunks(TEAM) {
                self.find_balls(blocks, team, are_kin, &mut desk, met);
            }
        }
    }

    /// Proves some pairs, by their places in blocks, apart by planes. Gives those that are left.
    fn find_planes(&self, blocks: &mut [Block], some: &[u32]) -> Vec<u32> {
        let pair_at = |at: u32| blocks[at as usize / LANES].pairs[at as usize % LANES];
        let is_known =
            |at: &u32| pair_at(*at).map(|k| self.spots[k as usize].are_known()) == [true; 2];
        let (some, mut left): (Vec<u32>, Vec<u32>) = some.iter().partition(|at| is_known(at));
        let pairs: Vec<[u32; 2]> = some.iter().map(|&at| pair_at(at)).collect();
        separating_planes::see(self.moving(), &pairs, |k, plane| {
            let at = some[k] as usize;
            match plane {
                Some(plane) => {
                    let proof = self.proof_by(&plane, pairs[k]);
                    blocks[at / LANES].set(at % LANES, &proof);
                }
                None => left.push(at as u32),
            }
        });
        left
    }

    fn proof_by(&self, plane: &Plane, pair: [u32; 2]) -> Proof {
        let (between, n) = (self.between(pair), plane.normal);
        let along = n[0] * between[0] + n[1] * between[1] + n[2] * between[2];
        Proof {
            vector: n,
            bound: plane.whole - along + self.changes_of(pair),
            is_ball: false,
            open: 0,
        }
    }

    /// From the core of one cluster to that of another at the start, m.
    fn between(&self, pair: [u32; 2]) -> [f32; 3] {
        let [a, b] = pair.map(|k| self.cores[k as usize].0.0);
        [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
    }

    fn changes_of(&self, [a, b]: [u32; 2]) -> f32 {
        self.states[a as usize].changes + self.states[b as usize].changes
    }

    /// Proves pairs, by their places in blocks, apart primitive by primitive. What is not apart are
    /// candidates.
    fn find_balls(
        &self,
        blocks: &mut [Block],
        team: &[u32],
        are_kin: bool,
        desk: &mut Desk,
        met: &mut impl FnMut(Met),
    ) {
        let pair_at = |at: u32| blocks[at as usize / LANES].pairs[at as usize % LANES];
        let pairs: Vec<[u32; 2]> = team.iter().map(|&at| pair_at(at)).collect();
        for (owner, pair) in pairs.iter().enumerate() {
            let pair = pair.map(|k| &self.clusters[k as usize]);
            desk.primitives.add(pair, (owner as u32, ALL), are_kin);
        }
        let mut balls: Vec<Ball> = pairs.iter().map(|&pair| self.ball(pair)).collect();
        desk.primitives.see(&self.points, |tag, pair, gaps| {
            let ball = &mut balls[tag.owner as usize];
            if !gaps.are_apart() {
                met(pair);
            }
            let bound = gaps.whole + ball.changes;
            // Written so that what is no number is open.
            if bound > ball.least {
                ball.bound = ball.bound.min(bound);
            } else {
                ball.open |= 1 << tag.bit;
            }
        });
        desk.primitives.clear();
        for ((&at, &pair), ball) in team.iter().zip(&pairs).zip(&balls) {
            let proof = Proof {
                vector: self.between(pair),
                bound: if ball.open == 0 {
                    ball.bound
                } else {
                    ball.bound.min(ball.most)
                },
                is_ball: true,
                open: ball.open,
            };
            blocks[at as usize / LANES].set(at as usize % LANES, &proof);
        }
    }

    /// What a ball must and need not have for a pair.
    fn ball(&self, pair: [u32; 2]) -> Ball {
        let [a, b] = pair.map(|k| k as usize);
        let taken = |k: usize| self.cores[k].at(0).array()[3].max(self.cores[k].at(1).array()[3]);
        let taken = taken(a) + taken(b);
        let close = CLOSE * (self.states[a].reach + self.states[b].reach);
        Ball {
            changes: self.changes_of(pair),
            least: taken + close,
            most: taken + AGAIN * close,
            bound: f32::INFINITY,
            open: 0,
        }
    }
}

/// A ball that is being made.
struct Ball {
    /// Changes of form so far, m.
    changes: f32,
    /// Bound that a pair of primitives needs to be covered, and the most that a ball with open
    /// pairs has, m.
    least: f32,
    most: f32,
    bound: f32,
    open: u32,
}
