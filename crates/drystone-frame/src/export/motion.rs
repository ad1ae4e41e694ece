//! All frames of a recording, object by object.

use super::model::{hidden, normalized};
use super::surface;
use crate::{Frame, Skin, Stage};

/// How the objects of a recording move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Time of each frame, s.
    pub times: Vec<f64>,
    /// One for each object. Those of objects that carry a skin stay at their first frame.
    pub tracks: Vec<Track>,
    /// What deforms, one for each skin.
    pub deforming: Vec<Deforming>,
    skins: Vec<Skin>,
    hidden: Vec<bool>,
    is_flat: bool,
}

/// A surface whose points move, in world axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deforming {
    /// Name of the skin.
    pub name: String,
    /// Corners, counter-clockwise seen from outside; the same at all frames.
    pub triangles: Vec<[u32; 3]>,
    /// The points at each frame, m, in single precision: no format that keeps all frames in one
    /// file has more.
    pub frames: Vec<Vec<[f32; 3]>>,
}

impl Deforming {
    /// The smallest box around the points of a frame.
    #[must_use]
    pub fn bounds(&self, frame: usize) -> [[f32; 3]; 2] {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for point in self.frames.get(frame).into_iter().flatten() {
            for (i, &x) in point.iter().enumerate() {
                bounds[0][i] = bounds[0][i].min(x);
                bounds[1][i] = bounds[1][i].max(x);
            }
        }
        bounds
    }
}

/// How one object moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Track {
    /// Not at all.
    Still {
        /// Origin in m.
        position: [f64; 3],
        /// Unit quaternion x, y, z, w.
        rotation: [f64; 4],
    },
    /// From frame to frame.
    Moving {
        /// Origin in m at each frame.
        positions: Vec<[f64; 3]>,
        /// Unit quaternion x, y, z, w at each frame; of two signs the one nearer to the last.
        rotations: Vec<[f64; 4]>,
    },
}

impl Track {
    /// The pose at a frame.
    #[must_use]
    pub fn pose(&self, frame: usize) -> ([f64; 3], [f64; 4]) {
        match self {
            Self::Still { position, rotation } => (*position, *rotation),
            Self::Moving {
                positions,
                rotations,
            } => (
                positions.get(frame).copied().unwrap_or_default(),
                rotations
                    .get(frame)
                    .copied()
                    .unwrap_or([0.0, 0.0, 0.0, 1.0]),
            ),
        }
    }

    fn add(&mut self, frames: usize, position: [f64; 3], rotation: [f64; 4]) {
        let (_, last) = self.pose(frames.saturating_sub(1));
        let rotation = near(normalized(rotation), last);
        match self {
            Self::Moving {
                positions,
                rotations,
            } => {
                positions.push(position);
                rotations.push(rotation);
            }
            Self::Still {
                position: p,
                rotation: q,
            } => {
                if *p != position || *q != rotation {
                    let mut positions = vec![*p; frames];
                    let mut rotations = vec![*q; frames];
                    positions.push(position);
                    rotations.push(rotation);
                    *self = Self::Moving {
                        positions,
                        rotations,
                    };
                }
            }
        }
    }
}

impl Motion {
    /// No frames yet.
    #[must_use]
    pub fn new(stage: &Stage) -> Self {
        let still = Track::Still {
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
        };
        Self {
            times: Vec::new(),
            tracks: vec![still; stage.objects.len()],
            deforming: vec![Deforming::default(); stage.skins.len()],
            skins: stage.skins.clone(),
            hidden: hidden(stage),
            is_flat: stage.dimension == 2,
        }
    }

    /// Adds the next frame. An object without a pose in it stays at the origin.
    pub fn add(&mut self, frame: &Frame) {
        let frames = self.times.len();
        for (deforming, skin) in self.deforming.iter_mut().zip(&self.skins) {
            let surface = surface::of_skin(skin, &frame.positions, self.is_flat);
            if frames == 0 {
                deforming.name.clone_from(&skin.name);
                deforming.triangles = surface.triangles;
            }
            let single = |point: &[f64; 3]| point.map(|x| x as f32);
            let points = surface.points.iter().map(single);
            deforming.frames.push(points.collect());
        }
        for (k, track) in self.tracks.iter_mut().enumerate() {
            if frames > 0 && self.hidden.get(k) == Some(&true) {
                continue;
            }
            let position = frame.positions.get(k).copied().unwrap_or_default();
            let rotation = frame.rotations.get(k).copied();
            let rotation = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
            if frames == 0 {
                *track = Track::Still {
                    position,
                    rotation: normalized(rotation),
                };
            } else {
                track.add(frames, position, rotation);
            }
        }
        self.times.push(frame.time);
    }
}

/// Both signs of a quaternion are one rotation: the one whose way to the last is short.
fn near(q: [f64; 4], last: [f64; 4]) -> [f64; 4] {
    let along: f64 = (0..4).map(|i| q[i] * last[i]).sum();
    if along < 0.0 { q.map(|x| -x) } else { q }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn what_rests_first_and_moves_later_has_all_its_frames() {
        let stage = Stage {
            dimension: 3,
            objects: vec![
                Object {
                    name: "a".into(),
                    fixed: false,
                    parts: vec![],
                };
                2
            ],
            ..Stage::default()
        };
        let mut motion = Motion::new(&stage);
        for k in 0..4 {
            let sign = if k == 3 { -1.0 } else { 1.0 };
            motion.add(&Frame {
                time: f64::from(k),
                positions: vec![[1.0; 3], [f64::from(k / 2); 3]],
                rotations: vec![[0.0, 0.0, 0.0, sign]; 2],
                ..Frame::default()
            });
        }
        assert!(matches!(motion.tracks[0], Track::Still { .. }));
        let x: Vec<f64> = (0..4).map(|k| motion.tracks[1].pose(k).0[0]).collect();
        assert_eq!(x, [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(motion.tracks[1].pose(3).1, [0.0, 0.0, 0.0, 1.0]);
    }
}
