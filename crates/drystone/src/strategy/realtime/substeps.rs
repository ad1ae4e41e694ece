//! The substeps of a step: bodies into columns, rounds of block descent, and back.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::articulation;
use super::articulation::{ArticulationLanes, LinkLaw, Linkage, March};
use super::body_columns::{Flight, column, drift, get};
use super::contact_graph::{Batch, Graph};
use super::half_kicks::{Kick, half_kick};
use super::impacts::Impacts;
use super::manifold;
use super::manifold::{Field, Law};
use super::{Circumstances, RealTime, Realtime, manifold_forces, overlap_nudges};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Kind, Motion};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Worker;

/// Times more rounds in a step in which bodies are mostly new: what starts to slide would be ahead
/// for good by what friction lacked in the first steps.
const FIRST_ROUNDS: u32 = 6;

/// Bodies of linkages that are worth a thread when they are written back.
const WORTH: usize = 256;

/// What moves a body in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    /// Nothing: it sleeps.
    Nobody,
    /// Nothing ever.
    Fixed,
    Script,
    /// Forces alone, in double precision.
    Forces,
    /// Its linkage, apart from all others.
    Linkage,
    /// Its linkage, in the rounds.
    ArticulationLanes,
    /// Rounds over bodies.
    Rounds,
}

/// Where bodies are after a step.
#[derive(Clone, Debug)]
pub(crate) struct SubstepResults<S: Space> {
    movers: Vec<Mover>,
    position: Vec<S::Vector>,
    rotation: Vec<S::Rotation>,
    motion: Vec<Motion<S>>,
}

impl<S: Space> Default for SubstepResults<S> {
    fn default() -> Self {
        Self {
            movers: Vec::new(),
            position: Vec::new(),
            rotation: Vec::new(),
            motion: Vec::new(),
        }
    }
}

impl<S: Space> SubstepResults<S> {
    /// Makes room for as many bodies as there are.
    fn make_room(&mut self, bodies: &Bodies<S>) {
        if self.position.len() != bodies.len() {
            self.position.clone_from(&bodies.position);
            self.rotation.clone_from(&bodies.rotation);
            self.motion.clone_from(&bodies.motion);
        }
    }

    /// What puts bodies into the columns, and says where they end.
    fn arrival<'a>(&'a mut self, bases: &'a [Pose<S>], impacts: &'a Impacts<S>) -> Arrival<'a, S> {
        Arrival {
            movers: &self.movers,
            bases,
            impacts,
            position: SharedSlice::new(&mut self.position),
            rotation: SharedSlice::new(&mut self.rotation),
            motion: SharedSlice::new(&mut self.motion),
        }
    }

    /// Lets bodies be there.
    fn take(&mut self, bodies: &mut Bodies<S>) {
        std::mem::swap(&mut self.position, &mut bodies.position);
        std::mem::swap(&mut self.rotation, &mut bodies.rotation);
        std::mem::swap(&mut self.motion, &mut bodies.motion);
    }
}

/// Lists that threads write bodies' new states to.
struct Arrival<'a, S: Space> {
    movers: &'a [Mover],
    bases: &'a [Pose<S>],
    impacts: &'a Impacts<S>,
    position: SharedSlice<'a, S::Vector>,
    rotation: SharedSlice<'a, S::Rotation>,
    motion: SharedSlice<'a, Motion<S>>,
}

/// How bodies are moved by forces.
struct Fall<'a, S: Space> {
    bodies: &'a Bodies<S>,
    gravity: S::Vector,
    /// At the start of the step, s.
    time: f64,
    /// Of a step, and of a substep, s.
    dt: f64,
    h: f64,
    substeps: u32,
}

impl<S: Space> Fall<'_, S> {
    fn acceleration(&self, k: usize) -> Motion<S> {
        if self.bodies.is_dynamic(k) {
            integrate::acceleration(self.bodies, k, self.gravity, self.time)
        } else {
            Motion::default()
        }
    }
}

