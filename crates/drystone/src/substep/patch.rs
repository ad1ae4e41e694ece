//! Contact patches as records of numbers, and what the kernels do with eight of them.
//!
//! A **patch** is where two convex parts touch: one normal, up to `POINTS` points. Its record is
//! a row of numbers, a multiple of eight:
//!
//! | numbers | |
//! |---|---|
//! | normal, tangent, arm of A, arm of B | axes of the patch, m |
//! | μ, m, e | friction, mass that one point moves (kg), restitution (of bodies with joints) |
//! | slide | what B's surface moves along t₁ in a substep by itself (belts), m |
//! | for each point: c, d₀, g, k, λ | place in the plane, separation at the bodies' base poses, gap of this substep (m), stiffness (N/m), force (N) along n, t₁, t₂ |
//!
//! # The law of a point
//!
//! In a substep of h seconds bodies move by small displacements. With $u_N, u_T$ what a point's
//! two sides move relative to each other, the force on B is
//!
//! $$ f_N = \max(0,\ \lambda_N - k\,(g + u_N)), \qquad
//!    f_T = P_{\mu f_N}(\lambda_T - k\,u_T) , $$
//!
//! P being the projection on the disk: a spring on top of the force λ that is known to act. Where
//! the law of contact holds, f = λ: nothing touched moves into each other and nothing that sticks
//! slips. After each round λ moves towards f, so the spring carries only what λ does not know yet,
//! and a resting stack rests on λ alone, without sinking into any spring.
//!
//! **Stiffness follows the load**: $k = \kappa L/(a h^2)$, where a is the acceleration of free fall
//! and L the larger of the force λ, of the weight of the mass that one point moves, and of the
//! force that stops that mass in one substep if it is about to hit. So every spring, whatever it
//! carries, gives way by $a h^2/\kappa$ at most: a millimetre or so. A fixed stiffness is too soft
//! under a heavy stone and too hard, thus slow to converge, on top of the stack.
//!
//! **The gap** g is the separation d where the two are apart; overlaps (d < 0) are repaired by the
//! part $1-\alpha$ of what exceeds the slop in a substep: $g = (1-\alpha)\,(d + s)$. What hits hard was dealt
//! with before ([`super::strike`]); only a point on a body with joints, whose e is kept here, gets
//! $g = h\,e\,u^-_N$ instead if it will hit faster than the threshold: it must leave at e times the
//! speed at which it came.

use std::ops::Range;

use super::reduced::{Axes, Grip, Held, Moving, Twist, V3, sub, zero};
use super::shared::Shared;
use super::simd::{Column, LANES, Wide, dispatch};
use crate::space::Space;

/// Where things are in a patch's record.
pub(crate) struct Layout<S>(std::marker::PhantomData<S>);

impl<S: Space> Layout<S> {
    pub(crate) const NORMAL: usize = 0;
    pub(crate) const TANGENT: usize = S::DIM;
    pub(crate) const ARM_A: usize = Self::TANGENT + S::TANGENT;
    pub(crate) const ARM_B: usize = Self::ARM_A + S::DIM;
    pub(crate) const MU: usize = Self::ARM_B + S::DIM;
    pub(crate) const MASS: usize = Self::MU + 1;
    pub(crate) const RESTITUTION: usize = Self::MU + 2;
    const FIRST_POINT: usize = Self::MU + 3;
    /// Tangents, and coordinates in the patch's plane.
    pub(crate) const TANGENTS: usize = S::DIM - 1;
    // Within a point:
    pub(crate) const PLACE: usize = 0;
    pub(crate) const SEPARATION: usize = Self::TANGENTS;
    pub(crate) const GAP: usize = Self::SEPARATION + 1;
    pub(crate) const STIFFNESS: usize = Self::SEPARATION + 2;
    pub(crate) const FORCE: usize = Self::SEPARATION + 3;
    const POINT: usize = Self::FORCE + S::DIM;
    /// What B's surface moves along t₁ in a substep relative to A's by itself, m (belts).
    pub(crate) const SLIDE: usize = Self::point(S::POINTS);

    /// First number of point k.
    #[inline(always)]
    pub(crate) const fn point(k: usize) -> usize {
        Self::FIRST_POINT + k * Self::POINT
    }
}

/// Separation that marks a place in a patch without a point, m.
pub(crate) const NO_POINT: f32 = 1e30;
/// Times its own mass's weight that a point's stiffness is made for at most: beyond, single
/// precision could not tell a body's inertia from rounding.
const MOST_LOAD: f32 = 1e5;
/// Times stiffer that a bounce is than a hit without one.
const FIRM_BOUNCE: f32 = 50.0;
/// Numbers in a record at most.
const MOST: usize = 48;

