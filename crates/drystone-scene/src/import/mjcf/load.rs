//! Files of a model: what is included, and other models that are attached.
//!
//! An `include` is replaced by what is in the file's root. Names are looked up in the folder of the
//! model, then in that of the including file, as MuJoCo does.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::error::SceneError;
use crate::import::files::{Files, shortened};
use crate::import::tree::{Node, Tree};
use crate::import::xml::{Xml, children};

/// Most files that are read one inside the other.
const MAX_DEPTH: usize = 32;
/// Most files of all models together.
const MAX_FILES: usize = 10_000;

/// A model's tree, and the trees of the models that it attaches.
pub(super) struct Loaded {
    pub(super) tree: Tree,
    /// Places in the list of all models, by name.
    pub(super) models: BTreeMap<String, usize>,
}

/// Reads files and remembers which ones it is in.
pub(super) struct Loader<'f> {
    files: &'f mut Files,
    /// The model's own file, as it is shown.
    file: &'f str,
    /// Files that are being read, the outermost first.
    inside: Vec<PathBuf>,
    read: usize,
    pub(super) all: Vec<Loaded>,
}

impl<'f> Loader<'f> {
    pub(super) fn new(files: &'f mut Files, file: &'f str) -> Self {
        Self {
            files,
            file,
            inside: vec![PathBuf::from(file)],
            read: 0,
            all: Vec::new(),
        }
    }

    /// Takes a tree in: files that it includes, and models that it attaches. Gives its place.
    pub(super) fn load(&mut self, mut tree: Tree) -> Result<usize, SceneError> {
        self.include(&mut tree)?;
        let mut models = BTreeMap::new();
        for asset in tree.root().children().filter(|node| node.name() == "asset") {
            for node in children(asset, "model") {
                let xml = Xml::new(self.file, "");
                let file = xml.needed(node, "file")?;
                let (path, inner) = self.enter(node, file)?;
                let name = match (node.attribute("name"), inner.root().attribute("model")) {
                    (Some(name), _) => name.to_owned(),
                    (None, Some(name)) => name.to_owned(),
                    (None, None) => stem(file).to_owned(),
                };
                self.inside.push(path);
                let place = self.load(inner)?;
                self.inside.pop();
                models.insert(name, place);
            }
        }
        self.all.push(Loaded { tree, models });
        Ok(self.all.len() - 1)
    }

    /// Reads a file that an element names.
    fn enter(&mut self, node: Node<'_>, file: &str) -> Result<(PathBuf, Tree), SceneError> {
        let xml = Xml::new(self.file, "");
        let path = self
            .files
            .resolve_in(&["", &node.source().folder], file, self.file)?;
        let canonical = path.canonicalize().unwrap_or_else(|_| path.clone());
        let is_open = |open: &PathBuf| open.canonicalize().is_ok_and(|open| open == canonical);
        if self.inside.iter().any(is_open) {
            let names: Vec<_> = self
                .inside
                .iter()
                .map(|open| open.display().to_string())
                .collect();
            let problem = format!(
                "`{}` includes itself: {} → {}",
                shortened(file),
                names.join(" → "),
                path.display()
            );
            return Err(xml.wrong(node, problem));
        }
        self.read += 1;
        if self.inside.len() > MAX_DEPTH || self.read > MAX_FILES {
            let problem =
                format!("more than {MAX_DEPTH} files in each other, or {MAX_FILES} in all");
            return Err(xml.wrong(node, problem));
        }
        let text = self.files.text(&path)?;
        let shown = path.display().to_string();
        let folder = self.files.folder_of(&path);
        let tree = Xml::below(&shown, &folder, &text).parse()?;
        Ok((path, tree))
    }

    /// Puts what is included in the place of each `include` below.
    fn include(&mut self, tree: &mut Tree) -> Result<(), SceneError> {
        for mut child in std::mem::take(tree.children_mut()) {
            if child.root_name() != "include" {
                self.include(&mut child)?;
                tree.children_mut().push(child);
                continue;
            }
            let node = child.root();
            let file = Xml::new(self.file, "").needed(node, "file")?;
            let (path, mut inner) = self.enter(node, file)?;
            self.inside.push(path);
            self.include(&mut inner)?;
            self.inside.pop();
            tree.children_mut().append(inner.children_mut());
        }
        Ok(())
    }
}

/// A file's name without folders and ending.
pub(super) fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
