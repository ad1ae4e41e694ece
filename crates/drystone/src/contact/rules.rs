//! Filtering of pairs, and changes to a contact before it is solved.

use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, BodyId};
use crate::model::material::{Materials, Surface};

/// Overlap at which a one-way platform lets through, m: a few times what resting leaves.
const PASSING: f64 = 0.02;
/// Cosine between a normal and a platform's direction from which on it holds.
const FACING: f64 = 0.5;

/// A contact between two bodies before it is solved, to be changed.
#[derive(Debug)]
pub struct Encounter<'a, S: Space> {
    /// Body A, which normals leave.
    pub a: BodyId,
    /// Body B.
    pub b: BodyId,
    /// Its points; those that are taken out do not push.
    pub points: &'a mut Vec<ContactPoint<S>>,
    /// Its coefficients.
    pub surface: &'a mut Surface,
    /// Velocity of B's surface relative to A's on top of the bodies' own, m/s, world axes.
    pub slide: &'a mut S::Vector,
}

/// What a program decides about contacts itself.
///
/// Both are asked when a pair is detected, from several threads, and for bodies at rest not in
/// every step: answers must follow from the arguments and from what does not change. They are no
/// part of a snapshot.
pub trait Hooks<S: Space>: Send + Sync {
    /// Whether two bodies may touch.
    fn allows(&self, _a: BodyId, _b: BodyId) -> bool {
        true
    }
    /// Changes a contact.
    fn modify(&self, _encounter: &mut Encounter<'_, S>) {}
}

/// All that decides about pairs.
#[derive(Clone, Copy)]
pub(crate) struct PairRules<'a, S: Space> {
    pub(crate) materials: &'a Materials,
    pub(crate) hooks: Option<&'a dyn Hooks<S>>,
    /// Pairs that joints keep from touching, sorted.
    pub(crate) apart: &'a [(u32, u32)],
}

/// Surface of a contact and how it slides by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<S: Space> {
    pub(crate) surface: Surface,
    /// Velocity of B's surface relative to A's on top of the bodies' own, in the contact's plane,
    /// m/s.
    pub(crate) slide: S::Vector,
}

impl<S: Space> PairRules<'_, S> {
    /// Whether two bodies (a < b) may touch.
    pub(crate) fn allow(&self, bodies: &Bodies<S>, a: usize, b: usize) -> bool {
        bodies.may_meet(a, b)
            && self.apart.binary_search(&(a as u32, b as u32)).is_err()
            && self
                .hooks
                .is_none_or(|hooks| hooks.allows(bodies.id(a), bodies.id(b)))
    }

    /// Applies platforms, belts and hooks to the points of a pair.
    pub(crate) fn adjust(
        &self,
        bodies: &Bodies<S>,
        (a, b): (usize, usize),
        points: &mut Vec<ContactPoint<S>>,
    ) -> Manner<S> {
        let mut surface = self
            .materials
            .between(bodies.material[a], bodies.material[b]);
        let belt = |k: usize| S::rotate(bodies.rotation[k], bodies.surface_velocity[k]);
        let mut slide = belt(b) - belt(a);
        for (platform, sign) in [(a, 1.0), (b, -1.0)] {
            if let Some(direction) = bodies.one_way[platform] {
                let out = S::rotate(bodies.rotation[platform], direction) * sign;
                points.retain(|p| p.normal.dot(out) > FACING && p.separation > -PASSING);
            }
        }
        if let Some(hooks) = self.hooks
            && !points.is_empty()
        {
            hooks.modify(&mut Encounter {
                a: bodies.id(a),
                b: bodies.id(b),
                points,
                surface: &mut surface,
                slide: &mut slide,
            });
        }
        if let Some(point) = points.first() {
            slide -= point.normal * point.normal.dot(slide);
        }
        Manner { surface, slide }
    }
}
