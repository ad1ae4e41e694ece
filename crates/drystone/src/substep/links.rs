//! Joints as rows of numbers, and what the kernels do with eight of them.
//!
//! Each coordinate of a joint ([`crate::joint::rows`]) that is locked, limited or driven is a row of
//! sixteen numbers: n, j_a, j_b, then
//!
//! | number | |
//! |---|---|
//! | C | what is missing at the start of the substep, m or rad |
//! | k | stiffness, N/m or N·m/rad |
//! | λ | force that is known to act on B, N or N·m |
//! | lower, upper | bounds of the force |
//! | follow | how C changes with the coordinate |
//! | learn | part of the error of λ that is made up for in a round |
//!
//! and its law is that of a contact point without friction,
//!
//! $$ f = \operatorname{clamp}(\lambda - k\,(C + u),\ \text{lower},\ \text{upper}) . $$
//!
//! A lock has no bounds, a limit one, a motor both and C = −h v. A spring of stiffness κ and
//! damping d is implicit, $k = \kappa + d/h$, $C = \kappa\,(c - c_0)/k$, and does not learn.
//!
//! As with contacts, stiffness follows the load. Angles are as stiff as distances are at the radius
//! of the smaller body.

use std::ops::Range;

use super::patch::{BodyGroup, Field, Sides, gather};
use super::reduced::{Moving, Stiff, V3, dot, zero};
use super::shared::Shared;
use super::simd::{Column, LANES, Wide, dispatch};
use crate::body::Bodies;
use crate::joint::Joints;
use crate::joint::rows::{Coordinate, Role, Row, rows_of};
use crate::space::{Components, Linear, Space};
use serde::{Deserialize, Serialize};

/// Columns of a row.
pub(crate) const ROW: usize = 2;
const N: usize = 0;
const J_A: usize = 3;
const J_B: usize = 6;
const MISSING: usize = 9;
const STIFFNESS: usize = 10;
const FORCE: usize = 11;
const LOWER: usize = 12;
const UPPER: usize = 13;
const FOLLOW: usize = 14;
const LEARN: usize = 15;
/// A force without bound, N.
const UNBOUNDED: f64 = 1e30;
/// Times its own mass that a motor's row is stiff, over h².
const MOTOR: f64 = 4.0;

/// Numbers that all rows of a step share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkLaw {
    /// h, s.
    pub(crate) h: f64,
    /// κ/(a h²), 1/m.
    pub(crate) stiffness: f64,
    /// a, m/s².
    pub(crate) acceleration: f64,
    /// Part of λ's error that is made up for in a round.
    pub(crate) learn: f64,
    /// Errors are made up for at this speed at most, m/s.
    pub(crate) speed: f64,
}

/// One row of a joint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LinkRow {
    /// Which bound a limit is near: −1 for the lower, 1 for the upper one.
    bound: i8,
}

/// Rows of one joint.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Link {
    joint: u32,
    first: u32,
    #[serde(skip)]
    roles: Vec<(Coordinate, Role)>,
}

/// The joints of a world as rows. Row 0 belongs to nobody.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Links {
    links: Vec<Link>,
    rows: Vec<LinkRow>,
    pub(crate) columns: Vec<Column>,
    /// Bodies A and B of each row, as places in the body columns.
    pub(crate) ends: Vec<[u32; 2]>,
    /// Version of the joints that rows were made for.
    version: u64,
}

