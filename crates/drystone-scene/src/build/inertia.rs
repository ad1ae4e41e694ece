//! Inertias that no body has.
//!
//! Of the moments of inertia about three axes at right angles, each is at most the sum of the other
//! two: Ixx + Iyy − Izz = 2 ∫ z² dm ≥ 0. The equations of motion take any positive moments, so such
//! a body can be simulated, but it turns like no solid.

use drystone::glam::{DMat3, DVec3};

use super::overlap::Warning;
use crate::import::principal::{excess, principal};
use crate::schema::{Body, Inertia};

/// A warning for a body whose given inertia is that of no distribution of mass.
pub(super) fn impossible(body: &Body) -> Option<Warning> {
    let Inertia::Solid(values) = &body.mass_properties.as_ref()?.inertia else {
        return None;
    };
    let at = |k: usize| values.get(k).copied().unwrap_or(0.0);
    let inertia = DMat3::from_cols(
        DVec3::new(at(0), at(3), at(4)),
        DVec3::new(at(3), at(1), at(5)),
        DVec3::new(at(4), at(5), at(2)),
    );
    let (moments, _) = principal(inertia);
    let by = excess(moments)?;
    let name = body.name.as_deref().unwrap_or("without a name");
    let [largest, middle, least] = moments.to_array();
    Some(Warning {
        message: format!(
            "body `{name}` has an inertia that no mass has: its largest moment {largest:.4e} kg·m² \
             is {:.2} % more than the other two together ({middle:.4e} and {least:.4e}); each is at \
             most the sum of the others",
            100.0 * by * largest / (middle + least)
        ),
        bodies: None,
        depth_m: 0.0,
    })
}
