//! Joints, solved exactly.
//!
//! Every coordinate of a joint ([`crate::joint::rows`]) that is locked, limited or driven is a
//! **row**: its displacement in a substep is $u = Jx$, x being the displacements of the bodies, and
//! a force λ along it moves them by $h^2 M^{-1}J^T\lambda$ on top of where they aim. Locks ask for
//! $C + u = 0$, C being what is missing; so
//!
//! $$ S\,\delta\lambda = -(C + Jx), \qquad S = h^2 J M^{-1} J^T . $$
//!
//! Joints that share bodies form a **linkage**. Where its joints have few loops (chains, trees,
//! ragdolls, vehicles) S is factorised once a step without fill to speak of
//! ([`super::elimination`]), and a linkage without contact is solved exactly, whatever the masses:
//! a hundred links carry a hundredfold load and do not stretch. Nets have too much fill; they are
//! swept joint by joint.
//!
//! Joints **bend**: a link under tension resists turning like a taut string, and where the load is
//! large it does so faster than steps can follow. So bodies resist displacements not by M/h² but by
//! $H = M/h^2 + G$, where G holds what known forces add, $(f\cdot r)(1 - \hat r\hat r^T)$ to the
//! inertia of a body pulled by f at r, and $f/l$ to the masses at the ends of a rope of length l.
//!
//! Directions are those after a **part** p of the step. With p = 0 (SHAKE) nothing is damped, but
//! what swings faster than 2/h grows; later directions damp by p h ω²/2 a second, and with G from
//! p = 1/2 on nothing grows, whatever the load. So p follows the load: near 0 for a pendulum, a
//! little more than 1/2 for a taut chain.
//!
//! Contacts do not see joints: joints move the aims of bodies, and bodies settle between their aims
//! and their contacts. Between rounds joints are solved again. M is less than what holds a body in
//! contact, so the force that a joint learns in a round is never too large.
//!
//! Limits, motors and springs have bounds or give way; these rows are swept one by one before the
//! locks are solved: $\delta\lambda = -(C + u + \lambda/k)/(S_{ii} + 1/k)$, then λ is clamped to its
//! bounds. A spring of stiffness κ and damping d is implicit, $k = \kappa + d/h$,
//! $C = \kappa\,(c - c_0)/k$.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::{get, put};
use super::elimination::{Factors, elimination_order};
use super::patch::Field;
use super::shared::Shared;
use super::simd::Column;
use crate::body::{Bodies, Motion};
use crate::integrate;
use crate::joint::Joints;
use crate::joint::rows::{Coordinate, Poses, Role, Row, rows_of};
use crate::shape::Pose;
use crate::space::{Components, Linear, Space};
use serde::{Deserialize, Serialize};

/// Entries of S a joint up to which a linkage is factorised.
const MOST_ENTRIES: usize = 8;
/// Difference of turns beyond which rows are made again, rad.
const BENT: f64 = 0.005;
/// A linkage that touches nothing turns by so much in a stride, rad, as long as there are enough.
const STRIDE: f64 = 0.4;
const MOST_STRIDES: f64 = 8.0;
/// Strides of a net at least.
const NET_STRIDES: f64 = 8.0;
/// Where in a step directions are taken.
const LEAST_PART: f64 = 0.02;
const MOST_PART: f64 = 0.55;
/// Newton steps in a stride at most.
const MOST_NEWTON: u32 = 2;
/// Joints that pull at a body whose pull is looked at closely.
const MOST_ARMS: usize = 6;
/// Part of a correction that sweeps over nets take: more than one over-relaxes.
const RELAXATION: f64 = 1.0;

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
    pub(crate) joints: &'a Joints<S>,
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
}

/// What is known of a row from the step before.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// λ, N or N·m.
    force: f64,
    /// Which bound a limit is near: −1 for the lower, 1 for the upper one.
    bound: i8,
}

/// A row with what a force along it does.
#[derive(Clone, Copy, Debug)]
struct LinkRow<S: Space> {
    /// Places of its bodies in the linkage's list.
    a: u32,
    b: u32,
    n: S::Vector,
    j_a: S::Spin,
    j_b: S::Spin,
    /// h² M⁻¹ Jᵀ.
    moves_a: Motion<S>,
    moves_b: Motion<S>,
    /// C, m or rad: `follow` times the coordinate, plus `offset`, at x = 0.
    missing: f64,
    follow: f64,
    offset: f64,
    /// How `offset` follows the coordinate from substep to substep.
    lag: f64,
    /// 1/k, m/N.
    gives: f64,
    lower: f64,
    upper: f64,
    force: f64,
    /// S_ii + 1/k.
    diagonal: f64,
}

