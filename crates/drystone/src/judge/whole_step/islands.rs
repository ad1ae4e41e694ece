//! Which bodies acted on each other in a step, and the balance of each such island.
//!
//! Inside an island energy and momentum go from one body to another; nothing but forces from outside
//! may add to their sum. Bodies that nothing acted on are islands of their own, so a gain of one can't
//! hide behind friction elsewhere.

use super::body::Balance;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::union_find::UnionFind;
use crate::model::body::Bodies;
use crate::model::deformable::Deformables;
use crate::model::joint::Joints;

/// Stands for no island.
pub(super) const NONE: u32 = u32::MAX;

/// What bodies that acted on each other gained and lost together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Island<S: Space> {
    /// Whether something outside took part that may take or give momentum: something fixed, scripted
    /// or locked.
    pub(super) is_held: bool,
    /// Whether surfaces touched, so that friction and impact may take energy.
    pub(super) is_touched: bool,
    /// Whether anything else in it is made to take energy: damped springs, elastic damping, stops.
    pub(super) is_damped: bool,
    /// How many bodies it has.
    pub(super) bodies: u32,
    /// Energy gained beyond the work of forces and damping, J.
    pub(super) energy: f64,
    /// What can't be told from rounding, J.
    pub(super) round_off: f64,
    /// Energy that is there, J, and that was there before the step.
    pub(super) scale: f64,
    pub(super) had: f64,
    /// kg.
    pub(super) mass: f64,
    /// The body that gained most, and how much, J.
    pub(super) most: (u32, f64),
    /// The body that lost most, and how much, J.
    pub(super) least: (u32, f64),
    /// Momentum gained beyond the impulse of forces, N·s, and what is there.
    pub(super) momentum: S::Vector,
    pub(super) momentum_scale: f64,
    /// Angular momentum gained, N·m·s, about `center`, and what is there.
    pub(super) spin: S::Spin,
    pub(super) spin_scale: f64,
    /// Its first body, and where that is after the step, m.
    pub(super) first: u32,
    pub(super) center: S::Vector,
}

impl<S: Space> Island<S> {
    fn new(first: u32, center: S::Vector) -> Self {
        Self {
            is_held: false,
            is_touched: false,
            is_damped: false,
            bodies: 0,
            energy: 0.0,
            round_off: 0.0,
            scale: 0.0,
            had: 0.0,
            mass: 0.0,
            most: (NONE, 0.0),
            least: (NONE, 0.0),
            momentum: S::Vector::default(),
            momentum_scale: 0.0,
            spin: S::Spin::default(),
            spin_scale: 0.0,
            first,
            center,
        }
    }

    /// Whether energy may be lost in it.
    pub(super) fn may_lose(&self) -> bool {
        self.is_touched || self.is_damped
    }

    /// Adds the balance of a body that it takes `lift` to raise by its radius, J.
    pub(super) fn add(&mut self, k: u32, balance: &Balance<S>, mass: f64, lift: f64) {
        let [before, after] = balance.kinetic;
        let others = lift + balance.given.abs();
        self.scale += before.max(after) + others;
        self.had += before + others;
        self.mass += mass;
        let energy = balance.energy();
        self.bodies += 1;
        self.energy += energy;
        self.round_off += balance.round_off;
        self.momentum += balance.momentum;
        self.momentum_scale += balance.momentum_scale;
        self.spin += balance.spin;
        self.spin_scale += balance.spin_scale;
        if energy > self.most.1 {
            self.most = (k, energy);
        }
        if energy < self.least.1 {
            self.least = (k, energy);
        }
    }
}

/// The islands of a step; kept for its memory.
#[derive(Clone, Debug)]
pub(super) struct Islands<S: Space> {
    forest: UnionFind,
    /// Island of each body that moves.
    pub(super) of: Vec<u32>,
    pub(super) list: Vec<Island<S>>,
}

impl<S: Space> Default for Islands<S> {
    fn default() -> Self {
        Self {
            forest: UnionFind::new(0),
            of: Vec::new(),
            list: Vec::new(),
        }
    }
}

