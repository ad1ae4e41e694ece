//! Which strategies serve a world, and the steps of those that watch motion.

use super::{StepError, StepReport, World};
use crate::barrier::{self, Barrier, Evidence, Failure, Start};
use crate::body::{Kind, Motion};
use crate::certify::law::Answered;
use crate::certify::{Certificate, Ledger, Solved, certify};
use crate::integrate;
use crate::material::MaterialId;
use crate::settings::{Feature, Strategy};
use crate::shape::Geometry;
use crate::space::{Components, Space};
use drystone_frame::Form;
use std::collections::BTreeSet;

impl<S: Space> World<S> {
    /// Whether the strategy serves everything that the world has. Every step asks this; ask it
    /// before the first to hear of it in time.
    pub fn check_strategy(&self) -> Result<(), StepError> {
        let strategy = &self.settings.strategy;
        if !self.joints.is_empty() && strategy.refuses(Feature::Joints) {
            return Err(StepError::JointsNeedSubstep);
        }
        let refuse = |feature: Feature, found: Option<String>| match found {
            Some(of) if strategy.refuses(feature) => Err(StepError::Unserved {
                strategy: strategy.name(),
                feature,
                of,
            }),
            _ => Ok(()),
        };
        let soft = self.deformables.iter().next();
        refuse(Feature::Deformables, soft.map(|s| format!(" (`{}`)", s.name)))?;
        if matches!(strategy, Strategy::Velocity | Strategy::Substep(_)) {
            return Ok(());
        }
        refuse(Feature::Hooks, self.hooks.0.as_ref().map(|_| String::new()))?;
        refuse(Feature::OneWay, self.find(|w, k| w.bodies.one_way[k].is_some()))?;
        refuse(Feature::Cylinders, self.find(|w, k| w.has_cylinders(k)))?;
        refuse(Feature::Restitution, self.bouncing())
    }

    /// The first body that is such, in words.
    fn find(&self, is_such: impl Fn(&Self, usize) -> bool) -> Option<String> {
        let present = (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k));
        let first = present.into_iter().find(|&k| is_such(self, k))?;
        Some(format!(" (`{}`)", self.bodies.name(first)))
    }

    fn has_cylinders(&self, k: usize) -> bool {
        // Balls are most of what there is and have no parts to look at.
        let shape = &self.bodies.shape[k];
        let is_round = |form: &Form| matches!(form, Form::Cylinder { .. } | Form::Cone { .. });
        !self.bodies.is_sensor[k]
            && shape.ball_radius().is_none()
            && shape.parts().iter().any(|part| is_round(&part.form))
    }

    /// Two materials in use that bounce off each other, in words.
    fn bouncing(&self) -> Option<String> {
        let present = (0..self.bodies.len()).filter(|&k| self.bodies.is_present(k));
        let used: BTreeSet<MaterialId> = present.map(|k| self.bodies.material[k]).collect();
        for &a in &used {
            for &b in used.range(a..) {
                let e = self.materials.between(a, b).restitution;
                if e > 0.0 {
                    let body = self.find(|w, k| [a, b].contains(&w.bodies.material[k]));
                    return Some(format!("{}: e = {e}", body.unwrap_or_default()));
                }
            }
        }
        None
    }

    pub(super) fn step_barrier(&mut self, options: &Barrier) -> Result<StepReport, StepError> {
        let dt = self.settings.dt;
        integrate::steer(&mut self.bodies, self.time, dt);
        let (free, mut ledger) =
            integrate::apply_forces(&self.bodies, self.settings.gravity, self.time, dt);
        let evidence = barrier::step(&Start {
            bodies: &self.bodies,
            deformables: &self.deformables,
            rules: &self.pair_rules(),
            options,
            free: &free,
            dt,
        })
        .map_err(|failure| self.failed(failure))?;
        evidence.enter(&mut ledger);
        self.go(&evidence.way, &evidence.reached)?;
        let answered = evidence.answered(&self.bodies, &free, dt);
        let Evidence {
            contacts, report, ..
        } = evidence;
        self.solved = contacts;
        let certificate = self.judge(&answered, &ledger);
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

    /// Moves every body its way (m and rad) and the clock, or nothing at all. Spins come in terms
    /// of the inertia at the start.
    fn go(&mut self, way: &[Motion<S>], reached: &[Motion<S>]) -> Result<(), StepError> {
        let good = self.bodies.state();
        let end = self.end_of_step();
        for k in 0..self.bodies.len() {
            match &self.bodies.kind[k] {
                Kind::Fixed => {}
                Kind::Kinematic(script) => {
                    let pose = script.pose(&self.bodies.start[k], end);
                    self.bodies.position[k] = pose.position;
                    self.bodies.rotation[k] = pose.rotation;
                }
                Kind::Particle => {
                    self.bodies.motion[k].linear = reached[k].linear;
                    self.bodies.position[k] += way[k].linear;
                }
                Kind::Rigid => {
                    let before = self.bodies.rotation[k];
                    let after = S::turn(before, way[k].spin);
                    let spin = self.bodies.carried_spin(k, (before, after), reached[k].spin);
                    self.bodies.motion[k] = Motion {
                        linear: reached[k].linear,
                        spin,
                    };
                    self.bodies.position[k] += way[k].linear;
                    self.bodies.rotation[k] = after;
                }
            }
        }
        self.accept_unheld(&good)
    }

    /// Finds the contacts at the new poses and lets the judge look, if this step is sampled.
    fn judge(&mut self, answered: &Answered<S>, ledger: &Ledger<S>) -> Option<Certificate> {
        if !self.is_sampled() {
            self.changes.all = true;
            return None;
        }
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
            Failure::Shape(body, _) => StepError::Unserved {
                strategy,
                feature: Feature::Cylinders,
                of: format!(" (`{}`)", self.bodies.name(body)),
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
