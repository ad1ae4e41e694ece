//! Rounded numbers as whole numbers in the order of the reals.

use super::planes::{number32, order32};

/// A number rounded to the nearest that does without so many bits, as its place in their order.
pub(super) fn code(x: f64, dropped: u32) -> u32 {
    let single = x as f32;
    let half = 1 << (dropped - 1);
    // A carry goes on into the exponent, as it should; but not into what is no number.
    let rounded = f32::from_bits(single.to_bits().wrapping_add(half));
    let rounded = if rounded.is_finite() { rounded } else { single };
    order32(f32::from_bits(rounded.to_bits() >> dropped << dropped)) >> dropped
}

/// The number of a code.
pub(super) fn decoded(code: u32, dropped: u32) -> f64 {
    let order = code << dropped;
    // Negative numbers are complements: the bits that were dropped are ones.
    let is_negative = order >> 31 == 0;
    let low = if is_negative { (1 << dropped) - 1 } else { 0 };
    f64::from(number32(order | low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(x: f64) -> f64 {
        decoded(code(x, 10), 10)
    }

    #[test]
    fn rounding_is_to_the_nearest_and_leaves_round_numbers_alone() {
        for x in [
            0.0,
            1.0,
            -1.0,
            -0.5,
            1.5,
            1024.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            assert_eq!(rounded(x), x);
        }
        for k in -1000..1000 {
            let x = 1.0 + f64::from(k) * 0.001_234_5;
            let error = (rounded(x) / x - 1.0).abs();
            assert!(error <= 0.5 / 8192.0 + 1e-7, "{x}: {error}");
        }
        // Up to the next power of two.
        assert_eq!((rounded(1.999_99), rounded(-1.999_99)), (2.0, -2.0));
        assert!(rounded(f64::from(f32::MAX)).is_finite());
        assert!(rounded(f64::NAN).is_nan());
    }

    #[test]
    fn codes_are_in_the_order_of_the_numbers() {
        let ascending = [-2.0, -1.001, -1.0, -1e-30, 0.0, 1e-30, 1.0, 1.001, 2.0];
        assert!(ascending.is_sorted_by(|a, b| code(*a, 10) < code(*b, 10)));
    }
}
