//! Motion of all surfaces over a step, searched for impacts.

mod attachment_rows;
mod impact;
mod impact_rows;
mod pair_search;

use super::Start;
use super::attached_groups::AttachedGroups;
use super::impact_set::ImpactSet;
use crate::contact::attachment_contacts;
use crate::contact::detection::Contact;
use crate::contact::primitives::{
    Candidate, Encounter, Failure, Nearby, Primitives, Reach, Search, row_of,
};
use crate::contact::problem::ContactProblem;
use crate::contact::problem::Row;
use crate::contact::problem::assemble::{Assembled, group_by_island, put_on_belt, responses};
use crate::contact::rules::PairRules;
use crate::dynamics::integrate::mean_spin;
use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::BroadPhase;
use crate::geometry::ccd::primitive_pair::place_in;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Kind, Motion};
use crate::model::deformable::attachment::Attachment;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Kept;
use crate::strategy::step::StepSettings;
use impact::answers;
pub(super) use impact::{Impact, Parties};
use impact_rows::{Law, NodeRows};
use pair_search::{Look, find_in, find_kept, node_on, once};
pub(super) use pair_search::{PointMap, find};
use std::cell::RefCell;

/// By how much a vertex may miss its aim before pairs are searched anew, over the distance that is
/// kept. So little that two rooms and what is kept are less than the distance at which sheets rest, or
/// all that rests would be searched.
const ROOM: f64 = 0.5;
/// Part of the thickness of deformables by which they rest farther apart than what is kept: see
/// [`crate::strategy::ccd`].
const CUSHION: f64 = 0.05;

/// Bodies on their way from where they stand.
pub(super) struct SweptMotion<'a, S: Space> {
    pub(super) bodies: &'a Bodies<S>,
    pub(super) primitives: &'a Primitives<S>,
    rules: &'a PairRules<'a, S>,
    settings: &'a StepSettings<S>,
    keep: f64,
    /// Part of its distance that is kept of what starts nearer than that.
    pub(super) nearer: f64,
    start: Vec<[f64; 3]>,
    still: Vec<Motion<S>>,
    /// See [`Parties::answers`].
    answers: Vec<f64>,
    /// Of each vertex: largest square of the radius of the least circle around a face with it, m²,
    /// at most.
    spreads: Vec<f64>,
    /// Contacts that hold attached nodes, 2 for each axis of each.
    pub(super) held: Vec<Contact<S>>,
    pub(super) attached: &'a [Attachment],
    /// What they hold together.
    pub(super) clusters: AttachedGroups,
    trees: &'a RefCell<BroadPhase<S>>,
    /// What may meet on ways.
    nearby: RefCell<Nearby>,
    /// What the last look saw.
    seen: RefCell<Seen>,
}

/// What a look saw: pairs whose vertices end where they ended then need no other look.
#[derive(Debug, Default)]
struct Seen {
    /// Where vertices ended, m.
    ends: Vec<[f64; 3]>,
    /// Vertices of pairs that hit.
    hit: Vec<u32>,
}

impl Seen {
    /// Of each vertex: whether pairs with it must be looked at, with these ends.
    fn changed(&self, ends: &[[f64; 3]]) -> Vec<bool> {
        if self.ends.len() != ends.len() {
            return vec![true; ends.len()];
        }
        let both = self.ends.iter().zip(ends);
        let mut changed: Vec<bool> = both.map(|(then, now)| then != now).collect();
        self.hit.iter().for_each(|&v| changed[v as usize] = true);
        changed
    }
}

