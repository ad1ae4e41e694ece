//! Update of manifolds from newly detected points, by several threads.
//!
//! Detection ([`Found`]) and writing ([`Renewing`]) are shared among threads. A manifold that goes on
//! is written as soon as its points are found. For others, in between, one thread gives every
//! manifold its place ([`Manifolds::assign`](super::manifold_store::Manifolds::assign)), in an order that does
//! not depend on how the work was cut.

use super::articulation::Links;
use super::body_columns::BodyColumns;
use super::manifold_records::{ManifoldNumbers, PointNumbers, SharedRecords, force_in};
use super::manifold_store::{MOST, Manifold, NONE, Touching, numbers, parts_of};
use super::pair_cache::Pair;
use crate::contact::rules::Manner;
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::vector;
use crate::math::algebra::{Components, Linear};
use crate::math::simd::Column;
use crate::model::body::{Bodies, Motion};
use crate::parallel::shared_slice::SharedSlice;
use std::ops::Range;

/// A pair with points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched<S: Space> {
    /// Its place in the list of pairs.
    pub(crate) index: u32,
    pub(crate) pair: Pair,
    /// Where its points end.
    pub(crate) end: u32,
    pub(crate) manner: Manner<S>,
}

/// What detection found of some pairs.
#[derive(Clone, Debug)]
pub(crate) struct Found<S: Space> {
    pub(crate) points: Vec<ContactPoint<S>>,
    pub(crate) touched: Vec<Touched<S>>,
    /// Pairs with manifolds, but without points.
    pub(crate) parted: Vec<u32>,
    /// Pairs whose manifold has got other than the points it had.
    pub(crate) regrouped: Vec<Pair>,
}

impl<S: Space> Default for Found<S> {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            touched: Vec::new(),
            parted: Vec::new(),
            regrouped: Vec::new(),
        }
    }
}

impl<S: Space> Found<S> {
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.touched.clear();
        self.parted.clear();
        self.regrouped.clear();
    }
}

/// A manifold to be written.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    /// Its points: which of the lists found, which pair in it, and which of its points.
    pub(crate) part: usize,
    pub(crate) manner: usize,
    pub(crate) points: Range<usize>,
    /// Its place in the list.
    pub(crate) at: u32,
    /// Whether it continues none.
    pub(crate) is_new: bool,
    /// Whether it has got other than the points it had.
    pub(crate) is_regrouped: bool,
}

/// What manifolds are made from.
pub(crate) struct Ground<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) columns: &'a BodyColumns<S>,
    pub(crate) links: &'a Links<S>,
    /// Length of a substep, s.
    pub(crate) h: f64,
}

/// Pairs and manifolds that several threads write, each its own.
pub(crate) struct SharedManifolds<'a, S: Space> {
    pub(super) pairs: SharedSlice<'a, Touching>,
    pub(super) next: &'a [u32],
    pub(super) list: SharedSlice<'a, Manifold<S>>,
    pub(super) records: SharedRecords<'a>,
}

impl<S: Space> SharedManifolds<'_, S> {
    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    pub(crate) fn pair(&self, index: usize) -> Pair {
        self.pairs.read(index).pair
    }

    /// Travel of both bodies up to which a pair can't touch, m.
    pub(crate) fn free_until(&self, index: usize) -> f64 {
        self.pairs.read(index).free_until
    }

    /// Whether a pair has manifolds.
    pub(crate) fn touches(&self, index: usize) -> bool {
        self.pairs.read(index).first != NONE
    }

    /// Says of a pair without manifolds how far its bodies may travel before it can have any.
    pub(crate) fn set_free_until(&self, index: usize, free_until: f64) {
        self.pairs
            .change(index, |touching| touching.free_until = free_until);
    }

    /// The manifold of a pair that all of these points continue, if the pair has no other.
    pub(crate) fn continued(&self, index: usize, points: &[ContactPoint<S>]) -> Option<u32> {
        let at = self.pairs.read(index).first;
        if points.is_empty() || self.next.get(at as usize) != Some(&NONE) {
            return None;
        }
        let mut is_same = false;
        self.list.change(at as usize, |manifold| {
            let parts = parts_of(&manifold.points[0]);
            is_same = points.iter().all(|point| parts_of(point) == parts);
        });
        is_same.then_some(at)
    }
}

/// The lists that threads write manifolds to.
pub(crate) struct Renewing<'a, S: Space> {
    pub(crate) ground: &'a Ground<'a, S>,
    pub(crate) manifolds: SharedManifolds<'a, S>,
}

