//! Contacts of faces, edges and nodes of deformables with each other and with rigid bodies.
//!
//! Wherever two primitives come nearer than their thicknesses, or would in the coming step, their
//! nearest points are a contact with a [weighted sum of nodes](crate::contact::problem::Side::Nodes) on
//! each side that is a deformable. Nearest points at an end of an edge or on the border of a face
//! belong to several primitives; such contacts are kept once. Motion that escapes this look ahead
//! is caught by [`crate::dynamics::failsafe`].
//!
//! # What nodes find by themselves
//!
//! Nodes are balls of half the thickness h and touch rigid bodies as balls do. Between them, a
//! face dips towards a body of radius R. Let its nodes be at least R + h away from the body's
//! core C (a convex set), p any point of it, $p = \sum w_i x_i$, and c the point of C nearest to
//! p, δ away. Then
//!
//! $$ \sum_i w_i |x_i - c|^2 = \delta^2 + \sum_i w_i |x_i - p|^2 \le \delta^2 + \rho^2 , $$
//!
//! where ρ is the radius of the least circle around the face (at most its longest edge over √3; for
//! an edge, half its length), so $\delta^2 \ge (R+h)^2 - \rho^2$. Where that is enough to stay a
//! quarter of h out of the body, the face needs no contacts of its own.

use super::deformable_surface::{Finder, Purpose, Shell, around};
use crate::contact::detection::{Contact, Lookahead, NodePoint};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::{
    Near, Pair, blend, impact, nearest, place_in, stays_apart,
};
use crate::geometry::shape::{ContactPoint, FeatureId};
use crate::math::algebra::vector;
use crate::model::body::Bodies;
use crate::model::deformable::store::Deformables;
use glamx::DVec3;

/// How near a pair is always in contact, as a part of its thickness.
const MARGIN: f64 = 0.25;
/// Nearer than this part of the thickness no direction can be told, and there is no contact.
const NEAREST: f64 = 1e-6;
/// Part of half the thickness by which nodes must keep faces out of a body to be enough.
const KEPT_OUT: f64 = 0.25;
/// Sine of the angle below which two edges are parallel.
const PARALLEL: f64 = 0.05;
/// Weight of a node from which on a point of a face is that node.
const AT_NODE: f64 = 1.0 - 1e-9;

/// A contact's bodies on either side, and the points of a rigid body that it is at.
type Key = ([[u32; 3]; 2], FeatureId);

/// All contacts of faces and edges of deformables that can matter in the coming step. `previous`
/// are those of the last step, whose impulses they take over.
pub(crate) fn contacts<S: Space>(
    deformables: &Deformables,
    bodies: &Bodies<S>,
    rules: &PairRules<'_, S>,
    ahead: &Lookahead,
    previous: &[Contact<S>],
) -> Vec<Contact<S>> {
    if deformables.is_empty() {
        return Vec::new();
    }
    let course = Course::new(deformables, bodies, ahead);
    let mut finder = Finder::default();
    let pairs = course
        .shell
        .pairs(&course.start, &course.end, 1.0 + MARGIN, &mut finder);
    let made = pairs
        .iter()
        .filter_map(|pair| course.contact(pair, bodies, rules));
    let mut found: Vec<(Key, Contact<S>)> =
        made.map(|contact| (key_of(&contact), contact)).collect();
    // Stable: of contacts with one name the first pair's is kept.
    found.sort_by_key(|(key, _)| *key);
    found.dedup_by_key(|(key, _)| *key);
    let mut known: Vec<(Key, S::Vector)> =
        previous.iter().map(|c| (key_of(c), c.impulse)).collect();
    known.sort_by_key(|(key, _)| *key);
    let with_impulse = |(key, contact): (Key, Contact<S>)| {
        let place = known.binary_search_by_key(&key, |(key, _)| *key);
        Contact {
            impulse: place.map_or_else(|_| S::Vector::default(), |at| known[at].1),
            ..contact
        }
    };
    found.into_iter().map(with_impulse).collect()
}

/// The name of a contact from step to step.
fn key_of<S: Space>(contact: &Contact<S>) -> Key {
    let of = |body: u32, nodes: Option<NodePoint>| nodes.map_or([body; 3], |n| n.bodies);
    let sides = [
        of(contact.a, contact.nodes[0]),
        of(contact.b, contact.nodes[1]),
    ];
    (sides, contact.point.feature)
}

