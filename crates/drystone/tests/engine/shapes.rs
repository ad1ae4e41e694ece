//! Mass properties in closed form, distance queries, contact manifolds of every pair.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::f64::consts::PI;

use drystone::glam::{DMat3, DQuat, DVec2, DVec3};
use drystone::{Algebra, D2, D3, Geometry, Pose, Shape2, Shape3, ShapeError};
use proptest::prelude::*;

fn of(shape: &Shape3) -> (f64, DVec3, DMat3) {
    let p = shape.mass_properties(1.0).unwrap();
    (p.mass, p.center, p.inertia)
}

fn is_diagonal(inertia: DMat3, expected: DVec3) {
    let error = inertia - DMat3::from_diagonal(expected);
    assert!(
        error.abs_diff_eq(DMat3::ZERO, 1e-9 * expected.max_element()),
        "{inertia} {expected}"
    );
}

#[test]
fn solids_have_their_textbook_mass_and_inertia() {
    let (m, _, i) = of(&Shape3::ball(2.0).unwrap());
    assert!((m - 4.0 / 3.0 * PI * 8.0).abs() < 1e-9);
    is_diagonal(i, DVec3::splat(0.4 * m * 4.0));

    let h = DVec3::new(1.0, 2.0, 3.0);
    let (m, _, i) = of(&Shape3::cuboid(h).unwrap());
    assert!((m - 48.0).abs() < 1e-9);
    let s = h * h;
    is_diagonal(i, DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (m / 3.0));

    let (half, r) = (1.5, 0.7);
    let (m, _, i) = of(&Shape3::cylinder(half, r).unwrap());
    assert!((m - PI * r * r * 2.0 * half).abs() < 1e-9);
    let across = m * (3.0 * r * r + 4.0 * half * half) / 12.0;
    is_diagonal(i, DVec3::new(across, 0.5 * m * r * r, across));

    let (m, center, i) = of(&Shape3::cone(half, r).unwrap());
    let height = 2.0 * half;
    assert!((m - PI * r * r * height / 3.0).abs() < 1e-9);
    // The centre of mass is a quarter of the height above the base.
    assert!((center - DVec3::Y * (height / 4.0 - half)).length() < 1e-12);
    let across = m * (3.0 / 20.0 * r * r + 3.0 / 80.0 * height * height);
    is_diagonal(i, DVec3::new(across, 0.3 * m * r * r, across));

    let (m, _, i) = of(&Shape3::capsule(half, r).unwrap());
    let (tube, ball) = (PI * r * r * 2.0 * half, 4.0 / 3.0 * PI * r * r * r);
    assert!((m - tube - ball).abs() < 1e-9);
    let along = tube * r * r / 2.0 + ball * 0.4 * r * r;
    // Half balls: 2/5 m r² about their own centre of the flat side, moved by half and 3r/8.
    let caps = ball * (0.4 * r * r + half * half + 0.75 * half * r);
    let across = tube * (3.0 * r * r + 4.0 * half * half) / 12.0 + caps;
    is_diagonal(i, DVec3::new(across, along, across));
}

#[test]
fn flat_shapes_have_their_textbook_mass_and_inertia() {
    let of = |shape: &Shape2| {
        let p = shape.mass_properties(1.0).unwrap();
        (p.mass, p.center, p.inertia)
    };
    let (m, _, i) = of(&Shape2::ball(2.0).unwrap());
    assert!((m - PI * 4.0).abs() < 1e-12 && (i - 0.5 * m * 4.0).abs() < 1e-9);
    let (m, _, i) = of(&Shape2::cuboid(DVec2::new(1.0, 2.0)).unwrap());
    assert!((m - 8.0).abs() < 1e-12 && (i - m * 5.0 / 3.0).abs() < 1e-9);
    // A right triangle with legs 3 and 6: centroid at a third, I = m (a² + b²)/18.
    let (m, center, i) =
        of(&Shape2::hull(&[DVec2::ZERO, DVec2::new(3.0, 0.0), DVec2::new(0.0, 6.0)]).unwrap());
    assert!((m - 9.0).abs() < 1e-12);
    assert!((center - DVec2::new(1.0, 2.0)).length() < 1e-12);
    assert!((i - m * 45.0 / 18.0).abs() < 1e-9);
    let (half, r) = (1.0, 0.5);
    let (m, _, i) = of(&Shape2::capsule(half, r).unwrap());
    let (tube, disk) = (4.0 * half * r, PI * r * r);
    assert!((m - tube - disk).abs() < 1e-9);
    // Half disks: ½ m r² about the flat side's middle, moved by half; 4r/3π is their centroid.
    let caps = disk * (0.5 * r * r + half * half + 2.0 * half * 4.0 * r / (3.0 * PI));
    let expected = tube * (4.0 * half * half + 4.0 * r * r) / 12.0 + caps;
    assert!((i - expected).abs() < 1e-9, "{i} {expected}");
}

