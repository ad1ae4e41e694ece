//! Conjugate gradients with a symmetric Gauss-Seidel sweep as preconditioner, after Eisenstat.
//!
//! Within domains the matrix is L + D + U, its blocks below, on and above the diagonal; C are the
//! entries between domains. The preconditioner is $P = (D+L)\,D^{-1}(D+U)$. Instead of a product
//! and two sweeps, an iteration asks for two sweeps only, if vectors are kept as
//! $\hat r = (D+L)^{-1} r$ and $\hat p = (D+U)\,p$: with $t = (D+U)^{-1}\hat p$,
//!
//! $$ (D+L)^{-1}(L+D+U+C)\,t = t + (D+L)^{-1}(\hat p - D t + C t), $$
//!
//! so each block is read once. Where $\hat z = D\hat r$, the error $r^T P^{-1} r$ is
//! $\hat r^T\hat z$; the answer grows by parts of t.

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::domain_coupling::Crossings;
use super::domain_lanes::{Row, Slots, Symmetric, Teams};
use crate::math::algebra::Algebra;
use crate::math::simd::{Column, Wide, dispatch};
use crate::parallel::shared_slice::SharedSlice;
use std::ops::Range;

/// Rows that are summed up in single precision before they are added in double precision.
const BRIEF: usize = 16;

/// The vectors of an iteration.
pub(crate) struct Vectors<'a> {
    /// r̂, x, p̂ and t.
    pub(crate) rest: SharedSlice<'a, Row>,
    pub(crate) change: SharedSlice<'a, Row>,
    pub(crate) direction: SharedSlice<'a, Row>,
    pub(crate) sweep: SharedSlice<'a, Row>,
    /// What is left over of C t, then what is added to t.
    pub(crate) crossing: SharedSlice<'a, Row>,
    pub(crate) answer: SharedSlice<'a, Row>,
}

#[inline(always)]
fn load<V: Wide>(row: &Row) -> [V; 3] {
    [V::load(&row[0]), V::load(&row[1]), V::load(&row[2])]
}

#[inline(always)]
fn stored<V: Wide>(v: [V; 3]) -> Row {
    let mut row = Row::default();
    v[0].store(&mut row[0]);
    v[1].store(&mut row[1]);
    v[2].store(&mut row[2]);
    row
}

