//! What a look at a way sees of one pair.

use super::{Hit, RESTING, scaled};
use crate::body::{Bodies, Motion};
use crate::deform::meeting::Pair;
use crate::material::Materials;
use crate::primitives::{Candidate, Encounter, Primitives, Witness, contact_of};
use crate::space::{Components, Space};
use crate::substep::crew;
use glamx::DVec3;

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
    pub(super) materials: &'l Materials,
    pub(super) keep: f64,
    pub(super) start: &'l [[f64; 3]],
    pub(super) end: &'l [[f64; 3]],
    pub(super) still: &'l [Motion<S>],
    pub(super) way: &'l [Motion<S>],
    pub(super) spreads: &'l [f64],
}

/// What `find` makes of all candidates, in no order to be relied on.
pub(super) fn find<S: Space>(
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
pub(super) fn once<S: Space>(hits: &[Hit<S>]) -> Vec<Hit<S>> {
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
    pub(super) fn hit(&self, candidate: &Candidate) -> Option<Hit<S>> {
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
    pub(super) fn near(&self, (candidate, more): &(Candidate, f64)) -> Option<Hit<S>> {
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
    pub(super) fn nodes_on(&self, encounter: &Encounter) -> Option<[(Candidate, f64); 3]> {
        let Encounter::Pair(pair) = encounter else {
            return None;
        };
        let sides = pair.vertices();
        let soft =
            (0..2).find(|&side| self.primitives.is_soft_face(self.bodies, sides[side][0]))?;
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
