//! A frame as the payload of a block, and back.
//!
//! Poses and velocities come back bit by bit. What is written is the difference from a prediction
//! made of the frame before (`'`) and of what was read already, with Δ the time between the two:
//!
//! | array | prediction |
//! |---|---|
//! | velocities v, spins ω | v′, ω′ |
//! | positions | x′ + Δ v |
//! | rotations | (q′ + ½ Δ ω q′) / ‖…‖ |
//! | contacts | the same contact of the frame before: the pair of objects and the place among the contacts of that pair |
//!
//! The engine moves bodies by x⁺ = x + Δ v⁺, so where a frame is a step, positions are predicted
//! to the last few bits. In a key frame all predictions are 0. Contacts are for drawing and for
//! force fields: there are more of them than bodies and their last bits are noise, so they are
//! rounded (4 digits, places 5), and their places are relative to object b. Contacts that bear
//! nothing, pairs of bodies that are merely near each other, are left out.

use super::bytes::Bytes;
use super::certificate::FrameCertificate;
use super::code::{code, decoded};
use super::debug::{self, JOINT_NUMBERS, JointCodes};
use super::planes::{
    read32, read64, residual64, restored64, whole_residual, whole_restored, write32, write64,
};
use crate::{Frame, FrameContact, StateHash};

/// Numbers of a contact: place, normal, impulse, separation.
const CONTACT_NUMBERS: usize = 10;

/// Bits that are dropped of each number of a contact as f32, which has 23 after the leading one:
/// places keep 16, a hundredth of a millimetre in a metre; the rest keeps 13, a relative error of
/// 6e-5.
const DROPPED_BITS: [u32; CONTACT_NUMBERS] = [7, 7, 7, 10, 10, 10, 10, 10, 10, 10];

const IS_KEY: u8 = 1;
const HAS_CERTIFICATE: u8 = 2;

/// What an array of a frame holds. Arrays of other numbers are passed over, so that later
/// versions can add some, such as the vertices of deformable objects.
mod array {
    pub(super) const VELOCITIES: u16 = 1;
    pub(super) const SPINS: u16 = 2;
    pub(super) const POSITIONS: u16 = 3;
    pub(super) const ROTATIONS: u16 = 4;
    pub(super) const CONTACT_PAIRS: u16 = 5;
    pub(super) const CONTACT_NUMBERS: u16 = 6;
    pub(super) const ISLANDS: u16 = 7;
    pub(super) const ASLEEP: u16 = 8;
    pub(super) const JOINT_NUMBERS: u16 = 9;
    pub(super) const JOINTS_GONE: u16 = 10;
}

/// A frame of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its number, from 0.
    pub number: u64,
    /// Where everything is.
    pub frame: Frame,
    /// How well the laws of contact held since the frame before; `None` where no step was judged.
    pub certificate: Option<FrameCertificate>,
}

/// What the next frame is predicted from.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    frame: Frame,
    contacts: Vec<PackedContact>,
    joints: Vec<JointCodes>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PackedContact {
    pair: [u32; 2],
    /// Rounded numbers as whole numbers in their order: [`code`].
    codes: [u32; CONTACT_NUMBERS],
}

/// The hash of poses and velocities by which a frame is known again.
#[must_use]
pub fn frame_hash(frame: &Frame) -> u64 {
    let mut hash = StateHash::new();
    hash.word(frame.step);
    hash.word(frame.time.to_bits());
    hash.numbers(frame.positions.as_flattened());
    hash.numbers(frame.rotations.as_flattened());
    hash.numbers(frame.velocities.as_flattened());
    hash.numbers(frame.spins.as_flattened());
    hash.finish()
}

