//! A symmetric matrix of 3 × 3 blocks, kept by rows.
//!
//! Every node of a deformable in space has a row; two nodes that an element joins share a block.
//! It is stored once, in the row of the lesser node, as a **link**; the greater one's row reads it
//! turned over. The order of nodes is the mesh's. No element resists being moved as a whole, so
//! the blocks of a row add up to nothing: the block of a node with itself is what the others leave,
//! and products ask for differences of velocities only.
//!
//! For iterations that need no more than a few digits there is a second copy in single precision
//! ([`super::domain_lanes`]).
//!
//! Membranes, springs and solids are written down anew every step, [membranes](super::membrane_lanes)
//! four abreast. Bending is quadratic in the positions ([`crate::model::deformable::bending`]), a number times the
//! unit matrix in each block: it is summed up once, and a step only adds it. Nodes across an edge
//! from each other are joined by nothing else; they need one number and not nine, the same as long
//! as steps are as long.

use super::membrane_lanes;
use super::membrane_lanes::{Builder, Membranes, State};
use super::single_elements::{NONE, Placed};
use crate::math::algebra::D3;
use crate::math::simd::{DOUBLES, Instructions};
use crate::model::deformable::element::{Element, Local};
use crate::model::deformable::element_graph::Joints;
use crate::parallel::shared_slice::SharedSlice;
use crate::parallel::thread_pool;
use crate::parallel::thread_pool::Worker;
use std::ops::Range;

/// A block, row after row.
pub(crate) type Block3 = [f64; 9];
/// A symmetric block: xx, yy, zz, xy, xz, yz.
pub(crate) type Own = [f64; 6];

/// Ranges of nodes that threads share out, whatever their number.
pub(crate) const DOMAINS: usize = 8;

/// The nodes of a domain, of so many.
pub(crate) fn domain(count: usize, domain: usize) -> Range<usize> {
    count * domain / DOMAINS..count * (domain + 1) / DOMAINS
}

/// The matrix hD + h²K of all nodes of a deformable.
#[derive(Debug)]
pub(crate) struct BlockRows {
    plan: Plan,
    values: Values,
}

/// What stays from step to step.
#[derive(Debug)]
struct Plan {
    joints: Joints,
    /// Stiffness (N/m) and damping (N·s/m) of bending in each link and each far entry.
    link_bending: Vec<[f64; 2]>,
    far_stiffness: Vec<f64>,
    far_damping: Vec<f64>,
    /// Elements that are written down every step: four abreast, and one by one.
    membranes: Membranes,
    single: Vec<Placed>,
}

/// What a step writes.
#[derive(Debug)]
struct Values {
    states: Vec<State>,
    /// The block of each link, and its tension in N/m: what pushes a node away from the other one
    /// for each metre between them.
    blocks: Vec<Block3>,
    tensions: Vec<f64>,
    /// The block of each node with itself.
    own: Vec<Own>,
    /// What stands before the unit matrix in each far entry, for steps of these dt and `share`.
    far: Vec<f64>,
    /// The sum of those of each row.
    far_sums: Vec<f64>,
    step: [f64; 2],
}

/// The matrix in double precision.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    joints: &'a Joints,
    blocks: &'a [Block3],
    own: &'a [Own],
    far: &'a [f64],
}

