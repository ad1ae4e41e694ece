//! A tree of boxes searched nearest first.
//!
//! Every query of this module is a search for the least of something (way along a ray, distance
//! from a point) of which a box gives a lower bound. Of two children the one with the smaller
//! bound is entered first, so that what it finds lets most of the other be passed by.
//!
//! Why not [`crate::geometry::bvh::median_split::Tree`]: that one asks each box for all that overlap it, in one
//! pass through memory without a stack, and knows no order of nearness.

use crate::geometry::shape::Bounds;
use crate::math::algebra::{Algebra, Components, Linear};

/// Boxes in a leaf at most.
const LEAF: usize = 4;

/// How much rounding a bound allows for, relative to the numbers in it.
const ROUNDING: f64 = 1e-12;

#[derive(Clone, Debug)]
struct Node<S: Algebra> {
    bounds: Bounds<S>,
    /// First item and number of items below this node.
    start: u32,
    count: u32,
    /// The second child; the first one follows its parent.
    second: u32,
}

/// The tree. It keeps the boxes, a little grown so that rounding loses nothing at their faces.
#[derive(Clone, Debug)]
pub(crate) struct NearestFirstTree<S: Algebra> {
    nodes: Vec<Node<S>>,
    /// Numbers and boxes of the items, leaf after leaf.
    items: Vec<(u32, Bounds<S>)>,
}

impl<S: Algebra> NearestFirstTree<S> {
    /// The tree of these numbered boxes.
    pub(crate) fn new(mut items: Vec<(u32, Bounds<S>)>) -> Self {
        for (_, bounds) in &mut items {
            let far = (0..S::DIM).fold(0.0, |far: f64, axis| {
                far.max(bounds.lower.component(axis).abs())
                    .max(bounds.upper.component(axis).abs())
            });
            *bounds = bounds.grown(ROUNDING * (far + 1.0));
        }
        let mut nodes = Vec::with_capacity(2 * items.len() / LEAF + 1);
        build(&mut nodes, &mut items, 0);
        Self { nodes, items }
    }

    /// Calls `visit` with the number of every item whose box has a bound of at most the limit,
    /// nearer boxes first. `bound` is a lower bound for everything in a box, or `None` if there
    /// is nothing to find in it; `visit` returns the new limit.
    pub(crate) fn search(
        &self,
        mut limit: f64,
        bound: impl Fn(&Bounds<S>) -> Option<f64>,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let bound_of = |at: usize| {
            let node = self.nodes.get(at)?;
            Some((bound(&node.bounds)?, at))
        };
        let mut waiting: Vec<(f64, usize)> = Vec::with_capacity(32);
        waiting.extend(bound_of(0));
        while let Some((least, at)) = waiting.pop() {
            let Some(node) = self.nodes.get(at).filter(|_| least <= limit) else {
                continue;
            };
            if node.second == 0 {
                let start = node.start as usize;
                for (item, bounds) in &self.items[start..start + node.count as usize] {
                    if bound(bounds).is_some_and(|least| least <= limit) {
                        limit = visit(*item);
                    }
                }
                continue;
            }
            let (first, second) = (bound_of(at + 1), bound_of(node.second as usize));
            // Last in, first out: the nearer one goes in last.
            let nearer_is_second = matches!((first, second), (Some(f), Some(s)) if s.0 < f.0);
            if nearer_is_second {
                waiting.extend(first);
                waiting.extend(second);
            } else {
                waiting.extend(second);
                waiting.extend(first);
            }
        }
    }
}

/// Adds the tree of `items`, the first of which is number `start` of all. Split at the median
/// of the longest side; ties go by number, so that the tree is the same every time.
fn build<S: Algebra>(nodes: &mut Vec<Node<S>>, items: &mut [(u32, Bounds<S>)], start: usize) {
    let Some(bounds) = items.iter().map(|item| item.1).reduce(Bounds::union) else {
        return;
    };
    let at = nodes.len();
    nodes.push(Node {
        bounds,
        start: start as u32,
        count: items.len() as u32,
        second: 0,
    });
    if items.len() <= LEAF {
        return;
    }
    let size = bounds.upper - bounds.lower;
    let axis = (1..S::DIM).fold(0, |longest, axis| {
        if size.component(axis) > size.component(longest) {
            axis
        } else {
            longest
        }
    });
    // Twice the centre.
    let key = |b: &Bounds<S>| b.lower.component(axis) + b.upper.component(axis);
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |p, q| {
        key(&p.1).total_cmp(&key(&q.1)).then(p.0.cmp(&q.0))
    });
    let (low, high) = items.split_at_mut(middle);
    build(nodes, low, start);
    nodes[at].second = nodes.len() as u32;
    build(nodes, high, start + middle);
}

/// A line on which something moves, ready to be cut by many boxes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<S: Algebra> {
    start: S::Vector,
    /// One over each component of the unit direction; infinite where it is 0.
    inverse: S::Vector,
    /// Half of the edges of what moves, m.
    half: S::Vector,
}

impl<S: Algebra> Path<S> {
    /// The path of the centre of a box with these half edges.
    pub(crate) fn new(start: S::Vector, direction: S::Vector, half: S::Vector) -> Self {
        let inverse = (0..S::DIM).fold(direction, |v, axis| {
            v.with_component(axis, 1.0 / direction.component(axis))
        });
        Self {
            start,
            inverse,
            half,
        }
    }

    /// A lower bound of the way in m until it meets something in the box.
    pub(crate) fn way_to(&self, bounds: &Bounds<S>) -> Option<f64> {
        let low = (bounds.lower - self.half - self.start).scale(self.inverse);
        let high = (bounds.upper + self.half - self.start).scale(self.inverse);
        let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
        for axis in 0..S::DIM {
            // 0 · ∞, no number, is left out by max and min only on its own side. It stands for
            // a path in a face of the grown box, past everything inside.
            let (a, b) = (low.component(axis), high.component(axis));
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        let least = enter * (1.0 - ROUNDING);
        (least <= leave * (1.0 + ROUNDING)).then_some(least)
    }
}

/// Signed distance of a point from a box in m. Everything in the box is at least as far: a
/// point outside is no nearer to it, and one inside lies no deeper in it.
pub(crate) fn distance_to<S: Algebra>(bounds: &Bounds<S>, point: S::Vector) -> f64 {
    let (below, above) = (bounds.lower - point, point - bounds.upper);
    let apart = below.upper(above);
    let outside = apart.upper(S::Vector::default()).length();
    if outside > 0.0 {
        return outside * (1.0 - ROUNDING);
    }
    (0..S::DIM).fold(f64::NEG_INFINITY, |depth, axis| {
        depth.max(apart.component(axis))
    })
}
