//! Scenes in the formats of other programs: glTF with physics, and the physics of USD stages.
//!
//! [`glb`] writes a scene at its start as binary glTF with `KHR_physics_rigid_bodies` and
//! `KHR_implicit_shapes` (the drafts in which a collider names a `mesh`), so that other engines can
//! run it, and [`import`](crate::import) reads it back to the same motion.
//!
//! | of the scene | in the file |
//! |---|---|
//! | bodies | nodes by their names, in order; what moves has `motion` |
//! | shapes | `KHR_implicit_shapes`; hulls, meshes and height fields as meshes; parts of compounds on child nodes |
//! | masses | `motion.mass`, and centre and inertia where the scene gives them |
//! | materials, groups | `physicsMaterials`, `collisionFilters` |
//! | joints | a node on either body, `physicsJoints` |
//! | sensors | `trigger` |
//!
//! What the extensions can't say is in `extras.drystone` of the object it belongs to, in the words
//! of scene files: settings of the [`Scene`] on the glTF scene, of a [`Body`](crate::schema::Body)
//! on its node, of a [`Material`](crate::schema::Material), a [`Shape`](crate::schema::Shape) or a
//! [`Joint`](crate::schema::Joint) on theirs. The KHR data counts: an importer takes an extra only
//! where it says the same with more digits, or what KHR has no words for.

mod body;
pub(crate) mod joint;
pub(crate) mod material;
pub(crate) mod shape;
mod usd;

use drystone::D3;
use drystone::World;
use drystone_frame::export::gltf::Document;
use drystone_frame::export::{Model, Motion};
use serde_json::{Value, json};

use crate::error::SceneError;
use crate::schema::Scene;
pub use usd::physics as usd_physics;

/// The extension of bodies, materials, filters and joints.
pub(crate) const PHYSICS: &str = "KHR_physics_rigid_bodies";
/// The extension of shapes.
pub(crate) const SHAPES: &str = "KHR_implicit_shapes";
/// Where an object's extras are.
pub(crate) const EXTRAS: &str = "/extras/drystone";

/// Why a scene can't be written as glTF with physics, if it can't.
#[must_use]
pub fn obstacle(scene: &Scene) -> Option<&'static str> {
    if scene.dimension != 3 {
        return Some("it is flat, and glTF has bodies in space only");
    }
    let soft = "it has deformables, and KHR_physics_rigid_bodies has none";
    (!scene.deformables.is_empty()).then_some(soft)
}

/// The scene as binary glTF with physics.
///
/// ```
/// use drystone_scene::{export, gallery};
/// let scene = gallery::find("dominoes").unwrap().scene()?;
/// let glb = export::glb(&scene)?;
/// assert!(glb.starts_with(b"glTF"));
/// # Ok::<(), drystone_scene::SceneError>(())
/// ```
///
/// # Errors
///
/// For a scene that has an [`obstacle`] or can't be built.
pub fn glb(scene: &Scene) -> Result<Vec<u8>, SceneError> {
    let refuse = |problem: String| {
        let help = "record a run and export the recording: that holds whatever moves";
        SceneError::unreadable(&scene.name, problem, help)
    };
    if let Some(obstacle) = obstacle(scene) {
        let problem = format!("glTF with physics can't hold this scene: {obstacle}");
        return Err(refuse(problem));
    }
    let (plain, world) = scene.expanded()?;
    let document = drawn(&world).map_err(|error| refuse(error.to_string()))?;
    let mut writer = Writer {
        plain: &plain,
        world: &world,
        document,
        materials: Vec::new(),
        filters: Filters::of(&plain),
        joints: Vec::new(),
        shapes: Vec::new(),
        meshes: Vec::new(),
    };
    for material in &plain.materials {
        writer.materials.push(material::said(material));
    }
    for k in 0..plain.bodies.len() {
        writer.body(k);
    }
    for given in &plain.joints {
        writer.joint(given);
    }
    let document = writer.finish();
    document
        .into_glb()
        .map_err(|error| refuse(error.to_string()))
}

