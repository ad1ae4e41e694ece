//! What surfaces are made of, and how two of them meet.
//!
//! A contact needs one friction coefficient μ and one restitution coefficient e, but each body
//! brings its own. How the two are combined is written in the material ([`Combine`]); where two
//! materials name different rules, the one later in the list below wins (so that the result does
//! not depend on which body is A). A pair can be overridden with measured values
//! ([`Materials::set_pair`]).

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Coulomb's coefficient μ ≥ 0, without unit: friction is at most μ times the normal impulse.
    pub friction: f64,
    /// Newton's coefficient e in 0..=1, without unit: separation speed over approach speed.
    pub restitution: f64,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²) of bodies that do not give their own.
    pub density: f64,
    /// How friction combines with the other surface's.
    pub friction_rule: Combine,
    /// How restitution combines with the other surface's.
    pub restitution_rule: Combine,
}

impl Default for Material {
    /// Rough stone: μ = 0.6, no bounce, 2,600 kg/m³; the geometric mean of frictions, the larger
    /// restitution.
    fn default() -> Self {
        Self {
            friction: 0.6,
            restitution: 0.0,
            density: 2600.0,
            friction_rule: Combine::GeometricMean,
            restitution_rule: Combine::Maximum,
        }
    }
}

/// How one coefficient is made of two. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// (a + b) / 2.
    Average,
    /// √(a b): a frictionless surface makes a frictionless contact.
    GeometricMean,
    /// The smaller.
    Minimum,
    /// a b.
    Product,
    /// The larger.
    Maximum,
}

impl Combine {
    /// One coefficient of two.
    #[must_use]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Average => 0.5 * (a + b),
            // Equal factors must give themselves back exactly: a stated μ is a contract.
            Self::GeometricMean if a == b => a,
            Self::GeometricMean => (a * b).sqrt(),
            Self::Minimum => a.min(b),
            Self::Product => a * b,
            Self::Maximum => a.max(b),
        }
    }
}

/// Names a material of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MaterialId(pub(crate) u32);

/// The coefficients of one contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Coulomb's μ.
    pub friction: f64,
    /// Newton's e.
    pub restitution: f64,
}

/// Why a material can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// Friction that is not a number from 0 up.
    #[error("friction must be a finite number, 0 or more, not {0}")]
    Friction(f64),
    /// Restitution outside 0..=1.
    #[error("restitution must be a number from 0 (no bounce) to 1 (full bounce), not {0}")]
    Restitution(f64),
    /// Density that is not positive.
    #[error("density must be a finite number greater than 0 (kg/m³, in 2D kg/m²), not {0}")]
    Density(f64),
}

fn check_surface(friction: f64, restitution: f64) -> Result<(), MaterialError> {
    if !(friction.is_finite() && friction >= 0.0) {
        return Err(MaterialError::Friction(friction));
    }
    if !(0.0..=1.0).contains(&restitution) {
        return Err(MaterialError::Restitution(restitution));
    }
    Ok(())
}

/// The materials of a world. The first, [`MaterialId::default`], always exists.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Materials {
    list: Vec<Material>,
    /// Overrides, sorted by pair, smaller id first.
    pairs: Vec<((MaterialId, MaterialId), Surface)>,
}

impl Default for Materials {
    fn default() -> Self {
        Self {
            list: vec![Material::default()],
            pairs: Vec::new(),
        }
    }
}

impl Materials {
    /// Adds a material.
    pub fn add(&mut self, material: Material) -> Result<MaterialId, MaterialError> {
        check(&material)?;
        self.list.push(material);
        Ok(MaterialId(self.list.len() as u32 - 1))
    }

    /// Replaces the material of bodies that name none.
    pub fn set_default(&mut self, material: Material) -> Result<(), MaterialError> {
        check(&material)?;
        self.list[0] = material;
        Ok(())
    }

    /// The material (the default one for an id of another world).
    #[must_use]
    pub fn get(&self, id: MaterialId) -> Material {
        self.list
            .get(id.0 as usize)
            .copied()
            .unwrap_or(self.list[0])
    }

