//! Bodies, materials and filters of `KHR_physics_rigid_bodies`.

use std::collections::BTreeSet;

use drystone::glam::{DMat3, DVec3};
use serde_json::Value;

use super::document::{Document, node_name};
use super::{joint, mesh, shape};
use crate::error::SceneError;
use crate::import::rigid::{self, Lump, Piece, Pose3};
use crate::import::{Imported, filter};
use crate::schema::{
    Body, Combine, Joint, JointFrame, JointKind, Kind, Material, Pair, Scene, Script, Shape, Spin,
};

const ON_NODE: &str = "/extensions/KHR_physics_rigid_bodies";
/// The body that joints to the world hold on to.
const WORLD: &str = "world";
/// Most materials whose pairs are written one by one.
const MAX_PAIRED: usize = 256;

/// The scene of a document.
pub(super) fn scene(document: &Document<'_>) -> Result<Imported, SceneError> {
    let mut maker = Maker {
        document,
        scene: Scene::new("", 3),
        classes: Vec::new(),
        names: BTreeSet::from([WORLD.to_owned()]),
        bodies: vec![None; document.nodes.len()],
        unsupported: Vec::new(),
    };
    maker.scene.strategy = "substep".to_owned();
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
    Ok(Imported {
        scene: maker.scene,
        unsupported: maker.unsupported,
    })
}

struct Maker<'a> {
    document: &'a Document<'a>,
    scene: Scene,
    /// Filter of each body of the scene; `None` for one that touches nothing.
    classes: Vec<Option<Option<usize>>>,
    /// Names that are taken.
    names: BTreeSet<String>,
    /// Name of the body that each node with `motion` is.
    bodies: Vec<Option<String>>,
    unsupported: Vec<String>,
}

/// What a body is made of.
#[derive(Default)]
struct Parts {
    pieces: Vec<Piece>,
    material: Option<String>,
    filter: Option<usize>,
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
    fn free_name(&mut self, node: &Value, index: usize) -> String {
        let name = node_name(node, index);
        match self.names.insert(name.clone()) {
            true => name,
            false => format!("{name} (node {index})"),
        }
    }

    fn materials(&mut self) -> Result<(), SceneError> {
        let list = self.document.list(&format!("{ON_NODE}/physicsMaterials"));
        for (index, given) in list.iter().enumerate() {
            let sliding = self.document.number(given, "dynamicFriction", 0.6)?;
            let resting = self.document.number(given, "staticFriction", sliding)?;
            if resting != sliding {
                let what = format!("static friction of material {index}: it is that of sliding");
                self.unsupported.push(what);
            }
            self.scene.materials.push(Material {
                name: format!("material {index}"),
                friction: Some(sliding),
                restitution: Some(self.document.number(given, "restitution", 0.0)?),
                density: None,
                friction_rule: Some(self.rule(given, "frictionCombine", index)?),
                restitution_rule: Some(self.rule(given, "restitutionCombine", index)?),
            });
        }
        self.pairs();
        Ok(())
    }

    fn rule(&self, material: &Value, key: &str, index: usize) -> Result<Combine, SceneError> {
        match material.get(key).and_then(Value::as_str) {
            None | Some("average") => Ok(Combine::Average),
            Some("minimum") => Ok(Combine::Minimum),
            Some("maximum") => Ok(Combine::Maximum),
            Some("multiply") => Ok(Combine::Product),
            Some(other) => {
                let place = format!("physicsMaterials[{index}].{key}");
                Err(self
                    .document
                    .wrong(&place, format!("there is no rule `{other}`")))
            }
        }
    }

    /// Where rules differ, glTF and scenes choose differently: such pairs are written out.
    fn pairs(&mut self) {
        let materials = &self.scene.materials;
        let mut pairs = Vec::new();
        for (index, a) in materials.iter().enumerate() {
            for b in materials.iter().skip(index + 1) {
                let rules = |m: &Material| (m.friction_rule, m.restitution_rule);
                if rules(a) == rules(b) || materials.len() > MAX_PAIRED {
                    continue;
                }
                pairs.push(Pair {
                    between: [a.name.clone(), b.name.clone()],
                    friction: combined(
                        [a.friction_rule, b.friction_rule],
                        [a.friction, b.friction],
                    ),
                    restitution: combined(
                        [a.restitution_rule, b.restitution_rule],
                        [a.restitution, b.restitution],
                    ),
                });
            }
        }
        if materials.len() > MAX_PAIRED {
            let what = format!("rules of pairs of more than {MAX_PAIRED} materials");
            self.unsupported.push(what);
        }
        self.scene.pairs = pairs;
    }

    /// The nearest node at or above this one that has `motion`.
    fn mover(&self, mut index: usize) -> Option<usize> {
        let nodes = self.document.list("/nodes");
        loop {
            let node = nodes.get(index)?;
            if node
                .pointer(ON_NODE)
                .is_some_and(|own| own.get("motion").is_some())
            {
                return Some(index);
            }
            index = self.document.nodes.get(index)?.parent?;
        }
    }

