//! What a strategy says of itself: its name, the steps that suit it, and what it serves.

use std::any::Any;
use thiserror::Error;

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
    /// [`crate::ImpactLaw::Reflection`].
    Reflection,
    /// [`crate::Integrator::Symplectic`].
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

/// What a strategy says of itself.
#[derive(Debug)]
pub(crate) struct Profile {
    /// By which scenes and flags call it.
    pub(crate) name: &'static str,
    /// The length of a step that suits it, s.
    pub(crate) usual_dt: f64,
    /// What solves its contacts; `None` if [`crate::Settings::solver`] does.
    pub(crate) solver: Option<&'static str>,
    /// Whether it uses [`crate::Settings::threads`].
    pub(crate) is_threaded: bool,
    /// Whether it follows surfaces on their way and so needs gaps everywhere at the start.
    pub(crate) watches_motion: bool,
    /// Whether joints are rows of its contact problem.
    pub(crate) joints_are_contacts: bool,
    /// Whether it keeps contacts of its own, which the world's are not.
    pub(crate) keeps_contacts: bool,
    /// What a world that it steps may not have.
    pub(crate) refuses: &'static [Feature],
}

/// The options of a strategy.
pub(crate) trait Options: Any {
    /// Whether the options can be used.
    fn check(&self) -> Result<(), SettingsError>;
}

/// A setting that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} must be {expected}, not {value}")]
#[non_exhaustive]
pub struct SettingsError {
    /// Which setting.
    pub field: &'static str,
    /// What would be right, with its unit.
    pub expected: &'static str,
    /// What was given.
    pub value: String,
}
