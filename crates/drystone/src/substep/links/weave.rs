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

use super::LinkLaw;
use super::linkage::{JointRows, Linkage};
use super::{Ground, March};
use crate::body::{Bodies, Motion};
use crate::integrate;
use crate::joint::rows::{Coordinate, Role};
use crate::space::{Components, Linear, Space};
use crate::substep::columns::{get, put};
use crate::substep::reduced::{V3, add, zero};
use crate::substep::simd::{Column, LANES, Wide, dispatch};

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

/// Eight rows of an array, transposed.
#[inline(always)]
fn gather<V: Wide>(from: &[Column], places: &[u32; LANES]) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&from[places[k] as usize]);
    }
    V::transpose(rows)
}

#[inline(always)]
fn scatter<V: Wide>(to: &mut [Column], places: &[u32; LANES], columns: [V; LANES]) {
    let rows = V::transpose(columns);
    for k in 0..LANES {
        rows[k].store(&mut to[places[k] as usize]);
    }
}

#[inline(always)]
fn vector<S: Space, V: Wide>(numbers: &[Column], first: usize) -> V3<V> {
    let mut v = [zero::<V>(); 3];
    for axis in 0..S::DIM {
        v[axis] = V::load(&numbers[first + axis]);
    }
    v
}

#[inline(always)]
fn cross<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// ρ: what a turn moves the end of an arm by.
#[inline(always)]
fn swung<S: Space, V: Wide>(x: &[V; LANES], arm: V3<V>) -> V3<V> {
    let half = V::splat(0.5);
    if S::DIM == 2 {
        let turn = x[2];
        let shrink = half * turn * turn;
        return [
            -(turn * arm[1]) - shrink * arm[0],
            turn * arm[0] - shrink * arm[1],
            zero::<V>(),
        ];
    }
    let turn = [x[3], x[4], x[5]];
    let first = cross(turn, arm);
    let second = cross(turn, first);
    add(first, second.map(|part| half * part))
}

/// arm × impulse.
#[inline(always)]
fn moment<S: Space, V: Wide>(arm: V3<V>, impulse: V3<V>) -> V3<V> {
    if S::DIM == 2 {
        let o = zero::<V>();
        return [arm[0] * impulse[1] - arm[1] * impulse[0], o, o];
    }
    cross(arm, impulse)
}

fn unit<V: Wide>(axis: usize) -> V3<V> {
    let mut unit = [zero::<V>(); 3];
    unit[axis] = V::splat(1.0);
    unit
}

/// Inverse inertia (xx, yy, zz, xy, xz, yz; in the plane xx) times a moment.
#[inline(always)]
fn turned<S: Space, V: Wide>(i: &[V; LANES], m: V3<V>) -> V3<V> {
    let o = zero::<V>();
    if S::SPIN_DIM == 1 {
        return [i[0] * m[0], o, o];
    }
    [
        i[0] * m[0] + i[3] * m[1] + i[4] * m[2],
        i[3] * m[0] + i[1] * m[1] + i[5] * m[2],
        i[4] * m[0] + i[5] * m[1] + i[2] * m[2],
    ]
}

/// Works out what impulses do at the joints, and forgets their sums.
#[inline(always)]
fn prepare_kernel<S: Space, V: Wide>(weave: &mut Weave) {
    let count = Layout::<S>::COUNT;
    for (at, group) in weave.groups.iter().enumerate() {
        let numbers = &mut weave.numbers[at * count..(at + 1) * count];
        let mut k = [[zero::<V>(); 3]; 3];
        for side in 0..2 {
            let mass = gather::<V>(&weave.mass, &group.ends[side]);
            let inertia = gather::<V>(&weave.inertia, &group.ends[side]);
            let arm = vector::<S, V>(numbers, Layout::<S>::ARM + side * S::DIM);
            let size = Layout::<S>::INERTIA_SIZE;
            for i in 0..size {
                inertia[i].store(&mut numbers[Layout::<S>::INERTIA + side * size + i]);
            }
            for i in 0..S::DIM {
                mass[i].store(&mut numbers[Layout::<S>::MASS + side * S::DIM + i]);
                k[i][i] = k[i][i] + mass[i];
                let turn = turned::<S, V>(&inertia, moment::<S, V>(arm, unit(i)));
                for j in 0..=i {
                    let other = moment::<S, V>(arm, unit(j));
                    for axis in 0..S::SPIN_DIM {
                        k[i][j] = k[i][j] + turn[axis] * other[axis];
                    }
                }
            }
        }
        let inverse = inverted::<S, V>(k);
        let mut place = Layout::<S>::INVERSE;
        for i in 0..S::DIM {
            for j in 0..=i {
                inverse[i][j].store(&mut numbers[place]);
                place += 1;
            }
            numbers[Layout::<S>::PULL + i] = Column::default();
        }
    }
}