    fn bodies(&mut self) -> Result<(), SceneError> {
        let nodes = self.document.list("/nodes");
        let mut parts: Vec<Option<Parts>> = Vec::new();
        parts.resize_with(nodes.len(), || None);
        for (index, node) in nodes.iter().enumerate() {
            let Some(own) = node.pointer(ON_NODE) else {
                continue;
            };
            let place = format!("nodes[{index}].collider");
            let mover = self.mover(index);
            if let Some(collider) = own.get("collider") {
                self.collider((collider, index), mover, &mut parts, &place)?;
            }
            if let Some(trigger) = own.get("trigger") {
                self.trigger(trigger, (node, index), mover)?;
            }
        }
        for (index, node) in nodes.iter().enumerate() {
            if let Some(motion) = node.pointer(ON_NODE).and_then(|own| own.get("motion")) {
                let own = parts
                    .get_mut(index)
                    .and_then(Option::take)
                    .unwrap_or_default();
                self.moving((node, index), motion, own)?;
            }
        }
        Ok(())
    }

    /// A collider: a part of the body that moves it, or a fixed body.
    fn collider(
        &mut self,
        (collider, index): (&Value, usize),
        mover: Option<usize>,
        parts: &mut [Option<Parts>],
        place: &str,
    ) -> Result<(), SceneError> {
        let Some(at) = self.document.nodes.get(index).copied() else {
            return Ok(());
        };
        let geometry = collider.get("geometry").unwrap_or(collider);
        let how = (place, mover.is_none(), at.scale);
        let shape = shape::read(self.document, geometry, how, &mut self.unsupported)?;
        let chosen = |key: &str, list: &str| {
            let pointer = format!("{ON_NODE}/{list}");
            let found = collider
                .get(key)
                .map(|k| self.document.element(&pointer, k, place));
            Ok::<_, SceneError>(found.transpose()?.map(|(number, _)| number))
        };
        let material = chosen("physicsMaterial", "physicsMaterials")?;
        let material = material.map(|number| format!("material {number}"));
        let filter = chosen("collisionFilter", "collisionFilters")?;
        let Some(mover) = mover else {
            let node = self
                .document
                .list("/nodes")
                .get(index)
                .unwrap_or(&Value::Null);
            let mut body = self.fixed((node, index), shape, &at.pose);
            body.material = material;
            self.classes.push(Some(filter));
            self.scene.bodies.push(body);
            return Ok(());
        };
        let around = self
            .document
            .nodes
            .get(mover)
            .map_or(Pose3::default(), |place| place.pose);
        let pose = match mover == index {
            true => Pose3::default(),
            false => rigid::then(&rigid::inverse(&around), &at.pose),
        };
        if matches!(shape, Shape::HalfSpace { .. }) {
            self.unsupported
                .push(format!("{place}: a plane that moves"));
            return Ok(());
        }
        let Some(slot) = parts.get_mut(mover) else {
            return Ok(());
        };
        let is_first = slot.is_none();
        let body = slot.get_or_insert_default();
        if is_first {
            (body.material, body.filter) = (material, filter);
        } else if (&body.material, body.filter) != (&material, filter) {
            let what = format!("{place}: its material and filter are those of the body's first");
            self.unsupported.push(what);
        }
        body.pieces.push(Piece { shape, pose });
        Ok(())
    }

    fn fixed(&mut self, (node, index): (&Value, usize), mut shape: Shape, pose: &Pose3) -> Body {
        let mut rotation = rigid::rotation(pose.rotation);
        if let Shape::HalfSpace { normal } = &mut shape {
            *normal = rigid::list(pose.rotation * DVec3::Y);
            rotation = None;
        }
        Body {
            name: Some(self.free_name(node, index)),
            kind: Kind::Fixed,
            shape: Some(shape),
            position: rigid::position(pose.position),
            rotation,
            ..Body::default()
        }
    }

    fn trigger(
        &mut self,
        trigger: &Value,
        (node, index): (&Value, usize),
        mover: Option<usize>,
    ) -> Result<(), SceneError> {
        let place = format!("nodes[{index}].trigger");
        let (Some(geometry), None) = (trigger.get("geometry"), mover) else {
            self.unsupported
                .push(format!("{place}: it moves or has several nodes"));
            return Ok(());
        };
        let Some(at) = self.document.nodes.get(index).copied() else {
            return Ok(());
        };
        let how = (place.as_str(), true, at.scale);
        let shape = shape::read(self.document, geometry, how, &mut self.unsupported)?;
        let mut body = self.fixed((node, index), shape, &at.pose);
        body.sensor = true;
        let filters = format!("{ON_NODE}/collisionFilters");
        let filter = trigger.get("collisionFilter");
        let filter = filter
            .map(|k| self.document.element(&filters, k, &place))
            .transpose()?;
        self.classes.push(Some(filter.map(|(number, _)| number)));
        self.scene.bodies.push(body);
        Ok(())
    }

