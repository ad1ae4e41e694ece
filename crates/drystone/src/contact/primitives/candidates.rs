//! Candidate pairs of primitives of a step, found once and kept for all queries in it.
//!
//! A look supposes that every vertex goes straight to some end. The first look's ends are the
//! **aims**; each vertex has **room** around its aim, and pairs are left out only if they stay
//! apart wherever within their rooms the vertices end. So later looks, after impacts have changed
//! some velocities, need no new search unless a vertex leaves its room; then it aims at where it
//! ends now, pairs with that vertex are searched anew, and no others. Rooms never grow beyond the
//! way that a vertex was off, or pairs would be without number where much is pushed about.
//!
//! # What is left out
//!
//! The trees ([`crate::geometry::ccd::broad_phase`]) leave out what boxes and rough planes keep apart. Of the rest, let n be
//! the direction between a pair's nearest points at the start. Along n, the gap between two
//! vertices that go from $x$ to $x' + \delta$ is linear in time, so the pair stays farther apart
//! than s if both
//!
//! $$ \min_{i,j} n\cdot(b_j - a_i) > s, \qquad
//!    \min_{i,j} n\cdot(b'_j - a'_i) - \max_i \rho_i - \max_j \rho_j > s , $$
//!
//! with the rooms ρ of its vertices. Every look makes the same test with the ends it has and no
//! rooms; only what is left goes to the exact continuous collision.

use super::lanes::{Seen, Ways, see_edges, see_faces};
use super::{Encounter, Primitives, Reach, Vertex, Witness};
use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::{BroadPhase, Mesh, Swept};
use crate::geometry::ccd::primitive_pair::{Pair, place_in};
use crate::math::algebra::D3;
use crate::math::simd::{DOUBLES, Instructions};
use crate::parallel::thread_pool;
use glamx::DVec3;

/// Rounding of components along a direction over the size of coordinates, with room to spare.
pub(super) const ROUNDING: f64 = 1e-14;
/// Vertices for each that is asked about from which on it is one of few.
const FEW: usize = 6;
/// Part of the way between its old and its new aim that a vertex which left its room may still
/// stray: what was pushed once is pushed again.
const GENEROUS: f64 = 0.1;
/// Pairs that a thread looks at before it takes the next.
const PIECE: usize = 256;

/// A pair that may meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) encounter: Encounter,
    /// Distance of its surfaces at the start, m, where a direction can be told.
    pub(crate) distance: Option<f64>,
    /// Unit vector from one side to the other at the start.
    normal: DVec3,
    /// Gap between its sides along that at the start, less thickness, m.
    gap: f64,
}