impl Exact<'_> {
    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }

    /// The block of a node with itself.
    pub(crate) fn own(&self, node: usize) -> &Own {
        &self.own[node]
    }

    /// The block of a link, as the lesser node's row has it.
    pub(crate) fn block(&self, link: usize) -> &Block3 {
        &self.blocks[link]
    }

    /// What stands before the unit matrix, by its number.
    pub(crate) fn far(&self, at: usize) -> f64 {
        self.far[at]
    }

    /// All entries of a row but its node's own: whether it is a link, its number, and the node of
    /// its column.
    pub(crate) fn entries(&self, node: usize) -> impl Iterator<Item = (bool, u32, u32)> {
        let Joints {
            upper,
            lower,
            lower_links,
            far,
        } = self.joints;
        let lower = lower
            .row(node)
            .map(|k| (true, lower_links[k], lower.columns[k]));
        let upper = upper.row(node).map(|k| (true, k as u32, upper.columns[k]));
        let far = far.row(node).map(|k| (false, k as u32, far.columns[k]));
        lower.chain(upper).chain(far)
    }

    /// A row times a vector.
    #[inline]
    pub(crate) fn times(&self, node: usize, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        let Joints {
            upper,
            lower,
            lower_links,
            far,
        } = self.joints;
        let values = self.far;
        let here = vector(node);
        let away = |column: u32| {
            let there = vector(column as usize);
            [there[0] - here[0], there[1] - here[1], there[2] - here[2]]
        };
        for at in lower.row(node) {
            let (b, v) = (
                &self.blocks[lower_links[at] as usize],
                away(lower.columns[at]),
            );
            for (i, of_row) in sum.iter_mut().enumerate() {
                *of_row += b[i] * v[0] + b[3 + i] * v[1] + b[6 + i] * v[2];
            }
        }
        let range = upper.row(node);
        for (b, &column) in self.blocks[range.clone()].iter().zip(&upper.columns[range]) {
            let v = away(column);
            for (i, of_row) in sum.iter_mut().enumerate() {
                *of_row += b[3 * i] * v[0] + b[3 * i + 1] * v[1] + b[3 * i + 2] * v[2];
            }
        }
        let range = far.row(node);
        for (value, &column) in values[range.clone()].iter().zip(&far.columns[range]) {
            let v = away(column);
            for (of_row, v) in sum.iter_mut().zip(v) {
                *of_row += value * v;
            }
        }
        sum
    }
}

/// What a step writes, in parts that do not meet.
struct Writing<'a> {
    states: SharedSlice<'a, State>,
    blocks: SharedSlice<'a, Block3>,
    tensions: SharedSlice<'a, f64>,
    push: SharedSlice<'a, [f64; 3]>,
}

