//! Two and three dimensions from one source.
//!
//! [`Algebra`] is sealed and implemented by exactly two types, [`D2`] and [`D3`].
//! It names the algebra that differs between the plane and space. With the shapes of each it becomes
//! [`Space`](crate::Space), and the rest of the engine is written once against `S: Space`.
//!
//! | | `D2` | `D3` |
//! |---|---|---|
//! | [`Algebra::Vector`] (m, m/s, N·s) | `DVec2` | `DVec3` |
//! | [`Algebra::Spin`] (rad/s, N·m·s) | `f64`, counter-clockwise | `DVec3` |
//! | [`Algebra::Inertia`] (kg·m²) | `f64` | `DMat3`, symmetric |
//! | [`Algebra::Rotation`] | `DRot2`, a unit complex number | `DQuat`, a unit quaternion |
//! | [`Algebra::Matrix`] | `DMat2` | `DMat3` |
//!
//! A contact's **local** coordinates are a [`Algebra::Vector`] too: component 0 is along
//! the normal, the rest along the tangents.

mod components;
mod eigenvalues;
pub(crate) mod frame_angles;
pub(crate) mod free_rotation;
pub(crate) mod manifold_algebra;
mod plane;
mod solid;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use serde::{Serialize, de::DeserializeOwned};

mod sealed {
    /// Only what this crate can do with eight contacts at a time makes a space.
    pub trait Sealed:
        crate::math::algebra::manifold_algebra::ManifoldAlgebra
        + crate::math::algebra::frame_angles::Angles
    {
    }
    impl Sealed for super::D2 {}
    impl Sealed for super::D3 {}
}

/// What plain data must offer to live in the engine's flat arrays.
pub trait Plain:
    Copy + Default + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
}
impl<T> Plain for T where
    T: Copy + Default + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
}

/// Elements of a linear space with a scalar product: vectors and spins.
pub trait Linear:
    Plain
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
    + AddAssign
    + SubAssign
{
    /// The scalar product.
    fn dot(self, other: Self) -> f64;
    /// Whether every component is a finite number.
    fn is_finite(self) -> bool;
    /// The Euclidean length.
    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }
}

/// A [`Linear`] space whose components can be read and written one by one.
pub trait Components: Linear {
    /// Component `axis`, 0 where the space has no such axis.
    fn component(self, axis: usize) -> f64;
    /// This vector with component `axis` replaced (ignored where there is no such axis).
    fn with_component(self, axis: usize, value: f64) -> Self;
    /// The vector with all components equal.
    fn splat(value: f64) -> Self;
    /// Component-wise product.
    fn scale(self, other: Self) -> Self;
    /// Component-wise minimum.
    fn lower(self, other: Self) -> Self;
    /// Component-wise maximum.
    fn upper(self, other: Self) -> Self;
    /// Three numbers, padded with zeros.
    fn to_array3(self) -> [f64; 3];
}

