//! Broad phase: pairs that may touch, kept from step to step.
//!
//! Every bounded body has a **loose box**, larger than it needs. As long as the body, grown by
//! what it can reach in a step, stays inside, nothing here has to be done for it: a settled scene
//! costs nothing. Bodies that leave their box, or whose box has become far too large, get a new one and are looked up in a tree of boxes,
//! which is refitted and now and then rebuilt. Which pairs exist depends on the loose boxes alone,
//! not on the tree.
//!
//! Unbounded bodies (half-spaces) are paired with everything that moves.

use crate::contact::detection::{Lookahead, reach};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::bvh::median_split::Tree;
use crate::geometry::shape::{Bounds, Geometry};
use crate::math::algebra::{Components, Linear};
use crate::model::body::Bodies;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use serde::{Deserialize, Serialize};

/// Refits before the tree is built anew: a refitted tree keeps its shape while its boxes grow.
const REFITS: u32 = 60;

/// A box with so many times the room of a new one is too loose: it makes pairs that never touch.
const TOO_LOOSE: f64 = 2.5;

/// Bodies that are worth a thread.
const WORTH: usize = 128;

/// A pair of bodies whose loose boxes overlap, a < b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) a: u32,
    pub(crate) b: u32,
}

/// The pairs, and the boxes they come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Pairs<S: Space> {
    /// Loose boxes; `None` for unbounded bodies and vacant places.
    boxes: Vec<Option<Bounds<S>>>,
    /// Bodies whose pairs have been looked for.
    is_known: Vec<bool>,
    /// Bounded bodies and their boxes as the tree sees them.
    #[serde(skip)]
    tree: Tree<S>,
    #[serde(skip)]
    members: Vec<u32>,
    #[serde(skip)]
    unbounded: Vec<u32>,
    #[serde(skip)]
    member_boxes: Vec<Bounds<S>>,
    /// Since the tree was built; 0 before it is.
    #[serde(skip)]
    refits: u32,
}

impl<S: Space> Default for Pairs<S> {
    fn default() -> Self {
        Self {
            boxes: Vec::new(),
            is_known: Vec::new(),
            tree: Tree::new(&[]),
            members: Vec::new(),
            unbounded: Vec::new(),
            member_boxes: Vec::new(),
            refits: 0,
        }
    }
}

/// What changed in the list of pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairChanges {
    /// Bodies with new boxes, ascending.
    pub(crate) moved: Vec<u32>,
    /// Pairs of which one body has a new box, ascending. Older pairs of these bodies that are not
    /// here have come apart.
    pub(crate) pairs: Vec<Pair>,
}

impl<S: Space> Pairs<S> {
    /// Gives new boxes to the bodies among `candidates` that have left theirs, and finds their
    /// pairs.
    pub(crate) fn update(
        &mut self,
        bodies: &Bodies<S>,
        rules: &PairRules<'_, S>,
        (candidates, threads): (&[u32], usize),
        ahead: &Lookahead,
    ) -> PairChanges {
        let is_grown = self.boxes.len() != bodies.len();
        self.boxes.resize(bodies.len(), None);
        self.is_known.resize(bodies.len(), false);
        let threads = threads.min(candidates.len() / WORTH + 1);
        let boxes = SharedSlice::new(&mut self.boxes);
        let is_known = SharedSlice::new(&mut self.is_known);
        let moved = in_parts(candidates, threads, |part, moved| {
            for &k in part {
                let body = k as usize;
                if bodies.is_present(body) {
                    let is_new = !is_known.read(body);
                    is_known.write(body, true);
                    if renew_box(bodies, body, &boxes, ahead).unwrap_or(is_new) {
                        moved.push(k);
                    }
                }
            }
        });
        if moved.is_empty() {
            return PairChanges::default();
        }
        self.refresh_tree(bodies, is_grown);
        let pairs = self.pairs_of(bodies, rules, &moved, threads);
        PairChanges { moved, pairs }
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        self.boxes.len() <= bodies && self.is_known.len() == self.boxes.len()
    }

    /// Looks for the pairs of all bodies again.
    pub(crate) fn forget_all(&mut self) {
        self.boxes.fill(None);
        self.is_known.fill(false);
        self.refits = 0;
    }

    /// Drops the box of a body that is no more, or is another.
    pub(crate) fn forget(&mut self, body: u32) {
        if let Some(place) = self.boxes.get_mut(body as usize) {
            *place = None;
            self.is_known[body as usize] = false;
        }
        self.refits = 0;
    }

