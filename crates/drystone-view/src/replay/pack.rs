//! The format of a replay's motion and contacts.
//!
//! Numbers are whole and written as varints: seven bits a byte, the lowest first, the eighth bit
//! set on all bytes but the last; signed ones in zigzag (0, −1, 1, −2, …) first.
//!
//! **Motion**, frame after frame: the varint of the number of objects n; the time since the last
//! frame in µs; then for each of x, y, z and each object the position relative to the origin, in
//! quanta, less what was predicted: twice the last position less the one before. Then for each of
//! x, y, z, w and each object the unit quaternion in 1/4096, its sign chosen to be near the last
//! one, less the last one. A new object has been at 0.
//!
//! **Contacts**, for every third frame: the varint of their number m; then for each of the columns
//! below one number for each contact, less that of the contact at the same place in the last such
//! frame, or less 0 where there was none or the pair of objects differs (the first two columns are
//! less the last frame's at the same place, whatever the pair).
//!
//! | column | |
//! |---|---|
//! | a, b | objects |
//! | x, y, z | position less the position of object b (as unpacked), quanta |
//! | n₁, n₂ | normal on the octahedron, ±127 |
//! | impulse | 0 for none, else 128 + 4 log₂ of the normal impulse in N·s |
//! | used | friction over what the cone allows, 0 to 30 thirtieths; 31 slips |
//! | angle | of friction in the plane of the two tangents, 32 to a turn |
//! | friction | coefficient in 1/1000 |
//! | separation | 10 µm |
//! | residual | 0 for less than 10 nm/s, else 1 + 2 log₂ of it over 10 nm/s |
//!
//! Islands, sleep and joints follow them: [`super::ties`].
//!
//! The tangents of a normal n are t₁ = n × e / |…|, with e the axis in which n is smallest (the
//! first of equals), and t₂ = n × t₁.

use super::ties::Ties;
use crate::live::ContactDetail;
use drystone_frame::{Frame, FrameContact};
use glamx::DVec3;

/// Contacts are kept in one of so many frames.
pub const CONTACT_EVERY: usize = 3;

/// Steps of a quaternion's components.
const TURN_STEPS: f64 = 4096.0;

/// What stands for friction that slips.
const SLIPS: i64 = 31;

/// Directions of friction in a turn.
const ANGLES: f64 = 32.0;

/// Residuals below this count as none, m/s.
const LEAST_RESIDUAL: f64 = 1e-8;

/// Columns of a contact.
const COLUMNS: usize = 13;

/// Packs frames.
pub(super) struct Packer {
    quantum: f64,
    origin: DVec3,
    frames: usize,
    time: f64,
    /// Positions of the last two frames and rotations of the last, in steps.
    last: Vec<[i64; 3]>,
    before: Vec<[i64; 3]>,
    rotations: Vec<[i64; 4]>,
    contacts: Vec<[i64; COLUMNS]>,
    ties: Ties,
    packed: Packed,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Packed {
    pub(super) motion: Vec<u8>,
    pub(super) contacts: Vec<u8>,
}

impl Packer {
    pub(super) fn new(quantum: f64, origin: [f64; 3]) -> Self {
        Self {
            quantum,
            origin: DVec3::from_array(origin),
            frames: 0,
            time: 0.0,
            last: Vec::new(),
            before: Vec::new(),
            rotations: Vec::new(),
            contacts: Vec::new(),
            ties: Ties::default(),
            packed: Packed::default(),
        }
    }

    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    pub(super) fn finish(self) -> Packed {
        self.packed
    }

