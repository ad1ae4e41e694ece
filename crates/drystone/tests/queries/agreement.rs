//! Queries against asking every body, and against each other, in random scenes.

use crate::scenes::{ALL, places, scene2, scene3, sheet, solids2, solids3, turned, unit2, unit3};
use drystone::geometry::shape::Bounds;
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::world::query::Ray;
use drystone::{Algebra, BodyId, D2, D3, Geometry, Pose, Shape3};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_tree_finds_what_asking_every_body_finds_in_space(
        places in places(60), from in prop::array::uniform3(-6.0..6.0),
        towards in prop::array::uniform3(-1.0..1.0), reach in 0.5..12.0
    ) {
        let (world, all) = scene3(&places, DVec3::ZERO);
        let tree = world.query_tree();
        let (from, direction) = (DVec3::from_array(from), unit3(towards));
        let ids: Vec<BodyId> =
            (0..all.len()).map(|k| world.body(&format!("body {k}")).unwrap()).collect();

        let mut hits: Vec<(f64, BodyId)> = all.iter().zip(&ids)
            .filter_map(|((s, p), &id)| Some((s.cast_ray(p, from, direction, reach)?.distance, id)))
            .collect();
        hits.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        let ray = Ray::new(from, direction).up_to(reach);
        let got: Vec<_> = tree.cast_ray_all(&ray, &ALL).unwrap().iter()
            .map(|h| (h.distance, h.body)).collect();
        // A unit vector made unit again may change in its last digit.
        prop_assert_eq!(got.len(), hits.len());
        for (g, h) in got.iter().zip(&hits) {
            prop_assert!(g.1 == h.1 && (g.0 - h.0).abs() < 1e-9, "{got:?} {hits:?}");
        }
        let first = tree.cast_ray(&ray, &ALL).unwrap().map(|h| (h.distance, h.body));
        prop_assert_eq!(first, got.first().copied());

        let nearest = all.iter().zip(&ids)
            .map(|((s, p), &id)| (s.signed_distance(p, from), id))
            .min_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)))
            .filter(|n| n.0 <= reach);
        let got = tree.closest_point(from, reach, &ALL).unwrap();
        prop_assert_eq!(got.map(|n| (n.distance, n.body)), nearest);
        if let Some(n) = got {
            prop_assert!(((n.point - from).length() - n.distance.abs()).abs() < 1e-9);
        }

        for shape in solids3() {
            let pose = Pose { position: from, rotation: turned(towards) };
            let expected: Vec<BodyId> = all.iter().zip(&ids)
                .filter(|((s, p), _)| s.overlaps(p, (&shape, &pose))).map(|(_, &id)| id).collect();
            prop_assert_eq!(tree.overlapping(&shape, pose, &ALL).unwrap(), expected);
            let first = all.iter().zip(&ids)
                .filter_map(|((s, p), &id)| {
                    let met = s.cast(p, (&shape, &pose), direction, reach)?;
                    Some((met.distance, met.separation, id))
                })
                .min_by(|p, q| p.partial_cmp(q).unwrap());
            let got = tree.cast_shape(&shape, pose, direction * reach, &ALL).unwrap();
            prop_assert_eq!(got.is_some(), first.is_some());
            if let (Some(got), Some(first)) = (got, first) {
                prop_assert!((got.fraction * reach - first.0).abs() < 1e-6, "{got:?} {first:?}");
                prop_assert!((got.separation - first.1).abs() < 1e-6, "{got:?} {first:?}");
            }
        }
        let bounds = Bounds { lower: from - reach * 0.2, upper: from + reach * 0.2 };
        let expected: Vec<BodyId> = all.iter().zip(&ids)
            .filter(|((s, p), _)| match s.bounds(p) {
                Some(b) => b.overlaps(&bounds),
                // The floor: height of the box's middle over it, less the box's extent.
                None => {
                    let n = DVec3::new(0.1, 1.0, 0.2).normalize();
                    n.dot(from - p.position) <= n.element_sum() * reach * 0.2
                }
            })
            .map(|(_, &id)| id).collect();
        prop_assert_eq!(tree.overlapping_bounds(&bounds, &ALL).unwrap(), expected);
    }

    #[test]
    fn the_tree_finds_what_asking_every_body_finds_in_the_plane(
        places in places(40), from in prop::array::uniform3(-6.0..6.0),
        towards in prop::array::uniform3(-1.0..1.0), reach in 0.5..12.0
    ) {
        let (world, all) = scene2(&places);
        let tree = world.query_tree();
        let (from, direction) = (DVec2::new(from[0], from[1]), unit2(towards));
        let ray = Ray::new(from, direction).up_to(reach);
        let first = all.iter().filter_map(|(s, p)| s.cast_ray(p, from, direction, reach))
            .map(|met| met.distance).min_by(f64::total_cmp);
        let got = tree.cast_ray(&ray, &ALL).unwrap().map(|h| h.distance);
        prop_assert_eq!(got.is_some(), first.is_some());
        prop_assert!((got.unwrap_or(0.0) - first.unwrap_or(0.0)).abs() < 1e-9);
        let nearest = all.iter().map(|(s, p)| s.signed_distance(p, from)).min_by(f64::total_cmp);
        let got = tree.closest_point(from, reach, &ALL).unwrap().map(|n| n.distance);
        prop_assert_eq!(got, nearest.filter(|d| *d <= reach));
        for shape in solids2() {
            let pose = Pose { position: from, rotation: D2::turn(Default::default(), towards[2]) };
            let expected: Vec<usize> = all.iter().enumerate()
                .filter(|(_, (s, p))| s.overlaps(p, (&shape, &pose))).map(|(k, _)| k).collect();
            let got: Vec<usize> = tree.overlapping(&shape, pose, &ALL).unwrap()
                .iter().map(|id| id.index()).collect();
            prop_assert_eq!(got, expected);
            let first = all.iter().filter_map(|(s, p)| s.cast(p, (&shape, &pose), direction, reach))
                .map(|met| met.distance).min_by(f64::total_cmp);
            let got = tree.cast_shape(&shape, pose, direction * reach, &ALL).unwrap();
            prop_assert_eq!(got.is_some(), first.is_some());
            let way = got.map_or(0.0, |g| g.fraction * reach);
            prop_assert!((way - first.unwrap_or(0.0)).abs() < 1e-6);
        }
    }

    /// A ray's hit lies on the surface, nothing before it is inside, and a ray that misses
    /// never is.
    #[test]
    fn rays_agree_with_signed_distances(
        kind in 0..7_usize, axis in prop::array::uniform3(-3.0..3.0),
        from in prop::array::uniform3(-2.0..2.0), to in prop::array::uniform3(-0.6..0.6)
    ) {
        let shape = solids3()[kind].clone();
        let pose = Pose::<D3> { position: DVec3::new(0.3, -0.1, 0.2), rotation: turned(axis) };
        let (from, to) = (DVec3::from_array(from), DVec3::from_array(to));
        let direction = (to - from).try_normalize().unwrap_or(DVec3::X);
        let met = shape.cast_ray(&pose, from, direction, 5.0);
        let end = met.map_or(5.0, |m| m.distance);
        for k in 0..200 {
            let at = from + direction * (end * f64::from(k) / 200.0);
            let distance = shape.signed_distance(&pose, at);
            prop_assert!(distance > -1e-8 || end == 0.0, "{distance} at {k}/200 of {end}");
        }
        if let Some(met) = met {
            let distance = shape.signed_distance(&pose, met.point);
            let inside = met.distance == 0.0;
            prop_assert!(if inside { distance < 1e-9 } else { distance.abs() < 1e-8 }, "{distance}");
            prop_assert!((met.normal.length() - 1.0).abs() < 1e-9);
            prop_assert!(met.normal.dot(direction) <= 0.0);
            // A little out along the normal is outside, a little further in is inside, except
            // at an edge that the ray only scratches.
            let out = shape.signed_distance(&pose, met.point + met.normal * 1e-4);
            prop_assert!(inside || out > 0.0, "{out}");
        }
    }

    /// At the end of a cast the two are next to each other, and on the way they never overlap.
    #[test]
    fn casts_agree_with_separations(
        kinds in (0..8_usize, 0..7_usize), axes in prop::array::uniform2(prop::array::uniform3(-3.0..3.0)),
        from in prop::array::uniform3(-3.0..3.0), to in prop::array::uniform3(-0.8..0.8)
    ) {
        let target = solids3().get(kinds.0).cloned().unwrap_or_else(sheet);
        let mover = solids3()[kinds.1].clone();
        let pose = Pose::<D3> { position: DVec3::new(0.3, -0.1, 0.2), rotation: turned(axes[0]) };
        let (from, to) = (DVec3::from_array(from), DVec3::from_array(to));
        let motion = (to - from) * 1.5;
        // None where parry's closest points fail, which round solids at touch make them do.
        let distance_after = |way: f64| {
            let at = Pose { position: from + motion.normalize() * way, rotation: turned(axes[1]) };
            Shape3::separation((&target, &pose), (&mover, &at)).map(|found| found.distance)
        };
        let start = distance_after(0.0);
        let direction = motion.normalize();
        let at = Pose { position: from, rotation: turned(axes[1]) };
        let met = target.cast(&pose, (&mover, &at), direction, motion.length());
        let Some(start) = start else { return Ok(()) };
        if start < -1e-5 {
            let met = met.unwrap();
            prop_assert!(met.distance == 0.0 && (met.separation - start).abs() < 1e-6, "{met:?} {start}");
            prop_assert!(target.overlaps(&pose, (&mover, &at)));
            return Ok(());
        }
        if start < 1e-5 {
            return Ok(());
        }
        prop_assert!(!target.overlaps(&pose, (&mover, &at)));
        let end = met.map_or(motion.length(), |m| m.distance);
        for k in 0..50 {
            let distance = distance_after(end * f64::from(k) / 50.0).unwrap_or(0.0);
            prop_assert!(distance > -1e-6, "{distance} at {k}/50 of {end}");
        }
        if let Some(met) = met {
            // A little before the hit the distance is what is left of the way, times its slope.
            let left = end.min(1e-5);
            let closing = -met.normal.dot(direction);
            prop_assert!(closing > 0.0);
            let before = distance_after(end - left).unwrap_or(left * closing);
            prop_assert!((before - left * closing).abs() < 1e-6, "{before} before {met:?}");
            // At the hit it is 0. Of cylinders and cones parry knows it only from further off.
            let is_round = |kind: usize| kind == 3 || kind == 4;
            if !is_round(kinds.0) && !is_round(kinds.1) {
                let distance = distance_after(end).unwrap_or(0.0);
                prop_assert!(distance.abs() < 1e-6, "{distance} at the hit {met:?}");
            }
            let on = target.signed_distance(&pose, met.point);
            prop_assert!(on.abs() < 1e-5, "{on}");
        }
    }

    /// Any numbers whatever: an answer or an error, no panic.
    #[test]
    fn nasty_numbers_never_panic(
        numbers in prop::array::uniform9(prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, 0.4, 1e-320, -1e-200, 1e-12, 1e7, -1e155, 1e200, 1e308,
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
        ])),
        kind in 0..7_usize
    ) {
        let [a, b, c, d, e, f, g, h, i] = numbers;
        let (world, _) = scene3(&[(kind, [0.0; 3], [0.1, 0.2, 0.3])], DVec3::ZERO);
        let (p, v) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
        let hit = world.cast_ray(&Ray::new(p, v).up_to(g.abs()), &ALL);
        if let Ok(Some(hit)) = hit {
            prop_assert!(hit.distance >= 0.0 && hit.normal.is_finite());
        }
        let _ = world.cast_ray_all(&Ray::new(p, v), &ALL);
        let _ = world.closest_point(p, h, &ALL);
        let pose = Pose { position: p, rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, i) };
        for shape in solids3() {
            let _ = world.overlapping(&shape, pose, &ALL);
            if let Ok(Some(hit)) = world.cast_shape(&shape, Pose::at(p), v, &ALL) {
                prop_assert!((0.0..=1.0).contains(&hit.fraction), "{hit:?}");
            }
        }
        let _ = world.overlapping_bounds(&Bounds { lower: p, upper: v }, &ALL);
    }

    /// Ten million metres from the origin a coordinate is rounded to 2 nm; the answers keep
    /// within that of the ones at the origin.
    #[test]
    fn far_from_the_origin_answers_are_the_same(
        places in places(20), from in prop::array::uniform3(-6.0..6.0),
        towards in prop::array::uniform3(-1.0..1.0)
    ) {
        let offset = DVec3::new(1e7, -1e7, 1e7);
        let (here, _) = scene3(&places, DVec3::ZERO);
        let (there, _) = scene3(&places, offset);
        let from = DVec3::from_array(from);
        let motion = unit3(towards) * 8.0;
        let hits = [(&here, from), (&there, from + offset)]
            .map(|(world, p)| world.cast_ray(&Ray::new(p, motion), &ALL).unwrap());
        if let [Some(h), Some(t)] = hits {
            // Grazing turns nanometres into square roots of them.
            let steep = h.normal.dot(motion.normalize()).abs().max(1e-9);
            if steep > 1e-3 && h.body == t.body {
                prop_assert!((h.distance - t.distance).abs() < 1e-7 / steep, "{h:?} {t:?}");
                prop_assert!((t.point - offset - h.point).length() < 1e-7 / steep, "{h:?} {t:?}");
            }
        }
        let near = [(&here, from), (&there, from + offset)]
            .map(|(world, p)| world.closest_point(p, 50.0, &ALL).unwrap().unwrap());
        prop_assert!((near[0].distance - near[1].distance).abs() < 1e-7, "{near:?}");
        let ball = Shape3::ball(0.3).unwrap();
        let casts = [(&here, from), (&there, from + offset)]
            .map(|(world, p)| world.cast_shape(&ball, Pose::at(p), motion, &ALL).unwrap());
        if let [Some(h), Some(t)] = casts {
            let steep = h.normal.dot(motion.normalize()).abs().max(1e-9);
            if steep > 1e-2 && h.body == t.body {
                prop_assert!((h.fraction - t.fraction).abs() < 1e-6 / steep, "{h:?} {t:?}");
            }
        }
    }
}
