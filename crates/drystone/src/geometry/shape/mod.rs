//! Shapes: what bodies are made of, and the questions one can ask of two of them.
//!
//! [`Shape2`] and [`Shape3`] are made by checked constructors, so that a shape that exists is
//! sound: finite, positive sizes, non-degenerate hulls, indices in range. A shape is one of
//!
//! * one or more **convex parts** (a compound has several), solid, with exact mass;
//! * a **surface**: triangles in space, segments in the plane; fixed bodies only;
//! * a **half-space**, everything below a plane; fixed bodies only.
//!
//! Signs everywhere: normals point **from A to B**, separation is positive apart.
//!
//! Mass properties, bounding boxes, distance queries and the rarer contact pairs come from
//! `parry`. The contact pairs that decide whether a wall stands (polytope on polytope, anything
//! on a half-space, balls and capsules on all of these) are our own: they keep every corner of
//! exactly aligned faces and give contacts identifiers that last.

#[cfg(feature = "dim3")]
mod box_box;
#[cfg(feature = "dim3")]
mod box_segment;
#[cfg(feature = "dim3")]
mod decompose;
mod error;
mod half_space;
mod internal_edges;
mod linear_cast;
#[cfg(feature = "dim3")]
mod mpr;
mod pairs;
#[cfg(feature = "dim2")]
mod planar;
mod point_segment;
#[cfg(feature = "dim2")]
mod polygon;
#[cfg(feature = "dim2")]
mod polygon_round;
#[cfg(feature = "dim3")]
mod polyhedron;
#[cfg(feature = "dim3")]
mod polyhedron_clip;
#[cfg(feature = "dim3")]
mod polyhedron_round;
#[cfg(feature = "dim3")]
mod polyhedron_sat;
mod queries;
#[cfg(feature = "dim2")]
mod rounded_polygon;
#[cfg(feature = "dim3")]
mod rounded_polyhedron;
#[cfg(feature = "dim3")]
mod segment_segment;
mod skeleton;
pub(crate) mod space;
#[cfg(feature = "dim3")]
mod spatial;
#[cfg(feature = "dim3")]
mod spatial_surface;
mod surface_pairs;

#[cfg(feature = "dim3")]
pub use decompose::Decomposition;
pub use error::ShapeError;
#[cfg(feature = "dim2")]
pub use planar::Shape2;
pub use skeleton::Skeleton;
#[cfg(feature = "dim3")]
pub use spatial::Shape3;

use crate::geometry::Space;
use crate::math::algebra::{Algebra, Components, Linear};
use drystone_frame::Part;
use serde::{Deserialize, Serialize};

/// Where something is: a point and an orientation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Pose<S: Algebra> {
    /// Position in m.
    pub position: S::Vector,
    /// Orientation.
    pub rotation: S::Rotation,
}

impl<S: Algebra> Pose<S> {
    /// A pose without rotation.
    #[must_use]
    pub fn at(position: S::Vector) -> Self {
        Self {
            position,
            rotation: S::Rotation::default(),
        }
    }

    /// A point given in this pose's axes, in world axes.
    #[must_use]
    pub fn point(&self, local: S::Vector) -> S::Vector {
        self.position + S::rotate(self.rotation, local)
    }

    /// A world point, in this pose's axes.
    #[must_use]
    pub fn local_point(&self, world: S::Vector) -> S::Vector {
        S::unrotate(self.rotation, world - self.position)
    }
}

/// Mass, centre of mass and inertia of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties<S: Space> {
    /// Mass in kg.
    pub mass: f64,
    /// Centre of mass in the shape's axes, m.
    pub center: S::Vector,
    /// Inertia about the centre of mass in the shape's axes, kg·m².
    pub inertia: S::Inertia,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Bounds<S: Algebra> {
    /// Lower corner in m.
    pub lower: S::Vector,
    /// Upper corner in m.
    pub upper: S::Vector,
}

impl<S: Algebra> Bounds<S> {
    /// The box grown by `margin` metres on every side.
    #[must_use]
    pub fn grown(self, margin: f64) -> Self {
        let m = S::Vector::splat(margin);
        Self {
            lower: self.lower - m,
            upper: self.upper + m,
        }
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            lower: self.lower.lower(other.lower),
            upper: self.upper.upper(other.upper),
        }
    }

    /// Whether the boxes share a point.
    #[must_use]
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..S::DIM).all(|axis| {
            self.lower.component(axis) <= other.upper.component(axis)
                && other.lower.component(axis) <= self.upper.component(axis)
        })
    }
}

/// One point of contact between two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ContactPoint<S: Space> {
    /// World point half-way between the two surfaces, m.
    pub position: S::Vector,
    /// Unit vector from A to B.
    pub normal: S::Vector,
    /// Distance between the surfaces along the normal in m; negative where they overlap.
    pub separation: f64,
    /// Which features touch; lasts as long as the same features do.
    pub feature: FeatureId,
}

/// Names a contact point within a pair of shapes: parts, then features of the parts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FeatureId {
    /// Part (or triangle, or segment) of A.
    pub part_a: u32,
    /// Part (or triangle, or segment) of B.
    pub part_b: u32,
    /// Feature of A within its part.
    pub feature_a: u32,
    /// Feature of B within its part.
    pub feature_b: u32,
}

