//! Sparse Cholesky factorisation of a symmetric matrix made of small dense blocks.
//!
//! Nodes (bodies or contacts) have a few unknowns each; two nodes that are coupled share a dense
//! block. The elimination order is found once on the graph of **nodes** by approximate minimum
//! degree, then written out for the unknowns: the graph is up to six times smaller than the
//! matrix, and unknowns of a node stay together, which is what the supernodal factorisation
//! wants. Order and symbolic factorisation depend on the pattern alone and are kept while the
//! numbers change.
//!
//! Numbers are factorised by `faer` where that feature is on ([`supernodal`]), otherwise by code of
//! this crate ([`simplicial`]), which needs no dependency and takes longer on large systems.
//!
//! Everything runs on one thread, so the bits do not depend on the number of cores.

#[cfg(any(test, not(feature = "faer")))]
mod simplicial;
#[cfg(feature = "faer")]
mod supernodal;

#[cfg(not(feature = "faer"))]
use simplicial::{Factor, order_nodes};
#[cfg(feature = "faer")]
use supernodal::{Factor, order_nodes};

use thiserror::Error;

/// Why a factorisation failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FactorError {
    /// The pattern could not be analysed.
    #[error("the pattern of the contact matrix could not be analysed: {0}")]
    Symbolic(String),
    /// An entry of the matrix is not a finite number.
    #[error("an entry of the contact matrix is not a finite number")]
    NotFinite,
    /// The matrix is not positive definite to rounding; a larger D would make it so.
    #[error("the contact matrix is not positive definite; add to its diagonal blocks")]
    Indefinite,
}

/// What a pivot that rounding has spoilt is replaced by. Both are relative to the pivots that
/// exact arithmetic can give, see [`BlockCholesky::factorize`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PivotFloor {
    /// Pivots below this are noise.
    pub(crate) threshold: f64,
    /// What stands in their place.
    pub(crate) value: f64,
}

/// A symmetric positive definite block matrix, its upper triangle stored, with its factor.
pub(crate) struct BlockCholesky {
    /// First unknown of each node, and the number of unknowns at the end.
    starts: Vec<u32>,
    /// Where each node's blocks start in `block_rows`; the last of a column is the diagonal.
    block_starts: Vec<u32>,
    /// Row node of each block, rising within a column.
    block_rows: Vec<u32>,
    pattern: Pattern,
    values: Vec<f64>,
    factor: Factor,
}

/// Where a symmetric matrix of unknowns has entries: its upper triangle by columns, the diagonal last
/// in each.
struct Pattern {
    /// Where each unknown's column starts, and the number of entries at the end.
    column_starts: Vec<u32>,
    /// Row unknown of each entry.
    value_rows: Vec<u32>,
}

impl Pattern {
    fn unknowns(&self) -> usize {
        self.column_starts.len() - 1
    }
}

/// Where a block lies among the values: entry (i, j) of the block of nodes (row, column) is at
/// `column_starts[starts[column] + j] + offset + i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlace {
    /// First unknown of the column node.
    column: u32,
    /// Values above the block in each of the node's columns.
    offset: u32,
    /// Whether only i ≤ j is stored.
    diagonal: bool,
}

impl std::fmt::Debug for BlockCholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockCholesky")
            .field("unknowns", &self.len())
            .field("entries", &self.values.len())
            .field("factor", &self.factor.entries())
            .finish_non_exhaustive()
    }
}

impl BlockCholesky {
    /// Finds order and pattern for nodes of the given sizes and for coupled pairs of nodes
    /// (row < column; the diagonal is always there; repetitions do no harm).
    pub(crate) fn new(sizes: &[u32], mut couples: Vec<(u32, u32)>) -> Result<Self, FactorError> {
        let nodes = sizes.len();
        couples.extend((0..nodes as u32).map(|k| (k, k)));
        couples.sort_unstable_by_key(|&(row, column)| (column, row));
        couples.dedup();
        let mut block_starts = vec![0_u32; nodes + 1];
        for &(_, column) in &couples {
            block_starts[column as usize + 1] += 1;
        }
        for k in 0..nodes {
            block_starts[k + 1] += block_starts[k];
        }
        let block_rows: Vec<u32> = couples.into_iter().map(|(row, _)| row).collect();
        let starts = cumulative(sizes.iter().copied());
        let pattern = unknowns_pattern(&starts, &block_starts, &block_rows)?;
        let mut order = Vec::with_capacity(pattern.unknowns());
        for node in order_nodes(&block_starts, &block_rows)? {
            order.extend(starts[node as usize]..starts[node as usize + 1]);
        }
        Ok(Self {
            values: vec![0.0; pattern.value_rows.len()],
            factor: Factor::new(&pattern, order)?,
            starts,
            block_starts,
            block_rows,
            pattern,
        })
    }

