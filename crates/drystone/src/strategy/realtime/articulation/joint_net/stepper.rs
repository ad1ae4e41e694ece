//! Stepping of a joint net by several threads.
//!
//! Each thread has a stretch of the bodies and a stretch of the groups of every colour, in the order
//! of the scene: what it reads of bodies it mostly wrote itself. Threads meet after bodies have flown
//! and after every colour, so that no result depends on their number.

use super::kernels::{prepare, sweep};
use super::{Group, JointNet, Layout};
use crate::dynamics::integrate;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Components, Linear};
use crate::math::simd::{Column, LANES};
use crate::model::body::{Bodies, Motion};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Worker;
use crate::strategy::realtime::articulation::free_articulation::arrived;
use crate::strategy::realtime::articulation::linkage::{JointRows, Linkage};
use crate::strategy::realtime::articulation::warm_start::{WarmStart, WarmStartRows};
use crate::strategy::realtime::articulation::{Ground, March};
use crate::strategy::realtime::body_columns::{column, get};

/// Substeps of a step.
const SUBSTEPS: u32 = 8;
/// Turn in a stride beyond which arms are taken anew, rad.
const STRIDE: f64 = 0.4;
/// Groups that are worth a thread.
const WORTH: usize = 64;

/// How a step is cut.
struct Cut {
    strides: u32,
    /// Of each stride.
    substeps: u32,
    /// Length of a substep, s.
    h: f64,
    /// What is made up for of a gap in a stride at most, m.
    most: f64,
}

/// A net, to be changed by several threads in different places.
struct NetStepper<'a, S: Space> {
    world: &'a Bodies<S>,
    options: &'a March<S>,
    cut: Cut,
    bodies: &'a [u32],
    joints: &'a [JointRows<S>],
    pose: SharedSlice<'a, Pose<S>>,
    motion: SharedSlice<'a, Motion<S>>,
    /// Forces of all joints, and the first row of each of the net's.
    known: SharedSlice<'a, WarmStart>,
    starts: &'a [u32],
    // See `JointNet`.
    groups: &'a [Group],
    colors: &'a [std::ops::Range<usize>],
    owners: &'a [u32],
    numbers: SharedSlice<'a, Column>,
    x: SharedSlice<'a, Column>,
    before: SharedSlice<'a, Column>,
    keep: SharedSlice<'a, Column>,
    push: SharedSlice<'a, Column>,
    mass: SharedSlice<'a, Column>,
    inertia: SharedSlice<'a, Column>,
}

impl<S: Space> Linkage<S> {
    /// Moves a net that touches nothing over a step, and remembers its forces.
    pub(in super::super) fn joint_net(
        &mut self,
        joint_net: &mut JointNet,
        ground: &Ground<'_, S>,
        known: &mut WarmStartRows,
        options: &March<S>,
    ) {
        let fastest = self.motion.iter().map(|m| m.spin.length());
        let turn = options.dt * fastest.fold(0.0, f64::max);
        let most = f64::from(SUBSTEPS);
        let strides = (turn / STRIDE).ceil().clamp(1.0, most) as u32;
        let substeps = SUBSTEPS.div_ceil(strides);
        let stride = options.dt / f64::from(strides);
        let (starts, known) = known.share();
        let net_stepper = NetStepper {
            world: ground.bodies,
            options,
            cut: Cut {
                strides,
                substeps,
                h: stride / f64::from(substeps),
                most: ground.law.speed * stride,
            },
            bodies: &self.bodies,
            joints: &self.joints,
            pose: SharedSlice::new(&mut self.pose),
            motion: SharedSlice::new(&mut self.motion),
            known,
            starts,
            groups: &joint_net.groups,
            colors: &joint_net.colors,
            owners: &joint_net.owners,
            numbers: SharedSlice::new(&mut joint_net.numbers),
            x: SharedSlice::new(&mut joint_net.x),
            before: SharedSlice::new(&mut joint_net.before),
            keep: SharedSlice::new(&mut joint_net.keep),
            push: SharedSlice::new(&mut joint_net.push),
            mass: SharedSlice::new(&mut joint_net.mass),
            inertia: SharedSlice::new(&mut joint_net.inertia),
        };
        let worth = net_stepper.groups.len() / WORTH + 1;
        thread_pool::run(options.threads.min(worth), |worker| net_stepper.run(worker));
    }
}

