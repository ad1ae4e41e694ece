//! Impacts, resolved before the rounds of a step.
//!
//! Rounds over bodies ([`super`]) move one body at a time, so what two of them do to each other is
//! equal and opposite only once the rounds have converged. At rest that is soon so; when a ball
//! hits a wall it is not. So hits are taken out of the rounds' hands. Where a point closes faster
//! than its gap allows,
//!
//! $$ -u_N - \max(d, 0)/\Delta t > w , $$
//!
//! an impulse P along the normal, and friction of at most μP against what slides, change the
//! motion of both bodies at once. A point that bounces is hit when its gap has closed, τ seconds into
//! the step, at the speed that it has then: it leaves at −e times that, and what the impulse changed
//! of the velocity, times τ, is taken off the displacement of the step. Where it does not bounce it
//! closes its gap within the step. One hit makes others: whatever was moved is looked at again, for
//! a few sweeps. Each hit keeps momentum to the last bit of rounding and makes no energy (e ≤ 1,
//! friction at most stops a slide), so any number of them does, and a row of touching balls passes
//! a impact on as Newton's cradle does. What hits a body with joints moves all of its linkage at once
//! ([`super::articulation`]). What is slower than w, what the load of a contact stops in a step
//! ([`ImpactRule::loaded`]) and what the sweeps leave is left to the rounds; so are hits on nets of
//! joints, which are too large to answer at once.

use super::articulation::Links;
use super::contact_graph::Graph;
use super::manifold_store::{MOST, Manifold, Manifolds};
use super::manifold_update::shared_mass;
use super::point_impulse::{Answer, Answering, Closing, HitBodies, impact_point, velocity};
use crate::geometry::Space;
use crate::geometry::shape::ContactPoint;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, Motion};
use serde::{Deserialize, Serialize};

/// Sweeps over everything that has been hit.
const SWEEPS: usize = 100;
/// Manifolds that are looked at in a step at most, about: a large heap in which everything hits
/// everything can't have all sweeps.
const MOST_VISITS: usize = 10_000;
const MOST_VISITS_A_BODY: usize = 6;

/// The numbers of the law of impact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpactRule<S: Space> {
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
    /// What bounces hits in this step if it closes by less than this too slowly, m/s: its fall does
    /// the rest.
    pub(crate) early: f64,
}

impl<S: Space> ImpactRule<S> {
    /// The law for a manifold that carries a load: it begins no impact with what that load stops in
    /// a step, up to what a step of free fall adds. A stone that sways in an arch would be hit,
    /// and then be pushed back by the load as well. Faster than that is a impact, whatever the load:
    /// that of a contact that was hit a step ago says nothing.
    fn loaded(&self, bodies: &Bodies<S>, manifolds: &Manifolds<S>, number: u32) -> Self {
        let manifold = manifolds.manifold(number);
        let force = |k: usize| manifolds.records.force::<S>(number, k)[0];
        let load: f64 = (0..manifold.count).map(force).sum();
        let stopped = load * self.dt / shared_mass(bodies, manifold.a, manifold.b);
        Self {
            least: self.least.max(stopped.min(self.fall.length())),
            early: if load > 0.0 { -self.least } else { self.early },
            ..*self
        }
    }

    /// What a step of free fall adds to the speed at which two bodies part along `normal`, m/s.
    pub(super) fn fallen(&self, bodies: &Bodies<S>, ends: [usize; 2], normal: S::Vector) -> f64 {
        let [a, b] = ends.map(|k| f64::from(u8::from(bodies.is_dynamic(k))));
        normal.dot(self.fall) * (b - a)
    }
}

/// Which bodies touch.
pub(crate) struct Web<'a, S: Space> {
    pub(crate) manifolds: &'a Manifolds<S>,
    pub(crate) graph: &'a Graph,
}

impl<S: Space> Web<'_, S> {
    /// Manifolds of a body whose hits are dealt with here.
    fn manifolds_of(&self, body: u32, links: &Links<S>) -> impl Iterator<Item = u32> {
        let is_own = !links.leaves_blows(body as usize);
        let touching = self.graph.manifolds_of(body as usize);
        touching
            .filter(move |&(_, other, _)| is_own && !links.leaves_blows(other as usize))
            .map(|(record, ..)| record - 1)
    }
}

/// What hit a manifold.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Impact<S: Space> {
    manifold: u32,
    /// Impulse on B at each point, N·s.
    pub(crate) impulse: [S::Vector; MOST],
    /// Speed at which each point must part, if it bounced, m/s.
    pub(crate) rebound: [Option<f64>; MOST],
}

/// The impacts of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Impacts<S: Space> {
    /// In the order of manifolds.
    list: Vec<Impact<S>>,
    /// Bodies that took part in impacts, ascending, and their motion before.
    before: Vec<(u32, Motion<S>)>,
    /// Bodies and what joints changed of their motion.
    #[serde(skip)]
    tugs: Vec<(u32, Motion<S>)>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    answers: Answers<S>,
}

