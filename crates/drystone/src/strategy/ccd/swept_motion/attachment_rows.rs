//! Contact rows of attachments over a step.

use super::{SweptMotion, way_of};
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::{Kind, Motion};

impl<S: Space> SweptMotion<'_, S> {
    /// Of each attachment: the velocity of its node as seen from its place on the body, m/s, that
    /// leads to that place after `dt` seconds, while bodies have these velocities and turn.
    ///
    /// A row's arm is that of the start, and a place on a body that turns goes along an arc. What
    /// that makes of a step is in here, or a node on a spinning body would stay behind by a ω² h²/2
    /// in each step. What it is off already is taken back within one whole step: more slowly, and
    /// what rounding and sweeps leave would add up; but no faster than overlaps are repaired, so
    /// that a body that a program has put elsewhere draws its nodes after it without an impact.
    pub(super) fn pulls(&self, free: &[Motion<S>], dt: f64) -> Vec<S::Vector> {
        let (bodies, settings) = (self.bodies, self.settings);
        let of = |six: &[Contact<S>]| {
            let (a, place) = (six[0].a as usize, six[0].point.position);
            let arm = place - bodies.position[a];
            let off = bodies.position[six[0].b as usize] - place;
            let rate = (settings.contact.repair_speed / off.length()).min(1.0 / settings.dt);
            let back = if off == S::Vector::default() {
                off
            } else {
                off * rate
            };
            if bodies.kind[a] == Kind::Fixed {
                return -back;
            }
            let way = way_of(bodies, a, &free[a], dt);
            let turned = S::rotate(S::turn(S::Rotation::default(), way.spin), arm);
            let moved = (way.linear + turned - arm) * (1.0 / dt);
            moved - (free[a].linear + S::spin_cross(free[a].spin, arm)) - back
        };
        self.held.chunks_exact(2 * S::DIM).map(of).collect()
    }
}
