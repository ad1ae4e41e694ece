//! Impacts on articulations: one impulse moves the whole linkage.
//!
//! What hits a body that joints tie moves all of its linkage. An impulse p on some of its bodies
//! and those of the joints together change velocities by
//!
//! $$ \Delta v = (1 - M^{-1}J^T S^{-1} J)\,M^{-1} p , \qquad S = J M^{-1} J^T , $$
//!
//! so that joints open no faster than before. Velocities that joints allow ([`super::velocity_projection`])
//! stay so, joints do no work, and an impulse along a contact's normal makes no more energy than it
//! does between two free bodies: none where it does not part faster than it came. Motors and
//! springs, whose forces are finite, have no say in an impact, and limits are left to the rounds.

use super::Links;
use super::linkage::Linkage;
use super::row::push_locks;
use super::warm_start::WarmStartRows;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Motion};

/// Where two bodies hit each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<S: Space> {
    /// Bodies A and B.
    pub(crate) ends: [usize; 2],
    /// From their centres of mass, m.
    pub(crate) arms: [S::Vector; 2],
}

impl<S: Space> Linkage<S> {
    /// Whether it is solved exactly.
    pub(super) fn is_direct(&self) -> bool {
        self.factors.is_some()
    }

    /// Gets ready for impacts: velocities are those that joints allow from here on.
    fn brace(&mut self, bodies: &mut Bodies<S>) {
        self.is_hit = true;
        self.begin(bodies);
        self.hold(bodies);
        self.x.copy_from_slice(&self.motion);
        self.close();
        self.impacts.copy_from_slice(&self.missing);
        for (&body, motion) in self.bodies.iter().zip(&self.x) {
            if bodies.is_dynamic(body as usize) {
                bodies.motion[body as usize] = *motion;
            }
        }
    }

    /// Works out in `x` what a unit impulse along `along` on B and its opposite on A change.
    fn respond(&mut self, spot: &Spot<S>, along: S::Vector) {
        let struck = spot
            .ends
            .map(|body| self.bodies.binary_search(&(body as u32)).ok());
        self.x.fill(Motion::default());
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            if let Some(k) = struck[side] {
                let turned = S::cross(spot.arms[side], along) * sign;
                self.x[k].linear += self.inverse_mass[k].scale(along) * sign;
                self.x[k].spin += S::apply_inertia(&self.inverse[k], turned);
            }
        }
        let is_struck = |place: u32| struck.contains(&Some(place as usize));
        for (row, missing) in self.rows[..self.locks].iter().zip(&mut self.missing) {
            *missing = 0.0;
            if is_struck(row.a) || is_struck(row.b) {
                *missing = -row.moved(&self.x);
            }
        }
        if let Some(factors) = &self.factors {
            factors.solve::<f64>(&mut self.missing);
        }
        push_locks((&self.rows, &self.blocks), &self.missing, &mut self.x);
    }

    /// Changes velocities by the last response times an impulse.
    fn take(&mut self, bodies: &mut Bodies<S>, impulse: f64) {
        for (&body, change) in self.bodies.iter().zip(&self.x) {
            if bodies.is_dynamic(body as usize) {
                let motion = &mut bodies.motion[body as usize];
                motion.linear += change.linear * impulse;
                motion.spin += change.spin * impulse;
            }
        }
        for (impact, response) in self.impacts.iter_mut().zip(&self.missing) {
            *impact += response * impulse;
        }
    }

    /// Calls `f` with bodies, and what impulses of its joints in impacts change of their motion.
    fn for_each_tug(&self, f: &mut impl FnMut(usize, &Motion<S>)) {
        for (row, &impact) in self.rows.iter().zip(&self.impacts) {
            for (end, moves, sign) in [
                (row.a, &row.moves_a, -impact),
                (row.b, &row.moves_b, impact),
            ] {
                let change = Motion {
                    linear: moves.linear * sign,
                    spin: moves.spin * sign,
                };
                f(self.bodies[end as usize] as usize, &change);
            }
        }
    }

    /// Remembers impulses as the forces they are on average over a step.
    fn remember_blows(&self, known: &mut WarmStartRows, dt: f64) {
        for joint in &self.joints {
            for (struck, &at) in known.struck_mut(joint.joint).iter_mut().zip(&joint.at) {
                *struck = self
                    .impacts
                    .get(at as usize)
                    .map_or(0.0, |impact| impact / dt);
            }
        }
    }
}

impl<S: Space> Links<S> {
    /// Forgets the impacts of the last step.
    pub(crate) fn forget_blows(&mut self) {
        self.known.forget_blows();
        for linkage in &mut self.linkages {
            linkage.is_hit = false;
        }
    }

    /// The linkages of two bodies, once if it is the same.
    fn linkages_of(&self, ends: [usize; 2]) -> impl Iterator<Item = usize> + use<S> {
        let [a, b] = ends.map(|k| self.linkage_of.get(k).copied().flatten());
        let other = b.filter(|_| a != b);
        a.into_iter().chain(other).map(|k| k as usize)
    }

    /// Calls `f` with all bodies that an impact on two bodies moves besides themselves.
    pub(crate) fn for_each_shaken(&self, ends: [usize; 2], mut f: impl FnMut(u32)) {
        for k in self.linkages_of(ends) {
            self.linkages[k].bodies.iter().for_each(|&body| f(body));
        }
    }

    /// How much work an impact on two bodies is, compared with one on free bodies.
    pub(crate) fn effort(&self, ends: [usize; 2]) -> usize {
        const LOCKS: usize = 8;
        let locks = self.linkages_of(ends).map(|k| self.linkages[k].locks);
        locks.sum::<usize>() / LOCKS
    }

    /// Gets the linkages of two bodies ready for their first impact in a step.
    pub(crate) fn brace(&mut self, bodies: &mut Bodies<S>, ends: [usize; 2]) {
        for k in self.linkages_of(ends) {
            if !self.linkages[k].is_hit {
                self.linkages[k].brace(bodies);
            }
        }
    }

    /// Works out what a unit impulse along `along` on B and its opposite on A change of the motion
    /// of each of the two that joints tie.
    pub(crate) fn respond(&mut self, spot: &Spot<S>, along: S::Vector) -> [Option<Motion<S>>; 2] {
        for k in self.linkages_of(spot.ends) {
            self.linkages[k].respond(spot, along);
        }
        spot.ends.map(|body| {
            let linkage = self.linkage_of.get(body).copied().flatten()?;
            let linkage = &self.linkages[linkage as usize];
            let place = linkage.bodies.binary_search(&(body as u32)).ok()?;
            Some(linkage.x[place])
        })
    }

    /// Changes velocities by what was worked out last, times an impulse.
    pub(crate) fn take(&mut self, bodies: &mut Bodies<S>, ends: [usize; 2], impulse: f64) {
        for k in self.linkages_of(ends) {
            self.linkages[k].take(bodies, impulse);
        }
    }

    /// Remembers what impacts did in a step of `dt` seconds, and calls `f` with bodies and what
    /// joints changed of their motion.
    pub(crate) fn finish_blows(&mut self, dt: f64, mut f: impl FnMut(usize, &Motion<S>)) {
        for linkage in self.linkages.iter().filter(|linkage| linkage.is_hit) {
            linkage.remember_blows(&mut self.known, dt);
            linkage.for_each_tug(&mut f);
        }
    }
}
