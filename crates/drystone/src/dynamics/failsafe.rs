//! The fail-safe of a step: nothing passes through a deformable.
//!
//! Contacts look ahead along straight lines from the start of the step, so a fold that closes
//! quickly can escape them. The motion that a step has decided on is therefore checked by
//! [continuous collision](crate::geometry::ccd): all primitives of all deformables against each other and
//! against the rigid bodies near them.
//!
//! 1. **Parallel** (as the lecture notes call it): every hit becomes an inelastic impact of the
//!    two primitives at the moment of touch, one after the other; then all is checked again, a
//!    bounded number of times, because fixing one hit may make another.
//! 2. **Truncation**: nodes and rigid bodies that still hit move only a part of their way, half
//!    of it a round, then none at all. What does not move stays where nothing intersected. What
//!    a script pushes can't stay: it goes along with the script, and so does what it pushes in
//!    turn. Nodes lose their momentum by that, and the [report](Rescue) says how much; rigid
//!    bodies are held back and keep their speed.
//!
//! Points of rigid bodies are followed on straight lines from where they are to where they will
//! be. A body that turns leaves these lines on its way, but a mesh that is moved along them
//! without ever being crossed is not crossed at their end. So positions at the end of a step have
//! no intersection if those at its start had none. Only scripts can make that impossible; then
//! the step fails as [infeasible](Infeasible).

use crate::contact::deformable_surface::{Finder, Purpose, Shell, around};
use crate::contact::problem::Response;
use crate::contact::problem::assemble::responses;
use crate::dynamics::integrate::{set_rotation, turned};
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::{Pair, impact, nearest, place_in, stays_apart};
use crate::geometry::shape::Pose;
use crate::math::algebra::vector;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, BodyState, Kind, Motion};
use crate::model::deformable::store::Deformables;
use glamx::DVec3;

/// Rounds of impacts at most.
const ROUNDS: u32 = 10;
/// Rounds of truncation at most.
const CUTS: u32 = 40;
/// Rounds of truncation that halve a way; those after stop it.
const HALVINGS: u32 = 6;
/// Distance that motion must leave, as a part of the thickness.
const LEFT: f64 = 0.05;
/// What overlaps a rigid body's radius already may come this much nearer, as a part.
const DEEPER: f64 = 0.9;

/// What the last check of a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rescue {
    /// Pairs that would have passed each other and were stopped by impacts.
    pub impacts: usize,
    /// Rounds of impacts.
    pub rounds: u32,
    /// Nodes whose motion was cut short.
    pub cut_nodes: usize,
    /// Momentum that was lost by that, as a sum of sizes, N·s.
    pub lost_momentum_n_s: f64,
    /// Rigid bodies that were held back.
    pub held_bodies: usize,
}

impl Rescue {
    /// That of two steps, one after the other.
    pub(crate) fn followed_by(&self, next: &Self) -> Self {
        Self {
            impacts: self.impacts + next.impacts,
            rounds: self.rounds + next.rounds,
            cut_nodes: self.cut_nodes + next.cut_nodes,
            lost_momentum_n_s: self.lost_momentum_n_s + next.lost_momentum_n_s,
            held_bodies: self.held_bodies + next.held_bodies,
        }
    }
}

/// Scripts that leave a deformable no room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Infeasible {
    /// Two bodies that would pass through each other.
    pub(crate) bodies: [u32; 2],
    /// Where, m.
    pub(crate) place: [f64; 3],
}

/// A motion that is checked and changed.
struct Way<'a, S: Space> {
    bodies: &'a Bodies<S>,
    shell: Shell,
    finder: Finder,
    start: Vec<[f64; 3]>,
    responses: Vec<Response<S>>,
    /// Part of its way that each body goes.
    part: Vec<f64>,
    /// What each body does instead for the rest of it, m: 0, or what a script makes it do.
    carried: Vec<DVec3>,
    /// Where each rigid body goes, where that is known and not by its velocity.
    goals: Vec<Pose<S>>,
    velocities: &'a mut [Motion<S>],
    nudges: Option<&'a mut Vec<Motion<S>>>,
    dt: f64,
}

/// Changes velocities and repair speeds so that nothing passes through a deformable.
pub(crate) fn rescue<S: Space>(
    deformables: &Deformables,
    bodies: &Bodies<S>,
    velocities: &mut [Motion<S>],
    nudges: &mut Option<Vec<Motion<S>>>,
    dt: f64,
) -> Result<Rescue, Infeasible> {
    let mut report = Rescue::default();
    if deformables.is_empty() {
        return Ok(report);
    }
    let mut way = Way::new(deformables, bodies, velocities, nudges.as_mut(), dt);
    for _ in 0..ROUNDS {
        let end = way.end();
        let hits = way.hits(&end);
        if hits.is_empty() {
            return Ok(report);
        }
        report.rounds += 1;
        report.impacts += hits.len();
        for (pair, time) in &hits {
            way.collide(pair, *time, &end);
        }
    }
    way.cut()?;
    let held = way.enter(&mut report);
    if !held.is_empty() {
        let count = bodies.len();
        let nudges = nudges.get_or_insert_with(|| vec![Motion::default(); count]);
        for (k, nudge) in held {
            nudges[k] = nudge;
        }
    }
    Ok(report)
}

