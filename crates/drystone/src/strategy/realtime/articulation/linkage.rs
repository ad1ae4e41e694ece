//! A linkage: joints that share bodies, ordered, linearised and factorised together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Ground;
use super::geometric_stiffness::{Pull, Stiffer};
use super::joint_net::JointNet;
use super::pattern::neighbours;
use super::row::{Entry, LinkRow, is_lock, push_locks};
use super::warm_start::WarmStartRows;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Components, Linear};
use crate::math::sparse_ldlt::{Factors, elimination_order};
use crate::model::body::{Bodies, Motion};
use crate::model::joint::rows::{Coordinate, Gauge, Poses, Role};
use crate::strategy::realtime::body_columns::get;
use crate::strategy::realtime::manifold::Field;

/// Entries of S a joint up to which a linkage is factorised.
const MOST_ENTRIES: usize = 8;
/// Difference of turns beyond which rows are made again, rad: up to it a joint with an arm of 1 m
/// opens by 0.2 mm.
pub(super) const BENT: f64 = 0.02;
/// Part of a correction that sweeps over nets take: more than one over-relaxes.
const RELAXATION: f64 = 1.0;

/// A joint's rows in its linkage.
#[derive(Clone, Debug)]
pub(super) struct JointRows<S: Space> {
    pub(super) joint: u32,
    pub(super) gauge: Gauge<S>,
    pub(super) roles: Vec<(Coordinate, Role)>,
    /// Places of its bodies in the linkage's list.
    pub(super) ends: [u32; 2],
    /// Where each is in the linkage's list.
    pub(super) at: Vec<u32>,
}

/// Joints that share bodies.
#[derive(Clone, Debug)]
pub(crate) struct Linkage<S: Space> {
    pub(super) bodies: Vec<u32>,
    pub(super) joints: Vec<JointRows<S>>,
    /// Locks in the order of elimination, joint by joint; then rows with bounds.
    pub(super) rows: Vec<LinkRow<S>>,
    /// λ of each row, N or N·m: apart, for it goes in and out in every step.
    pub(super) forces: Vec<f64>,
    pub(super) locks: usize,
    /// First lock of each joint, in the order of elimination; one more at the end.
    pub(super) blocks: Vec<u32>,
    pub(super) factors: Option<Factors>,
    /// What sweeps a net of ball joints.
    pub(super) joint_net: Option<JointNet>,
    /// Entries of S off its diagonal, as `factors` wants them, and the diagonal.
    pub(super) entries: Vec<Entry>,
    pub(super) above: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// Inverses of the joints' own blocks of S, one after the other, where it is not factorised.
    pub(super) inverses: Vec<f64>,
    /// Which bodies touch something, and whether any does.
    pub(super) is_touched: Vec<bool>,
    pub(super) has_contact: bool,
    pub(super) is_awake: bool,
    /// Whether all of its joints are ball joints and hinges ([`super::lanes`]).
    pub(super) is_plain: bool,
    /// Where in a step directions are taken.
    pub(super) part: f64,
    /// Poses of centres of mass and motions at the start of a substep or stride.
    pub(super) pose: Vec<Pose<S>>,
    pub(super) motion: Vec<Motion<S>>,
    /// What was added to motions by half kicks, as an acceleration; accelerations in the last two
    /// strides; and whether none are known ([`super::free_rotation`]).
    pub(super) kick: Vec<Motion<S>>,
    pub(super) gain: Vec<Motion<S>>,
    pub(super) older: Vec<Motion<S>>,
    pub(super) is_fresh: bool,
    /// Motions at the start of a stride, how much further bodies turn in it than by their spin, and
    /// where they aim without that.
    pub(super) start: Vec<Motion<S>>,
    pub(super) rotate_freely: Vec<S::Spin>,
    pub(super) plain: Vec<S::Spin>,
    /// Displacements and forces before a correction.
    pub(super) saved: (Vec<Motion<S>>, Vec<f64>),
    /// Poses at its end and where directions count.
    pub(super) end: Vec<Pose<S>>,
    pub(super) within: Vec<Pose<S>>,
    // What a correction works on.
    pub(super) x: Vec<Motion<S>>,
    pub(super) aim: Vec<Motion<S>>,
    /// How bodies resist: inertia, the same with what forces add, and inverses of that.
    pub(super) bare: Vec<S::Inertia>,
    pub(super) inertia: Vec<S::Inertia>,
    pub(super) inverse: Vec<S::Inertia>,
    pub(super) inverse_mass: Vec<S::Vector>,
    pub(super) stiffer: Vec<Stiffer<S>>,
    /// What pulls at bodies in all, and the largest force it was made for, N or N·m.
    pub(super) taut: Vec<Stiffer<S>>,
    pub(super) largest: f64,
    /// Displacements that rows were made for.
    pub(super) made_for: Vec<Motion<S>>,
    pub(super) pushed: Vec<Motion<S>>,
    pub(super) missing: Vec<f64>,
    /// Whether it was hit in this step, and impulses of that along locks, N·s or N·m·s.
    pub(super) is_hit: bool,
    pub(super) impacts: Vec<f64>,
}

