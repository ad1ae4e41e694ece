//! Projection of velocities onto those that joints allow.
//!
//! Where joints are closed, $Jv = s$ holds (s is the speed of a motor, 0 otherwise). What a step of
//! positions leaves beyond that is taken away by impulses along the rows,
//!
//! $$ v \leftarrow v - M^{-1}J^T S^{-1}(Jv - s), \qquad S = J M^{-1} J^T , $$
//!
//! the nearest velocities that joints allow, so that kinetic energy can only fall (but for what
//! motors do), and momentum is kept.

use super::linkage::Linkage;
use super::row::push_locks;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Motion};
use crate::model::joint::rows::{Poses, Role};

impl<S: Space> Linkage<S> {
    /// Makes rows and factors at the present poses for impulses and velocities.
    pub(super) fn hold(&mut self, bodies: &Bodies<S>) {
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, inertial) = (body as usize, &bodies.inertial[body as usize]);
            if bodies.is_dynamic(body) {
                self.inverse_mass[k] = inertial.inv_mass;
                self.inverse[k] = inertial.inv_inertia_at(self.pose[k].rotation);
            } else {
                self.inverse_mass[k] = S::Vector::default();
                self.inverse[k] = S::NO_INERTIA;
            }
        }
        for joint in &self.joints {
            let rows = &mut self.rows;
            let ends = joint.ends.map(|k| &self.pose[k as usize]);
            let poses = Poses {
                end: ends,
                within: ends,
            };
            joint.gauge.for_each_row(&joint.roles, &poses, |k, row| {
                let link = &mut rows[joint.at[k] as usize];
                (link.n, link.j_a, link.j_b) = (row.n, row.j_a, row.j_b);
                link.missing = match joint.roles[k].1 {
                    Role::Motor(speed, _) => -speed,
                    _ => 0.0,
                };
            });
        }
        for row in &mut self.rows[..self.locks] {
            let moves = |k: u32, j: S::Spin| Motion {
                linear: self.inverse_mass[k as usize].scale(row.n),
                spin: S::apply_inertia(&self.inverse[k as usize], j),
            };
            row.moves_a = moves(row.a, row.j_a);
            row.moves_b = moves(row.b, row.j_b);
            row.diagonal = row.coupling(row);
        }
        self.factorise();
    }

    /// Gives the velocities in `x` the impulses that make them what joints allow.
    pub(super) fn close(&mut self) {
        for (row, missing) in self.rows[..self.locks].iter().zip(&mut self.missing) {
            *missing = -(row.missing + row.moved(&self.x));
        }
        if let Some(factors) = &self.factors {
            factors.solve::<f64>(&mut self.missing);
        }
        push_locks((&self.rows, &self.blocks), &self.missing, &mut self.x);
    }
}
