//! The impacts of a step so far.

use super::flight::Hit;
use crate::body::Bodies;
use crate::detect::Contact;
use crate::forest::Forest;
use crate::primitives::{Encounter, feature_of};
use crate::shape::FeatureId;
use crate::space::Space;

/// All impacts that were found, each once, and their impulses.
pub(super) struct Register<S: Space> {
    /// In the order in which they came.
    pub(super) hits: Vec<Hit<S>>,
    /// On the second of each one's bodies, in world axes, N·s.
    pub(super) impulses: Vec<S::Vector>,
    /// Keys of impacts with their numbers, sorted.
    order: Vec<([u32; 5], u32)>,
    /// Points of impacts ([`Hit::point`]), sorted.
    points: Vec<u64>,
    /// Impulses of the last step's contacts, sorted: what a new impact starts from.
    remembered: Vec<(FeatureId, S::Vector)>,
    /// Bodies that hang together by impacts.
    forest: Forest,
    /// Bodies of each impact, to be read without the rest of it.
    bodies: Vec<[u32; 6]>,
    /// Whether each impact is new, or seen with new eyes, since [`Register::settled`].
    is_new: Vec<bool>,
}

impl<S: Space> Register<S> {
    /// Nothing but the memory of the last step's contacts between so many bodies.
    pub(super) fn new(last: &[Contact<S>], bodies: usize) -> Self {
        let known = |contact: &Contact<S>| (contact.point.feature, contact.impulse);
        let mut remembered: Vec<_> = last.iter().map(known).collect();
        remembered.sort_by_key(|(feature, _)| *feature);
        Self {
            hits: Vec::new(),
            impulses: Vec::new(),
            order: Vec::new(),
            points: Vec::new(),
            remembered,
            forest: Forest::new(bodies),
            bodies: Vec::new(),
            is_new: Vec::new(),
        }
    }

    /// Adds impacts; those that are known already are seen with new eyes.
    pub(super) fn add(&mut self, new: Vec<Hit<S>>, bodies: &Bodies<S>) {
        for hit in &new {
            self.points.push(hit.point);
            let own = bodies_of(&hit.contact);
            let mut moving = own.into_iter().filter(|&k| bodies.is_dynamic(k as usize));
            if let Some(first) = moving.next() {
                let others = moving.filter(|&k| k != first);
                others.for_each(|other| self.forest.join(first, other));
            }
        }
        let known = self.order.len();
        if known == 0 {
            // All at once: they are many, and large.
            new.iter().for_each(|hit| self.note(hit));
            self.hits = new;
        } else {
            new.into_iter().for_each(|hit| self.add_one(hit, known));
        }
        // These find what is sorted already; the others do not.
        self.order.sort();
        self.points.sort();
    }

    /// Adds an impact, unless it is one of the first so many in order: then it is seen with new
    /// eyes.
    fn add_one(&mut self, hit: Hit<S>, known: usize) {
        let key = hit.encounter.key();
        match self.order[..known].binary_search_by_key(&key, |entry| entry.0) {
            // The impulse so far is a better start than that of the last step.
            Ok(at) => {
                let k = self.order[at].1 as usize;
                self.bodies[k] = bodies_of(&hit.contact);
                self.is_new[k] = true;
                self.hits[k] = hit;
            }
            Err(_) => {
                self.note(&hit);
                self.hits.push(hit);
            }
        }
    }

    /// Notes what is known of a new impact beside itself.
    fn note(&mut self, hit: &Hit<S>) {
        let key = hit.encounter.key();
        self.order.push((key, self.impulses.len() as u32));
        self.impulses.push(self.remembered(hit));
        self.bodies.push(bodies_of(&hit.contact));
        self.is_new.push(true);
    }

    fn remembered(&self, hit: &Hit<S>) -> S::Vector {
        if hit.contact.impulse != S::Vector::default() {
            return hit.contact.impulse;
        }
        let feature = feature_of(&hit.encounter);
        let found = self.remembered.binary_search_by_key(&feature, |r| r.0);
        found.map_or(S::Vector::default(), |k| self.remembered[k].1)
    }

    /// Whether there is an impact of the same primitives.
    pub(super) fn has(&self, encounter: &Encounter) -> bool {
        let key = encounter.key();
        let found = self.order.binary_search_by_key(&key, |entry| entry.0);
        found.is_ok()
    }

    /// Whether there is an impact at the same point.
    pub(super) fn has_point(&self, hit: &Hit<S>) -> bool {
        self.points.binary_search(&hit.point).is_ok()
    }

    /// The impacts in the order of their keys.
    pub(super) fn sorted(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&(_, k)| k as usize)
    }

    /// The impacts by islands: the lowest body of each one's island and its number, those of an
    /// island together and in the order of their keys.
    pub(super) fn by_island(&mut self, bodies: &Bodies<S>) -> Vec<(u32, u32)> {
        let mut keyed = Vec::with_capacity(self.order.len());
        for &(_, k) in &self.order {
            let own = &self.bodies[k as usize];
            let moving = own.iter().find(|&&k| bodies.is_dynamic(k as usize));
            let moving = moving.copied().unwrap_or(own[3]);
            keyed.push((self.forest.lowest(moving), k));
        }
        keyed.sort_by_key(|(island, _)| *island);
        keyed
    }

    /// The bodies of an impact, some of them several times.
    pub(super) fn bodies(&self, hit: u32) -> &[u32; 6] {
        &self.bodies[hit as usize]
    }

    /// Whether an impact has changed since the last time that all were solved.
    pub(super) fn is_new(&self, hit: u32) -> bool {
        self.is_new[hit as usize]
    }

    /// Everything is solved.
    pub(super) fn settled(&mut self) {
        self.is_new.fill(false);
    }

    /// The impacts as contacts with their impulses.
    pub(super) fn contacts(&self) -> Vec<Contact<S>> {
        let contact = |k: usize| Contact {
            impulse: self.impulses[k],
            ..self.hits[k].contact
        };
        self.sorted().map(contact).collect()
    }
}

fn bodies_of<S: Space>(contact: &Contact<S>) -> [u32; 6] {
    let of = |body: u32, side: usize| contact.nodes[side].map_or([body; 3], |n| n.bodies);
    let ([a, b, c], [d, e, f]) = (of(contact.a, 0), of(contact.b, 1));
    [a, b, c, d, e, f]
}
