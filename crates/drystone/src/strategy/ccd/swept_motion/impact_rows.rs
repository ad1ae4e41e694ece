//! Impacts as rows of a contact problem, and as rows of nodes to be swept.

use super::{Impact, Parties};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Motion;
use crate::strategy::ccd::sweeps::NodeRow;

/// Rate at which what is nearer than it should be opens, 1/s.
const OPENING: f64 = 10.0;

/// What an impact asks for: see [`crate::strategy::ccd`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Approach slower than this does not bounce, m/s.
    pub(super) threshold: f64,
}

impl Law {
    /// Least normal velocity after an impact over `dt` seconds, m/s, that bounces if its restitution
    /// and its normal velocity before are given.
    pub(super) fn target<S: Space>(
        &self,
        hit: &Impact<S>,
        dt: f64,
        bounce: Option<(f64, f64)>,
    ) -> f64 {
        let left = hit.gap - hit.rest;
        let rest = if left > 0.0 {
            -left / dt
        } else {
            -left * OPENING
        };
        let fast = bounce.filter(|(_, approach)| *approach < -self.threshold);
        fast.map_or(rest, |(restitution, approach)| {
            rest.max(-restitution * approach)
        })
    }
}

/// How impacts of nodes with their own masses are written down.
pub(in crate::strategy::ccd) struct NodeRows<'a, S: Space> {
    pub(super) parties: Parties<'a, S>,
    /// Velocities without contact.
    pub(super) free: &'a [Motion<S>],
    /// Length of the step, s.
    pub(super) dt: f64,
    pub(super) law: Law,
}

impl<S: Space> NodeRows<'_, S> {
    /// An impact of nodes with their own masses over the whole step, with its impulse so far (N·s).
    /// `None` where more than four bodies move or one of them is not as heavy along all axes.
    pub(in crate::strategy::ccd) fn row(
        &self,
        number: u32,
        hit: &Impact<S>,
        impulse: S::Vector,
    ) -> Option<NodeRow<S>> {
        let (bodies, free) = (self.parties.bodies, self.free);
        let contact = &self.parties.contact(hit);
        let mut row = NodeRow {
            impulse,
            ..NodeRow::new(number, contact.point.normal, contact.surface.friction)
        };
        let still = |k: u32| !self.parties.moves(k);
        if still(contact.a) || still(contact.b) {
            row.drift = contact.slide;
        }
        let mut approach: S::Vector = row.drift;
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let body = [contact.a, contact.b][side];
            let Some(nodes) = &contact.nodes[side] else {
                let arm = contact.point.position - hit.centers[side];
                let of = |m: &Motion<S>| (m.linear + S::spin_cross(m.spin, arm)) * sign;
                row.drift += of(&free[body as usize]);
                approach += of(&bodies.motion[body as usize]);
                continue;
            };
            for (&k, weight) in nodes.bodies.iter().zip(nodes.weights) {
                let (k, weight) = (k as usize, sign * weight);
                if weight == 0.0 {
                    continue;
                }
                approach += bodies.motion[k].linear * weight;
                let answer = self.parties.answers[k];
                if answer == 0.0 {
                    row.drift += free[k].linear * weight;
                } else if answer.is_nan() {
                    return None;
                } else {
                    row.add(k as u32, weight, answer)?;
                }
            }
        }
        let stiffness: f64 = (row.weights.iter().zip(&row.answers))
            .map(|(weight, answer)| weight * answer)
            .sum();
        row.mass = if stiffness > 0.0 {
            1.0 / stiffness
        } else {
            0.0
        };
        let approach = approach.dot(row.normal);
        let bounce = (contact.surface.restitution, approach);
        row.target = self.law.target(hit, self.dt, Some(bounce));
        Some(row)
    }
}
