//! Distances at which impacts rest where there is no room for them.
//!
//! What is nearer to something than it should rest opens slowly. In a slot that is narrower than two
//! such distances both sides would ask for it, against each other: no velocity is right, impulses grow
//! from sweep to sweep and from step to step, and their friction stops whatever slides in the slot.
//! So a body between two things that can't give way rests in the middle of what there is.

use super::Hit;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;

/// Cosine of the angle between two normals from which on they are against each other.
const AGAINST: f64 = -0.7;

/// A body's side that is too near to something that can't give way.
struct Tight<S: Space> {
    body: u32,
    hit: usize,
    /// Out of the body.
    out: S::Vector,
}

/// The distance at which each impact rests, m.
pub(super) fn rests<S: Space>(
    bodies: &Bodies<S>,
    hits: &[&Hit<S>],
    contacts: &[Contact<S>],
) -> Vec<f64> {
    let mut rests: Vec<f64> = hits.iter().map(|hit| hit.rest).collect();
    let mut tight: Vec<Tight<S>> = Vec::new();
    for (k, (hit, contact)) in hits.iter().zip(contacts).enumerate() {
        let moves = [contact.a, contact.b].map(|body| bodies.is_dynamic(body as usize));
        if hit.gap >= hit.rest || contact.is_soft() || moves[0] == moves[1] {
            continue;
        }
        let (body, out) = match moves {
            [true, _] => (contact.a, contact.point.normal),
            _ => (contact.b, -contact.point.normal),
        };
        let hit = k;
        tight.push(Tight { body, hit, out });
    }
    // Stable: in the order of impacts.
    tight.sort_by_key(|side| side.body);
    for sides in tight.chunk_by(|a, b| a.body == b.body) {
        for (at, one) in sides.iter().enumerate() {
            for other in &sides[at + 1..] {
                if one.out.dot(other.out) < AGAINST {
                    let middle = 0.5 * (hits[one.hit].gap + hits[other.hit].gap);
                    for k in [one.hit, other.hit] {
                        rests[k] = rests[k].min(middle);
                    }
                }
            }
        }
    }
    rests
}
