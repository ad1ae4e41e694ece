//! From contacts to a contact problem.
//!
//! # The target of a contact
//!
//! With separation d (m), step h, velocity before the step $u_N^-$ and free velocity $u_N^*$:
//!
//! * **gap** (d > 0): the contact may close in this step but not pass: $t = -d/h$.
//! * **touch or overlap** (d ≤ 0): $t = 0$. Overlaps are repaired apart: [`crate::dynamics::overlap_repair`].
//! * **impact**: if the bodies approached faster than the threshold and would meet in this step
//!   ($d + h u_N^* < 0$), Newton's hypothesis asks for $t = -e\,u_N^-$ instead. With
//!   [`ImpactLaw::Reflection`] the impacts of a cluster are worked out together: [`super::impact_law`].
//!
//! * **joint**: $t = -(\max(d, 0) + q)/h$, q being the bend of its coordinate: [`crate::model::joint`].
//!
//! $u_N^-$ is the velocity at the **start of the step, before forces** (as in Moreau's time
//! stepping), not the free velocity. A body at rest has $u_N^- = 0$ and does not bounce off the
//! gravity of one step; and with symplectic Euler an elastic bounce then keeps the discrete
//! energy $\tfrac12 v^2 + g x - \tfrac12 g h v$ exactly, so a ball with e = 1 returns to its
//! height for ever.

use super::impact_law::{Bounce, Collision, ImpactLaw, reflect};
use super::{ContactProblem, Island, Response, Row, Side};
use crate::contact::detection::{Contact, NodePoint};
use crate::geometry::Space;
use crate::geometry::shape::{ContactPoint, Geometry};
use crate::math::algebra::{Components, Linear};
use crate::math::union_find::UnionFind;
use crate::model::body::{Bodies, Kind, Motion};
use serde::{Deserialize, Serialize};

/// How contact behaves beyond the coefficients of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactRules {
    /// Approach slower than this does not bounce, m/s.
    pub restitution_threshold: f64,
    /// c_d: part of an overlap that is repaired in a second, 1/s; at most 1/h acts.
    pub repair_rate: f64,
    /// Overlap that is left alone, so that resting contacts stay contacts, m.
    pub slop: f64,
    /// Repair never pushes faster than this, m/s: a deep overlap comes apart, it does not explode.
    pub repair_speed: f64,
    /// What simultaneous impacts leave behind.
    #[serde(default)]
    pub impact: ImpactLaw,
}

impl Default for ContactRules {
    /// No bounce below 5 cm/s; overlap beyond half a millimetre decays by a factor e in a quarter
    /// of a second, at 2 m/s at most. Faster repair makes tall stacks sway: it lifts stones at
    /// the moment they are pressed, which feeds the motion that pressed them.
    fn default() -> Self {
        Self {
            restitution_threshold: 0.05,
            repair_rate: 4.0,
            slop: 5e-4,
            repair_speed: 2.0,
            impact: ImpactLaw::Newton,
        }
    }
}

/// A problem, and which contact each of its rows came from.
#[derive(Clone, Debug, Default)]
pub struct Assembled<S: Space> {
    /// The problem.
    pub problem: ContactProblem<S>,
    /// Contact of each row.
    pub contact_of_row: Vec<u32>,
    /// Velocities before forces, of bodies and of belts.
    pub before: Vec<Motion<S>>,
    /// What an impact asks of each row, where the law works impacts out together; empty if not.
    pub bounces: Vec<Option<Bounce>>,
}