impl<'a, S: Space> SweptMotion<'a, S> {
    pub(super) fn new(
        start: &Start<'a, S>,
        bodies: &'a Bodies<S>,
        primitives: &'a Primitives<S>,
    ) -> Self {
        let still = vec![Motion::default(); bodies.len()];
        let threads = start.settings.threads as usize;
        let places = primitives.places_by(bodies, &still, threads);
        let keep = start.options.keep;
        Self {
            spreads: primitives.spreads(&places),
            start: places,
            still,
            answers: answers(bodies, threads),
            bodies,
            primitives,
            rules: start.rules,
            settings: start.settings,
            keep,
            nearer: 0.5,
            held: attachment_contacts::contacts(start.attached, bodies, start.solved),
            attached: start.attached,
            clusters: AttachedGroups::new(start.attached),
            trees: start.trees,
            nearby: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    /// How far everything goes with these velocities in `dt` seconds.
    pub(super) fn way(&self, velocities: &[Motion<S>], dt: f64) -> Vec<Motion<S>> {
        let bodies = self.bodies;
        let of = |k: usize| way_of(bodies, k, &velocities[k], dt);
        thread_pool::gather_from(self.bodies.len(), self.threads(), |part, list| {
            list.extend(part.map(of));
        })
    }

    /// Fails if anything touches at the start.
    pub(super) fn check_start(&self) -> Result<(), Failure<S>> {
        if self.nearby.borrow().is_unknown() {
            self.watch(&self.still, &self.start);
        }
        let nearby = self.nearby.borrow();
        let distance = |c: &Candidate| c.distance;
        let overlaps = |c: &&Candidate| !distance(c).is_some_and(|d| d > 0.0);
        let overlapping = nearby.pairs.iter().filter(overlaps);
        let Some(first) = overlapping.min_by_key(|c| c.encounter.key()) else {
            return Ok(());
        };
        let body = |side| self.primitives.body_of(&first.encounter, side);
        let depth = -distance(first).unwrap_or(0.0);
        Err(Failure::Overlap([0, 1].map(body), depth))
    }

    /// Where vertices are after bodies went a way, m.
    fn places(&self, way: &[Motion<S>]) -> Vec<[f64; 3]> {
        self.primitives.places_by(self.bodies, way, self.threads())
    }

    fn search(&self) -> Search<'_, S> {
        Search {
            reach: Reach {
                bodies: self.bodies,
                rules: self.rules,
                distance: self.keep,
            },
            start: &self.start,
            threads: self.threads(),
        }
    }

    fn threads(&self) -> usize {
        self.settings.threads as usize
    }

    /// Makes sure that everything is known that may meet on ways to these ends.
    fn watch(&self, way: &[Motion<S>], end: &[[f64; 3]]) {
        let bulge = self.primitives.bulge(way);
        let spare = |v: usize| bulge[v] + ROOM * self.keep;
        let trees = &mut self.trees.borrow_mut();
        let mut nearby = self.nearby.borrow_mut();
        nearby.cover(self.primitives, &self.search(), end, spare, trees);
    }

    fn look<'l>(&'l self, way: &'l [Motion<S>], end: &'l [[f64; 3]]) -> Look<'l, S> {
        Look {
            bodies: self.bodies,
            primitives: self.primitives,
            parties: self.parties(),
            keep: self.keep,
            nearer: self.nearer,
            reach: [self.keep, self.keep * (1.0 + 2.0 * ROOM)],
            start: &self.start,
            end,
            still: &self.still,
            way,
            spreads: &self.spreads,
        }
    }

    /// Everything that comes nearer than it may on a way, in order of time.
    pub(super) fn hits(&self, way: &[Motion<S>]) -> Vec<Impact<S>> {
        let end = self.places(way);
        self.watch(way, &end);
        let look = self.look(way, &end);
        let pairs = &self.nearby.borrow().pairs;
        let mut seen = self.seen.borrow_mut();
        let changed = seen.changed(&end);
        let is_due = |candidate: &&Candidate| match &candidate.encounter {
            Encounter::Pair(pair) => pair.has(|v| changed[v as usize]),
            // Walls may move by themselves.
            Encounter::Wall(..) => true,
        };
        let mut hits = find_in(self.threads(), pairs, |piece, found| {
            look.add_hits(piece.iter().filter(is_due), found);
        });
        let vertices = hits.iter().flat_map(|hit| hit.encounter.vertices());
        seen.hit = vertices.flatten().flatten().collect();
        seen.ends = end;
        hits.sort_by(|a, b| {
            let order = a.time.total_cmp(&b.time);
            order.then_with(|| a.encounter.key().cmp(&b.encounter.key()))
        });
        hits
    }

    /// Those of the last step's contacts that still rest, or that close on a way and are so near
    /// that it can be seen without continuous collision. Points that several primitives share are
    /// there once.
    pub(super) fn lasting(
        &self,
        way: &[Motion<S>],
        last: &[Contact<S>],
        memory: &mut Kept<Impact<S>>,
    ) -> Vec<Impact<S>> {
        let (last, _) = attachment_contacts::split(last);
        let end = self.places(way);
        let look = self.look(way, &end);
        let (start, primitives, bodies) = (&self.start, self.primitives, self.bodies);
        let reach = self.search().reach;
        let hits = find_kept(memory, self.threads(), last, |contact, found| {
            let known = primitives.encounter_of(&contact.point.feature);
            // Contacts of another strategy, or before bodies came and went, mean something else.
            let is_same = |e: &Encounter| {
                let pair = [0, 1].map(|side| primitives.body_of(e, side));
                pair == [contact.a, contact.b] && primitives.is_met(&reach, e)
            };
            if let Some(encounter) = known.filter(is_same) {
                let witness = primitives.witness_at(&encounter, bodies, place_in(start));
                let candidate = Candidate::of(encounter, witness);
                let more = look.dip_of(&encounter);
                let was_pressed = contact.impulse != S::Vector::default();
                let near =
                    witness.and_then(|seen| look.near_seen(&candidate, &seen, more, was_pressed));
                found.extend(near.map(|mut hit| {
                    hit.impulse = contact.impulse;
                    hit
                }));
            }
        });
        once(hits, self.parties())
    }

    /// Everything known that rests, or that closes on a way and is so near that it can be seen
    /// without continuous collision, where a body of it is `stirred`; but for what is in the register
    /// or at points that are.
    pub(super) fn near(
        &self,
        way: &[Motion<S>],
        register: &ImpactSet<S>,
        stirred: &[bool],
    ) -> Vec<Impact<S>> {
        let end = self.places(way);
        let look = self.look(way, &end);
        let pairs = &self.nearby.borrow().pairs;
        let known = register.known(self.start.len().max(self.primitives.wall_count()));
        let is_fresh = |hit: &Impact<S>| !known.has_point(hit.point);
        let vertices = &self.primitives.vertices;
        let is_stirred = |v: u32| stirred[vertices[v as usize].body as usize];
        let seen = find(self.threads(), pairs, |candidate, found| {
            let is_due = match &candidate.encounter {
                Encounter::Pair(pair) => pair.has(is_stirred),
                Encounter::Wall(_, v) => is_stirred(*v),
            };
            if !is_due {
                return;
            }
            if let Some((own, round)) = look.stand_ins(&candidate.encounter) {
                if look.is_within_reach(candidate) {
                    found.push(Glimpse::StandIns(own, round));
                }
            } else if look.is_close(candidate)
                && !known.has(&candidate.encounter)
                && look.is_within_reach(candidate)
            {
                found.push(Glimpse::Close(*candidate));
            }
        });
        let mut nodes = StandIns::new(self.start.len());
        let mut close = Vec::new();
        for one in seen {
            match one {
                Glimpse::StandIns(own, round) => nodes.add(own, round),
                Glimpse::Close(candidate) => close.push(candidate),
            }
        }
        // In an order that does not depend on the trees'.
        close.sort_unstable_by_key(|candidate| candidate.encounter.key());
        nodes.list.sort_unstable();
        let mut hits = find(self.threads(), &close, |candidate, found| {
            found.extend(look.near(candidate).filter(is_fresh));
        });
        hits.extend(find(
            self.threads(),
            &nodes.list,
            |&(node, round), found| {
                if !known.has(&node_on(node, round)) {
                    found.extend(look.near_node(node, round).filter(is_fresh));
                }
            },
        ));
        once(hits, self.parties())
    }

    /// Impacts with something round as impacts of nodes with it, where those stand for them.
    pub(super) fn on_nodes(&self, way: &[Motion<S>], hits: Vec<Impact<S>>) -> Vec<Impact<S>> {
        let end = self.places(way);
        let look = self.look(way, &end);
        let mut all = Vec::with_capacity(hits.len());
        for hit in hits {
            let before = all.len();
            if let Some((own, round)) = look.stand_ins(&hit.encounter) {
                all.extend(own.into_iter().filter_map(|v| look.near_node(v, round)));
            }
            if all.len() == before {
                all.push(hit);
            }
        }
        once(all, self.parties())
    }

    /// Impacts as one problem over `dt` seconds, with the contacts of attachments after them;
    /// without bounce and friction if `is_plain`.
    pub(super) fn assemble(
        &self,
        hits: &[&Impact<S>],
        free: &[Motion<S>],
        dt: f64,
        is_plain: bool,
    ) -> Assembled<S> {
        let parties = self.parties();
        let mut contacts: Vec<Contact<S>> = hits.iter().map(|hit| parties.contact(hit)).collect();
        contacts.extend_from_slice(&self.held);
        let pulls = self.pulls(free, dt);
        let (contact_of_row, islands) = group_by_island(self.bodies, contacts.iter());
        let mut problem = ContactProblem {
            dt,
            responses: responses(self.bodies),
            free: free.to_vec(),
            rows: Vec::with_capacity(contacts.len()),
            islands,
            delassus: None,
        };
        let mut before = self.bodies.motion.clone();
        for &index in &contact_of_row {
            let contact = &contacts[index as usize];
            let Some(hit) = hits.get(index as usize) else {
                let pull = pulls[(index as usize - hits.len()) / (2 * S::DIM)];
                let centers = [contact.a, contact.b].map(|k| self.bodies.position[k as usize]);
                let target = contact.point.normal.dot(pull);
                (problem.rows).push(row_of(contact, self.bodies, centers, target));
                continue;
            };
            let mut row: Row<S> = row_of(contact, self.bodies, hit.centers, 0.0);
            let mut sides = [row.a, row.b];
            put_on_belt(self.bodies, contact, &mut sides, &mut problem);
            [row.a, row.b] = sides;
            before.extend_from_slice(&problem.free[before.len()..]);
            if is_plain {
                row.mu = 0.0;
            }
            let at = problem.rows.len();
            problem.rows.push(row);
            let approach = problem.relative_velocity(at, &before).component(0);
            let bounce = (!is_plain).then_some((contact.surface.restitution, approach));
            problem.rows[at].target = self.law().target(hit, dt, bounce);
        }
        Assembled {
            problem,
            contact_of_row,
            before,
            bounces: Vec::new(),
        }
    }

    /// How impacts of nodes with their own masses are written down.
    pub(super) fn node_rows<'f>(&'f self, free: &'f [Motion<S>]) -> NodeRows<'f, S> {
        NodeRows {
            parties: self.parties(),
            free,
            dt: self.settings.dt,
            law: self.law(),
        }
    }

    fn law(&self) -> Law {
        Law {
            threshold: self.settings.contact.restitution_threshold,
        }
    }

    pub(super) fn parties(&self) -> Parties<'_, S> {
        Parties {
            bodies: self.bodies,
            answers: &self.answers,
            primitives: self.primitives,
            materials: self.rules.materials,
        }
    }

    /// Where an impact happens and between what, for a message.
    pub(super) fn infeasible(&self, hit: &Impact<S>) -> Failure<S> {
        let contact = self.parties().contact(hit);
        Failure::Infeasible([contact.a, contact.b], contact.point.position)
    }
}

