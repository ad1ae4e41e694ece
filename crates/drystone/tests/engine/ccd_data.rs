//! The public queries with exact ground truth: none is missed, and few are hit needlessly.

use crate::ccd_common::{Kind, Query, queries};
use drystone::geometry::ccd::distance::{edge_edge, point_triangle};
use drystone::glam::DVec3;

/// The same query told differently: names of corners, direction of time, axes, unit of length.
fn variants(query: &Query) -> Vec<Query> {
    let changed = |change: &dyn Fn(&mut Query)| {
        let mut query = query.clone();
        change(&mut query);
        query
    };
    let map = |query: &mut Query, change: &dyn Fn(DVec3) -> DVec3| {
        query.start = query.start.map(change);
        query.end = query.end.map(change);
    };
    let order = match query.kind {
        Kind::VertexFace => [0, 2, 3, 1],
        Kind::EdgeEdge => [2, 3, 1, 0],
    };
    vec![
        query.clone(),
        changed(&|q| std::mem::swap(&mut q.start, &mut q.end)),
        changed(&|q| {
            q.start = order.map(|k| query.start[k]);
            q.end = order.map(|k| query.end[k]);
        }),
        changed(&|q| map(q, &|p| DVec3::new(-p.y, p.z, p.x))),
        changed(&|q| map(q, &|p| p * 2_f64.powi(-700))),
        changed(&|q| map(q, &|p| p * 2_f64.powi(700))),
    ]
}

/// The distance of the primitives at a time, m.
fn distance_at(query: &Query, t: f64) -> f64 {
    let p: [DVec3; 4] = std::array::from_fn(|k| query.start[k].lerp(query.end[k], t));
    let square = match query.kind {
        Kind::VertexFace => point_triangle(p[0], &[p[1], p[2], p[3]]).squared_distance,
        Kind::EdgeEdge => edge_edge(&[p[0], p[1]], &[p[2], p[3]]).squared_distance,
    };
    square.sqrt()
}

#[test]
fn no_query_is_missed_however_it_is_told_and_few_are_hit_needlessly() {
    let queries = queries();
    let (mut needless, mut widest) = (0, 0.0_f64);
    for (index, query) in queries.iter().enumerate() {
        for (how, told) in variants(query).iter().enumerate() {
            let answer = told.ask(0.0);
            let hit = answer.is_some();
            assert!(
                hit || !query.truth,
                "missed {index}, variant {how}: {told:?}"
            );
            if let Some(answer) = answer
                && how == 0
                && !query.truth
            {
                needless += 1;
                widest = widest.max(distance_at(query, answer.earliest));
            }
        }
    }
    println!(
        "{} queries, {needless} hit needlessly, at {widest:e} m or less",
        queries.len()
    );
    // ipctk's additive method has 573. What is hit needlessly all but touches, in scenes a few
    // metres large.
    assert!(widest < 5e-14, "{widest:e} m");
    assert!(needless <= 200, "{needless} needless hits");
}

#[test]
fn more_separation_means_an_earlier_impact() {
    for query in queries() {
        let mut before = f64::INFINITY;
        for separation in [0.0, 1e-9, 1e-6, 1e-3, 0.1] {
            let earliest = query.ask(separation).map_or(2.0, |hit| hit.earliest);
            assert!(earliest <= before + 1e-12, "{separation}: {query:?}");
            before = earliest;
        }
    }
}
