//! Planes between bundles, eight pairs at a time.
//!
//! Two bundles stay apart if a plane is between all their vertices both at the start and at the end:
//! see [`super`]. Tried are planes across the line between the middles of their boxes at the start,
//! and those that their own faces lie in then: sheets that lie on each other are told apart by these
//! and hardly by any other.

// `dispatch!` gives every kernel a space, asked for or not, and iterators that are not inlined would be
// compiled for less than the kernel is.
#![allow(clippy::extra_unused_type_parameters, clippy::needless_range_loop)]

use super::Moving;
use super::bundle::SPOTS;
pub(super) use super::pairs::BATCH;
use super::pairs::{Eight, dot, less};
use crate::space::{D3, Space};
use crate::substep::simd::{Column, Instructions, LANES, Wide, dispatch};

/// Calls `near` with those of some pairs of bundles that no plane is seen between.
pub(super) fn not_apart(moving: Moving<'_>, pairs: &[[u32; 2]], mut near: impl FnMut([u32; 2])) {
    let best = Instructions::best();
    let mut answers = [0.0; BATCH];
    for batch in pairs.chunks(BATCH) {
        bundles_apart::<D3>(best, moving, batch, &mut answers);
        for (&pair, &answer) in batch.iter().zip(&answers) {
            if answer != 1.0 {
                near(pair);
            }
        }
    }
}

/// The vertices at a place of one side of eight pairs; the last pair stands for missing ones.
#[inline(always)]
fn vertices_at<V: Wide>(
    moving: Moving<'_>,
    pairs: &[[u32; 2]],
    (side, place): (usize, usize),
) -> Eight<V> {
    let mut vertices = [0; LANES];
    for (lane, vertex) in vertices.iter_mut().enumerate() {
        let pair = &pairs[lane.min(pairs.len() - 1)];
        *vertex = moving.spots[pair[side] as usize].0[place];
    }
    Eight::at(moving.points, &vertices)
}

/// The middle of the box around vertices at the start, twice.
#[inline(always)]
fn middle<V: Wide>(all: &[Eight<V>]) -> [V; 3] {
    let mut twice = all[0].at[0];
    for axis in 0..3 {
        let (mut lower, mut upper) = (all[0].at[0][axis], all[0].at[0][axis]);
        for one in &all[1..] {
            lower = lower.least(one.at[0][axis]);
            upper = upper.most(one.at[0][axis]);
        }
        twice[axis] = lower + upper;
    }
    twice
}

/// How far vertices go along a direction at a time, and their reach.
#[inline(always)]
fn farthest<V: Wide>(all: &[Eight<V>], direction: [V; 3], time: usize) -> [V; 2] {
    let (mut along, mut reach) = (dot(all[0].at[time], direction), all[0].reach[time]);
    for one in &all[1..] {
        along = along.most(dot(one.at[time], direction));
        reach = reach.most(one.reach[time]);
    }
    [along, reach]
}

/// 1 where a plane across a direction is between two bundles all the time, else 0: with the second
/// ahead, and with the first ahead.
#[inline(always)]
fn apart<V: Wide>(first: &[Eight<V>], second: &[Eight<V>], direction: [V; 3]) -> [V; 2] {
    let back = [-direction[0], -direction[1], -direction[2]];
    let length = dot(direction, direction).root();
    let mut answer = [V::splat(1.0); 2];
    for time in 0..2 {
        let [ahead, reach] = farthest(first, direction, time);
        let [behind, other] = farthest(second, back, time);
        let between = (reach + other) * length;
        answer[0] = answer[0] * (-(ahead + behind) - between).positive();
        let [ahead, _] = farthest(second, direction, time);
        let [behind, _] = farthest(first, back, time);
        answer[1] = answer[1] * (-(ahead + behind) - between).positive();
    }
    answer
}

/// Across the faces of one side of eight pairs at the start.
#[inline(always)]
fn normals_of<V: Wide>(moving: Moving<'_>, pairs: &[[u32; 2]], side: usize) -> [V; 3] {
    let mut columns = [Column::default(); 3];
    for lane in 0..LANES {
        let pair = &pairs[lane.min(pairs.len() - 1)];
        let normal = &moving.normals[pair[side] as usize];
        for axis in 0..3 {
            columns[axis].0[lane] = normal[axis];
        }
    }
    [
        V::load(&columns[0]),
        V::load(&columns[1]),
        V::load(&columns[2]),
    ]
}

#[inline(always)]
fn bundles_kernel<S: Space, V: Wide>(
    moving: Moving<'_>,
    pairs: &[[u32; 2]],
    answers: &mut [f32; BATCH],
) {
    for (pairs, answers) in pairs.chunks(LANES).zip(answers.chunks_mut(LANES)) {
        let mut count = SPOTS / 2;
        for [a, b] in pairs {
            if moving.spots[*a as usize].are_many() | moving.spots[*b as usize].are_many() {
                count = SPOTS;
            }
        }
        let mut sides = [[Eight::<V>::nowhere(); SPOTS]; 2];
        for place in 0..count {
            sides[0][place] = vertices_at(moving, pairs, (0, place));
            sides[1][place] = vertices_at(moving, pairs, (1, place));
        }
        let (first, second) = (&sides[0][..count], &sides[1][..count]);
        let direction = less(middle(second), middle(first));
        let mut column = Column::default();
        apart(first, second, direction)[0].store(&mut column);
        if column.0 != [1.0; LANES] {
            let mut answer = V::load(&column);
            for side in 0..2 {
                let [one, other] = apart(first, second, normals_of(moving, pairs, side));
                answer = answer.most(one.most(other));
            }
            answer.store(&mut column);
        }
        answers.copy_from_slice(&column.0);
    }
}

dispatch! {
    /// Says of each pair of bundles whether a plane is seen between them all the time.
    fn bundles_apart<S: Space>(
        moving: Moving<'_>,
        pairs: &[[u32; 2]],
        answers: &mut [f32; BATCH],
    ) = bundles_kernel
}
