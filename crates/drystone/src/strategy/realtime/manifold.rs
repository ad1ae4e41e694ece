//! Contact manifolds as records of numbers, and what the kernels do with eight of them.
//!
//! A **manifold** is where two convex parts touch: one normal, up to `POINTS` points. Its record is
//! a row of columns of eight numbers, one or two for all of it and one for each point:
//!
//! | numbers | |
//! |---|---|
//! | normal, tangent, arm of A, arm of B | axes of the manifold, m |
//! | μ, m | friction, mass that one point moves (kg) |
//! | e, slide | restitution (of nets' bodies); what B's surface moves along t₁ in a substep by itself (belts), m. In the plane they are with each point, where there is room |
//! | for each point: c, d₀, g, k, λ | place in the plane, separation at the bodies' base poses, gap of this substep (m), stiffness (N/m), force (N) along n, t₁, t₂ |
//!
//! A ball touches in one point, a box with a face in four: manifolds that are worked on together have
//! as many points as can be ([`super::manifold_records`], [`super::contact_graph`]), and the columns of points that
//! none of them has are not even read.
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
//! under a heavy stone and too hard, thus slow to converge, on top of the stack. How many times the
//! weight w of the mass that a point moves it carries, $D = \lambda_N/w$, says how deep in a pile it
//! is. Deep piles converge slowly, and forces that run ahead of their bodies make them swing: so κ
//! is smaller there, $\kappa/(1 + D/50)$.
//!
//! **The gap** g is the separation d where the two are apart, and 0 where they overlap: overlaps are
//! repaired by displacements that no velocity and no force learns of ([`super::overlap_nudges`]). (A
//! force that grew as long as there is overlap would lag behind it by a quarter of a swing: piles
//! would swing by themselves.) Points on a body of a net of joints get $g = (1-\alpha)(d+s)$ instead,
//! and $g = h\,e\,u^-_N$ if they will hit faster than the threshold: they must leave at e times the
//! speed at which they came. What else hits hard was dealt with before ([`super::impacts`]).

use std::sync::atomic::{AtomicBool, Ordering};

use super::contact_graph::{BodyGroup, Sides};
use super::manifold_records::RecordGroup;
use crate::geometry::Space;
use crate::math::algebra::manifold_algebra::{Axes, Grip, Held, Moving, Twist, V3, sub, zero};
use crate::math::simd::{Column, LANES, Wide, dispatch};
use crate::parallel::shared_slice::SharedSlice;

/// Where things are in a manifold's record.
pub(crate) struct Layout<S>(std::marker::PhantomData<S>);

impl<S: Space> Layout<S> {
    pub(crate) const NORMAL: usize = 0;
    pub(crate) const TANGENT: usize = S::DIM;
    pub(crate) const ARM_A: usize = Self::TANGENT + S::TANGENT;
    pub(crate) const ARM_B: usize = Self::ARM_A + S::DIM;
    pub(crate) const MU: usize = Self::ARM_B + S::DIM;
    pub(crate) const MASS: usize = Self::MU + 1;
    /// Columns before those of the points.
    pub(crate) const HEADER: usize = S::RECORD - S::POINTS;
    /// Whether restitution and slide are among them, not with the points.
    pub(crate) const HAS_ROOM: bool = Self::MASS + 2 < Self::HEADER * LANES;
    pub(crate) const RESTITUTION: usize = if Self::HAS_ROOM {
        Self::MASS + 1
    } else {
        Self::FORCE + S::DIM
    };
    /// What B's surface moves along t₁ in a substep relative to A's by itself, m (belts).
    pub(crate) const SLIDE: usize = Self::RESTITUTION + 1;
    /// Tangents, and coordinates in the manifold's plane.
    pub(crate) const TANGENTS: usize = S::DIM - 1;
    // Within a point's column:
    pub(crate) const PLACE: usize = 0;
    pub(crate) const SEPARATION: usize = Self::TANGENTS;
    pub(crate) const GAP: usize = Self::SEPARATION + 1;
    pub(crate) const STIFFNESS: usize = Self::SEPARATION + 2;
    pub(crate) const FORCE: usize = Self::SEPARATION + 3;
}

