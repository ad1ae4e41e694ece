//! Constraint row of a joint: one coordinate and its Jacobian.

use super::LinkLaw;
use super::warm_start::WarmStart;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Motion;
use crate::model::joint::rows::{Role, nearest_turn};

/// A row with what a force along it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkRow<S: Space> {
    /// Places of its bodies in the linkage's list.
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) n: S::Vector,
    pub(super) j_a: S::Spin,
    pub(super) j_b: S::Spin,
    /// h² M⁻¹ Jᵀ.
    pub(super) moves_a: Motion<S>,
    pub(super) moves_b: Motion<S>,
    /// C, m or rad: `follow` times the coordinate, plus `offset`, at x = 0.
    pub(super) missing: f64,
    pub(super) follow: f64,
    pub(super) offset: f64,
    /// How `offset` follows the coordinate from substep to substep.
    pub(super) lag: f64,
    /// The coordinate at the start of the substep, m or rad.
    pub(super) start: f64,
    /// 1/k, m/N.
    pub(super) gives: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// S_ii + 1/k.
    pub(super) diagonal: f64,
}

impl<S: Space> LinkRow<S> {
    pub(super) fn empty(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            n: S::Vector::default(),
            j_a: S::Spin::default(),
            j_b: S::Spin::default(),
            moves_a: Motion::default(),
            moves_b: Motion::default(),
            missing: 0.0,
            follow: 0.0,
            offset: 0.0,
            lag: 0.0,
            start: 0.0,
            gives: 0.0,
            lower: 0.0,
            upper: 0.0,
            diagonal: 0.0,
        }
    }

    /// A coordinate of this row. Where its speed counts, what turns on past π goes on counting.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        let is_angle = self.n == S::Vector::default();
        if is_angle && self.lag > 0.0 {
            nearest_turn(value, self.start)
        } else {
            value
        }
    }

    /// u of displacements.
    #[inline]
    pub(super) fn moved(&self, x: &[Motion<S>]) -> f64 {
        let (a, b) = (&x[self.a as usize], &x[self.b as usize]);
        self.n.dot(b.linear - a.linear) + self.j_b.dot(b.spin) - self.j_a.dot(a.spin)
    }

    /// Adds what a force does.
    #[inline]
    pub(super) fn push(&self, force: f64, x: &mut [Motion<S>]) {
        let a = &mut x[self.a as usize];
        a.linear -= self.moves_a.linear * force;
        a.spin -= self.moves_a.spin * force;
        let b = &mut x[self.b as usize];
        b.linear += self.moves_b.linear * force;
        b.spin += self.moves_b.spin * force;
    }

    /// What a force along `other` moves along this row: S_ij.
    pub(super) fn coupling(&self, other: &Self) -> f64 {
        let ends = |row: &Self| {
            [
                (row.a, row.j_a, row.moves_a, -1.0),
                (row.b, row.j_b, row.moves_b, 1.0),
            ]
        };
        let mut sum = 0.0;
        for (body, j, _, sign) in ends(self) {
            for (same, _, moves, other_sign) in ends(other) {
                if body == same {
                    let along = self.n.dot(moves.linear) + j.dot(moves.spin);
                    sum += sign * other_sign * along;
                }
            }
        }
        sum
    }
}

/// Adds what forces along locks do, joint by joint; `blocks` says where each joint's begin.
pub(super) fn push_locks<S: Space>(
    (rows, blocks): (&[LinkRow<S>], &[u32]),
    forces: &[f64],
    x: &mut [Motion<S>],
) {
    for block in blocks.windows(2) {
        let range = block[0] as usize..block[1] as usize;
        let rows = &rows[range.clone()];
        let Some(first) = rows.first() else { continue };
        // Put down once a joint: that nothing else has changed them only we know.
        let ends = [first.a as usize, first.b as usize];
        let [mut a, mut b] = ends.map(|k| x[k]);
        for (row, &force) in rows.iter().zip(&forces[range]) {
            a.linear -= row.moves_a.linear * force;
            a.spin -= row.moves_a.spin * force;
            b.linear += row.moves_b.linear * force;
            b.spin += row.moves_b.spin * force;
        }
        x[ends[0]] = a;
        x[ends[1]] = b;
    }
}

