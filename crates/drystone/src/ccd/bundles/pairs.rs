//! Pairs of primitives, eight at a time.
//!
//! Two primitives stay apart if a plane across the direction between them is between their
//! vertices both at the start and at the end: see [`super`].

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::apart::Point;
use super::bundle::{Bundle, NONE};
use crate::ccd::broad::Met;
use crate::space::{D3, Space};
use crate::substep::simd::{Column, Instructions, LANES, Wide, dispatch};
use std::ops::Range;

/// Pairs that are asked before any answer is looked at.
pub(super) const BATCH: usize = 8 * LANES;
/// Pairs of a kind that wait before they are asked.
const WAITING: usize = 8 * BATCH;

/// Pairs of edges, or of faces and vertices.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// The four vertices of each pair: of both edges, or of the face and the vertex.
    corners: Vec<[u32; 4]>,
    /// The two edges, or the vertex and the face.
    numbers: Vec<[u32; 2]>,
}

/// Pairs of primitives of bundles.
#[derive(Clone, Debug, Default)]
pub(super) struct Primitives {
    edges: Pairs,
    faces: Pairs,
}

impl Primitives {
    /// How many pairs of edges, and of faces and vertices, there are.
    pub(super) fn len(&self) -> [usize; 2] {
        [self.edges.corners.len(), self.faces.corners.len()]
    }

    /// With room for all that may wait.
    pub(super) fn with_room() -> Self {
        let pairs = || Pairs {
            corners: Vec::with_capacity(2 * WAITING),
            numbers: Vec::with_capacity(2 * WAITING),
        };
        Self {
            edges: pairs(),
            faces: pairs(),
        }
    }

    /// Adds what two bundles that are kin may meet with: all that share no vertex.
    pub(super) fn add_kin(&mut self, pair: [&Bundle; 2]) {
        let mut all = Self::default();
        all.add(pair);
        let is_apart = |first: &[u32], second: &[u32]| !second.iter().any(|v| first.contains(v));
        let edges = all
            .edges
            .each()
            .filter(|([a, b, c, d], _)| is_apart(&[*a, *b], &[*c, *d]));
        edges.for_each(|pair| self.edges.push(pair));
        let faces = all
            .faces
            .each()
            .filter(|([a, b, c, v], _)| is_apart(&[*a, *b, *c], &[*v]));
        faces.for_each(|pair| self.faces.push(pair));
    }

    /// Adds what two bundles that share no vertex may meet with.
    pub(super) fn add(&mut self, [a, b]: [&Bundle; 2]) {
        for (own, other) in [(a, b), (b, a)] {
            let v = own.vertex;
            if v != NONE {
                let corners = other.corners();
                let with_vertex = corners.iter().map(|&[p, q, r]| [p, q, r, v]);
                self.faces.corners.extend(with_vertex);
                let numbers = other.faces[..corners.len()].iter();
                self.faces.numbers.extend(numbers.map(|&f| [v, f]));
            }
        }
        if a.meets_as_vertex(b) {
            return;
        }
        let (ends, numbers) = (b.ends(), &b.edges[..b.ends().len()]);
        for (&e, &[p, q]) in a.edges.iter().zip(a.ends()) {
            let corners = ends.iter().map(|&[r, s]| [p, q, r, s]);
            self.edges.corners.extend(corners);
            let numbers = numbers.iter().map(|&f| [e.min(f), e.max(f)]);
            self.edges.numbers.extend(numbers);
        }
    }

    /// Calls `met` with those of some pairs of edges and of some of faces and vertices that no
    /// plane is seen between.
    pub(super) fn meet(
        &self,
        points: &[Point],
        [edges, faces]: [Range<usize>; 2],
        met: &mut impl FnMut(Met),
    ) {
        let best = Instructions::best();
        self.edges.near(
            edges,
            |pairs, answers| edges_apart::<D3>(best, points, pairs, answers),
            |[e, f]| met(Met::Edges(e, f)),
        );
        self.faces.near(
            faces,
            |pairs, answers| faces_apart::<D3>(best, points, pairs, answers),
            |[v, f]| met(Met::VertexFace(v, f)),
        );
    }

    /// The same with all pairs, which go, if they are many or `is_last`.
    pub(super) fn flush(&mut self, points: &[Point], is_last: bool, met: &mut impl FnMut(Met)) {
        let [edges, faces] = self.len();
        if is_last || edges.max(faces) >= WAITING {
            self.meet(points, [0..edges, 0..faces], met);
            for pairs in [&mut self.edges, &mut self.faces] {
                pairs.corners.clear();
                pairs.numbers.clear();
            }
        }
    }
}

impl Pairs {
    /// The vertices and the numbers of each pair.
    fn each(&self) -> impl Iterator<Item = ([u32; 4], [u32; 2])> {
        self.corners
            .iter()
            .copied()
            .zip(self.numbers.iter().copied())
    }

    fn push(&mut self, (corners, numbers): ([u32; 4], [u32; 2])) {
        self.corners.push(corners);
        self.numbers.push(numbers);
    }

    /// Calls `near` with those of some pairs that `ask` does not answer with 1.
    fn near(
        &self,
        range: Range<usize>,
        ask: impl Fn(&[[u32; 4]], &mut [f32; BATCH]),
        mut near: impl FnMut([u32; 2]),
    ) {
        let Range {
            start: mut first,
            end,
        } = range;
        let mut answers = [0.0; BATCH];
        while first < end {
            let batch = first..end.min(first + BATCH);
            ask(&self.corners[batch.clone()], &mut answers);
            for (&pair, &answer) in self.numbers[batch.clone()].iter().zip(&answers) {
                if answer != 1.0 {
                    near(pair);
                }
            }
            first = batch.end;
        }
    }
}

