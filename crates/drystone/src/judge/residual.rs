//! How far one contact is from Signorini's and Coulomb's laws.
//!
//! # The natural map
//!
//! Coulomb's law with its unilateral condition can be written as one equation (De Saxcé's
//! bipotential): with the cone $K_\mu = \{\lVert r_T\rVert \le \mu r_N\}$ and any ρ > 0,
//!
//! $$ r = P_{K_\mu}\!\bigl(r - \rho\,(\tilde u + \mu\lVert u_T\rVert\, n)\bigr) . $$
//!
//! The difference of the two sides is zero exactly where the law holds and grows with the
//! distance from it. With $\rho_i = 1/\lambda_{\max}(A_{ii})$, in kg, the difference divided by
//! ρ is a speed in m/s: roughly by how much the contact's velocity is wrong. The headline is the
//! largest over all contacts; the relative form is $\sum\lVert e_i\rVert / \sum r_N$.
//!
//! The size of a solver's last change is no substitute: a solver that stalls at a wrong answer
//! changes by 1e-17.

use crate::contact::problem::{ContactProblem, Impulses, Velocities, tangential};
use crate::geometry::Space;
use crate::math::algebra::Components;

/// The named parts of one contact's error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactError {
    /// Natural map over ρ, m/s: the headline.
    pub residual: f64,
    /// Natural map, N·s: the contact's share of the relative residual.
    pub impulse_error: f64,
    /// max(0, −ũ_N), m/s.
    pub approach_speed: f64,
    /// max(0, −r_N), N·s.
    pub pull: f64,
    /// max(0, ‖r_T‖ − μ r_N), N·s.
    pub cone_excess: f64,
    /// |r_N ũ_N|, J.
    pub signorini: f64,
    /// μ r_N ‖u_T‖ + r_T·u_T, J: zero if friction opposes slip with full strength.
    pub friction_direction: f64,
}

/// The laws over all contacts of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Largest of each part over all contacts.
    pub largest: ContactError,
    /// Σ‖eᵢ‖ / Σ r_N, without unit; 0 where nothing presses and nothing is wrong.
    pub relative: f64,
    /// Row with the largest residual.
    pub worst_row: Option<usize>,
}

/// Projects a local impulse on Coulomb's cone ‖r_T‖ ≤ μ r_N.
///
/// Inside it stays; in the polar cone (μ‖r_T‖ ≤ −r_N) it becomes zero; otherwise it goes to the
/// nearest point of the cone's surface.
#[must_use]
#[inline]
pub fn project_on_cone<V: Components>(r: V, mu: f64) -> V {
    let normal = r.component(0);
    let tangent = tangential(r);
    let length = tangent.length();
    // The polar cone first: without friction and slip a pull passes the test for the inside.
    if mu * length <= -normal {
        return V::default();
    }
    if length <= mu * normal {
        return r;
    }
    let onto = (normal + mu * length) / (1.0 + mu * mu);
    (tangent * (mu * onto / length)).with_component(0, onto)
}

/// The natural map r − P_K(r − ρ(ũ + μ‖u_T‖n)) of one contact, N·s.
#[must_use]
#[inline]
pub fn natural_map<V: Components>(r: V, u: V, mu: f64, rho: f64) -> V {
    let slip = tangential(u).length();
    let shifted = u.with_component(0, u.component(0) + mu * slip);
    r - project_on_cone(r - shifted * rho, mu)
}

/// The error of one contact with impulse `r` and offset velocity `u` (both local).
#[must_use]
pub fn contact_error<V: Components>(r: V, u: V, mu: f64, rho: f64) -> ContactError {
    // Not a number is as wrong as can be, and must not get lost in a maximum.
    let length = natural_map(r, u, mu, rho).length();
    let error = if length.is_nan() {
        f64::INFINITY
    } else {
        length
    };
    let (r_n, u_n) = (r.component(0), u.component(0));
    let (r_t, u_t) = (tangential(r), tangential(u));
    ContactError {
        residual: error / rho,
        impulse_error: error,
        approach_speed: (-u_n).max(0.0),
        pull: (-r_n).max(0.0),
        cone_excess: (r_t.length() - mu * r_n).max(0.0),
        signorini: (r_n * u_n).abs(),
        friction_direction: (mu * r_n * u_t.length() + r_t.dot(u_t)).abs(),
    }
}

/// Judges impulses: recomputes velocities from the problem and looks at every contact.
#[must_use]
pub fn judge<S: Space>(problem: &ContactProblem<S>, impulses: &Impulses<S>) -> Residual {
    judge_with(problem, impulses, |row| stiffness(problem, row))
}

/// The same where a program judges one problem often, which keeps the [`stiffness`] of its rows.
#[must_use]
pub fn judge_with<S: Space>(
    problem: &ContactProblem<S>,
    impulses: &Impulses<S>,
    stiffness: impl Fn(usize) -> f64,
) -> Residual {
    judge_all(problem, impulses, &problem.velocities(impulses), stiffness)
}

/// Judges impulses together with the velocities that bodies actually have, which need not be those
/// that the impulses lead to.
#[must_use]
pub fn judge_motion<S: Space>(
    problem: &ContactProblem<S>,
    impulses: &Impulses<S>,
    velocities: &Velocities<S>,
) -> Residual {
    judge_all(problem, impulses, velocities, |row| stiffness(problem, row))
}