/// Separation that marks a place in a manifold without a point, m.
pub(crate) const NO_POINT: f32 = 1e30;
/// Times its own mass's weight that a point's stiffness is made for at most: beyond, single
/// precision could not tell a body's inertia from rounding.
const MOST_LOAD: f32 = 1e5;
/// How deep in a pile a contact is half as stiff as on top, in layers.
const SOFT_DEPTH: f32 = 50.0;
/// Times stiffer that a bounce is than a hit without one.
const FIRM_BOUNCE: f32 = 50.0;
/// Numbers of all of a manifold at most.
const MOST: usize = 2 * LANES;

/// What all threads of a step work on.
pub(crate) struct Field<'a> {
    /// Records of manifolds; the first belongs to no manifold.
    pub(crate) records: SharedSlice<'a, Column>,
    /// Bodies A and B of each record, as places in the body columns.
    pub(crate) ends: &'a [[u32; 2]],
    /// Motion at the start of the substep.
    pub(crate) motion: SharedSlice<'a, Column>,
    /// Displacement since the base pose, up to the start of the substep.
    pub(crate) drift: SharedSlice<'a, Column>,
    /// Displacement in the substep.
    pub(crate) shift: SharedSlice<'a, Column>,
    /// Displacement in the substep if nothing touched.
    pub(crate) aim: SharedSlice<'a, Column>,
    /// Mass and inertia over h².
    pub(crate) mass: SharedSlice<'a, Column>,
    pub(crate) inertia: SharedSlice<'a, Column>,
    /// What holds the bodies of linkages: two columns each, see [`super::manifold_forces`].
    pub(crate) grasp: SharedSlice<'a, Column>,
    /// Displacement in the substep that repairs overlaps.
    pub(crate) nudge: SharedSlice<'a, Column>,
}

impl Field<'_> {
    /// The bodies A and B of eight records.
    #[inline(always)]
    pub(super) fn ends_of(&self, group: &RecordGroup) -> [[u32; LANES]; 2] {
        let of = |side: usize| group.records.map(|record| self.ends[record as usize][side]);
        [of(0), of(1)]
    }
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
    /// What is repaired in a substep at most, m.
    pub(crate) most_repaired: f32,
    /// Overlap that is left alone, m.
    pub(crate) slop: f32,
    /// Approach slower than this does not bounce, m/s.
    pub(crate) threshold: f32,
    /// Part of f − λ that λ takes over in a round where it grows, and where it shrinks.
    pub(crate) loading: f32,
    pub(crate) unloading: f32,
}

#[inline(always)]
fn three<V: Wide>(numbers: &[V; MOST], first: usize, count: usize) -> V3<V> {
    let mut v = [zero::<V>(); 3];
    v[..count].copy_from_slice(&numbers[first..first + count]);
    v
}

#[inline(always)]
pub(super) fn axes<S: Space, V: Wide>(numbers: &[V; MOST]) -> Axes<V> {
    Axes {
        normal: three(numbers, Layout::<S>::NORMAL, S::DIM),
        tangent: three(numbers, Layout::<S>::TANGENT, S::TANGENT),
        arm_a: three(numbers, Layout::<S>::ARM_A, S::DIM),
        arm_b: three(numbers, Layout::<S>::ARM_B, S::DIM),
    }
}

/// Eight points, a number a row.
type Point<V> = [V; LANES];

#[inline(always)]
pub(super) fn place<S: Space, V: Wide>(point: &Point<V>) -> [V; 2] {
    let mut c = [zero::<V>(); 2];
    let places = &point[Layout::<S>::PLACE..][..Layout::<S>::TANGENTS];
    c[..Layout::<S>::TANGENTS].copy_from_slice(places);
    c
}

/// Restitution or slide: see [`Layout`].
#[inline(always)]
fn extra<S: Space, V: Wide>(numbers: &[V; MOST], point: &Point<V>, at: usize) -> V {
    if Layout::<S>::HAS_ROOM {
        numbers[at]
    } else {
        point[at]
    }
}

