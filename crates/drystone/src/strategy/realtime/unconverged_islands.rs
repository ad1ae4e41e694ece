//! Exact solution of islands that the rounds leave unconverged.
//!
//! A few rounds of block descent are enough where forces change little from step to step. Where they
//! do not (a wall that was just set up, an arch that begins to lean, a stone that takes over what
//! another one carried), what is left undone moves stones that should stand. So after the rounds the
//! kernels say of each manifold how far its law is from holding ([`manifold::errors`]), and an island
//! with a larger error than [`GOAL`] is written out as a [`ContactProblem`] in double precision,
//! from the forces that the rounds came to, and solved by [`Newton`]'s method, a thousand times as
//! accurately. Both have the same fixed points: a force that is known in full leaves nothing to its
//! spring, so what was solved once rests on its forces from then on. A tower of 150 crooked boxes
//! needs one solution of six iterations. (Where every contact is right to the goal only, the errors
//! of a tall stack add up to a swing that grows; hence the accuracy.)
//!
//! What that costs is bounded by counts, island by island, so that results depend neither on the
//! machine nor on what is far away. Islands with more than [`Realtime::exact_points`] points are left
//! to the rounds, and so are larger ones that tumble: where bodies fly about, forces are new in every
//! step and their last digits decide nothing. Where exact solutions do not last, because what they
//! are of keeps moving, or where there is none to be found, they become rare ([`Turn`]).

use super::manifold_store::Manifold;
use super::{Circumstances, RealTime, Realtime};
use crate::contact::problem::assemble::response;
use crate::contact::problem::{ContactProblem, Impulses, Island, Response, Row, Side};
use crate::dynamics::integrate::Damped;
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear, vector};
use crate::model::body::{Bodies, Kind, Motion};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::solver::{Limits, Newton, Solver};
use serde::{Deserialize, Serialize};

/// Error of a contact that is left to the coming steps, as a part of what a step of free fall adds
/// to a velocity.
const GOAL: f64 = 1e-3;

/// Error of a solution, as a part of the goal. Taller stacks would need it smaller.
const ACCURACY: f64 = 1e-3;

/// Iterations of Newton's method. Most solutions take five to nine; where fifteen are not enough,
/// sixty mostly are not either.
const ITERATIONS: u32 = 15;

/// Part of what a step of free fall adds to a velocity by which the velocities of an island may change
/// in a step if its forces are those of the next step, too. Where they change by more, most of its
/// forces stopped something: to know them in the next step would be to throw it back.
const STEADY: f64 = 0.1;

/// Islands of so few points are solved however fast their bodies meet: else a heavy stone that drops
/// on a stack would leave overlaps that no later step undoes well.
const FAST_POINTS: usize = 100;

/// Bodies and manifolds that hang together.
#[derive(Clone, Debug, Default)]
struct Cluster {
    /// Bodies that move, ascending.
    bodies: Vec<u32>,
    /// Manifolds in the order of their bodies.
    manifolds: Vec<u32>,
    /// Their points.
    points: usize,
    /// The largest error of a contact of it after the rounds, m/s.
    error: f64,
    /// Whether bodies in it slide or meet faster than [`Realtime::exact_speed`].
    is_fast: bool,
}

/// What an island came to.
struct Solved<S: Space> {
    /// Displacements in the substep, of each body.
    shifts: Vec<Motion<S>>,
    /// Forces at the points of each manifold, N, normal first.
    forces: Vec<S::Vector>,
    /// The largest error of a contact, m/s.
    error: f64,
    /// Whether its forces are those of one step only ([`STEADY`]).
    is_passing: bool,
}

/// A force that the rounds came to, of a manifold and a point of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct KnownForce<S: Space> {
    manifold: u32,
    point: u32,
    /// N, normal first.
    force: S::Vector,
}

/// When the island of a body may be solved exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Turn {
    /// Solutions until the next pause.
    left: u8,
    /// Steps until the next solution.
    wait: u8,
    /// Pauses that were made, less the steps in which no solution was needed.
    pauses: u8,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            left: BURST,
            wait: 0,
            pauses: 0,
        }
    }
}

