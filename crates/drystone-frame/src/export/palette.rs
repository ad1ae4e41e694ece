//! Colours of exported objects: greys for what is fixed, stone and accents for what moves.

use crate::{Form, Object};

/// sRGB colours: first of fixed objects, then of stones, then of round things.
const SRGB: [[u8; 3]; 11] = [
    [150, 150, 148],
    [207, 192, 167],
    [190, 171, 143],
    [222, 211, 190],
    [173, 156, 134],
    [203, 178, 152],
    [207, 82, 38],
    [38, 105, 150],
    [230, 165, 55],
    [30, 133, 118],
    [140, 70, 92],
];

const STONES: std::ops::Range<usize> = 1..6;
const ROUND: std::ops::Range<usize> = 6..11;

/// How many colours there are.
pub(super) const COUNT: usize = SRGB.len();

/// The name of a colour.
pub(super) fn name(colour: usize) -> String {
    match colour {
        0 => "fixed".to_owned(),
        k if STONES.contains(&k) => format!("stone_{}", k - STONES.start + 1),
        k => format!("round_{}", k - ROUND.start + 1),
    }
}

/// The linear colour, each component 0 to 1.
pub(super) fn linear(colour: usize) -> [f64; 3] {
    let decode = |byte: u8| {
        let value = f64::from(byte) / 255.0;
        let linear = if value <= 0.040_45 {
            value / 12.92
        } else {
            libm::pow((value + 0.055) / 1.055, 2.4)
        };
        // Four digits are finer than a step of sRGB and look tidy in files.
        libm::round(1e4 * linear) / 1e4
    };
    SRGB.get(colour).copied().unwrap_or_default().map(decode)
}

/// The colour of a skin by its place on the stage.
pub(super) fn colour_of_skin(index: usize) -> usize {
    ROUND.start + 2 * index % ROUND.len()
}

/// The colour of an object by its place on the stage.
pub(super) fn colour_of(index: usize, object: &Object) -> usize {
    if object.fixed {
        return 0;
    }
    let form = object.parts.first().map(|part| &part.form);
    let range = match form {
        Some(
            Form::Ball { .. } | Form::Capsule { .. } | Form::Cylinder { .. } | Form::Cone { .. },
        ) => ROUND,
        _ => STONES,
    };
    // Steps of two through five colours: neighbours always differ.
    range.start + 2 * index % range.len()
}
