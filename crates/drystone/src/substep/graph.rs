//! Which bodies may be moved at once.
//!
//! Bodies that touch must be moved one after the other; bodies of one **colour** do not touch, so
//! that eight of them are moved side by side and threads may split the rest. Each body gets the
//! lowest colour that none of the bodies it touches has, in the order of the bodies: colours
//! depend on who touches whom and on nothing else, and a far-away body changes none.
//!
//! Of the bodies of a colour those with equally many patches and points are moved side by side, and
//! each takes its patches with many points first, so that lanes seldom wait for each other.
//!
//! Bodies that touch each other, directly or through others that move, are an island. Islands know
//! nothing of each other, so in large worlds small ones are dealt out in **batches** that fit into
//! a processor's own cache: all rounds of one, then all of the next, and no thread waits for
//! another. That changes no bit of the result.

use std::ops::Range;

use super::islands;
use super::records::{RecordGroup, group_records};
use super::simd::{Column, LANES};

/// Eight bodies of one colour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyGroup {
    /// Places in the body columns; 0 for none.
    pub(crate) bodies: [u32; LANES],
    /// Its sides are at these places of the list.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// One patch of each of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    /// Records; 0 for none.
    pub(crate) records: [u32; LANES],
    /// The bodies on the other side.
    pub(crate) others: [u32; LANES],
    /// Positive where the body is B, negative where it is A. How large it is says how often
    /// stiffness counts: twice where both sides are moved at the same time.
    pub(crate) signed: Column,
    /// Points that any of the patches has.
    pub(crate) points: u32,
}

const NO_SIDES: Sides = Sides {
    records: [0; LANES],
    others: [0; LANES],
    signed: Column([1.0; LANES]),
    points: 0,
};

/// The colour of a body that has none.
const NONE: u32 = u32::MAX;

/// A patch with its two bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) record: u32,
    /// A and B.
    pub(crate) ends: [u32; 2],
    pub(crate) points: u8,
}

/// A patch seen from one of its bodies.
#[derive(Clone, Copy, Debug)]
struct Touch {
    record: u32,
    other: u32,
    is_b: bool,
    points: u8,
}

/// Islands whose rounds are run together.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Its colours in [`Graph::colors`].
    pub(crate) colors: Range<usize>,
    /// Its patches in [`Graph::records`].
    pub(crate) records: Range<usize>,
}

/// Bodies by colour, with their patches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// All threads work on the first together; the others are small.
    pub(crate) batches: Vec<Batch>,
    /// The bodies of each colour of each batch in [`Graph::groups`].
    pub(crate) colors: Vec<Range<usize>>,
    pub(crate) groups: Vec<BodyGroup>,
    /// All patches.
    pub(crate) records: Vec<RecordGroup>,
    pub(crate) sides: Vec<Sides>,
    /// Bodies that joints tie and that touch something. They have no colour: their linkages move
    /// them.
    pub(crate) tied: Vec<BodyGroup>,
    /// First touch of each body; one more at the end.
    starts: Vec<u32>,
    touches: Vec<Touch>,
    /// Kept for its memory: bodies of each colour.
    painted: Vec<Vec<u32>>,
}

/// Patches and points of a body beyond which more make no difference to whom it is moved with.
const MOST_TOUCHES: usize = 31;
const MOST_POINTS: usize = 63;

impl Graph {
    /// Whether a body has any patch.
    pub(crate) fn is_held(&self, body: usize) -> bool {
        self.starts.len() > body + 1 && self.starts[body] < self.starts[body + 1]
    }

