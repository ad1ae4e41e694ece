//! Body state in columns for the kernels: single precision, relative to a base pose.
//!
//! Place 0 belongs to nothing (empty lanes read it), body k is at k + 1. Positions never appear
//! here: only how far a body has drifted from its **base pose**, which is kept in double
//! precision. So a scene works ten thousand kilometres from the origin as it does there.

use std::ops::Range;

use super::half_kicks::{Kick, half_kick, is_smooth};
use super::manifold::Field;
use super::manifold_records::Records;
use crate::dynamics::integrate;
use crate::dynamics::integrate::Damped;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Components, Linear};
use crate::math::simd::{Column, LANES};
use crate::model::body::{Bodies, Motion};
use crate::parallel::shared_slice::SharedSlice;
use serde::{Deserialize, Serialize};

/// A mass or inertia that nothing moves, kg or kg·m²: large, yet its square is a number.
const IMMOVABLE: f64 = 1e15;

/// Part of the forces' acceleration that a body has across it from which on it slides or rolls.
const SLIDING: f32 = 0.05;

/// Columns of all bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct BodyColumns<S: Space> {
    /// Pose of the centre of mass that drift refers to.
    pub(crate) base: Vec<Pose<S>>,
    /// Displacement and turn since the base pose, m and rad.
    drift: Vec<Column>,
    /// Velocity, and that of the substep before.
    #[serde(skip)]
    motion: Vec<Column>,
    before: Vec<Column>,
    /// Acceleration in the last substep ([`super::half_kicks`]), and which bodies have none yet.
    pub(super) gain: Vec<Column>,
    /// Of bodies of linkages: the same in full, so that momentum is kept to rounding, and that without
    /// extrapolation. Shorter where there are none.
    older: Vec<[Motion<S>; 2]>,
    pub(super) is_fresh: Vec<bool>,
    /// Displacement in a substep besides that by the velocity.
    #[serde(skip)]
    offset: Vec<Column>,
    /// Displacement in a substep, and what it would be without contact.
    #[serde(skip)]
    shift: Vec<Column>,
    #[serde(skip)]
    aim: Vec<Column>,
    /// Mass and inertia over h².
    #[serde(skip)]
    mass: Vec<Column>,
    #[serde(skip)]
    inertia: Vec<Column>,
    /// Velocity that forces add in a substep.
    #[serde(skip)]
    push: Vec<Column>,
    /// Factor by which damping leaves motion in a substep.
    #[serde(skip)]
    keep: Vec<Column>,
    /// What holds bodies that linkages move, two columns each.
    #[serde(skip)]
    grasp: Vec<Column>,
    /// Displacement in a substep that repairs overlaps.
    #[serde(skip)]
    nudge: Vec<Column>,
}

impl<S: Space> Default for BodyColumns<S> {
    fn default() -> Self {
        let nobody = || vec![Column::default()];
        Self {
            base: Vec::new(),
            drift: nobody(),
            motion: nobody(),
            before: nobody(),
            gain: nobody(),
            older: Vec::new(),
            is_fresh: vec![false],
            offset: nobody(),
            shift: nobody(),
            aim: nobody(),
            mass: nobody(),
            inertia: nobody(),
            push: nobody(),
            keep: nobody(),
            grasp: Vec::new(),
            nudge: nobody(),
        }
    }
}

impl<S: Space> BodyColumns<S> {
    /// Makes room for new bodies, whose base is where they are.
    pub(crate) fn grow(&mut self, bodies: &Bodies<S>) {
        for k in self.base.len()..bodies.len() {
            self.base.push(Pose {
                position: bodies.position[k],
                rotation: bodies.rotation[k],
            });
            self.before.push(Column::default());
            put(&mut self.before[k + 1], &bodies.motion[k]);
            self.gain.push(Column::default());
            self.is_fresh.push(true);
        }
        self.make_room();
    }

    /// Makes all columns as long as there are bases.
    pub(crate) fn make_room(&mut self) {
        let count = self.base.len() + 1;
        for columns in [
            &mut self.drift,
            &mut self.motion,
            &mut self.offset,
            &mut self.shift,
            &mut self.aim,
            &mut self.mass,
            &mut self.inertia,
            &mut self.push,
            &mut self.keep,
            &mut self.nudge,
        ] {
            columns.resize(count, Column::default());
        }
        self.grasp.resize(2 * count, Column::default());
    }

