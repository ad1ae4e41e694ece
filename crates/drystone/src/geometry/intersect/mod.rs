//! Exact intersection tests of meshes, by predicates without rounding.
//!
//! [`edge_face`] finds every edge that meets a face, [`edges_in_plane`] and [`edges_in_space`]
//! every two edges that meet. All decisions are signs of determinants, computed exactly
//! (Shewchuk's adaptive predicates, crate `robust`), so a pair is reported if and only if the
//! closed segments and triangles given by these very coordinates share a point. That includes
//! mere **touch**: a vertex on a face, collinear or coplanar overlap, an edge of no length on an
//! edge.
//!
//! Primitives that **share a vertex** number are neighbours and are not compared. They always
//! share that vertex; more than it they can share only where they are exactly coplanar (an edge
//! folded flat into a neighbouring face) or, for two edges, collinear, and that overlap is not
//! reported.
//!
//! Candidates come from a tree of boxes in about n log n ([`crate::geometry::bvh::median_split`], not the one
//! of [`crate::geometry::ccd`]). Predicates are exact as long as no product of three coordinates over- or
//! underflows; coordinates are scaled by a power of two first, so that holds if the largest
//! coordinate is less than 2²⁰⁰ times the smallest difference of two.

mod predicates;

use glamx::{DVec2, DVec3};
use thiserror::Error;

use crate::geometry::bvh::median_split::Tree;
use crate::geometry::shape::Bounds;
use crate::math::algebra::{Algebra, Components, D2, D3, Linear};

pub use predicates::{segment_meets_triangle, segments_meet_in_plane, segments_meet_in_space};

/// Why a state cannot be checked.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum IntersectError {
    /// A position that is no number or infinite.
    #[error("vertex {vertex} is not at a finite place")]
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
}

/// All pairs (edge, face) that meet without sharing a vertex, in ascending order.
///
/// ```
/// use drystone::glam::DVec3;
/// use drystone::intersect::edge_face;
///
/// let face = [DVec3::ZERO, DVec3::X, DVec3::Z];
/// let through = [DVec3::new(0.2, -1.0, 0.2), DVec3::new(0.2, 1.0, 0.2)];
/// let vertices = [face[0], face[1], face[2], through[0], through[1]];
/// let found = edge_face(&vertices, &[[0, 1], [3, 4]], &[[0, 1, 2]]).unwrap();
/// assert_eq!(found, [[1, 0]]);
/// ```
///
/// # Errors
/// If a vertex is not finite or not there.
pub fn edge_face(
    vertices: &[DVec3],
    edges: &[[u32; 2]],
    faces: &[[u32; 3]],
) -> Result<Vec<[u32; 2]>, IntersectError> {
    let vertices = scaled::<D3>(vertices)?;
    check("edge", edges, vertices.len())?;
    check("face", faces, vertices.len())?;
    let boxes = boxes_of::<D3, 3>(&vertices, faces);
    let tree = Tree::new(&boxes);
    let mut found = Vec::new();
    for (e, edge) in edges.iter().enumerate() {
        let [p, q] = edge.map(|v| vertices[v as usize]);
        let first = found.len();
        tree.overlapping(&boxes, &bounds_of::<D3>(&[p, q]), |f| {
            let corners = &faces[f];
            if !edge.iter().any(|v| corners.contains(v))
                && segment_meets_triangle([p, q], corners.map(|v| vertices[v as usize]))
            {
                found.push([e as u32, f as u32]);
            }
        });
        found[first..].sort_unstable();
    }
    Ok(found)
}

/// All pairs of edges in the plane that meet without sharing a vertex, the smaller number first,
/// in ascending order.
///
/// # Errors
/// If a vertex is not finite or not there.
pub fn edges_in_plane(
    vertices: &[DVec2],
    edges: &[[u32; 2]],
) -> Result<Vec<[u32; 2]>, IntersectError> {
    edge_pairs::<D2>(vertices, edges, segments_meet_in_plane)
}

/// All pairs of edges in space that meet without sharing a vertex, the smaller number first, in
/// ascending order. Edges of faces need no such check, because an edge that meets another meets
/// the faces beside it; edges of threads do.
///
/// # Errors
/// If a vertex is not finite or not there.
pub fn edges_in_space(
    vertices: &[DVec3],
    edges: &[[u32; 2]],
) -> Result<Vec<[u32; 2]>, IntersectError> {
    edge_pairs::<D3>(vertices, edges, segments_meet_in_space)
}

fn edge_pairs<S: Algebra>(
    vertices: &[S::Vector],
    edges: &[[u32; 2]],
    meet: impl Fn([S::Vector; 2], [S::Vector; 2]) -> bool,
) -> Result<Vec<[u32; 2]>, IntersectError> {
    let vertices = scaled::<S>(vertices)?;
    check("edge", edges, vertices.len())?;
    let boxes = boxes_of::<S, 2>(&vertices, edges);
    let tree = Tree::new(&boxes);
    let ends = |k: usize| edges[k].map(|v| vertices[v as usize]);
    let mut found = Vec::new();
    for (i, edge) in edges.iter().enumerate() {
        let first = found.len();
        tree.overlapping(&boxes, &boxes[i], |j| {
            if i < j && !edge.iter().any(|v| edges[j].contains(v)) && meet(ends(i), ends(j)) {
                found.push([i as u32, j as u32]);
            }
        });
        found[first..].sort_unstable();
    }
    Ok(found)
}

/// The vertices times a power of two that brings the largest coordinate near 1.
fn scaled<S: Algebra>(vertices: &[S::Vector]) -> Result<Vec<S::Vector>, IntersectError> {
    if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
        return Err(IntersectError::NotFinite { vertex });
    }
    let coordinates = vertices.iter().flat_map(|v| v.to_array3());
    let largest = coordinates.fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return Ok(vertices.to_vec());
    }
    let factor = libm::ldexp(1.0, -libm::ilogb(largest).clamp(-1000, 1000));
    Ok(vertices.iter().map(|&v| v * factor).collect())
}

fn check<const K: usize>(
    kind: &'static str,
    primitives: &[[u32; K]],
    count: usize,
) -> Result<(), IntersectError> {
    for (index, corners) in primitives.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(IntersectError::NoVertex {
                kind,
                index,
                vertex,
                count,
            });
        }
    }
    Ok(())
}

fn boxes_of<S: Algebra, const K: usize>(
    vertices: &[S::Vector],
    primitives: &[[u32; K]],
) -> Vec<Bounds<S>> {
    let corners = |list: &[u32; K]| list.map(|v| vertices[v as usize]);
    primitives
        .iter()
        .map(|list| bounds_of(&corners(list)))
        .collect()
}

fn bounds_of<S: Algebra>(points: &[S::Vector]) -> Bounds<S> {
    let all = Bounds {
        lower: S::Vector::splat(f64::INFINITY),
        upper: S::Vector::splat(f64::NEG_INFINITY),
    };
    points.iter().fold(all, |all, &p| Bounds {
        lower: all.lower.lower(p),
        upper: all.upper.upper(p),
    })
}
