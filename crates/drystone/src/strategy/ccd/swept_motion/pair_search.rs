//! Narrow-phase CCD for one candidate pair.

use super::{Impact, Parties, rest, scaled};
use crate::contact::primitives::{Candidate, Encounter, Primitives, Witness, apart_from_the_end};
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::Pair;
use crate::model::body::{Bodies, Motion};
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Kept;
use glamx::DVec3;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Gap of two deformables up to which what closes is a contact before it has been proven to meet,
/// over the thickness of both sides.
const LOCAL: f64 = 0.25;
/// How far a face may dip towards something round, over half its thickness, for its nodes to stand
/// for it.
const DIP: f64 = 0.5;
/// Candidates that a thread looks at in one go.
const PIECE: usize = 256;

/// A look at a way: what threads share.
pub(super) struct Look<'l, S: Space> {
    pub(super) bodies: &'l Bodies<S>,
    pub(super) primitives: &'l Primitives<S>,
    pub(super) parties: Parties<'l, S>,
    pub(super) keep: f64,
    pub(super) nearer: f64,
    /// Distance up to which every pair is among the candidates, at the start and at the end, m.
    pub(super) reach: [f64; 2],
    pub(super) start: &'l [[f64; 3]],
    pub(super) end: &'l [[f64; 3]],
    pub(super) still: &'l [Motion<S>],
    pub(super) way: &'l [Motion<S>],
    pub(super) spreads: &'l [f64],
}

/// What `find` makes of all of a list, in its order.
pub(in crate::strategy::ccd) fn find<T: Sync, R: Send>(
    threads: usize,
    list: &[T],
    find: impl Fn(&T, &mut Vec<R>) + Sync,
) -> Vec<R> {
    find_kept(&mut Kept::default(), threads, list, find)
}

/// The same in memory that was kept.
pub(super) fn find_kept<T: Sync, R: Send>(
    memory: &mut Kept<R>,
    threads: usize,
    list: &[T],
    find: impl Fn(&T, &mut Vec<R>) + Sync,
) -> Vec<R> {
    let pieces = list.len().div_ceil(PIECE);
    thread_pool::gather_in(memory, threads, pieces, |piece, found| {
        let piece = list.chunks(PIECE).nth(piece).unwrap_or_default();
        piece.iter().for_each(|one| find(one, found));
    })
}

/// The same, piece by piece.
pub(super) fn find_in<T: Sync, R: Send>(
    threads: usize,
    list: &[T],
    find: impl Fn(&[T], &mut Vec<R>) + Sync,
) -> Vec<R> {
    let pieces = list.len().div_ceil(PIECE);
    thread_pool::gather(threads, pieces, |piece, found| {
        find(list.chunks(PIECE).nth(piece).unwrap_or_default(), found);
    })
}

/// Impacts without those that are at the same point as another: the one with the least gap stands
/// for all. Where some go, the last take their places.
pub(super) fn once<S: Space>(mut hits: Vec<Impact<S>>, parties: Parties<'_, S>) -> Vec<Impact<S>> {
    let mut least: PointMap<u32> = PointMap::default();
    let mut gone = Vec::new();
    for (k, hit) in hits.iter().enumerate() {
        if parties.is_alone(hit) {
            continue;
        }
        let best = least.entry(hit.point).or_insert(k as u32);
        let other = *best as usize;
        if other != k {
            let order = hit.gap.total_cmp(&hits[other].gap);
            let is_less = order
                .then_with(|| hit.encounter.key().cmp(&hits[other].encounter.key()))
                .is_lt();
            gone.push(if is_less { other } else { k });
            if is_less {
                *best = k as u32;
            }
        }
    }
    gone.sort_unstable();
    for k in gone.into_iter().rev() {
        hits.swap_remove(k);
    }
    hits
}

/// Something for each point of contact ([`Impact::point`]).
pub(in crate::strategy::ccd) type PointMap<T> = HashMap<u64, T, BuildHasherDefault<Itself>>;

/// A hash of numbers that are hashes already: themselves.
#[derive(Default)]
pub(in crate::strategy::ccd) struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
}