/// Pairs that may meet while vertices end within their rooms.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    /// Where vertices are thought to end, m.
    pub(crate) aims: Vec<[f64; 3]>,
    /// How far from there they may end, m.
    pub(crate) rooms: Vec<f64>,
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
        let known = if is_new { 0 } else { ends.len() };
        for (v, end) in ends.iter().enumerate().take(known) {
            let off = DVec3::from_array(*end).distance(DVec3::from_array(self.aims[v]));
            // Written so that what is no number has left, too.
            let is_inside = off <= self.rooms[v];
            if !is_inside {
                self.aims[v] = *end;
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
        let near = |v: &Vertex<S>| v.radius + 0.5 * reach.distance;
        let at_start: Vec<f64> = primitives.vertices.iter().map(near).collect();
        let both = at_start.iter().zip(&self.rooms);
        let at_end: Vec<f64> = both.map(|(near, room)| near + room).collect();
        let mesh = Mesh {
            edges: &primitives.edges,
            faces: &primitives.faces,
        };
        let this = &*self;
        let count = is_asked.iter().filter(|&&asked| asked).count();
        let asked = (FEW * count < is_asked.len()).then_some(is_asked);
        // Whether nothing else is found.
        let is_sure = asked.is_some() || count == is_asked.len();
        let swept = Swept {
            start,
            end: &self.aims,
            reach: [&at_start, &at_end],
            threads: search.threads,
        };
        let found = trees.gather(&mesh, &swept, asked, |met| {
            let pair = primitives.pair_of(met)?;
            let is_due = is_sure || pair.has(|v| is_asked[v as usize]);
            (is_due && primitives.moves(&pair)).then_some(pair)
        });
        // Numbers that are none have no pairs; the world notices them when it moves.
        let found = found.unwrap_or_default();
        let pieces = found.len().div_ceil(PIECE);
        let candidates = thread_pool::gather(search.threads, pieces, |piece, near| {
            let list = found.chunks(PIECE).nth(piece).unwrap_or_default();
            this.judge(primitives, search, list, near);
        });
        if count < is_asked.len() {
            self.forget(is_asked);
            self.pairs.extend(candidates);
        } else {
            self.pairs = candidates;
        }
        let mut walls = Vec::new();
        primitives.add_walls(reach, start, &self.aims, &at_end, &mut walls);
        for encounter in walls {
            let mut all = encounter.vertices().into_iter().flatten().flatten();
            if all.any(|v| is_asked[v as usize]) {
                let witness = primitives.witness_at(&encounter, reach.bodies, place_in(start));
                self.pairs.push(Candidate::of(encounter, witness));
            }
        }
    }

    /// Takes out pairs with any of the vertices asked about.
    fn forget(&mut self, is_asked: &[bool]) {
        let mut k = 0;
        while let Some(candidate) = self.pairs.get(k) {
            let is_old = match &candidate.encounter {
                Encounter::Pair(pair) => !pair.has(|v| is_asked[v as usize]),
                Encounter::Wall(_, v) => !is_asked[*v as usize],
            };
            if is_old {
                k += 1;
            } else {
                self.pairs.swap_remove(k);
            }
        }
    }

    /// Adds the candidates among some pairs to a list.
    fn judge<S: Space>(
        &self,
        primitives: &Primitives<S>,
        search: &Search<'_, S>,
        list: &[Pair],
        near: &mut Vec<Candidate>,
    ) {
        let (mut edges, mut faces) = (Vec::new(), Vec::new());
        for pair in list {
            match *pair {
                Pair::Edges([a, b], [c, d]) => edges.push([a, b, c, d]),
                Pair::FaceVertex([a, b, c], v) => faces.push([a, b, c, v]),
                Pair::EdgeVertex([a, b], v) => edges.push([a, b, v, v]),
            }
        }
        let ways: Ways<'_> = [search.start, &self.aims];
        let best = Instructions::best();
        let mut seen = vec![Seen::default(); list.len().div_ceil(DOUBLES)];
        let is_flat = matches!(list.first(), Some(Pair::EdgeVertex(..)));
        let pair_of = |[a, b, c, d]: [u32; 4]| match is_flat {
            true => Pair::EdgeVertex([a, b], d),
            false => Pair::Edges([a, b], [c, d]),
        };
        let judge = |pair: Pair, seen: &Seen, lane: usize| {
            let normal = DVec3::from_array(seen.normal.map(|x| x.0[lane]));
            let gaps = seen.gaps.map(|gap| gap.0[lane]);
            self.candidate(
                primitives,
                search,
                pair,
                (seen.distance.0[lane], normal, gaps),
            )
        };
        see_edges::<D3>(best, ways, &edges, &mut seen);
        for (k, &corners) in edges.iter().enumerate() {
            near.extend(judge(pair_of(corners), &seen[k / DOUBLES], k % DOUBLES));
        }
        see_faces::<D3>(best, ways, &faces, &mut seen);
        for (k, &[a, b, c, v]) in faces.iter().enumerate() {
            let pair = Pair::FaceVertex([a, b, c], v);
            near.extend(judge(pair, &seen[k / DOUBLES], k % DOUBLES));
        }
    }

    /// The candidate that a pair is, unless it stays apart: with its distance (m), the direction
    /// and the gaps along it at the start and at its aims (m) as they were seen.
    fn candidate<S: Space>(
        &self,
        primitives: &Primitives<S>,
        search: &Search<'_, S>,
        pair: Pair,
        (distance, normal, gaps): (f64, DVec3, [f64; 2]),
    ) -> Option<Candidate> {
        let encounter = Encounter::Pair(pair);
        let thickness = primitives.thickness(&encounter);
        let is_told = normal.is_finite() && normal != DVec3::ZERO;
        let least = thickness + search.reach.distance;
        if is_told && self.least_gap(&pair, gaps) > least {
            return None;
        }
        let is_allowed = primitives.is_allowed(&search.reach, &pair);
        is_allowed.then_some(Candidate {
            encounter,
            distance: is_told.then_some(distance - thickness),
            normal: if is_told { normal } else { DVec3::ZERO },
            gap: if is_told {
                gaps[0] - thickness
            } else {
                f64::NEG_INFINITY
            },
        })
    }

    /// The least gap of a pair along a direction, at the start or wherever within their rooms its
    /// vertices end, m: of the gaps at the start and the aims.
    fn least_gap(&self, pair: &Pair, [first, last]: [f64; 2]) -> f64 {
        let [a, b] = pair.vertices();
        let room = |v: u32| self.rooms[v as usize];
        let most = |side: [u32; 3]| room(side[0]).max(room(side[1])).max(room(side[2]));
        first.min(last - most(a) - most(b))
    }
}

impl Candidate {
    /// A pair with how near it is.
    pub(crate) fn of(encounter: Encounter, witness: Option<Witness>) -> Self {
        Self {
            encounter,
            distance: witness.map(|w| w.distance),
            normal: witness.map_or(DVec3::ZERO, |w| w.normal),
            gap: f64::NEG_INFINITY,
        }
    }

    /// Whether it can be seen at once that the pair stays farther apart than `keep` (m) on straight
    /// ways to these ends; `thickness` is that of both sides, m.
    pub(crate) fn stays_apart(&self, ends: &[[f64; 3]], thickness: f64, keep: f64) -> bool {
        match &self.encounter {
            Encounter::Pair(pair) if self.gap > keep => {
                gap_along(pair, self.normal, ends) - thickness > keep
            }
            _ => false,
        }
    }
}