    /// Builds the graph anew from all patches; only bodies that move are coloured, and of these
    /// only the ones that no joint ties.
    pub(crate) fn rebuild(
        &mut self,
        edges: &[Edge],
        bodies: usize,
        moves: impl Fn(usize) -> bool,
        is_tied: impl Fn(usize) -> bool,
    ) {
        let moves: Vec<bool> = (0..bodies).map(moves).collect();
        self.collect(edges, &moves);
        let color = self.paint(|k| moves[k] && !is_tied(k), bodies);
        // Linkages move bodies between rounds, those of all islands together.
        let deal = if (0..bodies).any(&is_tied) {
            islands::all_together(bodies)
        } else {
            islands::deal(edges, &moves)
        };
        self.lay_out(&color, &deal, &is_tied);
        self.lay_out_records(edges, &deal);
        let tied: Vec<u32> = (0..bodies as u32)
            .filter(|&k| moves[k as usize] && is_tied(k as usize) && self.is_held(k as usize))
            .collect();
        let mut sides = std::mem::take(&mut self.sides);
        self.tied = tied
            .chunks(LANES)
            .map(|eight| self.group(eight, &mut sides, &is_tied))
            .collect();
        self.sides = sides;
    }

    /// Lists the patches of each body, those with many points first.
    fn collect(&mut self, edges: &[Edge], moves: &[bool]) {
        self.starts.clear();
        self.starts.resize(moves.len() + 2, 0);
        for edge in edges {
            for body in edge.ends.map(|k| k as usize) {
                self.starts[body + 2] += u32::from(moves[body]);
            }
        }
        for k in 2..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        let empty = Touch {
            record: 0,
            other: 0,
            is_b: false,
            points: 0,
        };
        let count = self.starts.last().copied().unwrap_or(0) as usize;
        self.touches.clear();
        self.touches.resize(count, empty);
        for edge in edges {
            for side in 0..2 {
                let body = edge.ends[side] as usize;
                if moves[body] {
                    let place = &mut self.starts[body + 1];
                    self.touches[*place as usize] = Touch {
                        record: edge.record,
                        other: edge.ends[1 - side],
                        is_b: side == 1,
                        points: edge.points,
                    };
                    *place += 1;
                }
            }
        }
        self.starts.pop();
        for body in 0..moves.len() {
            let (start, end) = (self.starts[body] as usize, self.starts[body + 1] as usize);
            // Equal ones stay in the order of their bodies.
            self.touches[start..end].sort_by_key(|touch| std::cmp::Reverse(touch.points));
        }
    }

    fn touches(&self, body: usize) -> &[Touch] {
        if !self.is_held(body) {
            return &[];
        }
        &self.touches[self.starts[body] as usize..self.starts[body + 1] as usize]
    }

    /// Record, body on the other side, and 1 where this body is B or −1 where it is A.
    pub(crate) fn patches_of(&self, body: usize) -> impl Iterator<Item = (u32, u32, f64)> {
        self.touches(body).iter().map(|touch| {
            (
                touch.record,
                touch.other,
                if touch.is_b { 1.0 } else { -1.0 },
            )
        })
    }

    /// The colour of each body, `NONE` for those without.
    fn paint(&self, is_painted: impl Fn(usize) -> bool, bodies: usize) -> Vec<u32> {
        let mut color = vec![NONE; bodies];
        for body in (0..bodies).filter(|&k| self.is_held(k) && is_painted(k)) {
            let touches = self.touches(body);
            let near = || touches.iter().map(|touch| color[touch.other as usize]);
            let taken = near()
                .filter(|&c| c < u64::BITS)
                .fold(0_u64, |taken, c| taken | 1 << c);
            let mut free = taken.trailing_ones();
            // Hardly ever: more colours than there are bits.
            while free >= u64::BITS && near().any(|c| c == free) {
                free += 1;
            }
            color[body] = free;
        }
        color
    }