    /// The number of unknowns.
    pub(crate) fn len(&self) -> usize {
        self.pattern.unknowns()
    }

    /// First unknown of a node.
    pub(crate) fn start(&self, node: u32) -> usize {
        self.starts[node as usize] as usize
    }

    /// Where the block of two nodes lies, row ≤ column; `None` if they are not coupled.
    pub(crate) fn place(&self, row: u32, column: u32) -> Option<BlockPlace> {
        let first = self.block_starts[column as usize] as usize;
        let last = self.block_starts[column as usize + 1] as usize;
        let at = self.block_rows[first..last].binary_search(&row).ok()?;
        let size = |node: u32| self.starts[node as usize + 1] - self.starts[node as usize];
        let above = self.block_rows[first..first + at].iter();
        Some(BlockPlace {
            column: self.starts[column as usize],
            offset: above.map(|&node| size(node)).sum(),
            diagonal: row == column,
        })
    }

    /// Sets all numbers to zero.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds to column `j` of a block. Below the diagonal nothing is stored.
    #[inline]
    pub(crate) fn add_to_column(&mut self, place: BlockPlace, j: usize, entries: &[f64]) {
        let stored = if place.diagonal { j + 1 } else { entries.len() };
        let start = self.pattern.column_starts[place.column as usize + j] + place.offset;
        let start = start as usize;
        for (value, entry) in self.values[start..start + stored].iter_mut().zip(entries) {
            *value += entry;
        }
    }

    /// The diagonal entry of an unknown: the last of its column.
    pub(crate) fn diagonal_mut(&mut self, unknown: usize) -> &mut f64 {
        let end = self.pattern.column_starts[unknown + 1] as usize;
        &mut self.values[end - 1]
    }

    /// Scales rows and columns: entry (i, j) becomes sᵢ sⱼ times itself.
    pub(crate) fn scale(&mut self, s: &[f64]) {
        for column in 0..self.len() {
            let range = self.pattern.column_starts[column] as usize
                ..self.pattern.column_starts[column + 1] as usize;
            for at in range {
                self.values[at] *= s[column] * s[self.pattern.value_rows[at] as usize];
            }
        }
    }

    /// Factorises the numbers as they are now.
    ///
    /// A pivot below the floor's threshold, which exact arithmetic cannot give, is replaced: the
    /// factor is then that of a matrix nearby.
    pub(crate) fn factorize(&mut self, floor: PivotFloor) -> Result<(), FactorError> {
        if self.values.iter().any(|value| !value.is_finite()) {
            return Err(FactorError::NotFinite);
        }
        self.factor.factorize(&self.pattern, &self.values, floor)
    }

    /// x ← matrix⁻¹ x.
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64]) {
        self.factor.solve_in_place(x);
    }
}

/// 0, a, a + b, …
fn cumulative(sizes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0];
    let mut sum = 0;
    for size in sizes {
        sum += size;
        starts.push(sum);
    }
    starts
}

/// The pattern of unknowns from that of nodes.
fn unknowns_pattern(
    starts: &[u32],
    block_starts: &[u32],
    block_rows: &[u32],
) -> Result<Pattern, FactorError> {
    let mut column_starts = vec![0_u32];
    let mut value_rows = Vec::new();
    for node in 0..starts.len() - 1 {
        let blocks = block_starts[node] as usize..block_starts[node + 1] as usize;
        for column in starts[node]..starts[node + 1] {
            for &row_node in &block_rows[blocks.clone()] {
                let end = starts[row_node as usize + 1].min(column + 1);
                value_rows.extend(starts[row_node as usize]..end);
            }
            let end = u32::try_from(value_rows.len())
                .ok()
                .filter(|n| *n < 1 << 31);
            let end = end.ok_or_else(|| FactorError::Symbolic("too many entries".to_owned()))?;
            column_starts.push(end);
        }
    }
    Ok(Pattern {
        column_starts,
        value_rows,
    })
}

#[cfg(test)]
mod tests {
    use super::{FactorError, Pattern, PivotFloor, simplicial, unknowns_pattern};

    const NO_FLOOR: PivotFloor = PivotFloor {
        threshold: 0.0,
        value: 0.0,
    };

