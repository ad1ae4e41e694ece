//! All impacts of a step together, again and again.

use super::flight::Flight;
use super::register::Register;
use super::zones::fail_safe;
use super::{Outcome, Resolution, Start};
use crate::body::Motion;
use crate::certify::law::Answered;
use crate::deform::coupling::Elastic;
use crate::primitives::{Failure, Poses, Primitives};
use crate::problem::assemble::Assembled;
use crate::problem::{Impulses, Velocities};
use crate::solve::SolveReport;
use crate::space::Space;
use crate::world::Phase;

/// Part of the distance that is kept by which impacts of nodes may miss it.
const ENOUGH: f64 = 0.25;

/// Makes a step.
pub(crate) fn parallel<S: Space>(
    start: &Start<'_, S>,
    primitives: &Primitives<S>,
    elastic: &mut Elastic<'_, S>,
    watch: &mut dyn FnMut(Phase),
) -> Result<Outcome<S>, Failure<S>> {
    let (bodies, dt) = (start.bodies, start.settings.dt);
    let flight = Flight::new(start, bodies, primitives);
    let mut step = Step {
        start,
        flight: &flight,
        register: Register::new(start.solved),
        assembled: flight.assemble(&[], &start.free, dt, false),
        impulses: Impulses::default(),
        velocities: start.free.clone(),
        solve: SolveReport {
            converged: true,
            ..SolveReport::default()
        },
    };
    let mut resolution = Resolution::default();
    let mut way = flight.way(&step.velocities, dt);
    step.register.add(flight.lasting(&way, start.solved));
    if !step.register.hits.is_empty() {
        step.settle(elastic)?;
        watch(Phase::Contact);
        way = flight.way(&step.velocities, dt);
    }
    let mut hits = flight.hits(&way);
    flight.check_start()?;
    watch(Phase::Detection);
    while !hits.is_empty() && resolution.rounds < start.options.most {
        resolution.rounds += 1;
        resolution.impacts += hits.len();
        if resolution.rounds == 1 {
            // What they push will meet the next: that saves rounds.
            step.register.add(flight.near(&way));
        }
        step.register.add(flight.on_nodes(&way, hits));
        step.settle(elastic)?;
        watch(Phase::Contact);
        way = flight.way(&step.velocities, dt);
        hits = flight.hits(&way);
        watch(Phase::Detection);
    }
    if !hits.is_empty() {
        way = fail_safe(&flight, &[], &mut step.velocities, dt, &mut resolution)?;
    }
    watch(Phase::Rescue);
    Ok(step.end(&way, resolution))
}

/// A step on its way.
struct Step<'a, S: Space> {
    start: &'a Start<'a, S>,
    flight: &'a Flight<'a, S>,
    register: Register<S>,
    assembled: Assembled<S>,
    impulses: Impulses<S>,
    velocities: Vec<Motion<S>>,
    solve: SolveReport,
}

impl<S: Space> Step<'_, S> {
    /// Solves all impacts so far.
    fn settle(&mut self, elastic: &mut Elastic<'_, S>) -> Result<(), Failure<S>> {
        let Start {
            bodies, settings, ..
        } = *self.start;
        let hits = &self.register.hits;
        self.assembled = self
            .flight
            .assemble(hits, &self.start.free, settings.dt, false);
        self.impulses = self.register.local(&self.assembled);
        let contacts = hits.iter().map(|hit| &hit.contact);
        elastic
            .couple(bodies, contacts)
            .map_err(|_| Failure::Numbers)?;
        let mut solver = elastic.hurried(
            settings.solver,
            ENOUGH * self.start.options.keep / settings.dt,
        );
        let again = elastic.settle(bodies, &mut solver, &mut self.assembled, &mut self.impulses);
        self.solve = SolveReport {
            iterations: self.solve.iterations.saturating_add(again.iterations),
            ..again
        };
        self.register.take(&self.assembled, &self.impulses);
        let after = self.assembled.problem.velocities(&self.impulses).motion;
        self.velocities.copy_from_slice(&after[..bodies.len()]);
        Ok(())
    }

    fn end(self, way: &[Motion<S>], resolution: Resolution) -> Outcome<S> {
        let bodies = self.start.bodies;
        let mut reached: Vec<Motion<S>> = self.velocities.clone();
        reached.extend_from_slice(&self.assembled.problem.free[bodies.len()..]);
        Outcome {
            end: Poses::after(bodies, way, &self.velocities),
            motion: self.velocities,
            contacts: self.register.contacts(),
            answered: Answered {
                assembled: self.assembled,
                impulses: self.impulses,
                reached: Some(Velocities {
                    motion: reached,
                    local: Vec::new(),
                }),
            },
            solve: self.solve,
            resolution,
        }
    }
}
