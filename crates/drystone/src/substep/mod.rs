//! The real-time strategy: hard contacts, eight bodies at a time.
//!
//! A step of dt is cut into substeps of h seconds. In each, bodies look for the displacements
//! that minimise
//!
//! $$ \sum_{\text{bodies}} \frac{1}{2h^2}\lVert x - y\rVert_M^2 \;+\;
//!    \sum_{\text{points}} \text{(spring on top of a known force)} , $$
//!
//! where y is where inertia and forces alone would take them: implicit Euler. Rounds of **block
//! descent** do that: one body after the other moves to where its own inertia and its own contacts
//! balance, all others held still; after a round the known forces λ learn what the springs carried
//! ([`patch`]). In the limit λ is the contact force and the springs carry nothing.
//!
//! Block descent is the dual of what other engines do. Sweeps over contacts (Gauss-Seidel on
//! impulses) that stop early leave contacts soft and bouncy: stacks sway and sink, and the more so
//! the taller and the heavier on top. Rounds over bodies that stop early leave bodies a little too
//! inert: stacks stand. The idea is C. Giles, E. Diaz and C. Yuksel's *Augmented vertex block
//! descent* (2025); what differs here is that the stiffness follows the load instead of growing
//! with the error, which is what lets a stone of a thousand tons rest on a light one.
//!
//! * Bodies that touch nobody are moved in double precision.
//! * Patches of bodies at rest are neither detected nor prepared nor copied ([`touching`]).
//! * Bodies that do not touch each other are moved eight at a time ([`graph`], [`simd`]), in single
//!   precision relative to base poses ([`columns`]), by kernels that give the same bits on any
//!   machine and any number of threads ([`crew`]).

mod changes;
mod columns;
mod crew;
mod elimination;
mod evidence;
mod graph;
mod guess;
mod links;
mod look;
mod options;
mod pairs;
mod patch;
mod records;
pub(crate) mod reduced;
mod renew;
mod shared;
pub mod simd;
mod sleep;
mod strike;
mod touching;

pub(crate) use changes::Changes;
pub use options::Substep;

use std::sync::{Mutex, PoisonError};

use crate::body::{Bodies, Kind, Motion};
use crate::detect::rules::PairRules;
use crate::detect::{Contact, reach};
use crate::integrate;
use crate::joint::Joints;
use crate::settings::Settings;
use crate::shape::Pose;
use crate::space::{Linear, Space};
use columns::BodyColumns;
use crew::Worker;
use graph::Graph;
use guess::guess_loads;
use links::{LinkLaw, Linkage, Links, March};
use look::{Case, Watch};
use pairs::Pairs;
use patch::Law;
use renew::{Found, Ground, Renewal, Renewing};
use serde::{Deserialize, Serialize};
use simd::LANES;
use sleep::{Sleep, SleepRule};
use strike::{StrikeLaw, Strikes, Web};
use touching::Patches;

/// What a step is made with.
pub(crate) struct Circumstances<'a, S: Space> {
    pub(crate) settings: &'a Settings<S>,
    pub(crate) rules: PairRules<'a, S>,
    pub(crate) joints: &'a Joints<S>,
    /// At the start of the step, s.
    pub(crate) time: f64,
}

/// What the strategy keeps from step to step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct RealTime<S: Space> {
    pairs: Pairs<S>,
    patches: Patches<S>,
    links: Links<S>,
    columns: BodyColumns<S>,
    sleep: Sleep,
    strikes: Strikes<S>,
    #[serde(skip)]
    graph: Graph,
    /// Bodies whose pairs must be detected again in this step.
    #[serde(skip)]
    is_dirty: Vec<bool>,
    /// How far each body reaches in a step, m; of one that sleeps, in the last it was awake for.
    reach: Vec<f64>,
    /// How far any point of each body has travelled at most, from base pose to base pose, m.
    travel: Vec<f64>,
    /// Boxes around the bodies at their base poses.
    #[serde(skip)]
    cases: Vec<Option<Case<S>>>,
    /// What was found in the last step, kept for its memory.
    #[serde(skip)]
    found: Vec<Found<S>>,
    #[serde(skip)]
    renewals: Vec<Renewal>,
}

