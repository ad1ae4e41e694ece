//! The strategy `realtime`: block descent over bodies, eight at a time.
//!
//! A step of dt is cut into substeps of h seconds. In each, bodies look for the displacements
//! that minimise
//!
//! $$ \sum_{\text{bodies}} \frac{1}{2h^2}\lVert x - y\rVert_M^2 \;+\;
//!    \sum_{\text{points}} \text{(spring on top of a known force)} , $$
//!
//! where y is where inertia and forces alone would take them: implicit Euler for contacts, and of
//! order two where forces are smooth, for velocities are half a substep apart ([`half_kicks`]). Rounds of **block
//! descent** do that: one body after the other moves to where its own inertia and its own contacts
//! balance, all others held still; after a round the known forces λ learn what the springs carried
//! ([`manifold`]). In the limit λ is the contact force and the springs carry nothing.
//!
//! Block descent is the dual of what other engines do. Sweeps over contacts (Gauss-Seidel on
//! impulses) that stop early leave contacts soft and bouncy: stacks sway and sink, and the more so
//! the taller and the heavier on top. Rounds over bodies that stop early leave bodies a little too
//! inert: stacks stand. The idea is C. Giles, E. Diaz and C. Yuksel's *Augmented vertex block
//! descent* (2025); what differs here is that the stiffness follows the load instead of growing
//! with the error, which is what lets a stone of a thousand tons rest on a light one.
//!
//! * Bodies that touch nothing are moved in double precision, exactly for constant forces.
//! * Manifolds of bodies at rest are neither detected nor prepared nor copied ([`manifold_store`]).
//! * Bodies that do not touch each other are moved eight at a time ([`contact_graph`], [`crate::math::simd`]), in single
//!   precision relative to base poses ([`body_columns`]), by kernels that give the same bits on any
//!   machine and any number of threads ([`crate::parallel::thread_pool`]).

mod articulation;
mod batching;
mod body_columns;
mod contact_graph;
mod graph_update;
mod half_kicks;
mod impact_prediction;
mod impacts;
mod islands;
mod manifold;
mod manifold_forces;
mod manifold_records;
mod manifold_store;
mod manifold_update;
mod narrow_phase;
mod options;
mod overlap_nudges;
mod pair_cache;
mod point_impulse;
mod sleep;
mod solution;
mod stepper;
mod substeps;
mod unconverged_islands;
mod warm_start;

pub(crate) use options::PROFILE;
pub use options::Realtime;
pub(crate) use stepper::RealtimeStepper;

use crate::contact::detection::{Contact, reach};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::oriented_bounds::OrientedBounds;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};
use crate::model::changes::Changes;
use crate::model::joint::Joints;
use crate::parallel::shared_slice::SharedSlice;
use crate::strategy::step::StepSettings;
use articulation::Links;
use body_columns::{Bases, BodyColumns};
use contact_graph::{Edge, Graph};
use impacts::Impacts;
use manifold_store::Manifolds;
use manifold_update::{Found, Ground, Renewal, Renewing};
use narrow_phase::NarrowPhase;
use pair_cache::Pairs;
use serde::{Deserialize, Serialize};
use sleep::{Sleep, SleepRule};
use substeps::SubstepResults;
use unconverged_islands::Unconverged;
use warm_start::guess_loads;

/// Part of the contact margin by which a body may be off its base pose at the end of a step.
pub(crate) const OFF: f64 = 0.4;

/// Bodies that are worth a thread when it is asked which have left their base poses.
const LEAVING_WORTH: usize = 512;

/// What a step is made with.
pub(crate) struct Circumstances<'a, S: Space> {
    pub(crate) settings: StepSettings<S>,
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
    manifolds: Manifolds<S>,
    links: Links<S>,
    columns: BodyColumns<S>,
    sleep: Sleep,
    impacts: Impacts<S>,
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
    cases: Vec<Option<OrientedBounds<S>>>,
    /// What was found in the last step, kept for its memory.
    #[serde(skip)]
    found: Vec<Found<S>>,
    #[serde(skip)]
    renewals: Vec<Renewal>,
    /// Lists that are kept for their memory.
    #[serde(skip)]
    edges: Vec<Edge>,
    #[serde(skip)]
    outcome: SubstepResults<S>,
    /// Whether bodies are mostly new in this step, so that no forces are known.
    #[serde(skip)]
    is_new: bool,
    #[serde(skip)]
    approaching: Vec<bool>,
    #[serde(skip)]
    hits: Vec<u32>,
    #[serde(skip)]
    speeds: Vec<f32>,
    unconverged: Unconverged<S>,
}

