//! Materials: friction, restitution, and how they combine.

use serde_json::{Value, json};

use crate::schema::{Combine, Material};

/// A material as glTF has it. The geometric mean, which glTF does not have, is said to be the
/// average: where surfaces are alike both are the same.
pub(crate) fn said(material: &Material) -> Value {
    let friction = material.friction.unwrap_or(0.6);
    json!({
        "staticFriction": friction,
        "dynamicFriction": friction,
        "restitution": material.restitution.unwrap_or(0.0),
        "frictionCombine": rule(material.friction_rule),
        "restitutionCombine": rule(material.restitution_rule),
        "extras": { "drystone": material },
    })
}

fn rule(rule: Option<Combine>) -> &'static str {
    match rule {
        None | Some(Combine::Average | Combine::GeometricMean) => "average",
        Some(Combine::Minimum) => "minimum",
        Some(Combine::Product) => "multiply",
        Some(Combine::Maximum) => "maximum",
    }
}
