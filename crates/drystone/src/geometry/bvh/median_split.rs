//! A box tree by median splits: which of n boxes overlap, in about n log n.
//!
//! A tree of boxes, built anew each time by splitting at the median of the longest side: no
//! state from step to step, and nothing to go stale. Every box then asks the tree which boxes overlap
//! it. Both parts take n log n steps as long as the boxes do not all overlap each other.

use crate::geometry::shape::Bounds;
use crate::math::algebra::{Algebra, Components};

/// Boxes in a leaf at most: few enough to test one by one, enough to keep the tree small.
const LEAF: usize = 4;

#[derive(Clone, Debug)]
struct Node<S: Algebra> {
    bounds: Bounds<S>,
    /// First item and number of items below this node.
    start: u32,
    count: u32,
    /// Index of the node to go to when this one is passed by (its subtree comes right after it).
    skip: u32,
}

/// A tree over boxes.
#[derive(Clone, Debug)]
pub(crate) struct Tree<S: Algebra> {
    /// Depth first: a node's subtree follows it.
    nodes: Vec<Node<S>>,
    /// Indices of boxes, grouped by leaf.
    items: Vec<u32>,
}

impl<S: Algebra> Default for Tree<S> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<S: Algebra> Tree<S> {
    /// Builds the tree of these boxes.
    #[must_use]
    pub(crate) fn new(boxes: &[Bounds<S>]) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * boxes.len() / LEAF + 1),
            items: (0..boxes.len() as u32).collect(),
        };
        if !boxes.is_empty() {
            let mut items = std::mem::take(&mut tree.items);
            tree.build(boxes, &mut items, 0);
            tree.items = items;
        }
        tree
    }

    fn build(&mut self, boxes: &[Bounds<S>], items: &mut [u32], start: usize) {
        let bounds = items
            .iter()
            .skip(1)
            .fold(boxes[items[0] as usize], |all, &k| {
                all.union(boxes[k as usize])
            });
        let node = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            start: start as u32,
            count: items.len() as u32,
            skip: 0,
        });
        if items.len() > LEAF {
            let axis = longest_axis(&bounds);
            let middle = items.len() / 2;
            // Twice the centre; ties go by index, so the tree is the same every time.
            let key = |k: u32| {
                let b = &boxes[k as usize];
                b.lower.component(axis) + b.upper.component(axis)
            };
            items
                .select_nth_unstable_by(middle, |&p, &q| key(p).total_cmp(&key(q)).then(p.cmp(&q)));
            let (low, high) = items.split_at_mut(middle);
            self.build(boxes, low, start);
            self.build(boxes, high, start + middle);
        }
        self.nodes[node].skip = self.nodes.len() as u32;
    }

    /// Takes over changed boxes of the same items, keeping the tree's shape.
    pub(crate) fn refit(&mut self, boxes: &[Bounds<S>]) {
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let (start, count) = (node.start as usize, node.count as usize);
            let bounds = if count <= LEAF {
                self.items[start..start + count]
                    .iter()
                    .map(|&k| boxes[k as usize])
                    .reduce(Bounds::union)
            } else {
                // Children follow their parent: the left one at once, the right one after it.
                let right = self.nodes[at + 1].skip as usize;
                Some(self.nodes[at + 1].bounds.union(self.nodes[right].bounds))
            };
            if let Some(bounds) = bounds {
                self.nodes[at].bounds = bounds;
            }
        }
    }

    /// Calls `found` with the index of every box that overlaps `query`.
    pub(crate) fn overlapping(
        &self,
        boxes: &[Bounds<S>],
        query: &Bounds<S>,
        mut found: impl FnMut(usize),
    ) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !node.bounds.overlaps(query) {
                at = node.skip as usize;
                continue;
            }
            if node.count as usize <= LEAF {
                let start = node.start as usize;
                for &k in &self.items[start..start + node.count as usize] {
                    if boxes[k as usize].overlaps(query) {
                        found(k as usize);
                    }
                }
            }
            at += 1;
        }
    }
}

fn longest_axis<S: Algebra>(bounds: &Bounds<S>) -> usize {
    let size = bounds.upper - bounds.lower;
    let mut longest = 0;
    for axis in 1..S::DIM {
        if size.component(axis) > size.component(longest) {
            longest = axis;
        }
    }
    longest
}

/// Calls `found(i, j)` with i < j for every two boxes that overlap, each pair once.
pub(crate) fn overlapping_pairs<S: Algebra>(
    boxes: &[Bounds<S>],
    mut found: impl FnMut(usize, usize),
) {
    let tree = Tree::new(boxes);
    for (i, query) in boxes.iter().enumerate() {
        tree.overlapping(boxes, query, |j| {
            if i < j {
                found(i, j);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use glamx::DVec3;
    use proptest::prelude::*;

    fn boxes() -> impl Strategy<Value = Vec<Bounds<D3>>> {
        let one = (
            prop::array::uniform3(-10.0..10.0),
            prop::array::uniform3(0.0..4.0),
        );
        prop::collection::vec(one, 0..120).prop_map(|list| {
            list.into_iter()
                .map(|(lower, size)| {
                    let lower = DVec3::from_array(lower);
                    Bounds {
                        lower,
                        upper: lower + DVec3::from_array(size),
                    }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn finds_exactly_the_pairs_that_testing_all_finds(boxes in boxes()) {
            let mut found = Vec::new();
            overlapping_pairs(&boxes, |i, j| found.push((i, j)));
            found.sort_unstable();
            let mut expected = Vec::new();
            for i in 0..boxes.len() {
                for j in i + 1..boxes.len() {
                    if boxes[i].overlaps(&boxes[j]) {
                        expected.push((i, j));
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_thousand_times_more_boxes_cost_hardly_more_per_box() {
        // Counted, not timed: nodes visited per box in a loose grid.
        let visits_per_box = |n: usize| {
            let side = (n as f64).cbrt().round() as usize;
            let boxes: Vec<Bounds<D3>> = (0..side * side * side)
                .map(|k| {
                    let at = DVec3::new(
                        (k % side) as f64,
                        (k / side % side) as f64,
                        (k / side / side) as f64,
                    );
                    Bounds {
                        lower: at - DVec3::splat(0.4),
                        upper: at + DVec3::splat(0.4),
                    }
                })
                .collect();
            let tree = Tree::new(&boxes);
            let mut visits = 0_usize;
            for query in &boxes {
                let mut at = 0;
                while let Some(node) = tree.nodes.get(at) {
                    visits += 1;
                    at = if node.bounds.overlaps(query) {
                        at + 1
                    } else {
                        node.skip as usize
                    };
                }
            }
            visits as f64 / boxes.len() as f64
        };
        let (few, many) = (visits_per_box(64), visits_per_box(64_000));
        // log2(64) = 6, log2(64,000) = 16: a square law would grow a thousandfold.
        assert!(many / few < 4.0, "{few} then {many} visits per box");
    }
}
