//! Two and three dimensions with their shapes: what `S: Space` means everywhere in the engine.

use super::{Geometry, Shape2, Shape3};
use crate::math::algebra::{Algebra, D2, D3};

/// The plane ([`D2`]) or space ([`D3`]): its [algebra](Algebra) and its shapes.
pub trait Space: Algebra {
    /// The shapes that bodies of this space have.
    type Shape: Geometry<Self>;
}

impl Space for D2 {
    type Shape = Shape2;
}

impl Space for D3 {
    type Shape = Shape3;
}
