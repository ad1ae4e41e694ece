//! XML with errors that point at the element.

use std::sync::Arc;

use roxmltree::{Document, Node, ParsingOptions};

use super::rigid::{Pose3, turn};
use crate::error::SceneError;
use drystone::glam::{DQuat, DVec3};

/// Deepest nesting of elements: readers go down by calling themselves.
const MAX_DEPTH: usize = 128;

/// A document's text, to point at.
pub(super) struct Xml<'a> {
    pub(super) file: &'a str,
    text: Arc<str>,
}

impl<'a> Xml<'a> {
    pub(super) fn new(file: &'a str, text: &str) -> Self {
        Self {
            file,
            text: Arc::from(text),
        }
    }

    /// Parses it. Entities of its own (which can grow without bound) are refused.
    pub(super) fn parse<'t>(&self, text: &'t str) -> Result<Document<'t>, SceneError> {
        let span = |at: usize| (&self.text, at..at);
        if let Some(at) = too_deep(text) {
            let problem = format!("elements are nested more than {MAX_DEPTH} deep");
            return Err(SceneError::in_text(self.file, span(at), problem, None));
        }
        let options = ParsingOptions {
            allow_dtd: false,
            ..ParsingOptions::default()
        };
        Document::parse_with_options(text, options).map_err(|error| {
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
        })
    }

    /// Something wrong at an element.
    pub(super) fn wrong(&self, node: Node<'_, '_>, problem: impl Into<String>) -> SceneError {
        let start = node.range().start;
        // The name of the element, not all that is in it.
        let end = start + 1 + node.tag_name().name().len();
        SceneError::in_text(self.file, (&self.text, start..end), problem, None)
    }

    /// An attribute that must be there.
    pub(super) fn needed<'n>(&self, node: Node<'n, '_>, key: &str) -> Result<&'n str, SceneError> {
        node.attribute(key).ok_or_else(|| {
            let name = node.tag_name().name();
            self.wrong(node, format!("`{name}` needs the attribute `{key}`"))
        })
    }

    /// All numbers of an attribute.
    pub(super) fn numbers(
        &self,
        node: Node<'_, '_>,
        key: &str,
    ) -> Result<Option<Vec<f64>>, SceneError> {
        let text = node.attribute(key);
        text.map(|text| self.numbers_of(node, key, text))
            .transpose()
    }

    /// All numbers of a text that an element or its defaults have.
    pub(super) fn numbers_of(
        &self,
        node: Node<'_, '_>,
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
        node: Node<'_, '_>,
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

    pub(super) fn number(&self, node: Node<'_, '_>, key: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.row::<1>(node, key)?.map(|[number]| number))
    }

    pub(super) fn vector(
        &self,
        node: Node<'_, '_>,
        key: &str,
    ) -> Result<Option<DVec3>, SceneError> {
        Ok(self.row::<3>(node, key)?.map(DVec3::from_array))
    }

    /// A direction, made of unit length.
    pub(super) fn direction(
        &self,
        node: Node<'_, '_>,
        key: &str,
    ) -> Result<Option<DVec3>, SceneError> {
        let unit = |vector: DVec3| {
            let problem = || self.wrong(node, format!("`{key}` must have some length"));
            vector.try_normalize().ok_or_else(problem)
        };
        self.vector(node, key)?.map(unit).transpose()
    }

    /// URDF's `<origin xyz="" rpy="">` below an element: turned about x, then y, then z.
    pub(super) fn origin(&self, node: Node<'_, '_>) -> Result<Pose3, SceneError> {
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

/// The first element of that name below.
pub(super) fn child<'n, 'd>(node: Node<'n, 'd>, name: &str) -> Option<Node<'n, 'd>> {
    children(node, name).next()
}

/// All elements of that name directly below.
pub(super) fn children<'n, 'd>(
    node: Node<'n, 'd>,
    name: &str,
) -> impl Iterator<Item = Node<'n, 'd>> {
    node.children()
        .filter(move |child| child.has_tag_name(name))
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
