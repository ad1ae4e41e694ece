//! Surfaces by `PhysicsMaterialAPI`, and which collider has which.

use super::scene::Maker;
use crate::error::SceneError;
use crate::schema::{Combine, Material};

/// Relationships to a material, the one for physics first.
const BINDINGS: [&str; 2] = ["material:binding:physics", "material:binding"];

impl Maker<'_> {
    /// The prim of a collider's material, which is added to the scene when it is first met.
    pub(super) fn material(&mut self, collider: usize) -> Result<Option<usize>, SceneError> {
        let stage = self.stage;
        let bound = |binding: &str| {
            let mut up = stage.upwards(collider);
            let targets = up.find_map(|(prim, _)| stage.targets(prim, binding))?;
            let material = stage.find(targets.first()?)?;
            let is_physical = stage.has_schema(material, "PhysicsMaterialAPI");
            is_physical.then_some(material)
        };
        let Some(prim) = BINDINGS.into_iter().find_map(bound) else {
            return Ok(None);
        };
        if self.materials.contains_key(&prim) {
            return Ok(Some(prim));
        }
        let sliding = stage.finite(prim, "physics:dynamicFriction", 0.0)?;
        let resting = stage.finite(prim, "physics:staticFriction", 0.0)?;
        if resting != sliding {
            self.list(prim, "static friction: it is that of sliding");
        }
        let density = stage.finite(prim, "physics:density", 0.0)?;
        let mut name = stage
            .prims
            .get(prim)
            .map_or(String::new(), |prim| prim.name.clone());
        if !self.material_names.insert(name.clone()) {
            name = stage.path(prim);
            self.material_names.insert(name.clone());
        }
        self.scene.materials.push(Material {
            name: name.clone(),
            friction: Some(sliding),
            restitution: Some(stage.finite(prim, "physics:restitution", 0.0)?),
            density: (density > 0.0).then(|| density * self.density_unit()),
            friction_rule: Some(Combine::Average),
            restitution_rule: Some(Combine::Average),
        });
        self.materials.insert(prim, name);
        Ok(Some(prim))
    }
}
