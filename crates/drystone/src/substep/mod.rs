//! The real-time strategy: small steps, hard contacts, eight patches at a time.
//!
//! A step of dt is cut into n substeps of h = dt/n. Contacts are found once a step; in every
//! substep
//!
//! 1. forces act, and the impulses of the substep before are applied again;
//! 2. a sweep over all patches, in which overlaps are repaired ([`patch`]);
//! 3. bodies move;
//! 4. a second sweep without repair takes the velocity that repair made out again.
//!
//! Small steps converge better than many sweeps of a long one, because an error of a substep is
//! seen, as an overlap, in the next (M. Macklin et al., *Small steps in physics simulation*, 2019;
//! E. Catto's *Solver2D* compares the variants). What differs from other engines' versions:
//!
//! * contacts are hard, where Box2D, Box3D and Rapier make them springs of 30 Hz, into which a
//!   wall of a hundred rows sinks by two thirds of a metre;
//! * all points of a patch are solved in registers, in the relative motion of its two bodies
//!   ([`reduced`]);
//! * patches of bodies at rest are not touched at all: neither detected nor prepared nor copied
//!   ([`touching`]); a settled step costs its sweeps.
//!
//! Kernels run on single precision relative to base poses ([`columns`]), compiled for several
//! instruction sets that all give the same bits ([`simd`]), on any number of threads that all
//! give the same bits ([`color`], [`crew`]).

mod color;
mod columns;
mod crew;
mod pairs;
mod patch;
pub(crate) mod reduced;
mod shared;
pub mod simd;
mod touching;

use crate::body::{Bodies, Kind, Motion};
use crate::detect::{Contact, Lookahead, reach, touch};
use crate::integrate;
use crate::material::Materials;
use crate::problem::assemble::ContactRules;
use crate::shape::Pose;
use crate::space::{Linear, Space};
use columns::BodyColumns;
use pairs::Pairs;
use patch::{BounceRule, GroupBodies, Groups, SharedBodies, SweepRule};
use shared::Shared;
use simd::{Column, Instructions};
use touching::{Found, Ground, Patches};

/// Options of the strategy `substep`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Substep {
    /// Substeps of a step.
    pub substeps: u32,
    /// Passes over the points of a patch in one sweep.
    pub passes: u32,
    /// Sweeps of a substep, before bodies move.
    pub sweeps: u32,
    /// Sweeps of a substep after bodies have moved.
    pub relaxing: u32,
    /// Part of an overlap beyond the slop that is repaired in a second, 1/s; at most 1/h acts.
    pub repair_rate: f64,
    /// Which instructions the kernels use; they differ in speed only.
    pub instructions: Instructions,
}

impl Default for Substep {
    fn default() -> Self {
        Self {
            substeps: 4,
            passes: 1,
            sweeps: 1,
            relaxing: 1,
            repair_rate: 30.0,
            instructions: Instructions::best(),
        }
    }
}

/// What a step is made with.
pub(crate) struct Circumstances<'a, S: Space> {
    pub(crate) materials: &'a Materials,
    pub(crate) rules: ContactRules,
    pub(crate) gravity: S::Vector,
    pub(crate) dt: f64,
    pub(crate) margin: f64,
    pub(crate) time: f64,
    pub(crate) threads: usize,
}

