//! Neighbouring clusters, kept for several searches by boxes with room.
//!
//! Every cluster has a **cover**, a box with some room around it that goes on for some steps as the
//! cluster goes now, and then stands. All pairs whose covers overlap at any time are known; what is
//! not known is apart as long as both are within their covers. (Sides of covers move linearly, so
//! covers that are apart along the same axis, on the same side, at the first and at the last of those
//! steps are apart all the time.) A cluster that has left its cover gets a larger one, and pairs whose
//! covers did not overlap before are added. Were it not to hold the old one, what came back would be
//! added again. When many have left, all get new covers, and the tree is walked for all pairs.

use super::cluster::NONE;
use super::swept_vertices::Twice;
use super::{Clusters, Point};
use crate::geometry::bvh::curve_order::Small;
use crate::geometry::ccd::broad_phase::Swept;
use crate::geometry::shape::Bounds;
use crate::math::algebra::D3;
use crate::math::simd::{Column, Four};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use glamx::DVec3;

/// Searches after which the tree is sorted anew: by then what was near each other has moved apart.
const OLD: u32 = 16;
/// Groups of clusters that a thread takes at a time.
const PIECE: usize = 32;
/// Steps that covers go on.
const AHEAD: u32 = 3;
/// Room of a cover over the reach of its cluster.
const ROOM: f32 = 0.3;
/// And over the way of a step, at the last of those steps: for what changes its velocity.
const ASTRAY: f32 = 0.5;
/// Way of a step over the reach of a cluster from which on its cover has no room: it would not last.
const FAST: f32 = 3.0;
/// How many times the pairs that were found when all covers were new there may be.
const MORE: usize = 2;
/// One in so many clusters may leave its cover before all are made anew.
const FEW: usize = 5;
/// One in so many clusters that changed is worth to look through all pairs, if no more than one in so
/// many has left its cover.
const MANY_ASKED: usize = 40;
const FEW_ASKED: usize = 20;

/// A box that a cluster has not left, when it was made and since.
pub(super) type Cover = Small<2>;

impl Cover {
    /// Whether two are not apart along the same axis, on the same side, at both times: as the tree
    /// has it, so that what overlaps is what was found there.
    #[inline]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let is_above = |a: &Self, b: &Self, axis: usize| {
            a.lower[0][axis] > b.upper[0][axis] && a.lower[1][axis] > b.upper[1][axis]
        };
        !(0..3).any(|axis| is_above(self, other, axis) || is_above(other, self, axis))
    }

    /// Whether the box of a cluster is inside by more than rounding may take (m) both at the start
    /// and at the end of a step, which are so far on the way of covers (0 to 1).
    fn holds(&self, twice: &Twice, when: [f32; 2], slack: f32) -> bool {
        let small = twice.small();
        (0..2).all(|time| {
            let between = |[a, b]: [[f32; 3]; 2], k: usize| a[k] + (b[k] - a[k]) * when[time];
            let along = |k: usize| {
                between(self.lower, k) + slack <= small.lower[time][k]
                    && small.upper[time][k] <= between(self.upper, k) - slack
            };
            along(0) && along(1) && along(2)
        })
    }

    /// Large enough for another at any time.
    fn widened(mut self, other: &Self) -> Self {
        for time in 0..2 {
            for (lower, upper) in other.lower.iter().zip(&other.upper) {
                for axis in 0..3 {
                    let (low, high) = (&mut self.lower[time][axis], &mut self.upper[time][axis]);
                    (*low, *high) = (low.min(lower[axis]), high.max(upper[axis]));
                }
            }
        }
        self
    }
}

impl Clusters {
    /// Whether so much has changed form that its sum is no longer exact enough.
    pub(super) fn is_worn(&self) -> bool {
        let changes = self.states.iter().map(|state| state.changes);
        let most = changes.fold(0.0, f32::max);
        f64::from(most) > 0.5 * self.size
    }

    /// Forgets all that was known of pairs.
    pub(super) fn forget(&mut self) {
        self.related.doubt();
        self.near.clear();
        self.covers.clear();
        self.cores.clear();
        self.left_places.clear();
    }

