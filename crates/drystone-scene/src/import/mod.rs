//! Models of other programs as scenes: OBJ and STL meshes, URDF, MJCF, and glTF and USD with
//! physics.
//!
//! [`import`] reads a file by its extension and gives an [`Imported`]: an ordinary [`Scene`], and
//! by name what the file says that the scene does not. Every reader makes the same few things:
//!
//! ```text
//! files ─▶ stl, obj            ─▶ one mesh ─────────────┐
//!      ├─▶ xml ─▶ urdf, mjcf   ─▶ rigid (bodies, mass) ─┼─▶ Scene
//!      └─▶ gltf, usd           ─▶ rigid ────────────────┘
//! ```
//!
//! Files are taken for hostile: nothing is read beyond [`ImportOptions::max_bytes`], nothing
//! outside the model's folder unless that is allowed, and nothing is allocated for a count that
//! the bytes present do not bear out.

mod files;
mod filter;
mod gltf;
mod mjcf;
mod rigid;
mod stl;
mod surface;
mod urdf;
mod usd;
mod xml;

use std::path::Path;
use std::sync::Arc;

use crate::error::SceneError;
use crate::schema::Scene;
use crate::source::{Format, Source};
use files::Files;

/// Endings of the files that [`import`] reads.
pub const EXTENSIONS: [&str; 10] = [
    "obj", "stl", "urdf", "xml", "glb", "gltf", "usda", "usdc", "usd", "usdz",
];

/// The endings in words.
#[must_use]
pub fn endings() -> String {
    EXTENSIONS
        .map(|extension| format!(".{extension}"))
        .join(", ")
}

/// A scene made of another program's file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scene.
    pub scene: Scene,
    /// What the file says that the scene does not, a sentence each, in the file's order.
    pub unsupported: Vec<String>,
}

/// What an import may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Most bytes that are read, of the file and all it names together.
    pub max_bytes: u64,
    /// Whether files outside the model's folder may be named (`..`, absolute paths, `file:`).
    pub allow_outside: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            allow_outside: false,
        }
    }
}

/// Whether this is the name of a file that [`import`] reads.
#[must_use]
pub fn is_model(path: &Path) -> bool {
    extension(path).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Reads a model; its extension says of which kind.
///
/// ```no_run
/// use drystone_scene::import::{ImportOptions, import};
/// let imported = import("arm.urdf".as_ref(), &ImportOptions::default())?;
/// for what in &imported.unsupported {
///     eprintln!("not understood: {what}");
/// }
/// let world = imported.scene.build()?;
/// # Ok::<(), drystone_scene::SceneError>(())
/// ```
pub fn import(path: &Path, options: &ImportOptions) -> Result<Imported, SceneError> {
    import_with(path, Files::new(path, *options))
}

/// Reads a model from memory. `path` says of which kind it is and where files are that it names;
/// it need not exist itself.
pub fn import_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
) -> Result<Imported, SceneError> {
    import_with(path, Files::with(path, bytes, *options))
}

fn import_with(path: &Path, mut files: Files) -> Result<Imported, SceneError> {
    let shown = path.display().to_string();
    let mut imported = match extension(path).as_deref() {
        Some("obj") => surface::import_obj(&files.text(path)?, &shown),
        Some("stl") => surface::import_stl(&files.bytes(path)?, &shown),
        Some("urdf") => urdf::import(&files.text(path)?, &shown, &mut files),
        Some("xml") => {
            let text = files.text(path)?;
            match xml::root_name(&text) == Some("robot") {
                true => urdf::import(&text, &shown, &mut files),
                false => mjcf::import(&text, &shown, &mut files),
            }
        }
        Some("glb" | "gltf") => gltf::import(path, &shown, &mut files),
        Some("usda" | "usdc" | "usd" | "usdz") => usd::import(path, &shown, &mut files),
        _ => Err(SceneError::unreadable(
            &shown,
            "the ending of the name is not that of a model",
            &format!("it can be {}", endings()),
        )),
    }?;
    if imported.scene.name.is_empty() {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        imported.scene.name = stem.unwrap_or("model").to_owned();
    }
    // Errors of the scene's bodies name the file, though no place in it.
    imported.scene.source = Some(Arc::new(Source {
        file: shown,
        text: Arc::from(""),
        format: Format::Toml,
    }));
    Ok(imported)
}

impl Scene {
    /// The scene as a file: [`Scene::from_toml`] reads the same scene from it.
    pub fn to_toml(&self) -> Result<String, SceneError> {
        toml::to_string(self).map_err(|error| {
            let problem = format!("the scene can't be written as TOML: {error}");
            SceneError::unreadable(&self.name, problem, "write it as JSON")
        })
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}
