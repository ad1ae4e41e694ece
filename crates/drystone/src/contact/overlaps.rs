//! Overlap query: bodies that overlap, pair by pair.

use super::detection::{Lookahead, touch};
use super::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::bvh::median_split::Tree;
use crate::geometry::shape::{Bounds, Geometry};
use crate::model::body::Bodies;
use std::ops::ControlFlow;

/// Calls `visit(a, b, depth)` with every two bodies that may touch and overlap (a < b; the deepest
/// point, m), in their order, until it breaks.
///
/// No more is kept of the pairs than of one body's: memory grows as bodies do, time as n log n and
/// the pairs that are looked at.
pub(crate) fn for_each_overlap<S: Space, B>(
    bodies: &Bodies<S>,
    rules: &PairRules<'_, S>,
    mut visit: impl FnMut(usize, usize, f64) -> ControlFlow<B>,
) -> Option<B> {
    let search = Search::new(bodies);
    let (mut others, mut points) = (Vec::new(), Vec::new());
    for a in (0..bodies.len()).filter(|&k| bodies.is_present(k)) {
        others.clear();
        search.after(a, &mut others);
        others.sort_unstable();
        for &b in others.iter().filter(|&&b| rules.allow(bodies, a, b)) {
            points.clear();
            touch(bodies, (a, b), 0.0, &STILL, &mut points);
            rules.adjust(bodies, (a, b), &mut points);
            let depth = points
                .iter()
                .fold(0.0, |most: f64, p| most.max(-p.separation));
            if depth > 0.0
                && let ControlFlow::Break(end) = visit(a, b, depth)
            {
                return Some(end);
            }
        }
    }
    None
}

/// Nothing moves.
const STILL: Lookahead = Lookahead {
    dt: 0.0,
    margin: 0.0,
    acceleration: 0.0,
};

/// The boxes around bodies.
struct Search<S: Space> {
    boxes: Vec<Bounds<S>>,
    /// The body of each box, ascending.
    boxed: Vec<u32>,
    /// Bodies without a box, ascending.
    unbounded: Vec<usize>,
    tree: Tree<S>,
}

impl<S: Space> Search<S> {
    fn new(bodies: &Bodies<S>) -> Self {
        let (mut boxes, mut boxed, mut unbounded) = (Vec::new(), Vec::new(), Vec::new());
        for k in (0..bodies.len()).filter(|&k| bodies.is_present(k)) {
            match bodies.shape[k].bounds(&bodies.origin(k)) {
                Some(bounds) => {
                    boxes.push(bounds);
                    boxed.push(k as u32);
                }
                None => unbounded.push(k),
            }
        }
        Self {
            tree: Tree::new(&boxes),
            boxes,
            boxed,
            unbounded,
        }
    }

    /// The bodies after one whose boxes overlap its own, or that have none.
    fn after(&self, body: usize, others: &mut Vec<usize>) {
        match self.boxed.binary_search(&(body as u32)) {
            Ok(at) => {
                self.tree.overlapping(&self.boxes, &self.boxes[at], |k| {
                    others.push(self.boxed[k] as usize);
                });
                others.extend_from_slice(&self.unbounded);
            }
            Err(after) => others.extend(self.boxed[after..].iter().map(|&k| k as usize)),
        }
        others.retain(|&other| other > body);
    }
}
