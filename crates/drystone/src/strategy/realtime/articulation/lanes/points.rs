//! Point forces of ball joints and hinges, four linkages in SIMD lanes.
//!
//! The rows of a ball joint are the displacements of one point along three axes. So what a force does
//! along them is what it moves the ends of the two arms by, and what forces along them do to a body
//! is what their sum and its torque do.

use super::joint_rows::LaneJoint;
use super::kernel::{cross, dot, get, halves, put};
use super::{ArticulationLanes, LaneBody};
use crate::math::rigid_compliance::Answer;
use crate::math::simd::{Number, Quad};
use crate::strategy::realtime::articulation::row::Entry;

/// Rows of a joint that a force along a row of this or a later one moves: their entries of S.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling {
    joint: u32,
    /// The row along which the force is, and how many rows of the joint have entries with it.
    column: u32,
    count: u32,
    /// Which ends they share: see [`Entry`].
    shared: [bool; 4],
}

impl Coupling {
    /// All entries in their order, rows of a joint together.
    pub(super) fn all(joints: &[LaneJoint], entries: &[Entry]) -> Vec<Self> {
        let joint_of = |row: u32| joints.partition_point(|joint| joint.first <= row) - 1;
        let key = |entry: &Entry| (joint_of(entry.rows[0]), entry.rows[1]);
        let couplings = entries.chunk_by(|one, next| key(one) == key(next));
        couplings
            .map(|some| Self {
                joint: joint_of(some[0].rows[0]) as u32,
                column: some[0].rows[1],
                count: some.len() as u32,
                shared: some[0].shared,
            })
            .collect()
    }
}

/// What forces along the rows do. A force along an axis e at an arm r has the torque r × e.
#[inline(always)]
pub(super) fn answer_rows<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    for joint in &team.joints {
        let first = joint.first as usize;
        let count = if joint.hinge.is_some() { 5 } else { 3 };
        let rows = &mut team.rows[first..first + count];
        for side in 0..2 {
            let answer = &team.bodies[joint.ends[side] as usize].answer;
            let answer = Answer::<N>::load(answer);
            let arm = get::<N, 3>(&joint.arms[side]);
            let of_points = answer.of_forces_at(arm);
            for (k, row) in rows.iter_mut().enumerate() {
                let moved = match of_points.get(k) {
                    Some(moved) => *moved,
                    None => answer.of_torque(get(row.lever(side))),
                };
                let own = if k < 3 {
                    at_point(moved, arm)[k]
                } else {
                    dot(get(row.lever(side)), [moved[3], moved[4], moved[5]])
                };
                // The first end begins the sum.
                let known = if side == 0 {
                    N::splat(0.0)
                } else {
                    N::load(&row.diagonal)
                };
                (known + own).store(&mut row.diagonal);
                put(moved, row.moves_mut(side));
            }
        }
    }
}

/// What a motion moves the end of an arm by.
#[inline(always)]
fn at_point<N: Number>(moved: [N; 6], arm: [N; 3]) -> [N; 3] {
    let turned = cross([moved[3], moved[4], moved[5]], arm);
    std::array::from_fn(|k| moved[k] + turned[k])
}

/// Writes down what rows must still move by.
#[inline(always)]
pub(super) fn find_missing<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    for joint in &team.joints {
        let first = joint.first as usize;
        let [a, b] = joint
            .ends
            .map(|end| get::<N, 6>(&team.bodies[end as usize].pushed));
        let of_a = at_point(a, get(&joint.arms[0]));
        let of_b = at_point(b, get(&joint.arms[1]));
        for axis in 0..3 {
            let apart = N::load(&team.rows[first + axis].missing) + (of_b[axis] - of_a[axis]);
            (-apart).store(&mut team.missing[first + axis]);
        }
        if joint.hinge.is_some() {
            let turned = std::array::from_fn(|k| b[3 + k] - a[3 + k]);
            for row in first + 3..first + 5 {
                let along = dot(get(&team.rows[row].j_a), turned);
                let apart = N::load(&team.rows[row].missing) + along;
                (-apart).store(&mut team.missing[row]);
            }
        }
    }
}

/// Sums up what forces along rows pull at bodies with.
#[inline(always)]
pub(super) fn load_bodies<N: Number<Stored = Quad>>(
    team: &mut ArticulationLanes,
    force_along: impl Fn(&ArticulationLanes, usize) -> N,
) {
    for body in &mut team.bodies {
        body.load = [Quad::default(); 6];
    }
    for k in 0..team.joints.len() {
        let joint = &team.joints[k];
        let first = joint.first as usize;
        let force: [N; 3] = std::array::from_fn(|axis| force_along(team, first + axis));
        let mut twist = [N::splat(0.0); 3];
        if joint.hinge.is_some() {
            for row in first + 3..first + 5 {
                let (along, torque) = (get::<N, 3>(&team.rows[row].j_a), force_along(team, row));
                twist = std::array::from_fn(|axis| twist[axis] + along[axis] * torque);
            }
        }
        let ends = joint.ends;
        let torques = joint.arms.each_ref().map(|arm| cross(get(arm), force));
        for side in 0..2 {
            let torque: [N; 3] = std::array::from_fn(|axis| torques[side][axis] + twist[axis]);
            let load = &mut team.bodies[ends[side] as usize].load;
            for (part, place) in force.into_iter().chain(torque).zip(load) {
                // On B, and its opposite on A.
                let known = N::load(place);
                (if side == 0 {
                    known - part
                } else {
                    known + part
                })
                .store(place);
            }
        }
    }
}

/// Where a body is with what joints pull at it with.
#[inline(always)]
pub(super) fn pulled<N: Number<Stored = Quad>>(body: &LaneBody) -> [N; 6] {
    let (force, torque) = halves(get::<N, 6>(&body.load));
    let change = Answer::<N>::load(&body.answer).to(force, torque);
    let pushed = get::<N, 6>(&body.pushed);
    std::array::from_fn(|k| pushed[k] + change[k])
}

/// Works out the entries of S off its diagonal.
#[inline(always)]
pub(super) fn couple_rows<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let mut at = 0;
    for coupling in &team.couplings {
        let joint = &team.joints[coupling.joint as usize];
        let column = &team.rows[coupling.column as usize];
        let count = coupling.count as usize;
        let mut sums = [N::splat(0.0); 5];
        for (k, _) in coupling.shared.iter().enumerate().filter(|(_, is)| **is) {
            // A with A, A with B, B with A, B with B: those of opposite ends count against.
            let (own, other) = (k / 2, k % 2);
            let moved = get::<N, 6>(column.moves(other));
            let moved = if own == other {
                moved
            } else {
                moved.map(|x| -x)
            };
            let along = at_point(moved, get(&joint.arms[own]));
            for (sum, along) in sums.iter_mut().zip(along) {
                *sum = *sum + along;
            }
            let turned = [moved[3], moved[4], moved[5]];
            for (row, sum) in sums.iter_mut().enumerate().take(count).skip(3) {
                let row = &team.rows[joint.first as usize + row];
                *sum = *sum + dot(get(row.lever(own)), turned);
            }
        }
        for (sum, place) in sums.into_iter().zip(&mut team.above[at..at + count]) {
            sum.store(place);
        }
        at += count;
    }
}
