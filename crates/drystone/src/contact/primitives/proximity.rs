//! Distance and time of impact of primitives that move along straight lines.

use super::{Failure, Primitives};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::{BroadPhase, Mesh, Met, Swept};
use crate::geometry::ccd::primitive_pair::{Near, Pair, impact, nearest, place_in};
use crate::math::algebra::Linear;
use crate::math::algebra::solid;
use crate::model::body::{Bodies, Motion};
use glamx::DVec3;

/// Two primitives that may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Encounter {
    /// Points, edges and faces by their vertices.
    Pair(Pair),
    /// A half-space and a vertex.
    Wall(u32, u32),
}

/// How near two primitives are: the normal leaves the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Witness {
    /// Weights of the vertices of [`Encounter::vertices`].
    pub(crate) weights: [[f64; 3]; 2],
    /// Unit vector from the first to the second.
    pub(crate) normal: DVec3,
    /// Distance of the surfaces (thickness taken off), m.
    pub(crate) distance: f64,
    /// Half-way between the surfaces, m.
    pub(crate) middle: DVec3,
}

/// What is looked for around bodies that go a way.
#[derive(Clone, Copy)]
pub(crate) struct Reach<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) rules: &'a PairRules<'a, S>,
    /// Distance of surfaces up to which pairs are found, m.
    pub(crate) distance: f64,
}

impl Encounter {
    /// The vertices of both sides, padded by repetition; none stands for a wall.
    #[inline]
    pub(crate) fn vertices(&self) -> [Option<[u32; 3]>; 2] {
        match self {
            Self::Pair(pair) => {
                let [a, b] = pair.vertices();
                [Some(a), Some(b)]
            }
            Self::Wall(_, vertex) => [None, Some([*vertex; 3])],
        }
    }

    /// A number by which encounters are told apart and sorted.
    pub(crate) fn key(&self) -> [u32; 5] {
        match *self {
            Self::Pair(Pair::FaceVertex([a, b, c], v)) => [0, a, b, c, v],
            Self::Pair(Pair::Edges([a, b], [c, d])) => [1, a, b, c, d],
            Self::Pair(Pair::EdgeVertex([a, b], v)) => [2, a, b, v, 0],
            Self::Wall(wall, v) => [3, wall, v, 0, 0],
        }
    }
}

impl<S: Space> Primitives<S> {
    /// The body of a side's first vertex, or the wall's.
    pub(crate) fn body_of(&self, encounter: &Encounter, side: usize) -> u32 {
        match (encounter, encounter.vertices()[side]) {
            (_, Some([v, ..])) => self.vertices[v as usize].body,
            (Encounter::Wall(wall, _), None) => self.walls[*wall as usize].body,
            // A pair has vertices on both sides.
            (Encounter::Pair(_), None) => 0,
        }
    }

    /// Thickness of both sides together, m.
    pub(crate) fn thickness(&self, encounter: &Encounter) -> f64 {
        let of =
            |side: Option<[u32; 3]>| side.map_or(0.0, |[v, ..]| self.vertices[v as usize].radius);
        encounter.vertices().into_iter().map(of).sum()
    }

    /// Whether both sides are edges with faces around them, which corners and faces watch too.
    pub(crate) fn is_between_faces(&self, encounter: &Encounter) -> bool {
        match encounter {
            Encounter::Pair(Pair::Edges([a, _], [b, _])) => {
                self.has_faces[*a as usize] && self.has_faces[*b as usize]
            }
            _ => false,
        }
    }

    /// Whether two primitives may meet at all.
    pub(crate) fn is_met(&self, reach: &Reach<'_, S>, encounter: &Encounter) -> bool {
        match encounter {
            Encounter::Pair(pair) => self.is_allowed(reach, pair),
            Encounter::Wall(wall, v) => {
                let (bodies, body) = (reach.bodies, self.vertices[*v as usize].body);
                let wall = self.wall_body(*wall) as u32;
                bodies.is_dynamic(body as usize) && Self::may_meet(bodies, reach.rules, wall, body)
            }
        }
    }

