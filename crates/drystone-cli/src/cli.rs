//! The command line: what can be typed, and its help.

mod values;

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use drystone::{SolverKind, Strategy};
use drystone_scene::gallery;
use drystone_scene::import::ImportOptions;

use crate::case::ProblemFile;
use crate::command::export::ExportFile;
use crate::output::OutFile;
use values::{chart, not_negative, png, positive, scene_file, size, solvers, whole};

/// What stands for every solver.
pub(crate) const ALL: &str = "all";

const ABOUT: &str = "\
Contact simulation with a certificate: particles and rigid bodies that collide, stack, slide and \
come to rest, in 2D and 3D, and after every step a measure of how well the laws of contact held.";

const EXAMPLES: &str = "\
Examples:
  drystone run                         # the default scene
  drystone view                        # the same in the browser, live
  drystone list                        # the gallery
  drystone run pyramid --seconds 5     # a scene of the gallery
  drystone run my-scene.toml --out poses.csv --out plots.svg
  drystone picture arch-25 --out arch.png
  drystone race arch-25 --out race.svg # all solvers on one problem
  drystone run heap --record heap.dry  # every frame in a file, to resume and export";

const RUN_EXAMPLES: &str = "\
Examples:
  drystone run
  drystone run dominoes --seconds 3 --out dominoes.png --out plots.svg
  drystone run brick-wall --out replay.html
  drystone run jelly-stack --out jelly.gif --size 640x360
  drystone run my-scene.toml --dt 0.002 --iterations 200
  drystone run pyramid --report json > report.json
  drystone run heap --record heap.dry

What is written follows from the extension of FILE:
  .csv          the pose of every body after every step
  .png          a picture of the last frame
  .svg          plots of energy, penetration and residual over time
  .html         a replay that plays in any browser, without a server
  .gif, .mp4    a film; .mp4 needs ffmpeg on the PATH";

const RESUME_EXAMPLES: &str = "\
Examples:
  drystone run heap --seconds 60 --record heap.dry   # Ctrl-C, a full disk, a power cut
  drystone resume heap.dry                           # goes on; the file is the same in the end";

const EXPORT_EXAMPLES: &str = "\
Examples:
  drystone export heap.dry --out heap.glb
  drystone export heap.dry --out heap.usda --out heap.csv --every 2
  drystone export dominoes --out dominoes.glb  # a scene, for other engines

What is written of a recording follows from the extension of OUT:
  .glb     glTF 2.0 with node animation, for Blender and the web
  .usda    USD with time samples and UsdPhysics schemas
  .pc2     vertex caches of deformables, each beside its mesh (.obj)
  .mdd     the same in another format
  .obj     a Wavefront file for each frame: OUT_000000.obj, ...
  .pvd     a series for ParaView: bodies, and contacts with their forces
  .csv     the pose of every body at every frame
  .gif     a film; .mp4 as well where ffmpeg is on the PATH

A scene (of the gallery, .toml, .json, or a model) is written as .glb only, at its start, with
KHR_physics_rigid_bodies and KHR_implicit_shapes; `drystone run` reads it back.";

const IMPORT_EXAMPLES: &str = "\
Examples:
  drystone import arm.urdf                     # what is understood, and what is not
  drystone import arm.urdf --out arm.toml      # the same as a scene file, to edit
  drystone run arm.urdf                        # at once

What is read follows from the extension of FILE:
  .obj, .stl    a mesh: a solid if it is closed, a fixed surface if not
  .urdf         robots, with meshes (.obj, .stl) in the same folder
  .xml          MuJoCo's models (MJCF), with such meshes; or a robot
  .glb, .gltf   glTF with KHR_physics_rigid_bodies; meshes alone as .obj
  .usda, .usdc, .usd, .usdz
                USD with UsdPhysics; meshes alone as .obj";

const VIEW_EXAMPLES: &str = "\
Examples:
  drystone view
  drystone view arch-25 --paused
  drystone view my-scene.toml --no-open --port 8080
  drystone view heap.dry               # a recording, made by `drystone run --record`";

const PICTURE_EXAMPLES: &str = "\
Examples:
  drystone picture arch-25 --out arch.png
  drystone picture dominoes --at 1.5 --size 1920x1080 --contacts --out dominoes.png";

const PROBLEM_EXAMPLES: &str = "\
Examples:
  drystone problem arch-25 --at 1 --out arch.json
  drystone problem pyramid --out pyramid.txt

