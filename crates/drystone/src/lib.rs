//! Contact simulation with a certificate: particles, rigid bodies and deformables, in 2D and 3D.
//!
//! A [`World`] holds [bodies](Body), [joints](Joint) and [deformables](Deformable), and is
//! [stepped](World::step) by a [`Strategy`]. After every step code that knows no solver says how far
//! the laws of contact are from holding: the [`Certificate`].
//!
//! The modules are layers. Each uses only what stands left of it, and a test (`tests/layers.rs`)
//! holds every file to that:
//!
//! ```text
//! math ← parallel ← geometry ← model ← contact ← judge ← solver ← dynamics ← strategy ← world
//! ```
//!
//! | layer | holds |
//! |---|---|
//! | [`math`] | vectors of the plane and of space, small matrices, SIMD lanes, sparse factorisations |
//! | `parallel` | the thread pool, and slices that threads share |
//! | [`geometry`] | shapes and their contact points, box trees, distances, casts, continuous collision detection, exact intersection |
//! | [`model`] | bodies, joints, materials, deformables, scripts |
//! | [`contact`] | from poses to contacts, and from contacts to the contact problem |
//! | [`judge`] | residual, energy, momentum, intersection: the certificate |
//! | [`solver`] | eleven solvers of one contact problem |
//! | [`dynamics`] | time stepping: forces, rotation, elastic systems, fail-safes |
//! | [`strategy`] | ways to make a step: `realtime`, `velocity`, `parallel`, `sequential`, `barrier`, `penalty` |
//! | [`world`] | the step, queries, events, snapshots |
//!
//! Two and three dimensions are one source: see [`math::algebra`]. Ten lines that simulate something
//! stand at [`World`].
//!
//! Features, all on by default: `dim2` and `dim3` for worlds in the plane and in space (a program
//! that needs one compiles half of the engine), `faer` for fast factorisation of large systems.
//!
//! Units are SI throughout; the signs of contact are fixed in [`contact::problem`].

#[cfg(not(any(feature = "dim2", feature = "dim3")))]
compile_error!("the engine needs the feature `dim2`, `dim3` or both");

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

pub use contact::detection::{Contact, NodePoint};
pub use contact::problem::assemble::ContactRules;
pub use contact::problem::impact_law::ImpactLaw;
pub use contact::problem::{ContactProblem, Impulses};
pub use contact::rules::{Encounter, Hooks};
pub use drystone_frame::{Frame, Stage};
pub use dynamics::failsafe::Rescue;
#[cfg(feature = "dim2")]
pub use geometry::shape::Shape2;
pub use geometry::shape::{
    Bounds, ContactPoint, Geometry, MassProperties, Pose, Separation, ShapeError,
};
#[cfg(feature = "dim3")]
pub use geometry::shape::{Decomposition, Shape3};
pub use geometry::{Space, ccd, intersect};
pub use glamx as glam;
pub use judge::intersection_audit::{Audit, Intersection};
pub use judge::law::Answered;
pub use judge::{Certificate, WorstContact};
pub use math::algebra::{Algebra, Components, D2, D3, Linear};
pub use model::body::{Bodies, Body, BodyError, BodyId, Groups, Kind, Mass, Motion, Push};
pub use model::deformable::{
    Cells, DeformError, Deformable, DeformableId, Integrator, Mesh, Model, Substance,
};
pub use model::joint::{
    Axis, Drive, Freedom, Goal, Joint, JointError, JointId, JointKind, Reaction,
};
pub use model::material::{Combine, Material, MaterialError, MaterialId, Materials, Surface};
pub use model::script::{Keyframe, Script};
pub use solver::{Auto, Limits, Newton, Pgs, SolveReport, SolverKind};
pub use strategy::Strategy;
pub use strategy::barrier::Barrier;
pub use strategy::ccd::Impacts;
pub use strategy::penalty::Penalty;
pub use strategy::profile::{Feature, SettingsError};
pub use strategy::realtime::Realtime;
pub use strategy::settings::Settings;
pub use strategy::step::Resolution;
#[cfg(feature = "dim2")]
pub use world::World2;
#[cfg(feature = "dim3")]
pub use world::World3;
pub use world::events::Event;
pub use world::query;
pub use world::{AccessError, Energy, Phase, SnapshotError, StepError, StepReport, World};