#[inline(always)]
fn add<V: Wide>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn sub<V: Wide>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn scale<V: Wide>(a: [V; 3], factor: V) -> [V; 3] {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline(always)]
fn dot<V: Wide>(a: [V; 3], b: [V; 3]) -> V {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Symmetric blocks times vectors.
#[inline(always)]
fn times<V: Wide>(block: &Symmetric, v: [V; 3]) -> [V; 3] {
    let (xx, yy, zz) = (V::load(&block[0]), V::load(&block[1]), V::load(&block[2]));
    let (xy, xz, yz) = (V::load(&block[3]), V::load(&block[4]), V::load(&block[5]));
    [
        xx * v[0] + xy * v[1] + xz * v[2],
        xy * v[0] + yy * v[1] + yz * v[2],
        xz * v[0] + yz * v[1] + zz * v[2],
    ]
}

/// What some slots take of a vector, taken off another; blocks may be turned over.
#[inline(always)]
fn less_near<V: Wide, const IS_TURNED: bool>(
    mut sum: [V; 3],
    slots: &Slots<[Column; 9]>,
    range: Range<usize>,
    vector: &SharedSlice<'_, Row>,
) -> [V; 3] {
    for slot in range {
        let (block, row) = slots.read(slot, vector);
        let v = load::<V>(&row);
        for (axis, of_axis) in sum.iter_mut().enumerate() {
            let [first, stride] = if IS_TURNED { [axis, 3] } else { [3 * axis, 1] };
            let entry = |k: usize| V::load(&block[first + k * stride]);
            *of_axis = *of_axis - dot([entry(0), entry(1), entry(2)], v);
        }
    }
    sum
}

#[inline(always)]
fn less_far<V: Wide>(
    mut sum: [V; 3],
    slots: &Slots<[Column; 1]>,
    range: Range<usize>,
    vector: &SharedSlice<'_, Row>,
) -> [V; 3] {
    for slot in range {
        let ([value], row) = slots.read(slot, vector);
        sum = sub(sum, scale(load::<V>(&row), V::load(value)));
    }
    sum
}

/// What slots between domains take of a vector, added to another.
#[inline(always)]
fn with_crossings<V: Wide>(
    mut sum: [V; 3],
    teams: &Teams,
    row: usize,
    vector: &SharedSlice<'_, Row>,
) -> [V; 3] {
    let Crossings { near, far, .. } = &teams.crossings;
    for slot in near.cuts.before(row) {
        let (block, row) = near.read(slot, vector);
        sum = with_near(sum, block, of_lane_before::<V>(&row));
    }
    for slot in near.cuts.after(row) {
        let (block, row) = near.read(slot, vector);
        sum = with_near(sum, block, of_lane_after::<V>(&row));
    }
    for slot in far.cuts.before(row) {
        let ([value], row) = far.read(slot, vector);
        sum = add(sum, scale(of_lane_before::<V>(&row), V::load(value)));
    }
    for slot in far.cuts.after(row) {
        let ([value], row) = far.read(slot, vector);
        sum = add(sum, scale(of_lane_after::<V>(&row), V::load(value)));
    }
    sum
}

#[inline(always)]
fn of_lane_before<V: Wide>(row: &Row) -> [V; 3] {
    let [x, y, z] = load::<V>(row);
    [x.of_lane_before(), y.of_lane_before(), z.of_lane_before()]
}

#[inline(always)]
fn of_lane_after<V: Wide>(row: &Row) -> [V; 3] {
    let [x, y, z] = load::<V>(row);
    [x.of_lane_after(), y.of_lane_after(), z.of_lane_after()]
}

/// A sum, and a block times a vector.
#[inline(always)]
fn with_near<V: Wide>(sum: [V; 3], block: &[Column; 9], v: [V; 3]) -> [V; 3] {
    let mut product = sum;
    for axis in 0..3 {
        let of_row = [
            V::load(&block[3 * axis]),
            V::load(&block[3 * axis + 1]),
            V::load(&block[3 * axis + 2]),
        ];
        product[axis] = sum[axis] + dot(of_row, v);
    }
    product
}

/// A row of (D + L)⁻¹ times a vector, whose rows before it are in `answer` already.
#[inline(always)]
fn forward<V: Wide>(
    teams: &Teams,
    row: usize,
    right: [V; 3],
    answer: &SharedSlice<'_, Row>,
) -> [V; 3] {
    // What came just before is asked for last.
    let sum = less_far(right, &teams.far, teams.far.cuts.before(row), answer);
    let sum = less_near::<V, true>(sum, &teams.near, teams.near.cuts.before(row), answer);
    let found = times(&teams.inverse[row], sum);
    answer.write(row, stored(found));
    found
}

/// A sum in double precision.
#[inline(always)]
fn note<V: Wide>(all: &mut f64, brief: &mut V, is_due: bool) {
    if is_due {
        let mut column = Column::default();
        brief.store(&mut column);
        for x in column.0 {
            *all += f64::from(x);
        }
        *brief = V::splat(0.0);
    }
}

#[inline(always)]
fn begin_kernel<S: Algebra, V: Wide>(
    teams: &Teams,
    rows: Range<usize>,
    vectors: &Vectors<'_>,
    error: &mut f64,
) {
    let mut brief = V::splat(0.0);
    for row in rows.clone() {
        let right = load::<V>(&vectors.answer.read(row));
        let rest = forward(teams, row, right, &vectors.rest);
        brief = brief + dot(rest, times(&teams.diagonal[row], rest));
        note(error, &mut brief, row % BRIEF == 0 || row + 1 == rows.end);
    }
}

#[inline(always)]
fn back_kernel<S: Algebra, V: Wide>(
    teams: &Teams,
    rows: Range<usize>,
    vectors: &Vectors<'_>,
    turn: f32,
) {
    let turn = V::splat(turn);
    for row in rows.rev() {
        let rest = load::<V>(&vectors.rest.read(row));
        let last = load::<V>(&vectors.direction.read(row));
        let along = add(times(&teams.diagonal[row], rest), scale(last, turn));
        vectors.direction.write(row, stored(along));
        let sweep = &vectors.sweep;
        // Far and near slots rise: what came just before is the first one.
        let sum = less_far(along, &teams.far, teams.far.cuts.after(row), sweep);
        let sum = less_near::<V, false>(sum, &teams.near, teams.near.cuts.after(row), sweep);
        sweep.write(row, stored(times(&teams.inverse[row], sum)));
    }
}

#[inline(always)]
fn forth_kernel<S: Algebra, V: Wide>(
    teams: &Teams,
    rows: Range<usize>,
    vectors: &Vectors<'_>,
    curvature: &mut f64,
) {
    let mut brief = V::splat(0.0);
    for row in rows.clone() {
        let sweep = load::<V>(&vectors.sweep.read(row));
        let along = load::<V>(&vectors.direction.read(row));
        let crossing = load::<V>(&vectors.crossing.read(row));
        let crossing = with_crossings(crossing, teams, row, &vectors.sweep);
        let right = add(sub(along, times(&teams.diagonal[row], sweep)), crossing);
        let answer = forward(teams, row, right, &vectors.answer);
        brief = brief + dot(along, add(sweep, answer));
        note(
            curvature,
            &mut brief,
            row % BRIEF == 0 || row + 1 == rows.end,
        );
    }
}

#[inline(always)]
fn step_kernel<S: Algebra, V: Wide>(
    (teams, rows): (&Teams, Range<usize>),
    vectors: &Vectors<'_>,
    step: f32,
    error: &mut f64,
) {
    let step = V::splat(step);
    let mut brief = V::splat(0.0);
    for row in rows.clone() {
        let sweep = load::<V>(&vectors.sweep.read(row));
        let answer = load::<V>(&vectors.answer.read(row));
        let change = load::<V>(&vectors.change.read(row));
        let rest = load::<V>(&vectors.rest.read(row));
        let change = add(change, scale(sweep, step));
        vectors.change.write(row, stored(change));
        let rest = sub(rest, scale(add(sweep, answer), step));
        vectors.rest.write(row, stored(rest));
        brief = brief + dot(rest, times(&teams.diagonal[row], rest));
        note(error, &mut brief, row % BRIEF == 0 || row + 1 == rows.end);
    }
}

dispatch! {
    /// r̂ of r, which is where answers are, and rᵀP⁻¹r.
    fn begin<S: Algebra>(
        teams: &Teams,
        rows: Range<usize>,
        vectors: &Vectors<'_>,
        error: &mut f64,
    ) = begin_kernel
}
dispatch! {
    /// The next direction p̂, which has `turn` of the last one in it, and t.
    fn back<S: Algebra>(
        teams: &Teams,
        rows: Range<usize>,
        vectors: &Vectors<'_>,
        turn: f32,
    ) = back_kernel
}
dispatch! {
    /// What the matrix makes of t, and pᵀHp.
    fn forth<S: Algebra>(
        teams: &Teams,
        rows: Range<usize>,
        vectors: &Vectors<'_>,
        curvature: &mut f64,
    ) = forth_kernel
}
dispatch! {
    /// Goes a step along t, and gives rᵀP⁻¹r.
    fn step<S: Algebra>(
        team: (&Teams, Range<usize>),
        vectors: &Vectors<'_>,
        size: f32,
        error: &mut f64,
    ) = step_kernel
}
