//! Solids that are not convex, as several that are.
//!
//! A closed mesh is filled with cells, the cells are cut by planes until each part nearly fills
//! its convex hull (K. Mamou's *V-HACD*, as in parry), and the mesh's own corners and cuts in each
//! part make a hull. The hulls touch things; mass, centre and inertia are those of the mesh itself,
//! integrated exactly, and the mesh is what is drawn. Hulls of neighbouring parts may overlap a
//! little, which does not matter: they never move against each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use drystone_frame::Form;
use glamx::DVec3;
use parry::transformation::vhacd::{VHACD, VHACDParameters};
use parry3d_f64 as parry;

use super::error::{ShapeError, size};
use super::rounded_polyhedron;
use super::rounded_polyhedron::Moments;
use super::spatial::{Body, Convex, Shape3};
use super::spatial_surface::check_triangles;

/// How a mesh is taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// Cells along the longest side: 8 to 400.
    pub resolution: u32,
    /// Volume that a part may lack of its hull, as a share of the whole: 0 to 1.
    pub concavity: f64,
    /// Parts at most: 1 to 1,000.
    pub most: u32,
}

impl Default for Decomposition {
    fn default() -> Self {
        Self {
            resolution: 64,
            concavity: 0.01,
            most: 64,
        }
    }
}

/// The solid that the parts of a decomposition stand for.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) moments: Moments,
    pub(super) form: Form,
}

/// What a part of a solid has mass and looks for.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// Itself.
    Itself,
    /// All parts of its decomposition.
    All(Arc<Whole>),
    /// Nothing: another part does it.
    Silent,
}

impl Shape3 {
    /// A solid from its surface: a closed mesh, not necessarily convex. Corners of triangles are
    /// counter-clockwise seen from outside.
    pub fn solid_mesh(
        points: &[DVec3],
        triangles: &[[u32; 3]],
        how: &Decomposition,
    ) -> Result<Self, ShapeError> {
        check_triangles(points, triangles)?;
        check_options(how)?;
        check_closed(triangles)?;
        let corners = |t: &[u32; 3]| t.map(|k| points[k as usize]);
        let moments = rounded_polyhedron::of_triangles(triangles.iter().map(corners));
        let is_inside_out = moments.volume.is_nan() || moments.volume <= 0.0;
        if is_inside_out {
            return Err(ShapeError::InsideOut {
                volume: moments.volume,
            });
        }
        let mut parts: Vec<Convex> = Vec::new();
        for cloud in clouds(points, triangles, how)? {
            // What has no volume carries nothing.
            if let Ok(hull) = Self::hull(&cloud)
                && let Body::Convex(own) = &*hull.body
            {
                parts.extend(own.iter().cloned());
            }
        }
        let Some(first) = parts.first_mut() else {
            return Err(ShapeError::Hull {
                given: points.len(),
            });
        };
        first.role = Role::All(Arc::new(Whole {
            moments,
            form: Form::Mesh {
                points: points.iter().map(DVec3::to_array).collect(),
                triangles: triangles.to_vec(),
            },
        }));
        for part in parts.iter_mut().skip(1) {
            part.role = Role::Silent;
        }
        Ok(Self {
            body: Arc::new(Body::Convex(parts)),
        })
    }
}

fn check_options(how: &Decomposition) -> Result<(), ShapeError> {
    size("concavity", how.concavity)?;
    for (what, value, range) in [
        ("resolution", how.resolution, 8..=400),
        ("most parts", how.most, 1..=1000),
    ] {
        if !range.contains(&value) {
            return Err(ShapeError::Mesh(format!(
                "{what} must be {} to {}, not {value}",
                range.start(),
                range.end()
            )));
        }
    }
    Ok(())
}

/// Every edge must be one of two triangles, once in each direction.
fn check_closed(triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    let mut edges: Vec<([u32; 2], bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[from, to]| ([from.min(to), from.max(to)], from < to))
        .collect();
    edges.sort_unstable();
    let open = edges
        .chunk_by(|a, b| a.0 == b.0)
        .find(|sides| !matches!(sides, [(_, false), (_, true)]));
    match open {
        Some(sides) => Err(ShapeError::Open {
            edge: sides[0].0,
            triangles: sides.len(),
        }),
        None => Ok(()),
    }
}

/// Points of each convex part.
fn clouds(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    how: &Decomposition,
) -> Result<Vec<Vec<DVec3>>, ShapeError> {
    let options = VHACDParameters {
        concavity: how.concavity,
        resolution: how.resolution,
        max_convex_hulls: how.most,
        ..VHACDParameters::default()
    };
    // The library trusts its input in places; what was checked above should do, and if not, an
    // error is better than the end.
    let made = catch_unwind(AssertUnwindSafe(|| {
        VHACD::decompose(&options, points, triangles, true)
            .compute_primitive_intersections(points, triangles)
    }));
    made.map_err(|_| ShapeError::Mesh("it can't be taken apart".to_owned()))
}
