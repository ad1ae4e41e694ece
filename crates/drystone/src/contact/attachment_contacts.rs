//! Contacts that hold nodes of deformables on rigid bodies.
//!
//! An attachment is two frictionless contacts along each axis, one against the other: they push
//! the node back from either side, so it can't leave its place on the body. Contacts, so that one
//! solve has everything and any solver serves; and the certificate counts what is left of the
//! error as penetration. Whatever moves the body, a script too, takes the node along, and the
//! node pulls at the body.
//!
//! In `velocity` a node at d from its place along an axis may come back in the step (−d/h ≤ u) but
//! not go further (u ≤ 0). [`crate::strategy::ccd`] asks more of it, and in [`crate::strategy::barrier`] there is
//! nothing to ask: the body carries the node.

use super::detection::{ATTACHED, Contact, NodePoint};
use crate::geometry::Space;
use crate::geometry::shape::{ContactPoint, FeatureId};
use crate::math::algebra::{Components, Linear, vector};
use crate::model::body::Bodies;
use crate::model::deformable::attachment::Attachment;
use crate::model::material::Surface;

/// Contacts of a step without those of attachments, which stand last, and these.
pub(crate) fn split<S: Space>(contacts: &[Contact<S>]) -> (&[Contact<S>], &[Contact<S>]) {
    contacts.split_at(contacts.partition_point(|c| c.point.feature.part_a != ATTACHED))
}

/// The contacts that hold attached nodes, with the impulses of the last step's.
pub(crate) fn contacts<'a, S: Space>(
    attached: impl IntoIterator<Item = &'a Attachment>,
    bodies: &Bodies<S>,
    previous: &[Contact<S>],
) -> Vec<Contact<S>> {
    let mut old = split(previous).1.iter().peekable();
    let mut contacts = Vec::new();
    for attachment in attached {
        for mut contact in six(attachment, bodies) {
            // Both lists are in the order of the deformables' own.
            let name = |c: &Contact<S>| (c.a, c.b, c.point.feature);
            if let Some(same) = old.next_if(|c| name(c) == name(&contact)) {
                contact.impulse = same.impulse;
            }
            contacts.push(contact);
        }
    }
    contacts
}

fn six<S: Space>(attachment: &Attachment, bodies: &Bodies<S>) -> impl Iterator<Item = Contact<S>> {
    let Attachment { node, body, anchor } = *attachment;
    let place = bodies.origin(body as usize).point(vector::<S>(anchor));
    let off = bodies.position[node as usize] - place;
    (0..2 * S::DIM).map(move |k| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let normal = S::Vector::default().with_component(k / 2, sign);
        Contact {
            a: body,
            b: node,
            point: ContactPoint {
                position: place,
                normal,
                separation: normal.dot(off),
                feature: FeatureId {
                    part_a: ATTACHED,
                    feature_a: k as u32,
                    ..FeatureId::default()
                },
            },
            surface: Surface {
                friction: 0.0,
                restitution: 0.0,
            },
            slide: S::Vector::default(),
            impulse: S::Vector::default(),
            bend: 0.0,
            anchor: S::Vector::default(),
            nodes: [
                None,
                Some(NodePoint {
                    bodies: [node; 3],
                    weights: [1.0, 0.0, 0.0],
                }),
            ],
        }
    })
}
