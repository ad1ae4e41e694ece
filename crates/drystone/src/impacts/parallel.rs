//! All impacts of a step together, again and again.

use super::flight::{Flight, Hit};
use super::zones::fail_safe;
use super::{Outcome, Resolution, Start};
use crate::body::Motion;
use crate::certify::law::Answered;
use crate::deform::coupling::{Elastic, touched};
use crate::primitives::{Failure, Poses, Primitives};
use crate::problem::{Impulses, Velocities};
use crate::solve::SolveReport;
use crate::space::Space;
use std::collections::BTreeMap;

/// Makes a step.
pub(crate) fn parallel<S: Space>(
    start: &Start<'_, S>,
    primitives: &Primitives<S>,
    elastic: &mut Elastic<'_, S>,
) -> Result<Outcome<S>, Failure<S>> {
    let bodies = start.bodies;
    let dt = start.settings.dt;
    let flight = Flight::new(start, bodies, primitives);
    flight.check_start()?;
    let mut resolution = Resolution::default();
    let mut solve = SolveReport {
        converged: true,
        ..SolveReport::default()
    };
    let mut all: BTreeMap<[u32; 5], (Hit<S>, S::Vector)> = BTreeMap::new();
    let mut assembled = flight.assemble(&[], &start.free, dt, false);
    let mut impulses = Impulses::default();
    let mut velocities = start.free.clone();
    let mut way = flight.way(&velocities, dt);
    let mut hits = flight.hits(&way);
    while !hits.is_empty() && resolution.rounds < start.options.most {
        resolution.rounds += 1;
        resolution.impacts += hits.len();
        for hit in hits {
            let key = hit.encounter.key();
            let known = all.get(&key).map(|(_, impulse)| *impulse);
            all.insert(key, (hit, known.unwrap_or_default()));
        }
        let list: Vec<Hit<S>> = all.values().map(|(hit, _)| hit.clone()).collect();
        assembled = flight.assemble(&list, &start.free, dt, false);
        let known: Vec<S::Vector> = all.values().map(|(_, impulse)| *impulse).collect();
        let of_row = |(row, &k): (usize, &u32)| {
            S::to_local(&assembled.problem.rows[row].basis, known[k as usize])
        };
        impulses.local = assembled
            .contact_of_row
            .iter()
            .enumerate()
            .map(of_row)
            .collect();
        let mut solver = start.settings.solver;
        let contacts: Vec<_> = list.iter().map(|hit| hit.contact).collect();
        elastic
            .touch(bodies, &touched(bodies, &contacts))
            .map_err(|_| Failure::Numbers)?;
        let again = elastic.settle(bodies, &mut solver, &mut assembled, &mut impulses);
        solve = SolveReport {
            iterations: solve.iterations.saturating_add(again.iterations),
            ..again
        };
        let mut world_impulses = vec![S::Vector::default(); list.len()];
        for (row, &k) in assembled.contact_of_row.iter().enumerate() {
            let basis = &assembled.problem.rows[row].basis;
            world_impulses[k as usize] = S::to_world(basis, impulses.local[row]);
        }
        for ((_, impulse), new) in all.values_mut().zip(world_impulses) {
            *impulse = new;
        }
        let after = assembled.problem.velocities(&impulses).motion;
        velocities.copy_from_slice(&after[..bodies.len()]);
        way = flight.way(&velocities, dt);
        hits = flight.hits(&way);
    }
    let known: Vec<Hit<S>> = all.values().map(|(hit, _)| hit.clone()).collect();
    if !hits.is_empty() {
        way = fail_safe(&flight, &known, &mut velocities, dt, &mut resolution)?;
    }
    let mut reached: Vec<Motion<S>> = velocities.clone();
    reached.extend_from_slice(&assembled.problem.free[bodies.len()..]);
    let contacts = all
        .into_values()
        .map(|(hit, impulse)| crate::detect::Contact {
            impulse,
            ..hit.contact
        });
    Ok(Outcome {
        end: Poses::after(bodies, &way, &velocities),
        motion: velocities,
        contacts: contacts.collect(),
        answered: Answered {
            assembled,
            impulses,
            reached: Some(Velocities {
                motion: reached,
                local: Vec::new(),
            }),
        },
        solve,
        resolution,
    })
}
