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
