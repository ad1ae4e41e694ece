//! Answers that stand in textbooks.

use crate::scenes::{ALL, sheet, turned};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::world::query::Ray;
use drystone::{Body, D3, Geometry, Pose, Shape2, Shape3, World2, World3};

#[test]
fn rays_on_a_ball_solve_the_quadratic() {
    let mut world = World3::reference();
    let center = DVec3::new(1.0, -2.0, 0.5);
    let ball = world
        .add(Body::rigid(Shape3::ball(0.7).unwrap()).at(center))
        .unwrap();
    let mut flat = World2::reference();
    flat.add(Body::rigid(Shape2::ball(0.7).unwrap())).unwrap();
    for height in [0.0, 0.2, -0.5, 0.699, 0.701, 2.0] {
        let chord = 0.7_f64 * 0.7 - height * height;
        let ray = Ray::new(center + DVec3::new(-5.0, height, 0.0), DVec3::X * 3.0);
        let hit = world.cast_ray(&ray, &ALL).unwrap();
        let flat_hit = flat
            .cast_ray(&Ray::new(DVec2::new(-5.0, height), DVec2::X), &ALL)
            .unwrap();
        if chord < 0.0 {
            assert!(hit.is_none() && flat_hit.is_none());
            continue;
        }
        let (hit, flat_hit) = (hit.unwrap(), flat_hit.unwrap());
        let expected = 5.0 - chord.sqrt();
        assert_eq!(hit.body, ball);
        assert!((hit.distance - expected).abs() < 1e-12);
        assert!((flat_hit.distance - expected).abs() < 1e-12);
        assert!((hit.point - (ray.origin + DVec3::X * expected)).length() < 1e-12);
        assert!((hit.normal - (hit.point - center) / 0.7).length() < 1e-12);
        assert!((flat_hit.normal - flat_hit.point / 0.7).length() < 1e-12);
    }
}

#[test]
fn rays_on_a_turned_box_enter_the_right_face() {
    let half = DVec3::new(0.5, 1.0, 2.0);
    let pose = Pose::<D3> {
        position: DVec3::new(3.0, 1.0, -1.0),
        rotation: turned([0.3, -0.8, 0.5]),
    };
    let mut world = World3::reference();
    world
        .add(
            Body::rigid(Shape3::cuboid(half).unwrap())
                .at(pose.position)
                .turned(pose.rotation),
        )
        .unwrap();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            // From a point above the face, aslant to a chosen point of it.
            let mut normal = DVec3::ZERO;
            normal[axis] = sign;
            let mut on_face = half * DVec3::new(0.3, -0.6, 0.8);
            on_face[axis] = sign * half[axis];
            let from = on_face + normal * 4.0 + DVec3::new(half.y, half.z, half.x) * 0.2;
            let ray = Ray::new(pose.point(from), pose.point(on_face) - pose.point(from));
            let hit = world.cast_ray(&ray, &ALL).unwrap().unwrap();
            assert!((hit.point - pose.point(on_face)).length() < 1e-12);
            assert!((hit.distance - (from - on_face).length()).abs() < 1e-12);
            assert!((hit.normal - pose.rotation * normal).length() < 1e-12);
        }
    }
}

#[test]
fn rays_on_a_rectangle_and_a_slope_in_the_plane() {
    let mut world = World2::reference();
    world
        .add(Body::fixed(Shape2::cuboid(DVec2::new(1.0, 0.5)).unwrap()))
        .unwrap();
    let hit = |origin: DVec2, direction: DVec2| {
        world.cast_ray(&Ray::new(origin, direction), &ALL).unwrap()
    };
    let side = hit(DVec2::new(-4.0, -0.2), DVec2::new(3.0, 0.3)).unwrap();
    assert!((side.point - DVec2::new(-1.0, 0.1)).length() < 1e-12);
    assert_eq!(side.normal, DVec2::NEG_X);
    assert!(hit(DVec2::new(-4.0, 0.6), DVec2::X).is_none());
    assert!(hit(DVec2::new(-4.0, 0.0), DVec2::NEG_X).is_none());

    let mut world = World2::reference();
    let normal = DVec2::new(3.0, 4.0) / 5.0;
    let slope = Shape2::half_space(normal).unwrap();
    world
        .add(Body::fixed(slope).at(DVec2::new(0.0, 1.0)))
        .unwrap();
    let hit = |origin: DVec2, direction: DVec2| {
        world.cast_ray(&Ray::new(origin, direction), &ALL).unwrap()
    };
    // Height of the origin over the slope, over the rate at which the ray loses it.
    let origin = DVec2::new(2.0, 9.0);
    let down = hit(origin, DVec2::NEG_Y).unwrap();
    let expected = normal.dot(origin - DVec2::new(0.0, 1.0)) / normal.y;
    assert!((down.distance - expected).abs() < 1e-12 && down.normal == normal);
    assert!(hit(origin, DVec2::Y).is_none(), "away from it");
    assert!(hit(origin, DVec2::new(4.0, -3.0)).is_none(), "along it");
    let inside = hit(DVec2::new(0.0, -3.0), DVec2::Y).unwrap();
    assert_eq!((inside.distance, inside.normal), (0.0, DVec2::NEG_Y));
}

