//! The tree of bodies: what is in a body, in a frame, in copies and in what is attached.

use std::rc::Rc;

use drystone::glam::{DMat3, DVec3};

use super::compiler::MassFrom;
use super::element::{Element, MAIN};
use super::geom;
use super::joint::{self, Dof};
use super::{Group, Model, Reader};
use crate::error::SceneError;
use crate::import::principal::{excess, principal};
use crate::import::rigid::{self, Lump, Pose3};
use crate::import::tree::Node;
use crate::import::xml::{child, children};

/// Most elements that are read, copies counted.
const MAX_ELEMENTS: usize = 4_000_000;
/// Deepest nesting of bodies and frames, over all models.
const MAX_DEPTH: usize = 200;

/// What holds for elements where they stand.
#[derive(Clone)]
pub(super) struct Scope<'n> {
    model: usize,
    /// The group of bodies, and the pose in its axes.
    place: (usize, Pose3),
    class: &'n str,
    /// What names begin and end with.
    prefix: Rc<str>,
    suffix: Rc<str>,
    depth: usize,
}

impl<'n> Scope<'n> {
    /// The world of a model.
    pub(super) fn of(model: usize) -> Self {
        Self {
            model,
            place: (0, Pose3::default()),
            class: MAIN,
            prefix: Rc::from(""),
            suffix: Rc::from(""),
            depth: 0,
        }
    }

    fn named(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }

    /// One deeper, at a pose in these axes.
    fn at(&self, pose: &Pose3) -> Self {
        let mut inner = self.clone();
        inner.place.1 = rigid::then(&self.place.1, pose);
        inner.depth += 1;
        inner
    }
}

impl<'a, 'n> Reader<'a, 'n> {
    fn model(&self, scope: &Scope<'n>) -> Result<&'a Model<'n>, SceneError> {
        let missing = || SceneError::unreadable(self.xml.file, "a model is missing", "");
        self.models.get(scope.model).ok_or_else(missing)
    }

    fn element(&self, node: Node<'n>, scope: &Scope<'n>) -> Result<Element<'a, 'n>, SceneError> {
        let model = self.model(scope)?;
        let class = (&model.defaults, scope.class);
        Element::new(self.xml, node, class, model.compiler.units)
    }

    /// Reads a world: its geoms have no mass.
    pub(super) fn world(&mut self, node: Node<'n>, scope: &Scope<'n>) -> Result<(), SceneError> {
        let mut lumps = Vec::new();
        self.contents(node, scope, &mut lumps)
    }

    /// Reads geoms and bodies in a body or frame. Masses of geoms are put into `lumps`, in the
    /// axes of the group.
    fn contents(
        &mut self,
        node: Node<'n>,
        scope: &Scope<'n>,
        lumps: &mut Vec<Lump>,
    ) -> Result<(), SceneError> {
        for child in node.children() {
            self.visited += 1;
            if self.visited > MAX_ELEMENTS || scope.depth > MAX_DEPTH {
                let problem = format!(
                    "more than {MAX_ELEMENTS} elements with all copies, or nested more than \
                     {MAX_DEPTH} deep"
                );
                return Err(self.xml.wrong(child, problem));
            }
            match child.name() {
                "geom" => self.geom(child, scope, lumps)?,
                "body" => self.body(child, scope)?,
                "frame" => {
                    let inner = self.framed(child, scope)?;
                    self.contents(child, &inner, lumps)?;
                }
                "replicate" => self.replicate(child, scope, lumps)?,
                "attach" => self.attach(child, scope, lumps)?,
                // Joints and inertials are read by `body`; all else is listed.
                _ => {}
            }
        }
        Ok(())
    }

    fn geom(
        &mut self,
        node: Node<'n>,
        scope: &Scope<'n>,
        lumps: &mut Vec<Lump>,
    ) -> Result<(), SceneError> {
        let model = self.model(scope)?;
        let element = self.element(node, scope)?;
        let read = geom::read(&element, &model.meshes, model.compiler.fits_bounds)?;
        if element.text("type") == Some("ellipsoid") {
            let name = node.attribute("name").unwrap_or("without name");
            let what = format!("geom `{name}`: an ellipsoid touches as the hull of 258 points");
            self.unsupported.push(what);
        }
        match (read, self.groups.get_mut(scope.place.0)) {
            (Ok(geom), Some(group)) => {
                let mut geom = geom.placed(&scope.place.1);
                geom.name = geom.name.map(|name| scope.named(&name));
                let [least, most] = model.compiler.groups_with_mass;
                lumps.extend(geom.lump.filter(|_| (least..=most).contains(&geom.group)));
                group.geoms.push(geom);
            }
            (Err(what), _) => self.unsupported.push(what),
            (Ok(_), None) => {}
        }
        Ok(())
    }

