//! Broad-phase CCD: swept boxes of vertices, edges and faces on trees.
//!
//! A vertex sweeps the box around its start and end, grown by half the separation; edges and
//! faces sweep the boxes around their corners'. Boxes are rounded outwards, so two primitives
//! whose boxes are apart stay farther apart than the separation. The trees take n log n steps
//! for n primitives as long as each meets few others. Primitives that share a vertex are left
//! out.
//!
//! Candidates come in ascending order, whatever the trees looked like, so a run that refits its
//! trees gives the same bits as one that starts from a snapshot. All buffers are kept.
//!
//! ```
//! use drystone::D3;
//! use drystone::ccd::{broad_phase::{BroadPhase, Mesh}, vertex_face};
//! use drystone::glam::DVec3;
//!
//! // A vertex falls on a face.
//! let start = [DVec3::ZERO, DVec3::X, DVec3::Z, DVec3::new(0.2, 1.0, 0.2)];
//! let mut end = start;
//! end[3].y = -1.0;
//! let mesh = Mesh { edges: &[[0, 1], [1, 2], [2, 0]], faces: &[[0, 1, 2]] };
//! let mut broad = BroadPhase::<D3>::default();
//! broad.sweep(&mesh, &start, &end, 0.0).unwrap();
//! assert_eq!(broad.vertex_face(), [[3, 0]]);
//! assert_eq!(broad.edge_edge(), <[[u32; 2]; 0]>::default());
//! ```

mod candidates;

use thiserror::Error;

use super::clusters::Clusters;
use crate::geometry::bvh::curve_order::BoxTree;
use crate::geometry::shape::Bounds;
use crate::math::algebra::{Algebra, Components, D2, D3, Linear};
use std::ops::Range;

/// Edges and faces by the numbers of their vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mesh<'a> {
    /// The ends of every edge.
    pub edges: &'a [[u32; 2]],
    /// The corners of every face; empty in the plane.
    pub faces: &'a [[u32; 3]],
}

/// Why a mesh cannot be swept.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BroadError {
    /// Start and end are not of the same vertices.
    #[error("{start} vertices at the start but {end} at the end: give both for every vertex")]
    Lengths {
        /// Vertices at the start.
        start: usize,
        /// Vertices at the end.
        end: usize,
    },
    /// A position that is no number or infinite.
    #[error("vertex {vertex} is not at a finite place at the start or the end")]
    NotFinite {
        /// Its number.
        vertex: usize,
    },
    /// An edge or face of a vertex that is not there.
    #[error("{kind} {index} names vertex {vertex}, but there are only {count}")]
    NoVertex {
        /// "edge" or "face".
        kind: &'static str,
        /// Its number.
        index: usize,
        /// The missing vertex.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A separation that is no distance.
    #[error("the separation is {separation} m: give a finite number that is not negative")]
    Separation {
        /// What was given, m.
        separation: f64,
    },
}

/// The broad phase with its trees and lists, to be kept from step to step.
#[derive(Clone, Debug)]
pub struct BroadPhase<S: Algebra> {
    boxes: Vec<Bounds<S>>,
    /// The box around all.
    all: Bounds<S>,
    vertices: BoxTree<S>,
    edges: BoxTree<S>,
    faces: BoxTree<S>,
    vertex_edge: Vec<[u32; 2]>,
    vertex_face: Vec<[u32; 2]>,
    edge_edge: Vec<[u32; 2]>,
    /// Sweeps since the trees were sorted.
    age: u32,
    /// What meshes in space are searched by on several threads.
    clusters: Clusters,
}

impl<S: Algebra> Default for BroadPhase<S> {
    fn default() -> Self {
        Self {
            boxes: Vec::new(),
            all: nowhere(),
            vertices: BoxTree::default(),
            edges: BoxTree::default(),
            faces: BoxTree::default(),
            vertex_edge: Vec::new(),
            vertex_face: Vec::new(),
            edge_edge: Vec::new(),
            age: 0,
            clusters: Clusters::default(),
        }
    }
}

