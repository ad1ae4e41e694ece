//! Islands, sleep and joints of a replay; they follow the contacts of the same frame.
//!
//! The varint of the number of objects; for each object twice the number of its island counted
//! from 1, 0 for none, and 1 more if it sleeps, less the same of the last such frame. Then the
//! varint of the number of joints and for each of the columns force x, y, z (N), torque x, y, z
//! (N·m), error (m), error (rad), broken (0 or 1) one number for each joint, less the last one.
//! Numbers that are not whole are the upper 20 bits of an f32 without its sign, with that sign.

use drystone_frame::{Frame, FrameJoint, NO_ISLAND};

use super::pack::{signed, unsigned};

/// Columns of a joint.
const COLUMNS: usize = 9;

/// Lowest bits of a number of a joint that are left out: 12 stay after the leading one.
const DROPPED_BITS: u32 = 11;

/// What the next frame is told from.
#[derive(Default)]
pub(super) struct Ties {
    states: Vec<i64>,
    joints: Vec<[i64; COLUMNS]>,
}

impl Ties {
    /// Packs what a frame says.
    pub(super) fn add(&mut self, frame: &Frame, out: &mut Vec<u8>) {
        let states: Vec<i64> = (0..frame.positions.len())
            .map(|k| state(frame, k))
            .collect();
        unsigned(out, states.len() as u64);
        for (k, state) in states.iter().enumerate() {
            signed(out, state - self.states.get(k).copied().unwrap_or(0));
        }
        let joints: Vec<[i64; COLUMNS]> = frame.joints.iter().map(row).collect();
        unsigned(out, joints.len() as u64);
        for column in 0..COLUMNS {
            for (k, row) in joints.iter().enumerate() {
                let last = self.joints.get(k).map_or(0, |last| last[column]);
                signed(out, row[column] - last);
            }
        }
        (self.states, self.joints) = (states, joints);
    }
}

fn state(frame: &Frame, object: usize) -> i64 {
    let island = frame.islands.get(object).filter(|&&k| k != NO_ISLAND);
    let counted = island.map_or(0, |&k| i64::from(k) + 1);
    let sleeps = frame.asleep.get(object).copied().unwrap_or(false);
    2 * counted + i64::from(sleeps)
}

fn row(joint: &FrameJoint) -> [i64; COLUMNS] {
    let [fx, fy, fz] = joint.force.map(rounded);
    let [tx, ty, tz] = joint.torque.map(rounded);
    let errors = [joint.error_m, joint.error_rad].map(rounded);
    let broken = i64::from(joint.broken);
    [fx, fy, fz, tx, ty, tz, errors[0], errors[1], broken]
}

/// The upper bits of a number as f32, with its sign; 0 for what is no number.
fn rounded(value: f64) -> i64 {
    let single = value as f32;
    if !single.is_finite() {
        return 0;
    }
    let half = 1 << (DROPPED_BITS - 1);
    let size = i64::from((single.abs().to_bits() + half) >> DROPPED_BITS);
    if single < 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        for value in [1.0, -9.81, 1234.5, -1e-7, 3.0e20] {
            let code = rounded(value);
            let back = f32::from_bits((code.unsigned_abs() as u32) << DROPPED_BITS);
            let back = f64::from(back) * if code < 0 { -1.0 } else { 1.0 };
            assert!((back / value - 1.0).abs() < 2e-4, "{value}: {back}");
        }
        assert_eq!((rounded(f64::NAN), rounded(0.0)), (0, 0));
    }

    #[test]
    fn what_does_not_change_costs_a_byte() {
        let frame = Frame {
            positions: vec![[0.0; 3]; 4],
            islands: vec![NO_ISLAND, 1, 1, 1000],
            asleep: vec![false, true, true, false],
            joints: vec![FrameJoint {
                force: [1e3; 3],
                ..FrameJoint::default()
            }],
            ..Frame::default()
        };
        let (mut ties, mut first, mut second) = (Ties::default(), Vec::new(), Vec::new());
        ties.add(&frame, &mut first);
        ties.add(&frame, &mut second);
        assert_eq!(second.len(), 1 + 4 + 1 + COLUMNS);
        assert!(first.len() > second.len() && second[1..5] == [0; 4]);
    }
}