/// Packs a frame. `past` is that of the frame before, or the default for a key frame, and becomes
/// that of this frame.
pub(super) fn pack(record: &Record, is_key: bool, past: &mut Past) -> Vec<u8> {
    let frame = &record.frame;
    if is_key {
        *past = Past::default();
    }
    let contacts: Vec<PackedContact> = packed_contacts(frame);
    let joints = debug::joint_codes(frame);
    let mut out = Vec::with_capacity(256 + 104 * frame.positions.len() + 48 * contacts.len());
    out.extend(record.number.to_le_bytes());
    out.extend(frame.step.to_le_bytes());
    out.extend(frame.time.to_le_bytes());
    out.extend(frame_hash(frame).to_le_bytes());
    let has_certificate = record.certificate.is_some();
    out.push(if is_key { IS_KEY } else { 0 } | if has_certificate { HAS_CERTIFICATE } else { 0 });
    if let Some(certificate) = &record.certificate {
        certificate.write(&mut out);
    }
    let (touching, tied) = (CONTACT_NUMBERS as u8, JOINT_NUMBERS as u8);
    let table = [
        (array::VELOCITIES, 8, 3, frame.velocities.len()),
        (array::SPINS, 8, 3, frame.spins.len()),
        (array::POSITIONS, 8, 3, frame.positions.len()),
        (array::ROTATIONS, 8, 4, frame.rotations.len()),
        (array::CONTACT_PAIRS, 4, 2, contacts.len()),
        (array::CONTACT_NUMBERS, 4, touching, contacts.len()),
        (array::ISLANDS, 4, 1, frame.islands.len()),
        (array::ASLEEP, 1, 1, frame.asleep.len()),
        (array::JOINT_NUMBERS, 4, tied, joints.len()),
        (array::JOINTS_GONE, 1, 1, joints.len()),
    ];
    out.extend((table.len() as u16).to_le_bytes());
    for (id, width, lanes, count) in table {
        out.extend(id.to_le_bytes());
        out.extend([width, lanes]);
        out.extend((count as u32).to_le_bytes());
    }
    let before = &past.frame;
    write_numbers(&frame.velocities, &same(&before.velocities), &mut out);
    write_numbers(&frame.spins, &same(&before.spins), &mut out);
    write_numbers(&frame.positions, &moved(before, frame), &mut out);
    write_numbers(&frame.rotations, &turned(before, frame), &mut out);
    write_contacts(&contacts, &past.contacts, &mut out);
    debug::write_islands(&frame.islands, &before.islands, &mut out);
    debug::write_flags(frame.asleep.iter().copied(), &mut out);
    debug::write_joints(&joints, &past.joints, &mut out);
    debug::write_flags(frame.joints.iter().map(|joint| joint.broken), &mut out);
    past.frame.clone_from(frame);
    past.contacts = contacts;
    past.joints = joints;
    out
}

/// Unpacks a frame; `None` if the payload is no frame, and `past` is left as it was then.
pub(super) fn unpack(payload: &[u8], past: &mut Past) -> Option<Record> {
    let mut bytes = Bytes(payload);
    let number = bytes.u64()?;
    let mut frame = Frame {
        step: bytes.u64()?,
        time: bytes.f64()?,
        ..Frame::default()
    };
    let hash = bytes.u64()?;
    let flags = bytes.u8()?;
    let certificate = if flags & HAS_CERTIFICATE != 0 {
        Some(FrameCertificate::read(&mut bytes)?)
    } else {
        None
    };
    let nothing = Past::default();
    let before = if flags & IS_KEY != 0 {
        &nothing
    } else {
        &*past
    };
    let Coded { contacts, joints } = unpack_arrays(&mut bytes, &mut frame, before)?;
    frame.contacts = contacts.iter().map(|c| unpacked(c, &frame)).collect();
    if !bytes.0.is_empty() || frame_hash(&frame) != hash {
        return None;
    }
    past.frame.clone_from(&frame);
    past.contacts = contacts;
    past.joints = joints;
    Some(Record {
        number,
        frame,
        certificate,
    })
}

/// The number of a frame, and whether it is a key frame, without unpacking it.
pub(super) fn number_and_key(payload: &[u8]) -> Option<(u64, bool)> {
    let mut bytes = Bytes(payload);
    let number = bytes.u64()?;
    bytes.take(24)?;
    Some((number, bytes.u8()? & IS_KEY != 0))
}

/// What of a frame is read as codes.
#[derive(Default)]
struct Coded {
    contacts: Vec<PackedContact>,
    joints: Vec<JointCodes>,
}

