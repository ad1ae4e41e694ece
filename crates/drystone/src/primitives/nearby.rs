//! Which primitives may meet within a step, found once and kept for all looks at it.
//!
//! A look supposes that every vertex goes straight to some end. The first look's ends are the
//! **aims**; each vertex has **room** around its aim, and pairs are left out only if they stay
//! apart wherever within their rooms the vertices end. So later looks, after impacts have changed
//! some velocities, need no new search unless a vertex leaves its room; then pairs with that vertex
//! are searched anew, and no others.
//!
//! # What is left out
//!
//! The trees ([`crate::ccd::broad`]) leave out what swept boxes keep apart. Of the rest, let n be
//! the direction between a pair's nearest points at the start. Along n, the gap between two
//! vertices that go from $x$ to $x' + \delta$ is linear in time, so the pair stays farther apart
//! than s if both
//!
//! $$ \min_{i,j} n\cdot(b_j - a_i) > s, \qquad
//!    \min_{i,j} n\cdot(b'_j - a'_i) - \max_i \rho_i - \max_j \rho_j > s , $$
//!
//! with the rooms ρ of its vertices. Every look makes the same test with the ends it has and no
//! rooms; only what is left goes to the exact continuous collision.

use super::{Encounter, Primitives, Reach, Witness, vector};
use crate::ccd::broad::{BroadPhase, Mesh};
use crate::deform::meeting::{Pair, place_in};
use crate::space::Space;
use glamx::DVec3;

/// Rounding of components along a direction over the size of coordinates, with room to spare.
const ROUNDING: f64 = 1e-14;
/// Vertices for each that is asked about from which on it is one of few.
const FEW: usize = 6;
/// How much farther than it went a vertex may go that has left its room.
const GENEROUS: f64 = 1.5;

/// A pair that may meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) encounter: Encounter,
    /// How near it is at the start.
    pub(crate) witness: Option<Witness>,
    /// Gap between its sides along the witness' normal at the start, less thickness, m.
    gap: f64,
}

/// Pairs that may meet while vertices end within their rooms.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    /// Where vertices are thought to end, m.
    aims: Vec<[f64; 3]>,
    /// How far from there they may end, m.
    rooms: Vec<f64>,
    /// The pairs, in no order to be relied on: that of the trees.
    pub(crate) pairs: Vec<Candidate>,
}

/// What a search starts from.
pub(crate) struct Search<'a, S: Space> {
    pub(crate) reach: Reach<'a, S>,
    /// Where vertices are, m.
    pub(crate) start: &'a [[f64; 3]],
    pub(crate) threads: usize,
}

impl Nearby {
    /// Whether nothing has been searched yet.
    pub(crate) fn is_unknown(&self) -> bool {
        self.aims.is_empty()
    }

    /// Makes sure that everything is known that may meet on straight ways to `ends`. `spare` is how
    /// much room a vertex gets at least, m.
    pub(crate) fn cover<S: Space>(
        &mut self,
        primitives: &Primitives<S>,
        search: &Search<'_, S>,
        ends: &[[f64; 3]],
        spare: impl Fn(usize) -> f64,
        trees: &mut BroadPhase<S>,
    ) {
        let is_new = self.aims.len() != ends.len();
        if is_new {
            self.aims = ends.to_vec();
            self.rooms = (0..ends.len()).map(&spare).collect();
        }
        let mut is_asked = vec![is_new; ends.len()];
        for (v, end) in ends.iter().enumerate() {
            let off = DVec3::from_array(*end).distance(DVec3::from_array(self.aims[v]));
            // Written so that what is no number has left, too.
            let is_inside = off <= self.rooms[v];
            if !is_inside {
                self.rooms[v] = GENEROUS * off + spare(v);
                is_asked[v] = true;
            }
        }
        if is_asked.contains(&true) {
            self.search(primitives, search, &is_asked, trees);
        }
    }

