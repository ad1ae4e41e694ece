//! Settings of a world.

use super::Strategy;
use super::profile::{Feature, SettingsError};
use super::step::StepSettings;
use crate::contact::problem::assemble::ContactRules;
use crate::contact::problem::impact_law::ImpactLaw;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::deformable::Integrator;
use crate::model::range;
use crate::solver::SolverKind;
use serde::{Deserialize, Serialize};

/// How a world is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Settings<S: Space> {
    /// Length of a step in s.
    pub dt: f64,
    /// Acceleration of free fall in m/s².
    pub gravity: S::Vector,
    /// Restitution threshold and overlap repair.
    pub contact: ContactRules,
    /// Contacts nearer than this are always kept, m.
    pub margin: f64,
    /// What solves the contact problem.
    pub solver: SolverKind,
    /// A certificate every so many steps; 0 for none.
    pub certify_every: u32,
    /// How a step uses detection and solvers.
    pub strategy: Strategy,
    /// Threads that a step may use. No result depends on it.
    pub threads: u32,
    /// Whether steps tell what began and ended to touch: [`crate::World::events`].
    pub events: bool,
    /// How elastic forces are integrated.
    pub integrator: Integrator,
}

impl<S: Space> Default for Settings<S> {
    /// `realtime`, 60 steps a second, 9.81 m/s² down y, contacts kept from 5 mm, a certificate each
    /// step.
    fn default() -> Self {
        Self::of(Strategy::default())
    }
}

impl<S: Space> Settings<S> {
    /// The reference that other strategies are compared with: `velocity`, 240 steps a second, solved
    /// by [`Settings::solver`].
    #[must_use]
    pub fn reference() -> Self {
        Self::of(Strategy::Velocity)
    }

    /// A strategy with the steps that suit it.
    #[must_use]
    pub fn of(strategy: Strategy) -> Self {
        Self {
            dt: strategy.usual_dt(),
            gravity: S::Vector::default().with_component(1, -9.81),
            contact: ContactRules::default(),
            margin: 5e-3,
            solver: SolverKind::default(),
            certify_every: 1,
            strategy,
            threads: 1,
            events: false,
            integrator: Integrator::default(),
        }
    }

    /// What all strategies share.
    pub(crate) fn of_step(&self) -> StepSettings<S> {
        StepSettings {
            dt: self.dt,
            gravity: self.gravity,
            contact: self.contact,
            margin: self.margin,
            solver: self.solver,
            threads: self.threads,
            integrator: self.integrator,
        }
    }

    /// Whether the strategy's options can be used, and it serves the other settings.
    fn check_strategy(&self) -> Result<(), SettingsError> {
        self.strategy.check()?;
        if self.contact.impact == ImpactLaw::Reflection
            && self.strategy.refuses(Feature::Reflection)
        {
            return Err(SettingsError {
                field: "impact",
                expected: "\"newton\" with this strategy (reflections need velocity)",
                value: "\"reflection\"".to_owned(),
            });
        }
        if self.integrator == Integrator::Symplectic && self.strategy.refuses(Feature::Symplectic) {
            return Err(SettingsError {
                field: "integrator",
                expected: "\"implicit\" with this strategy",
                value: "\"symplectic\"".to_owned(),
            });
        }
        Ok(())
    }

    /// Whether the settings are in the range of [`crate::model::range`]; they are numbers.
    fn check_range(&self) -> Result<(), SettingsError> {
        let gravity = (0..S::DIM)
            .map(|axis| self.gravity.component(axis).abs())
            .fold(0.0, f64::max);
        let beyond = [
            (
                "gravity",
                "at most 1e9 m/s² along each axis",
                gravity > range::GRAVITY,
                gravity,
            ),
            (
                "dt (s)",
                "at least 1e-7 s",
                self.dt < range::STEP[0],
                self.dt,
            ),
            ("dt (s)", "at most 1e3 s", self.dt > range::STEP[1], self.dt),
            (
                "margin (m)",
                "at most 1e9 m",
                self.margin > range::MARGIN,
                self.margin,
            ),
        ];
        let first = beyond.into_iter().find(|(.., is_beyond, _)| *is_beyond);
        first.map_or(Ok(()), |(field, expected, _, value)| {
            Err(SettingsError {
                field,
                expected,
                value: format!("{value:e}"),
            })
        })
    }

    /// Whether the settings can be used.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive = "a finite number greater than 0";
        let not_negative = "a finite number, 0 or more";
        let (iterations, tolerance) = self.solver.iterations_and_tolerance();
        self.check_strategy()?;
        let gravity = (0..S::DIM)
            .map(|axis| self.gravity.component(axis))
            .find(|g| !g.is_finite());
        if let Some(value) = gravity {
            return Err(SettingsError {
                field: "gravity",
                expected: "made of finite numbers (m/s²)",
                value: value.to_string(),
            });
        }
        for (field, value, may_be_zero) in [
            ("dt (s)", self.dt, false),
            ("margin (m)", self.margin, true),
            ("repair_rate (1/s)", self.contact.repair_rate, true),
            ("repair_speed (m/s)", self.contact.repair_speed, true),
            ("slop (m)", self.contact.slop, true),
            (
                "restitution_threshold (m/s)",
                self.contact.restitution_threshold,
                true,
            ),
            ("tolerance (m/s)", tolerance, true),
            ("iterations", f64::from(iterations), false),
            ("threads", f64::from(self.threads), false),
        ] {
            let fits = value.is_finite() && (value > 0.0 || may_be_zero && value == 0.0);
            if !fits {
                return Err(SettingsError {
                    field,
                    expected: if may_be_zero { not_negative } else { positive },
                    value: value.to_string(),
                });
            }
        }
        self.check_range()
    }
}
