//! Motion that is watched.

use super::Start;
use crate::body::{Bodies, Kind, Motion};
use crate::detect::Contact;
use crate::detect::rules::PairRules;
use crate::integrate::mean_spin;
use crate::primitives::{Encounter, Failure, Primitives, Reach, Witness, contact_of, row_of};
use crate::problem::ContactProblem;
use crate::problem::Row;
use crate::problem::assemble::{Assembled, group_by_island, put_on_belt, responses};
use crate::settings::Settings;
use crate::space::{Components, Space};
use glamx::DVec3;

/// Rate at which what is nearer than it should be opens, 1/s.
const OPENING: f64 = 10.0;

/// Bodies on their way from where they stand.
pub(super) struct Flight<'a, S: Space> {
    pub(super) bodies: &'a Bodies<S>,
    pub(super) primitives: &'a Primitives<S>,
    rules: &'a PairRules<'a, S>,
    settings: &'a Settings<S>,
    keep: f64,
    start: Vec<[f64; 3]>,
    still: Vec<Motion<S>>,
}

/// An impact on the way.
#[derive(Clone, Debug)]
pub(super) struct Hit<S: Space> {
    pub(super) encounter: Encounter,
    /// Part of the way to stop at, with room left.
    pub(super) safe: f64,
    /// Part of the way at which it happens.
    pub(super) time: f64,
    pub(super) contact: Contact<S>,
    /// Where the centres of the two bodies are then, m.
    centers: [S::Vector; 2],
    /// Distance along the normal at the start, m.
    gap: f64,
}

impl<S: Space> Hit<S> {
    /// The same impact at the moment it happens: no more than what is kept is left.
    pub(super) fn closed(mut self) -> Self {
        self.gap = self.contact.point.separation;
        self
    }
}

/// Places and ways at the moment of an impact; only those of its own bodies mean anything.
struct Moment<S: Space> {
    places: Vec<[f64; 3]>,
    way: Vec<Motion<S>>,
}

impl<'a, S: Space> Flight<'a, S> {
    pub(super) fn new(
        start: &Start<'a, S>,
        bodies: &'a Bodies<S>,
        primitives: &'a Primitives<S>,
    ) -> Self {
        let still = vec![Motion::default(); bodies.len()];
        Self {
            start: primitives.places(bodies, &still),
            still,
            bodies,
            primitives,
            rules: start.rules,
            settings: start.settings,
            keep: start.options.keep,
        }
    }

    /// How far everything goes with these velocities in `dt` seconds.
    pub(super) fn way(&self, velocities: &[Motion<S>], dt: f64) -> Vec<Motion<S>> {
        let of = |k: usize| match self.bodies.kind[k] {
            Kind::Fixed => Motion::default(),
            Kind::Kinematic(_) => scaled(&self.bodies.motion[k], dt),
            Kind::Particle | Kind::Rigid => Motion {
                linear: velocities[k].linear * dt,
                spin: mean_spin(self.bodies, k, velocities[k].spin, dt) * dt,
            },
        };
        (0..self.bodies.len()).map(of).collect()
    }

    fn witness(
        &self,
        encounter: &Encounter,
        places: &[[f64; 3]],
        way: &[Motion<S>],
    ) -> Option<Witness> {
        self.primitives
            .witness(encounter, (self.bodies, way), places)
    }

    /// Fails if anything touches at the start.
    pub(super) fn check_start(&self) -> Result<(), Failure<S>> {
        self.primitives.check_apart(&self.reach())
    }

