//! One Gauss-Seidel sweep, and the look at the residual: what the sweeping solvers share.
//!
//! See [`super::pgs`] for the equations.

use crate::contact::problem::{ContactProblem, Impulses, Island, Velocities, tangential};
use crate::geometry::Space;
use crate::judge::residual::natural_map;
use crate::math::algebra::{Components, Linear};

/// What a sweep needs of a contact's diagonal block.
#[derive(Clone, Copy, Debug)]
struct Steps<S: Space> {
    /// Column N of the block, 1/kg: how a normal impulse changes the contact's velocity.
    by_normal: S::Vector,
    /// 1/A_NN, kg.
    normal: f64,
    /// 1/λmax(A_TT), kg.
    tangent: f64,
    /// 1/λmax(A), kg: ρ of the natural map.
    rho: f64,
}

/// A problem being swept: impulses and the velocities that go with them.
#[derive(Debug)]
pub(crate) struct Sweeper<'a, S: Space> {
    pub(crate) problem: &'a ContactProblem<S>,
    /// Velocities that the impulses lead to, kept in step with them.
    pub(crate) velocities: Velocities<S>,
    pub(crate) impulses: &'a mut Impulses<S>,
    steps: Vec<Steps<S>>,
}

impl<'a, S: Space> Sweeper<'a, S> {
    pub(crate) fn new(problem: &'a ContactProblem<S>, impulses: &'a mut Impulses<S>) -> Self {
        impulses
            .local
            .resize(problem.rows.len(), S::Vector::default());
        let steps = (0..problem.rows.len())
            .map(|row| step_lengths::<S>(&problem.diagonal(row)))
            .collect();
        Self {
            problem,
            velocities: problem.velocities(impulses),
            impulses,
            steps,
        }
    }

    /// Solves one contact after another, there or back.
    ///
    /// Loads travel down a stack in one sweep and up in the next, and no corner of a stone is
    /// always the first to be asked.
    #[inline]
    pub(crate) fn sweep(&mut self, island: Island, forth: bool) {
        if forth {
            for row in island.rows() {
                self.relax(row);
            }
        } else {
            for row in island.rows().rev() {
                self.relax(row);
            }
        }
    }

    /// Solves one contact with the others as they are.
    #[inline]
    fn relax(&mut self, row: usize) {
        let steps = &self.steps[row];
        let r = self.impulses.local[row];
        let u = self.problem.offset_velocity(row, &self.velocities);
        let normal = (r.component(0) - steps.normal * u.component(0)).max(0.0);
        // The tangents see the new normal impulse at once.
        let u = u + steps.by_normal * (normal - r.component(0));
        let mut tangent = tangential(r) - tangential(u) * steps.tangent;
        let most = self.problem.rows[row].mu * normal;
        let length_squared = tangent.dot(tangent);
        if length_squared > most * most {
            tangent = tangent * (most / length_squared.sqrt());
        }
        let next = tangent.with_component(0, normal);
        self.problem.apply(row, next - r, &mut self.velocities);
        self.impulses.local[row] = next;
    }

    /// Whether an island starts from nothing.
    pub(crate) fn is_cold(&self, island: Island) -> bool {
        self.impulses.local[island.rows()]
            .iter()
            .all(|r| *r == S::Vector::default())
    }

    /// The largest natural-map residual of an island, m/s.
    pub(crate) fn residual(&self, island: Island) -> f64 {
        island.rows().fold(0.0, |worst: f64, row| {
            let u = self.problem.offset_velocity(row, &self.velocities);
            let rho = self.steps[row].rho;
            let mu = self.problem.rows[row].mu;
            let error = natural_map(self.impulses.local[row], u, mu, rho);
            worst.max(error.length() / rho)
        })
    }
}

fn step_lengths<S: Space>(block: &S::Matrix) -> Steps<S> {
    // A contact between bodies that nothing moves has no answer and needs none.
    let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    Steps {
        by_normal: S::column(block, 0),
        normal: inverse(S::column(block, 0).component(0)),
        tangent: inverse(S::largest_tangent_eigenvalue(block)),
        rho: inverse(S::largest_eigenvalue(block)).max(f64::MIN_POSITIVE),
    }
}
