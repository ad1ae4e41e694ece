//! Linkages that touch something: one block of the block descent.

use super::Ground;
use super::linkage::{BENT, Linkage};
use crate::body::{Bodies, Motion};
use crate::space::{Components, Linear, Space};
use crate::substep::columns::{get, put};
use crate::substep::patch::{Field, Grasp};

/// Sweeps over limits, motors and nets in a round where contacts have a say.
const COUPLED_SWEEPS: u32 = 3;
/// Where directions are taken this late in a step ([`super`]), a linkage is taut, and its rows are
/// made again beyond this turn, rad. A bridge of twenty planks that is nearly straight goes up by
/// two centimetres to make up for joints that are open by a twentieth of a millimetre each: what
/// [`BENT`] leaves, so that it kicked what stood on it.
const TAUT_PART: f64 = 0.1;
const TAUT_BENT: f64 = 1e-4;
/// A linkage that would move slower than this if it were solved again in a round is not, m/s; nor is
/// that asked if it moved so many times as far in the round before.
const NOTICEABLE_SPEED: f64 = 5e-4;
const MANY: f64 = 20.0;
/// Resistance of what can't move, N/m and N·m.
const IMMOVABLE: f64 = 1e20;

impl<S: Space> Linkage<S> {
    /// Takes over where bodies are at the start of a substep that contacts have a say in. Bodies that
    /// touch nothing start from where they aim.
    pub(crate) fn begin(&mut self, ground: &Ground<'_, S>, field: &Field<'_>) {
        if self.factors.is_none() {
            self.forget_forces();
        }
        self.is_shaped = false;
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
    ///
    /// Rows are made again when bodies have turned since, for a chain that whips turns by a good
    /// part of a circle in a step; factors only if rows or contacts' springs are other ones, which
    /// at rest is once a step.
    pub(crate) fn settle(&mut self, ground: &Ground<'_, S>, field: &Field<'_>) {
        let is_bent = !self.is_shaped || self.bends() > self.tolerated_bend();
        if is_bent {
            self.is_shaped = true;
            self.shape_rows();
            self.stiffen(ground, ground.law.h);
            self.made_for.copy_from_slice(&self.x);
        }
        let mut is_other = is_bent;
        for k in 0..self.bodies.len() {
            is_other |= self.grip(ground, field, k, is_bent);
        }
        if is_other {
            self.answer_rows(ground.law.h);
            self.factorise();
        } else if self.rests(ground) {
            return;
        }
        std::mem::swap(&mut self.x, &mut self.pushed);
        self.push_known();
        let rounds = if self.is_exact() { 1 } else { COUPLED_SWEEPS };
        for _ in 0..rounds {
            self.solve();
        }
        if self.tighten(ground.bodies, ground.law.h) {
            self.is_shaped = false;
        }
        self.stirred = 0.0;
        for (k, &body) in self.bodies.iter().enumerate() {
            if ground.bodies.is_dynamic(body as usize) {
                let mut column = field.shift.read(body as usize + 1);
                let way = way_between(ground.bodies, body, &get(&column), &self.x[k]);
                self.stirred = self.stirred.max(way);
                put(&mut column, &self.x[k]);
                field.shift.write(body as usize + 1, column);
            }
        }
    }

    /// Whether solving again would move nothing to speak of: contacts do what they did when the
    /// forces of the joints were found.
    fn rests(&mut self, ground: &Ground<'_, S>) -> bool {
        let noticeable = ground.law.h * NOTICEABLE_SPEED;
        if !self.is_exact() || self.stirred > MANY * noticeable {
            return false;
        }
        self.missed.copy_from_slice(&self.pushed);
        for row in &self.rows {
            row.push(row.force, &mut self.missed);
        }
        let bodies = self.bodies.iter().zip(self.x.iter().zip(&self.missed));
        bodies
            .filter(|(body, _)| ground.bodies.is_dynamic(**body as usize))
            .all(|(&body, (x, there))| way_between(ground.bodies, body, x, there) < noticeable)
    }

    /// Turn beyond which rows are made again, rad.
    fn tolerated_bend(&self) -> f64 {
        if self.part > TAUT_PART {
            TAUT_BENT
        } else {
            BENT
        }
    }

    /// What forces along the rows do.
    fn answer_rows(&mut self, h: f64) {
        let square = h * h;
        for row in &mut self.rows {
            let moves = |k: u32, j: S::Spin| {
                let k = k as usize;
                if self.is_touched[k] {
                    apply::<S>(&self.answers[k], row.n, j)
                } else {
                    Motion {
                        linear: self.inverse_mass[k].scale(row.n) * square,
                        spin: S::apply_inertia(&self.inverse[k], j) * square,
                    }
                }
            };
            row.moves_a = moves(row.a, row.j_a);
            row.moves_b = moves(row.b, row.j_b);
            row.diagonal = row.coupling(row) + row.gives;
        }
    }

    /// Where a body would go without its joints, contacts included; how it answers forces, if that
    /// is not known yet. Returns whether it was not.
    fn grip(&mut self, ground: &Ground<'_, S>, field: &Field<'_>, k: usize, is_bent: bool) -> bool {
        let body = self.bodies[k] as usize;
        if !ground.bodies.is_dynamic(body) {
            self.pushed[k] = self.x[k];
            self.answers[k] = [[0.0; 6]; 6];
            return false;
        }
        if !self.is_touched[k] {
            self.pushed[k] = self.target(ground, k, &self.aim[k]);
            return false;
        }
        let grasp = Grasp::read(field, body + 1);
        let is_other = is_bent || !grasp.has_springs_of(&self.grasps[k]);
        if is_other {
            self.answers[k] = inverted_resistance(self.resistance(ground, k, &grasp));
        }
        let mut load = grasp.load;
        // The plane's load has its torque where space has its z.
        if S::DIM == 2 {
            load[2] = 0.0;
        }
        for (axis, load) in load.iter_mut().enumerate() {
            if !exists::<S>(axis) {
                *load = 0.0;
            }
        }
        self.grasps[k] = grasp;
        let change = times::<S>(&self.answers[k], &load);
        self.pushed[k] = Motion {
            linear: self.x[k].linear + change.linear,
            spin: self.x[k].spin + change.spin,
        };
        is_other
    }

    /// H of a body: inertia, known forces, contacts' springs.
    #[allow(clippy::needless_range_loop)] // Rows and columns of a matrix.
    fn resistance(&self, ground: &Ground<'_, S>, k: usize, grasp: &Grasp) -> [[f64; 6]; 6] {
        let bodies = ground.bodies;
        let body = self.bodies[k] as usize;
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
        S::add_springs(grasp, &mut h);
        for axis in (0..6).filter(|&axis| !exists::<S>(axis)) {
            h[axis][axis] = 1.0;
        }
        h
    }

    /// Starts the next substep from where this one ends.
    pub(crate) fn carry(&mut self, field: &Field<'_>) {
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

/// How far apart two displacements of a body are at its farthest point, about, m.
fn way_between<S: Space>(bodies: &Bodies<S>, body: u32, a: &Motion<S>, b: &Motion<S>) -> f64 {
    let radius = bodies.radius[body as usize];
    let arm = if radius.is_finite() { radius } else { 1.0 };
    (b.linear - a.linear).length() + arm * (b.spin - a.spin).length()
}

/// Whether a space has this axis: x, y, z, then turns.
fn exists<S: Space>(axis: usize) -> bool {
    axis < S::DIM || axis >= 3 && axis < 3 + S::SPIN_DIM
}

/// The inverse of a resistance, whose upper left quarter is diagonal:
///
/// $$ \begin{pmatrix} A & B \\ B^T & C \end{pmatrix}^{-1} =
///    \begin{pmatrix} A^{-1} + W T W^T & -W T \\ -T W^T & T \end{pmatrix}, \qquad
///    W = A^{-1}B,\quad T = (C - B^T W)^{-1} . $$
#[allow(clippy::needless_range_loop)] // Rows and columns of matrices.
fn inverted_resistance(h: [[f64; 6]; 6]) -> [[f64; 6]; 6] {
    let mut w = [[0.0; 3]; 3];
    let mut rest = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            w[i][j] = h[i][3 + j] / h[i][i];
            rest[i][j] = h[3 + i][3 + j];
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            rest[i][j] -= (0..3).map(|k| h[k][3 + i] * w[k][j]).sum::<f64>();
        }
    }
    let t = inverted_turning(&rest);
    let mut inverse = [[0.0; 6]; 6];
    for i in 0..3 {
        for j in 0..3 {
            inverse[3 + i][3 + j] = t[i][j];
            let wt: f64 = (0..3).map(|k| w[i][k] * t[k][j]).sum();
            inverse[i][3 + j] = -wt;
            inverse[3 + j][i] = -wt;
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            inverse[i][j] = -(0..3).map(|k| inverse[i][3 + k] * w[j][k]).sum::<f64>();
        }
        inverse[i][i] += 1.0 / h[i][i];
    }
    inverse
}

/// The inverse of a symmetric, positive definite matrix, by its minors.
fn inverted_turning(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let minor = |i: usize, j: usize| {
        let [a, b] = [(i + 1) % 3, (i + 2) % 3];
        let [c, d] = [(j + 1) % 3, (j + 2) % 3];
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let [xx, yy, zz] = [minor(0, 0), minor(1, 1), minor(2, 2)];
    let [xy, xz, yz] = [minor(0, 1), minor(0, 2), minor(1, 2)];
    let determinant = m[0][0] * xx + m[0][1] * xy + m[0][2] * xz;
    // Never smaller than that of inertia alone but by rounding.
    let scale = 1.0 / determinant.max(f64::MIN_POSITIVE);
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|row| row.map(|minor| minor * scale))
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
    // Answers are symmetric: a row is a column, and sums of columns are made side by side.
    let mut sums = [0.0; 6];
    for (column, load) in answer.iter().zip(load) {
        for (sum, answer) in sums.iter_mut().zip(column) {
            *sum += answer * load;
        }
    }
    let mut motion = Motion::<S>::default();
    for (axis, &sum) in sums[..S::DIM].iter().enumerate() {
        motion.linear = motion.linear.with_component(axis, sum);
    }
    for (axis, &sum) in sums[3..3 + S::SPIN_DIM].iter().enumerate() {
        motion.spin = motion.spin.with_component(axis, sum);
    }
    motion
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resistances_times_their_inverses_are_one() {
        let mut h = [[0.0; 6]; 6];
        for (i, a) in [7.0, 5.0, 9.0].into_iter().enumerate() {
            h[i][i] = a;
            for j in 0..3 {
                let b = 0.3 * (i as f64 - 1.2 * j as f64) + 0.1;
                h[i][3 + j] = b;
                h[3 + j][i] = b;
                h[3 + i][3 + j] = 0.2 / (1.0 + (i + j) as f64);
            }
            h[3 + i][3 + i] = 4.0 + i as f64;
        }
        let inverse = inverted_resistance(h);
        for (i, row) in h.iter().enumerate() {
            for j in 0..6 {
                let terms = row.iter().zip(&inverse);
                let product: f64 = terms.map(|(a, inverse)| a * inverse[j]).sum();
                let expected = f64::from(u8::from(i == j));
                assert!((product - expected).abs() < 1e-12, "{i} {j}: {product}");
            }
        }
    }
}
