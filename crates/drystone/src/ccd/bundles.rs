//! Which moving vertices, edges and faces of a large mesh in space may meet.
//!
//! A **bundle** is a vertex with the edges and faces whose lowest vertex it is: on a sheet three
//! edges and two faces, so that one tree over bundles does the work of three over vertices, edges
//! and faces. Primitives of one bundle share its vertex and do not meet.
//!
//! Vertices go straight from start to end with some reach around them (m), which may differ
//! between start and end and is linear between. What is left out:
//!
//! * bundles whose boxes are apart along the same axis on the same side both at the start and at
//!   the end: sides of boxes move linearly too. What moves along together is as small then as what
//!   stands;
//! * bundles, and primitives of bundles, with a plane between them at the start and at the end. Any
//!   direction d with
//!   $\min_j d\cdot b_j - \max_i d\cdot a_i > |d|\,(\max_i \rho_i + \max_j \rho_j)$ at both ends
//!   proves it, because the left side is concave and the right side convex in time. Tried is the
//!   direction between the middles of the bundles' boxes, that across the faces of each, and roughly
//!   that between the nearest points of primitives, at the start.
//!
//! Bundles that share a vertex are most of those whose boxes meet, and no plane is between them:
//! pairs of their primitives are known from the mesh ([`kin`]). A point, an edge without length,
//! meets what has faces as a vertex alone.
//!
//! # Rounding
//!
//! All of it is in single precision, with u = 2⁻²⁴, from an origin amid the vertices. With R a bound
//! on coordinates and reach there, a coordinate is off by u R, and a component along d by at most
//! $(4\sqrt3 + \sqrt3)\,u R\,|d|$; lengths and the reach add less than 4 u R. Every reach is grown by
//! 16 u R, two sides together by 32 u R, which is more than twice all of that.

mod apart;
mod bundle;
mod kin;
mod pairs;
mod planes;
#[cfg(test)]
mod tests;

use super::broad::{Mesh, Met, Swept};
use super::tree::BoxTree;
use crate::shape::Bounds;
use crate::space::D3;
use crate::substep::crew;
use crate::substep::shared::Shared;
use crate::substep::simd::{Column, Four};
use apart::{Point, Twice};
use bundle::{Bundle, Spots};
use glamx::DVec3;
use kin::Kin;
use pairs::Primitives;
use std::ops::Range;

/// Searches after which the tree is sorted anew: by then what was near each other has moved apart.
const OLD: u32 = 16;
/// Groups of bundles that a thread takes at a time.
const PIECE: usize = 32;
/// Bundles whose kin a thread takes at a time.
const KIN_PIECE: usize = 64;
/// Pairs of bundles that wait before they are asked.
const MANY: usize = 256;

/// The bundles of a mesh and their tree, to be kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Bundles {
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    bundles: Vec<Bundle>,
    spots: Vec<Spots>,
    /// Across the faces of each bundle at the start, or 0.
    normals: Vec<[f32; 3]>,
    points: Vec<Point>,
    boxes: Vec<Twice>,
    kin: Kin,
    tree: BoxTree<D3, 2>,
    /// Place of each bundle in the tree.
    places: Vec<u32>,
    /// Bundles with each vertex, vertex after vertex, and where each one's start.
    holders: Vec<u32>,
    holder_starts: Vec<u32>,
    /// Searches since the tree was sorted.
    age: u32,
    /// Where single precision counts from, m, a bound on coordinates and reach there, and what it
    /// may err by.
    origin: [f64; 3],
    size: f64,
    slack: f64,
}

