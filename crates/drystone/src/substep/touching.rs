//! The patches of a world, kept from step to step.
//!
//! A patch lives as long as its two parts touch. While neither body has moved noticeably from its
//! base pose, nothing at all is done for it: its record ([`super::patch`]) stays as it is, and
//! kernels follow the bodies' small drift to first order. When one has moved, the pair is detected
//! afresh and the patch rewritten; points that continue keep their forces.

use super::pairs::{Pair, PairChanges};
use super::records::{PatchNumbers, PointNumbers, Records};
use crate::body::{Bodies, Motion};
use crate::detect::Contact;
use crate::detect::rules::Manner;
use crate::material::Surface;
use crate::shape::ContactPoint;
use crate::space::{Components, Linear, Space};
use serde::{Deserialize, Serialize};

const NONE: u32 = u32::MAX;
/// Points in a patch at most, in any space.
const MOST: usize = 4;

/// Two convex parts that touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Patch<S: Space> {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) surface: Surface,
    pub(crate) slide: S::Vector,
    pub(crate) basis: S::Matrix,
    pub(crate) count: usize,
    /// Points as they were detected.
    pub(crate) points: [ContactPoint<S>; MOST],
    /// The points in A's axes, by which those whose features changed are recognised.
    anchors: [S::Vector; MOST],
    /// The next patch of the same pair.
    next: u32,
    /// Whether it is one, or an unused place in the list.
    is_live: bool,
}

/// A pair of bodies and the first of its patches.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Touching {
    pair: Pair,
    first: u32,
}

/// All patches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Patches<S: Space> {
    pairs: Vec<Touching>,
    list: Vec<Patch<S>>,
    unused: Vec<u32>,
    pub(crate) records: Records,
    /// Whether patches were added or removed since this was last asked.
    has_changed: bool,
}

impl<S: Space> Default for Patches<S> {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            list: Vec::new(),
            unused: Vec::new(),
            records: Records::default(),
            has_changed: false,
        }
    }
}

/// Contact points of pairs, as detection found them.
#[derive(Clone, Debug)]
pub(crate) struct Found<S: Space> {
    pub(crate) points: Vec<ContactPoint<S>>,
    /// Index of the pair, the end of its points and how they touch.
    pub(crate) ends: Vec<(u32, u32, Manner<S>)>,
}

impl<S: Space> Default for Found<S> {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            ends: Vec::new(),
        }
    }
}

/// What patches are made from.
pub(crate) struct Ground<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    /// Length of a substep, s.
    pub(crate) h: f64,
    /// Displacement and turn of each body since its base pose.
    pub(crate) drift: &'a dyn Fn(u32) -> Motion<S>,
}

