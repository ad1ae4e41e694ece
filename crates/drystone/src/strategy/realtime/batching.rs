//! Batches of bodies of one colour for SIMD lanes and threads.
//!
//! Of the bodies of a colour those with equally many manifolds and points are moved side by side, and
//! each takes its manifolds with many points first, so that lanes seldom wait for each other.
//!
//! Colours of the first batch are cut into as many **parts** as there are threads, in the order of
//! bodies and with about the same work each. Neighbours often have neighbouring numbers, so what a
//! thread reads of other bodies it has mostly moved itself, and need not fetch from another core.

use std::ops::Range;

use super::contact_graph::{Batch, BodyGroup, Graph, NO_SIDES, NONE, Sides, Touch, cut_up};
use super::graph_update::SPARE_SIDES;
use super::islands::Deal;
use crate::math::simd::LANES;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// What moving a body costs besides its manifolds, about, in units of a manifold.
const MOVING: usize = 2;

/// The bodies of a part of a colour, with room for their groups.
struct Part<'a> {
    bodies: &'a [u32],
    groups: &'a mut [BodyGroup],
    /// Its sides, and where they begin among all.
    sides: &'a mut [Sides],
    first: usize,
}

impl Graph {
    /// Lays out all coloured bodies, and those that are tied.
    pub(super) fn arrange(&mut self, deal: &Deal, threads: usize) {
        let color = std::mem::take(&mut self.color);
        let mut bodies = self.cut_colors(&color, deal, threads);
        let first = bodies.len();
        let is_tied = |&k: &u32| self.is_tied[k as usize] && self.is_held(k as usize);
        bodies.extend((0..self.counts.len() as u32).filter(is_tied));
        self.colors.push(first..bodies.len());
        let lengths = self.colors.iter().map(Range::len);
        let mut pieces = cut_up(&mut bodies, lengths);
        let counts = self.sort_pieces(&mut pieces, threads);
        let spare = counts.iter().map(|count| self.room.spare_groups(count[0]));
        let spare: Vec<usize> = spare.collect();
        let counts: Vec<[usize; 2]> = counts
            .iter()
            .zip(&spare)
            .map(|(count, spare)| [count[0] + spare, count[1] + spare * SPARE_SIDES])
            .collect();
        let mut groups = std::mem::take(&mut self.groups);
        let mut sides = std::mem::take(&mut self.sides);
        let empty = BodyGroup::default();
        groups.clear();
        groups.resize(counts.iter().map(|count| count[0]).sum(), empty);
        sides.clear();
        sides.resize(counts.iter().map(|count| count[1]).sum(), NO_SIDES);
        let (mut group, mut first) = (0, 0);
        let rooms = cut_up(&mut groups, counts.iter().map(|count| count[0]));
        let side_rooms = cut_up(&mut sides, counts.iter().map(|count| count[1]));
        let mut parts = Vec::with_capacity(pieces.len());
        for (k, (groups, sides)) in rooms.into_iter().zip(side_rooms).enumerate() {
            self.colors[k] = group..group + groups.len() - spare[k];
            group += groups.len();
            let end = first + sides.len();
            parts.push(Part {
                bodies: pieces[k],
                groups,
                sides,
                first,
            });
            first = end;
        }
        let shared = SharedSlice::new(&mut parts);
        thread_pool::deal(threads, shared.len(), |k| {
            shared.change(k, |part| self.fill(part));
        });
        (self.groups, self.sides, self.color) = (groups, sides, color);
    }

