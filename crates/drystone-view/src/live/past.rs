//! What can be shown: all that was simulated so far, or a recording.

use super::history::{History, Moment, nearest};

/// The moments that can be shown.
#[derive(Debug)]
pub(super) enum Past {
    /// A simulation goes on; these frames of it are kept.
    Kept(History),
    /// A recording, with the times of its frames in s.
    Tape(Vec<f64>),
}

impl Past {
    /// Whether this is a recording.
    pub(super) fn is_tape(&self) -> bool {
        matches!(self, Self::Tape(_))
    }

    /// How many moments there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Kept(history) => history.len(),
            Self::Tape(times) => times.len(),
        }
    }

    /// The place of the last moment.
    pub(super) fn last(&self) -> usize {
        self.len().saturating_sub(1)
    }

    /// The time of a moment, s.
    pub(super) fn time(&self, at: usize) -> Option<f64> {
        match self {
            Self::Kept(history) => history.get(at).map(|moment| moment.time),
            Self::Tape(times) => times.get(at).copied(),
        }
    }

    /// The moment nearest to a time.
    pub(super) fn nearest(&self, time: f64) -> usize {
        match self {
            Self::Kept(history) => history.nearest(time),
            Self::Tape(times) => nearest(times, |time| *time, time),
        }
    }

    /// Keeps the newest moment of a simulation.
    pub(super) fn keep(&mut self, moment: Moment) {
        if let Self::Kept(history) = self {
            history.push(moment);
        }
    }

    /// A moment that was kept.
    pub(super) fn kept(&self, at: usize) -> Option<&Moment> {
        match self {
            Self::Kept(history) => history.get(at),
            Self::Tape(_) => None,
        }
    }
}

impl Default for Past {
    fn default() -> Self {
        Self::Kept(History::default())
    }
}
