//! Shock propagation: a first guess from the levels of the contact graph.
//!
//! **This is no solution of the law.** It is a guess that costs a few sweeps and that a solver
//! can start from where there is nothing better. Stacks on the ground profit most: a sweep moves
//! loads by one stone per visit, the levels move them through the whole stack at once.
//!
//! The *level* of a body is its distance from the ground in contacts: 0 for what nothing moves
//! (fixed, kinematic), 1 for what touches it, and so on, breadth first. A contact belongs to the
//! higher of its bodies; bodies with no path to the ground share level 1.
//!
//! 1. **Up** (E. Guendelman, R. Bridson, R. Fedkiw, *Nonconvex rigid bodies with stacking*, 2003;
//!    K. Erleben, *Velocity-based shock propagation for multibody dynamics animation*, 2007):
//!    level by level from the ground the contacts of a level are swept a few times, with all
//!    lower bodies frozen, as if of infinite mass. The velocities that come out are what the pile
//!    does if every level stands on a firm one. But the impulses of this pass are useless as a
//!    guess: each level carries only itself, since what is frozen does not feel its load.
//! 2. **Down**: level by level from the top the contacts are swept again, the lower bodies
//!    frozen at the velocities of the first pass; then the impulses act on the lower bodies for
//!    good, so that the next level carries what stands on it. In a stack at rest each contact
//!    ends up with the weight above it, as good as the few sweeps of a level are.
//!
//! **When it fails**: loads that do not go down to the ground by levels (arches, wedges, piles
//! between walls, anything thrown) are guessed wrong. So the guess is taken only if the judge
//! finds it better than what was there. A matrix problem has no bodies and no levels.

use super::relaxation::{LocalSolve, solve_contact};
use super::single_contact::LocalContact;
use super::stopping::clean;
use crate::contact::problem::{ContactProblem, Impulses, Response, Velocities};
use crate::geometry::Space;
use crate::judge::residual::judge;
use crate::math::algebra::Linear;

/// Sweeps over one level, in each of the two passes.
const SWEEPS_PER_LEVEL: u32 = 8;

/// Replaces `impulses` by a guess from shock propagation, where that has a smaller relative
/// residual; says whether it did. Always false for a problem that comes as a matrix.
pub fn shock_guess<S: Space>(problem: &ContactProblem<S>, impulses: &mut Impulses<S>) -> bool {
    if problem.delassus.is_some() || problem.rows.is_empty() {
        return false;
    }
    clean(problem, impulses);
    let mut pile = Pile::new(problem);
    for level in 1..pile.rows.count() {
        pile.solve_level_upwards(level);
    }
    for level in (1..pile.rows.count()).rev() {
        pile.solve_level_downwards(level);
    }
    let guess = pile.guess;
    let is_number = guess.local.iter().all(|r| r.is_finite());
    let is_better =
        is_number && judge(problem, &guess).relative < judge(problem, impulses).relative;
    if is_better {
        *impulses = guess;
    }
    is_better
}

/// A pile of levels on its way to a guess.
struct Pile<'a, S: Space> {
    problem: &'a ContactProblem<S>,
    /// The problem with lower bodies frozen.
    frozen: ContactProblem<S>,
    /// Bodies and rows by level.
    bodies: ByLevel,
    rows: ByLevel,
    /// Velocities as the frozen problem has them.
    velocities: Velocities<S>,
    /// v\* and what the levels above have added to it.
    loaded: Velocities<S>,
    guess: Impulses<S>,
}

impl<'a, S: Space> Pile<'a, S> {
    fn new(problem: &'a ContactProblem<S>) -> Self {
        let levels = body_levels(problem);
        let of_row = |row: usize| {
            let sides = problem.rows[row]
                .a
                .bodies()
                .chain(problem.rows[row].b.bodies());
            sides.map(|body| levels[body as usize]).max().unwrap_or(0)
        };
        Self {
            problem,
            frozen: problem.clone(),
            bodies: ByLevel::new(levels.len(), |body| levels[body]),
            rows: ByLevel::new(problem.rows.len(), of_row),
            velocities: problem.free_velocities(),
            loaded: problem.free_velocities(),
            guess: Impulses {
                local: vec![S::Vector::default(); problem.rows.len()],
            },
        }
    }

