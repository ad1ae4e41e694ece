//! Articulations: joints, solved exactly.
//!
//! Every coordinate of a joint ([`crate::model::joint::rows`]) that is locked, limited or driven is a
//! **row**: its displacement in a substep is $u = Jx$, x being the displacements of the bodies, and
//! a force λ along it moves them by $h^2 M^{-1}J^T\lambda$ on top of where they aim. Locks ask for
//! $C + u = 0$, C being what is missing; so
//!
//! $$ S\,\delta\lambda = -(C + Jx), \qquad S = h^2 J M^{-1} J^T . $$
//!
//! Joints that share bodies form a **linkage**. Where its joints have few loops (chains, trees,
//! ragdolls, vehicles) S is factorised once a step without fill to speak of
//! ([`crate::math::sparse_ldlt`]), and a linkage without contact is solved exactly, whatever the masses:
//! a hundred links carry a hundredfold load and do not stretch. Nets have too much fill; they are
//! swept joint by joint ([`joint_net`]: eight at a time).
//!
//! Joints **bend**: a link under tension resists turning like a taut string, and where the load is
//! large it does so faster than steps can follow. So bodies resist displacements not by M/h² but by
//! $H = M/h^2 + G$, where G holds what known forces add, $(f\cdot r)(1 - \hat r\hat r^T)$ to the
//! inertia of a body pulled by f at r, and $f/l$ to the masses at the ends of a rope of length l.
//!
//! Directions are those after a **part** p of the step. With p = 0 (SHAKE) nothing is damped, but
//! what swings faster than 2/h grows; later directions damp by p h ω²/2 a second, and with G from
//! p = 1/2 on nothing grows, whatever the load. So p follows the load: near 0 for a pendulum, a
//! little more than 1/2 for a taut chain; where the forces that a step finds are far larger than
//! those it knew, p follows them and the step is solved again.
//!
//! A linkage that touches something is one block of the block descent: its bodies move together to
//! where inertia, their contacts and their joints balance, all other bodies held still. What contacts
//! do to each body comes from the kernels ([`super::manifold_forces`]) and is added to its load and to H.
//!
//! A taut linkage is sensitive to what its joints are open by: its rows are made again in every
//! round, that of a slack one only when it has turned ([`lanes`]). What hits a linkage is dealt with
//! before all this, at the level of velocities ([`impact`]).
//!
//! Limits, motors and springs have bounds or give way; these rows are swept one by one before the
//! locks are solved: $\delta\lambda = -(C + u + \lambda/k)/(S_{ii} + 1/k)$, then λ is clamped to its
//! bounds. A spring of stiffness κ and damping d is implicit, $k = \kappa + d/h$,
//! $C = \kappa\,(c - c_0)/k$.

use std::collections::BTreeMap;

mod direction_time;
mod free_articulation;
mod free_rotation;
mod geometric_stiffness;
mod impact;
mod joint_net;
mod lanes;
mod linkage;
mod pattern;
mod row;
mod velocity_projection;
mod warm_start;

use crate::geometry::Space;
use crate::math::simd::Instructions;
use crate::math::union_find::UnionFind;
use crate::model::body::Bodies;
use crate::model::joint::Joints;
use crate::model::joint::rows::rows_of;
use crate::strategy::realtime::body_columns::BodyColumns;
pub(crate) use impact::Spot;
pub(crate) use lanes::ArticulationLanes;
use lanes::make_teams;
use linkage::JointRows;
pub(crate) use linkage::Linkage;
use serde::{Deserialize, Serialize};
use warm_start::WarmStartRows;

/// Numbers that all rows of a substep share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkLaw {
    /// h, s.
    pub(crate) h: f64,
    /// Errors are made up for at this speed at most, m/s.
    pub(crate) speed: f64,
}

/// What does not change in a step.
pub(crate) struct Ground<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) law: &'a LinkLaw,
}