/// Eight rows of an array, transposed.
#[inline(always)]
pub(super) fn gather<V: Wide>(
    from: &SharedSlice<'_, Column>,
    indices: &[u32; LANES],
) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&from.read(indices[k] as usize));
    }
    V::transpose(rows)
}

/// Motion of B relative to A at eight manifolds, by what columns say of their bodies.
#[inline(always)]
pub(super) fn parting<S: Space, V: Wide>(
    axes: &Axes<V>,
    of: &SharedSlice<'_, Column>,
    [a, b]: &[[u32; LANES]; 2],
) -> Twist<V> {
    S::relative(
        axes,
        &S::motion(&gather::<V>(of, a)),
        &S::motion(&gather::<V>(of, b)),
    )
}

/// One column of eight records, transposed.
#[inline(always)]
fn read_column<S: Space, V: Wide>(
    records: &SharedSlice<'_, Column>,
    indices: &[u32; LANES],
    column: usize,
) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&records.read(indices[k] as usize * S::RECORD + column));
    }
    V::transpose(rows)
}

/// What eight records say of all of their manifolds.
#[inline(always)]
pub(super) fn read_header<S: Space, V: Wide>(
    records: &SharedSlice<'_, Column>,
    indices: &[u32; LANES],
) -> [V; MOST] {
    let mut numbers = [zero::<V>(); MOST];
    for column in 0..Layout::<S>::HEADER {
        numbers[column * LANES..(column + 1) * LANES]
            .copy_from_slice(&read_column::<S, V>(records, indices, column));
    }
    numbers
}

#[inline(always)]
pub(super) fn read_point<S: Space, V: Wide>(
    records: &SharedSlice<'_, Column>,
    indices: &[u32; LANES],
    point: usize,
) -> Point<V> {
    read_column::<S, V>(records, indices, Layout::<S>::HEADER + point)
}

#[inline(always)]
fn write_point<S: Space, V: Wide>(
    records: &SharedSlice<'_, Column>,
    indices: &[u32; LANES],
    point: usize,
    numbers: Point<V>,
) {
    let rows = V::transpose(numbers);
    for k in 0..LANES {
        if indices[k] != 0 {
            let mut row = Column::default();
            rows[k].store(&mut row);
            let column = Layout::<S>::HEADER + point;
            records.write(indices[k] as usize * S::RECORD + column, row);
        }
    }
}

