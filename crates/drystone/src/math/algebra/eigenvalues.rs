//! The largest eigenvalues of small symmetric matrices.

use glamx::DMat3;

/// The larger eigenvalue of `[[a, b], [b, c]]`.
#[inline]
pub(super) fn largest_eigenvalue_2x2(a: f64, b: f64, c: f64) -> f64 {
    let mean = 0.5 * (a + c);
    let half_spread = 0.5 * (a - c);
    mean + (half_spread * half_spread + b * b).sqrt()
}

/// The largest eigenvalue of a symmetric 3×3 matrix by the trigonometric solution of its
/// characteristic cubic (O. K. Smith, *Eigenvalues of a symmetric 3 × 3 matrix*, CACM 1961).
pub(super) fn largest_eigenvalue_3x3(m: &DMat3) -> f64 {
    let (xx, yy, zz) = (m.x_axis.x, m.y_axis.y, m.z_axis.z);
    let (xy, xz, yz) = (m.x_axis.y, m.x_axis.z, m.y_axis.z);
    let mean = (xx + yy + zz) / 3.0;
    let (dx, dy, dz) = (xx - mean, yy - mean, zz - mean);
    let off = xy * xy + xz * xz + yz * yz;
    let spread = ((dx * dx + dy * dy + dz * dz + 2.0 * off) / 6.0).sqrt();
    if spread <= 1e-15 * mean.abs() {
        return mean;
    }
    let det = dx * (dy * dz - yz * yz) - xy * (xy * dz - yz * xz) + xz * (xy * yz - dy * xz);
    let half_det = (0.5 * det / (spread * spread * spread)).clamp(-1.0, 1.0);
    mean + 2.0 * spread * libm::cos(libm::acos(half_det) / 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::Algebra;
    use crate::math::algebra::D3;
    use glamx::DVec3;

    #[test]
    fn largest_eigenvalues_bound_the_rayleigh_quotient_and_reach_it() {
        let m = DMat3::from_cols(
            DVec3::new(3.0, 0.4, -0.2),
            DVec3::new(0.4, 2.0, 0.9),
            DVec3::new(-0.2, 0.9, 5.0),
        );
        let lambda = D3::largest_eigenvalue(&m);
        // det(M − λ I) = 0, and no eigenvalue is larger: M − (λ + ε) I is negative definite.
        assert!((m - DMat3::IDENTITY * lambda).determinant().abs() < 1e-10);
        let mut x = DVec3::ONE;
        for _ in 0..200 {
            x = (m * x).normalize();
        }
        assert!((x.dot(m * x) - lambda).abs() < 1e-10);
    }
}
