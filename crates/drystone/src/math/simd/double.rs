//! SIMD lanes of double precision: one number, or four at a time.

#![allow(unsafe_code)]

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers in a [`Quad`].
pub const DOUBLES: usize = 4;

/// Four numbers of double precision in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Quad(pub [f64; DOUBLES]);

/// One number of double precision, or four in a register.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What it is in memory.
    type Stored: Copy + Default;
    /// The same number everywhere.
    fn splat(value: f64) -> Self;
    /// From memory.
    fn load(stored: &Self::Stored) -> Self;
    /// To memory.
    fn store(self, stored: &mut Self::Stored);
    /// The lesser of two, lane by lane.
    fn least(self, other: Self) -> Self;
    /// The greater of two, lane by lane.
    fn most(self, other: Self) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// `yes` where this is greater than 0, else `no`.
    fn choose(self, yes: Self, no: Self) -> Self;
}

impl Number for f64 {
    type Stored = Self;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn load(stored: &Self) -> Self {
        *stored
    }
    #[inline(always)]
    fn store(self, stored: &mut Self) {
        *stored = self;
    }
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        if self > 0.0 { yes } else { no }
    }
}

/// Four numbers of double precision in an array.
#[derive(Clone, Copy)]
pub struct PortableDouble([f64; DOUBLES]);

impl PortableDouble {
    /// Lane j of row i becomes lane i of row j.
    #[inline(always)]
    pub(super) fn transpose(rows: [Self; DOUBLES]) -> [Self; DOUBLES] {
        std::array::from_fn(|j| Self(std::array::from_fn(|i| rows[i].0[j])))
    }
}

macro_rules! portable_operator {
    ($Trait:ident, $method:ident, $op:tt) => {
        impl $Trait for PortableDouble {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] $op other.0[k]))
            }
        }
    };
}
portable_operator!(Add, add, +);
portable_operator!(Sub, sub, -);
portable_operator!(Mul, mul, *);
portable_operator!(Div, div, /);

impl Neg for PortableDouble {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl Number for PortableDouble {
    type Stored = Quad;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; DOUBLES])
    }
    #[inline(always)]
    fn load(stored: &Quad) -> Self {
        Self(stored.0)
    }
    #[inline(always)]
    fn store(self, stored: &mut Quad) {
        stored.0 = self.0;
    }
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].least(other.0[k])))
    }
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].most(other.0[k])))
    }
    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].choose(yes.0[k], no.0[k])))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx::AvxDouble;

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Add, Div, Mul, Neg, Number, Quad, Sub};
    use std::arch::x86_64::*;

    /// Four numbers of double precision in a 256-bit register.
    ///
    /// Values of this type exist only inside kernels that [`super::super::dispatch!`] compiles for
    /// AVX2 and calls where the machine has it: that is what makes every `unsafe` below sound.
    #[derive(Clone, Copy)]
    pub(crate) struct AvxDouble(pub(in crate::math::simd) __m256d);

    impl AvxDouble {
        /// Lane j of row i becomes lane i of row j.
        #[inline(always)]
        pub(in crate::math::simd) fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
            // SAFETY: see `AvxDouble`.
            unsafe {
                let (even, odd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
                let (next_even, next_odd) =
                    (_mm256_unpacklo_pd(c.0, d.0), _mm256_unpackhi_pd(c.0, d.0));
                [
                    Self(_mm256_permute2f128_pd::<0x20>(even, next_even)),
                    Self(_mm256_permute2f128_pd::<0x20>(odd, next_odd)),
                    Self(_mm256_permute2f128_pd::<0x31>(even, next_even)),
                    Self(_mm256_permute2f128_pd::<0x31>(odd, next_odd)),
                ]
            }
        }
    }

    macro_rules! avx_operator {
        ($Trait:ident, $method:ident, $instruction:ident) => {
            impl $Trait for AvxDouble {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: see `AvxDouble`.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        };
    }
    avx_operator!(Add, add, _mm256_add_pd);
    avx_operator!(Sub, sub, _mm256_sub_pd);
    avx_operator!(Mul, mul, _mm256_mul_pd);
    avx_operator!(Div, div, _mm256_div_pd);

    impl Neg for AvxDouble {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: see `Avx`. Flipping the sign bit is what negation does.
            Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
        }
    }

    // SAFETY of every block below: see `AvxDouble`; loads and stores are of aligned numbers.
    impl Number for AvxDouble {
        type Stored = Quad;
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn load(stored: &Quad) -> Self {
            Self(unsafe { _mm256_load_pd(stored.0.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, stored: &mut Quad) {
            unsafe { _mm256_store_pd(stored.0.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn least(self, other: Self) -> Self {
            Self(unsafe { _mm256_min_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn most(self, other: Self) -> Self {
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn root(self) -> Self {
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            unsafe {
                let mask = _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_setzero_pd());
                Self(_mm256_blendv_pd(no.0, yes.0, mask))
            }
        }
    }
}
