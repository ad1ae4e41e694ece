//! Materials of `KHR_physics_rigid_bodies`, and what they make where they meet.

use std::collections::BTreeSet;

use super::document::Document;
use super::physics::ON_NODE;
use super::value::Value;
use crate::error::SceneError;
use crate::export::material as export;
use crate::schema::{Combine, Material, Pair};

/// Most materials whose pairs are written one by one.
const MAX_PAIRED: usize = 256;

/// The materials of a document.
#[derive(Default)]
pub(super) struct Materials {
    pub(super) list: Vec<Material>,
    /// Whether all of them say how they combine in the words of a scene file.
    pub(super) are_own: bool,
}

impl Materials {
    pub(super) fn read(
        document: &Document<'_>,
        unsupported: &mut Vec<String>,
    ) -> Result<Self, SceneError> {
        let given = document.list(&format!("{ON_NODE}/physicsMaterials"));
        let mut names = BTreeSet::new();
        let mut materials = Self {
            list: Vec::new(),
            are_own: true,
        };
        for (index, given) in given.iter().enumerate() {
            let (mut material, is_own) = one(document, (given, index), unsupported)?;
            materials.are_own &= is_own;
            if !names.insert(material.name.clone()) {
                material.name = format!("{} ({index})", material.name);
            }
            materials.list.push(material);
        }
        Ok(materials)
    }

    /// Where rules differ, glTF and scenes choose differently: such pairs are written out.
    pub(super) fn pairs(&self, unsupported: &mut Vec<String>) -> Vec<Pair> {
        let mut pairs = Vec::new();
        if self.list.len() > MAX_PAIRED {
            let what = format!("rules of pairs of more than {MAX_PAIRED} materials");
            unsupported.push(what);
            return pairs;
        }
        for (index, a) in self.list.iter().enumerate() {
            for b in self.list.iter().skip(index + 1) {
                let rules = |m: &Material| (m.friction_rule, m.restitution_rule);
                if rules(a) == rules(b) {
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
        pairs
    }
}

/// A material, and whether the file has it in the words of a scene file.
fn one(
    document: &Document<'_>,
    (given, index): (&Value, usize),
    unsupported: &mut Vec<String>,
) -> Result<(Material, bool), SceneError> {
    let sliding = document.number(given, "dynamicFriction", 0.6)?;
    let resting = document.number(given, "staticFriction", sliding)?;
    let place = format!("physicsMaterials[{index}]");
    let read = Material {
        name: format!("material {index}"),
        friction: Some(sliding),
        restitution: Some(document.number(given, "restitution", 0.0)?),
        density: None,
        friction_rule: Some(rule(document, given, ("frictionCombine", &place))?),
        restitution_rule: Some(rule(document, given, ("restitutionCombine", &place))?),
    };
    if resting != sliding {
        let what = format!("static friction of material {index}: it is that of sliding");
        unsupported.push(what);
    }
    let keys = ["dynamicFriction", "restitution"];
    let words = ["frictionCombine", "restitutionCombine"];
    let is_same = |extra: &Material| {
        let said = Value::from(export::said(extra));
        let number = |from: &Value, key: &str| from.get(key).and_then(Value::as_f64);
        let word = |from: &Value, key: &str| from.get(key).map(Value::plain);
        keys.iter()
            .all(|key| number(&said, key) == number(given, key))
            && words.iter().all(|key| word(&said, key) == word(given, key))
    };
    let extra = document.extra::<Material>(given, &place)?.filter(is_same);
    Ok((extra.clone().unwrap_or(read), extra.is_some()))
}

fn rule(
    document: &Document<'_>,
    material: &Value,
    (key, place): (&str, &str),
) -> Result<Combine, SceneError> {
    match material.get(key).and_then(Value::as_str) {
        None | Some("average") => Ok(Combine::Average),
        Some("minimum") => Ok(Combine::Minimum),
        Some("maximum") => Ok(Combine::Maximum),
        Some("multiply") => Ok(Combine::Product),
        Some(other) => {
            let problem = format!("there is no rule `{other}`");
            Err(document.wrong(&format!("{place}.{key}"), problem))
        }
    }
}

/// A coefficient of two, by the rule that glTF puts first.
fn combined(rules: [Option<Combine>; 2], values: [Option<f64>; 2]) -> Option<f64> {
    let [a, b] = [values[0]?, values[1]?];
    let has = |rule: Combine| rules.contains(&Some(rule));
    Some(if has(Combine::Average) || has(Combine::GeometricMean) {
        0.5 * (a + b)
    } else if has(Combine::Minimum) {
        a.min(b)
    } else if has(Combine::Maximum) {
        a.max(b)
    } else {
        a * b
    })
}
