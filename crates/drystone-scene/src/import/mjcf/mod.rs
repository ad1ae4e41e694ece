//! MJCF: MuJoCo's models, a tree of bodies with geoms and joints.
//!
//! A body without joints is fixed to the one around it, and both become one (see [`rigid`]); what
//! is fixed to the world becomes fixed bodies, a geom each. Without `inertial`, mass comes of the
//! geoms. Friction of two geoms is the larger, as in MuJoCo; masks and excluded pairs become
//! groups. MJCF has z up: the whole model is turned to stand on our y.

mod element;
mod equality;
mod geom;
mod joint;

use std::collections::{BTreeMap, BTreeSet};

use drystone::glam::{DMat3, DVec3};
use roxmltree::Node;

use super::files::Files;
use super::rigid::{self, Lump, Piece, Pose3};
use super::surface::Surface;
use super::xml::{Xml, child, children};
use super::{Imported, filter, surface};
use crate::error::SceneError;
use crate::schema::{Body, Combine, Joint, Kind, Material, Scene, Shape};
use element::{Defaults, Element, MAIN, Units};
use geom::{Geom, Masks};
use joint::{Dof, End};

/// The body that joints to the world hold on to.
const WORLD: &str = "world";

/// Reads a model.
pub(super) fn import(text: &str, file: &str, files: &mut Files) -> Result<Imported, SceneError> {
    let xml = Xml::new(file, text);
    let document = xml.parse(text)?;
    let model = document.root_element();
    if !model.has_tag_name("mujoco") {
        let found = model.tag_name().name();
        let problem =
            format!("an MJCF file holds a `mujoco`, a URDF file a `robot`; not a `{found}`");
        return Err(xml.wrong(model, problem));
    }
    let mut defaults = Defaults::default();
    for node in children(model, "default") {
        defaults.read(node, MAIN);
    }
    let mut reader = Reader {
        xml: &xml,
        defaults: &defaults,
        units: element::units(&xml, model)?,
        meshes: BTreeMap::new(),
        groups: Vec::new(),
        unsupported: Vec::new(),
    };
    reader.list_unknown(model);
    reader.read_meshes(model, files)?;
    let root = Pose3 {
        position: DVec3::ZERO,
        ..rigid::upright()
    };
    reader.groups.push(Group::new(WORLD, root, None));
    for world in children(model, "worldbody") {
        reader.contents(world, (0, Pose3::default()), MAIN, None)?;
    }
    let mut scene = Scene::new(model.attribute("model").unwrap_or_default(), 3);
    scene.strategy = Some("realtime".to_owned());
    reader.options(model, &mut scene)?;
    let classes = reader.bodies(model, &mut scene)?;
    reader.filter(model, &mut scene, &classes)?;
    Ok(Imported {
        scene,
        unsupported: reader.unsupported,
    })
}

/// Bodies that are fixed to each other. The first group is the world.
struct Group<'n> {
    name: String,
    pose: Pose3,
    parent: Option<usize>,
    geoms: Vec<Geom>,
    inertials: Vec<Lump>,
    joints: Vec<Dof>,
    /// Names of bodies in it.
    members: Vec<&'n str>,
}

impl Group<'_> {
    fn new(name: &str, pose: Pose3, parent: Option<usize>) -> Self {
        Self {
            name: name.to_owned(),
            pose,
            parent,
            geoms: Vec::new(),
            inertials: Vec::new(),
            joints: Vec::new(),
            members: Vec::new(),
        }
    }
}

/// What filters see of a body: masks, and which group of bodies it is.
type Class = (Masks, usize);

struct Reader<'a, 'x, 'n> {
    xml: &'a Xml<'x>,
    defaults: &'a Defaults<'n>,
    units: Units,
    meshes: BTreeMap<String, Surface>,
    groups: Vec<Group<'n>>,
    unsupported: Vec<String>,
}