impl Turn {
    /// After a solution. What fails will mostly fail again, and what is fast is another problem in the
    /// next step: these count for several.
    fn after(self, is_solved: bool, is_fast: bool) -> Self {
        let cost = match (is_solved, is_fast) {
            (true, false) => 1,
            (true, true) => 2,
            (false, _) => BURST / 2,
        };
        match self.left.saturating_sub(cost) {
            0 => Self {
                left: AGAIN,
                wait: PAUSE << self.pauses,
                pauses: (self.pauses + 1).min(DOUBLINGS),
            },
            left => Self { left, ..self },
        }
    }

    /// After a step in which no solution was needed.
    fn calmed(self) -> Self {
        Self {
            left: (self.left + 1).min(BURST),
            wait: self.wait.saturating_sub(1),
            pauses: if self.left < BURST {
                self.pauses
            } else {
                self.pauses.saturating_sub(1)
            },
        }
    }

    /// The one that lets an island of both wait longer.
    fn stricter(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            wait: self.wait.max(other.wait),
            pauses: self.pauses.max(other.pauses),
        }
    }
}

/// Solutions in a row. What was just set up takes one to three until its forces are known.
const BURST: u8 = 8;

/// Solutions in a row after a pause: the first stops what swings, the next find the forces on which it
/// then rests.
const AGAIN: u8 = 3;

/// Steps without one after that; twice as many after each that follows.
const PAUSE: u8 = 31;

/// How many times the pause doubles at most.
const DOUBLINGS: u8 = 3;

/// What is known of islands that the rounds left unconverged.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Unconverged<S: Space> {
    /// Of each body.
    turns: Vec<Turn>,
    /// What the next step is to start from in the place of forces of one step only.
    known: Vec<KnownForce<S>>,
    /// Error of each record, m/s.
    #[serde(skip)]
    errors: Vec<f32>,
    /// Kept for their memory.
    #[serde(skip)]
    is_seen: Vec<bool>,
    #[serde(skip)]
    queue: Vec<u32>,
}

impl<S: Space> Default for Unconverged<S> {
    fn default() -> Self {
        Self {
            turns: Vec::new(),
            known: Vec::new(),
            errors: Vec::new(),
            is_seen: Vec::new(),
            queue: Vec::new(),
        }
    }
}

impl<S: Space> Unconverged<S> {
    /// Makes room for so many bodies.
    pub(super) fn grow(&mut self, bodies: usize) {
        self.turns.resize(bodies, Turn::default());
    }

    /// Forgets bodies that are others now.
    pub(super) fn forget(&mut self, bodies: &[u32]) {
        for &k in bodies {
            self.turns[k as usize] = Turn::default();
        }
    }

    /// A list for the errors of so many records, all zero.
    pub(super) fn errors(&mut self, records: usize) -> &mut [f32] {
        self.errors.clear();
        self.errors.resize(records, 0.0);
        &mut self.errors
    }

    /// Whether numbers from outside fit together.
    pub(super) fn is_consistent(&self, bodies: usize) -> bool {
        let is_valid = |turn: &Turn| {
            let is_short = turn.wait <= PAUSE << DOUBLINGS;
            is_short && turn.left <= BURST && turn.pauses <= DOUBLINGS
        };
        let is_force = |known: &KnownForce<S>| known.force.is_finite();
        self.turns.len() <= bodies
            && self.turns.iter().all(is_valid)
            && self.known.iter().all(is_force)
    }

    /// Whether an island may be solved in this step; if not, it waits a step less.
    fn may_solve(&mut self, cluster: &Cluster) -> bool {
        let turns = cluster.bodies.iter().map(|&k| self.turns[k as usize]);
        let all = turns.fold(Turn::default(), Turn::stricter);
        let next = Turn {
            wait: all.wait.saturating_sub(1),
            ..all
        };
        self.set_turn(cluster, next);
        all.wait == 0
    }

