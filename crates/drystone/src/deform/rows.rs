//! A symmetric matrix of 3 × 3 blocks, kept by rows.
//!
//! Every node of a deformable in space has a row; two nodes that an element joins share a block,
//! stored in both their rows, so that a product needs no other row's numbers and threads can share
//! rows out. The order of nodes is the mesh's.
//!
//! For iterations that need no more than a few digits there is a second copy in single precision:
//! columns of four numbers, the last of them 0, which are multiplied together.
//!
//! Springs, membranes and solids are written down anew every step. Bending is quadratic in the
//! positions ([`super::bending`]), a number times the unit matrix in each block: it is summed up
//! once, and a step only adds it.

use super::element::{Curvature, Element, Local};
use std::ops::Range;

/// A block, row after row.
pub(crate) type Block3 = [f64; 9];
/// A block in single precision: three columns of four numbers, the last of each 0.
pub(crate) type Small3 = [f32; 12];

/// Ranges of nodes that are swept apart from each other, whatever the number of threads.
pub(crate) const DOMAINS: usize = 8;

/// The nodes of a domain, of so many.
pub(crate) fn domain(count: usize, domain: usize) -> Range<usize> {
    count * domain / DOMAINS..count * (domain + 1) / DOMAINS
}

/// The matrix hD + h²K of all nodes of a deformable.
#[derive(Debug)]
pub(crate) struct BlockRows {
    /// First block of each node's row, and the number of blocks at the end.
    starts: Vec<u32>,
    /// Node of each block, rising within a row.
    columns: Vec<u32>,
    /// Which block of a row is the diagonal's.
    diagonal: Vec<u32>,
    /// Blocks of each row whose nodes are in its node's own domain: the first, one past the last.
    inner: Vec<[u32; 2]>,
    blocks: Vec<Block3>,
    small: Vec<Small3>,
    /// Stiffness (N/m) and damping (N·s/m) of bending in each block.
    bending: Vec<[f64; 2]>,
    /// Elements that are written down every step.
    changing: Vec<Placed>,
}

/// An element and where its blocks are.
#[derive(Debug)]
struct Placed {
    element: Element,
    /// Nodes, the last repeated where there are fewer than four.
    nodes: [u32; 4],
    /// Block of each pair of nodes, four by four.
    places: [u32; 16],
}

/// A thread's part of the rows: nodes, their blocks and forces.
struct Part<'a> {
    nodes: Range<usize>,
    blocks: &'a mut [Block3],
    push: &'a mut [[f64; 3]],
}