#[test]
fn a_compound_weighs_what_its_parts_weigh() {
    let half = Shape3::cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap();
    let at = |x: f64| Pose::<D3>::at(DVec3::X * x);
    let two = Shape3::compound(&[(at(-0.5), half.clone()), (at(0.5), half)]).unwrap();
    let whole = Shape3::cuboid(DVec3::ONE).unwrap();
    let (a, b) = (of(&two), of(&whole));
    assert!((a.0 - b.0).abs() < 1e-12);
    assert!(a.1.length() < 1e-12);
    assert!((a.2 - b.2).abs_diff_eq(DMat3::ZERO, 1e-9));
}

#[test]
fn a_box_as_a_hull_is_a_box() {
    let h = DVec3::new(0.3, 0.2, 0.5);
    let corners: Vec<DVec3> = (0..8)
        .map(|k| {
            let s = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            DVec3::new(s(0), s(1), s(2)) * h
        })
        .collect();
    let (a, b) = (
        of(&Shape3::hull(&corners).unwrap()),
        of(&Shape3::cuboid(h).unwrap()),
    );
    assert!((a.0 - b.0).abs() < 1e-12);
    assert!((a.2 - b.2).abs_diff_eq(DMat3::ZERO, 1e-9));
}

#[test]
fn signed_distances_are_negative_inside() {
    let pose = Pose::<D3>::at(DVec3::new(10.0, 0.0, 0.0));
    let cases: [(Shape3, DVec3, f64); 6] = [
        (Shape3::ball(1.0).unwrap(), DVec3::new(10.0, 3.0, 0.0), 2.0),
        (Shape3::ball(1.0).unwrap(), DVec3::new(10.0, 0.4, 0.0), -0.6),
        (
            Shape3::cuboid(DVec3::ONE).unwrap(),
            DVec3::new(12.0, 2.0, 0.0),
            2.0_f64.sqrt(),
        ),
        (
            Shape3::cuboid(DVec3::ONE).unwrap(),
            DVec3::new(10.2, 0.0, 0.0),
            -0.8,
        ),
        (
            Shape3::half_space(DVec3::Y).unwrap(),
            DVec3::new(7.0, -2.5, 1.0),
            -2.5,
        ),
        (
            Shape3::capsule(1.0, 0.5).unwrap(),
            DVec3::new(10.0, 2.0, 0.0),
            0.5,
        ),
    ];
    for (shape, point, expected) in cases {
        let got = shape.signed_distance(&pose, point);
        assert!(
            (got - expected).abs() < 1e-9,
            "{shape:?}: {got} instead of {expected}"
        );
    }
}

#[test]
fn closest_points_of_separate_and_overlapping_shapes() {
    let (a, b) = (
        Shape3::ball(1.0).unwrap(),
        Shape3::cuboid(DVec3::ONE).unwrap(),
    );
    let origin = Pose::<D3>::default();
    for (x, distance) in [(3.0, 1.0), (1.9, -0.1)] {
        let pose = Pose::at(DVec3::X * x);
        let found = Shape3::separation((&a, &origin), (&b, &pose)).unwrap();
        assert!((found.distance - distance).abs() < 1e-9);
        assert!((found.normal - DVec3::X).length() < 1e-9);
        assert!((found.point_a - DVec3::X).length() < 1e-9);
    }
}