impl Links {
    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Rows with their bodies, for the graph.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let rows = self.ends.iter().enumerate().skip(1);
        rows.filter(|(_, ends)| ends[0] != 0)
            .map(|(row, ends)| (row as u32, ends.map(|k| k - 1)))
    }

    /// Brings the list of rows up to date; whether it changed. Rows of joints that were there keep
    /// their forces.
    pub(crate) fn update<S: Space>(&mut self, joints: &Joints<S>) -> bool {
        if self.version == joints.version {
            return false;
        }
        let old = std::mem::take(self);
        self.version = joints.version;
        self.columns.resize(ROW, Column::default());
        self.ends.push([0; 2]);
        self.rows.push(LinkRow { bound: 0 });
        for (place, joint) in joints.iter() {
            let roles = rows_of::<S>(&joint.kind);
            let first = self.ends.len() as u32;
            let before = old.link_of(place);
            for k in 0..roles.len() {
                let kept = before.filter(|link| link.roles == roles);
                let from = kept.map(|link| link.first as usize + k);
                let at = self.columns.len();
                self.columns.resize(at + ROW, Column::default());
                self.rows.push(LinkRow { bound: 0 });
                if let Some(from) = from {
                    self.columns[at..].copy_from_slice(&old.columns[from * ROW..(from + 1) * ROW]);
                    self.rows[first as usize + k] = old.rows[from];
                }
                self.ends.push([joint.a + 1, joint.b + 1]);
            }
            self.links.push(Link {
                joint: place,
                first,
                roles,
            });
        }
        let room = self.ends.len().next_multiple_of(LANES);
        self.ends.resize(room, [0; 2]);
        self.columns.resize(room * ROW, Column::default());
        true
    }

    /// Makes what a snapshot leaves out.
    pub(crate) fn restore<S: Space>(&mut self, joints: &Joints<S>) {
        for (link, (_, joint)) in self.links.iter_mut().zip(joints.iter()) {
            link.roles = rows_of::<S>(&joint.kind);
        }
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let rows = self.ends.len();
        let ends = self.ends.iter().flatten();
        self.columns.len() == rows * ROW
            && self.rows.len() <= rows
            && self.links.is_sorted_by_key(|link| link.joint)
            && self.links.iter().all(|link| (link.first as usize) < rows)
            && ends.into_iter().all(|&k| k as usize <= bodies)
    }

    /// Links are in the order of joints.
    fn link_of(&self, joint: u32) -> Option<&Link> {
        let at = self.links.binary_search_by_key(&joint, |link| link.joint);
        at.ok().map(|at| &self.links[at])
    }

    fn number(&self, row: usize, at: usize) -> f64 {
        f64::from(self.columns[row * ROW + at / LANES].0[at % LANES])
    }

    fn put(&mut self, row: usize, at: usize, value: f64) {
        self.columns[row * ROW + at / LANES].0[at % LANES] = value as f32;
    }

    /// Forces along the rows of a joint, N and N·m.
    pub(crate) fn forces(&self, joint: u32) -> Vec<f64> {
        self.link_of(joint).map_or_else(Vec::new, |link| {
            (0..link.roles.len())
                .map(|k| self.number(link.first as usize + k, FORCE))
                .collect()
        })
    }

    /// Calls `f` with the bodies, n, j_a, j_b and the force of every row: what joints do to bodies.
    pub(crate) fn for_each_force<S: Space>(
        &self,
        mut f: impl FnMut([usize; 2], S::Vector, [S::Spin; 2], f64),
    ) {
        for (row, ends) in self.iter() {
            let row = row as usize;
            let spin = |first: usize| {
                (0..S::SPIN_DIM).fold(S::Spin::default(), |spin, axis| {
                    spin.with_component(axis, self.number(row, first + axis))
                })
            };
            let n = (0..S::DIM).fold(S::Vector::default(), |n, axis| {
                n.with_component(axis, self.number(row, N + axis))
            });
            let force = self.number(row, FORCE);
            f(ends.map(|k| k as usize), n, [spin(J_A), spin(J_B)], force);
        }
    }

    /// Writes all rows for a step from the present poses.
    pub(crate) fn prepare<S: Space>(
        &mut self,
        bodies: &Bodies<S>,
        joints: &Joints<S>,
        law: &LinkLaw,
        is_awake: impl Fn(usize) -> bool,
    ) {
        let links = std::mem::take(&mut self.links);
        for (link, (_, joint)) in links.iter().zip(joints.iter()) {
            let (a, b) = (joint.a as usize, joint.b as usize);
            if !(is_awake(a) || is_awake(b)) {
                continue;
            }
            let first = link.first as usize;
            let scale = self.scale(bodies, [a, b], link, law);
            joint.for_each_row(bodies, &link.roles, |k, row| {
                let (coordinate, role) = link.roles[k];
                let stiffness = if coordinate.is_angular() {
                    scale.angular
                } else {
                    scale.linear
                };
                self.write(bodies, first + k, (role, stiffness), &row, law);
            });
        }
        self.links = links;
    }

    /// Stiffness of a joint's rows.
    fn scale<S: Space>(
        &self,
        bodies: &Bodies<S>,
        ends: [usize; 2],
        link: &Link,
        law: &LinkLaw,
    ) -> Scale {
        let inverse: f64 = ends.iter().map(|&k| 1.0 / bodies.mass(k)).sum();
        let weight = law.acceleration / inverse;
        let radius = ends
            .iter()
            .filter(|&&k| bodies.is_dynamic(k))
            .map(|&k| bodies.radius[k])
            .fold(f64::INFINITY, f64::min);
        let (mut forces, mut torques) = (0.0, 0.0);
        for (k, (coordinate, role)) in link.roles.iter().enumerate() {
            let force = self.number(link.first as usize + k, FORCE);
            if matches!(role, Role::Lock | Role::Limit(..)) {
                let sum = if coordinate.is_angular() {
                    &mut torques
                } else {
                    &mut forces
                };
                *sum += force * force;
            }
        }
        let load = f64::sqrt(forces).max(weight).max(f64::sqrt(torques) / radius);
        let linear = law.stiffness * load;
        Scale {
            linear,
            angular: linear * radius * radius,
        }
    }

    fn write<S: Space>(
        &mut self,
        bodies: &Bodies<S>,
        at: usize,
        (role, stiffness): (Role, f64),
        row: &Row<S>,
        law: &LinkLaw,
    ) {
        for axis in 0..3 {
            self.put(at, N + axis, row.n.component(axis));
            self.put(at, J_A + axis, row.j_a.component(axis));
            self.put(at, J_B + axis, row.j_b.component(axis));
        }
        let bent = row.value + 0.5 * law.h * law.h * row.bend;
        let most = law.speed * law.h;
        let mut known = self.number(at, FORCE);
        let [missing, stiffness, lower, upper, follow, learn] = match role {
            Role::Lock => [
                bent.clamp(-most, most),
                stiffness,
                -UNBOUNDED,
                UNBOUNDED,
                1.0,
                law.learn,
            ],
            Role::Limit(min, max) if min == max => [
                (bent - min).clamp(-most, most),
                stiffness,
                -UNBOUNDED,
                UNBOUNDED,
                1.0,
                law.learn,
            ],
            Role::Limit(min, max) => {
                let is_low = row.value - min <= max - row.value;
                let bound = if is_low { -1 } else { 1 };
                if std::mem::replace(&mut self.rows[at].bound, bound) != bound {
                    known = 0.0;
                }
                if is_low {
                    let missing = (bent - min).max(-most);
                    [missing, stiffness, 0.0, UNBOUNDED, 1.0, law.learn]
                } else {
                    let missing = (bent - max).min(most);
                    [missing, stiffness, -UNBOUNDED, 0.0, 1.0, law.learn]
                }
            }
            Role::Motor(speed, most) => {
                let most = most.min(UNBOUNDED);
                let stiffness = MOTOR * moved_mass(bodies, self.ends[at], row) / (law.h * law.h);
                [-law.h * speed, stiffness, -most, most, 0.0, law.learn]
            }
            Role::Spring([goal, spring, damping, most]) => {
                let most = most.min(UNBOUNDED);
                let stiffness = spring + damping / law.h;
                let follow = if stiffness > 0.0 {
                    spring / stiffness
                } else {
                    0.0
                };
                known = 0.0;
                [follow * (row.value - goal), stiffness, -most, most, follow, 0.0]
            }
        };
        for (place, value) in [
            (MISSING, missing),
            (STIFFNESS, stiffness),
            (FORCE, known.clamp(lower, upper)),
            (LOWER, lower),
            (UPPER, upper),
            (FOLLOW, follow),
            (LEARN, learn),
        ] {
            self.put(at, place, value);
        }
    }
}

