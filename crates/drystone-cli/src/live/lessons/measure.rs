//! What is measured of a lesson, from frames alone.

use drystone_frame::Frame;
use drystone_view::live::Lesson;

use super::{Chapter, PATH};

/// Speeds below this are rest, m/s.
const REST_M_S: f64 = 1e-4;

/// Something that can be measured from frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// One component of a velocity, now.
    Velocity {
        /// Whose.
        body: usize,
        /// 0, 1, 2 for x, y, z.
        axis: usize,
    },
    /// The highest point above a floor at y = 0 after the first bounce.
    FirstBounce {
        /// Of what.
        body: usize,
        /// Its radius in m.
        radius: f64,
    },
    /// Distance from the start.
    Travel {
        /// Of what.
        body: usize,
    },
    /// Speed over time, from rest.
    MeanAcceleration {
        /// Of what.
        body: usize,
    },
    /// The last time at rest.
    SlipTime {
        /// Of what.
        body: usize,
    },
    /// Spin after over spin before the first landing.
    SpinKept {
        /// Of what.
        body: usize,
    },
    /// The largest distance of anything from where it was, mm.
    LargestShiftMm,
}

/// What has been seen of a lesson so far.
#[derive(Debug)]
pub(crate) struct Measure {
    chapter: &'static Chapter,
    number: usize,
    start: Option<Frame>,
    last: Option<Frame>,
    bounces: u32,
    value: Option<f64>,
}

impl Measure {
    /// The lesson of a scene, if it is one.
    pub(crate) fn of(scene: &str) -> Option<Self> {
        let number = PATH.iter().position(|chapter| chapter.scene == scene)?;
        Some(Self {
            chapter: &PATH[number],
            number,
            start: None,
            last: None,
            bounces: 0,
            value: None,
        })
    }

    /// Looks at the frame after a step.
    pub(crate) fn watch(&mut self, frame: &Frame) {
        let start = self.start.get_or_insert_with(|| frame.clone());
        match self.chapter.quantity {
            Quantity::Velocity { body, axis } => {
                self.value = frame.velocities.get(body).map(|v| v[axis]);
            }
            Quantity::Travel { body } => {
                self.value = shift(start, frame, body);
            }
            Quantity::MeanAcceleration { body } => {
                let speed = frame.velocities.get(body).map(|&v| length(v));
                self.value = speed.filter(|_| frame.time > 0.0).map(|v| v / frame.time);
            }
            Quantity::SlipTime { body } => {
                let speed = frame.velocities.get(body).map_or(0.0, |&v| length(v));
                if speed < REST_M_S {
                    self.value = Some(frame.time);
                }
            }
            Quantity::LargestShiftMm => {
                let all = (0..frame.positions.len()).filter_map(|k| shift(start, frame, k));
                self.value = Some(1e3 * all.fold(0.0, f64::max));
            }
            Quantity::FirstBounce { body, radius } => self.watch_bounce(frame, body, radius),
            Quantity::SpinKept { body } => self.watch_landing(frame, body),
        }
        self.last = Some(frame.clone());
    }

    fn watch_bounce(&mut self, frame: &Frame, body: usize, radius: f64) {
        let up = |frame: &Frame| frame.velocities.get(body).map_or(0.0, |v| v[1]);
        let before = self.last.as_ref().map_or(0.0, up);
        if before < 0.0 && up(frame) > 0.0 {
            self.bounces += 1;
        }
        if self.bounces == 1 {
            let height = frame.positions.get(body).map_or(0.0, |p| p[1] - radius);
            self.value = Some(self.value.unwrap_or(0.0).max(height));
        }
    }

    /// A landing is where the spin falls by a jump: by more than a twentieth in one step.
    fn watch_landing(&mut self, frame: &Frame, body: usize) {
        let spin = |frame: &Frame| frame.spins.get(body).map_or(0.0, |s| s[2].abs());
        let before = self.last.as_ref().map_or(0.0, spin);
        let kept = spin(frame) / before;
        if self.value.is_none() && before > 0.1 && kept < 0.95 {
            self.value = Some(kept);
        }
    }

    /// The lesson with what is measured now.
    pub(crate) fn lesson(&mut self, frame: &Frame) -> Lesson {
        if self.start.is_none() {
            self.watch(frame);
        }
        let scene = |k: Option<usize>| {
            let chapter = k.and_then(|k| PATH.get(k));
            chapter.map(|chapter| chapter.scene.to_owned())
        };
        let chapter = self.chapter;
        Lesson {
            number: self.number as u32 + 1,
            title: chapter.title.to_owned(),
            text: chapter.text.to_owned(),
            equation: chapter.equation.to_owned(),
            quantity: chapter.label.to_owned(),
            expected: Some(chapter.expected),
            measured: self.value.filter(|value| value.is_finite()),
            before: scene(self.number.checked_sub(1)),
            after: scene(Some(self.number + 1)),
        }
    }
}

/// How far an object is from where it was, m.
fn shift(start: &Frame, frame: &Frame, body: usize) -> Option<f64> {
    let (from, to) = (start.positions.get(body)?, frame.positions.get(body)?);
    Some(length([to[0] - from[0], to[1] - from[1], to[2] - from[2]]))
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
