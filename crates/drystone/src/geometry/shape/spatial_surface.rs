//! Surfaces in space: meshes and height fields.

use std::sync::Arc;

use drystone_frame::Form;
use glamx::{DPose3, DVec2, DVec3};
use parry::shape::{SharedShape, TriMesh, Triangle};
use parry3d_f64 as parry;

use super::Skeleton;
use super::decompose::Role;
use super::error::{ShapeError, size};
use super::internal_edges::{Front, InternalEdges};
use super::polyhedron::Polyhedron;
use super::spatial::{Body, Convex, ConvexForm, Shape3, finite};
use crate::math::algebra::D3;

/// Triangles, not necessarily closed.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) parry: TriMesh,
    pub(super) seams: InternalEdges,
}

impl Shape3 {
    /// Triangles, solid from either side. For fixed bodies.
    pub fn mesh(points: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, ShapeError> {
        Self::surface(points, triangles, Front::Both)
    }

    /// Triangles that hold only what is in front of them, where their corners are seen
    /// counter-clockwise; what comes from behind passes. For fixed bodies.
    pub fn one_sided_mesh(
        points: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, ShapeError> {
        Self::surface(points, triangles, Front::One)
    }

    /// The surface of solid ground: heights (along y, m) over a grid around the origin, row by
    /// row. A row runs along x; `spacing` is the distance of columns (x) and of rows (y of the
    /// vector, along z) in m. For fixed bodies.
    ///
    /// Whatever touches it is pushed up, also where its middle is below the surface.
    pub fn height_field(
        spacing: DVec2,
        columns: usize,
        heights: &[f64],
    ) -> Result<Self, ShapeError> {
        size("spacing along x", spacing.x)?;
        size("spacing along z", spacing.y)?;
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            return Err(ShapeError::Grid {
                heights: heights.len(),
                columns,
            });
        }
        let middle = 0.5 * DVec3::new(columns as f64 - 1.0, 0.0, rows as f64 - 1.0);
        let place = |(k, &height): (usize, &f64)| {
            let at = DVec3::new((k % columns) as f64, 0.0, (k / columns) as f64) - middle;
            DVec3::new(at.x * spacing.x, height, at.z * spacing.y)
        };
        let points = heights.iter().enumerate().map(place).collect();
        let cells = (0..rows - 1).flat_map(|row| (0..columns - 1).map(move |x| row * columns + x));
        let triangles = cells.flat_map(|near| {
            let [p, right] = [near as u32, near as u32 + 1];
            let [far, opposite] = [p + columns as u32, right + columns as u32];
            [[p, far, right], [right, far, opposite]]
        });
        Self::surface(points, triangles.collect(), Front::Ground)
    }

    fn surface(
        points: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        front: Front,
    ) -> Result<Self, ShapeError> {
        check_triangles(&points, &triangles)?;
        let seams = InternalEdges::new::<D3>(&points, triangles.iter().copied(), front);
        let parry = TriMesh::new(points, triangles).map_err(|e| ShapeError::Mesh(e.to_string()))?;
        Ok(Self {
            body: Arc::new(Body::Surface(Box::new(Surface { parry, seams }))),
        })
    }
}

/// Points must be numbers, and triangles have corners that exist and an area.
pub(super) fn check_triangles(points: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    finite(points)?;
    if triangles.is_empty() {
        return Err(ShapeError::Empty { what: "mesh" });
    }
    for (element, corners) in triangles.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&k| k as usize >= points.len()) {
            return Err(ShapeError::Index {
                what: "triangle",
                element,
                index,
                vertices: points.len(),
            });
        }
        let [p, q, r] = corners.map(|k| points[k as usize]);
        let longest = (q - p).length().max((r - q).length()).max((p - r).length());
        let area = 0.5 * (q - p).cross(r - p).length();
        // An area that overflowed to NaN is degenerate too.
        let has_area = area > 1e-12 * longest * longest;
        if !has_area {
            return Err(ShapeError::Degenerate {
                what: "triangle",
                element,
                flat: "line",
            });
        }
    }
    Ok(())
}

impl Surface {
    /// The convex piece `index`.
    pub(super) fn piece(&self, index: u32) -> Option<Convex> {
        let triangle = self.parry.triangle(index);
        Some(Convex {
            pose: DPose3::IDENTITY,
            form: ConvexForm::Polytope(
                Box::new(Polyhedron::triangle([triangle.a, triangle.b, triangle.c])?),
                // Never drawn, and no box: boxes have contact routines of their own.
                Form::Mesh {
                    points: Vec::new(),
                    triangles: Vec::new(),
                },
            ),
            rounding: 0.0,
            role: Role::Itself,
            core: SharedShape::new(triangle),
            parry: SharedShape::new(triangle),
        })
    }

    /// The convex piece `index`, in the memory of another one.
    pub(super) fn piece_into(&self, index: u32, slot: &mut Option<Convex>) -> bool {
        let Some(Convex {
            form: ConvexForm::Polytope(hull, _),
            core,
            parry,
            ..
        }) = slot
        else {
            *slot = self.piece(index);
            return slot.is_some();
        };
        let triangle = self.parry.triangle(index);
        for shape in [core, parry] {
            if let Some(old) = shape.make_mut().as_shape_mut::<Triangle>() {
                *old = triangle;
            }
        }
        hull.set_triangle([triangle.a, triangle.b, triangle.c])
    }

    pub(super) fn form(&self) -> Form {
        Form::Mesh {
            points: self.parry.vertices().iter().map(DVec3::to_array).collect(),
            triangles: self.parry.indices().to_vec(),
        }
    }

    pub(super) fn skeleton(&self) -> Skeleton {
        Skeleton::of_triangles(self.parry.vertices(), self.parry.indices())
    }

    pub(super) fn points(&self) -> &[DVec3] {
        self.parry.vertices()
    }

    /// Whether a point on a piece is on its joints, and all of those are inside of its facet.
    pub(super) fn is_inside_facet(&self, index: u32, point: DVec3) -> bool {
        let at = self.vertices(index).map(|k| self.points()[k as usize]);
        let normal = (at[1] - at[0]).cross(at[2] - at[0]);
        let mut is_inside = false;
        for edge in 0..3 {
            let (from, to) = (at[edge], at[(edge + 1) % 3]);
            let outward = (to - from).cross(normal);
            let off = outward.dot(point - from).abs();
            if off <= 1e-6 * outward.length() * (to - from).length() {
                if !self.seams.is_flat(index, edge) {
                    return false;
                }
                is_inside = true;
            }
        }
        is_inside
    }

    /// Vertices of the piece `index`.
    pub(super) fn vertices(&self, index: u32) -> [u32; 3] {
        let triangles = self.parry.indices();
        triangles.get(index as usize).copied().unwrap_or_default()
    }
}