#[test]
fn rays_on_round_solids_have_their_closed_forms() {
    let first = |shape: Shape3, origin: DVec3, direction: DVec3| {
        let mut world = World3::reference();
        world.add(Body::rigid(shape)).unwrap();
        world
            .cast_ray(&Ray::new(origin, direction), &ALL)
            .unwrap()
            .unwrap()
    };
    let (half, r) = (0.8, 0.3);
    let side = |z: f64| 5.0 - (r * r - z * z).sqrt();
    for z in [0.0, 0.1, -0.25] {
        let from = DVec3::new(-5.0, 0.2, z);
        for shape in [Shape3::cylinder(half, r), Shape3::capsule(half, r)] {
            let hit = first(shape.unwrap(), from, DVec3::X);
            assert!((hit.distance - side(z)).abs() < 1e-8, "{hit:?}");
            let expected = DVec3::new(hit.point.x, 0.0, z) / r;
            assert!((hit.normal - expected).length() < 1e-6, "{hit:?}");
        }
        // A cone is r (h − y)/2h thick at height y, and leans by the angle of its side.
        let thick = r * (half - 0.2) / (2.0 * half);
        if z.abs() < thick {
            let hit = first(Shape3::cone(half, r).unwrap(), from, DVec3::X);
            let expected = 5.0 - (thick * thick - z * z).sqrt();
            assert!((hit.distance - expected).abs() < 1e-8, "{hit:?}");
            let lean = r / (2.0 * half);
            let up = lean / (1.0 + lean * lean).sqrt();
            assert!((hit.normal.y - up).abs() < 1e-6, "{hit:?}");
        }
    }
    let from_above = DVec3::new(0.1, 5.0, 0.05);
    let lid = first(Shape3::cylinder(half, r).unwrap(), from_above, DVec3::NEG_Y);
    assert!((lid.distance - (5.0 - half)).abs() < 1e-9 && (lid.normal - DVec3::Y).length() < 1e-6);
    let cap = first(Shape3::capsule(half, r).unwrap(), from_above, DVec3::NEG_Y);
    let expected = 5.0 - half - (r * r - 0.0125_f64).sqrt();
    assert!((cap.distance - expected).abs() < 1e-8);
}

