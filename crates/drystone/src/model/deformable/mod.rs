//! Deformables: ropes, cloth and solids that bend, stretch and touch.
//!
//! A deformable is a set of **nodes**, which are [particles](crate::Kind::Particle) of the world
//! (balls of half the thickness, so they touch everything that a ball touches), and **elements**
//! that store energy between them: springs, bending ([`Cells::Segments`], cloth), membranes
//! and solids. [`World::add_deformable`](crate::World::add_deformable) adds one.
//!
//! # The step
//!
//! With the nodes' masses M (lumped), elastic forces f, stiffness K (projected to be positive
//! semidefinite) and damping D at the start of the step, and velocities v\* after all other forces,
//! implicit Euler linearised once asks for
//!
//! $$ H v^+ = M v^* + h f + J^T\gamma, \qquad H = M + hD + h^2K . $$
//!
//! Without contact that is one sparse factorisation ([`crate::dynamics::elastic::implicit_euler`]); each deformable has its own, so
//! one does not change the bits of another. A factorisation's cost does not depend on how stiff
//! the material is, momentum is kept to rounding, and the pattern is analysed once. From a thousand
//! nodes on, and where it is not too stiff, conjugate gradients ([`crate::dynamics::elastic::conjugate_gradients`]) are faster, because
//! a factor of that size does not fit the caches. With contact, γ has to be found with H in the
//! place of the masses: [`crate::dynamics::elastic::contact_coupling`].
//!
//! [`Integrator::Symplectic`] instead gives the nodes $v^* + hM^{-1}(f - Dv)$, as the lecture notes
//! do; it is stable only for $h < 2/\omega$ of the stiffest spring.

pub(crate) mod attachment;
pub(crate) mod bending;
pub(crate) mod element;
pub(crate) mod element_graph;
#[cfg(test)]
pub(crate) mod element_tests;
pub(crate) mod mesh;
pub(crate) mod simplex;
pub(crate) mod spring;
pub(crate) mod store;
pub(crate) mod tetrahedron;
pub(crate) mod triangle;

pub use mesh::{Cells, Mesh};
pub use store::DeformableId;
pub(crate) use store::{Deformables, Soft};

use crate::geometry::Space;
use crate::geometry::shape::ShapeError;
use crate::model::body::{BodyError, BodyId, Push};
use crate::model::material::MaterialId;
use crate::model::script::Script;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest thickness as a part of the shortest edge: across a square cut in two, a node is 0.71 of
/// the square's side away from the other half.
const MOST_THICKNESS: f64 = 0.7;

/// How elastic forces are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// Implicit Euler, linearised once a step: stable for any stiffness, loses energy.
    #[default]
    Implicit,
    /// Symplectic Euler: keeps energy, explodes where a step is too long for the stiffness.
    Symplectic,
}

/// What resists deformation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Membranes and solids by the laws of elasticity.
    #[default]
    Continuum,
    /// Springs along all edges, and across the edges that two faces share.
    Springs,
}

/// What a deformable is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Substance {
    /// Young's modulus in Pa (2D: N/m).
    pub young: f64,
    /// Poisson's ratio, 0 to less than ½.
    pub poisson: f64,
    /// Mass per volume in kg/m³ (2D: per area, kg/m²).
    pub density: f64,
    /// Thickness of cloth, diameter of a rope, and in all cases the diameter of a node, m.
    pub thickness: f64,
    /// Damping over stiffness in s (Rayleigh's β): a vibration of ω rad/s has the damping ratio
    /// ½βω.
    pub damping: f64,
    /// Stiffness against bending over that of a solid plate or rod of this thickness: 1, or far
    /// less for what is woven.
    pub bending: f64,
}

impl Default for Substance {
    /// Something like rubber foam, a centimetre thick.
    fn default() -> Self {
        Self {
            young: 1e5,
            poisson: 0.3,
            density: 1000.0,
            thickness: 0.01,
            damping: 1e-3,
            bending: 1.0,
        }
    }
}

impl Substance {
    /// Lamé's μ and λ of something that may thin as it is stretched (`is_sheet`), or of a solid.
    pub(crate) fn lame(&self, is_sheet: bool) -> (f64, f64) {
        let (e, nu) = (self.young, self.poisson);
        let mu = e / (2.0 * (1.0 + nu));
        let lambda = if is_sheet {
            e * nu / (1.0 - nu * nu)
        } else {
            e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
        };
        (mu, lambda)
    }

    fn check(&self) -> Result<(), DeformError> {
        let positive = "a finite number greater than 0";
        for (field, value, fits, expected) in [
            ("young (Pa)", self.young, self.young > 0.0, positive),
            (
                "poisson",
                self.poisson,
                (0.0..0.5).contains(&self.poisson),
                "0 or more and less than 0.5",
            ),
            (
                "density (kg/m³)",
                self.density,
                self.density > 0.0,
                positive,
            ),
            (
                "thickness (m)",
                self.thickness,
                self.thickness > 0.0,
                positive,
            ),
            (
                "damping (s)",
                self.damping,
                self.damping >= 0.0,
                "a finite number, 0 or more",
            ),
            (
                "bending",
                self.bending,
                self.bending >= 0.0,
                "a finite number, 0 or more",
            ),
        ] {
            if !(fits && value.is_finite()) {
                return Err(DeformError::Substance {
                    field,
                    expected,
                    value,
                });
            }
        }
        Ok(())
    }
}

