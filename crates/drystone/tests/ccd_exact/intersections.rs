//! The intersection checker against the same oracle: a segment meets a triangle exactly if a
//! vertex that moves along it meets the standing face.

use drystone::geometry::intersect::{
    segment_meets_triangle, segments_meet_in_plane, segments_meet_in_space,
};
use drystone::glam::{DVec2, DVec3};

use super::oracle::Points;
use super::queries::Chance;

/// Corners on a small grid, where most pairs are degenerate in some way.
fn corners(chance: &mut Chance, count: usize) -> Vec<DVec3> {
    let reach = [1, 1, 2, 4, 100][(chance.next() % 5) as usize];
    let flat = chance.next().is_multiple_of(3);
    let far = [0.0, 1e6][(chance.next() % 2) as usize];
    (0..count)
        .map(|_| {
            let z = chance.whole(reach);
            let z = if flat { 1.0 } else { z };
            DVec3::new(chance.whole(reach), chance.whole(reach), z) + DVec3::splat(far)
        })
        .collect()
}

/// A point that moves from `from` to `to`, and corners that stand.
fn moving(from: DVec3, to: DVec3, standing: &[DVec3]) -> Points {
    let list = |first: DVec3| {
        std::iter::once(first)
            .chain(standing.iter().copied())
            .map(|p| p.to_array())
            .collect()
    };
    Points {
        start: list(from),
        end: list(to),
    }
}

#[test]
fn segments_meet_triangles_exactly_where_a_moving_vertex_meets_the_face() {
    let mut chance = Chance(11);
    let mut met = 0;
    for _ in 0..2500 {
        let p = corners(&mut chance, 5);
        let truth = moving(p[0], p[1], &p[2..]).vertex_meets_face();
        let answer = segment_meets_triangle([p[0], p[1]], [p[2], p[3], p[4]]);
        assert_eq!(answer, truth, "{p:?}");
        met += usize::from(truth);
    }
    assert!((500..2000).contains(&met), "{met} met: a poor test");
}

#[test]
fn segments_meet_segments_exactly_where_a_moving_point_meets_the_edge() {
    let mut chance = Chance(12);
    let (mut in_space, mut in_plane) = (0, 0);
    for _ in 0..2500 {
        let mut p = corners(&mut chance, 4);
        let truth = moving(p[0], p[1], &p[2..]).point_meets_edge();
        assert_eq!(
            segments_meet_in_space([p[0], p[1]], [p[2], p[3]]),
            truth,
            "{p:?}"
        );
        in_space += usize::from(truth);
        for p in &mut p {
            p.z = 0.0;
        }
        let truth = moving(p[0], p[1], &p[2..]).point_meets_edge();
        let flat: Vec<DVec2> = p.iter().map(|p| p.truncate()).collect();
        assert_eq!(
            segments_meet_in_plane([flat[0], flat[1]], [flat[2], flat[3]]),
            truth,
            "{p:?}"
        );
        in_plane += usize::from(truth);
    }
    assert!(in_space > 300 && in_plane > 600, "{in_space}, {in_plane}");
}
