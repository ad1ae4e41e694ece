//! Broad-phase CCD of large meshes by clusters of vertices, edges and faces.
//!
//! A **cluster** is a vertex with the edges and faces whose lowest vertex it is: on a sheet three
//! edges and two faces, so that one tree over clusters does the work of three over vertices, edges
//! and faces. Primitives of one cluster share its vertex and do not meet.
//!
//! Vertices go straight from start to end with some reach around them (m), which may differ
//! between start and end and is linear between. What is left out:
//!
//! * clusters whose boxes are apart along the same axis on the same side both at the start and at
//!   the end: sides of boxes move linearly too. What moves along together is as small then as what
//!   stands;
//! * clusters, and primitives of clusters, with a plane between them at the start and at the end. Any
//!   direction d with
//!   $\min_j d\cdot b_j - \max_i d\cdot a_i > |d|\,(\max_i \rho_i + \max_j \rho_j)$ at both ends
//!   proves it, because the left side is concave and the right side convex in time. Tried is the
//!   direction between the middles of the clusters' boxes, that across the faces of each, and roughly
//!   that between the nearest points of primitives, at the start.
//!
//! Clusters that share a vertex are most of those whose boxes meet, and no plane is between them:
//! they are known from the mesh ([`adjacent`]), and pairs of their primitives are asked. A point, an edge
//! without length, meets what has faces as a vertex alone.
//!
//! Little of that is done anew at every search: which clusters are near each other ([`neighbours`]) and
//! that they are apart ([`kept_pairs`]) is known for as long as it can be told to hold. What a search finds
//! beyond what comes within reach depends on that, and so on the searches before; a program that asks must
//! not make anything of it.
//!
//! # Rounding
//!
//! All of it is in single precision, with u = 2⁻²⁴, from an origin amid the vertices. With R a bound
//! on coordinates and reach there, a coordinate is off by u R, and a component along d by at most
//! $(4\sqrt3 + \sqrt3)\,u R\,|d|$; lengths and the reach add less than 4 u R. Every reach is grown by
//! 16 u R, two sides together by 32 u R, which is more than twice all of that.

mod adjacent;
mod cluster;
mod kept_pairs;
mod neighbours;
mod primitive_pairs;
mod separating_planes;
mod separation_proofs;
mod swept_vertices;
#[cfg(test)]
mod tests;

use super::broad_phase::{Mesh, Met, Swept};
use crate::geometry::bvh::curve_order::BoxTree;
use crate::math::algebra::D3;
use crate::math::simd::Column;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use adjacent::Kin;
use cluster::{Cluster, Spots};
use glamx::DVec3;
use kept_pairs::KeptPairs;
use neighbours::{Cover, State};
use separation_proofs::Desk;
use swept_vertices::Point;

/// Clusters that a thread takes at a time, of those that are asked about.
const PIECE: usize = 32;
/// Groups of eight known pairs that a thread takes at a time.
const KNOWN_PIECE: usize = 256;

/// The clusters of a mesh and their tree, to be kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    clusters: Vec<Cluster>,
    spots: Vec<Spots>,
    /// Across the faces of each cluster at the start, or 0.
    normals: Vec<[f32; 3]>,
    points: Vec<Point>,
    /// Memory for points, which are needed twice while they change.
    old_points: Vec<Point>,
    states: Vec<State>,
    /// Of each cluster: see [`kept_pairs`].
    cores: Vec<Point>,
    kin: Kin,
    /// Pairs of adjacent clusters, and of clusters whose covers overlap.
    related: KeptPairs,
    near: KeptPairs,
    covers: Vec<Cover>,
    /// Clusters that have left their covers since the last search for all pairs.
    strays: Vec<u32>,
    /// Of each cluster: no number, but for a moment its place among those that left their covers.
    left_places: Vec<u32>,
    /// How many pairs of covers overlapped when all were new.
    walked: usize,
    tree: BoxTree<D3, 2>,
    /// Place of each cluster in the tree.
    places: Vec<u32>,
    /// Clusters with each vertex, vertex after vertex, and where each one's start.
    holders: Vec<u32>,
    holder_starts: Vec<u32>,
    /// Searches since the tree was sorted, and since all covers were made.
    age: u32,
    since: u32,
    /// Where single precision counts from, m, a bound on coordinates and reach there, and what it
    /// may err by.
    origin: [f64; 3],
    size: f64,
    slack: f64,
}