impl<S: Space> LinkRow<S> {
    fn empty(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            n: S::Vector::default(),
            j_a: S::Spin::default(),
            j_b: S::Spin::default(),
            moves_a: Motion::default(),
            moves_b: Motion::default(),
            missing: 0.0,
            follow: 0.0,
            offset: 0.0,
            lag: 0.0,
            gives: 0.0,
            lower: 0.0,
            upper: 0.0,
            force: 0.0,
            diagonal: 0.0,
        }
    }

    /// u of displacements.
    #[inline]
    fn moved(&self, x: &[Motion<S>]) -> f64 {
        let (a, b) = (&x[self.a as usize], &x[self.b as usize]);
        self.n.dot(b.linear - a.linear) + self.j_b.dot(b.spin) - self.j_a.dot(a.spin)
    }

    /// Adds what a force does.
    #[inline]
    fn push(&self, force: f64, x: &mut [Motion<S>]) {
        let a = &mut x[self.a as usize];
        a.linear -= self.moves_a.linear * force;
        a.spin -= self.moves_a.spin * force;
        let b = &mut x[self.b as usize];
        b.linear += self.moves_b.linear * force;
        b.spin += self.moves_b.spin * force;
    }

    /// What a force along `other` moves along this row: S_ij.
    fn coupling(&self, other: &Self) -> f64 {
        let ends = |row: &Self| {
            [
                (row.a, row.j_a, row.moves_a, -1.0),
                (row.b, row.j_b, row.moves_b, 1.0),
            ]
        };
        let mut sum = 0.0;
        for (body, j, _, sign) in ends(self) {
            for (same, _, moves, other_sign) in ends(other) {
                if body == same {
                    let along = self.n.dot(moves.linear) + j.dot(moves.spin);
                    sum += sign * other_sign * along;
                }
            }
        }
        sum
    }
}

/// A joint's rows in its linkage.
#[derive(Clone, Debug)]
struct JointRows {
    joint: u32,
    roles: Vec<(Coordinate, Role)>,
    /// Places of its bodies in the linkage's list.
    ends: [u32; 2],
    /// Where each is in the linkage's list.
    at: Vec<u32>,
}

/// What forces add to a body's resistance.
#[derive(Clone, Copy, Debug, Default)]
struct Stiffer<S: Space> {
    /// N/m.
    linear: f64,
    /// Arms that are pulled at, m, and N·m.
    arms: [(S::Vector, f64); MOST_ARMS],
    count: usize,
}

impl<S: Space> Stiffer<S> {
    fn add(&mut self, arm: S::Vector, s: f64) {
        if s > 0.0 && self.count < MOST_ARMS {
            self.arms[self.count] = (arm, s);
            self.count += 1;
        }
    }
}

/// What a joint's known forces pull at.
#[derive(Clone, Copy, Debug, Default)]
struct Pull<S: Space> {
    force: S::Vector,
    arms: [S::Vector; 2],
    /// Tension over length, N/m.
    tension: f64,
}

impl<S: Space> Pull<S> {
    fn add(&mut self, row: &Row<S>, force: f64) {
        if row.n != S::Vector::default() {
            self.force += row.n * force;
            self.arms = [row.arm_a, row.arm_b];
        }
        if row.length > 0.0 {
            // Tension is negative.
            self.tension += (-force).max(0.0) / row.length;
        }
    }

    /// Adds what it does to its bodies' resistance.
    fn stiffen(&self, [a, b]: [usize; 2], part: f64, stiffer: &mut [Stiffer<S>]) {
        for (k, arm, force) in [
            (a, self.arms[0], -self.force),
            (b, self.arms[1], self.force),
        ] {
            stiffer[k].add(arm, part * force.dot(arm).max(0.0));
            // In full at both ends, so that each may move alone.
            stiffer[k].linear += 2.0 * part * self.tension;
        }
    }
}

/// Joints that share bodies.
#[derive(Clone, Debug)]
pub(crate) struct Linkage<S: Space> {
    bodies: Vec<u32>,
    joints: Vec<JointRows>,
    /// Locks in the order of elimination, joint by joint; then rows with bounds.
    rows: Vec<LinkRow<S>>,
    locks: usize,
    /// First lock of each joint, in the order of elimination; one more at the end.
    blocks: Vec<u32>,
    factors: Option<Factors>,
    above: Vec<f64>,
    /// Inverses of the joints' own blocks of S, one after the other, where it is not factorised.
    inverses: Vec<f64>,
    /// Which bodies touch something, and whether any does.
    is_touched: Vec<bool>,
    has_contact: bool,
    is_awake: bool,
    /// Where in a step directions are taken.
    part: f64,
    /// Poses of centres of mass and motions at the start of a substep or stride.
    pose: Vec<Pose<S>>,
    motion: Vec<Motion<S>>,
    /// Poses at its end and where directions count.
    end: Vec<Pose<S>>,
    within: Vec<Pose<S>>,
    // What a correction works on.
    x: Vec<Motion<S>>,
    aim: Vec<Motion<S>>,
    /// How bodies resist: inertia with what forces add, and inverses.
    inertia: Vec<S::Inertia>,
    inverse: Vec<S::Inertia>,
    inverse_mass: Vec<S::Vector>,
    stiffer: Vec<Stiffer<S>>,
    /// Displacements that rows were made for.
    made_for: Vec<Motion<S>>,
    pushed: Vec<Motion<S>>,
    missing: Vec<f64>,
}

