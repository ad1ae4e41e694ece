//! Incremental update of the contact graph.
//!
//! In a heap at rest a handful of manifolds come and go in a step, out of ten thousand. Bodies that
//! have got or lost some take their new manifolds up in the lane that they have, or move to another
//! one that is free; there are a few groups to spare in every colour. What comes out is what
//! building everything anew gives ([`Graph::rebuild`]): each body's manifolds in the same order, and
//! the same colours. Only which bodies share a group differs, which changes no bit of the result,
//! since lanes do not mix.
//!
//! **Colours.** A body's colour follows from those of the bodies before it that it touches. So, in
//! the order of bodies, those whose manifolds changed are painted again, and after one that got
//! another colour the ones behind it that touch it.
//!
//! Lanes become ill-assorted in time: when many bodies have moved to other lanes, when there is no
//! room left, or when something else than a few manifolds changed, all is laid out anew.

use super::contact_graph::{BodyGroup, Edge, Graph, NO_SIDES, NONE, Sides, Touch};
use super::manifold_records::RecordGroup;
use super::pair_cache::Pair;
use crate::math::simd::LANES;
use std::ops::Range;

/// Sides of a group to spare: a body with more manifolds needs a new layout.
pub(super) const SPARE_SIDES: usize = 16;
/// One group to spare for so many.
const GROUPS_A_SPARE: usize = 8;
/// Part of the bodies that may have changed lanes before all are laid out anew: one in so many.
const SETTLED: usize = 4;

/// What it takes to revise a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// Whether all is in one batch.
    pub(super) is_revisable: bool,
    /// The first body of each part of each colour.
    pub(super) firsts: Vec<u32>,
    /// Lanes of bodies, by their places in the columns, and of records.
    bodies: Lanes,
    records: Lanes,
    /// How many manifolds each lane of a group has room for.
    sides: Vec<u32>,
    /// Lanes that have been given out since all was laid out.
    moved: usize,
    /// Bodies to be painted again, a bit each.
    pending: Vec<u64>,
}

impl Room {
    /// Groups to spare where there are so many.
    pub(super) fn spare_groups(&self, groups: usize) -> usize {
        usize::from(self.is_revisable) * (groups / GROUPS_A_SPARE + 2)
    }

    /// The part of a colour that a body belongs to: parts follow each other in the order of bodies.
    fn part_of(&self, body: u32, color: usize, parts: usize) -> usize {
        let later = self.firsts.iter().skip(color * parts + 1).take(parts - 1);
        color * parts + later.take_while(|&&first| first <= body).count()
    }
}

/// Who has which lane in groups of eight. Members are numbered from 1 on.
#[derive(Clone, Debug, Default)]
struct Lanes {
    /// The lane of every member, group · 8 + lane; `NONE` for those without.
    of: Vec<u32>,
    /// Free lanes of each part.
    free: Vec<Vec<u32>>,
    /// Where the groups of each part end, those to spare included.
    ends: Vec<usize>,
}

impl Lanes {
    /// Takes over `parts` of all groups, whose members are `members`.
    fn note(&mut self, parts: &[Range<usize>], members: &[[u32; LANES]]) {
        self.of.clear();
        self.ends.clear();
        self.free.resize_with(parts.len(), Vec::new);
        for (k, part) in parts.iter().enumerate() {
            let end = parts.get(k + 1).map_or(members.len(), |next| next.start);
            self.ends.push(end);
            self.free[k].clear();
            for place in part.start * LANES..part.end * LANES {
                match members[place / LANES][place % LANES] {
                    0 => self.free[k].push(place as u32),
                    member => self.put(member, place as u32),
                }
            }
        }
    }

    fn get(&self, member: u32) -> Option<usize> {
        let place = self.of.get(member as usize).copied();
        place.filter(|&place| place != NONE).map(|k| k as usize)
    }

    fn put(&mut self, member: u32, place: u32) {
        let member = member as usize;
        if self.of.len() <= member {
            self.of.resize(member + 1, NONE);
        }
        self.of[member] = place;
    }

    /// Takes a member's lane away.
    fn leave(&mut self, member: u32, parts: &[Range<usize>]) -> Option<usize> {
        let place = self.get(member)?;
        self.put(member, NONE);
        let part = parts.partition_point(|part| part.start <= place / LANES);
        self.free[part.checked_sub(1)?].push(place as u32);
        Some(place)
    }

