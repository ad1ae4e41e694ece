//! Motors and springs of joints in the strategy `velocity`.
//!
//! A drive pushes along a coordinate c of a joint with an impulse λ (N·s, or N·m·s about an axis)
//! that depends on how fast the coordinate changes **at the end of the step**, $u = J v^+$:
//!
//! $$ \text{motor:}\quad \lambda = \text{what makes } u = s, \qquad
//!    \text{spring:}\quad \lambda = -h\,\bigl(\kappa\,(c + h u - c_0) + d\,u\bigr), \qquad
//!    |\lambda| \le h F . $$
//!
//! Springs are implicit in that, so none is too stiff for a step. Contacts push, they do not follow
//! laws like these, so drives are no part of the contact problem: they are **forces** that are found
//! before it, with the contacts in view. Sweeps go over the contacts, joints included, and the
//! drives in turns; a drive with the admittance $A = J M^{-1} J^T$ and the others as they are
//! changes by
//!
//! $$ \Delta\lambda = \frac{s - u}{A}, \qquad
//!    \Delta\lambda = -\frac{\lambda + h\kappa(c - c_0) + \sigma u}{1 + \sigma A},
//!    \quad \sigma = h^2\kappa + h d , $$
//!
//! and stays within ±hF. Without the contacts a motor on a hinge would see the inertia about the
//! centre of mass and not that about the hinge, and lose speed to every load. Then the λ are part of
//! the free velocities, as what forces do, and the solver finds the contacts.
//!
//! The sweeps are as many whatever happens, so that nothing far away changes a bit, and start from
//! the last step's λ and γ. What they leave is an error of the drive: its force is a little off
//! what its law asks at the speed that the solver then finds, and within its largest force all the
//! same; no law of contact is broken by it. Elastic forces are not in view: of a cloth that hangs
//! on it a motor sees the nodes that are attached, and it is slower than its goal by what the rest
//! of the cloth pulls in a step.

use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{ContactProblem, Impulses, Island, Response};
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Motion};
use crate::model::joint::rows::{Role, Row, rows_of};
use crate::model::joint::store::{Held, Joints};
use crate::solver::pgs_sweep::Sweeper;

/// Sweeps over contacts and drives. With these a motor that lifts a beam by its end has its speed to
/// a thousandth, as a test says.
const SWEEPS: u32 = 30;

/// A drive on its way through a step.
#[derive(Clone, Debug)]
pub(crate) struct Driven<S: Space> {
    /// Place of its joint, and which of the joint's rows it is.
    place: u32,
    index: usize,
    bodies: [usize; 2],
    row: Row<S>,
    role: Role,
    /// A, 1/kg or 1/(kg·m²).
    admittance: f64,
    /// λ, N·s or N·m·s.
    impulse: f64,
}

/// All drives of joints where bodies are now, with the impulses of the last step.
fn all<S: Space>(
    joints: &Joints<S>,
    bodies: &Bodies<S>,
    responses: &[Response<S>],
) -> Vec<Driven<S>> {
    let mut drives = Vec::new();
    for (place, joint) in joints.iter() {
        let roles = rows_of::<S>(&joint.kind);
        let ends = [joint.a as usize, joint.b as usize];
        joint.for_each_row_now(bodies, &roles, |index, row| {
            let role = roles[index].1;
            let admittance = admittance(&row, ends, responses);
            if matches!(role, Role::Motor(..) | Role::Spring(_)) && admittance > 0.0 {
                drives.push(Driven {
                    place,
                    index,
                    bodies: ends,
                    row,
                    role,
                    admittance,
                    impulse: joint.driven.get(index).copied().unwrap_or(0.0),
                });
            }
        });
    }
    drives
}