/// The joints of a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Links<S: Space> {
    /// What is known of each joint's rows.
    known: BTreeMap<u32, Vec<Known>>,
    /// Version of the joints that linkages were made for.
    version: u64,
    #[serde(skip)]
    pub(crate) linkages: Vec<Linkage<S>>,
    /// Bodies of each joint, in order.
    #[serde(skip)]
    ties: Vec<[u32; 2]>,
    #[serde(skip)]
    linkage_of: Vec<Option<u32>>,
}

impl<S: Space> Default for Links<S> {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            version: 0,
            linkages: Vec::new(),
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

    /// Whether a body is moved by contacts and joints together.
    pub(crate) fn couples(&self, body: usize) -> bool {
        let linkage = self.linkage_of.get(body).copied().flatten();
        linkage.is_some_and(|k| self.linkages[k as usize].is_coupled())
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self) -> bool {
        self.known.values().flatten().all(|k| k.force.is_finite())
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
        let mut leader: Vec<u32> = (0..bodies.len() as u32).collect();
        self.ties.clear();
        for (_, joint) in joints.iter() {
            self.ties.push([joint.a, joint.b]);
            if bodies.is_dynamic(joint.a as usize) && bodies.is_dynamic(joint.b as usize) {
                let (a, b) = (root(&mut leader, joint.a), root(&mut leader, joint.b));
                leader[a.max(b) as usize] = a.min(b);
            }
        }
        let mut groups: BTreeMap<u32, Vec<JointRows>> = BTreeMap::new();
        let mut ends: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for (place, joint) in joints.iter() {
            let roles = rows_of::<S>(&joint.kind);
            let moving = if bodies.is_dynamic(joint.a as usize) {
                joint.a
            } else {
                joint.b
            };
            let before = self.known.remove(&place);
            let kept = before.filter(|list| list.len() == roles.len());
            known.insert(
                place,
                kept.unwrap_or_else(|| vec![Known::default(); roles.len()]),
            );
            ends.insert(place, [joint.a, joint.b]);
            groups
                .entry(root(&mut leader, moving))
                .or_default()
                .push(JointRows {
                    joint: place,
                    roles,
                    ends: [0; 2],
                    at: Vec::new(),
                });
        }
        self.known = known;
        self.linkages = groups
            .into_values()
            .map(|group| Linkage::new(bodies, group, &ends))
            .collect();
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
        let known = self.known.get(&joint);
        known.map_or_else(Vec::new, |rows| rows.iter().map(|k| k.force).collect())
    }

    /// Calls `f` with the bodies, n, j_a, j_b and the force of every row of linkages that touch
    /// something: what joints do to bodies.
    pub(crate) fn for_each_force(
        &self,
        mut f: impl FnMut([usize; 2], S::Vector, [S::Spin; 2], f64),
    ) {
        for linkage in self.linkages.iter().filter(|linkage| linkage.is_coupled()) {
            for row in &linkage.rows {
                let ends = [row.a, row.b].map(|k| linkage.bodies[k as usize] as usize);
                f(ends, row.n, [row.j_a, row.j_b], row.force);
            }
        }
    }

    /// Writes all rows for a step from the present poses.
    pub(crate) fn prepare(
        &mut self,
        bodies: &Bodies<S>,
        joints: &Joints<S>,
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
                linkage.start(bodies, joints, law, &mut self.known);
            }
        }
    }

    /// Looks at the step of linkages that contacts have a say in.
    pub(crate) fn foresee(
        &mut self,
        ground: &Ground<'_, S>,
        mut resists: impl FnMut(usize, &S::Inertia),
    ) {
        for linkage in &mut self.linkages {
            if linkage.is_coupled() {
                linkage.foresee(ground, &mut resists);
            }
        }
    }

    /// Moves the linkages that touch nothing; these are done then.
    pub(crate) fn march(&mut self, ground: &Ground<'_, S>, options: &March<S>) {
        for linkage in &mut self.linkages {
            if linkage.is_awake && !linkage.has_contact {
                linkage.march(ground, &mut self.known, options);
            }
        }
    }

    /// Calls `f` with bodies that [`Links::march`] moved, their poses and motions.
    pub(crate) fn for_each_marched(&self, mut f: impl FnMut(usize, &Pose<S>, &Motion<S>)) {
        for linkage in &self.linkages {
            if linkage.is_awake && !linkage.has_contact {
                for (k, &body) in linkage.bodies.iter().enumerate() {
                    f(body as usize, &linkage.pose[k], &linkage.motion[k]);
                }
            }
        }
    }

    /// Remembers the forces of a step.
    pub(crate) fn remember(&mut self) {
        for linkage in self.linkages.iter().filter(|linkage| linkage.is_awake) {
            linkage.remember(&mut self.known);
        }
    }
}

