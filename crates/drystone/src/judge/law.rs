//! Which law of contact fails, and by how much, in words.
//!
//! The residual of [`super::residual`] is one number for all laws. Here it is taken apart: each
//! law's violation is turned into a speed in m/s with the contact's own ρ (kg) and normal impulse,
//! so that the laws of one contact can be compared and the one that fails most can be named.
//!
//! | law | violation | as a speed |
//! |---|---|---|
//! | bodies do not enter each other | −ũ_N | itself |
//! | contacts push, never pull | −r_N | over ρ |
//! | only closed contacts push | r_N with ũ_N > 0 | min(r_N/ρ, ũ_N) |
//! | friction stays in its cone | ‖r_T‖ − μ r_N | over ρ |
//! | friction opposes slip with full strength | μ r_N‖u_T‖ + r_T·u_T | over μ r_N |

use super::residual::{ContactError, contact_error};
use crate::contact::problem::assemble::Assembled;
use crate::contact::problem::{Impulses, Velocities};
use crate::geometry::Space;
use crate::math::algebra::Components;

/// A law of contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Bodies do not enter each other.
    Approach,
    /// Contacts push, never pull.
    Pull,
    /// Only closed contacts push (Signorini).
    Signorini,
    /// Friction is at most μ times the normal impulse (Coulomb).
    Cone,
    /// Friction opposes slip with full strength (Coulomb).
    Slip,
}

impl Law {
    /// All laws.
    pub const ALL: [Self; 5] = [
        Self::Approach,
        Self::Pull,
        Self::Signorini,
        Self::Cone,
        Self::Slip,
    ];

    /// What fails, in a few words.
    #[must_use]
    pub fn failure(self) -> &'static str {
        match self {
            Self::Approach => "bodies still approach",
            Self::Pull => "a contact pulls",
            Self::Signorini => "an opening contact pushes",
            Self::Cone => "friction leaves its cone",
            Self::Slip => "friction does not oppose slip",
        }
    }
}

/// One contact's error, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// All parts.
    pub error: ContactError,
    /// The law that fails most.
    pub law: Law,
    /// By how much, m/s.
    pub law_error: f64,
}

/// A problem and its answer, as a step left them.
#[derive(Clone, Debug)]
pub struct Answered<S: Space> {
    /// The problem.
    pub assembled: Assembled<S>,
    /// Its answer.
    pub impulses: Impulses<S>,
    /// Velocities after the step, where they are not simply those that the impulses lead to.
    pub reached: Option<Velocities<S>>,
}

impl<S: Space> Answered<S> {
    /// The error of every row; `None` where nothing can move.
    #[must_use]
    pub fn judgements(&self) -> Vec<Option<Judgement>> {
        let problem = &self.assembled.problem;
        let own;
        let velocities = match &self.reached {
            Some(velocities) => velocities,
            None => {
                own = problem.velocities(&self.impulses);
                &own
            }
        };
        let judged = self.impulses.local.iter().enumerate().map(|(row, &r)| {
            let largest_eigenvalue = S::largest_eigenvalue(&problem.diagonal(row));
            (largest_eigenvalue > 0.0).then(|| {
                let u = problem.offset_velocity(row, velocities);
                judgement(r, u, problem.rows[row].mu, 1.0 / largest_eigenvalue)
            })
        });
        judged.collect()
    }
}

/// The error of one contact with impulse `r` and offset velocity `u` (both local).
#[must_use]
pub fn judgement<V: Components>(r: V, u: V, mu: f64, rho: f64) -> Judgement {
    let error = contact_error(r, u, mu, rho);
    let (r_n, u_n) = (r.component(0), u.component(0));
    let most_friction = mu * r_n.max(0.0);
    let slip = if most_friction > 0.0 {
        error.friction_direction / most_friction
    } else {
        0.0
    };
    let speeds = [
        (Law::Approach, error.approach_speed),
        (Law::Pull, error.pull / rho),
        (Law::Signorini, (r_n / rho).min(u_n).max(0.0)),
        (Law::Cone, error.cone_excess / rho),
        (Law::Slip, slip),
    ];
    let most = |a: (Law, f64), b: (Law, f64)| if b.1 > a.1 { b } else { a };
    let (law, law_error) = speeds.into_iter().fold((Law::Approach, 0.0), most);
    Judgement {
        error,
        law,
        law_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::DVec3;

    const RHO: f64 = 2.0;

    #[test]
    fn each_law_is_named_where_it_alone_fails() {
        let cases = [
            (Law::Approach, DVec3::ZERO, DVec3::new(-0.3, 0.0, 0.0), 0.3),
            (Law::Pull, DVec3::new(-1.0, 0.0, 0.0), DVec3::ZERO, 0.5),
            (
                Law::Signorini,
                DVec3::new(4.0, 0.0, 0.0),
                DVec3::new(0.7, 0.0, 0.0),
                0.7,
            ),
            // μ r_N = 1, so ‖r_T‖ = 1.4 is 0.4 N·s too much.
            (Law::Cone, DVec3::new(2.0, 0.0, 1.4), DVec3::ZERO, 0.2),
            // No friction while it slides at 0.6 m/s.
            (
                Law::Slip,
                DVec3::new(2.0, 0.0, 0.0),
                DVec3::new(0.0, 0.6, 0.0),
                0.6,
            ),
        ];
        for (law, r, u, speed) in cases {
            let judged = judgement(r, u, 0.5, RHO);
            assert_eq!(judged.law, law);
            assert!((judged.law_error - speed).abs() < 1e-12, "{law:?}");
            assert!(judged.error.residual > 0.0, "{law:?}");
        }
    }

    #[test]
    fn nothing_fails_where_all_laws_hold() {
        let sliding = judgement(
            DVec3::new(2.0, -1.0, 0.0),
            DVec3::new(0.0, 3.0, 0.0),
            0.5,
            RHO,
        );
        assert!(sliding.law_error < 1e-12 && sliding.error.residual < 1e-12);
    }
}
