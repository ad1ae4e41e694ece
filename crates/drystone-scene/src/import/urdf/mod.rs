//! URDF: robots of links and joints.
//!
//! Links that are fixed to each other become one body (see [`rigid`]). A root without mass is
//! fixed to the world, one with mass floats. All joints start at 0. URDF has z up: the whole robot
//! is turned to stand on our y.

mod joint;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use drystone::glam::{DMat3, DVec3};

use crate::error::SceneError;
use crate::import::files::Files;
use crate::import::rigid::{self, Lump, Piece, Pose3};
use crate::import::tree::Node;
use crate::import::unread::Listing;
use crate::import::xml::{Xml, child, children};
use crate::import::{Imported, surface};
use crate::schema::{Scene, Shape};

/// Reads a robot.
pub(in crate::import) fn import(
    text: &str,
    file: &str,
    files: &mut Files,
) -> Result<Imported, SceneError> {
    let xml = Xml::new(file, text);
    let document = xml.parse()?;
    let robot = document.root();
    if robot.name() != "robot" {
        let found = robot.name();
        return Err(xml.wrong(
            robot,
            format!("a URDF file holds a `robot`, not a `{found}`"),
        ));
    }
    let mut reader = Reader {
        xml: &xml,
        files,
        unsupported: Vec::new(),
    };
    let tree = Tree::new(&xml, robot)?;
    let mut scene = Scene::new(robot.attribute("name").unwrap_or_default(), 3);
    scene.strategy = Some("realtime".to_owned());
    reader.bodies(&tree, &mut scene)?;
    let moves = |joint: Node<'_>| joint.attribute("type") != Some("fixed");
    let moving = children(robot, "joint")
        .filter(|joint| moves(*joint))
        .count();
    let mut listing = Listing::default();
    robot.list(&mut listing);
    Imported::new(file, scene, reader.unsupported, listing, moving)
}

/// Links and joints, parents before children.
struct Tree<'n> {
    links: Vec<Link<'n>>,
}

struct Link<'n> {
    name: &'n str,
    node: Node<'n>,
    /// The place of the parent in the list, and what holds it there.
    parent: Option<(usize, Node<'n>)>,
}