    /// Forgets what a body did before; it is another one now.
    pub(crate) fn forget(&mut self, bodies: &Bodies<S>, k: usize) {
        if k < self.base.len() {
            put(&mut self.before[k + 1], &bodies.motion[k]);
        }
    }

    /// Lets a body start afresh: what moves it now may be other forces than before.
    pub(crate) fn refresh(&mut self, k: usize) {
        if k < self.base.len() {
            self.is_fresh[k + 1] = true;
        }
    }

    /// What was added to a body's motion by a half kick, its acceleration, and whether it has none
    /// yet. Bodies that rounds move have both in one.
    pub(crate) fn gains(&self, k: usize) -> ([Motion<S>; 2], bool) {
        let [full, older] = self.older.get(k + 1).copied().unwrap_or_default();
        let gain = &self.gain[k + 1];
        let is_of_linkage = column(&full).0 == gain.0;
        let kick = if is_of_linkage { full } else { get(gain) };
        ([kick, older], self.is_fresh[k + 1])
    }

    /// The same of a body that its linkage has moved.
    pub(crate) fn set_gains(&mut self, k: usize, gains: [Motion<S>; 2]) {
        if self.older.len() < self.gain.len() {
            self.older.resize(self.gain.len(), Default::default());
        }
        (self.gain[k + 1], self.older[k + 1]) = (column(&gains[0]), gains);
        self.is_fresh[k + 1] = false;
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let count = self.base.len();
        let columns = [&self.drift, &self.before, &self.gain];
        count <= bodies
            && columns.iter().all(|column| column.len() == count + 1)
            && self.is_fresh.len() == count + 1
            && self.older.len() <= count + 1
    }

    /// Stops a body.
    pub(crate) fn rest(&mut self, k: usize) {
        for columns in [
            &mut self.motion,
            &mut self.before,
            &mut self.gain,
            &mut self.offset,
            &mut self.shift,
            &mut self.aim,
            &mut self.push,
            &mut self.nudge,
        ] {
            columns[k + 1] = Column::default();
        }
        self.is_fresh[k + 1] = false;
    }

    /// Base poses and drifts, to be changed by several threads.
    pub(crate) fn share_bases(&mut self) -> Bases<'_, S> {
        Bases {
            base: SharedSlice::new(&mut self.base),
            drift: SharedSlice::new(&mut self.drift),
        }
    }

    /// Displacement and turn of a body since its base pose.
    pub(crate) fn drift_of(&self, k: usize) -> Motion<S> {
        get(&self.drift[k + 1])
    }

    /// How far the last substep moved a body to repair overlaps, m.
    pub(crate) fn nudged(&self, k: usize) -> f64 {
        let nudge: Motion<S> = get(&self.nudge[k + 1]);
        nudge.linear.length()
    }

    /// Displacement of a body in the present substep.
    pub(crate) fn shift_of(&self, k: usize) -> Motion<S> {
        get(&self.shift[k + 1])
    }

    /// What the displacement of a body in the present substep would be without contact.
    pub(crate) fn aim_of(&self, k: usize) -> Motion<S> {
        get(&self.aim[k + 1])
    }

    /// Says how far a body goes in the present substep.
    pub(crate) fn set_shift(&mut self, k: usize, shift: &Motion<S>) {
        put(&mut self.shift[k + 1], shift);
    }

    /// The motion of a body before the last substep, and what it would be after it without contact.
    pub(crate) fn last_substep(&self, k: usize, h: f64) -> (Motion<S>, Motion<S>) {
        let aim: Motion<S> = get(&self.aim[k + 1]);
        let offset: Motion<S> = get(&self.offset[k + 1]);
        let before: Motion<S> = get(&self.before[k + 1]);
        let kick = half_kick::<S>(&self.gain[k + 1], h);
        let free = Motion {
            linear: (aim.linear - offset.linear) * (1.0 / h) + kick.linear,
            spin: (aim.spin - offset.spin) * (1.0 / h) + kick.spin,
        };
        let before = Motion {
            linear: before.linear + kick.linear,
            spin: before.spin + kick.spin,
        };
        (before, free)
    }

    /// What the kernels work on, what moves bodies between their calls, and the base poses.
    pub(crate) fn share<'a>(
        &'a mut self,
        records: &'a mut Records,
    ) -> (Field<'a>, Flight<'a>, &'a [Pose<S>]) {
        (
            Field {
                records: SharedSlice::new(&mut records.columns),
                ends: &records.ends,
                motion: SharedSlice::new(&mut self.motion),
                drift: SharedSlice::new(&mut self.drift),
                shift: SharedSlice::new(&mut self.shift),
                aim: SharedSlice::new(&mut self.aim),
                mass: SharedSlice::new(&mut self.mass),
                inertia: SharedSlice::new(&mut self.inertia),
                grasp: SharedSlice::new(&mut self.grasp),
                nudge: SharedSlice::new(&mut self.nudge),
            },
            Flight {
                before: SharedSlice::new(&mut self.before),
                gain: SharedSlice::new(&mut self.gain),
                is_fresh: SharedSlice::new(&mut self.is_fresh),
                offset: SharedSlice::new(&mut self.offset),
                push: SharedSlice::new(&mut self.push),
                keep: SharedSlice::new(&mut self.keep),
                linear: S::DIM,
            },
            &self.base,
        )
    }
}

