//! The bodies of a world as the kernels see them: single precision, relative to a base pose.
//!
//! Place 0 belongs to nobody (empty lanes read it), body k is at k + 1. Positions never appear
//! here: only how far a body has drifted from its **base pose**, which is kept in double
//! precision. So a scene works ten thousand kilometres from the origin as it does there.

use std::ops::Range;

use super::manifold::Field;
use super::manifold_records::Records;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Components, Linear};
use crate::math::simd::{Column, LANES};
use crate::model::body::{Bodies, Motion};
use crate::parallel::shared_slice::Shared;
use serde::{Deserialize, Serialize};

/// A mass or inertia that nothing moves, kg or kg·m²: large, yet its square is a number.
const IMMOVABLE: f64 = 1e15;

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
}

impl<S: Space> Default for BodyColumns<S> {
    fn default() -> Self {
        let nobody = || vec![Column::default()];
        Self {
            base: Vec::new(),
            drift: nobody(),
            motion: nobody(),
            before: nobody(),
            shift: nobody(),
            aim: nobody(),
            mass: nobody(),
            inertia: nobody(),
            push: nobody(),
            keep: nobody(),
            grasp: Vec::new(),
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
        }
        self.make_room();
    }

    /// Makes all columns as long as there are bases.
    pub(crate) fn make_room(&mut self) {
        let count = self.base.len() + 1;
        for columns in [
            &mut self.drift,
            &mut self.motion,
            &mut self.shift,
            &mut self.aim,
            &mut self.mass,
            &mut self.inertia,
            &mut self.push,
            &mut self.keep,
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

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let count = self.base.len();
        count <= bodies && self.drift.len() == count + 1 && self.before.len() == count + 1
    }

    /// Stops a body.
    pub(crate) fn rest(&mut self, k: usize) {
        for columns in [
            &mut self.motion,
            &mut self.before,
            &mut self.shift,
            &mut self.aim,
            &mut self.push,
        ] {
            columns[k + 1] = Column::default();
        }
    }

    /// Base poses and drifts, to be changed by several threads.
    pub(crate) fn share_bases(&mut self) -> Bases<'_, S> {
        Bases {
            base: Shared::new(&mut self.base),
            drift: Shared::new(&mut self.drift),
        }
    }

    /// Displacement and turn of a body since its base pose.
    pub(crate) fn drift_of(&self, k: usize) -> Motion<S> {
        get(&self.drift[k + 1])
    }

    /// The motion of a body before the last substep, and what it would be after it without contact.
    pub(crate) fn last_substep(&self, k: usize, h: f64) -> (Motion<S>, Motion<S>) {
        let aim: Motion<S> = get(&self.aim[k + 1]);
        let free = Motion {
            linear: aim.linear * (1.0 / h),
            spin: aim.spin * (1.0 / h),
        };
        (get(&self.before[k + 1]), free)
    }

    /// What the kernels work on, what moves bodies between their calls, and the base poses.
    pub(crate) fn share<'a>(
        &'a mut self,
        records: &'a mut Records,
    ) -> (Field<'a>, Flight<'a>, &'a [Pose<S>]) {
        (
            Field {
                records: Shared::new(&mut records.columns),
                ends: &records.ends,
                motion: Shared::new(&mut self.motion),
                drift: Shared::new(&mut self.drift),
                shift: Shared::new(&mut self.shift),
                aim: Shared::new(&mut self.aim),
                mass: Shared::new(&mut self.mass),
                inertia: Shared::new(&mut self.inertia),
                grasp: Shared::new(&mut self.grasp),
            },
            Flight {
                before: Shared::new(&mut self.before),
                push: Shared::new(&mut self.push),
                keep: Shared::new(&mut self.keep),
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
    base: Shared<'a, Pose<S>>,
    drift: Shared<'a, Column>,
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
    before: Shared<'a, Column>,
    push: Shared<'a, Column>,
    keep: Shared<'a, Column>,
    /// Places of linear motion in a column.
    linear: usize,
}

impl Flight<'_> {
    /// Takes over a body's motion, and what forces do to it in a substep of h seconds.
    pub(crate) fn load<S: Space>(
        &self,
        field: &Field<'_>,
        bodies: &Bodies<S>,
        k: usize,
        (acceleration, h): (&Motion<S>, f64),
    ) {
        let place = k + 1;
        field.motion.write(place, column(&bodies.motion[k]));
        self.push.write(
            place,
            column::<S>(&Motion {
                linear: acceleration.linear * h,
                spin: acceleration.spin * h,
            }),
        );
        let (linear, angular) = bodies.damping[k];
        self.keep.write(
            place,
            column::<S>(&Motion {
                linear: S::Vector::splat(1.0 / (1.0 + h * linear)),
                spin: S::Spin::splat(1.0 / (1.0 + h * angular)),
            }),
        );
    }

    /// Takes over how a body that rounds move by itself resists, in a substep of h seconds.
    pub(crate) fn weigh<S: Space>(&self, field: &Field<'_>, bodies: &Bodies<S>, k: usize, h: f64) {
        let place = k + 1;
        let per_square = 1.0 / (h * h);
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
            for j in 0..LANES {
                aim[j] = h * ((motion[j] + push[j]) * keep[j]);
                start[j] = h * (motion[j] + part * push[j]);
            }
            self.before.write(k, Column(motion));
            field.aim.write(k, Column(aim));
            field.shift.write(k, Column(start));
        }
    }

    /// Takes the displacements of a substep for good.
    pub(crate) fn arrive(&self, field: &Field<'_>, range: Range<usize>, h: f32) {
        let per_second = 1.0 / h;
        for k in range {
            let (shift, mut drift) = (field.shift.read(k).0, field.drift.read(k).0);
            let mut motion = [0.0; LANES];
            for j in 0..LANES {
                drift[j] += shift[j];
                motion[j] = shift[j] * per_second;
            }
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
