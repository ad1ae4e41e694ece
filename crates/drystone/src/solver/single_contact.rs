//! The law of one contact, solved exactly while all other impulses stand still.
//!
//! # The problem
//!
//! One contact sees its own diagonal block $W = A_{ii}$ (1/kg) and the velocity $q$ (m/s) it
//! would have without its own impulse. Find r with
//!
//! $$ u = W r + q, \qquad 0 \le r_N \perp u_N \ge 0, \qquad
//!    \lVert r_T\rVert \le \mu r_N, \quad
//!    u_T \ne 0 \Rightarrow r_T = -\mu r_N\, u_T/\lVert u_T\rVert . $$
//!
//! # The cases
//!
//! * **open**, $q_N \ge 0$: $r = 0$.
//! * Otherwise the contact presses and $u_N = 0$, so that $r_N = -(q_N + w\cdot r_T)/W_{NN}$ with
//!   $w = W_{TN}$. What is left is in the tangent plane: with the Schur complement
//!   $S = W_{TT} - w w^T/W_{NN}$ and $b = q_T - w\, q_N/W_{NN}$ (the slip that a frictionless
//!   contact would have) the slip is $u_T = S r_T + b$, and friction that opposes it reads
//!   $u_T = -\lambda r_T$ with a multiplier λ ≥ 0 in 1/kg:
//!
//! $$ r_T(\lambda) = -(S + \lambda I)^{-1} b, \qquad
//!    r_N(\lambda) = -\frac{q_N + w\cdot r_T(\lambda)}{W_{NN}} . $$
//!
//! * **stick**, λ = 0, if $\lVert r_T(0)\rVert \le \mu r_N(0)$.
//! * **slide**: the λ > 0 at which $\lVert r_T\rVert = \mu r_N$. In the eigenbasis of S a value
//!   costs a few operations. At λ = 0 the quotient $\mu r_N/\lVert r_T\rVert$ is below 1 (the
//!   contact does not stick), for λ → ∞ it grows without bound, because $r_T \to 0$ and
//!   $r_N \to -q_N/W_{NN} > 0$. So **a sliding solution always exists where W is positive
//!   definite**, however large μ: Painlevé's paradox is one of accelerations, not of impulses.
//!   The quotient is nearly linear in λ (as in trust-region methods), so Newton's method finds
//!   the root in a few steps; a bracket keeps it from leaving.
//!
//! In the plane S and b are numbers and $r_T$ has the sign of −b: the root is
//! $r_N = -q_N/(W_{NN} - \mu w\,\mathrm{sign}\,b)$, in closed form.
//!
//! # Where it fails
//!
//! W may be singular: a body with locked axes, a contact that only turns a rod. Then the block
//! can be wedged, with neither a sticking nor a sliding answer; [`LocalContact::exact`] says
//! `None`, and the caller takes [`LocalContact::projected`], the step of projected Gauss-Seidel,
//! which is always defined. Where W is definite but μ is large there can be several answers
//! (all of them right); which one is returned depends on W, q and μ alone.
//!
//! The local problem and its reduction are those of O. Bonnefon and G. Daviet, *Quartic
//! formulation of Coulomb 3D frictional contact* (2011), who solve a quartic instead.

use crate::contact::problem::tangential;
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};

/// Which case of the law holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The contact separates and nothing presses.
    Open,
    /// It presses and does not slip.
    Stick,
    /// It presses and slips against full friction.
    Slide,
}

/// A contact's diagonal block, prepared for being solved many times.
#[derive(Clone, Copy, Debug)]
pub struct LocalContact<S: Space> {
    /// W, 1/kg.
    block: S::Matrix,
    /// Coulomb's μ.
    mu: f64,
    /// ρ = 1/λmax(W) in kg: the step of the natural map.
    rho: f64,
    /// 1/W_NN in kg, 0 where nothing can be pushed.
    inv_nn: f64,
    /// 1/λmax(W_TT) in kg: the step of the projected solve.
    tangent_step: f64,
    /// Eigenvalues of S, 1/kg; 0 where they are below rounding. The second is 1 in the plane.
    spectrum: [f64; 2],
    /// Cosine and sine that turn tangents into the eigenbasis of S.
    turn: [f64; 2],
    /// w/W_NN in the eigenbasis: how much less normal impulse a tangential one needs.
    lever: [f64; 2],
}

