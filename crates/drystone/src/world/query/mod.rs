//! Queries: what a ray hits, what a moving solid meets, what is near, what overlaps.
//!
//! Each question can be put to a [`World`] directly. Whoever asks many builds a [`QueryTree`]
//! once per state ([`World::query_tree`]) and asks that; the answers are the same. The tree
//! borrows the world, so it cannot outlive the state it was built from.
//!
//! * **Solids are solid**: a ray that starts inside one hits it at distance 0, with a normal
//!   against the ray; a cast that starts in an overlap has fraction 0 and says how deep.
//! * **Normals** are unit vectors out of the body that is hit.
//! * **Order** is by distance, then by body; no answer depends on how the tree is built.
//! * **Accuracy**: rays on balls, boxes, hulls, half-spaces and surfaces are closed forms; on
//!   capsules, cylinders and cones right to 1e-9 of their size. A cast ends with the two at most
//!   1e-7 of the smaller one's size apart, and its fraction is never too large. Everything is
//!   computed in the axes of the body that is asked, so that this holds far from the origin too.
//!   How it works: `shape/sweep.rs`, and `shape/portal.rs` for cylinders and cones.
//!
//! Nothing here changes the world, and nothing panics: input that makes no sense is a
//! [`QueryError`].

mod filter;
mod tree;

pub use filter::{Filter, QueryError, Which};
pub use tree::QueryTree;

use crate::geometry::Space;
use crate::geometry::shape::{Bounds, Pose};
use crate::model::body::BodyId;
use crate::world::World;

/// Half of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray<S: Space> {
    /// Where it starts, m.
    pub origin: S::Vector,
    /// Where it points; of any length.
    pub direction: S::Vector,
    /// How far it goes, m; infinity is allowed.
    pub max_distance: f64,
}

impl<S: Space> Ray<S> {
    /// A ray without end.
    #[must_use]
    pub fn new(origin: S::Vector, direction: S::Vector) -> Self {
        Self {
            origin,
            direction,
            max_distance: f64::INFINITY,
        }
    }

    /// The same ray, ending after so many metres.
    #[must_use]
    pub fn up_to(self, max_distance: f64) -> Self {
        Self {
            max_distance,
            ..self
        }
    }
}

/// What a ray hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit<S: Space> {
    /// The body.
    pub body: BodyId,
    /// Distance from the ray's origin in m; 0 if that is inside the body.
    pub distance: f64,
    /// World point that is hit, m.
    pub point: S::Vector,
    /// Unit vector out of the body; against the ray if it starts inside.
    pub normal: S::Vector,
    /// Part of the compound (or triangle, or segment) that is hit.
    pub part: u32,
}

/// What a moving solid meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit<S: Space> {
    /// The body.
    pub body: BodyId,
    /// Part of the motion until then, from 0 to 1.
    pub fraction: f64,
    /// World point of the body where they meet (or where they overlap deepest), m.
    pub point: S::Vector,
    /// Unit vector out of the body.
    pub normal: S::Vector,
    /// Negative if the solid overlaps the body at its start, by so many m; else 0.
    pub separation: f64,
    /// Part of the body's compound (or triangle, or segment) that is met.
    pub part: u32,
}

/// The nearest point of any body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest<S: Space> {
    /// The body.
    pub body: BodyId,
    /// World point on its surface, m.
    pub point: S::Vector,
    /// Signed distance in m, negative inside the body.
    pub distance: f64,
}