impl<S: Space> Arrival<'_, S> {
    /// Puts a body into the kernels' columns.
    fn load(&self, k: usize, field: &Field<'_>, flight: &Flight<'_>, fall: &Fall<'_, S>) {
        // Nothing touches what forces alone move; but what it was like before the last of several
        // substeps is in its columns and in snapshots.
        let is_alone = self.movers[k] == Mover::Forces && fall.substeps == 1;
        if is_alone || self.movers[k] == Mover::Nobody {
            return;
        }
        let kick = Kick {
            acceleration: fall.acceleration(k),
            offset: self.impacts.late_by(k, 1.0 / f64::from(fall.substeps)),
            h: fall.h,
            may_start: self.movers[k] == Mover::Rounds,
        };
        flight.load(field, fall.bodies, k, &kick);
        if self.movers[k] == Mover::Rounds {
            flight.weigh(field, fall.bodies, k, fall.h);
        }
    }

    /// Says where a body is at the end.
    fn write(&self, k: usize, field: &Field<'_>, flight: &Flight<'_>, fall: &Fall<'_, S>) {
        let bodies = fall.bodies;
        let present = Pose {
            position: bodies.position[k],
            rotation: bodies.rotation[k],
        };
        let (mut pose, mut motion) = (present, bodies.motion[k]);
        match (self.movers[k], &bodies.kind[k]) {
            (Mover::Nobody | Mover::Fixed | Mover::Linkage, _) => {}
            (Mover::Script, Kind::Kinematic(script)) => {
                pose = script.pose(&bodies.start[k], fall.time + fall.dt);
            }
            (Mover::Forces | Mover::Script, _) => {
                let acceleration = fall.acceleration(k);
                for _ in 0..fall.substeps {
                    (pose, motion) =
                        integrate::fly(bodies, k, (pose, motion), &acceleration, fall.h);
                }
                let drift = drift(&self.bases[k], &pose);
                field.drift.write(k + 1, column::<S>(&drift));
                flight.fall(k, &acceleration);
            }
            (Mover::ArticulationLanes | Mover::Rounds, _) => {
                let drift: Motion<S> = get(&field.drift.read(k + 1));
                pose.position = self.bases[k].position + drift.linear;
                pose.rotation = S::turn(self.bases[k].rotation, drift.spin);
                motion = get(&field.motion.read(k + 1));
                let turn = (present.rotation, pose.rotation);
                motion.spin = bodies.carried_spin(k, turn, motion.spin);
                let half = half_kick::<S>(&flight.gain.read(k + 1), fall.h);
                motion.linear += half.linear;
                motion.spin += half.spin;
            }
        }
        self.position.write(k, pose.position);
        self.rotation.write(k, pose.rotation);
        self.motion.write(k, motion);
    }
}

/// Some teams, and their linkages.
struct Hand<'a, S: Space> {
    teams: &'a mut [ArticulationLanes],
    linkages: &'a mut [Linkage<S>],
}

impl<'a, S: Space> Hand<'a, S> {
    /// Takes the first teams out of it.
    fn split_off(&mut self, teams: usize) -> Self {
        let (own, later) = std::mem::take(&mut self.teams).split_at_mut(teams);
        let count = own.iter().map(|team| team.range.len()).sum();
        let (linkages, rest) = std::mem::take(&mut self.linkages).split_at_mut(count);
        (self.teams, self.linkages) = (later, rest);
        Self {
            teams: own,
            linkages,
        }
    }
}

/// Linkages, dealt out to threads. Nobody ever waits for a lock: each thread takes its own.
struct Dealt<'a, S: Space> {
    first: Mutex<Hand<'a, S>>,
    /// Of the other threads: one alone asks for no memory.
    others: Vec<Mutex<Hand<'a, S>>>,
}

impl<'a, S: Space> Dealt<'a, S> {
    fn new(
        teams: &'a mut [ArticulationLanes],
        linkages: &'a mut [Linkage<S>],
        threads: usize,
    ) -> Self {
        let count = teams.len();
        let mut rest = Hand { teams, linkages };
        let first = Mutex::new(rest.split_off(count / threads));
        let size = |k: usize| count * (k + 1) / threads - count * k / threads;
        let others = (1..threads).map(|k| Mutex::new(rest.split_off(size(k))));
        Self {
            first,
            others: others.collect(),
        }
    }

    /// Lets a thread act on its teams.
    fn for_each(&self, thread: usize, act: &dyn Fn(&mut ArticulationLanes, &mut [Linkage<S>])) {
        let own = match thread.checked_sub(1) {
            Some(k) => self.others.get(k),
            None => Some(&self.first),
        };
        if let Some(own) = own {
            let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
            let mut start = 0;
            let Hand { teams, linkages } = &mut *own;
            for team in teams.iter_mut() {
                let end = start + team.range.len();
                act(team, &mut linkages[start..end]);
                start = end;
            }
        }
    }
}