impl<S: Space> Default for RealTime<S> {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            patches: Patches::default(),
            links: Links::default(),
            columns: BodyColumns::default(),
            sleep: Sleep::default(),
            strikes: Strikes::default(),
            graph: Graph::default(),
            is_dirty: Vec::new(),
            reach: Vec::new(),
            travel: Vec::new(),
            cases: Vec::new(),
            found: Vec::new(),
            renewals: Vec::new(),
        }
    }
}

impl<S: Space> RealTime<S> {
    /// Moves the bodies by one step. Poses and motion are written to `bodies`; whether they are
    /// finite is for the caller to see.
    pub(crate) fn step(
        &mut self,
        bodies: &mut Bodies<S>,
        options: &Substep,
        around: &Circumstances<'_, S>,
        changes: &Changes,
    ) {
        self.take_over(bodies, options, changes);
        self.find_dirty(bodies, around, changes);
        self.detect(bodies, options, around);
        // A world that is mostly new knows no forces yet.
        if changes.all || 8 * changes.places.len() > bodies.len() {
            let slow = around.settings.gravity.length() * around.settings.dt;
            guess_loads(
                &mut self.patches,
                &self.graph,
                bodies,
                around.settings.gravity,
                slow,
            );
        }
        self.strike(bodies, around);
        self.load(bodies, options, around);
        self.solve(bodies, options, around);
        self.write_back(bodies, options, around);
        self.rest(bodies, options, around);
    }

    /// Lets what is about to hit something hit it.
    fn strike(&mut self, bodies: &mut Bodies<S>, around: &Circumstances<'_, S>) {
        let links = &self.links;
        let web = Web {
            patches: &self.patches,
            graph: &self.graph,
            is_tied: &|k| links.ties_body(k as usize),
        };
        self.strikes.strike(bodies, &web, &strike_law(around));
    }

    /// Takes over what was changed from outside.
    fn take_over(&mut self, bodies: &Bodies<S>, options: &Substep, changes: &Changes) {
        self.sleep.grow(bodies.len());
        let mut is_changed = false;
        if changes.all || options.sleep_after == 0.0 {
            is_changed |= self.sleep.wake_all();
        }
        if changes.all {
            self.pairs.forget_all();
        }
        if !changes.places.is_empty() {
            let mut is_other = vec![false; bodies.len()];
            for &k in &changes.places {
                is_other[k as usize] = true;
                self.pairs.forget(k);
                self.columns.forget(bodies, k as usize);
            }
            let concerns = |ends: &[u32; 2]| ends.iter().any(|&k| is_other[k as usize]);
            let neighbours: Vec<u32> = ties(&self.patches, &self.links)
                .filter(concerns)
                .flatten()
                .collect();
            for k in neighbours.into_iter().chain(changes.places.iter().copied()) {
                is_changed |= self.sleep.wake(k as usize);
            }
            self.patches.forget(&is_other);
        }
        for &k in &changes.ties {
            self.pairs.forget(k);
        }
        for &k in changes.bodies.iter().chain(&changes.ties) {
            is_changed |= self.sleep.wake(k as usize);
        }
        if is_changed {
            self.patches.note_change();
        }
    }

    /// Whether a body is moved by the kernels: it touches something, or is tied to what does.
    fn is_in_columns(&self, body: usize) -> bool {
        self.graph.is_held(body) || self.links.couples(body)
    }

    /// Tells the columns how far a body has moved that they did not move.
    fn note_drift(&mut self, bodies: &Bodies<S>, k: usize) {
        let moved = self.columns.moved(bodies, k);
        self.columns.set_drift(k, &moved);
    }

    /// Whether a body sleeps.
    pub(crate) fn is_asleep(&self, body: usize) -> bool {
        self.sleep.is_asleep(body)
    }

    /// Forces along the rows of a joint, N and N·m.
    pub(crate) fn joint_forces(&self, joint: u32) -> Vec<f64> {
        self.links.forces(joint)
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        self.pairs.is_consistent(bodies)
            && self.patches.is_consistent(bodies)
            && self.links.is_consistent()
            && self.columns.is_consistent(bodies)
            && self.sleep.is_consistent(bodies)
            && self.travel.len() <= bodies
            && self.reach.len() <= bodies
    }

    /// Makes what a snapshot leaves out.
    pub(crate) fn restore(&mut self, bodies: &Bodies<S>, joints: &Joints<S>) {
        self.columns.make_room();
        let bases = self.columns.base.iter().enumerate();
        self.cases = bases.map(|(k, base)| case(bodies, k, base)).collect();
        self.links.restore(bodies, joints);
        self.rebuild_graph(bodies);
    }

