//! Which moving vertices, edges and faces of a large mesh in space may meet.
//!
//! A **bundle** is a vertex with the edges and faces whose lowest vertex it is: on a sheet three
//! edges and two faces, so that one tree over bundles does the work of three over vertices, edges
//! and faces. Primitives of one bundle share its vertex and do not meet.
//!
//! Vertices go straight from start to end with some reach around them (m), which may differ
//! between start and end and is linear between. What is left out:
//!
//! * bundles, and primitives of bundles, whose boxes are apart along the same axis on the same side
//!   both at the start and at the end: sides of boxes move linearly too. What moves along together
//!   is as small then as what stands;
//! * primitives with a plane between them at the start and at the end. Its normal is roughly the
//!   direction between their nearest points at the start; any direction d with
//!   $\min_j d\cdot b_j - \max_i d\cdot a_i > |d|\,(\max_i \rho_i + \max_j \rho_j)$ at both ends
//!   proves it, because the left side is concave and the right side convex in time.
//!
//! # Rounding
//!
//! All of it is in single precision, with u = 2⁻²⁴, from an origin amid the vertices. With R a bound
//! on coordinates and reach there, a coordinate is off by u R, and a component along d by at most
//! $(4\sqrt3 + \sqrt3)\,u R\,|d|$; lengths and the reach add less than 4 u R. Every reach is grown by
//! 16 u R, two sides together by 32 u R, which is more than twice all of that.

#[cfg(test)]
mod tests;

use super::broad::{Mesh, Met, Swept};
use super::tree::{BoxTree, Small};
use crate::shape::Bounds;
use crate::space::D3;
use crate::substep::crew;
use crate::substep::simd::Four;
use glamx::DVec3;
use std::ops::Range;

/// Edges, and faces, of a bundle at most.
const MOST: usize = 4;
/// Searches after which the tree is sorted anew: by then what was near each other has moved apart.
const OLD: u32 = 16;
/// Groups of bundles that a thread takes at a time.
const PIECE: usize = 32;
/// No vertex.
const NONE: u32 = u32::MAX;

/// A vertex with some of the edges and faces whose lowest vertex it is.
#[derive(Clone, Copy, Debug)]
struct Bundle {
    /// The vertex, or [`NONE`] where another bundle has it.
    vertex: u32,
    edge_count: u32,
    face_count: u32,
    edges: [u32; MOST],
    faces: [u32; MOST],
    ends: [[u32; 2]; MOST],
    corners: [[u32; 3]; MOST],
}

impl Bundle {
    const EMPTY: Self = Self {
        vertex: NONE,
        edge_count: 0,
        face_count: 0,
        edges: [0; MOST],
        faces: [0; MOST],
        ends: [[0; 2]; MOST],
        corners: [[0; 3]; MOST],
    };

    fn ends(&self) -> &[[u32; 2]] {
        &self.ends[..self.edge_count as usize]
    }

    fn corners(&self) -> &[[u32; 3]] {
        &self.corners[..self.face_count as usize]
    }

    /// All vertices, some of them several times.
    fn vertices(&self) -> impl Iterator<Item = u32> {
        let own = (self.vertex != NONE).then_some(self.vertex);
        let ends = self.ends().iter().flatten();
        own.into_iter()
            .chain(ends.chain(self.corners().iter().flatten()).copied())
    }
}

/// A vertex at the start and the end: x, y, z and reach, m.
#[derive(Clone, Copy, Debug, Default)]
struct Point([Four; 2]);

/// A box at the start and the end; the fourth number of a corner separates nothing.
#[derive(Clone, Copy, Debug)]
struct Twice {
    lower: [Four; 2],
    upper: [Four; 2],
}

impl Twice {
    const NOWHERE: Self = Self {
        lower: [Four::new([f32::INFINITY; 4]); 2],
        upper: [Four::new([f32::NEG_INFINITY; 4]); 2],
    };