fn unpack_arrays(bytes: &mut Bytes<'_>, frame: &mut Frame, past: &Past) -> Option<Coded> {
    let mut table = Vec::new();
    for _ in 0..bytes.u16()? {
        let id = bytes.u16()?;
        let (width, lanes) = (usize::from(bytes.u8()?), usize::from(bytes.u8()?));
        table.push((id, width, lanes, bytes.u32()? as usize));
    }
    let before = &past.frame;
    let mut coded = Coded::default();
    for (id, width, lanes, count) in table {
        match (id, width, lanes) {
            (array::VELOCITIES, 8, 3) => {
                frame.velocities = read_numbers(bytes, count, |_| same(&before.velocities))?;
            }
            (array::SPINS, 8, 3) => {
                frame.spins = read_numbers(bytes, count, |_| same(&before.spins))?;
            }
            (array::POSITIONS, 8, 3) => {
                frame.positions = read_numbers(bytes, count, |n| moved_to(before, frame, n))?;
            }
            (array::ROTATIONS, 8, 4) => {
                frame.rotations = read_numbers(bytes, count, |n| turned_to(before, frame, n))?;
            }
            (array::CONTACT_PAIRS, 4, 2) => coded.contacts = read_pairs(bytes, count)?,
            (array::CONTACT_NUMBERS, 4, CONTACT_NUMBERS) if count == coded.contacts.len() => {
                read_contact_numbers(bytes, &mut coded.contacts, &past.contacts)?;
            }
            (array::ISLANDS, 4, 1) => {
                frame.islands = debug::read_islands(bytes, count, &before.islands)?;
            }
            (array::ASLEEP, 1, 1) => frame.asleep = debug::read_flags(bytes, count)?,
            (array::JOINT_NUMBERS, 4, JOINT_NUMBERS) => {
                coded.joints = debug::read_joints(bytes, count, &past.joints)?;
            }
            (array::JOINTS_GONE, 1, 1) if count == coded.joints.len() => {
                let gone = debug::read_flags(bytes, count)?;
                frame.joints = debug::joints(&coded.joints, &gone);
            }
            (array::VELOCITIES..=array::JOINTS_GONE, ..) => return None,
            _ => {
                bytes.take(width.checked_mul(lanes)?.checked_mul(count)?)?;
            }
        }
    }
    Some(coded)
}

fn write_numbers<const L: usize>(numbers: &[[f64; L]], predicted: &[[f64; L]], out: &mut Vec<u8>) {
    let mut column = vec![0; numbers.len()];
    for lane in 0..L {
        for (k, (residual, number)) in column.iter_mut().zip(numbers).enumerate() {
            let predicted = predicted.get(k).map_or(0.0, |p| p[lane]);
            *residual = residual64(number[lane], predicted);
        }
        write64(&column, out);
    }
}

/// Reads what [`write_numbers`] wrote. Predictions are made once it is known that there are as
/// many bytes as the count says.
fn read_numbers<const L: usize>(
    bytes: &mut Bytes<'_>,
    count: usize,
    predict: impl FnOnce(usize) -> Vec<[f64; L]>,
) -> Option<Vec<[f64; L]>> {
    let mut own = Bytes(bytes.take(count.checked_mul(8 * L)?)?);
    let predicted = predict(count);
    let mut numbers = vec![[0.0; L]; count];
    for lane in 0..L {
        let column = read64(&mut own, count)?;
        for (k, (number, residual)) in numbers.iter_mut().zip(column).enumerate() {
            let predicted = predicted.get(k).map_or(0.0, |p| p[lane]);
            number[lane] = restored64(residual, predicted);
        }
    }
    Some(numbers)
}

fn same<const L: usize>(before: &[[f64; L]]) -> Vec<[f64; L]> {
    before.to_vec()
}

fn moved(before: &Frame, now: &Frame) -> Vec<[f64; 3]> {
    moved_to(before, now, now.positions.len())
}

/// x′ + Δ v for the first `count` objects.
fn moved_to(before: &Frame, now: &Frame, count: usize) -> Vec<[f64; 3]> {
    let span = now.time - before.time;
    let start = before.positions.iter().take(count).enumerate();
    start
        .map(|(k, x)| {
            let v = now.velocities.get(k).copied().unwrap_or_default();
            std::array::from_fn(|i| finite_or(x[i] + span * v[i], x[i]))
        })
        .collect()
}

fn turned(before: &Frame, now: &Frame) -> Vec<[f64; 4]> {
    turned_to(before, now, now.rotations.len())
}

/// q′ turned by Δ ω, to first order, for the first `count` objects.
fn turned_to(before: &Frame, now: &Frame, count: usize) -> Vec<[f64; 4]> {
    let half = 0.5 * (now.time - before.time);
    let start = before.rotations.iter().take(count).enumerate();
    start
        .map(|(k, &q)| {
            let [x, y, z, w] = q;
            let [a, b, c] = now.spins.get(k).copied().unwrap_or_default();
            if [a, b, c] == [0.0; 3] {
                return q;
            }
            let turned = [
                x + half * (a * w + b * z - c * y),
                y + half * (b * w + c * x - a * z),
                z + half * (c * w + a * y - b * x),
                w - half * (a * x + b * y + c * z),
            ];
            let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            std::array::from_fn(|i| finite_or(turned[i] / length, q[i]))
        })
        .collect()
}

