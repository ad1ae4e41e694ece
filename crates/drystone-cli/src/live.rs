//! Scenes for the viewer: the bridge between the engine's worlds and a page that knows no physics.

mod lessons;
mod matrix;
pub(crate) mod played;
mod running;
pub(crate) mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use drystone::{SolverKind, Strategy};
use drystone_scene::{AnyWorld, Scene, gallery};
use drystone_view::live::{Card, Change, Gallery, Simulation};
use drystone_view::still::{Camera, Still};

use played::Played;
use running::Running;

/// Width and height of pictures in the list of scenes, pixels.
const THUMBNAIL: (u32, u32) = (320, 180);

/// The strategy whose solver is a choice.
const VELOCITY: &str = "velocity";

/// The gallery, and the scene or the recording that was asked for if it is a file.
#[derive(Debug, Default)]
pub(crate) struct Scenes {
    file: Option<Scene>,
    recording: Option<PathBuf>,
    /// Pictures that were drawn already.
    thumbnails: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Scenes {
    /// The gallery with a scene that need not be part of it.
    pub(crate) fn with(scene: Scene) -> Self {
        let is_known = gallery::find(&scene.name).is_some();
        Self {
            file: (!is_known).then_some(scene),
            ..Self::default()
        }
    }

    /// The gallery with a recording.
    pub(crate) fn with_recording(path: PathBuf) -> Self {
        Self {
            recording: Some(path),
            ..Self::default()
        }
    }

    /// The recording of a name.
    fn recording(&self, name: &str) -> Option<&PathBuf> {
        let recording = self.recording.as_ref();
        recording.filter(|path| played::name_of(path) == name)
    }

    /// A small picture of the start of a scene or a recording.
    fn draw(&self, name: &str) -> Option<Vec<u8>> {
        let (stage, frame, camera) = match self.recording(name) {
            Some(path) => {
                let (stage, frame) = Played::start(path)?;
                (stage, frame, Camera::default())
            }
            None => {
                let scene = self.scene(name).ok()?;
                let world = scene.build().ok()?;
                (world.stage(), world.frame(), camera(&scene))
            }
        };
        let still = Still {
            width: THUMBNAIL.0,
            height: THUMBNAIL.1,
            camera,
            contacts: false,
        };
        still.render(&stage, &frame).ok()?.png().ok()
    }

    fn scene(&self, name: &str) -> Result<Scene, String> {
        match &self.file {
            Some(scene) if scene.name == name => Ok(scene.clone()),
            // Pages may name scenes of the gallery, never files.
            _ => {
                let entry = gallery::find(name).ok_or(format!("there is no scene `{name}`"))?;
                entry.scene().map_err(|error| error.to_string())
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = Scene> {
        let entries = gallery::entries().iter();
        let known = entries.filter_map(|entry| entry.scene().ok());
        self.file.iter().cloned().chain(known)
    }
}

impl Gallery for Scenes {
    fn cards(&self) -> Vec<Card> {
        let card = |scene: Scene| Card {
            lesson: lessons::number(&scene.name),
            name: scene.name,
            look: scene.look,
            dimension: scene.dimension,
        };
        let recording = self.recording.iter().map(|path| Card {
            name: played::name_of(path),
            look: "The recording".to_owned(),
            dimension: Played::start(path).map_or(3, |(stage, _)| stage.dimension),
            lesson: 0,
        });
        recording.chain(self.all().map(card)).collect()
    }

    fn solvers(&self) -> Vec<String> {
        SolverKind::NAMES.map(str::to_owned).to_vec()
    }

    fn strategies(&self) -> Vec<String> {
        Strategy::NAMES
            .iter()
            .map(|name| (*name).to_owned())
            .collect()
    }

    fn racers(&self) -> Vec<String> {
        // `velocity` is told apart by its solvers.
        let strategies = self.strategies().into_iter();
        let others = strategies.filter(|name| name != VELOCITY);
        self.solvers().into_iter().chain(others).collect()
    }

    fn racer(&self, name: &str) -> Result<Change, String> {
        let is_solver = SolverKind::named(name).is_some();
        if !is_solver && Strategy::named(name).is_none() {
            return Err("there is no such solver or strategy".to_owned());
        }
        let strategy = if is_solver { VELOCITY } else { name };
        Ok(Change {
            solver: is_solver.then(|| name.to_owned()),
            strategy: Some(strategy.to_owned()),
            ..Change::default()
        })
    }

    fn laws(&self) -> Vec<String> {
        verdict::laws()
    }

    fn open(&self, name: &str) -> Result<Box<dyn Simulation>, String> {
        if let Some(path) = self.recording(name) {
            let played = Played::open(path).map_err(|fault| fault.to_string())?;
            return Ok(Box::new(played));
        }
        let scene = self.scene(name)?;
        let world = scene.build().map_err(|error| error.to_string())?;
        Ok(match world {
            AnyWorld::Flat(world) => Box::new(Running::new(scene, world)),
            AnyWorld::Solid(world) => Box::new(Running::new(scene, world)),
        })
    }

    fn thumbnail(&self, name: &str) -> Option<Vec<u8>> {
        let known = || {
            self.thumbnails
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(picture) = known().get(name) {
            return Some(picture.clone());
        }
        let picture = self.draw(name)?;
        known().insert(name.to_owned(), picture.clone());
        Some(picture)
    }
}

/// The scene's camera; what it leaves open is chosen so that everything is seen.
pub(crate) fn camera(scene: &Scene) -> Camera {
    let open = Camera::default();
    let Some(camera) = &scene.camera else {
        return open;
    };
    Camera {
        eye: camera.eye,
        target: camera.target,
        field_of_view_deg: camera.field_of_view.unwrap_or(open.field_of_view_deg),
        azimuth_deg: camera.azimuth,
        elevation_deg: camera.elevation.unwrap_or(open.elevation_deg),
    }
}
