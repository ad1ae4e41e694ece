//! One iteration of the interior-point method after another: the linear algebra of
//! [`super::newton`].
//!
//! # Equations
//!
//! With Nesterov and Todd's scaling W ($W^2 x = z$), $t = z_T/\lVert z_T\rVert$ and the
//! dual residual $d = A x + q + \lVert z_T\rVert n - z$, a step solves
//!
//! $$ \Delta z = (I + n t^T)(A\,\Delta x + d), \qquad W^2 \Delta x + \Delta z = c , $$
//!
//! where c is $-z$ for the prediction and
//! $W\,\bigl(\lambda \backslash (\sigma g\,e - \lambda\circ\lambda -
//!  W\Delta x_p \circ W^{-1}\Delta z_p)\bigr)$ for the step. In $y = W\Delta x$ that is
//!
//! $$ \bigl(I + W^{-1}(I + n t^T) A\,W^{-1}\bigr)\,y = W^{-1}\bigl(c - (I + n t^T) d\bigr), $$
//!
//! not symmetric because of $n t^T$. The symmetric part without it is $W^{-1}(A + W^2)W^{-1}$,
//! which [`super::delassus_systems`] factorises; flexible GMRES ([`crate::math::gmres`]) needs two to five
//! applications of it. Feasibility ($d$) shrinks to rounding whatever GMRES leaves.

use super::cone::{Scaling, divide, longest_step, product, smoothed_projection, unit};
use super::delassus_systems::{Action, Shift, ShiftedDelassus};
use crate::contact::problem::{ContactProblem, Impulses, tangential};
use crate::geometry::Space;
use crate::judge::residual::natural_map;
use crate::math::algebra::{Components, Linear};
use crate::math::block_cholesky::FactorError;
use crate::math::gmres::{Accuracy, Gmres};

/// Most applications of the factorisation in one linear system.
const MOST_DIRECTIONS: usize = 30;

/// Part of the way to the cones' surface that a step goes at most.
const INSIDE: f64 = 0.99;

/// Least part of the gap that a step aims at. Steps that aim at none at all lose the middle of
/// the cones, and with it the digits of the next step.
const CENTRING: f64 = 1e-3;

/// How far inside the cones to start from a guess, for the square root of its error. Long chains
/// of contacts amplify a guess's errors: a start that trusts it more is slower than none.
const WARM_GAP: f64 = 10.0;

/// Softness of the contacts, relative to their own blocks of A, in the estimate that the start
/// is made from: no impulse is taken to be more than 1/softness times what stops a contact alone.
const SOFT_START: f64 = 0.1;

/// Why no further step can be made.
#[derive(Debug)]
pub(crate) struct Stuck;

impl From<FactorError> for Stuck {
    fn from(_: FactorError) -> Self {
        Self
    }
}

/// One contact of the method: how its variables are scaled.
#[derive(Clone, Copy, Debug)]
struct Cone<S: Space> {
    /// r = scale · x, component by component: 1/μ for the normal and 1 for tangents; tangents
    /// of a contact without friction and all of a contact that nothing moves have 0.
    scale: S::Vector,
    /// 1/scale, 0 where that is 0.
    unscale: S::Vector,
    /// λmax of the contact's block of A, 1/kg.
    stiffness: f64,
    /// t: direction of slip, or zero.
    slip: S::Vector,
    w: Scaling<S>,
}

impl<S: Space> Cone<S> {
    fn new(problem: &ContactProblem<S>, row: usize) -> Self {
        let stiffness = S::largest_eigenvalue(&problem.diagonal(row));
        let mu = problem.rows[row].mu;
        let scale = if stiffness <= 0.0 {
            S::Vector::default()
        } else if mu > 0.0 {
            S::Vector::splat(1.0).with_component(0, 1.0 / mu)
        } else {
            unit()
        };
        let unscale = (0..S::DIM).fold(scale, |v, k| {
            let x = scale.component(k);
            v.with_component(k, if x > 0.0 { 1.0 / x } else { 0.0 })
        });
        Self {
            scale,
            unscale,
            stiffness,
            slip: S::Vector::default(),
            w: Scaling::new(unit(), unit()),
        }
    }