/// Predictions must be the same bits everywhere, and bits of what is no number need not be.
fn finite_or(x: f64, otherwise: f64) -> f64 {
    if x.is_finite() { x } else { otherwise }
}

fn packed_contacts(frame: &Frame) -> Vec<PackedContact> {
    let packed = |contact: &FrameContact| {
        let base = frame.positions.get(contact.object_b as usize);
        let base = base.copied().unwrap_or_default();
        let numbers = |i: usize| match i {
            0..3 => contact.position[i] - base[i],
            3..6 => contact.normal[i - 3],
            6..9 => contact.impulse[i - 6],
            _ => contact.separation,
        };
        PackedContact {
            pair: [contact.object_a, contact.object_b],
            codes: std::array::from_fn(|i| code(numbers(i), DROPPED_BITS[i])),
        }
    };
    let bears = |contact: &&FrameContact| contact.impulse != [0.0; 3];
    frame.contacts.iter().filter(bears).map(packed).collect()
}

fn unpacked(packed: &PackedContact, frame: &Frame) -> FrameContact {
    let base = frame.positions.get(packed.pair[1] as usize);
    let base = base.copied().unwrap_or_default();
    let number = |i: usize| decoded(packed.codes[i], DROPPED_BITS[i]);
    FrameContact {
        object_a: packed.pair[0],
        object_b: packed.pair[1],
        position: std::array::from_fn(|i| base[i] + number(i)),
        normal: std::array::from_fn(|i| number(3 + i)),
        impulse: std::array::from_fn(|i| number(6 + i)),
        separation: number(9),
    }
}

fn write_contacts(contacts: &[PackedContact], before: &[PackedContact], out: &mut Vec<u8>) {
    let mut column = vec![0; contacts.len()];
    for lane in 0..2 {
        let mut last = 0;
        for (residual, contact) in column.iter_mut().zip(contacts) {
            *residual = whole_residual(contact.pair[lane], last);
            last = contact.pair[lane];
        }
        write32(&column, out);
    }
    let partners = partners(contacts, before);
    for lane in 0..CONTACT_NUMBERS {
        for ((residual, contact), partner) in column.iter_mut().zip(contacts).zip(&partners) {
            *residual = whole_residual(contact.codes[lane], partner[lane]);
        }
        write32(&column, out);
    }
}

fn read_pairs(bytes: &mut Bytes<'_>, count: usize) -> Option<Vec<PackedContact>> {
    let mut own = Bytes(bytes.take(count.checked_mul(8)?)?);
    let mut contacts = vec![PackedContact::default(); count];
    for lane in 0..2 {
        let mut last = 0;
        for (contact, residual) in contacts.iter_mut().zip(read32(&mut own, count)?) {
            last = whole_restored(residual, last);
            contact.pair[lane] = last;
        }
    }
    Some(contacts)
}

fn read_contact_numbers(
    bytes: &mut Bytes<'_>,
    contacts: &mut [PackedContact],
    before: &[PackedContact],
) -> Option<()> {
    let partners = partners(contacts, before);
    for lane in 0..CONTACT_NUMBERS {
        let column = read32(bytes, contacts.len())?;
        for ((contact, residual), partner) in contacts.iter_mut().zip(column).zip(&partners) {
            contact.codes[lane] = whole_restored(residual, partner[lane]);
        }
    }
    Some(())
}

/// For each contact the codes of its like in the frame before: contacts are in the order of
/// their pairs, so both lists are walked together. Where there is none, those of zeros.
fn partners(contacts: &[PackedContact], before: &[PackedContact]) -> Vec<[u32; CONTACT_NUMBERS]> {
    let zeros = DROPPED_BITS.map(|dropped| code(0.0, dropped));
    let mut old = before.iter().peekable();
    let partner = |contact: &PackedContact| {
        while old.next_if(|known| known.pair < contact.pair).is_some() {}
        let found = old.next_if(|known| known.pair == contact.pair);
        found.map_or(zeros, |known| known.codes)
    };
    contacts.iter().map(partner).collect()
}
