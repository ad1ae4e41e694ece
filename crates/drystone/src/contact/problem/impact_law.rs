//! What simultaneous impacts leave behind: the impact laws.
//!
//! # Newton
//!
//! Each contact on its own: $u_N^+ = -e\,u_N^-$ where it closed, nothing where it did not. With
//! several contacts at once all balls of a cradle bounce together, which no cradle does.
//!
//! # Reflection
//!
//! Generalised reflections (Smith, Kaufman, Vouga, Tamstorf, Grinspun, *Reflections on
//! Simultaneous Impact*, SIGGRAPH 2012). Let v be the velocities of the colliding bodies and V
//! the contacts that approach, all of them at once. Pressing them until none approaches any more
//! is a complementarity problem in their normal impulses, and doing **twice** as much reflects v:
//!
//! $$ 0 \le \lambda \perp N_V v + A_{VV}\lambda \ge 0, \qquad
//!    v \leftarrow v + 2 M^{-1} N_V^T \lambda . $$
//!
//! The energy stays: its change is $2\lambda^T(N_V v + A_{VV}\lambda) = 0$. Contacts that did not
//! approach before may do so now; they are the next V, until there is none. Simultaneous where
//! the scene is symmetric, one after another where the shock travels: the cradle and the ball
//! between two balls both come out right.
//!
//! Restitution blends as in the paper: with $v_1$ from the reflections and $v_0$ from pressing
//! just once over all contacts that the impact reaches (a perfectly inelastic impact),
//! $v^+ = e\,v_1 + (1-e)\,v_0$. Both keep momentum, neither approaches, neither gains energy, and
//! energy is convex: so is the blend. Contacts of different e in one cluster (contacts joined by
//! moving bodies) share the mean of their e, weighted by what each takes of the inelastic impact.
//!
//! # As targets
//!
//! The outcome is handed to the contact problem as **targets**: $t_i = (N v^+)_i$ for every
//! contact that took part. The impulses of the reflections solve the problem with these targets
//! (they are not negative, and the velocity is $t_i$ where they act), and without friction and
//! forces its velocities are unique: the problem's solution **is** $v^+$. Solvers, friction,
//! certificate and ledger need not know that there is an impact law. The impulses themselves are
//! the guess to start from ([`Bounce::impulse`]).
//!
//! # Which contacts
//!
//! An island collides where a contact approaches faster than the threshold and meets in this
//! step. From there the impact spreads to contacts that it makes approach (more than before) and
//! that would meet in this step: touching neighbours, and those across gaps that a step passes.
//! Velocities are those before forces: see [`super::assemble`].
//!
//! # When it fails
//!
//! The number of reflections is finite but may be large for long chains of unequal masses. After
//! [`MOST_REFLECTIONS`] the rest of the impact is inelastic: momentum is kept, some energy is
//! lost, none is made. Impulses of the complementarity problem come from sweeps, for small sets
//! corrected by pivoting; in sets that are too large for that, what is left of the error loses or
//! keeps energy but makes none, since the reflection is scaled to keep it. With friction or forces
//! in the same step the normal impulses differ a little from the reflections', and the balance of
//! energy holds to first order in the step only, as for Newton's law with friction (Kane's
//! paradox).

use super::{ContactProblem, Velocities};
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::lemke_pivoting::lemke;
use crate::model::body::Motion;
use serde::{Deserialize, Serialize};

/// How restitution is understood where several contacts meet at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpactLaw {
    /// Each contact on its own: u_N⁺ = −e u_N⁻.
    #[default]
    Newton,
    /// Generalised reflections: shocks travel through touching bodies.
    Reflection,
}

/// Most reflections of one impact; a cradle of n balls needs n − 1 for one ball in.
pub const MOST_REFLECTIONS: u32 = 1000;

/// Approach below this part of the fastest is none.
const STILL: f64 = 1e-10;

