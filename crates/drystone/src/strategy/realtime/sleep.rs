//! Sleep of islands that have been still for a while.
//!
//! Bodies that touch, or that a joint ties together, form an **island**. An island falls asleep
//! when all of its bodies have been slower than a threshold for long enough, and wakes as a whole:
//! when something awake touches it, when a joint or a body of it is changed or taken away, when a
//! force is put on it, or when the world is changed as a whole. A body with a standing push and one
//! that touches something scripted that moves never fall asleep, so nothing sleeps in the air.

use crate::geometry::Space;
use crate::math::algebra::Linear;
use crate::math::union_find::UnionFind;
use crate::model::body::{Bodies, Kind, Motion};
use serde::{Deserialize, Serialize};

/// Who sleeps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sleep {
    /// How long each body has been still, s.
    calm: Vec<f64>,
    /// Island of each body that sleeps: its lowest body.
    island: Vec<Option<u32>>,
    sleepers: u32,
}

impl Sleep {
    /// Makes room for new bodies, which are awake.
    pub(crate) fn grow(&mut self, bodies: usize) {
        self.calm.resize(bodies, 0.0);
        self.island.resize(bodies, None);
    }

    pub(crate) fn is_asleep(&self, body: usize) -> bool {
        self.island.get(body).is_some_and(Option::is_some)
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let asleep = self.island.iter().flatten();
        self.calm.len() <= bodies
            && self.island.len() == self.calm.len()
            && asleep.clone().count() == self.sleepers as usize
            && asleep.into_iter().all(|&k| (k as usize) < bodies)
    }

    /// Wakes a body and its island; whether any slept.
    pub(crate) fn wake(&mut self, body: usize) -> bool {
        if let Some(calm) = self.calm.get_mut(body) {
            *calm = 0.0;
        }
        let Some(Some(island)) = self.island.get(body).copied() else {
            return false;
        };
        for k in island as usize..self.island.len() {
            if self.island[k] == Some(island) {
                self.island[k] = None;
                self.calm[k] = 0.0;
                self.sleepers -= 1;
            }
        }
        true
    }

    /// Wakes everybody; whether any slept.
    pub(crate) fn wake_all(&mut self) -> bool {
        self.calm.fill(0.0);
        self.island.fill(None);
        std::mem::take(&mut self.sleepers) > 0
    }

    /// Wakes what something awake touches; whether any slept. `ties` are pairs that touch.
    pub(crate) fn wake_touched<S: Space>(
        &mut self,
        bodies: &Bodies<S>,
        ties: impl Iterator<Item = [u32; 2]>,
    ) -> bool {
        if self.sleepers == 0 {
            return false;
        }
        let mut any = false;
        for ends in ties {
            let [a, b] = ends.map(|k| k as usize);
            for (one, other) in [(a, b), (b, a)] {
                let disturbs = bodies.is_dynamic(one) && !self.is_asleep(one) || moves(bodies, one);
                if disturbs && self.is_asleep(other) {
                    any |= self.wake(other);
                }
            }
        }
        any
    }

    /// Counts how long bodies have been still and puts islands to sleep; whether any fell asleep.
    pub(crate) fn settle<S: Space>(
        &mut self,
        bodies: &mut Bodies<S>,
        ties: impl Iterator<Item = [u32; 2]>,
        is_nudged: impl Fn(usize) -> bool,
        rule: &SleepRule,
    ) -> bool {
        let mut is_any_calm = false;
        for k in (0..bodies.len()).filter(|&k| bodies.is_dynamic(k)) {
            if self.is_asleep(k) {
                continue;
            }
            let motion = &bodies.motion[k];
            let turning = motion.spin.length();
            let turning = if turning > 0.0 {
                turning * bodies.radius[k]
            } else {
                0.0
            };
            let is_still = motion.linear.length() + turning < rule.speed;
            let calm = &mut self.calm[k];
            *calm = if is_still && bodies.pushes[k].is_empty() && !is_nudged(k) {
                *calm + rule.dt
            } else {
                0.0
            };
            is_any_calm |= *calm >= rule.after;
        }
        is_any_calm && self.put_to_sleep(bodies, ties, rule)
    }

    fn put_to_sleep<S: Space>(
        &mut self,
        bodies: &mut Bodies<S>,
        ties: impl Iterator<Item = [u32; 2]>,
        rule: &SleepRule,
    ) -> bool {
        let mut forest = UnionFind::new(bodies.len());
        for ends in ties {
            let [a, b] = ends.map(|k| k as usize);
            if bodies.is_dynamic(a) && bodies.is_dynamic(b) {
                forest.join(a as u32, b as u32);
            }
            for (one, other) in [(a, b), (b, a)] {
                if moves(bodies, one) {
                    self.calm[other] = 0.0;
                }
            }
        }
        let mut is_calm = vec![true; bodies.len()];
        let awake = |sleep: &Self, k: usize| bodies.is_dynamic(k) && !sleep.is_asleep(k);
        for k in (0..bodies.len()).filter(|&k| awake(self, k)) {
            let lead = forest.lowest(k as u32) as usize;
            is_calm[lead] &= self.calm[k] >= rule.after;
        }
        let mut fallen = Vec::new();
        for k in (0..bodies.len()).filter(|&k| awake(self, k)) {
            let lead = forest.lowest(k as u32);
            if is_calm[lead as usize] {
                fallen.push((k, lead));
            }
        }
        for &(k, lead) in &fallen {
            self.island[k] = Some(lead);
            self.sleepers += 1;
            bodies.motion[k] = Motion::default();
        }
        !fallen.is_empty()
    }
}

/// When bodies fall asleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SleepRule {
    /// Length of a step, s.
    pub(crate) dt: f64,
    /// After so many seconds.
    pub(crate) after: f64,
    /// Slower than this, m/s.
    pub(crate) speed: f64,
}

/// Whether a body follows a script and moves.
fn moves<S: Space>(bodies: &Bodies<S>, k: usize) -> bool {
    matches!(bodies.kind[k], Kind::Kinematic(_)) && bodies.motion[k] != Motion::default()
}