impl Bundles {
    /// What `keep` makes of every candidate, in an order that depends on the tree's age. With
    /// `asked`: of those with such a vertex, after nothing but the ends and the reach of such vertices
    /// has changed since the last search. `keep` is called on several threads.
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
            Some(asked) if self.has_room(swept, asked) => self.widen(swept, asked, &all),
            _ => self.fit(mesh, swept),
        }
        let this = &*self;
        let Some(asked) = asked else {
            return this.gather_all(swept.threads, keep);
        };
        let is_asked = |k: u32| all.binary_search(&k).is_ok();
        let is_due = |met: Met| this.corners_of(met).any(|v| asked[v as usize]);
        let keep = |met: Met| is_due(met).then(|| keep(met)).flatten();
        let pieces = all.len().div_ceil(PIECE);
        let mut found = crew::gather(swept.threads, pieces, |piece, found| {
            let mut waiting = Waiting::new();
            let mut note = |met| found.extend(keep(met));
            for &k in all.chunks(PIECE).nth(piece).unwrap_or_default() {
                let small = this.boxes[k as usize].small();
                this.tree.overlapping(&small, |other| {
                    // Of two that are asked about, the smaller number finds the other.
                    if other != k && (other > k || !is_asked(other)) {
                        this.add([k, other], &mut waiting, &mut note);
                    }
                });
            }
            this.flush(&mut waiting, true, &mut note);
        });
        let kin = all.iter().flat_map(|&k| this.kin.of(k as usize));
        let mut near: Vec<u32> = all.iter().chain(kin).copied().collect();
        near.sort_unstable();
        near.dedup();
        let pieces = near.len().div_ceil(PIECE);
        found.extend(crew::gather(swept.threads, pieces, |piece, found| {
            let mut note = |met| found.extend(keep(met));
            for &k in near.chunks(PIECE).nth(piece).unwrap_or_default() {
                let bundle = k as usize..k as usize + 1;
                this.kin.meet(&this.points, bundle, &mut note);
            }
        }));
        found
    }

    fn gather_all<T: Send>(
        &self,
        threads: usize,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Vec<T> {
        let piece = |k: usize, size: usize, count: usize| size * k..count.min(size * (k + 1));
        let (leaves, bundles) = (self.tree.leaves(), self.bundles.len());
        let of_tree = leaves.div_ceil(PIECE);
        let pieces = of_tree + bundles.div_ceil(KIN_PIECE);
        crew::gather(threads, pieces, |k, found| {
            let mut note = |met| found.extend(keep(met));
            match k.checked_sub(of_tree) {
                None => self.meet_leaves(piece(k, PIECE, leaves), &mut note),
                Some(k) => {
                    let bundles = piece(k, KIN_PIECE, bundles);
                    self.kin.meet(&self.points, bundles, &mut note);
                }
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

    /// Whether these are the bundles of a mesh with so many vertices.
    pub(super) fn are_of(&self, mesh: &Mesh<'_>, vertices: usize) -> bool {
        self.points.len() == vertices && self.edges == mesh.edges && self.faces == mesh.faces
    }

    /// Fits everything to a new motion.
    fn fit(&mut self, mesh: &Mesh<'_>, swept: &Swept<'_>) {
        let is_same = self.are_of(mesh, swept.start.len());
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
        // Twice what it is now, for what will be asked about again.
        self.size = 2.0 * ((upper - middle).max_element() + reach);
        self.slack = 16.0 * 0.5 * f64::from(f32::EPSILON) * self.size;
        self.place(swept);
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
        self.tree.fit(swept.threads, |k| boxes[k].small());
    }

    /// Puts all vertices and boxes where they are.
    fn place(&mut self, swept: &Swept<'_>) {
        let mut points = std::mem::take(&mut self.points);
        let mut boxes = std::mem::take(&mut self.boxes);
        let mut normals = std::mem::take(&mut self.normals);
        let this = &*self;
        boxes.resize(this.bundles.len(), Twice::NOWHERE);
        normals.resize(this.bundles.len(), [0.0; 3]);
        let (all_points, all_boxes) = (Shared::new(&mut points), Shared::new(&mut boxes));
        let all_normals = Shared::new(&mut normals);
        crew::run(swept.threads, |worker| {
            for v in worker.share(all_points.len()) {
                all_points.write(v, this.point(swept, v));
            }
            worker.wait();
            for k in worker.share(this.bundles.len()) {
                let vertices = this.bundles[k].vertices();
                let around = vertices.map(|v| all_points.read(v as usize));
                all_boxes.write(k, Twice::around(around));
                let place = |v: u32| all_points.read(v as usize);
                all_normals.write(k, this.bundles[k].normal(place));
            }
        });
        (self.points, self.boxes, self.normals) = (points, boxes, normals);
    }

    /// Whether vertices that end elsewhere now, or reach farther, are within the bound on
    /// coordinates.
    fn has_room(&self, swept: &Swept<'_>, asked: &[bool]) -> bool {
        let origin = DVec3::from_array(self.origin);
        let is_inside = |v: usize| {
            let off = DVec3::from_array(swept.end[v]) - origin;
            let reach = swept.reach[0][v].max(swept.reach[1][v]);
            off.abs().max_element() + reach <= self.size
        };
        (0..asked.len()).all(|v| !asked[v] || is_inside(v))
    }

    /// Makes bundles with vertices that end elsewhere now, or reach farther, large enough.
    fn widen(&mut self, swept: &Swept<'_>, asked: &[bool], bundles: &[u32]) {
        for v in (0..asked.len()).filter(|&v| asked[v]) {
            self.points[v] = self.point(swept, v);
        }
        for k in bundles.iter().map(|&k| k as usize) {
            let vertices = self.bundles[k].vertices();
            self.boxes[k] = Twice::around(vertices.map(|v| self.points[v as usize]));
            let small = self.boxes[k].small();
            self.tree.widen(self.places[k] as usize, &small);
        }
    }

    /// The bundles with any of some vertices, sorted.
    fn holders_of(&self, asked: &[bool]) -> Vec<u32> {
        let mut all = Vec::new();
        for v in (0..asked.len()).filter(|&v| asked[v]) {
            all.extend_from_slice(self.holders(v));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn point(&self, swept: &Swept<'_>, v: usize) -> Point {
        let at = |place: &[f64; 3], reach: f64| {
            let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] - self.origin[axis]) as f32);
            [x, y, z, (reach + self.slack) as f32]
        };
        let [a, b, c, d] = at(&swept.start[v], swept.reach[0][v]);
        let [e, f, g, h] = at(&swept.end[v], swept.reach[1][v]);
        Point(Column([a, b, c, d, e, f, g, h]))
    }

    /// Ties edges and faces to their lowest vertices.
    fn bind(&mut self, mesh: &Mesh<'_>, vertices: usize) {
        self.edges = mesh.edges.to_vec();
        self.faces = mesh.faces.to_vec();
        self.points = vec![Point::default(); vertices];
        (self.bundles, self.spots) = bundle::bind(mesh, vertices);
        let mut holders = Vec::new();
        for (k, bundle) in self.bundles.iter().enumerate() {
            holders.extend(bundle.vertices().map(|v| (v, k as u32)));
        }
        holders.sort_unstable();
        holders.dedup();
        let start = |v: usize| holders.partition_point(|&(w, _)| (w as usize) < v) as u32;
        self.holder_starts = (0..=vertices).map(start).collect();
        self.holders = holders.into_iter().map(|(_, k)| k).collect();
        self.kin = Kin::new(&self.bundles, |v| self.holders(v as usize));
    }

    /// The bundles with a vertex.
    fn holders(&self, v: usize) -> &[u32] {
        let [start, end] = [v, v + 1].map(|v| self.holder_starts[v] as usize);
        &self.holders[start..end]
    }

    /// Candidates of some groups of bundles with others that are not their kin.
    fn meet_leaves(&self, leaves: Range<usize>, met: &mut impl FnMut(Met)) {
        let mut waiting = Waiting::new();
        self.tree
            .pairs_from(leaves, |a, b| self.add([a, b], &mut waiting, met));
        self.flush(&mut waiting, true, met);
    }

    /// Adds two bundles to those to be asked, unless they are kin.
    #[inline(always)]
    fn add(&self, [a, b]: [u32; 2], waiting: &mut Waiting, met: &mut impl FnMut(Met)) {
        // In one order, whoever found whom.
        let pair = [a.min(b), a.max(b)];
        if self.kin.has(pair.map(|k| k as usize)) {
            return;
        }
        if pair.iter().all(|&k| self.spots[k as usize].are_known()) {
            waiting.bundles.push(pair);
        } else {
            waiting
                .primitives
                .add(pair.map(|k| &self.bundles[k as usize]));
        }
        if waiting.bundles.len() >= MANY {
            self.flush(waiting, false, met);
        }
    }

    fn moving(&self) -> Moving<'_> {
        Moving {
            points: &self.points,
            spots: &self.spots,
            normals: &self.normals,
        }
    }

    /// Asks pairs of bundles, and then those of primitives if they are many or `is_last`.
    #[inline(never)]
    fn flush(&self, waiting: &mut Waiting, is_last: bool, met: &mut impl FnMut(Met)) {
        let Waiting {
            bundles,
            primitives,
        } = waiting;
        planes::not_apart(self.moving(), bundles, |pair| {
            primitives.add(pair.map(|k| &self.bundles[k as usize]));
        });
        bundles.clear();
        primitives.flush(&self.points, is_last, met);
    }
}

/// Bundles on their way, for planes between them.
#[derive(Clone, Copy)]
struct Moving<'a> {
    points: &'a [Point],
    /// Of each bundle: its vertices, and across its faces at the start.
    spots: &'a [Spots],
    normals: &'a [[f32; 3]],
}

/// What waits to be asked for planes between it.
struct Waiting {
    bundles: Vec<[u32; 2]>,
    primitives: Primitives,
}

impl Waiting {
    fn new() -> Self {
        Self {
            bundles: Vec::with_capacity(MANY),
            primitives: Primitives::with_room(),
        }
    }
}
