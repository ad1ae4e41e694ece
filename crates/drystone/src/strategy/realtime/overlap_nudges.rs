//! Overlap repair: small displacements that move overlapping bodies apart.
//!
//! Nothing else learns of a **nudge**: velocities, forces and gaps of the substep are as if it had not
//! been. Of all nudges s those are looked for that move the points of contact apart by what is due,
//!
//! $$ \min_s \; \sum_b \tfrac12 s_b^T \tfrac{M_b}{h^2} s_b
//!    + \sum_p \tfrac12 k_p \max(0,\ t_p - n_p\cdot \Delta s_p)^2 , $$
//!
//! where t is the part $1-\alpha$ of what an overlap exceeds the slop by; points that do not overlap
//! that much may come closer by what is left, t < 0. Block descent does that in [`ROUNDS`] rounds over
//! the bodies, which find nothing to do once a pile has come to rest.

use super::contact_graph::{BodyGroup, Sides};
use super::manifold::{
    Field, Law, Layout, axes, choose, due, gather, place, read_header, read_point, relative, tied,
};
use crate::geometry::Space;
use crate::math::algebra::manifold_algebra::{Axes, Grip, Held, Moving, zero};
use crate::math::simd::{Column, LANES, Wide, dispatch};

/// What is moved faster than this by nudges does not fall asleep yet, m/s.
pub(super) const NOTICEABLE: f64 = 1e-3;

/// Rounds over all bodies.
pub(super) const ROUNDS: u32 = 2;

/// Moves each body of a colour to where its overlaps balance, the others held still.
#[inline(always)]
fn nudge_kernel<S: Space, V: Wide>(
    field: &Field<'_>,
    groups: &[BodyGroup],
    sides: &[Sides],
    law: &Law,
    is_tied: &[bool],
) {
    let o = zero::<V>();
    for group in groups {
        let columns = gather::<V>(&field.nudge, &group.bodies);
        let own = S::motion(&columns);
        let drift = S::motion(&gather::<V>(&field.drift, &group.bodies));
        let m = gather::<V>(&field.mass, &group.bodies);
        let i = gather::<V>(&field.inertia, &group.bodies);
        let (mass, inertia) = ([m[0], m[1], m[2]], [i[0], i[1], i[2], i[3], i[4], i[5]]);
        let back = S::turned(&inertia, own.angular);
        let mut held = Held::by(Moving {
            linear: [
                o - mass[0] * own.linear[0],
                o - mass[1] * own.linear[1],
                o - mass[2] * own.linear[2],
            ],
            angular: [o - back[0], o - back[1], o - back[2]],
        });
        // What is neither pressed nor moved stays where it is, whatever shares its group.
        let mut most = o;
        for column in columns {
            most = most.most(column.most(o - column));
        }
        for entry in &sides[group.start as usize..group.end as usize] {
            most = most.most(add_side::<S, V>(
                field,
                (group, entry),
                [&own, &drift],
                (law, is_tied),
                &mut held,
            ));
        }
        let mut acts = Column::default();
        most.store(&mut acts);
        if acts.0.iter().all(|&act| act <= 0.0) {
            continue;
        }
        let change = S::balance(&held, mass, &inertia);
        let mut moved = own;
        for k in 0..3 {
            moved.linear[k] = own.linear[k] + change.linear[k];
            moved.angular[k] = own.angular[k] + change.angular[k];
        }
        let mut columns = [o; LANES];
        S::to_columns(&moved, &mut columns);
        for (&body, moved) in group.bodies.iter().zip(V::transpose(columns)) {
            if body != 0 {
                let mut row = Column::default();
                moved.store(&mut row);
                field.nudge.write(body as usize, row);
            }
        }
    }
}

/// Adds what one manifold of each of eight bodies does to it. Returns the largest force of a point.
#[inline(always)]
fn add_side<S: Space, V: Wide>(
    field: &Field<'_>,
    (group, sides): (&BodyGroup, &Sides),
    [own, drift]: [&Moving<V>; 2],
    (law, is_tied): (&Law, &[bool]),
    held: &mut Held<V>,
) -> V {
    let (o, one) = (zero::<V>(), V::splat(1.0));
    let numbers = read_header::<S, V>(&field.records, &sides.records);
    let other = S::motion(&gather::<V>(&field.nudge, &sides.others));
    let other_drift = S::motion(&gather::<V>(&field.drift, &sides.others));
    let axes = axes::<S, V>(&numbers);
    let signed = V::load(&sides.signed);
    let is_b = signed.positive();
    let is = [is_b, one - is_b];
    let side = is[0] - is[1];
    let free = one - tied::<V>(is_tied, &[group.bodies, sides.others]);
    let weight = side * signed * free;
    let seen = Axes {
        arm_a: choose(is, axes.arm_a, axes.arm_b),
        arm_b: choose(is, axes.arm_b, axes.arm_a),
        ..axes
    };
    let x = relative::<S, V>(&seen, side, own, &other);
    let drifted = relative::<S, V>(&seen, side, drift, &other_drift);
    let mut grip = Grip {
        wrench: [o; 6],
        sums: [o; 6],
    };
    let mut most = o;
    for p in 0..sides.points as usize {
        let point = read_point::<S, V>(&field.records, &sides.records, p);
        let c = place::<S, V>(&point);
        let d = point[Layout::<S>::SEPARATION] + S::at_point(&drifted, &c)[0];
        let lacks = due(d, law) - S::at_point(&x, &c)[0];
        let k = point[Layout::<S>::STIFFNESS] * lacks.positive() * weight;
        let force = [k * lacks.most(o), o, o];
        most = most.most(force[0]);
        S::add_force(&force, &c, &mut grip.wrench);
        let (ka, kb) = (k * c[0], k * c[1]);
        let parts = [k, ka, kb, ka * c[0], ka * c[1], kb * c[1]];
        for (sum, part) in grip.sums.iter_mut().zip(parts) {
            *sum = *sum + part;
        }
    }
    S::hold(&axes, &grip, seen.arm_b, side, held);
    most
}

dispatch! {
    /// Moves each body of a colour to where its overlaps balance.
    fn nudge<S: Space>(
        field: &Field<'_>,
        groups: &[BodyGroup],
        sides: &[Sides],
        law: &Law,
        is_tied: &[bool],
    ) = nudge_kernel
}
