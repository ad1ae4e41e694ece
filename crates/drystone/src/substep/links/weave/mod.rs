//! Nets of ball joints that touch nothing: eight joints at a time.
//!
//! A net has too many loops to be factorised. It moves in many short **substeps** of h seconds
//! instead, with one sweep over its joints in each. With x the displacements of bodies since the
//! start of the stride, inertia and forces take them to
//!
//! $$ x' = x + (x - x^-)\,\delta + h^2\delta\,a , $$
//!
//! x⁻ being where they were a substep ago, δ what damping leaves, a what forces do. Then every joint
//! in turn moves its two bodies so far that it is closed, by an impulse (over h) that both feel:
//!
//! $$ g + u = 0, \quad u = l_b - l_a + \rho(\theta_b, r_b) - \rho(\theta_a, r_a), \qquad
//!    P = -K^{-1}(g + u) , $$
//!
//! where g is its gap at the start, $\rho(\theta, r) = \theta\times r + \tfrac12\theta\times(\theta
//! \times r)$ what a turn moves an arm by, and K what a unit impulse moves (of the stride's start: it
//! only has to be near). The impulse acts at the arms of the present x: with those of the start, what
//! swings fast under its load would swing ever more. A sweep that starts from
//! no force loses a little energy and makes none; what it leaves open shrinks with h², so short
//! substeps do more than many sweeps: under a load of n joints' weight a joint stays open by about
//! 2 n g h².
//!
//! Joints of one **colour** share no body that moves, so eight of them are done side by side, in
//! single precision: all numbers are small, since gaps are taken in double precision.

mod kernels;

use super::LinkLaw;
use super::linkage::{JointRows, Linkage};
use super::{Ground, March};
use crate::body::{Bodies, Motion};
use crate::integrate;
use crate::joint::rows::{Coordinate, Role};
use crate::space::{Components, Linear, Space};
use crate::substep::columns::{get, put};
use crate::substep::simd::{Column, LANES};
use kernels::{prepare, sweep};

/// Substeps of a step.
const SUBSTEPS: u32 = 8;
/// Turn in a stride beyond which arms are taken anew, rad.
const STRIDE: f64 = 0.4;

/// Where things are among the numbers of eight joints.
struct Layout<S>(std::marker::PhantomData<S>);

impl<S: Space> Layout<S> {
    /// From the centres of mass, m; A's, then B's.
    const ARM: usize = 0;
    /// g, m.
    const GAP: usize = 2 * S::DIM;
    /// Inverse inertia (xx, yy, zz, xy, xz, yz); A's, then B's.
    const INERTIA: usize = 3 * S::DIM;
    const INERTIA_SIZE: usize = S::SPIN_DIM * (S::SPIN_DIM + 1) / 2;
    /// Inverse mass along the axes; A's, then B's.
    const MASS: usize = Self::INERTIA + 2 * Self::INERTIA_SIZE;
    /// K⁻¹, lower triangle by rows.
    const INVERSE: usize = Self::MASS + 2 * S::DIM;
    /// Sum of P over all substeps of a stride.
    const PULL: usize = Self::INVERSE + S::DIM * (S::DIM + 1) / 2;
    const COUNT: usize = Self::PULL + S::DIM;
}

/// Eight joints of one colour.
#[derive(Clone, Debug)]
struct Group {
    /// Places in the columns of bodies; 0 for nobody.
    ends: [[u32; LANES]; 2],
    /// Places in the linkage's list of joints.
    joints: Vec<u32>,
}

/// A net as the kernels see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Weave {
    groups: Vec<Group>,
    /// Of each group, see [`Layout`].
    numbers: Vec<Column>,
    // Of bodies; the first belongs to nobody.
    /// x and x⁻.
    x: Vec<Column>,
    before: Vec<Column>,
    /// δ and h² δ a.
    keep: Vec<Column>,
    push: Vec<Column>,
    /// Inverse mass, and inverse inertia (xx, yy, zz, xy, xz, yz).
    mass: Vec<Column>,
    inertia: Vec<Column>,
}

