//! Contact terms of the potential: barrier and friction to second order.

use super::barrier_function;
use super::coordinates::{Columns, MOST};
use super::normal_curvature::Turning;
use super::potential::{Potential, State};
use crate::contact::primitives::{Encounter, Witness};
use crate::geometry::Space;
use crate::geometry::ccd::primitive_pair::Pair;
use crate::math::algebra::{solid, vector};
use glamx::{DMat3, DVec3};

/// $|u\times v|^2$ below which two edges are nearly parallel, over $|u|^2|v|^2$ at the start.
const PARALLEL: f64 = 1e-3;
/// Part of the reach below which a contact at the start of a step is made stiffer.
const TIGHT: f64 = 0.1;

/// A force between two points, each a sum of bodies' unknowns.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// How the second point moves away from the first with each body.
    pub(super) sides: Vec<(u32, Columns)>,
    /// Slope of the energy along that motion, N.
    pub(super) slope: DVec3,
    /// Its curvature, N/m, positive semidefinite.
    pub(super) curvature: DMat3,
    /// Slopes on vertices by themselves, N.
    pub(super) extra: Vec<(u32, DVec3)>,
    /// Curvature that comes from the turning of the normal.
    pub(super) turning: Option<Turning>,
}

/// A contact within the barrier's reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) encounter: Encounter,
    pub(super) witness: Witness,
    /// How strongly the barrier pushes, N.
    pub(super) force: f64,
}

/// Friction of a contact as it was when its normal force was last looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Friction {
    pub(super) encounter: Encounter,
    weights: [[f64; 3]; 2],
    normal: DVec3,
    /// Where it acts, at the start of the step, m.
    middle: DVec3,
    /// μ times the normal force, N.
    pub(super) strength: f64,
    /// How far belts slide in the step, m.
    slide: DVec3,
}