struct Scale {
    linear: f64,
    angular: f64,
}

/// Mass or inertia that a force along a row moves.
fn moved_mass<S: Space>(bodies: &Bodies<S>, ends: [u32; 2], row: &Row<S>) -> f64 {
    let of = |k: usize, j: S::Spin| {
        let turned = S::apply_inertia(&bodies.world_inv_inertia(k), j);
        row.n.dot(bodies.inertial[k].inv_mass.scale(row.n)) + j.dot(turned)
    };
    let [a, b] = ends.map(|k| k as usize - 1);
    let inverse = of(a, row.j_a) + of(b, row.j_b);
    if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
}

/// Eight rows, transposed.
#[inline(always)]
fn read<V: Wide>(columns: &Shared<'_, Column>, indices: &[u32; LANES]) -> [V; 16] {
    let mut numbers = [zero::<V>(); 16];
    for column in 0..ROW {
        let mut rows = [zero::<V>(); LANES];
        for k in 0..LANES {
            rows[k] = V::load(&columns.read(indices[k] as usize * ROW + column));
        }
        numbers[column * LANES..(column + 1) * LANES].copy_from_slice(&V::transpose(rows));
    }
    numbers
}

#[inline(always)]
fn three<V: Wide>(numbers: &[V; 16], first: usize) -> V3<V> {
    [numbers[first], numbers[first + 1], numbers[first + 2]]
}

