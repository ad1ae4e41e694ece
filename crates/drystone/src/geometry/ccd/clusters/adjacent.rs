//! Bundles that share a vertex.
//!
//! Boxes and planes tell little of two such bundles: they touch. But which of them are kin is a
//! matter of the mesh and not of where it is, so they are listed once, and left out elsewhere.

use super::cluster::{Bundle, NONE};

/// Kin with larger numbers that are looked at together.
const LATER: usize = 16;

/// Which bundles share vertices.
#[derive(Clone, Debug, Default)]
pub(super) struct Kin {
    /// Bundles that share a vertex with each bundle, rising, and where each one's start.
    list: Vec<u32>,
    starts: Vec<u32>,
    /// Those of each bundle with larger numbers, padded by [`NONE`]; where they are too many for it,
    /// the last of them is not padding.
    later: Vec<[u32; LATER]>,
}

impl Kin {
    /// Of bundles, with the bundles that hold each vertex.
    pub(super) fn new<'h>(bundles: &[Bundle], holders: impl Fn(u32) -> &'h [u32]) -> Self {
        let mut kin = Self::default();
        kin.starts.push(0);
        for (k, bundle) in bundles.iter().enumerate() {
            let k = k as u32;
            let mut own: Vec<u32> = (bundle.vertices())
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

    /// The bundles that share a vertex with one.
    pub(super) fn of(&self, bundle: usize) -> &[u32] {
        let [start, end] = [bundle, bundle + 1].map(|k| self.starts[k] as usize);
        &self.list[start..end]
    }

    /// Pairs of a bundle and those of its kin that have larger numbers.
    pub(super) fn pairs_of(&self, bundle: usize) -> impl Iterator<Item = [u32; 2]> {
        let first = bundle as u32;
        let later = self.of(bundle).iter().filter(move |&&k| k > first);
        later.map(move |&second| [first, second])
    }

    /// Whether two bundles share a vertex, the smaller number first.
    #[inline(always)]
    pub(super) fn has(&self, [first, second]: [usize; 2]) -> bool {
        let (row, second) = (&self.later[first], second as u32);
        // No branches: where it is found is a toss.
        let is_there = row.iter().fold(false, |is, &k| is | (k == second));
        is_there || row[LATER - 1] != NONE && self.of(first).contains(&second)
    }
}
