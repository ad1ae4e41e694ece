//! Rows of ball joints and hinges, four linkages in SIMD lanes.
//!
//! A ball joint's rows are the distances of its two points along the world's axes, a hinge has two
//! more: with $u_i$ its axis and $u_j, u_k$ the others (in that order, right-handed), seen from A
//! and from B, the angles are $-u^A_k\cdot u^B_i$ and $u^A_j\cdot u^B_i$, which change as spins
//! along $u^A_j$ and $u^A_k$ ([`crate::model::joint::rows`], [`crate::model::joint::Angles`]). A linkage that has
//! nothing else, in space, is **plain**: what [`Linkage::aim_rows`], [`Linkage::shape_rows`] and
//! [`Linkage::weigh`] do for others is done here.

use super::kernel::{cross, dot, get, mask, put};
use super::{ArticulationLanes, LaneBody, LaneRow};
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Components;
use crate::math::simd::{DOUBLES, Number, Quad, Wide, dispatch};
use crate::model::body::Bodies;
use crate::model::joint::rows::{Coordinate, Gauge, Role};
use crate::strategy::realtime::articulation::LinkLaw;
use crate::strategy::realtime::articulation::direction_time::{CALM_SWING, MOST_PART, WILD_SWING};
use crate::strategy::realtime::articulation::linkage::{JointRows, Linkage};

/// Resistance of what can't move, N/m and N·m.
pub(super) const IMMOVABLE: f64 = 1e20;
/// Square of half a turn up to which its sine and cosine are series.
const SMALL: f64 = 0.01;

/// The same joint of four linkages.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneJoint {
    pub(super) ends: [u32; 2],
    /// Its first row.
    pub(super) first: u32,
    /// Points in the axes of A and of B, m.
    points: [[Quad; 3]; 2],
    /// Of a hinge.
    pub(super) hinge: Option<Hinge>,
    /// From the centres of mass of A and of B to their points where directions count, m.
    pub(super) arms: [[Quad; 3]; 2],
}

/// The same hinge of four linkages.
#[derive(Clone, Debug, Default)]
pub(super) struct Hinge {
    /// Signs of the angles of its first and second row.
    signs: [f64; 2],
    /// The axes of these rows in A's axes.
    locked: [[Quad; 3]; 2],
    /// Its own axis in B's axes.
    free: [Quad; 3],
}

/// What a plain joint is: `None` for others, a ball joint's free axis is 3.
pub(super) fn plain_kind<S: Space>(joint: &JointRows<S>) -> Option<u8> {
    let is_lock = |(_, role): &(Coordinate, Role)| *role == Role::Lock;
    let coordinates = || joint.roles.iter().map(|(coordinate, _)| *coordinate);
    let linear = (0..3).map(Coordinate::Linear);
    if S::DIM != 3 || !joint.gauge.is_point || !joint.roles.iter().all(is_lock) {
        return None;
    }
    if coordinates().eq(linear.clone()) {
        return Some(3);
    }
    let free = joint.gauge.free? as u8;
    let angular = (0..3).filter(|&k| k != free).map(Coordinate::Angular);
    coordinates().eq(linear.chain(angular)).then_some(free)
}

impl LaneJoint {
    /// The joints of plain linkages; none for others.
    pub(super) fn all<S: Space>(alike: &[Linkage<S>]) -> Vec<Self> {
        let Some(one) = alike.first() else {
            return Vec::new();
        };
        let kinds: Option<Vec<u8>> = one.joints.iter().map(plain_kind).collect();
        let joints = kinds.unwrap_or_default().into_iter().enumerate();
        let joints = joints.map(|(at, kind)| {
            let mut joint = Self {
                ends: one.joints[at].ends,
                first: one.blocks[at],
                hinge: (kind < 3).then(Hinge::default),
                ..Self::default()
            };
            for (lane, linkage) in alike.iter().enumerate() {
                joint.take(lane, &linkage.joints[at].gauge, kind as usize);
            }
            joint
        });
        joints.collect()
    }

    /// Lets the rows of distances be along the world's axes.
    pub(super) fn point_rows(&self, rows: &mut [LaneRow]) {
        for (axis, row) in rows[self.first as usize..].iter_mut().take(3).enumerate() {
            row.n[axis] = Quad([1.0; DOUBLES]);
        }
    }

