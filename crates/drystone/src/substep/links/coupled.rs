//! Linkages that touch something: one block of the block descent.

use super::Ground;
use super::linkage::{Linkage, inverted};
use crate::body::Motion;
use crate::space::{Components, Space};
use crate::substep::columns::{get, put};
use crate::substep::patch::{Field, Grasp};

/// Sweeps over limits, motors and nets in a round where contacts have a say.
const COUPLED_SWEEPS: u32 = 3;
/// Resistance of what can't move, N/m and N·m.
const IMMOVABLE: f64 = 1e20;

impl<S: Space> Linkage<S> {
    /// Takes over where bodies are at the start of a substep that contacts have a say in. Bodies that
    /// touch nothing start from where they aim.
    pub(crate) fn begin(&mut self, ground: &Ground<'_, S>, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        if self.factors.is_none() {
            self.forget_forces();
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let place = body as usize + 1;
            self.aim[k] = get(&field.aim.read(place));
            self.x[k] = get(&field.shift.read(place));
            if ground.bodies.is_dynamic(body as usize) && !self.is_touched[k] {
                let motion = &self.motion[k];
                self.x[k] = Motion {
                    linear: motion.linear * ground.law.h,
                    spin: motion.spin * ground.law.h,
                };
            }
        }
    }

    /// Moves the linkage to where inertia, contacts and joints balance.
    pub(crate) fn settle(&mut self, ground: &Ground<'_, S>, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        // Anew in every round: a chain that whips turns by a good part of a circle in a step.
        self.shape_rows(ground);
        self.stiffen(ground, ground.law.h);
        for k in 0..self.bodies.len() {
            self.grip(ground, field, k);
        }
        for row in &mut self.rows {
            row.moves_a = apply::<S>(&self.answers[row.a as usize], row.n, row.j_a);
            row.moves_b = apply::<S>(&self.answers[row.b as usize], row.n, row.j_b);
            row.diagonal = row.coupling(row) + row.gives;
        }
        self.factorise();
        std::mem::swap(&mut self.x, &mut self.pushed);
        for row in &self.rows {
            row.push(row.force, &mut self.x);
        }
        let rounds = if self.rows.len() == self.locks && self.factors.is_some() {
            1
        } else {
            COUPLED_SWEEPS
        };
        for _ in 0..rounds {
            self.solve();
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            if ground.bodies.is_dynamic(body as usize) {
                let mut column = field.shift.read(body as usize + 1);
                put(&mut column, &self.x[k]);
                field.shift.write(body as usize + 1, column);
            }
        }
    }

    /// How a body answers forces, contacts included, and where it would go without its joints.
    #[allow(clippy::needless_range_loop)] // Rows and columns of a matrix.
    pub(super) fn grip(&mut self, ground: &Ground<'_, S>, field: &Field<'_>, k: usize) {
        let bodies = ground.bodies;
        let body = self.bodies[k] as usize;
        self.pushed[k] = self.x[k];
        if !bodies.is_dynamic(body) {
            self.answers[k] = [[0.0; 6]; 6];
            return;
        }
        let per_square = 1.0 / (ground.law.h * ground.law.h);
        let inertial = &bodies.inertial[body];
        let mut h = [[0.0; 6]; 6];
        for axis in 0..S::DIM {
            let is_free = inertial.inv_mass.component(axis) > 0.0;
            let heavier = inertial.mass * per_square + self.stiffer[k].linear;
            h[axis][axis] = if is_free { heavier } else { IMMOVABLE };
        }
        for i in 0..S::SPIN_DIM {
            let unit = S::Spin::default().with_component(i, 1.0);
            let column = S::apply_inertia(&self.inertia[k], unit);
            let is_free =
                |axis: usize| bodies.turns(body) && inertial.free_spins.component(axis) > 0.0;
            for j in 0..S::SPIN_DIM {
                h[3 + j][3 + i] = match (is_free(i) && is_free(j), i == j) {
                    (true, _) => column.component(j) * per_square,
                    (false, true) => IMMOVABLE,
                    (false, false) => 0.0,
                };
            }
        }
        let mut load = [0.0; 6];
        if self.is_touched[k] {
            let grasp = Grasp::read(field, body + 1);
            load = grasp.load;
            S::add_springs(&grasp, &mut h);
            // The plane's load has its torque where space has its z.
            if S::DIM == 2 {
                load[2] = 0.0;
            }
        } else {
            let away = Motion::<S> {
                linear: self.aim[k].linear - self.x[k].linear,
                spin: self.aim[k].spin - self.x[k].spin,
            };
            let inertia = S::world_inertia(self.pose[k].rotation, &inertial.inertia);
            let twist = S::apply_inertia(&inertia, away.spin);
            for axis in 0..3 {
                load[axis] = away.linear.component(axis) * inertial.mass * per_square;
                load[3 + axis] = twist.component(axis) * per_square;
            }
        }
        for (axis, row) in h.iter_mut().enumerate() {
            let exists = axis < S::DIM || axis >= 3 && axis < 3 + S::SPIN_DIM;
            if !exists {
                row[axis] = 1.0;
                load[axis] = 0.0;
            }
        }
        self.answers[k] = inverted(h, 6);
        let change = times::<S>(&self.answers[k], &load);
        self.pushed[k].linear += change.linear;
        self.pushed[k].spin += change.spin;
    }

    /// Starts the next substep from where this one ends.
    pub(crate) fn carry(&mut self, field: &Field<'_>) {
        if !self.is_coupled() {
            return;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let x: Motion<S> = get(&field.shift.read(body as usize + 1));
            self.pose[k].position += x.linear;
            self.pose[k].rotation = S::turn(self.pose[k].rotation, x.spin);
            self.x[k] = x;
        }
        for row in &mut self.rows {
            // A speed is a difference of coordinates, a damper pulls at where it was.
            row.offset -= row.lag * row.moved(&self.x);
        }
    }
}

/// What a force and a torque do.
fn apply<S: Space>(answer: &[[f64; 6]; 6], force: S::Vector, torque: S::Spin) -> Motion<S> {
    let mut load = [0.0; 6];
    for axis in 0..3 {
        load[axis] = force.component(axis);
        load[3 + axis] = torque.component(axis);
    }
    times::<S>(answer, &load)
}

fn times<S: Space>(answer: &[[f64; 6]; 6], load: &[f64; 6]) -> Motion<S> {
    let sum = |row: usize| -> f64 { answer[row].iter().zip(load).map(|(a, f)| a * f).sum() };
    let mut motion = Motion::<S>::default();
    for axis in 0..S::DIM {
        motion.linear = motion.linear.with_component(axis, sum(axis));
    }
    for axis in 0..S::SPIN_DIM {
        motion.spin = motion.spin.with_component(axis, sum(3 + axis));
    }
    motion
}
