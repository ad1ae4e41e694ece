//! Warm start: a first estimate of the forces of new contacts.
//!
//! A scene that has just been set up knows no contact force; a wall of a hundred rows would need
//! hundreds of steps to find out what its lowest stones carry, and sink meanwhile. So, from the
//! highest body to the lowest, each hands its weight and what rests on it to the contacts that
//! hold it up, in equal parts. That is no solution of anything: forces sideways and turning moments
//! are ignored. It is a better start than zero, and right for stacks that are evenly built.

use super::contact_graph::Graph;
use super::manifold_store::Manifolds;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;

/// Cosine from the vertical below which a contact is no support.
const STEEP: f64 = 0.3;

/// Gives forces to manifolds that have none, between bodies that are at rest. `slow` is the speed of
/// a body at rest at most, m/s.
pub(crate) fn guess_loads<S: Space>(
    manifolds: &mut Manifolds<S>,
    graph: &Graph,
    bodies: &Bodies<S>,
    gravity: S::Vector,
    slow: f64,
) {
    let strength = gravity.length();
    if strength == 0.0 {
        return;
    }
    let up = gravity * (-1.0 / strength);
    let height = |k: usize| up.dot(bodies.position[k]);
    let mut order: Vec<usize> = (0..bodies.len())
        .filter(|&k| bodies.is_dynamic(k) && graph.is_held(k))
        .collect();
    order.sort_by(|&j, &k| height(k).total_cmp(&height(j)).then(j.cmp(&k)));
    let mut load: Vec<f64> = (0..bodies.len())
        .map(|k| {
            if bodies.is_dynamic(k) {
                bodies.mass(k) * strength
            } else {
                0.0
            }
        })
        .collect();
    let mut supports: Vec<(u32, u32, f64)> = Vec::new();
    for body in order {
        let motion = &bodies.motion[body];
        if motion.linear.length() > slow {
            continue;
        }
        supports.clear();
        let mut is_known = false;
        for (record, other, side) in graph.manifolds_of(body) {
            let manifold = record - 1;
            let cosine = side * up.dot(manifolds.normal(manifold));
            if cosine > STEEP {
                is_known |= manifolds.carries(manifold);
                supports.push((manifold, other, cosine));
            }
        }
        let squares: f64 = supports.iter().map(|(_, _, c)| c * c).sum();
        if is_known || squares == 0.0 {
            continue;
        }
        for &(manifold, other, cosine) in &supports {
            let force = load[body] * cosine / squares;
            manifolds.set_force(manifold, force);
            load[other as usize] += force * cosine;
        }
    }
}