    fn take<S: Space>(&mut self, lane: usize, gauge: &Gauge<S>, free: usize) {
        for (point, frame) in self.points.iter_mut().zip(&gauge.frames) {
            put_vector::<S>(point, lane, frame.position);
        }
        let Some(hinge) = &mut self.hinge else { return };
        let axis = |frame: &Pose<S>, k: usize| {
            let unit = S::Vector::default().with_component(k, 1.0);
            S::rotate(frame.rotation, unit)
        };
        put_vector::<S>(&mut hinge.free, lane, axis(&gauge.frames[1], free));
        for (row, k) in (0..3).filter(|&k| k != free).enumerate() {
            hinge.signs[row] = if k == (free + 1) % 3 { -1.0 } else { 1.0 };
            put_vector::<S>(&mut hinge.locked[row], lane, axis(&gauge.frames[0], k));
        }
    }
}

pub(super) fn put_vector<S: Space>(places: &mut [Quad; 3], lane: usize, vector: S::Vector) {
    for (axis, place) in places.iter_mut().enumerate() {
        place.0[lane] = vector.component(axis);
    }
}

/// What of a body does not change in a substep.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    /// Pose of its centre of mass at the start.
    position: [Quad; 3],
    rotation: [Quad; 4],
    /// Rotation where directions count.
    within: [Quad; 4],
    /// Rotation at the end of the substep.
    end: [Quad; 4],
    /// Inertia in its own axes (xx, yy, zz, xy, xz, yz), kg·m², and 1 where it is free to turn
    /// about an axis of the world.
    local: [Quad; 6],
    is_free: [Quad; 3],
    /// 1/(m r²), r being how large it is, 1/(kg·m²); what joints pull at in all, N·m.
    turns_by: Quad,
    pulled: Quad,
}

impl Form {
    /// Not turned, and not to be.
    pub(super) fn rest(&mut self, lane: usize) {
        self.rotation.iter_mut().for_each(|part| part.0[lane] = 0.0);
        self.rotation[3].0[lane] = 1.0;
        self.is_free.iter_mut().for_each(|is| is.0[lane] = 0.0);
    }

    /// Takes a body over at the start of a substep.
    pub(super) fn take<S: Space>(
        &mut self,
        lane: usize,
        pose: &Pose<S>,
        (bodies, body): (&Bodies<S>, usize),
    ) {
        put_vector::<S>(&mut self.position, lane, pose.position);
        let rotation = S::quaternion(pose.rotation);
        for (place, number) in self.rotation.iter_mut().zip(rotation) {
            place.0[lane] = number;
        }
        let inertial = &bodies.inertial[body];
        for (place, number) in self.local.iter_mut().zip(S::six(&inertial.inertia)) {
            place.0[lane] = number;
        }
        let (is_dynamic, turns) = (bodies.is_dynamic(body), bodies.turns(body));
        for (axis, place) in self.is_free.iter_mut().enumerate() {
            let is_free = is_dynamic && turns && inertial.free_spins.component(axis) > 0.0;
            place.0[lane] = f64::from(u8::from(is_free));
        }
        let size = bodies.mass(body) * bodies.radius[body] * bodies.radius[body];
        self.turns_by.0[lane] = if is_dynamic { 1.0 / size } else { 0.0 };
    }
}

/// Stores numbers of those for which `which` is 1.
#[inline(always)]
fn put_where<N: Number<Stored = Quad>, const K: usize>(
    which: N,
    numbers: [N; K],
    stored: &mut [Quad; K],
) {
    for (number, place) in numbers.into_iter().zip(stored) {
        which.choose(number, N::load(place)).store(place);
    }
}

/// A unit quaternion times a vector.
#[inline(always)]
fn rotate<N: Number>(q: &[N; 4], v: [N; 3]) -> [N; 3] {
    let axis = [q[0], q[1], q[2]];
    let two = N::splat(2.0);
    let t = cross(axis, v).map(|x| x * two);
    let u = cross(axis, t);
    std::array::from_fn(|k| v[k] + (q[3] * t[k] + u[k]))
}

