//! What can go wrong, and how it is shown.

use std::io::{self, IsTerminal, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use drystone::SettingsError;
use drystone::StepError;
use drystone::contact::problem::file::ProblemFileError;
use drystone::geometry::intersect::IntersectError;
use drystone_frame::recording::{ReadError, WriteError};
use drystone_scene::SceneError;
use drystone_view::ViewError;
use drystone_view::live::LiveError;

use crate::interrupt;

/// Why a command could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The scene can't be read or built.
    #[error("{0}")]
    Scene(SceneError),
    /// A model that is not understood whole.
    #[error("`{}` is not understood whole: {}", path.display(), listed(left_out))]
    Partial {
        /// The file.
        path: PathBuf,
        /// What is left out, a sentence each.
        left_out: Vec<String>,
    },
    /// Neither a scene of the gallery nor a file.
    #[error("there is no scene `{name}`")]
    UnknownScene {
        /// What was asked for.
        name: String,
        /// Scenes with names like it.
        near: Vec<String>,
    },
    /// A setting from the command line that the engine refuses.
    #[error("{0}")]
    Settings(SettingsError),
    /// A run without end.
    #[error("{seconds} s in steps of {dt} s are more than 1,000,000,000 steps")]
    TooManySteps {
        /// Simulated time in s.
        seconds: f64,
        /// Length of a step in s.
        dt: f64,
    },
    /// A step failed.
    #[error("{0}")]
    Step(StepError),
    /// A state that can't be judged.
    #[error("the state can't be judged: {0}")]
    Audit(IntersectError),
    /// Something passed into a deformable.
    #[error(
        "`{}` and `{}` intersect after step {step}, near {place:?} m",
        bodies[0],
        bodies[1]
    )]
    Intersection {
        /// Their names.
        bodies: [String; 2],
        /// Where, m.
        place: [f64; 3],
        /// The step, from 1.
        step: u64,
    },
    /// Two outputs in one file.
    #[error("`{}` is given twice as a file to write", .0.display())]
    SameFile(PathBuf),
    /// A file can't be opened for writing.
    #[error("`{}` can't be opened for writing: {error}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file can't be written.
    #[error("`{}` can't be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file can't be opened for reading.
    #[error("`{}` can't be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A recording can't be written.
    #[error("`{}` can't be recorded: {error}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// How many frames it holds at least; `None` if the run has not begun.
        frames: Option<u64>,
        /// Why.
        error: WriteError,
    },
    /// A recording can't be read.
    #[error("`{}`: {error}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// Why, and where.
        error: ReadError,
    },
    /// A recording that could be resumed is in the way.
    #[error("`{}` holds an unfinished recording", .0.display())]
    Unfinished(PathBuf),
    /// Another program writes it.
    #[error("`{}` is being recorded by another run", .0.display())]
    InUse(PathBuf),
    /// A recording of a run that this program would not make.
    #[error("`{}` is not what this program computes: {what}", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// Ctrl-C.
    #[error("interrupted: `{}` holds {} of {} frames", path.display(), frames.0, frames.1)]
    Interrupted {
        /// The recording.
        path: PathBuf,
        /// Frames it holds, and frames of the whole run.
        frames: (u64, u64),
    },
    /// A file that holds no contact problem.
    #[error("`{}`: {error}", path.display())]
    Problem {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: ProblemFileError,
    },
    /// A contact problem that can't be written.
    #[error("the contact problem can't be written: {0}")]
    OwnProblem(ProblemFileError),
    /// Something that this format does not hold.
    #[error("`{}` can't be written: {what}", path.display())]
    NotInFormat {
        /// The file.
        path: PathBuf,
        /// What it does not hold.
        what: &'static str,
        /// What would do.
        help: &'static str,
    },
    /// A race without anything to solve.
    #[error("`{0}` has no contacts: there is nothing to solve")]
    NoContacts(String),
    /// A film whose encoder is not there.
    #[error("`{}` can't be made: films as .mp4 are encoded by ffmpeg, which is not on the PATH", .0.display())]
    NoEncoder(PathBuf),
    /// More pictures a second than a GIF can say.
    #[error("`{}` can't be made: a GIF shows at most {most} pictures in a second", path.display())]
    TooFast {
        /// The file.
        path: PathBuf,
        /// How many it can.
        most: f64,
    },
    /// A picture can't be made.
    #[error("{0}")]
    Picture(ViewError),
    /// There is no viewer.
    #[error("{0}")]
    View(LiveError),
    /// Charts can't be put on one sheet.
    #[error("the charts can't be put together: {0}")]
    Sheet(String),
    /// Standard output can't be written.
    #[error("standard output can't be written: {0}")]
    Stdout(io::Error),
}

