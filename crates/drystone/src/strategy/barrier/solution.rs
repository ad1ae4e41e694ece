//! The minimum of the potential as poses, contacts and a judged problem.
//!
//! Every contact within the barrier's reach becomes a row with the impulse of its force over the
//! step. Its target is that of a gap, −d/h with the distance at the start, so the judge sees that
//! barriers push before bodies touch.

use super::contact_terms::Touch;
use super::newton::Arrival;
use super::potential::Potential;
use crate::contact::detection::{ATTACHED, Contact};
use crate::contact::primitives::{Poses, Witness, contact_of, row_of};
use crate::contact::problem::assemble::{Assembled, put_on_belt, responses};
use crate::contact::problem::{ContactProblem, Impulses, Island, Velocities};
use crate::geometry::Space;
use crate::judge::law::Answered;
use crate::math::algebra::Components;
use crate::math::algebra::vector;
use crate::model::body::{Bodies, Motion};
use crate::solver::SolveReport;
use glamx::DVec3;
use std::collections::BTreeMap;

/// The outcome of a step.
pub(crate) struct Minimum<S: Space> {
    /// How far each body went, m and rad.
    way: Vec<Motion<S>>,
    /// Velocities that this is, spins in terms of the inertia at the start.
    reached: Vec<Motion<S>>,
    /// Bodies whose spin at the end is known, rad/s.
    spins: Vec<(usize, S::Spin)>,
    /// Contacts with their impulses, sorted by bodies, those of deformables last.
    pub(crate) contacts: Vec<Contact<S>>,
    /// Gap of each contact at the start of the step, m.
    gaps: Vec<f64>,
    /// Impulse of elastic forces on each body, N·s.
    elastic: Vec<S::Vector>,
    pub(crate) report: SolveReport,
}

impl<S: Space> Minimum<S> {
    pub(super) fn new(
        potential: &Potential<'_, S>,
        arrival: Arrival<S>,
        free: &[Motion<S>],
    ) -> Self {
        let Arrival {
            state,
            touches,
            report,
        } = arrival;
        let dt = potential.dt;
        let mut rubbing: BTreeMap<[u32; 5], DVec3> = BTreeMap::new();
        for friction in &potential.frictions {
            let force = potential.friction_force(friction, &state);
            rubbing.insert(friction.encounter.key(), force);
        }
        let mut made: Vec<(Contact<S>, f64)> = Vec::with_capacity(touches.len());
        for Touch {
            encounter,
            witness,
            force,
        } in &touches
        {
            let push = witness.normal * *force;
            let rub = rubbing.remove(&encounter.key()).unwrap_or_default();
            let primitives = potential.primitives;
            let bodies = potential.bodies;
            let mut contact =
                contact_of(primitives, encounter, witness, bodies, potential.materials);
            contact.impulse = vector::<S>((push + rub) * dt);
            let gap = potential.witness(encounter, &potential.start);
            made.push((contact, gap.map_or(0.0, |w: Witness| w.distance)));
        }
        made.sort_by_key(|(c, _)| (c.is_soft(), c.a, c.b));
        let reached = |(k, way): (usize, &Motion<S>)| {
            let goal = &potential.goal[k];
            Motion {
                linear: way.linear * (1.0 / dt),
                spin: free[k].spin + (way.spin - goal.spin) * (1.0 / dt),
            }
        };
        let reached: Vec<Motion<S>> = state.way.iter().enumerate().map(reached).collect();
        let elastic = potential.elastic_impulses(&state);
        let given = made.iter().map(|(contact, _)| contact);
        let left = left_to_carriers(potential.bodies, (free, &reached), &elastic, given);
        let held = potential.holding(&state, &left).into_iter();
        made.extend(held.map(|contact| (contact, 0.0)));
        let (contacts, gaps) = made.into_iter().unzip();
        Self {
            spins: spins_at_end(potential, &state.way, free),
            reached,
            contacts,
            gaps,
            elastic,
            way: state.way,
            report,
        }
    }

    /// Where everything is after the step.
    pub(crate) fn end(&self, bodies: &Bodies<S>) -> Poses<S> {
        let mut end = Poses::after(bodies, &self.way, &self.reached);
        for &(k, spin) in &self.spins {
            end.motion[k].spin = spin;
        }
        end
    }