    /// Of each vertex: the largest square of the radius of the least circle around a face with it,
    /// m², at most (a third of the square of the longest side). 0 where there are no faces.
    pub(crate) fn spreads(&self, places: &[[f64; 3]]) -> Vec<f64> {
        let place = place_in(places);
        let mut spreads = vec![0.0_f64; places.len()];
        for &face in &self.faces {
            let [a, b, c] = face.map(&place);
            let sides = [
                a.distance_squared(b),
                b.distance_squared(c),
                c.distance_squared(a),
            ];
            let spread = sides.into_iter().fold(0.0, f64::max) / 3.0;
            for v in face {
                let own = &mut spreads[v as usize];
                *own = own.max(spread);
            }
        }
        spreads
    }

    /// Half the thickness of the deformable that a vertex is a node of, m, if it is one.
    pub(crate) fn soft_radius(&self, bodies: &Bodies<S>, v: u32) -> Option<f64> {
        let vertex = &self.vertices[v as usize];
        (bodies.node_of[vertex.body as usize] != 0).then_some(vertex.radius)
    }

    /// Whether a vertex belongs to faces of a deformable.
    pub(crate) fn is_soft_face(&self, bodies: &Bodies<S>, v: u32) -> bool {
        self.has_faces[v as usize] && self.soft_radius(bodies, v).is_some()
    }

    /// Whether a vertex is one of a rigid point or edge with a thickness.
    pub(crate) fn is_round(&self, bodies: &Bodies<S>, v: u32) -> bool {
        if self.has_faces[v as usize] {
            return false;
        }
        let vertex = &self.vertices[v as usize];
        bodies.node_of[vertex.body as usize] == 0 && vertex.radius > 0.0
    }

    /// Everything that may come within reach while points go from start to end, in an order that
    /// depends on nothing else. `bulge` is how far each vertex may stray from the straight line, m.
    pub(crate) fn encounters(
        &self,
        reach: &Reach<'_, S>,
        start: &[[f64; 3]],
        end: &[[f64; 3]],
        bulge: &[f64],
    ) -> Vec<Encounter> {
        let growth: Vec<f64> = (self.vertices.iter().zip(bulge))
            .map(|(v, bulge)| v.radius + 0.5 * reach.distance + bulge)
            .collect();
        let mesh = Mesh {
            edges: &self.edges,
            faces: &self.faces,
        };
        let swept = Swept {
            start,
            end,
            reach: [&growth; 2],
            threads: 1,
        };
        let found = BroadPhase::<S>::default().gather(&mesh, &swept, None, |met| {
            let pair = self.pair_of(met)?;
            self.is_allowed(reach, &pair)
                .then_some(Encounter::Pair(pair))
        });
        // Numbers that are none have no pairs; the world notices them when it moves.
        let mut found = found.unwrap_or_default();
        found.sort_unstable_by_key(Encounter::key);
        self.add_walls(reach, start, end, &growth, &mut found);
        found
    }

    /// The pair that two primitives are, unless it is found elsewhere too.
    pub(super) fn pair_of(&self, met: Met) -> Option<Pair> {
        let is_point = |[a, b]: [u32; 2]| a == b;
        match met {
            Met::VertexFace(v, f) => Some(Pair::FaceVertex(self.faces[f as usize], v)),
            Met::Edges(e, f) => {
                let (first, second) = (self.edges[e as usize], self.edges[f as usize]);
                let has_faces = |[a, _]: [u32; 2]| self.has_faces[a as usize];
                // A point finds faces by itself.
                let twice =
                    is_point(first) && has_faces(second) || is_point(second) && has_faces(first);
                (!twice).then_some(Pair::Edges(first, second))
            }
            Met::VertexEdge(v, e) => {
                let [a, b] = self.edges[e as usize];
                // Points alone meet each other once; what has edges finds points by them.
                let twice = a == b && !(self.is_alone[v as usize] && a < v);
                (!twice).then_some(Pair::EdgeVertex([a, b], v))
            }
        }
    }

