//! Triangles and tetrahedra: one deformation gradient each.
//!
//! Positions inside an element are linear in the nodes', so the deformation gradient is constant,
//! $F = \sum_i x_i\,g_i^T$, where $g_i$ is the gradient of node i's weight in the rest state. With
//! the energy density ψ(F) of a [law](Law) (J/m³), volume V at rest (m³; for a membrane area times
//! thickness, in the plane the area), $P = \partial\psi/\partial F$ and
//! $\mathcal H = \partial^2\psi/\partial F^2$,
//!
//! $$ E = V\psi(F), \qquad \nabla_{x_i}E = V P g_i, \qquad
//!    K = V\,G^T \mathcal H\, G . $$
//!
//! $\mathcal H$ (at most 9 × 9) is what is projected: K is then positive semidefinite too.
//! F is kept as flat numbers, column after column.

use super::element::{Curvature, Local, MOST};
use super::{tetrahedron, triangle};
use crate::math::eigen::project;
use serde::{Deserialize, Serialize};

/// Most entries of F.
pub(crate) const ENTRIES: usize = 9;

/// How an element's material answers deformation, by Lamé's coefficients in Pa.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Law {
    /// A sheet in space: [`triangle`].
    Membrane { mu: f64, lambda: f64 },
    /// Something that fills its space: [`tetrahedron`].
    Solid { mu: f64, lambda: f64 },
}

/// The energy density near a deformation gradient, to second order.
pub(crate) struct Density {
    /// J/m³.
    pub(crate) energy: f64,
    /// P in Pa.
    pub(crate) stress: [f64; ENTRIES],
    /// ∂P/∂F in Pa, row after row of `entries` numbers.
    pub(crate) stiffness: [f64; ENTRIES * ENTRIES],
}

impl Density {
    pub(crate) fn zero() -> Self {
        Self {
            energy: 0.0,
            stress: [0.0; ENTRIES],
            stiffness: [0.0; ENTRIES * ENTRIES],
        }
    }
}

/// A triangle or a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Simplex {
    nodes: [u32; 4],
    count: u8,
    /// g of each node, 1/m.
    gradients: [[f64; 3]; 4],
    /// m³, in the plane m².
    volume: f64,
    law: Law,
    /// Damping over stiffness, s.
    damping: f64,
}