    fn is_movable(&self) -> bool {
        self.stiffness > 0.0
    }

    /// λmax, or 1 where nothing moves: to divide by.
    fn positive_stiffness(&self) -> f64 {
        if self.is_movable() {
            self.stiffness
        } else {
            1.0
        }
    }

    /// (I + n tᵀ) v.
    #[inline]
    fn lift(&self, v: S::Vector) -> S::Vector {
        v.with_component(0, v.component(0) + self.slip.dot(v))
    }

    /// W² in the units of A, with its inverse. Components without a variable get a shift so
    /// large that they stay zero.
    fn shift(&self) -> Shift<S> {
        let unit = |k: usize| S::Vector::default().with_component(k, 1.0);
        let locked = if self.is_movable() {
            1e8 * self.stiffness
        } else {
            1.0
        };
        let filled = |k: usize, own: S::Vector, size: f64| {
            if self.scale.component(k) > 0.0 {
                own
            } else {
                unit(k) * size
            }
        };
        Shift {
            block: S::matrix(|k| {
                let column = self.w.square(unit(k)) * self.unscale.component(k);
                filled(k, column.scale(self.unscale), locked)
            }),
            inverse: S::matrix(|k| {
                let column = self.w.inverse_square(unit(k)) * self.scale.component(k);
                filled(k, column.scale(self.scale), 1.0 / locked)
            }),
        }
    }
}

/// The method's state.
#[derive(Debug)]
pub(crate) struct InteriorPoint<'a, S: Space> {
    pub(crate) problem: &'a ContactProblem<S>,
    cones: Vec<Cone<S>>,
    /// Impulses in cone variables, inside their cones.
    x: Vec<S::Vector>,
    /// Velocities in cone variables, inside their cones.
    z: Vec<S::Vector>,
    /// Offset velocity ũ that the impulses lead to, m/s.
    u: Vec<S::Vector>,
    /// d: dual residual.
    d: Vec<S::Vector>,
    free: Vec<S::Vector>,
    system: System<S>,
    /// Residual over right-hand side of a step's linear system.
    accuracy: f64,
}

/// A step's linear system and the room to solve it.
#[derive(Debug)]
struct System<S: Space> {
    factor: ShiftedDelassus<S>,
    action: Action<S>,
    gmres: Gmres<S>,
    shifts: Vec<Shift<S>>,
    rhs: Vec<S::Vector>,
    work: [Vec<S::Vector>; 2],
}

/// A step of both variables.
#[derive(Clone, Debug)]
struct Direction<S: Space> {
    x: Vec<S::Vector>,
    z: Vec<S::Vector>,
}

impl<'a, S: Space> InteriorPoint<'a, S> {
    pub(crate) fn new(problem: &'a ContactProblem<S>, accuracy: f64) -> Result<Self, FactorError> {
        let contacts = problem.rows.len();
        let zeros = || vec![S::Vector::default(); contacts];
        let cones: Vec<Cone<S>> = (0..contacts).map(|k| Cone::new(problem, k)).collect();
        let unpressed = problem.free_velocities();
        let free: Vec<S::Vector> = (0..contacts)
            .map(|row| problem.offset_velocity(row, &unpressed))
            .collect();
        Ok(Self {
            problem,
            x: zeros(),
            z: zeros(),
            u: zeros(),
            d: zeros(),
            system: System {
                factor: ShiftedDelassus::new(problem)?,
                action: Action::new(problem),
                gmres: Gmres::default(),
                shifts: Vec::new(),
                rhs: zeros(),
                work: [zeros(), zeros()],
            },
            cones,
            free,
            accuracy,
        })
    }