impl Plan {
    /// Finds the pattern of elements between so many nodes. `None` if there are too many blocks.
    fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let joints = Joints::new(elements, nodes)?;
        let (links, far) = (joints.upper.columns.len(), joints.far.columns.len());
        let mut link_bending = vec![[0.0; 2]; links];
        let [mut far_stiffness, mut far_damping] = [(); 2].map(|()| vec![0.0; far]);
        let mut builder = Builder::new(links);
        let mut single = Vec::new();
        for element in elements {
            let list = element.nodes();
            if let Element::Bending(bend) = element {
                let pairs = (0..list.len()).flat_map(|i| (0..list.len()).map(move |j| (i, j)));
                for (i, j) in pairs.filter(|(i, j)| i != j) {
                    let [stiffness, damping] = bend.between(i, j);
                    let (a, b) = (list[i], list[j]);
                    if let Some(link) = joints.link(a, b) {
                        // Once for both rows.
                        if a < b {
                            link_bending[link as usize][0] += stiffness;
                            link_bending[link as usize][1] += damping;
                        }
                    } else if let Some(at) = joints.far.find(a, b) {
                        far_stiffness[at as usize] += stiffness;
                        far_damping[at as usize] += damping;
                    }
                }
                continue;
            }
            let is_taken = element.at_rest().is_some_and(|triangle| {
                let [a, b, c] = triangle.corners;
                match [joints.link(a, b), joints.link(a, c), joints.link(b, c)] {
                    [Some(p), Some(q), Some(r)] => builder.take(triangle, [p, q, r]),
                    _ => false,
                }
            });
            if !is_taken {
                single.push(Placed::new(*element, &joints));
            }
        }
        Some(Self {
            joints,
            link_bending,
            far_stiffness,
            far_damping,
            membranes: builder.finish(),
            single,
        })
    }

    /// Writes the blocks and tensions of a thread's part of links, but for single elements.
    fn write_links(
        &self,
        out: &Writing<'_>,
        step: [f64; 2],
        worker: &Worker<'_>,
        instructions: Instructions,
    ) {
        let count = self.link_bending.len();
        let fours = worker.share(count.div_ceil(DOUBLES));
        let links = DOUBLES * fours.start..(DOUBLES * fours.end).min(count);
        let bending = &self.link_bending[links.clone()];
        out.blocks.change_all(links.clone(), |blocks| {
            out.tensions.change_all(links, |tensions| {
                if self.membranes.len() > 0 {
                    let from = (&self.membranes, &out.states);
                    let to = (&mut *blocks, &mut *tensions);
                    membrane_lanes::write_links::<D3>(
                        instructions,
                        from,
                        fours,
                        (bending, step),
                        to,
                    );
                    return;
                }
                for ((block, tension), bent) in blocks.iter_mut().zip(tensions).zip(bending) {
                    let value = step[0] * bent[1] + step[1] * bent[0];
                    *block = [value, 0.0, 0.0, 0.0, value, 0.0, 0.0, 0.0, value];
                    *tension = bent[0];
                }
            });
        });
    }

    /// Adds what elements one by one do to the links and forces of some nodes.
    fn add_single(
        &self,
        out: &Writing<'_>,
        places: &[[f64; 3]],
        [dt, share]: [f64; 2],
        nodes: &Range<usize>,
    ) {
        let mut local = Local::zero();
        for placed in &self.single {
            let is_own = |k: u32| nodes.contains(&(k as usize));
            if !placed.nodes.iter().any(|&k| is_own(k)) {
                continue;
            }
            let x = placed.nodes.map(|k| places[k as usize]);
            let list = placed.element.nodes();
            placed.linearise(x, &mut local);
            for (i, &node) in list.iter().enumerate().filter(|(_, node)| is_own(**node)) {
                out.push.change(node as usize, |push| {
                    for (push, gradient) in push.iter_mut().zip(&local.gradient[3 * i..]) {
                        *push -= dt * gradient;
                    }
                });
                for j in (0..list.len()).filter(|j| placed.links[4 * i + j] != NONE) {
                    let at =
                        |entry: usize| (3 * i + entry / 3) * 3 * list.len() + 3 * j + entry % 3;
                    out.blocks
                        .change(placed.links[4 * i + j] as usize, |block| {
                            for (entry, value) in block.iter_mut().enumerate() {
                                let at = at(entry);
                                *value += dt * local.damping[at] + share * local.stiffness[at];
                            }
                        });
                }
            }
        }
    }

    /// Writes the blocks and tensions of links, and forces of single elements.
    fn write(
        &self,
        out: &Writing<'_>,
        places: &[[f64; 3]],
        step: [f64; 2],
        (threads, instructions): (usize, Instructions),
    ) {
        thread_pool::run(threads, |worker| {
            let fours = worker.share(self.membranes.len());
            let states = DOUBLES * fours.start..DOUBLES * fours.end;
            out.states.change_all(states, |states| {
                let membranes = &self.membranes;
                membrane_lanes::write_states::<D3>(instructions, membranes, fours, places, states);
            });
            worker.wait();
            self.write_links(out, step, worker, instructions);
            if self.single.is_empty() {
                return;
            }
            worker.wait();
            let nodes = worker.share(places.len());
            out.push
                .change_all(nodes.clone(), |push| push.fill([0.0; 3]));
            self.add_single(out, places, step, &nodes);
        });
    }
}

impl BlockRows {
    /// Finds the pattern of elements between so many nodes. `None` if there are too many blocks.
    pub(crate) fn new(elements: &[Element], nodes: usize) -> Option<Self> {
        let plan = Plan::new(elements, nodes)?;
        let (links, far) = (plan.link_bending.len(), plan.far_stiffness.len());
        let values = Values {
            states: vec![State::default(); DOUBLES * plan.membranes.len()],
            blocks: vec![[0.0; 9]; links],
            tensions: vec![0.0; links],
            own: vec![[0.0; 6]; nodes],
            far: vec![0.0; far],
            far_sums: vec![0.0; nodes],
            step: [0.0; 2],
        };
        Some(Self { plan, values })
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.values.own.len()
    }

    /// dt and `share` of the last step: far entries depend on nothing else.
    pub(crate) fn step(&self) -> [f64; 2] {
        self.values.step
    }

