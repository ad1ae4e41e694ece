//! The store of manifolds, kept from step to step.
//!
//! A manifold lives as long as its two parts touch. While neither body has moved noticeably from its
//! base pose, nothing at all is done for it: its record ([`super::manifold`]) stays as it is, and
//! kernels follow the bodies' small drift to first order. When one has moved, the pair is detected
//! afresh and the manifold rewritten; points that continue keep their forces.

use super::contact_graph::Edge;
use super::impacts::Impacts;
use super::manifold_records::Records;
use super::manifold_update::{Found, Renewal, SharedManifolds, Touched};
use super::pair_cache::{Pair, PairChanges};
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::Components;
use crate::math::algebra::vector;
use crate::model::body::Bodies;
use crate::model::material::Surface;
use crate::parallel::shared_slice::SharedSlice;
use serde::{Deserialize, Serialize};

pub(super) const NONE: u32 = u32::MAX;
/// Points in a manifold at most, in any space.
pub(super) const MOST: usize = 4;

/// Two convex parts that touch.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Manifold<S: Space> {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) surface: Surface,
    pub(crate) slide: S::Vector,
    pub(crate) basis: S::Matrix,
    pub(crate) count: usize,
    /// Points as they were detected.
    pub(crate) points: [ContactPoint<S>; MOST],
    /// The points in A's axes, by which those whose features changed are recognised.
    pub(super) anchors: [S::Vector; MOST],
}

impl<S: Space> Manifold<S> {
    /// A place in the list before a manifold is written to it.
    fn blank(point: &ContactPoint<S>, surface: Surface) -> Self {
        Self {
            a: 0,
            b: 0,
            surface,
            slide: S::Vector::default(),
            basis: S::basis(point.normal),
            count: 0,
            points: [*point; MOST],
            anchors: [S::Vector::default(); MOST],
        }
    }
}

/// A pair of bodies and the first of its manifolds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Touching {
    pub(super) pair: Pair,
    pub(super) first: u32,
    /// How much both bodies together will have travelled since the world began when they can
    /// touch at the earliest, m.
    pub(super) free_until: f64,
}

impl Touching {
    fn new(pair: Pair) -> Self {
        Self {
            pair,
            first: NONE,
            free_until: 0.0,
        }
    }
}

/// All manifolds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Manifolds<S: Space> {
    pairs: Vec<Touching>,
    /// Kept for its memory.
    #[serde(skip)]
    merged: Vec<Touching>,
    list: Vec<Manifold<S>>,
    /// The next manifold of the same pair, of each manifold.
    next: Vec<u32>,
    unused: Vec<u32>,
    pub(crate) records: Records,
    /// Whether anything may have changed since this was last asked.
    has_changed: bool,
    /// Pairs that have other manifolds than before, or manifolds with other points.
    #[serde(skip)]
    changes: Vec<Pair>,
}

impl<S: Space> Default for Manifolds<S> {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            merged: Vec::new(),
            list: Vec::new(),
            next: Vec::new(),
            unused: Vec::new(),
            records: Records::default(),
            has_changed: false,
            changes: Vec::new(),
        }
    }
}