/// A rotation turned by a vector of angles: see [`Space::turn`].
#[inline(always)]
fn turn<N: Number<Stored = Quad>>(q: &[N; 4], angle: [N; 3]) -> [N; 4] {
    let (sinc, cos) = sinc_and_cos::<N>(N::splat(0.25) * dot(angle, angle));
    let half = N::splat(0.5) * sinc;
    let [x, y, z] = angle.map(|a| a * half);
    let [i, j, k, w] = *q;
    let turned = [
        cos * i + x * w + (y * k - z * j),
        cos * j + y * w + (z * i - x * k),
        cos * k + z * w + (x * j - y * i),
        cos * w - (x * i + y * j + z * k),
    ];
    let square = turned[0] * turned[0]
        + turned[1] * turned[1]
        + (turned[2] * turned[2] + turned[3] * turned[3]);
    let scale = N::splat(1.0) / square.root();
    turned.map(|x| x * scale)
}

/// sin(x)/x and cos(x) of x²: series where it is small, as [`Space::turn`] has them.
#[inline(always)]
fn sinc_and_cos<N: Number<Stored = Quad>>(square: N) -> (N, N) {
    let one = N::splat(1.0);
    let series = |factors: [f64; 5]| {
        let terms = factors.into_iter().rev();
        terms.fold(one, |sum, factor| one - square * N::splat(factor) * sum)
    };
    let sinc = series([1.0 / 6.0, 1.0 / 20.0, 1.0 / 42.0, 1.0 / 72.0, 1.0 / 110.0]);
    let cos = series([1.0 / 2.0, 1.0 / 12.0, 1.0 / 30.0, 1.0 / 56.0, 1.0 / 90.0]);
    let mut squares = Quad::default();
    square.store(&mut squares);
    if squares.0.iter().all(|&square| square < SMALL) {
        return (sinc, cos);
    }
    let (mut sincs, mut cosines) = (Quad::default(), Quad::default());
    sinc.store(&mut sincs);
    cos.store(&mut cosines);
    for lane in (0..DOUBLES).filter(|&lane| squares.0[lane] >= SMALL) {
        let x = squares.0[lane].sqrt();
        let (sin, cos) = libm::sincos(x);
        (sincs.0[lane], cosines.0[lane]) = (sin / x, cos);
    }
    (N::load(&sincs), N::load(&cosines))
}

/// Angles of a hinge's two rows, and the axes they are about.
#[inline(always)]
fn hinge_angles<N: Number<Stored = Quad>>(
    hinge: &Hinge,
    [a, b]: [&[N; 4]; 2],
) -> ([N; 2], [[N; 3]; 2]) {
    let free = rotate(b, get(&hinge.free));
    let locked = hinge.locked.each_ref().map(|axis| rotate(a, get(axis)));
    let angle = |row: usize| N::splat(hinge.signs[row]) * dot(locked[1 - row], free);
    ([angle(0), angle(1)], locked)
}

/// The known forces of a joint: on B, N.
#[inline(always)]
fn known_force<N: Number<Stored = Quad>>(team: &ArticulationLanes, first: usize) -> [N; 3] {
    std::array::from_fn(|k| N::load(&team.forces[first + k]))
}

/// Says what rows are after, and where in the step directions are taken.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "every kernel has a space"
)]
fn aim_kernel<S: Space, V: Wide>(team: &mut ArticulationLanes, law: &LinkLaw) {
    aim::<V::Double>(team, law);
}