impl<'n> Tree<'n> {
    fn new(xml: &Xml<'_>, robot: Node<'n>) -> Result<Self, SceneError> {
        let mut nodes = BTreeMap::new();
        for node in children(robot, "link") {
            let name = xml.needed(node, "name")?;
            if nodes.insert(name, node).is_some() {
                return Err(xml.wrong(node, format!("there are two links `{name}`")));
            }
        }
        let mut below: BTreeMap<&str, Vec<(&str, Node<'n>)>> = BTreeMap::new();
        let mut held = BTreeSet::new();
        let mut names = BTreeSet::new();
        for joint in children(robot, "joint") {
            let name = xml.needed(joint, "name")?;
            if !names.insert(name) {
                return Err(xml.wrong(joint, format!("there are two joints `{name}`")));
            }
            let end = |key: &str| {
                let node = child(joint, key)
                    .ok_or_else(|| xml.wrong(joint, format!("joint `{name}` has no `{key}`")))?;
                let link = xml.needed(node, "link")?;
                match nodes.contains_key(link) {
                    true => Ok(link),
                    false => Err(xml.wrong(node, format!("there is no link `{link}`"))),
                }
            };
            let (parent, held_link) = (end("parent")?, end("child")?);
            if !held.insert(held_link) {
                let problem = format!("link `{held_link}` is the child of two joints");
                return Err(xml.wrong(joint, problem));
            }
            below.entry(parent).or_default().push((held_link, joint));
        }
        let roots = children(robot, "link").filter_map(|node| node.attribute("name"));
        let roots = roots.filter(|name| !held.contains(name));
        let mut waiting: VecDeque<_> = roots.map(|name| (name, None)).collect();
        let mut links = Vec::with_capacity(nodes.len());
        while let Some((name, parent)) = waiting.pop_front() {
            // A link is the child of one joint at most, so none is met twice.
            let Some(node) = nodes.remove(name) else {
                continue;
            };
            let place = links.len();
            links.push(Link { name, node, parent });
            for (held, joint) in below.remove(name).unwrap_or_default() {
                waiting.push_back((held, Some((place, joint))));
            }
        }
        match nodes.first_key_value() {
            Some((name, node)) => {
                let problem = format!("link `{name}` is in a loop of joints that has no root");
                Err(xml.wrong(*node, problem))
            }
            None => Ok(Self { links }),
        }
    }
}

/// Links that are fixed to each other.
struct Group {
    name: String,
    pose: Pose3,
    is_fixed: bool,
    pieces: Vec<Piece>,
    lumps: Vec<Lump>,
}

struct Reader<'a, 'x> {
    xml: &'a Xml<'x>,
    files: &'a mut Files,
    unsupported: Vec<String>,
}

impl Reader<'_, '_> {
    fn bodies(&mut self, tree: &Tree<'_>, scene: &mut Scene) -> Result<(), SceneError> {
        let mut groups: Vec<Group> = Vec::new();
        // Of each link: its group, and its pose in the group's axes.
        let mut places: Vec<(usize, Pose3)> = Vec::with_capacity(tree.links.len());
        for link in &tree.links {
            let lump = self.inertial(link)?;
            let is_welded = |joint: Node<'_>| joint.attribute("type") == Some("fixed");
            let place = match link.parent {
                Some((parent, joint)) => {
                    let (group, on_group) =
                        places.get(parent).copied().unwrap_or((0, Pose3::default()));
                    let pose = rigid::then(&on_group, &self.xml.origin(joint)?);
                    match groups.get(group) {
                        Some(above) if !is_welded(joint) => {
                            let pose = rigid::then(&above.pose, &pose);
                            groups.push(Group::new(link.name, pose, false));
                            (groups.len() - 1, Pose3::default())
                        }
                        _ => (group, pose),
                    }
                }
                None => {
                    let is_fixed = lump.is_none() || link.name == "world";
                    groups.push(Group::new(link.name, rigid::upright(), is_fixed));
                    (groups.len() - 1, Pose3::default())
                }
            };
            places.push(place);
            let (index, pose) = place;
            if let Some(group) = groups.get_mut(index) {
                group.lumps.extend(lump.map(|lump| lump.placed(&pose)));
                let is_fixed = group.is_fixed;
                group.pieces.extend(self.pieces(link, &pose, is_fixed)?);
            }
        }
        let bodies: Vec<(String, Pose3)> = groups
            .iter()
            .map(|group| (group.name.clone(), group.pose))
            .collect();
        for group in groups {
            self.body(group, scene)?;
        }
        for (link, (group, _)) in tree.links.iter().zip(&places) {
            let ends = |place: usize| places.get(place).and_then(|(group, _)| bodies.get(*group));
            if let Some((parent, joint)) = link.parent
                && let (Some(a), Some(b)) = (ends(parent), bodies.get(*group))
                && a.0 != b.0
            {
                scene.joints.extend(self.joint(joint, [a, b], &b.1)?);
            }
        }
        Ok(())
    }

    fn body(&mut self, group: Group, scene: &mut Scene) -> Result<(), SceneError> {
        if group.is_fixed {
            rigid::add_fixed(scene, &group.name, &group.pose, group.pieces);
            return Ok(());
        }
        let mass = Lump::joined(&group.lumps);
        if mass.is_none() && group.pieces.is_empty() {
            let problem = format!("link `{}` moves but has neither mass nor shape", group.name);
            let help = "give it an `inertial`, or make its joint `fixed`";
            return Err(SceneError::unreadable(self.xml.file, problem, help));
        }
        if mass.is_none() {
            let what = format!("link `{}` has no mass: it is as dense as stone", group.name);
            self.unsupported.push(what);
        }
        let body = rigid::moving(&group.name, &group.pose, group.pieces, mass);
        scene.bodies.push(body);
        Ok(())
    }

    fn inertial(&self, link: &Link<'_>) -> Result<Option<Lump>, SceneError> {
        let Some(inertial) = child(link.node, "inertial") else {
            return Ok(None);
        };
        let Some(mass) = child(inertial, "mass") else {
            let problem = format!("the `inertial` of link `{}` has no `mass`", link.name);
            return Err(self.xml.wrong(inertial, problem));
        };
        let value = self.xml.number(mass, "value")?.unwrap_or(0.0);
        if value < 0.0 {
            return Err(self.xml.wrong(mass, "a mass must be 0 or more (kg)"));
        }
        if value == 0.0 {
            return Ok(None);
        }
        let mut moments = [0.0; 6];
        let Some(inertia) = child(inertial, "inertia") else {
            let problem = format!("the `inertial` of link `{}` has no `inertia`", link.name);
            return Err(self.xml.wrong(inertial, problem));
        };
        let keys = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
        for (moment, key) in moments.iter_mut().zip(keys) {
            *moment = self.xml.number(inertia, key)?.unwrap_or(0.0);
        }
        let [xx, yy, zz, xy, xz, yz] = moments;
        let lump = Lump {
            mass: value,
            center: DVec3::ZERO,
            inertia: DMat3::from_cols(
                DVec3::new(xx, xy, xz),
                DVec3::new(xy, yy, yz),
                DVec3::new(xz, yz, zz),
            ),
        };
        Ok(Some(lump.placed(&self.xml.origin(inertial)?)))
    }

