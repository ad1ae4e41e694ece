//! A run as an HTML file that plays anywhere.

use drystone::{Space, StepReport, World};
use drystone_scene::Scene;
use drystone_view::live::LiveError;
use drystone_view::live::page::PAGE;
use drystone_view::replay::{Recorder, Subject};

use super::Target;
use crate::fault::Fault;
use crate::live::verdict::{self, Verdict};

/// A replay that is being recorded.
#[derive(Debug)]
pub(super) struct Replay {
    target: Target,
    scene: Scene,
    seconds: f64,
    recorder: Option<Recorder>,
}

impl Replay {
    /// A replay of a run of `seconds`; refused before the first step where there is no page.
    pub(super) fn new(target: Target, scene: &Scene, seconds: f64) -> Result<Self, Fault> {
        if PAGE.is_empty() {
            return Err(Fault::View(LiveError::NoPage));
        }
        Ok(Self {
            target,
            scene: scene.clone(),
            seconds,
            recorder: None,
        })
    }

    /// Takes the state before the first step.
    pub(super) fn begin<S: Space>(&mut self, world: &World<S>) -> Result<(), Fault> {
        let recorder = begun(&self.scene, world, self.seconds).map_err(Fault::View)?;
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Takes the state after a step.
    pub(super) fn add<S: Space>(&mut self, world: &World<S>, step: &StepReport) {
        if let Some(recorder) = &mut self.recorder {
            add(recorder, world, step);
        }
    }

    /// Writes the file.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        let Some(recorder) = self.recorder.take() else {
            return Ok(());
        };
        let page = recorder.finish();
        let page = page.map_err(|error| self.target.fault(error))?;
        self.target.replace(page.as_bytes())
    }
}

/// A recorder with the state before the first step of a run of `seconds`.
fn begun<S: Space>(scene: &Scene, world: &World<S>, seconds: f64) -> Result<Recorder, LiveError> {
    let subject = Subject {
        stage: world.stage(),
        about: verdict::about(scene, world),
        settings: verdict::settings(world),
        laws: verdict::laws(),
        seconds,
    };
    Recorder::new(&subject, &world.frame())
}

/// Takes the state after a step.
fn add<S: Space>(recorder: &mut Recorder, world: &World<S>, step: &StepReport) {
    let verdict = Verdict::of(world);
    recorder.add_numbers(verdict.numbers(world, step));
    if recorder.is_due(world.time()) {
        recorder.add_frame(&world.frame(), &verdict.details);
    }
}

/// Makes so many steps of a world, calls `each` after each of them, and gives the page that plays
/// them; or what went wrong, in words.
pub(crate) fn page<S: Space>(
    scene: &Scene,
    world: &mut World<S>,
    steps: u64,
    each: &mut dyn FnMut(&World<S>, &StepReport),
) -> Result<String, String> {
    let seconds = steps as f64 * world.settings().dt;
    let mut recorder = begun(scene, world, seconds).map_err(|error| error.to_string())?;
    for _ in 0..steps {
        let step = world.step().map_err(|error| error.to_string())?;
        add(&mut recorder, world, &step);
        each(world, &step);
    }
    recorder.finish().map_err(|error| error.to_string())
}