impl<S: Space> Look<'_, S> {
    /// Adds the impacts of some pairs to a list.
    pub(super) fn add_hits<'c>(
        &self,
        pairs: impl Iterator<Item = &'c Candidate>,
        found: &mut Vec<Impact<S>>,
    ) {
        let thickness = |c: &Candidate| self.primitives.thickness(&c.encounter);
        let is_open = |c: &&Candidate| !c.stays_apart(self.end, thickness(c), self.kept(c));
        let open: Vec<&Candidate> = pairs.filter(is_open).collect();
        let least = |c: &Candidate| thickness(c) + self.kept(c);
        let apart = apart_from_the_end(&open, [self.start, self.end], least);
        for (candidate, _) in open
            .into_iter()
            .zip(apart)
            .filter(|(_, is_apart)| !is_apart)
        {
            found.extend(self.hit(candidate));
        }
    }

    /// The distance that a pair must keep, m: what starts nearer than others must not come much
    /// nearer still.
    fn kept(&self, candidate: &Candidate) -> f64 {
        let room = candidate.distance.unwrap_or(0.0);
        self.keep.min(self.nearer * room)
    }

    /// The impact of a pair, if it has one.
    fn hit(&self, candidate: &Candidate) -> Option<Impact<S>> {
        let encounter = &candidate.encounter;
        let paths = [(self.start, self.still), (self.end, self.way)];
        let kept = self.kept(candidate);
        let times = self.primitives.hit(encounter, paths, self.bodies, kept)?;
        self.impact(candidate, times)
    }

    /// The contact of a pair that is close, if it closes.
    pub(super) fn near(&self, candidate: &Candidate) -> Option<Impact<S>> {
        let place = |v: u32| DVec3::from_array(self.start[v as usize]);
        let encounter = &candidate.encounter;
        let witness = self.primitives.witness_at(encounter, self.bodies, place)?;
        self.near_seen(candidate, &witness, 0.0, false)
    }

    /// The contact of a pair with its nearest points at the start, if it closes to less than its
    /// rest, or rests and, with a deformable, was pressed in the last step; and if it must keep so
    /// many metres `more` than others. What lies near and neither closes nor is pressed would be two
    /// thirds of all contacts where sheets lie on each other.
    pub(super) fn near_seen(
        &self,
        candidate: &Candidate,
        witness: &Witness,
        more: f64,
        was_pressed: bool,
    ) -> Option<Impact<S>> {
        let encounter = &candidate.encounter;
        let gap = candidate.distance? - more;
        let rest = self.rest(encounter);
        let rests = gap <= rest + self.keep && (was_pressed || !self.is_soft(encounter));
        if !rests {
            let local = self.local(encounter).max(rest + self.keep);
            let closing = self.closing(encounter, witness);
            let is_local = gap < local && closing.length() < 2.0 * local;
            if !is_local || gap + witness.normal.dot(closing) > rest {
                return None;
            }
        }
        Some(self.describe(candidate, witness, (0.0, 0.0), gap))
    }

    /// Whether a pair is at the start or at the end no farther apart than what every search finds:
    /// what lies farther apart is among the candidates or not by chance.
    pub(super) fn is_within_reach(&self, candidate: &Candidate) -> bool {
        let [at_start, at_end] = self.reach;
        candidate
            .distance
            .is_some_and(|distance| distance <= at_start)
            || {
                let moved = (self.bodies, self.way);
                let witness = (self.primitives).witness(&candidate.encounter, moved, self.end);
                witness.is_some_and(|seen| seen.distance <= at_end)
            }
    }

    /// Whether a pair is so near that it may be a contact before it has been proven to meet.
    pub(super) fn is_close(&self, candidate: &Candidate) -> bool {
        let encounter = &candidate.encounter;
        let gap = candidate.distance.unwrap_or(f64::INFINITY);
        let (rest, thickness) = (self.rest(encounter), self.primitives.thickness(encounter));
        gap < self.local(encounter).max(rest + self.keep)
            && !(self.is_soft(encounter) && candidate.stays_apart(self.end, thickness, rest))
    }

    /// The nodes of a face on something round, which stand for it, and the round thing. `None`
    /// where the pair is not such or the faces are too large for it.
    pub(super) fn stand_ins(&self, encounter: &Encounter) -> Option<([u32; 3], [u32; 2])> {
        let Encounter::Pair(pair) = encounter else {
            return None;
        };
        let sides = pair.vertices();
        let is_round = |side: usize| self.primitives.is_round(self.bodies, sides[side][0]);
        let round = (0..2).find(|&side| is_round(side))?;
        let (own, round) = (sides[1 - round], sides[round]);
        let stands = |v: u32| self.dip(v, round[0]).is_some();
        own.into_iter()
            .all(stands)
            .then_some((own, [round[0], round[1]]))
    }

    /// The contact of a node that stands for faces on something round, if it closes.
    pub(super) fn near_node(&self, node: u32, round: [u32; 2]) -> Option<Impact<S>> {
        let encounter = node_on(node, round);
        let place = |v: u32| DVec3::from_array(self.start[v as usize]);
        let witness = self.primitives.witness_at(&encounter, self.bodies, place)?;
        let dip = self.dip(node, round[0])?;
        self.near_seen(
            &Candidate::of(encounter, Some(witness)),
            &witness,
            dip,
            false,
        )
    }

    /// How much farther away than others a pair must stay, m: a node on something round.
    pub(super) fn dip_of(&self, encounter: &Encounter) -> f64 {
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

    /// Half the thickness of each side that is a deformable, m.
    fn soft_radii(&self, encounter: &Encounter) -> [Option<f64>; 2] {
        let radius = |[v, ..]: [u32; 3]| self.primitives.soft_radius(self.bodies, v);
        encounter.vertices().map(|side| side.and_then(radius))
    }

    /// Whether a side is a deformable.
    fn is_soft(&self, encounter: &Encounter) -> bool {
        self.soft_radii(encounter).iter().any(Option::is_some)
    }

    /// The distance at which a pair rests, m.
    fn rest(&self, encounter: &Encounter) -> f64 {
        let radii = self.soft_radii(encounter);
        rest(self.keep, radii.into_iter().flatten().sum())
    }

    /// Gap up to which what closes is a contact before it has been proven to meet, m: there the
    /// direction at the start is still the right one.
    fn local(&self, encounter: &Encounter) -> f64 {
        match self.soft_radii(encounter) {
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
    fn impact(&self, candidate: &Candidate, (safe, time): (f64, f64)) -> Option<Impact<S>> {
        let encounter = candidate.encounter;
        let place = |v: u32| {
            let [from, to] = [self.start, self.end].map(|x| DVec3::from_array(x[v as usize]));
            from + (to - from) * time
        };
        let first = self.primitives.body_of(&encounter, 0) as usize;
        let moved = scaled(&self.way[first], time);
        let pose = |wall: u32| self.primitives.wall_at(wall, self.bodies, &moved);
        let witness = self.primitives.witness_of(&encounter, place, pose)?;
        let gap = match encounter {
            _ if time == 0.0 => witness.distance,
            Encounter::Wall(..) => candidate.distance?,
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
        Some(self.describe(candidate, &witness, (safe, time), gap))
    }

    /// An impact with its nearest points.
    fn describe(
        &self,
        candidate: &Candidate,
        witness: &Witness,
        (safe, time): (f64, f64),
        gap: f64,
    ) -> Impact<S> {
        let encounter = candidate.encounter;
        let center = |side: usize| {
            let k = self.primitives.body_of(&encounter, side) as usize;
            self.bodies.position[k] + self.way[k].linear * time
        };
        let mut hit = Impact {
            encounter,
            witness: *witness,
            safe,
            time,
            impulse: S::Vector::default(),
            centers: [center(0), center(1)],
            point: 0,
            gap,
            rest: self.rest(&encounter),
        };
        hit.point = self.parties.point(&hit);
        hit
    }
}

/// A node and something round.
pub(super) fn node_on(node: u32, round: [u32; 2]) -> Encounter {
    Encounter::Pair(Pair::Edges([node; 2], round))
}
