//! Contact of deformables with their implicit system in the place of masses (ADMM).
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
//! step; a round is one back substitution and two warm sweeps over the contacts. Large systems are
//! not factorised: a round is a few [conjugate gradients](super::conjugate_gradients) that go on from the
//! last one's, there are fewer rounds, and after the last of them H v = M v\* + h f + Jᵀγ is solved
//! to the end with the γ that was found. ρ lies half-way, in orders of
//! magnitude, between the least (the node's mass) and the most (H's diagonal) that a node can
//! resist with.
//!
//! The contact problem that is kept and judged is that of the last round. What is left of v − z
//! shows in the certificate as an error of momentum, for large systems as a residual of contact.

mod untouched;

use super::admm_rounds::Rounds;
use super::conjugate_gradients::Effort;
use super::system::System;
use super::systems::ElasticSystems;
use crate::contact::detection::Contact;
use crate::contact::problem::Impulses;
use crate::contact::problem::assemble::Assembled;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::Integrator;
use crate::model::deformable::store::{Deformables, Soft};
use crate::solver::impact_settling::settle;
use crate::solver::pgs_sweep::Sweeper;
use crate::solver::{SolveReport, SolverKind};

/// Rounds at most.
const ROUNDS: u32 = 24;
/// Difference of v and z at which it is enough, m/s.
const TOLERANCE: f64 = 5e-5;
/// Iterations of a contact solve within a round at most: the next round goes on from there, and a
/// full solve follows the last.
const SWEEPS: u32 = 2;
/// Iterations of a large system in a round.
const BRIEF: usize = 5;
/// Rounds of large systems at most, and the difference at which it is enough there, m/s: some
/// micrometres a step.
const LARGE_ROUNDS: u32 = 12;
const LARGE_TOLERANCE: f64 = 5e-4;
/// Sweeps after the last of them at most.
const LARGE_SWEEPS: u32 = 6;

/// How elastic forces are worked out.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// Length of the step, s.
    pub(crate) dt: f64,
    pub(crate) integrator: Integrator,
    pub(crate) threads: u32,
    /// How well what contact does not touch is solved, where it is large.
    pub(crate) effort: Effort,
}

/// The elastic part of a step.
pub(crate) struct Elastic<'a, S: Space> {
    deformables: &'a Deformables,
    systems: &'a mut ElasticSystems,
    rule: Rule,
    /// v*: velocities after all forces but elastic ones.
    starred: Vec<Motion<S>>,
    /// ρ of each body, kg: 0 for all but nodes in contact.
    second_mass: Vec<f64>,
    /// Whether the free velocities of nodes, and not those after contact, are where elastic forces
    /// were taken: of each deformable by its place.
    is_apart: Vec<bool>,
}

/// Which nodes contacts can move.
pub(crate) fn touched<S: Space>(bodies: &Bodies<S>, contacts: &[Contact<S>]) -> Vec<bool> {
    let mut touched = vec![false; bodies.len()];
    for k in contacts.iter().flat_map(Contact::bodies) {
        let k = k as usize;
        touched[k] = bodies.node_of[k] != 0 && bodies.is_dynamic(k);
    }
    touched
}

impl<'a, S: Space> Elastic<'a, S> {
    /// Adds what elastic forces do without contact to the free velocities of deformables that
    /// nothing touches, and prepares those that something does (their nodes keep v\*). Fails
    /// with the name of a deformable whose forces are no numbers.
    pub(crate) fn new(
        (deformables, systems): (&'a Deformables, &'a mut ElasticSystems),
        bodies: &Bodies<S>,
        free: &mut [Motion<S>],
        rule: Rule,
        touched: &[bool],
    ) -> Result<Self, String> {
        Self::guessed(
            (deformables, systems),
            (bodies, &bodies.motion),
            free,
            rule,
            touched,
        )
    }

