//! Storage of manifolds as records of numbers ([`super::manifold`]).
//!
//! Kernels take eight records at a time, those with many points first, so that eight together have
//! about as many points each.

use super::manifold::{Layout, NO_POINT};
use super::manifold_store::MOST;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::simd::{Column, LANES};
use crate::parallel::shared_slice::SharedSlice;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One point of a manifold, to be written into a record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointNumbers {
    pub(crate) place: [f64; 2],
    pub(crate) separation: f64,
    /// Along the normal, then the tangents, N.
    pub(crate) force: [f64; 3],
}

/// A manifold, to be written into a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManifoldNumbers<S: Space> {
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

/// Eight records that kernels work on together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordGroup {
    /// 0 for none.
    pub(crate) records: [u32; LANES],
    /// Points that any of them has.
    pub(crate) points: u32,
}

/// Puts records of each part with equally many points together, those with many first. `manifolds`
/// are records, their points and their parts; `spare` says how many empty groups follow after so
/// many. Returns where the groups of each part are.
pub(super) fn group_records(
    manifolds: impl Iterator<Item = (u32, u8, usize)> + Clone,
    parts: usize,
    spare: impl Fn(usize) -> usize,
    groups: &mut Vec<RecordGroup>,
) -> Vec<Range<usize>> {
    // Most points first.
    let class = |points: u8, part: usize| part * MOST + (MOST - points as usize);
    let mut places = vec![0_usize; parts * MOST];
    for (_, points, part) in manifolds.clone() {
        places[class(points, part)] += 1;
    }
    let (mut total, mut ranges) = (0, Vec::with_capacity(parts));
    for of_part in places.chunks_mut(MOST) {
        let start = total / LANES;
        for place in of_part {
            total += std::mem::replace(place, total);
        }
        // Each part begins with a group of its own.
        total = total.next_multiple_of(LANES);
        let end = total / LANES;
        ranges.push(start..end);
        total += spare(end - start) * LANES;
    }
    let empty = RecordGroup {
        records: [0; LANES],
        points: 0,
    };
    groups.clear();
    groups.resize(total / LANES, empty);
    for (record, points, part) in manifolds {
        let place = &mut places[class(points, part)];
        let group = &mut groups[*place / LANES];
        group.records[*place % LANES] = record;
        group.points = group.points.max(u32::from(points));
        *place += 1;
    }
    ranges
}

/// All records. The first belongs to no manifold; manifold k has record k + 1.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Records {
    pub(crate) columns: Vec<Column>,
    /// Bodies A and B of each record, as places in the body columns.
    pub(crate) ends: Vec<[u32; 2]>,
    /// Points of each record; 0 where there is no manifold.
    #[serde(skip)]
    pub(crate) counts: Vec<u8>,
}

impl Records {
    /// Makes room for the record of a manifold.
    pub(crate) fn reserve<S: Space>(&mut self, manifold: u32) {
        let needed = (manifold as usize + 2).next_multiple_of(LANES);
        if self.ends.len() < needed {
            // Twice as many, so that room is seldom made.
            let room = needed.max(2 * self.ends.len());
            self.ends.resize(room, [0; 2]);
            self.counts.resize(room, 0);
            self.columns.resize(room * S::RECORD, Column::default());
        }
    }

    /// Empties the record of a manifold.
    pub(crate) fn clear<S: Space>(&mut self, manifold: u32) {
        let record = manifold as usize + 1;
        self.ends[record] = [0; 2];
        self.counts[record] = 0;
        self.columns[record * S::RECORD..(record + 1) * S::RECORD].fill(Column::default());
    }

    /// The records, to be written by several threads.
    pub(crate) fn share(&mut self) -> SharedRecords<'_> {
        SharedRecords {
            columns: SharedSlice::new(&mut self.columns),
            ends: SharedSlice::new(&mut self.ends),
            counts: SharedSlice::new(&mut self.counts),
        }
    }

    /// Sets the normal force at a manifold's point, N.
    pub(crate) fn set_normal_force<S: Space>(&mut self, manifold: u32, point: usize, force: f64) {
        self.columns[point_of::<S>(manifold, point)].0[Layout::<S>::FORCE] = force as f32;
    }

    /// Whether there is room for a manifold's point: what comes from outside may name others.
    pub(crate) fn has_point<S: Space>(&self, manifold: u32, point: usize) -> bool {
        point < S::POINTS && point_of::<S>(manifold, point) < self.columns.len()
    }

    /// Sets the force at a manifold's point in the manifold's axes, N.
    pub(crate) fn set_force<S: Space>(&mut self, manifold: u32, point: usize, force: S::Vector) {
        let column = &mut self.columns[point_of::<S>(manifold, point)].0;
        for k in 0..S::DIM {
            column[Layout::<S>::FORCE + k] = force.component(k) as f32;
        }
    }

    /// The gap of a manifold's point in the last substep, m.
    pub(crate) fn gap<S: Space>(&self, manifold: u32, point: usize) -> f64 {
        f64::from(self.columns[point_of::<S>(manifold, point)].0[Layout::<S>::GAP])
    }

    /// The force at a manifold's point in the manifold's axes, N.
    pub(crate) fn force<S: Space>(&self, manifold: u32, point: usize) -> [f64; 3] {
        let record = manifold as usize + 1;
        force_in::<S>(
            &self.columns[record * S::RECORD..(record + 1) * S::RECORD],
            point,
        )
    }
}

