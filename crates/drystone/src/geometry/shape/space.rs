//! Two and three dimensions with their shapes: what `S: Space` means everywhere in the engine.

use super::Geometry;
#[cfg(feature = "dim2")]
use super::Shape2;
#[cfg(feature = "dim3")]
use super::Shape3;
use crate::math::algebra::Algebra;
#[cfg(feature = "dim2")]
use crate::math::algebra::D2;
#[cfg(feature = "dim3")]
use crate::math::algebra::D3;

/// The plane ([`D2`]) or space ([`D3`]): its [algebra](Algebra) and its shapes.
pub trait Space: Algebra {
    /// The shapes that bodies of this space have.
    type Shape: Geometry<Self>;
}

#[cfg(feature = "dim2")]
impl Space for D2 {
    type Shape = Shape2;
}

#[cfg(feature = "dim3")]
impl Space for D3 {
    type Shape = Shape3;
}
