//! Blocks of nearby impacts, and their colouring.

use super::super::NodeRow;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::parallel::thread_pool::Worker;
use std::ops::Range;

/// Contacts of a block at most: with their nodes they fit into a core's own cache.
pub(super) const BLOCK: usize = 256;
/// Colours of several blocks at most; a block that finds none free has one to itself.
const COLOURS: usize = 64;
/// Bits of a place on the curve for each axis.
const BITS: u32 = 10;

/// The contacts of an island, block by block and colour by colour.
pub(super) struct Blocks {
    /// Contacts in the order in which they are swept.
    pub(super) order: Vec<u32>,
    pub(super) colours: Vec<Colour>,
}

/// Blocks that share no node, by their places in the order.
pub(super) struct Colour(Vec<Range<usize>>);

impl Colour {
    /// A thread's part of the blocks: those next to each other, of every colour about the same part
    /// of space.
    pub(super) fn share(&self, worker: &Worker<'_>) -> &[Range<usize>] {
        &self.0[worker.share(self.0.len())]
    }
}

impl Blocks {
    /// Cuts contacts of nodes at these places into blocks.
    pub(super) fn new<S: Space>(rows: &[NodeRow<S>], places: &[S::Vector]) -> Self {
        let along = along_a_curve(rows, places);
        let mut taken = vec![0_u64; places.len()];
        let mut colours: Vec<Vec<&[u32]>> = vec![Vec::new(); COLOURS];
        for block in along.chunks(BLOCK) {
            let nodes = || block.iter().flat_map(|&k| rows[k as usize].nodes());
            let used = nodes().fold(0, |used, node| used | taken[node]);
            // There are 64 bits: where all are used this is `COLOURS`.
            let colour = (!used).trailing_zeros();
            let bit = 1_u64.checked_shl(colour).unwrap_or(0);
            nodes().for_each(|node| taken[node] |= bit);
            match colours.get_mut(colour as usize).filter(|_| bit != 0) {
                Some(blocks) => blocks.push(block),
                None => colours.push(vec![block]),
            }
        }
        let mut order = Vec::with_capacity(rows.len());
        let mut place = |block: &[u32]| {
            let start = order.len();
            order.extend_from_slice(block);
            start..order.len()
        };
        let mut colour = |blocks: Vec<&[u32]>| Colour(blocks.into_iter().map(&mut place).collect());
        let used = colours.into_iter().filter(|blocks| !blocks.is_empty());
        let colours = used.map(&mut colour).collect();
        Self { order, colours }
    }
}

/// The contacts in the order of their first nodes along Morton's curve.
fn along_a_curve<S: Space>(rows: &[NodeRow<S>], places: &[S::Vector]) -> Vec<u32> {
    let place = |row: &NodeRow<S>| places[row.nodes[0] as usize].to_array3();
    let (mut lower, mut upper) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for x in rows.iter().map(place) {
        for axis in 0..3 {
            lower[axis] = lower[axis].min(x[axis]);
            upper[axis] = upper[axis].max(x[axis]);
        }
    }
    let size = (0..3).fold(0.0, |most: f64, axis| most.max(upper[axis] - lower[axis]));
    let scale = if size > 0.0 {
        f64::from((1 << BITS) - 1) / size
    } else {
        0.0
    };
    let mut keyed: Vec<u64> = rows
        .iter()
        .zip(0..)
        .map(|(row, k): (_, u32)| {
            let x = place(row);
            // What is no number is at 0.
            let cell = [0, 1, 2].map(|axis| ((x[axis] - lower[axis]) * scale) as u64);
            let code = spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2;
            code << 32 | u64::from(k)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|key| key as u32).collect()
}

/// Puts two zeros between the lowest ten bits.
fn spread(x: u64) -> u64 {
    let x = x & 0x3ff;
    let x = (x | x << 16) & 0x0300_00ff;
    let x = (x | x << 8) & 0x0300_f00f;
    let x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{in_a_row, row_of_nodes};
    use super::*;

    #[test]
    fn blocks_of_a_colour_share_no_node_and_have_every_contact() {
        let (rows, _) = row_of_nodes(5000, 0.0);
        let Blocks { mut order, colours } = Blocks::new(&rows, &in_a_row(5000));
        assert!(colours.len() < 5, "{}", colours.len());
        for colour in colours {
            let mut nodes = Vec::new();
            for block in &colour.0 {
                assert!(block.len() <= BLOCK);
                let own = order[block.clone()].iter().map(|&k| &rows[k as usize]);
                let mut of_block: Vec<usize> = own.flat_map(NodeRow::nodes).collect();
                of_block.sort_unstable();
                of_block.dedup();
                nodes.extend(of_block);
            }
            let count = nodes.len();
            nodes.sort_unstable();
            nodes.dedup();
            assert!(nodes.len() == count);
        }
        order.sort_unstable();
        assert!(order.into_iter().eq(0..5000));
    }

    #[test]
    fn bits_are_spread_by_two() {
        for bit in 0..BITS {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread(0x3ff).count_ones(), BITS);
    }

    #[test]
    fn what_is_in_one_place_or_nowhere_is_swept_all_the_same() {
        let (rows, _) = row_of_nodes(600, 0.0);
        for x in [1.0, f64::NAN, f64::INFINITY] {
            let places = vec![glamx::DVec3::splat(x); 600];
            assert_eq!(Blocks::new(&rows, &places).order.len(), 600);
        }
    }
}