impl Fault {
    /// Whether someone stopped reading, which is no one's fault.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// 2 where the command line makes no sense, as for what clap finds; 1 for all else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::SameFile(_) | Self::NotInFormat { .. } => 2,
            Self::Interrupted { .. } => interrupt::EXIT_CODE,
            _ => 1,
        }
    }

    /// What would help, where the message does not say so itself.
    fn help(&self) -> Option<String> {
        match self {
            Self::UnknownScene { near, .. } => Some(unknown_scene_help(near)),
            Self::TooManySteps { .. } => Some("choose fewer --seconds or a longer --dt".into()),
            Self::SameFile(_) => Some("give each output a file of its own".into()),
            Self::Open { .. } => {
                Some("nothing was run; choose a file in a folder that can be written".into())
            }
            Self::Read { .. } | Self::Problem { .. } => Some(PROBLEM_HELP.into()),
            Self::Record { path, frames, .. } => Some(record_help(path, *frames)),
            Self::Recording { error, .. } => recording_help(error).map(Into::into),
            Self::Unfinished(path) => Some(format!(
                "nothing was run; go on with `drystone resume {0}`, or remove it",
                path.display()
            )),
            Self::InUse(_) => Some("wait for it, or end it first".into()),
            Self::OtherRun { .. } => Some(OTHER_RUN_HELP.into()),
            Self::Interrupted { path, .. } => {
                Some(format!("go on with `drystone resume {}`", path.display()))
            }
            Self::NoEncoder(_) => Some(
                "nothing was run; install ffmpeg (on Debian: apt install ffmpeg), or write .gif or \
                 .html, which need nothing"
                    .into(),
            ),
            Self::TooFast { .. } => Some("nothing was run; choose --fps 50 or fewer".into()),
            Self::NotInFormat { help, .. } => Some((*help).into()),
            Self::Intersection { .. } => {
                Some("a smaller `dt` or a greater `thickness` in the scene may help".into())
            }
            Self::Partial { .. } => Some(
                "`drystone import` without `--strict` makes a scene of the rest; \
                 `--strict=motion` allows what changes only looks"
                    .into(),
            ),
            Self::NoContacts(_) => Some("choose another time with --at".into()),
            _ => None,
        }
    }

    /// Shows the fault on standard error.
    pub(crate) fn show(&self) {
        let mut stderr = io::stderr().lock();
        let renderer = renderer(stderr.is_terminal());
        let text = match self {
            Self::Scene(error) => render_scene_error(&renderer, error),
            _ => render(&renderer, &self.to_string(), self.help().as_deref(), None),
        };
        // Where standard error is gone there is no one left to tell.
        let _ = writeln!(stderr, "{text}");
    }
}

const PROBLEM_HELP: &str = "a contact problem is a text file in our own format (.json) or in plain \
    local form (.txt); `drystone problem` writes both";

const OTHER_RUN_HELP: &str = "a recording is made again bit by bit by the version of the program \
    that made it; `drystone info` says which one that was";

/// The first of a list, and how many more there are.
fn listed(sentences: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = String::new();
    for sentence in sentences.iter().take(SHOWN) {
        text.push_str("\n  ");
        text.push_str(sentence);
    }
    if let Some(more) = sentences.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
}