/// Builds the problem of a step: `free` are the velocities after forces.
#[must_use]
pub fn assemble<S: Space>(
    bodies: &Bodies<S>,
    contacts: &[Contact<S>],
    free: Vec<Motion<S>>,
    dt: f64,
    rules: &ContactRules,
) -> Assembled<S> {
    let (contact_of_row, islands) = group_by_island(bodies, contacts.iter());
    let mut problem = ContactProblem {
        dt,
        responses: responses(bodies),
        free,
        rows: Vec::with_capacity(contacts.len()),
        islands,
        delassus: None,
    };
    let mut before = bodies.motion.clone();
    for &index in &contact_of_row {
        let contact = &contacts[index as usize];
        let row = problem.rows.len();
        let side_of = |nodes: Option<NodePoint>, body: u32, outward: f64| match nodes {
            Some(NodePoint { bodies, weights }) => Side::Nodes { bodies, weights },
            None if !contact.is_touch() => side_at(bodies, body, contact.point.position),
            None => side(bodies, body, &contact.point, outward),
        };
        let mut sides = [
            side_of(contact.nodes[0], contact.a, 1.0),
            side_of(contact.nodes[1], contact.b, -1.0),
        ];
        put_on_belt(bodies, contact, &mut sides, &mut problem);
        before.extend_from_slice(&problem.free[before.len()..]);
        problem.rows.push(Row {
            a: sides[0],
            b: sides[1],
            basis: S::basis(contact.point.normal),
            mu: contact.surface.friction,
            target: 0.0,
        });
        let start = problem.relative_velocity(row, &before).component(0);
        let free = problem.relative_velocity(row, &problem.free).component(0);
        problem.rows[row].target = target(contact, start, free, dt, rules);
    }
    let mut assembled = Assembled {
        problem,
        contact_of_row,
        before,
        bounces: Vec::new(),
    };
    if rules.impact == ImpactLaw::Reflection {
        set_bounces(&mut assembled, contacts, rules);
    }
    assembled
}

/// How all bodies answer impulses.
pub(crate) fn responses<S: Space>(bodies: &Bodies<S>) -> Vec<Response<S>> {
    (0..bodies.len()).map(|k| response(bodies, k)).collect()
}

/// How a body answers impulses.
pub(crate) fn response<S: Space>(bodies: &Bodies<S>, k: usize) -> Response<S> {
    Response {
        inv_mass: bodies.inertial[k].inv_mass,
        inv_inertia: bodies.world_inv_inertia(k),
    }
}

/// Works impacts out together and writes their outcome into the targets.
fn set_bounces<S: Space>(
    assembled: &mut Assembled<S>,
    contacts: &[Contact<S>],
    rules: &ContactRules,
) {
    let of_row = |k: &u32| &contacts[*k as usize];
    let rows = assembled.contact_of_row.iter().map(of_row);
    let gaps: Vec<f64> = rows.clone().map(|c| c.point.separation).collect();
    let restitution: Vec<f64> = rows.map(|c| c.surface.restitution).collect();
    assembled.bounces = reflect(&Collision {
        problem: &assembled.problem,
        before: &assembled.before,
        gaps: &gaps,
        restitution: &restitution,
        threshold: rules.restitution_threshold,
    });
    for (row, bounce) in assembled.problem.rows.iter_mut().zip(&assembled.bounces) {
        if let Some(bounce) = bounce {
            row.target = row.target.max(bounce.target);
        }
    }
}

/// Puts the side of a contact that does not move by impulses on a belt of its own: something
/// without mass in the problem's lists that moves as the side's surface does.
///
/// Contact with a conveyor is contact with a body that moves; the problem needs no notion of it.
pub(crate) fn put_on_belt<S: Space>(
    bodies: &Bodies<S>,
    contact: &Contact<S>,
    sides: &mut [Side<S>; 2],
    problem: &mut ContactProblem<S>,
) {
    if contact.slide == S::Vector::default() {
        return;
    }
    let which = if !bodies.is_dynamic(contact.b as usize) {
        1
    } else if !bodies.is_dynamic(contact.a as usize) {
        0
    } else {
        return;
    };
    let own = super::point_velocity(&sides[which], &problem.free);
    let extra = if which == 1 {
        contact.slide
    } else {
        -contact.slide
    };
    sides[which] = Side::Rigid {
        body: problem.free.len() as u32,
        arm: S::Vector::default(),
    };
    problem.free.push(Motion {
        linear: own + extra,
        spin: S::Spin::default(),
    });
    problem.responses.push(Response::default());
}

