//! Time stepping: forces to velocities, velocities to poses.
//!
//! Symplectic Euler: velocities first, $v^* = v + h M^{-1} f$, then (after contact) poses with
//! the **new** velocity, $x' = x + h v^+$.
//!
//! # Rotation
//!
//! A torque-free body keeps its angular momentum $L = R\,I\,R^T \omega$ while R turns, so its spin
//! changes: $I\dot\omega = -\omega\times I\omega$. Instead of adding that torque, which gains
//! energy without bound, the step keeps L itself, turns the body by a product of rotations
//! ([`crate::math::algebra::free_rotation`]) and ends with $\omega' = I(R')^{-1} L$. Angular momentum is exact, and energy
//! oscillates without drift. Bodies whose inertia is the same about every axis skip all of it.

use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Kind, Motion};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// Applies forces over a step: v\* of every body.
pub fn apply_forces<S: Space>(
    bodies: &Bodies<S>,
    gravity: S::Vector,
    (time, dt): (f64, f64),
    threads: u32,
) -> Vec<Motion<S>> {
    let mut free = bodies.motion.clone();
    let all = SharedSlice::new(&mut free);
    thread_pool::run_over(bodies.len(), threads as usize, |part| {
        for k in part.filter(|&k| bodies.is_dynamic(k)) {
            all.write(k, forced(bodies, k, gravity, (time, dt)));
        }
    });
    free
}

/// v\* of a body that forces move.
fn forced<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    gravity: S::Vector,
    (time, dt): (f64, f64),
) -> Motion<S> {
    let motion = bodies.motion[k];
    let inertial = &bodies.inertial[k];
    let (force, torque) = load(bodies, k, time);
    // Gravity accelerates free axes by itself; dividing by the mass again would round.
    let unlocked = inertial.inv_mass * inertial.mass;
    let push = gravity.scale(unlocked) + inertial.inv_mass.scale(force);
    // Damping implicitly: stable for any rate.
    let (linear_damping, angular_damping) = bodies.damping[k];
    let mut free = motion;
    free.linear = (motion.linear + push * dt) * (1.0 / (1.0 + dt * linear_damping));
    if bodies.kind[k] == Kind::Rigid {
        let twist = S::apply_inertia(&bodies.world_inv_inertia(k), torque);
        free.spin = (motion.spin + twist * dt) * (1.0 / (1.0 + dt * angular_damping));
    }
    free
}

/// What forces do to a body's motion in a second, damping apart.
#[must_use]
pub(crate) fn acceleration<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    gravity: S::Vector,
    time: f64,
) -> Motion<S> {
    let inertial = &bodies.inertial[k];
    let (force, torque) = load(bodies, k, time);
    let spin = if torque == S::Spin::default() {
        torque
    } else {
        S::apply_inertia(&bodies.world_inv_inertia(k), torque)
    };
    Motion {
        linear: gravity.scale(inertial.inv_mass * inertial.mass) + inertial.inv_mass.scale(force),
        spin,
    }
}

/// Where a body that touches nothing is h seconds later, and its motion then: exact for constant
/// forces, with damping too.
pub(crate) fn fly<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    (pose, motion): (Pose<S>, Motion<S>),
    acceleration: &Motion<S>,
    h: f64,
) -> (Pose<S>, Motion<S>) {
    let (linear, angular) = bodies.damping[k];
    let (straight, turning) = (Damped::new(linear, h), Damped::new(angular, h));
    let mut after = Motion {
        linear: motion.linear * straight.left + acceleration.linear * straight.reach,
        spin: motion.spin * turning.left + acceleration.spin * turning.reach,
    };
    let mut moved = Pose {
        position: pose.position
            + (motion.linear * straight.reach + acceleration.linear * straight.fall),
        ..pose
    };
    if bodies.kind[k] == Kind::Rigid {
        // What damping slows turns as far as it would without it in a shorter time.
        let time = turning.reach;
        let half = motion.spin + acceleration.spin * (turning.fall / time);
        let turn;
        (moved.rotation, turn) = turned_from(bodies, k, pose.rotation, half, time);
        if turns_freely(bodies, k) {
            let carried = (pose.rotation, moved.rotation);
            // What forces gave in the second half is given at the end.
            let late = after.spin - half * turning.left;
            after.spin = turn * turning.left + bodies.carried_spin(k, carried, late);
        }
    }
    (moved, after)
}

/// What linear damping leaves of motion in a step of h seconds: the solution of v' = a − c v.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Damped {
    /// Part of a velocity that is left: e^(−c h).
    pub(crate) left: f64,
    /// How far a velocity of 1 takes a body, and what an acceleration of 1 adds to a velocity, s.
    pub(crate) reach: f64,
    /// How far an acceleration of 1 takes a body, s².
    pub(crate) fall: f64,
}

