//! Changes to a world from outside since its last step.

use serde::{Deserialize, Serialize};

/// What was changed from outside since the last step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// Anything may have.
    pub(crate) all: bool,
    /// Bodies that were moved or pushed.
    pub(crate) bodies: Vec<u32>,
    /// Bodies that were tied or untied, or that meet others now.
    pub(crate) ties: Vec<u32>,
    /// Places where a body was added or removed.
    pub(crate) places: Vec<u32>,
}

impl Changes {
    /// Whether nothing was.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let lists = [&self.bodies, &self.ties, &self.places];
        lists.into_iter().flatten().all(|&k| (k as usize) < bodies)
    }
}