What is written follows from the extension of FILE:
  .json    everything: bodies, contacts, islands
  .txt     the plain local form, without bodies: friction, free velocities and the matrix";

const SOLVE_EXAMPLES: &str = "\
Examples:
  drystone solve arch.json
  drystone solve arch.txt --solver all --tolerance 1e-6 --budget 2
  drystone solve arch.json --solver newton --report json";

const RACE_EXAMPLES: &str = "\
Examples:
  drystone race arch-25 --out race.svg
  drystone race pyramid --at 2 --budget 5 --out race.png --matrix matrix.png
  drystone race arch.json --out race.svg";

/// Everything that can be typed.
#[derive(Debug, Parser)]
#[command(name = "drystone", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene and say how well the laws of contact held
    Run(RunArgs),
    /// Go on with a recording that was cut short, up to the end of its run
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Say what a recording holds
    Info {
        /// A recording, made by `drystone run --record`
        file: PathBuf,
    },
    /// Make the frames of a recording again and compare them, bit by bit
    Verify(RemakeArgs),
    /// Write a recording or a scene in the format of another program
    Export(ExportArgs),
    /// Make a scene of another program's model, and say what is not understood
    Import(ImportArgs),
    /// Play a scene or a recording in the browser and see contact happen
    View(ViewArgs),
    /// Run a scene to a time and write a picture of it
    Picture(PictureArgs),
    /// Run a scene to a time and write the contact problem of its next step
    Problem(ProblemArgs),
    /// Solve a contact problem from a file, from nothing, and say how well
    Solve(SolveArgs),
    /// Draw how fast each solver comes near the answer of a contact problem
    Race(RaceArgs),
    /// List the scenes of the gallery
    List,
    /// Read and build a scene without running it, and say what it holds
    Check {
        /// A scene of the gallery, or a file: .toml, .json, or a model as `drystone import` reads it
        scene: String,
        /// Step the scene and judge every step: does anything ever intersect a deformable, and how
        /// near do surfaces come?
        #[arg(long)]
        intersections: bool,
        #[command(flatten)]
        reading: ReadArgs,
    },
    /// Print the JSON Schema of scene files
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Options of `drystone run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// A scene of the gallery, or a file: .toml, .json, or a model as `drystone import` reads it
    #[arg(default_value = gallery::DEFAULT)]
    pub(crate) scene: String,
    /// Simulated time in seconds [default: the scene's]
    #[arg(long, value_name = "S", value_parser = not_negative, allow_hyphen_values = true)]
    pub(crate) seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print a report for programs instead of the summary: one object on standard output
    #[arg(long, value_name = "FORMAT")]
    pub(crate) report: Option<ReportFormat>,
    /// Write a file; its extension says what: .png, .svg, .csv, .html, .gif or .mp4 (can be given several times)
    #[arg(long = "out", value_name = "FILE", value_parser = OutFile::parse)]
    pub(crate) outputs: Vec<OutFile>,
    #[command(flatten)]
    pub(crate) film: FilmArgs,
    #[command(flatten)]
    pub(crate) recording: RecordArgs,
}

/// How films are made.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FilmArgs {
    /// Frames in a second of recordings and films, as near as whole steps come [default: 60 for
    /// recordings and .mp4, 25 for .gif]
    #[arg(long, value_name = "F", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) fps: Option<f64>,
    /// Width and height of pictures and films in pixels
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "800x450")]
    pub(crate) size: (u32, u32),
}

/// How a run is recorded.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArgs {
    /// Record every frame in a file, which can be resumed, verified and exported
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Frames from one state in the recording to the next: what is made again on resuming, at most
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    #[arg(default_value = "60", requires = "record")]
    pub(crate) state_every: NonZeroU32,
    /// Wait for the disk after every frame, however quick frames are: a power cut loses one at most
    #[arg(long, requires = "record")]
    pub(crate) sync_every_frame: bool,
}

/// Options of `drystone resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) remake: RemakeArgs,
    /// Wait for the disk after every frame, however quick frames are: a power cut loses one at most
    #[arg(long)]
    pub(crate) sync_every_frame: bool,
}

/// Options of `drystone resume` and `drystone verify`.
#[derive(Debug, Args)]
pub(crate) struct RemakeArgs {
    /// A recording, made by `drystone run --record`
    pub(crate) file: PathBuf,
    /// Threads that may be used; results never depend on it [default: the scene's]
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub(crate) threads: Option<NonZeroU32>,
}