#[test]
fn a_ray_names_the_part_it_hits_and_every_body_behind() {
    let brick = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let at = |x: f64| Pose::<D3>::at(DVec3::X * x);
    let two = Shape3::compound(&[(at(-1.0), brick.clone()), (at(1.0), brick.clone())]).unwrap();
    let mut world = World3::reference();
    let pair = world.add(Body::rigid(two)).unwrap();
    let far = world.add(Body::rigid(brick).at(DVec3::X * 6.0)).unwrap();
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let corners = square.map(|[y, z]| DVec3::new(4.0, y, z)).to_vec();
    let wall = Shape3::mesh(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let wall = world.add(Body::fixed(wall)).unwrap();
    let from = |x: f64, direction: DVec3| Ray::new(DVec3::new(x, -0.2, 0.3), direction);

    let hits = world.cast_ray_all(&from(-9.0, DVec3::X), &ALL).unwrap();
    let seen: Vec<_> = hits.iter().map(|h| (h.body, h.part, h.distance)).collect();
    assert_eq!(seen, [(pair, 0, 7.5), (wall, 1, 13.0), (far, 0, 14.5)]);
    let hits = world.cast_ray_all(&from(9.0, DVec3::NEG_X), &ALL).unwrap();
    let seen: Vec<_> = hits.iter().map(|h| (h.body, h.part, h.normal)).collect();
    let x = DVec3::X;
    assert_eq!(
        seen,
        [(far, 0, x), (wall, 1, x), (pair, 1, x)],
        "normals face the ray"
    );
    let short = from(-9.0, DVec3::X).up_to(14.0);
    assert_eq!(world.cast_ray_all(&short, &ALL).unwrap().len(), 2);
    let batch = world
        .cast_rays(&[short, from(-9.0, DVec3::Y)], &ALL)
        .unwrap();
    assert_eq!(batch[0].map(|h| h.body), Some(pair));
    assert!(batch[1].is_none());
}

#[test]
fn a_ball_cast_at_a_box_is_a_ray_at_the_box_grown_by_the_ball() {
    let half = DVec3::new(1.0, 0.5, 0.7);
    let r = 0.3;
    // A box grown by a ball: a slab along each axis, a stick along each edge.
    let mut parts = Vec::new();
    for axis in 0..3 {
        let mut grown = half;
        grown[axis] += r;
        parts.push((Pose::<D3>::default(), Shape3::cuboid(grown).unwrap()));
        // A capsule lies along y; turned about z it lies along x, about x along z.
        let rotation = match axis {
            0 => turned([0.0, 0.0, std::f64::consts::FRAC_PI_2]),
            1 => DQuat::IDENTITY,
            _ => turned([std::f64::consts::FRAC_PI_2, 0.0, 0.0]),
        };
        for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let mut position = DVec3::ZERO;
            position[(axis + 1) % 3] = s * half[(axis + 1) % 3];
            position[(axis + 2) % 3] = t * half[(axis + 2) % 3];
            let stick = Shape3::capsule(half[axis], r).unwrap();
            parts.push((Pose { position, rotation }, stick));
        }
    }
    let mut grown = World3::reference();
    grown
        .add(Body::fixed(Shape3::compound(&parts).unwrap()))
        .unwrap();
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::cuboid(half).unwrap()))
        .unwrap();
    let ball = Shape3::ball(r).unwrap();
    let (mut met, mut passed) = (0, 0);
    for k in 0..400 {
        let k = f64::from(k);
        let from = DVec3::new((k * 1.7).sin(), (k * 2.3).cos(), (k * 0.9).sin()) * 4.0;
        let to = DVec3::new((k * 0.7).cos(), (k * 1.1).sin(), (k * 3.1).cos()) * half * 1.4;
        let motion = (to - from) * 2.0;
        let cast = world
            .cast_shape(&ball, Pose::at(from), motion, &ALL)
            .unwrap();
        let ray = Ray::new(from, motion).up_to(motion.length());
        let oracle = grown.cast_ray(&ray, &ALL).unwrap();
        match (cast, oracle) {
            (Some(cast), Some(oracle)) => {
                let way = cast.fraction * motion.length();
                assert!(
                    (way - oracle.distance).abs() < 1e-6,
                    "{k}: {cast:?} {oracle:?}"
                );
                assert!(
                    (cast.normal - oracle.normal).length() < 1e-3,
                    "{k}: {cast:?} {oracle:?}"
                );
                let center = from + motion * cast.fraction;
                assert!(((cast.point - center).length() - r).abs() < 1e-6);
                met += 1;
            }
            (None, None) => passed += 1,
            other => panic!("{k}: {other:?}"),
        }
    }
    assert!(met > 100 && passed > 50, "{met} {passed}");
}

#[test]
fn solids_land_on_half_spaces_where_their_lowest_point_is() {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let half = DVec3::new(0.2, 0.4, 0.3);
    let rotation = turned([0.4, 0.2, -0.7]);
    // The lowest corner of a turned box lies Σ |R_yk| h_k under its middle.
    let row = DVec3::new(
        (rotation * DVec3::X).y,
        (rotation * DVec3::Y).y,
        (rotation * DVec3::Z).y,
    );
    let low = row.abs().dot(half);
    let start = Pose::<D3> {
        position: DVec3::Y * 3.0,
        rotation,
    };
    let motion = DVec3::new(5.0, -5.0, 0.0);
    let hit = world
        .cast_shape(&Shape3::cuboid(half).unwrap(), start, motion, &ALL)
        .unwrap()
        .unwrap();
    assert!((hit.fraction - (3.0 - low) / 5.0).abs() < 1e-12);
    assert!(hit.point.y.abs() < 1e-12 && hit.normal == DVec3::Y && hit.separation == 0.0);
}

