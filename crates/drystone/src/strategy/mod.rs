//! Strategies: ways to make a step out of detection, solvers and integration.
//!
//! Each is a folder that knows none of the others: its options, what it [says of itself](profile),
//! and a [`step::Stepper`] with what it keeps from step to step. A new one is a folder, a variant of
//! [`Strategy`] and a line in each of the two `match`es below.

pub(crate) mod profile;
pub(crate) mod settings;
pub(crate) mod step;

pub mod barrier;
pub mod ccd;
pub mod penalty;
pub mod realtime;
pub mod velocity;

use crate::geometry::Space;
use crate::math::simd::Instructions;
use crate::solver::SolverKind;
use barrier::{Barrier, BarrierStepper};
use ccd::{CcdStepper, Impacts};
use penalty::{Penalty, PenaltyStepper};
use profile::{Feature, Options, Profile, SettingsError};
use realtime::{Realtime, RealtimeStepper};
use serde::{Deserialize, Serialize};
use step::Stepper;
use velocity::{Velocity, VelocityStepper};

/// How a step uses detection and solvers. What each serves is told by [`Strategy::refuses`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Strategy {
    /// All contacts of a step as one problem, solved by [`crate::Settings::solver`].
    Velocity,
    /// Block descent over bodies, in real time: [`realtime`].
    Realtime(Realtime),
    /// The minimum of a potential that is infinite at touch: [`barrier`].
    Barrier(Barrier),
    /// All impacts of a step together, found by continuous collision: [`ccd`].
    Parallel(Impacts),
    /// One impact after the other: [`ccd`].
    Sequential(Impacts),
    /// Springs and dampers where bodies overlap: [`penalty`].
    Penalty(Penalty),
}

impl Default for Strategy {
    /// `realtime`, as in scenes.
    fn default() -> Self {
        Self::Realtime(Realtime::default())
    }
}

impl Strategy {
    /// What it says of itself, and its options.
    fn parts(&self) -> (&'static Profile, &dyn Options) {
        match self {
            Self::Velocity => (&velocity::PROFILE, &Velocity),
            Self::Realtime(options) => (&realtime::PROFILE, options),
            Self::Barrier(options) => (&barrier::PROFILE, options),
            Self::Parallel(options) => (&ccd::PARALLEL, options),
            Self::Sequential(options) => (&ccd::SEQUENTIAL, options),
            Self::Penalty(options) => (&penalty::PROFILE, options),
        }
    }

    /// Puts it to work.
    fn stepper<S: Space>(&self) -> Box<dyn Stepper<S>> {
        match *self {
            Self::Velocity => Box::new(VelocityStepper::default()),
            Self::Realtime(options) => Box::new(RealtimeStepper::new(options)),
            Self::Barrier(options) => Box::new(BarrierStepper::new(options)),
            Self::Parallel(options) => Box::new(CcdStepper::new(options, false)),
            Self::Sequential(options) => Box::new(CcdStepper::new(options, true)),
            Self::Penalty(options) => Box::new(PenaltyStepper::new(options)),
        }
    }

    /// Names of the strategies that exist.
    pub const NAMES: [&'static str; 6] = [
        velocity::PROFILE.name,
        realtime::PROFILE.name,
        barrier::PROFILE.name,
        ccd::PARALLEL.name,
        ccd::SEQUENTIAL.name,
        penalty::PROFILE.name,
    ];

    /// All strategies, with their default options.
    #[must_use]
    pub fn all() -> [Self; 6] {
        [
            Self::Velocity,
            Self::Realtime(Realtime::default()),
            Self::Barrier(Barrier::default()),
            Self::Parallel(Impacts::PARALLEL),
            Self::Sequential(Impacts::SEQUENTIAL),
            Self::Penalty(Penalty::default()),
        ]
    }

    /// The strategy of a name, with its default options. `realtime` was once called `substep`, and
    /// is still found by that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "substep" { "realtime" } else { name };
        Self::all().into_iter().find(|s| s.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.parts().0.name
    }

