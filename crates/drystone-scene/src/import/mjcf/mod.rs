//! MJCF: MuJoCo's models, a tree of bodies with geoms and joints.
//!
//! A body without joints is fixed to the one around it, and both become one (see [`rigid`]); what
//! is fixed to the world becomes fixed bodies, a geom each. Without `inertial`, mass comes of the
//! geoms. Friction of two geoms is the larger, as in MuJoCo; masks and excluded pairs become
//! groups. MJCF has z up: the whole model is turned to stand on our y.

mod compiler;
mod element;
mod equality;
mod geom;
mod joint;
mod load;
mod mesh;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use drystone::glam::DVec3;

use super::files::Files;
use super::rigid::{self, Lump, Piece, Pose3};
use super::tree::Node;
use super::unread::Listing;
use super::xml::{Xml, children};
use super::{Imported, filter};
use crate::error::SceneError;
use crate::schema::{Body, Combine, Joint, Kind, Material, Scene, Shape};
use compiler::{Compiler, Options};
use element::{Defaults, MAIN};
use geom::{Geom, Masks};
use joint::{Dof, End};
use load::{Loaded, Loader};
use mesh::Meshes;
use walk::Scope;

/// The body that joints to the world hold on to.
const WORLD: &str = "world";

/// Reads a model.
pub(super) fn import(text: &str, file: &str, files: &mut Files) -> Result<Imported, SceneError> {
    let xml = Xml::new(file, text);
    let tree = xml.parse()?;
    let root = tree.root();
    if root.name() != "mujoco" {
        let found = root.name();
        let problem =
            format!("an MJCF file holds a `mujoco`, a URDF file a `robot`; not a `{found}`");
        return Err(xml.wrong(root, problem));
    }
    let mut loader = Loader::new(files, file);
    let main = loader.load(tree)?;
    let loaded = loader.all;
    let mut unsupported = Vec::new();
    let mut models = Vec::new();
    for one in &loaded {
        models.push(Model::read(&xml, one, files, &mut unsupported)?);
    }
    let mut reader = Reader {
        xml: &xml,
        models: &models,
        groups: Vec::new(),
        copied: BTreeSet::new(),
        attached: Vec::new(),
        total_mass: 0.0,
        visited: 0,
        unsupported,
    };
    let upright = Pose3 {
        position: DVec3::ZERO,
        ..rigid::upright()
    };
    reader.groups.push(Group::new(WORLD, upright, None));
    let scene = match models.get(main) {
        Some(model) => reader.scene(model, Scope::of(main))?,
        None => Scene::new("", 3),
    };
    let mut listing = Listing::default();
    for model in models.iter().rev() {
        model.defaults.list(&mut listing);
        model.root.list(&mut listing);
    }
    let moving = models.iter().map(|model| moving(model.root)).sum();
    Imported::new(file, scene, reader.unsupported, listing, moving)
}

/// Elements below that say that something moves.
fn moving(node: Node<'_>) -> usize {
    const MOVING: [&str; 4] = ["joint", "freejoint", "composite", "flexcomp"];
    let inside = ["worldbody", "body", "frame", "replicate"].contains(&node.name());
    let own = |child: &Node<'_>| inside && MOVING.contains(&child.name());
    let here = node.children().filter(own).count();
    here + node.children().map(moving).sum::<usize>()
}

/// A model: the file itself, or one that it attaches.
struct Model<'n> {
    root: Node<'n>,
    compiler: Compiler,
    defaults: Defaults<'n>,
    meshes: Meshes,
    /// Models that it attaches, by name.
    models: &'n BTreeMap<String, usize>,
}

impl<'n> Model<'n> {
    fn read(
        xml: &Xml<'_>,
        loaded: &'n Loaded,
        files: &mut Files,
        unsupported: &mut Vec<String>,
    ) -> Result<Self, SceneError> {
        let root = loaded.tree.root();
        let mut defaults = Defaults::default();
        for node in children(root, "default") {
            defaults.read(node, MAIN);
        }
        let mut model = Self {
            root,
            compiler: Compiler::read(xml, root)?,
            defaults,
            meshes: Meshes::new(),
            models: &loaded.models,
        };
        model.meshes = mesh::read_all(xml, &model, files, unsupported)?;
        Ok(model)
    }
}

/// Bodies that are fixed to each other. The first group is the world.
struct Group {
    name: String,
    pose: Pose3,
    parent: Option<usize>,
    geoms: Vec<Geom>,
    /// Mass of each body of the model that is in it.
    lumps: Vec<Lump>,
    joints: Vec<Dof>,
    /// Names of bodies in it.
    members: Vec<String>,
}