    /// The same, with a guess of the velocities after elastic forces for large systems to start
    /// from.
    pub(crate) fn guessed(
        (deformables, systems): (&'a Deformables, &'a mut ElasticSystems),
        (bodies, guess): (&Bodies<S>, &[Motion<S>]),
        free: &mut [Motion<S>],
        rule: Rule,
        touched: &[bool],
    ) -> Result<Self, String> {
        systems.fit(deformables);
        let mut second_mass = vec![0.0; bodies.len()];
        let starred = if deformables.is_empty() {
            Vec::new()
        } else {
            free.to_vec()
        };
        let inner = inner_rule(deformables, rule);
        let prepared = systems.each(deformables, rule.threads, |soft, system| {
            let soft = (soft, system);
            prepare(soft, (bodies, guess), &starred, (inner, true), touched)
        });
        for (place, done) in prepared {
            let Prepared { masses, change } = done?;
            for (k, mass) in masses {
                second_mass[k] = mass;
            }
            if let Some(soft) = &deformables.list[place] {
                add_impulses(soft, &change, |k, change: S::Vector| {
                    free[k].linear += change
                });
            }
        }
        let is_apart = vec![true; deformables.list.len()];
        Ok(Self {
            deformables,
            systems,
            rule,
            starred,
            second_mass,
            is_apart,
        })
    }

    /// Prepares deformables anew for contact at other nodes. Fails with the name of a deformable
    /// whose forces are no numbers.
    pub(crate) fn touch(&mut self, bodies: &Bodies<S>, touched: &[bool]) -> Result<(), String> {
        if self.rule.integrator == Integrator::Symplectic {
            return Ok(());
        }
        let starred = &self.starred;
        let rule = inner_rule(self.deformables, self.rule);
        let (deformables, threads) = (self.deformables, self.rule.threads);
        let prepared = self.systems.each(deformables, threads, |soft, system| {
            let is_touched = soft.nodes.iter().any(|&k| touched[k as usize]);
            is_touched.then(|| {
                prepare(
                    (soft, system),
                    (bodies, &bodies.motion),
                    starred,
                    (rule, false),
                    touched,
                )
            })
        });
        self.second_mass.fill(0.0);
        for done in prepared.into_iter().filter_map(|(_, done)| done) {
            for (k, mass) in done?.masses {
                self.second_mass[k] = mass;
            }
        }
        Ok(())
    }

    /// Solves a step's contacts.
    pub(crate) fn settle(
        &mut self,
        bodies: &Bodies<S>,
        solver: &mut SolverKind,
        assembled: &mut Assembled<S>,
        impulses: &mut Impulses<S>,
    ) -> SolveReport {
        let is_touched = self.second_mass.iter().any(|&mass| mass > 0.0);
        if !is_touched || self.rule.integrator == Integrator::Symplectic {
            return settle(solver, assembled, impulses);
        }
        let mut rounds = self.begin(bodies, assembled, impulses);
        let sweeps = match solver {
            SolverKind::Pgs(_) if assembled.bounces.iter().all(Option::is_none) => {
                self.sweep_rounds(&mut rounds, assembled, impulses)
            }
            _ => self.solve_rounds(&mut rounds, solver, assembled, impulses),
        };
        let is_large = self.is_large();
        let mut last = *solver;
        if is_large {
            last.set_iterations(solver.iterations_and_tolerance().0.min(LARGE_SWEEPS));
        }
        let last = settle(&mut last, assembled, impulses);
        if is_large {
            self.balance(bodies, assembled, impulses);
        }
        SolveReport {
            iterations: sweeps.saturating_add(last.iterations),
            ..last
        }
    }

    /// Most rounds, and the tolerance in m/s.
    fn patience(&self) -> (u32, f64) {
        if self.is_large() {
            (LARGE_ROUNDS, LARGE_TOLERANCE)
        } else {
            (ROUNDS, TOLERANCE)
        }
    }

    /// Whether any system is solved by conjugate gradients.
    fn is_large(&self) -> bool {
        (0..self.deformables.list.len()).any(|place| self.systems.is_iterative(place))
    }