    /// Sweeps a level on its frozen support, then freezes it.
    fn solve_level_upwards(&mut self, level: usize) {
        self.sweep_level(level);
        for &body in self.bodies.at(level) {
            self.frozen.responses[body] = Response::default();
        }
    }

    /// Sweeps a level with the loads from above, then puts its own load on those below.
    fn solve_level_downwards(&mut self, level: usize) {
        for &body in self.bodies.at(level) {
            self.frozen.responses[body] = self.problem.responses[body];
            self.velocities.motion[body] = self.loaded.motion[body];
        }
        for &row in self.rows.at(level) {
            self.guess.local[row] = S::Vector::default();
        }
        self.sweep_level(level);
        for &row in self.rows.at(level) {
            self.problem
                .apply(row, self.guess.local[row], &mut self.loaded);
        }
    }

    fn sweep_level(&mut self, level: usize) {
        let contacts: Vec<(usize, LocalContact<S>)> = (self.rows.at(level).iter())
            .map(|&row| {
                let mu = self.problem.rows[row].mu;
                (row, LocalContact::new(self.frozen.diagonal(row), mu))
            })
            .collect();
        for sweep in 0..SWEEPS_PER_LEVEL {
            for k in 0..contacts.len() {
                let back = contacts.len() - 1 - k;
                let (row, contact) = &contacts[if sweep % 2 == 0 { k } else { back }];
                let r = self.guess.local[*row];
                let u = self.frozen.offset_velocity(*row, &self.velocities);
                let next = solve_contact(contact, LocalSolve::Exact, r, u);
                self.frozen.apply(*row, next - r, &mut self.velocities);
                self.guess.local[*row] = next;
            }
        }
    }
}

/// Indices sorted by level, in rising order within one.
struct ByLevel {
    indices: Vec<usize>,
    /// Where each level begins, and the end.
    starts: Vec<usize>,
}

impl ByLevel {
    fn new(count: usize, level: impl Fn(usize) -> u32) -> Self {
        let mut indices: Vec<usize> = (0..count).collect();
        indices.sort_by_key(|&k| level(k));
        let levels = indices.last().map_or(0, |&k| level(k) + 1);
        let starts = (0..=levels)
            .map(|l| indices.partition_point(|&k| level(k) < l))
            .collect();
        Self { indices, starts }
    }

    /// How many levels there are.
    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The indices of a level.
    fn at(&self, level: usize) -> &[usize] {
        match self.starts.get(level..level + 2) {
            Some(ends) => &self.indices[ends[0]..ends[1]],
            None => &[],
        }
    }
}

/// Distance of each body from the ground in contacts; 0 for what nothing moves.
fn body_levels<S: Space>(problem: &ContactProblem<S>) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let mut levels: Vec<u32> = (problem.responses.iter())
        .map(|response| {
            if *response == Response::default() {
                0
            } else {
                UNKNOWN
            }
        })
        .collect();
    let (starts, neighbours) = neighbours_of(problem);
    let mut front: Vec<u32> = Vec::new();
    for row in &problem.rows {
        let is_ground = |body: u32| levels[body as usize] == 0;
        let [a, b] = [row.a, row.b].map(|side| side.bodies().all(is_ground));
        if a || b {
            front.extend(row.a.bodies().chain(row.b.bodies()));
        }
    }
    let mut level = 1;
    while !front.is_empty() {
        front.retain(|&body| levels[body as usize] == UNKNOWN);
        front.sort_unstable();
        front.dedup();
        for &body in &front {
            levels[body as usize] = level;
        }
        let of = |body: u32| starts[body as usize]..starts[body as usize + 1];
        front = front
            .iter()
            .flat_map(|&body| neighbours[of(body)].iter().copied())
            .collect();
        level += 1;
    }
    for level in levels.iter_mut().filter(|level| **level == UNKNOWN) {
        *level = 1;
    }
    levels
}

/// The bodies that each body touches, as lists one after another, and where each begins.
fn neighbours_of<S: Space>(problem: &ContactProblem<S>) -> (Vec<usize>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for row in &problem.rows {
        for a in row.a.bodies() {
            for b in row.b.bodies() {
                pairs.push((a, b));
                pairs.push((b, a));
            }
        }
    }
    pairs.sort_unstable();
    let starts = (0..=problem.responses.len())
        .map(|body| pairs.partition_point(|pair| (pair.0 as usize) < body))
        .collect();
    (starts, pairs.into_iter().map(|pair| pair.1).collect())
}