impl<S: Space> Manifolds<S> {
    /// The pairs, to be detected.
    pub(crate) fn pair(&self, index: usize) -> Pair {
        self.pairs[index].pair
    }

    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// Numbers of live manifolds, in the order of their bodies.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let chains = self.pairs.iter().map(|touching| touching.first);
        chains.flat_map(|first| self.chain(first))
    }

    /// A manifold and those that follow it.
    fn chain(&self, first: u32) -> impl Iterator<Item = u32> {
        let of = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(of(first), move |&at| of(self.next[at as usize]))
    }

    /// Live manifolds with their numbers, in the order of their bodies.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Manifold<S>)> {
        self.numbers().map(|at| (at, &self.list[at as usize]))
    }

    /// What touches, in the order of bodies.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Edge> {
        self.numbers().map(|at| self.edge(at))
    }

    /// How two bodies touch.
    pub(crate) fn edges_of(&self, pair: Pair) -> impl Iterator<Item = Edge> {
        let at = self.pairs.binary_search_by_key(&pair, |t| t.pair);
        let first = at.map_or(NONE, |at| self.pairs[at].first);
        self.chain(first).map(|at| self.edge(at))
    }

    fn edge(&self, manifold: u32) -> Edge {
        let record = manifold + 1;
        Edge {
            record,
            ends: self.ends(manifold),
            points: self.records.counts[record as usize],
        }
    }

    /// Points of all manifolds.
    pub(crate) fn point_count(&self) -> usize {
        self.records.counts.iter().map(|&n| usize::from(n)).sum()
    }

    /// Makes what a snapshot leaves out.
    pub(crate) fn restore(&mut self) {
        let mut counts = vec![0; self.records.ends.len()];
        for (at, manifold) in self.iter() {
            counts[at as usize + 1] = manifold.count as u8;
        }
        self.records.counts = counts;
    }

    /// A manifold.
    pub(crate) fn manifold(&self, manifold: u32) -> &Manifold<S> {
        &self.list[manifold as usize]
    }

    /// The bodies A and B of a manifold.
    pub(crate) fn ends(&self, manifold: u32) -> [u32; 2] {
        self.records.ends[manifold as usize + 1].map(|k| k - 1)
    }

    /// The normal of a manifold, from A to B.
    pub(crate) fn normal(&self, manifold: u32) -> S::Vector {
        self.list[manifold as usize].points[0].normal
    }

    /// Whether a manifold carries anything.
    pub(crate) fn carries(&self, manifold: u32) -> bool {
        let count = self.list[manifold as usize].count;
        (0..count).any(|k| self.records.force::<S>(manifold, k)[0] > 0.0)
    }

    /// Spreads a normal force, N, evenly over a manifold's points.
    pub(crate) fn set_force(&mut self, manifold: u32, force: f64) {
        let count = self.list[manifold as usize].count;
        for k in 0..count {
            self.records
                .set_normal_force::<S>(manifold, k, force / count as f64);
        }
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let is_body = |k: u32| (k as usize) < bodies;
        let is_manifold = |k: u32| k == NONE || (k as usize) < self.list.len();
        let records = self.records.ends.len();
        self.pairs.iter().all(|touching| {
            is_body(touching.pair.a) && is_body(touching.pair.b) && is_manifold(touching.first)
        }) && self.list.iter().all(|manifold| {
            is_body(manifold.a) && is_body(manifold.b) && manifold.count <= S::POINTS
        }) && self.next.len() == self.list.len()
            && self.next.iter().all(|&k| is_manifold(k))
            && self.unused.iter().all(|&k| is_manifold(k) && k != NONE)
            && self.records.columns.len() == records * S::RECORD
            && (self.list.is_empty() || records > self.list.len())
            && self.is_acyclic()
            && self.iter().all(|(at, manifold)| {
                self.records.ends[at as usize + 1] == [manifold.a + 1, manifold.b + 1]
            })
    }

    /// Whether chains of manifolds end.
    fn is_acyclic(&self) -> bool {
        let mut seen = vec![false; self.list.len()];
        for touching in &self.pairs {
            let mut at = touching.first;
            while let Some(&next) = self.next.get(at as usize) {
                if std::mem::replace(&mut seen[at as usize], true) {
                    return false;
                }
                at = next;
            }
        }
        true
    }

    /// Whether more than some pairs' manifolds may have changed since this was last asked.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Says that the bodies that move are others.
    pub(crate) fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Says that a pair's manifolds are others, or have other points.
    pub(crate) fn note_pair(&mut self, pair: Pair) {
        self.changes.push(pair);
    }

    /// Brings [`Self::changes`] into the order of pairs.
    pub(crate) fn sort_changes(&mut self) {
        self.changes.sort_unstable();
        self.changes.dedup();
    }

    /// Pairs that have other manifolds than when this was last forgotten.
    pub(crate) fn changes(&self) -> &[Pair] {
        &self.changes
    }

    /// Forgets which pairs have changed.
    pub(crate) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// Takes over a changed list of pairs.
    pub(crate) fn change_pairs(&mut self, changes: &PairChanges, is_moved: &[bool]) {
        if changes.moved.is_empty() {
            return;
        }
        let old = std::mem::take(&mut self.pairs);
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        let mut new = changes.pairs.iter().copied().peekable();
        let concerns = |pair: &Pair| is_moved[pair.a as usize] || is_moved[pair.b as usize];
        for &touching in &old {
            while let Some(pair) = new.next_if(|pair| *pair < touching.pair) {
                merged.push(Touching::new(pair));
            }
            let is_named = new.next_if_eq(&touching.pair).is_some();
            if is_named || !concerns(&touching.pair) {
                merged.push(touching);
            } else if touching.first != NONE {
                self.note_pair(touching.pair);
                self.remove_chain(touching.first);
            }
        }
        merged.extend(new.map(Touching::new));
        (self.pairs, self.merged) = (merged, old);
    }

    /// Drops everything that these bodies touched.
    pub(crate) fn forget(&mut self, is_gone: &[bool]) {
        let old = std::mem::take(&mut self.pairs);
        self.has_changed = true;
        for touching in old {
            let Pair { a, b } = touching.pair;
            if is_gone[a as usize] || is_gone[b as usize] {
                self.remove_chain(touching.first);
            } else {
                self.pairs.push(touching);
            }
        }
    }

    fn remove_chain(&mut self, mut at: u32) {
        while let Some(&next) = self.next.get(at as usize) {
            self.records.clear::<S>(at);
            self.unused.push(at);
            at = next;
        }
    }

    /// Takes the manifolds of pairs that have come apart away, and gives each group of points that
    /// was found a place in the list: that of the manifold it continues, or another. Points of a pair
    /// come part by part; each pair of parts is a manifold.
    pub(crate) fn assign(&mut self, found: &[Found<S>], renewals: &mut Vec<Renewal>) {
        for &index in found.iter().flat_map(|part| &part.parted) {
            let touching = &mut self.pairs[index as usize];
            let (pair, first) = (touching.pair, touching.first);
            touching.first = NONE;
            self.note_pair(pair);
            self.remove_chain(first);
        }
        renewals.clear();
        for (part, found) in found.iter().enumerate() {
            let mut start = 0;
            for (manner, touched) in found.touched.iter().enumerate() {
                let end = touched.end as usize;
                let whole = Renewal {
                    part,
                    manner,
                    points: start..end,
                    at: NONE,
                    is_new: true,
                    is_regrouped: false,
                };
                self.assign_pair(touched, &found.points, whole, renewals);
                start = end;
            }
        }
    }

    fn assign_pair(
        &mut self,
        touched: &Touched<S>,
        points: &[ContactPoint<S>],
        whole: Renewal,
        renewals: &mut Vec<Renewal>,
    ) {
        let (index, surface) = (touched.index as usize, touched.manner.surface);
        let (mut old, mut first, mut last) = (self.pairs[index].first, NONE, NONE);
        let mut start = whole.points.start;
        let mut is_as_before = true;
        for group in points[whole.points.clone()].chunk_by(|p, q| parts_of(p) == parts_of(q)) {
            let head = old;
            let known = self.take(&mut old, parts_of(&group[0]));
            is_as_before &= known == Some(head);
            let at = known.unwrap_or_else(|| self.insert(&group[0], surface));
            self.next[at as usize] = NONE;
            match self.next.get_mut(last as usize) {
                Some(next) => *next = at,
                None => first = at,
            }
            last = at;
            let end = start + group.len();
            renewals.push(Renewal {
                points: start..end,
                at,
                is_new: known.is_none(),
                ..whole
            });
            start = end;
        }
        if !is_as_before || old != NONE {
            self.note_pair(touched.pair);
        }
        self.remove_chain(old);
        self.pairs[index].first = first;
    }

    /// A place for a new manifold.
    fn insert(&mut self, point: &ContactPoint<S>, surface: Surface) -> u32 {
        let at = self.unused.pop().unwrap_or_else(|| {
            self.list.push(Manifold::blank(point, surface));
            self.next.push(NONE);
            self.list.len() as u32 - 1
        });
        self.records.reserve::<S>(at);
        at
    }

    /// Manifolds and records, to be written by several threads.
    pub(crate) fn share(&mut self) -> SharedManifolds<'_, S> {
        SharedManifolds {
            pairs: SharedSlice::new(&mut self.pairs),
            next: &self.next,
            list: SharedSlice::new(&mut self.list),
            records: self.records.share(),
        }
    }

    /// Takes the manifold of these parts out of a chain.
    fn take(&mut self, chain: &mut u32, parts: (u32, u32)) -> Option<u32> {
        let (mut before, mut at) = (NONE, *chain);
        while let Some(manifold) = self.list.get(at as usize) {
            let next = self.next[at as usize];
            if parts_of(&manifold.points[0]) == parts {
                match self.next.get_mut(before as usize) {
                    Some(place) => *place = next,
                    None => *chain = next,
                }
                return Some(at);
            }
            (before, at) = (at, next);
        }
        None
    }

    /// All points as contacts, with the impulses of a step of `dt`, impacts among them.
    pub(crate) fn contacts(
        &self,
        bodies: &Bodies<S>,
        impacts: &Impacts<S>,
        dt: f64,
    ) -> Vec<Contact<S>> {
        let mut contacts = Vec::new();
        for (at, manifold) in self.iter() {
            let impact = impacts.of(at);
            for k in 0..manifold.count {
                let struck = impact.map_or_else(S::Vector::default, |impact| impact.impulse[k]);
                let local = vector::<S>(self.records.force::<S>(at, k));
                contacts.push(Contact {
                    a: manifold.a,
                    b: manifold.b,
                    point: manifold.points[k],
                    surface: manifold.surface,
                    slide: manifold.slide,
                    impulse: S::to_world(&manifold.basis, local) * dt + struck,
                    bend: 0.0,
                    anchor: bodies
                        .origin(manifold.a as usize)
                        .local_point(manifold.points[k].position),
                    nodes: [None; 2],
                });
            }
        }
        contacts
    }
}

/// The convex parts of two bodies that touch in a point.
pub(super) fn parts_of<S: Space>(point: &ContactPoint<S>) -> (u32, u32) {
    (point.feature.part_a, point.feature.part_b)
}

pub(super) fn numbers<V: Components>(vector: V) -> [f64; 3] {
    std::array::from_fn(|axis| vector.component(axis))
}
