//! How a world is stepped.

use crate::contact::detection::Lookahead;
use crate::contact::problem::assemble::ContactRules;
use crate::contact::problem::impact_law::ImpactLaw;
use crate::geometry::space::Space;
use crate::math::algebra::{Components, Linear};
use crate::model::deformable::Integrator;
use crate::solver::SolverKind;
use crate::strategy::barrier::Barrier;
use crate::strategy::ccd::Impacts;
use crate::strategy::penalty::Penalty;
use crate::strategy::realtime::Substep;
use serde::{Deserialize, Serialize};
use thiserror::Error;

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

/// How a step uses detection and solvers. What each serves is told by [`Strategy::refuses`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Strategy {
    /// All contacts of a step as one problem, solved by [`Settings::solver`].
    #[default]
    Velocity,
    /// Small steps with hard contacts, in real time: [`crate::strategy::realtime`].
    Substep(Substep),
    /// The minimum of a potential that is infinite at touch: [`crate::strategy::barrier`].
    Barrier(Barrier),
    /// All impacts of a step together, found by continuous collision: [`crate::strategy::ccd`].
    Parallel(Impacts),
    /// One impact after the other: [`crate::strategy::ccd`].
    Sequential(Impacts),
    /// Springs and dampers where bodies overlap: [`crate::strategy::penalty`].
    Penalty(Penalty),
}

/// What a world may have that not every strategy serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Joints.
    Joints,
    /// [Joints](crate::JointKind::Axes) that hold an angle and lock no distance across it.
    UnheldAngles,
    /// Ropes, cloth, soft solids.
    Deformables,
    /// Nodes of deformables that are pinned or follow a script, attached to bodies that can move.
    PinnedAttachments,
    /// Restitution above 0.
    Restitution,
    /// One-way platforms.
    OneWay,
    /// Hooks of a program.
    Hooks,
    /// [`ImpactLaw::Reflection`].
    Reflection,
    /// [`Integrator::Symplectic`].
    Symplectic,
}

impl Feature {
    /// All of them, in the order in which a world is asked for them.
    pub(crate) const ALL: [Self; 9] = [
        Self::Joints,
        Self::UnheldAngles,
        Self::Deformables,
        Self::PinnedAttachments,
        Self::Hooks,
        Self::OneWay,
        Self::Restitution,
        Self::Reflection,
        Self::Symplectic,
    ];

    /// What it is, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Joints => "joints",
            Self::UnheldAngles => "joints that hold an angle but lock no distance across it",
            Self::Deformables => "deformables",
            Self::PinnedAttachments => "pinned nodes that are attached to bodies that can move",
            Self::Restitution => "restitution above 0",
            Self::OneWay => "one-way platforms",
            Self::Hooks => "hooks",
            Self::Reflection => "the impact law \"reflection\"",
            Self::Symplectic => "the integrator \"symplectic\"",
        }
    }
}

impl Strategy {
    /// Names of the strategies that exist.
    pub const NAMES: [&'static str; 6] = [
        "velocity",
        "substep",
        "barrier",
        "parallel",
        "sequential",
        "penalty",
    ];

    /// The strategy of a name, with its default options.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "velocity" => Some(Self::Velocity),
            "substep" => Some(Self::Substep(Substep::default())),
            "barrier" => Some(Self::Barrier(Barrier::default())),
            "parallel" => Some(Self::Parallel(Impacts::PARALLEL)),
            "sequential" => Some(Self::Sequential(Impacts::SEQUENTIAL)),
            "penalty" => Some(Self::Penalty(Penalty::default())),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Velocity => "velocity",
            Self::Substep(_) => "substep",
            Self::Barrier(_) => "barrier",
            Self::Parallel(_) => "parallel",
            Self::Sequential(_) => "sequential",
            Self::Penalty(_) => "penalty",
        }
    }

    /// The length of a step that suits it, s.
    #[must_use]
    pub fn usual_dt(&self) -> f64 {
        match self {
            Self::Velocity | Self::Parallel(_) | Self::Sequential(_) => 1.0 / 240.0,
            Self::Substep(_) | Self::Barrier(_) => 1.0 / 60.0,
            Self::Penalty(_) => 1.0 / 1000.0,
        }
    }

    /// What solves its contacts.
    #[must_use]
    pub fn solver_name(&self, solver: &SolverKind) -> &'static str {
        match self {
            Self::Velocity | Self::Parallel(_) | Self::Sequential(_) => solver.name(),
            Self::Substep(_) => "block-descent",
            Self::Barrier(_) => "barrier",
            Self::Penalty(_) => "springs",
        }
    }

    /// Whether [`Settings::solver`] solves its contacts.
    #[must_use]
    pub fn uses_solver(&self) -> bool {
        matches!(
            self,
            Self::Velocity | Self::Parallel(_) | Self::Sequential(_)
        )
    }

    /// Whether it uses [`Settings::threads`].
    #[must_use]
    pub fn is_threaded(&self) -> bool {
        matches!(self, Self::Substep(_))
    }

    /// Whether a world with this can't be stepped by it. This is the one table of what each serves;
    /// `docs/strategies.md` shows it.
    #[must_use]
    pub fn refuses(&self, feature: Feature) -> bool {
        use Feature::{
            Deformables, Hooks, Joints, OneWay, PinnedAttachments, Reflection, Restitution,
            Symplectic, UnheldAngles,
        };
        // Strategies that watch the way of surfaces.
        let unwatched = matches!(feature, Joints | UnheldAngles | OneWay | Hooks | Reflection);
        match self {
            Self::Velocity => matches!(feature, UnheldAngles),
            Self::Substep(_) => matches!(feature, Deformables | Reflection),
            Self::Barrier(_) => {
                unwatched || matches!(feature, PinnedAttachments | Restitution | Symplectic)
            }
            Self::Parallel(_) | Self::Sequential(_) => unwatched,
            Self::Penalty(_) => {
                matches!(feature, Joints | UnheldAngles | Restitution | Reflection)
            }
        }
    }
}

impl<S: Space> Default for Settings<S> {
    /// 240 steps a second, 9.81 m/s² down y, contacts kept from 5 mm, a certificate each step.
    fn default() -> Self {
        Self {
            dt: Strategy::default().usual_dt(),
            gravity: S::Vector::default().with_component(1, -9.81),
            contact: ContactRules::default(),
            margin: 5e-3,
            solver: SolverKind::default(),
            certify_every: 1,
            strategy: Strategy::default(),
            threads: 1,
            events: false,
            integrator: Integrator::default(),
        }
    }
}

/// A setting that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} must be {expected}, not {value}")]
pub struct SettingsError {
    /// Which setting.
    pub field: &'static str,
    /// What would be right, with its unit.
    pub expected: &'static str,
    /// What was given.
    pub value: String,
}

impl<S: Space> Settings<S> {
    /// How detection looks ahead.
    pub(crate) fn lookahead(&self) -> Lookahead {
        Lookahead {
            dt: self.dt,
            margin: self.margin,
            acceleration: self.gravity.length(),
        }
    }

    /// Whether the strategy's options can be used, and it serves the other settings.
    fn check_strategy(&self) -> Result<(), SettingsError> {
        match &self.strategy {
            Strategy::Velocity => {}
            Strategy::Substep(options) => options.check()?,
            Strategy::Barrier(options) => options.check()?,
            Strategy::Parallel(options) | Strategy::Sequential(options) => options.check()?,
            Strategy::Penalty(options) => options.check()?,
        }
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
        Ok(())
    }
}
