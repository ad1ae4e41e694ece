//! Impact zones, the fail-safe: inelastic zones, rigid zones, truncation.

use super::swept_motion::{Impact, SweptMotion, scaled};
use crate::contact::primitives::Failure;
use crate::contact::problem::Impulses;
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use crate::math::union_find::UnionFind;
use crate::model::body::{Kind, Motion};
use crate::solver::SolverKind;
use crate::solver::impact_settling::settle;
use crate::strategy::step::Resolution;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of inelastic zones at most.
const ROUNDS: u32 = 40;
/// Rounds of rigid zones at most.
const RIGID: u32 = 20;
/// Rounds of truncation at most, and those of them that halve.
const CUTS: u32 = 24;
const HALVINGS: u32 = 6;
/// Iterations and residual (m/s) of an inelastic zone.
const EFFORT: (u32, f64) = (200, 1e-6);

/// Changes velocities and ways until nothing meets over `dt` seconds. `known` are impacts so far.
pub(super) fn fail_safe<S: Space>(
    flight: &SweptMotion<'_, S>,
    known: &[Impact<S>],
    velocities: &mut [Motion<S>],
    dt: f64,
    report: &mut Resolution,
) -> Result<Vec<Motion<S>>, Failure<S>> {
    report.gave_up = true;
    let mut way = flight.way(velocities, dt);
    let mut hits = flight.hits(&way);
    let mut all: BTreeMap<[u32; 5], Impact<S>> = known
        .iter()
        .map(|hit| (hit.encounter.key(), hit.clone()))
        .collect();
    while !hits.is_empty() && report.zone_rounds < ROUNDS {
        report.zone_rounds += 1;
        report.impacts += hits.len();
        all.extend(hits.iter().map(|hit| (hit.encounter.key(), hit.clone())));
        let list: Vec<Impact<S>> = all.values().cloned().collect();
        inelastic(flight, &list, velocities, dt);
        way = flight.way(velocities, dt);
        hits = flight.hits(&way);
    }
    let mut zones = Zones::new(flight.bodies.len());
    let mut rounds = 0;
    while !hits.is_empty() && rounds < RIGID {
        rounds += 1;
        for hit in &hits {
            zones.join(flight, hit);
        }
        zones.stiffen(flight, velocities, dt, &mut way);
        hits = flight.hits(&way);
    }
    report.rigid_bodies = zones.count();
    truncate(flight, hits, velocities, &mut way, report)?;
    Ok(way)
}

/// Solves impacts together, without bounce and friction, from these velocities.
fn inelastic<S: Space>(
    flight: &SweptMotion<'_, S>,
    hits: &[Impact<S>],
    velocities: &mut [Motion<S>],
    dt: f64,
) {
    let list: Vec<&Impact<S>> = hits.iter().collect();
    let mut assembled = flight.assemble(&list, velocities, dt, true);
    let mut impulses = Impulses::default();
    let mut solver = SolverKind::default();
    solver.set_iterations(EFFORT.0);
    solver.set_tolerance(EFFORT.1);
    settle(&mut solver, &mut assembled, &mut impulses);
    let after = assembled.problem.velocities(&impulses).motion;
    velocities.copy_from_slice(&after[..velocities.len()]);
}

/// Bodies that move as one.
struct Zones {
    forest: UnionFind,
    /// Bodies in any zone.
    members: BTreeSet<u32>,
    /// Those that meet something fixed: their zones stand still. What is fixed is no member itself,
    /// or it would join all zones that rest on it.
    anchored: BTreeSet<u32>,
}

impl Zones {
    fn new(bodies: usize) -> Self {
        Self {
            forest: UnionFind::new(bodies),
            members: BTreeSet::new(),
            anchored: BTreeSet::new(),
        }
    }

    fn count(&self) -> usize {
        self.members.len()
    }

    fn join<S: Space>(&mut self, flight: &SweptMotion<'_, S>, hit: &Impact<S>) {
        let moves = |&k: &u32| flight.bodies.kind[k as usize] != Kind::Fixed;
        let bodies: Vec<u32> = bodies_of(flight, hit).filter(moves).collect();
        for &k in &bodies {
            self.members.insert(k);
            self.forest.join(bodies[0], k);
        }
        if bodies.len() < bodies_of(flight, hit).count() {
            self.anchored.extend(&bodies);
        }
    }

    /// Gives every zone the velocities of a rigid body.
    fn stiffen<S: Space>(
        &mut self,
        flight: &SweptMotion<'_, S>,
        velocities: &mut [Motion<S>],
        dt: f64,
        way: &mut [Motion<S>],
    ) {
        let mut zones: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &k in &self.members {
            zones
                .entry(self.forest.lowest(k))
                .or_default()
                .push(k as usize);
        }
        for list in zones.values() {
            let is_scripted = |k: &&usize| matches!(flight.bodies.kind[**k], Kind::Kinematic(_));
            let is_anchored = list.iter().any(|&k| self.anchored.contains(&(k as u32)));
            let (center, whole) = match list.iter().find(is_scripted) {
                Some(&k) => (flight.bodies.position[k], flight.bodies.motion[k]),
                None if is_anchored => Default::default(),
                None => rigid_motion(flight, list, velocities),
            };
            for &k in list.iter().filter(|&&k| flight.bodies.is_dynamic(k)) {
                let arm = flight.bodies.position[k] - center;
                velocities[k] = Motion {
                    linear: whole.linear + S::spin_cross(whole.spin, arm),
                    spin: if flight.bodies.turns(k) {
                        whole.spin
                    } else {
                        S::Spin::default()
                    },
                };
                let turned = S::rotate(S::turn(S::Rotation::default(), whole.spin * dt), arm);
                way[k] = Motion {
                    linear: whole.linear * dt + turned - arm,
                    spin: if flight.bodies.turns(k) {
                        whole.spin * dt
                    } else {
                        S::Spin::default()
                    },
                };
            }
        }
    }
}

