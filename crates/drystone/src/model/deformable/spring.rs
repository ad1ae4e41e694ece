//! Springs between two nodes.
//!
//! With length l, rest length L, direction n and stiffness k (N/m),
//!
//! $$ E = \tfrac k2 (l - L)^2, \qquad \nabla_{x_2}E = k(l-L)\,n, \qquad
//!    K = k\,n n^T + k\Bigl(1 - \frac Ll\Bigr)(I - n n^T) . $$
//!
//! The second part of K is negative in a compressed spring, which may buckle; projection drops
//! it then. Damping acts along the spring only, with the force $-c\,(n\cdot u)\,n$: a turning
//! spring is not braked, and angular momentum is kept.

use super::element::{Curvature, Local};
use serde::{Deserialize, Serialize};

/// A spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spring {
    pub(crate) nodes: [u32; 2],
    /// Length at rest, m.
    pub(crate) rest: f64,
    /// N/m.
    pub(crate) stiffness: f64,
    /// N·s/m.
    pub(crate) damping: f64,
}

impl Spring {
    /// Length and direction, a zero vector where it has no length.
    fn span(dim: usize, x: &[f64]) -> (f64, [f64; 3]) {
        let mut along = [0.0; 3];
        for axis in 0..dim {
            along[axis] = x[dim + axis] - x[axis];
        }
        let length = along.iter().map(|a| a * a).sum::<f64>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        (length, along.map(|a| a * scale))
    }

    pub(crate) fn energy(&self, dim: usize, x: &[f64]) -> f64 {
        let stretch = Self::span(dim, x).0 - self.rest;
        0.5 * self.stiffness * stretch * stretch
    }

    pub(crate) fn linearise(&self, dim: usize, x: &[f64], curvature: Curvature, out: &mut Local) {
        let (length, n) = Self::span(dim, x);
        let k = self.stiffness;
        let mut across = if length > 0.0 {
            k * (1.0 - self.rest / length)
        } else {
            0.0
        };
        if curvature == Curvature::Projected {
            across = across.max(0.0);
        }
        let pull = k * (length - self.rest);
        for i in 0..dim {
            out.gradient[i] = -pull * n[i];
            out.gradient[dim + i] = pull * n[i];
            for j in 0..dim {
                let same = if i == j { 1.0 } else { 0.0 };
                let along = n[i] * n[j];
                add_pair(
                    &mut out.stiffness,
                    dim,
                    (i, j),
                    k * along + across * (same - along),
                );
                add_pair(&mut out.damping, dim, (i, j), self.damping * along);
            }
        }
    }
}

/// Adds a 2 × 2 pattern (+ − / − +) of an entry between two nodes.
fn add_pair(block: &mut [f64], dim: usize, (i, j): (usize, usize), value: f64) {
    let n = 2 * dim;
    block[i * n + j] += value;
    block[(dim + i) * n + dim + j] += value;
    block[i * n + dim + j] -= value;
    block[(dim + i) * n + j] -= value;
}
