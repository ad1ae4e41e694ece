//! Options of the strategy `realtime`.

use crate::math::simd::Instructions;
use crate::strategy::profile::{Feature, Options, Profile, SettingsError};
use serde::{Deserialize, Serialize};

/// Options of the strategy `realtime`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Realtime {
    /// Substeps of a step.
    pub substeps: u32,
    /// Rounds over all bodies in a substep.
    pub rounds: u32,
    /// Rounds after which known forces learn from the present ones.
    pub learn_every: u32,
    /// κ: a contact on top of a pile gives way by a h²/κ under its load, a being the acceleration of
    /// free fall.
    pub stiffness: f64,
    /// Part of its error that a known force makes up for when it learns, where it grows.
    pub loading: f64,
    /// The same where it shrinks.
    pub unloading: f64,
    /// Part of an overlap that is repaired in a second, 1/s.
    pub repair_rate: f64,
    /// Bodies that have been still for so long fall asleep, s; 0 for never.
    pub sleep_after: f64,
    /// Slower than this is still, m/s.
    pub sleep_speed: f64,
    /// Contact points of an island up to which it is solved exactly where the rounds leave it
    /// unconverged; 0 for never.
    pub exact_points: u32,
    /// Islands of more than 100 points in which bodies slide or meet faster than this are left to the
    /// rounds, m/s.
    pub exact_speed: f64,
    /// Which instructions the kernels use; they differ in speed only.
    pub instructions: Instructions,
}

impl Default for Realtime {
    /// Eight rounds: with six, one in three stumps of a wall that a ball went through sways until it falls.
    fn default() -> Self {
        Self {
            substeps: 1,
            rounds: 8,
            learn_every: 1,
            stiffness: 0.6,
            loading: 0.65,
            unloading: 1.0,
            repair_rate: 6.0,
            sleep_after: 0.5,
            sleep_speed: 0.01,
            exact_points: 1500,
            exact_speed: 0.3,
            instructions: Instructions::best(),
        }
    }
}

/// What the strategy says of itself.
pub(crate) const PROFILE: Profile = Profile {
    name: "realtime",
    usual_dt: 1.0 / 60.0,
    solver: Some("block-descent"),
    is_threaded: true,
    watches_motion: false,
    joints_are_contacts: false,
    keeps_contacts: true,
    refuses: &[Feature::Deformables, Feature::Reflection],
};

impl Options for Realtime {
    fn check(&self) -> Result<(), SettingsError> {
        let part = "more than 0 and at most 1";
        let positive = "a finite number greater than 0";
        for (field, expected, value, most) in [
            ("substeps", "1 to 1000", f64::from(self.substeps), 1e3),
            ("rounds", "1 to 1000", f64::from(self.rounds), 1e3),
            ("learn_every", "1 to 1000", f64::from(self.learn_every), 1e3),
            ("stiffness", positive, self.stiffness, f64::MAX),
            ("loading", part, self.loading, 1.0),
            ("unloading", part, self.unloading, 1.0),
        ] {
            if !(value > 0.0 && value <= most) {
                return Err(SettingsError {
                    field,
                    expected,
                    value: value.to_string(),
                });
            }
        }
        for (field, value) in [
            ("repair_rate (1/s)", self.repair_rate),
            ("sleep_after (s)", self.sleep_after),
            ("sleep_speed (m/s)", self.sleep_speed),
            ("exact_speed (m/s)", self.exact_speed),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SettingsError {
                    field,
                    expected: "a finite number, 0 or more",
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }
}