/// Which of some pairs a plane keeps farther apart than `least` says of each (m, thickness
/// included) on straight ways: one across the direction between their nearest points at the
/// **end**. What turns is often told apart by that where the start does not tell.
pub(crate) fn apart_from_the_end(
    list: &[&Candidate],
    [start, end]: Ways<'_>,
    least: impl Fn(&Candidate) -> f64,
) -> Vec<bool> {
    let (mut edges, mut faces) = (Vec::new(), Vec::new());
    for (k, candidate) in list.iter().enumerate() {
        match candidate.encounter {
            Encounter::Pair(Pair::Edges([a, b], [c, d])) => edges.push((k, [a, b, c, d])),
            Encounter::Pair(Pair::FaceVertex([a, b, c], v)) => faces.push((k, [a, b, c, v])),
            Encounter::Pair(Pair::EdgeVertex(..)) | Encounter::Wall(..) => {}
        }
    }
    let best = Instructions::best();
    let mut answers = vec![false; list.len()];
    for (of_kind, is_edges) in [(&edges, true), (&faces, false)] {
        let corners: Vec<[u32; 4]> = of_kind.iter().map(|one| one.1).collect();
        let mut seen = vec![Seen::default(); corners.len().div_ceil(DOUBLES)];
        if is_edges {
            see_edges::<D3>(best, [end, start], &corners, &mut seen);
        } else {
            see_faces::<D3>(best, [end, start], &corners, &mut seen);
        }
        for (at, &(k, _)) in of_kind.iter().enumerate() {
            let (seen, lane) = (&seen[at / DOUBLES], at % DOUBLES);
            let is_told = seen.normal.iter().all(|x| x.0[lane].is_finite());
            let gap = seen.gaps[0].0[lane].min(seen.gaps[1].0[lane]);
            answers[k] = is_told && gap > least(list[k]);
        }
    }
    answers
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
    use crate::geometry::ccd::primitive_pair::nearest;

    /// Numbers from −1 to 1: a step of a congruential generator.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    #[test]
    fn what_is_left_out_stays_apart_wherever_vertices_end_in_their_rooms() {
        let mut seed = 11;
        let mut left_out = 0;
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
            let [a, b] = pair.vertices();
            let near = nearest(&pair, place_in(&start));
            let blend = |side: [u32; 3], weights: [f64; 3]| {
                let parts = side.into_iter().zip(weights);
                parts.fold(DVec3::ZERO, |sum, (v, w)| sum + place_in(&start)(v) * w)
            };
            let normal = (blend(b, near.b) - blend(a, near.a)).normalize_or_zero();
            let gaps = [&start, &nearby.aims].map(|places| gap_along(&pair, normal, places));
            if nearby.least_gap(&pair, gaps) <= least {
                continue;
            }
            left_out += 1;
            // Within a ball of the room's radius: 0.05/√3 along each axis.
            let ends: Vec<[f64; 3]> = aims.iter().map(|&x| add(x, point(0.028))).collect();
            for k in 0..=20 {
                let t = f64::from(k) / 20.0;
                let place = |v: u32| place_in(&start)(v).lerp(place_in(&ends)(v), t);
                let distance = nearest(&pair, place).distance;
                assert!(distance > least, "case {case}: {distance}");
            }
        }
        assert!(left_out > 1000, "{left_out}");
    }

    #[test]
    fn what_a_plane_from_the_end_keeps_apart_stays_apart() {
        let mut seed = 5;
        let (mut start, mut end, mut list) = (Vec::new(), Vec::new(), Vec::new());
        for case in 0..4000_u32 {
            let mut point = |size: f64| [0; 3].map(|_| size * noise(&mut seed));
            let bulk = point(3.0);
            let add = |x: [f64; 3], y: [f64; 3]| [0, 1, 2].map(|k| x[k] + y[k]);
            for _ in 0..4 {
                let from = point(1.0);
                start.push(from);
                end.push(add(add(from, bulk), point(0.6)));
            }
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| 4 * case + k);
            let pair = match case % 2 {
                0 => Pair::FaceVertex([a, b, c], d),
                _ => Pair::Edges([a, b], [c, d]),
            };
            list.push(Candidate::of(Encounter::Pair(pair), None));
        }
        let least = 0.05;
        let list: Vec<&Candidate> = list.iter().collect();
        let apart = apart_from_the_end(&list, [&start, &end], |_| least);
        assert!(apart.iter().filter(|&&is| is).count() > 1000);
        for (candidate, _) in list.iter().zip(apart).filter(|(_, is_apart)| *is_apart) {
            let Encounter::Pair(pair) = &candidate.encounter else {
                continue;
            };
            for k in 0..=20 {
                let t = f64::from(k) / 20.0;
                let place = |v: u32| place_in(&start)(v).lerp(place_in(&end)(v), t);
                assert!(nearest(pair, place).distance > least, "{pair:?} {t}");
            }
        }
    }
}
