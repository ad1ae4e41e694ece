//! Linear complementarity problems by Lemke's complementary pivoting, dense.
//!
//! Given M (n × n) and q, find z with
//!
//! $$ w = M z + q, \qquad 0 \le z \perp w \ge 0 . $$
//!
//! **Idea.** Add an artificial variable $z_0$ that lifts every w above zero,
//! $w = M z + q + e z_0$. Then walk along the edges of that polyhedron: the complement of whatever
//! left the basis enters it, so all products $w_i z_i$ stay zero, until $z_0$ leaves (solved) or
//! an edge runs to infinity (a ray). For M that is copositive-plus (all positive semi-definite
//! ones) a ray proves that there is no solution; for the copositive matrices of friction problems
//! it is rare, but it happens.
//!
//! **Cycling.** Contact problems are degenerate: symmetric scenes tie everywhere. Ties are broken
//! lexicographically, by the rows of the inverse basis, with which no basis comes back in exact
//! arithmetic; in floating point the cap on pivots ends the rest.
//!
//! **Accuracy.** Rows and columns are scaled to a unit diagonal. The tableau gathers rounding as
//! it is pivoted, so only the final basis is taken from it: $M_{ZZ} z_Z = -q_Z$ is solved afresh,
//! and the answer is checked. Where rounding led to a ray or to a wrong answer, the walk starts
//! again with another vector in the place of e, a few times.
//!
//! **Cost.** About n to 3n pivots of 2n² operations each: an oracle, not a solver for piles.
//!
//! Source: R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem*, 1992,
//! algorithm 4.4.5 and section 4.9.

use super::dense;
use thiserror::Error;

/// Why pivoting ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PivotError {
    /// An edge ran to infinity.
    #[error("a ray: the method finds no solution of this problem")]
    Ray,
    /// Rounding got the better of the table.
    #[error("pivoting lost its accuracy: the answer it ended with is none")]
    Rounding,
    /// Too many pivots.
    #[error("no solution within the given number of pivots")]
    Pivots,
    /// Numbers that are not finite.
    #[error("the problem holds numbers that are not finite")]
    NotFinite,
}

/// A solution of a linear complementarity problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Pivoted {
    /// z.
    pub z: Vec<f64>,
    /// Pivots made.
    pub pivots: u32,
}

/// Ways of lifting w that are tried one after another: a ray of one is none of the next.
const ATTEMPTS: u32 = 6;

/// Error of w in an answer, relative to the terms it is the sum of.
const ACCURATE: f64 = 1e-8;

/// Entries of a scaled tableau below this are taken for zero; those of contact problems are of
/// the order of one.
const ZERO: f64 = 1e-11;

/// Solves w = M z + q, 0 ≤ z ⊥ w ≥ 0. `m` holds M by rows, n² numbers for the n of `q`.
pub fn lemke(m: &[f64], q: &[f64], most_pivots: u32) -> Result<Pivoted, PivotError> {
    let n = q.len();
    if m.len() != n * n || !m.iter().chain(q).all(|x| x.is_finite()) {
        return Err(PivotError::NotFinite);
    }
    if q.iter().all(|q| *q >= 0.0) {
        return Ok(Pivoted {
            z: vec![0.0; n],
            pivots: 0,
        });
    }
    let scale = scales(m, n);
    let size = (0..n).fold(0.0, |most: f64, i| most.max((q[i] * scale[i]).abs()));
    let m: Vec<f64> = (0..n * n)
        .map(|k| m[k] * scale[k / n] * scale[k % n])
        .collect();
    let q: Vec<f64> = (0..n).map(|i| q[i] * scale[i] / size).collect();
    let mut pivots = 0;
    let mut outcome = Err(PivotError::Ray);
    for attempt in 0..ATTEMPTS {
        let mut tableau = Tableau::new(&m, &q, attempt);
        // Walks that end take two or three pivots for each row; longer ones go round in circles.
        let patience = 6 * n as u32 + 50;
        outcome = tableau.run(
            patience.min(most_pivots.saturating_sub(pivots)),
            &mut pivots,
        );
        if outcome.is_ok() {
            let y = tableau.solution(&m, &q);
            if is_accurate(&m, &q, &y) {
                let z = y.iter().zip(&scale).map(|(y, s)| y * s * size).collect();
                return Ok(Pivoted { z, pivots });
            }
            outcome = Err(PivotError::Rounding);
        }
    }
    outcome.and(Err(PivotError::Rounding))
}