/// Centre of mass of some bodies, and the motion of a rigid body with their momenta.
fn rigid_motion<S: Space>(
    flight: &SweptMotion<'_, S>,
    list: &[usize],
    velocities: &[Motion<S>],
) -> (S::Vector, Motion<S>) {
    let bodies = flight.bodies;
    let moving = || list.iter().copied().filter(|&k| bodies.is_dynamic(k));
    let mass: f64 = moving().map(|k| bodies.mass(k)).sum();
    let mean = |of: &dyn Fn(usize) -> S::Vector| {
        let sum = moving().fold(S::Vector::default(), |sum, k| sum + of(k) * bodies.mass(k));
        sum * (1.0 / mass)
    };
    let center = mean(&|k| bodies.position[k]);
    let linear = mean(&|k| velocities[k].linear);
    let mut momentum = S::Spin::default();
    for k in moving() {
        let arm = bodies.position[k] - center;
        momentum += S::cross(arm, velocities[k].linear * bodies.mass(k));
        let inertia = S::world_inertia(bodies.rotation[k], &bodies.inertial[k].inertia);
        momentum += S::apply_inertia(&inertia, velocities[k].spin);
    }
    let about = |spin: S::Spin| {
        let mut sum = S::Spin::default();
        for k in moving() {
            let arm = bodies.position[k] - center;
            sum += S::cross(arm, S::spin_cross(spin, arm) * bodies.mass(k));
            let inertia = S::world_inertia(bodies.rotation[k], &bodies.inertial[k].inertia);
            sum += S::apply_inertia(&inertia, spin);
        }
        sum
    };
    let spin = divide::<S>(&about, momentum);
    (center, Motion { linear, spin })
}

/// The spin that an inertia (given by what it does) turns into an angular momentum; none where it
/// has none about some axis.
fn divide<S: Space>(inertia: &dyn Fn(S::Spin) -> S::Spin, momentum: S::Spin) -> S::Spin {
    let column = |axis: usize| inertia(S::Spin::default().with_component(axis, 1.0));
    if S::SPIN_DIM == 1 {
        let moment = column(0).component(0);
        let spin = momentum.component(0) / moment;
        let spin = if moment > 0.0 { spin } else { 0.0 };
        return S::Spin::default().with_component(0, spin);
    }
    let [x, y, z] = [0, 1, 2].map(|axis| glamx::DVec3::from_array(column(axis).to_array3()));
    let matrix = glamx::DMat3::from_cols(x, y, z);
    let largest = x.length().max(y.length()).max(z.length());
    if matrix.determinant() <= 1e-9 * largest.powi(3) {
        return S::Spin::default();
    }
    let spin = matrix.inverse() * glamx::DVec3::from_array(momentum.to_array3());
    (0..3).fold(S::Spin::default(), |sum, axis| {
        sum.with_component(axis, spin[axis])
    })
}

/// All bodies of an impact, and what attachments hold together with them: that moves as they do, or
/// nodes would be torn off their bodies.
fn bodies_of<S: Space>(flight: &SweptMotion<'_, S>, hit: &Impact<S>) -> impl Iterator<Item = u32> {
    let mut list = Vec::with_capacity(4);
    for (side, vertices) in hit.encounter.vertices().into_iter().enumerate() {
        match vertices {
            Some(vertices) => {
                list.extend(vertices.map(|v| flight.primitives.vertices[v as usize].body));
            }
            None => list.push(flight.primitives.body_of(&hit.encounter, side)),
        }
    }
    flight.clusters.complete(&mut list);
    list.sort_unstable();
    list.dedup();
    list.into_iter()
}

/// Cuts the way of bodies that still meet, until nothing does.
fn truncate<S: Space>(
    flight: &SweptMotion<'_, S>,
    mut hits: Vec<Impact<S>>,
    velocities: &mut [Motion<S>],
    way: &mut [Motion<S>],
    report: &mut Resolution,
) -> Result<(), Failure<S>> {
    let bodies = flight.bodies;
    let mut part = vec![1.0; bodies.len()];
    // What hangs on a script goes along with it.
    let is_driven = flight.clusters.driven(bodies);
    let whole = way.to_vec();
    for round in 0..CUTS {
        if hits.is_empty() {
            break;
        }
        for hit in &hits {
            for k in bodies_of(flight, hit).map(|k| k as usize) {
                part[k] = if round < HALVINGS { part[k] * 0.5 } else { 0.0 };
            }
        }
        if round + 1 == CUTS {
            part.fill(0.0);
        }
        for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k) && !is_driven[k]) {
            way[k] = scaled(&whole[k], part[k]);
        }
        hits = flight.hits(way);
        // What stays does not meet, however near it is.
        let stays = |k: u32| way[k as usize] == Motion::default();
        hits.retain(|hit| !bodies_of(flight, hit).all(stays));
    }
    if let Some(hit) = hits.first() {
        return Err(flight.infeasible(hit));
    }
    for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k) && !is_driven[k] && part[k] < 1.0) {
        let lost = scaled(&velocities[k], 1.0 - part[k]);
        report.cut_bodies += 1;
        report.lost_momentum_n_s += lost.linear.length() * bodies.mass(k);
        velocities[k] = scaled(&velocities[k], part[k]);
    }
    Ok(())
}