impl Weave {
    /// Looks at a net; `None` unless all of its joints are ball joints.
    pub(super) fn new<S: Space>(
        bodies: &Bodies<S>,
        list: &[u32],
        joints: &[JointRows<S>],
    ) -> Option<Self> {
        let is_ball = |joint: &JointRows<S>| {
            let mut roles = joint.roles.iter();
            joint.roles.len() == S::DIM
                && roles.all(|role| matches!(role, (Coordinate::Linear(_), Role::Lock)))
        };
        if !joints.iter().all(is_ball) {
            return None;
        }
        let moves = |end: u32| bodies.is_dynamic(list[end as usize] as usize);
        let mut groups = Vec::new();
        for color in colors(joints, list.len(), moves) {
            for eight in color.chunks(LANES) {
                let mut ends = [[0; LANES]; 2];
                for (lane, &joint) in eight.iter().enumerate() {
                    for (side, end) in joints[joint as usize].ends.into_iter().enumerate() {
                        ends[side][lane] = end + 1;
                    }
                }
                let joints = eight.to_vec();
                groups.push(Group { ends, joints });
            }
        }
        let empty = vec![Column::default(); list.len() + 1];
        Some(Self {
            numbers: vec![Column::default(); groups.len() * Layout::<S>::COUNT],
            groups,
            x: empty.clone(),
            before: empty.clone(),
            keep: empty.clone(),
            push: empty.clone(),
            mass: empty.clone(),
            inertia: empty,
        })
    }
}