    /// Puts all vertices and clusters where they are.
    pub(super) fn place(&mut self, swept: &Swept<'_>) {
        let count = self.clusters.len();
        let mut points = std::mem::take(&mut self.old_points);
        points.resize(self.points.len(), Point::default());
        let mut states = std::mem::take(&mut self.states);
        let mut cores = std::mem::take(&mut self.cores);
        let mut normals = std::mem::take(&mut self.normals);
        let is_known = cores.len() == count;
        states.resize(count, State::NOWHERE);
        cores.resize(count, Point::default());
        normals.resize(count, [0.0; 3]);
        let this = &*self;
        let (all_points, all_states) =
            (SharedSlice::new(&mut points), SharedSlice::new(&mut states));
        let (all_cores, all_normals) =
            (SharedSlice::new(&mut cores), SharedSlice::new(&mut normals));
        thread_pool::run(swept.threads, |worker| {
            for v in worker.share(all_points.len()) {
                all_points.write(v, this.point(swept, v));
            }
            worker.wait();
            for k in worker.share(count) {
                let place = |v: u32| all_points.read(v as usize);
                all_normals.write(k, this.clusters[k].normal(place));
                let before = is_known.then(|| (all_states.read(k).changes, all_cores.read(k)));
                let (state, core) = this.state(k, place, before);
                all_states.write(k, state);
                all_cores.write(k, core);
            }
        });
        self.old_points = std::mem::replace(&mut self.points, points);
        (self.states, self.cores, self.normals) = (states, cores, normals);
    }

    /// Lets vertices that are asked about end elsewhere, or reach farther; `all` are the clusters
    /// with such.
    pub(super) fn change(&mut self, swept: &Swept<'_>, asked: &[bool], all: &[u32]) {
        for v in (0..asked.len()).filter(|&v| asked[v]) {
            self.points[v] = self.point(swept, v);
        }
        let this = &*self;
        let place = |v: u32| this.points[v as usize];
        let changed = thread_pool::gather_from(all.len(), swept.threads, |part, list| {
            list.extend(part.map(|at| {
                let k = all[at] as usize;
                let before = (this.states[k].changes, this.cores[k]);
                this.state(k, place, Some(before))
            }));
        });
        for (&k, one) in all.iter().zip(changed) {
            (self.states[k as usize], self.cores[k as usize]) = one;
        }
    }

    /// Makes sure that pairs of some clusters that changed are among the known ones if these are
    /// worth to be looked through; else, and then this is false, that the tree has them.
    pub(super) fn are_covered(&mut self, all: &[u32], threads: usize) -> bool {
        let count = self.clusters.len();
        let mut left = std::mem::take(&mut self.strays);
        left.extend(all);
        left.sort_unstable();
        left.dedup();
        left.retain(|&k| self.has_left(k));
        if MANY_ASKED * all.len() >= count && FEW_ASKED * left.len() <= count {
            self.follow(&left, threads);
            return true;
        }
        for &k in &left {
            let place = self.places[k as usize] as usize;
            self.tree.widen(place, &self.cover_of(k));
        }
        self.strays = left;
        false
    }

    fn has_left(&self, cluster: u32) -> bool {
        let k = cluster as usize;
        let when = [self.since, self.since + 1].map(|step| step.min(AHEAD) as f32 / AHEAD as f32);
        // Three operations with numbers of the size of coordinates are less than that off.
        let slack = 0.5 * self.slack as f32;
        !self.covers[k].holds(&self.states[k].twice, when, slack)
    }

    /// The cover of a cluster, large enough for where it is.
    pub(super) fn cover_of(&self, cluster: u32) -> Cover {
        let cover = self.covers[cluster as usize];
        if self.has_left(cluster) {
            cover.widened(&self.states[cluster as usize].twice.small())
        } else {
            cover
        }
    }

