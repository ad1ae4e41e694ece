//! A problem with its bodies left out: the matrix A = J M⁻¹ Jᵀ in blocks.
//!
//! Column j of A is what unit impulses at contact j do to the velocities of all contacts. Only
//! contacts that share a moving body with j feel them, so A is found one column at a time: push,
//! read the neighbours, take the push back. The cost is the number of blocks, and no J is built.

use super::{ContactProblem, Delassus, Velocities};
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::Motion;

impl<S: Space> ContactProblem<S> {
    /// A in blocks and q = J v\* (no targets), whether the problem has bodies or not.
    #[must_use]
    pub fn reduced(&self) -> Delassus<S> {
        if let Some(delassus) = &self.delassus {
            return delassus.clone();
        }
        let free = self.free_velocities();
        let rows_of_body = self.rows_of_body();
        let mut at_rest = Velocities {
            motion: vec![Motion::default(); self.free.len()],
            local: Vec::new(),
        };
        let mut reduced = Delassus {
            starts: vec![0],
            ..Delassus::default()
        };
        for row in 0..self.rows.len() {
            let neighbours = self.neighbours(row, &rows_of_body);
            // A_ij = A_jiᵀ: the columns of A_ij are the rows of what unit impulses here do there.
            let mut felt = vec![[S::Vector::default(); 3]; neighbours.len()];
            for axis in 0..S::DIM {
                let unit = S::Vector::default().with_component(axis, 1.0);
                self.apply(row, unit, &mut at_rest);
                for (felt, &other) in felt.iter_mut().zip(&neighbours) {
                    felt[axis] = self.velocity(other as usize, &at_rest);
                }
                self.still(row, &mut at_rest);
            }
            for (felt, &other) in felt.iter().zip(&neighbours) {
                let block = S::matrix(|column| {
                    (0..S::DIM).fold(S::Vector::default(), |v, axis| {
                        v.with_component(axis, felt[axis].component(column))
                    })
                });
                reduced.columns.push(other);
                reduced.blocks.push(block);
            }
            reduced.starts.push(reduced.columns.len() as u32);
            reduced.q.push(self.velocity(row, &free));
        }
        reduced
    }

    /// For each body, the rows that it has a side in, rising.
    fn rows_of_body(&self) -> Vec<Vec<u32>> {
        let mut rows_of_body = vec![Vec::new(); self.responses.len()];
        for (row, r) in self.rows.iter().enumerate() {
            for body in r.a.bodies().chain(r.b.bodies()) {
                let rows: &mut Vec<u32> = &mut rows_of_body[body as usize];
                if rows.last() != Some(&(row as u32)) {
                    rows.push(row as u32);
                }
            }
        }
        rows_of_body
    }

    /// Rows that share a moving body with `row`, and `row` itself, rising.
    fn neighbours(&self, row: usize, rows_of_body: &[Vec<u32>]) -> Vec<u32> {
        let r = &self.rows[row];
        let mut rows = vec![row as u32];
        for body in r.a.bodies().chain(r.b.bodies()) {
            if self.responses[body as usize].moves() {
                rows.extend(&rows_of_body[body as usize]);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Takes the motion away from the bodies of one row.
    fn still(&self, row: usize, velocities: &mut Velocities<S>) {
        let r = &self.rows[row];
        for body in r.a.bodies().chain(r.b.bodies()) {
            velocities.motion[body as usize] = Motion::default();
        }
    }
}

impl<S: Space> super::Response<S> {
    /// Whether any impulse moves or turns the body.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.inv_mass != S::Vector::default() || self.inv_inertia != S::NO_INERTIA
    }
}