    /// Gives two materials coefficients of their own, whatever their rules say.
    pub fn set_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        surface: Surface,
    ) -> Result<(), MaterialError> {
        check_surface(surface.friction, surface.restitution)?;
        let key = (a.min(b), a.max(b));
        match self.pairs.binary_search_by_key(&key, |pair| pair.0) {
            Ok(at) => self.pairs[at].1 = surface,
            Err(at) => self.pairs.insert(at, (key, surface)),
        }
        Ok(())
    }

    /// Gives all surfaces and pairs the same friction.
    pub fn set_all_friction(&mut self, friction: f64) -> Result<(), MaterialError> {
        check_surface(friction, 0.0)?;
        self.list.iter_mut().for_each(|m| m.friction = friction);
        self.pairs.iter_mut().for_each(|p| p.1.friction = friction);
        Ok(())
    }

    /// Gives all surfaces and pairs the same restitution.
    pub fn set_all_restitution(&mut self, restitution: f64) -> Result<(), MaterialError> {
        check_surface(0.0, restitution)?;
        let all = self.list.iter_mut();
        all.for_each(|m| m.restitution = restitution);
        let pairs = self.pairs.iter_mut();
        pairs.for_each(|p| p.1.restitution = restitution);
        Ok(())
    }

    /// The coefficients where the two meet.
    #[must_use]
    pub fn between(&self, a: MaterialId, b: MaterialId) -> Surface {
        let key = (a.min(b), a.max(b));
        if let Ok(at) = self.pairs.binary_search_by_key(&key, |pair| pair.0) {
            return self.pairs[at].1;
        }
        let (a, b) = (self.get(a), self.get(b));
        Surface {
            friction: a
                .friction_rule
                .max(b.friction_rule)
                .apply(a.friction, b.friction),
            restitution: a
                .restitution_rule
                .max(b.restitution_rule)
                .apply(a.restitution, b.restitution),
        }
    }
}

fn check(material: &Material) -> Result<(), MaterialError> {
    check_surface(material.friction, material.restitution)?;
    if !(material.density.is_finite() && material.density > 0.0) {
        return Err(MaterialError::Density(material.density));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_friction(friction: f64, friction_rule: Combine) -> Material {
        Material {
            friction,
            friction_rule,
            ..Material::default()
        }
    }

    #[test]
    fn all_surfaces_and_pairs_can_be_given_one_friction() {
        let mut materials = Materials::default();
        let ice = materials.add(with_friction(0.1, Combine::Average)).unwrap();
        let other = MaterialId::default();
        let measured = Surface {
            friction: 0.9,
            restitution: 0.3,
        };
        materials.set_pair(ice, other, measured).unwrap();
        materials.set_all_friction(0.4).unwrap();
        for (a, b) in [(ice, ice), (ice, other), (other, other)] {
            assert_eq!(materials.between(a, b).friction, 0.4);
        }
        materials.set_all_restitution(0.5).unwrap();
        assert_eq!(materials.between(ice, other).restitution, 0.5);
        assert!(materials.set_all_friction(-1.0).is_err());
        assert!(materials.set_all_restitution(1.5).is_err());
        assert_eq!(materials.between(ice, ice).friction, 0.4);
    }

    #[test]
    fn combination_does_not_depend_on_the_order_of_the_bodies() {
        let mut materials = Materials::default();
        let ice = materials.add(with_friction(0.1, Combine::Average)).unwrap();
        let rubber = materials.add(with_friction(0.9, Combine::Minimum)).unwrap();
        assert_eq!(
            materials.between(ice, rubber),
            materials.between(rubber, ice)
        );
        assert_eq!(materials.between(ice, rubber).friction, 0.1);
    }

    #[test]
    fn a_pair_overrides_the_rules() {
        let mut materials = Materials::default();
        let a = materials.add(with_friction(0.1, Combine::Average)).unwrap();
        let b = materials.add(with_friction(0.9, Combine::Average)).unwrap();
        let measured = Surface {
            friction: 0.33,
            restitution: 0.2,
        };
        materials.set_pair(b, a, measured).unwrap();
        assert_eq!(materials.between(a, b), measured);
        assert_ne!(materials.between(a, a), measured);
    }

    #[test]
    fn impossible_coefficients_are_refused() {
        let mut m = Materials::default();
        assert!(m.add(with_friction(-0.1, Combine::Average)).is_err());
        assert!(m.add(with_friction(f64::NAN, Combine::Average)).is_err());
        for restitution in [-0.1, 1.1, f64::NAN] {
            let bad = Material {
                restitution,
                ..Material::default()
            };
            assert_eq!(
                m.add(bad).unwrap_err().to_string(),
                MaterialError::Restitution(restitution).to_string()
            );
        }
    }
}
