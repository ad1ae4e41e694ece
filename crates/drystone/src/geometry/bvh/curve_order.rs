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
//!
//! A box may be known at several times `T`, between which its sides move linearly: then two stay
//! apart if they are so along the same axis, on the same side, at all of those times. With one time
//! that is the plain test of boxes.

use crate::geometry::shape::Bounds;
use crate::math::algebra::{Algebra, Components};
use crate::math::simd::{Four, Which};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use std::ops::Range;

/// Boxes in a group.
const GROUP: usize = 4;

/// The bits of all boxes of a group.
const ALL: u32 = (1 << GROUP) - 1;

/// Groups waiting on the way down: three for each of at most 16 levels, and one.
const WAITING: usize = 64;

/// A box, rounded outwards: its corners at each of some times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small<const T: usize> {
    pub(crate) lower: [[f32; 3]; T],
    pub(crate) upper: [[f32; 3]; T],
}

impl Small<1> {
    /// A step of single precision is more than a difference in double precision and a conversion
    /// round away. What is beyond all numbers of single precision is as far as these go: infinite
    /// bounds are those of places that no box has.
    fn around<S: Algebra>(bounds: &Bounds<S>, origin: S::Vector) -> Self {
        let lower = (bounds.lower - origin).to_array3();
        let upper = (bounds.upper - origin).to_array3();
        Self {
            lower: [lower.map(|x| (x as f32).next_down().clamp(f32::MIN, f32::MAX))],
            upper: [upper.map(|x| (x as f32).next_up().clamp(f32::MIN, f32::MAX))],
        }
    }
}

/// Four boxes, axis by axis.
#[derive(Clone, Copy, Debug)]
struct Group<const T: usize> {
    lower: [[Four; 3]; T],
    upper: [[Four; 3]; T],
}

impl<const T: usize> Group<T> {
    const EMPTY: Self = Self {
        lower: [[Four::new([f32::INFINITY; GROUP]); 3]; T],
        upper: [[Four::new([f32::NEG_INFINITY; GROUP]); 3]; T],
    };

    /// Makes box `lane` what `of` makes of its corners and another's.
    fn change(
        &mut self,
        lane: usize,
        small: &Small<T>,
        of: impl Fn([f32; 2], [f32; 2]) -> [f32; 2],
    ) {
        for time in 0..T {
            for axis in 0..3 {
                let (lower, upper) = (&mut self.lower[time][axis], &mut self.upper[time][axis]);
                let (mut lowers, mut uppers) = (lower.array(), upper.array());
                let other = [small.lower[time][axis], small.upper[time][axis]];
                [lowers[lane], uppers[lane]] = of([lowers[lane], uppers[lane]], other);
                (*lower, *upper) = (Four::new(lowers), Four::new(uppers));
            }
        }
    }

    fn set(&mut self, lane: usize, small: &Small<T>) {
        self.change(lane, small, |_, other| other);
    }

    /// Makes a box large enough for another one.
    fn widen(&mut self, lane: usize, small: &Small<T>) {
        self.change(lane, small, |own, other| {
            [own[0].min(other[0]), own[1].max(other[1])]
        });
    }

    #[inline(always)]
    fn lane(&self, lane: usize) -> Small<T> {
        Small {
            lower: std::array::from_fn(|t| self.lower[t].each_ref().map(|row| row.lane(lane))),
            upper: std::array::from_fn(|t| self.upper[t].each_ref().map(|row| row.lane(lane))),
        }
    }

    /// The box around all four.
    fn union(&self) -> Small<T> {
        let least = |row: Four| row.array().into_iter().fold(f32::INFINITY, f32::min);
        let most = |row: Four| row.array().into_iter().fold(f32::NEG_INFINITY, f32::max);
        Small {
            lower: self.lower.map(|axes| axes.map(least)),
            upper: self.upper.map(|axes| axes.map(most)),
        }
    }

    /// Bit k says whether box k overlaps the other one.
    #[inline(always)]
    fn overlapping(&self, other: &Small<T>) -> u32 {
        // No branches: most answers are a toss.
        let mut apart: Option<Which> = None;
        for axis in 0..3 {
            let above = |time: usize| {
                let to = Four::splat(other.upper[time][axis]);
                self.lower[time][axis].exceeds(to)
            };
            let below = |time: usize| {
                let from = Four::splat(other.lower[time][axis]);
                from.exceeds(self.upper[time][axis])
            };
            let (mut is_above, mut is_below) = (above(0), below(0));
            for time in 1..T {
                (is_above, is_below) = (is_above.and(above(time)), is_below.and(below(time)));
            }
            let along = is_above.or(is_below);
            apart = Some(apart.map_or(along, |apart| apart.or(along)));
        }
        apart.map_or(0, |apart| !apart.bits() & ALL)
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
pub(crate) struct BoxTree<S: Algebra, const T: usize = 1> {
    /// Morton code and number of every box, sorted.
    order: Vec<(u64, u32)>,
    /// The groups of all levels, the boxes' own first and the top one last.
    groups: Vec<Group<T>>,
    /// Where each level starts in them.
    levels: Vec<usize>,
    space: std::marker::PhantomData<S>,
}

impl<S: Algebra, const T: usize> Default for BoxTree<S, T> {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            groups: Vec::new(),
            levels: Vec::new(),
            space: std::marker::PhantomData,
        }
    }
}

