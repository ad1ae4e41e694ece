//! Sparse Cholesky factorisation of a symmetric matrix made of small dense blocks.
//!
//! Nodes (bodies or contacts) have a few unknowns each; two nodes that are coupled share a dense
//! block. The elimination order is found once on the graph of **nodes** by approximate minimum
//! degree, then written out for the unknowns: the graph is up to six times smaller than the
//! matrix, and unknowns of a node stay together, which is what the supernodal factorisation
//! wants. Order and symbolic factorisation depend on the pattern alone and are kept while the
//! numbers change.
//!
//! Everything runs on one thread, so the bits do not depend on the number of cores.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

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
    /// Where each unknown's column starts in `values`.
    column_starts: Vec<u32>,
    /// Row unknown of each value.
    value_rows: Vec<u32>,
    values: Vec<f64>,
    symbolic: SymbolicCholesky<u32>,
    factor: Vec<f64>,
    work: MemBuffer,
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
            .field("factor", &self.factor.len())
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
        let (column_starts, value_rows) = unknowns_pattern(&starts, &block_starts, &block_rows)?;
        let unknowns = column_starts.len() - 1;

        let (forward, inverse) = {
            let order = order_nodes(&block_starts, &block_rows)?;
            let mut forward = Vec::with_capacity(unknowns);
            for node in order {
                forward.extend(starts[node as usize]..starts[node as usize + 1]);
            }
            let mut inverse = vec![0_u32; unknowns];
            for (k, &from) in forward.iter().enumerate() {
                inverse[from as usize] = k as u32;
            }
            (forward, inverse)
        };
        let pattern = SymbolicSparseColMatRef::new_checked(
            unknowns,
            unknowns,
            &column_starts,
            None,
            &value_rows,
        );
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Upper,
            SymmetricOrdering::Custom(PermRef::new_checked(&forward, &inverse, unknowns)),
            CholeskySymbolicParams::default(),
        )
        .map_err(|e| FactorError::Symbolic(format!("{e:?}")))?;
        let need = symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let work = MemBuffer::try_new(need)
            .map_err(|_| FactorError::Symbolic("not enough memory".to_owned()))?;
        Ok(Self {
            values: vec![0.0; value_rows.len()],
            factor: vec![0.0; symbolic.len_val()],
            starts,
            block_starts,
            block_rows,
            column_starts,
            value_rows,
            symbolic,
            work,
        })
    }

    /// The number of unknowns.
    pub(crate) fn len(&self) -> usize {
        self.column_starts.len() - 1
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
        let start = self.column_starts[place.column as usize + j] + place.offset;
        let start = start as usize;
        for (value, entry) in self.values[start..start + stored].iter_mut().zip(entries) {
            *value += entry;
        }
    }

    /// The diagonal entry of an unknown: the last of its column.
    pub(crate) fn diagonal_mut(&mut self, unknown: usize) -> &mut f64 {
        let end = self.column_starts[unknown + 1] as usize;
        &mut self.values[end - 1]
    }

    /// Scales rows and columns: entry (i, j) becomes sᵢ sⱼ times itself.
    pub(crate) fn scale(&mut self, s: &[f64]) {
        for column in 0..self.len() {
            let range =
                self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
            for at in range {
                self.values[at] *= s[column] * s[self.value_rows[at] as usize];
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
        let pattern = SymbolicSparseColMatRef::new_checked(
            self.len(),
            self.len(),
            &self.column_starts,
            None,
            &self.value_rows,
        );
        let done = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(pattern, &self.values),
            Side::Upper,
            LltRegularization {
                dynamic_regularization_delta: floor.value,
                dynamic_regularization_epsilon: floor.threshold,
            },
            Par::Seq,
            MemStack::new(&mut self.work),
            Default::default(),
        );
        done.map(|_| ()).map_err(|_| FactorError::Indefinite)
    }

    /// x ← matrix⁻¹ x.
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64]) {
        let unknowns = x.len();
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, unknowns, 1),
            Par::Seq,
            MemStack::new(&mut self.work),
        );
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

/// The pattern of unknowns from that of nodes: column starts and row indices.
fn unknowns_pattern(
    starts: &[u32],
    block_starts: &[u32],
    block_rows: &[u32],
) -> Result<(Vec<u32>, Vec<u32>), FactorError> {
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
    Ok((column_starts, value_rows))
}

/// Nodes in the order of their elimination.
fn order_nodes(block_starts: &[u32], block_rows: &[u32]) -> Result<Vec<u32>, FactorError> {
    let nodes = block_starts.len() - 1;
    let failed = |what: String| FactorError::Symbolic(what);
    let graph = SymbolicSparseColMatRef::new_checked(nodes, nodes, block_starts, None, block_rows);
    let mut work = MemBuffer::try_new(amd::order_scratch::<u32>(nodes, block_rows.len()))
        .map_err(|_| failed("not enough memory".to_owned()))?;
    let mut order = vec![0; nodes];
    let mut inverse = vec![0; nodes];
    amd::order(
        &mut order,
        &mut inverse,
        graph,
        amd::Control::default(),
        MemStack::new(&mut work),
    )
    .map_err(|e| failed(format!("{e:?}")))?;
    Ok(order)
}