impl<S: Space> Patches<S> {
    /// The pairs, to be detected.
    pub(crate) fn pair(&self, index: usize) -> Pair {
        self.pairs[index].pair
    }

    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// Live patches with their numbers, in the order of their bodies.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Patch<S>)> {
        let of = |at: u32| self.list.get(at as usize).map(|patch| (at, patch));
        self.pairs.iter().flat_map(move |touching| {
            std::iter::successors(of(touching.first), move |(_, patch)| of(patch.next))
        })
    }

    /// The normal of a patch, from A to B.
    pub(crate) fn normal(&self, patch: u32) -> S::Vector {
        self.list[patch as usize].points[0].normal
    }

    /// Whether a patch carries anything.
    pub(crate) fn carries(&self, patch: u32) -> bool {
        let count = self.list[patch as usize].count;
        (0..count).any(|k| self.records.force::<S>(patch, k)[0] > 0.0)
    }

    /// Spreads a normal force, N, evenly over a patch's points.
    pub(crate) fn set_force(&mut self, patch: u32, force: f64) {
        let count = self.list[patch as usize].count;
        for k in 0..count {
            self.records
                .set_normal_force::<S>(patch, k, force / count as f64);
        }
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let is_body = |k: u32| (k as usize) < bodies;
        let is_patch = |k: u32| k == NONE || (k as usize) < self.list.len();
        let records = self.records.ends.len();
        self.pairs.iter().all(|touching| {
            is_body(touching.pair.a) && is_body(touching.pair.b) && is_patch(touching.first)
        }) && self.list.iter().all(|patch| {
            is_body(patch.a) && is_body(patch.b) && patch.count <= MOST && is_patch(patch.next)
        }) && self.unused.iter().all(|&k| is_patch(k) && k != NONE)
            && self.records.columns.len() == records * S::RECORD
            && (self.list.is_empty() || records > self.list.len())
            && self.is_acyclic()
    }

    /// Whether chains of patches end.
    fn is_acyclic(&self) -> bool {
        let mut seen = vec![false; self.list.len()];
        for touching in &self.pairs {
            let mut at = touching.first;
            while let Some(patch) = self.list.get(at as usize) {
                if std::mem::replace(&mut seen[at as usize], true) {
                    return false;
                }
                at = patch.next;
            }
        }
        true
    }

    /// Whether patches were added or removed since this was last asked.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Says that the bodies that move are others.
    pub(crate) fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Takes over a changed list of pairs.
    pub(crate) fn change_pairs(&mut self, changes: &PairChanges, is_moved: &[bool]) {
        if changes.moved.is_empty() {
            return;
        }
        let old = std::mem::take(&mut self.pairs);
        let mut merged = Vec::with_capacity(old.len() + changes.pairs.len());
        let mut new = changes.pairs.iter().copied().peekable();
        let concerns = |pair: &Pair| is_moved[pair.a as usize] || is_moved[pair.b as usize];
        for touching in old {
            while let Some(pair) = new.next_if(|pair| *pair < touching.pair) {
                merged.push(Touching { pair, first: NONE });
            }
            let is_named = new.next_if_eq(&touching.pair).is_some();
            if is_named || !concerns(&touching.pair) {
                merged.push(touching);
            } else {
                self.remove_chain(touching.first);
            }
        }
        merged.extend(new.map(|pair| Touching { pair, first: NONE }));
        self.pairs = merged;
    }

    /// Drops everything that these bodies touched.
    pub(crate) fn forget(&mut self, is_gone: &[bool]) {
        let old = std::mem::take(&mut self.pairs);
        for touching in old {
            let Pair { a, b } = touching.pair;
            if is_gone[a as usize] || is_gone[b as usize] {
                self.remove_chain(touching.first);
            } else {
                self.pairs.push(touching);
            }
        }
    }

    fn remove_chain(&mut self, mut at: u32) {
        while let Some(patch) = self.list.get_mut(at as usize) {
            let next = patch.next;
            patch.is_live = false;
            self.records.clear::<S>(at);
            self.unused.push(at);
            self.has_changed = true;
            at = next;
        }
    }

    /// Takes over what detection found for some pairs.
    pub(crate) fn renew(&mut self, ground: &Ground<'_, S>, found: &Found<S>) {
        let mut start = 0;
        for &(index, end, manner) in &found.ends {
            let points = &found.points[start..end as usize];
            start = end as usize;
            self.renew_pair(ground, index as usize, points, &manner);
        }
    }

    /// Points of a pair come part by part; each pair of parts is a patch.
    fn renew_pair(
        &mut self,
        ground: &Ground<'_, S>,
        index: usize,
        points: &[ContactPoint<S>],
        manner: &Manner<S>,
    ) {
        let Touching { pair, first } = self.pairs[index];
        if points.is_empty() {
            self.pairs[index].first = NONE;
            self.remove_chain(first);
            return;
        }
        let parts = |p: &ContactPoint<S>| (p.feature.part_a, p.feature.part_b);
        let (mut old, mut new_first, mut last) = (first, NONE, NONE);
        for group in points.chunk_by(|p, q| parts(p) == parts(q)) {
            let patch = fresh(ground, pair, group, manner);
            let at = match self.take(&mut old, parts(&group[0])) {
                Some(at) => {
                    let kept = self.inherited(at, &patch, ground.bodies);
                    self.write(ground, at, patch, &kept);
                    at
                }
                None => self.insert(ground, patch),
            };
            match self.list.get_mut(last as usize) {
                Some(before) => before.next = at,
                None => new_first = at,
            }
            last = at;
        }
        self.remove_chain(old);
        self.pairs[index].first = new_first;
    }

    /// Takes the patch of these parts out of a chain.
    fn take(&mut self, chain: &mut u32, parts: (u32, u32)) -> Option<u32> {
        let (mut before, mut at) = (NONE, *chain);
        while let Some(patch) = self.list.get(at as usize) {
            let next = patch.next;
            let feature = patch.points[0].feature;
            if (feature.part_a, feature.part_b) == parts {
                match self.list.get_mut(before as usize) {
                    Some(previous) => previous.next = next,
                    None => *chain = next,
                }
                return Some(at);
            }
            (before, at) = (at, next);
        }
        None
    }

    fn insert(&mut self, ground: &Ground<'_, S>, patch: Patch<S>) -> u32 {
        let at = match self.unused.pop() {
            Some(at) => at,
            None => {
                self.list.push(patch.clone());
                self.list.len() as u32 - 1
            }
        };
        self.records.reserve::<S>(at);
        self.has_changed = true;
        self.write(ground, at, patch, &[[0.0; 3]; MOST]);
        at
    }

    /// Forces of a renewed patch's points: those of the old points they continue.
    fn inherited(&self, at: u32, after: &Patch<S>, bodies: &Bodies<S>) -> [[f64; 3]; MOST] {
        let before = &self.list[at as usize];
        let size = bodies.radius[after.a as usize].min(bodies.radius[after.b as usize]);
        let mut taken = [false; MOST];
        let mut forces = [[0.0; 3]; MOST];
        let mut is_new = [false; MOST];
        let world = |k: usize| {
            let local = self.records.force::<S>(at, k);
            S::to_world(&before.basis, vector::<S>(local))
        };
        for k in 0..after.count {
            let same = (0..before.count)
                .find(|&j| !taken[j] && before.points[j].feature == after.points[k].feature);
            match same {
                Some(j) => {
                    taken[j] = true;
                    forces[k] = numbers(S::to_local(&after.basis, world(j)));
                }
                None => is_new[k] = true,
            }
        }
        for k in (0..after.count).filter(|&k| is_new[k]) {
            let distance = |j: usize| (before.anchors[j] - after.anchors[k]).length();
            let nearest = (0..before.count)
                .filter(|&j| !taken[j] && distance(j) < 0.05 * size)
                .min_by(|&i, &j| distance(i).total_cmp(&distance(j)));
            if let Some(j) = nearest {
                taken[j] = true;
                forces[k] = numbers(S::to_local(&after.basis, world(j)));
            }
        }
        forces
    }

    /// Puts a patch at a place of the list and its numbers into its record.
    fn write(
        &mut self,
        ground: &Ground<'_, S>,
        at: u32,
        patch: Patch<S>,
        forces: &[[f64; 3]; MOST],
    ) {
        let center = patch.points[..patch.count]
            .iter()
            .fold(S::Vector::default(), |sum, p| sum + p.position)
            * (1.0 / patch.count as f64);
        let arm = |body: u32| center - ground.bodies.position[body as usize];
        let mut numbers = PatchNumbers::<S> {
            basis: patch.basis,
            arm_a: arm(patch.a),
            arm_b: arm(patch.b),
            friction: patch.surface.friction,
            restitution: patch.surface.restitution,
            slide: patch.slide.dot(S::column(&patch.basis, 1)) * ground.h,
            mass: shared_mass(ground.bodies, patch.a, patch.b) / patch.count as f64,
            points: [PointNumbers::default(); MOST],
            count: patch.count,
        };
        let (drift_a, drift_b) = ((ground.drift)(patch.a), (ground.drift)(patch.b));
        for (k, point) in patch.points[..patch.count].iter().enumerate() {
            let local = S::to_local(&patch.basis, point.position - center);
            let moved = |drift: &Motion<S>, body: u32| {
                let arm = point.position - ground.bodies.position[body as usize];
                drift.linear + S::spin_cross(drift.spin, arm)
            };
            let apart = moved(&drift_b, patch.b) - moved(&drift_a, patch.a);
            numbers.points[k] = PointNumbers {
                place: [local.component(1), local.component(2)],
                separation: point.separation - point.normal.dot(apart),
                force: forces[k],
            };
        }
        self.records.write(at, [patch.a, patch.b], &numbers);
        self.list[at as usize] = patch;
    }

    /// All points as contacts, with the impulses of a step of `dt`.
    pub(crate) fn contacts(&self, bodies: &Bodies<S>, dt: f64) -> Vec<Contact<S>> {
        let mut contacts = Vec::new();
        for (at, patch) in self.iter() {
            for k in 0..patch.count {
                let local = vector::<S>(self.records.force::<S>(at, k));
                contacts.push(Contact {
                    a: patch.a,
                    b: patch.b,
                    point: patch.points[k],
                    surface: patch.surface,
                    slide: patch.slide,
                    impulse: S::to_world(&patch.basis, local) * dt,
                    anchor: bodies
                        .origin(patch.a as usize)
                        .local_point(patch.points[k].position),
                    nodes: [None; 2],
                });
            }
        }
        contacts
    }
}