/// Cuts ways short where rigid bodies that were held back on theirs are in the way of a
/// deformable now. `bodies` are at the end of the step. What hits for all that is a script's.
pub(crate) fn hold_deformables<S: Space>(
    deformables: &Deformables,
    bodies: &mut Bodies<S>,
    start: &BodyState<S>,
    dt: f64,
) {
    if deformables.is_empty() {
        return;
    }
    let mut before = bodies.clone();
    before.restore(start.clone());
    let goal = |k: usize| Pose {
        position: bodies.position[k],
        rotation: bodies.rotation[k],
    };
    let moved = |k: usize| Motion {
        linear: (bodies.position[k] - before.position[k]) * (1.0 / dt),
        spin: S::Spin::default(),
    };
    let mut velocities: Vec<Motion<S>> = (0..bodies.len()).map(moved).collect();
    let mut way = Way::new(deformables, &before, &mut velocities, None, dt);
    way.goals = (0..bodies.len()).map(goal).collect();
    let _ = way.cut();
    for k in 0..bodies.len() {
        if way.part[k] < 1.0 {
            let Pose { position, rotation } = way.goal(k);
            bodies.position[k] = position;
            set_rotation(bodies, k, rotation);
        }
    }
}

impl<'a, S: Space> Way<'a, S> {
    fn new(
        deformables: &Deformables,
        bodies: &'a Bodies<S>,
        velocities: &'a mut [Motion<S>],
        nudges: Option<&'a mut Vec<Motion<S>>>,
        dt: f64,
    ) -> Self {
        let mut shell = Shell::new(deformables, bodies);
        let place = |&k: &u32| bodies.position[k as usize];
        let later = |&k: &u32| place(&k) + velocities[k as usize].linear * dt;
        let now = shell.nodes().iter().map(place);
        let near = around::<S>(now.chain(shell.nodes().iter().map(later)));
        // Whatever pushes nodes further moves at least as fast itself.
        let fastest = (0..bodies.len())
            .map(|k| {
                bodies.motion[k]
                    .linear
                    .length()
                    .max(velocities[k].linear.length())
            })
            .fold(0.0, f64::max);
        let thickest = shell.nodes().len() as u32;
        let thickest = (0..thickest).fold(0.0, |most: f64, v| most.max(shell.depth(v)));
        if let Some(near) = near {
            let near = near.grown(thickest + dt * fastest);
            shell.add_rigid(bodies, &near, dt, Purpose::Passage);
        }
        Self {
            start: shell.places(bodies),
            responses: responses(bodies),
            part: vec![1.0; bodies.len()],
            carried: vec![DVec3::ZERO; bodies.len()],
            goals: Vec::new(),
            finder: Finder::default(),
            bodies,
            shell,
            velocities,
            nudges,
            dt,
        }
    }

    /// Velocity and repair speed of a body together.
    fn motion(&self, k: usize) -> Motion<S> {
        let mut motion = self.velocities[k];
        if let Some(nudges) = &self.nudges {
            motion.linear += nudges[k].linear;
            motion.spin += nudges[k].spin;
        }
        motion
    }

    /// Centre of mass and rotation of a rigid body after its whole way.
    fn whole_way(&self, k: usize) -> Pose<S> {
        if let Some(goal) = self.goals.get(k) {
            return *goal;
        }
        let rotation = self.bodies.rotation[k];
        let shift = |linear: S::Vector| self.bodies.position[k] + linear * self.dt;
        match self.bodies.kind[k] {
            Kind::Fixed => Pose {
                position: self.bodies.position[k],
                rotation,
            },
            Kind::Rigid => {
                let turn = turned(self.bodies, k, self.velocities[k].spin, self.dt).0;
                let nudge = self.nudges.as_ref().map(|nudges| nudges[k].spin);
                Pose {
                    position: shift(self.motion(k).linear),
                    rotation: nudge.map_or(turn, |spin| S::turn(turn, spin * self.dt)),
                }
            }
            Kind::Kinematic(_) | Kind::Particle => Pose {
                position: shift(self.motion(k).linear),
                rotation: S::turn(rotation, self.velocities[k].spin * self.dt),
            },
        }
    }

