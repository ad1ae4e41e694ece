//! `drystone import`: a model of another program as a scene.

use std::fs;

use drystone_scene::import::{ImportOptions, Imported, import as read};
use drystone_scene::schema::Kind;

use super::{pretty, print};
use crate::cli::ImportArgs;
use crate::fault::Fault;
use crate::plan::refuse_partial;
use crate::text::Columns;
use crate::units::{bytes, counted};

/// Width of the labels at the left.
const LABEL: usize = 8;

/// Imports a model. It is built too, so that what is written can be run.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Fault> {
    let options = ImportOptions {
        max_bytes: args.max_bytes,
        ..args.reading.options()
    };
    let imported = read(&args.file, &options).map_err(Fault::Scene)?;
    refuse_partial(&args.file, &imported, args.reading.strict)?;
    let (_, warnings) = imported.scene.build_with_warnings().map_err(Fault::Scene)?;
    let mut text = understood(&imported);
    for warning in &warnings {
        text.line("warning", &warning.message);
    }
    if let Some(path) = &args.out {
        let is_json = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let scene = match is_json {
            true => pretty(&imported.scene)?,
            false => imported.scene.to_toml().map_err(Fault::Scene)?,
        };
        fs::write(path, &scene).map_err(|error| Fault::Write {
            path: path.clone(),
            error,
        })?;
        let size = bytes(scene.len() as u64);
        text.line("wrote", &format!("{} ({size})", path.display()));
    }
    print(&text.finish())
}

/// What is in the scene, and what is not.
fn understood(imported: &Imported) -> Columns {
    let scene = &imported.scene;
    let mut text = Columns::new(format!("{} is understood\n", scene.name), LABEL);
    let moving = scene
        .bodies
        .iter()
        .filter(|body| body.kind == Kind::Rigid)
        .count();
    let all = counted(scene.bodies.len() as u64, "body");
    text.line("bodies", &format!("{all}: {moving} that contact moves"));
    text.line("joints", &counted(scene.joints.len() as u64, "joint"));
    if imported.unsupported.is_empty() {
        text.line("left out", "nothing");
    }
    for what in &imported.unsupported {
        text.line("left out", what);
    }
    text
}
