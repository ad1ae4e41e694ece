//! The contact graph and its colouring: which bodies may be moved at once.
//!
//! Bodies that touch must be moved one after the other; bodies of one **colour** do not touch, so
//! that eight of them are moved side by side and threads may split the rest. Each body gets the
//! lowest colour that none of the bodies it touches has, in the order of the bodies: colours
//! depend on which bodies touch and on nothing else, and a far-away body changes none.
//!
//! Bodies that touch each other, directly or through others that move, are an island. Islands know
//! nothing of each other, so in large worlds small ones are dealt out in **batches** that fit into
//! a processor's own cache: all rounds of one, then all of the next, and no thread waits for
//! another. Who moves which is said in [`super::batching`]. None of that changes a bit of the
//! result. From step to step little changes in which bodies touch, and only that is done again
//! ([`super::graph_update`]).

use std::ops::Range;

use super::graph_update::Room;
use super::islands;
use super::manifold_records::{RecordGroup, group_records};
use crate::math::simd::{Column, LANES};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use std::sync::Mutex;

/// Eight bodies of one colour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyGroup {
    /// Places in the body columns; 0 for none.
    pub(crate) bodies: [u32; LANES],
    /// Its sides are at these places of the list.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// One manifold of each of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    /// Records; 0 for none.
    pub(crate) records: [u32; LANES],
    /// The bodies on the other side.
    pub(crate) others: [u32; LANES],
    /// Positive where the body is B, negative where it is A. How large it is says how often
    /// stiffness counts: twice where both sides are moved at the same time.
    pub(crate) signed: Column,
    /// Points that any of the manifolds has.
    pub(crate) points: u32,
}

pub(super) const NO_SIDES: Sides = Sides {
    records: [0; LANES],
    others: [0; LANES],
    signed: Column([1.0; LANES]),
    points: 0,
};

/// The colour of a body that has none.
pub(super) const NONE: u32 = u32::MAX;

/// A manifold with its two bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) record: u32,
    /// A and B.
    pub(crate) ends: [u32; 2],
    pub(crate) points: u8,
}

/// A manifold seen from one of its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) record: u32,
    pub(super) other: u32,
    pub(super) is_b: bool,
    pub(super) points: u8,
}

/// Islands whose rounds are run together.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// How many parts each colour and the manifolds are cut into.
    pub(crate) parts: usize,
    /// Its colours in [`Graph::colors`], all parts of one after the other.
    pub(crate) colors: Range<usize>,
    /// Parts of its manifolds in [`Graph::record_parts`].
    pub(crate) records: Range<usize>,
}

/// Bodies by colour, with their manifolds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// All threads work on the first together; the others are small.
    pub(crate) batches: Vec<Batch>,
    /// The bodies of each part of each colour of each batch in [`Graph::groups`], and those that
    /// are tied.
    pub(crate) colors: Vec<Range<usize>>,
    pub(crate) groups: Vec<BodyGroup>,
    /// All manifolds.
    pub(crate) records: Vec<RecordGroup>,
    /// Parts of them, batch by batch.
    pub(crate) record_parts: Vec<Range<usize>>,
    pub(crate) sides: Vec<Sides>,
    /// Where the room for each body's touches begins; one more at the end.
    pub(super) starts: Vec<u32>,
    /// How many touches each body has.
    pub(super) counts: Vec<u32>,
    pub(super) touches: Vec<Touch>,
    /// The colour of each body, `NONE` for those without.
    pub(super) color: Vec<u32>,
    /// Bodies that move, and those that joints tie.
    pub(super) moves: Vec<bool>,
    pub(super) is_tied: Vec<bool>,
    /// How large each body is to those that move it, the largest first.
    pub(super) size_keys: Vec<u16>,
    /// Threads that it is laid out for.
    pub(crate) threads: usize,
    /// What it takes to revise it.
    pub(super) room: Room,
}

/// Touches that a body may get before all is laid out anew.
const MORE_TOUCHES: u32 = 4;
/// Manifolds that are worth a thread.
const WORTH: usize = 512;
/// Parts that a thread takes up, about.
const PARTS: usize = 4;

/// Manifolds and points of a body beyond which more make no difference to what it is moved with.
const MOST_TOUCHES: usize = 31;
const MOST_POINTS: usize = 63;