#[inline(always)]
fn aim<N: Number<Stored = Quad>>(team: &mut ArticulationLanes, law: &LinkLaw) {
    let most = N::splat(law.speed * law.h);
    // Of a large error only a part is made up for in a step.
    let allowed = |value: N| value.most(-most).least(most) - value;
    for body in &mut team.bodies {
        body.form.pulled = Quad::default();
    }
    for joint in &team.joints {
        let [a, b] = joint.ends.map(|k| &team.bodies[k as usize].form);
        let [q_a, q_b] = [a, b].map(|form| get::<N, 4>(&form.rotation));
        let arm_a = rotate(&q_a, get(&joint.points[0]));
        let arm_b = rotate(&q_b, get(&joint.points[1]));
        let (p_a, p_b) = (get::<N, 3>(&a.position), get::<N, 3>(&b.position));
        let first = joint.first as usize;
        for k in 0..3 {
            let value = (p_b[k] - p_a[k]) + (arm_b[k] - arm_a[k]);
            allowed(value).store(&mut team.rows[first + k].offset);
        }
        if let Some(hinge) = &joint.hinge {
            let (angles, _) = hinge_angles(hinge, [&q_a, &q_b]);
            for (k, angle) in angles.into_iter().enumerate() {
                allowed(angle).store(&mut team.rows[first + 3 + k].offset);
            }
        }
        let force = known_force::<N>(team, first);
        for (end, pull) in [
            (joint.ends[0], -dot(force, arm_a)),
            (joint.ends[1], dot(force, arm_b)),
        ] {
            let pulled = &mut team.bodies[end as usize].form.pulled;
            (N::load(pulled) + pull.most(N::splat(0.0))).store(pulled);
        }
    }
    let mut fastest = N::splat(0.0);
    let square = N::splat(law.h * law.h);
    for body in &team.bodies {
        let swings = N::load(&body.form.pulled) * N::load(&body.form.turns_by);
        fastest = fastest.most(square * swings);
    }
    let beyond = (fastest - N::splat(CALM_SWING)) * N::splat(1.0 / (WILD_SWING - CALM_SWING));
    let part = beyond.most(N::splat(0.0)).least(N::splat(1.0));
    (N::splat(MOST_PART) * part).store(&mut team.part);
}

/// Makes rows for the present displacements, and says how bodies resist.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "every kernel has a space"
)]
fn shape_kernel<S: Space, V: Wide>(team: &mut ArticulationLanes, law: &LinkLaw) {
    let part = V::Double::load(&team.part);
    // The rows of those that have not turned stay as they are.
    let which = mask::<V::Double>(team.is_bent);
    for body in &mut team.bodies {
        place::<V::Double>(body, [part, which], law);
    }
    for k in 0..team.joints.len() {
        shape_joint::<V::Double>(team, k, [part, which]);
    }
    for body in &mut team.bodies {
        let free: [V::Double; 3] = get(&body.form.is_free);
        for (at, [i, j]) in SYMMETRIC.into_iter().enumerate() {
            let resists = V::Double::load(&body.inertia[at]);
            let held = V::Double::splat(if i == j { IMMOVABLE } else { 0.0 });
            let resists = (free[i] * free[j]).choose(resists, held);
            resists.store(&mut body.inertia[at]);
        }
    }
}

/// Rows and columns of the numbers of a symmetric matrix.
pub(super) const SYMMETRIC: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// Turns a body's axes to where directions count, and its inertia to where it starts.
#[inline(always)]
fn place<N: Number<Stored = Quad>>(body: &mut LaneBody, [part, which]: [N; 2], law: &LinkLaw) {
    let q = get::<N, 4>(&body.form.rotation);
    let x = get::<N, 6>(&body.x);
    let spin = [x[3], x[4], x[5]];
    put_where(which, spin, &mut body.made_for);
    put(turn(&q, spin), &mut body.form.end);
    put(turn(&q, spin.map(|x| x * part)), &mut body.form.within);
    let [xx, yy, zz, xy, xz, yz] = get::<N, 6>(&body.form.local);
    let unit = |k: usize| std::array::from_fn(|j| N::splat(f64::from(u8::from(j == k))));
    let axes: [[N; 3]; 3] = std::array::from_fn(|k| rotate(&q, unit(k)));
    let local = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    // R I, then that times Rᵀ.
    let half: [[N; 3]; 3] = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            axes[0][i] * local[0][j] + axes[1][i] * local[1][j] + axes[2][i] * local[2][j]
        })
    });
    let per_square = N::splat(1.0 / (law.h * law.h));
    for (at, [i, j]) in SYMMETRIC.into_iter().enumerate() {
        let whole = half[i][0] * axes[0][j] + half[i][1] * axes[1][j] + half[i][2] * axes[2][j];
        let number = whole * per_square * N::load(&body.moves);
        put_where(which, [number], std::array::from_mut(&mut body.bare[at]));
        put_where(which, [number], std::array::from_mut(&mut body.inertia[at]));
    }
}

