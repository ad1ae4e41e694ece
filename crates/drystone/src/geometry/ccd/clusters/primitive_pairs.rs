//! Primitive pairs of two clusters, eight in SIMD lanes.
//!
//! Two primitives stay apart if a plane across the direction between them is between their
//! vertices both at the start and at the end: see [`super`].

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::cluster::{Cluster, MOST, NONE};
use super::swept_vertices::Point;
use crate::geometry::ccd::broad_phase::Met;
use crate::math::algebra::{Algebra, D3};
use crate::math::simd::{Column, Instructions, LANES, Wide, dispatch};

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
    tags: Vec<Tag>,
}

/// Which pair of clusters a pair of primitives is of, by a number that a program that added it gave, and
/// its bit there: see [`Primitives::add`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    pub(super) owner: u32,
    pub(super) bit: u32,
}

/// Pairs of primitives of clusters.
#[derive(Clone, Debug, Default)]
pub(super) struct Primitives {
    edges: Pairs,
    faces: Pairs,
}

/// All bits of pairs of primitives of two clusters.
pub(super) const ALL: u32 = (1 << (MOST * MOST + 2 * MOST)) - 1;
/// The first bit of faces of the second and of the first cluster with the vertex of the other.
const OF_FACES: [u32; 2] = [(MOST * MOST) as u32, (MOST * MOST + MOST) as u32];

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
            tags: Vec::with_capacity(2 * WAITING),
        };
        Self {
            edges: pairs(),
            faces: pairs(),
        }
    }

    /// Adds those of the pairs of primitives of two clusters that some bits name and that share no
    /// vertex. Bit `MOST` i + j is for edge i of the first with edge j of the second cluster; after
    /// these come the faces of the second with the vertex of the first, then those of the first.
    pub(super) fn add(&mut self, [a, b]: [&Cluster; 2], (owner, which): (u32, u32), are_kin: bool) {
        let mut bits = which & meant([a, b]);
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            let tag = Tag { owner, bit };
            if bit < OF_FACES[0] {
                let [i, j] = [bit as usize / MOST, bit as usize % MOST];
                let ([p, q], [r, s]) = (a.ends()[i], b.ends()[j]);
                if !(are_kin && (p == r || p == s || q == r || q == s)) {
                    let (e, f) = (a.edges[i], b.edges[j]);
                    self.edges.push(([p, q, r, s], [e.min(f), e.max(f)]), tag);
                }
                continue;
            }
            let (own, other) = if bit < OF_FACES[1] { (a, b) } else { (b, a) };
            let (v, face) = (own.vertex, bit as usize % MOST);
            let [p, q, r] = other.corners()[face];
            if !(are_kin && (p == v || q == v || r == v)) {
                let numbers = [v, other.faces[face]];
                self.faces.push(([p, q, r, v], numbers), tag);
            }
        }
    }

    /// Calls `seen` with every pair, whose it is and how far apart the two are.
    pub(super) fn see(&self, points: &[Point], mut seen: impl FnMut(Tag, Met, Gaps)) {
        let best = Instructions::best();
        self.edges.see(
            |pairs, gaps| edges_apart::<D3>(best, points, pairs, gaps),
            |tag, [e, f], gaps| seen(tag, Met::Edges(e, f), gaps),
        );
        self.faces.see(
            |pairs, gaps| faces_apart::<D3>(best, points, pairs, gaps),
            |tag, [v, f], gaps| seen(tag, Met::VertexFace(v, f), gaps),
        );
    }

    /// Calls `met` with those of all pairs that no plane is seen between, and takes all out, if
    /// they are many or `is_last`.
    pub(super) fn flush(&mut self, points: &[Point], is_last: bool, met: &mut impl FnMut(Met)) {
        let [edges, faces] = self.len();
        if is_last || edges.max(faces) >= WAITING {
            self.see(points, |_, pair, gaps| {
                if !gaps.are_apart() {
                    met(pair);
                }
            });
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        for pairs in [&mut self.edges, &mut self.faces] {
            pairs.corners.clear();
            pairs.numbers.clear();
            pairs.tags.clear();
        }
    }
}

/// Bits of all pairs of primitives that two clusters have.
#[inline]
fn meant([a, b]: [&Cluster; 2]) -> u32 {
    let first = |count: usize| (1_u32 << count) - 1;
    let mut bits = 0;
    if !a.meets_as_vertex(b) {
        let row = first(b.ends().len());
        for i in 0..a.ends().len() {
            bits |= row << (MOST * i);
        }
    }
    for (own, other, at) in [(a, b, OF_FACES[0]), (b, a, OF_FACES[1])] {
        if own.vertex != NONE {
            bits |= first(other.corners().len()) << at;
        }
    }
    bits
}

