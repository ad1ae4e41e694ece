//! Sparse symmetric systems with a pattern that stays.
//!
//! $S = L D L^T$ with L unit lower triangular, row by row: row k of L solves a triangular system
//! with the rows before it, and which entries it has follows from the pattern's elimination tree.
//! The pattern is looked at once, numbers come anew in every step.

use std::collections::BTreeSet;

/// Diagonal that is added, relative to what is there: joints that say the same twice make S
/// singular, and then any answer will do.
const RELAXED: f64 = 1e-10;

/// In which order to eliminate the nodes of a graph: those with the fewest neighbours first.
/// `None` if more than `most` entries a node would arise.
pub(crate) fn elimination_order(mut near: Vec<BTreeSet<u32>>, most: usize) -> Option<Vec<u32>> {
    let count = near.len();
    let mut waiting: BTreeSet<(usize, u32)> = (0..count as u32)
        .map(|k| (near[k as usize].len(), k))
        .collect();
    let mut order = Vec::with_capacity(count);
    let mut entries = 0;
    while let Some((degree, node)) = waiting.pop_first() {
        entries += degree;
        if entries > most * count {
            return None;
        }
        order.push(node);
        let neighbours: Vec<u32> = std::mem::take(&mut near[node as usize])
            .into_iter()
            .collect();
        for &k in &neighbours {
            let own = &mut near[k as usize];
            waiting.remove(&(own.len(), k));
            own.remove(&node);
            own.extend(neighbours.iter().filter(|&&j| j != k));
            waiting.insert((own.len(), k));
        }
    }
    Some(order)
}

/// A factorised symmetric matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors {
    /// Where each column's entries above the diagonal start; rows of these, rising.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// L by columns.
    l_starts: Vec<u32>,
    l_rows: Vec<u32>,
    l_values: Vec<f64>,
    inverse: Vec<f64>,
    /// Which rows each row of L meets, in the order of elimination.
    meeting_starts: Vec<u32>,
    meetings: Vec<Meeting>,
    work: Vec<f64>,
}

/// Row k of L meets an earlier one.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    row: u32,
    /// Where column `row` of L has its entry of row k: those before it are there by then.
    place: u32,
}

const NONE: u32 = u32::MAX;

impl Factors {
    /// Looks at a pattern: `columns[k]` are the rows j < k with an entry, rising.
    pub(crate) fn new(columns: &[Vec<u32>]) -> Self {
        let n = columns.len();
        let mut this = Self {
            inverse: vec![0.0; n],
            work: vec![0.0; n],
            starts: vec![0],
            ..Self::default()
        };
        let mut counts = vec![0_u32; n];
        let met = meet(columns, &mut counts);
        let mut at = 0;
        this.l_starts.push(0);
        for &count in &counts {
            at += count;
            this.l_starts.push(at);
        }
        this.l_rows = vec![0; at as usize];
        this.l_values = vec![0.0; at as usize];
        let mut next = this.l_starts.clone();
        this.meeting_starts.push(0);
        for (k, rows) in met.iter().enumerate() {
            for &row in rows {
                let place = next[row as usize];
                next[row as usize] += 1;
                this.l_rows[place as usize] = k as u32;
                this.meetings.push(Meeting { row, place });
            }
            this.meeting_starts.push(this.meetings.len() as u32);
            this.rows.extend_from_slice(&columns[k]);
            this.starts.push(this.rows.len() as u32);
        }
        this
    }

