//! Continuous collision of rigid bodies: fast ones are held back where they first touch.
//!
//! Contacts that detection finds ahead of a step stop what comes straight at a face. They know the
//! poses at its start only, and a bullet that comes from the side, or the tip of a spinning rod,
//! may pass a thin wall between two poses that both look harmless. So after a step every body that
//! moved by more than a quarter of its thickness is looked at again: if it touched something on
//! its way that it did not touch before, and went deeper into it than a contact lets it, it is put
//! back to the moment of touch. Its velocity stays what it is; the next step finds the contact,
//! with the normal it has there, and solves it. What is lost is the rest of one step of time of
//! that body, never speed.
//!
//! What only grazes something goes on. So does what would not pass through, but would be overrun
//! where it is put by something else: a stone that a ball pushes through a wall.
//!
//! **Moment of touch**, by conservative advancement: with the way of a step as s from 0 to 1, two
//! bodies d apart along n that move by $\Delta$ and turn by θ (about their centres, r being the
//! largest distance of a point from it) close at no more than
//!
//! $$ c = n\cdot(\Delta_a - \Delta_b) + \theta_a r_a + \theta_b r_b $$
//!
//! over what is left of the step, so they do not touch before s + d/c. What lies in a drum turns
//! with it and closes on nothing, though the rim moves far: seen from B, whose axes turn by θ_b, A's
//! centre, r away, goes by $w = \Delta_a - \Delta_b - \theta_b \times r$, so also
//!
//! $$ c \le n\cdot w + \theta_b\,(|w| + (1 + \theta_b)\,|\Delta_a - \Delta_b|)
//!    + |\theta_a - \theta_b|\, r_a , $$
//!
//! the second term for how n and r turn on the way. The smaller bound counts. Bodies that touch already at
//! the start have a contact, with its normal; they are held back only if they get deeper into each
//! other than a contact lets them.
//!
//! Scripted bodies and bodies on joints go where they must and are not held back.

use crate::contact::rules::PairRules;
use crate::dynamics::integrate::{set_rotation, whole_turn};
use crate::geometry::Space;
use crate::geometry::bvh::median_split::Tree;
use crate::geometry::oriented_bounds::OrientedBounds;
use crate::geometry::shape::{Bounds, Clearance, Geometry, Pose};
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, BodyState};
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;

/// Part of its thickness that a body may move in a step unwatched.
const UNWATCHED: f64 = 0.25;
/// Part of its thickness that a body may be inside another as if it touched it.
const GRAZING: f64 = 0.1;
/// Part of its thickness inside another from which on a body counts as passing through. What does
/// is at some moment half of its thickness inside, and it is looked at so often that an eighth of
/// the thickness at most is missed of that.
const PASSING: f64 = 0.35;
/// Evaluations of a distance before a pair is taken for touching where it is then.
const MOST_ADVANCES: usize = 24;
/// Steps along the way of a body that touches already, each a quarter of its thickness.
const MOST_STEPS: usize = 10_000;

/// What is near enough to count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness {
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// Contacts this near are always found by detection, m.
    pub(crate) margin: f64,
    /// Overlap that counts as touch, m.
    pub(crate) slop: f64,
    /// Threads that look.
    pub(crate) threads: u32,
}

/// So few bodies ask all others; more ask a tree.
const FEW: usize = 16;
/// Bodies that are worth a thread.
const WORTH: usize = 16;

/// The way of a body in a step.
#[derive(Clone, Copy, Debug)]
struct Way<S: Space> {
    /// Centre of mass and rotation at the start.
    start: Pose<S>,
    shift: S::Vector,
    turn: S::Spin,
    arm: f64,
}

impl<S: Space> Way<S> {
    fn of(bodies: &Bodies<S>, start: &BodyState<S>, k: usize, dt: f64) -> Self {
        let turn = whole_turn::<S>(
            S::turn_between(start.rotation[k], bodies.rotation[k]),
            bodies.motion[k].spin * dt,
        );
        Self {
            start: Pose {
                position: start.position[k],
                rotation: start.rotation[k],
            },
            shift: bodies.position[k] - start.position[k],
            turn,
            arm: arm(bodies, k),
        }
    }

