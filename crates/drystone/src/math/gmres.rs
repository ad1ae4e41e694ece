//! Flexible GMRES: linear systems that are not symmetric, with the help of one that is.
//!
//! To solve $K y = b$ with an operator $P \approx K^{-1}$, the method builds directions
//! $z_k = P v_k$ and orthonormal $v_{k+1}$ from $K z_k$, and takes the combination of the $z_k$
//! with the least residual $\lVert b - K y\rVert$. Because P stands on the right, the residual it
//! minimises is the true one, however inaccurate P is; P need not even be linear.
//!
//! Source: Y. Saad, *A flexible inner-outer preconditioned GMRES algorithm*, SIAM J. Sci. Comput.
//! 14 (1993).

use crate::math::algebra::Algebra;
use crate::math::algebra::Linear;

/// Room for the vectors of a solve, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Gmres<S: Algebra> {
    /// Orthonormal vectors.
    v: Vec<Vec<S::Vector>>,
    /// P applied to them.
    z: Vec<Vec<S::Vector>>,
    /// Upper triangle of the rotated Hessenberg matrix, by columns.
    r: Vec<Vec<f64>>,
}

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// Residual that is good enough, in the norm of the right-hand side.
    pub(crate) enough: f64,
    /// Most directions.
    pub(crate) most: usize,
}

impl<S: Algebra> Gmres<S> {
    /// Solves K y = b from y = 0. `precondition(v, z)` writes z = P v, `operate(z, w)` w = K z.
    /// Gives the norm of the residual.
    pub(crate) fn solve(
        &mut self,
        accuracy: Accuracy,
        b: &[S::Vector],
        y: &mut [S::Vector],
        mut precondition: impl FnMut(&[S::Vector], &mut [S::Vector]),
        mut operate: impl FnMut(&[S::Vector], &mut [S::Vector]),
    ) -> f64 {
        let nothing = S::Vector::default();
        y.fill(nothing);
        let size = norm::<S>(b);
        let is_usual = size > 0.0 && size.is_finite();
        if !is_usual || size <= accuracy.enough {
            return size;
        }
        self.make_room(b.len(), accuracy.most);
        for (v, b) in self.v[0].iter_mut().zip(b) {
            *v = *b * (1.0 / size);
        }
        // The residual's coordinates along v, rotated as the matrix is.
        let mut rest = vec![size];
        let mut rotations: Vec<(f64, f64)> = Vec::new();
        let mut used = 0;
        while used < accuracy.most {
            let k = used;
            precondition(&self.v[k], &mut self.z[k]);
            let (known, next) = self.v.split_at_mut(k + 1);
            let w = &mut next[0];
            operate(&self.z[k], w);
            let mut h = orthogonalise::<S>(known, w);
            for (j, &(c, s)) in rotations.iter().enumerate() {
                (h[j], h[j + 1]) = (c * h[j] + s * h[j + 1], c * h[j + 1] - s * h[j]);
            }
            let (diagonal, below) = (h[k], h[k + 1]);
            let length = diagonal.hypot(below);
            let is_regular = length > 0.0 && length.is_finite();
            if !is_regular {
                break;
            }
            let (c, s) = (diagonal / length, below / length);
            rotations.push((c, s));
            h[k] = length;
            self.r[k] = h;
            rest.push(-s * rest[k]);
            rest[k] *= c;
            used += 1;
            let left = rest[used].abs();
            if left <= accuracy.enough || below <= 1e-14 * length {
                break;
            }
            for w in &mut *w {
                *w = *w * (1.0 / below);
            }
        }
        self.combine(&rest[..used], y);
        rest[used].abs()
    }

    fn make_room(&mut self, length: usize, most: usize) {
        self.v.resize_with(most + 1, Vec::new);
        self.z.resize_with(most, Vec::new);
        self.r.resize_with(most, Vec::new);
        for vector in self.v.iter_mut().chain(&mut self.z) {
            vector.resize(length, S::Vector::default());
        }
    }

    /// y = Σ cₖ zₖ with R c = rest.
    fn combine(&self, rest: &[f64], y: &mut [S::Vector]) {
        let mut c = rest.to_vec();
        for k in (0..c.len()).rev() {
            let known: f64 = (k + 1..c.len()).map(|j| self.r[j][k] * c[j]).sum();
            c[k] = (c[k] - known) / self.r[k][k];
        }
        for (c, z) in c.iter().zip(&self.z) {
            for (y, z) in y.iter_mut().zip(z) {
                *y += *z * *c;
            }
        }
    }
}

/// Takes the parts along `known` off w; gives them, and the length of what is left.
///
/// Once, not twice: the few directions of a well-preconditioned system stay orthogonal enough.
fn orthogonalise<S: Algebra>(known: &[Vec<S::Vector>], w: &mut [S::Vector]) -> Vec<f64> {
    let mut h = Vec::with_capacity(known.len() + 1);
    for v in known {
        let along: f64 = v.iter().zip(&*w).map(|(v, w)| v.dot(*w)).sum();
        for (w, v) in w.iter_mut().zip(v) {
            *w -= *v * along;
        }
        h.push(along);
    }
    h.push(norm::<S>(w));
    h
}

fn norm<S: Algebra>(v: &[S::Vector]) -> f64 {
    v.iter().map(|v| v.dot(*v)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D2;
    use glamx::DVec2;

    #[test]
    fn a_system_that_is_not_symmetric_is_solved() {
        // K = I + a cyclic shift by one contact, turned by a right angle.
        let operate = |z: &[DVec2], w: &mut [DVec2]| {
            for k in 0..z.len() {
                w[k] = z[k] + z[(k + 1) % z.len()].perp() * 0.5;
            }
        };
        let b: Vec<DVec2> = (0..7).map(|k| DVec2::new(f64::from(k), 1.0)).collect();
        let mut y = vec![DVec2::ZERO; 7];
        let accuracy = Accuracy {
            enough: 1e-11,
            most: 14,
        };
        let mut gmres = Gmres::<D2>::default();
        let same = |v: &[DVec2], z: &mut [DVec2]| z.copy_from_slice(v);
        let left = gmres.solve(accuracy, &b, &mut y, same, operate);
        assert!(left < 1e-11);
        let mut again = vec![DVec2::ZERO; 7];
        operate(&y, &mut again);
        for (again, b) in again.iter().zip(&b) {
            assert!((*again - *b).length() < 1e-10);
        }
    }
}