/// What rounds over bodies work on.
struct Rounds<'a, S> {
    field: &'a Field<'a>,
    graph: &'a Graph,
    options: &'a Realtime,
    /// How many.
    rounds: u32,
    law: &'a Law,
    /// What errors are written to after the last round, if anything is done about them.
    errors: Option<&'a SharedSlice<'a, f32>>,
    /// Whether something overlaps by more than the slop.
    overlaps: AtomicBool,
    space: PhantomData<S>,
}

impl<S: Space> Rounds<'_, S> {
    /// Runs all rounds. The first batch is everybody's, and `link` then moves what joints tie; the
    /// others are dealt out.
    fn run(&self, worker: &Worker<'_>, link: &dyn Fn()) {
        let Some((first, small)) = self.graph.batches.split_first() else {
            return;
        };
        self.run_batch(first, worker.share(first.parts), &|| worker.wait(), link);
        for batch in &small[worker.share(small.len())] {
            self.run_batch(batch, 0..batch.parts, &|| {}, &|| {});
        }
    }

    fn run_batch(&self, batch: &Batch, mine: Range<usize>, wait: &dyn Fn(), link: &dyn Fn()) {
        let (graph, options) = (self.graph, self.options);
        let colors = &graph.colors[batch.colors.clone()];
        let record_parts = &graph.record_parts[batch.records.clone()];
        for round in 1..=self.rounds {
            for color in colors.chunks(batch.parts) {
                for part in &color[mine.clone()] {
                    let groups = &graph.groups[part.clone()];
                    manifold::settle::<S>(options.instructions, self.field, groups, &graph.sides);
                }
                wait();
            }
            link();
            let is_last = round == self.rounds;
            if round % options.learn_every == 0 || is_last {
                let errors = self.errors.filter(|_| is_last);
                for part in &record_parts[mine.clone()] {
                    let records = &graph.records[part.clone()];
                    let field = self.field;
                    manifold::learn::<S>(options.instructions, field, records, self.law, errors);
                }
                wait();
            }
        }
    }

    /// Moves overlapping bodies apart; each thread its batches, as in the rounds.
    fn nudge(&self, worker: &Worker<'_>) {
        if !self.overlaps.load(Ordering::Relaxed) {
            return;
        }
        let Some((first, small)) = self.graph.batches.split_first() else {
            return;
        };
        self.nudge_batch(first, worker.share(first.parts), &|| worker.wait());
        for batch in &small[worker.share(small.len())] {
            self.nudge_batch(batch, 0..batch.parts, &|| {});
        }
    }

    fn nudge_batch(&self, batch: &Batch, mine: Range<usize>, wait: &dyn Fn()) {
        let graph = self.graph;
        for _ in 0..overlap_nudges::ROUNDS {
            for color in graph.colors[batch.colors.clone()].chunks(batch.parts) {
                for part in &color[mine.clone()] {
                    overlap_nudges::nudge::<S>(
                        self.options.instructions,
                        self.field,
                        &graph.groups[part.clone()],
                        &graph.sides,
                        self.law,
                        &graph.is_tied,
                    );
                }
                wait();
            }
        }
    }

    /// Prepares the manifolds for a substep, each thread those that it will work on.
    fn begin(&self, worker: &Worker<'_>) {
        let graph = self.graph;
        let begin = |batch: &Batch, mine: Range<usize>| {
            for part in &graph.record_parts[batch.records.clone()][mine] {
                let records = &graph.records[part.clone()];
                let marks = (&graph.is_tied[..], &self.overlaps);
                manifold::begin::<S>(
                    self.options.instructions,
                    self.field,
                    records,
                    self.law,
                    marks,
                );
            }
        };
        let Some((first, small)) = graph.batches.split_first() else {
            return;
        };
        begin(first, worker.share(first.parts));
        for batch in &small[worker.share(small.len())] {
            begin(batch, 0..batch.parts);
        }
    }
}

impl<S: Space> RealTime<S> {
    /// Runs the substeps and moves the bodies.
    pub(super) fn advance(
        &mut self,
        bodies: &mut Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
    ) {
        self.prepare_links(bodies, options, around);
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.make_room(bodies);
        self.sort_out(bodies, &mut outcome.movers);
        self.solve(bodies, options, around, &mut outcome);
        self.write_marched(&mut outcome, around.settings.threads as usize);
        outcome.take(bodies);
        self.outcome = outcome;
    }