    fn refresh_tree(&mut self, bodies: &Bodies<S>, is_new: bool) {
        if is_new || self.refits == 0 || self.refits >= REFITS {
            let is_bounded = |k: &u32| self.boxes[*k as usize].is_some();
            (self.members, self.unbounded) = (0..self.boxes.len() as u32)
                .filter(|&k| bodies.is_present(k as usize))
                .partition(is_bounded);
            self.refits = 0;
        }
        let boxes = &self.boxes;
        let rebuild = self.member_boxes.len() != self.members.len() || self.refits == 0;
        self.member_boxes.clear();
        self.member_boxes
            .extend(self.members.iter().filter_map(|&k| boxes[k as usize]));
        if rebuild {
            self.tree = Tree::new(&self.member_boxes);
        } else {
            self.tree.refit(&self.member_boxes);
        }
        self.refits += 1;
    }

    fn pairs_of(
        &self,
        bodies: &Bodies<S>,
        rules: &PairRules<'_, S>,
        moved: &[u32],
        threads: usize,
    ) -> Vec<Pair> {
        let mut pairs = in_parts(moved, threads, |part, pairs| {
            let mut add = |k: u32, other: u32| {
                let (a, b) = (k.min(other), k.max(other));
                if a != b && rules.allow(bodies, a as usize, b as usize) {
                    pairs.push(Pair { a, b });
                }
            };
            for &k in part {
                match &self.boxes[k as usize] {
                    Some(query) => {
                        self.tree.overlapping(&self.member_boxes, query, |item| {
                            add(k, self.members[item]);
                        });
                        self.unbounded.iter().for_each(|&other| add(k, other));
                    }
                    None => self.members.iter().for_each(|&other| add(k, other)),
                }
            }
        });
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// Lets threads make lists of parts of a list; returns these one after the other.
fn in_parts<T: Send>(
    list: &[u32],
    threads: usize,
    make: impl Fn(&[u32], &mut Vec<T>) + Sync,
) -> Vec<T> {
    let parts = threads.max(1);
    thread_pool::gather(threads, parts, |part, own| {
        let (start, end) = (list.len() * part / parts, list.len() * (part + 1) / parts);
        make(&list[start..end], own);
    })
}

/// Gives a body another box if it has left its own, or that has become too large: whether it has.
/// None for a body without bounds.
fn renew_box<S: Space>(
    bodies: &Bodies<S>,
    body: usize,
    boxes: &SharedSlice<'_, Option<Bounds<S>>>,
    ahead: &Lookahead,
) -> Option<bool> {
    let tight = bodies.shape[body].bounds(&bodies.origin(body))?;
    let way = Way::of(bodies, body, ahead);
    let needed = way.needed(tight);
    let loose = way.loose(needed, bodies.radius[body]);
    let room = |present: &Bounds<S>| extent(present) - extent(&needed);
    let fits = |present: &Bounds<S>| {
        contains(present, &needed) && room(present) < TOO_LOOSE * room(&loose)
    };
    let is_left = !boxes.read(body).as_ref().is_some_and(fits);
    if is_left {
        boxes.write(body, Some(loose));
    }
    Some(is_left)
}

/// Where a body goes in a step.
struct Way<S: Space> {
    /// As its speed takes it, m.
    straight: S::Vector,
    /// To any side: turning, falling, half of the contact margin, m.
    around: f64,
}

impl<S: Space> Way<S> {
    fn of(bodies: &Bodies<S>, body: usize, ahead: &Lookahead) -> Self {
        let straight = bodies.motion[body].linear * ahead.dt;
        let around = reach(bodies, body, ahead) - straight.length() + 0.5 * ahead.margin;
        Self { straight, around }
    }

    /// What the body can touch in the step lies in here.
    fn needed(&self, tight: Bounds<S>) -> Bounds<S> {
        tight
            .union(shifted(tight, self.straight))
            .grown(self.around)
    }

    /// Room for a tenth of its size and two more steps like this one.
    fn loose(&self, needed: Bounds<S>, radius: f64) -> Bounds<S> {
        needed
            .union(shifted(needed, self.straight * 2.0))
            .grown(0.1 * radius.min(1.0) + 2.0 * self.around)
    }
}

fn shifted<S: Space>(bounds: Bounds<S>, by: S::Vector) -> Bounds<S> {
    Bounds {
        lower: bounds.lower + by,
        upper: bounds.upper + by,
    }
}

/// Sum of a box's sides, m.
fn extent<S: Space>(bounds: &Bounds<S>) -> f64 {
    let sides = bounds.upper - bounds.lower;
    (0..S::DIM).map(|axis| sides.component(axis)).sum()
}

fn contains<S: Space>(outer: &Bounds<S>, inner: &Bounds<S>) -> bool {
    (0..S::DIM).all(|axis| {
        outer.lower.component(axis) <= inner.lower.component(axis)
            && inner.upper.component(axis) <= outer.upper.component(axis)
    })
}