impl<S: Space> Linkage<S> {
    fn new(bodies: &Bodies<S>, group: Vec<JointRows>, ends: &BTreeMap<u32, [u32; 2]>) -> Self {
        let all: BTreeSet<u32> = group.iter().flat_map(|j| ends[&j.joint]).collect();
        let list: Vec<u32> = all.into_iter().collect();
        let place = |body: u32| list.binary_search(&body).unwrap_or(0) as u32;
        let near = neighbours(bodies, &group, ends);
        let order = elimination_order(near, MOST_ENTRIES);
        let is_direct = order.is_some();
        let order = order.unwrap_or_else(|| (0..group.len() as u32).collect());
        let mut joints: Vec<JointRows> = order.iter().map(|&k| group[k as usize].clone()).collect();
        let (mut rows, mut blocks) = (Vec::new(), Vec::new());
        for of_locks in [true, false] {
            for joint in &mut joints {
                let [a, b] = ends[&joint.joint].map(place);
                joint.ends = [a, b];
                if of_locks {
                    blocks.push(rows.len() as u32);
                    joint.at = vec![0; joint.roles.len()];
                }
                for (k, (_, role)) in joint.roles.iter().enumerate() {
                    if is_lock(role) == of_locks {
                        joint.at[k] = rows.len() as u32;
                        rows.push(LinkRow::empty(a, b));
                    }
                }
            }
            if of_locks {
                blocks.push(rows.len() as u32);
            }
        }
        let locks = blocks.last().copied().unwrap_or(0) as usize;
        let count = list.len();
        let mut this = Self {
            bodies: list,
            joints,
            rows,
            locks,
            blocks,
            factors: None,
            above: Vec::new(),
            inverses: Vec::new(),
            is_touched: vec![false; count],
            has_contact: false,
            is_awake: true,
            part: LEAST_PART,
            x: vec![Motion::default(); count],
            pose: vec![Pose::default(); count],
            motion: vec![Motion::default(); count],
            end: vec![Pose::default(); count],
            within: vec![Pose::default(); count],
            aim: vec![Motion::default(); count],
            inertia: vec![S::NO_INERTIA; count],
            inverse: vec![S::NO_INERTIA; count],
            inverse_mass: vec![S::Vector::default(); count],
            stiffer: vec![Stiffer::default(); count],
            made_for: vec![Motion::default(); count],
            pushed: vec![Motion::default(); count],
            missing: vec![0.0; locks],
        };
        if is_direct {
            this.factors = Some(Factors::new(&this.pattern(bodies)));
        }
        this
    }

    /// Locks that come before each and share a body that moves.
    fn pattern(&self, bodies: &Bodies<S>) -> Vec<Vec<u32>> {
        let mut of_body: Vec<Vec<u32>> = vec![Vec::new(); self.bodies.len()];
        let mut columns = Vec::with_capacity(self.locks);
        for (k, row) in self.rows[..self.locks].iter().enumerate() {
            let mut before = BTreeSet::new();
            for end in [row.a, row.b].map(|end| end as usize) {
                if bodies.is_dynamic(self.bodies[end] as usize) {
                    before.extend(of_body[end].iter().copied());
                    of_body[end].push(k as u32);
                }
            }
            columns.push(before.into_iter().collect());
        }
        columns
    }