    /// Finds the bodies that have left their base pose, or are about to.
    fn find_dirty(&mut self, bodies: &Bodies<S>, around: &Circumstances<'_, S>, changes: &Changes) {
        let known = self.columns.base.len();
        self.columns.grow(bodies);
        self.is_dirty.clear();
        self.is_dirty.resize(bodies.len(), changes.all);
        let named = [&changes.bodies, &changes.ties, &changes.places];
        for &k in named.into_iter().flatten() {
            self.is_dirty[k as usize] = true;
        }
        self.reach.resize(bodies.len(), 0.0);
        self.travel.resize(bodies.len(), 0.0);
        self.cases.resize(bodies.len(), None);
        let ahead = around.settings.lookahead();
        for k in 0..bodies.len() {
            if self.sleep.is_asleep(k) && !self.is_dirty[k] {
                continue;
            }
            self.reach[k] = reach(bodies, k, &ahead) + 0.5 * around.settings.margin;
            let radius = bodies.radius[k];
            let size = |motion: &Motion<S>| {
                let turned = motion.spin.length();
                motion.linear.length() + if turned > 0.0 { turned * radius } else { 0.0 }
            };
            let noticeable = (0.2 * around.settings.margin).min(0.01 * radius);
            let is_off = || {
                size(&self.columns.drift_of(k)) > noticeable
                    || around.settings.dt * size(&bodies.motion[k]) > noticeable
            };
            if self.is_dirty[k] || k >= known || is_off() {
                self.is_dirty[k] = true;
                self.travel[k] += size(&self.columns.moved(bodies, k));
                self.columns.rebase(bodies, k);
                self.cases[k] = case(bodies, k, &self.columns.base[k]);
            }
        }
    }

    /// Brings pairs, patches and rows up to date.
    fn detect(&mut self, bodies: &Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        let dirty: Vec<u32> = (0..bodies.len() as u32)
            .filter(|&k| self.is_dirty[k as usize])
            .collect();
        if !dirty.is_empty() {
            self.detect_dirty(bodies, options, around, &dirty);
        }
        let ties = ties(&self.patches, &self.links);
        let is_woken = self.sleep.wake_touched(bodies, ties);
        let is_retied = self.links.update(bodies, around.joints);
        if self.patches.take_change() || is_woken || is_retied {
            self.rebuild_graph(bodies);
        }
    }

    fn detect_dirty(
        &mut self,
        bodies: &Bodies<S>,
        options: &Substep,
        around: &Circumstances<'_, S>,
        dirty: &[u32],
    ) {
        let ahead = around.settings.lookahead();
        let changes = self.pairs.update(bodies, &around.rules, dirty, &ahead);
        let mut is_moved = vec![false; bodies.len()];
        for &k in &changes.moved {
            is_moved[k as usize] = true;
        }
        self.patches.change_pairs(&changes, &is_moved);
        let threads = around.settings.threads as usize;
        let watch = Watch {
            bodies,
            rules: &around.rules,
            ahead,
            is_dirty: &self.is_dirty,
            reach: &self.reach,
            cases: &self.cases,
            travel: &self.travel,
        };
        watch.look(&self.patches, threads, &mut self.found);
        self.patches.assign(&self.found, &mut self.renewals);
        let ground = Ground {
            bodies,
            columns: &self.columns,
            links: &self.links,
            h: around.settings.dt / f64::from(options.substeps),
        };
        let renewing = Renewing::new(&mut self.patches, &ground, &self.found);
        let renewals = &self.renewals;
        crew::run(threads.min(renewals.len() / 64 + 1), |worker| {
            for renewal in &renewals[worker.share(renewals.len())] {
                renewing.write(renewal);
            }
        });
    }

    /// Colours the bodies that move anew.
    fn rebuild_graph(&mut self, bodies: &Bodies<S>) {
        let patches: Vec<_> = self
            .patches
            .iter()
            .map(|(at, patch)| (at + 1, [patch.a, patch.b]))
            .collect();
        let (sleep, links) = (&self.sleep, &self.links);
        self.graph.rebuild(
            &patches,
            bodies.len(),
            |k| bodies.is_dynamic(k) && !sleep.is_asleep(k),
            |k| links.ties_body(k),
        );
    }

