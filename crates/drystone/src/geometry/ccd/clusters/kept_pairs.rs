//! Cluster pairs kept from search to search, with their separation proofs.
//!
//! Most clusters that are near each other stay so for many steps, and most of those stay apart. So
//! a proof that two are apart is kept, in a form that tells from little when it holds no more. Let c
//! be the **core** of a cluster, a point amid its vertices, and E the sum of all changes of its form
//! so far: from search to search, the farthest that a vertex has moved as seen from c. With
//! $d = c_b - c_a$, whatever was at least g apart along a unit vector n when the sum of both E was
//! $E_0$ and d was $d_0$, is at least
//!
//! $$ g + n\cdot(d - d_0) - (E_a + E_b - E_0) $$
//!
//! apart now. Two kinds of proofs use that:
//!
//! * a **plane** between two clusters, by its n: sheets that slide on each other do not wear it out;
//! * a **ball**: all pairs of primitives of two clusters, but for some that are **open**, are at
//!   least g apart, along whatever directions. They stay so while $|d - d_0|$ and the changes of form
//!   are less. Clusters that share a vertex are proven apart like that.
//!
//! A proof holds for a step if it leaves room for the reach of both both at the start and at the end,
//! where E also counts the change of form on the way. Open pairs are asked at every search.
//!
//! # Rounding
//!
//! As in [`super`], with vectors of size 2 R: d and a component of it are off by 17 u R, $d_0$ and g,
//! which were found in the same way, by 17 and 9 u R, sums by less than 12 u R. Changes of form are
//! sums in double precision of what single precision has, rounded up. Cores have 32 u R more of
//! reach for that, 64 u R for two.

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::primitive_pairs::{Eight, dot, less};
use super::swept_vertices::Point;
use crate::math::algebra::Algebra;
use crate::math::simd::{Column, LANES, Wide, dispatch};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// Eight pairs of clusters and what is known of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Block {
    /// Of planes n, of balls $d_0$, axis by axis.
    vector: [Column; 3],
    /// Of planes $g - n\cdot d_0 + E_0$, of balls $g + E_0$, m.
    bound: Column,
    /// 1 for balls, 0 for planes.
    is_ball: Column,
    pub(super) pairs: [[u32; 2]; LANES],
    /// Which pairs of primitives a ball does not cover: see [`super::primitive_pairs::Primitives::add`].
    pub(super) open: [u32; LANES],
}

/// Why two clusters are apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    pub(super) vector: [f32; 3],
    pub(super) bound: f32,
    pub(super) is_ball: bool,
    pub(super) open: u32,
}

impl Proof {
    /// No proof: it never holds.
    pub(super) const NONE: Self = Self {
        vector: [0.0; 3],
        bound: f32::NEG_INFINITY,
        is_ball: false,
        open: 0,
    };
}

impl Block {
    /// Places without a pair, which are always apart.
    const EMPTY: Self = Self {
        vector: [Column([0.0; LANES]); 3],
        bound: Column([f32::INFINITY; LANES]),
        is_ball: Column([0.0; LANES]),
        pairs: [[0; 2]; LANES],
        open: [0; LANES],
    };

    pub(super) fn set(&mut self, lane: usize, proof: &Proof) {
        for (axis, &x) in self.vector.iter_mut().zip(&proof.vector) {
            axis.0[lane] = x;
        }
        self.bound.0[lane] = proof.bound;
        self.is_ball.0[lane] = f32::from(u8::from(proof.is_ball));
        self.open[lane] = proof.open;
    }
}

/// Pairs of clusters, eight by eight.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptPairs {
    pub(super) blocks: Vec<Block>,
    count: usize,
}

impl KeptPairs {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.count = 0;
    }

    /// Adds pairs of which nothing is known.
    pub(super) fn extend(&mut self, pairs: &[[u32; 2]], threads: usize) {
        let (before, count) = (self.count, self.count + pairs.len());
        let blocks = count.div_ceil(LANES);
        if self.blocks.capacity() < blocks {
            // There will be more: see the covers.
            self.blocks.reserve(blocks + blocks / 2 - self.blocks.len());
        }
        self.blocks.resize(blocks, Block::EMPTY);
        let (first, blocks) = (before / LANES, SharedSlice::new(&mut self.blocks));
        thread_pool::run_over(blocks.len() - first, threads, |part| {
            for k in first + part.start..first + part.end {
                blocks.change(k, |block| {
                    for at in before.max(k * LANES)..count.min((k + 1) * LANES) {
                        block.pairs[at % LANES] = pairs[at - before];
                        block.set(at % LANES, &Proof::NONE);
                    }
                });
            }
        });
        self.count = count;
    }

    /// Forgets all proofs.
    pub(super) fn doubt(&mut self) {
        for at in 0..self.count {
            self.blocks[at / LANES].set(at % LANES, &Proof::NONE);
        }
    }
}

#[inline(always)]
fn hold_kernel<S: Algebra, V: Wide>(cores: &[Point], blocks: &[Block], answers: &mut [Column]) {
    for (block, answers) in blocks.iter().zip(answers) {
        let [mut first, mut second] = [[0; LANES]; 2];
        for lane in 0..LANES {
            [first[lane], second[lane]] = block.pairs[lane];
        }
        let (a, b) = (
            Eight::<V>::at(cores, &first),
            Eight::<V>::at(cores, &second),
        );
        let vector = [
            V::load(&block.vector[0]),
            V::load(&block.vector[1]),
            V::load(&block.vector[2]),
        ];
        let (bound, is_ball) = (V::load(&block.bound), V::load(&block.is_ball));
        let mut answer = V::splat(1.0);
        for time in 0..2 {
            let between = less(b.at[time], a.at[time]);
            let along = dot(vector, between);
            let off = less(between, vector);
            let back = -dot(off, off).root();
            let value = along + (back - along) * is_ball;
            let gap = value + bound - (a.reach[time] + b.reach[time]);
            answer = answer * gap.positive();
        }
        answer.store(answers);
    }
}

dispatch! {
    /// Says of each pair whether its proof holds (1), given the cores of all clusters with the sum
    /// of their reach and changes of form.
    fn hold<S: Algebra>(cores: &[Point], blocks: &[Block], answers: &mut [Column]) = hold_kernel
}
