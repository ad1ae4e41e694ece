//! Islands of touching bodies, and their batches.

use super::contact_graph::Edge;

/// Fewer bodies than this fit into caches as they are.
const MANY: usize = 8_192;
/// Bodies of a batch, about: with their manifolds they take half a megabyte.
const BATCH: u32 = 512;

/// Which batch each body belongs to; 0 for those that do not move.
pub(super) struct Deal {
    pub(super) batch_of: Vec<u32>,
    pub(super) batches: usize,
}

/// Everything in one batch.
pub(super) fn all_together(bodies: usize) -> Deal {
    Deal {
        batch_of: vec![0; bodies],
        batches: 1,
    }
}

/// Deals out the islands of the bodies that move, in the order of their first bodies. The first
/// batch is that of large islands and of what does not move.
pub(super) fn deal(edges: &[Edge], moves: &[bool]) -> Deal {
    if moves.len() < MANY {
        return all_together(moves.len());
    }
    let mut root: Vec<u32> = (0..moves.len() as u32).collect();
    for [a, b] in edges.iter().map(|edge| edge.ends) {
        if moves[a as usize] && moves[b as usize] {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            // The first body stands for its island.
            root[a.max(b) as usize] = a.min(b);
        }
    }
    let mut sizes = vec![0_u32; moves.len()];
    for body in 0..moves.len() as u32 {
        sizes[find(&mut root, body) as usize] += 1;
    }
    let mut dealt = all_together(moves.len());
    let mut filled = BATCH;
    for (body, &is_moving) in moves.iter().enumerate() {
        let first = find(&mut root, body as u32) as usize;
        if !is_moving || sizes[first] > BATCH {
            continue;
        }
        if first == body {
            if filled >= BATCH {
                filled = 0;
                dealt.batches += 1;
            }
            filled += sizes[first];
            dealt.batch_of[body] = dealt.batches as u32 - 1;
        } else {
            dealt.batch_of[body] = dealt.batch_of[first];
        }
    }
    dealt
}

/// The first body of an island; paths to it are shortened.
fn find(root: &mut [u32], mut body: u32) -> u32 {
    while root[body as usize] != body {
        root[body as usize] = root[root[body as usize] as usize];
        body = root[body as usize];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: u32, b: u32) -> Edge {
        Edge {
            record: 1,
            ends: [a, b],
            points: 1,
        }
    }

    #[test]
    fn bodies_that_touch_through_others_are_in_one_batch_and_fixed_ones_join_nobody() {
        // Chains of three that all stand on body 0, which does not move.
        let bodies = 3 * 4_000 + 1;
        let mut moves = vec![true; bodies];
        moves[0] = false;
        let mut edges = Vec::new();
        for first in (1..bodies as u32).step_by(3) {
            // Backwards, so that the last body of a chain is met first.
            edges.extend([
                edge(first + 1, first + 2),
                edge(first, first + 1),
                edge(0, first),
            ]);
        }
        let dealt = deal(&edges, &moves);
        for [a, b] in edges.iter().map(|edge| edge.ends) {
            if a != 0 {
                assert_eq!(dealt.batch_of[a as usize], dealt.batch_of[b as usize]);
            }
        }
        let mut sizes = vec![0_u32; dealt.batches];
        for &batch in &dealt.batch_of {
            sizes[batch as usize] += 1;
        }
        assert_eq!(sizes[0], 1, "only what is fixed is in the first batch");
        assert!(sizes[1..].iter().all(|&n| n <= BATCH + 2), "{sizes:?}");
        assert!(sizes.len() > 20, "{} batches", sizes.len());
    }

    #[test]
    fn a_large_island_is_everybodys() {
        let bodies = 10_000;
        let edges: Vec<Edge> = (1..bodies).map(|k| edge(k - 1, k)).collect();
        let dealt = deal(&edges, &vec![true; bodies as usize]);
        assert_eq!(dealt.batches, 1);
        assert!(dealt.batch_of.iter().all(|&batch| batch == 0));
    }
}