/// How far a pose is from a base pose.
pub(super) fn drift<S: Space>(base: &Pose<S>, pose: &Pose<S>) -> Motion<S> {
    Motion {
        linear: pose.position - base.position,
        spin: S::turn_between(base.rotation, pose.rotation),
    }
}

/// Base poses and drifts that several threads change, each of its own bodies.
pub(crate) struct Bases<'a, S: Space> {
    base: SharedSlice<'a, Pose<S>>,
    drift: SharedSlice<'a, Column>,
}

impl<S: Space> Bases<'_, S> {
    /// Displacement and turn of a body since its base pose, as the columns have it.
    pub(crate) fn drift_of(&self, k: usize) -> Motion<S> {
        get(&self.drift.read(k + 1))
    }

    /// Says where a body is.
    pub(crate) fn set_pose(&self, k: usize, pose: &Pose<S>) {
        let drift = drift(&self.base.read(k), pose);
        self.drift.write(k + 1, column(&drift));
    }

    /// Makes the present pose of a body its base. Returns how far that is from the last one.
    pub(crate) fn rebase(&self, bodies: &Bodies<S>, k: usize) -> Motion<S> {
        let pose = Pose {
            position: bodies.position[k],
            rotation: bodies.rotation[k],
        };
        let moved = drift(&self.base.read(k), &pose);
        self.base.write(k, pose);
        self.drift.write(k + 1, Column::default());
        moved
    }
}

/// What moves bodies besides contact.
pub(crate) struct Flight<'a> {
    before: SharedSlice<'a, Column>,
    pub(super) gain: SharedSlice<'a, Column>,
    is_fresh: SharedSlice<'a, bool>,
    offset: SharedSlice<'a, Column>,
    push: SharedSlice<'a, Column>,
    keep: SharedSlice<'a, Column>,
    /// Places of linear motion in a column.
    linear: usize,
}

