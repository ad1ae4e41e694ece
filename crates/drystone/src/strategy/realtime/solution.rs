//! The last substep as a contact problem with its answer, for the judge.
//!
//! The judge ([`crate::judge`]) looks at the **last substep**: the contact problem it had, in
//! double precision, the impulses λh it ended with and the velocities the bodies ended with. The
//! solver gives every contact a gap, so the target of a contact is −gap/h. Nothing that the solver
//! thinks of its own error is used.

use super::narrow_phase::clearance;
use super::{RealTime, Realtime};
use crate::contact::detection::Contact;
use crate::contact::problem::assemble::{Assembled, put_on_belt, responses};
use crate::contact::problem::{ContactProblem, Impulses, Island, Row, Side, Velocities};
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::judge::certificate::Solution;
use crate::judge::law::Answered;
use crate::math::algebra::Components;
use crate::math::algebra::vector;
use crate::model::body::{Bodies, Kind, Motion};
use crate::model::material::Surface;
use crate::strategy::step::StepSettings;

impl<S: Space> RealTime<S> {
    /// Contact points that the last step had.
    pub(crate) fn contact_count(&self) -> usize {
        self.manifolds.point_count()
    }

    /// The last substep of the step that has just been made, as a contact problem with its answer.
    pub(crate) fn solution(
        &self,
        bodies: &Bodies<S>,
        settings: &StepSettings<S>,
        options: &Realtime,
    ) -> Solution<S> {
        let h = settings.dt / f64::from(options.substeps);
        let mut problem = ContactProblem {
            dt: h,
            responses: responses(bodies),
            ..ContactProblem::default()
        };
        let mut tied = vec![(S::Vector::default(), S::Spin::default()); bodies.len()];
        self.links.for_each_force(|[a, b], n, [j_a, j_b], force| {
            for (k, j, impulse) in [(a, j_a, -force * h), (b, j_b, force * h)] {
                tied[k].0 += n * impulse;
                tied[k].1 += j * impulse;
            }
        });
        let mut tugs = vec![Motion::<S>::default(); bodies.len()];
        if options.substeps == 1 {
            self.impacts.for_each_tug(|k, change| {
                tugs[k].linear += change.linear;
                tugs[k].spin += change.spin;
            });
        }
        for (k, (push, twist)) in tied.into_iter().enumerate() {
            // What touches nothing was moved apart: it neither loses nor gains here.
            let mut free = if self.is_in_columns(k) && !self.is_asleep(k) {
                self.last_substep(k, h, options)
            } else {
                bodies.motion[k]
            };
            if bodies.is_dynamic(k) && !self.is_asleep(k) {
                let response = &problem.responses[k];
                free.linear += response.inv_mass.scale(push);
                free.spin += S::apply_inertia(&response.inv_inertia, twist);
                free.linear += tugs[k].linear;
                free.spin += tugs[k].spin;
            }
            problem.free.push(free);
        }
        let mut impulses = Impulses::default();
        let solved = self.contacts(bodies, settings.dt);
        let mut contact_of_row = Vec::new();
        let mut contacts = solved.iter().enumerate();
        for (at, manifold) in self.manifolds.iter() {
            let moves = |k: u32| bodies.is_dynamic(k as usize) && !self.is_asleep(k as usize);
            let is_awake = moves(manifold.a) || moves(manifold.b);
            for (k, point) in manifold.points[..manifold.count].iter().enumerate() {
                let Some((index, contact)) = contacts.next() else {
                    continue;
                };
                if !is_awake {
                    continue;
                }
                contact_of_row.push(index as u32);
                let mut sides = [
                    self.side(bodies, manifold.a, point),
                    self.side(bodies, manifold.b, point),
                ];
                put_on_belt(bodies, contact, &mut sides, &mut problem);
                let mut target = -self.manifolds.records.gap::<S>(at, k) / h;
                let mut impulse = vector::<S>(self.manifolds.records.force::<S>(at, k)) * h;
                if let Some(impact) = self.impacts.of(at).filter(|_| options.substeps == 1) {
                    target = impact.rebound[k].map_or(target, |speed| speed.max(target));
                    impulse += S::to_local(&manifold.basis, impact.impulse[k]);
                }
                problem.rows.push(Row {
                    a: sides[0],
                    b: sides[1],
                    basis: manifold.basis,
                    mu: manifold.surface.friction,
                    target,
                });
                impulses.local.push(impulse);
            }
        }
        let count = problem.rows.len() as u32;
        let mut motion = bodies.motion.clone();
        motion.extend_from_slice(&problem.free[bodies.len()..]);
        problem.islands = vec![Island {
            start: 0,
            end: count,
        }];
        Solution {
            answered: Answered {
                assembled: Assembled {
                    problem,
                    contact_of_row,
                    before: motion.clone(),
                    bounces: Vec::new(),
                },
                impulses,
                reached: Some(Velocities {
                    motion,
                    local: Vec::new(),
                }),
            },
            own_contacts: Some([solved, self.fresh_contacts(bodies, settings)]),
        }
    }

    /// What a body's motion would be after the last substep without contact. Impacts come before the
    /// first substep, so that they belong to it.
    fn last_substep(&self, k: usize, h: f64, options: &Realtime) -> Motion<S> {
        let (before, mut free) = self.columns.last_substep(k, h);
        if options.substeps == 1 {
            let taken = self.impacts.change(k, &before);
            free.linear += taken.linear;
            free.spin += taken.spin;
        }
        free
    }

    fn side(&self, bodies: &Bodies<S>, body: u32, point: &ContactPoint<S>) -> Side<S> {
        let k = body as usize;
        match bodies.kind[k] {
            Kind::Fixed => Side::Fixed,
            Kind::Particle => Side::Particle { body },
            Kind::Rigid | Kind::Kinematic(_) => Side::Rigid {
                body,
                arm: point.position - self.columns.base[k].position,
            },
        }
    }

    /// Contacts of all pairs, detected afresh at the present poses.
    fn fresh_contacts(&self, bodies: &Bodies<S>, settings: &StepSettings<S>) -> Vec<Contact<S>> {
        let ahead = settings.lookahead();
        let mut contacts = Vec::new();
        let mut points = Vec::new();
        for index in 0..self.manifolds.pair_count() {
            let pair = self.manifolds.pair(index);
            let (a, b) = (pair.a as usize, pair.b as usize);
            if clearance(bodies, a, b) > 0.0 {
                continue;
            }
            points.clear();
            crate::contact::detection::touch(bodies, (a, b), 0.0, &ahead, &mut points);
            contacts.extend(points.iter().map(|&point| Contact {
                a: pair.a,
                b: pair.b,
                point,
                surface: Surface {
                    friction: 0.0,
                    restitution: 0.0,
                },
                slide: S::Vector::default(),
                impulse: S::Vector::default(),
                bend: 0.0,
                anchor: S::Vector::default(),
                nodes: [None; 2],
            }));
        }
        contacts
    }
}
