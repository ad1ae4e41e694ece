//! Which files may be read, and how much of them.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::ImportOptions;
use crate::error::SceneError;
use crate::plain_file::open_plain;

/// The files of one import: a budget of bytes, and the folder that names are relative to.
pub(crate) struct Files {
    folder: PathBuf,
    options: ImportOptions,
    bytes_left: u64,
    /// The model itself, where it is not to be read from its file.
    model: Option<(PathBuf, Vec<u8>)>,
}

impl Files {
    pub(crate) fn new(model: &Path, options: ImportOptions) -> Self {
        Self {
            folder: model.parent().unwrap_or(Path::new(".")).to_owned(),
            bytes_left: options.max_bytes,
            options,
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
    pub(crate) fn resolve(&self, name: &str, model: &str) -> Result<PathBuf, SceneError> {
        let refused = |why: &str| {
            SceneError::unreadable(
                model,
                format!("the file `{}` is not read: {why}", shortened(name)),
                "put it into the folder of the file that names it, or allow files outside (`--allow-outside`)",
            )
        };
        let bare = match name.split_once("://") {
            Some(("file", path)) if self.options.allow_outside => path,
            Some(("file", _)) => return Err(refused("`file:` names can lead anywhere")),
            Some(("package", path)) => match self.in_package(path) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => path,
                Err(why) => return Err(refused(why)),
            },
            Some(("model", path)) => path,
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
        if !self.options.allow_outside && (!stays_inside(path) || bare.contains('\\')) {
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

    /// Where a file is that is named relative to several folders: in the first of them that has
    /// it. Folders are relative to the model's.
    pub(super) fn resolve_in(
        &self,
        folders: &[&str],
        name: &str,
        model: &str,
    ) -> Result<PathBuf, SceneError> {
        let mut first = None;
        for folder in folders {
            let is_whole = folder.is_empty() || name.starts_with('/') || name.contains(':');
            let joined = match is_whole {
                true => name.to_owned(),
                false => format!("{folder}/{name}"),
            };
            match self.resolve(&joined, model) {
                Ok(path) if path.exists() => return Ok(path),
                found => first = first.or(Some(found)),
            }
        }
        first.unwrap_or_else(|| self.resolve(name, model))
    }

    /// The folder of a file, relative to that of the model where it is below it.
    pub(super) fn folder_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let folder = below.parent().unwrap_or(Path::new(""));
        folder.to_string_lossy().into_owned()
    }

    fn folder_or_here(&self) -> &Path {
        match self.folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.folder,
        }
    }

    /// A file of a package: in a folder that was named for packages, or in a package that the model
    /// itself is in or that lies beside one of the folders above it. A folder above the model is a
    /// package if it has the name, one beside it if it has a `package.xml` too, as packages of ROS
    /// have, so that a model from a stranger does not reach any folder. `None` if there is none.
    fn in_package(&self, path: &str) -> Result<Option<PathBuf>, &'static str> {
        let (package, rest) = path.split_once('/').unwrap_or((path, ""));
        if package.is_empty() || package.starts_with('.') || !stays_inside(Path::new(rest)) {
            return Err("it is outside its package");
        }
        let has_name = |folder: &Path| folder.file_name().is_some_and(|name| name == package);
        let mut packages = Vec::new();
        for folder in &self.options.package_paths {
            packages.extend(has_name(folder).then(|| folder.clone()));
            packages.push(folder.join(package));
        }
        if let Ok(folder) = self.folder_or_here().canonicalize() {
            for above in folder.ancestors() {
                packages.extend(has_name(above).then(|| above.to_owned()));
                let beside = above.join(package);
                packages.extend(beside.join("package.xml").is_file().then_some(beside));
            }
        }
        for package in packages {
            let (Ok(whole), Ok(file)) = (package.canonicalize(), package.join(rest).canonicalize())
            else {
                continue;
            };
            if !self.options.allow_outside && !file.starts_with(&whole) {
                return Err("it is a link that leads outside its package");
            }
            return Ok(Some(file));
        }
        Ok(None)
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
    pub(crate) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, SceneError> {
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
        if path.is_dir() {
            let problem = "this is a folder, not a file";
            return Err(SceneError::unreadable(&shown, problem, "name a file in it"));
        }
        let opened = open_plain(path).map_err(unreadable)?;
        let metadata = opened.metadata().map_err(unreadable)?;
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
    pub(crate) fn text(&mut self, path: &Path) -> Result<String, SceneError> {
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

/// Whether a relative path never leaves the folder that it begins in.
fn stays_inside(path: &Path) -> bool {
    let mut depth = 0usize;
    path.components().all(|part| match part {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => depth.checked_sub(1).is_some_and(|up| {
            depth = up;
            true
        }),
        Component::RootDir | Component::Prefix(_) => false,
    })
}

/// A name as it is shown in an error: not longer than a line.
pub(super) fn shortened(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or_default()),
        None => name.to_owned(),
    }
}
