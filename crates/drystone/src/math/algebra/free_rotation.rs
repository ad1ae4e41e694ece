//! Free rotation of bodies that are far longer one way than another.
//!
//! With L the angular momentum and $L_k$ its components along the principal axes, a body turns by
//! the Hamiltonian
//!
//! $$ H = \frac{|L|^2}{2I_2} + \frac{L_1^2}{2}\Bigl(\frac1{I_1}-\frac1{I_2}\Bigr)
//!      + \frac{L_3^2}{2}\Bigl(\frac1{I_3}-\frac1{I_2}\Bigr), \qquad I_1\le I_2\le I_3 . $$
//!
//! Each part alone is a rotation: the first about L at the rate L/I₂, the others about the body's
//! own axes. So a step is made of rotations: half of the second, half of the third, all of the
//! first, and back. L is kept to rounding, energy without drift, and there is nothing that could
//! diverge, however thin the body is. For a rod or a disc, where I₂ equals one of the others, the
//! step is exact: only two parts are left, and they commute.

use crate::math::algebra::Algebra;
use crate::math::algebra::D3;
use crate::math::eigen::diagonalise;
use glamx::{DMat3, DQuat, DVec3};

/// The rotation after `dt` seconds of a body with this inertia (kg·m², in its own axes) and this
/// angular momentum (N·m·s, in the world's).
pub(crate) fn tumble(rotation: DQuat, inertia: &DMat3, momentum: DVec3, dt: f64) -> DQuat {
    let Principal { axes, moments } = Principal::of(inertia);
    let mut rotation = rotation;
    let excess = |k: usize| 1.0 / moments[k] - 1.0 / moments[1];
    let mut about_own = |k: usize| {
        let axis = rotation * axes[k];
        rotation = D3::turn(rotation, axis * (0.5 * dt * momentum.dot(axis) * excess(k)));
    };
    for k in [0, 2, 2, 0] {
        about_own(k);
    }
    // Rotation about L commutes with rotations about the body's own axes, so that it may come last.
    D3::turn(rotation, momentum * (dt / moments[1]))
}

/// Principal axes and moments of inertia, from the least to the largest.
struct Principal {
    axes: [DVec3; 3],
    moments: [f64; 3],
}

impl Principal {
    fn of(inertia: &DMat3) -> Self {
        let mut matrix = inertia.transpose().to_cols_array();
        let mut vectors = [0.0; 9];
        diagonalise(&mut matrix, &mut vectors, 3);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| matrix[4 * a].total_cmp(&matrix[4 * b]));
        let axis = |k: usize| DVec3::new(vectors[k], vectors[3 + k], vectors[6 + k]);
        Self {
            axes: order.map(|k| axis(k).normalize()),
            moments: order.map(|k| matrix[4 * k]),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Inertia with these principal moments about axes turned somehow.
    fn turned(moments: [f64; 3]) -> DMat3 {
        let axes = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7)));
        axes * DMat3::from_diagonal(DVec3::from_array(moments)) * axes.transpose()
    }

    fn energy(rotation: DQuat, inertia: &DMat3, momentum: DVec3) -> f64 {
        let own = rotation.inverse() * momentum;
        0.5 * own.dot(inertia.inverse() * own)
    }

    #[test]
    fn a_rod_precesses_by_the_closed_form_however_long_the_step() {
        let (thin, thick) = (1e-6, 0.06);
        let inertia = turned([thick, thin, thick]);
        let axis = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7))).y_axis;
        let momentum = DVec3::new(0.3, -5.0, 1.2);
        let start = DQuat::from_scaled_axis(DVec3::new(1.0, 0.2, -0.3));
        for dt in [1e-3, 0.02, 1.0] {
            let after = tumble(start, &inertia, momentum, dt) * axis;
            let turn = DQuat::from_scaled_axis(momentum * (dt / thick));
            let expected = turn * (start * axis);
            assert!(
                (after - expected).length() < 1e-9,
                "{dt}: {after} {expected}"
            );
        }
    }

    #[test]
    fn energy_does_not_drift_and_error_falls_with_the_square_of_the_step() {
        let inertia = turned([1.0, 2.0, 3.0]);
        let momentum = DVec3::new(0.1, 4.0, 0.2);
        let run = |steps: u32| {
            let mut rotation = DQuat::IDENTITY;
            let dt = 20.0 / f64::from(steps);
            let mut worst = 0.0_f64;
            for _ in 0..steps {
                rotation = tumble(rotation, &inertia, momentum, dt);
                let error = energy(rotation, &inertia, momentum)
                    / energy(DQuat::IDENTITY, &inertia, momentum)
                    - 1.0;
                worst = worst.max(error.abs());
            }
            worst
        };
        let (coarse, fine) = (run(400), run(800));
        assert!(coarse < 1e-3 && fine < 0.3 * coarse, "{coarse} {fine}");
    }
}
