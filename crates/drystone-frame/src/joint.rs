//! Joints, to be drawn: what they tie, where, and what they carry.

use crate::Frame;
use serde::{Deserialize, Serialize};

/// The island of an object that belongs to none: it never moves, or is not there.
pub const NO_ISLAND: u32 = u32::MAX;

/// Stands for no object.
pub const NO_OBJECT: u32 = u32::MAX;

/// What a joint allows, by the name that people know it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointForm {
    /// Nothing: a weld.
    Fixed,
    /// Turning about a point; in the plane a pin.
    Ball,
    /// Turning about the x axis of its frames.
    Hinge,
    /// Sliding along the x axis of its frames.
    Slider,
    /// Turning about the x and y axes of its frames.
    Universal,
    /// A distance between two points: a rod or a rope.
    Distance,
    /// Anything, against a force that pulls back to a distance.
    Spring,
    /// Turning at a ratio.
    Gear,
    /// Another choice of axes.
    Axes,
    /// There is no joint at this place any more: it broke or was taken away.
    #[default]
    Gone,
}

/// One side of a joint: a frame fixed to an object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointEnd {
    /// Index of the object; [`NO_OBJECT`] where the joint is gone.
    pub object: u32,
    /// Origin of the frame in the object's axes, m.
    pub position: [f64; 3],
    /// Unit quaternion x, y, z, w of the frame in the object's axes.
    pub rotation: [f64; 4],
}

impl Default for JointEnd {
    fn default() -> Self {
        Self {
            object: NO_OBJECT,
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
        }
    }
}

/// What does not change of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageJoint {
    /// The name that the scene gives it; empty where the joint is gone.
    pub name: String,
    /// What it allows.
    pub form: JointForm,
    /// Its frames on objects A and B.
    pub ends: [JointEnd; 2],
}

/// What a joint carries at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameJoint {
    /// Force on B at B's frame, N, world axes.
    pub force: [f64; 3],
    /// Torque on B besides that of the force, N·m, world axes.
    pub torque: [f64; 3],
    /// How far apart its frames are where it holds them together, m.
    pub error_m: f64,
    /// How far its frames are turned from how it holds them, rad.
    pub error_rad: f64,
    /// Whether it is gone: it broke or was taken away.
    pub broken: bool,
}

impl StageJoint {
    /// Where the origins of its frames are, m; `None` if the frame does not have its objects.
    #[must_use]
    pub fn anchors(&self, frame: &Frame) -> Option<[[f64; 3]; 2]> {
        let [a, b] = &self.ends;
        Some([a.anchor(frame)?, b.anchor(frame)?])
    }
}

impl JointEnd {
    fn anchor(&self, frame: &Frame) -> Option<[f64; 3]> {
        let k = self.object as usize;
        let (origin, turn) = (frame.positions.get(k)?, frame.rotations.get(k)?);
        let turned = rotated(*turn, self.position);
        Some(std::array::from_fn(|i| origin[i] + turned[i]))
    }
}

/// q v q⁻¹ as v + 2 u × (u × v + w v), with q = (u, w).
fn rotated([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let u = [x, y, z];
    let inner = cross(u, v);
    let twice = cross(u, std::array::from_fn(|i| inner[i] + w * v[i]));
    std::array::from_fn(|i| v[i] + 2.0 * twice[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_follow_their_objects() {
        let end = |object: u32| JointEnd {
            object,
            position: [1.0, 0.0, 0.0],
            ..JointEnd::default()
        };
        let joint = StageJoint {
            ends: [end(0), end(1)],
            ..StageJoint::default()
        };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let frame = Frame {
            positions: vec![[0.0, 1.0, 0.0], [5.0, 0.0, 0.0]],
            // A quarter turn about z takes x to y.
            rotations: vec![[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]],
            ..Frame::default()
        };
        let [a, b] = joint.anchors(&frame).unwrap();
        assert_eq!(a, [1.0, 1.0, 0.0]);
        let off: f64 = (0..3).map(|i| (b[i] - [5.0, 1.0, 0.0][i]).abs()).sum();
        assert!(off < 1e-15, "{b:?}");
        assert_eq!(StageJoint::default().anchors(&frame), None);
    }
}