/// A motion of vertices, and how it is to be searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept<'a> {
    /// Where vertices start and end, m.
    pub(crate) start: &'a [[f64; 3]],
    pub(crate) end: &'a [[f64; 3]],
    /// How far each reaches around itself at the start and at the end, m: two are near each other
    /// if both together reach.
    pub(crate) reach: [&'a [f64]; 2],
    pub(crate) threads: usize,
}

/// Two primitives whose swept boxes overlap, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Met {
    /// A vertex and an edge, in the plane.
    VertexEdge(u32, u32),
    /// A vertex and a face.
    VertexFace(u32, u32),
    /// Two edges, the smaller number first.
    Edges(u32, u32),
}

/// Whether trees are sorted anew or only fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fit {
    Anew,
    Again,
}

impl<S: Algebra> BroadPhase<S> {
    /// Swept boxes of the vertices, each grown by what `grow` says of it (m), so that two are
    /// apart only if farther than both together.
    fn sweep_vertices(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[S::Vector],
        end: &[S::Vector],
        grow: impl Fn(usize) -> f64,
    ) -> Result<(), BroadError> {
        check(mesh, start.len(), end.len())?;
        self.boxes.clear();
        self.all = nowhere();
        for (vertex, (&from, &to)) in start.iter().zip(end).enumerate() {
            if !(from.is_finite() && to.is_finite()) {
                return Err(BroadError::NotFinite { vertex });
            }
            let grow = grow(vertex);
            check_separation(grow)?;
            let mut bounds = Bounds {
                lower: from.lower(to),
                upper: from.upper(to),
            };
            if grow > 0.0 {
                bounds = grown_outwards(&bounds, grow);
            }
            self.all = self.all.union(bounds);
            self.boxes.push(bounds);
        }
        Ok(())
    }

    /// Candidates of some groups of vertices.
    fn meet_vertices(&self, mesh: &Mesh<'_>, leaves: Range<usize>, mut met: impl FnMut(Met)) {
        if S::DIM == 2 {
            let tree = &self.edges;
            self.vertices.pairs_with_from(leaves, tree, |vertex, edge| {
                if !mesh.edges[edge as usize].contains(&vertex) {
                    met(Met::VertexEdge(vertex, edge));
                }
            });
        } else {
            let tree = &self.faces;
            self.vertices.pairs_with_from(leaves, tree, |vertex, face| {
                if !mesh.faces[face as usize].contains(&vertex) {
                    met(Met::VertexFace(vertex, face));
                }
            });
        }
    }

    /// Candidates of some groups of edges in space.
    fn meet_edges(&self, mesh: &Mesh<'_>, leaves: Range<usize>, mut met: impl FnMut(Met)) {
        self.edges.pairs_from(leaves, |first, second| {
            let [a, b] = mesh.edges[first as usize];
            let other = &mesh.edges[second as usize];
            if !(other.contains(&a) || other.contains(&b)) {
                met(Met::Edges(first.min(second), first.max(second)));
            }
        });
    }

    fn fit(&mut self, mesh: &Mesh<'_>, fit: Fit) {
        let (boxes, all) = (&self.boxes, &self.all);
        let vertex = |k: usize| boxes[k];
        let edge = |k: usize| {
            let [a, b] = mesh.edges[k].map(|v| boxes[v as usize]);
            a.union(b)
        };
        let face = |k: usize| {
            let [a, b, c] = mesh.faces[k].map(|v| boxes[v as usize]);
            a.union(b).union(c)
        };
        if fit == Fit::Anew {
            self.vertices.rebuild(all, boxes.len(), vertex);
            self.edges.rebuild(all, mesh.edges.len(), edge);
            self.faces.rebuild(all, mesh.faces.len(), face);
        } else {
            self.vertices.refit(all, boxes.len(), vertex);
            self.edges.refit(all, mesh.edges.len(), edge);
            self.faces.refit(all, mesh.faces.len(), face);
        }
    }
}