/// Eigenvalues of S below this part of what was subtracted to get them are rounding.
const SINGULAR: f64 = 1e-14;

impl<S: Space> LocalContact<S> {
    /// Prepares a positive semi-definite block.
    ///
    /// A block from elsewhere may be symmetric to a few digits only. Its symmetric part is taken,
    /// in [`Self::free`] as in [`Self::exact`]: then an impulse that a sweep leaves as it is
    /// fulfils the law with the velocity as it is, whatever the block.
    #[must_use]
    pub fn new(block: S::Matrix, mu: f64) -> Self {
        let unit = |k: usize| S::Vector::default().with_component(k, 1.0);
        let block = S::matrix(|k| (S::column(&block, k) + S::to_local(&block, unit(k))) * 0.5);
        // A contact between bodies that nothing moves has no answer and needs none.
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let [n, t1, t2] = [0, 1, 2].map(|k| {
            if k < S::DIM {
                S::column(&block, k).to_array3()
            } else {
                [0.0; 3]
            }
        });
        let inv_nn = inverse(n[0]);
        let largest = S::largest_eigenvalue(&block);
        let xx = t1[1] - n[1] * n[1] * inv_nn;
        let xy = t1[2] - n[1] * n[2] * inv_nn;
        let yy = t2[2] - n[2] * n[2] * inv_nn;
        let (spectrum, turn) = eigen(xx, xy, yy);
        let lever = turned([n[1] * inv_nn, n[2] * inv_nn], turn);
        // S is the difference of W_TT and w wᵀ/W_NN: less than their rounding is nothing. Each
        // direction is compared with itself, since axes may differ by many orders of magnitude.
        let keep = |k: usize| {
            let taken_off = lever[k] * lever[k] * n[0];
            let is_rounding = spectrum[k] <= SINGULAR * taken_off;
            if is_rounding { 0.0 } else { spectrum[k] }
        };
        let second = if S::DIM == 2 { 1.0 } else { keep(1) };
        Self {
            block,
            mu,
            rho: inverse(largest).max(f64::MIN_POSITIVE),
            inv_nn,
            tangent_step: inverse(S::largest_tangent_eigenvalue(&block)),
            spectrum: [keep(0), second],
            turn,
            lever,
        }
    }

    /// ρ = 1/λmax(W), kg.
    #[must_use]
    #[inline]
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// Coulomb's μ.
    #[must_use]
    #[inline]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// Whether neither side can be moved: then there is no law to fulfil.
    #[must_use]
    #[inline]
    pub fn is_immovable(&self) -> bool {
        self.inv_nn <= 0.0 && self.tangent_step <= 0.0
    }

    /// The velocity without the contact's own impulse: q = u − W r.
    #[must_use]
    #[inline]
    pub fn free(&self, r: S::Vector, u: S::Vector) -> S::Vector {
        u - S::to_world(&self.block, r)
    }

    /// The impulse that fulfils the law for the free velocity `q`; `None` where a singular block
    /// has no answer or rounding hides it.
    #[must_use]
    #[inline]
    pub fn exact(&self, q: S::Vector) -> Option<(S::Vector, Regime)> {
        let q_n = q.component(0);
        if q_n >= 0.0 {
            return Some((S::Vector::default(), Regime::Open));
        }
        if self.inv_nn <= 0.0 {
            return None;
        }
        // r_N and slip of a frictionless contact.
        let pressed = -q_n * self.inv_nn;
        let by_normal = tangential(S::column(&self.block, 0));
        let b = tangential(q) + by_normal * pressed;
        let b = turned([b.component(1), b.component(2)], self.turn);
        let (normal, tangent, regime) = if self.mu <= 0.0 {
            (pressed, [0.0; 2], Regime::Slide)
        } else if let Some((normal, tangent)) = self.stick(pressed, b) {
            (normal, tangent, Regime::Stick)
        } else {
            let (normal, tangent) = if S::DIM == 2 {
                self.slide_in_plane(pressed, b[0])?
            } else {
                self.slide_in_space(pressed, b)?
            };
            (normal, tangent, Regime::Slide)
        };
        let [c, s] = self.turn;
        let tangent = turned(tangent, [c, -s]);
        let r = S::Vector::default()
            .with_component(0, normal)
            .with_component(1, tangent[0])
            .with_component(2, tangent[1]);
        (r.is_finite() && normal >= 0.0).then_some((r, regime))
    }