/// Contacts that meet within this part of a step of each other meet at once: a symmetric scene
/// must not fall apart because rounding puts one of its contacts into the next step.
const AT_ONCE: f64 = 1e-6;

/// Error of pressed velocities relative to the fastest approach.
const PRESSED: f64 = 1e-13;

/// Sweeps before pivoting takes over.
const SWEEPS: u32 = 200;

/// Most contacts that are pivoted: a table of n² numbers, n³ operations.
const MOST_PIVOTED: usize = 128;

/// What an impact law needs to know beyond the problem, one entry for each row.
#[derive(Clone, Copy, Debug)]
pub struct Collision<'a, S: Space> {
    /// The problem: masses and normals.
    pub problem: &'a ContactProblem<S>,
    /// Velocities before forces.
    pub before: &'a [Motion<S>],
    /// Separations d, m.
    pub gaps: &'a [f64],
    /// Coefficients of restitution e, 0 to 1.
    pub restitution: &'a [f64],
    /// Approach slower than this starts no impact, m/s.
    pub threshold: f64,
}

/// What an impact asks of one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounce {
    /// Normal velocity after the impact, m/s; negative where a gap stays open in this step.
    pub target: f64,
    /// Normal impulse of the impact, N·s.
    pub impulse: f64,
}

/// A way through the impact: velocities so far, and how the contacts were pressed.
struct Path<S: Space> {
    velocities: Velocities<S>,
    impulse: Vec<f64>,
    joined: Vec<bool>,
}

impl<S: Space> Path<S> {
    fn new(collision: &Collision<'_, S>) -> Self {
        let rows = collision.problem.rows.len();
        Self {
            velocities: Velocities {
                motion: collision.before.to_vec(),
                local: Vec::new(),
            },
            impulse: vec![0.0; rows],
            joined: vec![false; rows],
        }
    }
}

/// Generalised reflections: what the impacts of this step ask of each row, `None` where a row
/// takes no part. Problems without bodies have no impacts.
#[must_use]
pub fn reflect<S: Space>(collision: &Collision<'_, S>) -> Vec<Option<Bounce>> {
    let problem = collision.problem;
    let mut bounces = vec![None; problem.rows.len()];
    let collides = |row: usize| collision.starts(row);
    if problem.delassus.is_some() || !(0..problem.rows.len()).any(collides) {
        return bounces;
    }
    let (mut elastic, mut inelastic) = (Path::new(collision), Path::new(collision));
    for island in &problem.islands {
        let rows: Vec<usize> = island.rows().collect();
        if !rows.iter().any(|&row| collision.starts(row)) {
            continue;
        }
        let fastest = rows.iter().fold(0.0, |most: f64, &row| {
            most.max(-collision.normal_velocity(row, collision.before))
        });
        collision.press_once(&rows, fastest, &mut inelastic);
        if rows.iter().any(|&row| collision.restitution[row] > 0.0) {
            collision.reflect_all(&rows, fastest, &mut elastic);
        }
        let joined: Vec<usize> = rows
            .into_iter()
            .filter(|&row| elastic.joined[row] || inelastic.joined[row])
            .collect();
        for cluster in clusters(problem, &joined) {
            let e = collision.mean_restitution(&cluster, &inelastic);
            for row in cluster {
                let blend = |one: f64, zero: f64| e * one + (1.0 - e) * zero;
                let u = |path: &Path<S>| collision.normal_velocity(row, &path.velocities.motion);
                bounces[row] = Some(Bounce {
                    target: blend(u(&elastic), u(&inelastic)),
                    impulse: blend(elastic.impulse[row], inelastic.impulse[row]),
                });
            }
        }
    }
    bounces
}

