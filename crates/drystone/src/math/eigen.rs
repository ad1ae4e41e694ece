//! Eigenvalues of small symmetric matrices, and the matrices without their negative ones.

/// Sweeps at most; each squares the distance from a diagonal matrix, so six are usual.
const SWEEPS: usize = 30;
/// Largest matrix, rows.
const MOST: usize = 12;

/// Replaces a symmetric matrix (row after row, `n` at most twelve) by the nearest positive
/// semidefinite one. Jacobi's rotations: slow for large matrices, exact and branch-free for these.
pub(crate) fn project(matrix: &mut [f64], n: usize) {
    if is_positive_definite(matrix, n) {
        return;
    }
    let mut vectors = [0.0; MOST * MOST];
    diagonalise(matrix, &mut vectors, n);
    let mut values = [0.0; MOST];
    for k in 0..n {
        values[k] = matrix[k * n + k].max(0.0);
    }
    for i in 0..n {
        for j in 0..n {
            matrix[i * n + j] = (0..n)
                .map(|k| values[k] * vectors[i * n + k] * vectors[j * n + k])
                .sum();
        }
    }
}

/// Makes a symmetric matrix diagonal; its eigenvectors become the columns of `vectors`.
pub(crate) fn diagonalise(matrix: &mut [f64], vectors: &mut [f64], n: usize) {
    vectors.fill(0.0);
    for k in 0..n {
        vectors[k * n + k] = 1.0;
    }
    let size: f64 = matrix.iter().map(|a| a * a).sum();
    for _ in 0..SWEEPS {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                off += matrix[p * n + q] * matrix[p * n + q];
                rotate(matrix, vectors, n, (p, q));
            }
        }
        // Rounding of numbers of this size: nothing is left to rotate.
        if off <= 1e-30 * size {
            break;
        }
    }
}

/// Whether Cholesky's pivots are all positive, so that there is nothing to project.
fn is_positive_definite(matrix: &[f64], n: usize) -> bool {
    let mut factor = [0.0; MOST * MOST];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let rest = matrix[i * n + j] - dot;
            if i == j {
                if rest <= 0.0 || rest.is_nan() {
                    return false;
                }
                factor[i * n + i] = rest.sqrt();
            } else {
                factor[i * n + j] = rest / factor[j * n + j];
            }
        }
    }
    true
}

/// Makes entry (p, q) zero by a rotation.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], n: usize, (p, q): (usize, usize)) {
    let off = matrix[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * off);
    let tan = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cos = 1.0 / (tan * tan + 1.0).sqrt();
    let sin = tan * cos;
    let turn = |list: &mut [f64], at_p: usize, at_q: usize| {
        let (a, b) = (list[at_p], list[at_q]);
        list[at_p] = cos * a - sin * b;
        list[at_q] = sin * a + cos * b;
    };
    for k in 0..n {
        turn(matrix, k * n + p, k * n + q);
    }
    for k in 0..n {
        turn(matrix, p * n + k, q * n + k);
        turn(vectors, k * n + p, k * n + q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_eigenvalues_go_and_the_others_stay() {
        // Q diag(3, 1, −2) Qᵀ for two plane rotations Q.
        let values = [3.0, 1.0, -2.0];
        let (c, s) = (0.6, 0.8);
        let q = [[c, -s * c, s * s], [s, c * c, -s * c], [0.0, s, c]];
        let build = |values: [f64; 3]| {
            let mut m = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    m[i * 3 + j] = (0..3).map(|k| q[i][k] * values[k] * q[j][k]).sum();
                }
            }
            m
        };
        let mut matrix = build(values);
        project(&mut matrix, 3);
        let expected = build([3.0, 1.0, 0.0]);
        for (a, b) in matrix.iter().zip(expected) {
            assert!((a - b).abs() < 1e-14, "{matrix:?}");
        }
    }
}
