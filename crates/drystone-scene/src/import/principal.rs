//! Principal axes of an inertia.

use drystone::glam::{DMat3, DQuat, DVec3};

/// Sweeps of Jacobi's method: it converges quadratically, so few are needed.
const SWEEPS: usize = 32;

/// Moments of inertia, the largest first, and the axes that they are about, right-handed.
///
/// Jacobi's rotations, with square roots only: the same bits on every platform.
pub(crate) fn principal(inertia: DMat3) -> (DVec3, DQuat) {
    let mut a = inertia.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut a, &mut axes, (p, q));
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let [x, y, z] = order.map(|k| DVec3::from_array(axes[k]));
    let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    let [i, j, k] = order;
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize();
    (DVec3::new(a[i][i], a[j][j], a[k][k]), rotation)
}

/// Makes the element p, q vanish.
fn rotate(a: &mut [[f64; 3]; 3], axes: &mut [[f64; 3]; 3], (p, q): (usize, usize)) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turned = |u: f64, v: f64| (cosine * u - sine * v, sine * u + cosine * v);
    for row in a.iter_mut() {
        (row[p], row[q]) = turned(row[p], row[q]);
    }
    for rows in [a, axes] {
        let pairs: [_; 3] = std::array::from_fn(|k| turned(rows[p][k], rows[q][k]));
        rows[p] = pairs.map(|(first, _)| first);
        rows[q] = pairs.map(|(_, second)| second);
    }
}

/// Whether the largest of three moments is more than the other two together, which no mass has;
/// by how much of the largest, if it is more than rounding.
pub(crate) fn excess(moments: DVec3) -> Option<f64> {
    let largest = moments.max_element();
    let excess = 2.0 * largest - moments.element_sum();
    (excess > 1e-9 * largest).then(|| excess / largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_axes_make_the_inertia_again() {
        let inertia = DMat3::from_cols(
            DVec3::new(4.0, 1.0, -0.5),
            DVec3::new(1.0, 3.0, 0.25),
            DVec3::new(-0.5, 0.25, 5.0),
        );
        let (moments, axes) = principal(inertia);
        let turn = DMat3::from_quat(axes);
        let again = turn * DMat3::from_diagonal(moments) * turn.transpose();
        assert!(
            (again - inertia)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 1e-14)
        );
        assert!(moments.x >= moments.y && moments.y >= moments.z);
        assert!(excess(DVec3::new(1.0, 2.0, 3.0)).is_none());
        assert!(excess(DVec3::new(1.0, 2.0, 4.0)).is_some_and(|x| (x - 0.25).abs() < 1e-15));
    }
}