impl<S: Space> Collision<'_, S> {
    fn normal_velocity(&self, row: usize, motion: &[Motion<S>]) -> f64 {
        self.problem.relative_velocity(row, motion).component(0)
    }

    /// Whether a contact that closes at `u` before forces meets in this step.
    fn meets(&self, row: usize, u: f64) -> bool {
        let before = self.normal_velocity(row, self.before);
        let by_forces = self.normal_velocity(row, &self.problem.free) - before;
        let travel = self.problem.dt * (u + by_forces);
        self.gaps[row] + travel < AT_ONCE * travel.abs()
    }

    /// Whether an impact starts at a row.
    fn starts(&self, row: usize) -> bool {
        let before = self.normal_velocity(row, self.before);
        before < -self.threshold && self.meets(row, before)
    }

    /// The contacts of the next reflection.
    fn approaching(&self, rows: &[usize], still: f64, path: &Path<S>) -> Vec<usize> {
        let approaches = |row: usize| {
            let u = self.normal_velocity(row, &path.velocities.motion);
            if u >= -still || !self.meets(row, u) {
                return false;
            }
            // A pile that settles slowly is no impact unless the impact reaches it.
            let before = self.normal_velocity(row, self.before);
            path.joined[row] || before < -self.threshold || u < before.min(0.0) - still
        };
        rows.iter().copied().filter(|&r| approaches(r)).collect()
    }

    /// v₁: reflects until nothing approaches.
    fn reflect_all(&self, rows: &[usize], fastest: f64, path: &mut Path<S>) {
        for _ in 0..MOST_REFLECTIONS {
            let hit = self.approaching(rows, STILL * fastest, path);
            if hit.is_empty() {
                return;
            }
            let velocity = |path: &Path<S>| -> Vec<f64> {
                let u = |&row: &usize| self.normal_velocity(row, &path.velocities.motion);
                hit.iter().map(u).collect()
            };
            let u_before = velocity(path);
            let mut lambda = vec![0.0; hit.len()];
            self.press(&hit, PRESSED * fastest, &mut lambda, path);
            let u_pressed = velocity(path);
            // Twice as much; exactly as much as keeps the energy where λ is not quite exact.
            let dot = |u: &[f64]| -> f64 { u.iter().zip(&lambda).map(|(u, l)| u * l).sum() };
            let stiffness = dot(&u_pressed) - dot(&u_before);
            let factor = if stiffness > 0.0 {
                -2.0 * dot(&u_before) / stiffness
            } else {
                2.0
            };
            for (&row, l) in hit.iter().zip(&lambda) {
                self.push(row, l * (factor - 1.0), path);
                path.impulse[row] += l * factor;
                path.joined[row] = true;
            }
        }
        self.press_once(rows, fastest, path);
    }

    /// v₀: presses all that the impact reaches until nothing approaches.
    fn press_once(&self, rows: &[usize], fastest: f64, path: &mut Path<S>) {
        let mut hit: Vec<usize> = Vec::new();
        let mut lambda: Vec<f64> = Vec::new();
        // Each round adds at least one contact.
        for _ in 0..=rows.len() {
            let more = self.approaching(rows, STILL * fastest, path);
            let more: Vec<usize> = more.into_iter().filter(|row| !hit.contains(row)).collect();
            if more.is_empty() {
                break;
            }
            for row in more {
                path.joined[row] = true;
                hit.push(row);
                lambda.push(0.0);
            }
            self.press(&hit, PRESSED * fastest, &mut lambda, path);
        }
        for (row, l) in hit.into_iter().zip(lambda) {
            path.impulse[row] += l;
        }
    }

    fn push(&self, row: usize, normal: f64, path: &mut Path<S>) {
        let local = S::Vector::default().with_component(0, normal);
        self.problem.apply(row, local, &mut path.velocities);
    }

    /// 0 ≤ λ ⊥ u ≥ 0 over some rows, from the λ that the velocities already hold.
    fn press(&self, rows: &[usize], tolerance: f64, lambda: &mut [f64], path: &mut Path<S>) {
        let admittance: Vec<f64> = rows
            .iter()
            .map(|&row| S::column(&self.problem.diagonal(row), 0).component(0))
            .collect();
        for sweep in 0..SWEEPS {
            let mut worst = 0.0_f64;
            for step in 0..rows.len() {
                // There and back, so that no contact is always the first.
                let k = if sweep % 2 == 0 {
                    step
                } else {
                    rows.len() - 1 - step
                };
                if admittance[k] <= 0.0 {
                    continue;
                }
                let u = self.normal_velocity(rows[k], &path.velocities.motion);
                let next = (lambda[k] - u / admittance[k]).max(0.0);
                worst = worst.max((next - lambda[k]).abs() * admittance[k]);
                self.push(rows[k], next - lambda[k], path);
                lambda[k] = next;
            }
            if worst <= tolerance {
                return;
            }
        }
        if rows.len() <= MOST_PIVOTED {
            self.press_by_pivoting(rows, lambda, path);
        }
    }

    /// The same, exactly; without a solution λ stays as it is.
    fn press_by_pivoting(&self, rows: &[usize], lambda: &mut [f64], path: &mut Path<S>) {
        let n = rows.len();
        let mut m = vec![0.0; n * n];
        let mut alone = Path {
            velocities: Velocities {
                motion: vec![Motion::default(); self.before.len()],
                local: Vec::new(),
            },
            impulse: Vec::new(),
            joined: Vec::new(),
        };
        for (j, &column) in rows.iter().enumerate() {
            self.push(column, 1.0, &mut alone);
            for (i, &row) in rows.iter().enumerate() {
                m[i * n + j] = self.normal_velocity(row, &alone.velocities.motion);
            }
            alone.velocities.motion.fill(Motion::default());
        }
        let q: Vec<f64> = (0..n)
            .map(|i| {
                let held: f64 = (0..n).map(|j| m[i * n + j] * lambda[j]).sum();
                self.normal_velocity(rows[i], &path.velocities.motion) - held
            })
            .collect();
        if let Ok(exact) = lemke(&m, &q, 20 * n as u32 + 100) {
            for ((&row, l), z) in rows.iter().zip(lambda).zip(exact.z) {
                self.push(row, z - *l, path);
                *l = z;
            }
        }
    }

    /// The mean of e over a cluster, weighted by the impulses of the inelastic impact.
    fn mean_restitution(&self, cluster: &[usize], inelastic: &Path<S>) -> f64 {
        let weight: f64 = cluster.iter().map(|&row| inelastic.impulse[row]).sum();
        if weight <= 0.0 {
            return 0.0;
        }
        let share = |&row: &usize| inelastic.impulse[row] * self.restitution[row];
        let mean = cluster.iter().map(share).sum::<f64>() / weight;
        mean.clamp(0.0, 1.0)
    }
}

/// Rows that are joined by moving bodies, group by group, each in rising order.
fn clusters<S: Space>(problem: &ContactProblem<S>, rows: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of_body = std::collections::BTreeMap::<u32, usize>::new();
    for &row in rows {
        let r = &problem.rows[row];
        let bodies = || {
            let both = r.a.bodies().chain(r.b.bodies());
            both.filter(|&body| problem.responses[body as usize].moves())
        };
        let mut met: Vec<usize> = bodies()
            .filter_map(|b| group_of_body.get(&b).copied())
            .collect();
        met.sort_unstable();
        let home = met.first().copied().unwrap_or(groups.len());
        if home == groups.len() {
            groups.push(Vec::new());
        }
        groups[home].push(row);
        // Groups that this row joins become one.
        for other in met.into_iter().filter(|&other| other != home) {
            let moved = std::mem::take(&mut groups[other]);
            groups[home].extend(moved);
            for group in group_of_body.values_mut().filter(|g| **g == other) {
                *group = home;
            }
        }
        group_of_body.extend(bodies().map(|body| (body, home)));
    }
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_unstable();
    }
    groups
}
