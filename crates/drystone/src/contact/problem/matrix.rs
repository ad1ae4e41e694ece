//! The problem as matrices: for oracles, plots and readers of papers.
//!
//! Rows of J and of A come in the problem's order, `DIM` for each contact (normal, tangents).
//! Columns of J and rows of M come in the order of bodies, each with `DIM` linear and
//! `SPIN_DIM` angular coordinates. The stepper never builds any of this.

use faer::sparse::{SparseColMat, Triplet};

use super::{ContactProblem, Side};
use crate::geometry::Space;
use crate::math::algebra::Components;

/// J, M⁻¹, A = J M⁻¹ Jᵀ and b of a contact problem.
///
/// A γ − b is the offset velocity ũ: b = t − J v\* on normals and −J v\* on tangents.
#[derive(Clone, Debug)]
pub struct MatrixForm {
    /// Contact coordinates × body coordinates.
    pub j: SparseColMat<u32, f64>,
    /// Inverse masses and inertias, block diagonal.
    pub inv_m: SparseColMat<u32, f64>,
    /// Contact coordinates, symmetric.
    pub a: SparseColMat<u32, f64>,
    /// One number for each contact coordinate, m/s.
    pub b: Vec<f64>,
}

/// Why the matrices could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the contact matrices could not be built: {0}")]
pub struct MatrixError(String);

impl<S: Space> ContactProblem<S> {
    /// Builds the matrices.
    pub fn matrix_form(&self) -> Result<MatrixForm, MatrixError> {
        let per_body = S::DIM + S::SPIN_DIM;
        let unknowns = S::DIM * self.rows.len();
        let coordinates = per_body * self.responses.len();

        let unpressed = self.free_velocities();
        let mut j = Vec::new();
        let mut b = Vec::with_capacity(unknowns);
        for (i, row) in self.rows.iter().enumerate() {
            let free = self.offset_velocity(i, &unpressed);
            for k in 0..S::DIM {
                let axis = S::column(&row.basis, k);
                let at = (S::DIM * i + k) as u32;
                side_entries::<S>(&row.a, axis, -1.0, |column, value| {
                    j.push(Triplet::new(at, column, value));
                });
                side_entries::<S>(&row.b, axis, 1.0, |column, value| {
                    j.push(Triplet::new(at, column, value));
                });
                b.push(-free.component(k));
            }
        }
        let mut inv_m = Vec::new();
        for (body, response) in self.responses.iter().enumerate() {
            let at = per_body * body;
            for k in 0..S::DIM {
                let value = response.inv_mass.component(k);
                inv_m.push(Triplet::new((at + k) as u32, (at + k) as u32, value));
            }
            for k in 0..S::SPIN_DIM {
                let unit = S::Spin::default().with_component(k, 1.0);
                let column = S::apply_inertia(&response.inv_inertia, unit);
                for l in 0..S::SPIN_DIM {
                    let (row, col) = (at + S::DIM + l, at + S::DIM + k);
                    inv_m.push(Triplet::new(row as u32, col as u32, column.component(l)));
                }
            }
        }

        let failed = |e: faer::sparse::CreationError| MatrixError(format!("{e:?}"));
        let j = SparseColMat::try_new_from_triplets(unknowns, coordinates, &j).map_err(failed)?;
        let inv_m = SparseColMat::try_new_from_triplets(coordinates, coordinates, &inv_m)
            .map_err(failed)?;
        let transposed = j
            .transpose()
            .to_col_major()
            .map_err(|e| MatrixError(format!("{e:?}")))?;
        let a = &j * &(&inv_m * &transposed);
        Ok(MatrixForm { j, inv_m, a, b })
    }
}

/// Calls `entry(column, value)` for the entries of one row of J that a side brings: the
/// derivative of `sign · axis · (velocity of the side's point)`. Entries of one body named twice
/// are added up by a program that sums triplets.
fn side_entries<S: Space>(
    side: &Side<S>,
    axis: S::Vector,
    sign: f64,
    mut entry: impl FnMut(u32, f64),
) {
    let per_body = S::DIM + S::SPIN_DIM;
    let linear = |body: u32, weight: f64, entry: &mut dyn FnMut(u32, f64)| {
        let at = body as usize * per_body;
        for k in 0..S::DIM {
            entry((at + k) as u32, sign * weight * axis.component(k));
        }
    };
    match *side {
        Side::Fixed => {}
        Side::Particle { body } => linear(body, 1.0, &mut entry),
        Side::Rigid { body, arm } => {
            linear(body, 1.0, &mut entry);
            // axis · (ω × r) = ω · (r × axis).
            let lever = S::cross(arm, axis);
            let at = body as usize * per_body + S::DIM;
            for k in 0..S::SPIN_DIM {
                entry((at + k) as u32, sign * lever.component(k));
            }
        }
        Side::Nodes { bodies, weights } => {
            for (&body, weight) in bodies.iter().zip(weights) {
                linear(body, weight, &mut entry);
            }
        }
    }
}

/// y = matrix · x, for tests and small oracles.
#[must_use]
pub fn multiply(matrix: &SparseColMat<u32, f64>, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; matrix.nrows()];
    for (col, &x) in x.iter().enumerate().take(matrix.ncols()) {
        let rows = matrix.symbolic().row_idx_of_col_raw(col);
        for (row, value) in rows.iter().zip(matrix.val_of_col(col)) {
            y[*row as usize] += value * x;
        }
    }
    y
}

/// A world velocity as one column, in the order of J's columns.
#[must_use]
pub fn flatten<S: Space>(motion: &[crate::model::body::Motion<S>]) -> Vec<f64> {
    motion
        .iter()
        .flat_map(|m| {
            let linear = (0..S::DIM).map(|k| m.linear.component(k));
            let spin = (0..S::SPIN_DIM).map(|k| m.spin.component(k));
            linear.chain(spin).collect::<Vec<f64>>()
        })
        .collect()
}