impl<S: Space> Linkage<S> {
    pub(super) fn new(
        bodies: &Bodies<S>,
        group: Vec<JointRows<S>>,
        ends: &BTreeMap<u32, [u32; 2]>,
    ) -> Self {
        let all: BTreeSet<u32> = group.iter().flat_map(|j| ends[&j.joint]).collect();
        let list: Vec<u32> = all.into_iter().collect();
        let place = |body: u32| list.binary_search(&body).unwrap_or(0) as u32;
        let near = neighbours(bodies, &group, ends);
        let order = elimination_order(near, MOST_ENTRIES);
        let is_direct = order.is_some();
        let order = order.unwrap_or_else(|| (0..group.len() as u32).collect());
        let mut joints: Vec<JointRows<S>> =
            order.iter().map(|&k| group[k as usize].clone()).collect();
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
            forces: vec![0.0; rows.len()],
            rows,
            locks,
            blocks,
            factors: None,
            joint_net: None,
            entries: Vec::new(),
            above: Vec::new(),
            diagonal: Vec::new(),
            inverses: Vec::new(),
            is_touched: vec![false; count],
            has_contact: false,
            is_awake: true,
            is_plain: false,
            part: 0.0,
            x: vec![Motion::default(); count],
            pose: vec![Pose::default(); count],
            motion: vec![Motion::default(); count],
            kick: vec![Motion::default(); count],
            gain: vec![Motion::default(); count],
            older: vec![Motion::default(); count],
            is_fresh: true,
            start: vec![Motion::default(); count],
            rotate_freely: vec![S::Spin::default(); count],
            plain: Vec::with_capacity(count),
            saved: Default::default(),
            end: vec![Pose::default(); count],
            within: vec![Pose::default(); count],
            aim: vec![Motion::default(); count],
            bare: vec![S::NO_INERTIA; count],
            inertia: vec![S::NO_INERTIA; count],
            inverse: vec![S::NO_INERTIA; count],
            inverse_mass: vec![S::Vector::default(); count],
            stiffer: vec![Stiffer::default(); count],
            taut: vec![Stiffer::default(); count],
            largest: 0.0,
            made_for: vec![Motion::default(); count],
            pushed: vec![Motion::default(); count],
            missing: vec![0.0; locks],
            is_hit: false,
            impacts: vec![0.0; locks],
        };
        if is_direct {
            this.make_factors(bodies);
        } else {
            this.joint_net = JointNet::new(bodies, &this.bodies, &this.joints);
        }
        this
    }

    /// Starts a step: takes over poses.
    pub(super) fn begin(&mut self, bodies: &Bodies<S>) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let body = body as usize;
            self.pose[k] = Pose {
                position: bodies.position[body],
                rotation: bodies.rotation[body],
            };
            self.motion[k] = bodies.motion[body];
        }
    }

    /// Writes rows for displacements near the present ones, and factorises.
    pub(super) fn linearise(&mut self, ground: &Ground<'_, S>, h: f64) {
        self.shape_rows();
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
        self.factorise();
    }

    pub(super) fn factorise(&mut self) {
        match &mut self.factors {
            Some(factors) => {
                let rows = &self.rows;
                for (above, entry) in self.above.iter_mut().zip(&self.entries) {
                    *above = entry.coupling(rows);
                }
                self.diagonal.clear();
                let diagonal = rows[..self.locks].iter().map(|r| r.diagonal);
                self.diagonal.extend(diagonal);
                factors.factorise::<f64>(&self.diagonal, &self.above);
            }
            None => self.invert_blocks(),
        }
    }

    /// Writes the rows' coordinates and directions.
    pub(super) fn shape_rows(&mut self) {
        self.stiffer.iter_mut().for_each(Stiffer::clear);
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
            let (rows, x, stiffer) = (&mut self.rows, &self.x, &mut self.stiffer);
            let forces = &self.forces;
            let [a, b] = joint.ends.map(|k| k as usize);
            let poses = Poses {
                end: [a, b].map(|k| &self.end[k]),
                within: [a, b].map(|k| &self.within[k]),
            };
            let mut pull = Pull::default();
            joint.gauge.for_each_row(&joint.roles, &poses, |k, row| {
                let at = joint.at[k] as usize;
                let link = &mut rows[at];
                (link.n, link.j_a, link.j_b) = (row.n, row.j_a, row.j_b);
                let value = link.coordinate(row.value);
                link.missing = link.follow * (value - link.moved(x)) + link.offset;
                pull.add(&row, forces[at]);
            });
            pull.stiffen([a, b], self.part, stiffer);
        }
    }

    /// Works out the inertia of bodies, and the same with what known forces add.
    pub(super) fn weigh(&mut self, ground: &Ground<'_, S>, h: f64) {
        for (k, &body) in self.bodies.iter().enumerate() {
            if ground.bodies.is_dynamic(body as usize) {
                let inertial = &ground.bodies.inertial[body as usize];
                self.bare[k] = inertial.inertia_at(self.pose[k].rotation);
                self.inertia[k] = self.bare[k];
                for (arm, s) in self.stiffer[k].arms.iter().take(self.stiffer[k].count) {
                    self.inertia[k] = S::stiffened(&self.inertia[k], *arm, h * h * s);
                }
            }
        }
    }

    /// Works out how bodies resist displacements.
    pub(super) fn stiffen(&mut self, ground: &Ground<'_, S>, h: f64) {
        self.weigh(ground, h);
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
            self.inverse[k] = if stiffer.count > 0 && bodies.turns(body) {
                inertial.masked(S::invert_inertia(&self.inertia[k]))
            } else {
                inertial.inv_inertia_at(self.pose[k].rotation)
            };
        }
    }

    /// Where a body would go by itself from its present displacement: a Newton step towards `aim`
    /// (inertia and forces, without joints).
    pub(super) fn target(&self, ground: &Ground<'_, S>, k: usize, aim: &Motion<S>) -> Motion<S> {
        let bodies = ground.bodies;
        let body = self.bodies[k] as usize;
        let (x, inertial) = (&self.x[k], &bodies.inertial[body]);
        let away = Motion::<S> {
            linear: aim.linear - x.linear,
            spin: aim.spin - x.spin,
        };
        let twist = S::apply_inertia(&self.bare[k], away.spin);
        let free = self.inverse_mass[k] * inertial.mass;
        Motion {
            linear: x.linear + away.linear.scale(free),
            spin: x.spin + S::apply_inertia(&self.inverse[k], twist),
        }
    }

    /// Inverts each joint's own block of S.
    pub(super) fn invert_blocks(&mut self) {
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

    /// How many bodies it has.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Some of its bodies, their poses and motions.
    pub(crate) fn states(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (usize, &Pose<S>, &Motion<S>)> {
        range.map(|k| (self.bodies[k] as usize, &self.pose[k], &self.motion[k]))
    }

    /// Whether contacts have a say.
    pub(crate) fn is_coupled(&self) -> bool {
        self.is_awake && self.has_contact
    }

    /// Starts the next substep from where the last one ended.
    pub(super) fn carry(&mut self, field: &Field<'_>) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let x: Motion<S> = get(&field.shift.read(body as usize + 1));
            self.pose[k].position += x.linear;
            self.pose[k].rotation = S::turn(self.pose[k].rotation, x.spin);
            self.x[k] = x;
        }
        for row in &mut self.rows {
            // A speed is a difference of coordinates, a damper pulls at where it was.
            let moved = row.moved(&self.x);
            row.offset -= row.lag * moved;
            row.start += moved;
        }
    }

    /// Takes over the forces of the step before.
    pub(super) fn recall(&mut self, known: &WarmStartRows) {
        for joint in &self.joints {
            for (known, &at) in known.of(joint.joint).iter().zip(&joint.at) {
                self.forces[at as usize] = known.force;
            }
        }
        self.largest = self.largest_force();
    }

    /// Remembers forces.
    pub(super) fn remember(&self, known: &mut WarmStartRows) {
        for joint in &self.joints {
            for (known, &at) in known.of_mut(joint.joint).iter_mut().zip(&joint.at) {
                known.force = self.forces[at as usize];
            }
        }
    }

    /// Whether one solution is the whole one: no bounds, and S is factorised.
    pub(super) fn is_exact(&self) -> bool {
        self.factors.is_some() && self.rows.len() == self.locks
    }

    /// Takes known forces into the displacements. What is solved exactly starts from none: that is
    /// as good and costs less.
    pub(super) fn push_known(&mut self) {
        if self.is_exact() {
            self.forces.fill(0.0);
        } else {
            for (row, &force) in self.rows.iter().zip(&self.forces) {
                row.push(force, &mut self.x);
            }
        }
    }

    pub(super) fn solve(&mut self) {
        self.sweep_bounded();
        if self.factors.is_some() {
            self.solve_locks();
        } else {
            self.sweep_locks();
        }
    }

    /// How much turns differ from those that rows were made for, at most, rad.
    pub(super) fn bends(&self) -> f64 {
        let pairs = self.x.iter().zip(&self.made_for);
        pairs
            .map(|(x, made_for)| (x.spin - made_for.spin).length())
            .fold(0.0, f64::max)
    }

    pub(super) fn sweep_bounded(&mut self) {
        let rows = self.rows.iter().zip(&mut self.forces);
        for (row, known) in rows.skip(self.locks) {
            if row.diagonal <= 0.0 {
                continue;
            }
            let missing = row.missing + row.moved(&self.x) + row.gives * *known;
            let force = (*known - missing / row.diagonal).clamp(row.lower, row.upper);
            let change = force - *known;
            *known = force;
            row.push(change, &mut self.x);
        }
    }

    pub(super) fn solve_locks(&mut self) {
        for (row, missing) in self.rows.iter().zip(&mut self.missing) {
            *missing = -(row.missing + row.moved(&self.x));
        }
        if let Some(factors) = &self.factors {
            factors.solve::<f64>(&mut self.missing);
        }
        for (force, change) in self.forces.iter_mut().zip(&self.missing) {
            *force += change;
        }
        push_locks((&self.rows, &self.blocks), &self.missing, &mut self.x);
    }

    /// One sweep over the joints, one way and back in turns.
    pub(super) fn sweep_locks(&mut self) {
        let mut at = 0;
        let mut missing = [0.0; 6];
        for block in self.blocks.windows(2) {
            let range = block[0] as usize..block[1] as usize;
            let (rows, forces) = (&self.rows[range.clone()], &mut self.forces[range]);
            let n = rows.len();
            for (row, missing) in rows.iter().zip(&mut missing) {
                *missing = row.missing + row.moved(&self.x);
            }
            let inverse = &self.inverses[at..at + n * n];
            for (i, (row, force)) in rows.iter().zip(forces).enumerate() {
                let along: f64 = (0..n).map(|j| inverse[i * n + j] * missing[j]).sum();
                let change = -RELAXATION * along;
                *force += change;
                row.push(change, &mut self.x);
            }
            at += n * n;
        }
    }
}

/// The inverse of the first n rows and columns of a positive definite matrix, by elimination.
#[allow(clippy::needless_range_loop)] // Rows and columns of a matrix.
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
