//! Moments at an even distance.

/// A hair of time, s: sums of steps miss round numbers by less.
const HAIR_S: f64 = 1e-9;

/// When the next moment is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    start: f64,
    /// Time from one moment to the next, s.
    spacing: f64,
    /// Moments that were taken.
    taken: u64,
}

impl Pace {
    /// Moments from a time on, `spacing` apart (s).
    pub(crate) fn new(start: f64, spacing: f64) -> Self {
        Self {
            start,
            spacing,
            taken: 0,
        }
    }

    /// Whether a moment is due at this time.
    pub(crate) fn is_due(&self, time: f64) -> bool {
        time >= self.next() - HAIR_S
    }

    /// Takes all moments up to a time and gives their number.
    pub(crate) fn advance(&mut self, time: f64) -> u64 {
        let before = self.taken;
        while self.is_due(time) {
            self.taken += 1;
        }
        self.taken - before
    }

    /// A product and no sum, so that errors do not add up.
    fn next(&self) -> f64 {
        self.start + self.taken as f64 * self.spacing
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn every_moment_is_taken_once() {
        let mut pace = Pace::new(0.0, 1.0 / 25.0);
        let dt = 1.0 / 240.0;
        let taken: u64 = (0..=2400).map(|k| pace.advance(f64::from(k) * dt)).sum();
        // Ten seconds of 25 a second, both ends included.
        assert_eq!(taken, 251);
        assert!(!pace.is_due(10.0));
    }

    #[test]
    fn steps_that_are_too_long_take_several() {
        let mut pace = Pace::new(0.0, 0.1);
        assert_eq!(pace.advance(0.0), 1);
        assert_eq!(pace.advance(0.35), 3);
    }
}
