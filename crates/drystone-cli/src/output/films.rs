//! Films of a run or of a recording.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use drystone_frame::{Frame, Stage};
use drystone_view::film::gif::{Gif, MOST_PER_SECOND};
use drystone_view::film::mp4::{self, Mp4};
use drystone_view::film::{Encoder, Film, FilmError};
use drystone_view::still::{Camera, Still};

use super::stills::still;
use super::{Format, OutFile, Target};
use crate::cli::FilmArgs;
use crate::fault::Fault;

/// Pictures in a second of a GIF and of other films, where none are asked for.
const GIF_PER_SECOND: f64 = 25.0;
const USUAL_PER_SECOND: f64 = 60.0;

/// How a film is made; whether it can be is known.
#[derive(Clone, Debug)]
pub(crate) struct FilmOptions {
    path: PathBuf,
    still: Still,
    per_second: f64,
    /// What encodes it, if not this program.
    ffmpeg: Option<PathBuf>,
}

impl FilmOptions {
    /// The film that a file will hold; `None` for files that hold something else.
    ///
    /// Refuses what can't be made: a size that can't be drawn, a film without its encoder, more
    /// pictures a second than a GIF can say.
    pub(crate) fn of(
        file: &OutFile,
        args: &FilmArgs,
        camera: Camera,
    ) -> Result<Option<Self>, Fault> {
        let (usual, ffmpeg) = match file.format {
            Format::Gif => (GIF_PER_SECOND, None),
            Format::Mp4 => {
                let found = mp4::ffmpeg();
                let found = found.ok_or_else(|| Fault::NoEncoder(file.path.clone()))?;
                (USUAL_PER_SECOND, Some(found))
            }
            _ => return Ok(None),
        };
        let per_second = args.fps.unwrap_or(usual);
        if file.format == Format::Gif && per_second > MOST_PER_SECOND {
            return Err(Fault::TooFast {
                path: file.path.clone(),
                most: MOST_PER_SECOND,
            });
        }
        let still = still(args, camera);
        still.check_size().map_err(Fault::Picture)?;
        Ok(Some(Self {
            path: file.path.clone(),
            still,
            per_second,
            ffmpeg,
        }))
    }

    fn encoder(&self, target: &Target) -> Result<Box<dyn Encoder>, FilmError> {
        let size = (self.still.width, self.still.height);
        Ok(match &self.ffmpeg {
            Some(ffmpeg) => Box::new(Mp4::new(ffmpeg, &self.path, size, self.per_second)?),
            None => {
                let file: BufWriter<File> = BufWriter::new(target.file.try_clone()?);
                Box::new(Gif::new(file, size, self.per_second)?)
            }
        })
    }

    fn fault(&self, error: FilmError) -> Fault {
        match error {
            FilmError::Picture(error) => Fault::Picture(error),
            FilmError::Io(error) => Fault::Write {
                path: self.path.clone(),
                error,
            },
            other => Fault::Write {
                path: self.path.clone(),
                error: std::io::Error::other(other),
            },
        }
    }
}

/// A film in a file.
#[derive(Debug)]
pub(crate) struct FilmFile {
    options: FilmOptions,
    target: Target,
    film: Option<Film>,
}

impl FilmFile {
    pub(crate) fn new(options: FilmOptions, target: Target) -> Self {
        Self {
            options,
            target,
            film: None,
        }
    }

    /// Draws the first frame.
    pub(crate) fn begin(&mut self, stage: Stage, frame: &Frame) -> Result<(), Fault> {
        self.target.replace(&[])?;
        let how = (self.options.still, self.options.per_second);
        let encoder = self.options.encoder(&self.target);
        let film = encoder.and_then(|encoder| Film::new(stage, frame, how, encoder));
        self.film = Some(film.map_err(|error| self.options.fault(error))?);
        Ok(())
    }

    /// Draws the frame of a time if one is due.
    pub(crate) fn add(&mut self, time: f64, frame: impl FnOnce() -> Frame) -> Result<(), Fault> {
        match &mut self.film {
            Some(film) if film.is_due(time) => {
                let added = film.add(&frame());
                added.map_err(|error| self.options.fault(error))
            }
            _ => Ok(()),
        }
    }

    /// Ends the film.
    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        let finished = self.film.take().map_or(Ok(()), Film::finish);
        finished.map_err(|error| self.options.fault(error))
    }
}
