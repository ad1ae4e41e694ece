//! Which bodies a query looks at, and what can be wrong with a query.

use crate::geometry::Space;
use crate::model::body::{Bodies, BodyId};
use thiserror::Error;

/// Kinds of bodies that a query looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Every body.
    #[default]
    All,
    /// Bodies that forces and contacts move.
    Dynamic,
    /// Bodies that they do not move: fixed ones and those that follow a script.
    Fixed,
}

/// Which bodies a query looks at: all conditions must hold.
///
/// ```
/// use drystone::glam::DVec2;
/// use drystone::query::{Filter, Ray};
/// use drystone::{Body, Shape2, World2};
/// let mut world = World2::default();
/// let floor = world.add(Body::fixed(Shape2::half_space(DVec2::Y)?))?;
/// let ball = world.add(Body::rigid(Shape2::ball(1.0)?).at(DVec2::new(0.0, 3.0)))?;
/// let down = Ray::new(DVec2::new(0.0, 10.0), DVec2::NEG_Y);
/// let first = |filter: &Filter| Ok::<_, drystone::query::QueryError>(
///     world.cast_ray(&down, filter)?.map(|hit| hit.body),
/// );
/// assert_eq!(first(&Filter::all())?, Some(ball));
/// assert_eq!(first(&Filter::fixed())?, Some(floor));
/// assert_eq!(first(&Filter::all().without(&[ball]))?, Some(floor));
/// assert_eq!(first(&Filter::dynamic().and(&|id| id != ball))?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Kinds of bodies.
    pub which: Which,
    /// Bodies that are left out.
    pub exclude: &'a [BodyId],
    /// Bodies for which this is false are left out.
    pub predicate: Option<&'a dyn Fn(BodyId) -> bool>,
}

impl<'a> Filter<'a> {
    /// Looks at every body.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Looks only at bodies that forces and contacts move.
    #[must_use]
    pub fn dynamic() -> Self {
        Self {
            which: Which::Dynamic,
            ..Self::default()
        }
    }

    /// Looks only at bodies that forces and contacts do not move.
    #[must_use]
    pub fn fixed() -> Self {
        Self {
            which: Which::Fixed,
            ..Self::default()
        }
    }

    /// Leaves these bodies out.
    #[must_use]
    pub fn without(mut self, bodies: &'a [BodyId]) -> Self {
        self.exclude = bodies;
        self
    }

    /// Leaves out bodies for which this is false.
    #[must_use]
    pub fn and(mut self, predicate: &'a dyn Fn(BodyId) -> bool) -> Self {
        self.predicate = Some(predicate);
        self
    }

    pub(super) fn admits<S: Space>(&self, bodies: &Bodies<S>, index: u32) -> bool {
        let id = bodies.id(index as usize);
        let kind = match self.which {
            Which::All => true,
            Which::Dynamic => bodies.is_dynamic(id.index()),
            Which::Fixed => !bodies.is_dynamic(id.index()),
        };
        kind && !self.exclude.contains(&id) && self.predicate.is_none_or(|admits| admits(id))
    }
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("which", &self.which)
            .field("exclude", &self.exclude)
            .field("predicate", &self.predicate.map(|_| "…"))
            .finish()
    }
}

/// Why a query can't be answered. Each says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A coordinate that is not a finite number.
    #[error("the query's {0} has a coordinate that is not a finite number")]
    NotFinite(&'static str),
    /// A direction without length.
    #[error("the query's {0} has no length; it must point somewhere (any length above 1e-290)")]
    NoDirection(&'static str),
    /// A distance that is negative or no number.
    #[error("the query's largest distance must be 0 m or more (infinity is allowed), not {0}")]
    Distance(f64),
    /// A rotation that does not turn.
    #[error("the pose's rotation must be a unit complex number or quaternion")]
    Rotation,
    /// A surface or a half-space where a solid is needed.
    #[error(
        "a surface or half-space can be asked about but not moved or laid over others; \
         use a ball, box, capsule, hull or a compound of such"
    )]
    NotSolid,
    /// A box whose corners are swapped.
    #[error("the box's lower corner must not be above its upper corner on any axis")]
    Bounds,
    /// A ray of a batch.
    #[error("ray {index} of the batch: {source}")]
    InBatch {
        /// Which ray, counted from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<QueryError>,
    },
}
