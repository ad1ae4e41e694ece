//! State of the alternating direction method of multipliers between its rounds.

use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Motion;

/// α.
const RELAXATION: f64 = 1.6;

/// What rounds go on from: nodes in contact, z, u and ρ.
pub(crate) struct Rounds<S: Space> {
    pub(crate) nodes: Vec<u32>,
    pub(crate) second: Vec<S::Vector>,
    pub(crate) multiplier: Vec<S::Vector>,
}

impl<S: Space> Rounds<S> {
    pub(crate) fn linear(&self, motion: &[Motion<S>]) -> Vec<S::Vector> {
        let linear = |&k: &u32| motion[k as usize].linear;
        self.nodes.iter().map(linear).collect()
    }

    /// The velocities that contact starts from.
    pub(crate) fn relax(&self, free: &mut [Motion<S>]) {
        for (n, &k) in self.nodes.iter().enumerate() {
            let linear = &mut free[k as usize].linear;
            *linear = self.relaxed(n, *linear) + self.multiplier[n];
        }
    }

    /// v̂ of a node with velocity v.
    pub(crate) fn relaxed(&self, n: usize, v: S::Vector) -> S::Vector {
        v * RELAXATION + self.second[n] * (1.0 - RELAXATION)
    }

    /// Takes z and u from a contact solve; the largest difference of v, z and the last z, m/s.
    pub(crate) fn close(
        &mut self,
        v: &[S::Vector],
        free: &[Motion<S>],
        after: &[Motion<S>],
    ) -> f64 {
        let mut largest = 0.0_f64;
        for (n, &k) in self.nodes.iter().enumerate() {
            let z = after[k as usize].linear;
            largest = largest
                .max((v[n] - z).length())
                .max((z - self.second[n]).length());
            self.multiplier[n] = free[k as usize].linear - z;
            self.second[n] = z;
        }
        largest
    }
}