/// λ − k (C + u), without bounds.
#[inline(always)]
fn unbounded<V: Wide>(numbers: &[V; 16], u: V) -> V {
    numbers[FORCE] - numbers[STIFFNESS] * (numbers[MISSING] + u)
}

/// 1 where a force lies between its bounds.
#[inline(always)]
fn is_inside<V: Wide>(numbers: &[V; 16], f: V) -> V {
    (f - numbers[LOWER]).positive() * (numbers[UPPER] - f).positive()
}

/// Adds what one row of each of eight bodies does to it.
#[inline(always)]
pub(crate) fn add_link<S: Space, V: Wide>(
    field: &Field<'_>,
    sides: &Sides,
    (own, aim): (&Moving<V>, &Moving<V>),
    stiff: &mut Stiff<V>,
) {
    let (one, half) = (V::splat(1.0), V::splat(0.5));
    let numbers = read::<V>(&field.links, &sides.records);
    let other = S::motion(&gather::<V>(&field.shift, &sides.others));
    let side = V::load(&sides.side);
    let (is_b, is_a) = (half * (one + side), half * (one - side));
    let (n, j_a, j_b) = (
        three(&numbers, N),
        three(&numbers, J_A),
        three(&numbers, J_B),
    );
    let (mut own_j, mut other_j) = ([zero::<V>(); 3], [zero::<V>(); 3]);
    for k in 0..3 {
        own_j[k] = is_b * j_b[k] + is_a * j_a[k];
        other_j[k] = is_b * j_a[k] + is_a * j_b[k];
    }
    let others = dot(n, other.linear) + dot(other_j, other.angular);
    let u = side * (dot(n, own.linear) + dot(own_j, own.angular) - others);
    let u_aim = side * (dot(n, aim.linear) + dot(own_j, aim.angular) - others);
    let f = unbounded(&numbers, u);
    let is_stiff = is_inside(&numbers, f).most(is_inside(&numbers, unbounded(&numbers, u_aim)));
    let k = numbers[STIFFNESS] * is_stiff;
    let f = side * f.most(numbers[LOWER]).least(numbers[UPPER]);
    for i in 0..3 {
        stiff.load.linear[i] = stiff.load.linear[i] + f * n[i];
        stiff.load.angular[i] = stiff.load.angular[i] + f * own_j[i];
    }
    for (place, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
        .into_iter()
        .enumerate()
    {
        stiff.linear[place] = stiff.linear[place] + k * n[i] * n[j];
        stiff.angular[place] = stiff.angular[place] + k * own_j[i] * own_j[j];
    }
    for i in 0..3 {
        let kj = k * own_j[i];
        for j in 0..3 {
            stiff.mixed[3 * i + j] = stiff.mixed[3 * i + j] + kj * n[j];
        }
    }
}

/// Displacement along eight rows in the substep.
#[inline(always)]
fn moved<S: Space, V: Wide>(
    field: &Field<'_>,
    numbers: &[V; 16],
    (a, b): (&[u32; LANES], &[u32; LANES]),
) -> V {
    let a = S::motion(&gather::<V>(&field.shift, a));
    let b = S::motion(&gather::<V>(&field.shift, b));
    let n = three(numbers, N);
    dot(n, b.linear) - dot(n, a.linear)
        + (dot(three(numbers, J_B), b.angular) - dot(three(numbers, J_A), a.angular))
}

/// Calls for each group of eight rows, and writes them back.
#[inline(always)]
fn change_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: Range<usize>, what: Change) {
    for group in groups {
        let (mut rows, mut a, mut b) = ([0; LANES], [0; LANES], [0; LANES]);
        for k in 0..LANES {
            rows[k] = (group * LANES + k) as u32;
            [a[k], b[k]] = field.link_ends[group * LANES + k];
        }
        let mut numbers = read::<V>(&field.links, &rows);
        let u = moved::<S, V>(field, &numbers, (&a, &b));
        match what {
            Change::Learn | Change::Tell => {
                let f = unbounded(&numbers, u)
                    .most(numbers[LOWER])
                    .least(numbers[UPPER]);
                let (known, learn) = (numbers[FORCE], numbers[LEARN]);
                let part = if what == Change::Tell {
                    learn + (V::splat(1.0) - learn.positive())
                } else {
                    learn
                };
                numbers[FORCE] = known + part * (f - known);
            }
            Change::Carry => numbers[MISSING] = numbers[MISSING] + numbers[FOLLOW] * u,
        }
        for column in 0..ROW {
            let mut eight = [zero::<V>(); LANES];
            eight.copy_from_slice(&numbers[column * LANES..(column + 1) * LANES]);
            for (k, row) in V::transpose(eight).into_iter().enumerate() {
                let mut stored = Column::default();
                row.store(&mut stored);
                field.links.write(rows[k] as usize * ROW + column, stored);
            }
        }
    }
}

