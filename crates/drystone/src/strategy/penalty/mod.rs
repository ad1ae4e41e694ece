//! The strategy `penalty`: springs and dampers where bodies overlap.
//!
//! A contact of depth δ > 0 and normal velocity $u_N$ pushes with
//!
//! $$ f_N = \max(0,\; k\delta - c\,u_N), \qquad c = 2\zeta\sqrt{k\,m}, $$
//!
//! m being the mass that it moves, and rubs against the slip $u_T$ with $\mu f_N$, less where it
//! is slower than the slip speed: $f_T = -\mu f_N\,u_T/\max(|u_T|, v_s)$, and never so much that
//! the slip would turn round. Forces act over a step with the velocities at its start (symplectic
//! Euler).
//!
//! # What stiffness costs
//!
//! A mass m on a contact of stiffness k is an oscillator of $\omega = \sqrt{k/m}$, and symplectic
//! Euler is stable exactly for
//!
//! $$ h < \frac{2}{\omega} = 2\sqrt{m/k} \quad\text{(undamped)}, \qquad
//!    h < \frac{2}{\omega}\bigl(\sqrt{1+\zeta^2} - \zeta\bigr) \quad\text{(damped)}. $$
//!
//! At rest the overlap is mg/k: a tenth of the overlap needs ten times the stiffness and √10 times
//! the steps. Something k points thick that hits at speed v overlaps by $v/\omega$, and a thin or
//! fast body is out on the other side before that: **nothing is guaranteed**. Overlap and energy
//! show in the certificate. The lightest body sets the step, the heaviest the overlap: mass ratios
//! are what penalties are worst at.

use crate::contact::detection::Contact;
use crate::contact::problem::assemble::{Assembled, assemble};
use crate::contact::problem::{Impulses, tangential};
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::dynamics::elastic::systems::ElasticSystems;
use crate::dynamics::failsafe::Rescue;
use crate::geometry::Space;
use crate::judge::certificate::Solution;
use crate::judge::law::Answered;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Motion};
use crate::solver::SolveReport;
use crate::strategy::profile::{Feature, Options, Profile, SettingsError};
use crate::strategy::step::{Failure, Resolution, StepInput, StepOutput, Stepper};
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Options of the strategy `penalty`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// k of a contact point, N/m.
    pub stiffness: f64,
    /// ζ: damping over critical damping; 0 bounces, 1 does not.
    pub damping: f64,
    /// v_s: slip at which friction has its full strength, m/s.
    pub slip_speed: f64,
}

impl Default for Penalty {
    /// A kilogram overlaps by 0.1 mm and needs steps shorter than 6 ms · 0.41.
    fn default() -> Self {
        Self {
            stiffness: 1e5,
            damping: 1.0,
            slip_speed: 1e-2,
        }
    }
}

impl Penalty {
    /// The longest stable step for a contact that moves `mass` kg, s.
    #[must_use]
    pub fn critical_dt(&self, mass: f64) -> f64 {
        let zeta = self.damping;
        2.0 * (mass / self.stiffness).sqrt() * ((1.0 + zeta * zeta).sqrt() - zeta)
    }
}

/// What the strategy says of itself.
pub(crate) const PROFILE: Profile = Profile {
    name: "penalty",
    usual_dt: 1.0 / 1000.0,
    solver: Some("springs"),
    is_threaded: false,
    watches_motion: false,
    joints_are_contacts: false,
    keeps_contacts: false,
    refuses: &[
        Feature::Joints,
        Feature::UnheldAngles,
        Feature::Restitution,
        Feature::Reflection,
    ],
};

impl Options for Penalty {
    fn check(&self) -> Result<(), SettingsError> {
        for (field, value, may_be_zero) in [
            ("penalty.stiffness (N/m)", self.stiffness, false),
            ("penalty.damping", self.damping, true),
            ("penalty.slip_speed (m/s)", self.slip_speed, false),
        ] {
            if !(value.is_finite() && (value > 0.0 || may_be_zero && value == 0.0)) {
                return Err(SettingsError {
                    field,
                    expected: if may_be_zero {
                        "a finite number, 0 or more"
                    } else {
                        "a finite number greater than 0"
                    },
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }
}

/// The strategy `penalty` at work.
#[derive(Clone, Debug)]
pub(crate) struct PenaltyStepper {
    options: Penalty,
    systems: ElasticSystems,
}

impl PenaltyStepper {
    pub(crate) fn new(options: Penalty) -> Self {
        Self {
            options,
            systems: ElasticSystems::default(),
        }
    }
}

impl<S: Space> Stepper<S> for PenaltyStepper {
    fn set_options(&mut self, options: &dyn Any) -> bool {
        let own = options.downcast_ref().copied();
        self.options = own.unwrap_or(self.options);
        own.is_some()
    }

    fn copy(&self) -> Box<dyn Stepper<S>> {
        Box::new(self.clone())
    }

    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>> {
        input.refresh_contacts();
        let mut free = input.apply_forces();
        input.check_free(&free)?;
        let rule = input.settings.elastic_rule(Effort::Full);
        let elastic = (input.deformables, &mut self.systems);
        Elastic::new(elastic, input.bodies, &mut free, rule, &[]).map_err(Failure::Elastic)?;
        let (contacts, settings) = (&input.contacts.present, &input.settings);
        let assembled = assemble(input.bodies, contacts, free, settings.dt, &settings.contact);
        let impulses = impulses(&self.options, input.bodies, contacts, &assembled);
        let velocities = assembled.problem.velocities(&impulses).motion;
        input.advance(&velocities, None);
        input.check_range()?;
        input.contacts.keep_impulses(&assembled, &impulses);
        input.find_contacts_if_judged();
        Ok(StepOutput {
            contacts: impulses.local.len(),
            solve: SolveReport::default(),
            rescue: Rescue::default(),
            resolution: Resolution::default(),
            solution: Some(Solution {
                answered: Answered {
                    assembled,
                    impulses,
                    reached: None,
                },
                own_contacts: None,
            }),
        })
    }
}

/// The impulses of all contacts that overlap.
fn impulses<S: Space>(
    options: &Penalty,
    bodies: &Bodies<S>,
    contacts: &[Contact<S>],
    assembled: &Assembled<S>,
) -> Impulses<S> {
    let problem = &assembled.problem;
    let dt = problem.dt;
    let mut before: Vec<Motion<S>> = bodies.motion.clone();
    before.extend_from_slice(&problem.free[bodies.len()..]);
    let of_row = |(row, &k): (usize, &u32)| {
        let depth = -contacts[k as usize].point.separation;
        let admittance = problem.diagonal(row);
        let normal_admittance = S::column(&admittance, 0).component(0);
        if depth <= 0.0 || normal_admittance <= 0.0 {
            return S::Vector::default();
        }
        let mass = 1.0 / normal_admittance;
        let u = problem.relative_velocity(row, &before);
        let damper = 2.0 * options.damping * (options.stiffness * mass).sqrt();
        let force = (options.stiffness * depth - damper * u.component(0)).max(0.0);
        let slip = tangential(u);
        let speed = slip.length();
        let most = problem.rows[row].mu * force * dt / speed.max(options.slip_speed);
        let heaviest = 1.0 / S::largest_tangent_eigenvalue(&admittance);
        (slip * -most.min(heaviest)).with_component(0, force * dt)
    };
    let rows = assembled.contact_of_row.iter().enumerate();
    Impulses {
        local: rows.map(of_row).collect(),
    }
}
