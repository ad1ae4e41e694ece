//! Tests of large elastic systems against their elements one by one.

use super::conjugate_gradients::{Effort, Gradients};
use crate::geometry::ccd::primitive_pair::{Near, Pair, nearest, stays_apart};
use crate::math::algebra::{Components, D3};
use crate::math::simd::Instructions;
use crate::model::deformable::element::{Curvature, Element, Local};
use crate::model::deformable::element_tests::noise;
use crate::model::deformable::{Cells, Deformable, Mesh, Substance};
use glamx::DVec3;

const DT: f64 = 0.01;

/// A cloth stretched by a tenth and shaken a little, so that nothing in it is pressed.
fn stretched(cells: u32, seed: &mut u64) -> (Deformable<D3>, Vec<[f64; 3]>) {
    stretched_mesh(Mesh::<D3>::cloth([1.0, 1.0], [cells, cells]), cells, seed)
}

/// The same with nodes numbered in a wild order.
fn mixed(cells: u32, seed: &mut u64) -> (Deformable<D3>, Vec<[f64; 3]>) {
    let mut mesh = Mesh::<D3>::cloth([1.0, 1.0], [cells, cells]);
    let count = mesh.vertices.len() as u32;
    // 101 and the number of nodes have no divisor in common.
    assert_ne!(count % 101, 0);
    let number = |k: u32| 101 * k % count;
    let before = mesh.vertices.clone();
    for (&v, k) in before.iter().zip(0..) {
        mesh.vertices[number(k) as usize] = v;
    }
    if let Cells::Triangles(triangles) = &mut mesh.cells {
        for corners in triangles {
            *corners = corners.map(number);
        }
    }
    stretched_mesh(mesh, cells, seed)
}

fn stretched_mesh(mesh: Mesh<D3>, cells: u32, seed: &mut u64) -> (Deformable<D3>, Vec<[f64; 3]>) {
    let substance = Substance {
        young: 2e4,
        density: 300.0,
        thickness: 0.3 / f64::from(cells),
        ..Substance::default()
    };
    let cloth = Deformable::new(mesh, substance);
    let shake = 0.01 / f64::from(cells);
    let place = |v: &DVec3| (*v * 1.1).to_array3().map(|x| x + shake * noise(seed));
    let places = cloth.mesh.vertices.iter().map(place).collect();
    (cloth, places)
}

fn exact(element: &Element, places: &[[f64; 3]]) -> Local {
    let x: Vec<f64> = (element.nodes().iter())
        .flat_map(|&k| places[k as usize])
        .collect();
    let mut padded = [0.0; 12];
    padded[..x.len()].copy_from_slice(&x);
    let mut local = Local::zero();
    element.linearise(3, &padded, Curvature::Exact, &mut local);
    local
}

/// (hD + h²K) v of all nodes, element by element.
fn resistance(elements: &[Element], places: &[[f64; 3]], v: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; places.len()];
    for element in elements {
        let local = exact(element, places);
        let nodes = element.nodes();
        let n = 3 * nodes.len();
        for row in 0..n {
            for column in 0..n {
                let at = row * n + column;
                let value = DT * local.damping[at] + DT * DT * local.stiffness[at];
                sum[nodes[row / 3] as usize][row % 3] +=
                    value * v[nodes[column / 3] as usize][column % 3];
            }
        }
    }
    sum
}

#[test]
fn gradients_solve_the_sum_of_all_elements_with_the_same_bits_for_any_threads() {
    let seed = &mut 5;
    check_gradients(stretched(35, seed), 1, seed);
}

#[test]
fn gradients_solve_meshes_of_any_order_and_of_several_teams() {
    let seed = &mut 7;
    check_gradients(mixed(33, seed), 1, seed);
    check_gradients(mixed(33, seed), 2, seed);
    check_gradients(stretched(40, seed), 4, seed);
}

/// Where many iterations are needed.
#[test]
fn gradients_solve_what_is_stiff() {
    let seed = &mut 9;
    let (mut cloth, places) = stretched(40, seed);
    cloth.substance.young = 2e6;
    check_gradients((cloth, places), 1, seed);
}

/// h f of all nodes, element by element.
fn pushes(elements: &[Element], places: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut push = vec![[0.0; 3]; places.len()];
    for element in elements {
        let local = exact(element, places);
        for (k, &node) in element.nodes().iter().enumerate() {
            let gradient = &local.gradient[3 * k..3 * k + 3];
            for (push, gradient) in push[node as usize].iter_mut().zip(gradient) {
                *push -= DT * gradient;
            }
        }
    }
    push
}

