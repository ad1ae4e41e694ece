//! Free rotation of rigid bodies.
//!
//! With L the angular momentum and $L_k$ its components along the principal axes, a body turns by
//! the Hamiltonian
//!
//! $$ H = \frac{|L|^2}{2I_2} + \frac{L_1^2}{2}\Bigl(\frac1{I_1}-\frac1{I_2}\Bigr)
//!      + \frac{L_3^2}{2}\Bigl(\frac1{I_3}-\frac1{I_2}\Bigr), \qquad I_1\le I_2\le I_3 . $$
//!
//! Each part alone is a rotation: the first about L at the rate L/I₂, the others about the body's
//! own axes. The first commutes with the others and is exact; the others are put together piece by
//! piece, by the scheme of order four of Blanes and Moan (2002). So L is kept to rounding, energy
//! without drift, and there is nothing that could diverge, however thin the body is. For a rod, a
//! disc or a top, where I₂ equals one of the others, the step is exact: only two parts are left,
//! and they commute.
//!
//! A step has as many pieces as the turns about the body's own axes ask for, up to [`MOST_PIECES`];
//! what tumbles faster than these can follow is bounded by its angular momentum.

use crate::math::algebra::Algebra;
use crate::math::algebra::D3;
use crate::math::eigen::diagonalise;
use glamx::{DMat3, DQuat, DVec3};

/// Turn of the parts that do not commute up to which one splitting of order two does, rad: energy
/// is off by its square over 24, as a part of the whole, and does not drift.
const SLOW: f64 = 0.02;
/// The same turn that a piece of order four makes, rad: energy is off by 1e-6.
const PIECE: f64 = 0.5;
/// Pieces of a step at most.
const MOST_PIECES: f64 = 128.0;

/// Parts of a piece by which the body turns about its first and its third axis in turns, up to the
/// middle; the rest mirrors it (S. Blanes and P. C. Moan, *Practical symplectic partitioned
/// Runge-Kutta and Runge-Kutta-Nyström methods*, 2002, S₆ of order four).
const FIRST: [f64; 4] = [
    0.079_203_696_431_195_7,
    0.353_172_906_049_774,
    -0.042_065_080_357_719_5,
    1.0 - 2.0 * (0.079_203_696_431_195_7 + 0.353_172_906_049_774 - 0.042_065_080_357_719_5),
];
const THIRD: [f64; 3] = [
    0.209_515_106_613_362,
    -0.143_851_773_179_818,
    0.5 - (0.209_515_106_613_362 - 0.143_851_773_179_818),
];

/// The rotation after `dt` seconds of a body with this inertia (kg·m², in its own axes) and this
/// angular momentum (N·m·s, in the world's).
pub(crate) fn rotate_freely(rotation: DQuat, inertia: &DMat3, momentum: DVec3, dt: f64) -> DQuat {
    let Principal { axes, moments } = Principal::of(inertia);
    let excess = [0, 2].map(|k| dt * (1.0 / moments[k] - 1.0 / moments[1]));
    let own = rotation.conjugate() * momentum;
    let mut turning = Turning {
        momentum: axes.map(|axis| axis.dot(own)),
        turned: [0.0, 0.0, 0.0, 1.0],
    };
    let angle = momentum.length() * (excess[0] * excess[1]).abs().sqrt();
    if angle <= SLOW {
        turning.about_first(0.5 * excess[0]);
        turning.about_third(excess[1]);
        turning.about_first(0.5 * excess[0]);
    } else {
        let pieces = (angle / PIECE).ceil().min(MOST_PIECES);
        let excess = excess.map(|e| e / pieces);
        for _ in 0..pieces as u32 {
            turning.piece(excess);
        }
    }
    let [x, y, z, w] = turning.turned;
    let axis = axes[0] * x + axes[1] * y + axes[2] * z;
    let own = rotation * DQuat::from_xyzw(axis.x, axis.y, axis.z, w);
    // Rotation about L commutes with rotations about the body's own axes, so that it may come last.
    D3::turn(own, momentum * (dt / moments[1]))
}

/// A body that turns about its principal axes.
struct Turning {
    /// Angular momentum along them, N·m·s.
    momentum: [f64; 3],
    /// How far it has turned, a quaternion in these axes.
    turned: [f64; 4],
}

impl Turning {
    fn piece(&mut self, excess: [f64; 2]) {
        for k in 0..3 {
            self.about_first(FIRST[k] * excess[0]);
            self.about_third(THIRD[k] * excess[1]);
        }
        self.about_first(FIRST[3] * excess[0]);
        for k in (0..3).rev() {
            self.about_third(THIRD[k] * excess[1]);
            self.about_first(FIRST[k] * excess[0]);
        }
    }

    /// Turns about the first axis by what `per_momentum` makes of the momentum along it.
    fn about_first(&mut self, per_momentum: f64) {
        let [along, u, v] = self.momentum;
        let (sin, cos) = libm::sincos(0.5 * per_momentum * along);
        let (whole_sin, whole_cos) = (2.0 * sin * cos, (cos - sin) * (cos + sin));
        self.momentum = [
            along,
            whole_cos * u + whole_sin * v,
            whole_cos * v - whole_sin * u,
        ];
        let [x, y, z, w] = self.turned;
        self.turned = [
            cos * x + sin * w,
            cos * y + sin * z,
            cos * z - sin * y,
            cos * w - sin * x,
        ];
    }

