//! Sparse Cholesky factorisation row by row, without any dependency.
//!
//! Row k of $L$, with $L L^T = A$, is the solution of a triangular system with the rows above; which
//! of its entries are not zero is told by the elimination tree (Davis, *Direct Methods for Sparse
//! Linear Systems*, 2006, chapter 4). It does not gather columns of the same pattern, so on large
//! systems it is some times slower than the supernodal factorisation of `faer`, which takes its place
//! where that feature is on.

use super::{FactorError, Pattern, PivotFloor};
use crate::math::sparse_ldlt::elimination_order;
use std::collections::BTreeSet;

/// No unknown.
const NONE: u32 = u32::MAX;

/// The factor of a symmetric positive definite matrix whose pattern stays.
pub(super) struct Factor {
    /// The unknown of the matrix that is eliminated k-th.
    unknown: Vec<u32>,
    /// Entries of the matrix above the diagonal in the order of elimination, column by column: the
    /// place of the row, and which value it is.
    above: Vec<(u32, u32)>,
    above_starts: Vec<u32>,
    /// The first unknown below that an unknown's column of L has an entry with.
    parents: Vec<u32>,
    /// Columns of L, the diagonal first.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Where the next entry of each column goes.
    ends: Vec<u32>,
    /// A row of L on its way, and the right side of a system.
    row: Vec<f64>,
    /// Columns in which the row has entries, and the row in which each column was met last.
    reached: Vec<u32>,
    met: Vec<u32>,
}

impl Factor {
    /// Finds the pattern of L where unknowns are eliminated in this order.
    pub(super) fn new(pattern: &Pattern, unknown: Vec<u32>) -> Result<Self, FactorError> {
        let n = unknown.len();
        let mut place = vec![0_u32; n];
        for (k, &from) in unknown.iter().enumerate() {
            place[from as usize] = k as u32;
        }
        let (above_starts, above) = permuted(pattern, &place);
        let mut this = Self {
            unknown,
            above,
            above_starts,
            parents: vec![NONE; n],
            starts: Vec::with_capacity(n + 1),
            rows: Vec::new(),
            values: Vec::new(),
            ends: vec![0; n],
            row: vec![0.0; n],
            reached: Vec::with_capacity(n),
            met: vec![NONE; n],
        };
        this.find_parents();
        let mut counts = vec![1_u32; n];
        this.met.fill(NONE);
        for k in 0..n {
            this.reach(k);
            for &column in &this.reached {
                counts[column as usize] += 1;
            }
        }
        let mut entries = 0_u32;
        for count in counts {
            this.starts.push(entries);
            entries = entries
                .checked_add(count)
                .ok_or_else(|| FactorError::Symbolic("too many entries".to_owned()))?;
        }
        this.starts.push(entries);
        this.rows = vec![0; entries as usize];
        this.values = vec![0.0; entries as usize];
        Ok(this)
    }

    /// Numbers of the factor.
    pub(super) fn entries(&self) -> usize {
        self.values.len()
    }

    fn column_above(&self, k: usize) -> std::ops::Range<usize> {
        self.above_starts[k] as usize..self.above_starts[k + 1] as usize
    }

    /// Builds the elimination tree. `met` are shortcuts to ancestors on the way.
    fn find_parents(&mut self) {
        let mut ancestors = vec![NONE; self.parents.len()];
        for k in 0..self.parents.len() {
            for at in self.column_above(k) {
                let mut node = self.above[at].0;
                while node != NONE && node < k as u32 {
                    let next = std::mem::replace(&mut ancestors[node as usize], k as u32);
                    if next == NONE {
                        self.parents[node as usize] = k as u32;
                    }
                    node = next;
                }
            }
        }
    }

    /// Finds the columns in which row k of L has entries, in an order in which they can be eliminated.
    fn reach(&mut self, k: usize) {
        self.reached.clear();
        self.met[k] = k as u32;
        for at in self.column_above(k) {
            let mut node = self.above[at].0;
            while self.met[node as usize] != k as u32 {
                self.met[node as usize] = k as u32;
                self.reached.push(node);
                node = self.parents[node as usize];
            }
        }
        // A column depends on earlier ones only.
        self.reached.sort_unstable();
    }

