//! Union-find: sets of numbers that are joined.

/// Groups of the numbers from 0 up. A group is named by its lowest member, so names do not depend
/// on the order in which groups were joined.
#[derive(Clone, Debug)]
pub(crate) struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// Everybody alone.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    /// Everybody alone again.
    pub(crate) fn reset(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    /// The lowest member of a group, halving the path on the way.
    pub(crate) fn lowest(&mut self, mut k: u32) -> u32 {
        while self.parent[k as usize] != k {
            let above = self.parent[self.parent[k as usize] as usize];
            self.parent[k as usize] = above;
            k = above;
        }
        k
    }

    /// Joins the groups of two.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.lowest(a), self.lowest(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
