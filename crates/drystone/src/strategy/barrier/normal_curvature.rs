//! Curvature of the distance of two primitives as their normal turns.
//!
//! The nearest points are those of weights that minimise the square of their difference
//! $r = \sum_i c_i x_i$. Where p parameters are free to slide (two inside a face or two edges, one
//! along an edge, none at a corner), with $c'_p$ the change of weights and $r_p = \sum_i c'_{pi} x_i$
//! along them, and $G_{pq} = r_p\cdot r_q$, the distance D = |r| has the curvature
//!
//! $$ \nabla^2 D = \frac1D\Bigl(c\,c^T\otimes 1 - \sum_{pq} F_p\,G^{-1}_{pq} F_q^T
//!    - (c\otimes n)(c\otimes n)^T\Bigr), \qquad F_p = c'_p\otimes r + c\otimes r_p . $$
//!
//! A barrier pushes with f = −b′ > 0 and adds −f ∇²D. Its positive part resists motion that turns
//! the normal into the other side; Newton's method without it runs into surfaces it slides along.

use super::contact_terms::Touch;
use super::potential::{Potential, State};
use crate::contact::primitives::Encounter;
use crate::geometry::Space;
use crate::math::eigen::project;
use glamx::DVec3;

/// Most numbers of a contact's vertices: four in space.
const MOST: usize = 12;
/// Area over squared sides below which nearest points are not told well enough.
const SLIVER: f64 = 1e-8;

/// A positive semidefinite matrix over some vertices' places, N/m, row after row.
#[derive(Clone, Debug)]
pub(super) struct Turning {
    pub(super) vertices: Vec<u32>,
    matrix: [f64; MOST * MOST],
}

impl Turning {
    /// What moving vertex `j` (by its place in the list) along a vector does to vertex `i`.
    pub(super) fn answer(&self, i: usize, j: usize, along: DVec3) -> DVec3 {
        let n = 3 * self.vertices.len();
        let row = |axis: usize| {
            let at = (3 * i + axis) * n + 3 * j;
            DVec3::new(self.matrix[at], self.matrix[at + 1], self.matrix[at + 2]).dot(along)
        };
        DVec3::new(row(0), row(1), row(2))
    }
}

impl<S: Space> Potential<'_, S> {
    /// The positive part of −f ∇²D of a contact that pushes with f newtons; none at corners.
    pub(super) fn turning(&self, touch: &Touch, state: &State<S>, force: f64) -> Option<Turning> {
        let Encounter::Pair(pair) = &touch.encounter else {
            return None;
        };
        let mut vertices: Vec<u32> = Vec::with_capacity(4);
        let mut weights: Vec<f64> = Vec::with_capacity(4);
        let mut slides: Vec<(usize, usize, f64)> = Vec::with_capacity(2);
        let sides = pair.vertices().into_iter().zip(touch.witness.weights);
        for ((side, of_side), sign) in sides.zip([-1.0, 1.0]) {
            let first = vertices.len();
            for (&v, weight) in side.iter().zip(of_side).filter(|(_, w)| *w > 0.0) {
                if vertices.len() > first {
                    slides.push((first, vertices.len(), sign));
                }
                vertices.push(v);
                weights.push(sign * weight);
            }
        }
        let place = |i: usize| DVec3::from_array(state.places[vertices[i] as usize]);
        let along: Vec<DVec3> = slides
            .iter()
            .map(|&(from, to, sign)| (place(to) - place(from)) * sign)
            .collect();
        let inverse = inverse_gram(&along)?;
        let distance = touch.witness.distance + self.primitives.thickness(&touch.encounter);
        let normal = touch.witness.normal;
        // F_p of each vertex.
        let lever = |p: usize, i: usize| {
            let (from, to, sign) = slides[p];
            let change = f64::from(u8::from(i == to)) - f64::from(u8::from(i == from));
            normal * (distance * sign * change) + along[p] * weights[i]
        };
        let n = 3 * vertices.len();
        let mut matrix = [0.0; MOST * MOST];
        for i in 0..vertices.len() {
            for j in 0..vertices.len() {
                let both = weights[i] * weights[j];
                for (a, row) in (3 * i..3 * i + 3).enumerate() {
                    for (b, column) in (3 * j..3 * j + 3).enumerate() {
                        let mut sum = both * normal[a] * normal[b];
                        sum -= if a == b { both } else { 0.0 };
                        for (p, of_p) in inverse.iter().enumerate().take(slides.len()) {
                            for (q, of_pq) in of_p.iter().enumerate().take(slides.len()) {
                                sum += lever(p, i)[a] * of_pq * lever(q, j)[b];
                            }
                        }
                        matrix[row * n + column] = sum * force / distance;
                    }
                }
            }
        }
        project(&mut matrix[..n * n], n);
        Some(Turning { vertices, matrix })
    }
}

/// The inverse of G; `None` without parameters or where it can't be told.
fn inverse_gram(along: &[DVec3]) -> Option<[[f64; 2]; 2]> {
    match *along {
        [u] => {
            let square = u.length_squared();
            (square > 0.0).then(|| [[1.0 / square, 0.0], [0.0, 0.0]])
        }
        [u, v] => {
            let (a, b, c) = (u.length_squared(), u.dot(v), v.length_squared());
            let determinant = a * c - b * b;
            let is_told = determinant > SLIVER * a * c;
            is_told.then(|| [[c, -b], [-b, a]].map(|row| row.map(|x| x / determinant)))
        }
        _ => None,
    }
}