    /// Says where bodies are whose linkages touch nothing.
    fn write_marched(&mut self, outcome: &mut SubstepResults<S>, threads: usize) {
        let links = &self.links;
        let count: usize = links.marched().map(Linkage::len).sum();
        for linkage in links.marched() {
            linkage.hand_gains(&mut self.columns, |k| outcome.movers[k] == Mover::Linkage);
        }
        let bases = self.columns.share_bases();
        let movers = &outcome.movers;
        let position = SharedSlice::new(&mut outcome.position);
        let rotation = SharedSlice::new(&mut outcome.rotation);
        let motion = SharedSlice::new(&mut outcome.motion);
        thread_pool::run(threads.min(count / WORTH + 1), |worker| {
            for linkage in links.marched() {
                for (k, pose, new) in linkage.states(worker.share(linkage.len())) {
                    if movers[k] == Mover::Linkage {
                        position.write(k, pose.position);
                        rotation.write(k, pose.rotation);
                        motion.write(k, *new);
                        bases.set_pose(k, pose);
                    }
                }
            }
        });
    }

    /// Solves what joints alone decide.
    fn prepare_links(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
    ) {
        if self.links.is_empty() {
            return;
        }
        let law = link_law(around, around.settings.dt / f64::from(options.substeps));
        let (sleep, graph) = (&self.sleep, &self.graph);
        let is_awake = |k: usize| bodies.is_dynamic(k) && !sleep.is_asleep(k);
        let touches = |k: usize| graph.is_held(k);
        self.links.prepare(bodies, &law, is_awake, touches);
    }

    /// Says what moves each body.
    fn sort_out(&self, bodies: &Bodies<S>, movers: &mut Vec<Mover>) {
        let mover = |k: usize| match bodies.kind[k] {
            _ if self.sleep.is_asleep(k) => Mover::Nobody,
            Kind::Fixed => Mover::Fixed,
            Kind::Kinematic(_) => Mover::Script,
            Kind::Particle | Kind::Rigid if self.links.marches(k) => Mover::Linkage,
            Kind::Particle | Kind::Rigid if !self.is_in_columns(k) => Mover::Forces,
            Kind::Particle | Kind::Rigid if self.links.couples(k) => Mover::ArticulationLanes,
            Kind::Particle | Kind::Rigid => Mover::Rounds,
        };
        movers.clear();
        movers.extend((0..bodies.len()).map(mover));
    }

    /// Runs the substeps on the columns.
    fn solve(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
        outcome: &mut SubstepResults<S>,
    ) {
        let h = around.settings.dt / f64::from(options.substeps);
        let fall = Fall {
            bodies,
            gravity: around.settings.gravity,
            time: around.time,
            dt: around.settings.dt,
            h,
            substeps: options.substeps,
        };
        let ground = articulation::Ground {
            bodies,
            law: &link_law(around, h),
        };
        self.links.march(
            &ground,
            &March {
                dt: fall.dt,
                time: fall.time,
                gravity: fall.gravity,
                rounds: options.rounds,
                instructions: options.instructions,
                threads: around.settings.threads as usize,
            },
            &self.columns,
        );
        let joints = self.links.ties().count();
        // Less work than this is not worth meeting at barriers for.
        let worth = ((self.graph.records.len() + joints / 8) / 64).max(bodies.len() / 1024) + 1;
        let threads = (around.settings.threads as usize).min(worth).max(1);
        let substep = Substep {
            fall: &fall,
            ground: &ground,
            law: &law(options, around, h),
            options,
            threads,
        };
        for number in 1..=options.substeps {
            // Forces of one substep only are not those of the next one.
            self.recall_forces();
            self.run_rounds(&substep, number == 1, outcome);
            if options.exact_points > 0 {
                self.solve_unconverged(bodies, options, around);
            }
            self.arrive(&substep, number == options.substeps, outcome);
        }
        self.links.remember();
    }

