//! Every contact mode, tried in turn: an oracle for a handful of contacts.
//!
//! **Idea.** Each contact is open (γ = 0), sticks (u = 0) or slides ($\tilde u_N = 0$,
//! $\gamma = \gamma_N(n - \mu d)$ with slip along the unit vector d). Once the modes and the slip
//! directions are known the law is a linear system,
//!
//! $$ \tilde u_i = 0 \ \text{(stick)}, \qquad \tilde u_{N,i} = 0 \ \text{(slide)}, \qquad
//!    \tilde u = A\gamma + q , $$
//!
//! and its solution is an answer if it obeys the inequalities that were left out: which the judge's
//! own natural map decides. In the plane d is one of two, and trying all $4^n$ modes finds **every**
//! solution with a regular system. In space d is an angle θ for each sliding contact, and must obey
//!
//! $$ g_i(\theta) = d_i^\perp(\theta_i)\cdot u_{T,i}(\theta) = 0 . $$
//!
//! One angle is scanned for all its roots; several are found by Newton's method from many starts:
//! all solutions found, with no promise that there are no others.
//!
//! **When to use it.** To check others, and to see where contact with friction has several
//! answers or none (uniqueness holds for small μ only).
//!
//! **When it fails.** More than [`Enumerate::MOST_CONTACTS`] contacts in an island: it says so.
//! Where A is singular the answer of least norm is tried for each mode; an answer that exists
//! only elsewhere in the null space is missed.

use super::{Limits, SolveReport, Solver, Watch};
use crate::contact::problem::{ContactProblem, Impulses, Island, tangential};
use crate::geometry::Space;
use crate::judge::residual::natural_map;
use crate::math::algebra::{Components, Linear};
use crate::math::dense;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Options of the enumeration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Enumerate {
    /// When the answer is good enough; iterations are not counted.
    pub limits: Limits,
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// No impulse.
    Open,
    /// No velocity.
    Stick,
    /// Slip against full friction.
    Slide,
}

/// One solution of an island.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeSolution<S: Space> {
    /// What each contact does.
    pub modes: Vec<Mode>,
    /// Impulses, local, N·s.
    pub impulses: Vec<S::Vector>,
    /// Offset velocities, local, m/s.
    pub velocities: Vec<S::Vector>,
}

/// An island with too many contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an island has {0} contacts; at most {most} are enumerated", most = Enumerate::MOST_CONTACTS)]
pub struct TooManyContacts(pub usize);

/// Residual of an answer relative to the fastest contact without impulses. Newton's method ends
/// far below, a wrong mode far above.
const ACCEPTED: f64 = 1e-10;

/// Solutions nearer than this to each other, relative to their size, are one.
const SAME: f64 = 1e-7;

/// Angles at which a single slip direction is looked at.
const SCAN: u32 = 90;

/// Starts of Newton's method for each slip direction that is sought together with others.
const STARTS: u32 = 16;

/// Half turns of friction against the slip before Newton's method.
const TURNS: u32 = 20;

impl Enumerate {
    /// Most contacts of an island.
    pub const MOST_CONTACTS: usize = 6;

    /// All solutions found of an island. The impulses of other islands do not matter to it.
    pub fn solutions<S: Space>(
        problem: &ContactProblem<S>,
        island: Island,
    ) -> Result<Vec<ModeSolution<S>>, TooManyContacts> {
        let small = Small::new(problem, island)?;
        let mut found = Vec::new();
        small.each_mode(&mut |modes| {
            small.collect(modes, &mut found);
            false
        });
        Ok(found)
    }

    fn first<S: Space>(problem: &ContactProblem<S>, island: Island) -> Option<Vec<S::Vector>> {
        let small = Small::new(problem, island).ok()?;
        let mut found: Vec<ModeSolution<S>> = Vec::new();
        small.each_mode(&mut |modes| {
            small.collect(modes, &mut found);
            !found.is_empty()
        });
        found.into_iter().next().map(|one| one.impulses)
    }
}