/// Finds what drives do in a step and adds it to the free velocities. The contacts' impulses are
/// then nearer to the answer too.
pub(crate) fn act<S: Space>(
    joints: &Joints<S>,
    bodies: &Bodies<S>,
    assembled: &mut Assembled<S>,
    impulses: &mut Impulses<S>,
) -> Vec<Driven<S>> {
    let problem = &assembled.problem;
    let mut drives = all(joints, bodies, &problem.responses);
    if drives.is_empty() {
        return drives;
    }
    let islands = driven_islands(problem, &drives);
    let mut sweeper = Sweeper::new(problem, impulses);
    for drive in &drives {
        drive.push(
            drive.impulse,
            &problem.responses,
            &mut sweeper.velocities.motion,
        );
    }
    for sweep in 0..SWEEPS {
        for &island in &islands {
            sweeper.sweep(island, sweep % 2 == 0);
        }
        for drive in &mut drives {
            let change = drive.change(&sweeper.velocities.motion, problem.dt);
            drive.impulse += change;
            drive.push(change, &problem.responses, &mut sweeper.velocities.motion);
        }
    }
    let problem = &mut assembled.problem;
    for drive in &drives {
        drive.push(drive.impulse, &problem.responses, &mut problem.free);
    }
    drives
}

/// Hands the impulses to the joints they belong to, for the next step to start from.
pub(crate) fn keep<S: Space>(drives: &[Driven<S>], joints: &mut Joints<S>) {
    for drive in drives {
        joints.note_drive(drive.place, drive.index, drive.impulse);
    }
}

/// What drives of a joint did in the last step of `dt` seconds, row by row: N or N·m.
pub(crate) fn forces<S: Space>(joint: &Held<S>, dt: f64) -> Vec<f64> {
    joint.driven.iter().map(|impulse| impulse / dt).collect()
}

/// Islands of contacts that drives can reach.
fn driven_islands<S: Space>(problem: &ContactProblem<S>, drives: &[Driven<S>]) -> Vec<Island> {
    let mut is_driven = vec![false; problem.responses.len()];
    for &k in drives.iter().flat_map(|drive| &drive.bodies) {
        is_driven[k] = problem.responses[k].moves();
    }
    let reaches = |row: usize| {
        let row = &problem.rows[row];
        let mut bodies = row.a.bodies().chain(row.b.bodies());
        bodies.any(|k| is_driven[k as usize])
    };
    let islands = problem.islands.iter().copied();
    islands
        .filter(|island| island.rows().any(reaches))
        .collect()
}

fn admittance<S: Space>(row: &Row<S>, ends: [usize; 2], responses: &[Response<S>]) -> f64 {
    let [a, b] = [(ends[0], -1.0), (ends[1], 1.0)].map(|(k, sign)| row.answer(sign, responses[k]));
    row.n.dot(b.linear - a.linear) + row.j_b.dot(b.spin) - row.j_a.dot(a.spin)
}

impl<S: Space> Driven<S> {
    /// u, m/s or rad/s.
    fn speed(&self, motion: &[Motion<S>]) -> f64 {
        let [a, b] = self.bodies.map(|k| &motion[k]);
        let row = &self.row;
        row.n.dot(b.linear - a.linear) + row.j_b.dot(b.spin) - row.j_a.dot(a.spin)
    }

    /// Δλ with all others as they are.
    fn change(&self, motion: &[Motion<S>], dt: f64) -> f64 {
        let speed = self.speed(motion);
        let (change, most) = match self.role {
            Role::Motor(goal, most) => ((goal - speed) / self.admittance, most),
            Role::Spring([at, stiffness, damping, most]) => {
                let sigma = dt * (dt * stiffness + damping);
                let due = self.impulse + dt * stiffness * (self.row.value - at) + sigma * speed;
                (-due / (1.0 + sigma * self.admittance), most)
            }
            Role::Lock | Role::Limit(..) => (0.0, 0.0),
        };
        (self.impulse + change).clamp(-most * dt, most * dt) - self.impulse
    }

    /// Changes velocities by an impulse along the coordinate.
    fn push(&self, impulse: f64, responses: &[Response<S>], motion: &mut [Motion<S>]) {
        for (k, sign) in self.bodies.into_iter().zip([-1.0, 1.0]) {
            let answer = self.row.answer(sign, responses[k]);
            motion[k].linear += answer.linear * impulse;
            motion[k].spin += answer.spin * impulse;
        }
    }
}

impl<S: Space> Row<S> {
    /// How a unit impulse along the coordinate moves a body that answers so: B with sign 1, A
    /// with sign −1.
    fn answer(&self, sign: f64, response: Response<S>) -> Motion<S> {
        let about = if sign > 0.0 { self.j_b } else { self.j_a };
        Motion {
            linear: response.inv_mass.scale(self.n) * sign,
            spin: S::apply_inertia(&response.inv_inertia, about) * sign,
        }
    }
}