impl BroadPhase<D3> {
    /// Finds the candidates of a motion, sorting the trees anew.
    ///
    /// # Errors
    /// If the mesh does not fit the vertices or a number makes no sense.
    pub fn sweep(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D3 as crate::math::algebra::Algebra>::Vector],
        end: &[<D3 as crate::math::algebra::Algebra>::Vector],
        separation: f64,
    ) -> Result<(), BroadError> {
        check_separation(separation)?;
        self.sweep_vertices(mesh, start, end, |_| 0.5 * separation)?;
        self.fit(mesh, Fit::Anew);
        self.find(mesh);
        Ok(())
    }

    /// Finds the same candidates with the trees of the sweep before, which is faster as long as
    /// vertices have not moved far since the trees were sorted.
    ///
    /// # Errors
    /// As for [`sweep`](Self::sweep).
    pub fn sweep_again(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D3 as crate::math::algebra::Algebra>::Vector],
        end: &[<D3 as crate::math::algebra::Algebra>::Vector],
        separation: f64,
    ) -> Result<(), BroadError> {
        check_separation(separation)?;
        self.sweep_vertices(mesh, start, end, |_| 0.5 * separation)?;
        self.fit(mesh, Fit::Again);
        self.find(mesh);
        Ok(())
    }

    /// Finds the candidates of vertices with a radius each (m), as if of primitives that thick.
    /// `Fit::Again` keeps the order of the trees of the sweep before.
    pub(crate) fn sweep_round(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D3 as crate::math::algebra::Algebra>::Vector],
        end: &[<D3 as crate::math::algebra::Algebra>::Vector],
        (radii, fit): (&[f64], Fit),
    ) -> Result<(), BroadError> {
        let radius = |k: usize| radii.get(k).copied().unwrap_or(0.0);
        self.sweep_vertices(mesh, start, end, radius)?;
        self.fit(mesh, fit);
        self.find(mesh);
        Ok(())
    }

    fn find(&mut self, mesh: &Mesh<'_>) {
        let [mut of_faces, mut of_edges] =
            [&mut self.vertex_face, &mut self.edge_edge].map(std::mem::take);
        of_faces.clear();
        of_edges.clear();
        let mut note = |met: Met| match met {
            Met::VertexFace(vertex, face) => of_faces.push([vertex, face]),
            Met::Edges(first, second) => of_edges.push([first, second]),
            Met::VertexEdge(..) => {}
        };
        self.meet_vertices(mesh, 0..self.vertices.leaves(), &mut note);
        self.meet_edges(mesh, 0..self.edges.leaves(), note);
        sort(&mut of_faces);
        sort(&mut of_edges);
        (self.vertex_face, self.edge_edge) = (of_faces, of_edges);
    }

    /// Vertices and faces that may meet.
    #[must_use]
    pub fn vertex_face(&self) -> &[[u32; 2]] {
        &self.vertex_face
    }

    /// Edges that may meet, the smaller number first.
    #[must_use]
    pub fn edge_edge(&self) -> &[[u32; 2]] {
        &self.edge_edge
    }
}