    /// The step of projected Gauss-Seidel from impulse `r` with velocity `u` (r included): the
    /// normal first, then one step in the tangent plane, projected on the disk.
    #[must_use]
    #[inline]
    pub fn projected(&self, r: S::Vector, u: S::Vector) -> S::Vector {
        let normal = (r.component(0) - self.inv_nn * u.component(0)).max(0.0);
        // The tangents see the new normal impulse at once.
        let u = u + S::column(&self.block, 0) * (normal - r.component(0));
        let mut tangent = tangential(r) - tangential(u) * self.tangent_step;
        let most = self.mu * normal;
        let length_squared = tangent.dot(tangent);
        if length_squared > most * most {
            tangent = tangent * (most / length_squared.sqrt());
        }
        tangent.with_component(0, normal)
    }

    /// λ = 0, if it stays within the cone.
    #[inline]
    fn stick(&self, pressed: f64, b: [f64; 2]) -> Option<(f64, [f64; 2])> {
        let (normal, tangent) = self.at(0.0, pressed, b);
        // Written so that NaN (0/0 of a singular block) does not stick.
        (length(tangent) <= self.mu * normal).then_some((normal, tangent))
    }

    /// r_N and r_T for a multiplier λ.
    #[inline]
    fn at(&self, lambda: f64, pressed: f64, b: [f64; 2]) -> (f64, [f64; 2]) {
        let part = |k: usize| {
            if b[k] == 0.0 {
                0.0
            } else {
                -b[k] / (self.spectrum[k] + lambda)
            }
        };
        let tangent = [part(0), part(1)];
        (pressed - dot(self.lever, tangent), tangent)
    }

    /// Friction opposes b: nothing is left to find.
    #[inline]
    fn slide_in_plane(&self, pressed: f64, b: f64) -> Option<(f64, [f64; 2])> {
        let against = -self.mu.copysign(b);
        let share = 1.0 + self.lever[0] * against;
        let normal = pressed / share;
        (share > 0.0).then_some((normal, [against * normal, 0.0]))
    }

    /// The root λ of μ r_N/‖r_T‖ = 1: see the [module documentation](self).
    fn slide_in_space(&self, pressed: f64, b: [f64; 2]) -> Option<(f64, [f64; 2])> {
        // Here ‖b‖/λ bounds ‖r_T‖ and what r_T takes off r_N, so the quotient is over 1.
        let most = length(b) * (1.0 + self.mu * length(self.lever)) / (self.mu * pressed);
        let (mut low, mut high) = (0.0, most);
        let mut lambda = if self.spectrum[0].min(self.spectrum[1]) > 0.0 {
            0.0
        } else {
            0.5 * most
        };
        for _ in 0..MOST_STEPS {
            let (normal, tangent) = self.at(lambda, pressed, b);
            let size = length(tangent);
            let excess = self.mu * normal / size - 1.0;
            if excess.abs() <= ROUNDING || high - low <= f64::EPSILON * high {
                // A jump of a singular block is no root.
                let is_root = excess.abs() <= GOOD_ROOT && normal > 0.0;
                let scale = self.mu * normal / size;
                return is_root.then_some((normal, tangent.map(|t| t * scale)));
            }
            if excess > 0.0 {
                high = lambda;
            } else {
                low = lambda;
            }
            let [x, y] = [0, 1].map(|k| -tangent[k] / (self.spectrum[k] + lambda));
            let size_rate = dot(tangent, [x, y]) / size;
            let normal_rate = -dot(self.lever, [x, y]);
            let rate = self.mu * (normal_rate - normal * size_rate / size) / size;
            let newton = lambda - excess / rate;
            lambda = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
        }
        None
    }
}

