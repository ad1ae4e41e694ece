//! Contact patches, eight to a group, and what a sweep does to them.
//!
//! A **patch** is where two convex parts touch: one normal, up to `POINTS` points. A
//! **group** is eight patches that share no moving body, side by side in columns:
//!
//! | columns | |
//! |---|---|
//! | normal, tangent, arm of A, arm of B | axes of the patch, m |
//! | K | relative inverse mass, packed ([`super::reduced`]) |
//! | μ | friction |
//! | for each point: c, d₀, m_N, m_T, λ_N, λ_T | place in the plane, separation at the bodies' base poses, effective masses, impulses of the last substep |
//! | e, and for each point b | restitution, and the target velocity of a bounce |
//!
//! # A sweep
//!
//! At a point with normal velocity $u_N$ and present separation d (from d₀ and how far the bodies
//! have drifted from their base poses),
//!
//! $$ \lambda_N \leftarrow \max(0,\ \lambda_N - m_N (u_N - t)), \qquad
//!    t = -\frac{\max(d, 0)}{h} + \min(c_d \max(-d - \text{slop}, 0),\ \text{cap}) , $$
//! $$ \lambda_T \leftarrow P_{\mu\lambda_N}(\lambda_T - m_T u_T) , $$
//!
//! where P projects on the disk and m_T = 1/λmax of the tangential block: contacts are **hard**
//! (no spring, no softness), gaps may close but not pass. The repair term c_d acts in the first
//! sweep of a substep only; after poses have moved, a second, relaxing sweep with c_d = 0 takes
//! the velocity it made out of the bodies again. A patch with restitution whose points will meet
//! in this substep gets $t = \max(t, -e\,u_N^-)$ with the velocity before the substep's forces.

use std::ops::Range;

use super::reduced::{Axes, Moving, Twist, zero};
use super::shared::Shared;
use super::simd::{Column, LANES, Wide, dispatch};
use crate::space::Space;

/// The bodies of a group's patches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupBodies {
    pub(crate) a: [u32; LANES],
    pub(crate) b: [u32; LANES],
    /// Bit k: body A (B) of lane k is moved by impulses.
    pub(crate) moves_a: u8,
    pub(crate) moves_b: u8,
    /// Whether K and the masses must be computed anew.
    pub(crate) dirty: bool,
    /// Whether some lane may bounce in this step.
    pub(crate) bouncy: bool,
}

/// Where things are in a group's columns.
pub(crate) struct Layout<S>(std::marker::PhantomData<S>);

impl<S: Space> Layout<S> {
    pub(crate) const NORMAL: usize = 0;
    pub(crate) const TANGENT: usize = S::DIM;
    pub(crate) const ARM_A: usize = Self::TANGENT + S::TANGENT_COLUMNS;
    pub(crate) const ARM_B: usize = Self::ARM_A + S::DIM;
    pub(crate) const K: usize = Self::ARM_B + S::DIM;
    pub(crate) const MU: usize = Self::K + S::K;
    const FIRST_POINT: usize = Self::MU + 1;
    /// Tangents, and coordinates in the patch's plane.
    pub(crate) const TANGENTS: usize = S::DIM - 1;
    // Within a point:
    pub(crate) const PLACE: usize = 0;
    pub(crate) const SEPARATION: usize = Self::TANGENTS;
    pub(crate) const MASS_N: usize = Self::SEPARATION + 1;
    pub(crate) const MASS_T: usize = Self::SEPARATION + 2;
    pub(crate) const IMPULSE_N: usize = Self::SEPARATION + 3;
    pub(crate) const IMPULSE_T: usize = Self::SEPARATION + 4;
    const POINT: usize = Self::IMPULSE_T + Self::TANGENTS;
    pub(crate) const RESTITUTION: usize = Self::FIRST_POINT + S::POINTS * Self::POINT;
    pub(crate) const BOUNCE: usize = Self::RESTITUTION + 1;
    /// Columns of a group.
    pub(crate) const STRIDE: usize = Self::BOUNCE + S::POINTS;

    /// First column of point k.
    #[inline(always)]
    pub(crate) const fn point(k: usize) -> usize {
        Self::FIRST_POINT + k * Self::POINT
    }
}

/// Separation that marks a place in a patch without a point, m.
pub(crate) const NO_POINT: f32 = 1e30;

