//! Impacts, before anything else of a step.
//!
//! Rounds over bodies ([`super`]) move one body at a time, so what two of them do to each other is
//! equal and opposite only once the rounds have converged. At rest that is soon so; when a ball
//! hits a wall it is not. So hits are taken out of the rounds' hands. Where a point closes faster
//! than its gap allows,
//!
//! $$ -u_N - \max(d, 0)/\Delta t > w , $$
//!
//! an impulse P along the normal, and friction of at most μP against what slides, change the
//! motion of both bodies at once; the point then leaves at $-e\,u_N$ (and as much faster as it will
//! fall until the step is over), or closes its gap within the step where it does not bounce. One hit makes others: whatever was moved is looked at again, for
//! a few sweeps. Each hit keeps momentum to the last bit of rounding and makes no energy (e ≤ 1,
//! friction at most stops a slide), so any number of them does, and a row of touching balls passes
//! a blow on as Newton's cradle does. What hits a body with joints moves all of its linkage at once
//! ([`super::links`]). What is slower than w, what the load of a contact stops in a step
//! ([`StrikeLaw::loaded`]) and what the sweeps leave is left to the rounds; so are hits on nets of
//! joints, which are too large to answer at once.

use super::graph::Graph;
use super::links::{Links, Spot};
use super::renew::shared_mass;
use super::touching::{MOST, Patch, Patches};
use crate::body::{Bodies, Motion};
use crate::shape::ContactPoint;
use crate::space::{Components, Linear, Space};
use serde::{Deserialize, Serialize};

/// Sweeps over everything that has been hit.
const SWEEPS: usize = 100;
/// Patches that are looked at in a step at most, about: a large heap in which everything hits
/// everything can't have all sweeps.
const MOST_VISITS: usize = 10_000;
const MOST_VISITS_A_BODY: usize = 6;
/// Turn in a step up to which points that do not touch yet bounce, rad.
const MOST_TURN: f64 = 0.2;

/// The numbers of the law of impact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrikeLaw<S: Space> {
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// w: what closes by less than this too fast is no impact, m/s.
    pub(crate) least: f64,
    /// Slower than this nothing bounces, m/s.
    pub(crate) threshold: f64,
    /// What is this near touches, m.
    pub(crate) margin: f64,
    /// What a step of free fall adds to a velocity, m/s.
    pub(crate) fall: S::Vector,
}

impl<S: Space> StrikeLaw<S> {
    /// The law for a patch that carries a load: it begins no impact with what that load stops in
    /// a step, up to what a step of free fall adds. A stone that sways in an arch would be struck,
    /// and then be pushed back by the load as well. Faster than that is a blow, whatever the load:
    /// that of a contact that was hit a step ago says nothing.
    fn loaded(&self, bodies: &Bodies<S>, patches: &Patches<S>, number: u32) -> Self {
        let patch = patches.patch(number);
        let force = |k: usize| patches.records.force::<S>(number, k)[0];
        let load: f64 = (0..patch.count).map(force).sum();
        let stopped = load * self.dt / shared_mass(bodies, patch.a, patch.b);
        Self {
            least: self.least.max(stopped.min(self.fall.length())),
            ..*self
        }
    }

    /// What a step of free fall adds to the speed at which two bodies part along `normal`, m/s.
    fn fallen(&self, bodies: &Bodies<S>, ends: [usize; 2], normal: S::Vector) -> f64 {
        let [a, b] = ends.map(|k| f64::from(u8::from(bodies.is_dynamic(k))));
        normal.dot(self.fall) * (b - a)
    }
}

/// Who touches whom.
pub(crate) struct Web<'a, S: Space> {
    pub(crate) patches: &'a Patches<S>,
    pub(crate) graph: &'a Graph,
}

impl<S: Space> Web<'_, S> {
    /// Patches of a body whose hits are dealt with here.
    fn patches_of(&self, body: u32, links: &Links<S>) -> impl Iterator<Item = u32> {
        let is_own = !links.leaves_blows(body as usize);
        let touching = self.graph.patches_of(body as usize);
        touching
            .filter(move |&(_, other, _)| is_own && !links.leaves_blows(other as usize))
            .map(|(record, ..)| record - 1)
    }
}

/// What impacts change.
pub(crate) struct Struck<'a, S: Space> {
    pub(crate) bodies: &'a mut Bodies<S>,
    pub(crate) links: &'a mut Links<S>,
}

/// What hit a patch.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Strike<S: Space> {
    patch: u32,
    /// Impulse on B at each point, N·s.
    pub(crate) impulse: [S::Vector; MOST],
    /// Speed at which each point must part, if it bounced, m/s.
    pub(crate) rebound: [Option<f64>; MOST],
}