    /// Writes dt D + `share` K down, and dt times the forces (N·s), with nodes at these places (m),
    /// and calls `each` with every node and its own block. What is written depends on no thread.
    pub(crate) fn linearise(
        &mut self,
        places: &[[f64; 3]],
        step: [f64; 2],
        push: &mut [[f64; 3]],
        (threads, instructions): (usize, Instructions),
        each: impl Fn(usize, &Own) + Sync,
    ) {
        let (plan, values) = (&self.plan, &mut self.values);
        if values.step != step {
            values.step = step;
            let bending = plan.far_stiffness.iter().zip(&plan.far_damping);
            for (value, (stiffness, damping)) in values.far.iter_mut().zip(bending) {
                *value = step[0] * damping + step[1] * stiffness;
            }
            for (node, sum) in values.far_sums.iter_mut().enumerate() {
                *sum = values.far[plan.joints.far.row(node)].iter().sum();
            }
        }
        let out = Writing {
            states: SharedSlice::new(&mut values.states),
            blocks: SharedSlice::new(&mut values.blocks),
            tensions: SharedSlice::new(&mut values.tensions),
            push: SharedSlice::new(&mut *push),
        };
        plan.write(&out, places, step, (threads, instructions));
        let (own, push) = (SharedSlice::new(&mut values.own), SharedSlice::new(push));
        let sums = Sums {
            plan,
            blocks: &values.blocks,
            tensions: &values.tensions,
            far_sums: &values.far_sums,
            places,
        };
        let is_begun = !plan.single.is_empty();
        thread_pool::run(threads, |worker| {
            for node in worker.share(own.len()) {
                let (block, force) = sums.of(node);
                own.write(node, block);
                each(node, &block);
                push.change(node, |push| {
                    for (push, force) in push.iter_mut().zip(force) {
                        let before = if is_begun { *push } else { 0.0 };
                        *push = before + step[0] * force;
                    }
                });
            }
        });
    }

    /// The matrix.
    pub(crate) fn exact(&self) -> Exact<'_> {
        Exact {
            joints: &self.plan.joints,
            blocks: &self.values.blocks,
            own: &self.values.own,
            far: &self.values.far,
        }
    }

    /// The block of a node with itself.
    pub(crate) fn own(&self, node: usize) -> &Own {
        &self.values.own[node]
    }

    /// A row times a vector.
    #[inline]
    pub(crate) fn times(&self, node: usize, vector: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        self.exact().times(node, vector)
    }
}

/// What rows are summed up from.
struct Sums<'a> {
    plan: &'a Plan,
    blocks: &'a [Block3],
    tensions: &'a [f64],
    far_sums: &'a [f64],
    places: &'a [[f64; 3]],
}

impl Sums<'_> {
    /// A node's own block, and the force of bending and of tensions on it in N.
    #[inline]
    fn of(&self, node: usize) -> (Own, [f64; 3]) {
        let joints = &self.plan.joints;
        let (mut own, mut force) = ([0.0; 6], [0.0; 3]);
        let here = self.places[node];
        // From the node, so that rounding does not grow with the distance from the origin.
        let mut pull = |column: u32, tension: f64| {
            let there = self.places[column as usize];
            for (force, (there, here)) in force.iter_mut().zip(there.iter().zip(here)) {
                *force -= tension * (there - here);
            }
        };
        for at in joints.lower.row(node) {
            let link = joints.lower_links[at] as usize;
            pull(joints.lower.columns[at], self.tensions[link]);
            for (own, entry) in own.iter_mut().zip([0, 4, 8, 3, 6, 7]) {
                *own -= self.blocks[link][entry];
            }
        }
        for link in joints.upper.row(node) {
            pull(joints.upper.columns[link], self.tensions[link]);
            for (own, entry) in own.iter_mut().zip([0, 4, 8, 1, 2, 5]) {
                *own -= self.blocks[link][entry];
            }
        }
        for at in joints.far.row(node) {
            pull(joints.far.columns[at], self.plan.far_stiffness[at]);
        }
        for own in &mut own[..3] {
            *own -= self.far_sums[node];
        }
        (own, force)
    }
}
