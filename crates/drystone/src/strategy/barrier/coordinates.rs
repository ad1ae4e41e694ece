//! Unknowns of the potential: displacement and turn of each body.
//!
//! A particle goes u (m), a rigid body goes u and turns by the rotation vector θ (rad): a point at
//! the arm a from its centre moves by $u + \exp(\theta\times)a - a$, whose derivative along θ is
//! $-[\exp(\theta\times)a]_\times J(\theta)$ with the left Jacobian of rotations
//!
//! $$ J = 1 + \frac{1-\cos\varphi}{\varphi^2}[\theta]_\times
//!          + \frac{\varphi-\sin\varphi}{\varphi^3}[\theta]_\times^2, \qquad \varphi = |\theta| . $$

use super::attached_nodes::Carriers;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::algebra::solid;
use crate::model::body::{Bodies, Kind, Motion};
use glamx::{DMat3, DVec3};

/// Most unknowns of a body.
pub(super) const MOST: usize = 6;

/// How a point moves with each unknown of a body; zero where there is none or it is locked.
pub(super) type Columns = [DVec3; MOST];

/// The unknowns of all bodies.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    /// Number among the unknown bodies; of carried nodes that of their body.
    pub(super) unknown: Vec<Option<u32>>,
    /// Unknowns of each unknown body.
    pub(super) sizes: Vec<u32>,
    /// Body of each unknown body.
    pub(super) bodies: Vec<u32>,
    pub(super) carriers: Carriers,
    /// 1 for what may move, 0 for what is locked: axes, then spins.
    free: Vec<[f64; MOST]>,
    /// Mass (kg), and inertia in world axes at the start (kg·m²).
    inertia: Vec<(f64, DMat3)>,
}

impl Coordinates {
    pub(super) fn new<S: Space>(bodies: &Bodies<S>, carriers: Carriers) -> Self {
        let mut all = Self {
            unknown: vec![None; bodies.len()],
            sizes: Vec::new(),
            bodies: Vec::new(),
            carriers,
            free: Vec::new(),
            inertia: Vec::new(),
        };
        let moves = |k: &usize| bodies.is_dynamic(*k) && !all.carriers.has(*k as u32);
        let moving: Vec<usize> = (0..bodies.len()).filter(moves).collect();
        for k in moving {
            let turns = bodies.kind[k] == Kind::Rigid;
            let inertial = &bodies.inertial[k];
            let mut free = [0.0; MOST];
            for (axis, free) in free.iter_mut().enumerate().take(S::DIM) {
                *free = if inertial.inv_mass.component(axis) > 0.0 {
                    1.0
                } else {
                    0.0
                };
            }
            if turns {
                for axis in 0..S::SPIN_DIM {
                    free[S::DIM + axis] = inertial.free_spins.component(axis);
                }
            }
            all.unknown[k] = Some(all.sizes.len() as u32);
            all.sizes
                .push((S::DIM + if turns { S::SPIN_DIM } else { 0 }) as u32);
            all.bodies.push(k as u32);
            all.free.push(free);
            let inertia = if turns {
                inertia_at_start(bodies, k)
            } else {
                DMat3::IDENTITY
            };
            all.inertia.push((inertial.mass, inertia));
        }
        for &node in &all.carriers.nodes {
            all.unknown[node as usize] = all.unknown[all.carriers.of(node)];
        }
        all
    }

    /// Mass and inertia of an unknown body as a matrix over its unknowns, row after row.
    pub(super) fn mass<S: Space>(&self, n: usize) -> [[f64; MOST]; MOST] {
        let (mass, inertia) = &self.inertia[n];
        let mut matrix = [[0.0; MOST]; MOST];
        for (axis, row) in matrix.iter_mut().enumerate().take(S::DIM) {
            row[axis] = *mass;
        }
        for i in 0..self.sizes[n] as usize - S::DIM {
            for j in 0..S::SPIN_DIM {
                let (p, q) = if S::DIM == 2 { (2, 2) } else { (i, j) };
                matrix[S::DIM + i][S::DIM + j] = inertia.col(q)[p];
            }
        }
        matrix
    }

    /// The unknowns of a body out of its motion.
    pub(super) fn flat<S: Space>(&self, n: usize, motion: &Motion<S>) -> [f64; MOST] {
        let mut flat = [0.0; MOST];
        for (axis, value) in flat.iter_mut().enumerate().take(self.sizes[n] as usize) {
            *value = if axis < S::DIM {
                motion.linear.component(axis)
            } else {
                motion.spin.component(axis - S::DIM)
            };
        }
        flat
    }

