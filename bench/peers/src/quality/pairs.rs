//! Which bodies may touch: one sweep along x over bounding boxes.

use super::overlap::{Placed, overlap};
use crate::scene::{Pose, Scene};
use std::collections::BTreeSet;

/// The deepest overlap of two bodies that are not joined, m; 0 when nothing overlaps, and
/// infinity when a pose is not a number.
pub fn deepest_overlap(scene: &Scene, poses: &[Pose]) -> f64 {
    if poses.iter().any(|pose| !pose.position.is_finite()) {
        return f64::INFINITY;
    }
    let placed: Vec<Placed> = scene
        .bodies
        .iter()
        .zip(poses)
        .map(|(body, pose)| Placed::new(&body.shape, pose, scene.dim))
        .collect();
    let joined: BTreeSet<(usize, usize)> = scene
        .joints
        .iter()
        .map(|joint| (joint.a.min(joint.b), joint.a.max(joint.b)))
        .collect();
    let mut deepest = 0.0f64;
    for_each_near_pair(&placed, |a, b| {
        let both_fixed = scene.bodies[a].fixed && scene.bodies[b].fixed;
        if !both_fixed && !joined.contains(&(a.min(b), a.max(b))) {
            deepest = deepest.max(overlap(&placed[a], &placed[b]));
        }
    });
    deepest
}

/// Calls with every pair whose bounding boxes meet.
fn for_each_near_pair(placed: &[Placed], mut call: impl FnMut(usize, usize)) {
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by(|&a, &b| placed[a].lower.x.total_cmp(&placed[b].lower.x));
    let mut open: Vec<usize> = Vec::new();
    for here in order {
        open.retain(|&other| placed[other].upper.x >= placed[here].lower.x);
        for &other in &open {
            if placed[here].boxes_meet(&placed[other]) {
                call(other, here);
            }
        }
        open.push(here);
    }
}
