//! Blocks of a sparse matrix between domains, in single precision.
//!
//! Domains follow each other, lane after lane ([`super::domain_lanes`]), so a node at the border of its
//! domain is joined to nodes one lane before or after its own, and in regular meshes as many rows
//! away in all lanes. A **slot** joins a row to another one whose lanes are moved by one. What is
//! left over, such as entries between teams, is kept one by one.

use super::block_rows::Exact;
use super::domain_lanes::{Cuts, Row};
use crate::math::simd::{Column, LANES};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool::Worker;
use std::collections::BTreeMap;
use std::ops::Range;

/// No entry.
const NONE: u32 = u32::MAX;
/// Marks the number of a link whose block is to be turned over.
const TURNED: u32 = 1 << 31;
/// Lanes that must agree for a slot.
const AGREED: usize = 3;

/// All entries between domains.
#[derive(Debug, Default)]
pub(crate) struct Crossings {
    /// Blocks row after row, and entries before a unit matrix.
    pub(crate) near: Moved<[Column; 9]>,
    pub(crate) far: Moved<[Column; 1]>,
    /// Nodes with entries left over, team after team, and where each team's start.
    borders: Vec<Border>,
    border_starts: Vec<usize>,
    outer: Vec<Outer>,
}

/// Slots row after row.
#[derive(Debug, Default)]
pub(crate) struct Moved<T> {
    /// Slots that take from the lane before, then those that take from the lane after.
    pub(crate) cuts: Cuts,
    /// The row that each one joins.
    rows: Vec<u32>,
    /// The entry of each lane, or [`NONE`].
    from: Vec<[u32; LANES]>,
    values: Vec<T>,
}

/// A node, by row and lane, and its entries that are left over.
#[derive(Debug)]
struct Border {
    own: [u32; 2],
    outer: Range<usize>,
}

/// An entry between a node and another one, by row and lane.
#[derive(Clone, Copy, Debug)]
struct Outer {
    other: [u32; 2],
    /// Which one of the near (`true`) or far entries it is.
    from: (bool, u32),
    block: [f32; 9],
}

/// Entries of a row by how many rows away they are, in each lane: those that take from the lane
/// before, then those that take from the lane after.
type ByDistance = [BTreeMap<i64, [u32; LANES]>; 2];

/// The entries of a row between domains.
#[derive(Debug, Default)]
pub(crate) struct OfRow {
    near: ByDistance,
    far: ByDistance,
    /// Lanes and what is left over.
    left: Vec<(u32, Outer)>,
}

impl OfRow {
    /// Takes an entry in: whether it is near and its number, whether it is turned over, its own
    /// place and the other's, by row and lane, and whether that is of the same team.
    pub(crate) fn take(
        &mut self,
        (is_near, at): (bool, u32),
        is_turned: bool,
        [[row, lane], other]: [[u32; 2]; 2],
        is_same_team: bool,
    ) {
        let at = if is_near && is_turned {
            at | TURNED
        } else {
            at
        };
        let side = match (lane.checked_sub(other[1]), other[1].checked_sub(lane)) {
            (Some(1), _) if is_same_team => 0,
            (_, Some(1)) if is_same_team => 1,
            _ => return self.left.push((lane, Outer::new(other, (is_near, at)))),
        };
        let lists = if is_near {
            &mut self.near
        } else {
            &mut self.far
        };
        let away = i64::from(other[0]) - i64::from(row);
        lists[side].entry(away).or_insert([NONE; LANES])[lane as usize] = at;
    }

    /// Leaves over what too few lanes agree on.
    fn sort(&mut self, row: u32) {
        let left = &mut self.left;
        for (lists, is_near) in [(&mut self.near, true), (&mut self.far, false)] {
            for (list, lane_of) in lists.iter_mut().zip([|k| k - 1, |k: u32| k + 1]) {
                list.retain(|away, from| {
                    let present = || (0..).zip(&*from).filter(|(_, at)| **at != NONE);
                    let is_agreed = present().count() >= AGREED;
                    if !is_agreed {
                        let other = (i64::from(row) + away) as u32;
                        let outer =
                            |k: u32, at: &u32| Outer::new([other, lane_of(k)], (is_near, *at));
                        left.extend(present().map(|(k, at)| (k, outer(k, at))));
                    }
                    is_agreed
                });
            }
        }
        left.sort_by_key(|(lane, _)| *lane);
    }
}

impl Outer {
    fn new(other: [u32; 2], from: (bool, u32)) -> Self {
        Self {
            other,
            from,
            block: [0.0; 9],
        }
    }
}

impl<T: Copy + Default> Moved<T> {
    /// A slot's numbers, and the row whose lanes are to be moved.
    #[inline(always)]
    pub(crate) fn read(&self, slot: usize, vector: &SharedSlice<'_, Row>) -> (&T, Row) {
        (&self.values[slot], vector.read(self.rows[slot] as usize))
    }

