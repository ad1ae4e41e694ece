//! Elements: what stores elastic energy between nodes.
//!
//! An element with nodes at x has an energy $E(x)$, the force $-\nabla E$, and the stiffness
//! $K = \nabla^2 E$. The implicit step needs K without its negative eigenvalues (an element that
//! is pressed would otherwise make the system indefinite), so each element can project it. All
//! elements work on flat numbers, node after node, so that one source serves the plane and space.

use super::bending::Bending;
use super::simplex::Simplex;
use super::spring::Spring;
use super::triangle::{AtRest, Sheet};
use serde::{Deserialize, Serialize};

/// Most unknowns of an element: four nodes in space.
pub(crate) const MOST: usize = 12;

/// A square matrix of an element, row after row, `n × n` numbers of it used.
pub(crate) type Block = [f64; MOST * MOST];

/// An element's energy near a state, to second order.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// ∇E in N.
    pub(crate) gradient: [f64; MOST],
    /// ∇²E in N/m.
    pub(crate) stiffness: Block,
    /// Damping matrix in N·s/m.
    pub(crate) damping: Block,
}

impl Local {
    pub(crate) fn zero() -> Self {
        Self {
            gradient: [0.0; MOST],
            stiffness: [0.0; MOST * MOST],
            damping: [0.0; MOST * MOST],
        }
    }

    /// All numbers that an element of `n` unknowns uses set to zero.
    pub(crate) fn clear(&mut self, n: usize) {
        self.gradient[..n].fill(0.0);
        self.stiffness[..n * n].fill(0.0);
        self.damping[..n * n].fill(0.0);
    }
}

/// Whether the stiffness is that of the energy, or without its negative eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curvature {
    /// As it is.
    #[cfg_attr(not(test), allow(dead_code))]
    Exact,
    /// Positive semidefinite.
    Projected,
}

/// An element of a deformable; nodes are numbered within it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Element {
    Spring(Spring),
    Bending(Bending),
    Simplex(Simplex),
}

impl Element {
    /// Its nodes.
    pub(crate) fn nodes(&self) -> &[u32] {
        match self {
            Self::Spring(spring) => &spring.nodes,
            Self::Bending(bending) => bending.nodes(),
            Self::Simplex(simplex) => simplex.nodes(),
        }
    }

    /// Its energy in J with nodes at `x`, m.
    pub(crate) fn energy(&self, dim: usize, x: &[f64]) -> f64 {
        match self {
            Self::Spring(spring) => spring.energy(dim, x),
            Self::Bending(bending) => bending.energy(dim, x),
            Self::Simplex(simplex) => simplex.energy(dim, x),
        }
    }

    /// What a membrane in space with corners at these places does, and its damping over stiffness
    /// (s); `None` for anything else.
    pub(crate) fn membrane(&self, x: [[f64; 3]; 3]) -> Option<(Sheet, f64)> {
        match self {
            Self::Simplex(simplex) => simplex.membrane(x),
            _ => None,
        }
    }

    /// What does not change of a membrane; `None` for anything else.
    pub(crate) fn at_rest(&self) -> Option<AtRest> {
        match self {
            Self::Simplex(simplex) => simplex.at_rest(),
            _ => None,
        }
    }

    /// Its energy near `x` to second order.
    pub(crate) fn linearise(&self, dim: usize, x: &[f64], curvature: Curvature, out: &mut Local) {
        out.clear(self.nodes().len() * dim);
        match self {
            Self::Spring(spring) => spring.linearise(dim, x, curvature, out),
            Self::Bending(bending) => bending.linearise(dim, x, out),
            Self::Simplex(simplex) => simplex.linearise(dim, x, curvature, out),
        }
    }
}
