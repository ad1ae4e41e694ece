//! A scene that grows together with its world: for programs that build step by step.
//!
//! Whatever is added is checked as an entry of a scene file is, goes into the world at once, and is
//! kept as an entry, so that the scene can be written down at any time. The bytes of a
//! [`LiveScene`] hold both: what was built, and the [snapshot](drystone::World::snapshot).

use drystone::{BodyId, D2, D3, JointId, World};
use serde::{Deserialize, Serialize};

use super::body::Template;
use super::dimension::Dimension;
use super::material::MaterialTable;
use super::{MAX_BODIES, build, deformable, joint, no_dimension, repeat, settings};
use crate::any_world::{AnyWorld, forward};
use crate::error::{Flaw, SceneError};
use crate::import::{Files, ImportOptions};
use crate::path::FieldPath;
use crate::schema::{Body, Deformable, Joint, Kind, Material, Pair, Scene, Shape};

/// First bytes of a saved world, and their version.
const MAGIC: &[u8; 8] = b"DRYWORLD";
const VERSION: u8 = 1;
/// Magic, version, length of the scene (8 bytes, little-endian).
const HEAD: usize = MAGIC.len() + 1 + 8;

/// The place of a joint among the world's joints, and its name.
pub type LiveJoint = (usize, String);

/// A scene and its world, both growing.
///
/// ```
/// use drystone_scene::{LiveScene, Scene, schema::{Body, Shape}};
/// let mut live = LiveScene::new(Scene::new("ball", 3))?;
/// let shape = Some(Shape::Ball { radius: 0.5 });
/// let ball = live.add_body(Body { shape, ..Body::default() })?;
/// live.world_mut().step()?;
/// assert!(live.world().frame().positions[ball[0]][1] < 0.0);
/// assert!(live.scene().to_toml()?.contains("radius"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LiveScene {
    scene: Scene,
    world: AnyWorld,
    materials: MaterialTable,
    /// Shapes of bodies that were removed: a snapshot names them.
    removed: Vec<Shape>,
    /// A repeated entry of which a copy was removed, by that copy's name.
    partial: Option<String>,
}

/// What the bytes hold before the snapshot.
#[derive(Serialize, Deserialize)]
struct Saved {
    scene: Scene,
    removed: Vec<Shape>,
    partial: Option<String>,
}

impl LiveScene {
    /// Builds the scene.
    pub fn new(scene: Scene) -> Result<Self, SceneError> {
        Self::made(scene, true)
    }

    fn made(mut scene: Scene, checked: bool) -> Result<Self, SceneError> {
        let built = match scene.dimension {
            2 => build::<D2>(&scene, checked).map(|b| (AnyWorld::Flat(b.world), b.materials)),
            3 => build::<D3>(&scene, checked).map(|b| (AnyWorld::Solid(b.world), b.materials)),
            other => Err(no_dimension(other)),
        };
        let (world, materials) = built.map_err(|flaw| scene.place(flaw))?;
        // What is added later is not in the text.
        scene.source = None;
        Ok(Self {
            scene,
            world,
            materials,
            removed: Vec::new(),
            partial: None,
        })
    }

