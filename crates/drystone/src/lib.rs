//! Contact simulation with a certificate: particles, rigid bodies and deformables, in 2D and 3D.
//!
//! A [`World`] holds [bodies](Body) and is [stepped](World::step). Every step finds the contacts
//! ([`detect`]), writes them down as plain data ([`problem`]), solves them ([`solve`]), moves the
//! bodies ([`integrate`]) and is judged by code that knows no solver ([`certify`]). The modules
//! depend on each other in the order
//!
//! ```text
//! space ← shape ← body ← detect ← problem ← certify, solve ← repair, integrate ← world
//! ```
//!
//! [`query`] answers what rays hit, what is near and what overlaps. [`ccd`] says when moving points,
//! edges and faces meet, [`intersect`] whether a state intersects itself.
//!
//! Two and three dimensions are one source: see [`space`]. Ten lines that simulate something
//! stand at [`World`].
//!
//! Units are SI throughout; the signs of contact are fixed in [`problem`].

pub mod barrier;
pub mod body;
pub mod ccd;
pub mod certify;
pub mod closed_form;
pub mod deform;
pub mod detect;
pub mod events;
mod forest;
pub mod impacts;
pub mod integrate;
pub mod intersect;
pub mod joint;
pub mod material;
pub mod penalty;
mod primitives;
pub mod problem;
pub mod query;
pub mod repair;
pub mod script;
pub mod settings;
pub mod shape;
pub mod solve;
pub mod space;
pub mod substep;
mod tumble;
pub mod world;

pub use barrier::Barrier;
pub use body::{Body, BodyError, BodyId, Groups, Kind, Mass, Motion, Push};
pub use certify::Certificate;
pub use deform::{
    Audit, Cells, DeformError, Deformable, DeformableId, Integrator, Intersection, Mesh, Model,
    Substance,
};
pub use detect::rules::{Encounter, Hooks};
pub use events::Event;
pub use glamx as glam;
pub use impacts::{Impacts, Resolution};
pub use joint::{Axis, Drive, Freedom, Goal, Joint, JointError, JointId, JointKind, Reaction};
pub use material::{Combine, Material, MaterialError, MaterialId, Materials, Surface};
pub use penalty::Penalty;
pub use problem::assemble::ContactRules;
pub use problem::impact::ImpactLaw;
pub use script::{Keyframe, Script};
pub use settings::{Feature, Settings, Strategy};
pub use shape::{Decomposition, Geometry, Pose, Shape2, Shape3, ShapeError};
pub use solve::{Auto, Limits, Newton, Pgs, SolverKind};
pub use space::{Components, D2, D3, Linear, Space};
pub use substep::Substep;
pub use world::{Energy, Phase, SnapshotError, StepError, StepReport, World, World2, World3};
