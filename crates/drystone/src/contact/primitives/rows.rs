//! From encounters to contacts and rows of a contact problem.

use super::{Encounter, Primitives, Witness};
use crate::contact::detection::{Contact, NodePoint};
use crate::contact::problem::{Row, Side};
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::Pair;
use crate::geometry::shape::{ContactPoint, FeatureId};
use crate::math::algebra::Linear;
use crate::math::algebra::vector;
use crate::model::body::{Bodies, Kind};
use crate::model::material::Materials;

/// A contact between two primitives. Belts move it, hooks do not.
pub(crate) fn contact_of<S: Space>(
    primitives: &Primitives<S>,
    encounter: &Encounter,
    witness: &Witness,
    bodies: &Bodies<S>,
    materials: &Materials,
) -> Contact<S> {
    let [a, b] = [0, 1].map(|side| primitives.body_of(encounter, side));
    let normal = vector::<S>(witness.normal);
    let belt = |k: u32| {
        S::rotate(
            bodies.rotation[k as usize],
            bodies.surface_velocity[k as usize],
        )
    };
    let slide = belt(b) - belt(a);
    let material = |k: u32| bodies.material[k as usize];
    Contact {
        a,
        b,
        point: ContactPoint {
            position: vector::<S>(witness.middle),
            normal,
            separation: witness.distance,
            feature: feature_of(encounter),
        },
        surface: materials.between(material(a), material(b)),
        slide: slide - normal * normal.dot(slide),
        impulse: S::Vector::default(),
        bend: 0.0,
        anchor: S::Vector::default(),
        nodes: nodes_of(primitives, encounter, witness, bodies),
    }
}

/// The points between nodes that sides are, where they are such.
pub(crate) fn nodes_of<S: Space>(
    primitives: &Primitives<S>,
    encounter: &Encounter,
    witness: &Witness,
    bodies: &Bodies<S>,
) -> [Option<NodePoint>; 2] {
    [0, 1].map(|side| node_point(primitives, encounter, witness, bodies, side))
}

/// The key of an encounter as a feature: what it is in the two highest bits, then its vertices. So
/// contacts of one step are recognised in the next.
pub(crate) fn feature_of(encounter: &Encounter) -> FeatureId {
    let [kind, first, second, third, fourth] = encounter.key();
    FeatureId {
        part_a: kind << 30 | first,
        part_b: second,
        feature_a: third,
        feature_b: fourth,
    }
}

impl<S: Space> Primitives<S> {
    /// The encounter of a feature, if there are such primitives.
    pub(crate) fn encounter_of(&self, feature: &FeatureId) -> Option<Encounter> {
        let (kind, first) = (feature.part_a >> 30, feature.part_a & ((1 << 30) - 1));
        let [second, third, fourth] = [feature.part_b, feature.feature_a, feature.feature_b];
        let encounter = match kind {
            0 => Encounter::Pair(Pair::FaceVertex([first, second, third], fourth)),
            1 => Encounter::Pair(Pair::Edges([first, second], [third, fourth])),
            2 => Encounter::Pair(Pair::EdgeVertex([first, second], third)),
            _ => Encounter::Wall(first, second),
        };
        let has = |v: u32| (v as usize) < self.vertices.len();
        let has_wall = kind != 3 || (first as usize) < self.walls.len();
        let mut vertices = encounter.vertices().into_iter().flatten().flatten();
        (has_wall && vertices.all(has)).then_some(encounter)
    }
}

/// The point between nodes that a side is, where it is one: those with weight first, by number.
fn node_point<S: Space>(
    primitives: &Primitives<S>,
    encounter: &Encounter,
    witness: &Witness,
    bodies: &Bodies<S>,
    side: usize,
) -> Option<NodePoint> {
    let vertices = encounter.vertices()[side]?;
    let mut list = [(u32::MAX, 0.0); 3];
    for ((entry, &v), weight) in list.iter_mut().zip(&vertices).zip(witness.weights[side]) {
        if weight > 0.0 {
            *entry = (primitives.vertices[v as usize].body, weight);
        }
    }
    list.sort_unstable_by_key(|(body, _)| *body);
    let (first, _) = list[0];
    if bodies
        .node_of
        .get(first as usize)
        .is_none_or(|&soft| soft == 0)
    {
        return None;
    }
    let body = |(body, weight): (u32, f64)| if weight > 0.0 { body } else { first };
    Some(NodePoint {
        bodies: list.map(body),
        weights: list.map(|(_, weight)| weight),
    })
}

/// A contact as a row, with the bodies' centres of mass at these places (m) as it acts. Normal
/// velocity must not be less than `target`, m/s.
pub(crate) fn row_of<S: Space>(
    contact: &Contact<S>,
    bodies: &Bodies<S>,
    centers: [S::Vector; 2],
    target: f64,
) -> Row<S> {
    let side = |body: u32, nodes: Option<NodePoint>, center: S::Vector| {
        let k = body as usize;
        match (nodes, &bodies.kind[k]) {
            (Some(NodePoint { bodies, weights }), _) => Side::Nodes { bodies, weights },
            (None, Kind::Fixed) => Side::Fixed,
            (None, Kind::Particle) => Side::Particle { body },
            (None, Kind::Rigid | Kind::Kinematic(_)) => Side::Rigid {
                body,
                arm: contact.point.position - center,
            },
        }
    };
    Row {
        a: side(contact.a, contact.nodes[0], centers[0]),
        b: side(contact.b, contact.nodes[1], centers[1]),
        basis: S::basis(contact.point.normal),
        mu: contact.surface.friction,
        target,
    }
}