impl<'n> Reader<'_, '_, 'n> {
    /// What a model may hold that is not read, by name.
    fn list_unknown(&mut self, model: Node<'_, '_>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for node in model.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            let parent = node.parent().map_or("", |parent| parent.tag_name().name());
            let is_known = match parent {
                "" => true,
                "mujoco" => matches!(
                    name,
                    "compiler"
                        | "option"
                        | "default"
                        | "asset"
                        | "worldbody"
                        | "contact"
                        | "equality"
                ),
                "asset" => name == "mesh",
                "worldbody" | "body" => {
                    matches!(name, "body" | "geom" | "joint" | "freejoint" | "inertial")
                }
                "contact" => name == "exclude",
                "equality" => matches!(name, "connect" | "weld"),
                // Defaults of things that are not read are listed where these are.
                _ => true,
            };
            let parent_is_read = !matches!(parent, "default" | "option");
            if !is_known && parent_is_read {
                *counts.entry(format!("`{name}` in `{parent}`")).or_default() += 1;
            }
        }
        for (what, count) in counts {
            self.unsupported.push(format!("{what} ({count} times)"));
        }
    }

    fn read_meshes(&mut self, model: Node<'_, '_>, files: &mut Files) -> Result<(), SceneError> {
        let compiler = child(model, "compiler");
        let folder = compiler.and_then(|node| node.attribute("meshdir"));
        for mesh in children(model, "asset").flat_map(|asset| children(asset, "mesh")) {
            let scale = self.xml.row::<3>(mesh, "scale")?.unwrap_or([1.0; 3]);
            let file = mesh.attribute("file");
            let stem = file.and_then(|file| {
                let name = file.rsplit(['/', '\\']).next()?;
                name.split('.').next()
            });
            let Some(name) = mesh.attribute("name").or(stem) else {
                return Err(self.xml.wrong(mesh, "a mesh needs a `name` or a `file`"));
            };
            let surface = match (self.xml.numbers(mesh, "vertex")?, file) {
                (Some(numbers), _) => Surface {
                    points: numbers.chunks_exact(3).map(<[f64]>::to_vec).collect(),
                    triangles: Vec::new(),
                },
                (None, Some(file)) => {
                    let file = folder.map_or_else(|| file.to_owned(), |f| format!("{f}/{file}"));
                    let path = files.resolve(&file, self.xml.file)?;
                    let shown = path.display().to_string();
                    if !surface::is_read(&shown) {
                        let what = format!("mesh `{file}`: only .obj and .stl are read");
                        self.unsupported.push(what);
                        continue;
                    }
                    surface::read(&files.bytes(&path)?, &shown)?
                }
                (None, None) => return Err(self.xml.wrong(mesh, "a mesh needs a `file`")),
            };
            self.meshes.insert(name.to_owned(), surface.scaled(scale));
        }
        Ok(())
    }

    fn options(&mut self, model: Node<'_, '_>, scene: &mut Scene) -> Result<(), SceneError> {
        for option in children(model, "option") {
            if let Some([x, y, z]) = self.xml.row::<3>(option, "gravity")? {
                scene.gravity = Some(vec![x, z, 0.0 - y]);
            }
            for attribute in option.attributes() {
                if attribute.name() != "gravity" {
                    self.unsupported
                        .push(format!("option `{}`", attribute.name()));
                }
            }
        }
        Ok(())
    }

    fn element<'e, 'd>(&'e self, node: Node<'n, 'd>, class: &str) -> Element<'e, 'e, 'n, 'd> {
        Element::new(self.xml, node, (self.defaults, class), self.units)
    }

    /// Reads geoms and bodies of a body. `place` is its group and its pose in the group's axes;
    /// with an `inertial`, its geoms have no mass of their own.
    fn contents(
        &mut self,
        node: Node<'n, '_>,
        place: (usize, Pose3),
        class: &str,
        inertial: Option<Lump>,
    ) -> Result<(), SceneError> {
        for geom in children(node, "geom") {
            let read = geom::read(&self.element(geom, class), &self.meshes)?;
            match (read, self.groups.get_mut(place.0)) {
                (Ok(mut geom), Some(group)) => {
                    geom.lump = geom.lump.filter(|_| inertial.is_none());
                    group.geoms.push(geom.placed(&place.1));
                }
                (Err(what), _) => self.unsupported.push(what),
                (Ok(_), None) => {}
            }
        }
        if let (Some(lump), Some(group)) = (inertial, self.groups.get_mut(place.0)) {
            group.inertials.push(lump.placed(&place.1));
        }
        for body in children(node, "body") {
            self.body(body, place, class)?;
        }
        Ok(())
    }

    fn body(
        &mut self,
        node: Node<'n, '_>,
        (parent, on_parent): (usize, Pose3),
        class: &str,
    ) -> Result<(), SceneError> {
        let class = node.attribute("childclass").unwrap_or(class);
        let local = rigid::then(&on_parent, &self.element(node, class).pose()?);
        let around = self.groups.get(parent).map(|group| group.pose);
        let pose = rigid::then(&around.unwrap_or_default(), &local);
        let mut dofs = Vec::new();
        let mut is_free = child(node, "freejoint").is_some();
        let mut listed = Vec::new();
        for joint in children(node, "joint") {
            let element = self.element(joint, class);
            match joint::read(&element, (&pose, self.units.angle), &mut listed)? {
                Some(dof) => dofs.push(dof),
                None => is_free = true,
            }
        }
        self.unsupported.append(&mut listed);
        let moves = is_free || !dofs.is_empty();
        let place = match moves {
            true => {
                let number = self.groups.len();
                let name = node.attribute("name").map(str::to_owned);
                let name = name.unwrap_or_else(|| format!("body {number}"));
                let mut group = Group::new(&name, pose, Some(parent));
                group.joints = dofs;
                self.groups.push(group);
                (number, Pose3::default())
            }
            false => (parent, local),
        };
        let inertial = child(node, "inertial");
        let inertial = inertial.map(|inertial| self.inertial(inertial, class));
        let inertial = inertial.transpose()?;
        self.contents(node, place, class, inertial)?;
        if let Some(group) = self.groups.get_mut(place.0) {
            group.members.extend(node.attribute("name"));
        }
        Ok(())
    }

    fn inertial(&self, node: Node<'n, '_>, class: &str) -> Result<Lump, SceneError> {
        let element = self.element(node, class);
        let mass = element.number("mass")?.filter(|mass| *mass > 0.0);
        let mass = mass.ok_or_else(|| self.xml.wrong(node, "an `inertial` needs a `mass` (kg)"))?;
        let inertia = match (
            element.row::<6>("fullinertia")?,
            element.vector("diaginertia")?,
        ) {
            (Some([xx, yy, zz, xy, xz, yz]), _) => DMat3::from_cols(
                DVec3::new(xx, xy, xz),
                DVec3::new(xy, yy, yz),
                DVec3::new(xz, yz, zz),
            ),
            (None, Some(diagonal)) => DMat3::from_diagonal(diagonal),
            (None, None) => {
                let problem = "an `inertial` needs `diaginertia` or `fullinertia` (kg·m²)";
                return Err(self.xml.wrong(node, problem));
            }
        };
        let lump = Lump {
            mass,
            center: DVec3::ZERO,
            inertia,
        };
        Ok(lump.placed(&element.pose()?))
    }

    /// Makes bodies and joints; gives of each body what filters see of it.
    fn bodies(
        &mut self,
        model: Node<'_, '_>,
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
        self.equalities(model, scene)?;
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
        group: &Group<'_>,
        geoms: Vec<Geom>,
        number: usize,
        classes: &mut Vec<Option<Class>>,
    ) -> Result<(Body, Option<f64>), SceneError> {
        let mut lumps = group.inertials.clone();
        lumps.extend(geoms.iter().filter_map(|geom| geom.lump));
        let Some(mass) = Lump::joined(&lumps) else {
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
        model: Node<'_, '_>,
        scene: &mut Scene,
        classes: &[Option<Class>],
    ) -> Result<(), SceneError> {
        let mut excluded = BTreeSet::new();
        for node in children(model, "contact").flat_map(|list| children(list, "exclude")) {
            let place = |key: &str| {
                let name = self.xml.needed(node, key)?;
                let none = || self.xml.wrong(node, format!("there is no body `{name}`"));
                self.place_of(name).ok_or_else(none)
            };
            let (a, b) = (place("body1")?, place("body2")?);
            excluded.insert((a.min(b), a.max(b)));
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
