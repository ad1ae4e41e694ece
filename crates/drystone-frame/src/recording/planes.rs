//! Numbers as small differences from what was predicted, byte by byte.
//!
//! Floats are mapped to whole numbers in the order of the reals: the bits of x ≥ 0 with the top
//! bit set, the complement of the bits of x < 0. Floats that differ by a few units in the last
//! place then differ by a few, also across powers of two and across zero. The difference from the
//! prediction is written in zigzag (0, −1, 1, −2, …), so that small ones have zero bytes at the
//! top, and bytes of one significance stand together: long runs of zeros. All of it is exact for
//! every pattern of bits.

use super::bytes::Bytes;

/// The place of a number among all numbers of its kind.
pub(super) fn order64(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

fn number64(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 {
        order & !(1 << 63)
    } else {
        !order
    })
}

/// As [`order64`].
pub(super) fn order32(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

/// The number at a place.
pub(super) fn number32(order: u32) -> f32 {
    f32::from_bits(if order >> 31 == 1 {
        order & !(1 << 31)
    } else {
        !order
    })
}

/// What is left of `x` after the prediction.
pub(super) fn residual64(x: f64, predicted: f64) -> u64 {
    let difference = order64(x).wrapping_sub(order64(predicted)).cast_signed();
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// The number that a residual stands for.
pub(super) fn restored64(residual: u64, predicted: f64) -> f64 {
    let difference = (residual >> 1) ^ (residual & 1).wrapping_neg();
    number64(order64(predicted).wrapping_add(difference))
}

/// As [`residual64`], of whole numbers.
pub(super) fn whole_residual(x: u32, predicted: u32) -> u32 {
    let difference = x.wrapping_sub(predicted).cast_signed();
    ((difference << 1) ^ (difference >> 31)).cast_unsigned()
}

/// As [`restored64`], of whole numbers.
pub(super) fn whole_restored(residual: u32, predicted: u32) -> u32 {
    let difference = (residual >> 1) ^ (residual & 1).wrapping_neg();
    predicted.wrapping_add(difference)
}

/// Writes the bytes of the numbers, the lowest of all, then the next of all, and so on.
pub(super) fn write64(numbers: &[u64], out: &mut Vec<u8>) {
    for byte in 0..8 {
        out.extend(numbers.iter().map(|x| (x >> (8 * byte)) as u8));
    }
}

/// As [`write64`].
pub(super) fn write32(numbers: &[u32], out: &mut Vec<u8>) {
    for byte in 0..4 {
        out.extend(numbers.iter().map(|x| (x >> (8 * byte)) as u8));
    }
}

/// Reads what [`write64`] wrote for `count` numbers.
pub(super) fn read64(bytes: &mut Bytes<'_>, count: usize) -> Option<Vec<u64>> {
    let planes = bytes.take(count.checked_mul(8)?)?;
    let mut numbers = vec![0; count];
    if count > 0 {
        for (byte, plane) in planes.chunks_exact(count).enumerate() {
            for (x, &part) in numbers.iter_mut().zip(plane) {
                *x |= u64::from(part) << (8 * byte);
            }
        }
    }
    Some(numbers)
}

/// Reads what [`write32`] wrote for `count` numbers.
pub(super) fn read32(bytes: &mut Bytes<'_>, count: usize) -> Option<Vec<u32>> {
    let planes = bytes.take(count.checked_mul(4)?)?;
    let mut numbers = vec![0; count];
    if count > 0 {
        for (byte, plane) in planes.chunks_exact(count).enumerate() {
            for (x, &part) in numbers.iter_mut().zip(plane) {
                *x |= u32::from(part) << (8 * byte);
            }
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_is_that_of_the_reals_and_neighbours_differ_by_one() {
        let ascending = [
            f64::NEG_INFINITY,
            -1.5,
            -1e-300,
            0.0,
            1e-300,
            1.0,
            2.0,
            f64::INFINITY,
        ];
        assert!(ascending.is_sorted_by(|a, b| order64(*a) < order64(*b)));
        for x in [1.0_f64, 2.0, -3.5, 1e-310] {
            assert_eq!(order64(x.next_up()) - order64(x), 1);
        }
        assert_eq!(residual64(1.0, 1.0), 0);
        assert_eq!(residual64(1.0_f64.next_down(), 1.0), 1);
        assert_eq!(residual64(1.0_f64.next_up(), 1.0), 2);
    }

    proptest! {
        #[test]
        fn every_pattern_of_bits_comes_back(x: u64, y: u64, a: u32, b: u32) {
            let (number, predicted) = (f64::from_bits(x), f64::from_bits(y));
            let back = restored64(residual64(number, predicted), predicted);
            prop_assert_eq!(back.to_bits(), x);
            prop_assert_eq!(number32(order32(f32::from_bits(a))).to_bits(), a);
            prop_assert_eq!(whole_restored(whole_residual(a, b), b), a);
        }

        #[test]
        fn planes_come_back(numbers: Vec<u64>, small: Vec<u32>) {
            let mut out = Vec::new();
            write64(&numbers, &mut out);
            write32(&small, &mut out);
            let mut bytes = Bytes(&out);
            prop_assert_eq!(read64(&mut bytes, numbers.len()), Some(numbers));
            prop_assert_eq!(read32(&mut bytes, small.len()), Some(small));
            prop_assert!(bytes.0.is_empty());
        }
    }
}