/// Bodies as the kernels see them.
pub(crate) struct SharedBodies<'a> {
    pub(crate) motion: Shared<'a, Column>,
    pub(crate) inertia: Shared<'a, Column>,
    pub(crate) drift: Shared<'a, Column>,
}

/// The groups that a kernel works on.
pub(crate) struct Groups<'a> {
    pub(crate) columns: &'a Shared<'a, Column>,
    pub(crate) bodies: &'a Shared<'a, GroupBodies>,
    pub(crate) range: Range<usize>,
}

/// Numbers of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepRule {
    /// 1/h, 1/s.
    pub(crate) per_substep: f32,
    /// c_d, 1/s; 0 to relax.
    pub(crate) repair_rate: f32,
    /// m.
    pub(crate) slop: f32,
    /// m/s.
    pub(crate) repair_speed: f32,
    /// Passes over a patch's points.
    pub(crate) passes: u32,
}

#[inline(always)]
fn axes<S: Space, V: Wide>(columns: &[Column]) -> Axes<V> {
    let three = |first: usize, count: usize| {
        let mut v = [zero::<V>(); 3];
        for k in 0..count {
            v[k] = V::load(&columns[first + k]);
        }
        v
    };
    Axes {
        normal: three(Layout::<S>::NORMAL, S::DIM),
        tangent: three(Layout::<S>::TANGENT, S::TANGENT_COLUMNS),
        arm_a: three(Layout::<S>::ARM_A, S::DIM),
        arm_b: three(Layout::<S>::ARM_B, S::DIM),
    }
}

#[inline(always)]
fn place<S: Space, V: Wide>(columns: &[Column], point: usize) -> [V; 2] {
    let mut c = [zero::<V>(); 2];
    for k in 0..Layout::<S>::TANGENTS {
        c[k] = V::load(&columns[point + Layout::<S>::PLACE + k]);
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

/// Bodies of one side of a group, with the columns they came from.
#[inline(always)]
fn load_side<S: Space, V: Wide>(
    bodies: &SharedBodies<'_>,
    indices: &[u32; LANES],
) -> (Moving<V>, [V; LANES]) {
    let motion = gather(&bodies.motion, indices);
    let inertia = if S::HAS_INERTIA_COLUMN {
        gather(&bodies.inertia, indices)
    } else {
        [zero::<V>(); LANES]
    };
    (S::bodies(&motion, &inertia), motion)
}

#[inline(always)]
fn store_side<S: Space, V: Wide>(
    bodies: &SharedBodies<'_>,
    (indices, moves): (&[u32; LANES], u8),
    moving: &Moving<V>,
    mut columns: [V; LANES],
) {
    S::repack(moving, &mut columns);
    let rows = V::transpose(columns);
    for k in 0..LANES {
        if moves & (1 << k) != 0 {
            let mut row = Column::default();
            rows[k].store(&mut row);
            bodies.motion.write(indices[k] as usize, row);
        }
    }
}

/// How far the patch's two sides have drifted apart since d₀.
#[inline(always)]
fn drifted<S: Space, V: Wide>(
    bodies: &SharedBodies<'_>,
    group: &GroupBodies,
    axes: &Axes<V>,
) -> Twist<V> {
    let a = S::drift(&gather::<V>(&bodies.drift, &group.a));
    let b = S::drift(&gather::<V>(&bodies.drift, &group.b));
    S::relative(axes, &a, &b)
}

/// K and the effective masses of groups that are dirty.
#[inline(always)]
fn prepare_kernel<S: Space, V: Wide>(groups: &Groups<'_>, bodies: &SharedBodies<'_>) {
    for g in groups.range.clone() {
        let mut group = groups.bodies.read(g);
        if !group.dirty {
            continue;
        }
        group.dirty = false;
        groups.bodies.write(g, group);
        let start = g * Layout::<S>::STRIDE;
        let columns = groups.columns.part(start..start + Layout::<S>::STRIDE);
        let (a, _) = load_side::<S, V>(bodies, &group.a);
        let (b, _) = load_side::<S, V>(bodies, &group.b);
        let k = S::inverse_mass(&axes::<S, V>(columns), &a, &b);
        for (j, value) in k.into_iter().take(S::K).enumerate() {
            value.store(&mut columns[Layout::<S>::K + j]);
        }
        let (one, tiny) = (V::splat(1.0), V::splat(1e-30));
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let c = place::<S, V>(columns, at);
            let distance = V::load(&columns[at + Layout::<S>::SEPARATION]);
            // 1 where there is a point, 0 where there is none.
            let is_point = (V::splat(0.5 * NO_POINT) - distance).most(zero()).least(one);
            let [normal, tangent] = S::at_point_inverse_mass(&k, &c);
            (is_point / normal.most(tiny)).store(&mut columns[at + Layout::<S>::MASS_N]);
            (is_point / tangent.most(tiny)).store(&mut columns[at + Layout::<S>::MASS_T]);
        }
    }
}

/// Applies the impulses that patches already have.
#[inline(always)]
fn warm_start_kernel<S: Space, V: Wide>(groups: &Groups<'_>, bodies: &SharedBodies<'_>) {
    for g in groups.range.clone() {
        let group = groups.bodies.read(g);
        let start = g * Layout::<S>::STRIDE;
        let columns = &*groups.columns.part(start..start + Layout::<S>::STRIDE);
        let (mut a, columns_a) = load_side::<S, V>(bodies, &group.a);
        let (mut b, columns_b) = load_side::<S, V>(bodies, &group.b);
        // K is not needed: with K = 0 the pushes only add up g.
        let no_k = [zero::<V>(); 21];
        let (mut x, mut total) = ([zero::<V>(); 6], [zero::<V>(); 6]);
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let c = place::<S, V>(columns, at);
            let normal = V::load(&columns[at + Layout::<S>::IMPULSE_N]);
            let mut tangent = [zero::<V>(); 2];
            for k in 0..Layout::<S>::TANGENTS {
                tangent[k] = V::load(&columns[at + Layout::<S>::IMPULSE_T + k]);
            }
            S::push_normal(&no_k, &c, normal, &mut x, &mut total);
            S::push_tangent(&no_k, &c, tangent, &mut x, &mut total);
        }
        S::spread(&axes::<S, V>(columns), &total, &mut a, &mut b);
        store_side::<S, V>(bodies, (&group.a, group.moves_a), &a, columns_a);
        store_side::<S, V>(bodies, (&group.b, group.moves_b), &b, columns_b);
    }
}

