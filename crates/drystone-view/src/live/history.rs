//! Everything simulated so far, in bounded memory.
//!
//! Every step is kept until the memory is full; then every second frame is dropped, and from then
//! on every second step is left out, and so on. The whole run can always be looked at, an old long
//! one more coarsely.

use tungstenite::Bytes;

/// Bytes that a history may hold.
const MOST_BYTES: usize = 256 << 20;

/// The frames of all lanes at one time.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Simulated time, s.
    pub(super) time: f64,
    /// One encoded frame a lane.
    pub(super) frames: Vec<Bytes>,
}

impl Moment {
    fn size(&self) -> usize {
        self.frames.iter().map(Bytes::len).sum()
    }
}

/// Frames by time.
#[derive(Debug)]
pub(super) struct History {
    moments: Vec<Moment>,
    bytes: usize,
    most_bytes: usize,
    /// One of so many steps is kept.
    stride: u64,
    pushed: u64,
}

impl Default for History {
    fn default() -> Self {
        Self {
            moments: Vec::new(),
            bytes: 0,
            most_bytes: MOST_BYTES,
            stride: 1,
            pushed: 0,
        }
    }
}

impl History {
    /// Adds the newest moment.
    pub(super) fn push(&mut self, moment: Moment) {
        self.pushed += 1;
        if !(self.pushed - 1).is_multiple_of(self.stride) {
            return;
        }
        self.bytes += moment.size();
        self.moments.push(moment);
        while self.bytes > self.most_bytes && self.moments.len() > 2 {
            self.thin();
        }
    }

    /// Drops every second moment.
    fn thin(&mut self) {
        let mut keep = false;
        self.moments.retain(|_| {
            keep = !keep;
            keep
        });
        self.stride *= 2;
        self.bytes = self.moments.iter().map(Moment::size).sum();
    }

    /// How many moments there are.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    /// A moment by its place.
    pub(super) fn get(&self, index: usize) -> Option<&Moment> {
        self.moments.get(index)
    }

    /// The place of the moment nearest to a time; 0 if there is none.
    pub(super) fn nearest(&self, time: f64) -> usize {
        nearest(&self.moments, |moment| moment.time, time)
    }
}

/// The place of the item whose time is nearest to a time; 0 if there is none.
pub(super) fn nearest<T>(items: &[T], time_of: impl Fn(&T) -> f64, time: f64) -> usize {
    let after = items.partition_point(|item| time_of(item) < time);
    let distance = |k: usize| {
        let item = items.get(k);
        item.map_or(f64::INFINITY, |item| (time_of(item) - time).abs())
    };
    match after.checked_sub(1) {
        Some(before) if distance(before) <= distance(after) => before,
        _ => after.min(items.len().saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(time: f64) -> Moment {
        Moment {
            time,
            frames: vec![Bytes::from(vec![0; 100])],
        }
    }

    #[test]
    fn memory_is_bounded_and_the_whole_run_stays() {
        let mut history = History {
            most_bytes: 10_000,
            ..History::default()
        };
        for k in 0..100_000 {
            history.push(moment(f64::from(k)));
        }
        assert!(history.bytes <= 10_000 && history.len() >= 50);
        assert_eq!(history.get(0).unwrap().time, 0.0);
        assert!(history.get(history.len() - 1).unwrap().time > 95_000.0);
    }

    #[test]
    fn the_nearest_moment_is_found() {
        let mut history = History::default();
        assert_eq!(history.nearest(1.0), 0);
        for k in 0..10 {
            history.push(moment(f64::from(k)));
        }
        assert_eq!(history.nearest(-5.0), 0);
        assert_eq!(history.nearest(3.4), 3);
        assert_eq!(history.nearest(3.6), 4);
        assert_eq!(history.nearest(50.0), 9);
    }
}