    /// How a cluster is and its core, given where vertices are, and its changes and its core of the
    /// last search, if there was one.
    fn state(
        &self,
        cluster: usize,
        place: impl Fn(u32) -> Point + Copy,
        before: Option<(f32, Point)>,
    ) -> (State, Point) {
        let (cluster, spots) = (&self.clusters[cluster], &self.spots[cluster]);
        if spots.are_known() {
            self.state_of(spots.each().iter().copied(), place, before)
        } else {
            self.state_of(cluster.vertices(), place, before)
        }
    }

    fn state_of(
        &self,
        vertices: impl Iterator<Item = u32> + Clone,
        place: impl Fn(u32) -> Point + Copy,
        before: Option<(f32, Point)>,
    ) -> (State, Point) {
        let (mut sums, mut count, mut reach) = ([DVec3::ZERO; 2], 0.0, [0.0_f32; 2]);
        for point in vertices.clone().map(place) {
            for time in 0..2 {
                sums[time] += at(&point, time);
                reach[time] = reach[time].max(point.at(time).array()[3]);
            }
            count += 1.0;
        }
        // Forms are seen from what single precision makes of the middle.
        let rounded = |sum: DVec3| (sum / count).to_array().map(|x| x as f32);
        let middles = sums.map(rounded);
        let [start, end] = middles.map(|x| DVec3::from_array(x.map(f64::from)));
        let (mut change, mut on_the_way) = (0.0_f64, 0.0_f64);
        for v in vertices.clone() {
            let point = place(v);
            let form = at(&point, 0) - start;
            on_the_way = on_the_way.max(((at(&point, 1) - end) - form).length_squared());
            if let Some((_, core)) = &before {
                let old = at(&self.points[v as usize], 0) - at(core, 0);
                change = change.max((form - old).length_squared());
            }
        }
        // Up, whatever rounding did.
        let up = |square: f64| (square.sqrt() as f32).next_up();
        let changes = before.map_or(0.0, |(changes, _)| (changes + up(change)).next_up());
        let taken = changes + 2.0 * self.slack as f32;
        let [[a, b, c], [d, e, f]] = middles;
        let [g, h] = [taken + reach[0], taken + up(on_the_way) + reach[1]];
        let state = State {
            twice: Twice::around(vertices.map(place)),
            changes,
            reach: reach[0].max(reach[1]),
        };
        (state, Point(Column([a, b, c, g, d, e, f, h])))
    }

    /// Makes sure that all pairs of clusters are known that are not adjacent and may be near each other.
    pub(super) fn cover(&mut self, threads: usize) {
        self.strays.clear();
        let count = self.clusters.len();
        let is_known = self.covers.len() == count && self.near.len() <= MORE * self.walked;
        let left = is_known.then(|| {
            thread_pool::gather_from(count, threads, |part, left| {
                let part = part.start as u32..part.end as u32;
                left.extend(part.filter(|&k| self.has_left(k)));
            })
        });
        match left {
            Some(left) if FEW * left.len() <= count => self.follow(&left, threads),
            _ => self.walk(threads),
        }
    }

    /// A cover for a cluster as it goes now.
    fn new_cover(&self, k: usize) -> Cover {
        let State { twice, reach, .. } = &self.states[k];
        let mut cover = twice.small();
        let mut way = 0.0_f32;
        for [start, end] in [&mut cover.lower, &mut cover.upper] {
            for axis in 0..3 {
                let step = end[axis] - start[axis];
                way = way.max(step.abs());
                end[axis] = start[axis] + step * AHEAD as f32;
            }
        }
        // No less than rounding takes.
        let least = self.slack as f32;
        let rooms = if way < FAST * reach {
            [ROOM * reach + least, ROOM * reach + ASTRAY * way + least]
        } else {
            [least; 2]
        };
        for (time, room) in rooms.into_iter().enumerate() {
            cover.lower[time] = cover.lower[time].map(|x| x - room);
            cover.upper[time] = cover.upper[time].map(|x| x + room);
        }
        cover
    }

