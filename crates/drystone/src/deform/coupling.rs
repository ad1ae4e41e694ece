//! Contact of deformables: impulses that act on H, not on the nodes' masses.
//!
//! An impulse on a node of something stiff moves all of it within the step. Contact solved with the
//! nodes' masses alone would stop a cube's lowest nodes and let the rest fall on, and a stone
//! would sink into a trampoline whose nodes weigh nothing. So contact is solved with
//! $H = M + hD + h^2K$ in the place of M. Solvers want masses on a diagonal; the alternating
//! direction method of multipliers gives them some. Each node in contact has a second velocity z
//! that contact acts on, with a mass ρ of its own, tied to v by a multiplier u:
//!
//! $$ (H + R)\,v = M v^* + h f + R(z - u), \qquad
//!    z = \text{contact with masses } R \text{ from } \hat v + u, \qquad
//!    u \leftarrow \hat v + u - z = -R^{-1}J^T\gamma , $$
//!
//! with $\hat v = \alpha v + (1-\alpha) z$ (over-relaxation). Where v = z, both equations add up to
//! $H v = M v^* + h f + J^T\gamma$ with γ obeying the laws of contact. H + R is factorised once a
//! step; a round is one back substitution and one warm contact solve. ρ lies half-way, in orders of
//! magnitude, between the least (the node's mass) and the most (H's diagonal) that a node can
//! resist with.
//!
//! The contact problem that is kept and judged is that of the last round. What is left of v − z
//! shows in the certificate as an error of momentum.

use super::store::{Deformables, Soft};
use super::{Integrator, implicit::System};
use crate::body::{Bodies, Motion};
use crate::certify::Ledger;
use crate::problem::Impulses;
use crate::problem::assemble::Assembled;
use crate::solve::settle::settle;
use crate::solve::{SolveReport, SolverKind};
use crate::space::{Components, Linear, Space};

/// Rounds at most.
const ROUNDS: u32 = 40;
/// Difference of v and z at which it is enough, m/s.
const TOLERANCE: f64 = 1e-5;
/// Iterations of a contact solve within a round at most: the next round goes on from there, and a
/// full solve follows the last.
const SWEEPS: u32 = 5;
/// α.
const RELAXATION: f64 = 1.6;

/// The elastic part of a step.
pub(crate) struct Elastic<'a, S: Space> {
    deformables: &'a mut Deformables,
    integrator: Integrator,
    /// v*: velocities after all forces but elastic ones.
    starred: Vec<Motion<S>>,
}

impl<'a, S: Space> Elastic<'a, S> {
    /// Adds what elastic forces do without contact to the free velocities. Fails with the name
    /// of a deformable whose forces are no numbers.
    pub(crate) fn new(
        deformables: &'a mut Deformables,
        bodies: &Bodies<S>,
        free: &mut [Motion<S>],
        dt: f64,
        integrator: Integrator,
    ) -> Result<Self, String> {
        let starred = if deformables.is_empty() {
            Vec::new()
        } else {
            free.to_vec()
        };
        for soft in deformables.list.iter_mut().flatten() {
            let mut system = match soft.system.0.take() {
                Some(system) => system,
                None => Box::new(System::analyse(soft, bodies).ok_or(soft.name.as_str())?),
            };
            system.linearise(soft, bodies, dt, integrator);
            match integrator {
                Integrator::Implicit => {
                    let done = system.factorise(soft, bodies, &[]);
                    done.map_err(|_| soft.name.clone())?;
                    system.start_from(soft, &starred);
                    system.solve(soft, free, &[]);
                }
                Integrator::Symplectic => {
                    add_impulses(soft, &system.impulse(soft, &bodies.motion), |k, p| {
                        let push = bodies.inertial[k].inv_mass.scale(p);
                        free[k].linear += push;
                    });
                }
            }
            soft.system.0 = Some(system);
        }
        Ok(Self {
            deformables,
            integrator,
            starred,
        })
    }

    /// Solves a step's contacts.
    pub(crate) fn settle(
        &mut self,
        bodies: &Bodies<S>,
        solver: &mut SolverKind,
        assembled: &mut Assembled<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let mut touched = vec![false; bodies.len()];
        let mut is_touched = false;
        for row in &assembled.problem.rows {
            for k in row.a.bodies().chain(row.b.bodies()) {
                // Belts are numbered after the bodies.
                let k = k as usize;
                if k < bodies.len() && bodies.node_of[k] != 0 && bodies.is_dynamic(k) {
                    touched[k] = true;
                    is_touched = true;
                }
            }
        }
        if !is_touched || self.integrator == Integrator::Symplectic {
            return settle(solver, assembled, impulses);
        }
        let Some(mut rounds) = self.begin(bodies, &touched, assembled, impulses) else {
            return settle(solver, assembled, impulses);
        };
        let mut report = SolveReport::default();
        let mut brief = *solver;
        brief.set_iterations(solver.iterations_and_tolerance().0.min(SWEEPS));
        for _ in 0..ROUNDS {
            self.move_nodes(&rounds, &mut assembled.problem.free);
            let v: Vec<S::Vector> = rounds.linear(&assembled.problem.free);
            rounds.relax(&mut assembled.problem.free);
            let again = settle(&mut brief, assembled, impulses);
            report.iterations = report.iterations.saturating_add(again.iterations);
            let after = assembled.problem.velocities(impulses).motion;
            if rounds.close(&v, &assembled.problem.free, &after) <= TOLERANCE {
                break;
            }
        }
        let last = settle(solver, assembled, impulses);
        SolveReport {
            iterations: report.iterations.saturating_add(last.iterations),
            ..last
        }
    }