    /// What was built so far, as it was when it was added.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &AnyWorld {
        &self.world
    }

    /// The world, to be stepped and changed. Bodies and joints are added and removed by methods of
    /// this type, or the scene does not know of them.
    pub fn world_mut(&mut self) -> &mut AnyWorld {
        &mut self.world
    }

    /// What was built, as a scene file.
    pub fn to_toml(&self) -> Result<String, SceneError> {
        match &self.partial {
            None => self.scene.to_toml(),
            Some(name) => {
                let problem = format!("`{name}` was removed from a repeated body");
                let help = "a scene can't say that: add bodies one by one, or save a snapshot";
                Err(SceneError::unreadable(&self.scene.name, problem, help))
            }
        }
    }

    /// Changes how the world is stepped: `change` alters the scene's settings.
    pub fn set(&mut self, change: impl FnOnce(&mut Scene)) -> Result<(), SceneError> {
        let mut scene = self.scene.clone();
        change(&mut scene);
        let set = match &mut self.world {
            AnyWorld::Flat(world) => settings::change(&scene, world),
            AnyWorld::Solid(world) => settings::change(&scene, world),
        };
        set.map_err(|flaw| scene.place(flaw))?;
        self.scene = scene;
        Ok(())
    }

    /// Adds a body, or all copies of one that is repeated: their places. Meshes that it names are
    /// read from the working folder.
    pub fn add_body(&mut self, body: Body) -> Result<Vec<usize>, SceneError> {
        let path = FieldPath::default()
            .key("bodies")
            .index(self.scene.bodies.len());
        let is_single = body.repeat.is_none();
        let mut entry = Scene::new("", self.scene.dimension);
        entry.bodies.push(body);
        read_files(&mut entry)?;
        self.scene.bodies.append(&mut entry.bodies);
        let (scene, table) = (&self.scene, &mut self.materials);
        let added = match &mut self.world {
            AnyWorld::Flat(world) => add_body(scene, path, table, world),
            AnyWorld::Solid(world) => add_body(scene, path, table, world),
        };
        let added = added.map_err(|flaw| scene.place(flaw));
        match &added {
            Err(_) => {
                self.scene.bodies.pop();
            }
            Ok(places) if is_single => {
                let name = places.first().map(|&place| self.world.body_name(place));
                let name = name.map(str::to_owned);
                if let Some(entry) = self.scene.bodies.last_mut() {
                    entry.name = name;
                }
            }
            Ok(_) => {}
        }
        added
    }

    /// Adds a joint, or those of a chain.
    pub fn add_joint(&mut self, given: Joint) -> Result<Vec<LiveJoint>, SceneError> {
        let path = FieldPath::default()
            .key("joints")
            .index(self.scene.joints.len());
        let is_single = given.chain.is_none();
        self.scene.joints.push(given);
        let added = match (&mut self.world, self.scene.joints.last()) {
            (AnyWorld::Flat(world), Some(given)) => add_joint(given, &path, world),
            (AnyWorld::Solid(world), Some(given)) => add_joint(given, &path, world),
            (_, None) => Ok(Vec::new()),
        };
        let added = added.map_err(|flaw| self.scene.place(flaw));
        match &added {
            Err(_) => {
                self.scene.joints.pop();
            }
            Ok(joints) if is_single => {
                let name = joints.first().map(|(_, name)| name.clone());
                if let Some(entry) = self.scene.joints.last_mut() {
                    entry.name = name;
                }
            }
            Ok(_) => {}
        }
        added
    }

    /// Adds a deformable: its place among the world's. If the scene names no strategy it goes on
    /// with one that serves deformables.
    pub fn add_deformable(&mut self, given: Deformable) -> Result<usize, SceneError> {
        let path = FieldPath::default()
            .key("deformables")
            .index(self.scene.deformables.len());
        let mut entry = Scene::new("", self.scene.dimension);
        entry.deformables.push(given);
        read_files(&mut entry)?;
        self.scene.deformables.append(&mut entry.deformables);
        let table = &mut self.materials;
        let added = match (&mut self.world, self.scene.deformables.last()) {
            (AnyWorld::Flat(world), Some(given)) => deformable::add(given, &path, table, world),
            (AnyWorld::Solid(world), Some(given)) => deformable::add(given, &path, table, world),
            (_, None) => return Ok(0),
        };
        match added.map_err(|flaw| self.scene.place(flaw)) {
            Ok(id) => {
                let place = id.index();
                let name = forward!(&self.world, world => deformable_name(world, place));
                if let Some(entry) = self.scene.deformables.last_mut() {
                    entry.name = name;
                }
                self.set(|_| {})?;
                Ok(place)
            }
            Err(error) => {
                self.scene.deformables.pop();
                Err(error)
            }
        }
    }

    /// Adds a material.
    pub fn add_material(&mut self, material: Material) -> Result<(), SceneError> {
        let path = FieldPath::default()
            .key("materials")
            .index(self.scene.materials.len());
        let engine = forward!(&mut self.world, world => &mut world.materials);
        let added = self.materials.add(&material, &path, engine);
        self.scene.materials.push(material);
        added.map_err(|flaw| {
            let error = self.scene.place(flaw);
            self.scene.materials.pop();
            error
        })
    }

    /// Sets the coefficients of two materials where they meet.
    pub fn add_pair(&mut self, pair: Pair) -> Result<(), SceneError> {
        let path = FieldPath::default()
            .key("pairs")
            .index(self.scene.pairs.len());
        let engine = forward!(&mut self.world, world => &mut world.materials);
        let added = self.materials.add_pair(&pair, &path, engine);
        added.map_err(|flaw| self.scene.place(flaw))?;
        self.scene.pairs.push(pair);
        Ok(())
    }

    /// Removes a body and its joints.
    pub fn remove_body(&mut self, place: usize) -> Result<(), drystone::AccessError> {
        let name = self.world.body_name(place).to_owned();
        forward!(&mut self.world, world => world.remove(world.bodies().id(place)))?;
        let is_entry = |body: &Body| body.repeat.is_none() && body.name.as_ref() == Some(&name);
        match self.scene.bodies.iter().position(is_entry) {
            Some(entry) => self.removed.extend(self.scene.bodies.remove(entry).shape),
            None => self.partial = Some(name.clone()),
        }
        let ties = |end: &Option<String>| end.as_ref() == Some(&name);
        self.scene
            .joints
            .retain(|joint| !(ties(&joint.a) || ties(&joint.b)));
        Ok(())
    }

    /// Removes a joint by its place.
    pub fn remove_joint(&mut self, place: usize) -> Result<(), drystone::AccessError> {
        let name = forward!(&mut self.world, world => remove_joint(world, place))?;
        let is_entry = |joint: &Joint| joint.chain.is_none() && joint.name.as_ref() == Some(&name);
        match self.scene.joints.iter().position(is_entry) {
            Some(entry) => drop(self.scene.joints.remove(entry)),
            None => self.partial = Some(name),
        }
        Ok(())
    }

    /// The scene and the world as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SceneError> {
        let saved = Saved {
            scene: self.scene.clone(),
            removed: self.removed.clone(),
            partial: self.partial.clone(),
        };
        let scene = serde_json::to_vec(&saved).map_err(|error| {
            let problem = format!("the scene can't be written: {error}");
            SceneError::unreadable(&self.scene.name, problem, "check its numbers")
        })?;
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend((scene.len() as u64).to_le_bytes());
        bytes.extend(scene);
        bytes.extend(forward!(&self.world, world => world.snapshot()));
        Ok(bytes)
    }

    /// A world from its bytes: it goes on bit by bit as the one that was saved.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SceneError> {
        let damaged = |problem: String| {
            SceneError::unreadable("saved world", problem, "save it again with this version")
        };
        let (scene, snapshot) = parts(bytes).map_err(|problem| damaged(problem.to_owned()))?;
        let saved: Saved =
            serde_json::from_slice(scene).map_err(|error| damaged(error.to_string()))?;
        let mut live = Self::made(saved.scene, false)?;
        for shape in &saved.removed {
            let body = Body {
                shape: Some(shape.clone()),
                kind: Kind::Fixed,
                ..Body::default()
            };
            for place in live.add_body(body)? {
                live.remove_body(place)
                    .map_err(|error| damaged(error.to_string()))?;
            }
        }
        (live.removed, live.partial) = (saved.removed, saved.partial);
        forward!(&mut live.world, world => world.restore(snapshot))
            .map_err(|error| damaged(error.to_string()))?;
        Ok(live)
    }
}