    /// Whether any vertex of a pair belongs to a body that moves freely.
    pub(super) fn moves(&self, pair: &Pair) -> bool {
        pair.has(|v| self.is_free[v as usize])
    }

    /// Whether one side of a pair has a node that is fixed to the body of the other: what is around
    /// such a node does not touch that body, as in `velocity` and for the judge.
    fn is_tied(&self, bodies: &Bodies<S>, pair: &Pair) -> bool {
        let body = |v: u32| self.vertices[v as usize].body as usize;
        let [a, b] = pair.vertices();
        let is_soft = |v: u32| bodies.node_of[body(v)] != 0;
        let tied = |nodes: [u32; 3], to: u32| {
            let is_tied = |&v: &u32| bodies.is_tied(body(v), body(to));
            is_soft(nodes[0]) && !is_soft(to) && nodes.iter().any(is_tied)
        };
        tied(a, b[0]) || tied(b, a[0])
    }

    pub(super) fn is_allowed(&self, reach: &Reach<'_, S>, pair: &Pair) -> bool {
        let body = |v: u32| self.vertices[v as usize].body;
        let sides = pair.vertices();
        self.moves(pair)
            && Self::may_meet(
                reach.bodies,
                reach.rules,
                body(sides[0][0]),
                body(sides[1][0]),
            )
            && !self.is_tied(reach.bodies, pair)
    }

    pub(super) fn add_walls(
        &self,
        reach: &Reach<'_, S>,
        start: &[[f64; 3]],
        end: &[[f64; 3]],
        growth: &[f64],
        found: &mut Vec<Encounter>,
    ) {
        let bodies = reach.bodies;
        for (w, wall) in self.walls.iter().enumerate() {
            let motion = &bodies.motion[wall.body as usize];
            let stands = motion.linear.length() + motion.spin.length() == 0.0;
            let (normal, point) = self.wall_at(w as u32, bodies, &Motion::default());
            for (v, vertex) in self.vertices.iter().enumerate() {
                let height = |x: &[f64; 3]| normal.dot(DVec3::from_array(*x) - point);
                let lowest = height(&start[v]).min(height(&end[v])) - growth[v];
                let is_far = stands && lowest > 0.5 * reach.distance;
                let moves = bodies.is_dynamic(vertex.body as usize);
                if moves && !is_far && Self::may_meet(bodies, reach.rules, wall.body, vertex.body) {
                    found.push(Encounter::Wall(w as u32, v as u32));
                }
            }
        }
    }

    /// Fails if anything touches or overlaps where bodies stand.
    pub(crate) fn check_apart(&self, reach: &Reach<'_, S>) -> Result<(), Failure<S>> {
        let still = vec![Motion::default(); reach.bodies.len()];
        let places = self.places(reach.bodies, &still);
        let nothing = vec![0.0; places.len()];
        for encounter in self.encounters(reach, &places, &places, &nothing) {
            let witness = self.witness(&encounter, (reach.bodies, &still), &places);
            let distance = witness.map(|w| w.distance);
            if !distance.is_some_and(|d| d > 0.0) {
                let pair = [0, 1].map(|side| self.body_of(&encounter, side));
                return Err(Failure::Overlap(pair, -distance.unwrap_or(0.0)));
            }
        }
        Ok(())
    }

    /// How near two primitives are with vertices at `places` and bodies moved by `way`. `None`
    /// where no direction can be told.
    pub(crate) fn witness(
        &self,
        encounter: &Encounter,
        (bodies, way): (&Bodies<S>, &[Motion<S>]),
        places: &[[f64; 3]],
    ) -> Option<Witness> {
        let pose = |wall: u32| self.wall_at(wall, bodies, &way[self.wall_body(wall)]);
        self.witness_of(encounter, place_in(places), pose)
    }