/// The lower triangle of the inverse of a symmetric matrix, of which only that is read.
#[inline(always)]
fn inverted<S: Space, V: Wide>(mut k: [V3<V>; 3]) -> [V3<V>; 3] {
    let least = V::splat(1e-30);
    let mut trace = zero::<V>();
    for i in 0..S::DIM {
        trace = trace + k[i][i];
    }
    // Numbers near 1: masses may be of any size.
    let scale = V::splat(1.0) / trace.most(least);
    for row in &mut k {
        *row = row.map(|number| number * scale);
    }
    let o = zero::<V>();
    let mut inverse = [[o; 3]; 3];
    let determinant = if S::DIM == 2 {
        inverse[0][0] = k[1][1];
        inverse[1][0] = -k[1][0];
        inverse[1][1] = k[0][0];
        k[0][0] * k[1][1] - k[1][0] * k[1][0]
    } else {
        inverse[0][0] = k[1][1] * k[2][2] - k[2][1] * k[2][1];
        inverse[1][0] = k[2][1] * k[2][0] - k[1][0] * k[2][2];
        inverse[2][0] = k[1][0] * k[2][1] - k[1][1] * k[2][0];
        inverse[1][1] = k[0][0] * k[2][2] - k[2][0] * k[2][0];
        inverse[2][1] = k[1][0] * k[2][0] - k[0][0] * k[2][1];
        inverse[2][2] = k[0][0] * k[1][1] - k[1][0] * k[1][0];
        k[0][0] * inverse[0][0] + k[1][0] * inverse[1][0] + k[2][0] * inverse[2][0]
    };
    let scale = scale / determinant.most(least);
    inverse.map(|row| row.map(|number| number * scale))
}

/// Closes every joint in turn.
#[inline(always)]
fn sweep_kernel<S: Space, V: Wide>(weave: &mut Weave) {
    let count = Layout::<S>::COUNT;
    for (at, group) in weave.groups.iter().enumerate() {
        let numbers = &mut weave.numbers[at * count..(at + 1) * count];
        let mut a = gather::<V>(&weave.x, &group.ends[0]);
        let mut b = gather::<V>(&weave.x, &group.ends[1]);
        let arm_a = vector::<S, V>(numbers, Layout::<S>::ARM);
        let arm_b = vector::<S, V>(numbers, Layout::<S>::ARM + S::DIM);
        let (swung_a, swung_b) = (swung::<S, V>(&a, arm_a), swung::<S, V>(&b, arm_b));
        let gap = vector::<S, V>(numbers, Layout::<S>::GAP);
        let mut open = [zero::<V>(); 3];
        for axis in 0..S::DIM {
            open[axis] = gap[axis] + (b[axis] - a[axis]) + (swung_b[axis] - swung_a[axis]);
        }
        let pull = pull::<S, V>(numbers, &open);
        let mass = Layout::<S>::MASS;
        for axis in 0..S::DIM {
            let sum = &mut numbers[Layout::<S>::PULL + axis];
            (V::load(sum) + pull[axis]).store(sum);
            a[axis] = a[axis] - V::load(&numbers[mass + axis]) * pull[axis];
            b[axis] = b[axis] + V::load(&numbers[mass + S::DIM + axis]) * pull[axis];
        }
        // Arms as they are by now: with those at the start, taut nets would make energy.
        let size = Layout::<S>::INERTIA_SIZE;
        let inertia = inertia::<S, V>(numbers, Layout::<S>::INERTIA);
        let turn_a = turned::<S, V>(&inertia, moment::<S, V>(add(arm_a, swung_a), pull));
        let inertia = self::inertia::<S, V>(numbers, Layout::<S>::INERTIA + size);
        let turn_b = turned::<S, V>(&inertia, moment::<S, V>(add(arm_b, swung_b), pull));
        for axis in 0..S::SPIN_DIM {
            a[S::DIM + axis] = a[S::DIM + axis] - turn_a[axis];
            b[S::DIM + axis] = b[S::DIM + axis] + turn_b[axis];
        }
        scatter(&mut weave.x, &group.ends[0], a);
        scatter(&mut weave.x, &group.ends[1], b);
    }
}

/// P: what closes eight joints that are open by so much.
#[inline(always)]
fn pull<S: Space, V: Wide>(numbers: &[Column], open: &V3<V>) -> V3<V> {
    let mut pull = [zero::<V>(); 3];
    for i in 0..S::DIM {
        for j in 0..S::DIM {
            let (low, high) = (i.min(j), i.max(j));
            let place = Layout::<S>::INVERSE + high * (high + 1) / 2 + low;
            pull[i] = pull[i] - V::load(&numbers[place]) * open[j];
        }
    }
    pull
}

#[inline(always)]
fn inertia<S: Space, V: Wide>(numbers: &[Column], first: usize) -> [V; LANES] {
    let mut inertia = [zero::<V>(); LANES];
    for k in 0..Layout::<S>::INERTIA_SIZE {
        inertia[k] = V::load(&numbers[first + k]);
    }
    inertia
}

dispatch! {
    /// Works out what impulses do at the joints.
    fn prepare<S: Space>(weave: &mut Weave) = prepare_kernel
}
dispatch! {
    /// Closes every joint in turn.
    fn sweep<S: Space>(weave: &mut Weave) = sweep_kernel
}