    /// Starts a step: takes over poses and known forces.
    fn start(
        &mut self,
        bodies: &Bodies<S>,
        joints: &Joints<S>,
        law: &LinkLaw,
        known: &mut BTreeMap<u32, Vec<Known>>,
    ) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let body = body as usize;
            self.pose[k] = Pose {
                position: bodies.position[body],
                rotation: bodies.rotation[body],
            };
            self.motion[k] = bodies.motion[body];
        }
        self.aim_rows(bodies, joints, law, known);
    }

    /// Sets what rows are after from the present poses.
    fn aim_rows(
        &mut self,
        bodies: &Bodies<S>,
        joints: &Joints<S>,
        law: &LinkLaw,
        known: &mut BTreeMap<u32, Vec<Known>>,
    ) {
        self.stiffer.fill(Stiffer::default());
        for joint in &self.joints {
            let (Some(held), Some(known)) = (joints.at(joint.joint), known.get_mut(&joint.joint))
            else {
                continue;
            };
            let (rows, pose) = (&mut self.rows, &self.pose);
            let ends = joint.ends.map(|k| &pose[k as usize]);
            let now = Poses {
                end: ends,
                within: ends,
            };
            let mut pull = Pull::default();
            held.for_each_row(&joint.roles, &now, |k, row| {
                let link = &mut rows[joint.at[k] as usize];
                write(link, &joint.roles[k].1, row.value, law, &mut known[k]);
                pull.add(&row, link.force);
            });
            let ends = joint.ends.map(|k| k as usize);
            pull.stiffen(ends, 1.0, &mut self.stiffer);
        }
        self.part = self.part_for(bodies, law.h);
    }

    /// Where in a step directions are taken, from how fast bodies swing under their loads.
    fn part_for(&self, bodies: &Bodies<S>, h: f64) -> f64 {
        let mut fastest = 0.0_f64;
        for (&body, stiffer) in self.bodies.iter().zip(&self.stiffer) {
            let body = body as usize;
            if bodies.is_dynamic(body) {
                let inertia = bodies.mass(body) * bodies.radius[body] * bodies.radius[body];
                let turning: f64 = stiffer.arms[..stiffer.count].iter().map(|arm| arm.1).sum();
                let swings = turning / inertia + stiffer.linear / bodies.mass(body);
                fastest = fastest.max(h * h * swings);
            }
        }
        LEAST_PART + (MOST_PART - LEAST_PART) * fastest.min(1.0)
    }

    /// Writes rows for displacements near the present ones, and factorises.
    fn linearise(&mut self, ground: &Ground<'_, S>, h: f64) {
        self.shape_rows(ground);
        self.stiffen(ground, h);
        let square = h * h;
        for row in &mut self.rows {
            let moves = |k: u32, j: S::Spin| Motion {
                linear: self.inverse_mass[k as usize].scale(row.n) * square,
                spin: S::apply_inertia(&self.inverse[k as usize], j) * square,
            };
            row.moves_a = moves(row.a, row.j_a);
            row.moves_b = moves(row.b, row.j_b);
            row.diagonal = row.coupling(row) + row.gives;
        }
        for (made_for, x) in self.made_for.iter_mut().zip(&self.x) {
            *made_for = *x;
        }
        match &mut self.factors {
            Some(factors) => {
                let rows = &self.rows;
                self.above.clear();
                let entries = factors.entries();
                self.above
                    .extend(entries.map(|(column, row)| rows[row].coupling(&rows[column])));
                let diagonal: Vec<f64> = rows[..self.locks].iter().map(|r| r.diagonal).collect();
                factors.factorise(&diagonal, &self.above);
            }
            None => self.invert_blocks(),
        }
    }

    /// Writes the rows' coordinates and directions.
    fn shape_rows(&mut self, ground: &Ground<'_, S>) {
        self.stiffer.fill(Stiffer::default());
        for (k, x) in self.x.iter().enumerate() {
            let after = |part: f64| Pose {
                position: self.pose[k].position + x.linear * part,
                rotation: S::turn(self.pose[k].rotation, x.spin * part),
            };
            self.end[k] = after(1.0);
            self.within[k] = if self.part > 0.0 {
                after(self.part)
            } else {
                self.pose[k]
            };
        }
        for joint in &self.joints {
            let Some(held) = ground.joints.at(joint.joint) else {
                continue;
            };
            let (rows, x, stiffer) = (&mut self.rows, &self.x, &mut self.stiffer);
            let [a, b] = joint.ends.map(|k| k as usize);
            let poses = Poses {
                end: [a, b].map(|k| &self.end[k]),
                within: [a, b].map(|k| &self.within[k]),
            };
            let mut pull = Pull::default();
            held.for_each_row(&joint.roles, &poses, |k, row| {
                let link = &mut rows[joint.at[k] as usize];
                (link.n, link.j_a, link.j_b) = (row.n, row.j_a, row.j_b);
                link.missing = link.follow * (row.value - link.moved(x)) + link.offset;
                pull.add(&row, link.force);
            });
            pull.stiffen([a, b], self.part, stiffer);
        }
    }

    /// Works out how bodies resist displacements.
    fn stiffen(&mut self, ground: &Ground<'_, S>, h: f64) {
        let bodies = ground.bodies;
        for (k, &body) in self.bodies.iter().enumerate() {
            let body = body as usize;
            let (inertial, stiffer) = (&bodies.inertial[body], &self.stiffer[k]);
            if !bodies.is_dynamic(body) {
                self.inverse_mass[k] = S::Vector::default();
                self.inverse[k] = S::NO_INERTIA;
                continue;
            }
            let heavier = 1.0 + h * h * stiffer.linear / inertial.mass;
            self.inverse_mass[k] = inertial.inv_mass * (1.0 / heavier);
            let rotation = self.pose[k].rotation;
            self.inertia[k] = S::world_inertia(rotation, &inertial.inertia);
            for (arm, s) in stiffer.arms.iter().take(stiffer.count) {
                self.inertia[k] = S::stiffened(&self.inertia[k], *arm, h * h * s);
            }
            let inverse = if stiffer.count > 0 && bodies.turns(body) {
                S::invert_inertia(&self.inertia[k])
            } else {
                S::world_inertia(rotation, &inertial.inv_inertia)
            };
            self.inverse[k] = S::mask_inertia(&inverse, inertial.free_spins);
        }
    }

    /// Where a body would go by itself from its present displacement: a Newton step towards `aim`
    /// (inertia and forces, without joints).
    fn target(&self, ground: &Ground<'_, S>, k: usize, aim: &Motion<S>) -> Motion<S> {
        let bodies = ground.bodies;
        let body = self.bodies[k] as usize;
        let (x, inertial) = (&self.x[k], &bodies.inertial[body]);
        let away = Motion::<S> {
            linear: aim.linear - x.linear,
            spin: aim.spin - x.spin,
        };
        let inertia = S::world_inertia(self.pose[k].rotation, &inertial.inertia);
        let twist = S::apply_inertia(&inertia, away.spin);
        let free = self.inverse_mass[k] * inertial.mass;
        Motion {
            linear: x.linear + away.linear.scale(free),
            spin: x.spin + S::apply_inertia(&self.inverse[k], twist),
        }
    }

    /// Inverts each joint's own block of S.
    fn invert_blocks(&mut self) {
        self.inverses.clear();
        for block in self.blocks.windows(2) {
            let rows = &self.rows[block[0] as usize..block[1] as usize];
            let n = rows.len();
            let mut matrix = [[0.0; 6]; 6];
            for i in 0..n {
                for j in 0..i {
                    matrix[i][j] = rows[i].coupling(&rows[j]);
                    matrix[j][i] = matrix[i][j];
                }
                matrix[i][i] = rows[i].diagonal * (1.0 + 1e-9);
            }
            let inverse = inverted(matrix, n);
            let numbers = inverse[..n].iter().flat_map(|row| &row[..n]);
            self.inverses.extend(numbers);
        }
    }

    /// Moves a linkage that touches nothing over a step, in double precision.
    ///
    /// Coordinates bend, so a linkage that turns fast takes several short steps.
    fn march(
        &mut self,
        ground: &Ground<'_, S>,
        known: &mut BTreeMap<u32, Vec<Known>>,
        options: &March<S>,
    ) {
        let fastest = self.motion.iter().map(|m| m.spin.length());
        let fastest = fastest.fold(0.0, f64::max);
        // Sweeps reach further in many short strides than many sweeps do in a long one.
        let least = if self.factors.is_some() {
            1.0
        } else {
            NET_STRIDES
        };
        let strides = (options.dt * fastest / STRIDE)
            .ceil()
            .clamp(least, MOST_STRIDES);
        let h = options.dt / strides;
        let law = LinkLaw { h, ..*ground.law };
        for stride in 0..strides as u32 {
            if stride > 0 {
                self.remember(known);
            }
            self.aim_rows(ground.bodies, ground.joints, &law, known);
            if self.factors.is_none() {
                self.forget_forces();
            }
            self.stride(ground, h, options);
        }
    }

    /// Sweeps that start from known forces and do not get far make energy; from none they lose
    /// some.
    fn forget_forces(&mut self) {
        for row in &mut self.rows[..self.locks] {
            row.force = 0.0;
        }
        self.part = 0.0;
    }

    fn stride(&mut self, ground: &Ground<'_, S>, h: f64, options: &March<S>) {
        let bodies = ground.bodies;
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, motion) = (body as usize, &self.motion[k]);
            self.x[k] = Motion {
                linear: motion.linear * h,
                spin: motion.spin * h,
            };
            self.aim[k] = self.x[k];
            if bodies.is_dynamic(body) {
                let push = integrate::acceleration(bodies, body, options.gravity, options.time);
                let (linear, angular) = bodies.damping[body];
                self.aim[k] = Motion {
                    linear: (motion.linear + push.linear * h) * (h / (1.0 + h * linear)),
                    spin: (motion.spin + push.spin * h) * (h / (1.0 + h * angular)),
                };
            }
        }
        let is_exact = self.factors.is_some() && self.rows.len() == self.locks;
        for _ in 0..MOST_NEWTON {
            self.linearise(ground, h);
            for k in 0..self.bodies.len() {
                if bodies.is_dynamic(self.bodies[k] as usize) {
                    self.pushed[k] = self.target(ground, k, &self.aim[k]);
                } else {
                    self.pushed[k] = self.x[k];
                }
            }
            std::mem::swap(&mut self.x, &mut self.pushed);
            for row in &self.rows {
                row.push(row.force, &mut self.x);
            }
            let rounds = match (&self.factors, is_exact) {
                (Some(_), true) => 1,
                (Some(_), false) => options.rounds,
                (None, _) => options.rounds.div_ceil(NET_STRIDES as u32),
            };
            for _ in 0..rounds {
                self.solve();
            }
            if self.bends() < BENT || self.factors.is_none() {
                break;
            }
        }
        self.arrive(bodies, h);
    }

    /// Takes displacements for good.
    fn arrive(&mut self, bodies: &Bodies<S>, h: f64) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let x = self.x[k];
            let before = self.pose[k].rotation;
            let after = S::turn(before, x.spin);
            self.pose[k].position += x.linear;
            self.pose[k].rotation = after;
            if bodies.is_dynamic(body as usize) {
                let spin = x.spin * (1.0 / h);
                self.motion[k] = Motion {
                    linear: x.linear * (1.0 / h),
                    spin: bodies.carried_spin(body as usize, (before, after), spin),
                };
            }
        }
    }

    /// Looks at a substep that contacts have a say in. The bodies' own resistance is for the
    /// columns to know.
    fn foresee(&mut self, ground: &Ground<'_, S>, mut resists: impl FnMut(usize, &S::Inertia)) {
        for (x, motion) in self.x.iter_mut().zip(&self.motion) {
            *x = Motion {
                linear: motion.linear * ground.law.h,
                spin: motion.spin * ground.law.h,
            };
        }
        if self.factors.is_none() {
            self.forget_forces();
        }
        self.linearise(ground, ground.law.h);
        for (k, &body) in self.bodies.iter().enumerate() {
            if self.stiffer[k].count > 0 && ground.bodies.is_dynamic(body as usize) {
                resists(body as usize, &self.inertia[k]);
            }
        }
    }

    /// Puts the known forces on the bodies' aims at the start of a substep.
    pub(crate) fn begin(&mut self, ground: &Ground<'_, S>, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let aim: Motion<S> = get(&field.aim.read(body as usize + 1));
            self.pushed[k] = if ground.bodies.is_dynamic(body as usize) {
                self.target(ground, k, &aim)
            } else {
                aim
            };
        }
        for row in &self.rows {
            row.push(row.force, &mut self.pushed);
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let place = body as usize + 1;
            if ground.bodies.is_dynamic(body as usize) {
                let mut column = field.aim.read(place);
                put(&mut column, &self.pushed[k]);
                field.aim.write(place, column);
                // Nothing else moves what touches nothing.
                if !self.is_touched[k] {
                    field.shift.write(place, column);
                }
            }
        }
    }

    /// Solves the joints for the present displacements.
    pub(crate) fn correct(&mut self, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            self.x[k] = get(&field.shift.read(body as usize + 1));
        }
        self.pushed.copy_from_slice(&self.x);
        self.solve();
        for (k, &body) in self.bodies.iter().enumerate() {
            let place = body as usize + 1;
            let change = Motion::<S> {
                linear: self.x[k].linear - self.pushed[k].linear,
                spin: self.x[k].spin - self.pushed[k].spin,
            };
            shift_by(&field.shift, place, &change);
            shift_by(&field.aim, place, &change);
        }
    }

    /// Whether contacts have a say.
    fn is_coupled(&self) -> bool {
        self.is_awake && self.has_contact
    }

    /// Remembers forces.
    fn remember(&self, known: &mut BTreeMap<u32, Vec<Known>>) {
        for joint in &self.joints {
            if let Some(known) = known.get_mut(&joint.joint) {
                for (known, &at) in known.iter_mut().zip(&joint.at) {
                    known.force = self.rows[at as usize].force;
                }
            }
        }
    }

    fn solve(&mut self) {
        self.sweep_bounded();
        if self.factors.is_some() {
            self.solve_locks();
        } else {
            self.sweep_locks();
        }
    }

    /// How much turns differ from those that rows were made for, at most, rad.
    fn bends(&self) -> f64 {
        let pairs = self.x.iter().zip(&self.made_for);
        pairs
            .map(|(x, made_for)| (x.spin - made_for.spin).length())
            .fold(0.0, f64::max)
    }

    /// Starts the next substep from where this one ends.
    pub(crate) fn carry(&mut self, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let x: Motion<S> = get(&field.shift.read(body as usize + 1));
            self.pose[k].position += x.linear;
            self.pose[k].rotation = S::turn(self.pose[k].rotation, x.spin);
            self.x[k] = x;
        }
        for row in &mut self.rows {
            // A speed is a difference of coordinates, a damper pulls at where it was.
            row.offset -= row.lag * row.moved(&self.x);
        }
    }

    fn sweep_bounded(&mut self) {
        for row in &mut self.rows[self.locks..] {
            if row.diagonal <= 0.0 {
                continue;
            }
            let missing = row.missing + row.moved(&self.x) + row.gives * row.force;
            let force = (row.force - missing / row.diagonal).clamp(row.lower, row.upper);
            let change = force - row.force;
            row.force = force;
            row.push(change, &mut self.x);
        }
    }

    fn solve_locks(&mut self) {
        for (row, missing) in self.rows.iter().zip(&mut self.missing) {
            *missing = -(row.missing + row.moved(&self.x));
        }
        if let Some(factors) = &self.factors {
            factors.solve(&mut self.missing);
        }
        for (row, &change) in self.rows.iter_mut().zip(&self.missing) {
            row.force += change;
            row.push(change, &mut self.x);
        }
    }

    /// One sweep over the joints, one way and back in turns.
    fn sweep_locks(&mut self) {
        let mut at = 0;
        let mut missing = [0.0; 6];
        for block in self.blocks.windows(2) {
            let rows = &mut self.rows[block[0] as usize..block[1] as usize];
            let n = rows.len();
            for (row, missing) in rows.iter().zip(&mut missing) {
                *missing = row.missing + row.moved(&self.x);
            }
            let inverse = &self.inverses[at..at + n * n];
            for (i, row) in rows.iter_mut().enumerate() {
                let along: f64 = (0..n).map(|j| inverse[i * n + j] * missing[j]).sum();
                let change = -RELAXATION * along;
                row.force += change;
                row.push(change, &mut self.x);
            }
            at += n * n;
        }
    }
}