    /// How far a point of the body moves at most, m.
    fn length(&self) -> f64 {
        self.shift.length() + self.sweep()
    }

    fn sweep(&self) -> f64 {
        self.turn.length() * self.arm
    }

    /// Centre of mass and rotation after a part of the way.
    fn center(&self, part: f64) -> Pose<S> {
        Pose {
            position: self.start.position + self.shift * part,
            rotation: S::turn(self.start.rotation, self.turn * part),
        }
    }

    /// Pose of the shape after a part of the way.
    fn pose(&self, part: f64, center: S::Vector) -> Pose<S> {
        let Pose { position, rotation } = self.center(part);
        Pose {
            position: position - S::rotate(rotation, center),
            rotation,
        }
    }
}

/// A body on its way.
#[derive(Clone, Copy, Debug)]
struct Track<S: Space> {
    way: Way<S>,
    /// The box around the body at the start, if it is bounded.
    case: Option<OrientedBounds<S>>,
}

impl<S: Space> Track<S> {
    fn of(bodies: &Bodies<S>, start: &BodyState<S>, k: usize, dt: f64) -> Self {
        let way = Way::of(bodies, start, k, dt);
        let bounds = bodies.bounds[k].as_ref();
        Self {
            way,
            case: bounds.map(|bounds| OrientedBounds::new(bounds, &way.start)),
        }
    }
}

/// Whether two bodies are further apart at the start than `limit`, m, by the boxes around them.
fn are_apart<S: Space>(tracks: &[Track<S>; 2], limit: f64) -> bool {
    let [Some(one), Some(other)] = [&tracks[0].case, &tracks[1].case] else {
        return false;
    };
    one.apart(other) > limit
}

/// Puts bodies that passed through something back to where they touched it. Returns which.
pub(crate) fn hold_back<S: Space>(
    bodies: &mut Bodies<S>,
    start: &BodyState<S>,
    rules: &PairRules<'_, S>,
    near: Nearness,
    is_tied: impl Fn(usize) -> bool + Sync,
) -> Vec<u32> {
    let is_fast = |&k: &usize| is_fast(bodies, start, k, near) && !is_tied(k);
    let fast = thread_pool::gather_from(bodies.len(), near.threads as usize, |part, fast| {
        fast.extend(part.filter(is_fast));
    });
    if fast.is_empty() {
        return Vec::new();
    }
    let parts = first_touches(bodies, start, &fast, (rules, near));
    let mut held = Vec::new();
    for (k, part) in parts {
        let way = Way::of(bodies, start, k, near.dt);
        let Pose { position, rotation } = way.center(part);
        bodies.position[k] = position;
        set_rotation(bodies, k, rotation);
        held.push(k as u32);
    }
    held
}

/// Whether a body may have passed through something.
fn is_fast<S: Space>(bodies: &Bodies<S>, start: &BodyState<S>, k: usize, near: Nearness) -> bool {
    if !bodies.is_dynamic(k) || !bodies.is_present(k) {
        return false;
    }
    let shift = (bodies.position[k] - start.position[k]).length();
    let turn = near.dt * bodies.motion[k].spin.length();
    // Most are slow, and need no look at their shape.
    if shift + turn * bodies.radius[k] <= near.margin {
        return false;
    }
    let way = shift + turn * arm(bodies, k);
    way > near.margin && way > UNWATCHED * bodies.thickness(k)
}

/// How far turning moves a point of a body, m a radian.
fn arm<S: Space>(bodies: &Bodies<S>, k: usize) -> f64 {
    // A ball looks the same however it is turned; and a wall without bounds does not turn.
    let is_round = bodies.shape[k].ball_radius().is_some();
    if is_round || bodies.radius[k].is_infinite() {
        0.0
    } else {
        bodies.radius[k]
    }
}