impl Simplex {
    /// An element of `nodes` whose edges from the first node, in coordinates of the rest state,
    /// are the columns of `edges`. `None` where they span no volume.
    pub(crate) fn new(
        nodes: &[u32],
        edges: &[[f64; 3]],
        volume: f64,
        law: Law,
        damping: f64,
    ) -> Option<Self> {
        let columns = edges.len();
        let inverse = inverse(edges)?;
        let mut gradients = [[0.0; 3]; 4];
        for (row, of_row) in inverse.iter().enumerate().take(columns) {
            gradients[row + 1] = *of_row;
            for (first, entry) in gradients[0].iter_mut().zip(of_row) {
                *first -= entry;
            }
        }
        let mut padded = [0; 4];
        padded
            .iter_mut()
            .zip(nodes)
            .for_each(|(to, &from)| *to = from);
        Some(Self {
            nodes: padded,
            count: nodes.len() as u8,
            gradients,
            volume,
            law,
            damping,
        })
    }

    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes[..usize::from(self.count)]
    }

    /// F, column after column.
    pub(crate) fn deformation(&self, dim: usize, x: &[f64]) -> [f64; ENTRIES] {
        let mut f = [0.0; ENTRIES];
        let count = usize::from(self.count);
        for (node, gradient) in self.gradients[..count].iter().enumerate() {
            for j in 0..count - 1 {
                for axis in 0..dim {
                    f[j * dim + axis] += x[node * dim + axis] * gradient[j];
                }
            }
        }
        f
    }

    /// What a membrane in space with corners at these places does, and its damping over stiffness
    /// (s); `None` for anything else.
    pub(crate) fn membrane(&self, x: [[f64; 3]; 3]) -> Option<(triangle::Sheet, f64)> {
        let Law::Membrane { mu, lambda } = self.law else {
            return None;
        };
        let f = self.deformation(3, x.as_flattened());
        let columns = [[f[0], f[1], f[2]], [f[3], f[4], f[5]]];
        let gradients = [0, 1, 2].map(|k| [self.gradients[k][0], self.gradients[k][1]]);
        let sheet = triangle::sheet(columns, gradients, self.volume, [mu, lambda]);
        Some((sheet, self.damping))
    }

    /// What does not change of a membrane; `None` for anything else.
    pub(crate) fn at_rest(&self) -> Option<triangle::AtRest> {
        let Law::Membrane { mu, lambda } = self.law else {
            return None;
        };
        Some(triangle::AtRest {
            corners: [self.nodes[0], self.nodes[1], self.nodes[2]],
            gradients: [0, 1, 2].map(|k| [self.gradients[k][0], self.gradients[k][1]]),
            volume: self.volume,
            law: [mu, lambda, self.damping],
        })
    }

    fn density(&self, dim: usize, x: &[f64]) -> Density {
        let f = self.deformation(dim, x);
        let mut density = Density::zero();
        match self.law {
            Law::Membrane { mu, lambda } => triangle::density(dim, &f, mu, lambda, &mut density),
            Law::Solid { mu, lambda } => tetrahedron::density(dim, &f, mu, lambda, &mut density),
        }
        density
    }

    pub(crate) fn energy(&self, dim: usize, x: &[f64]) -> f64 {
        self.volume * self.density(dim, x).energy
    }

    pub(crate) fn linearise(&self, dim: usize, x: &[f64], curvature: Curvature, out: &mut Local) {
        let mut density = self.density(dim, x);
        let count = usize::from(self.count);
        let columns = count - 1;
        let entries = columns * dim;
        if curvature == Curvature::Projected {
            project(&mut density.stiffness[..entries * entries], entries);
        }
        let n = count * dim;
        // What each entry of F stiffens along each unknown: H G, then Gᵀ(H G).
        let mut half = [0.0; ENTRIES * MOST];
        for entry in 0..entries {
            for node in 0..count {
                for axis in 0..dim {
                    let sum: f64 = (0..columns)
                        .map(|j| {
                            density.stiffness[entry * entries + j * dim + axis]
                                * self.gradients[node][j]
                        })
                        .sum();
                    half[entry * n + node * dim + axis] = sum;
                }
            }
        }
        for node in 0..count {
            for axis in 0..dim {
                let row = node * dim + axis;
                for j in 0..columns {
                    let weight = self.volume * self.gradients[node][j];
                    let entry = j * dim + axis;
                    out.gradient[row] += weight * density.stress[entry];
                    for column in 0..n {
                        out.stiffness[row * n + column] += weight * half[entry * n + column];
                    }
                }
            }
        }
        for (to, from) in out.damping[..n * n].iter_mut().zip(&out.stiffness) {
            *to = self.damping * from;
        }
    }
}

/// The inverse of a matrix given by its columns (2 or 3), row after row.
fn inverse(columns: &[[f64; 3]]) -> Option<[[f64; 3]; 3]> {
    use super::bending::{cross, dot};
    let (rows, determinant) = match *columns {
        [a, b] => {
            let rows = [[b[1], -b[0], 0.0], [-a[1], a[0], 0.0], [0.0; 3]];
            (rows, a[0] * b[1] - a[1] * b[0])
        }
        [a, b, c] => {
            let rows = [cross(b, c), cross(c, a), cross(a, b)];
            (rows, dot(a, rows[0]))
        }
        _ => return None,
    };
    let scale = 1.0 / determinant;
    scale
        .is_finite()
        .then(|| rows.map(|row| row.map(|entry| entry * scale)))
}