/// Force along n, t₁, t₂ of a point whose sides move by `u`, for friction μ and what slides.
#[inline(always)]
fn point_force<S: Space, V: Wide>(point: &Point<V>, u: &V3<V>, [mu, slide]: [V; 2]) -> V3<V> {
    let o = zero::<V>();
    let k = point[Layout::<S>::STIFFNESS];
    let normal = pressed::<S, V>(point, u[0]).most(o);
    let mut force = [normal, o, o];
    let slip = [u[1] + slide, u[2]];
    let mut squared = o;
    for j in 0..Layout::<S>::TANGENTS {
        force[1 + j] = point[Layout::<S>::FORCE + 1 + j] - k * slip[j];
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
fn pressed<S: Space, V: Wide>(point: &Point<V>, u: V) -> V {
    let k = point[Layout::<S>::STIFFNESS];
    point[Layout::<S>::FORCE] - k * (point[Layout::<S>::GAP] + u)
}

/// Gaps and stiffnesses of a substep.
#[inline(always)]
fn begin_kernel<S: Space, V: Wide>(
    field: &Field<'_>,
    groups: &[RecordGroup],
    law: &Law,
    (is_tied, overlaps): (&[bool], &AtomicBool),
) {
    let mut most_due = zero::<V>();
    for group in groups {
        let (records, ends) = (&group.records, field.ends_of(group));
        let numbers = read_header::<S, V>(&field.records, records);
        let axes = axes::<S, V>(&numbers);
        let drift = parting::<S, V>(&axes, &field.drift, &ends);
        let motion = parting::<S, V>(&axes, &field.motion, &ends);
        let mass = numbers[Layout::<S>::MASS];
        let tied = tied::<V>(is_tied, &ends);
        for p in 0..group.points as usize {
            let mut point = read_point::<S, V>(&field.records, records, p);
            let e = extra::<S, V>(&numbers, &point, Layout::<S>::RESTITUTION);
            let c = place::<S, V>(&point);
            let moving = [S::at_point(&drift, &c)[0], S::at_point(&motion, &c)[0]];
            let due = begin_point::<S, V>(&mut point, moving, [mass, e, tied], law);
            most_due = most_due.most(due);
            write_point::<S, V>(&field.records, records, p, point);
        }
    }
    let mut due = Column::default();
    most_due.store(&mut due);
    if due.0.iter().any(|&due| due > 0.0) {
        overlaps.store(true, Ordering::Relaxed);
    }
}

/// 1 where one of two bodies belongs to a net of joints, 0 elsewhere.
#[inline(always)]
pub(super) fn tied<V: Wide>(is_tied: &[bool], [a, b]: &[[u32; LANES]; 2]) -> V {
    let mut column = Column::default();
    for k in 0..LANES {
        let is = |place: u32| place > 0 && is_tied.get(place as usize - 1) == Some(&true);
        column.0[k] = f32::from(u8::from(is(a[k]) || is(b[k])));
    }
    V::load(&column)
}

/// By how much two sides that are d apart should be moved apart in this substep, m; if negative, by
/// how much they may come closer.
#[inline(always)]
pub(super) fn due<V: Wide>(d: V, law: &Law) -> V {
    let over = zero::<V>() - (d + V::splat(law.slop));
    let is_over = over.positive();
    let part = V::splat(1.0) + is_over * V::splat(law.repaired - 1.0);
    (part * over).least(V::splat(law.most_repaired))
}

/// Gap and stiffness of a point whose sides have drifted apart by `drift` and part at `u`. Returns by
/// how much its overlap is to be repaired by a nudge, m.
#[inline(always)]
fn begin_point<S: Space, V: Wide>(
    point: &mut Point<V>,
    [drift, u]: [V; 2],
    [mass, e, tied]: [V; 3],
    law: &Law,
) -> V {
    let (o, one, h) = (zero::<V>(), V::splat(1.0), V::splat(law.h));
    let d0 = point[Layout::<S>::SEPARATION];
    let d = d0 + drift;
    let is_point = (V::splat(0.5 * NO_POINT) - d0).positive();
    // Whether the sides will meet in this substep, with the fall it adds.
    let fall = V::splat(law.acceleration * law.h);
    let meets = (-(d + h * (u - fall))).positive() * (-u).positive();
    let weight = mass * V::splat(law.acceleration);
    let known = point[Layout::<S>::FORCE];
    let bounces = meets * (-u - V::splat(law.threshold)).positive() * e.positive();
    // A rebound must be exact: what is missing of it is energy lost at every bounce.
    let firm = one + bounces * V::splat(FIRM_BOUNCE);
    let stopping = meets * mass * (-u / h) * firm;
    let load = known
        .most(weight)
        .most(stopping)
        .least(weight * V::splat(MOST_LOAD));
    let depth = known / weight.most(V::splat(f32::MIN_POSITIVE));
    let softer = one + depth * V::splat(1.0 / SOFT_DEPTH);
    point[Layout::<S>::STIFFNESS] = load * V::splat(law.stiffness) * is_point / softer;
    let due = due(d, law).most(o) * is_point;
    let gap = d.most(o) - tied * due;
    let rebound = h * e * u;
    point[Layout::<S>::GAP] = gap + bounces * (rebound - gap);
    (one - tied) * due
}

/// λ moves towards f. Where there is a list for them, the error that is left at the worst point of
/// each manifold is written to it, m/s.
#[inline(always)]
fn learn_kernel<S: Space, V: Wide>(
    field: &Field<'_>,
    groups: &[RecordGroup],
    law: &Law,
    errors: Option<&SharedSlice<'_, f32>>,
) {
    let (loading, unloading) = (V::splat(law.loading), V::splat(law.unloading));
    for group in groups {
        let (records, ends) = (&group.records, field.ends_of(group));
        let numbers = read_header::<S, V>(&field.records, records);
        let x = parting::<S, V>(&axes::<S, V>(&numbers), &field.shift, &ends);
        let (mu, mass) = (numbers[Layout::<S>::MU], numbers[Layout::<S>::MASS]);
        let mut most = zero::<V>();
        for p in 0..group.points as usize {
            let mut point = read_point::<S, V>(&field.records, records, p);
            let slide = extra::<S, V>(&numbers, &point, Layout::<S>::SLIDE);
            let u = S::at_point(&x, &place::<S, V>(&point));
            let force = point_force::<S, V>(&point, &u, [mu, slide]);
            let grows = (force[0] - point[Layout::<S>::FORCE]).positive();
            let part = unloading + (loading - unloading) * grows;
            for j in 0..S::DIM {
                let known = point[Layout::<S>::FORCE + j];
                point[Layout::<S>::FORCE + j] = known + part * (force[j] - known);
            }
            write_point::<S, V>(&field.records, records, p, point);
            if errors.is_some() {
                most = most.most(point_error::<S, V>(&point, &u, [mu, slide, mass], law));
            }
        }
        if let Some(errors) = errors {
            let mut found = Column::default();
            most.store(&mut found);
            for (&record, error) in records.iter().zip(found.0) {
                if record != 0 {
                    errors.write(record as usize, error);
                }
            }
        }
    }
}

/// How far the law of contact is from holding at a point, m/s: what a sweep over contacts would change
/// of its force, as a speed of the mass that it moves.
#[inline(always)]
fn point_error<S: Space, V: Wide>(
    point: &Point<V>,
    u: &V3<V>,
    [mu, slide, mass]: [V; 3],
    law: &Law,
) -> V {
    let o = zero::<V>();
    // Force that stops 1 m of displacement in a substep.
    let stiff = mass * V::splat(1.0 / (law.h * law.h));
    let known = point[Layout::<S>::FORCE];
    let normal = (known - stiff * (point[Layout::<S>::GAP] + u[0])).most(o);
    let off = normal - known;
    let slip = [u[1] + slide, u[2]];
    let (mut force, mut squared) = ([o; 2], o);
    for j in 0..Layout::<S>::TANGENTS {
        force[j] = point[Layout::<S>::FORCE + 1 + j] - stiff * slip[j];
        squared = squared + force[j] * force[j];
    }
    let shrink = (mu * known / squared.root().most(V::splat(1e-30))).least(V::splat(1.0));
    let mut error = off * off;
    for j in 0..Layout::<S>::TANGENTS {
        let off = force[j] * shrink - point[Layout::<S>::FORCE + 1 + j];
        error = error + off * off;
    }
    error.root() * V::splat(law.h) / mass.most(V::splat(f32::MIN_POSITIVE))
}

/// The first where the body is B, the second where it is A.
#[inline(always)]
pub(super) fn choose<V: Wide>([is_b, is_a]: [V; 2], p: V3<V>, q: V3<V>) -> V3<V> {
    let mut chosen = [zero::<V>(); 3];
    for k in 0..3 {
        chosen[k] = is_b * p[k] + is_a * q[k];
    }
    chosen
}

/// Motion of a body relative to another at a manifold, as B's relative to A's: `side` is 1 where the
/// body is B and −1 where it is A.
#[inline(always)]
pub(super) fn relative<S: Space, V: Wide>(
    axes: &Axes<V>,
    side: V,
    own: &Moving<V>,
    other: &Moving<V>,
) -> Twist<V> {
    let mut seen = S::relative(axes, other, own);
    // Not `map`: closures are compiled without the kernels' instructions.
    for x in &mut seen {
        *x = side * *x;
    }
    seen
}

/// Adds what one manifold of each of eight bodies does to it.
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
    let one = V::splat(1.0);
    let numbers = read_header::<S, V>(&field.records, &sides.records);
    let other = S::motion(&gather::<V>(&field.shift, &sides.others));
    let axes = axes::<S, V>(&numbers);
    let signed = V::load(&sides.signed);
    // 1 and 0 where the body is B, 0 and 1 where it is A.
    let is_b = signed.positive();
    let is = [is_b, one - is_b];
    let side = is[0] - is[1];
    let weight = side * signed;
    // The body as B, the other one as A.
    let seen = Axes {
        arm_a: choose(is, axes.arm_a, axes.arm_b),
        arm_b: choose(is, axes.arm_b, axes.arm_a),
        ..axes
    };
    let x = relative::<S, V>(&seen, side, own, &other);
    let x_aim = relative::<S, V>(&seen, side, aim, &other);
    let mu = numbers[Layout::<S>::MU];
    let mut grip = Grip {
        wrench: [o; 6],
        sums: [o; 6],
    };
    for p in 0..sides.points as usize {
        let point = read_point::<S, V>(&field.records, &sides.records, p);
        let slide = extra::<S, V>(&numbers, &point, Layout::<S>::SLIDE);
        let c = place::<S, V>(&point);
        let u = S::at_point(&x, &c);
        let force = point_force::<S, V>(&point, &u, [mu, slide]);
        let now = pressed::<S, V>(&point, u[0]);
        let then = pressed::<S, V>(&point, S::at_point(&x_aim, &c)[0]);
        let k = point[Layout::<S>::STIFFNESS] * now.most(then).positive() * weight;
        S::add_force(&force, &c, &mut grip.wrench);
        let (ka, kb) = (k * c[0], k * c[1]);
        let parts = [k, ka, kb, ka * c[0], ka * c[1], kb * c[1]];
        for (sum, part) in grip.sums.iter_mut().zip(parts) {
            *sum = *sum + part;
        }
    }
    S::hold(&axes, &grip, seen.arm_b, side, held);
}

/// What manifolds do to the bodies of a group.
#[inline(always)]
pub(super) fn held_by_manifolds<S: Space, V: Wide>(
    field: &Field<'_>,
    group: &BodyGroup,
    sides: &[Sides],
) -> Held<V> {
    let own = S::motion(&gather::<V>(&field.shift, &group.bodies));
    let aim = S::motion(&gather::<V>(&field.aim, &group.bodies));
    let mut held = Held::by(Moving {
        linear: [zero(); 3],
        angular: [zero(); 3],
    });
    for entry in &sides[group.start as usize..group.end as usize] {
        add_side::<S, V>(field, entry, (&own, &aim), &mut held);
    }
    held
}

/// What inertia and manifolds do to the bodies of a group, where they are, and their inertia.
#[inline(always)]
fn held<S: Space, V: Wide>(
    field: &Field<'_>,
    group: &BodyGroup,
    sides: &[Sides],
) -> (Held<V>, Moving<V>, V3<V>, [V; 6]) {
    let own = S::motion(&gather::<V>(&field.shift, &group.bodies));
    let aim = S::motion(&gather::<V>(&field.aim, &group.bodies));
    let m = gather::<V>(&field.mass, &group.bodies);
    let i = gather::<V>(&field.inertia, &group.bodies);
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

/// Moves each body of a colour to where inertia and its manifolds balance, the others held still.
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

dispatch! {
    /// Finds gaps and stiffnesses of a substep.
    fn begin<S: Space>(
        field: &Field<'_>,
        groups: &[RecordGroup],
        law: &Law,
        tied_and_overlaps: (&[bool], &AtomicBool),
    ) = begin_kernel
}
dispatch! {
    /// Moves the known forces towards the present ones; says how far the law is from holding then.
    fn learn<S: Space>(
        field: &Field<'_>,
        groups: &[RecordGroup],
        law: &Law,
        errors: Option<&SharedSlice<'_, f32>>,
    ) = learn_kernel
}
dispatch! {
    /// Moves each body of a colour to where inertia and its manifolds balance.
    fn settle<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) = settle_kernel
}
