//! Separating planes of clusters, eight pairs in SIMD lanes.
//!
//! Two clusters stay apart if a plane is between all their vertices both at the start and at the end:
//! see [`super`]. Tried are planes across the line between the middles of their boxes at the start,
//! and those that their own faces lie in then: sheets that lie on each other are told apart by these
//! and hardly by any other.

// `dispatch!` gives every kernel a space, asked for or not, and iterators that are not inlined would be
// compiled for less than the kernel is.
#![allow(clippy::extra_unused_type_parameters, clippy::needless_range_loop)]

use super::Moving;
use super::cluster::SPOTS;
pub(super) use super::primitive_pairs::BATCH;
use super::primitive_pairs::{Eight, dot, less};
use crate::math::algebra::{Algebra, D3};
use crate::math::simd::{Column, Instructions, LANES, Wide, dispatch};

/// A plane between two clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// Unit vector across it, towards the second cluster.
    pub(super) normal: [f32; 3],
    /// The gap along that at the start, without anybody's reach, m.
    pub(super) whole: f32,
}

/// What is seen of some pairs: what the best plane leaves beside the reach of both, the whole gap
/// along it at the start, and the vector across it, axis by axis.
pub(super) type Views = [[f32; BATCH]; 5];

/// Calls `seen` with the number of each of some pairs of clusters and the plane between the two that
/// leaves the most room, if one is seen.
pub(super) fn see(
    moving: Moving<'_>,
    pairs: &[[u32; 2]],
    mut seen: impl FnMut(usize, Option<Plane>),
) {
    let best = Instructions::best();
    let mut views = [[0.0; BATCH]; 5];
    for (batch, first) in pairs.chunks(BATCH).zip((0..).step_by(BATCH)) {
        bundles_apart::<D3>(best, moving, batch, &mut views);
        let [left, whole, x, y, z] = &views;
        for at in 0..batch.len() {
            let plane = Plane {
                normal: [x[at], y[at], z[at]],
                whole: whole[at],
            };
            seen(first + at, (left[at] > 0.0).then_some(plane));
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

/// What the reach of two clusters leaves of the gap between them along a direction, at the start or
/// at the end, m: with the second ahead, and with the first ahead. No number where there is no
/// direction.
#[inline(always)]
fn left<V: Wide>(first: &[Eight<V>], second: &[Eight<V>], direction: [V; 3]) -> [V; 2] {
    let back = turned(direction);
    let length = dot(direction, direction).root();
    let mut least = [length; 2];
    for time in 0..2 {
        let [ahead, reach] = farthest(first, direction, time);
        let [behind, other] = farthest(second, back, time);
        let between = (reach + other) * length;
        let gap = -(ahead + behind) - between;
        let [ahead, _] = farthest(second, direction, time);
        let [behind, _] = farthest(first, back, time);
        let other_way = -(ahead + behind) - between;
        least = match time {
            0 => [gap, other_way],
            _ => [least[0].least(gap), least[1].least(other_way)],
        };
    }
    [least[0] / length, least[1] / length]
}

#[inline(always)]
fn turned<V: Wide>(direction: [V; 3]) -> [V; 3] {
    [-direction[0], -direction[1], -direction[2]]
}

/// The better of two directions with what they leave, m.
#[inline(always)]
fn better<V: Wide>(best: (V, [V; 3]), other: (V, [V; 3])) -> (V, [V; 3]) {
    let is_better = (other.0 - best.0).positive();
    let mut direction = best.1;
    for axis in 0..3 {
        direction[axis] = best.1[axis] + (other.1[axis] - best.1[axis]) * is_better;
    }
    // The second stays where the first is no number.
    (other.0.most(best.0), direction)
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
fn bundles_kernel<S: Algebra, V: Wide>(moving: Moving<'_>, pairs: &[[u32; 2]], views: &mut Views) {
    for (pairs, at) in pairs.chunks(LANES).zip((0..).step_by(LANES)) {
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
        let nothing = (V::splat(f32::NEG_INFINITY), direction);
        let mut best = better(nothing, (left(first, second, direction)[0], direction));
        for side in 0..2 {
            let direction = normals_of(moving, pairs, side);
            let [one, other] = left(first, second, direction);
            best = better(best, (one, direction));
            best = better(best, (other, turned(direction)));
        }
        let (most, direction) = best;
        let length = dot(direction, direction).root();
        let normal = [
            direction[0] / length,
            direction[1] / length,
            direction[2] / length,
        ];
        let [ahead, _] = farthest(first, normal, 0);
        let [behind, _] = farthest(second, turned(normal), 0);
        let answers = [most, -(ahead + behind), normal[0], normal[1], normal[2]];
        let mut column = Column::default();
        for (view, answer) in views.iter_mut().zip(answers) {
            answer.store(&mut column);
            view[at..at + LANES].copy_from_slice(&column.0);
        }
    }
}

dispatch! {
    /// Says what is seen of each pair of clusters.
    fn bundles_apart<S: Algebra>(moving: Moving<'_>, pairs: &[[u32; 2]], views: &mut Views) = bundles_kernel
}
