//! Resistance to bending, of ropes and of cloth.
//!
//! Both are flat at rest and bend far more easily than they stretch, so their curvature is
//! linear in the nodes' positions, $\kappa = \sum_i w_i x_i$ with $\sum w_i = 0$, and the energy is
//! quadratic,
//!
//! $$ E = \tfrac k2 \Bigl\lVert\sum_i w_i x_i\Bigr\rVert^2, \qquad
//!    \nabla_{x_i} E = k w_i \sum_j w_j x_j, \qquad K_{ij} = k w_i w_j I : $$
//!
//! invariant under motions, never indefinite, with a stiffness that does not change.
//!
//! * **Rope**: three nodes in a row, spans a and b: with $\ell = (a+b)/2$ the curvature vector is
//!   $((x_2-x_1)/b - (x_1-x_0)/a)/\ell$ and its share of the length is ℓ; k = E I ℓ, with I the
//!   second moment of the section (m⁴; in the plane thickness³/12 m³).
//! * **Cloth**: two faces that share an edge. The weights are sums of cotangents of the angles at
//!   the edge's ends (Bergou and others, "A quadratic bending model for inextensible surfaces",
//!   2006), and $k = D/(A_0 + A_1)$ with the plate's rigidity $D = E t^3/(12(1-\nu^2))$ N·m and
//!   the areas of the faces. That is exact for bends along the axes of a rectangular grid; bends
//!   across are up to half as stiff again, as hinges know no other directions than their edges'.

use super::element::Local;
use serde::{Deserialize, Serialize};

/// A bending element of three or four nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bending {
    nodes: [u32; 4],
    count: u8,
    weights: [f64; 4],
    stiffness: f64,
    /// Damping over stiffness, s.
    damping: f64,
}

impl Bending {
    /// Three nodes of a rope with `spans` (m) between them and bending stiffness E I.
    pub(crate) fn of_rope(nodes: [u32; 3], [a, b]: [f64; 2], rigidity: f64, damping: f64) -> Self {
        let middle = 0.5 * (a + b);
        let (first, last) = (1.0 / (a * middle), 1.0 / (b * middle));
        Self {
            nodes: [nodes[0], nodes[1], nodes[2], 0],
            count: 3,
            weights: [first, -first - last, last, 0.0],
            stiffness: rigidity * middle,
            damping,
        }
    }

    /// Two faces at rest that share the edge of `nodes[0]` and `nodes[1]`; the others are the
    /// corners across. `rest` are the four corners' places, padded with zeros in the plane.
    pub(crate) fn of_faces(
        nodes: [u32; 4],
        rest: [[f64; 3]; 4],
        rigidity: f64,
        damping: f64,
    ) -> Self {
        let [x0, x1, x2, x3] = rest;
        // Cotangent of the angle at `at` between `p` and `q`, and twice the area they span.
        let angle = |at: [f64; 3], p: [f64; 3], q: [f64; 3]| {
            let (u, v) = (minus(p, at), minus(q, at));
            let twice_area = length(cross(u, v));
            (dot(u, v) / twice_area, twice_area)
        };
        let (c02, area0) = angle(x0, x1, x2);
        let (c03, area1) = angle(x0, x1, x3);
        let (c12, _) = angle(x1, x0, x2);
        let (c13, _) = angle(x1, x0, x3);
        Self {
            nodes,
            count: 4,
            weights: [c12 + c13, c02 + c03, -(c02 + c12), -(c03 + c13)],
            stiffness: rigidity / (0.5 * (area0 + area1)),
            damping,
        }
    }

    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes[..usize::from(self.count)]
    }

    /// What stands before the unit matrix in the block of two of its nodes: stiffness in N/m,
    /// damping in N·s/m.
    pub(crate) fn between(&self, i: usize, j: usize) -> [f64; 2] {
        let stiffness = self.stiffness * self.weights[i] * self.weights[j];
        [stiffness, self.damping * stiffness]
    }

    /// Σ w x, 1/m times the share of area or length.
    fn curvature(&self, dim: usize, x: &[f64]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (node, weight) in self.weights[..usize::from(self.count)].iter().enumerate() {
            for axis in 0..dim {
                sum[axis] += weight * x[node * dim + axis];
            }
        }
        sum
    }

    pub(crate) fn energy(&self, dim: usize, x: &[f64]) -> f64 {
        let bend = self.curvature(dim, x);
        0.5 * self.stiffness * dot(bend, bend)
    }

    pub(crate) fn linearise(&self, dim: usize, x: &[f64], out: &mut Local) {
        let bend = self.curvature(dim, x);
        let count = usize::from(self.count);
        let n = count * dim;
        for i in 0..count {
            for (axis, part) in bend[..dim].iter().enumerate() {
                out.gradient[i * dim + axis] = self.stiffness * self.weights[i] * part;
            }
            for j in 0..count {
                let value = self.stiffness * self.weights[i] * self.weights[j];
                for axis in 0..dim {
                    let at = (i * dim + axis) * n + j * dim + axis;
                    out.stiffness[at] = value;
                    out.damping[at] = self.damping * value;
                }
            }
        }
    }
}

pub(crate) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}