    fn pieces(
        &mut self,
        link: &Link<'_>,
        pose: &Pose3,
        is_fixed: bool,
    ) -> Result<Vec<Piece>, SceneError> {
        let mut pieces = Vec::new();
        for collision in children(link.node, "collision") {
            let Some(geometry) = child(collision, "geometry") else {
                return Err(self.xml.wrong(collision, "a `collision` has a `geometry`"));
            };
            let mut pose = rigid::then(pose, &self.xml.origin(collision)?);
            for form in geometry.children() {
                let Some(shape) = self.shape(link, form, is_fixed)? else {
                    continue;
                };
                if matches!(shape, Shape::Cylinder { .. } | Shape::Capsule { .. }) {
                    pose.rotation *= rigid::y_to_z();
                }
                pieces.push(Piece { shape, pose });
            }
        }
        Ok(pieces)
    }

    fn shape(
        &mut self,
        link: &Link<'_>,
        form: Node<'_>,
        is_fixed: bool,
    ) -> Result<Option<Shape>, SceneError> {
        const KNOWN: [&str; 5] = ["box", "sphere", "cylinder", "capsule", "mesh"];
        if !KNOWN.contains(&form.name()) {
            return Ok(None);
        }
        form.take();
        let positive = |key: &str| match self.xml.number(form, key)? {
            Some(value) if value > 0.0 => Ok(value),
            _ => Err(self
                .xml
                .wrong(form, format!("`{key}` must be greater than 0 (m)"))),
        };
        Ok(match form.name() {
            "box" => {
                let size = self.xml.row::<3>(form, "size")?;
                let size = size.filter(|size| size.iter().all(|&edge| edge > 0.0));
                let size =
                    size.ok_or_else(|| self.xml.wrong(form, "a box has three sizes above 0 (m)"))?;
                Some(Shape::Box {
                    size: size.to_vec(),
                    rounding: None,
                })
            }
            "sphere" => Some(Shape::Ball {
                radius: positive("radius")?,
            }),
            "cylinder" => Some(Shape::Cylinder {
                height: positive("length")?,
                radius: positive("radius")?,
                rounding: None,
            }),
            "capsule" => Some(Shape::Capsule {
                length: positive("length")?,
                radius: positive("radius")?,
            }),
            "mesh" => self.mesh(link, form, is_fixed)?,
            _ => None,
        })
    }

    /// A mesh: a surface of something fixed, its convex hull where it moves.
    fn mesh(
        &mut self,
        link: &Link<'_>,
        form: Node<'_>,
        is_fixed: bool,
    ) -> Result<Option<Shape>, SceneError> {
        let name = self.xml.needed(form, "filename")?;
        let scale = self.xml.row::<3>(form, "scale")?.unwrap_or([1.0; 3]);
        let path = self.files.resolve(name, self.xml.file)?;
        let shown = path.display().to_string();
        if !surface::is_read(&shown) {
            let what = format!(
                "mesh `{name}` of link `{}`: only .obj and .stl are read",
                link.name
            );
            self.unsupported.push(what);
            return Ok(None);
        }
        let bytes = self.files.bytes(&path)?;
        let surface = surface::read(&bytes, &shown, &mut self.unsupported)?.scaled(scale);
        if is_fixed {
            return Ok(Some(surface.into_mesh(false)));
        }
        let what = format!(
            "mesh `{name}` of link `{}`: its convex hull is used",
            link.name
        );
        self.unsupported.push(what);
        Ok(Some(surface.into_hull()))
    }
}

impl Group {
    fn new(name: &str, pose: Pose3, is_fixed: bool) -> Self {
        Self {
            name: name.to_owned(),
            pose,
            is_fixed,
            pieces: Vec::new(),
            lumps: Vec::new(),
        }
    }
}
