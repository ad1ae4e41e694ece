//! What holds the bodies that linkages move: two columns each, with force and torque of manifolds,
//! then Σk, Σk r, Σk r rᵀ of the springs (see [`crate::math::algebra::manifold_algebra`]).

use super::contact_graph::{BodyGroup, Sides};
use super::manifold::{Field, held_by_manifolds};
use crate::geometry::Space;
use crate::math::simd::{Column, Wide, dispatch};

/// Writes down what manifolds do to bodies that linkages move.
#[inline(always)]
fn grasp_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) {
    for group in groups {
        let held = held_by_manifolds::<S, V>(field, group, sides);
        let (f, t, s1, s2) = (held.load.linear, held.load.angular, held.s1, held.s2);
        let first = [f[0], f[1], f[2], t[0], t[1], t[2], held.s0, s1[0]];
        let second = [s1[1], s1[2], s2[0], s2[1], s2[2], s2[3], s2[4], s2[5]];
        for (half, numbers) in [first, second].into_iter().enumerate() {
            for (&body, row) in group.bodies.iter().zip(V::transpose(numbers)) {
                if body != 0 {
                    let mut stored = Column::default();
                    row.store(&mut stored);
                    field.grasp.write(2 * body as usize + half, stored);
                }
            }
        }
    }
}

dispatch! {
    /// Writes down what manifolds do to bodies that linkages move.
    fn grasp<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) = grasp_kernel
}
