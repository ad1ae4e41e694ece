//! Many queries at one state.

use super::filter::{Filter, QueryError};
use super::{CastHit, Nearest, Ray, RayHit};
use crate::geometry::Space;
use crate::geometry::bvh::nearest_first::{NearestFirstTree, Path, distance_to};
use crate::geometry::shape::{Bounds, Geometry, Meeting, Pose};
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, BodyId};

/// Answers queries about the bodies of a world as they are now. Made by
/// [`World::query_tree`](crate::World::query_tree), which says more about each question.
///
/// ```
/// use drystone::glam::DVec3;
/// use drystone::query::{Filter, Ray};
/// use drystone::{Body, Shape3, World3};
/// let mut world = World3::default();
/// for k in 0..100 {
///     world.add(Body::rigid(Shape3::ball(0.4)?).at(DVec3::X * f64::from(k)))?;
/// }
/// let tree = world.query_tree(); // built once, asked often
/// let along = Ray::new(DVec3::NEG_X, DVec3::X);
/// assert_eq!(tree.cast_ray_all(&along, &Filter::all())?.len(), 100);
/// assert!(tree.closest_point(DVec3::Y, 1.0, &Filter::all())?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueryTree<'w, S: Space> {
    bodies: &'w Bodies<S>,
    hierarchy: NearestFirstTree<S>,
    /// Half-spaces, which no box holds.
    unbounded: Vec<u32>,
}

impl<'w, S: Space> QueryTree<'w, S> {
    /// Takes about n log n steps for n bodies.
    #[must_use]
    pub fn new(bodies: &'w Bodies<S>) -> Self {
        let mut items = Vec::with_capacity(bodies.len());
        let mut unbounded = Vec::new();
        for k in (0..bodies.len()).filter(|&k| bodies.is_present(k)) {
            match bodies.shape[k].bounds(&bodies.origin(k)) {
                Some(bounds) => items.push((k as u32, bounds)),
                None => unbounded.push(k as u32),
            }
        }
        Self {
            bodies,
            hierarchy: NearestFirstTree::new(items),
            unbounded,
        }
    }

    /// The first body that a ray hits: [`World::cast_ray`](crate::World::cast_ray).
    pub fn cast_ray(
        &self,
        ray: &Ray<S>,
        filter: &Filter<'_>,
    ) -> Result<Option<RayHit<S>>, QueryError> {
        let direction = check_ray(ray)?;
        let path = Path::<S>::new(ray.origin, direction, S::Vector::default());
        let mut first: Option<RayHit<S>> = None;
        self.search(
            ray.max_distance,
            filter,
            |bounds| path.way_to(bounds),
            |body| {
                if let Some(hit) = self.ray_on(body, ray, direction)
                    && first.is_none_or(|best| order(&hit) < order(&best))
                {
                    first = Some(hit);
                }
                first.map_or(ray.max_distance, |hit| hit.distance)
            },
        );
        Ok(first)
    }

