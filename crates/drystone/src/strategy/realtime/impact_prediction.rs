//! Prediction of impacts: which manifolds are about to hit.
//!
//! Impacts ([`super::impacts`]) are few and worked out one by one in double precision. Whether there
//! is one is asked of every manifold in every step, so the kernels ask, eight manifolds at a time: does
//! any point close faster than its gap allows? They round, so they ask a little more sharply and
//! leave the decision to the impact itself. Two bodies whose fastest points together are slower
//! than that are not asked.

use std::sync::atomic::{AtomicU32, Ordering};

use super::body_columns::column;
use super::impacts::{ImpactRule, Web};
use super::manifold::{Field, Layout, axes, parting, place, read_header, read_point};
use super::manifold_records::RecordGroup;
use super::point_impulse::HitBodies;
use super::{Circumstances, RealTime, Realtime};
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::math::simd::{Column, LANES, Wide, dispatch};
use crate::model::body::{Bodies, Motion};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// Part of the least speed of an impact that the kernels ask for.
const SHARPER: f64 = 0.9;

/// What closes too fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// m/s.
    least: f32,
    /// Of the step, 1/s.
    per_step: f32,
    /// Faster than this bodies bounce, and what they may then lack to close, m/s.
    bounces: f32,
    early: f32,
}

#[inline(always)]
fn approach_kernel<S: Space, V: Wide>(
    field: &Field<'_>,
    groups: &[RecordGroup],
    pace: &Pace,
    answers: &SharedSlice<'_, bool>,
) {
    let (least, per_step) = (V::splat(pace.least), V::splat(pace.per_step));
    let (bounces, early) = (V::splat(pace.bounces), V::splat(pace.least + pace.early));
    for group in groups {
        let records = &group.records;
        let numbers = read_header::<S, V>(&field.records, records);
        let axes = axes::<S, V>(&numbers);
        let ends = field.ends_of(group);
        let drift = parting::<S, V>(&axes, &field.drift, &ends);
        let motion = parting::<S, V>(&axes, &field.motion, &ends);
        let mut most = -least;
        for p in 0..group.points as usize {
            let point = read_point::<S, V>(&field.records, records, p);
            let c = place::<S, V>(&point);
            let gap = point[Layout::<S>::SEPARATION] + S::at_point(&drift, &c)[0];
            let closing = -S::at_point(&motion, &c)[0];
            let excess = closing - gap.most(V::splat(0.0)) * per_step - least;
            let bounce = (closing - bounces).least(excess + early);
            most = most.most(excess).most(bounce);
        }
        let mut found = Column::default();
        most.store(&mut found);
        for (&record, excess) in records.iter().zip(found.0) {
            if record != 0 {
                answers.write(record as usize, excess > 0.0);
            }
        }
    }
}

dispatch! {
    /// Says of each record whether a point of it closes too fast.
    fn approach<S: Space>(
        field: &Field<'_>,
        groups: &[RecordGroup],
        pace: &Pace,
        answers: &SharedSlice<'_, bool>,
    ) = approach_kernel
}

impl<S: Space> RealTime<S> {
    /// Lets what is about to hit something hit it.
    pub(super) fn impact(
        &mut self,
        bodies: &mut Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
    ) {
        let law = strike_law(around);
        self.find_approaching(bodies, options, around, &law);
        let links = &self.links;
        let is_ours = |manifold: &u32| {
            let ends = self.manifolds.ends(*manifold);
            !ends.iter().any(|&k| links.leaves_blows(k as usize))
        };
        let hits = self.approaching.iter().enumerate();
        let hits = hits.filter(|&(_, &hits)| hits).map(|(k, _)| k as u32 - 1);
        self.hits.clear();
        self.hits.extend(hits.filter(is_ours));
        let web = Web {
            manifolds: &self.manifolds,
            graph: &self.graph,
        };
        let mut struck = HitBodies {
            bodies,
            links: &mut self.links,
        };
        let first = self.hits.iter().copied();
        self.impacts.impact(&mut struck, &web, &law, first);
    }

