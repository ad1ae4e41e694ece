//! Free articulations: linkages that touch nothing, moved in double precision.

use super::linkage::{BENT, Linkage};
use super::warm_start::WarmStartRows;
use super::{Ground, LinkLaw, March};
use crate::dynamics::integrate;
use crate::dynamics::integrate::Damped;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};
use crate::strategy::realtime::articulation::direction_time::CALM_SWING;

/// A linkage that touches nothing turns by so much in a stride, rad, as long as there are enough:
/// energy then oscillates by a thousandth. Nets turn by more.
const STRIDE: f64 = 0.04;
const NET_STRIDE: f64 = 0.4;
/// Strides at most: of a large linkage, and of one body, which share what a step may take.
const MOST_STRIDES: f64 = 8.0;
const MOST_OF_SMALL: f64 = 32.0;
const BODIES_AND_STRIDES: f64 = 256.0;
/// Strides of a net at least.
const NET_STRIDES: f64 = 4.0;
/// Strides of a linkage of few bodies at least, unless it turns by less than this in a step, rad.
const LEAST_OF_FEW: f64 = 4.0;
const FEW_BODIES: usize = 8;
const STILL: f64 = 1e-3;
/// A linkage that turns by less in a step is about at rest, rad.
const MOVING: f64 = 0.02;
/// Newton steps in a stride at most, besides one where it comes taut.
const MOST_NEWTON: u32 = 2;

impl<S: Space> Linkage<S> {
    /// Moves a linkage that touches nothing over a step, in double precision.
    ///
    /// Coordinates bend, so a linkage that turns fast takes several short steps.
    pub(super) fn march(
        &mut self,
        ground: &Ground<'_, S>,
        known: &mut WarmStartRows,
        options: &March<S>,
    ) {
        if let Some(mut joint_net) = self.joint_net.take() {
            self.joint_net(&mut joint_net, ground, known, options);
            self.joint_net = Some(joint_net);
            return;
        }
        let strides = self.strides(ground, known, options.dt);
        let h = options.dt / strides;
        let law = LinkLaw { h, ..*ground.law };
        self.take_half_kicks(h, -1.0);
        self.start_afresh(ground.bodies);
        let is_first = self.is_fresh;
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
        self.extrapolate(is_first && strides == 1.0);
        self.take_half_kicks(h, 1.0);
    }

    /// How many strides a step takes: what turns fast bends, and what swings fast under its load
    /// keeps its energy only in short ones. At rest one will do, whatever the load.
    fn strides(&mut self, ground: &Ground<'_, S>, known: &mut WarmStartRows, dt: f64) -> f64 {
        let fastest = self.motion.iter().map(|m| m.spin.length());
        let turn = dt * fastest.fold(0.0, f64::max);
        // Sweeps reach further in many short strides than many sweeps do in a long one.
        let (mut least, mut stride) = (NET_STRIDES, NET_STRIDE);
        let most = (BODIES_AND_STRIDES / self.bodies.len() as f64).floor();
        let most = most.clamp(MOST_STRIDES, MOST_OF_SMALL);
        if self.factors.is_some() {
            (least, stride) = (1.0, STRIDE);
            if turn > MOVING {
                self.aim_rows(
                    ground.bodies,
                    &LinkLaw {
                        h: dt,
                        ..*ground.law
                    },
                    known,
                );
                let swing = dt * self.fastest_swing(ground.bodies).sqrt();
                least = (swing / CALM_SWING.sqrt()).ceil().clamp(1.0, most);
            }
        }
        if self.factors.is_none() {
            return (turn / stride).ceil().clamp(least, most);
        }
        // Energy drifts where strides change their length, so they seldom do.
        if turn > STILL && self.bodies.len() <= FEW_BODIES {
            least = least.max(LEAST_OF_FEW);
        }
        let strides = (turn / stride).ceil().clamp(least, most) as u32;
        f64::from(strides.next_power_of_two()).min(most)
    }

    /// Sweeps that start from known forces and do not get far make energy; from none they lose
    /// some.
    pub(super) fn forget_forces(&mut self) {
        self.forces[..self.locks].fill(0.0);
        self.part = 0.0;
    }

    pub(super) fn stride(&mut self, ground: &Ground<'_, S>, h: f64, options: &March<S>) {
        let bodies = ground.bodies;
        self.aim_freely(ground, h, options);
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
        if self.part == 0.0 && self.turns_by(MOVING) {
            self.close_up(ground, h, options);
        }
        self.arrive(bodies, h);
    }

    /// Says where bodies would go without joints, and starts them where their motion takes them.
    fn aim_freely(&mut self, ground: &Ground<'_, S>, h: f64, options: &March<S>) {
        let bodies = ground.bodies;
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, motion) = (body as usize, self.motion[k]);
            let rotate_freely =
                integrate::tumbled(bodies, body, self.pose[k].rotation, motion.spin, h);
            self.rotate_freely[k] = rotate_freely;
            self.x[k] = Motion {
                linear: motion.linear * h,
                spin: motion.spin * h + rotate_freely,
            };
            self.aim[k] = self.x[k];
            self.start[k] = motion;
            if bodies.is_dynamic(body) {
                let push = integrate::acceleration(bodies, body, options.gravity, options.time);
                let (linear, angular) = bodies.damping[body];
                let left = [linear, angular].map(|damping| Damped::new(damping, h).left);
                self.aim[k] = Motion {
                    linear: (motion.linear * left[0] + push.linear * h) * h,
                    spin: (motion.spin * left[1] + push.spin * h) * h + rotate_freely,
                };
            }
        }
    }

    /// Takes displacements for good.
    pub(super) fn arrive(&mut self, bodies: &Bodies<S>, h: f64) {
        for k in 0..self.bodies.len() {
            let (body, x) = (self.bodies[k] as usize, self.x[k]);
            let start = (self.pose[k], self.motion[k]);
            let mut x = x;
            let mut last = Motion {
                spin: x.spin - self.rotate_freely[k],
                ..x
            };
            let gain = gained::<S>(&self.start[k], &last, h);
            self.older[k] = self.gain[k];
            self.gain[k] = gain;
            if self.is_fresh {
                for x in [&mut x, &mut last] {
                    x.linear -= gain.linear * (0.5 * h * h);
                    x.spin -= gain.spin * (0.5 * h * h);
                }
            }
            (self.pose[k], self.motion[k]) = arrived(bodies, body, start, (&x, &last), h);
        }
        self.is_fresh = false;
    }
}

/// The acceleration of a body that starts with a motion and moves by `x` in h seconds.
fn gained<S: Space>(start: &Motion<S>, x: &Motion<S>, h: f64) -> Motion<S> {
    let per_second = 1.0 / h;
    Motion {
        linear: (x.linear * per_second - start.linear) * per_second,
        spin: (x.spin * per_second - start.spin) * per_second,
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
