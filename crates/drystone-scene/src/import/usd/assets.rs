//! The files of a stage: which layers there are, and how they are read.

use std::path::Path;

use super::layer::Layer;
use super::text;
use crate::error::SceneError;
use crate::import::files::{Files, shortened};

/// What binary layers begin with.
const BINARY: &[u8] = b"PXR-USDC";

/// Reads layers by the names that other layers give them.
pub(super) struct Assets<'f> {
    files: &'f mut Files,
    /// The stage's own file, as it is shown.
    file: &'f str,
}

impl<'f> Assets<'f> {
    pub(super) fn new(files: &'f mut Files, file: &'f str) -> Self {
        Self { files, file }
    }

    /// The layer of the stage's own file.
    pub(super) fn first(&mut self, path: &Path) -> Result<Layer, SceneError> {
        let bytes = self.files.bytes(path)?;
        read(bytes, self.file)
    }

    /// The layer that another one names. Names are relative to the stage's folder.
    pub(super) fn named(&mut self, name: &str) -> Result<Layer, SceneError> {
        let path = self.files.resolve(name, self.file)?;
        let bytes = self.files.bytes(&path)?;
        read(bytes, &path.display().to_string())
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
fn read(bytes: Vec<u8>, file: &str) -> Result<Layer, SceneError> {
    if bytes.starts_with(BINARY) {
        let problem = "this is a binary stage (crate), of which only text is read";
        return Err(SceneError::unreadable(file, problem, "save it as .usda"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let problem = format!("this is not a stage: byte {at} is not UTF-8");
        SceneError::unreadable(file, problem, "save it as .usda")
    })?;
    if !text.trim_start_matches('\u{feff}').starts_with("#usda") {
        let first = shortened(text.lines().next().unwrap_or_default());
        let problem = format!("line 1: a stage begins with `#usda 1.0`, not with `{first}`");
        return Err(SceneError::unreadable(file, problem, "save it as .usda"));
    }
    text::read(text.trim_start_matches('\u{feff}'), file)
}
