//! The balance of one body over a step, from its state before and after alone.
//!
//! With gravity g and the forces F from outside, and r from the centre of mass to where F acts, the
//! work over the step is known from the two ends of the path alone where forces are constant:
//!
//! $$ W = m\,g\cdot\Delta x + \sum F\cdot\Delta p , \qquad p = x + r , $$
//!
//! and the impulse is $h\,(m g + \sum F)$. So free flight is judged exactly, whatever path the
//! strategy thinks it took. What depends on the path (a torque, a force that grows, damping) is
//! integrated over the cubic that has the two states at its ends:
//!
//! $$ \int_0^h f\,dt \approx \tfrac h2 (f_0 + f_1) + \tfrac{h^2}{12} (\dot f_0 - \dot f_1) , $$
//!
//! exact for constant acceleration and wrong by h⁵/720 of the fourth derivative otherwise.

use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, BodyState, Kind, Motion, Push};

/// A step between two states.
#[derive(Clone, Copy)]
pub(super) struct Span<'a, S: Space> {
    /// After it, with the forces that acted in it.
    pub(super) bodies: &'a Bodies<S>,
    pub(super) before: &'a BodyState<S>,
    /// m/s².
    pub(super) gravity: S::Vector,
    /// At the start, s.
    pub(super) time: f64,
    /// Its length, s.
    pub(super) dt: f64,
}

/// What a body gained and lost over a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance<S: Space> {
    /// Kinetic energy before and after, J.
    pub(super) kinetic: [f64; 2],
    /// Potential energy that was gained, J.
    pub(super) raised: f64,
    /// Work of forces from outside but gravity, J.
    pub(super) given: f64,
    /// Energy that damping took, J.
    pub(super) damped: f64,
    /// Momentum that was gained beyond the impulse of forces, N·s.
    pub(super) momentum: S::Vector,
    /// Angular momentum about the centre of mass, likewise, N·m·s.
    pub(super) spin: S::Spin,
    /// Momentum that a step of the forces gives, with what the body had, N·s.
    pub(super) momentum_scale: f64,
    /// The same of angular momentum, N·m·s.
    pub(super) spin_scale: f64,
    /// What can't be told from rounding, J.
    pub(super) round_off: f64,
    /// How far it went and turned beyond what its velocities explain, m.
    pub(super) displaced: f64,
}

impl<S: Space> Default for Balance<S> {
    fn default() -> Self {
        Self {
            kinetic: [0.0; 2],
            raised: 0.0,
            given: 0.0,
            damped: 0.0,
            momentum: S::Vector::default(),
            spin: S::Spin::default(),
            momentum_scale: 0.0,
            spin_scale: 0.0,
            round_off: 0.0,
            displaced: 0.0,
        }
    }
}

impl<S: Space> Balance<S> {
    /// Energy that was gained beyond the work of forces and damping, J; negative where it was lost.
    pub(super) fn energy(&self) -> f64 {
        (self.kinetic[1] - self.kinetic[0]) + self.raised - self.given + self.damped
    }
}

/// Roundings that a balance of numbers of about one size may add up to.
const ROUNDINGS: f64 = 16.0 * f64::EPSILON;

/// ∫f dt of the cubic with these values and rates at its ends.
fn integral<V: Linear>([f0, f1]: [V; 2], [rate0, rate1]: [V; 2], h: f64) -> V {
    (f0 + f1) * (0.5 * h) + (rate0 - rate1) * (h * h / 12.0)
}

