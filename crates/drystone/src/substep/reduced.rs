//! The relative motion of two bodies at a contact patch, and the algebra of it.
//!
//! All points of a patch share the normal n and lie in one plane, so what they feel of their two
//! bodies is one rigid **relative motion** at the patch's centre: in space six numbers
//! $x = (u, \omega)$ in the patch's own axes (n, t₁, t₂), in the plane three. With the arms
//! $r_a, r_b$ from the centres of mass to the patch's centre,
//!
//! $$ u = (v_b + \omega_b\times r_b) - (v_a + \omega_a\times r_a), \qquad
//!    \omega = \omega_b - \omega_a . $$
//!
//! A point at c = (0, α, β) in those axes has the velocity $u + \omega\times c$, and an impulse p
//! there acts as the pair $g = (p,\ c\times p)$. The bodies answer with $x \mathrel{+}= K g$,
//! where K is the 6 × 6 (3 × 3) relative inverse mass,
//!
//! $$ K = \begin{pmatrix} K_{uu} & K_{um} \\ K_{um}^T & K_{mm} \end{pmatrix}, \quad
//!    K_{uu} = \sum M^{-1} - [r]\,G\,[r], \quad K_{um} = -\sum [r]\,G, \quad K_{mm} = \sum G , $$
//!
//! G being the inverse inertia in the patch's axes and the sums over both bodies. So a sweep reads
//! the two bodies once, works on all points of the patch in registers, and writes the bodies once.
//! That is exactly block Gauss-Seidel on the points, at a quarter of the arithmetic of a sweep
//! that goes back to the bodies at every point and at half of the memory.
//!
//! Axes: $t_2 = n\times t_1$ in space; in the plane t is n turned by a quarter, and the point is
//! c = (0, α).

use super::simd::{Column, LANES, Wide};
use crate::space::{D2, D3};

/// Three numbers a lane.
pub type V3<V> = [V; 3];
/// Relative motion or its impulse: linear (n, t₁, t₂), then angular (n, t₁, t₂). In the plane
/// linear (n, t) at 0 and 1, angular at 3.
pub type Twist<V> = [V; 6];

/// A body's motion and how it resists, eight bodies at a time.
#[derive(Clone, Copy)]
pub struct Moving<V> {
    pub linear: V3<V>,
    pub spin: V3<V>,
    pub inv_mass: V3<V>,
    /// xx, yy, zz, xy, xz, yz; in the plane only the first.
    pub inv_inertia: [V; 6],
}

/// Axes and arms of eight patches.
#[derive(Clone, Copy)]
pub struct Axes<V> {
    pub normal: V3<V>,
    pub tangent: V3<V>,
    pub arm_a: V3<V>,
    pub arm_b: V3<V>,
}

/// What the plane and space do differently. Offsets and counts are in columns of a patch group:
/// see [`super::patch`].
pub trait Reduced: Sized {
    /// Points in a patch at most.
    const POINTS: usize;
    /// Columns of the tangent (the plane needs none: it follows from the normal).
    const TANGENT_COLUMNS: usize;
    /// Numbers in K.
    const K: usize;

    /// Puts masses (1/kg along the axes) and inertia (xx, yy, zz, xy, xz, yz of its inverse; in
    /// the plane only the first) where the columns of a body have room for them: motion and
    /// inertia.
    fn pack_masses(inv_mass: [f32; 3], inv_inertia: [f32; 6], columns: [&mut Column; 2]);

    /// Eight bodies from their transposed columns; the third is there only for [`Self::K`].
    fn bodies<V: Wide>(motion: &[V; LANES], inertia: &[V; LANES]) -> Moving<V>;
    /// Drift in the place of motion, masses undefined.
    fn drift<V: Wide>(drift: &[V; LANES]) -> Moving<V>;
    /// Whether the second column of a body is needed.
    const HAS_INERTIA_COLUMN: bool;
    /// Writes changed motion back among the transposed columns.
    fn repack<V: Wide>(moving: &Moving<V>, columns: &mut [V; LANES]);

    /// Relative motion at the patch.
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V>;
    /// Applies g to b and −g to a.
    fn spread<V: Wide>(axes: &Axes<V>, g: &Twist<V>, a: &mut Moving<V>, b: &mut Moving<V>);
    /// K of the patch.
    fn inverse_mass<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> [V; 21];