/// Where everything is and goes in the coming step, if nothing stops it.
struct Course {
    shell: Shell,
    start: Vec<[f64; 3]>,
    end: Vec<[f64; 3]>,
}

impl Course {
    fn new<S: Space>(deformables: &Deformables, bodies: &Bodies<S>, ahead: &Lookahead) -> Self {
        let mut shell = Shell::new(deformables, bodies);
        let place = |&k: &u32| bodies.position[k as usize];
        let later = |&k: &u32| place(&k) + bodies.motion[k as usize].linear * ahead.dt;
        let now = shell.nodes().iter().map(place);
        let near = around::<S>(now.chain(shell.nodes().iter().map(later)));
        let widest =
            (0..shell.nodes().len() as u32).fold(0.0, |most: f64, v| most.max(shell.depth(v)));
        if let Some(near) = near {
            let near = near.grown((1.0 + MARGIN) * widest);
            shell.add_rigid(bodies, &near, ahead.dt, Purpose::Contact);
        }
        let (start, speeds) = (shell.places(bodies), shell.speeds(bodies));
        let moved = |(x, v): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| x[k] + ahead.dt * v[k]);
        Self {
            end: start.iter().zip(&speeds).map(moved).collect(),
            start,
            shell,
        }
    }

    /// The contact of a pair, where it is one.
    fn contact<S: Space>(
        &self,
        pair: &Pair,
        bodies: &Bodies<S>,
        rules: &PairRules<'_, S>,
    ) -> Option<Contact<S>> {
        let shell = &self.shell;
        let near = nearest(pair, place_in(&self.start));
        let touch = self.touch(pair, &near)?;
        let near = touch.near;
        if shell.is_seen_by_faces(pair) && !is_crossing(pair, &near, &self.start) {
            return None;
        }
        let rigid = self.rigid_side(pair);
        if shell.is_tied(bodies, pair) {
            return None;
        }
        if rigid.is_some_and(|side| self.is_found_by_nodes(pair, &near, side)) {
            return None;
        }
        let [a, b] = sides(shell, pair, &near);
        let (a_body, b_body) = (a.bodies[0], b.bodies[0]);
        let moves = |side: &NodePoint| side.bodies.iter().any(|&k| bodies.is_dynamic(k as usize));
        let groups = |k: u32| bodies.groups[k as usize];
        let id = |k: u32| bodies.id(k as usize);
        let hooks = rules.hooks.filter(|_| rigid.is_some());
        let allowed = groups(a_body).allow(groups(b_body))
            && hooks.is_none_or(|hooks| hooks.allows(id(a_body), id(b_body)));
        if !((moves(&a) || moves(&b)) && allowed) {
            return None;
        }
        let material = |k: u32| bodies.material[k as usize];
        let of_nodes = |side: usize, point| (rigid != Some(side)).then_some(point);
        Some(Contact {
            a: a_body,
            b: b_body,
            point: ContactPoint {
                position: vector::<S>(touch.position),
                normal: vector::<S>(touch.normal),
                separation: touch.separation,
                feature: self.feature(pair, rigid),
            },
            surface: rules.materials.between(material(a_body), material(b_body)),
            slide: S::Vector::default(),
            impulse: S::Vector::default(),
            bend: 0.0,
            anchor: S::Vector::default(),
            nodes: [of_nodes(0, a), of_nodes(1, b)],
        })
    }

    /// Which side of a pair is a rigid body's, if one is.
    fn rigid_side(&self, pair: &Pair) -> Option<usize> {
        let vertices = pair.vertices();
        (0..2).find(|&side| self.shell.is_rigid(vertices[side][0]))
    }

    /// Points of a rigid body that the contact is at: they tell contacts of one body apart.
    fn feature(&self, pair: &Pair, rigid: Option<usize>) -> FeatureId {
        let Some(side) = rigid else {
            return FeatureId::default();
        };
        let [v, w, _] = pair.vertices()[side];
        FeatureId {
            feature_a: self.shell.number_in_body(v),
            feature_b: self.shell.number_in_body(w),
            ..FeatureId::default()
        }
    }

    /// Whether nodes alone keep a pair with a rigid body apart: see the
    /// [module documentation](self).
    fn is_found_by_nodes(&self, pair: &Pair, near: &Near, rigid: usize) -> bool {
        let soft = 1 - rigid;
        let weights = [near.a, near.b][soft];
        if weights.iter().any(|&w| w >= AT_NODE) {
            return true;
        }
        let round = self.shell.rounding(pair);
        let half = self.shell.thickness(pair);
        let [p, q, r] = pair.vertices()[soft].map(place_in(&self.start));
        let longest = (p - q)
            .length_squared()
            .max((q - r).length_squared())
            .max((r - p).length_squared());
        let is_face = matches!(pair, Pair::FaceVertex(..));
        let rho = longest / if is_face { 3.0 } else { 4.0 };
        (round + half).powi(2) - rho >= (round + KEPT_OUT * half).powi(2)
    }

    /// How a pair touches, nearly touches or will in the step.
    fn touch(&self, pair: &Pair, near: &Near) -> Option<Touch> {
        let shell = &self.shell;
        let (thickness, distance) = (shell.thickness(pair), shell.touching(pair));
        if near.distance < NEAREST * thickness {
            return None;
        }
        let separation = near.distance - distance;
        if separation <= MARGIN * thickness {
            let gap = self.gap(pair, near, &self.start);
            return Some(self.touch_along(pair, *near, gap / near.distance, separation));
        }
        if stays_apart(pair, [&self.start, &self.end], near, distance) {
            return None;
        }
        // With the normal of the moment they meet, and what may close along it until then.
        let hit = impact(pair, &self.start, &self.end, distance)?;
        let at = |v: u32| {
            let [from, to] = [&self.start, &self.end].map(|x| DVec3::from_array(x[v as usize]));
            from + (to - from) * hit.earliest
        };
        let then = nearest(pair, at);
        let [a, b] = pair.vertices();
        let place = |vertices: [u32; 3], weights: [f64; 3]| {
            let [p, q, r] = vertices.map(at);
            p * weights[0] + q * weights[1] + r * weights[2]
        };
        let normal = (place(b, then.b) - place(a, then.a)).try_normalize()?;
        let separation = normal.dot(self.gap(pair, &then, &self.start)) - distance;
        Some(self.touch_along(pair, then, normal, separation.max(0.0)))
    }

    fn gap(&self, pair: &Pair, near: &Near, places: &[[f64; 3]]) -> DVec3 {
        let [a, b] = pair.vertices();
        blend(places, b, near.b) - blend(places, a, near.a)
    }

    fn touch_along(&self, pair: &Pair, near: Near, normal: DVec3, separation: f64) -> Touch {
        let [a, b] = pair.vertices();
        let from = blend(&self.start, a, near.a) + normal * self.shell.depth(a[0]);
        let to = blend(&self.start, b, near.b) - normal * self.shell.depth(b[0]);
        // On the surface of a rigid body, which an impulse there may turn; else half-way.
        let position = match self.rigid_side(pair) {
            Some(0) => from,
            Some(_) => to,
            None => (from + to) * 0.5,
        };
        Touch {
            near,
            position,
            normal,
            separation,
        }
    }
}