    /// Notes how the solution of an island that was allowed one went.
    fn note(&mut self, cluster: &Cluster, is_solved: bool) {
        let turn = self.turns[cluster.bodies[0] as usize];
        self.set_turn(cluster, turn.after(is_solved, cluster.is_fast));
    }

    /// The bodies of an island have the same turn.
    fn set_turn(&mut self, cluster: &Cluster, turn: Turn) {
        for &k in &cluster.bodies {
            self.turns[k as usize] = turn;
        }
    }

    /// Gives a solution back to bodies that were in no unconverged island in this step.
    fn calm(&mut self) {
        let is_seen = self.is_seen.iter().chain(std::iter::repeat(&false));
        for (turn, _) in self
            .turns
            .iter_mut()
            .zip(is_seen)
            .filter(|(_, seen)| !**seen)
        {
            *turn = turn.calmed();
        }
    }
}

impl<S: Space> RealTime<S> {
    /// Puts what is known in the place of forces that were those of the last step only.
    pub(super) fn recall_forces(&mut self) {
        for known in self.unconverged.known.drain(..) {
            let (number, point) = (known.manifold, known.point as usize);
            let records = &mut self.manifolds.records;
            if records.has_point::<S>(number, point) {
                records.set_force::<S>(number, point, known.force);
            }
        }
    }

    /// Solves the islands whose errors are too large. Poses and motion in `bodies` are those before
    /// the step.
    pub(super) fn solve_unconverged(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        around: &Circumstances<'_, S>,
    ) {
        let h = around.settings.dt / f64::from(options.substeps);
        let gravity = around.settings.gravity.length();
        let goal = GOAL * h * if gravity > 0.0 { gravity } else { 9.81 };
        let mut clusters = self.find_unconverged(bodies, options, goal);
        clusters.retain(|cluster| self.unconverged.may_solve(cluster));
        self.unconverged.calm();
        if clusters.is_empty() {
            return;
        }
        let mut solved: Vec<Option<Solved<S>>> = Vec::new();
        solved.resize_with(clusters.len(), || None);
        let results = SharedSlice::new(&mut solved);
        let state = &*self;
        thread_pool::deal(around.settings.threads as usize, clusters.len(), |k| {
            results.change(k, |result| {
                *result = state.solve_cluster(bodies, &clusters[k], h, goal);
            });
        });
        for (cluster, solved) in clusters.iter().zip(solved) {
            let is_solved = solved.as_ref().is_some_and(|solved| solved.error <= goal);
            self.unconverged.note(cluster, is_solved);
            let Some(solved) = solved else { continue };
            for (&body, shift) in cluster.bodies.iter().zip(&solved.shifts) {
                self.columns.set_shift(body as usize, shift);
            }
            let mut forces = solved.forces.iter();
            for &number in &cluster.manifolds {
                for point in 0..self.manifolds.manifold(number).count {
                    let Some(force) = forces.next() else { break };
                    let records = &mut self.manifolds.records;
                    if solved.is_passing {
                        self.unconverged.known.push(KnownForce {
                            manifold: number,
                            point: point as u32,
                            force: vector::<S>(records.force::<S>(number, point)),
                        });
                    }
                    records.set_force::<S>(number, point, *force);
                }
            }
        }
    }

    /// Islands with an error above the goal that are small and slow enough.
    fn find_unconverged(
        &mut self,
        bodies: &Bodies<S>,
        options: &Realtime,
        goal: f64,
    ) -> Vec<Cluster> {
        let mut search = std::mem::take(&mut self.unconverged);
        let mut clusters = Vec::new();
        let is_large = |&record: &usize| f64::from(search.errors[record]) > goal;
        let mut records = (1..search.errors.len()).filter(is_large).peekable();
        search.is_seen.clear();
        if records.peek().is_some() {
            search.is_seen.resize(bodies.len(), false);
            for record in records {
                let ends = self.manifolds.ends(record as u32 - 1);
                for body in ends.into_iter().filter(|&k| self.graph.moves[k as usize]) {
                    if !search.is_seen[body as usize] {
                        let (errors, seen) = (&search.errors, &mut search.is_seen);
                        let queue = &mut search.queue;
                        clusters.extend(self.gather(bodies, options, body, (errors, seen, queue)));
                    }
                }
            }
        }
        self.unconverged = search;
        clusters
    }