/// What the scene looks like at its start.
fn drawn(world: &World<D3>) -> Result<Document, drystone_frame::export::gltf::TooLarge> {
    let (stage, frame) = (world.stage(), world.frame());
    let mut motion = Motion::new(&stage);
    motion.add(&frame);
    Document::new(&stage, &Model::new(&stage, &frame), &motion)
}

/// A file in the making.
struct Writer<'a> {
    plain: &'a Scene,
    world: &'a World<D3>,
    document: Document,
    materials: Vec<Value>,
    filters: Filters,
    joints: Vec<Value>,
    shapes: Vec<Value>,
    /// Meshes of colliders that are there already, by what their shapes are.
    meshes: Vec<(String, usize)>,
}

impl Writer<'_> {
    /// Adds a node below another one and gives its index.
    fn child(&mut self, parent: usize, node: Value) -> usize {
        let child = self.document.push("nodes", node);
        let parent = &mut self.document.json["nodes"][parent];
        match parent.get_mut("children").and_then(Value::as_array_mut) {
            Some(children) => children.push(child.into()),
            None => parent["children"] = json!([child]),
        }
        child
    }

    /// The node of a body by its place in the scene.
    fn node_of(&self, body: usize) -> usize {
        let node = self.document.nodes.get(body).copied().flatten();
        node.unwrap_or_default()
    }

    fn finish(mut self) -> Document {
        let json = &mut self.document.json;
        let mut physics = json!({});
        for (key, list) in [
            ("physicsMaterials", self.materials),
            ("collisionFilters", self.filters.list),
            ("physicsJoints", self.joints),
        ] {
            if !list.is_empty() {
                physics[key] = list.into();
            }
        }
        let mut extensions = json!({ PHYSICS: physics });
        let mut used = vec![PHYSICS];
        if !self.shapes.is_empty() {
            extensions[SHAPES] = json!({ "shapes": self.shapes });
            used.push(SHAPES);
        }
        json["extensions"] = extensions;
        json["extensionsUsed"] = used.into();
        json["scenes"][0]["name"] = self.plain.name.clone().into();
        json["scenes"][0]["extras"] = json!({ "drystone": settings(self.plain) });
        self.document
    }
}

/// What a scene says beyond its bodies, joints and materials.
fn settings(plain: &Scene) -> Value {
    let settings = Scene {
        bodies: Vec::new(),
        joints: Vec::new(),
        materials: Vec::new(),
        ..plain.clone()
    };
    serde_json::to_value(settings).unwrap_or_default()
}

/// Bodies in the same groups, which meet the same groups, are a system of their own; each says
/// with which others it does not collide.
struct Filters {
    list: Vec<Value>,
    /// Of each body.
    of_body: Vec<Option<usize>>,
}

impl Filters {
    fn of(plain: &Scene) -> Self {
        let bits = |groups: &Option<Vec<u8>>| match groups {
            None => u32::MAX,
            Some(list) => list.iter().fold(0, |bits, &k| bits | 1_u32 << (k & 31)),
        };
        let mut classes: Vec<(u32, u32)> = Vec::new();
        let mut of_body = Vec::new();
        for body in &plain.bodies {
            let class = (bits(&body.groups), bits(&body.meets));
            let known = classes.iter().position(|known| *known == class);
            of_body.push(known.or_else(|| {
                classes.push(class);
                Some(classes.len() - 1)
            }));
        }
        let touch = |a: &(u32, u32), b: &(u32, u32)| a.0 & b.1 != 0 && b.0 & a.1 != 0;
        let name = |k: usize| format!("bodies {}", k + 1);
        let filter = |(k, class): (usize, &(u32, u32))| {
            let others = classes.iter().enumerate();
            let not = others.filter(|(_, other)| !touch(class, other));
            let not: Vec<String> = not.map(|(k, _)| name(k)).collect();
            let mut filter = json!({ "collisionSystems": [name(k)] });
            if !not.is_empty() {
                filter["notCollideWithSystems"] = not.into();
            }
            filter
        };
        let list: Vec<Value> = classes.iter().enumerate().map(filter).collect();
        if list
            .iter()
            .all(|f| f.get("notCollideWithSystems").is_none())
        {
            return Self {
                list: Vec::new(),
                of_body: vec![None; plain.bodies.len()],
            };
        }
        Self { list, of_body }
    }
}
