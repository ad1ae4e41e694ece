//! Continuous collision: closed forms, edges of the input range, bad numbers.

use drystone::geometry::ccd::{TimeOfImpact, edge_edge, point_edge, point_point, vertex_face};
use drystone::glam::{DVec2, DVec3};
use drystone::{D2, D3};

const AT_ONCE: Option<TimeOfImpact> = Some(TimeOfImpact {
    safe: 0.0,
    earliest: 0.0,
});

/// A vertex over the middle of a unit triangle that moves down by `way` from `height`.
fn drop(height: f64, way: f64, separation: f64, t_max: f64) -> Option<TimeOfImpact> {
    let over = DVec3::new(0.25, height, 0.25);
    let face = [DVec3::ZERO, DVec3::X, DVec3::Z];
    let rows = |v: DVec3| [v, face[0], face[1], face[2]];
    vertex_face(&rows(over), &rows(over - DVec3::Y * way), separation, t_max)
}

#[test]
fn a_falling_vertex_stops_where_the_closed_form_says() {
    for (height, way, separation) in [(1.0, 2.0, 0.0), (1.0, 1.5, 0.25), (3.0, 10.0, 1e-6)] {
        let hit = drop(height, way, separation, 1.0).unwrap();
        let truth = (height - separation) / way;
        assert!((hit.earliest - truth).abs() < 1e-14 && hit.earliest <= truth);
        assert!((hit.safe - 0.9 * truth).abs() < 1e-14);
        assert_eq!(drop(height, way, separation, 0.99 * truth), None);
        assert!(drop(height, way, separation, truth).is_some());
    }
    assert_eq!(drop(1.0, 0.5, 0.4999, 1.0), None);
    assert!(drop(1.0, 0.5, 0.5, 1.0).is_some());
}

#[test]
fn touching_at_the_start_is_a_hit_at_once_even_without_motion() {
    assert_eq!(drop(0.0, 1.0, 0.0, 1.0), AT_ONCE);
    assert_eq!(drop(0.0, 0.0, 0.0, 1.0), AT_ONCE);
    assert_eq!(drop(0.0, -1.0, 0.0, 1.0), AT_ONCE);
    assert_eq!(drop(0.5, 0.0, 0.5, 1.0), AT_ONCE);
    assert_eq!(drop(0.0, 1.0, 0.0, 0.0), AT_ONCE);
    assert_eq!(drop(1e-3, 1.0, 0.0, 0.0), None);
    let same = [DVec3::ONE; 2];
    assert_eq!(point_point::<D3>(&same, &same, 0.0, 1.0), AT_ONCE);
}

#[test]
fn what_moves_along_together_never_meets_however_fast_and_far() {
    for far in [0.0, 1e3, 1e7] {
        let shift = DVec3::new(far, -2.0 * far, far);
        let start = [
            DVec3::new(0.25, 1e-6, 0.25),
            DVec3::ZERO,
            DVec3::X,
            DVec3::Z,
        ]
        .map(|p| p + DVec3::splat(far));
        let end = start.map(|p| p + shift);
        assert_eq!(vertex_face(&start, &end, 0.0, 1.0), None, "{far}");
    }
}

#[test]
fn a_turning_edge_meets_a_pole_at_the_quarter_turn() {
    // The second edge's ends move on straight lines from the x-axis through the diagonal.
    let pole = [DVec3::new(1.0, 1.0, -1.0), DVec3::new(1.0, 1.0, 1.0)];
    let start = [pole[0], pole[1], DVec3::ZERO, DVec3::new(3.0, 0.0, 0.0)];
    let end = [pole[0], pole[1], DVec3::ZERO, DVec3::new(3.0, 6.0, 0.0)];
    let hit = edge_edge(&start, &end, 0.0, 1.0).unwrap();
    // (3, 6 t) is parallel to (1, 1) at t = 1/2.
    assert!((hit.earliest - 0.5).abs() < 1e-9, "{hit:?}");
    assert!(hit.earliest <= 0.5 && hit.safe > 0.4);
}

#[test]
fn parallel_and_degenerate_edges_meet_and_miss() {
    let edge = |y: f64| [DVec3::new(0.0, y, 0.0), DVec3::new(1.0, y, 0.0)];
    let rows = |y: f64| [edge(0.0)[0], edge(0.0)[1], edge(y)[0], edge(y)[1]];
    let hit = edge_edge(&rows(1.0), &rows(-1.0), 0.0, 1.0).unwrap();
    assert!((hit.earliest - 0.5).abs() < 1e-12);
    assert_eq!(edge_edge(&rows(1.0), &rows(0.001), 0.0, 1.0), None);
    let to_point = |y: f64| {
        [
            edge(0.0)[0],
            edge(0.0)[1],
            DVec3::new(0.3, y, 0.0),
            DVec3::new(0.3, y, 0.0),
        ]
    };
    assert!(edge_edge(&to_point(1.0), &to_point(-1.0), 0.0, 1.0).is_some());
    assert_eq!(edge_edge(&to_point(1.0), &to_point(1e-9), 0.0, 1.0), None);
}

#[test]
fn points_meet_in_the_plane_and_pass_at_a_distance() {
    let pass = |offset: f64, separation: f64| {
        point_point::<D2>(
            &[DVec2::new(-1.0, 0.0), DVec2::new(1.0, offset)],
            &[DVec2::new(1.0, 0.0), DVec2::new(-1.0, offset)],
            separation,
            1.0,
        )
    };
    assert!((pass(0.0, 0.0).unwrap().earliest - 0.5).abs() < 1e-12);
    assert_eq!(pass(1e-9, 0.0), None);
    assert_eq!(pass(0.1, 0.099_999), None);
    assert!(pass(0.1, 0.1).is_some());
    // A point through an edge, and past its end.
    let sweep = |x: f64| {
        let edge = [DVec2::ZERO, DVec2::X];
        let rows = |y: f64| [DVec2::new(x, y), edge[0], edge[1]];
        point_edge::<D2>(&rows(1.0), &rows(-3.0), 0.0, 1.0)
    };
    assert!((sweep(0.5).unwrap().earliest - 0.25).abs() < 1e-12);
    assert!(sweep(1.0).is_some());
    assert_eq!(sweep(1.0 + f64::EPSILON), None);
}

#[test]
fn numbers_that_are_none_prove_nothing() {
    let good = [DVec3::Y * 9.0, DVec3::ZERO, DVec3::X, DVec3::Z];
    assert_eq!(vertex_face(&good, &good, 0.0, 1.0), None);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for corner in 0..4 {
            for axis in 0..3 {
                let mut rows = good;
                rows[corner][axis] = bad;
                assert_eq!(vertex_face(&good, &rows, 0.0, 1.0), AT_ONCE);
                assert_eq!(edge_edge(&rows, &good, 0.0, 1.0), AT_ONCE);
            }
        }
    }
    let huge = good.map(|p| p * -1.7e308 + DVec3::splat(1e308));
    assert_eq!(vertex_face(&huge, &huge.map(|p| -p), 0.0, 1.0), AT_ONCE);
    assert_eq!(vertex_face(&good, &good, f64::NAN, 1.0), AT_ONCE);
    assert_eq!(vertex_face(&good, &good, f64::INFINITY, 1.0), AT_ONCE);
    assert_eq!(vertex_face(&good, &good, -1.0, f64::NAN), None);
}
