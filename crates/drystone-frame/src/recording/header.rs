//! What a recording says about its run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The run: enough to make it again, step for step.
///
/// Scene and settings are whatever the program that steps the scene understands; nothing here
/// looks into them. Nothing that may differ between two runs of the same scene, such as the date
/// or the number of threads, is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The program that made it, with its version.
    pub program: String,
    /// Name of the scene.
    pub title: String,
    /// Length of a step, s.
    pub dt: f64,
    /// Steps of the whole run.
    pub steps: u64,
    /// Steps from one frame to the next; the last frame may come sooner.
    pub steps_per_frame: u32,
    /// Every so many frames there is one that needs no other, and the state.
    pub group: u32,
    /// Seeds of everything random.
    pub seeds: Vec<u64>,
    /// How the scene is stepped, where that was not left to the scene.
    pub settings: Value,
    /// The scene.
    pub scene: Value,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            program: concat!("drystone ", env!("CARGO_PKG_VERSION")).to_owned(),
            title: String::new(),
            dt: 1.0 / 60.0,
            steps: 0,
            steps_per_frame: 1,
            group: 60,
            seeds: Vec::new(),
            settings: Value::Null,
            scene: Value::Null,
        }
    }
}

impl Header {
    /// Frames of the whole run, the one before the first step included.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let per_frame = u64::from(self.steps_per_frame.max(1));
        self.steps.div_ceil(per_frame).saturating_add(1)
    }

    /// The step after which a frame is made.
    #[must_use]
    pub fn step_of(&self, frame: u64) -> u64 {
        let per_frame = u64::from(self.steps_per_frame.max(1));
        frame.saturating_mul(per_frame).min(self.steps)
    }

    /// Frames in a second of the run, where frames are evenly spaced.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        1.0 / (self.dt * f64::from(self.steps_per_frame.max(1)))
    }

    /// Whether a frame begins a group.
    pub(super) fn is_key(&self, frame: u64) -> bool {
        frame.is_multiple_of(u64::from(self.group.max(1)))
    }

    /// What is wrong with it, if anything.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        if !(self.dt.is_finite() && self.dt > 0.0) {
            Some("the length of a step is not a positive number")
        } else if self.steps_per_frame == 0 {
            Some("a frame is made after no steps")
        } else if self.group == 0 {
            Some("a group has no frames")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frame_is_at_the_last_step() {
        let header = Header {
            steps: 10,
            steps_per_frame: 4,
            ..Header::default()
        };
        assert_eq!(header.frames(), 4);
        let steps: Vec<u64> = (0..4).map(|k| header.step_of(k)).collect();
        assert_eq!(steps, [0, 4, 8, 10]);
    }
}
