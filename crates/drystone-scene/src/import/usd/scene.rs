//! The scene of a stage: units, gravity, bodies, joints and filters.

use std::collections::{BTreeMap, BTreeSet};

use drystone::glam::{DMat4, DVec3};

use super::collide::{Class, Rules};
use super::layer::Value;
use super::stage::Stage;
use super::transform;
use crate::error::SceneError;
use crate::import::Imported;
use crate::import::files::shortened;
use crate::import::rigid::{self, Pose3};
use crate::import::unread::Listing;
use crate::schema::Scene;

/// Mass per volume of what says nothing of it, kg/m³: the schema's own.
const DENSITY: f64 = 1000.0;
/// The schema's word for gravity as on Earth, m/s².
const EARTH: f64 = 9.81;
/// The schema's size of a unit of stages that do not say it, m.
const CENTIMETER: f64 = 0.01;
/// The body that joints to the world hold on to.
pub(super) const WORLD: &str = "world";

/// Schemas that change how bodies move and are not read, by how their names begin.
const FOREIGN: [&str; 4] = ["Physx", "Mjc", "Newton", "PhysicsArticulation"];
/// Prims that have shapes and are not read.
const NOT_READ: [&str; 3] = ["PointInstancer", "PhysxParticleSystem", "TetMesh"];

/// A rigid body of the stage.
pub(super) struct Held {
    pub(super) name: String,
    pub(super) pose: Pose3,
}

/// A scene in the making.
pub(super) struct Maker<'a> {
    pub(super) stage: &'a Stage<'a>,
    /// Size of the stage's units in m and kg.
    pub(super) meter: f64,
    pub(super) kilogram: f64,
    /// Matrix of each prim: to its parent, and to the world.
    pub(super) local: Vec<DMat4>,
    pub(super) matrices: Vec<DMat4>,
    /// The matrix around all prims.
    pub(super) outermost: DMat4,
    /// The rigid body that each prim is or belongs to.
    pub(super) holders: Vec<Option<usize>>,
    /// Bodies of the scene by prim, fixed ones included.
    pub(super) bodies: BTreeMap<usize, Held>,
    /// Names of materials by prim.
    pub(super) materials: BTreeMap<usize, String>,
    pub(super) material_names: BTreeSet<String>,
    /// What filters see of each body of the scene; `None` for one that touches nothing.
    pub(super) classes: Vec<Option<Class>>,
    /// Which bodies touch which.
    pub(super) rules: Rules,
    /// Points of meshes that may still be read.
    pub(super) points_left: usize,
    pub(super) scene: Scene,
    pub(super) unsupported: Vec<String>,
    names: BTreeSet<String>,
}

/// The scene of a stage.
pub(super) fn make(stage: &Stage<'_>) -> Result<Imported, SceneError> {
    let meter = stage.setting("metersPerUnit", CENTIMETER)?;
    let outermost = transform::outermost(stage, meter);
    let (local, matrices) = transform::all(stage, outermost)?;
    let mut scene = Scene::new("", 3);
    scene.strategy = Some("realtime".to_owned());
    scene.defaults.density = Some(DENSITY);
    let mut maker = Maker {
        stage,
        meter,
        kilogram: stage.setting("kilogramsPerUnit", 1.0)?,
        local,
        matrices,
        outermost,
        holders: Vec::new(),
        bodies: BTreeMap::new(),
        materials: BTreeMap::new(),
        material_names: BTreeSet::new(),
        classes: Vec::new(),
        rules: Rules::default(),
        points_left: super::mesh::MAX_POINTS,
        scene,
        unsupported: stage.unsupported.clone(),
        names: BTreeSet::from([WORLD.to_owned()]),
    };
    maker.list_unknown();
    let is_physical = |prim: usize| {
        stage.has_schema(prim, "PhysicsRigidBodyAPI")
            || stage.has_schema(prim, "PhysicsCollisionAPI")
    };
    if (0..stage.prims.len()).any(is_physical) {
        maker.gravity()?;
        maker.read_rules();
        maker.bodies()?;
        maker.joints()?;
        maker.filter();
    } else {
        maker.surfaces()?;
    }
    let has_body = |prim: &usize| stage.has_schema(*prim, "PhysicsRigidBodyAPI");
    let moving = (0..stage.prims.len()).filter(has_body).count();
    let mut listing = Listing::default();
    super::unread::list(stage, &mut listing);
    Imported::new(stage.file, maker.scene, maker.unsupported, listing, moving)
}