/// The distance at which surfaces rest (m) that keep another one, with so much thickness of
/// deformables between them.
fn rest(keep: f64, thickness: f64) -> f64 {
    keep + keep.max(CUSHION * thickness)
}

/// How far a body goes with a velocity in `dt` seconds.
fn way_of<S: Space>(bodies: &Bodies<S>, k: usize, velocity: &Motion<S>, dt: f64) -> Motion<S> {
    match bodies.kind[k] {
        Kind::Fixed => Motion::default(),
        Kind::Kinematic(_) => scaled(&bodies.motion[k], dt),
        Kind::Particle => scaled(velocity, dt),
        Kind::Rigid => Motion {
            linear: velocity.linear * dt,
            spin: mean_spin(bodies, k, velocity.spin, dt) * dt,
        },
    }
}

/// A part of a motion.
pub(super) fn scaled<S: Space>(motion: &Motion<S>, part: f64) -> Motion<S> {
    Motion {
        linear: motion.linear * part,
        spin: motion.spin * part,
    }
}

/// What is seen of a pair at first.
enum Glimpse {
    /// Nodes stand for it on something round.
    StandIns([u32; 3], [u32; 2]),
    /// It may be a contact.
    Close(Candidate),
}

/// Nodes that stand for faces on round things, each once for each of those in a row.
struct StandIns {
    list: Vec<(u32, [u32; 2])>,
    /// The round thing that each vertex was last seen with.
    last: Vec<[u32; 2]>,
}

impl StandIns {
    fn new(vertices: usize) -> Self {
        Self {
            list: Vec::new(),
            last: vec![[u32::MAX; 2]; vertices],
        }
    }

    fn add(&mut self, nodes: [u32; 3], round: [u32; 2]) {
        for node in nodes {
            let last = &mut self.last[node as usize];
            if *last != round {
                *last = round;
                self.list.push((node, round));
            }
        }
    }
}