    fn reach(&self) -> Reach<'_, S> {
        Reach {
            bodies: self.bodies,
            rules: self.rules,
            distance: 2.0 * self.keep,
        }
    }

    /// Everything that comes nearer than it may on a way, in order of time.
    pub(super) fn hits(&self, way: &[Motion<S>]) -> Vec<Hit<S>> {
        let end = self.primitives.places(self.bodies, way);
        let bulge = self.primitives.bulge(way);
        let near = self
            .primitives
            .encounters(&self.reach(), &self.start, &end, &bulge);
        let paths = [(&self.start[..], &self.still[..]), (&end[..], way)];
        let mut hits = Vec::new();
        let mut moment = Moment {
            places: self.start.clone(),
            way: self.still.clone(),
        };
        for encounter in near {
            let witness = self.witness(&encounter, &self.start, &self.still);
            let room = witness.map_or(0.0, |w| w.distance);
            // What starts nearer than the rest must not come much nearer still.
            let keep = self.keep.min(0.5 * room);
            if let (Encounter::Pair(pair), Some(witness)) = (&encounter, witness)
                && self
                    .primitives
                    .stays_apart(pair, [&self.start, &end], &witness, keep)
            {
                continue;
            }
            if let Some((safe, time)) = self.primitives.hit(&encounter, paths, self.bodies, keep)
                && let Some(hit) = self.describe(encounter, (safe, time), (&end, way), &mut moment)
            {
                hits.push(hit);
            }
        }
        hits.sort_by(|a, b| {
            let order = a.time.total_cmp(&b.time);
            order.then_with(|| a.encounter.key().cmp(&b.encounter.key()))
        });
        hits
    }

    /// An impact by what touches at its moment.
    fn describe(
        &self,
        encounter: Encounter,
        (safe, time): (f64, f64),
        (end, way): (&[[f64; 3]], &[Motion<S>]),
        moment: &mut Moment<S>,
    ) -> Option<Hit<S>> {
        let vertices = encounter.vertices();
        for v in vertices.into_iter().flatten().flatten() {
            let v = v as usize;
            let (a, b) = (&self.start[v], &end[v]);
            moment.places[v] = [0, 1, 2].map(|i| a[i] + time * (b[i] - a[i]));
        }
        let pair = [0, 1].map(|side| self.primitives.body_of(&encounter, side) as usize);
        for k in pair {
            moment.way[k] = scaled(&way[k], time);
        }
        let witness = self.witness(&encounter, &moment.places, &moment.way)?;
        let contact = contact_of(
            self.primitives,
            &encounter,
            &witness,
            self.bodies,
            self.rules.materials,
        );
        let gap = match encounter {
            Encounter::Wall(..) => self.witness(&encounter, &self.start, &self.still)?.distance,
            Encounter::Pair(_) => {
                let mut between = DVec3::ZERO;
                for ((side, weights), sign) in vertices.iter().zip(witness.weights).zip([-1.0, 1.0])
                {
                    for (v, weight) in side.iter().flatten().zip(weights) {
                        between += DVec3::from_array(self.start[*v as usize]) * (sign * weight);
                    }
                }
                witness.normal.dot(between) - self.primitives.thickness(&encounter)
            }
        };
        let center = |k: usize| self.bodies.position[k] + moment.way[k].linear;
        Some(Hit {
            encounter,
            safe,
            time,
            centers: pair.map(center),
            contact,
            gap,
        })
    }

    /// Impacts as one problem over `dt` seconds; without bounce and friction if `is_plain`.
    pub(super) fn assemble(
        &self,
        hits: &[Hit<S>],
        free: &[Motion<S>],
        dt: f64,
        is_plain: bool,
    ) -> Assembled<S> {
        let contacts: Vec<Contact<S>> = hits.iter().map(|hit| hit.contact).collect();
        let (contact_of_row, islands) = group_by_island(self.bodies, &contacts);
        let mut problem = ContactProblem {
            dt,
            responses: responses(self.bodies),
            free: free.to_vec(),
            rows: Vec::with_capacity(hits.len()),
            islands,
            delassus: None,
        };
        let mut before = self.bodies.motion.clone();
        for &index in &contact_of_row {
            let hit = &hits[index as usize];
            let mut row: Row<S> = row_of(&hit.contact, self.bodies, hit.centers, 0.0);
            let mut sides = [row.a, row.b];
            put_on_belt(self.bodies, &hit.contact, &mut sides, &mut problem);
            [row.a, row.b] = sides;
            before.extend_from_slice(&problem.free[before.len()..]);
            if is_plain {
                row.mu = 0.0;
            }
            let at = problem.rows.len();
            problem.rows.push(row);
            let left = hit.gap - 2.0 * self.keep;
            let mut target = if left > 0.0 {
                -left / dt
            } else {
                -left * OPENING
            };
            let approach = problem.relative_velocity(at, &before).component(0);
            if !is_plain && approach < -self.settings.contact.restitution_threshold {
                target = target.max(-hit.contact.surface.restitution * approach);
            }
            problem.rows[at].target = target;
        }
        Assembled {
            problem,
            contact_of_row,
            before,
            bounces: Vec::new(),
        }
    }

    /// Where an impact happens and between whom, for a message.
    pub(super) fn infeasible(&self, hit: &Hit<S>) -> Failure<S> {
        Failure::Infeasible([hit.contact.a, hit.contact.b], hit.contact.point.position)
    }
}

/// A part of a motion.
pub(super) fn scaled<S: Space>(motion: &Motion<S>, part: f64) -> Motion<S> {
    Motion {
        linear: motion.linear * part,
        spin: motion.spin * part,
    }
}