    /// What holds within a frame.
    fn framed(&self, node: Node<'n>, scope: &Scope<'n>) -> Result<Scope<'n>, SceneError> {
        let element = self.element(node, scope)?;
        let mut inner = scope.at(&element.pose()?);
        node.attribute("name");
        inner.class = node.attribute("childclass").unwrap_or(scope.class);
        Ok(inner)
    }

    /// Reads copies, each turned and moved from the one before.
    fn replicate(
        &mut self,
        node: Node<'n>,
        scope: &Scope<'n>,
        lumps: &mut Vec<Lump>,
    ) -> Result<(), SceneError> {
        let element = self.element(node, scope)?;
        let count = element.number("count")?;
        let count = count.filter(|count| (0.0..=MAX_ELEMENTS as f64).contains(count));
        let count = count.ok_or_else(|| {
            let problem = format!("`replicate` needs a `count` from 0 to {MAX_ELEMENTS}");
            self.xml.wrong(node, problem)
        })?;
        let count = count as usize;
        let offset = element.vector("offset")?.unwrap_or_default();
        let angles = element.row::<3>("euler")?.unwrap_or_default();
        let separator = element.text("sep").unwrap_or_default();
        let digits = count.saturating_sub(1).max(1).ilog10() as usize + 1;
        if scope.suffix.is_empty() {
            self.note_copied(node, scope);
        }
        let mut position = DVec3::ZERO;
        for number in 0..count {
            let rotation = element.euler(angles.map(|angle| angle * number as f64));
            let mut inner = scope.at(&Pose3 { position, rotation });
            let own = format!("{separator}{number:0digits$}{}", scope.suffix);
            inner.suffix = Rc::from(own);
            self.contents(node, &inner, lumps)?;
            position += rotation * offset;
        }
        Ok(())
    }

    /// Notes names of bodies below, which are not there as the file has them.
    fn note_copied(&mut self, node: Node<'n>, scope: &Scope<'n>) {
        for below in node.children() {
            if below.name() == "body" {
                let name = below.attribute("name");
                self.copied.extend(name.map(|name| scope.named(name)));
            }
            self.note_copied(below, scope);
        }
    }

    /// Reads a body of another model, or all that is in its world.
    fn attach(
        &mut self,
        node: Node<'n>,
        scope: &Scope<'n>,
        lumps: &mut Vec<Lump>,
    ) -> Result<(), SceneError> {
        node.take();
        let name = self.xml.needed(node, "model")?;
        let found = self.model(scope)?.models.get(name).copied();
        let model = found.ok_or_else(|| {
            let problem = format!("there is no `model` called `{name}` among the assets");
            self.xml.wrong(node, problem)
        })?;
        let mut inner = scope.at(&Pose3::default());
        inner.model = model;
        inner.class = MAIN;
        let prefix = node.attribute("prefix").unwrap_or_default();
        inner.prefix = Rc::from(format!("{}{prefix}", scope.prefix));
        let root = self.model(&inner)?.root;
        if scope.suffix.is_empty() {
            self.attached.push((model, inner.prefix.to_string()));
        }
        let Some(body) = node.attribute("body") else {
            for world in children(root, "worldbody") {
                self.contents(world, &inner, lumps)?;
            }
            return Ok(());
        };
        match children(root, "worldbody").find_map(|world| named_body(world, body)) {
            Some(found) => self.body(found, &inner),
            None => {
                let problem = format!("the model `{name}` has no body `{body}`");
                Err(self.xml.wrong(node, problem))
            }
        }
    }

    fn body(&mut self, node: Node<'n>, scope: &Scope<'n>) -> Result<(), SceneError> {
        let mut inner = scope.clone();
        inner.class = node.attribute("childclass").unwrap_or(scope.class);
        let inner = inner.at(&self.element(node, scope)?.pose()?);
        let (parent, local) = inner.place;
        let around = self.groups.get(parent).map(|group| group.pose);
        let pose = rigid::then(&around.unwrap_or_default(), &local);
        let (mut dofs, mut is_free) = (Vec::new(), false);
        self.joints(node, (&inner, &pose), (&mut dofs, &mut is_free))?;
        let moves = is_free || !dofs.is_empty();
        let number = self.groups.len();
        let name = node.attribute("name").map(|name| scope.named(name));
        let mut inner = inner;
        if moves {
            let shown = name.clone().unwrap_or_else(|| format!("body {number}"));
            let mut group = Group::new(&shown, pose, Some(parent));
            group.joints = dofs;
            self.groups.push(group);
            inner.place = (number, Pose3::default());
        }
        // Bodies that are fixed to this one may come before its mass is known.
        let mut lumps = Vec::new();
        self.contents(node, &inner, &mut lumps)?;
        let mass = self.mass(node, &inner, lumps)?;
        self.total_mass += mass.map_or(0.0, |mass| mass.mass);
        if let Some(group) = self.groups.get_mut(inner.place.0) {
            group.lumps.extend(mass);
            group.members.extend(name);
        }
        Ok(())
    }

    /// Reads joints of a body, also those in frames. The pose is that of the body in the world.
    fn joints(
        &mut self,
        node: Node<'n>,
        (scope, pose): (&Scope<'n>, &Pose3),
        (dofs, is_free): (&mut Vec<Dof>, &mut bool),
    ) -> Result<(), SceneError> {
        let model = self.model(scope)?;
        for child in node.children() {
            match child.name() {
                "freejoint" => {
                    child.take().attribute("name");
                    *is_free = true;
                }
                "joint" => {
                    let element = self.element(child, scope)?;
                    let place = (pose, &model.compiler);
                    match joint::read(&element, place, &mut self.unsupported)? {
                        Some(dof) => dofs.push(dof.renamed(|name| scope.named(name))),
                        None => *is_free = true,
                    }
                }
                "frame" => {
                    let inner = self.framed(child, scope)?;
                    let pose = rigid::then(pose, &self.element(child, scope)?.pose()?);
                    self.joints(child, (&inner, &pose), (dofs, is_free))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The mass of a body in the axes of its group: of its `inertial`, or of its geoms.
    fn mass(
        &mut self,
        node: Node<'n>,
        scope: &Scope<'n>,
        lumps: Vec<Lump>,
    ) -> Result<Option<Lump>, SceneError> {
        let compiler = &self.model(scope)?.compiler;
        let inertial = child(node, "inertial");
        let given = match inertial {
            Some(inertial) => Some(self.inertial(inertial, scope)?.placed(&scope.place.1)),
            None => None,
        };
        let mass = match compiler.mass_from {
            MassFrom::Geoms => Lump::joined(&lumps),
            MassFrom::Inertial => given,
            MassFrom::Either => given.or_else(|| Lump::joined(&lumps)),
        };
        let [least_mass, least_moment] = compiler.least;
        let mass = match mass {
            None if least_mass > 0.0 => Some(Lump {
                mass: least_mass,
                center: scope.place.1.position,
                inertia: DMat3::ZERO,
            }),
            found => found,
        };
        let Some(mut mass) = mass else {
            return Ok(None);
        };
        mass.mass = mass.mass.max(least_mass);
        let (mut moments, axes) = principal(mass.inertia);
        if least_moment > 0.0 || (compiler.balances && excess(moments).is_some()) {
            moments = moments.max(DVec3::splat(least_moment));
            if compiler.balances && excess(moments).is_some() {
                moments = DVec3::splat(moments.element_sum() / 3.0);
            }
            let turn = DMat3::from_quat(axes);
            mass.inertia = turn * DMat3::from_diagonal(moments) * turn.transpose();
        }
        Ok(Some(mass))
    }

    fn inertial(&self, node: Node<'n>, scope: &Scope<'n>) -> Result<Lump, SceneError> {
        let element = self.element(node, scope)?;
        let mass = element.number("mass")?.filter(|mass| *mass >= 0.0);
        let mass = mass.ok_or_else(|| {
            let problem = "an `inertial` needs a `mass`, 0 or more (kg)";
            self.xml.wrong(node, problem)
        })?;
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
            (None, None) if mass == 0.0 => DMat3::ZERO,
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
}

/// The body of that name below.
fn named_body<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    node.children().find_map(|below| {
        let is_it = below.name() == "body" && below.attribute("name") == Some(name);
        is_it.then_some(below).or_else(|| named_body(below, name))
    })
}
