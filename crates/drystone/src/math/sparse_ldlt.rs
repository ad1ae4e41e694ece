//! Sparse LDLᵀ factorisation of symmetric systems with a fixed pattern.
//!
//! $S = L D L^T$ with L unit lower triangular. Rows come in **nodes** (the locks of a joint), of
//! which two have either all entries with each other or none, so that L consists of full blocks: a
//! node's own, and a panel of all rows below that it has entries with. Nodes are eliminated one
//! after the other, each taking its part from the blocks of those below. The pattern is looked at
//! once, numbers come anew in every step.

use std::collections::BTreeSet;

use super::simd::Number;

/// Diagonal that is added, relative to what is there: joints that say the same twice make S
/// singular, and then any answer will do.
const RELAXED: f64 = 1e-10;

/// In which order to eliminate the nodes of a graph: those with the fewest neighbours first.
/// `None` if more than `most` entries a node would arise.
pub(crate) fn elimination_order(mut near: Vec<BTreeSet<u32>>, most: usize) -> Option<Vec<u32>> {
    let count = near.len();
    let mut waiting: BTreeSet<(usize, u32)> = (0..count as u32)
        .map(|k| (near[k as usize].len(), k))
        .collect();
    let mut order = Vec::with_capacity(count);
    let mut entries = 0;
    while let Some((degree, node)) = waiting.pop_first() {
        entries += degree;
        if entries > most * count {
            return None;
        }
        order.push(node);
        let neighbours: Vec<u32> = std::mem::take(&mut near[node as usize])
            .into_iter()
            .collect();
        for &k in &neighbours {
            let own = &mut near[k as usize];
            waiting.remove(&(own.len(), k));
            own.remove(&node);
            own.extend(neighbours.iter().filter(|&&j| j != k));
            waiting.insert((own.len(), k));
        }
    }
    Some(order)
}

/// Rows of a node at most.
pub(crate) const WIDEST: usize = 6;

/// Rows that are eliminated together.
#[derive(Clone, Copy, Debug)]
struct Node {
    first: u32,
    width: u32,
    /// Where its own block is, row by row: L below the diagonal.
    own: u32,
    /// Where its panel is: L of the rows below, row by row.
    panel: u32,
    /// These rows in [`Factors::below`], and what they change in [`Factors::updates`].
    rows: [u32; 2],
    updates: [u32; 2],
}

/// Two nodes below a node: rows and columns of its panel, and the block that they change.
#[derive(Clone, Copy, Debug)]
struct Update {
    rows: [u32; 2],
    columns: [u32; 2],
    /// Where the first number of the block is, and how long its rows are.
    target: u32,
    stride: u32,
    /// Whether it is a node's own block, of which only the lower half counts.
    is_own: bool,
}

/// A factorised symmetric matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors<T = f64> {
    nodes: Vec<Node>,
    below: Vec<u32>,
    updates: Vec<Update>,
    /// Entries above the diagonal, column and row, and where each is below it.
    entries: Vec<[u32; 2]>,
    places: Vec<u32>,
    values: Vec<T>,
    /// The inverse of D.
    inverse: Vec<T>,
    /// Rows of a panel before they are divided by D.
    work: Vec<T>,
}

impl<T: Copy + Default> Factors<T> {
    /// Looks at a pattern: `blocks` are the first rows of the nodes, and one more at the end; `near`
    /// are the earlier nodes with which each has entries.
    pub(crate) fn new(blocks: &[u32], near: &[Vec<u32>]) -> Self {
        let below = fill_in(near);
        let mut this = Self::default();
        let width = |node: usize| blocks[node + 1] - blocks[node];
        let mut size = 0;
        for (node, of_node) in below.iter().enumerate() {
            let width = width(node);
            let first_row = this.below.len() as u32;
            for &k in of_node {
                this.below
                    .extend(blocks[k as usize]..blocks[k as usize + 1]);
            }
            let rows = [first_row, this.below.len() as u32];
            this.nodes.push(Node {
                first: blocks[node],
                width,
                own: size,
                panel: size + width * width,
                rows,
                updates: [0; 2],
            });
            size += width * (width + rows[1] - rows[0]);
        }
        this.values = vec![T::default(); size as usize];
        this.inverse = vec![T::default(); blocks.last().map_or(0, |&rows| rows as usize)];
        let longest = this.nodes.iter().map(|n| (n.rows[1] - n.rows[0]) * n.width);
        this.work = vec![T::default(); longest.max().unwrap_or(0) as usize];
        for (node, of_node) in below.iter().enumerate() {
            let start = this.updates.len() as u32;
            this.plan_updates(of_node);
            this.nodes[node].updates = [start, this.updates.len() as u32];
        }
        this.plan_entries(near);
        this
    }

