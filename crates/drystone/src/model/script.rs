//! Scripted motion of kinematic bodies.
//!
//! A script says where the body is at every time; its velocity over a step is the displacement
//! divided by the step, so that the body is exactly where the script says at every step's end
//! and what stands on it is carried along.

use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A motion as a function of time, relative to the body's pose at time 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Script<S: Space> {
    /// Steady: m/s and rad/s.
    Steady {
        /// Velocity in m/s.
        velocity: S::Vector,
        /// Angular velocity in rad/s, world axes.
        spin: S::Spin,
    },
    /// To and fro: displaced by `amplitude · sin(2π (frequency t + phase))`.
    Swing {
        /// Largest displacement in m.
        amplitude: S::Vector,
        /// Largest turn in rad, as a rotation vector.
        turn: S::Spin,
        /// Cycles per second.
        frequency_hz: f64,
        /// Part of a cycle by which it is ahead, 0..1.
        phase: f64,
    },
    /// Through poses at times, straight between them and still outside.
    Keyframes(Vec<Keyframe<S>>),
}

/// Where the body is at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Keyframe<S: Space> {
    /// Time in s.
    pub time: f64,
    /// The pose then.
    pub pose: Pose<S>,
}

/// Why a script can't be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// A number that is not finite.
    #[error("all numbers must be finite")]
    NotFinite,
    /// No keyframes.
    #[error("there must be at least one keyframe")]
    Empty,
    /// Times that do not grow.
    #[error("keyframe {0} is not later than the one before it")]
    Order(usize),
    /// A rotation that is not one.
    #[error("the rotation of keyframe {0} is not of unit length")]
    Rotation(usize),
}

impl<S: Space> Script<S> {
    /// Whether the script can be followed.
    pub fn check(&self) -> Result<(), ScriptError> {
        let finite = match self {
            Self::Steady { velocity, spin } => velocity.is_finite() && spin.is_finite(),
            Self::Swing {
                amplitude,
                turn,
                frequency_hz,
                phase,
            } => {
                amplitude.is_finite()
                    && turn.is_finite()
                    && frequency_hz.is_finite()
                    && phase.is_finite()
            }
            Self::Keyframes(frames) => {
                if frames.is_empty() {
                    return Err(ScriptError::Empty);
                }
                if let Some(k) = frames.windows(2).position(|w| w[0].time >= w[1].time) {
                    return Err(ScriptError::Order(k + 1));
                }
                if let Some(k) = frames
                    .iter()
                    .position(|f| !S::is_near_unit(f.pose.rotation))
                {
                    return Err(ScriptError::Rotation(k));
                }
                frames
                    .iter()
                    .all(|f| f.time.is_finite() && f.pose.position.is_finite())
            }
        };
        if finite {
            Ok(())
        } else {
            Err(ScriptError::NotFinite)
        }
    }

    /// Stays where it starts.
    #[must_use]
    pub fn still() -> Self {
        Self::Steady {
            velocity: S::Vector::default(),
            spin: S::Spin::default(),
        }
    }

    /// The pose at `time` seconds of a body that starts at `start`.
    #[must_use]
    pub fn pose(&self, start: &Pose<S>, time: f64) -> Pose<S> {
        match self {
            Self::Steady { velocity, spin } => Pose {
                position: start.position + *velocity * time,
                rotation: S::turn(start.rotation, *spin * time),
            },
            Self::Swing {
                amplitude,
                turn,
                frequency_hz,
                phase,
            } => {
                let wave = libm::sin(std::f64::consts::TAU * (frequency_hz * time + phase));
                Pose {
                    position: start.position + *amplitude * wave,
                    rotation: S::turn(start.rotation, *turn * wave),
                }
            }
            Self::Keyframes(frames) => between_keyframes(frames, start, time),
        }
    }
}

fn between_keyframes<S: Space>(frames: &[Keyframe<S>], start: &Pose<S>, time: f64) -> Pose<S> {
    let next = frames.partition_point(|f| f.time <= time);
    let normalized = |pose: &Pose<S>| Pose {
        rotation: S::normalize(pose.rotation),
        ..*pose
    };
    match (next.checked_sub(1).map(|k| &frames[k]), frames.get(next)) {
        (Some(a), Some(b)) => {
            let part = (time - a.time) / (b.time - a.time);
            let (from, to) = (normalized(&a.pose), normalized(&b.pose));
            let turn = S::turn_between(from.rotation, to.rotation);
            Pose {
                position: from.position + (to.position - from.position) * part,
                rotation: S::turn(from.rotation, turn * part),
            }
        }
        (Some(only), None) | (None, Some(only)) => normalized(&only.pose),
        (None, None) => *start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use glamx::{DQuat, DVec3};

    #[test]
    fn keyframes_are_met_and_joined_by_straight_lines() {
        let frame = |time, x, angle| Keyframe::<D3> {
            time,
            pose: Pose {
                position: DVec3::X * x,
                rotation: DQuat::from_rotation_y(angle),
            },
        };
        let script = Script::Keyframes(vec![frame(1.0, 0.0, 0.0), frame(3.0, 4.0, 1.0)]);
        script.check().unwrap();
        let start = Pose::default();
        assert_eq!(script.pose(&start, 0.0).position.x, 0.0);
        assert_eq!(script.pose(&start, 9.0).position.x, 4.0);
        let middle = script.pose(&start, 2.0);
        assert!((middle.position.x - 2.0).abs() < 1e-12);
        let expected = DQuat::from_rotation_y(0.5);
        assert!(middle.rotation.dot(expected).abs() > 1.0 - 1e-12);
    }

    #[test]
    fn keyframes_out_of_order_are_named() {
        let frame = |time| Keyframe::<D3> {
            time,
            pose: Pose::default(),
        };
        let script = Script::Keyframes(vec![frame(0.0), frame(2.0), frame(1.0)]);
        assert_eq!(script.check(), Err(ScriptError::Order(2)));
    }
}