/// Joints of each colour: each gets the lowest that no joint before it has on a body they share.
fn colors<S: Space>(
    joints: &[JointRows<S>],
    bodies: usize,
    moves: impl Fn(u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut colors: Vec<Vec<u32>> = Vec::new();
    let mut taken: Vec<Vec<bool>> = vec![Vec::new(); bodies];
    for (k, joint) in joints.iter().enumerate() {
        let is_taken = |color: usize| {
            let mut ends = joint.ends.iter();
            ends.any(|&end| taken[end as usize].get(color).copied().unwrap_or(false))
        };
        let free = (0..).find(|&color| !is_taken(color)).unwrap_or(0);
        for end in joint.ends.into_iter().filter(|&end| moves(end)) {
            let own = &mut taken[end as usize];
            own.resize(own.len().max(free + 1), false);
            own[free] = true;
        }
        if free == colors.len() {
            colors.push(Vec::new());
        }
        colors[free].push(k as u32);
    }
    colors
}

impl<S: Space> Linkage<S> {
    /// Moves a net that touches nothing over a step.
    pub(super) fn weave(&mut self, weave: &mut Weave, ground: &Ground<'_, S>, options: &March<S>) {
        let fastest = self.motion.iter().map(|m| m.spin.length());
        let turn = options.dt * fastest.fold(0.0, f64::max);
        let most = f64::from(SUBSTEPS);
        let strides = (turn / STRIDE).ceil().clamp(1.0, most) as u32;
        let substeps = SUBSTEPS.div_ceil(strides);
        let law = LinkLaw {
            h: options.dt / f64::from(strides),
            ..*ground.law
        };
        for _ in 0..strides {
            let h = law.h / f64::from(substeps);
            self.load_weave(weave, ground, options, h);
            self.lay_joints(weave, &law);
            prepare::<S>(options.instructions, weave);
            for _ in 0..substeps {
                weave.fly();
                sweep::<S>(options.instructions, weave);
            }
            self.take_weave(weave, ground, h, substeps);
        }
    }

    /// Takes over how bodies move and resist.
    fn load_weave(&self, weave: &mut Weave, ground: &Ground<'_, S>, options: &March<S>, h: f64) {
        let bodies = ground.bodies;
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, place) = (body as usize, k + 1);
            let motion = &self.motion[k];
            let backwards = Motion::<S> {
                linear: motion.linear * -h,
                spin: motion.spin * -h,
            };
            weave.x[place] = Column::default();
            put(&mut weave.before[place], &backwards);
            if !bodies.is_dynamic(body) {
                weave.keep[place] = Column([1.0; LANES]);
                continue;
            }
            let inertial = &bodies.inertial[body];
            let (linear, angular) = bodies.damping[body];
            let (linear, angular) = (1.0 / (1.0 + h * linear), 1.0 / (1.0 + h * angular));
            let keep = Motion::<S> {
                linear: S::Vector::splat(linear),
                spin: S::Spin::splat(angular),
            };
            put(&mut weave.keep[place], &keep);
            let push = integrate::acceleration(bodies, body, options.gravity, options.time);
            let push = Motion::<S> {
                linear: push.linear * (h * h * linear),
                spin: push.spin * (h * h * angular),
            };
            put(&mut weave.push[place], &push);
            for axis in 0..S::DIM {
                weave.mass[place].0[axis] = inertial.inv_mass.component(axis) as f32;
            }
            let inverse = inertial.inv_inertia_at(self.pose[k].rotation);
            put_inertia::<S>(&mut weave.inertia[place], &inverse);
        }
    }

    /// Takes over arms and gaps.
    fn lay_joints(&self, weave: &mut Weave, law: &LinkLaw) {
        // Of a large error only a part is made up for in a stride.
        let most = S::Vector::splat(law.speed * law.h);
        let all = weave.numbers.chunks_exact_mut(Layout::<S>::COUNT);
        for (group, numbers) in weave.groups.iter().zip(all) {
            for (lane, &joint) in group.joints.iter().enumerate() {
                let joint = &self.joints[joint as usize];
                let [a, b] = joint.ends.map(|k| &self.pose[k as usize]);
                let (arms, gap) = joint.gauge.arms_and_gap([a, b]);
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

    /// Takes displacements for good, and the mean force of each joint.
    fn take_weave(&mut self, weave: &Weave, ground: &Ground<'_, S>, h: f64, substeps: u32) {
        for k in 0..self.bodies.len() {
            let x: Motion<S> = get(&weave.x[k + 1]);
            let before: Motion<S> = get(&weave.before[k + 1]);
            let last = Motion::<S> {
                linear: x.linear - before.linear,
                spin: x.spin - before.spin,
            };
            self.x[k] = x;
            self.arrive_one(ground.bodies, k, &last, h);
        }
        let per_force = 1.0 / (h * h * f64::from(substeps));
        let all = weave.numbers.chunks_exact(Layout::<S>::COUNT);
        for (group, numbers) in weave.groups.iter().zip(all) {
            for (lane, &joint) in group.joints.iter().enumerate() {
                for (axis, &at) in self.joints[joint as usize].at.iter().enumerate() {
                    let pull = f64::from(numbers[Layout::<S>::PULL + axis].0[lane]);
                    self.rows[at as usize].force = pull * per_force;
                }
            }
        }
    }
}

fn put_inertia<S: Space>(column: &mut Column, inertia: &S::Inertia) {
    let along = |axis: usize| {
        let unit = S::Spin::default().with_component(axis, 1.0);
        S::apply_inertia(inertia, unit)
    };
    if S::SPIN_DIM == 1 {
        column.0[0] = along(0).component(0) as f32;
        return;
    }
    let (x, y, z) = (along(0), along(1), along(2));
    let parts = [(x, 0), (y, 1), (z, 2), (x, 1), (x, 2), (y, 2)];
    for (number, (vector, axis)) in column.0.iter_mut().zip(parts) {
        *number = vector.component(axis) as f32;
    }
}

impl Weave {
    /// Moves bodies by inertia and forces.
    fn fly(&mut self) {
        let all = self.x.iter_mut().zip(&mut self.before);
        for ((x, before), (keep, push)) in all.zip(self.keep.iter().zip(&self.push)) {
            for k in 0..LANES {
                let was = std::mem::replace(&mut before.0[k], x.0[k]);
                x.0[k] += (x.0[k] - was) * keep.0[k] + push.0[k];
            }
        }
    }
}