impl Damped {
    pub(crate) fn new(damping: f64, h: f64) -> Self {
        let x = damping * h;
        if x == 0.0 {
            return Self {
                left: 1.0,
                reach: h,
                fall: 0.5 * h * h,
            };
        }
        let lost = -libm::expm1(-x);
        // Near 0 the difference would lose all digits.
        let fallen = if x < 1e-3 {
            0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x / 120.0))
        } else {
            (x - lost) / (x * x)
        };
        Self {
            left: 1.0 - lost,
            reach: h * (lost / x),
            fall: h * h * fallen,
        }
    }
}

/// Gives a body a new rotation and the spin with which it keeps its angular momentum.
pub(crate) fn set_rotation<S: Space>(bodies: &mut Bodies<S>, k: usize, rotation: S::Rotation) {
    let turn = (bodies.rotation[k], rotation);
    bodies.motion[k].spin = bodies.carried_spin(k, turn, bodies.motion[k].spin);
    bodies.rotation[k] = rotation;
}

/// Force and torque on a body: the user's for this step, and the standing pushes.
fn load<S: Space>(bodies: &Bodies<S>, k: usize, time: f64) -> (S::Vector, S::Spin) {
    let (mut force, mut torque) = bodies.load[k];
    for push in &bodies.pushes[k] {
        let now = push.force + push.rate * time;
        let arm = S::rotate(bodies.rotation[k], push.point - bodies.center[k]);
        force += now;
        torque += S::cross(arm, now);
    }
    (force, torque)
}

/// Gives scripted bodies the velocity that takes them where the script says in one step.
pub fn steer<S: Space>(bodies: &mut Bodies<S>, time: f64, dt: f64) {
    for k in 0..bodies.len() {
        if let Kind::Kinematic(script) = &bodies.kind[k] {
            let now = script.pose(&bodies.start[k], time);
            let then = script.pose(&bodies.start[k], time + dt);
            bodies.motion[k] = Motion {
                linear: (then.position - now.position) * (1.0 / dt),
                spin: S::turn_between(now.rotation, then.rotation) * (1.0 / dt),
            };
        }
    }
}

/// Moves every body by its new velocity over a step that ends at `end` seconds.
pub fn advance<S: Space>(bodies: &mut Bodies<S>, velocities: &[Motion<S>], end: f64, dt: f64) {
    for (k, &motion) in velocities.iter().enumerate().take(bodies.len()) {
        match &bodies.kind[k] {
            Kind::Fixed => {}
            Kind::Kinematic(script) => {
                let Pose { position, rotation } = script.pose(&bodies.start[k], end);
                bodies.position[k] = position;
                bodies.rotation[k] = rotation;
            }
            Kind::Particle => {
                bodies.motion[k] = motion;
                bodies.position[k] += motion.linear * dt;
            }
            Kind::Rigid => {
                bodies.motion[k] = motion;
                bodies.position[k] += motion.linear * dt;
                turn(bodies, k, dt);
            }
        }
    }
}

fn turn<S: Space>(bodies: &mut Bodies<S>, k: usize, dt: f64) {
    (bodies.rotation[k], bodies.motion[k].spin) = turned(bodies, k, bodies.motion[k].spin, dt);
}

/// Rotation and spin of a body that turns at `spin` over a step.
pub(crate) fn turned<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    spin: S::Spin,
    dt: f64,
) -> (S::Rotation, S::Spin) {
    if spin.length() * dt > FOLLOWED && turns_freely(bodies, k) {
        return whirled(bodies, k, spin, dt);
    }
    turned_from(bodies, k, bodies.rotation[k], spin, dt)
}

/// Turn of a step up to which a body is followed where what turns is watched for passing through
/// others, rad: the watch sees it turn about one axis.
const FOLLOWED: f64 = std::f64::consts::TAU;
/// Times that the axis is looked for.
const WHIRL_ITERATIONS: usize = 12;

/// Rotation and spin of a body that whirls by more than a turn in a step: about one axis, near that
/// of the middle of the step, bounded by its angular momentum.
fn whirled<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    spin: S::Spin,
    dt: f64,
) -> (S::Rotation, S::Spin) {
    let (rotation, inertial) = (bodies.rotation[k], &bodies.inertial[k]);
    let inertia = S::world_inertia(rotation, &inertial.inertia);
    let momentum = S::apply_inertia(&inertia, spin);
    let mut middle = spin;
    for _ in 0..WHIRL_ITERATIONS {
        let there = S::turn(rotation, middle * (0.5 * dt));
        middle = S::apply_inertia(&S::world_inertia(there, &inertial.inv_inertia), momentum);
    }
    let after = S::turn(rotation, middle * dt);
    (after, bodies.carried_spin(k, (rotation, after), spin))
}

