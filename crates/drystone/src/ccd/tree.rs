//! A flat tree of boxes in the order of a space-filling curve.
//!
//! Boxes are sorted along a Morton curve and put into groups of four; groups are the leaves of a
//! complete binary tree stored like a heap, node i over nodes 2i and 2i + 1. Nothing points to
//! anything, so fitting the tree to moved boxes is one pass from the leaves up, and passing a
//! node by is arithmetic: the node that follows the subtree of i in depth-first order is i + 1
//! with its trailing zeros shifted out, and 1 means that there is none.
//!
//! A group asks for its neighbours as one box. A tree asked about itself starts at the group's
//! own leaf instead of the root, so that every pair of groups is met once.

use crate::shape::Bounds;
use crate::space::{Components, Space};

/// Boxes in a group: they share one walk through the tree.
const GROUP: usize = 4;

/// The tree. It owns its buffers: once warm it does not allocate.
#[derive(Clone, Debug)]
pub(super) struct BoxTree<S: Space> {
    /// Morton code and number of every box, sorted.
    order: Vec<(u64, u32)>,
    /// The boxes in this order.
    boxes: Vec<Bounds<S>>,
    /// The heap of nodes; number 0 is not used.
    nodes: Vec<Bounds<S>>,
}

impl<S: Space> Default for BoxTree<S> {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            boxes: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// The box that no other overlaps.
fn nowhere<S: Space>() -> Bounds<S> {
    Bounds {
        lower: S::Vector::splat(f64::INFINITY),
        upper: S::Vector::splat(f64::NEG_INFINITY),
    }
}

impl<S: Space> BoxTree<S> {
    /// Sorts the boxes anew and fits the tree.
    pub(super) fn rebuild(&mut self, count: usize, bounds_of: impl Fn(usize) -> Bounds<S>) {
        let all = (0..count).fold(nowhere(), |all: Bounds<S>, k| all.union(bounds_of(k)));
        let curve = Curve::over(&all);
        self.order.clear();
        self.order
            .extend((0..count).map(|k| (curve.code(&bounds_of(k)), k as u32)));
        self.order.sort_unstable();
        self.refit(count, bounds_of);
    }

    /// Fits the tree to boxes that have moved; rebuilds it if their number has changed.
    pub(super) fn refit(&mut self, count: usize, bounds_of: impl Fn(usize) -> Bounds<S>) {
        if self.order.len() != count {
            return self.rebuild(count, bounds_of);
        }
        self.boxes.clear();
        let sorted = self.order.iter().map(|&(_, k)| bounds_of(k as usize));
        self.boxes.extend(sorted);
        let leaves = count.div_ceil(GROUP).next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(2 * leaves, nowhere());
        for (group, boxes) in self.boxes.chunks(GROUP).enumerate() {
            self.nodes[leaves + group] = boxes.iter().copied().fold(nowhere(), Bounds::union);
        }
        for at in (1..leaves).rev() {
            self.nodes[at] = self.nodes[2 * at].union(self.nodes[2 * at + 1]);
        }
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Calls `found` with the numbers of every two different boxes that overlap, each pair once.
    pub(super) fn pairs(&self, mut found: impl FnMut(u32, u32)) {
        let leaves = self.leaves();
        for (group, own) in self.boxes.chunks(GROUP).enumerate() {
            let first = group * GROUP;
            for i in 0..own.len() {
                for j in i + 1..own.len() {
                    if own[i].overlaps(&own[j]) {
                        found(self.order[first + i].1, self.order[first + j].1);
                    }
                }
            }
            let leaf = leaves + group;
            if following(leaf) != 1 {
                self.walk(following(leaf), &self.nodes[leaf], |other| {
                    self.meet(first, own, other, self, &mut found);
                });
            }
        }
    }

    /// Calls `found` with the number of a box here and the number of one of the other tree for
    /// every two that overlap.
    pub(super) fn pairs_with(&self, other: &Self, mut found: impl FnMut(u32, u32)) {
        let leaves = self.leaves();
        for (group, own) in self.boxes.chunks(GROUP).enumerate() {
            other.walk(1, &self.nodes[leaves + group], |met| {
                self.meet(group * GROUP, own, met, other, &mut found);
            });
        }
    }

    /// Tests the boxes of one group here against those of one group there.
    #[inline]
    fn meet(
        &self,
        first: usize,
        own: &[Bounds<S>],
        group: usize,
        other: &Self,
        found: &mut impl FnMut(u32, u32),
    ) {
        let start = group * GROUP;
        let end = (start + GROUP).min(other.boxes.len());
        for (i, mine) in own.iter().enumerate() {
            for j in start..end {
                if mine.overlaps(&other.boxes[j]) {
                    found(self.order[first + i].1, other.order[j].1);
                }
            }
        }
    }

    /// Calls `leaf` with every group that overlaps the box, from node `at` on in depth-first
    /// order.
    #[inline]
    fn walk(&self, mut at: usize, query: &Bounds<S>, mut leaf: impl FnMut(usize)) {
        let leaves = self.leaves();
        loop {
            if self.nodes.get(at).is_some_and(|node| node.overlaps(query)) {
                if at < leaves {
                    at *= 2;
                    continue;
                }
                leaf(at - leaves);
            }
            at = following(at);
            if at == 1 {
                return;
            }
        }
    }
}

/// The node after the subtree of this one in depth-first order; 1 if there is none.
#[inline]
fn following(at: usize) -> usize {
    let next = at + 1;
    next >> next.trailing_zeros()
}

/// A Morton curve through a box.
struct Curve<S: Space> {
    lower: S::Vector,
    /// Cells in each axis per metre of twice the centre.
    scale: S::Vector,
}

impl<S: Space> Curve<S> {
    /// Bits of each axis in a code.
    const BITS: usize = 63 / S::DIM;

    fn over(all: &Bounds<S>) -> Self {
        let cells = (1_u64 << Self::BITS) as f64;
        let size = all.upper - all.lower;
        let scale = (0..S::DIM).fold(S::Vector::default(), |scale, axis| {
            let width = 2.0 * size.component(axis);
            // A flat or overflowing box has one cell.
            let per_metre = if width > 0.0 { cells / width } else { 0.0 };
            scale.with_component(axis, per_metre)
        });
        Self {
            lower: all.lower,
            scale,
        }
    }

    fn code(&self, bounds: &Bounds<S>) -> u64 {
        let centre = (bounds.lower - self.lower) + (bounds.upper - self.lower);
        let cell = centre.scale(self.scale);
        let last = (1_u64 << Self::BITS) - 1;
        let mut code = 0;
        for axis in 0..S::DIM {
            // `as` takes what is no number to 0 and what is too large to the largest.
            let bits = (cell.component(axis) as u64).min(last);
            code |= if S::DIM == 2 {
                spread_two(bits)
            } else {
                spread_three(bits)
            } << axis;
        }
        code
    }
}

/// Bits of a number of at most 32 bits, each at twice its place.
fn spread_two(bits: u64) -> u64 {
    let mut x = bits & 0xffff_ffff;
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// Bits of a number of at most 21 bits, each at three times its place.
fn spread_three(bits: u64) -> u64 {
    let mut x = bits & 0x1f_ffff;
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}