#[test]
fn a_start_in_an_overlap_is_told_with_its_depth() {
    let mut world = World3::reference();
    let floor = world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let brick = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let stone = world
        .add(Body::rigid(brick.clone()).at(DVec3::Y * 2.0))
        .unwrap();
    let ball = Shape3::ball(0.5).unwrap();
    let cast = |y: f64, motion: DVec3| {
        world
            .cast_shape(&ball, Pose::at(DVec3::Y * y), motion, &ALL)
            .unwrap()
    };
    // Away from what it overlaps, and told all the same.
    let hit = cast(0.3, DVec3::Y).unwrap();
    assert_eq!((hit.body, hit.fraction), (floor, 0.0));
    assert!((hit.separation + 0.2).abs() < 1e-12);
    let hit = cast(2.9, DVec3::Y).unwrap();
    assert_eq!((hit.body, hit.fraction), (stone, 0.0));
    assert!((hit.separation + 0.1).abs() < 1e-9 && (hit.normal - DVec3::Y).length() < 1e-9);
    // In both at once: the deeper one. 0.1 m deep in the floor, 0.2 m in a second stone.
    world
        .add(
            Body::rigid(brick.clone())
                .at(DVec3::new(0.8, 0.4, 0.0))
                .named("second"),
        )
        .unwrap();
    let hit = world
        .cast_shape(&ball, Pose::at(DVec3::Y * 0.4), DVec3::Y, &ALL)
        .unwrap()
        .unwrap();
    assert_eq!(Some(hit.body), world.body("second"));
    assert!((hit.separation + 0.2).abs() < 1e-9);
}

#[test]
fn what_touches_slides_and_leaves_but_does_not_press_on() {
    let brick = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let slab = Shape3::cuboid(DVec3::new(20.0, 1.0, 20.0)).unwrap();
    let floors = [
        (Shape3::half_space(DVec3::Y).unwrap(), DVec3::ZERO),
        (slab, DVec3::NEG_Y),
    ];
    for (floor, at) in floors {
        let mut world = World3::reference();
        let floor = world.add(Body::fixed(floor).at(at)).unwrap();
        let end = Body::fixed(brick.clone()).at(DVec3::new(4.0, 0.5, 0.0));
        let end = world.add(end).unwrap();
        for shape in [
            brick.clone(),
            Shape3::ball(0.5).unwrap(),
            Shape3::cylinder(0.5, 0.5).unwrap(),
            Shape3::capsule(0.2, 0.3).unwrap(),
        ] {
            let cast = |motion: DVec3| {
                let start = Pose::at(DVec3::Y * 0.5);
                world.cast_shape(&shape, start, motion, &ALL).unwrap()
            };
            let slid = cast(DVec3::X * 10.0).unwrap();
            assert_eq!(slid.body, end, "{shape:?}: {slid:?}");
            let half_width = shape.bounds(&Pose::default()).unwrap().upper.x;
            let expected = (3.5 - half_width) / 10.0;
            assert!(
                (slid.fraction - expected).abs() < 1e-7,
                "{shape:?}: {slid:?}"
            );
            assert!(cast(DVec3::Y).is_none(), "{shape:?}");
            let pressed = cast(DVec3::NEG_Y).unwrap_or_else(|| panic!("{shape:?}"));
            assert_eq!((pressed.body, pressed.separation), (floor, 0.0));
            assert!(pressed.fraction < 1e-7, "{shape:?}: {pressed:?}");
        }
    }
}

#[test]
fn the_nearest_point_of_each_shape_is_the_textbook_one() {
    let near2 = |shape: Shape2, point: DVec2| {
        let mut world = World2::reference();
        world.add(Body::fixed(shape)).unwrap();
        world
            .closest_point(point, f64::INFINITY, &ALL)
            .unwrap()
            .unwrap()
    };
    let corner = near2(Shape2::cuboid(DVec2::ONE).unwrap(), DVec2::new(4.0, 5.0));
    assert!((corner.distance - 5.0).abs() < 1e-12 && (corner.point - DVec2::ONE).length() < 1e-12);
    let inside = near2(Shape2::cuboid(DVec2::ONE).unwrap(), DVec2::new(0.7, 0.2));
    assert!((inside.distance + 0.3).abs() < 1e-12);
    assert!((inside.point - DVec2::new(1.0, 0.2)).length() < 1e-12);
    let below = near2(Shape2::half_space(DVec2::Y).unwrap(), DVec2::new(7.0, -2.0));
    assert!((below.distance, below.point) == (-2.0, DVec2::new(7.0, 0.0)));
    let line = Shape2::polyline(vec![DVec2::ZERO, DVec2::X, DVec2::new(1.0, 3.0)]).unwrap();
    let on = near2(line, DVec2::new(3.0, 2.0));
    assert!(
        (on.distance - 2.0).abs() < 1e-12 && (on.point - DVec2::new(1.0, 2.0)).length() < 1e-12
    );

    let mut world = World3::reference();
    world.add(Body::fixed(sheet())).unwrap();
    let under = world
        .closest_point(DVec3::new(0.0, -1.0, 0.0), 5.0, &ALL)
        .unwrap()
        .unwrap();
    assert!(under.distance > 0.0, "a surface has no inside");
}
