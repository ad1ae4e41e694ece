//! What a frame holds to be looked at besides contacts: islands, sleep, joints.
//!
//! | array | as | prediction |
//! |---|---|---|
//! | islands | whole numbers | those of the frame before; in a key frame the object's own number |
//! | asleep | bytes, 0 or 1 | none |
//! | joints | codes of force, torque, error (m), error (rad) | the same joint in the frame before |
//! | joints gone | bytes, 0 or 1 | none |

use super::bytes::Bytes;
use super::code::{code, decoded};
use super::planes::{read32, whole_residual, whole_restored, write32};
use crate::{Frame, FrameJoint};

/// Numbers of a joint: force, torque, error in m and in rad.
pub(super) const JOINT_NUMBERS: usize = 8;

/// Bits that are dropped of each number of a joint as f32: a relative error of 6e-5 is left.
const DROPPED_BITS: u32 = 10;

/// The codes of a joint.
pub(super) type JointCodes = [u32; JOINT_NUMBERS];

fn no_codes() -> JointCodes {
    [code(0.0, DROPPED_BITS); JOINT_NUMBERS]
}

/// The codes of all joints of a frame.
pub(super) fn joint_codes(frame: &Frame) -> Vec<JointCodes> {
    let codes = |joint: &FrameJoint| {
        let numbers = |i: usize| match i {
            0..3 => joint.force[i],
            3..6 => joint.torque[i - 3],
            6 => joint.error_m,
            _ => joint.error_rad,
        };
        std::array::from_fn(|i| code(numbers(i), DROPPED_BITS))
    };
    frame.joints.iter().map(codes).collect()
}

/// The joints that codes and bytes stand for.
pub(super) fn joints(codes: &[JointCodes], gone: &[bool]) -> Vec<FrameJoint> {
    let joint = |(k, codes): (usize, &JointCodes)| {
        let number = |i: usize| decoded(codes[i], DROPPED_BITS);
        FrameJoint {
            force: std::array::from_fn(number),
            torque: std::array::from_fn(|i| number(3 + i)),
            error_m: number(6),
            error_rad: number(7),
            broken: gone.get(k).copied().unwrap_or(false),
        }
    };
    codes.iter().enumerate().map(joint).collect()
}

/// The island that an object had in the frame before, or it alone.
fn island_before(before: &[u32], object: usize) -> u32 {
    before.get(object).copied().unwrap_or(object as u32)
}

pub(super) fn write_islands(islands: &[u32], before: &[u32], out: &mut Vec<u8>) {
    let residual = |(k, &island): (usize, &u32)| whole_residual(island, island_before(before, k));
    let column: Vec<u32> = islands.iter().enumerate().map(residual).collect();
    write32(&column, out);
}

pub(super) fn read_islands(
    bytes: &mut Bytes<'_>,
    count: usize,
    before: &[u32],
) -> Option<Vec<u32>> {
    let column = read32(bytes, count)?;
    let restored = |(k, residual)| whole_restored(residual, island_before(before, k));
    Some(column.into_iter().enumerate().map(restored).collect())
}

pub(super) fn write_flags(flags: impl Iterator<Item = bool>, out: &mut Vec<u8>) {
    out.extend(flags.map(u8::from));
}

/// Flags must be 0 or 1.
pub(super) fn read_flags(bytes: &mut Bytes<'_>, count: usize) -> Option<Vec<bool>> {
    let flag = |byte: &u8| match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    bytes.take(count)?.iter().map(flag).collect()
}

pub(super) fn write_joints(codes: &[JointCodes], before: &[JointCodes], out: &mut Vec<u8>) {
    let mut column = vec![0; codes.len()];
    for lane in 0..JOINT_NUMBERS {
        for (k, (residual, codes)) in column.iter_mut().zip(codes).enumerate() {
            let predicted = before.get(k).copied().unwrap_or_else(no_codes);
            *residual = whole_residual(codes[lane], predicted[lane]);
        }
        write32(&column, out);
    }
}

pub(super) fn read_joints(
    bytes: &mut Bytes<'_>,
    count: usize,
    before: &[JointCodes],
) -> Option<Vec<JointCodes>> {
    let mut own = Bytes(bytes.take(count.checked_mul(4 * JOINT_NUMBERS)?)?);
    let mut joints = vec![[0; JOINT_NUMBERS]; count];
    for lane in 0..JOINT_NUMBERS {
        let column = read32(&mut own, count)?;
        for (k, (codes, residual)) in joints.iter_mut().zip(column).enumerate() {
            let predicted = before.get(k).copied().unwrap_or_else(no_codes);
            codes[lane] = whole_restored(residual, predicted[lane]);
        }
    }
    Some(joints)
}