/// Eight vertices side by side, at the start and at the end.
#[derive(Clone, Copy)]
pub(super) struct Eight<V> {
    pub(super) at: [[V; 3]; 2],
    pub(super) reach: [V; 2],
}

impl<V: Wide> Eight<V> {
    /// Room for vertices.
    #[inline(always)]
    pub(super) fn nowhere() -> Self {
        Self {
            at: [[V::splat(0.0); 3]; 2],
            reach: [V::splat(0.0); 2],
        }
    }

    /// These vertices.
    #[inline(always)]
    pub(super) fn at(points: &[Point], vertices: &[u32; LANES]) -> Self {
        let mut rows = [V::splat(0.0); LANES];
        for (row, &vertex) in rows.iter_mut().zip(vertices) {
            *row = V::load(&points[vertex as usize].0);
        }
        let [x, y, z, r, p, q, s, t] = V::transpose(rows);
        Self {
            at: [[x, y, z], [p, q, s]],
            reach: [r, t],
        }
    }

    /// The vertices at a place of each pair; the last pair stands for missing ones.
    #[inline(always)]
    fn load(points: &[Point], pairs: &[[u32; 4]], place: usize) -> Self {
        let mut vertices = [0; LANES];
        for (lane, vertex) in vertices.iter_mut().enumerate() {
            *vertex = pairs[lane.min(pairs.len() - 1)][place];
        }
        Self::at(points, &vertices)
    }
}

/// The vertices of eight pairs. Written out: what is not inlined here is compiled for less than the
/// kernel is.
#[inline(always)]
fn four<V: Wide>(points: &[Point], pairs: &[[u32; 4]]) -> [Eight<V>; 4] {
    [
        Eight::load(points, pairs, 0),
        Eight::load(points, pairs, 1),
        Eight::load(points, pairs, 2),
        Eight::load(points, pairs, 3),
    ]
}

#[inline(always)]
pub(super) fn dot<V: Wide>(a: [V; 3], b: [V; 3]) -> V {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn less<V: Wide>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// 1 where a plane across a direction is between the first so many of four vertices and the others
/// all the time, else 0.
#[inline(always)]
fn apart<V: Wide, const FIRST: usize>(all: &[Eight<V>; 4], direction: [V; 3]) -> V {
    let length = dot(direction, direction).root();
    let mut answer = V::splat(1.0);
    for time in 0..2 {
        let mut highest = dot(all[0].at[time], direction);
        let mut farthest = all[0].reach[time];
        for more in &all[1..FIRST] {
            highest = highest.most(dot(more.at[time], direction));
            farthest = farthest.most(more.reach[time]);
        }
        let mut lowest = dot(all[3].at[time], direction);
        let mut other = all[3].reach[time];
        for more in &all[FIRST..3] {
            lowest = lowest.least(dot(more.at[time], direction));
            other = other.most(more.reach[time]);
        }
        let gap = lowest - highest - (farthest + other) * length;
        answer = answer * gap.positive();
    }
    answer
}

/// A part of the way from 0 to 1; what is no number is 0.
#[inline(always)]
fn part<V: Wide>(way: V, length: V) -> V {
    (way / length).most(V::splat(0.0)).least(V::splat(1.0))
}

#[inline(always)]
fn edges_kernel<S: Space, V: Wide>(
    points: &[Point],
    pairs: &[[u32; 4]],
    answers: &mut [f32; BATCH],
) {
    let groups = pairs.chunks(LANES).zip(answers.chunks_mut(LANES));
    for (pairs, answers) in groups {
        let all = four::<V>(points, pairs);
        let [a, b, c, d] = [all[0].at[0], all[1].at[0], all[2].at[0], all[3].at[0]];
        // The nearest points of two lines, held within the edges one after the other.
        let (p, q, r) = (less(b, a), less(d, c), less(a, c));
        let (pp, qq, pq) = (dot(p, p), dot(q, q), dot(p, q));
        let (pr, qr) = (dot(p, r), dot(q, r));
        let s = part(pq * qr - pr * qq, pp * qq - pq * pq);
        let t = part(pq * s + qr, qq);
        let s = part(pq * t - pr, pp);
        let mut direction = r;
        for k in 0..3 {
            direction[k] = q[k] * t - p[k] * s - r[k];
        }
        let mut column = Column::default();
        apart::<V, 2>(&all, direction).store(&mut column);
        answers.copy_from_slice(&column.0);
    }
}

#[inline(always)]
fn faces_kernel<S: Space, V: Wide>(
    points: &[Point],
    pairs: &[[u32; 4]],
    answers: &mut [f32; BATCH],
) {
    let groups = pairs.chunks(LANES).zip(answers.chunks_mut(LANES));
    let third = V::splat(1.0 / 3.0);
    for (pairs, answers) in groups {
        let all = four::<V>(points, pairs);
        let [a, b, c, v] = [all[0].at[0], all[1].at[0], all[2].at[0], all[3].at[0]];
        let mut direction = v;
        for k in 0..3 {
            direction[k] = v[k] - (a[k] + b[k] + c[k]) * third;
        }
        let mut column = Column::default();
        apart::<V, 3>(&all, direction).store(&mut column);
        answers.copy_from_slice(&column.0);
    }
}

dispatch! {
    /// Says of each pair of edges whether a plane is seen between them all the time.
    fn edges_apart<S: Space>(points: &[Point], pairs: &[[u32; 4]], answers: &mut [f32; BATCH]) = edges_kernel
}
dispatch! {
    /// Says of each face and vertex whether a plane is seen between them all the time.
    fn faces_apart<S: Space>(points: &[Point], pairs: &[[u32; 4]], answers: &mut [f32; BATCH]) = faces_kernel
}