/// Newton and bisection steps before the local solve gives up.
const MOST_STEPS: u32 = 100;
/// Relative distance from the cone that rounding leaves.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Relative distance from the cone that still counts as a root when the bracket has closed.
const GOOD_ROOT: f64 = 1e-10;

#[inline]
fn dot(x: [f64; 2], y: [f64; 2]) -> f64 {
    x[0] * y[0] + x[1] * y[1]
}

#[inline]
fn length(x: [f64; 2]) -> f64 {
    dot(x, x).sqrt()
}

/// A tangent in the axes turned by an angle of the given cosine and sine.
#[inline]
fn turned(x: [f64; 2], [c, s]: [f64; 2]) -> [f64; 2] {
    [c * x[0] + s * x[1], c * x[1] - s * x[0]]
}

/// Eigenvalues of `[[xx, xy], [xy, yy]]` and the cosine and sine of the first's direction, by one
/// Jacobi rotation.
fn eigen(xx: f64, xy: f64, yy: f64) -> ([f64; 2], [f64; 2]) {
    if xy == 0.0 {
        return ([xx, yy], [1.0, 0.0]);
    }
    let cot = (xx - yy) / (2.0 * xy);
    let tan = 1.0_f64.copysign(cot) / (cot.abs() + (1.0 + cot * cot).sqrt());
    let cos = 1.0 / (1.0 + tan * tan).sqrt();
    ([xx + tan * xy, yy - tan * xy], [cos, tan * cos])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::residual::natural_map;
    use crate::math::algebra::{D2, D3};
    use glamx::{DMat2, DMat3, DVec2, DVec3};
    use proptest::prelude::*;

    /// The natural map as a part of the velocities that enter: q and W r.
    fn relative_residual<S: Space>(block: S::Matrix, q: S::Vector, mu: f64) -> (f64, Regime) {
        let contact = LocalContact::<S>::new(block, mu);
        let (r, regime) = contact.exact(q).expect("a definite block has an answer");
        let u = q + S::to_world(&block, r);
        let error = natural_map(r, u, mu, contact.rho()).length() / contact.rho();
        (error / (q.length() + r.length() / contact.rho()), regime)
    }

    fn numbers<const N: usize>() -> impl Strategy<Value = [f64; N]> {
        prop::collection::vec(-1.0..1.0, N).prop_map(|v| std::array::from_fn(|k| v[k]))
    }

    /// L Lᵀ with axes of very different stiffness.
    fn block3(l: [f64; 9], exponents: [f64; 3]) -> DMat3 {
        let scale = DVec3::from_array(exponents.map(|e| libm::exp10(3.0 * e)));
        let l = DMat3::from_cols_array(&l) + DMat3::IDENTITY;
        DMat3::from_diagonal(scale) * l * l.transpose() * DMat3::from_diagonal(scale)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_law_holds_in_space(
            l in numbers(), q in numbers(), mu in 0.0..5.0, e in numbers(), size in -6.0..6.0
        ) {
            let block = block3(l, e) * libm::exp10(size);
            prop_assume!(block.determinant() > 0.0);
            let (error, _) = relative_residual::<D3>(block, DVec3::from_array(q), mu);
            prop_assert!(error < 1e-10, "{error:e}");
        }

        #[test]
        fn the_law_holds_in_the_plane(
            l in numbers(), q in numbers(), mu in 0.0..5.0, e in -3.0..3.0, size in -6.0..6.0
        ) {
            let l = DMat2::from_cols_array(&l) + DMat2::IDENTITY;
            let scale = DMat2::from_diagonal(DVec2::new(1.0, libm::exp10(e)));
            let block = scale * l * l.transpose() * scale * libm::exp10(size);
            prop_assume!(block.determinant() > 1e-12 * block.x_axis.x * block.y_axis.y);
            let (error, _) = relative_residual::<D2>(block, DVec2::from_array(q), mu);
            prop_assert!(error < 1e-10, "{error:e}");
        }

        /// Where the answer is unique (μ‖w‖ < the least eigenvalue), thousands of projected
        /// gradient steps find the same.
        #[test]
        fn brute_force_agrees(l in numbers(), q in numbers(), mu in 0.0..0.3) {
            let l = DMat3::from_cols_array(&l) * 0.3 + DMat3::IDENTITY;
            let block = l * l.transpose();
            let q = DVec3::from_array(q);
            let contact = LocalContact::<D3>::new(block, mu);
            let (exact, _) = contact.exact(q).expect("definite");
            let mut r = DVec3::ZERO;
            for _ in 0..20_000 {
                r -= natural_map(r, block * r + q, mu, 0.5 * contact.rho());
            }
            prop_assert!((r - exact).length() < 1e-8 * (1.0 + exact.length()), "{r} {exact}");
        }

        /// In the plane the cases can be tried one by one.
        #[test]
        fn enumeration_agrees_in_the_plane(l in numbers(), q in numbers(), mu in 0.0..5.0) {
            let l = DMat2::from_cols_array(&l) + DMat2::IDENTITY;
            let block = l * l.transpose();
            prop_assume!(block.determinant() > 1e-3);
            let q = DVec2::from_array(q);
            let (exact, _) = LocalContact::<D2>::new(block, mu).exact(q).expect("definite");
            let stick = -(block.inverse() * q);
            let slide = |e: f64| {
                let n = -q.x / (block.x_axis.x - mu * e * block.x_axis.y);
                DVec2::new(n, -mu * e * n)
            };
            let nearest = [DVec2::ZERO, stick, slide(1.0), slide(-1.0)]
                .into_iter()
                .filter(|&r| natural_map(r, block * r + q, mu, 1.0).length() < 1e-9)
                .map(|r| (r - exact).length())
                .fold(f64::INFINITY, f64::min);
            prop_assert!(nearest < 1e-9, "{nearest}");
        }

        #[test]
        fn singular_blocks_give_an_answer_of_the_law_or_none(
            l in numbers::<6>(), q in numbers(), mu in 0.0..5.0
        ) {
            let l = [0, 2, 4].map(|k| DVec3::new(l[k], l[k + 1], 0.0));
            let l = DMat3::from_cols(l[0], l[1], l[2]).transpose();
            let block = l * l.transpose();
            let contact = LocalContact::<D3>::new(block, mu);
            let q = DVec3::from_array(q);
            if let Some((r, _)) = contact.exact(q) {
                let u = q + block * r;
                let error = natural_map(r, u, mu, contact.rho()).length() / contact.rho();
                prop_assert!(error < 1e-8 * (q.length() + r.length() / contact.rho()));
            }
        }
    }

    #[test]
    fn every_regime_occurs() {
        let block = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0));
        let regime = |q| relative_residual::<D3>(block, q, 0.5).1;
        assert_eq!(regime(DVec3::new(0.1, 1.0, 1.0)), Regime::Open);
        assert_eq!(regime(DVec3::new(-1.0, 0.1, 0.1)), Regime::Stick);
        assert_eq!(regime(DVec3::new(-1.0, 5.0, -3.0)), Regime::Slide);
    }

    /// Friction so strong that the rod of Painlevé's paradox has no consistent acceleration: the
    /// impulse exists.
    #[test]
    fn a_wedged_rod_has_an_impulse() {
        let (sin, cos) = (2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt());
        // Arm of a uniform rod of half-length 1 and mass 1, inverse inertia 3.
        let block = DMat2::from_cols(
            DVec2::new(1.0 + 3.0 * cos * cos, 3.0 * sin * cos),
            DVec2::new(3.0 * sin * cos, 1.0 + 3.0 * sin * sin),
        );
        for slip in [-1.0, 1.0] {
            for mu in [0.5, 4.0 / 3.0, 2.0, 5.0] {
                let (error, _) = relative_residual::<D2>(block, DVec2::new(-0.1, slip), mu);
                assert!(error < 1e-14, "{error:e}");
            }
        }
    }

    #[test]
    fn nothing_moves_what_cannot_move() {
        let contact = LocalContact::<D3>::new(DMat3::ZERO, 0.5);
        assert!(contact.exact(DVec3::new(-1.0, 0.0, 0.0)).is_none());
        let r = contact.projected(DVec3::ZERO, DVec3::new(-1.0, 2.0, 0.0));
        assert_eq!(r, DVec3::ZERO);
    }
}
