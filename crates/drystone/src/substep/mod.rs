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

mod columns;
mod crew;
mod evidence;
mod graph;
mod guess;
mod pairs;
mod patch;
mod records;
pub(crate) mod reduced;
mod shared;
pub mod simd;
mod touching;

use std::panic::resume_unwind;

use crate::body::{Bodies, Kind, Motion};
use crate::detect::{Contact, reach, touch};
use crate::integrate;
use crate::material::Materials;
use crate::problem::impact::ImpactLaw;
use crate::shape::{Geometry, Pose};
use crate::space::{Linear, Space};
use crate::world::{Settings, SettingsError};
use columns::BodyColumns;
use graph::Graph;
use guess::guess_loads;
use pairs::Pairs;
use patch::Law;
use simd::{Instructions, LANES};
use touching::{Found, Ground, Patches};

/// Options of the strategy `substep`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Substep {
    /// Substeps of a step.
    pub substeps: u32,
    /// Rounds over all bodies in a substep.
    pub rounds: u32,
    /// Rounds after which known forces learn from the present ones.
    pub learn_every: u32,
    /// κ: a contact gives way by a h²/κ under its load, a being the acceleration of free fall.
    pub stiffness: f64,
    /// Part of its error that a known force makes up for when it learns, where it grows.
    pub loading: f64,
    /// The same where it shrinks.
    pub unloading: f64,
    /// Part of an overlap that is repaired in a second, 1/s.
    pub repair_rate: f64,
    /// Which instructions the kernels use; they differ in speed only.
    pub instructions: Instructions,
}

impl Default for Substep {
    /// Six rounds. Stiffer contacts hold heaps better and let very large walls grow restless sooner:
    /// with these, a wall of 5,050 boxes is still for 13 s at least and no longer so at 25 s.
    fn default() -> Self {
        Self {
            substeps: 1,
            rounds: 6,
            learn_every: 1,
            stiffness: 0.5,
            loading: 0.5,
            unloading: 1.0,
            repair_rate: 3.0,
            instructions: Instructions::best(),
        }
    }
}

impl Substep {
    /// Whether the options can be used, together with the law of impact.
    pub(crate) fn check(&self, law: ImpactLaw) -> Result<(), SettingsError> {
        if law == ImpactLaw::Reflection {
            return Err(SettingsError {
                field: "impact",
                expected: "\"newton\" with the strategy substep (reflections need velocity)",
                value: "\"reflection\"".to_owned(),
            });
        }
        let part = "more than 0 and at most 1";
        let positive = "a finite number greater than 0";
        for (field, expected, value, most) in [
            ("substeps", "1 to 1000", f64::from(self.substeps), 1e3),
            ("rounds", "1 to 1000", f64::from(self.rounds), 1e3),
            ("learn_every", "1 to 1000", f64::from(self.learn_every), 1e3),
            ("stiffness", positive, self.stiffness, f64::MAX),
            ("loading", part, self.loading, 1.0),
            ("unloading", part, self.unloading, 1.0),
        ] {
            if !(value > 0.0 && value <= most) {
                return Err(SettingsError {
                    field,
                    expected,
                    value: value.to_string(),
                });
            }
        }
        if !(self.repair_rate.is_finite() && self.repair_rate >= 0.0) {
            return Err(SettingsError {
                field: "repair_rate (1/s)",
                expected: "a finite number, 0 or more",
                value: self.repair_rate.to_string(),
            });
        }
        Ok(())
    }
}

/// What a step is made with.
pub(crate) struct Circumstances<'a, S: Space> {
    pub(crate) settings: &'a Settings<S>,
    pub(crate) materials: &'a Materials,
    /// At the start of the step, s.
    pub(crate) time: f64,
}

/// What the strategy keeps from step to step.
#[derive(Clone, Debug)]
pub(crate) struct RealTime<S: Space> {
    pairs: Pairs<S>,
    patches: Patches<S>,
    columns: BodyColumns<S>,
    graph: Graph,
    /// Bodies whose pairs must be detected again in this step.
    is_dirty: Vec<bool>,
    reach: Vec<f64>,
}

