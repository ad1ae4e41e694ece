//! Contact simulation with a certificate: particles, rigid bodies and deformables, in 2D and 3D.
//!
//! A [`World`] holds [bodies](Body) and is [stepped](World::step). Every step finds the contacts
//! ([`crate::contact::detection`]), writes them down as plain data ([`crate::contact::problem`]), solves them ([`solver`]), moves the
//! bodies ([`crate::dynamics::integrate`]) and is judged by code that knows no solver ([`judge`]). The modules
//! depend on each other in the order
//!
//! ```text
//! space ← shape ← body ← detect ← problem ← certify, solve ← repair, integrate ← world
//! ```
//!
//! [`crate::world::query`] answers what rays hit, what is near and what overlaps. [`crate::geometry::ccd`] says when moving points,
//! edges and faces meet, [`crate::geometry::intersect`] whether a state intersects itself.
//!
//! Two and three dimensions are one source: see [`crate::math::algebra`]. Ten lines that simulate something
//! stand at [`World`].
//!
//! Units are SI throughout; the signs of contact are fixed in [`crate::contact::problem`].

pub mod closed_form;
pub mod contact;
pub mod dynamics;
pub mod geometry;
pub mod judge;
pub mod math;
pub mod model;
pub(crate) mod parallel;
pub mod solver;
pub mod strategy;
pub mod world;

pub use contact::problem::assemble::ContactRules;
pub use contact::problem::impact_law::ImpactLaw;
pub use contact::rules::{Encounter, Hooks};
pub use geometry::shape::{Decomposition, Geometry, Pose, Shape2, Shape3, ShapeError};
pub use geometry::space::Space;
pub use glamx as glam;
pub use judge::Certificate;
pub use math::algebra::{Algebra, Components, D2, D3, Linear};
pub use model::body::{Body, BodyError, BodyId, Groups, Kind, Mass, Motion, Push};
pub use model::deformable::{
    Audit, Cells, DeformError, Deformable, DeformableId, Integrator, Intersection, Mesh, Model,
    Substance,
};
pub use model::joint::{
    Axis, Drive, Freedom, Goal, Joint, JointError, JointId, JointKind, Reaction,
};
pub use model::material::{Combine, Material, MaterialError, MaterialId, Materials, Surface};
pub use model::script::{Keyframe, Script};
pub use solver::{Auto, Limits, Newton, Pgs, SolverKind};
pub use strategy::barrier::Barrier;
pub use strategy::ccd::{Impacts, Resolution};
pub use strategy::penalty::Penalty;
pub use strategy::realtime::Substep;
pub use strategy::settings::{Feature, Settings, Strategy};
pub use world::events::Event;
pub use world::{Energy, Phase, SnapshotError, StepError, StepReport, World, World2, World3};
