//! Continuous collision detection: when moving points, edges and faces first meet.
//!
//! [`vertex_face`] and [`edge_edge`] in space, [`point_edge`] and [`point_point`] in the plane
//! and in space. Corners move on straight lines from `start` at t = 0 to `end` at t = 1. `None`
//! **proves** that the two stay farther apart than the separation all the way; a
//! [`TimeOfImpact`] says how far the motion is proven to be free. Answers may err on the side of
//! a hit, never on the side of a miss, whatever the rounding. [`broad_phase`] finds the pairs worth
//! asking about, [`distance`] closest points.
//!
//! # One problem for all primitives
//!
//! Two primitives with corners $a_i$ and $b_j$ are nearer than s exactly if the convex
//! hull of the corner differences
//!
//! $$ W_k(t) = b_j(t) - a_i(t) = (1-t)\,W_k(0) + t\,W_k(1) $$
//!
//! is nearer than s to the origin: a triangle for a vertex and a face, a parallelogram for two
//! edges, a segment for a point and an edge, a point for two points. Differences do not change
//! when everything moves along together, so neither a common motion nor a far origin costs
//! anything.
//!
//! # What a plane proves
//!
//! Along any vector n the components $f_k(t) = n\cdot W_k(t)$ are linear in time, and
//!
//! $$ \min_k f_k(t) > s\,|n| \quad\Longrightarrow\quad \text{the primitives are farther apart
//!    than } s \text{ at } t . $$
//!
//! The coordinate axes are tried first: they are the swept boxes, seen from each other. Then
//! **additive advancement** goes on with the n towards the hull's nearest point: nothing happens
//! until the first f falls to s, at
//!
//! $$ t' = \min_k \frac{f_k(0) - s}{f_k(0) - f_k(1)} , $$
//!
//! where the next n is taken, and so on. With n towards the nearest point at distance d every
//! $f_k(t) \ge d$, and f falls at most as fast as the corners approach each other, so this
//! step is never shorter than the $(d - s) / \sum v$ of additive CCD by speeds (Li, Kaufman
//! and Jiang, *Codimensional incremental potential contact*, 2021), from which the scheme is
//! taken; where a hull slides past, it is as long as the motion.
//!
//! # Inclusion
//!
//! After twelve planes the rest is cut into pieces. Let n turn linearly on a piece from
//! $n_a$ at a to $n_b$ at b. Then $n(t)\cdot W_k(t)$ is a quadratic that includes no
//! value below the least of its Bernstein coefficients
//!
//! $$ n_a\cdot W_k(a), \qquad \tfrac12\big(n_a\cdot W_k(b) + n_b\cdot W_k(a)\big), \qquad
//!    n_b\cdot W_k(b) , $$
//!
//! and $|n(t)| \le \max(|n_a|, |n_b|)$. If they are above s for all k, the piece is free;
//! otherwise it is halved. Time is the only variable that is cut: the place on the primitives is
//! covered by the corners. Pieces are counted, and when they are used up the answer is a hit.
//!
//! # The rounding margin
//!
//! Let u = 2⁻⁵³ and R be a bound on all $|W_k(0)|, |W_k(1)|$. Nothing is assumed of n but
//! that $|n| \le 1 + 5u$, which dividing by a rounded length keeps: errors in closest points
//! are errors in n only, and any n will do.
//!
//! * A difference of two coordinates is rounded once, a product of three components once and
//!   their sum twice: the computed $\tilde f_k(0), \tilde f_k(1)$ are off by at most
//!   $(1+u)^4 - 1$ times $|n|\,|W_k|$, that is 4 u R up to terms in u².
//! * $\tilde f(0) + t\,(\tilde f(1) - \tilde f(0))$ rounds a difference and a product of at
//!   most 2 R and a sum of at most R: 5 u R. The mean of two such, in the middle coefficient,
//!   adds 1 u R.
//! * The t' above is rounded three times, 3 u in all as t' ≤ 1; at a slope of at most 2 R this
//!   moves f by 6 u R.
//! * $s\,|n|$ exceeds s by 5 u s, and adding the margin to it rounds by u s; if s > R the
//!   answer is a hit anyway, so these are 6 u R.
//!
//! A plane is checked where it starts (second) and followed to t' (third); between the two f is
//! linear, so the larger of the errors counts and not their sum. The terms in u² and the rounding
//! of R are less than 1 u R, so
//!
//! $$ \mu = 17\,u\,R \; > \; (4 + 6 + 6)\,u\,R + O(u^2)\,R $$
//!
//! is subtracted from every f before it proves anything. A product that underflows is nothing
//! beside u R because differences outside 10^±100 are scaled by a power of two first. Numbers that
//! are not finite prove nothing: a hit at 0.
//!
//! So a hit that is none is possible only where the distance comes within 2·10⁻¹⁵ R or so of s,
//! with R the reach of the *relative* positions; where a face or a pair of edges is so thin that
//! no direction is perpendicular to it in rounded numbers; or if pieces run out.

pub(crate) mod primitive_pair;

pub mod broad_phase;
pub mod distance;

mod additive_advancement;
mod clusters;
mod interval_inclusion;
mod plane_proof;
mod separating_direction;

use glamx::DVec3;

use crate::math::algebra::{Algebra, Components};
use additive_advancement::first_touch;
use plane_proof::{Differences, Prepared};