impl Group {
    fn new(name: &str, pose: Pose3, parent: Option<usize>) -> Self {
        Self {
            name: name.to_owned(),
            pose,
            parent,
            geoms: Vec::new(),
            lumps: Vec::new(),
            joints: Vec::new(),
            members: Vec::new(),
        }
    }
}

/// What filters see of a body: masks, and which group of bodies it is.
type Class = (Masks, usize);

struct Reader<'a, 'n> {
    xml: &'a Xml<'a>,
    models: &'a [Model<'n>],
    groups: Vec<Group>,
    /// Names of bodies that are replicated, as the file has them.
    copied: BTreeSet<String>,
    /// Models that are attached, and what their names begin with.
    attached: Vec<(usize, String)>,
    /// Mass of all bodies, also of fixed ones, kg.
    total_mass: f64,
    /// Elements that were read, copies counted.
    visited: usize,
    unsupported: Vec<String>,
}

impl<'n> Reader<'_, 'n> {
    fn scene(&mut self, model: &Model<'n>, scope: Scope<'n>) -> Result<Scene, SceneError> {
        for world in children(model.root, "worldbody") {
            self.world(world, &scope)?;
        }
        if let Some(total) = model.compiler.total_mass.filter(|_| self.total_mass > 0.0) {
            let factor = total / self.total_mass;
            for lump in self.groups.iter_mut().flat_map(|group| &mut group.lumps) {
                *lump = lump.times(factor);
            }
        }
        let name = model.root.attribute("model").unwrap_or_default();
        let mut scene = Scene::new(name, 3);
        scene.strategy = Some("realtime".to_owned());
        let options = Options::read(self.xml, model.root)?;
        if let Some([x, y, z]) = options.gravity {
            scene.gravity = Some(vec![x, z, 0.0 - y]);
        }
        let mut roots = vec![(model.root, String::new())];
        for (place, prefix) in std::mem::take(&mut self.attached) {
            let attached = self.models.get(place);
            roots.extend(attached.map(|model| (model.root, prefix)));
        }
        let classes = self.bodies(&roots, &mut scene)?;
        self.filter(&roots, &mut scene, &classes)?;
        if options.has_no_contacts {
            for body in &mut scene.bodies {
                (body.groups, body.meets) = (Some(Vec::new()), Some(Vec::new()));
            }
        }
        Ok(scene)
    }

    /// Makes bodies and joints; gives of each body what filters see of it.
    fn bodies(
        &mut self,
        roots: &[(Node<'n>, String)],
        scene: &mut Scene,
    ) -> Result<Vec<Option<Class>>, SceneError> {
        let mut groups = std::mem::take(&mut self.groups);
        let mut classes = Vec::new();
        for (number, group) in groups.iter_mut().enumerate() {
            let geoms = std::mem::take(&mut group.geoms);
            if group.parent.is_none() {
                add_world(scene, &group.pose, geoms, &mut classes);
            } else {
                let body = self.moving(group, geoms, number, &mut classes)?;
                let (body, friction) = body;
                add(scene, body, friction);
            }
        }
        let ends: Vec<(String, Pose3)> = groups.iter().map(|g| (g.name.clone(), g.pose)).collect();
        let end = |place: usize| {
            ends.get(place).map(|(name, pose)| match place {
                // The body that stands for the world is not turned.
                0 => End {
                    name: WORLD,
                    pose: Pose3::default(),
                },
                _ => End { name, pose: *pose },
            })
        };
        for (number, group) in groups.iter_mut().enumerate() {
            let dofs = std::mem::take(&mut group.joints);
            if let (Some(a), Some(b)) = (group.parent.and_then(end), end(number)) {
                scene
                    .joints
                    .extend(joint::joined(dofs, [&a, &b], &mut self.unsupported));
            }
        }
        self.groups = groups;
        for (root, prefix) in roots {
            self.equalities((*root, prefix), scene)?;
        }
        let is_tied =
            |joint: &Joint| joint.a.as_deref() == Some(WORLD) || joint.b.as_deref() == Some(WORLD);
        if scene.joints.iter().any(is_tied) {
            rigid::add_fixed(scene, WORLD, &Pose3::default(), Vec::new());
            classes.push(None);
        }
        Ok(classes)
    }

    fn moving(
        &mut self,
        group: &Group,
        geoms: Vec<Geom>,
        number: usize,
        classes: &mut Vec<Option<Class>>,
    ) -> Result<(Body, Option<f64>), SceneError> {
        let Some(mass) = Lump::joined(&group.lumps) else {
            let problem = format!("body `{}` moves but has no mass", group.name);
            let help = "give it an `inertial`, or a geom with a density";
            return Err(SceneError::unreadable(self.xml.file, problem, help));
        };
        let touching = |geom: &&Geom| geom.masks.kind != 0 || geom.masks.affinity != 0;
        let first = geoms.iter().find(touching);
        let surface = first.map(|geom| (geom.masks, geom.friction));
        let differ = |geom: &&Geom| Some((geom.masks, geom.friction)) != surface;
        if geoms.iter().filter(touching).any(|geom| differ(&geom)) {
            let name = &group.name;
            self.unsupported.push(format!(
                "body `{name}` has geoms of different friction or masks: those of the first count"
            ));
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for geom in geoms {
            match geom.piece.shape {
                _ if geom.masks.kind == 0 && geom.masks.affinity == 0 => {}
                Shape::HalfSpace { .. } => {
                    self.unsupported
                        .push(format!("plane of body `{}`, which moves", group.name));
                }
                _ => pieces.push(geom.piece),
            }
        }
        classes.push(surface.map(|(masks, _)| (masks, number)));
        let body = rigid::moving(&group.name, &group.pose, pieces, Some(mass));
        Ok((body, surface.map(|(_, friction)| friction)))
    }

    /// Masks and excluded pairs as groups.
    fn filter(
        &mut self,
        roots: &[(Node<'n>, String)],
        scene: &mut Scene,
        classes: &[Option<Class>],
    ) -> Result<(), SceneError> {
        let mut excluded = BTreeSet::new();
        for (root, prefix) in roots {
            for node in children(*root, "contact").flat_map(|list| children(list, "exclude")) {
                let named = |key: &str| Ok(format!("{prefix}{}", self.xml.needed(node, key)?));
                let (one, two) = (named("body1")?, named("body2")?);
                node.attribute("name");
                if self.is_elsewhere(&[Some(one.clone()), Some(two.clone())], prefix, node) {
                    continue;
                }
                let place = |name: &str| {
                    let none = || self.xml.wrong(node, format!("there is no body `{name}`"));
                    self.place_of(name).ok_or_else(none)
                };
                let (a, b) = (place(&one)?, place(&two)?);
                excluded.insert((a.min(b), a.max(b)));
            }
        }
        // Which body it is matters only where a pair with it is excluded.
        let is_named = |place: usize| excluded.iter().any(|&(a, b)| a == place || b == place);
        let told = |(masks, place): Class| (masks, is_named(place).then_some(place));
        let told: Vec<_> = classes.iter().map(|class| class.map(told)).collect();
        let all_done = filter::assign(&mut scene.bodies, &told, |a, b| {
            let pair = a.1.zip(b.1).map(|(a, b)| (a.min(b), a.max(b)));
            a.0.touch(b.0) && !pair.is_some_and(|pair| excluded.contains(&pair))
        });
        if !all_done {
            let what = "contact masks and `exclude`: more than 32 kinds of bodies";
            self.unsupported.push(what.to_owned());
        }
        Ok(())
    }
}

/// Adds what is fixed to the world, a body for each geom.
fn add_world(scene: &mut Scene, root: &Pose3, geoms: Vec<Geom>, classes: &mut Vec<Option<Class>>) {
    for (number, geom) in (1..).zip(geoms) {
        if geom.masks.kind == 0 && geom.masks.affinity == 0 {
            continue;
        }
        let mut pose = rigid::then(root, &geom.piece.pose);
        let mut shape = geom.piece.shape;
        if let Shape::HalfSpace { normal } = &mut shape {
            let turned = (pose.rotation * DVec3::Z).to_array();
            *normal = turned
                .map(|x| if x.abs() < 1e-12 { 0.0 } else { x })
                .to_vec();
            pose.rotation = Default::default();
        }
        let body = Body {
            name: Some(geom.name.unwrap_or_else(|| format!("world geom {number}"))),
            kind: Kind::Fixed,
            shape: Some(shape),
            position: rigid::position(pose.position),
            rotation: rigid::rotation(pose.rotation),
            ..Body::default()
        };
        classes.push(Some((geom.masks, 0)));
        add(scene, body, Some(geom.friction));
    }
}

/// Adds a body, with a material whose friction wins if it is the larger.
fn add(scene: &mut Scene, mut body: Body, friction: Option<f64>) {
    if let Some(friction) = friction {
        let name = format!("friction {friction}");
        if !scene.materials.iter().any(|material| material.name == name) {
            scene.materials.push(Material {
                name: name.clone(),
                friction: Some(friction),
                friction_rule: Some(Combine::Maximum),
                ..Material::default()
            });
        }
        body.material = Some(name);
    }
    scene.bodies.push(body);
}
