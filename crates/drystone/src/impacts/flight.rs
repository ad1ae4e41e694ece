//! Motion that is watched.

use super::Start;
use crate::body::{Bodies, Kind, Motion};
use crate::ccd::broad::BroadPhase;
use crate::deform::meeting::Pair;
use crate::detect::Contact;
use crate::detect::rules::PairRules;
use crate::integrate::mean_spin;
use crate::material::Materials;
use crate::primitives::{
    Candidate, Encounter, Failure, Nearby, Primitives, Reach, Search, Witness, contact_of, row_of,
};
use crate::problem::ContactProblem;
use crate::problem::Row;
use crate::problem::assemble::{Assembled, group_by_island, put_on_belt, responses};
use crate::settings::Settings;
use crate::space::{Components, Space};
use crate::substep::crew;
use glamx::DVec3;
use std::cell::RefCell;

/// Part of its way by which a vertex may miss its aim before pairs are searched anew.
const SWAY: f64 = 0.02;
/// Rate at which what is nearer than it should be opens, 1/s.
const OPENING: f64 = 10.0;

/// Gap up to which a contact at rest is one, over the distance that is kept: twice that is where it
/// rests.
const RESTING: f64 = 3.0;
/// Gap of two deformables up to which what closes is a contact before it has been proven to meet,
/// over the thickness of both sides.
const LOCAL: f64 = 0.25;
/// How far a face may dip towards something round, over half its thickness, for its nodes to stand
/// for it.
const DIP: f64 = 0.5;
/// Candidates that a thread looks at in one go.
const PIECE: usize = 256;

/// Bodies on their way from where they stand.
pub(super) struct Flight<'a, S: Space> {
    pub(super) bodies: &'a Bodies<S>,
    pub(super) primitives: &'a Primitives<S>,
    rules: &'a PairRules<'a, S>,
    settings: &'a Settings<S>,
    keep: f64,
    start: Vec<[f64; 3]>,
    still: Vec<Motion<S>>,
    /// Of each vertex: largest square of the radius of the least circle around a face with it, m²,
    /// at most.
    spreads: Vec<f64>,
    trees: &'a RefCell<BroadPhase<S>>,
    /// What may meet on ways.
    nearby: RefCell<Nearby>,
}

/// An impact on the way.
#[derive(Clone, Debug)]
pub(super) struct Hit<S: Space> {
    pub(super) encounter: Encounter,
    /// Part of the way to stop at, with room left.
    pub(super) safe: f64,
    /// Part of the way at which it happens.
    pub(super) time: f64,
    pub(super) contact: Contact<S>,
    /// Where the centres of the two bodies are then, m.
    centers: [S::Vector; 2],
    /// Distance along the normal at the start, m.
    gap: f64,
}

impl<S: Space> Hit<S> {
    /// The same impact at the moment it happens: no more than what is kept is left.
    pub(super) fn closed(mut self) -> Self {
        self.gap = self.contact.point.separation;
        self
    }
}

/// A look at a way: what threads share.
struct Look<'l, S: Space> {
    bodies: &'l Bodies<S>,
    primitives: &'l Primitives<S>,
    materials: &'l Materials,
    keep: f64,
    start: &'l [[f64; 3]],
    end: &'l [[f64; 3]],
    still: &'l [Motion<S>],
    way: &'l [Motion<S>],
    spreads: &'l [f64],
}

impl<'a, S: Space> Flight<'a, S> {
    pub(super) fn new(
        start: &Start<'a, S>,
        bodies: &'a Bodies<S>,
        primitives: &'a Primitives<S>,
    ) -> Self {
        let still = vec![Motion::default(); bodies.len()];
        let places = primitives.places(bodies, &still);
        Self {
            spreads: primitives.spreads(&places),
            start: places,
            still,
            bodies,
            primitives,
            rules: start.rules,
            settings: start.settings,
            keep: start.options.keep,
            trees: start.trees,
            nearby: RefCell::default(),
        }
    }

