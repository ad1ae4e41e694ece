//! The bodies of a world as the kernels see them: single precision, relative to a base pose.
//!
//! Place 0 belongs to nobody (empty lanes read it), body k is at k + 1. Positions never appear
//! here: only how far a body has drifted from its **base pose**, which is kept in double
//! precision. So a scene works ten thousand kilometres from the origin as it does there.

use std::ops::Range;

use super::patch::Field;
use super::records::Records;
use super::shared::Shared;
use super::simd::{Column, LANES};
use crate::body::{Bodies, Motion};
use crate::shape::Pose;
use crate::space::{Components, Linear, Space};
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

    /// Makes the present pose of a body its base.
    pub(crate) fn rebase(&mut self, bodies: &Bodies<S>, k: usize) {
        self.base[k] = Pose {
            position: bodies.position[k],
            rotation: bodies.rotation[k],
        };
        self.drift[k + 1] = Column::default();
    }

    /// How far a body's pose is from its base.
    pub(crate) fn moved(&self, bodies: &Bodies<S>, k: usize) -> Motion<S> {
        let before = self.base[k];
        Motion {
            linear: bodies.position[k] - before.position,
            spin: S::turn_between(before.rotation, bodies.rotation[k]),
        }
    }

    /// Says how far a body has moved since its base pose.
    pub(crate) fn set_drift(&mut self, k: usize, drift: &Motion<S>) {
        put(&mut self.drift[k + 1], drift);
    }

    /// Displacement and turn of a body since its base pose.
    pub(crate) fn drift_of(&self, k: usize) -> Motion<S> {
        get(&self.drift[k + 1])
    }

    /// The motion of a body.
    pub(crate) fn motion_of(&self, k: usize) -> Motion<S> {
        get(&self.motion[k + 1])
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

    /// Takes over a body's motion and how it resists, and what forces do to it in a substep.
    pub(crate) fn load(&mut self, bodies: &Bodies<S>, k: usize, acceleration: &Motion<S>, h: f64) {
        let place = k + 1;
        put(&mut self.motion[place], &bodies.motion[k]);
        let per_square = 1.0 / (h * h);
        let inertial = &bodies.inertial[k];
        for axis in 0..S::DIM {
            let inverse = inertial.inv_mass.component(axis);
            let mass = if inverse > 0.0 {
                1.0 / inverse
            } else {
                IMMOVABLE
            };
            self.mass[place].0[axis] = (mass * per_square) as f32;
        }
        let world = S::world_inertia(bodies.rotation[k], &bodies.inertial[k].inertia);
        let inertia = held_inertia(bodies, k, &world);
        self.inertia[place].0[..6].copy_from_slice(&inertia.map(|i| (i * per_square) as f32));
        let push = Motion::<S> {
            linear: acceleration.linear * h,
            spin: acceleration.spin * h,
        };
        put(&mut self.push[place], &push);
        let (linear, angular) = bodies.damping[k];
        let damped = Motion::<S> {
            linear: S::Vector::splat(1.0 / (1.0 + h * linear)),
            spin: S::Spin::splat(1.0 / (1.0 + h * angular)),
        };
        put(&mut self.keep[place], &damped);
    }

    /// What the kernels work on, and what moves bodies between their calls.
    pub(crate) fn share<'a>(&'a mut self, records: &'a mut Records) -> (Field<'a>, Flight<'a>) {
        (
            Field {
                records: Shared::new(&mut records.columns),
                ends: &records.ends,
                motion: Shared::new(&mut self.motion),
                drift: Shared::new(&mut self.drift),
                shift: Shared::new(&mut self.shift),
                aim: Shared::new(&mut self.aim),
                mass: &self.mass,
                inertia: &self.inertia,
                grasp: Shared::new(&mut self.grasp),
            },
            Flight {
                before: Shared::new(&mut self.before),
                push: &self.push,
                keep: &self.keep,
                linear: S::DIM,
            },
        )
    }
}

/// What moves bodies besides contact.
pub(crate) struct Flight<'a> {
    before: Shared<'a, Column>,
    push: &'a [Column],
    keep: &'a [Column],
    /// Places of linear motion in a column.
    linear: usize,
}

impl Flight<'_> {
    /// Where bodies would go in a substep, and where to start looking for where they do go.
    ///
    /// A body that has been held up keeps being held up, one that has been falling keeps falling:
    /// the start takes as much of the forces' displacement as they moved the body in the last
    /// substep, between none and all.
    pub(crate) fn aim(&self, field: &Field<'_>, range: Range<usize>, h: f32) {
        for k in range {
            let (motion, before) = (field.motion.read(k).0, self.before.read(k).0);
            let (push, keep) = (&self.push[k].0, &self.keep[k].0);
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
fn held_inertia<S: Space>(bodies: &Bodies<S>, k: usize, world: &S::Inertia) -> [f64; 6] {
    let inertial = &bodies.inertial[k];
    let is_free = |axis: usize| inertial.free_spins.component(axis) > 0.0;
    let turns = S::apply_inertia(&inertial.inv_inertia, S::Spin::splat(1.0)).length() > 0.0;
    let element = |i: usize, j: usize| {
        if turns && is_free(i) && is_free(j) {
            let unit = S::Spin::default().with_component(j, 1.0);
            S::apply_inertia(world, unit).component(i)
        } else if i == j {
            IMMOVABLE
        } else {
            0.0
        }
    };
    if S::SPIN_DIM == 1 {
        return [element(0, 0), 0.0, 0.0, 0.0, 0.0, 0.0];
    }
    [
        element(0, 0),
        element(1, 1),
        element(2, 2),
        element(0, 1),
        element(0, 2),
        element(1, 2),
    ]
}
