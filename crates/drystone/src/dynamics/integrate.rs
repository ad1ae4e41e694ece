//! Time stepping: forces to velocities, velocities to poses.
//!
//! Symplectic Euler: velocities first, $v^* = v + h M^{-1} f$, then (after contact) poses with
//! the **new** velocity, $x' = x + h v^+$.
//!
//! # Rotation
//!
//! A torque-free body keeps its angular momentum $L = R\,I\,R^T \omega$ while R turns, so its spin
//! changes: $I\dot\omega = -\omega\times I\omega$. Instead of adding that torque, which gains
//! energy without bound, the step keeps L itself and turns the body by the implicit midpoint
//! rule,
//!
//! $$ R' = \exp(h[\bar\omega])\,R, \qquad
//!    \bar\omega = I(\bar R)^{-1} L, \quad \bar R = \exp(\tfrac h2[\bar\omega])\,R, \qquad
//!    \omega' = I(R')^{-1} L , $$
//!
//! solved by fixed-point iteration. Angular momentum is exact, spin is bounded by L over the
//! least inertia whatever the step, and energy oscillates without drift. Bodies whose
//! inertia is the same about every axis skip all of it; where the iteration does not converge,
//! because a body is thin and fast, it is turned by a product of rotations ([`crate::math::algebra::free_rotation`]).

use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::judge::Ledger;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Kind, Motion};
use crate::model::range;
use crate::parallel::shared_slice::Shared;
use crate::parallel::thread_pool;

/// Fixed-point iterations of the midpoint rule at most. Each gains a factor h|ω|/2 or better.
const MIDPOINT_ITERATIONS: usize = 12;
/// Change of the last iteration, as a part of the spin, up to which it has converged.
const CONVERGED: f64 = 1e-6;
/// Turn of a step up to which a body can be followed, rad: what whirls faster is bounded by its
/// angular momentum, and no more is asked of it.
const FOLLOWED: f64 = std::f64::consts::TAU;

/// What forces do to one body over a step.
struct Forced<S: Space> {
    /// v\*.
    free: Motion<S>,
    /// Impulse of forces, N·s and N·m·s.
    impulse: (S::Vector, S::Spin),
}

/// Applies forces over a step: v\* of every body, and the ledger of what they did.
pub fn apply_forces<S: Space>(
    bodies: &Bodies<S>,
    gravity: S::Vector,
    (time, dt): (f64, f64),
    threads: u32,
) -> (Vec<Motion<S>>, Ledger<S>) {
    let mut free = bodies.motion.clone();
    let mut forces = vec![Default::default(); bodies.len()];
    let mut energies = vec![0.0; bodies.len()];
    let all = (
        Shared::new(&mut free),
        Shared::new(&mut forces),
        Shared::new(&mut energies),
    );
    thread_pool::run_over(bodies.len(), threads as usize, |part| {
        for k in part.filter(|&k| bodies.is_dynamic(k)) {
            let forced = forced(bodies, k, gravity, (time, dt));
            all.0.write(k, forced.free);
            all.1.write(k, forced.impulse);
            all.2.write(k, bodies.kinetic_energy(k));
        }
    });
    let ledger = Ledger {
        kinetic_energy: energies.into_iter().sum(),
        before: bodies.motion.clone(),
        forces,
    };
    (free, ledger)
}

/// What forces do to a body that they move.
fn forced<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    gravity: S::Vector,
    (time, dt): (f64, f64),
) -> Forced<S> {
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
    let mut turned = S::Spin::default();
    if bodies.kind[k] == Kind::Rigid {
        let twist = S::apply_inertia(&bodies.world_inv_inertia(k), torque);
        free.spin = (motion.spin + twist * dt) * (1.0 / (1.0 + dt * angular_damping));
        let inertia = S::world_inertia(bodies.rotation[k], &inertial.inertia);
        turned = S::apply_inertia(&inertia, free.spin - motion.spin);
    }
    Forced {
        free,
        impulse: ((free.linear - motion.linear) * inertial.mass, turned),
    }
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

/// Where a body that touches nothing is h seconds later, and its motion then.
pub(crate) fn fly<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    (pose, motion): (Pose<S>, Motion<S>),
    acceleration: &Motion<S>,
    h: f64,
) -> (Pose<S>, Motion<S>) {
    let (linear, angular) = bodies.damping[k];
    let mut after = Motion {
        linear: (motion.linear + acceleration.linear * h) * (1.0 / (1.0 + h * linear)),
        spin: (motion.spin + acceleration.spin * h) * (1.0 / (1.0 + h * angular)),
    };
    let mut moved = Pose {
        position: pose.position + after.linear * h,
        ..pose
    };
    if bodies.kind[k] == Kind::Rigid {
        (moved.rotation, after.spin) = turned_from(bodies, k, pose.rotation, after.spin, h);
    }
    (moved, after)
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
    turned_from(bodies, k, bodies.rotation[k], spin, dt)
}

fn turned_from<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    dt: f64,
) -> (S::Rotation, S::Spin) {
    let after = S::turn(rotation, mean_spin_from(bodies, k, rotation, spin, dt) * dt);
    (after, bodies.carried_spin(k, (rotation, after), spin))
}

/// The spin by which a body that starts with `spin` turns freely over a step, on average.
pub(crate) fn mean_spin<S: Space>(bodies: &Bodies<S>, k: usize, spin: S::Spin, dt: f64) -> S::Spin {
    mean_spin_from(bodies, k, bodies.rotation[k], spin, dt)
}

fn mean_spin_from<S: Space>(
    bodies: &Bodies<S>,
    k: usize,
    rotation: S::Rotation,
    spin: S::Spin,
    dt: f64,
) -> S::Spin {
    let inertial = &bodies.inertial[k];
    let is_free = (0..S::SPIN_DIM).all(|axis| inertial.free_spins.component(axis) > 0.0);
    if !inertial.gyroscopic || !is_free {
        return spin;
    }
    let inertia = S::world_inertia(rotation, &inertial.inertia);
    let momentum = S::apply_inertia(&inertia, spin);
    let spin_at =
        |rotation| S::apply_inertia(&S::world_inertia(rotation, &inertial.inv_inertia), momentum);
    let (mut middle, mut change) = (spin, 0.0);
    for _ in 0..MIDPOINT_ITERATIONS {
        let next = spin_at(S::turn(rotation, middle * (0.5 * dt)));
        change = (next - middle).length();
        middle = next;
        if change <= 1e-14 * middle.length() {
            break;
        }
    }
    if change <= CONVERGED * middle.length() || spin.length() * dt > FOLLOWED {
        return middle;
    }
    let after = S::tumble(rotation, &inertial.inertia, momentum, dt);
    whole_turn::<S>(S::turn_between(rotation, after), spin * dt) * (1.0 / dt)
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
        |k: &usize| !S::is_near_unit(bodies.rotation[*k]) || range::beyond(bodies, *k).is_some();
    let found = thread_pool::gather_from(bodies.len(), threads as usize, |mut part, found| {
        found.extend(part.find(is_bad));
    });
    found.first().copied()
}