impl Flight<'_> {
    /// Takes over a body's motion, and what forces do to it in a substep. Only a body that rounds
    /// move by itself may start afresh.
    pub(crate) fn load<S: Space>(
        &self,
        field: &Field<'_>,
        bodies: &Bodies<S>,
        k: usize,
        kick: &Kick<S>,
    ) {
        let (place, h) = (k + 1, kick.h);
        if !kick.may_start {
            if self.is_fresh.read(place) {
                self.gain.write(place, Column::default());
            }
            self.is_fresh.write(place, false);
        }
        let mut motion = bodies.motion[k];
        if !self.is_fresh.read(place) {
            let half = half_kick::<S>(&self.gain.read(place), h);
            motion.linear -= half.linear;
            motion.spin -= half.spin;
        }
        let mut offset = kick.offset;
        offset.spin += integrate::tumbled(bodies, k, bodies.rotation[k], motion.spin, h);
        self.offset.write(place, column(&offset));
        field.motion.write(place, column(&motion));
        let (linear, angular) = bodies.damping[k];
        let (linear, angular) = (Damped::new(linear, h), Damped::new(angular, h));
        self.push.write(
            place,
            column::<S>(&Motion {
                linear: kick.acceleration.linear * linear.reach,
                spin: kick.acceleration.spin * angular.reach,
            }),
        );
        self.keep.write(
            place,
            column::<S>(&Motion {
                linear: S::Vector::splat(linear.left),
                spin: S::Spin::splat(angular.left),
            }),
        );
    }

    /// Notes that a body was moved by forces alone.
    pub(crate) fn fall<S: Space>(&self, k: usize, acceleration: &Motion<S>) {
        self.gain.write(k + 1, column(acceleration));
        self.is_fresh.write(k + 1, false);
    }

    /// Takes over how a body that rounds move by itself resists, in a substep of h seconds.
    pub(crate) fn weigh<S: Space>(&self, field: &Field<'_>, bodies: &Bodies<S>, k: usize, h: f64) {
        let place = k + 1;
        let (linear, angular) = bodies.damping[k];
        // Damping that acts on motion only: what pushes a body for a substep and what holds it are
        // lessened alike.
        let per_square = 1.0 / (h * Damped::new(linear, h).reach);
        let inertial = &bodies.inertial[k];
        let mut mass = Column::default();
        for axis in 0..S::DIM {
            let inverse = inertial.inv_mass.component(axis);
            let own = if inverse > 0.0 {
                1.0 / inverse
            } else {
                IMMOVABLE
            };
            mass.0[axis] = (own * per_square) as f32;
        }
        field.mass.write(place, mass);
        let per_square = 1.0 / (h * Damped::new(angular, h).reach);
        let mut inertia = Column::default();
        let held = held_inertia(bodies, k).map(|i| (i * per_square) as f32);
        inertia.0[..6].copy_from_slice(&held);
        field.inertia.write(place, inertia);
    }

    /// Where bodies would go in a substep, and where to start looking for where they do go.
    ///
    /// A body that has been held up keeps being held up, one that has been falling keeps falling:
    /// the start takes as much of the forces' displacement as they moved the body in the last
    /// substep, between none and all.
    pub(crate) fn aim(&self, field: &Field<'_>, range: Range<usize>, h: f32) {
        for k in range {
            let (motion, before) = (field.motion.read(k).0, self.before.read(k).0);
            let (push, keep) = (self.push.read(k).0, self.keep.read(k).0);
            let offset = self.offset.read(k).0;
            let (mut along, mut square) = (0.0, 0.0);
            for j in 0..self.linear {
                along += (motion[j] - before[j]) * push[j];
                square += push[j] * push[j];
            }
            let part = if square > 0.0 {
                (along / square).clamp(0.0, 1.0)
            } else {
                1.0
            };
            let (mut aim, mut start) = ([0.0; LANES], [0.0; LANES]);
            let across = self.across(k, part, h);
            for j in 0..LANES {
                aim[j] = h * (motion[j] * keep[j] + push[j]) + offset[j];
                start[j] = h * (motion[j] + part * push[j] + across[j]) + offset[j];
            }
            self.before.write(k, Column(motion));
            field.nudge.write(k, Column::default());
            field.aim.write(k, Column(aim));
            field.shift.write(k, Column(start));
        }
    }

    /// What a body gains in a substep besides a part of what forces give it, if that is much: rounds
    /// take springs of contacts to hold it that way too, and a body that slides or rolls would lag
    /// behind its acceleration in every substep by what they leave.
    fn across(&self, k: usize, part: f32, h: f32) -> [f32; LANES] {
        let (gain, push) = (self.gain.read(k).0, self.push.read(k).0);
        let (mut across, mut square, mut all) = ([0.0; LANES], 0.0, 0.0);
        for j in 0..LANES {
            let along = if j < self.linear { part * push[j] } else { 0.0 };
            across[j] = h * gain[j] - along;
            if j < self.linear {
                square += across[j] * across[j];
                all += push[j] * push[j];
            }
        }
        if square > SLIDING * SLIDING * all && !self.is_fresh.read(k) {
            across
        } else {
            [0.0; LANES]
        }
    }

    /// Takes the displacements of a substep for good, and what they say of accelerations.
    pub(crate) fn arrive(&self, field: &Field<'_>, range: Range<usize>, h: f32) {
        let per_second = 1.0 / h;
        for k in range {
            let (mut shift, mut drift) = (field.shift.read(k).0, field.drift.read(k).0);
            let (before, offset) = (self.before.read(k).0, self.offset.read(k).0);
            let (mut motion, mut gain) = ([0.0; LANES], [0.0; LANES]);
            for j in 0..LANES {
                motion[j] = (shift[j] - offset[j]) * per_second;
                gain[j] = (motion[j] - before[j]) * per_second;
            }
            if !is_smooth(&gain, &self.push.read(k).0, per_second, self.linear) {
                gain = [0.0; LANES];
            }
            if self.is_fresh.read(k) {
                self.is_fresh.write(k, false);
                let mut aim = field.aim.read(k).0;
                let mut start = before;
                for j in 0..LANES {
                    let half = 0.5 * h * gain[j];
                    motion[j] -= half;
                    shift[j] -= h * half;
                    aim[j] -= h * half;
                    start[j] -= half;
                }
                self.before.write(k, Column(start));
                field.aim.write(k, Column(aim));
                field.shift.write(k, Column(shift));
            }
            let nudge = field.nudge.read(k).0;
            for j in 0..LANES {
                drift[j] += shift[j] + nudge[j];
            }
            self.gain.write(k, Column(gain));
            field.drift.write(k, Column(drift));
            field.motion.write(k, Column(motion));
        }
    }
}

