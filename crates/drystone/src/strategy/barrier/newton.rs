//! Newton's method on the incremental potential, every step of it checked by continuous collision.

use super::Barrier;
use super::attached_nodes::Carriers;
use super::contact_terms::Touch;
use super::coordinates::Coordinates;
use super::potential::{Potential, State, System};
use super::spin_inertia::Spun;
use crate::contact::primitives::{Encounter, Failure, Primitives, Reach, size};
use crate::contact::rules::PairRules;
use crate::dynamics::integrate::mean_spin;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::math::algebra::vector;
use crate::model::body::{Bodies, Kind, Motion};
use crate::model::deformable::Deformables;
use crate::solver::SolveReport;

/// Most that a body turns in one iteration, rad.
const MOST_TURN: f64 = 0.5;
/// Halvings of an iteration's way at most.
const HALVINGS: u32 = 40;
/// Rounds of continuous collision to find how far an iteration may go, at most.
const CHECKS: u32 = 30;
/// Part of a scripted motion less than which is no progress.
const PROGRESS: f64 = 1e-3;
/// Iterations with scripts held still after one of no progress.
const HOLD: u32 = 8;
/// Iterations without progress after which there is no room.
const STALLS: u32 = 12;
/// Change of the strength of friction that asks for another round.
const SETTLED: f64 = 0.02;

/// All that a step starts from.
pub(crate) struct Start<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) deformables: &'a Deformables,
    pub(crate) rules: &'a PairRules<'a, S>,
    pub(crate) options: &'a Barrier,
    /// Velocities after all forces but elastic ones.
    pub(crate) free: &'a [Motion<S>],
    pub(crate) dt: f64,
}

/// Where a step leads.
pub(super) struct Arrival<S: Space> {
    pub(super) state: State<S>,
    pub(super) touches: Vec<Touch>,
    pub(super) report: SolveReport,
}

/// How the search for the minimum goes on.
struct Search<S: Space> {
    state: State<S>,
    near: Vec<Encounter>,
    system: Option<System>,
    /// Part of scripted motion that is done.
    scripted: f64,
    /// Iterations for which scripts are held still.
    hold: u32,
    stalls: u32,
    /// What stopped the last iteration short.
    blocked_by: Option<Encounter>,
}

/// The potential of a step.
pub(super) fn potential<'a, S: Space>(
    start: &Start<'a, S>,
    primitives: &'a Primitives<S>,
) -> Potential<'a, S> {
    let bodies = start.bodies;
    let carriers = Carriers::new(bodies, start.deformables.attached());
    let coordinates = Coordinates::new(bodies, carriers);
    let still = vec![Motion::default(); bodies.len()];
    let goal = |(k, motion): (usize, &Motion<S>)| Motion {
        linear: motion.linear * start.dt,
        spin: mean_spin(bodies, k, motion.spin, start.dt) * start.dt,
    };
    let goal: Vec<Motion<S>> = start.free.iter().enumerate().map(goal).collect();
    let spun = coordinates.bodies.iter().map(|&k| k as usize);
    Potential {
        spun: spun.map(|k| Spun::new(bodies, k, &goal[k])).collect(),
        goal,
        damping: Potential::damping_at_start(bodies, start.deformables),
        start: State {
            places: primitives.places(bodies, &still),
            jacobians: coordinates.jacobians(&still),
            way: still,
        },
        coordinates,
        bodies,
        deformables: start.deformables,
        materials: start.rules.materials,
        rules: start.rules,
        primitives,
        options: start.options,
        dt: start.dt,
        frictions: Vec::new(),
    }
}