    /// The island of a body; none if it is not to be solved.
    fn gather(
        &self,
        bodies: &Bodies<S>,
        options: &Realtime,
        first: u32,
        (errors, is_seen, queue): (&[f32], &mut [bool], &mut Vec<u32>),
    ) -> Option<Cluster> {
        queue.clear();
        queue.push(first);
        is_seen[first as usize] = true;
        let mut cluster = Cluster::default();
        let (mut is_whole, mut speed) = (true, 0.0_f64);
        let mut next = 0;
        while let Some(&body) = queue.get(next) {
            next += 1;
            is_whole &= !self.links.ties_body(body as usize);
            for (record, other, side) in self.graph.manifolds_of(body as usize) {
                let is_moving = self.graph.moves[other as usize];
                if is_moving && !is_seen[other as usize] {
                    is_seen[other as usize] = true;
                    queue.push(other);
                }
                // Each once: by its body A, or by the one that moves.
                if side < 0.0 || !is_moving {
                    let manifold = self.manifolds.manifold(record - 1);
                    cluster.points += manifold.count;
                    speed = speed.max(self.parting_speed(bodies, manifold));
                    cluster.manifolds.push(record - 1);
                    cluster.error = cluster.error.max(f64::from(errors[record as usize]));
                }
            }
            is_whole &= cluster.points <= options.exact_points as usize;
        }
        cluster.is_fast = speed > options.exact_speed;
        if !is_whole || (cluster.points > FAST_POINTS && cluster.is_fast) {
            return None;
        }
        cluster.bodies.clone_from(queue);
        cluster.bodies.sort_unstable();
        let place = |number: &u32| {
            let manifold = self.manifolds.manifold(*number);
            (manifold.a, manifold.b, manifold.points[0].position)
        };
        cluster.manifolds.sort_by(|one, other| {
            let (one, other) = (place(one), place(other));
            let at = |v: &S::Vector, axis: usize| v.component(axis);
            (0..S::DIM).fold((one.0, one.1).cmp(&(other.0, other.1)), |order, axis| {
                order.then(at(&one.2, axis).total_cmp(&at(&other.2, axis)))
            })
        });
        Some(cluster)
    }

    /// The speed of one body against the other where they touch before the step, m/s.
    fn parting_speed(&self, bodies: &Bodies<S>, manifold: &Manifold<S>) -> f64 {
        let [a, b] = [manifold.a, manifold.b].map(|body| {
            let motion = &bodies.motion[body as usize];
            let arm = manifold.points[0].position - self.columns.base[body as usize].position;
            motion.linear + S::spin_cross(motion.spin, arm)
        });
        (b - a).length()
    }

    /// Solves an island; nothing if that leaves a larger error than the rounds did.
    fn solve_cluster(
        &self,
        bodies: &Bodies<S>,
        cluster: &Cluster,
        h: f64,
        goal: f64,
    ) -> Option<Solved<S>> {
        let (problem, mut impulses) = self.problem_of(bodies, cluster, h);
        let mut solver = Newton {
            limits: Limits {
                iterations: ITERATIONS,
                tolerance: ACCURACY * goal,
                ..Limits::default()
            },
            ..Newton::default()
        };
        let report = solver.solve(&problem, &mut impulses);
        let is_better = report.residual < cluster.error;
        is_better.then(|| {
            let velocities = problem.velocities(&impulses).motion;
            let moved = velocities.iter().take(cluster.bodies.len());
            let is_passing = moved.clone().zip(&cluster.bodies).any(|(v, &k)| {
                let change = v.linear - bodies.motion[k as usize].linear;
                change.length() > STEADY / GOAL * goal
            });
            Solved {
                is_passing,
                shifts: moved
                    .map(|v| Motion {
                        linear: v.linear * h,
                        spin: v.spin * h,
                    })
                    .collect(),
                forces: impulses.local.iter().map(|r| *r * (1.0 / h)).collect(),
                error: report.residual,
            }
        })
    }