impl Maker<'_> {
    /// Lists something by the prim that it stands at.
    pub(super) fn list(&mut self, prim: usize, what: impl std::fmt::Display) {
        let place = shortened(&self.stage.path(prim));
        self.unsupported.push(format!("<{place}>: {what}"));
    }

    /// Kinds of prims and schemas that are not read, each once.
    fn list_unknown(&mut self) {
        let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (index, prim) in self.stage.prims.iter().enumerate() {
            let schemas = prim.schemas.iter().map(String::as_str);
            let is_foreign = |schema: &&str| FOREIGN.iter().any(|begin| schema.starts_with(begin));
            let kind = Some(prim.type_name.as_str()).filter(|kind| NOT_READ.contains(kind));
            for what in schemas.filter(is_foreign).chain(kind) {
                found.entry(what).or_insert((index, 0)).1 += 1;
            }
        }
        for (what, (first, count)) in found {
            let more = match count {
                1 => String::new(),
                _ => format!(" and on {} other prims", count - 1),
            };
            self.list(first, format!("`{}`{more}", shortened(what)));
        }
        if let Some(Value::Texts(axis)) = self.stage.settings.get("upAxis")
            && !axis.iter().all(|axis| axis == "Y" || axis == "Z")
        {
            self.unsupported
                .push("an `upAxis` other than Y and Z".to_owned());
        }
    }

    /// A name that no body has yet: the prim's own, or if it is taken with the path.
    pub(super) fn free_name(&mut self, prim: usize) -> String {
        let Some(own) = self.stage.prims.get(prim) else {
            return String::new();
        };
        let shown = own
            .display_name
            .as_ref()
            .filter(|name| !name.trim().is_empty());
        let name = shortened(shown.unwrap_or(&own.name));
        if self.names.insert(name.clone()) {
            return name;
        }
        let mut longer = format!("{name} ({})", self.stage.path(prim));
        if !self.names.insert(longer.clone()) {
            longer = format!("{longer} {prim}");
            self.names.insert(longer.clone());
        }
        longer
    }

    /// Gravity of the first `PhysicsScene`; as on Earth without one.
    fn gravity(&mut self) -> Result<(), SceneError> {
        let prims = self.stage.prims.iter().enumerate();
        let mut scenes = prims.filter(|(_, prim)| prim.type_name == "PhysicsScene");
        let Some((first, _)) = scenes.next() else {
            return Ok(());
        };
        if let Some((other, _)) = scenes.next() {
            self.list(
                other,
                "a second `PhysicsScene`: all bodies are in one world",
            );
        }
        let name = "physics:gravityMagnitude";
        let magnitude = match self.stage.number(first, name, f64::NEG_INFINITY)? {
            earth if earth == f64::NEG_INFINITY || earth < 0.0 => EARTH,
            units if units.is_finite() => units * self.meter,
            _ => return Err(self.stage.wrong_at(first, name, "it should be finite")),
        };
        let direction = self.stage.vector(first, "physics:gravityDirection")?;
        let turn = transform::Placement::of(&self.outermost).map(|outer| outer.pose.rotation);
        let direction = direction
            .and_then(DVec3::try_normalize)
            .map_or(DVec3::NEG_Y, |direction| {
                turn.unwrap_or_default() * direction
            });
        let gravity = direction * magnitude;
        if gravity != DVec3::new(0.0, -EARTH, 0.0) {
            self.scene.gravity = Some(rigid::list(gravity));
        }
        Ok(())
    }
}
