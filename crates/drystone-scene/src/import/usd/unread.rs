//! What of a stage nothing asked for: prims, properties and schemas.

use std::collections::BTreeSet;

use super::stage::{Prim, Stage};
use crate::import::files::shortened;
use crate::import::unread::{Effect, Listing};

/// Types of prims that only hold others.
const HOLDERS: [&str; 3] = ["", "Xform", "Scope"];
/// Types of prims that change only how things look, unless they collide.
const LOOKS: [&str; 16] = [
    "Camera",
    "Material",
    "Shader",
    "NodeGraph",
    "GeomSubset",
    "Mesh",
    "Cube",
    "Sphere",
    "Capsule",
    "Cylinder",
    "Cone",
    "Plane",
    "Points",
    "BasisCurves",
    "RenderSettings",
    "BlendShape",
];
/// Schemas of which the reader asks for the properties, not for the name.
const BY_PROPERTY: [&str; 3] = [
    "PhysicsMeshCollisionAPI",
    "MaterialBindingAPI",
    "CollectionAPI:",
];
/// What names of properties begin with that change only how things look.
const LOOKING: [&str; 14] = [
    "primvars:",
    "inputs:",
    "outputs:",
    "info:",
    "visibility",
    "purpose",
    "doubleSided",
    "normals",
    "extent",
    "material:binding",
    "ui:",
    "subdivisionScheme",
    "display",
    "faceVarying",
];
/// What names of properties begin with that change nothing.
const NOTHING: [&str; 3] = ["userProperties:", "drystone:", "proxyPrim"];

/// Lists what is left over of a stage.
pub(super) fn list(stage: &Stage<'_>, listing: &mut Listing) {
    let asked = stage.asked.borrow();
    let schemas = stage.asked_schemas.borrow();
    for (index, prim) in stage.prims.iter().enumerate() {
        let place = || format!("<{}>", shortened(&stage.path(index)));
        let is_known = |own: &&String| {
            schemas.contains(*own) || BY_PROPERTY.iter().any(|known| own.starts_with(known))
        };
        for schema in prim.schemas.iter().filter(|own| !is_known(own)) {
            listing.add(
                &format!("schema `{}`", shortened(schema)),
                of_schema(schema),
                place,
            );
        }
        let names = properties(stage, prim);
        let is_asked = |name: &&&str| asked.contains(&(index, (**name).to_owned()));
        let left: Vec<&&str> = names.iter().filter(|name| !is_asked(name)).collect();
        let is_turned = |name: &&&str| name.starts_with("xformOp") || **name == "visibility";
        let is_touched = names
            .iter()
            .any(|name| is_asked(&name) && !is_turned(&name));
        let kind = prim.type_name.as_str();
        if !is_touched && !HOLDERS.contains(&kind) && !left.is_empty() {
            let looks = LOOKS.contains(&kind) || kind.ends_with("Light");
            let effect = if looks { Effect::Looks } else { Effect::Motion };
            listing.add(
                &format!("prim of type `{}`", shortened(kind)),
                effect,
                place,
            );
            continue;
        }
        for name in left {
            listing.add(&format!("`{}`", shortened(name)), of_property(name), place);
        }
    }
}

/// Names of all properties that layers state of a prim.
fn properties<'s>(stage: &'s Stage<'_>, prim: &'s Prim) -> BTreeSet<&'s str> {
    let specs = stage.opinions(&prim.nodes);
    specs
        .flat_map(|(_, spec)| spec.properties.keys().map(String::as_str))
        .collect()
}

fn of_schema(schema: &str) -> Effect {
    let looks = ["MaterialBinding", "Light", "Shadow", "GeomModel", "Skel"];
    match looks.iter().any(|part| schema.contains(part)) {
        true => Effect::Looks,
        false => Effect::Motion,
    }
}

fn of_property(name: &str) -> Effect {
    let begins = |list: &[&str]| list.iter().any(|begin| name.starts_with(begin));
    if begins(&LOOKING) {
        Effect::Looks
    } else if begins(&NOTHING) {
        Effect::Nothing
    } else {
        Effect::Motion
    }
}