    /// Loads bodies before the first substep, and looks in rounds for where they go.
    fn run_rounds(
        &mut self,
        substep: &Substep<'_, S>,
        is_first: bool,
        outcome: &mut SubstepResults<S>,
    ) {
        let Substep {
            fall,
            ground,
            law,
            options,
            threads,
        } = *substep;
        let bodies = fall.bodies;
        let records = self.manifolds.records.ends.len();
        let errors = SharedSlice::new(self.unconverged.errors(records));
        let (field, flight, bases) = self.columns.share(&mut self.manifolds.records);
        let arrival = outcome.arrival(bases, &self.impacts);
        let has_coupled = self.links.linkages.iter().any(Linkage::is_coupled);
        let linkages = Dealt::new(&mut self.links.teams, &mut self.links.linkages, threads);
        let link = |worker: &Worker<'_>,
                    act: &dyn Fn(&mut ArticulationLanes, &mut [Linkage<S>])| {
            if has_coupled {
                linkages.for_each(worker.index(), act);
                worker.wait();
            }
        };
        let (graph, count) = (&self.graph, field.motion.len());
        let (instructions, h) = (options.instructions, fall.h as f32);
        let first = if self.is_new { FIRST_ROUNDS } else { 1 };
        let rounds = Rounds::<S> {
            field: &field,
            graph,
            options,
            // Linkages are solved exactly: where all that touches belongs to some, fewer do.
            rounds: first
                * if graph.has_colors() {
                    options.rounds
                } else {
                    (2 * options.rounds).div_ceil(3)
                },
            law,
            errors: (options.exact_points > 0).then_some(&errors),
            overlaps: AtomicBool::new(false),
            space: PhantomData,
        };
        thread_pool::run(threads, |worker| {
            if is_first {
                for k in worker.share(bodies.len()) {
                    arrival.load(k, &field, &flight, fall);
                }
                worker.wait();
            }
            rounds.begin(worker);
            flight.aim(&field, worker.share(count), h);
            worker.wait();
            link(worker, &|team, linkages| {
                team.begin(linkages, ground, (&field, instructions));
            });
            rounds.run(worker, &|| {
                if has_coupled {
                    let tied = graph.tied();
                    let mine = &tied[worker.share(tied.len())];
                    manifold_forces::grasp::<S>(instructions, &field, mine, &graph.sides);
                    worker.wait();
                    link(worker, &|team, linkages| {
                        team.settle(linkages, ground, (&field, instructions));
                    });
                }
            });
            rounds.nudge(worker);
        });
    }

    /// Takes the displacements of a substep for good, and says after the last where bodies are.
    fn arrive(&mut self, substep: &Substep<'_, S>, is_last: bool, outcome: &mut SubstepResults<S>) {
        let Substep { fall, threads, .. } = *substep;
        let (field, flight, bases) = self.columns.share(&mut self.manifolds.records);
        let arrival = outcome.arrival(bases, &self.impacts);
        let has_coupled = self.links.linkages.iter().any(Linkage::is_coupled);
        let linkages = Dealt::new(&mut self.links.teams, &mut self.links.linkages, threads);
        let (count, h) = (field.motion.len(), fall.h as f32);
        thread_pool::run(threads, |worker| {
            if has_coupled {
                linkages.for_each(worker.index(), &|team, linkages| {
                    team.finish(linkages, &field, !is_last);
                });
                worker.wait();
            }
            flight.arrive(&field, worker.share(count), h);
            worker.wait();
            if is_last {
                for k in worker.share(fall.bodies.len()) {
                    arrival.write(k, &field, &flight, fall);
                }
            }
        });
    }
}

/// What a substep is made with.
struct Substep<'a, S: Space> {
    fall: &'a Fall<'a, S>,
    ground: &'a articulation::Ground<'a, S>,
    law: &'a Law,
    options: &'a Realtime,
    threads: usize,
}

/// The numbers of the contact law in a substep of h seconds.
fn law<S: Space>(options: &Realtime, around: &Circumstances<'_, S>, h: f64) -> Law {
    // Without gravity loads have no natural acceleration; take that of the Earth.
    let gravity = around.settings.gravity.length();
    let acceleration = if gravity > 0.0 { gravity } else { 9.81 };
    Law {
        h: h as f32,
        stiffness: (options.stiffness / (acceleration * h * h)) as f32,
        acceleration: acceleration as f32,
        repaired: (options.repair_rate * h).min(1.0) as f32,
        most_repaired: (around.settings.contact.repair_speed * h) as f32,
        slop: around.settings.contact.slop as f32,
        threshold: around.settings.contact.restitution_threshold as f32,
        loading: options.loading as f32,
        unloading: options.unloading as f32,
    }
}

/// The numbers of the joints' law in a substep of h seconds.
fn link_law<S: Space>(around: &Circumstances<'_, S>, h: f64) -> LinkLaw {
    LinkLaw {
        h,
        speed: around.settings.contact.repair_speed,
    }
}
