//! Elements against finite differences and the symmetries of space.

use super::element::{Curvature, Element, Local, MOST};
use super::{Deformable, Mesh, Model, Substance};
use crate::geometry::Space;
use crate::math::algebra::{Components, D2, D3};
use glamx::{DQuat, DVec2, DVec3};

const SUBSTANCE: Substance = Substance {
    young: 3e4,
    poisson: 0.35,
    density: 800.0,
    thickness: 0.05,
    damping: 0.01,
    bending: 1.0,
};

/// Every kind of element with its nodes at rest.
fn all() -> Vec<(usize, Element, [f64; MOST])> {
    fn of<S: Space>(mesh: Mesh<S>, model: Model) -> Vec<(usize, Element, [f64; MOST])> {
        let deformable = Deformable {
            model,
            ..Deformable::new(mesh, SUBSTANCE)
        };
        deformable.check().unwrap();
        let places = |element: &Element| {
            let mut x = [0.0; MOST];
            for (k, &node) in element.nodes().iter().enumerate() {
                for axis in 0..S::DIM {
                    x[k * S::DIM + axis] = deformable.mesh.at(node).component(axis);
                }
            }
            x
        };
        let list = deformable.elements();
        list.into_iter().map(|e| (S::DIM, e, places(&e))).collect()
    }
    let mut list = Vec::new();
    for model in [Model::Continuum, Model::Springs] {
        list.extend(of(Mesh::<D3>::cloth([1.1, 0.7], [2, 2]), model));
        list.extend(of(Mesh::<D3>::block([0.9, 1.0, 0.5], [1, 1, 1]), model));
        list.extend(of(Mesh::<D2>::block([0.8, 0.6], [2, 1]), model));
    }
    list.extend(of(
        Mesh::<D3>::rope(DVec3::ZERO, DVec3::new(0.3, 1.0, -0.4), 3),
        Model::Continuum,
    ));
    list.extend(of(
        Mesh::<D2>::rope(DVec2::ZERO, DVec2::new(0.3, 1.0), 3),
        Model::Continuum,
    ));
    list
}

/// Reproducible numbers in −1…1.
pub(crate) fn noise(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn shaken(x: &[f64; MOST], amount: f64, seed: &mut u64) -> [f64; MOST] {
    x.map(|a| a + amount * noise(seed))
}

fn linearise(dim: usize, element: &Element, x: &[f64; MOST], curvature: Curvature) -> Local {
    let mut local = Local::zero();
    element.linearise(dim, x, curvature, &mut local);
    local
}

#[test]
fn forces_are_gradients_and_stiffness_their_derivative() {
    let mut seed = 7;
    for (dim, element, rest) in all() {
        let n = element.nodes().len() * dim;
        for amount in [0.02, 0.3] {
            let x = shaken(&rest, amount, &mut seed);
            let local = linearise(dim, &element, &x, Curvature::Exact);
            let size = |list: &[f64]| list.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
            let (pull, stiff) = (size(&local.gradient[..n]), size(&local.stiffness[..n * n]));
            let step = 1e-5;
            for k in 0..n {
                let (mut below, mut above) = (x, x);
                below[k] -= step;
                above[k] += step;
                let slope =
                    (element.energy(dim, &above) - element.energy(dim, &below)) / (2.0 * step);
                let error = (slope - local.gradient[k]).abs();
                assert!(error < 1e-6 * (pull + stiff), "{element:?}: {error}");
                let low = linearise(dim, &element, &below, Curvature::Exact);
                let high = linearise(dim, &element, &above, Curvature::Exact);
                for row in 0..n {
                    let slope = (high.gradient[row] - low.gradient[row]) / (2.0 * step);
                    let error = (slope - local.stiffness[row * n + k]).abs();
                    assert!(error < 1e-6 * stiff, "{element:?}: {error}");
                }
            }
        }
    }
}

#[test]
fn nothing_pulls_at_rest_and_energy_is_least_there() {
    let mut seed = 3;
    for (dim, element, rest) in all() {
        let local = linearise(dim, &element, &rest, Curvature::Exact);
        let stiffest = local.stiffness.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        for pull in local.gradient {
            assert!(pull.abs() < 1e-13 * stiffest, "{element:?}: {pull}");
        }
        let least = element.energy(dim, &rest);
        assert!(least.abs() < 1e-12 * stiffest);
        for _ in 0..20 {
            let near = shaken(&rest, 0.05, &mut seed);
            assert!(element.energy(dim, &near) >= least - 1e-15 * stiffest);
        }
    }
}

#[test]
fn motions_change_no_energy_and_turn_the_forces() {
    let mut seed = 5;
    for (dim, element, rest) in all() {
        let x = shaken(&rest, 0.2, &mut seed);
        let turn = if dim == 3 {
            DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -2.0) / 3.0, 1.1)
        } else {
            DQuat::from_rotation_z(1.1)
        };
        let shift = DVec3::new(0.4, -3.0, if dim == 3 { 2.0 } else { 0.0 });
        let apply = |list: &[f64; MOST], shift: DVec3| {
            let mut out = [0.0; MOST];
            for node in 0..element.nodes().len() {
                let mut p = DVec3::ZERO;
                for axis in 0..dim {
                    p[axis] = list[node * dim + axis];
                }
                let moved = turn * p + shift;
                for axis in 0..dim {
                    out[node * dim + axis] = moved[axis];
                }
            }
            out
        };
        let y = apply(&x, shift);
        let (before, after) = (element.energy(dim, &x), element.energy(dim, &y));
        let here = linearise(dim, &element, &x, Curvature::Exact);
        let stiffest = here.stiffness.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        assert!((before - after).abs() < 1e-12 * stiffest, "{element:?}");
        let there = linearise(dim, &element, &y, Curvature::Exact);
        let turned = apply(&here.gradient, DVec3::ZERO);
        for (a, b) in there.gradient.iter().zip(turned) {
            assert!((a - b).abs() < 1e-11 * stiffest, "{element:?}");
        }
    }
}