    /// Centre of mass and rotation of a rigid body after the part of its way that it goes.
    fn goal(&self, k: usize) -> Pose<S> {
        let whole = self.whole_way(k);
        let (part, start) = (self.part[k], self.bodies.rotation[k]);
        if part == 1.0 {
            return whole;
        }
        let from = self.bodies.position[k];
        let carried = vector::<S>(self.carried[k]) * (1.0 - part);
        Pose {
            position: from + (whole.position - from) * part + carried,
            rotation: S::turn(start, S::turn_between(start, whole.rotation) * part),
        }
    }

    /// How far a node goes, m.
    fn shift(&self, k: usize) -> DVec3 {
        let whole = DVec3::from_array(self.motion(k).linear.to_array3()) * self.dt;
        whole * self.part[k] + self.carried[k] * (1.0 - self.part[k])
    }

    /// Where the vertices go.
    fn end(&self) -> Vec<[f64; 3]> {
        let nodes = self.shell.nodes().iter().zip(&self.start);
        let node = |(&k, from): (&u32, &[f64; 3])| {
            (DVec3::from_array(*from) + self.shift(k as usize)).to_array()
        };
        let mut end: Vec<[f64; 3]> = nodes.map(node).collect();
        for (body, range) in &self.shell.solids {
            let k = *body as usize;
            let Pose { position, rotation } = self.goal(k);
            let origin = Pose::<S> {
                position: position - S::rotate(rotation, self.bodies.center[k]),
                rotation,
            };
            end.extend(self.shell.solid_places(&origin, range));
        }
        end
    }

    /// Pairs that come too near on the way, with the time as a part of the step.
    fn hits(&mut self, end: &[[f64; 3]]) -> Vec<(Pair, f64)> {
        let pairs = self.shell.pairs(&self.start, end, LEFT, &mut self.finder);
        let hit = |pair: &Pair| {
            let [a, b] = pair
                .vertices()
                .map(|v| self.shell.bodies[v[0] as usize] as usize);
            let allowed = self.bodies.groups[a].allow(self.bodies.groups[b]);
            if !allowed || self.shell.is_tied(self.bodies, pair) {
                return None;
            }
            let near = nearest(pair, place_in(&self.start));
            let apart = near.distance;
            let round = self.shell.rounding(pair);
            // What starts nearer than the rest must not come much nearer still.
            let separation = if apart > round {
                round + (0.5 * (apart - round)).min(LEFT * self.shell.thickness(pair))
            } else {
                DEEPER * apart
            };
            if stays_apart(pair, [&self.start, end], &near, separation) {
                return None;
            }
            let hit = impact(pair, &self.start, end, separation)?;
            Some((*pair, hit.earliest))
        };
        pairs.iter().filter_map(hit).collect()
    }

    /// Stops the approach of a pair as an inelastic impact at `time`.
    fn collide(&mut self, pair: &Pair, time: f64, end: &[[f64; 3]]) {
        let at = |v: u32| {
            let [from, to] = [&self.start[..], end].map(|x| DVec3::from_array(x[v as usize]));
            from + (to - from) * time
        };
        let near = nearest(pair, at);
        let [a, b] = pair.vertices();
        let sides = [(a, near.a, -1.0), (b, near.b, 1.0)];
        let point = |(vertices, weights, _): ([u32; 3], [f64; 3], f64)| {
            let [p, q, r] = vertices.map(at);
            p * weights[0] + q * weights[1] + r * weights[2]
        };
        let places = sides.map(point);
        let Some(normal) = (places[1] - places[0]).try_normalize() else {
            return;
        };
        let normal = vector::<S>(normal);
        let (mut approach, mut admittance) = (0.0, 0.0);
        for ((vertices, weights, sign), place) in sides.into_iter().zip(places) {
            self.each(vertices, weights, place, |way, k, arm, weight| {
                let motion = way.motion(k);
                let speed = motion.linear + S::spin_cross(motion.spin, arm);
                approach += sign * weight * normal.dot(speed);
                let response = &way.responses[k];
                let spin = S::apply_inertia(&response.inv_inertia, S::cross(arm, normal));
                let own = response.inv_mass.scale(normal) + S::spin_cross(spin, arm);
                admittance += weight * weight * normal.dot(own);
            });
        }
        if approach >= 0.0 || admittance <= 0.0 {
            return;
        }
        let impulse = normal * (-approach / admittance);
        for ((vertices, weights, sign), place) in sides.into_iter().zip(places) {
            let mut pushes: [Option<(usize, Motion<S>)>; 3] = [None; 3];
            let mut count = 0;
            self.each(vertices, weights, place, |way, k, arm, weight| {
                let response = &way.responses[k];
                let push = impulse * (sign * weight);
                let motion = Motion {
                    linear: response.inv_mass.scale(push),
                    spin: S::apply_inertia(&response.inv_inertia, S::cross(arm, push)),
                };
                pushes[count] = Some((k, motion));
                count += 1;
            });
            for (k, push) in pushes.into_iter().flatten() {
                self.velocities[k].linear += push.linear;
                self.velocities[k].spin += push.spin;
            }
        }
    }

