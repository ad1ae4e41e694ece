//! SIMD lanes: four numbers of single precision, where lists are too short for eight.

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use plain::{Four, Which};
#[cfg(target_arch = "x86_64")]
pub(crate) use sse::{Four, Which};

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    /// Four numbers that are added and compared together.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Four([f32; 4]);

    macro_rules! operator {
        ($method:ident, $lane:expr) => {
            pub(crate) fn $method(self, other: Self) -> Self {
                let lane: fn(f32, f32) -> f32 = $lane;
                Self(std::array::from_fn(|k| lane(self.0[k], other.0[k])))
            }
        };
    }

    impl Four {
        operator!(plus, |a, b| a + b);
        operator!(minus, |a, b| a - b);
        operator!(least, |a, b| if a < b { a } else { b });
        operator!(most, |a, b| if a > b { a } else { b });

        /// Where this is greater than the other.
        pub(crate) fn exceeds(self, other: Self) -> Which {
            Which(std::array::from_fn(|k| self.0[k] > other.0[k]))
        }
        pub(crate) const fn new(numbers: [f32; 4]) -> Self {
            Self(numbers)
        }
        pub(crate) fn array(self) -> [f32; 4] {
            self.0
        }
        pub(crate) fn lane(&self, lane: usize) -> f32 {
            self.0[lane]
        }
        pub(crate) fn splat(value: f32) -> Self {
            Self([value; 4])
        }
    }

    /// An answer for each of four.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Which([bool; 4]);

    impl Which {
        /// Where both are.
        pub(crate) fn and(self, other: Self) -> Self {
            Self(std::array::from_fn(|k| self.0[k] & other.0[k]))
        }
        /// Where any is.
        pub(crate) fn or(self, other: Self) -> Self {
            Self(std::array::from_fn(|k| self.0[k] | other.0[k]))
        }
        /// Bit k for number k.
        pub(crate) fn bits(self) -> u32 {
            let bits = self.0.into_iter().zip(0..);
            bits.map(|(is, k)| u32::from(is) << k).sum()
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse {
    use std::arch::x86_64::*;

    /// Four numbers that are added and compared together: a register of the kind that
    /// every x86-64 has, which is what makes every `unsafe` below sound.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Four(__m128);

    impl Default for Four {
        #[inline(always)]
        fn default() -> Self {
            Self::new([0.0; 4])
        }
    }

    macro_rules! operator {
        ($method:ident, $instruction:ident) => {
            #[inline(always)]
            pub(crate) fn $method(self, other: Self) -> Self {
                // SAFETY: see `Four`.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        };
    }

    impl Four {
        operator!(plus, _mm_add_ps);
        operator!(minus, _mm_sub_ps);
        operator!(least, _mm_min_ps);
        operator!(most, _mm_max_ps);

        /// Where this is greater than the other.
        #[inline(always)]
        pub(crate) fn exceeds(self, other: Self) -> Which {
            // SAFETY: see `Four`.
            Which(unsafe { _mm_cmpgt_ps(self.0, other.0) })
        }

        #[inline(always)]
        pub(crate) const fn new(numbers: [f32; 4]) -> Self {
            // SAFETY: both are four numbers of four bytes.
            Self(unsafe { std::mem::transmute::<[f32; 4], __m128>(numbers) })
        }

        #[inline(always)]
        pub(crate) fn array(self) -> [f32; 4] {
            // SAFETY: both are four numbers of four bytes.
            unsafe { std::mem::transmute::<__m128, [f32; 4]>(self.0) }
        }

        /// One of them, read where they are.
        #[inline(always)]
        pub(crate) fn lane(&self, lane: usize) -> f32 {
            // SAFETY: both are four numbers of four bytes, and a register is aligned for both.
            let all = unsafe { std::mem::transmute::<&__m128, &[f32; 4]>(&self.0) };
            all[lane]
        }

        /// The same number four times.
        #[inline(always)]
        pub(crate) fn splat(value: f32) -> Self {
            // SAFETY: see `Four`.
            Self(unsafe { _mm_set1_ps(value) })
        }
    }

    /// An answer for each of four: all bits of its lane, or none.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Which(__m128);

    impl Which {
        /// Where both are.
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            // SAFETY: see `Four`.
            Self(unsafe { _mm_and_ps(self.0, other.0) })
        }

        /// Where any is.
        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            // SAFETY: see `Four`.
            Self(unsafe { _mm_or_ps(self.0, other.0) })
        }

        /// Bit k for number k.
        #[inline(always)]
        pub(crate) fn bits(self) -> u32 {
            // SAFETY: see `Four`.
            (unsafe { _mm_movemask_ps(self.0) }) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_numbers_have_the_same_bits_in_a_register_and_in_an_array() {
        let number = |i: usize, j: usize| (0.3 + i as f32).sqrt() - j as f32 * 0.7;
        let rows: [[f32; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| number(i, j)));
        let (a, b) = (rows.map(Four::new), rows.map(plain::Four::new));
        let (c, d) = (Four::splat(0.1), plain::Four::splat(0.1));
        let pairs = [
            (a[0].plus(a[1]).array(), b[0].plus(b[1]).array()),
            (a[0].minus(a[2]).array(), b[0].minus(b[2]).array()),
            (a[2].least(c).array(), b[2].least(d).array()),
            (a[2].most(a[3]).array(), b[2].most(b[3]).array()),
        ];
        assert!(pairs.iter().all(|(x, y)| x == y), "{pairs:?}");
        let (p, q) = (a[0].exceeds(a[1]), b[0].exceeds(b[1]));
        let (r, s) = (a[2].exceeds(c), b[2].exceeds(d));
        assert_eq!(
            [p.and(r), p.or(r)].map(Which::bits),
            [q.and(s).bits(), q.or(s).bits()]
        );
        assert!(p.bits() != 0 || r.bits() != 0);
        assert_eq!(a[3].lane(2).to_bits(), b[3].lane(2).to_bits());
    }
}
