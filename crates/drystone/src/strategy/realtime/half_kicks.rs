//! Störmer's scheme: velocities half a substep before the poses.
//!
//! The kernels' scheme, velocities by forces and then displacements by the new velocities, is
//! Störmer's, exact for constant forces and of order two for others, if its velocities are taken
//! for what they are: those half a substep **before** the poses that they go with. With w the
//! kernels' velocities, v those of the world, at the poses' time, and A the acceleration that forces,
//! contacts and joints gave in all,
//!
//! $$ w_{n-1/2} = v_n - \tfrac h2 A_{n-1}, \qquad w_{n+1/2} = w_{n-1/2} + h A_n, \qquad
//!    x_{n+1} = x_n + h\, w_{n+1/2}, \qquad v_{n+1} = w_{n+1/2} + \tfrac h2 A_n . $$
//!
//! What the next substep takes off is what this one added, to the last bit: the half kick is seen by
//! a program that looks at the world, and never by contacts. What rests has A = 0 and feels nothing of it.
//!
//! A is known where it is smooth: not where an impact or a repair moved a body. Contacts with what
//! stands still can take from the acceleration a of the forces, but not add to it: each of their
//! forces leaves A within the ball whose diameter is a (Thales). What is outside counts as not
//! smooth, and A as 0.
//!
//! A body that **starts afresh** (it is new, or was changed from outside) knows no A. Its first
//! substep is solved as if v were w, and half of the acceleration that comes of it is taken back,
//! from the velocity and from the displacement: a ball that starts to roll down a slope has rolled
//! ½At², and not ½At(t + h).

use super::body_columns::get;
use crate::geometry::Space;
use crate::math::simd::{Column, LANES};
use crate::model::body::Motion;

/// Part of the forces' acceleration by which A may be off the middle of the ball, squared: a tenth
/// more than the ball allows, for rounding.
const MOST_OFF: f32 = 0.55 * 0.55;

/// What a body is given in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kick<S: Space> {
    /// By forces, m/s² and rad/s².
    pub(crate) acceleration: Motion<S>,
    /// Displacement besides that by its velocity: of impacts within the step, m and rad.
    pub(crate) offset: Motion<S>,
    /// Length of the substep, s.
    pub(crate) h: f64,
    /// Whether it may start afresh.
    pub(crate) may_start: bool,
}

/// What an acceleration adds to a motion in half a substep of h seconds.
pub(crate) fn half_kick<S: Space>(gain: &Column, h: f64) -> Motion<S> {
    let gain: Motion<S> = get(gain);
    Motion {
        linear: gain.linear * (0.5 * h),
        spin: gain.spin * (0.5 * h),
    }
}

/// Whether an acceleration is what contacts leave of that of forces, which give `push` in a substep.
#[inline(always)]
pub(super) fn is_smooth(
    gain: &[f32; LANES],
    push: &[f32; LANES],
    per_second: f32,
    linear: usize,
) -> bool {
    let (mut off, mut all) = (0.0, 0.0);
    for j in 0..linear {
        let force = push[j] * per_second;
        let away = gain[j] - 0.5 * force;
        off += away * away;
        all += force * force;
    }
    off <= MOST_OFF * all
}