impl<S: Space> Potential<'_, S> {
    /// How far scripted bodies go in the step.
    fn scripts(&self) -> Vec<Motion<S>> {
        let of = |k: usize| match self.bodies.kind[k] {
            Kind::Kinematic(_) => Motion {
                linear: self.bodies.motion[k].linear * self.dt,
                spin: self.bodies.motion[k].spin * self.dt,
            },
            _ => Motion::default(),
        };
        (0..self.bodies.len()).map(of).collect()
    }

    /// Goes to the minimum.
    pub(super) fn minimise(&mut self) -> Result<Arrival<S>, Failure<S>> {
        self.primitives.check_apart(&self.reach())?;
        let nothing = vec![0.0; self.start.places.len()];
        let places = &self.start.places;
        let near = self
            .primitives
            .encounters(&self.reach(), places, places, &nothing);
        let touches = self.touches(&near, &self.start);
        self.frictions = self.frictions(&touches);
        let scripts = self.scripts();
        let is_scripted = scripts.iter().any(|m| *m != Motion::default());
        let mut search = Search {
            state: self.start.clone(),
            near,
            system: None,
            scripted: if is_scripted { 0.0 } else { 1.0 },
            hold: 0,
            stalls: 0,
            blocked_by: None,
        };
        let mut report = SolveReport {
            method: "barrier",
            ..SolveReport::default()
        };
        let mut rounds = 0;
        for _ in 0..self.options.iterations {
            report.iterations += 1;
            report.residual = self.iterate(&mut search, &scripts)?;
            let done = report.residual <= self.options.tolerance && search.scripted >= 1.0;
            if !done {
                continue;
            }
            report.converged = true;
            rounds += 1;
            if rounds >= self.options.friction_rounds || !self.renew_friction(&search) {
                break;
            }
            report.converged = false;
        }
        if search.scripted < 1.0 {
            return Err(self.infeasible(&search));
        }
        Ok(Arrival {
            touches: self.touches(&search.near, &search.state),
            state: search.state,
            report,
        })
    }

    fn reach(&self) -> Reach<'_, S> {
        Reach {
            bodies: self.bodies,
            rules: self.rules,
            distance: self.options.reach,
        }
    }

    fn infeasible(&self, search: &Search<S>) -> Failure<S> {
        let Some(encounter) = &search.blocked_by else {
            return Failure::Numbers;
        };
        let pair = [0, 1].map(|side| self.primitives.body_of(encounter, side));
        let place = self.witness(encounter, &search.state).map(|w| w.middle);
        Failure::Infeasible(pair, vector::<S>(place.unwrap_or_default()))
    }

    /// Takes the normal forces of friction from the present state; whether they changed much.
    fn renew_friction(&mut self, search: &Search<S>) -> bool {
        let touches = self.touches(&search.near, &search.state);
        let renewed = self.frictions(&touches);
        let total =
            |list: &[super::contact_terms::Friction]| list.iter().map(|f| f.strength).sum::<f64>();
        let same = renewed.len() == self.frictions.len()
            && renewed
                .iter()
                .zip(&self.frictions)
                .all(|(a, b)| a.encounter == b.encounter);
        let largest = total(&renewed).max(total(&self.frictions));
        let change = if same {
            renewed
                .iter()
                .zip(&self.frictions)
                .map(|(a, b)| (a.strength - b.strength).abs())
                .sum()
        } else {
            largest
        };
        if change <= SETTLED * largest {
            return false;
        }
        self.frictions = renewed;
        true
    }

    /// One step of Newton's method; how fast it still wanted to move, m/s.
    fn iterate(&self, search: &mut Search<S>, scripts: &[Motion<S>]) -> Result<f64, Failure<S>> {
        let touches = self.touches(&search.near, &search.state);
        let is_moving_scripts = search.scripted < 1.0 && search.hold == 0;
        let left = if is_moving_scripts {
            1.0 - search.scripted
        } else {
            0.0
        };
        let ahead: Vec<Motion<S>> = scripts.iter().map(|m| scaled(m, left)).collect();
        let direction = self
            .direction(&mut search.system, &search.state, &touches, &ahead)
            .ok_or(Failure::Numbers)?;
        let speed = self.speed(&direction);
        if search.hold > 0 {
            search.hold = if speed <= self.options.tolerance {
                0
            } else {
                search.hold - 1
            };
        }
        let turn = direction
            .iter()
            .map(|m| m.spin.length())
            .fold(0.0, f64::max);
        let first = if turn > MOST_TURN {
            MOST_TURN / turn
        } else {
            1.0
        };
        let whole = self.along(&search.state, &direction, first);
        let bulge = self.bulge(&difference(&whole.way, &search.state.way));
        let near =
            self.primitives
                .encounters(&self.reach(), &search.state.places, &whole.places, &bulge);
        let (mut part, mut state) = self.free_part(search, &direction, (first, whole), &near);
        if !is_moving_scripts {
            let before = self.energy(&near, &search.state);
            // Differences below this are rounding.
            let noise = 1e-13 * before.abs();
            let mut halvings = 0;
            while self.energy(&near, &state) > before + noise && part > 0.0 {
                part *= 0.5;
                halvings += 1;
                let shorter = self.along(&search.state, &direction, part);
                (part, state) = self.free_part(search, &direction, (part, shorter), &near);
                if halvings >= HALVINGS {
                    // Nothing lower can be told along this way: this is the minimum to rounding.
                    (part, state) = (0.0, search.state.clone());
                }
            }
        }
        if is_moving_scripts {
            search.scripted = if part >= 1.0 {
                1.0
            } else {
                search.scripted + part * left
            };
            if part * left < PROGRESS && search.scripted < 1.0 {
                search.stalls += 1;
                search.hold = HOLD;
                if search.stalls >= STALLS {
                    return Err(self.infeasible(search));
                }
            }
        }
        let is_stuck = part == 0.0 && !is_moving_scripts;
        search.state = state;
        search.near = near;
        Ok(if is_stuck { 0.0 } else { speed })
    }

    /// How far each vertex may stray from the straight line, m.
    fn bulge(&self, way: &[Motion<S>]) -> Vec<f64> {
        let mut bulge = self.primitives.bulge(way);
        let vertices = self.primitives.vertices.iter().map(|v| v.body);
        let carriers = &self.coordinates.carriers;
        carriers.add_bulge(self.bodies, way, vertices, &mut bulge);
        bulge
    }

    /// How fast the fastest body would still move, m/s.
    fn speed(&self, way: &[Motion<S>]) -> f64 {
        let moving = self.coordinates.bodies.iter().map(|&k| k as usize);
        let fastest = moving
            .map(|k| size(&way[k], self.bodies.radius[k]))
            .fold(0.0, f64::max);
        fastest / self.dt
    }

    fn along(&self, from: &State<S>, way: &[Motion<S>], part: f64) -> State<S> {
        let sum = |(a, b): (&Motion<S>, &Motion<S>)| Motion {
            linear: a.linear + b.linear * part,
            spin: a.spin + b.spin * part,
        };
        self.state(from.way.iter().zip(way).map(sum).collect())
    }

    /// The longest part of a way that continuous collision proves free, and the state there.
    fn free_part(
        &self,
        search: &mut Search<S>,
        way: &[Motion<S>],
        (mut part, mut end): (f64, State<S>),
        near: &[Encounter],
    ) -> (f64, State<S>) {
        for _ in 0..CHECKS {
            let from = (&search.state.places[..], &search.state.way[..]);
            let to = (&end.places[..], &end.way[..]);
            let mut least = 1.0;
            for encounter in near {
                if let Some((safe, _)) =
                    self.primitives.hit(encounter, [from, to], self.bodies, 0.0)
                    && safe < least
                {
                    least = safe;
                    search.blocked_by = Some(*encounter);
                }
            }
            if least >= 1.0 {
                return (part, end);
            }
            part *= least;
            end = self.along(&search.state, way, part);
        }
        (0.0, search.state.clone())
    }
}

fn scaled<S: Space>(motion: &Motion<S>, part: f64) -> Motion<S> {
    Motion {
        linear: motion.linear * part,
        spin: motion.spin * part,
    }
}

fn difference<S: Space>(a: &[Motion<S>], b: &[Motion<S>]) -> Vec<Motion<S>> {
    let minus = |(a, b): (&Motion<S>, &Motion<S>)| Motion {
        linear: a.linear - b.linear,
        spin: a.spin - b.spin,
    };
    a.iter().zip(b).map(minus).collect()
}
