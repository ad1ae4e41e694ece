//! The graph of nodes that elements join.
//!
//! Two nodes that anything but bending joins have a **link**; those that bending alone joins are
//! **far** from each other: across an edge.

use super::element::Element;
use std::ops::Range;

/// Which entries there are, row by row.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// First entry of each row, and the number of entries at the end.
    pub(crate) starts: Vec<u32>,
    /// Node of each entry, rising within a row.
    pub(crate) columns: Vec<u32>,
}

impl Pattern {
    /// Of sorted pairs of nodes. `None` if there are too many.
    fn new(pairs: &[(u32, u32)], nodes: usize) -> Option<Self> {
        // A bit is left for a mark.
        i32::try_from(pairs.len()).ok()?;
        let mut starts = vec![0_u32; nodes + 1];
        for &(row, _) in pairs {
            starts[row as usize + 1] += 1;
        }
        for k in 0..nodes {
            starts[k + 1] += starts[k];
        }
        let columns: Vec<u32> = pairs.iter().map(|&(_, column)| column).collect();
        Some(Self { starts, columns })
    }

    /// The entry of a pair, if there is one.
    pub(crate) fn find(&self, row: u32, column: u32) -> Option<u32> {
        let of_row = self.row(row as usize);
        let before = self.columns[of_row].binary_search(&column).ok()?;
        Some(self.starts[row as usize] + before as u32)
    }

    pub(crate) fn row(&self, node: usize) -> Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }
}

/// Which nodes are joined.
#[derive(Debug)]
pub(crate) struct Joints {
    /// Links, in the rows of their lesser nodes.
    pub(crate) upper: Pattern,
    /// The same in the rows of their greater nodes, and which ones they are.
    pub(crate) lower: Pattern,
    pub(crate) lower_links: Vec<u32>,
    /// Pairs of nodes that nothing but bending joins, in both rows.
    pub(crate) far: Pattern,
}

impl Joints {
    /// Of elements between so many nodes. `None` if there are too many.
    pub(crate) fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for element in elements {
            let is_bending = matches!(element, Element::Bending(_));
            let pairs = if is_bending { &mut far } else { &mut near };
            for &a in element.nodes() {
                let others = element.nodes().iter().filter(|&&b| a < b);
                pairs.extend(others.map(|&b| (a, b)));
            }
        }
        near.sort_unstable();
        near.dedup();
        let mut turned: Vec<(u32, u32, u32)> =
            near.iter().zip(0..).map(|(&(a, b), k)| (b, a, k)).collect();
        turned.sort_unstable();
        far.retain(|pair| near.binary_search(pair).is_err());
        let far_turned: Vec<(u32, u32)> = far.iter().map(|&(a, b)| (b, a)).collect();
        far.extend(far_turned);
        far.sort_unstable();
        far.dedup();
        let lower: Vec<(u32, u32)> = turned.iter().map(|&(b, a, _)| (b, a)).collect();
        Some(Self {
            upper: Pattern::new(&near, nodes)?,
            lower: Pattern::new(&lower, nodes)?,
            lower_links: turned.iter().map(|&(_, _, link)| link).collect(),
            far: Pattern::new(&far, nodes)?,
        })
    }

    /// The link of two nodes, if there is one.
    pub(crate) fn link(&self, a: u32, b: u32) -> Option<u32> {
        self.upper.find(a.min(b), a.max(b))
    }
}