    /// The same about the third.
    fn about_third(&mut self, per_momentum: f64) {
        let [u, v, along] = self.momentum;
        let (sin, cos) = libm::sincos(0.5 * per_momentum * along);
        let (whole_sin, whole_cos) = (2.0 * sin * cos, (cos - sin) * (cos + sin));
        self.momentum = [
            whole_cos * u + whole_sin * v,
            whole_cos * v - whole_sin * u,
            along,
        ];
        let [x, y, z, w] = self.turned;
        self.turned = [
            cos * x + sin * y,
            cos * y - sin * x,
            cos * z + sin * w,
            cos * w - sin * z,
        ];
    }
}

/// Principal axes, right-handed, and moments of inertia, from the least to the largest.
struct Principal {
    axes: [DVec3; 3],
    moments: [f64; 3],
}

impl Principal {
    fn of(inertia: &DMat3) -> Self {
        let is_diagonal = [inertia.x_axis.y, inertia.x_axis.z, inertia.y_axis.z] == [0.0; 3];
        let mut matrix = inertia.transpose().to_cols_array();
        let mut vectors = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        if !is_diagonal {
            vectors = [0.0; 9];
            diagonalise(&mut matrix, &mut vectors, 3);
        }
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| matrix[4 * a].total_cmp(&matrix[4 * b]));
        let axis = |k: usize| DVec3::new(vectors[k], vectors[3 + k], vectors[6 + k]);
        let first = axis(order[0]).normalize();
        let second = axis(order[1]);
        let second = (second - first * first.dot(second)).normalize();
        Self {
            axes: [first, second, first.cross(second)],
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
            let after = rotate_freely(start, &inertia, momentum, dt) * axis;
            let turn = DQuat::from_scaled_axis(momentum * (dt / thick));
            let expected = turn * (start * axis);
            assert!(
                (after - expected).length() < 1e-9,
                "{dt}: {after} {expected}"
            );
        }
    }

    /// Rotation by short steps of the classical Runge-Kutta scheme.
    fn reference(inertia: &DMat3, momentum: DVec3, time: f64, steps: u32) -> DQuat {
        let h = time / f64::from(steps);
        let inverse = inertia.inverse();
        let rate = |q: DQuat| {
            let own = q.conjugate() * momentum;
            let spin = inverse * own;
            q * DQuat::from_xyzw(spin.x, spin.y, spin.z, 0.0) * 0.5
        };
        let mut q = DQuat::IDENTITY;
        for _ in 0..steps {
            let a = rate(q);
            let b = rate(q + a * (0.5 * h));
            let c = rate(q + b * (0.5 * h));
            let d = rate(q + c * h);
            q = (q + (a + b * 2.0 + c * 2.0 + d) * (h / 6.0)).normalize();
        }
        q
    }

    #[test]
    fn energy_does_not_drift_at_any_spin_up_to_half_a_turn_a_step() {
        let inertia = turned([0.29 / 12.0, 1.04 / 12.0, 1.25 / 12.0]);
        let axes = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7)));
        for spin in [0.01, 1.0, 30.0, 180.0] {
            for about in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE] {
                let start = axes * (about.normalize() + DVec3::new(0.01, 0.02, 0.0)) * spin;
                let momentum = inertia * start;
                let (mut rotation, mut worst) = (DQuat::IDENTITY, 0.0_f64);
                let first = energy(rotation, &inertia, momentum);
                for _ in 0..6000 {
                    rotation = rotate_freely(rotation, &inertia, momentum, 1.0 / 60.0);
                    worst = worst.max((energy(rotation, &inertia, momentum) / first - 1.0).abs());
                }
                assert!(worst < 2e-5, "{spin} rad/s about {about}: {worst}");
            }
        }
    }

    #[test]
    fn steps_go_where_the_equations_of_motion_go() {
        let inertia = turned([1.0, 2.0, 3.0]);
        let momentum = DVec3::new(0.1, 4.0, 0.2);
        let expected = reference(&inertia, momentum, 10.0, 400_000);
        let error = |steps: u32| {
            let mut rotation = DQuat::IDENTITY;
            for _ in 0..steps {
                rotation = rotate_freely(rotation, &inertia, momentum, 10.0 / f64::from(steps));
            }
            D3::turn_between(expected, rotation).length()
        };
        // 1.3 rad in a step, and 0.13.
        assert!(error(15) < 2e-3, "{}", error(15));
        assert!(error(150) < 1e-6, "{}", error(150));
    }

    /// Beyond what pieces can follow energy stays between what the momentum allows.
    #[test]
    fn what_is_too_fast_to_follow_stays_bounded() {
        let inertia = turned([1e-4, 0.2, 0.3]);
        let momentum = DVec3::new(300.0, 400.0, -250.0);
        let mut rotation = DQuat::IDENTITY;
        for _ in 0..1000 {
            rotation = rotate_freely(rotation, &inertia, momentum, 1.0);
            assert!((rotation.length() - 1.0).abs() < 1e-9);
        }
        let most = 0.5 * momentum.length_squared() / 1e-4;
        assert!(energy(rotation, &inertia, momentum) <= most * (1.0 + 1e-9));
    }
}