    /// How near two primitives are with vertices at their places and bodies where they stand.
    pub(crate) fn witness_at(
        &self,
        encounter: &Encounter,
        bodies: &Bodies<S>,
        place: impl Fn(u32) -> DVec3,
    ) -> Option<Witness> {
        self.witness_of(encounter, place, |wall| {
            self.wall_at(wall, bodies, &Motion::default())
        })
    }

    /// How near two primitives are with vertices at their places; `pose` gives a wall's unit vector
    /// and a point of it.
    pub(crate) fn witness_of(
        &self,
        encounter: &Encounter,
        place: impl Fn(u32) -> DVec3,
        pose: impl Fn(u32) -> (DVec3, DVec3),
    ) -> Option<Witness> {
        let thickness = self.thickness(encounter);
        match encounter {
            Encounter::Pair(pair) => {
                let near: Near = nearest(pair, &place);
                let [a, b] = pair.vertices();
                let blend = |vertices: [u32; 3], weights: [f64; 3]| {
                    let [p, q, r] = vertices.map(&place);
                    p * weights[0] + q * weights[1] + r * weights[2]
                };
                let from = blend(a, near.a);
                let normal = (blend(b, near.b) - from).try_normalize()?;
                let distance = near.distance - thickness;
                let radius = self.vertices[a[0] as usize].radius;
                Some(Witness {
                    weights: [near.a, near.b],
                    normal,
                    distance,
                    middle: from + normal * (radius + 0.5 * distance),
                })
            }
            Encounter::Wall(wall, v) => {
                let (normal, point) = pose(*wall);
                let x = place(*v);
                let height = normal.dot(x - point);
                let distance = height - thickness;
                Some(Witness {
                    weights: [[0.0; 3], [1.0, 0.0, 0.0]],
                    normal,
                    distance,
                    middle: x - normal * (thickness + 0.5 * distance),
                })
            }
        }
    }

    /// The part of the motion from `start` to `end` after which two primitives are nearer than
    /// `keep` (m), if ever: first a part to stop at, with some room left, then the first touch.
    pub(crate) fn hit(
        &self,
        encounter: &Encounter,
        [from, to]: [Placed<'_, S>; 2],
        bodies: &Bodies<S>,
        keep: f64,
    ) -> Option<(f64, f64)> {
        let thickness = self.thickness(encounter);
        match encounter {
            Encounter::Pair(pair) => {
                let hit = impact(pair, from.0, to.0, thickness + keep)?;
                Some((hit.safe, hit.earliest))
            }
            Encounter::Wall(wall, v) => {
                // A half-space has no far side to come out of: the end tells all. Between, the
                // distance is linear unless the wall turns, and then halving comes near enough.
                let height = |places: &[[f64; 3]], way: &[Motion<S>]| {
                    let moved = &way[self.wall_body(*wall)];
                    let (normal, point) = self.wall_at(*wall, bodies, moved);
                    normal.dot(DVec3::from_array(places[*v as usize]) - point) - thickness - keep
                };
                let (before, after) = (height(from.0, from.1), height(to.0, to.1));
                if after > 0.0 {
                    return None;
                }
                if before <= 0.0 {
                    return Some((0.0, 0.0));
                }
                let touch = before / (before - after);
                Some((0.9 * touch, touch))
            }
        }
    }

    /// How far each vertex may stray from the straight line as its body goes `way`, m: an arc of
    /// radius r and angle φ is no farther from its chord than r φ²/8.
    pub(crate) fn bulge(&self, way: &[Motion<S>]) -> Vec<f64> {
        let of = |v: &super::Vertex<S>| {
            let turn = way[v.body as usize].spin.length();
            if turn > 0.0 {
                solid::<S>(v.local).length() * (0.125 * turn * turn).min(2.0)
            } else {
                0.0
            }
        };
        self.vertices.iter().map(of).collect()
    }
}

/// Where vertices are, m, and how far their bodies have gone to be there.
type Placed<'a, S> = (&'a [[f64; 3]], &'a [Motion<S>]);
