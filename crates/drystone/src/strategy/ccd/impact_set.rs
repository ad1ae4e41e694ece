//! The set of impacts of a step found so far.

use super::swept_motion::{Impact, Parties, PointMap, find};
use crate::contact::attachment_contacts;
use crate::contact::detection::Contact;
use crate::contact::primitives::{Encounter, feature_of};
use crate::geometry::Space;
use crate::geometry::shape::FeatureId;
use crate::math::union_find::UnionFind;
use crate::parallel::thread_pool;

/// All impacts that were found, each once, and their impulses.
pub(super) struct ImpactSet<S: Space> {
    /// In the order in which they came.
    pub(super) hits: Vec<Impact<S>>,
    /// On the second of each one's bodies, in world axes, N·s.
    pub(super) impulses: Vec<S::Vector>,
    /// Keys of impacts with their numbers, sorted.
    order: Vec<([u32; 5], u32)>,
    /// Points of impacts ([`Impact::point`]), in no order.
    points: Vec<u64>,
    /// Impulses of the last step's contacts, sorted: what a new impact starts from.
    remembered: Vec<(FeatureId, S::Vector)>,
    /// Bodies that hang together by impacts.
    forest: UnionFind,
    /// Bodies of each impact, to be read without the rest of it.
    bodies: Vec<[u32; 6]>,
    /// Whether each impact is new, or seen with new eyes, since [`ImpactSet::settled`]; and which
    /// are, some of them several times.
    is_new: Vec<bool>,
    new: Vec<u32>,
    threads: usize,
}

/// What is noted of an impact beside itself.
struct Note<S: Space> {
    key: [u32; 5],
    point: u64,
    bodies: [u32; 6],
    /// What it starts from, N·s.
    impulse: S::Vector,
}

impl<S: Space> ImpactSet<S> {
    /// Nothing but the memory of the last step's contacts between so many bodies.
    pub(super) fn new(last: &[Contact<S>], bodies: usize, threads: usize) -> Self {
        let (last, _) = attachment_contacts::split(last);
        let mut remembered = find(threads, last, |contact, found| {
            found.push((contact.point.feature, contact.impulse));
        });
        remembered.sort_by_key(|(feature, _)| *feature);
        Self {
            hits: Vec::new(),
            impulses: Vec::new(),
            order: Vec::new(),
            points: Vec::new(),
            remembered,
            forest: UnionFind::new(bodies),
            bodies: Vec::new(),
            is_new: Vec::new(),
            new: Vec::new(),
            threads,
        }
    }

    /// Adds impacts; those that are known already are seen with new eyes.
    pub(super) fn add(&mut self, new: Vec<Impact<S>>, parties: Parties<'_, S>) {
        self.add_from(new, parties, |this, hit| this.remembered(hit));
    }

    /// Adds the first impacts: the last step's contacts, which bring their impulses along.
    pub(super) fn start(&mut self, lasting: Vec<Impact<S>>, parties: Parties<'_, S>) {
        self.add_from(lasting, parties, |_, hit| hit.impulse);
    }

    /// Adds impacts that start from some impulse, N·s.
    fn add_from(
        &mut self,
        new: Vec<Impact<S>>,
        parties: Parties<'_, S>,
        impulse: impl Fn(&Self, &Impact<S>) -> S::Vector + Sync,
    ) {
        let known = self.order.len();
        let this = &*self;
        let notes = find(self.threads, &new, |hit, found| {
            found.push(Note {
                key: hit.encounter.key(),
                point: hit.point,
                bodies: parties.of(hit),
                impulse: impulse(this, hit),
            });
        });
        for note in &notes {
            self.tie(note, parties);
        }
        if known == 0 {
            // All at once: they are many, and large.
            let numbers = 0..notes.len() as u32;
            let numbered = notes.iter().zip(numbers.clone());
            self.order = numbered.map(|(note, number)| (note.key, number)).collect();
            self.impulses = notes.iter().map(|note| note.impulse).collect();
            self.bodies = notes.iter().map(|note| note.bodies).collect();
            self.is_new = vec![true; notes.len()];
            self.new = numbers.collect();
            self.hits = new;
        } else {
            for (hit, note) in new.into_iter().zip(notes) {
                self.add_one(hit, note, known);
            }
        }
        // These find what is sorted already; the others do not.
        self.order.sort();
    }

    /// SharedNodes together the bodies of an impact.
    fn tie(&mut self, note: &Note<S>, parties: Parties<'_, S>) {
        self.points.push(note.point);
        let mut last = None;
        for &k in note.bodies.iter().filter(|&&k| parties.moves(k)) {
            if let Some(last) = last.replace(k).filter(|&last| last != k) {
                self.forest.join(last, k);
            }
        }
    }

    /// Adds an impact, unless it is one of the first so many in order: then it is seen with new
    /// eyes.
    fn add_one(&mut self, hit: Impact<S>, note: Note<S>, known: usize) {
        match self.order[..known].binary_search_by_key(&note.key, |entry| entry.0) {
            // The impulse so far is a better start than that of the last step.
            Ok(at) => {
                let k = self.order[at].1 as usize;
                self.bodies[k] = note.bodies;
                self.is_new[k] = true;
                self.new.push(k as u32);
                self.hits[k] = hit;
            }
            Err(_) => {
                self.enter(note);
                self.hits.push(hit);
            }
        }
    }