impl<S: Space> Solver<S> for Enumerate {
    fn solve(&mut self, problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> SolveReport {
        let mut watch = Watch::new(self.limits, problem, impulses);
        if !watch.is_over(0) {
            let mut answer = impulses.clone();
            for &island in &problem.islands {
                if let Some(local) = Self::first(problem, island) {
                    answer.local[island.rows()].copy_from_slice(&local);
                }
            }
            watch.look(problem, &answer, 1);
        }
        watch.finish(impulses, 1, "enumerate")
    }
}

/// An island of few contacts, written out.
struct Small<S: Space> {
    contacts: usize,
    /// Block (j, i) is A_ij transposed: what an impulse at j does at i.
    blocks: Vec<S::Matrix>,
    /// Offset velocities without impulses, m/s.
    q: Vec<S::Vector>,
    mu: Vec<f64>,
    /// ρ of the natural map, kg.
    rho: Vec<f64>,
    /// Fastest contact without impulses, m/s.
    speed: f64,
}

impl<S: Space> Small<S> {
    fn new(problem: &ContactProblem<S>, island: Island) -> Result<Self, TooManyContacts> {
        let rows = island.rows();
        let contacts = rows.len();
        if contacts > Enumerate::MOST_CONTACTS {
            return Err(TooManyContacts(contacts));
        }
        let reduced = problem.reduced();
        let free = problem.free_velocities();
        let mut blocks = vec![S::matrix(|_| S::Vector::default()); contacts * contacts];
        for row in rows.clone() {
            for (column, block) in reduced.row(row) {
                blocks[(row - rows.start) * contacts + column - rows.start] = *block;
            }
        }
        let q: Vec<S::Vector> = rows
            .clone()
            .map(|row| problem.offset_velocity(row, &free))
            .collect();
        let rho = (0..contacts)
            .map(|k| S::largest_eigenvalue(&blocks[k * contacts + k]))
            .map(|most| if most > 0.0 { 1.0 / most } else { 1.0 });
        Ok(Self {
            contacts,
            rho: rho.collect(),
            mu: problem.rows[rows].iter().map(|row| row.mu).collect(),
            speed: q.iter().fold(0.0, |most: f64, q| most.max(q.length())),
            blocks,
            q,
        })
    }

    /// Calls `f` with every choice of modes until it says that it has enough.
    fn each_mode(&self, f: &mut impl FnMut(&[Mode]) -> bool) {
        let kinds = |contact: usize| -> &[Mode] {
            if self.mu[contact] > 0.0 {
                &[Mode::Stick, Mode::Slide, Mode::Open]
            } else {
                // Without friction to stick is to slide at no speed.
                &[Mode::Slide, Mode::Open]
            }
        };
        let mut digits = vec![0; self.contacts];
        loop {
            let modes: Vec<Mode> = digits
                .iter()
                .enumerate()
                .map(|(contact, &digit): (usize, &usize)| kinds(contact)[digit])
                .collect();
            if f(&modes) {
                return;
            }
            // Counts up; the contact that overflows goes back to its first mode.
            let Some(next) = (0..self.contacts).find(|&k| digits[k] + 1 < kinds(k).len()) else {
                return;
            };
            digits[next] += 1;
            digits[..next].fill(0);
        }
    }

    fn velocities(&self, impulses: &[S::Vector]) -> Vec<S::Vector> {
        (0..self.contacts)
            .map(|i| {
                (0..self.contacts).fold(self.q[i], |u, j| {
                    u + S::to_local(&self.blocks[j * self.contacts + i], impulses[j])
                })
            })
            .collect()
    }

    /// Adds the solutions with these modes that are not there yet.
    fn collect(&self, modes: &[Mode], found: &mut Vec<ModeSolution<S>>) {
        let sliding: Vec<usize> = (0..self.contacts)
            .filter(|&k| modes[k] == Mode::Slide && self.mu[k] > 0.0)
            .collect();
        for directions in self.directions(modes, &sliding) {
            let Some(impulses) = self.answer(modes, &directions) else {
                continue;
            };
            let velocities = self.velocities(&impulses);
            let is_right = (0..self.contacts).all(|k| {
                let error = natural_map(impulses[k], velocities[k], self.mu[k], self.rho[k]);
                error.length() <= ACCEPTED * self.speed * self.rho[k]
            });
            let is_new = found.iter().all(|other| {
                let pairs = other.impulses.iter().zip(&impulses);
                pairs.clone().any(|(a, b)| {
                    (*a - *b).length() > SAME * a.length().max(b.length()).max(f64::MIN_POSITIVE)
                })
            });
            if is_right && is_new {
                found.push(ModeSolution {
                    modes: modes.to_vec(),
                    impulses,
                    velocities,
                });
            }
        }
    }

