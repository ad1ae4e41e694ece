//! A world of either dimension.

use drystone::geometry::intersect::IntersectError;
use drystone::{Audit, Energy, SolverKind, StepError, StepReport, World2, World3};
use drystone_frame::{Frame, Stage};

/// What a scene becomes: a world in the plane or in space.
///
/// Its methods forward to the world inside; for all else, match on it.
#[derive(Clone, Debug)]
pub enum AnyWorld {
    /// 2D.
    Flat(World2),
    /// 3D.
    Solid(World3),
}

/// Calls the same method on whichever world there is.
macro_rules! forward {
    ($self:expr, $world:ident => $call:expr) => {
        match $self {
            $crate::AnyWorld::Flat($world) => $call,
            $crate::AnyWorld::Solid($world) => $call,
        }
    };
}
pub(crate) use forward;

impl AnyWorld {
    /// 2 or 3.
    #[must_use]
    pub fn dimension(&self) -> u8 {
        match self {
            Self::Flat(_) => 2,
            Self::Solid(_) => 3,
        }
    }

    /// Makes one step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        forward!(self, world => world.step())
    }

    /// Where everything is now.
    #[must_use]
    pub fn frame(&self) -> Frame {
        forward!(self, world => world.frame())
    }

    /// What the objects look like.
    #[must_use]
    pub fn stage(&self) -> Stage {
        forward!(self, world => world.stage())
    }

    /// A hash of the state, the same for the same state on every machine.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        forward!(self, world => world.state_hash())
    }

    /// Simulated time in s.
    #[must_use]
    pub fn time(&self) -> f64 {
        forward!(self, world => world.time())
    }

    /// Steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        forward!(self, world => world.steps())
    }

    /// Energy of all bodies that move.
    #[must_use]
    pub fn energy(&self) -> Energy {
        forward!(self, world => world.energy())
    }

    /// How many bodies there are.
    #[must_use]
    pub fn body_count(&self) -> usize {
        forward!(self, world => world.bodies().len())
    }

    /// The place of the body of that name in every frame.
    #[must_use]
    pub fn body_index(&self, name: &str) -> Option<usize> {
        forward!(self, world => world.body(name)).map(drystone::BodyId::index)
    }

    /// The name of a body by its place.
    #[must_use]
    pub fn body_name(&self, index: usize) -> &str {
        forward!(self, world => world.bodies().name(index))
    }

    /// Whether there is any deformable.
    #[must_use]
    pub fn has_deformables(&self) -> bool {
        forward!(self, world => world.has_deformables())
    }

    /// What intersects a deformable now, and the least distance of one from anything else.
    ///
    /// # Errors
    /// If a place is not finite.
    pub fn audit(&self) -> Result<Audit, IntersectError> {
        forward!(self, world => world.audit())
    }

    /// Length of a step in s.
    #[must_use]
    pub fn dt(&self) -> f64 {
        forward!(self, world => world.settings().dt)
    }

    /// Changes the length of a step, s. A value that can't be used is refused by the next step.
    pub fn set_dt(&mut self, dt: f64) {
        forward!(self, world => world.settings_mut().dt = dt);
    }

    /// What solves the contact problem.
    #[must_use]
    pub fn solver(&self) -> SolverKind {
        forward!(self, world => world.settings().solver)
    }

    /// Changes the solver.
    pub fn set_solver(&mut self, solver: SolverKind) {
        forward!(self, world => world.settings_mut().solver = solver);
    }

    /// Changes the most sweeps in a step. 0 is refused by the next step.
    pub fn set_iterations(&mut self, iterations: u32) {
        forward!(self, world => world.settings_mut().solver.set_iterations(iterations));
    }

    /// Changes the residual at which a step is done, m/s. A value that can't be used is refused
    /// by the next step.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        forward!(self, world => world.settings_mut().solver.set_tolerance(tolerance));
    }

    /// A certificate every so many steps; 0 for none.
    pub fn set_certify_every(&mut self, steps: u32) {
        forward!(self, world => world.settings_mut().certify_every = steps);
    }
}
