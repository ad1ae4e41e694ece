//! Cloth: triangles that resist stretch and shear in their own plane.
//!
//! The law of St. Venant and Kirchhoff: with F (three by two) and Green's strain
//! $E = \tfrac12(F^T F - I)$,
//!
//! $$ \psi = \mu\, E : E + \tfrac\lambda2 (\operatorname{tr}E)^2, \qquad
//!    S = 2\mu E + \lambda\operatorname{tr}(E) I, \qquad P = F S, $$
//!
//! $$ \delta P = \delta F\,S + F\,\delta S, \qquad
//!    \delta E = \tfrac12(\delta F^T F + F^T\delta F) . $$
//!
//! It is soft under strong compression, which in cloth does not matter: cloth buckles long before.
//! A sheet is free to thin as it is stretched (plane stress), so $\mu = E/(2(1+\nu))$ and
//! $\lambda = E\nu/(1-\nu^2)$.

use super::simplex::{Density, ENTRIES};

/// Energy density, stress and stiffness for F of `dim` by 2.
pub(crate) fn density(dim: usize, f: &[f64; ENTRIES], mu: f64, lambda: f64, out: &mut Density) {
    let product = |a: &[f64], i: usize, b: &[f64], j: usize| -> f64 {
        (0..dim).map(|k| a[i * dim + k] * b[j * dim + k]).sum()
    };
    // Symmetric 2 × 2 matrices as (xx, yy, xy).
    let strain = [
        0.5 * (product(f, 0, f, 0) - 1.0),
        0.5 * (product(f, 1, f, 1) - 1.0),
        0.5 * product(f, 0, f, 1),
    ];
    let stress_of = |e: [f64; 3]| {
        let spread = lambda * (e[0] + e[1]);
        [
            2.0 * mu * e[0] + spread,
            2.0 * mu * e[1] + spread,
            2.0 * mu * e[2],
        ]
    };
    let s = stress_of(strain);
    let trace = strain[0] + strain[1];
    let square = strain[0] * strain[0] + strain[1] * strain[1] + 2.0 * strain[2] * strain[2];
    out.energy = mu * square + 0.5 * lambda * trace * trace;
    let apply = |a: &[f64], s: [f64; 3], k: usize| {
        [
            a[k] * s[0] + a[dim + k] * s[2],
            a[k] * s[2] + a[dim + k] * s[1],
        ]
    };
    for k in 0..dim {
        let p = apply(f, s, k);
        (out.stress[k], out.stress[dim + k]) = (p[0], p[1]);
    }
    let entries = 2 * dim;
    for entry in 0..entries {
        let mut change = [0.0; ENTRIES];
        change[entry] = 1.0;
        let strain_change = [
            product(&change, 0, f, 0),
            product(&change, 1, f, 1),
            0.5 * (product(&change, 0, f, 1) + product(f, 0, &change, 1)),
        ];
        let ds = stress_of(strain_change);
        for k in 0..dim {
            let (a, b) = (apply(&change, s, k), apply(f, ds, k));
            out.stiffness[entry * entries + k] = a[0] + b[0];
            out.stiffness[entry * entries + dim + k] = a[1] + b[1];
        }
    }
}

/// What does not change of a membrane in space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtRest {
    pub(crate) corners: [u32; 3],
    /// Gradients of the corners' weights, 1/m.
    pub(crate) gradients: [[f64; 2]; 3],
    /// m³.
    pub(crate) volume: f64,
    /// μ and λ in Pa, and damping over stiffness in s.
    pub(crate) law: [f64; 3],
}

/// A membrane in space: ∇E of its nodes in N, and ∇²E in N/m by blocks of nodes.
pub(crate) struct Sheet {
    pub(crate) gradient: [[f64; 3]; 3],
    pub(crate) stiffness: [[[f64; 9]; 3]; 3],
}

/// The same as above for a triangle in space, written out for its nodes: `f` are the columns of F,
/// `g` the gradients of the nodes' weights (1/m) and `volume` that at rest (m³).
///
/// The stiffness is made positive semidefinite by leaving out compression in $\delta F\,S$: what
/// is left is a sum of two matrices without negative eigenvalues. In tension it is exact, and
/// where S presses it is off by no more than S, which is as small next to the rest as the strain.
pub(crate) fn sheet(
    f: [[f64; 3]; 2],
    g: [[f64; 2]; 3],
    volume: f64,
    [mu, lambda]: [f64; 2],
) -> Sheet {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let sum = |a: [f64; 3], x: f64, b: [f64; 3], y: f64| [0, 1, 2].map(|k| a[k] * x + b[k] * y);
    let (xx, yy) = (0.5 * (dot(f[0], f[0]) - 1.0), 0.5 * (dot(f[1], f[1]) - 1.0));
    let spread = lambda * (xx + yy);
    let stress = [
        2.0 * mu * xx + spread,
        2.0 * mu * yy + spread,
        mu * dot(f[0], f[1]),
    ];
    let pull = without_compression(stress);
    let normal = 2.0 * mu + lambda;
    let mut sheet = Sheet {
        gradient: [[0.0; 3]; 3],
        stiffness: [[[0.0; 9]; 3]; 3],
    };
    for i in 0..3 {
        let [a, b] = g[i];
        let along = [a * stress[0] + b * stress[2], a * stress[2] + b * stress[1]];
        sheet.gradient[i] = sum(f[0], volume * along[0], f[1], volume * along[1]);
        // How strains xx, yy and twice xy change with the node, times their stiffness.
        let own = [
            sum(f[0], a, f[1], 0.0),
            sum(f[0], 0.0, f[1], b),
            sum(f[0], b, f[1], a),
        ];
        let stiff = [
            sum(own[0], volume * normal, own[1], volume * lambda),
            sum(own[0], volume * lambda, own[1], volume * normal),
            sum(own[2], volume * mu, own[2], 0.0),
        ];
        for (j, &[c, d]) in g.iter().enumerate().skip(i) {
            let held = a * (pull[0] * c + pull[2] * d) + b * (pull[2] * c + pull[1] * d);
            let other = [
                sum(f[0], c, f[1], 0.0),
                sum(f[0], 0.0, f[1], d),
                sum(f[0], d, f[1], c),
            ];
            let entry = |row: usize, column: usize| {
                let strains: f64 = (0..3).map(|k| stiff[k][row] * other[k][column]).sum();
                strains + if row == column { volume * held } else { 0.0 }
            };
            let block: [f64; 9] = std::array::from_fn(|at| entry(at / 3, at % 3));
            sheet.stiffness[i][j] = block;
            sheet.stiffness[j][i] = std::array::from_fn(|at| block[at % 3 * 3 + at / 3]);
        }
    }
    sheet
}

/// A symmetric matrix (xx, yy, xy) without its negative eigenvalues.
fn without_compression(s: [f64; 3]) -> [f64; 3] {
    let (mean, half) = (0.5 * (s[0] + s[1]), 0.5 * (s[0] - s[1]));
    let radius = (half * half + s[2] * s[2]).sqrt();
    let (largest, least) = (mean + radius, mean - radius);
    if least >= 0.0 {
        return s;
    }
    if largest <= 0.0 {
        return [0.0; 3];
    }
    let part = largest / (2.0 * radius);
    [part * (s[0] - least), part * (s[1] - least), part * s[2]]
}
