//! A scene with nothing left to be worked out: every copy of a repeated body is a body of its own
//! with its pose, shape and material, every link of a chain a joint with its frames.
//!
//! Its world moves as that of the scene it was made of. Only for scenes in space.

use drystone::glam::{DQuat, DVec3};
use drystone::{Combine as EngineCombine, D3, MaterialId, Materials, World};

use super::body::Template;
use super::material::MaterialTable;
use super::repeat::{self, Copy, Origin};
use super::{MAX_BODIES, joint, settings};
use crate::error::{Flaw, SceneError};
use crate::path::FieldPath;
use crate::schema::{Body, Combine, Defaults, Kind, Material, Rotation, Scene};

/// Name of the material of bodies that name none.
const DEFAULT_MATERIAL: &str = "default";

impl Scene {
    /// The scene with all repeats, defaults and chains written out, and its world.
    pub(crate) fn expanded(&self) -> Result<(Self, World<D3>), SceneError> {
        super::build::<D3>(self, true)
            .and_then(|made| Ok((expand(self, &made.world)?, made.world)))
            .map_err(|flaw| self.place(flaw))
    }
}

fn expand(scene: &Scene, world: &World<D3>) -> Result<Scene, Flaw> {
    let mut made = settings::world::<D3>(scene)?;
    let mut table = MaterialTable::new(scene, &mut made.materials)?;
    let mut named = Named::new(scene, &table);
    let mut plain = scene.clone();
    plain.bodies.clear();
    for (entry, body) in scene.bodies.iter().enumerate() {
        let path = FieldPath::default().key("bodies").index(entry);
        let template = Template::<D3>::new(body, path, scene, &mut table, &mut made.materials)?;
        // Nothing rubs against what only notices.
        let material = (!body.sensor).then(|| named.name(template.material));
        for copy in repeat::copies(&template, MAX_BODIES)? {
            let name = world.bodies().name(plain.bodies.len()).to_owned();
            let mut single = copied(&template, copy, &scene.defaults);
            single.name = Some(name);
            let is_given = single.mass.is_some() || single.mass_properties.is_some();
            let is_moved = matches!(single.kind, Kind::Rigid | Kind::Particle);
            if is_moved && !is_given && single.density.is_none() {
                single.density = Some(made.materials.get(template.material).density);
            }
            single.material.clone_from(&material);
            plain.bodies.push(single);
        }
    }
    plain.joints.clear();
    for (entry, given) in scene.joints.iter().enumerate() {
        let path = FieldPath::default().key("joints").index(entry);
        plain
            .joints
            .extend(joint::expanded(given, &path, world, plain.joints.len())?);
    }
    plain.materials = named.materials(&made.materials);
    plain.defaults = Defaults::default();
    Ok(plain)
}

/// One copy as a body of its own, but for its name and material.
fn copied(template: &Template<'_, D3>, copy: Copy<D3>, defaults: &Defaults) -> Body {
    let given = template.body;
    let shape = match copy.origin {
        Origin::Own(shape) => Some(shape),
        Origin::Listed(choice, factor) => {
            let listed = given.shape.as_ref().or_else(|| given.shapes.get(choice));
            listed.map(|shape| match factor {
                Some(factor) => shape.scaled(factor),
                None => shape.clone(),
            })
        }
    };
    Body {
        shape,
        shapes: Vec::new(),
        position: Some(list(copy.pose.position)),
        rotation: turned(copy.pose.rotation),
        friction: None,
        restitution: None,
        linear_damping: given.linear_damping.or(defaults.linear_damping),
        angular_damping: given.angular_damping.or(defaults.angular_damping),
        repeat: None,
        ..given.clone()
    }
}

fn list(vector: DVec3) -> Vec<f64> {
    vector.to_array().to_vec()
}

/// As scenes have it; `None` for no rotation.
pub(super) fn turned(rotation: DQuat) -> Option<Rotation> {
    (rotation != DQuat::IDENTITY).then(|| Rotation::Quaternion(rotation.to_array().to_vec()))
}

/// Names of materials: the scene's own, one for bodies that name none, and more for bodies with
/// coefficients of their own.
struct Named {
    list: Vec<(MaterialId, String)>,
}

impl Named {
    fn new(scene: &Scene, table: &MaterialTable) -> Self {
        let names = scene.materials.iter().map(|material| &material.name);
        let known = names.filter_map(|name| Some((table.named(name)?, name.clone())));
        Self {
            list: known.collect(),
        }
    }

    fn name(&mut self, id: MaterialId) -> String {
        if let Some((_, name)) = self.list.iter().find(|(known, _)| *known == id) {
            return name.clone();
        }
        let mut name = match id == MaterialId::default() {
            true => DEFAULT_MATERIAL.to_owned(),
            false => format!("surface {}", self.list.len() + 1),
        };
        while self.list.iter().any(|(_, taken)| *taken == name) {
            name.push('\'');
        }
        self.list.push((id, name.clone()));
        name
    }

    fn materials(&self, engine: &Materials) -> Vec<Material> {
        let material = |(id, name): &(MaterialId, String)| {
            let own = engine.get(*id);
            Material {
                name: name.clone(),
                friction: Some(own.friction),
                restitution: Some(own.restitution),
                density: Some(own.density),
                friction_rule: Some(rule(own.friction_rule)),
                restitution_rule: Some(rule(own.restitution_rule)),
            }
        };
        self.list.iter().map(material).collect()
    }
}

fn rule(rule: EngineCombine) -> Combine {
    match rule {
        EngineCombine::Average => Combine::Average,
        EngineCombine::GeometricMean => Combine::GeometricMean,
        EngineCombine::Minimum => Combine::Minimum,
        EngineCombine::Product => Combine::Product,
        EngineCombine::Maximum => Combine::Maximum,
    }
}