    /// Gives all clusters new covers and asks the tree for all pairs.
    fn walk(&mut self, threads: usize) {
        let count = self.clusters.len();
        if self.age >= OLD || self.tree.len() != count {
            self.age = 0;
            self.sort();
        }
        self.since = 0;
        let this = &*self;
        let covers = thread_pool::gather_from(count, threads, |part, list| {
            list.extend(part.map(|k| this.new_cover(k)));
        });
        self.tree.fit(threads, |k| covers[k]);
        self.covers = covers;
        let (this, leaves) = (&*self, self.tree.leaves());
        let pairs = thread_pool::gather(threads, leaves.div_ceil(PIECE), |piece, pairs| {
            let own = PIECE * piece..leaves.min(PIECE * (piece + 1));
            this.tree.pairs_from(own, |a, b| {
                if !this.are_kin([a, b]) {
                    pairs.push([a.min(b), a.max(b)]);
                }
            });
        });
        self.near.clear();
        self.near.extend(&pairs, threads);
        self.walked = pairs.len();
    }

    /// Sorts the tree by where clusters are.
    fn sort(&mut self) {
        let corner = |x: &Four| DVec3::from_array([0, 1, 2].map(|k| f64::from(x.array()[k])));
        let bounds = |state: &State| Bounds::<D3> {
            lower: corner(&state.twice.lower[0]),
            upper: corner(&state.twice.upper[0]),
        };
        let all = self.states.iter().map(bounds).reduce(Bounds::union);
        if let Some(all) = all {
            self.tree.sort(&all, self.states.iter().map(bounds));
        }
        self.places.resize(self.clusters.len(), 0);
        for (place, k) in self.tree.order().enumerate() {
            self.places[k as usize] = place as u32;
        }
    }

    /// Gives some clusters larger covers and adds the pairs that come by that.
    fn follow(&mut self, left: &[u32], threads: usize) {
        if left.is_empty() {
            return;
        }
        let renewed = |&k: &u32| {
            let k = k as usize;
            self.covers[k].widened(&self.new_cover(k))
        };
        let covers: Vec<Cover> = left.iter().map(renewed).collect();
        for (&k, cover) in left.iter().zip(&covers) {
            self.tree.widen(self.places[k as usize] as usize, cover);
        }
        let mut places = std::mem::take(&mut self.left_places);
        places.resize(self.clusters.len(), NONE);
        for (&k, place) in left.iter().zip(0..) {
            places[k as usize] = place;
        }
        let this = &*self;
        let pairs = thread_pool::gather(threads, left.len().div_ceil(PIECE), |piece, pairs| {
            let own = PIECE * piece..left.len().min(PIECE * (piece + 1));
            for at in own {
                let (k, cover) = (left[at], &covers[at]);
                let old = &this.covers[k as usize];
                this.tree.overlapping(cover, |other| {
                    let before = &this.covers[other as usize];
                    if old.overlaps(before) {
                        return;
                    }
                    let place = places[other as usize];
                    let now = covers.get(place as usize).unwrap_or(before);
                    // Of two that have left, the smaller number finds the other.
                    let is_mine = other > k || place == NONE;
                    if is_mine && cover.overlaps(now) && !this.are_kin([k, other]) {
                        pairs.push([k.min(other), k.max(other)]);
                    }
                });
            }
        });
        self.near.extend(&pairs, threads);
        for (&k, cover) in left.iter().zip(&covers) {
            self.covers[k as usize] = *cover;
            places[k as usize] = NONE;
        }
        self.left_places = places;
    }
}

/// A point at the start (0) or at the end (1).
fn at(point: &Point, time: usize) -> DVec3 {
    let [x, y, z, _] = point.at(time).array();
    DVec3::from_array([x, y, z].map(f64::from))
}

/// How a cluster is.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) twice: Twice,
    /// The sum of all changes of its form so far, m.
    pub(super) changes: f32,
    /// The farthest reach of its vertices, m.
    pub(super) reach: f32,
}

impl State {
    const NOWHERE: Self = Self {
        twice: Twice::NOWHERE,
        changes: 0.0,
        reach: 0.0,
    };
}