impl Graph {
    /// Whether a body has any manifold.
    pub(crate) fn is_held(&self, body: usize) -> bool {
        self.counts.get(body).is_some_and(|&count| count > 0)
    }

    /// Bodies that joints tie and that touch something. They have no colour: their linkages move
    /// them.
    pub(crate) fn tied(&self) -> &[BodyGroup] {
        self.colors
            .last()
            .map_or(&[], |tied| &self.groups[tied.clone()])
    }

    /// Whether anything is moved by its contacts alone.
    pub(crate) fn has_colors(&self) -> bool {
        self.batches.iter().any(|batch| !batch.colors.is_empty())
    }

    /// Builds the graph anew from all manifolds; only bodies that move are coloured, and of these
    /// only the ones that no joint ties.
    pub(crate) fn rebuild(
        &mut self,
        edges: &[Edge],
        threads: usize,
        moves: &[bool],
        is_tied: impl Fn(usize) -> bool,
    ) {
        let bodies = moves.len();
        self.is_tied.clear();
        self.is_tied.extend((0..bodies).map(is_tied));
        // Linkages move bodies between rounds, those of all islands together.
        let deal = if self.is_tied.contains(&true) {
            islands::all_together(bodies)
        } else {
            islands::deal(edges, moves)
        };
        self.threads = threads;
        self.room.is_revisable = deal.batches == 1;
        self.moves.clear();
        self.moves.extend_from_slice(moves);
        let parts = threads.clamp(1, edges.len() / WORTH + 1);
        let mut records = std::mem::take(&mut self.records);
        let mut record_parts = Vec::new();
        self.collect(edges);
        let room = std::mem::take(&mut self.room);
        self.sort_touches(parts, || {
            record_parts = lay_out_records(edges, (&deal, parts), &room, &mut records);
        });
        (self.records, self.record_parts, self.room) = (records, record_parts, room);
        self.paint();
        self.arrange(&deal, parts);
        self.make_room();
    }

    /// Lists the manifolds of each body.
    fn collect(&mut self, edges: &[Edge]) {
        let moves = &self.moves;
        self.counts.clear();
        self.counts.resize(moves.len(), 0);
        for edge in edges {
            for body in edge.ends.map(|k| k as usize) {
                self.counts[body] += u32::from(moves[body]);
            }
        }
        self.starts.clear();
        let mut end = 0;
        for &count in &self.counts {
            self.starts.push(end);
            end += count + MORE_TOUCHES;
        }
        self.starts.push(end);
        self.touches.clear();
        self.touches.resize(end as usize, Touch::default());
        self.counts.fill(0);
        for edge in edges {
            for side in 0..2 {
                let body = edge.ends[side] as usize;
                if moves[body] {
                    let place = self.starts[body] + self.counts[body];
                    self.touches[place as usize] = edge.seen_from(side);
                    self.counts[body] += 1;
                }
            }
        }
    }

    /// Lets each body take its manifolds with many points first, and says how large it is;
    /// meanwhile `besides` is done.
    fn sort_touches(&mut self, threads: usize, besides: impl FnOnce() + Send) {
        let bodies = self.counts.len();
        let parts = PARTS * threads;
        let (starts, counts) = (&self.starts, &self.counts);
        let end_of = |part: usize| starts[bodies * part / parts] as usize;
        let cuts = (1..=parts).map(|part| end_of(part) - end_of(part - 1));
        let mut lists = cut_up(&mut self.touches, cuts);
        let lists = SharedSlice::new(&mut lists);
        self.size_keys.resize(bodies, 0);
        let keys = SharedSlice::new(&mut self.size_keys);
        let besides = Mutex::new(Some(besides));
        thread_pool::deal(threads, parts + 1, |part| {
            let Some(part) = part.checked_sub(1) else {
                let besides = besides.lock().ok().and_then(|mut place| place.take());
                return besides.map_or((), |besides| besides());
            };
            lists.change(part, |list| {
                for body in bodies * part / parts..bodies * (part + 1) / parts {
                    let start = starts[body] as usize - end_of(part);
                    let own = &mut list[start..start + counts[body] as usize];
                    // Equal ones stay in the order of their bodies.
                    own.sort_by_key(|touch| std::cmp::Reverse(touch.points));
                    keys.write(body, size_key(own));
                }
            });
        });
    }

