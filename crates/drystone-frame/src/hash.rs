//! A hash of state that is the same on every machine.

/// FNV-1a over 64-bit words: a short, fixed definition that any language can repeat.
///
/// Negative zero counts as zero, so that two states that compare equal hash equal.
///
/// ```
/// let mut a = drystone_frame::StateHash::new();
/// let mut b = drystone_frame::StateHash::new();
/// a.numbers(&[0.0, 1.5]);
/// b.numbers(&[-0.0, 1.5]);
/// assert_eq!(a.finish(), b.finish());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StateHash(u64);

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl StateHash {
    /// The hash of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self(OFFSET)
    }

    /// Adds one word, byte by byte from the lowest.
    pub fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// Adds numbers by their bits.
    pub fn numbers(&mut self, numbers: &[f64]) {
        for &x in numbers {
            self.word(if x == 0.0 { 0 } else { x.to_bits() });
        }
    }

    /// The hash so far.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.0
    }
}

impl Default for StateHash {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_fnv_1a() {
        // FNV-1a of eight zero bytes, from the definition by hand: (h ^ 0) * p eight times.
        let mut expected = OFFSET;
        for _ in 0..8 {
            expected = expected.wrapping_mul(PRIME);
        }
        let mut hash = StateHash::new();
        hash.word(0);
        assert_eq!(hash.finish(), expected);
    }

    #[test]
    fn one_bit_changes_the_hash() {
        let mut a = StateHash::new();
        let mut b = StateHash::new();
        a.numbers(&[1.0]);
        b.numbers(&[1.0 + f64::EPSILON]);
        assert_ne!(a.finish(), b.finish());
    }
}
