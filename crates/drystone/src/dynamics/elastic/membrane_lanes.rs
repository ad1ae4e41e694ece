//! Forces and stiffness of cloth triangles, four in SIMD lanes.
//!
//! The law is that of [`crate::model::deformable::triangle`]. With $F = \sum_i x_i g_i^T$ and $\sum_i g_i = 0$, the
//! force of a triangle on its corner i is
//!
//! $$ f_i = -V F S g_i = -\sum_{j\ne i} (V\,g_i^T S\,g_j)\,(x_j - x_i) , $$
//!
//! as if a spring of no length and of **tension** $V g_i^T S g_j$ (N/m, negative where it pulls)
//! joined each pair of corners. The block of two corners is
//!
//! $$ K_{ij} = F A_{ij} F^T + (V g_i^T S^+ g_j)\, I, \qquad A_{ij} = V\begin{pmatrix}
//!    (2\mu+\lambda)\,ac + \mu\,bd & \lambda\,ad + \mu\,bc \\
//!    \lambda\,bc + \mu\,ad & (2\mu+\lambda)\,bd + \mu\,ac \end{pmatrix} , $$
//!
//! with $g_i = (a, b)$, $g_j = (c, d)$ and $S^+$ the stress without compression. Everything but F
//! and S stays as it is at rest. So a step works F, S and $S^+$ out, triangle by triangle, and then
//! sums them up link by link: a link lies in one or two triangles, and each block is written once.
//! Blocks of a node with itself are not asked for, because those of a row add up to nothing.
//!
//! What does not fit (a third triangle at an edge, another material) is left to others.

// `dispatch!` gives every kernel a space, asked for or not.
#![allow(clippy::extra_unused_type_parameters)]

use super::block_rows::Block3;
use crate::math::algebra::Algebra;
use crate::math::simd::{DOUBLES, Number, Quad, Wide, dispatch};
use crate::model::deformable::triangle::AtRest;
use crate::parallel::shared_slice::SharedSlice;
use std::ops::Range;

/// No triangle.
const NONE: u32 = u32::MAX;

/// Triangles of the same material whose links are known.
#[derive(Debug, Default)]
pub(crate) struct Membranes {
    /// μ and λ in Pa, and damping over stiffness in s.
    law: [f64; 3],
    fours: Vec<FourTriangles>,
    links: Vec<FourLinks>,
}

/// Four triangles side by side.
#[derive(Clone, Copy, Debug, Default)]
struct FourTriangles {
    corners: [[u32; DOUBLES]; 3],
    /// g of the second and the third corner, 1/m.
    gradients: [[Quad; 2]; 2],
}

/// Four links side by side, each between two triangles.
#[derive(Clone, Copy, Debug, Default)]
struct FourLinks {
    triangles: [[u32; DOUBLES]; 2],
    /// V times ac, bd, ad and bc in m, nothing where there is no triangle.
    weights: [[Quad; 4]; 2],
}

/// The columns of F, then S and S⁺ (xx, yy, xy) in Pa: twelve numbers.
pub(crate) type State = [Quad; 3];

/// Triangles by their links, before four of them are put side by side.
#[derive(Debug)]
pub(crate) struct Builder {
    law: Option<[f64; 3]>,
    triangles: Vec<AtRest>,
    sides: Vec<[(u32, [f64; 4]); 2]>,
}

impl Builder {
    /// Nothing yet on so many links.
    pub(crate) fn new(links: usize) -> Self {
        Self {
            law: None,
            triangles: Vec::new(),
            sides: vec![[(NONE, [0.0; 4]); 2]; links],
        }
    }

    /// Takes a triangle in, whose corners 0 and 1, 0 and 2, 1 and 2 have these links. `false` if
    /// it does not fit.
    pub(crate) fn take(&mut self, triangle: AtRest, links: [u32; 3]) -> bool {
        let is_full = |&link: &u32| self.sides[link as usize][1].0 != NONE;
        if *self.law.get_or_insert(triangle.law) != triangle.law || links.iter().any(is_full) {
            return false;
        }
        for (link, [i, j]) in links.into_iter().zip([[0, 1], [0, 2], [1, 2]]) {
            let is_turned = triangle.corners[i] > triangle.corners[j];
            let [i, j] = if is_turned { [j, i] } else { [i, j] };
            let ([a, b], [c, d]) = (triangle.gradients[i], triangle.gradients[j]);
            let weights = [a * c, b * d, a * d, b * c].map(|x| triangle.volume * x);
            let sides = &mut self.sides[link as usize];
            let side = usize::from(sides[0].0 != NONE);
            sides[side] = (self.triangles.len() as u32, weights);
        }
        self.triangles.push(triangle);
        true
    }