    pub(super) fn touches(&self, body: usize) -> &[Touch] {
        if !self.is_held(body) {
            return &[];
        }
        let start = self.starts[body] as usize;
        &self.touches[start..start + self.counts[body] as usize]
    }

    /// Record, body on the other side, and 1 where this body is B or −1 where it is A.
    pub(crate) fn manifolds_of(&self, body: usize) -> impl Iterator<Item = (u32, u32, f64)> {
        self.touches(body).iter().map(|touch| {
            (
                touch.record,
                touch.other,
                if touch.is_b { 1.0 } else { -1.0 },
            )
        })
    }

    /// Gives each body that moves, is held and is not tied its colour.
    fn paint(&mut self) {
        self.color.clear();
        self.color.resize(self.moves.len(), NONE);
        for body in 0..self.moves.len() {
            if self.moves[body] {
                self.color[body] = self.free_color(body);
            }
        }
    }

    /// The lowest colour that none of the bodies before it has that a body touches; `NONE` if it
    /// touches nothing, or is tied.
    pub(super) fn free_color(&self, body: usize) -> u32 {
        if !self.is_held(body) || self.is_tied[body] {
            return NONE;
        }
        let before = self.touches(body).iter().map(|touch| touch.other as usize);
        let near = || before.clone().filter(|&k| k < body).map(|k| self.color[k]);
        let taken = near()
            .filter(|&c| c < u64::BITS)
            .fold(0_u64, |taken, c| taken | 1 << c);
        let mut free = taken.trailing_ones();
        // Hardly ever: more colours than there are bits.
        while free >= u64::BITS && near().any(|c| c == free) {
            free += 1;
        }
        free
    }
}

impl Edge {
    /// The manifold as its body A (0) or B (1) sees it.
    pub(super) fn seen_from(&self, side: usize) -> Touch {
        Touch {
            record: self.record,
            other: self.ends[1 - side],
            is_b: side == 1,
            points: self.points,
        }
    }
}

/// Orders bodies: those with many manifolds first, of these those with many points.
fn size_key(touches: &[Touch]) -> u16 {
    const KEYS: usize = (MOST_TOUCHES + 1) * (MOST_POINTS + 1);
    let points: usize = touches.iter().map(|touch| touch.points as usize).sum();
    let size = touches.len().min(MOST_TOUCHES) * (MOST_POINTS + 1);
    (KEYS - 1 - (size + points.min(MOST_POINTS))) as u16
}

/// Cuts a list into pieces of these lengths.
pub(super) fn cut_up<T>(mut list: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let cut = |length| {
        let (piece, rest) = std::mem::take(&mut list).split_at_mut(length);
        list = rest;
        piece
    };
    lengths.map(cut).collect()
}

/// Eight manifolds to a group, part by part of batch by batch. Returns where the groups of each part
/// are. The first batch has several parts, in the order of bodies, with about as many points each.
fn lay_out_records(
    edges: &[Edge],
    (deal, parts): (&islands::Deal, usize),
    room: &Room,
    records: &mut Vec<RecordGroup>,
) -> Vec<Range<usize>> {
    let batch_of = |edge: &Edge| {
        // What does not move belongs to no island.
        let [a, b] = edge.ends.map(|k| deal.batch_of[k as usize]);
        a.max(b) as usize
    };
    // Of eight manifolds with one point each, a quarter of the work is for the points.
    let cost = |edge: &Edge| 2 + edge.points as usize;
    let shared = edges.iter().filter(|&edge| batch_of(edge) == 0);
    let total: usize = shared.map(cost).sum();
    let mut before = 0;
    let manifolds = edges.iter().map(move |edge| {
        let part = match batch_of(edge) {
            0 => {
                let part = before * parts / total.max(1);
                before += cost(edge);
                part
            }
            batch => parts - 1 + batch,
        };
        (edge.record, edge.points, part)
    });
    let spare = |groups: usize| room.spare_groups(groups);
    group_records(manifolds, parts + deal.batches - 1, spare, records)
}