    /// Fills the bodies' columns.
    fn load(&mut self, bodies: &Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.settings.dt / f64::from(options.substeps);
        for k in (0..bodies.len()).filter(|&k| !self.sleep.is_asleep(k)) {
            let acceleration = if bodies.is_dynamic(k) {
                integrate::acceleration(bodies, k, around.settings.gravity, around.time)
            } else {
                Motion::default()
            };
            self.columns.load(bodies, k, &acceleration, h);
        }
        if !self.links.is_empty() {
            let law = link_law(around, h);
            let (sleep, graph) = (&self.sleep, &self.graph);
            let is_awake = |k: usize| bodies.is_dynamic(k) && !sleep.is_asleep(k);
            let touches = |k: usize| graph.is_held(k);
            self.links.prepare(bodies, &law, is_awake, touches);
        }
    }

    /// Runs the substeps on the columns.
    fn solve(&mut self, bodies: &Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.settings.dt / f64::from(options.substeps);
        let law = law(options, around, h);
        let (instructions, h) = (options.instructions, h as f32);
        let records = self.patches.records.ends.len() / LANES;
        // Fewer than this are not worth meeting at barriers for.
        let joints = self.links.ties().count();
        let threads = (around.settings.threads as usize).min((records + joints / 8) / 64 + 1);
        let link_law = link_law(around, f64::from(h));
        let ground = links::Ground {
            bodies,
            law: &link_law,
        };
        let march = March {
            dt: around.settings.dt,
            time: around.time,
            gravity: around.settings.gravity,
            rounds: options.rounds,
            instructions,
        };
        self.links.march(&ground, &march);
        let (field, flight) = self.columns.share(&mut self.patches.records);
        let coupled = self.links.linkages.iter_mut().filter(|l| l.is_coupled());
        let linkages: Vec<Mutex<&mut Linkage<S>>> = coupled.map(Mutex::new).collect();
        // Each linkage belongs to one thread, so nobody ever waits for a lock.
        let link = |worker: &Worker<'_>, act: &dyn Fn(&mut Linkage<S>)| {
            if linkages.is_empty() {
                return;
            }
            for linkage in &linkages[worker.share(linkages.len())] {
                act(&mut linkage.lock().unwrap_or_else(PoisonError::into_inner));
            }
            worker.wait();
        };
        let (graph, count) = (&self.graph, field.motion.len());
        // Linkages are solved exactly: where all that touches belongs to some, fewer rounds do.
        let rounds = if graph.colors.is_empty() {
            (2 * options.rounds).div_ceil(3)
        } else {
            options.rounds
        };
        crew::run(threads, |worker| {
            for substep in 1..=options.substeps {
                patch::begin::<S>(instructions, &field, worker.share(records), &law);
                flight.aim(&field, worker.share(count), h);
                worker.wait();
                link(worker, &|linkage| linkage.begin(&ground, &field));
                for round in 1..=rounds {
                    for groups in &graph.colors {
                        let mine = &groups[worker.share(groups.len())];
                        patch::settle::<S>(instructions, &field, mine, &graph.sides);
                        worker.wait();
                    }
                    if !linkages.is_empty() {
                        let mine = &graph.tied[worker.share(graph.tied.len())];
                        patch::grasp::<S>(instructions, &field, mine, &graph.sides);
                        worker.wait();
                        link(worker, &|linkage| linkage.settle(&ground, &field));
                    }
                    if round % options.learn_every == 0 || round == rounds {
                        patch::learn::<S>(instructions, &field, worker.share(records), &law);
                        worker.wait();
                    }
                }
                if substep < options.substeps {
                    link(worker, &|linkage| linkage.carry(&field));
                }
                flight.arrive(&field, worker.share(count), h);
                worker.wait();
            }
        });
        self.links.remember();
    }

    /// Lets islands that have been still for long enough fall asleep.
    fn rest(&mut self, bodies: &mut Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        if options.sleep_after == 0.0 {
            return;
        }
        let rule = SleepRule {
            dt: around.settings.dt,
            after: options.sleep_after,
            speed: options.sleep_speed,
        };
        let ties = ties(&self.patches, &self.links);
        if self.sleep.settle(bodies, ties, &rule) {
            for k in (0..bodies.len()).filter(|&k| self.sleep.is_asleep(k)) {
                self.columns.rest(k);
            }
            self.patches.note_change();
        }
    }

    /// Takes poses and motion out of the columns. Bodies without contact are moved in double
    /// precision instead.
    fn write_back(
        &mut self,
        bodies: &mut Bodies<S>,
        options: &Substep,
        around: &Circumstances<'_, S>,
    ) {
        let h = around.settings.dt / f64::from(options.substeps);
        let end = around.time + around.settings.dt;
        self.links.for_each_marched(|k, pose, motion| {
            if bodies.is_dynamic(k) {
                bodies.position[k] = pose.position;
                bodies.rotation[k] = pose.rotation;
                bodies.motion[k] = *motion;
            }
        });
        for k in 0..bodies.len() {
            if self.sleep.is_asleep(k) {
                continue;
            }
            match &bodies.kind[k] {
                Kind::Fixed => {}
                Kind::Kinematic(script) => {
                    let Pose { position, rotation } = script.pose(&bodies.start[k], end);
                    bodies.position[k] = position;
                    bodies.rotation[k] = rotation;
                }
                Kind::Particle | Kind::Rigid if self.links.marches(k) => {
                    self.note_drift(bodies, k);
                }
                Kind::Particle | Kind::Rigid if !self.is_in_columns(k) => {
                    let acceleration =
                        integrate::acceleration(bodies, k, around.settings.gravity, around.time);
                    for _ in 0..options.substeps {
                        integrate::fly(bodies, k, &acceleration, h);
                    }
                    self.note_drift(bodies, k);
                }
                Kind::Particle | Kind::Rigid => {
                    let drift = self.columns.drift_of(k);
                    let base = self.columns.base[k];
                    bodies.position[k] = base.position + drift.linear;
                    bodies.motion[k] = self.columns.motion_of(k);
                    integrate::set_rotation(bodies, k, S::turn(base.rotation, drift.spin));
                }
            }
        }
    }

    /// All contacts with the impulses of the last step.
    pub(crate) fn contacts(&self, bodies: &Bodies<S>, dt: f64) -> Vec<Contact<S>> {
        self.patches.contacts(bodies, &self.strikes, dt)
    }
}

