//! Which bodies are looked at, and what is refused.

use crate::scenes::ALL;
use drystone::geometry::shape::Bounds;
use drystone::glam::{DVec2, DVec3};
use drystone::world::query::{Filter, QueryError, Ray};
use drystone::{Body, BodyId, D2, D3, Keyframe, Pose, Script, Shape2, Shape3, World2, World3};

#[test]
fn filters_are_obeyed_by_every_query() {
    let mut world = World3::reference();
    let ball = || Shape3::ball(0.5).unwrap();
    let still = world.add(Body::fixed(ball())).unwrap();
    let rigid = world.add(Body::rigid(ball()).at(DVec3::X * 0.2)).unwrap();
    let key = |time: f64| Keyframe::<D3> {
        time,
        pose: Pose::at(DVec3::X * 0.4),
    };
    let script = Script::Keyframes(vec![key(0.0), key(1.0)]);
    let driven = world
        .add(Body::kinematic(ball(), script).at(DVec3::X * 0.4))
        .unwrap();
    let not_rigid = |id: BodyId| id != rigid;
    let (unmoved, first) = ([still, driven], [still]);
    let cases: [(Filter<'_>, Vec<BodyId>); 6] = [
        (Filter::all(), vec![still, rigid, driven]),
        (Filter::dynamic(), vec![rigid]),
        (Filter::fixed(), vec![still, driven]),
        (Filter::all().without(&unmoved), vec![rigid]),
        (Filter::all().and(&not_rigid), vec![still, driven]),
        (
            Filter::fixed().without(&first).and(&not_rigid),
            vec![driven],
        ),
    ];
    let tree = world.query_tree();
    for (filter, expected) in cases {
        let ray = Ray::new(DVec3::X * -4.0, DVec3::X);
        let hits = tree.cast_ray_all(&ray, &filter).unwrap();
        assert_eq!(
            hits.iter().map(|h| h.body).collect::<Vec<_>>(),
            expected,
            "{filter:?}"
        );
        let first = expected.first().copied();
        assert_eq!(tree.cast_ray(&ray, &filter).unwrap().map(|h| h.body), first);
        let start = Pose::at(DVec3::X * -4.0);
        let met = tree
            .cast_shape(&ball(), start, DVec3::X * 8.0, &filter)
            .unwrap();
        assert_eq!(met.map(|h| h.body), first);
        let near = tree.closest_point(DVec3::X * -4.0, 9.0, &filter).unwrap();
        assert_eq!(near.map(|n| n.body), first);
        assert_eq!(
            tree.overlapping(&ball(), Pose::default(), &filter).unwrap(),
            expected
        );
        let bounds = Bounds {
            lower: DVec3::ZERO,
            upper: DVec3::ONE,
        };
        assert_eq!(tree.overlapping_bounds(&bounds, &filter).unwrap(), expected);
    }
}

#[test]
fn senseless_queries_are_refused_with_a_reason() {
    let mut world = World2::reference();
    world.add(Body::rigid(Shape2::ball(1.0).unwrap())).unwrap();
    let nan = f64::NAN;
    let good = Ray::new(DVec2::ZERO, DVec2::X);
    let ray = |ray: Ray<D2>| world.cast_ray(&ray, &ALL).unwrap_err();
    assert_eq!(
        ray(Ray::new(DVec2::new(nan, 0.0), DVec2::X)),
        QueryError::NotFinite("origin")
    );
    let endless = Ray::new(DVec2::ZERO, DVec2::new(f64::INFINITY, 0.0));
    assert_eq!(ray(endless), QueryError::NotFinite("direction"));
    assert_eq!(
        ray(Ray::new(DVec2::ZERO, DVec2::ZERO)),
        QueryError::NoDirection("direction")
    );
    assert_eq!(ray(good.up_to(-1.0)), QueryError::Distance(-1.0));
    assert!(matches!(ray(good.up_to(nan)), QueryError::Distance(d) if d.is_nan()));
    let batch = world
        .cast_rays(&[good, good.up_to(-2.0)], &ALL)
        .unwrap_err();
    assert_eq!(
        batch.to_string(),
        "ray 1 of the batch: the query's largest distance must be 0 m or more (infinity is \
         allowed), not -2"
    );
    let (ball, floor) = (
        Shape2::ball(1.0).unwrap(),
        Shape2::half_space(DVec2::Y).unwrap(),
    );
    let at = Pose::<D2>::default();
    let cast = |shape: &Shape2, pose, motion| world.cast_shape(shape, pose, motion, &ALL);
    assert_eq!(
        cast(&floor, at, DVec2::X).unwrap_err(),
        QueryError::NotSolid
    );
    assert_eq!(
        cast(&ball, at, DVec2::ZERO).unwrap_err(),
        QueryError::NoDirection("motion")
    );
    assert_eq!(
        cast(&ball, Pose::at(DVec2::splat(nan)), DVec2::X).unwrap_err(),
        QueryError::NotFinite("position")
    );
    assert_eq!(
        world.overlapping(&floor, at, &ALL).unwrap_err(),
        QueryError::NotSolid
    );
    assert!(world.closest_point(DVec2::splat(nan), 1.0, &ALL).is_err());
    assert!(world.closest_point(DVec2::ZERO, -1.0, &ALL).is_err());
    let swapped = Bounds {
        lower: DVec2::ONE,
        upper: DVec2::ZERO,
    };
    assert_eq!(
        world.overlapping_bounds(&swapped, &ALL).unwrap_err(),
        QueryError::Bounds
    );
    // An empty world answers everything with nothing.
    let empty = World2::reference();
    assert!(empty.cast_ray(&good, &ALL).unwrap().is_none());
    assert!(
        empty
            .closest_point(DVec2::ZERO, 1.0, &ALL)
            .unwrap()
            .is_none()
    );
    assert!(empty.overlapping(&ball, at, &ALL).unwrap().is_empty());
}