/// Adds a displacement to a body's column.
fn shift_by<S: Space>(columns: &Shared<'_, Column>, place: usize, change: &Motion<S>) {
    let mut column = columns.read(place);
    let mut motion: Motion<S> = get(&column);
    motion.linear += change.linear;
    motion.spin += change.spin;
    put(&mut column, &motion);
    columns.write(place, column);
}

/// Whether a row has neither bounds nor gives way.
fn is_lock(role: &Role) -> bool {
    match role {
        Role::Lock => true,
        Role::Limit(min, max) => min == max,
        Role::Motor(_, most) => *most == f64::INFINITY,
        Role::Spring(_) => false,
    }
}

/// Joints of a group that share a body that moves with each.
fn neighbours<S: Space>(
    bodies: &Bodies<S>,
    group: &[JointRows],
    ends: &BTreeMap<u32, [u32; 2]>,
) -> Vec<BTreeSet<u32>> {
    let mut of_body: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (k, joint) in group.iter().enumerate() {
        for body in ends[&joint.joint] {
            if bodies.is_dynamic(body as usize) {
                of_body.entry(body).or_default().push(k as u32);
            }
        }
    }
    let mut near = vec![BTreeSet::new(); group.len()];
    for joints in of_body.values() {
        for &j in joints {
            near[j as usize].extend(joints.iter().copied().filter(|&k| k != j));
        }
    }
    near
}