    /// Gives nodes in contact their second mass and factorises H + R. `None` if that fails.
    fn begin(
        &mut self,
        bodies: &Bodies<S>,
        touched: &[bool],
        assembled: &mut Assembled<S>,
        impulses: &Impulses<S>,
    ) -> Option<Rounds<S>> {
        let mut second_mass = vec![0.0; bodies.len()];
        let mut nodes = Vec::new();
        for soft in self.deformables.list.iter_mut().flatten() {
            let mut system = soft.system.0.take()?;
            let mut extra = vec![0.0; soft.nodes.len()];
            for (node, &body) in soft.nodes.iter().enumerate() {
                let k = body as usize;
                if touched[k] {
                    extra[node] = (bodies.mass(k) * system.weight[node]).sqrt();
                    second_mass[k] = extra[node];
                    nodes.push(body);
                }
            }
            let done = system.factorise(soft, bodies, &extra);
            soft.system.0 = Some(system);
            done.ok()?;
        }
        let problem = &mut assembled.problem;
        for &k in &nodes {
            let k = k as usize;
            problem.responses[k].inv_mass = S::Vector::splat(1.0 / second_mass[k]);
        }
        let after = problem.velocities(impulses).motion;
        let multiplier = |&k: &u32| problem.free[k as usize].linear - after[k as usize].linear;
        Some(Rounds {
            multiplier: nodes.iter().map(multiplier).collect(),
            second: nodes
                .iter()
                .map(|&k| bodies.motion[k as usize].linear)
                .collect(),
            second_mass,
            nodes,
        })
    }

    /// v of all nodes from z and u.
    fn move_nodes(&mut self, rounds: &Rounds<S>, free: &mut [Motion<S>]) {
        let mut pull = vec![S::Vector::default(); free.len()];
        for (n, &k) in rounds.nodes.iter().enumerate() {
            let k = k as usize;
            let aim = rounds.second[n] - rounds.multiplier[n] - self.starred[k].linear;
            pull[k] = aim * rounds.second_mass[k];
        }
        for soft in self.deformables.list.iter_mut().flatten() {
            let Some(mut system) = soft.system.0.take() else {
                continue;
            };
            let mut extra = Vec::with_capacity(soft.nodes.len() * S::DIM);
            for &body in &soft.nodes {
                let k = body as usize;
                free[k] = self.starred[k];
                extra.extend((0..S::DIM).map(|axis| pull[k].component(axis)));
            }
            system.solve(soft, free, &extra);
            soft.system.0 = Some(system);
        }
    }

    /// Writes the impulses of elastic forces into the ledger.
    pub(crate) fn enter(&self, ledger: &mut Ledger<S>, velocities: &[Motion<S>]) {
        for soft in self.deformables.iter() {
            let Some(system) = &soft.system.0 else {
                continue;
            };
            let motion = match self.integrator {
                Integrator::Implicit => velocities,
                Integrator::Symplectic => &ledger.before,
            };
            let impulse = system.impulse(soft, motion);
            add_impulses(soft, &impulse, |k, p| ledger.forces[k].0 += p);
        }
    }
}

/// What rounds go on from: nodes in contact, z, u and ρ.
struct Rounds<S: Space> {
    nodes: Vec<u32>,
    second: Vec<S::Vector>,
    multiplier: Vec<S::Vector>,
    /// Of all bodies, kg.
    second_mass: Vec<f64>,
}

impl<S: Space> Rounds<S> {
    fn linear(&self, motion: &[Motion<S>]) -> Vec<S::Vector> {
        let linear = |&k: &u32| motion[k as usize].linear;
        self.nodes.iter().map(linear).collect()
    }

    /// The velocities that contact starts from.
    fn relax(&self, free: &mut [Motion<S>]) {
        for (n, &k) in self.nodes.iter().enumerate() {
            let linear = &mut free[k as usize].linear;
            let relaxed = *linear * RELAXATION + self.second[n] * (1.0 - RELAXATION);
            *linear = relaxed + self.multiplier[n];
        }
    }

    /// Takes z and u from a contact solve; the largest difference of v, z and the last z, m/s.
    fn close(&mut self, v: &[S::Vector], free: &[Motion<S>], after: &[Motion<S>]) -> f64 {
        let mut largest = 0.0_f64;
        for (n, &k) in self.nodes.iter().enumerate() {
            let z = after[k as usize].linear;
            largest = largest
                .max((v[n] - z).length())
                .max((z - self.second[n]).length());
            self.multiplier[n] = free[k as usize].linear - z;
            self.second[n] = z;
        }
        largest
    }
}

/// Calls `f(body, impulse)` for flat impulses on a deformable's nodes.
fn add_impulses<V: Components>(soft: &Soft, impulses: &[f64], mut f: impl FnMut(usize, V)) {
    let dim = impulses.len() / soft.nodes.len().max(1);
    for (&body, of_node) in soft.nodes.iter().zip(impulses.chunks_exact(dim.max(1))) {
        let mut p = V::default();
        for (axis, &value) in of_node.iter().enumerate() {
            p = p.with_component(axis, value);
        }
        f(body as usize, p);
    }
}
