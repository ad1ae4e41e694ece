//! Records of patches: see [`super::patch`] for what is in them.

use super::patch::{Layout, NO_POINT};
use super::shared::Shared;
use super::simd::{Column, LANES};
use crate::space::{Components, Space};
use serde::{Deserialize, Serialize};

/// One point of a patch, to be written into a record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointNumbers {
    pub(crate) place: [f64; 2],
    pub(crate) separation: f64,
    /// Along the normal, then the tangents, N.
    pub(crate) force: [f64; 3],
}

/// A patch, to be written into a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchNumbers<S: Space> {
    pub(crate) basis: S::Matrix,
    pub(crate) arm_a: S::Vector,
    pub(crate) arm_b: S::Vector,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// Along the first tangent, m in a substep.
    pub(crate) slide: f64,
    /// Mass that one point moves, kg.
    pub(crate) mass: f64,
    pub(crate) points: [PointNumbers; 4],
    pub(crate) count: usize,
}

/// All records. The first belongs to no patch; patch k has record k + 1.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Records {
    pub(crate) columns: Vec<Column>,
    /// Bodies A and B of each record, as places in the body columns.
    pub(crate) ends: Vec<[u32; 2]>,
}

impl Records {
    /// Makes room for the record of a patch.
    pub(crate) fn reserve<S: Space>(&mut self, patch: u32) {
        let needed = (patch as usize + 2).next_multiple_of(LANES);
        if self.ends.len() < needed {
            // Twice as many, so that room is seldom made.
            let room = needed.max(2 * self.ends.len());
            self.ends.resize(room, [0; 2]);
            self.columns.resize(room * S::RECORD, Column::default());
        }
    }

    /// Empties the record of a patch.
    pub(crate) fn clear<S: Space>(&mut self, patch: u32) {
        let record = patch as usize + 1;
        self.ends[record] = [0; 2];
        self.columns[record * S::RECORD..(record + 1) * S::RECORD].fill(Column::default());
    }

    /// The records, to be written by several threads.
    pub(crate) fn share(&mut self) -> SharedRecords<'_> {
        SharedRecords {
            columns: Shared::new(&mut self.columns),
            ends: Shared::new(&mut self.ends),
        }
    }

    /// Sets the normal force at a patch's point, N.
    pub(crate) fn set_normal_force<S: Space>(&mut self, patch: u32, point: usize, force: f64) {
        let at = Layout::<S>::point(point) + Layout::<S>::FORCE;
        let column = (patch as usize + 1) * S::RECORD + at / LANES;
        self.columns[column].0[at % LANES] = force as f32;
    }

    /// The gap of a patch's point in the last substep, m.
    pub(crate) fn gap<S: Space>(&self, patch: u32, point: usize) -> f64 {
        let at = Layout::<S>::point(point) + Layout::<S>::GAP;
        let column = (patch as usize + 1) * S::RECORD + at / LANES;
        f64::from(self.columns[column].0[at % LANES])
    }

    /// The force at a patch's point in the patch's axes, N.
    pub(crate) fn force<S: Space>(&self, patch: u32, point: usize) -> [f64; 3] {
        let record = patch as usize + 1;
        force_in::<S>(
            &self.columns[record * S::RECORD..(record + 1) * S::RECORD],
            point,
        )
    }
}

/// The force at a point of a record in its patch's axes, N.
pub(crate) fn force_in<S: Space>(record: &[Column], point: usize) -> [f64; 3] {
    let at = Layout::<S>::point(point) + Layout::<S>::FORCE;
    let mut force = [0.0; 3];
    for (k, part) in force.iter_mut().enumerate().take(S::DIM) {
        *part = f64::from(record[(at + k) / LANES].0[(at + k) % LANES]);
    }
    force
}

/// Columns of a record at most, in any space.
const MOST_COLUMNS: usize = 6;

/// Records that several threads write, each its own.
pub(crate) struct SharedRecords<'a> {
    columns: Shared<'a, Column>,
    ends: Shared<'a, [u32; 2]>,
}

impl SharedRecords<'_> {
    /// The record of a patch.
    pub(crate) fn read<S: Space>(&self, patch: u32) -> [Column; MOST_COLUMNS] {
        let first = (patch as usize + 1) * S::RECORD;
        let mut record = [Column::default(); MOST_COLUMNS];
        for (k, column) in record.iter_mut().enumerate().take(S::RECORD) {
            *column = self.columns.read(first + k);
        }
        record
    }

    /// Writes a patch between two bodies.
    pub(crate) fn write<S: Space>(&self, patch: u32, bodies: [u32; 2], numbers: &PatchNumbers<S>) {
        let record = patch as usize + 1;
        self.ends.write(record, bodies.map(|k| k + 1));
        let mut columns = self.read::<S>(patch);
        numbers.put_into(&mut columns);
        for (k, &column) in columns.iter().enumerate().take(S::RECORD) {
            self.columns.write(record * S::RECORD + k, column);
        }
    }
}

impl<S: Space> PatchNumbers<S> {
    /// Writes what detection knows into a record; what the kernels keep there stays.
    fn put_into(&self, columns: &mut [Column; MOST_COLUMNS]) {
        let mut put = |at: usize, value: f64| columns[at / LANES].0[at % LANES] = value as f32;
        let basis = &self.basis;
        let (normal, tangent) = (S::column(basis, 0), S::column(basis, 1));
        for axis in 0..S::DIM {
            put(Layout::<S>::NORMAL + axis, normal.component(axis));
            put(Layout::<S>::ARM_A + axis, self.arm_a.component(axis));
            put(Layout::<S>::ARM_B + axis, self.arm_b.component(axis));
        }
        for axis in 0..S::TANGENT {
            put(Layout::<S>::TANGENT + axis, tangent.component(axis));
        }
        put(Layout::<S>::MU, self.friction);
        put(Layout::<S>::MASS, self.mass);
        put(Layout::<S>::RESTITUTION, self.restitution);
        put(Layout::<S>::SLIDE, self.slide);
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let point = self.points[p];
            let is_there = p < self.count;
            let separation = if is_there {
                point.separation
            } else {
                f64::from(NO_POINT)
            };
            put(at + Layout::<S>::SEPARATION, separation);
            for k in 0..Layout::<S>::TANGENTS {
                put(at + Layout::<S>::PLACE + k, point.place[k]);
            }
            for k in 0..S::DIM {
                put(at + Layout::<S>::FORCE + k, point.force[k]);
            }
        }
    }
}
