//! What a file says and no code asked for.
//!
//! Readers mark what they ask for; what is left over in the end is listed by name, place and
//! effect. So nothing has to be known of an element or attribute to be listed. The only lists of
//! names are those of things that change no motion: all others are taken to change it.

use std::collections::BTreeMap;
use std::fmt;

use super::files::shortened;

/// What it changes that something of a model is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// Bodies move otherwise, or may do so.
    Motion,
    /// Bodies move as the model says, and look otherwise.
    Looks,
    /// Neither motion nor looks, such as sensors and notes.
    Nothing,
}

impl Effect {
    /// In words, such as "changes motion".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Motion => "changes motion",
            Self::Looks => "changes looks",
            Self::Nothing => "changes neither motion nor looks",
        }
    }
}

/// Something that a model says and no code asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// Its name and what it is in, such as "`solref` of `geom`".
    pub what: String,
    /// Where it stands first: a line, or a path in the file.
    pub place: String,
    /// How often it is there.
    pub count: usize,
    /// What changes by it.
    pub effect: Effect,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, place, .. } = self;
        match self.count {
            1 => write!(f, "{what} ({place})")?,
            count => write!(f, "{what} ({count} times, first {place})")?,
        }
        write!(f, ": {}", self.effect.words())
    }
}

/// Collects what is not read; the same thing at several places is one entry.
#[derive(Debug, Default)]
pub(super) struct Listing {
    places: BTreeMap<(Effect, String), usize>,
    list: Vec<Unread>,
}

impl Listing {
    /// Adds one. `place` is asked for the first of its kind only.
    pub(super) fn add(&mut self, what: &str, effect: Effect, place: impl FnOnce() -> String) {
        let at = *self
            .places
            .entry((effect, what.to_owned()))
            .or_insert_with(|| {
                self.list.push(Unread {
                    what: what.to_owned(),
                    place: place(),
                    count: 0,
                    effect,
                });
                self.list.len() - 1
            });
        if let Some(entry) = self.list.get_mut(at) {
            entry.count += 1;
        }
    }

    /// What changes motion first, then in the order of the file.
    pub(super) fn finished(mut self) -> Vec<Unread> {
        self.list.sort_by_key(|unread| unread.effect);
        self.list
    }
}

/// Elements of XML models that change only how things look.
const LOOKS: [&str; 9] = [
    "visual", "light", "camera", "texture", "material", "skin", "rgba", "site", "color",
];
/// Elements that change nothing by themselves.
const NOTHING: [&str; 14] = [
    "statistic",
    "sensor",
    "keyframe",
    "custom",
    "size",
    "text",
    "numeric",
    "tuple",
    "transmission",
    "ros2_control",
    "hardwareInterface",
    "layer",
    "group",
    "calibration",
];
/// Attributes that change only how things look.
const LOOKING: [&str; 8] = [
    "rgba",
    "material",
    "texturedir",
    "texcoord",
    "normal",
    "smoothnormal",
    "texture",
    "group",
];
/// Attributes that change nothing.
const NAMING: [&str; 9] = [
    "name", "user", "comment", "version", "xmlns", "author", "mode", "dclass", "model",
];

/// What changes if an element, or an attribute of it, is not read.
pub(super) fn effect(element: &str, attribute: Option<&str>) -> Effect {
    match attribute {
        Some(key) if LOOKING.contains(&key) => Effect::Looks,
        Some(key) if NAMING.contains(&key) => Effect::Nothing,
        None if LOOKS.contains(&element) => Effect::Looks,
        None if NOTHING.contains(&element) => Effect::Nothing,
        _ => Effect::Motion,
    }
}

/// The words for an element, or an attribute of it.
pub(super) fn words(parent: &str, element: &str, attribute: Option<&str>) -> String {
    match attribute {
        Some(key) => format!("`{}` of `{}`", shortened(key), shortened(element)),
        None => format!("`{}` in `{}`", shortened(element), shortened(parent)),
    }
}
