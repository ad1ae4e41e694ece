//! The strategy `sequential`: one impact after the other, in order of time.

use super::attachments::{Holding, by_contact};
use super::impact_zones::fail_safe;
use super::parallel::local;
use super::swept_motion::{Impact, SweptMotion, scaled};
use super::{Outcome, Start};
use crate::contact::detection::Contact;
use crate::contact::primitives::{Failure, Poses, Primitives};
use crate::contact::problem::{Impulses, Velocities};
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::geometry::Space;
use crate::judge::law::Answered;
use crate::model::body::{Bodies, Motion};
use crate::solver::{SolveReport, SolverKind};
use crate::strategy::step::Resolution;
use std::collections::BTreeMap;

/// Looks for a part of the way that is free, at most.
const CHECKS: u32 = 30;

/// Part of its distance that is kept of what is nearer than it should be. It is measured anew after
/// every impact: of a thousand halves nothing would be left, of this 10⁻⁷.
const NEARER: f64 = 1.0 - 1.0 / 64.0;

/// Makes a step.
pub(crate) fn sequential<S: Space>(
    start: &mut Start<'_, S>,
    primitives: &Primitives<S>,
    elastic: &mut Elastic<'_, S>,
) -> Result<Outcome<S>, Failure<S>> {
    let dt = start.settings.dt;
    SweptMotion::new(start, start.bodies, primitives).check_start()?;
    let Holding { impulses, flown } = Holding::new(start, primitives, elastic)?;
    let start = &*start;
    let mut now: Bodies<S> = start.bodies.clone();
    let mut resolution = Resolution::default();
    let mut given = Given {
        impacts: BTreeMap::new(),
        held: impulses,
    };
    let mut velocities = flown.clone();
    let mut left = dt;
    while left > 0.0 {
        // Restitution refers to velocities without this step's forces, as everywhere.
        for k in (0..now.len()).filter(|&k| start.bodies.is_dynamic(k)) {
            let (free, before) = (&flown[k], &start.bodies.motion[k]);
            now.motion[k] = Motion {
                linear: velocities[k].linear - (free.linear - before.linear),
                spin: velocities[k].spin - (free.spin - before.spin),
            };
        }
        let mut flight = SweptMotion::new(start, &now, primitives);
        flight.nearer = NEARER;
        let mut way = flight.way(&velocities, left);
        let hits = flight.hits(&way);
        resolution.rounds += 1;
        let Some(first) = hits.first() else {
            go_on(&mut now, &mut velocities, &way);
            break;
        };
        if resolution.rounds > start.options.most {
            let known = hits.clone();
            way = fail_safe(&flight, &known, &mut velocities, left, &mut resolution)?;
            go_on(&mut now, &mut velocities, &way);
            break;
        }
        resolution.impacts += 1;
        given.add(
            first,
            &resolve(&flight, first, start, &mut velocities, left),
        );
        let part = free_part(&flight, &way, first.safe);
        let partly: Vec<Motion<S>> = way.iter().map(|m| scaled(m, part)).collect();
        go_on(&mut now, &mut velocities, &partly);
        left *= 1.0 - part;
    }
    let end = (now, velocities);
    Ok(outcome(start, primitives, end, given, resolution))
}

/// The impulses of a step.
struct Given<S: Space> {
    /// Impacts with their impulses on the second body, in world axes, N·s.
    impacts: BTreeMap<[u32; 5], (Impact<S>, S::Vector)>,
    /// Those of attachments' contacts.
    held: Vec<S::Vector>,
}

impl<S: Space> Given<S> {
    /// Adds the impulse of an impact, and those of attachments after it.
    fn add(&mut self, hit: &Impact<S>, impulses: &[S::Vector]) {
        let key = hit.encounter.key();
        let before = self.impacts.remove(&key);
        let before = before.map_or(S::Vector::default(), |(_, known)| known);
        self.impacts
            .insert(key, (hit.clone(), before + impulses[0]));
        for (sum, &more) in self.held.iter_mut().zip(&impulses[1..]) {
            *sum += more;
        }
    }
}

/// Moves bodies on.
fn go_on<S: Space>(now: &mut Bodies<S>, velocities: &mut Vec<Motion<S>>, way: &[Motion<S>]) {
    let Poses {
        position,
        rotation,
        motion,
    } = Poses::after(now, way, velocities);
    (now.position, now.rotation, *velocities) = (position, rotation, motion);
}

/// A part of a way at which nothing has met yet: not more than `part`.
fn free_part<S: Space>(flight: &SweptMotion<'_, S>, way: &[Motion<S>], mut part: f64) -> f64 {
    for _ in 0..CHECKS {
        if part <= 0.0 {
            break;
        }
        let partly: Vec<Motion<S>> = way.iter().map(|m| scaled(m, part)).collect();
        match flight.hits(&partly).first() {
            // Paths of turning bodies are straight only in pieces.
            Some(hit) => part *= hit.safe.min(0.9),
            None => return part,
        }
    }
    0.0
}

/// Solves one impact by itself, with attachments; its impulse in world axes, N·s, and theirs.
fn resolve<S: Space>(
    flight: &SweptMotion<'_, S>,
    hit: &Impact<S>,
    start: &Start<'_, S>,
    velocities: &mut [Motion<S>],
    left: f64,
) -> Vec<S::Vector> {
    // It is solved where it happens: nothing is left to close.
    let hit = hit.clone().closed();
    let mut assembled = flight.assemble(&[&hit], velocities, left, false);
    let mut impulses = Impulses::default();
    let mut solver: SolverKind = start.settings.solver;
    crate::solver::impact_settling::settle(&mut solver, &mut assembled, &mut impulses);
    let after = assembled.problem.velocities(&impulses).motion;
    velocities.copy_from_slice(&after[..velocities.len()]);
    by_contact(&assembled, &impulses)
}

/// What the step hands to the world and to the judge: all its impacts as one problem, whose answer
/// they were not meant to be.
fn outcome<S: Space>(
    start: &Start<'_, S>,
    primitives: &Primitives<S>,
    (now, velocities): (Bodies<S>, Vec<Motion<S>>),
    given: Given<S>,
    resolution: Resolution,
) -> Outcome<S> {
    let Given { impacts: all, held } = given;
    let flight = SweptMotion::new(start, start.bodies, primitives);
    let list: Vec<&Impact<S>> = all.values().map(|(hit, _)| hit).collect();
    let assembled = flight.assemble(&list, &start.free, start.settings.dt, false);
    let known = all.values().map(|(_, impulse)| *impulse);
    let known: Vec<S::Vector> = known.chain(held.iter().copied()).collect();
    let impulses = local(&assembled, &known);
    let mut reached = velocities.clone();
    reached.extend_from_slice(&assembled.problem.free[start.bodies.len()..]);
    let contact = |(hit, impulse): (Impact<S>, S::Vector)| Contact {
        impulse,
        ..flight.parties().contact(&hit)
    };
    let holds = flight
        .held
        .iter()
        .zip(held)
        .map(|(contact, impulse)| Contact {
            impulse,
            ..*contact
        });
    Outcome {
        end: Poses {
            position: now.position,
            rotation: now.rotation,
            motion: velocities,
        },
        contacts: all.into_values().map(contact).chain(holds).collect(),
        answered: Some(Answered {
            assembled,
            impulses,
            reached: Some(Velocities {
                motion: reached,
                local: Vec::new(),
            }),
        }),
        solve: SolveReport {
            iterations: resolution.rounds,
            converged: !resolution.gave_up,
            method: "sequential",
            ..SolveReport::default()
        },
        resolution,
    }
}