    pub(crate) fn finish(self) -> Membranes {
        let Some(law) = self.law.filter(|_| !self.triangles.is_empty()) else {
            return Membranes::default();
        };
        let four_triangles = |four: &[AtRest]| {
            let mut all = FourTriangles::default();
            for lane in 0..DOUBLES {
                // The last one stands for missing ones.
                let one = &four[lane.min(four.len() - 1)];
                for k in 0..3 {
                    all.corners[k][lane] = one.corners[k];
                }
                for (of_corner, gradient) in all.gradients.iter_mut().zip(&one.gradients[1..]) {
                    (of_corner[0].0[lane], of_corner[1].0[lane]) = (gradient[0], gradient[1]);
                }
            }
            all
        };
        let four_links = |four: &[[(u32, [f64; 4]); 2]]| {
            let mut all = FourLinks::default();
            for (lane, sides) in four.iter().enumerate() {
                for (side, (triangle, weights)) in sides.iter().enumerate() {
                    all.triangles[side][lane] = if *triangle == NONE { 0 } else { *triangle };
                    for (of_weight, weight) in all.weights[side].iter_mut().zip(weights) {
                        of_weight.0[lane] = *weight;
                    }
                }
            }
            all
        };
        Membranes {
            law,
            fours: self.triangles.chunks(DOUBLES).map(four_triangles).collect(),
            links: self.sides.chunks(DOUBLES).map(four_links).collect(),
        }
    }
}

impl Membranes {
    /// Fours of triangles.
    pub(crate) fn len(&self) -> usize {
        self.fours.len()
    }

    /// What stiffness is multiplied by in dt D + `share` K.
    fn scale(&self, [dt, share]: [f64; 2]) -> f64 {
        dt * self.law[2] + share
    }
}

// Below, arrays of lanes are written out and not mapped: what the library compiles knows nothing of
// the lanes' instructions.

type Three<N> = [N; 3];

