//! Compliance of a rigid body on springs: the inverse of a 6 × 6 resistance, in SIMD lanes.

use crate::math::simd::Number;

/// How a body resists displacements and turns (H): inertia, known forces, contacts' springs.
///
/// Symmetric parts are xx, yy, zz, xy, xz, yz. The plane's turn is the first, and what it does not
/// have resists by 1 and couples with nothing.
#[derive(Clone, Copy)]
pub struct Resistance<N> {
    /// A, N/m: it is diagonal.
    pub linear: [N; 3],
    /// B, N: a row for each displacement, a column for each turn.
    pub cross: [[N; 3]; 3],
    /// C, N·m.
    pub turning: [N; 6],
}

/// H⁻¹: what unit forces and torques do to a body.
#[derive(Clone, Copy)]
pub(crate) struct Answer<N> {
    linear: [N; 6],
    cross: [[N; 3]; 3],
    turning: [N; 6],
}

/// Numbers of the springs that hold a body: Σk, Σk r, Σk r rᵀ ([`super::algebra::manifold_algebra`]).
pub(crate) const SPRINGS: usize = 10;

/// Numbers of an answer.
pub(crate) const ANSWER: usize = 21;

/// Where (i, j) of a symmetric matrix is.
const AT: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];

impl<N: Number> Resistance<N> {
    /// The inverse:
    ///
    /// $$ \begin{pmatrix} A & B \\ B^T & C \end{pmatrix}^{-1} =
    ///    \begin{pmatrix} A^{-1} + W T W^T & -W T \\ -T W^T & T \end{pmatrix}, \qquad
    ///    W = A^{-1}B,\quad T = (C - B^T W)^{-1} . $$
    #[inline(always)]
    pub(crate) fn inverted(&self) -> Answer<N> {
        let one = N::splat(1.0);
        let free = self.linear.map(|a| one / a);
        let b = &self.cross;
        let w: [[N; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| b[i][j] * free[i]));
        let rest = |i: usize, j: usize| {
            let taken = b[0][i] * w[0][j] + b[1][i] * w[1][j] + b[2][i] * w[2][j];
            self.turning[AT[i][j]] - taken
        };
        let turning = inverted_turning([
            rest(0, 0),
            rest(1, 1),
            rest(2, 2),
            rest(0, 1),
            rest(0, 2),
            rest(1, 2),
        ]);
        let t = |i: usize, j: usize| turning[AT[i][j]];
        let wt: [[N; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| w[i][0] * t(0, j) + w[i][1] * t(1, j) + w[i][2] * t(2, j))
        });
        let both =
            |i: usize, j: usize| wt[i][0] * w[j][0] + wt[i][1] * w[j][1] + wt[i][2] * w[j][2];
        Answer {
            linear: [
                both(0, 0) + free[0],
                both(1, 1) + free[1],
                both(2, 2) + free[2],
                both(0, 1),
                both(0, 2),
                both(1, 2),
            ],
            cross: wt.map(|row| row.map(|x| -x)),
            turning,
        }
    }
}

/// The inverse of a symmetric, positive definite matrix, by its minors.
#[inline(always)]
fn inverted_turning<N: Number>([xx, yy, zz, xy, xz, yz]: [N; 6]) -> [N; 6] {
    let minors = [
        yy * zz - yz * yz,
        xx * zz - xz * xz,
        xx * yy - xy * xy,
        xz * yz - xy * zz,
        xy * yz - xz * yy,
        xy * xz - xx * yz,
    ];
    let determinant = xx * minors[0] + xy * minors[3] + xz * minors[4];
    // Never smaller than that of inertia alone but by rounding.
    let scale = N::splat(1.0) / determinant.most(N::splat(f64::MIN_POSITIVE));
    minors.map(|minor| minor * scale)
}

impl<N: Number> Answer<N> {
    /// The same times a number: none for what can't move.
    #[inline(always)]
    pub(crate) fn times(self, part: N) -> Self {
        let scale = |x: N| x * part;
        Self {
            linear: self.linear.map(scale),
            cross: self.cross.map(|row| row.map(scale)),
            turning: self.turning.map(scale),
        }
    }

    /// What a force and a torque do: displacement, then turn.
    #[inline(always)]
    pub(crate) fn to(&self, force: [N; 3], torque: [N; 3]) -> [N; 6] {
        let (a, b, t) = (&self.linear, &self.cross, &self.turning);
        let linear = |i: usize| {
            let of_force = a[AT[i][0]] * force[0] + a[AT[i][1]] * force[1] + a[AT[i][2]] * force[2];
            of_force + (b[i][0] * torque[0] + b[i][1] * torque[1] + b[i][2] * torque[2])
        };
        let angular = |i: usize| {
            let of_torque =
                t[AT[i][0]] * torque[0] + t[AT[i][1]] * torque[1] + t[AT[i][2]] * torque[2];
            (b[0][i] * force[0] + b[1][i] * force[1] + b[2][i] * force[2]) + of_torque
        };
        [
            linear(0),
            linear(1),
            linear(2),
            angular(0),
            angular(1),
            angular(2),
        ]
    }

