//! The algebra of the second-order cone, one contact at a time.
//!
//! Coulomb's cone $\lVert r_T\rVert \le \mu r_N$ becomes the self-dual Lorentz cone
//! $\lVert x_T\rVert \le x_0$ by $x = (\mu r_N, r_T)$; the dual variable is then
//! $z = (\tilde u_N/\mu, \tilde u_T)$ with the same scalar product $x \cdot z = r\cdot\tilde u$.
//! The cone has a product $x \circ z = (x\cdot z,\ x_0 z_T + z_0 x_T)$ with unit
//! $e = (1, 0)$, a determinant $x_0^2 - \lVert x_T\rVert^2$, and for every pair of inner points a
//! symmetric **scaling** W (Nesterov and Todd) with
//!
//! $$ W x = W^{-1} z = \lambda, \qquad W = \sqrt\theta\,(2 h h^T - Q), \quad
//!    Q = \mathrm{diag}(1, -1, -1), $$
//!
//! so that $W^2 x = z$. Both W and its inverse cost a scalar product to apply.
//!
//! Source: F. Alizadeh, D. Goldfarb, *Second-order cone programming*, Math. Program. 95 (2003).

use crate::contact::problem::tangential;
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};

/// The unit e of the product.
#[inline]
pub(crate) fn unit<V: Components>() -> V {
    V::default().with_component(0, 1.0)
}

/// Q x: the tangential part turned round.
#[inline]
pub(crate) fn reflect<V: Components>(x: V) -> V {
    (-x).with_component(0, x.component(0))
}

/// x₀² − ‖x_T‖²; positive inside the cone (and its mirror image).
#[inline]
pub(crate) fn determinant<V: Components>(x: V) -> f64 {
    let length = tangential(x).length();
    (x.component(0) - length) * (x.component(0) + length)
}

/// x ∘ z.
#[inline]
pub(crate) fn product<V: Components>(x: V, z: V) -> V {
    (tangential(z) * x.component(0) + tangential(x) * z.component(0)).with_component(0, x.dot(z))
}

/// The y with λ ∘ y = b, for λ inside the cone.
#[inline]
pub(crate) fn divide<V: Components>(lambda: V, b: V) -> V {
    let (l, b_0) = (lambda.component(0), b.component(0));
    let across = tangential(lambda).dot(b);
    let y_0 = (l * b_0 - across) / determinant(lambda);
    ((tangential(b) - tangential(lambda) * y_0) * (1.0 / l)).with_component(0, y_0)
}

/// The largest t ≥ 0 with x + t d in the cone, for x inside it; infinite if there is none.
pub(crate) fn longest_step<V: Components>(x: V, d: V) -> f64 {
    // det(x + t d) = a t² + 2 b t + c has its first positive root where the ray leaves.
    let a = determinant(d);
    let b = x.component(0) * d.component(0) - tangential(x).dot(tangential(d));
    let c = determinant(x);
    let discriminant = b * b - a * c;
    let mut longest = f64::INFINITY;
    let mut root = |t: f64| {
        if t > 0.0 && t < longest {
            longest = t;
        }
    };
    if discriminant >= 0.0 {
        // The two forms that do not cancel.
        let w = -(b + discriminant.sqrt().copysign(b));
        root(c / w);
        root(w / a);
    }
    if d.component(0) < 0.0 {
        root(-x.component(0) / d.component(0));
    }
    longest
}

/// ½ (y + √(y² + 4 g e)) in the cone's algebra: the projection of y on the cone as g goes to 0,
/// and inside the cone for g > 0.
pub(crate) fn smoothed_projection<V: Components>(y: V, g: f64) -> V {
    let tangent = tangential(y);
    let length = tangent.length();
    // (s + √(s² + 4g))/2, without cancellation.
    let smooth = |s: f64| {
        let root = (s * s + 4.0 * g).sqrt();
        if s >= 0.0 {
            0.5 * (s + root)
        } else {
            2.0 * g / (root - s)
        }
    };
    let upper = smooth(y.component(0) + length);
    let lower = smooth(y.component(0) - length);
    let along = if length > 0.0 {
        tangent * (0.5 * (upper - lower) / length)
    } else {
        tangent
    };
    along.with_component(0, 0.5 * (upper + lower))
}

/// The scaling W of a pair of inner points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaling<S: Space> {
    /// √θ.
    root: f64,
    /// h, with determinant 1.
    h: S::Vector,
    /// w = h ∘ h, with determinant 1: W² = θ (2 w wᵀ − Q).
    w: S::Vector,
}

