//! The strategy `parallel`: all impacts of a step together, in rounds.

use super::impact_set::ImpactSet;
use super::impact_zones::fail_safe;
use super::shared_nodes::SharedNodes;
use super::sweeps::{self, LARGE, NodeRow, Patience};
use super::swept_motion::{Impact, SweptMotion};
use super::{Memory, Outcome, Start};
use crate::contact::detection::Contact;
use crate::contact::primitives::{Failure, Poses, Primitives};
use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{Impulses, Island, Row, Velocities};
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::geometry::Space;
use crate::judge::law::Answered;
use crate::model::body::Motion;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::solver::{SolveReport, SolverKind};
use crate::strategy::step::{Phase, Resolution};

/// Part of the distance that is kept by which impacts of nodes may miss it.
const ENOUGH: f64 = 0.5;
/// Later rounds solve what is within so many impacts of a new one, each sharing a node with the one
/// before, and in all at least so many as are swept together.
const RINGS: usize = 3;

/// Makes a step.
pub(crate) fn parallel<S: Space>(
    start: &Start<'_, S>,
    primitives: &Primitives<S>,
    elastic: &mut Elastic<'_, S>,
    watch: &mut dyn FnMut(Phase),
) -> Result<Outcome<S>, Failure<S>> {
    let (bodies, dt) = (start.bodies, start.settings.dt);
    let flight = SweptMotion::new(start, bodies, primitives);
    let mut step = Step {
        start,
        flight: &flight,
        held: flight.held.iter().map(|contact| contact.impulse).collect(),
        register: ImpactSet::new(start.solved, bodies.len(), start.settings.threads as usize),
        coupled: None,
        velocities: start.free.clone(),
        is_pushed: false,
        memory: start.memory.take(),
        written: 0,
        is_single: Vec::new(),
        ties: SharedNodes::new(bodies.len()),
        solve: SolveReport {
            converged: true,
            ..SolveReport::default()
        },
    };
    let mut resolution = Resolution::default();
    let mut way = flight.way(&step.velocities, dt);
    let lasting = flight.lasting(&way, start.solved, &mut step.memory.hits);
    step.register.start(lasting, flight.parties());
    if step.has_rows() {
        step.settle(elastic)?;
        watch(Phase::Contact);
        way = flight.way(&step.velocities, dt);
    }
    let mut hits = flight.hits(&way);
    flight.check_start()?;
    watch(Phase::Detection);
    while !hits.is_empty() && resolution.rounds < start.options.most {
        resolution.rounds += 1;
        resolution.impacts += hits.len();
        let on_nodes = flight.on_nodes(&way, hits);
        step.register.add(on_nodes, flight.parties());
        if resolution.rounds == 1 {
            // What they push will meet the next: that saves rounds.
            let stirred = step.stirred();
            let near = flight.near(&way, &step.register, &stirred);
            step.register.add(near, flight.parties());
        }
        step.settle(elastic)?;
        watch(Phase::Contact);
        way = flight.way(&step.velocities, dt);
        hits = flight.hits(&way);
        watch(Phase::Detection);
    }
    if !hits.is_empty() {
        way = fail_safe(&flight, &[], &mut step.velocities, dt, &mut resolution)?;
    }
    watch(Phase::Rescue);
    Ok(step.end(&way, resolution))
}

/// A step on its way.
struct Step<'a, S: Space> {
    start: &'a Start<'a, S>,
    flight: &'a SweptMotion<'a, S>,
    register: ImpactSet<S>,
    /// Impulses of attachments' contacts on nodes, in world axes, N·s.
    held: Vec<S::Vector>,
    /// The problem of what does not meet contact node by node, if there is such.
    coupled: Option<(Assembled<S>, Impulses<S>)>,
    velocities: Vec<Motion<S>>,
    /// Whether velocities are others than the free ones.
    is_pushed: bool,
    /// Lists in use are taken out of it, but for `rows`: how each impact in the register is swept, if
    /// it can be, up to the number `written`.
    memory: Memory<S>,
    written: usize,
    /// Of each body: whether it meets contact by itself, as it was when all impacts were last
    /// solved together.
    is_single: Vec<bool>,
    ties: SharedNodes,
    solve: SolveReport,
}