    /// Solves H v = M v\* + h f + Jᵀγ for large systems with the impulses that were found: rounds
    /// that end early leave v − z, and this puts it on the contacts' side. Momentum is kept to the
    /// last digits, and what is left shows as a residual of contact.
    fn balance(
        &mut self,
        bodies: &Bodies<S>,
        assembled: &mut Assembled<S>,
        impulses: &Impulses<S>,
    ) {
        let reached = assembled.problem.velocities(impulses).motion;
        let free = &mut assembled.problem.free;
        let (starred, second_mass) = (&self.starred, &self.second_mass);
        let of_contact = |k: usize, free: &[Motion<S>]| reached[k].linear - free[k].linear;
        let before = &free[..];
        let (deformables, threads) = (self.deformables, self.rule.threads);
        let changes = self.systems.each(deformables, threads, |soft, slot| {
            let is_touched = soft.nodes.iter().any(|&k| second_mass[k as usize] > 0.0);
            let is_meant = is_touched && slot.as_ref()?.is_iterative();
            let system = slot.as_mut().filter(|_| is_meant)?;
            let pushed = |&k: &u32| {
                let k = k as usize;
                (of_contact(k, before) * second_mass[k]).to_array3()
            };
            let pushed: Vec<f64> = soft.nodes.iter().flat_map(pushed).collect();
            let begun = system.begin(soft, (bodies, starred), &reached, &[]);
            begun
                .is_ok()
                .then(|| system.solve(S::DIM, &pushed, Effort::Full))
        });
        let mut aims = Vec::new();
        for (place, change) in changes {
            if let (Some(soft), Some(change)) = (&self.deformables.list[place], change) {
                add_impulses(soft, &change, |k, change: S::Vector| {
                    aims.push((k, starred[k].linear + change - of_contact(k, before)));
                });
            }
        }
        for (k, linear) in aims {
            free[k].linear = linear;
        }
    }

    /// Rounds with any solver; gives its iterations.
    fn solve_rounds(
        &mut self,
        rounds: &mut Rounds<S>,
        solver: &SolverKind,
        assembled: &mut Assembled<S>,
        impulses: &mut Impulses<S>,
    ) -> u32 {
        let mut brief = *solver;
        brief.set_iterations(solver.iterations_and_tolerance().0.min(SWEEPS));
        let mut iterations = 0_u32;
        let (most, tolerance) = self.patience();
        for _ in 0..most {
            self.move_nodes(rounds, &mut assembled.problem.free);
            let v: Vec<S::Vector> = rounds.linear(&assembled.problem.free);
            rounds.relax(&mut assembled.problem.free);
            let again = settle(&mut brief, assembled, impulses);
            iterations = iterations.saturating_add(again.iterations);
            let after = assembled.problem.velocities(impulses).motion;
            if rounds.close(&v, &assembled.problem.free, &after) <= tolerance {
                break;
            }
        }
        iterations
    }

    /// Rounds with projected Gauss-Seidel, whose numbers are kept from round to round: a node's
    /// velocity with the impulses so far is v̂ itself, because u is what they do to it. Gives the
    /// number of sweeps.
    fn sweep_rounds(
        &mut self,
        rounds: &mut Rounds<S>,
        assembled: &mut Assembled<S>,
        impulses: &mut Impulses<S>,
    ) -> u32 {
        let mut free = assembled.problem.free.clone();
        let mut sweeper = Sweeper::new(&assembled.problem, impulses);
        let (most, tolerance) = self.patience();
        let mut sweeps = 0;
        for _ in 0..most {
            self.move_nodes(rounds, &mut free);
            let v: Vec<S::Vector> = rounds.linear(&free);
            for (n, &k) in rounds.nodes.iter().enumerate() {
                sweeper.velocities.motion[k as usize].linear = rounds.relaxed(n, v[n]);
            }
            rounds.relax(&mut free);
            for &island in &assembled.problem.islands {
                // A contact by itself is done at once.
                let count = SWEEPS.min(island.end - island.start);
                for sweep in 0..count {
                    sweeper.sweep(island, sweep % 2 == 0);
                }
            }
            sweeps += SWEEPS;
            if rounds.close(&v, &free, &sweeper.velocities.motion) <= tolerance {
                break;
            }
        }
        assembled.problem.free = free;
        sweeps
    }