/// Target velocities of bounces in the coming substep, from the motion before its forces.
#[inline(always)]
fn bounce_kernel<S: Space, V: Wide>(
    groups: &Groups<'_>,
    bodies: &SharedBodies<'_>,
    rule: &BounceRule,
) {
    for g in groups.range.clone() {
        let group = groups.bodies.read(g);
        if !group.bouncy {
            continue;
        }
        let start = g * Layout::<S>::STRIDE;
        let columns = groups.columns.part(start..start + Layout::<S>::STRIDE);
        let (a, _) = load_side::<S, V>(bodies, &group.a);
        let (b, _) = load_side::<S, V>(bodies, &group.b);
        let axes = axes::<S, V>(columns);
        let x = S::relative(&axes, &a, &b);
        let drift = drifted::<S, V>(bodies, &group, &axes);
        let e = V::load(&columns[Layout::<S>::RESTITUTION]);
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let c = place::<S, V>(columns, at);
            let u = S::at_point(&x, &c)[0];
            let d = V::load(&columns[at + Layout::<S>::SEPARATION]) + S::at_point(&drift, &c)[0];
            // Lanes that do not meet, or not fast enough, get a target below any velocity.
            let (mut speed, mut gap, mut part) =
                (Column::default(), Column::default(), Column::default());
            u.store(&mut speed);
            d.store(&mut gap);
            e.store(&mut part);
            let bounce = &mut columns[Layout::<S>::BOUNCE + p].0;
            for lane in 0..LANES {
                let (u, d) = (speed.0[lane], gap.0[lane]);
                let meets = d + rule.substep * (u - rule.fall) < 0.0;
                bounce[lane] = if meets && u < -rule.threshold && part.0[lane] > 0.0 {
                    -part.0[lane] * u
                } else {
                    -NO_POINT
                };
            }
        }
    }
}

/// When a contact bounces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BounceRule {
    /// h, s.
    pub(crate) substep: f32,
    /// Approach slower than this does not bounce, m/s.
    pub(crate) threshold: f32,
    /// Speed that free fall gains in a substep, m/s.
    pub(crate) fall: f32,
}

