//! Exact answers: do two primitives touch between t = 0 and t = 1?
//!
//! They touch when the origin is in the hull of their corner differences. A triangle with
//! corners w_i(t) holds the origin if det(w_0, w_1, w_2) = 0 and the areas w_j × w_k, which add
//! up to its normal, do not point against the normal; a triangle without a normal is a segment,
//! which holds the origin if its ends are opposite. All of these are signs of polynomials in t,
//! which can only change at roots: they are asked at every root, in exact arithmetic. A parallelogram is two triangles, segments and points are flat triangles.

use num_rational::BigRational;
use num_traits::Zero;

use super::polynomial::{Polynomial, Root};

type Vector = [Polynomial; 3];

/// Moving points.
pub(crate) struct Points {
    pub(crate) start: Vec<[f64; 3]>,
    pub(crate) end: Vec<[f64; 3]>,
}

impl Points {
    /// The points times a number.
    pub(crate) fn scaled(&self, by: f64) -> Self {
        let scaled = |list: &Vec<[f64; 3]>| list.iter().map(|p| p.map(|x| x * by)).collect();
        Self {
            start: scaled(&self.start),
            end: scaled(&self.end),
        }
    }

    /// Point `to` as seen from point `from`.
    fn between(&self, from: usize, to: usize) -> Vector {
        let exact = |x: f64| BigRational::from_float(x).expect("finite");
        std::array::from_fn(|axis| {
            let at_start = exact(self.start[to][axis]) - exact(self.start[from][axis]);
            let at_end = exact(self.end[to][axis]) - exact(self.end[from][axis]);
            Polynomial::new(vec![at_start.clone(), at_end - at_start])
        })
    }

    /// Whether point 0 meets the triangle of points 1 to 3.
    pub(crate) fn vertex_meets_face(&self) -> bool {
        meets([self.between(0, 1), self.between(0, 2), self.between(0, 3)])
    }

    /// Whether the edge of points 0 and 1 meets that of points 2 and 3.
    pub(crate) fn edges_meet(&self) -> bool {
        let near = self.between(0, 2);
        let far = self.between(1, 3);
        meets([near.clone(), self.between(1, 2), far.clone()])
            || meets([near, far, self.between(0, 3)])
    }

    /// Whether point 0 meets the edge of points 1 and 2.
    pub(crate) fn point_meets_edge(&self) -> bool {
        meets([self.between(0, 1), self.between(0, 2), self.between(0, 2)])
    }

    /// Whether point 0 meets point 1.
    pub(crate) fn points_meet(&self) -> bool {
        meets([self.between(0, 1), self.between(0, 1), self.between(0, 1)])
    }
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|axis| {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        a[i].times(&b[j]).add(&a[j].times(&b[i]), -1)
    })
}

fn dot(a: &Vector, b: &Vector) -> Polynomial {
    let zero = Polynomial::new(Vec::new());
    (0..3).fold(zero, |sum, axis| sum.add(&a[axis].times(&b[axis]), 1))
}

fn meets(w: [Vector; 3]) -> bool {
    let areas: [Vector; 3] = std::array::from_fn(|k| cross(&w[(k + 1) % 3], &w[(k + 2) % 3]));
    let dots: [Polynomial; 3] = std::array::from_fn(|k| dot(&w[(k + 1) % 3], &w[(k + 2) % 3]));
    let normal: Vector = std::array::from_fn(|axis| {
        areas[0][axis]
            .add(&areas[1][axis], 1)
            .add(&areas[2][axis], 1)
    });
    let volume = dot(&w[0], &areas[0]);
    let mut times: Vec<Root> = volume.roots();
    if volume.is_zero() {
        // Always in one plane. The times of touch are a closed set, so its first one is 0 or
        // where some sign changes.
        times.push(Root::at(BigRational::zero()));
        let signs = areas.iter().flatten().chain(&dots).chain(&normal);
        times.extend(signs.flat_map(Polynomial::roots));
    }
    times
        .iter()
        .any(|t| holds_origin(t, &areas, &dots, &normal))
}

/// Whether a triangle in a plane with the origin holds it.
fn holds_origin(t: &Root, areas: &[Vector; 3], dots: &[Polynomial; 3], normal: &Vector) -> bool {
    let facing = (0..3).find_map(|axis| match t.sign(&normal[axis]) {
        0 => None,
        sign => Some((axis, sign)),
    });
    match facing {
        Some((axis, sign)) => areas.iter().all(|area| t.sign(&area[axis]) * sign >= 0),
        None => (0..3).any(|side| {
            t.sign(&dots[side]) <= 0 && areas[side].iter().all(|area| t.sign(area) == 0)
        }),
    }
}
