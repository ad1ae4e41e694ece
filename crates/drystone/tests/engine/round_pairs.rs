//! Balls and capsules on each other, on boxes and on hulls, against an independent distance.
#![allow(clippy::unwrap_used)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{Algebra, Components, D2, D3, Geometry, Linear, Pose, Shape2, Shape3, Space};
use proptest::prelude::*;

fn solids() -> Vec<Shape3> {
    let hull = [
        DVec3::new(0.5, -0.3, 0.4),
        DVec3::new(-0.6, -0.3, 0.3),
        DVec3::new(0.1, -0.4, -0.5),
        DVec3::new(0.0, 0.5, 0.05),
        DVec3::new(0.4, 0.3, -0.2),
        DVec3::new(-0.3, 0.2, -0.3),
    ];
    vec![
        Shape3::ball(0.35).unwrap(),
        Shape3::capsule(0.5, 0.2).unwrap(),
        Shape3::capsule(0.9, 0.03).unwrap(),
        Shape3::cuboid(DVec3::new(0.5, 0.3, 0.4)).unwrap(),
        Shape3::hull(&hull).unwrap(),
    ]
}

fn flat() -> Vec<Shape2> {
    let hull = [
        DVec2::new(-0.4, -0.3),
        DVec2::new(0.5, -0.2),
        DVec2::new(0.3, 0.4),
        DVec2::new(-0.1, 0.5),
    ];
    vec![
        Shape2::ball(0.35).unwrap(),
        Shape2::capsule(0.5, 0.2).unwrap(),
        Shape2::capsule(0.9, 0.03).unwrap(),
        Shape2::cuboid(DVec2::new(0.5, 0.3)).unwrap(),
        Shape2::hull(&hull).unwrap(),
    ]
}

/// The deepest contact is as deep as parry's; the normal separates by that much and no more, and
/// no contact is found that is further than the margin.
fn agrees<S: Space>(
    a: &S::Shape,
    b: (&S::Shape, &Pose<S>),
    margin: f64,
) -> Result<(), TestCaseError> {
    let origin = Pose::default();
    let oracle = S::Shape::separation((a, &origin), b).unwrap();
    let mut contacts = Vec::new();
    S::Shape::contacts((a, &origin), b, margin, &mut contacts);
    // Faces are preferred within a thousandth of the size, about 2 m here.
    let tolerance = 3e-3;
    if oracle.distance > margin + tolerance {
        prop_assert!(
            contacts.is_empty(),
            "nothing within {margin}, but {contacts:?}"
        );
        return Ok(());
    }
    if oracle.distance < margin - tolerance {
        prop_assert!(!contacts.is_empty(), "missed {oracle:?}");
    }
    let deepest = contacts
        .iter()
        .map(|c| c.separation)
        .fold(f64::INFINITY, f64::min);
    if !contacts.is_empty() {
        prop_assert!(
            (deepest - oracle.distance).abs() < tolerance,
            "{deepest} against {oracle:?}: {contacts:?}"
        );
    }
    let mut names: Vec<_> = contacts.iter().map(|c| c.feature).collect();
    names.sort_unstable();
    names.dedup();
    prop_assert_eq!(
        names.len(),
        contacts.len(),
        "identifiers must differ: {:?}",
        contacts
    );
    for contact in &contacts {
        prop_assert!((contact.normal.length() - 1.0).abs() < 1e-9);
        prop_assert!(contact.normal == contacts[0].normal);
        prop_assert!(contact.separation <= margin);
        // The point is half-way between the surfaces.
        let inside = a.signed_distance(&origin, contact.position);
        prop_assert!(
            inside < 0.5 * contact.separation.abs() + tolerance,
            "{inside} {contact:?}"
        );
    }
    // Swapped, the same contacts with the normal turned.
    let mut swapped = Vec::new();
    S::Shape::contacts(b, (a, &origin), margin, &mut swapped);
    let other = swapped
        .iter()
        .map(|c| c.separation)
        .fold(f64::INFINITY, f64::min);
    if (oracle.distance - margin).abs() > tolerance {
        prop_assert_eq!(swapped.is_empty(), contacts.is_empty());
    }
    if !swapped.is_empty() && !contacts.is_empty() {
        prop_assert!(
            (other - deepest).abs() < tolerance,
            "{contacts:?} {swapped:?}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn round_solids_touch_as_an_independent_distance_says(
        which in (0..3usize, 0..5usize), is_swapped in prop::bool::ANY,
        at in prop::array::uniform3(-1.2..1.2), turn in prop::array::uniform3(-3.0..3.0),
        margin in prop::sample::select(vec![0.0, 0.02, 0.3]),
    ) {
        let (round, any) = (&solids()[which.0], &solids()[which.1]);
        let (a, b) = if is_swapped { (any, round) } else { (round, any) };
        let pose = Pose::<D3> {
            position: DVec3::from_array(at),
            rotation: D3::turn(DQuat::IDENTITY, DVec3::from_array(turn)),
        };
        agrees::<D3>(a, (b, &pose), margin)?;
    }

    #[test]
    fn round_flat_shapes_touch_as_an_independent_distance_says(
        which in (0..3usize, 0..5usize), is_swapped in prop::bool::ANY,
        at in prop::array::uniform2(-1.2..1.2), turn in -3.0..3.0,
        margin in prop::sample::select(vec![0.0, 0.02, 0.3]),
    ) {
        let (round, any) = (&flat()[which.0], &flat()[which.1]);
        let (a, b) = if is_swapped { (any, round) } else { (round, any) };
        let pose = Pose::<D2> {
            position: DVec2::from_array(at),
            rotation: D2::turn(Default::default(), turn),
        };
        agrees::<D2>(a, (b, &pose), margin)?;
    }
}

/// Exactly aligned poses have no unique closest points; a capsule must still lie on two.
#[test]
fn a_capsule_that_lies_flat_is_held_at_both_ends() {
    let capsule = Shape3::capsule(0.5, 0.2).unwrap();
    let lying = |y: f64, tilt: f64| Pose::<D3> {
        position: DVec3::Y * y,
        rotation: D3::turn(
            DQuat::IDENTITY,
            DVec3::Z * (std::f64::consts::FRAC_PI_2 + tilt),
        ),
    };
    let block = Shape3::cuboid(DVec3::new(0.3, 0.5, 0.5)).unwrap();
    let origin = Pose::default();
    for tilt in [0.0, 1e-4, -1e-4, 1e-12] {
        for gap in [-1e-3, 0.0, 1e-3] {
            let mut on_block = Vec::new();
            let pose = lying(0.7 + gap, tilt);
            Shape3::contacts((&block, &origin), (&capsule, &pose), 0.01, &mut on_block);
            let mut on_capsule = Vec::new();
            let pose = lying(0.4 + gap, tilt);
            Shape3::contacts(
                (&capsule, &lying(0.0, 0.0)),
                (&capsule, &pose),
                0.01,
                &mut on_capsule,
            );
            for (found, length) in [(on_block, 0.6), (on_capsule, 1.0)] {
                assert_eq!(found.len(), 2, "{found:?}");
                let apart = (found[0].position - found[1].position).length();
                assert!((apart - length).abs() < 1e-3, "{apart} instead of {length}");
                assert!(found.iter().all(|c| (c.separation - gap).abs() < 2e-4));
                assert!(found.iter().all(|c| c.normal.component(1) > 0.999_999));
            }
        }
    }
}
