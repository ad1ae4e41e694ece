//! SIMD algebra of contact manifolds and bodies that differs between the plane and space.
//!
//! All points of a manifold share the normal n and lie in one plane. What they feel of a small motion
//! of their two bodies is one **relative motion** at the manifold's centre, $x = (u, \omega)$ in the
//! manifold's own axes (n, t₁, t₂): with arms $r$ from the centres of mass to the manifold's centre,
//!
//! $$ u = (v_b + \omega_b\times r_b) - (v_a + \omega_a\times r_a), \qquad
//!    \omega = \omega_b - \omega_a , $$
//!
//! and a point at c = (0, α, β) in those axes moves by $u + \omega\times c$. In the plane t is n
//! turned by a quarter, the point is c = (0, α), and ω is one number.
//!
//! # A body on springs
//!
//! A body that is held at points $r_i$ (from its centre of mass) by springs of the same stiffness
//! $k_i$ in every direction, and by its inertia, resists a displacement l and a turn θ with
//!
//! $$ \begin{pmatrix} M + S_0 & -[S_1] \\ [S_1] & I + \operatorname{tr}S_2 - S_2 \end{pmatrix}
//!    \begin{pmatrix} l \\ \theta \end{pmatrix}, \qquad
//!    S_0 = \sum k_i,\quad S_1 = \sum k_i r_i,\quad S_2 = \sum k_i\, r_i r_i^T , $$
//!
//! (M and I over h²): ten numbers, however many springs. Eliminating l leaves a symmetric 3 × 3
//! system for θ (one number in the plane).

use crate::math::algebra::{D2, D3};
use crate::math::rigid_compliance::{Resistance, SPRINGS};
use crate::math::simd::{LANES, Number, Wide};

/// Three numbers a lane.
pub(crate) type V3<V> = [V; 3];
/// Relative motion: linear (n, t₁, t₂), then angular (n, t₁, t₂). In the plane linear (n, t) at 0
/// and 1, angular at 3.
pub(crate) type Twist<V> = [V; 6];

/// Displacement and turn, or force and torque, of eight bodies.
#[derive(Clone, Copy)]
pub struct Moving<V> {
    /// m, or N.
    pub linear: V3<V>,
    /// rad, or N·m.
    pub angular: V3<V>,
}

/// Axes and arms of eight manifolds.
#[derive(Clone, Copy)]
pub struct Axes<V> {
    /// n.
    pub normal: V3<V>,
    /// t₁.
    pub tangent: V3<V>,
    /// From A's centre of mass, m.
    pub arm_a: V3<V>,
    /// From B's centre of mass, m.
    pub arm_b: V3<V>,
}

/// What holds eight bodies.
#[derive(Clone, Copy)]
pub struct Held<V> {
    /// Force and torque.
    pub load: Moving<V>,
    /// Σk, N/m.
    pub s0: V,
    /// Σk r, N.
    pub s1: V3<V>,
    /// Σk r rᵀ (xx, yy, zz, xy, xz, yz), N·m; in the plane only its trace, at 0.
    pub s2: [V; 6],
}

/// What a manifold does to one of its bodies, in the manifold's axes.
#[derive(Clone, Copy)]
pub struct Grip<V> {
    /// Force on B and its moment about the manifold's centre.
    pub wrench: Twist<V>,
    /// Σk, Σkα, Σkβ, Σkα², Σkαβ, Σkβ² of the points.
    pub sums: [V; 6],
}

/// What the plane and space do differently.
pub trait ManifoldAlgebra: Sized {
    /// Points in a manifold at most.
    const POINTS: usize;
    /// Numbers of the tangent (the plane needs none: it follows from the normal).
    const TANGENT: usize;
    /// Columns of a manifold's record.
    const RECORD: usize;