    /// Calls `f` with every body of a side, the arm of the point that counts and its weight: nodes
    /// each with their own, a rigid body once with all of it.
    fn each(
        &self,
        vertices: [u32; 3],
        weights: [f64; 3],
        place: DVec3,
        mut f: impl FnMut(&Self, usize, S::Vector, f64),
    ) {
        let body = |v: u32| self.shell.bodies[v as usize] as usize;
        if self.shell.is_rigid(vertices[0]) {
            let k = body(vertices[0]);
            let arm = vector::<S>(place) - self.bodies.position[k];
            return f(self, k, arm, 1.0);
        }
        for (&v, weight) in vertices.iter().zip(weights) {
            if weight > 0.0 {
                f(self, body(v), S::Vector::default(), weight);
            }
        }
    }

    /// Cuts the way of what still hits, until nothing hits.
    fn cut(&mut self) -> Result<(), Infeasible> {
        let mut first = None;
        for round in 0..CUTS {
            let end = self.end();
            let hits = self.hits(&end);
            let Some((pair, _)) = hits.first() else {
                return Ok(());
            };
            first = Some(*pair);
            let mut shorter = vec![false; self.part.len()];
            for (pair, _) in &hits {
                for v in pair.vertices().into_iter().flatten() {
                    shorter[self.shell.bodies[v as usize] as usize] = true;
                }
                if round >= HALVINGS {
                    self.carry(pair);
                }
            }
            for (k, part) in self.part.iter_mut().enumerate() {
                if shorter[k] && self.bodies.is_dynamic(k) {
                    *part = if round < HALVINGS { *part * 0.5 } else { 0.0 };
                }
            }
        }
        match first {
            Some(pair) => Err(self.infeasible(&pair)),
            None => Ok(()),
        }
    }

    /// Lets what is stopped go along with what can't be: a script, or what one carries already.
    fn carry(&mut self, pair: &Pair) {
        let vertices = pair.vertices();
        let drag = |way: &Self, side: [u32; 3]| {
            let of = |v: u32| {
                let k = way.shell.bodies[v as usize] as usize;
                match way.bodies.is_dynamic(k) {
                    true => way.carried[k],
                    false => DVec3::from_array(way.velocities[k].linear.to_array3()) * way.dt,
                }
            };
            let longest = |a: DVec3, b: DVec3| if b.length() > a.length() { b } else { a };
            side.map(of).into_iter().fold(DVec3::ZERO, longest)
        };
        let [first, second] = vertices.map(|side| drag(self, side));
        let most = if second.length() > first.length() {
            second
        } else {
            first
        };
        for v in vertices.into_iter().flatten() {
            let k = self.shell.bodies[v as usize] as usize;
            if self.bodies.is_dynamic(k) && self.carried[k] == DVec3::ZERO {
                self.carried[k] = most;
            }
        }
    }

    fn infeasible(&self, pair: &Pair) -> Infeasible {
        let sides = pair.vertices();
        let place = DVec3::from_array(self.start[sides[1][0] as usize]);
        Infeasible {
            bodies: sides.map(|side| self.shell.bodies[side[0] as usize]),
            place: place.to_array(),
        }
    }

    /// Writes what was cut into velocities of nodes; gives the repair speeds that hold rigid
    /// bodies back.
    fn enter(&mut self, report: &mut Rescue) -> Vec<(usize, Motion<S>)> {
        let mut held = Vec::new();
        for k in 0..self.part.len() {
            if self.part[k] == 1.0 {
                continue;
            }
            if self.bodies.node_of[k] == 0 {
                let goal = self.goal(k);
                let turn = turned(self.bodies, k, self.velocities[k].spin, self.dt).0;
                let without = self.bodies.position[k] + self.velocities[k].linear * self.dt;
                let nudge = Motion {
                    linear: (goal.position - without) * (1.0 / self.dt),
                    spin: S::turn_between(turn, goal.rotation) * (1.0 / self.dt),
                };
                held.push((k, nudge));
                report.held_bodies += 1;
                continue;
            }
            let shift = vector::<S>(self.shift(k));
            let before = self.velocities[k].linear;
            self.velocities[k].linear = shift * (1.0 / self.dt);
            if let Some(nudges) = &mut self.nudges {
                nudges[k].linear = S::Vector::default();
            }
            let lost = before - self.velocities[k].linear;
            report.cut_nodes += 1;
            report.lost_momentum_n_s += lost.length() * self.bodies.mass(k);
        }
        held
    }
}
