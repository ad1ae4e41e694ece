//! SIMD lanes: eight numbers of single precision at a time.
//!
//! [`Wide`] is eight `f32` that are added, multiplied and compared together. Two types implement
//! it: [`Portable`], an array, and [`Avx`], a register. Kernels are written once against `Wide`
//! and compiled three times by [`dispatch!`]: portable, with AVX2, and with AVX-512 (the same
//! eight lanes, but twice the registers); which one runs is decided when the program starts.
//!
//! **All three give the same bits.** Every operation here is one IEEE operation that is exact to
//! rounding (add, subtract, multiply, divide, square root) or a comparison; nothing is fused,
//! approximated or reordered, and lanes never mix. `most` and `least` return the second operand
//! where the two are equal or unordered, as the machine's instruction does.
//!
//! [`Number`] is the same for `f64`: one of them, or four side by side ([`Wide::Double`]).

#![allow(unsafe_code)]

mod double;
mod four;

pub use double::{DOUBLES, Number, PortableDouble, Quad};
use serde::{Deserialize, Serialize};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers in a [`Wide`].
pub const LANES: usize = 8;

/// Eight numbers in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C, align(32))]
pub struct Column(pub [f32; LANES]);

/// Eight numbers in a register.
pub trait Wide:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Four numbers of double precision by the same instructions.
    type Double: Number<Stored = Quad>;
    /// The same number eight times.
    fn splat(value: f32) -> Self;
    /// From memory.
    fn load(column: &Column) -> Self;
    /// To memory.
    fn store(self, column: &mut Column);
    /// The lesser of two, lane by lane.
    fn least(self, other: Self) -> Self;
    /// The greater of two, lane by lane.
    fn most(self, other: Self) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// 1 where this is greater than 0, else 0.
    fn positive(self) -> Self;
    /// Lane j of row i becomes lane i of row j.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];
    /// Each lane takes from the one before it, the first from the last.
    fn of_lane_before(self) -> Self;
    /// Each lane takes from the one after it, the last from the first.
    fn of_lane_after(self) -> Self;
    /// Four numbers of each of four columns, from place `first` on: those of a place side by side.
    fn side_by_side(columns: &[Column; DOUBLES], first: usize) -> [Self::Double; DOUBLES];
    /// [`Wide::transpose`] for four rows of double precision.
    fn transpose_doubles(rows: [Self::Double; DOUBLES]) -> [Self::Double; DOUBLES];
}

/// Eight numbers in an array.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; LANES]);

