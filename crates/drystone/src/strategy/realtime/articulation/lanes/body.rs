//! One body of four linkages in SIMD lanes.

use super::joint_rows::{Form, IMMOVABLE, SYMMETRIC};
use super::put_motion;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::rigid_compliance::ANSWER;
use crate::math::rigid_compliance::SPRINGS;
use crate::math::simd::{DOUBLES, Quad};
use crate::model::body::Motion;
use crate::strategy::realtime::articulation::Ground;
use crate::strategy::realtime::articulation::linkage::Linkage;
use crate::strategy::realtime::body_columns::get;
use crate::strategy::realtime::manifold::Field;

/// The same body of four linkages: displacements are x, y, z, then turns.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneBody {
    /// Places in the body columns.
    pub(super) places: [u32; DOUBLES],
    /// 1 where it is moved, else 0.
    pub(super) moves: Quad,
    pub(super) is_touched: [bool; DOUBLES],
    /// How far its farthest point is from its centre of mass, m.
    pub(super) arm: Quad,
    /// Displacement in the substep, without contacts and joints, and what is worked on.
    pub(super) x: [Quad; 6],
    pub(super) aim: [Quad; 6],
    pub(super) pushed: [Quad; 6],
    /// What joints pull at it with, N and N·m.
    pub(super) load: [Quad; 6],
    /// Turn that rows were made for.
    pub(super) made_for: [Quad; 3],
    /// Over h²: mass, inertia (xx, yy, zz, xy, xz, yz), and both with what known forces add.
    pub(super) mass: Quad,
    pub(super) bare: [Quad; 6],
    pub(super) resists: [Quad; 3],
    pub(super) inertia: [Quad; 6],
    pub(super) springs: [Quad; SPRINGS],
    /// H⁻¹.
    pub(super) answer: [Quad; ANSWER],
    /// Of plain linkages.
    pub(super) form: Form,
}

impl LaneBody {
    /// Takes a body over at the start of a substep.
    pub(super) fn begin<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        (ground, field): (&Ground<'_, S>, &Field<'_>),
    ) {
        let body = linkage.bodies[k] as usize;
        let is_dynamic = ground.bodies.is_dynamic(body);
        self.places[lane] = body as u32 + 1;
        self.moves.0[lane] = f64::from(u8::from(is_dynamic));
        self.is_touched[lane] = is_dynamic && linkage.is_touched[k];
        let radius = ground.bodies.radius[body];
        self.arm.0[lane] = if radius.is_finite() { radius } else { 1.0 };
        let aim: Motion<S> = get(&field.aim.read(body + 1));
        let mut x: Motion<S> = get(&field.shift.read(body + 1));
        if is_dynamic && !linkage.is_touched[k] {
            let motion = &linkage.motion[k];
            x = Motion {
                linear: motion.linear * ground.law.h,
                spin: motion.spin * ground.law.h,
            };
        }
        put_motion(&mut self.x, lane, &x);
        put_motion(&mut self.aim, lane, &aim);
        if !self.is_touched[lane] {
            self.springs
                .iter_mut()
                .for_each(|spring| spring.0[lane] = 0.0);
        }
        if !is_dynamic {
            self.immobilise(lane);
        }
    }

    /// Takes over what of a body of a plain linkage does not change in a substep.
    pub(super) fn form<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        ground: &Ground<'_, S>,
    ) {
        let body = linkage.bodies[k] as usize;
        self.form
            .take(lane, &linkage.pose[k], (ground.bodies, body));
        if ground.bodies.is_dynamic(body) {
            self.resist_straight(lane, 0.0, (ground, body));
        }
    }

    /// Leaves out a body of a linkage that contacts have no say in.
    pub(super) fn rest(&mut self, lane: usize) {
        self.moves.0[lane] = 0.0;
        self.is_touched[lane] = false;
        self.springs
            .iter_mut()
            .for_each(|spring| spring.0[lane] = 0.0);
        self.form.rest(lane);
        self.immobilise(lane);
    }

    /// Makes H one, so that it has an inverse; `moves` says that it moves nothing.
    pub(super) fn immobilise(&mut self, lane: usize) {
        self.mass.0[lane] = 0.0;
        for (k, number) in self.inertia.iter_mut().enumerate() {
            number.0[lane] = f64::from(u8::from(k < 3));
        }
        self.resists.iter_mut().for_each(|mass| mass.0[lane] = 1.0);
        self.bare.iter_mut().for_each(|number| number.0[lane] = 0.0);
    }

    /// Writes down how a body resists displacements: mass, and what known forces add, N/m.
    pub(super) fn resist_straight<S: Space>(
        &mut self,
        lane: usize,
        added: f64,
        (ground, body): (&Ground<'_, S>, usize),
    ) {
        let inertial = &ground.bodies.inertial[body];
        let mass = inertial.mass / (ground.law.h * ground.law.h);
        self.mass.0[lane] = mass;
        for (axis, resists) in self.resists.iter_mut().enumerate() {
            resists.0[lane] = if axis >= S::DIM {
                1.0
            } else if inertial.inv_mass.component(axis) > 0.0 {
                mass + added
            } else {
                IMMOVABLE
            };
        }
    }

    /// Writes down how a body resists: inertia and known forces.
    pub(super) fn resist<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        ground: &Ground<'_, S>,
    ) {
        let bodies = ground.bodies;
        let body = linkage.bodies[k] as usize;
        let per_square = 1.0 / (ground.law.h * ground.law.h);
        let inertial = &bodies.inertial[body];
        self.resist_straight(lane, linkage.stiffer[k].linear, (ground, body));
        let turns = bodies.turns(body);
        let is_free = |axis: usize| turns && inertial.free_spins.component(axis) > 0.0;
        let (bare, stiff) = (S::six(&linkage.bare[k]), S::six(&linkage.inertia[k]));
        for (at, [i, j]) in SYMMETRIC.into_iter().enumerate() {
            self.bare[at].0[lane] = bare[at] * per_square;
            self.inertia[at].0[lane] = match (j < S::SPIN_DIM, i == j) {
                (false, is_same) => f64::from(u8::from(is_same)),
                (true, _) if is_free(i) && is_free(j) => stiff[at] * per_square,
                (true, true) => IMMOVABLE,
                (true, false) => 0.0,
            };
        }
    }
}