/// What all threads of a step work on.
pub(crate) struct Field<'a> {
    /// Records of patches; the first belongs to no patch.
    pub(crate) records: Shared<'a, Column>,
    /// Bodies A and B of each record, as places in the body columns.
    pub(crate) ends: &'a [[u32; 2]],
    /// Motion at the start of the substep.
    pub(crate) motion: Shared<'a, Column>,
    /// Displacement since the base pose, up to the start of the substep.
    pub(crate) drift: Shared<'a, Column>,
    /// Displacement in the substep.
    pub(crate) shift: Shared<'a, Column>,
    /// Displacement in the substep if nothing touched.
    pub(crate) aim: Shared<'a, Column>,
    /// Mass and inertia over h².
    pub(crate) mass: &'a [Column],
    pub(crate) inertia: &'a [Column],
    /// What holds the bodies of linkages: two columns each, see [`Grasp`].
    pub(crate) grasp: Shared<'a, Column>,
}

/// Numbers of the law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    /// h, s.
    pub(crate) h: f32,
    /// κ/(a h²): stiffness for a load, 1/m.
    pub(crate) stiffness: f32,
    /// a, m/s².
    pub(crate) acceleration: f32,
    /// 1 − α: part of an overlap that is repaired in a substep.
    pub(crate) repaired: f32,
    /// Overlap that is left alone, m.
    pub(crate) slop: f32,
    /// Approach slower than this does not bounce, m/s.
    pub(crate) threshold: f32,
    /// Part of f − λ that λ takes over in a round where it grows, and where it shrinks.
    pub(crate) loading: f32,
    pub(crate) unloading: f32,
}

/// Eight bodies of one colour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyGroup {
    /// Places in the body columns; 0 for none.
    pub(crate) bodies: [u32; LANES],
    /// Its sides are at these places of the list.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// One patch of each of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    /// Records; 0 for none.
    pub(crate) records: [u32; LANES],
    /// The bodies on the other side.
    pub(crate) others: [u32; LANES],
    /// 1 where the body is B, −1 where it is A.
    pub(crate) side: Column,
    /// How often stiffness counts: twice where both sides are moved at the same time.
    pub(crate) weight: Column,
}

#[inline(always)]
fn three<V: Wide>(numbers: &[V; MOST], first: usize, count: usize) -> V3<V> {
    let mut v = [zero::<V>(); 3];
    v[..count].copy_from_slice(&numbers[first..first + count]);
    v
}

#[inline(always)]
fn axes<S: Space, V: Wide>(numbers: &[V; MOST]) -> Axes<V> {
    Axes {
        normal: three(numbers, Layout::<S>::NORMAL, S::DIM),
        tangent: three(numbers, Layout::<S>::TANGENT, S::TANGENT),
        arm_a: three(numbers, Layout::<S>::ARM_A, S::DIM),
        arm_b: three(numbers, Layout::<S>::ARM_B, S::DIM),
    }
}

#[inline(always)]
fn place<S: Space, V: Wide>(numbers: &[V; MOST], point: usize) -> [V; 2] {
    let mut c = [zero::<V>(); 2];
    for k in 0..Layout::<S>::TANGENTS {
        c[k] = numbers[point + Layout::<S>::PLACE + k];
    }
    c
}

/// Eight rows of an array, transposed.
#[inline(always)]
fn gather<V: Wide>(from: &Shared<'_, Column>, indices: &[u32; LANES]) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&from.read(indices[k] as usize));
    }
    V::transpose(rows)
}

#[inline(always)]
fn gather_slice<V: Wide>(from: &[Column], indices: &[u32; LANES]) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&from[indices[k] as usize]);
    }
    V::transpose(rows)
}

/// Eight records, transposed.
#[inline(always)]
fn read_records<S: Space, V: Wide>(
    records: &Shared<'_, Column>,
    indices: &[u32; LANES],
) -> [V; MOST] {
    let mut numbers = [zero::<V>(); MOST];
    for column in 0..S::RECORD {
        let mut rows = [zero::<V>(); LANES];
        for k in 0..LANES {
            rows[k] = V::load(&records.read(indices[k] as usize * S::RECORD + column));
        }
        numbers[column * LANES..(column + 1) * LANES].copy_from_slice(&V::transpose(rows));
    }
    numbers
}

