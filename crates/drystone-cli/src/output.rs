//! Files that a run leaves behind, chosen by their extension.
//!
//! | extension | holds |
//! |---|---|
//! | `.csv` | the pose of every body after every step, written as the run goes ([`poses`]) |
//! | `.png` | a picture of the last frame ([`stills`]) |
//! | `.svg` | plots of energy, penetration and residual over time, drawn at the end ([`plots`]) |
//! | `.html` | a replay that plays in any browser ([`replays`]) |
//! | `.gif`, `.mp4` | a film ([`films`]) |
//!
//! All files are opened before the first step, so that a run never ends with nowhere to go.
//! What was in them stays until there is something to put in its place.

pub(crate) mod films;
mod plots;
mod poses;
pub(crate) mod replays;
mod stills;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use drystone::{Space, StepReport, World};
use drystone_scene::Scene;

use crate::cli::FilmArgs;
use crate::fault::Fault;
use crate::live::camera;
use crate::recording::Recording;
use films::{FilmFile, FilmOptions};
use plots::History;
use poses::Poses;
use replays::Replay;
use stills::{StillFile, still};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Poses over time.
    Csv,
    /// Plots as a drawing.
    Svg,
    /// A picture (of a race: its chart as pixels).
    Png,
    /// A replay.
    Html,
    /// A film of few colours.
    Gif,
    /// A film, by ffmpeg.
    Mp4,
}

/// A file that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutFile {
    /// Where.
    pub(crate) path: PathBuf,
    /// What it holds.
    pub(crate) format: Format,
}

impl OutFile {
    /// Reads the format off a path's extension.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Format::Csv,
            Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            Some("html") => Format::Html,
            Some("gif") => Format::Gif,
            Some("mp4") => Format::Mp4,
            other => {
                let found = other.map_or("no extension".to_owned(), |e| format!(".{e}"));
                return Err(format!(
                    "it has {found}, but what is written follows from the extension: \
                     .csv (poses over time), .png (a picture of the end), .svg (plots over time), \
                     .html (a replay), .gif or .mp4 (a film)"
                ));
            }
        };
        Ok(Self {
            path: path.into(),
            format,
        })
    }
}

/// A run that came to its end, or to a step that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a> {
    /// What plots are called.
    pub(crate) title: &'a str,
    /// Whether it can't go on later.
    pub(crate) is_over: bool,
}

/// The open files of a run.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    poses: Vec<Poses>,
    plots: Vec<Target>,
    stills: Vec<StillFile>,
    history: Option<History>,
    replays: Vec<Replay>,
    films: Vec<FilmFile>,
    recording: Option<Recording>,
}

impl Outputs {
    /// Opens every file for writing; changes nothing in any of them yet. The run will be of
    /// `seconds`.
    pub(crate) fn open(
        files: &[OutFile],
        scene: &Scene,
        seconds: f64,
        film: &FilmArgs,
    ) -> Result<Self, Fault> {
        let mut outputs = Self::default();
        for (k, file) in files.iter().enumerate() {
            if files[..k].iter().any(|other| other.path == file.path) {
                return Err(Fault::SameFile(file.path.clone()));
            }
            // Before the file is made: a film that can't be made leaves nothing behind.
            let of_file = FilmOptions::of(file, film, camera(scene))?;
            let target = Target::open(&file.path)?;
            match file.format {
                Format::Csv => outputs.poses.push(Poses::new(target)),
                Format::Svg => outputs.plots.push(target),
                Format::Png => {
                    let still = still(film, camera(scene));
                    outputs.stills.push(StillFile::new(still, target)?);
                }
                Format::Html => outputs.replays.push(Replay::new(target, scene, seconds)?),
                Format::Gif | Format::Mp4 => {
                    outputs
                        .films
                        .extend(of_file.map(|film| FilmFile::new(film, target)));
                }
            }
        }
        outputs.history = (!outputs.plots.is_empty()).then(History::default);
        Ok(outputs)
    }

    /// Adds a recording.
    pub(crate) fn record(&mut self, recording: Recording) {
        self.recording = Some(recording);
    }