pub(crate) fn vector<S: Space>(numbers: [f64; 3]) -> S::Vector {
    (0..S::DIM).fold(S::Vector::default(), |v, axis| {
        v.with_component(axis, numbers[axis])
    })
}

fn numbers<V: Components>(vector: V) -> [f64; 3] {
    std::array::from_fn(|axis| vector.component(axis))
}

/// A patch from contact points of one pair of parts.
fn fresh<S: Space>(
    ground: &Ground<'_, S>,
    pair: Pair,
    points: &[ContactPoint<S>],
    manner: &Manner<S>,
) -> Patch<S> {
    let Pair { a, b } = pair;
    let mut kept = [points[0]; MOST];
    let count = spread_out::<S>(points, &mut kept);
    let frame = ground.bodies.origin(a as usize);
    Patch {
        a,
        b,
        surface: manner.surface,
        slide: manner.slide,
        basis: basis_along::<S>(points[0].normal, manner.slide),
        count,
        points: kept,
        anchors: kept.map(|p| frame.local_point(p.position)),
        next: NONE,
        is_live: true,
    }
}

/// Normal and tangents, the first of which is along `slide` where there is any.
fn basis_along<S: Space>(normal: S::Vector, slide: S::Vector) -> S::Matrix {
    let basis = S::basis(normal);
    let local = S::to_local(&basis, slide);
    let (along, across) = (local.component(1), local.component(2));
    let length = along.hypot(across);
    if S::DIM == 2 || length == 0.0 {
        return basis;
    }
    let (t, s) = (S::column(&basis, 1), S::column(&basis, 2));
    S::matrix(|k| match k {
        0 => normal,
        1 => (t * along + s * across) * (1.0 / length),
        _ => (s * along - t * across) * (1.0 / length),
    })
}

