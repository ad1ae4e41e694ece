//! A run as one HTML file that plays anywhere, without a server.
//!
//! The file is the page of the [live viewer](crate::live) with the run inside it. Motion between
//! two frames is predicted and only the difference is kept, in steps too small to be seen; what is
//! left is deflated. [`pack`] fixes the format.

pub mod pack;
mod ties;

use std::io::Write;

use drystone_frame::{Frame, Stage};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use crate::live::page::{DATA_MARK, PAGE};
use crate::live::{About, ContactDetail, LiveError, Numbers, Settings};
use crate::pace::Pace;
use crate::still::{Still, colours};
use pack::Packer;

/// Frames in a second.
const FRAME_RATE: f64 = 60.0;

/// Frames of a file at most; longer runs are shown with fewer frames a second.
const MOST_FRAMES: f64 = 3600.0;

/// Rows of numbers of a file at most; of neighbours the one with the largest residual is kept.
const MOST_ROWS: usize = 3000;

/// Half of the height of the picture in steps of positions.
const STEPS_OF_VIEW: f64 = 8192.0;

/// Gathers a run and writes it.
pub struct Recorder {
    header: serde_json::Value,
    packer: Packer,
    pace: Pace,
    numbers: Vec<Numbers>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recorder({} frames)", self.packer.frames())
    }
}

/// What a recording says about its run.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The objects.
    pub stage: Stage,
    /// The scene.
    pub about: About,
    /// How it is stepped.
    pub settings: Settings,
    /// Names of laws, as in [`Gallery::laws`](crate::live::Gallery::laws).
    pub laws: Vec<String>,
    /// How long the run will be, s.
    pub seconds: f64,
}

impl Recorder {
    /// Begins with the state before the first step.
    ///
    /// # Errors
    ///
    /// If the program was built without the page.
    pub fn new(subject: &Subject, frame: &Frame) -> Result<Self, LiveError> {
        if PAGE.is_empty() {
            return Err(LiveError::NoPage);
        }
        let still = Still {
            camera: subject.about.camera,
            ..Still::default()
        };
        let camera = still.framed(&subject.stage, frame);
        let (eye, target) = (
            camera.eye.unwrap_or_default(),
            camera.target.unwrap_or_default(),
        );
        let distance = (0..3)
            .map(|k| (eye[k] - target[k]) * (eye[k] - target[k]))
            .sum::<f64>()
            .sqrt();
        let half = distance * libm::tan(camera.field_of_view_deg.to_radians() / 2.0);
        let quantum = (half / STEPS_OF_VIEW).max(1e-12);
        let spacing = f64::max(1.0 / FRAME_RATE, subject.seconds / MOST_FRAMES);
        let mut recorder = Self {
            header: json!({
                "stage": subject.stage,
                "about": subject.about,
                "colours": colours(&subject.stage, frame),
                "camera": {
                    "eye": eye,
                    "target": target,
                    "field_of_view": camera.field_of_view_deg,
                },
                "settings": subject.settings,
                "laws": subject.laws,
                "quantum": quantum,
                "origin": target,
            }),
            packer: Packer::new(quantum, target),
            pace: Pace::new(frame.time, spacing),
            numbers: Vec::new(),
        };
        recorder.add_frame(frame, &[]);
        Ok(recorder)
    }

    /// Whether the next frame of the file is due at this time (s): others need not be handed in.
    #[must_use]
    pub fn is_due(&self, time: f64) -> bool {
        self.pace.is_due(time)
    }

    /// Adds a frame.
    pub fn add_frame(&mut self, frame: &Frame, details: &[ContactDetail]) {
        self.packer.add(frame, details);
        self.pace.advance(frame.time);
    }

    /// Adds the numbers of a step.
    pub fn add_numbers(&mut self, numbers: Numbers) {
        self.numbers.push(numbers);
        if self.numbers.len() >= 2 * MOST_ROWS {
            self.numbers = Numbers::thinned(&self.numbers);
        }
    }

    /// The file.
    ///
    /// # Errors
    ///
    /// If the data can't be deflated, which memory alone could cause.
    pub fn finish(mut self) -> std::io::Result<String> {
        if self.numbers.len() > MOST_ROWS {
            self.numbers = Numbers::thinned(&self.numbers);
        }
        self.header["frames"] = self.packer.frames().into();
        self.header["rows"] = self.numbers.len().into();
        let mut deflate = ZlibEncoder::new(Vec::new(), Compression::best());
        let motion = self.packer.finish();
        self.header["motion_bytes"] = motion.motion.len().into();
        deflate.write_all(&motion.motion)?;
        self.header["contact_bytes"] = motion.contacts.len().into();
        deflate.write_all(&motion.contacts)?;
        // Column by column: neighbours in time are alike.
        for column in 0..Numbers::COLUMNS {
            for numbers in &self.numbers {
                deflate.write_all(&(numbers.row()[column] as f32).to_le_bytes())?;
            }
        }
        self.header["data"] = base64(&deflate.finish()?).into();
        // Inside a script no tag may begin.
        let text = self.header.to_string().replace('<', "\\u003c");
        let data = format!("<script id=\"replay\" type=\"application/json\">{text}</script>");
        Ok(PAGE.replacen(DATA_MARK, &data, 1))
    }
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= three.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // The test vectors of RFC 4648, section 10.
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
