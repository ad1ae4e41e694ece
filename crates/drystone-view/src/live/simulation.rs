//! What a viewer needs from a simulation, as plain data: it knows no physics.

use drystone_frame::{Frame, Stage};
use serde::{Deserialize, Serialize};

/// Scenes that can be opened.
pub trait Gallery: Send + Sync {
    /// What there is, in the order in which it is listed.
    fn cards(&self) -> Vec<Card>;
    /// Names of solvers that can be chosen.
    fn solvers(&self) -> Vec<String>;
    /// Names of strategies that can be chosen.
    fn strategies(&self) -> Vec<String>;
    /// Names of what can run side by side.
    fn racers(&self) -> Vec<String>;
    /// The settings that a racer stands for.
    ///
    /// # Errors
    ///
    /// If there is no such racer.
    fn racer(&self, name: &str) -> Result<Change, String>;
    /// Names of the laws that [`Numbers::law`] counts, from 1.
    fn laws(&self) -> Vec<String>;
    /// Opens a scene at its start.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, for a person.
    fn open(&self, name: &str) -> Result<Box<dyn Simulation>, String>;
    /// A small picture of a scene as a PNG file, if there is one.
    fn thumbnail(&self, name: &str) -> Option<Vec<u8>>;
}

/// One scene in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// What to look at.
    pub look: String,
    /// 2 or 3.
    pub dimension: u8,
    /// Place on the learning path, from 1; 0 for scenes that are not on it.
    pub lesson: u32,
}

/// A running scene.
pub trait Simulation: Send {
    /// What the objects look like.
    fn stage(&self) -> Stage;
    /// What does not change beyond the stage.
    fn about(&self) -> About;
    /// Where everything is.
    fn frame(&self) -> Frame;
    /// For each contact of [`Simulation::frame`], what a frame does not hold.
    fn details(&self) -> Vec<ContactDetail>;
    /// Makes one step and says how well it went.
    ///
    /// # Errors
    ///
    /// Why the step could not be made; the state is that of the last good step.
    fn step(&mut self) -> Result<Numbers, String>;
    /// The numbers of the present state, before the first step.
    fn numbers(&self) -> Numbers;
    /// How it is stepped.
    fn settings(&self) -> Settings;
    /// Changes how it is stepped.
    ///
    /// # Errors
    ///
    /// What can't be used and what would be right; nothing is changed then.
    fn change(&mut self, change: &Change) -> Result<(), String>;
    /// Pulls at an object in the next step.
    fn pull(&mut self, grip: &Grip);
    /// Adds a ball that flies.
    ///
    /// # Errors
    ///
    /// Why it could not be added.
    fn throw(&mut self, throw: &Throw) -> Result<(), String>;
    /// The matrix of the contact problem of the last step, and how a solver comes near its answer.
    fn matrix(&mut self) -> Matrix;
    /// What a scene with a known truth measures now.
    fn lesson(&mut self) -> Option<Lesson>;
    /// The recording that this is, if it is one: it is shown and never stepped.
    fn tape(&mut self) -> Option<&mut dyn Tape> {
        None
    }
}

/// A run that was recorded: each of its moments can be shown, and none changed.
pub trait Tape {
    /// Times of its frames, s, in their order; at least one.
    fn times(&self) -> &[f64];
    /// A frame by its number, and what it does not hold of its contacts.
    ///
    /// # Errors
    ///
    /// Why it can't be read.
    fn moment(&mut self, number: usize) -> Result<(Frame, Vec<ContactDetail>), String>;
    /// The numbers of every frame.
    fn rows(&self) -> Vec<Numbers>;
}

/// What a viewer shows about a scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct About {
    /// Its name.
    pub name: String,
    /// What to look at.
    pub look: String,
    /// What is expected, where a truth is known.
    pub expect: Option<String>,
    /// Where the answer is known to differ.
    pub note: Option<String>,
    /// How long it is worth watching, s.
    pub seconds: f64,
    /// What is played where this is a recording: nothing of it can be changed.
    pub recorded: Option<String>,
    /// What is missing of a recording.
    pub damage: Option<String>,
    /// Mass of each object in kg; infinite for what nothing moves.
    pub masses: Vec<f64>,
    /// Where it is seen from, as in [`crate::still::Camera`].
    #[serde(skip)]
    pub camera: crate::still::Camera,
}

/// What a frame does not hold of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactDetail {
    /// Coulomb's coefficient.
    pub friction: f64,
    /// How far the contact is from the laws, m/s.
    pub residual_m_s: f64,
}

/// The numbers of one step. What is not known is not a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Number of the step.
    pub step: u64,
    /// Simulated time after it, s.
    pub time_s: f64,
    /// Largest residual of a contact, m/s.
    pub residual_m_s: f64,
    /// Residual that the solver was asked for, m/s.
    pub tolerance_m_s: f64,
    /// Deepest overlap, m.
    pub penetration_m: f64,
    /// Energy that contact made, J.
    pub energy_made_j: f64,
    /// Energy of motion, J.
    pub kinetic_j: f64,
    /// Energy in gravity, J.
    pub potential_j: f64,
    /// Iterations of the solver.
    pub iterations: u32,
    /// Contact points.
    pub contacts: u32,
    /// The law that fails most where the tolerance does not hold, from 1; 0 where it holds.
    pub law: u32,
    /// By how much it fails, m/s.
    pub law_error_m_s: f64,
    /// The contact of the frame with the largest residual.
    pub worst_contact: Option<u32>,
    /// Time that the step took, ms.
    pub milliseconds: f64,
    /// Largest gap in a joint, m; no number where there are no joints.
    pub joint_error_m: f64,
}