    /// Starts on the cones' axes, with velocities as they are and with impulses `larger` times
    /// those that stop all contacts (softly, so that it can be done).
    ///
    /// Impulses that are too small at the start cost more iterations than those that are too
    /// large: the surface of the cones is near and steps are short.
    pub(crate) fn start(&mut self, larger: f64) {
        let contacts = self.free.len() as f64;
        let total: f64 = self.free.iter().map(|u| u.length()).sum();
        let speed = (total / contacts).max(f64::MIN_POSITIVE.sqrt());
        let shift = |cone: &Cone<S>| Shift::uniform(SOFT_START * cone.positive_stiffness());
        self.system.shifts.clear();
        self.system.shifts.extend(self.cones.iter().map(shift));
        let System {
            factor,
            shifts,
            work,
            ..
        } = &mut self.system;
        let mut change = speed;
        if factor.refactor(self.problem, shifts).is_ok() {
            factor.solve(&self.free, &mut work[0]);
            let pairs = work[0].iter().zip(&self.cones);
            let total: f64 = pairs.map(|(r, cone)| r.length() * cone.stiffness).sum();
            if total.is_finite() {
                change = change.max(total / contacts);
            }
        }
        for (k, cone) in self.cones.iter().enumerate() {
            self.x[k] = unit::<S::Vector>() * (larger * change / cone.positive_stiffness());
            self.z[k] = unit::<S::Vector>() * speed;
        }
        self.refresh();
    }

    /// Starts near given impulses whose relative residual is `error`.
    ///
    /// With $\rho = \lambda_{\max}$ of a contact's block and $y = x - z/\rho$, the point
    /// $x' = \tfrac12\bigl(y + \sqrt{y^2 + 4g/\rho}\bigr)$ (square root in the cone's algebra),
    /// $z' = \rho(x' - y)$ has $x' \circ z' = g\,e$ exactly, and tends to the projection of y and
    /// to its complement as g goes to 0. The gap g is of the size that the error explains.
    pub(crate) fn start_near(&mut self, guess: &[S::Vector], error: f64) {
        for (k, cone) in self.cones.iter().enumerate() {
            self.x[k] = guess[k].scale(cone.unscale);
            self.z[k] = S::Vector::default();
        }
        self.refresh();
        let contacts = self.cones.len() as f64;
        let pairs = self.x.iter().zip(&self.cones);
        let size = pairs
            .map(|(x, cone)| x.length() * cone.stiffness)
            .sum::<f64>()
            / contacts;
        let change = WARM_GAP * error.sqrt() * size;
        let gaps = self
            .cones
            .iter()
            .map(|c| change * change / c.positive_stiffness());
        let gap = (gaps.sum::<f64>() / contacts).max(f64::MIN_POSITIVE);
        for (k, cone) in self.cones.iter().enumerate() {
            let rho = cone.positive_stiffness();
            let u = self.u[k].scale(cone.scale);
            let z = u.with_component(0, u.component(0) + tangential(u).length());
            let y = self.x[k] - z * (1.0 / rho);
            self.x[k] = smoothed_projection(y, gap / rho);
            self.z[k] = smoothed_projection(-y, gap / rho) * rho;
        }
        self.refresh();
    }

    /// Recomputes velocities and the dual residual.
    fn refresh(&mut self) {
        let r = &mut self.system.work[0];
        for ((r, x), cone) in r.iter_mut().zip(&self.x).zip(&self.cones) {
            *r = x.scale(cone.scale);
        }
        self.system.action.apply(self.problem, r, &mut self.u);
        for (k, cone) in self.cones.iter_mut().enumerate() {
            self.u[k] += self.free[k];
            let slip = tangential(self.z[k]);
            let speed = slip.length();
            cone.slip = if speed > f64::MIN_POSITIVE {
                slip * (1.0 / speed)
            } else {
                S::Vector::default()
            };
            let lifted = self.u[k].scale(cone.scale) + unit::<S::Vector>() * speed;
            self.d[k] = if cone.is_movable() {
                lifted - self.z[k]
            } else {
                S::Vector::default()
            };
        }
    }