    pub(super) fn add(&mut self, frame: &Frame, details: &[ContactDetail]) {
        let count = frame.positions.len();
        let out = &mut self.packed.motion;
        unsigned(out, count as u64);
        unsigned(out, steps((frame.time - self.time) / 1e-6).max(0) as u64);
        self.time += steps((frame.time - self.time) / 1e-6).max(0) as f64 * 1e-6;
        self.last.resize(count, [0; 3]);
        self.before.resize(count, [0; 3]);
        self.rotations.resize(count, [0; 4]);
        let now: Vec<[i64; 3]> = frame
            .positions
            .iter()
            .map(|&p| (DVec3::from_array(p) - self.origin).to_array())
            .map(|p| p.map(|x| steps(x / self.quantum)))
            .collect();
        for axis in 0..3 {
            for ((now, last), before) in now.iter().zip(&self.last).zip(&self.before) {
                signed(out, now[axis] - (2 * last[axis] - before[axis]));
            }
        }
        let turned: Vec<[i64; 4]> = frame
            .rotations
            .iter()
            .zip(&self.rotations)
            .map(|(rotation, last)| near(rotation.map(|x| steps(x * TURN_STEPS)), last))
            .collect();
        for axis in 0..4 {
            for (now, last) in turned.iter().zip(&self.rotations) {
                signed(out, now[axis] - last[axis]);
            }
        }
        // A frame without rotations leaves the last ones standing.
        self.rotations[..turned.len()].copy_from_slice(&turned);
        self.before = std::mem::replace(&mut self.last, now);
        if self.frames.is_multiple_of(CONTACT_EVERY) {
            self.add_contacts(frame, details);
            self.ties.add(frame, &mut self.packed.contacts);
        }
        self.frames += 1;
    }

    fn add_contacts(&mut self, frame: &Frame, details: &[ContactDetail]) {
        let rows: Vec<[i64; COLUMNS]> = frame
            .contacts
            .iter()
            .enumerate()
            .map(|(k, contact)| self.row(contact, details.get(k).copied().unwrap_or_default()))
            .collect();
        let out = &mut self.packed.contacts;
        unsigned(out, rows.len() as u64);
        for column in 0..COLUMNS {
            for (k, row) in rows.iter().enumerate() {
                let last = self.contacts.get(k);
                let last = last.filter(|last| column < 2 || last[..2] == row[..2]);
                signed(out, row[column] - last.map_or(0, |last| last[column]));
            }
        }
        self.contacts = rows;
    }

    fn row(&self, contact: &FrameContact, detail: ContactDetail) -> [i64; COLUMNS] {
        let place = self.last.get(contact.object_b as usize);
        let place = place.copied().unwrap_or_default();
        let position = DVec3::from_array(contact.position) - self.origin;
        let at = position.to_array().map(|x| steps(x / self.quantum));
        let normal = DVec3::from_array(contact.normal);
        let octahedron = on_octahedron(normal);
        let impulse = DVec3::from_array(contact.impulse);
        let pressing = impulse.dot(normal);
        let across = impulse - normal * pressing;
        let most = detail.friction * pressing;
        // Within a ten-thousandth of the cone's surface a contact slips.
        let used = if most <= 0.0 {
            0
        } else if across.length() >= (1.0 - 1e-4) * most {
            SLIPS
        } else {
            steps((SLIPS - 1) as f64 * across.length() / most).min(SLIPS - 1)
        };
        let [first, second] = tangents(normal);
        let angle = libm::atan2(across.dot(second), across.dot(first));
        [
            i64::from(contact.object_a),
            i64::from(contact.object_b),
            at[0] - place[0],
            at[1] - place[1],
            at[2] - place[2],
            octahedron[0],
            octahedron[1],
            if pressing > 0.0 {
                (128 + steps(4.0 * libm::log2(pressing))).max(1)
            } else {
                0
            },
            used,
            if used == 0 {
                0
            } else {
                steps(angle / std::f64::consts::TAU * ANGLES).rem_euclid(ANGLES as i64)
            },
            steps(1e3 * detail.friction),
            steps(contact.separation / 1e-5),
            if detail.residual_m_s > LEAST_RESIDUAL {
                1 + steps(2.0 * libm::log2(detail.residual_m_s / LEAST_RESIDUAL))
            } else {
                0
            },
        ]
    }
}

/// The nearest whole number; 0 for what is none, and bounded so that differences never overflow.
fn steps(value: f64) -> i64 {
    const MOST: f64 = (1_u64 << 50) as f64;
    if value.is_nan() {
        0
    } else {
        libm::round(value.clamp(-MOST, MOST)) as i64
    }
}

/// The quaternion or its negative, whichever is nearer to the last.
fn near(rotation: [i64; 4], last: &[i64; 4]) -> [i64; 4] {
    let products = rotation
        .iter()
        .zip(last)
        .map(|(&a, &b)| a as f64 * b as f64);
    if products.sum::<f64>() < 0.0 {
        rotation.map(|x| -x)
    } else {
        rotation
    }
}

/// A unit vector as a point of the octahedron, unfolded on a square of ±127.
fn on_octahedron(v: DVec3) -> [i64; 2] {
    let sum = v.abs().element_sum();
    if sum <= 0.0 || !sum.is_finite() {
        return [0, 0];
    }
    let (x, y, z) = (v.x / sum, v.y / sum, v.z / sum);
    let sign = |value: f64| if value < 0.0 { -1.0 } else { 1.0 };
    let folded = if z < 0.0 {
        [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)]
    } else {
        [x, y]
    };
    folded.map(|value| steps(127.0 * value))
}