impl<S: Space> Step<'_, S> {
    /// Whether there is anything to solve. Attachments pull where nothing meets too.
    fn has_rows(&self) -> bool {
        !(self.register.hits.is_empty() && self.held.is_empty())
    }

    /// Solves all impacts so far: where nothing but nodes with their own masses is in contact, only
    /// around those that are new.
    fn settle(&mut self, elastic: &mut Elastic<'_, S>) -> Result<(), Failure<S>> {
        let new = self.register.all_new();
        let is_single = |k: &u32| self.is_single.get(*k as usize) == Some(&true);
        let bodies = new.iter().flat_map(|&k| self.register.bodies(k));
        let is_known = !self.is_single.is_empty() && self.coupled.is_none();
        if !(is_known && bodies.clone().all(is_single) && self.settle_around(&new, elastic)) {
            self.settle_all(elastic)?;
        }
        self.register.settled();
        Ok(())
    }

    /// Of each body that moves: whether it is in a new impact, or in one that shares a body with such.
    fn stirred(&mut self) -> Vec<bool> {
        let parties = self.flight.parties();
        let moves = |k: u32| parties.moves(k);
        let new = self.register.all_new();
        let all = self.register.all_bodies();
        self.ties.enter(all, moves);
        let mut is_stirred = vec![false; parties.bodies.len()];
        for hit in self.ties.around(&new, all, (1, 0)) {
            for k in all[hit as usize].into_iter().filter(|&k| moves(k)) {
                is_stirred[k as usize] = true;
            }
        }
        is_stirred
    }

    /// Solves what is around new impacts, with the velocities that all others have led to. Gives
    /// whether that can be.
    fn settle_around(&mut self, new: &[u32], elastic: &Elastic<'_, S>) -> bool {
        let before = self.written;
        let old = new.iter().take_while(|&&k| (k as usize) < before);
        let motion = SharedSlice::new(&mut self.velocities);
        for (row, k) in old.filter_map(|&k| Some((self.memory.rows[k as usize].as_ref()?, k))) {
            row.push(self.register.impulses[k as usize] * -1.0, &motion);
        }
        self.write_rows(new);
        let motion = SharedSlice::new(&mut self.velocities);
        for &k in new {
            let Some(row) = &self.memory.rows[k as usize] else {
                return false;
            };
            row.push(self.register.impulses[k as usize], &motion);
        }
        let parties = self.flight.parties();
        let all = self.register.all_bodies();
        self.ties.enter(all, |k| parties.moves(k));
        let around = self.ties.around(new, all, (RINGS, LARGE));
        let of_island = |&k: &u32| (self.register.island_of(k, parties), k);
        let mut keyed: Vec<(u32, u32)> = around.iter().map(of_island).collect();
        keyed.sort_unstable();
        let (mut numbers, mut islands) = (Vec::with_capacity(keyed.len()), Vec::new());
        for island in keyed.chunk_by(|x, y| x.0 == y.0) {
            let start = numbers.len() as u32;
            numbers.extend(island.iter().map(|&(_, k)| k));
            let end = numbers.len() as u32;
            islands.push(Island { start, end });
        }
        let Some(rows) = self.rows_of(&numbers) else {
            return false;
        };
        let solver = self.hurried(elastic);
        self.sweep(rows, &islands, solver, true);
        true
    }

    /// A solver that gives up on errors too small to be seen.
    fn hurried(&self, elastic: &Elastic<'_, S>) -> SolverKind {
        let Start {
            settings, options, ..
        } = *self.start;
        elastic.hurried(settings.solver, ENOUGH * options.keep / settings.dt)
    }

    /// Solves all impacts so far together.
    ///
    /// Islands of nodes with their own masses are swept by themselves, and only if an impact of
    /// theirs is new. Everything else is one problem.
    fn settle_all(&mut self, elastic: &mut Elastic<'_, S>) -> Result<(), Failure<S>> {
        elastic
            .couple(
                self.start.bodies,
                self.register.all_bodies(),
                self.flight.attached,
            )
            .map_err(|_| Failure::Numbers)?;
        let solver = self.hurried(elastic);
        let mut parts = self.part(elastic, &solver);
        self.write_rows(&parts.changed);
        let rows = self.rows_of(&parts.changed).unwrap_or_else(|| {
            // Something is heavier along one axis than along another.
            parts = Parts {
                is_single: vec![false; self.register.hits.len()],
                ..Parts::default()
            };
            Vec::new()
        });
        self.solve_coupled(elastic, solver, &parts.is_single);
        if !parts.changed.is_empty() {
            self.solve_single(rows, &parts.islands, solver);
        }
        Ok(())
    }

    fn threads(&self) -> usize {
        self.start.settings.threads as usize
    }

    /// Writes down how those of these impacts that are new are swept.
    fn write_rows(&mut self, numbers: &[u32]) {
        let threads = self.threads();
        let (register, writer) = (&self.register, self.flight.node_rows(&self.start.free));
        let new = numbers.iter().copied().filter(|&k| register.is_new(k));
        let new: Vec<u32> = new.collect();
        let (before, count) = (self.written, register.hits.len());
        self.written = count;
        let list = &mut self.memory.rows;
        list.resize(list.len().max(count), None);
        let fresh = new.iter().filter(|&&k| k as usize >= before).count();
        if fresh < count - before {
            // What stands there is of the last step.
            list[before..count].fill(None);
        }
        let rows = SharedSlice::new(list);
        thread_pool::run_over(new.len(), threads, |part| {
            for k in part.map(|at| new[at]) {
                let (hit, impulse) = (&register.hits[k as usize], register.impulses[k as usize]);
                rows.change(k as usize, |row| *row = writer.row(k, hit, impulse));
            }
        });
    }

    /// How these impacts are swept, with their impulses so far. `None` where one can't be.
    fn rows_of(&mut self, numbers: &[u32]) -> Option<Vec<NodeRow<S>>> {
        let mut swept = std::mem::take(&mut self.memory.swept);
        let (rows, register) = (&self.memory.rows, &self.register);
        let row = |k: u32| {
            rows[k as usize].map(|row| NodeRow {
                is_new: register.is_new(k),
                impulse: register.impulses[k as usize],
                ..row
            })
        };
        if !numbers.iter().all(|&k| rows[k as usize].is_some()) {
            return None;
        }
        let Some(blank) = numbers.first().and_then(|&k| row(k)) else {
            return Some(Vec::new());
        };
        let count = (numbers.len(), blank);
        thread_pool::refill(&mut swept, count, self.threads(), |at| {
            row(numbers[at]).unwrap_or(blank)
        });
        Some(swept)
    }

    /// Tells impacts of nodes with their own masses from others.
    fn part(&mut self, elastic: &Elastic<'_, S>, solver: &SolverKind) -> Parts {
        let bodies = self.start.bodies;
        let is_single = |k: usize| {
            !bodies.is_dynamic(k)
                || matches!(solver, SolverKind::Pgs(_)) && elastic.is_apart(bodies, k)
        };
        let threads = self.threads();
        self.is_single = thread_pool::gather_from(bodies.len(), threads, |part, list| {
            list.extend(part.map(is_single));
        });
        let keyed = self.register.by_island(self.flight.parties());
        let mut parts = Parts {
            is_single: vec![false; keyed.len()],
            ..Parts::default()
        };
        let register = &self.register;
        for island in keyed.chunk_by(|x, y| x.0 == y.0) {
            let mut all = island.iter().flat_map(|&(_, k)| register.bodies(k));
            if !all.all(|&k| self.is_single[k as usize]) {
                continue;
            }
            let start = parts.changed.len() as u32;
            let is_changed = island.iter().any(|&(_, k)| register.is_new(k));
            for &(_, k) in island {
                parts.is_single[k as usize] = true;
                if is_changed {
                    parts.changed.push(k);
                }
            }
            if is_changed {
                let end = parts.changed.len() as u32;
                parts.islands.push(Island { start, end });
            }
        }
        parts
    }

    /// Solves what does not meet contact node by node, and attachments, as one problem.
    fn solve_coupled(
        &mut self,
        elastic: &mut Elastic<'_, S>,
        mut solver: SolverKind,
        is_single: &[bool],
    ) {
        let register = &mut self.register;
        let numbers: Vec<usize> = register.sorted().filter(|&k| !is_single[k]).collect();
        if numbers.is_empty() && self.held.is_empty() {
            self.coupled = None;
            return;
        }
        let Start {
            bodies, settings, ..
        } = *self.start;
        let hits: Vec<&Impact<S>> = numbers.iter().map(|&k| &register.hits[k]).collect();
        let mut assembled = self
            .flight
            .assemble(&hits, &self.start.free, settings.dt, false);
        let known = numbers.iter().map(|&k| register.impulses[k]);
        let known: Vec<S::Vector> = known.chain(self.held.iter().copied()).collect();
        let mut impulses = local(&assembled, &known);
        let again = elastic.settle(bodies, &mut solver, &mut assembled, &mut impulses);
        for (row, &k) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            let impulse = S::to_world(basis, impulses.local[row]);
            match numbers.get(k as usize) {
                Some(&k) => register.impulses[k] = impulse,
                None => self.held[k as usize - numbers.len()] = impulse,
            }
        }
        let after = assembled.problem.velocities(&impulses).motion;
        let before = std::mem::replace(&mut self.velocities, after[..bodies.len()].to_vec());
        self.is_pushed = true;
        let single = register.all_bodies().iter().zip(is_single);
        for (own, _) in single.filter(|(_, is_single)| **is_single) {
            for k in own.map(|k| k as usize) {
                self.velocities[k] = before[k];
            }
        }
        self.coupled = Some((assembled, impulses));
        self.note(again);
    }

    /// Sweeps islands of nodes with their own masses.
    fn solve_single(&mut self, rows: Vec<NodeRow<S>>, islands: &[Island], solver: SolverKind) {
        if self.is_pushed {
            for k in rows.iter().flat_map(NodeRow::nodes) {
                self.velocities[k] = self.start.free[k];
            }
        }
        self.is_pushed = true;
        self.sweep(rows, islands, solver, false);
    }

    /// Sweeps islands of nodes that have the velocities after the impulses so far if `is_pushed`,
    /// else those without contact.
    fn sweep(
        &mut self,
        mut rows: Vec<NodeRow<S>>,
        islands: &[Island],
        solver: SolverKind,
        is_pushed: bool,
    ) {
        let (sweeps, tolerance) = solver.iterations_and_tolerance();
        let patience = Patience {
            sweeps,
            tolerance,
            is_pushed,
            threads: self.threads(),
        };
        let (velocities, sorted) = (&mut self.velocities, &mut self.memory.sorted);
        let nodes = (&mut velocities[..], &self.start.bodies.position[..]);
        let again = sweeps::solve(&mut rows, islands, nodes, patience, sorted);
        for row in &rows {
            self.register.impulses[row.hit as usize] = row.impulse;
        }
        self.memory.swept = rows;
        self.note(again);
    }

    fn note(&mut self, again: SolveReport) {
        self.solve = SolveReport {
            iterations: self.solve.iterations.saturating_add(again.iterations),
            ..again
        };
    }

    /// All impacts as one problem with its answer, for the judge.
    fn answered(&mut self) -> (Assembled<S>, Impulses<S>) {
        let coupled = self.coupled.take();
        let count = self.register.hits.len() + self.held.len();
        if let Some(all) = coupled.as_ref()
            && all.0.contact_of_row.len() == count
        {
            return coupled.unwrap_or_default();
        }
        let numbers: Vec<usize> = self.register.sorted().collect();
        let hits: Vec<&Impact<S>> = numbers.iter().map(|&k| &self.register.hits[k]).collect();
        let mut free = &self.start.free[..];
        if let Some((assembled, _)) = &coupled {
            free = &assembled.problem.free[..free.len()];
        }
        let dt = self.start.settings.dt;
        let mut assembled = self.flight.assemble(&hits, free, dt, false);
        if let Some((coupled, _)) = &coupled {
            // Those free velocities go with the masses that nodes have there.
            let own = self.start.bodies.len();
            assembled.problem.responses[..own].clone_from_slice(&coupled.problem.responses[..own]);
        }
        let known = numbers.iter().map(|&k| self.register.impulses[k]);
        let known: Vec<S::Vector> = known.chain(self.held.iter().copied()).collect();
        let impulses = local(&assembled, &known);
        (assembled, impulses)
    }

    /// The same with the velocities reached.
    fn judged(&mut self) -> Answered<S> {
        let (assembled, impulses) = self.answered();
        let mut reached: Vec<Motion<S>> = self.velocities.clone();
        reached.extend_from_slice(&assembled.problem.free[self.start.bodies.len()..]);
        Answered {
            assembled,
            impulses,
            reached: Some(Velocities {
                motion: reached,
                local: Vec::new(),
            }),
        }
    }

    fn end(mut self, way: &[Motion<S>], resolution: Resolution) -> Outcome<S> {
        let mut contacts = std::mem::take(&mut self.memory.contacts);
        self.register.contacts(self.flight.parties(), &mut contacts);
        let held = self.flight.held.iter().zip(&self.held);
        contacts.extend(held.map(|(contact, &impulse)| Contact {
            impulse,
            ..*contact
        }));
        let answered = self.start.is_judged.then(|| self.judged());
        self.memory.hits.whole = self.register.hits;
        *self.start.memory.borrow_mut() = self.memory;
        Outcome {
            end: Poses::after(self.start.bodies, way, &self.velocities),
            contacts,
            answered,
            solve: self.solve,
            resolution,
        }
    }
}

/// Which impacts are of nodes with their own masses.
#[derive(Default)]
struct Parts {
    /// Of each impact: whether it is in an island of such.
    is_single: Vec<bool>,
    /// Impacts of islands of such with a new one among them, island by island.
    changed: Vec<u32>,
    islands: Vec<Island>,
}

/// Impulses in world axes (N·s) as a problem wants them.
pub(super) fn local<S: Space>(assembled: &Assembled<S>, world: &[S::Vector]) -> Impulses<S> {
    let rows = assembled.problem.rows.iter();
    let of_row = |(row, &k): (&Row<S>, &u32)| S::to_local(&row.basis, world[k as usize]);
    Impulses {
        local: rows.zip(&assembled.contact_of_row).map(of_row).collect(),
    }
}
