//! JSON that knows what was asked of it, with the methods of `serde_json`'s own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Number;

use crate::import::unread::{Effect, Listing};

/// A value and whether something asked for it.
#[derive(Debug)]
pub(super) struct Value {
    content: Content,
    // Not a `Cell`, so that there can be a `NULL` to refer to.
    is_asked: AtomicBool,
}

#[derive(Debug)]
enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Value>),
    Table(BTreeMap<String, Value>),
}

/// What stands for a value that is not there.
pub(super) static NULL: Value = Value {
    content: Content::Null,
    is_asked: AtomicBool::new(true),
};

impl From<serde_json::Value> for Value {
    fn from(plain: serde_json::Value) -> Self {
        use serde_json::Value as Plain;
        let content = match plain {
            Plain::Null => Content::Null,
            Plain::Bool(is_so) => Content::Bool(is_so),
            Plain::Number(number) => Content::Number(number),
            Plain::String(text) => Content::Text(text),
            Plain::Array(list) => Content::List(list.into_iter().map(Self::from).collect()),
            Plain::Object(table) => {
                let entries = table.into_iter();
                Content::Table(entries.map(|(key, value)| (key, value.into())).collect())
            }
        };
        Self {
            content,
            is_asked: AtomicBool::new(false),
        }
    }
}

impl Value {
    fn ask(&self) -> &Self {
        self.is_asked.store(true, Ordering::Relaxed);
        self
    }

    fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// The value of a key; it counts as read from now on, what is in it does not.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Table(table) => table.get(key).map(Self::ask),
            _ => None,
        }
    }

    /// The value at a path such as `/extensions/NAME`; it and all above it count as read.
    pub(super) fn pointer(&self, path: &str) -> Option<&Self> {
        let keys = || path.split('/').skip(1);
        let peek = |value: &&Self, key| match &value.content {
            Content::Table(table) => table.contains_key(key),
            _ => false,
        };
        let mut at = self;
        for key in keys() {
            if !peek(&at, key) {
                return None;
            }
            at = match &at.content {
                Content::Table(table) => table.get(key)?,
                _ => return None,
            };
        }
        let mut at = self;
        for key in keys() {
            at = at.get(key)?;
        }
        Some(at)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    pub(super) fn as_array(&self) -> Option<&Vec<Self>> {
        match &self.content {
            Content::List(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match self.content {
            Content::Bool(is_so) => Some(is_so),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match &self.content {
            Content::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match &self.content {
            Content::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// All of it, as `serde_json` has it; it counts as read from now on.
    pub(super) fn plain(&self) -> serde_json::Value {
        use serde_json::Value as Plain;
        self.ask();
        match &self.content {
            Content::Null => Plain::Null,
            Content::Bool(is_so) => Plain::Bool(*is_so),
            Content::Number(number) => Plain::Number(number.clone()),
            Content::Text(text) => Plain::String(text.clone()),
            Content::List(list) => Plain::Array(list.iter().map(Self::plain).collect()),
            Content::Table(table) => {
                let entries = table.iter();
                Plain::Object(
                    entries
                        .map(|(k, value)| (k.clone(), value.plain()))
                        .collect(),
                )
            }
        }
    }

    /// Lists what nothing asked for. Paths have `[]` for a place in a list in their kind, and the
    /// place itself where they stand first.
    pub(super) fn list(&self, (kind, place): (&str, &str), listing: &mut Listing) {
        match &self.content {
            Content::Table(table) => {
                for (key, value) in table {
                    let joined = |path: &str| match path {
                        "" => key.clone(),
                        path => format!("{path}.{key}"),
                    };
                    let (kind, place) = (joined(kind), joined(place));
                    // Extensions are asked for one by one, and what others refer to is looked at
                    // only if they do.
                    let is_passed = key == "extensions" || REFERRED.contains(&kind.as_str());
                    if BOOKKEEPING.contains(&key.as_str()) || kind == "scenes[].nodes" {
                        continue;
                    }
                    if value.is_asked() || is_passed {
                        value.list((&kind, &place), listing);
                    } else {
                        listing.add(&format!("`{kind}`"), effect(key), || place);
                    }
                }
            }
            Content::List(list) => {
                for (k, value) in list.iter().enumerate() {
                    // What nothing refers to is listed where it would be referred to.
                    if !value.is_untouched() || !REFERRED.contains(&kind) {
                        let paths = (format!("{kind}[]"), format!("{place}[{k}]"));
                        value.list((&paths.0, &paths.1), listing);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether nothing asked for any of its keys.
    fn is_untouched(&self) -> bool {
        match &self.content {
            Content::Table(table) => !table.values().any(Self::is_asked),
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Content::Null => f.write_str("null"),
            Content::Bool(is_so) => write!(f, "{is_so}"),
            Content::Number(number) => write!(f, "{number}"),
            Content::Text(text) => write!(f, "{:?}", crate::import::files::shortened(text)),
            Content::List(_) => f.write_str("a list"),
            Content::Table(_) => f.write_str("an object"),
        }
    }
}

/// Lists whose elements others name by their index.
const REFERRED: [&str; 6] = [
    "meshes",
    "accessors",
    "bufferViews",
    "buffers",
    "extensions.KHR_implicit_shapes.shapes",
    "extensions.KHR_physics_rigid_bodies.physicsMaterials",
];
/// Keys that change only how things look.
const LOOKS: [&str; 19] = [
    "mesh",
    "meshes",
    "material",
    "materials",
    "textures",
    "images",
    "samplers",
    "camera",
    "cameras",
    "skin",
    "skins",
    "weights",
    "NORMAL",
    "TANGENT",
    "TEXCOORD_0",
    "TEXCOORD_1",
    "COLOR_0",
    "JOINTS_0",
    "WEIGHTS_0",
];
/// Keys that tell of the file itself, or again what is said elsewhere in it.
const BOOKKEEPING: [&str; 9] = [
    "asset",
    "name",
    "min",
    "max",
    "target",
    "extensionsUsed",
    "extensionsRequired",
    "scene",
    "mimeType",
];
/// Keys that change nothing.
const NOTHING: [&str; 2] = ["extras", "scenes"];

fn effect(key: &str) -> Effect {
    let looks = [
        "KHR_materials_",
        "KHR_texture_",
        "KHR_lights_",
        "KHR_mesh_",
        "EXT_texture_",
    ];
    if LOOKS.contains(&key) || looks.iter().any(|begin| key.starts_with(begin)) {
        Effect::Looks
    } else if NOTHING.contains(&key) {
        Effect::Nothing
    } else {
        Effect::Motion
    }
}
