//! The code of [`World2`] and [`World3`], compiled in this crate.
//!
//! [`World`] is generic, and a generic function is compiled where it is used: a program of thirty
//! lines would compile the engine once more. So what is large goes through the functions below, which
//! are not generic.

#[cfg(feature = "dim2")]
use super::World2;
#[cfg(feature = "dim3")]
use super::World3;
use super::{Phase, SnapshotError, StepError, StepReport, World};
use crate::geometry::Space;
use crate::geometry::intersect::IntersectError;
use crate::judge::intersection_audit::Audit;
use drystone_frame::{Frame, Stage};
use std::any::Any;

/// Calls a function of the module that has the code for the world's space: a space is D2 or D3.
macro_rules! of_space {
    ($world:expr, $downcast:ident, $name:ident $(, $arg:ident)*) => {{
        #[cfg(feature = "dim2")]
        if let Some(world) = $world.$downcast::<World2>() {
            return plane::$name(world $(, $arg)*);
        }
        #[cfg(feature = "dim3")]
        if let Some(world) = $world.$downcast::<World3>() {
            return solid::$name(world $(, $arg)*);
        }
        unreachable!("a space is D2 or D3")
    }};
}

/// Defines methods of a world, and the functions for either space that do their work: `visibility
/// name(arguments) -> result = method that does the work`.
macro_rules! compiled {
    (
        $($(#[$doc:meta])* $vis:vis fn $name:ident(&mut self $(, $arg:ident: $type:ty)*) -> $out:ty = $work:ident;)*
        ---
        $($(#[$doc_ref:meta])* $vis_ref:vis fn $name_ref:ident(&self $(, $arg_ref:ident: $type_ref:ty)*) -> $out_ref:ty = $work_ref:ident;)*
    ) => {
        impl<S: Space> World<S> {
            $($(#[$doc])*
            $vis fn $name(&mut self $(, $arg: $type)*) -> $out {
                let world: &mut dyn Any = self;
                of_space!(world, downcast_mut, $name $(, $arg)*)
            })*
            $($(#[$doc_ref])*
            $vis_ref fn $name_ref(&self $(, $arg_ref: $type_ref)*) -> $out_ref {
                let world: &dyn Any = self;
                of_space!(world, downcast_ref, $name_ref $(, $arg_ref)*)
            })*
        }
        #[cfg(feature = "dim2")]
        compiled!(@of plane World2 $($name ($($arg: $type),*) -> $out = $work;)* --- $($name_ref ($($arg_ref: $type_ref),*) -> $out_ref = $work_ref;)*);
        #[cfg(feature = "dim3")]
        compiled!(@of solid World3 $($name ($($arg: $type),*) -> $out = $work;)* --- $($name_ref ($($arg_ref: $type_ref),*) -> $out_ref = $work_ref;)*);
    };
    (
        @of $module:ident $world:ident
        $($name:ident ($($arg:ident: $type:ty),*) -> $out:ty = $work:ident;)*
        ---
        $($name_ref:ident ($($arg_ref:ident: $type_ref:ty),*) -> $out_ref:ty = $work_ref:ident;)*
    ) => {
        mod $module {
            use super::*;
            $(pub(super) fn $name(world: &mut $world $(, $arg: $type)*) -> $out {
                world.$work($($arg),*)
            })*
            $(pub(super) fn $name_ref(world: &$world $(, $arg_ref: $type_ref)*) -> $out_ref {
                world.$work_ref($($arg_ref),*)
            })*
        }
    };
}

compiled! {
    /// Makes one step and calls `watch` at the end of each part of it, with its name: for
    /// profiles. In the strategy `realtime` it is called for the certificate only.
    pub fn step_watched(&mut self, watch: &mut dyn FnMut(Phase)) -> Result<StepReport, StepError> = make_step;
    /// Goes back to a snapshot, or stays as it is.
    ///
    /// ```
    /// use drystone::{Body, Shape3, World3, glam::DVec3};
    /// let mut world = World3::default();
    /// world.add(Body::fixed(Shape3::half_space(DVec3::Y)?))?;
    /// world.add(Body::rigid(Shape3::ball(0.5)?).at(DVec3::new(0.0, 1.0, 0.0)))?;
    /// let saved = world.snapshot();
    /// for _ in 0..100 {
    ///     world.step()?;
    /// }
    /// let there = world.state_hash();
    /// world.restore(&saved)?;
    /// for _ in 0..100 {
    ///     world.step()?;
    /// }
    /// assert_eq!(world.state_hash(), there);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> = go_back;
    /// Finds contacts again if something changed since they were found. A strategy that keeps
    /// contacts of its own takes no notice of these, so that there they are always old.
    pub(super) fn refresh_contacts(&mut self) -> () = look_for_contacts;
    ---
    /// Everything that the next step depends on, as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> = to_bytes;
    /// Judges the present state: what intersects a deformable, and the least distance of one from
    /// anything else. Empty where there are no deformables.
    ///
    /// # Errors
    /// If a place is not finite.
    pub fn audit(&self) -> Result<Audit, IntersectError> = audit_surfaces;
    /// Whether a step can start from where bodies stand: strategies that watch motion need gaps
    /// everywhere. Every step asks this; ask it before the first to hear of it in time.
    pub fn check_start(&self) -> Result<(), StepError> = find_overlap;
    /// Whether the strategy serves everything that the world has. Every step asks this; ask it
    /// before the first to hear of it in time.
    pub fn check_strategy(&self) -> Result<(), StepError> = find_unserved;
    /// Where everything is now, to be drawn or written.
    #[must_use]
    pub fn frame(&self) -> Frame = take_frame;
    /// What the objects look like, to be drawn.
    #[must_use]
    pub fn stage(&self) -> Stage = set_stage;
}
