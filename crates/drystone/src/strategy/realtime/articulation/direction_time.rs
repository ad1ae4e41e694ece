//! The time within a step at which joint directions are taken.

use super::LinkLaw;
use super::geometric_stiffness::{Pull, Stiffer};
use super::linkage::Linkage;
use super::row::write;
use super::warm_start::WarmStartRows;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
use crate::model::joint::rows::Poses;

/// Where in a step directions are taken.
pub(super) const MOST_PART: f64 = 0.55;
/// (ω h)² up to which directions are those at the start, which damp nothing, and from which on they
/// are the latest: with those at the start, what swings faster than 2/h grows.
pub(super) const CALM_SWING: f64 = 0.1;
pub(super) const WILD_SWING: f64 = 1.0;
/// A later part by less than this is not worth solving again.
const NOTICEABLE_PART: f64 = 0.05;
impl<S: Space> Linkage<S> {
    /// Sets what rows are after from the present poses and known forces.
    pub(super) fn aim_rows(
        &mut self,
        bodies: &Bodies<S>,
        law: &LinkLaw,
        known: &mut WarmStartRows,
    ) {
        self.taut.iter_mut().for_each(Stiffer::clear);
        for k in 0..self.joints.len() {
            let joint = &self.joints[k];
            let known = known.of_mut(joint.joint);
            let (rows, forces, pose) = (&mut self.rows, &mut self.forces, &self.pose);
            let ends = joint.ends.map(|k| &pose[k as usize]);
            let now = Poses {
                end: ends,
                within: ends,
            };
            let mut pull = Pull::default();
            joint.gauge.for_each_row(&joint.roles, &now, |k, row| {
                let (at, role) = (joint.at[k] as usize, &joint.roles[k].1);
                forces[at] = write(&mut rows[at], role, row.value, law, &mut known[k]);
                pull.add(&row, forces[at]);
            });
            let ends = joint.ends.map(|k| k as usize);
            pull.stiffen(ends, 1.0, &mut self.taut);
            self.note_held(bodies, k, pull.arms);
        }
        self.part = self.part_for(bodies, law.h);
        self.largest = self.largest_force();
    }

    /// Where in a step directions are taken, from how fast bodies swing under the loads that pull
    /// at them.
    fn part_for(&self, bodies: &Bodies<S>, h: f64) -> f64 {
        let beyond = h * h * self.fastest_swing(bodies) - CALM_SWING;
        MOST_PART * (beyond / (WILD_SWING - CALM_SWING)).clamp(0.0, 1.0)
    }

    /// ω² of the body that swings fastest under the loads that pull at it (`taut`), 1/s².
    pub(super) fn fastest_swing(&self, bodies: &Bodies<S>) -> f64 {
        let mut fastest = 0.0_f64;
        for (&body, taut) in self.bodies.iter().zip(&self.taut) {
            let body = body as usize;
            if bodies.is_dynamic(body) {
                let radius = bodies.radius[body];
                // What hangs on something fixed turns about that point.
                let square = radius * radius + taut.held;
                let inertia = bodies.mass(body) * square;
                let turning: f64 = taut.arms[..taut.count].iter().map(|arm| arm.1).sum();
                let swings = turning / inertia + taut.linear / bodies.mass(body);
                fastest = fastest.max(swings);
            }
        }
        fastest
    }

    /// Notes which bodies hang on something that nothing moves, and how far from their centres.
    fn note_held(&mut self, bodies: &Bodies<S>, joint: usize, arms: [S::Vector; 2]) {
        let [a, b] = self.joints[joint].ends.map(|k| k as usize);
        for (own, other, arm) in [(a, b, arms[0]), (b, a, arms[1])] {
            if !bodies.is_dynamic(self.bodies[other] as usize) {
                let held = &mut self.taut[own].held;
                *held = held.max(arm.dot(arm));
            }
        }
    }

    pub(super) fn largest_force(&self) -> f64 {
        let forces = self.forces.iter().map(|force| force.abs());
        forces.fold(0.0, f64::max)
    }

    /// Whether forces up to `largest` may ask for directions later in the step.
    pub(super) fn may_tighten(&self, largest: f64) -> bool {
        self.factors.is_some() && self.part < MOST_PART && largest > 2.0 * self.largest
    }

    /// Takes directions later in the step if the forces that have just been found ask for it; whether
    /// they do. A chain that comes taut carries a thousand times what it did a step before: with the
    /// directions for that, it would make energy out of nothing.
    pub(super) fn tighten(&mut self, bodies: &Bodies<S>, h: f64) -> bool {
        let largest = self.largest_force();
        if !self.may_tighten(largest) {
            return false;
        }
        self.largest = largest;
        self.taut.iter_mut().for_each(Stiffer::clear);
        for k in 0..self.joints.len() {
            let joint = &self.joints[k];
            let ends = joint.ends.map(|k| &self.pose[k as usize]);
            let now = Poses {
                end: ends,
                within: ends,
            };
            let mut pull = Pull::default();
            joint.gauge.for_each_row(&joint.roles, &now, |k, row| {
                pull.add(&row, self.forces[joint.at[k] as usize]);
            });
            pull.stiffen(joint.ends.map(|k| k as usize), 1.0, &mut self.taut);
            self.note_held(bodies, k, pull.arms);
        }
        let part = self.part_for(bodies, h);
        let is_later = part > self.part + NOTICEABLE_PART;
        self.part = self.part.max(part);
        is_later
    }
}
