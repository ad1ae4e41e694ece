//! Colours: warm stones, a few accents, greys for what is fixed.
//!
//! Stones differ mostly in lightness and the accents are far apart in both hue and lightness, so
//! the picture also reads with any common colour blindness.

use super::place::Placed;
use drystone_frame::Form;
use glamx::Vec3;

/// sRGB colours of stones: sand, lime and slate.
const STONES: [[u8; 3]; 7] = [
    [207, 192, 167],
    [190, 171, 143],
    [222, 211, 190],
    [173, 156, 134],
    [203, 178, 152],
    [184, 178, 168],
    [163, 152, 138],
];

/// sRGB colours of balls and other round things; the first ball of a scene gets the first.
const ACCENTS: [[u8; 3]; 6] = [
    [207, 82, 38],
    [38, 105, 150],
    [230, 165, 55],
    [30, 133, 118],
    [128, 182, 214],
    [140, 70, 92],
];

/// sRGB colour of fixed objects.
const FIXED: [u8; 3] = [150, 150, 148];

/// How an object looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Linear colour, each component 0 to 1.
    pub(super) colour: Vec3,
    /// Whether it is rough stone; otherwise it is smooth and shines a little.
    pub(super) stone: bool,
    /// Whether it is a bent surface: normals change smoothly over its facets.
    pub(super) is_skin: bool,
    /// A number that differs from object to object, for textures.
    pub(super) seed: u32,
}

/// The look of every object, by index; objects without parts get one too. From `first_skin` on
/// objects are cloth, ropes and soft solids.
pub(super) fn looks(placed: &[Placed<'_>], objects: usize, first_skin: usize) -> Vec<Look> {
    let mut first_parts: Vec<Option<&Placed<'_>>> = vec![None; objects];
    for part in placed {
        if let Some(first) = first_parts.get_mut(part.object) {
            first.get_or_insert(part);
        }
    }
    let mut accents_given = 0;
    let look_of = |(object, first): (usize, &Option<&Placed<'_>>)| {
        let seed = hash(object as u32);
        let fixed = first.is_none_or(|part| part.fixed);
        let is_skin = object >= first_skin;
        let round = is_skin || first.is_some_and(|part| is_round(part.form));
        let base = if fixed {
            FIXED
        } else if round {
            accents_given += 1;
            ACCENTS[(accents_given - 1) % ACCENTS.len()]
        } else {
            STONES[seed as usize % STONES.len()]
        };
        // Lightness within 7 % of the base tells neighbours of one colour apart.
        let spread = if fixed { 0.03 } else { 0.07 };
        let lightness = 1.0 + spread * (2.0 * unit_interval(hash(seed)) - 1.0);
        Look {
            colour: linear_from_srgb(base) * lightness,
            stone: fixed || !round,
            is_skin,
            seed,
        }
    };
    first_parts.iter().enumerate().map(look_of).collect()
}

fn is_round(form: &Form) -> bool {
    matches!(
        form,
        Form::Ball { .. } | Form::Capsule { .. } | Form::Cylinder { .. } | Form::Cone { .. }
    )
}

/// A well mixed function of a number: every input bit changes about half of the output bits.
pub(super) fn hash(number: u32) -> u32 {
    let mut bits = number.wrapping_add(0x9e37_79b9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

/// A hash as a number from 0 to 1.
pub(super) fn unit_interval(hash: u32) -> f32 {
    (hash >> 8) as f32 / 16_777_216.0
}

/// Linear light of an sRGB colour.
pub(super) fn linear_from_srgb(srgb: [u8; 3]) -> Vec3 {
    let decode = |byte: u8| {
        let value = f32::from(byte) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            libm::powf((value + 0.055) / 1.055, 2.4)
        }
    };
    Vec3::new(decode(srgb[0]), decode(srgb[1]), decode(srgb[2]))
}

/// The sRGB colour of linear light; what is too bright is cut.
pub(super) fn srgb_from_linear(linear: Vec3) -> [u8; 3] {
    linear.to_array().map(encode)
}

/// One component of an sRGB colour.
fn encode(linear: f32) -> u8 {
    let value = linear.clamp(0.0, 1.0);
    let encoded = if value <= 0.003_130_8 {
        12.92 * value
    } else {
        1.055 * libm::powf(value, 1.0 / 2.4) - 0.055
    };
    (255.0 * encoded + 0.5) as u8
}

/// A table of [`srgb_from_linear`] for whole pictures.
pub(super) struct SrgbTable {
    /// Entry k belongs to the square of k / (length - 1): dark colours need finer steps.
    bytes: Vec<u8>,
}

impl SrgbTable {
    /// Entries; a step is at most a seventh of a step of the encoded colour.
    const ENTRIES: usize = 4096;

    /// Computes the table.
    pub(super) fn new() -> Self {
        let root = |k: usize| k as f32 / (Self::ENTRIES - 1) as f32;
        let bytes = (0..Self::ENTRIES).map(|k| encode(root(k) * root(k)));
        Self {
            bytes: bytes.collect(),
        }
    }

    /// The sRGB colour of linear light.
    pub(super) fn srgb(&self, linear: Vec3) -> [u8; 3] {
        let look_up = |value: f32| {
            let root = value.clamp(0.0, 1.0).sqrt();
            let index = (root * (Self::ENTRIES - 1) as f32 + 0.5) as usize;
            self.bytes.get(index).copied().unwrap_or(255)
        };
        linear.to_array().map(look_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_survives_the_way_to_linear_light_and_back() {
        for byte in 0..=255 {
            let colour = [byte, 255 - byte, byte / 2];
            assert_eq!(srgb_from_linear(linear_from_srgb(colour)), colour);
        }
    }

    #[test]
    fn table_agrees_with_the_function_to_one_step() {
        let table = SrgbTable::new();
        for k in 0..=10_000 {
            let grey = Vec3::splat(k as f32 / 10_000.0);
            let (fast, exact) = (table.srgb(grey)[0], srgb_from_linear(grey)[0]);
            assert!(fast.abs_diff(exact) <= 1, "{grey}: {fast}, not {exact}");
        }
    }

    #[test]
    fn non_finite_light_is_still_a_colour() {
        let colour = srgb_from_linear(Vec3::new(f32::NAN, f32::INFINITY, f32::NEG_INFINITY));
        assert_eq!(colour, [0, 255, 0]);
    }
}