/// How linkages that touch nothing are moved.
pub(crate) struct March<S: Space> {
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// At its start, s.
    pub(crate) time: f64,
    pub(crate) gravity: S::Vector,
    /// Rounds over joints where one is not enough.
    pub(crate) rounds: u32,
    /// What kernels use.
    pub(crate) instructions: Instructions,
    /// At most.
    pub(crate) threads: usize,
}

/// The joints of a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Links<S: Space> {
    /// What is known of each joint's rows.
    known: WarmStartRows,
    /// Version of the joints that linkages were made for.
    version: u64,
    #[serde(skip)]
    pub(crate) linkages: Vec<Linkage<S>>,
    /// Linkages that are alike, side by side.
    #[serde(skip)]
    pub(crate) teams: Vec<ArticulationLanes>,
    /// Bodies of each joint, in order.
    #[serde(skip)]
    ties: Vec<[u32; 2]>,
    #[serde(skip)]
    linkage_of: Vec<Option<u32>>,
}

impl<S: Space> Default for Links<S> {
    fn default() -> Self {
        Self {
            known: WarmStartRows::default(),
            version: 0,
            linkages: Vec::new(),
            teams: Vec::new(),
            ties: Vec::new(),
            linkage_of: Vec::new(),
        }
    }
}

impl<S: Space> Links<S> {
    /// Whether there are no joints.
    pub(crate) fn is_empty(&self) -> bool {
        self.ties.is_empty()
    }

    /// Pairs of bodies that are tied.
    pub(crate) fn ties(&self) -> impl Iterator<Item = [u32; 2]> {
        self.ties.iter().copied()
    }

    /// Whether a body is moved with its linkage, which touches nothing.
    pub(crate) fn marches(&self, body: usize) -> bool {
        let linkage = self.linkage_of.get(body).copied().flatten();
        linkage.is_some_and(|k| {
            let linkage = &self.linkages[k as usize];
            linkage.is_awake && !linkage.has_contact
        })
    }

    /// Whether a joint ties a body that moves.
    pub(crate) fn ties_body(&self, body: usize) -> bool {
        self.linkage_of.get(body).is_some_and(Option::is_some)
    }

    /// Whether impacts on a body are left to the rounds: it is part of a net.
    pub(crate) fn leaves_blows(&self, body: usize) -> bool {
        let linkage = self.linkage_of.get(body).copied().flatten();
        linkage.is_some_and(|k| !self.linkages[k as usize].is_direct())
    }

    /// Whether a body is moved by contacts and joints together.
    pub(crate) fn couples(&self, body: usize) -> bool {
        let linkage = self.linkage_of.get(body).copied().flatten();
        linkage.is_some_and(|k| self.linkages[k as usize].is_coupled())
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self) -> bool {
        self.known.is_consistent()
    }

    /// Brings linkages up to date; whether they changed.
    pub(crate) fn update(&mut self, bodies: &Bodies<S>, joints: &Joints<S>) -> bool {
        if self.version == joints.version {
            return false;
        }
        self.version = joints.version;
        self.rebuild(bodies, joints);
        true
    }

    /// Makes what a snapshot leaves out.
    pub(crate) fn restore(&mut self, bodies: &Bodies<S>, joints: &Joints<S>) {
        if self.version == joints.version {
            self.rebuild(bodies, joints);
        }
    }