/// Writes the rows of a joint, and adds what its known forces do to the resistance of bodies.
#[inline(always)]
fn shape_joint<N: Number<Stored = Quad>>(
    team: &mut ArticulationLanes,
    k: usize,
    [part, which]: [N; 2],
) {
    let joint = &team.joints[k];
    let [a, b] = joint.ends.map(|end| &team.bodies[end as usize]);
    let [x_a, x_b] = [a, b].map(|body| get::<N, 6>(&body.x));
    let [end_a, end_b] = [a, b].map(|body| get::<N, 4>(&body.form.end));
    let [q_a, q_b] = [a, b].map(|body| get::<N, 4>(&body.form.within));
    let points = joint.points.each_ref().map(get::<N, 3>);
    let (far_a, far_b) = (rotate(&end_a, points[0]), rotate(&end_b, points[1]));
    let arms = [rotate(&q_a, points[0]), rotate(&q_b, points[1])];
    let (p_a, p_b) = (get::<N, 3>(&a.form.position), get::<N, 3>(&b.form.position));
    let (spin_a, spin_b) = ([x_a[3], x_a[4], x_a[5]], [x_b[3], x_b[4], x_b[5]]);
    // What the row's own arms say of the displacement, less what it is.
    let (turned_a, turned_b) = (cross(spin_a, arms[0]), cross(spin_b, arms[1]));
    let first = joint.first as usize;
    let o = N::splat(0.0);
    let levers = arms.map(|[x, y, z]| [[o, z, -y], [-z, o, x], [y, -x, o]]);
    for axis in 0..3 {
        let row = &mut team.rows[first + axis];
        let bent = (far_b[axis] - far_a[axis]) - (turned_b[axis] - turned_a[axis]);
        let missing = (p_b[axis] - p_a[axis]) + bent + N::load(&row.offset);
        put_where(which, [missing], std::array::from_mut(&mut row.missing));
        put_where(which, levers[0][axis], &mut row.j_a);
        put_where(which, levers[1][axis], &mut row.j_b);
    }
    if let Some(hinge) = &joint.hinge {
        let (angles, _) = hinge_angles(hinge, [&end_a, &end_b]);
        let along = hinge.locked.each_ref().map(|axis| rotate(&q_a, get(axis)));
        let apart: [N; 3] = std::array::from_fn(|axis| spin_b[axis] - spin_a[axis]);
        for (row, (angle, along)) in angles.into_iter().zip(along).enumerate() {
            let row = &mut team.rows[first + 3 + row];
            let missing = angle - dot(along, apart) + N::load(&row.offset);
            put_where(which, [missing], std::array::from_mut(&mut row.missing));
            put_where(which, along, &mut row.j_a);
            put_where(which, along, &mut row.j_b);
        }
    }
    for (arm, place) in arms.into_iter().zip(&mut team.joints[k].arms) {
        put_where(which, arm, place);
    }
    let part = which.choose(part, o);
    let force = known_force::<N>(team, first).map(|force| force * part);
    let ends = team.joints[k].ends.map(|end| end as usize);
    stiffen(&mut team.bodies[ends[0]], arms[0], -dot(force, arms[0]));
    stiffen(&mut team.bodies[ends[1]], arms[1], dot(force, arms[1]));
}

/// Adds s (1 − r rᵀ/r²) to a body's resistance to turns where s is positive: what a pull at r adds.
#[inline(always)]
fn stiffen<N: Number<Stored = Quad>>(body: &mut LaneBody, r: [N; 3], s: N) {
    let (zero, one) = (N::splat(0.0), N::splat(1.0));
    let square = dot(r, r);
    let s = square.choose(s.most(zero), zero);
    let per_square = square.choose(one / square, zero);
    for (at, [i, j]) in SYMMETRIC.into_iter().enumerate() {
        let along = r[i] * r[j] * per_square;
        let across = if i == j { one - along } else { -along };
        let number = &mut body.inertia[at];
        (N::load(number) + s * across).store(number);
    }
}

dispatch! {
    /// Says what rows of plain linkages are after, and where in the step directions are taken.
    fn aim_rows<S: Space>(team: &mut ArticulationLanes, law: &LinkLaw) = aim_kernel
}
dispatch! {
    /// Makes rows of plain linkages for their present displacements.
    fn shape_rows<S: Space>(team: &mut ArticulationLanes, law: &LinkLaw) = shape_kernel
}
