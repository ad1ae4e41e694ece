//! Which files may be read, and how much of them.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::ImportOptions;
use crate::error::SceneError;

/// The files of one import: a budget of bytes, and the folder that names are relative to.
pub(super) struct Files {
    folder: PathBuf,
    options: ImportOptions,
    bytes_left: u64,
    /// The model itself, where it is not to be read from its file.
    model: Option<(PathBuf, Vec<u8>)>,
}

impl Files {
    pub(super) fn new(model: &Path, options: ImportOptions) -> Self {
        Self {
            folder: model.parent().unwrap_or(Path::new(".")).to_owned(),
            options,
            bytes_left: options.max_bytes,
            model: None,
        }
    }

    /// With the bytes of the model at hand.
    pub(super) fn with(model: &Path, bytes: Vec<u8>, options: ImportOptions) -> Self {
        Self {
            model: Some((model.to_owned(), bytes)),
            ..Self::new(model, options)
        }
    }

    /// Where a file that the model names is; an error for one that must not be read.
    ///
    /// Links are followed: a link that leads out of the folder is as forbidden as `..`.
    pub(super) fn resolve(&self, name: &str, model: &str) -> Result<PathBuf, SceneError> {
        let refused = |why: &str| {
            SceneError::unreadable(
                model,
                format!("the file `{}` is not read: {why}", shortened(name)),
                "put it into the model's folder, or allow files outside it (`drystone import --allow-outside`)",
            )
        };
        let bare = match name.split_once("://") {
            Some(("file", path)) if self.options.allow_outside => path,
            Some(("file", _)) => return Err(refused("`file:` names can lead anywhere")),
            Some(("package" | "model", path)) => path,
            Some(_) => return Err(refused("only files on this machine are read")),
            None if name.starts_with("file:") => {
                return Err(refused("`file:` names can lead anywhere"));
            }
            None => name,
        };
        if bare.contains('\0') {
            return Err(refused("its name is none"));
        }
        let path = Path::new(bare);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !self.options.allow_outside && (!path.components().all(is_plain) || bare.contains('\\'))
        {
            return Err(refused("it is outside the model's folder"));
        }
        let path = self.find(name, path);
        if !self.options.allow_outside {
            let inside = |path: &Path| path.canonicalize().ok();
            if let (Some(folder), Some(file)) = (inside(self.folder_or_here()), inside(&path))
                && !file.starts_with(folder)
            {
                return Err(refused(
                    "it is a link that leads outside the model's folder",
                ));
            }
        }
        Ok(path)
    }

    fn folder_or_here(&self) -> &Path {
        match self.folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.folder,
        }
    }

    /// `package://robot/meshes/a.stl` is usually written in a folder beside `meshes`: leading
    /// folders are dropped until the file is there.
    fn find(&self, name: &str, path: &Path) -> PathBuf {
        let whole = self.folder.join(path);
        if !name.contains("://") || whole.exists() {
            return whole;
        }
        let mut rest = path.components();
        while rest.next().is_some() {
            let shorter = self.folder.join(rest.as_path());
            if rest.as_path().file_name().is_some() && shorter.is_file() {
                return shorter;
            }
        }
        whole
    }

    /// All bytes of a file, within what is left of the budget.
    pub(super) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, SceneError> {
        let shown = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let problem = format!("the file can't be read: {error}");
            SceneError::unreadable(&shown, problem, "check the name and the permissions")
        };
        let most = self.options.max_bytes;
        let too_large = || {
            let problem = format!("more than {most} bytes would be read");
            let help =
                "check that it is the right file, or allow more (`drystone import --max-bytes N`)";
            SceneError::unreadable(&shown, problem, help)
        };
        if let Some((_, bytes)) = self.model.take_if(|(model, _)| model == path) {
            let left = self.bytes_left.checked_sub(bytes.len() as u64);
            self.bytes_left = left.ok_or_else(too_large)?;
            return Ok(bytes);
        }
        let opened = std::fs::File::open(path).map_err(unreadable)?;
        let metadata = opened.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            let problem = "this is a folder, not a file";
            return Err(SceneError::unreadable(&shown, problem, "name a file in it"));
        }
        if metadata.len() > self.bytes_left {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        opened
            .take(self.bytes_left.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        self.bytes_left = self
            .bytes_left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(too_large)?;
        Ok(bytes)
    }

    /// The text of a file, within what is left of the budget.
    pub(super) fn text(&mut self, path: &Path) -> Result<String, SceneError> {
        String::from_utf8(self.bytes(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            SceneError::unreadable(
                &path.display().to_string(),
                format!("this is not a text file: byte {at} is not UTF-8"),
                "save it as UTF-8 text",
            )
        })
    }
}

/// A name as it is shown in an error: not longer than a line.
pub(super) fn shortened(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or_default()),
        None => name.to_owned(),
    }
}