    /// How far everything goes with these velocities in `dt` seconds.
    pub(super) fn way(&self, velocities: &[Motion<S>], dt: f64) -> Vec<Motion<S>> {
        let of = |k: usize| match self.bodies.kind[k] {
            Kind::Fixed => Motion::default(),
            Kind::Kinematic(_) => scaled(&self.bodies.motion[k], dt),
            Kind::Particle | Kind::Rigid => Motion {
                linear: velocities[k].linear * dt,
                spin: mean_spin(self.bodies, k, velocities[k].spin, dt) * dt,
            },
        };
        (0..self.bodies.len()).map(of).collect()
    }

    /// Fails if anything touches at the start.
    pub(super) fn check_start(&self) -> Result<(), Failure<S>> {
        if self.nearby.borrow().is_unknown() {
            self.watch(&self.still, &self.start);
        }
        let nearby = self.nearby.borrow();
        let distance = |c: &Candidate| c.witness.map(|w| w.distance);
        let overlaps = |c: &&Candidate| !distance(c).is_some_and(|d| d > 0.0);
        let overlapping = nearby.pairs.iter().filter(overlaps);
        let Some(first) = overlapping.min_by_key(|c| c.encounter.key()) else {
            return Ok(());
        };
        let body = |side| self.primitives.body_of(&first.encounter, side);
        let depth = -distance(first).unwrap_or(0.0);
        Err(Failure::Overlap([0, 1].map(body), depth))
    }