    /// Eight bodies to a group; those with many patches and points together, so that lanes stay
    /// busy.
    fn lay_out(&mut self, color: &[u32], deal: &islands::Deal, is_tied: &impl Fn(usize) -> bool) {
        let colored = color.iter().filter(|&&c| c != NONE);
        let colors = colored.max().map_or(0, |&c| c as usize + 1);
        let mut painted = std::mem::take(&mut self.painted);
        painted.iter_mut().for_each(Vec::clear);
        painted.resize_with(colors * deal.batches, Vec::new);
        for body in self.by_size(color) {
            let batch = deal.batch_of[body as usize] as usize;
            painted[batch * colors + color[body as usize] as usize].push(body);
        }
        let mut sides = std::mem::take(&mut self.sides);
        sides.clear();
        self.groups.clear();
        self.colors.clear();
        self.batches.clear();
        for batch in 0..deal.batches {
            let first = self.colors.len();
            let own = &painted[batch * colors..(batch + 1) * colors];
            for bodies in own.iter().filter(|bodies| !bodies.is_empty()) {
                let start = self.groups.len();
                for eight in bodies.chunks(LANES) {
                    let group = self.group(eight, &mut sides, is_tied);
                    self.groups.push(group);
                }
                self.colors.push(start..self.groups.len());
            }
            self.batches.push(Batch {
                colors: first..self.colors.len(),
                records: 0..0,
            });
        }
        (self.painted, self.sides) = (painted, sides);
    }

    /// Eight patches to a group, batch by batch.
    fn lay_out_records(&mut self, edges: &[Edge], deal: &islands::Deal) {
        let batch_of = |edge: &Edge| {
            // What does not move belongs to no island.
            let [a, b] = edge.ends.map(|k| deal.batch_of[k as usize]);
            a.max(b) as usize
        };
        let patches = edges
            .iter()
            .map(|edge| (edge.record, edge.points, batch_of(edge)));
        let ends = group_records(patches, self.batches.len(), &mut self.records);
        let mut start = 0;
        for (batch, end) in self.batches.iter_mut().zip(ends) {
            batch.records = start..end;
            start = end;
        }
    }

    /// Bodies with a colour, those with many patches first, of these those with many points.
    fn by_size(&self, color: &[u32]) -> Vec<u32> {
        const KEYS: usize = (MOST_TOUCHES + 1) * (MOST_POINTS + 1);
        let key = |body: usize| {
            let touches = self.touches(body);
            let points: usize = touches.iter().map(|touch| touch.points as usize).sum();
            let size = touches.len().min(MOST_TOUCHES) * (MOST_POINTS + 1);
            KEYS - 1 - (size + points.min(MOST_POINTS))
        };
        let bodies = || (0..color.len()).filter(|&k| color[k] != NONE);
        let keys: Vec<u16> = bodies().map(|k| key(k) as u16).collect();
        let mut places = vec![0_u32; KEYS + 1];
        for &key in &keys {
            places[key as usize + 1] += 1;
        }
        for k in 1..places.len() {
            places[k] += places[k - 1];
        }
        let mut sorted = vec![0; keys.len()];
        for (body, &key) in bodies().zip(&keys) {
            let place = &mut places[key as usize];
            sorted[*place as usize] = body as u32;
            *place += 1;
        }
        sorted
    }

    fn group(
        &self,
        bodies: &[u32],
        all: &mut Vec<Sides>,
        is_tied: &impl Fn(usize) -> bool,
    ) -> BodyGroup {
        let start = all.len() as u32;
        let most = bodies
            .iter()
            .map(|&k| self.touches(k as usize).len())
            .max()
            .unwrap_or(0);
        all.resize(all.len() + most, NO_SIDES);
        for (lane, &body) in bodies.iter().enumerate() {
            let is_body_tied = is_tied(body as usize);
            let sides = &mut all[start as usize..];
            for (touch, sides) in self.touches(body as usize).iter().zip(sides) {
                let times = if is_body_tied && is_tied(touch.other as usize) {
                    2.0
                } else {
                    1.0
                };
                sides.records[lane] = touch.record;
                sides.others[lane] = touch.other + 1;
                sides.signed.0[lane] = if touch.is_b { times } else { -times };
                sides.points = sides.points.max(u32::from(touch.points));
            }
        }
        let mut places = [0; LANES];
        for (lane, &body) in bodies.iter().enumerate() {
            places[lane] = body + 1;
        }
        BodyGroup {
            bodies: places,
            start,
            end: all.len() as u32,
        }
    }
}