/// An entry of S off its diagonal: two rows that share bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) rows: [u32; 2],
    /// Which ends they share: the first's A with the second's A, A with B, B with A, B with B.
    pub(super) shared: [bool; 4],
}

impl Entry {
    pub(super) fn new<S: Space>(rows: &[LinkRow<S>], first: usize, second: usize) -> Self {
        let (one, other) = (&rows[first], &rows[second]);
        Self {
            rows: [first as u32, second as u32],
            shared: [
                one.a == other.a,
                one.a == other.b,
                one.b == other.a,
                one.b == other.b,
            ],
        }
    }

    /// What a force along the second moves along the first.
    #[inline]
    pub(super) fn coupling<S: Space>(&self, rows: &[LinkRow<S>]) -> f64 {
        let [one, other] = self.rows.map(|k| &rows[k as usize]);
        let along = |j: S::Spin, moves: &Motion<S>| one.n.dot(moves.linear) + j.dot(moves.spin);
        let mut sum = 0.0;
        if self.shared[0] {
            sum += along(one.j_a, &other.moves_a);
        }
        if self.shared[1] {
            sum -= along(one.j_a, &other.moves_b);
        }
        if self.shared[2] {
            sum -= along(one.j_b, &other.moves_a);
        }
        if self.shared[3] {
            sum += along(one.j_b, &other.moves_b);
        }
        sum
    }
}

/// Whether a row has neither bounds nor gives way.
pub(super) fn is_lock(role: &Role) -> bool {
    match role {
        Role::Lock => true,
        Role::Limit(min, max) => min == max,
        Role::Motor(_, most) => *most == f64::INFINITY,
        Role::Spring(_) => false,
    }
}

/// Fills what a row is after, its coordinate being `value` at the start of the step. Returns the
/// force it starts with.
pub(super) fn write<S: Space>(
    link: &mut LinkRow<S>,
    role: &Role,
    value: f64,
    law: &LinkLaw,
    known: &mut WarmStart,
) -> f64 {
    const FREE: f64 = f64::INFINITY;
    let most = law.speed * law.h;
    // Of a large error only a part is made up for in a step.
    let allowed = |goal: f64, low: f64, high: f64| (value - goal).clamp(low, high) - value;
    link.lag = 0.0;
    link.start = value;
    let [follow, offset, gives, lower, upper] = match *role {
        Role::Lock => [1.0, allowed(0.0, -most, most), 0.0, -FREE, FREE],
        Role::Limit(min, max) if min == max => [1.0, allowed(min, -most, most), 0.0, -FREE, FREE],
        Role::Limit(min, max) => {
            let is_low = value - min <= max - value;
            let bound = if is_low { -1 } else { 1 };
            if std::mem::replace(&mut known.bound, bound) != bound {
                known.force = 0.0;
            }
            if is_low {
                [1.0, allowed(min, -most, FREE), 0.0, 0.0, FREE]
            } else {
                [1.0, allowed(max, -FREE, most), 0.0, -FREE, 0.0]
            }
        }
        // Speeds are differences of coordinates.
        Role::Motor(speed, most) => {
            link.lag = 1.0;
            [1.0, -value - law.h * speed, 0.0, -most, most]
        }
        Role::Spring([goal, spring, damping, most]) => {
            // k (C + u) = κ (c + u − c₀) + (d/h) u.
            let stiffness = spring + damping / law.h;
            if stiffness > 0.0 {
                let offset = -(spring * goal + damping / law.h * value) / stiffness;
                link.lag = damping / law.h / stiffness;
                [1.0, offset, 1.0 / stiffness, -most, most]
            } else {
                [0.0; 5]
            }
        }
    };
    (link.follow, link.offset, link.gives) = (follow, offset, gives);
    (link.lower, link.upper) = (lower, upper);
    known.force.clamp(lower, upper)
}
