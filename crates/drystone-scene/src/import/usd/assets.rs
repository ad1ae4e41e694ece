//! The files of a stage: which layers there are, and how they are read.

use std::path::Path;

use super::layer::Layer;
use super::package::{self, Package};
use super::{binary, text};
use crate::error::SceneError;
use crate::import::files::{Files, shortened};

/// Reads layers by the names that other layers give them.
pub(super) struct Assets<'f> {
    files: &'f mut Files,
    /// The stage's own file, as it is shown.
    file: &'f str,
    /// The package that the stage is in, outside of which nothing is read.
    package: Option<Package>,
    /// Bytes of the package that may still be read: its files can name each other in circles.
    package_left: usize,
}

/// How often all of a package may be read.
const MAX_READINGS: usize = 16;

impl<'f> Assets<'f> {
    pub(super) fn new(files: &'f mut Files, file: &'f str) -> Self {
        Self {
            files,
            file,
            package: None,
            package_left: 0,
        }
    }

    /// The layer of the stage's own file, and its name in a package.
    pub(super) fn first(&mut self, path: &Path) -> Result<(Layer, String), SceneError> {
        let bytes = self.files.bytes(path)?;
        if !bytes.starts_with(package::MAGIC) {
            return Ok((read(&bytes, self.file)?, String::new()));
        }
        self.package_left = bytes.len().saturating_mul(MAX_READINGS);
        let package = Package::read(bytes).map_err(|problem| {
            let problem = format!("the package can't be read: {problem}");
            SceneError::unreadable(self.file, problem, "pack it again, or save it as .usda")
        })?;
        let name = self.package.insert(package).first.clone();
        Ok((self.named(&name)?, name))
    }

    /// The layer that another one names. Names are relative to the stage's folder.
    pub(super) fn named(&mut self, name: &str) -> Result<Layer, SceneError> {
        let Some(package) = &self.package else {
            let path = self.files.resolve(name, self.file)?;
            let bytes = self.files.bytes(&path)?;
            return read(&bytes, &path.display().to_string());
        };
        let shown = shortened(name);
        let Some(bytes) = package.file(name) else {
            let problem = format!("the file `{shown}` is not in the package");
            let help = "pack all files of the stage together";
            return Err(SceneError::unreadable(self.file, problem, help));
        };
        let left = self.package_left.checked_sub(bytes.len());
        self.package_left = left.ok_or_else(|| {
            let problem = format!("`{shown}`: files of the package name each other in circles");
            SceneError::unreadable(self.file, problem, "pack the stage again")
        })?;
        read(bytes, &format!("{}[{shown}]", self.file))
    }
}

/// Whether a file of this name is a layer.
pub(super) fn is_layer(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    ["usd", "usda", "usdc"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// The name that a layer gives a file, relative to the stage's folder.
pub(super) fn relative(name: &str, named_by: &str) -> String {
    let is_elsewhere = name.contains(':') || name.starts_with(['/', '\\']);
    let bare = name.strip_prefix("./").unwrap_or(name);
    match named_by.rsplit_once('/') {
        Some((folder, _)) if !is_elsewhere => format!("{folder}/{bare}"),
        _ => bare.to_owned(),
    }
}

/// A layer of its bytes.
fn read(bytes: &[u8], file: &str) -> Result<Layer, SceneError> {
    if bytes.starts_with(binary::MAGIC) {
        return Ok(binary::read(bytes, file)?.finished());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!(
            "this is no stage: byte {} is not UTF-8",
            error.valid_up_to()
        );
        SceneError::unreadable(file, problem, "save it as .usda")
    })?;
    let text = text.trim_start_matches('\u{feff}');
    if !text.starts_with("#usda") {
        let first = shortened(text.lines().next().unwrap_or_default());
        let problem = format!("line 1: a stage begins with `#usda 1.0`, not with `{first}`");
        return Err(SceneError::unreadable(file, problem, "save it as .usda"));
    }
    Ok(text::read(text, file)?.finished())
}
