//! Solids with a radius around them: mass, contact, rest.
#![allow(clippy::unwrap_used)]

use std::f64::consts::PI;

use drystone::glam::{DMat3, DQuat, DVec2, DVec3};
use drystone::{
    Algebra, Body, Components, D2, D3, Geometry, Pose, Settings, Shape2, Shape3, ShapeError, Space,
    Strategy, World, World3,
};
use proptest::prelude::*;

fn tetrahedron() -> Shape3 {
    let corners = [
        DVec3::new(0.5, -0.3, 0.4),
        DVec3::new(-0.6, -0.3, 0.3),
        DVec3::new(0.1, -0.4, -0.5),
        DVec3::new(0.0, 0.5, 0.05),
    ];
    Shape3::hull(&corners).unwrap()
}

/// Sharp solids.
fn solids() -> Vec<Shape3> {
    vec![
        Shape3::cuboid(DVec3::new(0.5, 0.3, 0.4)).unwrap(),
        tetrahedron(),
        Shape3::cylinder(0.4, 0.3).unwrap(),
        Shape3::cone(0.4, 0.3).unwrap(),
    ]
}

fn flat() -> Vec<Shape2> {
    let triangle = [
        DVec2::new(-0.4, -0.3),
        DVec2::new(0.5, -0.2),
        DVec2::new(0.1, 0.6),
    ];
    vec![
        Shape2::cuboid(DVec2::new(0.5, 0.3)).unwrap(),
        Shape2::hull(&triangle).unwrap(),
    ]
}

/// Points that fill a box around the shape evenly: Halton's sequence.
fn halton(index: u32, base: u32) -> f64 {
    let (mut k, mut part, mut sum) = (index, 1.0, 0.0);
    while k > 0 {
        part /= f64::from(base);
        sum += part * f64::from(k % base);
        k /= base;
    }
    sum
}

