//! The joints of a world.

use super::rows::{Coordinate, Gauge, Poses, Role, Row, rows_of};
use super::{Anchor, Joint, JointError, JointKind};
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names a joint of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JointId {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

impl JointId {
    /// Its place among the world's joints and in every frame.
    #[must_use]
    pub fn index(self) -> usize {
        self.place as usize
    }
}

/// What a joint carries: on B, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction<S: Space> {
    /// N, at B's frame.
    pub force: S::Vector,
    /// N·m, besides that of the force.
    pub torque: S::Spin,
}

/// A joint that is in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Held<S: Space> {
    pub(crate) name: String,
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// In body axes, from the centre of mass.
    pub(crate) frame_a: Pose<S>,
    pub(crate) frame_b: Pose<S>,
    pub(crate) kind: JointKind,
    pub(crate) collides: bool,
    pub(crate) break_force: f64,
    pub(crate) break_torque: f64,
    /// What its drives did in the last step of the strategy `velocity`, row by row: N·s or N·m·s.
    pub(crate) driven: Vec<f64>,
}

impl<S: Space> Held<S> {
    /// What it measures.
    pub(crate) fn gauge(&self) -> Gauge<S> {
        Gauge::new([self.frame_a, self.frame_b], &self.kind)
    }

    /// Calls `f` with every row as bodies are now.
    pub(crate) fn for_each_row_now(
        &self,
        bodies: &Bodies<S>,
        roles: &[(Coordinate, Role)],
        f: impl FnMut(usize, Row<S>),
    ) {
        let [a, b] = [self.a, self.b].map(|k| Pose {
            position: bodies.position[k as usize],
            rotation: bodies.rotation[k as usize],
        });
        let now = Poses {
            end: [&a, &b],
            within: [&a, &b],
        };
        self.gauge().for_each_row(roles, &now, f);
    }

    /// How far it is from what it holds together: the largest distance in m and the largest angle
    /// in rad.
    pub(crate) fn error(&self, bodies: &Bodies<S>) -> (f64, f64) {
        let (mut distance, mut angle) = (0.0_f64, 0.0_f64);
        let roles = rows_of::<S>(&self.kind);
        self.for_each_row_now(bodies, &roles, |k, row| {
            let (coordinate, role) = roles[k];
            let error = match role {
                Role::Lock => row.value.abs(),
                Role::Limit(min, max) => (min - row.value).max(row.value - max).max(0.0),
                Role::Motor(..) | Role::Spring(_) => 0.0,
            };
            if coordinate.is_angular() {
                angle = angle.max(error);
            } else {
                distance = distance.max(error);
            }
        });
        (distance, angle)
    }
}

/// All joints of a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Joints<S: Space> {
    list: Vec<Option<Held<S>>>,
    names: BTreeMap<String, u32>,
    generation: Vec<u32>,
    vacant: Vec<u32>,
    /// Pairs of bodies that joints keep from touching, sorted.
    apart: Vec<(u32, u32)>,
    /// Bodies that joints tie, sorted.
    tied: Vec<u32>,
    is_sorted: bool,
    /// Counts changes of the list.
    pub(crate) version: u64,
}

impl<S: Space> Default for Joints<S> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            names: BTreeMap::new(),
            generation: Vec::new(),
            vacant: Vec::new(),
            apart: Vec::new(),
            tied: Vec::new(),
            is_sorted: true,
            version: 0,
        }
    }
}

