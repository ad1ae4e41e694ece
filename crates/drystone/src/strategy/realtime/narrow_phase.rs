//! Narrow phase of the pairs that have moved.
//!
//! Most pairs are near but do not touch. Each remembers how far apart it was: until its bodies
//! together have travelled that far, it need not be looked at.

use super::OFF;
use super::manifold_update::{Found, Renewing, Touched};
use crate::contact::detection::{Lookahead, touch};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::oriented_bounds::OrientedBounds;
use crate::geometry::shape::{ContactPoint, Geometry};
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// Pairs that are worth a thread.
const WORTH: usize = 256;
/// Parts that a thread takes up, about.
const PARTS: usize = 8;

/// What pairs are looked at with.
pub(crate) struct NarrowPhase<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) rules: &'a PairRules<'a, S>,
    pub(crate) ahead: Lookahead,
    /// Bodies that have left their base pose.
    pub(crate) is_dirty: &'a [bool],
    /// How far each body can move in the step, half of the contact margin included, m.
    pub(crate) reach: &'a [f64],
    /// Boxes around the bodies at their base poses.
    pub(crate) cases: &'a [Option<OrientedBounds<S>>],
    /// How far each body has moved at most since the world began, m.
    pub(crate) travel: &'a [f64],
}

impl<S: Space> NarrowPhase<'_, S> {
    /// Looks at all pairs with a dirty body and writes the manifolds that go on; the lists of what
    /// begins and ends are in the order of pairs.
    pub(crate) fn look(
        &self,
        renewing: &Renewing<'_, S>,
        threads: usize,
        found: &mut Vec<Found<S>>,
    ) {
        let count = renewing.manifolds.pair_count();
        let threads = threads.min(count / WORTH + 1);
        // Those that move are seldom spread evenly.
        let parts = if threads > 1 { PARTS * threads } else { 1 };
        found.resize_with(parts, Found::default);
        let lists = SharedSlice::new(found);
        thread_pool::deal(threads, parts, |k| {
            lists.change(k, |found| {
                found.clear();
                let mut points = Vec::new();
                for index in count * k / parts..count * (k + 1) / parts {
                    self.look_at(renewing, index, &mut points, found);
                }
            });
        });
    }

    fn look_at(
        &self,
        renewing: &Renewing<'_, S>,
        index: usize,
        points: &mut Vec<ContactPoint<S>>,
        found: &mut Found<S>,
    ) {
        let manifolds = &renewing.manifolds;
        let pair = manifolds.pair(index);
        let (a, b) = (pair.a as usize, pair.b as usize);
        if !(self.is_dirty[a] || self.is_dirty[b]) {
            return;
        }
        // Both reaches hold half of the margin each.
        let margin = self.reach[a] + self.reach[b];
        let travel = self.travel[a] + self.travel[b];
        // One of the two may be off its base pose now, and may have been when it was looked at.
        let slack = margin + 2.0 * OFF * self.ahead.margin;
        if manifolds.free_until(index) - travel > slack {
            return;
        }
        let mut apart = clearance(self.bodies, a, b);
        // What touched does so still, as a rule.
        if apart <= slack
            && !manifolds.touches(index)
            && let (Some(one), Some(other)) = (&self.cases[a], &self.cases[b])
        {
            // Cases are where bodies were when they last left their base pose.
            apart = apart.max(one.apart(other) - OFF * self.ahead.margin);
        }
        points.clear();
        if apart <= margin {
            touch(self.bodies, (a, b), margin, &self.ahead, points);
        }
        if !points.is_empty() {
            let manner = self.rules.adjust(self.bodies, (a, b), points);
            if let Some(at) = manifolds.continued(index, points) {
                if renewing.renew(at, (pair, &manner), points, false) {
                    found.regrouped.push(pair);
                }
                return;
            }
            if !points.is_empty() {
                found.points.append(points);
                found.touched.push(Touched {
                    index: index as u32,
                    pair,
                    end: found.points.len() as u32,
                    manner,
                });
                return;
            }
        }
        manifolds.set_free_until(index, travel + apart);
        if manifolds.touches(index) {
            found.parted.push(index as u32);
        }
    }
}

/// A distance that two bodies are apart at least, m: that of the balls around them, or of a ball
/// from an unbounded body; negative where these overlap.
pub(super) fn clearance<S: Space>(bodies: &Bodies<S>, a: usize, b: usize) -> f64 {
    let radius = |k: usize| bodies.radius[k];
    match (radius(a).is_finite(), radius(b).is_finite()) {
        (true, true) => {
            let between = bodies.position[b] - bodies.position[a];
            between.length() - radius(a) - radius(b)
        }
        (is_bounded, _) => {
            let (ball, wall) = if is_bounded { (a, b) } else { (b, a) };
            let pose = bodies.origin(wall);
            bodies.shape[wall].signed_distance(&pose, bodies.position[ball]) - radius(ball)
        }
    }
}