    /// The impulses to be judged: those of x, or those after one projected step of the natural
    /// map from there, which takes off what keeps x inside its cone.
    pub(crate) fn write(&self, impulses: &mut Impulses<S>, project: bool) {
        for (k, cone) in self.cones.iter().enumerate() {
            let r = self.x[k].scale(cone.scale);
            impulses.local[k] = if project && cone.is_movable() {
                r - natural_map(r, self.u[k], self.problem.rows[k].mu, 1.0 / cone.stiffness)
            } else {
                r
            };
        }
    }

    /// One iteration: scaling, factorisation, prediction, corrected step.
    pub(crate) fn step(&mut self) -> Result<(), Stuck> {
        for (k, cone) in self.cones.iter_mut().enumerate() {
            cone.w = Scaling::new(self.x[k], self.z[k]);
        }
        self.system.refactor(self.problem, &self.cones)?;
        let gap = self.gap(None, 0.0);

        let aim: Vec<S::Vector> = self.z.iter().map(|z| -*z).collect();
        let mut enough = self.accuracy * self.system.aim_at(&self.cones, &aim, Some(&self.d));
        let mut direction = self.direction(enough);
        for (z, (d, cone)) in direction.z.iter_mut().zip(self.d.iter().zip(&self.cones)) {
            *z += cone.lift(*d);
        }
        let reach = self.longest(&direction).min(1.0);
        let left = self.gap(Some(&direction), reach) / gap;
        let sigma = left.clamp(0.0, 1.0).powi(3).max(CENTRING);

        // Only what the corrected aim adds is solved for: it is small near the end.
        let more = self.correction(&direction, sigma * gap);
        enough = enough.max(self.accuracy * self.system.aim_at(&self.cones, &more, None));
        direction.add(&self.direction(enough));
        let length = (INSIDE * self.longest(&direction)).min(1.0);
        let is_usable = length > 1e-12 && gap.is_finite() && gap > 0.0;
        if !is_usable {
            return Err(Stuck);
        }
        for (x, d) in self.x.iter_mut().zip(&direction.x) {
            *x += *d * length;
        }
        for (z, d) in self.z.iter_mut().zip(&direction.z) {
            *z += *d * length;
        }
        self.refresh();
        Ok(())
    }

    /// Mean of x·z after a step.
    fn gap(&self, direction: Option<&Direction<S>>, length: f64) -> f64 {
        let pairs = self.x.iter().zip(&self.z);
        let sum: f64 = match direction {
            None => pairs.map(|(x, z)| x.dot(*z)).sum(),
            Some(d) => pairs
                .zip(d.x.iter().zip(&d.z))
                .map(|((x, z), (dx, dz))| (*x + *dx * length).dot(*z + *dz * length))
                .sum(),
        };
        sum / self.x.len() as f64
    }

    /// The longest step that keeps every x and z in its cone.
    fn longest(&self, direction: &Direction<S>) -> f64 {
        let of = |from: &[S::Vector], by: &[S::Vector]| {
            from.iter().zip(by).fold(f64::INFINITY, |least, (v, d)| {
                least.min(longest_step(*v, *d))
            })
        };
        of(&self.x, &direction.x).min(of(&self.z, &direction.z))
    }

    /// What the aim x ∘ z = `gap` e, with the second-order part of the predicted step, adds to
    /// the prediction's.
    fn correction(&self, predicted: &Direction<S>, gap: f64) -> Vec<S::Vector> {
        let more = |(k, cone): (usize, &Cone<S>)| {
            let lambda = cone.w.apply(self.x[k]);
            let (dx, dz) = (predicted.x[k], predicted.z[k]);
            let second = product(cone.w.apply(dx), cone.w.apply_inverse(dz));
            let target = unit::<S::Vector>() * gap - second;
            cone.w.apply(divide(lambda, target))
        };
        self.cones.iter().enumerate().map(more).collect()
    }