/// A body's side of a contact; `outward` is 1 where the normal leaves the body and −1 where it
/// enters.
///
/// A ball is touched where the normal pierces its surface. The contact's own point is elsewhere
/// while balls are still apart, and an impulse there would make a ball spin without friction.
fn side<S: Space>(bodies: &Bodies<S>, body: u32, point: &ContactPoint<S>, outward: f64) -> Side<S> {
    let k = body as usize;
    let touched = match bodies.shape[k].ball_radius() {
        Some(radius) => bodies.origin(k).position + point.normal * (outward * radius),
        None => point.position,
    };
    side_at(bodies, body, touched)
}

/// A body's side of a contact that touches it at a world point.
fn side_at<S: Space>(bodies: &Bodies<S>, body: u32, touched: S::Vector) -> Side<S> {
    let k = body as usize;
    match bodies.kind[k] {
        Kind::Fixed => Side::Fixed,
        Kind::Particle => Side::Particle { body },
        Kind::Rigid | Kind::Kinematic(_) => Side::Rigid {
            body,
            arm: touched - bodies.position[k],
        },
    }
}

/// See the [module documentation](self).
fn target<S: Space>(
    contact: &Contact<S>,
    before: f64,
    free: f64,
    dt: f64,
    rules: &ContactRules,
) -> f64 {
    let d = contact.point.separation;
    let resting = -(d.max(0.0) + contact.bend) / dt;
    let meets = d + dt * free < 0.0;
    let bounces_alone = rules.impact == ImpactLaw::Newton;
    if bounces_alone && meets && before < -rules.restitution_threshold {
        resting.max(-contact.surface.restitution * before)
    } else {
        resting
    }
}

/// Orders contacts by the island of moving bodies they belong to: islands by their lowest body,
/// contacts within an island as they came.
pub(crate) fn group_by_island<'c, S: Space>(
    bodies: &Bodies<S>,
    contacts: impl Iterator<Item = &'c Contact<S>> + Clone,
) -> (Vec<u32>, Vec<Island>) {
    let mut forest = UnionFind::new(bodies.len());
    for contact in contacts.clone() {
        let mut moving = contact.bodies().filter(|&k| bodies.is_dynamic(k as usize));
        let Some(first) = moving.next() else { continue };
        for other in moving {
            forest.join(first, other);
        }
    }
    let mut keyed: Vec<(u32, u32)> = contacts
        .enumerate()
        .map(|(k, contact)| {
            let mut all = contact.bodies();
            let moving = all.find(|&k| bodies.is_dynamic(k as usize));
            let moving = moving.unwrap_or(contact.b);
            (forest.lowest(moving), k as u32)
        })
        .collect();
    keyed.sort_unstable();
    let mut islands = Vec::new();
    let mut start = 0;
    for group in keyed.chunk_by(|x, y| x.0 == y.0) {
        let end = start + group.len() as u32;
        islands.push(Island { start, end });
        start = end;
    }
    (keyed.into_iter().map(|(_, k)| k).collect(), islands)
}

/// Local impulses to start from: those that the contacts brought along, pulled into the cone, or
/// those of the impact where there is one.
#[must_use]
pub fn warm_start<S: Space>(
    assembled: &Assembled<S>,
    contacts: &[Contact<S>],
) -> super::Impulses<S> {
    let local = assembled
        .contact_of_row
        .iter()
        .zip(&assembled.problem.rows)
        .enumerate()
        .map(|(k, (&index, row))| {
            if let Some(Some(bounce)) = assembled.bounces.get(k) {
                return S::Vector::default().with_component(0, bounce.impulse);
            }
            let r = S::to_local(&row.basis, contacts[index as usize].impulse);
            let normal = r.component(0).max(0.0);
            let tangent = super::tangential(r);
            let most = row.mu * normal;
            let length = tangent.length();
            let tangent = if length > most {
                tangent * (most / length)
            } else {
                tangent
            };
            tangent.with_component(0, normal)
        })
        .collect();
    super::Impulses { local }
}