    /// A net of nodes of one to four unknowns, some coupled far away; starts of nodes, its pattern and
    /// the graph of nodes.
    fn net(nodes: u32) -> (Pattern, Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut starts = vec![0_u32];
        let (mut block_starts, mut block_rows) = (vec![0_u32], Vec::new());
        for k in 0..nodes {
            starts.push(starts[k as usize] + 1 + k % 4);
            let mut rows: Vec<u32> = [
                k.checked_sub(1),
                k.checked_sub(7),
                (k % 5 == 0).then_some(k / 3),
            ]
            .into_iter()
            .flatten()
            .collect();
            rows.push(k);
            rows.sort_unstable();
            rows.dedup();
            block_rows.extend(rows);
            block_starts.push(block_rows.len() as u32);
        }
        let pattern = unknowns_pattern(&starts, &block_starts, &block_rows).unwrap();
        (pattern, starts, block_starts, block_rows)
    }

    /// Numbers of a diagonally dominant matrix.
    fn dominant(pattern: &Pattern) -> Vec<f64> {
        let mut values: Vec<f64> = (0..pattern.value_rows.len())
            .map(|k| ((k * 37 % 23) as f64 - 11.0) / 11.0)
            .collect();
        for &end in &pattern.column_starts[1..] {
            values[end as usize - 1] = 40.0;
        }
        values
    }

    fn times(pattern: &Pattern, values: &[f64], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        for column in 0..x.len() {
            for at in pattern.column_starts[column]..pattern.column_starts[column + 1] {
                let (row, value) = (
                    pattern.value_rows[at as usize] as usize,
                    values[at as usize],
                );
                y[row] += value * x[column];
                if row != column {
                    y[column] += value * x[row];
                }
            }
        }
        y
    }

    fn unknown_order(starts: &[u32], nodes: Vec<u32>) -> Vec<u32> {
        let of_node = |k: u32| starts[k as usize]..starts[k as usize + 1];
        nodes.into_iter().flat_map(of_node).collect()
    }

    #[test]
    fn rows_of_the_factor_solve_their_matrix() {
        let (pattern, starts, block_starts, block_rows) = net(60);
        let values = dominant(&pattern);
        let order = simplicial::order_nodes(&block_starts, &block_rows).unwrap();
        let order = unknown_order(&starts, order);
        let mut factor = simplicial::Factor::new(&pattern, order).unwrap();
        let truth: Vec<f64> = (0..pattern.unknowns()).map(|k| (k as f64).sin()).collect();
        // Twice, since numbers come anew while the pattern stays.
        for scale in [3.0, 1.0] {
            let values: Vec<f64> = values.iter().map(|v| v * scale).collect();
            factor.factorize(&pattern, &values, NO_FLOOR).unwrap();
            let mut x = times(&pattern, &values, &truth);
            factor.solve_in_place(&mut x);
            for (x, truth) in x.iter().zip(&truth) {
                assert!((x - truth).abs() < 1e-12, "{x} {truth}");
            }
        }
    }

    #[test]
    #[cfg(feature = "faer")]
    fn both_factorisations_agree() {
        use super::supernodal;
        let (pattern, starts, block_starts, block_rows) = net(200);
        let values = dominant(&pattern);
        let b: Vec<f64> = (0..pattern.unknowns()).map(|k| (k as f64).cos()).collect();
        let order = supernodal::order_nodes(&block_starts, &block_rows).unwrap();
        let order = unknown_order(&starts, order);
        let mut own = simplicial::Factor::new(&pattern, order.clone()).unwrap();
        let mut faer = supernodal::Factor::new(&pattern, order).unwrap();
        assert!(
            own.entries() <= faer.entries(),
            "supernodes store zeros too"
        );
        own.factorize(&pattern, &values, NO_FLOOR).unwrap();
        faer.factorize(&pattern, &values, NO_FLOOR).unwrap();
        let (mut x, mut y) = (b.clone(), b);
        own.solve_in_place(&mut x);
        faer.solve_in_place(&mut y);
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-13, "{x} {y}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused_or_floored() {
        let (pattern, starts, block_starts, block_rows) = net(10);
        let mut values = dominant(&pattern);
        let order = simplicial::order_nodes(&block_starts, &block_rows).unwrap();
        let order = unknown_order(&starts, order);
        let mut factor = simplicial::Factor::new(&pattern, order).unwrap();
        values[pattern.column_starts[4] as usize - 1] = -1.0;
        let failed = factor.factorize(&pattern, &values, NO_FLOOR);
        assert_eq!(failed, Err(FactorError::Indefinite));
        let floor = PivotFloor {
            threshold: 1e-9,
            value: 1.0,
        };
        assert_eq!(factor.factorize(&pattern, &values, floor), Ok(()));
    }
}