/// Writes linear, then angular motion into the first places of a column.
pub(super) fn put<S: Space>(column: &mut Column, motion: &Motion<S>) {
    for axis in 0..S::DIM {
        column.0[axis] = motion.linear.component(axis) as f32;
    }
    for axis in 0..S::SPIN_DIM {
        column.0[S::DIM + axis] = motion.spin.component(axis) as f32;
    }
}

/// A column with linear, then angular motion in its first places.
pub(super) fn column<S: Space>(motion: &Motion<S>) -> Column {
    let mut column = Column::default();
    put(&mut column, motion);
    column
}

/// Reads linear and angular motion from the first places of a column.
pub(super) fn get<S: Space>(column: &Column) -> Motion<S> {
    let mut motion = Motion::<S>::default();
    for axis in 0..S::DIM {
        motion.linear = motion
            .linear
            .with_component(axis, f64::from(column.0[axis]));
    }
    for axis in 0..S::SPIN_DIM {
        let spin = f64::from(column.0[S::DIM + axis]);
        motion.spin = motion.spin.with_component(axis, spin);
    }
    motion
}

/// xx, yy, zz, xy, xz, yz of a body's inertia in world axes, immovable where it can't turn; in the
/// plane the one number.
fn held_inertia<S: Space>(bodies: &Bodies<S>, k: usize) -> [f64; 6] {
    let inertial = &bodies.inertial[k];
    let world = if inertial.gyroscopic {
        S::world_inertia(bodies.rotation[k], &inertial.inertia)
    } else {
        // The same about every axis.
        inertial.inertia
    };
    let six = S::six(&world);
    let turns = S::apply_inertia(&inertial.inv_inertia, S::Spin::splat(1.0)).length() > 0.0;
    let is_free = |axis: usize| turns && inertial.free_spins.component(axis) > 0.0;
    let mut held = [0.0; 6];
    for j in 0..S::SPIN_DIM {
        for i in 0..=j {
            // On the diagonal, and above it: (0, 1), (0, 2), (1, 2).
            let place = if i == j { i } else { 2 + i + j };
            held[place] = match (is_free(i) && is_free(j), i == j) {
                (true, _) => six[place],
                (false, true) => IMMOVABLE,
                (false, false) => 0.0,
            };
        }
    }
    held
}