fn record_help(path: &Path, frames: Option<u64>) -> String {
    match frames {
        None => {
            "nothing was run; choose a file in a folder that can be written and has room".into()
        }
        Some(frames) => format!(
            "{frames} frames are safe; make room and go on with `drystone resume {}`",
            path.display()
        ),
    }
}

fn recording_help(error: &ReadError) -> Option<&'static str> {
    match error {
        ReadError::Io(_) => None,
        ReadError::NotARecording => {
            Some("recordings are made by `drystone run SCENE --record FILE`")
        }
        ReadError::Version(_) => {
            Some("use the version of the program that made it, or a later one")
        }
        ReadError::Damaged(_) => Some(
            "`drystone resume` makes a copy of it whole again: good frames stay, the rest is made anew",
        ),
    }
}

fn unknown_scene_help(near: &[String]) -> String {
    let list = format!(
        "`drystone list` shows the gallery; a scene file ends in .toml or .json, a model in {}",
        drystone_scene::import::endings()
    );
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => list,
        Some((last, [])) => format!("did you mean {last}? {list}"),
        Some((last, rest)) => format!("did you mean {} or {last}? {list}", rest.join(", ")),
    }
}

/// Colour and drawn lines where a person looks, plain text elsewhere.
fn renderer(terminal: bool) -> Renderer {
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let decor = if terminal {
        DecorStyle::Unicode
    } else {
        DecorStyle::Ascii
    };
    renderer.decor_style(decor)
}

fn render_scene_error(renderer: &Renderer, error: &SceneError) -> String {
    let of = [error.object(), error.field()];
    let of: Vec<&str> = of.into_iter().flatten().collect();
    let title = if of.is_empty() {
        error.problem().to_owned()
    } else {
        format!("{}: {}", of.join(", "), error.problem())
    };
    render(renderer, &title, error.help(), Some(error))
}

/// A title, the place where there is one, and what would help.
fn render(
    renderer: &Renderer,
    title: &str,
    help: Option<&str>,
    place: Option<&SceneError>,
) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(title));
    if let Some(error) = place {
        group = match Excerpt::new(error) {
            Some(excerpt) => group.element(
                Snippet::source(excerpt.text)
                    .path(error.file())
                    .line_start(excerpt.first_line)
                    .annotation(AnnotationKind::Primary.span(excerpt.span)),
            ),
            None => group.element(origin(error)),
        };
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    renderer.render(&[group])
}

/// File, line and column where the lines themselves can't be shown.
fn origin(error: &SceneError) -> Origin<'_> {
    let origin = Origin::path(error.file());
    match error.line_and_column() {
        Some((line, column)) => origin.line(line).char_column(column),
        None => origin,
    }
}

/// A few lines around the place of an error.
struct Excerpt<'a> {
    text: &'a str,
    /// The number of its first line, from 1.
    first_line: usize,
    /// The place within `text`.
    span: Range<usize>,
}

/// Lines that are shown before the line of an error.
const LINES_BEFORE: usize = 2;

/// Bytes beyond which lines are not shown: no one reads them.
const MOST_SHOWN: usize = 4_000;

impl<'a> Excerpt<'a> {
    fn new(error: &'a SceneError) -> Option<Self> {
        let text = error.source_text()?;
        let span = error.span()?;
        let (line, _) = error.line_and_column()?;
        let line_end = |from: usize| {
            let rest = text.get(from..)?;
            Some(rest.find('\n').map_or(text.len(), |at| from + at))
        };
        // The place, cut at the end of its first line, and the lines above it.
        let end = line_end(span.start)?;
        let mut start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
        let mut first_line = line;
        for _ in 0..LINES_BEFORE.min(line - 1) {
            start = text.get(..start - 1)?.rfind('\n').map_or(0, |at| at + 1);
            first_line -= 1;
        }
        let shown = text.get(start..end)?;
        (shown.len() <= MOST_SHOWN).then(|| Self {
            text: shown,
            first_line,
            span: span.start - start..span.end.min(end) - start,
        })
    }
}