impl<S: Space> Joints<S> {
    /// All joints with their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Held<S>)> {
        self.list
            .iter()
            .enumerate()
            .filter_map(|(k, joint)| joint.as_ref().map(|joint| (k as u32, joint)))
    }

    /// Every place, with its joint if it has one.
    pub(crate) fn places(&self) -> impl Iterator<Item = Option<&Held<S>>> {
        self.list.iter().map(Option::as_ref)
    }

    pub(crate) fn get(&self, id: JointId) -> Option<&Held<S>> {
        let k = id.place as usize;
        let is_same = self.generation.get(k) == Some(&id.generation);
        self.list.get(k).filter(|_| is_same)?.as_ref()
    }

    /// The place of the joint of a name.
    pub(crate) fn place(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Changes what a joint allows; its bodies.
    pub(crate) fn change(
        &mut self,
        bodies: &Bodies<S>,
        id: JointId,
        kind: JointKind,
    ) -> Result<[u32; 2], JointError> {
        let joint = self.get(id).ok_or(JointError::NoJoint)?;
        let ends = [joint.a, joint.b];
        let [a, b] = ends.map(|k| bodies.id(k as usize));
        Joint::<S>::new(a, b, kind).check()?;
        if let Some(Some(joint)) = self.list.get_mut(id.place as usize) {
            joint.kind = kind;
            joint.driven.clear();
            self.version += 1;
        }
        Ok(ends)
    }

    /// Notes what a drive did in a step, N·s or N·m·s.
    pub(crate) fn note_drive(&mut self, place: u32, row: usize, impulse: f64) {
        if let Some(Some(joint)) = self.list.get_mut(place as usize) {
            if joint.driven.len() <= row {
                joint.driven.resize(row + 1, 0.0);
            }
            joint.driven[row] = impulse;
        }
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let count = self.list.len();
        let is_body = |k: u32| (k as usize) < bodies;
        let is_place = |k: &u32| (*k as usize) < count;
        self.generation.len() == count
            && self.vacant.iter().all(is_place)
            && self.names.values().all(is_place)
            && self
                .iter()
                .all(|(_, joint)| is_body(joint.a) && is_body(joint.b))
    }

    pub(crate) fn id(&self, place: u32) -> JointId {
        JointId {
            place,
            generation: self.generation[place as usize],
        }
    }

    /// Pairs of bodies that joints keep from touching, sorted.
    pub(crate) fn apart(&self) -> &[(u32, u32)] {
        &self.apart
    }

    /// Whether a joint ties a body.
    pub(crate) fn ties(&self, body: u32) -> bool {
        self.tied.binary_search(&body).is_ok()
    }

    /// Adds a joint.
    pub(crate) fn add(
        &mut self,
        bodies: &Bodies<S>,
        joint: Joint<S>,
    ) -> Result<JointId, JointError> {
        joint.check()?;
        let a = bodies.place(joint.a).ok_or(JointError::NoBody('a'))?;
        let b = bodies.place(joint.b).ok_or(JointError::NoBody('b'))?;
        if a == b {
            return Err(JointError::SameBody);
        }
        for (end, name) in [(a, 'a'), (b, 'b')] {
            if bodies.node_of[end] != 0 {
                return Err(JointError::Node(name));
            }
        }
        if !(bodies.is_dynamic(a) || bodies.is_dynamic(b)) {
            return Err(JointError::BothFixed);
        }
        let k = self.vacant.last().map_or(self.list.len(), |&k| k as usize);
        let place = u32::try_from(k).map_err(|_| JointError::TooMany)?;
        let name = joint.name.unwrap_or_else(|| format!("joint {k}"));
        if self.names.contains_key(&name) {
            return Err(JointError::Name(name));
        }
        self.names.insert(name.clone(), place);
        let (frame_a, frame_b) = frames(bodies, [a, b], joint.anchor);
        let held = Held {
            name,
            a: a as u32,
            b: b as u32,
            frame_a,
            frame_b,
            kind: joint.kind,
            collides: joint.collides,
            break_force: joint.break_force,
            break_torque: joint.break_torque,
            driven: Vec::new(),
        };
        if self.vacant.pop().is_some() {
            self.list[k] = Some(held);
        } else {
            self.list.push(Some(held));
            self.generation.push(0);
        }
        self.note_change();
        Ok(self.id(place))
    }

    /// Removes a joint; whether it was there.
    pub(crate) fn remove(&mut self, id: JointId) -> Option<Held<S>> {
        self.get(id)?;
        let k = id.place as usize;
        let held = self.list[k].take();
        if let Some(joint) = &held {
            self.names.remove(&joint.name);
        }
        self.generation[k] = self.generation[k].wrapping_add(1);
        self.vacant.push(id.place);
        self.note_change();
        held
    }

    /// Removes all joints of a body; the bodies they tied it to.
    pub(crate) fn remove_of(&mut self, body: u32) -> Vec<u32> {
        let other = |joint: &Held<S>| match (joint.a == body, joint.b == body) {
            (true, _) => Some(joint.b),
            (_, true) => Some(joint.a),
            _ => None,
        };
        let found: Vec<(u32, u32)> = self
            .iter()
            .filter_map(|(place, joint)| other(joint).map(|k| (place, k)))
            .collect();
        for &(place, _) in &found {
            self.remove(self.id(place));
        }
        found.into_iter().map(|(_, other)| other).collect()
    }

    fn note_change(&mut self) {
        self.version += 1;
        self.is_sorted = false;
    }

    /// Pairs that must not touch, in order, as they are now.
    pub(crate) fn pairs_apart(&self) -> Vec<(u32, u32)> {
        let mut apart: Vec<(u32, u32)> = self
            .iter()
            .filter(|(_, joint)| !joint.collides)
            .map(|(_, joint)| (joint.a.min(joint.b), joint.a.max(joint.b)))
            .collect();
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Brings the lists of pairs that must not touch and of tied bodies up to date.
    pub(crate) fn sort_pairs(&mut self) {
        if std::mem::replace(&mut self.is_sorted, true) {
            return;
        }
        let apart = self.pairs_apart();
        let mut tied: Vec<u32> = self.iter().flat_map(|(_, j)| [j.a, j.b]).collect();
        tied.sort_unstable();
        tied.dedup();
        (self.apart, self.tied) = (apart, tied);
    }

    /// How far the joints are from what they hold together: the largest distance in m and the
    /// largest angle in rad.
    pub(crate) fn error(&self, bodies: &Bodies<S>) -> (f64, f64) {
        let errors = self.iter().map(|(_, joint)| joint.error(bodies));
        errors.fold((0.0, 0.0), |(distance, angle): (f64, f64), (d, a)| {
            (distance.max(d), angle.max(a))
        })
    }
}

/// Frames relative to the centres of mass.
fn frames<S: Space>(
    bodies: &Bodies<S>,
    [a, b]: [usize; 2],
    anchor: Anchor<S>,
) -> (Pose<S>, Pose<S>) {
    let normal = |pose: Pose<S>| Pose {
        rotation: S::normalize(pose.rotation),
        ..pose
    };
    match anchor {
        Anchor::World(pose) => {
            let pose = normal(pose);
            let seen_from = |k: usize| Pose {
                position: S::unrotate(bodies.rotation[k], pose.position - bodies.position[k]),
                rotation: S::between(bodies.rotation[k], pose.rotation),
            };
            (seen_from(a), seen_from(b))
        }
        Anchor::Frames(on_a, on_b) => {
            let from_center = |k: usize, pose: Pose<S>| Pose {
                position: pose.position - bodies.center[k],
                ..normal(pose)
            };
            (from_center(a, on_a), from_center(b, on_b))
        }
    }
}

/// Force and torque of rows with these multipliers.
pub(crate) fn reaction<S: Space>(
    bodies: &Bodies<S>,
    joint: &Held<S>,
    multipliers: &[f64],
) -> Reaction<S> {
    let roles = rows_of::<S>(&joint.kind);
    let mut sum = Reaction::default();
    joint.for_each_row_now(bodies, &roles, |k, row| {
        let f = multipliers.get(k).copied().unwrap_or(0.0);
        if roles[k].0.is_angular() {
            sum.torque += row.j_b * f;
        } else {
            sum.force += row.n * f;
        }
    });
    sum
}

impl<S: Space> std::ops::Add for Reaction<S> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            force: self.force + other.force,
            torque: self.torque + other.torque,
        }
    }
}

impl<S: Space> Reaction<S> {
    /// Whether it is more than a joint stands.
    pub(crate) fn breaks(&self, joint: &Held<S>) -> bool {
        self.force.length() > joint.break_force || self.torque.length() > joint.break_torque
    }
}