    fn search(&self) -> Search<'_, S> {
        Search {
            reach: Reach {
                bodies: self.bodies,
                rules: self.rules,
                distance: RESTING * self.keep,
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
        let spare = |v: usize| {
            let length = DVec3::from_array(end[v]).distance(DVec3::from_array(self.start[v]));
            bulge[v] + SWAY * length + 2.0 * self.keep
        };
        let trees = &mut self.trees.borrow_mut();
        let mut nearby = self.nearby.borrow_mut();
        nearby.cover(self.primitives, &self.search(), end, spare, trees);
    }

    fn look<'l>(&'l self, way: &'l [Motion<S>], end: &'l [[f64; 3]]) -> Look<'l, S> {
        Look {
            bodies: self.bodies,
            primitives: self.primitives,
            materials: self.rules.materials,
            keep: self.keep,
            start: &self.start,
            end,
            still: &self.still,
            way,
            spreads: &self.spreads,
        }
    }

    /// Everything that comes nearer than it may on a way, in order of time.
    pub(super) fn hits(&self, way: &[Motion<S>]) -> Vec<Hit<S>> {
        let end = self.primitives.places(self.bodies, way);
        self.watch(way, &end);
        let look = self.look(way, &end);
        let pairs = &self.nearby.borrow().pairs;
        let mut hits = find(self.threads(), pairs, |candidate, found| {
            found.extend(look.hit(candidate));
        });
        hits.sort_by(|a, b| {
            let order = a.time.total_cmp(&b.time);
            order.then_with(|| a.encounter.key().cmp(&b.encounter.key()))
        });
        hits
    }

    /// Those of the last step's contacts that still rest, or that close on a way and are so near
    /// that it can be seen without continuous collision. Points that several primitives share are
    /// there once.
    pub(super) fn lasting(&self, way: &[Motion<S>], last: &[Contact<S>]) -> Vec<Hit<S>> {
        let end = self.primitives.places(self.bodies, way);
        let look = self.look(way, &end);
        let place = |v: u32| DVec3::from_array(self.start[v as usize]);
        let reach = self.search().reach;
        let mut hits = Vec::with_capacity(last.len());
        for contact in last {
            let known = self.primitives.encounter_of(&contact.point.feature);
            // Contacts of another strategy, or before bodies came and went, mean something else.
            let is_same = |e: &Encounter| {
                let bodies = [0, 1].map(|side| self.primitives.body_of(e, side));
                bodies == [contact.a, contact.b] && self.primitives.is_met(&reach, e)
            };
            let Some(encounter) = known.filter(is_same) else {
                continue;
            };
            let witness = self.primitives.witness_at(&encounter, self.bodies, place);
            let candidate = Candidate::of(encounter, witness);
            hits.extend(look.near(&(candidate, look.dip_of(&encounter))));
        }
        once(&hits)
    }

    /// Impacts with something round as impacts of nodes with it, where those stand for them.
    pub(super) fn on_nodes(&self, way: &[Motion<S>], hits: Vec<Hit<S>>) -> Vec<Hit<S>> {
        let end = self.primitives.places(self.bodies, way);
        let look = self.look(way, &end);
        let mut all = Vec::with_capacity(hits.len());
        for hit in hits {
            let nodes = look.nodes_on(&hit.encounter).into_iter().flatten();
            let nodes: Vec<Hit<S>> = nodes.filter_map(|node| look.near(&node)).collect();
            if nodes.is_empty() {
                all.push(hit);
            } else {
                all.extend(nodes);
            }
        }
        once(&all)
    }

    /// Impacts as one problem over `dt` seconds; without bounce and friction if `is_plain`.
    pub(super) fn assemble(
        &self,
        hits: &[Hit<S>],
        free: &[Motion<S>],
        dt: f64,
        is_plain: bool,
    ) -> Assembled<S> {
        let contacts: Vec<Contact<S>> = hits.iter().map(|hit| hit.contact).collect();
        let (contact_of_row, islands) = group_by_island(self.bodies, &contacts);
        let mut problem = ContactProblem {
            dt,
            responses: responses(self.bodies),
            free: free.to_vec(),
            rows: Vec::with_capacity(hits.len()),
            islands,
            delassus: None,
        };
        let mut before = self.bodies.motion.clone();
        for &index in &contact_of_row {
            let hit = &hits[index as usize];
            let mut row: Row<S> = row_of(&hit.contact, self.bodies, hit.centers, 0.0);
            let mut sides = [row.a, row.b];
            put_on_belt(self.bodies, &hit.contact, &mut sides, &mut problem);
            [row.a, row.b] = sides;
            before.extend_from_slice(&problem.free[before.len()..]);
            if is_plain {
                row.mu = 0.0;
            }
            let at = problem.rows.len();
            problem.rows.push(row);
            let left = hit.gap - 2.0 * self.keep;
            let mut target = if left > 0.0 {
                -left / dt
            } else {
                -left * OPENING
            };
            let approach = problem.relative_velocity(at, &before).component(0);
            if !is_plain && approach < -self.settings.contact.restitution_threshold {
                target = target.max(-hit.contact.surface.restitution * approach);
            }
            problem.rows[at].target = target;
        }
        Assembled {
            problem,
            contact_of_row,
            before,
            bounces: Vec::new(),
        }
    }

    /// Where an impact happens and between whom, for a message.
    pub(super) fn infeasible(&self, hit: &Hit<S>) -> Failure<S> {
        Failure::Infeasible([hit.contact.a, hit.contact.b], hit.contact.point.position)
    }
}

/// What `find` makes of all candidates, in no order to be relied on.
fn find<S: Space>(
    threads: usize,
    pairs: &[Candidate],
    find: impl Fn(&Candidate, &mut Vec<Hit<S>>) + Sync,
) -> Vec<Hit<S>> {
    let pieces = pairs.len().div_ceil(PIECE);
    crew::gather(threads, pieces, |piece, found| {
        for candidate in pairs.chunks(PIECE).nth(piece).unwrap_or_default() {
            find(candidate, found);
        }
    })
}

