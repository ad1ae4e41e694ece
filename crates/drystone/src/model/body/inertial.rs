//! Mass and inertia of bodies.

use super::{Body, BodyError, Kind, Mass};
use crate::geometry::Space;
use crate::geometry::shape::{Geometry, MassProperties};
use crate::math::algebra::{Components, Linear};
use serde::{Deserialize, Serialize};

/// How a body resists impulses, in body axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Inertial<S: Space> {
    /// Mass in kg; infinite for bodies that impulses do not move.
    pub(crate) mass: f64,
    /// 1/mass along each world axis, 0 where locked.
    pub(crate) inv_mass: S::Vector,
    /// Inertia about the centre of mass, kg·m².
    pub(crate) inertia: S::Inertia,
    /// Its inverse; zero where it does not turn.
    pub(crate) inv_inertia: S::Inertia,
    /// 1 for world axes it may turn about.
    pub(crate) free_spins: S::Spin,
    /// Whether free rotation changes its spin.
    pub(crate) gyroscopic: bool,
}

impl<S: Space> Inertial<S> {
    /// Of a body that impulses do not move.
    pub(super) fn immovable() -> Self {
        Self {
            mass: f64::INFINITY,
            inv_mass: S::Vector::default(),
            inertia: S::NO_INERTIA,
            inv_inertia: S::NO_INERTIA,
            free_spins: S::Spin::default(),
            gyroscopic: false,
        }
    }

    /// Inertia in world axes at a rotation, kg·m².
    pub(crate) fn inertia_at(&self, rotation: S::Rotation) -> S::Inertia {
        // What is the same about every axis needs no turning.
        if self.gyroscopic {
            S::world_inertia(rotation, &self.inertia)
        } else {
            self.inertia
        }
    }

    /// Inverse inertia in world axes at a rotation, zero about axes it may not turn about.
    pub(crate) fn inv_inertia_at(&self, rotation: S::Rotation) -> S::Inertia {
        self.masked(if self.gyroscopic {
            S::world_inertia(rotation, &self.inv_inertia)
        } else {
            self.inv_inertia
        })
    }

    /// An inverse inertia in world axes, zero about axes it may not turn about.
    pub(crate) fn masked(&self, inverse: S::Inertia) -> S::Inertia {
        if self.free_spins == S::Spin::splat(1.0) {
            inverse
        } else {
            S::mask_inertia(&inverse, self.free_spins)
        }
    }
}

/// The inertia of a body and its centre of mass in the shape's axes.
pub(super) fn checked_inertial<S: Space>(
    body: &Body<S>,
    density: f64,
) -> Result<(Inertial<S>, S::Vector), BodyError> {
    if matches!(body.kind, Kind::Fixed | Kind::Kinematic(_)) {
        return Ok((Inertial::immovable(), S::Vector::default()));
    }
    let is_particle = body.kind == Kind::Particle;
    if is_particle && body.shape.ball_radius().is_none() {
        return Err(BodyError::NotABall);
    }
    let properties = mass_of(body, density)?;
    let inertia = if is_particle {
        S::NO_INERTIA
    } else {
        properties.inertia
    };
    let inv_inertia = S::invert_inertia(&inertia);
    if !is_particle && !S::is_positive_definite(&inertia) {
        return Err(BodyError::Inertia);
    }
    let inertial = Inertial {
        mass: properties.mass,
        inv_mass: mask(S::Vector::splat(1.0 / properties.mass), body.locked_axes),
        inertia,
        inv_inertia,
        free_spins: mask(S::Spin::splat(1.0), body.locked_spins),
        gyroscopic: !S::is_isotropic(&inertia),
    };
    Ok((inertial, properties.center))
}

fn mass_of<S: Space>(body: &Body<S>, density: f64) -> Result<MassProperties<S>, BodyError> {
    let positive = |what, unit, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err(BodyError::Mass { what, unit, value })
        }
    };
    let of_shape = |density| {
        let properties = body
            .shape
            .mass_properties(density)
            .ok_or(BodyError::NoVolume)?;
        positive("mass", "kg", properties.mass)?;
        Ok(properties)
    };
    match body.mass {
        Mass::OfMaterial => of_shape(density),
        Mass::Density(density) => of_shape(positive("density", "kg/m³, in 2D kg/m²", density)?),
        Mass::Total(mass) => {
            // Inertia is linear in density: the density that gives this mass.
            let unit = of_shape(1.0)?;
            of_shape(positive("mass", "kg", mass)? / unit.mass)
                .map(|properties| MassProperties { mass, ..properties })
        }
        Mass::Given(properties) => {
            positive("mass", "kg", properties.mass)?;
            if !properties.center.is_finite() {
                return Err(BodyError::NotFinite("centre of mass"));
            }
            Ok(properties)
        }
    }
}

/// The vector with locked components set to zero.
pub(super) fn mask<V: Components>(vector: V, locked: [bool; 3]) -> V {
    locked
        .into_iter()
        .enumerate()
        .filter(|(_, is_locked)| *is_locked)
        .fold(vector, |v, (axis, _)| v.with_component(axis, 0.0))
}