fn judge_all<S: Space>(
    problem: &ContactProblem<S>,
    impulses: &Impulses<S>,
    velocities: &Velocities<S>,
    stiffness: impl Fn(usize) -> f64,
) -> Residual {
    let mut total = Residual::default();
    let mut error_sum = 0.0;
    let mut normal_sum = 0.0;
    for (row, &r) in impulses.local.iter().enumerate() {
        let largest_eigenvalue = stiffness(row);
        // Two bodies that nothing moves: there is no law to break.
        if largest_eigenvalue <= 0.0 {
            continue;
        }
        let u = problem.offset_velocity(row, velocities);
        let error = contact_error(r, u, problem.rows[row].mu, 1.0 / largest_eigenvalue);
        error_sum += error.impulse_error;
        normal_sum += r.component(0).max(0.0);
        if error.residual > total.largest.residual || total.worst_row.is_none() {
            total.worst_row = Some(row);
        }
        total.largest = total.largest.upper(&error);
    }
    total.relative = if error_sum == 0.0 {
        0.0
    } else if error_sum.is_infinite() {
        f64::INFINITY
    } else {
        // Errors of contacts that do not press at all are as wrong as can be.
        error_sum / normal_sum.max(error_sum * 1e-12)
    };
    total
}

/// λmax of a contact's own block of A, 1/kg: 1/ρ of its natural map.
#[must_use]
pub fn stiffness<S: Space>(problem: &ContactProblem<S>, row: usize) -> f64 {
    S::largest_eigenvalue(&problem.diagonal(row))
}

impl ContactError {
    /// The larger of each part.
    #[must_use]
    pub fn upper(&self, other: &Self) -> Self {
        Self {
            residual: self.residual.max(other.residual),
            impulse_error: self.impulse_error.max(other.impulse_error),
            approach_speed: self.approach_speed.max(other.approach_speed),
            pull: self.pull.max(other.pull),
            cone_excess: self.cone_excess.max(other.cone_excess),
            signorini: self.signorini.max(other.signorini),
            friction_direction: self.friction_direction.max(other.friction_direction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::DVec3;
    use proptest::prelude::*;

    const RHO: f64 = 2.0;

    fn residual(r: DVec3, u: DVec3, mu: f64) -> f64 {
        contact_error(r, u, mu, RHO).residual
    }

    #[test]
    fn solutions_of_the_law_have_no_residual() {
        // Open, sticking, sliding against u_T with full strength.
        assert_eq!(residual(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0), 0.5), 0.0);
        assert_eq!(residual(DVec3::new(2.0, 0.3, 0.4), DVec3::ZERO, 0.5), 0.0);
        let sliding = residual(DVec3::new(2.0, -0.6, 0.8), DVec3::new(0.0, 3.0, -4.0), 0.5);
        assert!(sliding < 1e-15);
    }

    #[test]
    fn an_open_contact_without_friction_is_right() {
        assert_eq!(residual(DVec3::ZERO, DVec3::X, 0.0), 0.0);
        assert_eq!(project_on_cone(-DVec3::X, 0.0), DVec3::ZERO);
        assert_eq!(project_on_cone(DVec3::X, 0.0), DVec3::X);
    }

    #[test]
    fn impulses_that_are_not_numbers_are_as_wrong_as_can_be() {
        let nan = DVec3::splat(f64::NAN);
        assert_eq!(residual(nan, DVec3::ZERO, 0.5), f64::INFINITY);
        assert_eq!(residual(DVec3::ZERO, nan, 0.5), f64::INFINITY);
        let largest = ContactError::default().upper(&contact_error(nan, nan, 0.5, RHO));
        assert_eq!(largest.residual, f64::INFINITY);
    }

    #[test]
    fn each_broken_law_shows_in_its_own_part() {
        let mu = 0.5;
        let error = |r, u| contact_error(r, u, mu, RHO);
        assert_eq!(
            error(DVec3::ZERO, DVec3::new(-0.2, 0.0, 0.0)).approach_speed,
            0.2
        );
        assert_eq!(error(DVec3::new(-0.3, 0.0, 0.0), DVec3::ZERO).pull, 0.3);
        assert_eq!(
            error(DVec3::new(1.0, 0.7, 0.0), DVec3::ZERO).cone_excess,
            0.7 - mu
        );
        assert_eq!(error(DVec3::X, DVec3::X * 0.1).signorini, 0.1);
        let along = error(DVec3::new(1.0, 0.5, 0.0), DVec3::new(0.0, 2.0, 0.0));
        assert_eq!(along.friction_direction, 2.0);
        assert!(along.residual > 0.4);
    }

    fn vectors() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-3.0..3.0).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn projection_is_the_nearest_point_of_the_cone(
            r in vectors(), mu in prop_oneof![Just(0.0), 0.0..2.0], other in vectors()
        ) {
            let p = project_on_cone(r, mu);
            prop_assert!(p.x >= 0.0);
            prop_assert!(tangential(p).length() <= mu * p.x + 1e-12);
            // No point of the cone is nearer.
            let q = project_on_cone(other, mu);
            prop_assert!((r - p).length() <= (r - q).length() + 1e-12);
        }

        #[test]
        fn a_small_step_off_a_solution_costs_about_its_size(
            direction in vectors(), size in 1e-8..1e-2
        ) {
            prop_assume!(direction.length() > 0.1);
            // A sticking contact alone: u = A (r − r₀) with A = I/ρ.
            let exact = DVec3::new(2.0, 0.2, -0.1);
            let off = direction.normalize() * size;
            let small = residual(exact + off, off / RHO, 0.5);
            let large = residual(exact + off * 2.0, off * 2.0 / RHO, 0.5);
            prop_assert!(small > 0.05 * size, "{small} for a step of {size}");
            prop_assert!(large > 1.5 * small);
        }
    }
}