    /// Motion from transposed columns.
    fn motion<V: Wide>(columns: &[V; LANES]) -> Moving<V>;
    /// Motion to transposed columns.
    fn to_columns<V: Wide>(motion: &Moving<V>, columns: &mut [V; LANES]);
    /// Relative motion at a manifold.
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V>;
    /// Motion of a point along n, t₁, t₂.
    fn at_point<V: Wide>(x: &Twist<V>, c: &[V; 2]) -> V3<V>;
    /// Adds a force along n, t₁, t₂ at a point.
    fn add_force<V: Wide>(f: &V3<V>, c: &[V; 2], wrench: &mut Twist<V>);
    /// Adds what a manifold does to the body at the end of `arm`: `side` is 1 for B and −1 for A.
    fn hold<V: Wide>(axes: &Axes<V>, grip: &Grip<V>, arm: V3<V>, side: V, held: &mut Held<V>);
    /// The motion that balances force and torque. `mass` is along the axes, `inertia` packed as
    /// `s2`, both over h².
    fn balance<V: Wide>(held: &Held<V>, mass: V3<V>, inertia: &[V; 6]) -> Moving<V>;
    /// Adds springs (S₀, S₁, S₂) to a resistance.
    fn add_springs<N: Number>(springs: &[N; SPRINGS], resistance: &mut Resistance<N>);
    /// Inertia times an angular motion.
    fn turned<V: Wide>(inertia: &[V; 6], angular: V3<V>) -> V3<V>;
}

