//! The linear system of implicit Euler, factorised, one for each deformable.
//!
//! See the [parent module](super) for H. Nodes that nothing moves (pinned, scripted) are no
//! unknowns: they move at the velocity they have, and what that does to their neighbours is on
//! the right side.

use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::block_cholesky::{BlockCholesky, BlockPlace, PivotFloor};
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::Integrator;
use crate::model::deformable::element::{Curvature, Local, MOST};
use crate::model::deformable::store::Soft;

/// H is positive definite by its masses; pivots can't be much smaller than the least of them.
const FLOOR: PivotFloor = PivotFloor {
    threshold: 0.0,
    value: 0.0,
};

/// Pattern, numbers and factor of a deformable's H.
#[derive(Debug)]
pub(crate) struct Direct {
    cholesky: BlockCholesky,
    /// Unknown node of each node, if it is one.
    unknown: Vec<Option<u32>>,
    /// Where each pair of an element's nodes goes, element after element; `None` where one of the
    /// two is no unknown or the pair lies below the diagonal.
    places: Vec<Option<BlockPlace>>,
    /// h D + h² K of each element, `n × n` numbers after each other.
    blocks: Vec<f64>,
    /// h f of each node, N·s; node after node.
    push: Vec<f64>,
    /// h f − (h D + h² K) v* of each node, N·s.
    base: Vec<f64>,
    /// Diagonal of H, averaged over a node's unknowns, kg.
    pub(crate) weight: Vec<f64>,
}

impl Direct {
    /// Analyses the pattern. `None` if there is too much of it.
    pub(crate) fn analyse<S: Space>(soft: &Soft, bodies: &Bodies<S>) -> Option<Self> {
        let mut count = 0;
        let unknown: Vec<Option<u32>> = soft
            .nodes
            .iter()
            .map(|&body| {
                bodies.is_dynamic(body as usize).then(|| {
                    count += 1;
                    count - 1
                })
            })
            .collect();
        let mut couples = Vec::new();
        for element in &soft.elements {
            for_each_pair(element.nodes(), &unknown, |_, pair| {
                if let Some((row, column)) = pair
                    && row < column
                {
                    couples.push((row, column));
                }
            });
        }
        let sizes = vec![S::DIM as u32; count as usize];
        let cholesky = BlockCholesky::new(&sizes, couples).ok()?;
        let mut places = Vec::new();
        for element in &soft.elements {
            for_each_pair(element.nodes(), &unknown, |_, pair| {
                places.push(pair.and_then(|(row, column)| cholesky.place(row, column)));
            });
        }
        Some(Self {
            cholesky,
            unknown,
            places,
            blocks: Vec::new(),
            push: Vec::new(),
            base: Vec::new(),
            weight: Vec::new(),
        })
    }

    /// Computes h f and the elements' blocks at the bodies' positions; without h² K for
    /// symplectic Euler.
    pub(crate) fn linearise<S: Space>(
        &mut self,
        soft: &Soft,
        bodies: &Bodies<S>,
        dt: f64,
        integrator: Integrator,
    ) {
        let share = match integrator {
            Integrator::Implicit => dt * dt,
            Integrator::Symplectic => 0.0,
        };
        let dim = S::DIM;
        self.blocks.clear();
        self.push.clear();
        self.push.resize(soft.nodes.len() * dim, 0.0);
        let mut local = Local::zero();
        for element in &soft.elements {
            let x = soft.places(bodies, element);
            element.linearise(dim, &x, Curvature::Projected, &mut local);
            let nodes = element.nodes();
            let n = nodes.len() * dim;
            for (k, &node) in nodes.iter().enumerate() {
                for axis in 0..dim {
                    self.push[node as usize * dim + axis] -= dt * local.gradient[k * dim + axis];
                }
            }
            let (stiffness, damping) = (&local.stiffness[..n * n], &local.damping[..n * n]);
            let both = stiffness.iter().zip(damping);
            self.blocks.extend(both.map(|(k, d)| dt * d + share * k));
        }
    }

    /// Remembers what v* alone does; [`Direct::solve`] starts from it.
    pub(crate) fn start_from<S: Space>(&mut self, soft: &Soft, starred: &[Motion<S>]) {
        self.base = self.impulse(soft, starred);
    }

    /// The impulse of elastic forces on each node at these velocities after the step, N·s:
    /// h f − (h D + h² K) v.
    pub(crate) fn impulse<S: Space>(&self, soft: &Soft, motion: &[Motion<S>]) -> Vec<f64> {
        let mut sum = self.resistance(soft, motion);
        for (entry, push) in sum.iter_mut().zip(&self.push) {
            *entry = push - *entry;
        }
        sum
    }

