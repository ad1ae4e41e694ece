//! Which strategies serve a world, and the steps of those that watch motion.

use super::{Phase, StepError, StepReport, World};
use crate::contact::joint_contacts::unheld_angle;
#[cfg(test)]
use crate::contact::primitives::Search;
use crate::contact::primitives::{Failure, Poses, Primitives, Reach};
use crate::contact::problem::assemble::assemble;
use crate::contact::problem::impact_law::ImpactLaw;
use crate::contact::rules::PairRules;
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::dynamics::integrate;
use crate::geometry::space::Space;
use crate::judge::law::Answered;
use crate::judge::{Certificate, Ledger, Solved, certify};
use crate::math::algebra::Components;
use crate::model::body::{Kind, Motion};
use crate::model::deformable::Soft;
use crate::model::deformable::attachment::Attachment;
use crate::model::joint::JointKind;
use crate::model::material::MaterialId;
use crate::parallel::thread_pool;
use crate::strategy::barrier;
use crate::strategy::barrier::{Barrier, Evidence};
use crate::strategy::ccd;
use crate::strategy::ccd::{Impacts, Outcome};
use crate::strategy::penalty;
use crate::strategy::penalty::Penalty;
use crate::strategy::settings::{Feature, Settings, Strategy};
use std::cell::RefCell;
use std::collections::BTreeSet;