/// Fills what a row is after, its coordinate being `value` at the start of the step.
fn write<S: Space>(
    link: &mut LinkRow<S>,
    role: &Role,
    value: f64,
    law: &LinkLaw,
    known: &mut Known,
) {
    const FREE: f64 = f64::INFINITY;
    let most = law.speed * law.h;
    // Of a large error only a part is made up for in a step.
    let allowed = |goal: f64, low: f64, high: f64| (value - goal).clamp(low, high) - value;
    link.lag = 0.0;
    let [follow, offset, gives, lower, upper] = match *role {
        Role::Lock => [1.0, allowed(0.0, -most, most), 0.0, -FREE, FREE],
        Role::Limit(min, max) if min == max => [1.0, allowed(min, -most, most), 0.0, -FREE, FREE],
        Role::Limit(min, max) => {
            let is_low = value - min <= max - value;
            let bound = if is_low { -1 } else { 1 };
            if std::mem::replace(&mut known.bound, bound) != bound {
                known.force = 0.0;
            }
            if is_low {
                [1.0, allowed(min, -most, FREE), 0.0, 0.0, FREE]
            } else {
                [1.0, allowed(max, -FREE, most), 0.0, -FREE, 0.0]
            }
        }
        // Speeds are differences of coordinates.
        Role::Motor(speed, most) => {
            link.lag = 1.0;
            [1.0, -value - law.h * speed, 0.0, -most, most]
        }
        Role::Spring([goal, spring, damping, most]) => {
            // k (C + u) = κ (c + u − c₀) + (d/h) u.
            let stiffness = spring + damping / law.h;
            if stiffness > 0.0 {
                let offset = -(spring * goal + damping / law.h * value) / stiffness;
                link.lag = damping / law.h / stiffness;
                [1.0, offset, 1.0 / stiffness, -most, most]
            } else {
                [0.0; 5]
            }
        }
    };
    (link.follow, link.offset, link.gives) = (follow, offset, gives);
    (link.lower, link.upper) = (lower, upper);
    link.force = known.force.clamp(lower, upper);
}

/// The inverse of the first n rows and columns of a positive definite matrix, by elimination.
fn inverted(mut a: [[f64; 6]; 6], n: usize) -> [[f64; 6]; 6] {
    let mut inverse = [[0.0; 6]; 6];
    for k in 0..n {
        inverse[k][k] = 1.0;
    }
    for k in 0..n {
        let pivot = a[k][k];
        let scale = if pivot > 0.0 { 1.0 / pivot } else { 0.0 };
        for j in 0..n {
            a[k][j] *= scale;
            inverse[k][j] *= scale;
        }
        let (row, inverse_row) = (a[k], inverse[k]);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k];
            for j in 0..n {
                a[i][j] -= factor * row[j];
                inverse[i][j] -= factor * inverse_row[j];
            }
        }
    }
    inverse
}

/// The leader of a body's linkage, halving the path on the way.
fn root(leader: &mut [u32], mut k: u32) -> u32 {
    while leader[k as usize] != k {
        let above = leader[leader[k as usize] as usize];
        leader[k as usize] = above;
        k = above;
    }
    k
}
