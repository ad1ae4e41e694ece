//! XML with errors that point at the element.

use std::rc::Rc;
use std::sync::Arc;

use roxmltree::{Document, ParsingOptions};

use super::rigid::{Pose3, turn};
use super::tree::{Node, Text, Tree};
use crate::error::SceneError;
use drystone::glam::{DQuat, DVec3};

/// Deepest nesting of elements: readers go down by calling themselves.
const MAX_DEPTH: usize = 128;
/// Most attributes of an element: parsers compare each with all others.
const MAX_ATTRIBUTES: usize = 1000;

/// A document's text, to point at.
pub(super) struct Xml<'a> {
    pub(super) file: &'a str,
    /// Its folder, relative to that of the model.
    folder: &'a str,
    is_main: bool,
    text: Arc<str>,
}

impl<'a> Xml<'a> {
    pub(super) fn new(file: &'a str, text: &str) -> Self {
        Self {
            file,
            folder: "",
            is_main: true,
            text: Arc::from(text),
        }
    }

    /// A file that another one names, in a folder below that of the model.
    pub(super) fn below(file: &'a str, folder: &'a str, text: &str) -> Self {
        Self {
            folder,
            is_main: false,
            ..Self::new(file, text)
        }
    }

    /// Parses it. Entities of its own (which can grow without bound) are refused.
    pub(super) fn parse(&self) -> Result<Tree, SceneError> {
        let text = &*self.text;
        let span = |at: usize| (&self.text, at..at);
        if let Some(at) = too_many_attributes(text) {
            let problem = format!("an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(SceneError::in_text(self.file, span(at), problem, None));
        }
        if let Some(at) = too_deep(text) {
            let problem = format!("elements are nested more than {MAX_DEPTH} deep");
            return Err(SceneError::in_text(self.file, span(at), problem, None));
        }
        let options = ParsingOptions {
            allow_dtd: false,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(text, options).map_err(|error| {
            let place = error.pos();
            let before = text.split_inclusive('\n').take(place.row as usize - 1);
            let line_start: usize = before.map(str::len).sum();
            let line = text.get(line_start..).unwrap_or_default();
            let columns = line
                .char_indices()
                .nth((place.col as usize).saturating_sub(1));
            let at = line_start + columns.map_or(0, |(at, _)| at);
            let message = error.to_string();
            let problem = message.split(" at ").next().unwrap_or(&message).to_owned();
            let problem = format!("this is not XML that can be read: {problem}");
            SceneError::in_text(self.file, span(at), problem, None)
        })?;
        let source = Rc::new(Text {
            file: self.file.to_owned(),
            folder: self.folder.to_owned(),
            text: Arc::clone(&self.text),
            is_main: self.is_main,
        });
        Ok(Tree::new(document.root_element(), &source))
    }

    /// Something wrong at an element.
    pub(super) fn wrong(&self, node: Node<'_>, problem: impl Into<String>) -> SceneError {
        let start = node.at();
        // The name of the element, not all that is in it.
        let end = start + 1 + node.name().len();
        let source = node.source();
        SceneError::in_text(&source.file, (&source.text, start..end), problem, None)
    }

    /// An attribute that must be there.
    pub(super) fn needed<'n>(&self, node: Node<'n>, key: &str) -> Result<&'n str, SceneError> {
        node.attribute(key).ok_or_else(|| {
            let name = node.name();
            self.wrong(node, format!("`{name}` needs the attribute `{key}`"))
        })
    }

    /// All numbers of an attribute.
    pub(super) fn numbers(
        &self,
        node: Node<'_>,
        key: &str,
    ) -> Result<Option<Vec<f64>>, SceneError> {
        let text = node.attribute(key);
        text.map(|text| self.numbers_of(node, key, text))
            .transpose()
    }

    /// All numbers of a text that an element or its defaults have.
    pub(super) fn numbers_of(
        &self,
        node: Node<'_>,
        key: &str,
        text: &str,
    ) -> Result<Vec<f64>, SceneError> {
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        match numbers {
            Ok(list) if list.iter().all(|number| number.is_finite()) => Ok(list),
            _ => Err(self.wrong(node, format!("`{key}` must be made of finite numbers"))),
        }
    }