/// Whether a contact acted in the step: it gave an impulse, or there was an overlap to repair.
pub(super) fn acts<S: Space>(contact: &Contact<S>) -> bool {
    contact.impulse != S::Vector::default() || contact.point.separation < 0.0
}

impl<S: Space> Islands<S> {
    /// Finds out which bodies acted on each other.
    pub(super) fn find(
        &mut self,
        bodies: &Bodies<S>,
        contacts: &[Contact<S>],
        joints: &Joints<S>,
        deformables: &Deformables,
    ) {
        self.forest.reset(bodies.len());
        for contact in contacts.iter().filter(|contact| acts(contact)) {
            self.join(bodies, contact.bodies());
        }
        for (_, joint) in joints.iter() {
            self.join(bodies, [joint.a, joint.b].into_iter());
        }
        for soft in deformables.iter() {
            self.join(bodies, soft.nodes.iter().copied());
            for held in &soft.attached {
                self.join(bodies, [held.node, held.body].into_iter());
            }
        }
        self.number(bodies);
        for contact in contacts.iter().filter(|contact| acts(contact)) {
            let is_touch = contact.is_touch();
            self.note(bodies, contact.bodies(), |island| {
                island.is_touched |= is_touch;
            });
        }
        for (_, joint) in joints.iter() {
            self.note(bodies, [joint.a, joint.b].into_iter(), |_| {});
        }
        for soft in deformables.iter() {
            self.note(bodies, soft.nodes.iter().copied(), |island| {
                island.is_damped = true;
            });
            for held in &soft.attached {
                self.note(bodies, [held.node, held.body].into_iter(), |_| {});
            }
        }
    }

    /// Joins those of some bodies that move.
    fn join(&mut self, bodies: &Bodies<S>, some: impl Iterator<Item = u32>) {
        let mut first = None;
        for k in some.filter(|&k| bodies.is_dynamic(k as usize)) {
            match first {
                Some(first) if first == k => {}
                Some(first) => self.forest.join(first, k),
                None => first = Some(k),
            }
        }
    }

    /// Numbers the islands in the order of their first bodies.
    fn number(&mut self, bodies: &Bodies<S>) {
        self.list.clear();
        self.of.clear();
        self.of.resize(bodies.len(), NONE);
        for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k)) {
            let lead = self.forest.lowest(k as u32) as usize;
            if lead == k {
                self.of[k] = self.list.len() as u32;
                self.list.push(Island::new(k as u32, bodies.position[k]));
            } else {
                self.of[k] = self.of[lead];
            }
            if is_locked(bodies, k) {
                self.list[self.of[k] as usize].is_held = true;
            }
        }
    }

    /// Changes the island of some bodies that act on each other; it is held if one of them can't move.
    fn note(
        &mut self,
        bodies: &Bodies<S>,
        some: impl Iterator<Item = u32>,
        change: impl FnOnce(&mut Island<S>),
    ) {
        let (mut island, mut is_held) = (NONE, false);
        for k in some {
            if bodies.is_dynamic(k as usize) {
                island = self.of[k as usize];
            } else {
                is_held = true;
            }
        }
        if let Some(island) = self.list.get_mut(island as usize) {
            island.is_held |= is_held;
            change(island);
        }
    }

    /// The island of a body, if it moves.
    pub(super) fn of_body(&mut self, k: u32) -> Option<&mut Island<S>> {
        self.list.get_mut(*self.of.get(k as usize)? as usize)
    }
}

/// Whether a body can't move along or turn about some axis, so that something outside holds it.
fn is_locked<S: Space>(bodies: &Bodies<S>, k: usize) -> bool {
    let inertial = &bodies.inertial[k];
    let is_free = |axis| inertial.inv_mass.component(axis) > 0.0;
    let turns = |axis| inertial.free_spins.component(axis) > 0.0;
    !((0..S::DIM).all(is_free) && (0..S::SPIN_DIM).all(turns))
}