/// Keeps at most `POINTS` points: the deepest, the one furthest from it, the one
/// furthest from the line through both, and the one furthest on that line's other side.
fn spread_out<S: Space>(points: &[ContactPoint<S>], kept: &mut [ContactPoint<S>; MOST]) -> usize {
    if points.len() <= S::POINTS {
        kept[..points.len()].copy_from_slice(points);
        return points.len();
    }
    let best = |score: &dyn Fn(&ContactPoint<S>) -> f64| {
        let mut best = 0;
        for k in 1..points.len() {
            if score(&points[k]) > score(&points[best]) {
                best = k;
            }
        }
        best
    };
    let basis = S::basis(points[0].normal);
    let flat = |p: &ContactPoint<S>| {
        let local = S::to_local(&basis, p.position);
        [local.component(1), local.component(2)]
    };
    let first = best(&|p| -p.separation);
    let from = flat(&points[first]);
    let away = |p: &ContactPoint<S>| {
        let at = flat(p);
        let (x, y) = (at[0] - from[0], at[1] - from[1]);
        x * x + y * y
    };
    let second = best(&away);
    kept[0] = points[first];
    kept[1] = points[second];
    if S::POINTS == 2 {
        return 2;
    }
    let to = flat(&points[second]);
    let side = |p: &ContactPoint<S>| {
        let at = flat(p);
        (to[0] - from[0]) * (at[1] - from[1]) - (to[1] - from[1]) * (at[0] - from[0])
    };
    let (third, fourth) = (best(&side), best(&|p| -side(p)));
    let mut count = 2;
    for (k, sign) in [(third, 1.0), (fourth, -1.0)] {
        if k != first && k != second && sign * side(&points[k]) > 0.0 {
            kept[count] = points[k];
            count += 1;
        }
    }
    count
}

/// Mass that an impulse between two bodies moves, turning aside, kg.
fn shared_mass<S: Space>(bodies: &Bodies<S>, a: u32, b: u32) -> f64 {
    let inverse = |k: u32| 1.0 / bodies.mass(k as usize);
    let sum = inverse(a) + inverse(b);
    if sum > 0.0 { 1.0 / sum } else { 0.0 }
}
