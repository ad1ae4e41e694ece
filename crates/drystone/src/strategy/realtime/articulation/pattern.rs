//! Sparsity pattern of a linkage's Schur complement.

use std::collections::{BTreeMap, BTreeSet};

use super::linkage::{JointRows, Linkage};
use super::row::Entry;
use crate::geometry::Space;
use crate::math::sparse_ldlt::{Factors, WIDEST};
use crate::model::body::Bodies;

impl<S: Space> Linkage<S> {
    /// What is known of S before its numbers are.
    pub(super) fn make_factors(&mut self, bodies: &Bodies<S>) {
        let mut of_body: Vec<Vec<u32>> = vec![Vec::new(); self.bodies.len()];
        let (mut near, mut starts) = (Vec::new(), vec![0]);
        for (joint, block) in self.joints.iter().zip(self.blocks.windows(2)) {
            // Drives that nothing resists are locks too, so that there may be more than six.
            for start in (block[0]..block[1]).step_by(WIDEST) {
                // What comes before and shares a body that moves.
                let mut before = BTreeSet::new();
                for end in joint.ends.map(|end| end as usize) {
                    if bodies.is_dynamic(self.bodies[end] as usize) {
                        before.extend(of_body[end].iter().copied());
                        of_body[end].push(near.len() as u32);
                    }
                }
                near.push(before.into_iter().collect());
                starts.push(block[1].min(start + WIDEST as u32));
            }
        }
        let factors = Factors::new(&starts, &near);
        let entries = factors.entries();
        let entries = entries.map(|(column, row)| Entry::new(&self.rows, row, column));
        self.entries = entries.collect();
        self.above = vec![0.0; self.entries.len()];
        self.factors = Some(factors);
    }
}

/// Joints of a group that share a body that moves with each.
pub(super) fn neighbours<S: Space>(
    bodies: &Bodies<S>,
    group: &[JointRows<S>],
    ends: &BTreeMap<u32, [u32; 2]>,
) -> Vec<BTreeSet<u32>> {
    let mut of_body: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (k, joint) in group.iter().enumerate() {
        for body in ends[&joint.joint] {
            if bodies.is_dynamic(body as usize) {
                of_body.entry(body).or_default().push(k as u32);
            }
        }
    }
    let mut near = vec![BTreeSet::new(); group.len()];
    for joints in of_body.values() {
        for &j in joints {
            near[j as usize].extend(joints.iter().copied().filter(|&k| k != j));
        }
    }
    near
}
