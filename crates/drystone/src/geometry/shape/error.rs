//! What can be wrong with a shape.

use thiserror::Error;

/// Why a shape can't be made. Each says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size that is not a positive, finite number.
    #[error("{what} must be a finite number greater than 0 (m), not {value}")]
    Size {
        /// Which size.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A coordinate that is not a finite number.
    #[error("point {index} has a coordinate that is not a finite number")]
    Point {
        /// Index of the point.
        index: usize,
    },
    /// A convex hull without volume.
    #[error(
        "a convex hull needs {needed} points that do not lie in one {flat}; \
         these {given} points span no volume"
    )]
    FlatHull {
        /// How many points a simplex has.
        needed: usize,
        /// What the points lie in.
        flat: &'static str,
        /// How many were given.
        given: usize,
    },
    /// A hull the geometry library could not build.
    #[error(
        "no convex hull with a volume could be built of these {given} points; \
         remove near-duplicates, and use metres, not fractions of a millimetre"
    )]
    Hull {
        /// How many were given.
        given: usize,
    },
    /// A mesh or polyline without elements.
    #[error("a {what} needs at least one element")]
    Empty {
        /// Mesh or polyline.
        what: &'static str,
    },
    /// An index past the end.
    #[error(
        "{what} {element} names vertex {index}, but there are only {vertices} (counted from 0)"
    )]
    Index {
        /// Triangle or segment.
        what: &'static str,
        /// Which one.
        element: usize,
        /// The index it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// An element without area or length.
    #[error("{what} {element} is degenerate: its corners lie on one {flat}")]
    Degenerate {
        /// Triangle or segment.
        what: &'static str,
        /// Which one.
        element: usize,
        /// Line or point.
        flat: &'static str,
    },
    /// Heights that make no grid.
    #[error(
        "{heights} heights in rows of {columns} make no height field; it needs whole rows, \
         at least two heights in each, and in 3D at least two rows"
    )]
    Grid {
        /// Heights given.
        heights: usize,
        /// Heights in a row.
        columns: usize,
    },
    /// A direction that is not one.
    #[error("the normal must be a finite vector longer than 1e-6, not {0}")]
    Normal(String),
    /// A compound of parts that are not solid.
    #[error("part {index} of a compound is not a solid; only convex parts can be combined")]
    Part {
        /// Which part.
        index: usize,
    },
    /// A mesh that is no closed surface.
    #[error(
        "the mesh is not closed: the edge between vertices {} and {} belongs to {triangles} \
         triangle(s) and not to two that run along it in opposite directions", edge[0], edge[1]
    )]
    Open {
        /// The edge's vertices.
        edge: [u32; 2],
        /// Triangles that have it.
        triangles: usize,
    },
    /// A closed mesh around no volume.
    #[error(
        "the mesh encloses a volume of {volume} m³; list the corners of its triangles \
         counter-clockwise, seen from outside"
    )]
    InsideOut {
        /// What it encloses.
        volume: f64,
    },
    /// A radius around something that is not solid.
    #[error("only solids can be rounded; a surface or a half-space has no inside")]
    NotSolid,
    /// A mesh the geometry library refused.
    #[error("the mesh can't be used: {0}")]
    Mesh(String),
}

/// A finite, positive size, or the error that says so.
pub(crate) fn size(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(ShapeError::Size { what, value })
    }
}