/// Questions about where things are. Each builds a [`QueryTree`]; for many at the same state
/// build it once with [`World::query_tree`].
impl<S: Space> World<S> {
    /// Answers many queries at the present poses.
    #[must_use]
    pub fn query_tree(&self) -> QueryTree<'_, S> {
        QueryTree::new(self.bodies())
    }

    /// The first body that a ray hits.
    ///
    /// ```
    /// use drystone::glam::DVec3;
    /// use drystone::query::{Filter, Ray};
    /// use drystone::{Body, Shape3, World3};
    /// let mut world = World3::default();
    /// let ball = world.add(Body::rigid(Shape3::ball(0.5)?).at(DVec3::new(0.0, 2.0, 0.0)))?;
    /// let down = Ray::new(DVec3::new(0.0, 10.0, 0.0), DVec3::NEG_Y);
    /// let hit = world.cast_ray(&down, &Filter::all())?.ok_or("missed")?;
    /// assert_eq!((hit.body, hit.distance, hit.normal), (ball, 7.5, DVec3::Y));
    /// assert!(world.cast_ray(&down.up_to(7.0), &Filter::all())?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_ray(
        &self,
        ray: &Ray<S>,
        filter: &Filter<'_>,
    ) -> Result<Option<RayHit<S>>, QueryError> {
        self.query_tree().cast_ray(ray, filter)
    }

    /// Every body that a ray hits, each once where the ray enters it, nearest first.
    pub fn cast_ray_all(
        &self,
        ray: &Ray<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<RayHit<S>>, QueryError> {
        self.query_tree().cast_ray_all(ray, filter)
    }

    /// The first body that each of many rays hits.
    ///
    /// ```
    /// use drystone::glam::DVec2;
    /// use drystone::query::{Filter, Ray};
    /// use drystone::{Body, Shape2, World2};
    /// let mut world = World2::default();
    /// world.add(Body::fixed(Shape2::cuboid(DVec2::new(1.0, 1.0))?))?;
    /// // A depth scan from above: the box is 2 m wide.
    /// let rays: Vec<_> = (-2..=2)
    ///     .map(|x| Ray::new(DVec2::new(0.9 * f64::from(x), 5.0), DVec2::NEG_Y))
    ///     .collect();
    /// let hits = world.cast_rays(&rays, &Filter::all())?;
    /// let depths: Vec<_> = hits.iter().map(|hit| hit.map(|h| h.distance)).collect();
    /// assert_eq!(depths, [None, Some(4.0), Some(4.0), Some(4.0), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_rays(
        &self,
        rays: &[Ray<S>],
        filter: &Filter<'_>,
    ) -> Result<Vec<Option<RayHit<S>>>, QueryError> {
        self.query_tree().cast_rays(rays, filter)
    }

    /// The first body that a solid meets when it moves from `pose` by `motion` (m) without
    /// turning. A solid that overlaps bodies at its start meets the one it overlaps deepest, at
    /// fraction 0; one that only touches meets what it presses on, not what it slides along.
    ///
    /// ```
    /// use drystone::glam::DVec3;
    /// use drystone::query::Filter;
    /// use drystone::{Body, Pose, Shape3, World3};
    /// let mut world = World3::default();
    /// world.add(Body::fixed(Shape3::half_space(DVec3::Y)?))?;
    /// let start = Pose::at(DVec3::new(0.0, 3.0, 0.0));
    /// let down = DVec3::new(0.0, -4.0, 0.0);
    /// let hit = world.cast_shape(&Shape3::ball(1.0)?, start, down, &Filter::all())?;
    /// assert_eq!(hit.map(|hit| hit.fraction), Some(0.5)); // 2 m of 4 m
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast_shape(
        &self,
        shape: &S::Shape,
        pose: Pose<S>,
        motion: S::Vector,
        filter: &Filter<'_>,
    ) -> Result<Option<CastHit<S>>, QueryError> {
        self.query_tree().cast_shape(shape, pose, motion, filter)
    }

    /// The point of any body that is nearest to a point, within `max_distance` m. Inside bodies
    /// the distance is negative; of several the one that holds the point deepest counts.
    ///
    /// ```
    /// use drystone::glam::DVec2;
    /// use drystone::query::Filter;
    /// use drystone::{Body, Shape2, World2};
    /// let mut world = World2::default();
    /// world.add(Body::rigid(Shape2::ball(1.0)?))?;
    /// let near = world.closest_point(DVec2::new(3.0, 4.0), 10.0, &Filter::all())?;
    /// assert_eq!(near.map(|n| n.distance), Some(4.0));
    /// assert!(world.closest_point(DVec2::new(3.0, 4.0), 3.9, &Filter::all())?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closest_point(
        &self,
        point: S::Vector,
        max_distance: f64,
        filter: &Filter<'_>,
    ) -> Result<Option<Nearest<S>>, QueryError> {
        self.query_tree().closest_point(point, max_distance, filter)
    }

    /// The bodies that share a point with a solid at a pose, in their order.
    ///
    /// ```
    /// use drystone::glam::DVec2;
    /// use drystone::query::Filter;
    /// use drystone::{Body, Pose, Shape2, World2};
    /// let mut world = World2::default();
    /// let a = world.add(Body::rigid(Shape2::ball(1.0)?))?;
    /// let b = world.add(Body::rigid(Shape2::ball(1.0)?).at(DVec2::new(5.0, 0.0)))?;
    /// let probe = Shape2::cuboid(DVec2::new(2.0, 0.1))?;
    /// let at = |x: f64| Pose::at(DVec2::new(x, 0.0));
    /// assert_eq!(world.overlapping(&probe, at(2.5), &Filter::all())?, [a, b]);
    /// assert_eq!(world.overlapping(&probe, at(0.5), &Filter::all())?, [a]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlapping(
        &self,
        shape: &S::Shape,
        pose: Pose<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<BodyId>, QueryError> {
        self.query_tree().overlapping(shape, pose, filter)
    }

    /// The bodies whose bounding boxes (half-spaces: which themselves) share a point with a box
    /// along the axes, in their order. Coarser than [`World::overlapping`], and faster.
    ///
    /// ```
    /// use drystone::glam::DVec2;
    /// use drystone::query::Filter;
    /// use drystone::Bounds;
    /// use drystone::{Body, Shape2, World2};
    /// let mut world = World2::default();
    /// let ball = world.add(Body::rigid(Shape2::ball(1.0)?))?;
    /// // A corner of the ball's box, outside the ball.
    /// let corner = Bounds { lower: DVec2::new(0.9, 0.9), upper: DVec2::new(2.0, 2.0) };
    /// assert_eq!(world.overlapping_bounds(&corner, &Filter::all())?, [ball]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlapping_bounds(
        &self,
        bounds: &Bounds<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<BodyId>, QueryError> {
        self.query_tree().overlapping_bounds(bounds, filter)
    }
}