/// The description of a deformable.
#[derive(Clone, Debug)]
pub struct Deformable<S: Space> {
    /// Unique among deformables; its nodes are called "name/0", "name/1" and so on. `None` becomes
    /// "deformable N".
    pub name: Option<String>,
    /// Its shape at rest, where it starts.
    pub mesh: Mesh<S>,
    /// What it is made of.
    pub substance: Substance,
    /// What resists deformation.
    pub model: Model,
    /// What its surface is made of.
    pub material: MaterialId,
    /// Velocity of all its nodes at the start, m/s.
    pub velocity: S::Vector,
    /// Rate at which nodes' velocities decay, 1/s: air.
    pub linear_damping: f64,
    /// Nodes that never move.
    pub pinned: Vec<u32>,
    /// Nodes that follow a script.
    pub held: Vec<(u32, Script<S>)>,
    /// Nodes that are fixed to bodies of the world where they start, and the bodies. One body a
    /// node; they do not touch it.
    pub attached: Vec<(u32, BodyId)>,
    /// A standing force on the whole, shared among free nodes by mass, N: wind.
    pub push: Push<S>,
}

impl<S: Space> Deformable<S> {
    /// A deformable of a mesh and a substance, free, at rest.
    #[must_use]
    pub fn new(mesh: Mesh<S>, substance: Substance) -> Self {
        Self {
            name: None,
            mesh,
            substance,
            model: Model::default(),
            material: MaterialId::default(),
            velocity: S::Vector::default(),
            linear_damping: 0.0,
            pinned: Vec::new(),
            held: Vec::new(),
            attached: Vec::new(),
            push: Push::default(),
        }
    }

    /// Named.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// With nodes that never move.
    #[must_use]
    pub fn pinned(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.pinned.extend(nodes);
        self
    }

    /// Whether everything can be used.
    pub fn check(&self) -> Result<(), DeformError> {
        self.substance.check()?;
        self.mesh.check()?;
        let count = self.mesh.vertices.len();
        let held = self.held.iter().map(|(node, _)| *node);
        let held = held.chain(self.attached.iter().map(|(node, _)| *node));
        if let Some(node) = self
            .pinned
            .iter()
            .copied()
            .chain(held)
            .find(|&n| n as usize >= count)
        {
            return Err(DeformError::NoNode { node, count });
        }
        let shortest = self
            .mesh
            .edges()
            .iter()
            .map(|&[a, b]| crate::math::algebra::Linear::length(self.mesh.at(a) - self.mesh.at(b)))
            .fold(f64::INFINITY, f64::min);
        if self.substance.thickness >= MOST_THICKNESS * shortest {
            return Err(DeformError::Thickness {
                thickness: self.substance.thickness,
                shortest,
            });
        }
        Ok(())
    }
}

/// Why a deformable can't be added.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DeformError {
    /// A vertex that is not a place.
    #[error("vertex {vertex} is not made of finite numbers")]
    NotFinite {
        /// Which.
        vertex: usize,
    },
    /// Two vertices at one place.
    #[error("vertices {first} and {vertex} are at the same place; merge them")]
    Duplicate {
        /// The first.
        first: usize,
        /// The second.
        vertex: usize,
    },
    /// A vertex that no cell has.
    #[error("vertex {vertex} belongs to no cell; remove it")]
    Unused {
        /// Which.
        vertex: usize,
    },
    /// A cell that names a vertex that is not there.
    #[error("cell {cell} names vertex {vertex}, but there are {count}")]
    NoVertex {
        /// Which cell.
        cell: usize,
        /// Which vertex.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A cell without length, area or volume.
    #[error("cell {cell} has no length, area or volume to speak of")]
    Degenerate {
        /// Which.
        cell: usize,
    },
    /// A cell inside out.
    #[error("cell {cell} is inside out: swap two of its corners")]
    Inverted {
        /// Which.
        cell: usize,
    },
    /// A pinned or held node that is not there.
    #[error("node {node} can't be held: there are {count} nodes, counted from 0")]
    NoNode {
        /// Which.
        node: u32,
        /// How many there are.
        count: usize,
    },
    /// A node that is fixed to a body that is not there, or is a node itself.
    #[error("node {node} can't be attached: its body is not in this world, or is a node itself")]
    NoBody {
        /// Which node.
        node: u32,
    },
    /// A node that is fixed to two bodies.
    #[error("node {node} is attached to two bodies; one is enough")]
    Twice {
        /// Which node.
        node: u32,
    },
    /// Neighbours that would touch at rest.
    #[error(
        "thickness ({thickness} m) must be less than 0.7 of the shortest edge ({shortest} m), so that \
         neighbours do not touch"
    )]
    Thickness {
        /// What was given, m.
        thickness: f64,
        /// The shortest edge, m.
        shortest: f64,
    },
    /// A number that no substance has.
    #[error("{field} must be {expected}, not {value}")]
    Substance {
        /// Which.
        field: &'static str,
        /// What would be right.
        expected: &'static str,
        /// What was given.
        value: f64,
    },
    /// A name that another deformable or body has.
    #[error("the name `{0}` is taken; names must differ")]
    Name(String),
    /// A node that can't be added.
    #[error("node: {0}")]
    Body(#[from] BodyError),
    /// A node's shape that can't be made.
    #[error("node: {0}")]
    Shape(#[from] ShapeError),
}