macro_rules! portable_operator {
    ($Trait:ident, $method:ident, $op:tt) => {
        impl $Trait for Portable {
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

impl Neg for Portable {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl Wide for Portable {
    type Double = PortableDouble;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn load(column: &Column) -> Self {
        Self(column.0)
    }
    #[inline(always)]
    fn store(self, column: &mut Column) {
        column.0 = self.0;
    }
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        let pick = |k: usize| match self.0[k] < other.0[k] {
            true => self.0[k],
            false => other.0[k],
        };
        Self(std::array::from_fn(pick))
    }
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        let pick = |k: usize| match self.0[k] > other.0[k] {
            true => self.0[k],
            false => other.0[k],
        };
        Self(std::array::from_fn(pick))
    }
    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn positive(self) -> Self {
        Self(self.0.map(|x| if x > 0.0 { 1.0 } else { 0.0 }))
    }
    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|j| Self(std::array::from_fn(|i| rows[i].0[j])))
    }
    #[inline(always)]
    fn side_by_side(columns: &[Column; DOUBLES], first: usize) -> [PortableDouble; DOUBLES] {
        std::array::from_fn(|k| {
            let row = columns.each_ref().map(|column| column.0[first + k]);
            PortableDouble::load(&Quad(row.map(f64::from)))
        })
    }
    #[inline(always)]
    fn of_lane_before(self) -> Self {
        let [a, b, c, d, e, f, g, h] = self.0;
        Self([h, a, b, c, d, e, f, g])
    }
    #[inline(always)]
    fn of_lane_after(self) -> Self {
        let [a, b, c, d, e, f, g, h] = self.0;
        Self([b, c, d, e, f, g, h, a])
    }
    #[inline(always)]
    fn transpose_doubles(rows: [PortableDouble; DOUBLES]) -> [PortableDouble; DOUBLES] {
        PortableDouble::transpose(rows)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::double::{AvxDouble, DOUBLES};
    use super::{Add, Column, Div, LANES, Mul, Neg, Sub, Wide};
    use std::arch::x86_64::*;

    /// Eight numbers in a 256-bit register.
    ///
    /// Values of this type exist only inside kernels that [`super::dispatch!`] compiles for AVX2
    /// and calls where the machine has it: that is what makes every `unsafe` below sound.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx(__m256);

    macro_rules! avx_operator {
        ($Trait:ident, $method:ident, $instruction:ident) => {
            impl $Trait for Avx {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: see `Avx`.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        };
    }
    avx_operator!(Add, add, _mm256_add_ps);
    avx_operator!(Sub, sub, _mm256_sub_ps);
    avx_operator!(Mul, mul, _mm256_mul_ps);
    avx_operator!(Div, div, _mm256_div_ps);

    impl Neg for Avx {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: see `Avx`. Flipping the sign bit is what negation does.
            Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
        }
    }

    // SAFETY of every block below: see `Avx`; loads and stores are of aligned columns.
    impl Wide for Avx {
        type Double = AvxDouble;
        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn load(column: &Column) -> Self {
            Self(unsafe { _mm256_load_ps(column.0.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, column: &mut Column) {
            unsafe { _mm256_store_ps(column.0.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn least(self, other: Self) -> Self {
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn most(self, other: Self) -> Self {
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn root(self) -> Self {
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn positive(self) -> Self {
            unsafe {
                let mask = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps());
                Self(_mm256_and_ps(mask, _mm256_set1_ps(1.0)))
            }
        }
        #[inline(always)]
        fn side_by_side(columns: &[Column; DOUBLES], first: usize) -> [AvxDouble; DOUBLES] {
            let rows = columns.each_ref().map(|column| {
                let row = &column.0[first..first + DOUBLES];
                unsafe { _mm_loadu_ps(row.as_ptr()) }
            });
            unsafe {
                let (low, high) = (
                    _mm_unpacklo_ps(rows[0], rows[1]),
                    _mm_unpacklo_ps(rows[2], rows[3]),
                );
                let (low_end, high_end) = (
                    _mm_unpackhi_ps(rows[0], rows[1]),
                    _mm_unpackhi_ps(rows[2], rows[3]),
                );
                [
                    _mm_movelh_ps(low, high),
                    _mm_movehl_ps(high, low),
                    _mm_movelh_ps(low_end, high_end),
                    _mm_movehl_ps(high_end, low_end),
                ]
                .map(|row| AvxDouble(_mm256_cvtps_pd(row)))
            }
        }
        #[inline(always)]
        fn of_lane_before(self) -> Self {
            unsafe {
                let from = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
                Self(_mm256_permutevar8x32_ps(self.0, from))
            }
        }
        #[inline(always)]
        fn of_lane_after(self) -> Self {
            unsafe {
                let from = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
                Self(_mm256_permutevar8x32_ps(self.0, from))
            }
        }
        #[inline(always)]
        fn transpose_doubles(rows: [AvxDouble; DOUBLES]) -> [AvxDouble; DOUBLES] {
            AvxDouble::transpose(rows)
        }
        #[inline(always)]
        fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
            let r = rows.map(|row| row.0);
            unsafe {
                let low = [
                    _mm256_unpacklo_ps(r[0], r[1]),
                    _mm256_unpacklo_ps(r[2], r[3]),
                    _mm256_unpacklo_ps(r[4], r[5]),
                    _mm256_unpacklo_ps(r[6], r[7]),
                ];
                let high = [
                    _mm256_unpackhi_ps(r[0], r[1]),
                    _mm256_unpackhi_ps(r[2], r[3]),
                    _mm256_unpackhi_ps(r[4], r[5]),
                    _mm256_unpackhi_ps(r[6], r[7]),
                ];
                let front = [
                    _mm256_shuffle_ps::<0x44>(low[0], low[1]),
                    _mm256_shuffle_ps::<0xEE>(low[0], low[1]),
                    _mm256_shuffle_ps::<0x44>(high[0], high[1]),
                    _mm256_shuffle_ps::<0xEE>(high[0], high[1]),
                ];
                let back = [
                    _mm256_shuffle_ps::<0x44>(low[2], low[3]),
                    _mm256_shuffle_ps::<0xEE>(low[2], low[3]),
                    _mm256_shuffle_ps::<0x44>(high[2], high[3]),
                    _mm256_shuffle_ps::<0xEE>(high[2], high[3]),
                ];
                [
                    Self(_mm256_permute2f128_ps::<0x20>(front[0], back[0])),
                    Self(_mm256_permute2f128_ps::<0x20>(front[1], back[1])),
                    Self(_mm256_permute2f128_ps::<0x20>(front[2], back[2])),
                    Self(_mm256_permute2f128_ps::<0x20>(front[3], back[3])),
                    Self(_mm256_permute2f128_ps::<0x31>(front[0], back[0])),
                    Self(_mm256_permute2f128_ps::<0x31>(front[1], back[1])),
                    Self(_mm256_permute2f128_ps::<0x31>(front[2], back[2])),
                    Self(_mm256_permute2f128_ps::<0x31>(front[3], back[3])),
                ]
            }
        }
    }
}

/// Which compilation of the kernels runs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Instructions {
    /// No more than the language promises.
    #[default]
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512 with 256-bit registers.
    Avx512,
}

impl Instructions {
    /// The best that this machine has.
    #[must_use]
    pub fn best() -> Self {
        Self::every().last().copied().unwrap_or_default()
    }

    /// All that this machine has, the portable one first.
    #[must_use]
    pub fn every() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx2");
            let wider = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
            match (wide, wider) {
                (true, true) => &[Self::Portable, Self::Avx2, Self::Avx512],
                (true, false) => &[Self::Portable, Self::Avx2],
                _ => &[Self::Portable],
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            &[Self::Portable]
        }
    }

    /// These instructions, or the best this machine has where it lacks them.
    pub(crate) fn available(self) -> Self {
        self.min(Self::best())
    }
}

/// Defines `$name(instructions, arguments…)`, which runs the generic kernel `$kernel::<S, V>`
/// compiled for those instructions.
macro_rules! dispatch {
    ($(#[$doc:meta])* fn $name:ident<$S:ident: $Bound:path>($($argument:ident: $Type:ty),* $(,)?) = $kernel:ident) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name<$S: $Bound>(
            instructions: $crate::math::simd::Instructions,
            $($argument: $Type),*
        ) {
            #[cfg(target_arch = "x86_64")]
            mod compiled {
                #[allow(clippy::wildcard_imports)]
                use super::*;
                #[target_feature(enable = "avx2")]
                pub(crate) fn avx2<$S: $Bound>($($argument: $Type),*) {
                    $kernel::<$S, $crate::math::simd::Avx>($($argument),*)
                }
                #[target_feature(enable = "avx2,avx512f,avx512vl")]
                pub(crate) fn avx512<$S: $Bound>($($argument: $Type),*) {
                    $kernel::<$S, $crate::math::simd::Avx>($($argument),*)
                }
            }
            match instructions.available() {
                // SAFETY: `available` has asked the machine for these instructions.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                $crate::math::simd::Instructions::Avx2 => unsafe {
                    compiled::avx2::<$S>($($argument),*)
                },
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                $crate::math::simd::Instructions::Avx512 => unsafe {
                    compiled::avx512::<$S>($($argument),*)
                },
                _ => $kernel::<$S, $crate::math::simd::Portable>($($argument),*),
            }
        }
    };
}
pub(crate) use dispatch;
pub(crate) use four::{Four, Which};