    /// Searches pairs with any of the vertices asked about.
    fn search<S: Space>(
        &mut self,
        primitives: &Primitives<S>,
        search: &Search<'_, S>,
        is_asked: &[bool],
        trees: &mut BroadPhase<S>,
    ) {
        let Search { reach, start, .. } = search;
        let growth: Vec<f64> = (primitives.vertices.iter().zip(&self.rooms))
            .map(|(v, room)| v.radius + 0.5 * reach.distance + room)
            .collect();
        let points = |list: &[[f64; 3]]| -> Vec<S::Vector> {
            let point = |&p: &[f64; 3]| vector::<S>(DVec3::from_array(p));
            list.iter().map(point).collect()
        };
        let mesh = Mesh {
            edges: &primitives.edges,
            faces: &primitives.faces,
        };
        let (from, to) = (points(start), points(&self.aims));
        let this = &*self;
        let count = is_asked.iter().filter(|&&asked| asked).count();
        let asked = (FEW * count < is_asked.len()).then_some(is_asked);
        let how = (&growth[..], asked, search.threads);
        let found = trees.gather(&mesh, [&from, &to], how, |met| {
            let pair = primitives.pair_of(met)?;
            let mut all = pair.vertices().into_iter().flatten();
            if asked.is_none() && !all.any(|v| is_asked[v as usize]) {
                return None;
            }
            this.candidate(primitives, search, pair)
        });
        let is_old = |c: &Candidate| {
            let mut all = c.encounter.vertices().into_iter().flatten().flatten();
            !all.any(|v| is_asked[v as usize])
        };
        self.pairs.retain(is_old);
        // Numbers that are none have no pairs; the world notices them when it moves.
        self.pairs.extend(found.unwrap_or_default());
        let mut walls = Vec::new();
        primitives.add_walls(reach, start, &self.aims, &growth, &mut walls);
        for encounter in walls {
            let mut all = encounter.vertices().into_iter().flatten().flatten();
            if all.any(|v| is_asked[v as usize]) {
                let witness = primitives.witness_at(&encounter, reach.bodies, place_in(start));
                self.pairs.push(Candidate::of(encounter, witness));
            }
        }
    }

    /// The candidate that a pair is, unless it stays apart.
    fn candidate<S: Space>(
        &self,
        primitives: &Primitives<S>,
        search: &Search<'_, S>,
        pair: Pair,
    ) -> Option<Candidate> {
        if !primitives.moves(search.reach.bodies, &pair) {
            return None;
        }
        let encounter = Encounter::Pair(pair);
        let least = primitives.thickness(&encounter) + search.reach.distance;
        if self.passes_by(&pair, search.start, least) {
            return None;
        }
        if let Some(normal) = rough_direction(&pair, place_in(search.start))
            && self.gap_within_rooms(&pair, normal, search.start) > least
        {
            return None;
        }
        let place = place_in(search.start);
        let witness = primitives.witness_at(&encounter, search.reach.bodies, place);
        let thickness = primitives.thickness(&encounter);
        let mut gap = f64::NEG_INFINITY;
        if let Some(witness) = &witness {
            gap = gap_along(&pair, witness.normal, search.start) - thickness;
            if self.gap_within_rooms(&pair, witness.normal, search.start) > least {
                return None;
            }
        }
        primitives
            .is_allowed(&search.reach, &pair)
            .then_some(Candidate {
                encounter,
                witness,
                gap,
            })
    }
}

impl Nearby {
    /// The least gap of a pair along a direction, at the start or wherever within their rooms its
    /// vertices end, m.
    fn gap_within_rooms(&self, pair: &Pair, normal: DVec3, start: &[[f64; 3]]) -> f64 {
        let first = gap_along(pair, normal, start);
        let most = |side: [u32; 3]| {
            let room = |v: u32| self.rooms[v as usize];
            side.into_iter().map(room).fold(0.0, f64::max)
        };
        let [a, b] = pair.vertices().map(most);
        first.min(gap_along(pair, normal, &self.aims) - a - b)
    }

    /// Whether boxes around a pair's sides, as seen by one of its vertices that moves along, stay
    /// farther apart than `least` (m): what moves together has small boxes then.
    fn passes_by(&self, pair: &Pair, start: &[[f64; 3]], least: f64) -> bool {
        let [a, b] = pair.vertices();
        let [from, to] =
            [start, &self.aims].map(|x| move |v: u32| DVec3::from_array(x[v as usize]));
        let frame = to(a[0]) - from(a[0]);
        let around = |side: [u32; 3]| {
            let (mut lower, mut upper, mut room) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0_f64);
            for v in side {
                let (x, y) = (from(v), to(v) - frame);
                lower = lower.min(x).min(y);
                upper = upper.max(x).max(y);
                room = room.max(self.rooms[v as usize]);
            }
            (lower, upper, room)
        };
        let (first, second) = (around(a), around(b));
        let gap = (first.0 - second.1).max(second.0 - first.1).max_element();
        let size = first.1.abs().max(first.0.abs()).max_element();
        gap > least + first.2 + second.2 + ROUNDING * (4.0 * size + gap)
    }
}

impl Candidate {
    /// A pair with how near it is.
    pub(crate) fn of(encounter: Encounter, witness: Option<Witness>) -> Self {
        Self {
            encounter,
            witness,
            gap: f64::NEG_INFINITY,
        }
    }