/// How far apart a pair is along a direction that is seen to keep it apart best, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// What is left beside the reach of both, at the start or at the end, whichever is less.
    left: f32,
    /// The whole gap at the start, without anybody's reach.
    pub(super) whole: f32,
}

impl Gaps {
    /// Whether a plane is between the two all the time.
    pub(super) fn are_apart(&self) -> bool {
        self.left > 0.0
    }
}

/// The numbers of [`Gaps`] of some pairs.
pub(super) type Seen = [[f32; BATCH]; 2];

impl Pairs {
    fn push(&mut self, (corners, numbers): ([u32; 4], [u32; 2]), tag: Tag) {
        self.corners.push(corners);
        self.numbers.push(numbers);
        self.tags.push(tag);
    }

    /// Calls `seen` with the tag and numbers of each pair and what `ask` says of it.
    fn see(&self, ask: impl Fn(&[[u32; 4]], &mut Seen), mut seen: impl FnMut(Tag, [u32; 2], Gaps)) {
        let mut answers = [[0.0; BATCH]; 2];
        let whose = self.tags.chunks(BATCH).zip(self.numbers.chunks(BATCH));
        for (corners, (tags, numbers)) in self.corners.chunks(BATCH).zip(whose) {
            ask(corners, &mut answers);
            let [left, whole] = &answers;
            let gaps = left.iter().zip(whole);
            for ((&tag, &pair), (&left, &whole)) in tags.iter().zip(numbers).zip(gaps) {
                seen(tag, pair, Gaps { left, whole });
            }
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

/// The gap along a direction between the first so many of four vertices and the others: what is
/// left beside their reach at the start or at the end, and the whole of it at the start, m.
#[inline(always)]
fn gaps<V: Wide, const FIRST: usize>(all: &[Eight<V>; 4], direction: [V; 3]) -> [V; 2] {
    let length = dot(direction, direction).root();
    let (mut left, mut whole) = (length, length);
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
        let gap = lowest - highest;
        let beside = gap - (farthest + other) * length;
        (left, whole) = match time {
            0 => (beside, gap),
            _ => (left.least(beside), whole),
        };
    }
    [left / length, whole / length]
}

/// A part of the way from 0 to 1; what is no number is 0.
#[inline(always)]
fn part<V: Wide>(way: V, length: V) -> V {
    (way / length).most(V::splat(0.0)).least(V::splat(1.0))
}

#[inline(always)]
fn edges_kernel<S: Algebra, V: Wide>(points: &[Point], pairs: &[[u32; 4]], answers: &mut Seen) {
    for (pairs, at) in pairs.chunks(LANES).zip((0..).step_by(LANES)) {
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
        write(gaps::<V, 2>(&all, direction), answers, at);
    }
}

#[inline(always)]
fn faces_kernel<S: Algebra, V: Wide>(points: &[Point], pairs: &[[u32; 4]], answers: &mut Seen) {
    let third = V::splat(1.0 / 3.0);
    for (pairs, at) in pairs.chunks(LANES).zip((0..).step_by(LANES)) {
        let all = four::<V>(points, pairs);
        let [a, b, c, v] = [all[0].at[0], all[1].at[0], all[2].at[0], all[3].at[0]];
        let mut direction = v;
        for k in 0..3 {
            direction[k] = v[k] - (a[k] + b[k] + c[k]) * third;
        }
        let [left, whole] = gaps::<V, 3>(&all, direction);
        // Across the face, towards the vertex.
        let (p, q) = (less(b, a), less(c, a));
        let across = [
            p[1] * q[2] - p[2] * q[1],
            p[2] * q[0] - p[0] * q[2],
            p[0] * q[1] - p[1] * q[0],
        ];
        let is_above = dot(across, direction).positive();
        let sign = is_above + is_above - V::splat(1.0);
        let across = [across[0] * sign, across[1] * sign, across[2] * sign];
        let [more, its_whole] = gaps::<V, 3>(&all, across);
        let is_better = (more - left).positive();
        let whole = whole + (its_whole - whole) * is_better;
        write([more.most(left), whole], answers, at);
    }
}

/// Writes down the gaps of eight pairs.
#[inline(always)]
fn write<V: Wide>(gaps: [V; 2], answers: &mut Seen, at: usize) {
    let mut column = Column::default();
    gaps[0].store(&mut column);
    answers[0][at..at + LANES].copy_from_slice(&column.0);
    gaps[1].store(&mut column);
    answers[1][at..at + LANES].copy_from_slice(&column.0);
}

dispatch! {
    /// Says of each pair of edges how far apart they are.
    fn edges_apart<S: Algebra>(points: &[Point], pairs: &[[u32; 4]], answers: &mut Seen) = edges_kernel
}
dispatch! {
    /// Says of each face and vertex how far apart they are.
    fn faces_apart<S: Algebra>(points: &[Point], pairs: &[[u32; 4]], answers: &mut Seen) = faces_kernel
}