impl<S: Space> Span<'_, S> {
    /// How far the centre of mass went, m.
    pub(super) fn way(&self, k: usize) -> S::Vector {
        self.bodies.position[k] - self.before.position[k]
    }

    /// Motion before and after.
    pub(super) fn motions(&self, k: usize) -> [Motion<S>; 2] {
        [self.before.motion[k], self.bodies.motion[k]]
    }

    /// ∫ω dt over the step, rad.
    pub(super) fn turn(&self, k: usize) -> S::Spin {
        let [spin0, spin1] = self.motions(k).map(|motion| motion.spin);
        let middle = (spin0 + spin1) * (0.5 * self.dt);
        let least = S::turn_between(self.before.rotation[k], self.bodies.rotation[k]);
        let turned = whole_turn::<S>(least, middle);
        // Magnus' second term: a rotation vector is not the integral of a spin that turns.
        let [a, b] = [spin0, spin1].map(|spin| glamx::DVec3::from_array(spin.to_array3()));
        let bent = a.cross(b) * (self.dt * self.dt / 12.0);
        (0..S::SPIN_DIM).fold(turned, |turn, axis| {
            let is_solid = S::SPIN_DIM == 3;
            let more = if is_solid { bent[axis] } else { 0.0 };
            turn.with_component(axis, turn.component(axis) + more)
        })
    }

    /// Impulse of gravity, the program's forces, standing ones and damping on a body, N·s.
    pub(super) fn impulse(&self, k: usize) -> S::Vector {
        let (bodies, h) = (self.bodies, self.dt);
        let mass = bodies.mass(k);
        let mut impulse = self.gravity * (mass * h) + bodies.load[k].0 * h;
        for push in &bodies.pushes[k] {
            impulse += (push.force + push.rate * (self.time + 0.5 * h)) * h;
        }
        let damping = bodies.damping[k].0;
        if damping > 0.0 {
            impulse -= self.way(k) * (damping * mass);
        }
        impulse
    }

    /// Sizes of the impulses of forces on a body, N·s.
    fn forced(&self, k: usize) -> f64 {
        let (bodies, h) = (self.bodies, self.dt);
        let pushed = |sum: f64, push: &Push<S>| {
            sum + (push.force + push.rate * (self.time + 0.5 * h)).length() * h
        };
        let own = (bodies.mass(k) * self.gravity.length() + bodies.load[k].0.length()) * h;
        bodies.pushes[k].iter().fold(own, pushed)
    }

    /// The balance of a body that contacts can move.
    pub(super) fn balance(&self, k: usize) -> Balance<S> {
        let bodies = self.bodies;
        let [before, after] = self.motions(k);
        let mass = bodies.mass(k);
        let way = self.way(k);
        let mut sum = Balance {
            raised: -mass * self.gravity.dot(way),
            momentum: (after.linear - before.linear) * mass - self.impulse(k),
            ..Balance::default()
        };
        let speeds = [before.linear, after.linear].map(|v| v.dot(v));
        sum.kinetic = speeds.map(|square| 0.5 * mass * square);
        sum.momentum_scale = mass * speeds[0].max(speeds[1]).sqrt() + self.forced(k);
        // A place can't be told closer than the numbers for it are apart.
        let place = bodies.position[k].length() + way.length();
        sum.round_off = ROUNDINGS * mass * self.gravity.length() * place;
        let mut angular = [S::Spin::default(); 2];
        if bodies.kind[k] == Kind::Rigid {
            angular = self.angular(k, &mut sum);
        }
        sum.displaced = self.displaced(k);
        self.load(k, &mut sum);
        if bodies.damping[k] != (0.0, 0.0) {
            self.damp(k, angular, &mut sum);
        }
        sum.round_off += ROUNDINGS * (sum.kinetic[0] + sum.kinetic[1] + sum.given.abs());
        sum
    }

    /// How far a body went and turned beyond what its velocities explain, m: a body that had one
    /// velocity until some moment and the other from then on ends on the line between what either
    /// gives, and any course between the two within the ball around that line.
    fn displaced(&self, k: usize) -> f64 {
        let [before, after] = self.motions(k);
        let beyond = beyond(self.way(k), [before.linear, after.linear], self.dt);
        let radius = self.bodies.size(k);
        let turns = before.spin != S::Spin::default() || after.spin != S::Spin::default();
        let is_turned = self.before.rotation[k] != self.bodies.rotation[k];
        if !(turns || is_turned) || self.bodies.kind[k] != Kind::Rigid {
            return beyond;
        }
        beyond + radius * self::beyond(self.turn(k), [before.spin, after.spin], self.dt)
    }

    /// Angular momentum before and after; adds energy and momentum of rotation.
    fn angular(&self, k: usize, sum: &mut Balance<S>) -> [S::Spin; 2] {
        let inertia = &self.bodies.inertial[k].inertia;
        let turned = [self.before.rotation[k], self.bodies.rotation[k]];
        let motions = self.motions(k);
        let mut momentum = [S::Spin::default(); 2];
        for end in 0..2 {
            let spin = motions[end].spin;
            if spin == S::Spin::default() {
                continue;
            }
            let own = S::unturn_spin(turned[end], spin);
            let carried = S::apply_inertia(inertia, own);
            sum.kinetic[end] += 0.5 * carried.dot(own);
            momentum[end] = S::turn_spin(turned[end], carried);
        }
        sum.spin = momentum[1] - momentum[0];
        sum.spin_scale = momentum[0].length().max(momentum[1].length());
        momentum
    }

    /// Takes off the work and the impulse of the program's forces and of standing ones.
    fn load(&self, k: usize, sum: &mut Balance<S>) {
        let bodies = self.bodies;
        let h = self.dt;
        let (force, torque) = bodies.load[k];
        sum.given += force.dot(self.way(k));
        if torque != S::Spin::default() {
            sum.given += torque.dot(self.turn(k));
            sum.spin -= torque * h;
            sum.spin_scale += torque.length() * h;
        }
        for push in &bodies.pushes[k] {
            let force = push.force + push.rate * self.time;
            let arm = push.point - bodies.center[k];
            let turned = [self.before.rotation[k], bodies.rotation[k]];
            let arms = turned.map(|rotation| S::rotate(rotation, arm));
            let [before, after] = self.motions(k);
            let rates = [
                S::spin_cross(before.spin, arms[0]),
                S::spin_cross(after.spin, arms[1]),
            ];
            let went = self.way(k) + (arms[1] - arms[0]);
            let speeds = [before.linear + rates[0], after.linear + rates[1]];
            let gone = integral([S::Vector::default(), went], speeds, h);
            sum.given += force.dot(went) + push.rate.dot(went * h - gone);
            let ends = [force, force + push.rate * h];
            let torques = [S::cross(arms[0], ends[0]), S::cross(arms[1], ends[1])];
            let change = |k: usize| S::cross(rates[k], ends[k]) + S::cross(arms[k], push.rate);
            sum.spin -= integral(torques, [change(0), change(1)], h);
            sum.spin_scale += (torques[0].length() + torques[1].length()) * (0.5 * h);
        }
    }

    /// Takes off what damping does: the force −c m v and the torque −c L.
    fn damp(&self, k: usize, angular: [S::Spin; 2], sum: &mut Balance<S>) {
        let h = self.dt;
        let mass = self.bodies.mass(k);
        let (linear, turning) = self.bodies.damping[k];
        let [v0, v1] = self.motions(k).map(|motion| motion.linear);
        let way = self.way(k);
        // ∫v² of the parabola for v that has these ends and covers the way.
        let bulge = way * (1.0 / h) - (v0 + v1) * 0.5;
        let square = (v0.dot(v0) + v0.dot(v1) + v1.dot(v1)) / 3.0
            + bulge.dot(v0 + v1)
            + 1.2 * bulge.dot(bulge);
        sum.damped += linear * mass * h * square;
        if turning == 0.0 {
            return;
        }
        let [l0, l1] = angular;
        let decay = [l0 * -turning, l1 * -turning];
        sum.spin += integral(angular, decay, h) * turning;
        let motions = self.motions(k);
        let twice = [l0.dot(motions[0].spin), l1.dot(motions[1].spin)];
        let about = 0.5 * h * (twice[0] + twice[1]) + h * h / 6.0 * turning * (twice[1] - twice[0]);
        sum.damped += turning * about;
    }
}

/// How far a way is outside the ball whose diameter is what two speeds give in h seconds.
fn beyond<V: Linear>(way: V, [before, after]: [V; 2], h: f64) -> f64 {
    let off = (way - (before + after) * (0.5 * h)).length();
    (off - (after - before).length() * (0.5 * h)).max(0.0)
}

/// Of the turns that lead to the same orientation, the one nearest to what the spin says.
fn whole_turn<S: Space>(least: S::Spin, expected: S::Spin) -> S::Spin {
    let angle = least.length();
    if angle <= 0.0 || expected.length() < std::f64::consts::FRAC_PI_2 {
        return least;
    }
    let axis = least * (1.0 / angle);
    let rounds = ((expected.dot(axis) - angle) / std::f64::consts::TAU).round();
    axis * (angle + std::f64::consts::TAU * rounds)
}