    /// The length of a step that suits it, s.
    #[must_use]
    pub fn usual_dt(&self) -> f64 {
        self.parts().0.usual_dt
    }

    /// What solves its contacts.
    #[must_use]
    pub fn solver_name(&self, solver: &SolverKind) -> &'static str {
        self.parts().0.solver.unwrap_or_else(|| solver.name())
    }

    /// Whether [`crate::Settings::solver`] solves its contacts.
    #[must_use]
    pub fn uses_solver(&self) -> bool {
        self.parts().0.solver.is_none()
    }

    /// Whether it uses [`crate::Settings::threads`].
    #[must_use]
    pub fn is_threaded(&self) -> bool {
        self.parts().0.is_threaded
    }

    /// Whether a world with this can't be stepped by it; `docs/strategies.md` shows the table.
    #[must_use]
    pub fn refuses(&self, feature: Feature) -> bool {
        self.parts().0.refuses.contains(&feature)
    }

    /// Whether it follows surfaces on their way, and so needs gaps everywhere at the start.
    pub(crate) fn watches_motion(&self) -> bool {
        self.parts().0.watches_motion
    }

    /// Whether joints are rows of its contact problem.
    pub(crate) fn joints_are_contacts(&self) -> bool {
        self.parts().0.joints_are_contacts
    }

    /// Whether it keeps contacts of its own, which the world's are not.
    pub(crate) fn keeps_contacts(&self) -> bool {
        self.parts().0.keeps_contacts
    }

    /// Whether a step that made more energy than there was is refused. Not with `penalty`: the energy
    /// that its contacts hold as springs is in no state, so that what they give back looks made.
    pub(crate) fn refuses_bursts(&self) -> bool {
        !matches!(self, Self::Penalty(_))
    }

    /// Whether its options can be used.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        self.parts().1.check()
    }

    /// The instructions that its kernels use, on which no result depends.
    pub(crate) fn instructions(&mut self) -> Option<&mut Instructions> {
        match self {
            Self::Realtime(options) => Some(&mut options.instructions),
            _ => None,
        }
    }
}

/// The strategy of a world, at work.
#[derive(Debug)]
pub(crate) struct Running<S: Space> {
    /// Its name, and what it is; nothing before the first step.
    at_work: Option<(&'static str, Box<dyn Stepper<S>>)>,
}

impl<S: Space> Default for Running<S> {
    fn default() -> Self {
        Self { at_work: None }
    }
}

impl<S: Space> Clone for Running<S> {
    fn clone(&self) -> Self {
        let copy = |(name, stepper): &(_, Box<dyn Stepper<S>>)| (*name, stepper.copy());
        Self {
            at_work: self.at_work.as_ref().map(copy),
        }
    }
}

impl<S: Space> Running<S> {
    /// The strategy at work; `None` before the first step.
    pub(crate) fn stepper(&self) -> Option<&dyn Stepper<S>> {
        self.at_work.as_ref().map(|(_, stepper)| &**stepper)
    }

    /// The same, if it is this one.
    pub(crate) fn stepper_of(&self, strategy: &Strategy) -> Option<&dyn Stepper<S>> {
        let (name, stepper) = self.at_work.as_ref()?;
        (*name == strategy.name()).then_some(&**stepper)
    }

    /// Goes on with a strategy, which may be another or have other options than so far.
    pub(crate) fn go_on(&mut self, strategy: &Strategy) -> &mut dyn Stepper<S> {
        let kept = self.at_work.take();
        let kept = kept.filter(|(name, _)| *name == strategy.name());
        let kept = kept.and_then(|(_, mut stepper)| {
            let is_own = stepper.set_options(strategy.parts().1);
            is_own.then_some(stepper)
        });
        let stepper = kept.unwrap_or_else(|| strategy.stepper());
        &mut *self.at_work.insert((strategy.name(), stepper)).1
    }
}