/// The impacts of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Strikes<S: Space> {
    /// In the order of patches.
    list: Vec<Strike<S>>,
    /// Bodies that were struck, ascending, and their motion before.
    before: Vec<(u32, Motion<S>)>,
    /// Bodies and what joints changed of their motion.
    #[serde(skip)]
    tugs: Vec<(u32, Motion<S>)>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    answers: Answers<S>,
}

/// How bodies that were struck answer.
#[derive(Clone, Debug)]
struct Answers<S: Space> {
    /// Whether a body was struck in this step.
    is_known: Vec<bool>,
    /// Its inverse inertia in world axes, 1/(kg·m²); of other bodies anything.
    inv_inertia: Vec<S::Inertia>,
}

impl<S: Space> Default for Answers<S> {
    fn default() -> Self {
        Self {
            is_known: Vec::new(),
            inv_inertia: Vec::new(),
        }
    }
}

/// Lists that are kept for their memory.
#[derive(Clone, Debug, Default)]
struct Scratch {
    is_struck: Vec<bool>,
    active: Vec<u32>,
    struck: Vec<u32>,
}

impl<S: Space> Default for Strikes<S> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            before: Vec::new(),
            tugs: Vec::new(),
            scratch: Scratch::default(),
            answers: Answers::default(),
        }
    }
}

impl<S: Space> Strikes<S> {
    /// What hit a patch in the last step.
    pub(crate) fn of(&self, patch: u32) -> Option<&Strike<S>> {
        let at = self.list.binary_search_by_key(&patch, |s| s.patch);
        at.ok().map(|at| &self.list[at])
    }

    /// What impacts took from a body's motion.
    pub(crate) fn change(&self, body: usize, after: &Motion<S>) -> Motion<S> {
        let at = self.before.binary_search_by_key(&(body as u32), |b| b.0);
        let before = at.map_or(after, |at| &self.before[at].1);
        Motion {
            linear: before.linear - after.linear,
            spin: before.spin - after.spin,
        }
    }

    /// Calls `f` with bodies and what joints changed of their motion in impacts.
    pub(crate) fn for_each_tug(&self, mut f: impl FnMut(usize, &Motion<S>)) {
        for (body, change) in &self.tugs {
            f(*body as usize, change);
        }
    }

    /// Lets whatever is about to hit something hit it: `first` are the patches, ascending, that
    /// may be about to.
    pub(crate) fn strike(
        &mut self,
        struck: &mut Struck<'_, S>,
        web: &Web<'_, S>,
        law: &StrikeLaw<S>,
        first: impl Iterator<Item = u32>,
    ) {
        self.list.clear();
        self.tugs.clear();
        self.forget();
        struck.links.forget_blows();
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.active.clear();
        scratch.active.extend(first);
        let count = struck.bodies.len();
        let (mut visits, most_visits) = (0, MOST_VISITS + MOST_VISITS_A_BODY * count);
        for sweep in 0..SWEEPS {
            if scratch.active.is_empty() || visits > most_visits {
                break;
            }
            visits += scratch.active.len();
            scratch.is_struck.resize(count, false);
            for at in 0..scratch.active.len() {
                let number = scratch.active[at];
                let patch = web.patches.patch(number);
                // Loaded or not, a contact passes on what hits it.
                let law = match sweep {
                    0 => law.loaded(struck.bodies, web.patches, number),
                    _ => *law,
                };
                if self.strike_patch(struck, patch, number, &law) {
                    let ends = [patch.a, patch.b];
                    scratch.note(ends, struck.links);
                    visits += struck.links.effort(ends.map(|k| k as usize));
                }
            }
            scratch.follow(web, struck.links);
        }
        self.scratch = scratch;
        self.before.sort_unstable_by_key(|b| b.0);
        self.merge();
        self.settle_rebounds(struck.bodies, web.patches, law);
        let tugs = &mut self.tugs;
        struck
            .links
            .finish_blows(law.dt, |body, change| tugs.push((body as u32, *change)));
    }

    /// Forgets the bodies that were struck.
    fn forget(&mut self) {
        for (body, _) in self.before.drain(..) {
            if let Some(is_known) = self.answers.is_known.get_mut(body as usize) {
                *is_known = false;
            }
        }
    }

