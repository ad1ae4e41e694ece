//! Masses by `PhysicsMassAPI`.
//!
//! What is said of a body counts more than what is said of its colliders; a mass counts more than a
//! density; a collider's density more than the body's, the body's more than the material's. What
//! says nothing has the density of water.

use drystone::glam::{DMat3, DVec3};

use super::scene::Maker;
use super::transform::Placement;
use crate::error::SceneError;
use crate::import::rigid::{Lump, Piece};
use crate::schema::Body;

/// A part of a body and what is said of its mass.
pub(super) struct Weighed {
    pub(super) prim: usize,
    pub(super) piece: Piece,
    /// The prim of its material.
    pub(super) material: Option<usize>,
    /// kg, if the collider itself has one.
    mass: Option<f64>,
    /// kg/m³, if the collider itself has one.
    density: Option<f64>,
    /// kg/m³ of its material.
    of_material: Option<f64>,
}

/// A body of nothing, kg: the mass that simulators give it.
const OF_NOTHING: f64 = 1.0;

impl Maker<'_> {
    /// A mass, or a density, of a prim with `PhysicsMassAPI`; 0 stands for none.
    fn above_zero(&self, prim: usize, name: &str, unit: f64) -> Result<Option<f64>, SceneError> {
        if !self.stage.has_schema(prim, "PhysicsMassAPI") {
            return Ok(None);
        }
        let number = self.stage.finite(prim, name, 0.0)?;
        match number < 0.0 {
            true => Err(self.stage.wrong_at(prim, name, "it should not be below 0")),
            false => Ok((number > 0.0).then_some(number * unit)),
        }
    }

    /// kg/m³ for one of the stage's units.
    pub(super) fn density_unit(&self) -> f64 {
        self.kilogram / (self.meter * self.meter * self.meter)
    }

    /// A part with what its own prim says of mass; what the body's prim says is the body's.
    pub(super) fn weighed(
        &mut self,
        body: usize,
        prim: usize,
        piece: Piece,
    ) -> Result<Weighed, SceneError> {
        let material = self.material(prim)?;
        let of_material = match material {
            Some(material) => self.stage.finite(material, "physics:density", 0.0)?,
            None => 0.0,
        };
        let is_other = prim != body;
        let own = |name: &str, unit: f64| match is_other {
            true => self.above_zero(prim, name, unit),
            false => Ok(None),
        };
        Ok(Weighed {
            prim,
            material,
            mass: own("physics:mass", self.kilogram)?,
            density: own("physics:density", self.density_unit())?,
            of_material: (of_material > 0.0).then(|| of_material * self.density_unit()),
            piece,
        })
    }

    /// Sets what the stage says of a body's mass; what it leaves out comes of the shape.
    pub(super) fn mass(
        &mut self,
        body: &mut Body,
        (prim, placed): (usize, &Placement),
        parts: &[Weighed],
    ) -> Result<(), SceneError> {
        let mass = self.above_zero(prim, "physics:mass", self.kilogram)?;
        let density = self.above_zero(prim, "physics:density", self.density_unit())?;
        let center = self.center(prim, placed)?;
        let inertia = self.inertia(prim)?;
        let of_first = parts.first().and_then(|part| part.of_material);
        let is_even = parts.iter().all(|part| {
            part.mass.is_none()
                && part.density.is_none()
                && (density.is_some() || part.of_material == of_first)
        });
        if parts.is_empty() {
            self.of_nothing(body, prim, (mass, center, inertia));
            return Ok(());
        }
        if is_even && center.is_none() && inertia.is_none() {
            (body.mass, body.density) = match mass {
                Some(mass) => (Some(mass), None),
                // A material's density the body takes from its material.
                None => (None, density),
            };
            return Ok(());
        }
        let usual = self.scene.defaults.density.unwrap_or_default();
        let lump = |part: &Weighed| {
            let density = part.density.or(density).or(part.of_material);
            let lump = Lump::of_shape(&part.piece.shape, part.mass, density.unwrap_or(usual));
            Some(lump?.placed(&part.piece.pose))
        };
        let lumps: Option<Vec<Lump>> = parts.iter().map(lump).collect();
        let Some(mut whole) = lumps.and_then(|lumps| Lump::joined(&lumps)) else {
            return Err(self
                .stage
                .wrong(&self.stage.path(prim), "its shape has no volume"));
        };
        if let Some(mass) = mass {
            whole.inertia *= mass / whole.mass;
            whole.mass = mass;
        }
        whole.inertia = inertia.unwrap_or(whole.inertia);
        whole.center = center.unwrap_or(whole.center);
        body.mass_properties = Some(whole.schema());
        Ok(())
    }

    /// A body without shape: nothing but a mass.
    fn of_nothing(
        &mut self,
        body: &mut Body,
        prim: usize,
        (mass, center, inertia): (Option<f64>, Option<DVec3>, Option<DMat3>),
    ) {
        if mass.is_none() {
            self.list(prim, "it has no shape and no mass: it has 1 kg");
        }
        let mass = mass.unwrap_or(OF_NOTHING);
        let Some(inertia) = inertia else {
            self.list(
                prim,
                "it has no shape and no inertia: it has that of a small ball",
            );
            body.mass = Some(mass);
            return;
        };
        let lump = Lump {
            mass,
            center: center.unwrap_or_default(),
            inertia,
        };
        body.mass_properties = Some(lump.schema());
    }

    /// The centre of mass in the body's axes, m. It is scaled as the prim is.
    fn center(&self, prim: usize, placed: &Placement) -> Result<Option<DVec3>, SceneError> {
        if !self.stage.has_schema(prim, "PhysicsMassAPI") {
            return Ok(None);
        }
        let center = self.stage.row::<3>(prim, "physics:centerOfMass")?;
        let center = center.map(DVec3::from_array);
        // Infinite is the schema's word for none.
        Ok(center.filter(|c| c.is_finite()).map(|c| c * placed.scale))
    }

    /// The inertia about the centre of mass in the body's axes, kg·m².
    fn inertia(&self, prim: usize) -> Result<Option<DMat3>, SceneError> {
        if !self.stage.has_schema(prim, "PhysicsMassAPI") {
            return Ok(None);
        }
        let name = "physics:diagonalInertia";
        let Some(moments) = self.stage.vector(prim, name)?.filter(|m| *m != DVec3::ZERO) else {
            return Ok(None);
        };
        if moments.min_element() <= 0.0 {
            return Err(self.stage.wrong_at(prim, name, "moments must be above 0"));
        }
        let turn = self.stage.quaternion(prim, "physics:principalAxes")?;
        let turn = DMat3::from_quat(turn.unwrap_or_default());
        let moments = DMat3::from_diagonal(moments * self.kilogram * self.meter * self.meter);
        Ok(Some(turn * moments * turn.transpose()))
    }
}