    /// A body's motion from its unknowns, nothing where it is locked.
    pub(super) fn motion<S: Space>(&self, n: usize, flat: &[f64]) -> Motion<S> {
        let mut motion = Motion::<S>::default();
        for (axis, (&value, free)) in flat.iter().zip(self.free[n]).enumerate() {
            if axis < S::DIM {
                motion.linear = motion.linear.with_component(axis, free * value);
            } else {
                motion.spin = motion.spin.with_component(axis - S::DIM, free * value);
            }
        }
        motion
    }

    /// Left Jacobians of all bodies after they went `way`; of carried nodes those of their bodies.
    pub(super) fn jacobians<S: Space>(&self, way: &[Motion<S>]) -> Vec<DMat3> {
        let of = |motion: &Motion<S>| {
            if S::DIM == 2 || motion.spin == S::Spin::default() {
                DMat3::IDENTITY
            } else {
                left_jacobian(DVec3::from_array(motion.spin.to_array3()))
            }
        };
        let mut all: Vec<DMat3> = way.iter().map(of).collect();
        for &node in &self.carriers.nodes {
            all[node as usize] = all[self.carriers.of(node)];
        }
        all
    }

    /// How a point at `place` on a body moves with the body's unknowns, or with
    /// all of a scripted body's motion.
    pub(super) fn columns<S: Space>(
        &self,
        body: u32,
        (bodies, way): (&Bodies<S>, &[Motion<S>]),
        place: DVec3,
        jacobian: &DMat3,
    ) -> Columns {
        let k = self.carriers.of(body);
        let mut columns = [DVec3::ZERO; MOST];
        for (axis, column) in columns.iter_mut().enumerate().take(S::DIM) {
            column[axis] = 1.0;
        }
        let turns = matches!(bodies.kind[k], Kind::Rigid | Kind::Kinematic(_));
        if turns {
            let arm = place - solid::<S>(bodies.position[k] + way[k].linear);
            for axis in 0..S::SPIN_DIM {
                let about = if S::DIM == 2 {
                    DVec3::Z
                } else {
                    jacobian.col(axis)
                };
                columns[S::DIM + axis] = about.cross(arm);
            }
        }
        if let Some(n) = self.unknown[k] {
            for (column, free) in columns.iter_mut().zip(self.free[n as usize]) {
                *column *= free;
            }
        }
        columns
    }
}

/// The inertia against which torques turn a body, world axes: the inverse of the inverse inertia
/// over the spins that are free.
fn inertia_at_start<S: Space>(bodies: &Bodies<S>, k: usize) -> DMat3 {
    let inverse = bodies.world_inv_inertia(k);
    let spins = bodies.inertial[k].free_spins;
    let mut matrix = DMat3::IDENTITY;
    for axis in 0..S::SPIN_DIM {
        let unit = S::Spin::default().with_component(axis, 1.0);
        let column = S::apply_inertia(&inverse, unit).to_array3();
        if spins.component(axis) > 0.0 {
            let at = if S::DIM == 2 { 2 } else { axis };
            *matrix.col_mut(at) = DVec3::from_array(column);
        }
    }
    matrix.inverse()
}

fn left_jacobian(theta: DVec3) -> DMat3 {
    let square = theta.length_squared();
    let angle = square.sqrt();
    // Series where the quotients lose digits.
    let (first, second) = if angle < 1e-3 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let (sin, cos) = libm::sincos(angle);
        ((1.0 - cos) / square, (angle - sin) / (square * angle))
    };
    let cross = skew(theta);
    DMat3::IDENTITY + cross * first + cross * cross * second
}

fn skew(v: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::{Algebra, D3};
    use glamx::DQuat;

    #[test]
    fn the_left_jacobian_is_that_of_differences() {
        let arm = DVec3::new(0.4, -0.2, 0.9);
        let turned = |theta: DVec3| D3::turn(DQuat::IDENTITY, theta) * arm;
        for theta in [DVec3::new(0.3, -1.1, 0.6), DVec3::new(2e-4, 0.0, -1e-4)] {
            let jacobian = left_jacobian(theta);
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * 1e-6;
                let difference = (turned(theta + step) - turned(theta - step)) / 2e-6;
                let exact = jacobian.col(axis).cross(turned(theta));
                assert!((difference - exact).length() < 1e-9, "{difference} {exact}");
            }
        }
    }
}
