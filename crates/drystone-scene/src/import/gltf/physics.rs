//! The scene of a document: settings, bodies, joints and filters of `KHR_physics_rigid_bodies`.

use std::collections::BTreeSet;

use super::document::{Document, node_name};
use super::material::Materials;
use super::value::{NULL, Value};
use super::{joint, mesh};
use crate::error::SceneError;
use crate::import::rigid::{self, Pose3};
use crate::import::unread::Listing;
use crate::import::{Imported, filter};
use crate::schema::{Body, Joint, JointFrame, Kind, Scene};

pub(super) const ON_NODE: &str = "/extensions/KHR_physics_rigid_bodies";
/// The body that joints to the world hold on to.
const WORLD: &str = "world";

/// The scene of a document.
pub(super) fn scene(document: &Document<'_>) -> Result<Imported, SceneError> {
    let mut maker = Maker {
        document,
        scene: settings(document)?,
        materials: Materials::default(),
        classes: Vec::new(),
        names: BTreeSet::from([WORLD.to_owned()]),
        bodies: vec![None; document.nodes.len()],
        unsupported: Vec::new(),
    };
    maker.list_unknown();
    if document.json.pointer(ON_NODE).is_none()
        && !document
            .list("/nodes")
            .iter()
            .any(|node| node.pointer(ON_NODE).is_some())
    {
        maker.surfaces()?;
    } else {
        maker.materials()?;
        maker.bodies()?;
        maker.joints()?;
        maker.filter();
    }
    let own = |node: &Value| {
        node.pointer(ON_NODE)
            .and_then(|own| own.get("motion"))
            .is_some()
    };
    let moving = document
        .list("/nodes")
        .iter()
        .filter(|node| own(node))
        .count();
    let mut listing = Listing::default();
    document.json.list(("", ""), &mut listing);
    Imported::new(
        document.file,
        maker.scene,
        maker.unsupported,
        listing,
        moving,
    )
}

/// An empty scene with the settings that the document's scene has in its extras.
fn settings(document: &Document<'_>) -> Result<Scene, SceneError> {
    let first = Value::from(serde_json::Value::from(0));
    let number = document.json.get("scene").unwrap_or(&first);
    let own = document.element("/scenes", number, "scene");
    let extra = match own {
        Ok((number, own)) => document.extra::<Scene>(own, &format!("scenes[{number}]"))?,
        Err(_) => None,
    };
    let mut scene = extra.unwrap_or_else(|| {
        let mut scene = Scene::new("", 3);
        scene.strategy = Some("realtime".to_owned());
        scene
    });
    scene.dimension = 3;
    scene.bodies.clear();
    scene.joints.clear();
    scene.materials.clear();
    scene.deformables.clear();
    Ok(scene)
}

/// A scene in the making.
pub(super) struct Maker<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) scene: Scene,
    pub(super) materials: Materials,
    /// Filter of each body of the scene; `None` for one that touches nothing.
    pub(super) classes: Vec<Option<Option<usize>>>,
    /// Names that are taken.
    names: BTreeSet<String>,
    /// Name of the body that each node is.
    pub(super) bodies: Vec<Option<String>>,
    pub(super) unsupported: Vec<String>,
}

