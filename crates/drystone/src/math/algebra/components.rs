//! The components of vectors and spins, one by one.

use super::{Components, Linear};
use glamx::{DVec2, DVec3};

impl Linear for f64 {
    #[inline]
    fn dot(self, other: Self) -> f64 {
        self * other
    }
    #[inline]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    #[inline]
    fn length(self) -> f64 {
        self.abs()
    }
}

impl Components for f64 {
    #[inline]
    fn component(self, axis: usize) -> f64 {
        if axis == 0 { self } else { 0.0 }
    }
    #[inline]
    fn with_component(self, axis: usize, value: f64) -> Self {
        if axis == 0 { value } else { self }
    }
    #[inline]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline]
    fn scale(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn lower(self, other: Self) -> Self {
        self.min(other)
    }
    #[inline]
    fn upper(self, other: Self) -> Self {
        self.max(other)
    }
    /// A plane's spin is about z.
    #[inline]
    fn to_array3(self) -> [f64; 3] {
        [0.0, 0.0, self]
    }
}

macro_rules! components_of_glam_vector {
    ($vector:ty, $($axis:literal => $field:ident),+; $array:expr) => {
        impl Linear for $vector {
            #[inline]
            fn dot(self, other: Self) -> f64 {
                <$vector>::dot(self, other)
            }
            #[inline]
            fn is_finite(self) -> bool {
                <$vector>::is_finite(self)
            }
        }

        impl Components for $vector {
            #[inline]
            fn component(self, axis: usize) -> f64 {
                match axis {
                    $($axis => self.$field,)+
                    _ => 0.0,
                }
            }
            #[inline]
            fn with_component(mut self, axis: usize, value: f64) -> Self {
                match axis {
                    $($axis => self.$field = value,)+
                    _ => {}
                }
                self
            }
            #[inline]
            fn splat(value: f64) -> Self {
                <$vector>::splat(value)
            }
            #[inline]
            fn scale(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn lower(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline]
            fn upper(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline]
            fn to_array3(self) -> [f64; 3] {
                let v = self;
                $array(v)
            }
        }
    };
}

components_of_glam_vector!(DVec2, 0 => x, 1 => y; |v: DVec2| [v.x, v.y, 0.0]);
components_of_glam_vector!(DVec3, 0 => x, 1 => y, 2 => z; |v: DVec3| [v.x, v.y, v.z]);
