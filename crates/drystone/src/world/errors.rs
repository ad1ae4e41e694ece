//! Errors of worlds and steps.

use crate::strategy::profile::{Feature, SettingsError};
use thiserror::Error;

/// Why a step could not be made. The world is as it was before the step.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// A body's state stopped being a number.
    #[error(
        "the state of `{body}` is no longer finite after step {step} (t = {time} s); \
         the world stays at the last good step. A smaller dt or smaller forces may help"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// A body's state left the range of numbers that are supported ([`crate::model::range`]).
    #[error(
        "the {what} of `{body}` would be out of range after step {step} (t = {time} s); \
         the world stays at the last good step. A smaller dt or smaller forces may help"
    )]
    OutOfRange {
        /// Name of the body.
        body: String,
        /// What of it, with its bound.
        what: &'static str,
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// A step that made more energy than there was: the judge saw it
    /// ([`crate::judge::whole_step`]).
    #[error(
        "step {step} (t = {time} s) made {made_j:.3e} J with `{body}` and what it touches, where \
         {had_j:.3e} J were; the world stays at the last good step. A smaller dt may help"
    )]
    EnergyMade {
        /// Name of the body that gained most.
        body: String,
        /// Energy that nothing gave, J.
        made_j: f64,
        /// Energy that was there before, with the work of forces and what it takes to lift the bodies
        /// by half their size, J.
        had_j: f64,
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// Something in a world that its strategy does not serve.
    #[error(
        "the strategy `{strategy}` does not serve {}{of}; {}",
        feature.name(),
        remedy(others)
    )]
    Unserved {
        /// Its name.
        strategy: &'static str,
        /// What it does not serve.
        feature: Feature,
        /// Which body or materials have it, in words.
        of: String,
        /// Strategies that serve all that the world has.
        others: Vec<&'static str>,
    },
    /// Bodies that touch or overlap where a strategy must start from a state without.
    #[error(
        "`{a}` and `{b}` overlap by {depth} m at t = {time} s; the strategy `{strategy}` needs them \
         apart: move them until there is a gap"
    )]
    Overlap {
        /// Body A.
        a: String,
        /// Body B.
        b: String,
        /// How deep, m; 0 if they touch.
        depth: f64,
        /// Time, s.
        time: f64,
        /// The strategy's name.
        strategy: &'static str,
    },
    /// Scripted motion that leaves no room.
    #[error(
        "infeasible: the scripted motion leaves no room between `{a}` and `{b}` near \
         ({:.4}, {:.4}, {:.4}) m in step {step} (t = {time} s); the world stays at the last good step. \
         Leave more room or stop the scripts earlier",
        place[0], place[1], place[2]
    )]
    Infeasible {
        /// Body A.
        a: String,
        /// Body B.
        b: String,
        /// Where, m.
        place: [f64; 3],
        /// The step that failed, counted from 1.
        step: u64,
        /// Time at the start of that step, s.
        time: f64,
    },
    /// Elastic forces that are no numbers.
    #[error("the elastic forces of `{0}` are not finite; its nodes may be too far from its shape")]
    Elastic(String),
    /// A setting that can't be used.
    #[error("settings: {0}")]
    Settings(#[from] SettingsError),
}

/// A call that names a body that is not there, or gives numbers that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The id is not of this world, or its body was removed.
    #[error("there is no such body in this world (number {0}); it may have been removed")]
    NoBody(u32),
    /// A number that is not finite.
    #[error("{0} must be made of finite numbers")]
    NotFinite(&'static str),
    /// A number beyond what is supported ([`crate::model::range`]): which, with its bound.
    #[error("out of range: {0}")]
    OutOfRange(&'static str),
    /// A rotation that is not one.
    #[error("rotation must be within 1e-3 of unit length")]
    Rotation,
    /// The joint is not of this world, or no more.
    #[error("there is no such joint in this world")]
    NoJoint,
    /// A node of a deformable can't be taken out of it.
    #[error("this body is a node of a deformable; remove the deformable")]
    Node,
    /// A fixed body has no motion.
    #[error("a fixed body does not move; add it as kinematic to drive it")]
    Fixed,
    /// A fixed or kinematic body has no use for forces.
    #[error(
        "no force moves a body that is fixed or kinematic; drive a kinematic one by `set_motion`"
    )]
    Immovable,
    /// Only a kinematic body goes where it is told to.
    #[error(
        "only a kinematic body can be driven to a pose; `set_pose` puts any body there at once"
    )]
    NotKinematic,
    /// The deformable is not of this world, or no more.
    #[error("there is no such deformable in this world")]
    NoDeformable,
}

/// What would be right, of the strategies that serve a world.
fn remedy(others: &[&str]) -> String {
    let quoted: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "no strategy serves all that this world has (docs/strategies.md)".to_owned(),
        Some((only, [])) => format!("{only} serves all that this world has"),
        Some((last, rest)) => {
            format!(
                "{} and {last} serve all that this world has",
                rest.join(", ")
            )
        }
    }
}
