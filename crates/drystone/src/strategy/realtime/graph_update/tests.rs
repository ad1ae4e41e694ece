//! Tests of updated contact graphs against graphs that are built anew.

use super::*;
use std::collections::BTreeMap;

const BODIES: u32 = 1_000;

/// Every seventh body does not.
fn moves(body: u32) -> bool {
    !body.is_multiple_of(7)
}

/// Numbers that are the same everywhere: a linear congruence, high bits.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }
}

/// Manifolds of pairs, by records that are used again.
#[derive(Default)]
struct Touching {
    edges: BTreeMap<Pair, Vec<Edge>>,
    unused: Vec<u32>,
    last: u32,
}

impl Touching {
    /// Gives a pair of near bodies other manifolds.
    fn change(&mut self, dice: &mut Dice) -> Pair {
        let a = dice.roll(BODIES - 20);
        let mut b = a + 1 + dice.roll(19);
        // Of two that do not move the graph knows nothing.
        b += u32::from(!moves(a) && !moves(b));
        let pair = Pair { a, b };
        let old = self.edges.remove(&pair).unwrap_or_default();
        let kept = old.len().min(dice.roll(2) as usize);
        self.unused
            .extend(old[kept..].iter().map(|edge| edge.record));
        let mut edges = old[..kept].to_vec();
        for edge in &mut edges {
            edge.points = 1 + dice.roll(4) as u8;
        }
        for _ in 0..dice.roll(3) {
            let record = self.unused.pop().unwrap_or_else(|| {
                self.last += 1;
                self.last
            });
            edges.push(Edge {
                record,
                ends: [pair.a, pair.b],
                points: 1 + dice.roll(4) as u8,
            });
        }
        self.edges.insert(pair, edges);
        pair
    }

    fn all(&self) -> Vec<Edge> {
        self.edges.values().flatten().copied().collect()
    }
}

/// A colour, and manifolds as a lane has them: records, others, and which side.
type Lane = (usize, Vec<(u32, u32, bool)>);

/// The lane of each body.
fn lanes(graph: &Graph) -> Vec<Option<Lane>> {
    let parts = graph.batches[0].parts;
    let mut lanes = vec![None; BODIES as usize];
    for (k, range) in graph.colors.iter().enumerate() {
        for group in &graph.groups[range.clone()] {
            for (lane, &body) in group.bodies.iter().enumerate().filter(|b| *b.1 != 0) {
                let sides = &graph.sides[group.start as usize..group.end as usize];
                let own = sides.iter().filter(|sides| sides.records[lane] != 0);
                let own = own.map(|sides| {
                    let is_b = sides.signed.0[lane] > 0.0;
                    (sides.records[lane], sides.others[lane], is_b)
                });
                let before = lanes[body as usize - 1].replace((k / parts, own.collect()));
                assert!(before.is_none(), "body {} has two lanes", body - 1);
            }
        }
    }
    lanes
}

/// Every record that some group has, and that no lane lacks points for.
fn records(graph: &Graph, edges: &[Edge]) -> Vec<u32> {
    let points: BTreeMap<u32, u32> = edges
        .iter()
        .map(|edge| (edge.record, u32::from(edge.points)))
        .collect();
    let mut records = Vec::new();
    for range in &graph.record_parts {
        for group in &graph.records[range.clone()] {
            let own = group.records.iter().copied().filter(|&record| record != 0);
            let most = own.clone().map(|record| points[&record]).max();
            assert!(most.unwrap_or(0) <= group.points);
            records.extend(own);
        }
    }
    for range in &graph.colors {
        for group in &graph.groups[range.clone()] {
            for sides in &graph.sides[group.start as usize..group.end as usize] {
                let own = sides.records.iter().filter(|&&record| record != 0);
                assert!(own.map(|r| points[r]).max().unwrap_or(0) <= sides.points);
            }
        }
    }
    records.sort_unstable();
    records
}

#[test]
fn a_revised_graph_is_what_building_it_anew_gives() {
    let (mut dice, mut touching) = (Dice(7), Touching::default());
    let moves: Vec<bool> = (0..BODIES).map(moves).collect();
    for _ in 0..3_000 {
        touching.change(&mut dice);
    }
    for (threads, has_tied) in [(1, false), (2, false), (3, false), (1, true), (2, true)] {
        let is_tied = |k: usize| has_tied && k.is_multiple_of(5);
        let mut graph = Graph::default();
        graph.rebuild(&touching.all(), threads, &moves, is_tied);
        let mut revisions = 0;
        for _ in 0..60 {
            let mut pairs: Vec<Pair> = (0..6).map(|_| touching.change(&mut dice)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let edges_of = |pair: Pair| touching.edges.get(&pair).into_iter().flatten().copied();
            let edges = touching.all();
            if graph.revise(&pairs, edges_of) {
                revisions += 1;
            } else {
                graph.rebuild(&edges, threads, &moves, is_tied);
            }
            let mut anew = Graph::default();
            anew.rebuild(&edges, threads, &moves, is_tied);
            assert_eq!(graph.color, anew.color);
            for body in 0..BODIES as usize {
                assert_eq!(graph.touches(body), anew.touches(body), "body {body}");
            }
            assert_eq!(lanes(&graph), lanes(&anew));
            assert_eq!(records(&graph, &edges), records(&anew, &edges));
        }
        assert!(revisions > 20, "{revisions} revisions on {threads} threads");
    }
}