/// The plane or space: see the [module documentation](self).
pub trait Algebra:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// The number of axes, 2 or 3.
    const DIM: usize;
    /// The number of axes of rotation, 1 or 3.
    const SPIN_DIM: usize;

    /// A point, a displacement, a velocity or an impulse.
    type Vector: Components;
    /// An angular velocity, a torque or an angular impulse.
    type Spin: Components;
    /// A moment of inertia or its inverse, symmetric.
    type Inertia: Plain;
    /// An orientation.
    type Rotation: Copy + Debug + Default + PartialEq + Send + Sync + Serialize + DeserializeOwned;
    /// A contact's basis (columns: normal, tangents) or its diagonal block of A.
    type Matrix: Plain;

    /// ω × r: the velocity that a spin gives to a point at `arm`.
    fn spin_cross(spin: Self::Spin, arm: Self::Vector) -> Self::Vector;
    /// r × f: the torque of a force at `arm`.
    fn cross(arm: Self::Vector, force: Self::Vector) -> Self::Spin;

    /// The inertia (or inverse inertia) that is zero about every axis. Not `Default`: glam's
    /// default matrix is the identity.
    const NO_INERTIA: Self::Inertia;
    /// I ω (or I⁻¹ L).
    fn apply_inertia(inertia: &Self::Inertia, spin: Self::Spin) -> Self::Spin;
    /// R I Rᵀ: an inertia given in body axes, in world axes.
    fn world_inertia(rotation: Self::Rotation, local: &Self::Inertia) -> Self::Inertia;
    /// The inverse of a positive definite inertia; zero stays zero (no rotation).
    fn invert_inertia(inertia: &Self::Inertia) -> Self::Inertia;
    /// An inertia, or its inverse, times a number.
    fn scale_inertia(inertia: &Self::Inertia, factor: f64) -> Self::Inertia;
    /// An inverse inertia with the rows and columns of locked world axes set to zero.
    /// `free` has 1 for an axis that may turn and 0 for one that may not.
    fn mask_inertia(inertia: &Self::Inertia, free: Self::Spin) -> Self::Inertia;
    /// Whether an inertia is one that a solid can have: symmetric and positive definite.
    fn is_positive_definite(inertia: &Self::Inertia) -> bool;
    /// Whether inertia is the same about every axis, so that free rotation keeps its spin.
    fn is_isotropic(inertia: &Self::Inertia) -> bool;

    /// R x.
    fn rotate(rotation: Self::Rotation, vector: Self::Vector) -> Self::Vector;
    /// Rᵀ x.
    fn unrotate(rotation: Self::Rotation, vector: Self::Vector) -> Self::Vector;
    /// exp(θ×) R, normalised: turns by the rotation vector θ = ω Δt in world axes.
    fn turn(rotation: Self::Rotation, angle: Self::Spin) -> Self::Rotation;
    /// The rotation vector θ with exp(θ×) `from` = `to`, of length at most π.
    fn turn_between(from: Self::Rotation, to: Self::Rotation) -> Self::Spin;
    /// The rotation of a body that turns freely for `dt` seconds with this inertia (in its own axes)
    /// and this angular momentum (in the world's).
    fn rotate_freely(
        rotation: Self::Rotation,
        inertia: &Self::Inertia,
        momentum: Self::Spin,
        dt: f64,
    ) -> Self::Rotation;
    /// Whether the rotation is finite and within 1e-3 of unit length.
    fn is_near_unit(rotation: Self::Rotation) -> bool;
    /// The rotation scaled to unit length.
    fn normalize(rotation: Self::Rotation) -> Self::Rotation;
    /// The rotation as a quaternion x, y, z, w (about z in the plane).
    fn quaternion(rotation: Self::Rotation) -> [f64; 4];

    /// An orthonormal basis whose first column is the unit vector `normal`.
    fn basis(normal: Self::Vector) -> Self::Matrix;
    /// A matrix from its columns.
    fn matrix(column: impl Fn(usize) -> Self::Vector) -> Self::Matrix;
    /// Column `k` of a matrix.
    fn column(matrix: &Self::Matrix, k: usize) -> Self::Vector;
    /// B r: local to world.
    fn to_world(basis: &Self::Matrix, local: Self::Vector) -> Self::Vector;
    /// Bᵀ v: world to local.
    fn to_local(basis: &Self::Matrix, world: Self::Vector) -> Self::Vector;
    /// The largest eigenvalue of a symmetric matrix.
    fn largest_eigenvalue(matrix: &Self::Matrix) -> f64;
    /// The largest eigenvalue of the tangential block of a symmetric matrix.
    fn largest_tangent_eigenvalue(matrix: &Self::Matrix) -> f64;
}

/// The plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct D2;

/// Space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct D3;

/// A vector of this space from three numbers; the plane leaves the third out.
pub(crate) fn vector<A: Algebra>(numbers: impl Into<[f64; 3]>) -> A::Vector {
    let numbers = numbers.into();
    (0..A::DIM).fold(A::Vector::default(), |vector, axis| {
        vector.with_component(axis, numbers[axis])
    })
}

/// A vector of this space as one of three numbers, the third 0 in the plane.
pub(crate) fn solid<A: Algebra>(vector: A::Vector) -> glamx::DVec3 {
    glamx::DVec3::from_array(vector.to_array3())
}
