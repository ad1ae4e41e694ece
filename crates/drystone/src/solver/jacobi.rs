//! Jacobi with mass splitting: all contacts at once, from the same velocities.
//!
//! Every contact is solved from the velocities at the start of the iteration, then all changes
//! are applied together. No contact waits for another, so the loop may run in any order or in
//! parallel with the same bits: the baseline for parallel machines.
//!
//! Plain Jacobi overshoots: four contacts under a box each lift it whole. With **mass splitting**
//! a body with n contacts is cut into n equal parts, one for each contact. Contact i sees the
//! block
//!
//! $$ D_i = \sum_{\text{sides } s} n_s\, A^{(s)}_{ii}, \qquad
//!    r_i \leftarrow \text{the solution of the law for } u = D_i r + (u_i - D_i r_i), $$
//!
//! with $A^{(s)}_{ii}$ the part of the diagonal block that comes from side s, and $n_s$ the
//! number of contacts on its body. By Cauchy and Schwarz
//! $\lVert\sum_{i=1}^n y_i\rVert^2 \le n\sum_i\lVert y_i\rVert^2$ on every body, so the block
//! diagonal D dominates A: a step never overshoots, and without friction the energy falls in
//! every iteration. In a matrix problem, which knows no bodies, n is the number of blocks in the
//! row and $D_i = n_i A_{ii}$, which dominates any positive semi-definite A of that pattern.
//! With Coulomb's law (which minimises nothing) convergence is not proved, here as elsewhere.
//!
//! **When to use it**: as the parallel baseline, and where the order of contacts must not show
//! (a symmetric scene keeps its symmetry). **When it fails**: it is several times slower per
//! iteration than Gauss-Seidel, and the more contacts a body has, the slower; tall stacks and
//! large mass ratios are out of reach.
//!
//! Source: R. Tonge, F. Benevolenski, A. Voroshilov, *Mass splitting for jitter-free parallel
//! rigid body simulation*, SIGGRAPH 2012.

use super::relaxation::{LocalSolve, solve_contact};
use super::single_contact::LocalContact;
use super::sweep_loop::Course;
use super::{Limits, SolveReport, Solver, island};
use crate::contact::problem::{ContactProblem, Impulses, Row, Side};
use crate::geometry::Space;
use serde::{Deserialize, Serialize};

/// Options of Jacobi with mass splitting. One iteration updates every contact once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jacobi {
    /// When to stop.
    pub limits: Limits,
    /// How a contact is solved.
    pub local: LocalSolve,
}

/// Iterations between two measurements.
const PER_MEASURE: u32 = 4;

impl<S: Space> Solver<S> for Jacobi {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        island::solve_each("jacobi", problem, impulses, |part, guess| {
            self.solve_island(part, guess)
        })
    }
}

impl Jacobi {
    fn solve_island<S: Space>(
        &self,
        problem: &ContactProblem<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut course = Course::new(self.limits, problem, impulses, self.local);
        let split = split_contacts(problem);
        let mut next = impulses.local.clone();
        while !course.is_over() {
            let state = &mut course.state;
            for (row, contact) in split.iter().enumerate() {
                let (r, u) = (state.impulses.local[row], state.velocity(row));
                next[row] = solve_contact(contact, self.local, r, u);
            }
            state.set_as_is(&next);
            course.done += 1;
            if course.done.is_multiple_of(PER_MEASURE) || course.done >= self.limits.iterations {
                course.measure();
            }
        }
        course.finish(impulses, "jacobi")
    }
}

/// The contacts with their split blocks D.
fn split_contacts<S: Space>(problem: &ContactProblem<S>) -> Vec<LocalContact<S>> {
    let contact = |row: usize, block| LocalContact::new(block, problem.rows[row].mu);
    if let Some(matrix) = &problem.delassus {
        return (0..problem.rows.len())
            .map(|row| {
                let coupled = matrix.row(row).count() as f64;
                let own = problem.diagonal(row);
                contact(row, S::matrix(|k| S::column(&own, k) * coupled))
            })
            .collect();
    }
    let mut touches = vec![0.0_f64; problem.responses.len()];
    for row in &problem.rows {
        for body in row.a.bodies().chain(row.b.bodies()) {
            touches[body as usize] += 1.0;
        }
    }
    // A point between nodes is moved by the most divided of them.
    let parts = |side: &Side<S>| {
        let counts = side.bodies().map(|body| touches[body as usize]);
        counts.fold(1.0, f64::max)
    };
    let one_sided = one_sided(problem);
    problem
        .rows
        .iter()
        .enumerate()
        .map(|(k, row)| {
            let of_a = one_sided.diagonal(2 * k);
            let of_b = one_sided.diagonal(2 * k + 1);
            let (n_a, n_b) = (parts(&row.a), parts(&row.b));
            contact(
                k,
                S::matrix(|axis| S::column(&of_a, axis) * n_a + S::column(&of_b, axis) * n_b),
            )
        })
        .collect()
}

/// The problem with each row as two: A against something fixed, and something fixed against B.
fn one_sided<S: Space>(problem: &ContactProblem<S>) -> ContactProblem<S> {
    let rows = problem.rows.iter().flat_map(|row| {
        let (a, b) = (row.a, row.b);
        let fixed = Side::Fixed;
        [
            Row {
                a,
                b: fixed,
                ..*row
            },
            Row {
                a: fixed,
                b,
                ..*row
            },
        ]
    });
    ContactProblem {
        rows: rows.collect(),
        responses: problem.responses.clone(),
        ..ContactProblem::default()
    }
}