    /// Factorises these values of the pattern.
    pub(super) fn factorize(
        &mut self,
        _: &Pattern,
        values: &[f64],
        floor: PivotFloor,
    ) -> Result<(), FactorError> {
        self.met.fill(NONE);
        self.row.fill(0.0);
        for k in 0..self.unknown.len() {
            self.reach(k);
            for at in self.column_above(k) {
                let (row, value) = self.above[at];
                self.row[row as usize] += values[value as usize];
            }
            let mut pivot = std::mem::take(&mut self.row[k]);
            for &column in &self.reached {
                let column = column as usize;
                let entry = std::mem::take(&mut self.row[column]);
                let start = self.starts[column] as usize;
                let end = self.ends[column] as usize;
                let entry = entry / self.values[start];
                for at in start + 1..end {
                    self.row[self.rows[at] as usize] -= self.values[at] * entry;
                }
                pivot -= entry * entry;
                self.rows[end] = k as u32;
                self.values[end] = entry;
                self.ends[column] += 1;
            }
            if pivot <= floor.threshold {
                pivot = floor.value;
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(FactorError::Indefinite);
            }
            let start = self.starts[k] as usize;
            self.rows[start] = k as u32;
            self.values[start] = pivot.sqrt();
            self.ends[k] = start as u32 + 1;
        }
        Ok(())
    }

    /// x ← matrix⁻¹ x.
    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = self.unknown.len();
        for (y, &from) in self.row.iter_mut().zip(&self.unknown) {
            *y = x[from as usize];
        }
        let column = |k: usize| self.starts[k] as usize..self.starts[k + 1] as usize;
        for k in 0..n {
            let range = column(k);
            let y = self.row[k] / self.values[range.start];
            self.row[k] = y;
            for at in range.skip(1) {
                self.row[self.rows[at] as usize] -= self.values[at] * y;
            }
        }
        for k in (0..n).rev() {
            let range = column(k);
            let diagonal = self.values[range.start];
            let mut y = self.row[k];
            for at in range.skip(1) {
                y -= self.values[at] * self.row[self.rows[at] as usize];
            }
            self.row[k] = y / diagonal;
        }
        for (&y, &to) in self.row.iter().zip(&self.unknown) {
            x[to as usize] = y;
        }
    }
}

/// Entries above the diagonal and on it in the order of elimination: starts of columns, and of each
/// entry the place of its row and which value it is.
fn permuted(pattern: &Pattern, place: &[u32]) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut entries: Vec<(u32, u32, u32)> = Vec::with_capacity(pattern.value_rows.len());
    for column in 0..place.len() {
        let starts = &pattern.column_starts;
        for at in starts[column]..starts[column + 1] {
            let row = place[pattern.value_rows[at as usize] as usize];
            let column = place[column];
            entries.push((column.max(row), column.min(row), at));
        }
    }
    entries.sort_unstable();
    let mut starts = vec![0_u32; place.len() + 1];
    for &(column, ..) in &entries {
        starts[column as usize + 1] += 1;
    }
    for k in 0..place.len() {
        starts[k + 1] += starts[k];
    }
    let above = entries.into_iter().map(|(_, row, at)| (row, at)).collect();
    (starts, above)
}

/// Nodes in the order of their elimination: those with the fewest neighbours first.
pub(super) fn order_nodes(
    block_starts: &[u32],
    block_rows: &[u32],
) -> Result<Vec<u32>, FactorError> {
    let nodes = block_starts.len() - 1;
    let mut near = vec![BTreeSet::new(); nodes];
    for node in 0..nodes {
        let blocks = block_starts[node] as usize..block_starts[node + 1] as usize;
        for &row in block_rows[blocks]
            .iter()
            .filter(|&&row| row as usize != node)
        {
            near[node].insert(row);
            near[row as usize].insert(node as u32);
        }
    }
    elimination_order(near, usize::MAX / nodes.max(1))
        .ok_or_else(|| FactorError::Symbolic("too many entries".to_owned()))
}