impl<S: Space> Default for RealTime<S> {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            patches: Patches::default(),
            columns: BodyColumns::default(),
            graph: Graph::default(),
            is_dirty: Vec::new(),
            reach: Vec::new(),
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
        is_stale: bool,
    ) {
        self.find_dirty(bodies, around, is_stale);
        self.detect(bodies, around);
        if is_stale {
            let slow = around.settings.gravity.length() * around.settings.dt;
            guess_loads(
                &mut self.patches,
                &self.graph,
                bodies,
                around.settings.gravity,
                slow,
            );
        }
        self.load(bodies, options, around);
        self.solve(options, around);
        self.write_back(bodies, options, around);
    }

    /// Finds the bodies that have left their base pose, or are about to.
    fn find_dirty(&mut self, bodies: &Bodies<S>, around: &Circumstances<'_, S>, is_stale: bool) {
        let known = self.columns.base.len();
        self.columns.grow(bodies);
        self.is_dirty.clear();
        self.is_dirty.resize(bodies.len(), false);
        self.reach.resize(bodies.len(), 0.0);
        let ahead = around.settings.lookahead();
        for k in 0..bodies.len() {
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
            if is_stale || k >= known || is_off() {
                self.is_dirty[k] = true;
                self.columns.rebase(bodies, k);
            }
        }
    }

    /// Brings pairs and patches up to date.
    fn detect(&mut self, bodies: &Bodies<S>, around: &Circumstances<'_, S>) {
        let dirty: Vec<u32> = (0..bodies.len() as u32)
            .filter(|&k| self.is_dirty[k as usize])
            .collect();
        if dirty.is_empty() {
            return;
        }
        let changes = self.pairs.update(bodies, &dirty, &self.reach);
        let mut is_moved = vec![false; bodies.len()];
        for &k in &changes.moved {
            is_moved[k as usize] = true;
        }
        self.patches.change_pairs(&changes, &is_moved);
        let found = self.touch_pairs(bodies, around);
        let columns = &self.columns;
        let ground = Ground {
            bodies,
            materials: around.materials,
            drift: &|k| columns.drift_of(k as usize),
        };
        for part in &found {
            self.patches.renew(&ground, part);
        }
        if self.patches.take_change() {
            let patches: Vec<_> = self
                .patches
                .iter()
                .map(|(at, patch)| (at + 1, [patch.a, patch.b]))
                .collect();
            self.graph
                .rebuild(&patches, bodies.len(), |k| bodies.is_dynamic(k));
        }
    }

    /// Contact points of all pairs with a dirty body, one list a thread.
    fn touch_pairs(&self, bodies: &Bodies<S>, around: &Circumstances<'_, S>) -> Vec<Found<S>> {
        let work: Vec<u32> = (0..self.patches.pair_count() as u32)
            .filter(|&index| {
                let pair = self.patches.pair(index as usize);
                self.is_dirty[pair.a as usize] || self.is_dirty[pair.b as usize]
            })
            .collect();
        let ahead = around.settings.lookahead();
        let look = |indices: &[u32]| {
            let mut found = Found::default();
            for &index in indices {
                let pair = self.patches.pair(index as usize);
                let (a, b) = (pair.a as usize, pair.b as usize);
                // Both reaches hold half of the margin each.
                let margin = self.reach[a] + self.reach[b];
                if may_touch(bodies, a, b, margin) {
                    touch(bodies, (a, b), margin, &ahead, &mut found.points);
                }
                found.ends.push((index, found.points.len() as u32));
            }
            found
        };
        let threads = (around.settings.threads as usize).min(work.len() / 64 + 1);
        if threads <= 1 {
            return vec![look(&work)];
        }
        let chunk = work.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let parts: Vec<_> = work
                .chunks(chunk)
                .map(|part| scope.spawn(move || look(part)))
                .collect();
            parts
                .into_iter()
                .map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    /// Fills the bodies' columns.
    fn load(&mut self, bodies: &Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.settings.dt / f64::from(options.substeps);
        for k in 0..bodies.len() {
            let acceleration = if bodies.is_dynamic(k) {
                integrate::acceleration(bodies, k, around.settings.gravity, around.time)
            } else {
                Motion::default()
            };
            self.columns.load(bodies, k, &acceleration, h);
        }
    }

    /// Runs the substeps on the columns.
    fn solve(&mut self, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.settings.dt / f64::from(options.substeps);
        let law = law(options, around, h);
        let (instructions, h) = (options.instructions, h as f32);
        let records = self.patches.records.ends.len() / LANES;
        // Fewer than this are not worth meeting at barriers for.
        let threads = (around.settings.threads as usize).min(records / 64 + 1);
        let (field, flight) = self.columns.share(&mut self.patches.records);
        let (graph, count) = (&self.graph, field.motion.len());
        crew::run(threads, |worker| {
            for _ in 0..options.substeps {
                patch::begin::<S>(instructions, &field, worker.share(records), &law);
                flight.aim(&field, worker.share(count), h);
                worker.wait();
                for round in 1..=options.rounds {
                    for groups in &graph.colors {
                        let mine = &groups[worker.share(groups.len())];
                        patch::settle::<S>(instructions, &field, mine, &graph.sides);
                        worker.wait();
                    }
                    if round % options.learn_every == 0 || round == options.rounds {
                        patch::learn::<S>(instructions, &field, worker.share(records), &law);
                        worker.wait();
                    }
                }
                flight.arrive(&field, worker.share(count), h);
                worker.wait();
            }
        });
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
        for k in 0..bodies.len() {
            match &bodies.kind[k] {
                Kind::Fixed => {}
                Kind::Kinematic(script) => {
                    let Pose { position, rotation } = script.pose(&bodies.start[k], end);
                    bodies.position[k] = position;
                    bodies.rotation[k] = rotation;
                }
                Kind::Particle | Kind::Rigid if !self.graph.is_held(k) => {
                    let acceleration =
                        integrate::acceleration(bodies, k, around.settings.gravity, around.time);
                    for _ in 0..options.substeps {
                        integrate::fly(bodies, k, &acceleration, h);
                    }
                    let before = self.columns.base[k];
                    let moved = Motion::<S> {
                        linear: bodies.position[k] - before.position,
                        spin: S::turn_between(before.rotation, bodies.rotation[k]),
                    };
                    self.columns.set_drift(k, &moved);
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
        self.patches.contacts(bodies, dt)
    }
}

/// Whether the balls around two bodies come nearer than `margin`, or one around a body comes that
/// near to an unbounded one.
fn may_touch<S: Space>(bodies: &Bodies<S>, a: usize, b: usize, margin: f64) -> bool {
    let radius = |k: usize| bodies.radius[k];
    match (radius(a).is_finite(), radius(b).is_finite()) {
        (true, true) => {
            let near = radius(a) + radius(b) + margin;
            let between = bodies.position[b] - bodies.position[a];
            between.dot(between) <= near * near
        }
        (is_bounded, _) => {
            let (ball, wall) = if is_bounded { (a, b) } else { (b, a) };
            let pose = bodies.origin(wall);
            let distance = bodies.shape[wall].signed_distance(&pose, bodies.position[ball]);
            distance <= radius(ball) + margin
        }
    }
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