/// How two primitives touch.
struct Touch {
    near: Near,
    position: DVec3,
    normal: DVec3,
    separation: f64,
}

/// Whether two edges are nearest inside both and not parallel. If not, their ends are nearest to
/// the other's faces, and those contacts are enough.
fn is_crossing(pair: &Pair, near: &Near, start: &[[f64; 3]]) -> bool {
    let Pair::Edges(first, second) = *pair else {
        return true;
    };
    let [p, q] = [first, second].map(|edge| {
        let [from, to] = edge.map(place_in(start));
        to - from
    });
    let inside = |weights: [f64; 3]| weights[0] > 0.0 && weights[1] > 0.0;
    inside(near.a) && inside(near.b) && p.cross(q).length() > PARALLEL * p.length() * q.length()
}

/// Both sides as sums of bodies: those with weight first, by number, the rest repeated with none.
fn sides(shell: &Shell, pair: &Pair, near: &Near) -> [NodePoint; 2] {
    let side = |vertices: [u32; 3], weights: [f64; 3]| {
        let mut list = [(u32::MAX, 0.0); 3];
        for (entry, (&v, weight)) in list.iter_mut().zip(vertices.iter().zip(weights)) {
            if weight > 0.0 {
                *entry = (shell.bodies[v as usize], weight);
            }
        }
        // By number, so that a contact keeps its name while weights change.
        list.sort_unstable_by_key(|(body, _)| *body);
        let first = list[0].0;
        NodePoint {
            bodies: list.map(|(body, weight)| if weight > 0.0 { body } else { first }),
            weights: list.map(|(_, weight)| weight),
        }
    };
    let [a, b] = pair.vertices();
    [side(a, near.a), side(b, near.b)]
}