/// Every pair of shapes, dropped flat on each other: contacts exist, point up, and their
/// separation is the gap.
#[test]
fn every_pair_touches_where_it_should() {
    let shapes = || {
        let tetra = [
            DVec3::new(1.0, -0.5, 1.0),
            DVec3::new(-1.0, -0.5, 1.0),
            DVec3::new(0.0, -0.5, -1.0),
            DVec3::new(0.0, 0.5, 0.0),
        ];
        let half_brick = Shape3::cuboid(DVec3::new(0.25, 0.5, 0.5)).unwrap();
        let at = |x: f64| Pose::<D3>::at(DVec3::X * x);
        vec![
            Shape3::ball(0.5).unwrap(),
            Shape3::cuboid(DVec3::splat(0.5)).unwrap(),
            Shape3::capsule(0.25, 0.25).unwrap(),
            Shape3::cylinder(0.5, 0.5).unwrap(),
            Shape3::cone(0.5, 0.5).unwrap(),
            Shape3::hull(&tetra).unwrap(),
            Shape3::compound(&[(at(-0.25), half_brick.clone()), (at(0.25), half_brick)]).unwrap(),
        ]
    };
    let square = [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]];
    let sheet = square.map(|[x, z]| DVec3::new(x, 0.5, z)).to_vec();
    let mut lower = shapes();
    lower.push(Shape3::mesh(sheet, vec![[0, 2, 1], [0, 3, 2]]).unwrap());
    for (i, a) in lower.iter().enumerate() {
        for (j, b) in shapes().iter().enumerate() {
            let gap = 0.003;
            // Off the centre, so that no tip stands exactly under a seam of the compound.
            let pose = Pose::<D3>::at(DVec3::new(0.01, 1.0 + gap, 0.006));
            let mut out = Vec::new();
            Shape3::contacts((a, &Pose::default()), (b, &pose), 0.005, &mut out);
            assert!(!out.is_empty(), "{i} under {j}");
            for contact in &out {
                assert!(contact.normal.y > 0.99, "{i} under {j}: {}", contact.normal);
                assert!((contact.separation - gap).abs() < 2e-3, "{i} under {j}");
            }
            // And the other way round, with the normal turned.
            let mut swapped = Vec::new();
            Shape3::contacts((b, &pose), (a, &Pose::default()), 0.005, &mut swapped);
            assert_eq!(swapped.is_empty(), out.is_empty());
            assert!(swapped.iter().all(|c| c.normal.y < -0.99), "{j} over {i}");
        }
    }
}

#[test]
fn bad_shapes_are_refused_with_a_reason() {
    let nan = f64::NAN;
    assert!(matches!(
        Shape3::ball(0.0),
        Err(ShapeError::Size { what: "radius", .. })
    ));
    assert!(Shape3::ball(nan).is_err() && Shape3::ball(f64::INFINITY).is_err());
    assert!(Shape3::cuboid(DVec3::new(1.0, -1.0, 1.0)).is_err());
    assert!(Shape3::capsule(0.0, 1.0).is_err() && Shape3::cylinder(1.0, 0.0).is_err());
    assert!(Shape3::cone(-1.0, 1.0).is_err());
    assert!(Shape3::half_space(DVec3::ZERO).is_err());
    assert!(Shape3::half_space(DVec3::splat(nan)).is_err());
    let flat: Vec<DVec3> = (0..20)
        .map(|k| DVec3::new(f64::from(k).sin(), f64::from(k).cos(), 0.0))
        .collect();
    assert!(matches!(
        Shape3::hull(&flat),
        Err(ShapeError::FlatHull { .. })
    ));
    assert!(matches!(
        Shape3::hull(&[DVec3::ZERO; 9]),
        Err(ShapeError::FlatHull { .. })
    ));
    assert!(Shape3::hull(&[]).is_err());
    assert!(matches!(
        Shape3::hull(&[DVec3::ZERO, DVec3::X, DVec3::splat(nan), DVec3::Z]),
        Err(ShapeError::Point { index: 2 })
    ));
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    assert!(matches!(
        Shape3::mesh(corners.clone(), vec![[0, 1, 2], [0, 1, 3]]),
        Err(ShapeError::Index {
            element: 1,
            index: 3,
            ..
        })
    ));
    assert!(matches!(
        Shape3::mesh(corners.clone(), vec![[0, 1, 1]]),
        Err(ShapeError::Degenerate { element: 0, .. })
    ));
    assert!(Shape3::mesh(corners, vec![]).is_err());
    assert!(Shape3::compound(&[]).is_err());
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    assert!(matches!(
        Shape3::compound(&[(Pose::default(), floor)]),
        Err(ShapeError::Part { index: 0 })
    ));
    assert!(Shape2::hull(&[DVec2::ZERO, DVec2::X, DVec2::X * 2.0]).is_err());
    assert!(Shape2::polyline(vec![DVec2::ZERO]).is_err());
    assert!(Shape2::polyline(vec![DVec2::ZERO, DVec2::ZERO]).is_err());
}

