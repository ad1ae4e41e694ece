//! The bodies of a world as the kernels see them: single precision, relative to a base pose.
//!
//! Place 0 belongs to nobody (empty lanes of groups read it), body k is at k + 1. Positions never
//! appear here: only how far a body has drifted from its **base pose**, which is kept in double
//! precision. So a scene works ten thousand kilometres from the origin as it does there.

use std::ops::Range;

use super::patch::SharedBodies;
use super::shared::Shared;
use super::simd::{Column, LANES};
use crate::body::{Bodies, Motion};
use crate::shape::Pose;
use crate::space::{Components, Space};

/// Columns of all bodies.
#[derive(Clone, Debug)]
pub(crate) struct BodyColumns<S: Space> {
    /// Pose of the centre of mass that drift refers to.
    pub(crate) base: Vec<Pose<S>>,
    /// Displacement and turn since the base pose, m and rad.
    pub(crate) drift: Vec<Column>,
    motion: Vec<Column>,
    inertia: Vec<Column>,
    /// Motion after the substep's forces, before contact.
    free: Vec<Column>,
    /// Velocity that forces add in a substep.
    push: Vec<Column>,
    /// Factor by which damping leaves motion in a substep.
    keep: Vec<Column>,
}

impl<S: Space> Default for BodyColumns<S> {
    fn default() -> Self {
        let nobody = vec![Column::default()];
        Self {
            base: Vec::new(),
            drift: nobody.clone(),
            motion: nobody.clone(),
            inertia: nobody.clone(),
            free: nobody.clone(),
            push: nobody.clone(),
            keep: nobody,
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
        }
        for columns in [
            &mut self.drift,
            &mut self.motion,
            &mut self.inertia,
            &mut self.free,
            &mut self.push,
            &mut self.keep,
        ] {
            columns.resize(bodies.len() + 1, Column::default());
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

    /// Says how far a body has moved since its base pose.
    pub(crate) fn set_drift(&mut self, k: usize, drift: &Motion<S>) {
        put(&mut self.drift[k + 1], drift);
    }

    /// Displacement and turn of a body since its base pose.
    pub(crate) fn drift_of(&self, k: usize) -> Motion<S> {
        get(&self.drift[k + 1])
    }

    /// Takes over a body's motion and how it resists, and what forces do to it in a substep.
    pub(crate) fn load(&mut self, bodies: &Bodies<S>, k: usize, acceleration: &Motion<S>, h: f64) {
        let place = k + 1;
        put(&mut self.motion[place], &bodies.motion[k]);
        S::pack_masses(
            bodies.inertial[k].inv_mass.to_array3().map(|m| m as f32),
            packed_inertia::<S>(&bodies.world_inv_inertia(k)),
            [&mut self.motion[place], &mut self.inertia[place]],
        );
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
        self.keep[place] = Column([1.0; LANES]);
        put(&mut self.keep[place], &damped);
    }

    /// The motion of a body.
    pub(crate) fn motion_of(&self, k: usize) -> Motion<S> {
        get(&self.motion[k + 1])
    }

    /// The motion of a body after the last substep's forces, before contact.
    pub(crate) fn free_of(&self, k: usize) -> Motion<S> {
        get(&self.free[k + 1])
    }

    pub(crate) fn share(&mut self) -> (SharedBodies<'_>, Forces<'_>) {
        (
            SharedBodies {
                motion: Shared::new(&mut self.motion),
                inertia: Shared::new(&mut self.inertia),
                drift: Shared::new(&mut self.drift),
            },
            Forces {
                free: Shared::new(&mut self.free),
                push: &self.push,
                keep: &self.keep,
            },
        )
    }
}

/// What acts on bodies besides contact.
pub(crate) struct Forces<'a> {
    free: Shared<'a, Column>,
    push: &'a [Column],
    keep: &'a [Column],
}

impl Forces<'_> {
    /// Applies a substep's forces. From the second substep on, each body also gets what contact
    /// did to it in the one before: that is what starting from the old impulses amounts to as long
    /// as the patches are the same, at the cost of a pass over bodies instead of contacts.
    pub(crate) fn apply(&self, bodies: &SharedBodies<'_>, range: Range<usize>, is_first: bool) {
        for k in range {
            let (motion, free) = (bodies.motion.read(k).0, self.free.read(k).0);
            let (push, keep) = (&self.push[k].0, &self.keep[k].0);
            let mut next = [0.0; LANES];
            let mut warm = [0.0; LANES];
            for j in 0..LANES {
                next[j] = (motion[j] + push[j]) * keep[j];
                let carried = if is_first { 0.0 } else { motion[j] - free[j] };
                warm[j] = next[j] + carried;
            }
            self.free.write(k, Column(next));
            bodies.motion.write(k, Column(warm));
        }
    }
}

/// Moves bodies by their motion over h seconds. The places that hold masses gather nonsense in
/// the drift, which nobody reads.
pub(crate) fn advance(bodies: &SharedBodies<'_>, range: Range<usize>, h: f32) {
    for k in range {
        let (motion, mut drift) = (bodies.motion.read(k).0, bodies.drift.read(k).0);
        for j in 0..LANES {
            drift[j] += h * motion[j];
        }
        bodies.drift.write(k, Column(drift));
    }
}

/// Writes linear, then angular motion into the first places of a column.
fn put<S: Space>(column: &mut Column, motion: &Motion<S>) {
    for axis in 0..S::DIM {
        column.0[axis] = motion.linear.component(axis) as f32;
    }
    for axis in 0..S::SPIN_DIM {
        column.0[S::DIM + axis] = motion.spin.component(axis) as f32;
    }
}

/// Reads linear and angular motion from the first places of a column.
fn get<S: Space>(column: &Column) -> Motion<S> {
    let mut motion = Motion::<S>::default();
    for axis in 0..S::DIM {
        motion.linear = motion.linear.with_component(axis, f64::from(column.0[axis]));
    }
    for axis in 0..S::SPIN_DIM {
        let spin = f64::from(column.0[S::DIM + axis]);
        motion.spin = motion.spin.with_component(axis, spin);
    }
    motion
}

/// xx, yy, zz, xy, xz, yz of a symmetric matrix; in the plane the one number.
fn packed_inertia<S: Space>(inertia: &S::Inertia) -> [f32; 6] {
    let element = |i: usize, j: usize| {
        let unit = S::Spin::default().with_component(j, 1.0);
        S::apply_inertia(inertia, unit).component(i) as f32
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