#[test]
fn mass_and_inertia_of_rounded_solids_are_those_of_their_points() {
    for (which, sharp) in solids().iter().enumerate() {
        let shape = sharp.rounded(0.15).unwrap();
        let properties = shape.mass_properties(1.0).unwrap();
        let pose = Pose::<D3>::default();
        let bounds = shape.bounds(&pose).unwrap();
        let size = bounds.upper - bounds.lower;
        let count = 100_000;
        let (mut inside, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for k in 1..=count {
            let at = DVec3::new(halton(k, 2), halton(k, 3), halton(k, 5));
            let at = bounds.lower + at * size;
            if shape.signed_distance(&pose, at) <= 0.0 {
                inside += 1.0;
                first += at;
                second += DMat3::from_cols(at * at.x, at * at.y, at * at.z);
            }
        }
        let cell = size.x * size.y * size.z / f64::from(count);
        let (volume, center) = (inside * cell, first / inside);
        let square = |c: DVec3| DMat3::from_cols(c * c.x, c * c.y, c * c.z);
        let about = second * cell - square(center) * volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - about;
        assert!(
            (properties.mass / volume - 1.0).abs() < 3e-3,
            "{which}: {volume}"
        );
        assert!(
            (properties.center - center).length() < 1e-3,
            "{which}: {center}"
        );
        let off = properties.inertia - inertia;
        assert!(
            off.abs_diff_eq(DMat3::ZERO, 4e-3 * trace),
            "{which}: {off} {inertia}"
        );
    }
}

#[test]
fn mass_and_inertia_of_rounded_polygons_are_those_of_their_points() {
    for (which, sharp) in flat().iter().enumerate() {
        let shape = sharp.rounded(0.15).unwrap();
        let properties = shape.mass_properties(1.0).unwrap();
        let pose = Pose::<D2>::default();
        let bounds = shape.bounds(&pose).unwrap();
        let size = bounds.upper - bounds.lower;
        let count = 100_000;
        let inside: Vec<DVec2> = (1..=count)
            .map(|k| bounds.lower + DVec2::new(halton(k, 2), halton(k, 3)) * size)
            .filter(|at| shape.signed_distance(&pose, *at) <= 0.0)
            .collect();
        let cell = size.x * size.y / f64::from(count);
        let area = inside.len() as f64 * cell;
        let center = inside.iter().sum::<DVec2>() / inside.len() as f64;
        let inertia: f64 = inside
            .iter()
            .map(|p| (*p - center).length_squared() * cell)
            .sum();
        assert!(
            (properties.mass / area - 1.0).abs() < 2e-3,
            "{which}: {area}"
        );
        assert!(
            (properties.center - center).length() < 1e-3,
            "{which}: {center}"
        );
        assert!(
            (properties.inertia / inertia - 1.0).abs() < 3e-3,
            "{which}: {inertia}"
        );
    }
}

#[test]
fn closed_forms_of_rounded_solids_hold_exactly() {
    // Steiner's formula for a box, and the same box as a hull.
    let (h, r) = (DVec3::new(0.5, 0.3, 0.4), 0.15);
    let shape = Shape3::cuboid(h).unwrap().rounded(r).unwrap();
    let box_mass = shape.mass_properties(1.0).unwrap();
    let e = h * 2.0;
    let surface = 2.0 * (e.x * e.y + e.y * e.z + e.z * e.x);
    let volume =
        e.x * e.y * e.z + surface * r + PI * r * r * (e.x + e.y + e.z) + 4.0 / 3.0 * PI * r.powi(3);
    assert!((box_mass.mass - volume).abs() < 1e-12);
    let corners: Vec<DVec3> = (0..8)
        .map(|k| {
            let s = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            DVec3::new(s(0), s(1), s(2)) * h
        })
        .collect();
    let hull = Shape3::hull(&corners).unwrap().rounded(r).unwrap();
    let hull_mass = hull.mass_properties(1.0).unwrap();
    assert!((box_mass.inertia - hull_mass.inertia).abs_diff_eq(DMat3::ZERO, 1e-12));
    // What is thin is a ball (or a capsule) after all.
    let ball = Shape3::ball(0.5).unwrap().mass_properties(1.0).unwrap();
    let speck = Shape3::cuboid(DVec3::splat(1e-9)).unwrap();
    let wire = Shape3::cylinder(0.7, 1e-9).unwrap().rounded(0.5).unwrap();
    let capsule = Shape3::capsule(0.7, 0.5).unwrap();
    for (round, known) in [
        (
            speck.rounded(0.5).unwrap().mass_properties(1.0).unwrap(),
            ball,
        ),
        (
            wire.mass_properties(1.0).unwrap(),
            capsule.mass_properties(1.0).unwrap(),
        ),
    ] {
        assert!(
            (round.mass - known.mass).abs() < 1e-7,
            "{round:?} {known:?}"
        );
        assert!((round.inertia - known.inertia).abs_diff_eq(DMat3::ZERO, 1e-7));
    }
    // A stadium twice.
    let stadium = Shape2::capsule(0.7, 0.5)
        .unwrap()
        .mass_properties(1.0)
        .unwrap();
    let line = Shape2::cuboid(DVec2::new(1e-9, 0.7))
        .unwrap()
        .rounded(0.5)
        .unwrap();
    let line = line.mass_properties(1.0).unwrap();
    assert!((line.mass - stadium.mass).abs() < 1e-7);
    assert!((line.inertia - stadium.inertia).abs() < 1e-7);
}

fn touches<S: Space>(
    [sharp, other]: [&S::Shape; 2],
    [rounded, round_other]: [&S::Shape; 2],
    pose: &Pose<S>,
    radii: f64,
) -> Result<(), TestCaseError> {
    let origin = Pose::default();
    let core = S::Shape::separation((sharp, &origin), (other, pose)).unwrap();
    let mut contacts = Vec::new();
    S::Shape::contacts((rounded, &origin), (round_other, pose), 0.1, &mut contacts);
    let expected = core.distance - radii;
    let tolerance = 4e-3;
    if expected > 0.1 + tolerance {
        prop_assert!(contacts.is_empty(), "{expected}: {contacts:?}");
    } else if expected < 0.1 - tolerance {
        prop_assert!(!contacts.is_empty(), "missed {core:?}");
        let deepest = contacts
            .iter()
            .map(|c| c.separation)
            .fold(f64::INFINITY, f64::min);
        prop_assert!(
            (deepest - expected).abs() < tolerance,
            "{deepest} {expected} {contacts:?}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The distance of rounded solids is that of their cores, less the radii.
    #[test]
    fn rounded_solids_touch_where_their_cores_are_as_near_as_their_radii(
        which in (0..2usize, 0..3usize), radii in prop::array::uniform2(0.02..0.3),
        at in prop::array::uniform3(-1.4..1.4), turn in prop::array::uniform3(-3.0..3.0),
    ) {
        let (a, b) = (&solids()[which.0], &solids()[which.1]);
        let pose = Pose::<D3> {
            position: DVec3::from_array(at),
            rotation: D3::turn(DQuat::IDENTITY, DVec3::from_array(turn)),
        };
        let round = [a.rounded(radii[0]).unwrap(), b.rounded(radii[1]).unwrap()];
        touches::<D3>([a, b], [&round[0], &round[1]], &pose, radii[0] + radii[1])?;
        touches::<D3>([a, b], [a, &round[1]], &pose, radii[1])?;
    }

    #[test]
    fn rounded_polygons_touch_where_their_cores_are_as_near_as_their_radii(
        which in (0..2usize, 0..2usize), radii in prop::array::uniform2(0.02..0.3),
        at in prop::array::uniform2(-1.4..1.4), turn in -3.0..3.0,
    ) {
        let (a, b) = (&flat()[which.0], &flat()[which.1]);
        let pose = Pose::<D2> {
            position: DVec2::from_array(at),
            rotation: D2::turn(Default::default(), turn),
        };
        let round = [a.rounded(radii[0]).unwrap(), b.rounded(radii[1]).unwrap()];
        touches::<D2>([a, b], [&round[0], &round[1]], &pose, radii[0] + radii[1])?;
        touches::<D2>([a, b], [a, &round[1]], &pose, radii[1])?;
    }
}

/// Rounded solids rest on each other, on planes and on meshes at the height of core and radius.
#[test]
fn rounded_solids_rest_where_they_should() {
    for name in ["velocity", "realtime"] {
        for floor in 0..3 {
            for (which, sharp) in solids().into_iter().enumerate().filter(|(k, _)| *k != 1) {
                let strategy = Strategy::named(name).unwrap();
                let dt = strategy.usual_dt();
                let settings = Settings {
                    dt,
                    strategy,
                    ..Settings::default()
                };
                let mut world: World3 = World::new(settings).unwrap();
                let slab = Shape3::cuboid(DVec3::new(3.0, 0.4, 3.0)).unwrap();
                let (ground, top) = match floor {
                    0 => (Shape3::half_space(DVec3::Y).unwrap(), 0.0),
                    1 => (slab.rounded(0.1).unwrap(), 0.5),
                    _ => {
                        let field = Shape3::height_field(DVec2::splat(0.37), 21, &[0.0; 21 * 21]);
                        (field.unwrap(), 0.0)
                    }
                };
                world.add(Body::fixed(ground)).unwrap();
                let half = if which == 0 { 0.3 } else { 0.4 };
                let height = top + half + 0.05;
                let shape = sharp.rounded(0.05).unwrap();
                let at = DVec3::new(0.02, height + 0.01, 0.03);
                let id = world.add(Body::rigid(shape).at(at)).unwrap();
                while world.time() < 2.0 {
                    world.step().unwrap();
                }
                let reached = world.pose(id).unwrap().position;
                assert!(
                    (reached.component(1) - height).abs() < 2e-3,
                    "{name}, solid {which} on floor {floor}: {reached} instead of {height}"
                );
            }
        }
    }
}

#[test]
fn only_solids_can_be_rounded() {
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    assert_eq!(floor.rounded(0.1).unwrap_err(), ShapeError::NotSolid);
    assert!(Shape3::ball(1.0).unwrap().rounded(f64::NAN).is_err());
    assert!(Shape2::ball(1.0).unwrap().rounded(-1.0).is_err());
    assert_eq!(
        Shape3::ball(1.0)
            .unwrap()
            .rounded(0.5)
            .unwrap()
            .ball_radius(),
        Some(1.5)
    );
}