#[inline(always)]
pub(crate) fn zero<V: Wide>() -> V {
    V::splat(0.0)
}
#[inline(always)]
pub(crate) fn add<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
pub(crate) fn sub<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
pub(crate) fn scale<V: Wide>(a: V3<V>, s: V) -> V3<V> {
    [a[0] * s, a[1] * s, a[2] * s]
}
#[inline(always)]
fn dot<V: Wide>(a: V3<V>, b: V3<V>) -> V {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[inline(always)]
fn cross<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl<V: Wide> Held<V> {
    /// Held by nothing.
    #[inline(always)]
    pub fn by(load: Moving<V>) -> Self {
        Self {
            load,
            s0: zero(),
            s1: [zero(); 3],
            s2: [zero(); 6],
        }
    }
}

impl ManifoldAlgebra for D3 {
    const POINTS: usize = 4;
    const TANGENT: usize = 3;
    const RECORD: usize = 6;

    #[inline(always)]
    fn motion<V: Wide>(c: &[V; LANES]) -> Moving<V> {
        Moving {
            linear: [c[0], c[1], c[2]],
            angular: [c[3], c[4], c[5]],
        }
    }
    #[inline(always)]
    fn to_columns<V: Wide>(motion: &Moving<V>, columns: &mut [V; LANES]) {
        columns[..3].copy_from_slice(&motion.linear);
        columns[3..6].copy_from_slice(&motion.angular);
    }

    #[inline(always)]
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V> {
        let (n, t) = (axes.normal, axes.tangent);
        let s = cross(n, t);
        let of_b = add(b.linear, cross(b.angular, axes.arm_b));
        let of_a = add(a.linear, cross(a.angular, axes.arm_a));
        let u = sub(of_b, of_a);
        let w = sub(b.angular, a.angular);
        [
            dot(n, u),
            dot(t, u),
            dot(s, u),
            dot(n, w),
            dot(t, w),
            dot(s, w),
        ]
    }
    #[inline(always)]
    fn at_point<V: Wide>(x: &Twist<V>, c: &[V; 2]) -> V3<V> {
        let [alpha, beta] = *c;
        [
            x[0] + (x[4] * beta - x[5] * alpha),
            x[1] - x[3] * beta,
            x[2] + x[3] * alpha,
        ]
    }
    #[inline(always)]
    fn add_force<V: Wide>(f: &V3<V>, c: &[V; 2], wrench: &mut Twist<V>) {
        let [alpha, beta] = *c;
        for k in 0..3 {
            wrench[k] = wrench[k] + f[k];
        }
        wrench[3] = wrench[3] + (alpha * f[2] - beta * f[1]);
        wrench[4] = wrench[4] + beta * f[0];
        wrench[5] = wrench[5] - alpha * f[0];
    }

    #[inline(always)]
    fn hold<V: Wide>(axes: &Axes<V>, grip: &Grip<V>, arm: V3<V>, side: V, held: &mut Held<V>) {
        let (n, t) = (axes.normal, axes.tangent);
        let s = cross(n, t);
        let w = &grip.wrench;
        let force = add(add(scale(n, w[0]), scale(t, w[1])), scale(s, w[2]));
        let moment = add(add(scale(n, w[3]), scale(t, w[4])), scale(s, w[5]));
        let torque = add(cross(arm, force), moment);
        held.load.linear = add(held.load.linear, scale(force, side));
        held.load.angular = add(held.load.angular, scale(torque, side));
        let [k, ka, kb, kaa, kab, kbb] = grip.sums;
        let q = add(scale(t, ka), scale(s, kb));
        held.s0 = held.s0 + k;
        held.s1 = add(held.s1, add(scale(arm, k), q));
        // Σk r rᵀ = r (k r + q)ᵀ + q rᵀ + t (kaa t + kab s)ᵀ + s (kab t + kbb s)ᵀ.
        let e = add(scale(arm, k), q);
        let along = add(scale(t, kaa), scale(s, kab));
        let across = add(scale(t, kab), scale(s, kbb));
        for (place, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            .into_iter()
            .enumerate()
        {
            held.s2[place] = held.s2[place]
                + (arm[i] * e[j] + q[i] * arm[j])
                + (t[i] * along[j] + s[i] * across[j]);
        }
    }

    #[inline(always)]
    fn add_springs<N: Number>(springs: &[N; SPRINGS], h: &mut Resistance<N>) {
        let [s0, x, y, z, xx, yy, zz, xy, xz, yz] = *springs;
        let o = N::splat(0.0);
        let cross = [[o, z, -y], [-z, o, x], [y, -x, o]];
        for linear in &mut h.linear {
            *linear = *linear + s0;
        }
        let sums = h.cross.as_flattened_mut().iter_mut();
        for (sum, part) in sums.zip(cross.as_flattened()) {
            *sum = *sum + *part;
        }
        let turning = [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz];
        for (sum, part) in h.turning.iter_mut().zip(turning) {
            *sum = *sum + part;
        }
    }

    #[inline(always)]
    fn turned<V: Wide>(i: &[V; 6], w: V3<V>) -> V3<V> {
        [
            i[0] * w[0] + i[3] * w[1] + i[4] * w[2],
            i[3] * w[0] + i[1] * w[1] + i[5] * w[2],
            i[4] * w[0] + i[5] * w[1] + i[2] * w[2],
        ]
    }

    #[inline(always)]
    fn balance<V: Wide>(held: &Held<V>, mass: V3<V>, inertia: &[V; 6]) -> Moving<V> {
        let one = V::splat(1.0);
        let d: V3<V> = [
            one / (mass[0] + held.s0),
            one / (mass[1] + held.s0),
            one / (mass[2] + held.s0),
        ];
        let [x, y, z] = held.s1;
        let s2 = &held.s2;
        // Angular stiffness with the displacement eliminated: I + tr S₂ − S₂ − [S₁] D [S₁]ᵀ.
        let xx = inertia[0] + (s2[1] + s2[2]) - (z * z * d[1] + y * y * d[2]);
        let yy = inertia[1] + (s2[0] + s2[2]) - (z * z * d[0] + x * x * d[2]);
        let zz = inertia[2] + (s2[0] + s2[1]) - (y * y * d[0] + x * x * d[1]);
        let xy = inertia[3] - s2[3] + x * y * d[2];
        let xz = inertia[4] - s2[4] + x * z * d[1];
        let yz = inertia[5] - s2[5] + y * z * d[0];
        let f = held.load.linear;
        let moved: V3<V> = [d[0] * f[0], d[1] * f[1], d[2] * f[2]];
        let r = sub(held.load.angular, cross(held.s1, moved));
        // LDLᵀ of the 3 × 3 matrix. Springs only add stiffness, so no pivot is less than that of
        // inertia alone but by rounding.
        let least =
            (V::splat(0.1) * inertia[0].least(inertia[1]).least(inertia[2])).most(V::splat(1e-30));
        let d0 = one / xx.most(least);
        let (l1, l2) = (xy * d0, xz * d0);
        let d1 = one / (yy - l1 * xy).most(least);
        let yz = yz - l1 * xz;
        let l3 = yz * d1;
        let d2 = one / (zz - l2 * xz - l3 * yz).most(least);
        let y1 = r[1] - l1 * r[0];
        let y2 = r[2] - l2 * r[0] - l3 * y1;
        let w2 = y2 * d2;
        let w1 = y1 * d1 - l3 * w2;
        let w0 = r[0] * d0 - l1 * w1 - l2 * w2;
        let angular = [w0, w1, w2];
        let dragged = cross(angular, held.s1);
        Moving {
            linear: [
                d[0] * (f[0] - dragged[0]),
                d[1] * (f[1] - dragged[1]),
                d[2] * (f[2] - dragged[2]),
            ],
            angular,
        }
    }
}

impl ManifoldAlgebra for D2 {
    const POINTS: usize = 2;
    const TANGENT: usize = 0;
    const RECORD: usize = 3;

    #[inline(always)]
    fn motion<V: Wide>(c: &[V; LANES]) -> Moving<V> {
        let o = zero();
        Moving {
            linear: [c[0], c[1], o],
            angular: [c[2], o, o],
        }
    }
    #[inline(always)]
    fn to_columns<V: Wide>(motion: &Moving<V>, columns: &mut [V; LANES]) {
        columns[..2].copy_from_slice(&motion.linear[..2]);
        columns[2] = motion.angular[0];
    }

    #[inline(always)]
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V> {
        let (n, o) = (axes.normal, zero());
        let point = |body: &Moving<V>, arm: V3<V>| {
            [
                body.linear[0] - body.angular[0] * arm[1],
                body.linear[1] + body.angular[0] * arm[0],
            ]
        };
        let (of_a, of_b) = (point(a, axes.arm_a), point(b, axes.arm_b));
        let u = [of_b[0] - of_a[0], of_b[1] - of_a[1]];
        let along = n[0] * u[0] + n[1] * u[1];
        let across = n[0] * u[1] - n[1] * u[0];
        [along, across, o, b.angular[0] - a.angular[0], o, o]
    }
    #[inline(always)]
    fn at_point<V: Wide>(x: &Twist<V>, c: &[V; 2]) -> V3<V> {
        [x[0] - x[3] * c[0], x[1], zero()]
    }
    #[inline(always)]
    fn add_force<V: Wide>(f: &V3<V>, c: &[V; 2], wrench: &mut Twist<V>) {
        wrench[0] = wrench[0] + f[0];
        wrench[1] = wrench[1] + f[1];
        wrench[3] = wrench[3] - c[0] * f[0];
    }

    #[inline(always)]
    fn hold<V: Wide>(axes: &Axes<V>, grip: &Grip<V>, arm: V3<V>, side: V, held: &mut Held<V>) {
        let n = axes.normal;
        let w = &grip.wrench;
        let force = [n[0] * w[0] - n[1] * w[1], n[1] * w[0] + n[0] * w[1]];
        let torque = arm[0] * force[1] - arm[1] * force[0] + w[3];
        held.load.linear[0] = held.load.linear[0] + side * force[0];
        held.load.linear[1] = held.load.linear[1] + side * force[1];
        held.load.angular[0] = held.load.angular[0] + side * torque;
        let [k, ka, _, kaa, ..] = grip.sums;
        let q = [-(n[1] * ka), n[0] * ka];
        held.s0 = held.s0 + k;
        for axis in 0..2 {
            held.s1[axis] = held.s1[axis] + (k * arm[axis] + q[axis]);
        }
        let square = arm[0] * arm[0] + arm[1] * arm[1];
        let mixed = arm[0] * q[0] + arm[1] * q[1];
        held.s2[0] = held.s2[0] + (k * square + V::splat(2.0) * mixed + kaa);
    }

    #[inline(always)]
    fn add_springs<N: Number>(springs: &[N; SPRINGS], h: &mut Resistance<N>) {
        let lever = [-springs[2], springs[1]];
        for (i, lever) in lever.into_iter().enumerate() {
            h.linear[i] = h.linear[i] + springs[0];
            h.cross[i][0] = h.cross[i][0] + lever;
        }
        h.turning[0] = h.turning[0] + springs[4];
    }

    #[inline(always)]
    fn turned<V: Wide>(inertia: &[V; 6], w: V3<V>) -> V3<V> {
        [inertia[0] * w[0], zero(), zero()]
    }

    #[inline(always)]
    fn balance<V: Wide>(held: &Held<V>, mass: V3<V>, inertia: &[V; 6]) -> Moving<V> {
        let (one, o) = (V::splat(1.0), zero());
        let d = [one / (mass[0] + held.s0), one / (mass[1] + held.s0)];
        let lever = [-held.s1[1], held.s1[0]];
        let f = held.load.linear;
        let stiff =
            inertia[0] + held.s2[0] - (lever[0] * lever[0] * d[0] + lever[1] * lever[1] * d[1]);
        let r = held.load.angular[0] - (lever[0] * d[0] * f[0] + lever[1] * d[1] * f[1]);
        let w = r / stiff.most((V::splat(0.1) * inertia[0]).most(V::splat(1e-30)));
        Moving {
            linear: [
                d[0] * (f[0] - lever[0] * w),
                d[1] * (f[1] - lever[1] * w),
                o,
            ],
            angular: [w, o, o],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::simd::{Column, Portable};

    /// Numbers that look random and are the same every time, between −1 and 1.
    fn numbers(seed: u32) -> impl FnMut() -> Portable {
        let mut state = seed;
        move || {
            let mut lanes = Column::default();
            for lane in &mut lanes.0 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *lane = (state >> 8) as f32 / (1 << 23) as f32 - 1.0;
            }
            Portable::load(&lanes)
        }
    }

    fn largest(values: &[Portable]) -> f32 {
        let mut most = 0.0_f32;
        for value in values {
            let mut column = Column::default();
            value.store(&mut column);
            most = column.0.iter().fold(most, |m, x| m.max(x.abs()));
        }
        most
    }

    /// Balance against springs: the springs' forces after the motion, computed point by point,
    /// hold the load together with inertia.
    fn springs_balance_the_load<S: ManifoldAlgebra>(axes: &Axes<Portable>, in_plane: usize) {
        let mut next = numbers(11);
        let o = zero::<Portable>();
        let points: Vec<([Portable; 2], Portable)> = (0..S::POINTS)
            .map(|_| {
                let c = [next(), if in_plane == 2 { next() } else { o }];
                (c, next() * Portable::splat(2.0) + Portable::splat(5.0))
            })
            .collect();
        let mut sums = [o; 6];
        for (c, k) in &points {
            let [a, b] = *c;
            for (sum, part) in
                sums.iter_mut()
                    .zip([*k, *k * a, *k * b, *k * a * a, *k * a * b, *k * b * b])
            {
                *sum = *sum + part;
            }
        }
        let load = if in_plane == 2 {
            Moving {
                linear: [next(), next(), next()],
                angular: [next(), next(), next()],
            }
        } else {
            Moving {
                linear: [next(), next(), o],
                angular: [next(), o, o],
            }
        };
        let one = Portable::splat(1.0);
        let mass = [one, one, one];
        let inertia = [one, one, one, o, o, o];
        let mut held = Held::by(load);
        let none = Grip {
            wrench: [o; 6],
            sums,
        };
        S::hold(axes, &none, axes.arm_b, one, &mut held);
        let motion = S::balance(&held, mass, &inertia);
        let still = Moving {
            linear: [o; 3],
            angular: [o; 3],
        };
        let x = S::relative(axes, &still, &motion);
        let mut wrench = [o; 6];
        for (c, k) in &points {
            let u = S::at_point(&x, c);
            S::add_force(&u.map(|part| -(part * *k)), c, &mut wrench);
        }
        let mut after = Held::by(load);
        let grip = Grip {
            wrench,
            sums: [o; 6],
        };
        S::hold(axes, &grip, axes.arm_b, one, &mut after);
        let left = sub(after.load.linear, motion.linear);
        let turning = sub(after.load.angular, motion.angular);
        assert!(largest(&left[..in_plane]) < 1e-4, "{}", largest(&left));
        assert!(largest(&turning[..1]) < 1e-4, "{}", largest(&turning));
    }

    #[test]
    fn springs_balance_the_load_in_space() {
        let mut next = numbers(3);
        let s = Portable::splat;
        springs_balance_the_load::<D3>(
            &Axes {
                normal: [s(0.6), s(0.0), s(0.8)],
                tangent: [s(0.0), s(1.0), s(0.0)],
                arm_a: [next(), next(), next()],
                arm_b: [next(), next(), next()],
            },
            2,
        );
    }

    #[test]
    fn springs_balance_the_load_in_the_plane() {
        let mut next = numbers(5);
        let s = Portable::splat;
        springs_balance_the_load::<D2>(
            &Axes {
                normal: [s(0.6), s(0.8), s(0.0)],
                tangent: [zero(); 3],
                arm_a: [next(), next(), zero()],
                arm_b: [next(), next(), zero()],
            },
            1,
        );
    }
}