/// One sweep: see the [module documentation](self).
#[inline(always)]
fn sweep_kernel<S: Space, V: Wide>(
    groups: &Groups<'_>,
    bodies: &SharedBodies<'_>,
    rule: &SweepRule,
) {
    let o = zero::<V>();
    let per_substep = V::splat(rule.per_substep);
    let (rate, cap) = (V::splat(rule.repair_rate), V::splat(rule.repair_speed));
    let (slop, one, tiny) = (V::splat(rule.slop), V::splat(1.0), V::splat(1e-20));
    for g in groups.range.clone() {
        let group = groups.bodies.read(g);
        let start = g * Layout::<S>::STRIDE;
        let columns = groups.columns.part(start..start + Layout::<S>::STRIDE);
        let (mut a, columns_a) = load_side::<S, V>(bodies, &group.a);
        let (mut b, columns_b) = load_side::<S, V>(bodies, &group.b);
        let axes = axes::<S, V>(columns);
        let drift = drifted::<S, V>(bodies, &group, &axes);
        let mut k = [o; 21];
        for j in 0..S::K {
            k[j] = V::load(&columns[Layout::<S>::K + j]);
        }
        let mu = V::load(&columns[Layout::<S>::MU]);
        let mut x = S::relative(&axes, &a, &b);
        let mut total = [o; 6];
        for _ in 0..rule.passes {
            for p in 0..S::POINTS {
                let at = Layout::<S>::point(p);
                let c = place::<S, V>(columns, at);
                let d = V::load(&columns[at + Layout::<S>::SEPARATION])
                    + S::at_point(&drift, &c)[0];
                let repair = (rate * (-d - slop).most(o)).least(cap);
                let mut target = repair - d.most(o) * per_substep;
                if group.bouncy {
                    target = target.most(V::load(&columns[Layout::<S>::BOUNCE + p]));
                }
                let mass = V::load(&columns[at + Layout::<S>::MASS_N]);
                let old = V::load(&columns[at + Layout::<S>::IMPULSE_N]);
                let new = (old - mass * (S::at_point(&x, &c)[0] - target)).most(o);
                new.store(&mut columns[at + Layout::<S>::IMPULSE_N]);
                S::push_normal(&k, &c, new - old, &mut x, &mut total);
            }
            for p in 0..S::POINTS {
                let at = Layout::<S>::point(p);
                let c = place::<S, V>(columns, at);
                let u = S::at_point(&x, &c);
                let mass = V::load(&columns[at + Layout::<S>::MASS_T]);
                let most = mu * V::load(&columns[at + Layout::<S>::IMPULSE_N]);
                let (mut old, mut new) = ([o; 2], [o; 2]);
                let mut squared = o;
                for j in 0..Layout::<S>::TANGENTS {
                    old[j] = V::load(&columns[at + Layout::<S>::IMPULSE_T + j]);
                    new[j] = old[j] - mass * u[1 + j];
                    squared = squared + new[j] * new[j];
                }
                let shrink = (most / squared.root().most(tiny)).least(one);
                let mut change = [o; 2];
                for j in 0..Layout::<S>::TANGENTS {
                    new[j] = new[j] * shrink;
                    new[j].store(&mut columns[at + Layout::<S>::IMPULSE_T + j]);
                    change[j] = new[j] - old[j];
                }
                S::push_tangent(&k, &c, change, &mut x, &mut total);
            }
        }
        S::spread(&axes, &total, &mut a, &mut b);
        store_side::<S, V>(bodies, (&group.a, group.moves_a), &a, columns_a);
        store_side::<S, V>(bodies, (&group.b, group.moves_b), &b, columns_b);
    }
}

dispatch! {
    /// Computes K and masses of dirty groups.
    fn prepare<S: Space>(groups: &Groups<'_>, bodies: &SharedBodies<'_>) = prepare_kernel
}
dispatch! {
    /// Applies the impulses that patches already have.
    fn warm_start<S: Space>(groups: &Groups<'_>, bodies: &SharedBodies<'_>) = warm_start_kernel
}
dispatch! {
    /// Finds the targets of bounces.
    fn find_bounces<S: Space>(groups: &Groups<'_>, bodies: &SharedBodies<'_>, rule: &BounceRule)
        = bounce_kernel
}
dispatch! {
    /// Sweeps once over groups.
    fn sweep<S: Space>(groups: &Groups<'_>, bodies: &SharedBodies<'_>, rule: &SweepRule)
        = sweep_kernel
}
