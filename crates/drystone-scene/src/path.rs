//! Paths to a field of a scene, such as `bodies[3].shape.ball.radius`.

use std::borrow::Cow;
use std::fmt;

/// One step down into a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A key of a table.
    Key(Cow<'static, str>),
    /// A place in a list, from 0.
    Index(usize),
}

/// Where a field is in a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldPath(pub(crate) Vec<Step>);

impl FieldPath {
    /// The field of that name in this table.
    pub(crate) fn key(&self, key: impl Into<Cow<'static, str>>) -> Self {
        self.then(Step::Key(key.into()))
    }

    /// The element of that number, from 0, in this list.
    pub(crate) fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// The named list and the place in it that this path starts with, as in `bodies[3]`.
    pub(crate) fn object(&self) -> Option<(&str, usize)> {
        match self.0.as_slice() {
            [Step::Key(list), Step::Index(index), ..] => Some((list, *index)),
            _ => None,
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if place == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_in_a_program() {
        let path = FieldPath::default().key("bodies").index(3).key("mass");
        assert_eq!(path.to_string(), "bodies[3].mass");
        assert_eq!(path.object(), Some(("bodies", 3)));
        assert_eq!(FieldPath::default().key("dt").object(), None);
    }
}