impl BroadPhase<D2> {
    /// Finds the candidates of a motion in the plane, sorting the trees anew. Faces are ignored.
    ///
    /// # Errors
    /// If the mesh does not fit the vertices or a number makes no sense.
    pub fn sweep(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D2 as crate::math::algebra::Algebra>::Vector],
        end: &[<D2 as crate::math::algebra::Algebra>::Vector],
        separation: f64,
    ) -> Result<(), BroadError> {
        check_separation(separation)?;
        self.sweep_vertices(mesh, start, end, |_| 0.5 * separation)?;
        self.fit(mesh, Fit::Anew);
        self.find(mesh);
        Ok(())
    }

    /// Finds the same candidates with the trees of the sweep before.
    ///
    /// # Errors
    /// As for [`sweep`](Self::sweep).
    pub fn sweep_again(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D2 as crate::math::algebra::Algebra>::Vector],
        end: &[<D2 as crate::math::algebra::Algebra>::Vector],
        separation: f64,
    ) -> Result<(), BroadError> {
        check_separation(separation)?;
        self.sweep_vertices(mesh, start, end, |_| 0.5 * separation)?;
        self.fit(mesh, Fit::Again);
        self.find(mesh);
        Ok(())
    }

    /// Finds the candidates of vertices with a radius each (m), as if of primitives that thick.
    /// `Fit::Again` keeps the order of the trees of the sweep before.
    pub(crate) fn sweep_round(
        &mut self,
        mesh: &Mesh<'_>,
        start: &[<D2 as crate::math::algebra::Algebra>::Vector],
        end: &[<D2 as crate::math::algebra::Algebra>::Vector],
        (radii, fit): (&[f64], Fit),
    ) -> Result<(), BroadError> {
        let radius = |k: usize| radii.get(k).copied().unwrap_or(0.0);
        self.sweep_vertices(mesh, start, end, radius)?;
        self.fit(mesh, fit);
        self.find(mesh);
        Ok(())
    }

    fn find(&mut self, mesh: &Mesh<'_>) {
        let mut found = std::mem::take(&mut self.vertex_edge);
        found.clear();
        self.meet_vertices(mesh, 0..self.vertices.leaves(), |met| {
            if let Met::VertexEdge(vertex, edge) = met {
                found.push([vertex, edge]);
            }
        });
        sort(&mut found);
        self.vertex_edge = found;
    }

    /// Vertices and edges that may meet.
    #[must_use]
    pub fn vertex_edge(&self) -> &[[u32; 2]] {
        &self.vertex_edge
    }
}

/// The box that no other overlaps.
fn nowhere<S: Algebra>() -> Bounds<S> {
    Bounds {
        lower: S::Vector::splat(f64::INFINITY),
        upper: S::Vector::splat(f64::NEG_INFINITY),
    }
}

fn sort(pairs: &mut [[u32; 2]]) {
    pairs.sort_unstable_by_key(|&[first, second]| u64::from(first) << 32 | u64::from(second));
}

/// The box with every face moved out by at least `grow` metres, in spite of rounding.
fn grown_outwards<S: Algebra>(bounds: &Bounds<S>, grow: f64) -> Bounds<S> {
    let mut grown = bounds.grown(grow);
    for axis in 0..S::DIM {
        let lower = grown.lower.component(axis).next_down();
        let upper = grown.upper.component(axis).next_up();
        grown.lower = grown.lower.with_component(axis, lower);
        grown.upper = grown.upper.with_component(axis, upper);
    }
    grown
}

fn check_separation(separation: f64) -> Result<(), BroadError> {
    if separation.is_finite() && separation >= 0.0 {
        Ok(())
    } else {
        Err(BroadError::Separation { separation })
    }
}

fn check(mesh: &Mesh<'_>, start: usize, end: usize) -> Result<(), BroadError> {
    if start != end {
        return Err(BroadError::Lengths { start, end });
    }
    let missing = |kind, index, corners: &[u32]| {
        let vertex = corners.iter().copied().find(|&v| v as usize >= start)?;
        Some(BroadError::NoVertex {
            kind,
            index,
            vertex,
            count: start,
        })
    };
    let edges = mesh.edges.iter().enumerate();
    let faces = mesh.faces.iter().enumerate();
    let of_edges = edges.filter_map(|(k, corners)| missing("edge", k, corners));
    let of_faces = faces.filter_map(|(k, corners)| missing("face", k, corners));
    of_edges.chain(of_faces).next().map_or(Ok(()), Err)
}
