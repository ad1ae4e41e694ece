//! Small dense linear systems, for the oracles.
//!
//! The systems here have a handful of unknowns and must be answered to the last digit, or be
//! recognised as singular; nothing in a step uses them.

/// Pivots below this part of the largest entry mean a singular matrix: far above the rounding of
/// a few hundred unknowns, far below any contact's own block.
const SINGULAR: f64 = 1e-13;

/// Solves A x = b with A by rows: Gauss with complete pivoting and one step of refinement.
/// `None` where A is singular to rounding, or holds numbers that are not finite.
#[must_use]
pub fn solve(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let factors = Factors::new(a, n)?;
    let mut x = factors.solve(b);
    let residual: Vec<f64> = (0..n)
        .map(|i| b[i] - (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>())
        .collect();
    for (x, correction) in x.iter_mut().zip(factors.solve(&residual)) {
        *x += correction;
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// The least-norm x of those that bring A x nearest to b: for singular systems.
///
/// Iterated Tikhonov regularisation: x ← x + (AᵀA + εI)⁻¹Aᵀ(b − A x) converges to the
/// pseudo-inverse's answer by a factor ε/(ε + σ²) a step in the direction of singular value σ.
#[must_use]
pub fn least_norm(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let size = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let epsilon = 1e-6 * size * size;
    let mut normal = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            normal[i * n + j] = (0..n).map(|k| a[k * n + i] * a[k * n + j]).sum();
        }
        normal[i * n + i] += epsilon;
    }
    let factors = Factors::new(&normal, n)?;
    let mut x = vec![0.0; n];
    for _ in 0..20 {
        let off: Vec<f64> = (0..n)
            .map(|i| b[i] - (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>())
            .collect();
        let pulled: Vec<f64> = (0..n)
            .map(|j| (0..n).map(|i| a[i * n + j] * off[i]).sum())
            .collect();
        for (x, change) in x.iter_mut().zip(factors.solve(&pulled)) {
            *x += change;
        }
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// P A Q = L U.
struct Factors {
    n: usize,
    lu: Vec<f64>,
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Factors {
    fn new(a: &[f64], n: usize) -> Option<Self> {
        let mut lu = a.to_vec();
        let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
            ((0..n).collect(), (0..n).collect());
        let largest = lu.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for k in 0..n {
            let (mut best, mut at) = (0.0, (k, k));
            for i in k..n {
                for j in k..n {
                    let x: f64 = lu[i * n + j].abs();
                    if x > best {
                        (best, at) = (x, (i, j));
                    }
                }
            }
            // NaN compares false.
            let is_regular = best > SINGULAR * largest;
            if !is_regular {
                return None;
            }
            for j in 0..n {
                lu.swap(k * n + j, at.0 * n + j);
            }
            for i in 0..n {
                lu.swap(i * n + k, i * n + at.1);
            }
            rows.swap(k, at.0);
            columns.swap(k, at.1);
            for i in k + 1..n {
                let factor = lu[i * n + k] / lu[k * n + k];
                lu[i * n + k] = factor;
                for j in k + 1..n {
                    lu[i * n + j] -= factor * lu[k * n + j];
                }
            }
        }
        Some(Self {
            n,
            lu,
            rows,
            columns,
        })
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut y: Vec<f64> = self.rows.iter().map(|&i| b[i]).collect();
        for i in 0..n {
            for j in 0..i {
                y[i] -= self.lu[i * n + j] * y[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                y[i] -= self.lu[i * n + j] * y[j];
            }
            y[i] /= self.lu[i * n + i];
        }
        let mut x = vec![0.0; n];
        for (y, &column) in y.iter().zip(&self.columns) {
            x[column] = *y;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_systems_are_solved_and_singular_ones_told() {
        let a = [2.0, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 1e-6];
        let x = [1.0, -2.0, 3.0];
        let b: Vec<f64> = (0..3)
            .map(|i| (0..3).map(|j| a[i * 3 + j] * x[j]).sum())
            .collect();
        for (got, expected) in solve(&a, &b).unwrap().iter().zip(x) {
            assert!((got - expected).abs() < 1e-12);
        }
        assert_eq!(solve(&[1.0, 1.0, 1.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(solve(&[f64::NAN], &[1.0]), None);
        assert_eq!(solve(&[], &[]), Some(vec![]));
    }

    #[test]
    fn the_least_norm_shares_alike() {
        let x = least_norm(&[1.0, 1.0, 1.0, 1.0], &[2.0, 2.0]).unwrap();
        // The sum is exact; what is free is rounded by 1e-16 of the load over ε.
        assert!((x[0] + x[1] - 2.0).abs() < 1e-14 && (x[0] - 1.0).abs() < 1e-9);
    }
}