    /// Factors with the pattern of others, and no numbers yet.
    pub(crate) fn like<U>(other: &Factors<U>) -> Self {
        Self {
            nodes: other.nodes.clone(),
            below: other.below.clone(),
            updates: other.updates.clone(),
            entries: other.entries.clone(),
            places: other.places.clone(),
            values: vec![T::default(); other.values.len()],
            inverse: vec![T::default(); other.inverse.len()],
            work: vec![T::default(); other.work.len()],
        }
    }

    /// Where row `row` has its entries with the columns of `node`.
    fn place(&self, row: u32, node: &Node) -> u32 {
        if row < node.first + node.width {
            return node.own + (row - node.first) * node.width;
        }
        let rows = &self.below[node.rows[0] as usize..node.rows[1] as usize];
        let at = rows.binary_search(&row).unwrap_or(0) as u32;
        node.panel + at * node.width
    }

    /// Finds the blocks that the nodes below one change.
    fn plan_updates(&mut self, below: &[u32]) {
        let mut row = 0;
        for (k, &node) in below.iter().enumerate() {
            let wide = self.nodes[node as usize].width;
            let mut column = 0;
            for &earlier in &below[..=k] {
                let target = self.nodes[earlier as usize];
                self.updates.push(Update {
                    rows: [row, row + wide],
                    columns: [column, column + target.width],
                    target: self.place(self.nodes[node as usize].first, &target),
                    stride: target.width,
                    is_own: earlier == node,
                });
                column += target.width;
            }
            row += wide;
        }
    }

    /// Lists the entries above the diagonal.
    fn plan_entries(&mut self, near: &[Vec<u32>]) {
        for (node, earlier) in self.nodes.iter().zip(near) {
            for column in node.first..node.first + node.width {
                let before = earlier.iter().map(|&k| &self.nodes[k as usize]);
                for source in before.chain([node]) {
                    let end = column.min(source.first + source.width);
                    for row in source.first..end {
                        self.entries.push([column, row]);
                        let place = self.place(column, source) + row - source.first;
                        self.places.push(place);
                    }
                }
            }
        }
    }