    /// Velocity of a point along n, t₁, t₂.
    fn at_point<V: Wide>(x: &Twist<V>, c: &[V; 2]) -> V3<V>;
    /// Adds a normal impulse p at a point: to g, and K times it to x.
    fn push_normal<V: Wide>(k: &[V; 21], c: &[V; 2], p: V, x: &mut Twist<V>, g: &mut Twist<V>);
    /// Adds a tangential impulse at a point.
    fn push_tangent<V: Wide>(
        k: &[V; 21],
        c: &[V; 2],
        p: [V; 2],
        x: &mut Twist<V>,
        g: &mut Twist<V>,
    );
    /// Inverse mass along the normal at a point, and the largest along the tangents, 1/kg.
    fn at_point_inverse_mass<V: Wide>(k: &[V; 21], c: &[V; 2]) -> [V; 2];
}

#[inline(always)]
pub(crate) fn zero<V: Wide>() -> V {
    V::splat(0.0)
}

#[inline(always)]
fn add<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
fn sub<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
fn scale<V: Wide>(a: V3<V>, s: V) -> V3<V> {
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
/// A symmetric matrix (xx, yy, zz, xy, xz, yz) times a vector.
#[inline(always)]
fn turn<V: Wide>(i: &[V; 6], w: V3<V>) -> V3<V> {
    [
        i[0] * w[0] + i[3] * w[1] + i[4] * w[2],
        i[3] * w[0] + i[1] * w[1] + i[5] * w[2],
        i[4] * w[0] + i[5] * w[1] + i[2] * w[2],
    ]
}

/// Place of K's element (i, j), i ≤ j, in a packed upper triangle of 6 rows.
const fn at6(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * 6 - i * (i + 1) / 2 + j
}

impl Reduced for D3 {
    const POINTS: usize = 4;
    const TANGENT_COLUMNS: usize = 3;
    const K: usize = 21;
    const HAS_INERTIA_COLUMN: bool = true;

    fn pack_masses(inv_mass: [f32; 3], inv_inertia: [f32; 6], columns: [&mut Column; 2]) {
        let [motion, inertia] = columns;
        motion.0[6..].copy_from_slice(&inv_mass[..2]);
        inertia.0[..6].copy_from_slice(&inv_inertia);
        inertia.0[6] = inv_mass[2];
    }

    #[inline(always)]
    fn bodies<V: Wide>(m: &[V; LANES], i: &[V; LANES]) -> Moving<V> {
        Moving {
            linear: [m[0], m[1], m[2]],
            spin: [m[3], m[4], m[5]],
            inv_mass: [m[6], m[7], i[6]],
            inv_inertia: [i[0], i[1], i[2], i[3], i[4], i[5]],
        }
    }
    #[inline(always)]
    fn drift<V: Wide>(d: &[V; LANES]) -> Moving<V> {
        Moving {
            linear: [d[0], d[1], d[2]],
            spin: [d[3], d[4], d[5]],
            inv_mass: [zero(); 3],
            inv_inertia: [zero(); 6],
        }
    }
    #[inline(always)]
    fn repack<V: Wide>(moving: &Moving<V>, columns: &mut [V; LANES]) {
        columns[..3].copy_from_slice(&moving.linear);
        columns[3..6].copy_from_slice(&moving.spin);
    }

    #[inline(always)]
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V> {
        let (n, t) = (axes.normal, axes.tangent);
        let s = cross(n, t);
        let of_b = add(b.linear, cross(b.spin, axes.arm_b));
        let of_a = add(a.linear, cross(a.spin, axes.arm_a));
        let u = sub(of_b, of_a);
        let w = sub(b.spin, a.spin);
        [dot(n, u), dot(t, u), dot(s, u), dot(n, w), dot(t, w), dot(s, w)]
    }

    #[inline(always)]
    fn spread<V: Wide>(axes: &Axes<V>, g: &Twist<V>, a: &mut Moving<V>, b: &mut Moving<V>) {
        let (n, t) = (axes.normal, axes.tangent);
        let s = cross(n, t);
        let p = add(add(scale(n, g[0]), scale(t, g[1])), scale(s, g[2]));
        let m = add(add(scale(n, g[3]), scale(t, g[4])), scale(s, g[5]));
        let on_a = turn(&a.inv_inertia, add(cross(axes.arm_a, p), m));
        let on_b = turn(&b.inv_inertia, add(cross(axes.arm_b, p), m));
        for axis in 0..3 {
            a.linear[axis] = a.linear[axis] - a.inv_mass[axis] * p[axis];
            b.linear[axis] = b.linear[axis] + b.inv_mass[axis] * p[axis];
        }
        a.spin = sub(a.spin, on_a);
        b.spin = add(b.spin, on_b);
    }

    #[inline(always)]
    fn inverse_mass<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> [V; 21] {
        let (n, t) = (axes.normal, axes.tangent);
        let frame = [n, t, cross(n, t)];
        let mut k = [zero::<V>(); 21];
        for (body, arm) in [(a, axes.arm_a), (b, axes.arm_b)] {
            for i in 0..3 {
                // Unit impulse along axis i, then unit moment about it.
                let e = frame[i];
                let mass: V3<V> = std::array::from_fn(|k| body.inv_mass[k] * e[k]);
                let spun = turn(&body.inv_inertia, cross(arm, e));
                let moved = add(mass, cross(spun, arm));
                let twisted = turn(&body.inv_inertia, e);
                let dragged = cross(twisted, arm);
                for j in 0..3 {
                    if i <= j {
                        k[at6(i, j)] = k[at6(i, j)] + dot(frame[j], moved);
                        k[at6(3 + i, 3 + j)] = k[at6(3 + i, 3 + j)] + dot(frame[j], twisted);
                    }
                    k[at6(j, 3 + i)] = k[at6(j, 3 + i)] + dot(frame[j], dragged);
                }
            }
        }
        k
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
    fn push_normal<V: Wide>(k: &[V; 21], c: &[V; 2], p: V, x: &mut Twist<V>, g: &mut Twist<V>) {
        let (about_t, about_s) = (c[1] * p, -(c[0] * p));
        g[0] = g[0] + p;
        g[4] = g[4] + about_t;
        g[5] = g[5] + about_s;
        for row in 0..6 {
            let change = k[at6(row, 0)] * p + k[at6(row, 4)] * about_t + k[at6(row, 5)] * about_s;
            x[row] = x[row] + change;
        }
    }

    #[inline(always)]
    fn push_tangent<V: Wide>(
        k: &[V; 21],
        c: &[V; 2],
        p: [V; 2],
        x: &mut Twist<V>,
        g: &mut Twist<V>,
    ) {
        let about_n = c[0] * p[1] - c[1] * p[0];
        g[1] = g[1] + p[0];
        g[2] = g[2] + p[1];
        g[3] = g[3] + about_n;
        for row in 0..6 {
            let change =
                k[at6(row, 1)] * p[0] + k[at6(row, 2)] * p[1] + k[at6(row, 3)] * about_n;
            x[row] = x[row] + change;
        }
    }

    #[inline(always)]
    fn at_point_inverse_mass<V: Wide>(k: &[V; 21], c: &[V; 2]) -> [V; 2] {
        let [a, b] = *c;
        let two = V::splat(2.0);
        let at = |i: usize, j: usize| k[at6(i, j)];
        let normal = at(0, 0) + two * (b * at(0, 4) - a * at(0, 5)) + b * b * at(4, 4)
            + a * a * at(5, 5)
            - two * a * b * at(4, 5);
        let one = at(1, 1) - two * b * at(1, 3) + b * b * at(3, 3);
        let other = at(2, 2) + two * a * at(2, 3) + a * a * at(3, 3);
        let mixed = at(1, 2) + a * at(1, 3) - b * at(2, 3) - a * b * at(3, 3);
        let half = V::splat(0.5);
        let spread = half * (one - other);
        let largest = half * (one + other) + (spread * spread + mixed * mixed).root();
        [normal, largest]
    }
}

/// Place of K's element in the plane: order n, t, spin.
const fn at3(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * 3 - i * (i + 1) / 2 + j
}

impl Reduced for D2 {
    const POINTS: usize = 2;
    const TANGENT_COLUMNS: usize = 0;
    const K: usize = 6;
    const HAS_INERTIA_COLUMN: bool = false;

    fn pack_masses(inv_mass: [f32; 3], inv_inertia: [f32; 6], columns: [&mut Column; 2]) {
        let [motion, _] = columns;
        motion.0[3..5].copy_from_slice(&inv_mass[..2]);
        motion.0[5] = inv_inertia[0];
    }

    #[inline(always)]
    fn bodies<V: Wide>(m: &[V; LANES], _: &[V; LANES]) -> Moving<V> {
        let o = zero::<V>();
        Moving {
            linear: [m[0], m[1], o],
            spin: [m[2], o, o],
            inv_mass: [m[3], m[4], o],
            inv_inertia: [m[5], o, o, o, o, o],
        }
    }
    #[inline(always)]
    fn drift<V: Wide>(d: &[V; LANES]) -> Moving<V> {
        let o = zero::<V>();
        Moving {
            linear: [d[0], d[1], o],
            spin: [d[2], o, o],
            inv_mass: [o; 3],
            inv_inertia: [o; 6],
        }
    }
    #[inline(always)]
    fn repack<V: Wide>(moving: &Moving<V>, columns: &mut [V; LANES]) {
        columns[0] = moving.linear[0];
        columns[1] = moving.linear[1];
        columns[2] = moving.spin[0];
    }

    #[inline(always)]
    fn relative<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> Twist<V> {
        let (n, o) = (axes.normal, zero::<V>());
        let velocity = |body: &Moving<V>, arm: V3<V>| {
            [
                body.linear[0] - body.spin[0] * arm[1],
                body.linear[1] + body.spin[0] * arm[0],
            ]
        };
        let (of_a, of_b) = (velocity(a, axes.arm_a), velocity(b, axes.arm_b));
        let u = [of_b[0] - of_a[0], of_b[1] - of_a[1]];
        let along = n[0] * u[0] + n[1] * u[1];
        let across = n[0] * u[1] - n[1] * u[0];
        [along, across, o, b.spin[0] - a.spin[0], o, o]
    }

    #[inline(always)]
    fn spread<V: Wide>(axes: &Axes<V>, g: &Twist<V>, a: &mut Moving<V>, b: &mut Moving<V>) {
        let n = axes.normal;
        let p = [n[0] * g[0] - n[1] * g[1], n[1] * g[0] + n[0] * g[1]];
        let moment = |arm: V3<V>| arm[0] * p[1] - arm[1] * p[0] + g[3];
        for axis in 0..2 {
            a.linear[axis] = a.linear[axis] - a.inv_mass[axis] * p[axis];
            b.linear[axis] = b.linear[axis] + b.inv_mass[axis] * p[axis];
        }
        a.spin[0] = a.spin[0] - a.inv_inertia[0] * moment(axes.arm_a);
        b.spin[0] = b.spin[0] + b.inv_inertia[0] * moment(axes.arm_b);
    }

    #[inline(always)]
    fn inverse_mass<V: Wide>(axes: &Axes<V>, a: &Moving<V>, b: &Moving<V>) -> [V; 21] {
        let n = axes.normal;
        let t = [-n[1], n[0]];
        let mut k = [zero::<V>(); 21];
        for (body, arm) in [(a, axes.arm_a), (b, axes.arm_b)] {
            let spin = body.inv_inertia[0];
            let lever_n = arm[0] * n[1] - arm[1] * n[0];
            let lever_t = arm[0] * t[1] - arm[1] * t[0];
            let mass = |e: [V; 2], f: [V; 2]| {
                body.inv_mass[0] * e[0] * f[0] + body.inv_mass[1] * e[1] * f[1]
            };
            let n2 = [n[0], n[1]];
            k[0] = k[0] + mass(n2, n2) + spin * lever_n * lever_n;
            k[1] = k[1] + mass(n2, t) + spin * lever_n * lever_t;
            k[2] = k[2] + spin * lever_n;
            k[3] = k[3] + mass(t, t) + spin * lever_t * lever_t;
            k[4] = k[4] + spin * lever_t;
            k[5] = k[5] + spin;
        }
        k
    }

    #[inline(always)]
    fn at_point<V: Wide>(x: &Twist<V>, c: &[V; 2]) -> V3<V> {
        [x[0] - x[3] * c[0], x[1], zero()]
    }

    #[inline(always)]
    fn push_normal<V: Wide>(k: &[V; 21], c: &[V; 2], p: V, x: &mut Twist<V>, g: &mut Twist<V>) {
        let moment = -(c[0] * p);
        g[0] = g[0] + p;
        g[3] = g[3] + moment;
        for (row, place) in [(0, 0), (1, 1), (2, 3)] {
            x[place] = x[place] + k[at3(row, 0)] * p + k[at3(row, 2)] * moment;
        }
    }

    #[inline(always)]
    fn push_tangent<V: Wide>(
        k: &[V; 21],
        _: &[V; 2],
        p: [V; 2],
        x: &mut Twist<V>,
        g: &mut Twist<V>,
    ) {
        g[1] = g[1] + p[0];
        for (row, place) in [(0, 0), (1, 1), (2, 3)] {
            x[place] = x[place] + k[at3(row, 1)] * p[0];
        }
    }

    #[inline(always)]
    fn at_point_inverse_mass<V: Wide>(k: &[V; 21], c: &[V; 2]) -> [V; 2] {
        let a = c[0];
        let normal = k[0] - V::splat(2.0) * a * k[2] + a * a * k[5];
        [normal, k[3]]
    }
}
