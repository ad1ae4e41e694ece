//! Two and three dimensions from one source.
//!
//! [`Space`] is sealed and implemented by exactly two types, [`D2`] and [`D3`].
//! It names the algebra that differs between a plane and space; everything else
//! in the engine is written once against `S: Space`.
//!
//! | | `D2` | `D3` |
//! |---|---|---|
//! | [`Space::Vector`] (m, m/s, N·s) | `DVec2` | `DVec3` |
//! | [`Space::Spin`] (rad/s, N·m·s) | `f64`, counter-clockwise | `DVec3` |
//! | [`Space::Inertia`] (kg·m²) | `f64` | `DMat3`, symmetric |
//! | [`Space::Rotation`] | `DRot2`, a unit complex number | `DQuat`, a unit quaternion |
//! | [`Space::Matrix`] | `DMat2` | `DMat3` |
//!
//! A contact's **local** coordinates are a [`Space::Vector`] too: component 0 is along
//! the normal, the rest along the tangents.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use glamx::{DMat2, DMat3, DQuat, DRot2, DVec2, DVec3};
use serde::{Serialize, de::DeserializeOwned};

use crate::shape::{Geometry, Shape2, Shape3};

mod sealed {
    /// Only what this crate can do with eight contacts at a time makes a space.
    pub trait Sealed: crate::substep::reduced::Reduced + crate::joint::Angles {}
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
pub trait Space:
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
    /// The geometry of this space.
    type Shape: Geometry<Self>;

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
    fn tumble(
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

impl Space for D2 {
    const DIM: usize = 2;
    const SPIN_DIM: usize = 1;

    type Vector = DVec2;
    type Spin = f64;
    type Inertia = f64;
    type Rotation = DRot2;
    type Matrix = DMat2;
    type Shape = Shape2;

    #[inline]
    fn spin_cross(spin: f64, arm: DVec2) -> DVec2 {
        DVec2::new(-spin * arm.y, spin * arm.x)
    }
    #[inline]
    fn cross(arm: DVec2, force: DVec2) -> f64 {
        arm.x * force.y - arm.y * force.x
    }

    const NO_INERTIA: f64 = 0.0;
    #[inline]
    fn apply_inertia(inertia: &f64, spin: f64) -> f64 {
        inertia * spin
    }
    #[inline]
    fn world_inertia(_rotation: DRot2, local: &f64) -> f64 {
        *local
    }
    fn invert_inertia(inertia: &f64) -> f64 {
        if *inertia > 0.0 { 1.0 / inertia } else { 0.0 }
    }
    fn mask_inertia(inertia: &f64, free: f64) -> f64 {
        inertia * free
    }
    fn is_positive_definite(inertia: &f64) -> bool {
        *inertia > 0.0
    }
    #[inline]
    fn is_isotropic(_inertia: &f64) -> bool {
        true
    }

    #[inline]
    fn rotate(rotation: DRot2, vector: DVec2) -> DVec2 {
        rotation.transform_vector(vector)
    }
    #[inline]
    fn unrotate(rotation: DRot2, vector: DVec2) -> DVec2 {
        rotation.inverse_transform_vector(vector)
    }
    fn turn(rotation: DRot2, angle: f64) -> DRot2 {
        let (sin, cos) = libm::sincos(angle);
        let turned = DRot2 {
            re: cos * rotation.re - sin * rotation.im,
            im: sin * rotation.re + cos * rotation.im,
        };
        Self::normalize(turned)
    }
    fn tumble(rotation: DRot2, inertia: &f64, momentum: f64, dt: f64) -> DRot2 {
        Self::turn(rotation, momentum / inertia * dt)
    }

    fn turn_between(from: DRot2, to: DRot2) -> f64 {
        let sin = from.re * to.im - from.im * to.re;
        let cos = from.re * to.re + from.im * to.im;
        libm::atan2(sin, cos)
    }
    fn is_near_unit(rotation: DRot2) -> bool {
        let length = (rotation.re * rotation.re + rotation.im * rotation.im).sqrt();
        (length - 1.0).abs() <= 1e-3
    }
    fn normalize(rotation: DRot2) -> DRot2 {
        let length = (rotation.re * rotation.re + rotation.im * rotation.im).sqrt();
        DRot2 {
            re: rotation.re / length,
            im: rotation.im / length,
        }
    }
    fn quaternion(rotation: DRot2) -> [f64; 4] {
        let half = 0.5 * libm::atan2(rotation.im, rotation.re);
        [0.0, 0.0, libm::sin(half), libm::cos(half)]
    }

    #[inline]
    fn basis(normal: DVec2) -> DMat2 {
        DMat2::from_cols(normal, DVec2::new(-normal.y, normal.x))
    }
    #[inline]
    fn matrix(column: impl Fn(usize) -> DVec2) -> DMat2 {
        DMat2::from_cols(column(0), column(1))
    }
    #[inline]
    fn column(matrix: &DMat2, k: usize) -> DVec2 {
        if k == 0 { matrix.x_axis } else { matrix.y_axis }
    }
    #[inline]
    fn to_world(basis: &DMat2, local: DVec2) -> DVec2 {
        basis.x_axis * local.x + basis.y_axis * local.y
    }
    #[inline]
    fn to_local(basis: &DMat2, world: DVec2) -> DVec2 {
        DVec2::new(basis.x_axis.dot(world), basis.y_axis.dot(world))
    }
    #[inline]
    fn largest_eigenvalue(matrix: &DMat2) -> f64 {
        largest_eigenvalue_2x2(matrix.x_axis.x, matrix.x_axis.y, matrix.y_axis.y)
    }
    #[inline]
    fn largest_tangent_eigenvalue(matrix: &DMat2) -> f64 {
        matrix.y_axis.y
    }
}

/// sin(x)/x and cos(x) of x². Most turns in a step are small: their series cost less than the
/// functions and are exact to rounding up to x = 0.1; near 0 the quotient would lose digits, too.
#[inline]
fn sinc_and_cos(square: f64) -> (f64, f64) {
    if square < 0.01 {
        let series = |factors: [f64; 5]| {
            let terms = factors.into_iter().rev();
            terms.fold(1.0, |sum, factor| 1.0 - square * factor * sum)
        };
        return (
            series([1.0 / 6.0, 1.0 / 20.0, 1.0 / 42.0, 1.0 / 72.0, 1.0 / 110.0]),
            series([1.0 / 2.0, 1.0 / 12.0, 1.0 / 30.0, 1.0 / 56.0, 1.0 / 90.0]),
        );
    }
    let x = square.sqrt();
    let (sin, cos) = libm::sincos(x);
    (sin / x, cos)
}

/// x/sin(x) of the sine and cosine of x: by the series of the arc sine where that is exact.
#[inline]
fn angle_over_sine(sin: f64, cos: f64) -> f64 {
    let square = sin * sin;
    if square < 0.0025 {
        let factors = [
            1.0 / 6.0,
            9.0 / 20.0,
            25.0 / 42.0,
            49.0 / 72.0,
            81.0 / 110.0,
            121.0 / 156.0,
        ];
        let terms = factors.into_iter().rev();
        return terms.fold(1.0, |sum, factor| 1.0 + square * factor * sum);
    }
    libm::atan2(sin, cos) / sin
}

impl Space for D3 {
    const DIM: usize = 3;
    const SPIN_DIM: usize = 3;

    type Vector = DVec3;
    type Spin = DVec3;
    type Inertia = DMat3;
    type Rotation = DQuat;
    type Matrix = DMat3;
    type Shape = Shape3;

    #[inline]
    fn spin_cross(spin: DVec3, arm: DVec3) -> DVec3 {
        spin.cross(arm)
    }
    #[inline]
    fn cross(arm: DVec3, force: DVec3) -> DVec3 {
        arm.cross(force)
    }

    const NO_INERTIA: DMat3 = DMat3::ZERO;
    #[inline]
    fn apply_inertia(inertia: &DMat3, spin: DVec3) -> DVec3 {
        *inertia * spin
    }
    #[inline]
    fn world_inertia(rotation: DQuat, local: &DMat3) -> DMat3 {
        let r = DMat3::from_quat(rotation);
        r * *local * r.transpose()
    }
    #[inline]
    fn invert_inertia(inertia: &DMat3) -> DMat3 {
        if inertia.determinant() > 0.0 {
            inertia.inverse()
        } else {
            DMat3::ZERO
        }
    }
    fn mask_inertia(inertia: &DMat3, free: DVec3) -> DMat3 {
        let mask = DMat3::from_diagonal(free);
        mask * *inertia * mask
    }
    fn is_positive_definite(inertia: &DMat3) -> bool {
        // Sylvester: all leading minors are positive.
        let (x, y) = (inertia.x_axis, inertia.y_axis);
        let skew = *inertia - inertia.transpose();
        skew.abs_diff_eq(DMat3::ZERO, 1e-9 * x.x.abs())
            && x.x > 0.0
            && x.x * y.y - x.y * y.x > 0.0
            && inertia.determinant() > 0.0
    }
    fn is_isotropic(inertia: &DMat3) -> bool {
        let (x, y, z) = (inertia.x_axis, inertia.y_axis, inertia.z_axis);
        let off = x.y.abs() + x.z.abs() + y.z.abs();
        let spread = (x.x - y.y).abs() + (y.y - z.z).abs();
        off + spread <= 1e-12 * x.x.abs()
    }

    #[inline]
    fn rotate(rotation: DQuat, vector: DVec3) -> DVec3 {
        rotation * vector
    }
    #[inline]
    fn unrotate(rotation: DQuat, vector: DVec3) -> DVec3 {
        rotation.conjugate() * vector
    }
    #[inline]
    fn turn(rotation: DQuat, angle: DVec3) -> DQuat {
        let (sinc, cos) = sinc_and_cos(0.25 * angle.length_squared());
        let axis = angle * (0.5 * sinc);
        Self::normalize(DQuat::from_xyzw(axis.x, axis.y, axis.z, cos) * rotation)
    }

    fn tumble(rotation: DQuat, inertia: &DMat3, momentum: DVec3, dt: f64) -> DQuat {
        crate::tumble::tumble(rotation, inertia, momentum, dt)
    }

    #[inline]
    fn turn_between(from: DQuat, to: DQuat) -> DVec3 {
        let mut q = to * from.conjugate();
        if q.w < 0.0 {
            q = -q;
        }
        let axis = DVec3::new(q.x, q.y, q.z);
        let sin = axis.length();
        if sin < 1e-12 {
            return axis * 2.0;
        }
        axis * (2.0 * angle_over_sine(sin, q.w))
    }
    fn is_near_unit(rotation: DQuat) -> bool {
        (rotation.dot(rotation).sqrt() - 1.0).abs() <= 1e-3
    }
    #[inline]
    fn normalize(rotation: DQuat) -> DQuat {
        rotation * (1.0 / rotation.dot(rotation).sqrt())
    }
    fn quaternion(rotation: DQuat) -> [f64; 4] {
        rotation.to_array()
    }

    #[inline]
    fn basis(normal: DVec3) -> DMat3 {
        // The world axis least along the normal gives the best-conditioned tangent.
        let a = normal.abs();
        let axis = if a.x <= a.y && a.x <= a.z {
            DVec3::X
        } else if a.y <= a.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let t = normal.cross(axis);
        let t1 = t * (1.0 / t.length());
        DMat3::from_cols(normal, t1, normal.cross(t1))
    }
    #[inline]
    fn matrix(column: impl Fn(usize) -> DVec3) -> DMat3 {
        DMat3::from_cols(column(0), column(1), column(2))
    }
    #[inline]
    fn column(matrix: &DMat3, k: usize) -> DVec3 {
        match k {
            0 => matrix.x_axis,
            1 => matrix.y_axis,
            _ => matrix.z_axis,
        }
    }
    #[inline]
    fn to_world(basis: &DMat3, local: DVec3) -> DVec3 {
        basis.x_axis * local.x + basis.y_axis * local.y + basis.z_axis * local.z
    }
    #[inline]
    fn to_local(basis: &DMat3, world: DVec3) -> DVec3 {
        DVec3::new(
            basis.x_axis.dot(world),
            basis.y_axis.dot(world),
            basis.z_axis.dot(world),
        )
    }
    fn largest_eigenvalue(matrix: &DMat3) -> f64 {
        largest_eigenvalue_3x3(matrix)
    }
    #[inline]
    fn largest_tangent_eigenvalue(matrix: &DMat3) -> f64 {
        largest_eigenvalue_2x2(matrix.y_axis.y, matrix.y_axis.z, matrix.z_axis.z)
    }
}

/// The larger eigenvalue of `[[a, b], [b, c]]`.
#[inline]
fn largest_eigenvalue_2x2(a: f64, b: f64, c: f64) -> f64 {
    let mean = 0.5 * (a + c);
    let half_spread = 0.5 * (a - c);
    mean + (half_spread * half_spread + b * b).sqrt()
}

/// The largest eigenvalue of a symmetric 3×3 matrix by the trigonometric solution of its
/// characteristic cubic (O. K. Smith, *Eigenvalues of a symmetric 3 × 3 matrix*, CACM 1961).
fn largest_eigenvalue_3x3(m: &DMat3) -> f64 {
    let (xx, yy, zz) = (m.x_axis.x, m.y_axis.y, m.z_axis.z);
    let (xy, xz, yz) = (m.x_axis.y, m.x_axis.z, m.y_axis.z);
    let mean = (xx + yy + zz) / 3.0;
    let (dx, dy, dz) = (xx - mean, yy - mean, zz - mean);
    let off = xy * xy + xz * xz + yz * yz;
    let spread = ((dx * dx + dy * dy + dz * dz + 2.0 * off) / 6.0).sqrt();
    if spread <= 1e-15 * mean.abs() {
        return mean;
    }
    let det = dx * (dy * dz - yz * yz) - xy * (xy * dz - yz * xz) + xz * (xy * yz - dy * xz);
    let half_det = (0.5 * det / (spread * spread * spread)).clamp(-1.0, 1.0);
    mean + 2.0 * spread * libm::cos(libm::acos(half_det) / 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_by_a_full_circle_returns_to_the_start() {
        let mut q = DQuat::IDENTITY;
        let mut r = DRot2::IDENTITY;
        for _ in 0..1000 {
            q = D3::turn(
                q,
                DVec3::new(0.3, -0.2, 0.9).normalize() * (std::f64::consts::TAU / 1e3),
            );
            r = D2::turn(r, std::f64::consts::TAU / 1e3);
        }
        assert!((q.w.abs() - 1.0).abs() < 1e-12);
        assert!(D2::turn_between(DRot2::IDENTITY, r).abs() < 1e-12);
    }

    #[test]
    fn turn_between_inverts_turn() {
        let q = D3::turn(DQuat::IDENTITY, DVec3::new(0.4, 1.0, -0.3));
        let angle = DVec3::new(-1.2, 0.7, 0.5);
        assert!((D3::turn_between(q, D3::turn(q, angle)) - angle).length() < 1e-12);
    }

    #[test]
    fn series_of_small_turns_are_the_functions() {
        for k in 0..1000 {
            let x = 2e-4 * f64::from(k);
            let (sinc, cos) = sinc_and_cos(x * x);
            assert!((sinc * x - libm::sin(x)).abs() < 3e-17 + 2e-16 * x, "{x}");
            assert!((cos - libm::cos(x)).abs() < 3e-16, "{x}");
            let angle = angle_over_sine(libm::sin(x), libm::cos(x)) * libm::sin(x);
            assert!(k == 0 || (angle / x - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn bases_are_orthonormal_and_right_handed() {
        for n in [
            DVec3::X,
            -DVec3::Y,
            DVec3::Z,
            DVec3::new(1.0, -2.0, 0.5).normalize(),
        ] {
            let b = D3::basis(n);
            assert!((b.determinant() - 1.0).abs() < 1e-12);
            assert!((b.transpose() * b - DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-12));
        }
    }

    #[test]
    fn largest_eigenvalues_bound_the_rayleigh_quotient_and_reach_it() {
        let m = DMat3::from_cols(
            DVec3::new(3.0, 0.4, -0.2),
            DVec3::new(0.4, 2.0, 0.9),
            DVec3::new(-0.2, 0.9, 5.0),
        );
        let lambda = D3::largest_eigenvalue(&m);
        // det(M − λ I) = 0, and no eigenvalue is larger: M − (λ + ε) I is negative definite.
        assert!((m - DMat3::IDENTITY * lambda).determinant().abs() < 1e-10);
        let mut x = DVec3::ONE;
        for _ in 0..200 {
            x = (m * x).normalize();
        }
        assert!((x.dot(m * x) - lambda).abs() < 1e-10);
    }
}