    /// The contact problem of an island in this substep, and the impulses that the rounds came to.
    fn problem_of(
        &self,
        bodies: &Bodies<S>,
        cluster: &Cluster,
        h: f64,
    ) -> (ContactProblem<S>, Impulses<S>) {
        let mut problem = ContactProblem {
            dt: h,
            ..ContactProblem::default()
        };
        for &body in &cluster.bodies {
            let k = body as usize;
            let (linear, angular) = bodies.damping[k];
            let part = |damping| Damped::new(damping, h).reach / h;
            let own = response(bodies, k);
            problem.responses.push(Response {
                inv_mass: own.inv_mass * part(linear),
                inv_inertia: S::scale_inertia(&own.inv_inertia, part(angular)),
            });
            problem.free.push(per_second(&self.columns.aim_of(k), h));
        }
        let mut impulses = Impulses::default();
        for &number in &cluster.manifolds {
            let manifold = self.manifolds.manifold(number);
            for (k, point) in manifold.points[..manifold.count].iter().enumerate() {
                let side = |body| self.side_in(bodies, cluster, body, point.position);
                let row = Row {
                    a: side(manifold.a),
                    b: side(manifold.b),
                    basis: manifold.basis,
                    mu: manifold.surface.friction,
                    target: -self.manifolds.records.gap::<S>(number, k) / h,
                };
                problem.rows.push(row);
                let force = vector::<S>(self.manifolds.records.force::<S>(number, k));
                impulses.local.push(force * h);
            }
            self.let_move(bodies, manifold, &mut problem, h);
        }
        problem.islands = vec![Island {
            start: 0,
            end: problem.rows.len() as u32,
        }];
        (problem, impulses)
    }

    /// A body's side of a contact, in the numbering of the island.
    fn side_in(
        &self,
        bodies: &Bodies<S>,
        cluster: &Cluster,
        body: u32,
        position: S::Vector,
    ) -> Side<S> {
        let k = body as usize;
        let arm = position - self.columns.base[k].position;
        match (cluster.bodies.binary_search(&body), &bodies.kind[k]) {
            (Ok(at), Kind::Particle) => Side::Particle { body: at as u32 },
            (Ok(at), _) => Side::Rigid {
                body: at as u32,
                arm,
            },
            _ => Side::Fixed,
        }
    }

    /// Lets the last rows of a problem, those of a manifold, move with what moves by itself: a scripted
    /// body, or a belt.
    fn let_move(
        &self,
        bodies: &Bodies<S>,
        manifold: &Manifold<S>,
        problem: &mut ContactProblem<S>,
        h: f64,
    ) {
        let first = problem.rows.len() - manifold.count;
        for (side, body) in [(0, manifold.a), (1, manifold.b)] {
            let k = body as usize;
            if bodies.is_dynamic(k) {
                continue;
            }
            let mut motion = per_second(&self.columns.shift_of(k), h);
            motion.linear += manifold.slide * if side == 1 { 1.0 } else { -1.0 };
            if motion == Motion::default() {
                continue;
            }
            let place = problem.free.len() as u32;
            problem.free.push(motion);
            problem.responses.push(Response::default());
            for (row, point) in problem.rows[first..].iter_mut().zip(&manifold.points) {
                let moving = Side::Rigid {
                    body: place,
                    arm: point.position - self.columns.base[k].position,
                };
                match side {
                    0 => row.a = moving,
                    _ => row.b = moving,
                }
            }
        }
    }
}

/// The speed of a displacement in h seconds.
fn per_second<S: Space>(moved: &Motion<S>, h: f64) -> Motion<S> {
    Motion {
        linear: moved.linear * (1.0 / h),
        spin: moved.spin * (1.0 / h),
    }
}
