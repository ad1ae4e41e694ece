//! The error measure of the FCLIB literature, for comparison with published tables.
//!
//! With the impulses r and the offset velocities ũ = A r + q in the local variables **as they are
//! given**, the natural map is taken with ρ = 1 at every contact, and its Euclidean norm over all
//! contacts is divided by the norm of the velocities without impulses:
//!
//! $$ \text{err}(r) = \frac{1}{\lVert q\rVert}\sqrt{\sum_i \bigl\lVert r_i -
//!    P_{K_{\mu_i}}\bigl(r_i - (\tilde u_i + \mu_i\lVert u_{T,i}\rVert\,n)\bigr)\bigr\rVert^2},
//!    \qquad q = J v^* - t . $$
//!
//! Where q is zero (nothing moves) the norm itself is the error. Source: V. Acary, M. Brémond,
//! O. Huber, *On solving contact problems with Coulomb friction: formulations and numerical
//! comparisons*, 2018, whose tables use this measure at 1e-4 and 1e-8.
//!
//! # When not to use it
//!
//! ρ = 1 is 1 kg: the sum adds impulses to velocities as if they had one unit, so the figure
//! changes with the units and with the masses. A light stone under a heavy one weighs nothing in
//! it, and in a problem whose A has a norm far from 1/kg a solution that is exact to rounding can
//! stay above 1e-8 (the rounding of A r alone, about 1e-16 ‖A‖‖r‖/‖q‖, is a bound from below).
//! The headline of [`super::residual`] has neither fault; this one is for tables.

use super::residual::natural_map;
use crate::contact::problem::{ContactProblem, Impulses};
use crate::geometry::Space;
use crate::math::algebra::Linear;

/// The FCLIB error of impulses, without unit; see the [module documentation](self).
///
/// Impulses beyond the problem's rows are ignored, and rows without an impulse have none.
#[must_use]
pub fn fclib_error<S: Space>(problem: &ContactProblem<S>, impulses: &Impulses<S>) -> f64 {
    let mut complete = impulses.clone();
    complete
        .local
        .resize(problem.rows.len(), S::Vector::default());
    let free = problem.free_velocities();
    let velocities = problem.velocities(&complete);
    let (mut error_squared, mut q_squared) = (0.0, 0.0);
    for (row, &r) in complete.local.iter().enumerate() {
        let q = problem.offset_velocity(row, &free);
        let u = problem.offset_velocity(row, &velocities);
        let error = natural_map(r, u, problem.rows[row].mu, 1.0);
        error_squared += error.dot(error);
        q_squared += q.dot(q);
    }
    let norm = q_squared.sqrt();
    if norm > 0.0 {
        error_squared.sqrt() / norm
    } else {
        error_squared.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::problem::local_form::{AnyProblem, parse};
    use crate::math::algebra::D2;
    use glamx::DVec2;

    /// Two contacts that do not touch each other: 2 kg falls at 3 m/s while sliding at 1 m/s
    /// with μ = 0.5, 1 kg leaves at 4 m/s.
    fn slide_and_leave() -> (ContactProblem<D2>, Impulses<D2>) {
        let text = "dimension 2 contacts 2 mu 0.5 0.5 q -3 8 4 0 W 4 \
                    0 0 0.5  1 1 0.5  2 2 1  3 3 1";
        let Ok(AnyProblem::Flat(problem)) = parse(text) else {
            panic!("should be flat")
        };
        // r_N = 6 stops the fall; friction −3 leaves a slip of 6.5 m/s.
        let local = vec![DVec2::new(6.0, -3.0), DVec2::ZERO];
        (problem, Impulses { local })
    }

    #[test]
    fn a_solution_by_hand_has_no_error() {
        let (problem, exact) = slide_and_leave();
        assert!(fclib_error(&problem, &exact) < 1e-15);
    }

    #[test]
    fn the_figure_is_the_formula_written_out() {
        let (problem, _) = slide_and_leave();
        // Without impulses r − P(r − …) at contact 0 is −P(3 − 4, −8): the slip of 8 m/s shifts
        // the normal by 4, and (−1, −8) goes to the cone's surface at (−1 + 4)/1.25 = 2.4 along
        // the normal and −1.2 along the tangent. Contact 1 is open and right.
        let error = 2.4_f64.hypot(1.2);
        let q = (9.0_f64 + 64.0 + 16.0).sqrt();
        let got = fclib_error(&problem, &Impulses::default());
        assert!((got - error / q).abs() < 1e-15, "{got}");
    }

    #[test]
    fn the_error_grows_with_the_perturbation() {
        let (problem, exact) = slide_and_leave();
        for direction in [DVec2::X, DVec2::Y, -DVec2::X, -DVec2::Y] {
            for row in 0..2 {
                let mut last = 0.0;
                for size in [1e-9, 1e-6, 1e-3, 1e-1] {
                    let mut off = exact.clone();
                    off.local[row] += direction * size;
                    let error = fclib_error(&problem, &off);
                    assert!(error > 100.0 * last, "{error} after {last}");
                    last = error;
                }
            }
        }
    }

    #[test]
    fn nothing_to_do_is_no_division_by_zero() {
        let text = "dimension 2 contacts 1 mu 0.5 q 0 0 W 2 0 0 1 1 1 1";
        let Ok(AnyProblem::Flat(problem)) = parse(text) else {
            panic!("should be flat")
        };
        assert_eq!(fclib_error(&problem, &Impulses::default()), 0.0);
    }
}