impl<S: Space> Default for RealTime<S> {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            manifolds: Manifolds::default(),
            links: Links::default(),
            columns: BodyColumns::default(),
            sleep: Sleep::default(),
            impacts: Impacts::default(),
            graph: Graph::default(),
            is_dirty: Vec::new(),
            reach: Vec::new(),
            travel: Vec::new(),
            cases: Vec::new(),
            found: Vec::new(),
            renewals: Vec::new(),
            edges: Vec::new(),
            outcome: SubstepResults::default(),
            is_new: false,
            approaching: Vec::new(),
            hits: Vec::new(),
            speeds: Vec::new(),
            unconverged: Unconverged::default(),
        }
    }
}

impl<S: Space> RealTime<S> {
    /// Moves the bodies by one step. Poses and motion are written to `bodies`; whether they are
    /// finite is for the caller to see.
    pub(crate) fn step(
        &mut self,
        bodies: &mut Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
        changes: &Changes,
    ) {
        self.recall_forces();
        let added = bodies.len().saturating_sub(self.columns.base.len());
        self.is_new = 8 * added > bodies.len();
        self.take_over(bodies, options, changes);
        self.find_dirty(bodies, around, changes);
        self.detect(bodies, options, around);
        // A world that is mostly new knows no forces yet.
        if changes.all || 8 * changes.places.len() > bodies.len() {
            let slow = around.settings.gravity.length() * around.settings.dt;
            guess_loads(
                &mut self.manifolds,
                &self.graph,
                bodies,
                around.settings.gravity,
                slow,
            );
        }
        self.impact(bodies, options, around);
        self.advance(bodies, options, around);
        self.rest(bodies, options, around);
    }

    /// Takes over what was changed from outside.
    fn take_over(&mut self, bodies: &Bodies<S>, options: &Realtime, changes: &Changes) {
        self.sleep.grow(bodies.len());
        self.unconverged.grow(bodies.len());
        let mut is_changed = false;
        if changes.all || options.sleep_after == 0.0 {
            is_changed |= self.sleep.wake_all();
        }
        if changes.all {
            self.pairs.forget_all();
            (0..bodies.len()).for_each(|k| self.columns.refresh(k));
        }
        let others = changes.bodies.iter().chain(&changes.places);
        others.for_each(|&k| self.columns.refresh(k as usize));
        if !changes.places.is_empty() {
            let mut is_other = vec![false; bodies.len()];
            for &k in &changes.places {
                is_other[k as usize] = true;
                self.pairs.forget(k);
                self.columns.forget(bodies, k as usize);
            }
            let concerns = |ends: &[u32; 2]| ends.iter().any(|&k| is_other[k as usize]);
            let neighbours: Vec<u32> = ties(&self.manifolds, &self.links)
                .filter(concerns)
                .flatten()
                .collect();
            for k in neighbours.into_iter().chain(changes.places.iter().copied()) {
                is_changed |= self.sleep.wake(k as usize);
            }
            self.manifolds.forget(&is_other);
            self.unconverged.forget(&changes.places);
        }
        for &k in &changes.ties {
            self.pairs.forget(k);
        }
        for &k in changes.bodies.iter().chain(&changes.ties) {
            is_changed |= self.sleep.wake(k as usize);
        }
        if is_changed {
            self.manifolds.note_change();
        }
    }

    /// Whether a body is moved by the kernels: it touches something, or is tied to what does.
    fn is_in_columns(&self, body: usize) -> bool {
        self.graph.is_held(body) || self.links.couples(body)
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
            && self.manifolds.is_consistent(bodies)
            && self.links.is_consistent()
            && self.columns.is_consistent(bodies)
            && self.sleep.is_consistent(bodies)
            && self.unconverged.is_consistent(bodies)
            && self.travel.len() <= bodies
            && self.reach.len() <= bodies
    }

    /// Makes what a snapshot leaves out.
    pub(crate) fn restore(&mut self, bodies: &Bodies<S>, joints: &Joints<S>) {
        self.columns.make_room();
        let bases = self.columns.base.iter().enumerate();
        self.cases = bases.map(|(k, base)| case(bodies, k, base)).collect();
        self.links.restore(bodies, joints);
        self.manifolds.restore();
        self.rebuild_graph(bodies, 1);
    }

