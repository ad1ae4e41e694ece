//! The text a scene was read from: from a field to its place in the file and back.
//!
//! Both formats become one small [`Tree`] of spans. It is made only when something is wrong, so a
//! sound scene pays nothing for it.

use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

use crate::error::Place;
use crate::path::{FieldPath, Step};

/// How deep into a JSON file places are known. (The TOML parser has its own limit, 80.)
const MAX_DEPTH: u32 = 64;

/// The language of a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Toml,
    Json,
}

/// Where a scene came from, kept for errors that show up after reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub(crate) file: String,
    pub(crate) text: Arc<str>,
    pub(crate) format: Format,
}

impl Source {
    /// The file as the caller named it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn tree(&self) -> Option<Tree> {
        match self.format {
            Format::Toml => {
                let table = DeTable::parse(&self.text).ok()?;
                Some(Tree::of_toml_table(table.get_ref(), table.span()))
            }
            Format::Json => Tree::of_json(&self.text, &self.text, MAX_DEPTH),
        }
    }

    /// Where the field is, or the nearest table above it that the file has.
    pub(crate) fn place(&self, path: &FieldPath) -> Place {
        let tree = self.tree();
        Place {
            file: self.file.clone(),
            text: Some(Arc::clone(&self.text)),
            span: tree
                .as_ref()
                .and_then(|tree| self.clip(tree.span_of(&path.0))),
            object: tree
                .as_ref()
                .and_then(|tree| object_name(path, |list, k| self.name_in(tree, list, k))),
        }
    }

    /// The span within the text and on character bounds; an empty one is widened.
    pub(crate) fn clip(&self, span: Range<usize>) -> Option<Range<usize>> {
        let floor = |at: usize| {
            (0..=at.min(self.text.len()))
                .rev()
                .find(|&k| self.text.is_char_boundary(k))
        };
        let start = floor(span.start)?;
        let end = floor(span.end)?.max(start);
        if start < end {
            return Some(start..end);
        }
        let width = self
            .text
            .get(start..)?
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        Some(start..start + width)
    }

    fn name_in(&self, tree: &Tree, list: &'static str, index: usize) -> Option<String> {
        let path = FieldPath::default().key(list).index(index).key("name");
        let quoted = self.text.get(tree.find(&path.0)?.span.clone())?;
        Some(quoted.trim_matches(['"', '\'']).to_owned())
    }
}

/// "body `ball`" for a path that starts with `bodies[3]`; `name` looks names up.
pub(crate) fn object_name(
    path: &FieldPath,
    name: impl Fn(&'static str, usize) -> Option<String>,
) -> Option<String> {
    let (list, index) = path.object()?;
    let (list, what) = match list {
        "bodies" => ("bodies", "body"),
        "deformables" => ("deformables", "deformable"),
        "materials" => ("materials", "material"),
        "pairs" => ("pairs", "pair"),
        _ => return None,
    };
    Some(match name(list, index) {
        Some(name) if !name.is_empty() => format!("{what} `{name}`"),
        _ => format!("{what} number {}", index + 1),
    })
}

/// Spans of a file's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) span: Range<usize>,
    children: Children,
}

#[derive(Clone, Debug, PartialEq)]
enum Children {
    None,
    List(Vec<Tree>),
    /// Key, span of the key where known, value.
    Table(Vec<(String, Option<Range<usize>>, Tree)>),
}

impl Tree {
    fn of_toml_table(table: &DeTable<'_>, span: Range<usize>) -> Self {
        let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
            let name = key.get_ref().to_string();
            (
                name,
                Some(key.span()),
                Self::of_toml(value.get_ref(), value.span()),
            )
        };
        Self {
            span,
            children: Children::Table(table.iter().map(entry).collect()),
        }
    }

    fn of_toml(value: &DeValue<'_>, span: Range<usize>) -> Self {
        match value {
            DeValue::Table(table) => Self::of_toml_table(table, span),
            DeValue::Array(list) => Self {
                span,
                children: Children::List(
                    list.iter()
                        .map(|item| Self::of_toml(item.get_ref(), item.span()))
                        .collect(),
                ),
            },
            _ => Self {
                span,
                children: Children::None,
            },
        }
    }

    /// `value` is a slice of `whole`, so that addresses give places. Below `depth` levels values
    /// are not looked into.
    fn of_json(whole: &str, value: &str, depth: u32) -> Option<Self> {
        let start = (value.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
        let span = start..start + value.len();
        let children = match value.trim_start().as_bytes().first()? {
            b'[' | b'{' if depth == 0 => Children::None,
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
                let items = items
                    .iter()
                    .map(|item| Self::of_json(whole, item.get(), depth - 1));
                Children::List(items.collect::<Option<_>>()?)
            }
            b'{' => {
                // Keys are owned because they may hold escapes.
                let entries: std::collections::BTreeMap<String, &RawValue> =
                    serde_json::from_str(value).ok()?;
                let entries = entries.into_iter().map(|(key, item)| {
                    Some((key, None, Self::of_json(whole, item.get(), depth - 1)?))
                });
                Children::Table(entries.collect::<Option<_>>()?)
            }
            _ => Children::None,
        };
        Some(Self { span, children })
    }

    fn child(&self, step: &Step) -> Option<(&Tree, Range<usize>)> {
        match (&self.children, step) {
            (Children::List(items), Step::Index(index)) => {
                let item = items.get(*index)?;
                Some((item, item.span.clone()))
            }
            (Children::Table(entries), Step::Key(key)) => {
                let (_, key_span, value) = entries.iter().find(|(name, ..)| name == key)?;
                // A table or list that is spread over the file is shown by its key.
                let shown = match key_span {
                    Some(key) if key.end > value.span.start => key.clone(),
                    _ => value.span.clone(),
                };
                Some((value, shown))
            }
            _ => None,
        }
    }

    /// The value at the path.
    pub(crate) fn find(&self, path: &[Step]) -> Option<&Tree> {
        path.iter()
            .try_fold(self, |tree, step| Some(tree.child(step)?.0))
    }

    /// The span to show for the path: that of the deepest part of it which the file has.
    pub(crate) fn span_of(&self, path: &[Step]) -> Range<usize> {
        let mut tree = self;
        let mut span = self.span.clone();
        for step in path {
            let Some((child, shown)) = tree.child(step) else {
                break;
            };
            (tree, span) = (child, shown);
        }
        span
    }

    /// The path to the smallest thing that holds the byte at `offset`.
    pub(crate) fn path_at(&self, offset: usize) -> FieldPath {
        let mut best = (usize::MAX, FieldPath::default());
        self.search(offset, &FieldPath::default(), &mut best);
        best.1
    }

    fn search(&self, offset: usize, here: &FieldPath, best: &mut (usize, FieldPath)) {
        consider(&self.span, offset, here, best);
        match &self.children {
            Children::None => {}
            Children::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.search(offset, &here.index(index), best);
                }
            }
            Children::Table(entries) => {
                for (key, key_span, value) in entries {
                    let path = here.key(key.clone());
                    if let Some(span) = key_span {
                        consider(span, offset, &path, best);
                    }
                    value.search(offset, &path, best);
                }
            }
        }
    }
}

/// Keeps `path` if its span holds the byte at `offset` and is the smallest so far.
fn consider(span: &Range<usize>, offset: usize, path: &FieldPath, best: &mut (usize, FieldPath)) {
    if span.contains(&offset) && span.len() < best.0 {
        *best = (span.len(), path.clone());
    }
}