impl<S: Space> Potential<'_, S> {
    /// κ of a contact, N/m: what stops its masses within a step, more where it starts the step
    /// squeezed. It depends on the start of the step alone.
    fn stiffness(&self, encounter: &Encounter) -> f64 {
        let mass_of = |side: Option<[u32; 3]>| {
            let masses = side.into_iter().flatten().filter_map(|v| {
                // What carries a node is stopped with it.
                let body = self.primitives.vertices[v as usize].body;
                let k = self.coordinates.carriers.of(body);
                self.bodies.is_dynamic(k).then(|| self.bodies.mass(k))
            });
            masses.fold(0.0, f64::max)
        };
        let mass: f64 = encounter.vertices().into_iter().map(mass_of).sum();
        let gap = self
            .witness(encounter, &self.start)
            .map_or(0.0, |w| w.distance);
        let squeezed = (TIGHT * self.options.reach / gap.max(1e-9 * self.options.reach)).max(1.0);
        mass * squeezed.sqrt() / (self.dt * self.dt)
    }

    /// What nearly parallel edges weigh, its slope, and the product of their sides.
    fn fading(&self, encounter: &Encounter, state: &State<S>) -> ([f64; 2], [DVec3; 2]) {
        let sides = |places: &[[f64; 3]]| match encounter {
            Encounter::Pair(Pair::Edges(first, second))
                if self.primitives.is_between_faces(encounter) =>
            {
                Some([first, second].map(|[a, b]| {
                    DVec3::from_array(places[*b as usize]) - DVec3::from_array(places[*a as usize])
                }))
            }
            _ => None,
        };
        let (Some([u, v]), Some([p, q])) = (sides(&state.places), sides(&self.start.places)) else {
            return ([1.0, 0.0], [DVec3::ZERO; 2]);
        };
        let parallel = PARALLEL * p.length_squared() * q.length_squared();
        let along = u.dot(v);
        let slopes = [
            (u * v.length_squared() - v * along) * 2.0,
            (v * u.length_squared() - u * along) * 2.0,
        ];
        (
            barrier_function::fade(u.cross(v).length_squared(), parallel),
            slopes,
        )
    }

    /// Energy of the barrier between two primitives, J.
    pub(super) fn barrier_energy(&self, encounter: &Encounter, state: &State<S>) -> f64 {
        let Some(witness) = self.witness(encounter, state) else {
            return f64::INFINITY;
        };
        if witness.distance <= 0.0 {
            return f64::INFINITY;
        }
        if witness.distance >= self.options.reach {
            return 0.0;
        }
        let [value, ..] = barrier_function::barrier(witness.distance, self.options.reach);
        self.fading(encounter, state).0[0] * self.stiffness(encounter) * value
    }

    /// Everything within the barrier's reach.
    pub(super) fn touches(&self, near: &[Encounter], state: &State<S>) -> Vec<Touch> {
        let reach = self.options.reach;
        let touch = |encounter: &Encounter| {
            let witness = self.witness(encounter, state)?;
            (witness.distance < reach).then(|| {
                let [_, slope, _] = barrier_function::barrier(witness.distance, reach);
                let weight = self.fading(encounter, state).0[0];
                Touch {
                    encounter: *encounter,
                    witness,
                    force: -weight * self.stiffness(encounter) * slope,
                }
            })
        };
        near.iter().filter_map(touch).collect()
    }

    /// The barrier of a contact to second order, without negative eigenvalues.
    pub(super) fn barrier_term(&self, touch: &Touch, state: &State<S>) -> Term {
        let reach = self.options.reach;
        let [value, slope, curvature] = barrier_function::barrier(touch.witness.distance, reach);
        let stiffness = self.stiffness(&touch.encounter);
        let ([weight, weight_slope], slopes) = self.fading(&touch.encounter, state);
        let n = touch.witness.normal;
        let mut extra = Vec::new();
        if let Encounter::Pair(Pair::Edges(first, second)) = touch.encounter
            && weight_slope > 0.0
        {
            let scale = stiffness * value * weight_slope;
            for ([from, to], along) in [first, second].into_iter().zip(slopes) {
                extra.push((to, along * scale));
                extra.push((from, along * -scale));
            }
        }
        Term {
            sides: self.sides(&touch.encounter, touch.witness.weights, state, DVec3::ZERO),
            slope: n * (weight * stiffness * slope),
            curvature: outer(n, n) * (weight * stiffness * curvature),
            extra,
            turning: self.turning(touch, state, -weight * stiffness * slope),
        }
    }

    /// From a vertex to its body's surface, which lies a radius along `normal` on the first side and
    /// against it on the second: before and after the body turned, m. A ball rolls by it.
    fn surface(&self, vertex: u32, normal: DVec3, sign: f64, state: &State<S>) -> [DVec3; 2] {
        let vertex = &self.primitives.vertices[vertex as usize];
        let k = vertex.body as usize;
        let before = normal * (-sign * vertex.radius);
        if before == DVec3::ZERO || !self.bodies.turns(k) {
            return [DVec3::ZERO; 2];
        }
        let turn = S::turn(S::Rotation::default(), state.way[k].spin);
        [before, solid::<S>(S::rotate(turn, vector::<S>(before)))]
    }

    /// How the second point of a contact moves away from the first with each body. The points are on
    /// the surfaces along `normal`, or in the middle of what is thick if it is zero.
    fn sides(
        &self,
        encounter: &Encounter,
        weights: [[f64; 3]; 2],
        state: &State<S>,
        normal: DVec3,
    ) -> Vec<(u32, Columns)> {
        let mut sides: Vec<(u32, Columns)> = Vec::with_capacity(4);
        for ((vertices, weights), sign) in encounter
            .vertices()
            .into_iter()
            .zip(weights)
            .zip([-1.0, 1.0])
        {
            for (&v, weight) in vertices.iter().flatten().zip(weights) {
                if weight == 0.0 {
                    continue;
                }
                let vertex = &self.primitives.vertices[v as usize];
                let [_, surface] = self.surface(v, normal, sign, state);
                let place = DVec3::from_array(state.places[v as usize]) + surface;
                let jacobian = &state.jacobians[vertex.body as usize];
                let columns = self.coordinates.columns(
                    vertex.body,
                    (self.bodies, &state.way),
                    place,
                    jacobian,
                );
                let at = match sides.iter().position(|(body, _)| *body == vertex.body) {
                    Some(at) => at,
                    None => {
                        sides.push((vertex.body, [DVec3::ZERO; MOST]));
                        sides.len() - 1
                    }
                };
                for (sum, column) in sides[at].1.iter_mut().zip(columns) {
                    *sum += column * (sign * weight);
                }
            }
        }
        sides
    }

    /// Friction of these contacts, with the normal forces they have now.
    pub(super) fn frictions(&self, touches: &[Touch]) -> Vec<Friction> {
        let mut all = Vec::new();
        for touch in touches {
            let [a, b] =
                [0, 1].map(|side| self.primitives.body_of(&touch.encounter, side) as usize);
            let surface = self
                .materials
                .between(self.bodies.material[a], self.bodies.material[b]);
            let strength = surface.friction * touch.force;
            if strength > 0.0 {
                let belt =
                    |k: usize| S::rotate(self.bodies.rotation[k], self.bodies.surface_velocity[k]);
                let slide = (belt(b) - belt(a)) * self.dt;
                all.push(Friction {
                    encounter: touch.encounter,
                    weights: touch.witness.weights,
                    normal: touch.witness.normal,
                    middle: touch.witness.middle,
                    strength,
                    slide: solid::<S>(slide),
                });
            }
        }
        all
    }

    /// How far the second point slid over the first in the step, m.
    fn slip(&self, friction: &Friction, state: &State<S>) -> DVec3 {
        let mut slip = friction.slide;
        let sides = friction
            .encounter
            .vertices()
            .into_iter()
            .zip(friction.weights);
        for ((vertices, weights), sign) in sides.zip([-1.0, 1.0]) {
            for (&v, weight) in vertices.iter().flatten().zip(weights) {
                let [before, after] = self.surface(v, friction.normal, sign, state);
                let v = v as usize;
                let moved = DVec3::from_array(state.places[v])
                    - DVec3::from_array(self.start.places[v])
                    + (after - before);
                slip += moved * (sign * weight);
            }
        }
        if let Encounter::Wall(..) = friction.encounter {
            // The wall's own point moves with its body.
            let k = self.primitives.body_of(&friction.encounter, 0) as usize;
            let way = &state.way[k];
            let center = solid::<S>(self.bodies.position[k]);
            let arm = vector::<S>(friction.middle - center);
            let turned = S::rotate(S::turn(S::Rotation::default(), way.spin), arm);
            slip -= solid::<S>(way.linear + turned - arm);
        }
        slip - friction.normal * friction.normal.dot(slip)
    }

    fn stick(&self) -> f64 {
        self.options.slip_speed * self.dt
    }

    /// Energy that friction takes, J.
    pub(super) fn friction_energy(&self, friction: &Friction, state: &State<S>) -> f64 {
        let y = self.slip(friction, state).length();
        friction.strength * barrier_function::friction(y, self.stick())[0]
    }

    /// The force of friction on the second side, N.
    pub(super) fn friction_force(&self, friction: &Friction, state: &State<S>) -> DVec3 {
        let slip = self.slip(friction, state);
        let [_, force, _] = barrier_function::friction(slip.length(), self.stick());
        slip.normalize_or_zero() * (-friction.strength * force)
    }

    /// Friction to second order.
    pub(super) fn friction_term(&self, friction: &Friction, state: &State<S>) -> Term {
        let slip = self.slip(friction, state);
        let y = slip.length();
        let [_, force, slope] = barrier_function::friction(y, self.stick());
        let n = friction.normal;
        let plane = DMat3::IDENTITY - outer(n, n);
        let curvature = match slip.try_normalize() {
            Some(along) => {
                let across = plane - outer(along, along);
                across * (force / y) + outer(along, along) * slope
            }
            None => plane * slope,
        };
        Term {
            sides: self.sides(&friction.encounter, friction.weights, state, n),
            slope: slip.normalize_or_zero() * (friction.strength * force),
            curvature: curvature * friction.strength,
            extra: Vec::new(),
            turning: None,
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
