//! A sparse block matrix in single precision, eight domains in SIMD lanes.
//!
//! A sweep goes from node to node, each waiting for the last. But domains, ranges of nodes that
//! are swept apart from each other, do not wait for each other: eight of them, a **team**, are
//! swept together, one in each lane of a register. A **row** holds the nodes at the same place of
//! all domains of a team; lanes at the end of shorter domains are empty.
//!
//! What joins a row to another one of its team is a **slot**, eight entries of the matrix side by
//! side. In regular meshes neighbours are as many nodes away everywhere, so a slot joins two whole
//! rows; where too few lanes agree, each lane of an odd slot has a row of its own. Entries between
//! domains are kept apart ([`super::domain_coupling`]).
//!
//! The matrix is symmetric: a slot left of the diagonal has the numbers of the one that joins the
//! same rows the other way, to be read turned over.
//!
//! How many teams there are depends on the number of nodes and on how well the system is to be
//! solved, not on threads.

use super::block_rows::{Exact, Own};
use super::conjugate_gradients::Effort;
use super::domain_coupling;
use super::domain_coupling::{Crossings, OfRow};
use crate::math::simd::{Column, LANES};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool::Worker;
use std::collections::BTreeMap;
use std::ops::Range;

/// No entry.
const NONE: u32 = u32::MAX;
/// Marks the number of an odd slot.
const ODD: u32 = 1 << 31;
/// Lanes that must agree for a slot that joins whole rows.
const AGREED: usize = 3;
/// Nodes up to which there are one, two and four teams. More teams are more threads' work, but
/// sweeps within smaller domains gain less: what is solved in a few iterations ends farther off.
const SIZES: [usize; 3] = [20_000, 40_000, 80_000];
/// Nodes from which on there are two teams at least where an error does no harm.
const BRISK_SIZE: usize = 10_000;

/// A vector: three numbers of each node of a row.
pub(crate) type Row = [Column; 3];
/// Symmetric blocks: xx, yy, zz, xy, xz, yz.
pub(crate) type Symmetric = [Column; 6];

/// The matrix.
#[derive(Debug, Default)]
pub(crate) struct Teams {
    /// The first row of each team, and the number of rows at the end.
    firsts: Vec<usize>,
    /// The node in each lane of each row, or [`NONE`].
    nodes: Vec<[u32; LANES]>,
    /// Diagonal blocks with masses (kg) and their inverses (1/kg); 0 for what nothing moves.
    pub(crate) diagonal: Vec<Symmetric>,
    pub(crate) inverse: Vec<Symmetric>,
    /// Blocks row after row, and entries before a unit matrix.
    pub(crate) near: Slots<[Column; 9]>,
    pub(crate) far: Slots<[Column; 1]>,
    pub(crate) crossings: Crossings,
}

/// Where the slots of each row start and where the second kind of them does; at the end the number
/// of all slots.
#[derive(Debug, Default)]
pub(crate) struct Cuts(pub(crate) Vec<[u32; 2]>);

impl Cuts {
    /// A row's slots of the first kind.
    #[inline(always)]
    pub(crate) fn before(&self, row: usize) -> Range<usize> {
        let [start, middle] = self.0[row];
        start as usize..middle as usize
    }

    /// A row's slots of the second kind.
    #[inline(always)]
    pub(crate) fn after(&self, row: usize) -> Range<usize> {
        self.0[row][1] as usize..self.0[row + 1][0] as usize
    }
}

/// Slots row after row.
#[derive(Debug, Default)]
pub(crate) struct Slots<T> {
    /// Slots left of the diagonal, then those right of it.
    pub(crate) cuts: Cuts,
    /// The row that each one joins, or [`ODD`] and its place among `odd`.
    rows: Vec<u32>,
    odd: Vec<[u32; LANES]>,
    /// The numbers of each one: left of the diagonal, blocks are turned over.
    at: Vec<u32>,
    /// The entry of each lane of these numbers, or [`NONE`].
    from: Vec<[u32; LANES]>,
    values: Vec<T>,
}

impl<T: Copy> Slots<T> {
    /// A slot's numbers, and what it takes of a vector.
    #[inline(always)]
    pub(crate) fn read(&self, slot: usize, vector: &SharedSlice<'_, Row>) -> (&T, Row) {
        let (row, values) = (self.rows[slot], &self.values[self.at[slot] as usize]);
        if row & ODD == 0 {
            return (values, vector.read(row as usize));
        }
        let mut taken = Row::default();
        for (lane, &row) in self.odd[(row & !ODD) as usize].iter().enumerate() {
            let all = vector.read(row as usize);
            for axis in 0..3 {
                taken[axis].0[lane] = all[axis].0[lane];
            }
        }
        (values, taken)
    }