    /// Makes the linkages of all joints.
    fn rebuild(&mut self, bodies: &Bodies<S>, joints: &Joints<S>) {
        let mut forest = UnionFind::new(bodies.len());
        self.ties.clear();
        for (_, joint) in joints.iter() {
            self.ties.push([joint.a, joint.b]);
            if bodies.is_dynamic(joint.a as usize) && bodies.is_dynamic(joint.b as usize) {
                forest.join(joint.a, joint.b);
            }
        }
        let mut groups: BTreeMap<u32, Vec<JointRows<S>>> = BTreeMap::new();
        let mut ends: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        let mut known = WarmStartRows::default();
        for (place, joint) in joints.iter() {
            let roles = rows_of::<S>(&joint.kind);
            let moving = if bodies.is_dynamic(joint.a as usize) {
                joint.a
            } else {
                joint.b
            };
            known.add(place, roles.len(), &self.known);
            ends.insert(place, [joint.a, joint.b]);
            groups
                .entry(forest.lowest(moving))
                .or_default()
                .push(JointRows {
                    joint: place,
                    gauge: joint.gauge(),
                    roles,
                    ends: [0; 2],
                    at: Vec::new(),
                });
        }
        self.known = known;
        let linkages = groups
            .into_values()
            .map(|group| Linkage::new(bodies, group, &ends))
            .collect();
        (self.linkages, self.teams) = make_teams(bodies, linkages);
        self.linkage_of.clear();
        self.linkage_of.resize(bodies.len(), None);
        for (k, linkage) in self.linkages.iter().enumerate() {
            for &body in &linkage.bodies {
                if bodies.is_dynamic(body as usize) {
                    self.linkage_of[body as usize] = Some(k as u32);
                }
            }
        }
    }

    /// Forces along the rows of a joint, N and N·m.
    pub(crate) fn forces(&self, joint: u32) -> Vec<f64> {
        let known = self.known.of(joint).iter();
        let struck = self.known.struck(joint);
        known
            .zip(struck)
            .map(|(k, impact)| k.force + impact)
            .collect()
    }

    /// Calls `f` with the bodies, n, j_a, j_b and the force of every row of linkages that touch
    /// something: what joints do to bodies.
    pub(crate) fn for_each_force(
        &self,
        mut f: impl FnMut([usize; 2], S::Vector, [S::Spin; 2], f64),
    ) {
        for team in &self.teams {
            team.for_each_force(&self.linkages[team.range.clone()], &mut f);
        }
    }

    /// Writes all rows for a step from the present poses.
    pub(crate) fn prepare(
        &mut self,
        bodies: &Bodies<S>,
        law: &LinkLaw,
        is_awake: impl Fn(usize) -> bool,
        touches: impl Fn(usize) -> bool,
    ) {
        for linkage in &mut self.linkages {
            let all = linkage.bodies.iter().map(|&k| k as usize);
            linkage.is_awake = all.clone().any(&is_awake);
            for (touched, k) in linkage.is_touched.iter_mut().zip(all) {
                *touched = touches(k);
            }
            linkage.has_contact = linkage.is_touched.contains(&true);
            if linkage.is_awake {
                linkage.begin(bodies);
            }
            if linkage.is_coupled() {
                if linkage.is_plain {
                    linkage.recall(&self.known);
                } else {
                    linkage.aim_rows(bodies, law, &mut self.known);
                }
            }
        }
    }

    /// Moves the linkages that touch nothing; these are done then.
    pub(crate) fn march(
        &mut self,
        ground: &Ground<'_, S>,
        options: &March<S>,
        columns: &BodyColumns<S>,
    ) {
        for linkage in &mut self.linkages {
            if linkage.is_awake && !linkage.has_contact {
                linkage.take_gains(columns);
                linkage.march(ground, &mut self.known, options);
            }
        }
    }

    /// Linkages that [`Links::march`] moved.
    pub(crate) fn marched(&self) -> impl Iterator<Item = &Linkage<S>> {
        let all = self.linkages.iter();
        all.filter(|linkage| linkage.is_awake && !linkage.has_contact)
    }

    /// Remembers the forces of a step; those of nets that touch nothing are known already.
    pub(crate) fn remember(&mut self) {
        let is_open = |linkage: &&Linkage<S>| {
            linkage.is_awake && (linkage.has_contact || linkage.joint_net.is_none())
        };
        for linkage in self.linkages.iter().filter(is_open) {
            linkage.remember(&mut self.known);
        }
    }
}
