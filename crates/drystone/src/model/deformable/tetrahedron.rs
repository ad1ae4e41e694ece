//! Solids: tetrahedra in space, triangles in the plane.
//!
//! Stable neo-Hookean (Smith, de Goes and Kim, 2018), in the short form without a logarithm: with
//! $J = \det F$ and $d$ dimensions,
//!
//! $$ \psi = \tfrac\mu2(\lVert F\rVert^2 - d) + \tfrac{\hat\lambda}2 (J-\alpha)^2
//!         - \tfrac{\hat\lambda}2(1-\alpha)^2,
//!    \qquad \alpha = 1 + \mu/\hat\lambda, $$
//!
//! $$ P = \mu F + \hat\lambda(J-\alpha)\,\partial J, \qquad
//!    \mathcal H = \mu I + \hat\lambda\,\partial J\,\partial J^T
//!               + \hat\lambda(J-\alpha)\,\partial^2 J . $$
//!
//! α makes the rest state one without stress. It is defined for flat and inverted elements too,
//! and pushes them back. At rest $\delta P = \mu(\delta F + \delta F^T) +
//! (\hat\lambda-\mu)\operatorname{tr}(\delta F) I$, so Hooke's law is met with
//! $\hat\lambda = \lambda + \mu$. In space $\lambda = E\nu/((1+\nu)(1-2\nu))$, in the plane
//! (plane stress) $\lambda = E\nu/(1-\nu^2)$.

use super::simplex::{Density, ENTRIES};

/// Energy density, stress and stiffness for a square F.
pub(crate) fn density(dim: usize, f: &[f64; ENTRIES], mu: f64, lambda: f64, out: &mut Density) {
    let lambda = lambda + mu;
    let alpha = 1.0 + mu / lambda;
    let entries = dim * dim;
    let minors = minors(dim, f, f);
    // Each column's minors times the column is J; all columns together give it `dim` times.
    let j: f64 = (0..dim).map(|k| minors[k] * f[k]).sum();
    let square: f64 = f[..entries].iter().map(|a| a * a).sum();
    let excess = j - alpha;
    out.energy = 0.5 * mu * (square - dim as f64)
        + 0.5 * lambda * (excess * excess - (1.0 - alpha) * (1.0 - alpha));
    for k in 0..entries {
        out.stress[k] = mu * f[k] + lambda * excess * minors[k];
    }
    for entry in 0..entries {
        let mut change = [0.0; ENTRIES];
        change[entry] = 1.0;
        let turned = minors_change(dim, f, &change);
        for k in 0..entries {
            let same = if k == entry { mu } else { 0.0 };
            out.stiffness[entry * entries + k] =
                same + lambda * (minors[entry] * minors[k] + excess * turned[k]);
        }
    }
}

/// The bilinear form whose diagonal is ∂J/∂F: in space the cross products of columns of `a` with
/// columns of `b`, in the plane (where ∂J/∂F is linear) the columns of `b` turned.
fn minors(dim: usize, a: &[f64; ENTRIES], b: &[f64; ENTRIES]) -> [f64; ENTRIES] {
    let mut out = [0.0; ENTRIES];
    if dim == 2 {
        out[..4].copy_from_slice(&[b[3], -b[2], -b[1], b[0]]);
        return out;
    }
    let column = |m: &[f64; ENTRIES], k: usize| [m[3 * k], m[3 * k + 1], m[3 * k + 2]];
    for k in 0..3 {
        let product = super::bending::cross(column(a, (k + 1) % 3), column(b, (k + 2) % 3));
        out[3 * k..3 * k + 3].copy_from_slice(&product);
    }
    out
}

/// ∂²J/∂F² applied to a change of F.
fn minors_change(dim: usize, f: &[f64; ENTRIES], change: &[f64; ENTRIES]) -> [f64; ENTRIES] {
    let mut out = minors(dim, f, change);
    if dim == 3 {
        let other = minors(dim, change, f);
        out.iter_mut().zip(other).for_each(|(a, b)| *a += b);
    }
    out
}