    /// So many numbers of an attribute.
    pub(super) fn row<const N: usize>(
        &self,
        node: Node<'_>,
        key: &str,
    ) -> Result<Option<[f64; N]>, SceneError> {
        let wrong = |list: Vec<f64>| {
            let count = list.len();
            self.wrong(node, format!("`{key}` must be {N} numbers, not {count}"))
        };
        let numbers = self.numbers(node, key)?;
        numbers
            .map(|list| list.try_into().map_err(wrong))
            .transpose()
    }

    pub(super) fn number(&self, node: Node<'_>, key: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.row::<1>(node, key)?.map(|[number]| number))
    }

    pub(super) fn vector(&self, node: Node<'_>, key: &str) -> Result<Option<DVec3>, SceneError> {
        Ok(self.row::<3>(node, key)?.map(DVec3::from_array))
    }

    /// A direction, made of unit length.
    pub(super) fn direction(&self, node: Node<'_>, key: &str) -> Result<Option<DVec3>, SceneError> {
        let unit = |vector: DVec3| {
            let problem = || self.wrong(node, format!("`{key}` must have some length"));
            vector.try_normalize().ok_or_else(problem)
        };
        self.vector(node, key)?.map(unit).transpose()
    }

    /// URDF's `<origin xyz="" rpy="">` below an element: turned about x, then y, then z.
    pub(super) fn origin(&self, node: Node<'_>) -> Result<Pose3, SceneError> {
        let Some(origin) = child(node, "origin") else {
            return Ok(Pose3::default());
        };
        let [roll, pitch, yaw] = self.row::<3>(origin, "rpy")?.unwrap_or_default();
        Ok(Pose3 {
            position: self.vector(origin, "xyz")?.unwrap_or_default(),
            rotation: euler([yaw, pitch, roll]),
        })
    }
}

/// About z, then about the new y, then about the new x; the same as x, y, z about fixed axes.
fn euler([z, y, x]: [f64; 3]) -> DQuat {
    (turn(DVec3::Z, z) * turn(DVec3::Y, y) * turn(DVec3::X, x)).normalize()
}

/// The first element of that name below; it counts as read.
pub(super) fn child<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    children(node, name).next()
}

/// All elements of that name directly below; they count as read.
pub(super) fn children<'n>(node: Node<'n>, name: &str) -> impl Iterator<Item = Node<'n>> {
    node.children()
        .filter(move |child| child.name() == name)
        .map(Node::take)
}

/// Where an element has too many attributes, by counting `=` outside of quotes and comments.
fn too_many_attributes(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text.get(at..)?.find('<') {
        let start = at + next;
        let rest = text.get(start..)?;
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let end = match skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((_, end)) => rest.find(end).map_or(rest.len(), |at| at + end.len()),
            None => tag_length(rest)?,
        };
        if end == usize::MAX {
            return Some(start);
        }
        at = start + end;
    }
    None
}

/// Bytes of a tag, `usize::MAX` for one with too many attributes; `None` for one without end.
fn tag_length(rest: &str) -> Option<usize> {
    let (mut count, mut quote) = (0, None);
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => count += 1,
            _ => {}
        }
        if count > MAX_ATTRIBUTES {
            return Some(usize::MAX);
        }
    }
    None
}

/// Where elements are nested too deep, by counting tags; exact for sound XML without comments.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, _) in text.match_indices('<') {
        let rest = text.as_bytes().get(at + 1..).unwrap_or_default();
        match rest.first() {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!' | b'?') | None => {}
            Some(_) => {
                let end = rest.iter().position(|&byte| byte == b'>').unwrap_or(0);
                let is_empty = end > 0 && rest.get(end - 1) == Some(&b'/');
                depth += usize::from(!is_empty);
            }
        }
        if depth > MAX_DEPTH {
            return Some(at);
        }
    }
    None
}

/// The name of the first element.
pub(super) fn root_name(text: &str) -> Option<&str> {
    let is_start = |&(at, _): &(usize, &str)| {
        let next = text.as_bytes().get(at + 1);
        next.is_some_and(|&byte| byte != b'!' && byte != b'?')
    };
    let (at, _) = text.match_indices('<').find(is_start)?;
    text.get(at + 1..)?
        .split(|c: char| c.is_whitespace() || c == '>' || c == '/')
        .next()
}
