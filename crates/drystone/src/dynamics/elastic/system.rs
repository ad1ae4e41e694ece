//! The system of a deformable: factorised, or solved by conjugate gradients where it is large.

use super::conjugate_gradients::{Effort, Gradients};
use super::contact_coupling::Rule;
use super::implicit_euler::{Direct, Unsolvable};
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::Integrator;
use crate::model::deformable::store::Soft;

/// Nodes from which on gradients are faster than a factorisation.
const LARGE: usize = 1000;
/// Stiffness ratio κ up to which they are, for each node. Iterations grow as √κ and cost n each, a
/// factorisation of a sheet of n nodes costs as n^1.5: they meet at κ ∝ n.
const STIFF: f64 = 4.0;

/// A deformable's H, in the form that suits it.
#[derive(Debug, Default)]
pub(crate) struct System {
    direct: Option<Direct>,
    gradients: Option<Box<Gradients>>,
    /// Whether this step's numbers are those of the gradients.
    is_iterative: bool,
}

impl System {
    /// Computes forces and stiffness at the bodies' positions. `None` if there is too much of it.
    pub(crate) fn linearise<S: Space>(
        &mut self,
        soft: &Soft,
        bodies: &Bodies<S>,
        rule: Rule,
    ) -> Option<()> {
        let Rule { dt, integrator, .. } = rule;
        self.is_iterative = false;
        if integrator == Integrator::Implicit && S::DIM == 3 && soft.nodes.len() >= LARGE {
            let known = self.gradients.as_ref();
            if known.is_none_or(|known| known.is_for_another(rule.effort)) {
                let new = Gradients::new(&soft.elements, soft.nodes.len(), rule.effort)?;
                self.gradients = Some(Box::new(new));
            }
            if let Some(gradients) = &mut self.gradients {
                let place = |&k: &u32| bodies.position[k as usize].to_array3();
                let places: Vec<[f64; 3]> = soft.nodes.iter().map(place).collect();
                let ratio =
                    gradients.linearise(&places, |node| mass(soft, bodies, node), dt, rule.threads);
                self.is_iterative = ratio <= STIFF * soft.nodes.len() as f64;
            }
        }
        if !self.is_iterative {
            if self.direct.is_none() {
                self.direct = Some(Direct::analyse(soft, bodies)?);
            }
            if let Some(direct) = &mut self.direct {
                direct.linearise(soft, bodies, dt, integrator);
            }
        }
        Some(())
    }

    /// Whether this step solves it by conjugate gradients.
    pub(crate) fn is_iterative(&self) -> bool {
        self.is_iterative
    }

    /// Gives nodes in contact (`touched`, by body) a second mass, half-way between the least and
    /// the most that they can resist with, and gets ready to solve from v\* and a
    /// guess of v. Gives those bodies and their second masses in kg.
    pub(crate) fn begin<S: Space>(
        &mut self,
        soft: &Soft,
        (bodies, starred): (&Bodies<S>, &[Motion<S>]),
        guess: &[Motion<S>],
        touched: &[bool],
    ) -> Result<Vec<(usize, f64)>, Unsolvable> {
        let mut second = Vec::new();
        let mut in_contact = |weight: &dyn Fn(usize) -> f64| {
            for (node, &body) in soft.nodes.iter().enumerate() {
                let k = body as usize;
                if touched.get(k) == Some(&true) {
                    second.push((node, k, (bodies.mass(k) * weight(node)).sqrt()));
                }
            }
        };
        match (&mut self.gradients, &mut self.direct) {
            (Some(gradients), _) if self.is_iterative => {
                let nodes = 0..soft.nodes.len();
                gradients.take_added(nodes.map(|node| mass(soft, bodies, node)));
                in_contact(&|node| gradients.weight(node));
                for &(node, _, mass) in &second {
                    gradients.add_mass(node, mass);
                }
                let of = |motion: &[Motion<S>], node: usize| {
                    motion[soft.nodes[node] as usize].linear.to_array3()
                };
                let is_finite = gradients.begin(|node| of(starred, node), |node| of(guess, node));
                if !is_finite {
                    return Err(Unsolvable);
                }
            }
            (_, Some(direct)) => {
                direct.assemble(soft, bodies);
                in_contact(&|node| direct.weight[node]);
                for &(node, _, mass) in &second {
                    direct.add_mass(node, mass, S::DIM);
                }
                direct.factorise()?;
                direct.start_from(soft, starred);
            }
            _ => {}
        }
        Ok(second.into_iter().map(|(_, k, mass)| (k, mass)).collect())
    }