    /// Entries above the diagonal: column and row.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, usize)> {
        let entries = self.entries.iter();
        entries.map(|&[column, row]| (column as usize, row as usize))
    }

    /// Factorises: `above` are the numbers of [`Factors::entries`], in their order.
    #[inline(always)]
    pub(crate) fn factorise<N: Number<Stored = T>>(&mut self, diagonal: &[T], above: &[T]) {
        self.values.fill(T::default());
        for (&place, &number) in self.places.iter().zip(above) {
            self.values[place as usize] = number;
        }
        for k in 0..self.nodes.len() {
            let node = self.nodes[k];
            for c in 0..node.width {
                let given = N::load(&diagonal[(node.first + c) as usize]);
                let own = &mut self.values[(node.own + c * node.width + c) as usize];
                let relaxed = given * N::splat(1.0 + RELAXED);
                (N::load(own) + relaxed).store(own);
            }
            match node.width {
                0 => {}
                1 => self.eliminate::<N, 1>(&node, diagonal),
                2 => self.eliminate::<N, 2>(&node, diagonal),
                3 => self.eliminate::<N, 3>(&node, diagonal),
                4 => self.eliminate::<N, 4>(&node, diagonal),
                5 => self.eliminate::<N, 5>(&node, diagonal),
                _ => self.eliminate::<N, WIDEST>(&node, diagonal),
            }
        }
    }

    /// Eliminates a node of W rows: divides its panel and takes its part from later ones.
    #[inline(always)]
    fn eliminate<N: Number<Stored = T>, const W: usize>(&mut self, node: &Node, diagonal: &[T]) {
        let count = (node.rows[1] - node.rows[0]) as usize;
        let (first, panel) = (node.first as usize, node.panel as usize);
        let start = panel + count * W;
        let (before, later) = self.values.split_at_mut(start);
        let (before, panel) = before.split_at_mut(panel);
        let (own, _) = before[node.own as usize..].as_chunks_mut::<W>();
        let inverse = &mut self.inverse[first..first + W];
        factorise_block::<N, W>(own, inverse, &diagonal[first..first + W]);
        let (panel, _) = panel.as_chunks_mut::<W>();
        let (whole, _) = self.work[..count * W].as_chunks_mut::<W>();
        divide::<N, W>(own, inverse, panel, whole);
        let updates = node.updates[0] as usize..node.updates[1] as usize;
        for update in &self.updates[updates] {
            let rows = &panel[update.rows[0] as usize..update.rows[1] as usize];
            let columns = &whole[update.columns[0] as usize..update.columns[1] as usize];
            let mut at = update.target as usize - start;
            for (r, row) in rows.iter().enumerate() {
                let row = row.each_ref().map(N::load);
                let end = if update.is_own { r + 1 } else { columns.len() };
                for (entry, column) in later[at..].iter_mut().zip(&columns[..end]) {
                    (N::load(entry) - dot(&row, &column.each_ref().map(N::load))).store(entry);
                }
                at += update.stride as usize;
            }
        }
    }

    /// Solves in place.
    #[inline(always)]
    pub(crate) fn solve<N: Number<Stored = T>>(&self, x: &mut [T]) {
        for node in &self.nodes {
            match node.width {
                0 => {}
                1 => self.forwards::<N, 1>(node, x),
                2 => self.forwards::<N, 2>(node, x),
                3 => self.forwards::<N, 3>(node, x),
                4 => self.forwards::<N, 4>(node, x),
                5 => self.forwards::<N, 5>(node, x),
                _ => self.forwards::<N, WIDEST>(node, x),
            }
        }
        for node in self.nodes.iter().rev() {
            match node.width {
                0 => {}
                1 => self.backwards::<N, 1>(node, x),
                2 => self.backwards::<N, 2>(node, x),
                3 => self.backwards::<N, 3>(node, x),
                4 => self.backwards::<N, 4>(node, x),
                5 => self.backwards::<N, 5>(node, x),
                _ => self.backwards::<N, WIDEST>(node, x),
            }
        }
    }

    /// A node's own block, the rows below it and its panel.
    #[inline(always)]
    fn parts<const W: usize>(&self, node: &Node) -> (&[[T; W]], &[u32], &[[T; W]]) {
        let (own, _) = self.values[node.own as usize..].as_chunks::<W>();
        let (panel, _) = self.values[node.panel as usize..].as_chunks::<W>();
        let below = &self.below[node.rows[0] as usize..node.rows[1] as usize];
        (&own[..W], below, panel)
    }

    #[allow(clippy::needless_range_loop)] // Rows and columns of a block.
    #[inline(always)]
    fn forwards<N: Number<Stored = T>, const W: usize>(&self, node: &Node, x: &mut [T]) {
        let (own, below, panel) = self.parts::<W>(node);
        let first = node.first as usize;
        let mut y: [N; W] = std::array::from_fn(|c| N::load(&x[first + c]));
        for c in 0..W {
            for b in 0..c {
                y[c] = y[c] - N::load(&own[c][b]) * y[b];
            }
        }
        for (c, y) in y.into_iter().enumerate() {
            y.store(&mut x[first + c]);
        }
        for (&row, l) in below.iter().zip(panel) {
            let x = &mut x[row as usize];
            (N::load(x) - dot(&l.each_ref().map(N::load), &y)).store(x);
        }
    }

    #[allow(clippy::needless_range_loop)] // Rows and columns of a block.
    #[inline(always)]
    fn backwards<N: Number<Stored = T>, const W: usize>(&self, node: &Node, x: &mut [T]) {
        let (own, below, panel) = self.parts::<W>(node);
        let first = node.first as usize;
        let mut y: [N; W] =
            std::array::from_fn(|c| N::load(&x[first + c]) * N::load(&self.inverse[first + c]));
        for (&row, l) in below.iter().zip(panel) {
            let value = N::load(&x[row as usize]);
            for c in 0..W {
                y[c] = y[c] - N::load(&l[c]) * value;
            }
        }
        for c in (0..W).rev() {
            for b in c + 1..W {
                y[c] = y[c] - N::load(&own[b][c]) * y[b];
            }
        }
        for (c, y) in y.into_iter().enumerate() {
            y.store(&mut x[first + c]);
        }
    }
}

#[inline(always)]
fn dot<N: Number, const W: usize>(a: &[N; W], b: &[N; W]) -> N {
    let mut sum = a[0] * b[0];
    for k in 1..W {
        sum = sum + a[k] * b[k];
    }
    sum
}