#[inline(always)]
fn dot<N: Number>(a: Three<N>, b: Three<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn sub<N: Number>(a: Three<N>, b: Three<N>) -> Three<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// x a + y b.
#[inline(always)]
fn mix<N: Number>(x: N, a: Three<N>, y: N, b: Three<N>) -> Three<N> {
    [
        x * a[0] + y * b[0],
        x * a[1] + y * b[1],
        x * a[2] + y * b[2],
    ]
}

/// Where four nodes are.
#[inline(always)]
fn gather<N: Number<Stored = Quad>>(places: &[[f64; 3]], nodes: [u32; DOUBLES]) -> Three<N> {
    let mut quads = [Quad::default(); 3];
    for (lane, node) in nodes.into_iter().enumerate() {
        let at = &places[node as usize];
        for axis in 0..3 {
            quads[axis].0[lane] = at[axis];
        }
    }
    [N::load(&quads[0]), N::load(&quads[1]), N::load(&quads[2])]
}

/// Symmetric matrices (xx, yy, xy) without their negative eigenvalues.
#[inline(always)]
fn without_compression<N: Number>(s: Three<N>) -> Three<N> {
    let (none, half) = (N::splat(0.0), N::splat(0.5));
    let (mean, difference) = (half * (s[0] + s[1]), half * (s[0] - s[1]));
    let radius = (difference * difference + s[2] * s[2]).root();
    let (largest, least) = (mean + radius, mean - radius);
    // No number where both are equal, which is where it is not asked for.
    let part = largest / (N::splat(2.0) * radius);
    let pulled = [part * (s[0] - least), part * (s[1] - least), part * s[2]];
    let is_pressed = -least;
    [
        largest.choose(is_pressed.choose(pulled[0], s[0]), none),
        largest.choose(is_pressed.choose(pulled[1], s[1]), none),
        largest.choose(is_pressed.choose(pulled[2], s[2]), none),
    ]
}

#[inline(always)]
fn states_kernel<S: Algebra, V: Wide>(
    membranes: &Membranes,
    fours: Range<usize>,
    places: &[[f64; 3]],
    states: &mut [State],
) {
    let (half, one) = (V::Double::splat(0.5), V::Double::splat(1.0));
    let (mu, lambda) = (
        V::Double::splat(membranes.law[0]),
        V::Double::splat(membranes.law[1]),
    );
    let twice_mu = mu + mu;
    let fours = &membranes.fours[fours];
    for (four, states) in fours.iter().zip(states.as_chunks_mut::<DOUBLES>().0) {
        let first = gather::<V::Double>(places, four.corners[0]);
        let p = sub(gather::<V::Double>(places, four.corners[1]), first);
        let q = sub(gather::<V::Double>(places, four.corners[2]), first);
        let [of_p, of_q] = &four.gradients;
        let f = [
            mix(V::Double::load(&of_p[0]), p, V::Double::load(&of_q[0]), q),
            mix(V::Double::load(&of_p[1]), p, V::Double::load(&of_q[1]), q),
        ];
        let xx = half * (dot(f[0], f[0]) - one);
        let yy = half * (dot(f[1], f[1]) - one);
        let spread = lambda * (xx + yy);
        let stress = [
            twice_mu * xx + spread,
            twice_mu * yy + spread,
            mu * dot(f[0], f[1]),
        ];
        let pull = without_compression(stress);
        let parts = [
            V::transpose_doubles([f[0][0], f[0][1], f[0][2], f[1][0]]),
            V::transpose_doubles([f[1][1], f[1][2], stress[0], stress[1]]),
            V::transpose_doubles([stress[2], pull[0], pull[1], pull[2]]),
        ];
        for (lane, state) in states.iter_mut().enumerate() {
            parts[0][lane].store(&mut state[0]);
            parts[1][lane].store(&mut state[1]);
            parts[2][lane].store(&mut state[2]);
        }
    }
}

/// Four numbers of each of four states: those of a place side by side.
#[inline(always)]
fn part<V: Wide>(states: &[State; DOUBLES], k: usize) -> [V::Double; DOUBLES] {
    V::transpose_doubles([
        V::Double::load(&states[0][k]),
        V::Double::load(&states[1][k]),
        V::Double::load(&states[2][k]),
        V::Double::load(&states[3][k]),
    ])
}

#[inline(always)]
fn read(states: &SharedSlice<'_, State>, [a, b, c, d]: [u32; DOUBLES]) -> [State; DOUBLES] {
    [
        states.read(a as usize),
        states.read(b as usize),
        states.read(c as usize),
        states.read(d as usize),
    ]
}

/// What a side of four links adds: blocks row after row, what stands before the unit matrix
/// besides, and tensions.
#[inline(always)]
fn side<V: Wide>(
    states: &[State; DOUBLES],
    weights: &[Quad; 4],
    [normal, lambda, mu]: Three<V::Double>,
) -> ([V::Double; 9], [V::Double; 2]) {
    let [f0, f1, f2, f3] = part::<V>(states, 0);
    let [f4, f5, s0, s1] = part::<V>(states, 1);
    let [s2, p0, p1, p2] = part::<V>(states, 2);
    let (first, second) = ([f0, f1, f2], [f3, f4, f5]);
    let (ac, bd) = (V::Double::load(&weights[0]), V::Double::load(&weights[1]));
    let (ad, bc) = (V::Double::load(&weights[2]), V::Double::load(&weights[3]));
    let across = ad + bc;
    let tension = ac * s0 + bd * s1 + across * s2;
    let held = ac * p0 + bd * p1 + across * p2;
    let u = mix(normal * ac + mu * bd, first, lambda * ad + mu * bc, second);
    let v = mix(lambda * bc + mu * ad, first, normal * bd + mu * ac, second);
    let [xx, xy, xz] = mix(first[0], u, second[0], v);
    let [yx, yy, yz] = mix(first[1], u, second[1], v);
    let [zx, zy, zz] = mix(first[2], u, second[2], v);
    let block = [xx, xy, xz, yx, yy, yz, zx, zy, zz];
    (block, [held, tension])
}

#[inline(always)]
fn links_kernel<S: Algebra, V: Wide>(
    (membranes, states): (&Membranes, &SharedSlice<'_, State>),
    fours: Range<usize>,
    (bending, step): (&[[f64; 2]], [f64; 2]),
    (blocks, tensions): (&mut [Block3], &mut [f64]),
) {
    let scale = membranes.scale(step);
    let [mu, lambda, _] = membranes.law.map(|x| scale * x);
    let law = [
        V::Double::splat(mu + mu + lambda),
        V::Double::splat(lambda),
        V::Double::splat(mu),
    ];
    let scale = V::Double::splat(scale);
    let (dt, share) = (V::Double::splat(step[0]), V::Double::splat(step[1]));
    let lists = blocks.chunks_mut(DOUBLES).zip(tensions.chunks_mut(DOUBLES));
    let lists = lists.zip(bending.chunks(DOUBLES));
    for (four, ((blocks, tensions), bending)) in membranes.links[fours].iter().zip(lists) {
        let states = [
            read(states, four.triangles[0]),
            read(states, four.triangles[1]),
        ];
        let (mut sum, [held_one, tension_one]) = side::<V>(&states[0], &four.weights[0], law);
        let (two, [held_two, tension_two]) = side::<V>(&states[1], &four.weights[1], law);
        let mut bent = [Quad::default(); 2];
        for (lane, of_link) in bending.iter().enumerate() {
            (bent[0].0[lane], bent[1].0[lane]) = (of_link[0], of_link[1]);
        }
        let stiffness = V::Double::load(&bent[0]);
        let bent = dt * V::Double::load(&bent[1]) + share * stiffness;
        let held = scale * (held_one + held_two) + bent;
        for k in 0..9 {
            sum[k] = sum[k] + two[k];
        }
        (sum[0], sum[4], sum[8]) = (sum[0] + held, sum[4] + held, sum[8] + held);
        let mut last = [Quad::default(); 2];
        sum[8].store(&mut last[0]);
        (tension_one + tension_two + stiffness).store(&mut last[1]);
        let front = V::transpose_doubles([sum[0], sum[1], sum[2], sum[3]]);
        let middle = V::transpose_doubles([sum[4], sum[5], sum[6], sum[7]]);
        for (lane, (block, tension)) in blocks.iter_mut().zip(tensions).enumerate() {
            let mut quads = [Quad::default(); 2];
            front[lane].store(&mut quads[0]);
            middle[lane].store(&mut quads[1]);
            block[..4].copy_from_slice(&quads[0].0);
            block[4..8].copy_from_slice(&quads[1].0);
            block[8] = last[0].0[lane];
            *tension = last[1].0[lane];
        }
    }
}

dispatch! {
    /// Works F, S and S⁺ of some fours of triangles out, with nodes at these places (m), four
    /// entries of `states` for each.
    fn write_states<S: Algebra>(
        membranes: &Membranes,
        fours: Range<usize>,
        places: &[[f64; 3]],
        states: &mut [State],
    ) = states_kernel
}
dispatch! {
    /// Writes blocks (kg) and tensions (N/m) of some fours of links, with bending of this stiffness
    /// (N/m) and damping (N·s/m) and for dt D + `share` K. Lists begin with the first of them.
    fn write_links<S: Algebra>(
        from: (&Membranes, &SharedSlice<'_, State>),
        fours: Range<usize>,
        bending: (&[[f64; 2]], [f64; 2]),
        to: (&mut [Block3], &mut [f64]),
    ) = links_kernel
}

#[cfg(test)]
mod tests {
    use crate::dynamics::elastic::block_rows::BlockRows;
    use crate::math::algebra::D3;
    use crate::math::simd::Instructions;
    use crate::model::deformable::element::Element;
    use crate::model::deformable::element_tests::noise;
    use crate::model::deformable::simplex::{Law, Simplex};
    use crate::model::deformable::{Deformable, Mesh, Substance};

    const STEP: [f64; 2] = [0.01, 1e-4];

    /// Triangles of a cloth, and three more at one of its edges: two of them do not fit.
    fn triangles() -> (Vec<Element>, usize) {
        let mesh = Mesh::<D3>::cloth([1.0, 1.5], [5, 7]);
        let count = mesh.vertices.len();
        let mut all = Deformable::new(mesh, Substance::default()).elements();
        all.retain(|element| matches!(element, Element::Simplex(_)));
        let [mu, lambda, damping] = all[0].at_rest().unwrap().law;
        for (corner, mu) in [(20, mu), (30, mu), (40, 2.0 * mu)] {
            let edges = [[0.2, 0.0, 0.0], [0.1, 0.3, 0.0]];
            let law = Law::Membrane { mu, lambda };
            let simplex = Simplex::new(&[1, 0, corner], &edges, 1e-4, law, damping);
            all.push(Element::Simplex(simplex.unwrap()));
        }
        (all, count)
    }

    /// Flat as at rest, stretched, pressed, crumpled, and all nodes in one place.
    fn places(case: usize, seed: &mut u64) -> Vec<[f64; 3]> {
        let mesh = Mesh::<D3>::cloth([1.0, 1.5], [5, 7]);
        let (size, shake) = [(1.0, 0.0), (1.2, 0.01), (0.6, 0.02), (1.0, 0.3), (0.0, 0.0)][case];
        let place = |v: &glamx::DVec3| (*v * size).to_array().map(|x| x + shake * noise(seed));
        mesh.vertices.iter().map(place).collect()
    }

    /// Blocks of all pairs of nodes (kg) and pushes (N·s), triangle by triangle.
    fn one_by_one(elements: &[Element], x: &[[f64; 3]]) -> (Vec<[f64; 9]>, Vec<[f64; 3]>) {
        let count = x.len();
        let (mut blocks, mut push) = (vec![[0.0; 9]; count * count], vec![[0.0; 3]; count]);
        for element in elements {
            let nodes = element.nodes();
            let at = |k: usize| x[nodes[k] as usize];
            let (sheet, damping) = element.membrane([at(0), at(1), at(2)]).unwrap();
            for (i, &a) in nodes.iter().enumerate() {
                for (push, gradient) in push[a as usize].iter_mut().zip(sheet.gradient[i]) {
                    *push -= STEP[0] * gradient;
                }
                for (j, &b) in nodes.iter().enumerate() {
                    let block = &mut blocks[a as usize * count + b as usize];
                    for (sum, entry) in block.iter_mut().zip(sheet.stiffness[i][j]) {
                        *sum += (STEP[0] * damping + STEP[1]) * entry;
                    }
                }
            }
        }
        (blocks, push)
    }

    /// The same as rows have it, on so many threads.
    fn abreast(
        elements: &[Element],
        x: &[[f64; 3]],
        crew: (usize, Instructions),
    ) -> (Vec<[f64; 9]>, Vec<[f64; 3]>) {
        let count = x.len();
        let (mut blocks, mut push) = (vec![[0.0; 9]; count * count], vec![[0.0; 3]; count]);
        let mut rows = BlockRows::new(elements, count).unwrap();
        rows.linearise(x, STEP, &mut push, crew, |_, _| {});
        let exact = rows.exact();
        for node in 0..count {
            let [xx, yy, zz, xy, xz, yz] = *exact.own(node);
            blocks[node * count + node] = [xx, xy, xz, xy, yy, yz, xz, yz, zz];
            for (is_link, at, column) in exact.entries(node) {
                assert!(is_link);
                let block = exact.block(at as usize);
                let is_turned = (column as usize) < node;
                let entry = |k: usize| block[if is_turned { k % 3 * 3 + k / 3 } else { k }];
                blocks[node * count + column as usize] = std::array::from_fn(entry);
            }
        }
        (blocks, push)
    }

    #[test]
    fn four_abreast_do_what_one_by_one_does_with_the_same_bits_for_any_instructions() {
        let (elements, count) = triangles();
        let mut seed = 11;
        for case in 0..5 {
            let x = places(case, &mut seed);
            assert_eq!(x.len(), count);
            let (blocks, push) = one_by_one(&elements, &x);
            let first = abreast(&elements, &x, (1, Instructions::Portable));
            for &instructions in Instructions::every() {
                for threads in [1, 3] {
                    let other = abreast(&elements, &x, (threads, instructions));
                    assert!(other == first, "{case} {instructions:?} {threads}");
                }
            }
            let largest = |all: &[f64]| all.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let (blocks, ours) = (blocks.as_flattened(), first.0.as_flattened());
            let (push, our_push) = (push.as_flattened(), first.1.as_flattened());
            for (list, ours, least) in [(blocks, ours, 0.0), (push, our_push, 1e-3)] {
                let size = largest(list).max(least);
                for (k, (a, b)) in list.iter().zip(ours).enumerate() {
                    assert!((a - b).abs() <= 1e-13 * size, "{case} {k}: {a} {b}");
                }
            }
        }
    }
}