    /// Whether it can be seen at once that the pair stays farther apart than `keep` (m) on straight
    /// ways to these ends; `thickness` is that of both sides, m.
    pub(crate) fn stays_apart(&self, ends: &[[f64; 3]], thickness: f64, keep: f64) -> bool {
        match (&self.encounter, &self.witness) {
            (Encounter::Pair(pair), Some(witness)) if self.gap > keep => {
                gap_along(pair, witness.normal, ends) - thickness > keep
            }
            _ => false,
        }
    }
}

/// Roughly the direction from one side of a pair to the other, cheaply: any direction that has a gap
/// proves it.
fn rough_direction(pair: &Pair, place: impl Fn(u32) -> DVec3) -> Option<DVec3> {
    let between = match *pair {
        Pair::FaceVertex([a, b, c], v) => place(v) - (place(a) + place(b) + place(c)) / 3.0,
        Pair::Edges([a, b], [c, d]) => {
            // The nearest points of two lines, held within the edges one after the other.
            let (p, q, r) = (
                place(b) - place(a),
                place(d) - place(c),
                place(a) - place(c),
            );
            let (pp, qq, pq) = (p.length_squared(), q.length_squared(), p.dot(q));
            let (pr, qr) = (p.dot(r), q.dot(r));
            let across = pp * qq - pq * pq;
            let along = |way: f64, length: f64| (way / length).clamp(0.0, 1.0);
            let s = along(pq * qr - pr * qq, across);
            let t = along(pq * s + qr, qq);
            let s = along(pq * t - pr, pp);
            q * t - p * s - r
        }
        Pair::EdgeVertex(..) => return None,
    };
    let direction = between.normalize_or_zero();
    (direction != DVec3::ZERO && direction.is_finite()).then_some(direction)
}

/// The gap between the sides of a pair along a direction, less what rounding may have added, m.
#[inline]
fn gap_along(pair: &Pair, normal: DVec3, places: &[[f64; 3]]) -> f64 {
    match pair {
        Pair::FaceVertex(face, v) => gap_between(face, &[*v], normal, places),
        Pair::Edges(first, second) => gap_between(first, second, normal, places),
        Pair::EdgeVertex(edge, v) => gap_between(edge, &[*v], normal, places),
    }
}

#[inline]
fn gap_between(a: &[u32], b: &[u32], normal: DVec3, places: &[[f64; 3]]) -> f64 {
    let at = |v: u32| DVec3::from_array(places[v as usize]);
    let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut size = DVec3::ZERO;
    for x in a.iter().map(|&v| at(v)) {
        highest = highest.max(normal.dot(x));
        size = size.max(x.abs());
    }
    for x in b.iter().map(|&v| at(v)) {
        lowest = lowest.min(normal.dot(x));
        size = size.max(x.abs());
    }
    lowest - highest - ROUNDING * size.max_element()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::meeting::nearest;

    /// Numbers from −1 to 1: a step of a congruential generator.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    #[test]
    fn what_is_left_out_stays_apart_wherever_vertices_end_in_their_rooms() {
        let mut seed = 11;
        let (mut by_boxes, mut by_planes) = (0, 0);
        for case in 0..4000 {
            let mut point = |size: f64| [0; 3].map(|_| size * noise(&mut seed));
            let start: Vec<[f64; 3]> = (0..4).map(|_| point(1.0)).collect();
            let bulk = point(3.0);
            let add = |x: [f64; 3], y: [f64; 3]| [0, 1, 2].map(|k| x[k] + y[k]);
            let aims: Vec<[f64; 3]> = (start.iter())
                .map(|&x| add(add(x, bulk), point(0.2)))
                .collect();
            let nearby = Nearby {
                aims: aims.clone(),
                rooms: vec![0.05; 4],
                pairs: Vec::new(),
            };
            let pair = match case % 2 {
                0 => Pair::FaceVertex([0, 1, 2], 3),
                _ => Pair::Edges([0, 1], [2, 3]),
            };
            let least = 0.05;
            let rough = rough_direction(&pair, place_in(&start));
            let boxes = nearby.passes_by(&pair, &start, least);
            let planes = rough.is_some_and(|n| nearby.gap_within_rooms(&pair, n, &start) > least);
            by_boxes += u32::from(boxes);
            by_planes += u32::from(planes);
            if !boxes && !planes {
                continue;
            }
            // Within a ball of the room's radius: 0.05/√3 along each axis.
            let ends: Vec<[f64; 3]> = aims.iter().map(|&x| add(x, point(0.028))).collect();
            for k in 0..=20 {
                let t = f64::from(k) / 20.0;
                let place = |v: u32| place_in(&start)(v).lerp(place_in(&ends)(v), t);
                let distance = nearest(&pair, place).distance;
                assert!(distance > least, "case {case}: {distance}");
            }
        }
        assert!(by_boxes > 500 && by_planes > 1000, "{by_boxes} {by_planes}");
    }
}
