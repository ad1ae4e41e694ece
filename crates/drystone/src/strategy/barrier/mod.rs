//! The strategy `barrier`: an incremental potential with a proximity barrier.
//!
//! A step of implicit Euler is the minimum of one function of how far all bodies go,
//! $q = (u, \theta)$ for each of them,
//!
//! $$ E(q) = \tfrac12 (q - q^*)^T M (q - q^*)
//!           + h^2\Bigl(\Psi(x) + \sum_c \kappa_c\, b(d_c) + \sum_c \mu\lambda_c f(|s_c|)\Bigr)
//!           + \tfrac h2 \Delta x^T D_0 \Delta x , $$
//!
//! with the way q\* of free flight, elastic energy Ψ, damping $D_0$ as at the start, distances
//! $d_c$ of all surfaces ([`crate::contact::primitives`]; thickness taken off) and slips $s_c$ along them.
//! The barrier
//!
//! $$ b(d) = -(d - \hat d)^2 \ln\frac{d}{\hat d}, \quad 0 < d < \hat d, \qquad b = 0 \text{ beyond} $$
//!
//! is infinite at touch, so a minimum never touches; and a way to it that
//! [continuous collision](crate::geometry::ccd) proves free never passes anything. That is the whole
//! guarantee: **distances stay greater than 0**, whatever the tolerance. The form is that of
//! incremental potential contact (Li et al. 2020; rigid bodies: Ferguson et al. 2021).
//!
//! * **Newton's method** with one sparse Cholesky factorisation an iteration. Curvature is that of
//!   masses, of elements without their negative eigenvalues, of barriers along their normals and of
//!   friction: all positive, so every step goes down. Steps are shortened until continuous collision
//!   finds them free and E has not grown.
//! * **Stiffness** κ needs no tuning: it is what stops the contact's masses in one step,
//!   $m/h^2$, more where a contact starts the step squeezed to less than a tenth of the reach. Any
//!   κ gives the same forces at rest; only the gap differs.
//! * **Friction** is Coulomb's with a force that grows smoothly up to a slip speed, below which
//!   contacts creep. Normal force λ, normal and weights are those of the last look (lagged), renewed
//!   until they change by less than 2 %.
//! * **Scripted bodies** go their way as far as the rest lets them within the same search; where
//!   nothing can give way, the step fails as infeasible and says where.
//! * **Rotation**: θ is counted from the start of the step, and q\* holds the turn of free flight
//!   ([`crate::dynamics::integrate`]). What resists turning is how far the body's mass is from where free flight
//!   takes it (module `spun`), in the plane and where axes are locked ½(θ − θ\*)ᵀI(θ − θ\*).
//! * **Attached nodes** have no unknowns: their bodies' carry them (module `carried`).
//!
//! A barrier pushes at a distance, so the certificate's residual is about d/h of the gaps that are
//! left, and restitution is 0: other coefficients are refused.

mod attached_nodes;
mod barrier_function;
mod contact_terms;
mod coordinates;
mod newton;
mod normal_curvature;
mod potential;
mod solution;
mod spin_inertia;

use newton::Start;
use solution::Minimum;

use crate::contact::primitives::{self, Primitives};
use crate::dynamics::failsafe::Rescue;
use crate::geometry::Space;
use crate::judge::certificate::Solution;
use crate::strategy::profile::{Feature, Options, Profile, SettingsError};
use crate::strategy::step::{Failure, Resolution, StepInput, StepOutput, Stepper};
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Options of the strategy `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barrier {
    /// Distance from which on surfaces push, m.
    pub reach: f64,
    /// Slip at which friction has its full strength, m/s: what sticks creeps slower than this.
    pub slip_speed: f64,
    /// Speed that the last iteration may still want to add, m/s.
    pub tolerance: f64,
    /// Iterations of a step at most.
    pub iterations: u32,
    /// Looks at the normal forces of friction in a step at most.
    pub friction_rounds: u32,
}

impl Default for Barrier {
    /// A millimetre, and a creep of a millimetre a second.
    fn default() -> Self {
        Self {
            reach: 1e-3,
            slip_speed: 1e-3,
            tolerance: 1e-5,
            iterations: 100,
            friction_rounds: 4,
        }
    }
}

/// What the strategy says of itself.
pub(crate) const PROFILE: Profile = Profile {
    name: "barrier",
    usual_dt: 1.0 / 60.0,
    solver: Some("barrier"),
    is_threaded: false,
    watches_motion: true,
    joints_are_contacts: false,
    keeps_contacts: false,
    refuses: &[
        Feature::Joints,
        Feature::UnheldAngles,
        Feature::OneWay,
        Feature::Hooks,
        Feature::Reflection,
        Feature::PinnedAttachments,
        Feature::Restitution,
        Feature::Symplectic,
    ],
};

impl Options for Barrier {
    fn check(&self) -> Result<(), SettingsError> {
        for (field, value) in [
            ("barrier.reach (m)", self.reach),
            ("barrier.slip_speed (m/s)", self.slip_speed),
            ("barrier.tolerance (m/s)", self.tolerance),
            ("barrier.iterations", f64::from(self.iterations)),
            ("barrier.friction_rounds", f64::from(self.friction_rounds)),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(SettingsError {
                    field,
                    expected: "a finite number greater than 0",
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }
}

/// The strategy `barrier` at work.
#[derive(Clone, Debug)]
pub(crate) struct BarrierStepper {
    options: Barrier,
}

impl BarrierStepper {
    pub(crate) fn new(options: Barrier) -> Self {
        Self { options }
    }
}

impl<S: Space> Stepper<S> for BarrierStepper {
    fn set_options(&mut self, options: &dyn Any) -> bool {
        let own = options.downcast_ref().copied();
        self.options = own.unwrap_or(self.options);
        own.is_some()
    }

    fn copy(&self) -> Box<dyn Stepper<S>> {
        Box::new(self.clone())
    }

    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>> {
        let dt = input.settings.dt;
        let free = input.apply_forces();
        input.check_free(&free)?;
        let evidence = minimise(&Start {
            bodies: input.bodies,
            deformables: input.deformables,
            rules: &input.rules(),
            options: &self.options,
            free: &free,
            dt,
        })?;
        input.move_to(evidence.end(input.bodies));
        input.check_range()?;
        let answered = evidence.answered(input.bodies, &free, dt);
        let contacts = evidence.contacts.len();
        input.contacts.solved = evidence.contacts;
        input.find_contacts_if_judged();
        Ok(StepOutput {
            contacts,
            solve: evidence.report,
            rescue: Rescue::default(),
            resolution: Resolution::default(),
            solution: Some(Solution {
                answered,
                own_contacts: None,
            }),
        })
    }
}

/// Where everything goes in a step, and what contacts do.
fn minimise<S: Space>(start: &Start<'_, S>) -> Result<Minimum<S>, primitives::Failure<S>> {
    let primitives = Primitives::new(start.bodies, start.deformables);
    let mut potential = newton::potential(start, &primitives);
    let arrival = potential.minimise()?;
    Ok(Minimum::new(&potential, arrival, start.free))
}