/// Impacts without those that are at the same point as another: the one with the least gap stands
/// for all.
fn once<S: Space>(hits: &[Hit<S>]) -> Vec<Hit<S>> {
    let feature = |(k, hit): (usize, &Hit<S>)| {
        let of = |side: usize| {
            let contact = &hit.contact;
            let body = if side == 0 { contact.a } else { contact.b };
            contact.nodes[side].map_or([body; 3], |n| n.bodies)
        };
        // Corners of rigid bodies are told apart by where they are.
        let rigid = hit.contact.nodes.iter().any(Option::is_none);
        let place = hit.contact.point.position.to_array3().map(f64::to_bits);
        ([of(0), of(1)], if rigid { place } else { [0; 3] }, k)
    };
    let mut features: Vec<_> = hits.iter().enumerate().map(feature).collect();
    features.sort_unstable_by(|x, y| {
        let order = (x.0, x.1).cmp(&(y.0, y.1));
        let gap = hits[x.2].gap.total_cmp(&hits[y.2].gap);
        let key = |k: usize| hits[k].encounter.key();
        order.then(gap).then_with(|| key(x.2).cmp(&key(y.2)))
    });
    features.dedup_by_key(|(bodies, place, _)| (*bodies, *place));
    let kept = features.into_iter().map(|(_, _, k)| hits[k].clone());
    kept.collect()
}