    /// Gives a member the free lane of a part whose group costs the least; `cost` is `None` where
    /// a group won't do. Where none does, a group to spare is added, if there is one.
    fn join(
        &mut self,
        member: u32,
        part: usize,
        range: &mut Range<usize>,
        cost: impl Fn(usize) -> Option<u32>,
    ) -> Option<usize> {
        let free = self.free[part].iter().enumerate();
        let fitting = free.filter_map(|(at, &place)| Some((cost(place as usize / LANES)?, at)));
        let at = match fitting.min() {
            Some((_, at)) => at,
            None if range.end < self.ends[part] => {
                let first = range.end * LANES;
                range.end += 1;
                self.free[part].extend((first..first + LANES).map(|place| place as u32));
                self.free[part].len() - LANES
            }
            None => return None,
        };
        let place = self.free[part].swap_remove(at);
        self.put(member, place);
        Some(place as usize)
    }
}

impl Sides {
    /// Gives a lane a manifold that counts so many times.
    pub(super) fn put(&mut self, lane: usize, touch: &Touch, times: f32) {
        self.records[lane] = touch.record;
        self.others[lane] = touch.other + 1;
        self.signed.0[lane] = if touch.is_b { times } else { -times };
        self.points = self.points.max(u32::from(touch.points));
    }

    /// Empties a lane.
    fn clear(&mut self, lane: usize) {
        self.records[lane] = NO_SIDES.records[lane];
        self.others[lane] = NO_SIDES.others[lane];
        self.signed.0[lane] = NO_SIDES.signed.0[lane];
    }
}

impl Graph {
    /// Notes what it takes to revise what has been laid out.
    pub(super) fn make_room(&mut self) {
        let room = &mut self.room;
        if !room.is_revisable {
            return;
        }
        room.moved = 0;
        room.pending.clear();
        room.pending.resize(self.counts.len().div_ceil(64), 0);
        let members: Vec<_> = self.groups.iter().map(|group| group.bodies).collect();
        room.bodies.note(&self.colors, &members);
        let members: Vec<_> = self.records.iter().map(|group| group.records).collect();
        room.records.note(&self.record_parts, &members);
        room.sides.clear();
        let sides = self.groups.iter().map(|group| group.end - group.start);
        room.sides.extend(sides);
        for (part, &end) in self.colors.iter().zip(&room.bodies.ends) {
            room.sides[part.end..end].fill(SPARE_SIDES as u32);
        }
    }

    /// Takes over the manifolds of those pairs of bodies that have other ones than before:
    /// `manifolds_of` are the present ones of a pair. Returns whether that could be done; if not, the
    /// graph must be built anew.
    pub(crate) fn revise<I: Iterator<Item = Edge>>(
        &mut self,
        pairs: &[Pair],
        manifolds_of: impl Fn(Pair) -> I,
    ) -> bool {
        if !self.room.is_revisable || self.room.moved > self.counts.len() / SETTLED {
            return false;
        }
        // Records that are given up may be others' now.
        for &pair in pairs {
            if !self.drop_records(pair, |record| {
                manifolds_of(pair).any(|edge| edge.record == record)
            }) {
                return false;
            }
        }
        let is_taken_over = pairs.iter().all(|&pair| {
            let edges = || manifolds_of(pair);
            edges().all(|edge| self.keep_record(&edge)) && self.change_touches(pair, edges)
        });
        is_taken_over && self.repaint()
    }

    /// Takes the lanes of those records of a pair away that `is_kept` does not keep.
    fn drop_records(&mut self, pair: Pair, is_kept: impl Fn(u32) -> bool) -> bool {
        let Pair { a, b } = pair;
        // Who does not move has no list of what touches it.
        let (body, other) = match (self.moves[a as usize], self.moves[b as usize]) {
            (true, _) => (a, b),
            (_, true) => (b, a),
            _ => return false,
        };
        let start = self.starts[body as usize] as usize;
        for at in start..start + self.counts[body as usize] as usize {
            let touch = self.touches[at];
            if touch.other == other && !is_kept(touch.record) {
                self.leave_record(touch.record);
            }
        }
        true
    }

    fn leave_record(&mut self, record: u32) {
        if let Some(place) = self.room.records.leave(record, &self.record_parts) {
            self.records[place / LANES].records[place % LANES] = 0;
        }
    }

    /// Sees to it that a record has a lane next to others with as many points.
    fn keep_record(&mut self, edge: &Edge) -> bool {
        let points = u32::from(edge.points);
        if let Some(place) = self.room.records.get(edge.record) {
            if points <= self.records[place / LANES].points {
                return true;
            }
            self.leave_record(edge.record);
        }
        let part = self.room.part_of(edge.ends[0], 0, self.record_parts.len());
        let groups = &self.records;
        let cost = |group: usize| groups[group].points.checked_sub(points);
        let range = &mut self.record_parts[part];
        let Some(place) = self.room.records.join(edge.record, part, range, cost) else {
            return false;
        };
        let RecordGroup {
            records,
            points: most,
        } = &mut self.records[place / LANES];
        records[place % LANES] = edge.record;
        *most = points.max(*most);
        true
    }

