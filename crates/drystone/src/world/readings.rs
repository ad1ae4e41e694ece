//! Settings and time of a world, and what can be read after a step.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::{Energy, World};
use crate::contact::detection::Contact;
use crate::contact::overlaps::for_each_overlap;
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::shape::{Geometry, Separation};
use crate::judge::law::Answered;
use crate::math::algebra::{Components, Linear};
use crate::model::body::BodyId;
use crate::model::deformable::Soft;
use crate::model::material::Surface;
use crate::strategy::settings::Settings;
use crate::world::events::Event;
use drystone_frame::{Frame, FrameContact, Object, Stage, StateHash};

impl<S: Space> World<S> {
    /// How the world is stepped.
    #[must_use]
    pub fn settings(&self) -> &Settings<S> {
        &self.settings
    }

    /// Changes how the world is stepped; checked at the next step.
    pub fn settings_mut(&mut self) -> &mut Settings<S> {
        self.changes.all = true;
        &mut self.settings
    }

    /// What happened in the last step, if [`Settings::events`] asks for it; that joints broke is
    /// always told.
    #[must_use]
    pub fn events(&self) -> &[Event<S>] {
        &self.events
    }

    /// Simulated time in s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Contacts at the present poses, those that hold attached nodes and joints at the end:
    /// [`Contact::is_touch`].
    #[must_use]
    pub fn contacts(&mut self) -> &[Contact<S>] {
        self.refresh_contacts();
        &self.contacts.present
    }

    /// Contacts that the last step solved, with their impulses, those that hold attached nodes and
    /// joints at the end: [`Contact::is_touch`].
    #[must_use]
    pub fn solved_contacts(&self) -> Cow<'_, [Contact<S>]> {
        let own = self.running.stepper();
        match own.and_then(|own| own.contacts(&self.bodies, self.settings.dt)) {
            Some(own) => Cow::Owned(own),
            None => Cow::Borrowed(&self.contacts.solved),
        }
    }

    /// The problem that the last step made of its contacts, and its answer; a row's contact is
    /// that of [`World::solved_contacts`]. `None` before the first step, and with the strategies
    /// `realtime` and `parallel` after steps that are not sampled.
    #[must_use]
    pub fn last_problem(&self) -> Option<&Answered<S>> {
        self.last.as_ref()
    }

    /// Energy of all bodies that move.
    #[must_use]
    pub fn energy(&self) -> Energy {
        let mut energy = Energy {
            elastic: self.deformables.energy(&self.bodies),
            ..Energy::default()
        };
        for k in (0..self.bodies.len()).filter(|&k| self.bodies.is_dynamic(k)) {
            energy.kinetic += self.bodies.kinetic_energy(k);
            let height = self.settings.gravity.dot(self.bodies.position[k]);
            energy.potential -= self.bodies.mass(k) * height;
        }
        energy
    }

    /// The nearest body to a point and its signed distance in m (negative inside).
    #[must_use]
    pub fn signed_distance(&self, point: S::Vector) -> Option<(BodyId, f64)> {
        let mut nearest: Option<(BodyId, f64)> = None;
        for k in (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k)) {
            let distance = self.bodies.shape[k].signed_distance(&self.bodies.origin(k), point);
            if nearest.is_none_or(|(_, least)| distance < least) {
                nearest = Some((self.bodies.id(k), distance));
            }
        }
        nearest
    }

    /// The closest points of two bodies, or the deepest where they overlap.
    #[must_use]
    pub fn separation(&self, a: BodyId, b: BodyId) -> Option<Separation<S>> {
        let (pose_a, pose_b) = (self.pose(a)?, self.pose(b)?);
        let shape = |id: BodyId| &self.bodies.shape[id.index()];
        S::Shape::separation((shape(a), &pose_a), (shape(b), &pose_b))
    }

    /// Calls `visit(a, b, depth)` with the places of every two bodies that may touch and overlap
    /// (a < b), and how deep (m), in their order, until it breaks. Deformables are left out. Nothing
    /// is kept: a program that stops after so many pairs needs little time and memory however many
    /// there are.
    pub fn for_each_overlap<B>(
        &self,
        visit: impl FnMut(usize, usize, f64) -> ControlFlow<B>,
    ) -> Option<B> {
        // The list of the last step may lack joints that were made since.
        let apart = self.joints.pairs_apart();
        let rules = PairRules {
            apart: &apart,
            ..self.pair_rules()
        };
        for_each_overlap(&self.bodies, &rules, visit)
    }

    /// Friction and restitution where two bodies touch.
    #[must_use]
    pub fn surface(&self, a: BodyId, b: BodyId) -> Option<Surface> {
        let material = |id: BodyId| self.bodies.place(id).map(|k| self.bodies.material[k]);
        Some(self.materials.between(material(a)?, material(b)?))
    }

    /// A hash of poses and velocities, the same for the same state on every machine.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::new();
        hash.word(self.step);
        for k in 0..self.bodies.len() {
            hash.numbers(&self.bodies.position[k].to_array3());
            hash.numbers(&S::quaternion(self.bodies.rotation[k]));
            hash.numbers(&self.bodies.motion[k].linear.to_array3());
            hash.numbers(&self.bodies.motion[k].spin.to_array3());
        }
        hash.finish()
    }

    /// Does [`World::stage`].
    pub(super) fn set_stage(&self) -> Stage {
        let object = |k: usize| Object {
            name: self.bodies.name(k).to_owned(),
            fixed: !self.bodies.is_dynamic(k),
            parts: if self.bodies.is_present(k) {
                self.bodies.shape[k].parts()
            } else {
                Vec::new()
            },
        };
        Stage {
            dimension: S::DIM as u8,
            objects: (0..self.bodies.len()).map(object).collect(),
            skins: self.deformables.iter().map(Soft::skin).collect(),
            joints: self.stage_joints(),
        }
    }

    /// Does [`World::frame`].
    pub(super) fn take_frame(&self) -> Frame {
        let bodies = &self.bodies;
        let all = 0..bodies.len();
        let contact = |c: &Contact<S>| FrameContact {
            object_a: c.a,
            object_b: c.b,
            position: c.point.position.to_array3(),
            normal: c.point.normal.to_array3(),
            impulse: c.impulse.to_array3(),
            separation: c.point.separation,
        };
        let solved = self.solved_contacts();
        // What holds attached nodes and joints is nothing to see.
        let touches = solved.iter().take_while(|c| c.is_touch());
        Frame {
            time: self.time,
            step: self.step,
            positions: all
                .clone()
                .map(|k| bodies.origin(k).position.to_array3())
                .collect(),
            rotations: all.map(|k| S::quaternion(bodies.rotation[k])).collect(),
            velocities: bodies.motion.iter().map(|m| m.linear.to_array3()).collect(),
            spins: bodies.motion.iter().map(|m| m.spin.to_array3()).collect(),
            contacts: touches.map(contact).collect(),
            islands: self.islands(&solved),
            asleep: self.sleepers(),
            joints: self.frame_joints(),
        }
    }
}
