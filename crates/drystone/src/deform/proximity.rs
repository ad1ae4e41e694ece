//! Contacts between faces, edges and nodes of deformables.
//!
//! Wherever two primitives come nearer than their thicknesses, or would in the coming step, their
//! nearest points are a contact with a [weighted sum of nodes](crate::problem::Side::Nodes) on
//! either side. Nearest points at an end of an edge or on the border of a face belong to several
//! primitives; such contacts are kept once. Motion that escapes this look ahead is caught by
//! [`super::rescue`].

use super::meeting::{Near, Pair, Shell, blend, nearest, place_in};
use super::store::Deformables;
use crate::body::Bodies;
use crate::detect::{Contact, Lookahead, NodePoint};
use crate::material::Materials;
use crate::shape::{ContactPoint, FeatureId};
use crate::space::{Components, Space};
use glamx::DVec3;
use std::collections::BTreeMap;

/// How near a pair is always in contact, as a part of its thickness.
const MARGIN: f64 = 0.25;
/// Nearer than this part of the thickness no direction can be told, and there is no contact.
const NEAREST: f64 = 1e-6;

/// Sine of the angle below which two edges are parallel.
const PARALLEL: f64 = 0.05;

/// A contact's bodies on either side.
type Key = [[u32; 3]; 2];

/// All contacts among deformables that can matter in the coming step. `previous` are those of the
/// last step, whose impulses they take over.
pub(crate) fn contacts<S: Space>(
    deformables: &Deformables,
    bodies: &Bodies<S>,
    materials: &Materials,
    ahead: &Lookahead,
    previous: &[Contact<S>],
) -> Vec<Contact<S>> {
    if deformables.is_empty() {
        return Vec::new();
    }
    let known: BTreeMap<Key, S::Vector> = previous.iter().map(|c| (key_of(c), c.impulse)).collect();
    let mut shell = Shell::new(deformables, bodies);
    let fastest = shell
        .speeds(bodies)
        .iter()
        .map(|v| DVec3::from_array(*v).length())
        .fold(0.0, f64::max);
    let widest = (1.0 + MARGIN) * shell.thickest();
    shell.add_corners(bodies, widest + ahead.dt * fastest, ahead.dt);
    let (start, speeds) = (shell.places(bodies), shell.speeds(bodies));
    let end: Vec<[f64; 3]> = start
        .iter()
        .zip(&speeds)
        .map(|(x, v)| [0, 1, 2].map(|axis| x[axis] + ahead.dt * v[axis]))
        .collect();
    let mut found: BTreeMap<[[u32; 3]; 3], Contact<S>> = BTreeMap::new();
    for pair in shell.pairs(&start, &end, widest) {
        let [side_a, side_b] = pair.vertices();
        if shell.is_corner(side_a[0]) && shell.is_corner(side_b[0]) {
            continue;
        }
        let near = nearest(&pair, place_in(&start));
        if shell.is_seen_by_faces(&pair) && !is_crossing(&pair, &near, &start) {
            continue;
        }
        let Some(contact) = touch(&shell, (&start, &speeds), &pair, &near, ahead.dt) else {
            continue;
        };
        let [a, b] = sides(&shell, &pair, &near);
        let (a_body, b_body) = (a.bodies[0], b.bodies[0]);
        let moves = |side: &NodePoint| side.bodies.iter().any(|&k| bodies.is_dynamic(k as usize));
        let allowed = bodies.groups[a_body as usize].allow(bodies.groups[b_body as usize]);
        if !((moves(&a) || moves(&b)) && allowed) {
            continue;
        }
        let material = |k: u32| bodies.material[k as usize];
        let of_nodes = |side: [u32; 3], point| (!shell.is_corner(side[0])).then_some(point);
        let made = Contact {
            a: a_body,
            b: b_body,
            point: contact,
            surface: materials.between(material(a_body), material(b_body)),
            slide: S::Vector::default(),
            impulse: S::Vector::default(),
            anchor: S::Vector::default(),
            nodes: [of_nodes(side_a, a), of_nodes(side_b, b)],
        };
        // Corners and edges of one body are told apart by their numbers.
        let corner = [side_a, side_b]
            .into_iter()
            .find(|side| shell.is_corner(side[0]))
            .unwrap_or_default();
        let key = [a.bodies, b.bodies, corner];
        found.entry(key).or_insert(made);
    }
    let mut found: Vec<Contact<S>> = found.into_values().collect();
    for contact in &mut found {
        contact.impulse = known.get(&key_of(contact)).copied().unwrap_or_default();
    }
    found
}

/// The name of a contact from step to step.
fn key_of<S: Space>(contact: &Contact<S>) -> Key {
    let of = |body: u32, nodes: Option<NodePoint>| nodes.map_or([body; 3], |n| n.bodies);
    [
        of(contact.a, contact.nodes[0]),
        of(contact.b, contact.nodes[1]),
    ]
}

/// The contact point of a pair that touches, nearly touches or will in the step.
fn touch<S: Space>(
    shell: &Shell,
    (start, speeds): (&[[f64; 3]], &[[f64; 3]]),
    pair: &Pair,
    near: &Near,
    dt: f64,
) -> Option<ContactPoint<S>> {
    let thickness = shell.thickness(pair);
    if near.distance < NEAREST * thickness {
        return None;
    }
    let [a, b] = pair.vertices();
    let (from, to) = (blend(start, a, near.a), blend(start, b, near.b));
    let normal = (to - from) / near.distance;
    let separation = near.distance - thickness;
    let approach = normal.dot(blend(speeds, b, near.b) - blend(speeds, a, near.a));
    if separation > MARGIN * thickness && separation + dt * approach > 0.0 {
        return None;
    }
    Some(ContactPoint {
        position: vector::<S>((from + to) * 0.5),
        normal: vector::<S>(normal),
        separation,
        feature: FeatureId::default(),
    })
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

fn vector<S: Space>(v: DVec3) -> S::Vector {
    (0..S::DIM).fold(S::Vector::default(), |sum, axis| {
        sum.with_component(axis, v[axis])
    })
}

/// Both sides as sums of bodies: those with weight first, by weight, the rest repeated with none.
fn sides(shell: &Shell, pair: &Pair, near: &Near) -> [NodePoint; 2] {
    let side = |vertices: [u32; 3], weights: [f64; 3]| {
        let mut list: Vec<(u32, f64)> = vertices
            .iter()
            .zip(weights)
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(&v, weight)| (shell.bodies[v as usize], weight))
            .collect();
        // By number, so that a contact keeps its name while weights change.
        list.sort_unstable_by_key(|(body, _)| *body);
        let first = list.first().map_or(0, |(body, _)| *body);
        let mut point = NodePoint {
            bodies: [first; 3],
            weights: [0.0; 3],
        };
        for (k, (body, weight)) in list.into_iter().enumerate() {
            (point.bodies[k], point.weights[k]) = (body, weight);
        }
        point
    };
    let [a, b] = pair.vertices();
    [side(a, near.a), side(b, near.b)]
}
