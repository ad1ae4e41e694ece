//! Linkages that touch nothing: moved by themselves, in double precision.

use std::collections::BTreeMap;

use super::linkage::Linkage;
use super::row::Known;
use super::{Ground, LinkLaw, March};
use crate::body::{Bodies, Motion};
use crate::integrate;
use crate::joint::rows::Role;
use crate::space::{Linear, Space};

/// Difference of turns beyond which rows are made again, rad.
const BENT: f64 = 0.005;
/// A linkage that touches nothing turns by so much in a stride, rad, as long as there are enough.
const STRIDE: f64 = 0.4;
const MOST_STRIDES: f64 = 8.0;
/// Strides of a net at least.
const NET_STRIDES: f64 = 4.0;
/// Times the energy of unhindered motion that joints may leave: they make none, but closing a gap
/// takes some.
const MOST_GAIN: f64 = 1.1;
/// Part of a gap that is made up for in a stride after that.
const CATCH_UP: f64 = 0.2;
/// Newton steps in a stride at most.
const MOST_NEWTON: u32 = 2;

impl<S: Space> Linkage<S> {
    /// Moves a linkage that touches nothing over a step, in double precision.
    ///
    /// Coordinates bend, so a linkage that turns fast takes several short steps.
    pub(super) fn march(
        &mut self,
        ground: &Ground<'_, S>,
        known: &mut BTreeMap<u32, Vec<Known>>,
        options: &March<S>,
    ) {
        let fastest = self.motion.iter().map(|m| m.spin.length());
        let fastest = fastest.fold(0.0, f64::max);
        // Sweeps reach further in many short strides than many sweeps do in a long one.
        let least = if self.factors.is_some() {
            1.0
        } else {
            NET_STRIDES
        };
        let strides = (options.dt * fastest / STRIDE)
            .ceil()
            .clamp(least, MOST_STRIDES);
        let h = options.dt / strides;
        let law = LinkLaw { h, ..*ground.law };
        for stride in 0..strides as u32 {
            if stride > 0 {
                self.remember(known);
            }
            self.aim_rows(ground.bodies, ground.joints, &law, known);
            if self.factors.is_none() {
                self.forget_forces();
            }
            self.stride(ground, h, options);
        }
    }

    /// Sweeps that start from known forces and do not get far make energy; from none they lose
    /// some.
    pub(super) fn forget_forces(&mut self) {
        for row in &mut self.rows[..self.locks] {
            row.force = 0.0;
        }
        self.part = 0.0;
    }

    pub(super) fn stride(&mut self, ground: &Ground<'_, S>, h: f64, options: &March<S>) {
        let bodies = ground.bodies;
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, motion) = (body as usize, &self.motion[k]);
            self.x[k] = Motion {
                linear: motion.linear * h,
                spin: motion.spin * h,
            };
            self.aim[k] = self.x[k];
            if bodies.is_dynamic(body) {
                let push = integrate::acceleration(bodies, body, options.gravity, options.time);
                let (linear, angular) = bodies.damping[body];
                self.aim[k] = Motion {
                    linear: (motion.linear + push.linear * h) * (h / (1.0 + h * linear)),
                    spin: (motion.spin + push.spin * h) * (h / (1.0 + h * angular)),
                };
            }
        }
        let is_exact = self.factors.is_some() && self.rows.len() == self.locks;
        for _ in 0..MOST_NEWTON {
            self.linearise(ground, h);
            for k in 0..self.bodies.len() {
                if bodies.is_dynamic(self.bodies[k] as usize) {
                    self.pushed[k] = self.target(ground, k, &self.aim[k]);
                } else {
                    self.pushed[k] = self.x[k];
                }
            }
            std::mem::swap(&mut self.x, &mut self.pushed);
            for row in &self.rows {
                row.push(row.force, &mut self.x);
            }
            let rounds = match (&self.factors, is_exact) {
                (Some(_), true) => 1,
                (Some(_), false) => options.rounds,
                (None, _) => options.rounds.div_ceil(NET_STRIDES as u32),
            };
            for _ in 0..rounds {
                self.solve();
            }
            if self.bends() < BENT || self.factors.is_none() {
                break;
            }
        }
        let most = MOST_GAIN * self.energy(bodies, &self.aim);
        if self.is_passive() && self.energy(bodies, &self.x) > most {
            self.project(ground, h);
        }
        self.arrive(bodies, h);
    }

    /// Whether nothing drives it.
    fn is_passive(&self) -> bool {
        let mut roles = self.joints.iter().flat_map(|joint| &joint.roles);
        roles.all(|(_, role)| match *role {
            Role::Lock | Role::Limit(..) => true,
            Role::Motor(speed, _) => speed == 0.0,
            Role::Spring(_) => false,
        })
    }

    /// Kinetic energy of displacements, times h², J·s².
    pub(super) fn energy(&self, bodies: &Bodies<S>, x: &[Motion<S>]) -> f64 {
        let all = self.bodies.iter().zip(x);
        all.map(|(&body, x)| bodies.kinetic_energy_at(body as usize, x))
            .sum()
    }

    /// Takes off the aims what the joints do not allow, as they are at the start of the stride.
    ///
    /// Joints only take energy. Where Newton's method has made some, a chain has snapped taut too
    /// hard for it; this never does, and what it leaves of gaps is made up for later.
    pub(super) fn project(&mut self, ground: &Ground<'_, S>, h: f64) {
        self.forget_forces();
        self.x.fill(Motion::default());
        self.linearise(ground, h);
        for row in &mut self.rows {
            row.missing *= CATCH_UP;
        }
        self.x.copy_from_slice(&self.aim);
        self.solve();
    }

    /// Takes displacements for good.
    pub(super) fn arrive(&mut self, bodies: &Bodies<S>, h: f64) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let x = self.x[k];
            let before = self.pose[k].rotation;
            let after = S::turn(before, x.spin);
            self.pose[k].position += x.linear;
            self.pose[k].rotation = after;
            if bodies.is_dynamic(body as usize) {
                let spin = x.spin * (1.0 / h);
                self.motion[k] = Motion {
                    linear: x.linear * (1.0 / h),
                    spin: bodies.carried_spin(body as usize, (before, after), spin),
                };
            }
        }
    }
}
