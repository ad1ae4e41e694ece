//! Materials by name, and those of bodies with coefficients of their own.

use std::collections::BTreeMap;

use drystone::{Combine, Material, MaterialError, MaterialId, Materials, Surface};

use super::check;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::read::nearest;
use crate::schema::{self, Body, Scene};

/// The materials of a world under construction.
#[derive(Clone, Debug)]
pub(super) struct MaterialTable {
    by_name: BTreeMap<String, MaterialId>,
    /// Material of bodies that name none.
    default: MaterialId,
    /// Materials of bodies with coefficients of their own, by what they are made of.
    special: BTreeMap<(MaterialId, u64, u64), MaterialId>,
}

impl MaterialTable {
    /// Adds the scene's materials and pairs to `materials`.
    pub(super) fn new(scene: &Scene, materials: &mut Materials) -> Result<Self, Flaw> {
        let root = FieldPath::default();
        let defaults = &scene.defaults;
        let mut base = materials.get(MaterialId::default());
        set(&mut base.friction, defaults.friction);
        set(&mut base.restitution, defaults.restitution);
        set(&mut base.density, defaults.density);
        let path = root.key("defaults");
        materials
            .set_default(base)
            .map_err(|error| misfit(&error, &path))?;

        let mut table = Self {
            by_name: BTreeMap::new(),
            default: MaterialId::default(),
            special: BTreeMap::new(),
        };
        for (index, material) in scene.materials.iter().enumerate() {
            table.add(material, &root.key("materials").index(index), materials)?;
        }
        if let Some(name) = &defaults.material {
            table.default = table.find(name, path.key("material"))?;
        }
        for (index, pair) in scene.pairs.iter().enumerate() {
            table.add_pair(pair, &root.key("pairs").index(index), materials)?;
        }
        Ok(table)
    }

    /// Adds a material; what it leaves out is as in the default.
    pub(super) fn add(
        &mut self,
        material: &schema::Material,
        path: &FieldPath,
        materials: &mut Materials,
    ) -> Result<(), Flaw> {
        let name = check::name(&material.name, &path.key("name"))?.to_owned();
        if self.by_name.contains_key(&name) {
            let flaw = Flaw::new(path.key("name"), format!("the name `{name}` is taken"));
            return Err(flaw.help("names of materials must differ"));
        }
        let base = materials.get(MaterialId::default());
        let id = materials
            .add(engine_material(material, base))
            .map_err(|error| misfit(&error, path))?;
        self.by_name.insert(name, id);
        Ok(())
    }

    /// Sets the coefficients of two materials where they meet.
    pub(super) fn add_pair(
        &self,
        pair: &schema::Pair,
        path: &FieldPath,
        materials: &mut Materials,
    ) -> Result<(), Flaw> {
        let [a, b] = &pair.between;
        let a = self.find(a, path.key("between").index(0))?;
        let b = self.find(b, path.key("between").index(1))?;
        let by_rule = materials.between(a, b);
        let surface = Surface {
            friction: pair.friction.unwrap_or(by_rule.friction),
            restitution: pair.restitution.unwrap_or(by_rule.restitution),
        };
        materials
            .set_pair(a, b, surface)
            .map_err(|error| misfit(&error, path))
    }

    /// The material of that name.
    pub(super) fn named(&self, name: &str) -> Option<MaterialId> {
        self.by_name.get(name).copied()
    }

    fn find(&self, name: &str, path: FieldPath) -> Result<MaterialId, Flaw> {
        if let Some(id) = self.by_name.get(name) {
            return Ok(*id);
        }
        let flaw = Flaw::new(path, format!("there is no material named `{name}`"));
        let known = || self.by_name.keys().map(String::as_str);
        Err(match nearest(name, known()) {
            Some(near) => flaw.help(format!("did you mean `{near}`?")),
            None if self.by_name.is_empty() => flaw.help("add it: `[[materials]]` with this name"),
            None => {
                let list = known().take(12).collect::<Vec<_>>().join("`, `");
                flaw.help(format!("add it under `[[materials]]`, or use `{list}`"))
            }
        })
    }

    /// The material of a body.
    pub(super) fn of_body(
        &mut self,
        body: &Body,
        path: &FieldPath,
        materials: &mut Materials,
    ) -> Result<MaterialId, Flaw> {
        let id = match &body.material {
            Some(name) => self.find(name, path.key("material"))?,
            None => self.default,
        };
        if body.friction.is_none() && body.restitution.is_none() {
            return Ok(id);
        }
        let mut own = materials.get(id);
        set(&mut own.friction, body.friction);
        set(&mut own.restitution, body.restitution);
        let key = (id, own.friction.to_bits(), own.restitution.to_bits());
        if let Some(known) = self.special.get(&key) {
            return Ok(*known);
        }
        let made = materials.add(own).map_err(|error| misfit(&error, path))?;
        self.special.insert(key, made);
        Ok(made)
    }
}

fn set(field: &mut f64, value: Option<f64>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn engine_material(material: &schema::Material, base: Material) -> Material {
    Material {
        friction: material.friction.unwrap_or(base.friction),
        restitution: material.restitution.unwrap_or(base.restitution),
        density: material.density.unwrap_or(base.density),
        friction_rule: material.friction_rule.map_or(base.friction_rule, rule),
        restitution_rule: material
            .restitution_rule
            .map_or(base.restitution_rule, rule),
    }
}

fn rule(rule: schema::Combine) -> Combine {
    match rule {
        schema::Combine::Average => Combine::Average,
        schema::Combine::GeometricMean => Combine::GeometricMean,
        schema::Combine::Minimum => Combine::Minimum,
        schema::Combine::Product => Combine::Product,
        schema::Combine::Maximum => Combine::Maximum,
    }
}

/// The engine's error, at the field it is about.
fn misfit(error: &MaterialError, path: &FieldPath) -> Flaw {
    let field = match error {
        MaterialError::Friction(_) => path.key("friction"),
        MaterialError::Restitution(_) => path.key("restitution"),
        MaterialError::Density(_) => path.key("density"),
        _ => path.clone(),
    };
    Flaw::new(field, error.to_string())
}