    /// What unit forces along x, y and z at the end of an arm do.
    #[inline(always)]
    pub(crate) fn of_forces_at(&self, [x, y, z]: [N; 3]) -> [[N; 6]; 3] {
        let (a, b, t) = (&self.linear, &self.cross, &self.turning);
        // The torque of a force along an axis has two parts: about which axes, and how large.
        let torques = [[(1, z), (2, -y)], [(0, -z), (2, x)], [(0, y), (1, -x)]];
        std::array::from_fn(|axis| {
            let [(i, p), (j, q)] = torques[axis];
            std::array::from_fn(|k| {
                if k < 3 {
                    a[AT[k][axis]] + (b[k][i] * p + b[k][j] * q)
                } else {
                    b[axis][k - 3] + (t[AT[k - 3][i]] * p + t[AT[k - 3][j]] * q)
                }
            })
        })
    }

    /// What a torque does.
    #[inline(always)]
    pub(crate) fn of_torque(&self, torque: [N; 3]) -> [N; 6] {
        let (b, t) = (&self.cross, symmetric_times(&self.turning, torque));
        std::array::from_fn(|k| {
            if k < 3 {
                b[k][0] * torque[0] + b[k][1] * torque[1] + b[k][2] * torque[2]
            } else {
                t[k - 3]
            }
        })
    }

    #[inline(always)]
    pub(crate) fn load(numbers: &[N::Stored; ANSWER]) -> Self {
        let at = |k: usize| N::load(&numbers[k]);
        Self {
            linear: std::array::from_fn(at),
            cross: std::array::from_fn(|i| std::array::from_fn(|j| at(6 + 3 * i + j))),
            turning: std::array::from_fn(|k| at(15 + k)),
        }
    }

    #[inline(always)]
    pub(crate) fn store(&self, numbers: &mut [N::Stored; ANSWER]) {
        let all = self.linear.iter().chain(self.cross.as_flattened());
        for (number, place) in all.chain(&self.turning).zip(numbers) {
            number.store(place);
        }
    }
}

/// A symmetric matrix (xx, yy, zz, xy, xz, yz) times a vector.
#[inline(always)]
pub(crate) fn symmetric_times<N: Number>(m: &[N; 6], v: [N; 3]) -> [N; 3] {
    std::array::from_fn(|i| m[AT[i][0]] * v[0] + m[AT[i][1]] * v[1] + m[AT[i][2]] * v[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resistances_times_their_inverses_are_one() {
        let cross = std::array::from_fn(|i| {
            std::array::from_fn(|j| 0.3 * (i as f64 - 1.2 * j as f64) + 0.1)
        });
        let h = Resistance {
            linear: [7.0, 5.0, 9.0],
            cross,
            turning: [4.2, 5.1, 6.0, 0.1, 0.07, 0.05],
        };
        let inverse = h.inverted();
        for axis in 0..6 {
            let unit: [f64; 6] = std::array::from_fn(|k| f64::from(u8::from(k == axis)));
            let x = inverse.to([unit[0], unit[1], unit[2]], [unit[3], unit[4], unit[5]]);
            let turned = symmetric_times(&h.turning, [x[3], x[4], x[5]]);
            for i in 0..3 {
                let force: f64 = (0..3).map(|j| cross[i][j] * x[3 + j]).sum();
                let torque: f64 = (0..3).map(|j| cross[j][i] * x[j]).sum();
                assert!((h.linear[i] * x[i] + force - unit[i]).abs() < 1e-12);
                assert!((torque + turned[i] - unit[3 + i]).abs() < 1e-12);
            }
        }
        let arm = [0.3, -0.2, 0.7];
        for (axis, moved) in inverse.of_forces_at(arm).into_iter().enumerate() {
            let unit: [f64; 3] = std::array::from_fn(|k| f64::from(u8::from(k == axis)));
            let [x, y, z] = arm;
            let torque = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]][axis];
            let (straight, turned) = (inverse.to(unit, torque), inverse.of_torque(torque));
            let alone = inverse.to(unit, [0.0; 3]);
            for k in 0..6 {
                assert!((moved[k] - straight[k]).abs() < 1e-15);
                assert!((moved[k] - (alone[k] + turned[k])).abs() < 1e-15);
            }
        }
        let mut stored = [0.0; ANSWER];
        inverse.store(&mut stored);
        let again = Answer::<f64>::load(&stored);
        assert_eq!(again.to([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), {
            inverse.to([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
        });
    }
}