/// How far a motion is proven to be free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOfImpact {
    /// A time to move to: all the way there the two are farther apart than the separation, and
    /// there a tenth of the room they had at the start, beyond the separation, is left. 0 if
    /// they start within the separation.
    pub safe: f64,
    /// No impact happens before this time. At it, the two are within rounding of the separation
    /// or (for the rare motion that neither planes nor pieces can decide) merely not proven apart
    /// any more.
    pub earliest: f64,
}

impl TimeOfImpact {
    const AT_ONCE: Self = Self {
        safe: 0.0,
        earliest: 0.0,
    };
}

/// When a vertex and a face first come within `separation` metres of each other before `t_max`.
///
/// The rows are the vertex and the face's three corners, at t = 0 and t = 1. The face may be
/// degenerate. A negative separation counts as 0; `t_max` is held in 0 to 1.
///
/// ```
/// use drystone::ccd::vertex_face;
/// use drystone::glam::DVec3;
///
/// let face = [DVec3::ZERO, DVec3::X, DVec3::Z];
/// let from = DVec3::new(0.2, 1.0, 0.2);
/// let fall = |to: DVec3| {
///     vertex_face(
///         &[from, face[0], face[1], face[2]],
///         &[to, face[0], face[1], face[2]],
///         0.0,
///         1.0,
///     )
/// };
/// assert_eq!(fall(DVec3::new(0.2, 1e-9, 0.2)), None);
/// let hit = fall(DVec3::new(0.2, -1.0, 0.2)).unwrap();
/// assert!((hit.earliest - 0.5).abs() < 1e-12);
/// assert!((hit.safe - 0.45).abs() < 1e-12);
/// ```
#[must_use]
pub fn vertex_face(
    start: &[DVec3; 4],
    end: &[DVec3; 4],
    separation: f64,
    t_max: f64,
) -> Option<TimeOfImpact> {
    let corners = |[v, a, b, c]: &[DVec3; 4]| [*a - *v, *b - *v, *c - *v];
    let differences = Differences {
        start: corners(start),
        end: corners(end),
    };
    decide(
        &differences,
        separation,
        t_max,
        separating_direction::to_triangle,
    )
}

/// When two edges first come within `separation` metres of each other before `t_max`.
///
/// The rows are the ends of the first and of the second edge, at t = 0 and t = 1. Edges may be
/// parallel or degenerate; what else is said at [`vertex_face`] holds.
#[must_use]
pub fn edge_edge(
    start: &[DVec3; 4],
    end: &[DVec3; 4],
    separation: f64,
    t_max: f64,
) -> Option<TimeOfImpact> {
    // In the order of the parallelogram's boundary.
    let corners = |[a0, a1, b0, b1]: &[DVec3; 4]| [*b0 - *a0, *b0 - *a1, *b1 - *a1, *b1 - *a0];
    let differences = Differences {
        start: corners(start),
        end: corners(end),
    };
    decide(
        &differences,
        separation,
        t_max,
        separating_direction::to_parallelogram,
    )
}

/// When a point and an edge first come within `separation` metres of each other before `t_max`.
///
/// The rows are the point and the edge's two ends, at t = 0 and t = 1; what else is said at
/// [`vertex_face`] holds. In the plane this is the vertex-edge query.
#[must_use]
pub fn point_edge<S: Algebra>(
    start: &[S::Vector; 3],
    end: &[S::Vector; 3],
    separation: f64,
    t_max: f64,
) -> Option<TimeOfImpact> {
    let corners = |[p, a, b]: &[S::Vector; 3]| [*a - *p, *b - *p];
    let differences = Differences {
        start: corners(start),
        end: corners(end),
    };
    decide(
        &differences,
        separation,
        t_max,
        separating_direction::to_segment,
    )
}

/// When two points first come within `separation` metres of each other before `t_max`.
///
/// The rows are the points at t = 0 and t = 1; what else is said at [`vertex_face`] holds.
#[must_use]
pub fn point_point<S: Algebra>(
    start: &[S::Vector; 2],
    end: &[S::Vector; 2],
    separation: f64,
    t_max: f64,
) -> Option<TimeOfImpact> {
    let differences = Differences {
        start: [start[1] - start[0]],
        end: [end[1] - end[0]],
    };
    decide(
        &differences,
        separation,
        t_max,
        separating_direction::to_point,
    )
}

/// Answers a query: by boxes, by planes, or that nothing can be proven. `direction` is one of
/// [`separating_direction`].
#[inline]
fn decide<V: Components, const K: usize>(
    differences: &Differences<V, K>,
    separation: f64,
    t_max: f64,
    direction: impl Fn(&[V; K]) -> Option<V> + Copy,
) -> Option<TimeOfImpact> {
    match differences.prepare(at_least_zero(separation), within_unit(t_max)) {
        Prepared::Apart => None,
        Prepared::Unprovable => Some(TimeOfImpact::AT_ONCE),
        Prepared::Open(query) => first_touch(&query, direction),
    }
}

/// A separation that is no number stays so, and then nothing is proven.
fn at_least_zero(separation: f64) -> f64 {
    if separation < 0.0 { 0.0 } else { separation }
}

/// An end of the motion that is no number is the whole motion.
fn within_unit(t_max: f64) -> f64 {
    if t_max.is_nan() {
        1.0
    } else {
        t_max.clamp(0.0, 1.0)
    }
}
