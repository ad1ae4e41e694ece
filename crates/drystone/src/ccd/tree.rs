//! A flat tree of boxes in the order of a space-filling curve.
//!
//! Boxes are sorted along a Morton curve and put into groups of four, groups into groups of four
//! groups, and so on. Group j of a level holds the boxes of groups 4j to 4j + 3 of the level
//! below, axis by axis, so that one comparison asks all four. Nothing points to anything, and
//! fitting the tree to moved boxes is one pass from the bottom up.
//!
//! A group asks for its neighbours as one box. A tree asked about itself climbs from each group to
//! the top and looks only at what comes after it, so that every pair of groups is met once.
//!
//! Boxes are kept in single precision relative to an origin nearby and rounded outwards: half the
//! memory, twice the lanes, and a neighbour too many now and then.

use crate::shape::Bounds;
use crate::space::{Components, Space};
use std::ops::Range;

/// Boxes in a group.
const GROUP: usize = 4;

/// Groups waiting on the way down: three for each of at most 16 levels, and one.
const WAITING: usize = 64;

/// A box, rounded outwards.
#[derive(Clone, Copy, Debug)]
struct Small {
    lower: [f32; 3],
    upper: [f32; 3],
}

impl Small {
    /// A step of single precision is more than a difference in double precision and a conversion
    /// round away.
    fn around<S: Space>(bounds: &Bounds<S>, origin: S::Vector) -> Self {
        let lower = (bounds.lower - origin).to_array3();
        let upper = (bounds.upper - origin).to_array3();
        Self {
            lower: lower.map(|x| (x as f32).next_down()),
            upper: upper.map(|x| (x as f32).next_up()),
        }
    }
}

/// Four boxes, axis by axis.
#[derive(Clone, Copy, Debug)]
struct Group {
    lower: [[f32; GROUP]; 3],
    upper: [[f32; GROUP]; 3],
}

impl Group {
    const EMPTY: Self = Self {
        lower: [[f32::INFINITY; GROUP]; 3],
        upper: [[f32::NEG_INFINITY; GROUP]; 3],
    };

    fn set(&mut self, lane: usize, small: &Small) {
        for axis in 0..3 {
            self.lower[axis][lane] = small.lower[axis];
            self.upper[axis][lane] = small.upper[axis];
        }
    }

    fn lane(&self, lane: usize) -> Small {
        Small {
            lower: self.lower.map(|row| row[lane]),
            upper: self.upper.map(|row| row[lane]),
        }
    }

    /// The box around all four.
    fn union(&self) -> Small {
        Small {
            lower: self
                .lower
                .map(|row| row.into_iter().fold(f32::INFINITY, f32::min)),
            upper: self
                .upper
                .map(|row| row.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        }
    }

    /// Bit k says whether box k overlaps the other one.
    #[inline]
    fn overlapping(&self, other: &Small) -> u32 {
        // No branches: most answers are a toss.
        let mut meets = [true; GROUP];
        for axis in 0..3 {
            let (from, to) = (other.lower[axis], other.upper[axis]);
            for (lane, meets) in meets.iter_mut().enumerate() {
                *meets &= (self.lower[axis][lane] <= to) & (from <= self.upper[axis][lane]);
            }
        }
        let bit = |lane: usize| u32::from(meets[lane]) << lane;
        bit(0) | bit(1) | bit(2) | bit(3)
    }
}

/// The set bits of a mask, lowest first.
#[inline]
fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// The tree. It owns its buffers: once warm it does not allocate.
#[derive(Clone, Debug)]
pub(super) struct BoxTree<S: Space> {
    /// Morton code and number of every box, sorted.
    order: Vec<(u64, u32)>,
    /// The groups of all levels, the boxes' own first and the top one last.
    groups: Vec<Group>,
    /// Where each level starts in them.
    levels: Vec<usize>,
    space: std::marker::PhantomData<S>,
}

impl<S: Space> Default for BoxTree<S> {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            groups: Vec::new(),
            levels: Vec::new(),
            space: std::marker::PhantomData,
        }
    }
}

impl<S: Space> BoxTree<S> {
    /// Sorts the boxes anew, along a curve through the box around all, and fits the tree.
    pub(super) fn rebuild(
        &mut self,
        all: &Bounds<S>,
        count: usize,
        bounds_of: impl Fn(usize) -> Bounds<S>,
    ) {
        let curve = Curve::over(all);
        self.order.clear();
        self.order
            .extend((0..count).map(|k| (curve.code(&bounds_of(k)), k as u32)));
        self.order.sort_unstable();
        self.refit(all, count, bounds_of);
    }