impl BlockRows {
    /// Finds the pattern of elements between so many nodes. `None` if there are too many blocks.
    pub(crate) fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let mut pairs: Vec<(u32, u32)> = (0..nodes as u32).map(|k| (k, k)).collect();
        for element in elements {
            for &a in element.nodes() {
                pairs.extend(element.nodes().iter().map(|&b| (a, b)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        u32::try_from(pairs.len()).ok()?;
        let mut starts = vec![0_u32; nodes + 1];
        for &(row, _) in &pairs {
            starts[row as usize + 1] += 1;
        }
        for k in 0..nodes {
            starts[k + 1] += starts[k];
        }
        let columns: Vec<u32> = pairs.iter().map(|&(_, column)| column).collect();
        let place = |row: u32, column: u32| {
            let of_row = starts[row as usize] as usize..starts[row as usize + 1] as usize;
            let at = columns[of_row].partition_point(|&c| c < column) as u32;
            starts[row as usize] + at
        };
        let mut bending = vec![[0.0; 2]; columns.len()];
        let mut changing = Vec::new();
        for element in elements {
            let list = element.nodes();
            if let Element::Bending(bend) = element {
                for (i, &a) in list.iter().enumerate() {
                    for (j, &b) in list.iter().enumerate() {
                        let [stiffness, damping] = bend.between(i, j);
                        let sum = &mut bending[place(a, b) as usize];
                        sum[0] += stiffness;
                        sum[1] += damping;
                    }
                }
                continue;
            }
            let node = |k: usize| list[k.min(list.len() - 1)];
            changing.push(Placed {
                element: *element,
                nodes: [0, 1, 2, 3].map(node),
                places: std::array::from_fn(|k| place(node(k / 4), node(k % 4))),
            });
        }
        let mut inner = Vec::with_capacity(nodes);
        for range in (0..DOMAINS).map(|k| domain(nodes, k)) {
            let ends = [range.start, range.end].map(|end| end as u32);
            inner.extend(range.map(|row| ends.map(|end| place(row as u32, end))));
        }
        Some(Self {
            diagonal: (0..nodes as u32).map(|k| place(k, k)).collect(),
            inner,
            blocks: vec![[0.0; 9]; columns.len()],
            small: Vec::new(),
            starts,
            columns,
            bending,
            changing,
        })
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Writes dt D + `share` K down, and dt times the forces (N·s), with nodes at these places (m).
    /// What a thread writes depends on no other, and rows are summed in the order of elements.
    pub(crate) fn linearise(
        &mut self,
        places: &[[f64; 3]],
        [dt, share]: [f64; 2],
        push: &mut [[f64; 3]],
        threads: usize,
    ) {
        let count = self.len();
        let threads = threads.clamp(1, count.max(1));
        let mut blocks = std::mem::take(&mut self.blocks);
        let (mut free_blocks, mut free_push) = (&mut blocks[..], push);
        let mut parts = Vec::with_capacity(threads);
        for thread in 0..threads {
            let nodes = count * thread / threads..count * (thread + 1) / threads;
            let own = (self.starts[nodes.end] - self.starts[nodes.start]) as usize;
            let (blocks, rest) = free_blocks.split_at_mut(own);
            let (push, rest_push) = free_push.split_at_mut(nodes.len());
            (free_blocks, free_push) = (rest, rest_push);
            parts.push(Part {
                nodes,
                blocks,
                push,
            });
        }
        let this = &*self;
        match parts.len() {
            1 => parts
                .into_iter()
                .for_each(|part| this.write(part, places, [dt, share])),
            _ => std::thread::scope(|scope| {
                for part in parts {
                    scope.spawn(move || this.write(part, places, [dt, share]));
                }
            }),
        }
        self.blocks = blocks;
    }

    /// Writes the rows of a part.
    fn write(&self, mut part: Part<'_>, places: &[[f64; 3]], [dt, share]: [f64; 2]) {
        let first = self.starts[part.nodes.start] as usize;
        for (block, [stiffness, damping]) in part.blocks.iter_mut().zip(&self.bending[first..]) {
            let value = dt * damping + share * stiffness;
            *block = [value, 0.0, 0.0, 0.0, value, 0.0, 0.0, 0.0, value];
        }
        for (node, push) in part.nodes.clone().zip(part.push.iter_mut()) {
            let mut force = [0.0; 3];
            let here = places[node];
            for at in self.row(node) {
                // From the node, so that rounding does not grow with the distance from the origin.
                let there = places[self.columns[at] as usize];
                for axis in 0..3 {
                    force[axis] -= self.bending[at][0] * (there[axis] - here[axis]);
                }
            }
            *push = force.map(|f| dt * f);
        }
        let mut local = Local::zero();
        for placed in &self.changing {
            let is_near = |&k: &u32| part.nodes.contains(&(k as usize));
            if !placed.nodes.iter().any(is_near) {
                continue;
            }
            let x = placed.nodes.map(|k| places[k as usize]);
            match placed.element.membrane([x[0], x[1], x[2]]) {
                Some((sheet, damping)) => {
                    let scale = dt * damping + share;
                    part.add(first, placed, |i, j| {
                        (sheet.gradient[i], sheet.stiffness[i][j].map(|k| scale * k))
                    }, dt);
                }
                None => {
                    placed
                        .element
                        .linearise(3, x.as_flattened(), Curvature::Projected, &mut local);
                    let n = 3 * placed.element.nodes().len();
                    part.add(first, placed, |i, j| {
                        let at = |entry: usize| (3 * i + entry / 3) * n + 3 * j + entry % 3;
                        let value = |entry: usize| {
                            dt * local.damping[at(entry)] + share * local.stiffness[at(entry)]
                        };
                        let gradient = [0, 1, 2].map(|axis| local.gradient[3 * i + axis]);
                        (gradient, std::array::from_fn(value))
                    }, dt);
                }
            }
        }
    }

    /// Writes the copy in single precision.
    pub(crate) fn round(&mut self) {
        self.small.clear();
        self.small.extend(self.blocks.iter().map(rounded));
    }

    /// The blocks of a node's row.
    fn row(&self, node: usize) -> Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    /// The diagonal block of a node.
    pub(crate) fn own(&self, node: usize) -> &Block3 {
        &self.blocks[self.diagonal[node] as usize]
    }

    /// A row times a vector.
    #[inline]
    pub(crate) fn times(&self, node: usize, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        self.sum(self.row(node), vector)
    }

    #[inline]
    fn sum(&self, range: Range<usize>, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        let columns = &self.columns[range.clone()];
        for (block, &column) in self.blocks[range].iter().zip(columns) {
            let v = vector(column as usize);
            for (i, of_row) in sum.iter_mut().enumerate() {
                *of_row += block[3 * i] * v[0] + block[3 * i + 1] * v[1] + block[3 * i + 2] * v[2];
            }
        }
        sum
    }

    /// A row times a vector, in single precision.
    #[inline]
    pub(crate) fn brief_times(&self, node: usize, vector: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
        self.brief_sum(self.row(node), vector)
    }

    /// The blocks of a row left of the diagonal in the node's domain, times a vector.
    #[inline]
    pub(crate) fn brief_before(
        &self,
        node: usize,
        vector: impl Fn(usize) -> [f32; 4],
    ) -> [f32; 4] {
        let range = self.inner[node][0] as usize..self.diagonal[node] as usize;
        self.brief_sum(range, vector)
    }

    /// The blocks of a row right of the diagonal in the node's domain, times a vector.
    #[inline]
    pub(crate) fn brief_after(&self, node: usize, vector: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
        let range = self.diagonal[node] as usize + 1..self.inner[node][1] as usize;
        self.brief_sum(range, vector)
    }

    #[inline]
    fn brief_sum(&self, range: Range<usize>, vector: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
        let mut sum = [0.0; 4];
        let columns = &self.columns[range.clone()];
        for (block, &column) in self.small[range].iter().zip(columns) {
            let product = brief(block, vector(column as usize));
            for lane in 0..4 {
                sum[lane] += product[lane];
            }
        }
        sum
    }
}

/// A block times a vector.
#[inline(always)]
pub(crate) fn brief(block: &Small3, v: [f32; 4]) -> [f32; 4] {
    let mut product = [0.0; 4];
    for lane in 0..4 {
        product[lane] = block[lane] * v[0] + block[4 + lane] * v[1] + block[8 + lane] * v[2];
    }
    product
}

/// A block in single precision.
pub(crate) fn rounded(block: &Block3) -> Small3 {
    let [a, b, c, d, e, f, g, h, i] = block.map(|x| x as f32);
    [a, d, g, 0.0, b, e, h, 0.0, c, f, i, 0.0]
}

impl Part<'_> {
    /// Adds an element's rows in this part. `of` gives the gradient at node i (N) and the block of
    /// nodes i and j (kg); `first` is this part's first block.
    fn add(
        &mut self,
        first: usize,
        placed: &Placed,
        of: impl Fn(usize, usize) -> ([f64; 3], Block3),
        dt: f64,
    ) {
        let list = placed.element.nodes();
        for (i, &node) in list.iter().enumerate() {
            let node = node as usize;
            if !self.nodes.contains(&node) {
                continue;
            }
            for j in 0..list.len() {
                let (gradient, values) = of(i, j);
                let block = &mut self.blocks[placed.places[4 * i + j] as usize - first];
                for (entry, value) in block.iter_mut().zip(values) {
                    *entry += value;
                }
                if j == 0 {
                    let push = &mut self.push[node - self.nodes.start];
                    for axis in 0..3 {
                        push[axis] -= dt * gradient[axis];
                    }
                }
            }
        }
    }
}