impl<S: Algebra> BoxTree<S> {
    /// Sorts the boxes anew, along a curve through the box around all, and fits the tree.
    pub(crate) fn rebuild(
        &mut self,
        all: &Bounds<S>,
        count: usize,
        bounds_of: impl Fn(usize) -> Bounds<S> + Sync,
    ) {
        self.sort(all, (0..count).map(&bounds_of));
        self.refit(all, count, bounds_of);
    }

    /// Fits the tree to boxes that have moved; rebuilds it if their number has changed.
    pub(crate) fn refit(
        &mut self,
        all: &Bounds<S>,
        count: usize,
        bounds_of: impl Fn(usize) -> Bounds<S> + Sync,
    ) {
        if self.order.len() != count {
            return self.rebuild(all, count, bounds_of);
        }
        self.fit(1, |k| Small::around(&bounds_of(k), all.lower));
    }
}

impl<S: Algebra, const T: usize> BoxTree<S, T> {
    /// Sorts boxes along a curve through the box around all.
    pub(crate) fn sort(&mut self, all: &Bounds<S>, boxes: impl Iterator<Item = Bounds<S>>) {
        let curve = Curve::over(all);
        self.order.clear();
        let codes = boxes.enumerate();
        self.order
            .extend(codes.map(|(k, bounds)| (curve.code(&bounds), k as u32)));
        self.order.sort_unstable();
    }

    /// The number of boxes.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Fits the tree to boxes in the order that they were sorted in.
    pub(crate) fn fit(&mut self, threads: usize, small_of: impl Fn(usize) -> Small<T> + Sync) {
        self.levels.clear();
        let (mut start, mut count) = (0, self.leaves());
        self.levels.push(start);
        while count > 1 {
            start += count;
            count = count.div_ceil(GROUP);
            self.levels.push(start);
        }
        self.groups.resize(start + count, Group::EMPTY);
        let (order, groups) = (&self.order, SharedSlice::new(&mut self.groups));
        thread_pool::run_over(self.order.len().div_ceil(GROUP), threads, |leaves| {
            for leaf in leaves {
                let mut group = Group::EMPTY;
                let members = order[leaf * GROUP..].iter().take(GROUP);
                for (lane, &(_, k)) in members.enumerate() {
                    group.set(lane, &small_of(k as usize));
                }
                groups.write(leaf, group);
            }
        });
        for level in self.levels.windows(2) {
            let (below, above) = self.groups[level[0]..].split_at_mut(level[1] - level[0]);
            for (children, parent) in below.chunks(GROUP).zip(above) {
                *parent = Group::EMPTY;
                for (lane, child) in children.iter().enumerate() {
                    parent.set(lane, &child.union());
                }
            }
        }
    }

    /// Makes the tree large enough for another box at a place in the order.
    pub(crate) fn widen(&mut self, place: usize, small: &Small<T>) {
        let mut child = place;
        for &start in &self.levels {
            self.groups[start + child / GROUP].widen(child % GROUP, small);
            child /= GROUP;
        }
    }

    /// The box at each place in the order.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> {
        self.order.iter().map(|&(_, k)| k)
    }

    /// The number of groups of boxes.
    pub(crate) fn leaves(&self) -> usize {
        self.order.len().div_ceil(GROUP)
    }

    /// The box around a group of boxes.
    #[inline(always)]
    fn around(&self, leaf: usize) -> Small<T> {
        match self.levels.get(1) {
            Some(above) => self.groups[above + leaf / GROUP].lane(leaf % GROUP),
            None => self.groups[leaf].union(),
        }
    }

    /// Calls `found` with the numbers of two different boxes that overlap: each pair once, if
    /// every group of boxes is asked once.
    pub(crate) fn pairs_from(&self, leaves: Range<usize>, mut found: impl FnMut(u32, u32)) {
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
            let around = self.around(leaf);
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
    pub(crate) fn pairs_with_from(
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
            let around = self.around(leaf);
            other.descend((other.levels.len() - 1, 0), &around, &mut waiting, |met| {
                meet((leaf, self), (met, other), &mut found);
            });
        }
    }

    /// Calls `found` with the number of every box that overlaps one.
    pub(crate) fn overlapping(&self, query: &Small<T>, mut found: impl FnMut(u32)) {
        if self.groups.is_empty() {
            return;
        }
        let top = (self.levels.len() - 1, 0);
        self.descend(top, query, &mut [(0, 0); WAITING], |leaf| {
            for lane in lanes(self.groups[leaf].overlapping(query)) {
                found(self.order[leaf * GROUP + lane].1);
            }
        });
    }

    /// Calls `leaf` with every group of boxes that may overlap the box, below a group of a level.
    #[inline]
    fn descend(
        &self,
        (level, group): (usize, usize),
        query: &Small<T>,
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
fn meet<S: Algebra, const T: usize>(
    (leaf, own): (usize, &BoxTree<S, T>),
    (met, other): (usize, &BoxTree<S, T>),
    found: &mut impl FnMut(u32, u32),
) {
    let (group, others) = (&own.groups[leaf], &other.groups[met]);
    // Half of them are too far from all of the others.
    for mine in lanes(group.overlapping(&other.around(met))) {
        let Some(&(_, number)) = own.order.get(leaf * GROUP + mine) else {
            return;
        };
        for lane in lanes(others.overlapping(&group.lane(mine))) {
            found(number, other.order[met * GROUP + lane].1);
        }
    }
}

/// A Morton curve through a box.
struct Curve<S: Algebra> {
    lower: S::Vector,
    /// Cells in each axis per metre of twice the centre.
    scale: S::Vector,
}

impl<S: Algebra> Curve<S> {
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
