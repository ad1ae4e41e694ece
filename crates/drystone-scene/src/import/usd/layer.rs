//! What one file says: prims in a tree, their properties, and the arcs that bring in other prims.
//!
//! Text and binary files become the same [`Layer`]. Prims are in one list and name each other by
//! index, so that however deep a file nests, nothing that walks or frees a layer recurses.

use std::collections::BTreeMap;

use crate::import::files::shortened;

/// Most ancestors of a prim: deeper than any stage, and few enough to walk again and again.
pub(super) const MAX_DEPTH: usize = 100;
/// Most bytes of a name.
pub(super) const MAX_NAME: usize = 256;
/// Items of lists that count as much as a prim.
const ITEMS_OF_A_NODE: usize = 32;
/// Index of the prim that stands for the layer itself.
pub(super) const ROOT: usize = 0;

/// A value of an attribute or of metadata. A single one is a list of one; tuples and matrices are
/// flat.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Numbers(Vec<f64>),
    /// Strings, tokens, assets and paths.
    Texts(Vec<String>),
    /// Explicitly nothing.
    Nothing,
    /// Something that no reader here asks for.
    Other,
}

/// A list as layers edit it: replaced, or added to and taken from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListEdit<T> {
    pub(super) explicit: Option<Vec<T>>,
    pub(super) prepended: Vec<T>,
    pub(super) appended: Vec<T>,
    pub(super) deleted: Vec<T>,
}

impl<T> Default for ListEdit<T> {
    fn default() -> Self {
        Self {
            explicit: None,
            prepended: Vec::new(),
            appended: Vec::new(),
            deleted: Vec::new(),
        }
    }
}

impl<T> ListEdit<T> {
    fn len(&self) -> usize {
        let explicit = self.explicit.as_ref().map_or(0, Vec::len);
        explicit + self.prepended.len() + self.appended.len() + self.deleted.len()
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<T>> {
        let edits = [&mut self.prepended, &mut self.appended, &mut self.deleted];
        self.explicit.iter_mut().chain(edits)
    }
}

impl<T: Clone + Ord> ListEdit<T> {
    /// Takes one statement of a file: `prepend`, `append`, `add`, `delete`, or none of them.
    pub(super) fn state(&mut self, how: Edit, items: Vec<T>) {
        match how {
            Edit::Explicit => self.explicit = Some(items),
            Edit::Prepend => self.prepended.extend(items),
            Edit::Append => self.appended.extend(items),
            Edit::Delete => self.deleted.extend(items),
            Edit::Reorder => {}
        }
    }

    /// This edit done to what weaker layers have. Nothing is in the result twice.
    pub(super) fn over(&self, weaker: Vec<T>) -> Vec<T> {
        let weaker = self.explicit.clone().unwrap_or(weaker);
        let gone: std::collections::BTreeSet<&T> = self.deleted.iter().collect();
        let kept = weaker.iter().filter(|item| !gone.contains(item));
        let mut seen = std::collections::BTreeSet::new();
        let all = self.prepended.iter().chain(kept).chain(&self.appended);
        all.filter(|item| seen.insert(*item)).cloned().collect()
    }
}

/// How a statement edits a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Explicit,
    Prepend,
    Append,
    Delete,
    Reorder,
}

impl Edit {
    /// By the word in front of a statement.
    pub(super) fn named(word: &str) -> Option<Self> {
        match word {
            "prepend" => Some(Self::Prepend),
            "append" | "add" => Some(Self::Append),
            "delete" => Some(Self::Delete),
            "reorder" => Some(Self::Reorder),
            _ => None,
        }
    }
}

/// A prim of another file or of this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    /// The file; empty for this one.
    pub(super) asset: String,
    /// The prim; empty for the file's default.
    pub(super) prim: String,
}

/// Whether a prim is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Specifier {
    /// It is.
    Def,
    /// Only if another layer says so.
    #[default]
    Over,
    /// It is a pattern for others.
    Class,
}

/// An attribute or a relationship.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Property {
    /// Its value outside time.
    pub(super) value: Option<Value>,
    /// Its values at times, in the order of time. Of all but transforms only the first.
    pub(super) samples: Vec<(f64, Value)>,
    /// Prims that a relationship names.
    pub(super) targets: Option<ListEdit<String>>,
}

/// What a layer says of one prim.
#[derive(Clone, Debug, Default)]
pub(super) struct PrimSpec {
    pub(super) name: String,
    pub(super) parent: usize,
    pub(super) depth: usize,
    pub(super) children: Vec<usize>,
    pub(super) specifier: Specifier,
    pub(super) type_name: String,
    pub(super) is_inactive: Option<bool>,
    pub(super) display_name: Option<String>,
    pub(super) schemas: ListEdit<String>,
    pub(super) references: ListEdit<Reference>,
    pub(super) payloads: ListEdit<Reference>,
    /// Paths of prims whose opinions are taken over.
    pub(super) inherits: ListEdit<String>,
    pub(super) specializes: ListEdit<String>,
    /// Chosen variant of each set.
    pub(super) selections: BTreeMap<String, String>,
    /// Prims that hold the opinions of each variant of each set.
    pub(super) variants: BTreeMap<String, BTreeMap<String, usize>>,
    pub(super) properties: BTreeMap<String, Property>,
    /// How much there is to copy and look through wherever the prim is brought in.
    pub(super) weight: usize,
}

