//! The problem as matrices: for oracles, plots and readers of papers.
//!
//! Rows of J and of A come in the problem's order, `DIM` for each contact (normal, tangents).
//! Columns of J and rows of M come in the order of bodies, each with `DIM` linear and
//! `SPIN_DIM` angular coordinates. The stepper never builds any of this.

use super::{ContactProblem, Side};
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::sparse_matrix::SparseMatrix;

/// J, M⁻¹, A = J M⁻¹ Jᵀ and b of a contact problem.
///
/// A γ − b is the offset velocity ũ: b = t − J v\* on normals and −J v\* on tangents.
#[derive(Clone, Debug)]
pub struct MatrixForm {
    /// Contact coordinates × body coordinates.
    pub j: SparseMatrix,
    /// Inverse masses and inertias, block diagonal.
    pub inv_m: SparseMatrix,
    /// Contact coordinates, symmetric.
    pub a: SparseMatrix,
    /// One number for each contact coordinate, m/s.
    pub b: Vec<f64>,
}

impl<S: Space> ContactProblem<S> {
    /// Builds the matrices.
    #[must_use]
    pub fn matrix_form(&self) -> MatrixForm {
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
                    j.push((at, column, value));
                });
                side_entries::<S>(&row.b, axis, 1.0, |column, value| {
                    j.push((at, column, value));
                });
                b.push(-free.component(k));
            }
        }
        let mut inv_m = Vec::new();
        for (body, response) in self.responses.iter().enumerate() {
            let at = per_body * body;
            for k in 0..S::DIM {
                let value = response.inv_mass.component(k);
                inv_m.push(((at + k) as u32, (at + k) as u32, value));
            }
            for k in 0..S::SPIN_DIM {
                let unit = S::Spin::default().with_component(k, 1.0);
                let column = S::apply_inertia(&response.inv_inertia, unit);
                for l in 0..S::SPIN_DIM {
                    let (row, col) = (at + S::DIM + l, at + S::DIM + k);
                    inv_m.push((row as u32, col as u32, column.component(l)));
                }
            }
        }

        let j = SparseMatrix::from_entries([unknowns, coordinates], j);
        let inv_m = SparseMatrix::from_entries([coordinates, coordinates], inv_m);
        let a = j.times(&inv_m.times(&j.transposed()));
        MatrixForm { j, inv_m, a, b }
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