#[inline(always)]
fn write_records<S: Space, V: Wide>(
    records: &Shared<'_, Column>,
    indices: &[u32; LANES],
    numbers: &[V; MOST],
) {
    for column in 0..S::RECORD {
        let mut rows = [zero::<V>(); LANES];
        rows.copy_from_slice(&numbers[column * LANES..(column + 1) * LANES]);
        let rows = V::transpose(rows);
        for k in 0..LANES {
            let mut row = Column::default();
            rows[k].store(&mut row);
            records.write(indices[k] as usize * S::RECORD + column, row);
        }
    }
}

/// Force of a point along n, t₁, t₂ whose sides move by `u`.
#[inline(always)]
fn point_force<S: Space, V: Wide>(numbers: &[V; MOST], at: usize, u: &V3<V>, mu: V) -> V3<V> {
    let o = zero::<V>();
    let k = numbers[at + Layout::<S>::STIFFNESS];
    let normal = pressed::<S, V>(numbers, at, u[0]).most(o);
    let mut force = [normal, o, o];
    let slip = [u[1] + numbers[Layout::<S>::SLIDE], u[2]];
    let mut squared = o;
    for j in 0..Layout::<S>::TANGENTS {
        force[1 + j] = numbers[at + Layout::<S>::FORCE + 1 + j] - k * slip[j];
        squared = squared + force[1 + j] * force[1 + j];
    }
    let shrink = (mu * normal / squared.root().most(V::splat(1e-30))).least(V::splat(1.0));
    for j in 0..Layout::<S>::TANGENTS {
        force[1 + j] = force[1 + j] * shrink;
    }
    force
}

/// λ − k (g + u): the normal force of a point whose sides move by `u`, or its lack if negative.
#[inline(always)]
fn pressed<S: Space, V: Wide>(numbers: &[V; MOST], at: usize, u: V) -> V {
    let k = numbers[at + Layout::<S>::STIFFNESS];
    numbers[at + Layout::<S>::FORCE] - k * (numbers[at + Layout::<S>::GAP] + u)
}

/// Gaps and stiffnesses of a substep.
#[inline(always)]
fn begin_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: Range<usize>, law: &Law) {
    let (o, one) = (zero::<V>(), V::splat(1.0));
    for group in groups {
        let (records, a, b) = ends_of(field, group);
        let mut numbers = read_records::<S, V>(&field.records, &records);
        let axes = axes::<S, V>(&numbers);
        let drift = S::relative(
            &axes,
            &S::motion(&gather::<V>(&field.drift, &a)),
            &S::motion(&gather::<V>(&field.drift, &b)),
        );
        let motion = S::relative(
            &axes,
            &S::motion(&gather::<V>(&field.motion, &a)),
            &S::motion(&gather::<V>(&field.motion, &b)),
        );
        let mass = numbers[Layout::<S>::MASS];
        let e = numbers[Layout::<S>::RESTITUTION];
        let h = V::splat(law.h);
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let c = place::<S, V>(&numbers, at);
            let d0 = numbers[at + Layout::<S>::SEPARATION];
            let d = d0 + S::at_point(&drift, &c)[0];
            let u = S::at_point(&motion, &c)[0];
            let is_point = (V::splat(0.5 * NO_POINT) - d0).positive();
            // Whether the sides will meet in this substep, with the fall it adds.
            let fall = V::splat(law.acceleration * law.h);
            let meets = (-(d + h * (u - fall))).positive() * (-u).positive();
            let weight = mass * V::splat(law.acceleration);
            let known = numbers[at + Layout::<S>::FORCE];
            let bounces = meets * (-u - V::splat(law.threshold)).positive() * e.positive();
            // A rebound must be exact: what is missing of it is energy lost at every bounce.
            let firm = one + bounces * V::splat(FIRM_BOUNCE);
            let stopping = meets * mass * (-u / h) * firm;
            let load = known
                .most(weight)
                .most(stopping)
                .least(weight * V::splat(MOST_LOAD));
            numbers[at + Layout::<S>::STIFFNESS] = load * V::splat(law.stiffness) * is_point;
            let repaired = d.most(o) + V::splat(law.repaired) * (d + V::splat(law.slop)).least(o);
            let rebound = h * e * u;
            numbers[at + Layout::<S>::GAP] = repaired + bounces * (rebound - repaired);
        }
        write_records::<S, V>(&field.records, &records, &numbers);
    }
}

/// The eight records of a group, and their bodies.
#[inline(always)]
fn ends_of(field: &Field<'_>, group: usize) -> ([u32; LANES], [u32; LANES], [u32; LANES]) {
    let (mut records, mut a, mut b) = ([0; LANES], [0; LANES], [0; LANES]);
    for k in 0..LANES {
        let record = group * LANES + k;
        records[k] = record as u32;
        [a[k], b[k]] = field.ends[record];
    }
    (records, a, b)
}