    /// v − v\* of every node, node after node, where (H + X) v = M v\* + h f + `extra` + X v\* and
    /// X is what was added on the diagonal; 0 for nodes that nothing moves. `extra` in N·s, node
    /// after node, or empty. A factorised system is always solved to the end.
    pub(crate) fn solve(&mut self, dim: usize, extra: &[f64], effort: Effort) -> Vec<f64> {
        match (&mut self.gradients, &mut self.direct) {
            (Some(gradients), _) if self.is_iterative => {
                let extra = extra.as_chunks().0;
                gradients.solve(extra, effort).as_flattened().to_vec()
            }
            (_, Some(direct)) => direct.solve(dim, extra),
            _ => Vec::new(),
        }
    }

    /// The impulse of elastic forces on each node at these velocities after the step, N·s, node
    /// after node: h f − (h D + h² K) v.
    pub(crate) fn impulse<S: Space>(&self, soft: &Soft, motion: &[Motion<S>]) -> Vec<f64> {
        match (&self.gradients, &self.direct) {
            (Some(gradients), _) if self.is_iterative => {
                let velocity = |node: usize| motion[soft.nodes[node] as usize].linear.to_array3();
                let impulse = |node: usize| gradients.impulse(node, velocity);
                (0..soft.nodes.len()).flat_map(impulse).collect()
            }
            (_, Some(direct)) => direct.impulse(soft, motion),
            _ => Vec::new(),
        }
    }
}

/// Mass of a deformable's node in kg, infinite where nothing moves it.
fn mass<S: Space>(soft: &Soft, bodies: &Bodies<S>, node: usize) -> f64 {
    let k = soft.nodes[node] as usize;
    if bodies.is_dynamic(k) {
        bodies.mass(k)
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use crate::model::deformable::{Deformable, Mesh, Substance};

    /// A cloth of 64² with one node pulled out of it, so that a few elements are stiffer than four
    /// thousand times its mass. It was factorised then, which took a hundred times as long.
    #[test]
    fn a_large_sheet_with_a_few_stiff_elements_is_not_factorised() {
        let substance = Substance {
            young: 2e5,
            density: 300.0,
            thickness: 0.005,
            ..Substance::default()
        };
        let cloth = Deformable::new(Mesh::<D3>::cloth([1.0, 1.0], [64, 64]), substance);
        let mut bodies = Bodies::default();
        for node in cloth.bodies("cloth").unwrap() {
            bodies.push(node, 1.0).unwrap();
        }
        let soft = Soft {
            name: "cloth".to_owned(),
            nodes: (0..bodies.len() as u32).collect(),
            elements: cloth.elements(),
            faces: Vec::new(),
            edges: Vec::new(),
            attached: Vec::new(),
            thickness: 0.005,
            is_sheet: true,
        };
        let rule = Rule {
            dt: 1.0 / 240.0,
            integrator: Integrator::Implicit,
            threads: 1,
            effort: Effort::Full,
        };
        for (pull, is_iterative) in [(0.12, true), (1.0, false)] {
            bodies.position[65 * 32 + 32].y += pull;
            let mut system = System::default();
            system.linearise(&soft, &bodies, rule).unwrap();
            assert_eq!(system.is_iterative(), is_iterative, "pulled by {pull} m");
        }
    }
}