    /// Adds the slots of the next row.
    fn add(&mut self, row: u32, [before, after]: &ByDistance) {
        let start = self.rows.len() as u32;
        self.cuts.0.push([start, start + before.len() as u32]);
        for (away, &from) in before.iter().chain(after) {
            self.rows.push((i64::from(row) + away) as u32);
            self.from.push(from);
        }
        self.values.resize(self.rows.len(), T::default());
    }

    fn finish(&mut self) {
        self.cuts.0.push([self.rows.len() as u32; 2]);
    }
}

/// A link's block as the row that asks for it has it.
#[inline]
fn block(exact: &Exact<'_>, at: u32) -> [f32; 9] {
    let block = exact.block((at & !TURNED) as usize).map(|x| x as f32);
    if at & TURNED == 0 {
        return block;
    }
    let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = block;
    [xx, yx, zx, xy, yy, zy, xz, yz, zz]
}

impl Crossings {
    /// Adds the next row; the first of a team says so.
    pub(crate) fn add(&mut self, row: u32, mut entries: OfRow, is_first_of_team: bool) {
        if is_first_of_team {
            self.border_starts.push(self.borders.len());
        }
        entries.sort(row);
        self.near.add(row, &entries.near);
        self.far.add(row, &entries.far);
        for of_lane in entries.left.chunk_by(|(a, _), (b, _)| a == b) {
            let first = self.outer.len();
            self.outer.extend(of_lane.iter().map(|(_, outer)| *outer));
            self.borders.push(Border {
                own: [row, of_lane[0].0],
                outer: first..self.outer.len(),
            });
        }
    }

    pub(crate) fn finish(&mut self) {
        self.border_starts.push(self.borders.len());
        self.near.finish();
        self.far.finish();
    }

    /// Writes what entries that are left over take of a vector into another one, for a team.
    pub(crate) fn cross(
        &self,
        team: usize,
        vector: &SharedSlice<'_, Row>,
        out: &SharedSlice<'_, Row>,
    ) {
        let borders = self.border_starts[team]..self.border_starts[team + 1];
        for Border { own, outer } in &self.borders[borders] {
            let mut sum = [0.0; 3];
            for Outer { other, block, .. } in &self.outer[outer.clone()] {
                let [row, lane] = other.map(|x| x as usize);
                let all = vector.read(row);
                let v = [all[0].0[lane], all[1].0[lane], all[2].0[lane]];
                for axis in 0..3 {
                    let of_row = &block[3 * axis..3 * axis + 3];
                    sum[axis] += of_row[0] * v[0] + of_row[1] * v[1] + of_row[2] * v[2];
                }
            }
            out.change(own[0] as usize, |row| {
                for axis in 0..3 {
                    row[axis].0[own[1] as usize] = sum[axis];
                }
            });
        }
    }

    /// The same entries, to be written.
    pub(crate) fn writing(&mut self) -> Writing<'_> {
        Writing {
            near: (&self.near.from, SharedSlice::new(&mut self.near.values)),
            far: (&self.far.from, SharedSlice::new(&mut self.far.values)),
            outer: SharedSlice::new(&mut self.outer),
        }
    }
}

/// Entries between domains, being written.
pub(crate) struct Writing<'a> {
    near: (&'a [[u32; LANES]], SharedSlice<'a, [Column; 9]>),
    far: (&'a [[u32; LANES]], SharedSlice<'a, [Column; 1]>),
    outer: SharedSlice<'a, Outer>,
}

impl Writing<'_> {
    /// Writes a thread's part: links, and also far entries if these are new.
    pub(crate) fn copy(&self, exact: &Exact<'_>, is_far_new: bool, worker: &Worker<'_>) {
        let (from, values) = &self.near;
        for slot in worker.share(from.len()) {
            values.change(slot, |values| {
                for (lane, &at) in from[slot].iter().enumerate().filter(|(_, at)| **at != NONE) {
                    for (value, x) in values.iter_mut().zip(block(exact, at)) {
                        value.0[lane] = x;
                    }
                }
            });
        }
        for k in worker.share(self.outer.len()) {
            self.outer.change(k, |outer| {
                let (is_near, at) = outer.from;
                if is_near {
                    outer.block = block(exact, at);
                } else if is_far_new {
                    let x = exact.far(at as usize) as f32;
                    outer.block = [x, 0.0, 0.0, 0.0, x, 0.0, 0.0, 0.0, x];
                }
            });
        }
        let (from, values) = &self.far;
        for slot in worker.share(from.len()).filter(|_| is_far_new) {
            values.change(slot, |[value]| {
                for (lane, &at) in from[slot].iter().enumerate().filter(|(_, at)| **at != NONE) {
                    value.0[lane] = exact.far(at as usize) as f32;
                }
            });
        }
    }
}
