//! Warm start of joint forces from the step before.

use crate::parallel::shared_slice::SharedSlice;
use serde::{Deserialize, Serialize};

/// What is known of a row.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct WarmStart {
    /// λ, N or N·m.
    pub(super) force: f64,
    /// Which bound a limit is near: −1 for the lower, 1 for the upper one.
    pub(super) bound: i8,
}

/// The rows of all joints, one joint after the other by place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WarmStartRows {
    /// First row of each place; one more at the end.
    starts: Vec<u32>,
    rows: Vec<WarmStart>,
    /// What impacts added to forces in this step, N or N·m; empty if nothing was hit.
    #[serde(skip)]
    struck: Vec<f64>,
}

impl WarmStartRows {
    /// Adds the rows of the next place that has any: those of `before` if they are as many.
    pub(super) fn add(&mut self, place: u32, count: usize, before: &Self) {
        self.starts
            .resize(place as usize + 1, self.rows.len() as u32);
        let kept = before.of(place);
        if kept.len() == count {
            self.rows.extend_from_slice(kept);
        } else {
            let room = self.rows.len() + count;
            self.rows.resize(room, WarmStart::default());
        }
        self.starts.push(self.rows.len() as u32);
    }

    fn range(&self, place: u32) -> std::ops::Range<usize> {
        match self.starts.get(place as usize..place as usize + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The rows of a joint; none if it has none.
    pub(super) fn of(&self, place: u32) -> &[WarmStart] {
        self.rows.get(self.range(place)).unwrap_or_default()
    }

    pub(super) fn of_mut(&mut self, place: u32) -> &mut [WarmStart] {
        let range = self.range(place);
        self.rows.get_mut(range).unwrap_or_default()
    }

    /// The first row of each place, and all rows, to be changed by several threads.
    pub(super) fn share(&mut self) -> (&[u32], SharedSlice<'_, WarmStart>) {
        (&self.starts, SharedSlice::new(&mut self.rows))
    }

    /// Forgets what impacts added.
    pub(super) fn forget_blows(&mut self) {
        self.struck.clear();
    }

    /// What impacts add to a joint's rows.
    pub(super) fn struck_mut(&mut self, place: u32) -> &mut [f64] {
        self.struck.resize(self.rows.len(), 0.0);
        let range = self.range(place);
        self.struck.get_mut(range).unwrap_or_default()
    }

    /// What impacts added to each row of a joint.
    pub(super) fn struck(&self, place: u32) -> impl Iterator<Item = f64> {
        let range = self.range(place);
        range.map(|at| self.struck.get(at).copied().unwrap_or(0.0))
    }

    /// Whether numbers from outside fit together.
    pub(super) fn is_consistent(&self) -> bool {
        self.starts.is_sorted()
            && self.starts.last().map_or(0, |&end| end as usize) == self.rows.len()
            && self.rows.iter().all(|row| row.force.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_keep_what_is_known_of_them_when_others_come_and_go() {
        let mut first = WarmStartRows::default();
        for (place, count) in [(0, 3), (2, 1), (3, 5)] {
            first.add(place, count, &WarmStartRows::default());
        }
        first.of_mut(2)[0].force = 7.0;
        first.of_mut(3)[4].force = 9.0;
        assert!(first.of(1).is_empty() && first.of(4).is_empty());
        let mut second = WarmStartRows::default();
        for (place, count) in [(1, 2), (2, 1), (3, 4)] {
            second.add(place, count, &first);
        }
        assert_eq!(second.of(2)[0].force, 7.0);
        // Another number of rows is another joint.
        assert!(second.of(3).iter().all(|row| row.force == 0.0));
        assert_eq!(second.of(3).len(), 4);
        assert!(second.is_consistent());
    }
}