impl Numbers {
    /// Half of the rows: of two neighbours the one with the larger residual.
    #[must_use]
    pub(crate) fn thinned(rows: &[Self]) -> Vec<Self> {
        let worse = |pair: &[Self]| {
            let later = pair
                .get(1)
                .filter(|b| b.residual_m_s > pair[0].residual_m_s);
            *later.unwrap_or(&pair[0])
        };
        rows.chunks(2).map(worse).collect()
    }

    /// How many numbers a row has.
    pub const COLUMNS: usize = 15;

    /// The numbers in the order of the fields; -1 for no contact.
    #[must_use]
    pub fn row(&self) -> [f64; Self::COLUMNS] {
        [
            self.step as f64,
            self.time_s,
            self.residual_m_s,
            self.tolerance_m_s,
            self.penetration_m,
            self.energy_made_j,
            self.kinetic_j,
            self.potential_j,
            f64::from(self.iterations),
            f64::from(self.contacts),
            f64::from(self.law),
            self.law_error_m_s,
            self.worst_contact.map_or(-1.0, f64::from),
            self.milliseconds,
            self.joint_error_m,
        ]
    }
}

/// How a scene is stepped.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Acceleration of free fall, m/s².
    pub gravity: [f64; 3],
    /// Friction coefficient of what surfaces are made of unless they say otherwise.
    pub friction: f64,
    /// Restitution coefficient of the same.
    pub restitution: f64,
    /// Length of a step, s.
    pub dt: f64,
    /// Small steps in a step, where the strategy makes some.
    pub substeps: Option<u32>,
    /// Name of the solver.
    pub solver: String,
    /// Whether the strategy uses it.
    pub uses_solver: bool,
    /// Its most iterations.
    pub iterations: u32,
    /// Residual at which it stops, m/s.
    pub tolerance: f64,
    /// How a step uses detection and solver.
    pub strategy: String,
    /// Threads that a step may use.
    pub threads: u32,
    /// How much larger than a shape its box in the broad phase is for nearness alone, m.
    pub margin: f64,
}

/// A change of settings; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Acceleration of free fall, m/s².
    pub gravity: Option<[f64; 3]>,
    /// Friction coefficient of all surfaces.
    pub friction: Option<f64>,
    /// Restitution coefficient of all surfaces.
    pub restitution: Option<f64>,
    /// Length of a step, s.
    pub dt: Option<f64>,
    /// Small steps in a step.
    pub substeps: Option<u32>,
    /// Name of the solver.
    pub solver: Option<String>,
    /// Its most iterations.
    pub iterations: Option<u32>,
    /// Residual at which it stops, m/s.
    pub tolerance: Option<f64>,
    /// How a step uses detection and solver.
    pub strategy: Option<String>,
    /// Threads that a step may use.
    pub threads: Option<u32>,
}

impl Change {
    /// Both changes, the later one where both speak.
    #[must_use]
    pub fn then(self, later: &Self) -> Self {
        Self {
            gravity: later.gravity.or(self.gravity),
            friction: later.friction.or(self.friction),
            restitution: later.restitution.or(self.restitution),
            dt: later.dt.or(self.dt),
            substeps: later.substeps.or(self.substeps),
            solver: later.solver.clone().or(self.solver),
            iterations: later.iterations.or(self.iterations),
            tolerance: later.tolerance.or(self.tolerance),
            strategy: later.strategy.clone().or(self.strategy),
            threads: later.threads.or(self.threads),
        }
    }
}

/// A hand at an object.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grip {
    /// Which object.
    pub object: u32,
    /// Where it is held, in the object's axes, m.
    pub point: [f64; 3],
    /// Where the hand is, m.
    pub target: [f64; 3],
}

/// A ball that is thrown.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throw {
    /// Where it starts, m.
    pub position: [f64; 3],
    /// How fast, m/s.
    pub velocity: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
}

/// A matrix in blocks, one row a contact, and the way of a solver to the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// Which contact of the frame each row is of.
    pub contacts: Vec<u32>,
    /// Row, column and Frobenius norm in 1/kg of every block that is not zero.
    pub blocks: Vec<(u32, u32, f32)>,
    /// Blocks beyond those that are sent.
    pub left_out: usize,
    /// The solver whose way is shown.
    pub solver: String,
    /// Iteration and largest residual in m/s.
    pub curve: Vec<(u32, f64)>,
}

/// A truth, and what is measured of it now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lesson {
    /// Place on the path, from 1.
    pub number: u32,
    /// Heading.
    pub title: String,
    /// What to look at and why it is so.
    pub text: String,
    /// The equation.
    pub equation: String,
    /// What is measured, with its unit.
    pub quantity: String,
    /// What the equation says.
    pub expected: Option<f64>,
    /// What is measured now.
    pub measured: Option<f64>,
    /// The lesson before, by the name of its scene.
    pub before: Option<String>,
    /// The next lesson.
    pub after: Option<String>,
}
