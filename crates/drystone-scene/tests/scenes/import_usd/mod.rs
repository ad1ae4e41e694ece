//! USD with UsdPhysics as scenes.

mod bodies;
mod joints;

use crate::common::import_bytes;
use drystone_scene::Scene;
use drystone_scene::import::Imported;
use drystone_scene::schema::{Body, Inertia};

/// A stage in metres with z up, of these prims.
fn stage(prims: &str) -> String {
    format!("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Z\"\n)\n{prims}")
}

fn import(text: &str) -> Imported {
    import_bytes("model.usda", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    import_bytes("model.usda", text.as_bytes())
        .unwrap_err()
        .to_string()
}

fn body<'s>(scene: &'s Scene, name: &str) -> &'s Body {
    let mut bodies = scene.bodies.iter();
    let found = bodies.find(|body| body.name.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("no body `{name}`"))
}

fn near(found: &[f64], wanted: &[f64], within: f64) {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= within;
    let all = found.len() == wanted.len() && found.iter().zip(wanted).all(is_near);
    assert!(all, "{found:?} instead of {wanted:?}");
}

/// Mass and centre; inertia.
fn body_mass(scene: &Scene, name: &str) -> (Vec<f64>, Vec<f64>) {
    let given = body(scene, name).mass_properties.as_ref().unwrap();
    let center = given.center.clone().unwrap_or(vec![0.0; 3]);
    let Inertia::Solid(inertia) = &given.inertia else {
        panic!("a flat inertia");
    };
    ([vec![given.mass], center].concat(), inertia.clone())
}
