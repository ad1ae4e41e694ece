//! A symmetric matrix of 3 × 3 blocks, kept by rows.
//!
//! Every node of a deformable in space has a row; two nodes that an element joins share a block,
//! stored in both their rows, so that a product needs no other row's numbers and threads can share
//! rows out. The order of nodes is the mesh's.
//!
//! For iterations that need no more than a few digits there is a second copy in single precision
//! ([`super::teams`]).
//!
//! Springs, membranes and solids are written down anew every step. Bending is quadratic in the
//! positions ([`super::bending`]), a number times the unit matrix in each block: it is summed up
//! once, and a step only adds it. Nodes across an edge from each other are joined by nothing else;
//! they need one number and not nine.

use super::element::{Curvature, Element, Local};
use crate::substep::crew;
use crate::substep::shared::Shared;
use std::ops::Range;

/// A block, row after row.
pub(crate) type Block3 = [f64; 9];

/// Ranges of nodes that threads share out, whatever their number.
pub(crate) const DOMAINS: usize = 8;

/// The nodes of a domain, of so many.
pub(crate) fn domain(count: usize, domain: usize) -> Range<usize> {
    count * domain / DOMAINS..count * (domain + 1) / DOMAINS
}

/// Which entries there are, row by row.
#[derive(Debug)]
struct Pattern {
    /// First entry of each row, and the number of entries at the end.
    starts: Vec<u32>,
    /// Node of each entry, rising within a row.
    columns: Vec<u32>,
}

impl Pattern {
    /// Of sorted pairs of nodes. `None` if there are too many.
    fn new(pairs: &[(u32, u32)], nodes: usize) -> Option<Self> {
        u32::try_from(pairs.len()).ok()?;
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

    /// The first entry of a row from a column on.
    fn place(&self, row: u32, column: u32) -> u32 {
        let of_row = self.row(row as usize);
        let before = self.columns[of_row].partition_point(|&c| c < column);
        self.starts[row as usize] + before as u32
    }

    fn row(&self, node: usize) -> Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }
}

/// The matrix hD + h²K of all nodes of a deformable.
#[derive(Debug)]
pub(crate) struct BlockRows {
    /// Pairs of nodes with a block, and the blocks.
    near: Pattern,
    blocks: Vec<Block3>,
    /// The diagonal block of each node.
    diagonal: Vec<u32>,
    /// Pairs of nodes that nothing but bending joins, and what stands before the unit matrix.
    far: Pattern,
    far_values: Vec<f64>,
    /// Stiffness (N/m) and damping (N·s/m) of bending in each near block and each far entry.
    near_bending: Vec<[f64; 2]>,
    far_bending: Vec<[f64; 2]>,
    /// Elements that are written down every step.
    changing: Vec<Placed>,
}

/// The matrix in double precision.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    near: &'a Pattern,
    blocks: &'a [Block3],
    diagonal: &'a [u32],
    far: &'a Pattern,
    far_values: &'a [f64],
}

impl Exact<'_> {
    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal block of a node.
    pub(crate) fn own(&self, node: usize) -> &Block3 {
        self.block(self.diagonal[node] as usize)
    }

    /// A block by its number.
    pub(crate) fn block(&self, at: usize) -> &Block3 {
        &self.blocks[at]
    }

    /// What stands before the unit matrix, by its number.
    pub(crate) fn far(&self, at: usize) -> f64 {
        self.far_values[at]
    }

    /// All entries of a row: whether it is a block, its number, and the node of its column.
    pub(crate) fn entries(&self, node: usize) -> impl Iterator<Item = (bool, u32, u32)> {
        let of = |is_near: bool, pattern: &'_ Pattern| {
            let columns = pattern.columns[pattern.row(node)].to_vec();
            let numbers = pattern.starts[node]..;
            numbers
                .zip(columns)
                .map(move |(at, column)| (is_near, at, column))
        };
        of(true, self.near).chain(of(false, self.far))
    }

    /// A row times a vector.
    #[inline]
    pub(crate) fn times(&self, node: usize, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for at in self.near.row(node) {
            let (block, v) = (&self.blocks[at], vector(self.near.columns[at] as usize));
            for (i, of_row) in sum.iter_mut().enumerate() {
                *of_row += block[3 * i] * v[0] + block[3 * i + 1] * v[1] + block[3 * i + 2] * v[2];
            }
        }
        for at in self.far.row(node) {
            let v = vector(self.far.columns[at] as usize);
            for (of_row, v) in sum.iter_mut().zip(v) {
                *of_row += self.far_values[at] * v;
            }
        }
        sum
    }
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

/// A thread's part of the rows: nodes, their blocks, far entries and forces.
struct Part<'a> {
    nodes: Range<usize>,
    blocks: &'a mut [Block3],
    far: &'a mut [f64],
    push: &'a mut [[f64; 3]],
}

