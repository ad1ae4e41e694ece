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
pub(crate) mod principal;
mod rigid;
mod stl;
mod surface;
mod tree;
mod unread;
mod urdf;
mod usd;
mod xml;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::SceneError;
use crate::schema::{self, Scene};
use crate::source::{Format, Source};
pub(crate) use files::Files;
pub use unread::{Effect, Unread};

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
    /// What the file says that the scene does not, a sentence each: first what a reader gave up,
    /// in the file's order, then `unread` in words.
    pub unsupported: Vec<String>,
    /// What the file says and no code asked for, with its effect; what changes motion comes first.
    pub unread: Vec<Unread>,
}

impl Imported {
    /// Of what a reader has made and left over. A file with bodies that move, of which none is in
    /// the scene, is an error.
    fn new(
        file: &str,
        scene: Scene,
        mut unsupported: Vec<String>,
        listing: unread::Listing,
        moving: usize,
    ) -> Result<Self, SceneError> {
        let unread = listing.finished();
        unsupported.extend(unread.iter().map(ToString::to_string));
        let moves = |body: &schema::Body| body.kind != schema::Kind::Fixed;
        if moving > 0 && !scene.bodies.iter().any(moves) {
            let left = unsupported.first().map_or("", String::as_str);
            let problem = format!(
                "the model moves ({moving} places say so), but nothing of it could be read that \
                 does"
            );
            let help = match left {
                "" => "check that it is complete".to_owned(),
                left => format!("the first of what is left out: {left}"),
            };
            return Err(SceneError::unreadable(file, problem, &help));
        }
        Ok(Self {
            scene,
            unsupported,
            unread,
        })
    }
}

/// What an import may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Most bytes that are read, of the file and all it names together.
    pub max_bytes: u64,
    /// Whether files outside the model's folder may be named (`..`, absolute paths, `file:`).
    pub allow_outside: bool,
    /// Folders in which `package://PKG/…` is looked up, each the package itself or one that holds
    /// it. Packages around the model are found without.
    pub package_paths: Vec<PathBuf>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            allow_outside: false,
            package_paths: Vec::new(),
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
    import_with(path, Files::new(path, options.clone()))
}

/// Reads a model from memory. `path` says of which kind it is and where files are that it names;
/// it need not exist itself.
pub fn import_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
) -> Result<Imported, SceneError> {
    import_with(path, Files::with(path, bytes, options.clone()))
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
