//! Linkages that touch nothing: moved by themselves, in double precision.

use super::linkage::{BENT, Linkage};
use super::warm_start::KnownRows;
use super::{Ground, LinkLaw, March};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};

/// A linkage that touches nothing turns by so much in a stride, rad, as long as there are enough.
const STRIDE: f64 = 0.4;
const MOST_STRIDES: f64 = 8.0;
/// Strides of a net at least.
const NET_STRIDES: f64 = 4.0;
/// Newton steps in a stride at most, besides one where it comes taut.
const MOST_NEWTON: u32 = 2;

impl<S: Space> Linkage<S> {
    /// Moves a linkage that touches nothing over a step, in double precision.
    ///
    /// Coordinates bend, so a linkage that turns fast takes several short steps.
    pub(super) fn march(
        &mut self,
        ground: &Ground<'_, S>,
        known: &mut KnownRows,
        options: &March<S>,
    ) {
        if let Some(mut weave) = self.weave.take() {
            self.weave(&mut weave, ground, known, options);
            self.weave = Some(weave);
            return;
        }
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
            self.aim_rows(ground.bodies, &law, known);
            if self.factors.is_none() {
                self.forget_forces();
            }
            self.stride(ground, h, options);
        }
    }

    /// Sweeps that start from known forces and do not get far make energy; from none they lose
    /// some.
    pub(super) fn forget_forces(&mut self) {
        self.forces[..self.locks].fill(0.0);
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
        let (mut left, mut was_tauter) = (MOST_NEWTON, false);
        loop {
            self.linearise(ground, h);
            for k in 0..self.bodies.len() {
                if bodies.is_dynamic(self.bodies[k] as usize) {
                    self.pushed[k] = self.target(ground, k, &self.aim[k]);
                } else {
                    self.pushed[k] = self.x[k];
                }
            }
            std::mem::swap(&mut self.x, &mut self.pushed);
            self.push_known();
            let rounds = match (&self.factors, self.is_exact()) {
                (Some(_), true) => 1,
                (Some(_), false) => options.rounds,
                (None, _) => options.rounds.div_ceil(NET_STRIDES as u32),
            };
            for _ in 0..rounds {
                self.solve();
            }
            left -= 1;
            let is_tauter = self.tighten(bodies, h);
            if is_tauter && !std::mem::replace(&mut was_tauter, true) {
                left += 1;
            }
            let is_done = self.bends() < BENT || self.factors.is_none();
            if left == 0 || is_done && !is_tauter {
                break;
            }
        }
        self.arrive(bodies, h);
    }

    /// Takes displacements for good.
    pub(super) fn arrive(&mut self, bodies: &Bodies<S>, h: f64) {
        for k in 0..self.bodies.len() {
            let (body, x) = (self.bodies[k] as usize, self.x[k]);
            let start = (self.pose[k], self.motion[k]);
            (self.pose[k], self.motion[k]) = arrived(bodies, body, start, (&x, &x), h);
        }
    }
}

/// Where a body is after a displacement x, the last h seconds of which are `last`, and how it moves.
pub(super) fn arrived<S: Space>(
    bodies: &Bodies<S>,
    body: usize,
    (start, motion): (Pose<S>, Motion<S>),
    (x, last): (&Motion<S>, &Motion<S>),
    h: f64,
) -> (Pose<S>, Motion<S>) {
    let pose = Pose {
        position: start.position + x.linear,
        rotation: S::turn(start.rotation, x.spin),
    };
    if !bodies.is_dynamic(body) {
        return (pose, motion);
    }
    let turn = (start.rotation, pose.rotation);
    let motion = Motion {
        linear: last.linear * (1.0 / h),
        spin: bodies.carried_spin(body, turn, last.spin * (1.0 / h)),
    };
    (pose, motion)
}
