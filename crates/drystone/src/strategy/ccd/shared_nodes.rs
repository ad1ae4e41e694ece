//! Graph of impacts that share nodes.

/// No impact, or none yet.
const NONE: u32 = u32::MAX;

/// Lists of the impacts of every body, which grow with the impacts of a step.
#[derive(Debug)]
pub(super) struct SharedNodes {
    /// Of each body: its last entry.
    last: Vec<u32>,
    /// Entries: an impact, and the entry before it of the same body.
    entries: Vec<[u32; 2]>,
    /// Impacts that were entered.
    count: usize,
    /// Of each impact and of each body: the last walk that came by.
    seen: [Vec<u32>; 2],
    walks: u32,
}

impl SharedNodes {
    /// No impacts between so many bodies.
    pub(super) fn new(bodies: usize) -> Self {
        Self {
            last: vec![NONE; bodies],
            entries: Vec::new(),
            count: 0,
            seen: [Vec::new(), vec![0; bodies]],
            walks: 0,
        }
    }

    /// Enters impacts that came since the last time, given the bodies of all; those for which
    /// `is_tie` is false tie nothing together.
    pub(super) fn enter(&mut self, impacts: &[[u32; 6]], is_tie: impl Fn(u32) -> bool) {
        for (k, bodies) in impacts.iter().enumerate().skip(self.count) {
            for (at, &body) in bodies.iter().enumerate() {
                if bodies[..at].contains(&body) || !is_tie(body) {
                    continue;
                }
                let last = &mut self.last[body as usize];
                self.entries.push([k as u32, *last]);
                *last = self.entries.len() as u32 - 1;
            }
        }
        self.count = impacts.len();
        self.seen[0].resize(self.count, 0);
    }

    /// The impacts within so many `rings` of some that are given with the bodies of all, each ring
    /// sharing a body with the one before, and farther ones until there are `enough`; in ascending
    /// order.
    pub(super) fn around(
        &mut self,
        new: &[u32],
        impacts: &[[u32; 6]],
        (rings, enough): (usize, usize),
    ) -> Vec<u32> {
        self.walks += 1;
        let walk = self.walks;
        let [seen, seen_bodies] = &mut self.seen;
        let mut found: Vec<u32> = new.to_vec();
        new.iter().for_each(|&k| seen[k as usize] = walk);
        let (mut ring, mut from) = (0, 0);
        while from < found.len() && (ring < rings || found.len() < enough) {
            let until = found.len();
            for at in from..until {
                for body in impacts[found[at] as usize].map(|body| body as usize) {
                    if std::mem::replace(&mut seen_bodies[body], walk) == walk {
                        continue;
                    }
                    let mut entry = self.last[body];
                    while let Some(&[k, before]) = self.entries.get(entry as usize) {
                        if std::mem::replace(&mut seen[k as usize], walk) != walk {
                            found.push(k);
                        }
                        entry = before;
                    }
                }
            }
            (ring, from) = (ring + 1, until);
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of bodies, each in an impact with the next; body 0 stands.
    fn chain(count: u32) -> Vec<[u32; 6]> {
        (0..count).map(|k| [k, k, k, k + 1, k + 1, k + 1]).collect()
    }

    #[test]
    fn rings_grow_by_shared_bodies_and_stop() {
        let impacts = chain(30);
        let mut ties = SharedNodes::new(31);
        ties.enter(&impacts[..10], |body| body > 0);
        ties.enter(&impacts, |body| body > 0);
        assert_eq!(ties.around(&[15], &impacts, (1, 0)), [14, 15, 16]);
        let three: Vec<u32> = (12..=18).collect();
        assert_eq!(ties.around(&[15], &impacts, (3, 0)), three);
        // The next walk knows nothing of the last.
        assert_eq!(ties.around(&[2, 29], &impacts, (1, 0)), [1, 2, 3, 28, 29]);
    }

    #[test]
    fn what_is_small_is_found_whole() {
        let impacts = chain(30);
        let mut ties = SharedNodes::new(31);
        ties.enter(&impacts, |body| body > 0);
        assert_eq!(ties.around(&[15], &impacts, (1, 30)).len(), 30);
    }

    #[test]
    fn what_stands_ties_nothing_together() {
        let impacts = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 2, 2, 2]];
        let mut ties = SharedNodes::new(3);
        ties.enter(&impacts, |body| body > 0);
        assert_eq!(ties.around(&[0], &impacts, (5, 5)), [0]);
    }
}