    #[inline(always)]
    fn add(&mut self, point: &Point) {
        for time in 0..2 {
            let at = point.0[time];
            let reach = Four::splat(at.array()[3]);
            self.lower[time] = at.minus(reach).least(self.lower[time]);
            self.upper[time] = at.plus(reach).most(self.upper[time]);
        }
    }

    /// Whether the boxes are apart all the time.
    #[inline(always)]
    fn is_apart(&self, other: &Self) -> bool {
        let over = |a: &Self, b: &Self, time: usize| a.lower[time].minus(b.upper[time]);
        let above = over(self, other, 0).least(over(self, other, 1));
        let below = over(other, self, 0).least(over(other, self, 1));
        let [x, y, z, _] = above.most(below).array();
        (x > 0.0) | (y > 0.0) | (z > 0.0)
    }

    fn small(&self) -> Small<2> {
        let corner = |corner: Four| {
            let [x, y, z, _] = corner.array();
            [x, y, z]
        };
        Small {
            lower: self.lower.map(corner),
            upper: self.upper.map(corner),
        }
    }
}

/// The bundles of a mesh and their tree, to be kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Bundles {
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    bundles: Vec<Bundle>,
    points: Vec<Point>,
    boxes: Vec<Twice>,
    tree: BoxTree<D3, 2>,
    /// Place of each bundle in the tree.
    places: Vec<u32>,
    /// Bundles with each vertex, vertex after vertex, and where each one's start.
    holders: Vec<u32>,
    holder_starts: Vec<u32>,
    /// Searches since the tree was sorted.
    age: u32,
    /// Where single precision counts from, m, and what it may err by.
    origin: [f64; 3],
    slack: f64,
}