impl PrimSpec {
    /// Items of all lists.
    fn items(&self) -> usize {
        let arcs = self.references.len() + self.payloads.len();
        let paths = self.inherits.len() + self.specializes.len();
        let variants: usize = self.variants.values().map(BTreeMap::len).sum();
        let of_property = |property: &Property| {
            property.samples.len() + property.targets.as_ref().map_or(0, ListEdit::len)
        };
        let properties: usize = self.properties.values().map(of_property).sum();
        arcs + paths + variants + properties + self.schemas.len() + self.properties.len()
    }
}

/// What one file says.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// The first is the layer itself.
    pub(super) prims: Vec<PrimSpec>,
    by_name: BTreeMap<(usize, String), usize>,
    /// Files whose opinions are weaker than this one's.
    pub(super) sublayers: Vec<String>,
    /// What the layer says of itself: `upAxis`, `metersPerUnit`, `defaultPrim`, …
    pub(super) settings: BTreeMap<String, Value>,
}

impl Default for Layer {
    fn default() -> Self {
        Self {
            prims: vec![PrimSpec::default()],
            by_name: BTreeMap::new(),
            sublayers: Vec::new(),
            settings: BTreeMap::new(),
        }
    }
}

/// Whether something is kept of a property of this name: the rest is for the eye.
pub(super) fn is_wanted(property: &str) -> bool {
    const PREFIXES: [&str; 7] = [
        "physics:",
        "xformOp",
        "limit:",
        "drive:",
        "material:binding",
        "collection:colliders:",
        "drystone:",
    ];
    const NAMES: [&str; 14] = [
        "points",
        "faceVertexCounts",
        "faceVertexIndices",
        "orientation",
        "size",
        "radius",
        "radiusTop",
        "radiusBottom",
        "height",
        "axis",
        "width",
        "length",
        "prototypes",
        "doubleSided",
    ];
    NAMES.contains(&property) || PREFIXES.iter().any(|prefix| property.starts_with(prefix))
}

/// Whether all values in time are kept of a property, so that bodies can be moved by it.
pub(super) fn is_motion(property: &str) -> bool {
    property.starts_with("xformOp:")
}

impl Layer {
    /// The child of that name, made if there is none; `Err` says why there can't be one.
    pub(super) fn child(&mut self, parent: usize, name: &str) -> Result<usize, String> {
        if let Some(known) = self.find_child(parent, name) {
            return Ok(known);
        }
        if name.len() > MAX_NAME || name.is_empty() || name.contains('/') {
            return Err(format!(
                "a prim has a name of 1 to {MAX_NAME} bytes without `/`"
            ));
        }
        let made = self.loose(parent)?;
        self.by_name.insert((parent, name.to_owned()), made);
        if let Some(spec) = self.prims.get_mut(made) {
            spec.name = name.to_owned();
        }
        if let Some(spec) = self.prims.get_mut(parent) {
            spec.children.push(made);
        }
        Ok(made)
    }

    /// A prim that is no child: the opinions of a variant.
    pub(super) fn loose(&mut self, parent: usize) -> Result<usize, String> {
        let depth = self.prims.get(parent).map_or(0, |spec| spec.depth) + 1;
        if depth > MAX_DEPTH {
            return Err(format!("it has more than {MAX_DEPTH} ancestors"));
        }
        self.prims.push(PrimSpec {
            parent,
            depth,
            ..PrimSpec::default()
        });
        Ok(self.prims.len() - 1)
    }

    pub(super) fn find_child(&self, parent: usize, name: &str) -> Option<usize> {
        self.by_name.get(&(parent, name.to_owned())).copied()
    }

    /// Bounds what every prim that is brought in copies, and weighs the rest. Readers do this last.
    pub(super) fn finished(mut self) -> Self {
        for prim in &mut self.prims {
            let is_short = |name: &String| name.len() <= MAX_NAME;
            for list in prim.schemas.lists() {
                list.retain(is_short);
            }
            if !is_short(&prim.type_name) {
                prim.type_name.clear();
            }
            prim.display_name = prim.display_name.take().map(|name| shortened(&name));
            // Of these only the first target counts, and all colliders below look at it.
            for (name, property) in &mut prim.properties {
                if name.starts_with("material:binding") || name.starts_with("physics:body") {
                    let lists = property.targets.iter_mut().flat_map(ListEdit::lists);
                    lists.for_each(|list| list.truncate(1));
                }
            }
            prim.weight = prim.items() / ITEMS_OF_A_NODE;
        }
        self
    }

    /// The prim at a path from the root.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        let rest = path.strip_prefix('/')?;
        let parts = rest.split('/').filter(|part| !part.is_empty());
        parts
            .take(MAX_DEPTH + 1)
            .try_fold(ROOT, |at, name| self.find_child(at, name))
    }

    /// The path of a prim; variants have that of their prim.
    pub(super) fn path(&self, prim: usize) -> String {
        let parent = |index: &usize| match self.prims.get(*index) {
            Some(spec) if *index != ROOT => Some(spec.parent),
            _ => None,
        };
        let mut names: Vec<&str> = std::iter::successors(Some(prim), parent)
            .filter_map(|index| self.prims.get(index))
            .map(|spec| spec.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        names.reverse();
        format!("/{}", names.join("/"))
    }
}