fn turned_from<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    dt: f64,
) -> (S::Rotation, S::Spin) {
    if !turns_freely(bodies, k) {
        return (S::turn(rotation, spin * dt), spin);
    }
    let after = free_rotation(bodies, k, rotation, spin, dt);
    (after, bodies.carried_spin(k, (rotation, after), spin))
}

/// Whether free rotation changes a body's spin, and nothing locks it.
fn turns_freely<S: Space>(bodies: &Bodies<S>, k: usize) -> bool {
    let inertial = &bodies.inertial[k];
    inertial.gyroscopic && (0..S::SPIN_DIM).all(|axis| inertial.free_spins.component(axis) > 0.0)
}

/// Rotation after a step of a body that turns freely.
fn free_rotation<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    dt: f64,
) -> S::Rotation {
    if spin == S::Spin::default() {
        return rotation;
    }
    let inertia = &bodies.inertial[k].inertia;
    let own = S::apply_inertia(inertia, S::unturn_spin(rotation, spin));
    S::rotate_freely(rotation, inertia, S::turn_spin(rotation, own), dt)
}

/// The spin by which a body that starts with `spin` turns freely over a step, on average.
pub(crate) fn mean_spin<S: Space>(bodies: &Bodies<S>, k: usize, spin: S::Spin, dt: f64) -> S::Spin {
    if !turns_freely(bodies, k) {
        return spin;
    }
    free_turn(bodies, k, bodies.rotation[k], spin, dt) * (1.0 / dt)
}

/// The turn of a body that turns freely over a step.
fn free_turn<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    dt: f64,
) -> S::Spin {
    let after = free_rotation(bodies, k, rotation, spin, dt);
    whole_turn::<S>(S::turn_between(rotation, after), spin * dt)
}

/// Turn up to which a body turns freely as if its spin were constant, rad.
const UNTUMBLED: f64 = 0.01;

/// How much further a body turns freely in h seconds than at constant spin, rad.
pub(crate) fn tumbled<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    h: f64,
) -> S::Spin {
    if spin.length() * h < UNTUMBLED || !turns_freely(bodies, k) {
        return S::Spin::default();
    }
    free_turn(bodies, k, rotation, spin, h) - spin * h
}

/// Of the turns that lead to the same orientation, the one that the spin says was made.
pub(crate) fn whole_turn<S: Space>(least: S::Spin, expected: S::Spin) -> S::Spin {
    let angle = least.length();
    if angle <= 0.0 || expected.length() < std::f64::consts::FRAC_PI_2 {
        return least;
    }
    let axis = least * (1.0 / angle);
    let rounds = ((expected.dot(axis) - angle) / std::f64::consts::TAU).round();
    axis * (angle + std::f64::consts::TAU * rounds)
}

/// Moves bodies by repair speeds over a step, leaving their velocities as they are.
pub fn displace<S: Space>(bodies: &mut Bodies<S>, nudges: &[Motion<S>], dt: f64) {
    for (k, nudge) in nudges.iter().enumerate() {
        // A turn by nothing would still round.
        if bodies.is_dynamic(k) && *nudge != Motion::default() {
            bodies.position[k] += nudge.linear * dt;
            bodies.rotation[k] = S::turn(bodies.rotation[k], nudge.spin * dt);
        }
    }
}

/// The first body whose state is not finite.
#[must_use]
pub fn first_not_finite<S: Space>(bodies: &Bodies<S>) -> Option<usize> {
    (0..bodies.len()).find(|&k| !is_finite(bodies, k))
}

/// Whether a body's state is made of numbers.
pub(crate) fn is_finite<S: Space>(bodies: &Bodies<S>, k: usize) -> bool {
    let motion = &bodies.motion[k];
    bodies.position[k].is_finite()
        && S::is_near_unit(bodies.rotation[k])
        && motion.linear.is_finite()
        && motion.spin.is_finite()
}

/// The first body whose state is not finite or beyond its range, by several threads.
pub(crate) fn first_out_of_range_by<S: Space>(bodies: &Bodies<S>, threads: u32) -> Option<usize> {
    let is_bad =
        |k: &usize| !S::is_near_unit(bodies.rotation[*k]) || bodies.beyond_range(*k).is_some();
    let found = thread_pool::gather_from(bodies.len(), threads as usize, |mut part, found| {
        found.extend(part.find(is_bad));
    });
    found.first().copied()
}
