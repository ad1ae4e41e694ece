//! Half kicks and free rotation of the bodies of linkages that touch nothing.
//!
//! With directions at the start of a stride, joints are solved as SHAKE does it, which is Störmer's
//! scheme: its velocities are half a stride before its poses ([`crate::strategy::realtime::half_kicks`]). The
//! world's velocities are those half a stride later; the acceleration there is extrapolated from the
//! last two strides.
//!
//! A body that spins fast does not turn by $h\omega$, and a torque turns it elsewhere than by
//! $h^2 I^{-1}\tau$: its angular momentum takes $h\tau$, and then it turns freely for h seconds
//! ([`crate::math::algebra::free_rotation`]). So a gyroscope precesses, and keeps its spin.

use super::linkage::Linkage;
use super::{Ground, March};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};
use crate::strategy::realtime::body_columns::BodyColumns;

/// Corrections of a stride at most.
const MOST_CORRECTIONS: u32 = 8;
/// Missing part of a joint's coordinate up to which it is closed, m or rad.
const CLOSED: f64 = 1e-11;
/// Part of that which a correction leaves at most, or it is the last.
const GAINS: f64 = 0.7;
/// Part of the kinetic energy that rounding may make.
const MADE: f64 = 1e-9;
/// Part of the largest acceleration by which accelerations of two strides in a row may differ.
const SMOOTH: f64 = 0.5;

impl<S: Space> Linkage<S> {
    /// Takes over what bodies were accelerated by in the last step.
    pub(super) fn take_gains(&mut self, columns: &BodyColumns<S>) {
        self.is_fresh = self.joint_net.is_some();
        for (k, &body) in self.bodies.iter().enumerate() {
            let (gains, is_fresh) = columns.gains(body as usize);
            [self.kick[k], self.gain[k]] = gains;
            self.is_fresh |= is_fresh;
        }
    }

    /// Says what bodies were accelerated by.
    pub(crate) fn hand_gains(&self, columns: &mut BodyColumns<S>, moves: impl Fn(usize) -> bool) {
        for (k, &body) in self.bodies.iter().enumerate() {
            if moves(body as usize) {
                columns.set_gains(body as usize, [self.kick[k], self.gain[k]]);
            }
        }
    }

    /// Makes motions that were set from outside what joints allow: the first stride relies on it.
    /// Where loops say the same twice that may fail; then the linkage starts as if it had been on its
    /// way.
    pub(super) fn start_afresh(&mut self, bodies: &Bodies<S>) {
        if !self.is_fresh || self.factors.is_none() {
            return;
        }
        self.hold(bodies);
        self.x.copy_from_slice(&self.motion);
        self.close();
        if self.energy(bodies, &self.x) <= self.energy(bodies, &self.motion) * (1.0 + MADE) {
            self.motion.copy_from_slice(&self.x);
        } else {
            self.is_fresh = false;
            self.kick.fill(Motion::default());
        }
    }

    /// Kinetic energy at these motions, J.
    fn energy(&self, bodies: &Bodies<S>, motion: &[Motion<S>]) -> f64 {
        let dynamic = self.bodies.iter().zip(motion).zip(&self.pose);
        let dynamic = dynamic.filter(|((body, _), _)| bodies.is_dynamic(**body as usize));
        dynamic
            .map(|((&body, motion), pose)| {
                bodies.kinetic_energy_at(body as usize, pose.rotation, motion)
            })
            .sum()
    }

    /// Adds half kicks to motions, or takes them off.
    pub(super) fn take_half_kicks(&mut self, h: f64, sign: f64) {
        if self.is_fresh {
            return;
        }
        for (motion, kick) in self.motion.iter_mut().zip(&self.kick) {
            motion.linear += kick.linear * (0.5 * h * sign);
            motion.spin += kick.spin * (0.5 * h * sign);
        }
    }

    /// Says what bodies are accelerated by at the end of a step, if that is smooth. Of one that
    /// started afresh and made one stride, `knows_one`, the acceleration in it is all there is.
    pub(super) fn extrapolate(&mut self, knows_one: bool) {
        let (mut change, mut most) = (0.0_f64, 0.0_f64);
        for (now, older) in self.gain.iter().zip(&self.older) {
            change = change.max((now.linear - older.linear).length());
            most = most.max(now.linear.length());
        }
        let is_smooth = knows_one || change <= SMOOTH * most;
        for (k, kick) in self.kick.iter_mut().enumerate() {
            let (now, older) = (&self.gain[k], &self.older[k]);
            let older = if knows_one { now } else { older };
            let next = Motion::<S> {
                linear: now.linear * 2.0 - older.linear,
                spin: now.spin * 2.0 - older.spin,
            };
            *kick = if is_smooth { next } else { Motion::default() };
        }
    }

    /// Whether a body turns by more than this in the stride, rad.
    pub(super) fn turns_by(&self, angle: f64) -> bool {
        self.x.iter().any(|x| x.spin.length() > angle)
    }

    /// Closes joints between bodies that turn, by forces along the directions that there are: each
    /// correction gains the turn of a stride.
    pub(super) fn close_up(&mut self, ground: &Ground<'_, S>, h: f64, options: &March<S>) {
        self.plain.clear();
        let aims = self.aim.iter().zip(&self.rotate_freely);
        self.plain
            .extend(aims.map(|(aim, rotate_freely)| aim.spin - *rotate_freely));
        let rounds = if self.is_exact() { 1 } else { options.rounds };
        let mut open = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            self.turn_freely(ground, h);
            self.shape_rows();
            let left = self.worst_lock();
            if left > GAINS * open {
                // Loops that say the same twice ask for no more than this.
                if left > open {
                    self.x.copy_from_slice(&self.saved.0);
                    self.forces.copy_from_slice(&self.saved.1);
                }
                break;
            }
            if left < CLOSED {
                return;
            }
            open = left;
            self.saved.0.clone_from(&self.x);
            self.saved.1.clone_from(&self.forces);
            for _ in 0..rounds {
                self.solve();
            }
        }
        self.turn_freely(ground, h);
    }

    /// What the worst lock still has to move by, m or rad.
    fn worst_lock(&self) -> f64 {
        let rows = self.rows[..self.locks].iter();
        let missing = rows.map(|row| (row.missing + row.moved(&self.x)).abs());
        missing.fold(0.0, f64::max)
    }

    /// Turns bodies that spin fast by the momentum that forces along rows leave them.
    fn turn_freely(&mut self, ground: &Ground<'_, S>, h: f64) {
        self.pushed
            .iter_mut()
            .for_each(|push| push.spin = S::Spin::default());
        for (row, &force) in self.rows.iter().zip(&self.forces) {
            self.pushed[row.a as usize].spin -= row.j_a * force;
            self.pushed[row.b as usize].spin += row.j_b * force;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let body = body as usize;
            if !ground.bodies.is_dynamic(body) || self.rotate_freely[k] == S::Spin::default() {
                continue;
            }
            let rotation = self.pose[k].rotation;
            let inverse = ground.bodies.inertial[body].inv_inertia_at(rotation);
            let given = S::apply_inertia(&inverse, self.pushed[k].spin);
            let spin = self.plain[k] * (1.0 / h) + given * h;
            self.rotate_freely[k] = integrate::tumbled(ground.bodies, body, rotation, spin, h);
            self.x[k].spin = spin * h + self.rotate_freely[k];
        }
    }
}
