//! Closest points: feasible, optimal and sane for degenerate primitives.

use drystone::geometry::ccd::distance::{edge_edge, point_edge, point_triangle};
use drystone::glam::{DVec2, DVec3};
use proptest::prelude::*;

fn points() -> impl Strategy<Value = DVec3> {
    prop_oneof![
        prop::array::uniform3(-2_i32..3).prop_map(|p| DVec3::from_array(p.map(f64::from))),
        prop::array::uniform3(-3.0..3.0).prop_map(DVec3::from_array),
        prop::array::uniform3(-1e-9..1e-9).prop_map(DVec3::from_array),
    ]
}

fn is_convex(weights: &[f64]) -> bool {
    let sum: f64 = weights.iter().sum();
    weights.iter().all(|w| (0.0..=1.0).contains(w)) && (sum - 1.0).abs() < 1e-15
}

/// A point x of a convex set is the nearest to p if no corner c is on the near side. On the way
/// from x to c the squared distance can fall by g² / |c − x|² with g = (p − x)·(c − x), which
/// must be within what rounding the corners makes of it.
fn is_nearest(from: DVec3, nearest: DVec3, corners: &[DVec3]) -> bool {
    let size = corners
        .iter()
        .fold(0.0, |size: f64, c| size.max((*c - from).length()));
    let rounding = 1e-14 * size * ((from - nearest).length() + 1e-14 * size);
    corners.iter().all(|c| {
        let (gain, way) = (
            (from - nearest).dot(*c - nearest),
            (*c - nearest).length_squared(),
        );
        gain <= 0.0 || gain * gain.min(way) <= rounding * way
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_nearest_point_of_a_face_is_nearest(p in points(), face in prop::array::uniform3(points())) {
        let closest = point_triangle(p, &face);
        prop_assert!(is_convex(&closest.weights), "{:?}", closest);
        let nearest = (0..3).fold(DVec3::ZERO, |sum, k| sum + face[k] * closest.weights[k]);
        prop_assert!(is_nearest(p, nearest, &face), "{:?}", closest);
        let distance = (nearest - p).length();
        prop_assert!((closest.squared_distance.sqrt() - distance).abs() < 1e-12);
    }

    #[test]
    fn the_nearest_points_of_edges_are_nearest(
        first in prop::array::uniform2(points()),
        second in prop::array::uniform2(points()),
    ) {
        let closest = edge_edge(&first, &second);
        prop_assert!(is_convex(&closest.first) && is_convex(&closest.second), "{:?}", closest);
        let on_first = first[0] * closest.first[0] + first[1] * closest.first[1];
        let on_second = second[0] * closest.second[0] + second[1] * closest.second[1];
        // The parallelogram of differences and the origin.
        let corners: Vec<DVec3> = first.iter().flat_map(|a| second.map(|b| b - *a)).collect();
        prop_assert!(is_nearest(DVec3::ZERO, on_second - on_first, &corners), "{:?}", closest);
        let distance = (on_second - on_first).length();
        prop_assert!((closest.squared_distance.sqrt() - distance).abs() < 1e-12);
    }

    #[test]
    fn the_nearest_point_of_an_edge_is_nearest(p in points(), edge in prop::array::uniform2(points())) {
        let closest = point_edge(p, &edge);
        prop_assert!(is_convex(&closest.weights));
        let nearest = edge[0] * closest.weights[0] + edge[1] * closest.weights[1];
        prop_assert!(is_nearest(p, nearest, &edge));
    }
}

#[test]
fn closed_forms() {
    let face = [DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 3.0];
    let above = point_triangle(DVec3::new(0.75, 0.75, 2.0), &face);
    assert_eq!(above.weights, [0.5, 0.25, 0.25]);
    assert_eq!(above.squared_distance, 4.0);
    let beyond = point_triangle(DVec3::new(4.0, -3.0, 0.0), &face);
    assert_eq!(beyond.weights, [0.0, 1.0, 0.0]);
    assert_eq!(beyond.squared_distance, 10.0);

    let crossed = edge_edge(
        &[DVec3::NEG_X, DVec3::X * 3.0],
        &[DVec3::new(0.0, -1.0, 5.0), DVec3::new(0.0, 1.0, 5.0)],
    );
    assert_eq!((crossed.first, crossed.second), ([0.75, 0.25], [0.5, 0.5]));
    assert_eq!(crossed.squared_distance, 25.0);
    let parallel = edge_edge(&[DVec3::ZERO, DVec3::X], &[DVec3::Y, DVec3::Y + DVec3::X]);
    assert_eq!(parallel.squared_distance, 1.0);

    let point = [DVec2::ONE; 2];
    assert_eq!(point_edge(DVec2::ZERO, &point).squared_distance, 2.0);
}

#[test]
fn a_small_height_over_a_large_face_keeps_its_digits() {
    let face = [DVec3::new(-1.0, -1.0, 0.0), DVec3::X * 2.0, DVec3::Y * 2.0];
    for height in [1e-3, 1e-9, 1e-15, 1e-30, 1e-100] {
        let closest = point_triangle(DVec3::new(0.1, 0.2, height), &face);
        let distance = closest.squared_distance.sqrt();
        assert!(
            (distance / height - 1.0).abs() < 1e-12,
            "{distance} for {height}"
        );
    }
}
