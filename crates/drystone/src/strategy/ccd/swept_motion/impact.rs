//! Impacts: two primitives, the time they meet, and the bodies that take part.

use crate::contact::detection::Contact;
use crate::contact::primitives::{Encounter, Primitives, Witness, contact_of, nodes_of};
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::Pair;
use crate::math::algebra::Components;
use crate::model::body::Bodies;
use crate::model::material::Materials;
use crate::parallel::thread_pool;

/// An impact on the way. There may be hundreds of thousands, so nothing is kept that can be told from
/// the rest: see [`Parties::contact`].
#[derive(Clone, Debug)]
pub(in crate::strategy::ccd) struct Impact<S: Space> {
    pub(in crate::strategy::ccd) encounter: Encounter,
    /// How near the two are when it happens.
    pub(super) witness: Witness,
    /// Part of the way to stop at, with room left.
    pub(in crate::strategy::ccd) safe: f64,
    /// Part of the way at which it happens.
    pub(in crate::strategy::ccd) time: f64,
    /// Impulse of the last step on the second body, N·s.
    pub(in crate::strategy::ccd) impulse: S::Vector,
    /// Where the centres of the two bodies are then, m.
    pub(super) centers: [S::Vector; 2],
    /// Distance along the normal at the start, and the one to rest at, m.
    pub(super) gap: f64,
    pub(super) rest: f64,
    /// A number for the point of contact: impacts with the same one are the same.
    pub(in crate::strategy::ccd) point: u64,
}

impl<S: Space> Impact<S> {
    /// The same impact at the moment it happens: no more than what is kept is left.
    pub(in crate::strategy::ccd) fn closed(mut self) -> Self {
        self.gap = self.witness.distance;
        self
    }
}

/// What impacts are between: all that makes contacts of them. Threads may share it.
pub(in crate::strategy::ccd) struct Parties<'a, S: Space> {
    pub(in crate::strategy::ccd) bodies: &'a Bodies<S>,
    /// Of each body: what an impulse of 1 N·s does to its velocity, 1/kg. 0 where it is moved by
    /// none, no number where it is not as heavy along all axes.
    pub(super) answers: &'a [f64],
    pub(super) primitives: &'a Primitives<S>,
    pub(super) materials: &'a Materials,
}

impl<S: Space> Clone for Parties<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Space> Copy for Parties<'_, S> {}

impl<S: Space> Parties<'_, S> {
    /// Whether impulses move a body.
    #[inline]
    pub(in crate::strategy::ccd) fn moves(&self, body: u32) -> bool {
        self.answers[body as usize] != 0.0
    }

    /// The bodies of an impact, some of them several times.
    pub(in crate::strategy::ccd) fn of(&self, hit: &Impact<S>) -> [u32; 6] {
        let (encounter, witness) = (&hit.encounter, &hit.witness);
        let nodes = nodes_of(self.primitives, encounter, witness, self.bodies);
        let body = |side: usize| self.primitives.body_of(encounter, side);
        let of = |side: usize| nodes[side].map_or([body(side); 3], |point| point.bodies);
        let ([a, b, c], [d, e, f]) = (of(0), of(1));
        [a, b, c, d, e, f]
    }

    /// Whether no other encounter can be at the same point: deformables that meet within a face or
    /// within edges.
    pub(super) fn is_alone(&self, hit: &Impact<S>) -> bool {
        let Encounter::Pair(pair) = &hit.encounter else {
            return false;
        };
        let ([a, ..], [b, ..]) = (pair.vertices()[0], pair.vertices()[1]);
        let is_soft = |v: u32| self.primitives.soft_radius(self.bodies, v).is_some();
        let within = |side: usize, count: usize| {
            let weights = hit.witness.weights[side].iter();
            weights.take(count).all(|&weight| weight > 0.0)
        };
        let is_within = match pair {
            Pair::FaceVertex(..) => within(0, 3),
            Pair::Edges(..) => within(0, 2) && within(1, 2),
            Pair::EdgeVertex(..) => within(0, 2),
        };
        is_within && is_soft(a) && is_soft(b)
    }

    /// A number for the point of contact: the nodes that take part on either side, and where it is
    /// if a corner of a rigid body does. Two points have the same one by an accident of one in 10¹⁹.
    pub(super) fn point(&self, hit: &Impact<S>) -> u64 {
        let mix = |sum: u64, part: u64| {
            let x = (sum ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 32
        };
        let bodies = self.of(hit);
        let sum = bodies.iter().fold(0, |sum, &k| mix(sum, u64::from(k) + 1));
        if [bodies[0], bodies[3]]
            .iter()
            .all(|&k| self.bodies.node_of[k as usize] != 0)
        {
            return sum;
        }
        // Corners of rigid bodies are told apart by where they are.
        let place = hit.witness.middle.to_array();
        place.into_iter().fold(sum, |sum, x| mix(sum, x.to_bits()))
    }

    /// An impact as a contact, without an impulse.
    pub(in crate::strategy::ccd) fn contact(&self, hit: &Impact<S>) -> Contact<S> {
        let (encounter, witness) = (&hit.encounter, &hit.witness);
        contact_of(
            self.primitives,
            encounter,
            witness,
            self.bodies,
            self.materials,
        )
    }
}

/// Of each body: what [`Parties::answers`] says.
pub(super) fn answers<S: Space>(bodies: &Bodies<S>, threads: usize) -> Vec<f64> {
    let of = |k: usize| {
        let inv_mass = bodies.inertial[k].inv_mass;
        let answer = inv_mass.component(0);
        match bodies.is_dynamic(k) {
            true if inv_mass == S::Vector::splat(answer) && answer > 0.0 => answer,
            true => f64::NAN,
            false => 0.0,
        }
    };
    thread_pool::gather_from(bodies.len(), threads, |part, list| {
        list.extend(part.map(of));
    })
}
