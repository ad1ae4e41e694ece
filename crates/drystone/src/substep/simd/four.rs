//! Four numbers of single precision, where lists are too short for eight.

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use plain::Four;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse::Four;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    /// Four numbers that are added, multiplied and compared together.
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
        operator!(times, |a, b| a * b);
        operator!(least, |a, b| if a < b { a } else { b });
        operator!(most, |a, b| if a > b { a } else { b });

        pub(crate) const fn new(numbers: [f32; 4]) -> Self {
            Self(numbers)
        }
        pub(crate) fn array(self) -> [f32; 4] {
            self.0
        }
        pub(crate) fn splat(value: f32) -> Self {
            Self([value; 4])
        }
        pub(crate) fn transpose(rows: [Self; 4]) -> [Self; 4] {
            std::array::from_fn(|j| Self(std::array::from_fn(|i| rows[i].0[j])))
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse {
    use std::arch::x86_64::*;

    /// Four numbers that are added, multiplied and compared together: a register of the kind that
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
        operator!(times, _mm_mul_ps);
        operator!(least, _mm_min_ps);
        operator!(most, _mm_max_ps);

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

        /// The same number four times.
        #[inline(always)]
        pub(crate) fn splat(value: f32) -> Self {
            // SAFETY: see `Four`.
            Self(unsafe { _mm_set1_ps(value) })
        }

        /// Lane j of row i becomes lane i of row j.
        #[inline(always)]
        pub(crate) fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
            // SAFETY: see `Four`.
            unsafe {
                let (low, high) = (_mm_unpacklo_ps(a.0, b.0), _mm_unpackhi_ps(a.0, b.0));
                let (next_low, next_high) = (_mm_unpacklo_ps(c.0, d.0), _mm_unpackhi_ps(c.0, d.0));
                [
                    Self(_mm_movelh_ps(low, next_low)),
                    Self(_mm_movehl_ps(next_low, low)),
                    Self(_mm_movelh_ps(high, next_high)),
                    Self(_mm_movehl_ps(next_high, high)),
                ]
            }
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
            (a[1].times(a[3]).array(), b[1].times(b[3]).array()),
            (a[2].least(c).array(), b[2].least(d).array()),
            (a[2].most(a[3]).array(), b[2].most(b[3]).array()),
        ];
        assert!(pairs.iter().all(|(x, y)| x == y), "{pairs:?}");
        let (x, y) = (Four::transpose(a), plain::Four::transpose(b));
        assert!(x.map(Four::array) == y.map(plain::Four::array));
    }
}