    /// Gives the two bodies of a pair the manifolds between them.
    fn change_touches<I: Iterator<Item = Edge>>(
        &mut self,
        pair: Pair,
        edges: impl Fn() -> I,
    ) -> bool {
        for (side, [body, other]) in [[pair.a, pair.b], [pair.b, pair.a]].into_iter().enumerate() {
            let k = body as usize;
            if !self.moves[k] {
                continue;
            }
            let room = &mut self.touches[self.starts[k] as usize..self.starts[k + 1] as usize];
            let mut count = 0;
            for at in 0..self.counts[k] as usize {
                if room[at].other != other {
                    room[count] = room[at];
                    count += 1;
                }
            }
            for touch in edges().map(|edge| edge.seen_from(side)) {
                if count == room.len() {
                    return false;
                }
                // Those with many points first, and of these in the order of their bodies.
                let is_before = |t: &Touch| {
                    t.points > touch.points || t.points == touch.points && t.other <= touch.other
                };
                let at = room[..count].partition_point(is_before);
                room.copy_within(at..count, at + 1);
                room[at] = touch;
                count += 1;
            }
            self.counts[k] = count as u32;
            self.room.pending[k / 64] |= 1 << (k % 64);
        }
        true
    }

    /// Paints bodies again whose manifolds changed, and those that this concerns.
    fn repaint(&mut self) -> bool {
        for word in 0..self.room.pending.len() {
            // Only bodies behind the present one are added.
            while self.room.pending[word] != 0 {
                let bits = self.room.pending[word];
                self.room.pending[word] = bits & (bits - 1);
                let body = 64 * word + bits.trailing_zeros() as usize;
                let color = self.free_color(body);
                let before = std::mem::replace(&mut self.color[body], color);
                if color != before {
                    let start = self.starts[body] as usize;
                    for touch in &self.touches[start..start + self.counts[body] as usize] {
                        let other = touch.other as usize;
                        if other > body && self.moves[other] {
                            self.room.pending[other / 64] |= 1 << (other % 64);
                        }
                    }
                }
                if !self.rewrite(body as u32, color == before) {
                    return false;
                }
            }
        }
        true
    }

    /// Writes the manifolds of a body into its lane, or into another if it needs one.
    fn rewrite(&mut self, body: u32, has_same_color: bool) -> bool {
        let (member, k) = (body + 1, body as usize);
        let count = self.counts[k];
        let fits = |place: &usize| self.room.sides[place / LANES] >= count;
        let place = self.room.bodies.get(member);
        let stays = |place: &usize| has_same_color && count > 0 && fits(place);
        let place = match place.filter(stays) {
            Some(place) => place,
            None => {
                if let Some(place) = self.room.bodies.leave(member, &self.colors) {
                    self.clear_lane(place, 0);
                    self.groups[place / LANES].bodies[place % LANES] = 0;
                }
                if count == 0 {
                    return true;
                }
                let Some(place) = self.find_lane(body) else {
                    return false;
                };
                place
            }
        };
        let (number, lane) = (place / LANES, place % LANES);
        let group = &mut self.groups[number];
        group.bodies[lane] = member;
        group.end = group.end.max(group.start + count);
        let (first, start) = (self.starts[k] as usize, group.start as usize);
        for at in 0..count as usize {
            let touch = self.touches[first + at];
            let times = self.times(body, &touch);
            self.sides[start + at].put(lane, &touch, times);
        }
        self.clear_lane(place, count);
        true
    }

    /// A free lane for a body, in its colour and with room for its manifolds.
    fn find_lane(&mut self, body: u32) -> Option<usize> {
        let parts = self.batches.first()?.parts;
        let tied = self.colors.len().checked_sub(1)?;
        let k = body as usize;
        let (color, count) = (self.color[k] as usize, self.counts[k]);
        let room = &mut self.room;
        let part = if self.is_tied[k] {
            tied
        } else if color < tied / parts {
            room.part_of(body, color, parts)
        } else {
            return None;
        };
        room.moved += 1;
        let sides = &room.sides;
        let cost = |group: usize| sides[group].checked_sub(count);
        let range = &mut self.colors[part];
        let place = room.bodies.join(body + 1, part, range, cost)?;
        (sides[place / LANES] >= count).then_some(place)
    }

    /// Empties a lane from a side on.
    fn clear_lane(&mut self, place: usize, from: u32) {
        let BodyGroup { start, end, .. } = self.groups[place / LANES];
        for sides in &mut self.sides[(start + from).min(end) as usize..end as usize] {
            sides.clear(place % LANES);
        }
    }
}

#[cfg(test)]
mod tests;