/// The closest (or deepest) points of two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation<S: Space> {
    /// World point on A in m.
    pub point_a: S::Vector,
    /// World point on B in m.
    pub point_b: S::Vector,
    /// Unit vector from A to B.
    pub normal: S::Vector,
    /// Signed distance in m, negative where the shapes overlap.
    pub distance: f64,
}

/// How far apart two shapes are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance<S: Space> {
    /// Distance in m, negative where the shapes overlap.
    pub distance: f64,
    /// Unit vector from A to B.
    pub normal: S::Vector,
}

/// Where a ray or a moving solid first meets a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting<S: Space> {
    /// Way until then in m; 0 if it starts inside.
    pub distance: f64,
    /// World point on the shape that is met, m (the ray's origin if it starts inside).
    pub point: S::Vector,
    /// Unit vector out of the shape that is met; against the ray if it starts inside.
    pub normal: S::Vector,
    /// Negative if a solid overlaps the shape at its start, by so many m; else 0.
    pub separation: f64,
    /// Part (or triangle, or segment) that is met.
    pub part: u32,
}

/// What the engine asks of a shape. Implemented by [`Shape2`] and [`Shape3`] only.
pub trait Geometry<S: Space>: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Mass, centre and inertia at `density` (kg/m³, in 2D kg/m²); `None` for surfaces and
    /// A ball around the origin, m.
    fn of_radius(radius: f64) -> Result<Self, ShapeError>;
    /// half-spaces, which have no volume of their own.
    fn mass_properties(&self, density: f64) -> Option<MassProperties<S>>;
    /// The bounding box at a pose; `None` for a half-space, which has none.
    fn bounds(&self, pose: &Pose<S>) -> Option<Bounds<S>>;
    /// The largest distance of a point of the shape from `center` (shape axes), m.
    fn radius_about(&self, center: S::Vector) -> f64;
    /// The radius, if the shape is one ball around its own origin.
    fn ball_radius(&self) -> Option<f64>;
    /// Adds every contact point of A and B closer than `margin` metres to `out`, in an order
    /// that depends on the two shapes and poses alone.
    fn contacts(
        a: (&Self, &Pose<S>),
        b: (&Self, &Pose<S>),
        margin: f64,
        out: &mut Vec<ContactPoint<S>>,
    );
    /// Signed distance of a world point from the surface in m, negative inside a solid.
    /// (Surfaces have no inside: theirs is never negative. Inside a compound it is the distance
    /// to the surface of the part that holds the point deepest.)
    fn signed_distance(&self, pose: &Pose<S>, point: S::Vector) -> f64 {
        self.closest_point(pose, point).1
    }
    /// The point of the surface nearest to a world point, and the
    /// [signed distance](Self::signed_distance) between them.
    fn closest_point(&self, pose: &Pose<S>, point: S::Vector) -> (S::Vector, f64);
    /// Whether the shape is made of convex parts, so that it can be moved and overlap others.
    fn is_solid(&self) -> bool;
    /// Where a ray along the unit vector `direction` first meets the shape within `limit` m.
    fn cast_ray(
        &self,
        pose: &Pose<S>,
        origin: S::Vector,
        direction: S::Vector,
        limit: f64,
    ) -> Option<Meeting<S>>;
    /// Where the solid `mover`, moved along the unit vector `direction` without turning, first
    /// meets the shape within `limit` m. Solids that touch at the start meet only if they press
    /// on each other; what is no solid meets nothing.
    fn cast(
        &self,
        pose: &Pose<S>,
        mover: (&Self, &Pose<S>),
        direction: S::Vector,
        limit: f64,
    ) -> Option<Meeting<S>>;
    /// Whether the shape and a solid share a point.
    fn overlaps(&self, pose: &Pose<S>, solid: (&Self, &Pose<S>)) -> bool;
    /// The closest points of two shapes, or the deepest where they overlap. `None` if neither
    /// has a volume.
    fn separation(a: (&Self, &Pose<S>), b: (&Self, &Pose<S>)) -> Option<Separation<S>>;
    /// The least distance of two shapes of which one is a solid, where it is at most `limit` m,
    /// with its direction from A to B; negative where they overlap. Pieces of a one-sided surface
    /// that the solid is behind do not count.
    fn clearance(a: (&Self, &Pose<S>), b: (&Self, &Pose<S>), limit: f64) -> Option<Clearance<S>>;
    /// The parts, to be drawn.
    fn parts(&self) -> Vec<Part>;
    /// What the convex parts or the surface are built around; nothing for a half-space.
    fn skeletons(&self) -> Vec<Skeleton>;
}

/// Contact of two balls whose centres and radii are given.
///
/// Coincident centres have no direction between them; they get the y axis, so that the result
/// is defined and the same every time.
#[must_use]
pub fn ball_on_ball<S: Space>(
    a: (S::Vector, f64),
    b: (S::Vector, f64),
    margin: f64,
) -> Option<ContactPoint<S>> {
    let between = b.0 - a.0;
    let distance = between.length();
    let separation = distance - (a.1 + b.1);
    if separation > margin {
        return None;
    }
    let normal = if distance > 0.0 {
        between * (1.0 / distance)
    } else {
        S::Vector::default().with_component(1, 1.0)
    };
    Some(ContactPoint {
        position: a.0 + normal * (a.1 + 0.5 * separation),
        normal,
        separation,
        feature: FeatureId::default(),
    })
}