    /// Entries above the diagonal: column and row.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.inverse.len()).flat_map(|k| {
            let range = self.starts[k] as usize..self.starts[k + 1] as usize;
            self.rows[range].iter().map(move |&row| (k, row as usize))
        })
    }

    /// Factorises: `above` are the numbers of [`Factors::entries`], in their order.
    pub(crate) fn factorise(&mut self, diagonal: &[f64], above: &[f64]) {
        for (k, &own) in diagonal.iter().enumerate() {
            let column = self.starts[k] as usize..self.starts[k + 1] as usize;
            for (&row, &number) in self.rows[column.clone()].iter().zip(&above[column]) {
                self.work[row as usize] = number;
            }
            let mut pivot = own * (1.0 + RELAXED);
            let range = self.meeting_starts[k] as usize..self.meeting_starts[k + 1] as usize;
            for &Meeting { row, place } in &self.meetings[range] {
                let (j, place) = (row as usize, place as usize);
                let value = std::mem::take(&mut self.work[j]);
                let first = self.l_starts[j] as usize;
                let earlier = self.l_rows[first..place].iter();
                for (&row, l) in earlier.zip(&self.l_values[first..place]) {
                    self.work[row as usize] -= l * value;
                }
                let l = value * self.inverse[j];
                pivot -= l * value;
                self.l_values[place] = l;
            }
            self.inverse[k] = if own > 0.0 {
                1.0 / pivot.max(own * RELAXED)
            } else {
                0.0
            };
        }
    }

    /// Solves in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.inverse.len();
        let column = |k: usize| self.l_starts[k] as usize..self.l_starts[k + 1] as usize;
        for k in 0..n {
            let value = x[k];
            for at in column(k) {
                x[self.l_rows[at] as usize] -= self.l_values[at] * value;
            }
        }
        for k in (0..n).rev() {
            let mut value = x[k] * self.inverse[k];
            for at in column(k) {
                value -= self.l_values[at] * x[self.l_rows[at] as usize];
            }
            x[k] = value;
        }
    }
}

/// The rows that each row of L meets: walks up the elimination tree from its entries, the latest
/// walk first, so that whatever changes a row comes before it. Counts entries of L by column.
fn meet(columns: &[Vec<u32>], counts: &mut [u32]) -> Vec<Vec<u32>> {
    let mut parent = vec![NONE; columns.len()];
    let mut mark = vec![NONE; columns.len()];
    let mut met = Vec::with_capacity(columns.len());
    for (k, column) in columns.iter().enumerate() {
        mark[k] = k as u32;
        let mut path: Vec<u32> = Vec::new();
        for &row in column {
            let start = path.len();
            let mut j = row as usize;
            while mark[j] != k as u32 {
                if parent[j] == NONE {
                    parent[j] = k as u32;
                }
                counts[j] += 1;
                mark[j] = k as u32;
                path.push(j as u32);
                j = parent[j] as usize;
            }
            let walked = path.len() - start;
            path.rotate_right(walked);
        }
        met.push(path);
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree and a few loops: factors solve what the matrix, multiplied out, asks.
    #[test]
    #[allow(clippy::needless_range_loop)]
    fn factors_solve_their_matrix() {
        let n = 40;
        let mut columns: Vec<Vec<u32>> = vec![Vec::new(); n];
        for k in 1..n {
            columns[k].push((k as u32 * 7) % k as u32);
            if k % 5 == 0 {
                columns[k].push(k as u32 - 1);
            }
            columns[k].sort_unstable();
            columns[k].dedup();
        }
        let mut factors = Factors::new(&columns);
        let entries: Vec<_> = factors.entries().collect();
        let above: Vec<f64> = (0..entries.len())
            .map(|k| ((k * 37 % 11) as f64 - 5.0) / 5.0)
            .collect();
        let diagonal = vec![12.0; n];
        // Twice, since numbers come anew in every step.
        factors.factorise(&vec![3.0; n], &above);
        factors.factorise(&diagonal, &above);
        let b: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).sin()).collect();
        let mut x = b.clone();
        factors.solve(&mut x);
        let mut product: Vec<f64> = x.iter().map(|x| 12.0 * x).collect();
        for (&(column, row), a) in entries.iter().zip(&above) {
            product[row] += a * x[column];
            product[column] += a * x[row];
        }
        for k in 0..n {
            assert!((product[k] - b[k]).abs() < 1e-7, "{k}");
        }
    }

    #[test]
    fn chains_are_eliminated_without_fill_and_nets_are_refused() {
        let chain = |n: u32| -> Vec<BTreeSet<u32>> {
            (0..n)
                .map(|k| {
                    [k.wrapping_sub(1), k + 1]
                        .into_iter()
                        .filter(|&j| j < n)
                        .collect()
                })
                .collect()
        };
        assert!(elimination_order(chain(100), 1).is_some());
        let side = 30_u32;
        let net: Vec<BTreeSet<u32>> = (0..side * side)
            .map(|k| {
                let (x, y) = (k % side, k / side);
                let mut near = BTreeSet::new();
                if x > 0 {
                    near.insert(k - 1);
                }
                if x + 1 < side {
                    near.insert(k + 1);
                }
                if y > 0 {
                    near.insert(k - side);
                }
                if y + 1 < side {
                    near.insert(k + side);
                }
                near
            })
            .collect();
        assert!(elimination_order(net, 4).is_none());
    }
}