/// What the strategy keeps from step to step.
#[derive(Clone, Debug)]
pub(crate) struct RealTime<S: Space> {
    pairs: Pairs<S>,
    patches: Patches<S>,
    columns: BodyColumns<S>,
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
        self.patches
            .find_bouncy(bodies, around.rules.restitution_threshold);
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
        let ahead = lookahead(around);
        for k in 0..bodies.len() {
            self.reach[k] = reach(bodies, k, &ahead) + 0.5 * around.margin;
            let radius = bodies.radius[k];
            let size = |motion: &Motion<S>| {
                let turned = motion.spin.length();
                motion.linear.length() + if turned > 0.0 { turned * radius } else { 0.0 }
            };
            let noticeable = (0.2 * around.margin).min(0.01 * radius);
            let is_off = || {
                size(&self.columns.drift_of(k)) > noticeable
                    || around.dt * size(&bodies.motion[k]) > noticeable
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
        self.patches.change_pairs(bodies, &changes, &is_moved);
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
    }

    /// Contact points of all pairs with a dirty body, one list a thread.
    fn touch_pairs(&self, bodies: &Bodies<S>, around: &Circumstances<'_, S>) -> Vec<Found<S>> {
        let work: Vec<u32> = (0..self.patches.pair_count() as u32)
            .filter(|&index| {
                let pair = self.patches.pair(index as usize);
                self.is_dirty[pair.a as usize] || self.is_dirty[pair.b as usize]
            })
            .collect();
        let ahead = lookahead(around);
        let look = |indices: &[u32]| {
            let mut found = Found::default();
            for &index in indices {
                let pair = self.patches.pair(index as usize);
                let (a, b) = (pair.a as usize, pair.b as usize);
                // Both reaches hold half of the margin each.
                let margin = self.reach[a] + self.reach[b];
                let near = bodies.radius[a] + bodies.radius[b] + margin;
                let between = bodies.position[b] - bodies.position[a];
                if between.dot(between) <= near * near {
                    touch(bodies, (a, b), margin, &ahead, &mut found.points);
                }
                found.ends.push((index, found.points.len() as u32));
            }
            found
        };
        let threads = around.threads.min(work.len() / 64 + 1);
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
                .map(|part| part.join().unwrap_or_default())
                .collect()
        })
    }

    /// Fills the bodies' columns.
    fn load(&mut self, bodies: &Bodies<S>, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.dt / f64::from(options.substeps);
        for k in 0..bodies.len() {
            let acceleration = if bodies.is_dynamic(k) {
                integrate::acceleration(bodies, k, around.gravity, around.time)
            } else {
                Motion::default()
            };
            self.columns.load(bodies, k, &acceleration, h);
        }
    }

    /// Runs the substeps on the columns.
    fn solve(&mut self, options: &Substep, around: &Circumstances<'_, S>) {
        let h = around.dt / f64::from(options.substeps);
        let is_bouncy = self
            .patches
            .coloring
            .colors
            .iter()
            .any(|color| color.groups.iter().any(|group| group.bouncy));
        // Fewer groups than this are not worth meeting at barriers for.
        let threads = around.threads.min(self.patches.coloring.groups() / 64 + 1);
        let (bodies, forces) = self.columns.share();
        let stages = Stages::<S> {
            colors: self
                .patches
                .coloring
                .colors
                .iter_mut()
                .map(|color| SharedColor {
                    columns: Shared::new(&mut color.columns),
                    groups: Shared::new(&mut color.groups),
                })
                .collect(),
            bodies,
            instructions: options.instructions,
            space: std::marker::PhantomData,
        };
        let press = SweepRule {
            per_substep: (1.0 / h) as f32,
            repair_rate: options.repair_rate.min(1.0 / h) as f32,
            slop: around.rules.slop as f32,
            repair_speed: around.rules.repair_speed as f32,
            passes: options.passes,
        };
        let relax = SweepRule {
            repair_rate: 0.0,
            ..press
        };
        let bounce = BounceRule {
            substep: h as f32,
            threshold: around.rules.restitution_threshold as f32,
            fall: (around.gravity.length() * h) as f32,
        };
        let count = stages.bodies.motion.len();
        crew::run(threads, |worker| {
            stages.each_color(worker, |groups, bodies| {
                patch::prepare::<S>(stages.instructions, groups, bodies);
            });
            for substep in 0..options.substeps {
                if is_bouncy {
                    stages.each_color(worker, |groups, bodies| {
                        patch::find_bounces::<S>(stages.instructions, groups, bodies, &bounce);
                    });
                }
                forces.apply(&stages.bodies, worker.share(count), substep == 0);
                worker.wait();
                if substep == 0 {
                    stages.each_color(worker, |groups, bodies| {
                        patch::warm_start::<S>(stages.instructions, groups, bodies);
                    });
                }
                for _ in 0..options.sweeps {
                    stages.each_color(worker, |groups, bodies| {
                        patch::sweep::<S>(stages.instructions, groups, bodies, &press);
                    });
                }
                columns::advance(&stages.bodies, worker.share(count), h as f32);
                worker.wait();
                for _ in 0..options.relaxing {
                    stages.each_color(worker, |groups, bodies| {
                        patch::sweep::<S>(stages.instructions, groups, bodies, &relax);
                    });
                }
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
        let h = around.dt / f64::from(options.substeps);
        let end = around.time + around.dt;
        for k in 0..bodies.len() {
            match &bodies.kind[k] {
                Kind::Fixed => {}
                Kind::Kinematic(script) => {
                    let Pose { position, rotation } = script.pose(&bodies.start[k], end);
                    bodies.position[k] = position;
                    bodies.rotation[k] = rotation;
                }
                Kind::Particle | Kind::Rigid if !self.patches.coloring.is_used(k) => {
                    let acceleration =
                        integrate::acceleration(bodies, k, around.gravity, around.time);
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
    pub(crate) fn contacts(&self, bodies: &Bodies<S>, options: &Substep) -> Vec<Contact<S>> {
        self.patches.contacts(bodies, options.substeps)
    }
}

fn lookahead<S: Space>(around: &Circumstances<'_, S>) -> Lookahead {
    Lookahead {
        dt: around.dt,
        margin: around.margin,
        acceleration: around.gravity.length(),
    }
}

struct SharedColor<'a> {
    columns: Shared<'a, Column>,
    groups: Shared<'a, GroupBodies>,
}

/// What all threads of a step work on.
struct Stages<'a, S> {
    colors: Vec<SharedColor<'a>>,
    bodies: SharedBodies<'a>,
    instructions: Instructions,
    space: std::marker::PhantomData<S>,
}

impl<S: Space> Stages<'_, S> {
    /// Does something to all groups, colour after colour, each colour's groups split among the
    /// threads.
    fn each_color(
        &self,
        worker: &crew::Worker<'_>,
        mut work: impl FnMut(&Groups<'_>, &SharedBodies<'_>),
    ) {
        for (k, color) in self.colors.iter().enumerate() {
            let count = color.groups.len();
            let range = if k < color::COLORS {
                worker.share(count)
            } else if worker.is_first() {
                0..count
            } else {
                0..0
            };
            work(
                &Groups {
                    columns: &color.columns,
                    bodies: &color.groups,
                    range,
                },
                &self.bodies,
            );
            worker.wait();
        }
    }
}
