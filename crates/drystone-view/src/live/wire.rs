//! Frames and numbers as bytes, little-endian throughout.
//!
//! A message begins with two u32: its kind and its lane (which of several worlds side by side).
//!
//! **Frame** (kind 1): f64 step, time (s), time of the newest frame (s), origin x, y, z (m); u32
//! number of objects n, of contacts m, of joints and 0; then f32 arrays: positions relative to the
//! origin (3n), rotations x y z w (4n), velocities (3n), spins (3n); u32 pairs of objects (2m);
//! f32 for each contact: position relative to the origin (3), normal (3), impulse (3), separation,
//! friction coefficient, residual; u32 for each object: twice its island, or 2³² − 2 for none, and
//! 1 more if it sleeps; f32 for each joint: force (3), torque (3), error (m), error (rad), 1 if it
//! is broken.
//!
//! **Numbers** (kind 2): u32 number of rows, u32 unused; rows of f64, see
//! [`Numbers::row`](super::Numbers::row).
//!
//! Positions are relative to an f64 origin, the middle of what moves, so that f32 is enough
//! however far the scene is from zero.

use super::simulation::{ContactDetail, Numbers};
use drystone_frame::{Frame, NO_ISLAND};
use glamx::DVec3;

/// Kind of a frame.
pub const FRAME: u32 = 1;
/// Kind of a table of numbers.
pub const NUMBERS: u32 = 2;

/// Where the time of the newest frame stands in a frame's bytes.
const HEAD_TIME_AT: usize = 24;

/// A frame as bytes.
#[must_use]
pub fn frame(lane: u32, frame: &Frame, details: &[ContactDetail]) -> Vec<u8> {
    let origin = origin(frame);
    let (objects, joints) = (frame.positions.len(), frame.joints.len());
    let size = 72 + 56 * objects + 56 * frame.contacts.len() + 36 * joints;
    let mut bytes = Vec::with_capacity(size);
    words(&mut bytes, [FRAME, lane]);
    let step = frame.step as f64;
    numbers(&mut bytes, [step, frame.time, frame.time]);
    numbers(&mut bytes, origin.to_array());
    let counts = [objects, frame.contacts.len(), joints, 0];
    words(&mut bytes, counts.map(|count| count as u32));
    for &position in &frame.positions {
        vector(&mut bytes, DVec3::from_array(position) - origin);
    }
    for rotation in &frame.rotations {
        singles(&mut bytes, *rotation);
    }
    for vectors in [&frame.velocities, &frame.spins] {
        for k in 0..frame.positions.len() {
            singles(&mut bytes, vectors.get(k).copied().unwrap_or_default());
        }
    }
    for contact in &frame.contacts {
        words(&mut bytes, [contact.object_a, contact.object_b]);
    }
    for (k, contact) in frame.contacts.iter().enumerate() {
        let detail = details.get(k).copied().unwrap_or_default();
        vector(&mut bytes, DVec3::from_array(contact.position) - origin);
        singles(&mut bytes, contact.normal);
        singles(&mut bytes, contact.impulse);
        singles(
            &mut bytes,
            [contact.separation, detail.friction, detail.residual_m_s],
        );
    }
    write_ties(&mut bytes, frame);
    bytes
}

/// Islands, sleep and joints.
fn write_ties(bytes: &mut Vec<u8>, frame: &Frame) {
    for k in 0..frame.positions.len() {
        let island = frame.islands.get(k).copied().unwrap_or(NO_ISLAND);
        let sleeps = frame.asleep.get(k).copied().unwrap_or(false);
        words(bytes, [island << 1 | u32::from(sleeps)]);
    }
    for joint in &frame.joints {
        singles(bytes, joint.force);
        singles(bytes, joint.torque);
        let broken = f64::from(u8::from(joint.broken));
        singles(bytes, [joint.error_m, joint.error_rad, broken]);
    }
}

/// Writes the time of the newest frame into the bytes of a frame.
pub(crate) fn set_head_time(bytes: &mut [u8], time: f64) {
    if let Some(place) = bytes.get_mut(HEAD_TIME_AT..HEAD_TIME_AT + 8) {
        place.copy_from_slice(&time.to_le_bytes());
    }
}

/// A table of numbers as bytes.
#[must_use]
pub fn table(lane: u32, rows: &[Numbers]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + 8 * Numbers::COLUMNS * rows.len());
    words(&mut bytes, [NUMBERS, lane, rows.len() as u32, 0]);
    for row in rows {
        numbers(&mut bytes, row.row());
    }
    bytes
}

/// The middle of what is near: the mean of all finite positions.
fn origin(frame: &Frame) -> DVec3 {
    let finite = frame.positions.iter().map(|&p| DVec3::from_array(p));
    let (sum, count) = finite
        .filter(|p| p.is_finite())
        .fold((DVec3::ZERO, 0.0), |(sum, count), p| (sum + p, count + 1.0));
    let mean = sum / f64::max(count, 1.0);
    if mean.is_finite() { mean } else { DVec3::ZERO }
}

fn words<const N: usize>(bytes: &mut Vec<u8>, values: [u32; N]) {
    values
        .iter()
        .for_each(|value| bytes.extend(value.to_le_bytes()));
}

fn numbers<const N: usize>(bytes: &mut Vec<u8>, values: [f64; N]) {
    values
        .iter()
        .for_each(|value| bytes.extend(value.to_le_bytes()));
}

fn singles<const N: usize>(bytes: &mut Vec<u8>, values: [f64; N]) {
    for value in values {
        bytes.extend((value as f32).to_le_bytes());
    }
}

fn vector(bytes: &mut Vec<u8>, value: DVec3) {
    singles(bytes, value.to_array());
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_frame::FrameJoint;

    #[test]
    fn a_scene_ten_thousand_kilometres_away_keeps_its_micrometres() {
        let far = 1e7;
        let frame_there = Frame {
            positions: vec![[far, 0.0, 0.0], [far + 1e-6, 0.0, 0.0]],
            rotations: vec![[0.0, 0.0, 0.0, 1.0]; 2],
            ..Frame::default()
        };
        let bytes = frame(0, &frame_there, &[]);
        let single = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // Header of 8 + 6 · 8 + 16 bytes, then x, y, z of each object.
        let apart = single(72 + 12) - single(72);
        // An f64 at 1e7 has steps of 1.9e-9, so a micrometre is kept to that.
        assert!((apart - 1e-6).abs() < 4e-9, "{apart}");
    }

    #[test]
    fn sizes_are_as_documented() {
        let frame_of_two = Frame {
            positions: vec![[0.0; 3]; 2],
            rotations: vec![[0.0, 0.0, 0.0, 1.0]; 2],
            ..Frame::default()
        };
        assert_eq!(frame(0, &frame_of_two, &[]).len(), 72 + 2 * 56);
        let tied = Frame {
            joints: vec![FrameJoint::default()],
            islands: vec![0, NO_ISLAND],
            asleep: vec![true, false],
            ..frame_of_two
        };
        let bytes = frame(0, &tied, &[]);
        assert_eq!(bytes.len(), 72 + 2 * 56 + 36);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let states = 72 + 2 * 52;
        assert_eq!([word(states), word(states + 4)], [1, u32::MAX - 1]);
        let rows = [Numbers::default(); 3];
        assert_eq!(table(1, &rows).len(), 16 + 3 * 8 * Numbers::COLUMNS);
    }
}