impl Clusters {
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
        let Some(asked) = asked else {
            self.fit(mesh, swept);
            return self.gather_all(None, swept.threads, |met, _| keep(met));
        };
        if self.has_room(swept, |v| asked[v]) {
            self.change(swept, asked, &all);
        } else {
            self.fit(mesh, swept);
        }
        let is_due = |met: Met, this: &Self| this.corners_of(met).any(|v| asked[v as usize]);
        let keep = |met: Met, this: &Self| is_due(met, this).then(|| keep(met)).flatten();
        if !self.are_covered(&all, swept.threads) {
            return self.gather_around(&all, swept.threads, |met| keep(met, self));
        }
        let mut is_asked = vec![false; self.clusters.len()];
        all.iter().for_each(|&k| is_asked[k as usize] = true);
        self.gather_all(Some(&is_asked), swept.threads, keep)
    }

    /// What `keep` makes of candidates of some clusters, in ascending order, and others.
    fn gather_around<T: Send>(
        &self,
        all: &[u32],
        threads: usize,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Vec<T> {
        let is_asked = |k: u32| all.binary_search(&k).is_ok();
        let pieces = all.len().div_ceil(PIECE);
        let mut found = thread_pool::gather(threads, pieces, |piece, found| {
            let mut desk = Desk::default();
            let mut note = |met| found.extend(keep(met));
            for &k in all.chunks(PIECE).nth(piece).unwrap_or_default() {
                let small = self.states[k as usize].twice.small();
                self.tree.overlapping(&self.cover_of(k), |other| {
                    let is_kin = || self.are_kin([k, other]);
                    // The tree has covers.
                    let is_near =
                        other != k && self.states[other as usize].twice.small().overlaps(&small);
                    // Of two that are asked about, the smaller number finds the other.
                    if is_near && (other > k || !is_asked(other)) && !is_kin() {
                        self.ask([k, other], &mut desk, &mut note);
                    }
                });
            }
            self.finish(&mut desk, &mut note);
        });
        let kin = all.iter().flat_map(|&k| self.kin.of(k as usize));
        let mut near: Vec<u32> = all.iter().chain(kin).copied().collect();
        near.sort_unstable();
        near.dedup();
        let pieces = near.len().div_ceil(PIECE);
        found.extend(thread_pool::gather(threads, pieces, |piece, found| {
            let mut desk = Desk::default();
            let mut note = |met| found.extend(keep(met));
            for &k in near.chunks(PIECE).nth(piece).unwrap_or_default() {
                for pair in self.kin.pairs_of(k as usize) {
                    self.ask_kin(pair, &mut desk, &mut note);
                }
            }
            self.finish(&mut desk, &mut note);
        }));
        found
    }

    /// What `keep` makes of all candidates, or of those of clusters that are asked about.
    fn gather_all<T: Send>(
        &mut self,
        asked: Option<&[bool]>,
        threads: usize,
        keep: impl Fn(Met, &Self) -> Option<T> + Sync,
    ) -> Vec<T> {
        let [mut near, mut related] = [&mut self.near, &mut self.related].map(std::mem::take);
        let this = &*self;
        let lists = [&mut near, &mut related].map(|known| SharedSlice::new(&mut known.blocks));
        let of_near = lists[0].len().div_ceil(KNOWN_PIECE);
        let pieces = of_near + lists[1].len().div_ceil(KNOWN_PIECE);
        let found = thread_pool::gather(threads, pieces, |k, found| {
            let (list, k) = match k.checked_sub(of_near) {
                None => (0, k),
                Some(k) => (1, k),
            };
            let blocks = &lists[list];
            let range = KNOWN_PIECE * k..blocks.len().min(KNOWN_PIECE * (k + 1));
            let mut note = |met| found.extend(keep(met, this));
            blocks.change_all(range, |blocks| {
                this.review(blocks, asked, list == 1, &mut note);
            });
        });
        (self.near, self.related) = (near, related);
        found
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

    /// Whether these are the clusters of a mesh with so many vertices.
    pub(super) fn are_of(&self, mesh: &Mesh<'_>, vertices: usize) -> bool {
        self.points.len() == vertices && self.edges == mesh.edges && self.faces == mesh.faces
    }

    /// Fits everything to a new motion.
    fn fit(&mut self, mesh: &Mesh<'_>, swept: &Swept<'_>) {
        let is_same = self.are_of(mesh, swept.start.len());
        if !is_same {
            self.bind(mesh, swept.start.len());
        }
        if !is_same || self.is_worn() || !self.has_room(swept, |_| true) {
            self.settle(swept);
        }
        self.place(swept);
        self.age += 1;
        self.since += 1;
        self.cover(swept.threads);
    }

    /// Chooses where single precision counts from.
    fn settle(&mut self, swept: &Swept<'_>) {
        let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &x in swept.start.iter().chain(swept.end) {
            let x = DVec3::from_array(x);
            (lower, upper) = (lower.min(x), upper.max(x));
        }
        let reach = swept.reach[0].iter().chain(swept.reach[1]);
        let reach = reach.fold(0.0, |most: f64, &r| most.max(r));
        let middle = 0.5 * (lower + upper);
        self.origin = middle.to_array();
        // Twice what it is now, for what comes.
        self.size = 2.0 * ((upper - middle).max_element() + reach);
        self.slack = 16.0 * 0.5 * f64::from(f32::EPSILON) * self.size;
        self.forget();
    }

    /// Whether those vertices that `is_meant` are within the bound on coordinates.
    fn has_room(&self, swept: &Swept<'_>, is_meant: impl Fn(usize) -> bool) -> bool {
        let origin = DVec3::from_array(self.origin);
        let is_inside = |v: usize| {
            let off = |x: &[f64; 3]| (DVec3::from_array(*x) - origin).abs().max_element();
            let reach = swept.reach[0][v].max(swept.reach[1][v]);
            off(&swept.start[v]).max(off(&swept.end[v])) + reach <= self.size
        };
        (0..swept.start.len()).all(|v| !is_meant(v) || is_inside(v))
    }

    /// The clusters with any of some vertices, sorted.
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
        (self.clusters, self.spots) = cluster::bind(mesh, vertices);
        let mut holders = Vec::new();
        for (k, cluster) in self.clusters.iter().enumerate() {
            holders.extend(cluster.vertices().map(|v| (v, k as u32)));
        }
        holders.sort_unstable();
        holders.dedup();
        let start = |v: usize| holders.partition_point(|&(w, _)| (w as usize) < v) as u32;
        self.holder_starts = (0..=vertices).map(start).collect();
        self.holders = holders.into_iter().map(|(_, k)| k).collect();
        self.kin = Kin::new(&self.clusters, |v| self.holders(v as usize));
        let all = (0..self.clusters.len()).flat_map(|k| self.kin.pairs_of(k));
        let pairs: Vec<[u32; 2]> = all.collect();
        self.related.clear();
        self.related.extend(&pairs, 1);
    }

    /// The clusters with a vertex.
    fn holders(&self, v: usize) -> &[u32] {
        let [start, end] = [v, v + 1].map(|v| self.holder_starts[v] as usize);
        &self.holders[start..end]
    }

    /// Whether two clusters share a vertex.
    #[inline(always)]
    fn are_kin(&self, [a, b]: [u32; 2]) -> bool {
        self.kin.has([a.min(b) as usize, a.max(b) as usize])
    }

    fn moving(&self) -> Moving<'_> {
        Moving {
            points: &self.points,
            spots: &self.spots,
            normals: &self.normals,
        }
    }
}

/// Clusters on their way, for planes between them.
#[derive(Clone, Copy)]
struct Moving<'a> {
    points: &'a [Point],
    /// Of each cluster: its vertices, and across its faces at the start.
    spots: &'a [Spots],
    normals: &'a [[f32; 3]],
}