/// Factorises a node's own block, of which `given` was the diagonal at first.
#[allow(clippy::needless_range_loop)] // Rows and columns of a block.
#[inline(always)]
fn factorise_block<N: Number, const W: usize>(
    own: &mut [[N::Stored; W]],
    inverse: &mut [N::Stored],
    given: &[N::Stored],
) {
    let mut known = [N::splat(0.0); W];
    for c in 0..W {
        let mut row = own[c].each_ref().map(N::load);
        for b in 0..c {
            let value = row[b];
            let l = value * known[b];
            for a in b + 1..c {
                row[a] = row[a] - value * N::load(&own[a][b]);
            }
            row[c] = row[c] - value * l;
            row[b] = l;
        }
        let given = N::load(&given[c]);
        let pivot = row[c].most(given * N::splat(RELAXED));
        known[c] = given.choose(N::splat(1.0) / pivot, N::splat(0.0));
        known[c].store(&mut inverse[c]);
        for (value, place) in row.into_iter().zip(&mut own[c]) {
            value.store(place);
        }
    }
}

/// Makes L of a panel of S; `whole` is the same times D.
#[allow(clippy::needless_range_loop)] // Rows and columns of blocks.
#[inline(always)]
fn divide<N: Number, const W: usize>(
    own: &[[N::Stored; W]],
    inverse: &[N::Stored],
    panel: &mut [[N::Stored; W]],
    whole: &mut [[N::Stored; W]],
) {
    for (stored, whole) in panel.iter_mut().zip(whole) {
        let mut row = stored.each_ref().map(N::load);
        for c in 0..W {
            for b in 0..c {
                row[c] = row[c] - row[b] * N::load(&own[c][b]);
            }
        }
        for c in 0..W {
            row[c].store(&mut whole[c]);
            (row[c] * N::load(&inverse[c])).store(&mut stored[c]);
        }
    }
}

/// The later nodes with which each has entries, those that elimination makes included.
fn fill_in(near: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut below: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); near.len()];
    for (node, earlier) in near.iter().enumerate() {
        for &k in earlier {
            below[k as usize].insert(node as u32);
        }
    }
    for node in 0..below.len() {
        let own = std::mem::take(&mut below[node]);
        // The first of them gets the others: it passes them on when its turn comes.
        if let Some(&first) = own.first() {
            below[first as usize].extend(own.iter().skip(1));
        }
        below[node] = own;
    }
    below
        .into_iter()
        .map(|own| own.into_iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree and a few loops: factors solve what the matrix, multiplied out, asks.
    #[test]
    #[allow(clippy::needless_range_loop)]
    fn factors_solve_their_matrix() {
        let nodes = 40;
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        let mut blocks = vec![0];
        for k in 0..nodes {
            // Nodes of all sizes, none included.
            blocks.push(blocks[k] + k as u32 % 7);
            if k == 0 {
                continue;
            }
            near[k].push((k as u32 * 7) % k as u32);
            if k % 5 == 0 {
                near[k].push(k as u32 - 1);
            }
            near[k].sort_unstable();
            near[k].dedup();
        }
        let n = blocks[nodes] as usize;
        let mut factors = Factors::<f64>::new(&blocks, &near);
        let entries: Vec<_> = factors.entries().collect();
        let above: Vec<f64> = (0..entries.len())
            .map(|k| ((k * 37 % 11) as f64 - 5.0) / 5.0)
            .collect();
        let diagonal = vec![60.0; n];
        // Twice, since numbers come anew in every step.
        factors.factorise::<f64>(&vec![90.0; n], &above);
        factors.factorise::<f64>(&diagonal, &above);
        let b: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).sin()).collect();
        let mut x = b.clone();
        factors.solve::<f64>(&mut x);
        let mut product: Vec<f64> = x.iter().map(|x| 60.0 * x).collect();
        for (&(column, row), a) in entries.iter().zip(&above) {
            product[row] += a * x[column];
            product[column] += a * x[row];
        }
        for k in 0..n {
            assert!((product[k] - b[k]).abs() < 1e-7, "{k}");
        }
    }

    #[test]
    fn chains_are_eliminated_without_fill_and_nets_are_refused() {
        let chain = |n: u32| -> Vec<BTreeSet<u32>> {
            (0..n)
                .map(|k| {
                    [k.wrapping_sub(1), k + 1]
                        .into_iter()
                        .filter(|&j| j < n)
                        .collect()
                })
                .collect()
        };
        assert!(elimination_order(chain(100), 1).is_some());
        let side = 30_u32;
        let net: Vec<BTreeSet<u32>> = (0..side * side)
            .map(|k| {
                let (x, y) = (k % side, k / side);
                let mut near = BTreeSet::new();
                if x > 0 {
                    near.insert(k - 1);
                }
                if x + 1 < side {
                    near.insert(k + 1);
                }
                if y > 0 {
                    near.insert(k - side);
                }
                if y + 1 < side {
                    near.insert(k + side);
                }
                near
            })
            .collect();
        assert!(elimination_order(net, 4).is_none());
    }
}