    /// Fits the tree to boxes that have moved; rebuilds it if their number has changed.
    pub(super) fn refit(
        &mut self,
        all: &Bounds<S>,
        count: usize,
        bounds_of: impl Fn(usize) -> Bounds<S>,
    ) {
        if self.order.len() != count {
            return self.rebuild(all, count, bounds_of);
        }
        self.groups.clear();
        self.levels.clear();
        self.levels.push(0);
        for members in self.order.chunks(GROUP) {
            let mut group = Group::EMPTY;
            for (lane, &(_, k)) in members.iter().enumerate() {
                group.set(lane, &Small::around(&bounds_of(k as usize), all.lower));
            }
            self.groups.push(group);
        }
        let (mut start, mut end) = (0, self.groups.len());
        while end - start > 1 {
            self.levels.push(end);
            for first in (start..end).step_by(GROUP) {
                let mut group = Group::EMPTY;
                for below in first..end.min(first + GROUP) {
                    group.set(below - first, &self.groups[below].union());
                }
                self.groups.push(group);
            }
            (start, end) = (end, self.groups.len());
        }
    }

    /// The number of groups of boxes.
    pub(super) fn leaves(&self) -> usize {
        self.order.len().div_ceil(GROUP)
    }

    /// Calls `found` with the numbers of two different boxes that overlap: each pair once, if
    /// every group of boxes is asked once.
    pub(super) fn pairs_from(&self, leaves: Range<usize>, mut found: impl FnMut(u32, u32)) {
        let mut waiting = [(0, 0); WAITING];
        for leaf in leaves {
            let own = &self.groups[leaf];
            for lane in 0..GROUP.min(self.order.len() - leaf * GROUP) {
                let after = own.overlapping(&own.lane(lane)) & (!1 << lane);
                for other in lanes(after) {
                    let at = leaf * GROUP;
                    found(self.order[at + lane].1, self.order[at + other].1);
                }
            }
            let around = own.union();
            let mut child = leaf;
            for level in 1..self.levels.len() {
                let group = &self.groups[self.levels[level] + child / GROUP];
                let after = group.overlapping(&around) & (!1 << (child % GROUP));
                for lane in lanes(after) {
                    let next = child / GROUP * GROUP + lane;
                    self.descend((level - 1, next), &around, &mut waiting, |met| {
                        meet((leaf, self), (met, self), &mut found);
                    });
                }
                child /= GROUP;
            }
        }
    }

    /// Calls `found` with the number of a box of some groups here and the number of one of the
    /// other tree for every two that overlap. Both trees have the same origin.
    pub(super) fn pairs_with_from(
        &self,
        leaves: Range<usize>,
        other: &Self,
        mut found: impl FnMut(u32, u32),
    ) {
        if other.groups.is_empty() {
            return;
        }
        let mut waiting = [(0, 0); WAITING];
        for leaf in leaves {
            let around = self.groups[leaf].union();
            other.descend((other.levels.len() - 1, 0), &around, &mut waiting, |met| {
                meet((leaf, self), (met, other), &mut found);
            });
        }
    }

    /// Calls `found` with the number of every box that overlaps one, with the origin of the fit.
    pub(super) fn around(&self, bounds: &Bounds<S>, origin: S::Vector, mut found: impl FnMut(u32)) {
        if self.groups.is_empty() {
            return;
        }
        let query = Small::around(bounds, origin);
        let top = (self.levels.len() - 1, 0);
        self.descend(top, &query, &mut [(0, 0); WAITING], |leaf| {
            for lane in lanes(self.groups[leaf].overlapping(&query)) {
                found(self.order[leaf * GROUP + lane].1);
            }
        });
    }

    /// Calls `leaf` with every group of boxes that may overlap the box, below a group of a level.
    #[inline]
    fn descend(
        &self,
        (level, group): (usize, usize),
        query: &Small,
        waiting: &mut [(u32, u32); WAITING],
        mut leaf: impl FnMut(usize),
    ) {
        waiting[0] = (level as u32, group as u32);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (level, group) = (waiting[count].0 as usize, waiting[count].1 as usize);
            if level == 0 {
                leaf(group);
                continue;
            }
            for lane in lanes(self.groups[self.levels[level] + group].overlapping(query)) {
                waiting[count] = (level as u32 - 1, (group * GROUP + lane) as u32);
                count += 1;
            }
        }
    }
}

/// Tests the boxes of one group of a tree against those of one group of another.
#[inline]
fn meet<S: Space>(
    (leaf, own): (usize, &BoxTree<S>),
    (met, other): (usize, &BoxTree<S>),
    found: &mut impl FnMut(u32, u32),
) {
    let members = own.order[leaf * GROUP..].iter().take(GROUP);
    for (lane, &(_, mine)) in members.enumerate() {
        let overlapping = other.groups[met].overlapping(&own.groups[leaf].lane(lane));
        for lane in lanes(overlapping) {
            found(mine, other.order[met * GROUP + lane].1);
        }
    }
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
