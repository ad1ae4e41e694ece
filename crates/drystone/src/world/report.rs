//! The report of a step.

use crate::dynamics::failsafe::Rescue;
use crate::judge::Certificate;
use crate::solver::SolveReport;
use crate::strategy::step::Resolution;

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// How many parts it was made in: more than one where the judge saw more energy made than there
    /// was, and smaller steps made less.
    pub parts: u32,
    /// Contact points in the problem.
    pub contacts: usize,
    /// What the solver did.
    pub solve: SolveReport,
    /// How well the laws held; `None` in steps that are not sampled.
    pub certificate: Option<Certificate>,
    /// What kept deformables from passing each other.
    pub rescue: Rescue,
    /// How impacts were resolved, by the strategies `parallel` and `sequential`.
    pub resolution: Resolution,
}

/// Energy of a world in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// In gravity, 0 at the origin.
    pub potential: f64,
    /// In deformables, 0 at rest.
    pub elastic: f64,
}