    /// Writes headers and the state before the first step.
    pub(crate) fn begin<S: Space>(&mut self, world: &World<S>) -> Result<(), Fault> {
        if let Some(recording) = &mut self.recording {
            recording.begin(world)?;
        }
        if !self.poses.is_empty() {
            let stage = world.stage();
            let frame = world.frame();
            for table in &mut self.poses {
                table.begin(&stage)?;
                table.row(&frame)?;
            }
        }
        if let Some(history) = &mut self.history {
            history.begin(world);
        }
        for film in &mut self.films {
            film.begin(world.stage(), &world.frame())?;
        }
        let mut replays = self.replays.iter_mut();
        replays.try_for_each(|replay| replay.begin(world))
    }

    /// Adds the state after a step.
    pub(crate) fn add<S: Space>(
        &mut self,
        world: &World<S>,
        step: &StepReport,
    ) -> Result<(), Fault> {
        if !self.poses.is_empty() {
            let frame = world.frame();
            for table in &mut self.poses {
                table.row(&frame)?;
            }
        }
        if let Some(history) = &mut self.history {
            history.add(world, step);
        }
        for replay in &mut self.replays {
            replay.add(world, step);
        }
        for film in &mut self.films {
            film.add(world.time(), || world.frame())?;
        }
        // Last: an interrupt ends the run here, after all else has this step.
        match &mut self.recording {
            Some(recording) => recording.add(world, step),
            None => Ok(()),
        }
    }

    /// Draws pictures and plots and writes the replays. Also called after a run that failed, for
    /// the steps that were good; `is_over` says that it can't go on later.
    pub(crate) fn finish<S: Space>(self, world: &World<S>, run: Ended<'_>) -> Result<(), Fault> {
        let Ended { title, is_over } = run;
        let recorded = self
            .recording
            .map_or(Ok(()), |recording| recording.finish(is_over));
        let mut replays = self.replays.into_iter();
        replays.try_for_each(Replay::finish)?;
        let mut films = self.films.into_iter();
        films.try_for_each(FilmFile::finish)?;
        for still in self.stills {
            still.finish(&world.stage(), &world.frame())?;
        }
        let Some(history) = &self.history else {
            return recorded;
        };
        let chart = history.chart(title);
        for mut target in self.plots {
            let bytes = chart.svg().map_err(Fault::Picture)?.into_bytes();
            target.replace(&bytes)?;
        }
        recorded
    }
}

/// A file that is open for writing.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    file: File,
    /// Whether it was made here and nothing was written to it yet.
    fresh: bool,
}

impl Target {
    /// Opens a file, or makes it, without changing what is in it.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).open(path);
        let (fresh, opened) = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (false, options.create_new(false).create(true).open(path))
            }
            made => (true, made),
        };
        match opened {
            Ok(file) => Ok(Self {
                path: path.to_owned(),
                file,
                fresh,
            }),
            Err(error) => Err(Fault::Open {
                path: path.to_owned(),
                error,
            }),
        }
    }

    /// Puts these bytes in place of what the file held.
    pub(crate) fn replace(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.clear().map_err(|error| self.fault(error))?;
        self.append(bytes)
    }

    /// Empties the file, unless it is a pipe or a device.
    fn clear(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        Ok(())
    }

    /// Writes at the end of what was written.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.fresh = false;
        self.file
            .write_all(bytes)
            .map_err(|error| self.fault(error))
    }

    fn fault(&self, error: io::Error) -> Fault {
        Fault::Write {
            path: self.path.clone(),
            error,
        }
    }
}

impl Drop for Target {
    /// A file that was made for nothing goes away again.
    fn drop(&mut self) {
        if self.fresh {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_what_a_file_holds() {
        let format = |path| OutFile::parse(path).map(|file| file.format);
        assert_eq!(format("a/b.csv"), Ok(Format::Csv));
        assert_eq!(format("plot.SVG"), Ok(Format::Svg));
        assert_eq!(format("x.y.png"), Ok(Format::Png));
        assert_eq!(format("replay.html"), Ok(Format::Html));
        assert_eq!(format("film.mp4"), Ok(Format::Mp4));
        assert_eq!(format("film.gif"), Ok(Format::Gif));
        for bad in ["plot", "plot.pdf", "", ".csv"] {
            let message = format(bad).unwrap_err();
            assert!(
                message.contains(".csv") && message.contains(".svg"),
                "{message}"
            );
        }
    }
}
