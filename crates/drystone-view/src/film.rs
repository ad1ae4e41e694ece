//! Films of a run: stills at an even pace, as GIF by this program or as MP4 by ffmpeg.
//!
//! * [`Film`] takes frames as they are made and draws those that are due.
//! * [`gif`] encodes by itself, [`mp4`] hands pictures to ffmpeg.
//!
//! A film runs in real time: a second of it is a second of the run. The camera stands where the
//! first frame is well seen and stays there.

pub mod gif;
pub mod mp4;
mod quantize;

use std::io;

use crate::ViewError;
use crate::pace::Pace;
use crate::still::{Image, Still};
use drystone_frame::{Frame, Stage};

/// Why a film could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilmError {
    /// A picture could not be drawn.
    #[error(transparent)]
    Picture(#[from] ViewError),
    /// What was encoded could not be written, or the encoder ended.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What makes a film of pictures.
pub trait Encoder: std::fmt::Debug {
    /// Adds the next picture.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    fn add(&mut self, image: &Image) -> io::Result<()>;
    /// Ends the film.
    ///
    /// # Errors
    ///
    /// If the rest can't be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A film that is being made.
#[derive(Debug)]
pub struct Film {
    stage: Stage,
    still: Still,
    pace: Pace,
    encoder: Box<dyn Encoder>,
}

impl Film {
    /// Begins a film of so many pictures a second with its first frame. What `still` leaves open
    /// of the camera is chosen for that frame.
    ///
    /// # Errors
    ///
    /// If the size can't be drawn, or the picture not be written.
    pub fn new(
        stage: Stage,
        first: &Frame,
        (still, per_second): (Still, f64),
        encoder: Box<dyn Encoder>,
    ) -> Result<Self, FilmError> {
        let still = Still {
            camera: still.framed(&stage, first),
            ..still
        };
        let mut film = Self {
            stage,
            still,
            pace: Pace::new(first.time, 1.0 / per_second),
            encoder,
        };
        film.add(first)?;
        Ok(film)
    }

    /// Whether the next picture is due at this time (s): other frames need not be handed in.
    #[must_use]
    pub fn is_due(&self, time: f64) -> bool {
        self.pace.is_due(time)
    }

    /// Adds a frame. Where more than one picture was due since the last, it is shown longer.
    ///
    /// # Errors
    ///
    /// If it can't be drawn or written.
    pub fn add(&mut self, frame: &Frame) -> Result<(), FilmError> {
        let image = self.still.render(&self.stage, frame)?;
        for _ in 0..self.pace.advance(frame.time) {
            self.encoder.add(&image)?;
        }
        Ok(())
    }

    /// Ends the film.
    ///
    /// # Errors
    ///
    /// If the rest can't be written.
    pub fn finish(self) -> Result<(), FilmError> {
        Ok(self.encoder.finish()?)
    }
}