impl BlockRows {
    /// Finds the pattern of elements between so many nodes. `None` if there are too many blocks.
    pub(crate) fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let mut near: Vec<(u32, u32)> = (0..nodes as u32).map(|k| (k, k)).collect();
        let mut far = Vec::new();
        for element in elements {
            let is_bending = matches!(element, Element::Bending(_));
            let pairs = if is_bending { &mut far } else { &mut near };
            for &a in element.nodes() {
                pairs.extend(element.nodes().iter().map(|&b| (a, b)));
            }
        }
        for pairs in [&mut near, &mut far] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        far.retain(|pair| near.binary_search(pair).is_err());
        let (near, far) = (Pattern::new(&near, nodes)?, Pattern::new(&far, nodes)?);
        let mut near_bending = vec![[0.0; 2]; near.columns.len()];
        let mut far_bending = vec![[0.0; 2]; far.columns.len()];
        let mut changing = Vec::new();
        for element in elements {
            let list = element.nodes();
            if let Element::Bending(bend) = element {
                for (i, &a) in list.iter().enumerate() {
                    for (j, &b) in list.iter().enumerate() {
                        let at = near.place(a, b) as usize;
                        let is_near = near.row(a as usize).contains(&at) && near.columns[at] == b;
                        let sum = if is_near {
                            &mut near_bending[at]
                        } else {
                            &mut far_bending[far.place(a, b) as usize]
                        };
                        let [stiffness, damping] = bend.between(i, j);
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
                places: std::array::from_fn(|k| near.place(node(k / 4), node(k % 4))),
            });
        }
        Some(Self {
            blocks: vec![[0.0; 9]; near.columns.len()],
            diagonal: (0..nodes as u32).map(|k| near.place(k, k)).collect(),
            far_values: vec![0.0; far.columns.len()],
            near,
            far,
            near_bending,
            far_bending,
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
        let mut far = std::mem::take(&mut self.far_values);
        let (mut free_blocks, mut free_far, mut free_push) = (&mut blocks[..], &mut far[..], push);
        let mut parts = Vec::with_capacity(threads);
        for thread in 0..threads {
            let nodes = count * thread / threads..count * (thread + 1) / threads;
            let own = |p: &Pattern| (p.starts[nodes.end] - p.starts[nodes.start]) as usize;
            let (blocks, rest_blocks) = free_blocks.split_at_mut(own(&self.near));
            let (far, rest_far) = free_far.split_at_mut(own(&self.far));
            let (push, rest_push) = free_push.split_at_mut(nodes.len());
            (free_blocks, free_far, free_push) = (rest_blocks, rest_far, rest_push);
            parts.push(Part {
                nodes,
                blocks,
                far,
                push,
            });
        }
        let this = &*self;
        let shared = Shared::new(&mut parts);
        crew::deal(threads, threads, |k| {
            shared.change(k, |part| this.write(part, places, [dt, share]));
        });
        (self.blocks, self.far_values) = (blocks, far);
    }

    /// Writes what bending does to the rows of a part.
    fn write_bending(&self, part: &mut Part<'_>, places: &[[f64; 3]], [dt, share]: [f64; 2]) {
        let value = |[stiffness, damping]: &[f64; 2]| dt * damping + share * stiffness;
        let first = self.near.starts[part.nodes.start] as usize;
        for (block, bending) in part.blocks.iter_mut().zip(&self.near_bending[first..]) {
            let value = value(bending);
            *block = [value, 0.0, 0.0, 0.0, value, 0.0, 0.0, 0.0, value];
        }
        let first = self.far.starts[part.nodes.start] as usize;
        for (entry, bending) in part.far.iter_mut().zip(&self.far_bending[first..]) {
            *entry = value(bending);
        }
        for (node, push) in part.nodes.clone().zip(part.push.iter_mut()) {
            let mut force = [0.0; 3];
            let here = places[node];
            let lists = [
                (&self.near, &self.near_bending),
                (&self.far, &self.far_bending),
            ];
            for (pattern, bending) in lists {
                for at in pattern.row(node) {
                    // From the node, so that rounding does not grow with the distance from the
                    // origin: the stiffnesses of a row add up to nothing.
                    let there = places[pattern.columns[at] as usize];
                    for (force, (there, here)) in force.iter_mut().zip(there.iter().zip(here)) {
                        *force -= bending[at][0] * (there - here);
                    }
                }
            }
            *push = force.map(|f| dt * f);
        }
    }

    /// Writes the rows of a part.
    fn write(&self, part: &mut Part<'_>, places: &[[f64; 3]], [dt, share]: [f64; 2]) {
        self.write_bending(part, places, [dt, share]);
        let first = self.near.starts[part.nodes.start] as usize;
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
                    part.add(
                        first,
                        placed,
                        |i, j| (sheet.gradient[i], sheet.stiffness[i][j].map(|k| scale * k)),
                        dt,
                    );
                }
                None => {
                    placed
                        .element
                        .linearise(3, x.as_flattened(), Curvature::Projected, &mut local);
                    let n = 3 * placed.element.nodes().len();
                    part.add(
                        first,
                        placed,
                        |i, j| {
                            let at = |entry: usize| (3 * i + entry / 3) * n + 3 * j + entry % 3;
                            let value = |entry: usize| {
                                dt * local.damping[at(entry)] + share * local.stiffness[at(entry)]
                            };
                            let gradient = [0, 1, 2].map(|axis| local.gradient[3 * i + axis]);
                            (gradient, std::array::from_fn(value))
                        },
                        dt,
                    );
                }
            }
        }
    }

    /// The matrix.
    pub(crate) fn exact(&self) -> Exact<'_> {
        Exact {
            near: &self.near,
            blocks: &self.blocks,
            diagonal: &self.diagonal,
            far: &self.far,
            far_values: &self.far_values,
        }
    }

    /// The diagonal block of a node.
    pub(crate) fn own(&self, node: usize) -> &Block3 {
        &self.blocks[self.diagonal[node] as usize]
    }

    /// A row times a vector.
    #[inline]
    pub(crate) fn times(&self, node: usize, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        self.exact().times(node, vector)
    }
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
                    for (push, gradient) in push.iter_mut().zip(gradient) {
                        *push -= dt * gradient;
                    }
                }
            }
        }
    }
}
