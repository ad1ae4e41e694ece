//! What holds the bodies that linkages move.

use super::graph::{BodyGroup, Sides};
use super::patch::{Field, held};
use super::simd::{Column, Wide, dispatch};
use crate::space::Space;

/// Writes down what inertia and patches do to bodies that linkages move.
#[inline(always)]
fn grasp_kernel<S: Space, V: Wide>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) {
    for group in groups {
        let (held, ..) = held::<S, V>(field, group, sides);
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

/// What inertia and patches do to a body that a linkage moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grasp {
    /// Force and torque: f, t.
    pub(crate) load: [f64; 6],
    /// Σk, Σk r, Σk r rᵀ: see [`super::reduced`].
    pub(crate) s0: f64,
    pub(crate) s1: [f64; 3],
    pub(crate) s2: [f64; 6],
}

impl Grasp {
    /// Whether both are held by the same springs, whatever they carry.
    pub(crate) fn has_springs_of(&self, other: &Self) -> bool {
        self.s0 == other.s0 && self.s1 == other.s1 && self.s2 == other.s2
    }

    /// As the kernel wrote it down.
    pub(crate) fn read(field: &Field<'_>, place: usize) -> Self {
        let first = field.grasp.read(2 * place).0.map(f64::from);
        let second = field.grasp.read(2 * place + 1).0.map(f64::from);
        let mut load = [0.0; 6];
        load.copy_from_slice(&first[..6]);
        let mut s2 = [0.0; 6];
        s2.copy_from_slice(&second[2..]);
        Self {
            load,
            s0: first[6],
            s1: [first[7], second[0], second[1]],
            s2,
        }
    }
}

dispatch! {
    /// Writes down what inertia and patches do to bodies that linkages move.
    fn grasp<S: Space>(field: &Field<'_>, groups: &[BodyGroup], sides: &[Sides]) = grasp_kernel
}