    /// Finds the bodies that have left their base pose, or are about to.
    fn find_dirty(&mut self, bodies: &Bodies<S>, around: &Circumstances<'_, S>, changes: &Changes) {
        let known = self.columns.base.len();
        self.columns.grow(bodies);
        self.is_dirty.clear();
        self.is_dirty.resize(bodies.len(), changes.all);
        self.is_dirty[known..].fill(true);
        let named = [&changes.bodies, &changes.ties, &changes.places];
        for &k in named.into_iter().flatten() {
            self.is_dirty[k as usize] = true;
        }
        self.reach.resize(bodies.len(), 0.0);
        self.travel.resize(bodies.len(), 0.0);
        self.cases.resize(bodies.len(), None);
        let sleep = &self.sleep;
        let leaving = Leaving {
            bodies,
            settings: around.settings,
            bases: self.columns.share_bases(),
            is_dirty: SharedSlice::new(&mut self.is_dirty),
            reach: SharedSlice::new(&mut self.reach),
            travel: SharedSlice::new(&mut self.travel),
            cases: SharedSlice::new(&mut self.cases),
        };
        let worth = bodies.len() / LEAVING_WORTH + 1;
        crate::parallel::thread_pool::run(
            (around.settings.threads as usize).min(worth),
            |worker| {
                for k in worker.share(bodies.len()) {
                    leaving.find(k, sleep.is_asleep(k));
                }
            },
        );
    }

    /// Brings pairs, manifolds and rows up to date.
    fn detect(&mut self, bodies: &Bodies<S>, options: &Realtime, around: &Circumstances<'_, S>) {
        let dirty: Vec<u32> = (0..bodies.len() as u32)
            .filter(|&k| self.is_dirty[k as usize])
            .collect();
        if !dirty.is_empty() {
            self.detect_dirty(bodies, options, around, &dirty);
        }
        let ties = ties(&self.manifolds, &self.links);
        let is_woken = self.sleep.wake_touched(bodies, ties);
        let is_retied = self.links.update(bodies, around.joints);
        let is_shared_otherwise = self.graph.threads != around.settings.threads as usize;
        let is_other = self.manifolds.take_change() || is_woken || is_retied || is_shared_otherwise;
        if is_other || !self.revise_graph(bodies) {
            self.rebuild_graph(bodies, around.settings.threads);
        }
        self.manifolds.forget_changes();
    }

    fn detect_dirty(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
        dirty: &[u32],
    ) {
        let ahead = around.settings.lookahead();
        let threads = around.settings.threads as usize;
        let changes = self
            .pairs
            .update(bodies, &around.rules, (dirty, threads), &ahead);
        let mut is_moved = vec![false; bodies.len()];
        for &k in &changes.moved {
            is_moved[k as usize] = true;
        }
        self.manifolds.change_pairs(&changes, &is_moved);
        let watch = NarrowPhase {
            bodies,
            rules: &around.rules,
            ahead,
            is_dirty: &self.is_dirty,
            reach: &self.reach,
            cases: &self.cases,
            travel: &self.travel,
        };
        let ground = Ground {
            bodies,
            columns: &self.columns,
            links: &self.links,
            h: around.settings.dt / f64::from(options.substeps),
        };
        let renewing = Renewing {
            ground: &ground,
            manifolds: self.manifolds.share(),
        };
        watch.look(&renewing, threads, &mut self.found);
        self.manifolds.assign(&self.found, &mut self.renewals);
        let renewing = Renewing {
            ground: &ground,
            manifolds: self.manifolds.share(),
        };
        let found = &self.found;
        let renewals = SharedSlice::new(&mut self.renewals);
        crate::parallel::thread_pool::run(threads.min(renewals.len() / 64 + 1), |worker| {
            for k in worker.share(renewals.len()) {
                renewals.change(k, |renewal| renewing.write(found, renewal));
            }
        });
        for renewal in self.renewals.iter().filter(|renewal| renewal.is_regrouped) {
            let touched = &found[renewal.part].touched[renewal.manner];
            self.manifolds.note_pair(touched.pair);
        }
        for &pair in found.iter().flat_map(|part| &part.regrouped) {
            self.manifolds.note_pair(pair);
        }
    }

    /// Takes over what few manifolds have changed. Returns whether no more than that is needed.
    fn revise_graph(&mut self, bodies: &Bodies<S>) -> bool {
        self.manifolds.sort_changes();
        let (manifolds, sleep) = (&self.manifolds, &self.sleep);
        let changes = manifolds.changes();
        if changes.is_empty() {
            return true;
        }
        let moves = (0..bodies.len()).map(|k| bodies.is_dynamic(k) && !sleep.is_asleep(k));
        changes.len() < bodies.len() / 4
            && moves.eq(self.graph.moves.iter().copied())
            && self.graph.revise(changes, |pair| manifolds.edges_of(pair))
    }