impl Bundles {
    /// What `keep` makes of every candidate, in an order that depends on the tree's age. With
    /// `asked`: of those with such a vertex, after nothing but the reach of such vertices has
    /// changed since the last search. `keep` is called on several threads.
    pub(super) fn gather<T: Send>(
        &mut self,
        mesh: &Mesh<'_>,
        swept: &Swept<'_>,
        asked: Option<&[bool]>,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Vec<T> {
        let asked = asked.filter(|_| self.points.len() == swept.start.len());
        let all = asked.map_or(Vec::new(), |asked| self.holders_of(asked));
        match asked {
            Some(asked) => self.widen(swept, asked, &all),
            None => self.fit(mesh, swept),
        }
        let this = &*self;
        let Some(asked) = asked else {
            let leaves = this.tree.leaves();
            let piece = |k: usize| PIECE * k..leaves.min(PIECE * (k + 1));
            return crew::gather(swept.threads, leaves.div_ceil(PIECE), |k, found| {
                this.meet_leaves(piece(k), |met| found.extend(keep(met)));
            });
        };
        let is_asked = |k: u32| all.binary_search(&k).is_ok();
        crew::gather(swept.threads, all.len().div_ceil(PIECE), |piece, found| {
            for &k in all.chunks(PIECE).nth(piece).unwrap_or_default() {
                this.tree
                    .overlapping(&this.boxes[k as usize].small(), |other| {
                        // Of two that are asked about, the smaller number finds the other.
                        if other == k || other < k && is_asked(other) {
                            return;
                        }
                        this.meet(k as usize, other as usize, |met| {
                            if this.corners_of(met).any(|v| asked[v as usize]) {
                                found.extend(keep(met));
                            }
                        });
                    });
            }
        })
    }

    fn corners_of(&self, met: Met) -> impl Iterator<Item = u32> {
        let (four, count) = match met {
            Met::VertexFace(v, f) => {
                let [a, b, c] = self.faces[f as usize];
                ([v, a, b, c], 4)
            }
            Met::VertexEdge(v, e) => {
                let [a, b] = self.edges[e as usize];
                ([v, a, b, b], 3)
            }
            Met::Edges(e, f) => {
                let ([a, b], [c, d]) = (self.edges[e as usize], self.edges[f as usize]);
                ([a, b, c, d], 4)
            }
        };
        four.into_iter().take(count)
    }

    /// Fits everything to a new motion.
    fn fit(&mut self, mesh: &Mesh<'_>, swept: &Swept<'_>) {
        let is_same = self.points.len() == swept.start.len()
            && self.edges == mesh.edges
            && self.faces == mesh.faces;
        if !is_same {
            self.bind(mesh, swept.start.len());
        }
        let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &x in swept.start.iter().chain(swept.end) {
            let x = DVec3::from_array(x);
            (lower, upper) = (lower.min(x), upper.max(x));
        }
        let reach = swept.reach[0].iter().chain(swept.reach[1]);
        let reach = reach.fold(0.0, |most: f64, &r| most.max(r));
        let middle = 0.5 * (lower + upper);
        self.origin = middle.to_array();
        let size = (upper - middle).max_element() + reach;
        self.slack = 16.0 * 0.5 * f64::from(f32::EPSILON) * size;
        for v in 0..self.points.len() {
            self.points[v] = self.point(swept, v);
        }
        let (bundles, points) = (&self.bundles, &self.points);
        self.boxes.clear();
        self.boxes.extend(bundles.iter().map(|b| around(points, b)));
        let is_old = self.age >= OLD || self.tree.len() != self.bundles.len() || !is_same;
        if is_old {
            let corner = |x: &Four| DVec3::from_array([0, 1, 2].map(|k| f64::from(x.array()[k])));
            let bounds = |twice: &Twice| Bounds::<D3> {
                lower: corner(&twice.lower[0]),
                upper: corner(&twice.upper[0]),
            };
            let all = self.boxes.iter().map(bounds).reduce(Bounds::union);
            if let Some(all) = all {
                self.tree.sort(&all, self.boxes.iter().map(bounds));
            }
            self.places.resize(self.bundles.len(), 0);
            for (place, k) in self.tree.order().enumerate() {
                self.places[k as usize] = place as u32;
            }
        }
        self.age = if is_old { 0 } else { self.age + 1 };
        let boxes = &self.boxes;
        self.tree.fit(|k| boxes[k].small());
    }

    /// Makes bundles with vertices that reach farther now as large as they are.
    fn widen(&mut self, swept: &Swept<'_>, asked: &[bool], bundles: &[u32]) {
        for v in (0..asked.len()).filter(|&v| asked[v]) {
            self.points[v] = self.point(swept, v);
        }
        for k in bundles.iter().map(|&k| k as usize) {
            self.boxes[k] = around(&self.points, &self.bundles[k]);
            let small = self.boxes[k].small();
            self.tree.widen(self.places[k] as usize, &small);
        }
    }

    /// The bundles with any of some vertices, sorted.
    fn holders_of(&self, asked: &[bool]) -> Vec<u32> {
        let mut all = Vec::new();
        for v in (0..asked.len()).filter(|&v| asked[v]) {
            let [start, end] = [v, v + 1].map(|v| self.holder_starts[v] as usize);
            all.extend_from_slice(&self.holders[start..end]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn point(&self, swept: &Swept<'_>, v: usize) -> Point {
        let at = |place: &[f64; 3], reach: f64| {
            let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] - self.origin[axis]) as f32);
            Four::new([x, y, z, (reach + self.slack) as f32])
        };
        Point([
            at(&swept.start[v], swept.reach[0][v]),
            at(&swept.end[v], swept.reach[1][v]),
        ])
    }

    /// Ties edges and faces to their lowest vertices.
    fn bind(&mut self, mesh: &Mesh<'_>, vertices: usize) {
        self.edges = mesh.edges.to_vec();
        self.faces = mesh.faces.to_vec();
        self.points = vec![Point::default(); vertices];
        let own = |v: usize| Bundle {
            vertex: v as u32,
            ..Bundle::EMPTY
        };
        self.bundles = (0..vertices).map(own).collect();
        // The bundle of each vertex that still has room.
        let mut open: Vec<usize> = (0..vertices).collect();
        for (k, &ends) in mesh.edges.iter().enumerate() {
            let lowest = ends[0].min(ends[1]) as usize;
            let bundle = self.with_room(&mut open[lowest], |b| b.edge_count);
            let at = bundle.edge_count as usize;
            (bundle.edges[at], bundle.ends[at]) = (k as u32, ends);
            bundle.edge_count += 1;
        }
        let mut open: Vec<usize> = (0..vertices).collect();
        for (k, &corners) in mesh.faces.iter().enumerate() {
            let lowest = corners[0].min(corners[1]).min(corners[2]) as usize;
            let bundle = self.with_room(&mut open[lowest], |b| b.face_count);
            let at = bundle.face_count as usize;
            (bundle.faces[at], bundle.corners[at]) = (k as u32, corners);
            bundle.face_count += 1;
        }
        let mut holders = Vec::new();
        for (k, bundle) in self.bundles.iter().enumerate() {
            holders.extend(bundle.vertices().map(|v| (v, k as u32)));
        }
        holders.sort_unstable();
        holders.dedup();
        let start = |v: usize| holders.partition_point(|&(w, _)| (w as usize) < v) as u32;
        self.holder_starts = (0..=vertices).map(start).collect();
        self.holders = holders.into_iter().map(|(_, k)| k).collect();
    }

    /// A bundle with room for one more, a new one if this one is full.
    fn with_room(&mut self, open: &mut usize, count: impl Fn(&Bundle) -> u32) -> &mut Bundle {
        if count(&self.bundles[*open]) as usize == MOST {
            *open = self.bundles.len();
            self.bundles.push(Bundle::EMPTY);
        }
        &mut self.bundles[*open]
    }

    /// Candidates of some groups of bundles.
    fn meet_leaves(&self, leaves: Range<usize>, mut met: impl FnMut(Met)) {
        self.tree.pairs_from(leaves, |a, b| {
            self.meet(a as usize, b as usize, &mut met);
        });
    }

    /// Candidates of two bundles.
    fn meet(&self, first: usize, second: usize, mut met: impl FnMut(Met)) {
        self.meet_faces(first, second, &mut met);
        self.meet_faces(second, first, &mut met);
        let (a, b) = (&self.bundles[first], &self.bundles[second]);
        let mut others = [Twice::NOWHERE; MOST];
        let mut near = 0_u32;
        for (j, &ends) in b.ends().iter().enumerate() {
            others[j] = self.around(ends);
            near |= u32::from(!others[j].is_apart(&self.boxes[first])) << j;
        }
        if near == 0 {
            return;
        }
        for (i, &ends) in a.ends().iter().enumerate() {
            let own = self.around(ends);
            if own.is_apart(&self.boxes[second]) {
                continue;
            }
            for (j, &other) in b.ends().iter().enumerate() {
                let is_far = near >> j & 1 == 0 || own.is_apart(&others[j]);
                if is_far || other.contains(&ends[0]) || other.contains(&ends[1]) {
                    continue;
                }
                if !self.is_apart::<2>(
                    [ends[0], ends[1], other[0], other[1]],
                    self.between_edges(ends, other),
                ) {
                    let (e, f) = (a.edges[i], b.edges[j]);
                    met(Met::Edges(e.min(f), e.max(f)));
                }
            }
        }
    }

    /// Candidates of the vertex of a bundle and the faces of another.
    fn meet_faces(&self, of_vertex: usize, of_faces: usize, met: &mut impl FnMut(Met)) {
        let v = self.bundles[of_vertex].vertex;
        let bundle = &self.bundles[of_faces];
        if v == NONE || bundle.face_count == 0 {
            return;
        }
        let own = self.around([v]);
        if own.is_apart(&self.boxes[of_faces]) {
            return;
        }
        for (&face, &corners) in bundle.faces.iter().zip(bundle.corners()) {
            let is_apart = || {
                own.is_apart(&self.around(corners))
                    || self.is_apart::<3>(
                        [corners[0], corners[1], corners[2], v],
                        self.between_face(corners, v),
                    )
            };
            if !corners.contains(&v) && !is_apart() {
                met(Met::VertexFace(v, face));
            }
        }
    }

    #[inline(always)]
    fn around<const N: usize>(&self, vertices: [u32; N]) -> Twice {
        let mut twice = Twice::NOWHERE;
        for v in vertices {
            twice.add(&self.points[v as usize]);
        }
        twice
    }

    #[inline(always)]
    fn start(&self, v: u32) -> [f32; 3] {
        let [x, y, z, _] = self.points[v as usize].0[0].array();
        [x, y, z]
    }

    /// Roughly the direction from a face to a vertex.
    #[inline(always)]
    fn between_face(&self, corners: [u32; 3], v: u32) -> [f32; 3] {
        let ([a, b, c], v) = (corners.map(|k| self.start(k)), self.start(v));
        [0, 1, 2].map(|k| v[k] - (a[k] + b[k] + c[k]) * (1.0 / 3.0))
    }

    /// Roughly the direction from an edge to another: the nearest points of two lines, held within
    /// the edges one after the other.
    #[inline(always)]
    fn between_edges(&self, first: [u32; 2], second: [u32; 2]) -> [f32; 3] {
        let ([a, b], [c, d]) = (first.map(|k| self.start(k)), second.map(|k| self.start(k)));
        let less = |x: [f32; 3], y: [f32; 3]| [x[0] - y[0], x[1] - y[1], x[2] - y[2]];
        let (p, q, r) = (less(b, a), less(d, c), less(a, c));
        let (pp, qq, pq) = (dot(p, p), dot(q, q), dot(p, q));
        let (pr, qr) = (dot(p, r), dot(q, r));
        let along = |way: f32, length: f32| {
            if way > 0.0 && length > 0.0 {
                if way < length { way / length } else { 1.0 }
            } else {
                0.0
            }
        };
        let s = along(pq * qr - pr * qq, pp * qq - pq * pq);
        let t = along(pq * s + qr, qq);
        let s = along(pq * t - pr, pp);
        [0, 1, 2].map(|k| q[k] * t - p[k] * s - r[k])
    }

    /// Whether a plane across a direction is between the first so many of four vertices and the
    /// others all the time.
    #[inline(always)]
    fn is_apart<const FIRST: usize>(&self, vertices: [u32; 4], direction: [f32; 3]) -> bool {
        let length = dot(direction, direction).sqrt();
        let [a, b, c] = direction.map(Four::splat);
        let gap = |time: usize| {
            let rows = vertices.map(|v| self.points[v as usize].0[time]);
            let [x, y, z, reach] = Four::transpose(rows);
            let along = x.times(a).plus(y.times(b)).plus(z.times(c)).array();
            let reach = reach.array();
            let most = |x: f32, y: f32| if x > y { x } else { y };
            let (mut highest, mut farthest) = (along[0], reach[0]);
            for k in 1..FIRST {
                (highest, farthest) = (most(along[k], highest), most(reach[k], farthest));
            }
            let (mut lowest, mut other) = (along[3], reach[3]);
            for k in FIRST..3 {
                lowest = if along[k] < lowest { along[k] } else { lowest };
                other = most(reach[k], other);
            }
            lowest - highest - (farthest + other) * length
        };
        (gap(0) > 0.0) & (gap(1) > 0.0)
    }
}

fn around(points: &[Point], bundle: &Bundle) -> Twice {
    let mut twice = Twice::NOWHERE;
    for v in bundle.vertices() {
        twice.add(&points[v as usize]);
    }
    twice
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