/// Factors of rows and columns that make the diagonal 1, and the largest entry of a column
/// without diagonal.
fn scales(m: &[f64], n: usize) -> Vec<f64> {
    let own = |i: usize| m[i * n + i];
    let mut scale: Vec<f64> = (0..n)
        .map(|i| {
            if own(i) > 0.0 {
                1.0 / own(i).sqrt()
            } else {
                1.0
            }
        })
        .collect();
    for i in (0..n).filter(|&i| own(i) <= 0.0) {
        let largest = (0..n)
            .filter(|&j| own(j) > 0.0)
            .fold(0.0, |most: f64, j| most.max(m[j * n + i].abs() * scale[j]));
        scale[i] = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    }
    scale
}

/// Whether 0 ≤ y ⊥ M y + q ≥ 0 holds to a part of what M y adds up to (y ≥ 0 does by making).
fn is_accurate(m: &[f64], q: &[f64], y: &[f64]) -> bool {
    m.chunks_exact(q.len())
        .zip(q)
        .zip(y)
        .all(|((row, q), y_i)| {
            let terms = row.iter().zip(y).map(|(m, y)| m * y);
            let sum = 1.0 + terms.clone().map(f64::abs).sum::<f64>();
            let w = q + terms.sum::<f64>();
            w >= -ACCURATE * sum && (w.abs() <= ACCURATE * sum || *y_i <= ACCURATE * (1.0 + sum))
        })
}

/// w − M z − e z₀ = q in rows; columns: w (n), z (n), z₀, right-hand side.
struct Tableau {
    n: usize,
    width: usize,
    cells: Vec<f64>,
    /// Column of the variable that each row is solved for.
    basis: Vec<usize>,
}

impl Tableau {
    /// Attempt 0 lifts all rows alike; the others by parts from 1 to 2 that follow no pattern.
    fn new(m: &[f64], q: &[f64], attempt: u32) -> Self {
        let n = q.len();
        let width = 2 * n + 2;
        let mut cells = vec![0.0; n * width];
        for i in 0..n {
            let row = &mut cells[i * width..(i + 1) * width];
            row[i] = 1.0;
            for j in 0..n {
                row[n + j] = -m[i * n + j];
            }
            let part = (f64::from(attempt) * (i + 1) as f64 * 0.618_033_988_75).fract();
            row[2 * n] = -1.0 - part;
            row[2 * n + 1] = q[i];
        }
        Self {
            n,
            width,
            cells,
            basis: (0..n).collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.width + column]
    }

    /// Pivots until z₀ leaves, and counts.
    fn run(&mut self, most: u32, pivots: &mut u32) -> Result<(), PivotError> {
        let artificial = 2 * self.n;
        // The w that needs the most lift leaves first, the last of equals: then every row is
        // lexicographically positive, and stays so.
        let lift = |i: usize| self.at(i, self.width - 1) / self.at(i, artificial);
        let lowest = (0..self.n).fold(0, |low, i| if lift(i) >= lift(low) { i } else { low });
        let mut left = self.basis[lowest];
        self.pivot(lowest, artificial);
        for _ in 0..most {
            if left == artificial {
                return Ok(());
            }
            *pivots += 1;
            let entering = if left < self.n {
                left + self.n
            } else {
                left - self.n
            };
            let row = self.leaving(entering).ok_or(PivotError::Ray)?;
            left = self.basis[row];
            self.pivot(row, entering);
        }
        Err(PivotError::Pivots)
    }

