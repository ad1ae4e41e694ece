//! Geometric stiffness: what known joint forces add to the resistance of bodies.

use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::joint::rows::Row;

/// Joints that pull at a body whose pull is looked at closely.
const MOST_ARMS: usize = 6;

/// What forces add to a body's resistance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stiffer<S: Space> {
    /// N/m.
    pub(super) linear: f64,
    /// Arms that are pulled at, m, and N·m.
    pub(super) arms: [(S::Vector, f64); MOST_ARMS],
    pub(super) count: usize,
    /// Of the farthest point by which it hangs on something fixed, its distance squared, m².
    pub(super) held: f64,
}

impl<S: Space> Stiffer<S> {
    pub(super) fn clear(&mut self) {
        self.linear = 0.0;
        self.count = 0;
        self.held = 0.0;
    }

    pub(super) fn add(&mut self, arm: S::Vector, s: f64) {
        if s > 0.0 && self.count < MOST_ARMS {
            self.arms[self.count] = (arm, s);
            self.count += 1;
        }
    }
}

/// What a joint's known forces pull at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pull<S: Space> {
    pub(super) force: S::Vector,
    pub(super) arms: [S::Vector; 2],
    /// Tension over length, N/m.
    pub(super) tension: f64,
}

impl<S: Space> Pull<S> {
    pub(super) fn add(&mut self, row: &Row<S>, force: f64) {
        if row.n != S::Vector::default() {
            self.force += row.n * force;
            self.arms = [row.arm_a, row.arm_b];
        }
        if row.length > 0.0 {
            // Tension is negative.
            self.tension += (-force).max(0.0) / row.length;
        }
    }

    /// Adds what it does to its bodies' resistance.
    pub(super) fn stiffen(&self, [a, b]: [usize; 2], part: f64, stiffer: &mut [Stiffer<S>]) {
        for (k, arm, force) in [
            (a, self.arms[0], -self.force),
            (b, self.arms[1], self.force),
        ] {
            stiffer[k].add(arm, part * force.dot(arm).max(0.0));
            // In full at both ends, so that each may move alone.
            stiffer[k].linear += 2.0 * part * self.tension;
        }
    }
}