    /// Adds slots for one side of a row: the entries of its lanes by how many rows away they are.
    /// `whole` are the numbers of slots between whole rows, the lesser first.
    fn add(&mut self, row: u32, entries: &ByDistance, whole: &mut Whole, nothing: T) {
        let mut odd: Vec<([u32; LANES], [u32; LANES])> = Vec::new();
        for (&away, &from) in entries {
            let other = (i64::from(row) + away) as u32;
            if from.iter().filter(|&&from| from != NONE).count() >= AGREED {
                self.rows.push(other);
                let rows = (row.min(other), row.max(other));
                let at = *whole.entry(rows).or_insert_with(|| {
                    self.from.push(from);
                    self.from.len() as u32 - 1
                });
                self.at.push(at);
                continue;
            }
            for lane in (0..LANES).filter(|&lane| from[lane] != NONE) {
                let open = odd.iter().position(|(_, from)| from[lane] == NONE);
                let open = open.unwrap_or_else(|| {
                    odd.push(([row; LANES], [NONE; LANES]));
                    odd.len() - 1
                });
                (odd[open].0[lane], odd[open].1[lane]) = (other, from[lane]);
            }
        }
        for (rows, from) in odd {
            self.rows.push(ODD | self.odd.len() as u32);
            self.odd.push(rows);
            self.at.push(self.from.len() as u32);
            self.from.push(from);
        }
        self.values.resize(self.from.len(), nothing);
    }
}

/// The entries of a row's lanes by how many rows away they are.
type ByDistance = BTreeMap<i64, [u32; LANES]>;
/// Numbers of slots by the rows that they join.
type Whole = BTreeMap<(u32, u32), u32>;

impl Teams {
    /// How many teams so many nodes are.
    pub(crate) fn count(nodes: usize, effort: Effort) -> usize {
        let teams = 1 << SIZES.iter().filter(|&&size| nodes > size).count();
        let is_brisk = effort == Effort::Brisk && nodes >= BRISK_SIZE;
        if is_brisk { teams.max(2) } else { teams }
    }

    /// Of a matrix' pattern, for so many teams.
    pub(crate) fn new(exact: &Exact<'_>, teams: usize) -> Self {
        let count = exact.len();
        let domains = teams * LANES;
        let start = |domain: usize| count * domain / domains;
        let mut all = Self::default();
        // Row and lane of each node.
        let mut seats = vec![[0_u32; 2]; count];
        for team in 0..teams {
            all.firsts.push(all.nodes.len());
            let length = |lane: usize| start(team * LANES + lane + 1) - start(team * LANES + lane);
            let longest = (0..LANES).map(length).max().unwrap_or(0);
            for place in 0..longest {
                let mut nodes = [NONE; LANES];
                for lane in (0..LANES).filter(|&lane| place < length(lane)) {
                    let node = start(team * LANES + lane) + place;
                    nodes[lane] = node as u32;
                    seats[node] = [all.nodes.len() as u32, lane as u32];
                }
                all.nodes.push(nodes);
            }
        }
        all.firsts.push(all.nodes.len());
        let rows = all.nodes.len();
        all.diagonal = vec![Symmetric::default(); rows];
        all.inverse = vec![Symmetric::default(); rows];
        let mut whole = [Whole::new(), Whole::new()];
        for team in 0..teams {
            for row in all.rows(team) {
                all.join(row, exact, &seats, &mut whole);
            }
        }
        all.crossings.finish();
        all.near.cuts.0.push([all.near.rows.len() as u32; 2]);
        all.far.cuts.0.push([all.far.rows.len() as u32; 2]);
        all
    }

