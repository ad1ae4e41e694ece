//! The last word on a step: no primitive of a deformable passes another.
//!
//! Contacts look ahead along straight lines from the start of the step, so a fold that closes
//! quickly can escape them. The motion that a step has decided on is therefore checked by
//! [continuous collision](crate::ccd), all primitives of all deformables against each other:
//!
//! 1. **Parallel** (as the lecture notes call it): every hit becomes an inelastic impact of the
//!    two primitives at the moment of touch, one after the other; then all is checked again, a
//!    bounded number of times, because fixing one hit may make another.
//! 2. **Truncation**: nodes whose primitives still hit move only a part of their way, half of it a
//!    round, then none at all. Nodes that do not move stay where nothing intersected, so this ends.
//!    Their momentum is lost, and the [report](Rescue) says how much.
//!
//! Positions at the end have no intersection if those at the start had none, as long as every
//! node can be stopped; scripted nodes can't be.

use super::meeting::{Pair, Shell, impact, nearest, place_in};
use super::store::Deformables;
use crate::body::{Bodies, Motion};
use crate::space::{Components, Linear, Space};
use glamx::DVec3;

/// Rounds of impacts at most.
const ROUNDS: u32 = 10;
/// Rounds of truncation at most; then every node stops.
const CUTS: u32 = 24;
/// Rounds of truncation that halve a way; those after stop it.
const HALVINGS: u32 = 6;
/// Distance that motion must leave, as a part of the thickness.
const LEFT: f64 = 0.05;

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
}

/// A motion that is checked and changed.
struct Way<'a, S: Space> {
    shell: Shell,
    start: Vec<[f64; 3]>,
    /// 1/mass of each vertex, 0 where impulses do not move it.
    inv_mass: Vec<f64>,
    /// Part of the way that each vertex goes.
    part: Vec<f64>,
    velocities: &'a mut [Motion<S>],
    nudges: Option<&'a mut [Motion<S>]>,
    dt: f64,
}

/// Changes velocities and repair speeds so that no primitive passes another.
pub(crate) fn rescue<S: Space>(
    deformables: &Deformables,
    bodies: &Bodies<S>,
    velocities: &mut [Motion<S>],
    nudges: Option<&mut [Motion<S>]>,
    dt: f64,
) -> Rescue {
    if deformables.is_empty() {
        return Rescue::default();
    }
    let shell = Shell::new(deformables, bodies);
    let inv_mass = |&k: &u32| bodies.inertial[k as usize].inv_mass.component(0);
    let mut way = Way {
        start: shell.places(bodies),
        inv_mass: shell.bodies.iter().map(inv_mass).collect(),
        part: vec![1.0; shell.bodies.len()],
        shell,
        velocities,
        nudges,
        dt,
    };
    let mut report = Rescue::default();
    for _ in 0..ROUNDS {
        let hits = way.hits();
        if hits.is_empty() {
            return report;
        }
        report.rounds += 1;
        report.impacts += hits.len();
        for (pair, time) in &hits {
            way.collide(pair, *time);
        }
    }
    way.cut(&mut report);
    report
}

impl<S: Space> Way<'_, S> {
    /// How far a vertex goes, m.
    fn motion(&self, vertex: u32) -> DVec3 {
        let k = self.shell.bodies[vertex as usize] as usize;
        let mut speed = self.velocities[k].linear;
        if let Some(nudges) = &self.nudges {
            speed += nudges[k].linear;
        }
        DVec3::from_array(speed.to_array3()) * (self.dt * self.part[vertex as usize])
    }

    /// Where the vertices go.
    fn end(&self) -> Vec<[f64; 3]> {
        let start = place_in(&self.start);
        let end = |v: u32| (start(v) + self.motion(v)).to_array();
        (0..self.start.len() as u32).map(end).collect()
    }

    /// Pairs that come too near on the way, with the time as a part of the step.
    fn hits(&self) -> Vec<(Pair, f64)> {
        let end = self.end();
        let pairs = self
            .shell
            .pairs(&self.start, &end, LEFT * self.shell.thickest());
        let mut hits = Vec::new();
        for pair in pairs {
            // What starts nearer than the rest must not come much nearer still.
            let room = 0.5 * nearest(&pair, place_in(&self.start)).distance;
            let separation = room.min(LEFT * self.shell.thickness(&pair));
            if let Some(hit) = impact(&pair, &self.start, &end, separation) {
                hits.push((pair, hit.earliest));
            }
        }
        hits
    }

    /// Stops the approach of a pair as an inelastic impact at `time`.
    fn collide(&mut self, pair: &Pair, time: f64) {
        let start = place_in(&self.start);
        let at = |v: u32| start(v) + self.motion(v) * time;
        let near = nearest(pair, at);
        let [a, b] = pair.vertices();
        let weighted = [(a, near.a, -1.0), (b, near.b, 1.0)];
        let mut gap = DVec3::ZERO;
        let mut approach = DVec3::ZERO;
        let mut admittance = 0.0;
        for (vertices, weights, sign) in weighted {
            for (&v, weight) in vertices.iter().zip(weights) {
                gap += at(v) * (sign * weight);
                approach += self.motion(v) * (sign * weight / self.dt);
                admittance += weight * weight * self.inv_mass[v as usize];
            }
        }
        let Some(normal) = gap.try_normalize() else {
            return;
        };
        let speed = normal.dot(approach);
        if speed >= 0.0 || admittance <= 0.0 {
            return;
        }
        let impulse = normal * (-speed / admittance);
        for (vertices, weights, sign) in weighted {
            for (&v, weight) in vertices.iter().zip(weights) {
                let v = v as usize;
                let push = impulse * (sign * weight * self.inv_mass[v]);
                let linear = &mut self.velocities[self.shell.bodies[v] as usize].linear;
                for axis in 0..S::DIM {
                    *linear = linear.with_component(axis, linear.component(axis) + push[axis]);
                }
            }
        }
    }

    /// Cuts the way of nodes that still hit, until nothing hits.
    fn cut(&mut self, report: &mut Rescue) {
        for round in 0..CUTS {
            let hits = self.hits();
            if hits.is_empty() {
                break;
            }
            for (pair, _) in hits {
                for v in pair.vertices().into_iter().flatten() {
                    let part = &mut self.part[v as usize];
                    *part = if round < HALVINGS { *part * 0.5 } else { 0.0 };
                }
            }
            if round + 1 == CUTS {
                self.part.fill(0.0);
            }
        }
        for (n, &body) in self.shell.bodies.iter().enumerate() {
            let (k, part) = (body as usize, self.part[n]);
            if part == 1.0 || self.inv_mass[n] == 0.0 {
                continue;
            }
            let lost = self.velocities[k].linear * (1.0 - part);
            self.velocities[k].linear -= lost;
            if let Some(nudges) = &mut self.nudges {
                nudges[k].linear = nudges[k].linear * part;
            }
            report.cut_nodes += 1;
            report.lost_momentum_n_s += lost.length() / self.inv_mass[n];
        }
    }
}