    /// The step as a contact problem with its answer. `bodies` are those after it.
    pub(crate) fn answered(&self, bodies: &Bodies<S>, free: &[Motion<S>], dt: f64) -> Answered<S> {
        let mut problem = ContactProblem {
            dt,
            responses: responses(bodies),
            free: free.to_vec(),
            ..ContactProblem::default()
        };
        for (k, elastic) in self.elastic.iter().enumerate() {
            if bodies.is_dynamic(k) {
                problem.free[k].linear += bodies.inertial[k].inv_mass.scale(*elastic);
            }
        }
        let mut impulses = Impulses::default();
        for (contact, gap) in self.contacts.iter().zip(&self.gaps) {
            let centers = [contact.a, contact.b].map(|k| bodies.position[k as usize]);
            let mut row = row_of(contact, bodies, centers, -gap.max(0.0) / dt);
            let mut sides = [row.a, row.b];
            put_on_belt(bodies, contact, &mut sides, &mut problem);
            [row.a, row.b] = sides;
            impulses
                .local
                .push(S::to_local(&row.basis, contact.impulse));
            problem.rows.push(row);
            if contact.point.feature.part_a == ATTACHED {
                // A carried node goes straight to where its place on an arc will be: that is what
                // is asked of it.
                let at = problem.rows.len() - 1;
                let due = problem.relative_velocity(at, &self.reached).component(0);
                problem.rows[at].target = due;
            }
        }
        let mut motion = self.reached.clone();
        motion.extend_from_slice(&problem.free[bodies.len()..]);
        problem.islands = vec![Island {
            start: 0,
            end: problem.rows.len() as u32,
        }];
        Answered {
            assembled: Assembled {
                contact_of_row: (0..problem.rows.len() as u32).collect(),
                before: motion.clone(),
                bounces: Vec::new(),
                problem,
            },
            impulses,
            reached: Some(Velocities {
                motion,
                local: Vec::new(),
            }),
        }
    }
}

/// Spins at the end of the step of bodies that have those of their mass ([`super::spin_inertia`]), rad/s.
fn spins_at_end<S: Space>(
    potential: &Potential<'_, S>,
    way: &[Motion<S>],
    free: &[Motion<S>],
) -> Vec<(usize, S::Spin)> {
    let bodies = potential.bodies;
    let mut spins = Vec::new();
    for (&k, spun) in potential.coordinates.bodies.iter().zip(&potential.spun) {
        let Some(spun) = spun else {
            continue;
        };
        let k = k as usize;
        let [turn, goal] = [way[k].spin, potential.goal[k].spin];
        let start = bodies.rotation[k];
        let aimed = bodies.carried_spin(k, (start, S::turn(start, goal)), free[k].spin);
        let [turned, aimed] = [turn, aimed].map(|spin| DVec3::from_array(spin.to_array3()));
        let momentum = spun.momentum(turned, aimed, potential.dt).to_array();
        let momentum = (0..S::SPIN_DIM).fold(S::Spin::default(), |sum, axis| {
            sum.with_component(axis, momentum[axis])
        });
        let inverse = bodies.world_inv_inertia_at(k, S::turn(start, turn));
        spins.push((k, S::apply_inertia(&inverse, momentum)));
    }
    spins
}

/// What is left of each body's momentum when forces, elasticity and contacts are taken off, N·s: for
/// carried nodes, the impulse of what carries them.
fn left_to_carriers<'c, S: Space>(
    bodies: &Bodies<S>,
    (free, reached): (&[Motion<S>], &[Motion<S>]),
    elastic: &[S::Vector],
    contacts: impl Iterator<Item = &'c Contact<S>>,
) -> Vec<S::Vector> {
    let change = |k: usize| (reached[k].linear - free[k].linear) * bodies.inertial[k].mass;
    let mut left: Vec<S::Vector> = (elastic.iter().enumerate())
        .map(|(k, elastic)| change(k) - *elastic)
        .collect();
    for contact in contacts {
        for (nodes, sign) in contact.nodes.iter().zip([1.0, -1.0]) {
            if let Some(point) = nodes {
                for (&k, weight) in point.bodies.iter().zip(point.weights) {
                    left[k as usize] += contact.impulse * (sign * weight);
                }
            }
        }
    }
    left
}