    /// The linear system of the modes, for given slip directions of all contacts.
    fn answer(&self, modes: &[Mode], directions: &[S::Vector]) -> Option<Vec<S::Vector>> {
        let axis = |k: usize| S::Vector::default().with_component(k, 1.0);
        // (contact, direction of its impulse, direction in which its velocity must be zero)
        let mut unknowns: Vec<(usize, S::Vector, S::Vector)> = Vec::new();
        for (k, mode) in modes.iter().enumerate() {
            match mode {
                Mode::Open => {}
                Mode::Stick => unknowns.extend((0..S::DIM).map(|a| (k, axis(a), axis(a)))),
                Mode::Slide => {
                    unknowns.push((k, axis(0) - directions[k] * self.mu[k], axis(0)));
                }
            }
        }
        let mut system = Vec::with_capacity(unknowns.len() * unknowns.len());
        for (i, _, still) in &unknowns {
            for (j, along, _) in &unknowns {
                let block = &self.blocks[j * self.contacts + i];
                system.push(still.dot(S::to_local(block, *along)));
            }
        }
        let load: Vec<f64> = unknowns
            .iter()
            .map(|(i, _, still)| -still.dot(self.q[*i]))
            .collect();
        let x = dense::solve(&system, &load).or_else(|| dense::least_norm(&system, &load))?;
        let mut impulses = vec![S::Vector::default(); self.contacts];
        for ((k, along, _), x) in unknowns.iter().zip(x) {
            impulses[*k] += *along * x;
        }
        Some(impulses)
    }
}

/// Slip directions.
impl<S: Space> Small<S> {
    /// Slip directions that may go with these modes: one set for all contacts each.
    fn directions(&self, modes: &[Mode], sliding: &[usize]) -> Vec<Vec<S::Vector>> {
        if sliding.is_empty() {
            return vec![vec![S::Vector::default(); self.contacts]];
        }
        if S::DIM == 2 {
            let tangent = S::Vector::default().with_component(1, 1.0);
            let signs = |choice: u32| {
                let mut directions = vec![S::Vector::default(); self.contacts];
                for (bit, &k) in sliding.iter().enumerate() {
                    let is_back = choice >> bit & 1 == 1;
                    directions[k] = if is_back { -tangent } else { tangent };
                }
                directions
            };
            return (0..1 << sliding.len()).map(signs).collect();
        }
        let slip = Slip {
            small: self,
            modes,
            sliding,
        };
        let roots = if sliding.len() == 1 {
            slip.scan()
        } else {
            slip.starts()
                .into_iter()
                .flat_map(|start| [slip.turned(&start), Some(start)])
                .filter_map(|start| slip.newton(start?))
                .collect()
        };
        roots.iter().map(|angles| slip.directions(angles)).collect()
    }
}

/// The search for the angles of slip, in space.
struct Slip<'a, S: Space> {
    small: &'a Small<S>,
    modes: &'a [Mode],
    sliding: &'a [usize],
}