    /// Enters what is noted of a new impact.
    fn enter(&mut self, note: Note<S>) {
        let number = self.impulses.len() as u32;
        self.order.push((note.key, number));
        self.new.push(number);
        self.impulses.push(note.impulse);
        self.bodies.push(note.bodies);
        self.is_new.push(true);
    }

    fn remembered(&self, hit: &Impact<S>) -> S::Vector {
        let feature = feature_of(&hit.encounter);
        let found = self.remembered.binary_search_by_key(&feature, |r| r.0);
        found.map_or(S::Vector::default(), |k| self.remembered[k].1)
    }

    /// The impacts so far by their primitives, which have vertices and walls below a number.
    pub(super) fn known(&self, vertices: usize) -> KnownImpacts<'_> {
        let mut starts = vec![0; KINDS * vertices + 1];
        let place = |key: &[u32; 5]| key[0] as usize * vertices + key[1] as usize;
        for (key, _) in &self.order {
            starts[place(key) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        KnownImpacts {
            order: &self.order,
            points: self.points.iter().map(|&point| (point, ())).collect(),
            starts,
            vertices,
        }
    }

    /// The impacts in the order of their keys.
    pub(super) fn sorted(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&(_, k)| k as usize)
    }

    /// The impacts by islands: the lowest body of each one's island and its number, those of an
    /// island together and in the order of their keys.
    pub(super) fn by_island(&mut self, parties: Parties<'_, S>) -> Vec<(u32, u32)> {
        let mut keyed = Vec::with_capacity(self.order.len());
        let mut places = vec![0; parties.bodies.len() + 1];
        for at in 0..self.order.len() {
            let k = self.order[at].1;
            let island = self.island_of(k, parties);
            places[island as usize + 1] += 1;
            keyed.push((island, k));
        }
        let mut sum = 0;
        for place in &mut places {
            sum += *place;
            *place = sum;
        }
        let mut sorted = vec![(0, 0); keyed.len()];
        for one in keyed {
            let place = &mut places[one.0 as usize];
            sorted[*place] = one;
            *place += 1;
        }
        sorted
    }

    /// The bodies of every impact, some of them several times.
    pub(super) fn all_bodies(&self) -> &[[u32; 6]] {
        &self.bodies
    }

    /// The bodies of an impact, some of them several times.
    pub(super) fn bodies(&self, hit: u32) -> &[u32; 6] {
        &self.bodies[hit as usize]
    }

    /// Whether an impact has changed since the last time that all were solved.
    pub(super) fn is_new(&self, hit: u32) -> bool {
        self.is_new[hit as usize]
    }

    /// The impacts that have changed since the last time that all were solved, in ascending order.
    pub(super) fn all_new(&mut self) -> Vec<u32> {
        self.new.sort_unstable();
        self.new.dedup();
        self.new.clone()
    }

    /// The lowest body of the island of an impact.
    pub(super) fn island_of(&mut self, hit: u32, parties: Parties<'_, S>) -> u32 {
        let own = &self.bodies[hit as usize];
        let moving = own.iter().find(|&&k| parties.moves(k));
        self.forest.lowest(moving.copied().unwrap_or(own[3]))
    }

    /// Everything is solved.
    pub(super) fn settled(&mut self) {
        for k in self.new.drain(..) {
            self.is_new[k as usize] = false;
        }
    }

    /// Makes contacts of the impacts with their impulses, in the order of their keys, in a list.
    pub(super) fn contacts(&self, parties: Parties<'_, S>, list: &mut Vec<Contact<S>>) {
        let contact = |k: u32| Contact {
            impulse: self.impulses[k as usize],
            ..parties.contact(&self.hits[k as usize])
        };
        let Some(&(_, first)) = self.order.first() else {
            list.clear();
            return;
        };
        let count = (self.order.len(), contact(first));
        thread_pool::refill(list, count, self.threads, |at| contact(self.order[at].1));
    }
}

/// Kinds of encounters: see [`Encounter::key`].
const KINDS: usize = 4;

/// Impacts to be looked up by their primitives.
pub(super) struct KnownImpacts<'a> {
    /// Their keys, sorted.
    order: &'a [([u32; 5], u32)],
    points: PointMap<()>,
    /// Where those of a kind with a first vertex (or wall) start, and those of the one before end.
    starts: Vec<usize>,
    vertices: usize,
}

impl KnownImpacts<'_> {
    /// Whether there is an impact at the same point.
    pub(super) fn has_point(&self, point: u64) -> bool {
        self.points.contains_key(&point)
    }

    /// Whether there is an impact of the same primitives.
    #[inline]
    pub(super) fn has(&self, encounter: &Encounter) -> bool {
        let key = encounter.key();
        let place = key[0] as usize * self.vertices + key[1] as usize;
        let [start, end] = [self.starts[place], self.starts[place + 1]];
        self.order[start..end].iter().any(|entry| entry.0 == key)
    }
}