    /// Writes down what a row is joined to.
    fn join(
        &mut self,
        row: usize,
        exact: &Exact<'_>,
        seats: &[[u32; 2]],
        [whole_near, whole_far]: &mut [Whole; 2],
    ) {
        let team = self.rows(self.team_of(row));
        // Left and right of the diagonal.
        let mut near = [ByDistance::new(), ByDistance::new()];
        let mut far = [ByDistance::new(), ByDistance::new()];
        let mut crossing = OfRow::default();
        for (lane, &node) in self.nodes[row].iter().enumerate() {
            if node == NONE {
                continue;
            }
            for (is_near, at, column) in exact.entries(node as usize) {
                let [other, other_lane] = seats[column as usize];
                let lists = if is_near { &mut near } else { &mut far };
                if team.contains(&(other as usize)) && other_lane as usize == lane {
                    let away = i64::from(other) - row as i64;
                    if away != 0 {
                        let list = &mut lists[usize::from(away > 0)];
                        list.entry(away).or_insert([NONE; LANES])[lane] = at;
                    }
                } else {
                    let seats = [[row as u32, lane as u32], [other, other_lane]];
                    let is_same_team = team.contains(&(other as usize));
                    crossing.take((is_near, at), column < node, seats, is_same_team);
                }
            }
        }
        (self.crossings).add(row as u32, crossing, row == team.start);
        let start = [self.near.rows.len(), self.far.rows.len()];
        (self.near).add(row as u32, &near[0], whole_near, Default::default());
        (self.far).add(row as u32, &far[0], whole_far, Default::default());
        let middle = [self.near.rows.len(), self.far.rows.len()];
        self.near.cuts.0.push([start[0] as u32, middle[0] as u32]);
        self.far.cuts.0.push([start[1] as u32, middle[1] as u32]);
        (self.near).add(row as u32, &near[1], whole_near, Default::default());
        (self.far).add(row as u32, &far[1], whole_far, Default::default());
    }

    fn team_of(&self, row: usize) -> usize {
        self.firsts.partition_point(|&first| first <= row) - 1
    }

    /// The number of teams.
    pub(crate) fn len(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The rows of a team.
    pub(crate) fn rows(&self, team: usize) -> Range<usize> {
        self.firsts[team]..self.firsts[team + 1]
    }

    /// The number of rows of all teams.
    pub(crate) fn row_count(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes of a row, with their lanes.
    pub(crate) fn nodes(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let lanes = self.nodes[row].iter().enumerate();
        lanes.filter_map(|(lane, &node)| (node != NONE).then_some((lane, node as usize)))
    }

    /// The matrix, to be written.
    pub(crate) fn writing(&mut self) -> Writing<'_> {
        Writing {
            nodes: &self.nodes,
            near: self.near.writing(),
            far: self.far.writing(),
            diagonal: SharedSlice::new(&mut self.diagonal),
            inverse: SharedSlice::new(&mut self.inverse),
            crossings: self.crossings.writing(),
        }
    }
}

impl<T> Slots<T> {
    fn writing(&mut self) -> (&[[u32; LANES]], SharedSlice<'_, T>) {
        (&self.from, SharedSlice::new(&mut self.values))
    }
}

/// The matrix, being written.
pub(crate) struct Writing<'a> {
    nodes: &'a [[u32; LANES]],
    near: (&'a [[u32; LANES]], SharedSlice<'a, [Column; 9]>),
    far: (&'a [[u32; LANES]], SharedSlice<'a, [Column; 1]>),
    diagonal: SharedSlice<'a, Symmetric>,
    inverse: SharedSlice<'a, Symmetric>,
    crossings: domain_coupling::Writing<'a>,
}

impl Writing<'_> {
    /// Writes a thread's part of what joins nodes: links, and also far entries if these are new.
    pub(crate) fn copy(&self, exact: Exact<'_>, is_far_new: bool, worker: &Worker<'_>) {
        let (from, values) = &self.near;
        for slot in worker.share(from.len()) {
            values.change(slot, |slot_values| {
                for (lane, &at) in from[slot].iter().enumerate() {
                    if at != NONE {
                        let block = exact.block(at as usize);
                        for (value, x) in slot_values.iter_mut().zip(block) {
                            value.0[lane] = *x as f32;
                        }
                    }
                }
            });
        }
        let (from, values) = &self.far;
        let range = worker.share(from.len());
        for slot in range.filter(|_| is_far_new) {
            values.change(slot, |[value]| {
                for (lane, &at) in from[slot].iter().enumerate() {
                    if at != NONE {
                        value.0[lane] = exact.far(at as usize) as f32;
                    }
                }
            });
        }
        self.crossings.copy(&exact, is_far_new, worker);
    }

    /// Writes the diagonal blocks of a row's nodes and their inverses: what `of` says of a node.
    /// Gives whether all numbers are such.
    pub(crate) fn set_diagonal(&self, row: usize, of: impl Fn(usize) -> Option<[Own; 2]>) -> bool {
        let mut is_finite = true;
        for (lane, &node) in self.nodes[row].iter().enumerate() {
            let none = [[0.0; 6]; 2];
            let known = (node != NONE).then(|| of(node as usize)).flatten();
            for (to, block) in [&self.diagonal, &self.inverse]
                .into_iter()
                .zip(known.unwrap_or(none))
            {
                to.change(row, |columns| {
                    for (column, entry) in columns.iter_mut().zip(block) {
                        column.0[lane] = entry as f32;
                        is_finite &= column.0[lane].is_finite();
                    }
                });
            }
        }
        is_finite
    }
}