/// How bodies that took part in impacts answer.
#[derive(Clone, Debug)]
struct Answers<S: Space> {
    /// Whether a body was hit in this step.
    is_known: Vec<bool>,
    /// How it answers; of other bodies anything.
    of: Vec<Answer<S>>,
    /// How far it is from where its new motion takes it, since it was hit later than at the start
    /// of the step, m and rad.
    late: Vec<Motion<S>>,
}

impl<S: Space> Answers<S> {
    fn lists(&mut self) -> Answering<'_, S> {
        (&self.of, &mut self.late)
    }
}

impl<S: Space> Default for Answers<S> {
    fn default() -> Self {
        Self {
            is_known: Vec::new(),
            of: Vec::new(),
            late: Vec::new(),
        }
    }
}

/// Lists that are kept for their memory.
#[derive(Clone, Debug, Default)]
struct Scratch {
    is_struck: Vec<bool>,
    /// Manifolds to be looked at, ascending, and a bit for each.
    active: Vec<u32>,
    is_active: Vec<u64>,
    struck: Vec<u32>,
    /// Where the impact of each manifold is in the list; `NONE` for those without.
    strike_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<S: Space> Default for Impacts<S> {
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

impl<S: Space> Impacts<S> {
    /// What hit a manifold in the last step.
    pub(crate) fn of(&self, manifold: u32) -> Option<&Impact<S>> {
        let at = self.list.binary_search_by_key(&manifold, |s| s.manifold);
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

    /// A part of how far a body is from where its new motion takes it, m and rad.
    pub(crate) fn late_by(&self, body: usize, part: f64) -> Motion<S> {
        if self.before.is_empty() || !self.answers.is_known.get(body).is_some_and(|&is| is) {
            return Motion::default();
        }
        let late = &self.answers.late[body];
        Motion {
            linear: late.linear * part,
            spin: late.spin * part,
        }
    }

    /// Calls `f` with bodies and what joints changed of their motion in impacts.
    pub(crate) fn for_each_tug(&self, mut f: impl FnMut(usize, &Motion<S>)) {
        for (body, change) in &self.tugs {
            f(*body as usize, change);
        }
    }

    /// Lets whatever is about to hit something hit it: `first` are the manifolds, ascending, that
    /// may be about to.
    pub(crate) fn impact(
        &mut self,
        struck: &mut HitBodies<'_, S>,
        web: &Web<'_, S>,
        law: &ImpactRule<S>,
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
                let manifold = web.manifolds.manifold(number);
                // Loaded or not, a contact passes on what hits it.
                let law = match sweep {
                    0 => law.loaded(struck.bodies, web.manifolds, number),
                    _ => *law,
                };
                if let Some(impact) = self.strike_manifold(struck, manifold, number, &law) {
                    self.add(&impact, &mut scratch.strike_of);
                    let ends = [manifold.a, manifold.b];
                    scratch.note(ends, struck.links);
                    visits += struck.links.effort(ends.map(|k| k as usize));
                }
            }
            scratch.follow(web, struck.links);
        }
        self.scratch = scratch;
        self.before.sort_unstable_by_key(|b| b.0);
        for impact in &self.list {
            self.scratch.strike_of[impact.manifold as usize] = NONE;
        }
        self.list.sort_unstable_by_key(|impact| impact.manifold);
        self.settle_rebounds(struck.bodies, web.manifolds, law);
        let tugs = &mut self.tugs;
        struck
            .links
            .finish_blows(law.dt, |body, change| tugs.push((body as u32, *change)));
    }

    /// Forgets the bodies that took part in impacts.
    fn forget(&mut self) {
        for (body, _) in self.before.drain(..) {
            if let Some(is_known) = self.answers.is_known.get_mut(body as usize) {
                *is_known = false;
                self.answers.late[body as usize] = Motion::default();
            }
        }
    }

    /// Remembers what two bodies, and all that joints tie to them, were like before they were hit,
    /// and gets them ready for it.
    fn know(&mut self, struck: &mut HitBodies<'_, S>, ends: [u32; 2]) {
        let (bodies, links) = (&*struck.bodies, &*struck.links);
        let known = self.answers.is_known.len();
        if known < bodies.len() {
            self.answers.is_known.resize(bodies.len(), false);
            let new = (known..bodies.len()).map(|k| Answer {
                inv_mass: bodies.inertial[k].inv_mass,
                inv_inertia: bodies.inertial[k].inv_inertia,
            });
            self.answers.of.extend(new);
            self.answers.late.resize(bodies.len(), Motion::default());
        }
        let mut know = |body: u32| {
            let k = body as usize;
            if !std::mem::replace(&mut self.answers.is_known[k], true) {
                self.before.push((body, bodies.motion[k]));
                // What joints tie answers with its linkage.
                if !links.ties_body(k) {
                    self.answers.of[k] = Answer {
                        inv_mass: bodies.inertial[k].inv_mass,
                        inv_inertia: bodies.world_inv_inertia(k),
                    };
                }
            }
        };
        ends.into_iter().for_each(&mut know);
        let ends = ends.map(|k| k as usize);
        links.for_each_shaken(ends, know);
        struck.links.brace(struck.bodies, ends);
    }

    /// Where hits follow each other, what a point parts with in the end is what its law asks for.
    fn settle_rebounds(
        &mut self,
        bodies: &Bodies<S>,
        manifolds: &Manifolds<S>,
        law: &ImpactRule<S>,
    ) {
        for impact in &mut self.list {
            let manifold = manifolds.manifold(impact.manifold);
            for (point, rebound) in manifold.points.iter().zip(&mut impact.rebound) {
                if let Some(speed) = rebound {
                    let ends = [manifold.a as usize, manifold.b as usize];
                    let arms = ends.map(|k| point.position - bodies.position[k]);
                    let parting = point.normal.dot(velocity(bodies, ends, arms));
                    *speed = (parting + law.fallen(bodies, ends, point.normal)).max(0.0);
                }
            }
        }
    }

    /// Adds a impact to those that hit the same manifold before.
    fn add(&mut self, next: &Impact<S>, strike_of: &mut Vec<u32>) {
        let manifold = next.manifold as usize;
        if strike_of.len() <= manifold {
            strike_of.resize(manifold + 1, NONE);
        }
        match self.list.get_mut(strike_of[manifold] as usize) {
            Some(impact) => {
                for k in 0..MOST {
                    impact.impulse[k] += next.impulse[k];
                    impact.rebound[k] = next.rebound[k].or(impact.rebound[k]);
                }
            }
            None => {
                strike_of[manifold] = self.list.len() as u32;
                self.list.push(*next);
            }
        }
    }

    /// Lets the points of a manifold hit: first all that do as one, in their middle, so that what comes
    /// flat is not turned; then one after the other.
    fn strike_manifold(
        &mut self,
        struck: &mut HitBodies<'_, S>,
        manifold: &Manifold<S>,
        number: u32,
        law: &ImpactRule<S>,
    ) -> Option<Impact<S>> {
        let mut impact = Impact {
            manifold: number,
            impulse: [S::Vector::default(); MOST],
            rebound: [None; MOST],
        };
        let points = &manifold.points[..manifold.count];
        let late = &self.answers.late;
        let hits =
            |k: usize| Closing::of((struck.bodies, late), manifold, &points[k], law).hits(law);
        let is_hit: [bool; MOST] = std::array::from_fn(|k| k < points.len() && hits(k));
        let hitting = || (0..MOST).filter(|&k| is_hit[k]);
        let count = hitting().count();
        if count == 0 {
            return None;
        }
        self.know(struck, [manifold.a, manifold.b]);
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
                impact_point((struck, self.answers.lists()), manifold, &middle, law)
            {
                for k in hitting() {
                    impact.impulse[k] = impulse * part;
                    impact.rebound[k] = rebound;
                }
            }
        }
        for (k, point) in points.iter().enumerate() {
            if let Some((impulse, rebound)) =
                impact_point((struck, self.answers.lists()), manifold, point, law)
            {
                impact.impulse[k] += impulse;
                impact.rebound[k] = rebound.or(impact.rebound[k]);
            }
        }
        Some(impact)
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

    /// Goes on to the manifolds of the bodies that took part in impacts.
    fn follow<S: Space>(&mut self, web: &Web<'_, S>, links: &Links<S>) {
        self.active.clear();
        for body in self.struck.drain(..) {
            self.is_struck[body as usize] = false;
            for manifold in web.manifolds_of(body, links) {
                let (word, bit) = (manifold as usize / 64, 1 << (manifold % 64));
                if self.is_active.len() <= word {
                    self.is_active.resize(word + 1, 0);
                }
                if self.is_active[word] & bit == 0 {
                    self.is_active[word] |= bit;
                    self.active.push(manifold);
                }
            }
        }
        self.tidy();
    }

    /// Brings what is active into the order of manifolds, and takes the bits away.
    fn tidy(&mut self) {
        if self.active.len() < self.is_active.len() {
            self.active.sort_unstable();
            for &manifold in &self.active {
                self.is_active[manifold as usize / 64] = 0;
            }
            return;
        }
        self.active.clear();
        for (word, bits) in self.is_active.iter_mut().enumerate() {
            while *bits != 0 {
                self.active.push(64 * word as u32 + bits.trailing_zeros());
                *bits &= *bits - 1;
            }
        }
    }
}
