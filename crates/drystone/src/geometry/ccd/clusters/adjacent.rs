//! Clusters that share a vertex.
//!
//! Boxes and planes tell little of two such clusters: they touch. But which of them are adjacent is a
//! matter of the mesh and not of where it is, so they are listed once, and left out elsewhere.

use super::cluster::{Cluster, NONE};

/// Kin with larger numbers that are looked at together.
const LATER: usize = 16;

/// Which clusters share vertices.
#[derive(Clone, Debug, Default)]
pub(super) struct Kin {
    /// Clusters that share a vertex with each cluster, rising, and where each one's start.
    list: Vec<u32>,
    starts: Vec<u32>,
    /// Those of each cluster with larger numbers, padded by [`NONE`]; where they are too many for it,
    /// the last of them is not padding.
    later: Vec<[u32; LATER]>,
}

impl Kin {
    /// Of clusters, with the clusters that hold each vertex.
    pub(super) fn new<'h>(clusters: &[Cluster], holders: impl Fn(u32) -> &'h [u32]) -> Self {
        let mut kin = Self::default();
        kin.starts.push(0);
        for (k, cluster) in clusters.iter().enumerate() {
            let k = k as u32;
            let mut own: Vec<u32> = (cluster.vertices())
                .flat_map(|v| holders(v).iter().copied())
                .filter(|&other| other != k)
                .collect();
            own.sort_unstable();
            own.dedup();
            let before = own.partition_point(|&other| other < k);
            let mut row = [NONE; LATER];
            let later = row.iter_mut().zip(&own[before..]);
            later.for_each(|(slot, &k)| *slot = k);
            kin.later.push(row);
            kin.list.append(&mut own);
            kin.starts.push(kin.list.len() as u32);
        }
        kin
    }

    /// The clusters that share a vertex with one.
    pub(super) fn of(&self, cluster: usize) -> &[u32] {
        let [start, end] = [cluster, cluster + 1].map(|k| self.starts[k] as usize);
        &self.list[start..end]
    }

    /// Pairs of a cluster and those of its adjacent clusters that have larger numbers.
    pub(super) fn pairs_of(&self, cluster: usize) -> impl Iterator<Item = [u32; 2]> {
        let first = cluster as u32;
        let later = self.of(cluster).iter().filter(move |&&k| k > first);
        later.map(move |&second| [first, second])
    }

    /// Whether two clusters share a vertex, the smaller number first.
    #[inline(always)]
    pub(super) fn has(&self, [first, second]: [usize; 2]) -> bool {
        let (row, second) = (&self.later[first], second as u32);
        // No branches: where it is found is a toss.
        let is_there = row.iter().fold(false, |is, &k| is | (k == second));
        is_there || row[LATER - 1] != NONE && self.of(first).contains(&second)
    }
}