    /// Every body that a ray hits: [`World::cast_ray_all`](crate::World::cast_ray_all).
    pub fn cast_ray_all(
        &self,
        ray: &Ray<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<RayHit<S>>, QueryError> {
        let direction = check_ray(ray)?;
        let path = Path::<S>::new(ray.origin, direction, S::Vector::default());
        let mut hits = Vec::new();
        self.search(
            ray.max_distance,
            filter,
            |bounds| path.way_to(bounds),
            |body| {
                hits.extend(self.ray_on(body, ray, direction));
                ray.max_distance
            },
        );
        hits.sort_unstable_by(|p, q| p.distance.total_cmp(&q.distance).then(p.body.cmp(&q.body)));
        Ok(hits)
    }

    /// The first body that each of many rays hits:
    /// [`World::cast_rays`](crate::World::cast_rays).
    pub fn cast_rays(
        &self,
        rays: &[Ray<S>],
        filter: &Filter<'_>,
    ) -> Result<Vec<Option<RayHit<S>>>, QueryError> {
        rays.iter()
            .enumerate()
            .map(|(index, ray)| {
                self.cast_ray(ray, filter)
                    .map_err(|source| QueryError::InBatch {
                        index,
                        source: Box::new(source),
                    })
            })
            .collect()
    }

    /// The first body that a moving solid meets:
    /// [`World::cast_shape`](crate::World::cast_shape).
    pub fn cast_shape(
        &self,
        shape: &S::Shape,
        pose: Pose<S>,
        motion: S::Vector,
        filter: &Filter<'_>,
    ) -> Result<Option<CastHit<S>>, QueryError> {
        let (pose, around) = check_solid(shape, pose)?;
        let (direction, length) = unit::<S>("motion", motion)?;
        if !length.is_finite() {
            return Err(QueryError::NotFinite("motion"));
        }
        let half = (around.upper - around.lower) * 0.5;
        let path = Path::<S>::new(around.lower + half, direction, half);
        // Of several met at once the deepest, then the first.
        let key = |(body, met): &(u32, Meeting<S>)| (met.distance, met.separation, *body);
        let mut first: Option<(u32, Meeting<S>)> = None;
        self.search(
            length,
            filter,
            |bounds| path.way_to(bounds),
            |body| {
                let (target, at) = self.shape(body);
                if let Some(met) = target.cast(&at, (shape, &pose), direction, length)
                    && first
                        .as_ref()
                        .is_none_or(|best| key(&(body, met)) < key(best))
                {
                    first = Some((body, met));
                }
                first.as_ref().map_or(length, |(_, met)| met.distance)
            },
        );
        Ok(first.map(|(body, met)| CastHit {
            body: self.bodies.id(body as usize),
            fraction: (met.distance / length).min(1.0),
            point: met.point,
            normal: met.normal,
            separation: met.separation,
            part: met.part,
        }))
    }

    /// The nearest point of any body: [`World::closest_point`](crate::World::closest_point).
    pub fn closest_point(
        &self,
        point: S::Vector,
        max_distance: f64,
        filter: &Filter<'_>,
    ) -> Result<Option<Nearest<S>>, QueryError> {
        finite::<S>("point", point)?;
        check_distance(max_distance)?;
        let mut nearest: Option<Nearest<S>> = None;
        self.search(
            max_distance,
            filter,
            |bounds| Some(distance_to(bounds, point)),
            |body| {
                let (shape, pose) = self.shape(body);
                let (on, distance) = shape.closest_point(&pose, point);
                let body = self.bodies.id(body as usize);
                if distance <= max_distance
                    && nearest.is_none_or(|best| (distance, body) < (best.distance, best.body))
                {
                    nearest = Some(Nearest {
                        body,
                        point: on,
                        distance,
                    });
                }
                nearest.map_or(max_distance, |best| best.distance)
            },
        );
        Ok(nearest)
    }

    /// The bodies that share a point with a solid:
    /// [`World::overlapping`](crate::World::overlapping).
    pub fn overlapping(
        &self,
        shape: &S::Shape,
        pose: Pose<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<BodyId>, QueryError> {
        let (pose, around) = check_solid(shape, pose)?;
        Ok(self.collect(&around, filter, |body| {
            let (target, at) = self.shape(body);
            target.overlaps(&at, (shape, &pose))
        }))
    }

    /// The bodies whose bounding boxes share a point with a box:
    /// [`World::overlapping_bounds`](crate::World::overlapping_bounds).
    pub fn overlapping_bounds(
        &self,
        bounds: &Bounds<S>,
        filter: &Filter<'_>,
    ) -> Result<Vec<BodyId>, QueryError> {
        finite::<S>("box", bounds.lower)?;
        finite::<S>("box", bounds.upper)?;
        if (0..S::DIM).any(|k| bounds.lower.component(k) > bounds.upper.component(k)) {
            return Err(QueryError::Bounds);
        }
        Ok(self.collect(bounds, filter, |body| {
            let (shape, pose) = self.shape(body);
            match shape.bounds(&pose) {
                Some(own) => own.overlaps(bounds),
                // A half-space meets a box in one of its corners if anywhere.
                None => (0..1_usize << S::DIM)
                    .any(|k| shape.signed_distance(&pose, corner(bounds, k)) <= 0.0),
            }
        }))
    }

    /// Bodies near a box that pass a test, in their order.
    fn collect(
        &self,
        around: &Bounds<S>,
        filter: &Filter<'_>,
        test: impl Fn(u32) -> bool,
    ) -> Vec<BodyId> {
        let mut found = Vec::new();
        self.search(
            0.0,
            filter,
            |bounds| bounds.overlaps(around).then_some(0.0),
            |body| {
                if test(body) {
                    found.push(self.bodies.id(body as usize));
                }
                0.0
            },
        );
        found.sort_unstable();
        found
    }

    /// [`NearestFirstTree::search`] over the bodies that the filter admits; half-spaces come first.
    fn search(
        &self,
        mut limit: f64,
        filter: &Filter<'_>,
        bound: impl Fn(&Bounds<S>) -> Option<f64>,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        for &body in &self.unbounded {
            if filter.admits(self.bodies, body) {
                limit = visit(body);
            }
        }
        self.hierarchy.search(limit, bound, |body| {
            if filter.admits(self.bodies, body) {
                limit = visit(body);
            }
            limit
        });
    }

    fn shape(&self, body: u32) -> (&S::Shape, Pose<S>) {
        let k = body as usize;
        (&self.bodies.shape[k], self.bodies.origin(k))
    }

    fn ray_on(&self, body: u32, ray: &Ray<S>, direction: S::Vector) -> Option<RayHit<S>> {
        let (shape, pose) = self.shape(body);
        let met = shape.cast_ray(&pose, ray.origin, direction, ray.max_distance)?;
        Some(RayHit {
            body: self.bodies.id(body as usize),
            distance: met.distance,
            point: met.point,
            normal: met.normal,
            part: met.part,
        })
    }
}

fn order<S: Space>(hit: &RayHit<S>) -> (f64, BodyId) {
    (hit.distance, hit.body)
}

/// Corner `k` of a box: bit by bit, lower or upper along an axis.
fn corner<S: Space>(bounds: &Bounds<S>, k: usize) -> S::Vector {
    (0..S::DIM).fold(bounds.lower, |at, axis| {
        if k >> axis & 1 == 1 {
            at.with_component(axis, bounds.upper.component(axis))
        } else {
            at
        }
    })
}

fn finite<S: Space>(what: &'static str, vector: S::Vector) -> Result<(), QueryError> {
    if vector.is_finite() {
        Ok(())
    } else {
        Err(QueryError::NotFinite(what))
    }
}

fn check_distance(distance: f64) -> Result<(), QueryError> {
    if distance >= 0.0 {
        Ok(())
    } else {
        Err(QueryError::Distance(distance))
    }
}

/// The ray's direction with unit length.
fn check_ray<S: Space>(ray: &Ray<S>) -> Result<S::Vector, QueryError> {
    finite::<S>("origin", ray.origin)?;
    check_distance(ray.max_distance)?;
    Ok(unit::<S>("direction", ray.direction)?.0)
}

/// The pose with a unit rotation, and the solid's bounding box there.
fn check_solid<S: Space>(
    shape: &S::Shape,
    pose: Pose<S>,
) -> Result<(Pose<S>, Bounds<S>), QueryError> {
    finite::<S>("position", pose.position)?;
    if !S::is_near_unit(pose.rotation) {
        return Err(QueryError::Rotation);
    }
    let pose = Pose {
        rotation: S::normalize(pose.rotation),
        ..pose
    };
    let around = shape.is_solid().then(|| shape.bounds(&pose)).flatten();
    Ok((pose, around.ok_or(QueryError::NotSolid)?))
}

/// A vector's direction and length.
fn unit<S: Space>(what: &'static str, vector: S::Vector) -> Result<(S::Vector, f64), QueryError> {
    finite::<S>(what, vector)?;
    // Divided by its largest component first, so that no square over- or underflows.
    let largest = (0..S::DIM).fold(0.0, |most: f64, k| most.max(vector.component(k).abs()));
    if largest < 1e-290 {
        return Err(QueryError::NoDirection(what));
    }
    let scaled = vector * (1.0 / largest);
    let length = scaled.length();
    Ok((scaled * (1.0 / length), largest * length))
}