/// Options of `drystone export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A recording, made by `drystone run --record`; or a scene, to be written as .glb with physics
    #[arg(value_name = "RECORDING|SCENE")]
    pub(crate) file: PathBuf,
    /// Write a file; its extension says what (can be given several times)
    #[arg(long = "out", value_name = "OUT", value_parser = ExportFile::parse, required = true)]
    pub(crate) outputs: Vec<ExportFile>,
    /// Take one of so many frames
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    #[arg(default_value = "1")]
    pub(crate) every: NonZeroU32,
    #[command(flatten)]
    pub(crate) film: FilmArgs,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
}

/// Options of `drystone import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArgs {
    /// A model of another program
    pub(crate) file: PathBuf,
    /// The scene file to write: .toml or .json
    #[arg(long, value_name = "SCENE", value_parser = scene_file)]
    pub(crate) out: Option<PathBuf>,
    /// Most bytes to read, of the file and all it names together
    #[arg(long, value_name = "N", default_value_t = ImportOptions::default().max_bytes)]
    pub(crate) max_bytes: u64,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
}

/// Which files may be read, and what becomes of a model that is not understood whole.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadArgs {
    /// Read files outside the folder of the scene or model too, if it names them
    #[arg(long)]
    pub(crate) allow_outside: bool,
    /// Look for the files of `package://` names here: a package, or a folder of packages (can be
    /// given several times)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) package_path: Vec<PathBuf>,
    /// Refuse a model of which anything is left out, or (motion) what may change how bodies move
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all")]
    pub(crate) strict: Option<Strict>,
}

impl ReadArgs {
    /// As the readers want it.
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            allow_outside: self.allow_outside,
            package_paths: self.package_path.clone(),
            ..ImportOptions::default()
        }
    }
}

/// What must not be left out of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strict {
    /// Anything.
    All,
    /// What changes motion, or may do so.
    Motion,
}

/// Options of `drystone view`.
#[derive(Debug, Args)]
#[command(after_help = VIEW_EXAMPLES)]
pub(crate) struct ViewArgs {
    /// A scene of the gallery, a scene file, a model as `drystone import` reads it, or a recording
    #[arg(default_value = gallery::DEFAULT)]
    pub(crate) scene: String,
    /// Port on this machine [default: any that is free]
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Begin with the scene at rest
    #[arg(long)]
    pub(crate) paused: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Options of `drystone picture`.
#[derive(Debug, Args)]
#[command(after_help = PICTURE_EXAMPLES)]
pub(crate) struct PictureArgs {
    /// A scene of the gallery, or a file: .toml, .json, or a model as `drystone import` reads it
    pub(crate) scene: String,
    /// The picture to write, a .png file
    #[arg(long, value_name = "FILE", value_parser = png)]
    pub(crate) out: PathBuf,
    /// Simulated time of the picture in seconds [default: the end of the scene]
    #[arg(long, value_name = "S", value_parser = not_negative, allow_hyphen_values = true)]
    pub(crate) at: Option<f64>,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "1280x720")]
    pub(crate) size: (u32, u32),
    /// Draw contact points and their impulses
    #[arg(long)]
    pub(crate) contacts: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Options of `drystone problem`.