proptest! {
    /// Nearly flat, nearly coincident, huge and tiny point clouds: a hull or an error, no panic.
    #[test]
    fn hulls_of_nasty_points_never_panic(
        points in prop::collection::vec(prop::array::uniform3(-1.0..1.0), 0..24),
        squash in prop::sample::select(vec![1.0, 1e-3, 1e-5, 1e-7, 1e-9, 0.0]),
        scale in prop::sample::select(vec![1e-6, 1.0, 1e6]),
        repeat in 1..3usize,
    ) {
        let points: Vec<DVec3> = points.iter().cycle().take(points.len() * repeat)
            .map(|p| DVec3::new(p[0], p[1], p[2] * squash) * scale).collect();
        if let Ok(hull) = Shape3::hull(&points) {
            let mass = hull.mass_properties(1.0).unwrap().mass;
            prop_assert!(mass.is_finite() && mass > 0.0);
        }
        let flat: Vec<DVec2> = points.iter().map(|p| DVec2::new(p.x, p.y * squash)).collect();
        if let Ok(hull) = Shape2::hull(&flat) {
            prop_assert!(hull.mass_properties(1.0).unwrap().mass > 0.0);
        }
    }

    /// Our polytope contacts against parry's independent distance: the deepest separation is the
    /// distance where the boxes overlap or a face is nearest, and never more than it.
    #[test]
    fn box_contacts_agree_with_an_independent_distance(
        at in prop::array::uniform3(-1.1..1.1), axis in prop::array::uniform3(-3.0..3.0)
    ) {
        let a = Shape3::cuboid(DVec3::new(0.5, 0.4, 0.6)).unwrap();
        let b = Shape3::cuboid(DVec3::new(0.3, 0.5, 0.4)).unwrap();
        let pose = Pose::<D3> {
            position: DVec3::from_array(at),
            rotation: D3::turn(DQuat::IDENTITY, DVec3::from_array(axis)),
        };
        let origin = Pose::default();
        let distance = Shape3::separation((&a, &origin), (&b, &pose)).unwrap().distance;
        let mut contacts = Vec::new();
        Shape3::contacts((&a, &origin), (&b, &pose), 0.0, &mut contacts);
        if distance < -2e-3 {
            prop_assert!(!contacts.is_empty(), "overlap of {distance} missed");
            let deepest = contacts.iter().fold(f64::INFINITY, |d, c| d.min(c.separation));
            // Faces are preferred within a thousandth of the size; parry's EPA stops at 1e-6 or so.
            prop_assert!((deepest - distance).abs() < 3e-3, "{deepest} against {distance}");
        } else if distance > 1e-9 {
            prop_assert!(contacts.iter().all(|c| c.separation > -1e-9));
        }
    }

    /// The same in the plane.
    #[test]
    fn polygon_contacts_agree_with_an_independent_distance(
        at in prop::array::uniform2(-1.1..1.1), angle in -3.0..3.0
    ) {
        let a = Shape2::cuboid(DVec2::new(0.5, 0.4)).unwrap();
        let b = Shape2::hull(&[DVec2::new(-0.4, -0.3), DVec2::new(0.5, -0.2), DVec2::new(0.0, 0.5)])
            .unwrap();
        let pose = Pose::<D2> {
            position: DVec2::from_array(at),
            rotation: D2::turn(Default::default(), angle),
        };
        let origin = Pose::default();
        let distance = Shape2::separation((&a, &origin), (&b, &pose)).unwrap().distance;
        let mut contacts = Vec::new();
        Shape2::contacts((&a, &origin), (&b, &pose), 0.0, &mut contacts);
        if distance < -1e-6 {
            prop_assert!(!contacts.is_empty(), "overlap of {distance} missed");
            let deepest = contacts.iter().fold(f64::INFINITY, |d, c| d.min(c.separation));
            prop_assert!((deepest - distance).abs() < 1e-4, "{deepest} against {distance}");
        } else if distance > 1e-9 {
            prop_assert!(contacts.iter().all(|c| c.separation > -1e-9));
        }
    }
}

/// A tetrahedron with two equal moments of inertia was given the axes of another body: its inertia
/// against the integral over it, V·(Σ over corners), in any position and as a part of a compound.
#[test]
fn hulls_with_equal_moments_have_the_inertia_of_their_volume() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let hull = Shape3::hull(&corners).unwrap();
    let found = hull.mass_properties(1000.0).unwrap();
    // ∫ x² = ∫ xy·2 = 1/60 over it, so about the centre (¼, ¼, ¼): ρ (1/30 − V/8) and ρ (V/16 − 1/120).
    let volume = 1.0 / 6.0;
    let (along, across) = (
        1000.0 * (1.0 / 30.0 - volume / 8.0),
        1000.0 * (volume / 16.0 - 1.0 / 120.0),
    );
    let expected = DMat3::from_diagonal(DVec3::splat(along - across))
        + DMat3::from_cols(
            DVec3::splat(across),
            DVec3::splat(across),
            DVec3::splat(across),
        );
    let off = (found.inertia - expected).abs_diff_eq(DMat3::ZERO, 1e-9);
    assert!(off, "{} instead of {expected}", found.inertia);
}