    /// Writes H down, and what each node can resist with.
    pub(crate) fn assemble<S: Space>(&mut self, soft: &Soft, bodies: &Bodies<S>) {
        let dim = S::DIM;
        self.cholesky.clear();
        let (mut block_at, mut place_at) = (0, 0);
        for element in &soft.elements {
            let n = element.nodes().len() * dim;
            let block = &self.blocks[block_at..block_at + n * n];
            let (places, cholesky) = (&self.places, &mut self.cholesky);
            for_each_pair(element.nodes(), &self.unknown, |(p, q), _| {
                if let Some(place) = places[place_at] {
                    for j in 0..dim {
                        let mut column = [0.0; 3];
                        for (i, entry) in column[..dim].iter_mut().enumerate() {
                            *entry = block[(p * dim + i) * n + q * dim + j];
                        }
                        cholesky.add_to_column(place, j, &column[..dim]);
                    }
                }
                place_at += 1;
            });
            block_at += n * n;
        }
        self.weight.clear();
        self.weight.resize(soft.nodes.len(), 0.0);
        for (node, unknown) in self.unknown.iter().enumerate() {
            let Some(unknown) = *unknown else { continue };
            let mass = bodies.mass(soft.nodes[node] as usize);
            let start = self.cholesky.start(unknown);
            for axis in 0..dim {
                let entry = self.cholesky.diagonal_mut(start + axis);
                *entry += mass;
                self.weight[node] += *entry / dim as f64;
            }
        }
    }

    /// Adds `extra` kg on the diagonal of a node.
    pub(crate) fn add_mass(&mut self, node: usize, extra: f64, dim: usize) {
        if let Some(unknown) = self.unknown[node] {
            let start = self.cholesky.start(unknown);
            for axis in 0..dim {
                *self.cholesky.diagonal_mut(start + axis) += extra;
            }
        }
    }

    /// Factorises H with what was added.
    pub(crate) fn factorise(&mut self) -> Result<(), Unsolvable> {
        if self.cholesky.len() == 0 {
            return Ok(());
        }
        self.cholesky.factorize(FLOOR).map_err(|_| Unsolvable)
    }

    /// (h D + h² K) v, N·s, for all nodes.
    fn resistance<S: Space>(&self, soft: &Soft, motion: &[Motion<S>]) -> Vec<f64> {
        let dim = S::DIM;
        let mut sum = vec![0.0; soft.nodes.len() * dim];
        let mut at = 0;
        for element in &soft.elements {
            let nodes = element.nodes();
            let n = nodes.len() * dim;
            let mut v = [0.0; MOST];
            for (k, &node) in nodes.iter().enumerate() {
                let linear = motion[soft.nodes[node as usize] as usize].linear;
                for axis in 0..dim {
                    v[k * dim + axis] = linear.component(axis);
                }
            }
            for (row, of_row) in self.blocks[at..at + n * n].chunks_exact(n).enumerate() {
                let dot: f64 = of_row.iter().zip(&v).map(|(a, b)| a * b).sum();
                sum[nodes[row / dim] as usize * dim + row % dim] += dot;
            }
            at += n * n;
        }
        sum
    }

    /// v − v\* of every node, node after node, where (H + X) v = M v\* + h f + `extra` + X v\* and
    /// X is what was added on the diagonal; 0 for nodes that nothing moves. `extra` in N·s, node
    /// after node.
    pub(crate) fn solve(&mut self, dim: usize, extra: &[f64]) -> Vec<f64> {
        // Solved for the change, so that rounding scales with it.
        let mut right = vec![0.0; self.cholesky.len()];
        for (node, unknown) in self.unknown.iter().enumerate() {
            let Some(unknown) = *unknown else { continue };
            let start = self.cholesky.start(unknown);
            for axis in 0..dim {
                let at = node * dim + axis;
                right[start + axis] = self.base[at] + extra.get(at).copied().unwrap_or(0.0);
            }
        }
        if !right.is_empty() {
            self.cholesky.solve_in_place(&mut right);
        }
        let mut change = vec![0.0; self.unknown.len() * dim];
        for (node, unknown) in self.unknown.iter().enumerate() {
            let Some(unknown) = *unknown else { continue };
            let start = self.cholesky.start(unknown);
            change[node * dim..(node + 1) * dim].copy_from_slice(&right[start..start + dim]);
        }
        change
    }
}

/// H could not be factorised: numbers are infinite or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsolvable;

/// Calls `f` for every pair of an element's nodes with their unknown nodes, where both are such
/// and the pair is on or above the diagonal.
fn for_each_pair(
    nodes: &[u32],
    unknown: &[Option<u32>],
    mut f: impl FnMut((usize, usize), Option<(u32, u32)>),
) {
    for (p, &a) in nodes.iter().enumerate() {
        for (q, &b) in nodes.iter().enumerate() {
            let pair = match (unknown[a as usize], unknown[b as usize]) {
                (Some(row), Some(column)) if row <= column => Some((row, column)),
                _ => None,
            };
            f((p, q), pair);
        }
    }
}