#[derive(Debug, Args)]
#[command(after_help = PROBLEM_EXAMPLES)]
pub(crate) struct ProblemArgs {
    /// A scene of the gallery, or a file: .toml, .json, or a model as `drystone import` reads it
    pub(crate) scene: String,
    /// The file to write: .json or .txt
    #[arg(long, value_name = "FILE", value_parser = ProblemFile::parse)]
    pub(crate) out: ProblemFile,
    /// Simulated time of the step in seconds [default: half of the scene's]
    #[arg(long, value_name = "S", value_parser = not_negative, allow_hyphen_values = true)]
    pub(crate) at: Option<f64>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Options of `drystone solve`.
#[derive(Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
pub(crate) struct SolveArgs {
    /// A contact problem: our own format (.json) or the plain local form (.txt)
    pub(crate) file: PathBuf,
    /// What solves it; `all` for one after another
    #[arg(long, value_name = "NAME", value_parser = solvers(), default_value = "auto")]
    pub(crate) solver: String,
    #[command(flatten)]
    pub(crate) stop: StopArgs,
    /// Go on until the FCLIB error is this small too, without unit
    #[arg(long, value_name = "E", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) fclib: Option<f64>,
    /// Print a report for programs instead of the table: one object on standard output
    #[arg(long, value_name = "FORMAT")]
    pub(crate) report: Option<ReportFormat>,
}

/// Options of `drystone race`.
#[derive(Debug, Args)]
#[command(after_help = RACE_EXAMPLES)]
pub(crate) struct RaceArgs {
    /// A scene of the gallery, a scene file, or a contact problem (.json or .txt)
    #[arg(value_name = "SCENE|FILE")]
    pub(crate) subject: String,
    /// The picture to write: .svg or .png
    #[arg(long, value_name = "FILE", value_parser = chart)]
    pub(crate) out: OutFile,
    /// Simulated time of the step in seconds, for scenes [default: half of the scene's]
    #[arg(long, value_name = "S", value_parser = not_negative, allow_hyphen_values = true)]
    pub(crate) at: Option<f64>,
    /// Draw the blocks of the problem's matrix too, darker where larger: a .png file
    #[arg(long, value_name = "FILE", value_parser = png)]
    pub(crate) matrix: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stop: StopArgs,
}

/// When a solver of a problem by itself stops.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StopArgs {
    /// Relative residual that is good enough, without unit
    #[arg(long, value_name = "T", value_parser = not_negative, allow_hyphen_values = true)]
    #[arg(default_value = "1e-8")]
    pub(crate) tolerance: f64,
    /// Seconds after which a solver gives up
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true)]
    #[arg(default_value = "10")]
    pub(crate) budget: f64,
    /// Iterations after which a solver gives up
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    #[arg(default_value = "1000000")]
    pub(crate) iterations: NonZeroU32,
}

/// Names of strategies; `realtime` was once called `substep`, and is still understood by it.
fn strategy_name() -> impl TypedValueParser<Value = String> {
    let names = Strategy::NAMES.map(|name| match name {
        "realtime" => PossibleValue::new(name).alias("substep"),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(names).map(|name| {
        let strategy = Strategy::named(&name);
        strategy.map_or(name, |strategy| strategy.name().to_owned())
    })
}

/// How a scene is stepped, where the command line overrules it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SettingsArgs {
    /// Length of a step in seconds [default: the scene's]
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) dt: Option<f64>,
    /// How a step is made [default: the scene's]
    #[arg(long, value_name = "NAME", value_parser = strategy_name())]
    pub(crate) strategy: Option<String>,
    /// What solves the contacts, in strategies that leave it open; others become "velocity"
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(SolverKind::NAMES))]
    pub(crate) solver: Option<String>,
    /// Most iterations of the solver in a step [default: the scene's]
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub(crate) iterations: Option<NonZeroU32>,
    /// Residual at which the solver stops, in m/s [default: the scene's]
    #[arg(long, value_name = "M_S", value_parser = not_negative, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Threads that may be used; results never depend on it ("velocity" uses one)
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub(crate) threads: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
}

impl SettingsArgs {
    /// The strategy that was asked for, by name or by options of a solver where the scene's own
    /// strategy has none.
    pub(crate) fn strategy_for(&self, of_scene: &Strategy) -> Option<&str> {
        let asks_solver =
            self.solver.is_some() || self.iterations.is_some() || self.tolerance.is_some();
        let implied = asks_solver && !of_scene.uses_solver();
        let named = self.strategy.as_deref();
        named.or_else(|| implied.then(|| Strategy::Velocity.name()))
    }
}

/// Reports for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    // No help of its own: it would spread the help of all options over twice as many lines.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn examples_name_scenes_that_exist() {
        let examples = [
            EXAMPLES,
            RUN_EXAMPLES,
            RESUME_EXAMPLES,
            VIEW_EXAMPLES,
            PICTURE_EXAMPLES,
            PROBLEM_EXAMPLES,
            RACE_EXAMPLES,
        ];
        for line in examples.join("\n").lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [
                "drystone",
                "run" | "view" | "picture" | "problem" | "race",
                scene,
                ..,
            ] = words[..]
                && !scene.ends_with(".toml")
                && !scene.ends_with(".json")
                && !scene.ends_with(".dry")
                && !drystone_scene::import::is_model(scene.as_ref())
                && scene != "#"
            {
                assert!(gallery::find(scene).is_some(), "{scene}");
            }
        }
    }
}