    fn moving(
        &mut self,
        (node, index): (&Value, usize),
        motion: &Value,
        parts: Parts,
    ) -> Result<(), SceneError> {
        let place = format!("nodes[{index}].motion");
        let at = self
            .document
            .nodes
            .get(index)
            .map_or(Pose3::default(), |place| place.pose);
        let name = self.free_name(node, index);
        let has_shape = !parts.pieces.is_empty();
        let mut body = rigid::moving(&name, &at, parts.pieces, None);
        let world =
            |v: Option<[f64; 3]>| v.map(|v| rigid::list(at.rotation * DVec3::from_array(v)));
        let velocity = world(self.document.row::<3>(motion, "linearVelocity")?);
        let spin = world(self.document.row::<3>(motion, "angularVelocity")?).map(Spin::Solid);
        if motion.get("isKinematic").and_then(Value::as_bool) == Some(true) {
            body.kind = Kind::Kinematic;
            body.script = Some(Script::Steady { velocity, spin });
        } else {
            (body.velocity, body.spin) = (velocity, spin);
            self.mass(&mut body, motion, &place)?;
        }
        if self.document.number(motion, "gravityFactor", 1.0)? != 1.0 {
            self.unsupported.push(format!("{place}: `gravityFactor`"));
        }
        body.material = parts.material;
        self.classes.push(has_shape.then_some(parts.filter));
        self.scene.bodies.push(body);
        if let Some(slot) = self.bodies.get_mut(index) {
            *slot = Some(name);
        }
        Ok(())
    }

    /// What the file says of mass; the rest comes of the shape.
    fn mass(&mut self, body: &mut Body, motion: &Value, place: &str) -> Result<(), SceneError> {
        let mass = self.document.number(motion, "mass", -1.0)?;
        let diagonal = self.document.row::<3>(motion, "inertiaDiagonal")?;
        let center = self
            .document
            .row::<3>(motion, "centerOfMass")?
            .map(DVec3::from_array);
        if mass == 0.0 || diagonal.is_some_and(|row| row.contains(&0.0)) {
            self.unsupported.push(format!(
                "{place}: infinite mass or inertia: those of the shape"
            ));
        }
        let mass = (mass > 0.0).then_some(mass);
        let diagonal = diagonal.filter(|row| row.iter().all(|&moment| moment > 0.0));
        if let (Some(mass), None, None) = (mass, diagonal, center) {
            body.mass = Some(mass);
            return Ok(());
        }
        if mass.is_none() && diagonal.is_none() && center.is_none() {
            return Ok(());
        }
        let of_shape = body
            .shape
            .as_ref()
            .and_then(|shape| Lump::of_shape(shape, mass, 2600.0));
        let Some(mut lump) = of_shape else {
            return Err(self.document.wrong(place, "its shape has no volume"));
        };
        if let Some(diagonal) = diagonal {
            let turn = DMat3::from_quat(self.document.quaternion(motion, "inertiaOrientation")?);
            let moments = DMat3::from_diagonal(DVec3::from_array(diagonal));
            lump.inertia = turn * moments * turn.transpose();
        }
        lump.center = center.unwrap_or(lump.center);
        body.mass_properties = Some(lump.schema());
        Ok(())
    }

    fn joints(&mut self) -> Result<(), SceneError> {
        let mut needs_world = false;
        for (index, node) in self.document.list("/nodes").iter().enumerate() {
            let Some(given) = node.pointer(ON_NODE).and_then(|own| own.get("joint")) else {
                continue;
            };
            let place = format!("nodes[{index}].joint");
            let connected = given.get("connectedNode").unwrap_or(&Value::Null);
            let (connected, _) = self.document.element("/nodes", connected, &place)?;
            let kind = given.get("joint").unwrap_or(&Value::Null);
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
            let [linear, angular] = joint::axes(self.document, kind, list)?;
            self.scene.joints.push(Joint {
                name: Some(format!("{} (node {index})", node_name(node, index))),
                kind: JointKind::Axes,
                a: Some(a.0),
                b: Some(b.0),
                frames: Some([a.1, b.1]),
                linear: Some(linear),
                angular: Some(angular),
                collides: given.get("enableCollision").and_then(Value::as_bool) == Some(true),
                ..Joint::default()
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
        let pose = |index: usize| self.document.nodes.get(index).map(|place| place.pose);
        let at = pose(index).unwrap_or_default();
        let mover = self.mover(index);
        let name = mover.and_then(|mover| self.bodies.get(mover).cloned().flatten());
        let around = mover.and_then(pose).unwrap_or_default();
        let local = match mover == Some(index) {
            true => Pose3::default(),
            false => rigid::then(&rigid::inverse(&around), &at),
        };
        let frame = JointFrame {
            position: rigid::position(local.position),
            rotation: rigid::rotation(local.rotation),
        };
        (name.unwrap_or_else(|| WORLD.to_owned()), frame)
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

/// A coefficient of two, by the rule that glTF puts first.
fn combined(rules: [Option<Combine>; 2], values: [Option<f64>; 2]) -> Option<f64> {
    let [a, b] = [values[0]?, values[1]?];
    let has = |rule: Combine| rules.contains(&Some(rule));
    Some(if has(Combine::Average) {
        0.5 * (a + b)
    } else if has(Combine::Minimum) {
        a.min(b)
    } else if has(Combine::Maximum) {
        a.max(b)
    } else {
        a * b
    })
}