impl Maker<'_> {
    fn list_unknown(&mut self) {
        let known = ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"];
        for name in self
            .document
            .list("/extensionsUsed")
            .iter()
            .filter_map(Value::as_str)
        {
            if !known.contains(&name) {
                self.unsupported.push(format!("extension `{name}`"));
            }
        }
        for what in ["animations", "skins", "cameras"] {
            if !self.document.list(&format!("/{what}")).is_empty() {
                self.unsupported.push(what.to_owned());
            }
        }
    }

    /// A model without physics: closed meshes are solids, open ones fixed surfaces.
    fn surfaces(&mut self) -> Result<(), SceneError> {
        let what = "it has no physics: closed meshes are solids, open ones fixed surfaces";
        self.unsupported.push(what.to_owned());
        for (index, node) in self.document.list("/nodes").iter().enumerate() {
            let (Some(mesh), Some(place)) = (node.get("mesh"), self.document.nodes.get(index))
            else {
                continue;
            };
            let at = format!("nodes[{index}].mesh");
            let surface = mesh::surface(self.document, mesh, &at)?;
            let surface = surface.scaled(place.scale.to_array());
            let is_solid = surface.is_closed();
            let name = self.free_name(node, index);
            self.scene.bodies.push(Body {
                name: Some(name),
                kind: if is_solid { Kind::Rigid } else { Kind::Fixed },
                shape: Some(surface.into_mesh(is_solid)),
                position: rigid::position(place.pose.position),
                rotation: rigid::rotation(place.pose.rotation),
                ..Body::default()
            });
        }
        Ok(())
    }

    /// A name that no body has yet.
    pub(super) fn free_name(&mut self, node: &Value, index: usize) -> String {
        let name = node_name(node, index);
        match self.names.insert(name.clone()) {
            true => name,
            false => format!("{name} (node {index})"),
        }
    }

    fn materials(&mut self) -> Result<(), SceneError> {
        self.materials = Materials::read(self.document, &mut self.unsupported)?;
        if !self.materials.are_own {
            self.scene.pairs = self.materials.pairs(&mut self.unsupported);
        }
        self.scene.materials.clone_from(&self.materials.list);
        Ok(())
    }

    fn joints(&mut self) -> Result<(), SceneError> {
        let mut needs_world = false;
        let mut names = BTreeSet::new();
        for (index, node) in self.document.list("/nodes").iter().enumerate() {
            let Some(given) = node.pointer(ON_NODE).and_then(|own| own.get("joint")) else {
                continue;
            };
            let place = format!("nodes[{index}].joint");
            let connected = given.get("connectedNode").unwrap_or(&NULL);
            let (connected, _) = self.document.element("/nodes", connected, &place)?;
            let kind = given.get("joint").unwrap_or(&NULL);
            let kinds = format!("{ON_NODE}/physicsJoints");
            let (_, kind) = self.document.element(&kinds, kind, &place)?;
            let (a, b) = (self.end(index), self.end(connected));
            if a.0 == b.0 {
                self.unsupported
                    .push(format!("{place}: both of its ends are on one body"));
                continue;
            }
            needs_world |= a.0 == WORLD || b.0 == WORLD;
            let list = (place.as_str(), &mut self.unsupported);
            let made = joint::read(self.document, kind, list)?;
            let mut name = node_name(node, index);
            if !names.insert(name.clone()) {
                name = format!("{name} (node {index})");
                names.insert(name.clone());
            }
            self.scene.joints.push(Joint {
                name: Some(name),
                a: Some(a.0),
                b: Some(b.0),
                chain: None,
                at: None,
                axis: None,
                frames: Some([a.1, b.1]),
                collides: given.get("enableCollision").and_then(Value::as_bool) == Some(true),
                ..made
            });
        }
        if needs_world {
            rigid::add_fixed(&mut self.scene, WORLD, &Pose3::default(), Vec::new());
            self.classes.push(None);
        }
        Ok(())
    }

    /// The body that holds a node, and where on it the node is.
    fn end(&self, index: usize) -> (String, JointFrame) {
        let parent = |node: &usize| self.document.nodes.get(*node)?.parent;
        let mut up = std::iter::successors(Some(index), parent);
        let found = up.find_map(|node| Some((node, self.bodies.get(node)?.clone()?)));
        let (name, local) = match found {
            Some((body, name)) => (name, self.document.seen_from(body, index)),
            None => {
                let place = self.document.nodes.get(index);
                let pose = place.map_or(Pose3::default(), |place| place.pose);
                (WORLD.to_owned(), pose)
            }
        };
        let frame = JointFrame {
            position: rigid::position(local.position),
            rotation: rigid::rotation(local.rotation),
        };
        (name, frame)
    }

    fn filter(&mut self) {
        let list = self.document.list(&format!("{ON_NODE}/collisionFilters"));
        let names = |filter: Option<usize>, key: &str| -> Option<Vec<&str>> {
            let given = list.get(filter?)?.get(key)?.as_array()?;
            Some(given.iter().filter_map(Value::as_str).collect())
        };
        // Whether the filter of b lets a through.
        let lets = |a: Option<usize>, b: Option<usize>| {
            let systems = names(a, "collisionSystems").unwrap_or_default();
            let within = |list: &[&str]| systems.iter().all(|system| list.contains(system));
            let may = names(b, "collideWithSystems").is_none_or(|list| within(&list));
            let not = names(b, "notCollideWithSystems");
            may && !not.is_some_and(|list| !systems.is_empty() && within(&list))
        };
        let touch = |a: &Option<usize>, b: &Option<usize>| lets(*a, *b) && lets(*b, *a);
        if !filter::assign(&mut self.scene.bodies, &self.classes, touch) {
            let what = "collision filters: more than 32 kinds of bodies";
            self.unsupported.push(what.to_owned());
        }
    }
}