/// λ moves towards f.
#[inline(always)]
fn learn_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: Range<usize>, law: &Law) {
    let (loading, unloading) = (V::splat(law.loading), V::splat(law.unloading));
    for group in groups {
        let (records, a, b) = ends_of(field, group);
        let mut numbers = read_records::<S, V>(&field.records, &records);
        let x = S::relative(
            &axes::<S, V>(&numbers),
            &S::motion(&gather::<V>(&field.shift, &a)),
            &S::motion(&gather::<V>(&field.shift, &b)),
        );
        let mu = numbers[Layout::<S>::MU];
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let c = place::<S, V>(&numbers, at);
            let force = point_force::<S, V>(&numbers, at, &S::at_point(&x, &c), mu);
            let grows = (force[0] - numbers[at + Layout::<S>::FORCE]).positive();
            let part = unloading + (loading - unloading) * grows;
            for j in 0..S::DIM {
                let known = numbers[at + Layout::<S>::FORCE + j];
                numbers[at + Layout::<S>::FORCE + j] = known + part * (force[j] - known);
            }
        }
        write_records::<S, V>(&field.records, &records, &numbers);
    }
}

/// The first where the body is B, the second where it is A.
#[inline(always)]
fn choose<V: Wide>([is_b, is_a]: [V; 2], p: V3<V>, q: V3<V>) -> V3<V> {
    let mut chosen = [zero::<V>(); 3];
    for k in 0..3 {
        chosen[k] = is_b * p[k] + is_a * q[k];
    }
    chosen
}

/// Relative motion of a patch's sides seen from one of its bodies.
#[inline(always)]
fn relative<S: Space, V: Wide>(
    axes: &Axes<V>,
    is: [V; 2],
    own: &Moving<V>,
    other: &Moving<V>,
) -> Twist<V> {
    let a = Moving {
        linear: choose(is, other.linear, own.linear),
        angular: choose(is, other.angular, own.angular),
    };
    let b = Moving {
        linear: choose(is, own.linear, other.linear),
        angular: choose(is, own.angular, other.angular),
    };
    S::relative(axes, &a, &b)
}

/// Adds what one patch of each of eight bodies does to it.
///
/// A spring counts where it presses, and also where it would press if the body went where inertia
/// takes it: otherwise a body whose spring has just let go would go there, be thrown back, and so
/// on for ever.
#[inline(always)]
fn add_side<S: Space, V: Wide>(
    field: &Field<'_>,
    sides: &Sides,
    (own, aim): (&Moving<V>, &Moving<V>),
    held: &mut Held<V>,
) {
    let o = zero::<V>();
    let (one, half) = (V::splat(1.0), V::splat(0.5));
    let numbers = read_records::<S, V>(&field.records, &sides.records);
    let other = S::motion(&gather::<V>(&field.shift, &sides.others));
    let axes = axes::<S, V>(&numbers);
    let side = V::load(&sides.side);
    let weight = V::load(&sides.weight);
    // 1 and 0 where the body is B, 0 and 1 where it is A.
    let is = [half * (one + side), half * (one - side)];
    let arm = choose(is, axes.arm_b, axes.arm_a);
    let x = relative::<S, V>(&axes, is, own, &other);
    let x_aim = relative::<S, V>(&axes, is, aim, &other);
    let mu = numbers[Layout::<S>::MU];
    let mut grip = Grip {
        wrench: [o; 6],
        sums: [o; 6],
    };
    for p in 0..S::POINTS {
        let at = Layout::<S>::point(p);
        let c = place::<S, V>(&numbers, at);
        let u = S::at_point(&x, &c);
        let force = point_force::<S, V>(&numbers, at, &u, mu);
        let now = pressed::<S, V>(&numbers, at, u[0]);
        let then = pressed::<S, V>(&numbers, at, S::at_point(&x_aim, &c)[0]);
        let k = numbers[at + Layout::<S>::STIFFNESS] * now.most(then).positive() * weight;
        S::add_force(&force, &c, &mut grip.wrench);
        let (ka, kb) = (k * c[0], k * c[1]);
        let parts = [k, ka, kb, ka * c[0], ka * c[1], kb * c[1]];
        for (sum, part) in grip.sums.iter_mut().zip(parts) {
            *sum = *sum + part;
        }
    }
    S::hold(&axes, &grip, arm, side, held);
}

