//! From what was typed to what is run: the scene is found, read and built, and options of the
//! command line overrule what it says.

use std::io::Write;
use std::path::Path;

use drystone::{SolverKind, Space, World};
use drystone_scene::import::{self, Effect, Imported};
use drystone_scene::{AnyWorld, Scene, Warning, gallery};

use crate::cli::{ReadArgs, SettingsArgs, Strict};
use crate::fault::Fault;
use crate::progress::Progress;
use crate::simulate::steps;

/// Warnings of a scene that a run shows; `drystone check` shows all.
const SHOWN_WARNINGS: usize = 3;

/// A scene, ready to be run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The scene.
    pub(crate) scene: Scene,
    /// Its world, with the settings of the command line.
    pub(crate) world: AnyWorld,
    /// How many steps to make.
    pub(crate) steps: u64,
    /// What looks odd in the scene.
    pub(crate) warnings: Vec<Warning>,
    /// The settings of the command line.
    pub(crate) settings: SettingsArgs,
}

impl Plan {
    /// Finds and builds a scene. `seconds` overrules its own time.
    pub(crate) fn new(
        scene: &str,
        settings: &SettingsArgs,
        seconds: Option<f64>,
    ) -> Result<Self, Fault> {
        Self::of(find(scene, &settings.reading)?, settings, seconds)
    }

    /// Builds a scene. `seconds` overrules its own time.
    pub(crate) fn of(
        scene: Scene,
        settings: &SettingsArgs,
        seconds: Option<f64>,
    ) -> Result<Self, Fault> {
        let (mut world, warnings) = scene.build_with_warnings().map_err(Fault::Scene)?;
        match &mut world {
            AnyWorld::Flat(world) => overrule(world, settings, &scene)?,
            AnyWorld::Solid(world) => overrule(world, settings, &scene)?,
        }
        Ok(Self {
            steps: steps(seconds.unwrap_or(scene.seconds), world.dt())?,
            scene,
            world,
            warnings,
            settings: settings.clone(),
        })
    }

    /// How long the run will be, s.
    pub(crate) fn seconds(&self) -> f64 {
        self.steps as f64 * self.world.dt()
    }

    /// Makes all steps.
    pub(crate) fn make_steps(&mut self) -> Result<(), Fault> {
        let mut progress = Progress::new(&self.scene.name, self.steps);
        let run = (0..self.steps).try_for_each(|_| {
            let step = self.world.step().map_err(Fault::Step)?;
            progress.show(step.step, self.world.time(), step.contacts);
            Ok(())
        });
        progress.clear();
        run
    }

    /// Says on standard error what looks odd in the scene.
    pub(crate) fn show_warnings(&self) {
        let mut stderr = std::io::stderr().lock();
        // Where standard error is gone there is no one left to tell.
        for warning in self.warnings.iter().take(SHOWN_WARNINGS) {
            let _ = writeln!(stderr, "warning: {warning}");
        }
        let more = self.warnings.len().saturating_sub(SHOWN_WARNINGS);
        if more > 0 {
            let _ = writeln!(stderr, "warning: {more} more; `drystone check` shows all");
        }
    }
}

/// The scene of the gallery or the file of that name.
pub(crate) fn find(name: &str, reading: &ReadArgs) -> Result<Scene, Fault> {
    if let Some(entry) = gallery::find(name) {
        return entry.scene().map_err(Fault::Scene);
    }
    let path = Path::new(name);
    if import::is_model(path) {
        let imported = import::import(path, &reading.options()).map_err(Fault::Scene)?;
        refuse_partial(path, &imported, reading.strict)?;
        show_unsupported(name, &imported);
        return Ok(imported.scene);
    }
    let is_file = path.extension().is_some_and(|e| e == "toml" || e == "json")
        || name.contains(['/', '\\'])
        || path.exists();
    if is_file {
        return Scene::load_with(path, &reading.options()).map_err(Fault::Scene);
    }
    Err(Fault::UnknownScene {
        name: name.to_owned(),
        near: near(name),
    })
}

/// Refuses a model of which more is left out than was asked for.
pub(crate) fn refuse_partial(
    path: &Path,
    imported: &Imported,
    strict: Option<Strict>,
) -> Result<(), Fault> {
    let Some(strict) = strict else {
        return Ok(());
    };
    // What readers gave up comes first; of the rest the effect is known, in the same order.
    let all = imported.unsupported.len();
    let given_up = all.saturating_sub(imported.unread.len());
    let moves = imported
        .unread
        .iter()
        .filter(|unread| unread.effect == Effect::Motion);
    let count = match strict {
        Strict::All => all,
        Strict::Motion => given_up + moves.count(),
    };
    let left_out: Vec<String> = imported.unsupported.iter().take(count).cloned().collect();
    match left_out.is_empty() {
        true => Ok(()),
        false => Err(Fault::Partial {
            path: path.to_owned(),
            left_out,
        }),
    }
}

/// Says on standard error how much of a model is not in its scene.
fn show_unsupported(name: &str, imported: &Imported) {
    let count = imported.unsupported.len();
    if let Some(first) = imported.unsupported.first() {
        let more = match count {
            1 => String::new(),
            _ => format!(
                " and {} more; `drystone import {name}` lists them",
                count - 1
            ),
        };
        // Where standard error is gone there is no one left to tell.
        let _ = writeln!(
            std::io::stderr(),
            "warning: {name}: not as the model says: {first}{more}"
        );
    }
}

/// Scenes of the gallery with a name like this one: the most alike, then those that hold it.
fn near(name: &str) -> Vec<String> {
    let holds = |entry: &&gallery::Entry| !name.is_empty() && entry.name.contains(name);
    let holding = gallery::entries().iter().filter(holds);
    let mut near: Vec<String> = gallery::nearest(name)
        .map(str::to_owned)
        .into_iter()
        .collect();
    for entry in holding.take(3) {
        if near.iter().all(|known| known != entry.name) {
            near.push(entry.name.to_owned());
        }
    }
    near
}

/// Puts the settings of the command line in place of the scene's.
fn overrule<S: Space>(
    world: &mut World<S>,
    args: &SettingsArgs,
    scene: &Scene,
) -> Result<(), Fault> {
    let settings = world.settings_mut();
    let asked = args.strategy_for(&settings.strategy);
    let asked = asked.and_then(|name| scene.strategy_named(name));
    // A strategy that the scene has already keeps the length of its steps.
    if let Some(strategy) = asked.filter(|asked| asked.name() != settings.strategy.name()) {
        settings.strategy = strategy;
        settings.dt = scene.dt.unwrap_or(strategy.usual_dt());
    }
    if let Some(threads) = args.threads {
        settings.threads = threads.get();
    }
    if let Some(dt) = args.dt {
        settings.dt = dt;
    }
    // A solver that the scene has already keeps the scene's options.
    let asked = args.solver.as_deref().and_then(SolverKind::named);
    if let Some(solver) = asked.filter(|solver| solver.name() != settings.solver.name()) {
        settings.solver = solver;
    }
    if let Some(iterations) = args.iterations {
        settings.solver.set_iterations(iterations.get());
    }
    if let Some(tolerance) = args.tolerance {
        settings.solver.set_tolerance(tolerance);
    }
    settings.check().map_err(Fault::Settings)?;
    let served = world.check_strategy().and_then(|()| world.check_start());
    served.map_err(Fault::Step)
}
