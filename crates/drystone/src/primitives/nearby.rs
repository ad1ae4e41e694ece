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
        if std::env::var("DBG").is_ok() { eprintln!("asked {}", is_asked.iter().filter(|x| **x).count()); }
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
        let place = place_in(search.start);
        let witness = primitives.witness_at(&encounter, search.reach.bodies, place);
        let thickness = primitives.thickness(&encounter);
        let mut gap = f64::NEG_INFINITY;
        if let Some(witness) = &witness {
            let [a, b] = pair.vertices();
            let most = |side: [u32; 3]| {
                let room = |v: u32| self.rooms[v as usize];
                side.into_iter().map(room).fold(0.0, f64::max)
            };
            gap = gap_along(&pair, witness.normal, search.start) - thickness;
            let last = gap_along(&pair, witness.normal, &self.aims) - thickness;
            if gap.min(last - most(a) - most(b)) > search.reach.distance {
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
