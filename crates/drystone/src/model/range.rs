//! The supported range of numbers.
//!
//! Everything is double precision, parts of some strategies single precision, and squares and cubes
//! of lengths and quotients of masses must still be numbers in both. So there are bounds, far beyond
//! what any scene needs; what is outside is refused where it is given, with its bound, and a state
//! that leaves them stops the run at the last good step ([`StepError::OutOfRange`]).
//!
//! | number | least | most |
//! |---|---|---|
//! | coordinates of a body's centre of mass | −1e12 m | 1e12 m |
//! | size of a shape: from its centre of mass to its furthest point, half-spaces apart | 1e-9 m | 1e9 m |
//! | speed | 0 | 1e9 m/s |
//! | spin | 0 | 1e9 rad/s |
//! | mass | 1e-18 kg | 1e18 kg |
//! | moment of inertia about any axis | 1e-40 kg·m² | 1e24 kg·m² |
//! | length of a step | 1e-7 s | 1e3 s |
//! | gravity | 0 | 1e9 m/s² |
//! | contact margin | 0 | 1e9 m |
//! | largest over smallest mass of the bodies of a scene that move | | 1e15 |
//! | largest over smallest size of these | | 1e12 |
//!
//! Coordinates are told apart by one part in 10¹⁶ of themselves: at 1e6 m by a tenth of a nanometre,
//! at 1e12 m by a tenth of a millimetre. The bounds say where the program works, not where it is exact.
//!
//! [`StepError::OutOfRange`]: crate::StepError::OutOfRange

use crate::math::algebra::Components;

/// Most that a coordinate of a position may be, m.
pub const POSITION: f64 = 1e12;
/// Least and most distance of a shape's furthest point from its centre of mass, m.
pub const SIZE: [f64; 2] = [1e-9, 1e9];
/// Most speed, m/s.
pub const SPEED: f64 = 1e9;
/// Most spin, rad/s.
pub const SPIN: f64 = 1e9;
/// Least and most mass, kg.
pub const MASS: [f64; 2] = [1e-18, 1e18];
/// Least and most moment of inertia, kg·m².
pub const INERTIA: [f64; 2] = [1e-40, 1e24];
/// Least and most length of a step, s.
pub const STEP: [f64; 2] = [1e-7, 1e3];
/// Most gravity, m/s².
pub const GRAVITY: f64 = 1e9;
/// Most contact margin, m.
pub const MARGIN: f64 = 1e9;
/// Most that the largest mass of bodies that move is of the smallest.
pub const MASS_RATIO: f64 = 1e15;
/// Most that the largest size of bodies that move is of the smallest.
pub const SIZE_RATIO: f64 = 1e12;

/// Whether all coordinates are numbers of at most this size.
#[inline]
pub(crate) fn within<V: Components>(vector: V, most: f64) -> bool {
    // What is no number is not less than anything.
    vector.to_array3().iter().all(|x| x.abs() <= most)
}

/// The greatest and the least of some numbers that belong to bodies, if one is more than `most` times
/// the other: (greatest, least), each a body and its number.
#[must_use]
pub fn too_far_apart(
    numbers: impl Iterator<Item = (usize, f64)>,
    most: f64,
) -> Option<[(usize, f64); 2]> {
    let mut ends: Option<[(usize, f64); 2]> = None;
    for next in numbers {
        let [greatest, least] = ends.unwrap_or([next; 2]);
        ends = Some([
            if next.1 > greatest.1 { next } else { greatest },
            if next.1 < least.1 { next } else { least },
        ]);
    }
    ends.filter(|[greatest, least]| greatest.1 > most * least.1)
}
