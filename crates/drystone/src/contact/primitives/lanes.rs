//! Distances of candidate pairs, four in SIMD lanes.
//!
//! The same as [`crate::geometry::ccd::distance`] asks of one pair, operation for operation in double
//! precision, but without branches: every case is worked out and the right one chosen.

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::candidates::ROUNDING;
use crate::geometry::ccd::distance::NOISE;
use crate::math::algebra::Algebra;
use crate::math::simd::{DOUBLES, Number, Quad, Wide, dispatch};

/// What is seen of four pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Distance of the nearest points at the start, m.
    pub(super) distance: Quad,
    /// Unit vector from the first side's to the second's: no number where they are one.
    pub(super) normal: [Quad; 3],
    /// Gap between the sides along it at the start and the end, less what rounding may have
    /// added, m.
    pub(super) gaps: [Quad; 2],
}

/// Where vertices are at the start and the end, m.
pub(super) type Ways<'a> = [&'a [[f64; 3]]; 2];

type Three<N> = [N; 3];

#[inline(always)]
fn add<N: Number>(a: Three<N>, b: Three<N>) -> Three<N> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn sub<N: Number>(a: Three<N>, b: Three<N>) -> Three<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn scale<N: Number>(a: Three<N>, factor: N) -> Three<N> {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline(always)]
fn dot<N: Number>(a: Three<N>, b: Three<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<N: Number>(a: Three<N>, b: Three<N>) -> Three<N> {
    [
        a[1] * b[2] - b[1] * a[2],
        a[2] * b[0] - b[2] * a[0],
        a[0] * b[1] - b[0] * a[1],
    ]
}

/// `yes` where a number is greater than 0, else `no`.
#[inline(always)]
fn choose<N: Number>(number: N, yes: Three<N>, no: Three<N>) -> Three<N> {
    [
        number.choose(yes[0], no[0]),
        number.choose(yes[1], no[1]),
        number.choose(yes[2], no[2]),
    ]
}

/// 1 where `number` is from 0 to 1 and `before` is 1, else 0.
#[inline(always)]
fn within<N: Number>(number: N, before: N) -> N {
    let (none, one) = (N::splat(0.0), N::splat(1.0));
    // The last asks whether it is a number.
    let inside = (-number).choose(none, (number - one).choose(none, before));
    (number + one).choose(inside, none)
}

/// The shorter of two vectors, the first if they are as long.
#[inline(always)]
fn shorter<N: Number>(a: Three<N>, b: Three<N>) -> Three<N> {
    choose(dot(a, a) - dot(b, b), b, a)
}

/// See [`crate::geometry::ccd::distance::normal_of`].
#[inline(always)]
fn normal_of<N: Number>(p: Three<N>, q: Three<N>) -> Three<N> {
    let normal = cross(p, q);
    let longer = choose(dot(p, p) - dot(q, q), p, q);
    let square = dot(longer, longer);
    let part = square.choose(dot(normal, longer) / square, N::splat(0.0));
    sub(normal, scale(longer, part))
}

/// The part of an edge where it is nearest to a point, and the square of the distance.
#[inline(always)]
fn point_edge<N: Number>(point: Three<N>, [from, to]: [Three<N>; 2]) -> [N; 2] {
    let (none, one) = (N::splat(0.0), N::splat(1.0));
    let along = sub(to, from);
    let square = dot(along, along);
    let way = dot(sub(point, from), along);
    let inside = (square - way).choose(way / square, one);
    let part = way.choose(square.choose(inside, none), none);
    let foot = add(
        scale(sub(from, point), one - part),
        scale(sub(to, point), part),
    );
    [part, dot(foot, foot)]
}

/// The square of a height, or that of the way to a foot where it is the honest one.
#[inline(always)]
fn honest<N: Number>(along_normal: N, to_foot: N, size: N) -> N {
    let is_noise = (to_foot - N::splat(NOISE) * size).choose(to_foot, along_normal);
    (to_foot - N::splat(4.0) * along_normal).choose(is_noise, along_normal)
}

/// The nearest points of two edges as parts of them, and the square of their distance.
#[inline(always)]
fn edge_edge<N: Number>([a, b]: [Three<N>; 2], [c, d]: [Three<N>; 2]) -> [N; 3] {
    let (none, one) = (N::splat(0.0), N::splat(1.0));
    let (p, q, between) = (sub(b, a), sub(d, c), sub(c, a));
    let normal = normal_of(p, q);
    let square = dot(normal, normal);
    let u = dot(cross(between, q), normal) / square;
    let v = dot(cross(between, p), normal) / square;
    let left = sub(add(between, scale(q, v)), scale(p, u));
    let u = u + dot(cross(left, q), normal) / square;
    let v = v + dot(cross(left, p), normal) / square;
    let far = add(between, q);
    let least = shorter(shorter(between, sub(between, p)), shorter(far, sub(far, p)));
    let height = dot(normal, least);
    let foot = sub(add(between, scale(q, v)), scale(p, u));
    let size = dot(between, between).most(dot(p, p)).most(dot(q, q));
    let squared = honest(height * height / square, dot(foot, foot), size);
    let is_inside = within(v, within(u, square.choose(one, none)));
    let mut best = [u, v, is_inside.choose(squared, N::splat(f64::INFINITY))];
    let [part, squared] = point_edge(a, [c, d]);
    best = choose(best[2] - squared, [none, part, squared], best);
    let [part, squared] = point_edge(c, [a, b]);
    best = choose(best[2] - squared, [part, none, squared], best);
    let [part, squared] = point_edge(b, [c, d]);
    best = choose(best[2] - squared, [one, part, squared], best);
    let [part, squared] = point_edge(d, [a, b]);
    choose(best[2] - squared, [part, one, squared], best)
}

/// Weights of the corners of a face where it is nearest to a point, and the square of the distance.
#[inline(always)]
fn point_triangle<N: Number>(point: Three<N>, face: [Three<N>; 3]) -> (Three<N>, N) {
    let (none, one) = (N::splat(0.0), N::splat(1.0));
    let [a, b, c] = [
        sub(face[0], point),
        sub(face[1], point),
        sub(face[2], point),
    ];
    let (p, q) = (sub(b, a), sub(c, a));
    let normal = normal_of(p, q);
    let square = dot(normal, normal);
    let areas = [
        dot(cross(b, c), normal),
        dot(cross(c, a), normal),
        dot(cross(a, b), normal),
    ];
    let sum = areas[0] + areas[1] + areas[2];
    let rough = [areas[0] / sum, areas[1] / sum, areas[2] / sum];
    let seen = add(
        add(scale(a, rough[0]), scale(b, rough[1])),
        scale(c, rough[2]),
    );
    let left = [-seen[0], -seen[1], -seen[2]];
    let weight_b = rough[1] + dot(cross(left, q), normal) / square;
    let weight_c = rough[2] + dot(cross(p, left), normal) / square;
    let weights = [one - weight_b - weight_c, weight_b, weight_c];
    let height = dot(normal, shorter(shorter(a, b), c));
    let foot = add(
        add(scale(a, weights[0]), scale(b, weights[1])),
        scale(c, weights[2]),
    );
    let squared = honest(height * height / square, dot(foot, foot), dot(a, a));
    let is_face = square.choose(sum.choose(one, none), none);
    let mut is_inside = within(weights[2], within(weights[1], within(weights[0], is_face)));
    for area in areas {
        is_inside = (-area).choose(none, is_inside);
    }
    let mut least = is_inside.choose(squared, N::splat(f64::INFINITY));
    let mut best = weights;
    let [part, squared] = point_edge(point, [face[0], face[1]]);
    best = choose(least - squared, [one - part, part, none], best);
    least = (least - squared).choose(squared, least);
    let [part, squared] = point_edge(point, [face[1], face[2]]);
    best = choose(least - squared, [none, one - part, part], best);
    least = (least - squared).choose(squared, least);
    let [part, squared] = point_edge(point, [face[2], face[0]]);
    best = choose(least - squared, [part, none, one - part], best);
    least = (least - squared).choose(squared, least);
    (best, least)
}

/// The vertices of four pairs; the last pair stands for missing ones.
#[inline(always)]
fn load<N: Number<Stored = Quad>>(places: &[[f64; 3]], pairs: &[[u32; 4]]) -> [Three<N>; 4] {
    let mut all = [[N::splat(0.0); 3]; 4];
    for (place, of_place) in all.iter_mut().enumerate() {
        let mut quads = [Quad::default(); 3];
        for lane in 0..DOUBLES {
            let at = &places[pairs[lane.min(pairs.len() - 1)][place] as usize];
            for axis in 0..3 {
                quads[axis].0[lane] = at[axis];
            }
        }
        *of_place = [N::load(&quads[0]), N::load(&quads[1]), N::load(&quads[2])];
    }
    all
}

/// The greatest of the absolute values of two vectors.
#[inline(always)]
fn largest<N: Number>(most: N, x: Three<N>) -> N {
    let most = most.most(x[0]).most(-x[0]).most(x[1]).most(-x[1]);
    most.most(x[2]).most(-x[2])
}

/// The gap along a direction between the first so many of four vertices and the others.
#[inline(always)]
fn gap<N: Number, const FIRST: usize>(all: [Three<N>; 4], normal: Three<N>) -> N {
    let mut size = largest(largest(N::splat(0.0), all[0]), all[3]);
    let (mut highest, mut lowest) = (dot(normal, all[0]), dot(normal, all[3]));
    for x in &all[1..FIRST] {
        highest = highest.most(dot(normal, *x));
        size = largest(size, *x);
    }
    for x in &all[FIRST..3] {
        lowest = lowest.least(dot(normal, *x));
        size = largest(size, *x);
    }
    lowest - highest - N::splat(ROUNDING) * size
}

/// Writes down what is seen of four pairs with these vertices, between points of them, with the
/// square of their distance.
#[inline(always)]
fn write<N: Number<Stored = Quad>, const FIRST: usize>(
    [start, end]: [[Three<N>; 4]; 2],
    between: Three<N>,
    squared: N,
    seen: &mut Seen,
) {
    squared.root().store(&mut seen.distance);
    let normal = scale(between, N::splat(1.0) / dot(between, between).root());
    for (along, stored) in normal.into_iter().zip(&mut seen.normal) {
        along.store(stored);
    }
    gap::<N, FIRST>(start, normal).store(&mut seen.gaps[0]);
    gap::<N, FIRST>(end, normal).store(&mut seen.gaps[1]);
}

#[inline(always)]
fn edges_kernel<S: Algebra, V: Wide>(ways: Ways<'_>, pairs: &[[u32; 4]], all: &mut [Seen]) {
    let one = V::Double::splat(1.0);
    for (pairs, seen) in pairs.chunks(DOUBLES).zip(all) {
        let start = load::<V::Double>(ways[0], pairs);
        let end = load::<V::Double>(ways[1], pairs);
        let [a, b, c, d] = start;
        let [u, v, squared] = edge_edge([a, b], [c, d]);
        let from = add(scale(a, one - u), scale(b, u));
        let to = add(scale(c, one - v), scale(d, v));
        write::<V::Double, 2>([start, end], sub(to, from), squared, seen);
    }
}

#[inline(always)]
fn faces_kernel<S: Algebra, V: Wide>(ways: Ways<'_>, pairs: &[[u32; 4]], all: &mut [Seen]) {
    for (pairs, seen) in pairs.chunks(DOUBLES).zip(all) {
        let start = load::<V::Double>(ways[0], pairs);
        let end = load::<V::Double>(ways[1], pairs);
        let [a, b, c, v] = start;
        let (weights, squared) = point_triangle(v, [a, b, c]);
        let from = add(
            add(scale(a, weights[0]), scale(b, weights[1])),
            scale(c, weights[2]),
        );
        write::<V::Double, 3>([start, end], sub(v, from), squared, seen);
    }
}

dispatch! {
    /// Looks at pairs of edges, four for each entry of `all`.
    fn see_edges<S: Algebra>(ways: Ways<'_>, pairs: &[[u32; 4]], all: &mut [Seen]) = edges_kernel
}
dispatch! {
    /// Looks at faces and vertices, four for each entry of `all`.
    fn see_faces<S: Algebra>(ways: Ways<'_>, pairs: &[[u32; 4]], all: &mut [Seen]) = faces_kernel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::ccd::primitive_pair::{Pair, nearest, place_in};
    use crate::math::algebra::D3;
    use crate::math::simd::Instructions;
    use glamx::DVec3;

    /// Numbers from −1 to 1: a step of a congruential generator.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    /// Four vertices a pair: some at random, some in a plane or on a line, some parallel edges,
    /// slivers and points.
    fn places(count: usize) -> Vec<[f64; 3]> {
        let mut seed = 3;
        let mut all = Vec::new();
        for case in 0..count {
            let mut four = [[0.0; 3]; 4].map(|x: [f64; 3]| x.map(|_| noise(&mut seed)));
            match case % 6 {
                1 => four.iter_mut().for_each(|x| x[2] = 0.25),
                2 => four[3] = [0, 1, 2].map(|k| four[2][k] + four[1][k] - four[0][k]),
                3 => four[1] = [0, 1, 2].map(|k| four[0][k] + 1e-9 * four[1][k]),
                4 => four[1] = four[0],
                5 => four[2] = [0, 1, 2].map(|k| four[1][k] + 1e-7 * four[2][k]),
                _ => {}
            }
            all.extend(four);
        }
        all
    }

    #[test]
    fn four_abreast_are_as_near_as_one_by_one_with_any_instructions() {
        let count = 601;
        let start = places(count);
        let end: Vec<[f64; 3]> = start.iter().rev().copied().collect();
        let pairs: Vec<[u32; 4]> = (0..count as u32)
            .map(|k| [0, 1, 2, 3].map(|v| 4 * k + v))
            .collect();
        for is_edges in [true, false] {
            let mut answers = Vec::new();
            for &instructions in Instructions::every() {
                let mut seen = vec![Seen::default(); count.div_ceil(4)];
                let look = if is_edges {
                    see_edges::<D3>
                } else {
                    see_faces::<D3>
                };
                look(instructions, [&start, &end], &pairs, &mut seen);
                answers.push(seen);
            }
            for (k, &[a, b, c, d]) in pairs.iter().enumerate() {
                let pair = if is_edges {
                    Pair::Edges([a, b], [c, d])
                } else {
                    Pair::FaceVertex([a, b, c], d)
                };
                let (seen, lane) = (&answers[0][k / 4], k % 4);
                let distance = nearest(&pair, place_in(&start)).distance;
                assert!(
                    seen.distance.0[lane].to_bits() == distance.to_bits(),
                    "{k} {pair:?}"
                );
                let normal = DVec3::from_array(seen.normal.map(|x| x.0[lane]));
                // The gap along the direction between nearest points is their distance.
                let gap = seen.gaps[0].0[lane];
                if distance > 1e-6 && ![3, 5].contains(&(k % 6)) {
                    assert!((normal.length() - 1.0).abs() < 1e-14 && (gap - distance).abs() < 1e-9);
                }
                for other in &answers {
                    let bits = |seen: &Seen| {
                        let [x, y, z] = seen.normal;
                        let [p, q] = seen.gaps;
                        [seen.distance, x, y, z, p, q].map(|x| x.0[lane].to_bits())
                    };
                    assert_eq!(bits(&other[k / 4]), bits(seen));
                }
            }
        }
    }
}