/// What inertia and patches do to the bodies of a group, where they are, and their inertia.
#[inline(always)]
fn held<S: Space, V: Wide>(
    field: &Field<'_>,
    group: &BodyGroup,
    sides: &[Sides],
) -> (Held<V>, Moving<V>, V3<V>, [V; 6]) {
    let own = S::motion(&gather::<V>(&field.shift, &group.bodies));
    let aim = S::motion(&gather::<V>(&field.aim, &group.bodies));
    let m = gather_slice::<V>(field.mass, &group.bodies);
    let i = gather_slice::<V>(field.inertia, &group.bodies);
    let (mass, inertia) = ([m[0], m[1], m[2]], [i[0], i[1], i[2], i[3], i[4], i[5]]);
    let away = sub(aim.linear, own.linear);
    let mut held = Held::by(Moving {
        linear: [mass[0] * away[0], mass[1] * away[1], mass[2] * away[2]],
        angular: S::turned(&inertia, sub(aim.angular, own.angular)),
    });
    for entry in &sides[group.start as usize..group.end as usize] {
        add_side::<S, V>(field, entry, (&own, &aim), &mut held);
    }
    (held, own, mass, inertia)
}

/// Moves each body of a colour to where inertia and its patches balance, the others held still.
#[inline(always)]
fn settle_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) {
    for group in groups {
        let (held, own, mass, inertia) = held::<S, V>(field, group, sides);
        let change = S::balance(&held, mass, &inertia);
        let mut moved = own;
        for k in 0..3 {
            moved.linear[k] = own.linear[k] + change.linear[k];
            moved.angular[k] = own.angular[k] + change.angular[k];
        }
        let mut columns = [zero::<V>(); LANES];
        S::to_columns(&moved, &mut columns);
        let rows = V::transpose(columns);
        for (&body, moved) in group.bodies.iter().zip(rows) {
            if body != 0 {
                let mut row = Column::default();
                moved.store(&mut row);
                field.shift.write(body as usize, row);
            }
        }
    }
}

/// Writes down what inertia and patches do to bodies that linkages move.
#[inline(always)]
fn grasp_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) {
    for group in groups {
        let (held, ..) = held::<S, V>(field, group, sides);
        let (f, t, s1, s2) = (held.load.linear, held.load.angular, held.s1, held.s2);
        let first = [f[0], f[1], f[2], t[0], t[1], t[2], held.s0, s1[0]];
        let second = [s1[1], s1[2], s2[0], s2[1], s2[2], s2[3], s2[4], s2[5]];
        for (half, numbers) in [first, second].into_iter().enumerate() {
            for (&body, row) in group.bodies.iter().zip(V::transpose(numbers)) {
                if body != 0 {
                    let mut stored = Column::default();
                    row.store(&mut stored);
                    field.grasp.write(2 * body as usize + half, stored);
                }
            }
        }
    }
}

/// What inertia and patches do to a body that a linkage moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grasp {
    /// Force and torque: f, t.
    pub(crate) load: [f64; 6],
    /// Σk, Σk r, Σk r rᵀ: see [`super::reduced`].
    pub(crate) s0: f64,
    pub(crate) s1: [f64; 3],
    pub(crate) s2: [f64; 6],
}

impl Grasp {
    /// Whether both are held by the same springs, whatever they carry.
    pub(crate) fn has_springs_of(&self, other: &Self) -> bool {
        self.s0 == other.s0 && self.s1 == other.s1 && self.s2 == other.s2
    }

    /// As the kernel wrote it down.
    pub(crate) fn read(field: &Field<'_>, place: usize) -> Self {
        let first = field.grasp.read(2 * place).0.map(f64::from);
        let second = field.grasp.read(2 * place + 1).0.map(f64::from);
        let mut load = [0.0; 6];
        load.copy_from_slice(&first[..6]);
        let mut s2 = [0.0; 6];
        s2.copy_from_slice(&second[2..]);
        Self {
            load,
            s0: first[6],
            s1: [first[7], second[0], second[1]],
            s2,
        }
    }
}

dispatch! {
    /// Finds gaps and stiffnesses of a substep.
    fn begin<S: Space>(field: &Field<'_>, groups: Range<usize>, law: &Law) = begin_kernel
}
dispatch! {
    /// Moves the known forces towards the present ones.
    fn learn<S: Space>(field: &Field<'_>, groups: Range<usize>, law: &Law) = learn_kernel
}
dispatch! {
    /// Moves each body of a colour to where inertia and its patches balance.
    fn settle<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) = settle_kernel
}
dispatch! {
    /// Writes down what inertia and patches do to bodies that linkages move.
    fn grasp<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) = grasp_kernel
}