/// The scene and the snapshot of a saved world.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let rest = bytes.strip_prefix(MAGIC);
    let rest = rest.ok_or("these bytes are no saved world")?;
    if rest.first() != Some(&VERSION) {
        return Err("these bytes are a saved world of another version");
    }
    let length = bytes.get(HEAD - 8..HEAD).and_then(|b| b.try_into().ok());
    let length = usize::try_from(length.map_or(u64::MAX, u64::from_le_bytes));
    let rest = bytes.get(HEAD..).unwrap_or_default();
    let at = length.ok().filter(|&length| length <= rest.len());
    at.map(|at| rest.split_at(at))
        .ok_or("this saved world is cut short")
}

/// Reads the meshes that an entry names: from anywhere, since the program itself names them.
fn read_files(entry: &mut Scene) -> Result<(), SceneError> {
    let options = ImportOptions {
        allow_outside: true,
        ..ImportOptions::default()
    };
    entry.read_meshes(&mut Files::new("./scene".as_ref(), options), "scene")
}

fn add_body<S: Dimension>(
    scene: &Scene,
    path: FieldPath,
    table: &mut MaterialTable,
    world: &mut World<S>,
) -> Result<Vec<usize>, Flaw> {
    let Some(body) = scene.bodies.last() else {
        return Ok(Vec::new());
    };
    let room = MAX_BODIES.saturating_sub(world.bodies().len() as u64);
    if room == 0 {
        return Err(repeat::too_many(path));
    }
    let template = Template::<S>::new(body, path, scene, table, &mut world.materials)?;
    let mut added: Vec<BodyId> = Vec::new();
    for copy in repeat::copies(&template, room)? {
        match template.add(copy, world) {
            Ok(id) => added.push(id),
            Err(flaw) => {
                for id in added {
                    // Each was added a moment ago.
                    let _ = world.remove(id);
                }
                return Err(flaw);
            }
        }
    }
    Ok(added.into_iter().map(BodyId::index).collect())
}

fn add_joint<S: Dimension>(
    given: &Joint,
    path: &FieldPath,
    world: &mut World<S>,
) -> Result<Vec<LiveJoint>, Flaw> {
    let added = joint::add(given, path, world)?;
    let told = |id: JointId| {
        let name = world.joint_name(id).unwrap_or_default();
        (id.index(), name.to_owned())
    };
    Ok(added.into_iter().map(told).collect())
}

fn remove_joint<S: Dimension>(
    world: &mut World<S>,
    place: usize,
) -> Result<String, drystone::AccessError> {
    let id = world
        .joint_at(place)
        .ok_or(drystone::AccessError::NoJoint)?;
    let name = world.joint_name(id).unwrap_or_default().to_owned();
    world.unjoin(id).map(|()| name)
}

fn deformable_name<S: Dimension>(world: &World<S>, place: usize) -> Option<String> {
    let mut all = world.deformables();
    let id = all.find(|id| id.index() == place)?;
    world.deformable_name(id).map(str::to_owned)
}