#[test]
fn projected_stiffness_is_not_negative_and_no_less_than_the_exact_one() {
    let mut seed = 11;
    for (dim, element, rest) in all() {
        let n = element.nodes().len() * dim;
        for _ in 0..10 {
            let x = shaken(&rest, 0.5, &mut seed);
            let projected = linearise(dim, &element, &x, Curvature::Projected);
            let exact = linearise(dim, &element, &x, Curvature::Exact);
            for _ in 0..10 {
                let v: Vec<f64> = (0..n).map(|_| noise(&mut seed)).collect();
                let form = |k: &[f64]| -> f64 {
                    let row = |i: usize| -> f64 { (0..n).map(|j| k[i * n + j] * v[j]).sum() };
                    (0..n).map(|i| v[i] * row(i)).sum()
                };
                let (p, e) = (form(&projected.stiffness), form(&exact.stiffness));
                assert!(p > -1e-9 * e.abs().max(1.0), "{element:?}: {p}");
                assert!(p >= e - 1e-9 * e.abs().max(1.0), "{element:?}: {p} < {e}");
            }
        }
    }
}

/// A sheet rolled into a part of a cylinder of radius R stores D/(2R²) per area.
#[test]
fn a_rolled_cloth_stores_the_energy_of_a_plate() {
    let (radius, size) = (2.0, 1.0);
    let deformable = Deformable::new(
        Mesh::<D3>::cloth([size, size], [40, 40]),
        Substance {
            thickness: 0.01,
            ..SUBSTANCE
        },
    );
    let s = &deformable.substance;
    let rigidity = s.young * s.thickness.powi(3) / (12.0 * (1.0 - s.poisson * s.poisson));
    let expected = rigidity * size * size / (2.0 * radius * radius);
    // Bends along the grid are exact but for the hinges that the border lacks; others find the
    // diagonals of squares in their way.
    for (along, least, most) in [
        (DVec3::X, 0.9, 1.0),
        (DVec3::Z, 0.9, 1.0),
        (DVec3::new(0.6, 0.0, 0.8), 1.0, 1.5),
    ] {
        let across = DVec3::new(-along.z, 0.0, along.x);
        let roll = |p: DVec3| {
            let angle = p.dot(along) / radius;
            let lifted = DVec3::Y * (radius * (1.0 - angle.cos()));
            along * (radius * angle.sin()) + lifted + across * p.dot(across)
        };
        let ratio = bending_energy(&deformable, roll) / expected;
        assert!(ratio > least && ratio < most, "{along}: {ratio}");
    }
}

fn bending_energy(deformable: &Deformable<D3>, roll: impl Fn(DVec3) -> DVec3) -> f64 {
    let mut energy = 0.0;
    for element in deformable.elements() {
        if let Element::Bending(bending) = element {
            let mut x = [0.0; MOST];
            for (k, &node) in bending.nodes().iter().enumerate() {
                x[3 * k..3 * k + 3].copy_from_slice(&roll(deformable.mesh.at(node)).to_array());
            }
            energy += bending.energy(3, &x);
        }
    }
    energy
}