fn check_gradients((cloth, places): (Deformable<D3>, Vec<[f64; 3]>), teams: usize, seed: &mut u64) {
    let (elements, masses) = (cloth.elements(), cloth.masses());
    let count = masses.len();
    let mut vector = |size: f64| -> Vec<[f64; 3]> {
        (0..count)
            .map(|_| [0; 3].map(|_| size * noise(seed)))
            .collect()
    };
    let (starred, guess, extra) = (vector(1.0), vector(1.0), vector(1e-3));
    let is_held = |node: usize| node % 50 == 7;
    let added = |node: usize| {
        if node.is_multiple_of(3) {
            10.0 * masses[node]
        } else {
            0.0
        }
    };
    let mass = |node: usize| match is_held(node) {
        true => f64::INFINITY,
        false => masses[node],
    };
    let solve = |threads: u32, instructions: Instructions| {
        let mut gradients = Gradients::in_teams(&elements, count, teams).unwrap();
        gradients.instructions = instructions;
        let ratio = gradients.linearise(&places, mass, DT, threads);
        assert!(ratio > 10.0, "{ratio}");
        for node in 0..count {
            gradients.add_mass(node, added(node));
        }
        assert!(gradients.begin(|k| starred[k], |k| guess[k]));
        gradients.solve(&[], Effort::Some(3));
        gradients.solve(&extra, Effort::Full).to_vec()
    };
    let best = Instructions::best();
    let change = solve(1, best);
    assert!(solve(2, best) == change && solve(5, best) == change);
    for &instructions in Instructions::every() {
        assert!(solve(2, instructions) == change, "{instructions:?}");
    }

    let push = pushes(&elements, &places);
    let (by_start, by_change) = (
        resistance(&elements, &places, &starred),
        resistance(&elements, &places, &change),
    );
    // Errors are those of the terms that are taken off each other.
    let terms = [&push, &by_start, &by_change];
    let terms = terms.into_iter().flat_map(|list| list.as_flattened());
    let largest = terms.fold(1.0, |most: f64, p| most.max(p.abs()));
    for node in 0..count {
        for axis in 0..3 {
            if is_held(node) {
                assert_eq!(change[node][axis], 0.0);
                continue;
            }
            let right = push[node][axis] - by_start[node][axis] + extra[node][axis];
            let left = by_change[node][axis] + (masses[node] + added(node)) * change[node][axis];
            assert!(
                (left - right).abs() < 1e-8 * largest,
                "{node}: {left} {right}"
            );
        }
    }
}

#[test]
fn a_sheet_is_exact_in_tension_and_never_softer_nor_negative() {
    let mut seed = 3;
    for size in [1.1, 0.9, 0.3] {
        let (cloth, places) = stretched(3, &mut seed);
        let places: Vec<[f64; 3]> = (places.iter())
            .map(|p| p.map(|x| x * size / 1.1 + 0.02 * noise(&mut seed)))
            .collect();
        for element in cloth.elements() {
            let nodes = element.nodes();
            let at = |k: usize| places[nodes[k] as usize];
            let Some((sheet, damping)) = element.membrane([at(0), at(1), at(2)]) else {
                continue;
            };
            assert_eq!(damping, cloth.substance.damping);
            let local = exact(&element, &places);
            for (k, gradient) in local.gradient[..9].iter().enumerate() {
                assert!((sheet.gradient[k / 3][k % 3] - gradient).abs() < 1e-9);
            }
            let entry = |i: usize, j: usize| sheet.stiffness[i / 3][j / 3][i % 3 * 3 + j % 3];
            let v: [f64; 9] = std::array::from_fn(|_| noise(&mut seed));
            let form = |k: &dyn Fn(usize, usize) -> f64| -> f64 {
                let row = |i: usize| (0..9).map(|j| k(i, j) * v[j]).sum::<f64>();
                (0..9).map(|i| v[i] * row(i)).sum()
            };
            let (ours, true_one) = (form(&entry), form(&|i, j| local.stiffness[i * 9 + j]));
            assert!(ours >= -1e-9 && ours >= true_one - 1e-9 * ours.abs());
            if size > 1.0 {
                assert!(
                    (ours - true_one).abs() < 1e-9 * ours.abs(),
                    "{ours} {true_one}"
                );
            }
        }
    }
}

#[test]
fn what_is_said_to_stay_apart_does() {
    let mut seed = 8;
    let mut said = 0;
    for case in 0..4000 {
        let start: Vec<[f64; 3]> = (0..4).map(|_| [0; 3].map(|_| noise(&mut seed))).collect();
        let way = 0.5 * noise(&mut seed).abs();
        let end: Vec<[f64; 3]> = (start.iter())
            .map(|p| p.map(|x| x + way * noise(&mut seed)))
            .collect();
        let pair = match case % 2 {
            0 => Pair::FaceVertex([0, 1, 2], 3),
            _ => Pair::Edges([0, 1], [2, 3]),
        };
        let at = |t: f64| {
            let (start, end) = (&start, &end);
            move |v: u32| {
                let [p, q] = [start, end].map(|x| DVec3::from_array(x[v as usize]));
                p + (q - p) * t
            }
        };
        let near: Near = nearest(&pair, at(0.0));
        let separation = 0.1 * noise(&mut seed).abs();
        if !stays_apart(&pair, [&start, &end], &near, separation) {
            continue;
        }
        said += 1;
        for k in 0..=20 {
            let then = nearest(&pair, at(f64::from(k) / 20.0)).distance;
            assert!(then > separation, "case {case}: {then} {separation}");
        }
    }
    assert!(said > 500, "{said}");
}