    /// All coloured bodies by batch and colour, in the order of bodies. Sets [`Graph::colors`] to
    /// where the parts are among these, and [`Graph::batches`].
    fn cut_colors(&mut self, color: &[u32], deal: &Deal, threads: usize) -> Vec<u32> {
        let colored = || color.iter().enumerate().filter(|&(_, &c)| c != NONE);
        let colors = colored().map(|(_, &c)| c as usize + 1).max().unwrap_or(0);
        let key = |body: usize, c: u32| deal.batch_of[body] as usize * colors + c as usize;
        let mut ends = vec![0; deal.batches * colors];
        for (body, &c) in colored() {
            ends[key(body, c)] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut sorted = vec![0; total];
        for (body, &c) in colored() {
            let end = &mut ends[key(body, c)];
            sorted[*end] = body as u32;
            *end += 1;
        }
        self.colors.clear();
        self.batches.clear();
        self.room.firsts.clear();
        let (mut start, mut record) = (0, 0);
        for batch in 0..deal.batches {
            let parts = if batch == 0 { threads } else { 1 };
            let first = self.colors.len();
            for &end in &ends[batch * colors..(batch + 1) * colors] {
                if start < end {
                    self.cut(&sorted[start..end], start, parts);
                }
                start = end;
            }
            self.batches.push(Batch {
                parts,
                colors: first..self.colors.len(),
                records: record..record + parts,
            });
            record += parts;
        }
        sorted
    }

    /// Cuts the bodies of a colour, the first of which is at `start`, into parts of about the same
    /// cost.
    fn cut(&mut self, bodies: &[u32], start: usize, parts: usize) {
        let cost = |body: &u32| MOVING + self.touches(*body as usize).len();
        let total: usize = bodies.iter().map(cost).sum();
        let (mut at, mut sum) = (0, 0);
        let (mut ranges, mut firsts) = (Vec::with_capacity(parts), Vec::with_capacity(parts));
        for part in 1..=parts {
            let first = at;
            while at < bodies.len() && (part == parts || sum < total * part / parts) {
                sum += cost(&bodies[at]);
                at += 1;
            }
            ranges.push(start + first..start + at);
            firsts.push(bodies.get(first).copied().unwrap_or(u32::MAX));
        }
        self.colors.append(&mut ranges);
        self.room.firsts.append(&mut firsts);
    }

    /// Puts bodies of a size together in each piece. Returns how many groups and sides each needs.
    fn sort_pieces(&self, pieces: &mut [&mut [u32]], threads: usize) -> Vec<[usize; 2]> {
        let mut counts = vec![[0; 2]; pieces.len()];
        let (lists, counted) = (SharedSlice::new(pieces), SharedSlice::new(&mut counts));
        thread_pool::deal(threads, lists.len(), |k| {
            lists.change(k, |bodies| {
                bodies.sort_unstable_by_key(|&body| (self.size_keys[body as usize], body));
                let sides = bodies.chunks(LANES).map(|eight| self.most_touches(eight));
                counted.write(k, [bodies.len().div_ceil(LANES), sides.sum()]);
            });
        });
        counts
    }

    /// The most manifolds that one of these bodies has.
    fn most_touches(&self, bodies: &[u32]) -> usize {
        let counts = bodies.iter().map(|&k| self.touches(k as usize).len());
        counts.max().unwrap_or(0)
    }

    fn fill(&self, part: &mut Part<'_>) {
        let mut used = 0;
        for (eight, group) in part.bodies.chunks(LANES).zip(part.groups.iter_mut()) {
            let count = self.most_touches(eight);
            let own = &mut part.sides[used..used + count];
            *group = self.group(eight, (own, part.first + used));
            used += count;
        }
        // Those to spare have no bodies yet.
        for group in part
            .groups
            .iter_mut()
            .skip(part.bodies.len().div_ceil(LANES))
        {
            group.start = (part.first + used) as u32;
            group.end = group.start;
            used += SPARE_SIDES;
        }
    }

    /// A group of up to eight bodies, whose sides begin at `first` among all.
    fn group(&self, bodies: &[u32], (sides, first): (&mut [Sides], usize)) -> BodyGroup {
        let mut places = [0; LANES];
        for (lane, &body) in bodies.iter().enumerate() {
            places[lane] = body + 1;
            for (touch, sides) in self.touches(body as usize).iter().zip(sides.iter_mut()) {
                let times = self.times(body, touch);
                sides.put(lane, touch, times);
            }
        }
        BodyGroup {
            bodies: places,
            start: first as u32,
            end: (first + sides.len()) as u32,
        }
    }

    /// How often the stiffness of a manifold counts for a body.
    pub(super) fn times(&self, body: u32, touch: &Touch) -> f32 {
        // Linkages move both at the same time.
        let are_tied = [body, touch.other].map(|k| self.is_tied[k as usize]);
        if are_tied == [true; 2] { 2.0 } else { 1.0 }
    }
}