    /// Δx and Δz = (I + n tᵀ) A Δx for the system's present right-hand side, to the residual
    /// `enough`.
    fn direction(&mut self, enough: f64) -> Direction<S> {
        let mut x = vec![S::Vector::default(); self.cones.len()];
        let mut z = x.clone();
        self.system.solve(self.problem, &self.cones, enough, &mut x);
        self.system.press(self.problem, &self.cones, &x, &mut z);
        Direction { x, z }
    }
}

impl<S: Space> Direction<S> {
    fn add(&mut self, other: &Self) {
        let add = |to: &mut [S::Vector], from: &[S::Vector]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
        };
        add(&mut self.x, &other.x);
        add(&mut self.z, &other.z);
    }
}

impl<S: Space> System<S> {
    fn refactor(
        &mut self,
        problem: &ContactProblem<S>,
        cones: &[Cone<S>],
    ) -> Result<(), FactorError> {
        self.shifts.clear();
        self.shifts.extend(cones.iter().map(Cone::shift));
        self.factor.refactor(problem, &self.shifts)
    }

    /// Sets the right-hand side W⁻¹(c − (I + n tᵀ) d) and gives its size.
    fn aim_at(&mut self, cones: &[Cone<S>], c: &[S::Vector], d: Option<&[S::Vector]>) -> f64 {
        let mut squares = 0.0;
        for (k, cone) in cones.iter().enumerate() {
            let missing = d.map_or_else(S::Vector::default, |d| cone.lift(d[k]));
            self.rhs[k] = cone.w.apply_inverse(c[k] - missing);
            squares += self.rhs[k].dot(self.rhs[k]);
        }
        squares.sqrt()
    }

    /// out = (I + n tᵀ) A x in cone variables.
    fn press(
        &mut self,
        problem: &ContactProblem<S>,
        cones: &[Cone<S>],
        x: &[S::Vector],
        out: &mut [S::Vector],
    ) {
        let r = &mut self.work[0];
        for ((r, x), cone) in r.iter_mut().zip(x).zip(cones) {
            *r = x.scale(cone.scale);
        }
        self.action.apply(problem, r, out);
        for (out, cone) in out.iter_mut().zip(cones) {
            *out = cone.lift(out.scale(cone.scale));
        }
    }

    /// Δx of the present right-hand side.
    fn solve(
        &mut self,
        problem: &ContactProblem<S>,
        cones: &[Cone<S>],
        enough: f64,
        x: &mut [S::Vector],
    ) {
        let [near, far] = &mut self.work;
        let (factor, action) = (&mut self.factor, &mut self.action);
        let precondition = |v: &[S::Vector], out: &mut [S::Vector]| {
            for (k, cone) in cones.iter().enumerate() {
                near[k] = cone.w.apply(v[k]).scale(cone.unscale);
            }
            factor.solve(near, out);
            for (out, cone) in out.iter_mut().zip(cones) {
                *out = cone.w.apply(out.scale(cone.unscale));
            }
        };
        let operate = |v: &[S::Vector], out: &mut [S::Vector]| {
            for (k, cone) in cones.iter().enumerate() {
                far[k] = cone.w.apply_inverse(v[k]).scale(cone.scale);
            }
            action.apply(problem, far, out);
            for (k, cone) in cones.iter().enumerate() {
                let pressed = cone.lift(out[k].scale(cone.scale));
                out[k] = v[k] + cone.w.apply_inverse(pressed);
            }
        };
        let accuracy = Accuracy {
            enough,
            most: MOST_DIRECTIONS,
        };
        self.gmres
            .solve(accuracy, &self.rhs, x, precondition, operate);
        for (x, cone) in x.iter_mut().zip(cones) {
            *x = cone.w.apply_inverse(*x);
        }
    }
}