    /// Asks all manifolds of fast bodies whether they are about to hit.
    fn find_approaching(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
        law: &ImpactRule<S>,
    ) {
        let groups = &self.graph.records;
        self.approaching.clear();
        self.approaching
            .resize(self.manifolds.records.ends.len(), false);
        let (field, ..) = self.columns.share(&mut self.manifolds.records);
        let answers = SharedSlice::new(&mut self.approaching);
        let pace = Pace {
            least: (SHARPER * law.least) as f32,
            per_step: (1.0 / law.dt) as f32,
            bounces: (SHARPER * law.threshold) as f32,
            early: (law.early / SHARPER) as f32,
        };
        self.speeds.resize(bodies.len() + 1, 0.0);
        let speed = SharedSlice::new(&mut self.speeds);
        // As its bits, which are ordered as the numbers are.
        let fastest_of_all = AtomicU32::new(0);
        let worth = (groups.len() / 256).min(bodies.len() / 1024) + 1;
        thread_pool::run((around.settings.threads as usize).min(worth), |worker| {
            let mut most = 0.0_f32;
            for k in worker.share(bodies.len()) {
                field.motion.write(k + 1, column(&bodies.motion[k]));
                let own = fastest(bodies, k);
                speed.write(k + 1, own);
                most = most.max(own);
            }
            fastest_of_all.fetch_max(most.to_bits(), Ordering::Relaxed);
            worker.wait();
            let most = f32::from_bits(fastest_of_all.load(Ordering::Relaxed));
            if 2.0 * most <= pace.least {
                return;
            }
            let is_fast = |record: u32| {
                let ends = field.ends.get(record as usize).filter(|_| record != 0);
                ends.is_some_and(|ends| {
                    let [a, b] = ends.map(|k| speed.read(k as usize));
                    a + b > pace.least
                })
            };
            let own = &groups[worker.share(groups.len())];
            let fast = sieve(own, is_fast);
            approach::<S>(options.instructions, &field, &fast, &pace, &answers);
        });
    }
}

/// Groups of those records that `is_kept` keeps.
fn sieve(groups: &[RecordGroup], is_kept: impl Fn(u32) -> bool) -> Vec<RecordGroup> {
    let mut kept: Vec<RecordGroup> = Vec::new();
    let mut lane = LANES;
    for group in groups {
        for &record in group.records.iter().filter(|&&record| is_kept(record)) {
            if lane == LANES {
                lane = 0;
                kept.push(RecordGroup {
                    records: [0; LANES],
                    points: group.points,
                });
            }
            if let Some(last) = kept.last_mut() {
                // Each part of the manifolds begins with those that have many.
                last.points = last.points.max(group.points);
                last.records[lane] = record;
                lane += 1;
            }
        }
    }
    kept
}

/// The speed of a body's fastest point at most, m/s.
fn fastest<S: Space>(bodies: &Bodies<S>, k: usize) -> f32 {
    let Motion { linear, spin } = bodies.motion[k];
    let radius = bodies.radius[k];
    let sweep = if radius.is_finite() {
        spin.length() * radius
    } else {
        0.0
    };
    (linear.length() + sweep) as f32
}

/// The numbers of the law of impact.
fn strike_law<S: Space>(around: &Circumstances<'_, S>) -> ImpactRule<S> {
    let dt = around.settings.dt;
    ImpactRule {
        dt,
        // A quarter of what a step of free fall adds: resting contacts close more slowly.
        least: (0.25 * around.settings.gravity.length() * dt).max(1e-9),
        threshold: around.settings.contact.restitution_threshold,
        margin: around.settings.margin,
        fall: around.settings.gravity * dt,
        early: 0.5 * around.settings.gravity.length() * dt,
    }
}
