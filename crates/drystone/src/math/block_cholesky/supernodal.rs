//! Sparse Cholesky factorisation by `faer`: columns of the same pattern are taken together.

use super::{FactorError, Pattern, PivotFloor};
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

fn failed(what: impl std::fmt::Debug) -> FactorError {
    FactorError::Symbolic(format!("{what:?}"))
}

/// The factor of a symmetric positive definite matrix whose pattern stays.
pub(super) struct Factor {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    work: MemBuffer,
}

fn columns_of(pattern: &Pattern) -> SymbolicSparseColMatRef<'_, u32> {
    let unknowns = pattern.unknowns();
    let (starts, rows) = (&pattern.column_starts, &pattern.value_rows);
    SymbolicSparseColMatRef::new_checked(unknowns, unknowns, starts, None, rows)
}

impl Factor {
    /// Finds the pattern of the factor where unknowns are eliminated in this order.
    pub(super) fn new(pattern: &Pattern, unknown: Vec<u32>) -> Result<Self, FactorError> {
        let mut inverse = vec![0_u32; unknown.len()];
        for (k, &from) in unknown.iter().enumerate() {
            inverse[from as usize] = k as u32;
        }
        let order = PermRef::new_checked(&unknown, &inverse, unknown.len());
        let symbolic = factorize_symbolic_cholesky(
            columns_of(pattern),
            Side::Upper,
            SymmetricOrdering::Custom(order),
            CholeskySymbolicParams::default(),
        )
        .map_err(failed)?;
        let need = symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        Ok(Self {
            values: vec![0.0; symbolic.len_val()],
            work: MemBuffer::try_new(need).map_err(failed)?,
            symbolic,
        })
    }

    /// Numbers of the factor.
    pub(super) fn entries(&self) -> usize {
        self.values.len()
    }

    /// Factorises these values of the pattern.
    pub(super) fn factorize(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
        floor: PivotFloor,
    ) -> Result<(), FactorError> {
        let done = self.symbolic.factorize_numeric_llt(
            &mut self.values,
            SparseColMatRef::new(columns_of(pattern), values),
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
    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        let unknowns = x.len();
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, unknowns, 1),
            Par::Seq,
            MemStack::new(&mut self.work),
        );
    }
}

/// Nodes in the order of their elimination: approximate minimum degree.
pub(super) fn order_nodes(
    block_starts: &[u32],
    block_rows: &[u32],
) -> Result<Vec<u32>, FactorError> {
    let nodes = block_starts.len() - 1;
    let graph = SymbolicSparseColMatRef::new_checked(nodes, nodes, block_starts, None, block_rows);
    let need = amd::order_scratch::<u32>(nodes, block_rows.len());
    let mut work = MemBuffer::try_new(need).map_err(failed)?;
    let mut order = vec![0; nodes];
    let mut inverse = vec![0; nodes];
    let control = amd::Control::default();
    amd::order(
        &mut order,
        &mut inverse,
        graph,
        control,
        MemStack::new(&mut work),
    )
    .map_err(failed)?;
    Ok(order)
}