    /// Gives nodes in contact their second mass.
    fn begin(
        &self,
        bodies: &Bodies<S>,
        assembled: &mut Assembled<S>,
        impulses: &Impulses<S>,
    ) -> Rounds<S> {
        let second_mass = &self.second_mass;
        let all = self.deformables.iter().flat_map(|soft| &soft.nodes);
        let nodes: Vec<u32> = all
            .copied()
            .filter(|&k| second_mass[k as usize] > 0.0)
            .collect();
        let problem = &mut assembled.problem;
        for &k in &nodes {
            let k = k as usize;
            problem.responses[k].inv_mass = S::Vector::splat(1.0 / second_mass[k]);
        }
        let after = problem.velocities(impulses).motion;
        let multiplier = |&k: &u32| problem.free[k as usize].linear - after[k as usize].linear;
        Rounds {
            multiplier: nodes.iter().map(multiplier).collect(),
            second: nodes
                .iter()
                .map(|&k| bodies.motion[k as usize].linear)
                .collect(),
            nodes,
        }
    }

    /// v of all nodes from z and u.
    fn move_nodes(&mut self, rounds: &Rounds<S>, free: &mut [Motion<S>]) {
        let mut pull = vec![S::Vector::default(); free.len()];
        for (n, &k) in rounds.nodes.iter().enumerate() {
            let k = k as usize;
            let aim = rounds.second[n] - rounds.multiplier[n] - self.starred[k].linear;
            pull[k] = aim * self.second_mass[k];
        }
        let second_mass = &self.second_mass;
        let (deformables, threads) = (self.deformables, self.rule.threads);
        let changes = self.systems.each(deformables, threads, |soft, slot| {
            let is_touched = soft.nodes.iter().any(|&k| second_mass[k as usize] > 0.0);
            let system = slot.as_mut().filter(|_| is_touched)?;
            let pull = soft.nodes.iter().map(|&k| pull[k as usize]);
            let pull: Vec<f64> = pull
                .flat_map(|p| (0..S::DIM).map(move |axis| p.component(axis)))
                .collect();
            Some(system.solve(S::DIM, &pull, Effort::Some(BRIEF)))
        });
        for (place, change) in changes {
            if let (Some(soft), Some(change)) = (&self.deformables.list[place], change) {
                add_impulses(soft, &change, |k, change: S::Vector| {
                    free[k].linear = self.starred[k].linear + change;
                });
            }
        }
    }
}

/// A deformable, ready for contact.
struct Prepared {
    /// ρ of the bodies that are nodes in contact, kg.
    masses: Vec<(usize, f64)>,
    /// What elastic forces change of each node's velocity, m/s, node after node: nothing where
    /// something touches, because contact has to be known first.
    change: Vec<f64>,
}

/// Linearises a deformable, if `is_new`, and gets it ready for contact. Fails with its name.
fn prepare<S: Space>(
    (soft, system): (&Soft, &mut Option<Box<System>>),
    (bodies, guess): (&Bodies<S>, &[Motion<S>]),
    starred: &[Motion<S>],
    (rule, is_new): (Rule, bool),
    touched: &[bool],
) -> Result<Prepared, String> {
    let system = system.get_or_insert_default();
    if is_new {
        let done = system.linearise(soft, bodies, rule);
        done.ok_or_else(|| soft.name.clone())?;
    }
    let mut prepared = Prepared {
        masses: Vec::new(),
        change: Vec::new(),
    };
    match rule.integrator {
        Integrator::Implicit => {
            let begun = system.begin(soft, (bodies, starred), guess, touched);
            prepared.masses = begun.map_err(|_| soft.name.clone())?;
            if prepared.masses.is_empty() {
                prepared.change = system.solve(S::DIM, &[], rule.effort);
            }
        }
        Integrator::Symplectic => {
            prepared.change = system.impulse(soft, &bodies.motion);
            for (&body, of_node) in soft.nodes.iter().zip(prepared.change.chunks_mut(S::DIM)) {
                let inv_mass = bodies.inertial[body as usize].inv_mass;
                for (axis, p) in of_node.iter_mut().enumerate() {
                    *p *= inv_mass.component(axis);
                }
            }
        }
    }
    Ok(prepared)
}

/// The rule for each deformable where several share the threads.
fn inner_rule(deformables: &Deformables, rule: Rule) -> Rule {
    let count = deformables.iter().count().max(1);
    Rule {
        threads: (rule.threads as usize / count).max(1) as u32,
        ..rule
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