impl<S: Space> World<S> {
    /// Whether the strategy serves everything that the world has. Every step asks this; ask it
    /// before the first to hear of it in time.
    pub fn check_strategy(&self) -> Result<(), StepError> {
        let strategy = &self.settings.strategy;
        self.unserved(strategy).map_or(Ok(()), |(feature, of)| {
            let served = |name: &&str| {
                let other = Strategy::named(name);
                other.is_some_and(|other| self.unserved(&other).is_none())
            };
            Err(StepError::Unserved {
                strategy: strategy.name(),
                feature,
                of,
                others: Strategy::NAMES.into_iter().filter(served).collect(),
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

    /// Whether a step can start from where bodies stand: strategies that watch motion need gaps
    /// everywhere. Every step asks this; ask it before the first to hear of it in time.
    pub fn check_start(&self) -> Result<(), StepError> {
        let watches = matches!(
            self.settings.strategy,
            Strategy::Barrier(_) | Strategy::Parallel(_) | Strategy::Sequential(_)
        );
        if !watches {
            return Ok(());
        }
        let primitives = Primitives::new(&self.bodies, &self.deformables);
        let reach = Reach {
            bodies: &self.bodies,
            rules: &self.pair_rules(),
            distance: 0.0,
        };
        let apart = primitives.check_apart(&reach);
        apart.map_err(|failure| self.failed(failure))
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

    pub(super) fn step_barrier(&mut self, options: &Barrier) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        let (free, mut ledger) = self.apply_forces();
        let evidence = barrier::step(&barrier::Start {
            bodies: &self.bodies,
            deformables: &self.deformables,
            rules: &self.pair_rules(),
            options,
            free: &free,
            dt,
        })
        .map_err(|failure| self.failed(failure))?;
        evidence.enter(&mut ledger);
        self.arrive(evidence.end(&self.bodies))?;
        let answered = evidence.answered(&self.bodies, &free, dt);
        let Evidence {
            contacts, report, ..
        } = evidence;
        self.solved = contacts;
        let certificate = self.judge(Some(&answered), &ledger);
        let contacts = self.solved.len();
        self.last = Some(answered);
        Ok(StepReport {
            step: self.step,
            contacts,
            solve: report,
            certificate,
            ..StepReport::default()
        })
    }

    pub(super) fn step_impacts(
        &mut self,
        options: &Impacts,
        watch: &mut dyn FnMut(Phase),
    ) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        let strategy = self.settings.strategy;
        let is_judged = self.samples(self.step + 1);
        integrate::steer(&mut self.bodies, self.time, dt);
        let (mut free, mut ledger) = self.apply_forces();
        let (primitives, guess) = self.surfaces_and_guess();
        watch(Phase::Detection);
        let rule = self.rule(match strategy {
            Strategy::Parallel(_) => Effort::Brisk,
            _ => Effort::Full,
        });
        let attached: Vec<Attachment> = self.deformables.attached().copied().collect();
        let around = (&self.bodies, &guess[..]);
        let mut elastic = Elastic::guessed(&mut self.deformables, around, &mut free, rule, &[])
            .map_err(StepError::Elastic)?;
        watch(Phase::Elastic);
        let trees = RefCell::new(std::mem::take(&mut *self.trees));
        let memory = RefCell::new(std::mem::take(&mut *self.memory));
        let mut start = ccd::Start {
            bodies: &self.bodies,
            // Not `pair_rules`: the deformables are lent out.
            rules: &PairRules {
                materials: &self.materials,
                hooks: self.hooks.0.as_deref(),
                apart: self.joints.apart(),
            },
            options,
            settings: &self.settings,
            free,
            solved: &self.solved,
            attached: &attached,
            is_judged,
            trees: &trees,
            memory: &memory,
        };
        let outcome = match strategy {
            Strategy::Sequential(_) => ccd::sequential(&mut start, &primitives, &mut elastic),
            _ => ccd::parallel(&start, &primitives, &mut elastic, watch),
        };
        if let Ok(outcome) = &outcome {
            elastic.enter(
                &mut ledger,
                &self.bodies,
                &outcome.motion,
                Some(&start.free),
            );
        }
        (*self.trees, *self.memory) = (trees.into_inner(), memory.into_inner());
        let outcome = outcome.map_err(|failure| self.failed(failure))?;
        self.arrive(outcome.end)?;
        watch(Phase::Motion);
        let Outcome {
            contacts,
            answered,
            solve,
            resolution,
            ..
        } = outcome;
        self.memory.contacts = std::mem::replace(&mut self.solved, contacts);
        let certificate = self.judge(answered.as_ref(), &ledger);
        self.last = answered;
        Ok(StepReport {
            step: self.step,
            contacts: self.solved.len(),
            solve,
            certificate,
            resolution,
            ..StepReport::default()
        })
    }

    /// All surfaces, and a guess of the velocities that elastic forces lead to.
    fn surfaces_and_guess(&self) -> (Primitives<S>, Vec<Motion<S>>) {
        let (bodies, deformables, solved) = (&self.bodies, &self.deformables, &self.solved);
        thread_pool::both(
            self.settings.threads as usize,
            || Primitives::new(bodies, deformables),
            || ccd::without_contact(bodies, solved),
        )
    }

    pub(super) fn step_penalty(&mut self, options: &Penalty) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        self.refresh_contacts();
        let (mut free, mut ledger) = self.apply_forces();
        let rule = self.rule(Effort::Full);
        let elastic = Elastic::new(&mut self.deformables, &self.bodies, &mut free, rule, &[])
            .map_err(StepError::Elastic)?;
        let assembled = assemble(
            &self.bodies,
            &self.contacts,
            free,
            dt,
            &self.settings.contact,
        );
        let impulses = penalty::impulses(options, &self.bodies, &self.contacts, &assembled);
        let velocities = assembled.problem.velocities(&impulses).motion;
        elastic.enter(&mut ledger, &self.bodies, &velocities, None);
        self.advance_unheld(&velocities)?;
        self.keep_impulses(&assembled, &impulses);
        let answered = Answered {
            assembled,
            impulses,
            reached: None,
        };
        let certificate = self.judge(Some(&answered), &ledger);
        let contacts = answered.impulses.local.len();
        self.last = Some(answered);
        Ok(StepReport {
            step: self.step,
            contacts,
            certificate,
            ..StepReport::default()
        })
    }

    /// Velocities after the forces of the coming step but elastic ones, and what they did.
    pub(super) fn apply_forces(&self) -> (Vec<Motion<S>>, Ledger<S>) {
        let Settings {
            gravity,
            dt,
            threads,
            ..
        } = self.settings;
        integrate::apply_forces(&self.bodies, gravity, (self.time, dt), threads)
    }

    /// Moves bodies by their velocities and the clock, or nothing at all.
    fn advance_unheld(&mut self, velocities: &[Motion<S>]) -> Result<(), StepError> {
        let good = self.bodies.state();
        let end = self.end_of_step();
        integrate::advance(&mut self.bodies, velocities, end, self.settings.dt);
        self.accept_unheld(&good)
    }

    /// Puts every body where its step ends, and moves the clock, or nothing at all.
    fn arrive(&mut self, mut end: Poses<S>) -> Result<(), StepError> {
        let time = self.end_of_step();
        let bodies = &mut self.bodies;
        for k in (0..bodies.len()).filter(|&k| !bodies.is_dynamic(k)) {
            let (mut position, mut rotation) = (bodies.position[k], bodies.rotation[k]);
            if let Kind::Kinematic(script) = &bodies.kind[k] {
                let pose = script.pose(&bodies.start[k], time);
                (position, rotation) = (pose.position, pose.rotation);
            }
            (end.position[k], end.rotation[k]) = (position, rotation);
            end.motion[k] = bodies.motion[k];
        }
        let good = bodies.replace(end.position, end.rotation, end.motion);
        self.accept_unheld(&good)
    }

    /// Finds the contacts at the new poses and lets the judge look, if this step is sampled.
    fn judge(&mut self, answered: Option<&Answered<S>>, ledger: &Ledger<S>) -> Option<Certificate> {
        let Some(answered) = answered.filter(|_| self.is_sampled()) else {
            self.changes.all = true;
            return None;
        };
        self.find_contacts();
        let certificate = certify(
            &self.bodies,
            &self.contacts,
            &Solved {
                contacts: &self.solved,
                assembled: &answered.assembled,
                impulses: &answered.impulses,
                nudges: None,
                reached: answered.reached.as_ref(),
            },
            ledger,
        );
        Some(Certificate {
            step: self.step,
            ..certificate
        })
    }

    /// What failed, by the names of bodies.
    fn failed(&self, failure: Failure<S>) -> StepError {
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
            Failure::Numbers => StepError::NotFinite {
                body: integrate::first_not_finite(&self.bodies)
                    .map_or_else(|| "a body".to_owned(), |k| self.bodies.name(k).to_owned()),
                step: self.step + 1,
                time,
            },
        }
    }
}

#[cfg(test)]
impl<S: Space> World<S> {
    /// Lends all surfaces where bodies stand.
    pub(crate) fn look_at_surfaces(&self, look: impl FnOnce(&Primitives<S>, &Search<'_, S>)) {
        let primitives = Primitives::new(&self.bodies, &self.deformables);
        let still = vec![Motion::default(); self.bodies.len()];
        let start = primitives.places(&self.bodies, &still);
        let search = Search {
            reach: Reach {
                bodies: &self.bodies,
                rules: &self.pair_rules(),
                distance: 1e-3,
            },
            start: &start,
            threads: 1,
        };
        look(&primitives, &search);
    }
}
