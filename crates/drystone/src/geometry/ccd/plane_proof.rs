//! Separation proof of one plane, with a margin for rounding.
//!
//! The notation and the bound are derived in the [module documentation](super).

use crate::math::algebra::Components;

/// Half of the distance from 1 to the next number: the unit roundoff u.
const ROUNDOFF: f64 = 0.5 * f64::EPSILON;

/// The rounding margin in units of u R, derived in the [module documentation](super).
const MARGIN: f64 = 17.0;

/// Squares of lengths in this range neither overflow nor underflow; others are scaled into it.
const COMFORTABLE: std::ops::Range<f64> = 1e-100..1e100;

/// Corner differences W of two moving primitives: their hull holds the origin when they touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Differences<V, const K: usize> {
    /// Differences at t = 0, each rounded once.
    pub(super) start: [V; K],
    /// Differences at t = 1, each rounded once.
    pub(super) end: [V; K],
}

/// A query that plain boxes could not answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<V, const K: usize> {
    /// The corner differences.
    pub(super) corners: Differences<V, K>,
    /// What a plane must show as gap to prove that the separation is kept: s + 17 u R.
    pub(super) level: f64,
    /// The end of the motion, 0 to 1.
    pub(super) t_max: f64,
}

/// What boxes know.
#[derive(Clone, Copy, Debug)]
pub(super) enum Prepared<V, const K: usize> {
    /// A coordinate axis separates the primitives all the way.
    Apart,
    /// Numbers that are not finite prove nothing.
    Unprovable,
    /// Planes must decide.
    Open(Query<V, K>),
}

impl<V: Components, const K: usize> Differences<V, K> {
    /// Tests the coordinate axes as separating directions and derives the margin.
    #[inline]
    pub(super) fn prepare(self, separation: f64, t_max: f64) -> Prepared<V, K> {
        let mut lower = self.start[0];
        let mut upper = lower;
        // What is no number or infinite stays so in a sum, but gets lost in a minimum.
        let mut sum = V::default();
        for k in 0..K {
            sum += self.start[k] + self.end[k];
            lower = lower.lower(self.start[k]).lower(self.end[k]);
            upper = upper.upper(self.start[k]).upper(self.end[k]);
        }
        if !sum.is_finite() {
            return self.scaled(separation, t_max);
        }
        // Rounding is monotone: a rounded difference above s means an exact one above s.
        let nearest = lower.upper(-upper).to_array3();
        if nearest.iter().any(|&gap| gap > separation) {
            return Prepared::Apart;
        }
        let reach = (-lower).upper(upper).length();
        if COMFORTABLE.contains(&reach) {
            return Prepared::Open(Query {
                corners: self,
                level: level(separation, reach),
                t_max,
            });
        }
        self.scaled(separation, t_max)
    }

    /// [`prepare`](Self::prepare) for very large or very small differences: multiplied by a
    /// power of two, which rounds nothing that matters beside u R.
    #[cold]
    fn scaled(self, separation: f64, t_max: f64) -> Prepared<V, K> {
        let corners = self.start.iter().chain(&self.end);
        let largest = corners.clone().flat_map(|w| w.to_array3());
        let largest = largest.fold(0.0, |most: f64, x| most.max(x.abs()));
        if !corners.clone().all(|w| w.is_finite()) || largest == 0.0 {
            return Prepared::Unprovable;
        }
        let exponent = libm::ilogb(largest).clamp(-1000, 1000);
        let factor = libm::ldexp(1.0, -exponent);
        let scaled = |w: &[V; K]| w.map(|w| w * factor);
        let corners = Self {
            start: scaled(&self.start),
            end: scaled(&self.end),
        };
        // All corners are now shorter than 2⁷⁵ √3, and the longest not below 2⁻⁷⁵.
        let reach = corners
            .start
            .iter()
            .chain(&corners.end)
            .fold(0.0, |most: f64, w| most.max(w.length()));
        Prepared::Open(Query {
            corners,
            level: level(separation * factor, reach),
            t_max,
        })
    }
}

fn level(separation: f64, reach: f64) -> f64 {
    separation + MARGIN * ROUNDOFF * reach
}

/// A direction n with the components of all corners along it, which are linear in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane<const K: usize> {
    at_start: [f64; K],
    at_end: [f64; K],
}

impl<V: Components, const K: usize> Query<V, K> {
    /// The corners at a time, for choosing directions; no proof rests on them.
    #[inline]
    pub(super) fn at(&self, t: f64) -> [V; K] {
        std::array::from_fn(|k| {
            let (from, to) = (self.corners.start[k], self.corners.end[k]);
            from * (1.0 - t) + to * t
        })
    }

    /// The plane across a unit vector.
    #[inline]
    pub(super) fn plane(&self, direction: V) -> Plane<K> {
        Plane {
            at_start: std::array::from_fn(|k| direction.dot(self.corners.start[k])),
            at_end: std::array::from_fn(|k| direction.dot(self.corners.end[k])),
        }
    }
}

impl<const K: usize> Plane<K> {
    #[inline]
    fn corner(&self, k: usize, t: f64) -> f64 {
        self.at_start[k] + t * (self.at_end[k] - self.at_start[k])
    }

    /// The gap between the origin and the hull at a time.
    #[inline]
    pub(super) fn gap(&self, t: f64) -> f64 {
        (0..K).fold(f64::INFINITY, |least, k| least.min(self.corner(k, t)))
    }

    /// The first time after one with a larger gap at which the gap falls to `level`, if that is
    /// before `t_max`.
    #[inline]
    pub(super) fn falls_to(&self, level: f64, t_max: f64) -> Option<f64> {
        // Written so that what is no number falls at once.
        if self.gap(t_max) > level {
            return None;
        }
        let mut first = t_max;
        for k in 0..K {
            let closing = self.at_start[k] - self.at_end[k];
            if closing > 0.0 {
                first = first.min((self.at_start[k] - level) / closing);
            }
        }
        Some(first)
    }

    /// Whether the direction that goes linearly from this plane's at time `from` to that of
    /// `other` at time `to` separates all the way: the Bernstein coefficients of every corner's
    /// component, a quadratic in time, are above the level.
    #[inline]
    pub(super) fn turns_into(&self, from: f64, other: &Self, to: f64, level: f64) -> bool {
        (0..K).all(|k| {
            let crossed = 0.5 * (self.corner(k, to) + other.corner(k, from));
            self.corner(k, from) > level && crossed > level && other.corner(k, to) > level
        })
    }
}
