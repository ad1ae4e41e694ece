//! What can be wrong with a scene, and where.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::path::FieldPath;

/// Why a scene can't be read or built: what is wrong, where, and what would be right.
///
/// Its text is a complete sentence that starts with `file:line:column`. The parts are there one
/// by one too, with the file's text and the span in it, for a program that shows the place.
///
/// ```
/// use drystone_scene::Scene;
/// let text = "dimension = 3\n[[bodies]]\nname = \"ball\"\nshape.ball.raduis = 1.0\n";
/// let error = Scene::from_toml(text, "a.toml").unwrap_err();
/// assert!(error.to_string().starts_with("a.toml:4:12: body `ball`, bodies[0].shape.ball.raduis"));
/// assert_eq!(&text[error.span().unwrap()], "raduis");
/// assert!(error.help().unwrap().contains("did you mean `radius`?"));
/// ```
#[derive(Clone, thiserror::Error)]
pub struct SceneError {
    details: Box<Details>,
}

#[derive(Clone, Default)]
struct Details {
    problem: String,
    help: Option<String>,
    object: Option<String>,
    field: Option<String>,
    file: String,
    span: Option<Range<usize>>,
    text: Option<Arc<str>>,
}

impl SceneError {
    /// A file that can't be read at all.
    pub(crate) fn unreadable(file: &str, problem: impl Into<String>, help: &str) -> Self {
        Self {
            details: Box::new(Details {
                problem: problem.into(),
                help: Some(help.to_owned()),
                file: file.to_owned(),
                ..Details::default()
            }),
        }
    }

    /// Something wrong at a place of a text that is not a scene file.
    pub(crate) fn in_text(
        file: &str,
        (text, span): (&Arc<str>, Range<usize>),
        problem: impl Into<String>,
        help: Option<&str>,
    ) -> Self {
        Self {
            details: Box::new(Details {
                problem: problem.into(),
                help: help.map(str::to_owned),
                file: file.to_owned(),
                span: text.get(span.clone()).map(|_| span),
                text: Some(Arc::clone(text)),
                ..Details::default()
            }),
        }
    }

    /// What is wrong, without place and remedy.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.details.problem
    }

    /// What would be right.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.details.help.as_deref()
    }

    /// What the field belongs to, such as "body `ball`".
    #[must_use]
    pub fn object(&self) -> Option<&str> {
        self.details.object.as_deref()
    }

    /// The field, such as `bodies[3].shape.ball.radius` (lists count from 0).
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.details.field.as_deref()
    }

    /// The file as the caller named it; empty for a scene that was not read from text.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.details.file
    }

    /// The whole text of the file, where it was read.
    #[must_use]
    pub fn source_text(&self) -> Option<&str> {
        self.details.text.as_deref()
    }

    /// Where in the text the problem is, in bytes; always within the text, on character bounds.
    #[must_use]
    pub fn span(&self) -> Option<Range<usize>> {
        self.details.span.clone()
    }

    /// Line and column of the span's start, both from 1; the column counts characters.
    #[must_use]
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        let before = self
            .source_text()?
            .get(..self.details.span.as_ref()?.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.get(line_start..)?.chars().count() + 1;
        Some((line, column))
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file(), self.line_and_column()) {
            ("", _) => write!(f, "scene: ")?,
            (file, Some((line, column))) => write!(f, "{file}:{line}:{column}: ")?,
            (file, None) => write!(f, "{file}: ")?,
        }
        match (self.object(), self.field()) {
            (Some(object), Some(field)) => write!(f, "{object}, {field}: ")?,
            (Some(one), None) | (None, Some(one)) => write!(f, "{one}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.problem())?;
        match self.help() {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for SceneError {
    /// The sentence: the file's text would drown it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SceneError({self})")
    }
}

/// Something wrong at a field, before it is known where in the file that is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flaw {
    pub(crate) path: FieldPath,
    pub(crate) problem: String,
    pub(crate) help: Option<String>,
}

impl Flaw {
    pub(crate) fn new(path: FieldPath, problem: impl Into<String>) -> Self {
        Self {
            path,
            problem: problem.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error, with object and place filled in.
    pub(crate) fn placed(self, place: Place) -> SceneError {
        let field = self.path.to_string();
        SceneError {
            details: Box::new(Details {
                problem: self.problem,
                help: self.help,
                object: place.object,
                field: (!field.is_empty()).then_some(field),
                file: place.file,
                span: place.span,
                text: place.text,
            }),
        }
    }
}

/// Where a flaw is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) span: Option<Range<usize>>,
    pub(crate) object: Option<String>,
}
