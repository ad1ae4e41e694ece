//! Numbers by chance, the same on every machine: splitmix64.

/// A generator of numbers that depends on its seed alone.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to but not including 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number between the two.
    pub(super) fn between(&mut self, [least, most]: [f64; 2]) -> f64 {
        least + (most - least) * self.unit()
    }

    /// A place in a list of that length (0 for an empty one).
    pub(super) fn index(&mut self, length: usize) -> usize {
        ((self.unit() * length as f64) as usize).min(length.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_splitmix64() {
        let mut chance = Chance::new(1234567);
        assert_eq!(chance.next(), 6457827717110365317);
        assert_eq!(chance.next(), 3203168211198807973);
    }

    #[test]
    fn numbers_stay_in_range_and_spread_evenly() {
        let mut chance = Chance::new(7);
        let drawn: Vec<f64> = (0..10_000).map(|_| chance.between([2.0, 4.0])).collect();
        assert!(drawn.iter().all(|x| (2.0..4.0).contains(x)));
        let mean = drawn.iter().sum::<f64>() / 1e4;
        // The mean of n even draws spreads by width / √(12 n) = 0.006; five times that.
        assert!((mean - 3.0).abs() < 0.03);
    }
}