/// The part of its way after which each fast body first touches something, where it does.
fn first_touches<S: Space>(
    bodies: &Bodies<S>,
    start: &BodyState<S>,
    fast: &[usize],
    (rules, near): (&PairRules<'_, S>, Nearness),
) -> Vec<(usize, f64)> {
    let all = if fast.len() > FEW {
        Others::in_tree(bodies, start, near)
    } else {
        Others::All(bodies.len())
    };
    let mut firsts = vec![1.0_f64; fast.len()];
    let found = SharedSlice::new(&mut firsts);
    let parts = fast.chunks(WORTH);
    thread_pool::deal(near.threads as usize, parts.len(), |part| {
        for (k, &body) in parts.clone().nth(part).into_iter().flatten().enumerate() {
            let first = first_touch(bodies, start, body, &all, (rules, near));
            found.write(part * WORTH + k, first);
        }
    });
    let touches = fast.iter().copied().zip(firsts);
    touches.filter(|&(_, first)| first < 1.0).collect()
}

/// What a fast body may touch.
enum Others<S: Space> {
    /// That many bodies: few are fast, and ask every one.
    All(usize),
    /// Those that are near in a tree.
    Tree {
        /// Of all bodies.
        tracks: Vec<Option<Track<S>>>,
        tree: Tree<S>,
        boxes: Vec<Bounds<S>>,
        /// The bodies that have these boxes, and those without bounds.
        boxed: Vec<usize>,
        unbounded: Vec<usize>,
    },
}

impl<S: Space> Others<S> {
    fn in_tree(bodies: &Bodies<S>, start: &BodyState<S>, near: Nearness) -> Self {
        let mut tracks = vec![None; bodies.len()];
        let places = SharedSlice::new(&mut tracks);
        thread_pool::run_over(bodies.len(), near.threads as usize, |part| {
            for k in part.filter(|&k| bodies.is_present(k)) {
                places.write(k, Some(Track::of(bodies, start, k, near.dt)));
            }
        });
        let (mut boxes, mut boxed, mut unbounded) = (Vec::new(), Vec::new(), Vec::new());
        for k in (0..bodies.len()).filter(|&k| bodies.is_present(k)) {
            match swept_box(bodies, start, k) {
                Some(bounds) => {
                    boxes.push(bounds);
                    boxed.push(k);
                }
                None => unbounded.push(k),
            }
        }
        Self::Tree {
            tracks,
            tree: Tree::new(&boxes),
            boxes,
            boxed,
            unbounded,
        }
    }

    /// The way of a body, where it is known.
    fn track(&self, k: usize) -> Option<Track<S>> {
        match self {
            Self::All(_) => None,
            Self::Tree { tracks, .. } => tracks[k],
        }
    }

    /// Calls `f` for whatever may have been in a box, and for others too.
    fn for_each_near(&self, own: &Bounds<S>, mut f: impl FnMut(usize)) {
        match self {
            Self::All(count) => (0..*count).for_each(f),
            Self::Tree {
                tree,
                boxes,
                boxed,
                unbounded,
                ..
            } => {
                unbounded.iter().for_each(|&k| f(k));
                tree.overlapping(boxes, own, |item| f(boxed[item]));
            }
        }
    }
}

/// The part of its way after which a fast body first touches something, 1 if it does not.
fn first_touch<S: Space>(
    bodies: &Bodies<S>,
    start: &BodyState<S>,
    k: usize,
    all: &Others<S>,
    (rules, near): (&PairRules<'_, S>, Nearness),
) -> f64 {
    let Some(own) = swept_box(bodies, start, k) else {
        return 1.0;
    };
    let track_of = |k: usize| {
        let known = all.track(k);
        known.unwrap_or_else(|| Track::of(bodies, start, k, near.dt))
    };
    let track = track_of(k);
    let mut first: Option<Touch> = None;
    let mut pushing = Vec::new();
    all.for_each_near(&own, |other| {
        // Nodes and what has bounds are watched by `crate::dynamics::failsafe`.
        let is_soft =
            bodies.node_of[k] != bodies.node_of[other] && bodies.radius[other].is_finite();
        if other != k
            && bodies.is_present(other)
            && !is_soft
            && paths_meet(bodies, start, [k, other])
            && rules.allow(bodies, k.min(other), k.max(other))
        {
            let tracks = [track, track_of(other)];
            match touch(bodies, [k, other], &tracks, near) {
                Some(touch) => first = Some(first.map_or(touch, |first| first.and(touch))),
                None if bodies.is_dynamic(other) => pushing.push(other),
                None => {}
            }
        }
    });
    let Some(Touch { part, passes }) = first else {
        return 1.0;
    };
    let pose = track.way.pose(part, bodies.center[k]);
    let mut pushing = pushing.into_iter();
    if passes || pushing.all(|other| has_room(bodies, k, &pose, other)) {
        part
    } else {
        1.0
    }
}

/// Whether the balls around two bodies meet on their way.
fn paths_meet<S: Space>(bodies: &Bodies<S>, start: &BodyState<S>, [a, b]: [usize; 2]) -> bool {
    let radii = bodies.radius[a] + bodies.radius[b];
    let from = start.position[b] - start.position[a];
    let to = bodies.position[b] - bodies.position[a];
    let way = to - from;
    let square = way.dot(way);
    let part = if square > 0.0 {
        (-from.dot(way) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    // A little more, for rounding.
    (from + way * part).length() <= 1.000_001 * radii
}

/// Whether a body at a pose is no deeper in another than if it touched it.
fn has_room<S: Space>(bodies: &Bodies<S>, k: usize, pose: &Pose<S>, other: usize) -> bool {
    let there = (&bodies.shape[other], &bodies.origin(other));
    let found = S::Shape::clearance((&bodies.shape[k], pose), there, 0.0);
    found.is_none_or(|found| found.distance > -GRAZING * bodies.thickness(k))
}

/// The first touch of a body.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The part of its way after which it happens.
    part: f64,
    /// Whether the body passes through what it touches.
    passes: bool,
}

impl Touch {
    fn and(self, other: Self) -> Self {
        Self {
            part: self.part.min(other.part),
            passes: self.passes || other.passes,
        }
    }
}

/// A box around all of a body's way.
fn swept_box<S: Space>(bodies: &Bodies<S>, start: &BodyState<S>, k: usize) -> Option<Bounds<S>> {
    bodies.bounds[k].as_ref()?;
    if !bodies.is_dynamic(k) && start.position[k] == bodies.position[k] {
        return bodies.shape[k].bounds(&bodies.origin(k));
    }
    let arm = S::Vector::splat(bodies.radius[k]);
    let around = |center: S::Vector| Bounds {
        lower: center - arm,
        upper: center + arm,
    };
    Some(around(start.position[k]).union(around(bodies.position[k])))
}

/// The part of the way after which two bodies touch that did not at its start, where it is more
/// than touch that is ahead of them.
fn touch<S: Space>(
    bodies: &Bodies<S>,
    [a, b]: [usize; 2],
    tracks: &[Track<S>; 2],
    near: Nearness,
) -> Option<Touch> {
    let ways = &tracks.map(|track| track.way);
    // Balls meet by the equation of their paths, and without turning.
    if bodies.shape[a].ball_radius().is_some() && bodies.shape[b].ball_radius().is_some() {
        return None;
    }
    // What a platform lets pass is not stopped by it.
    if [a, b].iter().any(|&k| bodies.one_way[k].is_some()) {
        return None;
    }
    // What moves along with it does not get deep into it.
    let relative = relative_way(ways);
    if relative <= depth(GRAZING, bodies.thickness(a), near) {
        return None;
    }
    let target = 0.5 * near.slop;
    let limit = relative + target;
    // Most are; and boxes are asked much faster than shapes.
    if are_apart(tracks, limit) {
        return None;
    }
    let clearance = |part: f64| {
        let [p, q] = [(0, a), (1, b)].map(|(w, k)| ways[w].pose(part, bodies.center[k]));
        S::Shape::clearance((&bodies.shape[a], &p), (&bodies.shape[b], &q), limit)
    };
    let (mut part, mut distance) = (0.0, f64::INFINITY);
    for _ in 0..MOST_ADVANCES {
        let found = clearance(part)?;
        distance = found.distance;
        let closing = closing(ways, part, found.normal);
        // What remains could overlap by no more than touch does.
        if closing <= 0.0 || distance.min(0.0) + closing * (1.0 - part) <= near.slop {
            return None;
        }
        if distance <= target {
            break;
        }
        part += (distance - 0.5 * target) / closing;
        // No more is known of what is there.
        distance = 0.5 * target;
        if part >= 1.0 {
            return None;
        }
    }
    let way = ways[0].length() + ways[1].length();
    let touches_at_start = part <= 0.0;
    let deep = deepening((part, distance), bodies.thickness(a), way, near, clearance)?;
    Some(Touch {
        part: if touches_at_start { deep.part } else { part },
        ..deep
    })
}

/// How far any point of A goes at most as seen from B, m.
fn relative_way<S: Space>(ways: &[Way<S>; 2]) -> f64 {
    let straight = (ways[0].shift - ways[1].shift).length();
    let (with_b, turning) = seen_from_b(ways, 0.0);
    (straight + ways[0].sweep() + ways[1].sweep()).min(with_b.length() + turning)
}

/// How much A and B close at most along the normal from A to B, from a part of the way on, m in a
/// whole way.
fn closing<S: Space>(ways: &[Way<S>; 2], part: f64, normal: S::Vector) -> f64 {
    let straight = normal.dot(ways[0].shift - ways[1].shift);
    let (with_b, turning) = seen_from_b(ways, part);
    let turned = ways[1].turn.length() * with_b.length();
    (straight + ways[0].sweep() + ways[1].sweep()).min(normal.dot(with_b) + turned + turning)
}

/// Where A's centre goes as seen from B, and how far turning takes its points besides, m.
fn seen_from_b<S: Space>(ways: &[Way<S>; 2], part: f64) -> (S::Vector, f64) {
    let [a, b] = ways;
    let shift = a.shift - b.shift;
    let arm = a.center(part).position - b.center(part).position;
    let turn = b.turn.length();
    let bent = turn * (1.0 + turn) * shift.length();
    let sweep = (a.turn - b.turn).length() * a.arm;
    (shift - S::spin_cross(b.turn, arm), bent + sweep)
}

/// A part of a body's thickness, or what contacts let bodies overlap if that is more, m.
fn depth(part: f64, thickness: f64, near: Nearness) -> f64 {
    (2.0 * near.slop).max(part * thickness)
}

/// Where bodies that touch at a part of the way, at a distance, are on the point of being deeper in
/// each other than touching bodies are, and whether they get so deep that A passes through. It
/// goes in steps of which A could not pass through anything.
fn deepening<S: Space>(
    (mut part, start): (f64, f64),
    thickness: f64,
    way: f64,
    near: Nearness,
    clearance: impl Fn(f64) -> Option<Clearance<S>>,
) -> Option<Touch> {
    let limit = |share: f64| start.min(0.0) - depth(share, thickness, near);
    let (grazing, passing) = (limit(GRAZING), limit(PASSING));
    let step = 0.25 * thickness;
    let mut distance = start;
    let mut touch: Option<Touch> = None;
    for _ in 0..MOST_STEPS {
        let next = (part + (distance.max(0.0) + step) / way).min(1.0);
        let Some(found) = clearance(next) else {
            // Out of reach for the rest of the way.
            return touch;
        };
        if found.distance < grazing {
            let passes = found.distance < passing;
            touch = Some(Touch {
                part: touch.map_or(part, |touch| touch.part),
                passes,
            });
            if passes {
                return touch;
            }
        }
        if next >= 1.0 {
            return touch;
        }
        (part, distance) = (next, found.distance);
    }
    // It was not followed to the end.
    Some(Touch { part, passes: true })
}
