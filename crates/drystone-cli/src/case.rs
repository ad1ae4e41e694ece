//! A contact problem by itself: from a step of a scene or from a file, and into one.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use drystone::Strategy;
use drystone::contact::problem::file;
use drystone::contact::problem::file::FORMAT;
use drystone::contact::problem::local_form::AnyProblem;
use drystone_scene::{AnyWorld, gallery};

use crate::cli::SettingsArgs;
use crate::fault::Fault;
use crate::plan::{Plan, find};

/// The largest problem file that is read, 256 MiB: as much as of models.
const MOST_BYTES: u64 = 1 << 28;

/// Runs the same code on whichever problem there is.
macro_rules! on_problem {
    ($any:expr, $problem:ident => $code:expr) => {
        match $any {
            drystone::contact::problem::local_form::AnyProblem::Flat($problem) => $code,
            drystone::contact::problem::local_form::AnyProblem::Solid($problem) => $code,
        }
    };
}
pub(crate) use on_problem;

/// A contact problem and what to call it.
#[derive(Debug)]
pub(crate) struct Case {
    /// The scene's or the file's name.
    pub(crate) name: String,
    /// The simulated time of the step in s, where it is known.
    pub(crate) time: Option<f64>,
    /// The problem.
    pub(crate) problem: AnyProblem,
    /// Names of the bodies, where they are known.
    pub(crate) names: Vec<String>,
}

impl Case {
    /// Runs a scene to `at` (s), or through half of its time, and takes the problem of the next
    /// step.
    pub(crate) fn of_scene(
        scene: &str,
        settings: &SettingsArgs,
        at: Option<f64>,
    ) -> Result<Self, Fault> {
        let mut scene = find(scene, &settings.reading)?;
        // A problem for solvers comes of steps that solvers made, unless the scene says otherwise
        // or can't be stepped by them.
        if scene.strategy.is_none() && scene.joints.is_empty() {
            scene.strategy = Some(Strategy::Velocity.name().to_owned());
        }
        let mut plan = Plan::of(scene, settings, at)?;
        if at.is_none() {
            plan.steps /= 2;
        }
        plan.show_warnings();
        plan.make_steps()?;
        let problem = match &mut plan.world {
            AnyWorld::Flat(world) => AnyProblem::Flat(world.problem()),
            AnyWorld::Solid(world) => AnyProblem::Solid(world.problem()),
        };
        let names = plan.world.stage().objects.into_iter().map(|o| o.name);
        Ok(Self {
            name: plan.scene.name,
            time: Some(plan.world.time()),
            problem,
            names: names.collect(),
        })
    }

    /// Reads a file in either format; what it holds decides, not its extension.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        let text = read_limited(path).map_err(|error| Fault::Read {
            path: path.to_owned(),
            error,
        })?;
        let problem = file::read(&text).map_err(|error| Fault::Problem {
            path: path.to_owned(),
            error,
        })?;
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        Ok(Self {
            name: stem.to_string_lossy().into_owned(),
            time: None,
            problem,
            names: Vec::new(),
        })
    }

    /// The problem in a file, or that of a scene at a time.
    pub(crate) fn find(subject: &str, at: Option<f64>) -> Result<Self, Fault> {
        let path = Path::new(subject);
        if gallery::find(subject).is_none() && holds_problem(path) {
            Self::read(path)
        } else {
            Self::of_scene(subject, &SettingsArgs::default(), at)
        }
    }

    /// How many contacts there are.
    pub(crate) fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    /// How many numbers are sought: one for each contact and axis.
    pub(crate) fn unknowns(&self) -> usize {
        let dimension = match self.problem {
            AnyProblem::Flat(_) => 2,
            AnyProblem::Solid(_) => 3,
        };
        dimension * self.contacts()
    }

    /// How many bodies there are; none in a problem that comes as a matrix.
    pub(crate) fn bodies(&self) -> usize {
        on_problem!(&self.problem, problem => problem.responses.len())
    }

    /// How many groups of contacts do not influence each other.
    pub(crate) fn islands(&self) -> usize {
        on_problem!(&self.problem, problem => problem.islands.len())
    }

    /// The problem as text in a format.
    pub(crate) fn text(&self, format: ProblemFormat) -> Result<String, Fault> {
        match format {
            ProblemFormat::Json => self.problem.to_json().map_err(Fault::OwnProblem),
            ProblemFormat::Local => {
                Ok(on_problem!(&self.problem, problem => file::to_local_form(problem)))
            }
        }
    }
}

/// The text of a file, unless it is larger than any problem that could be solved.
fn read_limited(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = drystone_scene::open_plain(path)?;
    // What is not a plain file has no length to ask for.
    if file.metadata()?.len() <= MOST_BYTES {
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= MOST_BYTES {
            let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text (UTF-8)");
            return String::from_utf8(bytes).map_err(no_text);
        }
    }
    let problem = format!("it has more than {MOST_BYTES} bytes, the most that is read");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, problem))
}

/// Whether a file holds a problem and not a scene. Both can be JSON: problems name their format.
fn holds_problem(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "toml" => false,
        _ if drystone_scene::import::is_model(path) => false,
        "txt" => true,
        "json" => read_limited(path).is_ok_and(|text| text.contains(FORMAT)),
        _ => path.is_file(),
    }
}

/// How a problem is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemFormat {
    /// Our own, with all there is.
    Json,
    /// Friction, free velocities and the matrix, without bodies.
    Local,
}

/// A file for a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProblemFile {
    /// Where.
    pub(crate) path: PathBuf,
    /// How it is written.
    pub(crate) format: ProblemFormat,
}

impl ProblemFile {
    /// Reads the format off a path's extension.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => ProblemFormat::Json,
            Some("txt") => ProblemFormat::Local,
            other => {
                let found = other.map_or("no extension".to_owned(), |e| format!(".{e}"));
                return Err(format!(
                    "it has {found}, but problems are written as .json (our own format) or .txt \
                     (the plain local form)"
                ));
            }
        };
        Ok(Self {
            path: path.into(),
            format,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_how_a_problem_is_written() {
        let format = |path| ProblemFile::parse(path).map(|file| file.format);
        assert_eq!(format("a/b.json"), Ok(ProblemFormat::Json));
        assert_eq!(format("b.TXT"), Ok(ProblemFormat::Local));
        for bad in ["b", "b.hdf5", "", ".txt"] {
            let message = format(bad).unwrap_err();
            assert!(message.contains(".json"), "{message}");
        }
    }
}