impl<S: Space> Look<'_, S> {
    /// The impact of a pair, if it has one.
    fn hit(&self, candidate: &Candidate) -> Option<Hit<S>> {
        let encounter = &candidate.encounter;
        let room = candidate.witness.map_or(0.0, |w| w.distance);
        // What starts nearer than the rest must not come much nearer still.
        let keep = self.keep.min(0.5 * room);
        let thickness = self.primitives.thickness(encounter);
        if candidate.stays_apart(self.end, thickness, keep) {
            return None;
        }
        let paths = [(self.start, self.still), (self.end, self.way)];
        let times = self.primitives.hit(encounter, paths, self.bodies, keep)?;
        self.describe(candidate, times)
    }

    /// The contact of a pair that rests or closes within a short distance, if it is such, and if
    /// it must keep so many metres more than others.
    fn near(&self, (candidate, more): &(Candidate, f64)) -> Option<Hit<S>> {
        let witness = candidate.witness?;
        let encounter = &candidate.encounter;
        let gap = witness.distance - more;
        if gap > RESTING * self.keep {
            let local = self.local(encounter);
            let closing = self.closing(encounter, &witness);
            let is_local = gap < local && closing.length() < 2.0 * local;
            if !is_local || gap + witness.normal.dot(closing) > 2.0 * self.keep {
                return None;
            }
        }
        let hit = self.describe(candidate, (0.0, 0.0))?;
        Some(Hit { gap, ..hit })
    }

    /// The nodes of a face or an edge on something round, each as a pair with it, and how much
    /// farther away they must stay for the faces between them to stay out. `None` where the pair is
    /// not such or the faces are too large for it.
    fn nodes_on(&self, encounter: &Encounter) -> Option<[(Candidate, f64); 3]> {
        let Encounter::Pair(pair) = encounter else {
            return None;
        };
        let sides = pair.vertices();
        let soft = (0..2).find(|&side| self.primitives.is_soft_face(self.bodies, sides[side][0]))?;
        let (own, round) = (sides[soft], sides[1 - soft]);
        let dips = own.map(|v| self.dip(v, round[0]));
        let [Some(_), Some(_), Some(_)] = dips else {
            return None;
        };
        let place = |v: u32| DVec3::from_array(self.start[v as usize]);
        Some([0, 1, 2].map(|k| {
            let encounter = Encounter::Pair(Pair::Edges([own[k]; 2], [round[0], round[1]]));
            let witness = self.primitives.witness_at(&encounter, self.bodies, place);
            (Candidate::of(encounter, witness), dips[k].unwrap_or(0.0))
        }))
    }

    /// How much farther away than others a pair must stay, m: a node on something round.
    fn dip_of(&self, encounter: &Encounter) -> f64 {
        match encounter {
            Encounter::Pair(Pair::Edges([v, w], [round, _])) if v == w => {
                self.dip(*v, *round).unwrap_or(0.0)
            }
            _ => 0.0,
        }
    }

    /// How far the faces around a node may dip below it towards something round, m: with the
    /// radius ρ of the least circle around a face, $R - \sqrt{R^2 - \rho^2}$. `None` where the
    /// node has no faces, the other is not round, or it is much.
    fn dip(&self, node: u32, round: u32) -> Option<f64> {
        let is_such = self.primitives.is_soft_face(self.bodies, node)
            && self.primitives.is_round(self.bodies, round);
        let radius = |v: u32| self.primitives.vertices[v as usize].radius;
        let reach = radius(node) + radius(round);
        let left = reach * reach - self.spreads.get(node as usize)?;
        let dip = reach - left.max(0.0).sqrt();
        (is_such && left > 0.0 && dip <= DIP * radius(node)).then_some(dip)
    }

    /// Gap up to which what closes is a contact before it has been proven to meet, m: there the
    /// direction at the start is still the right one.
    fn local(&self, encounter: &Encounter) -> f64 {
        let radius = |side: Option<[u32; 3]>| {
            let v = side.map(|[v, ..]| v);
            let soft = v.filter(|&v| self.primitives.is_soft(self.bodies, v));
            soft.map(|v| self.primitives.vertices[v as usize].radius)
        };
        match encounter.vertices().map(radius) {
            [Some(a), Some(b)] => LOCAL * (a + b),
            // Something large and round has the same direction all around.
            [Some(radius), None] | [None, Some(radius)] => {
                radius.max(LOCAL * self.primitives.thickness(encounter))
            }
            [None, None] => 0.0,
        }
    }

    /// How far the second of two nearest points goes as seen from the first, m.
    fn closing(&self, encounter: &Encounter, witness: &Witness) -> DVec3 {
        let mut sum = DVec3::ZERO;
        let sides = encounter.vertices().into_iter().zip(witness.weights);
        for ((vertices, weights), sign) in sides.zip([-1.0, 1.0]) {
            for (v, weight) in vertices.into_iter().flatten().zip(weights) {
                let [from, to] = [self.start, self.end].map(|x| DVec3::from_array(x[v as usize]));
                sum += (to - from) * (sign * weight);
            }
        }
        sum
    }

    /// An impact by what touches at its moment.
    fn describe(&self, candidate: &Candidate, (safe, time): (f64, f64)) -> Option<Hit<S>> {
        let encounter = candidate.encounter;
        let place = |v: u32| {
            let [from, to] = [self.start, self.end].map(|x| DVec3::from_array(x[v as usize]));
            from + (to - from) * time
        };
        let pair = [0, 1].map(|side| self.primitives.body_of(&encounter, side) as usize);
        let moved = pair.map(|k| scaled(&self.way[k], time));
        let witness = if time == 0.0 {
            candidate.witness
        } else {
            let pose = |wall: u32| self.primitives.wall_at(wall, self.bodies, &moved[0]);
            self.primitives.witness_of(&encounter, place, pose)
        }?;
        let contact = contact_of(
            self.primitives,
            &encounter,
            &witness,
            self.bodies,
            self.materials,
        );
        let gap = match encounter {
            _ if time == 0.0 => witness.distance,
            Encounter::Wall(..) => candidate.witness?.distance,
            Encounter::Pair(_) => {
                let mut between = DVec3::ZERO;
                let sides = encounter.vertices().into_iter().zip(witness.weights);
                for ((side, weights), sign) in sides.zip([-1.0, 1.0]) {
                    for (v, weight) in side.into_iter().flatten().zip(weights) {
                        between += DVec3::from_array(self.start[v as usize]) * (sign * weight);
                    }
                }
                witness.normal.dot(between) - self.primitives.thickness(&encounter)
            }
        };
        Some(Hit {
            encounter,
            safe,
            time,
            centers: [0, 1].map(|side| self.bodies.position[pair[side]] + moved[side].linear),
            contact,
            gap,
        })
    }
}

/// A part of a motion.
pub(super) fn scaled<S: Space>(motion: &Motion<S>, part: f64) -> Motion<S> {
    Motion {
        linear: motion.linear * part,
        spin: motion.spin * part,
    }
}