impl<S: Space> Scaling<S> {
    pub(crate) fn new(x: S::Vector, z: S::Vector) -> Self {
        let (size_x, size_z) = (size(x), size(z));
        let (x, z) = (x * (1.0 / size_x), z * (1.0 / size_z));
        let gamma = (0.5 * (1.0 + x.dot(z))).sqrt();
        let w = (z + reflect(x)) * (0.5 / gamma);
        let h = (w + unit()) * (1.0 / (2.0 * (w.component(0) + 1.0)).sqrt());
        Self {
            root: (size_z / size_x).sqrt(),
            h,
            w,
        }
    }

    /// W v.
    #[inline]
    pub(crate) fn apply(&self, v: S::Vector) -> S::Vector {
        (self.h * (2.0 * self.h.dot(v)) - reflect(v)) * self.root
    }

    /// W⁻¹ v.
    #[inline]
    pub(crate) fn apply_inverse(&self, v: S::Vector) -> S::Vector {
        let h = reflect(self.h);
        (h * (2.0 * h.dot(v)) - reflect(v)) * (1.0 / self.root)
    }

    /// W² v.
    #[inline]
    pub(crate) fn square(&self, v: S::Vector) -> S::Vector {
        let theta = self.root * self.root;
        (self.w * (2.0 * self.w.dot(v)) - reflect(v)) * theta
    }

    /// W⁻² v.
    #[inline]
    pub(crate) fn inverse_square(&self, v: S::Vector) -> S::Vector {
        let w = reflect(self.w);
        (w * (2.0 * w.dot(v)) - reflect(v)) * (1.0 / (self.root * self.root))
    }
}

/// √det, kept above 0 for points that rounding puts on the surface.
fn size<V: Components>(x: V) -> f64 {
    let least = 1e-15 * x.component(0).abs();
    determinant(x)
        .max(least * least)
        .sqrt()
        .max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use glamx::DVec3;

    const X: DVec3 = DVec3::new(1.3, 0.4, -0.9);
    const Z: DVec3 = DVec3::new(0.7, 0.5, 0.3);

    #[test]
    fn the_scaling_takes_both_points_to_one() {
        let w = Scaling::<D3>::new(X, Z);
        let lambda = w.apply(X);
        assert!((lambda - w.apply_inverse(Z)).length() < 1e-14);
        assert!((w.square(X) - Z).length() < 1e-14);
        assert!((w.inverse_square(Z) - X).length() < 1e-14);
        assert!((w.apply_inverse(lambda) - X).length() < 1e-14);
        assert!((lambda.dot(lambda) - X.dot(Z)).abs() < 1e-14);
    }

    #[test]
    fn the_smoothed_projection_splits_a_point_into_a_centred_pair() {
        for y in [DVec3::new(0.2, 1.0, -0.4), -X, Z, DVec3::new(0.3, 0.0, 0.0)] {
            let (g, x) = (1e-3, smoothed_projection(y, 1e-3));
            let z = smoothed_projection(-y, g);
            assert!((x - z - y).length() < 1e-14, "{y}");
            assert!(
                (product(x, z) - unit::<DVec3>() * g).length() < 1e-15,
                "{y}"
            );
            assert!(determinant(x) > 0.0 && x.x > 0.0);
        }
    }

    #[test]
    fn division_undoes_the_product() {
        assert!((divide(X, product(X, Z)) - Z).length() < 1e-14);
        assert_eq!(product(X, unit()), X);
    }

    #[test]
    fn the_longest_step_ends_on_the_surface() {
        for d in [
            DVec3::new(-1.0, 0.0, 0.0),
            DVec3::new(0.1, 1.0, 0.3),
            DVec3::new(-2.0, 0.8, -0.8),
            DVec3::new(0.6, 0.0, -1.0),
        ] {
            let t = longest_step(X, d);
            assert!(determinant(X + d * t).abs() < 1e-12, "{d}");
            assert!((X + d * t).x >= 0.0);
            assert!(determinant(X + d * (0.5 * t)) > 0.0);
        }
        assert_eq!(longest_step(X, DVec3::new(1.0, 0.3, 0.2)), f64::INFINITY);
        // Along the surface it never leaves.
        assert_eq!(longest_step(X, DVec3::new(1.0, 1.0, 0.0)), f64::INFINITY);
        assert_eq!(longest_step(X, DVec3::ZERO), f64::INFINITY);
    }
}