impl<S: Space> Renewing<'_, S> {
    /// Writes a manifold that was given a place.
    pub(crate) fn write(&self, found: &[Found<S>], renewal: &mut Renewal) {
        let found = &found[renewal.part];
        let points = &found.points[renewal.points.clone()];
        let touched = &found.touched[renewal.manner];
        let of = (touched.pair, &touched.manner);
        renewal.is_regrouped = self.renew(renewal.at, of, points, renewal.is_new);
    }

    /// Writes one manifold. Points that continue old ones keep their forces. Returns whether it has
    /// not as many points as before.
    pub(crate) fn renew(
        &self,
        at: u32,
        of: (Pair, &Manner<S>),
        points: &[ContactPoint<S>],
        is_new: bool,
    ) -> bool {
        let (bodies, records) = (self.ground.bodies, &self.manifolds.records);
        let mut is_regrouped = false;
        self.manifolds.list.change(at as usize, |manifold| {
            let renewed = fresh(bodies, of, points);
            let mut forces = [[0.0; 3]; MOST];
            if !is_new {
                forces = inherited(manifold, &records.read::<S>(at), &renewed, bodies);
            }
            *manifold = renewed;
            let numbers = numbers_of(self.ground, manifold, &forces);
            is_regrouped = records.write(at, [manifold.a, manifold.b], &numbers);
        });
        is_regrouped
    }
}

/// Forces of a renewed manifold's points: those of the old points they continue.
fn inherited<S: Space>(
    before: &Manifold<S>,
    record: &[Column],
    after: &Manifold<S>,
    bodies: &Bodies<S>,
) -> [[f64; 3]; MOST] {
    let size = bodies.radius[after.a as usize].min(bodies.radius[after.b as usize]);
    let mut taken = [false; MOST];
    let mut forces = [[0.0; 3]; MOST];
    let mut is_new = [false; MOST];
    let world = |k: usize| {
        let local = force_in::<S>(record, k);
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

/// What a manifold's record holds.
fn numbers_of<S: Space>(
    ground: &Ground<'_, S>,
    manifold: &Manifold<S>,
    forces: &[[f64; 3]; MOST],
) -> ManifoldNumbers<S> {
    let center = manifold.points[..manifold.count]
        .iter()
        .fold(S::Vector::default(), |sum, p| sum + p.position)
        * (1.0 / manifold.count as f64);
    let arm = |body: u32| center - ground.bodies.position[body as usize];
    // Others bounce before the rounds: see [`super::impacts`].
    let is_left = [manifold.a, manifold.b]
        .iter()
        .any(|&k| ground.links.leaves_blows(k as usize));
    let mut numbers = ManifoldNumbers::<S> {
        basis: manifold.basis,
        arm_a: arm(manifold.a),
        arm_b: arm(manifold.b),
        friction: manifold.surface.friction,
        restitution: if is_left {
            manifold.surface.restitution
        } else {
            0.0
        },
        slide: manifold.slide.dot(S::column(&manifold.basis, 1)) * ground.h,
        mass: shared_mass(ground.bodies, manifold.a, manifold.b) / manifold.count as f64,
        points: [PointNumbers::default(); MOST],
        count: manifold.count,
    };
    let (drift_a, drift_b) = (
        ground.columns.drift_of(manifold.a as usize),
        ground.columns.drift_of(manifold.b as usize),
    );
    for (k, point) in manifold.points[..manifold.count].iter().enumerate() {
        let local = S::to_local(&manifold.basis, point.position - center);
        let moved = |drift: &Motion<S>, body: u32| {
            let arm = point.position - ground.bodies.position[body as usize];
            drift.linear + S::spin_cross(drift.spin, arm)
        };
        let apart = moved(&drift_b, manifold.b) - moved(&drift_a, manifold.a);
        numbers.points[k] = PointNumbers {
            place: [local.component(1), local.component(2)],
            separation: point.separation - point.normal.dot(apart),
            force: forces[k],
        };
    }
    numbers
}

/// A manifold from contact points of one pair of parts.
fn fresh<S: Space>(
    bodies: &Bodies<S>,
    (Pair { a, b }, manner): (Pair, &Manner<S>),
    points: &[ContactPoint<S>],
) -> Manifold<S> {
    let mut kept = [points[0]; MOST];
    let count = spread_out::<S>(points, &mut kept);
    let frame = bodies.origin(a as usize);
    Manifold {
        a,
        b,
        surface: manner.surface,
        slide: manner.slide,
        basis: basis_along::<S>(points[0].normal, manner.slide),
        count,
        points: kept,
        anchors: std::array::from_fn(|k| match kept.get(k) {
            Some(point) if k < count => frame.local_point(point.position),
            _ => S::Vector::default(),
        }),
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
pub(super) fn shared_mass<S: Space>(bodies: &Bodies<S>, a: u32, b: u32) -> f64 {
    let inverse = |k: u32| 1.0 / bodies.mass(k as usize);
    let sum = inverse(a) + inverse(b);
    if sum > 0.0 { 1.0 / sum } else { 0.0 }
}