/// Pairs of bodies that touch or are tied.
fn ties<S: Space>(patches: &Patches<S>, links: &Links<S>) -> impl Iterator<Item = [u32; 2]> {
    let touching = patches.iter().map(|(_, patch)| [patch.a, patch.b]);
    touching.chain(links.ties())
}

/// The box around a body whose base pose is `base`.
fn case<S: Space>(bodies: &Bodies<S>, k: usize, base: &Pose<S>) -> Option<Case<S>> {
    let bounds = bodies.bounds[k].as_ref()?;
    Some(Case::new(bounds, base))
}

/// The numbers of the contact law in a substep of h seconds.
fn law<S: Space>(options: &Substep, around: &Circumstances<'_, S>, h: f64) -> Law {
    // Without gravity loads have no natural acceleration; take that of the Earth.
    let gravity = around.settings.gravity.length();
    let acceleration = if gravity > 0.0 { gravity } else { 9.81 };
    Law {
        h: h as f32,
        stiffness: (options.stiffness / (acceleration * h * h)) as f32,
        acceleration: acceleration as f32,
        repaired: (options.repair_rate * h).min(1.0) as f32,
        slop: around.settings.contact.slop as f32,
        threshold: around.settings.contact.restitution_threshold as f32,
        loading: options.loading as f32,
        unloading: options.unloading as f32,
    }
}

/// The numbers of the law of impact.
fn strike_law<S: Space>(around: &Circumstances<'_, S>) -> StrikeLaw<S> {
    let dt = around.settings.dt;
    StrikeLaw {
        dt,
        // A quarter of what a step of free fall adds: resting contacts close more slowly.
        least: (0.25 * around.settings.gravity.length() * dt).max(1e-9),
        threshold: around.settings.contact.restitution_threshold,
        margin: around.settings.margin,
        fall: around.settings.gravity * dt,
    }
}

/// The numbers of the joints' law in a substep of h seconds.
fn link_law<S: Space>(around: &Circumstances<'_, S>, h: f64) -> LinkLaw {
    LinkLaw {
        h,
        speed: around.settings.contact.repair_speed,
    }
}