    /// Colours the bodies that move anew.
    fn rebuild_graph(&mut self, bodies: &Bodies<S>, threads: u32) {
        self.edges.clear();
        self.edges.extend(self.manifolds.edges());
        let (sleep, links) = (&self.sleep, &self.links);
        let moves: Vec<bool> = (0..bodies.len())
            .map(|k| bodies.is_dynamic(k) && !sleep.is_asleep(k))
            .collect();
        let is_tied = |k: usize| links.ties_body(k);
        self.graph
            .rebuild(&self.edges, threads as usize, &moves, is_tied);
    }

    /// Lets islands that have been still for long enough fall asleep.
    fn rest(&mut self, bodies: &mut Bodies<S>, options: &Realtime, around: &Circumstances<'_, S>) {
        if options.sleep_after == 0.0 {
            return;
        }
        let rule = SleepRule {
            dt: around.settings.dt,
            after: options.sleep_after,
            speed: options.sleep_speed,
        };
        let ties = ties(&self.manifolds, &self.links);
        let most = overlap_nudges::NOTICEABLE * around.settings.dt / f64::from(options.substeps);
        let is_nudged = |k: usize| self.columns.nudged(k) > most;
        if self.sleep.settle(bodies, ties, is_nudged, &rule) {
            for k in (0..bodies.len()).filter(|&k| self.sleep.is_asleep(k)) {
                self.columns.rest(k);
            }
            self.manifolds.note_change();
        }
    }

    /// All contacts with the impulses of the last step.
    pub(crate) fn contacts(&self, bodies: &Bodies<S>, dt: f64) -> Vec<Contact<S>> {
        self.manifolds.contacts(bodies, &self.impacts, dt)
    }
}

/// Lists in which threads note which bodies have left their base poses.
struct Leaving<'a, S: Space> {
    bodies: &'a Bodies<S>,
    settings: StepSettings<S>,
    bases: Bases<'a, S>,
    is_dirty: SharedSlice<'a, bool>,
    reach: SharedSlice<'a, f64>,
    travel: SharedSlice<'a, f64>,
    cases: SharedSlice<'a, Option<OrientedBounds<S>>>,
}

impl<S: Space> Leaving<'_, S> {
    /// Gives a body another base pose if it has left its own, or is about to.
    fn find(&self, k: usize, is_asleep: bool) {
        let (bodies, settings) = (self.bodies, &self.settings);
        let is_named = self.is_dirty.read(k);
        if is_asleep && !is_named {
            return;
        }
        let reach = reach(bodies, k, &settings.lookahead());
        self.reach.write(k, reach + 0.5 * settings.margin);
        let radius = bodies.radius[k];
        let size = |motion: &Motion<S>| {
            let turned = motion.spin.length();
            motion.linear.length() + if turned > 0.0 { turned * radius } else { 0.0 }
        };
        // Two bodies that are off by this much each, with what they move in this step, have not
        // closed the margin within which contacts are found.
        let noticeable = (OFF * settings.margin).min(0.02 * radius);
        let is_off = || {
            let drift = size(&self.bases.drift_of(k));
            drift + settings.dt * size(&bodies.motion[k]) > noticeable
        };
        if is_named || is_off() {
            self.is_dirty.write(k, true);
            let moved = self.bases.rebase(bodies, k);
            self.travel.write(k, self.travel.read(k) + size(&moved));
            let pose = Pose {
                position: bodies.position[k],
                rotation: bodies.rotation[k],
            };
            self.cases.write(k, case(bodies, k, &pose));
        }
    }
}

/// Pairs of bodies that touch or are tied.
fn ties<S: Space>(manifolds: &Manifolds<S>, links: &Links<S>) -> impl Iterator<Item = [u32; 2]> {
    let touching = manifolds
        .iter()
        .map(|(_, manifold)| [manifold.a, manifold.b]);
    touching.chain(links.ties())
}

/// The box around a body whose base pose is `base`.
fn case<S: Space>(bodies: &Bodies<S>, k: usize, base: &Pose<S>) -> Option<OrientedBounds<S>> {
    let bounds = bodies.bounds[k].as_ref()?;
    Some(OrientedBounds::new(bounds, base))
}