/// What is done to rows between rounds and substeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Known forces move towards the present ones.
    Learn,
    /// The same; springs, which do not learn, tell what they carry.
    Tell,
    /// What is missing follows the bodies.
    Carry,
}

/// Moves each body of a colour to where inertia, its patches and its joints balance.
#[inline(always)]
fn settle_linked_kernel<S: Space, V: Wide>(
    field: &Field<'_>,
    groups: &[BodyGroup],
    sides: &[Sides],
    links: &[Sides],
) {
    for group in groups {
        let (own, aim, mass, inertia, held) = super::patch::held::<S, V>(field, group, sides);
        let mut stiff = S::stiffness(&held, mass, &inertia);
        for entry in &links[group.link_start as usize..group.link_end as usize] {
            add_link::<S, V>(field, entry, (&own, &aim), &mut stiff);
        }
        let change = S::balance_stiff(&stiff);
        super::patch::move_group::<S, V>(field, group, &own, &change);
    }
}

dispatch! {
    /// Moves each body of a colour to where inertia, its patches and its joints balance.
    fn settle_linked<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides], links: &[Sides]) = settle_linked_kernel
}
dispatch! {
    /// Changes rows between rounds and substeps.
    fn change<S: Space>(field: &Field<'_>, groups: Range<usize>, what: Change) = change_kernel
}