/// The column of a manifold's point.
fn point_of<S: Space>(manifold: u32, point: usize) -> usize {
    (manifold as usize + 1) * S::RECORD + Layout::<S>::HEADER + point
}

/// The force at a point of a record in its manifold's axes, N.
pub(crate) fn force_in<S: Space>(record: &[Column], point: usize) -> [f64; 3] {
    let numbers = &record[Layout::<S>::HEADER + point].0;
    let mut force = [0.0; 3];
    for (k, part) in force.iter_mut().enumerate().take(S::DIM) {
        *part = f64::from(numbers[Layout::<S>::FORCE + k]);
    }
    force
}

/// Columns of a record at most, in any space.
const MOST_COLUMNS: usize = 6;

/// Records that several threads write, each its own.
pub(crate) struct SharedRecords<'a> {
    columns: SharedSlice<'a, Column>,
    ends: SharedSlice<'a, [u32; 2]>,
    counts: SharedSlice<'a, u8>,
}

impl SharedRecords<'_> {
    /// The record of a manifold.
    pub(crate) fn read<S: Space>(&self, manifold: u32) -> [Column; MOST_COLUMNS] {
        let first = (manifold as usize + 1) * S::RECORD;
        let mut record = [Column::default(); MOST_COLUMNS];
        for (k, column) in record.iter_mut().enumerate().take(S::RECORD) {
            *column = self.columns.read(first + k);
        }
        record
    }

    /// Writes a manifold between two bodies. Returns whether it has not as many points as before.
    pub(crate) fn write<S: Space>(
        &self,
        manifold: u32,
        bodies: [u32; 2],
        numbers: &ManifoldNumbers<S>,
    ) -> bool {
        let record = manifold as usize + 1;
        self.ends.write(record, bodies.map(|k| k + 1));
        let count = numbers.count as u8;
        let is_regrouped = self.counts.read(record) != count;
        self.counts.write(record, count);
        let mut columns = self.read::<S>(manifold);
        numbers.put_into(&mut columns);
        for (k, &column) in columns.iter().enumerate().take(S::RECORD) {
            self.columns.write(record * S::RECORD + k, column);
        }
        is_regrouped
    }
}

impl<S: Space> ManifoldNumbers<S> {
    /// Writes what detection knows into a record; what the kernels keep of points that are there
    /// stays.
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
        if Layout::<S>::HAS_ROOM {
            put(Layout::<S>::RESTITUTION, self.restitution);
            put(Layout::<S>::SLIDE, self.slide);
        }
        for p in 0..S::POINTS {
            self.put_point(p, &mut columns[Layout::<S>::HEADER + p]);
        }
    }

    fn put_point(&self, p: usize, column: &mut Column) {
        if p >= self.count {
            // No force and no stiffness: it does nothing next to manifolds with more points. The gap
            // is what kernels find there: next to which manifolds they take this one depends on the
            // steps before, and a record must not.
            *column = Column::default();
            column.0[Layout::<S>::SEPARATION] = NO_POINT;
            column.0[Layout::<S>::GAP] = NO_POINT;
            return;
        }
        let mut put = |at: usize, value: f64| column.0[at] = value as f32;
        let point = &self.points[p];
        put(Layout::<S>::SEPARATION, point.separation);
        for k in 0..Layout::<S>::TANGENTS {
            put(Layout::<S>::PLACE + k, point.place[k]);
        }
        for k in 0..S::DIM {
            put(Layout::<S>::FORCE + k, point.force[k]);
        }
        if !Layout::<S>::HAS_ROOM {
            put(Layout::<S>::RESTITUTION, self.restitution);
            put(Layout::<S>::SLIDE, self.slide);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::{D2, D3};

    /// What is written of a manifold says all of its record: kernels that take it next to manifolds with
    /// more points leave the places of points that it has not as they are.
    fn unused_places_are_as_kernels_leave_them<S: Space>() {
        let mut records = Records::default();
        records.reserve::<S>(0);
        let numbers = ManifoldNumbers::<S> {
            basis: S::basis(S::Vector::default().with_component(0, 1.0)),
            arm_a: S::Vector::default(),
            arm_b: S::Vector::default(),
            friction: 0.5,
            restitution: 0.0,
            slide: 0.0,
            mass: 1.0,
            points: [PointNumbers::default(); 4],
            count: 1,
        };
        records.share().write(0, [0, 1], &numbers);
        for point in 1..S::POINTS {
            let column = &records.columns[point_of::<S>(0, point)].0;
            assert_eq!(column[Layout::<S>::SEPARATION], NO_POINT);
            assert_eq!(column[Layout::<S>::GAP], NO_POINT);
        }
    }

    #[test]
    fn unused_places_are_as_kernels_leave_them_in_plane_and_space() {
        unused_places_are_as_kernels_leave_them::<D2>();
        unused_places_are_as_kernels_leave_them::<D3>();
    }
}