    /// Remembers what two bodies, and all that joints tie to them, were like before they were struck,
    /// and gets them ready for it.
    fn know(&mut self, struck: &mut Struck<'_, S>, ends: [u32; 2]) {
        let bodies = &*struck.bodies;
        let known = self.answers.is_known.len();
        if known < bodies.len() {
            self.answers.is_known.resize(bodies.len(), false);
            let new = (known..bodies.len()).map(|k| bodies.inertial[k].inv_inertia);
            self.answers.inv_inertia.extend(new);
        }
        let mut know = |body: u32| {
            let k = body as usize;
            if !std::mem::replace(&mut self.answers.is_known[k], true) {
                self.before.push((body, bodies.motion[k]));
                self.answers.inv_inertia[k] = bodies.world_inv_inertia(k);
            }
        };
        ends.into_iter().for_each(&mut know);
        let ends = ends.map(|k| k as usize);
        struck.links.for_each_shaken(ends, know);
        struck.links.brace(struck.bodies, ends);
    }

    /// Where hits follow each other, what a point parts with in the end is what its law asks for.
    fn settle_rebounds(&mut self, bodies: &Bodies<S>, patches: &Patches<S>, law: &StrikeLaw<S>) {
        for strike in &mut self.list {
            let patch = patches.patch(strike.patch);
            for (point, rebound) in patch.points.iter().zip(&mut strike.rebound) {
                if let Some(speed) = rebound {
                    let ends = [patch.a as usize, patch.b as usize];
                    let arms = ends.map(|k| point.position - bodies.position[k]);
                    let parting = point.normal.dot(velocity(bodies, ends, arms));
                    *speed = (parting + law.fallen(bodies, ends, point.normal)).max(0.0);
                }
            }
        }
    }

    /// Makes one strike of all that hit the same patch.
    fn merge(&mut self) {
        self.list.sort_by_key(|strike| strike.patch);
        self.list.dedup_by(|next, strike| {
            let is_same = next.patch == strike.patch;
            if is_same {
                for k in 0..MOST {
                    strike.impulse[k] += next.impulse[k];
                    strike.rebound[k] = next.rebound[k].or(strike.rebound[k]);
                }
            }
            is_same
        });
    }

    /// Lets the points of a patch hit: first all that do as one, in their middle, so that what comes
    /// flat is not turned; then one after the other. Returns whether any did.
    fn strike_patch(
        &mut self,
        struck: &mut Struck<'_, S>,
        patch: &Patch<S>,
        number: u32,
        law: &StrikeLaw<S>,
    ) -> bool {
        let mut strike = Strike {
            patch: number,
            impulse: [S::Vector::default(); MOST],
            rebound: [None; MOST],
        };
        let points = &patch.points[..patch.count];
        let hits = |k: usize| excess(struck.bodies, patch, &points[k], law) > law.least;
        let is_hit: [bool; MOST] = std::array::from_fn(|k| k < points.len() && hits(k));
        let hitting = || (0..MOST).filter(|&k| is_hit[k]);
        let count = hitting().count();
        if count == 0 {
            return false;
        }
        self.know(struck, [patch.a, patch.b]);
        if count > 1 {
            let part = 1.0 / count as f64;
            let mut middle = ContactPoint {
                position: S::Vector::default(),
                separation: 0.0,
                ..points[0]
            };
            for k in hitting() {
                middle.position += points[k].position * part;
                middle.separation += points[k].separation * part;
            }
            if let Some((impulse, rebound)) =
                strike_point((struck, &self.answers.inv_inertia), patch, &middle, law)
            {
                for k in hitting() {
                    strike.impulse[k] = impulse * part;
                    strike.rebound[k] = rebound;
                }
            }
        }
        for (k, point) in points.iter().enumerate() {
            if let Some((impulse, rebound)) =
                strike_point((struck, &self.answers.inv_inertia), patch, point, law)
            {
                strike.impulse[k] += impulse;
                strike.rebound[k] = rebound.or(strike.rebound[k]);
            }
        }
        self.list.push(strike);
        true
    }
}

impl Scratch {
    fn note<S: Space>(&mut self, ends: [u32; 2], links: &Links<S>) {
        let mut note = |body: u32| {
            if !std::mem::replace(&mut self.is_struck[body as usize], true) {
                self.struck.push(body);
            }
        };
        ends.into_iter().for_each(&mut note);
        links.for_each_shaken(ends.map(|k| k as usize), note);
    }

    /// Goes on to the patches of the bodies that were struck.
    fn follow<S: Space>(&mut self, web: &Web<'_, S>, links: &Links<S>) {
        self.active.clear();
        for body in self.struck.drain(..) {
            self.is_struck[body as usize] = false;
            self.active.extend(web.patches_of(body, links));
        }
        self.tidy();
    }

    fn tidy(&mut self) {
        self.active.sort_unstable();
        self.active.dedup();
    }
}

/// The speed at which a point closes beyond what its gap allows, m/s.
fn excess<S: Space>(
    bodies: &Bodies<S>,
    patch: &Patch<S>,
    at: &ContactPoint<S>,
    law: &StrikeLaw<S>,
) -> f64 {
    let ends = [patch.a as usize, patch.b as usize];
    let arms = ends.map(|k| at.position - bodies.position[k]);
    let closing = velocity(bodies, ends, arms) + patch.slide;
    -at.normal.dot(closing) - at.separation.max(0.0) / law.dt
}