impl<S: Space> NetStepper<'_, S> {
    /// One thread's part.
    fn run(&self, worker: &Worker<'_>) {
        let instructions = self.options.instructions;
        for _ in 0..self.cut.strides {
            for k in worker.share(self.owners.len()) {
                self.load(k);
            }
            worker.wait();
            self.for_each_part(worker, |groups, numbers| {
                self.lay(groups, numbers);
                prepare::<S>(instructions, groups, numbers, &self.mass, &self.inertia);
            });
            for _ in 0..self.cut.substeps {
                for k in worker.share(self.owners.len()) {
                    self.fly(k + 1);
                }
                worker.wait();
                self.for_each_part(worker, |groups, numbers| {
                    sweep::<S>(instructions, groups, numbers, &self.x);
                    worker.wait();
                });
            }
            for k in worker.share(self.bodies.len()) {
                self.take(k);
            }
            self.for_each_part(worker, |groups, numbers| self.remember(groups, numbers));
            worker.wait();
        }
    }

    /// Calls `act` with a thread's groups of each colour and their numbers.
    fn for_each_part(&self, worker: &Worker<'_>, act: impl Fn(&[Group], &mut [Column])) {
        for color in self.colors {
            let mine = worker.share(color.len());
            let mine = color.start + mine.start..color.start + mine.end;
            let count = Layout::<S>::COUNT;
            let places = mine.start * count..mine.end * count;
            self.numbers
                .change_all(places, |numbers| act(&self.groups[mine], numbers));
        }
    }

    /// Takes over how a body moves and resists.
    fn load(&self, owner: usize) {
        let (h, k) = (self.cut.h, self.owners[owner] as usize);
        let (body, place) = (self.bodies[k] as usize, owner + 1);
        let motion = self.motion.read(k);
        let backwards = Motion::<S> {
            linear: motion.linear * -h,
            spin: motion.spin * -h,
        };
        self.x.write(place, Column::default());
        self.before.write(place, column(&backwards));
        if !self.world.is_dynamic(body) {
            self.keep.write(place, Column([1.0; LANES]));
            return;
        }
        let inertial = &self.world.inertial[body];
        let (linear, angular) = self.world.damping[body];
        let (linear, angular) = (1.0 / (1.0 + h * linear), 1.0 / (1.0 + h * angular));
        let keep = Motion::<S> {
            linear: S::Vector::splat(linear),
            spin: S::Spin::splat(angular),
        };
        self.keep.write(place, column(&keep));
        let (gravity, time) = (self.options.gravity, self.options.time);
        let push = integrate::acceleration(self.world, body, gravity, time);
        let push = Motion::<S> {
            linear: push.linear * (h * h * linear),
            spin: push.spin * (h * h * angular),
        };
        self.push.write(place, column(&push));
        let mut mass = Column::default();
        for axis in 0..S::DIM {
            mass.0[axis] = inertial.inv_mass.component(axis) as f32;
        }
        self.mass.write(place, mass);
        let inverse = inertial.inv_inertia_at(self.pose.read(k).rotation);
        self.inertia.write(place, inertia_column::<S>(&inverse));
    }

    /// Takes over arms and gaps.
    fn lay(&self, groups: &[Group], numbers: &mut [Column]) {
        // Of a large error only a part is made up for in a stride.
        let most = S::Vector::splat(self.cut.most);
        let all = numbers.chunks_exact_mut(Layout::<S>::COUNT);
        for (group, numbers) in groups.iter().zip(all) {
            for (lane, &joint) in group.joints.iter().enumerate() {
                let joint = &self.joints[joint as usize];
                let [a, b] = joint.ends.map(|k| self.pose.read(k as usize));
                let (arms, gap) = joint.gauge.arms_and_gap([&a, &b]);
                let gap = gap.lower(most).upper(-most);
                for axis in 0..S::DIM {
                    let [arm_a, arm_b] = arms.map(|arm| arm.component(axis) as f32);
                    numbers[Layout::<S>::ARM + axis].0[lane] = arm_a;
                    numbers[Layout::<S>::ARM + S::DIM + axis].0[lane] = arm_b;
                    numbers[Layout::<S>::GAP + axis].0[lane] = gap.component(axis) as f32;
                }
            }
        }
    }

    /// Moves a body by inertia and forces.
    fn fly(&self, place: usize) {
        let (mut x, before) = (self.x.read(place), self.before.read(place));
        let (keep, push) = (self.keep.read(place), self.push.read(place));
        self.before.write(place, x);
        for k in 0..LANES {
            x.0[k] += (x.0[k] - before.0[k]) * keep.0[k] + push.0[k];
        }
        self.x.write(place, x);
    }

    /// Takes a body's displacement for good.
    fn take(&self, k: usize) {
        let x: Motion<S> = get(&self.x.read(k + 1));
        let before: Motion<S> = get(&self.before.read(k + 1));
        let last = Motion::<S> {
            linear: x.linear - before.linear,
            spin: x.spin - before.spin,
        };
        let body = self.bodies[k] as usize;
        let start = (self.pose.read(k), self.motion.read(k));
        let (pose, motion) = arrived(self.world, body, start, (&x, &last), self.cut.h);
        self.pose.write(k, pose);
        self.motion.write(k, motion);
    }

    /// Remembers the mean force of each joint in a stride.
    fn remember(&self, groups: &[Group], numbers: &[Column]) {
        let Cut { h, substeps, .. } = self.cut;
        let per_force = 1.0 / (h * h * f64::from(substeps));
        let all = numbers.chunks_exact(Layout::<S>::COUNT);
        for (group, numbers) in groups.iter().zip(all) {
            for (lane, &joint) in group.joints.iter().enumerate() {
                let start = self.starts[self.joints[joint as usize].joint as usize] as usize;
                for axis in 0..S::DIM {
                    let pull = f64::from(numbers[Layout::<S>::PULL + axis].0[lane]);
                    self.known
                        .change(start + axis, |known| known.force = pull * per_force);
                }
            }
        }
    }
}

/// xx, yy, zz, xy, xz, yz of an inertia; in the plane the one number.
fn inertia_column<S: Space>(inertia: &S::Inertia) -> Column {
    let along = |axis: usize| {
        let unit = S::Spin::default().with_component(axis, 1.0);
        S::apply_inertia(inertia, unit)
    };
    let mut column = Column::default();
    if S::SPIN_DIM == 1 {
        column.0[0] = along(0).component(0) as f32;
        return column;
    }
    let (x, y, z) = (along(0), along(1), along(2));
    let parts = [(x, 0), (y, 1), (z, 2), (x, 1), (x, 2), (y, 2)];
    for (number, (vector, axis)) in column.0.iter_mut().zip(parts) {
        *number = vector.component(axis) as f32;
    }
    column
}