    /// The row that limits the entering variable: the lexicographically least ratio.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let artificial = 2 * self.n;
        let right = self.width - 1;
        let candidates: Vec<usize> = (0..self.n)
            .filter(|&i| self.at(i, entering) > ZERO)
            .collect();
        let ratio = |i: usize, column: usize| self.at(i, column) / self.at(i, entering);
        let least = |rows: &[usize], column: usize| -> Vec<usize> {
            let low = rows
                .iter()
                .fold(f64::INFINITY, |low, &i| low.min(ratio(i, column)));
            let tied = |i: &usize| ratio(*i, column) <= low + ZERO * (1.0 + low.abs());
            rows.iter().copied().filter(tied).collect()
        };
        let mut rows = least(&candidates, right);
        // The artificial variable goes as soon as it may: that is the end.
        if let Some(&done) = rows.iter().find(|&&i| self.basis[i] == artificial) {
            return Some(done);
        }
        for column in 0..self.n {
            if rows.len() <= 1 {
                break;
            }
            rows = least(&rows, column);
        }
        rows.first().copied()
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let inverse = 1.0 / self.at(row, column);
        let line: Vec<f64> = self.cells[row * width..(row + 1) * width]
            .iter()
            .map(|x| x * inverse)
            .collect();
        for (i, other) in self.cells.chunks_exact_mut(width).enumerate() {
            if i == row {
                other.copy_from_slice(&line);
                other[column] = 1.0;
                continue;
            }
            let factor = other[column];
            if factor != 0.0 {
                for (x, l) in other.iter_mut().zip(&line) {
                    *x -= factor * l;
                }
                other[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    /// z of the final basis, solved afresh.
    fn solution(&self, m: &[f64], q: &[f64]) -> Vec<f64> {
        let n = self.n;
        let right = self.width - 1;
        let mut z = vec![0.0; n];
        let mut active = Vec::new();
        for (row, &column) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(&column) {
                active.push(column - n);
                z[column - n] = self.at(row, right).max(0.0);
            }
        }
        active.sort_unstable();
        let mut system: Vec<f64> = Vec::with_capacity(active.len() * active.len());
        for &i in &active {
            system.extend(active.iter().map(|&j| m[i * n + j]));
        }
        let load: Vec<f64> = active.iter().map(|&i| -q[i]).collect();
        // A basis that is singular in floating point keeps what the tableau says.
        if let Some(fresh) = dense::solve(&system, &load)
            && fresh.iter().all(|x| *x > -1e-9)
        {
            for (&i, x) in active.iter().zip(fresh) {
                z[i] = x.max(0.0);
            }
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every choice of active variables, tried in turn.
    fn brute_force(m: &[f64], q: &[f64]) -> Option<Vec<f64>> {
        let n = q.len();
        (0..1_u32 << n).find_map(|choice| {
            let active: Vec<usize> = (0..n).filter(|i| choice >> i & 1 == 1).collect();
            let mut system = Vec::new();
            for &i in &active {
                system.extend(active.iter().map(|&j| m[i * n + j]));
            }
            let load: Vec<f64> = active.iter().map(|&i| -q[i]).collect();
            let mut z = vec![0.0; n];
            for (&i, x) in active.iter().zip(dense::solve(&system, &load)?) {
                z[i] = x;
            }
            let fits =
                z.iter().all(|x| *x >= -1e-12) && slack(m, q, &z).iter().all(|w| *w >= -1e-10);
            fits.then_some(z)
        })
    }

    fn slack(m: &[f64], q: &[f64], z: &[f64]) -> Vec<f64> {
        let n = q.len();
        (0..n)
            .map(|i| q[i] + (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>())
            .collect()
    }

    proptest! {
        /// M = B Bᵀ of any rank, q in its range so that a solution exists: w is unique.
        #[test]
        fn agrees_with_brute_force(
            b in prop::collection::vec(-1.0..1.0, 36), x in prop::collection::vec(-1.0..1.0, 6),
            rank in 1..=6_usize
        ) {
            let n = 6;
            let column = |k: usize, i: usize| b[i * n + k];
            let m: Vec<f64> = (0..n * n)
                .map(|at| (0..rank).map(|k| column(k, at / n) * column(k, at % n)).sum())
                .collect();
            let q: Vec<f64> = (0..n)
                .map(|i| (0..rank).map(|k| column(k, i) * x[k]).sum())
                .collect();
            // Rounding can leave a singular M without a pivot, rarely; a regular one never.
            let Ok(Pivoted { z, .. }) = lemke(&m, &q, 1000) else {
                prop_assert!(rank < n);
                return Ok(());
            };
            let w = slack(&m, &q, &z);
            for i in 0..n {
                prop_assert!(z[i] >= 0.0 && w[i] > -1e-9, "z {z:?} w {w:?}");
                prop_assert!((z[i] * w[i]).abs() < 1e-8 * (1.0 + z[i]));
            }
            if rank == n && let Some(expected) = brute_force(&m, &q) {
                let expected = slack(&m, &q, &expected);
                for i in 0..n {
                    prop_assert!((w[i] - expected[i]).abs() < 1e-8);
                }
            }
        }
    }

    #[test]
    fn a_problem_without_solution_ends_in_a_ray() {
        assert_eq!(lemke(&[0.0], &[-1.0], 100), Err(PivotError::Ray));
        let m = [1.0, -1.0, -1.0, 1.0];
        assert_eq!(lemke(&m, &[-1.0, -1.0], 100), Err(PivotError::Ray));
    }

    #[test]
    fn degenerate_ties_do_not_cycle() {
        // All equal, all coupled: every ratio ties.
        let n = 12;
        let m = vec![1.0; n * n];
        let Pivoted { z, pivots } = lemke(&m, &vec![-1.0; n], 1000).unwrap();
        assert!((z.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(pivots <= 4 * n as u32);
    }

    #[test]
    fn bad_numbers_are_refused() {
        assert_eq!(lemke(&[f64::NAN], &[-1.0], 9), Err(PivotError::NotFinite));
        assert_eq!(lemke(&[1.0, 2.0], &[-1.0], 9), Err(PivotError::NotFinite));
    }
}
