//! Checks whether a strategy serves a world, and errors of steps.

use super::{StepError, World};
use crate::contact::primitives::{Primitives, Reach};
use crate::contact::problem::impact_law::ImpactLaw;
use crate::dynamics::integrate;
use crate::dynamics::joint_contacts::unheld_angle;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::deformable::Soft;
use crate::model::joint::JointKind;
use crate::model::material::MaterialId;
use crate::strategy::Strategy;
use crate::strategy::profile::Feature;
use crate::strategy::step::Failure;
use std::collections::BTreeSet;

impl<S: Space> World<S> {
    /// Does [`World::check_strategy`].
    pub(super) fn find_unserved(&self) -> Result<(), StepError> {
        let strategy = &self.settings.strategy;
        self.unserved(strategy).map_or(Ok(()), |(feature, of)| {
            let all = Strategy::all();
            let served = all.iter().filter(|other| self.unserved(other).is_none());
            Err(StepError::Unserved {
                strategy: strategy.name(),
                feature,
                of,
                others: served.map(Strategy::name).collect(),
            })
        })
    }

    /// What the world has that a strategy does not serve, and what has it, in words.
    fn unserved(&self, strategy: &Strategy) -> Option<(Feature, String)> {
        let named = |name: Option<&String>| name.map(|name| format!(" (`{name}`)"));
        let joint = |is_such: &dyn Fn(&JointKind) -> bool| {
            let mut such = self.joints.iter().filter(|(_, j)| is_such(&j.kind));
            named(such.next().map(|(_, joint)| &joint.name))
        };
        let soft = |is_such: &dyn Fn(&Soft) -> bool| {
            let mut such = self.deformables.iter().filter(|s| is_such(s));
            named(such.next().map(|soft| &soft.name))
        };
        let reflects = self.settings.contact.impact == ImpactLaw::Reflection;
        let found = |feature: Feature| match feature {
            Feature::Joints => joint(&|_| true),
            Feature::UnheldAngles => joint(&unheld_angle::<S>),
            Feature::Deformables => soft(&|_| true),
            Feature::PinnedAttachments => self.pinned_attachment(),
            Feature::Hooks => self.hooks.0.as_ref().map(|_| String::new()),
            Feature::OneWay => self.find(|k| self.bodies.one_way[k].is_some()),
            Feature::Restitution => self.bouncing(),
            Feature::Reflection => reflects.then(String::new),
            Feature::Symplectic => None,
        };
        let refused = Feature::ALL.into_iter().filter(|f| strategy.refuses(*f));
        let mut refused = refused.filter_map(|f| Some((f, found(f)?)));
        // Reflections know contacts that push; a joint holds from both sides.
        let mixed = || {
            let joint = reflects.then(|| joint(&|_| true))??;
            Some((
                Feature::Reflection,
                format!(" in a world with joints{joint}"),
            ))
        };
        refused.next().or_else(mixed)
    }

    /// Does [`World::check_start`].
    pub(super) fn find_overlap(&self) -> Result<(), StepError> {
        if !self.settings.strategy.watches_motion() {
            return Ok(());
        }
        let primitives = Primitives::new(&self.bodies, &self.deformables);
        let reach = Reach {
            bodies: &self.bodies,
            rules: &self.pair_rules(),
            distance: 0.0,
        };
        let apart = primitives.check_apart(&reach);
        apart.map_err(|failure| self.failed(failure.into()))
    }

    /// A node that can't move and is attached to a body that can, in words.
    fn pinned_attachment(&self) -> Option<String> {
        let moves = |k: u32| self.bodies.is_dynamic(k as usize);
        let mut attached = self.deformables.attached();
        let held = attached.find(|a| moves(a.body) && !moves(a.node))?;
        let [node, body] = [held.node, held.body].map(|k| self.bodies.name(k as usize));
        Some(format!(" (`{node}` and `{body}`)"))
    }

    /// The first body that is such, in words.
    fn find(&self, is_such: impl Fn(usize) -> bool) -> Option<String> {
        let mut present = (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k));
        let first = present.find(|&k| is_such(k))?;
        Some(format!(" (`{}`)", self.bodies.name(first)))
    }

    /// Two materials in use that bounce off each other, in words.
    fn bouncing(&self) -> Option<String> {
        let present = (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k));
        let used: BTreeSet<MaterialId> = present.map(|k| self.bodies.material[k]).collect();
        for &a in &used {
            for &b in used.range(a..) {
                let e = self.materials.between(a, b).restitution;
                if e > 0.0 {
                    let body = self.find(|k| [a, b].contains(&self.bodies.material[k]));
                    return Some(format!("{}: e = {e}", body.unwrap_or_default()));
                }
            }
        }
        None
    }

    /// What failed, by the names of bodies.
    pub(super) fn failed(&self, failure: Failure<S>) -> StepError {
        let name = |k: u32| self.bodies.name(k as usize).to_owned();
        let strategy = self.settings.strategy.name();
        let time = self.time;
        match failure {
            Failure::Overlap([a, b], depth) => StepError::Overlap {
                a: name(a),
                b: name(b),
                depth,
                time,
                strategy,
            },
            Failure::Infeasible([a, b], place) => StepError::Infeasible {
                a: name(a),
                b: name(b),
                place: place.to_array3(),
                step: self.step + 1,
                time,
            },
            Failure::NotFinite(body) => StepError::NotFinite {
                body: body
                    .or_else(|| integrate::first_not_finite(&self.bodies))
                    .map_or_else(|| "a body".to_owned(), |k| self.bodies.name(k).to_owned()),
                step: self.step + 1,
                time,
            },
            Failure::OutOfRange(body, what) => StepError::OutOfRange {
                body: self.bodies.name(body).to_owned(),
                what,
                step: self.step + 1,
                time,
            },
            Failure::Elastic(name) => StepError::Elastic(name),
            Failure::Burst(burst) => StepError::EnergyMade {
                body: name(burst.body),
                made_j: burst.made_j,
                had_j: burst.had_j,
                step: self.step + 1,
                time,
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::contact::primitives::{Nearby, Search};
    use crate::geometry::ccd::broad_phase::BroadPhase;
    use crate::math::algebra::D3;
    use crate::model::body::Motion;

    /// Rooms once grew around the first aims, and pairs with them, until there was no memory left.
    #[test]
    fn what_is_pushed_about_has_no_more_room_than_it_strayed() {
        let mut world = crate::World3::reference();
        let mesh = crate::Mesh::<D3>::cloth([1.0, 1.0], [8, 8]);
        let cloth = crate::Deformable::new(mesh, crate::Substance::default());
        world.add_deformable(cloth).unwrap();
        let primitives = Primitives::new(&world.bodies, &world.deformables);
        let still = vec![Motion::default(); world.bodies.len()];
        let start = primitives.places(&world.bodies, &still);
        let search = Search {
            reach: Reach {
                bodies: &world.bodies,
                rules: &world.pair_rules(),
                distance: 1e-3,
            },
            start: &start,
            threads: 1,
        };
        let mut nearby = Nearby::default();
        let mut trees = BroadPhase::default();
        for round in 0..30 {
            // To and fro, farther than the sheet is wide.
            let off = [2.0, 0.0, -2.0, 0.3][round % 4];
            let ends: Vec<[f64; 3]> = start.iter().map(|&[x, y, z]| [x, y + off, z]).collect();
            nearby.cover(&primitives, &search, &ends, |_| 1e-3, &mut trees);
            assert!(nearby.aims == ends && nearby.rooms.iter().all(|&room| room < 2.1));
        }
    }
}