impl<S: Space> Slip<'_, S> {
    fn unit(angle: f64) -> S::Vector {
        let along = S::Vector::default().with_component(1, libm::cos(angle));
        along.with_component(2, libm::sin(angle))
    }

    fn directions(&self, angles: &[f64]) -> Vec<S::Vector> {
        let mut directions = vec![S::Vector::default(); self.small.contacts];
        for (&k, &angle) in self.sliding.iter().zip(angles) {
            directions[k] = Self::unit(angle);
        }
        directions
    }

    /// u_T of the sliding contacts for given angles of friction.
    fn slips(&self, angles: &[f64]) -> Option<Vec<S::Vector>> {
        let impulses = self.small.answer(self.modes, &self.directions(angles))?;
        let velocities = self.small.velocities(&impulses);
        let slips = self.sliding.iter().map(|&k| tangential(velocities[k]));
        Some(slips.collect())
    }

    /// g(θ): slip across the direction that friction assumes.
    fn across(&self, angles: &[f64]) -> Option<Vec<f64>> {
        let quarter = std::f64::consts::FRAC_PI_2;
        let pairs = self.slips(angles)?.into_iter().zip(angles);
        Some(
            pairs
                .map(|(u, angle)| Self::unit(angle + quarter).dot(u))
                .collect(),
        )
    }

    /// All roots of a single angle: signs are compared all around and halved in on.
    fn scan(&self) -> Vec<Vec<f64>> {
        let at = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(SCAN);
        let g = |angle: f64| self.across(&[angle]).map(|g| g[0]);
        let mut roots = Vec::new();
        for k in 0..SCAN {
            let (mut low, mut high) = (at(k), at(k + 1));
            let (Some(g_low), Some(g_high)) = (g(low), g(high)) else {
                continue;
            };
            if g_low == 0.0 {
                roots.push(vec![low]);
            }
            if g_low * g_high >= 0.0 {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                match g(middle) {
                    Some(g_middle) if g_middle * g_low > 0.0 => low = middle,
                    Some(_) => high = middle,
                    None => break,
                }
            }
            roots.push(vec![0.5 * (low + high)]);
        }
        roots
    }

    /// Where to start from: along the free slip, then spread evenly over all angles together
    /// (multiples of irrational parts of a circle, one for each angle).
    fn starts(&self) -> Vec<Vec<f64>> {
        let angle = |u: S::Vector| libm::atan2(u.component(2), u.component(1));
        let free = self.sliding.iter().map(|&k| angle(self.small.q[k]));
        let mut starts = vec![free.collect::<Vec<f64>>()];
        for start in 1..=STARTS * self.sliding.len() as u32 {
            let spread = |k: usize| {
                let part = [
                    0.618_034, 0.414_214, 0.732_051, 0.236_068, 0.645_751, 0.316_625,
                ][k % 6];
                std::f64::consts::TAU * f64::from(start) * part
            };
            starts.push((0..self.sliding.len()).map(spread).collect());
        }
        starts
    }

    /// Turns friction against the slip it leaves, half of the way each time: comes near the
    /// answers that Newton's method alone is thrown off from.
    fn turned(&self, start: &[f64]) -> Option<Vec<f64>> {
        let mut angles = start.to_vec();
        for _ in 0..TURNS {
            let slips = self.slips(&angles)?;
            for (angle, u) in angles.iter_mut().zip(slips) {
                let speed = u.length().max(f64::MIN_POSITIVE);
                let between = Self::unit(*angle) + u * (1.0 / speed);
                *angle = libm::atan2(between.component(2), between.component(1));
            }
        }
        Some(angles)
    }

    /// Newton's method for g(θ) = 0.
    fn newton(&self, mut angles: Vec<f64>) -> Option<Vec<f64>> {
        let n = angles.len();
        for _ in 0..25 {
            let g = self.across(&angles)?;
            let mut jacobian = vec![0.0; n * n];
            let h = 1e-6;
            for j in 0..n {
                let mut off = angles.clone();
                off[j] += h;
                let above = self.across(&off)?;
                off[j] -= 2.0 * h;
                let below = self.across(&off)?;
                for i in 0..n {
                    jacobian[i * n + j] = (above[i] - below[i]) / (2.0 * h);
                }
            }
            let step = dense::solve(&jacobian, &g)?;
            let longest = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            // Half a radian at most: further out the linear picture is wrong.
            let part = (0.5 / longest.max(f64::MIN_POSITIVE)).min(1.0);
            for (angle, step) in angles.iter_mut().zip(&step) {
                *angle -= part * step;
            }
            if longest < 1e-13 {
                break;
            }
        }
        Some(angles)
    }
}