/// Lets one point hit, if it does: the impulse on B, N·s, and the speed of a rebound, m/s.
fn strike_point<S: Space>(
    (struck, inertia): (&mut Struck<'_, S>, &[S::Inertia]),
    patch: &Patch<S>,
    at: &ContactPoint<S>,
    law: &StrikeLaw<S>,
) -> Option<(S::Vector, Option<f64>)> {
    let bodies = &*struck.bodies;
    let excess = excess(bodies, patch, at, law);
    if excess <= law.least {
        return None;
    }
    let ends = [patch.a as usize, patch.b as usize];
    let arms = ends.map(|k| at.position - bodies.position[k]);
    let spot = Spot { ends, arms };
    let allowed = at.separation.max(0.0) / law.dt;
    let speed = excess + allowed;
    let e = patch.surface.restitution;
    let turned = ends.map(|k| bodies.motion[k].spin.length() * law.dt);
    // The point of a body that spins fast is elsewhere by the time it would touch.
    let is_there = at.separation <= law.margin || turned[0] + turned[1] < MOST_TURN;
    let bounces = e > 0.0 && speed > law.threshold && is_there;
    // Restitution refers to the velocities before forces, so that what falls until the end of the
    // step is not taken from the rebound.
    let fallen = law.fallen(bodies, ends, at.normal);
    let rebound = bounces.then_some((e * speed - fallen).max(0.0));
    let leaving = rebound.unwrap_or(-allowed);
    let inertia = ends.map(|k| &inertia[k]);
    let answer = struck.answer_along(inertia, &spot, at.normal);
    if answer <= 0.0 {
        return None;
    }
    let pressed = (leaving + speed) / answer;
    let mut impulse = at.normal * pressed;
    struck.push(inertia, &spot, at.normal, pressed);
    let after = velocity(struck.bodies, ends, arms) + patch.slide;
    let slip = after - at.normal * at.normal.dot(after);
    let slip_speed = slip.length();
    if slip_speed > 0.0 {
        let along = slip * (1.0 / slip_speed);
        let answer = struck.answer_along(inertia, &spot, along);
        // What joints hold fast does not slip.
        if answer > 0.0 {
            let drag = -(slip_speed / answer).min(patch.surface.friction * pressed);
            struck.push(inertia, &spot, along, drag);
            impulse += along * drag;
        }
    }
    Some((impulse, rebound))
}

/// Velocity of B's point relative to A's, m/s.
fn velocity<S: Space>(bodies: &Bodies<S>, ends: [usize; 2], arms: [S::Vector; 2]) -> S::Vector {
    let of = |side: usize| {
        let Motion { linear, spin } = bodies.motion[ends[side]];
        linear + S::spin_cross(spin, arms[side])
    };
    of(1) - of(0)
}

impl<S: Space> Struck<'_, S> {
    /// What a unit impulse along a direction changes of the velocity along it, 1/kg.
    fn answer_along(
        &mut self,
        inv_inertia: [&S::Inertia; 2],
        spot: &Spot<S>,
        along: S::Vector,
    ) -> f64 {
        let tied = self.links.respond(spot, along);
        let of = |side: usize| {
            let arm = spot.arms[side];
            if let Some(change) = &tied[side] {
                let moved = along.dot(change.linear + S::spin_cross(change.spin, arm));
                return if side == 0 { -moved } else { moved };
            }
            let turned = S::cross(arm, along);
            let spin = S::apply_inertia(inv_inertia[side], turned);
            let inv_mass = self.bodies.inertial[spot.ends[side]].inv_mass;
            along.dot(inv_mass.scale(along)) + turned.dot(spin)
        };
        of(0) + of(1)
    }

    /// Gives B an impulse along the direction that was asked for last, and A its opposite.
    fn push(
        &mut self,
        inv_inertia: [&S::Inertia; 2],
        spot: &Spot<S>,
        along: S::Vector,
        impulse: f64,
    ) {
        self.links.take(self.bodies, spot.ends, impulse);
        for (side, impulse) in [along * -impulse, along * impulse].into_iter().enumerate() {
            let k = spot.ends[side];
            if self.links.ties_body(k) {
                continue;
            }
            let spin = S::apply_inertia(inv_inertia[side], S::cross(spot.arms[side], impulse));
            let motion = &mut self.bodies.motion[k];
            motion.linear += self.bodies.inertial[k].inv_mass.scale(impulse);
            motion.spin += spin;
        }
    }
}