/// Two unit vectors across a unit vector and each other.
fn tangents(normal: DVec3) -> [DVec3; 2] {
    let size = normal.abs();
    let axis = if size.x <= size.y && size.x <= size.z {
        DVec3::X
    } else if size.y <= size.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let first = normal.cross(axis).normalize_or_zero();
    [first, normal.cross(first)]
}

pub(super) fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn signed(out: &mut Vec<u8>, value: i64) {
    unsigned(out, ((value << 1) ^ (value >> 63)) as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_as_documented() {
        let mut bytes = Vec::new();
        unsigned(&mut bytes, 300);
        assert_eq!(bytes, [0b1010_1100, 0b10]);
        bytes.clear();
        for value in [0, -1, 1, -2, 64] {
            signed(&mut bytes, value);
        }
        assert_eq!(bytes, [0, 1, 2, 3, 128, 1]);
    }

    #[test]
    fn even_motion_costs_a_byte_a_number() {
        let mut packer = Packer::new(1e-4, [0.0; 3]);
        let mut sizes = Vec::new();
        for k in 0..10 {
            let x = 0.5 * f64::from(k);
            let frame = Frame {
                time: f64::from(k) / 60.0,
                positions: vec![[x, 0.0, 0.0]],
                rotations: vec![[0.0, 0.0, 0.0, 1.0]],
                ..Frame::default()
            };
            let before = packer.packed.motion.len();
            packer.add(&frame, &[]);
            sizes.push(packer.packed.motion.len() - before);
        }
        // One byte for the number of objects, three for 16,667 µs, seven for the pose.
        assert!(sizes[3..].iter().all(|size| *size == 11), "{sizes:?}");
    }

    #[test]
    fn wild_numbers_are_packed_without_trouble() {
        let mut packer = Packer::new(1e-4, [0.0; 3]);
        for value in [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0] {
            let frame = Frame {
                time: value,
                positions: vec![[value; 3]; 2],
                rotations: vec![[value; 4]; 2],
                contacts: vec![FrameContact {
                    object_a: 0,
                    object_b: 9,
                    position: [value; 3],
                    normal: [value; 3],
                    impulse: [value; 3],
                    separation: value,
                }],
                ..Frame::default()
            };
            packer.add(&frame, &[]);
        }
        assert_eq!(packer.frames(), 5);
    }

    #[test]
    fn normals_survive_to_a_degree() {
        for k in 0..200 {
            let angle = f64::from(k) * 0.7;
            let v = DVec3::new(libm::cos(angle), libm::sin(angle), libm::sin(1.3 * angle));
            let v = v.normalize();
            let [p, q] = on_octahedron(v).map(|x| x as f64 / 127.0);
            let z = 1.0 - p.abs() - q.abs();
            let fold = f64::max(-z, 0.0);
            let unfold = |x: f64| if x < 0.0 { x + fold } else { x - fold };
            let back = DVec3::new(unfold(p), unfold(q), z).normalize();
            assert!(back.dot(v) > libm::cos(1.0_f64.to_radians()), "{v}");
        }
    }
}
